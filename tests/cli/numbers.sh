# SPDX-License-Identifier: MIT
# Checks that the commands in the documents print the documented deterministic numbers. A block after the comment "output"
# has commands on lines that begin with "$ ", each followed by its output (both streams). A line "..." matches any lines,
# and "..." within a line matches any text, such as times.
. "${0%/*}/tap.bash"

shared=${GTU_SHARED:-$root/../shared}
ln -s "$shared" shared		# blocks run in one folder per document: ../shared must resolve as it does for the reader

# blocks FILE: writes each marked block to numbered BLOCK.command and BLOCK.want files; prints the number of markers and fences
blocks() {
	awk -v to="$2" '
	/^<!-- output -->$/ { markers++; marked = NR; next }
	marked == NR - 1 && /^```/ { fences++; inside = 1; next }
	inside && /^```/ { inside = 0; next }
	inside && /^\$ / {
		name = sprintf("%s/%03d", to, ++commands)
		print substr($0, 3) >(name ".command")
		printf "" >(name ".want")
		next
	}
	inside && !commands { print "# " FILENAME ": output before a command"; exit 1 }
	inside { print >(name ".want") }
	END { print markers + 0, fences + 0, commands + 0 }' "$1"
}

# uses_absent COMMAND: whether it names one of the files $absent, or has a pattern that matches it
uses_absent() {
	local words word file

	read -ra words <<<"$(tr '()<>|;' ' ' <<<"$1")"
	for file in $absent; do
		[[ $1 != *"${file##*/}"* ]] || return 0
		for word in "${words[@]}"; do
			# shellcheck disable=SC2053 # a pattern
			[[ ${file##*/} != ${word##*/} ]] || return 0
		done
	done
	return 1
}

all=0
for document in "$root"/README.md "$root"/Documentation/*.md; do
	name=$(basename "$document" .md)
	mkdir -p "$name/.blocks" "$name/build"
	counts=$(blocks "$document" "$name/.blocks")
	read -r markers fences commands <<<"$counts"
	check "every output comment of $name.md is followed by a block" test "$markers" -eq "$fences"
	all=$((all + fences)) absent=
	for command in "$name"/.blocks/*.command; do
		[ -e "$command" ] || continue
		text=$(cat "$command")
		# a command that copies graphs, and the commands that use the copies or what such a command writes
		[ -d "$shared" ] || for file in $(grep -o '\.\./shared/[^ ]*' <<<"$text"); do absent+=" $(eval "set -f; echo ${file//\$/\\$}")"; done
		if uses_absent "$text"; then
			absent+=" $(grep -oP '>\K[^ ;|()]+' <<<"$text" | tr '\n' ' ')"
			skip "$name.md: '$text' prints what the document shows" "no graphs beside the source (set GTU_SHARED)"
			continue
		fi
		(cd "$name" && timeout 1200 bash -o pipefail -c "$text" >"$work/got" 2>&1 </dev/null)
		status=$?
		# 141: the end of the pipe read enough
		check "$name.md: '$text' succeeds" test $status -eq 0 -o $status -eq 141
		check "$name.md: '$text' prints what the document shows" awk -f "$root/tests/match.awk" "${command%.command}.want" got
	done
done
at_least 20 $all "blocks of output in the documents"

# the commits of measurements, except those of other projects: after the word, or a hexadecimal number that is not decimal
grep -ohP '(gapbs, )?\b(commit [0-9a-f]{7,40}|(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40})\b' "$root"/README.md "$root"/Documentation/*.md |
	sed '/^gapbs/d; s/^commit //' | sort -u >commits
at_least 40 "$(wc -l <commits)" "commits in the documents"
given "this is no clone with the whole history" test "$(git -C "$root" rev-parse --is-shallow-repository)" = false
while read -r commit; do
	check "commit $commit of a document is in the history" git -C "$root" merge-base --is-ancestor "$commit" HEAD
done <commits
always

# the comparison itself can fail
printf 'a 1\n...\nb ... c\n' >want
printf 'a 1\nx\ny\nb 2 c\n' >got
check "a line of three dots stands for any lines" awk -f "$root/tests/match.awk" want got
printf 'a 2\nb 2 c\n' >got
exits 1 "another number differs" awk -f "$root/tests/match.awk" want got
printf 'a 1\nb 2 c\nd\n' >got
exits 1 "a line that the document lacks differs" awk -f "$root/tests/match.awk" want got
printf 'a 1\n' >got
exits 1 "a line that the command lacks differs" awk -f "$root/tests/match.awk" want got
printf 'a.1\n' >want
printf 'ab1\n' >got
exits 1 "a dot of the document is only a dot" awk -f "$root/tests/match.awk" want got
finish
