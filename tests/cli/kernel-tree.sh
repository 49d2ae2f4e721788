# SPDX-License-Identifier: MIT
# Tests packaging/kernel-tree on a stand-in for a kernel source tree, without compiling. check-driver builds the result.
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
stand_in new 12
echo 'void vm_flags_mod(void);' >new/include/linux/mm.h
snapshot() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }

fails_with 1 "kernel-tree asks for a tree" "KERNEL=DIR" "$put"
fails_with 1 "kernel-tree refuses a folder that is missing" "there is no folder 'none'" "$put" none
fails_with 1 "kernel-tree refuses a folder without a kernel" "is not a kernel source tree: it has no MAINTAINERS" "$put" "$root/tests"
mkdir older && cp -r old/. older/ && sed -i 's/= 6/= 5/' older/Makefile
fails_with 1 "kernel-tree refuses a kernel that the driver does not support" "Linux 5.1 .* the minimum is 6.1" "$put" older

prints "kernel-tree writes the driver" "^wrote drivers/misc/gtu/gtu_pci.c$" "$put" new
says "it says how many files it wrote" "Linux 6.12\): [6-9][0-9] files written, 0 removed" "$out"
same "the driver's Kconfig is in the tree" new/drivers/misc/gtu/Kconfig "$root/driver/Kconfig"
same "the interface is in the tree" new/include/uapi/gtu/gtu.h "$root/include/uapi/gtu/gtu.h"
same "the sysfs document is in the tree" new/Documentation/ABI/testing/sysfs-class-gtu "$root/Documentation/ABI/sysfs-class-gtu"
same "the binding is at its \$id" "new/Documentation/devicetree/bindings/$(sed -n 's|^$id: .*schemas/\(.*\)#|\1|p' "$root/driver/bindings/gtu.yaml")" \
	"$root/driver/bindings/gtu.yaml"
same "Kconfig reads the driver's inside the menu" <(tail -2 new/drivers/misc/Kconfig) <(printf 'source "drivers/misc/gtu/Kconfig"\nendmenu\n')
says "the Makefile enters the driver's folder" '^obj-\$\(CONFIG_GTU\)\s+\+= gtu/$' new/drivers/misc/Makefile
says "the selftests are a target" '^TARGETS \+= drivers/gtu$' new/tools/testing/selftests/Makefile
same "the maintainers stay in alphabetical order" <(grep DRIVER new/MAINTAINERS) <(printf 'ABC DRIVER\nGTU GRAPH TRAVERSAL UNIT DRIVER\nXYZ DRIVER\n')
sed -n 's/^F:\t//p' new/MAINTAINERS | while read -r path; do [ -e "new/$path" ] || echo "$path"; done >missing
empty "every path of the maintainers' entry exists" missing
lacks "no condition is left for this kernel" 'GTU_HAS|LINUX_VERSION' new/drivers/misc/gtu/gtu_compat.h
lacks "what this kernel has is not replaced" 'vm_flags_mod' new/drivers/misc/gtu/gtu_compat.h
says "what this version does not need is left out" '^#define GTU_PIN_PRIVATE 0$' new/drivers/misc/gtu/gtu_compat.h

check "kernel-tree writes into an older tree" "$put" old
says "what the older kernel lacks is replaced" 'vm_flags_mod' old/drivers/misc/gtu/gtu_compat.h
says "what the older version needs is there" '^#define GTU_PIN_PRIVATE \(FOLL' old/drivers/misc/gtu/gtu_compat.h

snapshot new >before
touch new/drivers/misc/gtu/gtu.mod.c new/drivers/misc/gtu/gtu_gone.c
prints "kernel-tree removes a source that has left the project" "^removed drivers/misc/gtu/gtu_gone.c$" "$put" new
check "it keeps what a build wrote" rm new/drivers/misc/gtu/gtu.mod.c
snapshot new >after
same "a second run changes nothing else" before after
finish
