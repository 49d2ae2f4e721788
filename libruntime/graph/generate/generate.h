/* SPDX-License-Identifier: MIT */
/* One generator, one file; table.c lists them. */
#ifndef GTU_GENERATE_H
#define GTU_GENERATE_H

#include "libruntime/graph/graph_internal.h"

struct gtu_generator_entry {
	const char *name;
	uint64_t max_n;
	double default_degree, min_degree, max_degree;
	/*
	 * Fill @raw, which is declared, undirected and empty, with vertices and pairs. @opt has the defaults
	 * filled in. On failure raw->edges may hold anything.
	 */
	int (*generate)(const struct gtu_generate_options *opt, const struct gtu_progress *progress,
			struct gtu_raw_graph *raw, struct gtu_error *err);
};

extern const struct gtu_generator_entry gtu_generator_kronecker, gtu_generator_uniform,
	gtu_generator_powerlaw, gtu_generator_delaunay, gtu_generator_planar, gtu_generator_road,
	gtu_generator_fem3d;

/* splitmix64 (Steele, Lea, Flood 2014): a state that counts, a bijective mix of it. */
static inline uint64_t gtu_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
	return z ^ (z >> 31);
}

static inline uint64_t gtu_rand(uint64_t *state)
{
	return gtu_mix(*state += 0x9E3779B97F4A7C15ull);
}

/* The state of stream @stream of @seed: every block of work draws from one of its own. */
static inline uint64_t gtu_rand_stream(uint64_t seed, uint64_t stream)
{
	return gtu_mix(gtu_mix(seed + 0x9E3779B97F4A7C15ull) ^ (stream * 0xD1342543DE82EF95ull + 1));
}

/* Uniform in 0..n-1 (n > 0), its bias below n / 2^64. */
static inline uint64_t gtu_rand_below(uint64_t *state, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)gtu_rand(state) * n) >> 64);
}

/* Uniform in (0, 1]. */
static inline double gtu_rand_unit(uint64_t *state)
{
	return (double)((gtu_rand(state) >> 11) + 1) * 0x1p-53;
}

/* A random-looking permutation of 0..n-1 that takes no memory. */
uint64_t gtu_permute(uint64_t x, uint64_t n, uint64_t seed);

/*
 * Make room for @m pairs of vertices below @n, call @fill for every block of GTU_BLOCK pairs from
 * @threads threads (0: one a core), and set the list's length. @fill draws the pairs [first, end) and
 * puts them at their places.
 */
#define GTU_BLOCK 65536ull
typedef void (*gtu_fill_pairs)(const void *arg, struct gtu_edge_list *l, uint64_t block, uint64_t first,
			       uint64_t end);
int gtu_draw_pairs(struct gtu_edge_list *l, uint64_t n, uint64_t m, gtu_fill_pairs fill,
		   const void *arg, uint32_t threads, const struct gtu_progress *progress,
		   struct gtu_error *err);

/*
 * Thin a connected graph of @n vertices to @m edges, at random, so that it stays connected (m >= n - 1; no
 * effect if it has no more than @m). Permutes the list.
 */
int gtu_thin_edges(struct gtu_edge_list *l, uint64_t n, uint64_t m, uint64_t seed,
		   const struct gtu_progress *progress, struct gtu_error *err);

/*
 * Points and their Delaunay triangulation (delaunay.c), on a lattice of 2^28 x 2^28. gtu_random_points()
 * draws @n distinct ones uniformly into @xy[2n] and numbers them along a Hilbert curve, as meshes of
 * practice are by locality; gtu_triangulate() pushes each edge between @n distinct points once;
 * gtu_delaunay() is both.
 */
int gtu_random_points(uint64_t n, uint64_t seed, uint32_t *xy, struct gtu_error *err);
int gtu_triangulate(uint64_t n, const uint32_t *xy, const struct gtu_progress *progress,
		    struct gtu_edge_list *l, struct gtu_error *err);
int gtu_delaunay(uint64_t n, uint64_t seed, const struct gtu_progress *progress,
		 struct gtu_edge_list *l, struct gtu_error *err);

#endif
