// SPDX-License-Identifier: MIT
/* User functions of gtu/weave.h in the laboratory. */
#include <stdlib.h>

#include "weave.h"
#include "wvr_graph_run.h"

#define TRACE_MAX 16u		/* accesses of one call */

/* The mappings' statements, of which those of its own algorithms name accesses of user functions and entries. */
#define USER	UPDATE
#define OWNER	KEY
static const char *const weave_statements[STATEMENTS] = {
	[ROW] = "first[entry]", [ROW1] = "first[entry+1]", [BASE] = "entry[e]", [COL] = "other[e]", [WEIGHT] = "weight[e]",
	[OWN] = "", [OTHER] = "", [FILTER] = "", [USER] = "user function", [STAMP] = "", [CHANGED] = "changed=",
	[DEGREE] = "", [DEGREE1] = "", [OWNER] = "base[entry]", [OUT] = "",
};

struct access {
	const struct lab_array *array;
	uint32_t index;			/* of the word, or of the 8-byte pair for reads of 8 bytes */
	uint8_t kind, bytes;
};

/* The accesses that the calls of a warp's lanes have reported. */
struct trace {
	unsigned count[LAB_LANES];
	struct access at[LAB_LANES][TRACE_MAX];
};

struct program {
	struct gather_args a;		/* first: the mappings' arguments */
	const struct lab_weave_config *config;
	struct gtu_weave_iteration now;
	struct lab_array user[LAB_WEAVE_ARRAYS], owner;
	uint64_t *edge;			/* by edge of the list: its index in the storage */
	double *weight;			/* likewise: as get_edge() gave it; NULL: 1 */
	bool split;			/* entries are not vertices */
	bool again;
	struct trace *traces;		/* of each resident warp */
	uint32_t warps;			/* of an SM */
	uint64_t accesses;
	/* the lane whose function runs; warp NULL: outside the simulation */
	struct lab_warp *warp;
	unsigned lane;
};

static struct program *program_of(const struct gather_args *a)
{
	return (struct program *)(uintptr_t)a;
}

static struct trace *trace_of(const struct program *p, const struct lab_warp *w)
{
	return &p->traces[w->sm * p->warps + w->in_block];
}

/* ---- User functions -------------------------------------------------------------------------------- */

static void record(void *observer, const void *at, uint32_t bytes, enum gtu_weave_kind kind)
{
	struct program *p = observer;
	const uint32_t unit = bytes == 8 && kind == GTU_WEAVE_READ ? 8 : 4;
	struct trace *t;
	const char *from = NULL;
	unsigned i;

	if (!p->warp)
		return;
	for (i = 0; i < p->config->arrays; i++) {
		from = p->config->array[i].data;
		if ((const char *)at >= from && (const char *)at + bytes <= from + p->config->array[i].bytes)
			break;
	}
	if (i == p->config->arrays || bytes > 8)
		lab_fault(p->warp, "a user function reports an access of %u bytes outside the arrays of the program", bytes);
	t = trace_of(p, p->warp);
	if (t->count[p->lane] == TRACE_MAX)
		lab_fault(p->warp, "a call of a user function reports more than %u accesses", TRACE_MAX);
	t->at[p->lane][t->count[p->lane]++] = (struct access){
		.array = &p->user[i], .index = (uint32_t)((uint64_t)((const char *)at - from) / unit),
		.kind = (uint8_t)kind, .bytes = (uint8_t)bytes,
	};
	p->accesses++;
}

static void enter(struct lab_warp *w, struct program *p, unsigned lane)
{
	p->warp = w;
	p->lane = lane;
	trace_of(p, w)->count[lane] = 0;
}

static bool alike(const struct access *x, const struct access *y)
{
	return x->array == y->array && x->kind == y->kind && x->bytes == y->bytes;
}

/* Issue one access of the active lanes. The functions have run: stores and atomics keep what is there. */
static void issue(struct lab_warp *w, const struct access *t, lab_u32 index)
{
	const uint32_t *word = t->array->data;
	lab_u32 value = { 0 };
	lab_mask m;

	lab_alu(w, 2);
	if (t->kind == GTU_WEAVE_WRITE) {
		for (m = w->mask; m; m &= m - 1)
			value[__builtin_ctz(m)] = word[index[__builtin_ctz(m)]];
		lab_store32(w, USER, t->array, index, value);
		return;
	}
	if (t->kind == GTU_WEAVE_ATOMIC)
		lab_atomic(w, USER, t->array, LAB_ADD_U32, index, value);
	else if (t->bytes == 8)
		lab_load64(w, USER, t->array, index);
	else
		lab_load32(w, USER, t->array, index);
	lab_wait(w);
}

/* Issue the accesses that the calls of the active lanes have reported. */
static void replay(struct lab_warp *w, struct program *p)
{
	const struct trace *t = trace_of(p, w);
	const lab_mask was = w->mask;
	lab_mask left, m;
	uint32_t k;

	p->warp = NULL;
	for (k = 0; k < TRACE_MAX; k++) {
		for (left = 0, m = was; m; m &= m - 1)
			if (k < t->count[__builtin_ctz(m)])
				left |= m & -m;
		if (!left)
			break;
		while (left) {
			const struct access *leader = &t->at[__builtin_ctz(left)][k];
			lab_u32 index = { 0 };

			w->mask = 0;
			for (m = left; m; m &= m - 1) {
				const unsigned l = (unsigned)__builtin_ctz(m);

				if (!alike(leader, &t->at[l][k]))
					continue;
				w->mask |= 1u << l;
				index[l] = t->at[l][k].index;
			}
			left &= ~w->mask;
			issue(w, leader, index);
		}
	}
	w->mask = was;
}

/* The active lanes whose vertex passes @filter. */
static lab_mask passes(struct lab_warp *w, struct program *p,
		       bool (*filter)(const struct gtu_weave_iteration *t, uint64_t v), const lab_u32 *v)
{
	lab_mask pass = w->mask, m;

	if (!filter || !w->mask)
		return pass;
	for (m = w->mask; m; m &= m - 1) {
		const unsigned l = (unsigned)__builtin_ctz(m);

		enter(w, p, l);
		if (filter(&p->now, (*v)[l]))
			pass &= ~(1u << l);
	}
	lab_alu(w, 1);
	replay(w, p);
	return pass;
}

/* The base vertices of entries @entry. */
LAB_INLINE lab_u32 base_of(struct lab_warp *w, const struct program *p, lab_u32 entry)
{
	lab_u32 v;

	if (!p->split)
		return entry;
	v = load(w, OWNER, &p->owner, entry);
	lab_wait(w);
	return v;
}

/* ---- The kernel of figure 9 ------------------------------------------------------------------------- */

LAB_INLINE bool udf_weight(enum lab_wvr_algorithm u)
{
	return u == LAB_WVR_SSSP;	/* the algorithm whose edges have weights */
}

LAB_INLINE lab_mask udf_filter(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u,
			       const lab_u32 *entry)
{
	struct program *p = program_of(a);
	const struct gtu_weave_functions *f = p->config->functions;
	const lab_u32 v = base_of(w, p, *entry);

	(void)u;
	return passes(w, p, p->config->storage->pull ? f->filter_target : f->filter_source, &v);
}

LAB_INLINE void udf_neighbor(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u,
			     const lab_u32 *entry, lab_u32 *begin, lab_u32 *end)
{
	(void)u;
	csr_neighbor(w, a, entry, begin, end);
}

static void gather(struct lab_warp *w, struct program *p, const lab_u32 *base, const lab_u32 *other, const lab_u32 *id)
{
	const bool pull = p->config->storage->pull;
	lab_mask m;

	for (m = w->mask; m; m &= m - 1) {
		const unsigned l = (unsigned)__builtin_ctz(m);

		enter(w, p, l);
		p->now.edge = p->edge[(*id)[l]];
		p->config->functions->gather(&p->now, pull ? (*other)[l] : (*base)[l], pull ? (*base)[l] : (*other)[l],
					     p->weight ? p->weight[(*id)[l]] : 1);
	}
	replay(w, p);
}

LAB_INLINE lab_mask udf_edge(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u,
			     const struct edge *e)
{
	struct program *p = program_of(a);
	const struct gtu_weave_functions *f = p->config->functions;
	const bool pull = p->config->storage->pull;
	const lab_u32 base = base_of(w, p, e->base), other = e->other, id = e->id;
	const lab_mask takes = passes(w, p, f->filter_target, pull ? &base : &other);
	lab_mask done = pull ? w->mask & ~takes : 0;

	(void)u;
	LAB_IF(w, takes) {
		LAB_IF(w, passes(w, p, pull ? f->filter_source : NULL, &other))
			gather(w, p, &base, &other, &id);
	}
	return done;
}
#define lab_wvr_statements weave_statements
#include "wvr_graph_map.h"

MAPPED(weave, LAB_WVR_BFS);
MAPPED(weave_weights, LAB_WVR_SSSP);

static void apply(struct lab_warp *w, const void *args)
{
	struct program *p = program_of(args);
	const uint32_t n = (uint32_t)p->config->storage->vertices;
	lab_u32 v = lab_thread(w);
	lab_mask m;

	lab_alu(w, 6);
	for (; v[0] < n; v += threads_of(w)) {
		lab_alu(w, 3);
		LAB_IF(w, lab_lt(v, lab_all(n))) {
			lab_mask again = 0;

			for (m = w->mask; m; m &= m - 1) {
				enter(w, p, (unsigned)__builtin_ctz(m));
				if (p->config->functions->apply(&p->now, v[__builtin_ctz(m)]))
					again |= m & -m;
			}
			replay(w, p);
			p->again |= again;
			LAB_IF(w, again)
				lab_store32(w, CHANGED, &p->a.changed, lab_all(0), lab_all(1));
		}
	}
}
static const struct lab_kernel apply_kernel = LAB_KERNEL(apply, weave_statements, 0);

/* ---- The host ------------------------------------------------------------------------------------ */

static int check(const struct lab_machine *m, const struct lab_weave_config *c, struct gtu_error *err)
{
	const struct gtu_weave_storage *s = c->storage;
	unsigned i;

	if (m->warps > 32 || m->warps & (m->warps - 1))
		return gtu_fail(err, GTU_ERR_USAGE, "machine %s: SparseWeaver's mappings need 1, 2, 4, ... or 32 warps per "
				"SM, not %u", m->name, m->warps);
	if (c->mapping >= LAB_WVR_MAPPINGS)
		return gtu_fail(err, GTU_ERR_USAGE, "mapping %u does not exist: use 0 to %u", c->mapping, LAB_WVR_MAPPINGS - 1);
	if (s->vertices >= 1u << 27 || s->entries >= 1u << 27 || s->edges >= 1ull << 31)
		return gtu_fail(err, GTU_ERR_USAGE, "the storage is too large for the laboratory: at most 2^27 - 1 vertices "
				"and entries, and 2^31 - 1 edges");
	if (c->functions->frontier)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "a program with a frontier does not run in the laboratory: it "
				"registers all entries");
	if (!c->functions->gather || c->arrays > LAB_WEAVE_ARRAYS)
		return gtu_fail(err, GTU_ERR_USAGE, "a program needs gather(), and at most %u arrays, not %u",
				LAB_WEAVE_ARRAYS, c->arrays);
	for (i = 0; i < c->arrays; i++)
		if ((uintptr_t)c->array[i].data % 8 || c->array[i].bytes % 8)
			return gtu_fail(err, GTU_ERR_USAGE, "array %s must start at, and have, a multiple of 8 bytes",
					c->array[i].name);
	return 0;
}

/* Fill the table of entries and the list of edges from the storage's functions. */
static int fill(struct program *p, struct gtu_error *err)
{
	const struct gtu_weave_storage *s = p->config->storage;
	uint64_t entry, e, base, first, degree, other, next = 0;
	double weight;
	int rc = 0;

	for (entry = 0; entry < s->entries && !rc; entry++) {
		rc = s->get_neighbor(s, entry, &base, &first, &degree, err);
		if (!rc && (base >= s->vertices || degree > s->edges - next || first > s->edges || degree > s->edges - first))
			rc = gtu_fail(err, GTU_ERR_INPUT, "entry %llu of the storage is out of its bounds, or its edges "
				      "are another's, too", (unsigned long long)entry);
		lab_words(&p->a.row)[entry] = (uint32_t)next;
		lab_words(&p->owner)[entry] = (uint32_t)base;
		p->split |= base != entry;
		for (e = first; !rc && e < first + degree; e++, next++) {
			rc = s->get_edge(s, e, &other, &weight, err);
			if (!rc && other >= s->vertices)
				rc = gtu_fail(err, GTU_ERR_INPUT, "edge %llu of the storage has the vertex %llu, but there "
					      "are %llu", (unsigned long long)e, (unsigned long long)other,
					      (unsigned long long)s->vertices);
			lab_words(&p->a.col)[next] = (uint32_t)other;
			lab_words(&p->a.base)[next] = (uint32_t)entry;
			p->edge[next] = e;
			if (p->weight)
				p->weight[next] = weight;
		}
	}
	lab_words(&p->a.row)[s->entries] = (uint32_t)next;
	p->a.n = (uint32_t)s->entries;
	p->a.m = (uint32_t)next;
	return rc;
}

static int arrays(struct lab *lab, struct program *p, struct gtu_error *err)
{
	const struct lab_weave_config *c = p->config;
	const struct gtu_weave_storage *s = c->storage;
	const uint64_t blocks = lab_machine_of(lab)->sms;
	const struct {
		struct lab_array *array;
		const char *name;
		uint64_t words;
	} want[] = {
		{ &p->a.row, "first", s->entries + 1 }, { &p->a.col, "other", s->edges + 1 },
		{ &p->a.weight, "weight", s->edges + 1 }, { &p->a.base, "entry", s->edges + 1 },
		{ &p->owner, "base", s->entries + 1 }, { &p->a.changed, "changed", 1 },
		{ &p->a.bins, "bins", c->mapping == LAB_MAP_TWC ? LAB_WVR_BIN_WORDS * blocks : 1 },
		{ &p->a.tails, "tails", 3 * blocks },
	};
	unsigned i;
	int rc = 0;

	for (i = 0; i < sizeof(want) / sizeof(want[0]) && !rc; i++)
		rc = lab_alloc(lab, want[i].name, 4 * want[i].words, LAB_DEVICE, want[i].array, err);
	/* only the accesses are simulated: the functions use the caller's memory */
	for (i = 0; i < c->arrays && !rc; i++) {
		rc = lab_map(lab, c->array[i].name, c->array[i].data, c->array[i].bytes, LAB_DEVICE, &p->user[i], err);
		p->user[i].read_only = false;
	}
	p->traces = calloc((size_t)lab_machine_of(lab)->sms * p->warps, sizeof(*p->traces));
	p->edge = calloc(s->edges + 1, sizeof(*p->edge));
	if (!rc && c->weights)
		p->weight = calloc(s->edges + 1, sizeof(*p->weight));
	if (!rc && (!p->traces || !p->edge || (c->weights && !p->weight)))
		rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a program of %llu edges", (unsigned long long)s->edges);
	return rc ? rc : fill(p, err);
}

static int launch(struct lab *lab, struct program *p, const struct lab_kernel *k, const struct gtu_progress *progress,
		  struct lab_weave_report *report, struct gtu_error *err)
{
	const struct lab_machine *m = lab_machine_of(lab);
	const struct lab_launch l = { k, &p->a, m->sms, m->warps * LAB_LANES, progress };
	const uint64_t begin = lab_now(lab);
	int rc = lab_run(lab, &l, NULL, err);

	p->warp = NULL;
	report->cycles += lab_now(lab) - begin - m->launch_latency;
	return rc;
}

static int iterate(struct lab *lab, struct program *p, const struct gtu_progress *progress,
		   struct lab_weave_report *report, struct gtu_error *err)
{
	const struct lab_weave_config *c = p->config;
	uint64_t v;
	int rc = 0;

	for (v = 0; c->functions->init && v < c->storage->vertices; v++)
		c->functions->init(&p->now, v);
	do {
		p->again = false;
		rc = launch(lab, p, c->weights ? &lab_wvr_weave_weights[c->mapping] : &lab_wvr_weave[c->mapping], progress,
			    report, err);
		if (!rc && c->functions->apply)
			rc = launch(lab, p, &apply_kernel, progress, report, err);
		p->now.iteration++;
	} while (!rc && p->again && (!c->iterations || p->now.iteration < c->iterations));
	return rc;
}

int lab_weave_run(const struct lab_machine *m, const struct lab_weave_config *config, const struct gtu_progress *progress,
		  struct lab_weave_report *report, struct gtu_error *err)
{
	uint64_t stage[LAB_STAGES] = { 0 };
	struct program p = { .config = config, .warps = m->warps, .now = { .context = config->context } };
	struct lab_machine machine = *m;
	struct lab *lab = NULL;
	int rc = check(m, config, err);

	memset(report, 0, sizeof(*report));
	if (rc)
		return rc;
	p.now.access = record;
	p.now.observer = &p;
	p.a.stage = stage;
	if (config->mapping == LAB_MAP_WEAVER)
		machine.l1_size /= 2;
	rc = lab_create(&machine, &lab, err);
	if (!rc && config->mapping == LAB_MAP_WEAVER)
		rc = lab_weaver_attach(lab, &config->shape, &p.a.weaver, err);
	if (!rc && config->mapping == LAB_MAP_EGHW)
		rc = lab_eghw_attach(lab, config->eghw_requests, &p.a.eghw, err);
	rc = rc ? rc : arrays(lab, &p, err);
	if (!rc && p.a.eghw)
		lab_eghw_graph(p.a.eghw, &p.a.row, &p.a.col, config->weights ? &p.a.weight : NULL);
	rc = rc ? rc : iterate(lab, &p, progress, report, err);
	if (!rc) {
		report->stats = *lab_stats(lab);
		report->iterations = p.now.iteration;
		report->accesses = p.accesses;
		if (p.a.weaver)
			lab_weaver_counts(p.a.weaver, &report->weaver);
	}
	lab_destroy(lab);
	lab_weaver_free(p.a.weaver);
	lab_eghw_free(p.a.eghw);
	free(p.traces);
	free(p.edge);
	free(p.weight);
	return rc;
}
