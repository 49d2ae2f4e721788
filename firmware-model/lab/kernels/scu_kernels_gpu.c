// SPDX-License-Identifier: MIT
/* The GPU kernels of the SCU paper's algorithms, with the structure of tools/baselines/scu.cu. */
#include "scu_kernels_gpu.h"

#define WARPS	(SCU_BLOCK_THREADS / LAB_LANES)
#define CULL	128u		/* words of the warp's hash; Merrill, section 5.2 */
#define HISTORY	512u		/* words of the block's hash, as 8 blocks leave of 64 KB of shared memory */

enum { FROM, ROW, ROW1, SELF, INDEX, COUNTS, TAIL, COL, WEIGHT, EDGE, COST, COST2, PUT, PUT_COST, LABEL, UPDATE, LOOKUP, VISITED,
       BITS, STATEMENTS };
static const char *const names[STATEMENTS] = {
	"from[i]", "row[v]", "row[v+1]", "self[i]", "index[i]", "count[i]", "tail", "col[k]", "weight[k]", "edge[i]", "cost[i]",
	"cost2[i]", "out[j]=", "cost[j]=", "label[c]", "label[c]=", "lookup[c]", "visited[c]", "bits",
};

#define NAME(kernel, region) #kernel "." #region,
const char *const scu_region_name[SCU_REGION_COUNT] = { SCU_REGIONS(NAME) };

LAB_INLINE void run_region(struct lab_warp *w, const struct scu_args *a, unsigned region)
{
	lab_alu(w, a->instructions[region]);
}

/* ---- Blocks -------------------------------------------------------------------------------------- */

/* Words of shared memory. */
enum { OWNER, RUN, BASE = RUN + 4, BASE2, VOTE, SUMS = VOTE + 3, SUMS2 = SUMS + WARPS, WARP_RUN = SUMS2 + WARPS,
       AT = WARP_RUN + 4 * WARPS, WITH = AT + SCU_BLOCK_THREADS, EXPAND_WORDS = WITH + SCU_BLOCK_THREADS,
       HASH = SUMS2 + WARPS, PAST = HASH + CULL * WARPS, CONTRACT_WORDS = PAST + HISTORY };

/* The exclusive prefix sums of a block: each warp's sum to shared memory, a barrier, the sums of all warps. */
LAB_INLINE lab_u32 block_scan(struct lab_warp *w, lab_u32 x, unsigned sums, uint32_t *total)
{
	lab_mask was = w->mask;
	lab_u32 before;
	uint32_t sum = lab_prefix_sums(x, &before), below = 0, i;
	const uint32_t *all = (const uint32_t *)w->shared + sums;

	w->mask = 1;
	lab_shared_store(w, lab_all(sums + w->in_block), lab_all(sum));
	w->mask = was;
	lab_barrier(w);
	for (i = 0; i < 2; i++)		/* two loads of four words */
		lab_shared_load(w, lab_all(sums + 4 * i));
	for (i = *total = 0; i < WARPS; i++) {
		below += i < w->in_block ? all[i] : 0;
		*total += all[i];
	}
	return before + lab_all(below);
}

/* Thread 0 adds @n to tail @list. Returns the list's former length to all threads. */
LAB_INLINE uint32_t block_reserve(struct lab_warp *w, const struct scu_args *a, unsigned list, uint32_t n, unsigned base)
{
	lab_u32 was;

	LAB_IF(w, w->in_block ? 0 : 1u) {
		was = lab_atomic(w, TAIL, &a->tail, LAB_ADD_U32, lab_all(list), lab_all(n));
		lab_wait(w);
		lab_shared_store(w, lab_all(base), was);
	}
	lab_barrier(w);
	return lab_shared_load(w, lab_all(base))[0];
}

/* Positions in list @list for the lanes of @keep of the block's warps. */
LAB_INLINE lab_u32 append(struct lab_warp *w, const struct scu_args *a, lab_mask keep, unsigned list, unsigned sums, unsigned base)
{
	uint32_t total;
	lab_u32 at = block_scan(w, lab_select(keep, lab_all(1), lab_all(0)), sums, &total);

	return at + lab_all(block_reserve(w, a, list, total, base));
}

/* __syncthreads_or(): three words take turns, so that one is cleared while no warp sets or reads it. */
LAB_INLINE bool block_any(struct lab_warp *w, bool mine, unsigned round)
{
	uint32_t *vote = (uint32_t *)w->shared + VOTE;

	vote[round % 3] |= mine;
	lab_barrier(w);
	vote[(round + 2) % 3] = 0;
	return vote[round % 3];
}

/* Before a block's first block_any(), by a warp that ends at a barrier. */
LAB_INLINE void block_any_begin(struct lab_warp *w)
{
	memset(w->shared + 4 * VOTE, 0, 12);
}

/* One lane stores the mask word of the warp's elements. */
LAB_INLINE void put_bits(struct lab_warp *w, const struct lab_array *to, lab_u32 i, lab_mask bits)
{
	LAB_IF(w, 1u)
		lab_store32(w, BITS, to, i >> 5, lab_all(bits));
}

/* ---- Expansion ------------------------------------------------------------------------------------- */

/* preparationGPU: edge range of each vertex, and its cost or rank share. */
LAB_PROGRAM static void prepare(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	const unsigned x = a->share ? SCU_X_pr_prepare_entry : a->weights ? SCU_X_sssp_prepare_entry : SCU_X_bfs_prepare_entry;
	lab_u32 i = lab_thread(w), v = i, b, e, self = { 0 };

	run_region(w, a, x);
	run_region(w, a, x + 1);
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
		if (a->share)
			self = lab_rank_share(self, b, e);
		lab_store32(w, INDEX, &a->index, i, b);
		lab_store32(w, COUNTS, &a->counts, i, e - b);
		if (a->weights || a->share)
			lab_store32(w, SELF, &a->self, i, self);
	}
}

/* The first region of the expansion, whose regions are those of SCU_EXPAND_REGIONS in this order. */
enum { X_ENTRY, X_LOAD, X_RESERVE, X_ANY_BLOCK, X_BLOCK, X_BLOCK_EDGES, X_THEN_WARPS, X_ANY_WARP, X_WARP, X_WARP_EDGES,
       X_THEN_SCAN, X_SCATTER, X_SCAN_EDGES, X_END, X_BLOCK_NEXT, X_WARP_NEXT };
LAB_INLINE unsigned expand_regions(const struct scu_args *a)
{
	if (a->prepared)
		return a->weights ? SCU_X_split_expand_add_entry : a->share ? SCU_X_split_expand_copy_entry : SCU_X_split_expand_entry;
	return a->weights ? SCU_X_sssp_expand_entry : a->share ? SCU_X_pr_expand_entry : SCU_X_bfs_expand_entry;
}

/* Write edge @k of a vertex with cost or share @self to @position of the frontier. */
LAB_INLINE void write_edge(struct lab_warp *w, const struct scu_args *a, lab_u32 k, lab_u32 self, lab_u32 position)
{
	lab_u32 c = lab_load32(w, COL, &a->col, k);

	if (a->weights)
		self += lab_load32(w, WEIGHT, &a->weight, k);
	lab_wait(w);
	lab_store32(w, PUT, &a->edge, position, c);
	if (a->weights || a->share)
		lab_store32(w, PUT_COST, &a->cost, position, self);
}

/* One lane publishes its vertex at @to in shared memory. */
LAB_INLINE void publish(struct lab_warp *w, const struct scu_args *a, lab_mask mine, unsigned to, lab_u32 b, lab_u32 n, lab_u32 at,
			lab_u32 self)
{
	LAB_IF(w, mine) {
		lab_shared_store(w, lab_all(to), b);
		lab_shared_store(w, lab_all(to + 1), n);
		lab_shared_store(w, lab_all(to + 2), at);
		if (a->weights || a->share)
			lab_shared_store(w, lab_all(to + 3), self);
	}
}

/* The edges of the vertex published at @from, from @k in steps of @step. */
LAB_INLINE void gather(struct lab_warp *w, const struct scu_args *a, unsigned from, lab_u32 k, uint32_t step, unsigned region)
{
	const uint32_t *run = (const uint32_t *)w->shared + from;
	const lab_u32 begin = lab_all(run[0]), n = lab_all(run[1]), at = lab_all(run[2]), self = lab_all(run[3]);

	LAB_WHILE(w, lab_lt(k, n)) {
		run_region(w, a, region);
		lab_shared_load(w, lab_all(from));
		lab_shared_load(w, lab_all(from + 2));
		write_edge(w, a, begin + k, self, at + k);
		k += step;
	}
}

/*
 * Merrill's expansion (section 5.1): a block gathers each vertex of its size, a warp each vertex of its, and the block
 * the edges of all others by their prefix sums, through shared memory.
 */
LAB_PROGRAM static void expand(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	const unsigned x = expand_regions(a);
	const uint32_t first = w->in_block * LAB_LANES;
	lab_u32 i = lab_thread(w), v = i, b = { 0 }, n = { 0 }, self = { 0 }, thread = lab_lane() + first, coarse, fine, at, k, mine = { 0 };
	const lab_u32 block = lab_all(SCU_BLOCK_THREADS), lanes = lab_all(LAB_LANES);
	uint32_t coarse_total, total, base, done, owner, round;
	lab_mask one;

	block_any_begin(w);
	run_region(w, a, x + X_ENTRY);
	run_region(w, a, x + X_LOAD);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		if (a->prepared) {
			b = lab_load32(w, INDEX, &a->index, i);
			n = lab_load32(w, COUNTS, &a->counts, i);
			if (a->weights || a->share)
				self = lab_load32(w, SELF, &a->self, i);
		} else {
			if (a->list) {
				v = lab_load32(w, FROM, &a->from, i);
				lab_wait(w);
			}
			b = lab_load32(w, ROW, &a->row, v);
			n = lab_load32(w, ROW1, &a->row, v + 1) - b;
			if (a->weights || a->share)
				self = lab_load32(w, LABEL, &a->label, v);
			if (a->share)
				self = lab_rank_share(self, b, b + n);
		}
		lab_wait(w);
	}
	run_region(w, a, x + X_RESERVE);
	one = lab_ge(n, lanes);
	coarse = block_scan(w, lab_select(one, n, lab_all(0)), SUMS, &coarse_total);
	fine = block_scan(w, lab_select(one, lab_all(0), n), SUMS2, &total);
	base = block_reserve(w, a, SCU_EDGES, coarse_total + total, BASE);
	at = coarse + lab_all(base);

	for (round = 0;; round++) {
		lab_mask large = lab_ge(n, block);

		run_region(w, a, x + X_ANY_BLOCK);
		if (!block_any(w, large, round))
			break;
		run_region(w, a, x + X_BLOCK);
		LAB_IF(w, large)
			lab_shared_store(w, lab_all(OWNER), thread);
		lab_barrier(w);
		owner = lab_shared_load(w, lab_all(OWNER))[0];
		one = owner / LAB_LANES == w->in_block ? 1u << owner % LAB_LANES : 0;
		publish(w, a, one, RUN, b, n, at, self);
		n = lab_select(one, lab_all(0), n);
		lab_barrier(w);
		gather(w, a, RUN, thread, SCU_BLOCK_THREADS, x + X_BLOCK_EDGES);
		run_region(w, a, x + X_BLOCK_NEXT);
	}
	run_region(w, a, x + X_THEN_WARPS);
	for (;;) {
		lab_mask large = lab_ge(n, lanes);

		run_region(w, a, x + X_ANY_WARP);
		if (!large)
			break;
		run_region(w, a, x + X_WARP);
		LAB_IF(w, large)
			lab_shared_store(w, lab_all(WARP_RUN + 4 * w->in_block), lab_lane());
		lab_shared_load(w, lab_all(WARP_RUN + 4 * w->in_block));
		one = 1u << (31 - __builtin_clz(large));
		publish(w, a, one, WARP_RUN + 4 * w->in_block, b, n, at, self);
		n = lab_select(one, lab_all(0), n);
		gather(w, a, WARP_RUN + 4 * w->in_block, lab_lane(), LAB_LANES, x + X_WARP_EDGES);
		run_region(w, a, x + X_WARP_NEXT);
	}
	run_region(w, a, x + X_THEN_SCAN);
	base += coarse_total;
	for (done = 0; done < total; done += SCU_BLOCK_THREADS) {
		LAB_WHILE(w, lab_lt(mine, n) & lab_lt(fine + mine, lab_all(done) + block)) {
			run_region(w, a, x + X_SCATTER);
			lab_shared_store(w, lab_all(AT) + fine + mine - lab_all(done), b + mine);
			if (a->weights || a->share)
				lab_shared_store(w, lab_all(WITH) + fine + mine - lab_all(done), self);
			mine += lab_select(w->mask, lab_all(1), lab_all(0));
		}
		run_region(w, a, x + X_SCAN_EDGES);
		lab_barrier(w);
		LAB_IF(w, lab_lt(thread + lab_all(done), lab_all(total))) {
			k = lab_shared_load(w, thread + AT);
			write_edge(w, a, k, a->weights || a->share ? lab_shared_load(w, thread + WITH) : self, thread + lab_all(base + done));
		}
		lab_barrier(w);
	}
	run_region(w, a, x + X_END);
}

/* The GPU's compaction by a mask, of one or two arrays. */
LAB_PROGRAM static void compact(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_u32 i = lab_thread(w), x = { 0 }, y = { 0 }, at;
	lab_mask keep = 0;

	run_region(w, a, SCU_X_split_compact_entry);
	run_region(w, a, SCU_X_split_compact_load);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		keep = lab_load32(w, BITS, &a->bits, i >> 5)[0] & w->mask;
		lab_wait(w);
		LAB_IF(w, keep) {
			x = lab_load32(w, EDGE, &a->in, i);
			if (a->in2.data)
				y = lab_load32(w, COST, &a->in2, i);
			lab_wait(w);
		}
	}
	run_region(w, a, SCU_X_split_compact_append);
	at = append(w, a, keep, SCU_EDGES, SUMS, BASE);
	LAB_IF(w, keep) {
		lab_store32(w, PUT, &a->out, at, x);
		if (a->in2.data)
			lab_store32(w, PUT_COST, &a->out2, at, y);
	}
}

/* ---- Contraction ----------------------------------------------------------------------------------- */

/* Lanes whose value no higher lane of the warp has, as far as a hash in shared memory detects (Merrill, section 5.2). */
LAB_INLINE lab_mask cull(struct lab_warp *w, lab_u32 c)
{
	lab_u32 slot = (c & (CULL - 1)) + HASH + w->in_block * CULL, lane = lab_lane();
	lab_mask twin, lost;

	lab_shared_store(w, slot, c);
	twin = lab_eq(lab_shared_load(w, slot), c) & w->mask;
	LAB_IF(w, twin)
		lab_shared_store(w, slot, lane);
	lost = twin & lab_ne(lab_shared_load(w, slot), lane);
	return w->mask & ~lost;
}

/* The lanes of @some whose vertex @c is new, as far as mask, label and two hashes detect; or exactly. */
LAB_INLINE lab_mask bfs_cull(struct lab_warp *w, const struct scu_args *a, lab_u32 c, lab_mask some)
{
	lab_u32 word, slot;

	run_region(w, a, SCU_X_bfs_contract_mask);
	LAB_IF(w, some) {
		lab_u32 bit = lab_all(1) << (c & 31);

		word = lab_load32(w, VISITED, &a->visited, c >> 5);
		lab_wait(w);
		some = lab_eq(word & bit, lab_all(0)) & w->mask;
		LAB_IF(w, some)
			lab_store32(w, VISITED, &a->visited, c >> 5, word | bit);
	}
	w->mask = some;			/* lanes whose element is culled skip what is between the barriers */
	run_region(w, a, SCU_X_bfs_contract_label);
	LAB_IF(w, some) {
		word = lab_load32(w, LABEL, &a->label, c);
		lab_wait(w);
		some = lab_eq(word, lab_all(SCU_NEVER)) & w->mask;
		if (!a->exact)
			LAB_IF(w, some)
				lab_store32(w, UPDATE, &a->label, c, lab_all(a->depth));
	}
	w->mask = some;
	run_region(w, a, SCU_X_bfs_contract_cull);
	LAB_IF(w, some)
		some = cull(w, c);
	w->mask = some;
	run_region(w, a, SCU_X_bfs_contract_history);
	LAB_IF(w, some) {
		slot = (c & (HISTORY - 1)) + PAST;
		some = lab_ne(lab_shared_load(w, slot), c) & w->mask;
		LAB_IF(w, some)
			lab_shared_store(w, slot, c);
	}
	if (a->exact)
		LAB_IF(w, some) {
			word = lab_atomic(w, UPDATE, &a->label, LAB_MIN_U32, c, lab_all(a->depth));
			lab_wait(w);
			some = lab_lt(lab_all(a->depth), word) & w->mask;
		}
	return some;
}

/*
 * contractionGPU of BFS: lists the new vertices, or marks them. The grid fills the GPU once, and a block processes its part
 * of the frontier tile by tile, so that its history spans the part (Merrill's back40computing, two_phase/contract_atomic).
 */
LAB_PROGRAM static void bfs(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	const uint32_t tiles = (a->count + SCU_BLOCK_THREADS - 1) / SCU_BLOCK_THREADS, more = tiles % a->blocks;
	const uint32_t block = (uint32_t)w->block;
	uint32_t tile = tiles / a->blocks * block + (block < more ? block : more), end = tile + tiles / a->blocks + (block < more);
	const lab_mask all = w->mask;
	lab_u32 at;

	run_region(w, a, SCU_X_bfs_contract_entry);
	run_region(w, a, SCU_X_bfs_contract_begin);
	for (at = lab_lane() + w->in_block * LAB_LANES; at[0] < HISTORY; at += SCU_BLOCK_THREADS)
		lab_shared_store(w, at + PAST, lab_all(SCU_NEVER));
	lab_barrier(w);
	for (; tile < end; tile++) {
		lab_u32 i = lab_lane() + (tile * SCU_BLOCK_THREADS + w->in_block * LAB_LANES), c = { 0 };
		lab_mask some = 0;

		run_region(w, a, SCU_X_bfs_contract_load);
		LAB_IF(w, lab_lt(i, lab_all(a->count))) {
			c = lab_load32(w, EDGE, &a->edge, i);
			lab_wait(w);
			some = w->mask;
		}
		some = bfs_cull(w, a, c, some);
		w->mask = all;
		if (a->masks) {
			run_region(w, a, SCU_X_bfs_mark_bits);
			put_bits(w, &a->near, i, some);
		} else {
			run_region(w, a, SCU_X_bfs_contract_append);
			at = append(w, a, some, SCU_NEARS, SUMS, BASE);
			LAB_IF(w, some)
				lab_store32(w, PUT, &a->near_list, at, c);
		}
		run_region(w, a, SCU_X_bfs_contract_next);
	}
}

/* SSSP: lower distances; an element that lowers one writes its number to the vertex's look-up entry. */
LAB_PROGRAM static void relax(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	const unsigned x = a->two_costs ? SCU_X_sssp_mark_entry : SCU_X_sssp_relax_entry;
	lab_u32 i = lab_thread(w), c, cost, more = { 0 }, label;

	run_region(w, a, x);
	run_region(w, a, x + 1);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		c = lab_load32(w, EDGE, &a->edge, i);
		cost = lab_load32(w, COST, &a->cost, i);
		if (a->two_costs)
			more = lab_load32(w, COST2, &a->cost2, i);
		lab_wait(w);
		cost += more;
		label = lab_load32(w, LABEL, &a->label, c);
		lab_wait(w);
		LAB_IF(w, lab_lt(cost, label)) {
			run_region(w, a, x + 2);
			label = lab_atomic(w, UPDATE, &a->label, LAB_MIN_U32, c, cost);
			lab_wait(w);
			LAB_IF(w, lab_lt(cost, label)) {
				lab_store32(w, LOOKUP, &a->lookup, c, i + a->first);
				if (a->two_costs)
					lab_store32(w, PUT_COST, &a->cost, i, cost);
			}
		}
	}
}

/* The far pile's elements that have not been processed write their numbers to the look-up table. */
LAB_PROGRAM static void again(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_u32 i = lab_thread(w), c, label;

	run_region(w, a, SCU_X_sssp_again_entry);
	run_region(w, a, SCU_X_sssp_again_all);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		c = lab_load32(w, EDGE, &a->edge, i);
		lab_wait(w);
		label = lab_load32(w, LABEL, &a->label, c);
		lab_wait(w);
		LAB_IF(w, lab_ge(label, lab_all(a->floor)))
			lab_store32(w, LOOKUP, &a->lookup, c, i + a->first);
	}
}

/* Elements whose numbers are in the look-up table list their vertices as near or far, or mark themselves so. */
LAB_PROGRAM static void list(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	const unsigned x = a->masks ? SCU_X_sssp_masks_entry : SCU_X_sssp_list_entry;
	lab_u32 i = lab_thread(w), c = { 0 }, cost = { 0 }, winner, at;
	lab_mask near = 0, far = 0;

	run_region(w, a, x);
	run_region(w, a, x + 1);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		c = lab_load32(w, EDGE, &a->edge, i);
		lab_wait(w);
		winner = lab_load32(w, LOOKUP, &a->lookup, c);
		lab_wait(w);
		LAB_IF(w, lab_eq(winner, i + a->first)) {
			run_region(w, a, x + 2);
			cost = lab_load32(w, LABEL, &a->label, c);
			lab_wait(w);
			near = lab_lt(cost, lab_all(a->threshold)) & w->mask;
			far = w->mask & ~near;
		}
	}
	run_region(w, a, x + 3);
	if (a->masks) {
		put_bits(w, &a->near, i, near);
		put_bits(w, &a->far, i, far);
		return;
	}
	at = append(w, a, near, SCU_NEARS, SUMS, BASE);
	LAB_IF(w, near)
		lab_store32(w, PUT, &a->near_list, at, c);
	at = append(w, a, far, SCU_FARS, SUMS2, BASE2);
	LAB_IF(w, far) {
		lab_store32(w, PUT, &a->far_list, at, c);
		lab_store32(w, PUT_COST, &a->far_cost, at, cost);
	}
}

/* The far pile's masks where the SCU removes the duplicates. */
LAB_PROGRAM static void far(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_u32 i = lab_thread(w), c, cost;
	lab_mask near = 0, still = 0;

	run_region(w, a, SCU_X_sssp_far_entry);
	run_region(w, a, SCU_X_sssp_far_load);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		c = lab_load32(w, EDGE, &a->edge, i);
		lab_wait(w);
		cost = lab_load32(w, LABEL, &a->label, c);
		lab_wait(w);
		near = lab_ge(cost, lab_all(a->floor)) & lab_lt(cost, lab_all(a->threshold)) & w->mask;
		still = lab_ge(cost, lab_all(a->threshold)) & w->mask;
	}
	run_region(w, a, SCU_X_sssp_far_bits);
	put_bits(w, &a->near, i, near);
	put_bits(w, &a->far, i, still);
}

/* ---- PageRank ----------------------------------------------------------------------------------------- */

LAB_PROGRAM static void add(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_u32 i = lab_thread(w), c;
	lab_f32 share;

	run_region(w, a, SCU_X_pr_add_entry);
	run_region(w, a, SCU_X_pr_add_all);
	LAB_IF(w, lab_lt(i, lab_all(a->count))) {
		c = lab_load32(w, EDGE, &a->edge, i);
		share = lab_load_f32(w, COST, &a->cost, i);
		lab_wait(w);
		lab_atomic_add_f32(w, UPDATE, &a->sum, c, share);
	}
}

LAB_PROGRAM static void finish(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_u32 v = lab_thread(w), old;
	lab_f32 sum;

	run_region(w, a, SCU_X_pr_finish_entry);
	run_region(w, a, SCU_X_pr_finish_all);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		sum = lab_load_f32(w, LABEL, &a->sum, v);
		old = lab_load32(w, SELF, &a->label, v);
		lab_wait(w);
		lab_store_f32(w, UPDATE, &a->label, v, lab_all_f32(a->base) + sum * LAB_DAMPING);
		lab_store32(w, PUT_COST, &a->old, v, old);
		lab_store_f32(w, PUT, &a->sum, v, lab_all_f32(0));
	}
}

/* Set the flag if any rank changed by more than a hundredth of the mean. */
LAB_PROGRAM static void check(struct lab_warp *w, const void *p)
{
	const struct scu_args *a = p;
	lab_f32 now, was, bound = lab_all_f32(0.01f / (float)a->n);
	lab_u32 v = lab_thread(w);
	lab_mask changed;

	run_region(w, a, SCU_X_pr_check_entry);
	run_region(w, a, SCU_X_pr_check_all);
	LAB_IF(w, lab_lt(v, lab_all(a->n))) {
		now = lab_load_f32(w, LABEL, &a->label, v);
		was = lab_load_f32(w, SELF, &a->old, v);
		lab_wait(w);
		changed = (lab_lt_f32(bound, now - was) | lab_lt_f32(bound, was - now)) & w->mask;
		LAB_IF(w, changed & -changed)
			lab_store32(w, TAIL, &a->tail, lab_all(SCU_CHANGED), lab_all(1));
	}
}

#define KERNEL(id, bytes) const struct lab_kernel scu_kernel_##id = LAB_KERNEL(id, names, bytes)
KERNEL(prepare, 0);
KERNEL(expand, 4 * EXPAND_WORDS);
KERNEL(compact, 4 * HASH);
KERNEL(bfs, 4 * CONTRACT_WORDS);
KERNEL(relax, 0);
KERNEL(again, 0);
KERNEL(list, 4 * HASH);
KERNEL(far, 0);
KERNEL(add, 0);
KERNEL(finish, 0);
KERNEL(check, 0);
