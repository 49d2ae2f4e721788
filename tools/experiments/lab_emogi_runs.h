/* SPDX-License-Identifier: MIT */
/* EMOGI's simulations: planned first, run in parallel, then turned into figures. */
#ifndef GTU_LAB_EMOGI_RUNS_H
#define GTU_LAB_EMOGI_RUNS_H

#include "firmware-model/lab/kernels/emogi.h"
#include "lab_run.h"

#define EMOGI_SOURCES 2u
#define EMOGI_ITERATIONS 3u		/* of PageRank: every iteration reads the same */

/* Edges are read over the link by one of three kernels, or by "merged" from unified memory. */
enum emogi_access { ACCESS_NAIVE, ACCESS_MERGED, ACCESS_ALIGNED, ACCESS_UVM, ACCESSES };
enum emogi_width { WIDTH_4, WIDTH_8, WIDTHS };
/* The machine: as given, with PCIe 4.0, and with 20 or 50 us per batch of page faults. */
enum emogi_setup { SETUP_PCIE3, SETUP_PCIE4, SETUP_FAULT20, SETUP_FAULT50, SETUPS };

/* A graph in both edge widths, with weights, sources, and reference results. */
struct emogi_subject {
	struct gtu_graph wide[WIDTHS];
	uint32_t *weight, *narrow_col;	/* its own arrays; NULL: the graph's */
	uint64_t *wide_col;
	uint32_t source[EMOGI_SOURCES];
	uint64_t memory;		/* device memory for unified memory, in bytes */
	uint64_t *whole[LAB_EMOGI_ALGORITHMS][EMOGI_SOURCES]; /* reference results */
	bool wanted[LAB_EMOGI_ALGORITHMS][ACCESSES][WIDTHS][SETUPS];
	struct lab_emogi_counts counts[LAB_EMOGI_ALGORITHMS][ACCESSES][WIDTHS][SETUPS][EMOGI_SOURCES];
};

struct emogi {
	struct lab_run *r;
	struct lab_machine m[SETUPS];
	struct emogi_subject s[LAB_RUN_GRAPHS];
	struct lab_emogi_counts array[ACCESSES];
	bool array_wanted;
	struct emogi_job *job;
};

/*
 * Prepare a graph: weights of 8 to 72 as in the paper, both widths, sources. The device memory is
 * scaled with the edge list.
 */
int emogi_subject_of(struct emogi *e, unsigned graph, struct gtu_error *err);
/* Run everything that is wanted, and compare with the reference. */
int emogi_run_all(struct emogi *e, struct gtu_error *err);
void emogi_free(struct emogi *e);
/* Counts of a run, summed over its sources; for the most requests in flight, the maximum. */
struct lab_emogi_counts emogi_counts(const struct emogi *e, unsigned graph, unsigned algorithm, unsigned access, unsigned width,
				     unsigned setup);
/* Host reads counted by the monitor, and the share that has @sectors sectors. */
static inline uint64_t emogi_requests(const uint64_t *seen)
{
	return seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 1)] + seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 2)] +
	       seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 3)] + seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 4)];
}
static inline double emogi_share(const uint64_t *seen, unsigned sectors)
{
	return (double)seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, sectors)] / (double)emogi_requests(seen);
}
/* Only BFS and SSSP have a source. */
static inline unsigned emogi_sources(unsigned algorithm)
{
	return algorithm == LAB_EMOGI_BFS || algorithm == LAB_EMOGI_SSSP ? EMOGI_SOURCES : 1;
}

#endif
