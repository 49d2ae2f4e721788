// SPDX-License-Identifier: MIT
/* The event queue: ring buckets, the heap of later events, and the search for the next event. */
#include <stdlib.h>
#include <sys/mman.h>

#include "events.h"

bool lab_calendar_init(struct lab_calendar *c)
{
	c->chunk = mmap(NULL, (size_t)LAB_CHUNKS_MAX * sizeof(*c->chunk), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->chunk == MAP_FAILED)
		c->chunk = NULL;
	c->chunk_end = 1;
	return c->chunk != NULL;
}

void lab_calendar_free(struct lab_calendar *c)
{
	if (c->chunk)
		munmap(c->chunk, (size_t)LAB_CHUNKS_MAX * sizeof(*c->chunk));
	free(c->far);
}

static bool before(const struct lab_far *a, const struct lab_far *b)
{
	return a->when < b->when || (a->when == b->when && a->order < b->order);
}

void lab_calendar_far(struct lab_calendar *c, uint64_t when, uint32_t node)
{
	struct lab_far *bigger, f = { when, c->order++, node };
	uint32_t i, capacity;

	if (c->far_count == c->far_capacity) {
		capacity = c->far_capacity ? 2 * c->far_capacity : 256;
		bigger = realloc(c->far, capacity * sizeof(*bigger));
		if (!bigger) {
			c->no_memory = true;
			return;
		}
		c->far = bigger;
		c->far_capacity = capacity;
	}
	for (i = c->far_count++; i && before(&f, &c->far[(i - 1) / 2]); i = (i - 1) / 2)
		c->far[i] = c->far[(i - 1) / 2];
	c->far[i] = f;
}

static uint32_t take_far(struct lab_calendar *c)
{
	uint32_t node = c->far[0].node, i = 0, child;
	struct lab_far last = c->far[--c->far_count];

	while ((child = 2 * i + 1) < c->far_count) {
		child += child + 1 < c->far_count && before(&c->far[child + 1], &c->far[child]);
		if (before(&last, &c->far[child]))
			break;
		c->far[i] = c->far[child];
		i = child;
	}
	c->far[i] = last;
	return node;
}

/* First cycle at or after now with an event in the ring, which must not be empty. */
static uint64_t next_in_ring(const struct lab_calendar *c)
{
	uint32_t b = (uint32_t)c->now & (LAB_RING - 1), word = b / 64, found;
	uint64_t here = c->bits[word] & (~0ull << (b % 64)), rest;

	if (here) {
		found = word * 64 + (uint32_t)__builtin_ctzll(here);
	} else {
		/* the later words, then wrap around */
		rest = word < 63 ? c->summary & (~0ull << (word + 1)) : 0;
		word = (uint32_t)__builtin_ctzll(rest ? rest : c->summary);
		found = word * 64 + (uint32_t)__builtin_ctzll(c->bits[word]);
	}
	return c->now + ((found - b) & (LAB_RING - 1));
}

uint32_t lab_calendar_after(const struct lab_calendar *c, uint32_t k, uint32_t *b)
{
	uint32_t word, from;
	uint64_t rest;

	if (c->chunk[k].next)
		return c->chunk[k].next;
	from = (*b + 1) & (LAB_RING - 1);
	word = from / 64;
	rest = c->bits[word] & (~0ull << (from % 64));
	if (!rest) {
		rest = word < 63 ? c->summary & (~0ull << (word + 1)) : 0;
		rest = rest ? rest : c->summary;
		if (!rest)
			return 0;
		word = (uint32_t)__builtin_ctzll(rest);
		rest = c->bits[word];
	}
	*b = word * 64 + (uint32_t)__builtin_ctzll(rest);
	return c->head[*b];
}

uint32_t lab_calendar_advance(struct lab_calendar *c)
{
	uint64_t when;
	uint32_t node;

	if (c->summary)
		c->now = next_in_ring(c);
	else if (c->far_count)
		c->now = c->far[0].when;
	else
		return 0;
	/* events that are now within the ring's range go in before others can be added directly */
	while (c->far_count && c->far[0].when - c->now < LAB_RING) {
		when = c->far[0].when;
		node = take_far(c);
		lab_calendar_push(c, when, node);
	}
	return lab_calendar_pop(c);
}
