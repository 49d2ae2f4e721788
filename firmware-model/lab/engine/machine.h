/* SPDX-License-Identifier: MIT */
/*
 * What a machine of the laboratory is built from, read from a description file:
 *
 *	sm.count = 16		# source: iru.txt, table 2
 *	l1.size = 32 KiB	# source: iru.txt, table 2
 *
 * Every line says where its value is from; a key that is missing, unknown, given twice or out of its
 * range, and a value without a source, is refused. Only the keys of the link and of unified memory may be
 * missing, all of either or none. Documentation/laboratory.md has the meaning of each key.
 */
#ifndef GTU_LAB_MACHINE_H
#define GTU_LAB_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gtu/error.h"

#define LAB_LINE		128u	/* bytes of a cache line */
#define LAB_SECTOR		32u
#define LAB_SMS_MAX		256u
#define LAB_WARPS_MAX		64u	/* an SM: they are bits of a word */
#define LAB_SLICES_MAX		256u

/*
 * An atomic whose value nobody wants. FREE: the warp waits for it before its next. BLOCK: at once. STORE: never, and all
 * lanes on a sector are one transaction, as of a store; a value that is wanted is waited for.
 */
enum lab_atomics { LAB_ATOMICS_FREE, LAB_ATOMICS_BLOCK, LAB_ATOMICS_STORE };
enum lab_policy { LAB_GTO, LAB_ROUND_ROBIN };
/*
 * Set of a line number: its low bits; those of an oracle's GTX980_like L1 (the README there); or
 * low bits XOR all the bits above, folded.
 */
enum lab_index { LAB_INDEX_LINEAR, LAB_INDEX_FERMI, LAB_INDEX_FOLDED };

/* Sizes in bytes, times in core cycles unless the name says otherwise. */
struct lab_machine {
	char name[64];
	char oracle[64];		/* what counts.csv of an oracle folder calls it; may be empty */
	char note[256];

	double core_mhz;
	uint32_t sms, warps, blocks;	/* SMs; an SM's warps and blocks at once */
	uint32_t schedulers;		/* an SM; each issues one warp instruction a cycle */
	uint32_t policy;		/* enum lab_policy */
	uint32_t atomics;		/* enum lab_atomics */
	uint32_t alu_latency;		/* from an arithmetic instruction to one that needs its result */
	uint32_t shared, shared_latency;
	uint32_t launch_latency;

	uint32_t load_unit, store_unit, atomic_unit; /* of the coalescer: 32 or 128 */

	uint32_t l1_size;		/* 0: global accesses go past it */
	uint32_t l1_ways, l1_index, l1_latency, l1_mshrs, l1_merges, l1_miss_queue;
	uint32_t l1_sectored;

	uint32_t noc_flit, noc_header, noc_latency;
	uint32_t noc_outstanding;	/* requests of an SM without a reply */

	uint32_t l2_slices, l2_size;	/* size of one slice */
	uint32_t l2_ways, l2_index, l2_latency;

	uint32_t dram_channels, dram_latency; /* latency: on the way there, before any row is opened */
	double dram_gbs;		/* of all channels, 10^9 bytes a second */
	uint32_t dram_banks, dram_row;	/* a channel; bytes of a row */
	double dram_hit_ns, dram_miss_ns; /* from command to data, row open or not */

	bool link;			/* there is one to host memory: */
	double link_gbs;		/* of packets with their headers, each direction */
	uint32_t link_header, link_requests;
	double link_round_trip_ns;
	uint32_t link_host_atom;	/* least bytes that host memory reads */
	uint32_t link_cached;		/* the L1 keeps sectors of host memory as it does others */

	bool uvm;			/* there is unified memory that migrates (uvm.h): */
	uint32_t uvm_page, uvm_block;	/* bytes that move; that have and lose the device's memory together */
	double uvm_memory;		/* bytes of the device for it */
	uint32_t uvm_batch, uvm_prefetch; /* faults taken at a time; percent of a region from which it is fetched whole */
	double uvm_fault_ns, uvm_gbs;	/* the driver's time for a batch; 10^9 bytes a second that move */
	uint32_t uvm_read_mostly;	/* pages are copies: what was not written is dropped without a transfer */
};

/*
 * Read a description. @text is @bytes long and need not end in NUL; @file is its name in sentences.
 * GTU_ERR_INPUT with file, line and reason; *m is unspecified then.
 */
int lab_machine_parse(const char *text, size_t bytes, const char *file, struct lab_machine *m,
		      struct gtu_error *err);
/* As lab_machine_parse(), from a file; GTU_ERR_FAIL where it cannot be read. */
int lab_machine_read(const char *path, struct lab_machine *m, struct gtu_error *err);
/* A machine that is shipped, by name, or a file where @name has a slash or a dot in it. */
int lab_machine_open(const char *name, struct lab_machine *m, struct gtu_error *err);
/* Name of the @i-th machine that is shipped, NULL beyond the last. */
const char *lab_machine_shipped(unsigned i);
/* "key=value": one value changed, for sensitivity sweeps. GTU_ERR_USAGE with a sentence. */
int lab_machine_set(struct lab_machine *m, const char *assignment, struct gtu_error *err);
/* Every value as a line of a description file, without sources. */
void lab_machine_print(const struct lab_machine *m, FILE *to);

static inline double lab_seconds(const struct lab_machine *m, uint64_t cycles)
{
	return (double)cycles / (m->core_mhz * 1e6);
}

#endif
