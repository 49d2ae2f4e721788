// SPDX-License-Identifier: MIT
/* Measures link bandwidth by access pattern, and probes it for placement. */
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

/*
 * Pinned memory serves random reads as fast as managed memory from 512 MB, four times slower from 1
 * GB, and ten times slower from 8 GB. A probe must therefore be as large as the list, up to
 * PROBE_MAX.
 */
#define PROBE_MIN	(16ull << 20)
#define PROBE_MAX	(1ull << 30)
#define RANDOM_READS	(1ull << 22)
#define ROUNDS_MAX	32

static const char *const access_name[] = {
	"copy", "sequential", "shifted", "strided", "random-128", "random-64", "random-32",
};

const char *gtu_link_access_name(uint32_t access)
{
	return access < GTU_LINK_ACCESSES ? access_name[access] : NULL;
}

struct link {
	struct gpu *gpu;
	struct gpu_memory memory, sink, to;
	uint64_t bytes;
};

static int fill_random(void *arg, uint64_t first, uint64_t end)
{
	uint64_t *to = arg, i, x;

	for (i = first; i < end; i++) {
		x = i * 0x9e3779b97f4a7c15u;
		to[i] = x ^ x >> 31;
	}
	return 0;
}

static int begin(struct link *l, struct gpu *gpu, uint32_t edges, uint64_t bytes, struct gtu_error *err)
{
	uint64_t *host;
	int rc;

	memset(l, 0, sizeof(*l));
	l->gpu = gpu;
	l->bytes = bytes &= ~4095ull;
	if (edges == GTU_EDGES_REGISTERED) {
		host = aligned_alloc(4096, bytes);
		if (!host)
			return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu bytes", (unsigned long long)bytes);
		gtu_parallel(fill_random, host, bytes / 8);
		rc = gpu_memory_register(gpu, host, bytes, false, &l->memory, err);
		if (rc)
			free(host);
	} else {
		rc = gpu_memory_alloc(gpu, edges, bytes, &l->memory, err);
		if (!rc && l->memory.host)
			gtu_parallel(fill_random, l->memory.host, bytes / 8);
		else if (!rc)
			rc = gpu_fill(gpu, l->memory.device, 0xa5, bytes, err);
	}
	if (!rc)
		rc = gpu_memory_alloc(gpu, GTU_EDGES_DEVICE, 4, &l->sink, err);
	return rc ? rc : gpu_touch(gpu, &l->memory, err);
}

static void end(struct link *l)
{
	void *own = l->memory.kind == GTU_EDGES_REGISTERED ? l->memory.host : NULL;

	gpu_memory_free(l->gpu, &l->memory);
	gpu_memory_free(l->gpu, &l->sink);
	gpu_memory_free(l->gpu, &l->to);
	free(own);
}

static uint64_t block_bytes(uint32_t access)
{
	return access == GTU_LINK_RANDOM_32 ? 32 : access == GTU_LINK_RANDOM_64 ? 64 : 128;
}

/* Limits the number of reads, so that slow memory does not take minutes. */
static uint64_t random_reads(const struct link *l, uint32_t access)
{
	uint64_t blocks = l->bytes / block_bytes(access);

	return blocks < RANDOM_READS ? blocks : RANDOM_READS;
}

static int launch_access(struct link *l, uint32_t access, uint64_t seed, struct gtu_error *err)
{
	uint64_t from = l->memory.device, words = l->bytes / 4, sink = l->sink.device, reads = random_reads(l, access);
	uint32_t shift = access == GTU_LINK_SHIFTED ? 8 : 0, log2 = 5;
	void *in_order[] = { &from, &words, &shift, &sink }, *strided[] = { &from, &words, &sink },
	     *random[] = { &from, &words, &log2, &seed, &reads, &sink };
	CUresult rc;

	switch (access) {
	case GTU_LINK_COPY:
		rc = l->gpu->api.cuMemcpyHtoDAsync_v2(l->to.device, l->memory.host, l->bytes, NULL);
		return rc ? gtu_cuda_fail(&l->gpu->api, rc, err, "cuMemcpyHtoDAsync of %llu bytes",
					  (unsigned long long)l->bytes) : 0;
	case GTU_LINK_SEQUENTIAL:
	case GTU_LINK_SHIFTED:
		return gpu_launch(l->gpu, "link_sequential", words, in_order, err);
	case GTU_LINK_STRIDED:
		return gpu_launch(l->gpu, "link_strided", words / 1024, strided, err);
	case GTU_LINK_RANDOM_32:
		log2 = 3;
		break;
	case GTU_LINK_RANDOM_64:
		log2 = 4;
		break;
	}
	return gpu_launch(l->gpu, "link_random", words, random, err);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median rate of @rounds, after one warm-up round. */
static int measure(struct link *l, uint32_t access, uint32_t rounds, double *rate, struct gtu_error *err)
{
	uint64_t start, bytes = access < GTU_LINK_RANDOM_128 ? l->bytes : random_reads(l, access) * block_bytes(access);
	double seconds[ROUNDS_MAX];
	uint32_t i;
	int rc = 0;

	for (i = 0; i <= rounds && !rc; i++) {
		start = gtu_now_ns();
		rc = launch_access(l, access, i + 1, err);
		if (!rc)
			rc = gpu_wait(l->gpu, "the link's measurement", err);
		if (i)
			seconds[i - 1] = 1e-9 * (double)(gtu_now_ns() - start);
	}
	if (rc)
		return rc;
	qsort(seconds, rounds, sizeof(*seconds), ascending);
	*rate = 1e-9 * (double)bytes / seconds[rounds / 2];
	return 0;
}

int gpu_link_measure(struct gpu *gpu, uint32_t edges, uint64_t bytes, uint32_t rounds,
		     double rate[GTU_LINK_ACCESSES], struct gtu_error *err)
{
	struct link l;
	uint32_t access;
	int rc;

	if (rounds < 1 || rounds > ROUNDS_MAX)
		return gtu_fail(err, GTU_ERR_USAGE, "%u rounds are out of range: use 1 to %u", rounds, ROUNDS_MAX);
	if (bytes < 1 << 20)
		return gtu_fail(err, GTU_ERR_USAGE, "%llu bytes are too few to measure a link: the "
				"minimum is 1 MiB",
				(unsigned long long)bytes);
	if (edges == GTU_EDGES_AUTO || edges >= GTU_EDGES_UVM)
		return gtu_fail(err, GTU_ERR_USAGE, "edges of kind %u are not supported for link "
				"measurements", edges);
	memset(rate, 0, GTU_LINK_ACCESSES * sizeof(*rate));
	rc = begin(&l, gpu, edges, bytes, err);
	if (!rc && edges != GTU_EDGES_DEVICE) {
		rc = gpu_memory_alloc(gpu, GTU_EDGES_DEVICE, l.bytes, &l.to, err);
		if (!rc)
			rc = measure(&l, GTU_LINK_COPY, rounds, &rate[GTU_LINK_COPY], err);
	}
	for (access = GTU_LINK_COPY + 1; access < GTU_LINK_ACCESSES && !rc; access++)
		rc = measure(&l, access, rounds, &rate[access], err);
	end(&l);
	return rc;
}

static int probe_kind(struct gpu *gpu, uint32_t edges, uint64_t bytes, double *rate, struct gtu_error *err)
{
	struct link l;
	int rc = begin(&l, gpu, edges, bytes, err);

	if (!rc)
		rc = measure(&l, GTU_LINK_RANDOM_128, 1, rate, err);
	end(&l);
	/* memory of the other kind may be had */
	if (rc == GTU_ERR_NOMEM)
		*rate = 0;
	return rc == GTU_ERR_NOMEM ? 0 : rc;
}

int gpu_probe(struct gpu *gpu, uint64_t bytes, struct gtu_error *err)
{
	int rc = 0;

	bytes = bytes < PROBE_MIN ? PROBE_MIN : bytes > PROBE_MAX ? PROBE_MAX : bytes & ~4095ull;
	if (gpu->probed_bytes == bytes)
		return 0;
	if (gpu->info.managed)
		rc = probe_kind(gpu, GTU_EDGES_MANAGED, bytes, &gpu->managed_gbps, err);
	if (!rc)
		rc = probe_kind(gpu, GTU_EDGES_PINNED, bytes, &gpu->pinned_gbps, err);
	gpu->probed_bytes = rc ? 0 : bytes;
	return rc;
}
