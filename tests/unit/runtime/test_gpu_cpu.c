// SPDX-License-Identifier: MIT
/*
 * The GPU kernels as CPU code (tests/fake/cuda_cpu.h) compared with the reference: all of
 * test_gpu.c without a GPU. Races between concurrent blocks are not covered.
 */
#define ON_CPU
#include "test_gpu.c"
