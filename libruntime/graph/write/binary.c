// SPDX-License-Identifier: MIT
/*
 * Writers of EMOGI's and GAP's binary formats, described in read/emogi.c and read/gap.c.
 * Little-endian.
 */
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

	/* a .val file of another graph would be read as this one's weights */
	snprintf(beside, sizeof(beside), "%s.val", w->path);
	if (!w->weighted && !access(beside, F_OK))
		return gtu_fail(w->err, GTU_ERR_USAGE,
				"%s: not written: the graph has no weights, but %s exists and "
				"would be read as its weights; remove it or use another name",
				w->path, beside);
	if (!access(w->path, F_OK))
		return gtu_fail(w->err, GTU_ERR_USAGE,
				"%s: not written: a file of that name exists and would be read "
				"instead of %s.col and .dst; remove it or use another name",
				w->path, w->path);
	rc = gtu_writing_open(w, 0, ".col");
	if (!rc)
		rc = gtu_writing_open(w, 0, ".dst");
	if (!rc && w->weighted)
		rc = gtu_writing_open(w, 0, ".val");
	if (rc)
		return rc;
	/*
	 * each file starts with the number of elements and, as a second word, the bytes per element
	 */
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

/* A directed graph is followed by its transpose, which GAP's pull-based programs read. */
int gtu_write_gap(struct gtu_writing *w)
{
	const struct gtu_graph *g = w->g;
	const uint8_t directed = g->flags & GTU_GRAPH_DIRECTED ? 1 : 0;
	struct gtu_graph *transposed = NULL;
	int rc;

	if (g->n > 1ull << 31)
		return gtu_fail(w->err, GTU_ERR_UNSUPPORTED, "%s: not written: GAP's graphs have "
				"up to 2^31 vertices, but this one has %llu",
				w->path, (unsigned long long)g->n);
	rc = directed ? gtu_graph_transpose(g, w->progress, &transposed, w->err) : 0;
	if (!rc)
		rc = gtu_writing_open(w, 0, "");
	if (!rc) {
		gtu_output_bytes(&w->file[0], &directed, 1);
		put_u64(&w->file[0], g->m);
		put_u64(&w->file[0], g->n);
		rc = put_lists(w);
	}
	if (!rc && directed) {
		w->g = transposed;
		rc = put_lists(w);
		w->g = g;
	}
	gtu_graph_close(transposed);
	return rc;
}
