/* SPDX-License-Identifier: MIT */
/*
 * The subset of NCCL that this backend uses, declared here so that the build needs no NCCL headers. The
 * library is loaded when GPUs first run as ranks (nccl.c). Names, values and layouts are those of NCCL.
 */
#ifndef GTU_CUDA_NCCL_H
#define GTU_CUDA_NCCL_H

#include <stdbool.h>

#include "api.h"

typedef int ncclResult_t;
typedef struct ncclComm *ncclComm_t;
typedef struct {
	char internal[128];
} ncclUniqueId;

enum { ncclSuccess = 0, ncclInProgress = 7 };
enum { ncclUint8 = 1 };

/* The members of version 2.14: NCCL uses its defaults for those of later versions. */
typedef struct {
	size_t size;
	unsigned magic, version;
	int blocking;
} ncclConfig_t;
#define NCCL_CONFIG_MAGIC	0xcafebeefu
#define NCCL_LEAST		21400	/* the first version with communicators that do not block */

#define NCCL_CALLS(X)                                                                              \
	X(ncclGetVersion, (int *version))                                                          \
	X(ncclGetUniqueId, (ncclUniqueId *id))                                                     \
	X(ncclCommInitRankConfig, (ncclComm_t *comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t *config)) \
	X(ncclCommAbort, (ncclComm_t comm))                                                        \
	X(ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t *error))                           \
	X(ncclAllGather, (const void *send, void *receive, size_t count, int type, ncclComm_t comm, CUstream stream)) \
	X(ncclSend, (const void *send, size_t count, int type, int peer, ncclComm_t comm, CUstream stream)) \
	X(ncclRecv, (void *receive, size_t count, int type, int peer, ncclComm_t comm, CUstream stream)) \
	X(ncclGroupStart, (void))                                                                  \
	X(ncclGroupEnd, (void))

struct nccl {
	void *library;			/* NULL: there is none, for the reason in `missing` */
	int version;			/* 22809 is 2.28.9 */
	char missing[300];
#define NCCL_MEMBER(name, args) ncclResult_t (*name) args;
	NCCL_CALLS(NCCL_MEMBER)
#undef NCCL_MEMBER
	const char *(*ncclGetErrorString)(ncclResult_t rc);
	const char *(*ncclGetLastError)(ncclComm_t comm);
};

/* Load $GTU_NCCL_LIBRARY, else "libnccl.so.2", if $NCCL_NVLS_ENABLE says whether NCCL may use multicast. */
void gtu_nccl_load(struct nccl *n);
int gtu_nccl_fail(const struct nccl *n, ncclComm_t comm, ncclResult_t rc, struct gtu_error *err, const char *call);

#endif
