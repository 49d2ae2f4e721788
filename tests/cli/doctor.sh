# SPDX-License-Identifier: MIT
# gtu doctor on computers made of files: a healthy one, and each way in which one can be ill.
. "${0%/*}/tap.bash"

# another user looks too, who may not reach this test's own folder
place=$(mktemp -d /tmp/gtu-doctor-XXXXXX) || exit 1
trap 'rm -rf "$work" "$place"' EXIT
chmod 755 "$place"
cp "$bin/gtu" "$place/gtu" && cd "$place" || exit 1
PATH=$place:$PATH
bdf=0000:00:04.0

# A computer on which everything is well, below tree/.
healthy() {
	local d=tree/sys/bus/pci/devices/$bdf
	rm -rf tree
	mkdir -p tree/sys/module/gtu/parameters tree/proc/sys/kernel tree/proc/self $d tree/sys/bus/pci/drivers/gtu \
		tree/sys/class/gtu/gtu0 tree/sys/kernel/iommu_groups/3 tree/sys/kernel/mm/transparent_hugepage \
		tree/sys/kernel/security tree/dev tree/etc/udev/rules.d tree/lib/modules/6.1.0-t/extra
	echo 1024 >tree/sys/module/gtu/parameters/buffer_mib
	echo 6.1.0-t >tree/proc/sys/kernel/osrelease
	echo 0 >tree/proc/sys/kernel/dmesg_restrict
	echo "[none] integrity confidentiality" >tree/sys/kernel/security/lockdown
	echo "extra/gtu.ko:" >tree/lib/modules/6.1.0-t/modules.dep
	printf 'x\0vermagic=6.1.0-t SMP mod_unload\0y' >tree/lib/modules/6.1.0-t/extra/gtu.ko
	echo 0x1234 >$d/vendor
	echo 0x4754 >$d/device
	for bar in 1 2 3 0 4 0; do echo "0x00000000fe${bar}00000 0x00000000fe${bar}0ffff 0x0000000000040200"; done >$d/resource
	sed -i 's/0x00000000fe0.* 0x00000000fe0[^ ]*/0x0000000000000000 0x0000000000000000/' $d/resource
	{ printf '\x34\x12\x54\x47\x06\x04'; head -c 58 /dev/zero; } >$d/config
	ln -s ../../drivers/gtu $d/driver
	ln -s ../../../../kernel/iommu_groups/3 $d/iommu_group
	echo DMA-FQ >tree/sys/kernel/iommu_groups/3/type
	echo 16 >$d/current_link_width
	echo 16 >$d/max_link_width
	echo "8.0 GT/s PCIe" >$d/current_link_speed
	echo "8.0 GT/s PCIe" >$d/max_link_speed
	ln -s ../../../bus/pci/devices/$bdf tree/sys/class/gtu/gtu0/device
	echo 1:3 >tree/sys/class/gtu/gtu0/dev
	echo up >tree/sys/class/gtu/gtu0/state
	mknod tree/dev/gtu0 c 1 3 2>/dev/null || : >tree/dev/gtu0
	chmod 666 tree/dev/gtu0
	echo 'SUBSYSTEM=="gtu", GROUP="gtu"' >tree/etc/udev/rules.d/60-gtu.rules
	echo "Max locked memory         8388608              8388608              bytes" >tree/proc/self/limits
	echo "VmPin:        4096 kB" >tree/proc/self/status
	echo "HugePages_Total:       0" >tree/proc/meminfo
	echo "always [madvise] never" >tree/sys/kernel/mm/transparent_hugepage/enabled
}

# As somebody who is not root.
doctor() {
	if [ "$(id -u)" = 0 ]; then
		GTU_DOCTOR_ROOT=$place/tree setpriv --reuid 65534 --regid 65534 --clear-groups gtu doctor "$@"
	else
		GTU_DOCTOR_ROOT=$place/tree gtu doctor "$@"
	fi
}

# finds NAME REGEX: a finding of the last doctor() matches
finds() {
	says "$1" "$2" "$out"
}

ill() {
	exits 1 "$1" doctor
}

if [ "$(id -u)" = 0 ] && ! setpriv --reuid 65534 --regid 65534 --clear-groups gtu version >/dev/null 2>&1; then
	skip "gtu doctor" "another user cannot run a program in /tmp"
	finish
fi

healthy
if [ -c tree/dev/gtu0 ]; then
	exits 1 "all is well, but the file is of another device" doctor
	for name in module dmesg bus bars driver link iommu permission node udev pages; do
		finds "$name is well" "^ok +$name "
	done
	finds "the device is tried" "^fail +device +.*/dev/gtu0 is not a GTU;.*"
	finds "the end says where to begin" "The device will not work"
	check "only this fails" test "$(grep -c ^fail "$out")" = 1
else
	skip "all is well" "no right to make a device's file"
fi
healthy
rm -r tree/sys/module/gtu tree/sys/class/gtu tree/dev/gtu0
ill "module not loaded"
finds "says how" "^fail +module +there is no /dev/gtu0: the driver is not loaded; as root: modprobe gtu \(it is there for this kernel"
finds "the device is not tried" "^skip +device "
check "a graph to try" gtu generate kronecker --scale 4 try.gtu
exits 1 "the backend" gtu run bfs try.gtu --device /dev/gtu0
[ -e /sys/module/gtu ] || says "uses the same words" "^gtu: there is no /dev/gtu0: the driver is not loaded; as root: modprobe gtu$"
printf 'x\0vermagic=5.10.0-o SMP\0' >tree/lib/modules/6.1.0-t/extra/gtu.ko
ill "module of another kernel"
finds "says so" "built for kernel 5.10.0-o, but kernel 6.1.0-t is running: rebuild it"
rm tree/lib/modules/6.1.0-t/modules.dep
ill "no module"
finds "says how to get one" "no module for kernel 6.1.0-t: install that kernel's headers, then make -C"
echo "none [integrity] confidentiality" >tree/sys/kernel/security/lockdown
ill "locked down"
finds "says so" "^fail +lockdown +.*Secure Boot.*mokutil"
echo 1 >tree/proc/sys/kernel/dmesg_restrict
ill "dmesg is root's"
finds "says so" "^warn +dmesg +.*sudo dmesg"

healthy
rm -r tree/sys/bus/pci/devices/$bdf
ill "no function"
finds "says so" "^fail +bus +there is no function 1234:4754 on the bus: check that the card"
mkdir -p tree/sys/class/dmi/id
echo QEMU >tree/sys/class/dmi/id/sys_vendor
ill "no function in a virtual machine"
finds "says what to start" "gtu serve --socket"

# no PCI, but a node of the device tree
treed() {
	healthy
	rm -r tree/sys/bus/pci/devices/$bdf tree/sys/class/gtu/gtu0/device
	mkdir -p tree/sys/bus/platform/{devices,drivers/gtu} tree/sys/bus/platform/devices/{9000000.pl011,10000000.gtu}/of_node
	printf 'arm,pl011\0' >tree/sys/bus/platform/devices/9000000.pl011/of_node/compatible
	printf '%b' "${1:-gtu,gtu-1\\0}" >tree/sys/bus/platform/devices/10000000.gtu/of_node/compatible
	ln -s ../../drivers/gtu tree/sys/bus/platform/devices/10000000.gtu/driver
	ln -s ../../../../kernel/iommu_groups/3 tree/sys/bus/platform/devices/10000000.gtu/iommu_group
	ln -s ../../../bus/platform/devices/10000000.gtu tree/sys/class/gtu/gtu0/device
}
treed
ill "a device tree's device"
finds "says where it is" "^ok +bus +10000000.gtu is a node of the device tree"
finds "says who has it" "^ok +driver +the driver gtu has 10000000.gtu"
finds "looks at its IOMMU" "^ok +iommu +on \(group 3"
treed 'vendor,board\0gtu,gtu-1\0'
ill "a board's own name before the device's"
finds "knows it all the same" "^ok +bus +10000000.gtu is a node"
treed 'gtu,gtu-11\0'
ill "another device's name"
finds "is not taken for it" "^fail +bus +there is no function 1234:4754"
treed
rm tree/sys/bus/platform/devices/10000000.gtu/driver
ill "no driver for the node"
finds "says how to bind it" "^fail +driver +no driver has 10000000.gtu: .* echo 10000000.gtu > /sys/bus/platform/drivers/gtu/bind"
healthy
rm tree/sys/bus/pci/devices/$bdf/driver
ill "no driver"
finds "says how to bind it" "^fail +driver +no driver has $bdf: as root: echo $bdf > /sys/bus/pci/drivers/gtu/bind"
ln -s ../../drivers/vfio-pci tree/sys/bus/pci/devices/$bdf/driver
ill "another driver"
finds "says whose it is" "driver vfio-pci has $bdf \(it is given to a virtual machine\)"
healthy
cp -r tree/sys/bus/pci/devices/$bdf tree/sys/bus/pci/devices/0000:00:05.0
rm -r tree/sys/class/gtu/gtu0 tree/dev/gtu0 tree/sys/bus/pci/devices/0000:00:05.0/driver
ill "two functions, one without driver"
finds "looks at that one" "^fail +driver +no driver has 0000:00:05.0"
healthy
head -c 64 /dev/zero | tr '\0' '\377' >tree/sys/bus/pci/devices/$bdf/config
ill "a device that is gone"
finds "says so" "^fail +bus +$bdf reads as all ones: it was removed.*rescan"
healthy
sed -i '3s/.*/0x0000000000000000 0x0000000000000000 0x0/' tree/sys/bus/pci/devices/$bdf/resource
ill "a BAR without a place"
finds "says which" "^fail +bars .*bits 0x4.*pci=realloc"
healthy
printf '\x02' | dd of=tree/sys/bus/pci/devices/$bdf/config bs=1 seek=4 conv=notrunc 2>/dev/null
ill "no bus mastering"
finds "says so" "^fail +driver .*bus mastering is off"
healthy
echo 4 >tree/sys/bus/pci/devices/$bdf/current_link_width
ill "a narrow link"
finds "says so" "^warn +link +4 lanes .* of 16 at"
healthy
rm tree/sys/bus/pci/devices/$bdf/iommu_group
ill "no IOMMU"
finds "says what that means" "^warn +iommu +off: the device can access all memory"
ln -s ../../../../kernel/iommu_groups/3 tree/sys/bus/pci/devices/$bdf/iommu_group
echo identity >tree/sys/kernel/iommu_groups/3/type
ill "an IOMMU that looks on"
finds "says so" "^warn +iommu +passed through"

healthy
rm tree/dev/gtu0
ill "no file"
finds "says where to look" "^fail +node +there is no /dev/gtu0: the driver is loaded but has no such device"
healthy
if [ "$(id -u)" = 0 ]; then
	chmod 660 tree/dev/gtu0
	chown 0:"$(getent group | awk -F: '$3 > 0 { print $3; exit }')" tree/dev/gtu0
	ill "a group that I am not in"
	finds "says which, and how" "^fail +permission +/dev/gtu0 belongs to the group [a-z]+, which does not include you; as root: usermod -aG [a-z]+ "
	chown 0:0 tree/dev/gtu0
fi
chmod 600 tree/dev/gtu0
[ "$(id -u)" = 0 ] || chmod 000 tree/dev/gtu0
ill "root's alone"
finds "says how" "^fail +permission .*(only root may use|belongs to the group)"
healthy
rm tree/dev/gtu0
: >tree/dev/gtu0
chmod 666 tree/dev/gtu0
ill "a file that is no device's"
finds "says so" "^fail +node +/dev/gtu0 is no device's file"
healthy
if [ -c tree/dev/gtu0 ]; then
	echo 240:0 >tree/sys/class/gtu/gtu0/dev
	ill "a file of another device"
	finds "says so" "^fail +node +/dev/gtu0 has number 1:3, the device 240:0"
fi
healthy
rm tree/etc/udev/rules.d/60-gtu.rules
ill "no rule"
finds "says which" "^warn +udev .*60-gtu.rules"
healthy
echo resetting >tree/sys/class/gtu/gtu0/state
ill "a reset under way"
finds "says so" "^fail +state +/dev/gtu0 is being reset"
echo gone >tree/sys/class/gtu/gtu0/state
ill "a device that the driver has given up"
finds "says so" "^fail +state +/dev/gtu0 exists, but its device is dead"

healthy
ill "modest memlock"
finds "says so" "^warn +memlock +8192 KiB may be pinned"
check "a graph" gtu generate kronecker --scale 16 big.gtu
check "a small graph" gtu generate kronecker --scale 10 small.gtu
chmod 644 ./*.gtu
exits 1 "too little for a graph" doctor --graph big.gtu
finds "says what is needed, allowed and in use" \
	"^fail +memlock +[0-9]{7,} bytes cannot be pinned .* limit on locked memory is 8388608 bytes, of which 4194304 are in use; raise it to [0-9]+ KiB"
finds "and how to raise it" "ulimit -l.*limits.conf.*LimitMEMLOCK="
exits 1 "enough for a small one" doctor --graph small.gtu
finds "says so" "^ok +memlock +small.gtu needs [0-9]+ bytes pinned, and may"
exits 1 "a graph that is none" doctor --graph /dev/null
finds "says so" "^fail +memlock "
echo "Max locked memory         unlimited            unlimited            bytes" >tree/proc/self/limits
ill "no limit"
finds "says so" "^ok +memlock "
echo "always madvise [never]" >tree/sys/kernel/mm/transparent_hugepage/enabled
ill "no huge pages"
finds "says so" "^warn +pages "

check "the device in process is well" gtu doctor --device model
finds "a job comes back" "^ok +job "
finds "and says so" "Everything that was checked works"
exits 2 "no such device" gtu doctor --device modal0
exits 2 "no such option" gtu doctor --devices model
check "--help" gtu doctor --help
finds "teaches" "warn \(works with restrictions\)"
healthy
rm -r tree/sys/module/gtu
exits 1 "JSON" doctor --json -
cp "$out" j.json
if command -v python3 >/dev/null; then
	check "is JSON" python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); assert not d["healthy"]; f=[x for x in d["findings"] if x["state"]=="fail"]; assert f[0]["name"]=="module" and "modprobe" in f[0]["sentence"]' j.json
fi
finish
