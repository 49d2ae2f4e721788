#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes build/guest/cross-arm64: the headers and libraries that arm64 programs need in addition to the cross compiler's
# C library, and a busybox. Unpacks packages from the machine's Debian mirror without installing them. Needs no root.
#
#   tests/guest/build/get-cross.sh             a complete, current copy is kept
#   tests/guest/build/get-cross.sh --check     makes nothing; exit status 1 if it is missing
set -u
. "$(dirname "$0")/../common.sh"
. "$here/build/apt.sh"

dir=$cache/cross-arm64 suite=$debian
packages="busybox-static libfdt-dev libfdt1 libzstd-dev libzstd1 liblzma-dev liblzma5 zlib1g-dev zlib1g libexpat1-dev libexpat1
libpciaccess-dev libpciaccess0"
# increment the number with every change of the result
wanted="$(echo $packages) of $suite 2"

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
# put all libraries into one folder: Debian's development links point to the other one
mkdir lib && cp -r tree/usr/include . && cp -r include/aarch64-linux-gnu/* include/ || exit 1
# since Debian 13 everything is below usr
cp tree/{,usr/}bin/busybox . 2>/dev/null
cp -a tree/{,usr/}lib/aarch64-linux-gnu/*.so* lib/ 2>/dev/null
# on Debian 12 some links are absolute: checking what they point to needs this first
find lib -type l -lname '/*' | while read -r link; do
	ln -sfn "$(basename "$(readlink "$link")")" "$link"
done
for file in busybox lib/lib{fdt,zstd,lzma,z,expat,pciaccess}.so; do
	[ -e "$file" ] || die "the arm64 packages of $suite ($packages) do not contain ${file##*/} where it was expected"
done
rm -rf ./*.deb apt tree
echo "$wanted" >made-from
cd "$root" && rm -rf "$dir" && mv "$dir.new" "$dir"
