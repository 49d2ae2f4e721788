/* SPDX-License-Identifier: MIT */
/*
 * BFS, SSSP and PageRank of scu.txt, sections 2 to 4: expansion and contraction, of which the compaction is done by
 * whom the way says. The processing kernels (preparation, contraction, rank update) are the same in all ways but
 * MIXED. Simplified of the publications that the paper starts from: a warp expands 32 vertices, 32 edges at a
 * time; the GPU's own compaction reserves its place by an atomic addition a warp.
 *
 * Three places are ours. The SCU's replication puts out the cost of the source, and the GPU adds it to the weight
 * (algorithm 2 has the unit add). BFS's contraction is exact by an atomic minimum, as iru_graph.c has it: without one, a
 * frontier of which all is in flight at once lets so many vertices pass twice that the run does not end. The SCU's
 * filter in the contraction (algorithm 4) then has nothing to find, and is left out. SSSP's contraction lists a vertex
 * once a round by an atomic maximum (the paper: a look-up table).
 */
#ifndef GTU_LAB_SCU_GRAPH_H
#define GTU_LAB_SCU_GRAPH_H

#include "iru_graph.h"
#include "firmware-model/lab/units/scu_unit.h"

enum lab_scu_way {
	LAB_SCU_MIXED,			/* the GPU alone, compaction within the other kernels (iru_graph.c) */
	LAB_SCU_SPLIT,			/* the GPU alone, compaction in kernels of its own: for its share of the time */
	LAB_SCU_BASIC,			/* compaction by the SCU */
	LAB_SCU_FILTERED,		/* and filtering: BFS by id, SSSP by best cost (algorithms 4, 5) */
	LAB_SCU_GROUPED,		/* and grouping: SSSP */
	LAB_SCU_WAYS
};
const char *lab_scu_way_name(unsigned way);
/* PageRank uses neither filtering nor grouping, BFS no grouping (sections 4.4, 4.6). */
bool lab_scu_way_of(enum lab_iru_algorithm algorithm, enum lab_scu_way way);

struct lab_scu_how {
	enum lab_iru_algorithm algorithm;
	enum lab_scu_way way;
	const struct gtu_graph *graph;	/* 4 bytes an edge; u32 weights for SSSP */
	uint32_t source, iterations;	/* BFS, SSSP; PR */
	struct scu_pipe_shape shape;
	uint32_t bfs_lines, sssp_lines, group_lines; /* of the tables: powers of two, 16 or more */
};

struct lab_scu_result {
	struct lab_stats gpu, scu;	/* while kernels ran; while the SCU did */
	struct lab_scu_counts unit;
	/* cycles without launches: kernels that process, kernels that compact; the SCU's are scu.cycles */
	uint64_t processing, compaction;
	uint64_t elements;		/* nodes and edges that processing kernels were given; not of MIXED */
};

/*
 * Run to the end on @m, from cold caches. @result as lab_iru_run() has it. GTU_ERR_USAGE where the graph does not fit or the
 * algorithm has no such way.
 */
int lab_scu_graph_run(const struct lab_machine *m, const struct lab_scu_how *how, const struct gtu_progress *progress,
		      uint32_t *result, struct lab_scu_result *out, struct gtu_error *err);

#endif
