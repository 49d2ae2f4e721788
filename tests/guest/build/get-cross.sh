#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes build/guest/cross-arm64: what user space for arm64 is built with (include, lib) and runs with (lib, busybox)
# beside the cross compiler's own C library; unpacked (not installed) from the mirror that the machine's apt sources name. Needs no root.
#
#   tests/guest/build/get-cross.sh             what is there, whole and made from the same is kept
#   tests/guest/build/get-cross.sh --check     nothing is made; exit status 1 when it is not there
set -u
. "$(dirname "$0")/../common.sh"
. "$here/build/apt.sh"

dir=$cache/cross-arm64 suite=$debian
packages="busybox-static libfdt-dev libfdt1 libzstd-dev libzstd1 liblzma-dev liblzma5 zlib1g-dev zlib1g libexpat1-dev libexpat1"
# the number goes up with every change that makes another
wanted="$packages of $suite 1"

[ "$(cat "$dir/made-from" 2>/dev/null)" = "$wanted" ] && exit 0
[ "${1:-}" = --check ] && exit 1
exec 9>"$dir.lock" && flock 9
[ "$(cat "$dir/made-from" 2>/dev/null)" = "$wanted" ] && exit 0
mirror=$(need_mirror) || unavailable "the machine's apt sources name no Debian mirror ('apt-get update' run?)"
say "loading libraries for arm64 (about 3 MB, and an index of 10)"
rm -rf "$dir.new"
mkdir -p "$dir.new" && cd "$dir.new" || exit 1
apt_architecture=arm64
new_state "$PWD/apt" "$mirror" $suite || unavailable "the index of $suite for arm64 could not be loaded. Is the network there?"
private_apt "$PWD/apt" apt-get download $packages >&2 || unavailable "the libraries could not be loaded"
for deb in *.deb; do
	dpkg-deb -x "$deb" tree || die "cannot unpack $deb"
done
# one folder a kind: names for the linker lead to where Debian has a library, in the other of two folders
mkdir lib && cp -r tree/usr/include . && cp -r include/aarch64-linux-gnu/* include/ || exit 1
# releases since 13 have everything below usr
cp tree/{,usr/}bin/busybox . 2>/dev/null
cp -a tree/{,usr/}lib/aarch64-linux-gnu/*.so* lib/ 2>/dev/null
[ -e busybox ] && [ -e lib/libfdt.so ] && [ -e lib/libexpat.so ] || die "the packages of $suite have no busybox or no libraries where they were"
find lib -type l -lname '/*' | while read -r link; do
	ln -sfn "$(basename "$(readlink "$link")")" "$link"
done
rm -rf ./*.deb apt tree
echo "$wanted" >made-from
cd "$root" && rm -rf "$dir" && mv "$dir.new" "$dir"
