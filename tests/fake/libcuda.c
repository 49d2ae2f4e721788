// SPDX-License-Identifier: MIT
/*
 * A fake CUDA driver for tests without a GPU: memory is host memory, kernels do nothing, and any call can be made to
 * fail. Tests configure it through `fake_cuda`. With FAKE_CPU, kernels run (kernels_cpu.cpp) and each allocation ends at
 * an inaccessible page.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_cuda.h"

#define RESIDENT	4u		/* blocks on a multiprocessor: CPU_RESIDENT of cuda_cpu.h */
#ifdef FAKE_CPU
#define PROCESSORS	1
#else
#define PROCESSORS	4
#endif

/* the parameters are those of the driver's functions */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#ifdef FAKE_CPU
void *cpu_kernel_find(const char *name);
void cpu_kernel_run(void *kernel, unsigned blocks, unsigned threads, void **params);
void *cpu_variable_find(const char *name, size_t *bytes);

CUresult cuModuleGetGlobal_v2(CUdeviceptr *ptr, size_t *bytes, CUmodule module, const char *name)
{
	(void)module;
	*ptr = (CUdeviceptr)(uintptr_t)cpu_variable_find(name, bytes);
	return *ptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
#endif

struct fake_cuda fake_cuda = { .version = 13000, .devices = 1, .compute_major = 9, .free_bytes = 8ull << 30,
			       .managed = 1, .registered = 1, .readonly = 1 };

/* Count a call; true if it must fail. */
static int fails(const char *name)
{
	if (++fake_cuda.calls != fake_cuda.fail_at)
		return 0;
	fake_cuda.failed = name;
	return 1;
}
#define FAIL()                                                                                     \
	do {                                                                                       \
		if (fails(__func__))                                                               \
			return fake_cuda.failure;                                                  \
	} while (0)

CUresult cuInit(unsigned flags)
{
	return fake_cuda.init;
}

CUresult cuDriverGetVersion(int *version)
{
	*version = fake_cuda.version;
	return CUDA_SUCCESS;
}

#ifndef FAKE_OLD
CUresult cuGetErrorName(CUresult rc, const char **text)
{
	*text = rc == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_FAKE";
	return CUDA_SUCCESS;
}
#endif

CUresult cuGetErrorString(CUresult rc, const char **text)
{
	*text = rc == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : "as the test wanted";
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	*count = fake_cuda.devices;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *dev, int ordinal)
{
	FAIL();
	*dev = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice dev)
{
	FAIL();
	strncpy(name, "Fake GPU", (size_t)size);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice dev)
{
	FAIL();
	switch (attribute) {
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = fake_cuda.compute_major; break;
	case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS: *value = fake_cuda.managed; break;
	case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED: *value = fake_cuda.registered; break;
	case CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED: *value = fake_cuda.readonly; break;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = PROCESSORS; break;
	default: *value = 4;
	}
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	FAIL();
	*bytes = fake_cuda.free_bytes;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
	FAIL();
	*ctx = (CUcontext)&fake_cuda;
	fake_cuda.contexts++;
	return CUDA_SUCCESS;
}

/* All allocations, so that destroying the context can free the rest. */
static struct piece {
	struct piece *next, **link;
	void *map;
	size_t map_bytes;
	long long data[];
} *pieces;

static void free_piece(struct piece *p);

static void release(void *data)
{
	struct piece *p = (struct piece *)((char *)data - offsetof(struct piece, data));

	*p->link = p->next;
	if (p->next)
		p->next->link = p->link;
	free_piece(p);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	if (!--fake_cuda.contexts)
		while (pieces)
			release(pieces->data);
	return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	FAIL();
	fake_cuda.pushed++;
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
	fake_cuda.pushed--;
	return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	FAIL();
	*free_bytes = *total = fake_cuda.free_bytes;
	return CUDA_SUCCESS;
}

#ifdef FAKE_CPU
/* The data ends at the following guard page, except for padding to 16 bytes. */
static struct piece *new_piece(size_t bytes)
{
	size_t data = (bytes + 15) & ~(size_t)15, whole = (sizeof(struct piece) + data + 4095) & ~(size_t)4095;
	char *map = mmap(NULL, whole + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct piece *p;

	if (map == MAP_FAILED)
		return NULL;
	mprotect(map + whole, 4096, PROT_NONE);
	p = (struct piece *)(map + whole - data - sizeof(*p));
	p->map = map;
	p->map_bytes = whole + 4096;
	return p;
}

static void free_piece(struct piece *p)
{
	munmap(p->map, p->map_bytes);
}
#else
static struct piece *new_piece(size_t bytes)
{
	return calloc(1, sizeof(struct piece) + bytes);
}

static void free_piece(struct piece *p)
{
	free(p);
}
#endif

static CUresult allocate(void **ptr, size_t bytes)
{
	struct piece *p;

	if (fake_cuda.refuse_above && bytes >= fake_cuda.refuse_above && fake_cuda.refusals) {
		fake_cuda.refusals--;
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	p = new_piece(bytes);
	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	p->next = pieces;
	p->link = &pieces;
	if (pieces)
		pieces->link = &p->next;
	pieces = p;
	*ptr = p->data;
	fake_cuda.live++;
	return CUDA_SUCCESS;
}

static CUresult allocate_device(CUdeviceptr *ptr, size_t bytes)
{
	void *host;
	CUresult rc = allocate(&host, bytes);

	*ptr = (CUdeviceptr)(uintptr_t)host;
	return rc;
}

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes)
{
	FAIL();
	return allocate_device(ptr, bytes);
}

CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned flags)
{
	FAIL();
	if (bytes > fake_cuda.most_managed)
		fake_cuda.most_managed = bytes;
	return allocate_device(ptr, bytes);
}

CUresult cuMemFree_v2(CUdeviceptr ptr)
{
	release((void *)(uintptr_t)ptr);
	fake_cuda.live--;
	return CUDA_SUCCESS;
}

CUresult cuMemAdvise(CUdeviceptr ptr, size_t bytes, int advice, CUdevice dev)
{
	FAIL();
	fake_cuda.advised |= 1u << advice;
	return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned flags)
{
	FAIL();
	return allocate(ptr, bytes);
}

CUresult cuMemFreeHost(void *ptr)
{
	release(ptr);
	fake_cuda.live--;
	return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned flags)
{
	FAIL();
	if (fake_cuda.register_needs & ~flags)
		return CUDA_ERROR_INVALID_VALUE;
	fake_cuda.register_flags = flags;
	fake_cuda.live++;
	return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *ptr)
{
	fake_cuda.live--;
	return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *dptr, void *ptr, unsigned flags)
{
	FAIL();
	*dptr = (CUdeviceptr)(uintptr_t)ptr;
	return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
	FAIL();
	memcpy((void *)(uintptr_t)to, from, bytes);
	return CUDA_SUCCESS;
}

/* FAKE_CUDA_SWAP=BYTES swaps the first and last 8 bytes of the second copy of that size; the sum stays equal. */
static void swap_ends(uint64_t *to, size_t bytes)
{
	const char *size = getenv("FAKE_CUDA_SWAP");
	static unsigned copies;
	uint64_t first;

	if (!size || bytes != strtoul(size, NULL, 10) || ++copies != 2)
		return;
	first = to[0];
	to[0] = to[bytes / 8 - 1];
	to[bytes / 8 - 1] = first;
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
	FAIL();
	memcpy(to, (void *)(uintptr_t)from, bytes);
	swap_ends(to, bytes);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	FAIL();
	memcpy((void *)(uintptr_t)to, from, bytes);
	return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr ptr, unsigned char value, size_t count, CUstream stream)
{
	FAIL();
	memset((void *)(uintptr_t)ptr, value, count);
	return CUDA_SUCCESS;
}

CUresult cuMemsetD32Async(CUdeviceptr ptr, unsigned value, size_t count, CUstream stream)
{
	FAIL();
	for (size_t i = 0; i < count; i++)
		((unsigned *)(uintptr_t)ptr)[i] = value;
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	FAIL();
	*module = (CUmodule)&fake_cuda;
	return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
	return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name)
{
	FAIL();
#ifdef FAKE_CPU
	*f = cpu_kernel_find(name);
	return *f ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
#else
	*f = (CUfunction)&fake_cuda;
	return CUDA_SUCCESS;
#endif
}

static CUresult launch(CUfunction f, unsigned blocks, unsigned threads, void **params)
{
	fake_cuda.launches++;
#ifdef FAKE_CPU
	cpu_kernel_run(f, blocks, threads, params);
#endif
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
			unsigned shared, CUstream stream, void **params, void **extra)
{
	FAIL();
	return launch(f, gx, bx, params);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
				   unsigned bz, unsigned shared, CUstream stream, void **params)
{
	FAIL();
	return gx > RESIDENT * PROCESSORS ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : launch(f, gx, bx, params);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int threads, size_t shared)
{
	FAIL();
	*blocks = RESIDENT;
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	FAIL();
	return CUDA_SUCCESS;
}
