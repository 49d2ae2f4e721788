/* SPDX-License-Identifier: MIT */
/*
 * The native container: a graph's arrays as they lie in memory, mapped in place.
 *
 * A file is a header of one 4 KiB page and up to four sections, each beginning at a multiple of 4 KiB
 * in the order of enum gtu_container_section; gaps are zero. Everything is little-endian. The header
 * has a checksum of itself, verified on opening together with every size and offset; each section has
 * one of its own, verified by gtu_graph_check() alone, because it costs reading the section.
 *
 * Version 2 is the same with compressed edge lists (coded.h): its edge section is a byte a piece, zeros up to a multiple
 * of 8, then the stream. They are decoded when it is opened; the other sections are mapped.
 */
#ifndef GTU_GRAPH_CONTAINER_H
#define GTU_GRAPH_CONTAINER_H

#include "gtu/graph.h"

#define GTU_CONTAINER_MAGIC "\211GTUCSR\n"
#define GTU_CONTAINER_MAGIC_BYTES 8
#define GTU_CONTAINER_VERSION 1
#define GTU_CONTAINER_COMPRESSED 2
#define GTU_CONTAINER_ALIGN 4096ull

enum gtu_container_section {
	GTU_SECTION_ROW,		/* n + 1 u64 */
	GTU_SECTION_COL,		/* m u32 or u64; version 2: coded */
	GTU_SECTION_WEIGHT,		/* m u32, f32 or f64; empty without weights and where they are in the coded edges */
	GTU_SECTION_IDS,		/* n u64, ascending; empty when ids are id_base + vertex */
	GTU_SECTIONS,
};

struct gtu_container_header {
	char magic[GTU_CONTAINER_MAGIC_BYTES];
	uint32_t version;
	uint32_t flags;			/* GTU_GRAPH_DIRECTED | GTU_GRAPH_SORTED */
	uint32_t edge_bytes;
	uint32_t weight_type;
	uint64_t n, m, stored, id_base;
	uint64_t file_bytes;
	struct {
		uint64_t offset, bytes, sum;
	} section[GTU_SECTIONS];
	char name[128];			/* NUL-terminated */
	/* version 2, else zero: struct gtu_coded */
	uint64_t coded_pieces, coded_bits;
	uint32_t entry_bits, weight_bits, weight_least, weighted;
	uint64_t reserved[23];		/* zero */
	uint64_t sum;			/* of all before it */
};

_Static_assert(sizeof(struct gtu_container_header) == 512, "header without holes");

/* What header.sum must be. */
uint64_t gtu_container_header_sum(const struct gtu_container_header *h);

/*
 * Map the container that @fd is open on, and decode it if it is compressed; @name is for messages. 1: opened, 0: it has
 * another magic, negative: an error. The descriptor stays the caller's and may be closed at once.
 */
int gtu_container_open(int fd, const char *name, const struct gtu_progress *progress, struct gtu_graph **out,
		       struct gtu_error *err);

/* Verify the sections' checksums of a mapped graph. */
int gtu_container_check_sums(const struct gtu_graph *g, const struct gtu_progress *progress,
			     struct gtu_error *err);

#endif
