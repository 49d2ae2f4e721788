/* SPDX-License-Identifier: MIT */
/*
 * The event queue: a calendar with one list per cycle for the next LAB_RING cycles, and a heap for
 * later events. Events of one cycle are served in FIFO order. Lists consist of chunks of node
 * numbers, so that the next events are known early enough to prefetch them.
 *
 * An event is a node. Warps, schedulers, LSUs and units own theirs; each request in flight has one.
 */
#ifndef GTU_LAB_EVENTS_H
#define GTU_LAB_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#define LAB_RING 4096u

enum lab_event {
	EV_WAKE, EV_ISSUE,		/* a warp: may resume; its operations reach the LSU */
	EV_SCHEDULER, EV_LSU, EV_L1,	/* of an SM: free again; lookups are due */
	EV_BLOCK,			/* the SMs take blocks */
	/* request at its L2 slice; data ready there; fill at the L1 */
	EV_ARRIVE, EV_REPLY, EV_FILL,
	EV_LINK, EV_LINK_DONE,		/* a request: at the link; completed by it */
	EV_UVM,				/* a step of the unified memory driver */
	EV_UNIT_ASK, EV_UNIT_ANSWER, EV_UNIT_REPLY, EV_UNIT_CLOCK,
};

struct lab_node {
	uint32_t next;			/* in the free list, or the queue for the link */
	uint8_t kind;			/* enum lab_event */
	uint8_t op;			/* enum lab_kind */
	uint8_t sectors, partial;	/* masks within the line */
	uint32_t owner;			/* warp, MSHR, unit */
	uint16_t port, set;		/* port: of an SM or a unit; set: in the slice's tags */
	uint32_t line;			/* address / 128; a link request has its address in value */
	uint8_t slice, board, reply_to;	/* reply_to: LAB_REPLY_TO_* */
	uint8_t bytes; /* of the request packet; of a link request: bytes requested */
	uint64_t value; /* a unit's tag, a link request's address, or a warp's stack pointer */
};
_Static_assert(sizeof(struct lab_node) == 32, "two nodes a cache line");

enum { LAB_REPLY_TO_WARP, LAB_REPLY_TO_MSHR, LAB_REPLY_TO_UNIT, LAB_REPLY_TO_NONE };

struct lab_later {
	uint64_t when, order;
	uint32_t node;
};

#define LAB_CHUNK 14u
struct lab_chunk {
	uint32_t next, n;
	uint32_t node[LAB_CHUNK];
};
_Static_assert(sizeof(struct lab_chunk) == 64, "a chunk is a cache line");
#define LAB_CHUNKS_MAX (1u << 25)	/* reserved address space, not memory */

struct lab_calendar {
	uint64_t now;
	uint32_t at;			/* index in the first chunk of now */
	uint32_t chunk_end, chunk_free;
	uint64_t summary;		/* non-zero words of bits[] */
	uint64_t bits[LAB_RING / 64];
	uint32_t head[LAB_RING], tail[LAB_RING]; /* chunks */
	struct lab_node *node;		/* [0] is unused */
	struct lab_chunk *chunk;	/* [0] is unused */
	struct lab_later *overflow;	/* a heap */
	uint32_t overflow_count, overflow_capacity;
	uint64_t order;
	bool opened;			/* a chunk was begun: the caller may prefetch */
	bool no_memory;			/* an allocation failed: the run must end */
};

/* Allocates the chunks; the caller provides the nodes. */
bool lab_calendar_init(struct lab_calendar *c);
void lab_calendar_free(struct lab_calendar *c);
void lab_calendar_overflow(struct lab_calendar *c, uint64_t when, uint32_t node);
/* Returns the next event and moves c->now to its cycle; 0: no events. */
uint32_t lab_calendar_advance(struct lab_calendar *c);
/* The chunk after chunk @k of bucket @b; sets *@b to its bucket. 0: none. */
uint32_t lab_calendar_after(const struct lab_calendar *c, uint32_t k, uint32_t *b);

static inline uint32_t lab_chunk_alloc(struct lab_calendar *c)
{
	uint32_t k = c->chunk_free;

	if (k)
		c->chunk_free = c->chunk[k].next;
	else if (c->chunk_end < LAB_CHUNKS_MAX - 1)
		k = c->chunk_end++;
	else
		c->no_memory = true, k = LAB_CHUNKS_MAX - 1;
	c->chunk[k].next = 0;
	return k;
}

static inline void lab_calendar_push(struct lab_calendar *c, uint64_t when, uint32_t node)
{
	uint32_t b = (uint32_t)when & (LAB_RING - 1), k;
	struct lab_chunk *t = &c->chunk[c->tail[b]];

	if (!(c->bits[b / 64] >> (b % 64) & 1)) {
		c->bits[b / 64] |= 1ull << (b % 64);
		c->summary |= 1ull << (b / 64);
		c->head[b] = k = lab_chunk_alloc(c);
	} else if (t->n == LAB_CHUNK) {
		t->next = k = lab_chunk_alloc(c);
	} else {
		t->node[t->n++] = node;
		return;
	}
	c->tail[b] = k;
	c->chunk[k].n = 1;
	c->chunk[k].node[0] = node;
}

/* Schedule @node in cycle @when, now or later. */
static inline void lab_schedule(struct lab_calendar *c, uint64_t when, uint32_t node, enum lab_event kind)
{
	c->node[node].kind = (uint8_t)kind;
	if (__builtin_expect(when - c->now < LAB_RING, 1))
		lab_calendar_push(c, when, node);
	else
		lab_calendar_overflow(c, when, node);
}

static inline uint32_t lab_calendar_pop(struct lab_calendar *c)
{
	uint32_t b = (uint32_t)c->now & (LAB_RING - 1), node, k;
	struct lab_chunk *h;

	if (!(c->bits[b / 64] >> (b % 64) & 1))
		return lab_calendar_advance(c);
	k = c->head[b];
	h = &c->chunk[k];
	c->opened = !c->at;
	node = h->node[c->at++];
	if (c->at < h->n)
		return node;
	c->at = 0;
	c->head[b] = h->next;
	if (!h->next) {
		c->bits[b / 64] &= ~(1ull << (b % 64));
		if (!c->bits[b / 64])
			c->summary &= ~(1ull << (b / 64));
	}
	h->next = c->chunk_free;
	c->chunk_free = k;
	return node;
}

#endif
