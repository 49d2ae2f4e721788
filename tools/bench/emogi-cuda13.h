// SPDX-License-Identifier: MIT
/*
 * Lets nvcc of CUDA 13 compile EMOGI's code (github.com/illinois-impact/EMOGI), which names a device by its number where CUDA 13
 * takes a location. Their code is unchanged:
 *
 *	make NVCCFLAGS="-gencode arch=compute_90,code=sm_90 -include PATH/emogi-cuda13.h"
 */
#include <cuda_runtime.h>

#if CUDART_VERSION >= 13000
static inline cudaError_t advise(const void *at, size_t bytes, cudaMemoryAdvise advice, int device)
{
	cudaMemLocation where = {};

	where.type = cudaMemLocationTypeDevice;
	where.id = device;
	return cudaMemAdvise(at, bytes, advice, where);
}
#define cudaMemAdvise advise
#endif
