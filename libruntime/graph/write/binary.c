// SPDX-License-Identifier: MIT
/* EMOGI's and GAP's binary formats (graph/read/emogi.c and graph/read/gap.c say where they come from). Little-endian. */
#include <stdio.h>
#include <unistd.h>

#include "writer.h"

static void put_u64(struct gtu_output *o, uint64_t x)
{
	gtu_output_bytes(o, &x, sizeof(x));
}

static void put_u32(struct gtu_output *o, uint32_t x)
{
	gtu_output_bytes(o, &x, sizeof(x));
}

/* ---- EMOGI ------------------------------------------------------------------------------------------------ */

static int put_target(struct gtu_writing *w, uint64_t v, uint64_t e)
{
	(void)v;
	put_u64(&w->file[1], gtu_graph_target(w->g, e));
	if (w->weighted)
		put_u32(&w->file[2], (uint32_t)gtu_graph_weight(w->g, e));
	return 0;
}

int gtu_write_emogi(struct gtu_writing *w)
{
	const struct gtu_graph *g = w->g;
	char beside[4096];
	uint64_t v;
	int rc;

	/* weights that another graph left would be taken for this one's */
	snprintf(beside, sizeof(beside), "%s.val", w->path);
	if (!w->weighted && !access(beside, F_OK))
		return gtu_fail(w->err, GTU_ERR_USAGE,
				"%s: not written: the graph has no weights, and %s is there, which would be read as its weights; remove it or take another name",
				w->path, beside);
	if (!access(w->path, F_OK))
		return gtu_fail(w->err, GTU_ERR_USAGE,
				"%s: not written: a file has that very name, and would be read instead of %s.col and .dst; remove it or take another name",
				w->path, w->path);
	rc = gtu_writing_open(w, 0, ".col");
	if (!rc)
		rc = gtu_writing_open(w, 0, ".dst");
	if (!rc && w->weighted)
		rc = gtu_writing_open(w, 0, ".val");
	if (rc)
		return rc;
	/* each begins with how many elements it has and, as a second word, how many bytes each takes */
	put_u64(&w->file[0], g->n + 1);
	put_u64(&w->file[0], 8);
	for (v = 0; v <= g->n; v++)
		put_u64(&w->file[0], g->row[v]);
	put_u64(&w->file[1], g->m);
	put_u64(&w->file[1], 8);
	if (w->weighted) {
		put_u64(&w->file[2], g->m);
		put_u64(&w->file[2], 4);
	}
	return gtu_writing_each(w, GTU_ALL_ENTRIES, put_target);
}

/* ---- GAP --------------------------------------------------------------------------------------------------- */

static int put_neighbour(struct gtu_writing *w, uint64_t v, uint64_t e)
{
	(void)v;
	put_u32(&w->file[0], (uint32_t)gtu_graph_target(w->g, e));
	if (w->weighted)
		put_u32(&w->file[0], (uint32_t)(int32_t)gtu_graph_weight(w->g, e));
	return 0;
}

static int put_lists(struct gtu_writing *w)
{
	uint64_t v;

	for (v = 0; v <= w->g->n; v++)
		put_u64(&w->file[0], w->g->row[v]);
	return gtu_writing_each(w, GTU_ALL_ENTRIES, put_neighbour);
}

/* A directed graph is followed by what it is turned round, which GAP's pulling programs read. */
int gtu_write_gap(struct gtu_writing *w)
{
	const struct gtu_graph *g = w->g;
	const uint8_t directed = g->flags & GTU_GRAPH_DIRECTED ? 1 : 0;
	struct gtu_graph *turned = NULL;
	int rc;

	if (g->n > 1ull << 31)
		return gtu_fail(w->err, GTU_ERR_UNSUPPORTED, "%s: not written: GAP's graphs have up to 2^31 vertices, this one has %llu",
				w->path, (unsigned long long)g->n);
	rc = directed ? gtu_graph_transpose(g, w->progress, &turned, w->err) : 0;
	if (!rc)
		rc = gtu_writing_open(w, 0, "");
	if (!rc) {
		gtu_output_bytes(&w->file[0], &directed, 1);
		put_u64(&w->file[0], g->m);
		put_u64(&w->file[0], g->n);
		rc = put_lists(w);
	}
	if (!rc && directed) {
		w->g = turned;
		rc = put_lists(w);
		w->g = g;
	}
	gtu_graph_close(turned);
	return rc;
}
