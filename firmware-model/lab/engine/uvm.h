/* SPDX-License-Identifier: MIT */
/*
 * Unified memory with page migration (EMOGI, section 2.2; NVIDIA's open kernel module nvidia-uvm).
 * An access to a non-resident page is held. The driver takes faults in batches. Each batch costs
 * uvm.fault, then its pages are moved block by block at uvm.bandwidth. Then the held accesses are
 * replayed. Modelled after these files of nvidia-uvm:
 *
 * - uvm_gpu_replayable_faults.c: at most uvm.batch faults per batch (256), here one per page.
 * - uvm_perf_prefetch.c: the density prefetcher. Of the aligned power-of-two regions around a
 *   faulting page, it fetches the largest of which more than uvm.prefetch percent is resident or
 *   faulting.
 * - uvm_pmm_gpu.c: memory is allocated and evicted in blocks of uvm.block (root chunks of 2 MiB),
 *   however few pages are resident. The victim is the block whose last new page is oldest; the
 *   driver does not see accesses that hit.
 * - uvm.advice = read_mostly: the host keeps its copy, and clean pages are dropped without a
 *   transfer. Without it, every evicted page is copied back.
 */
#ifndef GTU_LAB_UVM_H
#define GTU_LAB_UVM_H

#include <stdbool.h>
#include <stdint.h>

#include "gtu/error.h"

#define LAB_MANAGED_BASE	0x2000000000ull	/* above all device arrays, below the host's */
#define LAB_MANAGED_LINE	((uint32_t)(LAB_MANAGED_BASE / 128))
#define LAB_BLOCK_PAGES		64u	/* at most; limited by 64-bit masks */

struct lab;

struct lab_uvm_block {
	uint64_t resident, migrating, faulted, dirty; /* masks of pages */
	uint32_t older, newer;		/* LRU list of blocks with memory; block + 1 */
	bool has_memory;
};

struct lab_uvm {
	uint32_t page, block_pages;	/* bytes; pages */
	/* number of blocks: in total, that fit the device, with memory */
	uint32_t blocks, memory, used;
	uint32_t oldest, newest;	/* block + 1 */
	struct lab_uvm_block *block;
	struct lab_uvm_page {
		uint32_t first, last;	/* queue of held requests (nodes) */
		uint32_t next;		/* fault queue; page + 1 */
	} *pages;
	uint32_t queue, queue_end;	/* page + 1 */
	uint32_t *batch, in_batch;	/* blocks in the current batch */
	bool busy;			/* the driver is handling a batch */
	uint64_t since;
};

/* Extend managed memory up to @end. GTU_ERR_USAGE if the machine has none; GTU_ERR_NOMEM. */
int lab_uvm_grow(struct lab *lab, uint64_t end, struct gtu_error *err);
void lab_uvm_free(struct lab *lab);
uint64_t lab_uvm_pages(const struct lab *lab);	/* resident pages */
/* If the page of request @node is not resident, hold the request until it is and return true. */
bool lab_uvm_holds(struct lab *lab, uint32_t node, uint64_t cycle);
void lab_uvm_event(struct lab *lab, uint32_t node);

#endif
