# SPDX-License-Identifier: MIT
#
# Functions for the scripts of this folder, which source it. Results are under build/guest. Messages go to standard error,
# because standard output is for test results.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/tests/guest
cache=$root/build/guest
mkdir -p "$cache" || exit 1

say() { echo "guest: $*" >&2; }
die() { say "$*"; exit 1; }
# unavailable MESSAGE...: exits with status 77, because a tool, a package, root or the network is missing. Tests that
# depend on the preparation are then skipped; any other exit status is a failure of the preparation.
unavailable() { say "$*"; exit 77; }

# timed WHAT COMMAND...: runs a command and reports its duration
timed() {
	local what=$1 start=$EPOCHREALTIME rc
	shift
	"$@"
	rc=$?
	say "$what: $(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }')"
	return $rc
}

# Prints the names of the kernels for guests, one per line.
kernel_names() { (cd "$here/build/kernel" && printf '%s\n' *.sh | sed 's/\.sh$//'); }

# need_kernel_name NAME: exits unless NAME is one of these
need_kernel_name() {
	kernel_names | grep -qxF -- "$1" || die "there is no kernel '$1': KERNEL is one of" $(kernel_names)
}

# module_folder NAME: prints the folder where gtu.ko for that kernel is built
module_folder() { echo "$root/build/module$([ "$1" = distribution ] || echo "-$1")"; }

# kernel_arguments NAME: prints the arguments of make for a module of that kernel on this machine.
cross=aarch64-linux-gnu-
kernel_arguments() {
	[ "$1" = arm64 ] || return 0
	echo ARCH=arm64
	[ "$(uname -m)" = aarch64 ] || echo CROSS_COMPILE=$cross
}

# compiled_in [x86_64 | aarch64]: prints the path of the QEMU with the device compiled in: $GTU_QEMU or $GTU_QEMU_ARM64
# (any version), else the one that `make qemu` builds from this machine's release.
compiled_in() {
	local target=${1:-x86_64} dir variable=GTU_QEMU

	[ "$target" = x86_64 ] || variable=GTU_QEMU_ARM64
	[ -n "${!variable:-}" ] && realpath -e "${!variable}" && return
	dir=$("$root/firmware-model/transport/qemu/build-qemu" --targets "$target-softmmu" --name) && [ -x "$dir/run" ] || return 1
	echo "$dir/run"
}

# The Debian release of the guests' kernels and libraries: this machine's, so that its compiler can build modules.
debian=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-bookworm}")
