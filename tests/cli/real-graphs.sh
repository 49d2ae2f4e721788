# SPDX-License-Identifier: MIT
# Every real graph there is, each algorithm by every unit, against the reference code.
. "${0%/*}/tap.bash"

graphs=${GTU_SHARED:-$root/../shared}/graphs
if [ ! -d "$graphs" ]; then
	echo "1..0 # SKIP no real graphs beside the source (set GTU_SHARED)"
	exit
fi
# The algorithms of later papers; by SCU and IRU with GTU_ALL=1 only, which takes a minute more.
newer() {
	check "kc $name by $unit" gtu run kc g.gtu --unit $unit --verify --quiet
	check "gc $name by $unit" gtu run gc g.gtu --unit $unit --verify --quiet
	check "bc $name by $unit" gtu run bc g.gtu --sources 2 --unit $unit --verify --quiet
	check "stcon $name by $unit" gtu run stcon g.gtu --target "$last" --unit $unit --verify --quiet
	case $name in
	cond-mat-2005.*)
		exits 3 "gcn $name by $unit: it has infinite weights" gtu run gcn g.gtu --features 3 --unit $unit
		says "says so" "has the weight inf"
		check "gcn $name by $unit, unit weights" \
			gtu run gcn g.gtu --weights unit --features 3 --unit $unit --verify --quiet ;;
	*)
		check "gcn $name by $unit" gtu run gcn g.gtu --features 3 --unit $unit --verify --quiet ;;
	esac
	check "hash $name by $unit" gtu run hash g.gtu --queries 100000 --unit $unit --verify --quiet
}
for file in "$graphs"/*; do
	name=${file##*/}
	case $name in
	README* | SHA256SUMS | *.properties) continue ;;
	esac
	[ -f "$file" ] || continue
	check "convert $name" gtu convert "$file" g.gtu --quiet
	[ -e g.gtu ] || continue
	last=$(gtu run cc g.gtu --unit none --output - --quiet | tail -1 | cut -d' ' -f1)
	for unit in none scu-basic scu iru peg weaver; do
		check "bfs $name by $unit" gtu run bfs g.gtu --unit $unit --verify --quiet
		check "cc $name by $unit" gtu run cc g.gtu --unit $unit --verify --quiet
		check "pr $name by $unit" gtu run pr g.gtu --iterations 5 --unit $unit --verify --quiet
		case $unit in
		none | peg | weaver) newer ;;
		# their edges come through the same code as on the small graphs of the unit tests
		*) [ -z "${GTU_ALL:-}" ] || newer ;;
		esac
		if [ $unit = peg ] || [ $unit = weaver ]; then
			for direction in pull auto; do
				check "bfs $name by $unit, $direction" gtu run bfs g.gtu --unit $unit --direction $direction --verify --quiet
				check "pr $name by $unit, $direction" \
					gtu run pr g.gtu --iterations 5 --unit $unit --direction $direction --verify --quiet
			done
		fi
		if [ "$name" = bips98_606.mtx.xz ]; then
			exits 3 "sssp $name by $unit: it has negative weights" gtu run sssp g.gtu --unit $unit
			says "says so" "weight -"
		else
			check "sssp $name by $unit" gtu run sssp g.gtu --unit $unit --verify --quiet
		fi
		check "sssp $name by $unit, random weights" \
			gtu run sssp g.gtu --weights random --unit $unit --verify --quiet
	done
	rm -f g.gtu
done
finish
