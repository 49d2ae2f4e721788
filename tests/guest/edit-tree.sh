#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes the device tree of an emulated arm64 machine without PCI and with a node for the device: the overlay that
# `gtu fdt overlay` prints. In the guest, wire.c maps the device's function to the node's addresses.
#
#   tests/guest/edit-tree.sh [--power-resources] OUT GTU QEMU ARGUMENT...
#
# --power-resources   adds a clock, a reset line and a power domain, driven by programs/provider/gtu_power_resources.c
set -u
. "$(dirname "$0")/common.sh"

power_resources=
[ "${1:-}" = --power-resources ] && power_resources=1 && shift
[ $# -ge 4 ] || die "usage: edit-tree.sh OUT GTU QEMU ARGUMENT..."
out=$1 gtu=$2
shift 2
for tool in dtc fdtoverlay fdtput; do
	command -v $tool >/dev/null || die "$tool is missing (apt-get install device-tree-compiler)"
done
# addresses in the PCI window below 4 GiB, and interrupts of the frame that receives the messages
"$gtu" fdt overlay --registers 0x10000000 --doorbells 0x11000000 --aperture 0x12000000 --irq 48 >"$out.dts" &&
	if [ -n "$power_resources" ]; then sed -i \
		-e 's|^\tgtu@.*|\tpower_resources: power-resources {\n\t\tcompatible = "gtu,test-power-resources";\n\t\t#clock-cells = <0>;\n\t\t#reset-cells = <0>;\n\t\t#power-domain-cells = <0>;\n\t};\n\n&|' \
		-e 's|^\t\tdma-coherent;|&\n\t\tclocks = <\&power_resources>;\n\t\tresets = <\&power_resources>;\n\t\tpower-domains = <\&power_resources>;|' "$out.dts"; fi &&
	dtc -q -@ -I dts -O dtb -o "$out.overlay" "$out.dts" || die "no overlay: $(head -3 "$out.dts")"
"$@" -machine dumpdtb="$out.machine" -serial null -serial null >"$out.log" 2>&1 &&
	fdtoverlay -i "$out.machine" -o "$out" "$out.overlay" >>"$out.log" 2>&1 &&
	fdtput -t s "$out" "$(fdtget -l "$out" / | sed -n 's|^pcie@|/&|p')" status disabled ||
	die "no device tree: $(tail -3 "$out.log")"
"$gtu" fdt check "$out" >&2 || die "the device tree is not as the binding says"
