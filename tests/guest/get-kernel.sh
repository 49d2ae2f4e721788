#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes build/guest/kernel: vmlinuz, the modules that guests use (lib/modules), `release`, and `headers`, a
# link to what a module is built with. The kernel is the distribution's, of the release whose headers are
# installed (package linux-headers-amd64); its image is unpacked, not installed.
set -u
. "$(dirname "$0")/common.sh"

dir=$cache/kernel
limit=300
# the shared folder (9p over virtio) is all that a guest needs beyond what is built in
modules="fs/9p fs/netfs fs/fscache net/9p drivers/virtio"

# Newest release that has both headers and a package to be had for its image.
release=$(for d in /lib/modules/*/build; do
	[ -e "$d/Makefile" ] && basename "$(dirname "$d")"
done | sort -V | tail -1)
[ -n "$release" ] || die "no kernel headers are installed. As root: apt-get install linux-headers-amd64"
[ "$(cat "$dir/release" 2>/dev/null)" = "$release" ] && exit 0

rm -rf "$dir.new"
mkdir -p "$dir.new/deb" || exit 1
cd "$dir.new/deb" || exit 1
if [ -r "/boot/vmlinuz-$release" ] && [ -d "/lib/modules/$release/kernel" ]; then
	cp "/boot/vmlinuz-$release" ../vmlinuz
	from=/lib/modules/$release/kernel
else
	say "loading the image of kernel $release (about 70 MB)"
	timeout -k 5 $limit apt-get -qq -o APT::Sandbox::User="$(id -un)" download "linux-image-$release" </dev/null ||
		die "the image of kernel $release could not be loaded. Is the network there? If the archive has a" \
			"newer one by now, as root: apt-get update && apt-get install linux-headers-amd64"
	dpkg-deb --fsys-tarfile linux-image-*.deb |
		tar -x --wildcards "./boot/vmlinuz-*" $(printf ' */kernel/%s/*' $modules) || die "cannot unpack the kernel"
	cp boot/vmlinuz-* ../vmlinuz
	from=$(echo "$PWD"/{,usr/}lib/modules/"$release"/kernel | tr ' ' '\n' | while read -r d; do
		[ -d "$d" ] && echo "$d"
	done | head -1)
fi
to=../lib/modules/$release
mkdir -p "$to/kernel"
for m in $modules; do
	[ -d "$from/$m" ] && mkdir -p "$to/kernel/$(dirname "$m")" && cp -r "$from/$m" "$to/kernel/$m"
done
: >"$to/modules.order"
: >"$to/modules.builtin"
: >"$to/modules.builtin.modinfo"
/sbin/depmod -b "$dir.new" "$release" || die "depmod failed (package kmod)"
ln -s "/lib/modules/$release/build" ../headers
echo "$release" >../release
cd "$root" && rm -rf "$dir.new/deb" "$dir" && mv "$dir.new" "$dir"
