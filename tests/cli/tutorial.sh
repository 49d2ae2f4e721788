# SPDX-License-Identifier: MIT
# The tutorial's commands, word for word, but for building and the virtual machine (tests/guest/tutorial has that).
. "${0%/*}/tap.bash"

tutorial=$root/Documentation/tutorial.md
sed -n '/^```sh$/,/^```$/p' "$tutorial" | grep -v '^```' >commands
check "there are commands" test "$(wc -l <commands)" -ge 7
while read -r command; do
	check "$command" bash -c "$command"
done <commands
check "the hops are those of plain code" bash -c \
	"gtu run bfs build/k12.gtu --unit none --output plain.txt && cmp plain.txt build/hops.txt"
check "the JSON has requests by size" grep -q '"host_read_32"\|"requests"\|host_read' build/peg.json
grep -o '](\([^):]*\))' "$tutorial" | tr -d ']()' >links
while read -r path; do
	check "the link $path is there" test -e "$root/Documentation/$path"
done <links
for path in $(grep -o '`tests/[a-z/.]*`' "$tutorial" | tr -d '`'); do
	check "$path is there" test -e "$root/$path"
done
# what is in no block that is run is in the one of building, or of the guest
grep '^```sh' "$tutorial" | sort -u >blocks
same "each block is run by a test" blocks <(printf '```sh\n```sh build\n```sh guest\n```sh guest-after\n```sh guest-before\n')
finish
