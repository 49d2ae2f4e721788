// SPDX-License-Identifier: MIT
/* The kernels of tests/cuda/weave_programs.h. */
#include "gtu/weave.cuh"
#include "tests/cuda/weave_programs.h"

GTU_WEAVE_KERNELS(bfs, bfs_init, bfs_old, bfs_reached, bfs_gather, bfs_apply)
GTU_WEAVE_KERNELS(sssp, sssp_init, sssp_sleeps, gtu_weave_no_filter, sssp_gather, sssp_apply)
GTU_WEAVE_KERNELS(sum, sum_init, gtu_weave_no_filter, gtu_weave_no_filter, sum_gather, sum_apply)
