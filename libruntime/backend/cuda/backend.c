// SPDX-License-Identifier: MIT
/*
 * Backend "cuda:N": a GPU through the CUDA Driver API. It has no units, queues or registers and
 * runs whole algorithms over placed graphs (gtu/gpu.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

static int build_has_kernels(struct gtu_error *err)
{
	if (gtu_cuda_kernels_bytes)
		return 0;
	return gtu_fail(err, GTU_ERR_UNSUPPORTED,
			"this build has no GPU kernels: it was built without nvcc (use \"model\" "
			"or \"/dev/gtu0\")");
}

int gtu_gpu_count(struct gtu_error *err)
{
	struct cuda_api api;
	int rc = build_has_kernels(err), count;

	if (!rc)
		rc = gtu_cuda_load(&api, NULL, gtu_cuda_kernels_major, err);
	if (rc)
		return rc;
	count = api.devices;
	gtu_cuda_unload(&api);
	return count;
}

static int parse_ordinal(const char *name, int *ordinal, struct gtu_error *err)
{
	char *rest;
	long n;

	errno = 0;
	n = name[4] == ':' && name[5] >= '0' && name[5] <= '9' ? strtol(name + 5, &rest, 10) : -1;
	if (!strcmp(name, "cuda"))
		n = 0;
	else if (n < 0 || errno || *rest || n > 1023)
		return gtu_fail(err, GTU_ERR_USAGE, "there is no device \"%s\": use \"cuda:0\", "
				"\"cuda:1\" and so on for a GPU", name);
	*ordinal = (int)n;
	return 0;
}

static int query_device(struct gpu *gpu, struct gtu_error *err)
{
	struct gtu_gpu_info *i = &gpu->info;
	const struct {
		int attribute;
		uint32_t *to;
	} want[] = {
		{ CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &i->compute_major },
		{ CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &i->compute_minor },
		{ CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &i->multiprocessors },
		{ CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, &i->managed },
		{ CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, &i->registered },
		{ CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, &i->registered_readonly },
	};
	int value = 0;
	size_t bytes = 0;
	unsigned k;
	CUresult rc = gpu->api.cuDeviceGetName(i->name, sizeof(i->name), gpu->device);

	for (k = 0; k < sizeof(want) / sizeof(want[0]) && !rc; k++) {
		rc = gpu->api.cuDeviceGetAttribute(&value, want[k].attribute, gpu->device);
		*want[k].to = value > 0 ? (uint32_t)value : 0;
	}
	if (!rc)
		rc = gpu->api.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, gpu->device);
	i->l2_bytes = value > 0 ? (uint64_t)value : 0;
	if (!rc)
		rc = gpu->api.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, gpu->device);
	gpu->shared_bytes = value > 0 ? (uint64_t)value : 0;
	if (!rc)
		rc = gpu->api.cuDeviceTotalMem_v2(&bytes, gpu->device);
	i->memory_bytes = bytes;
	i->driver_major = (uint32_t)gpu->api.version / 1000;
	i->driver_minor = (uint32_t)gpu->api.version % 1000 / 10;
	i->kernels_major = (uint32_t)gtu_cuda_kernels_major;
	if (rc)
		return gtu_cuda_fail(&gpu->api, rc, err, "cuDeviceGetAttribute");
	if (i->compute_major < 8)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED,
				"%s has compute capability %u.%u: the kernels need 8.0 or newer",
				i->name,
				i->compute_major, i->compute_minor);
	return i->multiprocessors ? 0 : gtu_fail(err, GTU_ERR_FAIL, "%s reports 0 multiprocessors", i->name);
}

static int start(struct gpu *gpu, struct gtu_error *err)
{
	CUresult rc = gpu->api.cuDevicePrimaryCtxRetain(&gpu->context, gpu->device);
	int ret;

	if (rc) {
		gpu->context = NULL;
		return gtu_cuda_fail(&gpu->api, rc, err, "cuDevicePrimaryCtxRetain of %s", gpu->info.name);
	}
	ret = gpu_enter(gpu, err);
	if (ret)
		return ret;
	rc = gpu->api.cuModuleLoadData(&gpu->module, gtu_cuda_kernels);
	if (rc) {
		gpu->module = NULL;
		ret = gtu_cuda_fail(&gpu->api, rc, err, "cuModuleLoadData of %zu bytes of kernels on %s",
				    gtu_cuda_kernels_bytes, gpu->info.name);
	}
	if (!ret) {
		rc = gpu->api.cuMemHostAlloc((void **)&gpu->counters, sizeof(*gpu->counters), CU_MEMHOSTALLOC_PORTABLE);
		if (rc) {
			gpu->counters = NULL;
			ret = gtu_cuda_fail(&gpu->api, rc, err, "cuMemHostAlloc of %zu bytes", sizeof(*gpu->counters));
		}
	}
	if (!ret)
		ret = gpu_free_bytes(gpu, &gpu->info.free_bytes, err);
	gpu_leave(gpu);
	return ret;
}

static void stop(struct gpu *gpu)
{
	gpu_link_close(gpu);
	if (gpu->module && !gpu_enter(gpu, NULL)) {
		if (gpu->counters)
			gpu->api.cuMemFreeHost(gpu->counters);
		gpu->api.cuModuleUnload(gpu->module);
		gpu_leave(gpu);
	}
	if (gpu->context)
		gpu->api.cuDevicePrimaryCtxRelease_v2(gpu->device);
	gtu_cuda_unload(&gpu->api);
	free(gpu);
}

static int cuda_open(struct gtu_device *dev, const char *name, struct gtu_error *err)
{
	struct gpu *gpu;
	CUresult code;
	int rc, ordinal = 0;

	rc = parse_ordinal(name, &ordinal, err);
	if (!rc)
		rc = build_has_kernels(err);
	if (rc)
		return rc;
	gpu = calloc(1, sizeof(*gpu));
	if (!gpu)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a device");
	rc = gtu_cuda_load(&gpu->api, NULL, gtu_cuda_kernels_major, err);
	if (rc) {
		free(gpu);
		return rc;
	}
	if (ordinal >= gpu->api.devices)
		rc = gtu_fail(err, GTU_ERR_USAGE, "there is no device \"%s\": this computer has %d "
			      "GPU%s", name,
			      gpu->api.devices, gpu->api.devices == 1 ? "" : "s");
	if (!rc) {
		code = gpu->api.cuDeviceGet(&gpu->device, ordinal);
		rc = code ? gtu_cuda_fail(&gpu->api, code, err, "cuDeviceGet of GPU %d", ordinal) : 0;
	}
	if (!rc)
		rc = query_device(gpu, err);
	if (!rc)
		rc = start(gpu, err);
	if (rc) {
		stop(gpu);
		return rc;
	}
	dev->backend = gpu;
	return 0;
}

static void cuda_close(struct gtu_device *dev)
{
	stop(dev->backend);
}

/* The first device of a list. */
static const struct gtu_device *first_of(const struct gtu_device *dev)
{
	return dev && dev->members ? dev->member[0] : dev;
}

const struct gtu_gpu_info *gtu_get_gpu_info(const struct gtu_device *dev)
{
	dev = first_of(dev);
	return dev && dev->ops == &gtu_backend_cuda ? &((struct gpu *)dev->backend)->info : NULL;
}

const struct gtu_placement *gtu_get_placement(const struct gtu_device *dev)
{
	dev = first_of(dev);
	return dev && dev->ops == &gtu_backend_cuda && dev->placed ? &((struct gpu *)dev->backend)->placement : NULL;
}

int gtu_link_measure(struct gtu_device *dev, uint32_t edges, uint64_t bytes, uint32_t rounds,
		     double rate[GTU_LINK_ACCESSES], struct gtu_error *err)
{
	struct gpu *gpu = dev->backend;
	int rc;

	if (dev->ops != &gtu_backend_cuda)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s is not a GPU", dev->info.path);
	pthread_mutex_lock(&dev->placing);
	rc = gpu_enter(gpu, err);
	if (!rc) {
		rc = gpu_link_measure(gpu, edges, bytes, rounds, rate, err);
		gpu_leave(gpu);
	}
	pthread_mutex_unlock(&dev->placing);
	return rc;
}

static const struct gtu_traversal_ops traversal = {
	.placement_create = gpu_placement_create,
	.placement_destroy = gpu_placement_destroy,
	.placement_swap = gpu_placement_swap,
	.ranked = gpu_ranked,
	.rank_link = gpu_link_name,
	.run = {
		[GTU_TRAVERSE_BFS] = gpu_bfs, [GTU_TRAVERSE_SSSP] = gpu_sssp,
		[GTU_TRAVERSE_PAGERANK] = gpu_pagerank, [GTU_TRAVERSE_COMPONENTS] = gpu_components,
		[GTU_TRAVERSE_BETWEENNESS] = gpu_betweenness, [GTU_TRAVERSE_STCON] = gpu_stcon,
		[GTU_TRAVERSE_COLORING] = gpu_coloring, [GTU_TRAVERSE_CORES] = gpu_cores,
		[GTU_TRAVERSE_LABELS] = gpu_labels, [GTU_TRAVERSE_TRIANGLES] = gpu_triangles,
		[GTU_TRAVERSE_GCN] = gpu_gcn,
	},
};

/* The library refuses regions and queues of devices with traversals, and a GPU has no registers of units. */
const struct gtu_backend_ops gtu_backend_cuda = {
	.name = "cuda",
	.traversal = &traversal,
	.open = cuda_open,
	.close = cuda_close,
};
