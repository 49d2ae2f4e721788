// SPDX-License-Identifier: MIT
/* One run of an algorithm on a GPU: buffers, launches and counters. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "gpu.h"

#define ARGS_MAX 12
#define ORDER_SHARE	2048		/* a frontier of at least one vertex in so many is sorted */
#define IN_ORDER	65536u		/* results that one thread widens at the end */

typedef unsigned long long ull;

int gpu_run_begin(struct gpu_run *r, struct gtu_device *dev, const char *name, const struct gtu_algorithm_options *opt,
		  struct gtu_algorithm_stats *stats, enum gpu_cache cache, struct gtu_error *err)
{
	struct gpu *gpu = dev->backend;
	int rc;

	memset(r, 0, sizeof(*r));
	r->gpu = gpu;
	r->name = name;
	r->g = gpu->placed.graph;
	r->opt = opt;
	r->err = err;
	gtu_phases_begin(&r->phases, stats);
	r->stats = r->phases.stats;
	r->whole = !opt->first_vertex && (!opt->end_vertex || opt->end_vertex == r->g->n);
	r->undirected = !(r->g->flags & GTU_GRAPH_DIRECTED);
	if (opt->kernel != GTU_KERNEL_AUTO && !gpu->placement.edge_bytes)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED,
				"the paper's kernels (%s) cannot read compressed edge lists: place "
				"the graph with 4 or 8 bytes per edge",
				gtu_kernel_name(opt->kernel));
	rc = gpu_enter(gpu, err);
	if (rc)
		return rc;
	r->entered = true;
	gtu_phase(&r->phases, "cache");
	/* the paper's kernels use no cache */
	if (opt->kernel == GTU_KERNEL_AUTO)
		rc = gpu_cache_fill(gpu, cache, err);
	gtu_phase(&r->phases, "setup");
	if (!rc)
		rc = gpu_memory_alloc(gpu, GTU_EDGES_DEVICE, sizeof(struct gpu_counters), &r->counter_memory, err);
	if (!rc)
		rc = gpu_fill(gpu, r->counter_memory.device, 0, sizeof(struct gpu_counters), err);
	r->graph = gpu->placed.args;
	r->graph.counters = r->counter_memory.device;
	r->graph.first = opt->first_vertex;
	r->graph.end = opt->end_vertex ? opt->end_vertex : r->graph.n;
	if (opt->kernel != GTU_KERNEL_AUTO) {
		r->graph.prefix_end = 0;
		r->graph.weight_prefix_end = 0;
		r->graph.cache_degree = 0;
	}
	return rc;
}

/* Update the byte statistics; tallies accumulate over the run. */
static void count_bytes(struct gpu_run *r)
{
	struct gtu_algorithm_stats *s = r->stats;
	unsigned i;

	s->list_bytes = 0;
	s->cached_bytes = 0;
	for (i = 0; i < GPU_TALLIES; i++) {
		s->list_bytes += 32 * r->counters.tally[i].list;
		s->cached_bytes += 32 * r->counters.tally[i].cached;
	}
}

void gpu_run_iteration(struct gpu_run *r, uint64_t frontier)
{
	count_bytes(r);
	gtu_phases_iteration(&r->phases, r->opt, frontier);
}

void gpu_run_free(struct gpu_run *r, unsigned buffers)
{
	while (r->buffers > buffers)
		gpu_memory_free(r->gpu, &r->buffer[--r->buffers]);
}

int gpu_run_end(struct gpu_run *r, int rc)
{
	struct gtu_algorithm_stats *s = r->stats;
	unsigned i;

	if (r->entered) {
		gpu_run_free(r, 0);
		gpu_memory_free(r->gpu, &r->counter_memory);
		gpu_leave(r->gpu);
	}
	gtu_phases_end(&r->phases);
	count_bytes(r);
	for (i = 0; i < s->phases; i++)
		if (!strcmp(s->phase[i].name, "traverse") || !strcmp(s->phase[i].name, "exchange"))
			s->gpu_seconds += s->phase[i].seconds;
	return rc;
}

/* Use what is left of the cache, where the run used it before. */
static void take_smaller_cache(struct gpu_run *r)
{
	const struct gpu_graph *a = &r->gpu->placed.args;
	struct gpu_graph *g = &r->graph;

	g->prefix = a->prefix;
	g->weight_prefix = a->weight_prefix;
	g->prefix_end = g->prefix_end ? a->prefix_end : 0;
	g->weight_prefix_end = g->weight_prefix_end ? a->weight_prefix_end : 0;
	g->cache = a->cache;
	g->cache_end = g->cache_end ? a->cache_end : 0;
	g->cache_degree = g->cache_degree ? a->cache_degree : 0;
}

static int give_way(struct gpu_run *r, uint64_t bytes)
{
	struct gtu_placement *p = &r->gpu->placement;

	if (gpu_blocks_drop(r->gpu)) {
		snprintf(p->given_up, sizeof(p->given_up), "PageRank's blocks of edges, whose memory %s needs", r->name);
		return 0;
	}
	if (!gpu_cache_shrink(r->gpu, bytes))
		return GTU_ERR_NOMEM;
	take_smaller_cache(r);
	p->cache_bytes = r->gpu->placed.cache.bytes;
	snprintf(p->given_up, sizeof(p->given_up), "edges in GPU memory, of which %llu bytes are left: %s needs the rest",
		 (ull)p->cache_bytes, r->name);
	return 0;
}

static int fail_parts(struct gpu_run *r, const struct gpu_part *part, unsigned parts, uint64_t all, uint64_t free_bytes)
{
	char text[400] = "";
	size_t at = 0;
	unsigned i;

	for (i = 0; i < parts && at < sizeof(text); i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %llu", i ? ", " : "", part[i].name, (ull)part[i].bytes);
	return gtu_fail(r->err, GTU_ERR_NOMEM, "%s needs %llu bytes of GPU memory (%s), of which %llu are free", r->name,
			(ull)all, text, (ull)free_bytes);
}

static int allocate_part(struct gpu_run *r, const struct gpu_part *part)
{
	struct gpu_memory *m = &r->buffer[r->buffers];
	int rc;

	if (r->buffers == GPU_BUFFERS)
		return gtu_fail(r->err, GTU_ERR_FAIL, "%s needs more than %d buffers", r->name, GPU_BUFFERS);
	do
		rc = gpu_memory_alloc(r->gpu, GTU_EDGES_DEVICE, part->bytes, m, r->err);
	while (rc == GTU_ERR_NOMEM && !give_way(r, part->bytes));
	if (rc)
		return rc;
	r->buffers++;
	*part->to = m->device;
	return 0;
}

int gpu_run_allocate(struct gpu_run *r, const struct gpu_part *part, unsigned parts)
{
	uint64_t all = 0, unused;
	unsigned i;
	int rc;

	for (i = 0; i < parts; i++)
		all += part[i].bytes;
	do
		rc = gpu_free_bytes(r->gpu, &unused, r->err);
	while (!rc && all > unused && !give_way(r, all - unused));
	if (!rc && all > unused)
		return fail_parts(r, part, parts, all, unused);
	for (i = 0; i < parts && !rc; i++)
		rc = allocate_part(r, &part[i]);
	return rc;
}

bool gpu_run_orders(const struct gpu_run *r)
{
	return r->gpu->placement.edges == GTU_EDGES_PINNED || r->gpu->placement.edges == GTU_EDGES_REGISTERED;
}

bool gpu_run_keeps_queue(const struct gpu_run *r)
{
	return !gpu_run_orders(r) || r->counters.vertices < (r->graph.end - r->graph.first) / ORDER_SHARE;
}

uint64_t gpu_run_queue_bytes(const struct gpu_run *r)
{
	/*
	 * pieces of GPU_CHUNK bytes, or of 256 entries if compressed: per vertex one partial piece,
	 * and one more at a boundary
	 */
	uint64_t per = GPU_CHUNK / (r->gpu->placement.edge_bytes ? r->gpu->placement.edge_bytes : 4);

	return 8 * (r->graph.n + r->graph.n / 8 + r->graph.m / per + 64);
}

struct widening {
	int (*fn)(void *arg, uint64_t first, uint64_t end);
	void *arg;
	uint64_t first;
};

static int widen_share(void *arg, uint64_t first, uint64_t end)
{
	const struct widening *w = arg;

	return w->fn(w->arg, w->first + first, w->first + end);
}

int gpu_widen(int (*fn)(void *arg, uint64_t first, uint64_t end), void *arg, uint64_t n)
{
	struct widening w = { fn, arg, 0 };
	int rc = 0;

	/* the results of the first half of what is left do not reach the inputs of any of it */
	for (; n - w.first > IN_ORDER && !rc; w.first += (n - w.first) / 2)
		rc = gtu_parallel(widen_share, &w, (n - w.first) / 2);
	return rc ? rc : fn(arg, w.first, n);
}

/* The kernel's name, and all of its arguments. */
static void complete_launch(struct gpu_run *r, const char *kernel, const char *suffix, bool widths, void **args,
			    char name[static 96], void *all[static ARGS_MAX + 1])
{
	unsigned i;

	snprintf(name, 96, "%s%s%s%s", kernel, widths ? "_" : "", widths ? gpu_entry_name(r->gpu) : "",
		 suffix ? suffix : "");
	all[0] = &r->graph;
	for (i = 0; args && args[i] && i < ARGS_MAX; i++)
		all[i + 1] = args[i];
}

int gpu_run_launch(struct gpu_run *r, const char *kernel, const char *suffix, bool widths, uint64_t threads,
		   void **args)
{
	return gpu_run_launch_over(r, &r->graph, kernel, suffix, widths, threads, args);
}

int gpu_run_launch_over(struct gpu_run *r, struct gpu_graph *graph, const char *kernel, const char *suffix, bool widths,
			uint64_t threads, void **args)
{
	void *all[ARGS_MAX + 1];
	char name[96];

	complete_launch(r, kernel, suffix, widths, args, name, all);
	all[0] = graph;
	return gpu_launch(r->gpu, name, threads, all, r->err);
}

/*
 * Launch a kernel whose warps take each of @count pieces of work, at each of which @bytes of the list lie, in order if the list
 * is read in order: then by as many warps as lists of @window bytes are under way.
 */
static int launch_pieces(struct gpu_run *r, const struct gpu_graph *graph, const char *kernel, const char *suffix, bool widths,
			 uint64_t count, double bytes, uint64_t window, void **args)
{
	const uint64_t least = (uint64_t)r->gpu->info.multiprocessors * (GPU_BLOCK / 32);
	struct gpu_graph ordered = *graph;
	uint64_t warps = count;
	int rc = 0;

	if (gpu_run_orders(r)) {
		warps = (double)window < bytes * (double)count ? (uint64_t)((double)window / bytes) : count;
		warps = warps > least ? warps : least;
		warps = warps < count ? warps : count;
		ordered.ticket = r->counter_memory.device + offsetof(struct gpu_counters, ticket);
		rc = gpu_fill(r->gpu, ordered.ticket, 0, 8, r->err);
	}
	return rc ? rc : gpu_run_launch_over(r, &ordered, kernel, suffix, widths, warps * 32, args);
}

int gpu_run_launch_items(struct gpu_run *r, struct gpu_graph *graph, const char *kernel, const char *suffix,
			 CUdeviceptr queue, uint64_t items, void **args)
{
	void *all[ARGS_MAX + 1] = { &queue, &items };
	unsigned i;

	for (i = 0; args[i] && i < ARGS_MAX - 2; i++)
		all[i + 2] = args[i];
	return !items ? 0 : launch_pieces(r, graph, kernel, suffix, true, items,
					  (double)r->gpu->placement.list_bytes / (double)items, GPU_WINDOW / 2, all);
}

int gpu_run_launch_vertices(struct gpu_run *r, struct gpu_graph *graph, const char *kernel, const char *suffix, bool widths,
			    uint32_t each, void **args)
{
	const uint64_t vertices = graph->end - graph->first, *row = r->g->row;
	/* list_bytes are those of all lists, of which these vertices may have some */
	const double share = (double)(row[graph->end] - row[graph->first]) / (double)(r->g->m + 1),
		     bytes = (double)r->gpu->placement.list_bytes * share / (double)(vertices + 1);

	return !vertices ? 0 : launch_pieces(r, graph, kernel, suffix, widths, vertices / each + 2, bytes * each, 4 * GPU_WINDOW, args);
}

int gpu_run_pass(struct gpu_run *r, struct gpu_graph *graph, const char *kernel, const char *suffix, bool widths, uint32_t each,
		 void **args)
{
	int rc = gpu_run_clear(r);

	if (!rc)
		rc = gpu_run_launch_vertices(r, graph, kernel, suffix, widths, each, args);
	return rc ? rc : gpu_run_read(r);
}

int gpu_run_loop(struct gpu_run *r, const char *kernel, const char *suffix, unsigned blocks, void **args)
{
	void *all[ARGS_MAX + 1];
	char name[96];

	complete_launch(r, kernel, suffix, true, args, name, all);
	return gpu_launch_together(r->gpu, name, blocks, all, r->err);
}

int gpu_run_clear(struct gpu_run *r)
{
	return gpu_fill(r->gpu, r->counter_memory.device, 0, offsetof(struct gpu_counters, tally), r->err);
}

int gpu_run_read(struct gpu_run *r)
{
	int rc = gpu_download_async(r->gpu, r->gpu->counters, r->counter_memory.device, sizeof(r->counters), r->err);

	if (!rc)
		rc = gpu_wait(r->gpu, r->name, r->err);
	if (!rc)
		r->counters = *r->gpu->counters;
	if (!rc && gtu_tick(r->opt->progress, r->name, r->stats->edges, 0))
		rc = gtu_fail(r->err, GTU_ERR_INTERRUPTED, "%s was interrupted", r->name);
	return rc;
}

const char *gpu_run_mode(const struct gpu_run *r)
{
	static const char *const mode[] = { NULL, "_naive", "_merged", "_aligned" };

	return mode[r->opt->kernel];
}
