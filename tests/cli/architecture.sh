# SPDX-License-Identifier: MIT
# The architecture page says what is so: its picture's files are there, and nothing includes what its table forbids.
. "${0%/*}/tap.bash"

page=$root/Documentation/architecture.md
[ -d "$root/firmware-model" ] || { skip "the architecture page" "no source here"; finish; exit; }
# names in the picture and in the lists: a path, or a file of one of these folders
{ sed -n '/^```$/,/^```$/p' "$page"; grep -o '`[^`]*`' "$page" | tr -d '`'; } |
	grep -oE '[A-Za-z][A-Za-z_/-]+(\.(c|h|cuh|md)|/)' | grep -vE "^(gtu/|build/|dev/|core.h)" | sort -u >names
check "there is a picture with names" test "$(wc -l <names)" -ge 40
found() {
	local folder

	for folder in . include include/gtu firmware-model libruntime driver tools Documentation libruntime/graph/read; do
		[ -e "$root/$folder/$1" ] && return
	done
	echo "$1 is in the page, and nowhere in the source" >&2
	return 1
}
while read -r name; do
	check "$name is there" found "$name"
done <names

# where an included name lies: FILE NAME -> path from the top, nothing for the system's
resolve() {
	local folder

	for folder in "$(dirname "$1")" include firmware-model libruntime tools driver .; do
		[ -e "$root/$folder/$2" ] && { realpath --relative-to="$root" "$root/$folder/$2"; return; }
	done
}
# a row: where, what it may include; each word a folder, or a file, or a name under include/
rows=0
while IFS='|' read -r _ where may _; do
	where=$(tr -d '` ' <<<"$where")
	allowed="^$where"
	for word in $(tr -d '`' <<<"$may"); do
		case $word in
		*/*.h) allowed+="|^include/$word\$" ;;
		gtu/) allowed+="|^include/gtu/" ;;
		*/) allowed+="|^$word" ;;
		*) allowed+="|/$word\$" ;;
		esac
	done
	rows=$((rows + 1))
	# a folder that has a row of its own is not judged by its parent's
	for file in $(cd "$root" && find "$where" -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | grep -E \
		"$([ "$where" = firmware-model/ ] && echo '^firmware-model/[^/]*$' || echo .)" | grep -vE \
		"$([ "$where" = libruntime/ ] && echo '^libruntime/algorithm/' || echo '^$')"); do
		grep -oE '^#[ ]*include *["<][^">]+' "$root/$file" | sed 's/.*["<]//' | while read -r name; do
			path=$(resolve "$file" "$name")
			[ -z "$path" ] || grep -qE "$allowed" <<<"$path" || echo "$file includes $path"
		done
	done >crossing
	check "$where includes what the page says, and no more" diff /dev/null crossing
done < <(grep '^| `' "$page")
check "every row was looked at" test "$rows" -eq 7
check "the device calls no operating system" bash -c "! grep -lE '^#include <(sys/|unistd|pthread|fcntl|signal|time)' $root/firmware-model/*.[ch]"
finish
