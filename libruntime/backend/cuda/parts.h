/* SPDX-License-Identifier: MIT */
/* Parts of the algorithms that runs on one GPU and over several share; each is in the algorithm's own file. */
#ifndef GTU_CUDA_PARTS_H
#define GTU_CUDA_PARTS_H

#include <math.h>

#include "gpu.h"

/* ---- bfs.c ---------------------------------------------------------------------------------------- */

#define LINE		128.0
#define CARD_TO_LINK	0.02		/* cost of a byte of GPU memory, in bytes over the link */

/*
 * Lines that a vertex reads until its first neighbour in the frontier, which @part of all edges leave: of
 * a list of @list lines, with entries of @width bytes. @asking of the vertices do; those that follow each other
 * share a line in pairs.
 */
static inline double gpu_lines_to_hit(double width, double part, double list, double asking)
{
	return fmin(list, fmax(1, width / (part * LINE))) / (1 + fmin(asking, 1));
}

/*
 * A bottom-up step over the lists of those r->counters.left vertices of the queue @left that are not visited, when @part of
 * all edges leave the frontier; @to: frontier's bits, visited, level, next level, bits of the next frontier, NULL. Reads the counters.
 */
int gpu_bfs_search_left(struct gpu_run *r, struct gpu_graph *lists, CUdeviceptr left, double part, void *to[static 6]);

/* Costs of lists on the card, in bytes of its memory: measured on an H100, where a byte takes 0.3 ps, and an H200 */
#define CARD_PASS	4.0		/* a vertex in a pass over all bits */
#define CARD_SEARCH	30.0		/* an unvisited vertex bottom-up, and each entry that it looks at */
#define CARD_VERTEX	200.0		/* a frontier's vertex top-down */
#define CARD_EDGE	250.0		/* an edge top-down, with random accesses */
#define CARD_MARK	66.0		/* an edge of a step that only sets bits */

/* Of a bottom-up step over @n vertices with lists of @list entries, when @part of all edges leave the frontier. */
static inline double gpu_pull_cost(double n, double unvisited, double part, double list)
{
	return n * CARD_PASS + unvisited * CARD_SEARCH * (1 + fmin(list, 1 / fmax(part, 1e-9)));
}

/* Of a top-down step that queues what it reaches, and of one over @n vertices that only sets bits. */
static inline double gpu_queue_cost(double frontier, double edges)
{
	return frontier * CARD_VERTEX + edges * CARD_EDGE;
}

static inline double gpu_mark_cost(double frontier, double edges, double n)
{
	return frontier * CARD_VERTEX + edges * CARD_MARK + n * CARD_PASS;
}

/*
 * Widen the levels of @n vertices into @result, and count those reached and their edges in r->stats; @row: the row of
 * the first.
 */
int gpu_bfs_result(struct gpu_run *r, CUdeviceptr level, const uint64_t *row, uint64_t n, uint64_t *result);

/* A connected set of vertices: their bits, in which vertices without edges are set, too. */
struct gpu_component {
	CUdeviceptr visited, queue;	/* queue: memory for all items, free to use */
	uint64_t vertices;
};

/*
 * Search an undirected graph, whose list is on the card, from its busiest vertex, and stop where the frontier becomes
 * small or does not grow: *found is most of the giant component where paths are short. Begins the phase "traverse".
 */
int gpu_bfs_component(struct gpu_run *r, struct gpu_component *found);

/* ---- sssp.c --------------------------------------------------------------------------------------- */

struct gpu_distances {
	enum distance_type type;
	uint32_t width;			/* bytes of a distance */
	double delta;			/* width of a bucket */
	uint64_t expand_limit;		/* a greater distance plus a weight could overflow */
	char kernel[24];		/* suffix: "_u32_separate" */
};

/* GTU_ERR_INPUT for a bad weight, whose edge has the number @base + its own; GTU_ERR_USAGE for a bad width of buckets. */
int gpu_sssp_check(const struct gpu_run *r, uint64_t base);
/*
 * Choose for a graph of @n vertices, @m edges and these weights; a width of buckets that the caller gives stays. Integer
 * distances have 32 bits where paths are likely to need no more, unless they have been found to be longer (@wide).
 */
void gpu_sssp_choose(struct gpu_distances *d, const struct gpu_run *r, uint64_t n, uint64_t m, double least, double most,
		     double mean, bool wide);
/* Whether vertices due below @bound can be expanded; else the search must start again, @wide. */
static inline bool gpu_sssp_fits(const struct gpu_distances *d, uint64_t bound)
{
	return bound <= d->expand_limit;
}
/* How many steps a loop over few vertices may take from @bound on, up to GPU_LOOP_STEPS; @most: the greatest weight. */
uint32_t gpu_sssp_steps(const struct gpu_distances *d, uint64_t bound, double most);
/* Numbers of one or two bytes of all vertices' distances, of kernels/sssp_final.cuh. */
struct gpu_numbers {
	uint32_t bits;			/* 8 or 16; 0: distances or lists are not such that these kernels serve */
	CUdeviceptr number, open, bucket;
};
/* Choose n->bits by the greatest weight; the caller has checked that lists are plain, and buckets expanded once. */
void gpu_numbers_choose(struct gpu_numbers *n, const struct gpu_distances *d, double most);
/* Allocate them for all vertices, none of which is reached; those without edges are done with if the graph is @undirected. */
int gpu_numbers_begin(struct gpu_run *r, struct gpu_numbers *n, bool undirected);
/* Give @source the distance 0. */
int gpu_numbers_source(struct gpu_run *r, const struct gpu_numbers *n, uint64_t source);
const char *gpu_numbers_suffix(const struct gpu_numbers *n);
/* Whether the vertices that are not final, of @left edges, should pull, instead of the bucket's, of @edges: undirected only. */
bool gpu_numbers_pull(const struct gpu_run *r, uint64_t edges, uint64_t left);
/* Expand a bucket, of which the run's range has @items in @queue; with @pulls by the others, which have at most @left edges. */
int gpu_numbers_expand(struct gpu_run *r, const struct gpu_distances *d, struct gpu_numbers *n, CUdeviceptr queue, uint64_t items,
		       bool pulls, uint64_t left);

/* Buckets of few items: a step over them costs more than reading their lists again, in wider buckets. */
#define SSSP_SMALL	4096u
#define SSSP_WIDER	16

/* Whether a bucket of @items, with @left vertices reached beyond it, is left to the loops for few vertices. */
struct gpu_smalls {
	uint64_t reached, count;	/* as @left of the bucket before; small buckets in a row */
};
bool gpu_smalls(struct gpu_smalls *s, uint64_t items, uint64_t left);

/* As gpu_bfs_result(). */
int gpu_sssp_result(struct gpu_run *r, const struct gpu_distances *d, CUdeviceptr distance, const uint64_t *row, uint64_t n,
		    double *result);

/* ---- components.c --------------------------------------------------------------------------------- */

/* Process the lists of the run's vertices of @slice not labeled @giant, and flatten the labels; or those of @items in @queue. */
int gpu_components_join(struct gpu_run *r, CUdeviceptr label, CUdeviceptr queue, uint32_t giant, uint32_t slice);
int gpu_components_join_items(struct gpu_run *r, CUdeviceptr label, CUdeviceptr queue, uint64_t items);
int gpu_components_flatten(struct gpu_run *r, CUdeviceptr label);
/*
 * Of how many slices of the lists one finds most of the giant component of an undirected graph of @edges stored edges and
 * @connected vertices with edges; GPU_SLICE_ALL: of none.
 */
uint32_t gpu_components_slices(const struct gpu *gpu, uint64_t edges, uint64_t connected);
/* *giant: the most frequent label of GPU_SAMPLES vertices; *votes: how many have it; @samples: memory for their labels. */
int gpu_components_giant(struct gpu_run *r, CUdeviceptr label, CUdeviceptr samples, uint32_t *giant, uint32_t *votes);

/* ---- pagerank.c ----------------------------------------------------------------------------------- */

/* The damping factor and the most iterations of r->opt, with their defaults. */
int gpu_pagerank_parameters(const struct gpu_run *r, double *damping, uint64_t *iterations);

/* ---- paths.c, peel.c ------------------------------------------------------------------------------- */

/* GTU_ERR_USAGE for a count of sources without a list. */
int gpu_betweenness_check(const struct gpu_run *r);
/* GTU_ERR_UNSUPPORTED for a vertex with too many edges. */
int gpu_cores_check(const struct gpu_run *r);
/* Count the neighbours of own vertices into @left, without themselves, and give none a @core; @queue: memory for all items. */
int gpu_cores_begin(struct gpu_run *r, CUdeviceptr left, CUdeviceptr core, CUdeviceptr queue);

/* ---- labels.c -------------------------------------------------------------------------------------- */

struct gpu_labels {
	CUdeviceptr label;		/* of all vertices */
	CUdeviceptr best;		/* counts of own vertices, by the numbers of the whole graph */
	CUdeviceptr few, many, tables;
	uint64_t few_items, many_items, edges;
	uint64_t first, end;		/* vertices whose longer lists are in the queue of those */
};

/* Give all vertices their own labels and queue the lists of own vertices; memory but that of tables is allocated. */
int gpu_labels_begin(struct gpu_run *r, struct gpu_labels *l);
/* Find the next label of each own vertex. */
int gpu_labels_count(struct gpu_run *r, struct gpu_labels *l);
uint64_t gpu_labels_iterations(const struct gtu_algorithm_options *opt);

/* ---- passes.c -------------------------------------------------------------------------------------- */

struct gpu_convolution {
	CUdeviceptr x, y;		/* features, then results; sums: of all vertices */
	CUdeviceptr root, queue;
	uint64_t items;
	uint32_t features;
};

/* Allocate, with @queue bytes for the items of own vertices; make the features of all vertices and the roots of own ones. */
int gpu_convolution_begin(struct gpu_run *r, struct gpu_convolution *c, uint64_t queue);
/* The sums of own vertices; an edge with a bad weight has the number @base + its own. */
int gpu_convolution_sum(struct gpu_run *r, struct gpu_convolution *c, uint64_t base);
/* The results of own vertices, from the sums and roots of all. */
int gpu_convolution_root(struct gpu_run *r, struct gpu_convolution *c);

#endif
