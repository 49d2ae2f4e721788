# SPDX-License-Identifier: MIT
# Tests gtu run: every option, results that were computed by hand, and errors.
. "${0%/*}/tap.bash"

far=9223372036854775807
# directed, ids with gaps, two components; 10 -> 30 costs more than the path through 20
printf '10 20 1\n10 30 4\n20 30 2\n30 40 1\n50 60 3\n' >g.txt
printf '10 0\n20 1\n30 1\n40 2\n50 %s\n60 %s\n' $far $far >bfs.want
printf '10 0\n20 1\n30 1\n40 2\n50 %s\n60 %s\n' $far $far >bfs10.want
printf '10 1\n20 1\n30 0\n40 1\n50 %s\n60 %s\n' $far $far >both30.want
printf '10 10\n20 10\n30 10\n40 10\n50 50\n60 50\n' >cc.want
printf '10 0\n20 1\n30 3\n40 4\n50 infinity\n60 infinity\n' >sssp.want
printf '10 0\n20 1\n30 1\n40 2\n50 infinity\n60 infinity\n' >unit.want
# differs NAME A B: two results of equal length with different values
differs() {
	holds "$1" bash -c '[ -s "$1" ] && [ "$(wc -l <"$1")" = "$(wc -l <"$2")" ] && { cmp -s "$1" "$2"; [ $? -eq 1 ]; }' - "$2" "$3"
}
# compare as numbers: 3 and 3.0 are the same distance
numbers() { awk '{ print $1, $2 == "infinity" ? $2 : $2 + 0 }' "$1" >"$1.n"; }

check "gtu convert writes a container" gtu convert g.txt g.gtu
for unit in none scu-basic scu iru peg weaver; do
	for graph in g.txt g.gtu; do
		verified "bfs over $graph runs by $unit" gtu run bfs $graph --source 10 --unit $unit --output o --verify
		same "bfs over $graph is right by $unit" o bfs.want
	done
	verified "bfs --undirected runs by $unit" gtu run bfs g.txt --source 30 --undirected --unit $unit --output o --verify
	same "bfs --undirected is right by $unit" o both30.want
	verified "sssp runs by $unit" gtu run sssp g.txt --source 10 --unit $unit --output o --verify
	numbers o
	same "sssp is right by $unit" o.n sssp.want
	verified "sssp --weights 1 runs by $unit" gtu run sssp g.txt --source 10 --weights 1 --unit $unit --output o --verify
	numbers o
	same "sssp --weights 1 is right by $unit" o.n sssp.want
	verified "sssp --weights unit runs by $unit" gtu run sssp g.txt --source 10 --weights unit --unit $unit --output o --verify
	numbers o
	same "sssp --weights unit is right by $unit" o.n unit.want
	verified "cc runs by $unit" gtu run cc g.txt --unit $unit --output o --verify
	same "cc is right by $unit" o cc.want
	verified "pagerank runs by $unit" gtu run pagerank g.txt --unit $unit --iterations 30 --damping 0.85 --output pr.$unit --verify
	holds "ranks by $unit sum to 1" awk '{ s += $2 } END { exit !(NR == 6 && s > 1 - 1e-9 && s < 1 + 1e-9) }' pr.$unit
	holds "ranks by $unit have 15 characters or more" awk '$2 !~ /^[0-9.e+-]+$/ || length($2) < 15 { bad = 1 } END { exit bad || NR != 6 }' pr.$unit
	[ $unit = none ] || holds "ranks by $unit are those of plain software" awk 'NR == FNR { want[$1] = $2; next }
		{ d = want[$1] - $2; if (d < 0) d = -d; if (d > 1e-6 * $2) bad = 1; n++ } END { exit bad || n != 6 }' pr.none pr.$unit
done
check "gtu run without --unit runs" gtu run bfs g.txt
says "gtu run tells which unit it chose" "^unit +scu on model: .*; --unit selects another$" "$out"
check "gtu run with --unit runs" gtu run bfs g.txt --unit scu
lacks "gtu run does not explain a unit that was given" "--unit selects another" "$out"
check "gtu run --monitor runs" gtu run bfs g.txt --unit scu --monitor
says "gtu run --monitor says that it takes longer" "^time .*--monitor slows the model" "$out"
printf '10 20 1\n20 30 -4\n' >negative.txt
exits 3 "sssp refuses a negative weight" gtu run sssp negative.txt
says "gtu run names the edge of the negative weight" "the edge from vertex 20 to vertex 30 has weight -4"
check "gtu stat of a graph without directions" gtu stat g.txt --undirected
says "gtu stat says how edges are stored" "^edges +[0-9]+   each edge in both directions" "$out"
verified "sssp runs with random weights" gtu run sssp g.txt --source 10 --weights random:5 --output r1 --verify
verified "sssp runs with the same random weights by the IRU" gtu run sssp g.txt --source 10 --weights random:5 --unit iru --output r2 --verify
same "one seed gives one result" r1 r2
verified "sssp runs with random weights without a seed" gtu run sssp g.txt --source 10 --weights random --verify
check "bfs --directed runs from a vertex without edges" gtu run bfs g.txt --source 40 --directed --output o
says "bfs --directed reaches nothing from a vertex without edges" "^40 0$" o
verified "pagerank --epsilon runs to convergence" gtu run pagerank g.txt --epsilon 1e-12 --output o --verify
verified "pagerank --damping 0.5 runs" gtu run pagerank g.txt --damping 0.5 --output p5 --verify
differs "another damping gives another result" p5 o
verified "bfs --device model runs" gtu run bfs g.txt --source 10 --device model --verify
verified "bfs --device model:iru_sets=512 runs" gtu run bfs g.txt --source 10 --unit iru --device model:iru_sets=512 --output o --verify
same "a model with other parameters gives the same result" o bfs.want
check "bfs --quiet runs" gtu run bfs g.txt --source 10 --quiet
empty "bfs --quiet prints nothing" "$out"
check "bfs --output - runs" gtu run bfs g.txt --source 10 --output - --quiet
same "bfs --output - prints the result and nothing else" "$out" bfs.want

cat >check_run.py <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
want = {"algorithm": "bfs", "unit": sys.argv[2], "device": "none" if sys.argv[2] == "none" else "model", "graph": "g.txt",
        "vertices": 6, "edges": 5, "iterations": 3}
assert {key: d.get(key) for key in want} == want, d
END
for unit in none scu iru; do
	check "bfs --json - runs by $unit" gtu run bfs g.txt --source 10 --unit $unit --json -
	cp "$out" run.json
	python "bfs --json - by $unit prints the run's facts" check_run.py run.json $unit
	check "bfs --json FILE runs by $unit" gtu run bfs g.txt --source 10 --unit $unit --json file.json
	python "bfs --json FILE by $unit writes the run's facts" check_run.py file.json $unit
done

exits 2 "gtu run refuses to run without an algorithm" gtu run
exits 2 "gtu run refuses to run without a graph" gtu run bfs
exits 2 "gtu run refuses iterations that are no number" gtu run pagerank g.txt --iterations some
exits 2 "gtu run refuses an unknown kind of weights" gtu run sssp g.txt --source 10 --weights heavy
printf '%%%%MatrixMarket matrix coordinate pattern general\n0 0 0\n' >novertex.mtx
for kind in bfs cc pagerank kc gcn hash; do
	fails_with 3 "$kind refuses a graph without vertices" "novertex.mtx has no vertices" gtu run $kind novertex.mtx
done
exits 3 "gtu run refuses a file that is no graph" gtu run bfs "$script" --source 10

# a container's weights were chosen at its creation
fails_with 2 "gtu run refuses a weight column of a container" "--weights 9: g.gtu is a native container, which has no columns" gtu run sssp g.gtu --source 10 --weights 9
exits 2 "gtu run refuses the first weight column of a container" gtu run sssp g.gtu --source 10 --weights 1
exits 2 "gtu convert refuses a weight column of a container" gtu convert g.gtu g2.gtu --weights 1
holds "gtu convert writes no container with a weight column" test ! -e g2.gtu
check "gtu convert drops the weights of a container" gtu convert g.gtu g2.gtu --weights none
check "gtu run cc ignores --weights" gtu run cc g.gtu --weights 9
check "gtu run reads a weight column of a gzip file" bash -c 'gzip -c g.txt >z.txt.gz && gtu run sssp z.txt.gz --source 10 --weights 1'
check "gtu run reads a weight column from a pipe" bash -o pipefail -c 'cat g.txt | gtu run sssp /dev/stdin --source 10 --weights 1'

# the output must not overwrite the input; gtu checks this before the run
cp g.txt own.txt
ln -s own.txt link.txt
ln own.txt hard.txt
for name in own.txt ./own.txt link.txt hard.txt; do
	fails_with 2 "gtu run refuses --output $name over its graph" "is the graph itself" gtu run bfs own.txt --output $name
	exits 2 "gtu run refuses --json $name over its graph" gtu run bfs own.txt --json $name
done
same "the graph is unchanged after refused outputs" own.txt g.txt
fails_with 2 "gtu run refuses one file for --output and --json" "cannot both go to ./both" gtu run bfs g.txt --output both --json ./both
exits 2 "gtu run refuses standard output for --output and --json" gtu run bfs g.txt --output - --json -
check "gtu run takes /dev/null for --output and --json" gtu run bfs g.txt --output /dev/null --json /dev/null
fails_with 1 "gtu run fails for a missing output folder before it opens the graph" "nowhere/o: cannot be written" gtu run bfs nonesuch.txt --output nowhere/o
exits 1 "gtu run fails for a missing JSON folder before it opens the graph" gtu run bfs nonesuch.txt --json nowhere/o
check "gtu generate makes a graph whose result exceeds the limit" gtu generate kronecker --scale 12 many.gtu
mkdir t
# the message goes to a pipe, because the limit applies to every file that gtu writes
limited() {
	bash -c '(ulimit -f 1; cd t; exec gtu --quiet run cc ../many.gtu --output o) 2>&1 | cat >&2; exit ${PIPESTATUS[0]}'
}
fails_with 1 "gtu run fails past the limit on file sizes" "^gtu: o: cannot be written: File too large" limited
ls -A t >left
empty "gtu run leaves no file past the limit" left
exits 3 "gtu run refuses a missing graph with an output" gtu run bfs nonesuch.txt --output fresh
find . -maxdepth 1 -name "fresh*" >left
empty "gtu run leaves no output of a missing graph" left

# the algorithms of GraphPEG's evaluation; results by hand: edges 10-20, 10-30, 20-30, 30-40, 50-60
printf '10 0.0\n20 0.0\n30 2.0\n40 0.0\n50 0.0\n60 0.0\n' >bc.want
printf '10 2\n20 2\n30 2\n40 1\n50 1\n60 1\n' >kc.want
for unit in none scu-basic scu iru peg weaver; do
	verified "bc --sources all runs by $unit" gtu run bc g.txt --sources all --unit $unit --output o --verify
	awk '{ printf "%s %.1f\n", $1, $2 }' o >o.n
	same "bc --sources all is right by $unit" o.n bc.want
	verified "bc --source 10,20 runs by $unit" gtu run bc g.txt --source 10,20 --unit $unit --output o --verify
	same "bc --source 10,20 is right by $unit" <(awk '{ printf "%s %.1f\n", $1, $2 }' o) bc.want
	verified "kc runs by $unit" gtu run kc g.txt --unit $unit --output o --verify
	same "kc is right by $unit" o kc.want
	verified "gc runs by $unit" gtu run gc g.txt --unit $unit --output o.$unit --verify
	[ $unit = none ] || same "gc by $unit gives the colours of plain software" o.$unit o.none
	verified "stcon runs by $unit" gtu run stcon g.txt --source 10 --target 40 --unit $unit --output o --verify
	says "stcon by $unit prints the path's length" "connected 10 to 40 by a path of 2 edges" "$out"
	same "stcon is right by $unit" o <(echo 40 2)
	verified "stcon runs without a path by $unit" gtu run stcon g.txt --source 10 --target 60 --unit $unit --verify
	says "stcon by $unit says that there is no path" "no path   from 10 to 60" "$out"
	verified "stcon --undirected runs by $unit" gtu run stcon g.txt --source 40 --target 10 --undirected --unit $unit --output o --verify
	same "stcon --undirected is right by $unit" o <(echo 10 2)
done
# a convolution, computed by hand: the edges 2 - 1 and 1 - 3 in both directions
printf '2 1 4\n1 3 5\n' >conv.txt
for unit in none scu-basic scu iru peg weaver; do
	verified "gcn runs by $unit" gtu run gcn g.txt --features 3 --unit $unit --output o --verify
	holds "gcn by $unit writes three features a vertex" awk 'NF != 4 { bad = 1 } END { exit bad || NR != 6 }' o
	verified "gcn --undirected runs with weights by $unit" gtu run gcn conv.txt --undirected --features 1 --seed 7 --unit $unit --output c.$unit --verify
	[ $unit = none ] || holds "gcn by $unit is that of plain software" awk 'NR == FNR { want[$1] = $2; next }
		{ d = want[$1] - $2; if (d > 1e-12 || d < -1e-12) bad = 1; n++ } END { exit bad || n != 3 }' c.none c.$unit
	# y1 = 4 x2 + 5 x3, y2 = 4 x1, y3 = 5 x1; z1 = (y2 + y3) / sqrt 2 and z2 = z3 = y1 / sqrt 2
	holds "gcn by $unit gives both neighbours one value" awk '$1 != 1 { if (n++ && $2 != z) bad = 1; z = $2 } END { exit bad || n != 2 }' c.$unit
done
check "gcn runs with another seed" gtu run gcn conv.txt --features 1 --seed 8 --output c2 --quiet
differs "another seed gives another convolution" c2 c.none
verified "gcn runs with unit weights" gtu run gcn conv.txt --weights unit --features 1 --seed 7 --verify
exits 2 "gcn refuses 0 features" gtu run gcn g.txt --features 0
exits 2 "gcn refuses 65537 features" gtu run gcn g.txt --features 65537
# pulling: the same levels, and the JSON output lists the pulled ones
for unit in peg weaver none; do
	for direction in push pull auto; do
		verified "bfs --direction $direction runs by $unit" gtu run bfs g.txt --source 10 --unit $unit --direction $direction --output o --json d.json --verify
		same "bfs --direction $direction is right by $unit" o bfs.want
		verified "pr --direction $direction is right by $unit" gtu run pr g.txt --unit $unit --direction $direction --verify
	done
	for direction in pull push; do
		check "bfs --direction $direction --json - runs by $unit" gtu run bfs g.txt --source 10 --unit $unit --direction $direction --json -
		tr -d ' \n' <"$out" >flat
		says "the JSON of $direction by $unit has one direction of three iterations" \
			"\"directions\":\[\{\"direction\":\"$direction\",\"first\":0,\"iterations\":3\}\]" flat
	done
	[ $unit = none ] && continue
	check "bfs pushes by $unit without --direction" gtu run bfs g.txt --source 10 --unit $unit --json -
	tr -d ' \n' <"$out" >flat
	says "the JSON by $unit says push without --direction" '"directions":\[\{"direction":"push","first":0,"iterations":3\}\]' flat
	prints "bfs --direction pull prints a table by $unit" "3 levels \(3 by pull, starting with number 1\)" gtu run bfs g.txt --source 10 --unit $unit --direction pull
done
fails_with 2 "gtu run refuses an unknown direction" "pull" gtu run bfs g.txt --unit peg --direction pul
fails_with 2 "gtu run refuses to pull by the IRU" "--direction pull is for --unit peg, weaver and none; with iru bfs pushes" gtu run bfs g.txt --unit iru --direction pull
fails_with 2 "gtu run refuses --direction for kc" "--direction push is for bfs and pr; kc knows one direction only" gtu run kc g.txt --unit peg --direction push
check "gtu run --runs 3 repeats a run" gtu run bfs g.txt --unit none --runs 3 --json -
tr -d ' \n' <"$out" >flat
says "the JSON has the seconds of three runs" '"runs":\[[0-9.e-]+,[0-9.e-]+,[0-9.e-]+\]' flat
fails_with 2 "gtu run refuses --runs with a unit" "--runs is for --unit none" gtu run bfs g.txt --unit scu --runs 2
exits 2 "gtu run refuses 0 runs" gtu run bfs g.txt --unit none --runs 0

# lookups among five edges
for unit in none scu-basic scu iru peg weaver; do
	verified "hash runs by $unit" gtu run hash g.txt --queries 1000 --unit $unit --output h.$unit --verify
	[ $unit = none ] || same "hash by $unit gives the result of plain software" h.$unit h.none
done
holds "hash writes a line for each query" awk '$1 != NR - 1 || NF != 4 { bad = 1 } END { exit bad || NR != 1000 }' h.none
holds "hash finds edges and no other pairs" awk '
	NR == FNR { edge[$1 " " $2]; next }
	(($2 " " $3) in edge) != ($4 != "none") { bad = 1 }
	{ n[$4 == "none"]++ }
	END { exit bad || !(n[0] >= 500 && n[1] > 300) }' g.txt h.none
check "hash runs with another seed" gtu run hash g.txt --queries 1000 --seed 2 --output h2 --quiet
differs "another seed gives other queries" h2 h.none
exits 2 "hash refuses 0 queries" gtu run hash g.txt --queries 0
verified "bc --sources 2:7 runs" gtu run bc g.txt --sources 2:7 --verify
says "bc --sources 2:7 prints how the sources were drawn" "sources   2: drawn at random, seed 7" "$out"
fails_with 2 "stcon refuses to run without a target" "stcon needs --target ID" gtu run stcon g.txt
exits 2 "stcon refuses a target that is no vertex" gtu run stcon g.txt --target 11
fails_with 2 "bfs refuses two sources" "bfs starts at one source, and --source names 2" gtu run bfs g.txt --source 10,20
exits 2 "bc refuses --source with --sources" gtu run bc g.txt --source 10 --sources 3
exits 2 "bc refuses 0 sources" gtu run bc g.txt --sources 0

# a real graph, if available: published counts
check "gtu generate makes a graph of 4096 vertices" gtu generate kronecker --scale 12 --seed 3 k.gtu
for unit in none scu-basic scu iru peg weaver; do
	verified "bfs over 4096 vertices runs by $unit" gtu run bfs k.gtu --source 1 --unit $unit --output k.$unit --verify
	[ $unit = none ] || same "bfs over 4096 vertices by $unit gives the levels of plain software" k.none k.$unit
done
check "bfs without a unit chooses the direction" gtu run bfs k.gtu --unit none --json -
tr -d ' \n' <"$out" >flat
says "the JSON without a unit has levels that pulled" '"direction":"pull"' flat

# the monitor does not change the result, and its counters are not 0
for unit in scu iru; do
	check "bfs --monitor runs by $unit" gtu run bfs k.gtu --source 1 --unit $unit --monitor --output watched --json w.json
	same "bfs --monitor by $unit gives the same levels" k.$unit watched
	holds "bfs --monitor by $unit counts bytes" grep -Eq '"host_read_bytes": [1-9]' w.json
done
check "bfs runs without --monitor" gtu run bfs k.gtu --source 1 --unit scu --json n.json
holds "bfs counts no bytes without --monitor" grep -q '"host_read_bytes": 0' n.json
check "gtu generate makes a graph of 16384 vertices" gtu generate kronecker --scale 14 k.gtu
fails_with 1 "gtu run fails on a device that exceeds --timeout" "^gtu: model has not completed job [0-9]+ within 1e-06 s$" gtu run bfs k.gtu --timeout 0.000001
verified "gtu run --timeout 0 has no time limit" gtu run bfs k.gtu --timeout 0 --verify
fails_with 2 "gtu run refuses a negative timeout" "--timeout -1 is not within 0 to 1e\\+09" gtu run bfs k.gtu --timeout -1

finish
