// SPDX-License-Identifier: MIT
/* BFS, SSSP, PageRank and connected components: edge functions and the other kernels. */
#include "wvr_graph_run.h"

const char *const lab_wvr_statements[STATEMENTS] = {
	"row[v]", "row[v+1]", "base[e]", "col[e]", "weight[e]", "value[base]", "value[other]", "filter[v]", "value=", "stamp=",
	"changed=", "row[u]", "row[u+1]", "key[i]", "out=", "list[]",
};

LAB_INLINE void note_change(struct lab_warp *w, const struct gather_args *a)
{
	lab_alu(w, 1);
	lab_store32(w, CHANGED, &a->changed, lab_all(0), lab_all(1));
}

/* ---- BFS, pull --------------------------------------------------------------------------------- */

LAB_INLINE lab_mask bfs_filter(struct lab_warp *w, const struct gather_args *a, const lab_u32 *v)
{
	lab_u32 level = load(w, FILTER, &a->value, *v);

	lab_wait(w);
	lab_alu(w, 1);
	return split(w, w->mask & lab_eq(level, lab_all(NEVER)));
}

LAB_INLINE lab_mask bfs_edge(struct lab_warp *w, const struct gather_args *a, const struct edge *e)
{
	lab_u32 level = load(w, OWN, &a->value, e->base), source;
	lab_mask done;

	lab_wait(w);
	lab_alu(w, 1);
	done = w->mask & lab_ne(level, lab_all(NEVER));
	LAB_IF(w, split(w, ~done)) {
		source = load(w, OTHER, &a->value, e->other);
		lab_wait(w);
		lab_alu(w, 1);
		LAB_IF(w, split(w, lab_eq(source, lab_all(a->depth - 1)))) {
			lab_alu(w, 2);
			lab_store32(w, UPDATE, &a->value, e->base, lab_all(a->depth));
			note_change(w, a);
			done |= w->mask;
		}
	}
	return done;
}

/* ---- SSSP, push -------------------------------------------------------------------------------- */

/*
 * A stamp is the last round in which the distance was lowered. A vertex improved again in a round
 * before it was processed is postponed to the next, with the smaller distance.
 */
LAB_INLINE lab_mask sssp_filter(struct lab_warp *w, const struct gather_args *a, const lab_u32 *v)
{
	lab_u32 stamp = load(w, FILTER, &a->stamp, *v);

	lab_wait(w);
	lab_alu(w, 1);
	return split(w, w->mask & lab_eq(stamp, lab_all(a->depth - 1)));
}

LAB_INLINE lab_mask sssp_edge(struct lab_warp *w, const struct gather_args *a, const struct edge *e)
{
	lab_u32 own = load(w, OWN, &a->value, e->base), other = load(w, OTHER, &a->value, e->other), old;

	lab_wait(w);
	lab_alu(w, 2);
	own += e->weight;
	LAB_IF(w, split(w, lab_lt(own, other))) {
		lab_alu(w, 2);
		old = lab_atomic(w, UPDATE, &a->value, LAB_MIN_U32, e->other, own);
		lab_wait(w);
		lab_alu(w, 1);
		LAB_IF(w, split(w, lab_lt(own, old))) {
			lab_alu(w, 2);
			lab_store32(w, STAMP, &a->stamp, e->other, lab_all(a->depth));
			note_change(w, a);
		}
	}
	return 0;
}

/* ---- PageRank ---------------------------------------------------------------------------------- */

LAB_INLINE lab_mask pr_edge(struct lab_warp *w, const struct gather_args *a, const struct edge *e)
{
	lab_u32 from = a->push ? e->base : e->other, to = a->push ? e->other : e->base, share = load(w, OTHER, &a->value, from);

	lab_wait(w);
	lab_alu(w, 2);
	add_f32(w, a, &a->sum, to, (lab_f32)share);
	return 0;
}

/* Ranks from sums, and each vertex's share per edge for the next iteration. */
LAB_PROGRAM static void pr_apply(struct lab_warp *w, const void *p)
{
	const struct gather_args *a = p;
	lab_u32 v = lab_thread(w), begin, end;
	lab_f32 sum, rank;

	lab_alu(w, 6);
	for (; v[0] < a->n; v += threads_of(w)) {
		lab_alu(w, 3);
		LAB_IF(w, pred(w, lab_lt(v, lab_all(a->n)))) {
			sum = (lab_f32)load(w, OWN, &a->sum, v);
			csr_neighbor(w, a, &v, &begin, &end);
			/* multiply-add; a division of 32 lanes on 4 units; conversion */
			lab_alu(w, 2 + 8 + 4);
			rank = lab_all_f32(a->rest) + sum * LAB_DAMPING;
			end -= begin;
			lab_store_f32(w, OUT, &a->out, v, rank);
			lab_store_f32(w, UPDATE, &a->value, v, rank / lab_to_f32(lab_select(lab_ne(end, lab_all(0)), end, lab_all(1))));
			lab_store_f32(w, UPDATE, &a->sum, v, lab_all_f32(0));
		}
	}
}

/* ---- Connected components ---------------------------------------------------------------------- */

LAB_INLINE lab_mask cc_edge(struct lab_warp *w, const struct gather_args *a, const struct edge *e)
{
	lab_u32 own = load(w, OWN, &a->value, e->base), other = load(w, OTHER, &a->value, e->other);

	lab_wait(w);
	lab_alu(w, 1);
	LAB_IF(w, split(w, lab_lt(other, own))) {
		lab_alu(w, 2);
		/* own is a root after cc_apply */
		lab_do_atomic(w, UPDATE, &a->value, LAB_MIN_U32, &own, &other, NULL, NULL);
		note_change(w, a);
	}
	return 0;
}

LAB_PROGRAM static void cc_apply(struct lab_warp *w, const void *p)
{
	const struct gather_args *a = p;
	lab_u32 v = lab_thread(w), c, up;

	lab_alu(w, 6);
	for (; v[0] < a->n; v += threads_of(w)) {
		lab_alu(w, 3);
		LAB_IF(w, pred(w, lab_lt(v, lab_all(a->n)))) {
			c = load(w, OWN, &a->value, v);
			lab_wait(w);
			up = load(w, OTHER, &a->value, c);
			lab_wait(w);
			lab_alu(w, 1);
			LAB_IF(w, split(w, lab_ne(up, c))) {
				LAB_WHILE(w, pred(w, lab_ne(up, c))) {
					c = lab_select(w->mask, up, c);
					up = lab_select(w->mask, load(w, OTHER, &a->value, c), up);
					lab_wait(w);
					lab_alu(w, 2);
				}
				lab_store32(w, UPDATE, &a->value, v, c);
			}
		}
	}
}

const struct lab_kernel lab_wvr_pr_apply = LAB_KERNEL(pr_apply, lab_wvr_statements, 0);
const struct lab_kernel lab_wvr_cc_apply = LAB_KERNEL(cc_apply, lab_wvr_statements, 0);

/* ---- Kernels under every mapping ------------------------------------------------------------- */

LAB_INLINE bool udf_weight(enum lab_wvr_algorithm u)
{
	return u == LAB_WVR_SSSP;
}
LAB_INLINE lab_mask udf_filter(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u, const lab_u32 *v)
{
	return u == LAB_WVR_BFS ? bfs_filter(w, a, v) : u == LAB_WVR_SSSP ? sssp_filter(w, a, v) : w->mask;
}
LAB_INLINE void udf_neighbor(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u, const lab_u32 *v,
			     lab_u32 *begin, lab_u32 *end)
{
	(void)u;
	csr_neighbor(w, a, v, begin, end);
}
LAB_INLINE lab_mask udf_edge(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u, const struct edge *e)
{
	switch (u) {
	case LAB_WVR_BFS:
		return bfs_edge(w, a, e);
	case LAB_WVR_SSSP:
		return sssp_edge(w, a, e);
	case LAB_WVR_PR:
		return pr_edge(w, a, e);
	default:
		return cc_edge(w, a, e);
	}
}
#include "wvr_graph_map.h"

MAPPED(bfs, LAB_WVR_BFS);
MAPPED(sssp, LAB_WVR_SSSP);
MAPPED(pr, LAB_WVR_PR);
MAPPED(cc, LAB_WVR_CC);
