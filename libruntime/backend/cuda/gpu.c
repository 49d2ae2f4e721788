// SPDX-License-Identifier: MIT
/* Memory of all kinds, copies and launches. Errors name the failed call and its sizes. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"

#define BLOCKS_MAX	0x7fffffffu
#define PART		(4ull << 30)	/* bytes of a registration, where one for all was refused */
#define PART_ALIGN	(2ull << 20)	/* parts end between pages, also between large ones */

typedef unsigned long long ull;

int gpu_enter(struct gpu *gpu, struct gtu_error *err)
{
	CUresult rc = gpu->api.cuCtxPushCurrent_v2(gpu->context);

	return rc ? gtu_cuda_fail(&gpu->api, rc, err, "cuCtxPushCurrent") : 0;
}

void gpu_leave(struct gpu *gpu)
{
	CUcontext old;

	gpu->api.cuCtxPopCurrent_v2(&old);
}

int gpu_free_bytes(struct gpu *gpu, uint64_t *bytes, struct gtu_error *err)
{
	size_t unused = 0, total = 0;
	CUresult rc = gpu->api.cuMemGetInfo_v2(&unused, &total);

	*bytes = unused;
	return rc ? gtu_cuda_fail(&gpu->api, rc, err, "cuMemGetInfo") : 0;
}

/* ---- Memory ------------------------------------------------------------------------------------ */

static int get_managed(struct gpu *gpu, struct gpu_memory *m, struct gtu_error *err)
{
	bool uvm = m->kind == GTU_EDGES_UVM;
	uint64_t unused;
	CUresult rc;
	int ret;

	if (!gpu->info.managed)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED,
				"%s has no concurrent access to managed memory: use pinned memory",
				gpu->info.name);
	ret = gpu_free_bytes(gpu, &unused, err);
	if (ret)
		return ret;
	if (m->bytes > unused)
		return gtu_fail(err, GTU_ERR_NOMEM,
				"%llu bytes of managed memory exceed the %llu bytes of free GPU "
				"memory, which can hang the GPU: use pinned memory",
				(ull)m->bytes, (ull)unused);
	rc = gpu->api.cuMemAllocManaged(&m->device, m->bytes, CU_MEM_ATTACH_GLOBAL);
	if (rc)
		return gtu_cuda_fail(&gpu->api, rc, err, "cuMemAllocManaged of %llu bytes", (ull)m->bytes);
	m->host = (void *)(uintptr_t)m->device;
	if (uvm)
		rc = gpu->api.cuMemAdvise(m->device, m->bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, gpu->device);
	else
		rc = gpu->api.cuMemAdvise(m->device, m->bytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU);
	if (!rc && !uvm)
		rc = gpu->api.cuMemAdvise(m->device, m->bytes, CU_MEM_ADVISE_SET_ACCESSED_BY, gpu->device);
	if (rc) {
		ret = gtu_cuda_fail(&gpu->api, rc, err, "cuMemAdvise of %llu bytes", (ull)m->bytes);
		gpu->api.cuMemFree_v2(m->device);
	}
	return ret;
}

static int get_pinned(struct gpu *gpu, struct gpu_memory *m, struct gtu_error *err)
{
	CUresult rc = gpu->api.cuMemHostAlloc(&m->host, m->bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);

	if (rc)
		return gtu_cuda_fail(&gpu->api, rc, err, "cuMemHostAlloc of %llu bytes", (ull)m->bytes);
	rc = gpu->api.cuMemHostGetDevicePointer_v2(&m->device, m->host, 0);
	if (!rc)
		return 0;
	gpu->api.cuMemFreeHost(m->host);
	return gtu_cuda_fail(&gpu->api, rc, err, "cuMemHostGetDevicePointer of %llu bytes", (ull)m->bytes);
}

/* Whole pages: a registration covers pages. */
static int get_aperture(struct gpu *gpu, struct gpu_memory *m, struct gtu_error *err)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bytes = (m->bytes + page - 1) & ~(page - 1);
	struct gpu_memory registered;
	int rc = gtu_region_alloc_aperture(gpu->board, bytes, &m->region, err);

	if (rc)
		return rc;
	rc = gpu_memory_register(gpu, m->region.addr, bytes, m->region.io_memory, &registered, err);
	if (rc) {
		gtu_region_remove(gpu->board, &m->region, NULL);
		return rc;
	}
	m->host = registered.host;
	m->device = registered.device;
	return 0;
}

int gpu_memory_alloc(struct gpu *gpu, uint32_t kind, uint64_t bytes, struct gpu_memory *out, struct gtu_error *err)
{
	CUresult rc;
	int ret = 0;

	memset(out, 0, sizeof(*out));
	out->kind = kind;
	out->bytes = bytes ? bytes : 1;
	if (kind == GTU_EDGES_MANAGED || kind == GTU_EDGES_UVM) {
		ret = get_managed(gpu, out, err);
	} else if (kind == GTU_EDGES_PINNED) {
		ret = get_pinned(gpu, out, err);
	} else if (kind == GTU_EDGES_APERTURE) {
		ret = get_aperture(gpu, out, err);
	} else {
		rc = gpu->api.cuMemAlloc_v2(&out->device, out->bytes);
		if (rc)
			ret = gtu_cuda_fail(&gpu->api, rc, err, "cuMemAlloc of %llu bytes of GPU "
					    "memory",
					    (ull)out->bytes);
	}
	if (ret)
		memset(out, 0, sizeof(*out));
	return ret;
}

static CUresult register_range(struct gpu *gpu, void *addr, uint64_t bytes, bool io)
{
	unsigned flags = CU_MEMHOSTREGISTER_DEVICEMAP | (io ? CU_MEMHOSTREGISTER_IOMEMORY : 0);
	CUresult rc = gpu->api.cuMemHostRegister_v2(addr, bytes, flags);

	/* containers are mapped read-only */
	if (rc && rc != CUDA_ERROR_OUT_OF_MEMORY && gpu->info.registered_readonly && !io)
		rc = gpu->api.cuMemHostRegister_v2(addr, bytes, flags | CU_MEMHOSTREGISTER_READ_ONLY);
	return rc;
}

static uint64_t part_end(const char *addr, uint64_t first, uint64_t bytes)
{
	const uint64_t start = (uint64_t)(uintptr_t)addr, end = ((start + first + PART) & ~(PART_ALIGN - 1)) - start;

	return end < bytes ? end : bytes;
}

static void unregister_parts(struct gpu *gpu, char *addr, uint64_t bytes)
{
	uint64_t at;

	for (at = 0; at < bytes; at = part_end(addr, at, bytes))
		gpu->api.cuMemHostUnregister(addr + at);
}

/* Register @bytes in parts, which must be adjacent for the GPU, too. */
static CUresult register_parts(struct gpu *gpu, char *addr, uint64_t bytes)
{
	CUdeviceptr first = 0, device;
	uint64_t at, end;
	CUresult rc;

	for (at = 0; at < bytes; at = end) {
		end = part_end(addr, at, bytes);
		rc = register_range(gpu, addr + at, end - at, false);
		if (rc) {
			unregister_parts(gpu, addr, at);
			return rc;
		}
		rc = gpu->api.cuMemHostGetDevicePointer_v2(&device, addr + at, 0);
		first = at ? first : device;
		if (!rc && device == first + at)
			continue;
		unregister_parts(gpu, addr, end);
		return rc ? rc : CUDA_ERROR_OUT_OF_MEMORY;
	}
	return CUDA_SUCCESS;
}

int gpu_memory_register(struct gpu *gpu, void *addr, uint64_t bytes, bool io, struct gpu_memory *out,
			struct gtu_error *err)
{
	CUresult rc;

	memset(out, 0, sizeof(*out));
	if (!gpu->info.registered)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s cannot access registered memory", gpu->info.name);
	rc = register_range(gpu, addr, bytes, io);
	if (rc && !io && bytes > PART) {
		rc = register_parts(gpu, addr, bytes);
		out->in_parts = !rc;
	}
	if (rc)
		return gtu_cuda_fail(&gpu->api, rc, err, "cuMemHostRegister of %llu bytes%s", (ull)bytes,
				     io ? " of a board's aperture (the GPU must be able to reach the board's BAR)" :
				     gpu->info.registered_readonly ? "" :
				     " (this driver cannot register read-only memory such as a "
				     "mapped container)");
	out->kind = GTU_EDGES_REGISTERED;
	out->bytes = bytes;
	out->host = addr;
	rc = gpu->api.cuMemHostGetDevicePointer_v2(&out->device, addr, 0);
	if (!rc)
		return 0;
	gpu_memory_free(gpu, out);
	return gtu_cuda_fail(&gpu->api, rc, err, "cuMemHostGetDevicePointer of %llu bytes", (ull)bytes);
}

void gpu_memory_free(struct gpu *gpu, struct gpu_memory *m)
{
	if (m->kind == GTU_EDGES_PINNED)
		gpu->api.cuMemFreeHost(m->host);
	else if (m->in_parts)
		unregister_parts(gpu, m->host, m->bytes);
	else if (m->kind == GTU_EDGES_REGISTERED || m->kind == GTU_EDGES_APERTURE)
		gpu->api.cuMemHostUnregister(m->host);
	else if (m->kind)
		gpu->api.cuMemFree_v2(m->device);
	if (m->kind == GTU_EDGES_APERTURE)
		gtu_region_remove(gpu->board, &m->region, NULL);
	memset(m, 0, sizeof(*m));
}

int gpu_upload(struct gpu *gpu, CUdeviceptr to, const void *from, uint64_t bytes, struct gtu_error *err)
{
	CUresult rc = bytes ? gpu->api.cuMemcpyHtoD_v2(to, from, bytes) : CUDA_SUCCESS;

	return rc ? gtu_cuda_fail(&gpu->api, rc, err, "cuMemcpyHtoD of %llu bytes", (ull)bytes) : 0;
}

int gpu_download(struct gpu *gpu, void *to, CUdeviceptr from, uint64_t bytes, struct gtu_error *err)
{
	CUresult rc = bytes ? gpu->api.cuMemcpyDtoH_v2(to, from, bytes) : CUDA_SUCCESS;

	return rc ? gtu_cuda_fail(&gpu->api, rc, err, "cuMemcpyDtoH of %llu bytes", (ull)bytes) : 0;
}

int gpu_upload_async(struct gpu *gpu, CUdeviceptr to, const void *from, uint64_t bytes, struct gtu_error *err)
{
	CUresult rc = gpu->api.cuMemcpyHtoDAsync_v2(to, from, bytes, NULL);

	return rc ? gtu_cuda_fail(&gpu->api, rc, err, "cuMemcpyHtoDAsync of %llu bytes", (ull)bytes) : 0;
}

int gpu_download_async(struct gpu *gpu, void *to, CUdeviceptr from, uint64_t bytes, struct gtu_error *err)
{
	CUresult rc = gpu->api.cuMemcpyDtoHAsync_v2(to, from, bytes, NULL);

	return rc ? gtu_cuda_fail(&gpu->api, rc, err, "cuMemcpyDtoHAsync of %llu bytes", (ull)bytes) : 0;
}

int gpu_fill(struct gpu *gpu, CUdeviceptr to, uint8_t value, uint64_t bytes, struct gtu_error *err)
{
	CUresult rc = bytes ? gpu->api.cuMemsetD8Async(to, value, bytes, NULL) : CUDA_SUCCESS;

	return rc ? gtu_cuda_fail(&gpu->api, rc, err, "cuMemsetD8Async of %llu bytes", (ull)bytes) : 0;
}

int gpu_wait(struct gpu *gpu, const char *what, struct gtu_error *err)
{
	CUresult rc = gpu->api.cuStreamSynchronize(NULL);

	return rc ? gtu_cuda_fail(&gpu->api, rc, err, "the kernels of %s: cuStreamSynchronize", what) : 0;
}

static int find_kernel(struct gpu *gpu, const char *kernel, CUfunction *f, struct gtu_error *err)
{
	CUresult rc = gpu->api.cuModuleGetFunction(f, gpu->module, kernel);

	return rc ? gtu_cuda_fail(&gpu->api, rc, err, "cuModuleGetFunction of %s", kernel) : 0;
}

/* Blocks of a kernel that run at the same time: more of them would leave processors idle at the end. */
static int resident_blocks(struct gpu *gpu, const char *kernel, CUfunction f, uint64_t *blocks, struct gtu_error *err)
{
	int resident = 0;
	CUresult rc = gpu->api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, f, GPU_BLOCK, 0);

	*blocks = (uint64_t)gpu->info.multiprocessors * (resident > 0 ? (unsigned)resident : 1);
	return rc ? gtu_cuda_fail(&gpu->api, rc, err, "cuOccupancyMaxActiveBlocksPerMultiprocessor of %s", kernel) : 0;
}

int gpu_launch(struct gpu *gpu, const char *kernel, uint64_t threads, void **args, struct gtu_error *err)
{
	uint64_t blocks = (threads + GPU_BLOCK - 1) / GPU_BLOCK, max;
	CUfunction f;
	CUresult code;
	int rc = find_kernel(gpu, kernel, &f, err);

	if (!rc)
		rc = resident_blocks(gpu, kernel, f, &max, err);
	if (rc)
		return rc;
	/*
	 * the paper's kernels use one thread per vertex and rely on the hardware to schedule the
	 * blocks
	 */
	if (blocks > max && strncmp(kernel, "emogi_", 6))
		blocks = max;
	if (blocks > BLOCKS_MAX)
		blocks = BLOCKS_MAX;
	if (!blocks)
		blocks = 1;
	code = gpu->api.cuLaunchKernel(f, (unsigned)blocks, 1, 1, GPU_BLOCK, 1, 1, 0, NULL, args, NULL);
	return code ? gtu_cuda_fail(&gpu->api, code, err, "cuLaunchKernel of %s over %llu threads", kernel,
				    (ull)threads) : 0;
}

int gpu_launch_shared(struct gpu *gpu, const char *kernel, const char *format, unsigned blocks, unsigned threads,
		      uint32_t shared, void **args, struct gtu_error *err)
{
	char name[96];
	CUfunction f;
	CUresult code;
	int rc;

	snprintf(name, sizeof(name), "%s%s%s", kernel, format ? "_" : "", format ? format : "");
	rc = find_kernel(gpu, name, &f, err);
	if (rc)
		return rc;
	code = gpu->api.cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared);
	if (code)
		return gtu_cuda_fail(&gpu->api, code, err, "cuFuncSetAttribute of %s with %u bytes", name, shared);
	code = gpu->api.cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, shared, NULL, args, NULL);
	return code ? gtu_cuda_fail(&gpu->api, code, err, "cuLaunchKernel of %s with %u blocks", name, blocks) : 0;
}

int gpu_launch_together(struct gpu *gpu, const char *kernel, unsigned blocks, void **args, struct gtu_error *err)
{
	CUfunction f;
	CUresult code;
	uint64_t most;
	int rc = find_kernel(gpu, kernel, &f, err);

	if (!rc)
		rc = resident_blocks(gpu, kernel, f, &most, err);
	if (rc)
		return rc;
	if (blocks > most)
		blocks = (unsigned)most;
	code = gpu->api.cuLaunchCooperativeKernel(f, blocks, 1, 1, GPU_BLOCK, 1, 1, 0, NULL, args);
	return code ? gtu_cuda_fail(&gpu->api, code, err, "cuLaunchCooperativeKernel of %s with %u blocks", kernel,
				    blocks) : 0;
}

int gpu_touch(struct gpu *gpu, const struct gpu_memory *memory, struct gtu_error *err)
{
	struct gpu_memory sink;
	uint64_t from = memory->device, words = memory->bytes / 4;
	void *args[] = { &from, &words, &sink.device };
	int rc = gpu_memory_alloc(gpu, GTU_EDGES_DEVICE, 4, &sink, err);

	if (rc)
		return rc;
	rc = gpu_launch(gpu, "link_touch", words / 1024 + 1, args, err);
	if (!rc)
		rc = gpu_wait(gpu, "touching the edge list", err);
	gpu_memory_free(gpu, &sink);
	return rc;
}
