/* SPDX-License-Identifier: MIT */
/* Edge lists into their compressed form (coded.h) and back, on all CPUs. */
#ifndef GTU_GRAPH_CODED_H
#define GTU_GRAPH_CODED_H

#include "coded.h"
#include "gtu/graph.h"

/* What a coded edge list is, beside its bits. */
struct gtu_coded {
	uint32_t entry_bits;		/* that the greatest vertex needs, 1 at least */
	uint32_t weight_bits, weight_least; /* of weights among the entries; 0 bits: none, or all the same */
	uint32_t weighted;		/* 1: the graph's u32 weights are among the entries */
	uint64_t pieces;
	uint64_t bits;			/* of the stream */
	uint64_t long_pieces;		/* of lists of more than one */
	uint8_t *width;			/* of each piece; the caller's where decoded */
	struct gtu_coded_share {	/* of 2^GTU_CODED_SHARE_LOG2 vertices: what comes before it */
		uint64_t piece, bit, long_piece;
	} *share;
};
#define GTU_CODED_SHARE_LOG2 14

/* Bytes for a stream of so many bits: whole words. */
static inline uint64_t gtu_coded_bytes(uint64_t bits)
{
	return (bits + 31) / 32 * 4;
}

/*
 * Look at @g, whose rows ascend: fills all of @c, from malloc(). u32 weights go among the entries if @weights and if
 * they fit into what a vertex leaves of 32 bits. Errors: GTU_ERR_UNSUPPORTED: more than 2^32 vertices; GTU_ERR_INPUT: an
 * entry that leads nowhere; GTU_ERR_NOMEM. gtu_coded_free() afterwards, whatever is returned.
 */
int gtu_coded_measure(const struct gtu_graph *g, int weights, struct gtu_coded *c, struct gtu_error *err);
void gtu_coded_free(struct gtu_coded *c);
/* Write the stream that was measured: gtu_coded_bytes(c->bits) bytes at @stream. */
void gtu_coded_write(const struct gtu_graph *g, const struct gtu_coded *c, uint32_t *stream);
/* The words of coded.h: n of them at @index, c->long_pieces at @table. */
void gtu_coded_index(const struct gtu_graph *g, const struct gtu_coded *c, uint64_t *index, uint64_t *table);

/*
 * Decode what a stranger wrote: @g has n, m, rows (which are checked), edge_bytes; @c has entry_bits to `bits`, and
 * width, of c->pieces bytes; @stream has gtu_coded_bytes(c->bits) bytes. Entries go to @col and, if c->weighted, u32
 * weights to @weight. Errors: GTU_ERR_INPUT, with @name and what is wrong; GTU_ERR_INTERRUPTED; GTU_ERR_NOMEM.
 */
int gtu_coded_read(const struct gtu_graph *g, struct gtu_coded *c, const uint32_t *stream, void *col, uint32_t *weight,
		   const char *name, const struct gtu_progress *progress, struct gtu_error *err);

#endif
