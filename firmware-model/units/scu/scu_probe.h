/* SPDX-License-Identifier: MIT */
/*
 * Probing the filter table, a template: included once per instruction set, with PROBE_TARGET (the
 * function attribute), PROBE_MATCH4 and PROBE_MATCH8 (ways of a set whose id matches) defined.
 *
 * The table is the user's: whatever stands in it, a way is 0..15, and nothing else comes from it.
 */

#define PROBE_AHEAD 16u		/* sets fetched ahead: they come from L2 at best */

/* Costs as C compares them. */
PROBE_TARGET static inline bool probe_cheaper(const struct scu_sets *t, const uint8_t *a,
					      const uint8_t *b)
{
	if (t->cost_log2 == 2) {
		uint32_t x = *(const scu_u32 *)a, y = *(const scu_u32 *)b;
		float fx, fy;

		switch (t->type) {
		case GTU_TYPE_UNSIGNED:
			return x < y;
		case GTU_TYPE_SIGNED:
			return (int32_t)x < (int32_t)y;
		}
		memcpy(&fx, &x, 4);
		memcpy(&fy, &y, 4);
		return fx < fy;
	} else {
		uint64_t x = *(const scu_u64 *)a, y = *(const scu_u64 *)b;
		double fx, fy;

		switch (t->type) {
		case GTU_TYPE_UNSIGNED:
			return x < y;
		case GTU_TYPE_SIGNED:
			return (int64_t)x < (int64_t)y;
		}
		memcpy(&fx, &x, 8);
		memcpy(&fy, &y, 8);
		return fx < fy;
	}
}

/*
 * One id offered to its set. State: bits 0..3 the way filled next, bit 7 all 16 valid; so the valid ways
 * are those below the next one until it has come round.
 */
PROBE_TARGET static inline __attribute__((always_inline)) bool
probe(struct scu_sets *t, uint32_t index, const uint8_t *id, const uint8_t *cost, unsigned id_log2)
{
	uint8_t *set = t->set + (uint64_t)index * t->set_bytes;
	uint8_t *costs = set + (SCU_WAYS << id_log2);
	const unsigned state = *(volatile uint8_t *)&t->state[index], next = state & 15;
	const unsigned valid = state & 0x80 ? 0xffff : (1u << next) - 1;
	unsigned hit;

	hit = (id_log2 == 2 ? PROBE_MATCH4(set, *(const scu_u32 *)id)
			    : PROBE_MATCH8(set, *(const scu_u64 *)id)) & valid;
	if (hit) {
		if (!t->cost_log2)
			return false;
		costs += __builtin_ctz(hit) << t->cost_log2;
		if (!probe_cheaper(t, cost, costs))
			return false;
		memcpy(costs, cost, 1u << t->cost_log2);
		return true;
	}
	t->evictions += state >> 7;
	if (id_log2 == 2)
		((scu_u32 *)set)[next] = *(const scu_u32 *)id;
	else
		((scu_u64 *)set)[next] = *(const scu_u64 *)id;
	if (t->cost_log2)
		memcpy(costs + (next << t->cost_log2), cost, 1u << t->cost_log2);
	t->state[index] = (state & 0x80) | (next == 15 ? 0x80 : next + 1);
	return true;
}

PROBE_TARGET static inline __attribute__((always_inline)) void
probe_fetch(const struct scu_sets *t, uint32_t index)
{
	const uint8_t *set = t->set + (uint64_t)index * t->set_bytes;

	__builtin_prefetch(set, 1);
	if (t->set_bytes > 64)
		__builtin_prefetch(set + t->set_bytes - 64, 1);
	__builtin_prefetch(&t->state[index], 1);
}

PROBE_TARGET static inline __attribute__((always_inline)) void
probe_all(struct scu_sets *t, const uint8_t *ids, const uint8_t *costs, size_t n, uint64_t *keep,
	  unsigned id_log2)
{
	uint32_t ring[PROBE_AHEAD];
	uint64_t word = 0;
	size_t i;

#define PROBE_HASH(i) scu_hash(id_log2 == 2 ? ((const scu_u32 *)ids)[i] : ((const scu_u64 *)ids)[i], t->log2)
	for (i = 0; i < PROBE_AHEAD && i < n; i++) {
		ring[i] = PROBE_HASH(i);
		probe_fetch(t, ring[i]);
	}
	for (i = 0; i < n; i++) {
		const uint32_t index = ring[i % PROBE_AHEAD];

		if (i + PROBE_AHEAD < n) {
			ring[i % PROBE_AHEAD] = PROBE_HASH(i + PROBE_AHEAD);
			probe_fetch(t, ring[i % PROBE_AHEAD]);
		}
		word |= (uint64_t)probe(t, index, ids + (i << id_log2), costs + (i << t->cost_log2),
					id_log2) << (i % 64);
		if (i % 64 == 63) {
			keep[i / 64] = word;
			word = 0;
		}
	}
	if (n % 64)
		keep[n / 64] = word;
#undef PROBE_HASH
}

PROBE_TARGET static void filter4(struct scu_sets *t, const void *ids, const void *costs, size_t n,
				 uint64_t *keep)
{
	probe_all(t, ids, costs ? costs : ids, n, keep, 2);
}

PROBE_TARGET static void filter8(struct scu_sets *t, const void *ids, const void *costs, size_t n,
				 uint64_t *keep)
{
	probe_all(t, ids, costs ? costs : ids, n, keep, 3);
}
