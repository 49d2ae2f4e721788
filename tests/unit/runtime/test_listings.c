// SPDX-License-Identifier: MIT
/*
 * The papers' kernels (tests/cuda/listings.cu: GraphPEG, figure 4; SparseWeaver, figure 9; IRU,
 * section 4.1) over the model's streams: results equal to plain loops. On a GPU with
 * GTU_TEST_GPU=1, otherwise with the kernels as CPU code.
 */
#include "tests/unit/runtime/streams_bed.h"

#define LANES		32u
#define THREADS		(b.blocks * 256)
#define DATA_AT		RING_BYTES	/* the graph and the lists, after the rings */

/* as in gtu/warp_elements.cuh and gtu/weaver.cuh, which are CUDA C++ */
struct elements {
	uint64_t engine;
	uint32_t engines, all_lanes, offset[4], wide, reserved;
	uint64_t warp, error;
};
struct warp_elements {
	uint32_t words[6 + 4];
	uint64_t values[2 * 4 * LANES];
};
struct memory {
	uint32_t key, records;
	uint64_t offset, bytes, rings, stop, state;
	uint32_t warps, reserved;
};
struct stream {
	struct elements e;
	struct records engine[32];
	struct gtu_hw_desc desc;
	uint32_t stride, record_bytes;
};
struct weaver_stream {
	struct elements work;
	uint64_t table;
	uint32_t rounds;
	uint64_t count, arrived, registered;
};

static CUresult (*get_global)(CUdeviceptr *at, size_t *bytes, CUmodule module, const char *name);
static bool (*configure_iru_kernel)(const struct memory *m, uint32_t param, struct stream *s, size_t bytes);
static bool (*configure_peg_kernel)(const struct memory *m, uint32_t param, uint32_t back_log2, struct stream *s, size_t bytes);
static bool (*configure_weaver_kernel)(const struct memory *m, uint32_t param, uint32_t back_log2, struct stream *s, size_t bytes);
static CUdeviceptr state;		/* in GPU memory: engines, tickets, error, warp states, results */

enum { ERROR_AT = 2304, COUNTS_AT = 2560, WARPS_AT = 4096, STATE_BYTES = 8 << 20 };
#define RESULT_AT	(1 << 20)

/* A function of the headers, which are C++: compiled with the kernels for a CPU. */
static void *host_function(const char *name)
{
	void *library = dlopen(simulated_gpu(), RTLD_NOW | RTLD_LOCAL), *symbol;

	CHECKF(library, "%s", dlerror());
	symbol = dlsym(library, name);
	CHECK(symbol);
	return symbol;
}

static void begin(void)
{
	open_both("listings");
	if (state)
		return;
	get_global = (CUresult (*)(CUdeviceptr *, size_t *, CUmodule, const char *))dlsym(b.api.library, "cuModuleGetGlobal_v2");
	CHECK(get_global);
	configure_iru_kernel = host_function("cpu_configure_iru");
	configure_peg_kernel = host_function("cpu_configure_peg");
	configure_weaver_kernel = host_function("cpu_configure_weaver");
	CU(b.api.cuMemAlloc_v2(&state, STATE_BYTES));
}

/* Rings at the start of the region, of @records records each. */
static struct memory memory(uint32_t records)
{
	return (struct memory){ .key = b.region.key, .records = records, .bytes = RING_BYTES, .rings = b.device,
				.stop = b.device + FLAGS_AT, .state = state, .warps = THREADS / LANES };
}

/* Clear the kernel's state and copy the engines to it. */
static void prepare(const struct stream *s)
{
	CU(b.api.cuMemsetD8Async(state, 0, WARPS_AT + THREADS / LANES * sizeof(struct warp_elements), NULL));
	CU(b.api.cuMemcpyHtoDAsync_v2(state, s->engine, s->e.engines * sizeof(*s->engine), NULL));
	CU(b.api.cuStreamSynchronize(NULL));
	*(uint32_t *)(b.host + FLAGS_AT) = 0;
}

static void set_global(const char *name, size_t at, const void *value, size_t bytes)
{
	CUdeviceptr to;
	size_t have;

	CU(get_global(&to, &have, b.module, name));
	CHECK(have >= at + bytes);
	CU(b.api.cuMemcpyHtoDAsync_v2(to + at, value, bytes, NULL));
	CU(b.api.cuStreamSynchronize(NULL));
}

static void check_error(void)
{
	int error;

	CU(b.api.cuMemcpyDtoH_v2(&error, state + ERROR_AT, sizeof(error)));
	CHECK_EQ(error, 0);
}

/* ---- A graph in the region -------------------------------------------------------------------- */

static struct {
	struct gtu_graph *g, *transposed;
	uint64_t row, col, weight, in_row, in_col, list[2], end; /* offsets in the region */
} d;

static uint64_t lay(uint64_t *at, const void *data, uint64_t bytes)
{
	const uint64_t here = *at;

	if (data)
		memcpy(b.host + here, data, bytes);
	*at = (here + bytes + 63) & ~63ull;
	CHECK(*at <= FLAGS_AT);
	return here;
}

static void load_graph(void)
{
	uint64_t at = DATA_AT;

	begin();
	d.g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 10, .degree = 6, .seed = 5,
						      .random_weights = 9 });
	OK(gtu_graph_transpose(d.g, NULL, &d.transposed, &err));
	test_at_end(release_graph, d.transposed);
	CHECK(d.g->edge_bytes == 4 && d.g->weight_type == GTU_WEIGHT_U32);
	d.row = lay(&at, d.g->row, 8 * (d.g->n + 1));
	d.col = lay(&at, d.g->col, 4 * d.g->m);
	d.weight = lay(&at, d.g->weight, 4 * d.g->m);
	d.in_row = lay(&at, d.transposed->row, 8 * (d.g->n + 1));
	d.in_col = lay(&at, d.transposed->col, 4 * d.g->m);
	d.list[0] = lay(&at, NULL, 4 * d.g->m);
	d.list[1] = lay(&at, NULL, 4 * d.g->m);
	d.end = at;
}

static struct gtu_hw_operand operand(uint64_t offset, uint64_t count)
{
	return (struct gtu_hw_operand){ .key = b.region.key, .count = (uint32_t)count, .offset = offset };
}

/* Levels by a plain queue. */
static void levels(uint64_t source, int *level)
{
	uint64_t *queue = malloc(8 * d.g->n), head = 0, tail = 0, v, e;

	for (v = 0; v < d.g->n; v++)
		level[v] = INT32_MAX;
	level[source] = 0;
	queue[tail++] = source;
	while (head < tail)
		for (v = queue[head++], e = d.g->row[v]; e < d.g->row[v + 1]; e++)
			if (level[gtu_graph_target(d.g, e)] == INT32_MAX) {
				level[gtu_graph_target(d.g, e)] = level[v] + 1;
				queue[tail++] = gtu_graph_target(d.g, e);
			}
	free(queue);
}

/* ---- GraphPEG, figure 4 ----------------------------------------------------------------------- */

static struct stream peg;

/* An output list ends when nothing more can be pushed: after the kernel. */
static void close_lists(void)
{
	for (unsigned i = 0; i < peg.e.engines; i++)
		__atomic_store_n(&((struct gtu_hw_ring *)(void *)(b.host + (size_t)i * peg.stride))->closed, 1, __ATOMIC_RELEASE);
	gtu_stream_notify(b.q);
}

/* Run a kernel over the list of @n vertices in d.list[@from]; pushes go to the other list. Returns their number. */
static uint64_t run_peg(const char *kernel, void **args, unsigned engines, uint32_t param, bool pull, unsigned from, uint64_t n,
			bool output)
{
	const struct memory m = memory(8);
	struct gtu_hw_desc *desc = &peg.desc;

	CHECK(configure_peg_kernel(&m, param | engines << GTU_PEG_ENGINES_SHIFT, output ? 5 : 0, &peg, sizeof(peg)));
	prepare(&peg);
	desc->operand[GTU_PEG_INPUT] = operand(d.list[from], n);
	for (unsigned i = 0; i < 2; i++)
		set_global("gtu_vertex_lists", i * sizeof(peg.e), &peg.e, sizeof(peg.e));
	if (!(param & GTU_PEG_VERTEX_LIST)) {
		desc->operand[GTU_PEG_VERTICES] = operand(pull ? d.in_row : d.row, d.g->n + 1);
		desc->operand[GTU_PEG_EDGES] = operand(pull ? d.in_col : d.col, d.g->m);
	}
	if (param & GTU_PEG_WITH_WEIGHT)
		desc->operand[GTU_PEG_WEIGHTS] = operand(d.weight, d.g->m);
	if (output)
		desc->operand[GTU_PEG_OUTPUT] = operand(d.list[!from], d.g->m);
	launch(kernel, args, (struct serving){ .desc = desc, .rings = engines, .stride = peg.stride,
					       .end = output ? close_lists : NULL });
	check_error();
	return output ? cpl.needed : 0;
}

/* BFS level by level with the paper's kernel; the frontier is the output list of the level before. */
static void check_bfs(bool pull, unsigned engines, bool demand)
{
	const uint64_t source = 1;
	int *want = malloc(4 * d.g->n), *got = malloc(4 * d.g->n);
	uint8_t *active = calloc(d.g->n, 1);
	CUdeviceptr level = state + RESULT_AT, active_at = level + 4 * d.g->n;
	uint64_t n = 1, v, i;
	unsigned from = 0;
	int iteration, in_vl = 0, out_vl = 1;
	char graph = 0;

	levels(source, want);
	for (v = 0; v < d.g->n; v++)
		got[v] = v == source ? 0 : INT32_MAX;
	CU(b.api.cuMemcpyHtoDAsync_v2(level, got, 4 * d.g->n, NULL));
	*(uint32_t *)(b.host + d.list[0]) = (uint32_t)source;
	for (iteration = 1; n; iteration++) {
		uint32_t *list = (void *)(b.host + d.list[from]);
		void *args[] = { &level, &iteration, &graph, &in_vl, &out_vl, &active_at };
		uint64_t all = 0;

		CHECK(iteration < 100);
		if (pull) {
			/* the frontier is a bit a vertex; the list holds the vertices without a level */
			memset(active, 0, d.g->n);
			for (i = 0; i < n; i++)
				active[list[i]] = 1;
			CU(b.api.cuMemcpyHtoDAsync_v2(active_at, active, d.g->n, NULL));
			CU(b.api.cuMemcpyDtoH_v2(got, level, 4 * d.g->n));
			for (v = 0; v < d.g->n; v++)
				if (got[v] == INT32_MAX)
					list[all++] = (uint32_t)v;
			if (!all)
				break;
		}
		n = run_peg(pull ? "BFSPull" : "BFSPush", args, engines,
			    GTU_PEG_OFFSETS_8 | GTU_PEG_WITH_DST | (pull ? GTU_PEG_PULL | GTU_PEG_WITH_SRC : 0) |
			    (demand ? GTU_PEG_DEMAND : 0), pull, from, pull ? all : n, true);
		CHECK(n <= d.g->m);
		from = !from;
	}
	CU(b.api.cuMemcpyDtoH_v2(got, level, 4 * d.g->n));
	for (v = 0; v < d.g->n; v++)
		CHECKF(got[v] == want[v], "vertex %" PRIu64 " has level %d, not %d", v, got[v], want[v]);
	free(want), free(got), free(active);
}

TEST(the_pushing_bfs_gives_the_levels_of_the_reference)
{
	load_graph();
	check_bfs(false, 1, false);
	check_bfs(false, 4, false);
	check_bfs(false, 3, true);
}

TEST(the_pulling_bfs_gives_the_levels_of_the_reference)
{
	load_graph();
	check_bfs(true, 1, false);
	check_bfs(true, 4, false);
}

static int by_index(const void *p, const void *q)
{
	const uint64_t *x = p, *y = q;

	return (x[3] > y[3]) - (x[3] < y[3]);
}

/* Whichever field a lane pops first. */
TEST(the_fields_of_an_edge_belong_together)
{
	CUdeviceptr out = state + RESULT_AT, count;
	uint64_t (*got)[4], v, e;
	uint32_t capacity, n = 0;
	int vl = 0;

	load_graph();
	out = state + RESULT_AT;
	count = state + COUNTS_AT;
	capacity = (uint32_t)d.g->m;
	CHECK(RESULT_AT + 32 * d.g->m <= STATE_BYTES);
	for (v = 0; v < d.g->n; v++)
		((uint32_t *)(void *)(b.host + d.list[0]))[v] = (uint32_t)v;
	run_peg("edge_fields", (void *[]){ &vl, &out, &count, &capacity }, 2,
		GTU_PEG_OFFSETS_8 | GTU_PEG_WITH_SRC | GTU_PEG_WITH_DST | GTU_PEG_WITH_WEIGHT | GTU_PEG_WITH_INDEX, false, 0, d.g->n, false);
	CU(b.api.cuMemcpyDtoH_v2(&n, count, 4));
	CHECK_EQ(n, d.g->m);
	got = calloc(n, sizeof(*got));
	CU(b.api.cuMemcpyDtoH_v2(got, out, n * sizeof(*got)));
	qsort(got, n, sizeof(*got), by_index);
	for (v = e = 0; v < d.g->n; v++)
		for (; e < d.g->row[v + 1]; e++)
			CHECKF(got[e][0] == v && got[e][1] == gtu_graph_target(d.g, e) &&
			       got[e][2] == ((const uint32_t *)d.g->weight)[e] && got[e][3] == e, "edge %" PRIu64, e);
	free(got);
}

TEST(vertex_list_mode_splits_a_list_by_a_criterion)
{
	const uint32_t threshold = 300;
	CUdeviceptr values = state + RESULT_AT;
	uint32_t *value, *list, kept = 0, n, i, limit = threshold;
	uint64_t state_of = 3;
	int in_vl = 0, out_vl = 1;
	uint8_t *seen;

	load_graph();
	values = state + RESULT_AT;
	n = (uint32_t)d.g->n;
	value = malloc(4 * n);
	seen = calloc(n, 1);
	list = (void *)(b.host + d.list[0]);
	for (i = 0; i < n; i++) {
		list[i] = i;
		value[i] = (uint32_t)test_random(&state_of) % 1000;
		kept += value[i] < threshold;
	}
	CU(b.api.cuMemcpyHtoDAsync_v2(values, value, 4 * n, NULL));
	CHECK_EQ(run_peg("near_vertices", (void *[]){ &in_vl, &out_vl, &values, &limit }, 2, GTU_PEG_VERTEX_LIST, false, 0, n, true), kept);
	list = (void *)(b.host + d.list[1]);
	for (i = 0; i < kept; i++) {
		CHECK(list[i] < n && value[list[i]] < threshold && !seen[list[i]]);
		seen[list[i]] = 1;
	}
	free(value), free(seen);
}

/* ---- IRU, section 4.1 ------------------------------------------------------------------------- */

#define INDICES	5000u
#define TARGETS	700u

static struct {
	uint32_t index[INDICES], second[INDICES];
	uint64_t index_at, second_at;
} iru;

static void iru_data(void)
{
	uint64_t random = 17, at = DATA_AT;

	begin();
	for (uint32_t i = 0; i < INDICES; i++) {
		iru.index[i] = (uint32_t)test_random(&random) % TARGETS;
		iru.second[i] = (uint32_t)test_random(&random) % 1000;
	}
	iru.index_at = lay(&at, iru.index, sizeof(iru.index));
	iru.second_at = lay(&at, iru.second, sizeof(iru.second));
}

static void run_iru(const char *kernel, void **args, uint32_t op, bool secondary, bool position, uint32_t ring)
{
	const struct memory m = memory(ring);
	struct stream s;

	CHECK(configure_iru_kernel(&m, op << GTU_IRU_OP_SHIFT | 2 << GTU_IRU_TARGET_SHIFT | (secondary ? GTU_IRU_WITH_SECONDARY : 0) |
				   (position ? GTU_IRU_WITH_POSITION : 0), &s, sizeof(s)));
	s.desc.operand[GTU_IRU_INDICES] = operand(iru.index_at, INDICES);
	if (secondary)
		s.desc.operand[GTU_IRU_SECONDARY] = operand(iru.second_at, INDICES);
	prepare(&s);
	set_global("gtu_iru_stream", 0, &s.e, sizeof(s.e));
	launch(kernel, args, (struct serving){ .desc = &s.desc, .rings = 1 });
	check_error();
}

TEST(bfs_with_the_iru_sets_the_expected_labels)
{
	uint32_t label[TARGETS], n = INDICES, level = 4;
	CUdeviceptr at;

	iru_data();
	at = state + RESULT_AT;
	for (uint32_t i = 0; i < TARGETS; i++)
		label[i] = i % 9;
	CU(b.api.cuMemcpyHtoDAsync_v2(at, label, sizeof(label), NULL));
	run_iru("iru_bfs", (void *[]){ &n, &at, &level }, GTU_IRU_OP_FILTER, false, false, 8);
	for (uint32_t i = 0; i < INDICES; i++)
		label[iru.index[i]] = label[iru.index[i]] > level ? level : label[iru.index[i]];
	uint32_t got[TARGETS];
	CU(b.api.cuMemcpyDtoH_v2(got, at, sizeof(got)));
	CHECK(!memcmp(got, label, sizeof(label)));
}

TEST(sssp_with_the_iru_sets_the_least_distances)
{
	uint32_t distance[TARGETS], got[TARGETS], *pos, n = INDICES, i;
	CUdeviceptr at, pos_at;

	iru_data();
	pos = calloc(INDICES, 4);
	at = state + RESULT_AT;
	pos_at = at + sizeof(got);
	memset(distance, 0xff, sizeof(distance));
	CU(b.api.cuMemcpyHtoDAsync_v2(at, distance, sizeof(distance), NULL));
	CU(b.api.cuMemsetD8Async(pos_at, 0xff, 4 * INDICES, NULL));
	run_iru("iru_sssp", (void *[]){ &n, &at, &pos_at }, GTU_IRU_OP_NONE, true, true, 4);
	for (i = 0; i < INDICES; i++)
		if (iru.second[i] < distance[iru.index[i]])
			distance[iru.index[i]] = iru.second[i];
	CU(b.api.cuMemcpyDtoH_v2(got, at, sizeof(got)));
	CU(b.api.cuMemcpyDtoH_v2(pos, pos_at, 4 * INDICES));
	CHECK(!memcmp(got, distance, sizeof(got)));
	CHECK(!memcmp(pos, iru.index, sizeof(iru.index)));	/* each position received its element */
	free(pos);
}

/* The IRU's sum of merged weights: fewer additions, the same sums (small integers are exact). */
TEST(the_iru_merges_weights_without_changing_sums)
{
	float sum[TARGETS] = { 0 }, got[TARGETS];
	uint32_t n = INDICES, adds = 0, i;
	CUdeviceptr at, adds_at;

	iru_data();
	at = state + RESULT_AT;
	adds_at = state + COUNTS_AT;
	for (i = 0; i < INDICES; i++) {
		const float weight = (float)iru.second[i];

		memcpy(b.host + iru.second_at + 4 * i, &weight, 4);
		sum[iru.index[i]] += weight;
	}
	CU(b.api.cuMemsetD8Async(at, 0, sizeof(sum), NULL));
	run_iru("iru_pagerank", (void *[]){ &n, &at, &adds_at }, GTU_IRU_OP_ADD_F32, true, false, 16);
	CU(b.api.cuMemcpyDtoH_v2(got, at, sizeof(got)));
	CU(b.api.cuMemcpyDtoH_v2(&adds, adds_at, 4));
	for (i = 0; i < TARGETS; i++)
		CHECKF(got[i] == sum[i], "target %u: %g, not %g", i, (double)got[i], (double)sum[i]);
	CHECKF(adds < INDICES * 9 / 10 && adds >= TARGETS * 9 / 10, "%u additions of %u elements", adds, INDICES);
}

/* ---- SparseWeaver, figure 9 ------------------------------------------------------------------- */

struct csr {
	uint64_t row, col, owner, skip_dest, skip_src, sum, passed;
};

/* Sums over in-edges; some destinations are filtered at registration, some skipped, some sources filtered. */
TEST(weaver_sums_over_the_edges_that_are_not_filtered)
{
	struct { uint32_t base_id, bound, stride; } set;
	struct memory room;
	struct stream s;
	struct weaver_stream w;
	struct gtu_hw_registration *table;
	struct csr graph;
	uint64_t *want, *got, n, m, v, e, at, random = 23, table_at;
	uint32_t *owner, *passed, threads, i;
	uint8_t *dest, *src;

	load_graph();
	n = d.g->n, m = d.g->m, at = d.end;
	/* a thread registers in an entry of its own: two blocks on a GPU */
	b.blocks = b.blocks < 2 ? 1 : 2;
	threads = THREADS;
	CHECK(threads <= gtu_get_info(b.model)->weaver[GTU_WVR_P_ENTRIES]);
	set.base_id = 0, set.bound = (uint32_t)n, set.stride = threads;
	w.rounds = (uint32_t)((n + threads - 1) / threads);
	owner = malloc(4 * m);
	passed = calloc(n, 4);
	want = calloc(n, 8);
	got = calloc(n, 8);
	dest = calloc(n, 1);
	src = calloc(n, 1);
	for (v = 0; v < n; v++) {
		dest[v] = test_random(&random) % 8 == 0 ? 1 : test_random(&random) % 8 == 0 ? 2 : 0;
		src[v] = test_random(&random) % 4 == 0;
		for (e = d.transposed->row[v]; e < d.transposed->row[v + 1]; e++)
			owner[e] = (uint32_t)v;
	}
	for (v = 0; v < n; v++)
		for (e = d.transposed->row[v]; e < d.transposed->row[v + 1] && !dest[v]; e++)
			if (!src[gtu_graph_target(d.transposed, e)])
				want[v] += (gtu_graph_target(d.transposed, e) + 1) * (e + 1);
	graph.row = b.device + d.in_row;
	graph.col = b.device + d.in_col;
	graph.owner = b.device + lay(&at, owner, 4 * m);
	graph.skip_dest = b.device + lay(&at, dest, n);
	graph.skip_src = b.device + lay(&at, src, n);
	table_at = lay(&at, NULL, 32ull * w.rounds * threads);
	graph.sum = state + RESULT_AT;
	graph.passed = graph.sum + 8 * n;
	CU(b.api.cuMemsetD8Async(graph.sum, 0, 12 * n, NULL));
	table = (void *)(b.host + table_at);
	for (i = 0; i < w.rounds * threads; i++)
		table[i] = (struct gtu_hw_registration){ .entry = i % threads, .flags = i % threads == threads - 1 ? GTU_WVR_LAST : 0 };
	room = memory(8);
	CHECK(configure_weaver_kernel(&room, GTU_WVR_EIDS_8, 6, &s, sizeof(s)));
	s.desc.operand[GTU_WVR_TABLE] = operand(table_at, w.rounds * threads);
	prepare(&s);
	w.work = s.e;
	w.table = b.device + table_at;
	w.count = state + RESULT_AT + 16 * n;
	w.arrived = state + COUNTS_AT;
	w.registered = b.device + FLAGS_AT + 64;
	CU(b.api.cuMemsetD8Async(w.count, 0, 4 * threads, NULL));
	*(uint32_t *)(b.host + FLAGS_AT + 64) = 0;
	set_global("gtu_weaver", 0, &w, sizeof(w));
	launch("weaver_gather", (void *[]){ &set, &graph },
	       (struct serving){ .desc = &s.desc, .start = (uint32_t *)(b.host + FLAGS_AT + 64), .rings = 1 });
	check_error();
	CU(b.api.cuMemcpyDtoH_v2(got, graph.sum, 8 * n));
	CU(b.api.cuMemcpyDtoH_v2(passed, graph.passed, 4 * n));
	for (v = 0; v < n; v++) {
		const uint64_t degree = d.transposed->row[v + 1] - d.transposed->row[v];

		if (dest[v] == 2)
			CHECKF(passed[v] <= degree && !degree == !passed[v], "vertex %" PRIu64 ": %u edges after the skip", v, passed[v]);
		else
			CHECKF(got[v] == want[v] && !passed[v], "vertex %" PRIu64 ": %" PRIu64 ", not %" PRIu64, v, got[v], want[v]);
	}
	free(owner), free(passed), free(want), free(got), free(dest), free(src);
}

/* ---- Values that the host's functions refuse ------------------------------------------------------ */

TEST(invalid_kernel_configurations_are_refused)
{
	struct memory m;
	struct stream s;

	begin();
	m = memory(6);
	CHECK(!configure_iru_kernel(&m, 0, &s, sizeof(s)));		/* records: no power of two */
	m = memory(8);
	CHECK(configure_iru_kernel(&m, 0, &s, sizeof(s)));
	CHECK_EQ(s.stride, 64 + 8 * GTU_WARP_BYTES(1, 0));
	m.bytes = s.stride - 1;
	CHECK(!configure_iru_kernel(&m, 0, &s, sizeof(s)));		/* too few bytes */
	m = memory(8);
	CHECK(!configure_peg_kernel(&m, GTU_PEG_WITH_DST, 0, &s, sizeof(s))); /* no number of engines */
	CHECK(!configure_peg_kernel(&m, GTU_PEG_WITH_DST | 33u << GTU_PEG_ENGINES_SHIFT, 0, &s, sizeof(s)));
	CHECK(!configure_weaver_kernel(&m, GTU_WVR_WITH_TARGET, 0, &s, sizeof(s)));
}

TEST_MAIN
