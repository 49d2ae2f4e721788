/* SPDX-License-Identifier: MIT */
/*
 * The command line of `gtu run` (cmd_run.c) with the graph, weights and sources selected by it
 * (run_graph.c).
 */
#ifndef GTU_RUN_REQUEST_H
#define GTU_RUN_REQUEST_H

#include "run.h"
#include "tools/support/host.h"

struct request {
	struct run run;
	struct gtu_graph *graph;	/* as opened */
	uint32_t *random_weights;
	enum { W_FILE, W_COLUMN, W_UNIT, W_RANDOM } weights;
	uint64_t weight_column, seed;
	uint32_t direction;
	const char *source;		/* of --source: ids or names, separated by commas; or NULL */
	uint64_t source_count;
	uint64_t sources, sources_seed;	/* to draw; 0: all */
	bool sources_given;
	const char *target;		/* of --target: an id or a name; or NULL */
	bool names, verify;
	uint64_t *source_list;		/* vertices */
	char sources_text[64];
	double timeout;			/* seconds; 0: no timeout */
	char weights_text[64];
};

/* Open q->run.graph and select weights, sources and target. The caller frees the memory in @q. */
int run_open_graph(struct request *q, struct gtu_error *err);

#endif
