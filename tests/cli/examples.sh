# SPDX-License-Identifier: MIT
# Documentation/examples: programs built as a stranger would, against the installed library, give the tool's answers;
# the unit to begin from works when it is put where its comment says.
. "${0%/*}/tap.bash"

gtu --quiet generate kronecker --scale 9 --seed 7 g.gtu
gtu --quiet run bfs g.gtu --source 0 --unit none --output hops.txt
reached=$(awk '$2 < 2^62 { n++; if ($2 > far) far = $2 } END { print n " vertices within " far " hops" }' hops.txt)
holds "gtu run bfs reaches more than 100 vertices" test "${reached%% *}" -gt 100

needs_install
needs pkg-config
check "make install installs the library" in_turn make -s -C "$root" install DESTDIR="$work/dest" PREFIX=/opt/gtu SYSCONFDIR=/opt/gtu/etc
export PKG_CONFIG_PATH=$work/dest/opt/gtu/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/dest
export LD_LIBRARY_PATH=$work/dest/opt/gtu/lib
# the installed examples are those of the source
sources=("$root"/Documentation/examples/*.c)
at_least 6 ${#sources[@]} "examples in the source"
for source in "${sources[@]}"; do
	source=dest/opt/gtu/share/doc/gtu/examples/$(basename "$source")
	name=$(basename "$source" .c)
	[ "$name" = unit ] && continue
	holds "$name.c has fewer than 60 lines" awk 'END { exit NR < 5 || NR >= 60 }' "$source"
	check "$name.c builds without a warning against the installed library" bash -c \
		"gcc -std=gnu11 -Wall -Wextra -Werror -O1 $source -o $name \$(pkg-config --cflags --libs gtu)"
	exits 1 "$name fails without its graph" "./$name" none.gtu
	says "$name names the missing graph" "none.gtu"
	check "$name runs over a graph" "./$name" g.gtu
	[ -n "$missing" ] || cp "$out" "$name.txt"
done
for name in scu graphpeg emogi; do
	head -1 $name.txt >first 2>/dev/null
	same "$name reaches the vertices that gtu run reaches" first <(echo "$reached")
done
same "weave gives the hops that gtu run gives" weave.txt <(sed 's/ 9223372036854775807$/ -1/' hops.txt)
holds "emogi counts the requests of its run" awk '/byte reads/ { n += $3 } END { exit n == 0 }' emogi.txt
edges=$(gtu stat g.gtu --json - | sed -n 's/.*"edges": *\([0-9]*\).*/\1/p')
degree=$(gtu stat g.gtu --json - | sed -n 's/.*"max_degree": *\([0-9]*\).*/\1/p')
head -1 iru.txt >first 2>/dev/null
# edges go both ways: the greatest in-degree is the greatest out-degree
same "iru gets every edge once" first <(echo "$edges edges, the greatest in-degree is $degree")
always

# the unit, where its own comment puts it
mkdir -p firmware-model/units/degrees
cp -r "$root"/firmware-model/{device,units} firmware-model
cp "$root/Documentation/examples/unit.c" firmware-model/units/degrees/degrees.c
model=firmware-model/device
units=$(sed -n 's/^#define GTU_UNITS[^0-9]*\([0-9]*\)u$/\1/p' $model/core.h)
holds "core.h has the number of units where the comment in unit.c says" test -n "$units"
sed -i "s/^\(#define GTU_UNITS[^0-9]*\)${units}u/\1$((units + 1))u/" $model/core.h
sed -i 's/^extern const struct gtu_unit gtu_unit_zcm;.*/&\nextern const struct gtu_unit gtu_unit_degrees;/' $model/device.h
sed -i 's/&gtu_unit_zcm,$/\&gtu_unit_zcm, \&gtu_unit_degrees,/' $model/device.c
sed -i 's/offset <= GTU_PAGE_ZCM + GTU_PAGE - 1/offset <= 0x6000 + GTU_PAGE - 1/' $model/device.c
holds "device.c has the page limit where the comment in unit.c says" grep -q 'offset <= 0x6000 + GTU_PAGE - 1' $model/device.c
holds "device.c and device.h each have one place for the new unit" test "$(grep -c gtu_unit_degrees $model/device.h $model/device.c | grep -c ':1$')" -eq 2
cat >use.c <<'END'
#include <stdio.h>
#include <gtu/gtu.h>

int main(void)
{
	uint64_t row[9] = { 0, 3, 3, 10, 11, 20, 20, 26, 30 }, degree[8] = { 0 };
	struct gtu_hw_desc desc = { .opcode = 0x50 };
	struct gtu_completion done;
	struct gtu_region in, out;
	struct gtu_device *dev;
	struct gtu_error err;
	struct gtu_queue *q;
	int i;

	if (gtu_open("model", &dev, &err) || gtu_queue_create(dev, NULL, &q, &err) ||
	    gtu_region_add(dev, row, sizeof(row), GTU_READ, &in, &err) ||
	    gtu_region_add(dev, degree, sizeof(degree), GTU_WRITE, &out, &err))
		goto failed;
	desc.operand[0] = (struct gtu_hw_operand){ .key = in.key, .count = 9 };
	desc.operand[1] = (struct gtu_hw_operand){ .key = out.key, .count = 8 };
	if (gtu_do(q, &desc, GTU_FOREVER, &done, &err))
		goto failed;
	for (i = 0; i < 8; i++)
		printf("%d ", (int)degree[i]);
	printf("%d %d\n", (int)done.count, gtu_get_info(dev)->units >> 5 & 1);
	desc.operand[1].count = 7;
	if (gtu_do(q, &desc, GTU_FOREVER, &done, &err) != GTU_ERR_SPACE || done.needed != 8)
		return 1;
	desc.operand[1].key = in.key;
	return gtu_do(q, &desc, GTU_FOREVER, &done, &err) == 0;
failed:
	fprintf(stderr, "%s\n", err.text);
	return 1;
}
END
build_unit() {
	local file

	for file in $(find firmware-model -name '*.c'); do
		gcc -std=gnu11 -O0 -Wall -Wextra -Werror -Wno-psabi -D_GNU_SOURCE -I. -I"$root/include" -c "$file" -o "${file%.c}.o" ||
			return 1
	done
	gcc -I"$root/include" use.c $(find firmware-model -name '*.o') "$bin/libgtu.a" -lfdt -llzma -lz -lzstd -lexpat -lm -lpthread -ldl -o use
}
needs gcc
check "a device with the new unit builds without a warning" build_unit
check "the new unit runs a job and refuses two wrong ones" ./use
same "the new unit returns the degrees" "$out" <(echo "3 0 7 1 9 0 6 4 8 1")
always
finish
