/* SPDX-License-Identifier: MIT */
/*
 * Runs the user functions of gtu/weave.h on a simulated GPU, under every mapping of edges to lanes:
 * the same functions, from one source, that gtu_weave() runs in process.
 *
 * A lane calls a function as a whole; the accesses that it has reported (gtu_weave_access()) are then
 * issued by the warp, the k-th accesses of the lanes together if they are of one kind and array. An
 * access counts as three instructions, two of them for its address. Other arithmetic of the functions
 * is not counted, and accesses that they do not report are not simulated.
 *
 * A storage becomes a table of entries and a list of edges in the simulated memory, whatever its
 * format in the caller's.
 */
#ifndef GTU_LAB_WEAVE_H
#define GTU_LAB_WEAVE_H

#include "gtu/weave.h"
#include "wvr_graph.h"

/* An array of the program; aligned to 8 bytes. */
struct lab_weave_array {
	const char *name;
	void *data;
	uint64_t bytes;			/* a multiple of 8 */
};
#define LAB_WEAVE_ARRAYS 8u

struct lab_weave_config {
	enum lab_wvr_mapping mapping;	/* below LAB_WVR_MAPPINGS */
	const struct gtu_weave_storage *storage;
	const struct gtu_weave_functions *functions;
	void *context;
	uint32_t iterations;		/* most; 0: until apply() returns true for no vertex */
	bool weights;			/* load them: gather() gets 1 otherwise */
	struct lab_weave_array array[LAB_WEAVE_ARRAYS]; /* those that the functions report accesses to */
	unsigned arrays;
	struct wvr_shape shape;
	uint32_t eghw_requests;
};

struct lab_weave_report {
	struct lab_stats stats;
	struct lab_weaver_counts weaver;
	uint64_t cycles;		/* without launch latencies */
	uint64_t iterations;
	uint64_t accesses;		/* reported by the functions, by lanes */
};

/* Errors: GTU_ERR_USAGE, an access outside the arrays is GTU_ERR_FAIL; those of the storage and of lab_run(). */
int lab_weave_run(const struct lab_machine *m, const struct lab_weave_config *config, const struct gtu_progress *progress,
		  struct lab_weave_report *report, struct gtu_error *err);

#endif
