// SPDX-License-Identifier: MIT
/*
 * Simulates many IRU cycles at once, with exactly the results of single cycles. A queue hands out
 * one element per cycle, so its activity over up to 32 cycles is a word with one bit per cycle; its
 * elements go to the set bits in order. This holds as long as nothing is refused: the credits of a
 * partition's ring inputs cover all possible arrivals, no set blocks a bank (a request is always
 * pending and a bank's full set leaves one cycle later), and lines are certain to find space. Where
 * that is unknown in advance, the span ends. Requires the published build (4 partitions of 2 banks,
 * 1024 sets) and a processor with AVX-512.
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
#define SLOTS		(128u + IRU_SPARE)
#define OWNER_SHIFT	8		/* set number to partition */
#define OUTS		(2 * ALL_BANKS)	/* first queue to the ring: direction * PARTITIONS + partition */
#define QUEUES		(OUTS + 2 * PARTITIONS)
#define SPAN		32u		/* maximum cycles per span */
#define SPAN_MIN	4u		/* shorter spans do not pay off */
#define SPLITS		16u

/*
 * The elements that a partition's classifier hands out during the span, and the cycles from which
 * they may move.
 */
struct splits {
	unsigned n;
	uint8_t from[SPLITS];		/* offset of the cycle */
	uint8_t share[SPLITS][BANKS + 2];
};

struct fill {
	uint16_t key;			/* cycle offset << 8 | bank: the order of the replies */
	uint16_t out;			/* index in out[] */
};

struct span {
	struct splits split[PARTITIONS];
	uint32_t held[QUEUES];		/* elements of each queue at the start of the span */
	uint32_t into[2][PARTITIONS];	/* cycles with an arrival, by direction and destination partition */
	uint32_t into_odd[2][PARTITIONS]; /* those for bank 1 */
	uint32_t at[2][PARTITIONS][SPAN + 16] __attribute__((aligned(64))); /* FIFO index of each arrival */
	uint32_t put[PARTITIONS];	/* elements sent to each partition */
	struct fill fill[ALL_BANKS * SPAN];
	unsigned fills;
	unsigned taken;			/* elements inserted into the sets */
	uint32_t when[ALL_BANKS];	/* cycles in which a bank takes an element */
	uint32_t until[ALL_BANKS];	/* end of the bank's elements in order[] */
	uint32_t order[ALL_BANKS * SPAN + 16]; /* FIFO indices of the taken elements, by bank and cycle */
	uint32_t from_ring[ALL_BANKS];	/* cycles in which a bank takes from its ring input */
	uint32_t listed[ALL_BANKS];	/* length of list[] */
	uint32_t list[ALL_BANKS][4 * SPAN]; /* FIFO indices of the elements held by or arriving at the ring input */
	uint32_t keep_from[ALL_BANKS];	/* elements of list[] from here on remain */
};

/*
 * The cycles, out of those set in @open, in which a queue's elements leave it: first the elements
 * it held, then those that the classifier adds as queue @k of the partition.
 */
AHEAD_INLINE uint32_t leave(uint32_t open, uint32_t held, const struct splits *s, unsigned k)
{
	uint32_t leaving = (uint32_t)_pdep_u64(_bzhi_u64(~0ull, held), open);

	/* if the earlier elements did not all leave, no open cycle remains for these */
	for (unsigned i = 0; i < s->n; i++) {
		const unsigned after = leaving ? 32 - (unsigned)__builtin_clz(leaving) : 0;
		const unsigned from = s->from[i] > after ? s->from[i] : after;

		if (from < 32)
			leaving |= (uint32_t)_pdep_u64(_bzhi_u64(~0ull, s->share[i][k]), open & (~0u << from));
	}
	return leaving;
}

/* Partition @p puts elements on the ring in direction @dir, except in the cycles @busy. */
AHEAD_INLINE uint32_t send(struct iru_core *c, struct span *w, unsigned dir, unsigned p, uint32_t all,
			   uint32_t busy)
{
	const unsigned q = OUTS + dir * PARTITIONS + p;
	const uint32_t base = q * SLOTS + c->fifo_head[q];
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

/* An element in flight past the last cycle of the span lands in the next cycle. */
AHEAD_INLINE void carry_flight(struct iru_core *c, const struct span *w, unsigned dir, unsigned p,
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
		const uint32_t at = QUEUES * SLOTS + land;

		c->fifo_pair[at] = e->pair;
		c->fifo_set[at] = e->set;
		c->fifo_secondary[at] = e->secondary;
		w->at[dir][to][0] = at;
		w->into[dir][to] |= 1;
		w->into_odd[dir][to] |= e->set & 1;
	}
	/* upwards, even partitions send past their neighbour; downwards, odd ones */
	for (unsigned dir = 0; dir < 2; dir++) {
		for (unsigned i = 0; i < 2; i++) {
			const unsigned first = 2 * i + dir;
			const unsigned second = (dir ? first - 1 : first + 1) % PARTITIONS;
			const uint32_t far = send(c, w, dir, first, all,
						  busy >> (dir * PARTITIONS + first) & 1);

			send(c, w, dir, second, all,
			     (busy >> (dir * PARTITIONS + second) & 1) | far << 1);
			carry_flight(c, w, dir, first, far, span, cycle);
		}
	}
}

/*
 * The busy cycles of a server that handles one job per cycle: jobs arrive in the cycles of @first
 * and, as second arrivals, of @second; @held jobs wait at the start. A job whose cycle is taken
 * moves to the next free cycle, which adding its bit to the word of taken cycles finds. The result
 * does not depend on the order of the jobs.
 */
AHEAD_INLINE uint64_t served(uint64_t first, uint64_t second, uint32_t held)
{
	uint64_t taken = _bzhi_u64(~0ull, held), late = first & taken;

	taken |= first;
	for (; late; late &= late - 1)
		taken |= taken + (late & -late);
	for (late = second; late; late &= late - 1)
		taken |= taken + (late & -late);
	return taken;
}

/*
 * List the ring input of bank @b: older arrivals first and, within a cycle, upward arrivals first.
 */
AHEAD_INLINE void gather(const struct iru_core *c, struct span *w, unsigned b, uint32_t all)
{
	const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	const __m512i mixed = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	const __m512i mixed_high = _mm512_add_epi32(mixed, _mm512_set1_epi32(8));
	const unsigned p = b / BANKS, q = ALL_BANKS + b;
	const uint32_t even = b & 1 ? 0 : ~0u;
	const uint32_t ups = w->into[0][p] & (w->into_odd[0][p] ^ even) & all;
	const uint32_t downs = w->into[1][p] & (w->into_odd[1][p] ^ even) & all;
	const uint32_t held = w->held[q], base = q * SLOTS + c->fifo_head[q];
	const uint64_t come = _pdep_u64(ups, 0x5555555555555555ull) |
			      _pdep_u64(downs, 0xaaaaaaaaaaaaaaaaull);
	uint32_t *to = &w->list[b][held];

	for (uint32_t i = 0; i < held; i += 16)
		_mm512_storeu_si512(&w->list[b][i],
				    _mm512_add_epi32(lanes, _mm512_set1_epi32((int)(base + i))));
	for (unsigned half = 0; half < 2; half++) {
		const __m512i up = _mm512_loadu_si512(&w->at[0][p][16 * half]);
		const __m512i down = _mm512_loadu_si512(&w->at[1][p][16 * half]);
		const __mmask16 low = (__mmask16)(come >> (32 * half));
		const __mmask16 high = (__mmask16)(come >> (32 * half + 16));

		_mm512_storeu_si512(to, _mm512_maskz_compress_epi32(
			low, _mm512_permutex2var_epi32(up, mixed, down)));
		to += __builtin_popcount(low);
		_mm512_storeu_si512(to, _mm512_maskz_compress_epi32(
			high, _mm512_permutex2var_epi32(up, mixed_high, down)));
		to += __builtin_popcount(high);
	}
	w->listed[b] = held + (uint32_t)__builtin_popcountll(come);
	w->from_ring[b] = (uint32_t)served((uint64_t)(ups | downs) << 1, (uint64_t)(ups & downs) << 1,
					   held) & all;
}

/*
 * Append to order[], by cycle, the elements that bank @b takes from its ring input and from its own
 * queue, and record the elements that remain. gather() has run for all banks before: loading a
 * vector right after it was written in parts would stall until the parts reach the cache.
 */
AHEAD_INLINE void plan(struct iru_core *c, struct span *w, unsigned b, uint32_t all)
{
	const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	const unsigned p = b / BANKS, q = ALL_BANKS + b;
	const uint32_t from_ring = w->from_ring[b], held = w->held[q], *list = w->list[b];
	const uint32_t from_own = leave(all & ~from_ring, w->held[b], &w->split[p], b % BANKS);
	const uint32_t rings = (uint32_t)__builtin_popcount(from_ring);
	uint32_t ring_at = 0, own = b * SLOTS + c->fifo_head[b], taken = w->taken;

	for (unsigned half = 0; half < 2; half++) {
		const __mmask16 ring = (__mmask16)(from_ring >> (16 * half));
		const __mmask16 mine = (__mmask16)(from_own >> (16 * half));
		const __mmask16 both = ring | mine;
		__m512i at = _mm512_maskz_expand_epi32(ring, _mm512_loadu_si512(&list[ring_at]));

		at = _mm512_mask_expand_epi32(at, mine,
					      _mm512_add_epi32(lanes, _mm512_set1_epi32((int)own)));
		_mm512_storeu_si512(&w->order[taken], _mm512_maskz_compress_epi32(both, at));
		taken += (unsigned)__builtin_popcount(both);
		ring_at += (unsigned)__builtin_popcount(ring);
		own += (unsigned)__builtin_popcount(mine);
	}
	c->fifo_head[b] = own - b * SLOTS;
	w->when[b] = from_ring | from_own;
	w->taken = w->until[b] = taken;
	c->credit[p] += rings;
	/* unserved arrivals stay in the ring input, after the held elements have left it */
	w->keep_from[b] = rings > held ? rings : held;
	c->fifo_head[q] += rings < held ? rings : held;
}

/* Element @i of order[] has filled its set. */
AHEAD static __attribute__((noinline)) void filled(struct iru_core *c, const struct iru_kernel *k,
						   struct span *w, unsigned i, unsigned set,
						   unsigned span)
{
	const size_t row = (size_t)set * IRU_LANES;
	const unsigned out = c->out_count + w->fills;
	unsigned b = 0, offset;

	while (i >= w->until[b])
		b++;
	i -= b ? w->until[b - 1] : 0;
	offset = (unsigned)__builtin_ctz(_pdep_u32(1u << i, w->when[b]));
	if (offset + 1 == span) {	/* the set's reply belongs to the cycle after the span */
		iru_set_filled(c, b, set);
		return;
	}
	k->record(c, &c->set_pair[row], &c->set_secondary[row], IRU_LANES, &c->out[out]);
	w->fill[w->fills++] = (struct fill){ (uint16_t)(offset << 8 | b), (uint16_t)out };
	c->set_count[set] = 0;
}

/* Insert the elements that the banks take into the sets; banks share no set. */
AHEAD_INLINE void insert(struct iru_core *c, const struct iru_kernel *k, struct span *w, unsigned span,
			 bool carry, bool merge)
{
	const uint64_t *const fifo_pair = c->fifo_pair;
	const uint32_t *const fifo_secondary = c->fifo_secondary;
	const uint16_t *const fifo_set = c->fifo_set;
	uint64_t *const set_pair = c->set_pair;
	uint32_t *const set_secondary = c->set_secondary;
	uint8_t *const set_count = c->set_count;
	const unsigned n = w->taken;

	for (unsigned i = 0; i < n; i++) {
		const uint32_t at = w->order[i];
		const unsigned set = fifo_set[at], count = set_count[set];
		const uint32_t row = set * IRU_LANES;
		const uint64_t pair = fifo_pair[at];
		int same = -1;

		if (merge)
			same = k->find(&set_pair[row], count, (uint32_t)pair);
		if (merge && same >= 0) {
			iru_merge(c, row + (unsigned)same, pair, fifo_secondary[at]);
			continue;
		}
		set_pair[row + count] = pair;
		if (carry)
			set_secondary[row + count] = fifo_secondary[at];
		set_count[set] = (uint8_t)(count + 1);
		if (unlikely(count + 1 == IRU_LANES))
			filled(c, k, w, i, set, span);
	}
}

/* Append the arrivals that bank @b did not take to its ring input. */
AHEAD_INLINE void keep(struct iru_core *c, const struct span *w, unsigned b, bool carry)
{
	const unsigned q = ALL_BANKS + b;

	if (c->fifo_head[q] == c->fifo_tail[q])
		c->fifo_head[q] = c->fifo_tail[q] = 0;
	if (w->keep_from[b] >= w->listed[b])
		return;
	iru_fifo_reserve(c, q, w->listed[b] - w->keep_from[b]);
	for (unsigned i = w->keep_from[b]; i < w->listed[b]; i++) {
		const uint32_t to = q * SLOTS + c->fifo_tail[q]++, at = w->list[b][i];

		c->fifo_pair[to] = c->fifo_pair[at];
		c->fifo_set[to] = c->fifo_set[at];
		if (carry)
			c->fifo_secondary[to] = c->fifo_secondary[at];
	}
}

/* Number the records of the filled sets in the order of cycle and bank. */
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
		c->out_order[c->out_count] = w->fill[i].out;
		iru_number(c, &c->out[w->fill[i].out], cycle + (w->fill[i].key >> 8) + 1, GTU_WARP_FULL);
		c->out_count++;
	}
	c->count.full += w->fills;
}

/*
 * Classify the lines that are certain to find space; returns the number of cycles the span may
 * cover.
 */
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

/* Bit mask of the non-empty queues among the eight from @q. */
AHEAD_INLINE unsigned some(const struct iru_core *c, unsigned q)
{
	return _mm256_cmpneq_epi32_mask(_mm256_loadu_si256((const void *)&c->fifo_head[q]),
					_mm256_loadu_si256((const void *)&c->fifo_tail[q]));
}

AHEAD_INLINE uint64_t run_ahead(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle,
				uint64_t until, bool carry, bool merge)
{
	struct span w;
	uint32_t credit = c->credit[0], all;
	unsigned span = SPAN;

	for (unsigned p = 1; p < PARTITIONS; p++)
		credit = c->credit[p] < credit ? c->credit[p] : credit;
	/*
	 * up to two elements arrive per cycle and partition, and two may be in flight at
	 * the end
	 */
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
	/* an empty queue restarts at its first slot */
	for (unsigned q = 0; q < QUEUES; q += 8) {
		__m256i head = _mm256_loadu_si256((const void *)&c->fifo_head[q]);
		__m256i tail = _mm256_loadu_si256((const void *)&c->fifo_tail[q]);
		const __mmask8 hold = _mm256_cmpneq_epi32_mask(head, tail);

		head = _mm256_maskz_mov_epi32(hold, head);
		tail = _mm256_maskz_mov_epi32(hold, tail);
		_mm256_storeu_si256((void *)&c->fifo_head[q], head);
		_mm256_storeu_si256((void *)&c->fifo_tail[q], tail);
		_mm256_storeu_si256((void *)&w.held[q], _mm256_sub_epi32(tail, head));
	}
	w.fills = 0;
	w.taken = 0;
	span = classify(c, k, &w, span, cycle);
	ring(c, &w, span, cycle);
	all = ~0u >> (32 - span);
	for (unsigned b = 0; b < ALL_BANKS; b++)
		gather(c, &w, b, all);
	for (unsigned b = 0; b < ALL_BANKS; b++)
		plan(c, &w, b, all);
	insert(c, k, &w, span, carry, merge);
	for (unsigned b = 0; b < ALL_BANKS; b++)
		keep(c, &w, b, carry);
	number(c, &w, cycle);

	c->left -= w.taken;
	for (unsigned p = 0; p < PARTITIONS; p++)
		c->credit[p] -= w.put[p];
	c->local_some = some(c, 0);
	c->ring_some = some(c, ALL_BANKS);
	c->out_some = some(c, OUTS);
	return cycle + span - 1;
}

#define VARIANT(name, carry, merge)                                                                \
	AHEAD static __attribute__((noinline)) uint64_t                                            \
	name(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle, uint64_t until)       \
	{                                                                                          \
		return run_ahead(c, k, cycle, until, carry, merge);                                \
	}
VARIANT(run_ahead_plain, false, false)
VARIANT(run_ahead_carry, true, false)
VARIANT(run_ahead_merge, true, true)

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
