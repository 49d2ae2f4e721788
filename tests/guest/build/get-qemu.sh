#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes build/guest/qemu/run: a QEMU for x86 that can attach to a device over vfio-user (10.1 or later). With the
# argument arm64, build/guest/qemu-arm64/run. Uses the machine's QEMU if it is suitable, else that of a newer Debian:
# apt downloads it with a private state, and it is unpacked without being installed. Needs no root.
set -u
. "$(dirname "$0")/../common.sh"
. "$here/build/apt.sh"

dir=$cache/qemu program=qemu-system-x86_64 wanted="qemu-system-x86 seabios" machine=q35
case ${1:-x86} in
x86) ;;
arm64) dir=$cache/qemu-arm64 program=qemu-system-aarch64 wanted=qemu-system-arm machine=virt ;;
*) die "get-qemu.sh: no machine $1: x86 or arm64" ;;
esac
suites="trixie:trixie-backports stable:stable-backports testing:testing"

# query only this device: a query for all devices would load modules, even of another installed build
can_attach() {
	"$@" -machine $machine -device vfio-user-pci,help 2>/dev/null </dev/null | grep -q 'socket='
}

write_run() {
	printf '#!/bin/sh\n# made by tests/guest/build/get-qemu.sh\n%s\n' "$1" >"$dir/run.new" &&
		chmod +x "$dir/run.new" && mv "$dir/run.new" "$dir/run"
}

# unpack_from MIRROR BASE:NEWER: downloads the packages and their dependencies, and unpacks them into $dir/tree
unpack_from() {
	local mirror=$1 base=${2%:*} newer=${2#*:} state=$dir/apt-${2#*:} deb

	rm -rf "$dir/tree.new"
	# without installed packages, apt downloads every dependency
	mkdir -p "$dir/tree.new" && new_state "$state" "$mirror" "$base" "$newer" &&
		private_apt "$state" apt-get install -y --no-install-recommends --download-only -t "$newer" $wanted \
			>/dev/null || return 1
	for deb in "$state"/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$dir/tree.new" || return 1
	done
	rm -rf "$dir/tree" && mv "$dir/tree.new" "$dir/tree" && rm -rf "$state"
}

if [ -x "$dir/run" ] && can_attach "$dir/run"; then
	exit 0
fi
mkdir -p "$dir" || exit 1
if command -v $program >/dev/null && can_attach $program; then
	say "this machine's own QEMU can attach to the device"
	write_run "exec $program"' "$@"'
	exit
fi

# A newer release's programs run here through their own dynamic loader, with their own libraries.
loader='here=$(cd "$(dirname "$0")" && pwd)/tree
lib=$here/usr/lib/x86_64-linux-gnu
QEMU_MODULE_DIR=$lib/qemu exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" \
	"$here/usr/bin/PROGRAM" -L "$here/usr/share/qemu" -L "$here/usr/share/seabios" "$@"'
loader=${loader/PROGRAM/$program}
advice="Install QEMU 10.1 or later ($program in PATH) and run again"
[ "$(uname -m)" = x86_64 ] || unavailable "no QEMU 10.1 here, and none can be unpacked on $(uname -m). $advice"
mirror=$(need_mirror) || unavailable "the machine's apt sources name no Debian mirror ('apt-get update' run?). $advice"
for pair in $suites; do
	say "unpacking QEMU from ${pair#*:} (about 40 MB to load) into build/guest/${dir##*/}"
	if unpack_from "$mirror" "$pair" && write_run "$loader" && can_attach "$dir/run"; then
		exit 0
	fi
	rm -rf "$dir/run" "$dir/tree" "$dir/tree.new"
	say "${pair#*:} did not give a QEMU that can attach to the device"
done
unavailable "no QEMU could be loaded. Is the network there ('apt-get update')? $advice"
