// SPDX-License-Identifier: MIT
/* Runs of algorithms: options, clock, statistics and buffers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "libruntime/support/clock.h"
#include "libruntime/support/graph_access.h"
#include "libruntime/support/parallel.h"
#include "libruntime/support/ranked.h"

#define TICK_NS		2000000u	/* minimum time between two calls of tick() */
#define POLL_EDGES	65536u		/* edges traversed between two readings of the clock */

static const struct {
	uint32_t unit;			/* GTU_UNIT_* */
	const char *name;
} units[] = {
	[GTU_WITH_NONE] = { 0, "no unit" },
	[GTU_WITH_SCU_BASIC] = { GTU_UNIT_SCU, "the SCU" },
	[GTU_WITH_SCU] = { GTU_UNIT_SCU, "the SCU" },
	[GTU_WITH_IRU] = { GTU_UNIT_IRU, "the IRU" },
	[GTU_WITH_PEG] = { GTU_UNIT_PEG, "GraphPEG" },
	[GTU_WITH_WEAVER] = { GTU_UNIT_WVR, "Weaver" },
};
#define UNITS (sizeof(units) / sizeof(units[0]))

/* Apply the IRU's limits: width of indices and positions in its records. */
static int check_iru(struct gtu_alg *a, const struct gtu_info *info)
{
	if (a->g->n > 1ull << info->iru[GTU_IRU_P_INDEX_BITS])
		return gtu_fail(a->err, GTU_ERR_UNSUPPORTED,
				"the IRU of %s has indices of %u bits, too few for a graph of %llu "
				"vertices",
				info->path, info->iru[GTU_IRU_P_INDEX_BITS],
				(unsigned long long)a->g->n);
	if (a->chunk > 1ull << info->iru[GTU_IRU_P_POSITION_BITS])
		a->chunk = 1ull << info->iru[GTU_IRU_P_POSITION_BITS];
	a->id_width = 4;
	return 0;
}

static int check_unit(struct gtu_alg *a)
{
	const struct gtu_info *info;

	if (gtu_has_ranks(a->dev))
		return gtu_refuse_over_ranks(a->dev, a->name, a->err);
	if (a->opt->unit == GTU_WITH_GPU)
		return gtu_fail(a->err, GTU_ERR_UNSUPPORTED,
				"%s does not run on a GPU", a->name);
	if (a->opt->unit >= UNITS)
		return gtu_fail(a->err, GTU_ERR_USAGE, "unit choice %u is invalid: use 0 to %zu",
				a->opt->unit, UNITS - 1);
	if (a->opt->unit == GTU_WITH_NONE)
		return 0;
	if (!a->dev)
		return gtu_fail(a->err, GTU_ERR_USAGE, "%s with %s needs a device", a->name,
				units[a->opt->unit].name);
	info = gtu_get_info(a->dev);
	if (!(info->units & units[a->opt->unit].unit))
		return gtu_fail(a->err, GTU_ERR_UNSUPPORTED, "%s does not have %s", info->path,
				units[a->opt->unit].name);
	return a->opt->unit == GTU_WITH_IRU ? check_iru(a, info) : 0;
}

int gtu_alg_begin(struct gtu_alg *a, const char *name, struct gtu_device *dev,
		  const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
		  struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	uint32_t log2 = opt->chunk_log2 ? opt->chunk_log2 : GTU_ALG_CHUNK_LOG2;
	int rc;

	memset(a, 0, sizeof(*a));
	a->name = name;
	a->dev = dev;
	a->g = g;
	a->opt = opt;
	a->err = err;
	a->chunk = 1ull << (log2 & 63);
	a->id_width = g->edge_bytes;
	a->first = opt->first_vertex;
	a->end = opt->first_vertex || opt->end_vertex ? opt->end_vertex : g->n;
	gtu_phases_begin(&a->phases, stats);
	a->stats = a->phases.stats;

	if (g->edge_bytes != 8 && (g->edge_bytes != 4 || g->n > 1ull << 32))
		return gtu_fail(err, GTU_ERR_USAGE,
				"edge entries of %u bytes are too small for the %llu vertices of "
				"%s",
				g->edge_bytes, (unsigned long long)g->n, g->name);
	if (log2 > GTU_ALG_CHUNK_LOG2_MAX)
		return gtu_fail(err, GTU_ERR_USAGE, "a chunk of 2^%u edges is too large: the "
				"maximum is 2^%u", log2,
				GTU_ALG_CHUNK_LOG2_MAX);
	if (g->flags & GTU_GRAPH_PART && !gtu_has_ranks(dev))
		return gtu_fail(err, GTU_ERR_USAGE, "%s has only one rank's edges of %s: its device is that of "
				"gtu_open_ranks()", name, g->name);
	if (a->first > a->end || a->end > g->n)
		return gtu_fail(err, GTU_ERR_USAGE,
				"vertices %llu up to %llu are not a range of the graph's %llu "
				"vertices",
				(unsigned long long)a->first, (unsigned long long)a->end,
				(unsigned long long)g->n);
	rc = check_unit(a);
	if (!rc && opt->unit != GTU_WITH_NONE)
		rc = gtu_queue_create(dev, NULL, &a->q, err);
	return rc;
}

int gtu_alg_check_vertex(struct gtu_alg *a, const char *what, uint64_t v)
{
	if (v < a->g->n)
		return 0;
	return gtu_fail(a->err, GTU_ERR_USAGE, "%s vertex %llu is out of range: the graph has %llu vertices", what,
			(unsigned long long)v, (unsigned long long)a->g->n);
}

static uint64_t source_of(const struct gtu_graph *g, uint64_t e)
{
	uint64_t v = 0;

	while (g->row[v + 1] <= e)
		v++;
	return v;
}

/* Weights of a share; the sums are added up in order, whatever the threads. */
struct weight_part {
	double sum, max;
	uint64_t bad;			/* an invalid weight's edge, or GTU_NO_VERTEX */
};

struct weight_scan {
	struct gtu_alg *a;
	pthread_t caller;
	struct weight_part *part;	/* one per share */
};

/* At least 0; finite ones are added up. */
static int scan_share(void *arg, uint64_t first, uint64_t end)
{
	const struct weight_scan *scan = arg;
	const struct gtu_graph *g = scan->a->g;
	struct weight_part part = { 0, 0, GTU_NO_VERTEX };
	uint64_t e, sum = 0;
	uint32_t max = 0;
	double w;

	/* the same as below, vectorized; exact up to 2^53, as the sum in double */
	for (e = first; g->weight_type == GTU_WEIGHT_U32 && e < end; e++) {
		const uint32_t weight = ((const uint32_t *)g->weight)[e];

		sum += weight;
		max = weight > max ? weight : max;
	}
	part.sum = (double)sum;
	part.max = max;
	for (e = first; g->weight_type != GTU_WEIGHT_U32 && e < end && part.bad == GTU_NO_VERTEX; e++) {
		w = gtu_graph_weight(g, e);
		if (!(w >= 0))
			part.bad = e;
		if (isfinite(w))
			part.sum += w;
		if (w > part.max)
			part.max = w;
	}
	scan->part[first >> GTU_SHARE_LOG2] = part;
	if (pthread_equal(pthread_self(), scan->caller) &&
	    gtu_tick(scan->a->opt->progress, "weights", first, g->m))
		return gtu_fail(scan->a->err, GTU_ERR_INTERRUPTED, "sssp was interrupted");
	return 0;
}

int gtu_alg_scan_weights(struct gtu_alg *a, double *mean, double *max)
{
	const struct gtu_graph *g = a->g;
	struct weight_scan scan = { .a = a, .caller = pthread_self() };
	const uint64_t parts = (g->m >> GTU_SHARE_LOG2) + 1;
	double sum = 0;
	uint64_t i, e;
	int rc;

	*mean = *max = 1;
	if (g->weight_type == GTU_WEIGHT_NONE || !g->m)
		return 0;
	scan.part = calloc(parts, sizeof(*scan.part));
	if (!scan.part)
		return gtu_fail(a->err, GTU_ERR_NOMEM, "%s: out of memory to check %llu weights", a->name,
				(unsigned long long)g->m);
	rc = gtu_parallel(scan_share, &scan, g->m);
	*max = 0;
	for (i = 0; i << GTU_SHARE_LOG2 < g->m && !rc; i++) {
		e = scan.part[i].bad;
		if (e != GTU_NO_VERTEX)
			rc = gtu_fail(a->err, GTU_ERR_INPUT,
				      "%s: the edge from vertex %llu to vertex %llu has weight %g; "
				      "shortest paths need weights of 0 or more (gtu run: "
				      "--weights unit counts every edge as 1)",
				      g->name, (unsigned long long)gtu_graph_id(g, source_of(g, e)),
				      (unsigned long long)gtu_graph_id(g, gtu_graph_target(g, e)), gtu_graph_weight(g, e));
		sum += scan.part[i].sum;
		*max = scan.part[i].max > *max ? scan.part[i].max : *max;
	}
	free(scan.part);
	*mean = sum / (double)g->m;
	return rc;
}

int gtu_alg_require_whole_graph(struct gtu_alg *a)
{
	if (!a->first && a->end == a->g->n)
		return 0;
	return gtu_fail(a->err, GTU_ERR_UNSUPPORTED,
			"%s over a part of the vertices is not supported: it needs intermediate "
			"results of the other parts, which ranks exchange (gtu/ranks.h)",
			a->name);
}

int gtu_alg_symmetrize(struct gtu_alg *a, struct gtu_graph **both)
{
	*both = NULL;
	if (!(a->g->flags & GTU_GRAPH_DIRECTED))
		return 0;
	return gtu_graph_symmetrize(a->g, a->opt->progress, both, a->err);
}

int gtu_alg_direction(struct gtu_alg *a)
{
	static const char *const name[] = { "pushing", "pulling", "pushing or pulling" };

	if (a->opt->direction > GTU_PUSH_OR_PULL)
		return gtu_fail(a->err, GTU_ERR_USAGE, "direction %u is invalid: use 0 to %u",
				a->opt->direction,
				GTU_PUSH_OR_PULL);
	if (a->opt->direction == GTU_PUSH)
		return 0;
	if (!gtu_alg_streams_edges(a) && a->opt->unit != GTU_WITH_NONE)
		return gtu_fail(a->err, GTU_ERR_UNSUPPORTED,
				"%s by %s needs GraphPEG, Weaver or no unit; with %s it can only push",
				a->name,
				name[a->opt->direction], units[a->opt->unit].name);
	if (a->first || a->end != a->g->n)
		return gtu_fail(a->err, GTU_ERR_UNSUPPORTED,
				"%s by %s does not support a part of the vertices: a part consists "
				"of outgoing edges, so it can only push; over ranks (gtu/ranks.h) it can pull",
				a->name, name[a->opt->direction]);
	return 0;
}

int gtu_alg_transpose(struct gtu_alg *a, struct gtu_graph **transpose)
{
	struct gtu_graph plain = *a->g;

	*transpose = NULL;
	if (!(a->g->flags & GTU_GRAPH_DIRECTED))
		return 0;
	plain.weight = NULL;
	plain.weight_type = GTU_WEIGHT_NONE;
	return gtu_graph_transpose(&plain, a->opt->progress, transpose, a->err);
}

static int give_back(struct gtu_alg *a, struct gtu_region *region, struct gtu_error *err)
{
	if (a->q)
		return gtu_region_remove(a->dev, region, err);
	free(region->addr);
	memset(region, 0, sizeof(*region));
	return 0;
}

int gtu_alg_end(struct gtu_alg *a, int rc)
{
	struct gtu_alg_buffer *b;
	int end_rc;

	gtu_iru_close(a->iru);
	for (b = a->buffers; b; b = b->next) {
		end_rc = give_back(a, &b->region, rc ? NULL : a->err);
		rc = rc ? rc : end_rc;
	}
	if (a->q)
		gtu_queue_destroy(a->q);
	gtu_phases_end(&a->phases);
	return rc;
}

int gtu_alg_poll_progress(struct gtu_alg *a)
{
	uint64_t now = gtu_now_ns();

	a->polled_edges = a->stats->edges;
	if (now - a->ticked_ns < TICK_NS)
		return 0;
	a->ticked_ns = now;
	if (gtu_tick(a->opt->progress, a->name, a->stats->edges, 0))
		return gtu_fail(a->err, GTU_ERR_INTERRUPTED, "%s was interrupted", a->name);
	return 0;
}

int gtu_alg_progress(struct gtu_alg *a, uint64_t edges)
{
	a->stats->edges += edges;
	return a->stats->edges - a->polled_edges < POLL_EDGES ? 0 : gtu_alg_poll_progress(a);
}

static void list(struct gtu_alg *a, struct gtu_alg_buffer *b)
{
	if (b->listed)
		return;
	b->listed = true;
	b->next = a->buffers;
	a->buffers = b;
}

void gtu_alg_swap(struct gtu_alg *a, struct gtu_alg_buffer *x, struct gtu_alg_buffer *y)
{
	struct gtu_region region = x->region;

	list(a, x);
	list(a, y);
	x->region = y->region;
	y->region = region;
}

int gtu_alg_reserve(struct gtu_alg *a, struct gtu_alg_buffer *b, uint64_t bytes, bool keep)
{
	struct gtu_region old = b->region, new = { 0 };
	int rc;

	if (bytes <= old.length)
		return 0;
	if (keep && bytes < old.length + old.length / 2)
		bytes = old.length + old.length / 2;
	bytes = (bytes + 4095) & ~4095ull;
	if (old.addr && !keep) {
		rc = give_back(a, &b->region, a->err);
		if (rc)
			return rc;
	}
	if (a->q) {
		rc = gtu_region_alloc(a->dev, bytes, &new, a->err);
		if (rc)
			return rc;
	} else {
		new.addr = calloc(1, bytes);
		new.length = bytes;
		if (!new.addr)
			return gtu_fail(a->err, GTU_ERR_NOMEM, "%s: out of memory for %llu bytes",
					a->name, (unsigned long long)bytes);
	}
	list(a, b);
	b->region = new;
	if (old.addr && keep) {
		memcpy(new.addr, old.addr, old.length);
		return give_back(a, &old, a->err);
	}
	return 0;
}

void gtu_alg_job_done(struct gtu_alg *a, const struct gtu_completion *c)
{
	a->stats->jobs++;
	a->stats->job_cycles += c->cycles;
}
