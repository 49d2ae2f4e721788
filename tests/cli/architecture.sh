# SPDX-License-Identifier: MIT
# Checks Documentation/architecture.md against the source: the files of its picture exist, every include of another folder
# is in its table, and the folders have no cycles.
. "${0%/*}/tap.bash"

page=$root/Documentation/architecture.md
[ -d "$root/firmware-model" ] || { skip "the architecture page" "no source here"; finish; exit; }
folders="include driver firmware-model libruntime tools"

# Names in the picture and in the text, but not in the tables: a path, or a file of any folder.
{ sed -n '/^```$/,/^```$/p' "$page"; grep -v '^|' "$page" | grep -o '`[^`]*`' | tr -d '`'; } |
	grep -oE '[A-Za-z][A-Za-z0-9_/-]+(\.(c|h|cuh|md|sh)|/)' | grep -vE '^(build/|dev/)' | sort -u >names
at_least 40 "$(wc -l <names)" "names in the picture and the text"
(cd "$root" && find $folders Documentation tests/cli -type f -o -type d) >there
found() { grep -qE "(^|/)${1%/}$" there; }
while read -r name; do
	check "$name is there" found "$name"
done <names

# Every include of the project as "FILE PATH"; an include that resolves to no file of the project is the system's.
(cd "$root" && grep -rHoE '^[ 	]*#[ 	]*include *["<][^">]+' --include=*.[ch] --include=*.cu --include=*.cuh $folders) |
	sed -E 's/:[ 	]*#[ 	]*include *(["<])/ \1 /' >lines
while read -r file kind name; do
	if [ -e "$root/include/$name" ]; then
		echo "$file include/$name"
	elif [ "$kind" = '"' ] && [[ $name != */* ]]; then
		echo "$file ${file%/*}/$name"
	elif [ -e "$root/$name" ] || [[ $name == ../* ]]; then
		echo "$file $name"
	fi
done <lines | sort -u >includes
check "includes were found" test "$(wc -l <includes)" -ge 500 # not everywhere
awk '{ print $2 }' includes | sort -u | while read -r path; do
	[ -e "$root/$path" ] || grep " $path$" includes
done >missing
empty "an include is of the same folder or names its folder" missing # not everywhere

# The table: "FOLDER | headers and folders"; a folder has one row.
grep '^| `' "$page" | tr -d '`' | sed 's/ *| */|/g' >rows
awk -F'|' '$2 ~ /\/$/ { print $2 "|" $3 }' rows >allowed
check "the table was read" test "$(wc -l <allowed)" -ge 20 # not everywhere
cut -d'|' -f1 allowed | sort | uniq -d >twice
empty "a folder has one row" twice # not everywhere
awk -F'|' '
	FILENAME == "allowed" { may[$1] = $2; next }
	{
		split($0, pair, " "); file = pair[1]; path = pair[2]
		folder = file; sub(/[^\/]*$/, "", folder)
		target = path; sub(/[^\/]*$/, "", target)
		if (folder == target) next
		for (row = folder; row != "" && !(row in may); ) sub(/[^\/]*\/$/, "", row)
		name = path; sub(/^include\//, "", name)
		n = split(may[row], word, " "); good = 0
		for (i = 1; i <= n; i++) if (name == word[i] || (word[i] ~ /\/$/ && index(name, word[i]) == 1)) good = 1
		if (!good) print file, path
	}' allowed includes >unsorted
empty "files include what the page allows" unsorted # not everywhere

# There is an order of the folders in which each uses only those before it.
sed -E 's|([^ ]*)/[^/ ]* ([^ ]*)/[^/ ]*|\1 \2|' includes | sort -u >edges
# bash counts the lines of what follows wrongly
check "the folders have no cycles" tsort edges # not everywhere

(cd "$root" && find $folders tests -path tests/fuzz/seeds -prune -o -type f -printf '%h\n') | sort | uniq -c |
	awk '$1 > 40' >large
empty "no folder has more than 40 source files" large # not everywhere
at_least 20 "$(ls "$root"/firmware-model/device/*.[ch] "$root"/firmware-model/units/*/*.[ch] | wc -l)" "sources of the device"
grep -rlE '^#include <(sys/|unistd|pthread|fcntl|signal|time)' "$root/firmware-model/device" "$root/firmware-model/units" >calls
empty "the device calls no operating system" calls # not everywhere
finish
