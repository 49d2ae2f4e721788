/* SPDX-License-Identifier: MIT */
/* Interface of the generators, one per file; table.c lists them. */
#ifndef GTU_GENERATE_H
#define GTU_GENERATE_H

#include "gtu/splitmix64.h"
#include "libruntime/graph/graph_internal.h"

#define GTU_BLOCK 65536ull
typedef void (*gtu_fill_pairs)(const void *arg, struct gtu_edge_list *l, uint64_t block, uint64_t first,
			       uint64_t end);

/* How a generator draws blocks. */
struct gtu_pairs {
	const struct gtu_generate_options *opt;	/* with the defaults */
	uint64_t m;
	gtu_fill_pairs fill;
	double inverse, low, span;	/* of the generator */
};

struct gtu_generator_entry {
	const char *name;
	uint64_t max_n;
	double default_degree, min_degree, max_degree;
	/*
	 * Fill @raw, which is empty, undirected and has declared vertices, with vertices and edges.
	 * @opt includes the defaults. On error raw->edges may hold anything. NULL: `pairs` says all.
	 */
	int (*generate)(const struct gtu_generate_options *opt, const struct gtu_progress *progress,
			struct gtu_raw_graph *raw, struct gtu_error *err);
	/* NULL, or: edges are drawn in blocks that do not depend on each other, by p->fill(p, ...). */
	void (*pairs)(struct gtu_pairs *p);
};

/* GTU_GEN_<KIND> of gtu/graph.h, and the entry's name. */
#define GTU_GENERATOR_ROWS(G) \
	G(KRONECKER, kronecker) G(UNIFORM, uniform) G(POWERLAW, powerlaw) G(DELAUNAY, delaunay) G(PLANAR, planar) \
	G(ROAD, road) \
	G(FEM3D, fem3d)
#define GTU_GENERATOR(KIND, kind) extern const struct gtu_generator_entry gtu_generator_##kind;
GTU_GENERATOR_ROWS(GTU_GENERATOR)

/* Initial state of stream @stream of @seed: each block of work uses a stream of its own. */
static inline uint64_t gtu_rand_stream(uint64_t seed, uint64_t stream)
{
	return gtu_splitmix64_mix(gtu_splitmix64_hash(seed) ^ (stream * 0xD1342543DE82EF95ull + 1));
}

/* Uniform in 0..n-1 (n > 0), with a bias below n / 2^64. */
static inline uint64_t gtu_rand_below(uint64_t *state, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)gtu_splitmix64_next(state) * n) >> 64);
}

/* Uniform in (0, 1]. */
static inline double gtu_rand_unit(uint64_t *state)
{
	return (double)((gtu_splitmix64_next(state) >> 11) + 1) * 0x1p-53;
}

/* A pseudorandom permutation of 0..n-1 without a table. */
uint64_t gtu_permute(uint64_t x, uint64_t n, uint64_t seed);

/*
 * Reserve @m edges with vertices below @n, call @fill for every block of GTU_BLOCK edges from
 * @threads threads (0: one per core), and set the list's length. @fill draws the edges [first, end)
 * and stores them at these indices; only @block decides which edges they are.
 */
int gtu_draw_pairs(struct gtu_edge_list *l, uint64_t n, uint64_t m, gtu_fill_pairs fill,
		   const void *arg, uint32_t threads, const struct gtu_progress *progress,
		   struct gtu_error *err);

/*
 * Remove random edges from a connected graph of @n vertices until @m are left, keeping it connected
 * (m >= n - 1). Does nothing if it has at most @m. Permutes the list.
 */
int gtu_sparsify(struct gtu_edge_list *l, uint64_t n, uint64_t m, uint64_t seed,
		   const struct gtu_progress *progress, struct gtu_error *err);

/*
 * Random points and their Delaunay triangulation (delaunay.c), on a lattice of 2^28 x 2^28.
 * gtu_random_points() draws @n distinct points uniformly into @xy[2n], numbered along a Hilbert
 * curve, since meshes in practice are numbered by locality. gtu_triangulate() appends each edge of
 * @n distinct points once. gtu_delaunay() does both.
 */
int gtu_random_points(uint64_t n, uint64_t seed, uint32_t *xy, struct gtu_error *err);
int gtu_triangulate(uint64_t n, const uint32_t *xy, const struct gtu_progress *progress,
		    struct gtu_edge_list *l, struct gtu_error *err);
int gtu_delaunay(uint64_t n, uint64_t seed, const struct gtu_progress *progress,
		 struct gtu_edge_list *l, struct gtu_error *err);

#endif
