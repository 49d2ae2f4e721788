# SPDX-License-Identifier: MIT
# What somebody new does wrong: each gives one sentence that names what it is about and says what to do, with the exit
# status that the manual has (1 it failed, 2 the command line, 3 the input).
. "${0%/*}/tap.bash"

# told CODE NAME VALUE ADVICE COMMAND...: that exit status, and standard error is a sentence with VALUE and ADVICE in its
# first line; a second one, if any, says where to look ("Try", "Take")
told() {
	local code=$1 name=$2 value=$3 advice=$4 lines

	shift 4
	exits "$code" "$name" "$@"
	# the sentence outlives the commands that look at it
	cp "$err" said
	says "$name: names $value and says: $advice" "^gtu( [a-z]+)?: .*$value" said
	says "$name: says what to do" "$advice" said
	lines=$(wc -l <said)
	check "$name: in a line or two ($lines)" bash -c '
		[ $1 -eq 1 ] || { [ $1 -eq 2 ] && sed -n 2p "$2" | grep -Eq "^(Try|Take) .*\.$"; }' - "$lines" said
}

printf '1 2\n2 3\n3 4\n' >g.txt
printf '1 2 -3\n2 3 1\n' >negative.txt
printf '7 7\n' >one.txt
: >empty.txt
mkdir folder
gtu generate uniform --vertices 1000 u.gtu --quiet
head -c 5000 u.gtu >cut.gtu
head -c 3000 "$bin/gtu" >noise.bin
gzip -c g.txt >g.gz
head -c 25 g.gz >cut.gz

# ---- files that are read ----
told 3 "a wrong path" nonesuch.txt "check its name and directory" gtu stat nonesuch.txt
told 3 "a path through a file" g.txt/x "check its name and directory" gtu stat g.txt/x
told 3 "a folder" folder "name a file in it" gtu run bfs folder
told 3 "an empty file" empty.txt "write or fetch it again" gtu stat empty.txt
told 3 "no graph at all" noise.bin "'gtu convert --help' lists the formats" gtu stat noise.bin
told 3 "a truncated container" cut.gtu "cut short: .* write or copy it again" gtu run bfs cut.gtu
told 3 "a truncated gzip file" cut.gz "ends before its end mark|cut short" gtu stat cut.gz
check "a gzip'd file under any name is read" bash -c 'cp g.gz packed.txt && gtu stat packed.txt'
told 3 "an .e without its .v" lonely.e "if this is a plain edge list, use another suffix" \
	bash -c 'printf "1 2\n" >lonely.e; exec gtu stat lonely.e'
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 .
	cp g.txt secret.txt
	chmod 600 secret.txt
	mkdir -m 755 locked
	mkdir -m 1777 sticky
	cp g.txt sticky/theirs.txt
	chmod 666 sticky/theirs.txt
	# the tool may lie where nobody else may go
	cp "$bin/gtu" . && chmod 755 gtu
	nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
	told 1 "no permission to read" secret.txt "ask its owner" nobody ./gtu stat secret.txt
	told 1 "no permission to write" locked/x "name a file in a writable directory" \
		nobody ./gtu run bfs g.txt --output locked/x
	told 1 "no permission to write a graph" locked/x.gtu "name a file in a writable directory" \
		nobody ./gtu convert g.txt locked/x.gtu
	told 1 "a name that cannot be taken over in the end" sticky/theirs.txt "name a file in a writable directory" \
		nobody ./gtu run bfs g.txt --output sticky/theirs.txt
	same "which keeps what it had" sticky/theirs.txt g.txt
	if mknod device c 1 3 2>/dev/null && : 2>/dev/null <device && chgrp audio device; then
		chmod 660 device
		told 1 "not in the device's group" "$PWD/device" "group audio.* as root: usermod -aG audio" \
			nobody ./gtu run bfs g.txt --device "$PWD/device"
		chmod 600 device
		told 1 "a device that is root's alone" "$PWD/device" "60-gtu.rules" \
			nobody ./gtu run bfs g.txt --device "$PWD/device"
	else
		skip "not in the device's group" "no device node can be made here"
	fi
	rm gtu
else
	skip "no permission" "not root, or no setpriv"
fi

# ---- memory ----
told 1 "too little memory for a graph" "out of memory|not enough memory" "raise the limit \('ulimit -v'\)" \
	bash -c 'ulimit -v 100000; exec gtu generate kronecker --scale 20 k.gtu'
check "which leaves nothing" test ! -e k.gtu

# what a device could have pinned is asked of doctor, which says what a run would
quietly bash -c "ulimit -l 0; exec setpriv --reuid=65534 --clear-groups --inh-caps=-all env PATH='$PATH' gtu doctor --graph u.gtu --device /dev/gtu0"
if grep -q "cannot be pinned" "$out"; then
	says "a limit on locked memory: names it, and what would do" "memlock .*[0-9]+ bytes cannot be pinned .* raise it to [0-9]+ KiB: .ulimit -l" "$out"
else
	skip "a limit on locked memory" "it does not hold here"
fi

# ---- devices ----
if [ ! -e /dev/gtu0 ]; then
	told 1 "no driver" /dev/gtu0 "as root: modprobe gtu|is it on the bus" gtu run bfs g.txt --device /dev/gtu0
fi
told 2 "a device that is none" /dev/null "use a device node such as /dev/gtu0" gtu run bfs g.txt --device /dev/null
told 2 "a device of no kind" '"gpu"' 'use "model".*"/dev/gtu0" or "cuda:0"' gtu run bfs g.txt --device gpu
told 1 "no GPU driver" libcuda "install NVIDIA's driver, or use another device" \
	env GTU_CUDA_LIBRARY=libcuda-that-nobody-has.so.1 gtu run bfs g.txt --device cuda:0
if [ -e "$root/build/tests/fake/libcuda-old.so.1" ]; then
	told 1 "an old GPU driver" libcuda-old "too old or damaged; install a newer one" \
		env GTU_CUDA_LIBRARY="$root/build/tests/fake/libcuda-old.so.1" gtu run bfs g.txt --device cuda:0
else
	skip "an old GPU driver" "make unit-tests builds one"
fi
told 1 "a unit that the device lacks" GraphPEG "model:absent_units=.* does not have GraphPEG" \
	gtu run bfs g.txt --unit peg --device model:absent_units=4
told 2 "a parameter out of range" scu_width=77 "at most 64" gtu info --device model:scu_width=77
told 2 "a parameter that there is none of" scu_wdth "it has .*scu_width" gtu info --device model:scu_wdth=8

# ---- the command line ----
told 2 "an unknown verb" rnu "did you mean 'run'\?" gtu rnu
told 2 "an unknown algorithm" bsf "did you mean bfs\?" gtu run bsf g.txt
told 2 "an unknown unit" scuu "did you mean scu\?" gtu run bfs g.txt --unit scuu
told 2 "an unknown option" --sorce "did you mean --source\?" gtu run bfs g.txt --sorce 1
told 2 "a missing value" --source "needs a value" gtu run bfs g.txt --source
told 2 "no number" "'x'" "is not a whole number" gtu run bfs g.txt --source x
told 2 "a number out of range" "--damping 1.5" "is not within" gtu run pr g.txt --damping 1.5
told 2 "a source out of range" 99 "the 4 vertices of g.txt have ids 1 to 4" gtu run bfs g.txt --source 99
told 2 "a source out of one" 8 "the one vertex of one.txt has the id 7" gtu run bfs one.txt --source 8
told 2 "a wrong machine" gtx98 "use one of gtx980" gtu lab machine gtx98
told 3 "a wrong machine file" bad.machine:1 "is not 'key = value'" \
	bash -c 'echo seed >bad.machine; exec gtu lab run iru --machine bad.machine'
told 2 "an unknown experiment" emogy "gtu lab list" gtu lab run emogy

# ---- weights ----
told 3 "weights that are not there" g.txt "omit it to use the file's weights, or use --weights unit" \
	gtu run sssp g.txt --weights 1
told 3 "negative weights" -3 "--weights unit counts every edge as 1" gtu run sssp negative.txt

# ---- files that are written ----
told 1 "an output in no folder" nowhere/x "create its directory first" gtu run bfs g.txt --output nowhere/x
told 1 "an output that is a folder" folder "name a file in it" gtu run bfs g.txt --output folder
told 1 "a graph in no folder" nowhere/x.gtu "create its directory first" gtu generate uniform --vertices 10 nowhere/x.gtu
told 2 "a graph of no format" x.xyz ".gtu, .mtx" gtu convert g.txt x.xyz
told 1 "a format that cannot hold the graph" x.sg "--adapt .* renumbers them" gtu convert g.txt x.sg
if mknod full c 1 7 2>/dev/null && ! echo 2>/dev/null >full; then
	told 1 "a full disk" full "free space there" gtu run bfs g.txt --output full
	told 1 "standard output on a full disk" "standard output" "where there is space" bash -c 'exec gtu info >full'
else
	skip "a full disk" "no device node can be made here"
fi
told 1 "a limit on file sizes" k.gtu "limit on a file's size|File too large" \
	bash -c 'ulimit -f 8; exec gtu generate kronecker --scale 14 k.gtu --quiet'
# the name is lost while the work is done: what was made is kept, and said where
mkfifo graph.txt
gtu run bfs graph.txt --output late --quiet 2>lost &
late=$!
exec 9>graph.txt		# waits until the graph is opened, which is after the output was tried
mkdir late
cat g.txt >&9
exec 9>&-
wait $late
check "an output whose name is lost meanwhile: fails" test $? -eq 1
says "it says why, or where the work is" "late: (cannot rename the complete temporary file to this name: .* the result is in late\.|cannot be written: Is a directory; it is a directory)" lost

# ---- the socket ----
printf 'no socket\n' >sock
told 1 "a socket's path that is a file" sock "choose another path" gtu serve --socket sock
rm sock
if command -v python3 >/dev/null; then
	python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("sock")'
	gtu serve --socket sock >"$out" 2>"$err" &
	server=$!
	for _ in {1..100}; do
		grep -q . "$out" "$err" && break
		sleep 0.1
	done
	check "a stale socket is taken over" kill -0 $server
	kill $server
	wait $server
else
	skip "a stale socket" "no python3"
fi

# ---- one of each ----
check "a run on one vertex" gtu run bfs one.txt
for algorithm in bfs sssp pr cc bc gc kc cdlp lcc gcn; do
	check "$algorithm on one vertex" gtu run $algorithm one.txt --unit none
	check "counts it as one" bash -c '! grep -E "(^|[^0-9,.])1 (vertices|edges|entries|colours|components|communities|levels|iterations|rounds|passes|hops)" "$1"' - "$out"
done
finish
