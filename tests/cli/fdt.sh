# SPDX-License-Identifier: MIT
# Tests gtu fdt on valid and invalid device trees of a device and of a system, and the binding itself.
. "${0%/*}/tap.bash"

prints "gtu fdt show prints the model's tree" "^ *scu@1000$" gtu fdt show
prints "gtu fdt check passes the model" "^model: 1 device, 0 mistakes$" gtu fdt check model
check "gtu info --fdt writes the model's tree" gtu info --fdt own.dtb --quiet
check "gtu fdt check passes the written tree" gtu fdt check own.dtb
check "gtu fdt diff finds the written tree equal to the model's" gtu fdt diff own.dtb model
empty "gtu fdt diff prints nothing for equal trees" "$out"
prints 4 "gtu fdt diff finds that another build differs" "^- /scu@1000/gtu,pipeline-width = 00000004$" gtu fdt diff own.dtb model:scu_width=8
says "gtu fdt diff prints the second width" "^\+ /scu@1000/gtu,pipeline-width = 00000008$" "$out"
head -c 100 own.dtb >short.dtb
fails_with 3 "gtu fdt check refuses a truncated blob" "it says that it has [0-9]+ bytes, 100 are there" gtu fdt check short.dtb
cp own.dtb old.dtb
# both version and last_comp_version
for at in 23 27; do printf '\x0c' | dd of=old.dtb bs=1 seek=$at conv=notrunc status=none; done
fails_with 3 "gtu fdt check refuses a blob of an old version" "it has version 12, at least 16 is needed" gtu fdt check old.dtb
head -c 400 /dev/zero >zero.dtb
exits 3 "gtu fdt show refuses a file that is no device tree" gtu fdt show zero.dtb
exits 3 "gtu fdt show refuses a missing file" gtu fdt show none.dtb
# change each byte: the blob must be refused or read as another tree, without any other failure
bent() {
	local size i verb code refused=0

	size=$(stat -c %s own.dtb)
	for ((i = 0; i < 64; i++)); do
		cp own.dtb bent.dtb
		printf "\\x$(printf %02x $((i * 83 % 256)))" | dd of=bent.dtb bs=1 seek=$((i < 40 ? i : i * 97 % size)) conv=notrunc status=none
		for verb in show check "diff own.dtb" overlay; do
			gtu fdt $verb bent.dtb >/dev/null 2>said
			code=$?
			case $code in 0 | 3 | 4) ;; *) cat said; echo "byte $i: gtu fdt $verb: $code"; return 1 ;; esac
			[ $code -ne 3 ] || refused=$((refused + 1))
		done
	done
	echo "$refused refused"
	[ $refused -ge 20 ]
}
holds "gtu fdt refuses or reads a blob with one wrong byte, and does not crash" bent
exits 2 "gtu fdt diff needs two trees" gtu fdt diff own.dtb
fails_with 2 "gtu fdt refuses an unknown verb" "did you mean check" gtu fdt chekc
exits 2 "gtu fdt check refuses --registers" gtu fdt check --registers 4096

# a folder in the format of the kernel's /proc/device-tree
cells() { printf '%b' "$(printf '\\x%02x' $(for v; do echo $((v >> 24 & 255)) $((v >> 16 & 255)) $((v >> 8 & 255)) $((v & 255)); done))"; }
system() {
	rm -rf tree && mkdir -p tree/soc/gtu@40000000 tree/cpus
	cells 2 >tree/soc/#address-cells
	cells 2 >tree/soc/#size-cells
	printf 'soc\0' >tree/soc/name
	printf 'gtu,gtu-1\0' >tree/soc/gtu@40000000/compatible
	cells 0 0x40000000 0 0x10000 0 0x42000000 0 0x1000000 >tree/soc/gtu@40000000/reg
	cells 0 64 1 >tree/soc/gtu@40000000/interrupts
	printf 'registers\0doorbells\0' >tree/soc/gtu@40000000/reg-names
	: >tree/soc/gtu@40000000/dma-coherent
}
system
prints "gtu fdt check passes a system's tree" "^tree: 1 device, 0 mistakes$" gtu fdt check tree
prints "gtu fdt show prints a system's tree" "reg = <0 1073741824 0 65536" gtu fdt show tree
wrong_because() { exits 3 "gtu fdt check refuses $1" gtu fdt check tree; says "gtu fdt check explains $1" "^/soc/gtu@40000000: .*$2" "$out"; system; }
rm tree/soc/gtu@40000000/dma-coherent
wrong_because "a device that is not coherent" "dma-coherent is missing"
rm tree/soc/gtu@40000000/interrupts
wrong_because "a device without interrupts" "interrupts is missing"
cells 0 0x40000000 0 0x1000 0 0x42000000 0 0x1000000 >tree/soc/gtu@40000000/reg
wrong_because "a device with too few registers" "registers have 0x1000 bytes"
cells 0 0x40000000 0 0x10000 >tree/soc/gtu@40000000/reg
wrong_because "a device without doorbells" "reg is not two or three ranges"
printf 'doorbells\0registers\0' >tree/soc/gtu@40000000/reg-names
wrong_because "reg-names in the wrong order" "reg-names"
rm tree/soc/gtu@40000000/reg-names
wrong_because "a device without reg-names" "reg-names"
cells 0 0x40000000 0 0x10000 0 0x42000000 0 0x1000000 0 0x44000800 0 0x100000 >tree/soc/gtu@40000000/reg
printf 'registers\0doorbells\0aperture\0' >tree/soc/gtu@40000000/reg-names
wrong_because "an aperture that is not page-aligned" "aperture is not whole pages"
cells 0 0x40000000 0 0x10000 0 0x40008000 0 0x1000000 >tree/soc/gtu@40000000/reg
wrong_because "register ranges that overlap" "registers and doorbells overlap"
cells 0 64 1 0 65 4 >tree/soc/gtu@40000000/interrupts
printf 'x\0' >tree/soc/gtu@40000000/interrupt-names
wrong_because "a property that the binding lacks" "interrupt-names is no property of the binding"
evil=$(printf '\033[2J')
mkdir "tree/soc/gtu@40000000/$evil" && : >"tree/soc/gtu@40000000/p$evil"
prints 3 "gtu fdt check refuses names with control characters" '/soc/gtu@40000000/\\x1b\[2J: not compatible' gtu fdt check tree
cp -r tree other && rm -r "other/soc/gtu@40000000/$evil"
check "gtu fdt show prints a tree with control characters" gtu fdt show tree
cp "$out" shown
prints 4 "gtu fdt diff finds a node with control characters" '^- /soc/gtu@40000000/\\x1b\[2J$' gtu fdt diff tree other
says "gtu fdt show escapes control characters" 'x1b.2J' shown
lacks "gtu fdt show prints no control character" $'\033' shown
rm -r other
system
mkdir tree/soc/gtu@40000000/scu@2000 && printf 'gtu,scu-1\0' >tree/soc/gtu@40000000/scu@2000/compatible
prints 3 "gtu fdt check refuses a unit on another unit's page" "^/soc/gtu@40000000/scu@2000: the node's name is 'scu@2000', it must be 'scu@1000'" gtu fdt check tree
rm -rf tree/soc/gtu@40000000
prints 3 "gtu fdt check refuses a system without a GTU" "no node that is compatible" gtu fdt check tree

check "gtu fdt overlay prints an overlay" gtu fdt overlay --registers 0x9000000 --irq 100
cp "$out" overlay.dts
says "the overlay has the address of the registers" "reg = <0x0 0x09000000 0x0 0x10000>" overlay.dts
needs dtc
check "dtc compiles the overlay" dtc -q -@ -I dts -O dtb -o overlay.dtbo overlay.dts
check "gtu fdt check passes the compiled overlay" gtu fdt check overlay.dtbo
always

binding=$root/driver/bindings/gtu.yaml
# blob TREE: compiles a source to a blob of the same name
blob() { dtc -q -I dts -O dtb -o "${1%.dts}.dtb" "$1"; }
# the binding under its name in a kernel tree, and in one schema with those that it refers to
schema() {
	rm -rf schemas && mkdir -p schemas/misc && cat >"schemas/misc/gtu,gtu-1.yaml" && dt-mk-schema -j "$PWD/schemas" >schema.json
}
# complains NAME REGEX TREE: the kernel's check and gtu fdt check both report the error
complains() {
	local name=$1
	blob "$3"
	dt-validate -s schema.json "${3%.dts}.dtb" >said 2>&1
	says "dt-validate refuses $name" "$2" said
	exits 3 "gtu fdt check refuses $name" gtu fdt check "${3%.dts}.dtb"
}
needs dtc dt-doc-validate dt-extract-example
schema <"$binding"
check "dt-doc-validate passes the binding" dt-doc-validate -u "$PWD/schemas" "$PWD/schemas/misc/gtu,gtu-1.yaml"
empty "dt-doc-validate prints nothing about the binding" "$out"
empty "dt-doc-validate prints no error about the binding"
dt-extract-example "$binding" >example.dts
check "dtc compiles the binding's example" blob example.dts
check "dt-validate passes the binding's example" dt-validate -s schema.json example.dtb
empty "dt-validate prints nothing about the example" "$out"
empty "dt-validate prints no error about the example"
check "gtu fdt check passes the binding's example" gtu fdt check example.dtb
# the checks find injected errors, so the results above are not vacuous
sed '/dma-coherent/d' example.dts >wrong.dts
complains "a device without dma-coherent" "'dma-coherent' is a required property" wrong.dts
sed '/reg-names/d' example.dts >wrong.dts
complains "a device without reg-names" "'reg-names' is a required property" wrong.dts
sed 's/"registers", "doorbells"/"doorbells", "registers"/' example.dts >wrong.dts
complains "reg-names in the wrong order" "reg-names:0: 'registers' was expected" wrong.dts
sed 's/dma-coherent;/dma-coherent; gtu,queues-of-mine = <3>;/' example.dts >wrong.dts
complains "an unknown property" "'gtu,queues-of-mine' (was|does not)|Unevaluated|[Aa]dditional properties" wrong.dts
# the overlay, on a system without other devices
cat >system.dts <<-END
	/dts-v1/;
	/ {
		#address-cells = <2>;
		#size-cells = <2>;
		compatible = "foo";
		model = "foo";
		interrupt-parent = <&gic>;
		gic: gic {
			interrupt-controller;
			#interrupt-cells = <3>;
		};
	};
END
blob system.dts
check "fdtoverlay applies the overlay to a system" fdtoverlay -i system.dtb -o both.dtb overlay.dtbo
check "dt-validate passes the system with the overlay" dt-validate -s schema.json both.dtb
cat "$out" "$err" >said
holds "the system with the overlay has the device" eval 'fdtdump both.dtb 2>/dev/null | grep -q gtu@'
holds "dt-validate prints nothing about the overlay's device" awk '/gtu@/ { exit 1 }' said
check "gtu fdt check passes the system with the overlay" gtu fdt check both.dtb
sed 's/maxItems: 64/maxItems: many/' "$binding" | schema 2>/dev/null
exits 1 "dt-doc-validate refuses a binding that breaks the rules" dt-doc-validate -u "$PWD/schemas" "$PWD/schemas/misc/gtu,gtu-1.yaml"
always
for word in gtu,gtu-1 registers doorbells aperture interrupts dma-coherent; do
	says "the binding has $word, which gtu fdt check asks for" "$word" "$binding"
done
finish
