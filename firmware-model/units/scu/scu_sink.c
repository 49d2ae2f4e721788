// SPDX-License-Identifier: MIT
/* The SCU's sinks: write, filter, group or scatter the elements of a block (SCU, sections 3 and 4). */
#include "scu_steps.h"

/* After this many bytes of output, a job uses non-temporal stores: the output would not stay in the caches. */
#define STREAM_BEHIND (2ull << 20)

/* End in an error at element @k of the block. Only the slots before it are charged. */
static bool fail_at(struct scu_run *r, size_t k, unsigned status, unsigned slot, uint64_t value)
{
	uint64_t element = scu_where(r, k, &r->slots);

	r->s->in = element;
	return scu_fail(r, status, slot, element, value);
}

/* ---- Bit vectors ------------------------------------------------------------------------------- */

bool scu_append_bits(struct scu_run *r, struct scu_mem *m, uint64_t at, const uint64_t *bits, size_t n)
{
	const unsigned shift = at % 8;
	const size_t words = (n + 63) / 64, whole = (shift + n) / 8;
	uint64_t out[SCU_WORDS + 1];
	size_t i;

	if (!n)
		return true;
	if (shift) {
		out[0] = bits[0] << shift | r->s->bits;
		for (i = 1; i < words; i++)
			out[i] = bits[i] << shift | bits[i - 1] >> (64 - shift);
		out[words] = bits[words - 1] >> (64 - shift);
	} else {
		memcpy(out, bits, words * 8);
		out[words] = 0;
	}
	r->s->bits = ((const uint8_t *)out)[whole];
	if (!whole)
		return true;
	scu_stream(m, at / 8, whole, true);
	return scu_store(m, at / 8, out, whole);
}

bool scu_finish_bits(struct scu_run *r, struct scu_mem *m, uint64_t at)
{
	if (at % 8 == 0)
		return true;
	scu_stream(m, at / 8, 1, true);
	return scu_store(m, at / 8, &r->s->bits, 1);
}

/* ---- Elements in order --------------------------------------------------------------------------- */

/* Copy to contiguous output. Whole lines after STREAM_BEHIND are written with non-temporal stores. */
static void write_out(struct scu_run *r, uint8_t *to, const uint8_t *from, uint64_t bytes)
{
	uint64_t head;

	if (r->out_at >= STREAM_BEHIND) {
		head = -(uintptr_t)to & 63;
		if (bytes >= head + 64) {
			memcpy(to, from, head);
			to += head, from += head, bytes -= head;
			r->k->stream(to, from, bytes & ~63ull);
			r->streamed = true;
			to += bytes & ~63ull, from += bytes & ~63ull, bytes &= 63;
		}
	}
	memcpy(to, from, bytes);
}

/* Write the buffered output. Unless @all, a partial line of memory is held back. */
static bool flush(struct scu_run *r, bool all)
{
	struct scu_mem *m = &r->mem[GTU_SCU_OUT];
	uint64_t bytes = r->fill;

	if (!bytes)
		return true;
	if (m->base) {
		const uint64_t part = ((uintptr_t)m->base + r->out_at + bytes) & 63;

		if (!all)
			bytes -= part < bytes ? part : bytes;
		if (r->out_at + bytes > m->bytes)
			return scu_fail(r, GTU_CPL_BOUNDS, GTU_SCU_OUT, r->s->in, 0);
		write_out(r, m->base + r->out_at, r->stage, bytes);
	} else if (!scu_store(m, r->out_at, r->stage, bytes)) {
		return false;
	}
	scu_stream(m, r->out_at, bytes, true);
	r->out_at += bytes;
	r->fill -= bytes;
	memcpy(r->stage, r->stage + bytes, r->fill);
	return true;
}

bool scu_flush(struct scu_run *r)
{
	return flush(r, true);
}

/* The output is too short for element @k of the block. */
static void over_at(struct scu_run *r, size_t k)
{
	uint64_t slots;

	if (r->s->over)
		return;
	r->s->over = true;
	r->s->over_slot = GTU_SCU_OUT;
	r->s->over_element = scu_where(r, k, &slots);
}

/* Account for @n elements that were appended to the buffer; keep as many as fit in the output. */
static bool collect(struct scu_run *r, size_t n, const uint64_t *keep)
{
	const uint64_t space = r->mem[GTU_SCU_OUT].count - r->s->out;

	if (n > space) {
		over_at(r, keep ? scu_select_bit(keep, space) : space);
		n = space;
	}
	r->s->out += n;
	r->fill += n << r->p.width;
	return r->fill < SCU_STAGE / 8 || flush(r, false);
}

static bool put_kept(struct scu_run *r)
{
	const size_t n = r->k->compact[r->p.width](r->stage + r->fill, r->value, r->keep, r->m);

	return collect(r, n, r->keep);
}

static size_t count_kept(const struct scu_run *r)
{
	return r->k->count(r->keep, (r->m + 63) / 64);
}

/* Account for the block, of which @kept elements were kept. */
static void add_kept(struct scu_run *r, size_t kept)
{
	r->s->kept += kept;
	r->s->dropped += r->m - kept;
}

/* ---- Filtering and grouping ---------------------------------------------------------------------- */

/* The block's elements as ids of 4 or 8 bytes: narrower elements are widened. */
static const void *ids(struct scu_run *r)
{
	uint32_t *to = (uint32_t *)r->ids;
	size_t i;

	if (r->p.width >= 2)
		return r->value;
	for (i = 0; i < r->m; i++)
		to[i] = r->p.width ? ((const scu_u16 *)r->value)[i] : r->value[i];
	return to;
}

/* Set keep[] by probing the filter table, and append it to the filter mask. */
static bool filter_block(struct scu_run *r)
{
	struct scu_filter f = scu_filter_of(r);

	if (!scu_filter_offer(&f, r->k, ids(r), r->p.best ? r->cost[0] : NULL, r->m, r->keep))
		return false;
	r->s->probes += r->m;
	r->s->evictions += f.evictions;
	return !r->mem[GTU_SCU_FILTER].given ||
	       scu_append_bits(r, &r->mem[GTU_SCU_FILTER], r->s->ordinal, r->keep, r->m);
}

static bool sink_filter(struct scu_run *r)
{
	if (!filter_block(r))
		return false;
	add_kept(r, count_kept(r));
	return r->p.step == GTU_STEP_PRODUCE || put_kept(r);
}

/* Are positions given to the elements that pass the filter, without a place for excluded ones? */
static bool dense(const struct scu_run *r)
{
	return r->p.skips_excluded && r->mem[GTU_SCU_FILTER].given && !r->p.filters;
}

static void set_bits(uint64_t *bits, size_t n)
{
	memset(bits, 0xff, SCU_WORDS * sizeof(*bits));
	if (n % 64)
		bits[n / 64] = (1ull << (n % 64)) - 1;
}

static bool sink_group(struct scu_run *r)
{
	struct scu_mem *filter = &r->mem[GTU_SCU_FILTER], *out = &r->mem[GTU_SCU_OUT];
	struct scu_group g = scu_group_of(r);
	uint64_t first = r->s->ordinal;
	const uint8_t *value = r->value;
	size_t kept, n = r->m;
	enum scu_grouped ok;

	if (r->p.filters) {
		if (!filter_block(r))
			return false;
	} else if (filter->given) {
		if (!scu_load_bits(filter, r->s->ordinal, r->m, r->keep))
			return false;
	} else {
		set_bits(r->keep, r->m);
	}
	kept = count_kept(r);
	if (out->given && kept > out->count - r->s->kept && !r->s->over)
		over_at(r, scu_select_bit(r->keep, r->s->kept < out->count ? out->count - r->s->kept : 0));
	if (dense(r)) {
		n = r->k->compact[r->p.width](r->cost[0], r->value, r->keep, r->m);
		value = r->cost[0];
		first = r->s->kept;
		set_bits(r->keep, n);
	}
	ok = scu_group_offer(&g, r->k, value, r->keep, n, first);
	r->s->rank = g.rank;
	r->s->groups = g.groups;
	if (ok == GROUP_ORDINAL)
		return fail_at(r, g.bad, GTU_CPL_INDEX, GTU_SCU_GROUP_TABLE, g.bad_ordinal);
	add_kept(r, kept);
	return ok == GROUP_OK;
}

bool scu_drain_set(struct scu_run *r, uint64_t set)
{
	struct scu_group g = scu_group_of(r);
	const enum scu_grouped ok = scu_group_drain(&g, set, r->s->ordinal);

	r->s->units += g.rank - r->s->rank;
	r->s->rank = g.rank;
	r->s->groups = g.groups;
	if (ok == GROUP_ORDINAL)
		return scu_fail(r, GTU_CPL_INDEX, GTU_SCU_GROUP_TABLE, r->n, g.bad_ordinal);
	return ok == GROUP_OK;
}

/* ---- Applying ------------------------------------------------------------------------------------ */

static bool sink_apply_filter(struct scu_run *r)
{
	if (!scu_load_bits(&r->mem[GTU_SCU_FILTER], r->s->ordinal, r->m, r->keep))
		return false;
	add_kept(r, count_kept(r));
	return put_kept(r);
}

#define SCATTER(type)                                                                              \
	for (i = 0; i < n && (at[i] < count || at[i] == GTU_REORDER_DROPPED); i++)                 \
		if (at[i] != GTU_REORDER_DROPPED)                                                  \
			((type *)out->base)[at[i]] = ((const type *)value)[i], put++;              \
	break

static bool sink_apply_reorder(struct scu_run *r)
{
	struct scu_mem *reorder = &r->mem[GTU_SCU_REORDER], *out = &r->mem[GTU_SCU_OUT];
	const unsigned width = r->p.width;
	const uint64_t count = out->count;
	const uint8_t *value = r->value;
	uint64_t byte[GTU_WARP], first = r->s->ordinal;
	uint32_t *at = (uint32_t *)r->bounce;
	size_t i, put = 0, window = 0, n = r->m;
	uint8_t *p;

	if (dense(r)) {
		if (!scu_load_bits(&r->mem[GTU_SCU_FILTER], r->s->ordinal, r->m, r->keep))
			return false;
		n = r->k->compact[width](r->cost[0], r->value, r->keep, r->m);
		value = r->cost[0];
		first = r->s->kept;
	}
	if (!n)
		return true;
	if (!scu_load(reorder, 4 * first, at, 4 * n))
		return false;
	scu_stream(reorder, 4 * first, 4 * n, false);
	if (out->base && !out->monitored) {
		switch (width) {
		case 0:
			SCATTER(uint8_t);
		case 1:
			SCATTER(scu_u16);
		case 2:
			SCATTER(scu_u32);
		default:
			SCATTER(scu_u64);
		}
	} else {
		for (i = 0; i < n; i++) {
			if (at[i] == GTU_REORDER_DROPPED)
				continue;
			if (at[i] >= count)
				break;
			p = scu_element(out, at[i]);
			if (!p)
				return false;
			memcpy(p, value + (i << width), 1u << width);
			put++;
			byte[window++] = (uint64_t)at[i] << width;
			if (out->monitored && window == r->merge)
				scu_gather(out, byte, window, width, true);
			window %= r->merge;
		}
		scu_gather(out, byte, window, width, true);
	}
	r->s->out += put;
	if (!r->s->pass) {
		r->s->kept += put;
		r->s->dropped += i - put;
	}
	return i == n || fail_at(r, i, GTU_CPL_INDEX, GTU_SCU_REORDER, at[i]);
}

bool scu_sink(struct scu_run *r)
{
	switch (r->sink) {
	case SINK_PLAIN:
		return collect(r, r->m, NULL);
	case SINK_FILTER:
		return sink_filter(r);
	case SINK_GROUP:
		return sink_group(r);
	case SINK_APPLY_FILTER:
		return sink_apply_filter(r);
	default:
		return sink_apply_reorder(r);
	}
}
