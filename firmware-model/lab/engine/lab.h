/* SPDX-License-Identifier: MIT */
/*
 * The laboratory: an execution-driven, event-driven simulator of a GPU's warps and memory
 * hierarchy.
 *
 *	lab_create(&machine, &lab, err)		a machine with cold caches
 *	lab_alloc(lab, "row", bytes, ...)	an array; the host accesses .data directly
 *	lab_run(lab, &launch, counts, err)	run a kernel (see warp.h) to its end
 *	lab_stats(lab)				the counters since lab_create()
 *
 * A lab is not thread-safe. Separate labs are independent. Documentation/laboratory.md lists what
 * is modelled and what is not.
 */
#ifndef GTU_LAB_H
#define GTU_LAB_H

#include "machine.h"

#define LAB_LANES	32u
#define LAB_BASE	0xC0000000ull	/* base address of LAB_DEVICE arrays */
#define LAB_HOST_BASE	0x100000000000ull

enum lab_kind { LAB_LOAD, LAB_STORE, LAB_ATOMIC, LAB_KINDS };
/* HOST: over the link, past all caches or through the L1 (link.cache). MANAGED: see uvm.h. */
enum lab_space { LAB_DEVICE, LAB_HOST, LAB_MANAGED };

/* Cache lookup results. SECTOR_MISS: line present, sector missing. PENDING: fill in flight. */
enum lab_status { LAB_HIT, LAB_PENDING, LAB_MISS, LAB_SECTOR_MISS, LAB_STATUSES };

/* Packet sizes: a header alone, or with 32, 64, (96,) 128 bytes of data. */
#define LAB_SIZES 5u

/* Counters since lab_create(). All are uint64_t, so that they can be added word by word. */
struct lab_stats {
	uint64_t cycles, launches, blocks;
	uint64_t warp_instructions, thread_instructions;
	/* warp memory instructions, their active lanes, coalesced transactions, sectors in those */
	uint64_t accesses[LAB_KINDS], lanes[LAB_KINDS], transactions[LAB_KINDS], sectors[LAB_KINDS];
	uint64_t barriers, shared_accesses, shared_conflicts;

	uint64_t l1_load[LAB_STATUSES], l1_store[LAB_STATUSES];
	uint64_t l1_host[LAB_STATUSES];	/* loads of host memory, where the L1 caches them */
	/* in sectors; atomics count as reads, or as writes with l2.writes = through */
	uint64_t l2_read[LAB_STATUSES], l2_write[LAB_STATUSES];
	uint64_t l2_evicted_sectors;	/* dirty sectors written back */
	uint64_t l2_extra_sectors;	/* fetched beyond those requested: l2.sectored = no */
	uint64_t l2_written_through;	/* sectors of stores and atomics, with l2.writes = through */
	uint64_t dram_reads, dram_writes; /* in sectors */
	uint64_t dram_row_hits, dram_row_misses;

	/* between the SMs and memory, by kind; [0] a header alone, [n] with n sectors */
	uint64_t request[LAB_KINDS][LAB_SIZES], request_bytes[LAB_KINDS];
	uint64_t reply[LAB_KINDS], reply_bytes[LAB_KINDS];
	uint64_t request_flits, reply_flits;

	/* link: requests by size, bytes, header bytes, bytes that host memory read */
	uint64_t link_request[LAB_SIZES], link_bytes, link_header_bytes, link_host_bytes;
	uint64_t link_in_flight_cycles;	/* requests in flight, summed over cycles */
	uint64_t link_in_flight_max;

	/* unified memory: faults, their batches, pages migrated in, bytes, requests held */
	uint64_t uvm_faults, uvm_batches, uvm_pages, uvm_bytes_in, uvm_bytes_out;
	uint64_t uvm_evictions, uvm_dropped_pages, uvm_held, uvm_busy_cycles;

	/* requests and replies of attached units */
	uint64_t unit_requests, unit_replies, unit_sectors;

	/* cycles in which the LSU or the issue stage was busy or stalled */
	uint64_t lsu_busy, lsu_stalled, issue_busy;

	/* for lab_check(): the same traffic, counted at the receiver */
	uint64_t arrived[LAB_KINDS], arrived_bytes[LAB_KINDS];
	uint64_t answered[LAB_KINDS], answered_bytes[LAB_KINDS];
	uint64_t l2_filled_sectors, link_arrived, unit_arrived, uvm_replayed;
};

struct lab;
struct lab_warp;

/* GTU_ERR_NOMEM, or GTU_ERR_INPUT if the parameters are inconsistent; *out is NULL then. */
int lab_create(const struct lab_machine *m, struct lab **out, struct gtu_error *err);
void lab_destroy(struct lab *lab);	/* NULL is allowed */
const struct lab_machine *lab_machine_of(const struct lab *lab);
const struct lab_stats *lab_stats(const struct lab *lab);
/* @sum += @after - @before, for every counter. */
void lab_stats_add(struct lab_stats *sum, const struct lab_stats *before, const struct lab_stats *after);
/* @sum += @part, for structures of uint64_t. */
static inline void lab_add_words(void *sum, const void *part, size_t bytes)
{
	for (size_t i = 0; i < bytes / 8; i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)part)[i];
}
static inline uint64_t lab_sum(const uint64_t *v, unsigned n)
{
	uint64_t sum = 0;

	while (n--)
		sum += v[n];
	return sum;
}
uint64_t lab_now(const struct lab *lab);	/* core cycles */

/* ---- Memory ------------------------------------------------------------------------------------ */

/* An array at consecutive addresses. The host accesses .data without simulated traffic. */
struct lab_array {
	uint64_t addr, bytes;
	void *data;
	uint32_t space;			/* enum lab_space */
	bool read_only;
	bool apart;			/* see lab_set_apart() */
	const char *name;		/* not copied */
};

/* Zeroed memory owned by the lab, 256-byte aligned, at the next free address. */
int lab_alloc(struct lab *lab, const char *name, uint64_t bytes, enum lab_space space,
	      struct lab_array *out, struct gtu_error *err);
/* A read-only array over the caller's bytes (a mapped edge list), which must outlive the lab. */
int lab_map(struct lab *lab, const char *name, const void *data, uint64_t bytes,
	    enum lab_space space, struct lab_array *out, struct gtu_error *err);

/*
 * @of's elements once more, at other addresses: each in a line of its own, as random elements of an
 * array that is far larger than the caches. Both share .data. @apart false: *@out is *@of.
 */
int lab_set_apart(struct lab *lab, const struct lab_array *of, bool apart, struct lab_array *out, struct gtu_error *err);

/* ---- Kernels ----------------------------------------------------------------------------------- */

struct lab_kernel {
	const char *name;
	/* The program of one warp; runs as a coroutine. */
	void (*warp)(struct lab_warp *w, const void *args);
	const char *const *statement;	/* names of the static memory instructions, by number */
	unsigned statements;
	uint32_t shared;		/* bytes per thread block */
};

struct lab_launch {
	const struct lab_kernel *kernel;
	const void *args;
	uint64_t grid;			/* in thread blocks */
	uint32_t block;			/* threads per block, a multiple of 32 */
	const struct gtu_progress *progress;
};

/* Counts of one statement, summed over executions with at least one active lane. */
struct lab_count {
	uint64_t lanes, warps, transactions;
};

/*
 * Run a kernel from launch to the last reply. The L1s are invalidated first, as at a real launch.
 * @count, if not NULL, has one element per statement; the counts are added to it.
 *
 * GTU_ERR_USAGE: a block does not fit an SM. GTU_ERR_FAIL: the program made an invalid access; the
 * message names statement, lane and index. GTU_ERR_VERIFY: lab_check() failed.
 */
int lab_run(struct lab *lab, const struct lab_launch *launch, struct lab_count *count,
	    struct gtu_error *err);
/* The thread blocks of @threads, a multiple of 32, that all SMs of the machine hold at a time; 0 if none fits. */
uint64_t lab_blocks_at_once(const struct lab_machine *m, const struct lab_kernel *k, uint32_t threads);
/* A program called lab_stop(): the last launch is unfinished, and no other can follow. */
bool lab_stopped(const struct lab *lab);
/*
 * Conservation checks that hold whenever nothing is in flight. Packets sent equal packets received,
 * requests equal replies, in number and bytes and by kind. L2 misses equal DRAM reads; dirty
 * evictions equal DRAM writes. lab_run() calls it. GTU_ERR_VERIFY names the first violation.
 */
int lab_check(const struct lab *lab, struct gtu_error *err);

/* ---- Units ------------------------------------------------------------------------------------- */

/*
 * A unit (SCU, IRU, PEG, Weaver) is attached to one point of the machine. Three callbacks drive it,
 * each with the current cycle. The unit replies to warps with lab_unit_reply(), accesses memory
 * with lab_unit_memory() and schedules its clock() with lab_unit_wake().
 *
 * The unit's core is the device model's own code. For example, the fetch() of struct iru_core's
 * port calls lab_unit_memory() and returns IRU_NEVER; the memory reply calls iru_core_reply().
 */
enum lab_attach_point {
	LAB_IN_SM,			/* one per SM; its warps reach it without the crossbar */
	LAB_ON_CROSSBAR,		/* a crossbar port of its own, like an SM: SCU */
	LAB_IN_PARTITION,		/* beside the L2 of each memory partition: IRU */
};

struct lab_unit {
	const char *name;
	enum lab_attach_point attach_point;
	/* From lab_unit_request() in a program; @warp is a handle for lab_unit_reply(). */
	void (*ask)(void *ctx, uint32_t warp, unsigned at, uint64_t value, uint64_t cycle);
	/* The memory access tagged @tag has completed (a write: was accepted). */
	void (*reply)(void *ctx, uint64_t tag, uint64_t cycle);
	/* The cycle requested with lab_unit_wake(). */
	void (*clock)(void *ctx, uint64_t cycle);
	bool bypasses_l2;		/* its loads that miss the L2 do not allocate there */
};

/*
 * *@number: the unit's, for the functions below; @ctx is passed to its callbacks. GTU_ERR_USAGE if
 * there are LAB_UNITS already.
 */
#define LAB_UNITS 8
int lab_attach(struct lab *lab, const struct lab_unit *unit, void *ctx, int *number, struct gtu_error *err);
/*
 * Access the @sectors (bits) of the line at @addr, a multiple of 128. @at: the SM or port number. A
 * unit in a partition reaches its own L2 slices without the crossbar and without l2.latency; a unit
 * in an SM bypasses the L1.
 */
void lab_unit_memory(struct lab *lab, int unit, unsigned at, enum lab_kind kind, uint64_t addr,
		     unsigned sectors, uint64_t tag);
/* The path of a unit on the crossbar; all 0, as at first: that of an SM. */
struct lab_unit_path {
	uint32_t l2_latency;		/* cycles of the L2's pipeline; 0: the machine's */
	uint32_t packets;		/* that its port passes in a cycle, at most LAB_UNITS; 0: a flit */
	uint32_t l2_blocks;		/* 1: a slice serves a request of up to a line in a cycle; 0: a sector, or a flit, in a cycle */
	uint32_t skips_dram_latency;	/* 1: a miss waits for the banks and the bus only, not for dram.latency */
};
/* For the unit that was attached last. */
void lab_unit_path(struct lab *lab, int unit, const struct lab_unit_path *path);
/* The L2 slice of the line at @addr; a partition has consecutive slices. */
unsigned lab_slice_of(const struct lab *lab, uint64_t addr);
/* The same for @words 4-byte words at @addr, within a line. */
void lab_unit_words(struct lab *lab, int unit, unsigned at, enum lab_kind kind, uint64_t addr, uint64_t words,
		    uint64_t tag);
/* Schedule clock() in @cycle (not before now); if a call is pending, the earlier cycle is kept. */
void lab_unit_wake(struct lab *lab, int unit, uint64_t cycle);
/*
 * Send @bytes in @cycle (now or later) to a waiting warp; they are copied to the buffer that its
 * program passed. A unit on the crossbar must reply to several warps in the order of cycles: the
 * port is reserved at once.
 */
void lab_unit_reply(struct lab *lab, int unit, uint32_t warp, const void *data, uint32_t bytes, uint64_t cycle);
/* The same for fields that are narrower in the packet than in the program: @sent bytes cross the crossbar. */
void lab_unit_reply_packed(struct lab *lab, int unit, uint32_t warp, const void *data, uint32_t bytes, uint32_t sent,
			   uint64_t cycle);
/* Run the units while no kernel runs, until nothing is in flight. */
int lab_run_units(struct lab *lab, struct gtu_error *err);

/* ---- Observers --------------------------------------------------------------------------------- */

/* A link request of @bytes (32, 64, 96 or 128) at @addr. */
struct lab_link_request {
	uint64_t addr, sent, answered;	/* cycles */
	uint32_t bytes;
	enum lab_kind kind;
};
/* Call @link for each request, with @ctx; NULL: none. */
void lab_observe(struct lab *lab, void (*link)(void *ctx, const struct lab_link_request *r), void *ctx);

/* ---- Host time ------------------------------------------------------------------------------- */

/* The running part of the simulator, for a sampling profiler; readable in a signal handler. */
enum lab_part { LAB_PART_OTHER, LAB_PART_PROGRAM, LAB_PART_COALESCER, LAB_PART_SM, LAB_PART_MEMORY,
		LAB_PARTS };
const volatile uint8_t *lab_part(const struct lab *lab);
extern const char *const lab_part_name[LAB_PARTS];
/* Host memory used by the lab, including its arrays but not mapped ones. */
uint64_t lab_bytes(const struct lab *lab);

#endif
