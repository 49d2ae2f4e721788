/* SPDX-License-Identifier: MIT */
/*
 * What happens when: a calendar of one list a cycle for the next LAB_RING cycles and a heap for what
 * lies beyond. Events of one cycle come out in the order in which they were put in. A list is of chunks
 * of numbers of nodes, so that what comes next is known early enough to be fetched into the host's caches.
 *
 * An event is a node: of a warp, a scheduler, an LSU, a unit (these have theirs for good), or of a
 * request on its way, which is in one place at a time.
 */
#ifndef GTU_LAB_EVENTS_H
#define GTU_LAB_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#define LAB_RING 4096u

enum lab_event {
	EV_WAKE, EV_ISSUE,		/* a warp: may go on; its operations reach the LSU */
	EV_SCHEDULER, EV_LSU, EV_L1,	/* of an SM: free again; lookups are due */
	EV_BLOCK,			/* an SM takes a block */
	EV_ARRIVE, EV_REPLY, EV_FILL,	/* at its slice, its data there, back at its L1 */
	EV_LINK, EV_LINK_DONE,		/* a request: at the link, answered by it */
	EV_UVM,				/* the driver of unified memory */
	EV_UNIT_ASK, EV_UNIT_ANSWER, EV_UNIT_REPLY, EV_UNIT_CLOCK,
};

struct lab_node {
	uint32_t next;			/* of those that are free, or wait for the link */
	uint8_t kind;			/* enum lab_event */
	uint8_t op;			/* enum lab_kind */
	uint8_t sectors, partial;	/* of the line */
	uint32_t owner;			/* warp, MSHR, unit */
	uint16_t port, set;		/* port: SM, or that of a unit; set: of the slice's tags */
	uint32_t line;			/* address / 128; a link request's is in value */
	uint8_t slice, board, flags;	/* flags: LAB_OF_* */
	uint8_t bytes;			/* of the request; of a link request, that it asks for */
	uint64_t value;			/* a unit's tag, a link request's address, a warp's stack pointer */
};
_Static_assert(sizeof(struct lab_node) == 32, "two nodes a cache line");

enum { LAB_OF_WARP, LAB_OF_MSHR, LAB_OF_UNIT, LAB_OF_NOBODY };

struct lab_far {
	uint64_t when, order;
	uint32_t node;
};

#define LAB_CHUNK 14u
struct lab_chunk {
	uint32_t next, n;
	uint32_t node[LAB_CHUNK];
};
_Static_assert(sizeof(struct lab_chunk) == 64, "a chunk is a cache line");
#define LAB_CHUNKS_MAX (1u << 25)	/* of address space, not of memory */

struct lab_calendar {
	uint64_t now;
	uint32_t at;			/* place in the first chunk of now */
	uint32_t chunk_end, chunk_free;
	uint64_t summary;		/* words of bits[] that are not 0 */
	uint64_t bits[LAB_RING / 64];
	uint32_t head[LAB_RING], tail[LAB_RING]; /* chunks */
	struct lab_node *node;		/* [0] is none */
	struct lab_chunk *chunk;	/* [0] is none */
	struct lab_far *far;		/* a heap */
	uint32_t far_count, far_room;
	uint64_t order;
	bool opened;			/* a chunk was begun: someone may look ahead */
	bool no_memory;			/* an event found no room: the run has failed */
};

bool lab_calendar_init(struct lab_calendar *c);	/* its chunks; the nodes are the caller's */
void lab_calendar_free(struct lab_calendar *c);
void lab_calendar_far(struct lab_calendar *c, uint64_t when, uint32_t node);
/* The next event, its cycle in c->now; 0: there is none. */
uint32_t lab_calendar_advance(struct lab_calendar *c);
/* The chunk that will be begun after chunk @k of bucket @b, and its bucket; 0: none. */
uint32_t lab_calendar_after(const struct lab_calendar *c, uint32_t k, uint32_t *b);

static inline uint32_t lab_chunk_take(struct lab_calendar *c)
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

static inline void lab_calendar_put(struct lab_calendar *c, uint64_t when, uint32_t node)
{
	uint32_t b = (uint32_t)when & (LAB_RING - 1), k;
	struct lab_chunk *t = &c->chunk[c->tail[b]];

	if (!(c->bits[b / 64] >> (b % 64) & 1)) {
		c->bits[b / 64] |= 1ull << (b % 64);
		c->summary |= 1ull << (b / 64);
		c->head[b] = k = lab_chunk_take(c);
	} else if (t->n == LAB_CHUNK) {
		t->next = k = lab_chunk_take(c);
	} else {
		t->node[t->n++] = node;
		return;
	}
	c->tail[b] = k;
	c->chunk[k].n = 1;
	c->chunk[k].node[0] = node;
}

/* @node happens in cycle @when, now or later. */
static inline void lab_at(struct lab_calendar *c, uint64_t when, uint32_t node, enum lab_event kind)
{
	c->node[node].kind = (uint8_t)kind;
	if (__builtin_expect(when - c->now < LAB_RING, 1))
		lab_calendar_put(c, when, node);
	else
		lab_calendar_far(c, when, node);
}

static inline uint32_t lab_calendar_take(struct lab_calendar *c)
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
