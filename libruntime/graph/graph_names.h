/* SPDX-License-Identifier: MIT */
/* Names of vertices (graph_names.c). */
#ifndef GTU_GRAPH_NAMES_H
#define GTU_GRAPH_NAMES_H

#include "graph_internal.h"

#define GTU_NAME_MAX	255u		/* bytes of a name, which has no blanks and no control characters */

/* Names in the order of their first occurrence; starts as zeros. */
struct gtu_name_table {
	uint64_t n, capacity;
	uint64_t *at;			/* n + 1 offsets into text */
	char *text;
	uint64_t room;			/* of text */
	uint64_t *slot, mask, seed;	/* hash table of id + 1; 0 is empty */
};

bool gtu_name_valid(const char *name, uint64_t bytes);
/* The id of @name, a new one if it is new. */
int gtu_names_id(struct gtu_name_table *t, const uint8_t *name, size_t bytes, uint64_t *id, struct gtu_error *err);
/* The names as a graph has them, from malloc(). NULL with a message. */
void *gtu_names_block(const struct gtu_name_table *t, uint64_t *bytes, struct gtu_error *err);
void gtu_names_free(struct gtu_name_table *t);

/* Check the names of a graph from a container; @label is for messages. */
int gtu_graph_check_names(const struct gtu_graph *g, const char *label, struct gtu_error *err);

#endif
