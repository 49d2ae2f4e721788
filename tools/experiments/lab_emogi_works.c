// SPDX-License-Identifier: MIT
/*
 * EMOGI's tables 3 and 4: HALO, from EMOGI's description of it (section 5.5; its program is not
 * public), and Subway, as its authors' program works, of our own writing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gtu/splitmix64.h"
#include "lab_emogi_runs.h"
#include "lab_expect.h"

#define SAMPLES		8u		/* sources of the centrality: our choice */

struct ranked {
	double centrality;
	uint32_t vertex;
};

static int by_centrality(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	if (a->centrality < b->centrality || a->centrality > b->centrality)
		return a->centrality < b->centrality ? 1 : -1;
	return a->vertex < b->vertex ? -1 : a->vertex > b->vertex;
}

uint32_t *emogi_halo_order(const struct gtu_graph *g)
{
	struct ranked *ranked = calloc(g->n + 1, sizeof(*ranked));
	uint32_t *id = malloc(4 * g->n + 4);
	struct gtu_error err;
	uint64_t *levels, v;
	unsigned i;
	bool whole = ranked && id;

	for (v = 0; v < g->n && whole; v++)
		ranked[v].vertex = (uint32_t)v;
	for (i = 0; i < SAMPLES && whole; i++) {
		/* not the sources of the runs, which are the first ones */
		levels = lab_expect(g, LAB_LEVELS, lab_source(g, EMOGI_SOURCES_MAX + i), 0, &err);
		whole = levels;
		for (v = 0; v < g->n && whole; v++)
			ranked[v].centrality += levels[v] && levels[v] != UINT64_MAX ? 1 / (double)levels[v] : 0;
		free(levels);
	}
	if (whole) {
		qsort(ranked, g->n, sizeof(*ranked), by_centrality);
		for (v = 0; v < g->n; v++)
			id[ranked[v].vertex] = (uint32_t)v;
	}
	free(ranked);
	if (whole)
		return id;
	free(id);
	return NULL;
}

/* @g with the vertices @id, 8-byte entries. *row and *col must be freed. */
static int reordered(const struct gtu_graph *g, const uint32_t *id, struct gtu_graph *to, uint64_t **row, uint64_t **col)
{
	uint64_t v, k, at;

	*row = calloc(g->n + 2, 8);
	*col = malloc(8 * g->m + 8);
	if (!*row || !*col)
		return -1;
	for (v = 0; v < g->n; v++)
		(*row)[id[v] + 1] = g->row[v + 1] - g->row[v];
	for (v = 0; v < g->n; v++)
		(*row)[v + 1] += (*row)[v];
	for (v = 0; v < g->n; v++)
		for (k = g->row[v], at = (*row)[id[v]]; k < g->row[v + 1]; k++)
			(*col)[at++] = id[gtu_graph_target(g, k)];
	*to = *g;
	to->row = *row;
	to->col = *col;
	to->edge_bytes = 8;
	to->weight = NULL;
	to->weight_type = GTU_WEIGHT_NONE;
	return 0;
}

int emogi_halo_run(const struct lab_machine *m, const struct emogi_subject *s, uint32_t source, bool apart,
		   const struct gtu_progress *progress, uint32_t *result, struct lab_emogi_counts *counts, struct gtu_error *err)
{
	const struct gtu_graph *g = &s->wide[WIDTH_4];
	uint32_t *id = emogi_halo_order(g), *ours = malloc(4 * g->n + 4);
	uint64_t *row = NULL, *col = NULL, v;
	struct gtu_graph order;
	struct lab_emogi config = { LAB_MERGED, LAB_EMOGI_BFS, &order, 0, 0, true, apart };
	int rc = id && ours && !reordered(g, id, &order, &row, &col) ? 0 :
		 gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the order of %s", g->name);

	config.source = rc ? 0 : id[source];
	rc = rc ? rc : lab_emogi_run(m, &config, progress, ours, counts, err);
	for (v = 0; v < g->n && !rc; v++)
		result[v] = ours[id[v]];
	free(id);
	free(ours);
	free(row);
	free(col);
	return rc;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void halo_rows(struct emogi *e)
{
	struct lab_run *r = e->r;
	unsigned g, i;

	for (g = 0; g < r->graphs; g++) {
		struct lab_emogi_counts emogi = emogi_counts(e, g, LAB_EMOGI_BFS, ACCESS_ALIGNED, WIDTH_8, SETUP_PCIE3);
		const char *label = lab_run_label(r, g);
		double cycles = 0, bytes = 0;

		for (i = 0; i < e->sources; i++) {
			cycles += (double)e->s[g].halo[i].lab.cycles;
			bytes += (double)e->s[g].halo[i].lab.uvm_bytes_in;
		}
		lab_run_row(r, LAB_TABLE(3), label, LAB_SPEEDUP_RULE, emogi_paper_value(r->symbol[g], "ML=2.15 FS=3.19"),
			    cycles / (double)emogi.lab.cycles, "BFS: EMOGI over HALO");
		lab_run_row(r, LAB_TABLE(3), label, LAB_OPEN_RULE, NAN, bytes / (8.0 * (double)r->graph[g]->m * e->sources),
			    "BFS, HALO: bytes read over the edge list's");
	}
}

static void subway_rows(struct emogi *e)
{
	static const char *const paper[EMOGI_SUBWAYS] = { "GK=4.14 FS=2.83", "GK=2.64 FS=2.14", "GK=2.04 FS=1.57" };
	struct lab_run *r = e->r;
	unsigned g, a, i;

	for (a = 0; a < EMOGI_SUBWAYS; a++)
		for (g = 0; g < r->graphs; g++) {
			struct lab_emogi_counts emogi;
			const char *label = lab_run_label(r, g), *name = lab_emogi_algorithm_name[a];
			double cycles = 0, cpu = 0, copy = 0;

			if (emogi_excluded(r, g, a))
				continue;
			emogi = emogi_counts(e, g, a, ACCESS_ALIGNED, WIDTH_4, SETUP_PCIE3);
			for (i = 0; i < emogi_sources(e, a); i++) {
				cycles += (double)e->s[g].subway[a][i].lab.cycles;
				cpu += (double)e->s[g].subway[a][i].cpu_cycles;
				copy += (double)e->s[g].subway[a][i].copy_cycles;
			}
			lab_run_row(r, LAB_TABLE(4), label, LAB_SPEEDUP_RULE, emogi_paper_value(r->symbol[g], paper[a]),
				    cycles / (double)emogi.lab.cycles, "%s: EMOGI over Subway", name);
			lab_run_row(r, LAB_TABLE(4), label, LAB_OPEN_RULE, NAN, cpu / cycles, "%s, Subway: share of the CPU", name);
			lab_run_row(r, LAB_TABLE(4), label, LAB_OPEN_RULE, NAN, copy / cycles, "%s, Subway: share of the copies", name);
		}
}

void emogi_other_works(struct emogi *e)
{
	if (e->halo_wanted)
		halo_rows(e);
	if (e->subway_wanted)
		subway_rows(e);
}
