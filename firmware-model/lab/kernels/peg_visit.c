// SPDX-License-Identifier: MIT
/* The edge and vertex functions of the algorithms of peg_graph.h. */
#include "peg_counts.h"
#include "peg_graph_parts.h"

#define TEST	2u			/* comparison and branch before a push: setp, bra */

/* Load the source's label, once per source if the strategy keeps it. */
LAB_PROGRAM static void label_of(struct lab_warp *w, const struct pg_args *a, const lab_u32 *source, lab_u32 *value)
{
	*value = lab_load32(w, PG_VALUE, &a->label, *source);
}

LAB_PROGRAM static void other_of(struct lab_warp *w, const struct pg_args *a, const lab_u32 *source, lab_u32 *value)
{
	*value = lab_load32(w, PG_VALUE, &a->other, *source);
}

/* Label of the vertices @v; @n instructions follow its arrival. */
LAB_INLINE lab_u32 label_at(struct lab_warp *w, const struct pg_args *a, lab_u32 v, uint32_t n)
{
	lab_u32 label = lab_load32(w, PG_LABEL, &a->label, v);

	lab_wait(w);
	lab_alu(w, n);
	return label;
}

/*
 * Lower the target's label to @value, with @n instructions. Returns the lanes that did; the target is
 * pushed.
 */
LAB_INLINE lab_mask lower(struct lab_warp *w, const struct pg_args *a, const struct pg_edges *e, lab_u32 value, uint32_t n,
			  lab_u32 *old, lab_u32 *push)
{
	lab_alu(w, n);
	*old = lab_atomic(w, PG_UPDATE, &a->label, LAB_MIN_U32, e->target, value);
	lab_wait(w);
	lab_alu(w, TEST);
	*push = e->target;
	return lab_lt(value, *old) & w->mask;
}

/* ---- Frontier of a pull ------------------------------------------------------------------------ */

/* A word of the flags has the same sector as its bytes. */
LAB_INLINE lab_u32 load_active(struct lab_warp *w, const struct pg_args *a, lab_u32 v)
{
	return lab_load32(w, PG_ACTIVE, &a->active, v >> 2);
}

LAB_INLINE lab_mask is_active(lab_u32 word, lab_u32 v)
{
	return lab_ne(word >> ((v & 3) * 8) & 0xff, lab_all(0));
}

/* Lanes whose edge comes from the frontier; @n instructions follow the flag's arrival. */
LAB_INLINE lab_mask from_frontier(struct lab_warp *w, const struct pg_args *a, lab_u32 source, uint32_t n)
{
	lab_u32 word = load_active(w, a, source);

	lab_wait(w);
	lab_alu(w, n);
	return is_active(word, source);
}

/* Sets the flags of the frontier; pushes nothing. */
LAB_PROGRAM lab_mask pg_mark(struct lab_warp *w, const struct pg_args *a, const lab_u32 *v)
{
	uint8_t *flag = a->active.data;
	const uint32_t *word = a->active.data;
	lab_u32 words = lab_all(0);
	lab_mask m;

	lab_alu(w, VERTEX_MARK_VERTEX);
	for (m = w->mask; m; m &= m - 1)
		flag[(*v)[__builtin_ctz(m)]] = 1;
	for (m = w->mask; m; m &= m - 1)
		words[__builtin_ctz(m)] = word[(*v)[__builtin_ctz(m)] >> 2];
	lab_store32(w, PG_MARK, &a->active, *v >> 2, words);
	return 0;
}

/* ---- BFS ------------------------------------------------------------------------------------- */

LAB_PROGRAM static lab_mask bfs(struct lab_warp *w, const struct pg_args *a, const struct pg_edges *e, lab_u32 *push)
{
	lab_u32 old;

	return lower(w, a, e, lab_all(a->depth), EDGE_BFS_EDGE, &old, push);
}

/* Figure 4(b), with an atomic instead of a store, so that a vertex is pushed once. */
LAB_PROGRAM static lab_mask bfs_pull(struct lab_warp *w, const struct pg_args *a, const struct pg_edges *e, lab_u32 *push)
{
	lab_u32 depth = lab_all(a->depth), label;
	lab_mask first = 0;

	LAB_IF(w, from_frontier(w, a, e->source, EDGE_BFS_PULL_EDGE)) {
		label = lab_load32(w, PG_OTHER, &a->label, e->target);
		lab_wait(w);
		lab_alu(w, EDGE_BFS_PULL_REACH);
		LAB_IF(w, lab_lt(depth, label))
			first = lower(w, a, e, depth, EDGE_BFS_PULL_LOWER - TEST, &label, push);
	}
	*push = e->target;
	return first;
}

LAB_PROGRAM lab_mask pg_unreached(struct lab_warp *w, const struct pg_args *a, const lab_u32 *v)
{
	return lab_eq(label_at(w, a, *v, VERTEX_EQUAL_VERTEX), lab_all(PG_NEVER)) & w->mask;
}

/* ---- SSSP -------------------------------------------------------------------------------------- */

LAB_PROGRAM static lab_mask sssp(struct lab_warp *w, const struct pg_args *a, const struct pg_edges *e, lab_u32 *push)
{
	lab_u32 old;

	return lower(w, a, e, e->value + e->weight, EDGE_SSSP_EDGE, &old, push);
}

/* A vertex whose distance was lowered goes to the near or the far list, once per round. */
LAB_INLINE lab_mask near_or_far(struct lab_warp *w, const struct pg_args *a, const lab_u32 *v, lab_u32 distance)
{
	lab_u32 round = lab_all(a->round), was = lab_atomic(w, PG_SEEN, &a->seen, LAB_MAX_U32, *v, round);
	lab_mask near = 0, all;

	lab_wait(w);
	lab_alu(w, VERTEX_NEAR_ONCE);
	LAB_IF(w, lab_lt(was, round)) {
		lab_alu(w, VERTEX_NEAR_SPLIT);
		all = w->mask;
		near = lab_lt(distance, lab_all(a->threshold)) & all;
		LAB_IF(w, all & ~near)
			lab_store32(w, PG_PUT, &a->far, pg_reserve(w, a, PG_FAR), *v);
	}
	return near;
}

LAB_PROGRAM lab_mask pg_near(struct lab_warp *w, const struct pg_args *a, const lab_u32 *v)
{
	return near_or_far(w, a, v, label_at(w, a, *v, VERTEX_NEAR_LOAD));
}

/* Of the far list: vertices below the previous threshold have been near since and are done. */
LAB_PROGRAM lab_mask pg_far(struct lab_warp *w, const struct pg_args *a, const lab_u32 *v)
{
	lab_u32 distance = label_at(w, a, *v, VERTEX_NEAR_LOAD + VERTEX_NEAR_FLOOR);
	lab_mask m = 0;

	LAB_IF(w, lab_ge(distance, lab_all(a->floor)))
		m = near_or_far(w, a, v, distance);
	return m;
}

/* ---- Betweenness centrality ------------------------------------------------------------------ */

LAB_PROGRAM static lab_mask bc(struct lab_warp *w, const struct pg_args *a, const struct pg_edges *e, lab_u32 *push)
{
	lab_u32 depth = lab_all(a->depth), old;
	lab_mask first = lower(w, a, e, depth, a->pull ? EDGE_BC_PULL_REACH : EDGE_BC_EDGE, &old, push), m;

	LAB_IF(w, lab_ge(old, depth)) {
		lab_alu(w, a->pull ? EDGE_BC_PULL_ADD : EDGE_BC_ADD);
		lab_atomic_add_f32(w, PG_OTHER, &a->other, e->target, lab_all_f32(1));
		for (m = w->mask; m; m &= m - 1)
			a->paths[e->target[__builtin_ctz(m)]] += a->paths[e->source[__builtin_ctz(m)]];
	}
	return first;
}

LAB_PROGRAM static lab_mask bc_pull(struct lab_warp *w, const struct pg_args *a, const struct pg_edges *e, lab_u32 *push)
{
	struct pg_edges with = *e;
	lab_mask first = 0;

	LAB_IF(w, from_frontier(w, a, e->source, EDGE_BC_PULL_EDGE)) {
		other_of(w, a, &e->source, &with.value);
		lab_wait(w);
		first = bc(w, a, &with, push);
	}
	*push = e->target;
	return first;
}

/* Dependency of a vertex of level depth from its edges to the next level. */
LAB_PROGRAM static lab_mask bc_back(struct lab_warp *w, const struct pg_args *a, const struct pg_edges *e, lab_u32 *push)
{
	lab_f32 dependency, share = lab_all_f32(0);
	lab_mask m;
	unsigned i;

	(void)push;
	LAB_IF(w, lab_eq(label_at(w, a, e->target, EDGE_BC_BACK_EDGE), lab_all(a->depth + 1))) {
		lab_load_f32(w, PG_OTHER, &a->other, e->target);
		dependency = lab_load_f32(w, PG_SUM, &a->third, e->target);
		lab_wait(w);
		lab_alu(w, EDGE_BC_BACK_SHARE);
		for (m = w->mask; m; m &= m - 1) {
			i = (unsigned)__builtin_ctz(m);
			share[i] = (float)(a->paths[e->source[i]] / a->paths[e->target[i]] * (double)(dependency[i] + 1));
		}
		lab_atomic_add_f32(w, PG_UPDATE, &a->third, e->source, share);
	}
	return 0;
}

/* ---- ST-connectivity --------------------------------------------------------------------------- */

/* Claim the target for the source's side; if the other side has it, the searches have met. */
LAB_PROGRAM static lab_mask stcon(struct lab_warp *w, const struct pg_args *a, const struct pg_edges *e, lab_u32 *push)
{
	lab_u32 old = lab_atomic_cas(w, PG_UPDATE, &a->label, e->target, lab_all(0), e->value);
	lab_mask first;

	lab_wait(w);
	lab_alu(w, a->pull ? EDGE_STCON_PULL_CLAIM : EDGE_STCON_EDGE);
	first = lab_eq(old, lab_all(0)) & w->mask;
	LAB_IF(w, ~first & lab_ne(old, e->value)) {
		lab_alu(w, EDGE_STCON_MEET);
		lab_store32(w, PG_OTHER, &a->tail, lab_all(PG_MET), lab_all(1));
	}
	*push = e->target;
	return first;
}

/*
 * Candidates: unreached vertices and those of the last level, since the sides may meet at an edge
 * between two of the latter.
 */
LAB_PROGRAM static lab_mask stcon_pull(struct lab_warp *w, const struct pg_args *a, const struct pg_edges *e, lab_u32 *push)
{
	struct pg_edges with = *e;
	lab_mask first = 0;

	LAB_IF(w, from_frontier(w, a, e->source, EDGE_STCON_PULL_EDGE)) {
		label_of(w, a, &e->source, &with.value);
		lab_wait(w);
		first = stcon(w, a, &with, push);
	}
	*push = e->target;
	return first;
}

LAB_PROGRAM lab_mask pg_unmet(struct lab_warp *w, const struct pg_args *a, const lab_u32 *v)
{
	lab_u32 label = lab_load32(w, PG_LABEL, &a->label, *v), word = load_active(w, a, *v);

	lab_wait(w);
	lab_alu(w, VERTEX_UNMET_VERTEX);
	return (lab_eq(label, lab_all(0)) | is_active(word, *v)) & w->mask;
}

/* ---- Colouring --------------------------------------------------------------------------------- */

/* An uncoloured vertex stays uncoloured if an uncoloured neighbour has a greater number. */
LAB_PROGRAM static lab_mask gc(struct lab_warp *w, const struct pg_args *a, const struct pg_edges *e, lab_u32 *push)
{
	lab_u32 round = lab_all(a->round), next = round + 1, theirs, mine, one, two; /* ties are broken by vertex ID */
	lab_mask greater, first = 0;

	theirs = lab_load32(w, PG_LABEL, &a->label, e->target);
	mine = lab_load32(w, PG_OTHER, &a->label, e->source);
	one = lab_load32(w, PG_NUMBER, &a->other, e->source);
	two = lab_load32(w, PG_NUMBERS, &a->other, e->target);
	lab_wait(w);
	lab_alu(w, EDGE_GC_EDGE);
	greater = lab_lt(one, two) | (lab_eq(one, two) & lab_lt(e->source, e->target));
	LAB_IF(w, greater & lab_ge(theirs, round) & lab_lt(mine, next)) {
		lab_do_atomic(w, PG_UPDATE, &a->label, LAB_MAX_U32, &e->source, &next, NULL, &mine);
		lab_wait(w);
		lab_alu(w, EDGE_GC_YIELD);
		first = lab_lt(mine, next) & w->mask;
	}
	*push = e->source;
	return first;
}

/* ---- K-core ---------------------------------------------------------------------------------- */

LAB_PROGRAM static lab_mask kc_count(struct lab_warp *w, const struct pg_args *a, const struct pg_edges *e, lab_u32 *push)
{
	lab_u32 one = lab_all(1);

	(void)push;
	lab_alu(w, EDGE_KC_COUNT_EDGE);
	LAB_IF(w, lab_ne(e->source, e->target))
		lab_do_atomic(w, PG_UPDATE, &a->label, LAB_ADD_U32, &e->target, &one, NULL, NULL);
	return 0;
}

/* Decrement a neighbour's degree, but not below the level being peeled. */
LAB_PROGRAM static lab_mask kc(struct lab_warp *w, const struct pg_args *a, const struct pg_edges *e, lab_u32 *push)
{
	lab_u32 level = lab_all(a->depth), degree, one = lab_all(1);
	lab_mask fell = 0;

	LAB_IF(w, lab_lt(level, label_at(w, a, e->target, EDGE_KC_EDGE))) {
		degree = lab_atomic(w, PG_UPDATE, &a->label, LAB_ADD_U32, e->target, lab_all(0xffffffffu));
		lab_wait(w);
		lab_alu(w, EDGE_KC_PEEL);
		fell = lab_eq(degree, level + 1) & w->mask;
		LAB_IF(w, lab_ge(level, degree))
			lab_do_atomic(w, PG_UPDATE, &a->label, LAB_ADD_U32, &e->target, &one, NULL, NULL);
	}
	*push = e->target;
	return fell;
}

LAB_PROGRAM lab_mask pg_peel(struct lab_warp *w, const struct pg_args *a, const lab_u32 *v)
{
	return lab_eq(label_at(w, a, *v, VERTEX_EQUAL_VERTEX), lab_all(a->depth)) & w->mask;
}

const struct pg_visit pg_bfs = { .pushes = true, .edge = bfs };
const struct pg_visit pg_bfs_pull = { .sources = true, .pushes = true, .edge = bfs_pull };
const struct pg_visit pg_sssp = { .weights = true, .values = true, .sources = true, .pushes = true, .value = label_of, .edge = sssp };
const struct pg_visit pg_bc = { .values = true, .sources = true, .pushes = true, .value = other_of, .edge = bc };
const struct pg_visit pg_bc_pull = { .sources = true, .pushes = true, .edge = bc_pull };
const struct pg_visit pg_bc_back = { .values = true, .sources = true, .value = other_of, .edge = bc_back };
const struct pg_visit pg_stcon = { .values = true, .sources = true, .pushes = true, .value = label_of, .edge = stcon };
const struct pg_visit pg_stcon_pull = { .sources = true, .pushes = true, .edge = stcon_pull };
const struct pg_visit pg_gc = { .sources = true, .pushes = true, .edge = gc };
const struct pg_visit pg_kc_count = { .sources = true, .edge = kc_count };
const struct pg_visit pg_kc = { .pushes = true, .edge = kc };
