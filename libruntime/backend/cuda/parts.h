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
 * a list of @list lines, with entries of @width bytes.
 */
static inline double gpu_lines_to_hit(double width, double part, double list)
{
	return fmin(list, fmax(1, width / (part * LINE)));
}

/* Costs of lists on the card, in bytes of its memory: measured on an H100, where a byte takes 0.3 ps */
#define CARD_WORD	16.0		/* a vertex in a pass over all */
#define CARD_SEARCH	50.0		/* an unvisited vertex bottom-up, and each LANE_ENTRIES of its list */
#define CARD_VERTEX	200.0		/* a frontier's vertex top-down */
#define CARD_EDGE	250.0		/* an edge top-down, with random accesses */

/* Of a bottom-up level over @n vertices with lists of @list entries, when @part of all edges leave the frontier. */
static inline double gpu_pull_cost_on_card(double n, double unvisited, double part, double list)
{
	return n * CARD_WORD + unvisited * CARD_SEARCH * (1 + fmin(list, 1 / fmax(part, 1e-9)) / 4);
}

/* Of a top-down level; @collected: vertices among which the frontier must be collected before. */
static inline double gpu_push_cost_on_card(double frontier, double edges, double collected)
{
	return frontier * CARD_VERTEX + edges * CARD_EDGE + collected * 2 * CARD_WORD;
}

/*
 * Widen the levels of @n vertices into @result, and count those reached and their edges in r->stats; @row: the row of
 * the first.
 */
int gpu_bfs_result(struct gpu_run *r, CUdeviceptr level, const uint64_t *row, uint64_t n, uint64_t *result);

/* ---- sssp.c --------------------------------------------------------------------------------------- */

struct gpu_distances {
	enum distance_type type;
	uint32_t width;			/* bytes of a distance */
	double delta;			/* width of a bucket */
	char kernel[24];		/* suffix: "_u32_separate" */
};

/* GTU_ERR_INPUT for a bad weight, whose edge has the number @base + its own; GTU_ERR_USAGE for a bad width of buckets. */
int gpu_sssp_check(const struct gpu_run *r, uint64_t base);
/* Choose for a graph of @n vertices, @m edges and these weights; a width of buckets that the caller gives stays. */
void gpu_sssp_choose(struct gpu_distances *d, const struct gpu_run *r, uint64_t n, uint64_t m, double least, double most,
		     double mean);
/* As gpu_bfs_result(). */
int gpu_sssp_result(struct gpu_run *r, const struct gpu_distances *d, CUdeviceptr distance, const uint64_t *row, uint64_t n,
		    double *result);

/* ---- components.c --------------------------------------------------------------------------------- */

struct gpu_forest {
	bool in_place;			/* sample the lists, which are on the card, not the cache */
	bool skips;			/* each edge is stored at both ends: skip the lists of the giant component */
	CUdeviceptr label, queue, answer;	/* of all vertices; for all work items of the run; GPU_SAMPLES labels */
	uint32_t giant;			/* a vertex of that component; GPU_NO_VERTEX: no list was skipped */
};

/* Join the ends of the edges of the run's vertices, and flatten the labels of all, which this sets. */
int gpu_components_hook(struct gpu_run *r, struct gpu_forest *f);
/* *giant: the most frequent label among GPU_SAMPLES of the run's vertices, which has some; *votes: its frequency. */
int gpu_components_giant(struct gpu_run *r, const struct gpu_forest *f, uint32_t *giant, uint32_t *votes);
/* Process the lists of the run's vertices of @slice not labeled @giant, and flatten the labels. */
int gpu_components_join(struct gpu_run *r, const struct gpu_forest *f, uint32_t giant, uint32_t slice);
int gpu_components_flatten(struct gpu_run *r, CUdeviceptr label);

/* ---- pagerank.c ----------------------------------------------------------------------------------- */

/* The damping factor and the most iterations of r->opt, with their defaults. */
int gpu_pagerank_parameters(const struct gpu_run *r, double *damping, uint64_t *iterations);

/* ---- paths.c, peel.c ------------------------------------------------------------------------------- */

/* GTU_ERR_USAGE for a count of sources without a list. */
int gpu_betweenness_check(const struct gpu_run *r);
/* GTU_ERR_UNSUPPORTED: an infinite number of paths. */
int gpu_paths_overflow(const struct gpu_run *r, uint64_t source);
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
