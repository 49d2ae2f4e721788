#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds gtu.ko against a kernel's headers, in a copy of the sources, so that the source tree stays clean.
#
#   tests/guest/build/build-module.sh [HEADERS [FOLDER]] [MAKE ARGUMENTS]     the distribution's kernel; build/module
#   tests/guest/build/build-module.sh --kernel NAME [MAKE ARGUMENTS]          build/module-NAME (see get-kernel.sh)
#   tests/guest/build/build-module.sh --kernel NAME --of FOLDER [MAKE ARGUMENTS]   the module of that folder's Kbuild
#                                                                       instead of gtu.ko; build/module-NAME-FOLDER
set -u
arguments=() from=(driver include Kbuild)
. "$(dirname "$0")/../common.sh"

if [ "${1:-}" = --kernel ]; then
	[ $# -ge 2 ] || die "--kernel needs a value: one of" $(kernel_names)
	need_kernel_name "$2"
	headers=$cache/kernel-$2/headers to=$(module_folder "$2")
	arguments=($(kernel_arguments "$2"))
	[ -e "$headers/Makefile" ] || die "no headers of kernel $2 yet: make guest-tools KERNEL=$2"
	if [ "${3:-}" = --of ]; then
		[ -e "${4:-}/Kbuild" ] || die "--of needs a folder with a Kbuild"
		from=(include "$4"/*) to+=-$(basename "$4")
		shift 2
	fi
else
	headers=${1:-$cache/kernel-distribution/headers} to=${2:-$(module_folder distribution)}
	[ -e "$headers/Makefile" ] || die "no kernel headers at $headers: make guest-tools"
fi
shift $(($# < 2 ? $# : 2))
[ -e "$root/Kbuild" ] || die "no Kbuild at the top of the source: nothing to build"
mkdir -p "$to" && cd "$root" || exit 1
# concurrent builds in one folder would corrupt it
exec 9>"$to.lock" && flock 9 || exit 1

# files that were removed from the source must not stay in the copy
for folder in driver include; do
	[ -d "$to/$folder" ] || continue
	(cd "$to/$folder" && find . -type f \( -name '*.[chS]' -o -name 'Kbuild' -o -name 'Kconfig' -o -name 'Makefile' \) \
		! -name '*.mod.c') | while read -r f; do
		[ -e "$folder/$f" ] || rm -f "$to/$folder/$f"
	done
done
# copy only files with another content, so that the others are not rebuilt; times say nothing after a change of branches
for source in "${from[@]}"; do
	find "$source" -type f -printf '%p %P\n' | while read -r file below; do
		copy=$to/$(basename "$source")${below:+/$below}
		cmp -s "$file" "$copy" || { mkdir -p "${copy%/*}" && cp "$file" "$copy"; } || exit 1
	done || exit 1
done
# a kernel built with a newer compiler brings a `make` that runs in the compiler's tree
maker=$(dirname "$headers")/make
[ -x "$maker" ] && make=("$maker" "$to") || make=(make -C "$headers" M="$to")
timeout -k 5 600 "${make[@]}" CONFIG_DEBUG_INFO_BTF_MODULES= "${arguments[@]}" "$@" modules >&2 || die "the module does not build"
