// SPDX-License-Identifier: MIT
/*
 * The kernels of the GPU backend as CPU code (tests/fake/cuda_cpu.h) against the reference: all of test_gpu.c where
 * there is no GPU. What blocks do at the same time is not seen this way.
 */
#define ON_CPU
#include "test_gpu.c"
