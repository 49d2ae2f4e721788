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
# a byte of it is another one: it is refused, or is another tree, and nothing else comes of it
bent() {
	local size i verb

	size=$(stat -c %s own.dtb)
	for ((i = 0; i < 64; i++)); do
		cp own.dtb bent.dtb
		printf "\\x$(printf %02x $((i * 83 % 256)))" | dd of=bent.dtb bs=1 seek=$((i < 40 ? i : i * 97 % size)) conv=notrunc status=none
		for verb in show check "diff own.dtb" overlay; do
			gtu fdt $verb bent.dtb >/dev/null 2>said
			case $? in 0 | 3 | 4) ;; *) cat said; echo "byte $i: gtu fdt $verb"; return 1 ;; esac
		done
	done
}
check "blobs with a byte that is another" bent
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
	printf 'registers\0doorbells\0' >tree/soc/gtu@40000000/reg-names
	: >tree/soc/gtu@40000000/dma-coherent
}
system
check "a system's tree" gtu fdt check tree
says "has one device" "^tree: 1 device, 0 mistakes$" "$out"
check "shown" gtu fdt show tree
says "with its registers" "reg = <0 1073741824 0 65536" "$out"
wrong_because() { exits 3 "$1" gtu fdt check tree; says "says so" "^/soc/gtu@40000000: .*$2" "$out"; system; }
rm tree/soc/gtu@40000000/dma-coherent
wrong_because "not coherent" "dma-coherent is missing"
rm tree/soc/gtu@40000000/interrupts
wrong_because "without interrupts" "interrupts is missing"
cells 0 0x40000000 0 0x1000 0 0x42000000 0 0x1000000 >tree/soc/gtu@40000000/reg
wrong_because "with few registers" "registers have 0x1000 bytes"
cells 0 0x40000000 0 0x10000 >tree/soc/gtu@40000000/reg
wrong_because "without doorbells" "reg is not two or three ranges"
printf 'doorbells\0registers\0' >tree/soc/gtu@40000000/reg-names
wrong_because "names in another order" "reg-names"
rm tree/soc/gtu@40000000/reg-names
wrong_because "without names" "reg-names"
cells 0 0x40000000 0 0x10000 0 0x42000000 0 0x1000000 0 0x44000800 0 0x100000 >tree/soc/gtu@40000000/reg
printf 'registers\0doorbells\0aperture\0' >tree/soc/gtu@40000000/reg-names
wrong_because "an aperture between pages" "aperture is not whole pages"
cells 0 0x40000000 0 0x10000 0 0x40008000 0 0x1000000 >tree/soc/gtu@40000000/reg
wrong_because "ranges that overlap" "registers and doorbells overlap"
cells 0 64 1 0 65 4 >tree/soc/gtu@40000000/interrupts
printf 'x\0' >tree/soc/gtu@40000000/interrupt-names
wrong_because "what the binding does not have" "interrupt-names is no property of the binding"
evil=$(printf '\033[2J')
mkdir "tree/soc/gtu@40000000/$evil" && : >"tree/soc/gtu@40000000/p$evil"
exits 3 "names of control characters" gtu fdt check tree
says "are told in words" '/soc/gtu@40000000/\\x1b\[2J: not compatible' "$out"
cp -r tree other && rm -r "other/soc/gtu@40000000/$evil"
check "shown" gtu fdt show tree
exits 4 "and compared" gtu fdt diff tree other
says "without a control character" '^- /soc/gtu@40000000/\\x1b\[2J$' "$out"
check "nor in what is shown" bash -c "gtu fdt show tree | grep -q 'x1b.2J' && ! gtu fdt show tree | grep -q '$evil'"
rm -r other
system
mkdir tree/soc/gtu@40000000/scu@2000 && printf 'gtu,scu-1\0' >tree/soc/gtu@40000000/scu@2000/compatible
exits 3 "a unit on another's page" gtu fdt check tree
says "is told its name" "^/soc/gtu@40000000/scu@2000: the node's name is 'scu@2000', it must be 'scu@1000'" "$out"
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
# blob TREE: a source as a blob of the same name
blob() { dtc -q -I dts -O dtb -o "${1%.dts}.dtb" "$1"; }
# the binding under the name that it has in a kernel tree, and in one schema with those that it stands on
schema() {
	rm -rf schemas && mkdir -p schemas/misc && cat >"schemas/misc/gtu,gtu-1.yaml" && dt-mk-schema -j "$PWD/schemas" >schema.json
}
# complains NAME REGEX TREE: the kernel's check and ours, each says so
complains() {
	local name=$1
	blob "$3"
	dt-validate -s schema.json "${3%.dts}.dtb" >said 2>&1
	says "$name: the binding's rules say so" "$2" said
	exits 3 "$name: gtu fdt check too" gtu fdt check "${3%.dts}.dtb"
}
if command -v dt-doc-validate >/dev/null && command -v dt-extract-example >/dev/null && command -v dtc >/dev/null; then
	schema <"$binding"
	check "the binding keeps the rules of bindings" dt-doc-validate -u "$PWD/schemas" "$PWD/schemas/misc/gtu,gtu-1.yaml"
	check "without a word" bash -c "! grep . '$out' '$err'"
	dt-extract-example "$binding" >example.dts
	check "its example compiles" blob example.dts
	check "fits it" dt-validate -s schema.json example.dtb
	check "without a word" bash -c "! grep . '$out' '$err'"
	check "and what gtu fdt check asks for" gtu fdt check example.dtb
	# what is wrong is found, so the above is no silence of a check that saw nothing
	sed '/dma-coherent/d' example.dts >wrong.dts
	complains "without dma-coherent" "'dma-coherent' is a required property" wrong.dts
	sed '/reg-names/d' example.dts >wrong.dts
	complains "without names" "'reg-names' is a required property" wrong.dts
	sed 's/"registers", "doorbells"/"doorbells", "registers"/' example.dts >wrong.dts
	complains "names in another order" "reg-names:0: 'registers' was expected" wrong.dts
	sed 's/dma-coherent;/dma-coherent; gtu,queues-of-mine = <3>;/' example.dts >wrong.dts
	complains "a property of nobody's" "'gtu,queues-of-mine' (was|does not)|Unevaluated|[Aa]dditional properties" wrong.dts
	# the overlay, on a system that has nothing else
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
	check "the overlay on a system" fdtoverlay -i system.dtb -o both.dtb overlay.dtbo
	check "fits the binding" dt-validate -s schema.json both.dtb
	check "without a word of it" bash -c "! grep 'gtu@' '$out' '$err'"
	check "and gtu fdt check" gtu fdt check both.dtb
	sed 's/maxItems: 64/maxItems: many/' "$binding" | schema 2>/dev/null
	exits 1 "a binding that breaks the rules" dt-doc-validate -u "$PWD/schemas" "$PWD/schemas/misc/gtu,gtu-1.yaml"
else
	skip "the binding's form, and trees by it" "no dt-schema or no dtc (apt-get install dt-schema device-tree-compiler)"
fi
check "the binding names what check asks for" bash -c "for w in gtu,gtu-1 registers doorbells aperture interrupts dma-coherent; do grep -q -- \"\$w\" '$binding' || exit 1; done"
finish
