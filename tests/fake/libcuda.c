// SPDX-License-Identifier: MIT
/*
 * A fake CUDA driver for tests without a GPU: memory is host memory, kernels do nothing, and any call can be made to
 * fail. Tests configure it through `fake_cuda`. With FAKE_CPU, kernels run (kernels_cpu.cpp) and each allocation ends at
 * an inaccessible page. There may be several devices (FAKE_CUDA_DEVICES), which threads use at the same time: their calls
 * take turns, and a copy or a kernel that uses the memory of another device ends the program.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_cuda.h"

#define RESIDENT	4u		/* blocks on a multiprocessor: CPU_RESIDENT of cuda_cpu.h */
#define DYNAMIC_SHARED	4096u		/* CPU_DYNAMIC_SHARED of cuda_cpu.h */
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

#define DEVICES_MOST	16
#define CONTEXTS_MOST	8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context {
	int device;
	bool reaches[DEVICES_MOST];	/* peers whose memory it may use */
} context_of[DEVICES_MOST];

/* The contexts of the calling thread; not a thread-local variable, which kernels would take for shared memory. */
struct stack {
	struct context *context[CONTEXTS_MOST];
	int depth;
};
static pthread_key_t stack_key;

__attribute__((constructor)) static void create_key(void)
{
	pthread_key_create(&stack_key, free);
}

static struct stack *stack(void)
{
	struct stack *s = pthread_getspecific(stack_key);

	if (!s) {
		s = calloc(1, sizeof(*s));
		pthread_setspecific(stack_key, s);
	}
	return s;
}

/* The device of the calling thread. */
int fake_cuda_device(void)
{
	const struct stack *s = stack();

	return s->depth > 0 ? s->context[s->depth - 1]->device : 0;
}

/* Count a call; true if it must fail. */
static int fails(const char *name)
{
	if (__atomic_add_fetch(&fake_cuda.calls, 1, __ATOMIC_RELAXED) != fake_cuda.fail_at)
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
	const char *devices = getenv("FAKE_CUDA_DEVICES");

	if (devices)
		fake_cuda.devices = atoi(devices);
	if (getenv("FAKE_CUDA_PEER_LOADS"))
		fake_cuda.peer_loads = 1;
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
	case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = fake_cuda.l2_bytes; break;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = PROCESSORS; break;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = DYNAMIC_SHARED; break;
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
	context_of[dev].device = dev;
	*ctx = (CUcontext)&context_of[dev];
	__atomic_add_fetch(&fake_cuda.contexts, 1, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	FAIL();
	*uuid = (CUuuid){ { (unsigned char)dev, 1 } };
	return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer)
{
	FAIL();
	*can = !fake_cuda.no_peers;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice dev, CUdevice peer)
{
	FAIL();
	*value = attribute == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED && !fake_cuda.no_peer_atomics;
	return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
	bool *reaches = &context_of[fake_cuda_device()].reaches[((struct context *)peer)->device];

	FAIL();
	if (*reaches)
		return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
	*reaches = true;
	return CUDA_SUCCESS;
}

/* All allocations, so that destroying the context can free the rest. */
static struct piece {
	struct piece *next;
	char *data, *map;
	size_t bytes, map_bytes;
	int device;			/* whose memory it is; -1: the host's */
} *pieces;

static void free_piece(struct piece *p);

static void release(void *data)
{
	struct piece **at = &pieces, *p;

	pthread_mutex_lock(&lock);
	while (*at && (*at)->data != data)
		at = &(*at)->next;
	p = *at;
	if (!p) {
		fprintf(stderr, "the fake CUDA driver is asked to free %p, which it did not allocate\n", data);
		abort();
	}
	*at = p->next;
	free_piece(p);
	pthread_mutex_unlock(&lock);
}

#ifdef FAKE_CPU
/*
 * The memory of each device, and at the end the host's, is one range of addresses, so that one call of the system makes
 * it accessible or not. What is not allocated in it, or no longer, is a file without bytes: to use it is a fault with
 * any protection.
 */
#define ARENA_BYTES	(1ull << 40)
static struct arena {
	char *base, *top;
	size_t pieces;
	int protection;
} arenas[DEVICES_MOST + 1];

static struct arena *arena_of(int device)
{
	return &arenas[device < 0 ? DEVICES_MOST : device];
}

/* Without memory, again, at @at. Its place in the file is that in the range, so that neighbours become one mapping. */
static void map_nothing(struct arena *a, char *at, size_t bytes)
{
	static int nothing = -1;
	void *map;

	if (nothing < 0)
		nothing = memfd_create("nothing", MFD_CLOEXEC);
	map = mmap(at, bytes, a->protection, MAP_SHARED | MAP_NORESERVE | (at ? MAP_FIXED : 0), nothing, at - a->base);
	if (map == MAP_FAILED) {
		perror("the fake CUDA driver cannot map memory");
		abort();
	}
	if (!at)
		a->base = a->top = map;
}

static void protect(int device, int protection)
{
	struct arena *a = arena_of(device);

	if (a->top > a->base && a->protection != protection && mprotect(a->base, (size_t)(a->top - a->base), protection)) {
		perror("the fake CUDA driver cannot protect memory");
		abort();
	}
	a->protection = protection;
}

/*
 * Make all memory of @device accessible, and that of the others to reads at most, or with @writes to both. Call with the
 * lock held.
 */
static void expose(int device, bool writes)
{
	for (int other = 0; other < DEVICES_MOST; other++)
		protect(other, other == device ? PROT_READ | PROT_WRITE :
			       fake_cuda.peer_loads && context_of[device].reaches[other] ?
			       (writes ? PROT_READ | PROT_WRITE : PROT_READ) : PROT_NONE);
}
#else
#define protect(device, protection)
#endif

/*
 * Make @bytes of memory at @ptr accessible; end the program if it is that of another device, or if its allocation ends before
 * them, which a GPU's driver refuses. Call with the lock held.
 */
static void expose_at(CUdeviceptr ptr, size_t bytes, int device)
{
	struct piece *p;

	for (p = pieces; p; p = p->next) {
		if (ptr < (uintptr_t)p->data || ptr >= (uintptr_t)p->data + p->bytes)
			continue;
		if (p->device >= 0 && p->device != device) {
			fprintf(stderr, "device %d uses memory of device %d\n", device, p->device);
			abort();
		}
		if (bytes > (uintptr_t)p->data + p->bytes - ptr) {
			fprintf(stderr, "a call for %zu bytes at %zu of an allocation of %zu\n", bytes,
				(size_t)(ptr - (uintptr_t)p->data), p->bytes);
			abort();
		}
		protect(p->device, PROT_READ | PROT_WRITE);
	}
}

/* Lock, with @bytes of memory at @ptr, which belong to the calling thread's device, accessible. */
static void begin_access(CUdeviceptr ptr, size_t bytes)
{
	pthread_mutex_lock(&lock);
	expose_at(ptr, bytes, fake_cuda_device());
}

static void end_access(void)
{
	pthread_mutex_unlock(&lock);
}

/* A copy between devices, for the fake NCCL as well. */
void fake_cuda_copy(CUdeviceptr to, int to_device, CUdeviceptr from, int from_device, size_t bytes)
{
	pthread_mutex_lock(&lock);
	expose_at(to, bytes, to_device);
	expose_at(from, bytes, from_device);
	memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
	pthread_mutex_unlock(&lock);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx, size_t bytes)
{
	FAIL();
	fake_cuda_copy(to, ((struct context *)to_ctx)->device, from, ((struct context *)from_ctx)->device, bytes);
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	if (!__atomic_sub_fetch(&fake_cuda.contexts, 1, __ATOMIC_RELAXED))
		while (pieces)
			release(pieces->data);
	return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	FAIL();
	if (stack()->depth == CONTEXTS_MOST)
		abort();
	stack()->context[stack()->depth++] = (struct context *)ctx;
	__atomic_add_fetch(&fake_cuda.pushed, 1, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
	stack()->depth--;
	__atomic_sub_fetch(&fake_cuda.pushed, 1, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	FAIL();
	*free_bytes = *total = fake_cuda.free_bytes;
	return CUDA_SUCCESS;
}

#ifdef FAKE_CPU
/* The data ends at a page that is not there, except for padding to 16 bytes. Call with the lock held. */
static bool fill_piece(struct piece *p)
{
	struct arena *a = arena_of(p->device);
	size_t data = (p->bytes + 15) & ~(size_t)15;

	if (!a->base) {
		a->protection = PROT_READ | PROT_WRITE;
		map_nothing(a, NULL, ARENA_BYTES);
	}
	p->map_bytes = (data + 4095) & ~(size_t)4095;
	if (p->map_bytes + 4096 > (size_t)(a->base + ARENA_BYTES - a->top))
		return false;
	p->map = mmap(a->top, p->map_bytes, a->protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p->map == MAP_FAILED)
		return false;
	a->top += p->map_bytes + 4096;
	a->pieces++;
	p->data = p->map + p->map_bytes - data;
	return true;
}

static void free_piece(struct piece *p)
{
	struct arena *a = arena_of(p->device);

	map_nothing(a, p->map, p->map_bytes);
	/* addresses are used again only when nothing is left: to use freed memory is a fault until then */
	if (!--a->pieces)
		a->top = a->base;
	free(p);
}
#else
static bool fill_piece(struct piece *p)
{
	p->data = calloc(1, p->bytes);
	return p->data;
}

static void free_piece(struct piece *p)
{
	free(p->data);
	free(p);
}
#endif

static int refused(size_t bytes)
{
	if (!fake_cuda.refuse_above || bytes < fake_cuda.refuse_above || !fake_cuda.refusals)
		return 0;
	fake_cuda.refusals--;
	return 1;
}

static CUresult allocate(void **ptr, size_t bytes, int device)
{
	struct piece *p;

	if (refused(bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	p = calloc(1, sizeof(*p));
	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	p->bytes = bytes ? bytes : 1;
	p->device = device;
	pthread_mutex_lock(&lock);
	if (!fill_piece(p)) {
		pthread_mutex_unlock(&lock);
		free(p);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	p->next = pieces;
	pieces = p;
	__atomic_add_fetch(&fake_cuda.live, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	*ptr = p->data;
	return CUDA_SUCCESS;
}

static CUresult allocate_device(CUdeviceptr *ptr, size_t bytes, int device)
{
	void *host;
	CUresult rc = allocate(&host, bytes, device);

	if (!rc)
		*ptr = (CUdeviceptr)(uintptr_t)host;
	return rc;
}

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes)
{
	FAIL();
	return allocate_device(ptr, bytes, fake_cuda_device());
}

CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned flags)
{
	FAIL();
	if (bytes > fake_cuda.most_managed)
		fake_cuda.most_managed = bytes;
	return allocate_device(ptr, bytes, -1);
}

CUresult cuMemFree_v2(CUdeviceptr ptr)
{
	release((void *)(uintptr_t)ptr);
	__atomic_sub_fetch(&fake_cuda.live, 1, __ATOMIC_RELAXED);
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
	return allocate(ptr, bytes, -1);
}

CUresult cuMemFreeHost(void *ptr)
{
	release(ptr);
	__atomic_sub_fetch(&fake_cuda.live, 1, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned flags)
{
	FAIL();
	if (refused(bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (fake_cuda.register_needs & ~flags)
		return CUDA_ERROR_INVALID_VALUE;
	fake_cuda.register_flags = flags;
	__atomic_add_fetch(&fake_cuda.live, 1, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *ptr)
{
	__atomic_sub_fetch(&fake_cuda.live, 1, __ATOMIC_RELAXED);
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
	begin_access(to, bytes);
	memcpy((void *)(uintptr_t)to, from, bytes);
	end_access();
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
	begin_access(from, bytes);
	memcpy(to, (void *)(uintptr_t)from, bytes);
	end_access();
	swap_ends(to, bytes);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	FAIL();
	begin_access(from, bytes);
	memcpy(to, (void *)(uintptr_t)from, bytes);
	end_access();
	return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	FAIL();
	begin_access(to, bytes);
	memcpy((void *)(uintptr_t)to, from, bytes);
	end_access();
	return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr ptr, unsigned char value, size_t count, CUstream stream)
{
	FAIL();
	begin_access(ptr, count);
	memset((void *)(uintptr_t)ptr, value, count);
	end_access();
	return CUDA_SUCCESS;
}

CUresult cuMemsetD32Async(CUdeviceptr ptr, unsigned value, size_t count, CUstream stream)
{
	FAIL();
	begin_access(ptr, 4 * count);
	for (size_t i = 0; i < count; i++)
		((unsigned *)(uintptr_t)ptr)[i] = value;
	end_access();
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

#ifdef FAKE_CPU
static __thread char looked_up[96];	/* the kernel that this thread launches next */
#endif

CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name)
{
	FAIL();
	if (fake_cuda.watch && strstr(name, fake_cuda.watch))
		__atomic_fetch_add(&fake_cuda.watched, 1, __ATOMIC_RELAXED);
#ifdef FAKE_CPU
	snprintf(looked_up, sizeof(looked_up), "%s", name);
	*f = cpu_kernel_find(name);
	return *f ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
#else
	*f = (CUfunction)&fake_cuda;
	return CUDA_SUCCESS;
#endif
}

static CUresult launch(CUfunction f, unsigned blocks, unsigned threads, void **params)
{
	pthread_mutex_lock(&lock);
	fake_cuda.launches++;
#ifdef FAKE_CPU
	/* the kernels that write another card's memory */
	expose(fake_cuda_device(), !!strstr(looked_up, "_cards"));
	cpu_kernel_run(f, blocks, threads, params);
#endif
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
			unsigned shared, CUstream stream, void **params, void **extra)
{
	FAIL();
	return shared > DYNAMIC_SHARED ? CUDA_ERROR_INVALID_VALUE : launch(f, gx, bx, params);
}

CUresult cuFuncSetAttribute(CUfunction f, int attribute, int value)
{
	FAIL();
	return value > (int)DYNAMIC_SHARED ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
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

CUresult cuStreamQuery(CUstream stream)
{
	FAIL();
	return CUDA_SUCCESS;
}
