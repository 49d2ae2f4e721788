# SPDX-License-Identifier: MIT
# Checks that the README's commands work verbatim.
. "${0%/*}/tap.bash"

ln -s "$bin" build
# "    build/gtu verb ...   what it is": the explanation begins after two blanks
sed -n 's/^    \(build\/gtu [^ ].*\)/\1/p' "$root/README.md" | sed 's/   *.*//' >commands
# prints_what COMMAND: prints a pattern for a line of the command's output
prints_what() {
	case $1 in
	*" doctor "*) echo "^Everything that was checked works" ;;
	*"--json -"*) echo '^ *"algorithm": "' ;;
	*" info"*) echo "^device +model" ;;
	*" generate "*) echo " vertices, [0-9,]+ edges " ;;
	*" stat "*) echo "^vertices +[0-9]" ;;
	*--verify*) echo "^verified +equal to the reference code's result" ;;
	*" run "*) echo "^unit +[a-z-]+ on model: [0-9]+ jobs" ;;
	*" report "*) echo "^[a-z]+.html: [0-9]+ file" ;;
	*" bench "*) echo "^scu data " ;;
	*) echo "^no line is known for this command" ;;
	esac
}
at_least 6 "$(wc -l <commands)" "commands in the tour of the README"
while read -r command; do
	check "the README's command exits with 0: $command" bash -o pipefail -c "$command"
	says "the README's command prints what it is for: $command" "$(prints_what "$command")" "$out"
done <commands
sed -n '/^```c$/,/^```$/p' "$root/README.md" | sed '/^```/d' >program.c
needs gcc
san=()
[[ $bin != */san ]] || san=(-fsanitize=address,undefined)
check "the README's program builds without a warning" gcc "${san[@]}" -Wall -Wextra -Werror -I"$root/include" \
	program.c -o program -L"$bin" -lgtu
prints "the README's program runs" "^3 elements, the first is 11$" env LD_LIBRARY_PATH="$bin" ./program
always
# every path in the README exists
grep -o '`[a-z-][a-z-]*/[a-z/_.]*`' "$root/README.md" | tr -d '`' | grep -v '^build/' | sort -u >paths
at_least 5 "$(wc -l <paths)" "paths in the README"
while read -r path; do
	holds "the README's path $path exists" test -e "$root/$path"
done <paths
grep -o '](\([^)]*\))' "$root/README.md" | tr -d '](' | tr -d ')' >links
at_least 3 "$(wc -l <links)" "links in the README"
while read -r path; do
	holds "the README's link $path leads to a file" test -e "$root/$path"
done <links
# every top-level folder is in the README's map
at_least 6 "$(find "$root"/*/ -maxdepth 0 | wc -l)" "folders at the top"
for folder in "$root"/*/; do
	folder=$(basename "$folder")
	[ "$folder" = build ] && continue
	holds "the README's map has $folder/" grep -q "\`$folder/" "$root/README.md"
done
# targets that others call are internal
make -s -C "$root" help >help
for target in $(cat "$root/Makefile" "$root/tests/guest/guest.mk" | sed -n 's/^\.PHONY: //p'); do
	case $target in all | FORCE | guest-tools-test | guest-programs) continue ;; esac
	says "make help names the target $target" "(make |\| |; )$target( |$|;|,|:)" help
done
finish
