// SPDX-License-Identifier: MIT
/* The strategies of peg_graph.h: mapping of edges and vertices to threads, and pushes to lists. */
#include "peg_counts.h"
#include "peg_graph_parts.h"

const char *const pg_names[PG_STATEMENTS] = {
	"in[i]", "row[v]", "row[v+1]", "col[k]", "weight[k]", "value[u]", "label[c]", "label[c]=", "other[c]", "tail", "out[j]=",
	"slot[e]", "degree[i]", "scan[i]", "sum[b]", "begin[b]", "seen[c]", "active[c]", "active[v]=",
	"number[u]", "number[c]",
};

/* Layout of a block's shared memory, in words. */
enum { VERTEX = 0, START = PG_BLOCK, SCAN = 2 * PG_BLOCK, PARTS = 3 * PG_BLOCK + 1, FIRST = PARTS + PG_BLOCK / LAB_LANES, WORDS };

/* ---- Lists ----------------------------------------------------------------------------------- */

/* The lanes of @m append @what to @list, with one atomic. */
LAB_INLINE void append(struct lab_warp *w, const struct pg_args *a, lab_mask m, const struct lab_array *list, unsigned tail,
		       const lab_u32 *what)
{
	LAB_IF(w, m) {
		lab_alu(w, APPEND_PUSH - PG_RESERVE_ALU);
		lab_store32(w, PG_PUT, list, pg_reserve(w, a, tail), *what);
	}
}

/* The lanes of @m push @what. @slot: the edges' output slots, if each edge has one. */
LAB_INLINE void emit(struct lab_warp *w, const struct pg_args *a, lab_mask m, const lab_u32 *what, const lab_u32 *slot)
{
	const uint32_t *row = a->row.data;
	lab_mask k;

	for (k = a->pushed_edges ? m : 0; k; k &= k - 1)
		*a->pushed_edges += row[(*what)[__builtin_ctz(k)] + 1] - row[(*what)[__builtin_ctz(k)]];
	if (a->slots) {
		lab_alu(w, GUNROCK_PARTITION_SLOT);
		lab_store32(w, PG_SLOT, &a->slot, *slot, lab_select(m, *what, lab_all(PG_NEVER)));
		return;
	}
	if (a->peg)
		lab_push(w, a->peg, m, what);
	else if (a->hwwl)
		lab_hwwl_push(w, a->hwwl, m, what);
	else
		append(w, a, m, &a->out, PG_LIST, what);
	if (a->order.data)
		append(w, a, m, &a->order, PG_ORDER, what);
}

/* Apply the edge function to edges between the vertices @v and their neighbors @c. */
LAB_INLINE void visit(struct lab_warp *w, const struct pg_args *a, struct pg_edges *e, lab_u32 v, lab_u32 c, const lab_u32 *slot)
{
	lab_u32 push = lab_all(0);
	lab_mask m;

	e->source = a->pull ? c : v;
	e->target = a->pull ? v : c;
	*a->edges += lab_popcount(w->mask);
	if (a->limit && *a->edges >= a->limit)
		lab_stop(w);
	m = a->visit->edge(w, a, e, &push);
	if (a->visit->pushes)
		emit(w, a, m, &push, slot);
}

/* ---- One thread per vertex ------------------------------------------------------------------- */

LAB_INLINE void walk(struct lab_warp *w, const struct pg_args *a, lab_u32 v)
{
	lab_u32 k = lab_load32(w, PG_ROW, &a->row, v), end = lab_load32(w, PG_ROW1, &a->row, v + 1), c;
	struct pg_edges e = { .value = lab_all(0) };

	if (a->visit->values)
		a->visit->value(w, a, &v, &e.value);
	lab_wait(w);
	lab_alu(w, SIMPLE_VERTEX);
	LAB_WHILE(w, lab_lt(k, end)) {
		c = lab_load32(w, PG_COL, &a->col, k);
		if (a->visit->weights)
			e.weight = lab_load32(w, PG_WEIGHT, &a->weight, k);
		lab_wait(w);
		visit(w, a, &e, v, c, NULL);
		lab_alu(w, SIMPLE_EDGE);
		k += 1;
	}
}

LAB_PROGRAM static void simple(struct lab_warp *w, const void *p)
{
	const struct pg_args *a = p;
	lab_u32 i = lab_thread(w), v;

	lab_alu(w, SIMPLE_ENTRY + SIMPLE_THREAD);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		v = lab_load32(w, PG_IN, &a->in, i + a->first);
		lab_wait(w);
		walk(w, a, v);
	}
}

/* Edges [*@b, *@e) of the active lanes' vertices *@v, elements @i of the list. */
LAB_INLINE void load_vertices(struct lab_warp *w, const struct pg_args *a, lab_u32 i, lab_u32 *v, lab_u32 *b, lab_u32 *e)
{
	*v = lab_load32(w, PG_IN, &a->in, i + a->first);
	lab_wait(w);
	*b = lab_load32(w, PG_ROW, &a->row, *v);
	*e = lab_load32(w, PG_ROW1, &a->row, *v + 1);
	lab_wait(w);
}

/* ---- Cooperative strategies ------------------------------------------------------------------ */

/*
 * Exclusive prefix sums of @x over the block's threads, and the total; two barriers. The caller's
 * region counts the instructions.
 */
LAB_INLINE lab_u32 block_scan(struct lab_warp *w, lab_u32 x, uint32_t *total)
{
	lab_u32 before = { 0 }, parts;
	uint32_t sum = lab_prefix_sums(x, &before), base = 0, i;

	w->mask = 1u << (LAB_LANES - 1);
	lab_shared_store(w, lab_all(PARTS + w->in_block), lab_all(sum));
	w->mask = ~0u;
	lab_barrier(w);
	parts = lab_shared_load(w, lab_all(PARTS) + (lab_lane() & (PG_BLOCK / LAB_LANES - 1)));
	for (*total = i = 0; i < w->block_warps; i++) {
		base += i < w->in_block ? parts[i] : 0;
		*total += parts[i];
	}
	lab_barrier(w);
	return before + base;
}

/* The last vertex whose first edge is not after @edge, by binary search in shared memory. */
LAB_INLINE lab_u32 owner_of(struct lab_warp *w, lab_u32 edge)
{
	lab_u32 at = lab_all(0), sum;
	uint32_t step;

	for (step = PG_BLOCK / 2; step; step /= 2) {
		sum = lab_shared_load(w, at + (SCAN + step));
		lab_alu(w, GUNROCK_PARTITION_STEP);
		at += lab_select(lab_ge(edge, sum), lab_all(step), lab_all(0));
	}
	return at;
}

/* Process edges [@from, @end) of the vertices in shared memory. @slot: output slot of edge 0. */
LAB_INLINE void share_edges(struct lab_warp *w, const struct pg_args *a, uint32_t from, uint32_t end, uint32_t slot)
{
	lab_u32 i = lab_lane() + (from + w->in_block * LAB_LANES), owner, v, k, c, output_slot;
	struct pg_edges e = { .value = lab_all(0) };

	LAB_WHILE(w, lab_lt(i, lab_all(end))) {
		owner = owner_of(w, i);
		v = lab_shared_load(w, owner + VERTEX);
		k = lab_shared_load(w, owner + START) + i - lab_shared_load(w, owner + SCAN);
		lab_alu(w, a->slots ? GUNROCK_PARTITION_FOUND : COOPERATIVE_FOUND);
		c = lab_load32(w, PG_COL, &a->col, k);
		if (a->visit->weights)
			e.weight = lab_load32(w, PG_WEIGHT, &a->weight, k);
		if (a->visit->values)
			a->visit->value(w, a, &v, &e.value);
		lab_wait(w);
		output_slot = i + slot;
		visit(w, a, &e, v, c, &output_slot);
		lab_alu(w, COOPERATIVE_EDGE);
		i += PG_BLOCK;
	}
}

/* Load list elements [@lo, @lo + 256) and their first edges to shared memory. Returns degrees. */
LAB_INLINE lab_u32 stage(struct lab_warp *w, const struct pg_args *a, uint32_t lo)
{
	lab_u32 t = lab_lane() + w->in_block * LAB_LANES, v = lab_all(0), b = lab_all(0), e = lab_all(0);

	LAB_IF(w, lab_lt(t + lo, lab_all(a->count)))
		load_vertices(w, a, t + lo, &v, &b, &e);
	lab_shared_store(w, t + VERTEX, v);
	lab_shared_store(w, t + START, b);
	return e - b;
}

LAB_PROGRAM static void cooperative(struct lab_warp *w, const void *p)
{
	const struct pg_args *a = p;
	uint32_t lo = (uint32_t)w->block * PG_BLOCK, total;
	lab_u32 t = lab_lane() + w->in_block * LAB_LANES, scan, slot = lab_all(0);

	lab_alu(w, COOPERATIVE_ENTRY + COOPERATIVE_STAGE);
	scan = stage(w, a, lo);
	scan = block_scan(w, scan, &total);
	lab_shared_store(w, t + SCAN, scan);
	if (a->slots) {
		slot = lab_load32(w, PG_SCAN, &a->scan, lab_all(lo));
		lab_wait(w);
	}
	lab_barrier(w);
	share_edges(w, a, 0, total, slot[0]);
}

/* Each block processes an equal share of all edges. */
LAB_PROGRAM static void partition(struct lab_warp *w, const void *p)
{
	const struct pg_args *a = p;
	uint32_t total = ((const uint32_t *)a->tail.data)[PG_TOTAL], at = (uint32_t)w->block * a->chunk, end = at + a->chunk, lo, stop;
	lab_u32 t = lab_lane() + w->in_block * LAB_LANES, i, begin;

	lab_alu(w, GUNROCK_PARTITION_ENTRY + GUNROCK_PARTITION_START);
	begin = lab_load32(w, PG_BEGIN, &a->begin, lab_all((uint32_t)w->block));
	lab_wait(w);
	lo = begin[0];
	end = end < total ? end : total;
	for (; at < end; lo += PG_BLOCK) {
		lab_alu(w, GUNROCK_PARTITION_STAGE);
		stage(w, a, lo);
		i = lab_select(lab_lt(t + lo, lab_all(a->count)), t + lo, lab_all(a->count));
		lab_shared_store(w, t + SCAN, lab_load32(w, PG_SCAN, &a->scan, i));
		i = lab_load32(w, PG_SUM, &a->scan, lab_all(lo + PG_BLOCK < a->count ? lo + PG_BLOCK : a->count));
		lab_wait(w);
		lab_barrier(w);
		stop = i[0] < end ? i[0] : end;
		lab_alu(w, GUNROCK_PARTITION_NEXT);
		share_edges(w, a, at, stop, 0);
		at = stop;
		lab_barrier(w);
	}
}

/* ---- Balancing ------------------------------------------------------------------------------- */

LAB_PROGRAM static void degrees(struct lab_warp *w, const void *p)
{
	const struct pg_args *a = p;
	lab_u32 i = lab_thread(w), v, b, e;

	lab_alu(w, GUNROCK_DEGREES_ENTRY + GUNROCK_DEGREES_ALL);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		load_vertices(w, a, i, &v, &b, &e);
		lab_store32(w, PG_DEGREE, &a->scan, i, e - b);
	}
}

/* One thread stores the total, also after the last element of the scan. */
LAB_INLINE void put_total(struct lab_warp *w, const struct pg_args *a, uint32_t total)
{
	if (w->in_block)
		return;
	w->mask = 1;
	lab_store32(w, PG_SCAN, &a->scan, lab_all(a->count), lab_all(total));
	lab_store32(w, PG_TAIL, &a->tail, lab_all(PG_TOTAL), lab_all(total));
	w->mask = ~0u;
}

/* Scan degrees within tiles of 1024; the tiles' sums go to sum[]. */
LAB_PROGRAM static void scan_tiles(struct lab_warp *w, const void *p)
{
	const struct pg_args *a = p;
	uint32_t first = (uint32_t)w->block * PG_TILE + w->in_block * (PG_TILE / 8), total, r, l, sum;
	lab_u32 x[4], i[4], all = lab_all(0), before, s;

	lab_alu(w, GUNROCK_SCAN_TILES_ENTRY + GUNROCK_SCAN_TILES_ALL);
	for (r = 0; r < 4; r++) {
		i[r] = lab_lane() + (first + r * LAB_LANES);
		x[r] = lab_all(0);
		LAB_IF(w, lab_lt(i[r], lab_all(a->count)))
			x[r] = lab_load32(w, PG_DEGREE, &a->scan, i[r]);
	}
	lab_wait(w);
	for (sum = r = 0; r < 4; r++) {
		for (l = 0, s = x[r]; l < LAB_LANES; l++) {
			x[r][l] = sum;
			sum += s[l];
		}
	}
	all[LAB_LANES - 1] = sum;	/* lane 31 has the warp's sum */
	before = block_scan(w, all, &total);
	for (r = 0; r < 4; r++)
		LAB_IF(w, lab_lt(i[r], lab_all(a->count)))
			lab_store32(w, PG_SCAN, &a->scan, i[r], x[r] + before[0]);
	if (w->grid == 1) {
		put_total(w, a, total);
	} else if (!w->in_block) {
		w->mask = 1;
		lab_store32(w, PG_SUM, &a->sum, lab_all((uint32_t)w->block), lab_all(total));
		w->mask = ~0u;
	}
}

/* Scan the tiles' sums, in one block. */
LAB_PROGRAM static void scan_sums(struct lab_warp *w, const void *p)
{
	const struct pg_args *a = p;
	uint32_t tiles = (a->count + PG_TILE - 1) / PG_TILE, carry = 0, total, at;
	lab_u32 i, x, before;

	lab_alu(w, GUNROCK_SCAN_SUMS_ENTRY);
	for (at = 0; at < tiles; at += PG_BLOCK) {
		i = lab_lane() + (at + w->in_block * LAB_LANES);
		x = lab_all(0);
		lab_alu(w, GUNROCK_SCAN_SUMS_TILE);
		LAB_IF(w, lab_lt(i, lab_all(tiles)))
			x = lab_load32(w, PG_SUM, &a->sum, i);
		lab_wait(w);
		before = block_scan(w, x, &total) + carry;
		LAB_IF(w, lab_lt(i, lab_all(tiles)))
			lab_store32(w, PG_SUM, &a->sum, i, before);
		carry += total;
	}
	put_total(w, a, carry);
}

LAB_PROGRAM static void scan_add(struct lab_warp *w, const void *p)
{
	const struct pg_args *a = p;
	lab_u32 i = lab_thread(w), x, sum;

	lab_alu(w, GUNROCK_SCAN_ADD_ENTRY + GUNROCK_SCAN_ADD_ALL);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		x = lab_load32(w, PG_SCAN, &a->scan, i);
		sum = lab_load32(w, PG_SUM, &a->sum, i >> 10);
		lab_wait(w);
		lab_store32(w, PG_SCAN, &a->scan, i, x + sum);
	}
}

/* First vertex of each block's share: binary search of the share's first edge in the scan. */
LAB_PROGRAM static void search(struct lab_warp *w, const void *p)
{
	const struct pg_args *a = p;
	uint32_t total = ((const uint32_t *)a->tail.data)[PG_TOTAL], blocks = (total + a->chunk - 1) / a->chunk;
	lab_u32 b = lab_thread(w), lo, hi, mid, sum, up;

	lab_alu(w, GUNROCK_SEARCH_ENTRY + GUNROCK_SEARCH_START);
	LAB_IF(w, lab_lt(b, lab_all(blocks))) {
		lo = lab_all(0);
		hi = lab_all(a->count);
		LAB_WHILE(w, lab_lt(lo + 1, hi)) {
			mid = (lo + hi) >> 1;
			sum = lab_load32(w, PG_SCAN, &a->scan, mid);
			lab_wait(w);
			lab_alu(w, GUNROCK_SEARCH_STEP);
			up = lab_lanes_of(lab_ge(b * a->chunk, sum) & w->mask);
			lo = (mid & up) | (lo & ~up);
			up = lab_lanes_of(lab_lt(b * a->chunk, sum) & w->mask);
			hi = (mid & up) | (hi & ~up);
		}
		lab_store32(w, PG_BEGIN, &a->begin, b, lo);
	}
}

/* Gunrock's filter: compact the filled slots to the list, with one atomic per block. */
LAB_PROGRAM static void compact(struct lab_warp *w, const void *p)
{
	const struct pg_args *a = p;
	lab_u32 i = lab_thread(w), v = lab_all(PG_NEVER), at, first;
	uint32_t total;

	lab_alu(w, GUNROCK_FILTER_ENTRY + GUNROCK_FILTER_ALL);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		v = lab_load32(w, PG_SLOT, &a->slot, i);
		lab_wait(w);
		v = lab_select(w->mask, v, lab_all(PG_NEVER));
	}
	at = block_scan(w, lab_select(lab_ne(v, lab_all(PG_NEVER)), lab_all(1), lab_all(0)), &total);
	if (!w->in_block) {
		w->mask = 1;
		first = lab_atomic(w, PG_TAIL, &a->tail, LAB_ADD_U32, lab_all(PG_LIST), lab_all(total));
		lab_wait(w);
		lab_shared_store(w, lab_all(FIRST), first);
		w->mask = ~0u;
	}
	lab_barrier(w);
	first = lab_shared_load(w, lab_all(FIRST));
	LAB_IF(w, lab_ne(v, lab_all(PG_NEVER)))
		lab_store32(w, PG_PUT, &a->out, first + at, v);
}

/* ---- Popped edges and vertices --------------------------------------------------------------- */

LAB_INLINE void filter_vertices(struct lab_warp *w, const struct pg_args *a, lab_u32 v)
{
	lab_mask m = a->filter(w, a, &v);

	emit(w, a, m, &v, NULL);
}

LAB_INLINE void visit_popped(struct lab_warp *w, const struct pg_args *a, struct pg_edges *e, const struct lab_peg_lanes *l)
{
	e->weight = l->weight;
	if (a->visit->values) {
		a->visit->value(w, a, &l->source, &e->value);
		lab_wait(w);
	}
	if (a->pull)
		visit(w, a, e, l->destination, l->source, NULL);
	else
		visit(w, a, e, l->source, l->destination, NULL);
}

/* Pop from PEG until the end; @filters: vertices, else edges. */
LAB_INLINE void pop_peg(struct lab_warp *w, const struct pg_args *a, bool filters)
{
	struct lab_peg_lanes l;
	struct pg_edges e = { .value = lab_all(0) };

	for (;;) {
		lab_pop(w, a->peg, &l);
		lab_alu(w, PEG_POP - 1);
		if (!l.active)
			return;
		w->mask = l.active;
		if (filters)
			filter_vertices(w, a, l.source);
		else
			visit_popped(w, a, &e, &l);
		w->mask = ~0u;
	}
}
LAB_PROGRAM static void peg(struct lab_warp *w, const void *p)
{
	pop_peg(w, p, false);
}
LAB_PROGRAM static void filter_peg(struct lab_warp *w, const void *p)
{
	pop_peg(w, p, true);
}

/* The same from the hardware worklists, which hold vertices. */
LAB_INLINE void pop_hwwl(struct lab_warp *w, const struct pg_args *a, bool filters)
{
	lab_u32 v;
	lab_mask m;

	while ((m = lab_hwwl_pop(w, a->hwwl, &v))) {
		lab_alu(w, PEG_POP - 1);
		w->mask = m;
		if (filters)
			filter_vertices(w, a, v);
		else
			walk(w, a, v);
		w->mask = ~0u;
	}
}
LAB_PROGRAM static void hwwl(struct lab_warp *w, const void *p)
{
	pop_hwwl(w, p, false);
}
LAB_PROGRAM static void filter_hwwl(struct lab_warp *w, const void *p)
{
	pop_hwwl(w, p, true);
}

LAB_PROGRAM static void filter(struct lab_warp *w, const void *p)
{
	const struct pg_args *a = p;
	lab_u32 v = lab_thread(w);

	lab_alu(w, SIMPLE_ENTRY + SIMPLE_THREAD);
	LAB_IF(w, lab_lt(v, lab_all(a->count))) {
		if (!a->all) {
			v = lab_load32(w, PG_IN, &a->in, v + a->first);
			lab_wait(w);
		}
		filter_vertices(w, a, v);
	}
}

/* Four flags of active[] a thread. */
LAB_PROGRAM static void clear(struct lab_warp *w, const void *p)
{
	const struct pg_args *a = p;
	lab_u32 i = lab_thread(w);

	lab_alu(w, CLEAR_ENTRY + CLEAR_ALL);
	LAB_IF(w, lab_lt(i, lab_all((a->n + 3) / 4)))
		lab_store32(w, PG_MARK, &a->active, i, lab_all(0));
}

#define KERNEL(number, id, words) [number] = LAB_KERNEL(id, pg_names, 4 * (words))
const struct lab_kernel pg_kernel[PG_KERNELS] = {
	KERNEL(PG_SIMPLE, simple, 0), KERNEL(PG_COOPERATIVE, cooperative, WORDS), KERNEL(PG_PARTITION, partition, WORDS),
	KERNEL(PG_HWWL, hwwl, 0), KERNEL(PG_PEG, peg, 0), KERNEL(PG_DEGREES, degrees, 0),
	KERNEL(PG_SCAN_TILES, scan_tiles, WORDS), KERNEL(PG_SCAN_SUMS, scan_sums, WORDS), KERNEL(PG_SCAN_ADD, scan_add, 0),
	KERNEL(PG_SEARCH, search, 0), KERNEL(PG_COMPACT, compact, WORDS), KERNEL(PG_CLEAR, clear, 0), KERNEL(PG_FILTER, filter, 0),
	KERNEL(PG_FILTER_HWWL, filter_hwwl, 0), KERNEL(PG_FILTER_PEG, filter_peg, 0),
};
