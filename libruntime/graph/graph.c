// SPDX-License-Identifier: MIT
/* Graph memory, vertex ids, and validation of a graph's arrays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "graph_container.h"
#include "graph_internal.h"
#include "graph_names.h"

struct gtu_graph *gtu_graph_new(void)
{
	struct gtu_graph *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->backing = calloc(1, sizeof(*g->backing));
	if (!g->backing) {
		free(g);
		return NULL;
	}
	return g;
}

void gtu_graph_close(struct gtu_graph *g)
{
	struct gtu_graph_backing *b;

	if (!g)
		return;
	b = g->backing;
	if (b->map)
		munmap(b->map, b->map_bytes);
	free(b->row);
	free(b->col);
	free(b->weight);
	free(b->ids);
	free(b->own_names);
	free(b->cut);
	free(b->path);
	free(b->header);
	free(b);
	free(g);
}

void gtu_graph_set_name(struct gtu_graph *g, const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(g->name, sizeof(g->name), "%s", slash ? slash + 1 : path);
}

static int check_array(const char *what, const void *array, bool wanted, struct gtu_error *err)
{
	if (!array && wanted)
		return gtu_fail(err, GTU_ERR_USAGE, "a graph needs %s, and none were passed", what);
	if ((uintptr_t)array % 8)
		return gtu_fail(err, GTU_ERR_USAGE, "%s start at %p: the address must be a "
				"multiple of 8 bytes", what, array);
	return 0;
}

static int check_arrays(const struct gtu_graph *a, struct gtu_error *err)
{
	int rc;

	/* so that no sum of sizes overflows, and ids stay below 2^63 */
	if (a->n > GTU_ID_LIMIT / 16 || a->m > GTU_ID_LIMIT / 16 || a->id_base > GTU_ID_LIMIT - a->n)
		return gtu_fail(err, GTU_ERR_USAGE, "%llu vertices with ids from %llu on and %llu "
				"edges are too many for any memory",
				(unsigned long long)a->n, (unsigned long long)a->id_base, (unsigned long long)a->m);
	if (a->m && !a->n)
		return gtu_fail(err, GTU_ERR_USAGE, "%llu edges without a vertex", (unsigned long long)a->m);
	if (!a->edge_bytes)
		return gtu_fail(err, GTU_ERR_USAGE, "an edge entry of 0 bytes is invalid: use 4 or "
				"8");
	if (!gtu_edge_bytes_for(a->n, a->edge_bytes, err))
		return GTU_ERR_USAGE;
	if (a->weight_type > GTU_WEIGHT_F64)
		return gtu_fail(err, GTU_ERR_USAGE, "weight type %u is invalid: use 0 to %u",
				a->weight_type, GTU_WEIGHT_F64);
	rc = check_array("row offsets", a->row, true, err);
	if (!rc)
		rc = check_array("edges", a->col, a->m, err);
	if (!rc)
		rc = check_array("weights", a->weight, a->m && a->weight_type, err);
	if (!rc)
		rc = check_array("ids", a->ids, false, err);
	if (!rc && (a->row[0] || a->row[a->n] != a->m))
		rc = gtu_fail(err, GTU_ERR_USAGE, "row offsets go from %llu to %llu; they must go from 0 to the %llu edges",
			      (unsigned long long)a->row[0], (unsigned long long)a->row[a->n],
			      (unsigned long long)a->m);
	return rc;
}

int gtu_graph_wrap(const struct gtu_graph *arrays, struct gtu_graph **out, struct gtu_error *err)
{
	struct gtu_graph_backing *backing;
	struct gtu_graph *g;
	int rc = check_arrays(arrays, err);

	*out = NULL;
	if (rc)
		return rc;
	g = gtu_graph_new();
	if (!g)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a graph");
	backing = g->backing;
	*g = *arrays;
	g->backing = backing;
	/*
	 * Callers cannot be trusted to sort adjacency lists, and gtu_graph_check() does not check
	 * the order.
	 */
	g->flags = arrays->flags & GTU_GRAPH_DIRECTED;
	g->stored = arrays->stored ? arrays->stored : arrays->m;
	g->weight = g->weight_type ? arrays->weight : NULL;
	g->id_base = g->ids ? 0 : g->id_base;
	g->reserved = 0;
	g->name[sizeof(g->name) - 1] = 0;
	*out = g;
	return 0;
}

size_t gtu_weight_bytes(uint32_t weight_type)
{
	switch (weight_type) {
	case GTU_WEIGHT_U32:
	case GTU_WEIGHT_F32:
		return 4;
	case GTU_WEIGHT_F64:
		return 8;
	}
	return 0;
}

uint32_t gtu_edge_bytes_for(uint64_t n, uint32_t wanted, struct gtu_error *err)
{
	bool fits = n <= 1ull << 32;

	if (wanted != 0 && wanted != 4 && wanted != 8) {
		gtu_fail(err, GTU_ERR_USAGE, "an edge entry of %u bytes is invalid: use 4 or 8",
			 wanted);
		return 0;
	}
	if (wanted == 4 && !fits) {
		gtu_fail(err, GTU_ERR_USAGE,
			 "4-byte edges support 4294967296 vertices, but this graph has %llu: use 8 "
			 "bytes",
			 (unsigned long long)n);
		return 0;
	}
	return wanted ? wanted : fits ? 4 : 8;
}

int gtu_graph_vertex(const struct gtu_graph *g, uint64_t id, uint64_t *v, struct gtu_error *err)
{
	uint64_t low = 0, high = g->n, mid;

	if (!g->n)
		return gtu_fail(err, GTU_ERR_USAGE, "there is no vertex %llu: %s has no vertices",
				(unsigned long long)id, g->name);
	if (!g->ids) {
		if (id >= g->id_base && id - g->id_base < g->n) {
			*v = id - g->id_base;
			return 0;
		}
	} else {
		while (low < high) {
			mid = low + (high - low) / 2;
			if (g->ids[mid] < id)
				low = mid + 1;
			else
				high = mid;
		}
		if (low < g->n && g->ids[low] == id) {
			*v = low;
			return 0;
		}
	}
	if (g->n == 1)
		return gtu_fail(err, GTU_ERR_USAGE, "there is no vertex %llu: the one vertex of %s has the id %llu",
				(unsigned long long)id, g->name, (unsigned long long)gtu_graph_id(g, 0));
	return gtu_fail(err, GTU_ERR_USAGE, "there is no vertex %llu: the %llu vertices of %s have ids %llu to %llu%s",
			(unsigned long long)id, (unsigned long long)g->n, g->name,
			(unsigned long long)gtu_graph_id(g, 0),
			(unsigned long long)gtu_graph_id(g, g->n - 1), g->ids ? ", with gaps" : "");
}

int gtu_graph_check_rows(const struct gtu_graph *g, const char *name, const struct gtu_progress *progress,
			 struct gtu_error *err)
{
	uint64_t v, last = 0;

	for (v = 0; v <= g->n; v++) {
		uint64_t at = g->row[v];

		if (at < last || at > g->m || (v == 0 && at) || (v == g->n && at != g->m))
			return gtu_fail(err, GTU_ERR_INPUT,
					"%s: row offset %llu is %llu; offsets must ascend from 0 to the %llu edges: the graph is damaged",
					name, (unsigned long long)v, (unsigned long long)at, (unsigned long long)g->m);
		last = at;
		if (v % GTU_TICK_ITEMS == 0 && gtu_tick(progress, "checking rows", v, g->n))
			return gtu_fail(err, GTU_ERR_INTERRUPTED, "checking %s was stopped", name);
	}
	return 0;
}

/*
 * Check the maximum of each block, without a branch per entry; search for the entry only on
 * failure.
 */
static int check_targets(const struct gtu_graph *g, const struct gtu_progress *progress,
			 struct gtu_error *err)
{
	uint64_t first, e, end;

	for (first = 0; first < g->m; first = end) {
		uint64_t max = 0;

		end = g->m - first > GTU_TICK_ITEMS ? first + GTU_TICK_ITEMS : g->m;
		if (g->edge_bytes == 8) {
			const uint64_t *col = g->col;

			for (e = first; e < end; e++)
				max = col[e] > max ? col[e] : max;
		} else {
			const uint32_t *col = g->col;
			uint32_t max32 = 0;

			for (e = first; e < end; e++)
				max32 = col[e] > max32 ? col[e] : max32;
			max = max32;
		}
		if (max >= g->n) {
			for (e = first; e < end - 1 && gtu_graph_target(g, e) < g->n; e++)
				;
			return gtu_fail(err, GTU_ERR_INPUT,
					"%s: the target of edge %llu is vertex %llu, but there are "
					"%llu vertices",
					gtu_graph_label(g), (unsigned long long)e, (unsigned long long)gtu_graph_target(g, e),
					(unsigned long long)g->n);
		}
		if (gtu_tick(progress, "checking edges", end, g->m))
			return gtu_fail(err, GTU_ERR_INTERRUPTED, "checking %s was stopped",
					gtu_graph_label(g));
	}
	return 0;
}

static int check_ids(const struct gtu_graph *g, struct gtu_error *err)
{
	uint64_t v;

	for (v = 1; g->ids && v < g->n; v++)
		if (g->ids[v] <= g->ids[v - 1])
			return gtu_fail(err, GTU_ERR_INPUT,
					"%s: the id of vertex %llu is %llu, after %llu; ids must ascend",
					gtu_graph_label(g), (unsigned long long)v, (unsigned long long)g->ids[v],
					(unsigned long long)g->ids[v - 1]);
	return 0;
}

int gtu_graph_check(struct gtu_graph *g, const struct gtu_progress *progress, struct gtu_error *err)
{
	int rc;

	if (g->flags & GTU_GRAPH_CHECKED)
		return 0;
	rc = gtu_graph_require_whole(g, "a check", err);
	if (!rc)
		rc = gtu_graph_check_rows(g, gtu_graph_label(g), progress, err);
	if (!rc)
		rc = check_targets(g, progress, err);
	if (!rc)
		rc = check_ids(g, err);
	if (!rc)
		rc = gtu_graph_check_names(g, gtu_graph_label(g), err);
	if (!rc && g->backing && g->backing->map)
		rc = gtu_container_check_sums(g, progress, err);
	if (!rc)
		g->flags |= GTU_GRAPH_CHECKED;
	return rc;
}
