# SPDX-License-Identifier: MIT
# Checks that Documentation/papers.md and gtu lab list --figures name places that exist and commands that are accepted.
. "${0%/*}/tap.bash"

check "gtu lab list --figures prints a list" gtu lab list --figures
check "gtu lab list --figures writes JSON" gtu lab list --figures --json list.json
exits 2 "gtu lab run refuses --figures" gtu lab run iru --figures
exits 2 "gtu lab list refuses --json without --figures" gtu lab list --json -
needs python3
cat >list.py <<'END'
"""Write paper, kind, number and text of each row, with tabs; fail on a gap or a repetition."""
import json

# the last figure and the last table of each paper
LAST = {"emogi": (13, 4), "scu": (13, 5), "iru": (16, 3), "graphpeg": (11, 5), "sparseweaver": (19, 5)}
rows = json.load(open("list.json"))
out = open("rows", "w")
for paper, (figures, tables) in LAST.items():
    for kind, last in (("figure", figures), ("table", tables)):
        numbers = sorted(r[kind] for r in rows if r["paper"] == paper and kind in r)
        assert numbers == list(range(1, last + 1)), (paper, kind, numbers)
assert set(r["paper"] for r in rows) == set(LAST)
for r in rows:
    kind = "figure" if "figure" in r else "table"
    text = r.get("command") or r.get("place") or r["reason"]
    print(r["paper"], kind, r[kind], r["kind"], text, sep="\t", file=out)
END
python "the list has each figure and table of the five papers once" list.py
at_least 90 "$(wc -l <rows)" "figures and tables"
: >wrong
while IFS=$'\t' read -r paper kind number how text; do
	gtu lab run "$paper" --"$kind" "$number" --graph /nonexistent >run.out 2>&1
	case $how in
	command)
		[ "$text" = "gtu lab run $paper --$kind $number" ] && grep -q nonexistent run.out || echo "$paper $kind $number cannot be run" >>wrong ;;
	*)
		grep -q "does not reproduce" run.out || echo "$paper $kind $number can be run" >>wrong
		case $how/$text in
		place/"gtu lab machine "*) $text >run.out 2>&1 || echo "$paper $kind $number: $text fails" >>wrong ;;
		place/*) [ -e "$root/$text" ] || echo "$paper $kind $number: there is no $text" >>wrong ;;
		esac ;;
	esac
done <rows
empty "commands run that figure, and places exist" wrong
grep -o '^|[^|]*|[^|]*|[^|]*|' "$root/Documentation/papers.md" | grep -o '`[^`]*/[^`]*`' | tr -d '`' | sort -u >places
at_least 40 "$(wc -l <places)" "places in papers.md"
while read -r place; do [ -e "$root/$place" ] || echo "$place"; done <places >missing
empty "papers.md names only files that exist" missing
finish
