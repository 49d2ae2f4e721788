// SPDX-License-Identifier: MIT
/*
 * Fuzz target: gtu_graph_open() on a file. Containers get a valid header checksum, so that the code
 * after the check is reached; other inputs are compressed streams.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_read.h"
#include "libruntime/graph/graph_container.h"

/* Receives the sums, so that no read is optimized away. */
uint64_t fuzz_sink;

static void walk(const struct gtu_graph *g)
{
	uint64_t sum = 0, v, e, first, end;

	for (v = 0; v < g->n; v++) {
		gtu_graph_edges(g, v, &first, &end);
		/* rows of a hostile file may overlap: limit the walk of each row */
		end = end - first > 64 ? first + 64 : end;
		for (e = first; e < end; e++)
			sum += gtu_graph_target(g, e) + (g->weight ? *(const uint8_t *)g->weight : 0);
		sum += gtu_graph_id(g, v);
	}
	fuzz_sink += sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gtu_container_header *h;
	struct gtu_error err = { 0 };
	struct gtu_graph *g;
	uint8_t *copy = malloc(size + 1);
	char path[40];
	int fd = memfd_create("fuzz", MFD_CLOEXEC), rc;

	FUZZ_REQUIRE(copy && fd >= 0);
	memcpy(copy, data, size);
	h = (void *)copy;
	if (size >= sizeof(*h) && !memcmp(h->magic, GTU_CONTAINER_MAGIC, sizeof(h->magic))) {
		h->file_bytes = size;
		/* the checksum of compressed edges comes before their decoding */
		if (h->section[GTU_SECTION_COL].offset <= size &&
		    h->section[GTU_SECTION_COL].bytes <= size - h->section[GTU_SECTION_COL].offset)
			h->section[GTU_SECTION_COL].sum = gtu_container_sum(copy + h->section[GTU_SECTION_COL].offset,
									   h->section[GTU_SECTION_COL].bytes);
		h->sum = gtu_container_header_sum(h);
	}
	FUZZ_REQUIRE(write(fd, copy, size) == (ssize_t)size);
	free(copy);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = gtu_graph_open(path, NULL, NULL, &g, &err);
	FUZZ_REQUIRE((rc == 0) == (g != NULL) && (!rc || *err.text));
	if (g) {
		walk(g);
		rc = gtu_graph_check(g, NULL, &err);
		FUZZ_REQUIRE(!rc || *err.text);
	}
	gtu_graph_close(g);
	close(fd);
	return 0;
}
