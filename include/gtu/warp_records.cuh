/* SPDX-License-Identifier: MIT */
/*
 * Consumer side of warp-record streams (IRU, PEG, Weaver; struct gtu_hw_warp in uapi/gtu/hw.h) for
 * CUDA kernels. The ring is in host memory, mapped for the GPU. CUDA C++; tests also compile it for
 * a CPU.
 *
 * Host side: allocate the ring in pinned memory that both devices can access (cuMemHostAlloc,
 * registered as a region), clear its header, submit the stream's descriptor with gtu_submit(), and
 * launch the kernel. Unless the kernel can write the queue's doorbell, also loop: call gtu_next()
 * with a timeout of 1 ms (the in-process model runs inside it), and gtu_stream_notify() while
 * `waiting` is set. A job that fails never sets `ended`; the host must then set *stop to release
 * waiting warps.
 *
 *	__global__ void count(struct gtu_records s, unsigned *seen, int *error)
 *	{
 *		struct gtu_record r;
 *		int rc;
 *
 *		while ((rc = gtu_record_next(s, r)) > 0) {
 *			unsigned index = gtu_record_u32(r, GTU_RECORD_FIELDS);
 *
 *			gtu_record_release(s, r);
 *			if (r.active)
 *				atomicAdd(&seen[index], 1);
 *		}
 *		if (rc < 0)
 *			*error = rc;
 *	}
 *
 * Any number of warps may share a stream; all 32 lanes of a warp call each function together.
 * Records are released in order (gtu_record_release() waits for earlier ones), so all warps of the
 * grid must be resident at the same time: launch at most as many blocks as the GPU holds.
 */
#ifndef GTU_WARP_RECORDS_CUH
#define GTU_WARP_RECORDS_CUH

#include "uapi/gtu/hw.h"

#define GTU_RECORD_FIELDS	64u	/* byte offset of the first field: 32 lanes of 4 or 8 bytes; others follow */
#define GTU_RECORDS_INVALID	(-1)	/* the ring's indices are inconsistent: its producer cannot be trusted */
#define GTU_RECORDS_STOPPED	(-2)	/* *stop was set */
#define GTU_RECORDS_CLOSED	(-3)	/* a push after the end of the output list */

/* A stream, as a kernel argument. Addresses are GPU addresses. */
struct gtu_records {
	struct gtu_hw_ring *ring;	/* followed by the records */
	uint32_t count;			/* records in the ring, a power of two */
	uint32_t stride;		/* bytes of a record: GTU_WARP_BYTES() */
	uint32_t *ticket;		/* two words in GPU memory, 0 at the start of the stream */
	uint32_t *kick;			/* mapped doorbell register GTU_DB_KICK of the queue; NULL: the host kicks */
	const uint32_t *stop;		/* mapped stop flag; NULL: waits end only with the stream */
	uint32_t demand;		/* non-zero: the stream has its DEMAND flag */
	/*
	 * return ring of PEG and Weaver, after the records: capacity (a power of two; 0: none),
	 * bytes per entry (4 or 8)
	 */
	uint32_t back, back_bytes;
};

/* One record, as seen by one lane. */
struct gtu_record {
	const char *at;
	uint32_t number;		/* index in the stream, modulo 2^32 */
	uint32_t mask, sequence, reason, lines; /* from struct gtu_hw_warp; mask is `active` */
	uint64_t cycle;
	bool active;			/* this lane holds an element */
};

/* ---- Words shared with another device ------------------------------------------------------------------ */

__device__ static inline uint32_t gtu_load_acquire(const uint32_t *at)
{
#ifdef __CUDA_ARCH__
	uint32_t x;

	asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(x) : "l"(at) : "memory");
	return x;
#else
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

__device__ static inline void gtu_store_release(uint32_t *at, uint32_t x)
{
#ifdef __CUDA_ARCH__
	asm volatile("st.release.sys.global.u32 [%0], %1;" : : "l"(at), "r"(x) : "memory");
#else
	__atomic_store_n(at, x, __ATOMIC_RELEASE);
#endif
}

__device__ static inline void gtu_records_pause(void)
{
	__nanosleep(200);
}

__device__ static inline bool gtu_records_stop(const struct gtu_records &s)
{
	return s.stop && gtu_load_acquire(s.stop);
}

/* Kick the producer if it sleeps. Call after writing a word that it waits for. */
__device__ static inline void gtu_records_notify(const struct gtu_records &s)
{
	__threadfence_system();
	if (s.kick && gtu_load_acquire(&s.ring->waiting))
		*(volatile uint32_t *)s.kick = 1;
}

/* ---- Records -------------------------------------------------------------------------------------------- */

/* Wait for record @number; called by lane 0. 1: available; 0: end of stream; negative: an error. */
__device__ static inline int gtu_records_wait(const struct gtu_records &s, uint32_t number)
{
	uint32_t there, done;

	for (;;) {
		bool ended = gtu_load_acquire(&s.ring->ended);

		/* in this order: the consumer index may only be older than the producer index */
		done = gtu_load_acquire(&s.ring->consumer);
		there = gtu_load_acquire(&s.ring->producer);
		if ((int32_t)(there - number) > 0)
			return there - done > s.count && there - gtu_load_acquire(&s.ring->consumer) > s.count ? GTU_RECORDS_INVALID : 1;
		if (ended)
			return 0;
		if (gtu_records_stop(s))
			return GTU_RECORDS_STOPPED;
		if (s.demand && (int32_t)(number + 1 - gtu_load_acquire(&s.ring->requested)) > 0) {
			gtu_store_release(&s.ring->requested, number + 1);
			gtu_records_notify(s);
		}
		gtu_records_pause();
	}
}

/*
 * Take the warp's next record. 1: r is filled; 0: end of stream; negative: GTU_RECORDS_*. After 1,
 * call gtu_record_release() soon and before the next call: the ring slot stays occupied until then.
 */
__device__ static inline int gtu_record_next(const struct gtu_records &s, struct gtu_record &r)
{
	const uint32_t lane = threadIdx.x & 31;
	uint32_t number = 0;
	int rc = 0;

	if (!lane) {
		number = atomicAdd(s.ticket, 1u);
		rc = gtu_records_wait(s, number);
	}
	r.number = __shfl_sync(0xffffffffu, number, 0);
	rc = __shfl_sync(0xffffffffu, rc, 0);
	__syncwarp();
	if (rc <= 0)
		return rc;
	r.at = (const char *)(s.ring + 1) + (uint64_t)(r.number & (s.count - 1)) * s.stride;
	{
		const volatile struct gtu_hw_warp *w = (const volatile struct gtu_hw_warp *)r.at;

		r.mask = w->active;
		r.sequence = w->sequence;
		r.reason = w->reason;
		r.lines = w->lines;
		r.cycle = w->cycle;
	}
	r.active = r.mask >> lane & 1;
	return 1;
}

/* This lane's element of the field at byte offset @offset of a record. */
__device__ static inline uint32_t gtu_record_u32(const struct gtu_record &r, uint32_t offset)
{
	return ((const volatile uint32_t *)(r.at + offset))[threadIdx.x & 31];
}
__device__ static inline uint64_t gtu_record_u64(const struct gtu_record &r, uint32_t offset)
{
	return ((const volatile uint64_t *)(r.at + offset))[threadIdx.x & 31];
}

/* Release record @number's slot, in record order; called by one lane. */
__device__ static inline void gtu_records_release(const struct gtu_records &s, uint32_t number)
{
	while (gtu_load_acquire(&s.ring->consumer) != number && !gtu_records_stop(s))
		gtu_records_pause();
	if (!gtu_records_stop(s)) {
		gtu_store_release(&s.ring->consumer, number + 1);
		gtu_records_notify(s);
	}
}

/* Release the record's slot, in record order. The record must not be read afterwards. */
__device__ static inline void gtu_record_release(const struct gtu_records &s, const struct gtu_record &r)
{
	__syncwarp();
	if (!(threadIdx.x & 31))
		gtu_records_release(s, r.number);
	__syncwarp();
}

/* ---- Return ring ------------------------------------------------------------------------------------------ */

/*
 * Push one @value for each lane in @group; called by exactly these lanes together. 1: pushed; 0:
 * the stream is closed and accepts no more; or GTU_RECORDS_STOPPED. @until_end: also 0 once the stream
 * has sent its last record: then Weaver takes no more vertices to skip, and a full ring stays full. PEG's
 * output lists grow until they are closed.
 */
__device__ static inline int gtu_records_push_group(const struct gtu_records &s, uint32_t group, uint64_t value,
						    bool until_end = false)
{
	const uint32_t lane = threadIdx.x & 31, n = (uint32_t)__popc(group), before = (uint32_t)__popc(group & ((1u << lane) - 1));
	const int leader = __ffs((int)group) - 1;
	char *back = (char *)(s.ring + 1) + (uint64_t)s.count * s.stride;
	uint32_t first = 0, at;
	int rc = 1;

	if (!before) {
		first = atomicAdd(s.ticket + 1, n);
		/* wait for space and for all earlier pushes: the index must advance in order */
		while (rc > 0 && (first + n - gtu_load_acquire(&s.ring->received) > s.back || gtu_load_acquire(&s.ring->returned) != first)) {
			if (gtu_records_stop(s))
				rc = GTU_RECORDS_STOPPED;
			else if (gtu_load_acquire(&s.ring->closed) || (until_end && gtu_load_acquire(&s.ring->ended)))
				rc = 0;
			gtu_records_pause();
		}
	}
	first = __shfl_sync(group, first, leader);
	rc = __shfl_sync(group, rc, leader);
	if (rc <= 0)
		return rc;
	at = (first + before) & (s.back - 1);
	if (s.back_bytes == 8)
		((volatile uint64_t *)back)[at] = value;
	else
		((volatile uint32_t *)back)[at] = (uint32_t)value;
	__threadfence_system();
	__syncwarp(group);
	if (!before) {
		gtu_store_release(&s.ring->returned, first + n);
		gtu_records_notify(s);
	}
	__syncwarp(group);
	return 1;
}

/*
 * Push the @value of each lane with @valid (PEG's push_vert, Weaver's skip); called by all lanes.
 * Returns as above, the same in all lanes.
 */
__device__ static inline int gtu_records_push(const struct gtu_records &s, bool valid, uint64_t value)
{
	const uint32_t group = __ballot_sync(0xffffffffu, valid);
	int rc = valid ? gtu_records_push_group(s, group, value) : 1;

	return group ? __shfl_sync(0xffffffffu, rc, __ffs((int)group) - 1) : 1;
}

/*
 * End pushing. Call once, after all warps are done; a PEG stream with an output list waits for it.
 */
__device__ static inline void gtu_records_close(const struct gtu_records &s)
{
	if (!(threadIdx.x & 31)) {
		gtu_store_release(&s.ring->closed, 1);
		gtu_records_notify(s);
	}
	__syncwarp();
}

#endif
