# SPDX-License-Identifier: MIT
# Tests common mistakes of new users: each gives one sentence that names the cause and the remedy, with the documented exit
# status (1 failure, 2 command line, 3 input).
. "${0%/*}/tap.bash"

# told CODE NAME VALUE ADVICE COMMAND...: the command fails with CODE because of NAME; the first line of standard error
# begins with the program's name and has VALUE, a line has ADVICE, and a second line begins with "Try" or "Take"
told() {
	local code=$1 name=$2 value=$3 advice=$4 lines

	shift 4
	exits "$code" "gtu exits with $code for $name" "$@"
	cp "$err" said
	sed -n 1p said >first
	says "the message about $name begins with gtu and has $value" "^gtu( [a-z]+)?: .*$value" first
	says "the message about $name says what to do" "$advice" said
	lines=$(wc -l <said)
	holds "the message about $name has one line, or a second one that begins with Try or Take" bash -c '
		[ $1 -eq 1 ] || { [ $1 -eq 2 ] && sed -n 2p "$2" | grep -Eq "^(Try|Take) .*\.$"; }' - "$lines" said
}

printf '1 2\n2 3\n3 4\n' >g.txt
printf '1 2 -3\n2 3 1\n' >negative.txt
printf '7 7\n' >one.txt
: >empty.txt
echo '# no edges' >comment.txt
mkdir folder
gtu generate uniform --vertices 1000 u.gtu --quiet
head -c 5000 u.gtu >cut.gtu
cp u.gtu damaged.gtu
printf Z | dd of=damaged.gtu bs=1 seek=40 conv=notrunc status=none
head -c 3000 "$bin/gtu" >noise.bin
gzip -c g.txt >g.gz
head -c 25 g.gz >cut.gz

# ---- files that are read ----
told 3 "a missing file" nonesuch.txt "check its name and directory" gtu stat nonesuch.txt
told 3 "a path through a file" g.txt/x "check its name and directory" gtu stat g.txt/x
told 3 "a folder as a graph" folder "name a file in it" gtu run bfs folder
told 3 "an empty file" empty.txt "write or fetch it again" gtu stat empty.txt
told 3 "a file of comments" "comment.txt: there are no edges in 1 line" "a line of two ids" gtu run bfs comment.txt
told 3 "a damaged header" "damaged.gtu: the header is damaged" "write or copy the file again" gtu run bfs damaged.gtu
told 3 "a missing report" nowhere.json "check its name and directory" gtu report nowhere.json
told 3 "a file that is no graph" noise.bin "'gtu convert --help' lists the formats" gtu stat noise.bin
told 3 "a truncated container" cut.gtu "cut short: .* write or copy it again" gtu run bfs cut.gtu
told 3 "a truncated gzip file" cut.gz "ends before its end mark|cut short" gtu stat cut.gz
check "gtu stat reads a gzip file under any name" bash -c 'cp g.gz packed.txt && gtu stat packed.txt'
told 3 "an .e file without its .v file" lonely.e "if this is a plain edge list, use another suffix" \
	bash -c 'printf "1 2\n" >lonely.e; exec gtu stat lonely.e'
needs_root
chmod 755 .
cp g.txt secret.txt
chmod 600 secret.txt
mkdir -m 755 locked
mkdir -m 1777 sticky
cp g.txt sticky/theirs.txt
chmod 666 sticky/theirs.txt
# the tool may be in a folder that other users cannot access
cp "$bin/gtu" . && chmod 755 gtu
given "another user cannot run a program in $PWD" nobody ./gtu version
told 1 "no permission to read" secret.txt "ask its owner" nobody ./gtu stat secret.txt
told 1 "no permission to write" locked/x "name a file in a writable directory" \
	nobody ./gtu run bfs g.txt --output locked/x
told 1 "no permission to write a graph" locked/x.gtu "name a file in a writable directory" \
	nobody ./gtu convert g.txt locked/x.gtu
told 1 "another user's file in a sticky folder" sticky/theirs.txt "name a file in a writable directory" \
	nobody ./gtu run bfs g.txt --output sticky/theirs.txt
same "another user's file in a sticky folder is unchanged" sticky/theirs.txt g.txt
given "no device file can be made here" eval 'mknod device c 1 3 && : <device && chgrp audio device && chmod 660 device'
told 1 "a device file of another group" "$PWD/device" "group audio.* as root: usermod -aG audio" \
	nobody ./gtu run bfs g.txt --device "$PWD/device"
[ -n "$missing" ] || chmod 600 device
told 1 "a device file for root alone" "$PWD/device" "60-gtu.rules" \
	nobody ./gtu run bfs g.txt --device "$PWD/device"
rm gtu
always

# ---- memory ----
told 1 "too little memory for a graph" "out of memory|not enough memory" "raise the limit \('ulimit -v'\)" \
	bash -c 'ulimit -v 100000; exec gtu generate kronecker --scale 20 k.gtu'
holds "gtu generate leaves no file for want of memory" test ! -e k.gtu
# under lower limits the loader fails first, under higher ones gtu succeeds
for ((limit = 16000; limit <= 200000; limit += 1000)); do
	quietly bash -c "ulimit -v $limit; exec gtu info" && break
	echo "$? $(head -1 "$err")" >>limits
done
sed -n '/gtu: .*\(out of\|not enough\) memory/,$p' limits >short
at_least 4 "$(wc -l <short)" "limits under which gtu info runs out of memory"
exits 1 "gtu info exits with 1 and reports it under each of them" grep -Ev "^1 gtu: .*(out of|not enough) memory" short

# doctor reports the pinning problems that a run would report
locked_memory() {
	bash -c "ulimit -l 0; exec setpriv $([ "$(id -u)" = 0 ] && echo --reuid=65534 --clear-groups --inh-caps=-all) env PATH='$PATH' gtu doctor --graph u.gtu --device /dev/gtu0"
}
needs setpriv
given "another user cannot run $bin/gtu" eval '[ "$(id -u)" != 0 ] || nobody test -x "$(command -v gtu)"'
exits 1 "gtu doctor --graph fails under a limit on locked memory" locked_memory
says "gtu doctor --graph names the limit on locked memory and one that would do" \
	"memlock .*[0-9]+ bytes cannot be pinned .* raise it to [0-9]+ KiB: .ulimit -l" "$out"
always

# ---- devices ----
given "this machine has a /dev/gtu0" test ! -e /dev/gtu0
told 1 "no driver" /dev/gtu0 "as root: modprobe gtu|is it on the bus" gtu run bfs g.txt --device /dev/gtu0
always
told 2 "a device file of another driver" /dev/null "use a device node such as /dev/gtu0" gtu run bfs g.txt --device /dev/null
told 2 "an unknown kind of device" '"gpu"' 'use "model".*"/dev/gtu0", "cuda:0", or a list' gtu run bfs g.txt --device gpu
needs_kernels
told 1 "no GPU driver" libcuda "install NVIDIA's driver, or use another device" \
	env GTU_CUDA_LIBRARY=libcuda-that-nobody-has.so.1 gtu run bfs g.txt --device cuda:0
given "there is no libcuda-old.so.1: make unit-tests builds it" test -e "$root/build/tests/fake/libcuda-old.so.1"
told 1 "an old GPU driver" libcuda-old "too old or damaged; install a newer one" \
	env GTU_CUDA_LIBRARY="$root/build/tests/fake/libcuda-old.so.1" gtu run bfs g.txt --device cuda:0
always
told 1 "a unit that the device lacks" GraphPEG "model:absent_units=.* does not have GraphPEG" \
	gtu run bfs g.txt --unit peg --device model:absent_units=4
told 2 "a parameter out of range" scu_width=77 "at most 64" gtu info --device model:scu_width=77
told 2 "an unknown parameter" scu_wdth "gtu info --tables UNIT" gtu info --device model:scu_wdth=8

# ---- the command line ----
told 2 "an unknown verb" rnu "did you mean 'run'\?" gtu rnu
told 2 "an algorithm without its verb" pagerank "did you mean 'run pagerank'\?" gtu pagerank g.txt
told 2 "an unknown algorithm" bsf "did you mean bfs\?" gtu run bsf g.txt
told 2 "an algorithm in capitals" BFS "did you mean bfs\?" gtu run BFS g.txt
told 2 "an algorithm behind the graph" "ALGORITHM and GRAPH" "did you mean 'run bfs g.txt'\?" gtu run g.txt bfs
told 2 "a graph without a verb" g.txt "'gtu stat g.txt'" gtu g.txt
told 2 "one name of two" "1 name is given" "OUT.gtu" gtu generate kronecker --scale 4
told 2 "a number with another unit" 1e6 "K, M or G" gtu generate uniform --vertices 1e6 x.gtu
told 2 "an unknown unit" scuu "did you mean scu\?" gtu run bfs g.txt --unit scuu
told 2 "an unknown option" --sorce "did you mean --source\?" gtu run bfs g.txt --sorce 1
told 2 "a missing value" --source "needs a value" gtu run bfs g.txt --source
told 2 "a source that is no number" "'x'" "is not a number from 0 to" gtu run bfs g.txt --source x
told 2 "a number out of range" "--damping 1.5" "is not within" gtu run pr g.txt --damping 1.5
told 2 "a source out of range" 99 "the 4 vertices of g.txt have ids 1 to 4" gtu run bfs g.txt --source 99
told 2 "a source that is not the only vertex" 8 "the one vertex of one.txt has the id 7" gtu run bfs one.txt --source 8
told 2 "an unknown machine" gtx98 "use one of gtx980" gtu lab machine gtx98
told 3 "a wrong machine file" bad.machine:1 "is not 'key = value'" \
	bash -c 'echo seed >bad.machine; exec gtu lab run iru --machine bad.machine'
told 2 "an unknown experiment" emogy "gtu lab list" gtu lab run emogy

# ---- weights ----
told 3 "a missing weight column" g.txt "omit it to use the file's weights, or use --weights unit" \
	gtu run sssp g.txt --weights 1
told 3 "negative weights" -3 "--weights unit counts every edge as 1" gtu run sssp negative.txt

# ---- files that are written ----
told 1 "an output in a missing folder" nowhere/x "create its directory first" gtu run bfs g.txt --output nowhere/x
told 1 "an output that is a folder" folder "name a file in it" gtu run bfs g.txt --output folder
told 1 "a graph in a missing folder" nowhere/x.gtu "create its directory first" gtu generate uniform --vertices 10 nowhere/x.gtu
told 2 "a graph format that is unknown" x.xyz ".gtu, .mtx" gtu convert g.txt x.xyz
told 1 "a format that cannot hold the graph" x.sg "--adapt .* renumbers them" gtu convert g.txt x.sg
given "no device file can be made here" eval 'mknod full c 1 7 && ! echo 2>/dev/null >full'
told 1 "a full disk" full "free space there" gtu run bfs g.txt --output full
told 1 "standard output on a full disk" "standard output" "where there is space" bash -c 'exec gtu info >full'
told 1 "values on a full standard output" "standard output" "free space there" bash -c 'exec gtu run bfs g.txt --output - >full'
told 1 "a description on a full standard output" "standard output" "free space there" bash -c 'exec gtu stat g.txt >full'
always
told 1 "a limit on file sizes" k.gtu "limit on a file's size|File too large" \
	bash -c 'ulimit -f 8; exec gtu generate kronecker --scale 14 k.gtu --quiet'
# the output's name becomes unusable during the run: the result is kept, and its path is reported
mkfifo graph.txt
exec 9<>graph.txt
gtu run bfs graph.txt --output late --quiet 2>lost 9>&- &
late=$!
wait_until $late has_open $late graph.txt	# the output was tried before
mkdir late
cat g.txt >&9
exec 9>&-
wait $late
code=$?
holds "gtu run fails when its output becomes a folder while it runs" test $code -eq 1
says "gtu run says why it cannot write, or where the result is" "late: (cannot rename the complete temporary file to this name: .* the result is in late\.|cannot be written: Is a directory; it is a directory)" lost

# ---- the socket ----
told 1 "a socket in a missing folder" nowhere/s "create its directory first" gtu serve --socket nowhere/s
printf 'no socket\n' >sock
told 1 "a socket's path that is a file" sock "choose another path" gtu serve --socket sock
rm sock
python "a server that has ended leaves its socket" <<'END'
import socket
s = socket.socket(socket.AF_UNIX)
s.bind("sock")
END
if [ -S sock ]; then
	gtu serve --socket sock >served 2>&1 &
	server=$!
	wait_until $server test -s served
fi
needs python3
says "gtu serve takes over a stale socket" "waiting for a machine on sock$" served
check "gtu serve serves on the socket" gtu bringup --device socket:sock --only identity
always
[ -z "${server:-}" ] || { kill $server; wait $server; } 2>/dev/null

# ---- one of each ----
check "gtu run bfs reads a graph of one vertex" gtu run bfs one.txt
for algorithm in bfs sssp pr cc bc gc kc cdlp lcc gcn; do
	prints "gtu run $algorithm runs on a graph of one vertex" "(^|[^0-9,.])1 vertex" gtu run $algorithm one.txt --unit none
	lacks "gtu run $algorithm counts one of anything in the singular" "(^|[^0-9,.])1 (vertices|edges|entries|colours|components|communities|levels|iterations|rounds|passes|hops)" "$out"
done
finish
