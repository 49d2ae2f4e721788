/* SPDX-License-Identifier: MIT */
/* Whole algorithms over several ranks (gtu/ranks.h). */
#ifndef GTU_RANKED_H
#define GTU_RANKED_H

#include "gtu/gtu.h"

enum gtu_ranked_algorithm {
	GTU_RANKED_BFS, GTU_RANKED_SSSP, GTU_RANKED_PAGERANK, GTU_RANKED_COMPONENTS, GTU_RANKED_BETWEENNESS,
	GTU_RANKED_CORES, GTU_RANKED_ALGORITHMS
};

/* Whether @dev (may be NULL) is a list of devices or of gtu_open_ranks(). (ranks/device.c) */
bool gtu_has_ranks(const struct gtu_device *dev);

/* Run algorithm @what; @result: the array of the library's function, such as gtu_bfs(). (ranks/run.c) */
int gtu_run_ranked(struct gtu_device *dev, const struct gtu_graph *g, enum gtu_ranked_algorithm what,
		   const struct gtu_algorithm_options *opt, void *result, struct gtu_algorithm_stats *stats,
		   struct gtu_error *err);

#endif
