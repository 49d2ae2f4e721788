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

/* ---- Host: a stream over rings of the caller --------------------------------------------------------- */

#define GTU_ELEMENT_ENGINES	32u
/* what is where in gtu_elements_memory.state, in bytes */
#define GTU_ELEMENT_TICKETS	2048u
#define GTU_ELEMENT_ERROR	2304u
#define GTU_ELEMENT_WARPS	4096u

/* The caller's memory: rings that are pinned for the GPU and in a region of the device, and memory of the GPU. */
struct gtu_elements_memory {
	uint32_t key, records;		/* the region; records of each ring, a power of two */
	uint64_t offset, bytes;		/* of the rings in the region; most bytes that they may have */
	uint64_t rings;			/* GPU address of the first ring */
	uint64_t stop;			/* GPU address of a word in host memory: non-zero ends all waits of the kernel */
	uint64_t state;			/* GPU address of gtu_elements_bytes() bytes; zero them before each stream */
	uint32_t warps, reserved;	/* of the grid */
};

/* What configure_iru() and the others make. The headers of the papers' functions say where `elements` goes. */
struct gtu_elements_stream {
	struct gtu_elements elements;
	struct gtu_records engine[GTU_ELEMENT_ENGINES]; /* copy the first elements.engines to `state` */
	struct gtu_hw_desc desc;	/* for gtu_submit(); the caller adds the operands with data */
	uint32_t stride, record_bytes;	/* bytes from a ring to the next; of a record. Zero the rings before the stream */
};

/* Bytes of GPU memory for the warps of a grid. */
__host__ static inline uint64_t gtu_elements_bytes(uint32_t warps)
{
	return GTU_ELEMENT_WARPS + (uint64_t)warps * sizeof(struct gtu_warp_elements);
}

/* Rings of @engines engines with return rings of @back entries. False: a value is invalid, or the memory too small. */
__host__ static inline bool gtu_elements_configure(const struct gtu_elements_memory &m, uint32_t engines, uint32_t record_bytes,
						   uint32_t back, uint32_t back_bytes, bool demand, struct gtu_elements_stream &s)
{
	const uint64_t stride = GTU_PEG_STRIDE((uint64_t)m.records, record_bytes, (uint64_t)back * back_bytes);

	s = {};
	if (!engines || engines > GTU_ELEMENT_ENGINES || !m.records || m.records & (m.records - 1) || stride > UINT32_MAX ||
	    engines * stride > m.bytes)
		return false;
	s.stride = (uint32_t)stride;
	s.record_bytes = record_bytes;
	for (uint32_t i = 0; i < engines; i++) {
		s.engine[i].ring = (struct gtu_hw_ring *)(m.rings + i * stride);
		s.engine[i].count = m.records;
		s.engine[i].stride = record_bytes;
		s.engine[i].ticket = (uint32_t *)(m.state + GTU_ELEMENT_TICKETS + 8 * i);
		s.engine[i].stop = (const uint32_t *)m.stop;
		s.engine[i].demand = demand;
		s.engine[i].back = back;
		s.engine[i].back_bytes = back_bytes;
	}
	s.elements.engine = (const struct gtu_records *)m.state;
	s.elements.engines = engines;
	s.elements.warp = (struct gtu_warp_elements *)(m.state + GTU_ELEMENT_WARPS);
	s.elements.error = (int *)(m.state + GTU_ELEMENT_ERROR);
	return true;
}

/* The operand of the rings. */
__host__ static inline struct gtu_hw_operand gtu_elements_rings(const struct gtu_elements_memory &m)
{
	struct gtu_hw_operand rings = {};

	rings.key = m.key;
	rings.count = m.records;
	rings.offset = m.offset;
	return rings;
}

/* ---- GPU ------------------------------------------------------------------------------------------------ */

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

/*
 * Push @value of the calling lane to the engine whose record its warp took last. @until_end: drop it once
 * the stream has sent its last record (Weaver).
 */
__device__ static inline void gtu_elements_push(const struct gtu_elements &g, uint64_t value, bool until_end = false)
{
	const uint32_t engine = ((volatile struct gtu_warp_elements *)&g.warp[gtu_grid_warp()])->engine;
	const uint32_t group = __activemask();
	uint32_t todo = group;

	/* diverged groups may see different engines */
	while (todo) {
		const uint32_t now = __shfl_sync(group, engine, __ffs((int)todo) - 1);
		const uint32_t same = __ballot_sync(group, engine == now);

		if (engine == now) {
			const int rc = gtu_records_push_group(g.engine[now], same, value, until_end);

			if (rc < 0 || (!rc && !until_end))
				*(volatile int *)g.error = rc ? rc : GTU_RECORDS_CLOSED;
		}
		todo &= ~same;
	}
}

#endif
