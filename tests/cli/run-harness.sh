# SPDX-License-Identifier: MIT
# tests/run judges what a program reports: each way in which a program can fail counts as a failure. It also refuses names
# that no test has, and packaging/uses names the groups of packages that a program read.
# Needs no build.
. "${0%/*}/tap.bash"

given "there is no tests/run here" test -x "$root/tests/run"

# sums SUMS STATUS NAME LINE...: the sums, "passed failed skipped", of a program with this exit status and output
sums() {
	local want=$1 status=$2 name=$3

	shift 3
	printf '%s\n' "$@" >tap
	"$root/tests/run" --digest x/y "$status" <tap >got 2>notes
	printf '%s\n' "$want" >want
	same "tests/run counts $name as '$want'" want got
}
sums "2 0 0" 0 "two results and their plan" "1..2" "ok 1 a" "ok 2 b"
sums "1 1 0" 1 "a failed result" "1..2" "ok 1 a" "not ok 2 b"
sums "1 1 0" 0 "a failed result of a program that exits with 0" "1..2" "ok 1 a" "not ok 2 b"
sums "2 1 0" 3 "a bad exit status without a failed result" "1..2" "ok 1 a" "ok 2 b"
sums "1 1 0" 0 "fewer results than planned" "1..2" "ok 1 a"
sums "2 1 0" 0 "more results than planned" "1..1" "ok 1 a" "ok 2 b"
sums "1 1 0" 0 "results without a plan" "ok 1 a"
sums "2 1 0" 0 "two plans" "1..1" "ok 1 a" "1..1" "ok 1 b"
sums "0 1 0" 0 "no output" ""
sums "0 1 0" 0 "a plan of no tests without a reason" "1..0"
sums "0 0 1" 0 "a plan of no tests with a reason" "1..0 # SKIP no tool"
sums "1 0 1" 0 "a skipped test" "1..2" "ok 1 a" "ok 2 b # SKIP no tool"
sums "1 1 0" 0 "a test that is skipped without a reason" "1..2" "ok 1 a" "ok 2 b # SKIP"
sums "1 1 0" 124 "a program that was stopped by its time limit" "1..2" "ok 1 a"
sums "2 1 0" 139 "a program that ended by a signal behind its last result" "1..2" "ok 1 a" "ok 2 b"

exits 2 "tests/run refuses a name that no test has" "$root/tests/run" unit/test_scuu
says "tests/run lists the names near a wrong one" "there is no test 'unit/test_scuu'; near it: .*unit/test_scu"
exits 2 "tests/run refuses a group that does not exist" "$root/tests/run" units
check "tests/run --list lists one group" "$root/tests/run" --list fuzz
at_least 12 "$(grep -c '^fuzz/' "$out")" "fuzzers are listed"
check "tests/run --list lists a single program" "$root/tests/run" --list unit/test_scu
printf 'unit/test_scu\n' >want
same "the list of a single program is its name" want "$out"
# a program whose checks differ between the builds must run in both
grep -v '^#' "$root/tests/sanitized.list" >list
while read -r name; do
	check "the checks of $name are the same under the sanitizers" \
		bash -c '[ $(find "$1" -name "$2.c" | wc -l) = 1 ] && ! grep -rqE "__SANITIZE_ADDRESS__|TEST_CASES|FEWER_SMS|machine_of" "$1" --include="$2.c"' \
		- "$root/tests/unit" "$name"
done <list
at_least 20 "$(wc -l <list)" "unit tests run only under the sanitizers"
GTU_ALL= quietly "$root/tests/run" --list
lacks "tests/run leaves out what runs under the sanitizers" "^unit/($(paste -sd'|' list))\$" "$out"
says "tests/run runs it under the sanitizers" "^san/$(head -1 list)\$" "$out"
sed -n 's|^san/cli-|cli/|p' "$out" >scripts
at_least 5 "$(wc -l <scripts)" "scripts run only with the sanitized tool"
exits 1 "tests/run leaves out scripts that run with the sanitized tool" grep -xFf scripts "$out"
# a second run in one tree would remove the logs of the first: in a copy, whose make builds nothing
mkdir -p tree/build/log bin
ln -s "$root"/* tree 2>/dev/null
printf '#!/bin/sh\nexit 1\n' >bin/make
chmod +x bin/make
: >tree/build/log/kept
fails_with 1 "tests/run refuses a second run in one tree" "another tests/run builds here and writes to $PWD/tree/build/log" \
	env -u GTU_USES PATH="$PWD/bin:$PATH" flock tree/build/log.lock tree/tests/run unit/test_scu
holds "tests/run leaves the logs of the first run" test -e tree/build/log/kept
prints 1 "tests/run runs after the first has ended" "build: make failed" env -u GTU_USES PATH="$PWD/bin:$PATH" tree/tests/run unit/test_scu
prints "tests/run adds up the processor time of each group" \
	"^[0-9]* s, of which [0-9]* to install and compile; processor time of tests: [0-9]* s: cli [0-9]*$" \
	env -u GTU_USES tree/tests/run cli/syzkaller
# packaging/uses: files in a folder, with times of access of this hour and of the one before
touch used unused "with a space" link-target
ln -s link-target link
touch -a -d '1 hour ago' unused link-target
touch -a -h -d '1 hour ago' link
printf '%s\n' "one $PWD/used" "two $PWD/unused" "three $PWD/with a space" "one $PWD/with a space" "four $PWD/link" "five $PWD/none" >files
printf 'one\nthree\n' >want
check "packaging/uses reads times of access" "$root/packaging/uses" --since "$(date -d '10 minutes ago' +%s)" files
same "packaging/uses names each group with a file that was read, once" "$out" want
check "packaging/uses reads times of access of a later moment" "$root/packaging/uses" --since "$(date -d 'now + 10 minutes' +%s)" files
empty "packaging/uses names no group without such a file" "$out"
printf 'four\n' >want
touch -a -h link
grep link files >links
check "packaging/uses reads a link's own time of access" "$root/packaging/uses" --since "$(date -d '10 minutes ago' +%s)" links
same "packaging/uses names the group of a link that was read" "$out" want
exits 2 "packaging/uses refuses to run without an option" "$root/packaging/uses"

always
finish
