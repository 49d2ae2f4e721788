# SPDX-License-Identifier: MIT
# Graph files: what is read, what is refused and how, and that nothing half done is left.
. "${0%/*}/tap.bash"

printf '10 20 1\n10 30 4\n20 30 2\n30 40 1\n50 60 3\n' >good.txt
check "convert" gtu convert good.txt good.gtu
check "stat of the text" gtu stat good.txt
cp "$out" stat.txt
check "stat of the container" gtu stat good.gtu
tail -n +2 "$out" | grep -v "^made from" >a; tail -n +2 stat.txt >b
same "says the same" a b
says "counts vertices" "^vertices +6 " stat.txt
says "counts edges" "^edges +5 " stat.txt
check "convert --quiet" gtu convert good.txt quiet.gtu --quiet
check "says nothing" test ! -s "$out"
same "and writes the same" good.gtu quiet.gtu
check "both directions" gtu convert good.txt both.gtu --undirected
says "twice the edges" "10 edges" "$out"
check "compressed" gtu convert good.txt small.gtu --compress
says "says how much smaller" "^compressed to [0-9.]+ of" "$out"
check "stat of it" gtu stat small.gtu
says "says that it is" "compressed" "$out"
tail -n +2 "$out" | grep -v "^made from" >a
same "and the same as of the text" a b
check "and back" gtu convert small.gtu back.gtu --quiet
same "is what it was" good.gtu back.gtu
for unit in none scu iru peg weaver; do
	check "a run with $unit over it" gtu run bfs small.gtu --unit $unit --device model --verify
done
check "wide edges" gtu convert good.txt wide.gtu --edge-bytes 8
says "are wide" "8-byte" "$out"
if command -v python3 >/dev/null; then
	check "stat --json" gtu stat good.gtu --json -
	cp "$out" stat.json
	check "is JSON" python3 -m json.tool stat.json
else
	skip "stat --json" "no python3"
fi
for tool in gzip xz zstd; do
	if command -v $tool >/dev/null; then
		$tool -c good.txt >packed 2>/dev/null
		check "through $tool" gtu convert packed packed.gtu --quiet
		head -c -6 packed >cut
		exits 3 "cut short in $tool" gtu stat cut
		says "names the file" "cut"
	else
		skip "through $tool" "no $tool here"
	fi
done

# refused NAME CONTENT PATTERN...: exit code 3, the file's name, and each pattern in what is said
refused() {
	local name=$1 pattern

	printf "$2" >"$name"
	shift 2
	exits 3 "$name is refused" gtu convert "$name" out.gtu
	says "$name: names the file" "$name"
	for pattern; do
		says "$name: says '$pattern'" "$pattern"
	done
	[ -e out.gtu ] && echo "# left out.gtu"
	check "$name: leaves nothing" test ! -e out.gtu
}
refused word.txt '1 2\n2 3\n3 x\n' ':3: '
refused one-column.txt '1 2\n2\n' ':2: '
refused minus.txt '1 2\n2 -3\n' ':2: '
refused huge-id.txt '1 2\n2 99999999999999999999999\n' ':2: '
refused empty.txt ''
refused out-of-range.mtx '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n4 1\n' ':4: ' '4'
refused short.mtx '%%%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 1\n'
refused arc.gr 'p sp 3 2\na 1 2 7\na 1 9 7\n' ':3: ' '9'
refused neighbour.graph '3 2\n2\n1 4\n2\n' ':3: ' '4'
head -c 4096 good.gtu >cut.gtu
exits 3 "a container cut short" gtu stat cut.gtu
says "is named" "cut.gtu"
head -c 1000 /dev/urandom | tr -d '\n\r' >noise.bin
exits 3 "noise" gtu stat noise.bin
exits 2 "convert to a name that no format has" gtu convert good.txt out.xyz
says "says which there are" "\.mtx.*\.wsg"
exits 2 "compressed text" gtu convert good.txt out.mtx --compress
exits 2 "convert without an output" gtu convert good.txt
exits 2 "generate without a size" gtu generate kronecker out.gtu
exits 2 "generate of a kind there is none of" gtu generate kronecer --scale 4 out.gtu
says "suggests" "kronecker"
exits 2 "generate with a size too great" gtu generate kronecker --scale 99 out.gtu
exits 3 "a file that is not there" gtu stat nonesuch.txt
says "and is named" "nonesuch.txt"
exits 1 "a folder that is not there" gtu convert good.txt nowhere/out.gtu
says "is named too" "nowhere"

for kind in kronecker uniform powerlaw delaunay planar road fem3d; do
	check "generate $kind" gtu generate $kind --scale 8 --seed 7 $kind.gtu
	check "again" gtu generate $kind --scale 8 --seed 7 --threads 1 again.gtu
	same "$kind with one seed is one graph" $kind.gtu again.gtu
	check "stat $kind" gtu stat $kind.gtu
done

# Interrupting long work: measured first, so that the signal comes in the middle on any computer.
# interrupted NAME SIGNAL CODE COMMAND...; the command writes big.gtu
now() { echo "${EPOCHREALTIME/[^0-9]/}"; }
interrupted() {
	local name=$1 signal=$2 code=$3 start took pid got
	shift 3

	start=$(now)
	"$@" >/dev/null 2>&1 || echo "# '$*' failed by itself"
	took=$(($(now) - start))
	for part in 50 20 80; do
		rm -f big.gtu
		ls -A >before
		"$@" >"$out" 2>"$err" &
		pid=$!
		sleep "$(awk "BEGIN { print $took * $part / 1e8 }")"
		kill -$signal $pid 2>/dev/null
		wait $pid
		got=$?
		ls -A >after
		[ $got -ne 0 ] && break	# it was over before the signal came: another try
	done
	echo "# it takes $((took / 1000)) ms; signal at $part%"
	if [ $got -eq "$code" ]; then
		report "ok" "$name exits with $code"
	else
		echo "# exit status $got"
		show
		report "not ok" "$name exits with $code"
	fi
	same "$name leaves nothing behind" before after
}
touch before after
awk 'BEGIN { srand(1); for (i = 0; i < 3000000; i++) print int(rand() * 500000), int(rand() * 500000) }' >big.txt
set -m	# background processes of a script without job control ignore SIGINT
interrupted "convert, interrupted," INT 130 gtu convert big.txt big.gtu
interrupted "convert, terminated," TERM 143 gtu convert big.txt big.gtu
interrupted "generate, interrupted," INT 130 gtu generate kronecker --scale 18 big.gtu

# files that belong together
printf '1 2\n' >pair.e
exits 3 "an .e without its .v" gtu stat pair.e
says "says what is missing, and the other reading" "the .v file with .*is missing.*use another suffix"
printf '1\n2\n3\n' >pair.v
exits 3 "with it, but nothing that says whether it is directed" gtu stat pair.e
says "says what to do" "the .properties file with .* is missing; read it with --directed or --undirected"
check "told, it is read" gtu stat pair.e --directed
cp pair.v other.v; cp pair.e other.e; printf 'graph.other.directed = false\n' >other.properties
check "or told by its properties" gtu stat other.e
says "is what they say" "undirected" "$out"
cp pair.v kept.v
exits 2 "the graph's other file as output" gtu run bfs pair.e --directed --output pair.v
says "is refused" "--output pair.v is the graph itself or one of its files"
exits 2 "as JSON of stat" gtu stat pair.e --json pair.v
same "and is as it was" pair.v kept.v
check "a name that only looks alike" gtu run bfs pair.e --directed --output pair.properties --quiet
exits 2 "which is part of the graph once it is there" gtu run bfs pair.e --output pair.properties
printf '3 2\n2\n1 3\n2\n' >m.graph
exits 2 "a weight column of METIS" gtu run sssp m.graph --weights 1
says "means nothing" "m.graph is METIS, which has no columns to choose from"
printf '7 7\n' >one.txt
check "one vertex" gtu convert one.txt one.gtu
says "is not 1 vertices" "1 vertex, 1 edge from 1 entry " "$out"

# ---- other programs' files, and back ----
printf '%%%%MatrixMarket matrix coordinate integer general\n5 5 4\n1 2 7\n2 3 1\n3 1 9\n1 3 2\n' >all.mtx
gtu convert all.mtx all.gtu --quiet
for format in mtx txt gr e bel sg wsg graph; do
	options=()
	case $format in
	txt | bel | sg | wsg) options=(--adapt) ;;
	graph) options=(--undirected) ;;
	esac
	check "convert to .$format" gtu convert all.gtu there.$format "${options[@]}"
	check "and back" gtu convert there.$format back.gtu --quiet
	case $format in
	mtx | gr | e)
		for file in all back; do
			gtu stat $file.gtu | tail -n +2 | grep -v "^made from" >$file.stat
			gtu run sssp $file.gtu --source 1 --unit none --output $file.far --quiet
		done
		same ".$format holds all of it" all.stat back.stat
		same ".$format holds ids and weights" all.far back.far ;;
	esac
done
exits 1 "isolated vertices in an edge list" gtu convert all.gtu lost.txt
says "are named, and what --adapt does" "2 of the graph's 5 have none, the first is 4; --adapt .* leaves them out"
check "nothing is written" test ! -e lost.txt
check "adapted" gtu convert all.gtu lost.txt --adapt --quiet
says "it is told all the same" "^gtu convert: adapted: .*2 of the graph's 5 have none"
exits 1 "directed edges in METIS" gtu convert all.gtu lost.graph --adapt
says "cannot be adapted" "read it with --undirected"
exits 1 "weights in .sg" gtu convert all.gtu lost.sg
for file in lost.graph lost.sg; do check "no $file" test ! -e $file; done
printf '' >none.txt
exits 3 "an empty file" gtu convert none.txt none.mtx

finish
