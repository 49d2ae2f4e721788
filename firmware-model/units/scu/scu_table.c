// SPDX-License-Identifier: MIT
/* The SCU's filter and group tables (SCU, sections 4.2 and 4.3): access to the sets, observers, grouping. */
#include "scu_steps.h"

/* The host may write to the tables at any time: load each value once, then check and use the copy. */
#define ONCE(x) (*(const volatile __typeof__(x) *)(const void *)&(x))

/* ---- Filter ---------------------------------------------------------------------------------- */

static uint32_t filter_set_bytes(const struct scu_filter *f)
{
	return GTU_FILTER_SET_BYTES(1u << f->id_log2, f->cost_log2 ? 1u << f->cost_log2 : 0);
}

/* The set of @id: for a power of two of sets scu_hash(), for others the same share of the 32-bit product. */
static uint32_t scu_set_of(uint64_t id, uint32_t sets)
{
	const uint32_t product = (uint32_t)(id ^ id >> 32) * GTU_HASH;

	return (uint32_t)((uint64_t)product * sets >> 32);
}

static uint32_t filter_set(const struct scu_filter *f, const uint8_t *ids, size_t i)
{
	return scu_set_of(scu_get(ids, f->id_log2, i), f->sets);
}

/* The way that holds @id, which a probe has kept; 0 if a later one has evicted it. */
static unsigned filter_way(const struct scu_filter *f, uint64_t set, uint64_t id)
{
	const uint8_t *ids = f->mem->base + set * filter_set_bytes(f);
	unsigned way = 0;

	while (way < SCU_WAYS && scu_get(ids, f->id_log2, way) != id)
		way++;
	return way % SCU_WAYS;
}

/*
 * Report the probes to observers. A kept element has written its set: it was inserted, or its cost was updated. With the
 * state in the set, a line of a set is one access, and a write is that of the way's id and cost.
 */
static void filter_watch(struct scu_filter *f, const uint8_t *ids, size_t n, const uint64_t *keep)
{
	const uint32_t bytes = filter_set_bytes(f), window = f->merge > 8 ? 8 : f->merge;
	const bool compact = f->state_in_set && f->mem->base;
	const unsigned log2 = compact && bytes % GTU_LINE_BYTES == 0 ? 7 : 6;
	const uint64_t states = (uint64_t)bytes * f->sets;
	uint64_t set[GTU_WARP], state[8], wset[GTU_WARP], wstate[8], piece;
	size_t i, j;

	for (i = 0; i < n; i += window) {
		unsigned sets = 0, states_n = 0, wsets = 0, wstates = 0;

		for (j = i; j < n && j < i + window; j++) {
			const uint64_t index = filter_set(f, ids, j);
			const bool kept = keep[j / 64] >> (j % 64) & 1;

			for (piece = 0; piece < bytes; piece += 1u << log2) {
				set[sets++] = index * bytes + piece;
				if (kept && !compact)
					wset[wsets++] = index * bytes + piece;
			}
			state[states_n++] = states + index;
			if (kept && compact)
				wset[wsets++] = index * bytes + filter_way(f, index, scu_get(ids, f->id_log2, j)) * (bytes / SCU_WAYS);
			if (kept)
				wstate[wstates++] = states + index;
		}
		scu_gather(f->mem, set, sets, log2, false);
		if (!f->state_in_set)
			scu_gather(f->mem, state, states_n, 0, false);
		scu_gather(f->mem, wset, wsets, compact ? 2 : 6, true);
		if (!f->state_in_set)
			scu_gather(f->mem, wstate, wstates, 0, true);
	}
}

bool scu_filter_offer(struct scu_filter *f, const struct scu_kernels *k, const void *ids,
		      const void *costs, size_t n, uint64_t *keep)
{
	const uint32_t bytes = filter_set_bytes(f);
	const uint64_t states = (uint64_t)bytes * f->sets;
	const uint8_t *id = ids, *cost = costs;
	struct scu_sets t = {
		.set_bytes = bytes,
		.cost_log2 = f->cost_log2,
		.type = f->type,
	};
	uint8_t copy[256];
	uint64_t got, one;
	size_t i;

	if (f->mem->base && !(f->sets & (f->sets - 1))) {
		t.set = f->mem->base;
		t.state = f->mem->base + states;
		t.log2 = __builtin_ctz(f->sets);
		k->filter[f->id_log2 - 2](&t, ids, costs, n, keep);
	} else {
		/* probe set by set; a set that crosses pages is processed in a copy */
		memset(keep, 0, (n + 63) / 64 * sizeof(*keep));
		for (i = 0; i < n; i++) {
			const uint64_t index = filter_set(f, id, i);

			t.set = scu_contiguous(f->mem, index * bytes, bytes, copy);
			t.state = t.set ? scu_span(f->mem, states + index, 1, &got) : NULL;
			if (!t.state)
				return false;
			k->filter[f->id_log2 - 2](&t, id + (i << f->id_log2),
						  cost ? cost + (i << f->cost_log2) : NULL, 1, &one);
			keep[i / 64] |= one << (i % 64);
			if (t.set == copy && one && !scu_store(f->mem, index * bytes, copy, bytes))
				return false;
		}
	}
	f->evictions += t.evictions;
	if (f->mem->monitored)
		filter_watch(f, ids, n, keep);
	return true;
}

bool scu_filter_clear(struct scu_filter *f, uint64_t from, uint64_t to)
{
	uint64_t at = (uint64_t)filter_set_bytes(f) * f->sets + from, got;
	const uint64_t end = at + (to - from);

	for (; at < end; at += got) {
		uint8_t *p = scu_span(f->mem, at, end - at, &got);

		if (!p)
			return false;
		memset(p, 0, got);
		scu_stream(f->mem, at, got, true);
	}
	return true;
}

/* ---- Grouping -------------------------------------------------------------------------------- */

/*
 * A group set; see GTU_GROUP_SET_BYTES. The ordinals of a way are as many as a group has elements: 8 on the device,
 * which the published unit has "experimentally observed" to be better than 32 (SCU, section 4.3). While `in_use` is
 * not 0, the counts of unused ways are 0.
 */
struct group_set {
	uint64_t tag[SCU_WAYS];
	uint8_t ordinals[];
} __attribute__((packed, aligned(1), may_alias));

struct group_state {			/* behind the ordinals */
	uint8_t count[SCU_WAYS];
	uint64_t order;
	uint64_t in_use;
} __attribute__((packed, aligned(1), may_alias));

#define GROUP_TAGS sizeof(struct group_set)
_Static_assert(GROUP_TAGS == 128 && sizeof(struct group_state) == 32, "the layout of hw.h");
_Static_assert(GTU_GROUP_SET_BYTES >= GROUP_TAGS + 4 * SCU_WAYS * GTU_GROUP_MAX + sizeof(struct group_state),
	       "a set of the device's groups");

static uint32_t group_state_at(const struct scu_group *g)
{
	return GROUP_TAGS + 4 * SCU_WAYS * g->max;
}

static struct group_state *group_state(const struct scu_group *g, struct group_set *s)
{
	return (struct group_state *)((uint8_t *)s + group_state_at(g));
}

static scu_u32 *group_ordinals(const struct scu_group *g, struct group_set *s, unsigned way)
{
	return (scu_u32 *)s->ordinals + way * g->max;
}

struct group_at {
	struct group_set *set;
	uint64_t byte, bytes;
	uint8_t copy[GROUP_TAGS + 4 * SCU_WAYS * SCU_GROUP_LIMIT + sizeof(struct group_state)];
};

static bool group_open(struct scu_group *g, uint64_t index, struct group_at *at)
{
	at->byte = index * scu_group_set_bytes(g->max);
	at->bytes = group_state_at(g) + sizeof(struct group_state);
	at->set = (struct group_set *)scu_contiguous(g->mem, at->byte, at->bytes, at->copy);
	return at->set;
}

static bool group_close(struct scu_group *g, struct group_at *at)
{
	return (uint8_t *)at->set != at->copy || scu_store(g->mem, at->byte, at->copy, at->bytes);
}

/* Bit mask of the ways whose count is not 0. */
static unsigned ways_in_use(const struct group_state *s)
{
	const uint64_t low7 = 0x7f7f7f7f7f7f7f7full;
	unsigned half, bits = 0;

	for (half = 0; half < 2; half++) {
		uint64_t x = ((const scu_u64 *)s->count)[half];

		x = (((x & low7) + low7) | x) >> 7 & 0x0101010101010101ull;
		bits |= (unsigned)(x * 0x0102040810204080ull >> 56) << (8 * half);
	}
	return bits;
}

static bool reorder_put(struct scu_group *g, uint64_t ordinal, uint32_t rank)
{
	uint8_t *p = scu_element(g->reorder, ordinal);

	if (!p)
		return false;
	*(scu_u32 *)p = rank;
	return true;
}

/* Emit the group in @way: assign the next ranks to its ordinals, which must be below @ordinals. */
static enum scu_grouped group_emit(struct scu_group *g, struct group_set *s, unsigned way,
				   uint64_t ordinals)
{
	struct group_state *state = group_state(g, s);
	const scu_u32 *member = group_ordinals(g, s, way);
	const unsigned count = ONCE(state->count[way]);
	const unsigned n = count > g->max ? g->max : count;
	uint64_t byte[SCU_GROUP_LIMIT];
	unsigned i;

	state->count[way] = 0;
	for (i = 0; i < n; i++) {
		const uint32_t ordinal = ONCE(member[i]);

		if (ordinal >= ordinals) {
			g->bad_ordinal = ordinal;
			return GROUP_ORDINAL;
		}
		if (!reorder_put(g, ordinal, (uint32_t)g->rank))
			return GROUP_MEMORY;
		g->rank++;
		byte[i] = 4ull * ordinal;
	}
	if (g->reorder->monitored)
		for (i = 0; i < n; i += g->merge)
			scu_gather(g->reorder, byte + i, n - i < g->merge ? n - i : g->merge, 2,
				   true);
	g->groups += n > 0;
	return GROUP_OK;
}

/* Remove @way from the first @n nibbles of the order, and move the younger ways down. */
static uint64_t order_without(uint64_t order, unsigned n, unsigned way)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		if ((order >> (4 * i) & 15) == way) {
			const uint64_t below = (1ull << (4 * i)) - 1;

			return (order & below) | (order >> 4 & ~below);
		}
	}
	return order;
}

/* Insert one element into its set. *used is set to its way. */
static enum scu_grouped group_insert(struct scu_group *g, const struct scu_kernels *k,
				     struct group_set *s, uint64_t tag, uint32_t ordinal,
				     unsigned *used)
{
	struct group_state *state = group_state(g, s);
	uint64_t in_use = ONCE(state->in_use), order = ONCE(state->order);
	enum scu_grouped ok = GROUP_OK;
	unsigned n = in_use > SCU_WAYS ? SCU_WAYS : in_use, ways, hit, way;

	if (!n) {
		memset(state->count, 0, sizeof(state->count));
		order = 0;
	} else if (n < SCU_WAYS) {
		order &= (1ull << (4 * n)) - 1;
	}
	ways = ways_in_use(state);
	hit = k->match_tags(s->tag, tag) & ways;
	if (hit) {
		unsigned c;

		way = __builtin_ctz(hit);
		c = ONCE(state->count[way]);
		if (c >= g->max)
			c = g->max - 1u;
		group_ordinals(g, s, way)[c] = ordinal;
		state->count[way] = c + 1;
		if (c + 1 == g->max) {
			ok = group_emit(g, s, way, (uint64_t)ordinal + 1);
			order = order_without(order, n--, way);
		}
	} else {
		if (n == SCU_WAYS || ways == 0xffff) {
			way = order & 15;
			ok = group_emit(g, s, way, ordinal);
			ways &= ~(1u << way);
			order >>= 4;
			n--;
		}
		way = __builtin_ctz(~ways);
		s->tag[way] = tag;
		group_ordinals(g, s, way)[0] = ordinal;
		state->count[way] = 1;
		order |= (uint64_t)way << (4 * n++);
	}
	state->order = order;
	state->in_use = n;
	*used = way;
	return ok;
}

static uint64_t group_line(const struct scu_group *g, const uint8_t *ids, size_t i)
{
	return (g->target + (scu_get(ids, g->id_log2, i) << g->target_log2)) / GTU_LINE_BYTES;
}

#define GROUP_AHEAD 8u

static void group_fetch(const struct scu_group *g, uint64_t index)
{
	const uint8_t *p = g->mem->base + index * scu_group_set_bytes(g->max);

	__builtin_prefetch(p, 1);
	__builtin_prefetch(p + 64, 1);
	__builtin_prefetch(p + group_state_at(g), 1);
}

/* Report an insertion: tags and counts are read; the element's ordinal, its tag and the counts are written. */
static void group_watch(struct scu_group *g, uint64_t byte, unsigned way)
{
	const uint64_t count = byte + group_state_at(g), ordinals = byte + GROUP_TAGS + way * g->max * 4;
	const uint64_t read[3] = { byte, byte + 64, count };
	const uint64_t write[3] = { byte + way / 8 * 64, ordinals / 64 * 64, count };
	const uint64_t write_sectors[2] = { byte + way / 8 * 32, ordinals / 32 * 32 };

	if (g->state_in_set) {
		scu_gather(g->mem, read, 1, 6, false);
		scu_gather(g->mem, write_sectors, 2, 5, true);
		return;
	}
	scu_gather(g->mem, read, 3, 6, false);
	scu_gather(g->mem, write, 3, 6, true);
}

enum scu_grouped scu_group_offer(struct scu_group *g, const struct scu_kernels *k, const void *ids,
				 const uint64_t *keep, size_t n, uint64_t first)
{
	struct group_at at;
	enum scu_grouped ok;
	unsigned way;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t line;

		if (g->mem->base && i + GROUP_AHEAD < n)
			group_fetch(g, scu_set_of(group_line(g, ids, i + GROUP_AHEAD), g->sets));
		g->bad = i;
		if (!(keep[i / 64] >> (i % 64) & 1)) {
			if (!reorder_put(g, first + i, GTU_REORDER_DROPPED))
				return GROUP_MEMORY;
			scu_stream(g->reorder, 4 * (first + i), 4, true);
			continue;
		}
		line = group_line(g, ids, i);
		if (!group_open(g, scu_set_of(line, g->sets), &at))
			return GROUP_MEMORY;
		ok = group_insert(g, k, at.set, line, (uint32_t)(first + i), &way);
		if (!group_close(g, &at))
			return GROUP_MEMORY;
		if (g->mem->monitored)
			group_watch(g, at.byte, way);
		if (ok != GROUP_OK)
			return ok;
	}
	return GROUP_OK;
}

enum scu_grouped scu_group_drain(struct scu_group *g, uint64_t set, uint64_t ordinals)
{
	const uint64_t count = set * scu_group_set_bytes(g->max) + (g->state_in_set ? 0 : group_state_at(g));
	struct group_state *state;
	enum scu_grouped ok = GROUP_OK;
	struct group_at at;
	uint64_t order;
	unsigned n, i;

	scu_gather(g->mem, &count, 1, 6, false);
	if (!group_open(g, set, &at))
		return GROUP_MEMORY;
	state = group_state(g, at.set);
	order = ONCE(state->in_use);
	n = order > SCU_WAYS ? SCU_WAYS : order;
	if (!n)
		return GROUP_OK;
	order = ONCE(state->order);
	for (i = 0; i < n && ok == GROUP_OK; i++)
		ok = group_emit(g, at.set, order >> (4 * i) & 15, ordinals);
	state->in_use = 0;
	if (!group_close(g, &at))
		return GROUP_MEMORY;
	scu_gather(g->mem, &count, 1, 6, true);
	return ok;
}

bool scu_group_clear(struct scu_group *g, uint64_t from, uint64_t to)
{
	for (; from < to; from++) {
		const uint64_t byte = from * scu_group_set_bytes(g->max) + group_state_at(g) +
				      offsetof(struct group_state, in_use);
		uint64_t got;
		/* 8 aligned bytes do not cross a page */
		uint8_t *p = scu_span(g->mem, byte, 8, &got);

		if (!p || got < 8)
			return false;
		*(scu_u64 *)p = 0;
		scu_gather(g->mem, &byte, 1, 3, true);
	}
	return true;
}
