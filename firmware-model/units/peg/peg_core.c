// SPDX-License-Identifier: MIT
/*
 * The schedule of all engines of a GraphPEG stream (GraphPEG, section 3.3;
 * Documentation/units-peg.md).
 *
 * Engines interact only through the control processor. Each engine therefore runs separately, from
 * event to event, up to the next cycle in which the control processor acts.
 */
#include <string.h>

#include "peg_core.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

/* ---- Shape and memory --------------------------------------------------------------------------- */

const char *peg_shape_check(const struct peg_shape *s)
{
	if (s->engines < 1 || s->engines > PEG_ENGINES_MAX)
		return "peg_engines: 1 to 64";
	if (s->entries < 1 || s->entries > PEG_ENTRIES_MAX)
		return "peg_entries: 1 to 4096";
	if (s->edge_bytes < PEG_EDGE_BYTES_MIN || s->edge_bytes > PEG_BYTES_MAX || s->edge_bytes % 32)
		return "peg_edge_bytes: 1024 (a warp of edges) to 2^20, a multiple of 32";
	if (s->list_bytes < 16 || s->list_bytes > PEG_BYTES_MAX || s->list_bytes % 16)
		return "peg_list_bytes: 16 (a vertex a list) to 2^20, a multiple of 16";
	return NULL;
}

static void *carve(uint8_t *base, size_t *at, size_t bytes)
{
	void *p = base ? base + *at : NULL;

	*at += (bytes + 63) & ~(size_t)63;
	return p;
}

static uint32_t mask_for(uint32_t n)
{
	uint32_t mask = 0;

	while (mask + 1 < n)
		mask = 2 * mask + 1;
	return mask;
}

/* Records for the gathered edges, for the record being filled and for those not yet taken. */
static uint32_t record_mask(uint32_t edge_cap)
{
	return mask_for(edge_cap / PEG_LANES + 2 + PEG_OUT_MARK);
}

static size_t layout(struct peg_core *c, const struct peg_shape *s)
{
	/* the narrowest edge has 4 bytes, the widest 4 fields of 8 bytes */
	const uint32_t most = s->edge_bytes / 4;
	size_t record_space = 0, at = 0;
	uint8_t *base = (uint8_t *)c;
	struct peg_core none;

	for (uint32_t bytes = 4; bytes <= 32; bytes += 4) {
		const size_t space = (size_t)(record_mask(s->edge_bytes / bytes) + 1) *
				    (sizeof(struct gtu_hw_warp) + PEG_LANES * bytes);

		record_space = space > record_space ? space : record_space;
	}
	if (!c)
		c = &none;
	carve(base, &at, sizeof(*c));
	for (unsigned i = 0; i < s->engines; i++) {
		struct peg_engine *e = &c->engine[i];

		e->in.at = carve(base, &at, s->list_bytes / 2 + 64);
		e->out.at = carve(base, &at, s->list_bytes / 2 + 64);
		e->refill.mask = mask_for(s->list_bytes / 8 / PEG_CHUNK + 4);
		e->refill.at = carve(base, &at, (e->refill.mask + 1) * sizeof(struct peg_fetch));
		e->entry = carve(base, &at, s->entries * sizeof(struct peg_entry));
		e->free = carve(base, &at, (s->entries + 63) / 64 * sizeof(uint64_t));
		e->fi = carve(base, &at, (mask_for(s->entries) + 1) * sizeof(uint32_t));
		e->rd = carve(base, &at, (mask_for(s->entries) + 1) * sizeof(uint32_t));
		e->most = NULL;
		if (s->entries > PEG_ENTRIES_SCANNED)
			e->most = carve(base, &at, 2 * (mask_for(s->entries) + 1) * sizeof(uint64_t));
		e->fetch.mask = mask_for(most + 1);
		e->fetch.at = carve(base, &at, (e->fetch.mask + 1) * sizeof(struct peg_fetch));
		e->record = carve(base, &at, record_space);
	}
	return at;
}

size_t peg_core_bytes(const struct peg_shape *shape)
{
	return layout(NULL, shape);
}

static void free_all_entries(const struct peg_core *c, struct peg_engine *e)
{
	memset(e->free, 0, (c->shape.entries + 63u) / 64 * sizeof(e->free[0]));
	if (e->most)
		memset(e->most, 0, 2 * (c->entry_mask + 1) * sizeof(e->most[0]));
	for (unsigned n = 0; n < c->shape.entries; n++) {
		e->entry[n].state = PEG_IVD;
		e->free[n / 64] |= 1ull << (n % 64);
	}
}

struct peg_core *peg_core_init(void *memory, const struct peg_shape *shape)
{
	struct peg_core *c = memory;

	memset(c, 0, sizeof(*c));
	layout(c, shape);
	c->shape = *shape;
	c->entry_mask = mask_for(shape->entries);
	for (unsigned i = 0; i < shape->engines; i++)
		free_all_entries(c, &c->engine[i]);
	return c;
}

/* Bytes of an edge's fields; @at (may be NULL): offsets of the fields in a record. */
static uint32_t edge_fields(const struct peg_stream *s, uint32_t *at, uint8_t *log2)
{
	uint32_t edge = 0;

	memcpy(log2, (uint8_t[]){ s->id_log2, s->id_log2, s->weight_log2, s->offset_log2 }, PEG_FIELDS);
	for (unsigned f = 0; f < PEG_FIELDS; f++) {
		if (at)
			at[f] = sizeof(struct gtu_hw_warp) + edge * PEG_LANES;
		edge += s->field[f] ? 1u << log2[f] : 0;
	}
	return edge;
}

uint32_t peg_record_bytes(const struct peg_stream *s)
{
	uint8_t log2[PEG_FIELDS];

	return sizeof(struct gtu_hw_warp) + PEG_LANES * edge_fields(s, NULL, log2);
}

/* Offsets of the fields in a record, and the number of edges that fit on chip. */
static bool fields(struct peg_core *c, const struct peg_stream *s)
{
	const uint32_t edge_bytes = s->edge_bytes ? s->edge_bytes : c->shape.edge_bytes;
	const uint32_t list_bytes = s->list_bytes ? s->list_bytes : c->shape.list_bytes;
	uint32_t edge;

	if (edge_bytes > c->shape.edge_bytes || list_bytes > c->shape.list_bytes ||
	    s->engines < 1 || s->engines > c->shape.engines)
		return false;
	edge = edge_fields(s, c->at, c->log2);
	if (!edge)
		return false;
	c->record_bytes = peg_record_bytes(s);
	c->edge_cap = edge_bytes / edge;
	c->list_cap = list_bytes / 2 >> s->id_log2;
	c->record_mask = record_mask(c->edge_cap);
	return c->edge_cap >= PEG_LANES && c->list_cap >= 1;
}

bool peg_core_start(struct peg_core *c, const struct peg_stream *s, const struct peg_port *port)
{
	const uint32_t list_was = c->list_cap;

	if (!fields(c, s) || (!s->left && c->list_cap != list_was))
		return false;
	c->stream = *s;
	c->port = *port;
	c->cycle = 0;
	c->live = s->engines;
	c->failed = c->may_terminate = false;
	c->ending = PEG_NEVER;
	memset(&c->count, 0, sizeof(c->count));
	c->balanced = (s->balance_edges || s->balance_lists) && s->engines > 1;
	c->control = c->balanced ? s->interval : PEG_NEVER;
	for (unsigned i = 0; i < 2; i++)
		c->exchange[i] = (struct peg_exchange){ .at = PEG_NEVER, .lists = i };
	for (unsigned i = 0; i < s->engines; i++) {
		struct peg_engine *e = &c->engine[i];
		/* without an input list the last stream's output is the input, in place */
		const struct peg_list in = s->left ? (struct peg_list){ .at = e->in.at } : e->out;

		if (e->used)		/* the last stream did not end */
			free_all_entries(c, e);
		*e = (struct peg_engine){
			.left = s->left ? s->left[i] : e->spilled,
			.requested = s->demand ? 0 : PEG_NEVER,
			.in = in,
			.out.at = s->left ? e->out.at : e->in.at,
			.refill = { .at = e->refill.at, .mask = e->refill.mask },
			.fetch = { .at = e->fetch.at, .mask = e->fetch.mask },
			.entry = e->entry,
			.free = e->free,
			.fi = e->fi,
			.rd = e->rd,
			.most = e->most,
			.fe = -1,
			.reserved = -1,
			.record = e->record,
		};
	}
	return true;
}

/* ---- All engines ----------------------------------------------------------------------------- */

/* The error of the earliest cycle; on a tie, of the lowest engine. */
static enum peg_status first_error(struct peg_core *c)
{
	uint64_t at = PEG_NEVER;

	for (unsigned n = 0; n < c->stream.engines; n++) {
		if (c->engine[n].failed && c->engine[n].failed_at < at) {
			at = c->engine[n].failed_at;
			c->bad_engine = n;
		}
	}
	return (enum peg_status)c->engine[c->bad_engine].failed;
}

enum peg_status peg_core_run(struct peg_core *c, uint64_t until)
{
	for (;;) {
		const unsigned engines = c->stream.engines;
		uint64_t limit, next = PEG_NEVER, last = 0;
		bool blocked = false;

		/* report an error in a cycle that does not depend on how the run was cut */
		if (unlikely(c->failed) && !(c->cycle % PEG_WINDOW))
			return first_error(c);
		if (c->cycle >= until && c->live)
			return PEG_MORE;
		if (c->cycle == c->control && c->live && !peg_control(c))
			return PEG_UNREAD;
		limit = peg_min((c->cycle / PEG_WINDOW + 1) * PEG_WINDOW, peg_min(until, c->control));
		for (unsigned n = 0; n < engines; n++) {
			if (peg_engine_run(c, n, limit))
				c->engine[n].ran = limit;
			else
				blocked = true;
		}
		if (blocked)
			return PEG_OUT;
		if (c->stream.end_reported)
			peg_report_end(c, limit);
		for (unsigned n = 0; n < engines; n++) {
			next = peg_min(next, c->engine[n].next);
			if (!c->live)
				last = c->engine[n].end > last ? c->engine[n].end : last;
			else
				last = c->engine[n].clock > last ? c->engine[n].clock : last;
		}
		if (!c->live) {
			c->cycle = last;
			return PEG_DONE;
		}
		if (next == PEG_NEVER && c->control == PEG_NEVER && !c->failed) {
			c->cycle = last > c->cycle ? last : c->cycle;
			return PEG_IDLE;
		}
		c->cycle = limit;
	}
}

void peg_core_advance(struct peg_core *c, uint64_t cycle)
{
	if (cycle <= c->cycle)
		return;
	c->cycle = cycle;
	for (unsigned n = 0; n < c->stream.engines; n++)
		if (c->engine[n].clock < cycle)
			c->engine[n].clock = cycle;
}

void peg_core_request(struct peg_core *c, unsigned n, uint64_t requested)
{
	struct peg_engine *e = &c->engine[n];

	if (requested <= e->requested || e->ended)
		return;
	if (e->records >= e->requested)
		peg_wake(c, n, c->cycle);
	e->requested = requested;
}

void peg_core_reply(struct peg_core *c, unsigned n, enum peg_kind kind, unsigned slot, uint64_t cycle)
{
	struct peg_engine *e = &c->engine[n];

	if (kind == PEG_REFILL)
		e->refill.at[slot & e->refill.mask].ready = cycle;
	else if (kind == PEG_EDGES)
		e->fetch.at[slot & e->fetch.mask].ready = cycle;
	else if (slot < c->shape.entries)
		peg_index_known(c, e, slot, cycle);
	peg_wake(c, n, cycle);
}

/* ---- Output lists ---------------------------------------------------------------------------- */

/* Append on chip while there is space and nothing is spilled, so that a list stays in order. */
bool peg_out_append(struct peg_core *c, unsigned n, const uint64_t *vertex, unsigned count)
{
	struct peg_engine *e = &c->engine[n];

	while (count && !e->spilled && e->out.count < c->list_cap) {
		uint32_t at = e->out.head + e->out.count;

		at -= at >= c->list_cap ? c->list_cap : 0;
		peg_fill_lanes((uint8_t *)e->out.at + ((size_t)at << c->stream.id_log2), c->stream.id_log2,
			   *vertex, 0, 1);
		e->out.count++;
		vertex++;
		count--;
	}
	if (!count)
		return true;
	e->spilled += count;
	c->count.spilled += count;
	return c->port.spill(c->port.ctx, n, vertex, count);
}

bool peg_core_push(struct peg_core *c, unsigned n, const uint64_t *vertex, unsigned count)
{
	c->count.pushed += count;
	return peg_out_append(c, n, vertex, count);
}
