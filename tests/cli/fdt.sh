# SPDX-License-Identifier: MIT
# gtu fdt: what it says of a device's tree and of a system's, right and wrong ones; the binding itself.
. "${0%/*}/tap.bash"

check "the model's tree" gtu fdt show
says "has its units" "^ *scu@1000$" "$out"
check "is right" gtu fdt check model
says "and is one device" "^model: 1 device, 0 mistakes$" "$out"
check "a file" gtu info --fdt own.dtb --quiet
check "is checked too" gtu fdt check own.dtb
check "is the model's" gtu fdt diff own.dtb model
check "says nothing then" test ! -s "$out"
exits 4 "another build differs" gtu fdt diff own.dtb model:scu_width=8
says "in its width, before" "^- /scu@1000/gtu,pipeline-width = 00000004$" "$out"
says "and after" "^\+ /scu@1000/gtu,pipeline-width = 00000008$" "$out"
head -c 100 own.dtb >short.dtb
exits 3 "a blob that is cut off" gtu fdt check short.dtb
says "names its sizes" "it says that it has [0-9]+ bytes, 100 are there"
head -c 400 /dev/zero >zero.dtb
exits 3 "no device tree" gtu fdt show zero.dtb
exits 3 "no such file" gtu fdt show none.dtb
exits 2 "diff of one" gtu fdt diff own.dtb
exits 2 "an unknown word" gtu fdt chekc
says "is understood" "did you mean check"
exits 2 "addresses for check" gtu fdt check --registers 4096

# a folder as the kernel shows a tree
cells() { printf '%b' "$(printf '\\x%02x' $(for v; do echo $((v >> 24 & 255)) $((v >> 16 & 255)) $((v >> 8 & 255)) $((v & 255)); done))"; }
system() {
	rm -rf tree && mkdir -p tree/soc/gtu@40000000 tree/cpus
	cells 2 >tree/soc/#address-cells
	cells 2 >tree/soc/#size-cells
	printf 'soc\0' >tree/soc/name
	printf 'gtu,gtu-1\0' >tree/soc/gtu@40000000/compatible
	cells 0 0x40000000 0 0x10000 0 0x42000000 0 0x1000000 >tree/soc/gtu@40000000/reg
	cells 0 64 1 >tree/soc/gtu@40000000/interrupts
	: >tree/soc/gtu@40000000/dma-coherent
}
system
check "a system's tree" gtu fdt check tree
says "has one device" "^tree: 1 device, 0 mistakes$" "$out"
check "shown" gtu fdt show tree
says "with its registers" "reg = <0 1073741824 0 65536" "$out"
wrong_because() { exits 3 "$1" gtu fdt check tree; says "says so" "^/soc/gtu@40000000: .*$2" "$out"; system; }
rm tree/soc/gtu@40000000/dma-coherent
wrong_because "not coherent" "no dma-coherent"
rm tree/soc/gtu@40000000/interrupts
wrong_because "without interrupts" "no interrupts"
cells 0 0x40000000 0 0x1000 0 0x42000000 0 0x1000000 >tree/soc/gtu@40000000/reg
wrong_because "with few registers" "registers have 0x1000 bytes"
cells 0 0x40000000 0 0x10000 >tree/soc/gtu@40000000/reg
wrong_because "without doorbells" "reg is not two or three ranges"
printf 'doorbells\0registers\0' >tree/soc/gtu@40000000/reg-names
wrong_because "names in another order" "reg-names"
mkdir tree/soc/gtu@40000000/scu@2000 && printf 'gtu,scu-1\0' >tree/soc/gtu@40000000/scu@2000/compatible
exits 3 "a unit on another's page" gtu fdt check tree
says "is told its name" "^/soc/gtu@40000000/scu@2000: the node's name is 'scu@2000', 'scu@1000' is right" "$out"
rm -rf tree/soc/gtu@40000000
exits 3 "a system without a GTU" gtu fdt check tree
says "says so" "no node that is compatible" "$out"

check "an overlay to begin with" gtu fdt overlay --registers 0x9000000 --irq 100
cp "$out" overlay.dts
says "with the registers' address" "reg = <0x0 0x09000000 0x0 0x10000>" overlay.dts
if command -v dtc >/dev/null; then
	check "that dtc compiles" dtc -q -@ -I dts -O dtb -o overlay.dtbo overlay.dts
	check "and is right" gtu fdt check overlay.dtbo
else
	skip "the overlay compiled" "no dtc (device-tree-compiler)"
fi

binding=$root/driver/bindings/gtu.yaml
if command -v dt-doc-validate >/dev/null; then
	mkdir -p schemas/misc && cp "$binding" "schemas/misc/gtu,gtu-1.yaml"
	check "the binding keeps the rules of bindings" dt-doc-validate -u "$PWD/schemas" "schemas/misc/gtu,gtu-1.yaml"
	check "without a word" bash -c "! grep . '$out' '$err'"
	# its example, and one that lacks what is required
	example() { sed -n '/^examples:/,$p' "$binding" | sed -n 's/^    //p' | sed "1i /dts-v1/; / { #address-cells = <2>; #size-cells = <2>;" | sed '$a };'; }
	example >example.dts
	dtc -q -I dts -O yaml -o example.yaml example.dts 2>/dev/null
	sed '/dma-coherent/d' example.dts >wrong.dts
	dtc -q -I dts -O yaml -o wrong.yaml wrong.dts 2>/dev/null
	if [ -s example.yaml ]; then
		check "its example fits it" dt-validate -s schemas -l gtu example.yaml
		check "without a word" bash -c "! grep gtu@ '$out' '$err'"
		quietly dt-validate -s schemas -l gtu wrong.yaml
		cat "$out" "$err" >said
		says "one without dma-coherent does not" "'dma-coherent' is a required property" said
	else
		skip "its example" "this dtc has no YAML output"
	fi
else
	skip "the binding's form" "no dt-doc-validate (dt-schema)"
fi
check "the binding names what check asks for" bash -c "for w in gtu,gtu-1 registers doorbells aperture interrupts dma-coherent; do grep -q -- \"\$w\" '$binding' || exit 1; done"
finish
