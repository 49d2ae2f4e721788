# SPDX-License-Identifier: MIT
#
# Plans of guest-test about a kernel's life with the device: sleep, slots, errors of the bus, fuzzing. Sourced by plans.sh.

# life_guest NAME KERNEL RUN-ARGUMENTS: one boot. Sleep by /sys/power/pm_test on a device as it is, on one whose queues begin
# at 0 alone, and on one without interrupts; a device that comes into its slot; errors that its port reports; then S3, in
# which the first loses what only power keeps.
life_guest() {
	local name=$1 kernel=$2
	shift 2
	local arguments=(--ports --absent gtu3 --monitor --word guest.end=reboot)

	mkdir -p "$work" && "$gtu" --quiet generate kronecker --scale 12 "$graph" >&2 || die "cannot make a graph"
	arguments+=(--also "--without seek" --also "--fault lose-irq" --also "" --serve --fault --serve power-loss=1)
	arguments+=(--file "$here/slots:/usr/bin/slots" --file "$kselftests/sleep_test")
	arguments+=(--test "sleep=GTU_SLEEP=devices sleep_test" --test "sleep-under-bfs=slots sleep /graph.gtu")
	arguments+=(--test "sleep-without-seek=GTU_DEVICE=/dev/gtu1 GTU_SLEEP=devices sleep_test told_where_it_cannot_be_kept")
	arguments+=(--file "$kselftests/life_test" --test "epochs-anew=life_test function_reset_again")
	arguments+=(--test "sleep-without-interrupts=GTU_FAULT=lose-irq GTU_DEVICE=/dev/gtu2 GTU_SLEEP=devices sleep_test lost_interrupts_cost_time_only")
	arguments+=(--test "held=slots held" --test "errors=slots errors UNSUP MALF_TLP" --test "plug=slots plug gtu3")
	arguments+=(--test "S3=GTU_SLEEP=mem sleep_test")
	boot "$name" "$kernel" "$@" "${arguments[@]}"
}

# What the fuzzer runs on: the 6.12 debug kernel with the driver's coverage where it is there (make guest-tools
# KERNEL=debug-6.12 builds it), else the distribution's kernel without.
fuzz_kernel() {
	"$here/get-kernel.sh" --check debug-6.12 2>/dev/null && echo debug-6.12 && return
	say "fuzzing without coverage: kernel 'debug-6.12' is not there (make guest-tools KERNEL=debug-6.12)"
	echo distribution
}

# fuzz_module KERNEL FOLDER: with coverage where the kernel has it; a copy in FOLDER that may have been changed stays so
fuzz_module() {
	local coverage=

	[ "$1" = debug-6.12 ] && coverage=KCOV_INSTRUMENT=y
	timed "module for $1" "$here/build-module.sh" "$cache/kernel-$1/headers" "$2" $coverage
}

# fuzz_boot NAME KERNEL MODULE-FOLDER FUZZER-ARGUMENTS
fuzz_boot() {
	local name=$1 kernel=$2 folder=$3
	shift 3

	mkdir -p "$work/share/corpus"
	"$here/run.sh" --name "$name" --kernel "$kernel" --gtu "$server" --mem 1G --limit $((fuzz_seconds + 500)) \
		--test-limit $((fuzz_seconds + 120)) --share "$work/share" --module "$folder/gtu.ko" --file "$root/build/fuzz_ioctl" \
		--test "fuzz=fuzz_ioctl $* --last /mnt/share/last"
}

# fuzz_guest: for GTU_FUZZ_IOCTL seconds [300]; what is kept of earlier runs is gone on with
fuzz_guest() {
	local kernel fuzz_seconds=${GTU_FUZZ_IOCTL:-300}

	kernel=$(fuzz_kernel)
	need_kernel "$kernel"
	fuzz_module "$kernel" "$root/build/module-fuzz-$kernel" || { echo "not ok - the module builds"; return; }
	fuzz_boot fuzz "$kernel" "$root/build/module-fuzz-$kernel" --seconds "$fuzz_seconds" --seed "${GTU_FUZZ_SEED:-$RANDOM}" \
		--corpus /mnt/share/corpus && return
	echo "not ok - fuzzing"
	sed 's/^/# last program: /' "$work/share/last"
}

# planted_guest: a mapping of a buffer that is cut in two is counted once, which none of the valid programs does. The fuzzer
# has to find it, and its program to show it again.
planted_guest() {
	local kernel fuzz_seconds=${GTU_FUZZ_IOCTL:-300} folder output=$work/output

	kernel=$(fuzz_kernel)
	need_kernel "$kernel"
	folder=$root/build/module-planted-$kernel
	mkdir -p "$folder" && rm -f "$folder/driver/gtu_mmap.c" && cp -pR "$root"/{driver,include,Kbuild} "$folder/" &&
		sed -i '/^static void gtu_buffer_vma_open/,/^}/s/kref_get(&b->ref);//' "$folder/driver/gtu_mmap.c" &&
		! cmp -s "$folder/driver/gtu_mmap.c" "$root/driver/gtu_mmap.c" && fuzz_module "$kernel" "$folder" ||
		{ echo "not ok - the module with a mistake builds"; return; }
	rm -rf "$work/share" && mkdir -p "$work/share"
	fuzz_boot planted "$kernel" "$folder" --seconds "$fuzz_seconds" >"$output" 2>&1
	if ! grep -q 'the kernel complains over this' "$output"; then
		sed 's/^/# /' "$output"
		echo "not ok - the fuzzer finds a mapping that is cut in two and counted once"
		return
	fi
	echo "ok - the fuzzer finds a mapping that is cut in two and counted once"
	grep '^#' "$output"
	cp "$work/share/last" "$work/share/found"
	fuzz_boot planted "$kernel" "$folder" --replay /mnt/share/found >"$output" 2>&1
	if grep -q 'the kernel complains' "$output"; then
		echo "ok - its program shows it again"
	else
		sed 's/^/# /' "$output"
		echo "not ok - its program shows it again"
	fi
}

# vfio_guest: the device given to a program behind an IOMMU. A kernel that has VFIO built in.
vfio_guest() {
	mkdir -p "$work" && "$gtu" --quiet generate kronecker --scale 10 "$graph" >&2 || die "cannot make a graph"
	boot vfio debug-6.12 --iommu --mem 1G --limit 900 --test-limit 400 --file "$here/vfio:/usr/bin/vfio" \
		--test "vfio=vfio bringup" --test "rescan=vfio rescan"
}
