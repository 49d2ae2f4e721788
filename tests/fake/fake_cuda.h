/* SPDX-License-Identifier: MIT */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include "libruntime/backend/cuda/api.h"

/* Configuration and record of the fake CUDA driver in libcuda.c. */
struct fake_cuda {
	int init, version, devices, compute_major, managed, registered, readonly;
	int no_peers;			/* the devices cannot access each other's memory */
	int no_peer_atomics;		/* and cannot change it by atomic operations */
	int peer_loads;			/* kernels may use the memory of peers that their device has enabled */
	size_t free_bytes;
	int l2_bytes;
	unsigned register_needs;	/* flags that a registration must have to succeed */
	long fail_at;			/* the call that fails, counted from 1; releases never fail */
	CUresult failure;
	size_t refuse_above;		/* allocations and registrations of so many bytes are refused; 0: none is */
	unsigned refusals;		/* so many times */
	const char *watch;		/* NULL, or a part of the names of kernels, whose lookups are counted */
	long watched;
	/* recorded calls */
	long calls, live, contexts, pushed, launches;
	size_t most_managed;
	unsigned advised, register_flags;
	const char *failed;		/* name of the failed call */
};

/* The device of the calling thread. */
int fake_cuda_device(void);
/* Copy between devices; memory of another one ends the program. */
void fake_cuda_copy(CUdeviceptr to, int to_device, CUdeviceptr from, int from_device, size_t bytes);

#endif
