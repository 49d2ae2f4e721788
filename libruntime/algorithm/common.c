// SPDX-License-Identifier: MIT
/* Runs of algorithms: options, clock, buffers, and the steps of the SCU and the IRU. */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "libruntime/support/clock.h"

#define TICK_NS		2000000u	/* minimum time between two calls of tick() */
#define POLL_EDGES	65536u		/* edges traversed between two readings of the clock */

/* ---- The run ------------------------------------------------------------------------------- */

static const struct {
	uint32_t unit;			/* GTU_UNIT_* */
	const char *name;
} units[] = {
	[GTU_WITH_NONE] = { 0, "no unit" },
	[GTU_WITH_SCU_BASIC] = { GTU_UNIT_SCU, "the SCU" },
	[GTU_WITH_SCU] = { GTU_UNIT_SCU, "the SCU" },
	[GTU_WITH_IRU] = { GTU_UNIT_IRU, "the IRU" },
	[GTU_WITH_PEG] = { GTU_UNIT_PEG, "GraphPEG" },
	[GTU_WITH_WEAVER] = { GTU_UNIT_WVR, "Weaver" },
};
#define UNITS (sizeof(units) / sizeof(units[0]))

/* Apply the IRU's limits: width of indices and positions in its records. */
static int check_iru(struct gtu_alg *a, const struct gtu_info *info)
{
	if (a->g->n > 1ull << info->iru[GTU_IRU_P_INDEX_BITS])
		return gtu_fail(a->err, GTU_ERR_UNSUPPORTED,
				"the IRU of %s has indices of %u bits, too few for a graph of %llu "
				"vertices",
				info->path, info->iru[GTU_IRU_P_INDEX_BITS],
				(unsigned long long)a->g->n);
	if (a->chunk > 1ull << info->iru[GTU_IRU_P_POSITION_BITS])
		a->chunk = 1ull << info->iru[GTU_IRU_P_POSITION_BITS];
	a->id_width = 4;
	return 0;
}

static int check_unit(struct gtu_alg *a)
{
	const struct gtu_info *info;

	if (a->opt->unit == GTU_WITH_GPU)
		return gtu_fail(a->err, GTU_ERR_UNSUPPORTED,
				"%s does not run on a GPU: only bfs, sssp, pagerank and components "
				"do", a->name);
	if (a->opt->unit >= UNITS)
		return gtu_fail(a->err, GTU_ERR_USAGE, "unit choice %u is invalid: use 0 to %zu",
				a->opt->unit, UNITS - 1);
	if (a->opt->unit == GTU_WITH_NONE)
		return 0;
	if (!a->dev)
		return gtu_fail(a->err, GTU_ERR_USAGE, "%s with %s needs a device", a->name,
				units[a->opt->unit].name);
	info = gtu_get_info(a->dev);
	if (!(info->units & units[a->opt->unit].unit))
		return gtu_fail(a->err, GTU_ERR_UNSUPPORTED, "%s does not have %s", info->path,
				units[a->opt->unit].name);
	return a->opt->unit == GTU_WITH_IRU ? check_iru(a, info) : 0;
}

int gtu_alg_begin(struct gtu_alg *a, const char *name, struct gtu_device *dev,
		  const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
		  struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	uint32_t log2 = opt->chunk_log2 ? opt->chunk_log2 : GTU_ALG_CHUNK_LOG2;
	int rc;

	memset(a, 0, sizeof(*a));
	a->name = name;
	a->dev = dev;
	a->g = g;
	a->opt = opt;
	a->err = err;
	a->chunk = 1ull << (log2 & 63);
	a->id_width = g->edge_bytes;
	a->first = opt->first_vertex;
	a->end = opt->first_vertex || opt->end_vertex ? opt->end_vertex : g->n;
	gtu_phases_begin(&a->phases, stats);
	a->stats = a->phases.stats;

	if (g->edge_bytes != 8 && (g->edge_bytes != 4 || g->n > 1ull << 32))
		return gtu_fail(err, GTU_ERR_USAGE,
				"edge entries of %u bytes are too small for the %llu vertices of "
				"%s",
				g->edge_bytes, (unsigned long long)g->n, g->name);
	if (log2 > GTU_ALG_CHUNK_LOG2_MAX)
		return gtu_fail(err, GTU_ERR_USAGE, "a chunk of 2^%u edges is too large: the "
				"maximum is 2^%u", log2,
				GTU_ALG_CHUNK_LOG2_MAX);
	if (a->first > a->end || a->end > g->n)
		return gtu_fail(err, GTU_ERR_USAGE,
				"vertices %llu up to %llu are not a range of the graph's %llu "
				"vertices",
				(unsigned long long)a->first, (unsigned long long)a->end,
				(unsigned long long)g->n);
	rc = check_unit(a);
	if (!rc && opt->unit != GTU_WITH_NONE)
		rc = gtu_queue_create(dev, NULL, &a->q, err);
	return rc;
}

int gtu_alg_require_whole_graph(struct gtu_alg *a)
{
	if (!a->first && a->end == a->g->n)
		return 0;
	return gtu_fail(a->err, GTU_ERR_UNSUPPORTED,
			"%s over a part of the vertices is not supported: it needs intermediate "
			"results of the other parts",
			a->name);
}

int gtu_alg_symmetrize(struct gtu_alg *a, struct gtu_graph **both)
{
	*both = NULL;
	if (!(a->g->flags & GTU_GRAPH_DIRECTED))
		return 0;
	return gtu_graph_symmetrize(a->g, a->opt->progress, both, a->err);
}

int gtu_alg_direction(struct gtu_alg *a)
{
	static const char *const name[] = { "pushing", "pulling", "pushing or pulling" };

	if (a->opt->direction > GTU_PUSH_OR_PULL)
		return gtu_fail(a->err, GTU_ERR_USAGE, "direction %u is invalid: use 0 to %u",
				a->opt->direction,
				GTU_PUSH_OR_PULL);
	if (a->opt->direction == GTU_PUSH)
		return 0;
	if (!gtu_alg_streams_edges(a))
		return gtu_fail(a->err, GTU_ERR_UNSUPPORTED,
				"%s by %s needs GraphPEG or Weaver; with %s it can only push",
				a->name,
				name[a->opt->direction], units[a->opt->unit].name);
	if (a->first || a->end != a->g->n)
		return gtu_fail(a->err, GTU_ERR_UNSUPPORTED,
				"%s by %s does not support a part of the vertices: a part consists "
				"of outgoing edges, so it can only push",
				a->name, name[a->opt->direction]);
	return 0;
}

int gtu_alg_transpose(struct gtu_alg *a, struct gtu_graph **turned)
{
	struct gtu_graph plain = *a->g;

	*turned = NULL;
	if (!(a->g->flags & GTU_GRAPH_DIRECTED))
		return 0;
	plain.weight = NULL;
	plain.weight_type = GTU_WEIGHT_NONE;
	return gtu_graph_transpose(&plain, a->opt->progress, turned, a->err);
}

static int give_back(struct gtu_alg *a, struct gtu_region *region, struct gtu_error *err)
{
	if (a->q)
		return gtu_region_remove(a->dev, region, err);
	free(region->addr);
	memset(region, 0, sizeof(*region));
	return 0;
}

int gtu_alg_end(struct gtu_alg *a, int rc)
{
	struct gtu_alg_buffer *b;
	int end_rc;

	gtu_iru_close(a->iru);
	for (b = a->buffers; b; b = b->next) {
		end_rc = give_back(a, &b->region, rc ? NULL : a->err);
		rc = rc ? rc : end_rc;
	}
	if (a->q)
		gtu_queue_destroy(a->q);
	gtu_phases_end(&a->phases);
	return rc;
}

int gtu_alg_poll_progress(struct gtu_alg *a)
{
	uint64_t now = gtu_now_ns();

	a->polled_edges = a->stats->edges;
	if (now - a->ticked_ns < TICK_NS)
		return 0;
	a->ticked_ns = now;
	if (gtu_tick(a->opt->progress, a->name, a->stats->edges, 0))
		return gtu_fail(a->err, GTU_ERR_INTERRUPTED, "%s was interrupted", a->name);
	return 0;
}

int gtu_alg_progress(struct gtu_alg *a, uint64_t edges)
{
	a->stats->edges += edges;
	return a->stats->edges - a->polled_edges < POLL_EDGES ? 0 : gtu_alg_poll_progress(a);
}

static void list(struct gtu_alg *a, struct gtu_alg_buffer *b)
{
	if (b->listed)
		return;
	b->listed = true;
	b->next = a->buffers;
	a->buffers = b;
}

void gtu_alg_swap(struct gtu_alg *a, struct gtu_alg_buffer *x, struct gtu_alg_buffer *y)
{
	struct gtu_region region = x->region;

	list(a, x);
	list(a, y);
	x->region = y->region;
	y->region = region;
}

int gtu_alg_reserve(struct gtu_alg *a, struct gtu_alg_buffer *b, uint64_t bytes, bool keep)
{
	struct gtu_region old = b->region, new = { 0 };
	int rc;

	if (bytes <= old.length)
		return 0;
	if (keep && bytes < old.length + old.length / 2)
		bytes = old.length + old.length / 2;
	bytes = (bytes + 4095) & ~4095ull;
	if (old.addr && !keep) {
		rc = give_back(a, &b->region, a->err);
		if (rc)
			return rc;
	}
	if (a->q) {
		rc = gtu_region_alloc(a->dev, bytes, &new, a->err);
		if (rc)
			return rc;
	} else {
		new.addr = calloc(1, bytes);
		new.length = bytes;
		if (!new.addr)
			return gtu_fail(a->err, GTU_ERR_NOMEM, "%s: out of memory for %llu bytes",
					a->name, (unsigned long long)bytes);
	}
	list(a, b);
	b->region = new;
	if (old.addr && keep) {
		memcpy(new.addr, old.addr, old.length);
		return give_back(a, &old, a->err);
	}
	return 0;
}

/* ---- Expansion ------------------------------------------------------------------------------ */

int gtu_alg_bad_row(struct gtu_alg *a, const struct gtu_graph *g, uint64_t v)
{
	return gtu_fail(a->err, GTU_ERR_INPUT,
			"%s: vertex %llu has edges [%llu, %llu) of %llu: the graph is damaged",
			g->name, (unsigned long long)v, (unsigned long long)g->row[v],
			(unsigned long long)g->row[v + 1], (unsigned long long)g->m);
}

int gtu_alg_bad_edge(struct gtu_alg *a, const struct gtu_graph *g, uint64_t e)
{
	return gtu_fail(a->err, GTU_ERR_INPUT,
			"%s: entry %llu of the edge list is vertex %llu, but there are %llu: the "
			"graph is damaged",
			g->name, (unsigned long long)e,
			(unsigned long long)gtu_graph_target(g, e), (unsigned long long)g->n);
}

int gtu_alg_bad_work(struct gtu_alg *a, const struct gtu_alg_work *w)
{
	const uint32_t *count = w->count.region.addr;
	uint64_t i, e, first;

	for (i = 0; i < w->n; i++) {
		first = gtu_get(w->index.region.addr, w->index_width, i);
		for (e = first; e < first + count[i]; e++)
			if (gtu_graph_target(w->g, e) >= w->g->n)
				return gtu_alg_bad_edge(a, w->g, e);
	}
	return gtu_fail(a->err, GTU_ERR_INPUT,
			"%s: the edge list contained an invalid vertex and has changed since",
			w->g->name);
}

int gtu_alg_work_begin(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_graph *g)
{
	memset(w, 0, sizeof(*w));
	w->g = g;
	w->first = a->first;
	w->end = a->end;
	w->index_width = g->m >> 32 ? 8 : 4;
	/* a region cannot be empty: without edges nothing is mapped or expanded */
	if (!(gtu_alg_scu(a) || a->opt->unit == GTU_WITH_PEG) || !g->m)
		return 0;
	return gtu_graph_map(a->dev, g, &w->map, a->err);
}

int gtu_alg_work_end(struct gtu_alg *a, struct gtu_alg_work *w, int rc)
{
	int end_rc = w->map.dev ? gtu_graph_unmap(&w->map, rc ? NULL : a->err) : 0;

	return rc ? rc : end_rc;
}

int gtu_alg_take(struct gtu_alg *a, struct gtu_alg_work *w, const struct gtu_alg_frontier *f,
		 struct gtu_alg_cursor *c)
{
	uint64_t inputs = f->count - c->at, v, first, end, take;
	int rc;

	/* every entry has at least one edge, so a chunk never needs more entries than edges */
	if (inputs > a->chunk)
		inputs = a->chunk;
	rc = gtu_alg_reserve(a, &w->vertex, inputs * a->id_width, false);
	if (!rc)
		rc = gtu_alg_reserve(a, &w->index, inputs * w->index_width, false);
	if (!rc)
		rc = gtu_alg_reserve(a, &w->count, inputs * 4, false);
	if (rc)
		return rc;
	w->n = 0;
	w->edges = 0;
	w->out = 0;
	while (c->at < f->count && w->edges < a->chunk) {
		v = gtu_alg_vertex(a, f, c->at);
		rc = gtu_alg_edges(a, w->g, v, &first, &end);
		if (rc)
			return rc;
		if (v < w->first || v >= w->end)
			end = first;
		/* another process may modify the file: the rest may be shorter than before */
		first = c->done < end - first ? first + c->done : end;
		take = end - first;
		if (take > a->chunk - w->edges)
			take = a->chunk - w->edges;
		if (take) {
			gtu_put(w->vertex.region.addr, a->id_width, w->n, v);
			gtu_put(w->index.region.addr, w->index_width, w->n, first);
			((uint32_t *)w->count.region.addr)[w->n++] = (uint32_t)take;
			w->edges += take;
		}
		if (first + take < end) {
			c->done += take;
		} else {
			c->at++;
			c->done = 0;
		}
	}
	a->stats->edges += w->edges;
	return gtu_alg_poll_progress(a);
}

/* ---- SCU ------------------------------------------------------------------------------------ */

void gtu_alg_job_done(struct gtu_alg *a, const struct gtu_completion *c)
{
	a->stats->jobs++;
	a->stats->job_cycles += c->cycles;
}

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
	uint64_t most = flags & GTU_SCU_BEST ? GTU_ALG_BEST_LINES : GTU_ALG_UNIQUE_LINES, bytes;
	int rc;

	t->flags = flags;
	t->keep = keep;
	t->used = false;
	memset(&t->f, 0, sizeof(t->f));
	/* a table of twice the vertices rarely evicts; small graphs need no larger one */
	for (t->lines = GTU_TABLE_WAYS; t->lines < most && t->lines < 2 * a->g->n; t->lines *= 2)
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

/* The greatest of entries [i, end). Every vertex that the SCU brings passes here, so widths have loops of their own. */
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
	uint64_t most;
	int rc = gtu_alg_compact(a, in, n, a->id_width, mask, ones, t, &f->ids, &f->count);

	if (rc)
		return rc;
	most = greatest(f->ids.region.addr, a->id_width, from, f->count);
	if (gtu_likely(most < a->g->n))
		return 0;
	return gtu_fail(a->err, GTU_ERR_FAIL,
			"%s put vertex %llu into a frontier, of a graph of %llu vertices: it cannot be trusted",
			gtu_get_info(a->dev)->path, (unsigned long long)most, (unsigned long long)a->g->n);
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

/* ---- IRU ------------------------------------------------------------------------------------ */

int gtu_alg_gather(struct gtu_alg *a, struct gtu_alg_work *w)
{
	const uint32_t *count = w->count.region.addr;
	uint64_t i, e, first, target;
	uint32_t *to;
	int rc;

	rc = gtu_alg_reserve(a, &w->edge, w->edges * 4, false);
	if (rc)
		return rc;
	to = w->edge.region.addr;
	for (i = 0; i < w->n; i++) {
		first = gtu_get(w->index.region.addr, w->index_width, i);
		for (e = first; e < first + count[i]; e++) {
			target = gtu_graph_target(w->g, e);
			if (gtu_unlikely(target >= w->g->n))
				return gtu_alg_bad_edge(a, w->g, e);
			*to++ = (uint32_t)target;
		}
	}
	w->out = w->edges;
	return 0;
}

int gtu_alg_replicate_cpu(struct gtu_alg *a, const struct gtu_alg_work *w, const struct gtu_alg_buffer *in,
		   uint32_t width, struct gtu_alg_buffer *to)
{
	const uint32_t *count = w->count.region.addr;
	uint64_t i, value, at = 0;
	uint32_t k;
	int rc;

	rc = gtu_alg_reserve(a, to, w->edges * width, false);
	for (i = 0; i < w->n && !rc; i++) {
		value = gtu_get(in->region.addr, width, i);
		for (k = 0; k < count[i]; k++)
			gtu_put(to->region.addr, width, at++, value);
	}
	return rc;
}

int gtu_alg_reorder(struct gtu_alg *a, const struct gtu_alg_work *w, uint64_t indices, uint32_t operation,
		    const struct gtu_alg_buffer *secondary, bool positions, uint32_t target_width)
{
	struct gtu_iru_config config = {
		.target_width = target_width,
		.operation = operation,
		.indices = gtu_alg_array(&w->edge, w->edges, 4),
		.positions = positions,
	};

	if (secondary)
		config.secondary = gtu_alg_array(secondary, w->edges, 4);
	a->iru_lanes = w->edges;
	a->iru_indices = indices;
	a->iru_edges = w->edges;
	a->iru_positions = positions;
	return gtu_iru_configure(a->q, &config, &a->iru, a->err);
}

static int forged_lane(struct gtu_alg *a, const struct gtu_warp *warp, unsigned lane)
{
	return gtu_fail(a->err, GTU_ERR_FAIL,
			"the IRU returned index %u at position %u, but indices are below %llu and "
			"positions below %llu: it cannot be trusted",
			warp->index[lane], a->iru_positions ? warp->position[lane] : 0,
			(unsigned long long)a->iru_indices, (unsigned long long)a->iru_edges);
}

int gtu_alg_load(struct gtu_alg *a, struct gtu_warp *warp)
{
	int more = gtu_iru_load(a->iru, warp, a->err);
	uint32_t lanes, sent;
	unsigned lane;

	if (more <= 0)
		return more;
	sent = (uint32_t)__builtin_popcount(warp->active);
	if (gtu_unlikely(sent > a->iru_lanes))
		return gtu_fail(a->err, GTU_ERR_FAIL,
				"the IRU returned more than the %llu elements submitted: it cannot "
				"be trusted",
				(unsigned long long)a->iru_edges);
	a->iru_lanes -= sent;
	for (lanes = warp->active; lanes; lanes &= lanes - 1) {
		lane = (unsigned)__builtin_ctz(lanes);
		if (gtu_unlikely(warp->index[lane] >= a->iru_indices ||
				 (a->iru_positions && warp->position[lane] >= a->iru_edges)))
			return forged_lane(a, warp, lane);
	}
	return more;
}

void gtu_alg_reordered(struct gtu_alg *a)
{
	gtu_alg_job_done(a, gtu_iru_result(a->iru));
}
