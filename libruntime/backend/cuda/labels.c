// SPDX-License-Identifier: MIT
/* Community detection by label propagation. */
#include "gpu.h"

#define ITERATIONS	10
#define TABLES		(16ull << 20)	/* edges whose vertices' tables are in GPU memory at a time */
#define TABLE_BYTES	16u		/* two slots per edge */

struct labels {
	struct gpu_run r;
	CUdeviceptr label, best, few, many, tables;
	uint64_t few_items, many_items, edges;
	uint64_t first, end;		/* vertices whose longer lists are in the queue of those */
};

/* The end of the vertices from @first on whose lists have @edges entries, at least one vertex. */
static uint64_t range_end(const struct gtu_graph *g, uint64_t first, uint64_t edges)
{
	uint64_t low = first + 1, high = g->n, middle;

	while (low < high) {
		middle = low + (high - low + 1) / 2;
		if (g->row[middle] - g->row[first] <= edges)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Queue the lists of vertices [@first, @end) with one piece (@few), or more. */
static int collect(struct labels *l, uint32_t few, uint64_t first, uint64_t end, CUdeviceptr queue, uint64_t *items)
{
	struct gpu_run *r = &l->r;
	void *args[] = { &few, &queue, NULL };
	int rc;

	r->graph.first = first;
	r->graph.end = end;
	rc = gpu_visit_step(r, "labels_collect", NULL, true, end - first, args);
	r->graph.first = 0;
	r->graph.end = r->graph.n;
	*items = r->counters.items;
	return rc;
}

/* The longer lists of vertices from l->first on, as many as there are tables for. */
static int count_many(struct labels *l)
{
	struct gpu_run *r = &l->r;
	const uint64_t *row = r->g->row, first = l->first, end = range_end(r->g, first, l->edges);
	uint64_t base = row[first];
	void *args[] = { &l->many, &l->many_items, &l->label, &l->best, &l->tables, &base, NULL };
	int rc = 0;

	/* queued already if one range has all */
	if (l->end != end || first)
		rc = collect(l, 0, first, end, l->many, &l->many_items);
	l->first = end;
	l->end = end;
	if (!rc && l->many_items)
		rc = gpu_fill(r->gpu, l->tables, 0, TABLE_BYTES * (row[end] - base), r->err);
	return rc || !l->many_items ? rc : gpu_run_launch(r, "labels_many", NULL, true, l->many_items * 32, args);
}

static int propagate(struct labels *l)
{
	struct gpu_run *r = &l->r;
	const uint64_t n = r->graph.n;
	void *few[] = { &l->few, &l->few_items, &l->label, &l->best, NULL }, *state[] = { &l->label, &l->best, NULL };
	int rc = 0;

	if (l->few_items)
		rc = gpu_run_launch(r, "labels_few", NULL, true, l->few_items * 32, few);
	for (l->first = 0; l->tables && !rc && l->first < n;)
		rc = count_many(l);
	if (!rc)
		rc = gpu_visit_step(r, "labels_take", NULL, false, n, state);
	r->stats->edges += r->graph.m;
	gpu_run_iteration(r, n);
	return rc;
}

/* Tables for lists of more than one piece, if there are any. */
static int allocate_tables(struct labels *l)
{
	struct gpu_run *r = &l->r;
	const uint64_t *row = r->g->row, n = r->graph.n;
	uint64_t v, unused, most = TABLES < r->graph.m ? TABLES : r->graph.m;
	int rc = gpu_free_bytes(r->gpu, &unused, r->err);

	if (rc)
		return rc;
	/* fewer lists at a time if memory is short */
	most = most < unused / 2 / TABLE_BYTES ? most : unused / 2 / TABLE_BYTES;
	for (v = 0; v < n; v++)
		most = row[v + 1] - row[v] > most ? row[v + 1] - row[v] : most;
	l->edges = most;
	return gpu_run_allocate(r, &(struct gpu_part){ "tables", TABLE_BYTES * most, &l->tables }, 1);
}

static int run_labels(struct labels *l)
{
	struct gpu_run *r = &l->r;
	const uint64_t n = r->graph.n, iterations = r->opt->iterations ? r->opt->iterations : ITERATIONS;
	const struct gpu_part part[] = {
		{ "labels", 4 * n, &l->label }, { "counts", 8 * n, &l->best },
		{ "queue of short lists", gpu_run_queue_bytes(r), &l->few },
		{ "queue of long lists", gpu_run_queue_bytes(r), &l->many },
	};
	void *state[] = { &l->label, &l->best, NULL };
	uint64_t i;
	int rc = gpu_run_allocate(r, part, 4);

	if (!rc)
		rc = gpu_run_launch(r, "labels_begin", NULL, false, n, state);
	if (!rc)
		rc = collect(l, 1, 0, n, l->few, &l->few_items);
	if (!rc)
		rc = collect(l, 0, 0, n, l->many, &l->many_items);
	l->end = n;
	if (!rc && l->many_items)
		rc = allocate_tables(l);
	gtu_phase(&r->phases, "traverse");
	r->counters.changed = 1;
	for (i = 0; i < iterations && !rc && r->counters.changed; i++)
		rc = propagate(l);
	return rc;
}

int gpu_labels(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *label,
	       struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct labels l = { 0 };
	int rc = gpu_visit_begin(&l.r, dev, "label propagation", opt, stats, err);

	if (!rc && l.r.graph.n) {
		rc = run_labels(&l);
		if (!rc)
			rc = gpu_visit_result(&l.r, label, l.label);
		l.r.stats->vertices = l.r.graph.n;
	}
	return gpu_run_end(&l.r, rc);
}
