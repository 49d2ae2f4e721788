// SPDX-License-Identifier: MIT
/*
 * Algorithms 1 to 5 of the SCU's paper with the paper's names: procedures as printed, the GPU's parts
 * as plain loops. Results equal to plain BFS, Dijkstra's distances and sums over in-edges.
 */
#include "gtu/gtu.h"
#include "tests/unit/test.h"

static struct gtu_device *dev;
static struct gtu_queue *q;
static struct gtu_error err;
static struct gtu_graph *g;

/* A vector of the paper: memory of the device; n elements of @width bytes, or bits. */
struct vector {
	struct gtu_region r;
	uint64_t n, capacity;
	uint32_t width;
};

static struct vector new_vector(uint64_t capacity, uint32_t width)
{
	struct vector v = { .capacity = capacity, .width = width };
	const uint64_t bytes = width ? capacity * width : (capacity + 63) / 64 * 8;

	CHECKF(!gtu_region_add(dev, aligned_alloc(64, (bytes + 63) & ~63ull), (bytes + 63) & ~63ull, GTU_READ | GTU_WRITE, &v.r, &err),
	       "%s", err.text);
	return v;
}

static uint32_t *u32(struct vector *v)
{
	return v->r.addr;
}

static struct gtu_array array(const struct vector *v)
{
	return gtu_array(&v->r, 0, v->n, v->width);
}

static struct gtu_array space(const struct vector *v)
{
	return gtu_array(&v->r, 0, v->capacity, v->width);
}

static void set_bit(struct vector *v, uint64_t i, bool x)
{
	uint8_t *byte = (uint8_t *)v->r.addr + i / 8;

	*byte = (uint8_t)((*byte & ~(1u << i % 8)) | (unsigned)x << i % 8);
}

/* The graph, and vectors as the algorithms name them. */
static struct vector edges, weights, indexes, count, nf, ef, wf, node_weights, bitmask, bitmask_near, bitmask_far, far_edges, far_weights,
	filtering, grouping, filter_table, group_table;
static uint32_t *label;
static bool enhanced;			/* algorithms 4 and 5 */

static void begin(void)
{
	struct gtu_generate_options o = { .kind = GTU_GEN_KRONECKER, .scale = 9, .degree = 8, .seed = 11, .random_weights = 20 };
	uint64_t m;

	if (g)
		return;
	CHECKF(!gtu_open("model", &dev, &err) && !gtu_queue_create(dev, NULL, &q, &err) &&
	       !gtu_graph_generate(&o, NULL, &g, &err), "%s", err.text);
	m = g->m;
	edges = new_vector(m, 4);
	weights = new_vector(m, 4);
	edges.n = weights.n = m;
	memcpy(edges.r.addr, g->col, 4 * m);
	memcpy(weights.r.addr, g->weight, 4 * m);
	/* the far pile keeps duplicates, so frontiers may be longer than the edge list */
	nf = new_vector(4 * m, 4);
	indexes = new_vector(4 * m, 8);
	count = new_vector(4 * m, 4);
	node_weights = new_vector(4 * m, 4);
	ef = new_vector(8 * m, 4);
	wf = new_vector(8 * m, 4);
	far_edges = new_vector(8 * m, 4);
	far_weights = new_vector(8 * m, 4);
	bitmask = new_vector(8 * m, 0);
	bitmask_near = new_vector(8 * m, 0);
	bitmask_far = new_vector(8 * m, 0);
	filtering = new_vector(8 * m, 0);
	grouping = new_vector(8 * m, 4);
	filter_table = new_vector(gtu_scu_filter_table_bytes(64, 4, 4), 1);
	group_table = new_vector(gtu_scu_group_table_bytes(64), 1);
	label = malloc(4 * g->n);
}

#define OK(call) CHECKF(!(call), "%s", err.text)

/* indexes, count <- preparationGPU(nf) */
static void preparation_gpu(void)
{
	uint64_t i;

	for (i = 0; i < nf.n; i++) {
		const uint32_t v = u32(&nf)[i];

		((uint64_t *)indexes.r.addr)[i] = g->row[v];
		u32(&count)[i] = (uint32_t)(g->row[v + 1] - g->row[v]);
	}
	indexes.n = count.n = nf.n;
}

static struct gtu_scu_filter filter(uint32_t step, uint32_t flags)
{
	struct gtu_scu_filter f = { .step = step, .flags = flags, .cost_type = GTU_TYPE_UNSIGNED, .cost_width = 4, .target_log2 = 2 };

	if (flags & GTU_SCU_GROUP)
		f.group_table = gtu_array(&group_table.r, 0, 64, 1);
	else
		f.filter_table = gtu_array(&filter_table.r, 0, 64, 1);
	return f;
}

static void expand(const struct vector *data, const struct gtu_scu_filter *f, struct vector *to)
{
	const struct gtu_array d = array(data), i = array(&indexes), c = array(&count), out = space(to);
	struct gtu_completion done;

	OK(accessExpansionCompactionSCU(q, &d, &i, &c, NULL, f, &out, &done, &err));
	to->n = done.count;
}

static void compact(const struct vector *from, const struct vector *mask, const struct gtu_scu_filter *f, struct vector *to)
{
	const struct gtu_array in = array(from), out = space(to);
	struct gtu_array bits = space(mask);
	struct gtu_completion done;

	bits.count = from->n;
	OK(dataCompactionSCU(q, &in, &bits, f, &out, &done, &err));
	to->n = done.count;
}

static void replicate(const struct vector *from, const struct gtu_scu_filter *f, struct vector *to)
{
	const struct gtu_array in = array(from), c = array(&count), out = space(to);
	struct gtu_completion done;

	OK(replicationCompactionSCU(q, &in, &c, NULL, f, &out, &done, &err));
	to->n = done.count;
}

static uint64_t ordinals(void)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count.n; i++)
		sum += u32(&count)[i];
	return sum;
}

/* ---- Algorithm 1, and 4 with the enhanced unit: BFS --------------------------------------------- */

static uint64_t expanded;

static void bfs_expansion(void)
{
	struct gtu_scu_filter f = filter(GTU_STEP_PRODUCE, GTU_SCU_UNIQUE);

	preparation_gpu();
	if (!enhanced) {
		expand(&edges, NULL, &ef);
		return;
	}
	f.filter = gtu_array(&filtering.r, 0, ordinals(), 0);
	expand(&edges, &f, &ef);	/* filtering <- accessExpansionCompactionSCU(edges, indexes, count) */
	f.step = GTU_STEP_APPLY;
	expand(&edges, &f, &ef);
}

static void bfs_contraction(uint32_t level)
{
	struct gtu_scu_filter f = filter(GTU_STEP_PRODUCE, GTU_SCU_UNIQUE);
	uint64_t i, kept = 0;

	/* contractionGPU(ef): a GPU sets all bits before it writes labels, so duplicates stay */
	for (i = 0; i < ef.n; i++) {
		const bool new = label[u32(&ef)[i]] == UINT32_MAX;

		set_bit(&bitmask, i, new);
		kept += new;
	}
	for (i = 0; i < ef.n; i++)
		if (label[u32(&ef)[i]] == UINT32_MAX)
			label[u32(&ef)[i]] = level;
	if (!enhanced) {
		compact(&ef, &bitmask, NULL, &nf);
		return;
	}
	f.filter = gtu_array(&filtering.r, 0, kept, 0);
	compact(&ef, &bitmask, &f, &nf);
	f.step = GTU_STEP_APPLY;
	compact(&ef, &bitmask, &f, &nf);
}

static void check_bfs(void)
{
	uint32_t *want = malloc(4 * g->n), *queue = malloc(4 * g->n), level, head = 0, tail = 0;
	uint64_t v, e;

	memset(want, 0xff, 4 * g->n);
	memset(label, 0xff, 4 * g->n);
	want[1] = label[1] = 0;
	queue[tail++] = 1;
	while (head < tail)
		for (v = queue[head++], e = g->row[v]; e < g->row[v + 1]; e++)
			if (want[gtu_graph_target(g, e)] == UINT32_MAX) {
				want[gtu_graph_target(g, e)] = want[v] + 1;
				queue[tail++] = (uint32_t)gtu_graph_target(g, e);
			}
	nf.n = 1;
	u32(&nf)[0] = 1;
	expanded = 0;
	for (level = 1; nf.n; level++) {
		CHECK(level < 100);
		bfs_expansion();
		expanded += ef.n;
		bfs_contraction(level);
	}
	CHECK(!memcmp(want, label, 4 * g->n));
	free(want), free(queue);
}

TEST(algorithm_1_gives_the_levels_of_the_reference)
{
	begin();
	enhanced = false;
	check_bfs();
}

TEST(algorithm_4_gives_the_same_levels_from_fewer_edges)
{
	uint64_t basic;

	begin();
	enhanced = false;
	check_bfs();
	basic = expanded;
	enhanced = true;
	check_bfs();
	CHECKF(expanded < basic, "%" PRIu64 " edges with filtering, %" PRIu64 " without", expanded, basic);
}

/* ---- Algorithm 2, and 5: SSSP with a near and a far pile ------------------------------------------- */

static void sssp_expansion(void)
{
	struct gtu_scu_filter f = filter(GTU_STEP_PRODUCE, GTU_SCU_BEST), group;
	uint64_t i, n;
	struct vector costs;

	preparation_gpu();
	for (i = 0; i < nf.n; i++)
		u32(&node_weights)[i] = label[u32(&nf)[i]];
	node_weights.n = nf.n;
	n = ordinals();
	group = filter(GTU_STEP_PRODUCE, GTU_SCU_GROUP);
	group.filter = f.filter = gtu_array(&filtering.r, 0, n, 0);
	group.reorder = gtu_array(&grouping.r, 0, n, 4);
	f.cost_gathered = array(&weights);
	f.cost_input = array(&node_weights);
	if (enhanced) {
		expand(&edges, &f, &ef);	/* filtering <- ... */
		expand(&edges, &group, &ef);	/* grouping <- ... */
		group.step = GTU_STEP_APPLY;
	}
	expand(&edges, enhanced ? &group : NULL, &ef);
	expand(&weights, enhanced ? &group : NULL, &wf);
	/* "the latter adds its accumulated cost": to the weights of the former */
	costs = new_vector(ef.capacity, 4);
	replicate(&node_weights, enhanced ? &group : NULL, &costs);
	CHECK(ef.n == wf.n && wf.n == costs.n);
	for (i = 0; i < wf.n; i++)
		u32(&wf)[i] += u32(&costs)[i];
	free(costs.r.addr);
	OK(gtu_region_remove(dev, &costs.r, &err));
}

static void sssp_contraction(uint32_t threshold)
{
	struct gtu_scu_filter f = filter(GTU_STEP_PRODUCE, GTU_SCU_GROUP);
	uint64_t i, near = 0;
	struct vector edges_at = far_edges, weights_at = far_weights;

	/* contractionGPU(ef, wf, threshold) */
	for (i = 0; i < ef.n; i++) {
		const uint32_t v = u32(&ef)[i], cost = u32(&wf)[i];
		const bool better = cost < label[v], now = better && cost < threshold;

		if (now)
			label[v] = cost;
		set_bit(&bitmask_near, i, now);
		set_bit(&bitmask_far, i, better && !now);
		near += now;
	}
	f.reorder = gtu_array(&grouping.r, 0, near, 4);
	if (enhanced && near) {
		compact(&ef, &bitmask_near, &f, &nf);	/* grouping <- dataCompactionSCU(ef, bitmaskNear) */
		f.step = GTU_STEP_APPLY;
	}
	compact(&ef, &bitmask_near, enhanced && near ? &f : NULL, &nf);
	/* to the back of the far pile */
	struct gtu_array in = array(&ef), cost = array(&wf), bits = gtu_array(&bitmask_far.r, 0, ef.n, 0);
	struct gtu_array to = gtu_array(&edges_at.r, 4 * far_edges.n, far_edges.capacity - far_edges.n, 4);
	struct gtu_array cost_to = gtu_array(&weights_at.r, 4 * far_edges.n, far_edges.capacity - far_edges.n, 4);
	struct gtu_completion done;

	OK(dataCompactionSCU(q, &in, &bits, NULL, &to, &done, &err));
	OK(dataCompactionSCU(q, &cost, &bits, NULL, &cost_to, &done, &err));
	far_edges.n = far_weights.n = far_edges.n + done.count;
}

/* The vertices of the far pile whose cost is still the best and is below the threshold. */
static void far_pile(uint32_t threshold)
{
	uint64_t i, kept = 0;

	nf.n = 0;
	for (i = 0; i < far_edges.n; i++) {
		const uint32_t v = u32(&far_edges)[i], cost = u32(&far_weights)[i];

		if (cost < label[v] && cost < threshold) {
			label[v] = cost;
			u32(&nf)[nf.n++] = v;
		} else if (cost < label[v]) {
			u32(&far_edges)[kept] = v;
			u32(&far_weights)[kept++] = cost;
		}
	}
	far_edges.n = far_weights.n = kept;
}

static void check_sssp(void)
{
	const uint32_t delta = 16;
	uint32_t *want = malloc(4 * g->n), threshold = delta;
	uint64_t v, e;
	unsigned rounds = 0;
	bool changed = true;

	/* Bellman-Ford */
	memset(want, 0xff, 4 * g->n);
	want[1] = 0;
	while (changed)
		for (changed = false, v = 0; v < g->n; v++)
			for (e = g->row[v]; e < g->row[v + 1] && want[v] != UINT32_MAX; e++) {
				const uint32_t cost = want[v] + ((const uint32_t *)g->weight)[e];
				const uint64_t to = gtu_graph_target(g, e);

				changed |= cost < want[to];
				want[to] = cost < want[to] ? cost : want[to];
			}
	memset(label, 0xff, 4 * g->n);
	label[1] = 0;
	nf.n = 1;
	u32(&nf)[0] = 1;
	far_edges.n = far_weights.n = 0;
	while (nf.n || far_edges.n) {
		CHECK(rounds++ < 10000);
		if (!nf.n) {
			threshold += delta;
			far_pile(threshold);
			continue;
		}
		sssp_expansion();
		sssp_contraction(threshold);
	}
	CHECK(!memcmp(want, label, 4 * g->n));
	free(want);
}

TEST(algorithm_2_gives_the_distances_of_the_reference)
{
	begin();
	enhanced = false;
	check_sssp();
}

TEST(algorithm_5_gives_the_distances_of_the_reference)
{
	begin();
	enhanced = true;
	check_sssp();
}

/* ---- Algorithm 3: PageRank ------------------------------------------------------------------------- */

/* The edge frontier is the edge list; weights are those of the sources, divided by their degrees. */
TEST(algorithm_3_gives_the_sums_over_in_edges)
{
	double *want, *got;
	uint64_t v, e, i;

	begin();
	nf.n = node_weights.n = g->n;
	for (v = 0; v < g->n; v++) {
		const float weight = (float)(v % 7 + 1) / (float)(g->row[v + 1] - g->row[v] + !(g->row[v + 1] - g->row[v]));

		u32(&nf)[v] = (uint32_t)v;
		memcpy(&u32(&node_weights)[v], &weight, 4);
	}
	preparation_gpu();
	expand(&edges, NULL, &ef);
	replicate(&node_weights, NULL, &wf);
	CHECK_EQ(ef.n, g->m);
	CHECK_EQ(wf.n, g->m);
	want = calloc(g->n, sizeof(*want));
	got = calloc(g->n, sizeof(*got));
	for (v = 0; v < g->n; v++)
		for (e = g->row[v]; e < g->row[v + 1]; e++)
			want[gtu_graph_target(g, e)] += (double)((float)(v % 7 + 1) / (float)(g->row[v + 1] - g->row[v]));
	for (i = 0; i < ef.n; i++) {
		float weight;

		memcpy(&weight, &u32(&wf)[i], 4);
		got[u32(&ef)[i]] += (double)weight;
	}
	for (v = 0; v < g->n; v++)
		CHECKF(got[v] == want[v], "vertex %" PRIu64 ": %g, not %g", v, got[v], want[v]);
	free(want), free(got);
}

TEST_MAIN
