# SPDX-License-Identifier: MIT
# Runs the tutorial's commands verbatim, except building and the virtual machine (see tests/guest/tutorial).
. "${0%/*}/tap.bash"

tutorial=$root/Documentation/tutorial.md
sed -n '/^```sh$/,/^```$/p' "$tutorial" | grep -v '^```' >commands
at_least 7 "$(wc -l <commands)" "commands in the tutorial"
while read -r command; do
	check "the tutorial's command exits with 0: $command" bash -o pipefail -c "$command"
	[[ $command != *--verify* ]] ||
		says "the tutorial's command verifies its result: $command" "^verified  equal to the reference code's result" "$out"
	[[ $command != *" stat "* ]] || says "the tutorial's command counts the vertices: $command" "^vertices +4,096 " "$out"
	[[ $command != *" doctor "* ]] || says "the tutorial's command finds the model healthy: $command" "^Everything that was checked works" "$out"
done <commands
check "gtu run bfs runs in plain software" gtu run bfs build/k12.gtu --unit none --output plain.txt
same "the tutorial's hops are those of plain software" plain.txt build/hops.txt
json "the tutorial's JSON counts the monitored requests by size" build/peg.json \
	'sum(d["counters"]["zcm"]["host_read_%d" % size] for size in (32, 64, 96, 128)) > 0'
grep -o '](\([^):]*\))' "$tutorial" | tr -d ']()' >links
at_least 3 "$(wc -l <links)" "links in the tutorial"
while read -r path; do
	holds "the tutorial's link $path leads to a file" test -e "$root/Documentation/$path"
done <links
grep -o '`tests/[a-z/.]*`' "$tutorial" | tr -d '`' >paths
at_least 1 "$(wc -l <paths)" "paths below tests/ in the tutorial"
while read -r path; do
	holds "the tutorial's path $path exists" test -e "$root/$path"
done <paths
# every other block is about building or the guest
grep '^```sh' "$tutorial" | sort -u >blocks
same "every block of commands in the tutorial is run by a test" blocks <(printf '```sh\n```sh build\n```sh guest\n```sh guest-after\n```sh guest-before\n')
finish
