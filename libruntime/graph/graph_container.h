/* SPDX-License-Identifier: MIT */
/*
 * The native container: a graph's arrays in their memory layout, mapped in place.
 *
 * A file is a 4 KiB header page and up to five sections, in the order of enum
 * gtu_container_section, each aligned to 4 KiB; gaps are zero. All numbers are little-endian. The
 * header has a checksum, verified on opening together with every size and offset. Each section has
 * its own, which only gtu_graph_check() verifies, since that reads the whole section.
 *
 * Version 2 differs in its edge section, which holds compressed edge lists (compressed.h): one width
 * byte per piece, zeros up to a multiple of 8, then the stream. Opening decodes it; the other
 * sections are mapped.
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
	GTU_SECTION_COL,		/* m u32 or u64; version 2: compressed */
	GTU_SECTION_WEIGHT,		/* m u32, f32 or f64; empty without weights, or if the edge section includes them */
	GTU_SECTION_IDS,		/* n u64, ascending; empty if ids are id_base + vertex */
	GTU_SECTION_NAMES,		/* n + 1 u64, offsets into the text that follows; empty without names */
	GTU_SECTIONS,
};

struct gtu_container_part {
	uint64_t offset, bytes, sum;
};

struct gtu_container_header {
	char magic[GTU_CONTAINER_MAGIC_BYTES];
	uint32_t version;
	uint32_t flags;			/* GTU_GRAPH_DIRECTED | GTU_GRAPH_SORTED */
	uint32_t edge_bytes;
	uint32_t weight_type;
	uint64_t n, m, stored, id_base;
	uint64_t file_bytes;
	struct gtu_container_part section[GTU_SECTION_NAMES];
	char name[128];			/* NUL-terminated */
	/* version 2, else zero: struct gtu_compressed */
	uint64_t coded_pieces, coded_bits;
	uint32_t entry_bits, weight_bits, weight_min, weighted;
	struct gtu_container_part names;	/* the last section; zero without names */
	uint64_t reserved[20];		/* zero */
	uint64_t sum;			/* checksum of all members before it */
};

_Static_assert(sizeof(struct gtu_container_header) == 512, "header without holes");

/* Compute the checksum of a section's content, and the header's. */
uint64_t gtu_container_sum(const void *data, uint64_t bytes);
uint64_t gtu_container_header_sum(const struct gtu_container_header *h);

/*
 * Map the container open on @fd, and decode it if it is compressed; @name is for messages. A file of
 * up to 64 MiB, or one that other users can change, is read into memory instead. 1: opened; 0: not a
 * container; negative: an error. The caller keeps the descriptor and may close it at once.
 */
int gtu_container_open(int fd, const char *name, const struct gtu_progress *progress, struct gtu_graph **out,
		       struct gtu_error *err);

/* Its parts, for a graph of which only a part is mapped. Read and check the header; results as above. */
struct stat;
int gtu_container_header(int fd, const char *name, struct stat *st, struct gtu_container_header *h,
			 struct gtu_error *err);
/* Whether the content is read into memory. */
bool gtu_container_copied(const struct stat *st);
/* Read @bytes bytes from byte @first on. */
int gtu_container_read(int fd, char *to, uint64_t first, uint64_t bytes, const char *name,
		       const struct gtu_progress *progress, struct gtu_error *err);
/* Set the members of @g, whose backing has the mapping. */
int gtu_container_describe(struct gtu_graph *g, const struct gtu_container_header *h, const char *name,
			   struct gtu_error *err);

/* Verify the checksums of a mapped graph's sections. */
int gtu_container_check_sums(const struct gtu_graph *g, const struct gtu_progress *progress,
			     struct gtu_error *err);

#endif
