/* SPDX-License-Identifier: MIT */
/* The runs of emogi.txt's experiments: found out first, then made side by side, then put into figures. */
#ifndef GTU_LAB_EMOGI_RUNS_H
#define GTU_LAB_EMOGI_RUNS_H

#include "firmware-model/lab/kernels/emogi.h"
#include "lab_run.h"

#define EMOGI_SOURCES 2u
#define EMOGI_ITERATIONS 3u		/* of PageRank: each reads the same */

/* How edges are read: over the link in three ways, or out of unified memory by the kernel "merged". */
enum emogi_way { WAY_NAIVE, WAY_MERGED, WAY_ALIGNED, WAY_UVM, WAYS };
enum emogi_width { WIDTH_4, WIDTH_8, WIDTHS };
/* The machine: as it is, with PCIe 4.0, and with a driver of unified memory that takes 20 and 50 us for a batch. */
enum emogi_on { ON_PCIE3, ON_PCIE4, ON_FAULT20, ON_FAULT50, ONS };

/* A graph as the runs take it: either width, weights, sources, and what the reference says. */
struct emogi_subject {
	struct gtu_graph wide[WIDTHS];
	void *own[WIDTHS];
	uint32_t *weight;
	uint32_t source[EMOGI_SOURCES];
	uint64_t memory;		/* bytes of the device for unified memory */
	uint64_t *whole[LAB_EMOGI_ALGORITHMS][EMOGI_SOURCES]; /* the reference's */
	bool wanted[LAB_EMOGI_ALGORITHMS][WAYS][WIDTHS][ONS];
	struct lab_emogi_counts counts[LAB_EMOGI_ALGORITHMS][WAYS][WIDTHS][ONS][EMOGI_SOURCES];
};

struct emogi {
	struct lab_run *r;
	struct lab_machine m[ONS];
	struct emogi_subject s[LAB_RUN_GRAPHS];
	struct lab_emogi_counts array[WAYS];
	bool array_wanted;
	struct emogi_job *job;
};

/* Weights of 8 to 72 as in the paper, both widths, sources; the device's memory as a part of the edge list. */
int emogi_subject_of(struct emogi *e, unsigned graph, struct gtu_error *err);
/* Every run that is wanted, checked against the reference. */
int emogi_run_all(struct emogi *e, struct gtu_error *err);
void emogi_free(struct emogi *e);
/* Counts of a run, summed over its sources; of requests outstanding, the most of any. */
struct lab_emogi_counts emogi_counts(const struct emogi *e, unsigned graph, unsigned algorithm, unsigned way, unsigned width,
				     unsigned on);
/* What the monitor @seen: requests that read host memory, and how many of them had so many sectors. */
static inline uint64_t emogi_requests(const uint64_t *seen)
{
	return seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 1)] + seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 2)] +
	       seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 3)] + seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 4)];
}
static inline double emogi_share(const uint64_t *seen, unsigned sectors)
{
	return (double)seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, sectors)] / (double)emogi_requests(seen);
}
/* BFS and SSSP have a source. */
static inline unsigned emogi_sources(unsigned algorithm)
{
	return algorithm == LAB_EMOGI_BFS || algorithm == LAB_EMOGI_SSSP ? EMOGI_SOURCES : 1;
}

#endif
