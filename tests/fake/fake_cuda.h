/* SPDX-License-Identifier: MIT */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include "libruntime/backend/cuda/api.h"

/* What the driver of libcuda.c is like, and what was asked of it. */
struct fake_cuda {
	int init, version, devices, compute_major, managed, registered, readonly;
	size_t free_bytes;
	unsigned register_needs;	/* flags without which registering fails */
	long fail_at;			/* this call fails, counted from 1; releasing never does */
	CUresult failure;
	/* seen */
	long calls, live, contexts, pushed, launches;
	size_t most_managed;
	unsigned advised, register_flags;
	const char *failed;		/* the call that did */
};

#endif
