// SPDX-License-Identifier: MIT
/* The kernels of the oracle counts: PageRank, BFS, gather. */
#include "kernels.h"
#include "firmware-model/lab/engine/warp.h"

/* ---- PageRank ---------------------------------------------------------------------------------- */

static const char *const push_vm_names[] = { "row[v]", "row[v+1]", "rank[v]", "col[k]", "next[col[k]]" };
static const char *const push_wm_names[] = { "row[v+1]", "row[v]", "rank[v]", "col[k]", "next[col[k]]" };

/*
 * VM: a thread per vertex. WM: a warp. ALIGNED: a warp that starts at the 128-byte boundary below,
 * with lanes before the first edge inactive.
 */
enum push { VM, WM, ALIGNED };
LAB_INLINE void push(struct lab_warp *w, const struct lab_csr_args *a, enum push x)
{
	lab_u32 v = x == VM ? lab_thread(w) : lab_thread(w) >> 5, first, second, b, e, k, c;
	lab_f32 share;

	lab_alu(w, x == VM ? 11 : 12);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		lab_alu(w, 5);
		first = lab_load32(w, 0, &a->row, x == VM ? v : v + 1);
		second = lab_load32(w, 1, &a->row, x == VM ? v + 1 : v);
		lab_wait(w);
		lab_alu(w, 1);
		b = x == VM ? first : second;
		e = x == VM ? second : first;
		k = x == VM ? b : (x == ALIGNED ? b & ~31u : b) + lab_lane();
		LAB_IF(w, lab_ne(b, e) & (x == ALIGNED ? lab_lt(k, e) : ~0u)) {
			lab_alu(w, x == VM ? 9 : x == WM ? 10 : 11);
			share = lab_load_f32(w, 2, &a->rank, v);
			lab_wait(w);
			share = share / lab_to_f32(lab_select(lab_ne(b, e), e - b, lab_all(1)));
			lab_alu(w, x == VM ? 3 : 4);
			LAB_WHILE(w, lab_lt(k, e)) {
				lab_alu(w, x == ALIGNED ? 2 : 0);
				LAB_IF(w, lab_ge(k, b)) {
					c = lab_load32(w, 3, &a->col, k);
					lab_wait(w);
					lab_alu(w, 2);
					lab_atomic_add_f32(w, 4, &a->next, c, share);
				}
				lab_alu(w, 4);
				k += x == VM ? 1 : 32;
			}
		}
	}
	lab_alu(w, 1);
}

#define PUSH(id, x, names)                                                                         \
	LAB_PROGRAM static void pr_push_##id(struct lab_warp *w, const void *p)                    \
	{                                                                                          \
		push(w, p, x);                                                                     \
	}                                                                                          \
	const struct lab_kernel lab_pr_push_##id = LAB_KERNEL(pr_push_##id, names, 0)
PUSH(vm, VM, push_vm_names);
PUSH(wm, WM, push_wm_names);
PUSH(wm_aligned, ALIGNED, push_wm_names);

static const char *const pull_names[] = { "row[v]", "row[v+1]", "col[k]", "deg[c]", "rank[c]", "next[v]" };

LAB_PROGRAM static void pr_pull_vm(struct lab_warp *w, const void *p)
{
	const struct lab_csr_args *a = p;
	lab_u32 v = lab_thread(w), b, e, k, c, d;
	lab_f32 r, sum = { 0 };

	lab_alu(w, 12);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		lab_alu(w, 5);
		b = lab_load32(w, 0, &a->row, v);
		e = lab_load32(w, 1, &a->row, v + 1);
		lab_wait(w);
		lab_alu(w, 4);
		k = b;
		LAB_WHILE(w, lab_lt(k, e)) {
			c = lab_load32(w, 2, &a->col, k);
			lab_wait(w);
			lab_alu(w, 3);
			d = lab_load32(w, 3, &a->deg, c);
			lab_wait(w); /* the oracle's cycles show that it is converted before the
				      * next load issues */
			r = lab_load_f32(w, 4, &a->rank, c);
			lab_wait(w);
			sum += lab_select_f32(w->mask, r / lab_to_f32(lab_select(w->mask, d, lab_all(1))),
					      lab_all_f32(0));
			lab_alu(w, 7);
			k += 1;
		}
		lab_alu(w, 6);
		lab_store_f32(w, 5, &a->next, v, sum);
	}
	lab_alu(w, 1);
}

const struct lab_kernel lab_pr_pull_vm = LAB_KERNEL(pr_pull_vm, pull_names, 0);

/* ---- BFS --------------------------------------------------------------------------------------- */

static const char *const bfs_names[] = {
	"level[v]", "row[v]", "row[v+1]", "col[k]", "level[c]", "level[c]=cur+1",
};

LAB_PROGRAM static void bfs_level(struct lab_warp *w, const void *p)
{
	const struct lab_csr_args *a = p;
	lab_u32 v = lab_thread(w), k, e, c, level;

	lab_alu(w, 12);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		lab_alu(w, 4);
		level = lab_load32(w, 0, &a->level, v);
		lab_wait(w);
		lab_alu(w, 1);
		LAB_IF(w, lab_eq(level, lab_all(a->current))) {
			lab_alu(w, 4);
			k = lab_load32(w, 1, &a->row, v);
			e = lab_load32(w, 2, &a->row, v + 1);
			lab_wait(w);
			lab_alu(w, 4);
			LAB_WHILE(w, lab_lt(k, e)) {
				c = lab_load32(w, 3, &a->col, k);
				lab_wait(w);
				lab_alu(w, 2);
				level = lab_load32(w, 4, &a->level, c);
				lab_wait(w);
				lab_alu(w, 2);
				LAB_IF(w, lab_eq(level, lab_all(LAB_BFS_INF))) {
					lab_alu(w, 1);
					lab_store32(w, 5, &a->level, c, lab_all(a->current + 1));
				}
				lab_alu(w, 4);
				k += 1;
			}
		}
	}
	lab_alu(w, 1);
}

const struct lab_kernel lab_bfs_level = LAB_KERNEL(bfs_level, bfs_names, 0);

/* ---- Gathering --------------------------------------------------------------------------------- */

static const char *const gather_names[] = { "idx[i]", "data[idx[i]]", "out[i]" };

LAB_PROGRAM static void gather(struct lab_warp *w, const void *p)
{
	const struct lab_gather_args *a = p;
	lab_u32 i = lab_thread(w), j, t;

	lab_alu(w, 10);
	LAB_IF(w, lab_lt(i, lab_all(a->m))) {
		lab_alu(w, 5);
		j = lab_load32(w, 0, &a->idx, i);
		lab_wait(w);
		lab_alu(w, 2);
		t = lab_load32(w, 1, &a->data, j);
		lab_wait(w);
		lab_alu(w, 1);
		lab_store32(w, 2, &a->out, i, t);
	}
	lab_alu(w, 1);
}

const struct lab_kernel lab_gather = LAB_KERNEL(gather, gather_names, 0);

static const char *const one_warp_names[] = { "idx[i]", "data[idx[i]]", "out[lane]" };

LAB_PROGRAM static void gather_1warp(struct lab_warp *w, const void *p)
{
	const struct lab_gather_args *a = p;
	lab_u32 i = lab_lane(), j;
	lab_f32 t, sum = { 0 };

	lab_alu(w, 12);
	LAB_WHILE(w, lab_lt(i, lab_all(a->m))) {
		j = lab_load32(w, 0, &a->idx, i);
		lab_wait(w);
		lab_alu(w, 3);
		t = lab_load_f32(w, 1, &a->data, j);
		lab_wait(w);
		sum += lab_select_f32(w->mask, t, lab_all_f32(0));
		lab_alu(w, 4);
		i += 32;
	}
	lab_alu(w, 4);
	lab_store_f32(w, 2, &a->out, lab_lane(), sum);
	lab_alu(w, 1);
}

const struct lab_kernel lab_gather_1warp = LAB_KERNEL(gather_1warp, one_warp_names, 0);

static const char *const rmw_names[] = { "idx[i]", "data[idx[i]]", "data[idx[i]]=t+1" };

LAB_PROGRAM static void rmw_1warp(struct lab_warp *w, const void *p)
{
	const struct lab_gather_args *a = p;
	lab_u32 i = lab_lane(), j, t;

	lab_alu(w, 10);
	LAB_WHILE(w, lab_lt(i, lab_all(a->m))) {
		j = lab_load32(w, 0, &a->idx, i);
		lab_wait(w);
		lab_alu(w, 3);
		t = lab_load32(w, 1, &a->data, j);
		lab_wait(w);
		lab_alu(w, 1);
		lab_store32(w, 2, &a->data, j, t + 1);
		lab_alu(w, 3);
		i += 32;
	}
	lab_alu(w, 1);
}

const struct lab_kernel lab_rmw_1warp = LAB_KERNEL(rmw_1warp, rmw_names, 0);
