// SPDX-License-Identifier: MIT
/* Helpers of the generators: parallel drawing of edges, permutation, thinning. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "generate.h"
#include "libruntime/support/union_find.h"

#define MAX_THREADS 64

/*
 * Rounds of multiply and xor-shift, each a bijection on the numbers below the next power of two.
 * Results of n or more are permuted again (fewer than two passes on average).
 */
uint64_t gtu_permute(uint64_t x, uint64_t n, uint64_t seed)
{
	unsigned int bits = n > 1 ? 64 - (unsigned int)__builtin_clzll(n - 1) : 1, round;
	uint64_t mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1, key;

	do {
		for (round = 0; round < 4; round++) {
			key = gtu_rand_stream(seed, 0xFEED0000u + round);
			x = ((x ^ key) * (key | 1)) & mask;
			x ^= x >> (bits / 2 + 1);
			x = (x * 0x9E3779B97F4A7C15ull + (key >> 32)) & mask;
			x ^= x >> (bits / 3 + 1);
		}
	} while (x >= n);
	return x;
}

struct draw {
	struct gtu_edge_list *list;
	uint64_t m, blocks;
	gtu_fill_pairs fill;
	const void *arg;
	atomic_uint_fast64_t next;
	atomic_bool stop;
};

static bool draw_block(struct draw *d)
{
	uint64_t block = atomic_fetch_add(&d->next, 1), first = block * GTU_BLOCK;

	if (block >= d->blocks)
		return false;
	d->fill(d->arg, d->list, block, first, d->m - first < GTU_BLOCK ? d->m : first + GTU_BLOCK);
	return true;
}

static void *draw_thread(void *arg)
{
	struct draw *d = arg;

	while (!atomic_load(&d->stop) && draw_block(d))
		;
	return NULL;
}

int gtu_draw_pairs(struct gtu_edge_list *l, uint64_t n, uint64_t m, gtu_fill_pairs fill,
		   const void *arg, uint32_t threads, const struct gtu_progress *progress,
		   struct gtu_error *err)
{
	struct draw d = { .list = l, .m = m, .blocks = (m + GTU_BLOCK - 1) / GTU_BLOCK, .fill = fill,
			  .arg = arg };
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t helper[MAX_THREADS];
	uint32_t helpers = 0;
	int rc;

	l->id_bytes = n > 1ull << 32 ? 8 : 4;
	rc = gtu_edges_reserve(l, m, err);
	if (rc)
		return rc;
	if (!threads)
		threads = cores > 0 ? (uint32_t)cores : 1;
	/* a failed pthread_create() only costs time, so it is not an error */
	while (helpers + 1 < threads && helpers < MAX_THREADS && helpers + 1 < d.blocks &&
	       !pthread_create(&helper[helpers], NULL, draw_thread, &d))
		helpers++;
	while (draw_block(&d)) {
		uint64_t drawn = atomic_load(&d.next) * GTU_BLOCK;

		if (gtu_tick(progress, "drawing edges", drawn < m ? drawn : m, m)) {
			atomic_store(&d.stop, true);
			rc = gtu_fail(err, GTU_ERR_INTERRUPTED, "generating was stopped");
			break;
		}
	}
	while (helpers)
		pthread_join(helper[--helpers], NULL);
	l->m = m;
	return rc;
}

static void swap_edges(struct gtu_edge_list *l, uint64_t a, uint64_t b)
{
	uint64_t u = gtu_get(l->src, l->id_bytes, a), v = gtu_get(l->dst, l->id_bytes, a);
	size_t wb = gtu_weight_bytes(l->weight_type);

	gtu_put(l->src, l->id_bytes, a, gtu_get(l->src, l->id_bytes, b));
	gtu_put(l->dst, l->id_bytes, a, gtu_get(l->dst, l->id_bytes, b));
	gtu_put(l->src, l->id_bytes, b, u);
	gtu_put(l->dst, l->id_bytes, b, v);
	if (wb) {
		uint64_t w = gtu_get(l->weight, (uint32_t)wb, a);

		gtu_put(l->weight, (uint32_t)wb, a, gtu_get(l->weight, (uint32_t)wb, b));
		gtu_put(l->weight, (uint32_t)wb, b, w);
	}
}

/*
 * Shuffle the edges; move those that join two components (Kruskal's algorithm with random weights)
 * to the front; truncate after m edges.
 */
int gtu_sparsify(struct gtu_edge_list *l, uint64_t n, uint64_t m, uint64_t seed,
		   const struct gtu_progress *progress, struct gtu_error *err)
{
	uint64_t state = gtu_rand_stream(seed, 0x7417), e, tree = 0, v, *parent;

	if (l->m <= m)
		return 0;
	parent = malloc(n * sizeof(*parent));
	if (!parent)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu vertices",
				(unsigned long long)n);
	for (v = 0; v < n; v++)
		parent[v] = v;
	for (e = l->m; e > 1; e--)
		swap_edges(l, e - 1, gtu_rand_below(&state, e));
	for (e = 0; e < l->m; e++) {
		if (gtu_join(parent, gtu_get(l->src, l->id_bytes, e), gtu_get(l->dst, l->id_bytes, e)))
			swap_edges(l, tree++, e);
		if (e % GTU_TICK_ITEMS == 0 && gtu_tick(progress, "thinning edges", e, l->m)) {
			free(parent);
			return gtu_fail(err, GTU_ERR_INTERRUPTED, "generating was stopped");
		}
	}
	free(parent);
	l->m = m > tree ? m : tree;
	return 0;
}
