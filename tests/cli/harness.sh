# SPDX-License-Identifier: MIT
# Tests tap.bash, the harness of these tests: every error in a check or a script is a failure.
. "${0%/*}/tap.bash"

# child: a script of the lines on standard input
child() {
	{ echo ". '$root/tests/cli/tap.bash'"; cat; } >child.sh
}
# lines LINE...: a script of these lines and finish, or, without a line, of those on standard input
lines() {
	if [ -t 0 ] || [ /dev/stdin -ef /dev/null ]; then
		printf '%s\n' "$@" finish | child
	else
		child
	fi
}
# fails NAME REGEX [LINE...]: the script fails, and a line of its output matches
fails() {
	lines "${@:3}"
	{
		exits 1 "a script fails for $1" bash child.sh
		says "its output explains $1" "$2" "$out"
		says "its output has a 'not ok' for $1" "^not ok [0-9]+ " "$out"
	} </dev/null
}
# passes NAME REGEX [LINE...]: the script passes, and a line of its output matches
passes() {
	lines "${@:3}"
	{
		check "a script passes with $1" bash child.sh
		says "its output has $1" "$2" "$out"
	} </dev/null
}

# ---- checks ----
fails "a command with another exit status" "^# 'false' exited with 1, not 0" 'check "x" false'
fails "a command that succeeds where it should not" "^# 'true' exited with 0, not 2" 'exits 2 "x" true'
fails "a command that is missing" "exited with 127, not 1" 'exits 1 "x" nonesuch-command'
fails "a condition that does not hold" "exited with 1, not 0" 'holds "x" test 1 -eq 2'
fails "gtu run --verify that compares nothing" "exited with 1, not 0" 'verified "x" echo "unit      none"'
fails "a line that is missing" "^# no line matches: b" 'check "x" echo a' 'says "y" b "$out"'
fails "a line looked for in a missing file" "^# there is no file nowhere" 'says "x" a nowhere'
fails "a line looked for before any command" "^# no command has run" 'says "x" a'
fails "a pattern that matches every line" "every line matches" 'check "x" echo a' 'says "y" "b*" "$out"'
fails "a line that should be missing" "^# matches: a" 'check "x" echo a' 'lacks "y" a "$out"'
fails "a line that should be missing from an empty file" "is empty$" 'check "x" true' 'lacks "y" a "$out"'
fails "a line that should be missing from a missing file" "^# there is no file nowhere" 'lacks "x" a nowhere'
fails "a wrong pattern of a line that should be missing" "^not ok 2 y" 'check "x" echo a' 'lacks "y" "[" "$out"'
fails "a message that is missing" "^# no line matches: b" <<'END'
fails_with 1 "x" b bash -c 'echo a >&2; exit 1'
finish
END
fails "a message with another exit status" "^not ok 1 x$" <<'END'
fails_with 2 "x" a bash -c 'echo a >&2; exit 1'
finish
END
fails "a function of the harness's name" "^not ok 1 the script is right .*it defines report\(\), which is the harness's" 'report() { :; }' 'check "x" true'
lines 'report() { :; }' 'check "x" true'
ln -s "$root" tree
sed "1s|.*|. tree/tests/cli/tap.bash|" child.sh >relative.sh
exits 1 "a script that sources the harness by a relative path fails for the same" bash relative.sh
says "its output names the function" "it defines report\(\), which is the harness's" "$out"
fails "output that is missing" "^# no line matches: b" 'prints "x" b echo a'
fails "output with a bad exit status" "^not ok 1 x$" <<'END'
prints "x" a bash -c 'echo a; exit 1'
finish
END
fails "a file that should be empty" "^# a" 'check "x" echo a' 'empty "y" "$out"'
fails "a missing file that should be empty" "^# there is no file nowhere" 'empty "x" nowhere'
fails "files that differ" "^# < a" 'echo a >a; echo b >b' 'same "x" a b'
fails "equal files without a byte" "^# a is empty" ': >a; : >b' 'same "x" a b'
fails "equal output of commands that print nothing" "is empty" 'same "x" <(true) <(true)'
fails "files that are missing" "No such file" 'same "x" a b'
fails "a loop over too little" "^not ok 1 there are at least 3 apples" 'at_least 3 2 apples'
fails "a count that is no number" "^not ok 1 there are at least 3 apples" 'at_least 3 "" apples'

# ---- input ----
given "python3 is missing (apt-get install python3)" command -v python3
fails "a Python program that fails" "AssertionError" <<'END'
python "x" <<'PROGRAM'
assert False
PROGRAM
finish
END
always
fails "an empty Python program" "python needs a program" 'python "x" </dev/null'
fails "a here-document that no command reads" "a here-document or a pipe, which 'cat' does not read" <<'END'
check "x" cat <<'INPUT'
text
INPUT
finish
END
fails "a pipe that no command reads" "a here-document or a pipe, which 'cat' does not read" 'shopt -s lastpipe' 'echo text | check "x" cat'

# ---- scripts ----
fails "a script without a check" "^not ok 1 the script makes a check"
fails "a script without finish" "the script ends with finish \(it ended before, with exit status 0\)" <<'END'
check "x" true
END
fails "a script that exits with 0 in the middle" "the script ends with finish \(it ended before, with exit status 0\)" 'check "x" true' 'exit 0'
fails "an unset variable" "the script ends with finish \(it ended before, with exit status 1\)" 'check "x" true' 'check "y" test "$nonesuch"'
fails "a syntax error" "the script ends with finish" 'check "x" true' 'if then'
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
fails "a function of checks that is not called" "^# line 3: f\\(\\) \\{ check \"y\" false; \\}" <<'END'
check "x" true
f() { check "y" false; }
finish
END
fails "a check in a group that is not reached" "^# line 4: .*check \"y\" false" <<'END'
check "x" true
[ -e nowhere ] && { check "y" false; }
[ ! -e nowhere ] || { check "y" false; }
finish
END
fails "a check as a condition that is not reached" "^# line 3: .*if ! check \"y\" false" <<'END'
check "x" true
[ -e nowhere ] && if ! check "y" false; then false; fi
finish
END
fails "a check in a subshell" "a check in a subshell or in a pipe is not counted" '(check "x" false)' 'check "y" true'
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
passes "a name that looks like a skip" "^ok 1 a SKIP b$" 'check "a # SKIP b" true'
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
passes "what at_exit left" "^cleaned$" 'at_exit echo cleaned' 'check "x" true'

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
	lacks "$file has no exit of awk that an exit in END overrides" '\{ *exit [1-9].*END *\{[^}]*exit' "$file"
	holds "$file ends with finish" awk 'NF { last = $0 } END { exit last != "finish" }' "$file"
done
functions=$(sed -n 's/^\([a-z_]*\)().*/\1/p' tap.bash | grep -vx 'at_least\|finish\|unreached' | paste -sd '|')
python "every loop over found things has a minimum" ../loops.py "$functions" ./*.sh ../ranks/*.sh
# a name is read in a list of failures: one or two words say too little
{
	grep -hoE '^[[:space:]]*TEST(_F(_TIMEOUT)?)?\([^)]*' ../unit/*/*.[ch] ../kselftest/gtu/*.c | sed 's/.*(//' | awk -F', *' '{ print NF == 1 ? $1 : $2 }'
	grep -hoE '^ *def test_\w+\(self' ../../libruntime/python/tests/*.py | sed 's/.* test_//; s/(.*//'
	awk '/^@test/ { marked = 1 } /^def / && marked { sub(/^def /, ""); sub(/\(.*/, ""); print; marked = 0 }' ../qtest/*.py
} >"$work/names"
at_least 1100 "$(wc -l <"$work/names")" "tests with a name in identifier form"
awk -F_ 'NF < 3' "$work/names" >"$work/short"
empty "the name of every test has three words at least" "$work/short"
python "every test of the Python module makes a check" ../asserts.py ../../libruntime/python/tests/*.py
python "every test of qtest makes a check" ../asserts.py --checks expect --checks refused --checks reset_during_job ../qtest/*.py
needs python3
printf 'ls >list\nwhile read -r x; do\n\tcheck "$x" true\ndone <list\n' >"$work/loop.sh"
exits 1 "a loop without a minimum is found" python3 ../loops.py check "$work/loop.sh"
printf '@test\ndef a():\n\tb()\ndef b():\n\tpass\n' >"$work/none.py"
exits 1 "a test in Python without a check is found" python3 ../asserts.py "$work/none.py"
says "its file, line and name are printed" "none.py:2: a" "$out"
finish
