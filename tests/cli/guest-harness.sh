# SPDX-License-Identifier: MIT
# Tests the guests' harness without a guest: every failure of a test, a guest or a plan is reported as a failure, and only
# a skip with a reason is reported as a skip.
. "${0%/*}/tap.bash"

# this test does not depend on the folder's layout
file_of() { find "$root/tests/guest" -type f -name "$1" -print -quit; }

flatten=$(file_of flatten.awk) init=$(file_of init)

# guest CODE NAME REGEX: runs flatten.awk on a guest whose output is on standard input
guest() {
	{ printf '%s\n' "@up 1.0" "@boot 0"; cat; echo "@end 9.0"; } >stream
	exits "$1" "$2" awk -f "$flatten" stream </dev/null
	says "$2: the line" "$3" "$out"
}

# one CODE NAME REGEX STATUS LINE...: a guest with one test of this exit status and output, and a clean kernel log
one() {
	local code=$1 name=$2 regex=$3 status=$4
	shift 4
	{ echo "@test t"; [ $# -eq 0 ] || printf '%s\n' "$@"; echo "@exit $status 0.10 0"; } >lines
	guest "$code" "$name" "$regex" <lines
}

one 0 "a test without TAP that succeeds" '^ok 2 - t$' 0 hello
one 1 "a test without TAP that fails" '^not ok 2 - t: exit status 1$' 1
one 1 "exit status 4 without TAP, which is gtu's 'verification failed'" '^not ok 2 - t: exit status 4$' 4 "counts differ"
one 1 "exit status 4 with a result that is no skip" '^not ok 3 - t: exit status 4$' 4 "TAP version 13" "ok 1 a" "1..1"
one 1 "exit status 4 with a skip and another result" '^not ok 4 - t: exit status 4$' 4 "ok 1 a # SKIP no tool" "ok 2 b" "1..2"
one 0 "a kselftest that skipped every test" '^ok 2 - t: a # SKIP no tool$' 4 "TAP version 13" "ok 1 a # SKIP no tool" \
	"1..1 # SKIP every test was skipped"
one 0 "a skipped program" '^ok 2 - t # SKIP no tool$' 4 "1..0 # SKIP no tool"
one 1 "a skipped program that fails" '^not ok 2 - t: exit status 1$' 1 "1..0 # SKIP no tool"
one 1 "an empty plan without a reason" '^not ok 2 - t: planned no test' 0 "1..0"
one 1 "an empty plan with an empty reason" '^not ok 2 - t: planned no test' 0 "1..0 # SKIP"
one 1 "a skip without a reason" '^not ok 3 - t: skipped a test without a reason$' 0 "ok 1 a # SKIP" "1..1"
one 1 "TAP without a result" '^not ok 2 - t: printed results but no plan' 0 "TAP version 13"
one 1 "results without a plan" '^not ok 3 - t: printed results but no plan' 0 "ok 1 a"
one 1 "fewer results than planned" '^not ok 3 - t: planned 2 tests, reported 1$' 0 "1..2" "ok 1 a"
one 1 "more results than planned" '^not ok 4 - t: planned 1 tests, reported 2$' 0 "1..1" "ok 1 a" "ok 2 b"
one 1 "a failed result" '^not ok 2 - t: a$' 1 "not ok 1 a" "1..1"
one 1 "a failed result and exit status 0" '^not ok 2 - t: a$' 0 "not ok 1 a" "1..1"
one 1 "good results and a bad exit status" '^not ok 3 - t: exit status 2$' 2 "ok 1 a" "1..1"
one 1 "TAP that bails out" '^not ok 2 - t: Bail out! no memory$' 0 "Bail out! no memory" "1..0 # SKIP no memory"
one 1 "a time limit" '^not ok 3 - t: stopped after its time limit$' 124 "ok 1 a" "1..1"
guest 1 "a complaint in the kernel's log" "^not ok 3 - t: complaints in the kernel's log: 2\$" <<<$'@test t\n@exit 0 0.1 2'
guest 1 "a kernel log that was not read" "^not ok 3 - t: the kernel's log could not be read\$" <<<$'@test t\n@exit 0 0.1 unread'
guest 1 "no word about the kernel log" "^not ok 3 - t: the kernel's log could not be read\$" <<<$'@test t\n@exit 0 0.1'
guest 1 "a test without an exit status" '^not ok 2 - t: reported no exit status$' <<<$'@test t\n@test u\n@exit 0 0.1 0'
guest 1 "a guest without a test" '^not ok 2 - the guest ran no test$' </dev/null
printf '@boot unread\n@test t\n@exit 0 0.1 0\n@end 1\n' >stream
prints 1 "a boot fails if its log was not read" "^not ok 1 - boot: the kernel's log could not be read\$" awk -f "$flatten" stream
printf '@boot 0\n@test t\nok 1 a\n' >stream
prints 1 "a guest that ends in a test fails that test" '^not ok 3 - the guest ended in t before its tests did$' awk -f "$flatten" stream

# function NAME: extracts a function of init, with files of this folder
function_of_init() { sed -n "/^$1() {/,/^}/p" "$init" | sed "s|/tmp/|$work/|g; s|/dmesg-check|$work/patterns|; s/sleep 6/sleep 0/"; }

# kmemleak FILE STATUS: kmemleak's test with FILE instead of the kernel's file
function_of_init kmemleak >kmemleak
leaks() { sh -c "$(sed "s|/sys/kernel/debug/kmemleak|$1|" kmemleak)
kmemleak"; }
check "kmemleak that reports nothing passes" leaks /dev/null
prints 1 "kmemleak that takes no scan, as one that has disabled itself, fails" "^kmemleak does not scan$" leaks "$work"
exits 1 "kmemleak without its file fails" leaks "$work/none/kmemleak"
echo leak >leak
exits 1 "kmemleak that reports something fails" leaks "$work/leak"

{ function_of_init foreign_locks; function_of_init complaints; } >complaints
# log LINE: the output of complaints for a kernel log
log() { sh -c 'dmesg() { [ "$line" != broken ] && echo "$line"; }
line=$1
. "$2"
complaints' - "$1" "$work/complaints"; }
grep -v '^#' "$(file_of dmesg-check)" >patterns
prints "a quiet kernel log is read" "^0$" log "all is well"
prints "a complaint in the kernel's log is read" "^1$" log "WARNING: CPU: 0"
prints "kmemleak's end is read" "^1$" log "kmemleak: Kernel memory leak detector disabled"
# lockdep_report FUNCTION: lockdep's, with this function in it
lockdep_report() { printf '%s\n' "WARNING: possible circular locking dependency detected" "  $1+0x1/0x2" "Call Trace:" " <TASK>" " </TASK>"; }
prints "lockdep's report of Linux alone is left out" "^0$" log "$(lockdep_report pciehp_ist)"
prints "what follows such a report is read" "^1$" log "$(lockdep_report pciehp_ist)
WARNING: CPU: 0"
prints "lockdep's report with a function of the driver is read" "^2$" log "$(lockdep_report 'gtu_bind+0x3/0x4 [gtu]')"
prints "lockdep's report that does not end is read" "^2$" log "$(lockdep_report pciehp_ist | head -4)"
prints "a log that dmesg cannot read counts as unread" "^unread$" log broken
rm patterns
prints "a log counts as unread without the patterns" "^unread$" log "WARNING: CPU: 0"

# guest-test with plans that need no guest
mkdir tree && cp -r "$root/tests" tree/
# shellcheck disable=SC2016 # the plans' own
find tree/tests/guest -name plans.sh | while read -r plans; do
	echo 'run_plan() (
		case $1 in
		distribution) printf "ok 1 - a\n1..1\n" ;;
		faulty) printf "ok 1 - a\nnot ok 2 - b\n1..2\n" ;;
		graphs) echo "1..0 # SKIP no tool" ;;
		bringup) ;;
		6.12) echo "1..0" ;;
		iommu) printf "ok - c # SKIP no tool\nok 1 - a\n1..1\n" ;;
		tiny) printf "ok 1 - a\n1..2\n" ;;
		life) printf "ok 1 - a\n1..1\n"; exit 3 ;;
		esac
	)' >"$plans"
done
plan() { bash "$(find tree/tests/guest -name guest-test)" "$@"; }
prints "a plan passes if its guest does" '^1\.\.1$' plan distribution
prints 1 "a plan fails if its guest does" '^not ok 2 - b$' plan faulty
prints 1 "the run fails if its first plan does" '^1\.\.3$' plan faulty distribution
prints "a plan is skipped with its reason" '^ok 1 - graphs # SKIP no tool$' plan graphs
prints "the run passes if its first plan is skipped" '^1\.\.2$' plan graphs distribution
prints "a plan may report results beside those of its guest" '^1\.\.2$' plan iommu
prints 1 "a plan that reports nothing fails" '^not ok 1 - bringup: reported no test$' plan bringup distribution
exits 1 "a plan that is empty without a reason fails" plan 6.12
prints 1 "a plan with fewer results than planned fails" '^not ok 2 - tiny: planned 2 tests, reported 1$' plan tiny
prints 1 "a plan with a bad exit status fails" '^not ok 2 - life: exit status 3$' plan life
exits 1 "guest-test refuses an unknown plan" plan nonsense

# arguments_of FOLDER SUFFIX NAME...: what a plan runs of the kselftests in FOLDER
arguments_of() {
	# shellcheck disable=SC2016 # bash's own
	bash -c '. "$1"; . "$2"; kselftests=$3; shift 3; kselftest_arguments "$@"; printf "%s\n" "${arguments[@]}"' - \
		"$(file_of common.sh)" "$(file_of plans.sh)" "$@"
}
mkdir programs && printf '#!/bin/sh\n' >programs/uapi_test_32 && chmod 755 programs/uapi_test_32
prints "a plan runs the kselftests that were built" '^uapi_test_32=uapi_test_32$' arguments_of programs _32 uapi_test
prints "a kselftest that was not built is a failure" '^not ok - queue_test_32 is not built' arguments_of programs _32 queue_test
prints "kselftests for 32 bits are skipped if gcc builds none" 'SKIP not built: gcc has no -m32' arguments_of none _32 uapi_test

# preparation of a guest: a missing requirement (status 77) is not a failure, any other status is
cp "$root/Makefile" tree/ && mkdir tree/packaging
find tree/tests/guest -name get-qemu.sh -o -name get-cross.sh | while read -r script; do
	printf '#!/bin/sh\nexit 0\n' >"$script"
done
printf '#!/bin/sh\nexit 0\n' >tree/packaging/need && chmod 755 tree/packaging/need
prepared() {
	printf '#!/bin/sh\n[ "$1" = --list ] && echo a && echo b && exit\n[ "$1" != b ] || exit 0\nexit %s\n' "$1" \
		>"$(find tree/tests/guest -name get-kernel.sh)"
	env -u GTU_ALL make -s -C tree "$2" KERNEL=a
}
check "make guest-tools succeeds if the tools exist" prepared 0 guest-tools
exits 2 "make guest-tools fails if this machine lacks tools" prepared 77 guest-tools
check "make guest-tools-test succeeds if this machine lacks kernels" prepared 77 guest-tools-test
exits 2 "make guest-tools-test fails if a kernel does not build" prepared 1 guest-tools-test

# every line of a guest's list of tests has a name and a command
for test in name= =command "a name=command" "name= "; do
	exits 1 "a test '$test' is refused" bash "$(file_of make-initrd.sh)" initrd --test "$test"
	says "a test '$test' is refused: the reason" "is not NAME=COMMAND" "$err"
done

# make guest: each wrong value ends it at once, before anything is built or loaded
start=$(file_of start)
check "make guest accepts its variables" env FAULT='lose-irq=3 stall=9000' BUG=w1c BOARD=queues=1,absent_units=iru \
	KERNEL=6.12 IOMMU=1 TRANSPORT=vfio-user SHELL_INSIDE=1 MEM=512M DEVICES=16 "$start" --check
cat >settings <<'END'
FAULT=stal|'stal' is none of: lose-irq, .*did you mean stall
FAULT=stall=x|FAULT=stall=x: the fault's number
BUG=w2c|did you mean w1c
BOARD=queues=999|queues is 999: it must be at least 1
BOARD=colour=3|no parameter "colour"
KERNEL=6.13|choose one of .*distribution
KERNEL=arm64|make guest-test GUEST=arm64
IOMMU=2|IOMMU=2 is neither 0 nor 1
SHELL_INSIDE=yes|SHELL=yes is neither 0 nor 1
TRANSPORT=vfio|choose vfio-user or qemu
TRANSPORT=qemu FAULT=stall|leave out FAULT, BUG and BOARD, or TRANSPORT
TRANSPORT=qemu SHARE=/tmp|leave out SHARE or TRANSPORT
MEM=many|MEM=many is not a size
DEVICES=17|DEVICES=17 is not a number from 1 to 16
END
while IFS='|' read -r setting reason; do
	# shellcheck disable=SC2086 # one or two assignments
	fails_with 2 "make guest refuses $setting" "^make guest: .*$reason" env $setting "$start" --check
done <settings
prints "SHELL=1 asks for a shell in the guest, and does not change the shell of recipes" "/bin/bash 1 from bash" \
	make -s -C "$root" SHELL=1 --eval='shell-asked: ; @echo $(SHELL) $(SHELL_ASKED) from $${BASH:+bash}' shell-asked

# plans that make test leaves out, too, name what run.sh has
grep -oh -e '--transport [a-z-]*' "$root"/tests/guest/plans/*.sh | sort -u >transports
at_least 1 "$(wc -l <transports)" "transports that plans name"
while read -r _ transport; do
	holds "run.sh has the transport $transport of a plan" grep -qx "$transport)" "$root/tests/guest/run.sh"
done <transports

# a plan that is asked for by name says which kernel it needs
prints "guest-test --kernels prints a plan's kernel" "^distribution$" "$(file_of guest-test)" --kernels vfio
prints "guest-test --kernels runs nothing" "^debug$" "$(file_of guest-test)" --kernels debug qtest
check "guest-test --packages prints the groups that plans need, and no others" \
	test "$("$(file_of guest-test)" --packages debug-32 arm64 | xargs)" = "arm64 device-tree dt-schema guest kernel module multilib"
check "guest-test --packages prints two groups for any plan" test "$("$(file_of guest-test)" --packages qtest | xargs)" = "guest module"

# recipes are compared with the page
at_least 6 "$(grep -c '^```sh recipe$' "$root/Documentation/guest.md")" "recipes"
check "every recipe has its output" test "$(grep -c '^```sh recipe$' "$root/Documentation/guest.md")" -eq \
	"$(grep -c '^```text$' "$root/Documentation/guest.md")"

# the kselftests' harness
cat >t.c <<'END'
#include "kselftest_harness.h"
TEST(checks) { EXPECT_EQ(1, 1); }
TEST(fails) { EXPECT_EQ(1, 2); }
TEST(skips) { SKIP(return, "no tool"); }
TEST(checks_nothing) { if (getpid()) return; EXPECT_EQ(1, 1); }
FIXTURE(f) { int a; };
FIXTURE_SETUP(f) { ASSERT_EQ(0, self->a); }
FIXTURE_TEARDOWN(f) { EXPECT_EQ(0, self->a); }
TEST_F(f, checks_in_setup_alone) { (void)self; }
TEST_HARNESS_MAIN
END
check "a program of the kselftests' harness compiles" ${CC:-gcc} -D_GNU_SOURCE -Wall -Werror -I "$root/tests/kselftest" -o t t.c
prints "kselftests report a case that passes" "pass:1 fail:0 skip:0" ./t checks
prints 1 "kselftests report a case that fails" "pass:1 fail:1 skip:1" ./t checks fails skips
prints 4 "kselftests that all skip have an exit status of their own" "pass:0 fail:0 skip:1" ./t skips
says "kselftests that all skip are skipped in their plan" '^1\.\.1 # SKIP ' "$out"
check "kselftests of which one skips pass" ./t checks skips
exits 1 "a kselftest that checks nothing fails" ./t checks_nothing
exits 1 "a kselftest that checks only in its setup fails" ./t checks_in_setup_alone
exits 1 "a kselftest that does not exist fails" ./t checks nonsense

# the unit tests' harness
cat >u.c <<'END'
#include "tests/unit/test.h"
TEST(checks) { CHECK(1); }
TEST(fails) { CHECK_EQ(1, 2); }
TEST(skips) { SKIP("no tool"); }
TEST(reaches_no_check) { if (LENGTH("") > 1) CHECKF(0, "never"); }
TEST(prepares) { test_alloc(10, 4); NEED(1, "nothing"); }
TEST_MAIN
END
check "a program of the unit tests' harness compiles" ${CC:-gcc} -D_GNU_SOURCE -Wall -Werror -I "$root" -I "$root/include" -o u \
	u.c "$root/tests/unit/harness.c"
prints "a unit test that checks something passes" '^ok 1 checks$' ./u checks
prints 1 "a unit test that fails is reported" '^not ok 1 fails$' ./u fails
prints "a unit test that is skipped has a reason" '^ok 1 skips # SKIP no tool$' ./u skips
prints 1 "a unit test that reaches no check fails" '^not ok 1 reaches_no_check$' ./u reaches
prints 1 "a unit test that only prepares fails" '^not ok 1 prepares$' ./u prepares
exits 1 "a unit test's program fails without a test of that name" ./u nonsense
# ---- repeat: a plan that fails once in three runs ------------------------------------------------------------------

repeat=$(file_of repeat)
cat >plan-stub <<'END'
#!/bin/sh
[ "$1" = --list-all ] && { echo flaky; echo sound; exit; }
echo run >>"$1.runs"
echo "1..1"
[ "$1" = flaky ] && [ "$(wc -l <"$1.runs")" -eq 2 ] && { echo "not ok 1 - t: now and then"; exit 1; }
echo "ok 1 - t"
END
chmod +x plan-stub
export GTU_GUEST_TEST=$work/plan-stub
prints 1 "repeat counts one failure of three runs" '^flaky: 3 runs, 1 failed' "$repeat" --load 1 3 flaky
says "repeat prints the failed test" '^    not ok 1 - t: now and then$' "$out"
same "repeat runs a plan as often as requested" <(wc -l <flaky.runs) <(echo 3)
prints 0 "repeat succeeds if a plan passes every time" '^sound: 2 runs, 0 failed' "$repeat" --load 0 2 sound
fails_with 1 "repeat refuses a plan that does not exist" "there is no plan 'none'" "$repeat" 2 none
fails_with 1 "repeat refuses a count that is not a number" "usage" "$repeat" often sound
finish
