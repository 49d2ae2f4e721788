// SPDX-License-Identifier: MIT
/* Subway: small CSRs of the active vertices, made by the CPU and copied to the GPU (see subway.h). */
#include "subway.h"

#include <string.h>

#include "firmware-model/lab/engine/graph_kernels.h"

#define BLOCK 512u		/* as in the published program */

struct subway_args {
	uint32_t n, first, end;		/* vertices; the part's range in the list */
	bool weighted, levels;
	struct lab_array row, value, active, next;
	struct lab_array target, target_active, target_next; /* value, active and next of an edge's target */
	struct lab_array tail, changed;	/* of the list; whether an edge lowered a value */
	struct lab_array vertex, length; /* the list: active vertices and their degrees */
	struct lab_array start, col, weight; /* the small CSR */
};

enum { ACTIVE, NEXT, ROW, ROW1, TAIL, LIST, VALUE, START, COL, WEIGHT, TARGET, UPDATE, MARK, CHANGED, STATEMENTS };
static const char *const names[STATEMENTS] = {
	"active[v]", "next[v]", "row[v]", "row[v+1]", "tail+=", "list[]=", "value[v]", "start[i]", "col[k]", "weight[k]",
	"value[c]", "value[c]=", "next[c]=", "changed=",
};

/* List the active vertices with their degrees. */
LAB_PROGRAM static void collect(struct lab_warp *w, const void *p)
{
	const struct subway_args *a = p;
	lab_u32 v = lab_thread(w), on, degree, at;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		on = lab_load32(w, ACTIVE, &a->active, v) | lab_load32(w, NEXT, &a->next, v);
		lab_wait(w);
		lab_alu(w, 2);
		LAB_IF(w, lab_ne(on, lab_all(0))) {
			lab_u32 rank = { 0 };
			uint32_t total = 0, l;

			for (l = 0; l < LAB_LANES; l++) {
				rank[l] = total;
				total += w->mask >> l & 1;
			}
			degree = lab_low(lab_load64(w, ROW1, &a->row, v + 1)) - lab_low(lab_load64(w, ROW, &a->row, v));
			lab_wait(w);
			at = lab_reserve(w, TAIL, &a->tail, 0, total, rank);
			lab_store32(w, LIST, &a->vertex, at, v);
			lab_store32(w, LIST, &a->length, at, degree);
		}
	}
}

/* Mark the part's vertices that an earlier part or iteration has activated. */
LAB_PROGRAM static void mark(struct lab_warp *w, const void *p)
{
	const struct subway_args *a = p;
	lab_u32 i = lab_thread(w) + a->first, v, on;

	lab_alu(w, 6);
	LAB_IF(w, lab_lt(i, lab_all(a->end))) {
		v = lab_load32(w, LIST, &a->vertex, i);
		lab_wait(w);
		on = lab_load32(w, ACTIVE, &a->active, v) | lab_load32(w, NEXT, &a->next, v);
		lab_wait(w);
		lab_alu(w, 1);
		lab_store32(w, MARK, &a->active, v, on);
		lab_store32(w, MARK, &a->next, v, lab_all(0));
	}
}

/* Relax the edges of the part's active vertices. */
LAB_PROGRAM static void relax(struct lab_warp *w, const void *p)
{
	const struct subway_args *a = p;
	lab_u32 i = lab_thread(w) + a->first, v, on, cost, k, end, c, d, old;

	lab_alu(w, 6);
	LAB_IF(w, lab_lt(i, lab_all(a->end))) {
		v = lab_load32(w, LIST, &a->vertex, i);
		lab_wait(w);
		on = lab_load32(w, ACTIVE, &a->active, v);
		lab_wait(w);
		lab_alu(w, 1);
		LAB_IF(w, lab_ne(on, lab_all(0))) {
			lab_store32(w, MARK, &a->active, v, lab_all(0));
			cost = lab_load32(w, VALUE, &a->value, v);
			k = lab_load32(w, START, &a->start, i);
			end = lab_load32(w, LIST, &a->length, i);
			lab_wait(w);
			end += k;
			lab_alu(w, 2);
			LAB_WHILE(w, lab_lt(k, end)) {
				lab_alu(w, 3);
				c = lab_load32(w, COL, &a->col, k);
				d = cost;
				if (a->weighted)
					d += lab_load32(w, WEIGHT, &a->weight, k);
				else if (a->levels)
					d += 1;
				lab_wait(w);
				old = lab_load32(w, TARGET, &a->target, c);
				lab_wait(w);
				lab_alu(w, 2);
				LAB_IF(w, lab_lt(d, old)) {
					lab_do_atomic(w, UPDATE, &a->target, LAB_MIN_U32, &c, &d, NULL, NULL);
					lab_store32(w, MARK, &a->target_next, c, lab_all(1));
					lab_store32(w, CHANGED, &a->changed, lab_all(0), lab_all(1));
				}
				k += 1;
			}
		}
	}
}

static const struct lab_kernel kernel_collect = LAB_KERNEL(collect, names, 0);
static const struct lab_kernel kernel_mark = LAB_KERNEL(mark, names, 0);
static const struct lab_kernel kernel_relax = LAB_KERNEL(relax, names, 0);

/* ---- Host ------------------------------------------------------------------------------------ */

struct run {
	struct lab *lab;
	const struct lab_machine *m;
	const struct lab_subway *config;
	const struct gtu_progress *progress;
	struct subway_args a;
	uint64_t capacity;		/* edges of the small CSR */
	struct lab_subway_counts *counts;
};

static int launch(struct run *r, const struct lab_kernel *k, uint64_t threads, struct gtu_error *err)
{
	struct lab_launch l = { k, &r->a, (threads + BLOCK - 1) / BLOCK, BLOCK, r->progress };

	return lab_run(r->lab, &l, NULL, err);
}

static int arrays(struct run *r, struct gtu_error *err)
{
	const struct gtu_graph *g = r->config->graph;
	struct subway_args *a = &r->a;
	const struct { struct lab_array *array; const char *name; uint64_t words; } want[] = {
		{ &a->value, "value", g->n }, { &a->active, "active", g->n }, { &a->next, "next", g->n }, { &a->tail, "tail", 1 },
		{ &a->changed, "changed", 1 },
		{ &a->vertex, "vertex", g->n }, { &a->length, "length", g->n }, { &a->start, "start", g->n },
		{ &a->col, "col", r->capacity }, { &a->weight, "weight", a->weighted ? r->capacity : 1 },
	};
	int rc = lab_map(r->lab, "row", g->row, 8 * (g->n + 1), LAB_DEVICE, &a->row, err);
	unsigned i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]) && !rc; i++)
		rc = lab_alloc(r->lab, want[i].name, 4 * want[i].words, LAB_DEVICE, want[i].array, err);
	rc = rc ? rc : lab_set_apart(r->lab, &a->value, r->config->apart, &a->target, err);
	rc = rc ? rc : lab_set_apart(r->lab, &a->active, r->config->apart, &a->target_active, err);
	return rc ? rc : lab_set_apart(r->lab, &a->next, r->config->apart, &a->target_next, err);
}

/* Core cycles to move @bytes at @gbs. */
static uint64_t cycles(const struct run *r, double bytes, double gbs)
{
	return (uint64_t)(bytes / gbs * r->m->core_mhz / 1e3) + 1;
}

/* Lines of the bytes from @first to @end, less the first if that is *last, which becomes their last one. */
static uint64_t lines(uint64_t first, uint64_t end, uint64_t line, uint64_t *last)
{
	const uint64_t from = first / line, to = (end + line - 1) / line, n = to - from - (from == *last);

	if (first == end)
		return 0;
	*last = to - 1;
	return n;
}

/*
 * The CPU makes the small CSR of the list from a->first on, as far as it fits, and copies it. Its memory
 * moves whole lines. It reads the list of active vertices and their places in the small CSR in order,
 * degree, offset and edges of each active vertex, and writes the edges: a line that is written is read
 * before, as caches that allocate on a write do.
 */
static void make_part(struct run *r, uint32_t listed)
{
	const struct gtu_graph *g = r->config->graph;
	struct subway_args *a = &r->a;
	const uint32_t *vertex = lab_words(&a->vertex), *length = lab_words(&a->length), *weight = g->weight;
	uint32_t *start = lab_words(&a->start), *col = lab_words(&a->col), *to = lab_words(&a->weight);
	const uint64_t entry = a->weighted ? 8 : 4, line = r->m->link_host_atom;
	uint64_t edges = 0, read = 0, last_edge = UINT64_MAX, last_vertex = UINT64_MAX, v, active;
	uint32_t k;

	for (a->end = a->first; a->end < listed && edges + length[a->end] <= r->capacity; a->end++) {
		v = vertex[a->end];
		start[a->end] = (uint32_t)edges;
		for (k = 0; k < length[a->end]; k++, edges++) {
			col[edges] = (uint32_t)gtu_graph_target(g, g->row[v] + k);
			if (a->weighted)
				to[edges] = weight[g->row[v] + k];
		}
		read += lines(entry * g->row[v], entry * g->row[v + 1], line, &last_edge);
		read += 2 * lines(4 * v, 4 * v + 4, line, &last_vertex); /* degree and offset */
	}
	active = a->end - a->first;
	r->counts->parts++;
	r->counts->edges += edges;
	r->counts->cpu_cycles += cycles(r, (double)(line * read + 8 * active + 2 * entry * edges), r->config->cpu_gbs);
	/* the list goes to the host, the small CSR comes back, as full packets */
	r->counts->copy_cycles += cycles(r, (double)(entry * edges + 12 * active), r->m->link_gbs * 128 / (128 + r->m->link_header));
}

/* Relax the part until no value changes: vertices of the part that it activates follow without the CPU. */
static int settle(struct run *r, struct gtu_error *err)
{
	struct subway_args *a = &r->a;
	uint32_t *changed = lab_words(&a->changed);
	int rc = launch(r, &kernel_mark, a->end - a->first, err);

	do {
		*changed = 0;
		rc = rc ? rc : launch(r, &kernel_relax, a->end - a->first, err);
		lab_array_swap(&a->active, &a->next);
		lab_array_swap(&a->target_active, &a->target_next);
		r->counts->rounds++;
	} while (!rc && *changed);
	return rc;
}

static int iterate(struct run *r, struct gtu_error *err)
{
	struct subway_args *a = &r->a;
	uint32_t listed;
	int rc;

	for (;;) {
		*lab_words(&a->tail) = 0;
		rc = launch(r, &kernel_collect, a->n, err);
		listed = *lab_words(&a->tail);
		if (rc || !listed)
			return rc;
		r->counts->iterations++;
		for (a->first = 0; a->first < listed && !rc; a->first = a->end) {
			make_part(r, listed);
			rc = settle(r, err);
		}
		if (rc)
			return rc;
	}
}

static void first_values(struct run *r)
{
	uint32_t v, *value = lab_words(&r->a.value), *active = lab_words(&r->a.active);
	bool all = r->config->algorithm == LAB_EMOGI_CC;

	for (v = 0; v < r->a.n; v++) {
		value[v] = all ? v : LAB_NEVER;
		active[v] = all;
	}
	if (!all) {
		value[r->config->source] = 0;
		active[r->config->source] = 1;
	}
}

/* Entries of the small CSR: what the memory holds, and the longest list at least. */
static uint64_t capacity(const struct lab_subway *config, bool weighted)
{
	const struct gtu_graph *g = config->graph;
	uint64_t most = config->memory / (weighted ? 8 : 4), v;

	most = most < g->m ? most : g->m;
	for (v = 0; v < g->n; v++)
		most = most > g->row[v + 1] - g->row[v] ? most : g->row[v + 1] - g->row[v];
	return most;
}

int lab_subway_run(const struct lab_machine *m, const struct lab_subway *config, const struct gtu_progress *progress,
		   uint32_t *result, struct lab_subway_counts *counts, struct gtu_error *err)
{
	const struct gtu_graph *g = config->graph;
	struct run r = { .m = m, .config = config, .progress = progress, .counts = counts };
	int rc;

	memset(counts, 0, sizeof(*counts));
	if (!m->link)
		return gtu_fail(err, GTU_ERR_USAGE, "machine %s has no link to host memory, which Subway copies over", m->name);
	if (g->edge_bytes != 4 || g->n >= LAB_NEVER / LAB_LANES || g->m >= LAB_NEVER || config->source >= g->n ||
	    config->algorithm == LAB_EMOGI_PR)
		return gtu_fail(err, GTU_ERR_USAGE, "%s: Subway runs BFS, SSSP and components over 4-byte edges", g->name);
	r.a.n = (uint32_t)g->n;
	r.a.weighted = config->algorithm == LAB_EMOGI_SSSP;
	r.a.levels = config->algorithm == LAB_EMOGI_BFS;
	if (r.a.weighted && lab_graph_weights(g, "SSSP", err))
		return GTU_ERR_USAGE;
	r.capacity = capacity(config, r.a.weighted);
	rc = lab_create(m, &r.lab, err);
	rc = rc ? rc : arrays(&r, err);
	if (!rc) {
		first_values(&r);
		rc = iterate(&r, err);
	}
	if (!rc) {
		counts->lab = *lab_stats(r.lab);
		counts->lab.cycles += counts->cpu_cycles + counts->copy_cycles;
		memcpy(result, r.a.value.data, 4 * g->n);
	}
	lab_destroy(r.lab);
	return rc;
}
