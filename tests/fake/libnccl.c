// SPDX-License-Identifier: MIT
/*
 * A fake NCCL over the fake CUDA driver, for ranks that are threads of one process. It ends the program if ranks do
 * not call the same operations in the same order, with equal counts and types, on aligned memory of their own device. Any
 * call can be made to fail; then the other ranks get an error, too.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_cuda.h"
#include "fake_nccl.h"
#include "libruntime/backend/cuda/nccl.h"

#define RANKS_MOST	8
#define OPS_MOST	32
#define SECONDS_MOST	20		/* that a rank waits for another one */
#define FAILURE		2		/* ncclSystemError */
#define REMOTE		6		/* ncclRemoteError */

struct fake_nccl fake_nccl = { .version = 22809 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* A message that waits for its receiver. */
struct message {
	const void *from;
	size_t count;
	int type, device;
	const char *call;
	bool taken;
	struct message *next;
};

struct group {
	struct group *next;
	ncclUniqueId id;
	int ranks, joined;
	bool dead;
	int device[RANKS_MOST];
	struct message *waiting[RANKS_MOST][RANKS_MOST];	/* by sender and receiver, in order */
};
static struct group *groups;

struct ncclComm {
	struct group *group;
	int rank;
};

struct op {
	struct ncclComm *comm;
	const char *call;
	void *to;			/* to receive; NULL: to send */
	struct message message;
	int peer;
};
static __thread struct op ops[OPS_MOST];
static __thread int op_count, group_depth;

static void wrong(const char *what, const char *call, int rank)
{
	fprintf(stderr, "NCCL: %s in %s of rank %d\n", what, call, rank);
	abort();
}

static bool fails(const char *name)
{
	if (__atomic_add_fetch(&fake_nccl.calls, 1, __ATOMIC_RELAXED) != fake_nccl.fail_at)
		return false;
	fake_nccl.failed = name;
	return true;
}
#define FAIL()                                                                                     \
	do {                                                                                       \
		if (fails(__func__))                                                               \
			return FAILURE;                                                            \
	} while (0)

/* The driver that the library has loaded. */
static void *driver(const char *name)
{
	void *library = dlopen(getenv("GTU_CUDA_LIBRARY"), RTLD_NOW | RTLD_NOLOAD), *symbol = library ? dlsym(library, name) : NULL;

	if (!symbol)
		wrong("the fake CUDA driver is not loaded", name, -1);
	dlclose(library);
	return symbol;
}

ncclResult_t ncclGetVersion(int *version)
{
	FAIL();
	*version = fake_nccl.version;
	return ncclSuccess;
}

#ifndef FAKE_OLD
const char *ncclGetLastError(ncclComm_t comm)
{
	(void)comm;
	return "";
}
#endif

const char *ncclGetErrorString(ncclResult_t rc)
{
	return rc == REMOTE ? "remote process exited or there was a network error" : "as the test wanted";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
	static int number;

	FAIL();
	memset(id, 0, sizeof(*id));
	snprintf(id->internal, sizeof(id->internal), "group %d", __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED));
	return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t *config)
{
	int (*device)(void) = (int (*)(void))driver("fake_cuda_device");
	struct group *g;

	FAIL();
	if (config->size < sizeof(*config) || config->magic != 0xcafebeef || config->version < 21400 || config->blocking)
		wrong("an unknown configuration", __func__, rank);
	if (ranks < 1 || ranks > RANKS_MOST || rank < 0 || rank >= ranks || !*id.internal)
		wrong("an invalid rank or id", __func__, rank);
	if (!getenv("NCCL_NVLS_ENABLE") || !*getenv("NCCL_NVLS_ENABLE"))
		wrong("multicast is not switched off", __func__, rank);
	*comm = calloc(1, sizeof(**comm));
	pthread_mutex_lock(&lock);
	for (g = groups; g && memcmp(&g->id, &id, sizeof(id)); g = g->next)
		;
	if (!g) {
		g = calloc(1, sizeof(*g));
		g->id = id;
		g->ranks = ranks;
		g->next = groups;
		groups = g;
	}
	if (g->ranks != ranks)
		wrong("another number of ranks", __func__, rank);
	g->device[rank] = device();
	for (int i = 0; i < ranks; i++)
		if (g->joined == ranks - 1 && i != rank && g->device[i] == g->device[rank])
			wrong("two ranks on one device", __func__, rank);
	g->joined++;
	fake_nccl.live++;
	pthread_mutex_unlock(&lock);
	(*comm)->group = g;
	(*comm)->rank = rank;
	return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
	FAIL();
	pthread_mutex_lock(&lock);
	*error = comm->group->dead ? REMOTE : comm->group->joined < comm->group->ranks ? ncclInProgress : ncclSuccess;
	pthread_mutex_unlock(&lock);
	return ncclSuccess;
}

/* The group stays: other ranks may still have its communicator. */
ncclResult_t ncclCommAbort(ncclComm_t comm)
{
	pthread_mutex_lock(&lock);
	comm->group->dead = true;
	fake_nccl.live--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	free(comm);
	return ncclSuccess;
}

__attribute__((destructor)) static void free_groups(void)
{
	struct group *g;

	while ((g = groups)) {
		groups = g->next;
		free(g);
	}
}

/* Wait for another rank. Call with the lock held. */
static void wait_for(const struct op *op)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += SECONDS_MOST;
	if (pthread_cond_timedwait(&changed, &lock, &limit))
		wrong("another rank does not call the same", op->call, op->comm->rank);
}

static void post(struct op *op)
{
	struct message **at = &op->comm->group->waiting[op->comm->rank][op->peer];

	while (*at)
		at = &(*at)->next;
	op->message.device = op->comm->group->device[op->comm->rank];
	*at = &op->message;
}

static ncclResult_t receive(struct op *op)
{
	void (*copy)(CUdeviceptr, int, CUdeviceptr, int, size_t) =
		(void (*)(CUdeviceptr, int, CUdeviceptr, int, size_t))driver("fake_cuda_copy");
	struct group *g = op->comm->group;
	struct message **at = &g->waiting[op->peer][op->comm->rank], *m;

	while (!*at && !g->dead)
		wait_for(op);
	if (g->dead)
		return REMOTE;
	m = *at;
	if (m->count != op->message.count || m->type != op->message.type)
		wrong("a count or type that is not the sender's", op->call, op->comm->rank);
	if ((m->call == op->call) != !strcmp(op->call, "ncclAllGather"))
		wrong("another call than the sender's", op->call, op->comm->rank);
	copy((uintptr_t)op->to, g->device[op->comm->rank], (uintptr_t)m->from, m->device, m->count);
	*at = m->next;
	m->taken = true;
	pthread_cond_broadcast(&changed);
	return ncclSuccess;
}

/* A message must not stay in the list when its sender returns. */
static void withdraw(struct op *op)
{
	struct message **at = &op->comm->group->waiting[op->comm->rank][op->peer];

	while (*at && *at != &op->message)
		at = &(*at)->next;
	if (*at)
		*at = op->message.next;
}

static ncclResult_t run_ops(void)
{
	ncclResult_t rc = ncclSuccess;
	int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < op_count; i++)
		if (!ops[i].to)
			post(&ops[i]);
	pthread_cond_broadcast(&changed);
	for (i = 0; i < op_count && !rc; i++)
		if (ops[i].to)
			rc = receive(&ops[i]);
	for (i = 0; i < op_count; i++) {
		while (!rc && !ops[i].to && !ops[i].message.taken && !ops[i].comm->group->dead)
			wait_for(&ops[i]);
		if (!ops[i].to && !ops[i].message.taken) {
			withdraw(&ops[i]);
			rc = rc ? rc : REMOTE;
		}
	}
	pthread_mutex_unlock(&lock);
	op_count = 0;
	return rc;
}

static ncclResult_t add(ncclComm_t comm, const char *call, const void *from, void *to, size_t count, int type, int peer)
{
	if (op_count == OPS_MOST || peer < 0 || peer >= comm->group->ranks || peer == comm->rank)
		wrong("an invalid peer", call, comm->rank);
	if (!count || type != ncclUint8 || ((uintptr_t)from | (uintptr_t)to) % 4)
		wrong("no data, a wrong type or unaligned memory", call, comm->rank);
	ops[op_count++] = (struct op){ .comm = comm, .call = call, .to = to, .peer = peer,
				       .message = { .from = from, .count = count, .type = type, .call = call } };
	return ncclSuccess;
}

ncclResult_t ncclGroupStart(void)
{
	FAIL();
	if (!group_depth++)
		op_count = 0;
	return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
	if (--group_depth)
		wrong("groups do not nest", __func__, -1);
	FAIL();
	return run_ops();
}

ncclResult_t ncclSend(const void *send, size_t count, int type, int peer, ncclComm_t comm, CUstream stream)
{
	(void)stream;
	FAIL();
	if (!group_depth)
		wrong("a send without a group", __func__, comm->rank);
	__atomic_add_fetch(&fake_nccl.sends, 1, __ATOMIC_RELAXED);
	return add(comm, "ncclSend", send, NULL, count, type, peer);
}

ncclResult_t ncclRecv(void *receive, size_t count, int type, int peer, ncclComm_t comm, CUstream stream)
{
	(void)stream;
	FAIL();
	if (!group_depth)
		wrong("a receive without a group", __func__, comm->rank);
	return add(comm, "ncclRecv", NULL, receive, count, type, peer);
}

ncclResult_t ncclAllGather(const void *send, void *all, size_t count, int type, ncclComm_t comm, CUstream stream)
{
	static const char name[] = "ncclAllGather";
	void (*copy)(CUdeviceptr, int, CUdeviceptr, int, size_t) =
		(void (*)(CUdeviceptr, int, CUdeviceptr, int, size_t))driver("fake_cuda_copy");
	const int own = comm->group->device[comm->rank];
	int i;

	(void)stream;
	FAIL();
	if (group_depth)
		wrong("a gather in a group", name, comm->rank);
	__atomic_add_fetch(&fake_nccl.gathers, 1, __ATOMIC_RELAXED);
	op_count = 0;
	for (i = 0; i < comm->group->ranks; i++) {
		if (i == comm->rank)
			continue;
		add(comm, name, send, NULL, count, type, i);
		add(comm, name, NULL, (char *)all + (size_t)i * count, count, type, i);
	}
	copy((uintptr_t)all + (size_t)comm->rank * count, own, (uintptr_t)send, own, count);
	return run_ops();
}
