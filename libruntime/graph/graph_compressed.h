/* SPDX-License-Identifier: MIT */
/* Parallel encoding and decoding of compressed edge lists (compressed.h). */
#ifndef GTU_GRAPH_COMPRESSED_H
#define GTU_GRAPH_COMPRESSED_H

#include "compressed.h"
#include "gtu/graph.h"

/* Parameters of a compressed edge list. */
struct gtu_compressed {
	uint32_t entry_bits;		/* bits of the greatest vertex, at least 1 */
	uint32_t weight_bits, weight_min; /* included weights; 0 bits: none, or all equal */
	uint32_t weighted;		/* 1: the graph's u32 weights are included */
	uint64_t pieces;
	uint64_t bits;			/* length of the stream */
	uint64_t long_pieces;		/* pieces of lists with more than one */
	uint8_t *width;			/* width of each piece; owned by the caller when decoding */
	struct gtu_compressed_share {	/* offsets of each share of 2^GTU_COMPRESSED_SHARE_LOG2 vertices */
		uint64_t piece, bit, long_piece;
	} *share;
};
#define GTU_COMPRESSED_SHARE_LOG2 14

/* Bytes of a stream of @bits bits: whole words. */
static inline uint64_t gtu_compressed_bytes(uint64_t bits)
{
	return (bits + 31) / 32 * 4;
}

/*
 * Compute the parameters for @g, whose rows must ascend; allocates the arrays of @c. With @weights,
 * u32 weights are included if they fit into 32 bits together with a vertex. Errors:
 * GTU_ERR_UNSUPPORTED: more than 2^32 vertices; GTU_ERR_INPUT: a target out of bounds;
 * GTU_ERR_NOMEM. Call gtu_compressed_free() afterwards in any case.
 */
int gtu_compressed_measure(const struct gtu_graph *g, int weights, struct gtu_compressed *c, struct gtu_error *err);
void gtu_compressed_free(struct gtu_compressed *c);
/* Write the stream: gtu_compressed_bytes(c->bits) bytes at @stream. */
void gtu_compressed_write(const struct gtu_graph *g, const struct gtu_compressed *c, uint32_t *stream);
/* Write the location words of compressed.h: n at @index, c->long_pieces at @table. */
void gtu_compressed_index(const struct gtu_graph *g, const struct gtu_compressed *c, uint64_t *index, uint64_t *table);

/*
 * Decode an untrusted stream. @g has n, m, rows (which are checked) and edge_bytes; @c has
 * entry_bits to `bits`, and c->pieces bytes of width; @stream has gtu_compressed_bytes(c->bits) bytes.
 * Targets go to @col and, if c->weighted, u32 weights to @weight. Errors: GTU_ERR_INPUT, with @name
 * and the reason; GTU_ERR_INTERRUPTED; GTU_ERR_NOMEM.
 */
int gtu_compressed_read(const struct gtu_graph *g, struct gtu_compressed *c, const uint32_t *stream, void *col, uint32_t *weight,
		   const char *name, const struct gtu_progress *progress, struct gtu_error *err);

#endif
