# SPDX-License-Identifier: MIT
# Tests gtu doctor on simulated file systems: a healthy machine, and one for each problem.
. "${0%/*}/tap.bash"

# another user, who cannot access this test's folder, runs gtu doctor too
place=$(mktemp -d /tmp/gtu-doctor-XXXXXX) || exit 1
at_exit rm -rf "$place"
chmod 755 "$place"
cp "$bin/gtu" "$place/gtu" && cd "$place" || exit 1
PATH=$place:$PATH
bdf=0000:00:04.0

# Makes the files of a machine without problems in tree/.
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
	pci_files $d 0x1234 0x4754 0x120000
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
	echo 0x1ff >tree/sys/class/gtu/gtu0/caps
	mknod tree/dev/gtu0 c 1 3 2>/dev/null || : >tree/dev/gtu0
	chmod 666 tree/dev/gtu0
	echo 'SUBSYSTEM=="gtu", GROUP="gtu"' >tree/etc/udev/rules.d/60-gtu.rules
	echo "Max locked memory         8388608              8388608              bytes" >tree/proc/self/limits
	echo "VmPin:        4096 kB" >tree/proc/self/status
	echo "HugePages_Total:       0" >tree/proc/meminfo
	echo "always [madvise] never" >tree/sys/kernel/mm/transparent_hugepage/enabled
}

# Runs gtu doctor as a user who is not root.
doctor() {
	if [ "$(id -u)" = 0 ]; then
		GTU_DOCTOR_ROOT=$place/tree with_sys tree/sys nobody gtu doctor "$@"
	else
		GTU_DOCTOR_ROOT=$place/tree with_sys tree/sys gtu doctor "$@"
	fi
}

# finds NAME REGEX: a finding of the last doctor() matches
finds() {
	says "$1" "$2" "$out"
}

# ill NAME REGEX: gtu doctor fails, and a finding matches
ill() {
	prints 1 "$1" "$2" doctor
}

if [ "$(id -u)" = 0 ] && ! nobody gtu version >/dev/null 2>&1; then
	skip_all "root cannot become another user that runs a program in /tmp"
fi

# from here on, "simulated" instead of "always": every check needs the simulated /sys
simulated() {
	always
	needs_sys
}
simulated
healthy
needs_pciaccess
given "no device file can be made here" test -c tree/dev/gtu0
exits 1 "gtu doctor fails where /dev/gtu0 is another driver's device file" doctor
for name in module dmesg bus bars driver link iommu contexts permission node udev pages; do
	finds "gtu doctor finds $name healthy" "^ok +$name "
done
finds "gtu doctor says what protects contexts from each other" "^ok +contexts +share one IOMMU domain, because a GTU has no PASID; the device's check of every access .*; users share the device.s time"
finds "gtu doctor tries the device and says that it is not a GTU" "^fail +device +.*/dev/gtu0 is not a GTU;.*"
finds "gtu doctor ends with the first thing to repair" "The device will not work"
grep ^fail "$out" >fails
holds "gtu doctor reports one failure only" test "$(wc -l <fails)" = 1
simulated
healthy
rm -r tree/sys/module/gtu tree/sys/class/gtu tree/dev/gtu0
ill "gtu doctor fails where the module is not loaded" "^fail +module +there is no /dev/gtu0: the driver is not loaded; as root: modprobe gtu \(it is there for this kernel"
finds "gtu doctor skips the device where the module is not loaded" "^skip +device "
check "gtu generate makes a graph to run on the missing device" gtu generate kronecker --scale 4 try.gtu
exits 1 "gtu run fails where the module is not loaded" gtu run bfs try.gtu --device /dev/gtu0
given "the module gtu is loaded here" test ! -e /sys/module/gtu
says "gtu run reports it in the words of gtu doctor" "^gtu: there is no /dev/gtu0: the driver is not loaded; as root: modprobe gtu$"
simulated
printf 'x\0vermagic=5.10.0-o SMP\0' >tree/lib/modules/6.1.0-t/extra/gtu.ko
ill "gtu doctor fails where the module is built for another kernel" "built for kernel 5.10.0-o, but kernel 6.1.0-t is running: rebuild it"
rm tree/lib/modules/6.1.0-t/modules.dep
ill "gtu doctor fails where no module is installed" "no module for kernel 6.1.0-t: install that kernel's headers, then make -C"
echo "none [integrity] confidentiality" >tree/sys/kernel/security/lockdown
ill "gtu doctor fails where the kernel is locked down" "^fail +lockdown +.*Secure Boot.*mokutil"
echo 1 >tree/proc/sys/kernel/dmesg_restrict
ill "gtu doctor fails where only root reads the kernel log" "^warn +dmesg +.*sudo dmesg"

healthy
rm -r tree/sys/bus/pci/devices/$bdf
needs_pciaccess
ill "gtu doctor fails where no function is on the bus" "^fail +bus +there is no function 1234:4754 on the bus: check that the card"
mkdir -p tree/sys/class/dmi/id
echo QEMU >tree/sys/class/dmi/id/sys_vendor
ill "gtu doctor fails in a virtual machine without a function" "gtu serve --socket"
simulated

# a device tree node instead of PCI
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
ill "gtu doctor tries the false device file of a device-tree device" "^ok +bus +10000000.gtu is a node of the device tree"
finds "gtu doctor finds the driver of the node" "^ok +driver +the driver gtu has 10000000.gtu"
finds "gtu doctor finds the IOMMU group of the node" "^ok +iommu +on \(group 3"
finds "gtu doctor says it of a node" "^ok +contexts +share one IOMMU domain"
treed 'vendor,board\0gtu,gtu-1\0'
ill "gtu doctor tries the false device file of a board with a name of its own" "^ok +bus +10000000.gtu is a node"
treed 'gtu,gtu-11\0'
needs_pciaccess
ill "gtu doctor fails where the only node is another device's" "^fail +bus +there is no function 1234:4754"
simulated
treed
rm tree/sys/bus/platform/devices/10000000.gtu/driver
ill "gtu doctor fails where no driver is bound to the node" "^fail +driver +no driver has 10000000.gtu: .* echo 10000000.gtu > /sys/bus/platform/drivers/gtu/bind"
healthy
rm tree/sys/bus/pci/devices/$bdf/driver
needs_pciaccess
ill "gtu doctor fails where no driver is bound to the function" "^fail +driver +no driver has $bdf: as root: echo $bdf > /sys/bus/pci/drivers/gtu/bind"
ln -s ../../drivers/vfio-pci tree/sys/bus/pci/devices/$bdf/driver
ill "gtu doctor fails where another driver is bound to the function" "driver vfio-pci has $bdf \(it is given to a virtual machine\)"
healthy
cp -r tree/sys/bus/pci/devices/$bdf tree/sys/bus/pci/devices/0000:00:05.0
rm -r tree/sys/class/gtu/gtu0 tree/dev/gtu0 tree/sys/bus/pci/devices/0000:00:05.0/driver
ill "gtu doctor fails where one of two functions has no driver" "^fail +driver +no driver has 0000:00:05.0"
healthy
pci_files tree/sys/bus/pci/devices/$bdf 0x10ee 0x9038 0x120000
ill "gtu doctor tries the false device file of a board with ids of its own" "^ok +bus +$bdf is a 10ee:9038"
finds "gtu doctor finds the driver of a board with ids of its own" "^ok +driver +the driver gtu has $bdf"
healthy
head -c 64 /dev/zero | tr '\0' '\377' >tree/sys/bus/pci/devices/$bdf/config
ill "gtu doctor fails where the function was removed" "^fail +bus +$bdf reads as all ones: it was removed.*rescan"
healthy
sed -i '3s/.*/0x0000000000000000 0x0000000000000000 0x0/' tree/sys/bus/pci/devices/$bdf/resource
ill "gtu doctor fails where a BAR has no address" "^fail +bars .*bits 0x4.*pci=realloc"
healthy
printf '\x02' | dd of=tree/sys/bus/pci/devices/$bdf/config bs=1 seek=4 conv=notrunc 2>/dev/null
ill "gtu doctor fails where bus mastering is off" "^fail +driver .*bus mastering is off"
healthy
echo 4 >tree/sys/bus/pci/devices/$bdf/current_link_width
ill "gtu doctor tries the false device file behind a narrow link" "^warn +link +4 lanes .* of 16 at"
healthy
rm tree/sys/bus/pci/devices/$bdf/iommu_group
ill "gtu doctor tries the false device file without an IOMMU" "^warn +iommu +off: the device can access all memory"
ln -s ../../../../kernel/iommu_groups/3 tree/sys/bus/pci/devices/$bdf/iommu_group
echo identity >tree/sys/kernel/iommu_groups/3/type
echo 0x1e >tree/sys/class/gtu/gtu0/caps
ill "gtu doctor tries the false device file behind a pass-through IOMMU" "^warn +iommu +passed through"
finds "gtu doctor names the driver's check where the device has none" "^ok +contexts +.*; the driver's check of every descriptor"
finds "gtu doctor says that a user with many contexts has more where the device has no groups" '; contexts .the device has no GTU_CAP_CTX_GROUPS. share'
simulated

healthy
rm tree/dev/gtu0
ill "gtu doctor fails where the device file is missing" "^fail +node +there is no /dev/gtu0: the driver is loaded but has no such device"
healthy
needs_root
if [ "$(id -u)" = 0 ]; then
	chmod 660 tree/dev/gtu0
	chown 0:"$(getent group | awk -F: '$3 > 0 { print $3; exit }')" tree/dev/gtu0
fi
ill "gtu doctor fails where the device file is for a group that the user is not in" "^fail +permission +/dev/gtu0 belongs to the group [a-z]+, which does not include you; as root: usermod -aG [a-z]+ "
simulated
[ "$(id -u)" != 0 ] || chown 0:0 tree/dev/gtu0
chmod 600 tree/dev/gtu0
[ "$(id -u)" = 0 ] || chmod 000 tree/dev/gtu0
ill "gtu doctor fails where the device file is for root alone" "^fail +permission .*(only root may use|belongs to the group)"
healthy
rm tree/dev/gtu0
: >tree/dev/gtu0
chmod 666 tree/dev/gtu0
ill "gtu doctor fails where /dev/gtu0 is a regular file" "^fail +node +/dev/gtu0 is no device's file"
healthy
given "no device file can be made here" test -c tree/dev/gtu0
echo 240:0 >tree/sys/class/gtu/gtu0/dev
ill "gtu doctor fails where the device file has another device's number" "^fail +node +/dev/gtu0 has number 1:3, the device 240:0"
simulated
healthy
rm tree/etc/udev/rules.d/60-gtu.rules
ill "gtu doctor tries the false device file without a udev rule" "^warn +udev .*60-gtu.rules"
healthy
echo resetting >tree/sys/class/gtu/gtu0/state
ill "gtu doctor fails while the device is being reset" "^fail +state +/dev/gtu0 is being reset"
echo dead >tree/sys/class/gtu/gtu0/state
ill "gtu doctor fails where the device is dead" "^fail +state +/dev/gtu0 exists, but its device is dead"

healthy
ill "gtu doctor tries the false device file with 8 MiB of locked memory" "^warn +memlock +8192 KiB may be pinned"
check "gtu generate makes a graph that is larger than the limit on locked memory" gtu generate kronecker --scale 16 big.gtu
check "gtu generate makes a graph that is smaller than the limit on locked memory" gtu generate kronecker --scale 10 small.gtu
chmod 644 ./*.gtu
exits 1 "gtu doctor --graph fails where the limit on locked memory is too small" doctor --graph big.gtu
finds "gtu doctor --graph names the bytes needed, allowed and in use, and a limit that would do" \
	"^fail +memlock +[0-9]{7,} bytes cannot be pinned .* limit on locked memory is 8388608 bytes, of which 4194304 are in use; raise it to [0-9]+ KiB"
finds "gtu doctor --graph names the ways to raise the limit" "ulimit -l.*limits.conf.*LimitMEMLOCK="
prints 1 "gtu doctor --graph tries the false device file for a small graph" "^ok +memlock +small.gtu needs [0-9]+ bytes pinned, and may" doctor --graph small.gtu
prints 1 "gtu doctor --graph fails for a file that is no graph" "^fail +memlock " doctor --graph /dev/null
echo "Max locked memory         unlimited            unlimited            bytes" >tree/proc/self/limits
ill "gtu doctor tries the false device file without a limit on locked memory" "^ok +memlock "
echo "always madvise [never]" >tree/sys/kernel/mm/transparent_hugepage/enabled
ill "gtu doctor tries the false device file without huge pages" "^warn +pages "

always
prints "gtu doctor passes the model in its own process" "^ok +job " gtu doctor --device model
finds "gtu doctor says that nothing is in the way" "Everything that was checked works"
exits 2 "gtu doctor refuses an unknown device" gtu doctor --device modal0
exits 2 "gtu doctor refuses an unknown option" gtu doctor --devices model
prints "gtu doctor --help exits with 0" "warn \(works with restrictions\)" gtu doctor --help
simulated
healthy
rm -r tree/sys/module/gtu
exits 1 "gtu doctor --json - fails where the module is not loaded" doctor --json -
cp "$out" j.json
python "gtu doctor --json - prints JSON that names the module and modprobe" j.json <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
assert not d["healthy"]
f = [x for x in d["findings"] if x["state"] == "fail"]
assert f[0]["name"] == "module" and "modprobe" in f[0]["message"], f
END
finish
