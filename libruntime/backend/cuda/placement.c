// SPDX-License-Identifier: MIT
/*
 * Places a graph: rows in GPU memory, the edge list according to the plan, with checks during the
 * copy.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "libruntime/support/graph_access.h"

#define STAGED	(16ull << 20)		/* entries of a part of a list that is copied to the card */

typedef unsigned long long ull;

/* ---- Rows, targets and weights in bounds --------------------------------------------------------- */

struct copy {
	const struct gtu_graph *g;
	const struct gtu_placement *p;
	uint32_t bits;
	uint64_t min;			/* minimum of the packed weights */
	void *list, *weight;		/* destinations; NULL: check only */
	uint64_t base;			/* the entry that list[0] receives */
	bool checked;			/* already checked by the encoder */
	atomic_uint_fast64_t bad;	/* an invalid vertex or entry */
	atomic_uint_fast64_t connected;	/* vertices with edges */
	atomic_uint_fast64_t busiest;	/* a vertex with the most edges */
};

static inline uint64_t degree_of(const struct gtu_graph *g, uint64_t v)
{
	return g->row[v + 1] - g->row[v];
}

static int check_rows(void *arg, uint64_t first, uint64_t end)
{
	struct copy *c = arg;
	const struct gtu_graph *g = c->g;
	uint64_t v, connected = 0, busiest = first;
	uint_fast64_t known = atomic_load(&c->busiest);

	for (v = first; v < end; v++) {
		if (g->row[v] > g->row[v + 1] || g->row[v + 1] > g->m) {
			atomic_store(&c->bad, v);
			return GTU_ERR_INPUT;
		}
		connected += g->row[v] != g->row[v + 1];
		busiest = degree_of(g, v) > degree_of(g, busiest) ? v : busiest;
	}
	atomic_fetch_add(&c->connected, connected);
	while (degree_of(g, busiest) > degree_of(g, known) && !atomic_compare_exchange_weak(&c->busiest, &known, busiest))
		;
	return 0;
}

/* Copy entries and weights into the kernels' format; stops at a target out of bounds. */
static int copy_entries(void *arg, uint64_t first, uint64_t end)
{
	struct copy *c = arg;
	const struct gtu_graph *g = c->g;
	const uint32_t *weight = g->weight;
	uint64_t e, target, entry;
	size_t bytes = gtu_weight_bytes(g->weight_type);

	first += c->base;
	end += c->base;
	for (e = first; e < end; e++) {
		target = gtu_graph_target(g, e);
		if (gtu_unlikely(target >= g->n)) {
			atomic_store(&c->bad, e);
			return GTU_ERR_INPUT;
		}
		if (!c->list)
			continue;
		entry = target;
		if (c->p->packed)
			entry = target << c->bits | (weight[e] - c->min);
		gtu_put(c->list, c->p->edge_bytes, e - c->base, entry);
	}
	if (c->weight)
		memcpy((char *)c->weight + first * bytes, (const char *)g->weight + first * bytes,
		       (end - first) * bytes);
	return 0;
}

struct weights {
	const struct gtu_graph *g;
	double *min, *max, *sum;	/* one per share of gtu_parallel() */
	atomic_uint_fast64_t bad;	/* first weight that is negative or no number; m: none */
};

static int scan_weights(void *arg, uint64_t first, uint64_t end)
{
	struct weights *w = arg;
	uint64_t share = first >> GTU_SHARE_LOG2, e;
	double x, min = INFINITY, max = 0, sum = 0;

	for (e = first; e < end; e++) {
		x = gtu_graph_weight(w->g, e);
		if (gtu_unlikely(!(x >= 0))) {
			uint_fast64_t bad = atomic_load(&w->bad);

			while (e < bad && !atomic_compare_exchange_weak(&w->bad, &bad, e))
				;
		}
		min = x < min ? x : min;
		max = x > max ? x : max;
		sum += x;
	}
	w->min[share] = min;
	w->max[share] = max;
	w->sum[share] = sum;
	return 0;
}

static int measure_weights(struct gpu_placed *p, struct gtu_error *err)
{
	const struct gtu_graph *g = p->graph;
	struct weights w = { .g = g };
	uint64_t shares = (g->m >> GTU_SHARE_LOG2) + 1, i;
	double sum = 0;

	p->weight_min = p->weight_max = p->weight_mean = 1;
	p->bad_weight = g->m;
	p->weight_type = g->weight_type;
	if (g->weight_type == GTU_WEIGHT_NONE || !g->m)
		return 0;
	w.min = malloc(3 * shares * sizeof(double));
	if (!w.min)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for checking %llu weights", (ull)g->m);
	w.max = w.min + shares;
	w.sum = w.max + shares;
	for (i = 0; i < shares; i++) {
		w.min[i] = INFINITY;
		w.max[i] = w.sum[i] = 0;
	}
	atomic_store(&w.bad, g->m);
	gtu_parallel(scan_weights, &w, g->m);
	p->bad_weight = atomic_load(&w.bad);
	p->weight_min = INFINITY;
	p->weight_max = 0;
	for (i = 0; i < shares; i++) {
		p->weight_min = fmin(p->weight_min, w.min[i]);
		p->weight_max = fmax(p->weight_max, w.max[i]);
		sum += w.sum[i];
	}
	p->weight_mean = sum / (double)g->m;
	free(w.min);
	return 0;
}

static int check_graph(struct gpu_placed *p, struct gtu_error *err)
{
	const struct gtu_graph *g = p->graph;
	struct copy c = { .g = g };
	uint64_t v;

	if (g->edge_bytes != 4 && g->edge_bytes != 8)
		return gtu_fail(err, GTU_ERR_USAGE, "edge entries of %u bytes are not supported: "
				"use 4 or 8", g->edge_bytes);
	if (!gtu_parallel(check_rows, &c, g->n)) {
		p->connected = atomic_load(&c.connected);
		p->busiest = atomic_load(&c.busiest);
		return 0;
	}
	v = atomic_load(&c.bad);
	return gtu_fail_row(g->name, v, g->row[v], g->row[v + 1], g->m, err);
}

/* Copy or check @count entries from c->base on. */
static int copy_list(struct copy *c, uint64_t count, struct gtu_error *err)
{
	uint64_t e;

	if (!c->list && !c->weight && (c->checked || c->g->flags & GTU_GRAPH_CHECKED))
		return 0;
	if (!gtu_parallel(copy_entries, c, count))
		return 0;
	e = atomic_load(&c->bad);
	return gtu_fail(err, GTU_ERR_INPUT,
			"%s: entry %llu of the edge list is vertex %llu, but there are %llu: the "
			"graph is damaged",
			c->g->name, (ull)e, (ull)gtu_graph_target(c->g, e), (ull)c->g->n);
}

/* ---- Placement -------------------------------------------------------------------------------------- */

/* Copy the list to the card in parts: CPUs convert one while the card takes the one before. */
static int place_on_card(struct gpu *gpu, struct copy *c, struct gtu_error *err)
{
	const uint64_t m = c->g->m, width = gpu->placement.edge_bytes, part = m / 2 < STAGED ? m / 2 + 1 : STAGED,
		       bytes = 2 * part * width;
	struct gpu_memory pinned;
	int rc = gpu_memory_alloc(gpu, GTU_EDGES_PINNED, bytes, &pinned, err), ended;
	/* copies from other memory are slower, and wait */
	char *stage = rc == GTU_ERR_NOMEM ? malloc(bytes + 1) : pinned.host;
	unsigned k;

	if (stage)
		rc = 0;
	for (k = 0; !rc && c->base < m; c->base += part, k ^= 1) {
		const uint64_t count = m - c->base < part ? m - c->base : part;

		c->list = stage + k * part * width;
		rc = copy_list(c, count, err);
		if (!rc)
			rc = gpu_wait(gpu, "copying the edge list", err);
		if (!rc)
			rc = gpu_upload_async(gpu, gpu->placed.list.device + c->base * width, c->list, count * width, err);
	}
	ended = gpu_wait(gpu, "copying the edge list", rc ? NULL : err);
	c->base = 0;
	if (!pinned.kind)
		free(stage);
	gpu_memory_free(gpu, &pinned);
	return rc ? rc : ended;
}

/* Copy list and weights to their placement. */
static int place_copy(struct gpu *gpu, struct copy *c, struct gtu_error *err)
{
	struct gpu_placed *p = &gpu->placed;
	const struct gtu_placement *at = &gpu->placement;
	uint64_t m = c->g->m, list = m * at->edge_bytes, weight = m * at->weight_bytes;
	const bool card = at->edges == GTU_EDGES_DEVICE;
	int rc = 0;

	if (at->edge_bytes)
		rc = gpu_memory_alloc(gpu, at->edges, list, &p->list, err);
	if (!rc && weight)
		rc = gpu_memory_alloc(gpu, at->edges, weight, &p->weight, err);
	if (rc)
		return rc;
	if (card) {
		rc = at->edge_bytes ? place_on_card(gpu, c, err) : copy_list(c, m, err);
		return rc || !weight ? rc : gpu_upload(gpu, p->weight.device, c->g->weight, weight, err);
	}
	c->list = at->edge_bytes ? p->list.host : NULL;
	c->weight = weight ? p->weight.host : NULL;
	rc = copy_list(c, m, err);
	if (!rc && at->edges == GTU_EDGES_MANAGED && at->edge_bytes)
		rc = gpu_touch(gpu, &p->list, err);
	if (!rc && at->edges == GTU_EDGES_MANAGED && weight)
		rc = gpu_touch(gpu, &p->weight, err);
	return rc;
}

static int place_registered(struct gpu *gpu, struct copy *c, struct gtu_error *err)
{
	struct gpu_placed *p = &gpu->placed;
	const struct gtu_graph *g = c->g;
	int rc = copy_list(c, g->m, err);

	if (!rc && g->m)
		rc = gpu_memory_register(gpu, (void *)(uintptr_t)g->col, g->m * g->edge_bytes, false, &p->list,
					 err);
	if (!rc && g->m && gpu->placement.weight_bytes)
		rc = gpu_memory_register(gpu, (void *)(uintptr_t)g->weight,
					 g->m * gpu->placement.weight_bytes, false, &p->weight, err);
	return rc;
}

static void fill_args(struct gpu *gpu, uint32_t bits, const struct gtu_compressed *compressed)
{
	struct gpu_placed *p = &gpu->placed;
	struct gpu_graph *a = &p->args;

	memset(a, 0, sizeof(*a));
	a->row = p->row.device;
	a->list = p->list.device;
	a->weight = p->weight.device;
	a->n = p->graph->n;
	a->m = p->graph->m;
	a->weight_bits = bits;
	a->weight_min = gpu->placement.packed ? (uint32_t)p->weight_min : 1;
	if (gpu->placement.edge_bytes)
		return;
	a->index = p->index.device;
	a->table = p->index.device + 8 * a->n;
	a->entry_bits = compressed->entry_bits;
	a->weight_bits = compressed->weight_bits;
}

/*
 * Compress on request, or if the graph came from a compressed container and would not fit into GPU
 * memory.
 */
static bool wants_compressed(const struct gpu_plan_input *in, const struct gtu_graph *g, const struct gtu_placement_options *opt)
{
	if (opt->compressed)
		return true;
	return g->flags & GTU_GRAPH_COMPRESSED && !opt->edge_bytes && opt->edges != GTU_EDGES_REGISTERED &&
	       opt->edges != GTU_EDGES_DEVICE && (opt->edges != GTU_EDGES_AUTO || gpu_plan_probes(in, opt));
}

static int measure(struct gpu *gpu, const struct gtu_placement_options *opt, struct gtu_compressed *compressed,
		   struct gpu_plan_input *in, struct gtu_error *err)
{
	const struct gtu_graph *g = gpu->placed.graph;
	uint64_t probe;
	int rc;

	*in = (struct gpu_plan_input){
		.n = g->n, .m = g->m, .edge_bytes = g->edge_bytes, .weight_type = g->weight_type,
		.weight_min = gpu->placed.weight_min, .weight_max = gpu->placed.weight_max,
		.managed = gpu->info.managed, .registered = gpu->info.registered,
	};
	rc = gpu_free_bytes(gpu, &in->free_bytes, err);
	if (!rc && wants_compressed(in, g, opt))
		rc = gpu_compressed_measure(gpu, opt, compressed, in, err);
	probe = rc ? 0 : gpu_plan_probes(in, opt);
	if (probe)
		rc = gpu_probe(gpu, probe, err);
	in->managed_gbps = gpu->managed_gbps;
	in->pinned_gbps = gpu->pinned_gbps;
	return rc;
}

/* The next kind to try when memory of @edges was refused to GTU_EDGES_AUTO; _AUTO: none. */
static uint32_t next_kind(const struct gpu_plan_input *in, const struct gtu_placement_options *opt, uint32_t edges)
{
	if (edges == GTU_EDGES_DEVICE || edges == GTU_EDGES_MANAGED)
		return GTU_EDGES_PINNED;
	if (edges == GTU_EDGES_PINNED && in->registered && !in->compressed && in->m &&
	    (!opt->edge_bytes || opt->edge_bytes == in->edge_bytes))
		return GTU_EDGES_REGISTERED;
	return GTU_EDGES_AUTO;
}

static void free_rows(struct gpu *gpu)
{
	gpu_memory_free(gpu, &gpu->placed.isolated);
	gpu_memory_free(gpu, &gpu->placed.row);
}

static int place_rows(struct gpu *gpu, struct gtu_error *err)
{
	struct gpu_placed *p = &gpu->placed;
	const uint64_t bytes = 8 * (p->graph->n + 1);
	struct gpu_graph rows = { .n = p->graph->n };
	void *args[] = { &rows, &p->isolated.device };
	int rc = gpu_memory_alloc(gpu, GTU_EDGES_DEVICE, bytes, &p->row, err);

	if (!rc)
		rc = gpu_memory_alloc(gpu, GTU_EDGES_DEVICE, (p->graph->n + 31) / 32 * 4, &p->isolated, err);
	if (!rc)
		rc = gpu_upload(gpu, p->row.device, p->graph->row, bytes, err);
	rows.row = p->row.device;
	if (!rc)
		rc = gpu_launch(gpu, "bfs_isolated", p->graph->n, args, err);
	if (rc)
		free_rows(gpu);
	return rc;
}

static int place_lists(struct gpu *gpu, struct copy *c, const struct gtu_compressed *compressed, struct gtu_error *err)
{
	int rc = gpu->placed.row.kind ? 0 : place_rows(gpu, err);

	if (!rc)
		rc = gpu->placement.edges == GTU_EDGES_REGISTERED ? place_registered(gpu, c, err) : place_copy(gpu, c, err);
	return !rc && !gpu->placement.edge_bytes ? gpu_compressed_upload(gpu, compressed, err) : rc;
}

static void free_lists(struct gpu *gpu)
{
	struct gpu_placed *p = &gpu->placed;

	gpu_memory_free(gpu, &p->index);
	gpu_memory_free(gpu, &p->weight);
	gpu_memory_free(gpu, &p->list);
}

/* Place the lists by the plan; if memory is refused and the kind is free to choose, by another. */
static int place_by_plan(struct gpu *gpu, const struct gpu_plan_input *in, const struct gtu_placement_options *opt,
			 struct copy *c, const struct gtu_compressed *compressed, struct gtu_error *err)
{
	struct gtu_placement_options now = *opt;
	struct gtu_placement *p = &gpu->placement;
	const char *refused = NULL;
	int rc;

	for (;;) {
		rc = gpu_plan(in, &now, p, &c->bits, err);
		if (!rc && refused)
			snprintf(p->given_up, sizeof(p->given_up), "edges of kind %s, whose memory was refused", refused);
		if (!rc && opt->planned)
			opt->planned(opt->planned_user, p);
		if (!rc)
			rc = place_lists(gpu, c, compressed, err);
		if (rc != GTU_ERR_NOMEM || opt->edges != GTU_EDGES_AUTO)
			return rc;
		refused = gtu_edges_name(p->edges);
		now.edges = next_kind(in, opt, p->edges);
		if (now.edges == GTU_EDGES_AUTO)
			return rc;
		free_lists(gpu);
	}
}

/* A cache as large as the plan has it, or as memory permits: none is no error. */
static int place_cache(struct gpu *gpu, struct gtu_error *err)
{
	struct gtu_placement *at = &gpu->placement;
	const uint64_t planned = at->cache_bytes;
	int rc = 0;

	while (at->cache_bytes) {
		rc = gpu_memory_alloc(gpu, GTU_EDGES_DEVICE, at->cache_bytes, &gpu->placed.cache, err);
		if (rc != GTU_ERR_NOMEM)
			break;
		rc = 0;
		at->cache_bytes = at->cache_bytes / 2 >= GPU_CACHE_LEAST ? at->cache_bytes / 2 & ~255ull : 0;
	}
	if (at->cache_bytes < planned)
		snprintf(at->given_up, sizeof(at->given_up), "edges in GPU memory: %llu of %llu bytes were refused",
			 (ull)(planned - at->cache_bytes), (ull)planned);
	return rc;
}

int gpu_place(struct gpu *gpu, const struct gtu_graph *g, const struct gtu_placement_options *opt, struct gtu_error *err)
{
	struct gpu_placed *p = &gpu->placed;
	struct copy c = { .g = g, .p = &gpu->placement };
	struct gtu_compressed compressed = { 0 };
	struct gpu_plan_input in;
	uint64_t start = gtu_now_ns();
	int rc;

	memset(p, 0, sizeof(*p));
	p->options = *opt;
	rc = gpu_enter(gpu, err);
	if (rc)
		return rc;
	p->graph = g;
	gpu->board = opt->board;
	p->any_width = !opt->edge_bytes;
	rc = check_graph(p, err);
	if (!rc)
		rc = measure_weights(p, err);
	if (!rc)
		rc = measure(gpu, opt, &compressed, &in, err);
	c.checked = compressed.width;
	c.min = (uint64_t)p->weight_min;
	if (!rc)
		rc = place_by_plan(gpu, &in, opt, &c, &compressed, err);
	if (!rc)
		rc = place_cache(gpu, err);
	if (!rc)
		fill_args(gpu, c.bits, &compressed);
	gtu_compressed_free(&compressed);
	gpu_leave(gpu);
	gpu->placement.seconds = 1e-9 * (double)(gtu_now_ns() - start);
	if (rc)
		gpu_unplace(gpu);
	return rc;
}

int gpu_placement_create(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_placement_options *opt,
	      struct gtu_error *err)
{
	struct gpu *gpu = dev->backend;
	struct gtu_placement_options own = opt ? *opt : gpu->aside.options;
	bool transpose = own.transpose && g->flags & GTU_GRAPH_DIRECTED;
	int rc;

	/* a derived graph is not transposed: the graph put aside may be */
	transpose = transpose && !gpu->transposed_of;
	if (transpose && own.gpu_memory > GTU_GPU_MEMORY_NONE && own.gpu_memory < GTU_GPU_MEMORY_ALL)
		own.gpu_memory /= 2;
	rc = gpu_place(gpu, g, &own, err);
	if (!rc && transpose)
		rc = gpu_place_transposed(gpu, err);
	if (rc)
		gpu_placement_destroy(dev);
	return rc;
}

void gpu_placement_swap(struct gtu_device *dev)
{
	struct gpu *gpu = dev->backend;
	struct gpu_placed placed = gpu->placed;
	struct gtu_placement placement = gpu->placement;

	gpu->placed = gpu->aside;
	gpu->placement = gpu->placement_aside;
	gpu->aside = placed;
	gpu->placement_aside = placement;
	gpu->board = gpu->placed.options.board;
}

void gpu_placement_destroy(struct gtu_device *dev)
{
	struct gpu *gpu = dev->backend;

	if (gpu->transposed_of && gpu->transposed_of == gpu->placed.graph)
		gpu_unplace_transposed(gpu);
	gpu_unplace(gpu);
}

void gpu_unplace(struct gpu *gpu)
{
	struct gpu_placed *p = &gpu->placed;

	if (gpu_enter(gpu, NULL))
		return;
	gpu_memory_free(gpu, &p->cache);
	gpu_memory_free(gpu, &p->bits_list);
	gpu_blocks_drop(gpu);
	free_lists(gpu);
	free_rows(gpu);
	gpu_leave(gpu);
	memset(p, 0, sizeof(*p));
}
