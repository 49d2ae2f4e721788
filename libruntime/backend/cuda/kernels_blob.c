// SPDX-License-Identifier: MIT
/* Embeds the kernels compiled by nvcc; empty if built without nvcc. */
#include "api.h"

#ifdef GTU_CUDA_FATBIN
__asm__(".section .rodata\n"
	".balign 64\n"
	".globl gtu_cuda_kernels\n"
	".hidden gtu_cuda_kernels\n"
	".type gtu_cuda_kernels, @object\n"
	"gtu_cuda_kernels:\n"
	".incbin \"" GTU_CUDA_FATBIN "\"\n"
	"gtu_cuda_kernels_end:\n"
	".byte 0\n"
	".balign 8\n"
	".globl gtu_cuda_kernels_bytes\n"
	".hidden gtu_cuda_kernels_bytes\n"
	".type gtu_cuda_kernels_bytes, @object\n"
	"gtu_cuda_kernels_bytes:\n"
	".quad gtu_cuda_kernels_end - gtu_cuda_kernels\n"
	".previous\n");
const int gtu_cuda_kernels_major = GTU_CUDA_MAJOR;
#else
const unsigned char gtu_cuda_kernels[1];
const size_t gtu_cuda_kernels_bytes;
const int gtu_cuda_kernels_major;
#endif
