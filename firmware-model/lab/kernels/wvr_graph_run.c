// SPDX-License-Identifier: MIT
/* The host part of SparseWeaver's algorithms: arrays and launches. */
#include "wvr_graph_run.h"

struct run {
	struct lab *lab;
	const struct lab_wvr_config *config;
	const struct gtu_progress *progress;
	struct gather_args a;
	struct lab_wvr_report *report;
	struct lab_count count[STATEMENTS];
};

const char *const lab_wvr_algorithm_name[LAB_WVR_ALGORITHMS] = {
	"bfs", "sssp", "pr", "cc", "spmm", "graphsum", "hash",
};

const char *const lab_wvr_mapping_name[LAB_WVR_ALL_MAPPINGS] = {
	"vertex", "edge", "warp", "block", "twc", "twce", "EGHW", "SparseWeaver", "feature", "vertex and feature",
};

/* Cycles are counted without the launch latency, which is the same under every mapping. */
static int launch(struct run *r, const struct lab_kernel *k, bool gather, struct gtu_error *err)
{
	const struct lab_machine *m = lab_machine_of(r->lab);
	struct lab_launch l = { k, &r->a, m->sms, m->warps * LAB_LANES, r->progress };
	uint64_t begin = lab_now(r->lab), cycles;
	int rc = lab_run(r->lab, &l, gather ? r->count : NULL, err);

	if (rc)
		return rc;
	cycles = lab_now(r->lab) - begin - m->launch_latency;
	r->report->cycles += cycles;
	r->report->gather_cycles += gather ? cycles : 0;
	return 0;
}

/* Launch rounds until nothing changes; @apply may be NULL. */
static int rounds(struct run *r, const struct lab_kernel *gather, const struct lab_kernel *apply, struct gtu_error *err)
{
	int rc = 0;

	for (r->a.depth = 1; !rc; r->a.depth++) {
		lab_words(&r->a.changed)[0] = 0;
		rc = launch(r, gather, true, err);
		if (rc || !lab_words(&r->a.changed)[0])
			break;
		rc = apply ? launch(r, apply, false, err) : 0;
	}
	return rc;
}

static int pagerank(struct run *r, struct gtu_error *err)
{
	const struct gtu_graph *g = r->config->graph;
	uint32_t i, v, d;
	int rc = 0;

	lab_ranks_init(g, r->a.out.data);
	r->a.push = r->config->push;
	for (v = 0; v < g->n; v++) {
		d = (uint32_t)(g->row[v + 1] - g->row[v]);
		((float *)r->a.value.data)[v] = (float)(1 / (double)g->n) / (float)(d ? d : 1);
	}
	for (i = 0; i < r->config->iterations && !rc; i++) {
		r->a.rest = lab_rank_base(g, r->a.out.data);
		rc = launch(r, &lab_wvr_pr[r->config->mapping], true, err);
		rc = rc ? rc : launch(r, &lab_wvr_pr_apply, false, err);
	}
	return rc;
}

static int operators(struct run *r, struct gtu_error *err)
{
	bool sum = r->config->algorithm == LAB_WVR_GRAPHSUM;
	int rc = launch(r, &lab_wvr_initialize, false, err);

	if (rc)
		return rc;
	r->report->init_cycles = r->report->cycles;
	memcpy(r->a.value.data, r->config->in, 4ull * LAB_WVR_FEATURES * r->config->graph->n);
	if (r->config->mapping >= LAB_MAP_FEATURE)
		return launch(r, &lab_wvr_feature[r->config->mapping - LAB_MAP_FEATURE][sum], true, err);
	return launch(r, sum ? &lab_wvr_graphsum[r->config->mapping] : &lab_wvr_spmm[r->config->mapping], true, err);
}

static int execute(struct run *r, struct gtu_error *err)
{
	const unsigned mapping = r->config->mapping;
	uint32_t v;

	switch (r->config->algorithm) {
	case LAB_WVR_BFS:
		memset(r->a.value.data, 0xff, r->a.value.bytes);
		lab_words(&r->a.value)[r->config->source] = 0;
		return rounds(r, &lab_wvr_bfs[mapping], NULL, err);
	case LAB_WVR_SSSP:
		memset(r->a.value.data, 0xff, r->a.value.bytes);
		memset(r->a.stamp.data, 0xff, r->a.stamp.bytes);
		lab_words(&r->a.value)[r->config->source] = 0;
		lab_words(&r->a.stamp)[r->config->source] = 0;
		return rounds(r, &lab_wvr_sssp[mapping], NULL, err);
	case LAB_WVR_PR:
		return pagerank(r, err);
	case LAB_WVR_CC:
		for (v = 0; v < r->a.n; v++)
			lab_words(&r->a.value)[v] = v;
		return rounds(r, &lab_wvr_cc[mapping], &lab_wvr_cc_apply, err);
	case LAB_WVR_SPMM: case LAB_WVR_GRAPHSUM:
		return operators(r, err);
	default:
		memset(r->a.out.data, 0xff, r->a.out.bytes);
		memcpy(r->a.stamp.data, r->config->key, 4ull * r->config->keys);
		return launch(r, &lab_wvr_hash[mapping], true, err);
	}
}

static int check(const struct lab_machine *m, const struct lab_wvr_config *config, struct gtu_error *err)
{
	const struct gtu_graph *g = config->graph;
	bool weights = config->algorithm == LAB_WVR_SSSP || config->algorithm == LAB_WVR_SPMM;
	bool gcn = config->algorithm == LAB_WVR_SPMM || config->algorithm == LAB_WVR_GRAPHSUM;

	if (m->warps > 32 || m->warps & (m->warps - 1))
		return gtu_fail(err, GTU_ERR_USAGE, "machine %s: SparseWeaver's mappings need 1, 2, 4, ... or 32 warps per SM, not %u",
				m->name, m->warps);
	if (g->edge_bytes != 4 || g->n >= 1u << 27 || g->m >= 1ull << 31 || config->source >= g->n)
		return gtu_fail(err, GTU_ERR_USAGE, "%s: SparseWeaver's experiment needs 4-byte edges, fewer than 2^27 vertices and 2^31 edges, and an existing source",
				g->name);
	if (weights && lab_graph_weights(g, lab_wvr_algorithm_name[config->algorithm], err))
		return GTU_ERR_USAGE;
	if (config->mapping >= LAB_MAP_FEATURE && !gcn)
		return gtu_fail(err, GTU_ERR_USAGE, "%s has no features to map", lab_wvr_algorithm_name[config->algorithm]);
	if (config->algorithm == LAB_WVR_HASH && (config->mapping == LAB_MAP_EDGE || config->mapping == LAB_MAP_EGHW))
		return gtu_fail(err, GTU_ERR_USAGE, "the hash lookup has no edge list, which mapping %s needs",
				lab_wvr_mapping_name[config->mapping]);
	return 0;
}

static int arrays(struct run *r, struct gtu_error *err)
{
	const struct lab_wvr_config *config = r->config;
	const struct gtu_graph *g = config->graph;
	bool hash = config->algorithm == LAB_WVR_HASH, edge = config->mapping == LAB_MAP_EDGE;
	bool gcn = config->algorithm == LAB_WVR_SPMM || config->algorithm == LAB_WVR_GRAPHSUM;
	struct gather_args *a = &r->a;
	const uint32_t blocks = lab_machine_of(r->lab)->sms;
	const struct lab_want want[] = {
		{ &a->row, "row", g->n + 1 }, { &a->base, "base", edge ? g->m + 1 : 1 },
		{ &a->value, "value", gcn ? LAB_WVR_FEATURES * g->n : g->n },
		{ &a->sum, "sum", g->n }, { &a->stamp, "stamp", hash ? config->keys + 1ull : g->n },
		{ &a->out, "out", gcn ? LAB_WVR_FEATURES * g->n : hash ? config->keys + 1ull : g->n },
		{ &a->changed, "changed", 1 },
		{ &a->bins, "bins", config->mapping == LAB_MAP_TWC ? LAB_WVR_BIN_WORDS * blocks : 1 }, { &a->tails, "tails", 3ull * blocks },
	};
	uint64_t v, e;
	int rc = lab_graph_arrays(r->lab, g, &a->row, &a->col, g->weight ? &a->weight : NULL, want,
				  sizeof(want) / sizeof(want[0]), err);

	if (rc)
		return rc;
	a->n = hash ? config->keys : (uint32_t)g->n;
	a->m = (uint32_t)g->m;
	a->features = hash ? (uint32_t)g->n : LAB_WVR_FEATURES;
	for (v = 0; v < g->n && edge; v++)
		for (e = g->row[v]; e < g->row[v + 1]; e++)
			lab_words(&a->base)[e] = (uint32_t)v;
	return 0;
}

int lab_wvr_run(const struct lab_machine *m, const struct lab_wvr_config *config, const struct gtu_progress *progress,
		uint32_t *result, struct lab_wvr_report *report, struct gtu_error *err)
{
	struct run r = { .config = config, .progress = progress, .report = report };
	bool ranks = config->algorithm == LAB_WVR_PR || config->algorithm >= LAB_WVR_GRAPH_ALGORITHMS;
	bool weights = config->algorithm == LAB_WVR_SSSP || config->algorithm == LAB_WVR_SPMM;
	struct lab_machine machine = *m;
	int rc = check(m, config, err);

	if (rc)
		return rc;
	memset(report, 0, sizeof(*report));
	if (config->mapping == LAB_MAP_WEAVER)
		machine.l1_size /= 2;
	rc = lab_create(&machine, &r.lab, err);
	if (!rc && config->mapping == LAB_MAP_WEAVER)
		rc = lab_weaver_attach(r.lab, &config->shape, &r.a.weaver, err);
	if (!rc && config->mapping == LAB_MAP_EGHW)
		rc = lab_eghw_attach(r.lab, config->eghw_requests, &r.a.eghw, err);
	rc = rc ? rc : arrays(&r, err);
	if (!rc && r.a.eghw)
		lab_eghw_graph(r.a.eghw, &r.a.row, &r.a.col, weights ? &r.a.weight : NULL);
	r.a.stage = report->stage;
	r.a.leave_out = config->leave_out;
	r.a.add_loop = m->atomics == LAB_ATOMICS_LOAD;
	r.a.coefficient = config->coefficient ? config->coefficient : LAB_WVR_COEFFICIENT;
	rc = rc ? rc : execute(&r, err);
	if (!rc) {
		memcpy(result, ranks ? r.a.out.data : r.a.value.data, ranks ? (size_t)(r.a.out.bytes - (config->algorithm == LAB_WVR_HASH ? 4 : 0)) : 4 * (size_t)config->graph->n);
		report->stats = *lab_stats(r.lab);
		report->warp_iterations = r.count[COL].warps;
		if (r.a.weaver)
			lab_weaver_counts(r.a.weaver, &report->weaver);
	}
	lab_destroy(r.lab);
	lab_weaver_free(r.a.weaver);
	lab_eghw_free(r.a.eghw);
	return rc;
}
