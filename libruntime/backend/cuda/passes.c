// SPDX-License-Identifier: MIT
/*
 * Algorithms that pass over all lists: the triangles of an oriented graph, for clustering coefficients, and
 * a graph convolution.
 */
#include <math.h>

#include "gpu.h"
#include "libruntime/support/graph_access.h"

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

#define FEATURES 16

struct convolution {
	struct gpu_run r;
	CUdeviceptr x, y, root, queue;
	uint64_t items, values;
	uint32_t features;
};

/* One pass: @to += the factors times @from. */
static int pass(struct convolution *c, const char *suffix, CUdeviceptr from, CUdeviceptr to, CUdeviceptr root)
{
	struct gpu_run *r = &c->r;
	void *args[] = { &c->queue, &c->items, &from, &to, &c->features, &root, NULL };
	int rc = gpu_fill(r->gpu, to, 0, 8 * c->values, r->err);

	if (!rc)
		rc = gpu_visit_step(r, "gcn_pass", suffix, true, c->items * 32, args);
	r->stats->edges += r->graph.m;
	return rc;
}

static int fail_weight(const struct gpu_run *r)
{
	uint64_t e;

	for (e = 0; e + 1 < r->g->m && isfinite(gtu_graph_weight(r->g, e)); e++)
		;
	return gtu_fail(r->err, GTU_ERR_INPUT, "%s: edge %llu has the weight %g", r->g->name, (unsigned long long)e,
			gtu_graph_weight(r->g, e));
}

static int convolve(struct convolution *c)
{
	static const char *const separate[] = { "", "_u32", "_f32", "_f64" };
	struct gpu_run *r = &c->r;
	const uint64_t n = r->graph.n;
	const struct gpu_part part[] = {
		{ "features", 8 * c->values, &c->x }, { "sums", 8 * c->values, &c->y }, { "roots", 8 * n, &c->root },
		{ "queue", gpu_run_queue_bytes(r), &c->queue },
	};
	uint64_t seed = r->opt->seed;
	void *begin[] = { &c->x, &c->root, &c->features, &seed, NULL };
	int rc = gpu_run_allocate(r, part, 4);

	if (!rc)
		rc = gpu_run_launch(r, "gcn_begin", NULL, false, n, begin);
	if (!rc)
		rc = gpu_visit_collect(r, 0, 0, c->queue, &c->items);
	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = pass(c, r->gpu->placement.weight_bytes ? separate[r->g->weight_type] : "_packed", c->x, c->y, 0);
	if (!rc && r->counters.changed)
		rc = fail_weight(r);
	/* the features are not needed any more */
	return rc ? rc : pass(c, "_root", c->y, c->x, c->root);
}

static int check_finite(const struct convolution *c, const double *out)
{
	uint64_t i;

	for (i = 0; i < c->values; i++)
		if (!isfinite(out[i]))
			return gtu_fail(c->r.err, GTU_ERR_UNSUPPORTED,
					"the sum for feature %llu of vertex %llu exceeds the range of a double (1.8e308)",
					(unsigned long long)(i % c->features),
					(unsigned long long)gtu_graph_id(c->r.g, i / c->features));
	return 0;
}

int gpu_gcn(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *out,
	    struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct convolution c = { .features = opt->features ? opt->features : FEATURES };
	int rc = gpu_visit_begin(&c.r, dev, "gcn", opt, stats, err);

	if (!rc && c.features > GTU_FEATURES_MAX)
		rc = gtu_fail(err, GTU_ERR_USAGE, "%u features per vertex are too many: the maximum is %u", c.features,
			      GTU_FEATURES_MAX);
	c.values = rc ? 0 : c.r.graph.n * c.features;
	if (!rc && c.values) {
		rc = convolve(&c);
		gtu_phase(&c.r.phases, "result");
		if (!rc)
			rc = gpu_download(c.r.gpu, out, c.x, 8 * c.values, err);
		if (!rc)
			rc = check_finite(&c, out);
		c.r.stats->vertices = c.r.graph.n;
		c.r.stats->iterations = 2;
	}
	return gpu_run_end(&c.r, rc);
}
