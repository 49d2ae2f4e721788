// SPDX-License-Identifier: MIT
/* The SCU's generation step: selects elements by mask, indices and counts (SCU, section 3). */
#include "scu_steps.h"

/* ---- Bits and words ---------------------------------------------------------------------------- */

bool scu_load_bits(struct scu_mem *m, uint64_t first, size_t n, uint64_t *bits)
{
	const unsigned shift = first % 8;
	const size_t bytes = (shift + n + 7) / 8, words = (n + 63) / 64;
	uint64_t raw[SCU_WORDS + 2];
	size_t i;

	if (!n)
		return true;
	raw[(bytes - 1) / 8] = 0;
	if (!scu_load(m, first / 8, raw, bytes))
		return false;
	scu_stream(m, first / 8, bytes, false);
	raw[(bytes - 1) / 8 + 1] = 0;
	for (i = 0; i < words; i++)
		bits[i] = shift ? raw[i] >> shift | raw[i + 1] << (64 - shift) : raw[i];
	if (n % 64)
		bits[words - 1] &= (1ull << (n % 64)) - 1;
	return true;
}

/* Load the mask of input elements [@first, @first + @n); all ones without a mask operand. */
static bool load_mask(struct scu_run *r, uint64_t first, size_t n)
{
	if (r->mem[GTU_SCU_MASK].given)
		return scu_load_bits(&r->mem[GTU_SCU_MASK], first, n, r->mask);
	memset(r->mask, 0xff, (n + 63) / 64 * 8);
	if (n % 64)
		r->mask[n / 64] = (1ull << (n % 64)) - 1;
	return true;
}

size_t scu_select_bit(const uint64_t *bits, size_t k)
{
	size_t i, ones;
	uint64_t w;

	for (i = 0; (ones = __builtin_popcountll(bits[i])) <= k; i++)
		k -= ones;
	for (w = bits[i]; k; k--)
		w &= w - 1;
	return 64 * i + __builtin_ctzll(w);
}

/* Number of input elements of the next block, which ends at a whole word of the bit vectors; at most @slots. */
static size_t block_inputs(const struct scu_run *r, uint64_t slots)
{
	const size_t n = SCU_BLOCK - r->s->in % 64, left = r->n - r->s->in < n ? r->n - r->s->in : n;

	return slots < left ? slots : left;
}

/* Copy @n elements from @first on, widened to 64 bits if @wide. */
static bool load_words(struct scu_run *r, struct scu_mem *m, uint64_t first, size_t n, void *to, bool wide)
{
	const unsigned log2 = m->width_log2;
	const uint64_t bytes = (uint64_t)n << log2;
	void *raw = wide && log2 == 2 ? r->bounce : to;

	if (!scu_load(m, first << log2, raw, bytes))
		return false;
	if (raw != to)
		r->k->widen(to, raw, n);
	return true;
}

/* Report the accesses to @n elements from @first on. Unless @passes is NULL, only to lines with an element whose bit of it is set. */
static void stream_passing(struct scu_mem *m, uint64_t first, size_t n, const uint64_t *passes, size_t bit)
{
	const unsigned log2 = m->width_log2;
	size_t in_line, i;

	for (; n; n -= in_line, first += in_line, bit += in_line) {
		in_line = passes ? (GTU_LINE_BYTES - (m->addr + (first << log2)) % GTU_LINE_BYTES) >> log2 : n;
		in_line = in_line < n ? in_line : n;
		for (i = 0; passes && i < in_line && !(passes[(bit + i) / 64] >> (bit + i) % 64 & 1); i++)
			;
		if (!passes || i < in_line)
			scu_stream(m, first << log2, (uint64_t)in_line << log2, false);
	}
}

/*
 * Which of the block's elements pass the filter of an earlier step, in @bits, where no address is generated for others
 * (SCU, section 3.2.1). NULL: all, or there is no such filter.
 */
static const uint64_t *passing(struct scu_run *r, uint64_t bits[SCU_WORDS])
{
	struct scu_mem m = r->mem[GTU_SCU_FILTER];

	if (!r->monitored || !r->p.skips_excluded || !m.given || r->sink == SINK_PLAIN || r->sink == SINK_FILTER)
		return NULL;
	m.monitored = false;		/* the sink reports the access */
	return scu_load_bits(&m, r->s->ordinal, r->m, bits) ? bits : NULL;
}

/*
 * Address of @n elements from @first on: in place, or in the bounce buffer if they are not contiguous. @passes as for
 * stream_passing().
 */
static const uint8_t *in_span(struct scu_run *r, struct scu_mem *m, uint64_t first, size_t n, const uint64_t *passes)
{
	const uint64_t bytes = (uint64_t)n << m->width_log2;
	uint64_t got;
	uint8_t *p;

	if (!n)
		return r->bounce;
	p = scu_span(m, first << m->width_log2, bytes, &got);
	if (p && m->monitored)
		stream_passing(m, first, n, passes, 0);
	if (p && got < bytes)
		p = scu_load(m, first << m->width_log2, r->bounce, bytes) ? r->bounce : NULL;
	return p;
}

/* ---- DATA and ACCESS: at most one output element per input element ------------------------------ */

#define GATHER(type)                                                                               \
	do {                                                                                       \
		const type *in = (const type *)base;                                               \
		type *out = (type *)to;                                                            \
												   \
		if (log2 == 2)                                                                     \
			for (i = 0; i < n; i++)                                                    \
				out[i] = in[((const uint32_t *)index)[i]];                         \
		else                                                                               \
			for (i = 0; i < n; i++)                                                    \
				out[i] = in[((const uint64_t *)index)[i]];                         \
	} while (0)

/* to[i] = element index[i] of @m. The caller has checked the indices. */
static bool gather(struct scu_run *r, struct scu_mem *m, const void *index, unsigned log2, size_t n,
		   uint8_t *to)
{
	const uint8_t *base = m->base;
	const unsigned width = m->width_log2;
	size_t i, j;

	if (m->monitored) {
		for (i = 0; i < n; i += r->merge) {
			uint64_t byte[GTU_WARP];

			for (j = 0; j < r->merge && i + j < n; j++)
				byte[j] = scu_get(index, log2, i + j) << width;
			scu_gather(m, byte, j, m->width_log2, false);
		}
	}
	if (!base) {
		for (i = 0; i < n; i++) {
			const uint8_t *p = scu_element(m, scu_get(index, log2, i));

			if (!p)
				return false;
			memcpy(to + (i << width), p, 1u << width);
		}
		return true;
	}
	switch (width) {
	case 0:
		GATHER(uint8_t);
		break;
	case 1:
		GATHER(scu_u16);
		break;
	case 2:
		GATHER(scu_u32);
		break;
	default:
		GATHER(scu_u64);
	}
	return true;
}

/* Copy element i of @m for each input element i that the mask selects. */
static bool select_inputs(struct scu_run *r, struct scu_mem *m, void *to)
{
	const uint8_t *from = in_span(r, m, r->first, r->inputs, r->p.skips_excluded ? r->mask : NULL);

	if (!from)
		return false;
	r->k->compact[m->width_log2](to, from, r->mask, r->inputs);
	return true;
}

static bool generate_single(struct scu_run *r, uint64_t slots)
{
	struct scu_state *s = r->s;
	struct scu_mem *index = &r->mem[GTU_SCU_INDEX], *data = &r->mem[GTU_SCU_DATA];
	struct scu_mem *gathered = &r->mem[GTU_SCU_COST_GATHERED], *input = &r->mem[GTU_SCU_COST_INPUT];
	const unsigned index_width = r->p.index_width;
	size_t nb = block_inputs(r, slots);
	uint8_t *selected = (uint8_t *)r->index;
	size_t bad;

	if (!load_mask(r, s->in, nb))
		return false;
	r->m = r->k->count(r->mask, (nb + 63) / 64);
	if (r->m > r->cap - s->ordinal) {
		r->m = r->cap - s->ordinal;
		nb = scu_select_bit(r->mask, r->m);
		r->full = nb == 0;
	}
	if (nb % 64)
		r->mask[nb / 64] &= (1ull << (nb % 64)) - 1;
	r->inputs = nb;
	if (r->p.indexed) {
		/* copy the indices once, then compact the selected ones */
		if (!load_words(r, index, s->in, nb, r->count, false))
			return false;
		scu_stream(index, s->in << index_width, (uint64_t)nb << index_width, false);
		r->k->compact[index_width](selected, r->count, r->mask, nb);
		bad = r->data_limit == UINT64_MAX ? r->m :
			r->k->first_beyond[index_width - 2](selected, r->m, r->data_limit);
		if (bad < r->m) {
			nb = scu_select_bit(r->mask, bad);
			r->m = bad;
			r->inputs = nb;
			r->error = GTU_CPL_INDEX;
			r->error_slot = GTU_SCU_INDEX;
			r->error_value = scu_get(selected, index_width, bad);
		}
		if (!data->given)
			memcpy(r->value, selected, r->m << index_width);
		else if (!gather(r, data, selected, index_width, r->m, r->value))
			return false;
		if (gathered->given && !gather(r, gathered, selected, index_width, r->m, r->cost[0]))
			return false;
	} else {
		if (!select_inputs(r, data, r->value) ||
		    (gathered->given && !select_inputs(r, gathered, r->cost[0])))
			return false;
	}
	if (input->given) {
		/* after an error the mask has bits beyond the m elements: clear them */
		if (nb % 64)
			r->mask[nb / 64] &= (1ull << (nb % 64)) - 1;
		if (!select_inputs(r, input, r->cost[1]))
			return false;
	}
	s->in += nb;
	r->slots = nb;
	return true;
}

/* ---- REPLICATE and EXPAND: runs ------------------------------------------------------------------ */

/* Load at most @slots elements: each takes at least one slot. */
static bool load_window(struct scu_run *r, uint64_t slots)
{
	const uint64_t first = r->s->in;
	const size_t n = block_inputs(r, slots);

	r->window = first;
	r->window_end = first + n;
	return load_mask(r, first, n) &&
	       load_words(r, &r->mem[GTU_SCU_COUNT], first, n, r->count, true) &&
	       (!r->p.indexed || load_words(r, &r->mem[GTU_SCU_INDEX], first, n, r->index, true));
}

#define DIRECT_BLOCK (SCU_BLOCK / 4)	/* short blocks, so that reads and writes overlap */

/* Process complete runs from the current one on: copy them (@direct), or append segments. */
static struct scu_segment *plan_whole(struct scu_run *r, struct scu_expand *x, struct scu_segment *g,
				      bool direct)
{
	uint64_t from, c;

	if (direct) {
		r->k->expand(x);
		return g;
	}
	for (; x->at < x->end && x->used < x->max && scu_whole_run(x, x->at, &from, &c); x->at++) {
		*g = (struct scu_segment){ from, r->window + x->at, (uint32_t)x->m, (uint32_t)c,
					   (uint32_t)x->used };
		g += c != 0;
		x->m += c;
		x->used += c + !c;
	}
	return g;
}

/*
 * Lay out the block's segments, and check indices and counts. A run that has to be split, exceeds the capacity
 * or is invalid is handled here, all others in plan_whole(), which may copy them at once (@direct).
 */
static bool plan(struct scu_run *r, uint64_t slots, bool direct)
{
	struct scu_state *s = r->s;
	const uint64_t block = direct ? DIRECT_BLOCK : SCU_BLOCK, cap = r->cap - s->ordinal;
	const bool indexed = r->p.indexed;
	struct scu_segment *g = r->segment;
	struct scu_expand x = {
		/* without indices, runs do not select data: zeros stand in for the indices */
		.index = indexed ? r->index : r->zeros, .count = r->count, .mask = r->mask,
		.limit = indexed ? r->data_limit : UINT64_MAX,
		.base = r->mem[GTU_SCU_DATA].base, .to = r->value, .log2 = r->p.width,
		.max = slots < block ? slots : block,
	};

	x.space = cap < x.max ? cap : x.max;
	while (x.used < x.max) {
		uint64_t c = s->left, from = s->from, length;

		if (!c) {
			if (s->in == r->n)
				break;
			if ((s->in >= r->window_end || s->in < r->window) && !load_window(r, slots))
				return false;
			x.at = s->in - r->window;
			x.end = r->window_end - r->window;
			g = plan_whole(r, &x, g, direct);
			s->in = r->window + x.at;
			if (x.at == x.end || x.used == x.max)
				continue;
			scu_whole_run(&x, x.at, &from, &c);
			if (x.m == cap) {
				r->full = x.m == 0;
				break;
			}
			if (from >= x.limit || c > x.limit - from) {
				r->error = GTU_CPL_INDEX;
				r->error_slot = from >= x.limit ? GTU_SCU_INDEX : GTU_SCU_COUNT;
				r->error_value = from >= x.limit ? from : c;
				break;
			}
		} else if (x.m == cap) {
			r->full = x.m == 0;
			break;
		}
		length = c < x.max - x.used ? c : x.max - x.used;
		length = length < x.space - x.m ? length : x.space - x.m;
		if (direct)
			memcpy(x.to + (x.m << x.log2), x.base + (from << x.log2), length << x.log2);
		else
			*g++ = (struct scu_segment){ from, s->in, (uint32_t)x.m, (uint32_t)length,
						     (uint32_t)x.used };
		x.m += length;
		x.used += length;
		s->left = c - length;
		s->from = from + length;
		s->in += !s->left;
	}
	r->m = x.m;
	r->slots = x.used;
	r->segments = (size_t)(g - r->segment);
	return true;
}

/* Copy the data of each segment to its position in the block. */
static bool copy_segments(struct scu_run *r, struct scu_mem *m, uint8_t *to, const uint64_t *passes)
{
	const unsigned log2 = m->width_log2;
	size_t i;

	if (m->monitored)
		for (i = 0; i < r->segments; i++)
			stream_passing(m, r->segment[i].from, r->segment[i].length, passes, r->segment[i].first);
	if (!m->base) {
		for (i = 0; i < r->segments; i++) {
			const struct scu_segment *g = &r->segment[i];

			if (!scu_load(m, g->from << log2, to + ((size_t)g->first << log2),
					  (uint64_t)g->length << log2))
				return false;
		}
		return true;
	}
	r->k->copy_runs(to, m->base, m->bytes, log2, r->segment, r->segments);
	return true;
}

/* Replicate each segment's input element over its length. Up to SCU_PAD bytes after it may be overwritten. */
static bool fill_segments(struct scu_run *r, struct scu_mem *m, uint8_t *to)
{
	uint64_t first, last;
	const uint8_t *from;

	if (!r->segments)
		return true;
	first = r->segment[0].element;
	last = r->segment[r->segments - 1].element;
	from = in_span(r, m, first, last - first + 1, NULL);
	if (!from)
		return false;
	r->k->fill_runs[m->width_log2](to, from, first, r->segment, r->segments);
	return true;
}

static bool generate_runs(struct scu_run *r, uint64_t slots)
{
	struct scu_mem *data = &r->mem[GTU_SCU_DATA], *index = &r->mem[GTU_SCU_INDEX];
	struct scu_mem *gathered = &r->mem[GTU_SCU_COST_GATHERED], *input = &r->mem[GTU_SCU_COST_INPUT];
	struct scu_mem *count = &r->mem[GTU_SCU_COUNT];
	uint64_t bits[SCU_WORDS];
	const uint64_t *passes;

	if (!plan(r, slots, r->p.indexed && r->to_stage && data->base && !r->monitored))
		return false;
	if (r->monitored) {
		const uint64_t n = r->s->in - r->first;

		scu_stream(count, r->first << count->width_log2, n << count->width_log2, false);
		if (index->given)
			scu_stream(index, r->first << index->width_log2, n << index->width_log2, false);
	}
	passes = passing(r, bits);
	if (r->p.indexed)
		return (!r->segments || copy_segments(r, data, r->value, passes)) &&
		       (!gathered->given || copy_segments(r, gathered, r->cost[0], passes)) &&
		       (!input->given || fill_segments(r, input, r->cost[1]));
	return fill_segments(r, data, r->value) &&
	       (!gathered->given || fill_segments(r, gathered, r->cost[0])) &&
	       (!input->given || fill_segments(r, input, r->cost[1]));
}

/* ---- All operations --------------------------------------------------------------------------- */

#define ADD(type)                                                                                  \
	for (i = 0; i < r->m; i++)                                                                 \
		((type *)a)[i] += ((const type *)b)[i]

/* Every sum that is not a number has the same bits: processors differ in which operand's they keep. */
#define ADD_REAL(real, bits, nan)                                                                  \
	for (i = 0; i < r->m; i++) {                                                               \
		const real sum = ((const real *)a)[i] + ((const real *)b)[i];                      \
												   \
		if (sum == sum)                                                                    \
			((real *)a)[i] = sum;                                                      \
		else                                                                               \
			((bits *)a)[i] = nan;                                                      \
	}

/* Sum the given costs into cost[0]. */
static void add_costs(struct scu_run *r)
{
	uint8_t *a = r->cost[0], *b = r->cost[1];
	size_t i;

	if (!r->mem[GTU_SCU_COST_GATHERED].given)
		memcpy(a, b, r->m << r->p.cost_width);
	if (!r->mem[GTU_SCU_COST_GATHERED].given || !r->mem[GTU_SCU_COST_INPUT].given)
		return;
	if (r->p.type == GTU_TYPE_FLOAT && r->p.cost_width == 2)
		ADD_REAL(scu_f32, scu_u32, GTU_NAN_F32)
	else if (r->p.type == GTU_TYPE_FLOAT)
		ADD_REAL(scu_f64, scu_u64, GTU_NAN_F64)
	else if (r->p.cost_width == 2)
		ADD(scu_u32);
	else
		ADD(scu_u64);
}

bool scu_generate(struct scu_run *r, uint64_t slots)
{
	r->first = r->s->in;
	r->m = r->segments = 0;
	r->slots = 0;
	r->full = false;
	r->error = GTU_CPL_OK;
	r->value = r->to_stage ? r->stage + r->fill : r->values;
	if (!(r->p.runs ? generate_runs(r, slots) : generate_single(r, slots)))
		return false;
	if (r->p.best && r->sink != SINK_APPLY_FILTER && r->sink != SINK_APPLY_REORDER)
		add_costs(r);
	return true;
}

uint64_t scu_where(const struct scu_run *r, size_t k, uint64_t *slots)
{
	size_t low = 0, high = r->segments;

	if (!r->p.runs) {
		*slots = scu_select_bit(r->mask, k);
		return r->first + *slots;
	}
	while (high - low > 1) {
		const size_t middle = (low + high) / 2;

		if (r->segment[middle].first <= k)
			low = middle;
		else
			high = middle;
	}
	*slots = r->segment[low].slots + (k - r->segment[low].first);
	return r->segment[low].element;
}

bool scu_count(struct scu_run *r, uint64_t slots)
{
	struct scu_state *s = r->s;
	struct scu_mem *count = &r->mem[GTU_SCU_COUNT];
	size_t n, i;

	if (s->left) {
		/* the rest of the run in which the output became full */
		s->needed = s->needed + s->left < s->left ? UINT64_MAX : s->needed + s->left;
		s->left = 0;
		s->in++;
	}
	n = block_inputs(r, slots);
	if (!load_mask(r, s->in, n))
		return false;
	if (r->p.runs) {
		if (!load_words(r, count, s->in, n, r->count, true))
			return false;
		scu_stream(count, s->in << count->width_log2, (uint64_t)n << count->width_log2, false);
		for (i = 0; i < n; i++) {
			const uint64_t c = r->mask[i / 64] >> (i % 64) & 1 ? r->count[i] : 0;

			s->needed = s->needed + c < c ? UINT64_MAX : s->needed + c;
		}
	} else {
		s->needed += r->k->count(r->mask, (n + 63) / 64);
	}
	s->in += n;
	r->slots = n;
	r->window_end = 0;	/* the window's arrays were used */
	return true;
}

#define AHEAD 4096u	/* bytes */

/*
 * BITMASK of whole words, without a copy of the bits and without the end of a block every few KiB, at which the
 * processor stops reading ahead. Returns the number of inputs compared; 0: the operands do not allow it.
 */
static uint64_t compare_in_place(struct scu_run *r, uint64_t slots)
{
	const struct scu_mem *data = &r->mem[GTU_SCU_DATA], *out = &r->mem[GTU_SCU_OUT];
	const uint64_t at = r->s->in, left = r->n - at, n = (slots < left ? slots : left) & ~63ull;
	const uint64_t first = at << data->width_log2, bytes = n << data->width_log2;
	const uint8_t *from;
	uint64_t ahead;
	uint8_t *to;

	if (at % 64 || n <= SCU_BLOCK || r->monitored || !data->base || !out->base ||
	    first + bytes > data->bytes || (at + n) / 8 > out->bytes)
		return 0;
	from = data->base + first;
	to = out->base + at / 8;
	if ((uintptr_t)to % 8 || (from < to + n / 8 && to < from + bytes))
		return 0;
	r->k->compare[data->width_log2]((uint64_t *)(void *)to, from, n, r->p.cmp, r->p.type, r->imm);
	/* memory works on until the next part of the job begins */
	for (ahead = 0; ahead < AHEAD && first + bytes + ahead < data->bytes; ahead += 64)
		__builtin_prefetch(from + bytes + ahead);
	return n;
}

bool scu_compare(struct scu_run *r, uint64_t slots)
{
	struct scu_state *s = r->s;
	struct scu_mem *data = &r->mem[GTU_SCU_DATA];
	uint64_t n = compare_in_place(r, slots);
	const uint8_t *from;

	s->in += n;
	r->slots = n;
	if (n)
		return true;
	n = block_inputs(r, slots);
	from = in_span(r, data, s->in, n, NULL);
	if (!from)
		return false;
	r->k->compare[data->width_log2](r->keep, from, n, r->p.cmp, r->p.type, r->imm);
	if (!scu_append_bits(r, &r->mem[GTU_SCU_OUT], s->in, r->keep, n))
		return false;
	s->in += n;
	r->slots = n;
	return true;
}
