/* SPDX-License-Identifier: MIT */
/*
 * Machine descriptions: parameters of the simulated GPU, read from a text file.
 *
 *	sm.count = 16		# source: IRU, table 2
 *	l1.size = 32 KiB	# source: IRU, table 2
 *
 * Every value needs a source. A missing, unknown, duplicate or out-of-range key is an error. Only
 * sm.loads, sm.lines, sm.socket, sm.first, l1.victim, noc.replies, l2.sectored, l2.mshrs, l2.writes, energy and link.request
 * are optional, and the other link.* and the uvm.* keys as a whole group. Documentation/laboratory.md explains each key.
 */
#ifndef GTU_LAB_MACHINE_H
#define GTU_LAB_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gtu/error.h"

#define LAB_LINE		128u	/* bytes per cache line */
#define LAB_SECTOR		32u
#define LAB_SMS_MAX		256u
#define LAB_WARPS_MAX		64u	/* per SM; limited by 64-bit masks */
#define LAB_SLICES_MAX		256u
#define LAB_LOADS_MAX		64u	/* if limited */
#define LAB_L2_MSHRS_MAX	64u	/* if limited */

/*
 * When a warp waits for an atomic whose result is unused. FREE: before its next atomic. BLOCK: at
 * once. STORE: never; all lanes on a sector are one transaction, as with stores. LOAD: timed and
 * counted as a load in every respect, with the L1. A result that is used is always waited for.
 */
enum lab_atomics { LAB_ATOMICS_FREE, LAB_ATOMICS_BLOCK, LAB_ATOMICS_STORE, LAB_ATOMICS_LOAD };
/* BARREL: each cycle is the turn of one warp, which issues at most one instruction in it. */
enum lab_policy { LAB_GTO, LAB_ROUND_ROBIN, LAB_BARREL };
/*
 * Set index of a line: its low bits; the L1 hash of GTX980_like, a machine of the oracle counts; or
 * the low bits XOR the higher bits, folded.
 */
enum lab_index { LAB_INDEX_LINEAR, LAB_INDEX_FERMI, LAB_INDEX_FOLDED };

/* Sizes in bytes, times in core cycles unless the name has another unit. */
struct lab_machine {
	char name[64];
	char oracle[64]; /* the machine's name in an oracle folder's counts.csv; may be empty */
	char note[256];

	double core_mhz;
	uint32_t sms, warps, blocks;	/* SMs; resident warps and blocks per SM */
	uint32_t schedulers;		/* per SM; each issues one warp instruction per cycle */
	uint32_t policy;		/* enum lab_policy */
	uint32_t atomics;		/* enum lab_atomics */
	uint32_t loads;			/* load instructions in flight per SM; 0: no limit */
	uint32_t lines;			/* L1 lines that an SM's loads wait for; 0: no limit but the MSHRs */
	uint32_t socket;		/* SMs that share one L1 and, with BARREL, one instruction fetch per cycle; 0: none do */
	uint32_t first_next;		/* a launch's first block is on the SM after the last one used; default: SM 0 */
	uint32_t alu_latency; /* from an arithmetic instruction to one that uses its result */
	uint32_t shared, shared_latency;
	uint32_t launch_latency;

	/* transaction size in the coalescer: 32, 64 or 128; 64: with all bytes of it */
	uint32_t load_unit, store_unit, atomic_unit;

	uint32_t l1_size;		/* 0: no L1; global accesses bypass it */
	uint32_t l1_ways, l1_index, l1_latency, l1_mshrs, l1_merges, l1_miss_queue;
	uint32_t l1_sectored;
	uint32_t l1_victim_filled;	/* replace the oldest line without a fill in flight, do not wait for the oldest */

	uint32_t noc_flit, noc_header, noc_latency;
	uint32_t noc_outstanding;	/* requests in flight per SM */
	uint32_t noc_whole_replies;	/* a reply is one packet, as in GPGPU-Sim 3; default: one for each sector */

	uint32_t l2_slices, l2_size;	/* l2_size: of one slice */
	uint32_t l2_ways, l2_index, l2_latency;
	uint32_t l2_whole_lines;	/* a miss fetches the whole line, as in GPGPU-Sim 3; default: its sectors */
	uint32_t l2_mshrs;		/* requests per slice that wait for DRAM; a further one blocks the slice; 0: no limit */
	uint32_t l2_writes;		/* 1: every store and atomic is written to DRAM, none allocates */

	uint32_t dram_channels, dram_latency; /* dram_latency: from L2 to the controller */
	uint32_t gpuwattch;		/* energy.c: GPUWattch's costs; default: those measured on chips */
	double dram_gbs;		/* of all channels, 10^9 bytes per second */
	uint32_t dram_banks, dram_row;	/* banks per channel; bytes per row */
	double dram_hit_ns, dram_miss_ns; /* from command to data, row open or not */

	bool link;			/* there is a link to host memory */
	double link_gbs;		/* with headers, each direction */
	uint32_t link_header, link_requests;
	double link_round_trip_ns;	/* of a request alone */
	double link_request_ns;		/* the far side's time for a request, whatever its size; default: 0 */
	uint32_t link_host_atom;	/* smallest host memory read in bytes */
	uint32_t link_cached;		/* the L1 caches host memory */

	bool uvm;			/* there is unified memory (uvm.h) */
	uint32_t uvm_page, uvm_block;	/* bytes of a page; bytes of an allocation block */
	double uvm_memory;		/* device memory for it, in bytes */
	/* faults per batch; density threshold of the prefetcher in percent */
	uint32_t uvm_batch, uvm_prefetch;
	/* the driver's time per batch; bandwidth in 10^9 bytes per second */
	double uvm_fault_ns, uvm_gbs;
	uint32_t uvm_read_mostly; /* pages are copies: clean ones are dropped without a transfer */
};

/*
 * Parse @bytes of @text, which need not end in NUL. @file is its name in messages. GTU_ERR_INPUT
 * names file, line and reason; *m is unspecified then.
 */
int lab_machine_parse(const char *text, size_t bytes, const char *file, struct lab_machine *m,
		      struct gtu_error *err);
/* As lab_machine_parse(), from a file; GTU_ERR_FAIL if it cannot be read. */
int lab_machine_read(const char *path, struct lab_machine *m, struct gtu_error *err);
/* A built-in machine by name, or a file if @name contains a slash or a dot. */
int lab_machine_open(const char *name, struct lab_machine *m, struct gtu_error *err);
/* Name of the @i-th built-in machine, or NULL. */
const char *lab_machine_builtin(unsigned i);
/* Change one value by "key=value". GTU_ERR_USAGE with a message. */
int lab_machine_set(struct lab_machine *m, const char *assignment, struct gtu_error *err);
/* Print every value as a line of a description file, without sources. */
void lab_machine_print(const struct lab_machine *m, FILE *to);

static inline double lab_seconds(const struct lab_machine *m, uint64_t cycles)
{
	return (double)cycles / (m->core_mhz * 1e6);
}

#endif
