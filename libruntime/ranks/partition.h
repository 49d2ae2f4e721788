/* SPDX-License-Identifier: MIT */
/*
 * The partition of a graph among ranks.
 *
 * Every vertex has one owner: the ranks own consecutive ranges with about the same number of edges.
 * With fewer than GTU_GRID_RANKS ranks the owner of a vertex has all its edges (1-D). With more, the
 * ranks form a grid: rank (i, j) has the edges from vertices that ranks of row i own to vertices that
 * ranks of column j own (a Cartesian vertex cut), so that a rank exchanges messages with its row and its
 * column only. 1-D is a grid of one column.
 */
#ifndef GTU_RANKS_PARTITION_H
#define GTU_RANKS_PARTITION_H

#include "exchange.h"

#define GTU_GRID_RANKS 4u

struct gtu_part {
	struct gtu_exchange *x;
	uint32_t ranks, rows, cols, row, col;	/* the grid, and this rank's place in it */
	uint64_t n, *cut;		/* rank r owns the vertices from cut[r] up to cut[r + 1] */
	uint64_t first, end;		/* those that this rank owns */
	uint64_t row_first, row_end;	/* those whose edges it has, some or all: row 0 of its edges is row_first */
	uint32_t id_bytes;		/* of a vertex in messages */
};

int gtu_part_begin(struct gtu_part *p, struct gtu_exchange *x, const struct gtu_graph *g);
void gtu_part_end(struct gtu_part *p);
/* Give every rank all edges of its vertices (1-D), whatever their number. */
void gtu_part_flatten(struct gtu_part *p);

/* Rank @i of this rank's row, of p->cols, and of its column, of p->rows. */
static inline uint32_t gtu_part_in_row(const struct gtu_part *p, uint32_t i)
{
	return p->row * p->cols + i;
}

static inline uint32_t gtu_part_in_column(const struct gtu_part *p, uint32_t i)
{
	return i * p->cols + p->col;
}

static inline uint64_t gtu_part_range(const struct gtu_part *p, uint32_t rank)
{
	return p->cut[rank + 1] - p->cut[rank];
}

/* Whether the edges of @v are in this rank's row of the grid. */
static inline bool gtu_part_has_row(const struct gtu_part *p, uint64_t v)
{
	return v >= p->row_first && v < p->row_end;
}

uint32_t gtu_part_owner(const struct gtu_part *p, uint64_t v);

/* ---- Edges --------------------------------------------------------------------------------------- */

enum gtu_part_direction {
	GTU_PART_STORED,
	GTU_PART_REVERSED,		/* without weights */
	GTU_PART_BOTH,			/* both directions without weights; each pair once, in ascending order */
	GTU_PART_ENDS,			/* each edge at both of its ends, without weights */
};

/*
 * Edges of this rank. Vertex row_first + v is v in graph.row; the targets in graph.col are vertices of
 * the whole graph. graph.n counts rows.
 */
struct gtu_part_edges {
	struct gtu_graph graph;
	uint64_t *row;
	void *col, *weight;		/* NULL: those of the whole graph are used in place */
};

/* Collective. Call gtu_part_edges_end() after an error, too. */
int gtu_part_edges_begin(struct gtu_part *p, struct gtu_part_edges *e, const struct gtu_graph *g,
			 enum gtu_part_direction direction, bool weights);
void gtu_part_edges_end(struct gtu_part_edges *e);

/* ---- Messages about vertices ---------------------------------------------------------------------- */

/* Whose vertices a message has: those of its receiver, or of its sender. */
enum gtu_owner { GTU_RECEIVERS, GTU_SENDERS };

/*
 * Add the set of @count vertices @v of @owner to the message for @to: a list, or a bitmap if it is
 * smaller. One set a message.
 */
int gtu_part_send_set(struct gtu_part *p, struct gtu_outbox *o, uint32_t to, uint32_t owner, const uint64_t *v,
		      uint64_t count);
/* Send every vertex of @l to its owner. */
int gtu_part_send_to_owners(struct gtu_part *p, struct gtu_outbox *o, const struct gtu_list *l);
/* Append the vertices of all sets received to @l; a vertex of several sets several times. */
int gtu_part_receive_sets(struct gtu_part *p, const struct gtu_outbox *o, enum gtu_owner owner, struct gtu_list *l);
/* Bytes of such a message: the formula that tests compare traffic with. */
uint64_t gtu_part_set_bytes(const struct gtu_part *p, uint32_t owner, uint64_t count);

/* Add (@v, @value) to the message for @to, where @owner owns @v. */
int gtu_part_send_pair(struct gtu_part *p, struct gtu_outbox *o, uint32_t to, uint32_t owner, uint64_t v,
		       uint64_t value);
/* Report that the message of rank @from is not what this library sends. */
int gtu_part_bad_message(struct gtu_part *p, uint32_t from);

/* Call @fn for all pairs received: at most one for each vertex of @owner from every rank. */
typedef int gtu_pair_fn(void *context, uint64_t v, uint64_t value);
int gtu_part_receive_pairs(struct gtu_part *p, const struct gtu_outbox *o, enum gtu_owner owner, gtu_pair_fn *fn,
			   void *context);

/* Add @count values of 8 bytes to the message for @to. */
int gtu_part_send_array(struct gtu_part *p, struct gtu_outbox *o, uint32_t to, const void *values, uint64_t count);
/* The array of @count values from rank @from; NULL with an error in x->err. */
const void *gtu_part_receive_array(struct gtu_part *p, const struct gtu_outbox *o, uint32_t from, uint64_t count);

#endif
