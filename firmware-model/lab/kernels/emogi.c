// SPDX-License-Identifier: MIT
/* EMOGI's kernels, with the edge list in host or unified memory, and figure 4's copies. */
#include "emogi.h"
#include "firmware-model/lab/engine/graph_kernels.h"

/*
 * lab_alu() counts the index arithmetic, comparisons and branches of the listings. They are not
 * fitted: over the link they are hidden behind a microsecond of latency.
 */
struct emogi_args {
	uint32_t n, current, edge_bytes;
	float base;
	struct lab_array row, col, weight; /* col, weight: in host or unified memory */
	struct lab_array value, other;	/* level; cost and new cost; label; rank and sum */
	struct lab_array active, next;	/* vertices to expand now, and in the next round */
	/* what an edge's target has: value or other; active and next */
	struct lab_array target, target_active, target_next;
	struct lab_array changed;
};

/* Statement numbers, common to all kernels. */
enum { ACTIVE, VALUE, ROW, ROW1, COL, WEIGHT, TARGET, UPDATE, MARK, CHANGED, STATEMENTS };
static const char *const names[STATEMENTS] = {
	"active[v]", "value[v]", "row[v]", "row[v+1]", "col[k]", "weight[k]", "value[c]", "value[c]=", "active[c]=",
	"changed=",
};

LAB_INLINE lab_u32 worker(const struct lab_warp *w, enum lab_emogi_variant x)
{
	return x == LAB_NAIVE ? lab_thread(w) : lab_thread(w) >> 5;
}

/* Edges of @v: [*first, *end); the lane starts at *k. */
LAB_INLINE void edges_of(struct lab_warp *w, const struct emogi_args *a, enum lab_emogi_variant x, lab_u32 v,
			 lab_u32 *first, lab_u32 *k, lab_u32 *end)
{
	*first = lab_low(lab_load64(w, ROW, &a->row, v));
	*end = lab_low(lab_load64(w, ROW1, &a->row, v + 1));
	lab_wait(w);
	lab_alu(w, x == LAB_NAIVE ? 2 : 4);
	*k = *first;
	if (x == LAB_ALIGNED)
		*k &= lab_all(~(128 / a->edge_bytes - 1));
	if (x != LAB_NAIVE)
		*k += lab_lane();
}

LAB_INLINE lab_u32 target(struct lab_warp *w, const struct emogi_args *a, lab_u32 k)
{
	if (a->edge_bytes == 8)
		return lab_low(lab_load64(w, COL, &a->col, k));
	return lab_load32(w, COL, &a->col, k);
}

/* Loop over a lane's edges; lanes before the first edge are inactive. */
#define EACH_EDGE(w, x, first, k, end)                                                             \
	LAB_WHILE(w, lab_lt(k, end))                                                               \
		for (bool step_ = (lab_alu(w, x == LAB_ALIGNED ? 4 : 3), true); step_;             \
		     k += x == LAB_NAIVE ? 1 : 32, step_ = false)                                  \
			LAB_IF(w, lab_ge(k, first))

LAB_INLINE void bfs(struct lab_warp *w, const struct emogi_args *a, enum lab_emogi_variant x)
{
	lab_u32 v = worker(w, x), level, first, k, end, c;

	lab_alu(w, 6);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		level = lab_load32(w, VALUE, &a->value, v);
		lab_wait(w);
		lab_alu(w, 2);
		LAB_IF(w, lab_eq(level, lab_all(a->current))) {
			edges_of(w, a, x, v, &first, &k, &end);
			EACH_EDGE(w, x, first, k, end) {
				c = target(w, a, k);
				lab_wait(w);
				level = lab_load32(w, TARGET, &a->target, c);
				lab_wait(w);
				lab_alu(w, 2);
				LAB_IF(w, lab_eq(level, lab_all(LAB_NEVER))) {
					lab_store32(w, UPDATE, &a->target, c, lab_all(a->current + 1));
					lab_store32(w, CHANGED, &a->changed, lab_all(0), lab_all(1));
				}
			}
		}
	}
}

/* Which of the active lanes' vertices are marked as active. */
LAB_INLINE lab_mask marked(struct lab_warp *w, const struct emogi_args *a, lab_u32 v)
{
	lab_u32 on = lab_load32(w, ACTIVE, &a->active, v);

	lab_wait(w);
	lab_alu(w, 2);
	return lab_ne(on, lab_all(0));
}

/* Costs are lowered in place. A list ends early if its vertex was lowered again: the next round expands it. */
LAB_INLINE void sssp(struct lab_warp *w, const struct emogi_args *a, enum lab_emogi_variant x)
{
	lab_u32 v = worker(w, x), cost, first, k, end, c, d, old;

	lab_alu(w, 6);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		LAB_IF(w, marked(w, a, v)) {
			cost = lab_load32(w, VALUE, &a->other, v);
			edges_of(w, a, x, v, &first, &k, &end);
			EACH_EDGE(w, x, first, k, end) {
				old = lab_load32(w, VALUE, &a->other, v);
				lab_wait(w);
				lab_alu(w, 1);
				LAB_IF(w, lab_ne(old, cost))
					lab_break(w);
				LAB_IF(w, lab_eq(old, cost)) {
					c = target(w, a, k);
					d = lab_load32(w, WEIGHT, &a->weight, k);
					lab_wait(w);
					d += cost;
					old = lab_load32(w, TARGET, &a->target, c);
					lab_wait(w);
					lab_alu(w, 3);
					LAB_IF(w, lab_lt(d, old))
						lab_do_atomic(w, UPDATE, &a->target, LAB_MIN_U32, &c, &d, NULL, NULL);
				}
			}
			lab_store32(w, MARK, &a->active, v, lab_all(0));
		}
	}
}

/* Make lowered costs valid and activate their vertices. */
static void sssp_update(struct lab_warp *w, const void *p)
{
	const struct emogi_args *a = p;
	lab_u32 v = lab_thread(w), cost, fresh;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		cost = lab_load32(w, VALUE, &a->value, v);
		fresh = lab_load32(w, TARGET, &a->other, v);
		lab_wait(w);
		lab_alu(w, 2);
		LAB_IF(w, lab_lt(fresh, cost)) {
			lab_store32(w, UPDATE, &a->value, v, fresh);
			lab_store32(w, MARK, &a->active, v, lab_all(1));
			lab_store32(w, CHANGED, &a->changed, lab_all(0), lab_all(1));
		}
	}
}

/* An edge gives the greater of its two labels the smaller one, at either end. */
LAB_INLINE void cc(struct lab_warp *w, const struct emogi_args *a, enum lab_emogi_variant x)
{
	lab_u32 v = worker(w, x), label, first, k, end, c, old;

	lab_alu(w, 6);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		LAB_IF(w, marked(w, a, v)) {
			lab_store32(w, MARK, &a->active, v, lab_all(0));
			edges_of(w, a, x, v, &first, &k, &end);
			EACH_EDGE(w, x, first, k, end) {
				label = lab_load32(w, VALUE, &a->value, v);
				c = target(w, a, k);
				lab_wait(w);
				old = lab_load32(w, TARGET, &a->target, c);
				lab_wait(w);
				lab_alu(w, 3);
				LAB_IF(w, lab_lt(label, old)) {
					lab_do_atomic(w, UPDATE, &a->target, LAB_MIN_U32, &c, &label, NULL, NULL);
					lab_store32(w, MARK, &a->target_next, c, lab_all(1));
					lab_store32(w, CHANGED, &a->changed, lab_all(0), lab_all(1));
				}
				LAB_IF(w, lab_lt(old, label)) {
					lab_do_atomic(w, UPDATE, &a->value, LAB_MIN_U32, &v, &old, NULL, NULL);
					lab_store32(w, MARK, &a->next, v, lab_all(1));
					lab_store32(w, CHANGED, &a->changed, lab_all(0), lab_all(1));
				}
			}
		}
	}
}

LAB_INLINE void pr(struct lab_warp *w, const struct emogi_args *a, enum lab_emogi_variant x)
{
	lab_u32 v = worker(w, x), first, k, end, c;
	lab_f32 share;

	lab_alu(w, 6);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		share = lab_load_f32(w, VALUE, &a->value, v);
		edges_of(w, a, x, v, &first, &k, &end);
		lab_alu(w, 10);		/* a division */
		share = (lab_f32)lab_rank_share((lab_u32)share, first, end);
		EACH_EDGE(w, x, first, k, end) {
			c = target(w, a, k);
			lab_wait(w);
			lab_atomic_add_f32(w, UPDATE, &a->target, c, share);
		}
	}
}

static void pr_update(struct lab_warp *w, const void *p)
{
	const struct emogi_args *a = p;
	lab_u32 v = lab_thread(w);
	lab_f32 sum;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		sum = lab_load_f32(w, TARGET, &a->other, v);
		lab_wait(w);
		lab_alu(w, 2);
		lab_store_f32(w, UPDATE, &a->value, v, lab_all_f32(a->base) + sum * LAB_DAMPING);
		lab_store_f32(w, MARK, &a->other, v, lab_all_f32(0));
	}
}

#define KERNEL(program) static const struct lab_kernel kernel_##program = LAB_KERNEL(program, names, 0)
#define VARIANT(algorithm, suffix, x)                                                              \
	LAB_PROGRAM static void algorithm##_##suffix(struct lab_warp *w, const void *p)             \
	{                                                                                          \
		algorithm(w, p, x);                                                                \
	}                                                                                          \
	KERNEL(algorithm##_##suffix)
#define VARIANTS(algorithm)                                                                        \
	VARIANT(algorithm, naive, LAB_NAIVE);                                                      \
	VARIANT(algorithm, merged, LAB_MERGED);                                                    \
	VARIANT(algorithm, aligned, LAB_ALIGNED)

VARIANTS(bfs);
VARIANTS(sssp);
VARIANTS(cc);
VARIANTS(pr);
KERNEL(sssp_update);
KERNEL(pr_update);

#define ALL(algorithm) { &kernel_##algorithm##_naive, &kernel_##algorithm##_merged, &kernel_##algorithm##_aligned }
static const struct lab_kernel *const kernels[LAB_EMOGI_ALGORITHMS][LAB_VARIANTS] = { ALL(bfs), ALL(sssp), ALL(cc), ALL(pr) };

const char *const lab_emogi_variant_name[LAB_VARIANTS] = { "naive", "merged", "aligned" };

const char *const lab_emogi_algorithm_name[LAB_EMOGI_ALGORITHMS] = { "bfs", "sssp", "cc", "pr" };

/* ---- Host ------------------------------------------------------------------------------------ */

#define BLOCK 1024u		/* as in the published program */

struct run {
	struct lab *lab;
	const struct lab_emogi *config;
	const struct gtu_progress *progress;
	struct emogi_args a;
};

static int arrays(struct run *r, struct gtu_error *err)
{
	const struct gtu_graph *g = r->config->graph;
	struct emogi_args *a = &r->a;
	struct lab *lab = r->lab;
	enum lab_space space = r->config->managed ? LAB_MANAGED : LAB_HOST;
	bool by_value = r->config->algorithm == LAB_EMOGI_BFS || r->config->algorithm == LAB_EMOGI_CC;
	int rc;

	/* a lane's edge index may run 32 past the last edge and must not overflow */
	if (g->n >= LAB_NEVER / LAB_LANES || g->m >= LAB_NEVER - 2 * LAB_LANES)
		return gtu_fail(err, GTU_ERR_USAGE, "%s: %llu vertices and %llu edges; the laboratory takes fewer than %u and %u",
				g->name, (unsigned long long)g->n, (unsigned long long)g->m, LAB_NEVER / LAB_LANES,
				LAB_NEVER - 2 * LAB_LANES);
	if (r->config->algorithm == LAB_EMOGI_SSSP && lab_graph_weights(g, "SSSP", err))
		return GTU_ERR_USAGE;
	if (r->config->source >= g->n)
		return gtu_fail(err, GTU_ERR_USAGE, "%s: source %u does not exist among %llu vertices", g->name, r->config->source, (unsigned long long)g->n);
	a->n = (uint32_t)g->n;
	a->edge_bytes = g->edge_bytes;
	rc = lab_map(lab, "row", g->row, 8 * (g->n + 1), LAB_DEVICE, &a->row, err);
	rc = rc ? rc : lab_map(lab, "col", g->col, g->edge_bytes * g->m, space, &a->col, err);
	if (!rc && r->config->algorithm == LAB_EMOGI_SSSP)
		rc = lab_map(lab, "weight", g->weight, 4 * g->m, space, &a->weight, err);
	rc = rc ? rc : lab_alloc(lab, "value", 4 * g->n, LAB_DEVICE, &a->value, err);
	rc = rc ? rc : lab_alloc(lab, "other", 4 * g->n, LAB_DEVICE, &a->other, err);
	rc = rc ? rc : lab_alloc(lab, "active", 4 * g->n, LAB_DEVICE, &a->active, err);
	rc = rc ? rc : lab_alloc(lab, "next", 4 * g->n, LAB_DEVICE, &a->next, err);
	rc = rc ? rc : lab_alloc(lab, "changed", 4, LAB_DEVICE, &a->changed, err);
	rc = rc ? rc : lab_set_apart(lab, by_value ? &a->value : &a->other, r->config->apart, &a->target, err);
	rc = rc ? rc : lab_set_apart(lab, &a->active, r->config->apart, &a->target_active, err);
	return rc ? rc : lab_set_apart(lab, &a->next, r->config->apart, &a->target_next, err);
}

static int launch(struct run *r, const struct lab_kernel *k, bool warp_a_vertex, struct gtu_error *err)
{
	uint64_t threads = (uint64_t)r->a.n * (warp_a_vertex ? LAB_LANES : 1);
	struct lab_launch l = { k, &r->a, (threads + BLOCK - 1) / BLOCK, BLOCK, r->progress };

	return lab_run(r->lab, &l, NULL, err);
}

static int expand(struct run *r, struct gtu_error *err)
{
	return launch(r, kernels[r->config->algorithm][r->config->variant], r->config->variant != LAB_NAIVE, err);
}

/* Read and clear the changed flag. The time of the four-byte copy is part of launch.latency. */
static bool changed(struct run *r)
{
	uint32_t *flag = r->a.changed.data, was = *flag;

	*flag = 0;
	return was;
}

static int rounds(struct run *r, struct gtu_error *err)
{
	struct emogi_args *a = &r->a;
	uint32_t v, *value = a->value.data, *other = a->other.data, *active = a->active.data;
	enum lab_emogi_algorithm algorithm = r->config->algorithm;
	int rc;

	for (v = 0; v < a->n; v++) {
		value[v] = algorithm == LAB_EMOGI_CC ? v : LAB_NEVER;
		other[v] = LAB_NEVER;
		active[v] = algorithm == LAB_EMOGI_CC;
	}
	if (algorithm != LAB_EMOGI_CC) {
		value[r->config->source] = other[r->config->source] = 0;
		active[r->config->source] = 1;
	}
	do {
		rc = expand(r, err);
		if (!rc && algorithm == LAB_EMOGI_SSSP)
			rc = launch(r, &kernel_sssp_update, false, err);
		a->current++;
		if (algorithm == LAB_EMOGI_CC) {
			lab_array_swap(&a->active, &a->next);
			lab_array_swap(&a->target_active, &a->target_next);
		}
	} while (!rc && changed(r));
	return rc;
}

/* As gtu_pagerank(): the rank of vertices without edges is spread over all; the host sums it. */
static int pagerank(struct run *r, struct gtu_error *err)
{
	uint32_t i;
	int rc = 0;

	lab_ranks_init(r->config->graph, r->a.value.data);
	for (i = 0; i < r->config->iterations && !rc; i++) {
		r->a.base = lab_rank_base(r->config->graph, r->a.value.data);
		rc = expand(r, err);
		rc = rc ? rc : launch(r, &kernel_pr_update, false, err);
	}
	return rc;
}

/* Copy all counters; @m: the monitor, or NULL. */
static int copy_counts(const struct lab *lab, struct lab_monitor *m, struct lab_emogi_counts *counts, struct gtu_error *err)
{
	counts->lab = *lab_stats(lab);
	memset(counts->monitor, 0, sizeof(counts->monitor));
	memset(counts->part, 0, sizeof(counts->part));
	if (!m)
		return 0;
	lab_monitor_parts(m, counts->lab.cycles, counts->part);
	memcpy(counts->monitor, m->count, sizeof(counts->monitor));
	counts->monitor[GTU_ZCM_C_MONITORED] = counts->lab.cycles;
	return lab_monitor_check(lab, m, err);
}

int lab_emogi_run(const struct lab_machine *m, const struct lab_emogi *config, const struct gtu_progress *progress,
		  uint32_t *result, struct lab_emogi_counts *counts, struct gtu_error *err)
{
	struct run r = { .config = config, .progress = progress };
	struct lab_monitor monitor = { 0 };
	int rc = lab_create(m, &r.lab, err);

	rc = rc || config->managed ? rc : lab_monitor_attach(r.lab, &monitor, err);
	rc = rc ? rc : arrays(&r, err);
	rc = rc ? rc : config->algorithm == LAB_EMOGI_PR ? pagerank(&r, err) : rounds(&r, err);
	rc = rc ? rc : copy_counts(r.lab, config->managed ? NULL : &monitor, counts, err);
	if (!rc)
		memcpy(result, r.a.value.data, 4 * config->graph->n);
	lab_monitor_free(&monitor);
	lab_destroy(r.lab);
	return rc;
}

/* ---- Figure 4 ---------------------------------------------------------------------------------- */

struct copy_args {
	struct lab_array from, to;
	uint32_t shift;			/* offset from the alignment boundary in words */
};

static const char *const copy_names[] = { "from[i]", "to[i]" };

LAB_PROGRAM static void copy_blocks(struct lab_warp *w, const void *p)
{
	const struct copy_args *a = p;
	lab_u32 i = lab_thread(w) * 32, value;
	unsigned n;

	lab_alu(w, 4);
	for (n = 0; n < 32; n++) {
		value = lab_load32(w, 0, &a->from, i);
		lab_wait(w);
		lab_store32(w, 1, &a->to, i, value);
		lab_alu(w, 3);
		i += 1;
	}
}

LAB_PROGRAM static void copy_words(struct lab_warp *w, const void *p)
{
	const struct copy_args *a = p;
	lab_u32 i = lab_thread(w), value;

	lab_alu(w, 5);
	value = lab_load32(w, 0, &a->from, i + a->shift);
	lab_wait(w);
	lab_store32(w, 1, &a->to, i, value);
}

static const struct lab_kernel kernel_copy_blocks = LAB_KERNEL(copy_blocks, copy_names, 0);
static const struct lab_kernel kernel_copy_words = LAB_KERNEL(copy_words, copy_names, 0);

int lab_emogi_array(const struct lab_machine *m, enum lab_emogi_variant variant, bool managed, uint32_t words,
		    const struct gtu_progress *progress, struct lab_emogi_counts *counts, struct gtu_error *err)
{
	struct copy_args a = { .shift = variant == LAB_MERGED ? 8 : 0 };
	struct lab_launch l = { variant == LAB_NAIVE ? &kernel_copy_blocks : &kernel_copy_words, &a, 0, 256, progress };
	struct lab_monitor monitor = { 0 };
	struct lab *lab;
	uint32_t i, *from;
	int rc = lab_create(m, &lab, err);

	l.grid = words / (variant == LAB_NAIVE ? 8192 : 256);
	rc = rc || managed ? rc : lab_monitor_attach(lab, &monitor, err);
	rc = rc ? rc : lab_alloc(lab, "from", 4ull * (words + 8), managed ? LAB_MANAGED : LAB_HOST, &a.from, err);
	rc = rc ? rc : lab_alloc(lab, "to", 4ull * words, LAB_DEVICE, &a.to, err);
	for (from = a.from.data, i = 0; !rc && i < words + 8; i++)
		from[i] = i * 0x9E3779B1u;
	rc = rc ? rc : lab_run(lab, &l, NULL, err);
	if (!rc && memcmp(a.to.data, from + a.shift, 4ull * words))
		rc = gtu_fail(err, GTU_ERR_VERIFY, "the array copied over the link differs from its source");
	rc = rc ? rc : copy_counts(lab, managed ? NULL : &monitor, counts, err);
	lab_monitor_free(&monitor);
	lab_destroy(lab);
	return rc;
}
