# SPDX-License-Identifier: MIT
# Tests tap.bash, the harness of these tests: every error in a check or a script is a failure.
. "${0%/*}/tap.bash"

# child: a script of the lines on standard input
child() {
	{ echo ". '$root/tests/cli/tap.bash'"; cat; } >child.sh
}
# fails NAME REGEX <<END: a script of these lines fails, and a line of its output matches
fails() {
	child
	{
		exits 1 "a script fails for $1" bash child.sh
		says "its output explains $1" "$2" "$out"
		says "its output has a 'not ok' for $1" "^not ok [0-9]+ " "$out"
	} </dev/null
}
# passes NAME REGEX <<END: a script of these lines passes, and a line of its output matches
passes() {
	child
	{
		check "a script passes with $1" bash child.sh
		says "its output has $1" "$2" "$out"
	} </dev/null
}

# ---- checks ----
fails "a command with another exit status" "^# 'false' exited with 1, not 0" <<'END'
check "x" false
finish
END
fails "a command that succeeds where it should not" "^# 'true' exited with 0, not 2" <<'END'
exits 2 "x" true
finish
END
fails "a command that is missing" "exited with 127, not 1" <<'END'
exits 1 "x" nonesuch-command
finish
END
fails "a condition that does not hold" "exited with 1, not 0" <<'END'
holds "x" test 1 -eq 2
finish
END
fails "gtu run --verify that compares nothing" "exited with 1, not 0" <<'END'
verified "x" echo "unit      none"
finish
END
fails "a line that is missing" "^# no line matches: b" <<'END'
check "x" echo a
says "y" b "$out"
finish
END
fails "a line looked for in a missing file" "^# there is no file nowhere" <<'END'
says "x" a nowhere
finish
END
fails "a line looked for before any command" "^# no command has run" <<'END'
says "x" a
finish
END
fails "a pattern that matches every line" "every line matches" <<'END'
check "x" echo a
says "y" "b*" "$out"
finish
END
fails "a line that should be missing" "^# matches: a" <<'END'
check "x" echo a
lacks "y" a "$out"
finish
END
fails "a line that should be missing from an empty file" "is empty$" <<'END'
check "x" true
lacks "y" a "$out"
finish
END
fails "a line that should be missing from a missing file" "^# there is no file nowhere" <<'END'
lacks "x" a nowhere
finish
END
fails "a wrong pattern of a line that should be missing" "^not ok 2 y" <<'END'
check "x" echo a
lacks "y" "[" "$out"
finish
END
fails "a message that is missing" "^# no line matches: b" <<'END'
fails_with 1 "x" b bash -c 'echo a >&2; exit 1'
finish
END
fails "a message with another exit status" "^not ok 1 x$" <<'END'
fails_with 2 "x" a bash -c 'echo a >&2; exit 1'
finish
END
fails "output that is missing" "^# no line matches: b" <<'END'
prints "x" b echo a
finish
END
fails "output with a bad exit status" "^not ok 1 x$" <<'END'
prints "x" a bash -c 'echo a; exit 1'
finish
END
fails "a file that should be empty" "^# a" <<'END'
check "x" echo a
empty "y" "$out"
finish
END
fails "a missing file that should be empty" "^# there is no file nowhere" <<'END'
empty "x" nowhere
finish
END
fails "files that differ" "^# < a" <<'END'
echo a >a; echo b >b
same "x" a b
finish
END
fails "equal files without a byte" "^# a is empty" <<'END'
: >a; : >b
same "x" a b
finish
END
fails "equal output of commands that print nothing" "is empty" <<'END'
same "x" <(true) <(true)
finish
END
fails "files that are missing" "No such file" <<'END'
same "x" a b
finish
END
fails "a loop over too little" "^not ok 1 there are at least 3 apples" <<'END'
at_least 3 2 apples
finish
END
fails "a count that is no number" "^not ok 1 there are at least 3 apples" <<'END'
at_least 3 "" apples
finish
END

# ---- input ----
given "python3 is missing (apt-get install python3)" command -v python3
fails "a Python program that fails" "AssertionError" <<'END'
python "x" <<'PROGRAM'
assert False
PROGRAM
finish
END
always
fails "an empty Python program" "python needs a program" <<'END'
python "x" </dev/null
finish
END
fails "a here-document that no command reads" "a here-document or a pipe, which 'cat' does not read" <<'END'
check "x" cat <<'INPUT'
text
INPUT
finish
END
fails "a pipe that no command reads" "a here-document or a pipe, which 'cat' does not read" <<'END'
shopt -s lastpipe
echo text | check "x" cat
finish
END

# ---- scripts ----
fails "a script without a check" "^not ok 1 the script makes a check" <<'END'
finish
END
fails "a script without finish" "the script ends with finish \(it ended before, with exit status 0\)" <<'END'
check "x" true
END
fails "a script that exits with 0 in the middle" "the script ends with finish \(it ended before, with exit status 0\)" <<'END'
check "x" true
exit 0
finish
END
fails "an unset variable" "the script ends with finish \(it ended before, with exit status 1\)" <<'END'
check "x" true
check "y" test "$nonesuch"
finish
END
fails "a syntax error" "the script ends with finish" <<'END'
check "x" true
if then
finish
END
fails "a check that is not reached" "^# line 4: 	check \"y\" false" <<'END'
check "x" true
if false; then
	check "y" false
fi
finish
END
fails "a loop that has no round" "^# line 4: 	says" <<'END'
check "x" true
for i in; do
	says "y" a "$out"
done
finish
END
fails "a helper that is called in a branch only" "^# line 5: 	twice y" <<'END'
twice() { check "$1" true; check "$1 again" true; }
twice x
[ -e nowhere ] &&
	twice y
finish
END
fails "a check in a subshell" "a check in a subshell or in a pipe is not counted" <<'END'
(check "x" false)
check "y" true
finish
END
fails "a check in a pipe" "a check in a subshell or in a pipe is not counted" <<'END'
echo a | while read -r line; do report "not ok" "$line"; done
check "y" true
finish
END
fails "a trap on EXIT" "a script cleans up with at_exit" <<'END'
trap 'true' EXIT
check "x" true
finish
END

# ---- what passes ----
passes "checks that read the output of the command before" "^1\.\.4$" <<'END'
check "x" echo a
holds "y" grep -q a "$out"
says "z" a "$out"
check "w" grep -q a "$out"
finish
END
passes "a skip of a missing tool" "^ok 2 y # SKIP nonesuch is missing \(apt-get install nonesuch\)$" <<'END'
check "x" true
needs nonesuch
check "y" false
always
check "z" true
finish
END
passes "a skip of a hidden tool" "^ok 1 x # SKIP xz is missing \(apt-get install xz-utils\)$" <<'END'
PATH=/nonexistent
needs xz
check "x" xz --version
always
/bin/true
PATH=/usr/bin:/bin
finish
END
passes "a skip of an unmet condition" "^ok 1 x # SKIP there is no moon$" <<'END'
given "there is no moon" false
check "x" false
always
finish
END
passes "a skip of the whole script" "^1\.\.0 # SKIP there is no moon$" <<'END'
skip_all "there is no moon"
END
passes "what at_exit left" "^cleaned$" <<'END'
at_exit echo cleaned
check "x" true
finish
END

child <<'END'
check "x" true
needs cmp
check "y" cmp a b
always
finish
END
check "GTU_HIDE hides a tool" env GTU_HIDE=cmp bash child.sh
says "a check of a hidden tool is skipped by its name" "^ok 2 y # SKIP cmp is missing" "$out"
child <<'END'
check "x" false
check "y" true
finish
END
exits 1 "GTU_STOP=1 fails a script at its first failure" env GTU_STOP=1 bash child.sh
lacks "GTU_STOP=1 leaves out the checks after a failure" "^ok " "$out"

# ---- the other scripts ----
cd "$root/tests/cli" || exit 1
scripts=()
for file in *.sh; do [ "$file" = harness.sh ] || scripts+=("$file"); done
at_least 25 ${#scripts[@]} "scripts"
for file in "${scripts[@]}"; do
	holds "$file ends with finish" awk 'NF { last = $0 } END { exit last != "finish" }' "$file"
done
finish
