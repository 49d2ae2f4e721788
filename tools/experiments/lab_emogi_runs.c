// SPDX-License-Identifier: MIT
/* Plans, runs and verifies the simulations of EMOGI's experiments. */
#include "lab_emogi_runs.h"

#include <stdlib.h>
#include <string.h>

#include "lab_expect.h"
#include "lab_jobs.h"

#define ARRAY LAB_EMOGI_ALGORITHMS	/* pseudo-algorithm: the array copy of figure 4 */

struct emogi_job {
	uint8_t graph, algorithm, access, width, setup, source;
	bool reference;			/* compute the reference result instead of running */
};

/*
 * Table 2: vertices, and size of the edge list with 8-byte entries in GiB. Of uvm.memory (16 GiB),
 * 12 bytes per vertex (offset and value) are not available for edges.
 */
static const struct { const char *symbol; double vertices, gib; } table2[] = {
	{ "GK", 134.2e6, 31.5 }, { "GU", 134.2e6, 32.0 }, { "FS", 65.6e6, 26.9 }, { "ML", 30.2e6, 49.7 },
};

/* Share of the edge list that fits the device; half for a graph from a file. */
static double held(const struct emogi *e, unsigned graph)
{
	unsigned i;

	for (i = 0; i < sizeof(table2) / sizeof(table2[0]); i++)
		if (!strcmp(table2[i].symbol, e->r->symbol[graph]))
			return (e->r->m.uvm_memory - 12 * table2[i].vertices) / (table2[i].gib * 1073741824.0);
	return 0.5;
}

int emogi_subject_of(struct emogi *e, unsigned graph, struct gtu_error *err)
{
	const struct gtu_graph *g = e->r->graph[graph];
	struct emogi_subject *s = &e->s[graph];
	uint64_t edge;
	unsigned i;
	int rc = lab_narrow(g, 8, 65, &s->wide[WIDTH_4], &s->weight, &s->narrow_col, err);

	if (rc)
		return rc;
	s->wide[WIDTH_8] = s->wide[WIDTH_4];
	s->wide[WIDTH_8].col = g->col;
	s->wide[WIDTH_8].edge_bytes = 8;
	if (g->edge_bytes == 4) {
		s->wide_col = malloc(8 * g->m);
		if (!s->wide_col)
			return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s", g->name);
		for (edge = 0; edge < g->m; edge++)
			s->wide_col[edge] = gtu_graph_target(g, edge);
		s->wide[WIDTH_8].col = s->wide_col;
	}
	for (i = 0; i < EMOGI_SOURCES; i++)
		s->source[i] = lab_source(g, i);
	s->memory = (uint64_t)(held(e, graph) * 8 * (double)g->m);
	return 0;
}

/* By enum lab_emogi_algorithm. */
static const enum lab_expect_what what[] = { LAB_LEVELS, LAB_DISTANCES, LAB_COMPONENTS, LAB_RANKS };

static int reference(struct emogi *e, const struct emogi_job *j, struct gtu_error *err)
{
	struct emogi_subject *s = &e->s[j->graph];
	uint64_t **whole = &s->whole[j->algorithm][j->source];

	*whole = lab_expect(&s->wide[WIDTH_4], what[j->algorithm], s->source[j->source], EMOGI_ITERATIONS, err);
	return *whole ? 0 : err->code;
}

/*
 * Scale paging to @memory bytes of device memory. The paper's device held thousands of blocks, many
 * batches of faults, so that migrated pages stayed for a while. If ours held fewer than eight
 * batches, use single pages as blocks and batches of an eighth.
 */
static void scale_paging(struct lab_machine *m, uint64_t memory)
{
	uint32_t pages;

	if (!m->uvm)
		return;
	if (memory < 8ull * m->uvm_batch * m->uvm_block) {
		m->uvm_block = m->uvm_page;
		pages = (uint32_t)(memory / m->uvm_page);
		if (pages < 8 * m->uvm_batch)
			m->uvm_batch = pages < 16 ? 2 : pages / 8;
	}
	m->uvm_memory = (double)(memory < 4ull * m->uvm_block ? 4ull * m->uvm_block : memory);
}

static int run_job(void *ctx, unsigned i, const struct gtu_progress *progress, struct gtu_error *err)
{
	struct emogi *e = ctx;
	const struct emogi_job *j = &e->job[i];
	struct emogi_subject *s = &e->s[j->graph];
	struct lab_machine m = e->m[j->setup];
	struct lab_emogi config = { j->access == ACCESS_UVM ? LAB_MERGED : (enum lab_emogi_variant)j->access, j->algorithm, &s->wide[j->width],
				 s->source[j->source], EMOGI_ITERATIONS, j->access == ACCESS_UVM };
	uint64_t scale = e->r->scale;
	uint32_t words = 1u << (scale < 16 ? scale + 6 : 22), *result;
	int rc;

	/* with unified memory, as long as the array that its driver was calibrated on */
	if (j->algorithm == ARRAY)
		return lab_emogi_array(&m, j->access == ACCESS_UVM ? LAB_ALIGNED : config.variant, config.managed,
				       j->access == ACCESS_UVM && scale >= 16 ? 1u << 23 : words, progress, &e->array[j->access], err);
	if (j->reference)
		return reference(e, j, err);
	scale_paging(&m, s->memory);
	result = malloc(4 * config.graph->n);
	if (!result)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the result of %s", config.graph->name);
	rc = lab_emogi_run(&m, &config, progress, result, &s->counts[j->algorithm][j->access][j->width][j->setup][j->source], err);
	rc = rc ? rc : lab_expect_same(&s->wide[WIDTH_4], what[j->algorithm], s->whole[j->algorithm][j->source], result, err);
	free(result);
	return rc;
}

/* List the jobs with or without @reference in e->job, if allocated. Returns their number. */
static unsigned list(struct emogi *e, bool reference)
{
	struct emogi_job j = { .reference = reference };
	unsigned n = 0, runs;
	bool some;

	for (j.algorithm = ARRAY, j.access = 0; j.access < ACCESSES && e->array_wanted && !reference; j.access++, n++)
		if (e->job)
			e->job[n] = j;
	for (j.graph = 0; j.graph < e->r->graphs; j.graph++)
		for (j.algorithm = 0; j.algorithm < LAB_EMOGI_ALGORITHMS; j.algorithm++)
			for (j.source = 0; j.source < emogi_sources(j.algorithm); j.source++) {
				const bool *wanted = &e->s[j.graph].wanted[j.algorithm][0][0][0];

				for (runs = 0, some = false; runs < ACCESSES * WIDTHS * SETUPS; runs++) {
					if (!wanted[runs] || (reference && some))
						continue;
					some = true;
					j.access = (uint8_t)(runs / (WIDTHS * SETUPS));
					j.width = (uint8_t)(runs / SETUPS % WIDTHS);
					j.setup = (uint8_t)(runs % SETUPS);
					if (e->job)
						e->job[n] = j;
					n++;
				}
			}
	return n;
}

int emogi_run_all(struct emogi *e, struct gtu_error *err)
{
	unsigned n = list(e, false), k, i;
	int rc;

	e->job = calloc(n + 1, sizeof(*e->job));
	if (!e->job)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %u runs", n);
	rc = lab_jobs(list(e, true), "results to compare with", run_job, e, e->r->progress, err);
	rc = rc ? rc : lab_jobs(list(e, false), "runs", run_job, e, e->r->progress, err);
	for (i = 0; i < n && !rc; i++) {
		const struct emogi_job *j = &e->job[i];
		const struct lab_emogi_counts *c = j->algorithm == ARRAY ? &e->array[j->access] :
			&e->s[j->graph].counts[j->algorithm][j->access][j->width][j->setup][j->source];

		e->r->checked++;
		e->r->instructions += c->lab.warp_instructions;
	}
	for (k = 0; k < LAB_EMOGI_ALGORITHMS * EMOGI_SOURCES; k++)
		for (i = 0; i < e->r->graphs; i++) {
			free(e->s[i].whole[k / EMOGI_SOURCES][k % EMOGI_SOURCES]);
			e->s[i].whole[k / EMOGI_SOURCES][k % EMOGI_SOURCES] = NULL;
		}
	return rc;
}

void emogi_free(struct emogi *e)
{
	unsigned g;

	for (g = 0; g < e->r->graphs; g++) {
		free(e->s[g].narrow_col);
		free(e->s[g].wide_col);
		free(e->s[g].weight);
	}
	free(e->job);
	free(e);
}

struct lab_emogi_counts emogi_counts(const struct emogi *e, unsigned graph, unsigned algorithm, unsigned access, unsigned width,
				     unsigned setup)
{
	const struct lab_emogi_counts *runs = e->s[graph].counts[algorithm][access][width][setup];
	struct lab_emogi_counts sum = { 0 };
	uint64_t most = 0;
	unsigned i;
	size_t k;

	for (i = 0; i < emogi_sources(algorithm); i++) {
		for (k = 0; k < sizeof(sum) / 8; k++)
			((uint64_t *)&sum)[k] += ((const uint64_t *)&runs[i])[k];
		if (runs[i].monitor[GTU_ZCM_C_FLIGHT_MAX] > most)
			most = runs[i].monitor[GTU_ZCM_C_FLIGHT_MAX];
	}
	sum.monitor[GTU_ZCM_C_FLIGHT_MAX] = most;
	return sum;
}
