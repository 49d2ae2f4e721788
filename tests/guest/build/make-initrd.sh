#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes a guest's initial RAM disk.
#
#   tests/guest/build/make-initrd.sh OUT [--kernel NAME] [--module KO] [--file SOURCE[:DEST]] [--test NAME=COMMAND]...
#
# --kernel   the kernel whose modules to include [distribution]
# --module   a kernel module for modprobe, which is loaded at this point among the tests, as a test, and unloaded after
#            the last one
# --file     a file or folder; DEST is absolute [/usr/bin/NAME]. A program's libraries are included
# --test     a command that init runs; NAME has no blanks
set -u
. "$(dirname "$0")/../common.sh"

[ $# -ge 1 ] || die "usage: make-initrd.sh OUT [--kernel NAME] [--module KO] [--file SOURCE[:DEST]] [--test NAME=COMMAND]..."
out=$1
shift
# an empty command would succeed
last=
for word; do
	[ "$last" != --test ] || [[ $word =~ ^[^\ =]+=.*[^[:space:]] ]] || die "--test '$word' is not NAME=COMMAND, with a name without blanks"
	last=$word
done
tree=$(mktemp -d "$cache/initrd-XXXXXX") || exit 1
trap 'rm -rf "$tree"' EXIT

# needs PROGRAM: prints its libraries, each as a path of this machine and a path in the guest
needs() {
	local name at

	if [ "$kernel" != arm64 ]; then
		ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | sed 's/.*/& &/'
		return
	fi
	# the program lists its libraries' dependencies too, except the loader
	{ "${cross}readelf" -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; echo ld-linux-aarch64.so.1; } |
		while read -r name; do
			for at in "$cache/cross-arm64/lib" /usr/aarch64-linux-gnu/lib /lib/aarch64-linux-gnu; do
				[ -e "$at/$name" ] && echo "$at/$name /lib/$name" && break
			done
		done
}

# put SOURCE DEST: copies a file, and its libraries to the paths where it looks for them
put() {
	local lib

	[ -e "$1" ] || die "$1 does not exist"
	mkdir -p "$tree$(dirname "$2")"
	cp -rL "$1" "$tree$2" || die "cannot copy $1"
	[ -f "$1" ] || return 0
	needs "$1" | while read -r lib there; do
		[ -e "$tree$there" ] && continue
		mkdir -p "$tree$(dirname "$there")"
		cp -L "$lib" "$tree$there" || die "cannot copy $lib"
	done
}

kernel=distribution
[ "${1:-}" = --kernel ] && kernel=${2:-} && shift 2
need_kernel_name "$kernel"
if [ "$kernel" = arm64 ]; then
	busybox=$cache/cross-arm64/busybox
	[ -x "$busybox" ] || die "no programs for arm64 yet: make arm64"
else
	busybox=$(command -v busybox) && ! ldd "$busybox" >/dev/null 2>&1 ||
		die "a static busybox is needed. As root: apt-get install busybox-static"
fi
mkdir -p "$tree"/{bin,etc}
# this becomes the guest's root folder: users other than root must be able to enter it
chmod 755 "$tree"
cp "$busybox" "$tree/bin/busybox"
cp "$here/programs/init" "$tree/init"
grep -v "^#" "$here/programs/dmesg-check" >"$tree/dmesg-check" && [ -s "$tree/dmesg-check" ] || die "no patterns in dmesg-check"
printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$tree/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$tree/etc/group"
: >"$tree/test-list"
unload=
# busybox looks for modules in /lib/modules; the rest of /lib has libraries
mkdir -p "$tree/lib" && cp -r "$cache/kernel-$kernel/lib/modules" "$tree/lib/" || exit 1
release=$(cat "$cache/kernel-$kernel/release") || exit 1
updates=$tree/lib/modules/$release/updates
mkdir -p "$updates"

while [ $# -gt 0 ]; do
	[ $# -ge 2 ] || die "$1 needs a value"
	case $1 in
	--module)
		cp "$2" "$updates/" || die "no module $2"
		module=$(basename "$2" .ko)
		printf 'load-%s\tmodprobe %s\n' "$module" "$module" >>"$tree/test-list"
		unload=$(printf 'unload-%s\trmmod %s && ! grep -w %s /proc/devices\n%s' "$module" "$module" "$module" "$unload") ;;
	--file)
		case $2 in
		*:*) put "${2%%:*}" "${2#*:}" ;;
		*) put "$2" "/usr/bin/$(basename "$2")" ;;
		esac ;;
	--test) printf '%s\t%s\n' "${2%%=*}" "${2#*=}" >>"$tree/test-list" ;;
	*) die "make-initrd.sh: no option $1" ;;
	esac
	shift 2
done
[ -z "$unload" ] || printf '%s\n' "$unload" >>"$tree/test-list"
# strip removes two thirds of the bytes, and reports an error for scripts
"$([ "$kernel" != arm64 ] || echo $cross)strip" -g "$updates"/*.ko "$tree"/{usr/bin,tests}/* 2>/dev/null
# a kernel without modules has no such lists, which depmod wants
touch "$tree/lib/modules/$release"/modules.{order,builtin,builtin.modinfo}
/sbin/depmod -b "$tree" "$release" || die "depmod failed"
# not compressed: emulated processors would take longer to unpack it
(cd "$tree" && find . -print0 | LC_ALL=C sort -z | cpio -o -0 -H newc -R 0:0 --quiet) >"$out.new" &&
	mv "$out.new" "$out"
