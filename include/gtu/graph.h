/* SPDX-License-Identifier: MIT */
/*
 * Graphs in compressed sparse row form (CSR), with a memory-mapped edge list.
 *
 * A graph comes from a native container (mapped in place), from a file of another program (read
 * into memory), or from a generator. Internal vertex numbers are 0..n-1. `ids` keeps the vertex ids
 * of the input; the tool prints those.
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

#define GTU_GRAPH_DIRECTED 0x1u		/* clear: undirected, every edge is stored in both directions */
#define GTU_GRAPH_SORTED   0x2u		/* each adjacency list is in ascending order */
#define GTU_GRAPH_CHECKED  0x4u		/* row and col have been checked: gtu_graph_check() */
#define GTU_GRAPH_PART     0x10u	/* only one rank's edges: gtu_graph_open_part() of gtu/ranks.h */
#define GTU_GRAPH_COMPRESSED 0x8u	/* decoded from a compressed container; a GPU may keep it compressed */

/*
 * Users of a graph must not write to its arrays. Rows are 64-bit element offsets into col and
 * weight: the edges of v are col[row[v]] .. col[row[v+1]-1].
 *
 * Graphs from a reader, a generator or a function of this header have GTU_GRAPH_CHECKED set: row
 * ascends from 0 to m and every entry of col is below n. A mapped container does not have it:
 * opening checks the header alone, so that a graph of any size opens immediately, and row and col
 * of a damaged or hostile file may hold any number. Before using them as indices, call
 * gtu_graph_check() or bound every access (the units bound theirs; gtu_graph_edges() clamps rows).
 * The check does not cover a file that another process modifies while it is mapped.
 */
struct gtu_graph {
	uint64_t n;			/* vertices */
	uint64_t m;			/* entries of col: directed edges as stored */
	uint64_t stored;		/* edges in the input; an undirected edge stored once counts 1 */
	uint32_t flags;			/* GTU_GRAPH_* */
	uint32_t edge_bytes;		/* 4 or 8: bytes of one entry of col */
	uint32_t weight_type;		/* enum gtu_weight_type */
	uint32_t reserved;
	const uint64_t *row;		/* n + 1 */
	const void *col;		/* m entries of edge_bytes */
	const void *weight;		/* m weights, or NULL */
	const uint64_t *ids;		/* n input ids, ascending; NULL: id = v + id_base */
	uint64_t id_base;
	char name[128];			/* file name without directory, or the generator's parameters */
	struct gtu_graph_backing *backing; /* private: ownership of the memory */
};

static inline uint64_t gtu_graph_target(const struct gtu_graph *g, uint64_t e)
{
	return g->edge_bytes == 8 ? ((const uint64_t *)g->col)[e] : ((const uint32_t *)g->col)[e];
}

/* The edges of @v as [*first, *end), clamped to [0, m]: safe on an unchecked graph. */
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

/* Bytes per weight of a type: 0, 4, 4, 8. */
size_t gtu_weight_bytes(uint32_t weight_type);

/* The vertex with input id @id. GTU_ERR_USAGE, with the valid ids, if there is none. */
int gtu_graph_vertex(const struct gtu_graph *g, uint64_t id, uint64_t *v, struct gtu_error *err);

/*
 * The name of vertex @v in a graph that was read with names, of *bytes bytes and without a zero at its end;
 * NULL if there are no names or no such vertex. Valid until the graph is closed.
 */
const char *gtu_graph_vertex_name(const struct gtu_graph *g, uint64_t v, size_t *bytes);

/* Find the vertex named @name. Takes time in proportion to the graph's vertices. Errors: GTU_ERR_USAGE. */
int gtu_graph_vertex_by_name(const struct gtu_graph *g, const char *name, uint64_t *v, struct gtu_error *err);

enum gtu_direction { GTU_AS_STORED = 0, GTU_DIRECTED = 1, GTU_UNDIRECTED = 2 };

/*
 * Reader options. Zero is the default of every field.
 *
 * GTU_UNDIRECTED on a directed file enters each edge in both directions and merges duplicates, so
 * that a file that already stores both directions does not double. Duplicates in an undirected file
 * are kept. GTU_DIRECTED takes each entry once, as written. A native container is mapped unchanged;
 * options that would change it make a modified copy in memory.
 */
struct gtu_read_options {
	uint32_t direction;		/* enum gtu_direction; AS_STORED: as the file declares */
	uint32_t edge_bytes;		/* 4, 8, or 0: 4 if all vertices fit */
	int32_t weight_column;		/* 1: first column after the two ids; 0: the format's default; -1: no weights */
	uint32_t simplify;		/* non-zero: drop self-loops and duplicate edges (keeping the first weight) */
	uint32_t names;			/* non-zero: the ids of an edge list are any words, kept as names */
	uint32_t reserved[3];		/* zero */
};

/*
 * Open the graph at @path. The content and the name determine the format. A native container is
 * mapped; other formats are read into memory. xz, gzip and zstd files are decompressed. An LDBC
 * graph is opened by its .e file. Errors: GTU_ERR_INPUT with file, line (or byte) and reason;
 * GTU_ERR_FAIL for I/O; GTU_ERR_INTERRUPTED. *out is NULL on error.
 */
int gtu_graph_open(const char *path, const struct gtu_read_options *opt,
		   const struct gtu_progress *progress, struct gtu_graph **out,
		   struct gtu_error *err);

/*
 * Check that row and col are in bounds, that ids ascend and, for a container, that its checksums
 * match. Reads all arrays: O(n + m). Sets GTU_GRAPH_CHECKED; returns at once if it is set. Errors:
 * GTU_ERR_INPUT with the first invalid entry; GTU_ERR_INTERRUPTED.
 */
int gtu_graph_check(struct gtu_graph *g, const struct gtu_progress *progress,
		    struct gtu_error *err);

/* Write a native container to a temporary file beside @path and rename it when it is complete. */
int gtu_graph_save(const struct gtu_graph *g, const char *path,
		   const struct gtu_progress *progress, struct gtu_error *err);

/*
 * gtu_graph_save() with compressed adjacency lists. The file is smaller; each gtu_graph_open()
 * decodes it into memory. GTU_ERR_UNSUPPORTED: the graph has more than 2^32 vertices.
 */
int gtu_graph_save_compressed(const struct gtu_graph *g, const char *path, const struct gtu_progress *progress,
			      struct gtu_error *err);

#define GTU_WRITE_ADAPT 0x1u	/* drop or convert what the format cannot represent */

/*
 * Write @g in the format given by the suffix of @path: .gtu (gtu_graph_save()), .mtx (Matrix
 * Market), .txt (SNAP), .gr (DIMACS), .graph (METIS), .e (LDBC, with .v and .properties files),
 * .bel (EMOGI: .bel.col, .bel.dst, .bel.val), .sg and .wsg (GAP). Reading the file back gives the
 * same vertices, ids, edges, directions and numeric weights; adjacency lists of an undirected graph
 * come back sorted. All files appear only when they are complete.
 *
 * GTU_ERR_UNSUPPORTED: the format cannot represent the graph; the error names the reason and the
 * remedy. With GTU_WRITE_ADAPT most such cases are converted; @changed (may be NULL) then lists the
 * changes, or is "". GTU_ERR_USAGE: unknown format, or @path exists and is not a regular file;
 * GTU_ERR_INPUT: the graph is damaged; GTU_ERR_FAIL: I/O; GTU_ERR_NOMEM; GTU_ERR_INTERRUPTED.
 */
int gtu_graph_write(const struct gtu_graph *g, const char *path, uint32_t flags, char changed[GTU_ERROR_TEXT],
		    const struct gtu_progress *progress, struct gtu_error *err);
/* Whether @path has one of these suffixes. */
bool gtu_graph_can_write(const char *path);

/* @g may be NULL. */
void gtu_graph_close(struct gtu_graph *g);

/*
 * Build a graph from @m edges (src[i], dst[i]) over vertices 0..n-1 with optional weights. The
 * arrays are copied. GTU_UNDIRECTED enters each edge in both directions (a self-loop once).
 */
int gtu_graph_from_edges(uint64_t n, uint64_t m, const uint64_t *src, const uint64_t *dst,
			 uint32_t weight_type, const void *weight,
			 const struct gtu_read_options *opt, struct gtu_graph **out,
			 struct gtu_error *err);

/*
 * Make a graph over the caller's arrays without a copy. The caller keeps ownership; the arrays must
 * stay valid until gtu_graph_close(). These members of @arrays are used: n, m, edge_bytes,
 * weight_type, row, col, weight, ids, id_base, name, GTU_GRAPH_DIRECTED in `flags`, and `stored`
 * (0: m). Every array must be aligned to 8 bytes, as regions require. Only row[0] and row[n] are
 * checked: call gtu_graph_check() for the rest, and again after changes. GTU_ERR_USAGE: invalid
 * sizes, types or alignments.
 */
int gtu_graph_wrap(const struct gtu_graph *arrays, struct gtu_graph **out, struct gtu_error *err);

/* A new graph with every edge reversed (the CSC of the input), weights included. */
int gtu_graph_transpose(const struct gtu_graph *g, const struct gtu_progress *progress,
			struct gtu_graph **out, struct gtu_error *err);

/*
 * A new graph with each edge in both directions, self-loops once, duplicates merged (first weight
 * kept).
 */
int gtu_graph_symmetrize(const struct gtu_graph *g, const struct gtu_progress *progress,
			 struct gtu_graph **out, struct gtu_error *err);

enum gtu_generator {
	GTU_GEN_KRONECKER,	/* Graph500: scale, edge factor; a .57 b .19 c .19, vertices permuted */
	GTU_GEN_UNIFORM,	/* n vertices, edge factor, ends drawn uniformly */
	GTU_GEN_POWERLAW,	/* n vertices, mean degree, exponent (Chung-Lu) */
	GTU_GEN_DELAUNAY,	/* triangulation of n random points in the unit square */
	GTU_GEN_PLANAR,		/* connected planar mesh, n vertices, mean degree 2..6 */
	GTU_GEN_ROAD,		/* connected road-like grid: mean degree about 2.6, weights are lengths */
	GTU_GEN_FEM3D,		/* 3-D finite elements: 27-point stencil, several unknowns per node */
	GTU_GENERATORS,
};

/* The same options and seed give the same graph, byte for byte, with any number of threads. */
struct gtu_generate_options {
	uint32_t kind;			/* enum gtu_generator */
	uint32_t scale;			/* KRONECKER: log2 of n */
	uint64_t n;			/* the others: vertices (rounded up to a full grid where needed) */
	double degree;			/* KRONECKER, UNIFORM: edge factor; others: mean degree; 0: default */
	double exponent;		/* POWERLAW: above 2; 0: 2.1 */
	uint64_t seed;
	uint32_t edge_bytes;		/* 0, 4, 8 */
	uint32_t random_weights;	/* non-zero: u32 weights 1..random_weights */
	uint32_t directed;		/* KRONECKER, UNIFORM, POWERLAW: keep one direction */
	uint32_t simplify;		/* non-zero: drop self-loops and duplicate edges */
	uint32_t unknowns;		/* FEM3D: vertices per node; 0: 3, or as the degree requires */
	uint32_t threads;		/* 0: one per core */
	uint32_t reserved[2];		/* zero */
};

int gtu_graph_generate(const struct gtu_generate_options *opt, const struct gtu_progress *progress,
		       struct gtu_graph **out, struct gtu_error *err);

/* Names as in `gtu generate`: "kronecker", ...; NULL for values out of range. */
const char *gtu_generator_name(uint32_t kind);

/* Degrees and components, for `gtu stat`. */
struct gtu_graph_stat {
	uint64_t n, m, stored;
	uint64_t self_loops, duplicates;	/* among the m entries */
	uint64_t isolated;			/* neither in- nor out-edges */
	uint64_t min_degree, max_degree;	/* out-degrees */
	uint64_t max_vertex;			/* lowest vertex with the maximum out-degree */
	double mean_degree;
	uint64_t components;			/* weakly connected */
	uint64_t largest_component;		/* its vertices */
	uint64_t histogram[65];			/* [0]: degree 0; [k]: 2^(k-1) <= degree < 2^k */
};
int gtu_graph_measure(const struct gtu_graph *g, const struct gtu_progress *progress,
		      struct gtu_graph_stat *stat, struct gtu_error *err);

#ifdef __cplusplus
}
#endif
#endif
