# SPDX-License-Identifier: MIT
# Compares each algorithm with every unit on every available real graph with the reference code.
. "${0%/*}/tap.bash"

graphs=${GTU_SHARED:-$root/../shared}/graphs
if [ ! -d "$graphs" ]; then
	skip_all "there are no real graphs beside the source (set GTU_SHARED)"
fi
# The algorithms of later papers. A graph has one unit, by turns; with GTU_ALL=1, which takes two more minutes, all.
newer() {
	verified "kc over $name is right by $unit" gtu run kc g.gtu --unit $unit --verify
	verified "gc over $name is right by $unit" gtu run gc g.gtu --unit $unit --verify
	verified "bc over $name is right by $unit" gtu run bc g.gtu --sources 2 --unit $unit --verify
	verified "stcon over $name is right by $unit" gtu run stcon g.gtu --target "$last" --unit $unit --verify
	case $name in
	cond-mat-2005.*)
		fails_with 3 "gcn over $name is refused by $unit for an infinite weight" "has the weight inf" gtu run gcn g.gtu --features 3 --unit $unit
		verified "gcn over $name with unit weights is right by $unit" gtu run gcn g.gtu --weights unit --features 3 --unit $unit --verify ;;
	*)
		verified "gcn over $name is right by $unit" gtu run gcn g.gtu --features 3 --unit $unit --verify ;;
	esac
	verified "hash over $name is right by $unit" gtu run hash g.gtu --queries 10000 --unit $unit --verify
}
found=0 newer_by=(none scu iru peg weaver)
for file in "$graphs"/*; do
	name=${file##*/}
	case $name in
	README* | SHA256SUMS | *.properties) continue ;;
	esac
	[ -f "$file" ] || continue
	found=$((found + 1))
	check "gtu convert reads $name" gtu convert "$file" g.gtu --quiet
	[ -e g.gtu ] || continue
	newer_unit=${newer_by[found % 5]}
	last=$(gtu run cc g.gtu --unit none --output - --quiet | tail -1 | cut -d' ' -f1)
	for unit in none scu-basic scu iru peg weaver; do
		verified "bfs over $name is right by $unit" gtu run bfs g.gtu --unit $unit --verify
		verified "cc over $name is right by $unit" gtu run cc g.gtu --unit $unit --verify
		verified "pr over $name is right by $unit" gtu run pr g.gtu --iterations 2 --unit $unit --verify
		# the unit tests cover the same code on small graphs
		[ -z "${GTU_ALL:-}" ] && [ "$unit" != "$newer_unit" ] || newer
		if [ $unit = peg ] || [ $unit = weaver ]; then
			for direction in pull auto; do
				verified "bfs over $name is right by $unit, $direction" gtu run bfs g.gtu --unit $unit --direction $direction --verify
				verified "pr over $name is right by $unit, $direction" gtu run pr g.gtu --iterations 2 --unit $unit --direction $direction --verify
			done
		fi
		if [ "$name" = bips98_606.mtx.xz ]; then
			fails_with 3 "sssp over $name is refused by $unit for a negative weight" "weight -" gtu run sssp g.gtu --unit $unit
		else
			verified "sssp over $name is right by $unit" gtu run sssp g.gtu --unit $unit --verify
		fi
		verified "sssp over $name with random weights is right by $unit" gtu run sssp g.gtu --weights random --unit $unit --verify
	done
	rm -f g.gtu
done
at_least 20 $found "real graphs in $graphs"
finish
