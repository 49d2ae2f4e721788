// SPDX-License-Identifier: MIT
/* Community detection by label propagation. */
#include "parts.h"

#define ITERATIONS	10
#define TABLES		(16ull << 20)	/* edges whose vertices' tables are in GPU memory at a time */
#define TABLE_BYTES	16u		/* two slots per edge */

/* The end of the vertices from @first to @end whose lists have @edges entries, at least one vertex. */
static uint64_t range_end(const struct gtu_graph *g, uint64_t first, uint64_t end, uint64_t edges)
{
	uint64_t low = first + 1, high = end, middle;

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
static int collect(struct gpu_run *r, uint32_t few, uint64_t first, uint64_t end, CUdeviceptr queue, uint64_t *items)
{
	const uint64_t own_first = r->graph.first, own_end = r->graph.end;
	void *args[] = { &few, &queue, NULL };
	int rc;

	r->graph.first = first;
	r->graph.end = end;
	rc = gpu_run_pass(r, &r->graph, "labels_collect", NULL, true, GPU_STRIP, args);
	r->graph.first = own_first;
	r->graph.end = own_end;
	*items = r->counters.items;
	return rc;
}

/* The longer lists of vertices from l->first on, as many as there are tables for. */
static int count_many(struct gpu_run *r, struct gpu_labels *l)
{
	const uint64_t *row = r->g->row, first = l->first, end = range_end(r->g, first, r->graph.end, l->edges);
	uint64_t base = row[first];
	void *args[] = { &l->many, &l->many_items, &l->label, &l->best, &l->tables, &base, NULL };
	int rc = 0;

	/* queued already if one range has all */
	if (l->end != end || first != r->graph.first)
		rc = collect(r, 0, first, end, l->many, &l->many_items);
	l->first = end;
	l->end = end;
	if (!rc && l->many_items)
		rc = gpu_fill(r->gpu, l->tables, 0, TABLE_BYTES * (row[end] - base), r->err);
	return rc || !l->many_items ? rc : gpu_run_launch(r, "labels_many", NULL, true, l->many_items * 32, args);
}

int gpu_labels_count(struct gpu_run *r, struct gpu_labels *l)
{
	void *few[] = { &l->few, &l->few_items, &l->label, &l->best, NULL };
	int rc = 0;

	if (l->few_items)
		rc = gpu_run_launch(r, "labels_few", NULL, true, l->few_items * 32, few);
	for (l->first = r->graph.first; l->tables && !rc && l->first < r->graph.end;)
		rc = count_many(r, l);
	return rc;
}

static int propagate(struct gpu_run *r, struct gpu_labels *l)
{
	const uint64_t n = r->graph.n;
	void *state[] = { &l->label, &l->best, NULL };
	int rc = gpu_labels_count(r, l);

	if (!rc)
		rc = gpu_visit_step(r, "labels_take", NULL, false, n, state);
	r->stats->edges += r->graph.m;
	gpu_run_iteration(r, n);
	return rc;
}

/* Tables for lists of more than one piece, if there are any. */
static int allocate_tables(struct gpu_run *r, struct gpu_labels *l)
{
	const uint64_t *row = r->g->row;
	uint64_t v, unused, most = TABLES < r->graph.m ? TABLES : r->graph.m;
	int rc = gpu_free_bytes(r->gpu, &unused, r->err);

	if (rc)
		return rc;
	/* fewer lists at a time if memory is short */
	most = most < unused / 2 / TABLE_BYTES ? most : unused / 2 / TABLE_BYTES;
	for (v = r->graph.first; v < r->graph.end; v++)
		most = row[v + 1] - row[v] > most ? row[v + 1] - row[v] : most;
	l->edges = most;
	return gpu_run_allocate(r, &(struct gpu_part){ "tables", TABLE_BYTES * most, &l->tables }, 1);
}

int gpu_labels_begin(struct gpu_run *r, struct gpu_labels *l)
{
	void *state[] = { &l->label, &l->best, NULL };
	int rc = gpu_run_launch(r, "labels_begin", NULL, false, r->graph.n, state);

	if (!rc)
		rc = collect(r, 1, r->graph.first, r->graph.end, l->few, &l->few_items);
	if (!rc)
		rc = collect(r, 0, r->graph.first, r->graph.end, l->many, &l->many_items);
	l->end = r->graph.end;
	return rc || !l->many_items ? rc : allocate_tables(r, l);
}

uint64_t gpu_labels_iterations(const struct gtu_algorithm_options *opt)
{
	return opt->iterations ? opt->iterations : ITERATIONS;
}

static int run_labels(struct gpu_run *r, struct gpu_labels *l)
{
	const uint64_t n = r->graph.n, iterations = gpu_labels_iterations(r->opt);
	const struct gpu_part part[] = {
		{ "labels", 4 * n, &l->label }, { "counts", 8 * n, &l->best },
		{ "queue of short lists", gpu_run_queue_bytes(r), &l->few },
		{ "queue of long lists", gpu_run_queue_bytes(r), &l->many },
	};
	uint64_t i;
	int rc = gpu_run_allocate(r, part, 4);

	if (!rc)
		rc = gpu_labels_begin(r, l);
	gtu_phase(&r->phases, "traverse");
	r->counters.changed = 1;
	for (i = 0; i < iterations && !rc && r->counters.changed; i++)
		rc = propagate(r, l);
	return rc;
}

int gpu_labels(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *label,
	       struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct gpu_labels l = { 0 };
	struct gpu_run r;
	int rc = gpu_visit_begin(&r, dev, "label propagation", opt, stats, err);

	if (!rc && r.graph.n) {
		rc = run_labels(&r, &l);
		if (!rc)
			rc = gpu_visit_result(&r, label, l.label);
		r.stats->vertices = r.graph.n;
	}
	return gpu_run_end(&r, rc);
}
