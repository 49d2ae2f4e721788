/* SPDX-License-Identifier: MIT */
/*
 * The laboratory: an execution-driven, event-driven model of a GPU's warps and memory hierarchy.
 *
 *	lab_create(&machine, &lab, err)		a machine with cold caches
 *	lab_alloc(lab, "row", bytes, ...)	arrays of its memory, filled through .data
 *	lab_run(lab, &launch, counts, err)	a kernel (warp.h says how one is written), to its end
 *	lab_stats(lab)				what was counted since lab_create()
 *
 * Nothing here is safe to be called from two threads for one lab; several labs are independent.
 * Documentation/laboratory.md says what is modelled and what is not.
 */
#ifndef GTU_LAB_H
#define GTU_LAB_H

#include "machine.h"

#define LAB_LANES	32u
#define LAB_BASE	0xC0000000ull	/* address of the first array, of each space */
#define LAB_HOST_BASE	0x100000000000ull

enum lab_kind { LAB_LOAD, LAB_STORE, LAB_ATOMIC, LAB_KINDS };
/* HOST: over the link; past all caches, or through the L1 (link.cache). MANAGED: pages that come to the device (uvm.h). */
enum lab_space { LAB_DEVICE, LAB_HOST, LAB_MANAGED };

/* What a cache found. SECTOR_MISS: the line was there, the sector was not. PENDING: it is on its way. */
enum lab_status { LAB_HIT, LAB_PENDING, LAB_MISS, LAB_SECTOR_MISS, LAB_STATUSES };

/* Packet sizes: a header alone, or with 32, 64, (96,) 128 bytes. */
#define LAB_SIZES 5u

/* Sums since lab_create(). All are uint64_t, so that differences of two are taken word by word. */
struct lab_stats {
	uint64_t cycles, launches, blocks;
	uint64_t warp_instructions, thread_instructions;
	/* memory instructions of warps, their active lanes, coalesced transactions, sectors of these */
	uint64_t accesses[LAB_KINDS], lanes[LAB_KINDS], transactions[LAB_KINDS], sectors[LAB_KINDS];
	uint64_t barriers, shared_accesses, shared_conflicts;

	uint64_t l1_load[LAB_STATUSES], l1_store[LAB_STATUSES];
	uint64_t l1_host[LAB_STATUSES];	/* loads of host memory, where the L1 keeps it */
	uint64_t l2_read[LAB_STATUSES], l2_write[LAB_STATUSES]; /* sectors; atomics are reads */
	uint64_t l2_evicted_sectors;	/* dirty ones, written back */
	uint64_t dram_reads, dram_writes; /* sectors */
	uint64_t dram_row_hits, dram_row_misses;

	/* SM to memory and back, by kind; [0] a header alone, [n] with n sectors */
	uint64_t request[LAB_KINDS][LAB_SIZES], request_bytes[LAB_KINDS];
	uint64_t reply[LAB_KINDS], reply_bytes[LAB_KINDS];
	uint64_t request_flits, reply_flits;

	/* over the link: requests by size, bytes with headers, bytes that host memory read */
	uint64_t link_request[LAB_SIZES], link_bytes, link_header_bytes, link_host_bytes;
	uint64_t link_in_flight_cycles;	/* sum over cycles of requests in flight */
	uint64_t link_in_flight_most;

	/* unified memory: faults the driver was told of and its batches; pages and bytes that came, went; requests that waited */
	uint64_t uvm_faults, uvm_batches, uvm_pages, uvm_bytes_in, uvm_bytes_out;
	uint64_t uvm_evictions, uvm_dropped_pages, uvm_held, uvm_busy_cycles;

	/* requests and answers of attached units */
	uint64_t unit_requests, unit_replies, unit_sectors;

	/* where time went: cycles in which an SM's part could not go on */
	uint64_t lsu_busy, lsu_stalled, issue_busy;

	/* for the laws of lab_check(): counted at the other end */
	uint64_t arrived[LAB_KINDS], arrived_bytes[LAB_KINDS];
	uint64_t answered[LAB_KINDS], answered_bytes[LAB_KINDS];
	uint64_t l2_filled_sectors, link_arrived, unit_arrived, uvm_replayed;
};

struct lab;
struct lab_warp;

/* NULL *out and GTU_ERR_NOMEM, or GTU_ERR_INPUT where the numbers do not make a machine. */
int lab_create(const struct lab_machine *m, struct lab **out, struct gtu_error *err);
void lab_destroy(struct lab *lab);	/* NULL is allowed */
const struct lab_machine *lab_machine_of(const struct lab *lab);
const struct lab_stats *lab_stats(const struct lab *lab);
/* @to = @after - @before, every counter. */
void lab_stats_since(const struct lab_stats *before, const struct lab_stats *after,
		     struct lab_stats *to);
uint64_t lab_now(const struct lab *lab);	/* core cycles */

/* ---- Memory ------------------------------------------------------------------------------------ */

/* An array at consecutive bus addresses. The host fills and reads it through data, without traffic. */
struct lab_array {
	uint64_t addr, bytes;
	void *data;
	uint32_t space;			/* enum lab_space */
	bool read_only;
	const char *name;		/* kept, not copied */
};

/* Zeroed memory of the laboratory, 256-byte aligned, one array behind the other. */
int lab_alloc(struct lab *lab, const char *name, uint64_t bytes, enum lab_space space,
	      struct lab_array *out, struct gtu_error *err);
/* An array whose bytes are the caller's own (a mapped edge list), which outlive the lab; read-only. */
int lab_map(struct lab *lab, const char *name, const void *data, uint64_t bytes,
	    enum lab_space space, struct lab_array *out, struct gtu_error *err);
/* Forget all arrays; the next one has the first address. Caches stay as they are: they hold addresses. */
void lab_free_all(struct lab *lab);

/* ---- Kernels ----------------------------------------------------------------------------------- */

struct lab_kernel {
	const char *name;
	/* The program of one warp; runs as a coroutine. */
	void (*warp)(struct lab_warp *w, const void *args);
	const char *const *statement;	/* names of its global memory statements, by number */
	unsigned statements;
	uint32_t shared;		/* bytes a block */
};

struct lab_launch {
	const struct lab_kernel *kernel;
	const void *args;
	uint64_t grid;			/* blocks */
	uint32_t block;			/* threads, a multiple of 32 */
	const struct gtu_progress *progress;
};

/* Of one statement, summed over executions with at least one active lane. */
struct lab_count {
	uint64_t lanes, warps, transactions;
};

/*
 * Run a kernel from launch to the last reply. L1s are emptied first, as a launch does. @count, where
 * not NULL, has room for the kernel's statements and is added to. Fails with GTU_ERR_USAGE where a
 * block does not fit an SM, GTU_ERR_FAIL where the program did something it must not (an index outside
 * an array; statement, lane and value are named), GTU_ERR_VERIFY where a law of lab_check() is broken.
 */
int lab_run(struct lab *lab, const struct lab_launch *launch, struct lab_count *count,
	    struct gtu_error *err);
/*
 * The laws that hold whenever nothing is under way: what was sent arrived, what was asked was answered,
 * each in number and bytes and by kind; L2 misses were filled from DRAM; what it dropped dirty was
 * written. lab_run() calls it. GTU_ERR_VERIFY names the first that is broken.
 */
int lab_check(const struct lab *lab, struct gtu_error *err);

/* ---- Units ------------------------------------------------------------------------------------- */

/*
 * A unit (SCU, IRU, PEG, Weaver) stands somewhere in the machine and is driven by three calls, each with
 * the cycle it happens in. It answers warps with lab_unit_answer(), asks memory with lab_unit_memory()
 * and has itself called with lab_unit_wake(). The schedule is the device's own (struct iru_core takes
 * its fetches through a port whose fetch() returns IRU_NEVER and calls lab_unit_memory(), and reply()
 * calls iru_core_reply()).
 */
enum lab_place {
	LAB_IN_SM,			/* one in each SM: no crossbar between it and its warps */
	LAB_ON_CROSSBAR,		/* a port of its own, as an SM has: SCU */
	LAB_IN_PARTITION,		/* beside each memory partition's L2: IRU */
};

struct lab_unit {
	const char *name;
	enum lab_place place;
	void *ctx;
	/* Warp @warp (a handle for lab_unit_answer()) asks, by lab_unit_ask() of its program. */
	void (*ask)(void *ctx, uint32_t warp, unsigned at, uint64_t value, uint64_t cycle);
	/* What was asked of memory with @tag is there (written: accepted). */
	void (*reply)(void *ctx, uint64_t tag, uint64_t cycle);
	/* The time asked for with lab_unit_wake(). */
	void (*clock)(void *ctx, uint64_t cycle);
};

/* At most LAB_UNITS; the answer is its number, or GTU_ERR_USAGE (negative). */
#define LAB_UNITS 8
int lab_attach(struct lab *lab, const struct lab_unit *unit, struct gtu_error *err);
/*
 * Ask memory for the @sectors (bits) of the line at @addr (a multiple of 128). A unit in a partition
 * reaches its own L2 slices without the crossbar and l2.latency, which is before them; one in an SM goes past the L1. @at: which SM or port.
 */
void lab_unit_memory(struct lab *lab, int unit, unsigned at, enum lab_kind kind, uint64_t addr,
		     unsigned sectors, uint64_t tag);
/* Have clock() called in @cycle (not before now); the earlier of two such calls stands. */
void lab_unit_wake(struct lab *lab, int unit, uint64_t cycle);
/* Send @bytes to a warp that asked; they are copied to where its program wanted them. */
void lab_unit_answer(struct lab *lab, int unit, unsigned at, uint32_t warp, const void *data,
		     uint32_t bytes);
/*
 * The same where the unit knows already in which @cycle (now or later) it answers, and in what words. A place
 * on the crossbar that answers several warps does so in the order of cycles: the port is taken at once.
 */
void lab_unit_answer_at(struct lab *lab, int unit, unsigned at, uint32_t warp, const void *data, uint32_t bytes,
			uint64_t cycle);
/* Run what units do while no kernel runs, until nothing is under way. */
int lab_run_units(struct lab *lab, struct gtu_error *err);

/* ---- Observers --------------------------------------------------------------------------------- */

/* A warp's memory instruction as the coalescer left it. */
struct lab_access {
	const char *kernel, *statement;
	uint64_t cycle;
	uint32_t sm, warp;		/* warp: handle while it lives */
	enum lab_kind kind;
	enum lab_space space;
	uint32_t width, active;		/* bytes an element; lanes */
	uint64_t base;			/* address of element 0; lane l is at base + index[l] * width */
	const uint32_t *index;		/* [LAB_LANES] */
	uint32_t transactions;
	const uint64_t *unit;		/* address of each transaction, in the order they are sent */
	const uint8_t *sectors;		/* of the 128-byte line at that address's multiple, bits */
};
/* A request over the link: @bytes 32, 64, 96 or 128 at @addr. */
struct lab_link_request {
	uint64_t addr, sent, answered;	/* cycles */
	uint32_t bytes;
	enum lab_kind kind;
};
struct lab_observer {
	void *ctx;
	void (*access)(void *ctx, const struct lab_access *a);
	void (*link)(void *ctx, const struct lab_link_request *r);
};
/* At most one; NULL: none. It is kept, not copied. */
void lab_observe(struct lab *lab, const struct lab_observer *o);

/* ---- Time of the host -------------------------------------------------------------------------- */

/* What the host is at, for a profiler that samples: an enum lab_part, valid in a signal handler too. */
enum lab_part { LAB_PART_OTHER, LAB_PART_PROGRAM, LAB_PART_COALESCER, LAB_PART_SM, LAB_PART_MEMORY,
		LAB_PARTS };
const volatile uint8_t *lab_part(const struct lab *lab);
const char *lab_part_name(enum lab_part part);
/* Bytes that the laboratory holds, its arrays included, mapped ones not. */
uint64_t lab_bytes(const struct lab *lab);

#endif
