// SPDX-License-Identifier: MIT
/*
 * Algorithms that pass over all lists: the triangles of an oriented graph, for clustering coefficients, and
 * a graph convolution, on one GPU and on several.
 */
#include <math.h>

#include "libruntime/support/features.h"
#include "libruntime/support/graph_access.h"
#include "parts.h"
#include "ranks.h"

/* ---- Triangles ---------------------------------------------------------------------------------- */

int gpu_triangles(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *closed,
		  struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct gpu_run r;
	CUdeviceptr queue, count;
	uint64_t items = 0;
	void *args[] = { &queue, &items, &count, NULL };
	int rc = gpu_visit_begin(&r, dev, "triangles", opt, stats, err);
	const uint64_t n = r.graph.n;
	const char *suffix = !r.graph.n || r.g->weight_type == GTU_WEIGHT_NONE ? "" :
			     r.gpu->placement.packed ? "_packed" : "_separate";

	if (!rc && n)
		rc = gpu_run_allocate(&r, (struct gpu_part[]){ { "triangles", 8 * n, &count },
							       { "queue", gpu_run_queue_bytes(&r), &queue } }, 2);
	if (!rc && n)
		rc = gpu_fill(r.gpu, count, 0, 8 * n, err);
	if (!rc && n)
		rc = gpu_visit_collect(&r, 0, 0, queue, &items);
	gtu_phase(&r.phases, "traverse");
	if (!rc && items)
		rc = gpu_visit_step(&r, "triangles", suffix, true, items * 32, args);
	r.stats->edges = rc || !items ? 0 : r.counters.edges;
	gtu_phase(&r.phases, "result");
	if (!rc && n)
		rc = gpu_download(r.gpu, closed, count, 8 * n, err);
	return gpu_run_end(&r, rc);
}

/* ---- Convolution -------------------------------------------------------------------------------- */

/* One pass: the values of own vertices in @to = the factors times @from. */
static int pass(struct gpu_run *r, struct gpu_convolution *c, const char *suffix, CUdeviceptr from, CUdeviceptr to,
		CUdeviceptr root)
{
	const uint64_t width = 8ull * c->features;
	void *args[] = { &c->queue, &c->items, &from, &to, &c->features, &root, NULL };
	int rc = gpu_fill(r->gpu, to + width * r->graph.first, 0, width * (r->graph.end - r->graph.first), r->err);

	if (!rc)
		rc = gpu_visit_step(r, "gcn_pass", suffix, true, c->items * 32, args);
	r->stats->edges += r->graph.m;
	return rc;
}

static int fail_weight(const struct gpu_run *r, uint64_t base)
{
	uint64_t e;

	for (e = 0; e + 1 < r->g->m && isfinite(gtu_graph_weight(r->g, e)); e++)
		;
	return gtu_fail(r->err, GTU_ERR_INPUT, "%s: edge %llu has the weight %g", r->g->name, (unsigned long long)(base + e),
			gtu_graph_weight(r->g, e));
}

int gpu_convolution_begin(struct gpu_run *r, struct gpu_convolution *c, uint64_t queue)
{
	const uint64_t n = r->graph.n, values = n * c->features;
	const struct gpu_part part[] = {
		{ "features", 8 * values, &c->x }, { "sums", 8 * values, &c->y }, { "roots", 8 * n, &c->root },
		{ "queue", queue, &c->queue },
	};
	uint64_t seed = r->opt->seed;
	void *begin[] = { &c->x, &c->root, &c->features, &seed, NULL };
	int rc = gpu_run_allocate(r, part, 4);

	if (!rc)
		rc = gpu_run_launch(r, "gcn_begin", NULL, false, n, begin);
	return rc ? rc : gpu_visit_collect(r, 0, 0, c->queue, &c->items);
}

int gpu_convolution_sum(struct gpu_run *r, struct gpu_convolution *c, uint64_t base)
{
	static const char *const separate[] = { "", "_u32", "_f32", "_f64" };
	int rc;

	gtu_phase(&r->phases, "traverse");
	rc = pass(r, c, r->gpu->placement.weight_bytes ? separate[r->g->weight_type] : "_packed", c->x, c->y, 0);
	return rc || !r->counters.changed ? rc : fail_weight(r, base);
}

int gpu_convolution_root(struct gpu_run *r, struct gpu_convolution *c)
{
	/* the features are not needed any more */
	return pass(r, c, "_root", c->y, c->x, c->root);
}

int gpu_gcn(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *out,
	    struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct gpu_convolution c = { .features = gtu_features(opt) };
	struct gpu_run r;
	uint64_t values;
	int rc = gpu_visit_begin(&r, dev, "gcn", opt, stats, err);

	if (!rc)
		rc = gtu_check_feature_count(r.g, c.features, err);
	values = rc ? 0 : r.graph.n * c.features;
	if (!rc && values) {
		rc = gpu_convolution_begin(&r, &c, gpu_run_queue_bytes(&r));
		if (!rc)
			rc = gpu_convolution_sum(&r, &c, 0);
		if (!rc)
			rc = gpu_convolution_root(&r, &c);
		gtu_phase(&r.phases, "result");
		if (!rc)
			rc = gpu_download(r.gpu, out, c.x, 8 * values, err);
		if (!rc)
			rc = gtu_check_features(r.g, out, 0, r.graph.n, c.features, err);
		r.stats->vertices = r.graph.n;
		r.stats->iterations = 2;
	}
	return gpu_run_end(&r, rc);
}

/* ---- Convolution over several GPUs -------------------------------------------------------------------- */

int gpu_ranked_convolution(struct gpu_ranks *k)
{
	struct gpu_run *r = &k->r;
	struct gpu_convolution c = { .features = gtu_features(k->run->opt) };
	const uint64_t width = 8ull * c.features;
	uint64_t none = 0;
	int rc = gtu_check_feature_count(k->run->graph, c.features, r->err);

	if (!rc)
		rc = gpu_convolution_begin(r, &c, gpu_ranks_queue_bytes(k));
	if (!rc)
		rc = gpu_convolution_sum(r, &c, r->graph.m ? k->run->graph->row[k->first] : 0);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc)
		rc = gpu_link_gather_values(k, c.y, width);
	if (!rc)
		rc = gpu_link_gather_values(k, c.root, 8);
	if (!rc)
		rc = gpu_convolution_root(r, &c);
	gtu_phase(&r->phases, "result");
	if (!rc)
		rc = gpu_download(r->gpu, k->run->result, c.x + width * k->first, width * k->own, r->err);
	if (!rc)
		rc = gtu_check_features(k->run->graph, k->run->result, k->first, k->own, c.features, r->err);
	r->stats->vertices = k->own;
	r->stats->iterations = 2;
	return rc;
}
