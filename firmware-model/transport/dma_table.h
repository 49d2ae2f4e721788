/* SPDX-License-Identifier: MIT */
/*
 * A guest's memory as a device sees it: ranges of bus addresses. In a separate process most ranges
 * are mapped from file descriptors, and some (ROM, other devices' BARs) are known but inaccessible.
 * In QEMU the memory is lent by QEMU.
 */
#ifndef GTU_DMA_TABLE_H
#define GTU_DMA_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gtu/error.h"

/*
 * Greatest number of ranges and of bytes mapped from files; further mappings are refused. The kernel
 * limits the mappings of a process (vm.max_map_count, 65530 by default) and its address space
 * (2^47 bytes): a table that reaches those limits would leave neither to the process.
 */
#define DMA_TABLE_MAX		32768u
#define DMA_TABLE_BYTES		(1ull << 44)

struct dma_range {
	uint64_t start, last;		/* bus addresses, both included */
	uint8_t *host;			/* NULL: inaccessible */
	bool read, write;
	bool lent;			/* the memory belongs to the caller: never unmapped here */
	uint32_t page;			/* page size of a mapped file, in bytes */
};

struct dma_table {
	struct dma_range *range;	/* sorted, without overlaps */
	size_t count, capacity, hit;
	uint64_t mapped;		/* bytes of files mapped here */
	bool torn;			/* the file of a range was truncated below the range */
	bool stuck;			/* the kernel refused to unmap a range */
};

/* Limit of ranges in this process: DMA_TABLE_MAX, or half of vm.max_map_count if that is less. */
size_t dma_table_limit(void);

/*
 * Map @size bytes at bus address @start. @fd >= 0: the file's bytes from @offset on; the caller
 * keeps the descriptor. Files other than memory (memfd, tmpfs, hugetlbfs) are inaccessible: an access
 * to another file system may wait for whoever serves it. Returns 0 or a negative errno with a message
 * in @err: -EEXIST for an overlap, -EINVAL for an invalid range, -ENOSPC, -ENOMEM, or mmap()'s errno.
 */
int dma_table_map(struct dma_table *t, uint64_t start, uint64_t size, int fd, uint64_t offset,
		  bool read, bool write, struct gtu_error *err);
/*
 * Map the caller's @size bytes at @host to bus address @start, replacing existing mappings. Returns
 * 0 or a negative errno: -EINVAL for an invalid range, -ENOSPC, -ENOMEM.
 */
int dma_table_map_host(struct dma_table *t, uint64_t start, uint64_t size, void *host, bool read, bool write);
/*
 * Unmap @size bytes at @start; unmapped parts are no error. Parts of ranges outside stay mapped,
 * unless a part of a huge page would remain or the table is full: then the whole range is unmapped.
 * No pointer into the range may be in use. Returns the number of bytes that were mapped.
 */
uint64_t dma_table_unmap(struct dma_table *t, uint64_t start, uint64_t size);
void dma_table_clear(struct dma_table *t);

/*
 * Find the memory at bus address @addr. On return *len, the wanted length, is limited to what
 * follows contiguously, at least one byte. NULL if the address is unmapped or inaccessible, or the
 * right is missing.
 */
void *dma_table_find(struct dma_table *t, uint64_t addr, uint64_t *len, bool write);

/*
 * For a SIGBUS handler: if @fault is in a mapped range, replace the range by zero pages, set `torn`
 * and return true. The interrupted access continues harmlessly; the owner then closes the
 * connection.
 */
bool dma_table_mend(struct dma_table *t, const void *fault);

#endif
