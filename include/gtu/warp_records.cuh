/* SPDX-License-Identifier: MIT */
/*
 * Warp records in a CUDA kernel: what IRU, PEG and Weaver streams put out (struct gtu_hw_warp in uapi/gtu/hw.h), read from a
 * ring that lies in host memory and is mapped for the GPU. CUDA C++; tests compile it for a CPU, too.
 *
 * The host makes the ring in pinned memory that both sides reach (cuMemHostAlloc, added to the device as a region),
 * clears its header, submits the stream's descriptor with gtu_submit(), launches, and, unless the kernel reaches the
 * queue's doorbell, calls gtu_stream_kick() where `waiting` is set, between calls of gtu_next() that wait a millisecond
 * each (the in-process model runs in them). A job that ends badly never says `ended`: the host sets *stop then, so that
 * no warp waits for ever:
 *
 *	__global__ void count(struct gtu_records s, unsigned *seen, int *error)
 *	{
 *		struct gtu_record r;
 *		int rc;
 *
 *		while ((rc = gtu_record_next(s, r)) > 0) {
 *			unsigned index = gtu_record_u32(r, GTU_RECORD_FIELDS);
 *
 *			gtu_record_done(s, r);
 *			if (r.active)
 *				atomicAdd(&seen[index], 1);
 *		}
 *		if (rc < 0)
 *			*error = rc;
 *	}
 *
 * Any number of warps may take records of one stream; all 32 lanes of a warp call each function together. All warps of the
 * grid must be resident at the same time where records are released in order (gtu_record_done() waits for the one
 * before): launch no more blocks than the GPU holds.
 */
#ifndef GTU_WARP_RECORDS_CUH
#define GTU_WARP_RECORDS_CUH

#include "uapi/gtu/hw.h"

#define GTU_RECORD_FIELDS	64u	/* byte of the first field: 32 lanes of 4 or 8 bytes; the next follows it */
#define GTU_RECORDS_BROKEN	(-1)	/* the ring's indices cannot be: its producer is not to be trusted */
#define GTU_RECORDS_STOPPED	(-2)	/* *stop was set */

/* A stream as a kernel's argument. Addresses are the GPU's. */
struct gtu_records {
	struct gtu_hw_ring *ring;	/* records lie behind it */
	uint32_t count;			/* of the ring, a power of two */
	uint32_t stride;		/* bytes of a record: GTU_WARP_BYTES() */
	uint32_t *ticket;		/* two words of the GPU's own memory, 0 at the stream's beginning */
	uint32_t *kick;			/* the queue's doorbell register GTU_DB_KICK, mapped; NULL: the host kicks */
	const uint32_t *stop;		/* mapped; NULL: the stream's end alone ends a wait */
	uint32_t demand;		/* non-zero: the stream has its DEMAND flag */
	/* the return ring of PEG and Weaver: entries, a power of two, of 4 or 8 bytes, behind the records; 0: none */
	uint32_t back, back_bytes;
};

/* One record as a lane sees it. */
struct gtu_record {
	const char *at;
	uint32_t number;		/* in its stream, modulo 2^32 */
	uint32_t mask, sequence, reason, lines; /* of struct gtu_hw_warp: mask is its `active` */
	uint64_t cycle;
	bool active;			/* this lane holds an element */
};

/* ---- Words that another device writes ---------------------------------------------------------------- */

__device__ static inline uint32_t gtu_hear(const uint32_t *at)
{
#ifdef __CUDA_ARCH__
	uint32_t x;

	asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(x) : "l"(at) : "memory");
	return x;
#else
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

__device__ static inline void gtu_tell(uint32_t *at, uint32_t x)
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
	return s.stop && gtu_hear(s.stop);
}

/* The producer sleeps and something it waits for has been written. */
__device__ static inline void gtu_records_wake(const struct gtu_records &s)
{
	__threadfence_system();
	if (s.kick && gtu_hear(&s.ring->waiting))
		*(volatile uint32_t *)s.kick = 1;
}

/* ---- Records -------------------------------------------------------------------------------------------- */

/* By lane 0: wait for record @number. 1, 0 at the stream's end, or an error. */
__device__ static inline int gtu_records_wait(const struct gtu_records &s, uint32_t number)
{
	uint32_t there, done;

	for (;;) {
		bool ended = gtu_hear(&s.ring->ended);

		/* in this order: what is done with can only be more than was there before */
		done = gtu_hear(&s.ring->consumer);
		there = gtu_hear(&s.ring->producer);
		if ((int32_t)(there - number) > 0)
			return there - done > s.count && there - gtu_hear(&s.ring->consumer) > s.count ? GTU_RECORDS_BROKEN : 1;
		if (ended)
			return 0;
		if (gtu_records_stop(s))
			return GTU_RECORDS_STOPPED;
		if (s.demand && (int32_t)(number + 1 - gtu_hear(&s.ring->asked)) > 0) {
			gtu_tell(&s.ring->asked, number + 1);
			gtu_records_wake(s);
		}
		gtu_records_pause();
	}
}

/*
 * The warp's next record: 1, and r is filled; 0: there is none any more; negative: GTU_RECORDS_*. After 1,
 * gtu_record_done() must follow before the next call, and soon: the ring is full until then.
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

/* This lane's element of the field that begins at byte @offset of a record. */
__device__ static inline uint32_t gtu_record_u32(const struct gtu_record &r, uint32_t offset)
{
	return ((const volatile uint32_t *)(r.at + offset))[threadIdx.x & 31];
}
__device__ static inline uint64_t gtu_record_u64(const struct gtu_record &r, uint32_t offset)
{
	return ((const volatile uint64_t *)(r.at + offset))[threadIdx.x & 31];
}

/* The record's room is given back, in the records' order; nothing of it may be read any more. */
__device__ static inline void gtu_record_done(const struct gtu_records &s, const struct gtu_record &r)
{
	__syncwarp();
	if (!(threadIdx.x & 31)) {
		while (gtu_hear(&s.ring->consumer) != r.number && !gtu_records_stop(s))
			gtu_records_pause();
		if (!gtu_records_stop(s)) {
			gtu_tell(&s.ring->consumer, r.number + 1);
			gtu_records_wake(s);
		}
	}
	__syncwarp();
}

/* ---- The way back ----------------------------------------------------------------------------------------- */

/*
 * Push @value of each lane where @valid (PEG's push_vert, Weaver's skip). 1, 0 where the stream has ended and takes
 * nothing any more, or GTU_RECORDS_STOPPED.
 */
__device__ static inline int gtu_records_push(const struct gtu_records &s, bool valid, uint64_t value)
{
	const uint32_t lane = threadIdx.x & 31, mask = __ballot_sync(0xffffffffu, valid);
	uint32_t first = 0, n = 0, at, i;
	char *back = (char *)(s.ring + 1) + (uint64_t)s.count * s.stride;
	int rc = 1;

	for (i = 0; i < 32; i++)
		n += mask >> i & 1;
	if (!n)
		return 1;
	if (!lane) {
		first = atomicAdd(s.ticket + 1, n);
		/* room for all of it, and every push before it is told: the index moves in order */
		while (rc > 0 && (first + n - gtu_hear(&s.ring->received) > s.back || gtu_hear(&s.ring->sent) != first)) {
			if (gtu_records_stop(s))
				rc = GTU_RECORDS_STOPPED;
			else if (gtu_hear(&s.ring->closed))
				rc = 0;
			gtu_records_pause();
		}
	}
	first = __shfl_sync(0xffffffffu, first, 0);
	rc = __shfl_sync(0xffffffffu, rc, 0);
	__syncwarp();
	if (rc <= 0)
		return rc;
	at = first;
	for (i = 0; i < lane; i++)
		at += mask >> i & 1;
	at &= s.back - 1;
	if (valid && s.back_bytes == 8)
		((volatile uint64_t *)back)[at] = value;
	else if (valid)
		((volatile uint32_t *)back)[at] = (uint32_t)value;
	__threadfence_system();
	__syncwarp();
	if (!lane) {
		gtu_tell(&s.ring->sent, first + n);
		gtu_records_wake(s);
	}
	__syncwarp();
	return 1;
}

/* Nothing will be pushed any more: once, after all warps are through (a PEG stream with an output list waits for it). */
__device__ static inline void gtu_records_close(const struct gtu_records &s)
{
	if (!(threadIdx.x & 31)) {
		gtu_tell(&s.ring->closed, 1);
		gtu_records_wake(s);
	}
	__syncwarp();
}

#endif
