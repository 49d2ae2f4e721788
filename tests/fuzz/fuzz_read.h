/* SPDX-License-Identifier: MIT */
/*
 * Common code of the readers' fuzz targets. The first byte of an input selects the options. An
 * accepted input must give a graph with every number in bounds; a rejection must have a message.
 */
#ifndef GTU_FUZZ_READ_H
#define GTU_FUZZ_READ_H

#include <stdlib.h>
#include <string.h>

#include "libruntime/graph/read/reader.h"

#define FUZZ_REQUIRE(cond)                                                                         \
	do {                                                                                       \
		if (!(cond))                                                                       \
			abort();                                                                   \
	} while (0)

static inline void fuzz_check_graph(struct gtu_graph *g)
{
	struct gtu_graph *turned;
	struct gtu_graph_stat stat;
	struct gtu_error err;
	uint64_t v;

	FUZZ_REQUIRE(g->flags & GTU_GRAPH_CHECKED);
	g->flags &= ~GTU_GRAPH_CHECKED;
	FUZZ_REQUIRE(!gtu_graph_check(g, NULL, &err));
	FUZZ_REQUIRE(!g->n || !gtu_graph_vertex(g, gtu_graph_id(g, g->n - 1), &v, &err));
	FUZZ_REQUIRE(!g->n || v == g->n - 1);
	FUZZ_REQUIRE(!gtu_graph_transpose(g, NULL, &turned, &err) && turned->m == g->m);
	FUZZ_REQUIRE(!gtu_graph_measure(turned, NULL, &stat, &err));
	gtu_graph_close(turned);
}

static inline int fuzz_read(const struct gtu_reader *reader, const char *name, const uint8_t *data,
			    size_t size, const struct gtu_companion *beside)
{
	struct gtu_read_options opt = { 0 };
	struct gtu_error err = { 0 };
	struct gtu_graph *g;
	struct gtu_input in;
	int rc;

	if (!size)
		return 0;
	opt.direction = data[0] % 3;
	opt.simplify = data[0] / 3 % 2;
	opt.edge_bytes = data[0] / 6 % 2 ? 8 : 0;
	opt.weight_column = data[0] / 12 % 4 - 1;
	gtu_input_memory(&in, data + 1, size - 1, name);
	in.beside = beside;
	rc = gtu_graph_read(&in, reader, &opt, &g, &err);
	FUZZ_REQUIRE((rc == 0) == (g != NULL));
	FUZZ_REQUIRE(rc <= 0 && (!rc || *err.text));
	if (g)
		fuzz_check_graph(g);
	gtu_graph_close(g);
	gtu_input_close(&in);
	return 0;
}

/* Split off another file's content: the first two bytes give its size, limited to the input's. */
static inline void fuzz_split(const uint8_t **data, size_t *size, struct gtu_companion *beside)
{
	size_t n = *size < 2 ? 0 : (*data)[0] | (*data)[1] << 8;

	*data += *size < 2 ? *size : 2;
	*size -= *size < 2 ? *size : 2;
	n = n < *size ? n : *size;
	beside->data = *data;
	beside->size = n;
	*data += n;
	*size -= n;
}

/*
 * A target that reads an input under @file with gtu_reader_@reader. Companions' suffixes: their
 * content comes first in the input; each refers to the one before it.
 */
#define FUZZ_READER(reader, file, ...)                                                             \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                              \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                               \
	{                                                                                          \
		static const char *const suffix[] = { NULL, ##__VA_ARGS__ };                       \
		struct gtu_companion beside[3] = { { .suffix = NULL } };                           \
		const unsigned count = sizeof(suffix) / sizeof(suffix[0]);                         \
                                                                                                   \
		for (unsigned i = 1; i < count; i++) {                                             \
			beside[i] = (struct gtu_companion){ .suffix = suffix[i],                   \
							    .next = i > 1 ? &beside[i - 1] : NULL }; \
			fuzz_split(&data, &size, &beside[i]);                                      \
		}                                                                                  \
		return fuzz_read(&gtu_reader_##reader, file, data, size, count > 1 ? &beside[count - 1] : NULL); \
	}

#endif
