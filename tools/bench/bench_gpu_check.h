/* SPDX-License-Identifier: MIT */
/* gtu bench gpu: checks of the result in struct gpu_bench. */
#ifndef GTU_BENCH_GPU_CHECK_H
#define GTU_BENCH_GPU_CHECK_H

#include "bench_gpu.h"

/* Whether the result is that of the first run of this algorithm and source (0: the first). */
bool bench_same_result(struct gpu_bench *b, unsigned algorithm, unsigned source);
int bench_check_reference(struct gpu_bench *b, unsigned algorithm, uint64_t source, struct gtu_error *err);
/* The last run's result is in b->result, and that of PageRank in b->first, too. */
int bench_check_valid(struct gpu_bench *b, unsigned algorithm, uint32_t kernel, uint64_t source, struct gtu_error *err);

#endif
