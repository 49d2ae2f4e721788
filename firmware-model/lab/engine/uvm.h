/* SPDX-License-Identifier: MIT */
/*
 * Unified memory that migrates pages (emogi.txt, section 2.2; NVIDIA's open driver, nvidia-uvm). An access to a
 * page that is not on the device is held; one driver takes faults in batches, each of which costs uvm.fault before
 * anything moves, and moves the pages of a batch one block after the other at uvm.bandwidth; then all that waited
 * for them goes on (replay at the end of a batch). What the model has of the driver:
 *
 * - uvm_gpu_replayable_faults.c: at most uvm.batch entries at a time (256), here one a page.
 * - uvm_perf_prefetch.c: of the aligned regions of a block around a faulting page, twice as large each, the largest
 *   of whose pages more than uvm.prefetch percent are there or asked for is fetched whole.
 * - uvm_pmm_gpu.c: memory is given and taken by blocks of uvm.block (root chunks of 2 MiB), however few of its pages
 *   are there; the one that was longest without a new page goes (the driver does not see accesses that hit).
 * - uvm.advice = read_mostly: the host keeps its copy, so that a page that was not written is dropped without a
 *   transfer; without the advice every page that goes is copied back.
 */
#ifndef GTU_LAB_UVM_H
#define GTU_LAB_UVM_H

#include <stdbool.h>
#include <stdint.h>

#include "gtu/error.h"

#define LAB_MANAGED_BASE	0x2000000000ull	/* above all arrays of the device, below the host's */
#define LAB_MANAGED_LINE	((uint32_t)(LAB_MANAGED_BASE / 128))
#define LAB_BLOCK_PAGES		64u	/* at most: they are bits of a word */

struct lab;

struct lab_uvm_block {
	uint64_t there, coming, wanted, dirty; /* pages */
	uint32_t older, newer;		/* block + 1; of those that have memory */
	bool has_memory;
};

struct lab_uvm {
	uint32_t page, block_pages;	/* bytes; pages */
	uint32_t blocks, memory, used;	/* blocks that there are, that fit the device, that have memory */
	uint32_t oldest, newest;	/* block + 1 */
	struct lab_uvm_block *block;
	struct lab_uvm_page {
		uint32_t first, last;	/* requests that wait, as nodes */
		uint32_t next;		/* page + 1, in the queue of faults */
	} *pages;
	uint32_t queue, queue_end;	/* page + 1 */
	uint32_t *batch, in_batch;	/* blocks that are being served */
	bool busy;			/* the driver is */
	uint64_t since;
};

/* Room for managed memory up to address @end; GTU_ERR_USAGE where the machine has none, GTU_ERR_NOMEM. */
int lab_uvm_grow(struct lab *lab, uint64_t end, struct gtu_error *err);
void lab_uvm_forget(struct lab *lab);
uint64_t lab_uvm_pages(const struct lab *lab);	/* that are on the device */
/* Whether the request of @node, of managed memory, waits for its page; it is sent again when that is there. */
bool lab_uvm_holds(struct lab *lab, uint32_t node, uint64_t cycle);
void lab_uvm_event(struct lab *lab, uint32_t node);

#endif
