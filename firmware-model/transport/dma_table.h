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

/* Greatest number of ranges; further mappings are refused. */
#define DMA_TABLE_MAX	65535u

struct dma_range {
	uint64_t start, last;		/* bus addresses, both included */
	uint8_t *host;			/* NULL: inaccessible */
	bool read, write;
	bool lent;			/* the memory belongs to the caller: never unmapped here */
};

struct dma_table {
	struct dma_range *range;	/* sorted, without overlaps */
	size_t count, capacity, hit;
	bool torn;			/* the file of a range was truncated below the range */
};

/*
 * Map @size bytes at bus address @start. @fd >= 0: the file's bytes from @offset on; the caller
 * keeps the descriptor. Returns 0 or a negative errno with a message in @err: -EEXIST for an
 * overlap, -EINVAL for an invalid range, -ENOSPC, -ENOMEM, or mmap()'s errno.
 */
int dma_table_map(struct dma_table *t, uint64_t start, uint64_t size, int fd, uint64_t offset,
		  bool read, bool write, struct gtu_error *err);
/*
 * Map the caller's @size bytes at @host to bus address @start, replacing existing mappings. Returns
 * 0 or a negative errno: -EINVAL for an invalid range, -ENOSPC, -ENOMEM.
 */
int dma_table_map_host(struct dma_table *t, uint64_t start, uint64_t size, void *host, bool read, bool write);
/*
 * Unmap @size bytes at @start; unmapped parts are no error. Parts of ranges outside stay mapped. No
 * pointer into the range may be in use. Returns the number of bytes that were mapped.
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
