/* SPDX-License-Identifier: MIT */
/*
 * In place of the kernels that nvcc compiled: the simulated GPU has its own and does not look at these.
 * With this, a program linked with libgtu.a tests them on machines without nvcc, too.
 */
#ifndef TESTS_FAKE_CPU_KERNELS_H
#define TESTS_FAKE_CPU_KERNELS_H

#include "libruntime/backend/cuda/api.h"

const unsigned char gtu_cuda_kernels[1];
const size_t gtu_cuda_kernels_bytes = 1;
const int gtu_cuda_kernels_major = 12;

#endif
