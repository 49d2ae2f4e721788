// SPDX-License-Identifier: MIT
/* Steps of the SCU: expansion, replication, compaction, and the enhanced unit's filters. */
#include <string.h>

#include "common.h"

/* Finish an SCU job over @elements. Its output and dropped elements must add up to @elements. */
static int job_done(struct gtu_alg *a, const struct gtu_completion *c, uint64_t elements, int rc)
{
	if (rc)
		return rc;
	gtu_alg_job_done(a, c);
	if (gtu_likely(c->count <= elements && c->dropped == elements - c->count))
		return 0;
	return gtu_fail(a->err, GTU_ERR_FAIL,
			"%s put out %llu elements and dropped %llu, of %llu: its completions cannot be trusted; reset the queue, or the device",
			gtu_get_info(a->dev)->path, (unsigned long long)c->count,
			(unsigned long long)c->dropped, (unsigned long long)elements);
}

int gtu_alg_filter_begin(struct gtu_alg *a, struct gtu_alg_filter *t, uint32_t flags, bool keep,
			 uint32_t cost_type, uint32_t cost_width, uint32_t target_width)
{
	uint64_t max = flags & GTU_SCU_BEST ? GTU_ALG_BEST_LINES : GTU_ALG_UNIQUE_LINES, bytes;
	int rc;

	t->flags = flags;
	t->keep = keep;
	t->used = false;
	memset(&t->f, 0, sizeof(t->f));
	/* a table of twice the vertices rarely evicts; small graphs need no larger one */
	for (t->lines = GTU_TABLE_WAYS; t->lines < max && t->lines < 2 * a->g->n; t->lines *= 2)
		;
	t->f.cost_type = cost_type;
	t->f.cost_width = cost_width;
	t->f.target_log2 = (uint32_t)__builtin_ctz(target_width ? target_width : 1);
	if (flags & (GTU_SCU_UNIQUE | GTU_SCU_BEST)) {
		bytes = gtu_scu_filter_table_bytes(t->lines, a->id_width,
						   flags & GTU_SCU_BEST ? cost_width : 0);
		rc = gtu_alg_reserve(a, &t->table, bytes, false);
		if (rc)
			return rc;
		t->f.filter_table = gtu_alg_array(&t->table, t->lines, 1);
	}
	if (!(flags & GTU_SCU_GROUP))
		return 0;
	return gtu_alg_reserve(a, &t->groups, gtu_scu_group_table_bytes(GTU_ALG_GROUP_LINES), false);
}

int gtu_alg_filter_fused(struct gtu_alg *a, struct gtu_alg_filter *t, uint64_t elements)
{
	uint64_t lines = GTU_TABLE_WAYS;
	int rc;

	t->f.step = GTU_STEP_FUSED;
	t->f.flags = t->flags | (t->keep && t->used ? GTU_SCU_KEEP : 0);
	t->used = true;
	if (t->flags & (GTU_SCU_UNIQUE | GTU_SCU_BEST)) {
		rc = gtu_alg_reserve(a, &t->bits, (elements + 63) / 64 * 8, false);
		if (rc)
			return rc;
		t->f.filter = gtu_alg_array(&t->bits, elements, 0);
	}
	if (t->flags & GTU_SCU_GROUP) {
		rc = gtu_alg_reserve(a, &t->order, elements * 4, false);
		if (rc)
			return rc;
		t->f.reorder = gtu_alg_array(&t->order, elements, 4);
		/*
		 * clearing and draining cost the size of the table: make it no larger than needed
		 */
		while (lines < GTU_ALG_GROUP_LINES && lines < elements)
			lines *= 2;
		t->f.group_table = gtu_alg_array(&t->groups, lines, 1);
	}
	return 0;
}

void gtu_alg_filter_apply(struct gtu_alg_filter *t)
{
	t->f.step = GTU_STEP_APPLY;
	t->f.flags = t->flags;
}

int gtu_alg_expand_from(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_array *data,
			const struct gtu_alg_filter *t, struct gtu_alg_buffer *to)
{
	struct gtu_array index = gtu_alg_array(&w->index, w->n, w->index_width);
	struct gtu_array count = gtu_alg_array(&w->count, w->n, 4), out;
	struct gtu_completion c;
	int rc;

	rc = gtu_alg_reserve(a, to, w->edges * data->width, false);
	if (rc)
		return rc;
	out = gtu_alg_array(to, w->edges, data->width);
	rc = gtu_scu_expand(a->q, data, &index, &count, NULL, t ? &t->f : NULL, &out, &c, a->err);
	w->out = rc ? 0 : c.count;
	return job_done(a, &c, w->edges, rc);
}

int gtu_alg_expand(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_alg_filter *t)
{
	return gtu_alg_expand_from(a, w, &w->map.col, t, &w->edge);
}

int gtu_alg_replicate(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_alg_buffer *in,
		      uint32_t width, const struct gtu_alg_filter *t, struct gtu_alg_buffer *to)
{
	struct gtu_array from = gtu_alg_array(in, w->n, width);
	struct gtu_array count = gtu_alg_array(&w->count, w->n, 4), out;
	struct gtu_completion c;
	int rc;

	rc = gtu_alg_reserve(a, to, w->edges * width, false);
	if (rc)
		return rc;
	out = gtu_alg_array(to, w->edges, width);
	rc = gtu_scu_replicate(a->q, &from, &count, NULL, t ? &t->f : NULL, &out, &c, a->err);
	return job_done(a, &c, w->edges, rc);
}

int gtu_alg_compact(struct gtu_alg *a, const struct gtu_alg_buffer *in, uint64_t n, uint32_t width,
		    const struct gtu_alg_buffer *mask, uint64_t ones,
		    const struct gtu_alg_filter *t, struct gtu_alg_buffer *to, uint64_t *count)
{
	struct gtu_array from = gtu_alg_array(in, n, width);
	struct gtu_array bits = gtu_alg_array(mask, n, 0), out;
	struct gtu_completion c;
	int rc;

	if (!ones)
		return 0;
	rc = gtu_alg_reserve(a, to, (*count + ones) * width, *count != 0);
	if (rc)
		return rc;
	out = gtu_array(&to->region, *count * width, ones, width);
	rc = gtu_scu_data(a->q, &from, &bits, t ? &t->f : NULL, &out, &c, a->err);
	rc = job_done(a, &c, ones, rc);
	if (!rc)
		*count += c.count;
	return rc;
}

/* The greatest of entries [i, end). All vertices from the SCU are checked with it, so each width has its own loop. */
static uint64_t greatest(const void *ids, uint32_t width, uint64_t i, uint64_t end)
{
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (width == 4)
		for (; i < end; i++)
			narrow = ((const uint32_t *)ids)[i] > narrow ? ((const uint32_t *)ids)[i] : narrow;
	else
		for (; i < end; i++)
			wide = ((const uint64_t *)ids)[i] > wide ? ((const uint64_t *)ids)[i] : wide;
	return width == 4 ? narrow : wide;
}

int gtu_alg_compact_frontier(struct gtu_alg *a, const struct gtu_alg_buffer *in, uint64_t n,
			     const struct gtu_alg_buffer *mask, uint64_t ones,
			     const struct gtu_alg_filter *t, struct gtu_alg_frontier *f)
{
	const uint64_t from = f->count;
	uint64_t max;
	int rc = gtu_alg_compact(a, in, n, a->id_width, mask, ones, t, &f->ids, &f->count);

	if (rc)
		return rc;
	max = greatest(f->ids.region.addr, a->id_width, from, f->count);
	if (gtu_likely(max < a->g->n))
		return 0;
	return gtu_fail(a->err, GTU_ERR_FAIL,
			"%s put vertex %llu into a frontier, of a graph of %llu vertices: it cannot be trusted",
			gtu_get_info(a->dev)->path, (unsigned long long)max, (unsigned long long)a->g->n);
}

int gtu_alg_mask(struct gtu_alg *a, struct gtu_alg_buffer *mask, uint64_t n)
{
	uint64_t bytes = (n + 63) / 64 * 8;
	int rc = gtu_alg_reserve(a, mask, bytes, false);

	if (!rc)
		memset(mask->region.addr, 0, bytes);
	return rc;
}

int gtu_alg_compare(struct gtu_alg *a, const struct gtu_alg_buffer *in, uint64_t n, uint32_t width,
		    uint32_t cmp, uint64_t reference, struct gtu_alg_buffer *mask, uint64_t *ones)
{
	struct gtu_array from = gtu_alg_array(in, n, width), to;
	struct gtu_completion c;
	const uint64_t *bits;
	uint64_t i;
	int rc;

	rc = gtu_alg_mask(a, mask, n);
	if (rc)
		return rc;
	to = gtu_alg_array(mask, n, 0);
	rc = gtu_scu_bitmask(a->q, &from, cmp, GTU_TYPE_UNSIGNED, reference, &to, &c, a->err);
	bits = mask->region.addr;
	*ones = 0;
	for (i = 0; i < (n + 63) / 64; i++)
		*ones += (uint64_t)__builtin_popcountll(bits[i]);
	return job_done(a, &c, n, rc);
}
