// SPDX-License-Identifier: MIT
/* Plans, runs and verifies the simulations of SparseWeaver's experiment. */
#include "lab_sparseweaver.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab_expect.h"
#include "lab_jobs.h"
#include "tools/reference/reference.h"

#define GCN_SEED	1
#define TOLERANCE	1e-4 /* relative to the sum of magnitudes: floats are summed in any order */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_key(const struct weaver_key *a, const struct weaver_key *b)
{
	return a->graph == b->graph && a->algorithm == b->algorithm && a->mapping == b->mapping && a->push == b->push &&
	       a->serial == b->serial && a->leave_out == b->leave_out && a->latency == b->latency && a->entries == b->entries &&
	       same_text(a->set[0], b->set[0]) && same_text(a->set[1], b->set[1]);
}

static struct weaver_run *find_run(const struct weaver *s, const struct weaver_key *key)
{
	unsigned i;

	for (i = 0; i < s->runs; i++)
		if (same_key(&s->run[i].key, key))
			return &s->run[i];
	return NULL;
}

const struct lab_wvr_report *weaver_report(struct weaver *s, struct weaver_key key)
{
	static const struct lab_wvr_report ones = { .cycles = 1, .gather_cycles = 1, .warp_iterations = 1, .stage = { 1 } };
	struct weaver_run *run = find_run(s, &key);

	if (run)
		return s->r->planning ? &ones : &run->report;
	if (!s->r->planning)
		abort();		/* a figure uses a run that it did not plan */
	if (s->runs == s->capacity) {
		struct weaver_run *more = realloc(s->run, (2 * s->capacity + 64) * sizeof(*more));

		if (!more) {
			s->no_memory = true;
			return &ones;
		}
		s->run = more;
		s->capacity = 2 * s->capacity + 64;
	}
	memset(&s->run[s->runs], 0, sizeof(*s->run));
	s->run[s->runs++].key = key;
	return &ones;
}

/* Weights are 1 to 64 (our choice; the paper does not say). */
int weaver_add(struct weaver *s, const struct gtu_graph *g, const char *label, const char *symbol, struct gtu_error *err)
{
	struct weaver_subject *t = &s->subject[s->subjects];

	if (s->subjects == WEAVER_GRAPHS)
		return gtu_fail(err, GTU_ERR_USAGE, "SparseWeaver's experiment supports at most %d graphs", WEAVER_GRAPHS);
	s->subjects++;
	t->label = label;
	t->symbol = symbol;
	return lab_narrow(g, 1, 64, &t->g, &t->weight, &t->col, err);
}

void weaver_free(struct weaver *s)
{
	unsigned i, a;

	for (i = 0; i < s->subjects; i++) {
		for (a = 0; a < LAB_WVR_GRAPH_ALGORITHMS; a++)
			free(s->subject[i].expected[a]);
		free(s->subject[i].col);
		free(s->subject[i].weight);
		free(s->subject[i].z);
		free(s->subject[i].magnitude);
	}
	free(s->run);
}

/* ---- Reference results ----------------------------------------------------------------------- */

/* In the order of the algorithms. */
static const enum lab_expect_what expect_what[] = { LAB_LEVELS, LAB_DISTANCES, LAB_RANKS, LAB_COMPONENTS };

static bool planned(const struct weaver *s, unsigned graph, unsigned algorithm)
{
	unsigned i;

	for (i = 0; i < s->runs; i++)
		if (s->run[i].key.graph == graph && s->run[i].key.algorithm == algorithm)
			return true;
	return false;
}

static int expect(void *ctx, unsigned i, const struct gtu_progress *progress, struct gtu_error *err)
{
	struct weaver *s = ctx;
	unsigned graph = i / LAB_WVR_ALGORITHMS, a = i % LAB_WVR_ALGORITHMS;
	struct weaver_subject *t = &s->subject[graph];
	size_t bytes = 8 * LAB_WVR_FEATURES * t->g.n;

	(void)progress;
	if (!planned(s, graph, a))
		return 0;
	if (a < LAB_WVR_GRAPH_ALGORITHMS) {
		t->expected[a] = lab_expect(&t->g, expect_what[a], lab_source(&t->g, 0), 1, err);
		return t->expected[a] ? 0 : err->code;
	}
	if (a != LAB_WVR_GRAPHSUM)
		return 0;
	t->z = malloc(bytes);
	t->magnitude = malloc(bytes);
	if (!t->z || !t->magnitude || reference_gcn(&t->g, LAB_WVR_FEATURES, GCN_SEED, t->z, t->magnitude))
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the convolution of %s", t->g.name);
	return 0;
}

/* ---- Runs -------------------------------------------------------------------------------------- */

static int same_features(const struct weaver_subject *t, const float *z, struct gtu_error *err)
{
	uint64_t i;

	for (i = 0; i < LAB_WVR_FEATURES * t->g.n; i++)
		if (!(fabs((double)z[i] - t->z[i]) <= TOLERANCE * t->magnitude[i]))
			return gtu_fail(err, GTU_ERR_VERIFY, "%s: feature %u of vertex %" PRIu64 " is %g, not %g", t->g.name,
					(unsigned)(i % LAB_WVR_FEATURES), i / LAB_WVR_FEATURES, (double)z[i], t->z[i]);
	return 0;
}

/* Run SpMM, then GraphSum on its output; @first is SpMM's report. */
static int convolution(const struct lab_machine *m, struct lab_wvr_config *config, const struct weaver_subject *t,
		       const struct gtu_progress *progress, struct lab_wvr_report *first, struct lab_wvr_report *report,
		       struct gtu_error *err)
{
	size_t n = LAB_WVR_FEATURES * t->g.n, i;
	float *x = malloc(4 * n), *y = malloc(4 * n);
	int rc = x && y ? 0 : gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the features of %s", t->g.name);

	for (i = 0; i < n && !rc; i++)
		x[i] = (float)gtu_gcn_feature(GCN_SEED, i / LAB_WVR_FEATURES, (uint32_t)(i % LAB_WVR_FEATURES));
	config->in = x;
	config->algorithm = LAB_WVR_SPMM;
	rc = rc ? rc : lab_wvr_run(m, config, progress, (uint32_t *)y, first, err);
	config->in = y;
	config->algorithm = LAB_WVR_GRAPHSUM;
	rc = rc ? rc : lab_wvr_run(m, config, progress, (uint32_t *)x, report, err);
	rc = rc ? rc : same_features(t, x, err);
	free(x);
	free(y);
	return rc;
}

/*
 * Algorithm 1: as many buckets as the graph has vertices, 8 entries per bucket on average; every
 * other key looked up exists.
 */
static int lookups(const struct lab_machine *m, struct lab_wvr_config *config, const struct weaver_subject *t,
		   const struct gtu_progress *progress, struct lab_wvr_report *report, struct gtu_error *err)
{
	uint32_t buckets = (uint32_t)t->g.n, entries = 8 * buckets, i, b;
	uint64_t *row = calloc(buckets + 2ull, 8);
	uint32_t *key = malloc(4ull * entries), *ask = malloc(4ull * entries), *place = malloc(4ull * entries);
	struct gtu_graph table = { .n = buckets, .m = entries, .edge_bytes = 4, .row = row, .col = key };
	int rc = row && key && ask && place ? 0 : gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a hash table");

	strcpy(table.name, "table");
	for (i = 0; i < entries && !rc; i++)
		row[lab_wvr_bucket(2 * i, buckets) + 2]++;
	for (b = 1; b < buckets && !rc; b++)
		row[b + 1] += row[b];
	/* row[b + 1] is the position of b's next entry, and finally the start of b + 1 */
	for (i = 0; i < entries && !rc; i++)
		key[row[lab_wvr_bucket(2 * i, buckets) + 1]++] = 2 * i;
	for (i = 0; i < entries && !rc; i++)
		ask[i] = (uint32_t)(gtu_splitmix64_mix(i) % (2ull * entries));
	config->graph = &table;
	config->source = 0;
	config->key = ask;
	config->keys = entries;
	rc = rc ? rc : lab_wvr_run(m, config, progress, place, report, err);
	for (i = 0; i < entries && !rc; i++)
		if (ask[i] % 2 ? place[i] != UINT32_MAX : place[i] >= entries || key[place[i]] != ask[i])
			rc = gtu_fail(err, GTU_ERR_VERIFY, "the lookup of key %u returned position %u", ask[i], place[i]);
	free(row);
	free(key);
	free(ask);
	free(place);
	return rc;
}

static int job(void *ctx, unsigned i, const struct gtu_progress *progress, struct gtu_error *err)
{
	struct weaver *s = ctx;
	struct weaver_run *run = &s->run[i];
	const struct weaver_key *k = &run->key;
	struct weaver_subject *t = &s->subject[k->graph];
	struct lab_wvr_config config = { .mapping = k->mapping, .algorithm = k->algorithm, .graph = &t->g, .iterations = 1,
				   .source = lab_source(&t->g, 0), .push = k->push, .shape = s->shape,
				   .leave_out = s->leave_out, .eghw_requests = s->eghw_requests,
				   .coefficient = s->coefficient };
	struct lab_machine m = s->r->m;
	uint32_t *result;
	int rc = 0;

	if (k->latency)
		config.shape.table_latency = k->latency;
	if (k->entries)
		config.shape.entries = k->entries;
	config.shape.read_ahead &= !k->serial;
	config.leave_out |= k->leave_out;
	rc = k->set[0] ? lab_machine_set(&m, k->set[0], err) : 0;
	rc = rc || !k->set[1] ? rc : lab_machine_set(&m, k->set[1], err);
	if (rc)
		return rc;
	if (k->algorithm == LAB_WVR_HASH)
		return lookups(&m, &config, t, progress, &run->report, err);
	if (k->algorithm == LAB_WVR_SPMM)	/* GraphSum's run has its report */
		return 0;
	if (k->algorithm == LAB_WVR_GRAPHSUM) {
		struct weaver_key spmm = *k;

		spmm.algorithm = LAB_WVR_SPMM;
		return convolution(&m, &config, t, progress, &find_run(s, &spmm)->report, &run->report, err);
	}
	result = malloc(4 * t->g.n + 4);
	rc = result ? lab_wvr_run(&m, &config, progress, result, &run->report, err) :
	     gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s", t->g.name);
	rc = rc ? rc : lab_expect_same(&t->g, expect_what[k->algorithm], t->expected[k->algorithm], result, err);
	free(result);
	return rc;
}

int weaver_run_all(struct weaver *s, struct gtu_error *err)
{
	unsigned i;
	int rc = s->no_memory ? gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the list of runs") : 0;

	s->r->planning = true;
	/* one run executes both operators, and the reference covers both */
	for (i = 0; i < s->runs; i++)
		if (s->run[i].key.algorithm == LAB_WVR_SPMM || s->run[i].key.algorithm == LAB_WVR_GRAPHSUM) {
			struct weaver_key both = s->run[i].key;

			both.algorithm = LAB_WVR_SPMM + LAB_WVR_GRAPHSUM - both.algorithm;
			weaver_report(s, both);
		}
	rc = rc ? rc : lab_jobs(s->subjects * LAB_WVR_ALGORITHMS, "reference", expect, s, s->r->progress, err);
	rc = rc ? rc : lab_jobs(s->runs, "runs", job, s, s->r->progress, err);
	for (i = 0; i < s->runs && !rc; i++)
		s->r->instructions += s->run[i].report.stats.warp_instructions;
	s->r->checked += rc ? 0 : s->runs;
	return rc;
}

/* ---- --set ----------------------------------------------------------------------------------- */

int weaver_parameters(struct weaver *s, struct gtu_error *err)
{
	uint32_t read_ahead = 0, leave_out = 0, skips_current = 0;
	const struct lab_key keys[] = {
		{ "wvr.entries", &s->shape.entries, 32, WVR_ENTRIES_MAX, LAB_NUMBER },
		{ "wvr.table_latency", &s->shape.table_latency, 1, 1 << 20, LAB_CYCLES },
		{ "wvr.eghw_requests", &s->eghw_requests, 1, 64, LAB_NUMBER },
		{ "wvr.coefficient", &s->coefficient, 1, 10000, LAB_NUMBER },
		{ "wvr.read_ahead", &read_ahead, 0, 1, LAB_NUMBER },
		{ "wvr.skips_current", &skips_current, 0, 1, LAB_NUMBER },
		{ "wvr.leave_out", &leave_out, 0, 1, LAB_NUMBER },
	};
	int rc = lab_run_parameters(s->r, "wvr.", keys, sizeof(keys) / sizeof(keys[0]), err);

	s->shape.read_ahead = read_ahead;
	s->shape.skips_current = skips_current;
	s->leave_out = leave_out;
	return rc;
}
