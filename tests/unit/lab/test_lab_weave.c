// SPDX-License-Identifier: MIT
/*
 * Programs over gtu/weave.h run from one source (tests/cuda/weave_programs.h): by gtu_weave() with every unit, and in the laboratory
 * under every mapping, with equal results, over CSR, CSC, split vertices and storages of the caller
 * (ELL, hybrid). Their accesses cost simulated time.
 */
#include "firmware-model/lab/kernels/weave.h"
#include "tests/unit/weave_inputs.h"
#include "lab_test.h"

#define UNITS (GTU_WITH_WEAVER + 1)

static const struct {
	const char *name;
	struct gtu_weave_functions f;
	bool weights, real;
	uint32_t iterations;
} programs[] = {
	{ "bfs", { .init = bfs_init, .filter_source = bfs_old, .filter_target = bfs_reached, .gather = bfs_gather,
		   .apply = bfs_apply }, false, false, 0 },
	{ "sssp", { .init = sssp_init, .filter_source = sssp_sleeps, .gather = sssp_gather, .apply = sssp_apply },
	  true, false, 0 },
	{ "sums", { .init = sum_init, .gather = sum_gather, .apply = sum_apply }, true, true, 3 },
};

/* ---- ELL: rows of one length, partly padding. Hybrid: the edges beyond a row's length are in a CSR ------------------------------------------------ */

struct ell {
	const struct gtu_graph *g;
	uint64_t width;
	bool hybrid;			/* entries from n on are the rests of rows, in the CSR after the ELL part */
};

static int ell_neighbor(const struct gtu_weave_storage *s, uint64_t entry, uint64_t *base, uint64_t *first,
			uint64_t *degree, struct gtu_error *e)
{
	const struct ell *l = s->context;
	const uint64_t v = entry % l->g->n, all = l->g->row[v + 1] - l->g->row[v], in_row = all < l->width ? all : l->width;

	(void)e;
	*base = v;
	*first = entry < l->g->n ? v * l->width : l->g->n * l->width + l->g->row[v] + in_row;
	*degree = entry < l->g->n ? in_row : all - in_row;
	return 0;
}

static int ell_edge(const struct gtu_weave_storage *s, uint64_t edge, uint64_t *other, double *weight,
		    struct gtu_error *e)
{
	const struct ell *l = s->context;
	const uint64_t rows = l->g->n * l->width;
	const uint64_t at = edge < rows ? l->g->row[edge / l->width] + edge % l->width : edge - rows;

	(void)e;
	*other = gtu_graph_target(l->g, at);
	*weight = ((const uint32_t *)l->g->weight)[at];
	return 0;
}

static void one_storage(const char *name, const struct gtu_weave_storage *s, const struct gtu_graph *g,
			struct weave_data *d, struct gtu_device *dev)
{
	const uint64_t n = g->n;
	double *rank = test_alloc(n, 8);
	uint32_t *level = test_alloc(n + 1, 4);
	const struct lab_machine machine = machine_of("vortex", FEWER_SMS), *m = &machine;

	for (unsigned i = 0; i < LENGTH(programs); i++) {
		struct gtu_algorithm_options opt = { .iterations = programs[i].iterations };

		OK(gtu_weave(NULL, s, &programs[i].f, d, &opt, NULL, &err));
		memcpy(rank, d->rank, 8 * n);
		memcpy(level, d->level, 4 * n);
		for (opt.unit = GTU_WITH_SCU_BASIC; opt.unit < UNITS; opt.unit++) {
			OK(gtu_weave(dev, s, &programs[i].f, d, &opt, NULL, &err));
			CHECK(!memcmp(rank, d->rank, 8 * n) && !memcmp(level, d->level, 4 * n));
		}
		for (unsigned mapping = 0; mapping < LAB_WVR_MAPPINGS; mapping++) {
			const struct lab_weave_config config = {
				.mapping = mapping, .storage = s, .functions = &programs[i].f, .context = d,
				.iterations = programs[i].iterations, .weights = programs[i].weights,
				.array = { { "level", d->level, 4 * n }, { "active", d->active, 4 * n },
					   { "next", d->next, 4 * n }, { "rank", d->rank, 8 * n }, { "sum", d->sum, 8 * n } },
				.arrays = 5, .shape = lab_weaver_published, .eghw_requests = 4,
			};
			struct lab_weave_report report;

			memset(d->seen, 0, 8 * s->edges);
			OK(lab_weave_run(m, &config, NULL, &report, &err));
			CHECKF(!memcmp(rank, d->rank, 8 * n) && !memcmp(level, d->level, 4 * n),
			       "%s over %s by %s: another result", programs[i].name, name, lab_wvr_mapping_name[mapping]);
			CHECK(report.cycles > 100 * report.iterations);
			CHECK(report.accesses > n);
			CHECK(mapping != LAB_MAP_WEAVER || report.weaver.core.work > 0);
			if (!programs[i].real)
				continue;
			CHECK_EQ(report.accesses, report.iterations * (2 * g->m + 3 * n));
			for (uint64_t e = 0, calls = 0; e < s->edges; e++) {
				CHECK(!d->seen[e] || d->seen[e] == report.iterations);
				calls += d->seen[e];
				CHECK(e + 1 < s->edges || calls == report.iterations * g->m);
			}
		}
	}
}

TEST(one_source_has_the_same_results_in_the_laboratory)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 8, .degree = 6 });
	struct gtu_graph weighted;
	struct gtu_device *dev = open_model("model");
	struct weave_data d;
	struct gtu_weave_storage s;
	struct ell ell = { &weighted, 0, false };

	for (uint64_t v = 0; v < g->n; v++)
		if (g->row[v + 1] - g->row[v] > ell.width)
			ell.width = g->row[v + 1] - g->row[v];
	d = weave_inputs(g, g->n * ell.width + g->m, &weighted);
	OK(gtu_weave_csr(&weighted, 0, &s, &err));
	one_storage("CSR", &s, g, &d, dev);
	gtu_weave_close(&s);
	OK(gtu_weave_csr(&weighted, 5, &s, &err));
	one_storage("parts", &s, g, &d, dev);
	gtu_weave_close(&s);
	OK(gtu_weave_csc(&weighted, 0, &s, &err));
	one_storage("CSC", &s, g, &d, dev);
	gtu_weave_close(&s);
	s = (struct gtu_weave_storage){ .vertices = g->n, .entries = g->n, .edges = g->n * ell.width,
					.get_neighbor = ell_neighbor, .get_edge = ell_edge, .context = &ell };
	one_storage("ELL", &s, g, &d, dev);
	ell.width = 3;
	s.entries = 2 * g->n;
	s.edges = g->n * ell.width + g->m;
	one_storage("hybrid", &s, g, &d, dev);
}

static void lost_gather(const struct gtu_weave_iteration *t, uint64_t source, uint64_t target, double weight)
{
	struct weave_data *d = t->context;

	(void)source, (void)weight;
	GTU_WEAVE_STORE(t, &d->next[target], 1);
}

static uint64_t no_entry(const struct gtu_weave_iteration *t)
{
	(void)t;
	return 0;
}

TEST(the_laboratory_refuses_invalid_accesses_and_programs)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 5, .degree = 4 });
	struct weave_data d = { .level = test_alloc(g->n, 8), .next = test_alloc(g->n, 8) };
	struct gtu_weave_functions f = { .gather = lost_gather };
	struct gtu_weave_storage s;
	struct lab_weave_config config = { .mapping = LAB_MAP_WEAVER, .storage = &s, .functions = &f, .context = &d,
					   .array = { { "level", d.level, 4 * g->n } }, .arrays = 1,
					   .shape = lab_weaver_published };
	struct lab_weave_report report;
	const struct lab_machine machine = machine_of("vortex", FEWER_SMS), *m = &machine;

	OK(gtu_weave_csr(g, 0, &s, &err));
	FAILS(lab_weave_run(m, &config, NULL, &report, &err), GTU_ERR_FAIL, "outside the arrays");
	config.array[0] = (struct lab_weave_array){ "next", d.next, 4 * g->n };
	OK(lab_weave_run(m, &config, NULL, &report, &err));
	CHECK_EQ(report.accesses, g->m);
	config.array[0].bytes = 3;
	FAILS(lab_weave_run(m, &config, NULL, &report, &err), GTU_ERR_USAGE, "multiple of 8 bytes");
	config.array[0].bytes = 8;
	config.mapping = LAB_WVR_MAPPINGS;
	FAILS(lab_weave_run(m, &config, NULL, &report, &err), GTU_ERR_USAGE, "mapping 8 does not exist");
	config.mapping = LAB_MAP_VERTEX;
	f.frontier = no_entry;
	FAILS(lab_weave_run(m, &config, NULL, &report, &err), GTU_ERR_UNSUPPORTED, "frontier");
	gtu_weave_close(&s);
}

TEST_MAIN
