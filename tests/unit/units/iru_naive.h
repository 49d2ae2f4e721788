/* SPDX-License-Identifier: MIT */
/*
 * Reference model of the IRU for tests: the rules of Documentation/units-iru.md, cycle by cycle,
 * without regard to speed. It shares no code with the IRU's schedule.
 */
#ifndef IRU_NAIVE_H
#define IRU_NAIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

struct naive_el {
	uint32_t index, secondary, position;
};

struct naive_queue {
	struct naive_el *el;
	size_t head, tail;
};

struct naive_set {
	struct naive_el el[32];
	unsigned n;
};

struct naive_line {
	uint64_t first, ready;
	unsigned count;
};

struct naive_record {
	struct naive_el el[32];
	unsigned n, reason, lines;
	uint64_t cycle;
};

struct naive_slot {
	bool used;
	unsigned hops, to;
	struct naive_el el;
};

struct naive_ask {
	uint64_t cycle, requested;
};

struct naive_config {
	unsigned sets, partitions, banks, interleave, prefetch, ring_depth, queue_depth;
	uint64_t n, addr, base, timeout;
	unsigned target, op;
	bool all, private_hash;
	const uint32_t *index, *secondary;
	/* cycles from the fetch of the line that begins with this element until it is available */
	uint64_t (*latency)(uint64_t first);
	/*
	 * requests: requested[i] in total from cycle[i] on, ascending; NULL: a request is always
	 * pending
	 */
	const struct naive_ask *ask;
	unsigned asks;
};

struct naive {
	const struct naive_config *c;
	struct naive_set *set;
	unsigned *full[64];		/* by bank: numbers of full sets, oldest first */
	unsigned fulls[64];
	struct naive_queue own[64], ring_in[64], to_ring[2][16];
	unsigned ring_load[16];		/* elements in a partition's ring inputs or in flight to them */
	struct naive_slot slot[2][16];	/* by direction, at partition */
	struct naive_line *line[16];
	unsigned line_head[16], line_tail[16];
	uint64_t next_addr[16];
	struct naive_record *record;
	uint64_t records, requested, oldest, inserted, merged, hops, blocked, t;
	bool waited_own[64], waited_ring[64];
};

static inline unsigned naive_log2(unsigned x)
{
	unsigned l = 0;

	while (1u << (l + 1) <= x)
		l++;
	return l;
}

static inline uint64_t naive_line_of(const struct naive_config *c, uint32_t index)
{
	return (c->base + ((uint64_t)index << c->target)) / 128;
}

static inline unsigned naive_set_of(const struct naive_config *c, uint32_t index)
{
	const uint32_t hash = (uint32_t)naive_line_of(c, index) * 0x9E3779B1u;

	return c->sets == 1 ? 0 : hash >> (32 - naive_log2(c->sets));
}

static inline unsigned naive_partition_of(const struct naive_config *c, unsigned set)
{
	return set / (c->sets / c->partitions);
}

static inline unsigned naive_bank_of(const struct naive_config *c, unsigned set)
{
	return naive_partition_of(c, set) * c->banks + set % c->banks;
}

/* The set in which partition @p inserts an element. */
static inline unsigned naive_own_set(const struct naive_config *c, unsigned p, uint32_t index)
{
	const unsigned set = naive_set_of(c, index), sets = c->sets / c->partitions;

	return c->private_hash ? p * sets + set % sets : set;
}

static void naive_push(struct naive_queue *q, struct naive_el e)
{
	q->el[q->tail++] = e;
}

static bool naive_some(const struct naive_queue *q)
{
	return q->head != q->tail;
}

static void naive_emit(struct naive *v, const struct naive_el *el, unsigned n, unsigned reason)
{
	struct naive_record *r = &v->record[v->records++];

	memset(r, 0, sizeof(*r));
	memcpy(r->el, el, n * sizeof(*el));
	r->n = n;
	r->reason = reason;
	r->cycle = v->t;
	for (unsigned i = 0; i < n; i++) {
		bool seen = false;

		for (unsigned j = 0; j < i; j++)
			seen |= naive_line_of(v->c, el[i].index) == naive_line_of(v->c, el[j].index);
		r->lines += !seen;
	}
	v->oldest = v->t;
}

static bool naive_requested(const struct naive *v)
{
	return !v->c->ask || v->records < v->requested;
}

/* Take @n elements from the front of a set. */
static void naive_take(struct naive_set *s, unsigned n, struct naive_el *to)
{
	memcpy(to, s->el, n * sizeof(*to));
	memmove(s->el, s->el + n, (s->n - n) * sizeof(*to));
	s->n -= n;
}

/* The fullest set of at most @space elements, else the smallest; lowest number on a tie; -1: all are empty. */
static int naive_fitting(const struct naive *v, unsigned space)
{
	int fits = -1, least = -1;

	for (unsigned s = 0; s < v->c->sets; s++) {
		const unsigned n = v->set[s].n;

		if (n && n <= space && (fits < 0 || n > v->set[fits].n))
			fits = (int)s;
		if (n && (least < 0 || n < v->set[least].n))
			least = (int)s;
	}
	return fits >= 0 ? fits : least;
}

/* Whether @a has more elements per line than @b, or as many and more elements. */
static bool naive_better(const struct naive_config *c, const struct naive_set *a, const struct naive_set *b)
{
	const struct naive_set *const set[2] = { a, b };
	double per_line[2] = { 0 };

	for (unsigned k = 0; k < 2; k++) {
		unsigned lines = 0;

		for (unsigned i = 0; i < set[k]->n; i++) {
			bool seen = false;

			for (unsigned j = 0; j < i; j++)
				seen |= naive_line_of(c, set[k]->el[i].index) == naive_line_of(c, set[k]->el[j].index);
			lines += !seen;
		}
		per_line[k] = lines ? (double)set[k]->n / lines : 0;
	}
	return per_line[0] > per_line[1] || (per_line[0] == per_line[1] && a->n > b->n);
}

static void naive_reply(struct naive *v)
{
	const struct naive_config *c = v->c;
	const uint64_t before = v->records;
	const unsigned part_sets = c->sets / c->partitions;
	struct naive_el out[32];
	unsigned have = 0;

	for (unsigned b = 0; b < c->partitions * c->banks; b++) {
		if (!v->fulls[b] || !naive_requested(v))
			continue;
		naive_emit(v, v->set[v->full[b][0]].el, 32, 0);
		v->set[v->full[b][0]].n = 0;
		memmove(v->full[b], v->full[b] + 1, --v->fulls[b] * sizeof(unsigned));
	}
	if (v->records != before || !naive_requested(v))
		return;
	if (v->inserted == c->n) {
		for (int s; have < 32 && (s = naive_fitting(v, 32 - have)) >= 0;) {
			const unsigned n = v->set[s].n < 32 - have ? v->set[s].n : 32 - have;

			naive_take(&v->set[s], n, out + have);
			have += n;
		}
		naive_emit(v, out, have, have ? 2 : 3);
	} else if (v->t >= v->oldest + c->timeout) {
		struct naive_set *mine = &v->set[v->records % c->partitions * part_sets];
		unsigned held = 0;

		for (unsigned s = 0; s < part_sets; s++)
			held += mine[s].n;
		if (held < 32)
			return;
		while (have < 32) {
			unsigned best = 0, n;

			for (unsigned s = 0; s < part_sets; s++)
				if (naive_better(c, &mine[s], &mine[best]))
					best = s;
			n = mine[best].n < 32 - have ? mine[best].n : 32 - have;
			naive_take(&mine[best], n, out + have);
			have += n;
		}
		naive_emit(v, out, 32, 1);
	}
}

static void naive_insert(struct naive *v, unsigned b)
{
	const struct naive_config *c = v->c;
	const bool from_ring = naive_some(&v->ring_in[b]);
	struct naive_queue *q = from_ring ? &v->ring_in[b] : &v->own[b];
	bool *waited = from_ring ? &v->waited_ring[b] : &v->waited_own[b];
	struct naive_el e, *old;
	struct naive_set *s;

	if (!naive_some(q))
		return;
	e = q->el[q->head];
	s = &v->set[naive_own_set(c, b / c->banks, e.index)];
	if (s->n == 32) {
		v->blocked += !*waited;
		*waited = true;
		return;
	}
	*waited = false;
	q->head++;
	v->inserted++;
	if (from_ring)
		v->ring_load[b / c->banks]--;
	for (unsigned i = 0; c->op && i < s->n; i++) {
		old = &s->el[i];
		if (old->index != e.index)
			continue;
		v->merged++;
		if (c->op == 2 && e.secondary < old->secondary)
			*old = e;
		if (c->op == 3 && (int32_t)e.secondary < (int32_t)old->secondary)
			*old = e;
		if (c->op == 4) {
			union { uint32_t u; float f; } x = { old->secondary }, y = { e.secondary };

			x.f = x.f + y.f;
			old->secondary = x.f == x.f ? x.u : 0x7fc00000;
		}
		return;
	}
	s->el[s->n++] = e;
	if (s->n == 32)
		v->full[b][v->fulls[b]++] = (unsigned)(s - v->set);
}

/* Direction and hops from one partition to another. */
static unsigned naive_route(unsigned partitions, unsigned from, unsigned to, unsigned *hops)
{
	const unsigned up = (to + partitions - from) % partitions, down = partitions - up;

	if (up < down || (up == down && from % 2 == 0)) {
		*hops = up;
		return 0;
	}
	*hops = down;
	return 1;
}

static void naive_ring(struct naive *v)
{
	const struct naive_config *c = v->c;
	const unsigned p_n = c->partitions;
	struct naive_slot moved[2][16];

	for (unsigned dir = 0; dir < 2; dir++) {
		for (unsigned p = 0; p < p_n; p++) {
			struct naive_queue *q = &v->to_ring[dir][p];
			struct naive_slot *s = &v->slot[dir][p];
			unsigned to;

			if (!naive_some(q) || s->used)
				continue;
			to = naive_partition_of(c, naive_set_of(c, q->el[q->head].index));
			if (v->ring_load[to] == c->ring_depth)
				continue;
			v->ring_load[to]++;
			s->used = true;
			s->to = to;
			s->el = q->el[q->head++];
			naive_route(p_n, p, to, &s->hops);
			v->hops += s->hops;
		}
	}
	memset(moved, 0, sizeof(moved));
	for (unsigned dir = 0; dir < 2; dir++)
		for (unsigned p = 0; p < p_n; p++)
			moved[dir][(p + (dir ? p_n - 1 : 1)) % p_n] = v->slot[dir][p];
	memcpy(v->slot, moved, sizeof(moved));
	for (unsigned dir = 0; dir < 2; dir++) {
		for (unsigned p = 0; p < p_n; p++) {
			struct naive_slot *s = &v->slot[dir][p];

			if (!s->used || --s->hops)
				continue;
			s->used = false;
			naive_push(&v->ring_in[naive_bank_of(c, naive_set_of(c, s->el.index))], s->el);
		}
	}
}

/* The queue of partition @p that takes this index. */
static struct naive_queue *naive_sort(struct naive *v, unsigned p, uint32_t index)
{
	const unsigned set = naive_own_set(v->c, p, index), to = naive_partition_of(v->c, set);
	unsigned hops;

	if (to == p)
		return &v->own[naive_bank_of(v->c, set)];
	return &v->to_ring[naive_route(v->c->partitions, p, to, &hops)][p];
}

static void naive_classify(struct naive *v, unsigned p)
{
	const struct naive_config *c = v->c;
	const struct naive_line *l = &v->line[p][v->line_head[p]];
	struct naive_queue *to[32];

	if (v->line_head[p] == v->line_tail[p] || l->ready > v->t)
		return;
	for (unsigned i = 0; i < l->count; i++)
		to[i] = naive_sort(v, p, c->index[l->first + i]);
	for (unsigned i = 0; i < l->count; i++) {
		size_t share = 0;

		for (unsigned j = 0; j < l->count; j++)
			share += to[j] == to[i];
		if (to[i]->tail - to[i]->head + share > c->queue_depth)
			return;
	}
	for (unsigned i = 0; i < l->count; i++) {
		const uint64_t at = l->first + i;

		naive_push(to[i],
			   (struct naive_el){ c->index[at], c->secondary ? c->secondary[at] : 0,
					      (uint32_t)at });
	}
	v->line_head[p]++;
}

static void naive_fetch(struct naive *v, unsigned p)
{
	const struct naive_config *c = v->c;
	struct naive_line *l = &v->line[p][v->line_tail[p]];
	uint64_t end;

	while (v->next_addr[p] / c->interleave % c->partitions != p)
		v->next_addr[p] += 128;
	if (v->line_tail[p] - v->line_head[p] == c->prefetch || v->next_addr[p] >= c->addr + 4 * c->n)
		return;
	end = v->next_addr[p] + 128;
	if (end > c->addr + 4 * c->n)
		end = c->addr + 4 * c->n;
	l->first = v->next_addr[p] < c->addr ? 0 : (v->next_addr[p] - c->addr) / 4;
	l->count = (unsigned)((end - c->addr) / 4 - l->first);
	l->ready = v->t + c->latency(l->first);
	v->line_tail[p]++;
	v->next_addr[p] += 128;
}

static bool naive_done(const struct naive *v)
{
	uint64_t held = 0;

	if (v->inserted != v->c->n)
		return false;
	for (unsigned s = 0; s < v->c->sets; s++)
		held += v->set[s].n;
	return !held &&
	       (!v->c->all || v->records >= (v->c->n + 31) / 32);
}

/* Run a stream; false if its requests end before it does. */
static bool naive_run(struct naive *v, const struct naive_config *c)
{
	const uint64_t quiet = 1u << 20;
	unsigned next_ask = 0;

	memset(v, 0, sizeof(*v));
	v->c = c;
	v->set = test_alloc(c->sets, sizeof(*v->set));
	v->record = test_alloc(c->n + 1, sizeof(*v->record));
	for (unsigned b = 0; b < c->partitions * c->banks; b++) {
		v->full[b] = test_alloc(c->sets, sizeof(unsigned));
		v->own[b].el = test_alloc(c->n + 1, sizeof(struct naive_el));
		v->ring_in[b].el = test_alloc(c->n + 1, sizeof(struct naive_el));
	}
	for (unsigned p = 0; p < c->partitions; p++) {
		v->line[p] = test_alloc(c->n / 32 + 3, sizeof(*v->line[p]));
		v->to_ring[0][p].el = test_alloc(c->n + 1, sizeof(struct naive_el));
		v->to_ring[1][p].el = test_alloc(c->n + 1, sizeof(struct naive_el));
		v->next_addr[p] = c->addr / 128 * 128;
	}
	for (v->t = 0; !naive_done(v); v->t++) {
		while (next_ask < c->asks && c->ask[next_ask].cycle <= v->t) {
			if (c->ask[next_ask].requested > v->requested) {
				if (v->records == v->requested)
					v->oldest = v->t;
				v->requested = c->ask[next_ask].requested;
			}
			next_ask++;
		}
		if (c->ask && next_ask == c->asks && v->records == v->requested &&
		    v->t > c->ask[c->asks - 1].cycle + quiet)
			return false;
		naive_reply(v);
		for (unsigned b = 0; b < c->partitions * c->banks; b++)
			naive_insert(v, b);
		naive_ring(v);
		for (unsigned p = 0; p < c->partitions; p++) {
			naive_classify(v, p);
			naive_fetch(v, p);
		}
	}
	return true;
}

#endif
