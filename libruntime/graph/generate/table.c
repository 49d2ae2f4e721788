// SPDX-License-Identifier: MIT
/* The table of generators and the steps common to all: limits, weights, the graph's name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "libruntime/graph/graph_part.h"

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

/* The weights of the @count edges of block @block. */
static void draw_weights(const struct gtu_generate_options *o, uint64_t block, uint32_t *weight, uint64_t count)
{
	uint64_t e, state = gtu_rand_stream(~o->seed, block);

	for (e = 0; e < count; e++)
		weight[e] = 1 + (uint32_t)gtu_rand_below(&state, o->random_weights);
}

static int add_random_weights(const struct gtu_generate_options *o, struct gtu_edge_list *l,
			      struct gtu_error *err)
{
	uint64_t e;
	uint32_t *weight;

	weight = realloc(l->weight, l->m ? l->m * sizeof(*weight) : 1);
	if (!weight)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu weights",
				(unsigned long long)l->m);
	for (e = 0; e < l->m; e += GTU_BLOCK)
		draw_weights(o, e / GTU_BLOCK, weight + e, l->m - e < GTU_BLOCK ? l->m - e : GTU_BLOCK);
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

static int draw_all(const struct gtu_generate_options *o, const struct gtu_progress *progress, struct gtu_raw_graph *raw,
		    struct gtu_error *err)
{
	struct gtu_pairs p = { .opt = o };

	generators[o->kind]->pairs(&p);
	raw->n = o->n;
	return gtu_draw_pairs(&raw->edges, o->n, p.m, p.fill, &p, o->threads, progress, err);
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
	rc = generators[o.kind]->pairs ? draw_all(&o, progress, &raw, err) :
					 generators[o.kind]->generate(&o, progress, &raw, err);
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

/* ---- By blocks ------------------------------------------------------------------------------------- */

struct gtu_blocks *gtu_blocks_open(const struct gtu_generate_options *opt, struct gtu_error *err)
{
	struct gtu_generate_options o = *opt;
	struct gtu_pairs p = { .opt = &o };
	struct gtu_blocks *b;
	uint32_t edge_bytes;

	if (check_options(&o, err))
		return NULL;
	edge_bytes = gtu_edge_bytes_for(o.n, o.edge_bytes, err);
	if (!edge_bytes)
		return NULL;
	if (!generators[o.kind]->pairs || o.simplify) {
		gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s%s cannot be generated in parts, because edges depend on each other: write a "
			 "container by gtu generate", generators[o.kind]->name, o.simplify ? ", simplified," : "");
		return NULL;
	}
	generators[o.kind]->pairs(&p);
	b = calloc(1, sizeof(*b));
	if (b) {
		b->opt = o;
		b->n = o.n;
		b->pairs = p.m;
		b->count = (p.m + GTU_BLOCK - 1) / GTU_BLOCK;
		b->edge_bytes = edge_bytes;
		b->src = malloc(GTU_BLOCK * sizeof(*b->src));
		b->dst = malloc(GTU_BLOCK * sizeof(*b->dst));
		b->weight = malloc(GTU_BLOCK * sizeof(*b->weight));
	}
	if (b && b->src && b->dst && b->weight)
		return b;
	gtu_blocks_close(b);
	gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a block of edges");
	return NULL;
}

uint64_t gtu_blocks_draw(struct gtu_blocks *b, uint64_t block)
{
	const uint64_t left = b->pairs - block * GTU_BLOCK, length = left < GTU_BLOCK ? left : GTU_BLOCK;
	struct gtu_edge_list l = { .src = b->src, .dst = b->dst, .id_bytes = 8 };
	struct gtu_pairs p = { .opt = &b->opt };

	generators[b->opt.kind]->pairs(&p);
	p.fill(&p, &l, block, 0, length);
	if (b->opt.random_weights)
		draw_weights(&b->opt, block, b->weight, length);
	return length;
}

void gtu_blocks_close(struct gtu_blocks *b)
{
	if (!b)
		return;
	free(b->src);
	free(b->dst);
	free(b->weight);
	free(b);
}

void gtu_blocks_describe(const struct gtu_blocks *b, struct gtu_graph *g)
{
	g->n = b->n;
	g->stored = b->pairs;
	g->edge_bytes = b->edge_bytes;
	g->weight_type = b->opt.random_weights ? GTU_WEIGHT_U32 : GTU_WEIGHT_NONE;
	g->flags |= GTU_GRAPH_SORTED | GTU_GRAPH_CHECKED | (b->opt.directed ? GTU_GRAPH_DIRECTED : 0);
	name_graph(g, &b->opt);
}
