# SPDX-License-Identifier: MIT
# gtu run: every option, results that were worked out by hand, and what is refused.
. "${0%/*}/tap.bash"

far=9223372036854775807
# directed, ids with gaps, two components; 10 -> 30 is dearer than by 20
printf '10 20 1\n10 30 4\n20 30 2\n30 40 1\n50 60 3\n' >g.txt
printf '10 0\n20 1\n30 1\n40 2\n50 %s\n60 %s\n' $far $far >bfs.want
printf '10 0\n20 1\n30 1\n40 2\n50 %s\n60 %s\n' $far $far >bfs10.want
printf '10 1\n20 1\n30 0\n40 1\n50 %s\n60 %s\n' $far $far >both30.want
printf '10 10\n20 10\n30 10\n40 10\n50 50\n60 50\n' >cc.want
printf '10 0\n20 1\n30 3\n40 4\n50 infinity\n60 infinity\n' >sssp.want
printf '10 0\n20 1\n30 1\n40 2\n50 infinity\n60 infinity\n' >unit.want
# as numbers: 3 and 3.0 are one distance
numbers() { awk '{ print $1, $2 == "infinity" ? $2 : $2 + 0 }' "$1" >"$1.n"; }

check "convert" gtu convert g.txt g.gtu
for unit in none scu-basic scu iru peg weaver; do
	for graph in g.txt g.gtu; do
		check "bfs $graph $unit" gtu run bfs $graph --source 10 --unit $unit --output o --verify
		same "bfs $graph $unit, result" o bfs.want
	done
	check "bfs $unit both ways" gtu run bfs g.txt --source 30 --undirected --unit $unit --output o --verify
	same "bfs $unit both ways, result" o both30.want
	check "sssp $unit" gtu run sssp g.txt --source 10 --unit $unit --output o --verify
	numbers o
	same "sssp $unit, result" o.n sssp.want
	check "sssp $unit, first column" gtu run sssp g.txt --source 10 --weights 1 --unit $unit --output o --verify
	numbers o
	same "sssp $unit, first column, result" o.n sssp.want
	check "sssp $unit, unit weights" gtu run sssp g.txt --source 10 --weights unit --unit $unit --output o --verify
	numbers o
	same "sssp $unit, unit weights, result" o.n unit.want
	check "cc $unit" gtu run cc g.txt --unit $unit --output o --verify
	same "cc $unit, result" o cc.want
	check "pagerank $unit" gtu run pagerank g.txt --unit $unit --iterations 30 --damping 0.85 --output pr.$unit --verify
	check "ranks $unit sum to 1" awk '{ s += $2 } END { exit !(NR == 6 && s > 1 - 1e-9 && s < 1 + 1e-9) }' pr.$unit
	check "17 significant digits $unit" bash -c "! grep -Ev '^[0-9]+ [0-9.e+-]{15,}$' pr.$unit"
	check "ranks $unit as without" bash -c "paste pr.none pr.$unit | awk '{ d = \$2 - \$4; if (d < 0) d = -d; if (d > 1e-6 * \$2) exit 1 }'"
done
check "random weights" gtu run sssp g.txt --source 10 --weights random:5 --output r1 --verify
check "the same seed" gtu run sssp g.txt --source 10 --weights random:5 --unit iru --output r2 --verify
same "gives the same" r1 r2
check "weights without a seed" gtu run sssp g.txt --source 10 --weights random --verify
check "as directed" gtu run bfs g.txt --source 40 --directed --output o
says "reaches nothing" "^40 0$" o
check "to convergence" gtu run pagerank g.txt --epsilon 1e-12 --output o --verify
check "another damping" gtu run pagerank g.txt --damping 0.5 --output p5 --verify
check "is another result" bash -c '! cmp -s p5 o'
check "--device model" gtu run bfs g.txt --source 10 --device model --verify
check "--device with a parameter" gtu run bfs g.txt --source 10 --unit iru --device model:iru_sets=512 --output o --verify
same "gives the same result" o bfs.want
check "--quiet" gtu run bfs g.txt --source 10 --quiet
check "--output -" gtu run bfs g.txt --source 10 --output - --quiet

if command -v python3 >/dev/null; then
	cat >check_run.py <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
text = json.dumps(d)
for key in ("algorithm", "unit", "device", "graph", "vertices", "edges", "iterations"):
    assert key in text, key
assert d["algorithm"] == "bfs" and d["unit"] == sys.argv[2], (d["algorithm"], d["unit"])
def numbers(x):
    if isinstance(x, dict):
        for v in x.values(): yield from numbers(v)
    elif isinstance(x, list):
        for v in x: yield from numbers(v)
    elif isinstance(x, (int, float)): yield x
assert 6 in numbers(d) and 5 in numbers(d)
END
	for unit in none scu iru; do
		check "--json - $unit" gtu run bfs g.txt --source 10 --unit $unit --json -
		cp "$out" run.json
		check "is JSON with what it should say" python3 check_run.py run.json $unit
		check "--json FILE $unit" gtu run bfs g.txt --source 10 --unit $unit --json file.json
		check "is JSON, too" python3 check_run.py file.json $unit
	done
else
	skip "--json" "no python3"
fi

exits 2 "no algorithm" gtu run
exits 2 "no graph" gtu run bfs
exits 2 "an algorithm there is none of" gtu run bsf g.txt
says "suggests" "bfs"
exits 2 "a unit there is none of" gtu run bfs g.txt --source 10 --unit scuu
says "suggests a unit" "scu"
exits 2 "a source there is none of" gtu run bfs g.txt --source 11
says "names it" "11"
exits 2 "a source that is no number" gtu run bfs g.txt --source ten
exits 2 "damping out of range" gtu run pagerank g.txt --damping 1.5
exits 2 "no iterations" gtu run pagerank g.txt --iterations some
exits 2 "weights of no kind" gtu run sssp g.txt --source 10 --weights heavy
exits 3 "a graph that is none" gtu run bfs "$0" --source 10
exits 3 "a graph that is not there" gtu run bfs nonesuch.txt --source 10
says "names the file" "nonesuch.txt"
printf '1 2 -5\n2 3 1\n' >negative.txt
quietly gtu run sssp negative.txt --source 1
got=$?
check "negative weights are refused (exit $got)" test $got -eq 2 -o $got -eq 3
exits 1 "an output that cannot be written" gtu run bfs g.txt --source 10 --output nowhere/o
says "names where" "nowhere"

# a container's weights were chosen when it was made
exits 2 "a column of a container" gtu run sssp g.gtu --source 10 --weights 9
says "says that there is none" "--weights 9: g.gtu is a native container, which has no columns"
exits 2 "even the first" gtu run sssp g.gtu --source 10 --weights 1
exits 2 "nor when it is converted" gtu convert g.gtu g2.gtu --weights 1
check "and none is written" test ! -e g2.gtu
check "its weights can be dropped" gtu convert g.gtu g2.gtu --weights none
check "no algorithm but sssp looks at them" gtu run cc g.gtu --weights 9
check "a column of compressed text" bash -c 'gzip -c g.txt >z.txt.gz && gtu run sssp z.txt.gz --source 10 --weights 1'
check "a column through a pipe" bash -c 'cat g.txt | gtu run sssp /dev/stdin --source 10 --weights 1'

# what is written must not lose what is read, and is looked at before the work begins
cp g.txt own.txt
ln -s own.txt link.txt
ln own.txt hard.txt
for name in own.txt ./own.txt link.txt hard.txt; do
	exits 2 "--output $name onto the graph" gtu run bfs own.txt --output $name
	says "says so" "is the graph itself"
	exits 2 "--json $name onto the graph" gtu run bfs own.txt --json $name
done
same "the graph is as before" own.txt g.txt
exits 2 "one file for both" gtu run bfs g.txt --output both --json ./both
says "names it" "cannot both go to ./both"
exits 2 "standard output for both" gtu run bfs g.txt --output - --json -
check "nowhere for both" gtu run bfs g.txt --output /dev/null --json /dev/null
exits 1 "an output that cannot be is found first" gtu run bfs nonesuch.txt --output nowhere/o
says "before the graph that cannot" "nowhere/o: cannot be written"
exits 1 "and so is --json" gtu run bfs nonesuch.txt --json nowhere/o
check "a graph of many vertices" gtu generate kronecker --scale 12 many.gtu
mkdir t
exits 1 "--output past a limit on file sizes" bash -c '(ulimit -f 1; cd t; exec gtu --quiet run cc ../many.gtu --output o) 2>&1 | cat >&2; exit ${PIPESTATUS[0]}'
says "says why" "^gtu: o: cannot be written: File too large"
check "and leaves nothing" test -z "$(ls -A t)"
check "looking leaves nothing behind" bash -c '! gtu run bfs nonesuch.txt --output fresh; ! ls | grep fresh'

# the algorithms of GraphPEG's evaluation; results by hand: edges 10-20, 10-30, 20-30, 30-40, 50-60
printf '10 0.0\n20 0.0\n30 2.0\n40 0.0\n50 0.0\n60 0.0\n' >bc.want
printf '10 2\n20 2\n30 2\n40 1\n50 1\n60 1\n' >kc.want
for unit in none scu-basic scu iru peg weaver; do
	check "bc $unit" gtu run bc g.txt --sources all --unit $unit --output o --verify
	awk '{ printf "%s %.1f\n", $1, $2 }' o >o.n
	same "bc $unit, result" o.n bc.want
	check "bc $unit from two" gtu run bc g.txt --source 10,20 --unit $unit --output o --verify
	same "the same: no path of others leads through 10 and 20" <(awk '{ printf "%s %.1f\n", $1, $2 }' o) bc.want
	check "kc $unit" gtu run kc g.txt --unit $unit --output o --verify
	same "kc $unit, result" o kc.want
	check "gc $unit" gtu run gc g.txt --unit $unit --output o.$unit --verify
	same "gc $unit, as none" o.$unit o.none
	check "stcon $unit" gtu run stcon g.txt --source 10 --target 40 --unit $unit --output o --verify
	check "stcon $unit shows it" bash -c "gtu run stcon g.txt --source 10 --target 40 --unit $unit | grep 'connected 10 to 40 by a path of 2 edges'"
	same "stcon $unit, result" o <(echo 40 2)
	check "stcon $unit, no path" bash -c "gtu run stcon g.txt --source 10 --target 60 --unit $unit --verify | grep 'no path   from 10 to 60'"
	check "stcon $unit, both ways" gtu run stcon g.txt --source 40 --target 10 --undirected --unit $unit --output o --verify
	same "result" o <(echo 10 2)
done
# a convolution; by hand: of 2 - 1 - 3, both ways, 1 sees both others, each of which sees 1
printf '2 1 4\n1 3 5\n' >conv.txt
for unit in none scu-basic scu iru peg weaver; do
	check "gcn $unit" gtu run gcn g.txt --features 3 --unit $unit --output o --verify
	check "gcn $unit, three reals a line" awk 'NF != 4 { exit 1 } END { exit NR != 6 }' o
	check "gcn $unit, weights" gtu run gcn conv.txt --undirected --features 1 --seed 7 --unit $unit --output c.$unit --verify
	check "gcn $unit, as worked out" bash -c "paste c.none c.$unit | awk '{ d = \$2 - \$4 } d > 1e-12 || d < -1e-12 { exit 1 }'"
	# y1 = 4 x2 + 5 x3, y2 = 4 x1, y3 = 5 x1; z1 = (y2 + y3) / sqrt 2 and z2 = z3 = y1 / sqrt 2
	check "gcn $unit, both ends alike" awk '$1 != 1 { if (n++ && $2 != z) exit 1; z = $2 }' c.$unit
done
check "another seed" gtu run gcn conv.txt --features 1 --seed 8 --output c2 --quiet
check "is another result" bash -c '! cmp -s c2 c.none'
check "unit weights" gtu run gcn conv.txt --weights unit --features 1 --seed 7 --verify
exits 2 "no features" gtu run gcn g.txt --features 0
exits 2 "too many" gtu run gcn g.txt --features 65537
# pulling: the same levels, and JSON says which they were
for unit in peg weaver; do
	for direction in push pull auto; do
		check "bfs $unit $direction" gtu run bfs g.txt --source 10 --unit $unit --direction $direction --output o --json d.json --verify
		same "bfs $unit $direction, result" o bfs.want
		check "pr $unit $direction" gtu run pr g.txt --unit $unit --direction $direction --verify
	done
	check "JSON of pulling, $unit" bash -c "gtu run bfs g.txt --source 10 --unit $unit --direction pull --json - | tr -d ' \n' | grep '\"directions\":\[{\"direction\":\"pull\",\"first\":0,\"iterations\":3}\]'"
	check "and pushing, $unit" bash -c "gtu run bfs g.txt --source 10 --unit $unit --json - | tr -d ' \n' | grep '\"directions\":\[{\"direction\":\"push\",\"first\":0,\"iterations\":3}\]'"
	check "a person sees it, $unit" bash -c "gtu run bfs g.txt --source 10 --unit $unit --direction pull | grep '3 levels (3 by pull, starting with number 1)'"
done
exits 2 "a direction there is none of" gtu run bfs g.txt --unit peg --direction pul
says "suggests" "pull"
exits 2 "pulling by a unit that pushes" gtu run bfs g.txt --unit iru --direction pull
says "says so" "--direction pull is for --unit peg and weaver; with iru bfs pushes"
exits 2 "a direction where it means nothing" gtu run kc g.txt --unit peg --direction push
says "says so" "--direction push is for bfs and pr; kc knows one direction only"

# lookups among five edges
for unit in none scu-basic scu iru peg weaver; do
	check "hash $unit" gtu run hash g.txt --queries 1000 --unit $unit --output h.$unit --verify
	same "hash $unit, as none" h.$unit h.none
done
check "a line a query" awk '$1 != NR - 1 || NF != 4 { exit 1 } END { exit NR != 1000 }' h.none
check "edges are found, other pairs are not" awk '
	NR == FNR { edge[$1 " " $2]; next }
	(($2 " " $3) in edge) != ($4 != "none") { exit 1 }
	{ n[$4 == "none"]++ }
	END { exit !(n[0] >= 500 && n[1] > 300) }' g.txt h.none
check "other queries" gtu run hash g.txt --queries 1000 --seed 2 --output h2 --quiet
check "are others" bash -c '! cmp -s h2 h.none'
exits 2 "no queries" gtu run hash g.txt --queries 0
check "sources drawn" bash -c "gtu run bc g.txt --sources 2:7 --verify | grep 'sources   2: drawn at random, seed 7'"
exits 2 "no target" gtu run stcon g.txt
says "asks for it" "stcon needs --target ID"
exits 2 "a target there is none of" gtu run stcon g.txt --target 11
exits 2 "several sources of one search" gtu run bfs g.txt --source 10,20
says "says so" "bfs starts at one source, and --source names 2"
exits 2 "two kinds of sources" gtu run bc g.txt --source 10 --sources 3
exits 2 "no sources" gtu run bc g.txt --sources 0

# a real graph, if it is there: other people's counts
check "a generated graph" gtu generate kronecker --scale 12 --seed 3 k.gtu
for unit in none scu-basic scu iru peg weaver; do
	check "bfs of it, $unit" gtu run bfs k.gtu --source 1 --unit $unit --output k.$unit --verify
	same "the same levels by $unit" k.none k.$unit
done

# the monitor changes nothing, and counts something
for unit in scu iru; do
	check "watched, $unit" gtu run bfs k.gtu --source 1 --unit $unit --monitor --output watched --json w.json
	same "the same levels watched, $unit" k.$unit watched
	check "requests are counted, $unit" grep -Eq '"host_read_bytes": [1-9]' w.json
done
quietly gtu run bfs k.gtu --source 1 --unit scu --json n.json
check "without the option nothing is watched" grep -q '"host_read_bytes": 0' n.json
check "a graph of some size" gtu generate kronecker --scale 14 k.gtu
exits 1 "a device that is not done in time" gtu run bfs k.gtu --timeout 0.000001
says "says so" "^gtu: model has not completed job [0-9]+ within 1e-06 s$"
check "no time limit" gtu run bfs k.gtu --timeout 0 --verify
exits 2 "a time limit that is none" gtu run bfs k.gtu --timeout -1
says "says so" "--timeout -1 is not within 0 to 1e\\+09"

finish
