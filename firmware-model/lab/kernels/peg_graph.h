/* SPDX-License-Identifier: MIT */
/*
 * The six benchmarks of GraphPEG, section 4.1, over one advance operator. It applies an algorithm's
 * edge function to all edges of a list of vertices and lists the vertices pushed. The strategy maps
 * vertices and edges to threads; algorithms do not depend on the strategy.
 *
 *	simple		a thread per vertex, its edges in a loop (figure 1)
 *	balanced	Gunrock's load-balanced partitioning: degrees, their scan, a sorted
 *			search of the blocks' first vertices; then equal shares of edges per
 *			block, a binary search per edge, an output slot per edge, and a
 *			compaction. Below light_edges edges: no search, blocks take vertices
 *	cooperative	a block takes 256 vertices and processes all their edges together
 *	hybrid		SEP-Graph's: cooperative with push and pull for scale-free graphs,
 *			else simple
 *	hwwl		simple, with hardware worklists (hwwl_unit.h)
 *	peg		edges are popped (peg_unit.h); push and pull as in hybrid
 *
 * The graph is undirected: every edge is stored both ways with one weight, so one CSR serves push
 * and pull.
 *
 *	bfs	level by atomic minimum (figure 4)
 *	sssp	near and far lists (Davidson et al.) with lab_near_far_step(); push only
 *	bc	Brandes from one source: paths forward, then dependencies backward by level
 *	stcon	from two vertices at once, until the searches meet
 *	gc	Jones and Plassmann: a vertex with a greater random number (an array, as in Gunrock's) than
 *		all uncoloured neighbours takes its round as colour; the others are pushed. The first
 *		list is all vertices
 *	kc	degrees are counted over all edges, then vertices are peeled (Dasari et al.)
 *
 * SEP-Graph's rule (hybrid_policy.h of its published code): a step pulls if the frontier
 * has more than 1/8 of the edges that no push has visited, or after a pull more than 1/5 of the
 * vertices. Counting those edges takes no simulated time.
 * Pull visits all edges of its candidates; no strategy stops at the first success.
 */
#ifndef GTU_LAB_PEG_GRAPH_H
#define GTU_LAB_PEG_GRAPH_H

#include "gtu/graph.h"
#include "firmware-model/lab/units/hwwl_unit.h"
#include "firmware-model/lab/units/peg_unit.h"

enum lab_pg_algorithm { LAB_PG_BFS, LAB_PG_SSSP, LAB_PG_BC, LAB_PG_STCON, LAB_PG_GC, LAB_PG_KC, LAB_PG_ALGORITHMS };
enum lab_pg_strategy { LAB_PG_SIMPLE, LAB_PG_BALANCED, LAB_PG_COOPERATIVE, LAB_PG_HYBRID, LAB_PG_HWWL, LAB_PG_PEG,
		       LAB_PG_STRATEGIES };

/* hybrid and peg treat a graph as scale-free if its maximum degree is this many times the mean. */
#define LAB_PG_SKEWED 8u

struct lab_pg_config {
	enum lab_pg_algorithm algorithm;
	enum lab_pg_strategy strategy;
	/* undirected, 4-byte edges; SSSP: u32 weights, equal both ways */
	const struct gtu_graph *graph;
	uint32_t source, target;	/* target: STCON */
	/* stop in the cycle in which this many edges were visited; 0: no limit */
	uint64_t edges;
	bool push_only;			/* never pull */
	struct lab_peg_build peg;	/* LAB_PG_PEG */
	uint32_t peg_blocks;		/* blocks of 256 threads per SM that pop */
	uint32_t light_edges;		/* Gunrock's: lists of fewer edges are not partitioned; 0: all are */
	uint32_t worklist_bytes;	/* LAB_PG_HWWL */
};

struct lab_pg_result {
	/* n words: level, distance, owner (1: source, 2: target), colour, core; or ~0 */
	uint32_t *value;
	float *score;			/* BC: dependency; n elements; may be NULL */
	bool whole;			/* not stopped by config->edges */
	bool inside;			/* stopped inside an advance */
	bool met;			/* STCON */
	uint64_t edges, iterations;	/* edges visited; advances */
	uint64_t cycles, balancing;	/* total; of Gunrock's balancing kernels */
	uint64_t pulled;		/* advances that pulled */
	struct lab_stats stats;
	struct lab_peg_counts peg;
	uint64_t hwwl_requests;
};

extern const char *const lab_pg_algorithm_name[LAB_PG_ALGORITHMS];
extern const char *const lab_pg_strategy_name[LAB_PG_STRATEGIES];
/*
 * Run on @m from cold caches. The caller allocates @result->value and score. GTU_ERR_USAGE:
 * unsuitable graph. Errors of lab_run().
 */
int lab_pg_run(const struct lab_machine *m, const struct lab_pg_config *config, const struct gtu_progress *progress,
	       struct lab_pg_result *result, struct gtu_error *err);

#endif
