/* SPDX-License-Identifier: MIT */
/*
 * The subset of the CUDA Driver API that this backend uses. It is declared here so that the build
 * needs no CUDA headers and the library does not link to libcuda, which is loaded when a device is
 * opened (load.c). Names, values and versions of entry points are those of the API.
 */
#ifndef GTU_CUDA_API_H
#define GTU_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#include "gtu/error.h"

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;

enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_READY = 600,
	CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
	CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
	CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
	CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
};

enum {
	CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED = 3,
	CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
	CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
	CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
	CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
	CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
	CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED = 99,
	CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED = 113,
};

typedef struct {
	unsigned char bytes[16];
} CUuuid;

enum { CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };

#define CU_DEVICE_CPU			((CUdevice)-1)
#define CU_MEM_ATTACH_GLOBAL		0x1u
#define CU_MEMHOSTALLOC_PORTABLE	0x1u
#define CU_MEMHOSTALLOC_DEVICEMAP	0x2u
#define CU_MEMHOSTREGISTER_DEVICEMAP	0x2u
#define CU_MEMHOSTREGISTER_IOMEMORY	0x4u
#define CU_MEMHOSTREGISTER_READ_ONLY	0x8u
#define CU_MEM_ADVISE_SET_READ_MOSTLY	1
#define CU_MEM_ADVISE_SET_PREFERRED_LOCATION 3
#define CU_MEM_ADVISE_SET_ACCESSED_BY	5

/* Entry point, arguments. cuMemAdvise is the version that takes a device ordinal. */
#define CUDA_CALLS(X)                                                                              \
	X(cuInit, (unsigned flags))                                                                \
	X(cuDriverGetVersion, (int *version))                                                      \
	X(cuGetErrorName, (CUresult rc, const char **text))                                        \
	X(cuGetErrorString, (CUresult rc, const char **text))                                      \
	X(cuDeviceGetCount, (int *count))                                                          \
	X(cuDeviceGet, (CUdevice *dev, int ordinal))                                               \
	X(cuDeviceGetName, (char *name, int size, CUdevice dev))                                   \
	X(cuDeviceGetAttribute, (int *value, int attribute, CUdevice dev))                         \
	X(cuDeviceTotalMem_v2, (size_t *bytes, CUdevice dev))                                      \
	X(cuDeviceGetUuid, (CUuuid *uuid, CUdevice dev))                                           \
	X(cuDeviceCanAccessPeer, (int *can, CUdevice dev, CUdevice peer))                          \
	X(cuDeviceGetP2PAttribute, (int *value, int attribute, CUdevice dev, CUdevice peer))       \
	X(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags))                                 \
	X(cuMemcpyPeer, (CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx,   \
			 size_t bytes))                                                            \
	X(cuStreamQuery, (CUstream stream))                                                        \
	X(cuDevicePrimaryCtxRetain, (CUcontext *ctx, CUdevice dev))                                \
	X(cuDevicePrimaryCtxRelease_v2, (CUdevice dev))                                            \
	X(cuCtxPushCurrent_v2, (CUcontext ctx))                                                    \
	X(cuCtxPopCurrent_v2, (CUcontext *ctx))                                                    \
	X(cuMemGetInfo_v2, (size_t *free, size_t *total))                                          \
	X(cuMemAlloc_v2, (CUdeviceptr *ptr, size_t bytes))                                         \
	X(cuMemFree_v2, (CUdeviceptr ptr))                                                         \
	X(cuMemAllocManaged, (CUdeviceptr *ptr, size_t bytes, unsigned flags))                     \
	X(cuMemAdvise, (CUdeviceptr ptr, size_t bytes, int advice, CUdevice dev))                  \
	X(cuMemHostAlloc, (void **ptr, size_t bytes, unsigned flags))                              \
	X(cuMemFreeHost, (void *ptr))                                                              \
	X(cuMemHostRegister_v2, (void *ptr, size_t bytes, unsigned flags))                         \
	X(cuMemHostUnregister, (void *ptr))                                                        \
	X(cuMemHostGetDevicePointer_v2, (CUdeviceptr *dptr, void *ptr, unsigned flags))            \
	X(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes))                       \
	X(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes))                             \
	X(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))       \
	X(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream)) \
	X(cuMemsetD8Async, (CUdeviceptr ptr, unsigned char value, size_t count, CUstream stream))  \
	X(cuMemsetD32Async, (CUdeviceptr ptr, unsigned value, size_t count, CUstream stream))      \
	X(cuModuleLoadData, (CUmodule *module, const void *image))                                 \
	X(cuModuleUnload, (CUmodule module))                                                       \
	X(cuModuleGetFunction, (CUfunction *f, CUmodule module, const char *name))                 \
	X(cuFuncSetAttribute, (CUfunction f, int attribute, int value))                            \
	X(cuLaunchKernel, (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,       \
			   unsigned by, unsigned bz, unsigned shared, CUstream stream,             \
			   void **params, void **extra))                                           \
	X(cuLaunchCooperativeKernel, (CUfunction f, unsigned gx, unsigned gy, unsigned gz,         \
				      unsigned bx, unsigned by, unsigned bz, unsigned shared,      \
				      CUstream stream, void **params))                             \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, CUfunction f, int threads,    \
							size_t shared))                            \
	X(cuStreamSynchronize, (CUstream stream))

struct cuda_api {
	void *library;			/* handle from dlopen() */
	int version;			/* from cuDriverGetVersion(): 13000 is 13.0 */
	int devices;
#define CUDA_MEMBER(name, args) CUresult (*name) args;
	CUDA_CALLS(CUDA_MEMBER)
#undef CUDA_MEMBER
};

/*
 * The kernels (kernels_blob.c): a fat binary (0 bytes if built without nvcc), and nvcc's major
 * version.
 */
extern const unsigned char gtu_cuda_kernels[];
extern const size_t gtu_cuda_kernels_bytes;
extern const int gtu_cuda_kernels_major;

/*
 * Load the driver library (@library NULL: $GTU_CUDA_LIBRARY, else "libcuda.so.1"), resolve all
 * entry points and require at least one device. @major: minimum CUDA version of the driver.
 * GTU_ERR_UNSUPPORTED: names what is missing. Call gtu_cuda_unload() only if this returned 0.
 */
int gtu_cuda_load(struct cuda_api *api, const char *library, int major, struct gtu_error *err);
void gtu_cuda_unload(struct cuda_api *api);
/* Report a failed call; @what is the call with its sizes. Returns the gtu_status. */
int gtu_cuda_fail(const struct cuda_api *api, CUresult rc, struct gtu_error *err, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

#endif
