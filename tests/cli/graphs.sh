# SPDX-License-Identifier: MIT
# Tests reading, refusing and writing graph files, and that no partial file is left.
. "${0%/*}/tap.bash"

printf '10 20 1\n10 30 4\n20 30 2\n30 40 1\n50 60 3\n' >good.txt
check "gtu convert reads an edge list" gtu convert good.txt good.gtu
check "gtu stat reads the edge list" gtu stat good.txt
cp "$out" stat.txt
check "gtu stat reads the container" gtu stat good.gtu
tail -n +2 "$out" | grep -v "^made from" >a
tail -n +2 stat.txt >b
same "gtu stat prints the same of the edge list and of the container" a b
says "gtu stat counts 6 vertices" "^vertices +6 " stat.txt
says "gtu stat counts 5 edges" "^edges +5 " stat.txt
check "gtu convert --quiet converts" gtu convert good.txt quiet.gtu --quiet
empty "gtu convert --quiet prints nothing" "$out"
same "gtu convert --quiet writes the same container" good.gtu quiet.gtu
prints "gtu convert --undirected converts" "10 edges" gtu convert good.txt both.gtu --undirected
prints "gtu convert --compress converts" "^compressed to [0-9.]+ of" gtu convert good.txt small.gtu --compress
prints "gtu stat reads the compressed container" "compressed" gtu stat small.gtu
tail -n +2 "$out" | grep -v "^made from" >a
same "gtu stat prints the same of the edge list and of the compressed container" a b
check "gtu convert decompresses the container" gtu convert small.gtu back.gtu --quiet
same "the decompressed container is the original one" good.gtu back.gtu
for unit in none scu iru peg weaver; do
	verified "gtu run bfs is right over the compressed container with --unit $unit" gtu run bfs small.gtu --unit $unit --device model --verify
done
prints "gtu convert --edge-bytes 8 converts" "8-byte" gtu convert good.txt wide.gtu --edge-bytes 8
check "gtu stat --json - prints a report" gtu stat good.gtu --json -
cp "$out" stat.json
json "gtu stat --json - prints JSON with the vertices and edges" stat.json 'd["vertices"] == 6 and d["edges"] == 5'
for tool in gzip xz zstd; do
	needs $tool
	[ -n "$missing" ] || $tool -c good.txt >packed 2>/dev/null
	check "gtu convert reads an edge list compressed by $tool" gtu convert packed packed.gtu --quiet
	[ -n "$missing" ] || gtu stat packed.gtu | tail -n +2 | grep -v "^made from" >packed.stat
	same "gtu stat prints the same of the edge list and of the one compressed by $tool" packed.stat b
	[ -n "$missing" ] || head -c -6 packed >cut
	fails_with 3 "gtu stat refuses a file compressed by $tool and truncated" "cut" gtu stat cut
	always
done

# refused NAME CONTENT PATTERN...: exit code 3, and the message has the file's name and each pattern
refused() {
	local name=$1 pattern

	printf "$2" >"$name"
	shift 2
	fails_with 3 "gtu convert refuses $name" "$name" gtu convert "$name" out.gtu
	for pattern; do
		says "gtu convert reports '$pattern' of $name" "$pattern"
	done
	holds "gtu convert leaves no output of $name" test ! -e out.gtu
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
fails_with 3 "gtu stat refuses a truncated container" "cut.gtu" gtu stat cut.gtu
head -c 1000 /dev/urandom | tr -d '\n\r' >noise.bin
exits 3 "gtu stat refuses random bytes" gtu stat noise.bin
fails_with 2 "gtu convert refuses an output name that no format has" "\.mtx.*\.wsg" gtu convert good.txt out.xyz
exits 2 "gtu convert refuses --compress for a text format" gtu convert good.txt out.mtx --compress
exits 2 "gtu convert refuses to run without an output" gtu convert good.txt
exits 2 "gtu generate refuses to run without a size" gtu generate kronecker out.gtu
fails_with 2 "gtu generate refuses an unknown kind" "kronecker" gtu generate kronecer --scale 4 out.gtu
exits 2 "gtu generate refuses scale 99" gtu generate kronecker --scale 99 out.gtu
fails_with 3 "gtu stat refuses a missing file" "nonesuch.txt" gtu stat nonesuch.txt
fails_with 1 "gtu convert fails where the output's folder is missing" "nowhere" gtu convert good.txt nowhere/out.gtu

for kind in kronecker uniform powerlaw delaunay planar road fem3d; do
	check "gtu generate makes a $kind graph" gtu generate $kind --scale 8 --seed 7 $kind.gtu
	check "gtu generate makes a $kind graph with one thread" gtu generate $kind --scale 8 --seed 7 --threads 1 again.gtu
	same "one seed gives one $kind graph with any number of threads" $kind.gtu again.gtu
	check "gtu stat reads the $kind graph" gtu stat $kind.gtu
done

# Interruption of long runs. Each run is stopped at a point that it has reached and cannot have passed.
set -m	# background processes of a script without job control ignore SIGINT
# interrupted NAME SIGNAL CODE POINT COMMAND...: POINT is called with the process id and ends when the signal may be sent
interrupted() {
	local name=$1 signal=$2 code=$3 point=$4 pid got
	shift 4

	ls -A | grep -vx feed >before
	"$@" >out.txt 2>err.txt &
	pid=$!
	$point $pid
	kill -$signal $pid 2>/dev/null
	wait $pid
	got=$?
	rm -f feed
	ls -A | grep -vx feed >after
	sed 's/^/# /' err.txt
	holds "gtu $name exits with $code" test $got -eq "$code"
	same "gtu $name leaves no file behind" before after
}
# the run has read all bytes of a pipe and waits for more
reads_on() {
	local writer

	exec 9<>feed
	seq 1 200000 | awk '{ print $1, $1 + 1 }' >&9 &
	writer=$!
	wait_until "$1" eval "! kill -0 $writer"
	kill $writer 2>/dev/null
	wait_until "$1" grep -q '^State:.*S' /proc/"$1"/status
}
# the run has computed for 0.2 s of many seconds
computes() {
	wait_until "$1" awk '{ sub(/.*\) /, ""); exit $12 + $13 < 20 }' /proc/"$1"/stat
}
# the run has written a part of a temporary file of many megabytes
writes() {
	wait_until "$1" eval 'find . -maxdepth 1 -name "long.mtx?*" -size +64k | grep .'
}
: >before >after >out.txt 2>err.txt
for signal in INT:130 TERM:143; do
	mkfifo feed
	interrupted "convert, reading, stopped by SIG${signal%:*}," ${signal%:*} ${signal#*:} reads_on gtu convert feed big.gtu
	exec 9>&-
done
check "gtu generate makes a graph that takes long to write" gtu generate kronecker --scale 18 long.gtu --quiet
interrupted "convert, writing, stopped by SIGINT," INT 130 writes gtu convert long.gtu long.mtx --adapt
interrupted "generate, computing, stopped by SIGINT," INT 130 computes gtu generate kronecker --scale 22 big.gtu
rm long.gtu

# files that belong together
printf '1 2\n' >pair.e
fails_with 3 "gtu stat refuses an .e file without its .v file" "the .v file with .*is missing.*use another suffix" gtu stat pair.e
printf '1\n2\n3\n' >pair.v
fails_with 3 "gtu stat refuses an .e file that may be directed or not" "the .properties file with .* is missing; read it with --directed or --undirected" gtu stat pair.e
check "gtu stat --directed reads an .e file without its .properties file" gtu stat pair.e --directed
cp pair.v other.v; cp pair.e other.e; printf 'graph.other.directed = false\n' >other.properties
prints "gtu stat reads an .e file with its .properties file" "undirected" gtu stat other.e
cp pair.v kept.v
exits 2 "gtu run refuses to write its output over the graph's .v file" gtu run bfs pair.e --directed --output pair.v
says "gtu run says that --output is part of the graph" "--output pair.v is the graph itself or one of its files"
exits 2 "gtu stat refuses to write JSON over the graph's .v file" gtu stat pair.e --json pair.v
same "the .v file of the graph is unchanged" pair.v kept.v
check "gtu run writes an output that only looks like a part of the graph" gtu run bfs pair.e --directed --output pair.properties --quiet
exits 2 "gtu run refuses to write over a .properties file that is part of the graph" gtu run bfs pair.e --output pair.properties
printf '3 2\n2\n1 3\n2\n' >m.graph
fails_with 2 "gtu run refuses a weight column for METIS" "m.graph is METIS, which has no columns to choose from" gtu run sssp m.graph --weights 1
printf '7 7\n' >one.txt
prints "gtu convert reads a graph of one vertex" "1 vertex, 1 edge from 1 entry " gtu convert one.txt one.gtu

# ---- other programs' files, and back ----
printf '%%%%MatrixMarket matrix coordinate integer general\n5 5 4\n1 2 7\n2 3 1\n3 1 9\n1 3 2\n' >all.mtx
gtu convert all.mtx all.gtu --quiet
for format in mtx txt gr e bel sg wsg graph; do
	options=()
	case $format in
	txt | bel | sg | wsg) options=(--adapt) ;;
	graph) options=(--undirected) ;;
	esac
	check "gtu convert writes .$format" gtu convert all.gtu there.$format "${options[@]}"
	check "gtu convert reads .$format" gtu convert there.$format back.gtu --quiet
	case $format in
	mtx | gr | e)
		for file in all back; do
			gtu stat $file.gtu | tail -n +2 | grep -v "^made from" >$file.stat
			gtu run sssp $file.gtu --source 1 --unit none --output $file.far --quiet
		done
		same ".$format keeps vertices, edges and weights in gtu stat" all.stat back.stat
		same ".$format keeps ids and distances in gtu run sssp" all.far back.far ;;
	esac
done
exits 1 "gtu convert refuses to lose isolated vertices in an edge list" gtu convert all.gtu lost.txt
says "gtu convert counts the isolated vertices and explains --adapt" "2 of the graph's 5 have none, the first is 4; --adapt .* leaves them out"
holds "gtu convert writes no edge list without the isolated vertices" test ! -e lost.txt
check "gtu convert --adapt drops isolated vertices" gtu convert all.gtu lost.txt --adapt --quiet
says "gtu convert --adapt reports the dropped vertices" "^gtu convert: adapted: .*2 of the graph's 5 have none"
fails_with 1 "gtu convert --adapt refuses directed edges in METIS" "read it with --undirected" gtu convert all.gtu lost.graph --adapt
exits 1 "gtu convert refuses weights in .sg" gtu convert all.gtu lost.sg
for file in lost.graph lost.sg; do holds "gtu convert writes no $file" test ! -e $file; done
printf '' >none.txt
exits 3 "gtu convert refuses an empty file" gtu convert none.txt none.mtx

# names in containers and files are printed without control characters
printf '1 2\n' >$'\e[31mred\xc2\x9b.txt'
check "gtu convert reads a file whose name has control characters" gtu convert $'\e[31mred\xc2\x9b.txt' named.gtu --quiet
check "gtu stat describes a graph whose name has control characters" gtu stat named.gtu
says "gtu stat escapes control characters of a graph's name" '31mred\\xc2\\x9b' "$out"
holds "gtu stat prints no control character" bash -c '! LC_ALL=C grep -q "[[:cntrl:]]" "$1" && ! LC_ALL=C grep -qP "\xc2[\x80-\x9f]" "$1"' - "$out"
exits 3 "gtu stat refuses a missing file whose name has control characters" gtu stat $'none\e[2J\xc2\x9b2J'
says "a message escapes control characters" 'none\\x1b\[2J\\xc2\\x9b2J'

# the memory ceiling
seq 1 100000 | awk '{ print $1, $1 + 1 }' >long.txt
exits 1 "gtu stat refuses a graph above --memory" gtu stat long.txt --memory 100K
says "gtu stat names the option for memory" "--memory SIZE or GTU_MEMORY=SIZE"
exits 1 "gtu run refuses a graph above GTU_MEMORY" env GTU_MEMORY=100K gtu run cc long.txt
check "--memory overrides GTU_MEMORY" env GTU_MEMORY=100K gtu convert long.txt long.gtu --memory 100M --quiet
exits 2 "gtu run refuses a wrong --memory" gtu run cc long.txt --memory much

# words as ids
printf 'alice bob\nbob carol\n' >names.txt
fails_with 3 "gtu convert refuses words as ids, and names the option that reads them" "names.txt:2: .*--names reads words" gtu convert names.txt names.gtu
check "gtu convert --names reads words as ids" gtu convert names.txt names.gtu --names
prints "gtu stat prints names" "^vertices +3 +names alice to carol" gtu stat names.gtu
for graph in names.gtu "names.txt --names"; do
	# shellcheck disable=SC2086 # a file and an option
	check "gtu run finds the source by its name in $graph" gtu run bfs $graph --source alice --output values
	printf 'alice 0\nbob 1\ncarol 2\n' >want
	same "gtu run prints the names of $graph" values want
done
prints "gtu run finds the target by its name" "connected alice to carol by a path of 2 edges" gtu run stcon names.gtu --source alice --target carol
check "gtu run bc takes several names" gtu run bc names.gtu --source carol,bob --json bc.json
check "gtu run writes the source's name as JSON" gtu run bfs names.gtu --source bob --json names.json
json "the JSON has the source's id and name" names.json 'd["source"] == 1 and d["source_name"] == "bob"'
check "gtu run writes JSON for a graph without names" gtu run bfs good.gtu --source 10 --json ids.json
json "the JSON of a graph without names has only ids" ids.json 'd["source"] == 10 and "source_name" not in d'
fails_with 2 "gtu run names the container in which no vertex has the name" "gtu: names.gtu has no vertex named 'dave'$" \
	gtu run bfs names.gtu --source dave
fails_with 2 "gtu run suggests a source's name" "names.gtu has no vertex named 'alise'; did you mean 'alice'\?$" \
	gtu run bfs names.gtu --source alise
fails_with 2 "gtu run suggests a name in other letters" "no vertex named 'CAROL'; did you mean 'carol'\?$" \
	gtu run bc names.txt --names --source bob,CAROL
fails_with 2 "gtu run suggests a target's name" "no vertex named 'bobb'; did you mean 'bob'\?$" \
	gtu run stcon names.gtu --source alice --target bobb
check "gtu generate writes a container" gtu generate uniform --vertices 10 --seed 1 made.gtu --quiet
fails_with 2 "gtu run names the container that lacks an id" "the 10 vertices of made.gtu have ids 0 to 9$" gtu run bfs made.gtu --source 10
prints "gtu run prints the rule of a generated graph" "^graph +uniform n=10 " gtu run bfs made.gtu --source 1
fails_with 2 "gtu run refuses a name where vertices have none" "--source 'bob' is not a number .* have no names" gtu run bfs good.gtu --source bob
fails_with 2 "gtu run refuses a target's name where vertices have none" "--target 'bob' is not a number" gtu run stcon good.gtu --source 10 --target bob
printf '2 1\n2\n1\n' >metis.graph
fails_with 2 "gtu convert --names refuses a format without names" "only an edge list is read with names" gtu convert metis.graph other.gtu --names
fails_with 1 "gtu convert does not drop names silently" "has no names of vertices; --adapt" gtu convert names.gtu names.el.txt
check "gtu convert --adapt drops names" gtu convert names.gtu names.el.txt --adapt

finish
