/* SPDX-License-Identifier: MIT */
/* Interface of the writers: one format per row of the table in write.c, which states its limits. */
#ifndef GTU_WRITE_WRITER_H
#define GTU_WRITE_WRITER_H

#include <stdbool.h>

#include "libruntime/graph/graph_internal.h"
#include "libruntime/support/graph_access.h"
#include "output.h"

#define GTU_WRITE_FILES 3

struct gtu_writing {
	const struct gtu_graph *g;	/* lists are sorted if the format writes an undirected edge once */
	const char *path;
	const struct gtu_progress *progress;
	struct gtu_error *err;
	bool adapt;
	char *changed;			/* text that lists the adaptations; or NULL */
	uint64_t first_id;
	bool renumber;			/* vertex v has the id v + first_id */
	bool weighted, unit_weights, integers;	/* write weights; all are 1; as integers */
	bool once;			/* write an undirected edge once */
	uint64_t first;			/* SNAP: the entry to write first */
	struct gtu_output file[GTU_WRITE_FILES];
	unsigned files;
};

enum gtu_hold { GTU_MAY, GTU_NEVER, GTU_ALWAYS };

struct gtu_write_format {
	const char *suffix, *name;
	int64_t first_id;		/* lowest vertex id; -1: any ids */
	enum gtu_hold weights, directed;
	double least, most;		/* range of integer weights; both 0: any real number */
	bool isolated;			/* supports vertices without edges */
	bool simple;			/* no self-loops, no duplicates */
	bool once;			/* an undirected edge is written once */
	bool mentions;			/* the number of vertices is only declared (gtu_input_check_declared()) */
	int (*write)(struct gtu_writing *w);
};

static inline uint64_t gtu_writing_id(const struct gtu_writing *w, uint64_t v)
{
	return w->renumber ? v + w->first_id : gtu_graph_id(w->g, v);
}

/*
 * Entries to write: all, or for an undirected graph those with target >= source (UPPER) or target
 * <= source (LOWER).
 */
enum gtu_triangle { GTU_ALL_ENTRIES, GTU_UPPER, GTU_LOWER };
uint64_t gtu_writing_count(const struct gtu_writing *w, enum gtu_triangle part);
/* Call fn() for each entry, vertex by vertex; a non-zero return stops. */
int gtu_writing_each(struct gtu_writing *w, enum gtu_triangle part,
		     int (*fn)(struct gtu_writing *w, uint64_t v, uint64_t e));
int gtu_writing_tick(struct gtu_writing *w, uint64_t done, uint64_t total);
/* Open one more file: the path without its last @cut characters, plus @suffix. */
int gtu_writing_open(struct gtu_writing *w, size_t cut, const char *suffix);
/* Write the weight of entry @e as text, then @end. */
void gtu_writing_weight(const struct gtu_writing *w, struct gtu_output *o, uint64_t e, char end);

int gtu_write_matrix(struct gtu_writing *w);
int gtu_write_snap(struct gtu_writing *w);
int gtu_write_dimacs(struct gtu_writing *w);
int gtu_write_metis(struct gtu_writing *w);
int gtu_write_ldbc(struct gtu_writing *w);
int gtu_write_emogi(struct gtu_writing *w);
int gtu_write_gap(struct gtu_writing *w);

#endif
