/* SPDX-License-Identifier: MIT */
/* One format, one row of write.c; what a format holds is said there, so that nothing is left out in silence. */
#ifndef GTU_WRITE_WRITER_H
#define GTU_WRITE_WRITER_H

#include <stdbool.h>

#include "libruntime/graph/graph_internal.h"
#include "output.h"

#define GTU_WRITE_FILES 3

struct gtu_writing {
	const struct gtu_graph *g;	/* lists ascend where a format writes an undirected edge once */
	const char *path;
	const struct gtu_progress *progress;
	struct gtu_error *err;
	bool adapt;
	char *changed;			/* what was adapted, in words; or NULL */
	uint64_t first_id;
	bool renumber;			/* vertex v is called v + first_id */
	bool weighted, unit_weights, integers;	/* weights are written; all are 1; without a point */
	bool once;			/* an undirected edge is written once */
	uint64_t first;			/* SNAP: the entry that stands first */
	struct gtu_output file[GTU_WRITE_FILES];
	unsigned files;
};

enum gtu_hold { GTU_MAY, GTU_NEVER, GTU_ALWAYS };

struct gtu_write_format {
	const char *suffix, *name;
	int64_t first_id;		/* -1: a vertex may be called anything */
	enum gtu_hold weights, directed;
	double least, most;		/* integer weights within these; both 0: any real number */
	bool isolated;			/* vertices without edges can be held */
	bool simple;			/* no loops, no duplicates */
	bool once;			/* an undirected edge stands once */
	bool mentions;			/* the number of vertices is only declared (gtu_input_check_declared()) */
	int (*write)(struct gtu_writing *w);
};

static inline uint64_t gtu_writing_id(const struct gtu_writing *w, uint64_t v)
{
	return w->renumber ? v + w->first_id : gtu_graph_id(w->g, v);
}

double gtu_graph_weight(const struct gtu_graph *g, uint64_t e);

/* Entries that are written: all, or of an undirected graph those that lead to vertices not lower (UPPER), not higher. */
enum gtu_triangle { GTU_ALL_ENTRIES, GTU_UPPER, GTU_LOWER };
uint64_t gtu_writing_count(const struct gtu_writing *w, enum gtu_triangle part);
/* fn() for each, vertex by vertex; other than 0 ends it. */
int gtu_writing_each(struct gtu_writing *w, enum gtu_triangle part,
		     int (*fn)(struct gtu_writing *w, uint64_t v, uint64_t e));
int gtu_writing_tick(struct gtu_writing *w, uint64_t done, uint64_t total);
/* One more file: the path without its last @cut characters, and @suffix. */
int gtu_writing_open(struct gtu_writing *w, size_t cut, const char *suffix);
/* The weight of entry @e as text, and @end. */
void gtu_writing_weight(const struct gtu_writing *w, struct gtu_output *o, uint64_t e, char end);

int gtu_write_matrix(struct gtu_writing *w);
int gtu_write_snap(struct gtu_writing *w);
int gtu_write_dimacs(struct gtu_writing *w);
int gtu_write_metis(struct gtu_writing *w);
int gtu_write_ldbc(struct gtu_writing *w);
int gtu_write_emogi(struct gtu_writing *w);
int gtu_write_gap(struct gtu_writing *w);

#endif
