// SPDX-License-Identifier: MIT
/* The table of generators and the steps common to all: limits, weights, the graph's name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"

#define MAX_PAIRS (1ull << 44)

#define ROW(KIND, kind) [GTU_GEN_##KIND] = &gtu_generator_##kind,
static const struct gtu_generator_entry *const generators[GTU_GENERATORS] = { GTU_GENERATOR_ROWS(ROW) };

const char *gtu_generator_name(uint32_t kind)
{
	return kind < GTU_GENERATORS ? generators[kind]->name : NULL;
}

/* Fill in defaults and reject invalid options. */
static int check_options(struct gtu_generate_options *o, struct gtu_error *err)
{
	const struct gtu_generator_entry *gen;

	if (o->kind >= GTU_GENERATORS)
		return gtu_fail(err, GTU_ERR_USAGE, "generator %u does not exist: there are %u",
				o->kind, GTU_GENERATORS);
	gen = generators[o->kind];
	if (o->kind == GTU_GEN_KRONECKER) {
		if (o->scale < 1 || o->scale > 40)
			return gtu_fail(err, GTU_ERR_USAGE, "a scale of %u is out of range: it "
					"must be 1 to 40", o->scale);
		o->n = 1ull << o->scale;
	}
	if (o->n < 1 || o->n > gen->max_n)
		return gtu_fail(err, GTU_ERR_USAGE, "%llu vertices are out of range: the limits "
				"are 1 to %llu for %s",
				(unsigned long long)o->n, (unsigned long long)gen->max_n, gen->name);
	if (o->degree && !gen->max_degree)
		return gtu_fail(err, GTU_ERR_USAGE, "the degree of %s cannot be chosen: leave the "
				"option out", gen->name);
	if (!(o->degree >= 0) || (o->degree && (o->degree < gen->min_degree || o->degree > gen->max_degree)))
		return gtu_fail(err, GTU_ERR_USAGE, "a degree of %g is out of range: it must be %g "
				"to %g for %s", o->degree,
				gen->min_degree, gen->max_degree, gen->name);
	if (!o->degree)
		o->degree = gen->default_degree;
	if ((double)o->n * (o->degree > 1 ? o->degree : 1) > (double)MAX_PAIRS)
		return gtu_fail(err, GTU_ERR_USAGE, "%llu vertices of degree %g have too many "
				"edges: the limit is 2^44",
				(unsigned long long)o->n, o->degree);
	if (o->exponent && o->kind != GTU_GEN_POWERLAW)
		return gtu_fail(err, GTU_ERR_USAGE, "%s has no exponent: only powerlaw has one",
				gen->name);
	if (!o->exponent)
		o->exponent = 2.1;
	if (!(o->exponent > 2 && o->exponent <= 10))
		return gtu_fail(err, GTU_ERR_USAGE, "an exponent of %g is out of range: it must be "
				"above 2 and at most 10", o->exponent);
	if (o->unknowns && (o->kind != GTU_GEN_FEM3D || o->unknowns > 64))
		return gtu_fail(err, GTU_ERR_USAGE, "%u unknowns per node are not supported: only "
				"fem3d has them, 1 to 64", o->unknowns);
	if (o->directed && o->kind > GTU_GEN_POWERLAW)
		return gtu_fail(err, GTU_ERR_USAGE, "%s cannot be directed: it is always "
				"undirected", gen->name);
	return 0;
}

static int add_random_weights(const struct gtu_generate_options *o, struct gtu_edge_list *l,
			      struct gtu_error *err)
{
	uint64_t e, state = 0;
	uint32_t *weight;

	weight = realloc(l->weight, l->m ? l->m * sizeof(*weight) : 1);
	if (!weight)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu weights",
				(unsigned long long)l->m);
	for (e = 0; e < l->m; e++) {
		if (e % GTU_BLOCK == 0)
			state = gtu_rand_stream(~o->seed, e / GTU_BLOCK);
		weight[e] = 1 + (uint32_t)gtu_rand_below(&state, o->random_weights);
	}
	l->weight = weight;
	l->weight_type = GTU_WEIGHT_U32;
	return 0;
}

static void name_graph(struct gtu_graph *g, const struct gtu_generate_options *o)
{
	size_t at = (size_t)snprintf(g->name, sizeof(g->name), "%s n=%llu", generators[o->kind]->name,
				     (unsigned long long)g->n);

	if (o->degree)
		at += (size_t)snprintf(g->name + at, sizeof(g->name) - at, " degree=%g", o->degree);
	if (o->kind == GTU_GEN_POWERLAW)
		at += (size_t)snprintf(g->name + at, sizeof(g->name) - at, " exponent=%g", o->exponent);
	if (o->unknowns)
		at += (size_t)snprintf(g->name + at, sizeof(g->name) - at, " unknowns=%u", o->unknowns);
	snprintf(g->name + at, sizeof(g->name) - at, " seed=%llu", (unsigned long long)o->seed);
}

int gtu_graph_generate(const struct gtu_generate_options *opt, const struct gtu_progress *progress,
		       struct gtu_graph **out, struct gtu_error *err)
{
	struct gtu_raw_graph raw = { .declared = true, .undirected = true };
	struct gtu_generate_options o = *opt;
	struct gtu_read_options build = { .edge_bytes = opt->edge_bytes, .simplify = opt->simplify,
					  .direction = opt->directed ? GTU_DIRECTED : GTU_AS_STORED };
	int rc;

	*out = NULL;
	rc = check_options(&o, err);
	if (rc)
		return rc;
	gtu_edges_init(&raw.edges, false);
	rc = generators[o.kind]->generate(&o, progress, &raw, err);
	if (!rc && o.random_weights)
		rc = add_random_weights(&o, &raw.edges, err);
	if (rc) {
		gtu_edges_free(&raw.edges);
		return rc;
	}
	rc = gtu_raw_finish(&raw, &build, progress, out, err);
	if (!rc)
		name_graph(*out, &o);
	return rc;
}
