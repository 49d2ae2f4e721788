// SPDX-License-Identifier: MIT
/* Betweenness centrality and ST-connectivity. */
#include <stdlib.h>

#include "libruntime/support/wide.h"
#include "parts.h"

/* ---- Betweenness --------------------------------------------------------------------------------- */

#define LOOP_LEVELS	8		/* levels that do not stay on the GPU, and fewest that do on the way back */

/* Numbers of shortest paths. */
struct numbers {
	const char *count, *forth, *depend, *back;	/* kernels */
	uint64_t one, infinite;				/* the number 1, and the least that is too many */
};

static const struct numbers doubles = {
	"paths_count", "paths_forth", "paths_depend", "paths_back", 1023ull << 52, 2047ull << 52,
};
static const struct numbers wide = {
	"paths_wide_count", "paths_wide_forth", "paths_wide_depend", "paths_wide_back", GTU_WIDE_ONE, GTU_WIDE_MOST,
};

struct betweenness {
	struct gpu_run r;
	CUdeviceptr level, paths, share, score, queue;
	CUdeviceptr log;		/* of levels that stay on the GPU */
	uint64_t *begin;		/* where each level begins in the queue, and where the last ends */
	uint64_t most;
	const struct numbers *numbers;
};

static int note_level(struct betweenness *b, uint64_t level, uint64_t first)
{
	const uint64_t most = level < 64 ? 128 : 2 * level;
	uint64_t *begin;

	if (level >= b->most) {
		begin = realloc(b->begin, most * sizeof(*begin));
		if (!begin)
			return gtu_fail(b->r.err, GTU_ERR_NOMEM, "%s: out of memory for %llu levels", b->r.name,
					(unsigned long long)most);
		b->begin = begin;
		b->most = most;
	}
	b->begin[level] = first;
	return 0;
}

/* A level was found, of @items behind @end items. */
static int add_level(struct betweenness *b, uint32_t *levels, uint64_t end, uint64_t vertices, uint64_t items)
{
	b->r.stats->vertices += vertices;
	b->r.stats->iterations += vertices > 0;
	if (!items)
		return 0;
	++*levels;
	return note_level(b, *levels, end + items);
}

/* The levels after the last one, while they are small, in one launch; *items: of the last one. */
static int loop_forth(struct betweenness *b, uint32_t *levels, uint64_t *items)
{
	struct gpu_run *r = &b->r;
	struct gpu_level log[GPU_LOOP_STEPS];
	uint64_t end = b->begin[*levels];
	CUdeviceptr from = b->queue + 8 * (end - *items);
	uint32_t next = *levels, i;
	void *args[] = { &from, items, &b->level, &next, &b->paths, &b->log, NULL };
	int rc = gpu_fill(r->gpu, b->log, 0, sizeof(log), r->err);

	if (!rc)
		rc = gpu_run_clear(r);
	if (!rc)
		rc = gpu_run_loop(r, b->numbers->forth, NULL, GPU_LOOP_BLOCKS, args);
	if (!rc)
		rc = gpu_run_read(r);
	if (!rc)
		rc = gpu_download(r->gpu, log, b->log, r->counters.loop.steps * sizeof(log[0]), r->err);
	for (i = 0; !rc && i < r->counters.loop.steps; i++) {
		*items = log[i].edges;
		rc = add_level(b, levels, end, log[i].vertices, *items);
		end += *items;
	}
	return rc;
}

/* Count the shortest paths from @source; *levels: levels that edges leave. counters.changed: they are too many. */
static int forth(struct betweenness *b, uint32_t source, uint32_t *levels)
{
	struct gpu_run *r = &b->r;
	CUdeviceptr from, out;
	uint64_t items;
	uint32_t next;
	uint64_t one = b->numbers->one, infinite = b->numbers->infinite;
	void *begin[] = { &source, &one, &b->level, &b->paths, &b->share, NULL };
	void *check[] = { &infinite, &b->paths, NULL };
	void *count[] = { &from, &items, &b->level, &next, &b->paths, &out, NULL };
	int rc = gpu_run_launch(r, "paths_begin", NULL, false, r->graph.n, begin);

	*levels = 0;
	if (!rc)
		rc = gpu_visit_collect(r, b->level, 0, b->queue, &items);
	if (!rc)
		rc = note_level(b, 0, 0);
	if (!rc)
		rc = add_level(b, levels, 0, 1, items);
	/* too many paths show at the next level */
	while (!rc && items && !r->counters.changed) {
		if (*levels > LOOP_LEVELS && items <= GPU_LOOP_PATHS) {
			rc = loop_forth(b, levels, &items);
			continue;
		}
		next = *levels;
		out = b->queue + 8 * b->begin[next];
		from = out - 8 * items;
		rc = gpu_visit_step(r, b->numbers->count, NULL, true, items * 32, count);
		items = r->counters.items;
		if (!rc)
			rc = add_level(b, levels, b->begin[next], r->counters.vertices, items);
	}
	return rc || r->counters.changed ? rc : gpu_visit_step(r, "paths_check", NULL, false, r->graph.n, check);
}

/* Items of the level that edges to level @next leave. */
static uint64_t items_before(const struct betweenness *b, uint32_t next)
{
	return b->begin[next] - b->begin[next - 1];
}

/* The dependencies of small levels in one launch, from the one before @next on; *count: their number. */
static int loop_back(struct betweenness *b, uint32_t next, uint32_t *count)
{
	struct gpu_run *r = &b->r;
	void *args[] = { &b->queue, &b->log, count, &b->level, &next, &b->paths, &b->share, NULL };
	int rc;

	for (*count = 0; *count < next && *count < GPU_LOOP_STEPS && items_before(b, next - *count) <= GPU_LOOP_PATHS;)
		++*count;
	if (*count < LOOP_LEVELS) {
		*count = 0;
		return 0;
	}
	rc = gpu_upload(r->gpu, b->log, b->begin + next - *count, 8 * (*count + 1ull), r->err);
	if (!rc)
		rc = gpu_run_clear(r);
	return rc ? rc : gpu_run_loop(r, b->numbers->back, NULL, GPU_LOOP_BLOCKS, args);
}

static int back(struct betweenness *b, uint32_t source, uint32_t levels)
{
	struct gpu_run *r = &b->r;
	CUdeviceptr from;
	uint64_t items;
	uint32_t next = levels, looped;
	void *depend[] = { &from, &items, &b->level, &next, &b->paths, &b->share, NULL };
	void *end[] = { &source, &b->share, &b->score, NULL };
	int rc = 0;

	while (next && !rc) {
		rc = loop_back(b, next, &looped);
		next -= looped;
		if (rc || looped)
			continue;
		from = b->queue + 8 * b->begin[next - 1];
		items = items_before(b, next);
		rc = gpu_run_launch(r, b->numbers->depend, NULL, true, items * 32, depend);
		next--;
	}
	return rc ? rc : gpu_visit_step(r, "paths_end", NULL, false, r->graph.n, end);
}

static int from_source(struct betweenness *b, uint32_t source)
{
	struct gpu_run *r = &b->r;
	const uint64_t vertices = r->stats->vertices, iterations = r->stats->iterations;
	uint32_t levels;
	int rc = forth(b, source, &levels);

	if (!rc && r->counters.changed && b->numbers == &doubles) {
		/* the next sources in this graph have as many */
		b->numbers = &wide;
		r->stats->vertices = vertices;
		r->stats->iterations = iterations;
		rc = forth(b, source, &levels);
	}
	if (!rc && r->counters.changed)
		rc = gtu_fail(r->err, GTU_ERR_UNSUPPORTED,
			      "the number of shortest paths from vertex %llu exceeds 2^524287",
			      (unsigned long long)gtu_graph_id(r->g, source));
	return rc ? rc : back(b, source, levels);
}

static int from_sources(struct betweenness *b)
{
	struct gpu_run *r = &b->r;
	const struct gtu_algorithm_options *opt = r->opt;
	const uint64_t n = r->graph.n, count = opt->sources ? opt->source_count : n;
	const struct gpu_part part[] = {
		{ "levels", 4 * n, &b->level }, { "paths", 8 * n, &b->paths }, { "shares", 8 * n, &b->share },
		{ "scores", 8 * n, &b->score }, { "queue", gpu_run_queue_bytes(r), &b->queue },
		{ "levels on the GPU", sizeof(struct gpu_level) * GPU_LOOP_STEPS, &b->log },
	};
	uint64_t i, source;
	int rc = gpu_run_allocate(r, part, 6);

	b->numbers = &doubles;
	if (!rc)
		rc = gpu_fill(r->gpu, b->score, 0, 8 * n, r->err);
	gtu_phase(&r->phases, "traverse");
	for (i = 0; i < count && !rc; i++) {
		source = opt->sources ? opt->sources[i] : i;
		rc = gpu_visit_check_vertex(r, "source", source);
		if (!rc)
			rc = from_source(b, (uint32_t)source);
		r->stats->edges += r->graph.m;
	}
	return rc;
}

int gpu_betweenness_check(const struct gpu_run *r)
{
	if (!r->opt->source_count || r->opt->sources)
		return 0;
	return gtu_fail(r->err, GTU_ERR_USAGE, "source_count is %llu, but sources is NULL: pass a list",
			(unsigned long long)r->opt->source_count);
}

int gpu_betweenness(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *score,
		    struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct betweenness b = { 0 };
	int rc = gpu_visit_begin(&b.r, dev, "betweenness", opt, stats, err);

	if (!rc)
		rc = gpu_betweenness_check(&b.r);
	if (!rc && b.r.graph.n) {
		rc = from_sources(&b);
		gtu_phase(&b.r.phases, "result");
		if (!rc)
			rc = gpu_download(b.r.gpu, score, b.score, 8 * b.r.graph.n, err);
	}
	free(b.begin);
	return gpu_run_end(&b.r, rc);
}

/* ---- ST-connectivity ----------------------------------------------------------------------------- */

/* The search from one end; its levels lie behind each other in the queue. */
struct side {
	CUdeviceptr level, queue;
	uint64_t items, vertices;	/* of the present level */
	uint32_t depth;
};

static int start_side(struct gpu_run *r, struct side *s, uint64_t vertex)
{
	const uint32_t zero = 0;
	int rc = gpu_fill(r->gpu, s->level, 0xff, 4 * r->graph.n, r->err);

	s->vertices = 1;
	r->stats->vertices++;
	if (!rc)
		rc = gpu_upload(r->gpu, s->level + 4 * vertex, &zero, 4, r->err);
	return rc ? rc : gpu_visit_collect(r, s->level, 0, s->queue, &s->items);
}

static int step_side(struct gpu_run *r, struct side *s, const struct side *other)
{
	CUdeviceptr out = s->queue + 8 * s->items, their_level = other->level;
	uint32_t next = s->depth + 1;
	void *args[] = { &s->queue, &s->items, &s->level, &their_level, &next, &out, NULL };
	int rc = gpu_visit_step(r, "paths_meet", NULL, true, s->items * 32, args);

	r->stats->edges += r->counters.edges;
	gpu_run_iteration(r, s->vertices);
	s->queue = out;
	s->items = r->counters.items;
	s->vertices = r->counters.vertices;
	s->depth = next;
	r->stats->vertices += s->vertices;
	return rc;
}

static int search(struct gpu_run *r, uint64_t *distance)
{
	struct side side[2] = { { 0 } }, *active;
	const uint64_t n = r->graph.n, queue = gpu_run_queue_bytes(r);
	const struct gpu_part part[] = {
		{ "levels from the source", 4 * n, &side[0].level }, { "queue from the source", queue, &side[0].queue },
		{ "levels from the target", 4 * n, &side[1].level }, { "queue from the target", queue, &side[1].queue },
	};
	int rc = gpu_run_allocate(r, part, 4);

	*distance = r->opt->source == r->opt->target ? 0 : GTU_UNREACHED;
	gtu_phase(&r->phases, "traverse");
	if (!rc)
		rc = start_side(r, &side[0], r->opt->source);
	if (!rc)
		rc = start_side(r, &side[1], r->opt->target);
	while (!rc && *distance == GTU_UNREACHED) {
		/* searching from the target needs edges stored in both directions */
		active = r->undirected && side[1].vertices < side[0].vertices ? &side[1] : &side[0];
		if (!active->items)
			break;
		rc = step_side(r, active, &side[active == &side[0]]);
		if (!rc && r->counters.not_min)
			*distance = ~r->counters.not_min;
	}
	return rc;
}

int gpu_stcon(struct gtu_device *dev, const struct gtu_algorithm_options *opt, void *distance,
	      struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	struct gpu_run r;
	uint64_t found = 0;
	int rc = gpu_visit_begin(&r, dev, "stcon", opt, stats, err);

	if (!rc)
		rc = gpu_visit_check_vertex(&r, "source", opt->source);
	if (!rc)
		rc = gpu_visit_check_vertex(&r, "target", opt->target);
	if (!rc)
		rc = search(&r, &found);
	if (!rc)
		*(uint64_t *)distance = found;
	return gpu_run_end(&r, rc);
}
