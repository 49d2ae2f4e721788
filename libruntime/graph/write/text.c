// SPDX-License-Identifier: MIT
/* Writers of the text formats, described in read/. */
#include <ctype.h>
#include <stdio.h>

#include "writer.h"

/* Write "u v [weight]" with the ids @a and @b. */
static void line(struct gtu_writing *w, struct gtu_output *o, uint64_t a, uint64_t b, uint64_t e, char between)
{
	gtu_output_u64(o, a, between);
	gtu_output_u64(o, b, w->weighted ? between : '\n');
	if (w->weighted)
		gtu_writing_weight(w, o, e, '\n');
}

static int put_entry(struct gtu_writing *w, uint64_t v, uint64_t e)
{
	line(w, &w->file[0], gtu_writing_id(w, v), gtu_writing_id(w, gtu_graph_target(w->g, e)), e, ' ');
	return 0;
}

/* ---- Matrix Market ------------------------------------------------------------------------------------ */

int gtu_write_matrix(struct gtu_writing *w)
{
	const enum gtu_triangle part = w->once ? GTU_LOWER : GTU_ALL_ENTRIES;
	struct gtu_output *o = &w->file[0];
	int rc = gtu_writing_open(w, 0, "");

	if (rc)
		return rc;
	gtu_output_text(o, "%%MatrixMarket matrix coordinate ");
	gtu_output_text(o, !w->weighted ? "pattern" : w->g->weight_type == GTU_WEIGHT_U32 ? "integer" : "real");
	gtu_output_text(o, w->once ? " symmetric\n" : " general\n");
	gtu_output_u64(o, w->g->n, ' ');
	gtu_output_u64(o, w->g->n, ' ');
	gtu_output_u64(o, gtu_writing_count(w, part), '\n');
	return gtu_writing_each(w, part, put_entry);
}

/* ---- SNAP ------------------------------------------------------------------------------------------------ */

/*
 * Whether the entry, as first line, could be taken for a header: two numbers, the second being the
 * number of following lines.
 */
static bool like_a_header(const struct gtu_writing *w, uint64_t v, uint64_t e, uint64_t lines)
{
	return lines > 1 && gtu_writing_id(w, v) && gtu_writing_id(w, gtu_graph_target(w->g, e)) == lines - 1;
}

/* Find the first entry that cannot be taken for a header; the other entries keep their order. */
static uint64_t first_entry(const struct gtu_writing *w, enum gtu_triangle part, uint64_t lines)
{
	uint64_t v, e;

	for (v = 0; v < w->g->n; v++)
		for (e = w->g->row[v]; e < w->g->row[v + 1]; e++)
			if ((part == GTU_ALL_ENTRIES || gtu_graph_target(w->g, e) >= v) && !like_a_header(w, v, e, lines))
				return e;
	return GTU_NO_VERTEX;
}

static int put_other(struct gtu_writing *w, uint64_t v, uint64_t e)
{
	if (e != w->first)
		line(w, &w->file[0], gtu_writing_id(w, v), gtu_writing_id(w, gtu_graph_target(w->g, e)), e, '\t');
	return 0;
}

int gtu_write_snap(struct gtu_writing *w)
{
	const enum gtu_triangle part = w->once ? GTU_UPPER : GTU_ALL_ENTRIES;
	const uint64_t lines = gtu_writing_count(w, part), first = first_entry(w, part, lines);
	struct gtu_output *o = &w->file[0];
	uint64_t v;
	int rc;

	if (first == GTU_NO_VERTEX)
		return gtu_fail(w->err, GTU_ERR_UNSUPPORTED,
				"%s: not written: all %llu edges have the target %llu, so that the "
				"first line of an edge list would be read as a header",
				w->path, (unsigned long long)lines, (unsigned long long)lines - 1);
	rc = gtu_writing_open(w, 0, "");
	if (rc)
		return rc;
	gtu_output_text(o, w->once ? "# Undirected graph: each edge once\n" : "# Directed graph: each edge as it goes\n");
	gtu_output_text(o, "# Nodes: ");
	gtu_output_u64(o, w->g->n, ' ');
	gtu_output_text(o, "Edges: ");
	gtu_output_u64(o, lines, '\n');
	gtu_output_text(o, w->weighted ? "# FromNodeId\tToNodeId\tWeight\n" : "# FromNodeId\tToNodeId\n");
	for (v = 0; w->g->row[v + 1] <= first; v++)
		;
	w->first = GTU_NO_VERTEX;
	put_other(w, v, first);
	w->first = first;
	return gtu_writing_each(w, part, put_other);
}

/* ---- DIMACS ---------------------------------------------------------------------------------------------- */

static int put_arc(struct gtu_writing *w, uint64_t v, uint64_t e)
{
	gtu_output_bytes(&w->file[0], "a ", 2);
	return put_entry(w, v, e);
}

int gtu_write_dimacs(struct gtu_writing *w)
{
	struct gtu_output *o = &w->file[0];
	int rc = gtu_writing_open(w, 0, "");

	if (rc)
		return rc;
	gtu_output_text(o, "p sp ");
	gtu_output_u64(o, w->g->n, ' ');
	gtu_output_u64(o, w->g->m, '\n');
	return gtu_writing_each(w, GTU_ALL_ENTRIES, put_arc);
}

/* ---- METIS ----------------------------------------------------------------------------------------------- */

int gtu_write_metis(struct gtu_writing *w)
{
	const struct gtu_graph *g = w->g;
	struct gtu_output *o = &w->file[0];
	uint64_t v, e;
	int rc = gtu_writing_open(w, 0, "");

	if (rc)
		return rc;
	gtu_output_u64(o, g->n, ' ');
	gtu_output_u64(o, g->m / 2, w->weighted ? ' ' : '\n');
	if (w->weighted)
		gtu_output_text(o, "1\n");
	for (v = 0; v < g->n && !rc; v++) {
		for (e = g->row[v]; e < g->row[v + 1]; e++) {
			const char end = e + 1 < g->row[v + 1] ? ' ' : '\n';

			gtu_output_u64(o, gtu_writing_id(w, gtu_graph_target(g, e)), w->weighted ? ' ' : end);
			if (w->weighted)
				gtu_writing_weight(w, o, e, end);
		}
		if (g->row[v] == g->row[v + 1])
			gtu_output_bytes(o, "\n", 1);
		if (!(v & 0xffff))
			rc = gtu_writing_tick(w, e, g->m);
	}
	return rc;
}

/* ---- LDBC ------------------------------------------------------------------------------------------------ */

/*
 * The graph's name as a property key: the file name before ".e", without blanks and special
 * characters.
 */
static void name_of(const struct gtu_writing *w, char name[128])
{
	const char *slash = strrchr(w->path, '/');
	size_t i;

	snprintf(name, 128, "%.*s", (int)(strlen(slash ? slash + 1 : w->path) - 2), slash ? slash + 1 : w->path);
	for (i = 0; name[i]; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-_", name[i]))
			name[i] = '_';
}

int gtu_write_ldbc(struct gtu_writing *w)
{
	const enum gtu_triangle part = w->once ? GTU_UPPER : GTU_ALL_ENTRIES;
	char name[128], text[1024];
	uint64_t v;
	int rc = gtu_writing_open(w, 0, "");

	if (!rc)
		rc = gtu_writing_open(w, 2, ".v");
	if (!rc)
		rc = gtu_writing_open(w, 2, ".properties");
	if (rc)
		return rc;
	for (v = 0; v < w->g->n; v++)
		gtu_output_u64(&w->file[1], gtu_writing_id(w, v), '\n');
	name_of(w, name);
	snprintf(text, sizeof(text),
		 "graph.%s.vertex-file = %s.v\ngraph.%s.edge-file = %s.e\ngraph.%s.meta.vertices = %llu\n"
		 "graph.%s.meta.edges = %llu\ngraph.%s.directed = %s\n", name, name, name, name, name,
		 (unsigned long long)w->g->n, name, (unsigned long long)gtu_writing_count(w, part), name,
		 w->g->flags & GTU_GRAPH_DIRECTED ? "true" : "false");
	gtu_output_text(&w->file[2], text);
	if (w->weighted) {
		snprintf(text, sizeof(text), "graph.%s.edge-properties.names = weight\ngraph.%s.edge-properties.types = %s\n",
			 name, name, w->g->weight_type == GTU_WEIGHT_U32 ? "int" : "real");
		gtu_output_text(&w->file[2], text);
	}
	return gtu_writing_each(w, part, put_entry);
}
