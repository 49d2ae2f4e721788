/* SPDX-License-Identifier: MIT */
/*
 * Elements of warp records for single lanes. warp_records.cuh gives a record to 32 lanes that call
 * together; here any lanes of a warp may call, in any order and diverged, and each receives the next
 * element of its warp's record. The functions of the papers (iru.cuh, peg.cuh, weaver.cuh) are made
 * of this. CUDA C++; tests also compile it for a CPU.
 */
#ifndef GTU_WARP_ELEMENTS_CUH
#define GTU_WARP_ELEMENTS_CUH

#include "gtu/warp_records.cuh"

#define GTU_ELEMENT_FIELDS	4u

/* State of one warp, in GPU memory, zero at the start of the stream. */
struct gtu_warp_elements {
	uint32_t lock;			/* groups of diverged lanes enter one after the other */
	uint32_t left;			/* elements of the record that no lane has taken */
	uint32_t valid;			/* elements of the record that exist: its active lanes */
	uint32_t engine;		/* that sent the record */
	uint32_t has;			/* lanes that hold an element */
	uint32_t exists;		/* of these, lanes whose element exists */
	uint32_t popped[GTU_ELEMENT_FIELDS]; /* lanes that have popped the field of their element */
	uint64_t record[GTU_ELEMENT_FIELDS][32];
	uint64_t lane[GTU_ELEMENT_FIELDS][32];
};

/* A stream of one or more rings. All addresses are GPU addresses. */
struct gtu_elements {
	const struct gtu_records *engine; /* [engines]: their rings */
	uint32_t engines;
	uint32_t all_lanes;		/* non-zero: lanes without an element take part too (IRU, mode ALL) */
	uint32_t offset[GTU_ELEMENT_FIELDS]; /* byte offset of each field in a record; 0: not gathered */
	uint32_t wide;			/* bit f: field f has 8 bytes, else 4 */
	uint32_t reserved;
	struct gtu_warp_elements *warp;	/* [warps of the grid] */
	int *error;			/* set to the first GTU_RECORDS_*, which ends the stream for all lanes */
};

/* Index of the calling warp in a grid and a block of one dimension. */
__device__ static inline uint32_t gtu_grid_warp(void)
{
	return (blockIdx.x * blockDim.x + threadIdx.x) / 32;
}

/* Position of set bit @n of @bits. */
__device__ static inline uint32_t gtu_set_bit(uint32_t bits, uint32_t n)
{
	while (n--)
		bits &= bits - 1;
	return (uint32_t)__ffs((int)bits) - 1;
}

/* Streaming multiprocessor of the calling warp. */
__device__ static inline uint32_t gtu_sm(void)
{
#ifdef __CUDA_ARCH__
	uint32_t x;

	asm volatile("mov.u32 %0, %%smid;" : "=r"(x));
	return x;
#else
	return blockIdx.x;
#endif
}

/*
 * Take the next record of any engine, the SM's own first (GraphPEG, section 3.1: an engine per SM),
 * because a ring that stays full stops all engines. Called by one lane. 1: *engine, *number; 0: all
 * have ended; or GTU_RECORDS_*.
 */
__device__ static inline int gtu_elements_take(const struct gtu_elements &g, uint32_t *engine, uint32_t *number)
{
	const uint32_t own = gtu_sm() % g.engines;

	for (;;) {
		uint32_t k, over = 0;

		for (k = 0; k < g.engines; k++) {
			const uint32_t e = (own + k) % g.engines;
			const struct gtu_records &s = g.engine[e];
			const bool ended = gtu_load_acquire(&s.ring->ended);
			const uint32_t done = gtu_load_acquire(&s.ring->consumer), there = gtu_load_acquire(&s.ring->producer);
			const uint32_t next = *(volatile uint32_t *)s.ticket;

			if ((int32_t)(there - next) > 0) {
				if (there - done > s.count && there - gtu_load_acquire(&s.ring->consumer) > s.count)
					return GTU_RECORDS_INVALID;
				if (atomicCAS(s.ticket, next, next + 1) == next) {
					*engine = e, *number = next;
					return 1;
				}
			} else if (ended) {
				over++;
			} else if (gtu_records_stop(s)) {
				return GTU_RECORDS_STOPPED;
			} else if (s.demand && (int32_t)(next + 1 - gtu_load_acquire(&s.ring->requested)) > 0) {
				gtu_store_release(&s.ring->requested, next + 1);
				gtu_records_notify(s);
			}
		}
		if (over == g.engines)
			return 0;
		if (*(volatile int *)g.error)
			return *(volatile int *)g.error;
		gtu_records_pause();
	}
}

/* Copy the next record into the warp's state, by the lanes of @group. Returns as above. */
__device__ static inline int gtu_elements_refill(const struct gtu_elements &g, struct gtu_warp_elements *w, uint32_t group)
{
	const uint32_t lane = threadIdx.x & 31, n = (uint32_t)__popc(group), rank = (uint32_t)__popc(group & ((1u << lane) - 1));
	const int leader = __ffs((int)group) - 1;
	uint32_t engine = 0, number = 0;
	int rc = 0;

	if (!rank)
		rc = gtu_elements_take(g, &engine, &number);
	rc = __shfl_sync(group, rc, leader);
	engine = __shfl_sync(group, engine, leader);
	number = __shfl_sync(group, number, leader);
	if (rc <= 0) {
		if (rc && !rank)
			*(volatile int *)g.error = rc;
		return rc;
	}
	const struct gtu_records &s = g.engine[engine];
	const char *at = (const char *)(s.ring + 1) + (uint64_t)(number & (s.count - 1)) * s.stride;

	for (uint32_t f = 0; f < GTU_ELEMENT_FIELDS; f++)
		for (uint32_t i = rank; g.offset[f] && i < 32; i += n)
			w->record[f][i] = g.wide >> f & 1 ? ((const volatile uint64_t *)(at + g.offset[f]))[i] :
							    ((const volatile uint32_t *)(at + g.offset[f]))[i];
	if (!rank) {
		w->valid = ((const volatile struct gtu_hw_warp *)at)->active;
		w->left = g.all_lanes ? 0xffffffffu : w->valid;
		w->engine = engine;
	}
	__syncwarp(group);
	if (!rank)
		gtu_records_release(s, number);
	__syncwarp(group);
	return 1;
}

/*
 * Pop field @f for the calling lane. A lane keeps its element until it pops the same field again:
 * that pop takes the next element, lowest lane first (Documentation/units-peg.md). 1: *value; 0:
 * the element does not exist (only with all_lanes); -1: no element is left, or the stream failed.
 */
__device__ static inline int gtu_elements_pop(const struct gtu_elements &g, uint32_t f, uint64_t *value)
{
	const uint32_t group = __activemask(), lane = threadIdx.x & 31, bit = 1u << lane;
	const int leader = __ffs((int)group) - 1;
	struct gtu_warp_elements *w = &g.warp[gtu_grid_warp()];
	volatile struct gtu_warp_elements *v = w;
	uint32_t need;
	int rc = 1;

	if ((int)lane == leader)
		while (atomicCAS(&w->lock, 0u, 1u))
			gtu_records_pause();
	__syncwarp(group);
	__threadfence();
	need = __ballot_sync(group, !(v->has & bit) || v->popped[f] & bit);
	while (need) {
		const uint32_t left = v->left, n = (uint32_t)__popc(left) < (uint32_t)__popc(need) ? (uint32_t)__popc(left) :
												   (uint32_t)__popc(need);
		const uint32_t rank = (uint32_t)__popc(need & (bit - 1));
		const bool mine = need & bit && rank < n;
		const uint32_t at = mine ? gtu_set_bit(left, rank) : 0;
		const uint32_t given = __ballot_sync(group, mine), exists = __ballot_sync(group, mine && v->valid >> at & 1);

		if (mine)
			for (uint32_t k = 0; k < GTU_ELEMENT_FIELDS; k++)
				v->lane[k][lane] = v->record[k][at];
		__syncwarp(group);
		if ((int)lane == leader) {
			v->has |= given;
			v->exists = (v->exists & ~given) | exists;
			for (uint32_t k = 0; k < GTU_ELEMENT_FIELDS; k++)
				v->popped[k] &= ~given;
			v->left = n < (uint32_t)__popc(left) ? left & ~((1u << gtu_set_bit(left, n)) - 1) : 0;
		}
		__syncwarp(group);
		need &= ~given;
		if (!need)
			break;
		rc = gtu_elements_refill(g, w, group);
		if (rc <= 0)
			break;
	}
	if ((int)lane == leader) {
		v->has &= ~need;
		v->popped[f] |= group & ~need;
	}
	__syncwarp(group);
	rc = need & bit ? -1 : (int)(v->exists >> lane & 1);
	*value = v->lane[f][lane];
	__threadfence();
	__syncwarp(group);
	if ((int)lane == leader)
		atomicExch(&w->lock, 0u);
	return rc;
}

/* Push @value of the calling lane to the engine whose record its warp took last. */
__device__ static inline void gtu_elements_push(const struct gtu_elements &g, uint64_t value)
{
	const uint32_t engine = ((volatile struct gtu_warp_elements *)&g.warp[gtu_grid_warp()])->engine;
	const uint32_t group = __activemask();
	uint32_t todo = group;

	/* diverged groups may see different engines */
	while (todo) {
		const uint32_t now = __shfl_sync(group, engine, __ffs((int)todo) - 1);
		const uint32_t same = __ballot_sync(group, engine == now);

		if (engine == now) {
			const int rc = gtu_records_push_group(g.engine[now], same, value);

			if (rc <= 0)
				*(volatile int *)g.error = rc ? rc : GTU_RECORDS_CLOSED;
		}
		todo &= ~same;
	}
}

#endif
