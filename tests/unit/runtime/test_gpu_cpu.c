// SPDX-License-Identifier: MIT
/*
 * The GPU kernels as CPU code (tests/fake/cuda_cpu.h) compared with the reference: all of
 * test_gpu.c without a GPU.
 */
#define ON_CPU
#include "tests/fake/cpu_kernels.h"
#include "test_gpu.c"
