/* SPDX-License-Identifier: MIT */
/*
 * The model's streams consumed by a kernel: a ring in pinned memory, a region of the model and of
 * the GPU. On a GPU with GTU_TEST_GPU=1, otherwise with the kernel as CPU code.
 */
#ifndef GTU_TEST_STREAMS_BED_H
#define GTU_TEST_STREAMS_BED_H

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "libruntime/backend/cuda/gpu.h"
#include "libruntime/device/queue.h"
#include "tests/fake/built.h"
#include "tests/unit/library.h"

/* as in gtu/warp_records.cuh, which is CUDA C++ */
struct records {
	uint64_t ring;
	uint32_t count, stride;
	uint64_t ticket, kick, stop;
	uint32_t demand, back, back_bytes;
};

#define ROOM		(1u << 16)	/* pairs */
#define RING_BYTES	(1u << 20)
#define FLAGS_AT	(2 * RING_BYTES - 4096)
#define TIMEOUT_MS		60000u		/* timeout in milliseconds */

static struct {
	struct cuda_api api;
	CUmodule module;
	struct gtu_device *model;
	struct gtu_queue *q;
	struct gtu_region region;
	char *host;			/* pinned: the ring, inputs, a page of flags */
	CUdeviceptr device, out, words;
	unsigned blocks;
} b;

#define CU(call)                                                                                   \
	do {                                                                                       \
		CUresult rc_ = (call);                                                             \
		CHECKF(!rc_, "%s: %d", #call, rc_);                                                \
	} while (0)

static void *slurp(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *all = calloc(1, 8 << 20);

	if (f && fread(all, 1, 8 << 20, f) < 64)
		CHECKF(false, "%s is not a module", path);
	if (f)
		fclose(f);
	return all;
}

/* Open both devices and load build/tests/@module.fatbin. */
static void open_both(const char *module)
{
	const char *root = getenv("GTU_ROOT"), *gpu = getenv("GTU_TEST_GPU");
	char path[512];
	CUcontext context;
	void *image;

	root = root ? root : ".";
	if (b.module)
		return;
	if (gpu && gtu_cuda_load(&b.api, NULL, 1, &err))
		SKIP("%s", err.text);
	CHECKF(gpu || !gtu_cuda_load(&b.api, simulated_gpu(), 0, &err), "%s", err.text);
	b.blocks = gpu ? 8 : 1;
	CU(b.api.cuDevicePrimaryCtxRetain(&context, 0));
	CU(b.api.cuCtxPushCurrent_v2(context));
	snprintf(path, sizeof(path), "%s/build/tests/%s.fatbin", root, module);
	image = slurp(path);
	CU(b.api.cuModuleLoadData(&b.module, image));
	free(image);
	CU(b.api.cuMemHostAlloc((void **)&b.host, 2 * RING_BYTES + 8192,
				CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
	CU(b.api.cuMemHostGetDevicePointer_v2(&b.device, b.host, 0));
	/* host and device addresses have the same page alignment */
	b.device += -(uintptr_t)b.host & 4095;
	b.host += -(uintptr_t)b.host & 4095;
	CU(b.api.cuMemAlloc_v2(&b.out, 16 * ROOM));
	CU(b.api.cuMemAlloc_v2(&b.words, 4 * (ROOM + 64)));
	OK(gtu_open("model", &b.model, &err));
	OK(gtu_queue_create(b.model, NULL, &b.q, &err));
	OK(gtu_region_add(b.model, b.host, 2 * RING_BYTES, GTU_READ | GTU_WRITE, &b.region, &err));
}

static struct gtu_completion cpl;

/*
 * The host's part while a kernel runs: submit the job, wait for its completion, which also drives
 * the model, and kick the stream. A failed job writes no more records and never sets `ended`; a job
 * without progress would hang. Both stop the kernel.
 */
static struct serving {
	const struct gtu_hw_desc *desc;	/* NULL: no producer */
	const uint32_t *start;		/* submit when this is set; NULL: at once */
	unsigned rings;			/* at the start of the region, @stride apart */
	uint32_t stride;
	void (*end)(void);		/* called after the kernel, before the job ends; or NULL */
} serving;

static bool waiting(void)
{
	for (unsigned i = 0; i < serving.rings; i++) {
		const struct gtu_hw_ring *ring = (void *)(b.host + (size_t)i * serving.stride);

		if (__atomic_load_n(&ring->waiting, __ATOMIC_ACQUIRE))
			return true;
	}
	return false;
}

static void *serve(void *arg)
{
	unsigned ms = 0;
	int rc = GTU_ERR_TIMEOUT;

	(void)arg;
	for (; serving.start && !__atomic_load_n(serving.start, __ATOMIC_ACQUIRE) && ms < TIMEOUT_MS; ms++)
		usleep(1000);
	if (serving.start)
		rc = gtu_submit(b.q, serving.desc, NULL, &err) ? GTU_ERR_FAIL : GTU_ERR_TIMEOUT;
	for (; rc == GTU_ERR_TIMEOUT && ms < TIMEOUT_MS; ms++) {
		if (waiting())
			gtu_stream_notify(b.q);
		rc = gtu_next(b.q, 1000000, &cpl, &err);
	}
	if (rc || cpl.status) {
		cpl.status = rc ? GTU_CPL_COUNT : cpl.status;
		__atomic_store_n((uint32_t *)(b.host + FLAGS_AT), 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Run @kernel in blocks of 256 threads while the host serves; its stream's rings are cleared. */
static void launch(const char *kernel, void **args, struct serving s)
{
	CUfunction f;
	pthread_t server;

	serving = s;
	cpl.status = 0;
	for (unsigned i = 0; i < s.rings; i++)
		memset(b.host + (size_t)i * s.stride, 0, sizeof(struct gtu_hw_ring));
	CU(b.api.cuModuleGetFunction(&f, b.module, kernel));
	if (s.desc && !s.start)
		OK(gtu_submit(b.q, s.desc, NULL, &err));
	if (s.desc)
		CHECK(!pthread_create(&server, NULL, serve, NULL));
	CU(b.api.cuLaunchKernel(f, b.blocks, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
	CU(b.api.cuStreamSynchronize(NULL));
	if (s.end)
		s.end();
	if (s.desc)
		pthread_join(server, NULL);
	if (s.desc && cpl.status)
		gtu_completion_error(s.desc, &cpl, &err);
	CHECKF(!cpl.status, "%s", err.text);
}

#endif
