// SPDX-License-Identifier: MIT
/* Weaver in the SMs: hand-calculated latencies, work as registered, equal results of all mappings. */
#include "firmware-model/lab/units/wvr_eghw.h"
#include "firmware-model/lab/kernels/wvr_graph.h"
#include "lab_test.h"

/* ---- Instructions ------------------------------------------------------------------------------ */

enum { MOMENTS = 12 };
struct hand {
	struct lab_weaver *weaver;
	uint64_t at[MOMENTS];		/* cycles after an instruction */
	uint32_t vid[MOMENTS][LAB_LANES], eid[MOMENTS][LAB_LANES];
	lab_mask on[MOMENTS];
	uint32_t warps;			/* registered at once */
	uint32_t twice, skip, skips_current;
};

/*
 * Warp 0 registers lane 0 (vertex 7, edges 100 to 139), lane 1 (vertex 8, no edges) and lane 5
 * (vertex 9, edge 5), then decodes IDs and locations three times; the other warps end at once.
 */
static void one_warp(struct lab_warp *w, const void *p)
{
	struct hand *h = (struct hand *)(uintptr_t)p;
	lab_u32 vid = { 7, 8, 0, 0, 0, 9 }, start = { 100, 0, 0, 0, 0, 5 }, degree = { 40, 0, 0, 0, 0, 1 }, got;
	unsigned i;

	if (w->in_block || w->block)
		return;
	for (i = 0; i < 4; i++) {	/* until all others have ended; there is no work yet */
		lab_weaver_dec_loc(w, h->weaver, &got);
		CHECK_EQ(lab_ne(got, lab_all(LAB_NO_WORK)), 0);
	}
	h->at[0] = lab_now(w->lab);
	LAB_IF(w, 0x23)
		lab_weaver_reg(w, h->weaver, &vid, &start, &degree);
	h->at[1] = lab_now(w->lab);
	if (h->twice)
		LAB_IF(w, 2)
			lab_weaver_reg(w, h->weaver, &vid, &start, &degree);
	for (i = 0; i < 3; i++) {
		h->on[i] = lab_weaver_dec_id(w, h->weaver, &got);
		memcpy(h->vid[i], &got, sizeof(got));
		h->at[2 + 2 * i] = lab_now(w->lab);
		lab_weaver_dec_loc(w, h->weaver, &got);
		memcpy(h->eid[i], &got, sizeof(got));
		h->at[3 + 2 * i] = lab_now(w->lab);
		if (!i && h->skip)
			LAB_IF(w, 1) {
				got = lab_all(h->skip);
				lab_weaver_skip(w, h->weaver, &got);
			}
	}
}
ONE_KERNEL(one_warp);

static int by_hand(struct hand *h, uint32_t latency, bool ahead, struct lab_weaver_counts *c)
{
	struct wvr_shape shape = lab_weaver_published;
	struct lab_machine m = machine_of("vortex", "sm.socket=0");
	struct lab *lab;
	int rc;

	/* a warp resumes when its data arrives, not in its next turn */
	CHECKF(!lab_machine_set(&m, "sm.policy=rr", &err) && !lab_create(&m, &lab, &err), "%s", err.text);
	shape.table_latency = latency;
	shape.read_ahead = ahead;
	shape.skips_current = h->skips_current;
	CHECKF(!lab_weaver_attach(lab, &shape, &h->weaver, &err), "%s", err.text);
	rc = launch(lab, &one_warp_kernel, h, 1, 1024);
	if (!rc)
		lab_weaver_counts(h->weaver, c);
	lab_destroy(lab);
	lab_weaver_free(h->weaver);
	return rc;
}

TEST(instructions_take_the_latencies_counted_by_hand)
{
	struct hand h = { 0 };
	struct lab_weaver_counts c;
	uint32_t latency[] = { 10, 40, 40 }, L, S3;
	unsigned i, k;

	for (i = 0; i < 3; i++) {
		L = latency[i];
		S3 = i == 2 ? 1 : L;	/* entries read ahead */
		CHECKF(!by_hand(&h, L, i == 2, &c), "%s", err.text);
		/*
		 * A request reaches the unit one cycle after issue, its reply the warp one cycle
		 * after it was made; the warp resumes after the instruction's own 9 cycles at the
		 * earliest. WEAVER_REG: three words through the port, then the table's latency.
		 */
		CHECK_EQ(h.at[1] - h.at[0], 1 + (3 - 1 + L) + 1);
		/* DEC_ID: S1 (L), S2, S5: S5 replies */
		CHECK_EQ(h.at[2] - h.at[1], 1 + L + 1 + 1);
		/* DEC_LOC: the dense table's latency */
		CHECK_EQ(h.at[3] - h.at[2], 1 + L);
		/* then S6, S2 (8 lanes), S3 S4 S2 (degree 0), S3 S4 S2 (a lane), S3 (none), S7 */
		CHECK_EQ(h.at[4] - h.at[3], 1 + 1 + 1 + 2 * (S3 + 2) + 1 + 1);
		/* the end is a request in S8: the warp's own nine cycles are longer */
		CHECK_EQ(h.at[6] - h.at[5], 9);
		CHECK_EQ(h.on[0], 0xffffffffu);
		CHECK_EQ(h.on[1], 0x1ffu);
		CHECK_EQ(h.on[2], 0);
		for (k = 0; k < 32; k++) {
			CHECK_EQ(h.vid[0][k], 7);
			CHECK_EQ(h.eid[0][k], 100 + k);
			CHECK_EQ(h.vid[1][k], k < 8 ? 7u : k == 8 ? 9u : LAB_NO_WORK);
			CHECK_EQ(h.eid[1][k], k < 8 ? 132 + k : k == 8 ? 5u : LAB_NO_WORK);
			CHECK_EQ(h.vid[2][k], LAB_NO_WORK);
			CHECK_EQ(h.eid[2][k], LAB_NO_WORK);
		}
		CHECK_EQ(c.core.rounds, 1);
		CHECK_EQ(c.core.registered, 3);
		CHECK_EQ(c.core.work, 41);
		CHECK_EQ(c.requests, 3);
	}
}

TEST(skip_drops_remaining_edges)
{
	struct hand h = { .skip = 7 };
	struct lab_weaver_counts c;

	CHECKF(!by_hand(&h, 10, false, &c), "%s", err.text);
	CHECK_EQ(h.on[0], 0xffffffffu);
	CHECK_EQ(h.on[1], 1);
	CHECK_EQ(h.vid[1][0], 9);
	CHECK_EQ(c.core.work, 33);
	CHECK_EQ(c.core.skipped, 8);
}

/* The entry that is being decoded, of vertex 7, ends; a skip of another vertex changes nothing. */
TEST(a_skip_ends_the_entry_that_is_being_decoded)
{
	struct hand h = { .skip = 7, .skips_current = 1 }, other = { .skip = 9, .skips_current = 1 };
	struct lab_weaver_counts c;

	CHECKF(!by_hand(&h, 10, false, &c), "%s", err.text);
	CHECK_EQ(h.on[1], 1);
	CHECK_EQ(h.vid[1][0], 9);
	CHECK_EQ(c.core.skipped, 8);
	CHECKF(!by_hand(&other, 10, false, &c), "%s", err.text);
	CHECK_EQ(other.on[1], 0x1ffu);
	CHECK_EQ(c.core.skips, 1);
	CHECK_EQ(c.core.skipped, 0);
}

TEST(program_errors_are_reported)
{
	struct hand h = { .twice = 1 };
	struct lab_weaver_counts c;
	struct wvr_shape shape = lab_weaver_published;
	struct lab_weaver *u;
	struct lab_eghw *e;
	struct lab *lab;

	CHECK_EQ(by_hand(&h, 10, false, &c), GTU_ERR_FAIL);
	CHECK(strstr(err.text, "entry 1 of 512 is registered twice"));
	lab = lab_of("vortex", NULL);
	shape.entries = 31;
	CHECK_EQ(lab_weaver_attach(lab, &shape, &u, &err), GTU_ERR_USAGE);
	shape = lab_weaver_published;
	shape.table_latency = 0;
	CHECK_EQ(lab_weaver_attach(lab, &shape, &u, &err), GTU_ERR_USAGE);
	CHECK_EQ(lab_eghw_attach(lab, 65, &e, &err), GTU_ERR_USAGE);
	CHECK_EQ(lab_eghw_attach(lab, 0, &e, &err), GTU_ERR_USAGE);
	lab_destroy(lab);
}

/* ---- Algorithms -------------------------------------------------------------------------------- */

static uint32_t result[16 * 1200];

static struct lab_wvr_config config_of(const struct gtu_graph *g, unsigned algorithm, unsigned mapping)
{
	return (struct lab_wvr_config){ .mapping = mapping, .algorithm = algorithm, .graph = g, .source = 3, .iterations = 2,
				     .shape = lab_weaver_published, .eghw_requests = 1 };
}

/* Without a filter, Weaver returns every edge once. */
static void all_mappings(const struct lab_machine *m, const struct gtu_graph *g, unsigned algorithm, bool push)
{
	static const enum lab_expect_what what[] = { LAB_LEVELS, LAB_DISTANCES, LAB_RANKS, LAB_COMPONENTS };
	struct lab_wvr_report r;
	unsigned k;

	for (k = 0; k < LAB_WVR_MAPPINGS; k++) {
		struct lab_wvr_config config = config_of(g, algorithm, k);

		config.push = push;
		memset(result, 0xab, sizeof(result));
		CHECKF(!lab_wvr_run(m, &config, NULL, result, &r, &err), "%s: %s", lab_wvr_mapping_name[k], err.text);
		CHECKF(same(g, what[algorithm], 3, 2, result), "%s: %s by %s differs", g->name, lab_wvr_algorithm_name[algorithm],
		       lab_wvr_mapping_name[k]);
		if (k != LAB_MAP_WEAVER)
			continue;
		if (algorithm == LAB_WVR_PR) {
			CHECK_EQ(r.weaver.core.work, 2 * g->m);
			CHECK_EQ(r.weaver.core.registered, 2 * g->n);
			CHECK_EQ(r.weaver.core.rounds, 2 * ((g->n + 511) / 512));
		}
		CHECK(r.cycles >= r.gather_cycles && r.gather_cycles > 0);
	}
}

TEST(every_mapping_matches_the_reference)
{
	static const uint32_t kinds[] = { GTU_GEN_KRONECKER, GTU_GEN_ROAD, GTU_GEN_POWERLAW, GTU_GEN_PLANAR };
	struct lab_machine m = machine_of("vortex", NULL);
	unsigned i, a;

	for (i = 0; i < 4; i++) {
		struct gtu_graph *g = generated((struct gtu_generate_options){ .kind = kinds[i], .scale = 10, .n = 1100, .seed = 3,
									       .random_weights = 64 });

		for (a = 0; a < LAB_WVR_GRAPH_ALGORITHMS; a++)
			all_mappings(&m, g, a, false);
		all_mappings(&m, g, LAB_WVR_PR, true);
		gtu_graph_close(g);
	}
}

/* Figure 9 leaves filtered vertices out, section III-C registers them with degree 0: the same work. */
TEST(filtered_vertices_are_left_out)
{
	static const unsigned filters[] = { LAB_WVR_BFS, LAB_WVR_SSSP };
	struct gtu_graph *g = generated((struct gtu_generate_options){ .kind = GTU_GEN_ROAD, .n = 1100, .seed = 3, .random_weights = 64 });
	struct lab_machine m = machine_of("vortex", NULL);
	struct lab_wvr_report r[2];
	unsigned i, k;

	for (i = 0; i < 2; i++) {
		for (k = 0; k < 2; k++) {
			struct lab_wvr_config config = config_of(g, filters[i], LAB_MAP_WEAVER);

			config.leave_out = k;
			CHECKF(!lab_wvr_run(&m, &config, NULL, result, &r[k], &err), "%s", err.text);
		}
		CHECK_EQ(r[0].weaver.core.registered % g->n, 0);
		CHECK(4 * r[1].weaver.core.registered < 3 * r[0].weaver.core.registered);
		CHECK(r[1].weaver.core.work > 0);
		CHECK(r[1].gather_cycles < r[0].gather_cycles);
	}
	gtu_graph_close(g);
}

/* A path that ends in a star's centre: few vertices, and one vertex for all lanes. */
TEST(every_mapping_matches_the_reference_on_small_graphs)
{
	static uint64_t src[64], dst[64];
	struct gtu_read_options o = { .direction = GTU_UNDIRECTED };
	struct lab_machine m = machine_of("vortex", NULL);
	struct gtu_graph *g;
	unsigned n, e, a;

	for (n = 4; n < 64; n += 29) {
		for (e = 0; e < n - 1; e++) {
			src[e] = e < 3 ? e : 3;
			dst[e] = e + 1;
		}
		CHECKF(!gtu_graph_from_edges(n, n - 1, src, dst, GTU_WEIGHT_NONE, NULL, &o, &g, &err), "%s", err.text);
		for (a = 0; a < LAB_WVR_GRAPH_ALGORITHMS; a++)
			if (a != LAB_WVR_SSSP)
				all_mappings(&m, g, a, false);
		gtu_graph_close(g);
	}
}

TEST(every_mapping_gives_the_sums_of_a_convolution)
{
	static float in[16 * 500], sum[16 * 500], all[16 * 500];
	struct lab_wvr_report r;
	struct lab_machine m = machine_of("vortex", NULL);
	struct gtu_graph *g = generated((struct gtu_generate_options){ .kind = GTU_GEN_POWERLAW, .n = 500, .seed = 3,
								       .random_weights = 8, .simplify = 1 });
	uint64_t v, e;
	unsigned k, f, a;

	for (v = 0; v < 16 * g->n; v++)
		in[v] = (float)(v * 7 % 31) / 31 - 0.5f;
	for (a = LAB_WVR_SPMM; a <= LAB_WVR_GRAPHSUM; a++) {
		for (v = 0; v < g->n; v++)
			for (f = 0; f < 16; f++) {
				double s = 0, size = 0, x;

				for (e = g->row[v]; e < g->row[v + 1]; e++) {
					uint64_t u = gtu_graph_target(g, e);

					x = (double)in[16 * u + f] *
					    (a == LAB_WVR_SPMM ? (double)((const uint32_t *)g->weight)[e] :
					     1 / sqrt((double)(g->row[v + 1] - g->row[v]) * (double)(g->row[u + 1] - g->row[u])));
					s += x;
					size += fabs(x);
				}
				sum[16 * v + f] = (float)s;
				all[16 * v + f] = (float)size;
			}
		for (k = 0; k < LAB_WVR_ALL_MAPPINGS; k++) {
			struct lab_wvr_config config = config_of(g, a, k);

			config.in = in;
			memset(result, 0xab, sizeof(result));
			CHECKF(!lab_wvr_run(&m, &config, NULL, result, &r, &err), "%s", err.text);
			for (v = 0; v < 16 * g->n; v++)
				CHECKF(fabsf(((float *)result)[v] - sum[v]) <= 1e-4f * all[v] + 1e-12f, "%s by %s: %d",
				       lab_wvr_algorithm_name[a], lab_wvr_mapping_name[k], (int)v);
		}
	}
	gtu_graph_close(g);
}

/* GraphSum's coefficient: once per warp of edges by edges, and per warp of edges and feature by features. */
TEST(coefficients_cost_their_instructions)
{
	static const enum lab_wvr_mapping mapping[] = { LAB_MAP_EDGE, LAB_MAP_WEAVER, LAB_MAP_FEATURE, LAB_MAP_VERTEX_FEATURE };
	static float in[16 * 200];
	struct lab_machine m = machine_of("vortex", NULL);
	struct gtu_graph *g = generated((struct gtu_generate_options){ .kind = GTU_GEN_POWERLAW, .n = 200, .seed = 3, .simplify = 1 });
	unsigned k, i;

	for (k = 0; k < LENGTH(mapping); k++) {
		static const uint32_t coefficient[] = { 0, LAB_WVR_COEFFICIENT, 200 };
		struct lab_wvr_report r[3];

		for (i = 0; i < 3; i++) {
			struct lab_wvr_config config = config_of(g, LAB_WVR_GRAPHSUM, mapping[k]);

			config.in = in;
			config.coefficient = coefficient[i];
			CHECKF(!lab_wvr_run(&m, &config, NULL, result, &r[i], &err), "%s", err.text);
		}
		CHECK_EQ(r[0].cycles, r[1].cycles);
		CHECK(r[1].warp_iterations > 0);
		CHECK_EQ(r[2].warp_iterations, r[1].warp_iterations);
		CHECK_EQ(r[2].stats.warp_instructions - r[1].stats.warp_instructions,
			 (200 - LAB_WVR_COEFFICIENT) * r[1].warp_iterations);
	}
	gtu_graph_close(g);
}

TEST(hash_lookups_find_exactly_the_keys_of_the_table)
{
	enum { BUCKETS = 100, ENTRIES = 700, KEYS = 1500 };
	static uint64_t src[ENTRIES], dst[ENTRIES];
	static uint32_t key[KEYS];
	struct lab_wvr_report r;
	struct lab_machine m = machine_of("vortex", NULL);
	struct gtu_graph *g;
	uint64_t i, e;
	unsigned k;

	/* entry i has key 3 i; the table is a graph of buckets whose targets are keys */
	for (i = 0; i < ENTRIES; i++) {
		src[i] = lab_wvr_bucket((uint32_t)(3 * i), BUCKETS);
		dst[i] = 3 * i;
	}
	CHECKF(!gtu_graph_from_edges(3 * ENTRIES, ENTRIES, src, dst, GTU_WEIGHT_NONE, NULL, NULL, &g, &err), "%s", err.text);
	for (i = 0; i < KEYS; i++)
		key[i] = (uint32_t)(i * 7 % (3 * ENTRIES));
	for (k = 0; k < LAB_WVR_MAPPINGS; k++) {
		struct gtu_graph table = *g;
		struct lab_wvr_config config = config_of(&table, LAB_WVR_HASH, k);

		table.n = BUCKETS;
		config.key = key;
		config.keys = KEYS;
		if (k == LAB_MAP_EDGE || k == LAB_MAP_EGHW) {
			CHECK_EQ(lab_wvr_run(&m, &config, NULL, result, &r, &err), GTU_ERR_USAGE);
			continue;
		}
		memset(result, 0xab, sizeof(result));
		CHECKF(!lab_wvr_run(&m, &config, NULL, result, &r, &err), "%s", err.text);
		for (i = 0; i < KEYS; i++) {
			e = result[i];
			CHECK(key[i] % 3 ? e == UINT32_MAX : e < g->m && gtu_graph_target(g, e) == key[i]);
		}
	}
	gtu_graph_close(g);
}

TEST(unsuitable_inputs_are_rejected)
{
	struct gtu_generate_options o = { .kind = GTU_GEN_UNIFORM, .n = 64, .edge_bytes = 8 };
	static const struct { unsigned algorithm, mapping; uint32_t source; const char *set, *why; } bad[] = {
		{ LAB_WVR_BFS, LAB_MAP_VERTEX, 3, NULL, "4-byte edges" }, { LAB_WVR_SSSP, LAB_MAP_VERTEX, 3, NULL, "weights" },
		{ LAB_WVR_BFS, LAB_MAP_FEATURE, 3, NULL, "no features" }, { LAB_WVR_BFS, LAB_MAP_VERTEX, 64, NULL, "existing source" },
		{ LAB_WVR_BFS, LAB_MAP_VERTEX, 3, "sm.warps=24", "warps per SM" },
	};
	struct lab_wvr_report r;
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++, o.edge_bytes = 4) {
		struct lab_machine m = machine_of("vortex", bad[i].set);
		struct gtu_graph *g = generated(o);
		struct lab_wvr_config config = config_of(g, bad[i].algorithm, bad[i].mapping);

		config.source = bad[i].source;
		CHECK_EQ(lab_wvr_run(&m, &config, NULL, result, &r, &err), GTU_ERR_USAGE);
		CHECKF(strstr(err.text, bad[i].why), "%s", err.text);
		gtu_graph_close(g);
	}
}

TEST_MAIN
