# SPDX-License-Identifier: MIT
#
# Plans of guest-test for system sleep, hotplug, bus errors and fuzzing. Sourced by plans.sh.

# life_guest NAME KERNEL RUN-ARGUMENTS: boots once. Tests sleep (/sys/power/pm_test) on a device without options, on one
# whose queues can begin only at 0, on one without interrupts, on two that do not tell a queue's position, on one that cannot
# cancel, and on one whose aperture does not fit into memory; then hotplug, errors reported by the port, and S3, in which the
# first device loses its volatile state. A debug kernel has a boot of its own for hotplug and errors.
life_guest() {
	local name=$1 kernel=$2 board
	shift 2
	local arguments=(--ports --absent gtu7 --monitor --s3 --file "$here/programs/hotplug:/usr/bin/hotplug")
	local bus=(--test "errors=hotplug errors UNSUP MALF_TLP" --test "plug=hotplug plug gtu7")

	make_graph 12
	# lockdep checks nothing any more after its report of Linux's own hotplug (foreign_locks() of programs/init)
	if [[ $kernel = debug* ]]; then
		boot "$name-bus" "$kernel" "$@" "${arguments[@]}" --devices 8 "${bus[@]}"
		bus=()
	fi
	for board in "--without seek" "--fault lose-irq" "--fault no-queue-state" "--without cancel" "--fault refuse-queue-state" \
			"--map-aperture --aperture 128M" ""; do
		arguments+=(--also "$board")
	done
	arguments+=(--serve --fault --serve power-loss=1)
	arguments+=(--file "$kselftests/sleep_test")
	# S3, last, runs every test of sleep_test, with a device that loses its state
	arguments+=(--test "sleep=$(never_skipped GTU_SLEEP=devices \
		sleep_test rings_keys_and_memory_survive_the_sleep waiters_continue_after_the_sleep \
		a_sleep_under_load_loses_no_job stuck_job_is_cancelled)")
	arguments+=(--test "sleep-under-bfs=hotplug sleep /graph.gtu")
	arguments+=(--test "sleep-without-seek=$(never_skipped GTU_DEVICE=/dev/gtu1 GTU_SLEEP=devices sleep_test queues_are_lost_without_seek)")
	arguments+=(--file "$kselftests/death_test" --test "sleep-without-an-answer=$(never_skipped GTU_FAULT=no-queue-state GTU_DEVICE=/dev/gtu3 \
		death_test suspend_resets_a_device_that_ignores_a_query)"
		--test "sleep-with-a-refusal=$(never_skipped GTU_FAULT=refuse-queue-state GTU_DEVICE=/dev/gtu5 \
			death_test suspend_resets_a_device_that_refuses_a_query)"
		--test "sleep-without-cancel=$(never_skipped GTU_DEVICE=/dev/gtu4 GTU_SLEEP=devices sleep_test stuck_job_is_cancelled)"
		--test "sleep-without-memory=$(never_skipped GTU_DEVICE=/dev/gtu6 GTU_SLEEP=devices \
			sleep_test an_aperture_that_does_not_fit_ends_its_context)")
	arguments+=(--file "$kselftests/removal_test" --test "epochs-restart=$(never_skipped \
		removal_test a_recurring_epoch_does_not_revive_a_context)")
	arguments+=(--test "sleep-without-interrupts=$(never_skipped GTU_FAULT=lose-irq GTU_DEVICE=/dev/gtu2 GTU_SLEEP=devices sleep_test lost_interrupts_cost_time_only)")
	arguments+=(--test "module-in-use=hotplug module-in-use" "${bus[@]}")
	arguments+=(--test "S3=GTU_SLEEP=mem sleep_test")
	boot "$name" "$kernel" "$@" "${arguments[@]}"
}

# together_guest NAME KERNEL RUN-ARGUMENTS: two devices on one bus, each with the aperture of the other, on a kernel that allows it
together_guest() {
	local name=$1 kernel=$2 arguments=()
	shift 2

	test_modules "$kernel" peer shutdown
	boot "$name-together" "$kernel" "$@" --together --devices 2 --cpu qemu64,family=23 "${arguments[@]}" \
		--file "$kselftests/move_test" \
		--test "bus-reset=$(never_skipped "${longer}move_test" a_bus_reset_of_two_importers_does_not_deadlock)"
}

# The fuzzer's kernel: GTU_FUZZ_KERNEL; with GTU_ALL=1 the 6.12 debug kernel, with coverage of the driver (building it takes
# 8 minutes); else the 6.12 kernel of `make test`, without coverage, which runs ten times as many programs.
fuzz_kernel() {
	[ -z "${GTU_FUZZ_KERNEL:-}" ] || { echo "$GTU_FUZZ_KERNEL"; return; }
	[ -n "${GTU_ALL:-}" ] || { echo 6.12; return; }
	make -s -C "$root" guest-tools KERNEL=debug-6.12 >&2
	"$here/build/get-kernel.sh" --check debug-6.12 2>/dev/null && echo debug-6.12 && return
	say "fuzzing without coverage: kernel 'debug-6.12' is unavailable (make guest-tools KERNEL=debug-6.12)"
	echo 6.12
}

# fuzz_module KERNEL FOLDER: builds the driver, with coverage if the kernel supports it; keeps a changed copy in FOLDER
fuzz_module() {
	local coverage=()

	[ "$1" != debug-6.12 ] || coverage=(KCOV_INSTRUMENT=y KCFLAGS=-g)
	timed "module for $1" "$here/build/build-module.sh" "$cache/kernel-$1/headers" "$2" "${coverage[@]}"
}

# fuzz_boot NAME KERNEL MODULE-FOLDER FUZZER-ARGUMENTS: boots a guest with the device and one that checks no accesses
fuzz_boot() {
	local name=$1 kernel=$2 folder=$3 share=()
	local notes='$(dirname $(grep -l 0x1110 /sys/bus/pci/devices/*/device))'
	shift 3

	mkdir -p "$work/share" && rm -f "$work/notes" && touch "$work/found"
	# without coverage, new programs cannot be recognized: keep none
	[ "$kernel" != debug-6.12 ] || share=(--share "$work/share")
	"$here/run.sh" --name "$name" --kernel "$kernel" --gtu "$server" --mem 1G --cpus "${GTU_FUZZ_CPUS:-1}" --limit $((fuzz_seconds + 1200)) \
		--test-limit $((fuzz_seconds + 300)) --also "--without regions" "${share[@]}" --notes "$work/notes" \
		--module "$folder/gtu.ko" --file "$root/build/fuzz_ioctl" --file "$root/tests/fuzz-ioctl/corpus:/corpus" --file "$work/found:/found" \
		--test "notes=echo 1 >$notes/enable" --test "fuzz=fuzz_ioctl $* --workers 3 --other /dev/gtu1 --notes $notes/resource2"
}

# fuzz_guest: fuzzes for GTU_FUZZ_IOCTL seconds [20], starting with the corpus of earlier runs
fuzz_guest() {
	local kernel fuzz_seconds=${GTU_FUZZ_IOCTL:-20} places=$work/share/places kept=() rc

	kernel=$(fuzz_kernel)
	need_kernel "$kernel"
	fuzz_module "$kernel" "$root/build/module-fuzz-$kernel" || { echo "not ok - the module builds"; return; }
	[ "$kernel" != debug-6.12 ] || kept=(--keep /mnt/share/kept --places /mnt/share/places)
	rm -f "$places"
	fuzz_boot fuzz "$kernel" "$root/build/module-fuzz-$kernel" --seconds "$fuzz_seconds" --seed "${GTU_FUZZ_SEED:-$RANDOM}" \
		--corpus /corpus "${kept[@]}"
	rc=$?
	[ ! -e "$places" ] || "$root/tests/fuzz-ioctl/coverage" "$root/build/module-fuzz-$kernel/gtu.ko" "$places" | sed 's/^/# /'
	[ $rc -ne 0 ] || return 0
	echo "not ok - fuzzing"
	"$root/build/fuzz_ioctl" --read-notes "$work/notes" | tail -60 | sed 's/^/# ran last: /'
}

# Injected bugs of several kinds: name, description, file of the driver, sed script that injects it.
injected='
cut-in-two|a mapping that is cut in two and counted once|gtu_mmap.c|/^static void gtu_buffer_vma_open/,/^}/s/kref_get(&b->ref);//
any-slot|a slot of the region table without a bounds check|gtu_region.c|s/slot < ctx->slots ? ctx->region\[array_index_nospec(slot, ctx->slots)\] : NULL/ctx->region[slot]/
kept-lock|a lock that is kept on the way of an error|gtu_queue.c|/^int gtu_queue_destroy/,/ENOENT/s/mutex_unlock(&ctx->lock);//
let-go|a queue that is let go before it is waited for|gtu_ioctl.c|/^static int gtu_do_wait/,/^}/{s/gtu_queue_put(q);//;s/^\tif (q->submit)$/\tgtu_queue_put(q);\n&/}
'

# inject FILE SCRIPT: changes FILE in the copy of the driver in $folder, and restores the other files
inject() {
	local file

	for file in "$root"/driver/*.c; do
		cmp -s "$file" "$folder/driver/${file##*/}" || cp "$file" "$folder/driver/"
	done
	sed -i "$2" "$folder/driver/$1" && ! cmp -s "$root/driver/$1" "$folder/driver/$1"
}

# injected_bugs_guest: the fuzzer must find each bug (or those in GTU_INJECTED), and its last programs must reproduce it.
injected_bugs_guest() {
	local kernel=debug-6.12 fuzz_seconds=${GTU_FUZZ_IOCTL:-300} folder output=$work/output name what file script

	need_kernel "$kernel"
	folder=$root/build/module-injected-$kernel
	mkdir -p "$folder" "$work/share" && cp -pRu "$root"/{driver,include,Kbuild} "$folder/" || exit 1
	while IFS='|' read -r name what file script; do
		[ -n "$name" ] && [[ " ${GTU_INJECTED:-$name} " == *" $name "* ]] || continue
		if ! inject "$file" "$script" || ! fuzz_module "$kernel" "$folder" </dev/null; then
			echo "not ok - the module with the injected bug builds: $what"
			continue
		fi
		fuzz_boot "injected-$name" "$kernel" "$folder" --seconds "$fuzz_seconds" --seed "${GTU_FUZZ_SEED:-$RANDOM}" \
			--corpus /corpus >"$output" 2>&1 </dev/null
		if ! grep -Eq '^# (the kernel reported an error|a worker ended)|the guest ended in fuzz before' "$output"; then
			sed 's/^/# /' "$output"
			echo "not ok - the fuzzer finds $what"
			continue
		fi
		echo "ok - the fuzzer finds $what"
		sed -n '/complains:/,/programs (/s/^/# /p; /dmesg/s/^/# /p' "$output"
		"$root/build/fuzz_ioctl" --read-notes "$work/notes" >"$work/found"
		fuzz_boot "injected-$name" "$kernel" "$folder" --replay /found >"$output" 2>&1 </dev/null
		if grep -Eq '^# the kernel reported an error|the guest ended in fuzz before' "$output"; then
			echo "ok - its programs reproduce it: $what"
		else
			sed 's/^/# /' "$output"
			echo "not ok - its programs reproduce it: $what"
		fi
	done <<<"$injected"
}

# vfio_guest: assigns the device to a program by VFIO, with an IOMMU.
vfio_guest() {
	make_graph
	boot vfio distribution --iommu --mem 1G --test-limit 400 --file "$here/programs/vfio:/usr/bin/vfio" \
		--test "vfio=vfio bringup" --test "rescan=vfio rescan"
}
