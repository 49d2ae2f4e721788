// SPDX-License-Identifier: MIT
/* Weaver's tables and state machine (SparseWeaver, figure 6; Documentation/units-weaver.md). */
#include <string.h>

#include "wvr_core.h"

const char *wvr_shape_check(const struct wvr_shape *s)
{
	if (s->entries < 1 || s->entries > WVR_ENTRIES_MAX)
		return "wvr_entries: 1 to 65536";
	if (s->warps < 1 || s->warps > WVR_WARPS_MAX)
		return "wvr_warps: 1 to 1024";
	if (s->lanes < 1 || s->lanes > WVR_LANES)
		return "Weaver's warps have 1 to 32 threads";
	if (s->table_latency < 1)
		return "wvr_table_latency: at least 1 cycle";
	return NULL;
}

static size_t round_up(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

static size_t words(const struct wvr_shape *s)
{
	return (s->entries + 63) / 64;
}

size_t wvr_core_bytes(const struct wvr_shape *s)
{
	return round_up(sizeof(struct wvr_core)) + round_up(s->entries * sizeof(struct wvr_entry)) +
	       round_up(words(s) * sizeof(uint64_t)) + s->warps * sizeof(uint64_t[WVR_LANES]);
}

struct wvr_core *wvr_core_init(void *memory, const struct wvr_shape *shape)
{
	uint8_t *at = memory;
	struct wvr_core *c = memory;

	memset(c, 0, sizeof(*c));
	c->shape = *shape;
	at += round_up(sizeof(*c));
	c->table = (void *)at;
	at += round_up(shape->entries * sizeof(*c->table));
	c->valid = (void *)at;
	at += round_up(words(shape) * sizeof(*c->valid));
	c->dense = (void *)at;
	wvr_core_start(c);
	return c;
}

static void clear(struct wvr_core *c)
{
	memset(c->valid, 0, words(&c->shape) * sizeof(*c->valid));
	c->state = WVR_S0;
	c->scanned = 0;
	c->now.degree = 0;
}

void wvr_core_start(struct wvr_core *c)
{
	clear(c);
	c->cycle = 0;
	memset(&c->count, 0, sizeof(c->count));
	memset(c->dense, 0xff, c->shape.warps * sizeof(*c->dense));
}

static void spend(struct wvr_core *c, enum wvr_state state, uint64_t cycles)
{
	c->cycle += cycles;
	c->count.state[state] += cycles;
}

void wvr_core_pass(struct wvr_core *c, uint64_t cycles)
{
	spend(c, (enum wvr_state)c->state, cycles);
}

enum wvr_answer wvr_core_register(struct wvr_core *c, uint32_t entry, uint64_t vid, uint64_t start,
				  uint64_t degree)
{
	if (entry >= c->shape.entries)
		return WVR_OUTSIDE;
	if (c->state != WVR_S0)
		clear(c);
	if (c->valid[entry / 64] >> (entry % 64) & 1)
		return WVR_TWICE;
	c->valid[entry / 64] |= 1ull << (entry % 64);
	c->table[entry] = (struct wvr_entry){ vid, start, degree };
	c->count.registered++;
	return WVR_OK;
}

/* The first valid entry from @from on, or the table's size. */
static uint32_t next_valid(const struct wvr_core *c, uint32_t from)
{
	uint64_t word;

	if (from >= c->shape.entries)
		return c->shape.entries;
	word = c->valid[from / 64] >> (from % 64);
	if (word)
		return from + (uint32_t)__builtin_ctzll(word);
	for (uint32_t w = from / 64 + 1; w < words(&c->shape); w++)
		if (c->valid[w])
			return 64 * w + (uint32_t)__builtin_ctzll(c->valid[w]);
	return c->shape.entries;
}

/* S1, S3: read the next entry. If none is left, only the valid bits are checked. */
static bool read_next(struct wvr_core *c, enum wvr_state state)
{
	const uint32_t entry = next_valid(c, c->scanned);

	if (entry == c->shape.entries) {
		c->scanned = entry;
		spend(c, state, 1);
		return false;
	}
	c->now = c->table[entry];
	c->scanned = entry + 1;
	spend(c, state, state == WVR_S3 && c->shape.read_ahead ? 1 : c->shape.table_latency);
	return true;
}

/* S2: fill the next lanes from the current entry; returns their number. */
static unsigned give(struct wvr_core *c, struct wvr_work *w, unsigned lane)
{
	const unsigned space = c->shape.lanes - lane;
	const unsigned n = c->now.degree < space ? (unsigned)c->now.degree : space;
	const uint64_t vid = c->now.vid, start = c->now.start;

	if (n == WVR_LANES) {
		for (unsigned i = 0; i < WVR_LANES; i++) {
			w->vid[i] = vid;
			w->eid[i] = start + i;
		}
	} else {
		for (unsigned i = 0; i < n; i++) {
			w->vid[lane + i] = vid;
			w->eid[lane + i] = start + i;
		}
	}
	c->now.start += n;
	c->now.degree -= n;
	return n;
}

static void answer(struct wvr_core *c, struct wvr_work *w, enum wvr_state state, unsigned lanes)
{
	for (unsigned i = lanes; i < WVR_LANES; i++)
		w->vid[i] = w->eid[i] = WVR_NONE;
	w->active = lanes == WVR_LANES ? ~0u : (1u << lanes) - 1;
	w->cycle = c->cycle;
	c->count.work += lanes;
	spend(c, state, 1);
}

void wvr_core_decode(struct wvr_core *c, struct wvr_work *w)
{
	unsigned lane = 0;
	bool more = true;

	if (c->state == WVR_S8) {
		answer(c, w, WVR_S8, 0);
		return;
	}
	if (c->state == WVR_S0) {
		c->count.rounds++;
		more = read_next(c, WVR_S1);
	} else {
		spend(c, WVR_S6, 1);
	}
	while (more) {
		lane += give(c, w, lane);
		spend(c, WVR_S2, 1);
		if (lane == c->shape.lanes) {
			answer(c, w, WVR_S5, lane);
			c->state = WVR_S6;
			return;
		}
		more = read_next(c, WVR_S3);
		if (more)
			spend(c, WVR_S4, 1);
	}
	answer(c, w, WVR_S7, lane);
	c->state = WVR_S8;
}

void wvr_core_dec_id(struct wvr_core *c, uint32_t warp, struct wvr_work *w)
{
	wvr_core_decode(c, w);
	memcpy(c->dense[warp], w->eid, sizeof(w->eid));
}

void wvr_core_skip(struct wvr_core *c, uint64_t vid)
{
	uint64_t reads = 0;

	c->count.skips++;
	if (c->state == WVR_S8)
		return;
	if (c->now.degree && c->now.vid == vid) {
		c->count.skipped += c->now.degree;
		c->now.degree = 0;
	}
	if (c->shape.skips_current) {
		spend(c, (enum wvr_state)c->state, 1);
		return;
	}
	for (uint32_t i = next_valid(c, c->scanned); i < c->shape.entries; i = next_valid(c, i + 1)) {
		reads++;
		if (c->table[i].vid != vid)
			continue;
		c->count.skipped += c->table[i].degree;
		c->valid[i / 64] &= ~(1ull << (i % 64));
	}
	/* one pipelined read per entry */
	spend(c, (enum wvr_state)c->state, reads ? c->shape.table_latency + reads - 1 : 1);
}
