// SPDX-License-Identifier: MIT
/* The IRU in the partitions: streams are complete, graph kernels compute the same with it. */
#include "firmware-model/lab/kernels/iru_graph.h"
#include "lab_test.h"

static const enum lab_expect_what what[] = { LAB_LEVELS, LAB_DISTANCES, LAB_RANKS };
static uint32_t result[2][4096];

/* ---- A stream alone -------------------------------------------------------------------------- */

struct stream_args {
	struct lab_iru *iru;
	struct lab_array out[3], target;
	uint32_t warps;
};

static void take(struct lab_warp *w, const void *p)
{
	const struct stream_args *a = p;
	lab_u32 i = lab_thread(w);
	struct lab_iru_lanes lanes;

	if (i[0] / 32 >= a->warps)
		return;
	lab_load_iru(w, a->iru, &lanes);
	LAB_IF(w, lanes.active) {
		lab_store32(w, 0, &a->out[0], i, lanes.index + 1);
		lab_store32(w, 0, &a->out[1], i, lanes.secondary);
		lab_store32(w, 0, &a->out[2], i, lanes.position);
	}
}
ONE_KERNEL(take);

static void stream(uint32_t n, uint32_t range, unsigned op)
{
	struct stream_args a = { .warps = (n + 31) / 32 };
	struct lab *lab = lab_of("gtx980", NULL);
	struct lab_array index = array_of(lab, "index", n), secondary = array_of(lab, "secondary", n);
	const struct lab_iru_counts *c;
	uint64_t seed = n + range, sum = 0, got = 0, out = 0;
	uint32_t i, *o[3], *in, *with;
	uint8_t *met = calloc(n, 1);

	CHECKF(!lab_iru_attach(lab, &lab_iru_published, LAB_IRU_TIMEOUT, NULL, &a.iru, &err), "%s", err.text);
	a.target = array_of(lab, "target", range);
	for (i = 0; i < 3; i++) {
		a.out[i] = array_of(lab, "out", 32 * a.warps);
		o[i] = a.out[i].data;
	}
	in = index.data;
	with = secondary.data;
	for (i = 0; i < n; i++) {
		in[i] = (uint32_t)(test_random(&seed) % range);
		with[i] = (uint32_t)(test_random(&seed) % 1000);
		sum += with[i];
	}
	lab_iru_configure(a.iru, &a.target, &index, &secondary, n, op, true);
	CHECKF(!launch(lab, &take_kernel, &a, (a.warps + 3) / 4, 128), "%s", err.text);
	CHECKF(!lab_iru_finish(a.iru, &err), "%s", err.text);
	c = lab_iru_counts(a.iru);
	for (i = 0; i < 32 * a.warps; i++) {
		if (!o[0][i])
			continue;
		out++;
		got += o[1][i];
		CHECK(o[2][i] < n && !met[o[2][i]]++);
		CHECK_EQ(in[o[2][i]], o[0][i] - 1);
		CHECK_EQ(with[o[2][i]], o[1][i]);
	}
	CHECK_EQ(c->elements, n);
	CHECK_EQ(out + c->core.merged, n);
	CHECK_EQ(c->records, a.warps);
	if (op == GTU_IRU_OP_NONE)
		CHECK_EQ(got, sum);
	else
		CHECK(got <= sum && c->core.merged > 0);
	/* each line of both arrays once */
	CHECK_EQ(c->fetches, 2 * a.warps);
	CHECK_EQ(lab_stats(lab)->unit_sectors, 2 * ((n + 7) / 8));
	CHECK_EQ(lab_stats(lab)->unit_requests, a.warps);
	lab_destroy(lab);
	lab_iru_free(a.iru);
	free(met);
}

TEST(stream_is_complete)
{
	stream(1, 10, GTU_IRU_OP_NONE);
	stream(33, 100, GTU_IRU_OP_NONE);
	stream(20000, 3000, GTU_IRU_OP_NONE);
	stream(20001, 200, GTU_IRU_OP_MIN_U32);
}

/* A kernel that requests too few records leaves elements behind, which lab_iru_finish() reports. */
TEST(unrequested_elements_are_reported)
{
	struct stream_args a = { .warps = 2 };
	struct lab *lab = lab_of("gtx980", NULL);
	struct lab_array index = array_of(lab, "index", 96);
	unsigned i;

	CHECK(!lab_iru_attach(lab, &lab_iru_published, LAB_IRU_TIMEOUT, NULL, &a.iru, &err));
	for (i = 0; i < 3; i++)
		a.out[i] = array_of(lab, "out", 128);
	lab_iru_configure(a.iru, &index, &index, NULL, 96, GTU_IRU_OP_NONE, true);
	CHECKF(!launch(lab, &take_kernel, &a, 1, 128), "%s", err.text);
	CHECK_EQ(lab_iru_finish(a.iru, &err), GTU_ERR_VERIFY);
	lab_destroy(lab);
	lab_iru_free(a.iru);
}

/* ---- Graphs ------------------------------------------------------------------------------------ */

TEST(results_are_equal_with_and_without_iru)
{
	static const uint32_t kinds[] = { GTU_GEN_KRONECKER, GTU_GEN_PLANAR, GTU_GEN_ROAD, GTU_GEN_UNIFORM };
	struct lab_iru_counts c;
	struct lab_stats s;
	struct lab_machine m = machine_of("gtx980", NULL);
	unsigned k, a, with;

	for (k = 0; k < 4; k++) {
		struct gtu_graph *g = generated((struct gtu_generate_options){ .kind = kinds[k], .scale = 10, .n = 900, .seed = 7,
									       .random_weights = 64 });

		for (a = 0; a < LAB_IRU_ALGORITHMS; a++)
			for (with = 0; with < 2; with++) {
				struct lab_iru_config config = { a, g, 3, 3, with, with, lab_iru_published, LAB_IRU_TIMEOUT, with, { false, false }, NULL, false };

				memset(&c, 0, sizeof(c));
				memset(result, 0xab, sizeof(result));
				CHECKF(!lab_iru_run(&m, &config, NULL, result[with], &s, &c, &err), "%s %s: %s", g->name,
				       lab_iru_algorithm_name[a], err.text);
				CHECKF(same(g, what[a], config.source, config.iterations, result[with]), "%s %s differs on %s", lab_iru_algorithm_name[a],
				       with ? "with an IRU" : "without", g->name);
				CHECK(!with || c.elements >= g->m / 2);
				CHECK(!with || a != LAB_IRU_BFS || !c.core.merged);
			}
		gtu_graph_close(g);
	}
}

/* Two vertices of one warp with more edges than a block has threads, among low-degree ones. */
TEST(block_expands_high_degree_vertices)
{
	static uint64_t row[1025];
	static uint32_t col[4096], weight[4096];
	struct gtu_graph g = { .name = "two hubs", .n = 1024, .edge_bytes = 4, .row = row, .col = col, .weight = weight,
			       .weight_type = GTU_WEIGHT_U32 };
	struct lab_iru_config config = { LAB_IRU_BFS, &g, 0, 1, true, false, lab_iru_published, LAB_IRU_TIMEOUT, 0, { false, false }, NULL, false };
	struct lab_machine m = machine_of("gtx980", NULL);
	struct lab_stats s;
	uint64_t v, k;

	for (v = 0; v < g.n; v++) {
		uint64_t degree = v == 0 ? 3 : v == 1 ? 700 : v == 2 ? 300 : v == 3 ? 256 : 1;

		row[v] = g.m;
		for (k = 0; k < degree; k++, g.m++) {
			/* 0 leads to 1 to 3; 1 to 4..703; 2 to 700..999; 3 to 768..1023; others to 1 */
			col[g.m] = (uint32_t)(v == 0 ? 1 + k : v == 1 ? 4 + k : v == 2 ? 700 + k : v == 3 ? 768 + k : 1);
			weight[g.m] = (uint32_t)(1 + (v + k) % 7);
		}
	}
	row[g.n] = g.m;
	CHECKF(!lab_iru_run(&m, &config, NULL, result[0], &s, NULL, &err), "%s", err.text);
	for (v = 0; v < g.n; v++)
		CHECK_EQ(result[0][v], v == 0 ? 0 : v < 4 ? 1 : 2);
	/* every edge once into the frontier, every vertex listed once */
	CHECK_EQ(s.lanes[LAB_STORE], 2 * g.m + g.n - 1 - g.m);
	for (config.algorithm = LAB_IRU_SSSP; config.algorithm <= LAB_IRU_PR; config.algorithm++) {
		CHECKF(!lab_iru_run(&m, &config, NULL, result[0], &s, NULL, &err), "%s", err.text);
		CHECK(same(&g, what[config.algorithm], config.source, config.iterations, result[0]));
	}
}

TEST_MAIN
