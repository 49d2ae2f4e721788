# SPDX-License-Identifier: MIT
#
# For the scripts of this folder: source it. Everything they make lies under build/guest; messages go to
# stderr, since standard output is for test results.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/tests/guest
cache=$root/build/guest
mkdir -p "$cache" || exit 1

say() { echo "guest: $*" >&2; }
die() { say "$*"; exit 1; }
# unavailable MESSAGE...: ends with 77, because a tool, a package, root or the network is missing. It makes skips of the
# tests that need what was to be prepared; any other exit status is a failure of the preparation.
unavailable() { say "$*"; exit 77; }

# timed WHAT COMMAND...: run it and say how long it took
timed() {
	local what=$1 start=$EPOCHREALTIME rc
	shift
	"$@"
	rc=$?
	say "$what: $(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }')"
	return $rc
}

# The kernels that guests can have, a line each.
kernel_names() { (cd "$here/build/kernel" && printf '%s\n' *.sh | sed 's/\.sh$//'); }

# need_kernel_name NAME: one of them, or the end
need_kernel_name() {
	kernel_names | grep -qxF -- "$1" || die "there is no kernel '$1': KERNEL is one of" $(kernel_names)
}

# module_folder NAME: where gtu.ko for that kernel is built
module_folder() { echo "$root/build/module$([ "$1" = distribution ] || echo "-$1")"; }

# What make is told to build a module for that kernel on this machine.
cross=aarch64-linux-gnu-
kernel_arguments() {
	[ "$1" = arm64 ] || return 0
	echo ARCH=arm64
	[ "$(uname -m)" = aarch64 ] || echo CROSS_COMPILE=$cross
}

# compiled_in [x86_64 | aarch64]: the QEMU that has the device compiled in: $GTU_QEMU or $GTU_QEMU_ARM64, which may be of any
# version, else what `make qemu` builds here of this machine's own release.
compiled_in() {
	local target=${1:-x86_64} dir variable=GTU_QEMU

	[ "$target" = x86_64 ] || variable=GTU_QEMU_ARM64
	[ -n "${!variable:-}" ] && realpath -e "${!variable}" && return
	dir=$("$root/firmware-model/transport/qemu/build-qemu" --targets "$target-softmmu" --name) && [ -x "$dir/run" ] || return 1
	echo "$dir/run"
}

# The Debian release whose kernels and libraries guests take: this machine's, so that its compiler builds modules for them.
debian=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-bookworm}")
