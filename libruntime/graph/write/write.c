// SPDX-License-Identifier: MIT
/*
 * Writes graphs in the formats of other programs. A graph that a format cannot represent is
 * refused, or adapted with a report. Written graphs read back as the same graph
 * (tests/unit/graph/test_write.c).
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "libruntime/support/advice.h"
#include "writer.h"

#define DECLARED_ALWAYS (1ull << 24)	/* as in gtu_input_check_declared() */

static const struct gtu_write_format formats[] = {
	{ ".mtx", "Matrix Market", 1, GTU_MAY, GTU_MAY, 0, 0, true, false, true, true, gtu_write_matrix },
	{ ".txt", "a SNAP edge list", -1, GTU_MAY, GTU_MAY, 0, 0, false, false, true, false, gtu_write_snap },
	{ ".gr", "DIMACS .gr", 1, GTU_ALWAYS, GTU_ALWAYS, -9007199254740992., 9007199254740992., true, false, false, true,
	  gtu_write_dimacs },
	{ ".graph", "METIS", 1, GTU_MAY, GTU_NEVER, 1, 9007199254740992., true, true, false, false, gtu_write_metis },
	{ ".e", "LDBC Graphalytics", -1, GTU_MAY, GTU_MAY, 0, 0, true, false, true, false, gtu_write_ldbc },
	{ ".bel", "EMOGI .bel", 0, GTU_MAY, GTU_ALWAYS, 0, 4294967295., true, false, false, false, gtu_write_emogi },
	{ ".sg", "GAP .sg", 0, GTU_NEVER, GTU_MAY, 0, 0, true, false, false, false, gtu_write_gap },
	{ ".wsg", "GAP .wsg", 0, GTU_ALWAYS, GTU_MAY, -2147483648., 2147483647., true, false, false, false, gtu_write_gap },
};

static const struct gtu_write_format *format_of(const char *path)
{
	size_t i, n = strlen(path), k;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		k = strlen(formats[i].suffix);
		if (n > k && !strcmp(path + n - k, formats[i].suffix))
			return &formats[i];
	}
	return NULL;
}

bool gtu_graph_can_write(const char *path)
{
	const size_t n = strlen(path);

	return format_of(path) || (n > 4 && !strcmp(path + n - 4, ".gtu"));
}

/* ---- Common to all formats --------------------------------------------------------------------------- */

void gtu_writing_weight(const struct gtu_writing *w, struct gtu_output *o, uint64_t e, char end)
{
	double x = gtu_graph_weight(w->g, e);

	if (w->unit_weights || w->g->weight_type == GTU_WEIGHT_U32) {
		gtu_output_u64(o, (uint64_t)x, end);
	} else if (w->integers) {
		if (x < 0)
			gtu_output_bytes(o, "-", 1);
		gtu_output_u64(o, (uint64_t)fabs(x), end);
	} else {
		gtu_output_real(o, x, end);
	}
}

int gtu_writing_tick(struct gtu_writing *w, uint64_t done, uint64_t total)
{
	unsigned i;

	for (i = 0; i < w->files; i++)
		if (w->file[i].reason)	/* gtu_output_close() reports the reason */
			return GTU_ERR_FAIL;
	return gtu_tick(w->progress, "writing", done, total) ?
		       gtu_fail(w->err, GTU_ERR_INTERRUPTED, "writing %s was stopped", w->path) : 0;
}

static inline bool is_of(enum gtu_triangle part, uint64_t v, uint64_t target)
{
	return part == GTU_ALL_ENTRIES || (part == GTU_UPPER ? target >= v : target <= v);
}

uint64_t gtu_writing_count(const struct gtu_writing *w, enum gtu_triangle part)
{
	uint64_t v, e, count = 0;

	if (part == GTU_ALL_ENTRIES)
		return w->g->m;
	for (v = 0; v < w->g->n; v++)
		for (e = w->g->row[v]; e < w->g->row[v + 1]; e++)
			count += is_of(part, v, gtu_graph_target(w->g, e));
	return count;
}

int gtu_writing_each(struct gtu_writing *w, enum gtu_triangle part,
		     int (*fn)(struct gtu_writing *w, uint64_t v, uint64_t e))
{
	uint64_t v, e, ticked = 0;
	int rc = 0;

	for (v = 0; v < w->g->n && !rc; v++) {
		for (e = w->g->row[v]; e < w->g->row[v + 1] && !rc; e++)
			if (is_of(part, v, gtu_graph_target(w->g, e)))
				rc = fn(w, v, e);
		if (!rc && e - ticked > 65536) {
			ticked = e;
			rc = gtu_writing_tick(w, e, w->g->m);
		}
	}
	return rc;
}

int gtu_writing_open(struct gtu_writing *w, size_t cut, const char *suffix)
{
	int rc = gtu_output_open(&w->file[w->files], w->path, strlen(w->path) - cut, suffix, w->err);

	w->files += !rc;
	return rc;
}

/* ---- Limits of the formats ---------------------------------------------------------------------------- */

/*
 * Refuse to write, or, with GTU_WRITE_ADAPT and if @instead describes an adaptation, report it and
 * continue.
 */
static int cannot_represent(struct gtu_writing *w, const char *instead, const char *reason, ...)
	__attribute__((format(printf, 3, 4)));

static int cannot_represent(struct gtu_writing *w, const char *instead, const char *reason, ...)
{
	struct gtu_error why;
	va_list ap;
	size_t at;

	va_start(ap, reason);
	gtu_vfail(&why, GTU_ERR_UNSUPPORTED, reason, ap);
	va_end(ap);
	if (!w->adapt || !instead)
		return gtu_fail(w->err, GTU_ERR_UNSUPPORTED, "%s: not written: %s%s%s", w->path, why.text,
				instead ? "; --adapt (GTU_WRITE_ADAPT) " : "", instead ? instead : "");
	if (w->changed) {
		at = strlen(w->changed);
		snprintf(w->changed + at, GTU_ERROR_TEXT - at, "%s%s", at ? "; " : "", why.text);
	}
	return 0;
}

static int settle_ids(struct gtu_writing *w, const struct gtu_write_format *f)
{
	const struct gtu_graph *g = w->g;
	size_t name_bytes;
	int rc;

	if (gtu_graph_vertex_name(g, 0, &name_bytes)) {
		rc = cannot_represent(w, "writes numbers", "%s has no names of vertices", f->name);
		if (rc)
			return rc;
	}
	if (f->first_id < 0 || !g->n || (!g->ids && g->id_base == (uint64_t)f->first_id))
		return 0;
	w->renumber = true;
	w->first_id = (uint64_t)f->first_id;
	return cannot_represent(w, "renumbers them", "%s numbers vertices from %d on, without "
				"gaps, but the graph's ids are %llu to %llu",
		       f->name, (int)f->first_id, (unsigned long long)gtu_graph_id(g, 0),
		       (unsigned long long)gtu_graph_id(g, g->n - 1));
}

static int settle_direction(struct gtu_writing *w, const struct gtu_write_format *f)
{
	const bool directed = w->g->flags & GTU_GRAPH_DIRECTED;

	if (f->directed == GTU_ALWAYS && !directed)
		return cannot_represent(w, "writes each edge as two",
			       "%s supports directed edges only, but the graph is undirected",
			       f->name);
	if (f->directed == GTU_NEVER && directed)
		return cannot_represent(w, NULL, "%s supports undirected edges only, but the graph "
					"is directed; read it with --undirected",
			       f->name);
	w->once = f->once && !directed;
	return 0;
}

static int check_weights(struct gtu_writing *w, const struct gtu_write_format *f)
{
	uint64_t e;
	double x;

	for (e = 0; e < w->g->m; e++) {
		x = gtu_graph_weight(w->g, e);
		if (!isfinite(x))
			return cannot_represent(w, NULL, "entry %llu of the edge list has the "
						"weight %g; --weights none leaves weights out",
				       (unsigned long long)e, x);
		if (w->integers && (x != floor(x) || x < f->least || x > f->most))
			return cannot_represent(w, NULL, "%s supports whole weights from %.0f to "
						"%.0f, but entry %llu of the edge list has %.17g; "
						"--weights none leaves weights out",
				       f->name, f->least, f->most, (unsigned long long)e, x);
	}
	return 0;
}

static int settle_weights(struct gtu_writing *w, const struct gtu_write_format *f)
{
	w->weighted = w->g->weight_type != GTU_WEIGHT_NONE;
	w->integers = f->least < f->most;
	if (f->weights == GTU_NEVER && w->weighted) {
		w->weighted = false;
		return cannot_represent(w, "leaves them out", "%s has no weights, but the graph "
					"has", f->name);
	}
	if (f->weights == GTU_ALWAYS && !w->weighted) {
		w->weighted = w->unit_weights = true;
		return cannot_represent(w, "gives every edge the weight 1", "%s has a weight for "
					"each edge, but the graph has none", f->name);
	}
	return w->weighted ? check_weights(w, f) : 0;
}

static int check_isolated(struct gtu_writing *w, const struct gtu_write_format *f)
{
	const struct gtu_graph *g = w->g;
	uint8_t *met = calloc(g->n + 1, 1);
	uint64_t v, e, first = 0, count = 0;

	if (!met)
		return gtu_fail(w->err, GTU_ERR_NOMEM, "out of memory for finding vertices without "
				"edges");
	for (v = 0; v < g->n; v++)
		for (e = g->row[v]; e < g->row[v + 1] && e < g->m; e++) {
			/* a mapped file may have changed since it was checked */
			uint64_t target = gtu_graph_target(g, e);

			met[v] = met[target < g->n ? target : g->n] = 1;
		}
	for (v = 0; v < g->n; v++)
		if (!met[v] && !count++)
			first = v;
	free(met);
	if (!g->m)
		return cannot_represent(w, NULL, "%s has only vertices with edges, but the graph "
					"has no edges", f->name);
	return count ? cannot_represent(w, "leaves them out", "%s has only vertices with edges, "
					"but %llu of the graph's %llu have none, the first is %llu",
			       f->name, (unsigned long long)count, (unsigned long long)g->n,
			       (unsigned long long)gtu_graph_id(g, first)) : 0;
}

/* Sort the lists, as every reader does: transposing twice restores the graph with sorted lists. */
static int sort_lists(struct gtu_writing *w, struct gtu_graph **sorted)
{
	const struct gtu_graph *g = w->g;
	struct gtu_graph *transposed;
	uint64_t v, e;
	bool ascend = true;
	int rc;

	for (v = 0; v < g->n && ascend; v++)
		for (e = g->row[v]; e + 1 < g->row[v + 1] && ascend; e++)
			ascend = gtu_graph_target(g, e) <= gtu_graph_target(g, e + 1);
	if (ascend)
		return 0;
	rc = gtu_graph_transpose(g, w->progress, &transposed, w->err);
	if (rc)
		return rc;
	rc = gtu_graph_transpose(transposed, w->progress, sorted, w->err);
	gtu_graph_close(transposed);
	if (!rc)
		w->g = *sorted;
	return rc;
}

/*
 * An undirected edge written once must be equal at both ends. While the rows above v are scanned,
 * the entries of v to higher vertices are met in order, so one cursor per vertex suffices.
 */
static int check_both_ends(struct gtu_writing *w)
{
	const struct gtu_graph *g = w->g;
	uint64_t *next = malloc((g->n + 1) * sizeof(*next)), v, u, e;
	int rc = 0;

	if (!next)
		return gtu_fail(w->err, GTU_ERR_NOMEM, "out of memory comparing both directions of "
				"%llu edges",
				(unsigned long long)g->m);
	for (v = 0; v < g->n; v++)
		for (next[v] = g->row[v]; next[v] < g->row[v + 1] && gtu_graph_target(g, next[v]) <= v; next[v]++)
			;
	for (u = 0; u < g->n && !rc; u++)
		for (e = g->row[u]; e < g->row[u + 1] && !rc && (v = gtu_graph_target(g, e)) < u; e++) {
			if (next[v] == g->row[v + 1] || gtu_graph_target(g, next[v]) != u)
				rc = cannot_represent(w, NULL, "vertices %llu and %llu do not list "
						      "the same edges to each other, as an "
						      "undirected graph must",
					     (unsigned long long)gtu_graph_id(g, v), (unsigned long long)gtu_graph_id(g, u));
			else if (w->once && w->weighted && gtu_graph_weight(g, e) != gtu_graph_weight(g, next[v]))
				rc = cannot_represent(w, NULL, "the edge between %llu and %llu has "
						      "weight %.17g in one direction and %.17g in "
						      "the other; --directed keeps both",
					     (unsigned long long)gtu_graph_id(g, v), (unsigned long long)gtu_graph_id(g, u),
					     gtu_graph_weight(g, next[v]), gtu_graph_weight(g, e));
			next[v]++;
		}
	for (v = 0; v < g->n && !rc; v++)
		if (next[v] < g->row[v + 1])
			rc = cannot_represent(w, NULL, "vertex %llu has an edge to %llu, which has "
					      "none back",
				     (unsigned long long)gtu_graph_id(g, v),
				     (unsigned long long)gtu_graph_id(g, gtu_graph_target(g, next[v])));
	free(next);
	return rc;
}

static int check_simple(struct gtu_writing *w, const struct gtu_write_format *f)
{
	const struct gtu_graph *g = w->g;
	uint64_t v, e;

	for (v = 0; v < g->n; v++)
		for (e = g->row[v]; e < g->row[v + 1]; e++) {
			if (gtu_graph_target(g, e) == v)
				return cannot_represent(w, NULL, "%s has no self-loops, but vertex "
							"%llu has one; --simplify drops them",
							f->name,
					       (unsigned long long)gtu_graph_id(g, v));
			if (e > g->row[v] && gtu_graph_target(g, e) == gtu_graph_target(g, e - 1))
				return cannot_represent(w, NULL, "%s has no duplicate edges, but "
							"%llu %llu is one; --simplify drops them",
							f->name,
					       (unsigned long long)gtu_graph_id(g, v),
					       (unsigned long long)gtu_graph_id(g, gtu_graph_target(g, e)));
		}
	return 0;
}

/* ---- Writing ------------------------------------------------------------------------------------------ */

static int prepare(struct gtu_writing *w, const struct gtu_write_format *f, struct gtu_graph **sorted)
{
	struct gtu_graph view = *w->g;
	int rc = gtu_graph_check(&view, w->progress, w->err);

	if (!rc)
		rc = settle_direction(w, f);
	if (!rc)
		rc = settle_ids(w, f);
	if (!rc)
		rc = settle_weights(w, f);
	if (!rc && !f->isolated)
		rc = check_isolated(w, f);
	if (!rc && (w->once || f->directed == GTU_NEVER)) {
		rc = sort_lists(w, sorted);
		if (!rc)
			rc = check_both_ends(w);
	}
	return !rc && f->simple ? check_simple(w, f) : rc;
}

static int check_declared(struct gtu_writing *w, const struct gtu_write_format *f)
{
	const uint64_t bytes = w->file[0].written + w->file[0].used;

	if (!f->mentions || w->g->n <= DECLARED_ALWAYS || w->g->n / 64 <= bytes)
		return 0;
	return cannot_represent(w, NULL, "%llu vertices in a file of %llu bytes exceed "
				"the limit of the reader: the format only declares most vertices",
		       (unsigned long long)w->g->n, (unsigned long long)bytes);
}

int gtu_graph_write(const struct gtu_graph *g, const char *path, uint32_t flags, char changed[GTU_ERROR_TEXT],
		    const struct gtu_progress *progress, struct gtu_error *err)
{
	const struct gtu_write_format *f = format_of(path);
	struct gtu_writing w = { .g = g, .path = path, .progress = progress, .err = err, .changed = changed,
				 .adapt = flags & GTU_WRITE_ADAPT };
	struct gtu_graph *sorted = NULL;
	int rc;

	if (changed)
		*changed = 0;
	if (!f && gtu_graph_can_write(path))
		return gtu_graph_save(g, path, progress, err);
	if (!f)
		return gtu_fail(err, GTU_ERR_USAGE,
				"%s: the suffix is not a format that can be written: use .gtu, "
				".mtx, .txt (SNAP), .gr, .graph (METIS), .e (LDBC), .bel, .sg or "
				".wsg",
				path);
	if (flags & ~GTU_WRITE_ADAPT)
		return gtu_fail(err, GTU_ERR_USAGE, "flags %#x for writing a graph are unknown",
				flags);
	rc = prepare(&w, f, &sorted);
	if (!rc)
		rc = f->write(&w);
	if (!rc)
		rc = check_declared(&w, f);
	/* a failed write has not set an error text yet */
	if (rc == GTU_ERR_FAIL && w.files) {
		unsigned i;

		for (i = 0; i < w.files; i++)
			if (w.file[i].reason)
				gtu_advise_write(w.file[i].path, w.file[i].reason, err);
	}
	rc = gtu_output_close(w.file, w.files, rc, err);
	gtu_graph_close(sorted);
	return rc;
}
