/* SPDX-License-Identifier: MIT */
/* Where the libraries that stand for CUDA's, NCCL and NVRTC are. */
#ifndef GTU_FAKE_BUILT_H
#define GTU_FAKE_BUILT_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/test.h"

/* The path of one, valid until the next call. */
static inline const char *fake_built(const char *name)
{
	static char path[512];
	const char *root = getenv("GTU_ROOT");

	snprintf(path, sizeof(path), "%s/build/tests/fake/%s", root ? root : ".", name);
	return path;
}

/* The path of the simulated GPU. Skips the test if it was not built. */
static inline const char *simulated_gpu(void)
{
	const char *path = fake_built("libcuda-cpu.so.1");

	if (access(path, F_OK))
		SKIP("%s was not built: there is no C++ compiler", path);
	return path;
}

#endif
