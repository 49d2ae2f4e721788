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
	free(c->overflow);
}

static bool before(const struct lab_later *a, const struct lab_later *b)
{
	return a->when < b->when || (a->when == b->when && a->order < b->order);
}

void lab_calendar_overflow(struct lab_calendar *c, uint64_t when, uint32_t node)
{
	struct lab_later *bigger, f = { when, c->order++, node };
	uint32_t i, capacity;

	if (c->overflow_count == c->overflow_capacity) {
		capacity = c->overflow_capacity ? 2 * c->overflow_capacity : 256;
		bigger = realloc(c->overflow, capacity * sizeof(*bigger));
		if (!bigger) {
			c->no_memory = true;
			return;
		}
		c->overflow = bigger;
		c->overflow_capacity = capacity;
	}
	for (i = c->overflow_count++; i && before(&f, &c->overflow[(i - 1) / 2]); i = (i - 1) / 2)
		c->overflow[i] = c->overflow[(i - 1) / 2];
	c->overflow[i] = f;
}

static uint32_t take_overflow(struct lab_calendar *c)
{
	uint32_t node = c->overflow[0].node, i = 0, child;
	struct lab_later last = c->overflow[--c->overflow_count];

	while ((child = 2 * i + 1) < c->overflow_count) {
		child += child + 1 < c->overflow_count && before(&c->overflow[child + 1], &c->overflow[child]);
		if (before(&last, &c->overflow[child]))
			break;
		c->overflow[i] = c->overflow[child];
		i = child;
	}
	c->overflow[i] = last;
	return node;
}

/* The first bucket with events from bucket @from on, around the ring. False: the ring is empty. */
static bool next_bucket(const struct lab_calendar *c, uint32_t from, uint32_t *b)
{
	uint32_t word = from / 64;
	uint64_t rest = c->bits[word] & (~0ull << (from % 64));

	if (!rest) {
		if (!c->summary)
			return false;
		rest = word < 63 ? c->summary & (~0ull << (word + 1)) : 0;
		word = (uint32_t)__builtin_ctzll(rest ? rest : c->summary);
		rest = c->bits[word];
	}
	*b = word * 64 + (uint32_t)__builtin_ctzll(rest);
	return true;
}

uint32_t lab_calendar_after(const struct lab_calendar *c, uint32_t k, uint32_t *b)
{
	if (c->chunk[k].next)
		return c->chunk[k].next;
	return next_bucket(c, (*b + 1) & (LAB_RING - 1), b) ? c->head[*b] : 0;
}

uint32_t lab_calendar_advance(struct lab_calendar *c)
{
	uint64_t when;
	uint32_t node, here = (uint32_t)c->now & (LAB_RING - 1), b;

	if (next_bucket(c, here, &b))
		c->now += (b - here) & (LAB_RING - 1);
	else if (c->overflow_count)
		c->now = c->overflow[0].when;
	else
		return 0;
	/* events that are now within the ring's range go in before others can be added directly */
	while (c->overflow_count && c->overflow[0].when - c->now < LAB_RING) {
		when = c->overflow[0].when;
		node = take_overflow(c);
		lab_calendar_push(c, when, node);
	}
	return lab_calendar_pop(c);
}
