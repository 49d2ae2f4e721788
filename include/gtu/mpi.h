/* SPDX-License-Identifier: MIT */
/*
 * Ranks over MPI: the functions of gtu/ranks.h in libgtu-mpi.so, which links MPI and not libgtu. A
 * program links it, or loads it when a launcher such as mpirun has started the program.
 */
#ifndef GTU_MPI_H
#define GTU_MPI_H

#include "gtu/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Set *ranks to the processes of MPI_COMM_WORLD, for gtu_open_ranks(). Initializes MPI if the program
 * has not. Collective. With MPI_THREAD_MULTIPLE every process watches one other and itself: a process
 * that does not answer for 6 seconds (times the environment variable GTU_TIME_SCALE), because it is
 * stopped or its host is down, or whose run makes no progress for so long, because of an endless loop
 * or a function of gtu_algorithm_options that does not return, ends all processes with a sentence that
 * names it.
 */
int gtu_mpi_open(struct gtu_ranks *ranks, struct gtu_error *err);

/*
 * Collective, after gtu_close(). Finalizes MPI if gtu_mpi_open() initialized it. If a function of @ranks
 * has failed, so that processes are no longer in the same step, end all processes with exit code
 * @code instead.
 */
void gtu_mpi_close(struct gtu_ranks *ranks, int code);

#ifdef __cplusplus
}
#endif
#endif
