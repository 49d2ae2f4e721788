// SPDX-License-Identifier: MIT
/* Plans, runs and verifies the simulations of EMOGI's experiments. */
#include "lab_emogi_runs.h"

#include <stdlib.h>
#include <string.h>

#include "lab_expect.h"
#include "lab_jobs.h"

/* A traversal, its reference result, the array copies of figure 4, and tables 3 and 4. */
enum kind { JOB_RUN, JOB_REFERENCE, JOB_ARRAY, JOB_STRIDED, JOB_HALO, JOB_SUBWAY };

struct emogi_job {
	uint8_t kind, graph, algorithm, access, width, setup, source;
};

const uint32_t emogi_warps[EMOGI_WARPS] = { 16, 24, 32, 40, 64 };

/*
 * Table 2: vertices, and size of the edge list with 8-byte entries in GiB. Of uvm.memory (16 GiB),
 * 12 bytes per vertex (offset and value) are not available for edges. Subway's program leaves 32 bytes
 * per vertex and a tenth of the rest.
 */
#define EMOGI_VERTEX 12.0
#define SUBWAY_VERTEX 32.0
#define SUBWAY_SHARE 0.9

static const struct { const char *symbol; double vertices, gib; } table2[] = {
	{ "GK", 134.2e6, 31.5 }, { "GU", 134.2e6, 32.0 }, { "FS", 65.6e6, 26.9 }, { "ML", 30.2e6, 49.7 },
};


/* Share of the edge list that fits @memory bytes, less so many a vertex; for a graph from a file, half of all memory. */
static double held(const struct emogi *e, unsigned graph, double memory, double vertex)
{
	unsigned i;

	for (i = 0; i < sizeof(table2) / sizeof(table2[0]); i++)
		if (!strcmp(table2[i].symbol, e->r->symbol[graph]))
			return (memory - vertex * table2[i].vertices) / (table2[i].gib * 1073741824.0);
	return 0.5 * memory / e->r->m.uvm_memory;
}

int emogi_subject_of(struct emogi *e, unsigned graph, struct gtu_error *err)
{
	const struct gtu_graph *g = e->r->graph[graph];
	struct emogi_subject *s = &e->s[graph];
	uint64_t edge;
	unsigned i;
	/* section 5.2: GK, GU and ML have their own weights, of which GAP's are 1 to 255; the others 8 to 72 */
	bool gap = !strcmp(e->r->symbol[graph], "GK") || !strcmp(e->r->symbol[graph], "GU");
	int rc = lab_narrow(g, gap ? 1 : 8, gap ? 255 : 65, &s->wide[WIDTH_4], &s->weight, &s->narrow_col, err);

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
	for (i = 0; i < e->sources; i++)
		s->source[i] = lab_source(g, i);
	s->memory = (uint64_t)(held(e, graph, e->r->m.uvm_memory, EMOGI_VERTEX) * 8 * (double)g->m);
	/* the Titan Xp has 12 GB of the V100's 16 */
	s->halo_memory = (uint64_t)(held(e, graph, e->r->m.uvm_memory * 0.75, EMOGI_VERTEX) * 8 * (double)g->m);
	s->subway_memory = (uint64_t)(SUBWAY_SHARE * held(e, graph, e->r->m.uvm_memory, SUBWAY_VERTEX) * 8 * (double)g->m);
	return 0;
}

/* By enum lab_emogi_algorithm. */
static const enum lab_expect_what what[] = { LAB_LEVELS, LAB_DISTANCES, LAB_COMPONENTS, LAB_RANKS };

static int reference(struct emogi *e, const struct emogi_job *j, struct gtu_error *err)
{
	struct emogi_subject *s = &e->s[j->graph];
	uint64_t **whole = &s->whole[j->algorithm][j->source], v;

	*whole = lab_expect(&s->wide[WIDTH_4], what[j->algorithm], s->source[j->source], EMOGI_ITERATIONS, err);
	for (v = 0; *whole && j->algorithm == LAB_EMOGI_BFS && v < s->wide[0].n; v++)
		if ((*whole)[v] != UINT64_MAX)
			s->traversed[j->source] += s->wide[0].row[v + 1] - s->wide[0].row[v];
	return *whole ? 0 : err->code;
}

/*
 * Scale paging to @memory bytes of device memory. The paper's device held thousands of blocks, many
 * batches of faults, so that migrated pages stayed for a while. If ours held fewer than eight
 * batches, use single pages as blocks and batches of an eighth. The driver's time for a batch was
 * calibrated on an array in order, of which a batch brings CALIBRATED_PAGES: 30.5 us for 1 MiB are the
 * difference between 9 and 12.3 GB/s. Full batches of another size take their share of it by page.
 */
#define CALIBRATED_PAGES 16.0

static void scale_paging(struct lab_machine *m, uint64_t memory)
{
	uint32_t pages, batch;

	if (!m->uvm)
		return;
	if (memory < 8ull * m->uvm_batch * m->uvm_block) {
		m->uvm_block = m->uvm_page;
		pages = (uint32_t)(memory / m->uvm_page);
		batch = pages >= 8 * m->uvm_batch ? m->uvm_batch : pages < 16 ? 2 : pages / 8;
		m->uvm_fault_ns *= batch / CALIBRATED_PAGES;
		m->uvm_batch = batch;
	}
	m->uvm_memory = (double)(memory < 4ull * m->uvm_block ? 4ull * m->uvm_block : memory);
}

static int array_job(struct emogi *e, const struct emogi_job *j, const struct gtu_progress *progress, struct gtu_error *err)
{
	struct lab_machine m = e->m[SETUP_PCIE3];
	uint64_t scale = e->r->scale;
	uint32_t words = 1u << (scale < 16 ? scale + 6 : 22);

	/* each thread of so many warps an SM copies 32 words; an L1 does not depend on the number of SMs */
	if (j->kind == JOB_STRIDED) {
		m.sms = m.sms < 8 ? m.sms : 8;
		return lab_emogi_array(&m, LAB_NAIVE, false, emogi_warps[j->access] * m.sms * LAB_LANES * 32, progress,
				       &e->strided[j->access], err);
	}
	/* with unified memory, as long as the array that its driver was calibrated on */
	return lab_emogi_array(&m, j->access == ACCESS_UVM ? LAB_ALIGNED : (enum lab_emogi_variant)j->access, j->access == ACCESS_UVM,
			       j->access == ACCESS_UVM && scale >= 16 ? 1u << 23 : words, progress, &e->array[j->access], err);
}

static int run_job(void *ctx, unsigned i, const struct gtu_progress *progress, struct gtu_error *err)
{
	struct emogi *e = ctx;
	const struct emogi_job *j = &e->job[i];
	struct emogi_subject *s = &e->s[j->graph];
	struct lab_machine m = e->m[j->setup];
	bool apart = e->apart && *e->r->symbol[j->graph];
	struct lab_emogi config = { j->access == ACCESS_UVM ? LAB_MERGED : (enum lab_emogi_variant)j->access, j->algorithm, &s->wide[j->width],
				 s->source[j->source], EMOGI_ITERATIONS, j->access == ACCESS_UVM, apart };
	struct lab_subway subway = { j->algorithm, &s->wide[WIDTH_4], s->source[j->source], s->subway_memory, e->cpu_gbs, apart };
	uint32_t *result;
	int rc;

	if (j->kind == JOB_ARRAY || j->kind == JOB_STRIDED)
		return array_job(e, j, progress, err);
	if (j->kind == JOB_REFERENCE)
		return reference(e, j, err);
	scale_paging(&m, j->kind == JOB_HALO ? s->halo_memory : s->memory);
	result = malloc(4 * config.graph->n);
	if (!result)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the result of %s", config.graph->name);
	if (j->kind == JOB_HALO)
		rc = emogi_halo_run(&m, s, config.source, apart, progress, result, &s->halo[j->source], err);
	else if (j->kind == JOB_SUBWAY)
		rc = lab_subway_run(&m, &subway, progress, result, &s->subway[j->algorithm][j->source], err);
	else
		rc = lab_emogi_run(&m, &config, progress, result, &s->counts[j->algorithm][j->access][j->width][j->setup][j->source], err);
	rc = rc ? rc : lab_expect_same(&s->wide[WIDTH_4], what[j->algorithm], s->whole[j->algorithm][j->source], result, err);
	free(result);
	return rc;
}

/* Add @j to the list, if that is allocated. */
static void add_job(struct emogi *e, unsigned *n, struct emogi_job j)
{
	if (e->job)
		e->job[*n] = j;
	++*n;
}

/* The runs of one graph, algorithm and source, or the reference's result that they need. */
static void list_runs(struct emogi *e, unsigned *n, struct emogi_job j, bool reference)
{
	const bool *wanted = &e->s[j.graph].wanted[j.algorithm][0][0][0];
	bool halo = e->halo_wanted && j.algorithm == LAB_EMOGI_BFS, some = halo;
	bool subway = e->subway_wanted && j.algorithm < EMOGI_SUBWAYS && !emogi_excluded(e->r, j.graph, j.algorithm);
	unsigned runs;

	some |= subway;
	for (runs = 0; runs < ACCESSES * WIDTHS * SETUPS; runs++) {
		some |= wanted[runs];
		if (!wanted[runs] || reference)
			continue;
		j.access = (uint8_t)(runs / (WIDTHS * SETUPS));
		j.width = (uint8_t)(runs / SETUPS % WIDTHS);
		j.setup = (uint8_t)(runs % SETUPS);
		add_job(e, n, j);
	}
	j = (struct emogi_job){ .graph = j.graph, .algorithm = j.algorithm, .source = j.source };
	if (reference && some) {
		j.kind = JOB_REFERENCE;
		add_job(e, n, j);
	}
	j.kind = JOB_HALO;
	if (halo && !reference)
		add_job(e, n, j);
	j.kind = JOB_SUBWAY;
	if (subway && !reference)
		add_job(e, n, j);
}

/* List the jobs of the references, or of the runs, in e->job, if allocated. Returns their number. */
static unsigned list(struct emogi *e, bool reference)
{
	struct emogi_job j = { .kind = JOB_ARRAY };
	unsigned n = 0;

	for (; j.access < ACCESSES && e->array_wanted && !reference; j.access++)
		add_job(e, &n, j);
	for (j.kind = JOB_STRIDED, j.access = 0; j.access < EMOGI_WARPS && e->strided_wanted && !reference; j.access++)
		add_job(e, &n, j);
	for (j.kind = JOB_RUN, j.access = 0; j.graph < e->r->graphs; j.graph++)
		for (j.algorithm = 0; j.algorithm < LAB_EMOGI_ALGORITHMS; j.algorithm++)
			for (j.source = 0; j.source < emogi_sources(e, j.algorithm); j.source++)
				list_runs(e, &n, j, reference);
	return n;
}

static const struct lab_stats *stats_of(const struct emogi *e, const struct emogi_job *j)
{
	const struct emogi_subject *s = &e->s[j->graph];

	switch (j->kind) {
	case JOB_ARRAY:
		return &e->array[j->access].lab;
	case JOB_STRIDED:
		return &e->strided[j->access].lab;
	case JOB_HALO:
		return &s->halo[j->source].lab;
	case JOB_SUBWAY:
		return &s->subway[j->algorithm][j->source].lab;
	default:
		return &s->counts[j->algorithm][j->access][j->width][j->setup][j->source].lab;
	}
}

int emogi_run_all(struct emogi *e, struct gtu_error *err)
{
	const unsigned references = list(e, true), runs = list(e, false), most = references > runs ? references : runs;
	unsigned k, i;
	int rc;

	e->job = calloc(most + 1, sizeof(*e->job));
	if (!e->job)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %u runs", most);
	rc = lab_jobs(list(e, true), "results to compare with", run_job, e, e->r->progress, err);
	rc = rc ? rc : lab_jobs(list(e, false), "runs", run_job, e, e->r->progress, err);
	for (i = 0; i < runs && !rc; i++) {
		e->r->checked++;
		e->r->instructions += stats_of(e, &e->job[i])->warp_instructions;
	}
	for (k = 0; k < LAB_EMOGI_ALGORITHMS * EMOGI_SOURCES_MAX; k++)
		for (i = 0; i < e->r->graphs; i++) {
			free(e->s[i].whole[k / EMOGI_SOURCES_MAX][k % EMOGI_SOURCES_MAX]);
			e->s[i].whole[k / EMOGI_SOURCES_MAX][k % EMOGI_SOURCES_MAX] = NULL;
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

	for (i = 0; i < emogi_sources(e, algorithm); i++) {
		for (k = 0; k < sizeof(sum) / 8; k++)
			((uint64_t *)&sum)[k] += ((const uint64_t *)&runs[i])[k];
		if (runs[i].monitor[GTU_ZCM_C_FLIGHT_MAX] > most)
			most = runs[i].monitor[GTU_ZCM_C_FLIGHT_MAX];
	}
	sum.monitor[GTU_ZCM_C_FLIGHT_MAX] = most;
	return sum;
}
