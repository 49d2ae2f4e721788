/* SPDX-License-Identifier: MIT */
/*
 * The schedule of GraphPEG (GraphPEG, section 3): what its engines output in which logical cycle,
 * independent of memory. The specification is Documentation/units-peg.md. A core is all engines of
 * a stream and the control processor's part between them; a laboratory gives each of its SMs one
 * engine. A struct peg_port serves the fetches: a device answers after a fixed latency, a
 * laboratory when its memory system has the data. The core does not allocate or block, and does not
 * depend on regions, rings or jobs.
 */
#ifndef GTU_PEG_CORE_H
#define GTU_PEG_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/gtu/hw.h"

#define PEG_LANES	GTU_WARP
#define PEG_CHUNK	GTU_PEG_CHUNK	/* a refill does not cross them */
#define PEG_ENGINES_MAX	64u		/* a laboratory has more SMs than a device has engines (GTU_PEG_ENGINES_MAX) */
#define PEG_ENTRIES_MAX	4096u		/* of a device; a laboratory has larger tables */
#define PEG_ENTRIES_SCANNED 32u	/* larger tables keep the largest range of their entries */
#define PEG_BYTES_MAX	(1u << 20)
#define PEG_EDGE_BYTES_MIN (PEG_LANES * 32u) /* a warp of edges with all fields at maximum width */
#define PEG_NEVER	UINT64_MAX
#define PEG_OUT_MARK	16u	/* a run stops when an engine has this many records to be taken */
#define PEG_WINDOW	512u	/* cycles that engines run separately; errors are reported at its end */
#define PEG_LIST_MOVE	4096u	/* maximum vertices per exchange of vertex-list balancing */
#define PEG_FIELDS	4u	/* source, destination, weight, index */

/* Build parameters. */
struct peg_shape {
	uint16_t engines;
	uint32_t entries;
	uint32_t edge_bytes, list_bytes; /* on chip, per engine */
};

/* Parameters of a stream. */
struct peg_stream {
	uint16_t engines;
	bool vertex_list, pull, demand, stand_by;
	bool end_reported;		/* with stand_by: engines may end two messages after the last one has no work, not at a poll */
	bool balance_edges, balance_lists;
	uint8_t id_log2, offset_log2, weight_log2;
	bool field[PEG_FIELDS];		/* fields that records carry */
	uint32_t edge_bytes, list_bytes; /* on-chip limits of the stream; 0: all of the build's */
	uint64_t edges_addr;		/* region-relative address of edge 0: fetches end at line boundaries */
	uint64_t vertices, edges;	/* counts; offsets must not exceed `edges` */
	uint64_t interval, floor;	/* of balancing: cycles; edges or vertices */
	uint8_t shift;			/* of balancing: threshold = most >> shift */
	uint16_t message;		/* cycles between an engine and the control processor; 0 in a laboratory only */
	/*
	 * Input list: number of vertices dealt to each engine, left[engines], all off chip. NULL:
	 * the vertices that this core's last stream pushed, where they are: first on chip, then
	 * spilled.
	 */
	const uint64_t *left;
};

struct peg_port {
	void *ctx;
	/*
	 * Engine @e sends a fetch in @cycle. Each function returns the cycle (after @cycle) from
	 * which the data is available, or PEG_NEVER if peg_core_reply() will report it; @slot
	 * identifies the fetch there. refill: vertices [first, first + count) of those dealt to the
	 * engine.
	 */
	uint64_t (*refill)(void *ctx, unsigned e, unsigned slot, uint64_t first, unsigned count,
			   uint64_t cycle);
	/* the offsets of @vertex and of the next vertex */
	uint64_t (*index)(void *ctx, unsigned e, unsigned slot, uint64_t vertex, uint64_t cycle);
	/*
	 * edges [first, first + count), which lie in one line, and their weights if the stream has
	 * them
	 */
	uint64_t (*edges)(void *ctx, unsigned e, unsigned slot, uint64_t first, unsigned count,
			  uint64_t cycle);
	/*
	 * Load fetched data, once. @to holds ids of the stream's width. False if it cannot be read.
	 */
	bool (*load_vertices)(void *ctx, unsigned e, uint64_t first, unsigned count, void *to);
	bool (*load_index)(void *ctx, unsigned e, uint64_t vertex, uint64_t *start, uint64_t *end);
	/* @ids, @weights: NULL if not needed */
	bool (*load_edges)(void *ctx, unsigned e, uint64_t first, unsigned count, void *ids,
			   void *weights);
	/* Append @count vertices to the spilled ones of engine @e; remove the last @count again. */
	bool (*spill)(void *ctx, unsigned e, const uint64_t *vertex, unsigned count);
	bool (*unspill)(void *ctx, unsigned e, uint64_t *vertex, unsigned count);
	/* if not 0: the latency of every fetch in cycles */
	uint32_t latency;
};

enum peg_status {
	PEG_MORE,			/* reached `until` */
	PEG_OUT,			/* an engine has PEG_OUT_MARK records to be taken */
	PEG_IDLE,			/* no progress without a request or a reply */
	PEG_DONE,			/* all engines have ended */
	PEG_UNREAD,			/* a load of the port failed */
	PEG_BAD_VERTEX,			/* a vertex of the input list does not exist */
	PEG_BAD_OFFSET,			/* an offset is less than its predecessor, or exceeds the edges */
};

enum peg_state { PEG_IVD, PEG_FI, PEG_RD, PEG_FE, PEG_RESERVED };

/* An entry of the adjacency list working table. */
struct peg_entry {
	uint64_t vertex, start, end;
	uint64_t ready;			/* FI: cycle from which its offsets are available */
	uint32_t asked;			/* number of the request for them */
	uint8_t state;
};

/* Lines or refills in flight, oldest first. */
struct peg_fetch {
	uint64_t first, ready, vertex;
	uint32_t count;
};
struct peg_fifo {
	struct peg_fetch *at;
	uint32_t mask, head, tail;	/* free-running */
};

/* The unit's counters; the caller keeps jobs and cycles. */
struct peg_counters {
#define PEG_COUNTER(UNIT, NAME, name, ...) uint64_t name;
	GTU_PEG_COUNTER_ROWS(PEG_COUNTER, PEG_COUNTER)
};

struct peg_list {
	void *at;			/* ids */
	uint32_t head, count;
};

struct peg_engine {
	uint64_t next;			/* next cycle with progress; PEG_NEVER: needs a request or a reply */
	uint64_t clock;			/* all earlier cycles are done */
	uint64_t end;			/* cycle in which the engine ended */
	uint64_t requested, records;	/* records requested, output so far */
	bool ended;
	uint8_t failed;			/* enum peg_status */
	uint64_t bad, bad_value;	/* number of the vertex or offset, its value */
	uint64_t failed_at;

	/* input list */
	uint64_t left, dealt;		/* vertices not yet requested; number of the next one */
	uint64_t taken;			/* vertices consumed so far */
	uint32_t coming;		/* vertices in flight */
	struct peg_list in, out;
	uint64_t spilled;		/* off-chip part of the output list */
	struct peg_fifo refill;

	/* table */
	struct peg_entry *entry;
	uint64_t *free;			/* bit mask of free entries */
	uint32_t first_free;		/* no word of free before this one has a bit */
	/*
	 * Entries in state RD; entries in state FI of which the cycle of their offsets is known, in the order of
	 * these cycles and then of their requests. Rings of entry_mask + 1.
	 */
	uint32_t *fi, *rd;
	/* tree of the edges left in entries RD and FE, from [entry_mask + 1] on, and their maxima; or NULL */
	uint64_t *most;
	uint32_t fi_head, fi_tail, rd_head, rd_tail;
	uint32_t used;			/* entries not in state IVD */
	int32_t fe, reserved;		/* entry, or -1 */

	/* edges */
	struct peg_fifo fetch;
	uint32_t flying;		/* edges in flight */
	uint64_t fill;			/* record being filled */
	uint32_t lane;			/* its next lane */
	uint64_t delivered;		/* records taken by the caller */
	uint64_t ran;			/* cycle up to which the engine has run: no earlier record will follow */
	uint8_t *record;		/* [record_mask + 1] of record_bytes */

	/* control registers */
	uint64_t efs, bw[3];
	uint8_t bc, bs;
};

/* An exchange that the control processor conducts. */
struct peg_exchange {
	uint64_t at;			/* cycle of its next step; PEG_NEVER: no exchange */
	uint64_t size;
	uint8_t step;
	uint16_t donor, receiver;
	bool lists;			/* of vertex lists, not of edges */
};

struct peg_core {
	struct peg_shape shape;
	struct peg_stream stream;
	struct peg_port port;

	/* outputs */
	uint64_t cycle;			/* next cycle to run */
	unsigned bad_engine;		/* engine that failed */
	struct peg_counters count;

	/* derived from the stream */
	uint32_t edge_cap, list_cap;	/* on-chip capacity: edges, vertices of a list */
	uint32_t record_bytes, record_mask;
	uint32_t entry_mask;		/* of the rings of entries */
	uint32_t at[PEG_FIELDS];	/* byte offset of a field in a record */
	uint8_t log2[PEG_FIELDS];

	unsigned live;			/* engines that have not ended */
	bool failed;
	bool balanced;			/* the control processor has work */
	bool may_terminate;		/* engines that stand by may end */
	uint64_t ending;		/* end_reported: cycle in which that is; PEG_NEVER: an engine has work */
	uint64_t control;		/* cycle of the control processor's next step */
	struct peg_exchange exchange[2]; /* edges, lists */
	struct peg_engine engine[PEG_ENGINES_MAX];
};

/* Bytes of a record, with the fields of all lanes. */
uint32_t peg_record_bytes(const struct peg_stream *stream);

/* NULL, or why a unit of this shape cannot be built. */
const char *peg_shape_check(const struct peg_shape *shape);
/* Bytes that a core of this shape needs; create a core in that much memory (64-byte aligned). */
size_t peg_core_bytes(const struct peg_shape *shape);
struct peg_core *peg_core_init(void *memory, const struct peg_shape *shape);

/* Start a stream at cycle 0. False: the build cannot run the stream (nothing is started). */
bool peg_core_start(struct peg_core *c, const struct peg_stream *stream, const struct peg_port *port);
/* Run until the next cycle is @until, or until another status must be returned. */
enum peg_status peg_core_run(struct peg_core *c, uint64_t until);
/* Advance an idle core's clock to @cycle (for a caller that keeps the clock). */
void peg_core_advance(struct peg_core *c, uint64_t cycle);
/* Set the total number of records requested of engine @e; it never decreases. */
void peg_core_request(struct peg_core *c, unsigned e, uint64_t requested);
/* Engine @e pushes @count vertices (push_vert of a warp). False if they could not be spilled. */
bool peg_core_push(struct peg_core *c, unsigned e, const uint64_t *vertex, unsigned count);

enum peg_kind { PEG_REFILL, PEG_INDEX, PEG_EDGES };
/* The fetch in @slot is available from @cycle on (not before the core's clock). */
void peg_core_reply(struct peg_core *c, unsigned e, enum peg_kind kind, unsigned slot, uint64_t cycle);

/* Number of engine @e's pending records; the oldest of these; and: the caller has taken it. */
static inline uint64_t peg_core_waiting(const struct peg_core *c, unsigned e)
{
	return c->engine[e].records - c->engine[e].delivered;
}
static inline const uint8_t *peg_core_out(const struct peg_core *c, unsigned e)
{
	const struct peg_engine *g = &c->engine[e];

	return g->record + (g->delivered & c->record_mask) * (size_t)c->record_bytes;
}
static inline void peg_core_taken(struct peg_core *c, unsigned e)
{
	c->engine[e].delivered++;
}

/* On-chip vertex @i of a list. */
static inline uint64_t peg_list_get(const struct peg_core *c, const struct peg_list *l, uint32_t i)
{
	uint32_t at = l->head + i;

	at -= at >= c->list_cap ? c->list_cap : 0;
	return c->stream.id_log2 == 3 ? ((const uint64_t *)l->at)[at] : ((const uint32_t *)l->at)[at];
}
/* Vertices in engine @e's output list, on chip and spilled. */
static inline uint64_t peg_core_pushed(const struct peg_core *c, unsigned e)
{
	return c->engine[e].out.count + c->engine[e].spilled;
}

/* ---- Internal to peg_core.c, peg_engine.c and peg_balance.c ---- */

static inline uint64_t peg_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Fill @n lanes of 1 << @log2 bytes at @to with @value, @value + @step and so on. */
static inline void peg_fill_lanes(uint8_t *to, unsigned log2, uint64_t value, uint64_t step, unsigned n)
{
	if (log2 == 2)
		for (unsigned i = 0; i < n; i++)
			((uint32_t *)(void *)to)[i] = (uint32_t)(value + step * i);
	else
		for (unsigned i = 0; i < n; i++)
			((uint64_t *)(void *)to)[i] = value + step * i;
}

/* Every cycle before @now was run: let engines that stand by end, if they report that none has work. */
void peg_report_end(struct peg_core *c, uint64_t now);
/* Run engine @n up to cycle @limit; false: the caller must take its records first. */
bool peg_engine_run(struct peg_core *c, unsigned n, uint64_t limit);

/*
 * Run the control processor's steps of cycle c->control, before the engines run it. False: memory
 * failed.
 */
bool peg_control(struct peg_core *c);
/* State changed at @cycle: schedule engine @e, and the control processor if it stopped polling. */
void peg_wake(struct peg_core *c, unsigned e, uint64_t cycle);
int peg_entry_take(struct peg_core *c, struct peg_engine *e);
/* The offsets of entry @n will be available in cycle @ready. */
void peg_index_known(const struct peg_core *c, struct peg_engine *e, uint32_t n, uint64_t ready);
/* Entry @n has @edges left to request; 0: it is not RD or FE. */
static inline void peg_entry_has(const struct peg_core *c, const struct peg_engine *e, uint32_t n, uint64_t edges)
{
	if (!e->most)
		return;
	for (n += c->entry_mask + 1, e->most[n] = edges; n /= 2;)
		e->most[n] = e->most[2 * n] > e->most[2 * n + 1] ? e->most[2 * n] : e->most[2 * n + 1];
}
void peg_entry_free(const struct peg_core *c, struct peg_engine *e, unsigned n);
bool peg_out_append(struct peg_core *c, unsigned e, const uint64_t *vertex, unsigned count);

#endif
