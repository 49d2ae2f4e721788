/* SPDX-License-Identifier: MIT */
/*
 * GraphPEG attached to each SM (GraphPEG, section 3): one engine per SM. struct peg_core, the
 * device model's own, defines the schedule; one of its cycles is one core cycle. Its fetches bypass
 * the L1 and use the SM's crossbar port. Messages of the control processor take the crossbar
 * latency. Warps request each pop (DEMAND). The lists persist from one stream to the next.
 */
#ifndef GTU_LAB_PEG_UNIT_H
#define GTU_LAB_PEG_UNIT_H

#include "firmware-model/lab/engine/warp.h"
#include "firmware-model/units/peg/peg_core.h"

struct lab_peg;

/* Entries of an unlimited table: as many as there are vertices an SM in the graphs that are run. */
#define LAB_PEG_UNLIMITED 131072u

struct lab_peg_build {
	uint32_t entries;		/* of the working table */
	uint32_t edge_bytes, list_bytes; /* taken from the shared memory that kernels have */
	bool balance_edges, balance_lists;
	bool free; /* ideal balancing: every cycle, without a latency */
	bool end_polled;		/* engines may end only at a poll of the balancing, not by messages of their own */
	uint8_t shift;			/* N of the threshold Rmax / 2^N */
	uint32_t interval, floor;	/* cycles; edges or vertices */
};

/* The build of GraphPEG, sections 4.2 and 4.3. */
extern const struct lab_peg_build lab_peg_published;

/* Sums over all streams. */
struct lab_peg_counts {
	uint64_t streams, cycles, requests; /* requests: to memory */
	struct peg_counters core;
};

/* NULL, or why @build is invalid on @m. */
const char *lab_peg_check(const struct lab_machine *m, const struct lab_peg_build *build);
/* Attach an engine to each SM of @lab. Free it with lab_peg_free() after the lab. */
int lab_peg_attach(struct lab *lab, const struct lab_peg_build *build, struct lab_peg **out, struct gtu_error *err);
void lab_peg_free(struct lab_peg *u);
const struct lab_peg_counts *lab_peg_counts(const struct lab_peg *u);

/*
 * One stream. Arrays have 4-byte elements and outlive the stream: row @vertices + 1 elements, col
 * and weight @edges. @list: @count (not 0) vertices from element @first on. NULL: the vertices
 * pushed before.
 */
struct lab_peg_stream {
	bool vertex_list, pull;
	bool source, destination, with_weight; /* fields gathered */
	const struct lab_array *row, *col, *weight, *list;
	uint64_t vertices, edges, first, count;
};

/*
 * Configure the engines for the next launch. It must have at least one warp per SM that pops until
 * the end. GTU_ERR_USAGE if edges with all fields do not fit the build.
 */
int lab_peg_begin(struct lab_peg *u, const struct lab_peg_stream *s, struct gtu_error *err);
/* After the launch: update the counts. GTU_ERR_VERIFY: elements are left or were not popped. */
int lab_peg_end(struct lab_peg *u, struct gtu_error *err);
/* Number of vertices in all output lists; in one SM's, copied to @to, which is large enough. */
uint64_t lab_peg_pushed(const struct lab_peg *u);
uint64_t lab_peg_listed(const struct lab_peg *u, unsigned sm, uint32_t *to);
/* Empty the output lists. */
void lab_peg_clear(struct lab_peg *u);

struct lab_peg_lanes {
	lab_mask active;		/* 0: end of the stream */
	/* the gathered fields; vertices of a vertex list are sources */
	lab_u32 source, destination, weight;
};
/* pop_edge_*() of all gathered fields, or pop_vert(). All lanes must be active. */
void lab_pop(struct lab_warp *w, struct lab_peg *u, struct lab_peg_lanes *lanes);
/* push_vert() by the lanes of @m. */
void lab_push(struct lab_warp *w, struct lab_peg *u, lab_mask m, const lab_u32 *vertex);

#endif
