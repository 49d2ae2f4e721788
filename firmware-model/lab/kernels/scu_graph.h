/* SPDX-License-Identifier: MIT */
/*
 * BFS, SSSP and PageRank of the SCU paper (sections 2 to 4): expansion and contraction, with the
 * compaction on the GPU or on the SCU. The GPU's kernels are those of tools/baselines/scu.cu:
 * Merrill's two-phase BFS with block, warp and scan gathering, the near-far SSSP of Davidson et al.,
 * PageRank.
 *
 * One difference from the paper: the SCU replicates the source's cost, and the GPU adds the weight
 * (algorithm 2: the unit adds).
 */
#ifndef GTU_LAB_SCU_GRAPH_H
#define GTU_LAB_SCU_GRAPH_H

#include "iru_graph.h"
#include "scu_kernels_gpu.h"
#include "firmware-model/lab/units/scu_unit.h"

enum lab_scu_variant {
	LAB_SCU_MIXED, /* GPU only, compaction inside the other kernels */
	LAB_SCU_SPLIT, /* GPU only, compaction in separate kernels, to measure its share */
	LAB_SCU_BASIC,			/* compaction by the SCU */
	LAB_SCU_FILTERED, /* and filtering: BFS by ID, SSSP by best cost (algorithms 4, 5) */
	LAB_SCU_GROUPED,		/* and grouping: SSSP; of PageRank grouping alone */
	LAB_SCU_VARIANTS
};
extern const char *const lab_scu_variant_name[LAB_SCU_VARIANTS];
/*
 * Grouping of BFS and PageRank are ablations, which the paper advises against (sections 4.4, 4.6).
 * PageRank cannot be filtered: each duplicate is a contribution to a rank.
 */
bool lab_scu_has_variant(enum lab_iru_algorithm algorithm, enum lab_scu_variant variant);

struct lab_scu_config {
	enum lab_iru_algorithm algorithm;
	enum lab_scu_variant variant;
	const struct gtu_graph *graph;	/* 4-byte edges; u32 weights for SSSP */
	uint32_t source, iterations;	/* BFS, SSSP; PR */
	struct scu_pipe_shape shape;
	struct lab_unit_path path;
	/* of the tables, as in table 2: without the state, tags and counts that our layout adds to a line */
	uint32_t bfs_bytes, sssp_bytes, group_bytes;
	uint32_t design_power;		/* of the GPU in watts, for an alternative of the energy rows */
	uint32_t group_max;		/* elements per group: 8 in the paper, at most 32 */
	/*
	 * 0: a filter's set holds its state, as table 2's bytes have no other place. 1: a probe also
	 * accesses the state byte of the device's layout.
	 */
	uint32_t state_bytes;
	/*
	 * BFS. 0: the contraction's "best-effort" mask and label (section 2.1.2) let a vertex pass twice, and the SCU
	 * filters the new frontier, too (algorithm 4). 1: an atomic minimum finds every duplicate.
	 */
	uint32_t exact;
	/*
	 * 0: an element takes a slot, whether or not it is excluded ("accesses sparse data sequentially", section 3.1).
	 * 1: only "the addresses of the data to be compacted" (section 3.2.1) are generated, and positions of groups given; a
	 * cycle passes 32 excluded ones.
	 */
	uint32_t skips_excluded;
	uint32_t lane_buffers;		/* 1: each lane of shape.width has the shape's buffers and requests in flight; 0: all share them */
	uint32_t l2_whole_lines;	/* 1: l2.sectored = no, whatever the machine has */
	uint32_t instructions[SCU_REGION_COUNT];
};

struct lab_scu_result {
	struct lab_stats gpu, scu;	/* while kernels ran; while the SCU ran */
	struct lab_stats compacting;	/* of gpu: while compaction kernels ran */
	struct lab_scu_counts unit;
	/* cycles of processing and of compaction kernels, without launches (SCU: scu.cycles) */
	uint64_t processing, compaction;
	uint64_t elements; /* nodes and edges given to processing kernels; not for MIXED */
};

/*
 * Run to completion on @m, from cold caches. @result as for lab_iru_run(). GTU_ERR_USAGE:
 * unsuitable graph, or no such configuration of the algorithm.
 */
int lab_scu_graph_run(const struct lab_machine *m, const struct lab_scu_config *config, const struct gtu_progress *progress,
		      uint32_t *result, struct lab_scu_result *out, struct gtu_error *err);

#endif
