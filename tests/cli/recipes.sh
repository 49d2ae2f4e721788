# SPDX-License-Identifier: MIT
# Follows the README's recipes for a new unit, reader, generator and algorithm in a copy of the tree. The copy must build,
# its tool must list and verify the additions, and the unit's own test must pass.
. "${0%/*}/tap.bash"

[ -d "$root/firmware-model" ] || { skip "the recipes" "no source here"; finish; exit; }
(cd "$root" && tar c Makefile Documentation/examples firmware-model include libruntime packaging tests/unit tools) | tar x
export PATH=$work/build:$PATH

# put NAME FILE LINE: inserts standard input before the first line of FILE that contains LINE; fails if there is none
put() {
	if awk -v before="$3" 'FNR == NR { text = text $0 "\n"; next }
		!done && index($0, before) { printf "%s", text; done = 1 } { print } END { exit !done }' - "$2" >new; then
		mv new "$2"
		report "ok" "$1"
	else
		report "not ok" "$1"
	fi
}

# ---- the unit, as described in the comment of unit.c -----------------------------------------------------------

unit=firmware-model/units/degrees/degrees.c
# part NAME: prints a marked part of unit.c and removes it from the file
part() {
	sed -n "/^\/\* BEGIN $1 /,/^\/\* END /p" $unit | sed '1d;$d'
	sed -i "/^\/\* BEGIN $1 /,/^\/\* END /d" $unit
}
mkdir -p ${unit%/*}
cp Documentation/examples/unit.c $unit
part hw.h >part.hw
part units.h >part.units
check "unit.c marks lines for hw.h and units.h" test -s part.hw -a -s part.units
put "hw.h takes the numbers of the unit" include/uapi/gtu/hw.h '#include "units.h"' <part.hw
sed '$d' include/uapi/gtu/units.h >new && { cat new part.units; echo '#endif'; } >include/uapi/gtu/units.h
sed -i 's/^\tU(ZCM, zcm, "zero-copy monitor")$/& \\\n\tU(DEGREES, degrees, "degrees of vertices")/' include/uapi/gtu/units.h
check "units.h takes the row of the unit" grep -q 'U(DEGREES' include/uapi/gtu/units.h
cat >tests/unit/units/test_degrees.c <<'END'
// SPDX-License-Identifier: MIT
#include "tests/unit/fixture.h"

#define N 100u

TEST(degrees_are_right_wherever_the_job_is_cut)
{
	struct gtu_hw_desc desc = { .opcode = GTU_OP_DEGREES };
	uint64_t *row, *degree, cycles = 0;
	unsigned budget, i;

	for (budget = 1; budget <= N + 1; budget += 20) {
		struct fx *f = fx_open(&(struct gtu_dev_config){ .degrees_latency = 7 }, 1);
		struct fx_buffer *in = fx_buffer(f, 4096), *out = fx_buffer(f, 4096);
		struct gtu_hw_cpl c;

		row = (uint64_t *)in->at, degree = (uint64_t *)out->at;
		for (i = 0; i <= N; i++)
			row[i] = i * i;
		desc.operand[GTU_DEGREES_IN] = (struct gtu_hw_operand){
			.key = fx_region(f, in, 0, 4096, GTU_REGION_READ), .count = N + 1 };
		desc.operand[GTU_DEGREES_OUT] = (struct gtu_hw_operand){
			.key = fx_region(f, out, 0, 4096, GTU_REGION_WRITE), .count = N };
		c = fx_do(f, &desc, budget);
		CHECK_EQ(c.status, GTU_CPL_OK);
		CHECK_EQ(c.count, N);
		for (i = 0; i < N; i++)
			CHECK_EQ(degree[i], 2 * i + 1);
		CHECK(!cycles || c.cycles == cycles);
		cycles = c.cycles;
	}
	CHECK_EQ(cycles, 7 + N);
}

TEST_MAIN
END

# ---- a reader, a generator, an algorithm, as in the README's table ---------------------------------------------

cat >libruntime/graph/read/third.c <<'END'
// SPDX-License-Identifier: MIT
/* Edge lists whose two ids follow one other column. */
#include "reader.h"

static bool detect(const struct gtu_input *in)
{
	return gtu_path_ends(in->path, ".third");
}

static int read(struct gtu_input *in, const struct gtu_read_options *opt, struct gtu_graph **out, struct gtu_error *err)
{
	return gtu_read_pairs(in, &(struct gtu_pairs){ .skip = 1 }, opt, out, err);
}

const struct gtu_reader gtu_reader_third = { "third", detect, read, false };
END
put "reader.h takes the row of the reader" libruntime/graph/read/reader.h 'R(edge_list)' <<<$'\tR(third) \\'

cat >libruntime/graph/generate/ring.c <<'END'
// SPDX-License-Identifier: MIT
/* A ring: each vertex and the next one. */
#include "generate.h"

static void fill(const void *arg, struct gtu_edge_list *l, uint64_t block, uint64_t first, uint64_t end)
{
	const struct gtu_generate_options *opt = arg;

	(void)block;
	for (; first < end; first++) {
		gtu_put(l->src, l->id_bytes, first, first);
		gtu_put(l->dst, l->id_bytes, first, (first + 1) % opt->n);
	}
}

static int generate(const struct gtu_generate_options *opt, const struct gtu_progress *progress,
		    struct gtu_raw_graph *raw, struct gtu_error *err)
{
	raw->n = opt->n;
	return gtu_draw_pairs(&raw->edges, opt->n, opt->n, fill, opt, opt->threads, progress, err);
}

const struct gtu_generator_entry gtu_generator_ring = { "ring", 1ull << 40, 0, 0, 0, generate, NULL };
END
put "graph.h takes the number of the generator" include/gtu/graph.h 'GTU_GENERATORS' <<<$'\tGTU_GEN_RING,'
put "generate.h takes the row of the generator" libruntime/graph/generate/generate.h 'G(FEM3D, fem3d)' <<<$'\tG(RING, ring) \\'

cat >libruntime/algorithm/outdegrees.c <<'END'
// SPDX-License-Identifier: MIT
/* How many edges leave each vertex. */
#include "common.h"

int gtu_out_degrees(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
		    uint64_t *degree, struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct gtu_alg a;
	uint64_t v;
	int rc = gtu_alg_begin(&a, "outdegrees", dev, g, opt, stats, err);

	for (v = 0; !rc && v < g->n; v++)
		degree[v] = g->row[v + 1] - g->row[v];
	return gtu_alg_end(&a, rc);
}
END
put "gtu.h declares the algorithm" include/gtu/gtu.h 'int gtu_stcon(' <<'END'
int gtu_out_degrees(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
		    uint64_t *degree, struct gtu_algorithm_stats *stats, struct gtu_error *err);
END
put "libgtu.map exports the algorithm" libruntime/libgtu.map 'gtu_stcon;' <<<$'\tgtu_out_degrees;'
put "run_kind.c takes the reference of the algorithm" tools/run/run_kind.c 'static const struct run_kind kinds[]' <<'END'
static int fill_outdegrees(struct run *r, void *expected)
{
	uint64_t *degree = expected, v, e;

	memset(degree, 0, r->graph.n * sizeof(*degree));
	for (v = 0; v < r->graph.n; v++)
		for (e = r->graph.row[v]; e < r->graph.row[v + 1]; e++)
			degree[v]++;
	return 0;
}

END
put "run_kind.c takes the row of the algorithm" tools/run/run_kind.c '{ "hash", NULL' <<'END'
	{ "outdegrees", NULL, "edges that leave each vertex", "passes",
	  0, 8, .integers = gtu_out_degrees, .reference = fill_outdegrees, .write = run_write_core },
END

# ---- the additions work --------------------------------------------------------------------------------------

# Built in a folder that stays, where only changed files are compiled again. Warnings are errors; without optimization, to
# save time.
kept=$root/build/recipes
mkdir -p "$kept"
exec 9>"$kept.lock" && flock 9
rm -f new part.*
(cd "$kept" && find . -path ./build -prune -o -type f -print) >old
while read -r file; do [ -e "$file" ] || rm "$kept/$file"; done <old
find . -type f ! -name '.*' ! -name old -print >new
while read -r file; do cmp -s "$file" "$kept/$file" || { mkdir -p "$kept/${file%/*}" && cp "$file" "$kept/$file"; }; done <new
rm -f "$kept/build/gtu"
build=(make -s -C "$kept" -j"$(nproc)" OPT="-O0 -Werror" NVCC=)
check "the tree with all four additions builds without a warning" "${build[@]}" build/gtu build/libgtu.so
[ -x "$kept/build/gtu" ] || finish
ln -s "$kept/build" build
check "the unit test of the new unit builds" "${build[@]}" build/tests/test_degrees
check "the unit test of the new unit passes" build/tests/test_degrees

prints "gtu info opens a device with the new unit" '^  degrees +present +degrees of vertices' gtu info --device model:degrees_latency=9
says "gtu info shows the parameter of the unit" '^ +9 cycles of a fetch \(latency\)' "$out"
says "the device tree has a node of the unit" 'degrees@6000' "$out"
exits 2 "a value above the limit of the parameter is a usage error" gtu info --device model:degrees_latency=2000000
says "the error names the value and both limits" 'degrees_latency is 2000000: it must be at least 1 and at most 1048576'
check "gtu fdt check accepts the node of the unit" gtu fdt check
check "gtu bringup passes with the unit" gtu bringup --device model
check "gtu run reads the counters of the unit" gtu run bfs --json run.json <(printf '0 1\n1 2\n')
says "the JSON of gtu run has the counters of the unit" '"rows": 0' run.json

check "the generator makes a graph" gtu --quiet generate ring --vertices 100 ring.gtu
verified "the graph of the generator has the components of the reference code" gtu run cc ring.gtu --verify --json cc.json
printf 'x 5 6\ny 6 7\nz 5 7\n' >g.third
prints "the reader reads a graph" '\b3 vertices' gtu stat g.third
verified "gtu run --verify accepts the values of the algorithm" gtu run outdegrees ring.gtu --unit none --verify --output degrees.txt
says "the last vertex of the ring has two edges" '^99 2$' degrees.txt
prints "gtu run --help succeeds" '^  outdegrees +edges that leave each vertex$' gtu run --help
finish
