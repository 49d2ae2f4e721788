// SPDX-License-Identifier: MIT
/* Runs and verifies the simulations of GraphPEG's experiment. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab_expect.h"
#include "lab_graphpeg.h"
#include "tools/reference/reference.h"

#define WORKLIST    (48u << 10)

/* ---- Runs ------------------------------------------------------------------------------------ */

static bool same(const struct graphpeg_want *a, const struct graphpeg_want *b)
{
	const struct lab_peg_build *p = &a->config.peg, *q = &b->config.peg;

	if (a->graph != b->graph || a->sms != b->sms || a->config.algorithm != b->config.algorithm || a->config.strategy != b->config.strategy ||
	    a->config.edges != b->config.edges || a->config.push_only != b->config.push_only)
		return false;
	return a->config.strategy != LAB_PG_PEG ||
	       (p->entries == q->entries && p->edge_bytes == q->edge_bytes && p->list_bytes == q->list_bytes && p->shift == q->shift &&
		p->floor == q->floor &&
		p->balance_edges == q->balance_edges && p->balance_lists == q->balance_lists && p->free == q->free);
}

const struct graphpeg_outcome *graphpeg_outcome(struct graphpeg *x, const struct graphpeg_want *w)
{
	static const struct graphpeg_outcome none;
	struct graphpeg_want *more;
	unsigned i;

	for (i = 0; i < x->wants; i++)
		if (same(&x->want[i], w))
			return x->r->planning ? &none : &x->outcome[i];
	if (x->wants == x->capacity) {
		more = realloc(x->want, (2 * x->capacity + 64) * sizeof(*more));
		if (!more) {
			x->no_memory = true;
			return &none;
		}
		x->want = more;
		x->capacity = 2 * x->capacity + 64;
	}
	x->want[x->wants++] = *w;
	return &none;
}

double graphpeg_faster(struct graphpeg *x, const struct graphpeg_want *a, const struct graphpeg_want *b)
{
	const struct graphpeg_outcome *p = graphpeg_outcome(x, a), *q = graphpeg_outcome(x, b);

	return p->r.whole && q->r.whole ? (double)q->r.cycles / (double)p->r.cycles : p->rate / q->rate;
}

struct graphpeg_want graphpeg_want(const struct graphpeg *x, unsigned g, unsigned algorithm, unsigned strategy, uint64_t edges)
{
	const struct lab_run *r = x->r;
	struct graphpeg_want w = { .graph = edges == OVERALL ? x->overall + g : g };
	double scale = edges == OVERALL && r->scale > x->overall_scale ? x->overall_scale : (double)r->scale;
	double smaller = r->files ? 1 : exp2(scale - PAPER_SCALE) * (strcmp(r->symbol[g], "KRON") ? 1 : 4);

	smaller = smaller < 1 ? smaller : 1;

	w.config = (struct lab_pg_config){
		.algorithm = algorithm, .strategy = strategy, .edges = (uint64_t)((double)edges * smaller) + 1, .peg = x->build,
		.peg_blocks = x->blocks, .light_edges = x->light_edges, .worklist_bytes = WORKLIST,
		.push_only = edges != OVERALL && !x->parameters_pull,
	};
	return w;
}

/* Verify the partial result of a run that was stopped. */
static int so_far(const struct graphpeg_subject *s, const struct graphpeg_want *w, const struct lab_pg_result *r, struct gtu_error *err)
{
	const struct gtu_graph *g = &s->graph;
	const uint32_t *value = r->value;
	const uint64_t rounds = r->iterations - r->inside; /* that ended */
	uint64_t v, e;
	bool bad;

	for (v = 0; v < g->n; v++) {
		switch (w->config.algorithm) {
		case LAB_PG_BFS:
		case LAB_PG_BC:
			bad = value[v] != (uint32_t)s->levels[v] && (value[v] != UINT32_MAX || s->levels[v] <= rounds);
			break;
		case LAB_PG_SSSP:
			bad = value[v] < (uint32_t)s->distances[v];
			break;
		case LAB_PG_KC:
			/* a degree that fell below the core is raised again at once */
			bad = !r->inside && value[v] < s->cores[v];
			break;
		case LAB_PG_GC:		/* vertices of past rounds are coloured */
			for (bad = false, e = g->row[v]; e < g->row[v + 1] && value[v] < rounds; e++)
				bad |= value[gtu_graph_target(g, e)] == value[v] && gtu_graph_target(g, e) != v;
			break;
		default:
			bad = value[v] > 2;
		}
		if (bad)
			return gtu_fail(err, GTU_ERR_VERIFY, "%s, %s on %s: vertex %llu has %u after %llu iterations",
					lab_pg_algorithm_name[w->config.algorithm], lab_pg_strategy_name[w->config.strategy], g->name,
					(unsigned long long)v, value[v], (unsigned long long)r->iterations);
	}
	return 0;
}

static int verify(const struct graphpeg_subject *s, const struct graphpeg_want *w, const struct lab_pg_result *r, struct gtu_error *err)
{
	const struct gtu_graph *g = &s->graph;
	const char *by = lab_pg_strategy_name[w->config.strategy];
	int rc;

	if (!r->whole)
		return so_far(s, w, r, err);
	switch (w->config.algorithm) {
	case LAB_PG_BFS:
		return lab_expect_same(g, LAB_LEVELS, s->levels, r->value, err);
	case LAB_PG_SSSP:
		return lab_expect_same(g, LAB_DISTANCES, s->distances, r->value, err);
	case LAB_PG_BC:
		rc = lab_expect_same(g, LAB_LEVELS, s->levels, r->value, err);
		return rc ? rc : lab_expect_same(g, LAB_SHARES, s->shares, (const uint32_t *)r->score, err);
	case LAB_PG_KC:
		return lab_expect_same(g, LAB_CORES, s->cores, r->value, err);
	case LAB_PG_GC:
		return reference_same_color(g, r->value) == UINT64_MAX ? 0 :
		       gtu_fail(err, GTU_ERR_VERIFY, "gc, %s: two neighbours in %s have one colour", by, g->name);
	default:
		return r->met == (s->levels[s->target] != UINT64_MAX) ? 0 :
		       gtu_fail(err, GTU_ERR_VERIFY, "stcon, %s: %u and %u in %s are%s connected", by, s->source, s->target, g->name,
				r->met ? " not" : "");
	}
}

int graphpeg_run(void *ctx, unsigned i, const struct gtu_progress *progress, struct gtu_error *err)
{
	struct graphpeg *x = ctx;
	struct graphpeg_want *w = &x->want[i];
	const struct graphpeg_subject *s = &x->subject[w->graph];
	struct graphpeg_outcome *o = &x->outcome[i];
	struct lab_pg_result *r = &o->r;
	struct lab_machine m = x->r->m;
	const struct lab_stats *n = &r->stats;
	double edges, sent;
	unsigned k;
	int rc;

	m.sms = w->sms ? w->sms : m.sms;
	w->config.graph = &s->graph;
	w->config.source = s->source;
	w->config.target = s->target;
	r->value = malloc(4 * s->graph.n + 4);
	r->score = malloc(4 * s->graph.n + 4);
	rc = r->value && r->score ? lab_pg_run(&m, &w->config, progress, r, err) :
	     gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the results of %s", s->graph.name);
	rc = rc ? rc : verify(s, w, r, err);
	free(r->value);
	free(r->score);
	r->value = NULL;
	r->score = NULL;
	if (rc)
		return rc;
	edges = r->edges ? (double)r->edges : 1;
	for (sent = (double)(r->peg.requests + r->hwwl_requests), k = 0; k < LAB_KINDS; k++)
		sent += (double)n->transactions[k];
	o->rate = r->cycles ? edges / lab_seconds(&m, r->cycles) : NAN;
	o->balancing = (double)r->balancing / (double)r->cycles;
	o->instructions = (double)n->warp_instructions / edges;
	o->requests = sent / edges;
	o->warp_instructions = n->warp_instructions;
	return 0;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

int graphpeg_prepare(const struct gtu_graph *in, uint32_t ends, struct graphpeg_subject *s, struct gtu_error *err)
{
	uint64_t v, e, t;
	int rc = in->flags & GTU_GRAPH_DIRECTED ? gtu_graph_symmetrize(in, NULL, &s->both, err) : 0;
	const struct gtu_graph *g = s->both ? s->both : in;
	bool weighted = g->weight && g->weight_type == GTU_WEIGHT_U32;

	if (!rc && g->n < 2)
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s has no edges", g->name);
	rc = rc ? rc : lab_narrow(g, 1, 64, &s->graph, &s->weight, &s->col, err);
	if (rc)
		return rc;
	for (v = 0; v < g->n; v++) {
		for (e = g->row[v]; e < g->row[v + 1]; e++) {
			t = gtu_graph_target(g, e);
			s->weight[e] = weighted ? ((const uint32_t *)g->weight)[e] :
				       1 + (uint32_t)(gtu_splitmix64_mix((v < t ? v : t) << 32 | (v < t ? t : v)) % 64);
		}
	}
	s->source = lab_source(g, 0);
	s->target = lab_source(g, ends);
	return 0;
}

int graphpeg_expect(void *ctx, unsigned i, const struct gtu_progress *progress, struct gtu_error *err)
{
	static const enum lab_expect_what what[] = { LAB_LEVELS, LAB_DISTANCES, LAB_SHARES, LAB_CORES };
	struct graphpeg *x = ctx;
	struct graphpeg_subject *s = &x->subject[i / 4];
	uint64_t **const to[] = { &s->levels, &s->distances, &s->shares, &s->cores };

	(void)progress;
	*to[i % 4] = lab_expect(&s->graph, what[i % 4], s->source, 0, err);
	return *to[i % 4] ? 0 : err->code;
}

void graphpeg_free(struct graphpeg *x)
{
	unsigned i;

	for (i = 0; i < LAB_RUN_GRAPHS; i++) {
		struct graphpeg_subject *s = &x->subject[i];

		gtu_graph_close(s->both);
		free(s->col);
		free(s->weight);
		free(s->levels);
		free(s->distances);
		free(s->shares);
		free(s->cores);
	}
	free(x->want);
	free(x->outcome);
}
