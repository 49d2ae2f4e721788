# SPDX-License-Identifier: MIT
# What the README shows works as it stands there.
. "${0%/*}/tap.bash"

ln -s "$bin" build
# "    build/gtu verb ...   what it is": the explanation begins after two blanks
sed -n 's/^    \(build\/gtu [^ ].*\)/\1/p' "$root/README.md" | sed 's/   *.*//' >commands
check "there is a tour" test "$(wc -l <commands)" -ge 6
while read -r command; do
	check "$command" bash -c "$command"
done <commands
sed -n '/^```c$/,/^```$/p' "$root/README.md" | sed '/^```/d' >program.c
if [[ $bin == */san ]]; then
	skip "the program" "a sanitized library wants a sanitized program"
else
	check "the program builds without a warning" gcc -Wall -Wextra -Werror -I"$root/include" \
		program.c -o program -L"$bin" -lgtu
	check "and runs" env LD_LIBRARY_PATH="$bin" ./program
	says "and prints what the README says" "^3 elements, the first is 11$" "$out"
fi
# every path the README names is there
grep -o '`[a-z-][a-z-]*/[a-z/_.]*`' "$root/README.md" | tr -d '`' | grep -v '^build/' | sort -u >paths
while read -r path; do
	check "$path is there" test -e "$root/$path"
done <paths
grep -o '](\([^)]*\))' "$root/README.md" | tr -d '](' | tr -d ')' >links
while read -r path; do
	check "the link $path is there" test -e "$root/$path"
done <links
# and every top-level folder is in its map
for folder in "$root"/*/; do
	folder=$(basename "$folder")
	[ "$folder" = build ] && continue
	check "$folder/ is in the map" grep -q "\`$folder/" "$root/README.md"
done
finish
