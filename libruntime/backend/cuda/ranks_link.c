// SPDX-License-Identifier: MIT
/*
 * Exchange between the memories of several GPUs. Kernels load from the memory of other cards of the process; between
 * processes, and cards that cannot reach each other, NCCL exchanges data; without it, the cards of one process copy, and
 * others go through host memory and the functions of struct gtu_ranks. The caller can choose.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "nccl.h"
#include "ranks.h"

#define START_SECONDS	60u		/* timeouts, times GTU_TIME_SCALE: of the start of NCCL */
#define STEP_SECONDS	8u		/* and of an exchange, which ranks begin together */

struct gpu_link {
	enum gtu_ranks_exchange wanted, way;	/* the caller's choice; not AUTO */
	bool held;			/* BY LOADS: kernels may still read what another rank sent */
	bool writes;			/* the card can change the others' memory by atomic operations */
	char name[500];
	struct nccl nccl;
	ncclComm_t comm;
	CUcontext *context;		/* of each rank's card, for copies */
	char *host[2];			/* to send and to receive, for host memory */
	uint64_t host_bytes[2];
};

/* A rank's message about itself to the others. */
struct card {
	uint64_t process;		/* a random number */
	uint64_t context;
	CUuuid uuid;
	int32_t device, nccl;		/* NCCL's version; 0: none */
	uint64_t exchange;		/* enum gtu_ranks_exchange */
};

static int give_up(struct gpu_ranks *k, int rc)
{
	struct gpu_link *l = k->link;

	if (l && l->comm) {
		l->nccl.ncclCommAbort(l->comm);
		l->comm = NULL;
	}
	return gtu_give_up(k->x, rc);
}

void gpu_link_close(struct gpu *gpu)
{
	struct gpu_link *l = gpu->link;

	if (!l)
		return;
	if (l->comm && !gpu_enter(gpu, NULL)) {
		l->nccl.ncclCommAbort(l->comm);
		gpu_leave(gpu);
	}
	free(l->context);
	free(l->host[0]);
	free(l->host[1]);
	free(l);
	gpu->link = NULL;
}

const char *gpu_link_name(const struct gtu_device *dev)
{
	const struct gpu *gpu = dev->backend;

	return gpu->link ? gpu->link->name : NULL;
}

/* ---- NCCL ---------------------------------------------------------------------------------------- */

/* Wait until the communicator has done what it was asked for, and with @stream until the card has. */
static int nccl_wait(struct gpu_ranks *k, unsigned seconds, bool stream, const char *call)
{
	struct gpu_link *l = k->link;
	struct gpu *gpu = k->r.gpu;
	const uint64_t limit = gtu_scaled(k->dev, seconds * 1000000000ull), start = gtu_now_ns();
	ncclResult_t state = ncclSuccess, rc;
	CUresult code;

	for (;;) {
		rc = l->nccl.ncclCommGetAsyncError(l->comm, &state);
		if (rc || (state && state != ncclInProgress))
			return gtu_nccl_fail(&l->nccl, l->comm, rc ? rc : state, k->x->err, call);
		code = !state && stream ? gpu->api.cuStreamQuery(NULL) : CUDA_SUCCESS;
		if (code && code != CUDA_ERROR_NOT_READY)
			return gtu_cuda_fail(&gpu->api, code, k->x->err, "%s: cuStreamQuery", call);
		if (!state && !code)
			return 0;
		if (gtu_now_ns() - start > limit)
			return gtu_fail(k->x->err, GTU_ERR_TIMEOUT, "%s of rank %u did not end within %u s: another rank hangs or "
					"has ended", call, k->rank, seconds);
	}
}

/* A call that may go on in the background. */
static int nccl_called(struct gpu_ranks *k, ncclResult_t rc, const char *call)
{
	return rc && rc != ncclInProgress ? gtu_nccl_fail(&k->link->nccl, k->link->comm, rc, k->x->err, call) : 0;
}

static int nccl_start(struct gpu_ranks *k)
{
	struct gpu_link *l = k->link;
	const struct gtu_ranks *ranks = &k->x->ranks;
	ncclConfig_t config = { .size = sizeof(config), .magic = NCCL_CONFIG_MAGIC, .version = NCCL_LEAST };
	ncclUniqueId id = { { 0 } };
	uint64_t none = 0;
	int rc = 0;

	if (!k->rank)
		rc = nccl_called(k, l->nccl.ncclGetUniqueId(&id), "ncclGetUniqueId");
	rc = gtu_agree(k->x, rc, &none, 1);
	if (rc)
		return rc;
	rc = ranks->broadcast(ranks->context, 0, &id, sizeof(id), k->x->err);
	if (rc)
		return give_up(k, rc);
	rc = nccl_called(k, l->nccl.ncclCommInitRankConfig(&l->comm, (int)k->size, id, (int)k->rank, &config),
			 "ncclCommInitRankConfig");
	/* the others wait for this rank */
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc)
		rc = nccl_wait(k, START_SECONDS, false, "ncclCommInitRankConfig");
	if (rc)
		return give_up(k, rc);
	snprintf(l->name, sizeof(l->name), "NCCL %d.%d.%d", l->nccl.version / 10000, l->nccl.version / 100 % 100,
		 l->nccl.version % 100);
	/* a rank that fails and aborts its communicator must not disturb others that still start theirs */
	return gtu_agree(k->x, 0, &none, 1);
}

static int nccl_exchange(struct gpu_ranks *k)
{
	struct gpu_link *l = k->link;
	struct nccl *n = &l->nccl;
	uint32_t i;
	int rc = nccl_called(k, n->ncclGroupStart(), "ncclGroupStart"), end;

	if (rc)
		return rc;
	for (i = 0; i < k->size && !rc; i++) {
		if (k->send_bytes[i])
			rc = nccl_called(k, n->ncclSend((const void *)(uintptr_t)k->send[i], k->send_bytes[i], ncclUint8, (int)i,
							l->comm, NULL), "ncclSend");
		if (!rc && k->receive_bytes[i])
			rc = nccl_called(k, n->ncclRecv((void *)(uintptr_t)k->receive[i], k->receive_bytes[i], ncclUint8, (int)i,
							l->comm, NULL), "ncclRecv");
	}
	end = n->ncclGroupEnd();
	if (!rc)
		rc = nccl_called(k, end, "ncclGroupEnd");
	return rc ? rc : nccl_wait(k, STEP_SECONDS, true, "ncclGroupEnd");
}

/* ---- Between the cards of one process: copies, and loads --------------------------------------------- */

/* Let kernels read @from of rank @i's card, or copy it by a kernel. */
static int load(struct gpu_ranks *k, uint32_t i, CUdeviceptr from, bool into_inbox)
{
	uint64_t words = k->receive_bytes[i] / 4;
	void *args[] = { &k->receive[i], &from, &words };

	if (!into_inbox)
		return gpu_launch(k->r.gpu, "ranks_fetch", words, args, k->x->err);
	k->receive[i] = from;
	return 0;
}

static int peer_exchange(struct gpu_ranks *k, bool into_inbox)
{
	const struct gtu_ranks *ranks = &k->x->ranks;
	struct gpu *gpu = k->r.gpu;
	CUdeviceptr *all = malloc((uint64_t)k->size * k->size * sizeof(*all)), from;
	CUresult code;
	uint64_t none = 0;
	uint32_t i;
	int rc = all ? gpu_wait(gpu, k->r.name, k->x->err) : gtu_outbox_full(k->x);

	if (!rc)
		rc = ranks->all_gather(ranks->context, k->send, k->size * sizeof(*all), all, k->x->err);
	if (rc) {
		free(all);
		return rc;
	}
	for (i = 0; i < k->size && !rc; i++) {
		if (!k->receive_bytes[i])
			continue;
		from = all[(uint64_t)i * k->size + k->rank];
		if (k->link->way == GTU_EXCHANGE_LOADS) {
			rc = load(k, i, from, into_inbox);
			continue;
		}
		code = gpu->api.cuMemcpyPeer(k->receive[i], gpu->context, from, k->link->context[i], k->receive_bytes[i]);
		if (code)
			rc = gtu_cuda_fail(&gpu->api, code, k->x->err, "cuMemcpyPeer of %llu bytes from rank %u",
					   (unsigned long long)k->receive_bytes[i], i);
	}
	free(all);
	k->link->held = into_inbox && k->link->way == GTU_EXCHANGE_LOADS;
	if (k->link->held)
		return rc;
	if (!rc)
		rc = gpu_wait(gpu, k->r.name, k->x->err);
	/* then the others may change their memory again, and a rank that failed may free it */
	return gtu_agree(k->x, rc, &none, 1);
}

/* ---- Through host memory ------------------------------------------------------------------------------ */

static int host_space(struct gpu_ranks *k, unsigned which, uint64_t bytes)
{
	struct gpu_link *l = k->link;

	if (bytes <= l->host_bytes[which])
		return 0;
	free(l->host[which]);
	l->host[which] = malloc(bytes);
	l->host_bytes[which] = l->host[which] ? bytes : 0;
	return l->host[which] ? 0 : gtu_outbox_full(k->x);
}

static int host_exchange(struct gpu_ranks *k)
{
	const struct gtu_ranks *ranks = &k->x->ranks;
	struct gpu_link *l = k->link;
	const void **send = calloc(k->size, sizeof(*send));
	void **receive = calloc(k->size, sizeof(*receive));
	uint64_t out = 0, in = 0;
	uint32_t i;
	int rc = send && receive ? 0 : gtu_outbox_full(k->x);

	for (i = 0; i < k->size; i++) {
		out += gpu_round_up(k->send_bytes[i]);
		in += gpu_round_up(k->receive_bytes[i]);
	}
	if (!rc)
		rc = host_space(k, 0, out + 1);
	if (!rc)
		rc = host_space(k, 1, in + 1);
	if (!rc)
		rc = gpu_wait(k->r.gpu, k->r.name, k->x->err);
	for (i = 0, in = out = 0; i < k->size && !rc; i++) {
		send[i] = l->host[0] + out;
		receive[i] = l->host[1] + in;
		rc = gpu_download(k->r.gpu, l->host[0] + out, k->send[i], k->send_bytes[i], k->x->err);
		out += gpu_round_up(k->send_bytes[i]);
		in += gpu_round_up(k->receive_bytes[i]);
	}
	if (!rc)
		rc = ranks->all_to_all_v(ranks->context, send, k->send_bytes, receive, k->receive_bytes, k->x->err);
	for (i = 0; i < k->size && !rc; i++)
		rc = gpu_upload(k->r.gpu, k->receive[i], receive[i], k->receive_bytes[i], k->x->err);
	free(send);
	free(receive);
	return rc;
}

/* ---- Choice of the way ------------------------------------------------------------------------------ */

/* A random number that all threads of this process share. */
static uint64_t process_number(void)
{
	static uint64_t number;
	uint64_t fresh = 0, none = 0;

	while (!fresh)
		if (getrandom(&fresh, sizeof(fresh), 0) != sizeof(fresh))
			fresh = gtu_now_ns() ^ (uint64_t)getpid() << 32;
	return __atomic_compare_exchange_n(&number, &none, fresh, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? fresh : none;
}

/* Why NCCL cannot be used, in @why; "": it can. The same on all ranks. */
static void refuse_nccl(const struct gpu_ranks *k, const struct card *card, char *why, size_t bytes)
{
	uint32_t i, j;

	*why = 0;
	for (i = 0; i < k->size && !*why; i++) {
		if (!card[i].nccl && i == k->rank)
			snprintf(why, bytes, "%s", k->link->nccl.missing);
		else if (!card[i].nccl)
			snprintf(why, bytes, "rank %u has no NCCL, or does not use it", i);
		else if (card[i].nccl != card[0].nccl)
			snprintf(why, bytes, "rank %u has NCCL version %d, but rank 0 has %d", i, card[i].nccl, card[0].nccl);
		for (j = 0; j < i && !*why; j++)
			if (!memcmp(&card[i].uuid, &card[j].uuid, sizeof(card[i].uuid)))
				snprintf(why, bytes, "ranks %u and %u share one card, which NCCL does not support", j, i);
	}
}

/* Let this card's copies reach the other cards; *reach: whether they do. */
static int reach_peers(struct gpu_ranks *k, const struct card *card, bool *reach, char *why, size_t bytes)
{
	struct gpu *gpu = k->r.gpu;
	CUresult code = CUDA_SUCCESS;
	uint32_t i;
	int can = 1, atomic = 1;

	k->link->writes = true;
	for (i = 0; i < k->size && !code; i++) {
		if (card[i].device == gpu->device)
			continue;
		code = gpu->api.cuDeviceCanAccessPeer(&can, gpu->device, card[i].device);
		if (!code && !can) {
			snprintf(why, bytes, "cards %d and %d cannot access each other's memory", gpu->device, card[i].device);
			*reach = false;
			return 0;
		}
		if (!code)
			code = gpu->api.cuCtxEnablePeerAccess((CUcontext)(uintptr_t)card[i].context, 0);
		if (code == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
			code = CUDA_SUCCESS;
		if (gpu->api.cuDeviceGetP2PAttribute(&atomic, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, gpu->device,
						     card[i].device) || !atomic)
			k->link->writes = false;
	}
	*reach = true;
	return code ? gtu_cuda_fail(&gpu->api, code, k->x->err, "cuCtxEnablePeerAccess of card %d", gpu->device) : 0;
}

/* Why the cards cannot reach each other, in @why; "": they can. *distinct: no two ranks share a card. Collective. */
static int refuse_peers(struct gpu_ranks *k, const struct card *card, char *why, size_t bytes, bool *distinct)
{
	bool one = true, reach = false;
	uint64_t reaches;
	uint32_t i, j;
	int rc = 0;

	snprintf(why, bytes, "the ranks are several processes");
	*distinct = true;
	for (i = 0; i < k->size; i++) {
		one = one && card[i].process == card[0].process;
		for (j = 0; j < i; j++)
			*distinct = *distinct && memcmp(&card[i].uuid, &card[j].uuid, sizeof(card[i].uuid));
	}
	if (one)
		rc = reach_peers(k, card, &reach, why, bytes);
	reaches = reach;
	rc = gtu_agree(k->x, rc, &reaches, 1);
	if (!rc && reaches == k->size)
		*why = 0;
	else if (!rc && reach)
		snprintf(why, bytes, "some cards cannot access each other's memory");
	return rc;
}

static const char *const way_name[] = {
	[GTU_EXCHANGE_AUTO] = "any way", [GTU_EXCHANGE_NCCL] = "NCCL", [GTU_EXCHANGE_COPIES] = "copies between the cards",
	[GTU_EXCHANGE_LOADS] = "loads from the other cards", [GTU_EXCHANGE_HOST] = "host memory",
};

static int unavailable(struct gpu_ranks *k, enum gtu_ranks_exchange way, const char *why)
{
	return gtu_fail(k->x->err, GTU_ERR_UNSUPPORTED, "the GPUs cannot exchange data by %s: %s", way_name[way], why);
}

/* Let each rank load NCCL, and tell the others its version. Collective. */
static int load_nccl(struct gpu_ranks *k, struct card *card)
{
	const struct gtu_ranks *ranks = &k->x->ranks;
	struct card own = card[k->rank];
	int rc;

	gtu_nccl_load(&k->link->nccl);
	own.nccl = k->link->nccl.library ? k->link->nccl.version : 0;
	rc = ranks->all_gather(ranks->context, &own, sizeof(own), card, k->x->err);
	return rc ? give_up(k, rc) : 0;
}

/* Collective. */
static int choose_way(struct gpu_ranks *k, struct card *card)
{
	const enum gtu_ranks_exchange want = (enum gtu_ranks_exchange)card[0].exchange;
	struct gpu_link *l = k->link;
	char why[320] = "", blocked[120] = "";
	bool distinct = true;
	uint32_t i;
	int rc = 0;

	for (i = 1; i < k->size; i++)
		if (card[i].exchange != want)
			return gtu_fail(k->x->err, GTU_ERR_USAGE, "rank %u exchanges data by %s, but rank 0 by %s", i,
					way_name[card[i].exchange], way_name[want]);
	if (want != GTU_EXCHANGE_HOST && want != GTU_EXCHANGE_NCCL)
		rc = refuse_peers(k, card, blocked, sizeof(blocked), &distinct);
	if (rc)
		return rc;
	if (*blocked && want)
		return unavailable(k, want, blocked);
	l->way = want ? want : !*blocked && distinct ? GTU_EXCHANGE_LOADS : GTU_EXCHANGE_NCCL;
	snprintf(l->name, sizeof(l->name), "%s", way_name[l->way]);
	if (l->way != GTU_EXCHANGE_NCCL)
		return 0;
	rc = load_nccl(k, card);
	if (rc)
		return rc;
	refuse_nccl(k, card, why, sizeof(why));
	if (!*why)
		return nccl_start(k);
	if (want)
		return unavailable(k, want, why);
	l->way = *blocked ? GTU_EXCHANGE_HOST : GTU_EXCHANGE_COPIES;
	snprintf(l->name, sizeof(l->name), "%s, without NCCL: %s%s%s", way_name[l->way], why, *blocked ? "; " : "", blocked);
	return 0;
}

static int describe_card(struct gpu_ranks *k, struct card *c)
{
	struct gpu *gpu = k->r.gpu;
	CUresult code;

	*c = (struct card){ .process = process_number(), .context = (uintptr_t)gpu->context, .device = gpu->device };
	code = gpu->api.cuDeviceGetUuid(&c->uuid, gpu->device);
	if (code)
		return gtu_cuda_fail(&gpu->api, code, k->x->err, "cuDeviceGetUuid");
	c->exchange = k->link->wanted;
	return 0;
}

int gpu_link_open(struct gpu_ranks *k)
{
	const struct gtu_ranks *ranks = &k->x->ranks;
	struct gpu_link *l = calloc(1, sizeof(*l));
	struct card own, *card = calloc(k->size, sizeof(*card));
	uint64_t none = 0;
	uint32_t i;
	int rc = 0;

	k->link = k->r.gpu->link = l;
	if (l)
		l->wanted = k->x->way;
	if (l)
		l->context = calloc(k->size, sizeof(*l->context));
	if (!l || !card || !l->context)
		rc = gtu_outbox_full(k->x);
	if (!rc)
		rc = describe_card(k, &own);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc) {
		rc = ranks->all_gather(ranks->context, &own, sizeof(own), card, k->x->err);
		if (rc)
			give_up(k, rc);
	}
	if (!rc) {
		for (i = 0; i < k->size; i++)
			l->context[i] = (CUcontext)(uintptr_t)card[i].context;
		rc = choose_way(k, card);
	}
	free(card);
	if (rc)
		gpu_link_close(k->r.gpu);
	return rc;
}

/* ---- Exchange ---------------------------------------------------------------------------------------- */

static int grow_inbox(struct gpu_ranks *k)
{
	uint64_t total = 0;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < k->size; i++)
		total += gpu_round_up(k->receive_bytes[i]);
	if (total > k->inbox.bytes) {
		gpu_memory_free(k->r.gpu, &k->inbox);
		rc = gpu_memory_alloc(k->r.gpu, GTU_EDGES_DEVICE, total, &k->inbox, k->x->err);
	}
	for (i = 0, total = 0; i < k->size; i++) {
		k->receive[i] = k->inbox.device + total;
		total += gpu_round_up(k->receive_bytes[i]);
	}
	return rc;
}

/* Count the time of an exchange; returns the phase to return to. */
static const char *begin_exchange(struct gpu_ranks *k)
{
	const struct gtu_phases *p = &k->r.phases;
	const char *phase = p->stats->phase[p->phase].name;

	gtu_phase(&k->r.phases, "exchange");
	return phase;
}

int gpu_link_exchange(struct gpu_ranks *k, enum gtu_cargo cargo, bool into_inbox)
{
	const char *phase = begin_exchange(k);
	uint64_t sent = 0;
	uint32_t i;
	int rc;

	k->send_bytes[k->rank] = k->receive_bytes[k->rank] = 0;
	rc = into_inbox && k->link->way != GTU_EXCHANGE_LOADS ? grow_inbox(k) : 0;
	if (!rc)
		rc = k->link->way == GTU_EXCHANGE_NCCL ? nccl_exchange(k) :
		     k->link->way == GTU_EXCHANGE_HOST ? host_exchange(k) : peer_exchange(k, into_inbox);
	if (rc)
		return give_up(k, rc);
	for (i = 0; i < k->size; i++)
		sent += k->send_bytes[i];
	gtu_exchange_count(k->x, cargo, sent);
	gtu_phase(&k->r.phases, phase);
	return 0;
}

int gpu_link_exchange_elements(struct gpu_ranks *k, uint64_t bytes, bool into_inbox)
{
	uint32_t i;

	for (i = 0; i < k->size; i++) {
		k->send_bytes[i] = bytes * k->outgoing[i];
		k->receive_bytes[i] = bytes * k->incoming[i];
	}
	return gpu_link_exchange(k, GTU_CARGO_VALUES, into_inbox);
}

int gpu_link_gather_values(struct gpu_ranks *k, CUdeviceptr values, uint64_t width)
{
	uint32_t i;

	for (i = 0; i < k->size; i++) {
		k->outgoing[i] = k->own;
		k->incoming[i] = gpu_ranks_range(k, i);
		k->send[i] = values + width * k->first;
		k->receive[i] = values + width * k->cut[i];
	}
	return gpu_link_exchange_elements(k, width, false);
}

int gpu_link_release(struct gpu_ranks *k, int rc)
{
	uint64_t none = 0;

	if (!k->link->held)
		return rc;
	k->link->held = false;
	return gtu_agree(k->x, rc, &none, 1);
}

bool gpu_link_is(const struct gpu *gpu, enum gtu_ranks_exchange wanted)
{
	return gpu->link && gpu->link->wanted == wanted;
}

bool gpu_link_loads(const struct gpu_ranks *k)
{
	return k->link->way == GTU_EXCHANGE_LOADS;
}

bool gpu_link_writes(const struct gpu_ranks *k)
{
	return gpu_link_loads(k) && k->link->writes;
}

int gpu_link_addresses(struct gpu_ranks *k, CUdeviceptr mine, CUdeviceptr *all)
{
	const int rc = k->x->ranks.all_gather(k->x->ranks.context, &mine, sizeof(mine), all, k->x->err);

	return rc ? give_up(k, rc) : 0;
}

int gpu_link_gather(struct gpu_ranks *k, enum gtu_cargo cargo, CUdeviceptr mine, const uint64_t *bytes, uint64_t stride,
		    CUdeviceptr all)
{
	struct gpu_link *l = k->link;
	const char *phase;
	uint64_t total = 0;
	CUresult code;
	uint32_t i;
	int rc;

	for (i = 0; i < k->size; i++)
		total += bytes[i];
	/* pieces of one size are for ranges of about the same size */
	if (l->way == GTU_EXCHANGE_NCCL && k->size * stride <= 2 * total) {
		phase = begin_exchange(k);
		rc = nccl_called(k, l->nccl.ncclAllGather((const void *)(uintptr_t)mine, (void *)(uintptr_t)all, stride, ncclUint8,
							  l->comm, NULL), "ncclAllGather");
		if (!rc)
			rc = nccl_wait(k, STEP_SECONDS, true, "ncclAllGather");
		if (rc)
			return give_up(k, rc);
		gtu_exchange_count(k->x, cargo, (k->size - 1) * stride);
		gtu_phase(&k->r.phases, phase);
		return 0;
	}
	for (i = 0; i < k->size; i++) {
		k->send[i] = mine;
		k->send_bytes[i] = bytes[k->rank];
		k->receive[i] = all + i * stride;
		k->receive_bytes[i] = bytes[i];
	}
	code = !bytes[k->rank] ? CUDA_SUCCESS :
	       k->r.gpu->api.cuMemcpyPeer(all + k->rank * stride, k->r.gpu->context, mine, k->r.gpu->context, bytes[k->rank]);
	if (code)
		return give_up(k, gtu_cuda_fail(&k->r.gpu->api, code, k->x->err, "cuMemcpyPeer of %llu bytes",
						(unsigned long long)bytes[k->rank]));
	return gpu_link_exchange(k, cargo, false);
}
