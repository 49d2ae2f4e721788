#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Boots a guest with the device attached over vfio-user or compiled into QEMU, runs tests in it, and prints TAP.
#
#   tests/guest/run.sh [options] [--module KO] [--file SOURCE[:DEST]] [--test NAME=COMMAND]...
#
#   --kernel NAME      one of tests/guest/build/kernel [distribution]; its module is build/module-NAME/gtu.ko. arm64: a
#                      machine with the device in its device tree; over vfio-user by edit-tree.sh and wire.c, without PCI
#   --gtu PROGRAM      the tool that serves the device [build/gtu]
#   --serve OPTION     an option for gtu serve; may be given more than once
#   --also OPTION      one more device, whose gtu serve has only this option; may be given more than once
#   --transport NAME   vfio-user: a gtu serve for each device; qemu: compiled into the QEMU of `make qemu`, or
#                      $GTU_QEMU, $GTU_QEMU_ARM64 [vfio-user]
#   --devices N        N devices in all; all but the first have no options
#   --no-device        no device for --serve
#   --limit S          time limit of the guest in seconds [1200]; --test-limit S: of each test [240]
#   --mem SIZE         the guest's memory [512M]; --cpus N [2]; --cpu MODEL of x86 [QEMU's default]
#   --ids VENDOR:DEVICE  PCI ids of the first device, in hexadecimal, as a board may have them; by QEMU, over vfio-user
#   --ports            devices are in hotplug slots: gtu0, gtu1, ... behind port0, port1, ...
#   --together         devices are functions of one slot, which has a bus of its own
#   --absent gtuN      this device's slot is empty at boot
#   --monitor          executes the tests' "@host ..." requests (tests/guest/monitor)
#   --word WORD        adds a word to the kernel's command line
#   --s3               the tests put the machine into S3. A kernel that QEMU boots unpacked (unpack_kernel) does not wake
#                      from it, and after it the machine cannot enter S5: it ends by a reboot
#   --iommu            adds an IOMMU and enables it
#   --power-resources  arm64: a clock, a reset line and a power domain for the device (edit-tree.sh)
#   --system FOLDER    boots a complete system instead of tests: vmlinuz, initrd.img and disk in FOLDER. Its second
#                      serial port has the output format of tests/guest/programs/init
#   --share FOLDER     is /mnt/share in the guest
#   --notes FILE       the file is the memory of a PCI function (1af4:1110, BAR 2, 1 MiB), which survives a crash of the
#                      guest
#   --shell            a shell on this terminal instead of tests, for a day at most. If standard input is not a terminal,
#                      runs its commands and exits with their status
#   --console          with --shell: the guest's console, also if standard input is not a terminal
#   --name NAME        the guest's folder under build/guest, with every log [run]
#
# A test passes if its command exits with 0 and the kernel's log has no complaint (tests/guest/programs/dmesg-check). If
# the command prints KTAP, each of its results counts. Exit status 1 if a test failed. The script ends every process
# that it started, even when a signal ends the script.
set -u
. "$(dirname "$0")/common.sh"

gtu=$root/build/gtu limit=1200 test_limit=240 mem=512M cpus=2 cpu= name=run kernel=distribution
devices=1 iommu= share= notes= shell= console= device=1 system= power_resources= ports= together= absent= monitor= word= s3= transport=vfio-user ids=
serve=() also=() initrd=()
while [ $# -gt 0 ]; do
	case $1 in
	--no-device) device= ; shift; continue ;;
	--iommu) iommu=1; shift; continue ;;
	--s3) s3=1 word+=" guest.end=reboot"; shift; continue ;;
	--power-resources) power_resources=--power-resources; shift; continue ;;
	--ports) ports=1; shift; continue ;;
	--together) together=1; shift; continue ;;
	--monitor) monitor=1; shift; continue ;;
	--shell) shell=1 limit=86400; shift; continue ;;
	--console) console=1; shift; continue ;;
	esac
	[ $# -ge 2 ] || die "run.sh: $1 needs a value"
	case $1 in
	--kernel) kernel=$2 ;;
	--devices) devices=$2 ;;
	--transport) transport=$2 ;;
	--ids) ids=$2 ;;
	--gtu) gtu=$2 ;;
	--serve) serve+=("$2") ;;
	--also) also+=("$2") ;;
	--limit) limit=$2 ;;
	--test-limit) test_limit=$2 ;;
	--mem) mem=$2 ;;
	--cpus) cpus=$2 ;;
	--cpu) cpu=$2 ;;
	--share) share=$2 ;;
	--notes) notes=$2 ;;
	--system) system=$2 ;;
	--name) name=$2 ;;
	--absent) absent=$2 ;;
	--word) word+=" $2" ;;
	--module | --file | --test) initrd+=("$1" "$2") ;;
	*) die "run.sh: no option $1" ;;
	esac
	shift 2
done

need_kernel_name "$kernel"
[[ $devices =~ ^([1-9]|1[0-6])$ ]] || die "run.sh: --devices '$devices' is not a number from 1 to 16"
for ((i = 1; i < devices; i++)); do
	also+=("")
done
dir=$cache/$name
mkdir -p "$dir" && rm -f "$dir"/*.log || exit 1
case $transport in
vfio-user)
	emulator=$cache/qemu/run
	[ "$kernel" = arm64 ] && emulator=$cache/qemu-arm64/run ;;
qemu)
	emulator=$(compiled_in $([ "$kernel" != arm64 ] || echo aarch64)) || exit 1
	[ ${#serve[@]} -eq 0 ] && [[ "${also[*]}$share$system" != *[![:space:]]* ]] ||
		die "run.sh: the compiled-in device has no gtu serve, no shared folder and no disk" ;;
*) die "run.sh: there is no transport '$transport': vfio-user, qemu" ;;
esac
[ -x "$emulator" ] && [ -e "${system:-$cache/kernel-$kernel}/vmlinuz" ] ||
	die "no QEMU or no kernel yet: make guest-tools KERNEL=$kernel"
# the socket's path must be short and unique
scratch=$(mktemp -d /tmp/gtu-guest-XXXXXX) || exit 1
serve_pid= also_pids=() qemu_pid=
clean_up() {
	local pid

	# timeout passes the signal on to its command; -k kills a command that ignores it
	for pid in $qemu_pid $serve_pid "${also_pids[@]}"; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

if [ -n "$shell" ] && ! [ -t 0 ] && [ -z "$console" ]; then
	# a serial line loses input that arrives before the guest reads it
	cat >"$dir/commands"
	initrd+=(--file "$dir/commands:/commands")
	shell=commands
elif [ -n "$shell" ]; then
	cat >"$dir/motd" <<-END
		A guest with the graph traversal unit: /dev/gtu0, the driver (modprobe gtu), the tool gtu,
		the driver's tests in /tests, lspci, ${share:+$share as }/mnt/share. Leave with exit, or Ctrl-A X.
	END
	initrd+=(--file "$dir/motd:/etc/motd")
fi
# unpack_kernel: makes kernel-NAME/vmlinux of a kernel that QEMU can boot uncompressed (CONFIG_PVH): emulated processors
# take longer to unpack the kernel than to boot it. Exit status 1 if QEMU must boot vmlinuz.
unpack_kernel() {
	local packed=$cache/kernel-$kernel/vmlinuz to=$cache/kernel-$kernel/vmlinux setup offset length unpack

	[ -z "$s3" ] && grep -qsx CONFIG_PVH=y "$cache/kernel-$kernel/headers/.config" || return 1
	[ "$to" -nt "$packed" ] && return 0
	# the fields setup_sects, payload_offset and payload_length of Documentation/x86/boot.rst
	setup=$(od -An -tu1 -j$((0x1f1)) -N1 "$packed")
	read -r offset length < <(od -An -tu4 -j$((0x248)) -N8 "$packed")
	offset=$((offset + 512 * (setup + 1)))
	case $(od -An -tx4 -j$offset -N4 "$packed") in
	*587a37fd) unpack=xz ;;
	*fd2fb528) unpack=zstd ;;
	*) return 1 ;;
	esac
	# behind the payload are 4 bytes with its unpacked length
	tail -c +$((offset + 1)) "$packed" | head -c $((length - 4)) | $unpack -dcq >"$dir/vmlinux" && mv "$dir/vmlinux" "$to"
}

from=$cache/kernel-$kernel/vmlinuz ram=$dir/initrd
if [ -n "$system" ]; then
	from=$system/vmlinuz ram=$system/initrd.img
else
	! unpack_kernel || from=${from%z}x
	timed "initial RAM disk" "$here/build/make-initrd.sh" "$ram" --kernel "$kernel" "${initrd[@]}" || exit 1
fi

qemu=(-accel tcg -smp "$cpus" -m "$mem"
	-object "memory-backend-memfd,id=ram,size=$mem,share=on" -nodefaults -no-reboot -display none)
if [ "$kernel" = arm64 ]; then
	[ -z "$iommu$share$system" ] && [ "$devices" = 1 ] && [ ${#also[@]} -eq 0 ] ||
		die "run.sh: the arm64 guest has one device, no IOMMU and no shared folder"
	qemu+=(-machine virt,gic-version=2,memory-backend=ram -cpu cortex-a72)
	[ "$transport" = qemu ] || {
		"$here/edit-tree.sh" $power_resources "$dir/guest.dtb" "$gtu" "$emulator" "${qemu[@]}" || exit 1
		qemu+=(-dtb "$dir/guest.dtb")
	}
	words="console=ttyAMA0 panic=-1 guest.limit=$test_limit"
else
	qemu+=(-machine q35,memory-backend=ram ${cpu:+-cpu "$cpu"})
	# mitigations protect nothing here, and take an emulated processor's time
	# no_timer_check: an emulated timer can be too late for the kernel's timer check, which then panics
	# a busy host stops a guest's processors for longer than the usual 21 s
	words="console=ttyS0 mitigations=off tsc=reliable panic=-1 no_timer_check rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60 guest.limit=$test_limit"
fi
words+=$word
# kernels built with kmemleak (kernel/debug.config): the test fails if kmemleak's file is missing
[[ $kernel != debug* ]] || words+=" guest.kmemleak=1"
qemu+=(-kernel "$from" -initrd "$ram")
second=(-serial chardev:out)
# the arm64 machine has a second serial port since QEMU 9.1
[ "$kernel$transport" != arm64qemu ] || { second=(-device pci-serial,chardev=out) && words+=" guest.out=ttyS0"; }
[ -n "$system" ] && words+=" root=/dev/vda rw" && qemu+=(-drive "file=$system/disk,format=raw,if=virtio")
[ -n "$iommu" ] && qemu+=(-device intel-iommu,caching-mode=on) && words+=" intel_iommu=on iommu.strict=1"
[ -n "$share" ] && words+=" guest.share=1" &&
	qemu+=(-virtfs "local,path=$share,mount_tag=share,security_model=none")
[ -n "$notes" ] && qemu+=(-object "memory-backend-file,id=notes,mem-path=$notes,size=1M,share=on"
	-device ivshmem-plain,memdev=notes)
# start_server NAME OPTIONS: starts a gtu serve; sets started_pid to its process and json to its QEMU device
start_server() {
	# the milliseconds that QEMU waits: a read comes after all writes before it, a quarter of a million, if the driver clears
	# aperture memory; a server that is to die does not answer at all
	local socket=$scratch/$1 log=$dir/$1.log timeout=60000
	shift
	[[ $* != *die-at* ]] || timeout=5000

	# --foreground: otherwise timeout also sends SIGCONT, which can hang the leak sanitizer at exit
	timeout --foreground -k 5 $((limit + 10)) "$gtu" serve --socket "$socket" "$@" >"$log" 2>&1 &
	started_pid=$!
	for _ in {1..200}; do
		[ -S "$socket" ] && break
		kill -0 "$started_pid" 2>/dev/null || break
		sleep 0.05
	done
	[ -S "$socket" ] || die "gtu serve does not listen: $(cat "$log")"
	json='{"driver":"vfio-user-pci","x-msg-timeout":'$timeout',"socket":{"type":"unix","path":"'"$socket"'"}}'
}
# attach NAME OPTIONS: adds a device
attach() {
	local json='{"driver":"gtu-pci"}'

	[ "$kernel" != arm64 ] || json='{"driver":"gtu-platform"}'
	started_pid=
	[ "$transport" = qemu ] || start_server "$@"
	if [ -n "$ids" ] && [ $attached -eq 0 ]; then
		json="{\"x-pci-vendor-id\":$((16#${ids%:*})),\"x-pci-device-id\":$((16#${ids#*:})),${json#\{}"
	fi
	if [ -n "$ports" ]; then
		qemu+=(-device "pcie-root-port,id=port$attached,chassis=$((attached + 1)),slot=$((attached + 1))")
		json="{\"id\":\"gtu$attached\",\"bus\":\"port$attached\",${json#\{}"
		echo "$json" >"$scratch/gtu$attached.json"
	fi
	[ -z "$together" ] || json="{\"bus\":\"port0\",\"addr\":\"0.$attached\",\"multifunction\":true,${json#\{}"
	[ -n "$absent" ] && [ "gtu$attached" = "$absent" ] || qemu+=(-device "$json")
	attached=$((attached + 1))
}
attached=0
# native PCIe hotplug instead of ACPI hotplug
[ -n "$ports" ] && qemu+=(-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off)
[ -n "$together" ] && qemu+=(-device pcie-root-port,id=port0,chassis=1,slot=1)
[ -n "$monitor" ] && qemu+=(-chardev "pipe,id=qmp,path=$scratch/qmp" -mon chardev=qmp,mode=control)

[ -x "$gtu" ] || die "$gtu is not built"
if [ -n "$device" ]; then
	attach serve "${serve[@]}"
	serve_pid=$started_pid
fi
for option in "${also[@]}"; do
	# shellcheck disable=SC2086 # an option and its value
	attach "also-${#also_pids[@]}" $option
	[ -z "$started_pid" ] || also_pids+=("$started_pid")
done

if [ "$shell" = commands ]; then
	"$emulator" "${qemu[@]}" -append "$words loglevel=8 guest.shell=1" -serial "file:$dir/console.log" \
		-chardev stdio,id=out,signal=off "${second[@]}" 2>"$dir/qemu.log" </dev/null |
		sed -u 's/\r//g' | awk '/^@exit [0-9]+$/ { rc = $2; ended = 1; next } { print; fflush() } END { exit ended ? rc : 125 }'
	rc=$?
	[ $rc -ne 125 ] || { tail -n 15 "$dir"/{console,qemu,serve}.log >&2; die "the guest ended before its commands did: build/guest/$name has its logs"; }
	exit $rc
elif [ -n "$shell" ]; then
	"$emulator" "${qemu[@]}" -append "$words loglevel=4 guest.shell=1" -serial mon:stdio
	exit
fi

start=$EPOCHREALTIME
mkfifo "$scratch/results"
through=(sed -u 's/\r//g')
[ -n "$monitor" ] && mkfifo "$scratch"/qmp.{in,out} && through=("$here/monitor" "$scratch")
timeout -k 5 "$limit" "$emulator" "${qemu[@]}" -append "$words loglevel=8" \
	-serial "file:$dir/console.log" -chardev stdio,id=out,signal=off "${second[@]}" \
	>"$scratch/results" 2>"$dir/qemu.log" </dev/null &
qemu_pid=$!
# run in the background: bash handles a signal only in wait
"${through[@]}" <"$scratch/results" | tee "$dir/results.log" | awk -f "$here/flatten.awk" &
wait $! 2>/dev/null
results=$?
wait "$qemu_pid" 2>/dev/null
qemu_rc=$?
qemu_pid=
# stop NAME PID OPTIONS: ends a server and checks its exit status; a server with --fault die-at must have been killed
bad_servers=
stop() {
	local name=$1 pid=$2 rc want
	shift 2
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	rc=$?
	[[ "$*" == *die-at* ]] && want=137 || want=0
	[ $rc -eq $want ] || bad_servers+=", $name: $rc"
}
[ -n "$serve_pid" ] && stop serve "$serve_pid" "${serve[@]}"
for i in "${!also_pids[@]}"; do
	stop "also-$i" "${also_pids[i]}" "${also[i]}"
done
serve_pid= also_pids=()
times >"$scratch/times"
say "boot to power-off: $(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }')," \
	"processor time (user, system): $(tail -1 "$scratch/times")"
if [ $results -ne 0 ] || [ $qemu_rc -ne 0 ] || [ -n "$bad_servers" ]; then
	echo "# exit status of QEMU: $qemu_rc$bad_servers; logs are in build/guest/$name"
	for log in "$dir"/{qemu,serve,also-*}.log; do
		[ -e "$log" ] && grep -v 'not enable error recovery' "$log" | tail -20 | sed "s/^/# $(basename "$log" .log): /"
	done
	tail -30 "$dir/console.log" | tr -d '\r' | sed 's/^/# console: /'
	exit 1
fi
