/* SPDX-License-Identifier: MIT */
/*
 * Internals of gtu/graph.h: ownership of a graph's memory, the edge list that readers and
 * generators fill, the map from input ids to vertices, and CSR construction.
 */
#ifndef GTU_GRAPH_INTERNAL_H
#define GTU_GRAPH_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "gtu/graph.h"
#include "libruntime/support/array.h"

/* Items processed between two calls of gtu_tick(). */
#define GTU_TICK_ITEMS (1u << 20)

/* Upper bound of input ids, so that sums and GTU_NO_VERTEX never overflow. */
#define GTU_ID_LIMIT (1ull << 63)

struct gtu_container_header;

struct gtu_graph_backing {
	void *map;			/* mapping or copy of the container, or NULL */
	size_t map_bytes;
	struct gtu_container_header *header;	/* checked copy of the header */
	char *path;			/* path of the container as passed, for messages; or NULL */
	void *row, *col, *weight, *ids;	/* from gtu_array_alloc(), or NULL */
	const uint64_t *names;		/* n + 1 offsets, then the text; of the container or own_names; NULL: none */
	uint64_t names_bytes;
	void *own_names;		/* from malloc(), or NULL */
	uint64_t *cut;			/* GTU_GRAPH_PART: that of gtu_graph_cut(), from malloc() */
	uint32_t parts;			/* and its number of parts */
};

/* An empty graph with a backing, or NULL. */
struct gtu_graph *gtu_graph_new(void);
void gtu_graph_set_name(struct gtu_graph *g, const char *path);

/* Name for messages: the path of the graph's container, or else its name. */
static inline const char *gtu_graph_label(const struct gtu_graph *g)
{
	return g->backing && g->backing->path ? g->backing->path : g->name;
}

/* GTU_ERR_UNSUPPORTED if only a part of the graph is mapped, which @what cannot do with. */
int gtu_graph_require_whole(const struct gtu_graph *g, const char *what, struct gtu_error *err);

/* Check that the row offsets ascend from 0 to m; @name: the graph in messages. */
int gtu_graph_check_rows(const struct gtu_graph *g, const char *name, const struct gtu_progress *progress,
			 struct gtu_error *err);

/*
 * A growing edge list. Ids have 4 bytes until one needs 8; weights are u32 until one is not, then
 * double. No weight is rounded, and an unweighted list costs 8 bytes per edge.
 */
struct gtu_edge_list {
	uint64_t m, capacity;
	void *src, *dst;
	void *weight;
	uint32_t id_bytes;		/* 4 or 8 */
	uint32_t weight_type;		/* enum gtu_weight_type: NONE, U32 or F64; others from from_edges */
	bool borrowed;			/* the caller owns the arrays: never written or freed */
};

void gtu_edges_init(struct gtu_edge_list *l, bool weighted);
void gtu_edges_free(struct gtu_edge_list *l);
int gtu_edges_reserve(struct gtu_edge_list *l, uint64_t capacity, struct gtu_error *err);
int gtu_edges_widen_ids(struct gtu_edge_list *l, struct gtu_error *err);
int gtu_edges_widen_weights(struct gtu_edge_list *l, struct gtu_error *err);
int gtu_edges_grow(struct gtu_edge_list *l, struct gtu_error *err);

/* Append u -> v. In a weighted list the next gtu_edges_weight_*() sets its weight. */
static inline int gtu_edges_push(struct gtu_edge_list *l, uint64_t u, uint64_t v,
				 struct gtu_error *err)
{
	int rc;

	if (gtu_unlikely(l->m == l->capacity)) {
		rc = gtu_edges_grow(l, err);
		if (rc)
			return rc;
	}
	if (gtu_unlikely((u | v) >> 32) && l->id_bytes == 4) {
		rc = gtu_edges_widen_ids(l, err);
		if (rc)
			return rc;
	}
	gtu_put(l->src, l->id_bytes, l->m, u);
	gtu_put(l->dst, l->id_bytes, l->m, v);
	l->m++;
	return 0;
}

static inline int gtu_edges_weight_u64(struct gtu_edge_list *l, uint64_t w, struct gtu_error *err)
{
	if (gtu_likely(l->weight_type == GTU_WEIGHT_U32)) {
		if (gtu_likely(w <= UINT32_MAX)) {
			((uint32_t *)l->weight)[l->m - 1] = (uint32_t)w;
			return 0;
		}
		int rc = gtu_edges_widen_weights(l, err);

		if (rc)
			return rc;
	}
	((double *)l->weight)[l->m - 1] = (double)w;
	return 0;
}

static inline int gtu_edges_weight_f64(struct gtu_edge_list *l, double w, struct gtu_error *err)
{
	if (gtu_unlikely(l->weight_type == GTU_WEIGHT_U32)) {
		int rc = gtu_edges_widen_weights(l, err);

		if (rc)
			return rc;
	}
	((double *)l->weight)[l->m - 1] = w;
	return 0;
}

/*
 * Map from input ids to 0..n-1 in ascending order, built in linear time without sorting edges.
 * Three forms: a contiguous range (no table), a bitmap with ranks, or, for sparse ids, a hash table
 * whose distinct keys are radix-sorted.
 */
struct gtu_id_map {
	uint64_t n;
	uint64_t base;			/* the lowest id */
	uint64_t range;			/* highest - lowest + 1, or 0 */
	uint64_t *ids;			/* n, ascending; NULL: base + v */
	uint64_t *bits, *rank;		/* bitmap over range; vertices before each 512 bits */
	uint64_t *key, *value;		/* hash table, key + 1, 0 is empty */
	uint64_t mask;
};

/* Build the map of all ids in @count arrays of @length elements of @bytes. */
int gtu_id_map_build(struct gtu_id_map *map, const void *const *array, int count, uint64_t length,
		     uint32_t bytes, struct gtu_error *err);
void gtu_id_map_free(struct gtu_id_map *map);
/* Vertex of @id, or GTU_NO_VERTEX. */
uint64_t gtu_id_map_find(const struct gtu_id_map *map, uint64_t id);

/* Output of a reader or generator, input of gtu_raw_finish(). */
struct gtu_raw_graph {
	struct gtu_edge_list edges;	/* input ids if !declared, else vertices 0..n-1 */
	bool declared;			/* n and id_base (or ids) define the vertices */
	bool undirected;		/* each entry stands for both directions */
	bool symmetric;			/* both directions are present, as the format guarantees */
	bool skew;			/* the opposite direction has the negated weight */
	uint64_t n;
	uint64_t id_base;
	uint64_t *ids;			/* ascending; ownership is transferred */
	void *names;			/* likewise; as gtu_graph_backing.names, or NULL */
	uint64_t names_bytes;
	uint64_t stored;		/* entries in the input; 0: edges.m */
};

/*
 * Build the graph of @raw according to @opt; consumes @raw's memory in any case. If a directed list
 * is forced undirected, duplicates are merged.
 */
int gtu_raw_finish(struct gtu_raw_graph *raw, const struct gtu_read_options *opt,
		   const struct gtu_progress *progress, struct gtu_graph **out,
		   struct gtu_error *err);

/*
 * Apply @opt to a graph that a reader built as a CSR and that owns its arrays. Replaces *@g; on
 * error closes it and sets *@g to NULL.
 */
int gtu_graph_reshape(struct gtu_graph **g, const struct gtu_read_options *opt,
		      const struct gtu_progress *progress, struct gtu_error *err);

/*
 * Bytes per entry of col for @n vertices; @wanted: 4, 8 or 0 (default). 0 and *err if impossible.
 */
uint32_t gtu_edge_bytes_for(uint64_t n, uint32_t wanted, struct gtu_error *err);

/* Mode of an output file: that of the regular file which it replaces, else 0666 without the umask. */
mode_t gtu_output_mode(const char *path);

#endif
