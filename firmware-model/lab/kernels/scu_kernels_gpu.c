// SPDX-License-Identifier: MIT
/* The GPU kernels of the SCU paper's algorithms. */
#include "scu_kernels_gpu.h"

enum { FROM, ROW, ROW1, SELF, INDEX, COUNTS, TAIL, COL, WEIGHT, EDGE, COST, COST2, PUT, PUT_COST, LABEL, UPDATE, SEEN, BITS,
       STATEMENTS };
static const char *const names[STATEMENTS] = {
	"from[i]", "row[v]", "row[v+1]", "self[i]", "index[i]", "count[i]", "tail", "col[k]", "weight[k]", "edge[i]", "cost[i]",
	"cost2[i]", "out[j]=", "cost[j]=", "label[c]", "label[c]=", "seen[c]", "bits",
};

/* One lane stores the mask word of the warp's elements. The active lanes have an element. */
LAB_INLINE void put_bits(struct lab_warp *w, const struct lab_array *to, lab_u32 i, lab_mask bits)
{
	lab_mask was = w->mask;

	w->mask = was & -was;
	lab_alu(w, 2);			/* ballot, shift */
	lab_store32(w, BITS, to, i >> 5, lab_all(bits));
	w->mask = was;
}

/* Load the mask word of the warp's elements, in all lanes. */
LAB_INLINE lab_mask get_bits(struct lab_warp *w, const struct lab_array *from, lab_u32 i)
{
	lab_u32 word = lab_load32(w, BITS, from, i >> 5);

	lab_wait(w);
	lab_alu(w, 3);
	return word[__builtin_ctz(w->mask)];
}

/* preparationGPU: edge range of each vertex, and its cost or rank share. */
LAB_PROGRAM static void prepare(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_u32 i = lab_thread(w), v = i, b, e, self = { 0 };

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		if (a->list) {
			v = lab_load32(w, FROM, &a->from, i);
			lab_wait(w);
		}
		b = lab_load32(w, ROW, &a->row, v);
		e = lab_load32(w, ROW1, &a->row, v + 1);
		if (a->weights || a->share)
			self = lab_load32(w, LABEL, &a->label, v);
		lab_wait(w);
		lab_alu(w, a->share ? 11 : 1); /* with a division */
		if (a->share)
			self = lab_rank_share(self, b, e);
		lab_store32(w, INDEX, &a->index, i, b);
		lab_store32(w, COUNTS, &a->counts, i, e - b);
		if (a->weights || a->share)
			lab_store32(w, SELF, &a->self, i, self);
	}
}

/* The GPU's expansion of the prepared vertices: 32 runs, 32 elements at a time. */
LAB_PROGRAM static void expand(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_u32 i = lab_thread(w), b = { 0 }, n = { 0 }, self = { 0 }, k, c, cost, at, position;
	struct lab_runs runs;
	uint32_t total;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		b = lab_load32(w, INDEX, &a->index, i);
		n = lab_load32(w, COUNTS, &a->counts, i);
		if (a->weights || a->share)
			self = lab_load32(w, SELF, &a->self, i);
		lab_wait(w);
	}
	total = lab_runs_begin(w, &runs, n);
	if (!total)
		return;
	at = lab_lane();
	position = lab_reserve(w, TAIL, &a->tail, 0, total, at);
	LAB_WHILE(w, lab_lt(at, lab_all(total))) {
		lab_runs_take(w, &runs, at, b, self, &k, &cost);
		c = lab_load32(w, COL, &a->col, k);
		if (a->weights)
			cost += lab_load32(w, WEIGHT, &a->weight, k);
		lab_wait(w);
		lab_alu(w, 2);
		lab_store32(w, PUT, &a->edge, position, c);
		if (a->weights || a->share)
			lab_store32(w, PUT_COST, &a->cost, position, cost);
		at += 32;
		position += 32;
	}
}

/* The GPU's compaction by a mask, of one or two arrays. */
LAB_PROGRAM static void compact(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_u32 i = lab_thread(w), x, y = { 0 }, at;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		LAB_IF(w, get_bits(w, &a->bits, i)) {
			x = lab_load32(w, EDGE, &a->in, i);
			if (a->in2.data)
				y = lab_load32(w, COST, &a->in2, i);
			at = lab_reserve(w, TAIL, &a->tail, 0, lab_popcount(w->mask), lab_rank(w->mask));
			lab_wait(w);
			lab_store32(w, PUT, &a->out, at, x);
			if (a->in2.data)
				lab_store32(w, PUT_COST, &a->out2, at, y);
		}
	}
}

/* contractionGPU of BFS: label look-up, warp culling, an atomic minimum. */
LAB_PROGRAM static void bfs(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_u32 i = lab_thread(w), c;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		c = lab_load32(w, EDGE, &a->edge, i);
		lab_wait(w);
		put_bits(w, &a->near, i, lab_reach(w, LABEL, UPDATE, &a->label, c, a->depth));
	}
}

/* SSSP: mark the elements that lower a distance. */
LAB_PROGRAM static void relax(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_u32 i = lab_thread(w), c, cost, more = { 0 }, label;
	lab_mask fell = 0;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		c = lab_load32(w, EDGE, &a->edge, i);
		cost = lab_load32(w, COST, &a->cost, i);
		if (a->two_costs)
			more = lab_load32(w, COST2, &a->cost2, i);
		lab_wait(w);
		if (a->two_costs)
			lab_alu(w, 1);
		cost += more;
		label = lab_load32(w, LABEL, &a->label, c);
		lab_wait(w);
		lab_alu(w, 2);
		LAB_IF(w, lab_lt(cost, label)) {
			label = lab_atomic(w, UPDATE, &a->label, LAB_MIN_U32, c, cost);
			lab_wait(w);
			lab_alu(w, 2);
			LAB_IF(w, lab_lt(cost, label)) {
				fell = w->mask;
				if (a->two_costs)
					lab_store32(w, PUT_COST, &a->cost, i, cost);
			}
		}
		put_bits(w, &a->fell, i, fell);
	}
}

/* Split lanes whose cost is still the vertex's distance into near and far, once per round. */
LAB_INLINE void sort_out(struct lab_warp *w, const struct scu_args *a, lab_u32 c, lab_u32 cost, lab_mask *near, lab_mask *far)
{
	lab_u32 label = lab_load32(w, LABEL, &a->label, c), round = lab_all(a->round), was = lab_all(0);

	lab_wait(w);
	lab_alu(w, 2);
	LAB_IF(w, lab_eq(label, cost)) {
		if (a->once) {
			was = lab_atomic(w, SEEN, &a->seen, LAB_MAX_U32, c, round);
			lab_wait(w);
			lab_alu(w, 2);
		}
		*near = lab_lt(cost, lab_all(a->threshold)) & lab_lt(was, round) & w->mask;
		*far = ~*near & lab_lt(was, round) & w->mask;
		lab_alu(w, 2);
	}
}

LAB_PROGRAM static void list(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_u32 i = lab_thread(w), c, cost;
	lab_mask near = 0, far = 0;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		LAB_IF(w, get_bits(w, &a->fell, i)) {
			c = lab_load32(w, EDGE, &a->edge, i);
			cost = lab_load32(w, COST, &a->cost, i);
			lab_wait(w);
			sort_out(w, a, c, cost, &near, &far);
		}
		put_bits(w, &a->near, i, near);
		put_bits(w, &a->far, i, far);
	}
}

/* The far list under a new threshold. */
LAB_PROGRAM static void far(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_u32 i = lab_thread(w), c, cost;
	lab_mask near = 0, still = 0;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		c = lab_load32(w, EDGE, &a->in, i);
		cost = lab_load32(w, COST, &a->in2, i);
		lab_wait(w);
		sort_out(w, a, c, cost, &near, &still);
		put_bits(w, &a->near, i, near);
		put_bits(w, &a->far, i, still);
	}
}

LAB_PROGRAM static void add(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_u32 i = lab_thread(w), c;
	lab_f32 share;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		c = lab_load32(w, EDGE, &a->edge, i);
		share = lab_load_f32(w, COST, &a->cost, i);
		lab_wait(w);
		lab_alu(w, 2);
		lab_atomic_add_f32(w, UPDATE, &a->sum, c, share);
	}
}

LAB_PROGRAM static void finish(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_u32 v = lab_thread(w);
	lab_f32 sum;

	lab_alu(w, 5);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		sum = lab_load_f32(w, LABEL, &a->sum, v);
		lab_wait(w);
		lab_alu(w, 2);
		lab_store_f32(w, UPDATE, &a->label, v, lab_all_f32(a->base) + sum * LAB_DAMPING);
		lab_store_f32(w, PUT, &a->sum, v, lab_all_f32(0));
	}
}

#define KERNEL(id, bytes) const struct lab_kernel scu_kernel_##id = LAB_KERNEL(id, names, bytes)
KERNEL(prepare, 0);
KERNEL(expand, 0);
KERNEL(compact, 0);
KERNEL(bfs, 4 * LAB_CULL * SCU_BLOCK_THREADS / LAB_LANES);
KERNEL(relax, 0);
KERNEL(list, 0);
KERNEL(far, 0);
KERNEL(add, 0);
KERNEL(finish, 0);
