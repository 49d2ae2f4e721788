/* SPDX-License-Identifier: MIT */
/*
 * The six benchmarks of graphpeg.txt, section 4.1, over one advance operator: it takes the edges of a list of
 * vertices through an algorithm's function of an edge, and lists what that pushes. How vertices and edges
 * get to threads is the strategy's; algorithms know nothing of it.
 *
 *	simple		a thread a vertex, its edges in a loop (figure 1)
 *	balanced	Gunrock's load-balanced partitioning: degrees, their scan, a sorted search of where blocks begin;
 *			then equal shares of edges a block, each finding its vertex by a binary search, an output slot
 *			an edge, and a filter that compacts them. Below 4096 edges no search: blocks take vertices
 *	cooperative	a block takes 256 vertices and goes through all their edges together
 *	hybrid		SEP-Graph's: cooperative with push and pull for scale-free graphs, simple for others
 *	hwwl		simple, by hardware worklists (hwwl_unit.h)
 *	peg		edges are popped (peg_unit.h); push and pull as hybrid
 *
 * The graph is undirected: every edge is stored both ways, with one weight, so that one CSR serves push and pull.
 *
 *	bfs	level by atomic minimum (figure 4)
 *	sssp	near and far lists (Davidson et al.), the step 32 mean weights over the mean degree; push only
 *	bc	Brandes from one source: paths forward, then dependencies level by level backward
 *	stcon	from two vertices at once, until one side meets what the other has
 *	gc	Jones and Plassmann: a vertex whose number none of its uncoloured neighbours' exceeds takes its round as
 *		colour; the others are pushed. The first list is all vertices
 *	kc	degrees are counted over the edges of all vertices, then vertices peeled as these fall (Dasari et al.)
 *
 * Pull is taken while the frontier has more edges than a fourteenth of those not yet looked at (Beamer et al.); the
 * paper names SEP-Graph's rule without giving it. Those edges are counted for free. Pull looks at all edges of
 * its candidates: none of the strategies stops at the first that serves.
 */
#ifndef GTU_LAB_PEG_GRAPH_H
#define GTU_LAB_PEG_GRAPH_H

#include "gtu/graph.h"
#include "firmware-model/lab/units/hwwl_unit.h"
#include "firmware-model/lab/units/peg_unit.h"

enum lab_pg_algorithm { LAB_PG_BFS, LAB_PG_SSSP, LAB_PG_BC, LAB_PG_STCON, LAB_PG_GC, LAB_PG_KC, LAB_PG_ALGORITHMS };
enum lab_pg_strategy { LAB_PG_SIMPLE, LAB_PG_BALANCED, LAB_PG_COOPERATIVE, LAB_PG_HYBRID, LAB_PG_HWWL, LAB_PG_PEG,
		       LAB_PG_STRATEGIES };

/* Blocks of 256 threads an SM that pop edges: "only a few thread blocks running on an SM at a time" (section 3.2). */
#define LAB_PG_BLOCKS 4u

/* A scale-free graph, for hybrid and peg: its greatest degree is so many times the mean. */
#define LAB_PG_SKEWED 8u

struct lab_pg_how {
	enum lab_pg_algorithm algorithm;
	enum lab_pg_strategy strategy;
	const struct gtu_graph *graph;	/* undirected, 4 bytes an edge; u32 weights for SSSP, the same both ways */
	uint32_t source, target;	/* target: STCON */
	uint64_t edges;			/* no iteration begins when so many have been looked at; 0: to the end */
	bool push_only;			/* no pull */
	bool scale_free;		/* hybrid and peg take the graph for that, whatever its degrees */
	struct lab_peg_build peg;	/* LAB_PG_PEG */
	uint32_t peg_blocks;		/* blocks of 256 threads an SM that pop from it */
	uint32_t worklist_bytes;	/* LAB_PG_HWWL */
};

struct lab_pg_result {
	/* n words: level (BFS, BC), distance, owner (1 source's, 2 target's), colour, core; ~0 or 0 (STCON): not reached */
	uint32_t *value;
	float *score;			/* BC: dependency; n; may be NULL */
	bool whole;			/* not cut short by how->edges */
	bool met;			/* STCON */
	uint64_t edges, iterations;	/* looked at; advances */
	uint64_t cycles, balancing;	/* in all; in Gunrock's kernels that only balance */
	uint64_t pulled;		/* advances that pulled */
	struct lab_stats stats;
	struct lab_peg_counts peg;
	struct lab_hwwl_counts hwwl;
};

const char *lab_pg_algorithm_name(unsigned algorithm);
const char *lab_pg_strategy_name(unsigned strategy);
/*
 * Run on @m from cold caches. @result->value (and score) are the caller's room. GTU_ERR_USAGE where the graph does
 * not fit, errors of lab_run().
 */
int lab_pg_run(const struct lab_machine *m, const struct lab_pg_how *how, const struct gtu_progress *progress,
	       struct lab_pg_result *result, struct gtu_error *err);

#endif
