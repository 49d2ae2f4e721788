#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds gtu.ko against a kernel's headers in build/module, from copies, so that the source tree stays clean.
#
#   tests/guest/build-module.sh [HEADERS [FOLDER]] [MAKE ARGUMENTS]     build/guest/kernel/headers build/module
set -u
. "$(dirname "$0")/common.sh"

headers=${1:-$cache/kernel/headers}
to=${2:-$root/build/module}
shift $(($# < 2 ? $# : 2))
[ -e "$headers/Makefile" ] || die "no kernel headers at $headers. As root: apt-get install linux-headers-amd64"
[ -e "$root/Kbuild" ] || die "no Kbuild at the top of the source: nothing to build"
mkdir -p "$to" && cd "$root" || exit 1

# what is no longer in the source must not be found in the copy
for folder in driver include; do
	[ -d "$to/$folder" ] || continue
	(cd "$to/$folder" && find . -type f \( -name '*.[chS]' -o -name 'Kbuild' -o -name 'Kconfig' -o -name 'Makefile' \) \
		! -name '*.mod.c') | while read -r f; do
		[ -e "$folder/$f" ] || rm -f "$to/$folder/$f"
	done
done
# same file, same time: what has not changed is not built again
cp -pRu driver include Kbuild "$to/" || exit 1
timeout -k 5 600 make -C "$headers" M="$to" "$@" modules >&2 || die "the module does not build"
