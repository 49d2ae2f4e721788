/* SPDX-License-Identifier: MIT */
/*
 * What a device sees of a guest's memory: ranges of bus addresses. In a process of its own most of them are
 * mapped from a file descriptor, some (ROM, other devices' BARs) known but out of reach; compiled into QEMU
 * they are lent by it.
 */
#ifndef GTU_DMA_TABLE_H
#define GTU_DMA_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gtu/error.h"

/* Ranges at a time; a peer that maps more is refused. */
#define DMA_TABLE_MAX	65535u

struct dma_range {
	uint64_t start, last;		/* bus addresses, both included */
	uint8_t *host;			/* NULL: out of reach */
	bool read, write;
	bool lent;			/* the memory is the caller's: never unmapped here */
};

struct dma_table {
	struct dma_range *range;	/* ascending, never overlapping */
	size_t count, room, hit;
	bool torn;			/* a file behind a range became shorter than the range */
};

/*
 * Add @size bytes at bus address @start. @fd >= 0: they are the file's bytes from @offset on (the
 * descriptor stays the caller's). Returns 0 or a negative errno with a sentence in @err: -EEXIST where
 * something is mapped already, -EINVAL for what cannot be, -ENOSPC, -ENOMEM, or what mmap() says.
 */
int dma_table_map(struct dma_table *t, uint64_t start, uint64_t size, int fd, uint64_t offset,
		  bool read, bool write, struct gtu_error *err);
/*
 * Add @size bytes at bus address @start that are at @host, the caller's, in place of what was mapped there.
 * Returns 0 or a negative errno: -EINVAL for what is no range, -ENOSPC, -ENOMEM.
 */
int dma_table_lend(struct dma_table *t, uint64_t start, uint64_t size, void *host, bool read, bool write);
/*
 * Forget every byte of @size at @start; unknown ranges are no error. A range that reaches out on a side
 * keeps what is outside. No pointer into it may be in use. Returns the bytes that were known.
 */
uint64_t dma_table_unmap(struct dma_table *t, uint64_t start, uint64_t size);
void dma_table_clear(struct dma_table *t);

/*
 * The memory at bus address @addr: at least one byte; *len (wanted on entry) becomes what follows on
 * contiguously, at most what was wanted. NULL: nothing there, out of reach, or the right is missing.
 */
void *dma_table_find(struct dma_table *t, uint64_t addr, uint64_t *len, bool write);

/*
 * For a SIGBUS handler: if @fault lies in a mapped range, put zero pages there, set `torn`, and return
 * true: the interrupted access goes on and hurts nobody, and the owner ends the connection afterwards.
 */
bool dma_table_mend(struct dma_table *t, const void *fault);

#endif
