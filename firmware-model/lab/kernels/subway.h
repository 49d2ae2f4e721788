/* SPDX-License-Identifier: MIT */
/*
 * Subway as EMOGI (sections 5.5.2 and 7) and its authors describe it: before each iteration the CPU
 * copies the edges of the active vertices to a small CSR, which one copy moves to the GPU's memory.
 * A small CSR that exceeds the memory is processed in parts. Processing is asynchronous, as in the
 * variant of Subway that its README runs: kernels relax the edges of a part, a thread a vertex, until
 * the part changes no value any more.
 */
#ifndef GTU_LAB_SUBWAY_H
#define GTU_LAB_SUBWAY_H

#include "emogi.h"

struct lab_subway {
	enum lab_emogi_algorithm algorithm; /* BFS, SSSP or components */
	const struct gtu_graph *graph;	/* with 4-byte edges, as Subway requires */
	uint32_t source;
	uint64_t memory;		/* for the small CSR, in bytes */
	/* GB/s at which the CPU makes it */
	double cpu_gbs;
	bool apart;			/* as in struct lab_emogi */
};

struct lab_subway_counts {
	struct lab_stats lab;		/* kernels and launches; .cycles has the times below too */
	uint64_t iterations, parts, edges, rounds; /* rounds: relaxations of a part */
	uint64_t cpu_cycles, copy_cycles; /* in core cycles: making the small CSR, and moving it */
};

/* Run to completion on @m, which has a link. @result and errors as of lab_emogi_run(). */
int lab_subway_run(const struct lab_machine *m, const struct lab_subway *config, const struct gtu_progress *progress,
		   uint32_t *result, struct lab_subway_counts *counts, struct gtu_error *err);

#endif
