/* SPDX-License-Identifier: MIT */
/* Functions that C code and CUDA kernels share. */
#ifndef GTU_HOST_DEVICE_H
#define GTU_HOST_DEVICE_H

#ifdef __CUDACC__
#define GTU_HOST_DEVICE __host__ __device__ static inline
#else
#define GTU_HOST_DEVICE static inline
#endif

#endif
