// SPDX-License-Identifier: MIT
/*
 * Many cycles of the IRU at once, exactly as if run one by one. A queue hands out one element a cycle,
 * so what happens in it over up to 32 cycles is a word of bits, one a cycle, and its elements fall
 * into the set bits in order. That holds as long as nothing is refused: a partition's ring inputs have
 * credit for all that can arrive, no set blocks a bank (a request is always pending, and a bank's full
 * set is gone a cycle later), and lines surely find room; where that is not known beforehand, the run
 * ends. For the published build (4 partitions of 2 banks, 1024 sets) and processors with AVX-512.
 */
#include "iru_steps.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define AHEAD __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512cd,bmi,bmi2,popcnt,lzcnt")))
#define AHEAD_INLINE AHEAD static inline __attribute__((always_inline))

#define PARTITIONS	4u
#define BANKS		2u
#define ALL_BANKS	(PARTITIONS * BANKS)
#define PLACES		128u
#define OWNER_SHIFT	8		/* of a set's number */
#define OUTS		(2 * ALL_BANKS)	/* first queue to the ring: direction * PARTITIONS + partition */
#define QUEUES		(OUTS + 2 * PARTITIONS)
#define SPAN		32u		/* cycles at once, at most */
#define SPAN_MIN	4u		/* fewer are not worth it */
#define SPLITS		16u

/* When what a partition's classifier hands out in the span can be taken. */
struct splits {
	unsigned n;
	uint8_t from[SPLITS];		/* offset of the cycle */
	uint8_t share[SPLITS][BANKS + 2];
};

struct fill {
	uint16_t key;			/* offset, then bank: the order of the replies */
	uint16_t place;			/* in out[] */
};

struct span {
	struct splits split[PARTITIONS];
	uint32_t held[QUEUES];		/* elements of each queue at its beginning */
	uint32_t into[2][PARTITIONS];	/* cycles with an arrival by direction, at partition */
	uint32_t into_odd[2][PARTITIONS]; /* those for bank 1 */
	uint32_t at[2][PARTITIONS][SPAN + 16] __attribute__((aligned(64))); /* where it lies */
	uint32_t put[PARTITIONS];	/* elements sent to each partition */
	struct fill fill[ALL_BANKS * SPAN];
	unsigned fills;
	uint64_t taken;			/* elements inserted */
};

/*
 * The cycles, of those free in @open, in which a queue's elements leave it: those it held, then what
 * the classifier adds as queue @k of the partition.
 */
AHEAD_INLINE uint32_t leave(uint32_t open, uint32_t held, const struct splits *s, unsigned k)
{
	uint32_t gone = (uint32_t)_pdep_u64(_bzhi_u64(~0ull, held), open);

	/* one that did not get all its elements out has no open cycle left for later ones */
	for (unsigned i = 0; i < s->n; i++) {
		const unsigned after = gone ? 32 - (unsigned)__builtin_clz(gone) : 0;
		const unsigned from = s->from[i] > after ? s->from[i] : after;

		if (from < 32)
			gone |= (uint32_t)_pdep_u64(_bzhi_u64(~0ull, s->share[i][k]), open & (~0u << from));
	}
	return gone;
}

/* Let partition @p put elements on the ring in direction @dir, except in the cycles @busy. */
AHEAD_INLINE uint32_t send(struct iru_core *c, struct span *w, unsigned dir, unsigned p, uint32_t all,
			   uint32_t busy)
{
	const unsigned q = OUTS + dir * PARTITIONS + p;
	const uint32_t base = q * PLACES + c->fifo_head[q];
	const unsigned near_to = (dir ? p - 1 : p + 1) % PARTITIONS, far_to = (p + 2) % PARTITIONS;
	const uint32_t go = leave(all & ~busy, w->held[q], &w->split[p], BANKS + dir);
	const unsigned n = (unsigned)__builtin_popcount(go);
	const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	__m512i sets, low, high;
	uint32_t far, near, odd;

	if (!n)
		return 0;
	sets = _mm512_loadu_si512(&c->fifo_set[base]);
	far = _pdep_u32(_mm512_cmpeq_epi16_mask(_mm512_srli_epi16(sets, OWNER_SHIFT),
						_mm512_set1_epi16((short)far_to)), go);
	odd = _pdep_u32(_mm512_test_epi16_mask(sets, _mm512_set1_epi16(1)), go);
	near = go & ~far;
	low = _mm512_maskz_expand_epi32((__mmask16)go, _mm512_add_epi32(lanes, _mm512_set1_epi32((int)base)));
	high = _mm512_maskz_expand_epi32(
		(__mmask16)(go >> 16),
		_mm512_add_epi32(lanes, _mm512_set1_epi32((int)base + __builtin_popcount(go & 0xffff))));
	_mm512_mask_storeu_epi32(&w->at[dir][near_to][0], (__mmask16)near, low);
	_mm512_mask_storeu_epi32(&w->at[dir][near_to][16], (__mmask16)(near >> 16), high);
	_mm512_mask_storeu_epi32(&w->at[dir][far_to][1], (__mmask16)far, low);
	_mm512_mask_storeu_epi32(&w->at[dir][far_to][17], (__mmask16)(far >> 16), high);
	w->into[dir][near_to] |= near;
	w->into_odd[dir][near_to] |= near & odd;
	w->into[dir][far_to] |= far << 1;
	w->into_odd[dir][far_to] |= (far & odd) << 1;
	w->put[near_to] += (unsigned)__builtin_popcount(near);
	w->put[far_to] += (unsigned)__builtin_popcount(far);
	c->fifo_head[q] += n;
	c->count.hops += n + (unsigned)__builtin_popcount(far);
	return far;
}

/* What flew past the last cycle of the span lands in the one after. */
AHEAD_INLINE void still_flying(struct iru_core *c, const struct span *w, unsigned dir, unsigned p,
			       uint32_t far, unsigned span, uint64_t cycle)
{
	const unsigned then = (cycle + span) % IRU_SLOTS, to = (p + 2) % PARTITIONS;
	const unsigned past = (dir ? p - 1 : p + 1) % PARTITIONS;
	const unsigned land = dir * PARTITIONS + to;
	uint32_t at;

	if (!(far >> (span - 1) & 1))
		return;
	at = w->at[dir][to][span];
	c->landing[then][land] = (struct iru_element){
		.pair = c->fifo_pair[at], .secondary = c->fifo_secondary[at], .set = c->fifo_set[at],
	};
	c->landing_some[then] |= 1u << land;
	c->busy[then] |= 1u << (dir * PARTITIONS + past);
	c->flying++;
}

AHEAD_INLINE void ring(struct iru_core *c, struct span *w, unsigned span, uint64_t cycle)
{
	const uint32_t all = span < 32 ? (1u << span) - 1 : ~0u;
	const unsigned now = cycle % IRU_SLOTS;
	const uint32_t busy = c->busy[now];
	uint32_t landing = c->landing_some[now];

	c->busy[now] = c->landing_some[now] = 0;
	c->flying = 0;
	for (; landing; landing &= landing - 1) {
		const unsigned land = (unsigned)__builtin_ctz(landing);
		const unsigned dir = land / PARTITIONS, to = land % PARTITIONS;
		const struct iru_element *e = &c->landing[now][land];
		const uint32_t at = QUEUES * PLACES + land;

		c->fifo_pair[at] = e->pair;
		c->fifo_set[at] = e->set;
		c->fifo_secondary[at] = e->secondary;
		w->at[dir][to][0] = at;
		w->into[dir][to] |= 1;
		w->into_odd[dir][to] |= e->set & 1;
	}
	/* upwards, even partitions send past the next one; downwards, odd ones past the one before */
	for (unsigned dir = 0; dir < 2; dir++) {
		for (unsigned i = 0; i < 2; i++) {
			const unsigned first = 2 * i + dir;
			const unsigned second = (dir ? first - 1 : first + 1) % PARTITIONS;
			const uint32_t far = send(c, w, dir, first, all,
						  busy >> (dir * PARTITIONS + first) & 1);

			send(c, w, dir, second, all,
			     (busy >> (dir * PARTITIONS + second) & 1) | far << 1);
			still_flying(c, w, dir, first, far, span, cycle);
		}
	}
}

/* The last lane of a set was filled by bank @b at an offset before the last. */
AHEAD static void filled(struct iru_core *c, const struct iru_kernel *k, struct span *w, unsigned b,
			 unsigned offset, unsigned set)
{
	const size_t row = (size_t)set * IRU_LANES;
	const unsigned place = c->out_count + w->fills;

	k->record(c, &c->set_pair[row], &c->set_secondary[row], IRU_LANES, &c->out[place]);
	w->fill[w->fills++] = (struct fill){ (uint16_t)(offset << 8 | b), (uint16_t)place };
	c->set_count[set] = 0;
}

/* Bank @b: what it takes from its ring input and its own queue, and what stays. */
AHEAD_INLINE void bank(struct iru_core *c, const struct iru_kernel *k, struct span *w, unsigned b,
		       unsigned span, bool carry, bool merge)
{
	const uint32_t all = span < 32 ? (1u << span) - 1 : ~0u;
	const unsigned p = b / BANKS, rq = ALL_BANKS + b;
	const uint32_t *up = w->at[0][p], *down = w->at[1][p];
	const uint32_t keep = b & 1 ? 0 : ~0u;
	const uint32_t ups = w->into[0][p] & (w->into_odd[0][p] ^ keep) & all;
	const uint32_t downs = w->into[1][p] & (w->into_odd[1][p] ^ keep) & all;
	const uint32_t old = c->fifo_tail[rq] - c->fifo_head[rq];
	const uint32_t rbase = rq * PLACES + c->fifo_head[rq];
	uint32_t list[128], n = old, own = b * PLACES + c->fifo_head[b], next = 0;
	uint32_t from_ring, from_own, taken, kept;
	uint64_t served;

	/* the ring input in order, and the cycles in which it is served */
	for (uint32_t i = 0; i < old; i += 16)
		_mm512_storeu_si512(&list[i], _mm512_add_epi32(
			_mm512_set1_epi32((int)(rbase + i)),
			_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
	served = _bzhi_u64(~0ull, old);
	{
		unsigned free = old;

		for (uint32_t m = ups | downs; m; m &= m - 1) {
			const unsigned o = (unsigned)__builtin_ctz(m);
			const unsigned u = ups >> o & 1, d = downs >> o & 1;

			list[n] = up[o];
			n += u;
			list[n] = down[o];
			n += d;
			free = free > o + 1 ? free : o + 1;
			served |= (u + 2ull * d - (u ^ 1) * d) << free;
			free += u + d;
		}
	}
	from_ring = (uint32_t)served & all;
	from_own = leave(all & ~from_ring, w->held[b], &w->split[p], b % BANKS);

	for (uint32_t m = from_ring | from_own; m; m &= m - 1) {
		const unsigned o = (unsigned)__builtin_ctz(m), ring = from_ring >> o & 1;
		const uint32_t at = ring ? list[next] : own;
		const unsigned set = c->fifo_set[at], count = c->set_count[set];
		const size_t row = (size_t)set * IRU_LANES;
		const uint64_t pair = c->fifo_pair[at];
		int same = -1;

		next += ring;
		own += !ring;
		if (merge)
			same = k->find(&c->set_pair[row], count, (uint32_t)pair);
		if (merge && same >= 0) {
			iru_merge(c, row + (unsigned)same, pair, c->fifo_secondary[at]);
			continue;
		}
		c->set_pair[row + count] = pair;
		if (carry)
			c->set_secondary[row + count] = c->fifo_secondary[at];
		c->set_count[set] = (uint8_t)(count + 1);
		if (unlikely(count + 1 == IRU_LANES)) {
			if (o + 1 < span)
				filled(c, k, w, b, o, set);
			else
				iru_set_filled(c, b, set);
		}
	}
	taken = (uint32_t)__builtin_popcount(from_ring | from_own);
	w->taken += taken;
	c->credit[p] += next;
	c->fifo_head[b] = own - b * PLACES;

	/* what came and was not served stays in the ring input */
	kept = next > old ? next : old;
	c->fifo_head[rq] += next < old ? next : old;
	if (c->fifo_head[rq] == c->fifo_tail[rq])
		c->fifo_head[rq] = c->fifo_tail[rq] = 0;
	if (kept < n) {
		iru_fifo_room(c, rq, n - kept);
		for (; kept < n; kept++) {
			const uint32_t to = rq * PLACES + c->fifo_tail[rq]++, at = list[kept];

			c->fifo_pair[to] = c->fifo_pair[at];
			c->fifo_set[to] = c->fifo_set[at];
			if (carry)
				c->fifo_secondary[to] = c->fifo_secondary[at];
		}
	}
}

/* Number the records of the sets that were filled, in the order of their cycles and banks. */
static void number(struct iru_core *c, struct span *w, uint64_t cycle)
{
	for (unsigned i = 1; i < w->fills; i++) {
		const struct fill f = w->fill[i];
		unsigned j = i;

		for (; j && w->fill[j - 1].key > f.key; j--)
			w->fill[j] = w->fill[j - 1];
		w->fill[j] = f;
	}
	for (unsigned i = 0; i < w->fills; i++) {
		c->out_order[c->out_count] = w->fill[i].place;
		iru_number(c, &c->out[w->fill[i].place], cycle + (w->fill[i].key >> 8) + 1, GTU_WARP_FULL);
		c->out_count++;
	}
	c->count.full += w->fills;
}

/* Give out the lines that surely find room; returns the cycles that the span has because of it. */
static unsigned classify(struct iru_core *c, const struct iru_kernel *k, struct span *w, unsigned span,
			 uint64_t cycle)
{
	while (c->fetch_next < cycle + span - 1) {
		enum iru_status why;
		unsigned p = 0;
		struct splits *s;
		uint64_t at;

		for (unsigned i = 1; i < PARTITIONS; i++)
			if (c->partition[i].service < c->partition[p].service)
				p = i;
		s = &w->split[p];
		at = c->partition[p].service;
		if (at < cycle)
			at = cycle;
		if (s->n == SPLITS)
			return (unsigned)(at - cycle) + 1;
		{
			const uint32_t before = c->partition[p].head;
			const int did = iru_serve(c, k, p, at, true, &why);

			if (did < 0)
				return (unsigned)(at - cycle) + 1;
			if (c->partition[p].head != before) {
				s->from[s->n] = (uint8_t)(at - cycle + 1);
				memcpy(s->share[s->n], c->partition[p].split.share, BANKS + 2);
				s->n++;
			}
		}
		iru_fetch_next(c);
	}
	return span;
}

AHEAD_INLINE uint64_t run_ahead(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle,
				uint64_t until, bool carry, bool merge)
{
	struct span w;
	uint32_t credit = c->credit[0];
	unsigned span = SPAN;

	for (unsigned p = 1; p < PARTITIONS; p++)
		credit = c->credit[p] < credit ? c->credit[p] : credit;
	/* two arrive a cycle and partition, and two may be on their way at the end */
	if (credit < 2 * SPAN_MIN + 2 || c->left <= ALL_BANKS * SPAN || c->blocked || c->full_some)
		return IRU_NEVER;
	if (2 * span + 2 > credit)
		span = (credit - 2) / 2;
	if (c->deadline < cycle + span)
		span = c->deadline > cycle ? (unsigned)(c->deadline - cycle) : 0;
	if (until - cycle < span)
		span = (unsigned)(until - cycle);
	if (span < SPAN_MIN)
		return IRU_NEVER;

	for (unsigned p = 0; p < PARTITIONS; p++) {
		w.split[p].n = 0;
		w.put[p] = 0;
		for (unsigned dir = 0; dir < 2; dir++)
			w.into[dir][p] = w.into_odd[dir][p] = 0;
	}
	for (unsigned q = 0; q < QUEUES; q++) {
		if (c->fifo_head[q] == c->fifo_tail[q])
			c->fifo_head[q] = c->fifo_tail[q] = 0;
		w.held[q] = c->fifo_tail[q] - c->fifo_head[q];
	}
	w.fills = 0;
	w.taken = 0;
	span = classify(c, k, &w, span, cycle);
	ring(c, &w, span, cycle);
	for (unsigned b = 0; b < ALL_BANKS; b++)
		bank(c, k, &w, b, span, carry, merge);
	number(c, &w, cycle);

	c->left -= w.taken;
	c->local_some = c->ring_some = c->out_some = 0;
	for (unsigned p = 0; p < PARTITIONS; p++)
		c->credit[p] -= w.put[p];
	for (unsigned b = 0; b < ALL_BANKS; b++) {
		c->local_some |= (uint64_t)(c->fifo_head[b] != c->fifo_tail[b]) << b;
		c->ring_some |= (uint64_t)(c->fifo_head[ALL_BANKS + b] != c->fifo_tail[ALL_BANKS + b]) << b;
		c->out_some |= (uint32_t)(c->fifo_head[OUTS + b] != c->fifo_tail[OUTS + b]) << b;
	}
	return cycle + span - 1;
}

AHEAD static __attribute__((noinline)) uint64_t
run_ahead_plain(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle, uint64_t until)
{
	return run_ahead(c, k, cycle, until, false, false);
}

AHEAD static __attribute__((noinline)) uint64_t
run_ahead_carry(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle, uint64_t until)
{
	return run_ahead(c, k, cycle, until, true, false);
}

AHEAD static __attribute__((noinline)) uint64_t
run_ahead_merge(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle, uint64_t until)
{
	return run_ahead(c, k, cycle, until, true, true);
}

bool iru_can_run_ahead(void)
{
	return iru_kernel_best() != &iru_kernel_portable && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

uint64_t iru_run_ahead(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle, uint64_t until)
{
	if (c->merge)
		return run_ahead_merge(c, k, cycle, until);
	if (c->carry)
		return run_ahead_carry(c, k, cycle, until);
	return run_ahead_plain(c, k, cycle, until);
}

#else

bool iru_can_run_ahead(void)
{
	return false;
}

uint64_t iru_run_ahead(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle, uint64_t until)
{
	(void)c, (void)k, (void)cycle, (void)until;
	return IRU_NEVER;
}

#endif
