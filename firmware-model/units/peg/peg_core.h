/* SPDX-License-Identifier: MIT */
/*
 * The schedule of GraphPEG (graphpeg.txt, section 3): what its engines hand out and in which logical
 * cycle, without the memory they read from and write to. Documentation/units-peg.md is its specification.
 * A core is all engines of a stream and the control processor's part between them; a laboratory gives each
 * of its SMs one engine. It is fed through a struct peg_port: a device answers every fetch after a fixed
 * latency, a laboratory whenever its memory system has it. Nothing here allocates, blocks or knows of
 * regions, rings or jobs.
 */
#ifndef GTU_PEG_CORE_H
#define GTU_PEG_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/gtu/hw.h"

#define PEG_LANES	GTU_WARP
#define PEG_CHUNK	32u	/* vertices of the input list dealt at a time: a refill does not cross them */
#define PEG_ENGINES_MAX	64u		/* a laboratory has more SMs than a device has engines (GTU_PEG_ENGINES_MAX) */
#define PEG_ENTRIES_MAX	4096u
#define PEG_BYTES_MAX	(1u << 20)
#define PEG_EDGE_BYTES_MIN (PEG_LANES * 32u) /* a warp of edges with all fields at their widest */
#define PEG_NEVER	UINT64_MAX
#define PEG_OUT_MARK	16u	/* records of an engine that wait to be taken: a run stops there */
#define PEG_WINDOW	512u	/* cycles that engines run on their own; errors are told at its end */
#define PEG_LIST_MOVE	4096u	/* vertices of one exchange of vertex-list balancing, at most */
#define PEG_FIELDS	4u	/* source, destination, weight, index */

/* How the unit is built. */
struct peg_shape {
	uint16_t engines, entries;
	uint32_t edge_bytes, list_bytes; /* on chip, of an engine */
};

/* One stream. */
struct peg_stream {
	uint16_t engines;
	bool vertex_list, pull, demand, stand_by;
	bool balance_edges, balance_lists;
	uint8_t id_log2, offset_log2, weight_log2;
	bool field[PEG_FIELDS];		/* that records carry */
	uint32_t edge_bytes, list_bytes; /* that it may use; 0: all of the build's */
	uint64_t edges_addr;		/* region-relative address of edge 0: fetches end at its lines */
	uint64_t vertices, edges;	/* there are; edges is what offsets may reach */
	uint64_t interval, floor;	/* of balancing: cycles; edges or vertices */
	uint8_t shift;
	uint16_t message;		/* cycles between an engine and the control processor */
	/*
	 * Input list: vertices dealt to each engine, left[engines], all off chip. NULL: what the last stream
	 * of this core pushed, where it is: on chip first, then what was spilled.
	 */
	const uint64_t *left;
};

struct peg_port {
	void *ctx;
	/*
	 * Engine @e asks in @cycle. Each returns the cycle from which on the answer is there (later than
	 * @cycle), or PEG_NEVER where peg_core_reply() will tell; @slot names the fetch there.
	 * refill: vertices [first, first + count) of those dealt to it.
	 */
	uint64_t (*refill)(void *ctx, unsigned e, unsigned slot, uint64_t first, unsigned count,
			   uint64_t cycle);
	/* the offsets of @vertex and the next */
	uint64_t (*index)(void *ctx, unsigned e, unsigned slot, uint64_t vertex, uint64_t cycle);
	/* edges [first, first + count), which lie in one line, and their weights where they are wanted */
	uint64_t (*edges)(void *ctx, unsigned e, unsigned slot, uint64_t first, unsigned count,
			  uint64_t cycle);
	/* What was asked for, once. @to holds ids as wide as the stream's. False: it cannot be had. */
	bool (*load_vertices)(void *ctx, unsigned e, uint64_t first, unsigned count, void *to);
	bool (*load_index)(void *ctx, unsigned e, uint64_t vertex, uint64_t *start, uint64_t *end);
	/* @ids, @weights: NULL where not wanted */
	bool (*load_edges)(void *ctx, unsigned e, uint64_t first, unsigned count, void *ids,
			   void *weights);
	/* Put @count vertices behind what engine @e spilled before; take the last @count back. */
	bool (*spill)(void *ctx, unsigned e, const uint64_t *vertex, unsigned count);
	bool (*unspill)(void *ctx, unsigned e, uint64_t *vertex, unsigned count);
	/* Not 0: every fetch takes so many cycles. */
	uint32_t latency;
};

enum peg_status {
	PEG_MORE,			/* reached `until` */
	PEG_OUT,			/* an engine has PEG_OUT_MARK records waiting to be taken */
	PEG_IDLE,			/* nothing can happen without a request or a reply */
	PEG_DONE,			/* all engines have ended */
	PEG_UNREAD,			/* the port could not load */
	PEG_BAD_VERTEX,			/* a vertex of the input list does not exist */
	PEG_BAD_OFFSET,			/* an offset is less than the one before it, or beyond the edges */
};

enum peg_state { PEG_IVD, PEG_FI, PEG_RD, PEG_FE, PEG_RESERVED };

/* An entry of the adjacency list working table. */
struct peg_entry {
	uint64_t vertex, start, end;
	uint64_t ready;			/* FI: cycle from which on its offsets are there */
	uint8_t state;
};

/* Lines or refills under way, oldest first. */
struct peg_fetch {
	uint64_t first, ready, vertex;
	uint32_t count;
};
struct peg_fifo {
	struct peg_fetch *at;
	uint32_t mask, head, tail;	/* running freely */
};

struct peg_counters {
	uint64_t vertices, edges, records, partial, index_fetches, edge_fetches, refills;
	uint64_t pushed, spilled, looks, moves, moved, refused, list_moves, list_moved;
};

struct peg_list {
	void *at;			/* ids */
	uint32_t head, count;
};

struct peg_engine {
	uint64_t next;			/* cycle in which something can happen; PEG_NEVER: needs someone else */
	uint64_t clock;			/* all cycles before it are done */
	uint64_t end;			/* cycle in which it ended */
	uint64_t asked, records;	/* put out so far */
	bool ended;
	uint8_t failed;			/* enum peg_status */
	uint64_t bad, bad_value;	/* number of the vertex or offset, its value */
	uint64_t failed_at;

	/* input list */
	uint64_t left, dealt;		/* not yet asked for; number of the next of those */
	uint64_t taken;			/* of the input list, so far */
	uint32_t coming;		/* vertices under way */
	struct peg_list in, out;
	uint64_t spilled;		/* of the output list, off chip */
	struct peg_fifo refill;

	/* table */
	struct peg_entry *entry;
	uint64_t *free;			/* a bit an entry */
	uint16_t *fi, *rd;		/* entries in these states, oldest first: rings of 2 x entries */
	uint32_t fi_head, fi_tail, rd_head, rd_tail;
	uint32_t used;			/* entries not IVD */
	int32_t fe, reserved;		/* entry, or -1 */

	/* edges */
	struct peg_fifo fetch;
	uint32_t flying;		/* edges under way */
	uint64_t fill;			/* record being filled, and its next lane */
	uint32_t lane;
	uint64_t gone;			/* records taken */
	uint64_t ran;			/* cycles before this one are done with: no record will come of them */
	uint8_t *record;		/* [record_mask + 1] of record_bytes */

	/* control registers */
	uint64_t efs, bw[3];
	uint8_t bc, bs;
};

/* What the control processor has under way. */
struct peg_exchange {
	uint64_t at;			/* cycle of its next step; PEG_NEVER: none */
	uint64_t size;
	uint8_t step;
	uint16_t donor, receiver;
	bool lists;			/* of vertex lists, not of edges */
};

struct peg_core {
	struct peg_shape shape;
	struct peg_stream stream;
	struct peg_port port;

	/* what the user of the core reads */
	uint64_t cycle;			/* the next one to be run */
	unsigned bad_engine;		/* of an error */
	struct peg_counters count;

	/* derived from the stream */
	uint32_t edge_cap, list_cap;	/* edges, vertices of a list on chip */
	uint32_t record_bytes, record_mask;
	uint32_t entry_mask;		/* of the rings of entries */
	uint32_t at[PEG_FIELDS];	/* byte of a field in a record */
	uint8_t log2[PEG_FIELDS];

	unsigned live;			/* engines that have not ended */
	bool failed;
	bool balanced;			/* there is something for the control processor to do */
	bool let_end;			/* engines that stand by may end */
	uint64_t control;		/* cycle of the control processor's next step */
	struct peg_exchange exchange[2]; /* of edges, of lists */
	struct peg_engine engine[PEG_ENGINES_MAX];
};

/* NULL, or why no such unit can be built. */
const char *peg_shape_check(const struct peg_shape *shape);
/* Bytes that a core of this shape takes, and a core made in so many at @memory (64-byte aligned). */
size_t peg_core_bytes(const struct peg_shape *shape);
struct peg_core *peg_core_init(void *memory, const struct peg_shape *shape);

/* Begin a stream at cycle 0. False: the stream does not fit the build (nothing is begun). */
bool peg_core_start(struct peg_core *c, const struct peg_stream *stream, const struct peg_port *port);
/* Run until cycle @until is next, or something else is to be said. */
enum peg_status peg_core_run(struct peg_core *c, uint64_t until);
/* Let an idle core's clock go on to @cycle, as a clock does that someone else keeps. */
void peg_core_advance(struct peg_core *c, uint64_t cycle);
/* Records asked of engine @e so far, in all; never fewer than before. */
void peg_core_ask(struct peg_core *c, unsigned e, uint64_t asked);
/* Engine @e pushes @count vertices: push_vert of a warp. False: they could not be spilled. */
bool peg_core_push(struct peg_core *c, unsigned e, const uint64_t *vertex, unsigned count);

enum peg_kind { PEG_REFILL, PEG_INDEX, PEG_EDGES };
/* The fetch in @slot will be there from @cycle on (not before the core's clock). */
void peg_core_reply(struct peg_core *c, unsigned e, enum peg_kind kind, unsigned slot, uint64_t cycle);

/* Records of engine @e that wait to be taken, the oldest of them, and: it was taken. */
static inline uint64_t peg_core_waiting(const struct peg_core *c, unsigned e)
{
	return c->engine[e].records - c->engine[e].gone;
}
static inline const uint8_t *peg_core_out(const struct peg_core *c, unsigned e)
{
	const struct peg_engine *g = &c->engine[e];

	return g->record + (g->gone & c->record_mask) * (size_t)c->record_bytes;
}
static inline void peg_core_taken(struct peg_core *c, unsigned e)
{
	c->engine[e].gone++;
}

/* Vertex @i of those on chip of a list. */
static inline uint64_t peg_list_get(const struct peg_core *c, const struct peg_list *l, uint32_t i)
{
	uint32_t at = l->head + i;

	at -= at >= c->list_cap ? c->list_cap : 0;
	return c->stream.id_log2 == 3 ? ((const uint64_t *)l->at)[at] : ((const uint32_t *)l->at)[at];
}
/* Vertices of engine @e's output list, wherever they are. */
static inline uint64_t peg_core_pushed(const struct peg_core *c, unsigned e)
{
	return c->engine[e].out.count + c->engine[e].spilled;
}

/* ---- Between peg_core.c, peg_engine.c and peg_balance.c ---- */

static inline uint64_t peg_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* @n lanes of 1 << @log2 bytes at @to: @value, @value + @step and so on. */
static inline void peg_fill_lanes(uint8_t *to, unsigned log2, uint64_t value, uint64_t step, unsigned n)
{
	if (log2 == 2)
		for (unsigned i = 0; i < n; i++)
			((uint32_t *)(void *)to)[i] = (uint32_t)(value + step * i);
	else
		for (unsigned i = 0; i < n; i++)
			((uint64_t *)(void *)to)[i] = value + step * i;
}

/* Run engine @n up to cycle @limit; false: its records have to be taken first. */
bool peg_engine_run(struct peg_core *c, unsigned n, uint64_t limit);

/* The control processor's steps of cycle c->control, before the engines run it. False: memory failed. */
bool peg_control(struct peg_core *c);
/* Something changed at @cycle: engine @e has to look, and the control processor may have to. */
void peg_wake(struct peg_core *c, unsigned e, uint64_t cycle);
int peg_entry_take(struct peg_core *c, struct peg_engine *e);
void peg_entry_free(struct peg_engine *e, unsigned n);
bool peg_out_append(struct peg_core *c, unsigned e, const uint64_t *vertex, unsigned count);

#endif
