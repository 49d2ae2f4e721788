/* SPDX-License-Identifier: MIT */
/* The device's description, a flattened device tree: what gtu bringup and gtu fdt check of it. */
#ifndef GTU_FDT_BLOB_H
#define GTU_FDT_BLOB_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gtu/error.h"

/* What registers say of what the tree says too. */
struct fdt_values {
	uint32_t version, contexts, queues, regions_log2, ring_log2, vectors, event_rings, stride, units;
	uint64_t clock_hz, aperture;
};

/* CRC-32 as in IEEE 802.3 and zlib. */
uint32_t fdt_blob_crc(const void *blob, size_t bytes);
/* Is it a whole device tree, of no more than @bytes? 0, or GTU_ERR_INPUT with a sentence. */
int fdt_blob_check(const void *blob, size_t bytes, struct gtu_error *err);
/* How many values of a checked blob's root differ from the registers'; the first one's sentence. */
unsigned fdt_blob_compare(const void *blob, const struct fdt_values *regs, struct gtu_error *err);

/* Every node and property of a checked blob, a line each. */
void fdt_blob_print(FILE *to, const void *blob);
/*
 * A device tree from @where: a blob's file, a folder as /proc/device-tree, "system" (that folder), or a device as
 * gtu_open() takes it. malloc()ed and checked; NULL with a sentence, and its code in @err.
 */
void *fdt_blob_load(const char *where, struct gtu_error *err);

/* Text of a tree that may be anybody's: what a terminal could obey is written \xNN. */
void fdt_blob_text(FILE *to, const char *text);

#endif
