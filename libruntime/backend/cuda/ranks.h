/* SPDX-License-Identifier: MIT */
/*
 * GPUs as ranks: each holds the edges of its own vertices, in a graph with the numbers of the whole one
 * (libruntime/ranks/traversal.c), and exchanges what it finds between the cards' memories.
 */
#ifndef GTU_CUDA_RANKS_H
#define GTU_CUDA_RANKS_H

#include "gpu.h"
#include "libruntime/ranks/exchange.h"
#include "libruntime/support/ranked.h"

/* How the memories of the ranks' cards exchange data; agreed on in the first run, and kept. */
struct gpu_link;

struct gpu_ranks {
	struct gpu_run r;
	struct gtu_device *dev;
	const struct gtu_rank_run *run;
	struct gtu_algorithm_options opt;	/* of r */
	struct gtu_exchange *x;
	struct gpu_link *link;
	uint32_t rank, size;
	uint64_t first, end, own;		/* this rank's vertices, and their number */
	const uint64_t *cut;
	/* arrays over the ranks: */
	uint64_t *section;			/* the first element of each section of an outbox (kernels/ranks.cuh) */
	uint64_t *count;			/* elements in them, after gpu_ranks_counts() */
	uint64_t *outgoing, *incoming;		/* words of gtu_exchange_words() */
	uint64_t *send_bytes, *receive_bytes;
	CUdeviceptr *send, *receive;
	CUdeviceptr cuts, sent;			/* GPU memory: cut[] and section[], the counts */
	struct gpu_memory inbox;
};

typedef int gpu_ranked_fn(struct gpu_ranks *k);
gpu_ranked_fn gpu_ranked_bfs, gpu_ranked_sssp, gpu_ranked_pagerank, gpu_ranked_components, gpu_ranked_betweenness,
	gpu_ranked_cores, gpu_ranked_labels, gpu_ranked_coloring, gpu_ranked_convolution, gpu_ranked_stcon;

/* Run an algorithm as one rank: struct gtu_traversal_ops.ranked. */
int gpu_ranked(struct gtu_device *dev, const struct gtu_rank_run *run);

/* Elements of an outbox. */
uint64_t gpu_ranks_outbox(const struct gpu_ranks *k);
/* Bytes of a queue for the work items of this rank's vertices. */
uint64_t gpu_ranks_queue_bytes(const struct gpu_ranks *k);
/* Clear the counters and the counts of elements sent; read the counts into k->count. */
int gpu_ranks_clear(struct gpu_ranks *k);
int gpu_ranks_counts(struct gpu_ranks *k);
/* gtu_exchange_words() of k->outgoing and k->incoming, numbers up to @most beside the bits of @flags. */
int gpu_ranks_words(struct gpu_ranks *k, uint64_t flags, uint64_t most, int rc);
/* GTU_ERR_FAIL if a kernel found a bad number in a message, after gpu_run_read(). */
int gpu_ranks_check(struct gpu_ranks *k);
int gpu_ranks_bad_message(struct gpu_ranks *k);

static inline uint64_t gpu_ranks_range(const struct gpu_ranks *k, uint32_t rank)
{
	return k->cut[rank + 1] - k->cut[rank];
}

static inline uint64_t gpu_round_up(uint64_t bytes)
{
	return (bytes + 15) & ~15ull;
}

/* Bytes of a bitmap of the vertices of @rank. */
static inline uint64_t gpu_ranks_bitmap(const struct gpu_ranks *k, uint32_t rank)
{
	return gpu_round_up((gpu_ranks_range(k, rank) + 7) / 8);
}

/* ---- ranks_push.c: levels of a search from its frontier, for bfs and stcon ------------------------ */

struct gpu_push {
	CUdeviceptr level;		/* of own vertices; 0: none */
	CUdeviceptr visited;		/* bits of all vertices */
	CUdeviceptr queue[2];
	CUdeviceptr outbox, bitmaps;	/* 4 bytes for each element of an outbox; gpu_push_bitmaps() */
	uint64_t items;			/* in queue[0] */
	bool have_queue;		/* else it is made from the bits of the frontier, if they are here, or from the levels */
	CUdeviceptr bits;		/* of own vertices in the frontier; 0: unknown */
	uint32_t now;			/* the level of the frontier; the caller counts it up */
};

/* Bytes of a bitmap of all vertices, and of those of each rank's vertices. */
uint64_t gpu_push_bits(const struct gpu_ranks *k);
uint64_t gpu_push_bitmaps(const struct gpu_ranks *k);
/*
 * Reach @source alone, at level 0, in memory that the caller has allocated; with @skip, own vertices without edges count
 * as visited.
 */
int gpu_push_begin(struct gpu_ranks *k, struct gpu_push *p, uint64_t source, uint32_t skip);
/* Make p->queue[0] unless it is there. */
int gpu_push_collect(struct gpu_ranks *k, struct gpu_push *p);
/* Settle the next level; the counters have its vertices of this rank, and the sum of their degrees. Collective. */
int gpu_push(struct gpu_ranks *k, struct gpu_push *p);

/* ---- ranks_run.c: bitmaps of all vertices, in which each rank sets the bits of its own -------------- */

struct gpu_bits {
	CUdeviceptr bits;		/* of this rank: one bitmap, or several behind each other */
	CUdeviceptr all, at;		/* those of the other ranks; the addresses of the ranks' first words */
	uint64_t stride;		/* of the bitmaps in `all` */
	bool shared;			/* `at` has addresses on the other cards */
};

/* Allocate @count bitmaps until the run's end. */
int gpu_bits_begin(struct gpu_ranks *k, struct gpu_bits *b, uint32_t count);
/* Bytes of the words with the bits of the vertices of @rank, and the address of the first of them in @bits. */
uint64_t gpu_bits_bytes(const struct gpu_ranks *k, uint32_t rank);
CUdeviceptr gpu_bits_word(const struct gpu_ranks *k, CUdeviceptr bits, uint32_t rank);
/* Clear the words of own vertices. */
int gpu_bits_clear(struct gpu_ranks *k, const struct gpu_bits *b, uint32_t which);
/* The address of bitmap @which of this rank, by the vertices' numbers. */
CUdeviceptr gpu_bits_at(const struct gpu_ranks *k, const struct gpu_bits *b, uint32_t which);
/*
 * @all = the bits of all ranks in their bitmaps @which, unless @all is 0; they join @also. All ranks have agreed since they
 * set them, and do so again before one changes them. Collective.
 */
int gpu_bits_join(struct gpu_ranks *k, struct gpu_bits *b, uint32_t which, CUdeviceptr all, CUdeviceptr also);

/* ---- ranks_run.c: loops over small frontiers, which the card of rank 0 runs over the memories of all -- */

struct gpu_cards {
	bool usable;			/* that card reaches the others' memory, and all lists are there, in one format */
	CUdeviceptr list;		/* the lowest address of a list: positions in all of them count from there */
	CUdeviceptr cards;		/* struct gpu_card of each rank */
	CUdeviceptr queue;		/* of rank 0: memory for the items that a loop begins with, */
	CUdeviceptr space, log;		/* and what bfs_levels() needs */
};

/*
 * Tell the others where this rank's lists are, and its arrays @first and @second by the vertices' numbers. @levels: allocate
 * what a search by levels needs. Collective.
 */
int gpu_cards_begin(struct gpu_ranks *k, struct gpu_cards *c, CUdeviceptr first, CUdeviceptr second, bool levels);
/*
 * Rank 0 gets @count elements of @bytes at @from of each rank, one behind another, at @to, where those of its own may be
 * already; @all: their number. The others' stay until all ranks agree again. @rc: a code of this rank before. Collective.
 */
int gpu_cards_gather(struct gpu_ranks *k, int rc, CUdeviceptr from, uint64_t count, uint32_t bytes, CUdeviceptr to, uint64_t *all);
/* On rank 0, which has the rows of the other cards as c->cards: run a loop, and read its counters. */
int gpu_cards_loop(struct gpu_ranks *k, const struct gpu_cards *c, const char *kernel, const char *suffix, void **args);
/* Agree on the code @rc, and then @bytes at @data are those of rank 0. Collective. */
int gpu_cards_result(struct gpu_ranks *k, int rc, void *data, uint64_t bytes);

/* ---- ranks_bfs.c ------------------------------------------------------------------------------------ */

/* The vertices of an undirected graph that a search has reached. */
struct gpu_reached {
	CUdeviceptr visited;		/* bits of the own vertices that were reached, and of those without edges */
	uint64_t vertices, connected;	/* of all ranks: reached, of those with edges */
	/* free to use: memory for the items of own vertices, and two bitmaps */
	CUdeviceptr queue;
	struct gpu_bits bits;
};

/*
 * Search an undirected graph from its busiest vertex until few vertices are left, or the frontier is small and does not
 * grow. Collective.
 */
int gpu_ranks_component(struct gpu_ranks *k, struct gpu_reached *found);

/* ---- ranks_link.c ------------------------------------------------------------------------------- */

/* Agree on a way to exchange. Collective. */
int gpu_link_open(struct gpu_ranks *k);
void gpu_link_close(struct gpu *gpu);
/* The means of exchange, a sentence; NULL: nothing was agreed on. */
const char *gpu_link_name(const struct gtu_device *dev);
/* Whether there is a link, and the caller wants that way. */
bool gpu_link_is(const struct gpu *gpu, enum gtu_ranks_exchange wanted);
/*
 * Send k->send_bytes[r] bytes at k->send[r] to each other rank, and receive k->receive_bytes[r] at k->receive[r], in
 * GPU memory. With @into_inbox, k->receive[] is set to the inbox, which grows, or to the memory of other cards: call
 * gpu_link_release() when kernels have read it. Collective; all ranks have agreed to call it, and a failure ends the exchange.
 * The time is that of phase "exchange".
 */
int gpu_link_exchange(struct gpu_ranks *k, enum gtu_cargo cargo, bool into_inbox);
/* The same for k->outgoing[r] and k->incoming[r] elements of @bytes. */
int gpu_link_exchange_elements(struct gpu_ranks *k, uint64_t bytes, bool into_inbox);
/* All ranks get the values of all: @width bytes for each vertex, at @values. */
int gpu_link_gather_values(struct gpu_ranks *k, CUdeviceptr values, uint64_t width);
/* The kernels that read k->receive[] have ended, with the code @rc of this rank. Collective. */
int gpu_link_release(struct gpu_ranks *k, int rc);
/* Whether kernels may read the memory of the other ranks' cards, and the address of @mine of each rank. Collective. */
bool gpu_link_loads(const struct gpu_ranks *k);
/* Whether this rank's kernels may also change that memory by atomic operations. */
bool gpu_link_writes(const struct gpu_ranks *k);
int gpu_link_addresses(struct gpu_ranks *k, CUdeviceptr mine, CUdeviceptr *all);
/* @all + r * @stride = the @bytes[r] bytes at @mine of rank r; @stride is the largest of @bytes. */
int gpu_link_gather(struct gpu_ranks *k, enum gtu_cargo cargo, CUdeviceptr mine, const uint64_t *bytes, uint64_t stride,
		    CUdeviceptr all);

#endif
