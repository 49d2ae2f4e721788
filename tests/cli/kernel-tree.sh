# SPDX-License-Identifier: MIT
# Tests packaging/kernel-tree on a stand-in for a kernel source tree, without compiling. check-driver builds the result.
# Holds GTU_UAPI_VERSION to the interface.
# Needs no build.
. "${0%/*}/tap.bash"

[ -d "$root/driver" ] || { skip "the driver in a kernel tree" "no source here"; finish; exit; }
put="$root/packaging/kernel-tree"

# stand_in FOLDER PATCHLEVEL: makes a kernel source tree of that 6.x version with two maintainers and one driver
stand_in() {
	mkdir -p "$1"/{drivers/misc,include/uapi,include/linux,tools/testing/selftests}
	printf 'VERSION = 6\nPATCHLEVEL = %s\n' "$2" >"$1/Makefile"
	printf 'How to read this\n\nMaintainers List\n----\n\nABC DRIVER\nS:\tMaintained\n\nXYZ DRIVER\nS:\tMaintained\n' >"$1/MAINTAINERS"
	printf 'menu "Misc devices"\nsource "drivers/misc/abc/Kconfig"\nendmenu\n' >"$1/drivers/misc/Kconfig"
	echo 'obj-y += abc/' >"$1/drivers/misc/Makefile"
	printf 'TARGETS += cgroup\nTARGETS += drivers/net\nTARGETS += zram\n' >"$1/tools/testing/selftests/Makefile"
}
stand_in old 1
mkdir -p old/Documentation/devicetree/bindings
printf 'patternProperties:\n  "^gateway,.*":\n    description: Gateway\n  "^gumstix,.*":\n    description: Gumstix\n' \
	>old/Documentation/devicetree/bindings/vendor-prefixes.yaml
stand_in new 12
stand_in newest 18
echo 'void vm_flags_mod(void);' >new/include/linux/mm.h
echo 'vm_fault_t vmf_insert_folio_pmd(void);' >newest/include/linux/huge_mm.h
snapshot() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }

fails_with 1 "kernel-tree asks for a tree" "KERNEL=DIR" "$put"
fails_with 1 "kernel-tree refuses a folder that is missing" "there is no folder 'none'" "$put" none
fails_with 1 "kernel-tree refuses a folder without a kernel" "is not a kernel source tree: it has no MAINTAINERS" "$put" "$root/tests"
mkdir older && cp -r old/. older/ && sed -i 's/= 6/= 5/' older/Makefile
fails_with 1 "kernel-tree refuses a kernel that the driver does not support" "Linux 5.1 .* the minimum is 6.1" "$put" older

prints "kernel-tree writes the driver" "^wrote drivers/misc/gtu/gtu_pci.c$" "$put" new
says "kernel-tree prints how many files it wrote" "Linux 6.12\): [6-9][0-9] files written, 0 removed" "$out"
same "the driver's Kconfig is in the tree" new/drivers/misc/gtu/Kconfig "$root/driver/Kconfig"
same "the interface is in the tree" new/include/uapi/gtu/gtu.h "$root/include/uapi/gtu/gtu.h"
diff <(cd "$root/Documentation/ABI" && sha256sum sysfs-*) <(cd new/Documentation/ABI/testing && sha256sum sysfs-*) >other
empty "every document of sysfs files is in the tree" other
same "the binding is at its \$id" "new/Documentation/devicetree/bindings/$(sed -n 's|^$id: .*schemas/\(.*\)#|\1|p' "$root/driver/bindings/gtu.yaml")" \
	"$root/driver/bindings/gtu.yaml"
same "Kconfig reads the driver's inside the menu" <(tail -2 new/drivers/misc/Kconfig) <(printf 'source "drivers/misc/gtu/Kconfig"\nendmenu\n')
says "the Makefile enters the driver's folder" '^obj-\$\(CONFIG_GTU\)\s+\+= gtu/$' new/drivers/misc/Makefile
says "the selftests are a target" '^TARGETS \+= drivers/gtu$' new/tools/testing/selftests/Makefile
same "the maintainers stay in alphabetical order" <(grep DRIVER new/MAINTAINERS) <(printf 'ABC DRIVER\nGTU GRAPH TRAVERSAL UNIT DRIVER\nXYZ DRIVER\n')
sed -n 's/^F:\t//p' new/MAINTAINERS >paths
at_least 6 "$(wc -l <paths)" "paths in the maintainers' entry"
while read -r path; do [ -e "new/$path" ] || echo "$path"; done <paths >missing
empty "every path of the maintainers' entry exists" missing
cat new/drivers/misc/gtu/*.[ch] >sources
lacks "no condition is left for this kernel" 'GTU_HAS|LINUX_VERSION' sources
lacks "what a newer kernel has is left out" 'vmf_insert_folio_pmd' sources
for file in "$root"/driver/*.[ch]; do
	grep -qE 'GTU_HAS|LINUX_VERSION' "$file" || cmp "$file" "new/drivers/misc/gtu/${file##*/}"
done >changed 2>&1
empty "a source without conditions is copied as it is" changed
lacks "what this kernel has is not replaced" 'vm_flags_mod' new/drivers/misc/gtu/gtu_compat.h
says "what this version does not need is left out" '^#define GTU_PIN_PRIVATE 0$' new/drivers/misc/gtu/gtu_compat.h

check "kernel-tree writes into an older tree" "$put" old
same "the vendor is in its place in the list of vendors" \
	<(grep -o '\^[a-z]*' old/Documentation/devicetree/bindings/vendor-prefixes.yaml) <(printf '^gateway\n^gtu\n^gumstix\n')
says "what the older kernel lacks is replaced" 'vm_flags_mod' old/drivers/misc/gtu/gtu_compat.h
says "what the older version needs is there" '^#define GTU_PIN_PRIVATE \(FOLL' old/drivers/misc/gtu/gtu_compat.h

check "kernel-tree writes into a newer tree" "$put" newest
says "the file for the newer kernel uses vmf_insert_folio_pmd" '^	return vmf_insert_folio_pmd' newest/drivers/misc/gtu/gtu_mmap.c
lacks "the file for the newer kernel has no condition on the version" 'GTU_HAS' newest/drivers/misc/gtu/gtu_mmap.c

snapshot new >before
touch new/drivers/misc/gtu/gtu.mod.c new/drivers/misc/gtu/gtu_gone.c
prints "kernel-tree removes a source that has left the project" "^removed drivers/misc/gtu/gtu_gone.c$" "$put" new
check "kernel-tree keeps what a build wrote" rm new/drivers/misc/gtu/gtu.mod.c
snapshot new >after
same "a second run changes nothing else" before after

# GTU_UAPI_VERSION follows the definitions of include/uapi/gtu/gtu.h and Documentation/ABI/uapi-version
header=$root/include/uapi/gtu/gtu.h list=$root/Documentation/ABI/uapi-version

# definitions FILE: prints the checksum of a header's macros, structs and ioctls, without comments and white space, and
# without the version itself
definitions() {
	grep -v '^#define GTU_UAPI_VERSION' "$1" | sed 's|/[*]|\n&|g; s|[*]/|&\n|g' |
		awk '/^\/[*]/ { comment = 1 } !comment { print } /[*]\/$/ { comment = 0 }' | tr -s ' \t\n' ' ' |
		sha256sum | cut -c1-16
}

version=$(sed -n 's/^#define GTU_UAPI_VERSION[[:space:]]*\([0-9]*\)$/\1/p' "$header")
grep -P '^[0-9]+\t' "$list" >versions
same "every version has one line" <(cut -f1 versions) <(seq "${version:-0}")
echo "definitions $(definitions "$header")" >now
tail -1 versions | grep -o 'definitions [0-9a-f]*$' >recorded
same "the last line has the checksum of the definitions: for a new one raise GTU_UAPI_VERSION, or see the rule" recorded now

# what the checksum sees
sed 's/Access rights of the device to a region/Rights/; s/^ \* @size:/ * @size: always/' "$header" >comment.h
holds "other comments are another file" sh -c '! cmp -s comment.h "$0"' "$header"
same "a comment does not change the checksum" <(definitions comment.h) <(definitions "$header")
for change in 's/#define GTU_BUFFER_APERTURE.*/&\n#define GTU_BUFFER_HUGE (1u << 1)/' 's/^	__u32 rights;/	__u64 rights;/' \
	's/GTU_IOCTL_MAGIC, 0x10/GTU_IOCTL_MAGIC, 0x11/'; do
	sed "$change" "$header" >changed.h
	holds "the checksum sees $change" test "$(definitions changed.h)" != "$(definitions "$header")"
done
finish
