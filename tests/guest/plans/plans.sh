# SPDX-License-Identifier: MIT
#
# Plans of guest-test: the guests that each plan boots. Source it after common.sh.
gtu=$root/build/gtu
server=${GTU_SERVER:-$root/build/san/gtu}
[ -x "$server" ] || server=$gtu
kselftests=$root/build/kselftest
# the tool in the guests
inside=$gtu
first=()
# prefix of a kselftest's command. `make test` runs the tests of random and repeated calls for a shorter time than the
# other plans; a debug kernel needs longer time limits.
settings=
shorter="GTU_SECONDS=2 GTU_JOBS=200000 GTU_ROUNDS=3 "
longer="KSELFTEST_SLOW=4 "

skip_all() { echo "1..0 # SKIP $*"; exit 0; }

# need_kernel KERNEL: skips the plan if QEMU, the kernel or another requirement is missing. With list_kernels (guest-test
# --kernels) prints the kernel instead of running the plan.
list_kernels=
need_kernel() {
	local tool

	[ -z "$list_kernels" ] || { echo "$1"; exit; }
	for tool in cpio busybox; do
		command -v $tool >/dev/null || skip_all "$tool is missing (apt-get install cpio busybox-static)"
	done
	[ -x "$cache/qemu$([ "$1" != arm64 ] || echo -arm64)/run" ] ||
		skip_all "no QEMU that can attach to the device (make guest-tools says why)"
	"$here/build/get-kernel.sh" --check "$1" 2>/dev/null ||
		skip_all "no kernel '$1' for the guest (make guest-tools KERNEL=$1 says why)"
}

# need KERNEL: the same, and builds gtu.ko
need() {
	need_kernel "$1"
	timed "module for $1" "$here/build/build-module.sh" --kernel "$1" && return
	echo "1..1"
	echo "not ok 1 - gtu.ko builds against kernel $1"
	exit 1
}

# need_arm64: the same, and builds user space for arm64
need_arm64() {
	command -v ${cross}gcc >/dev/null || skip_all "${cross}gcc is missing (apt-get install gcc-aarch64-linux-gnu" \
		"libc6-dev-arm64-cross)"
	command -v fdtoverlay >/dev/null || skip_all "fdtoverlay is missing (apt-get install device-tree-compiler)"
	"$here/build/get-cross.sh" --check || skip_all "no libraries for arm64 (make arm64 says why)"
	timed "user space for arm64" make -s -C "$root" arm64 >&2 && return
	echo "1..1"
	echo "not ok 1 - user space compiles for arm64 without a warning"
	exit 1
}

# need_compiled_in [TARGET]: skips the plan without a QEMU with the device compiled in
need_compiled_in() {
	[ -z "$list_kernels" ] || return 0
	emulator=$(compiled_in "$@" 2>/dev/null) || skip_all "no QEMU with the device compiled in (make qemu${1:+ QEMU_TARGETS=$1-softmmu}" \
		"builds it)"
}

# boot NAME KERNEL ARGUMENTS: boots a guest; the arguments in `first` precede the driver's module
boot() {
	local name=$1 kernel=$2 rc
	shift 2
	"$here/run.sh" --name "$name" --kernel "$kernel" --gtu "$server" "${first[@]}" --module "$(module_folder "$kernel")/gtu.ko" \
		--file "$inside:/usr/bin/gtu" --file "$graph:/graph.gtu" --file "$here/programs/same-run:/usr/bin/same-run" "$@"
	rc=$?
	[ $rc -eq 0 ] || echo "not ok - $name guest (exit status $rc)"
}

# cases that may not be skipped, by program: an extended regular expression of their names
declare -A required=()
# kselftest_arguments SUFFIX [NAME]...: appends the driver's tests, all or these, to `arguments`; SUFFIX is empty for
# 64-bit programs and _32 for 32-bit ones
kselftest_arguments() {
	local suffix=$1 program name second command
	shift

	[ $# -gt 0 ] || set -- $(cd "$root/tests/kselftest/gtu" && printf '%s\n' *_test.c | sed 's/\.c$//')
	for name; do
		# these need a faulty device: faulty_guest runs them
		[ "$name" != fault_test ] || continue
		program=$name$suffix second=
		[ "$name" != devices_test ] || second="GTU_SECOND=/dev/gtu1 "
		command=$settings$second$program
		[ -z "${required[$name]:-}" ] || command=$(not_skipped "${required[$name]}" "$second$program")
		if [ -x "$kselftests/$program" ]; then
			arguments+=(--file "$kselftests/$program" --test "$program=$command")
		elif [ -n "$suffix" ] && ! compgen -G "$kselftests/*$suffix" >/dev/null; then
			arguments+=(--test "$program=echo '1..0 # SKIP not built: gcc has no -m32 (gcc-12-multilib, of its version)'")
		else
			echo "not ok - $program is not built: make guest-test GUEST=PLAN builds it"
		fi
	done
}

# test_modules KERNEL [NAME]...: appends modules of tests/guest/programs, all or these, to `arguments`. move_test needs
# `moving` and `peer`, removal_test needs `shutdown`.
test_modules() {
	local kernel=$1 folder module
	shift

	[ $# -gt 0 ] || set -- moving peer shutdown
	for folder; do
		module=$(basename "$here/programs/$folder"/*.c .c)
		timed "module $module" "$here/build/build-module.sh" --kernel "$kernel" --of "$here/programs/$folder" W=1 ||
			{ echo "not ok - $module.ko builds"; continue; }
		arguments+=(--file "$(module_folder "$kernel")-$folder/$module.ko:/usr/bin/$module.ko")
		arguments+=(--test "$folder=insmod /usr/bin/$module.ko")
	done
}

# make_graph [SCALE]: makes the small graph of a plan
make_graph() {
	mkdir -p "$work" && "$gtu" --quiet generate kronecker --scale "${1:-10}" "$graph" >&2 || die "cannot make a graph"
}

# units of the BFS that a guest compares with the model in process
units="none scu-basic scu iru peg weaver"
# Computes the results of the model in process for the small graph, and adds the tests that compare with them.
bfs_arguments() {
	local unit

	make_graph
	for unit in $units; do
		if ! "$gtu" --quiet run bfs "$graph" --unit $unit --output "$work/$unit.values" \
			--json "$work/$unit.json" >&2; then
			echo "not ok - BFS in process (unit $unit)"
			continue
		fi
		arguments+=(--file "$work/$unit.values:/expected/$unit.values")
		arguments+=(--file "$work/$unit.json:/expected/$unit.json")
		arguments+=(--test "bfs-$unit=same-run /expected/$unit bfs /graph.gtu --unit $unit")
	done
}

behind_iommu='grep -q DMA $(dirname $(grep -l 0x4754 /sys/bus/pci/devices/*/device | head -1))/iommu_group/type'

# sound_guest NAME KERNEL ARGUMENTS: boots a guest with sound devices; runs the tests in `arguments`, then BFS and others
sound_guest() {
	local name=$1 kernel=$2
	shift 2

	bfs_arguments
	boot "$name" "$kernel" "$@" "${arguments[@]}" --test "info=gtu info --device /dev/gtu0 >/dev/null"
}

# requires_error REGEX COMMAND...: prints a test's command that requires exit status 1 of the command, and this error
requires_error() {
	echo "${*:2} 2>/tmp/.error; rc=\$?; cat /tmp/.error; test \$rc -eq 1 && grep -qE \"$1\" /tmp/.error"
}

# never_skipped COMMAND...: prints the command of a kselftest that has in its plan all that it needs: a skip is a failure
never_skipped() {
	not_skipped "" "$@"
}

# not_skipped PATTERN COMMAND...: the same for cases whose names match the extended regular expression
not_skipped() {
	echo "$settings${*:2} >/tmp/.ktap; rc=\$?; cat /tmp/.ktap; ! grep -qE '($1).*SKIP' /tmp/.ktap && exit \$rc"
}

# with_faults FAULT...: adds a device for each. At the end the driver binds it again, unless ! marks it: it was removed or
# killed, or cannot be reset.
with_faults() {
	local fault

	for fault; do
		number=$((number + 1))
		[[ $fault != !* ]] || refused+=($number)
		arguments+=(--also "--fault ${fault#!}")
	done
}

# faulty_guest NAME KERNEL RUN-ARGUMENTS: /dev/gtu0 is sound. The next devices fail after probing, which takes fewer than 560 accesses. gtu16 is a small
# board, gtu17 has a corrupt device tree blob. The last ones fail during probing, or are refused.
faulty_guest() {
	local name=$1 kernel=$2
	shift 2
	local arguments=(--file "$kselftests/fault_test" --file "$here/programs/rebind:/usr/bin/rebind") device test number=0 refused=()
	arguments+=(--file "$kselftests/event_test")
	local bfs="gtu --quiet run bfs /graph.gtu --unit scu --device"

	with_faults !all-ones=560 stall=560 !die-at=560 lose-irq !all-ones=560 stall=560 !die-at=560 corrupt-completions=3 \
		no-invalidate "!no-invalidate --fault stuck-reset=3" "!no-invalidate --fault stuck-reset=3 --fault keep-master" \
		no-invalidate "!no-invalidate --fault stuck-reset=3" refuse-disable "refuse-disable --without regions"
	arguments+=(--also absent_units=iru,aperture_bytes=4096,caps_off=stream-events --also "--bug fdt-crc")
	number=$((number + 2))
	with_faults no-queue-state no-queue-enable=2 refuse-enable=2 !stuck-reset !all-ones=1 !all-ones=2 !all-ones=5 !all-ones=20 !all-ones=300 stall=3
	refused+=($((number + 1)))
	arguments+=(--also "--bug bar-size" --file "$kselftests/detail_test" --file "$kselftests/surface_test")
	# a program that waits for a removed device, or one whose server died, gets an error
	arguments+=(--test "all-ones=$(requires_error "gtu1 (exists, but its device is dead|was removed)" "$bfs /dev/gtu1")"
		--test "server-killed=$(requires_error "gtu3 (exists, but its device is dead|was removed)" "$bfs /dev/gtu3")")
	# a program that waits for a stalled device gets an error, or a signal other than SIGKILL ends it
	arguments+=(--test "stalled=$(requires_error "gtu2 has not completed job" "timeout -k 10 40 $bfs /dev/gtu2 --timeout 3")")
	arguments+=(--test "stalled-signal=timeout -k 10 3 $bfs /dev/gtu2; rc=\$?; echo \"exit status \$rc\"; test \$rc -eq 143")
	# corrupt completions: an error (an input error if the device forged such a status) or a result, but no hang; the
	# library detects at least one
	arguments+=(--test "corrupt-completions=for i in 1 2 3 4; do timeout -k 5 30 $bfs /dev/gtu8 --timeout 3; test \$? -le 4 || exit 1; done 2>/tmp/.error; cat /tmp/.error; grep -q 'cannot be trusted' /tmp/.error")
	# INVALIDATE never completes: the driver resets the device
	arguments+=(--test "no-invalidate=$(requires_error "gtu9 was reset after it was opened" "timeout -k 5 50 $bfs /dev/gtu9")")
	# completions are in memory: a lost interrupt delays a result but does not lose it
	arguments+=(--test "no-interrupts=$bfs /dev/gtu4" --test "sound-beside=$bfs /dev/gtu0")
	# before numbers become free that a device would get when it is bound again
	arguments+=(--test "small-board=$(never_skipped GTU_DEVICE=/dev/gtu16 \
		detail_test submit_refuses_operations_of_an_absent_unit an_aperture_of_one_page_can_be_allocated \
		a_device_without_stream_events_refuses_them)"
		--test "absent-unit-files=$(never_skipped GTU_DEVICE=/dev/gtu16 \
			surface_test sysfs_has_folders_only_of_present_units)"
		--test "corrupt-device-tree=$(never_skipped GTU_FAULT=fdt-crc GTU_DEVICE=/dev/gtu17 \
			surface_test a_corrupt_device_tree_is_reported_and_not_used)"
		--test "too-few-doorbells=$(never_skipped detail_test a_function_with_too_few_doorbells_is_refused)")
	for fault in removed:5 stalled:6 removed:7; do
		arguments+=(--test "waiters-gtu${fault#*:}-${fault%:*}=${settings}GTU_FAULT=${fault%:*} GTU_DEVICE=/dev/gtu${fault#*:} fault_test waiters_are_notified")
	done
	for fault in no-invalidate:9 stuck-reset:10 keep-master:11; do
		arguments+=(--test "stuck-${fault%:*}=${settings}GTU_FAULT=${fault%:*} GTU_DEVICE=/dev/gtu${fault#*:} fault_test memory_is_unpinned_only_when_that_is_safe")
	done
	arguments+=(--file "$kselftests/death_test")
	for test in no-invalidate:12:a_slow_call_delays_neither_wait_nor_mmap \
			no-invalidate:12:the_mailbox_timeout_bounds_an_unanswered_command \
			no-invalidate:12:a_dump_marks_contexts_whose_calls_wait \
			no-queue-state:18:an_unanswered_queue_query_counts_as_a_hang \
			no-queue-enable:19:an_unanswered_enable_resets_the_device \
			refuse-enable:20:a_refused_enable_leaves_nothing_behind \
			stuck-reset:13:a_reset_takes_doorbells_and_aperture_from_all_contexts \
			refuse-disable:14:a_refused_disable_resets_the_device \
			refuse-disable:15:submitted_jobs_raise_events_at_completion \
			refuse-disable:15:a_job_that_cannot_be_stopped_resets_the_device; do
		IFS=: read -r fault device test <<<"$test"
		arguments+=(--test "death-$test=$(never_skipped "GTU_FAULT=$fault GTU_DEVICE=/dev/gtu$device" death_test "$test")")
	done
	arguments+=(--test "lost-events=$(never_skipped GTU_FAULT=lose-irq GTU_DEVICE=/dev/gtu4 \
		event_test eventfd_and_read_wake_up_despite_lost_interrupts the_last_event_arrives_despite_lost_interrupts)")
	arguments+=(--file "$kselftests/pmu_test" --test "smaller-board=$(never_skipped GTU_SMALL=/dev/gtu16 \
		pmu_test events_match_the_board_that_has_the_number)")
	arguments+=(--test "rebind=rebind ${refused[*]}" --test "sound-after=$bfs /dev/gtu0")
	make_graph
	boot "$name" "$kernel" "$@" "${arguments[@]}"
}

# graphs_guest NAME PATTERN...: runs the real graphs that match; the plan graphs also tests two devices under load
graphs_guest() {
	local name=$1 share=$cache/graphs-$1 graphs=${GTU_SHARED:-$root/../shared}/graphs arguments=() real=()
	shift

	if [ -d "$graphs" ]; then
		timed "expected results" "$here/expect-graphs" "$gtu" "$share" "$graphs" "$@" || return
		real=(--share "$share" --file "$here/programs/same-graphs:/usr/bin/same-graphs" --test graphs=same-graphs)
	elif [ "$name" = graphs ]; then
		real=(--test "graphs=echo '1..0 # SKIP no real graphs in $graphs (set GTU_SHARED)'")
	else
		skip_all "no real graphs in $graphs (set GTU_SHARED)"
	fi
	bfs_arguments
	if [ "$name" = graphs ]; then
		arguments+=(--file "$here/programs/under-load:/usr/bin/under-load" --test bfs-under-load=under-load --file "$kselftests/removal_test")
		arguments+=(--file "$kselftests/gtu_test" --test "gtu1=GTU_DEVICE=/dev/gtu1 gtu_test")
		arguments+=(--test "removal-under-load=under-load removal")
	fi
	boot "$name" distribution --devices 2 --mem 1G --test-limit 3000 --limit 3300 "${arguments[@]}" "${real[@]}"
}

# Tests that `make test` runs as 32-bit programs (compat: structs, mmap offsets, doorbells written by halves), on the
# compiled-in device (some), and with an IOMMU (memory): those that depend on memory addresses. all-32, all-compiled-in
# and all-iommu run all tests.
compat="uapi_test queue_test"
some="uapi_test gtu_test queue_test dmabuf_test"
memory="gtu_test pin_test nocopy_test dmabuf_test memory_removal_test submit_test aperture_test isolation_test"

# Tests without PCI and x86 that depend on the bus, the processor's page tables or its ABI. all-arm64 also runs `portable`.
# Neither runs devices_test (needs two devices), fail_nth_test and fail_probe_test (need fault injection in the kernel),
# fault_test (faulty_guest has its devices); sleep_test is added by the plan.
device_tree="uapi_test gtu_test queue_test removal_test event_test stream_test submit_test aperture_test dmabuf_test nocopy_test pin_test
	surface_test death_test user_test"
portable="charge_test count_test isolation_test memory_removal_test outside_test race_test random_test storm_test syscall_test"

# Bugs that are injected into the devices of a guest, one per device. Except dma-32, which needs memory above 4 GiB, and
# msix-mask: QEMU masks vectors itself.
bringup_bugs="bar-size fdt-crc stuck-bit w1c ro-writable latch epoch aperture-alias byte-enable doorbell-index flr-state
	dma-page length-4k byte-order completion-count tail-lost bounds irq-vector lanes data"

# shown COMMAND...: prints a test's command that comments out the command's lines (ok ..., skip ...), which are not TAP
shown() {
	echo "$* >/tmp/.shown; rc=\$?; sed 's/^/# /' /tmp/.shown; exit \$rc"
}

# sound_bringup DEVICE OPTIONS: prints the command of a bring-up that must pass
sound_bringup() {
	shown "gtu --quiet bringup --device $*"
}

# bringup_guest: gtu bringup without the driver, as on a new board; then with the driver, through /dev/gtu0
bringup_guest() {
	local bug arguments=()

	arguments+=(--file "$here/programs/bringup-bugs:/usr/bin/bringup-bugs")
	arguments+=(--test "memory=echo 4 >/proc/sys/vm/nr_hugepages; grep -q 'HugePages_Free: *[2-9]' /proc/meminfo")
	for bug in $bringup_bugs; do
		arguments+=(--also "--bug $bug")
	done
	arguments+=(--test "bugs=bringup-bugs sound $(echo $bringup_bugs)")
	first=("${arguments[@]}")
	# the driver probes all devices, and the first is sound
	arguments=(--test "owned=$(requires_error "the driver 'gtu' owns" 'gtu --quiet bringup --device $(cat /tmp/sound)')")
	arguments+=(--test "through-the-driver=$(sound_bringup /dev/gtu0 --lockstep 4000)")
	arguments+=(--test "unbind=$(sound_bringup '$(cat /tmp/sound)' --unbind --hugepage --march 64 --lockstep 2000)")
	arguments+=(--test "given-back=gtu info --device /dev/gtu0 >/dev/null")
	boot bringup distribution --cpus 1 "${arguments[@]}"
	board_ids_guest
}

# interrupts_go_to CPUS...: prints a command that compares the CPUs to which the device's first vectors go
interrupts_go_to() {
	echo "echo \$(for irq in \$(ls /sys/class/gtu/gtu0/device/msi_irqs | sort -n | head -$#); do cat /proc/irq/\$irq/smp_affinity_list; done) >/tmp/.cpus; cat /tmp/.cpus; grep -qx '$*' /tmp/.cpus"
}

# board_ids_guest: a board with PCI ids of its own: gtu bringup --id without the driver, then the driver with new_id and ids=
board_ids_guest() {
	local works="gtu --quiet run bfs /graph.gtu --device /dev/gtu0 --unit scu >/dev/null" load="modprobe gtu"

	first=(--test "memory=echo 4 >/proc/sys/vm/nr_hugepages"
		--test "bringup=$(shown gtu --quiet bringup --id 10ee:9038 --hugepage --march 64 --lockstep 2000)"
		--test "other-ids=$(requires_error "no function 1234:4754" gtu --quiet bringup --id 1234:4754)")
	arguments=(--test "unknown-ids=! test -e /dev/gtu0"
		--test "new-id=echo 10ee 9038 >/sys/bus/pci/drivers/gtu/new_id && $works"
		--test "ids=rmmod gtu && $load ids=10ee:9037,10ee:9038 && $works"
		--test "an-interrupt-per-cpu=$(interrupts_go_to 0-1 0 1)"
		--test "one-vector=rmmod gtu && $load ids=10ee:9038 vectors=1 && $works && $(interrupts_go_to 0-1)"
		--test "doctor=gtu doctor >/tmp/.doctor; test \$? -le 1 && grep -qE '^ok +bus +[0-9a-f:.]+ is a 10ee:9038' /tmp/.doctor"
		--test "registers=gtu info --device /dev/gtu0 --registers >/tmp/.registers && grep 'peg/r_bc\[15\]' /tmp/.registers"
		--test "through-the-driver=$(sound_bringup /dev/gtu0 --lockstep 2000)")
	# the GPU's kernels, as code for the CPU, read their edge list in the board's memory
	if [ -e "$root/build/tests/test_aperture" ] && [ -e "$root/build/tests/fake/libcuda-cpu.so.1" ]; then
		arguments+=(--file "$root/build/tests/test_aperture"
			--file "$root/build/tests/fake/libcuda-cpu.so.1:/build/tests/fake/libcuda-cpu.so.1"
			--test "gpu-reads-bar=GTU_ROOT= GTU_TEST_BOARD=/dev/gtu0 test_aperture")
	else
		arguments+=(--test "gpu-reads-bar=echo '1..0 # SKIP test_aperture or libcuda-cpu.so.1 is not built (a C++ compiler is needed)'")
	fi
	arguments+=(--test "invalid=rmmod gtu; for ids in 10ee 10ee:9038, :9038 ffff:1 10ee:zz; do ! $load ids=\$ids 2>/dev/null && dmesg | grep \"gtu: invalid parameter ids, need VENDOR:DEVICE.*: \$ids\$\" || exit 1; done"
		--test "again=$load")
	boot board-ids distribution --ids 10ee:9038 --serve --map-aperture --serve --aperture --serve 1M "${arguments[@]}"
}

# tiny_guest: tests the minimal GTU (tests/tiny), written only from hardware.md, under the driver, then compares it with the model
tiny_guest() {
	server=$root/tests/tiny/tiny.py
	command -v python3 >/dev/null || skip_all "python3 is missing"
	boot tiny distribution --cpus 1 --test "doctor=$(shown gtu doctor)" \
		--test "same-as-the-model=$(sound_bringup /dev/gtu0 --lockstep 2000)"
}

# fail_probe_guest: fail_probe_test from GTU_FROM [1] for GTU_SECONDS [no limit], which the other plans skip. Linux 6.1 does
# not survive every failure in probe.
fail_probe_guest() {
	make_graph
	boot fail-probe debug-6.12 --mem 1G --limit 1800 --test-limit 1500 --file "$kselftests/fail_probe_test" \
		--test "fail_probe_test=${longer}GTU_FROM=${GTU_FROM:-1} ${GTU_SECONDS:+GTU_SECONDS=$GTU_SECONDS }fail_probe_test" \
		--test "info=gtu info --device /dev/gtu0 >/dev/null"
}

# bench_guest: gtu bench ioctl on both transports, and behind an IOMMU that invalidates at once, then lazily. Benchmarks
# use the tool without sanitizers.
bench_guest() {
	local arguments=(--mem 3G --test-limit 400 --file "$here/programs/bench:/usr/bin/bench-ioctl")
	local seconds=${GTU_BENCH_SECONDS:-10}

	server=$gtu
	make_graph
	boot bench distribution "${arguments[@]}" --test "bench=bench-ioctl off $seconds 1G" --file "$kselftests/usage_test" \
		--file "$kselftests/user_test" --test "users=$(never_skipped user_test jobs_of_many_contexts_leave_another_user_his_part \
			calls_of_many_contexts_leave_another_user_his_part)" \
		--test "shares=$(never_skipped usage_test a_flood_costs_others_little a_hang_costs_others_little \
			a_hang_costs_other_users_of_the_unit_little a_hang_costs_a_user_of_one_stream_at_a_time_little)"
	boot bench-iommu distribution --iommu "${arguments[@]}" --test "bench-strict=bench-ioctl strict $seconds 64M" \
		--test "bench-lazy=bench-ioctl lazy $seconds 64M"
	if compiled_in >/dev/null 2>&1; then
		boot bench-compiled-in distribution --transport qemu "${arguments[@]}" \
			--test "bench-compiled-in=bench-ioctl off $seconds 1G"
	else
		echo "ok - bench-compiled-in # SKIP no QEMU with the device compiled in (make qemu builds it)"
	fi
}

# arm64_guest NAME ARGUMENTS: tests a device of the device tree
arm64_guest() {
	local name=$1
	shift

	inside=$root/build/arm64/gtu kselftests=$root/build/arm64/kselftest
	test_modules arm64 shutdown
	kselftest_arguments "" $device_tree
	[ "$name" != all-arm64 ] || kselftest_arguments "" $portable
	bfs_arguments
	boot "$name" arm64 "$@" \
		--test 'by-its-node=test -e /sys/class/gtu/gtu0/device/of_node/reg-names' \
		--test "check=gtu fdt check system" --test "doctor=$(shown gtu doctor)" "${arguments[@]}" \
		--file "$kselftests/sleep_test" --test "sleep=GTU_SLEEP=devices sleep_test" --test "sleep-until-alarm=GTU_SLEEP=alarm sleep_test" \
		--test "info=gtu info --device /dev/gtu0 >/dev/null" --test "interrupts=grep -q 'Edge *gtu' /proc/interrupts"
}

# power_resources_guest: that device with a clock, a reset line and a power domain, whose module is loaded after the driver
power_resources_guest() {
	inside=$root/build/arm64/gtu kselftests=$root/build/arm64/kselftest
	timed "module for its power resources" "$here/build/build-module.sh" --kernel arm64 --of "$here/programs/provider" W=1 ||
		{ echo "not ok - gtu_power_resources.ko builds"; return; }
	make_graph
	first=(--file "$root/build/arm64/wire:/usr/bin/wire" --test wire=wire)
	# without a timeout, the kernel waits for the device's suppliers
	boot power-resources arm64 --power-resources --word "deferred_probe_timeout=-1 cma=0" \
		--file "$(module_folder arm64)-provider/gtu_power_resources.ko:/usr/bin/gtu_power_resources.ko" \
		--file "$here/programs/power-resources:/usr/bin/power-resources" --file "$kselftests/sleep_test" \
		--test "deferred=power-resources deferred" --test "check=gtu fdt check system" --test "unbind=power-resources unbind" \
		--test "sleep-devices=power-resources sleep devices" --test "sleep-platform=power-resources sleep platform" \
		--test "sleep-until-alarm=power-resources sleep alarm" --test "call-failures=power-resources call-failures" --test "resume-failures=power-resources resume-failures" \
		--test "provider-removal=power-resources provider-removal" --file "$kselftests/charge_test" --test "charge-without-cma=charge_test"
}

. "$here/plans/plans_life.sh"

# Plans with every kselftest and BFS by every unit, on two devices: name, kernel, suffix of the programs (_32), options. Linux
# trusts the host bridge of an AMD processor of family 23 with peer-to-peer.
every='
all-iommu|distribution||--iommu
all-32|distribution|_32|--limit 1400
all-compiled-in|distribution||--transport qemu --limit 1400
compiled-in-iommu|distribution||--transport qemu --iommu --limit 1400
6.12-iommu|6.12||--iommu --limit 1400
7.2|7.2||--cpu qemu64,family=23
debug|debug||--mem 1G --limit 2300 --test-limit 900 --cpu qemu64,family=23
debug-iommu|debug||--iommu --mem 1G --limit 2800 --test-limit 1200
debug-6.12|debug-6.12||--mem 1G --limit 2300 --test-limit 900 --cpu qemu64,family=23
debug-32|debug|_32|--mem 1G --limit 2800 --test-limit 1200 --cpu qemu64,family=23
'
# every_guest NAME: boots the guest of that row
every_guest() {
	local kernel suffix options

	IFS='|' read -r _ kernel suffix options < <(grep -- "^$1|" <<<"$every")
	[ -n "$kernel" ] || die "there is no plan '$1'"
	[ "$kernel" != 7.2 ] || [ "$(id -u)" -eq 0 ] ||
		skip_all "modules for 7.2 are built in a tree of their own, which takes root"
	[[ $options != *"--transport qemu"* ]] || need_compiled_in
	need "$kernel"
	[[ $kernel != debug* ]] || settings=$longer
	# what these kernels are configured for
	[[ $kernel != debug* ]] || required[fail_nth_test]=fail_nth
	if [[ $kernel == debug* || $kernel == 7.2 ]]; then
		test_modules "$kernel"
	fi
	# behind an IOMMU, the ports keep devices from each other
	if [[ ($kernel == debug* || $kernel == 7.2) && $options != *--iommu* ]]; then
		required[move_test]='peer\.(rights_of_a_dmabuf_limit_its_importers|a_dmabuf_keeps_memory_after_its_context_ends'
		required[move_test]+='|importers_unmap_memory_before_removal|another_gtu_can_import_the_aperture)'
		# 7.2 does not let a program map a BAR beside a driver
		[ "$kernel" = 7.2 ] || required[move_test]+='|peer\.only_peer_to_peer_importers_get_the_bus_address'
	fi
	kselftest_arguments "$suffix"
	[ "$1" != all-compiled-in ] || kselftest_arguments _32 $some
	[[ $options != *--iommu* ]] || arguments+=(--test "behind-iommu=$behind_iommu")
	# shellcheck disable=SC2086 # words
	sound_guest "$1" "$kernel" --devices 2 $options
}

run_plan() (
	# each plan has its own folder, because plans run concurrently
	arguments=() work=$cache/test-$1 graph=$cache/test-$1/graph.gtu
	case $1 in
	distribution)
		need distribution
		settings=$shorter
		test_modules distribution
		kselftest_arguments ""
		kselftest_arguments _32 $compat
		sound_guest "$1" distribution --devices 2 \
			--file "$root/build/forked" --test "forked=forked /dev/gtu0" \
			--test "export-refused=aperture_test invalid_allocations_and_mappings_are_refused >/dev/null && dmesg | grep 'cannot export aperture memory: the kernel has no CONFIG_PCI_P2PDMA'" ;;
	iommu)
		need distribution
		units="scu weaver"
		kselftest_arguments "" $memory
		arguments+=(--test "dmabuf-to-gtu1=GTU_SECOND=/dev/gtu1 dmabuf_test")
		sound_guest "$1" distribution --iommu --devices 2 --test "behind-iommu=$behind_iommu" ;;
	faulty)
		need distribution
		faulty_guest "$1" distribution ;;
	debug-faulty)
		need debug-6.12
		settings=$longer
		faulty_guest "$1" debug-6.12 --mem 1G --limit 1500 --test-limit 500 ;;
	fail-probe)
		need debug-6.12
		fail_probe_guest ;;
	bench)
		need distribution
		bench_guest ;;
	bringup)
		need distribution
		make_graph
		bringup_guest ;;
	tiny)
		need distribution
		make_graph
		tiny_guest ;;
	life)
		need distribution
		life_guest "$1" distribution ;;
	debug-life)
		need debug-6.12
		life_guest "$1" debug-6.12 --mem 1G --limit 1500 --test-limit 500
		together_guest "$1" debug-6.12 --mem 1G ;;
	arm64 | all-arm64)
		need arm64
		need_arm64
		# the kernel does not scan PCI: wire maps the function to the node
		first=(--file "$root/build/arm64/wire:/usr/bin/wire" --test wire=wire)
		arm64_guest "$1" --test "no-pci=! ls /sys/bus/pci/devices | grep ." ;;
	power-resources)
		need arm64
		need_arm64
		power_resources_guest ;;
	compiled-in-arm64)
		need_compiled_in aarch64
		need arm64
		need_arm64
		arm64_guest "$1" --transport qemu --test "not-pci=test -e /sys/bus/pci/devices && ! grep -s 0x4754 /sys/bus/pci/devices/*/device" ;;
	qtest)
		[ -z "$list_kernels" ] || exit 0
		command -v python3 >/dev/null || skip_all "python3 is missing"
		arm=$(compiled_in aarch64 2>/dev/null)
		[ -n "$arm" ] || need_compiled_in
		GTU_QEMU=$(compiled_in 2>/dev/null) GTU_QEMU_ARM64=$arm "$root/tests/qtest/run" ;;
	compiled-in)
		need_compiled_in
		need distribution
		units="scu weaver"
		kselftest_arguments "" $some nocopy_test event_test stream_test aperture_test
		sound_guest "$1" distribution --transport qemu --devices 2 ;;
	compiled-in-hotplug)
		need_compiled_in
		need distribution
		make_graph 12
		boot "$1" distribution --transport qemu --devices 3 --ports --absent gtu2 --monitor \
			--file "$here/programs/hotplug:/usr/bin/hotplug" --test "errors=hotplug errors UNSUP MALF_TLP" \
			--test "unplug=hotplug unplug" --test "plug=hotplug plug" ;;
	fuzz)
		fuzz_guest ;;
	recipes)
		need distribution
		gateware=,3
		ldd "$gtu" | grep -q libpciaccess || {
			gateware=
			echo "ok - recipe 3 # SKIP this build of gtu lacks libpciaccess (apt-get install libpciaccess-dev)"
		}
		GTU_GUEST=recipes GTU_SERVER=$server SHARE=$work/share "$here/recipes" 1,5,4 "2$gateware" ;;
	recipes-6-8)
		[ -z "$list_kernels" ] || { printf '%s\n' 6.12 distribution; exit; }
		need 6.12
		need distribution
		emulated="=7"
		# the recipe's `make qemu` would compile for minutes
		(unset GTU_QEMU; compiled_in >/dev/null 2>&1) || {
			emulated=
			echo "ok - recipe 7 # SKIP no QEMU with the device compiled in (make qemu builds it)"
		}
		# shellcheck disable=SC2086 # a word or none
		GTU_GUEST=recipes-6-8 GTU_SERVER=$server SHARE=$work/share "$here/recipes" 6 $emulated =8 ;;
	vfio)
		need distribution
		vfio_guest ;;
	fuzz-injected-bugs)
		injected_bugs_guest ;;
	6.12)
		need 6.12
		units="scu weaver"
		kselftest_arguments "" gtu_test pin_test queue_test dmabuf_test nocopy_test event_test stream_test huge_test pmu_test
		for program in submit_test aperture_test detail_test usage_test; do
			arguments+=(--file "$kselftests/$program")
		done
		# gtu1 to gtu7; what a device cannot do, the driver does or refuses
		sound_guest "$1" 6.12 --also "--map-aperture --aperture 4M" --also "--without regions" --also "--without cancel" \
			--also "--map-aperture --aperture 8M" --also "--fault lose-irq=5" --also "--fault false-counters" \
			--also "--fault late-status" \
			--test "huge-entries-beside-small=$(never_skipped GTU_DEVICE=/dev/gtu1 \
				huge_test small_entries_are_inserted_beside_huge_ones)" \
			--test "without-regions=GTU_DEVICE=/dev/gtu2 submit_test" \
			--test "without-regions-removal=$(never_skipped GTU_DEVICE=/dev/gtu2 \
				submit_test region_remove_does_not_wait_for_a_reset_queue)" \
			--test "without-regions-log=$(never_skipped GTU_DEVICE=/dev/gtu2 detail_test unchecked_device_is_logged)" \
			--test "without-cancel=$(never_skipped GTU_DEVICE=/dev/gtu3 \
				detail_test a_device_without_cancel_refuses_it)" \
			--test "one-lost-interrupt=$(never_skipped GTU_FAULT=lose-some GTU_DEVICE=/dev/gtu5 \
				event_test a_lost_interrupt_does_not_delay_later_events a_lost_interrupt_delays_few_waits)" \
			--test "false-counters=$(never_skipped GTU_FAULT=false-counters GTU_DEVICE=/dev/gtu6 \
				usage_test fdinfo_shows_any_counters_of_a_faulty_device)" \
			--test "late-status=$(never_skipped GTU_FAULT=late-status GTU_DEVICE=/dev/gtu7 \
				submit_test a_visible_completion_can_be_consumed)" \
			--test "whole-aperture=$(never_skipped GTU_APERTURE_MAPPED=1 GTU_DEVICE=/dev/gtu4 \
				aperture_test the_whole_aperture_can_be_allocated_and_freed)" ;;
	graphs)
		need distribution
		graphs_guest "$1" 'rome99*' 'USAir97*' ;;
	all-graphs)
		need distribution
		graphs_guest "$1" '*' ;;
	*)
		every_guest "$1" ;;
	esac
)
