// SPDX-License-Identifier: MIT
/*
 * Single-source shortest paths. With buckets no wider than the minimum weight, a vertex is expanded
 * once, at its final distance, and pushing reads the edge list once. The paper's kernels expand all
 * vertices whose distance fell in the previous round.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "parts.h"
#include "libruntime/support/graph_access.h"

#define BUCKET	4		/* default bucket width: this many mean weights / mean degree */
#define LIKELY	128		/* edges of the longest path that is likely to be a shortest one */
#define TAIL	2u		/* a bucket ends after a round of less than 1/TAIL of its greatest round's items */
#define SMALLS	16u		/* buckets in a row with so few items, after which the loop is tried in any case */

/* Costs of a bucket of final distances, in edges pushed */
#define PULL_VERTEX	0.1		/* a vertex in the pass over those whose distance is not final */
#define PULL_EDGE	0.7		/* an edge of these */

struct sssp {
	struct gpu_run r;
	struct gpu_distances of;
	bool once;			/* the bucket is no wider than the minimum weight */
	CUdeviceptr distance, expanded, queue, active[2];
	CUdeviceptr settled;		/* a bit for each vertex whose distance is final; 0: buckets are too wide to know */
	struct gpu_numbers numbers;
	uint64_t final;			/* distances below are final, though not noted as expanded */
	bool too_narrow;		/* a path may need more than 32 bits */
	CUdeviceptr near, far;		/* two queues each, of steps that stay on the GPU; 0: compressed lists */
};

int gpu_sssp_check(const struct gpu_run *r, uint64_t base)
{
	const uint64_t bad = r->gpu->placed.bad_weight;

	if (bad < r->g->m)
		return gtu_fail(r->err, GTU_ERR_INPUT, "%s: the weight of edge %llu is %g: weights must be 0 or more",
				r->g->name, (unsigned long long)(base + bad), gtu_graph_weight(r->g, bad));
	if (isnan(r->opt->delta) || r->opt->delta < 0)
		return gtu_fail(r->err, GTU_ERR_USAGE, "a near-far step of %g is invalid: it "
				"must be a positive number", r->opt->delta);
	return 0;
}

void gpu_sssp_choose(struct gpu_distances *d, const struct gpu_run *r, uint64_t n, uint64_t m, double least, double most,
		     double mean, bool wide)
{
	const bool all = (double)n * most < (double)UINT32_MAX;
	static const char *const name[] = { "u32", "u64", "f32", "f64" };

	if (r->gpu->placed.weight_type == GTU_WEIGHT_F32)
		d->type = DISTANCE_F32;
	else if (r->gpu->placed.weight_type == GTU_WEIGHT_F64)
		d->type = DISTANCE_F64;
	else	/* the longest path has n - 1 edges; the paper's kernels have no bounds to check */
		d->type = all || (!wide && r->opt->kernel == GTU_KERNEL_AUTO && LIKELY * most < (double)UINT32_MAX) ?
			  DISTANCE_U32 : DISTANCE_U64;
	d->expand_limit = all || d->type != DISTANCE_U32 ? UINT64_MAX : UINT32_MAX - 1 - (uint64_t)most;
	d->width = distance_width(d->type);
	snprintf(d->kernel, sizeof(d->kernel), "_%s%s", name[d->type], r->gpu->placement.weight_bytes ? "_separate" : "");
	d->delta = r->opt->delta;
	if (d->delta == 0)
		d->delta = m ? fmax(least, BUCKET * mean * (double)n / (double)m) : 1;
	if (d->type <= DISTANCE_U64 && d->delta < 1)
		d->delta = 1;
}

uint32_t gpu_sssp_steps(const struct gpu_distances *d, uint64_t bound, double most)
{
	/* distances end a weight and a bucket above a bound that is not 0, and the next bound is a bucket above one of them */
	const double rise = most + 2 * SSSP_WIDER * d->delta;
	uint32_t steps = GPU_LOOP_STEPS;

	while (steps && !gpu_sssp_fits(d, distance_above(d->type, bound, steps * rise)))
		steps /= 2;
	return steps;
}

static const char *width_suffix(const struct sssp *s)
{
	return s->of.width == 4 ? "_32" : "_64";
}

/*
 * Run steps on the GPU while few vertices are due. *small: whether few were at the start; *done:
 * whether none is left.
 */
static int loop_steps(struct sssp *s, uint64_t *bound, bool *small, bool *done)
{
	struct gpu_run *r = &s->r;
	uint64_t near, far;
	uint32_t steps;
	double delta = SSSP_WIDER * s->of.delta;
	void *due[] = { &s->distance, &s->expanded, &s->final, bound, &s->near, &s->far, NULL };
	void *args[] = { &s->distance, &s->expanded, &s->near, &s->far, &near, &far, bound, &delta, &steps, NULL };
	int rc;

	do {
		rc = gpu_run_clear(r);
		if (!rc)
			rc = gpu_run_launch(r, "sssp_due", width_suffix(s), false, r->graph.n, due);
		if (!rc)
			rc = gpu_run_read(r);
		near = r->counters.items;
		far = r->counters.left;
		*done = !near && !far;
		*small = near <= SSSP_SMALL && far <= GPU_LOOP_FAR / 8;
		if (rc || *done || !*small)
			return rc;
		steps = gpu_sssp_steps(&s->of, *bound, r->gpu->placed.weight_max);
		s->too_narrow = !steps;
		if (s->too_narrow)
			return 0;
		rc = gpu_run_clear(r);
		if (!rc)
			rc = gpu_run_loop(r, "sssp_steps", s->of.kernel, GPU_LOOP_BLOCKS, args);
		if (!rc)
			rc = gpu_run_read(r);
		*bound = r->counters.loop.bound;
		*done = r->counters.loop.done;
		r->stats->iterations += r->counters.loop.steps;
	} while (!rc && !*done && r->counters.loop.steps == steps);
	return rc;
}

/* ---- Numbers of distances ---------------------------------------------------------------------------- */

void gpu_numbers_choose(struct gpu_numbers *n, const struct gpu_distances *d, double most)
{
	/* all distances that are not final lie within the greatest weight of a bucket */
	most += d->delta + 2;
	n->bits = d->type != DISTANCE_U32 || most > UINT16_MAX ? 0 : most <= UINT8_MAX ? 8 : 16;
}

const char *gpu_numbers_suffix(const struct gpu_numbers *n)
{
	return n->bits == 8 ? "_8" : "_16";
}

int gpu_numbers_begin(struct gpu_run *r, struct gpu_numbers *n, bool undirected)
{
	const uint64_t bits = (r->graph.n + GPU_BLOCK) / 8;
	CUdeviceptr isolated = undirected ? r->gpu->placed.isolated.device : 0;
	void *args[] = { &isolated, &n->number, NULL };
	int rc = gpu_run_allocate(r, (struct gpu_part[]){
		{ "numbers of distances", (r->graph.n + 4) * n->bits / 8, &n->number }, { "vertices of no bucket", bits, &n->open },
		{ "vertices of a bucket", bits, &n->bucket } }, 3);

	return rc ? rc : gpu_run_launch(r, "sssp_numbers", gpu_numbers_suffix(n), false, r->graph.n / 8 + 1, args);
}

int gpu_numbers_source(struct gpu_run *r, const struct gpu_numbers *n, uint64_t source)
{
	const uint16_t first = 1;

	return gpu_upload(r->gpu, n->number + source * n->bits / 8, &first, n->bits / 8, r->err);
}

bool gpu_numbers_pull(const struct gpu_run *r, uint64_t edges, uint64_t left)
{
	return (double)left * PULL_EDGE + (double)r->graph.n * PULL_VERTEX < (double)edges;
}

int gpu_numbers_expand(struct gpu_run *r, const struct gpu_distances *d, struct gpu_numbers *n, CUdeviceptr queue, uint64_t items,
		       bool pulls, uint64_t left)
{
	void *push[] = { &n->number, NULL }, *pull[] = { &n->number, &n->open, &n->bucket, &queue, NULL },
	     *longs[] = { &n->number, &n->bucket, NULL };
	char kernel[sizeof(d->kernel) + 12];
	int rc;

	snprintf(kernel, sizeof(kernel), "%s%s", d->kernel, gpu_numbers_suffix(n));
	if (!pulls)
		return gpu_run_launch_items(r, &r->graph, "sssp_push", kernel, queue, items, push);
	rc = gpu_run_clear(r);
	if (!rc && r->gpu->placement.edges == GTU_EDGES_DEVICE)
		rc = gpu_run_launch(r, "sssp_pull", kernel, true, r->graph.n / 4 + 1, pull);
	else if (!rc)
		rc = gpu_run_launch_vertices(r, &r->graph, "sssp_pull_list", kernel, true, GPU_RUN, pull);
	/* an item has an edge; reads in order need the number of items */
	if (!rc && gpu_run_orders(r)) {
		rc = gpu_run_read(r);
		left = r->counters.items;
	}
	return rc ? rc : gpu_run_launch_items(r, &r->graph, "sssp_pull_long", kernel, queue, left, longs);
}

bool gpu_smalls(struct gpu_smalls *s, uint64_t items, uint64_t left)
{
	const uint64_t before = s->reached;

	s->reached = left;
	s->count = items <= SSSP_SMALL ? s->count + 1 : 0;
	return s->count && (s->count > SMALLS || (left <= GPU_LOOP_FAR / 8 && left < before));
}

/*
 * Buckets of final distances, until no vertex is due (*done), or few are, and have been for some buckets or do not become
 * more: then run_buckets() goes on.
 */
static int run_finals(struct sssp *s, bool *done)
{
	struct gpu_run *r = &s->r;
	struct gpu_numbers *n = &s->numbers;
	struct gpu_smalls smalls = { 0 };
	uint32_t width = (uint32_t)distance_above(s->of.type, 0, s->of.delta), above = 0;
	uint64_t base = 0, left = r->graph.m, edges, due;
	/* the queue of lists that are read in order is made from the bits, if the bucket is pushed */
	const bool orders = gpu_run_orders(r);
	CUdeviceptr queue = orders ? 0 : s->queue;
	void *next[] = { &n->number, &above, &width, &base, &s->distance, &queue, &n->open, &n->bucket, NULL },
	     *collect[] = { &n->bucket, &s->queue, NULL }, *flush[] = { &n->number, &base, &s->distance, NULL };
	bool pulls;
	int rc;

	for (;;) {
		s->too_narrow = !gpu_sssp_fits(&s->of, base + width);
		if (s->too_narrow)
			return 0;
		rc = gpu_run_clear(r);
		if (!rc)
			rc = gpu_run_launch(r, "sssp_bucket", gpu_numbers_suffix(n), true, r->graph.n / 8 + 64, next);
		if (!rc)
			rc = gpu_run_read(r);
		due = !orders ? r->counters.items : r->counters.edges ? r->counters.vertices : 0;
		*done = !due && !r->counters.left;
		if (rc || *done)
			return rc;
		if (!due) {
			above = (uint32_t)~r->counters.not_min - 1;
			base += above;
			continue;
		}
		if (gpu_smalls(&smalls, due, r->counters.left))
			break;
		edges = r->counters.edges;
		left -= edges < left ? edges : left;
		pulls = r->undirected && gpu_numbers_pull(r, edges, left);
		if (orders && !pulls) {
			rc = gpu_run_pass(r, &r->graph, "visit_collect_bits", NULL, true, GPU_STRIP, collect);
			due = r->counters.items;
		}
		if (!rc)
			rc = gpu_numbers_expand(r, &s->of, n, s->queue, due, pulls, left);
		if (rc)
			return rc;
		r->stats->iterations++;
		above = width;
		base += width;
	}
	s->final = base;
	return gpu_run_launch(r, "sssp_flush", gpu_numbers_suffix(n), false, r->graph.n, flush);
}

static int run_buckets(struct sssp *s)
{
	struct gpu_run *r = &s->r;
	uint64_t bound, items = 1, most = 0, pause = 0, wait = 1;
	void *due[] = { &s->distance, &s->expanded, &s->final, &bound, &s->queue, &s->settled, NULL };
	CUdeviceptr fell = 0;
	void *relax[] = { &s->distance, &s->settled, &fell, NULL };
	bool small, done = false;
	int rc = s->numbers.bits ? run_finals(s, &done) : 0;

	if (rc || done || s->too_narrow)
		return rc;
	bound = distance_above(s->of.type, s->final, s->of.delta);

	for (;;) {
		if (s->near && items && items <= SSSP_SMALL && !pause--) {
			rc = loop_steps(s, &bound, &small, &done);
			if (rc || done || s->too_narrow)
				return rc;
			/* back to buckets of the usual width: the next one begins at the least distance due */
			bound = 0;
			/* a try that fails costs a scan: try less often */
			pause = wait = small ? 1 : 2 * wait;
		}
		s->too_narrow = !gpu_sssp_fits(&s->of, bound);
		if (s->too_narrow)
			return 0;
		rc = gpu_run_pass(r, &r->graph, "sssp_collect", width_suffix(s), true, GPU_STRIP, due);
		if (rc)
			return rc;
		items = r->counters.items;
		if (!items && !r->counters.not_min)
			return 0;
		if (!items) {
			bound = distance_above(s->of.type, ~r->counters.not_min, s->of.delta);
			most = 0;
			continue;
		}
		rc = gpu_run_launch_items(r, &r->graph, "sssp_relax", s->of.kernel, s->queue, items, relax);
		if (rc)
			return rc;
		r->stats->iterations++;
		most = items > most ? items : most;
		/* no distance falls below the bound again, or few do: those few lists lie far apart, and are read slowly */
		if (s->once || (r->counters.not_min && items < most / TAIL)) {
			bound = distance_above(s->of.type, bound, s->of.delta);
			most = 0;
		}
	}
}

static int run_paper_kernels(struct sssp *s)
{
	struct gpu_run *r = &s->r;
	void *args[] = { &s->distance, &s->active[0], &s->active[1], NULL };
	char suffix[40];
	int rc = 0;

	snprintf(suffix, sizeof(suffix), "%s%s", s->of.kernel, gpu_run_mode(r));
	do {
		rc = gpu_fill(r->gpu, s->active[1], 0, r->graph.n, r->err);
		if (!rc)
			rc = gpu_run_clear(r);
		if (!rc)
			rc = gpu_run_launch(r, "emogi_sssp", suffix, true, r->graph.n, args);
		if (!rc)
			rc = gpu_run_read(r);
		gpu_swap(s->active);
		gpu_run_iteration(r, 0);
	} while (!rc && r->counters.changed);
	return rc;
}

static int prepare(struct sssp *s)
{
	struct gpu_run *r = &s->r;
	uint64_t n = r->graph.n, zero = 0, source = r->opt->source;
	uint32_t width = s->of.width;
	bool paper_kernels = r->opt->kernel != GTU_KERNEL_AUTO;
	const bool finals = s->once && !paper_kernels, settles = finals && r->gpu->placement.edges == GTU_EDGES_DEVICE;
	uint8_t one = 1;
	const struct gpu_part part[] = {
		{ "distances", n * width, &s->distance }, { "expanded vertices", n * width, &s->expanded },
		{ "queue", gpu_run_queue_bytes(r), &s->queue },
		{ "near queues", 2 * 4 * GPU_LOOP_ITEMS, &s->near }, { "far queues", 2 * 4ull * GPU_LOOP_FAR, &s->far },
	}, settled = { "settled vertices", (n + GPU_BLOCK) / 8, &s->settled }, paper[] = {
		{ "distances", n * width, &s->distance }, { "active vertices", n, &s->active[0] },
		{ "vertices active next", n, &s->active[1] },
	};
	/* compressed lists have no loops */
	int rc = gpu_run_allocate(r, paper_kernels ? paper : part, paper_kernels || !r->gpu->placement.edge_bytes ? 3 : 5);

	/* over the link, the time goes into reading the lists */
	if (!rc && settles)
		rc = gpu_run_allocate(r, &settled, 1);
	if (!rc && settles)
		rc = gpu_fill(r->gpu, s->settled, 0, settled.bytes, r->err);
	if (finals && r->gpu->placement.edge_bytes && r->whole)
		gpu_numbers_choose(&s->numbers, &s->of, r->gpu->placed.weight_max);
	if (!rc && s->numbers.bits)
		rc = gpu_numbers_begin(r, &s->numbers, r->undirected);
	if (!rc && s->numbers.bits)
		rc = gpu_numbers_source(r, &s->numbers, source);
	if (!rc)
		rc = gpu_fill(r->gpu, s->distance, 0xff, n * width, r->err);
	if (!rc)
		rc = gpu_upload(r->gpu, s->distance + source * width, &zero, width, r->err);
	if (!paper_kernels)
		return rc ? rc : gpu_fill(r->gpu, s->expanded, 0xff, n * width, r->err);
	if (!rc)
		rc = gpu_fill(r->gpu, s->active[0], 0, n, r->err);
	return rc ? rc : gpu_upload(r->gpu, s->active[0] + source, &one, 1, r->err);
}

struct distances {
	const struct gpu_distances *of;
	const uint64_t *row;
	const void *from;
	double *to;
	uint64_t reached, edges;
};

static int widen(void *arg, uint64_t first, uint64_t end)
{
	struct distances *d = arg;
	const uint64_t none = d->of->width == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t v, bits, reached = 0, edges = 0;

	for (v = first; v < end; v++) {
		bits = gtu_get(d->from, d->of->width, v);
		d->to[v] = bits == none ? INFINITY : distance_number(d->of->type, bits);
		if (bits == none)
			continue;
		reached++;
		edges += d->row[v + 1] - d->row[v];
	}
	__atomic_fetch_add(&d->reached, reached, __ATOMIC_RELAXED);
	__atomic_fetch_add(&d->edges, edges, __ATOMIC_RELAXED);
	return 0;
}

int gpu_sssp_result(struct gpu_run *r, const struct gpu_distances *of, CUdeviceptr distance, const uint64_t *row, uint64_t n,
		    double *result)
{
	/* the upper half of the result if they are narrower */
	void *from = of->width == 8 ? result : (void *)((float *)result + n);
	struct distances d = { .of = of, .row = row, .to = result, .from = from };
	int rc;

	gtu_phase(&r->phases, "result");
	rc = gpu_download(r->gpu, from, distance, n * of->width, r->err);
	if (!rc)
		rc = gpu_widen(widen, &d, n);
	r->stats->vertices = d.reached;
	r->stats->edges = d.edges;
	return rc;
}

/* s->too_narrow: it did not end, and is to be run again with distances of 64 bits. */
static int search(struct sssp *s)
{
	struct gpu_run *r = &s->r;
	const struct gpu_placed *p = &r->gpu->placed;
	int rc;

	gtu_phase(&r->phases, "setup");
	gpu_sssp_choose(&s->of, r, r->g->n, r->g->m, p->weight_min, p->weight_max, p->weight_mean, p->long_paths);
	s->once = s->of.delta <= p->weight_min;
	rc = prepare(s);
	if (!rc)
		rc = gpu_wait(r->gpu, "setting up", r->err);
	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = r->opt->kernel != GTU_KERNEL_AUTO ? run_paper_kernels(s) : run_buckets(s);
	return rc ? rc : gpu_run_read(r);
}

int gpu_sssp(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *distance,
	     struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct sssp s = { 0 };
	int rc = gpu_run_begin(&s.r, dev, "sssp", opt, stats, GPU_CACHE_PREFIX, err);

	if (!rc)
		rc = gpu_sssp_check(&s.r, 0);
	if (!rc)
		rc = search(&s);
	if (!rc && s.too_narrow) {
		s.r.gpu->placed.long_paths = true;
		gpu_run_free(&s.r, 0);
		s = (struct sssp){ .r = s.r };
		rc = search(&s);
	}
	if (!rc)
		rc = gpu_sssp_result(&s.r, &s.of, s.distance, s.r.g->row, s.r.graph.n, distance);
	return gpu_run_end(&s.r, rc);
}
