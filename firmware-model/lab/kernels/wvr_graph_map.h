/* SPDX-License-Identifier: MIT */
/*
 * Mappings of edges to lanes (SparseWeaver, sections II-B, III-A and V-H). Each mapping is a
 * function; a kernel is its product with an algorithm, inlined. The including file defines these as
 * LAB_INLINE for its algorithms (@u, a constant):
 *
 *	bool udf_weight(u)			the edges' weights are used
 *	lab_mask udf_filter(w, a, u, v)		active lanes whose base vertex takes part
 *	void udf_neighbor(w, a, u, v, begin, end) the range of its edges
 *	lab_mask udf_edge(w, a, u, edge)	gather; returns the lanes that are done
 *
 * Every kernel is launched once, with one full block per SM, and strides over the base vertices.
 */
#ifndef GTU_LAB_WVR_GRAPH_MAP_H
#define GTU_LAB_WVR_GRAPH_MAP_H

#include "wvr_graph_run.h"

/* Warp time by stage: from one mark to the next. */
struct meter {
	uint64_t since;
};
LAB_INLINE void mark(struct lab_warp *w, const struct gather_args *a, struct meter *t, enum lab_wvr_stage stage)
{
	uint64_t now = lab_now(w->lab);

	a->stage[stage] += now - t->since;
	t->since = now;
}

/* Registration: edges of the vertices @v that exist and take part (returned); else degree 0. */
LAB_INLINE lab_mask registered(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u, lab_u32 v,
			       lab_u32 *begin, lab_u32 *degree)
{
	lab_mask part = 0;
	lab_u32 end;

	*begin = *degree = lab_all(0);
	lab_alu(w, 3);
	LAB_IF(w, pred(w, lab_lt(v, lab_all(a->n)))) {
		LAB_IF(w, udf_filter(w, a, u, &v)) {
			part = w->mask;
			udf_neighbor(w, a, u, &v, begin, &end);
			lab_alu(w, 1);
			*degree = end - *begin;
		}
	}
	return part;
}

/* getEdge() */
LAB_INLINE void get_edge(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u, struct edge *e)
{
	e->other = load(w, COL, &a->col, e->id);
	if (udf_weight(u))
		e->weight = load(w, WEIGHT, &a->weight, e->id);
	lab_wait(w);
}

LAB_INLINE lab_mask do_edge(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u, struct edge *e,
			    struct meter *t)
{
	lab_mask done;

	mark(w, a, t, LAB_STAGE_WORK_ID);
	get_edge(w, a, u, e);
	mark(w, a, t, LAB_STAGE_EDGE);
	done = udf_edge(w, a, u, e);
	mark(w, a, t, LAB_STAGE_GATHER);
	return done;
}

/* Each lane's edges from @e's to @end, in a loop. */
LAB_INLINE void by_thread(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u, struct edge *e, lab_u32 end,
			  struct meter *t)
{
	lab_mask done;

	LAB_WHILE(w, pred(w, lab_lt(e->id, end))) {
		done = do_edge(w, a, u, e, t);
		LAB_IF(w, u == LAB_WVR_BFS ? split(w, done) : done)
			lab_break(w);
		lab_alu(w, 3);
		e->id += 1;
	}
	mark(w, a, t, LAB_STAGE_WORK_ID);
}

/* S_vm: a thread per vertex. */
LAB_INLINE void by_vertex(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u)
{
	struct meter t = { lab_now(w->lab) };
	lab_u32 v = lab_thread(w), degree;
	struct edge e = { 0 };

	lab_alu(w, 6);
	mark(w, a, &t, LAB_STAGE_INIT);
	for (; v[0] < a->n; v += threads_of(w)) {
		registered(w, a, u, v, &e.id, &degree);
		mark(w, a, &t, LAB_STAGE_REGISTER);
		e.base = v;
		degree += e.id;
		by_thread(w, a, u, &e, degree, &t);
	}
}

/* S_em: a thread per edge; the base vertex is loaded as well. */
LAB_INLINE void by_edge(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u)
{
	struct meter t = { lab_now(w->lab) };
	struct edge e = { .id = lab_thread(w) };

	lab_alu(w, 6);
	mark(w, a, &t, LAB_STAGE_INIT);
	for (; e.id[0] < a->m; e.id += threads_of(w)) {
		lab_alu(w, 3);
		LAB_IF(w, pred(w, lab_lt(e.id, lab_all(a->m)))) {
			e.base = load(w, BASE, &a->base, e.id);
			lab_wait(w);
			LAB_IF(w, udf_filter(w, a, u, &e.base))
				do_edge(w, a, u, &e, &t);
		}
	}
}

/*
 * Edges shared by a warp or block. Shared memory has base vertices, begins and exclusive prefix
 * sums of degrees, @entries each from @first on. Positions @at, @at + @step, ... below @total are
 * mapped to edges by a binary search.
 */
LAB_INLINE void by_search(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u, uint32_t first,
			  uint32_t entries, lab_u32 at, uint32_t step, uint32_t total, struct meter *t)
{
	struct edge e = { 0 };
	lab_u32 lo, sum;
	uint32_t half;

	LAB_WHILE(w, pred(w, lab_lt(at, lab_all(total)))) {
		lo = lab_all(first);
		for (half = entries / 2; half; half /= 2) {
			lab_alu(w, 4);	/* middle, compare, select, halve */
			sum = lab_shared_load(w, lo + half + 2 * BLOCK);
			lo += lab_lanes_of(w->mask & lab_ge(at, sum)) & half;
		}
		lab_alu(w, 4);
		e.base = lab_shared_load(w, lo);
		e.id = lab_shared_load(w, lo + BLOCK);
		sum = lab_shared_load(w, lo + 2 * BLOCK);
		e.id += at - sum;
		do_edge(w, a, u, &e, t);
		lab_alu(w, 3);
		at += step;
	}
	mark(w, a, t, LAB_STAGE_WORK_ID);
}

LAB_INLINE void share(struct lab_warp *w, lab_u32 position, lab_u32 v, lab_u32 begin, lab_u32 before)
{
	lab_shared_store(w, position, v);
	lab_shared_store(w, position + BLOCK, begin);
	lab_shared_store(w, position + 2 * BLOCK, before);
}

/* A warp's exclusive prefix sums: five shuffles, five additions, and one more of each. */
LAB_INLINE uint32_t warp_scan(struct lab_warp *w, lab_u32 degree, lab_u32 *before)
{
	lab_alu(w, 12);
	return lab_prefix_sums(degree, before);
}

/* S_wm: a warp shares 32 vertices. */
LAB_INLINE void by_warp(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u)
{
	struct meter t = { lab_now(w->lab) };
	lab_u32 v = lab_thread(w), begin, degree, before = { 0 };
	uint32_t first = w->in_block * LAB_LANES, total;

	lab_alu(w, 6);
	mark(w, a, &t, LAB_STAGE_INIT);
	for (; v[0] < a->n; v += threads_of(w)) {
		registered(w, a, u, v, &begin, &degree);
		total = warp_scan(w, degree, &before);
		share(w, lab_lane() + first, v, begin, before);
		lab_alu(w, 1);		/* warp synchronization */
		mark(w, a, &t, LAB_STAGE_REGISTER);
		by_search(w, a, u, first, LAB_LANES, lab_lane(), LAB_LANES, total, &t);
	}
}

/* S_cm: a block shares a vertex per thread. One warp scans the warps' sums in shared memory. */
LAB_INLINE void by_block(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u)
{
	const uint32_t warps = w->block_warps, sums = 3 * BLOCK, whole = sums + LAB_LANES;
	struct meter t = { lab_now(w->lab) };
	lab_u32 v = lab_thread(w), begin, degree, before = { 0 }, all;
	uint32_t first, total, base;

	lab_alu(w, 6);
	mark(w, a, &t, LAB_STAGE_INIT);
	for (first = (uint32_t)(w->block * warps * LAB_LANES); first < a->n; first += threads_of(w), v += threads_of(w)) {
		registered(w, a, u, v, &begin, &degree);
		total = warp_scan(w, degree, &before);
		LAB_IF(w, 1)
			lab_shared_store(w, lab_all(sums + w->in_block), lab_all(total));
		lab_barrier(w);
		if (!w->in_block) {
			LAB_IF(w, warps == LAB_LANES ? ~0u : (1u << warps) - 1) {
				all = lab_shared_load(w, lab_lane() + sums);
				total = warp_scan(w, all, &degree);
				lab_shared_store(w, lab_lane() + sums, degree);
				lab_shared_store(w, lab_all(whole), lab_all(total));
			}
		}
		lab_barrier(w);
		base = lab_shared_load(w, lab_all(sums + w->in_block))[0];
		total = lab_shared_load(w, lab_all(whole))[0];
		lab_alu(w, 1);
		share(w, lab_lane() + w->in_block * LAB_LANES, v, begin, before + base);
		lab_barrier(w);
		mark(w, a, &t, LAB_STAGE_REGISTER);
		by_search(w, a, u, 0, warps * LAB_LANES, lab_lane() + w->in_block * LAB_LANES, warps * LAB_LANES, total, &t);
		lab_barrier(w);
		mark(w, a, &t, LAB_STAGE_REGISTER);
	}
}

/* The edges [@begin, @begin + @degree) of one vertex: lanes at @at, then every @step. */
LAB_INLINE void by_many(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u, lab_u32 v, lab_u32 begin,
			lab_u32 degree, lab_u32 at, uint32_t step, struct meter *t)
{
	struct edge e = { .base = v };

	LAB_WHILE(w, pred(w, lab_lt(at, degree))) {
		e.id = begin + at;
		do_edge(w, a, u, &e, t);
		lab_alu(w, 3);
		at += step;
	}
}

/* Append the lanes @some to a list of the block in global memory: vertex, begin, degree. */
LAB_INLINE void append(struct lab_warp *w, const struct gather_args *a, uint32_t list, lab_mask some, lab_u32 v, lab_u32 begin,
		       lab_u32 degree)
{
	lab_u32 at;

	lab_alu(w, 2);
	LAB_IF(w, split(w, some)) {
		at = lab_reserve(w, BIN, &a->tails, list, lab_popcount(w->mask), lab_rank(w->mask));
		at = (at + lab_all(list * BLOCK)) * 3;
		lab_store32(w, BIN, &a->bins, at, v);
		lab_store32(w, BIN, &a->bins, at + 1, begin);
		lab_store32(w, BIN, &a->bins, at + 2, degree);
	}
}

/* Read entries @i of a list; lanes with @i of @count or more get degree 0. */
LAB_INLINE void entries(struct lab_warp *w, const struct gather_args *a, uint32_t list, uint32_t count, lab_u32 i, lab_u32 *v,
			lab_u32 *begin, lab_u32 *degree)
{
	*v = *begin = *degree = lab_all(0);
	lab_alu(w, 2);
	LAB_IF(w, split(w, lab_lt(i, lab_all(count)))) {
		lab_u32 at = (i + lab_all(list * BLOCK)) * 3;

		*v = lab_load32(w, BIN, &a->bins, at);
		*begin = lab_load32(w, BIN, &a->bins, at + 1);
		*degree = lab_load32(w, BIN, &a->bins, at + 2);
		lab_wait(w);
	}
}

/* Clear the block's counters in global memory. */
LAB_INLINE void clear_tails(struct lab_warp *w, const struct gather_args *a)
{
	if (!w->in_block)
		LAB_IF(w, 7)
			lab_store32(w, BIN, &a->tails, lab_lane() + 3 * (uint32_t)w->block, lab_all(0));
	lab_barrier(w);
}

/*
 * S_twc (Merrill): a block bins its vertices by degree into lists in global memory, and maps a
 * block, a warp, or the lanes of a warp that share 32 vertices to an entry.
 */
LAB_INLINE void by_twc(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u)
{
	const uint32_t threads = w->block_warps * LAB_LANES, list = 3 * (uint32_t)w->block, own = w->in_block * LAB_LANES;
	struct meter t = { lab_now(w->lab) };
	lab_u32 v = lab_thread(w), begin, degree, before = { 0 }, count, x;
	uint32_t first, total, i;

	lab_alu(w, 6);
	mark(w, a, &t, LAB_STAGE_INIT);
	for (first = (uint32_t)w->block * threads; first < a->n; first += threads_of(w), v += threads_of(w)) {
		registered(w, a, u, v, &begin, &degree);
		clear_tails(w, a);
		append(w, a, list, lab_lt(lab_all(0), degree) & lab_lt(degree, lab_all(LAB_LANES)), v, begin, degree);
		append(w, a, list + 1, lab_ge(degree, lab_all(LAB_LANES)) & lab_lt(degree, lab_all(threads)), v, begin, degree);
		append(w, a, list + 2, lab_ge(degree, lab_all(threads)), v, begin, degree);
		lab_barrier(w);
		count = lab_all(0);
		LAB_IF(w, 7)
			count = lab_load32(w, BIN, &a->tails, lab_lane() + list);
		lab_wait(w);
		mark(w, a, &t, LAB_STAGE_REGISTER);
		for (i = 0; i < count[2]; i++) {
			entries(w, a, list + 2, count[2], lab_all(i), &x, &begin, &degree);
			by_many(w, a, u, x, begin, degree, lab_lane() + own, threads, &t);
		}
		for (i = w->in_block; i < count[1]; i += w->block_warps) {
			entries(w, a, list + 1, count[1], lab_all(i), &x, &begin, &degree);
			by_many(w, a, u, x, begin, degree, lab_lane(), LAB_LANES, &t);
		}
		for (i = own; i < count[0]; i += threads) {
			entries(w, a, list, count[0], lab_lane() + i, &x, &begin, &degree);
			total = warp_scan(w, degree, &before);
			share(w, lab_lane() + own, x, begin, before);
			by_search(w, a, u, own, LAB_LANES, lab_lane(), LAB_LANES, total, &t);
		}
		lab_barrier(w);
		mark(w, a, &t, LAB_STAGE_REGISTER);
	}
}

/*
 * S_twce: vertices of 32 or more edges are listed in shared memory, and warps take them one at a
 * time by an atomic; a thread keeps its smaller ones.
 */
LAB_INLINE void by_twce(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u)
{
	const uint32_t threads = w->block_warps * LAB_LANES, list = 3 * (uint32_t)w->block;
	struct meter t = { lab_now(w->lab) };
	lab_u32 v = lab_thread(w), begin, degree, at, count, next = { 0 };
	struct edge e = { 0 };
	uint32_t first;

	lab_alu(w, 6);
	mark(w, a, &t, LAB_STAGE_INIT);
	for (first = (uint32_t)w->block * threads; first < a->n; first += threads_of(w), v += threads_of(w)) {
		registered(w, a, u, v, &begin, &degree);
		clear_tails(w, a);
		LAB_IF(w, split(w, lab_ge(degree, lab_all(LAB_LANES)))) {
			at = lab_reserve(w, BIN, &a->tails, list, lab_popcount(w->mask), lab_rank(w->mask));
			share(w, at, v, begin, degree);
		}
		lab_barrier(w);
		count = lab_load32(w, BIN, &a->tails, lab_all(list));
		lab_wait(w);
		mark(w, a, &t, LAB_STAGE_REGISTER);
		for (;;) {
			LAB_IF(w, 1)
				next = lab_atomic(w, BIN, &a->tails, LAB_ADD_U32, lab_all(list + 1), lab_all(1));
			lab_wait(w);
			lab_alu(w, 2);	/* shuffle, compare */
			if (next[0] >= count[0])
				break;
			at = lab_all(next[0]);
			e.base = lab_shared_load(w, at);
			e.id = lab_shared_load(w, at + BLOCK);
			by_many(w, a, u, e.base, e.id, lab_shared_load(w, at + 2 * BLOCK), lab_lane(), LAB_LANES, &t);
		}
		e.base = v;
		e.id = begin;
		at = begin + lab_select(lab_lt(degree, lab_all(LAB_LANES)), degree, lab_all(0));
		by_thread(w, a, u, &e, at, &t);
		lab_barrier(w);
		mark(w, a, &t, LAB_STAGE_REGISTER);
	}
}

/* SparseWeaver, figure 9. A round has as many vertices as the table has entries. */
LAB_INLINE void by_weaver(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u)
{
	uint32_t warps = lab_weaver_warps(a->weaver), each = warps * LAB_LANES, first;
	struct meter t = { lab_now(w->lab) };
	lab_u32 v, begin, degree;
	lab_mask on, done, part;
	struct edge e;

	lab_alu(w, 6);
	mark(w, a, &t, LAB_STAGE_INIT);
	for (first = (uint32_t)w->block * each; first < a->n; first += (uint32_t)w->grid * each) {
		if (w->in_block < warps) {
			v = lab_lane() + (first + w->in_block * LAB_LANES);
			part = registered(w, a, u, v, &begin, &degree);
			LAB_IF(w, lab_lt(v, lab_all(a->n)) & (a->leave_out ? part : ~0u))
				lab_weaver_reg(w, a->weaver, &v, &begin, &degree);
		}
		lab_barrier(w);
		mark(w, a, &t, LAB_STAGE_REGISTER);
		while ((on = lab_weaver_dec_id(w, a->weaver, &e.base))) {
			lab_weaver_dec_loc(w, a->weaver, &e.id);
			lab_alu(w, 2);	/* compare, branch */
			LAB_IF(w, on) {
				done = do_edge(w, a, u, &e, &t);
				LAB_IF(w, u == LAB_WVR_BFS ? split(w, done) : done)
					lab_weaver_skip(w, a->weaver, &e.base);
			}
		}
		lab_alu(w, 2);
		mark(w, a, &t, LAB_STAGE_WORK_ID);
		lab_barrier(w);		/* before the next round reuses the table */
		mark(w, a, &t, LAB_STAGE_REGISTER);
	}
}

/* EGHW: put base vertices in its buffer, get complete edges from it. */
LAB_INLINE void by_eghw(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u)
{
	const uint32_t at = w->in_block * LAB_EGHW_WORDS;
	struct meter t = { lab_now(w->lab) };
	lab_u32 v = lab_thread(w);
	uint32_t first;
	struct edge e = { 0 };
	lab_mask on;
	uint64_t edge;

	lab_alu(w, 6);
	mark(w, a, &t, LAB_STAGE_INIT);
	for (first = (uint32_t)(w->block * w->block_warps * LAB_LANES); first < a->n; first += threads_of(w), v += threads_of(w)) {
		lab_alu(w, 3);
		LAB_IF(w, pred(w, lab_lt(v, lab_all(a->n)))) {
			LAB_IF(w, udf_filter(w, a, u, &v))
				lab_eghw_put(w, a->eghw, &v);
		}
		lab_barrier(w);
		mark(w, a, &t, LAB_STAGE_REGISTER);
		while ((on = lab_eghw_get(w, a->eghw, (uint32_t *)w->shared + at, &edge))) {
			mark(w, a, &t, LAB_STAGE_WORK_ID);
			a->stage[LAB_STAGE_WORK_ID] -= edge;
			a->stage[LAB_STAGE_EDGE] += edge;
			lab_alu(w, 3);
			LAB_IF(w, on) {
				e.base = lab_shared_load(w, lab_lane() + at);
				e.id = lab_shared_load(w, lab_lane() + (at + LAB_LANES));
				e.other = lab_shared_load(w, lab_lane() + (at + 2 * LAB_LANES));
				if (udf_weight(u))
					e.weight = lab_shared_load(w, lab_lane() + (at + 3 * LAB_LANES));
				lab_wait_for(w, 0);
				mark(w, a, &t, LAB_STAGE_EDGE);
				udf_edge(w, a, u, &e);
				mark(w, a, &t, LAB_STAGE_GATHER);
			}
		}
		mark(w, a, &t, LAB_STAGE_WORK_ID);
		lab_barrier(w);
		mark(w, a, &t, LAB_STAGE_REGISTER);
	}
}

/*
 * Define the kernels of an algorithm for all mappings: MAPPED(pr, LAB_WVR_PR). Not LAB_PROGRAM:
 * compiling three versions of these functions, with everything inlined, takes a minute.
 */
#define MAPPED_ONE(id, udf, mapping)                                                              \
	static void id##_##mapping(struct lab_warp *w, const void *p)                              \
	{                                                                                          \
		mapping(w, p, udf);                                                               \
	}
#define MAPPED_KERNEL(id, mapping, bytes)                                                         \
	{ .name = #id " " #mapping, .warp = id##_##mapping, .statement = lab_wvr_statements,       \
	  .statements = STATEMENTS, .shared = bytes }
#define SHARED_WARP	(3 * 4 * BLOCK)
#define SHARED_BLOCK	(SHARED_WARP + 4 * (LAB_LANES + 1))
#define SHARED_EGHW	(32 * 4 * LAB_EGHW_WORDS)
#define MAPPED(id, udf)                                                                           \
	MAPPED_ONE(id, udf, by_vertex)                                                             \
	MAPPED_ONE(id, udf, by_edge)                                                               \
	MAPPED_ONE(id, udf, by_warp)                                                               \
	MAPPED_ONE(id, udf, by_block)                                                              \
	MAPPED_ONE(id, udf, by_twc)                                                                \
	MAPPED_ONE(id, udf, by_twce)                                                               \
	MAPPED_ONE(id, udf, by_eghw)                                                               \
	MAPPED_ONE(id, udf, by_weaver)                                                             \
	const struct lab_kernel lab_wvr_##id[LAB_WVR_MAPPINGS] = {                                 \
		MAPPED_KERNEL(id, by_vertex, 0), MAPPED_KERNEL(id, by_edge, 0),                    \
		MAPPED_KERNEL(id, by_warp, SHARED_WARP), MAPPED_KERNEL(id, by_block, SHARED_BLOCK), \
		MAPPED_KERNEL(id, by_twc, SHARED_WARP), MAPPED_KERNEL(id, by_twce, SHARED_WARP),   \
		MAPPED_KERNEL(id, by_eghw, SHARED_EGHW), MAPPED_KERNEL(id, by_weaver, 0),          \
	}

#endif
