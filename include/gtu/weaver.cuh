/* SPDX-License-Identifier: MIT */
/*
 * The instructions of SparseWeaver (SparseWeaver, table II) for CUDA kernels: weaver_reg(),
 * weaver_dec_id(), weaver_dec_loc(), weaver_skip(), and synchronization(). The paper's gather kernel
 * compiles as printed (figure 9) with the names in capitals. Lanes may be diverged. CUDA C++ for
 * compute capability 7.0 and later; tests also compile it for a CPU.
 *
 * The host prepares a table of registrations in memory of both devices with gtu_weaver_table(), at
 * most as many threads as the device has entries, calls configure_weaver() with a ring of its own,
 * zeroes the GPU memory and copies the engine to it, copies the elements to gtu_weaver.work, and
 * launches the kernel. When *registered is set, it submits the descriptor, to which it adds the table. All warps of the grid must be resident, in a grid and
 * blocks of one dimension.
 */
#ifndef GTU_WEAVER_CUH
#define GTU_WEAVER_CUH

#include "gtu/warp_elements.cuh"

struct gtu_weaver_stream {
	struct gtu_elements work;	/* fields: VID and EID */
	struct gtu_hw_registration *table; /* [rounds * threads of the grid] */
	uint32_t rounds;		/* registrations per thread, at most */
	uint32_t *count;		/* [threads of the grid], in GPU memory, zero: registrations so far */
	uint32_t *arrived;		/* in GPU memory, zero: threads at synchronization() */
	uint32_t *registered;		/* in memory of the host: set when all threads have arrived */
};

/* One module has one stream: define GTU_WEAVER_EXTERN in all files of a module but one. */
#ifdef GTU_WEAVER_EXTERN
extern
#endif
__constant__ struct gtu_weaver_stream gtu_weaver;

/*
 * Fill the table for @threads threads with @rounds registrations each: entries that no thread
 * registers have degree 0, as a filtered vertex has (SparseWeaver, section III-C).
 */
__host__ static inline void gtu_weaver_table(struct gtu_hw_registration *table, uint32_t threads, uint32_t rounds)
{
	for (uint64_t i = 0; i < (uint64_t)threads * rounds; i++) {
		table[i].entry = (uint32_t)(i % threads);
		table[i].flags = i % threads == threads - 1 ? GTU_WVR_LAST : 0;
		table[i].vid = table[i].start = table[i].degree = 0;
	}
}

/*
 * A WVR_STREAM over a ring of the caller. @param is that of struct gtu_hw_desc, without targets and weights;
 * @back_log2: param2, log2 of the entries of the return ring (WEAVER_SKIP); 0: none. False: a value is
 * invalid, or the memory has too few bytes for the ring.
 */
__host__ static inline bool configure_weaver(const struct gtu_elements_memory &m, uint32_t param, uint32_t back_log2,
					     struct gtu_elements_stream &s)
{
	const uint32_t vid = param & GTU_WVR_VIDS_8 ? 256 : 128, eid = param & GTU_WVR_EIDS_8 ? 256 : 128;

	if (param & (GTU_WVR_WITH_TARGET | GTU_WVR_WITH_WEIGHT) ||
	    !gtu_elements_configure(m, 1, GTU_RECORD_FIELDS + vid + eid, back_log2 ? 1u << back_log2 : 0, 8,
				    (param & GTU_WVR_DEMAND) != 0, s))
		return false;
	s.elements.offset[0] = GTU_RECORD_FIELDS;
	s.elements.offset[1] = GTU_RECORD_FIELDS + vid;
	s.elements.wide = (vid == 256) | (uint32_t)(eid == 256) << 1;
	s.desc.opcode = GTU_OP_WVR_STREAM;
	s.desc.param = param;
	s.desc.param2 = back_log2;
	s.desc.operand[GTU_WVR_RING] = gtu_elements_rings(m);
	return true;
}

__device__ static inline uint32_t get_thread_id(void)
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}

/* WEAVER_REG: the thread's next registration: @degree edges of vertex @vid from @start on. */
__device__ static inline void weaver_reg(uint64_t vid, uint64_t start, uint64_t degree)
{
	const uint32_t thread = get_thread_id(), threads = gridDim.x * blockDim.x, round = gtu_weaver.count[thread]++;

	if (round >= gtu_weaver.rounds) {
		*(volatile int *)gtu_weaver.work.error = GTU_RECORDS_CLOSED;
		return;
	}
	volatile struct gtu_hw_registration *r = &gtu_weaver.table[(uint64_t)round * threads + thread];

	r->vid = vid;
	r->start = start;
	r->degree = degree;
}

/* The barrier between registration and distribution, for all threads of the grid. */
__device__ static inline void synchronization(void)
{
	__threadfence_system();
	if (atomicAdd(gtu_weaver.arrived, 1u) + 1 == gridDim.x * blockDim.x) {
		__threadfence_system();
		gtu_store_release(gtu_weaver.registered, 1);
	}
}

/* WEAVER_DEC_ID: the vertex of the lane's next edge; -1: no work is left. */
__device__ static inline int64_t weaver_dec_id(void)
{
	uint64_t vid;

	return gtu_elements_pop(gtu_weaver.work, 0, &vid) > 0 ? (int64_t)vid : -1;
}

/* WEAVER_DEC_LOC: the edge of the lane's last WEAVER_DEC_ID. */
__device__ static inline int64_t weaver_dec_loc(void)
{
	uint64_t eid;

	return gtu_elements_pop(gtu_weaver.work, 1, &eid) > 0 ? (int64_t)eid : -1;
}

/* WEAVER_SKIP: drop the vertex's remaining work, except what warps hold or the device has produced ahead. */
__device__ static inline void weaver_skip(uint64_t vid)
{
	gtu_elements_push(gtu_weaver.work, vid, true);
}

#define WEAVER_REG(vid, start, degree)	weaver_reg(vid, start, degree)
#define WEAVER_DEC_ID()			weaver_dec_id()
#define WEAVER_DEC_LOC()		weaver_dec_loc()
#define WEAVER_SKIP(vid)		weaver_skip(vid)

#endif
