// SPDX-License-Identifier: MIT
/*
 * Label propagation over ranks, always 1-D, as in libruntime/algorithm/labels.c: all vertices take the most
 * frequent label of their neighbours at once, the lowest of several. A rank knows the labels of all vertices;
 * after each iteration owners send the others those that changed, or all of theirs if that is smaller.
 */
#include <stdlib.h>
#include <string.h>

#include "libruntime/support/array.h"
#include "run.h"

#define ITERATIONS 10
#define WINDOW_EDGES (1u << 20)		/* whose labels are in memory at once, and those of one vertex */

struct labels {
	struct gtu_ranked *k;
	uint64_t *label;		/* of all vertices */
	uint64_t *next;			/* of this rank's */
	struct gtu_part_edges reversed;	/* directed: the edges that lead to this rank's vertices */
	uint64_t first, end;		/* rows of the window */
	uint64_t *start, *filled;	/* of the rows: where their labels are in gathered[]; how many */
	uint64_t *gathered, capacity;
	struct gtu_list changed;
};

static int gather(void *context, const struct gtu_alg_batch *batch)
{
	struct labels *s = context;
	uint64_t row;
	unsigned i;

	for (i = 0; i < batch->n; i++) {
		row = batch->source[i];
		s->gathered[s->start[row] + s->filled[row]++] = s->label[batch->target[i]];
	}
	return 0;
}

static uint64_t edges_of(const struct labels *s, uint64_t row)
{
	const uint64_t *stored = s->k->local.graph.row, *reversed = s->reversed.row;

	return stored[row + 1] - stored[row] + (reversed ? reversed[row + 1] - reversed[row] : 0);
}

static int choose_window(struct labels *s)
{
	const uint64_t rows = gtu_ranked_rows(s->k);
	uint64_t edges = 0, *memory;

	s->k->rows.all = false;
	s->k->rows.count = 0;
	for (s->end = s->first; s->end < rows; s->end++) {
		if (s->end > s->first && edges + edges_of(s, s->end) > WINDOW_EDGES)
			break;
		s->start[s->end] = edges;
		s->filled[s->end] = 0;
		edges += edges_of(s, s->end);
		gtu_alg_push(&s->k->a, &s->k->rows, s->end);
	}
	if (edges <= s->capacity)
		return 0;
	memory = realloc(s->gathered, edges * sizeof(*memory));
	if (!memory)
		return gtu_fail(s->k->a.err, GTU_ERR_NOMEM, "out of memory for the labels of %llu edges",
				(unsigned long long)edges);
	s->gathered = memory;
	s->capacity = edges;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t most_frequent(uint64_t *label, uint64_t count)
{
	qsort(label, count, sizeof(*label), compare);
	return gtu_longest_run(label, count);
}

/* The next labels of this rank's vertices. */
static int propagate(struct labels *s)
{
	struct gtu_ranked *k = s->k;
	const uint64_t rows = gtu_ranked_rows(k);
	uint64_t row, v, label;
	int rc = 0;

	s->changed.count = 0;
	for (s->first = 0; s->first < rows && !rc; s->first = s->end) {
		rc = choose_window(s);
		if (!rc)
			rc = gtu_ranked_traverse(k, &k->edges, gather, s);
		if (!rc && s->reversed.row)
			rc = gtu_ranked_traverse(k, &k->back, gather, s);
		for (row = s->first; row < s->end && !rc; row++) {
			v = k->part.first + row;
			gtu_beat_at(k->x, row);
			label = s->filled[row] ? most_frequent(s->gathered + s->start[row], s->filled[row]) : s->label[v];
			s->next[row] = label;
			if (label != s->label[v])
				rc = gtu_list_push(&s->changed, v, k->x);
		}
	}
	return rc;
}

static int take_label(void *context, uint64_t v, uint64_t label)
{
	struct labels *s = context;

	if (label >= s->k->part.n)
		return gtu_part_bad_message(&s->k->part, gtu_part_owner(&s->k->part, v));
	s->label[v] = label;
	return 0;
}

static int take_array(struct labels *s, uint32_t from)
{
	const struct gtu_part *p = &s->k->part;
	const uint64_t *label = (const uint64_t *)(const void *)s->k->box.from[from].data;
	uint64_t i;
	int rc = 0;

	for (i = 0; i < gtu_part_range(p, from) && !rc; i++)
		rc = take_label(s, p->cut[from] + i, label[i]);
	/* not a message of pairs */
	s->k->box.from[from].bytes = 0;
	return rc;
}

/* Send the labels that changed: pairs, which have fewer bytes than the array, or the array. */
static int exchange(struct labels *s, int rc)
{
	struct gtu_ranked *k = s->k;
	struct gtu_part *p = &k->part;
	const uint64_t own = gtu_ranked_own(k);
	const bool array = s->changed.count * (p->id_bytes + 8ull) >= own * 8;
	uint64_t i;
	uint32_t r;

	for (i = 0; i < s->changed.count && !rc; i++)
		s->label[s->changed.at[i]] = s->next[s->changed.at[i] - p->first];
	for (r = 0; r < p->ranks && !rc; r++) {
		if (r == k->x->ranks.rank)
			continue;
		if (array)
			rc = gtu_part_send_array(p, &k->box, r, s->next, own);
		for (i = 0; !array && i < s->changed.count && !rc; i++)
			rc = gtu_part_send_pair(p, &k->box, r, k->x->ranks.rank, s->changed.at[i],
						s->label[s->changed.at[i]]);
	}
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
	for (r = 0; r < p->ranks && !rc; r++)
		if (k->box.from[r].bytes && k->box.from[r].bytes == gtu_part_range(p, r) * 8)
			rc = take_array(s, r);
	return rc ? rc : gtu_part_receive_pairs(p, &k->box, GTU_SENDERS, take_label, s);
}

static int reverse(struct labels *s)
{
	struct gtu_ranked *k = s->k;
	int rc = gtu_part_edges_begin(&k->part, &s->reversed, k->whole, GTU_PART_REVERSED, false);

	return rc ? rc : gtu_ranked_edges_begin(k, &k->back, &s->reversed.graph, 8);
}

int gtu_ranked_labels(struct gtu_ranked *k)
{
	const uint32_t iterations = k->a.opt->iterations ? k->a.opt->iterations : ITERATIONS;
	struct labels s = { .k = k, .next = k->result };
	uint64_t v, changed = 1, none = 0;
	int rc;

	rc = gtu_ranked_alloc(k, &s.label, k->part.n, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.start, gtu_ranked_rows(k), 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.filled, gtu_ranked_rows(k), 8);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc && k->head.flags & GTU_GRAPH_DIRECTED)
		rc = gtu_agree(k->x, reverse(&s), &none, 1);
	for (v = 0; v < k->part.n && !rc; v++)
		s.label[v] = v;
	while (!rc && changed && k->a.stats->iterations < iterations) {
		gtu_phase(&k->a.phases, "propagate");
		rc = propagate(&s);
		gtu_phase(&k->a.phases, "exchange");
		rc = exchange(&s, rc);
		changed = s.changed.count;
		rc = gtu_agree(k->x, rc, &changed, 1);
		if (!rc)
			gtu_phases_iteration(&k->a.phases, k->a.opt, k->part.n);
	}
	k->a.stats->vertices = gtu_ranked_own(k);
	rc = gtu_alg_edges_end(&k->a, &k->back, rc);
	gtu_part_edges_end(&s.reversed);
	free(s.label);
	free(s.start);
	free(s.filled);
	free(s.gathered);
	free(s.changed.at);
	return rc;
}
