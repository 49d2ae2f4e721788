#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes a kernel for guests, build/guest/kernel-NAME: vmlinuz, the modules that guests use (lib/modules), its
# `release`, and the `headers` that modules are built with.
#
#   tests/guest/build/get-kernel.sh [NAME]...     the kernels of tests/guest/build/kernel/*.sh [distribution]
#   tests/guest/build/get-kernel.sh --check NAME  makes nothing; exit status 1 if it is missing
#   tests/guest/build/get-kernel.sh --list        their names
#
# A complete, current kernel is kept. A new one gets its name when it is complete.
set -u
. "$(dirname "$0")/../common.sh"
. "$here/build/apt.sh"

# besides built-in drivers, a guest needs the shared folder (9p over virtio), and VFIO with what its modules depend on.
# Increment the number in the keys (tests/guest/build/kernel) with every change.
modules="fs/9p fs/netfs fs/fscache net/9p drivers/virtio drivers/vfio drivers/iommu/iommufd virt/lib"

# add_modules FOLDER RELEASE: copies those modules from a kernel's lib/modules/RELEASE/kernel
add_modules() {
	local to=lib/modules/$2 m

	mkdir -p "$to/kernel"
	for m in $modules; do
		[ -d "$1/$m" ] && mkdir -p "$to/kernel/$(dirname "$m")" && cp -r "$1/$m" "$to/kernel/$m"
	done
	# unpack: the guest's modprobe passes a compressed module to the kernel first, which logs an error
	find "$to" -name '*.ko.xz' -exec unxz {} +
	: >"$to/modules.order"
	: >"$to/modules.builtin"
	: >"$to/modules.builtin.modinfo"
	[ -x /sbin/depmod ] || unavailable "depmod is missing. As root: apt-get install kmod"
	/sbin/depmod -b "$PWD" "$2" || die "depmod failed"
}

# unpack_image PACKAGE RELEASE: extracts vmlinuz and the modules from a package
unpack_image() {
	local from

	mkdir -p image
	# tar fails if the release lacks one of these folders
	dpkg-deb --fsys-tarfile "$1" |
		tar -x -C image --wildcards "./boot/vmlinuz-*" $(printf ' */kernel/%s/*' $modules) 2>/dev/null
	cp image/boot/vmlinuz-* vmlinuz || die "cannot unpack $1"
	for from in image/{,usr/}lib/modules/"$2"/kernel; do
		[ -d "$from/net/9p" ] && add_modules "$from" "$2"
	done
	[ -d lib ] || die "$1 has no modules for the shared folder"
	rm -rf image "$1"
}

# checksums of the files that must not change, relative to a kernel's folder
sums() { find vmlinuz release lib headers/Module.symvers headers/Makefile -type f -print0 | sort -z | xargs -0 sha256sum; }

# complete FOLDER KEY
complete() {
	[ "$(cat "$1/made-from" 2>/dev/null)" = "$2" ] && (cd "$1" && sums 2>/dev/null | cmp -s - sums)
}

# get NAME: in a shell of its own, since each kernel's script defines the same names
get() (
	dir=$cache/kernel-$1
	. "$here/build/kernel/$1.sh"
	wanted=$(key) || exit
	complete "$dir" "$wanted" && exit 0
	[ -n "$check" ] && exit 1
	# concurrent builds of one tree would corrupt it
	exec 9>"$dir.lock" && flock 9
	complete "$dir" "$wanted" && exit 0
	mkdir -p "$dir.new" && cd "$dir.new" || exit 1
	[ -e unpacked ] || rm -rf -- *
	make_kernel 9>&- || exit
	sums >sums && echo "$wanted" >made-from || exit 1
	cd "$root" && rm -rf "$dir" && mv "$dir.new" "$dir"
)

check=
while [[ ${1:-} == --* ]]; do
	case $1 in
	--list) kernel_names; exit ;;
	--check) check=1 ;;
	*) die "get-kernel.sh: no option $1" ;;
	esac
	shift
done
[ $# -gt 0 ] || set -- distribution
for name; do
	need_kernel_name "$name"
done
for name; do
	get "$name" || exit
done
