# SPDX-License-Identifier: MIT
# Compares every unit with published results: LDBC Graphalytics' validation graphs, by the benchmark's rules, and NetworkX'
# results in cuGraph's test data.
. "${0%/*}/tap.bash"

graphs=${GTU_SHARED:-$root/../shared}/graphs
if [ ! -d "$graphs/ldbc-validation" ]; then
	skip_all "there are no published results beside the source (set GTU_SHARED)"
fi
units="none scu-basic scu iru peg weaver"

# prints the value of the key in GRAPH.properties that ends with the argument
property() {
	sed -n "s/^graph\..*\.$2 *= *//p" "$1.properties" | tr -d '\r' | head -1
}

# by_rule RULE WANT GOT: both files have "id value" lines; every id must be in both
by_rule() {
	awk -v rule="$1" '
	function number(x) { return tolower(x) ~ /^inf/ ? "inf" : x + 0 }
	function same(a, b) {
		if (rule == "exact") return a == b
		if (rule == "partition") {
			if (!(a in to)) to[a] = b
			if (!(b in from)) from[b] = a
			return to[a] == b && from[b] == a
		}
		a = number(a); b = number(b)
		if (a == "inf" || b == "inf") return a == b
		return (a > b ? a - b : b - a) <= 1e-4 * (a < 0 ? -a : a)
	}
	FILENAME == ARGV[1] { want[$1] = $2; wanted++; next }
	!($1 in want) { print "# " $1 " is not in the published result"; bad = 1; exit }
	{
		seen++
		if (!same(want[$1], $2)) { print "# " $1 " has " $2 ", published is " want[$1]; bad = 1; exit }
	}
	END {
		if (!bad && (seen != wanted || !seen)) { print "# " seen + 0 " values, published are " wanted; bad = 1 }
		exit bad
	}' "$2" "$3"
}

compared() {
	local name=$1

	shift
	skipped "$name" && return
	if by_rule "$@"; then
		report "ok" "$name"
	else
		report "not ok" "$name"
	fi
}

# ---- LDBC ----------------------------------------------------------------------------------------

cases=0
for want in "$graphs"/ldbc-validation/*-{BFS,SSSP,PR,WCC,CDLP,LCC}; do
	[ -e "$want" ] || continue
	cases=$((cases + 1))
	algorithm=${want##*-} graph=${want%-*} args=()
	case $algorithm in
	BFS)
		rule=exact args=(bfs "$graph.e" --source "$(property "$graph" bfs.source-vertex)")
		;;
	SSSP)
		rule=relative args=(sssp "$graph.e" --source "$(property "$graph" sssp.source-vertex)")
		;;
	PR)
		rule=relative
		args=(pr "$graph.e" --damping "$(property "$graph" pr.damping-factor)"
		      --iterations "$(property "$graph" pr.num-iterations)")
		;;
	WCC)
		rule=partition args=(cc "$graph.e")
		;;
	CDLP)
		rule=exact args=(cdlp "$graph.e" --iterations "$(property "$graph" cdlp.max-iterations)")
		;;
	LCC)
		rule=relative args=(lcc "$graph.e")
		;;
	esac
	for unit in $units; do
		name="LDBC ${graph##*/} $algorithm by $unit"
		if [ "$algorithm $unit" = "LCC iru" ]; then
			fails_with 1 "gtu run refuses $name" "no indexed accesses to reorder" gtu run "${args[@]}" --unit iru
			continue
		fi
		rm -f got
		check "gtu run runs $name" gtu run "${args[@]}" --unit $unit --output got --quiet
		compared "the result of $name is the published one" $rule "$want" got
		if [ $unit = none ]; then
			cp got got.none
		elif [ $algorithm = PR ]; then
			holds "the result of $name is within 1e-6 of plain software's" awk '
				NR == FNR { a[$1] = $2; next }
				{ d = a[$1] - $2; if (d < 0) d = -d; if (d > 1e-6 * $2) bad = 1; n++ }
				END { exit bad || !n }' got.none got
		else
			same "the result of $name is that of plain software" got.none got
		fi
	done
done
at_least 15 $cases "published results of LDBC"

# ---- cuGraph -------------------------------------------------------------------------------------

# Prints the requested columns of these files, which are in any order, as "id value". Other programs write the largest
# number of their type for unreachable vertices.
columns() {
	awk -F, -v id="$2" -v value="$3" '
	NR == 1 { for (i = 1; i <= NF; i++) { if ($i == id) a = i; if ($i == value) b = i }; next }
	{ print $a, $b + 0 }' "$1"
}

results=$graphs/expected/cugraph-resultsets
# id algorithm graph start cutoff (or None), from "key value" pairs in any order
awk 'NR > 1 {
	id = $1; algorithm = graph = start = ""; cutoff = "None"
	for (i = 2; i < NF; i += 2) {
		if ($i == "algo") algorithm = $(i + 1)
		if ($i == "graph_dataset") graph = $(i + 1)
		if ($i == "start_vertex" || $i == "source") start = $(i + 1)
		if ($i == "cutoff") cutoff = $(i + 1)
	}
	print id, algorithm, graph, start, cutoff
}' "$results/traversal_mappings.csv" >cases
compared_files=0
while read -r id algorithm graph start cutoff; do
	[ -e "$results/$id.csv" ] || continue
	compared_files=$((compared_files + 1))
	case $algorithm in
	single_source_shortest_path_length | bfs_edges) run=bfs ;;
	*) run=sssp ;;
	esac
	columns "$results/$id.csv" vertex distance >want.all
	# unreachable, or beyond the cutoff: missing in the file, or with the largest number
	awk '$2 < 1e9' want.all | sort -n >want
	for unit in $units; do
		name="NetworkX $id ($algorithm, $graph from $start, cutoff $cutoff) by $unit"
		rm -f got.all
		check "gtu run runs $name" gtu run $run "$results/$graph.csv" --source "$start" --unit $unit --output got.all --quiet
		awk -v cutoff="$cutoff" '
			$2 != "infinity" && $2 != "9223372036854775807" && (cutoff == "None" || $2 <= cutoff + 0)' \
			got.all | sort -n >got
		compared "the result of $name is the published one" $([ $run = bfs ] && echo exact || echo relative) want got
	done
done <cases
at_least 32 $compared_files "published results of NetworkX"
finish
