/* SPDX-License-Identifier: MIT */
/* Loads and prints flattened device trees, and compares them with a device's registers. */
#ifndef GTU_FDT_BLOB_H
#define GTU_FDT_BLOB_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gtu/error.h"

/* The register values that the device tree repeats. */
struct fdt_values {
	uint32_t version, contexts, queues, regions_log2, ring_log2, vectors, event_rings, stride, units;
	uint64_t clock_hz, aperture;
};

/* CRC-32 as in IEEE 802.3 and zlib. */
uint32_t fdt_blob_crc(const void *blob, size_t bytes);
/*
 * The number of values in a checked blob's root that differ from @regs; @err describes the first.
 */
unsigned fdt_blob_compare(const void *blob, const struct fdt_values *regs, struct gtu_error *err);

/* Print every node and property of a checked blob, one per line. */
void fdt_blob_print(FILE *to, const void *blob);
/*
 * Load and check a device tree. @where: a blob's file, a folder such as /proc/device-tree, "system"
 * (that folder), or a device name for gtu_open(). The caller frees the result. Returns NULL with a
 * message and its code in @err.
 */
void *fdt_blob_load(const char *where, struct gtu_error *err);

/*
 * Print untrusted text; bytes other than printable ASCII become \xNN so that no terminal interprets
 * them.
 */
void fdt_blob_text(FILE *to, const char *text);

#endif
