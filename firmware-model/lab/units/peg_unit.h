/* SPDX-License-Identifier: MIT */
/*
 * GraphPEG in the SMs of a laboratory's machine (graphpeg.txt, section 3): an engine an SM, whose schedule is
 * struct peg_core, the one the device runs, a cycle of it a core cycle. Its fetches go past the L1, to the L2 by
 * the port of its SM; the control processor's messages take what the crossbar takes. A stream's pops are asked for
 * by warps (DEMAND), and the lists stay where they are from one stream to the next.
 */
#ifndef GTU_LAB_PEG_UNIT_H
#define GTU_LAB_PEG_UNIT_H

#include "firmware-model/lab/engine/warp.h"
#include "firmware-model/units/peg/peg_core.h"

struct lab_peg;

struct lab_peg_build {
	uint32_t entries;		/* of the working table */
	uint32_t edge_bytes, list_bytes; /* of an SM's shared memory; they are taken from its kernels */
	bool balance_edges, balance_lists;
	bool free;			/* balancing looks every cycle, and its messages take one */
	uint8_t shift;			/* N of the threshold Rmax / 2^N */
	uint32_t interval, floor;	/* cycles; edges or vertices */
};

/* graphpeg.txt, sections 4.2 and 4.3: 24 entries, 2 KB of edges, 46 KB of lists, N = 4, every 512 cycles. */
extern const struct lab_peg_build lab_peg_published;

/* Sums over all streams. */
struct lab_peg_counts {
	uint64_t streams, cycles, records, partial, vertices, edges, index_fetches, edge_fetches, refills, spilled, pushed;
	uint64_t requests;		/* to memory */
	uint64_t looks, moves, moved, refused, list_moves, list_moved;
};

/* NULL, or why there is no such build. */
const char *lab_peg_check(const struct lab_machine *m, const struct lab_peg_build *build);
/* Stand an engine in each SM of @lab, to be freed with lab_peg_free() after it. */
int lab_peg_attach(struct lab *lab, const struct lab_peg_build *build, struct lab_peg **out, struct gtu_error *err);
void lab_peg_free(struct lab_peg *u);
const struct lab_peg_counts *lab_peg_counts(const struct lab_peg *u);

/*
 * One stream. Arrays have 4-byte elements and outlive it; row has @vertices + 1 of them, col and weight @edges. @list:
 * @count (not 0) vertices from element @first on; NULL: what was pushed, where it is.
 */
struct lab_peg_stream {
	bool vertex_list, pull;
	bool source, destination, with_weight; /* gathered */
	const struct lab_array *row, *col, *weight, *list;
	uint64_t vertices, edges, first, count;
};

/*
 * Configure the engines for the launch that follows, which has a warp on each SM at least that pops until there are no
 * more. GTU_ERR_USAGE where the edges of so many fields do not fit the build.
 */
int lab_peg_begin(struct lab_peg *u, const struct lab_peg_stream *s, struct gtu_error *err);
/* After the launch: GTU_ERR_VERIFY where something was left or was not read; else the counts are in. */
int lab_peg_end(struct lab_peg *u, struct gtu_error *err);
/* Vertices of the output lists, in all; an SM's, to @to, which has room for them. */
uint64_t lab_peg_pushed(const struct lab_peg *u);
uint64_t lab_peg_listed(const struct lab_peg *u, unsigned sm, uint32_t *to);
/* Forget them. */
void lab_peg_clear(struct lab_peg *u);

struct lab_peg_lanes {
	lab_mask active;		/* 0: there are no more */
	lab_u32 source, destination, weight; /* those gathered; a vertex list's vertices are sources */
};
/* pop_edge_*() of all that is gathered, or pop_vert(): stop until it is there. All lanes of @w are to be active. */
void lab_pop(struct lab_warp *w, struct lab_peg *u, struct lab_peg_lanes *lanes);
/* push_vert() by the lanes of @m. */
void lab_push(struct lab_warp *w, struct lab_peg *u, lab_mask m, const lab_u32 *vertex);

#endif
