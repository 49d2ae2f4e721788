/* SPDX-License-Identifier: MIT */
/* `gtu run` as one of several processes that mpirun started. */
#ifndef GTU_RUN_RANKS_H
#define GTU_RUN_RANKS_H

#include "run.h"

/* Whether a launcher of MPI has started this process and others; *rank: its number. */
bool run_has_launcher(uint64_t *rank);

/*
 * Load libgtu-mpi.so and open the device as this process's rank: sets r->ranks and r->dev. @rc: of what this rank did
 * before, as for run_ranks_agree(). Collective, as the other functions; those do nothing without r->ranks. Call
 * run_ranks_end() in any case.
 */
int run_ranks_begin(struct run *r, int rc, struct gtu_error *err);
/* End the exchange, or all processes if they are no longer in the same step. */
void run_ranks_end(struct run *r, int code);

/* The code of a rank that failed, with its sentence, or 0 if @rc is 0 on all ranks. */
int run_ranks_agree(struct run *r, int rc, struct gtu_error *err);
/* *v = the vertex with the greatest @degree of all ranks, the lowest if there are several. */
int run_ranks_choose(struct run *r, uint64_t degree, uint64_t *v, struct gtu_error *err);
/* r->result = the values of all vertices on rank 0, and r->first and r->end all vertices. */
int run_ranks_gather(struct run *r, struct gtu_error *err);
/* Write the values of this rank's vertices to a file in the folder r->parts. */
int run_ranks_write(struct run *r, struct gtu_error *err);

/* Whether this process prints and writes results. */
static inline bool run_is_first(const struct run *r)
{
	return !r->ranks || !r->ranks->rank;
}

#endif
