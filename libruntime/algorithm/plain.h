/* SPDX-License-Identifier: MIT */
/*
 * The algorithms without a unit, on all CPUs: a team of threads for one run, and the functions that
 * gtu_bfs() and others call for GTU_WITH_NONE. Loops are compiled once per width of an edge entry.
 */
#ifndef GTU_ALGORITHM_PLAIN_H
#define GTU_ALGORITHM_PLAIN_H

#include "libruntime/support/distance.h"
#include "shares.h"

#define GTU_PLAIN_ARRAYS 16

/* a function that is compiled once per width */
#define GTU_PER_WIDTH static inline __attribute__((always_inline))

struct gtu_plain {
	struct gtu_alg *a;
	struct gtu_team team;
	struct gtu_alg_shares shares;	/* progress */
	const struct gtu_graph *g;	/* of the current loop */
	atomic_uint_fast64_t bad_row, bad_edge;	/* lowest invalid one found by a thread; GTU_NO_VERTEX */
	void *array[GTU_PLAIN_ARRAYS];
	unsigned arrays;
};

/* Start the threads. Always call gtu_plain_end() afterwards; it frees everything and returns @rc. */
void gtu_plain_begin(struct gtu_plain *p, struct gtu_alg *a);
int gtu_plain_end(struct gtu_plain *p, int rc);

/* *array = @count elements of @width bytes, undefined; freed by gtu_plain_end(). */
int gtu_plain_alloc(struct gtu_plain *p, uint64_t count, uint64_t width, void *array);

/*
 * Run a loop over [0, @count) with shares of at least @least elements, a multiple of which each
 * share is. Reports a damaged row or edge of @g.
 */
int gtu_plain_loop(struct gtu_plain *p, const struct gtu_graph *g, uint64_t least, gtu_team_fn *fn, void *arg,
		   uint64_t count);

/* Whether no other thread writes: stores need no atomic operations. */
static inline bool gtu_plain_alone(const struct gtu_plain *p)
{
	return p->team.threads == 1;
}

/* Record a damaged row or edge for gtu_plain_loop(); returns GTU_ERR_INPUT. */
int gtu_plain_bad(atomic_uint_fast64_t *lowest, uint64_t i);

/* As gtu_alg_edges(), for threads. */
static inline int gtu_plain_edges(struct gtu_plain *p, const struct gtu_graph *g, uint64_t v, uint64_t *first,
				  uint64_t *end)
{
	*first = g->row[v];
	*end = g->row[v + 1];
	return gtu_likely(*first <= *end && *end <= g->m) ? 0 : gtu_plain_bad(&p->bad_row, v);
}

/* Fill @count elements of @width bytes by @value. */
int gtu_plain_fill(struct gtu_plain *p, void *array, uint32_t width, uint64_t count, uint64_t value);

/* ---- Breadth-first search, shared by gtu_bfs() and gtu_betweenness() ------------------------------- */

struct gtu_plain_bfs {
	struct gtu_plain *p;
	const struct gtu_graph *in;	/* graph to pull along: the transpose, or the graph; NULL: not yet known */
	struct gtu_graph *transposed;
	uint32_t direction;		/* enum gtu_push_pull */
	bool list;			/* order shall have every level, also those found by pulling */
	uint64_t *level;		/* the caller's; GTU_UNREACHED; or NULL */
	uint64_t next_level;
	atomic_uint_fast64_t *visited;	/* bits */
	uint64_t *now, *next;		/* bits of the frontier, while pulling */
	void *order;			/* vertices in the order of their discovery, id_width bytes */
	uint64_t first, end;		/* the frontier's part of order */
	atomic_uint_fast64_t tail;	/* vertices in order */
	atomic_uint_fast64_t found, edges; /* by this level: vertices, and edges that leave them */
	uint64_t frontier, unreached_edges;
	bool pulling, pulled, listed;	/* current level pulls; pulling has ended; order has the frontier */
};

int gtu_plain_bfs_begin(struct gtu_plain_bfs *s, struct gtu_plain *p, uint64_t *level, uint32_t direction,
			bool list);
/* Set s->in, which pulling needs. */
int gtu_plain_bfs_transpose(struct gtu_plain_bfs *s);
/* Clear the levels and start at @source. */
int gtu_plain_bfs_start(struct gtu_plain_bfs *s, uint64_t source);
/* Find the next level from the frontier. */
int gtu_plain_bfs_level(struct gtu_plain_bfs *s);
void gtu_plain_bfs_end(struct gtu_plain_bfs *s);

/* ---- The algorithms; arguments as in gtu.h ---------------------------------------------------------- */

int gtu_plain_search(struct gtu_alg *a, uint64_t *level);
int gtu_plain_components(struct gtu_alg *a, uint64_t *component);
struct gtu_plain_paths {
	enum distance_type type;
	double delta;			/* width of a bucket */
	uint64_t expand_limit;		/* DISTANCE_U32: a greater distance plus a weight could overflow */
};
/* *too_narrow: a path may need more than 32 bits; then the result is undefined. */
int gtu_plain_sssp(struct gtu_alg *a, const struct gtu_plain_paths *s, double *distance, bool *too_narrow);
int gtu_plain_betweenness(struct gtu_alg *a, double *score);

struct gtu_plain_ranks {
	double damping, epsilon;
	uint32_t iterations;
};
int gtu_plain_pagerank(struct gtu_alg *a, const struct gtu_plain_ranks *r, double *rank);

#endif
