/* SPDX-License-Identifier: MIT */
/*
 * Graphs: a CSR whose edge list is mapped, never copied.
 *
 * A graph comes from a native container (mapped in place), from a text or binary file of another
 * program (read into memory), or from a generator. Vertices are 0..n-1 inside; what the input called
 * them is kept in `ids` and is what a person sees.
 */
#ifndef GTU_GRAPH_H
#define GTU_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gtu/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gtu_weight_type {
	GTU_WEIGHT_NONE = 0,
	GTU_WEIGHT_U32 = 1,
	GTU_WEIGHT_F32 = 2,
	GTU_WEIGHT_F64 = 3,
};

#define GTU_GRAPH_DIRECTED 0x1u		/* clear: every edge is stored in both directions */
#define GTU_GRAPH_SORTED   0x2u		/* each vertex' edge list ascends */
#define GTU_GRAPH_CHECKED  0x4u		/* row and col are known to be in bounds: gtu_graph_check() */
#define GTU_GRAPH_COMPRESSED 0x8u	/* decoded from a compressed container; a GPU keeps its lists compressed */

/*
 * All arrays are read-only to users of the graph. Rows are 64-bit offsets in elements into col and
 * weight: the edges of v are col[row[v]] .. col[row[v+1]-1].
 *
 * What may be trusted. A graph from a reader, a generator or a function of this header has row
 * ascending from 0 to m and every entry of col below n, and says so with GTU_GRAPH_CHECKED. A mapped
 * container does not: opening it looks at its header alone, so that a graph of any size opens at
 * once, and a damaged or hostile file may hold any number in row and col. Whoever indexes memory with
 * them either bounds every access (the units do; gtu_graph_edges() clamps rows) or calls
 * gtu_graph_check() first. A file that someone rewrites while it is mapped is beyond that check.
 */
struct gtu_graph {
	uint64_t n;			/* vertices */
	uint64_t m;			/* entries of col: directed edges as stored */
	uint64_t stored;		/* edge entries in the input (an undirected edge stored once: 1) */
	uint32_t flags;			/* GTU_GRAPH_* */
	uint32_t edge_bytes;		/* 4 or 8: bytes of one entry of col */
	uint32_t weight_type;		/* enum gtu_weight_type */
	uint32_t reserved;
	const uint64_t *row;		/* n + 1 */
	const void *col;		/* m entries of edge_bytes */
	const void *weight;		/* m weights, or NULL */
	const uint64_t *ids;		/* n ids of the input, ascending; NULL: id = v + id_base */
	uint64_t id_base;
	char name[128];			/* file name without folder, or the generator's line */
	struct gtu_graph_backing *backing; /* library's own: who owns the memory */
};

static inline uint64_t gtu_graph_target(const struct gtu_graph *g, uint64_t e)
{
	return g->edge_bytes == 8 ? ((const uint64_t *)g->col)[e] : ((const uint32_t *)g->col)[e];
}

/* The edges of @v as [*first, *end), clamped to the m that exist: safe on an unchecked graph. */
static inline void gtu_graph_edges(const struct gtu_graph *g, uint64_t v, uint64_t *first,
				   uint64_t *end)
{
	uint64_t a = g->row[v], b = g->row[v + 1];

	*end = b < g->m ? b : g->m;
	*first = a < *end ? a : *end;
}

static inline uint64_t gtu_graph_id(const struct gtu_graph *g, uint64_t v)
{
	return g->ids ? g->ids[v] : v + g->id_base;
}

/* Bytes of one weight of a type: 0, 4, 4, 8. */
size_t gtu_weight_bytes(uint32_t weight_type);

/* The vertex that the input called @id; GTU_ERR_USAGE, with the ids that exist, if there is none. */
int gtu_graph_vertex(const struct gtu_graph *g, uint64_t id, uint64_t *v, struct gtu_error *err);

enum gtu_direction { GTU_AS_STORED = 0, GTU_DIRECTED = 1, GTU_UNDIRECTED = 2 };

/*
 * What a reader may be told. Zeroed is the default for every field.
 *
 * Forcing GTU_UNDIRECTED on a file whose entries are directed enters each of them both ways and merges
 * the duplicates, so that a file that already stores both directions does not double; a file that is
 * undirected of itself keeps what it repeats. Forcing GTU_DIRECTED takes each entry once, as written.
 * A native container is mapped as it is: options that would change it make a changed copy in memory.
 */
struct gtu_read_options {
	uint32_t direction;		/* enum gtu_direction; AS_STORED: what the file says */
	uint32_t edge_bytes;		/* 4, 8, or 0: 4 where vertices fit */
	int32_t weight_column;		/* 1 = first column after the two ids; 0: the format's own; -1: no weights */
	uint32_t simplify;		/* non-zero: drop self loops and duplicate edges (first weight stays) */
	uint32_t reserved[4];		/* zero */
};

/*
 * Open a graph by path. The format is found from the content and the name; a native container is
 * mapped, anything else is read. xz, gzip and zstd are undone on the way. An LDBC graph is named by
 * its .e file. Errors: GTU_ERR_INPUT with file, line (or byte) and reason; GTU_ERR_FAIL for I/O;
 * GTU_ERR_INTERRUPTED. On failure *out is NULL.
 */
int gtu_graph_open(const char *path, const struct gtu_read_options *opt,
		   const struct gtu_progress *progress, struct gtu_graph **out,
		   struct gtu_error *err);

/*
 * Check that row and col are in bounds, ids ascend and, for a container, that its content still has
 * the checksums written with it. Reads everything: O(n + m). Sets GTU_GRAPH_CHECKED; does nothing if
 * that is set. Errors: GTU_ERR_INPUT with the first entry that is wrong; GTU_ERR_INTERRUPTED.
 */
int gtu_graph_check(struct gtu_graph *g, const struct gtu_progress *progress,
		    struct gtu_error *err);

/* Write the native container at @path (a temporary beside it, renamed when whole). */
int gtu_graph_save(const struct gtu_graph *g, const char *path,
		   const struct gtu_progress *progress, struct gtu_error *err);

/*
 * The same with compressed edge lists (libruntime/graph/coded.h): smaller, and decoded into memory whenever it is opened.
 * GTU_ERR_UNSUPPORTED: the graph has more than 2^32 vertices.
 */
int gtu_graph_save_compressed(const struct gtu_graph *g, const char *path, const struct gtu_progress *progress,
			      struct gtu_error *err);

#define GTU_WRITE_ADAPT 0x1u	/* what the format cannot hold is left out or made up, as the sentence without this says */

/*
 * Write @g in the format that the end of @path names: .gtu (gtu_graph_save()), .mtx (Matrix Market), .txt (SNAP), .gr
 * (DIMACS), .graph (METIS), .e (LDBC, with .v and .properties beside it), .bel (EMOGI: .bel.col, .bel.dst, .bel.val), .sg
 * and .wsg (GAP). Reading it gives the same vertices, ids, edges, directions and weights, as numbers; an
 * undirected graph's lists come back in ascending order. All files appear when they are complete.
 *
 * GTU_ERR_UNSUPPORTED: the format cannot hold the graph, and the sentence says what and what helps. With GTU_WRITE_ADAPT
 * most of that is adapted, and @changed (may be NULL) says what was, or is "". GTU_ERR_USAGE: no such format, or what
 * has the name is no regular file; GTU_ERR_INPUT: the graph is damaged; GTU_ERR_FAIL: I/O; GTU_ERR_NOMEM;
 * GTU_ERR_INTERRUPTED.
 */
int gtu_graph_write(const struct gtu_graph *g, const char *path, uint32_t flags, char changed[GTU_ERROR_TEXT],
		    const struct gtu_progress *progress, struct gtu_error *err);
/* Whether @path ends in one of these names. */
bool gtu_graph_can_write(const char *path);

/* NULL is allowed. */
void gtu_graph_close(struct gtu_graph *g);

/*
 * Build a graph from an edge list of @m pairs (src[i], dst[i]) over vertices 0..n-1 with optional
 * weights; the arrays are the caller's and are not kept. With direction GTU_UNDIRECTED each pair is
 * entered both ways (a self loop once).
 */
int gtu_graph_from_edges(uint64_t n, uint64_t m, const uint64_t *src, const uint64_t *dst,
			 uint32_t weight_type, const void *weight,
			 const struct gtu_read_options *opt, struct gtu_graph **out,
			 struct gtu_error *err);

/*
 * A graph over arrays of the caller's, where they lie: nothing is copied, nothing is freed, and all must stay until
 * gtu_graph_close(). Of @arrays count n, m, edge_bytes, weight_type, row, col, weight, ids, id_base, name, of `flags`
 * GTU_GRAPH_DIRECTED, and `stored` (0: m). Every array begins on a multiple of 8 bytes, as regions do. What is in them is not
 * looked at but for both ends of row: gtu_graph_check() does that, and is to be called again where it may have changed.
 * GTU_ERR_USAGE: sizes, types or alignments that no graph has.
 */
int gtu_graph_wrap(const struct gtu_graph *arrays, struct gtu_graph **out, struct gtu_error *err);

/* A new graph with every edge turned round (CSC of the input), weights along. */
int gtu_graph_transpose(const struct gtu_graph *g, const struct gtu_progress *progress,
			struct gtu_graph **out, struct gtu_error *err);

/* A new graph with each edge in both directions, self loops once, duplicates merged (first weight). */
int gtu_graph_symmetrize(const struct gtu_graph *g, const struct gtu_progress *progress,
			 struct gtu_graph **out, struct gtu_error *err);

enum gtu_generator {
	GTU_GEN_KRONECKER,	/* Graph500: scale, edge factor; a .57 b .19 c .19, vertices permuted */
	GTU_GEN_UNIFORM,	/* n vertices, edge factor, ends drawn uniformly */
	GTU_GEN_POWERLAW,	/* n vertices, mean degree, exponent (Chung and Lu) */
	GTU_GEN_DELAUNAY,	/* triangulation of n random points of the unit square */
	GTU_GEN_PLANAR,		/* connected planar mesh of n vertices and given mean degree (2..6) */
	GTU_GEN_ROAD,		/* connected road-like grid: mean degree about 2.6, weights are lengths */
	GTU_GEN_FEM3D,		/* 3-D finite elements: 27-point neighbourhoods, unknowns a node */
	GTU_GENERATORS,
};

/* The same options and seed give the same graph, byte for byte, whatever the number of threads. */
struct gtu_generate_options {
	uint32_t kind;			/* enum gtu_generator */
	uint32_t scale;			/* KRONECKER: log2 of n */
	uint64_t n;			/* the others: vertices (rounded up to a full grid where needed) */
	double degree;			/* KRONECKER, UNIFORM: edges drawn a vertex; others: mean degree; 0: default */
	double exponent;		/* POWERLAW: above 2; 0: 2.1 */
	uint64_t seed;
	uint32_t edge_bytes;		/* 0, 4, 8 */
	uint32_t random_weights;	/* non-zero: u32 weights 1..random_weights */
	uint32_t directed;		/* KRONECKER, UNIFORM, POWERLAW: keep one direction */
	uint32_t simplify;		/* non-zero: drop self loops and duplicate edges */
	uint32_t unknowns;		/* FEM3D: vertices a node; 0: 3, or what the degree takes */
	uint32_t threads;		/* 0: as many as there are cores */
	uint32_t reserved[2];		/* zero */
};

int gtu_graph_generate(const struct gtu_generate_options *opt, const struct gtu_progress *progress,
		       struct gtu_graph **out, struct gtu_error *err);

/* "kronecker", ... as `gtu generate` calls it; NULL beyond the last. */
const char *gtu_generator_name(uint32_t kind);

/* Degrees and components, for `gtu stat`. */
struct gtu_graph_stat {
	uint64_t n, m, stored;
	uint64_t self_loops, duplicates;	/* of the m entries */
	uint64_t isolated;			/* neither in- nor out-edges */
	uint64_t min_degree, max_degree;	/* out-degrees */
	uint64_t max_vertex;			/* lowest vertex of the greatest out-degree */
	double mean_degree;
	uint64_t components;			/* weakly connected */
	uint64_t largest_component;		/* vertices in it */
	uint64_t histogram[65];			/* [0]: degree 0; [k]: 2^(k-1) <= degree < 2^k */
};
int gtu_graph_measure(const struct gtu_graph *g, const struct gtu_progress *progress,
		      struct gtu_graph_stat *stat, struct gtu_error *err);

#ifdef __cplusplus
}
#endif
#endif
