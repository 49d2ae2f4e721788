// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <string.h>

#include "graph_options.h"

bool graph_option(int returned, struct gtu_read_options *read)
{
	switch (returned) {
	case GRAPH_OPTION_DIRECTED:
		read->direction = GTU_DIRECTED;
		return true;
	case GRAPH_OPTION_UNDIRECTED:
		read->direction = GTU_UNDIRECTED;
		return true;
	case GRAPH_OPTION_SIMPLIFY:
		read->simplify = 1;
		return true;
	}
	return false;
}

const char *graph_kind(const struct gtu_graph *g, char text[64])
{
	static const char *const weights[] = { "no weights", "u32 weights", "f32 weights", "f64 weights" };

	snprintf(text, 64, "%s, %u-byte edges, %s",
		 g->flags & GTU_GRAPH_DIRECTED ? "directed" : "undirected", g->edge_bytes,
		 weights[g->weight_type & 3]);
	return text;
}

const char *grouped(uint64_t x)
{
	static char buffer[8][32];
	static unsigned next;
	char digits[24], *to = buffer[next++ % 8], *start = to;
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, x), i;

	for (i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = 0;
	return start;
}
