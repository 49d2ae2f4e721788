/* SPDX-License-Identifier: MIT */
/* Whole algorithms over several ranks (gtu/ranks.h). */
#ifndef GTU_RANKED_H
#define GTU_RANKED_H

#include "gtu/gtu.h"

enum gtu_ranked_algorithm {
	GTU_RANKED_BFS, GTU_RANKED_SSSP, GTU_RANKED_PAGERANK, GTU_RANKED_COMPONENTS, GTU_RANKED_BETWEENNESS,
	GTU_RANKED_CORES, GTU_RANKED_LABELS, GTU_RANKED_COLORING, GTU_RANKED_GCN, GTU_RANKED_STCON,
	GTU_RANKED_ALGORITHMS
};

/* Whether @dev (may be NULL) is a list of devices or of gtu_open_ranks(). (ranks/device.c) */
bool gtu_has_ranks(const struct gtu_device *dev);

/* GTU_ERR_UNSUPPORTED: @name is an algorithm that cannot run over the ranks of @dev. */
int gtu_refuse_over_ranks(const struct gtu_device *dev, const char *name, struct gtu_error *err);

/* Run algorithm @what; @result: the array of the library's function, such as gtu_bfs(). (ranks/run.c) */
int gtu_run_ranked(struct gtu_device *dev, const struct gtu_graph *g, enum gtu_ranked_algorithm what,
		   const struct gtu_algorithm_options *opt, void *result, struct gtu_algorithm_stats *stats,
		   struct gtu_error *err);

/* One rank's run on a device that runs whole algorithms (struct gtu_traversal_ops). */
struct gtu_exchange;
struct gtu_rank_run {
	struct gtu_exchange *x;
	const struct gtu_graph *graph;		/* the whole one; the edges of this rank's vertices may be read */
	const uint64_t *cut;			/* rank r owns the vertices from cut[r] up to cut[r + 1] */
	enum gtu_ranked_algorithm what;
	const struct gtu_algorithm_options *opt;
	void *result;				/* of this rank's vertices */
	struct gtu_algorithm_stats *stats;	/* may be NULL */
};

/* gtu_placement_create() and gtu_placement_destroy() of a list, or of this process's rank. (ranks/traversal.c) */
struct gtu_placement_options;
int gtu_ranks_place(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_placement_options *opt,
		    struct gtu_error *err);
void gtu_ranks_unplace(struct gtu_device *dev);

#endif
