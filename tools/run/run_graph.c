// SPDX-License-Identifier: MIT
/* Opens the graph of `gtu run` and selects its weights, sources and target. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gtu/splitmix64.h"
#include "libruntime/support/clock.h"
#include "tools/support/cli.h"
#include "tools/support/graph_options.h"
#include "run_ranks.h"
#include "run_request.h"

#define RANDOM_WEIGHTS 255
#define SOURCES 16			/* default of --sources */
#define NAMES_COMPARED (1u << 20)	/* vertices whose names are compared for a suggestion: below a second */

/*
 * Derive each edge's weight, 1 to 255, from the ids of its ends: equal in both directions and all
 * formats.
 */
static int make_random_weights(struct request *q, struct gtu_error *err)
{
	struct gtu_graph *g = &q->run.graph;
	uint64_t v, e, end, a, b, target;

	q->random_weights = malloc((g->m + 1) * sizeof(*q->random_weights));
	if (!q->random_weights)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for %llu random weights",
				(unsigned long long)g->m);
	for (v = q->run.first; v < q->run.end; v++) {
		gtu_graph_edges(g, v, &e, &end);
		for (; e < end; e++) {
			target = gtu_graph_target(g, e);
			if (target >= g->n)
				return gtu_fail(err, GTU_ERR_INPUT,
						"%s: entry %llu of the edge list leads to vertex %llu, but there are only %llu: the graph is damaged",
						g->name, (unsigned long long)e,
						(unsigned long long)target, (unsigned long long)g->n);
			a = gtu_graph_id(g, v);
			b = gtu_graph_id(g, target);
			q->random_weights[e] = (uint32_t)(1 + gtu_splitmix64_hash(gtu_splitmix64_hash(gtu_splitmix64_hash(q->seed) ^ (a < b ? a : b)) ^
								  (a < b ? b : a)) % RANDOM_WEIGHTS);
		}
		if (!(v & 0xffff) && gtu_tick(q->run.opt.progress, "weights", v, g->n))
			return gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted");
	}
	g->weight = q->random_weights;
	g->weight_type = GTU_WEIGHT_U32;
	return 0;
}

static int select_weights(struct request *q, struct gtu_error *err)
{
	static const char *const type[] = { "none", "integers", "floats", "doubles" };
	struct gtu_graph *g = &q->run.graph;

	q->run.weights = q->weights_text;
	if (q->weights == W_RANDOM) {
		snprintf(q->weights_text, sizeof(q->weights_text), "random, 1 to %d, seed %llu",
			 RANDOM_WEIGHTS, (unsigned long long)q->seed);
		return make_random_weights(q, err);
	}
	if (q->weights == W_UNIT) {
		g->weight = NULL;
		g->weight_type = GTU_WEIGHT_NONE;
	}
	if (g->weight_type == GTU_WEIGHT_NONE)
		snprintf(q->weights_text, sizeof(q->weights_text), "%s",
			 q->weights == W_UNIT ? "every edge 1" : "every edge 1: the graph has none");
	else
		snprintf(q->weights_text, sizeof(q->weights_text), "the graph's, %s",
			 type[g->weight_type & 3]);
	return 0;
}

/* The vertex with most edges, of all ranks. */
static int vertex_with_most_edges(struct run *r, uint64_t *v, struct gtu_error *err)
{
	const struct gtu_graph *g = &r->graph;
	uint64_t u, first, end, max = 0;

	*v = 0;
	for (u = r->first; u < r->end; u++) {
		gtu_graph_edges(g, u, &first, &end);
		if (end - first > max) {
			max = end - first;
			*v = u;
		}
	}
	return run_ranks_choose(r, max, v, err);
}

/* Add the most similar name of @g to the message that no vertex has the name @word. */
static void suggest_name(const struct gtu_graph *g, const char *word, struct gtu_error *err)
{
	const size_t at = strlen(err->text);
	unsigned best = CLI_NEAR(word);
	char name[256], nearest[256] = "";
	uint64_t v;

	for (v = 0; v < g->n && v < NAMES_COMPARED; v++) {
		snprintf(name, sizeof(name), "%s", vertex_label(g, v));
		if (cli_nearer(word, name, &best))
			memcpy(nearest, name, sizeof(name));
	}
	if (*nearest)
		snprintf(err->text + at, sizeof(err->text) - at, "; did you mean '%s'?", nearest);
}

/* The vertex that @word names, up to a comma: by its name if the graph has names, else by its id. */
static int find_vertex(const struct request *q, const char *option, const char *word, uint64_t *v, struct gtu_error *err)
{
	const int length = (int)strcspn(word, ",");
	const struct gtu_graph *g = &q->run.graph;
	char *text, *end;
	uint64_t id;
	size_t bytes;
	int rc;

	if (asprintf(&text, "%.*s", length, word) < 0)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for a vertex");
	errno = 0;
	id = strtoull(text, &end, 10);
	if (gtu_graph_vertex_name(g, 0, &bytes)) {
		rc = gtu_graph_vertex_by_name(g, text, v, err);
		if (rc == GTU_ERR_USAGE)
			suggest_name(g, text, err);
	} else if (!isdigit((unsigned char)*text) || *end || errno) {
		rc = gtu_fail(err, GTU_ERR_USAGE, "%s '%s' is not a number from 0 to %llu, and the vertices of %s have no names",
			      option, text, (unsigned long long)UINT64_MAX, g->name);
	} else {
		rc = gtu_graph_vertex(g, id, v, err);
	}
	free(text);
	return rc;
}

static int select_source(struct request *q, struct gtu_error *err)
{
	if (!q->source) {
		q->run.source_chosen = true;
		return vertex_with_most_edges(&q->run, &q->run.opt.source, err);
	}
	return find_vertex(q, "--source", q->source, &q->run.opt.source, err);
}

/* Convert the ids of --source to vertices. */
static int list_sources(struct request *q, struct gtu_error *err)
{
	const char *word = q->source;
	uint64_t i;
	int rc = 0;

	q->source_list = malloc(q->source_count * sizeof(*q->source_list));
	if (!q->source_list)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for %llu sources",
				(unsigned long long)q->source_count);
	for (i = 0; i < q->source_count && !rc; i++, word += strcspn(word, ",") + 1)
		rc = find_vertex(q, "--source", word, &q->source_list[i], err);
	q->run.opt.source_count = q->source_count;
	snprintf(q->sources_text, sizeof(q->sources_text), "given by --source");
	return rc;
}

/*
 * Draw @count different vertices by Floyd's method: a repeated draw is replaced by the last
 * candidate.
 */
static int draw_sources(struct request *q, uint64_t count, struct gtu_error *err)
{
	const uint64_t n = q->run.graph.n;
	uint8_t *drawn = calloc(n + 1, 1);
	uint64_t i, v, state = q->sources_seed;

	q->source_list = malloc((count + 1) * sizeof(*q->source_list));
	if (!drawn || !q->source_list) {
		free(drawn);
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for %llu sources",
				(unsigned long long)count);
	}
	for (i = n - count; i < n; i++) {
		state = gtu_splitmix64_hash(state);
		v = state % (i + 1);
		if (drawn[v])
			v = i;
		drawn[v] = 1;
		q->source_list[q->run.opt.source_count++] = v;
	}
	free(drawn);
	snprintf(q->sources_text, sizeof(q->sources_text), "drawn at random, seed %llu",
		 (unsigned long long)q->sources_seed);
	return 0;
}

static int select_sources(struct request *q, struct gtu_error *err)
{
	const uint64_t n = q->run.graph.n;
	int rc;

	q->run.sources_text = q->sources_text;
	if (!q->sources_given) {
		q->sources = SOURCES;
		q->sources_seed = 1;
	}
	if (q->source) {
		rc = list_sources(q, err);
	} else if (!q->sources || q->sources >= n) {
		snprintf(q->sources_text, sizeof(q->sources_text), "all vertices");
		return 0;
	} else {
		rc = draw_sources(q, q->sources, err);
	}
	q->run.opt.sources = q->source_list;
	return rc;
}

static int select_terminals(struct request *q, struct gtu_error *err)
{
	const unsigned takes = q->run.kind->takes;
	int rc = 0;

	if (!q->run.graph.n)
		return gtu_fail(err, GTU_ERR_INPUT, "%s has no vertices, so %s has no result", q->run.path, q->run.kind->name);
	if (!(takes & (RUN_TAKES_SOURCE | RUN_TAKES_SOURCES)))
		return 0;
	rc = takes & RUN_TAKES_SOURCES ? select_sources(q, err) : select_source(q, err);
	if (!rc && takes & RUN_TAKES_TARGET)
		rc = find_vertex(q, "--target", q->target, &q->run.opt.target, err);
	return rc;
}

/* Whether the graph is to be generated: KIND:SCALE, for a generator of which ranks can make parts, and no file. */
static bool is_generated(const char *name, struct gtu_generate_options *make)
{
	const char *colon = strchr(name, ':');
	char *end;

	*make = (struct gtu_generate_options){ .degree = 16, .seed = 1 };
	if (!colon || !isdigit((unsigned char)colon[1]) || !access(name, F_OK))
		return false;
	make->scale = (uint32_t)strtoul(colon + 1, &end, 10);
	make->n = 1ull << (make->scale & 63);
	for (make->kind = GTU_GEN_KRONECKER; make->kind <= GTU_GEN_POWERLAW; make->kind++)
		if (!*end && strlen(gtu_generator_name(make->kind)) == (size_t)(colon - name) &&
		    !strncmp(name, gtu_generator_name(make->kind), (size_t)(colon - name)))
			return true;
	return false;
}

static int generate_graph(struct request *q, const struct gtu_generate_options *make, bool unchanged, struct gtu_error *err)
{
	const struct gtu_progress *progress = q->run.opt.progress;

	if (!unchanged)
		return gtu_fail(err, GTU_ERR_USAGE, "%s is generated, so the options that say how to read a file do not apply: "
				"write a file by gtu generate", q->run.path);
	if (make->scale < 1 || make->scale > 40)
		return gtu_fail(err, GTU_ERR_USAGE, "the scale of %s is out of range: it must be 1 to 40", q->run.path);
	return q->run.ranks && !q->verify ? gtu_graph_generate_part(q->run.dev, make, progress, &q->graph, err) :
					    gtu_graph_generate(make, progress, &q->graph, err);
}

/* Open or generate the graph, or this rank's part of it if no option changes it. */
static int open_graph(struct request *q, const struct gtu_read_options *read, struct gtu_error *err)
{
	const bool unchanged = !read->direction && !read->weight_column && !read->names;
	struct gtu_generate_options make;
	int rc = GTU_ERR_UNSUPPORTED;

	if (is_generated(q->run.path, &make))
		return generate_graph(q, &make, unchanged, err);
	/* the reference code needs the whole graph */
	if (q->run.ranks && unchanged && !q->verify)
		rc = gtu_graph_open_part(q->run.dev, q->run.path, q->run.opt.progress, &q->graph, err);
	return rc != GTU_ERR_UNSUPPORTED ? rc : gtu_graph_open(q->run.path, read, q->run.opt.progress, &q->graph, err);
}

int run_open_graph(struct request *q, struct gtu_error *err)
{
	struct gtu_read_options read = { .direction = q->direction, .names = q->names };
	const char *slash = strrchr(q->run.path, '/');
	double start = gtu_now_s();
	int rc;

	if (q->weights == W_COLUMN)
		read.weight_column = (int32_t)q->weight_column;
	rc = q->run.kind->takes & RUN_TAKES_WEIGHTS ?
		     graph_check_column(q->run.path, read.weight_column, err) : 0;
	if (rc)
		return rc;
	rc = open_graph(q, &read, err);
	if (rc == GTU_ERR_INPUT && q->weights == W_COLUMN && err) {
		const size_t at = strlen(err->text);

		snprintf(err->text + at, sizeof(err->text) - at,
			 " (--weights %llu selects that column; omit it to use the file's weights, or use --weights unit)",
			 (unsigned long long)q->weight_column);
	}
	rc = run_ranks_agree(&q->run, rc, err);
	if (rc)
		return rc;
	q->run.graph = *q->graph;
	/* a container keeps the name of the file that it was made of; messages name the file that the user gave */
	q->run.graph_name = q->graph->name;
	snprintf(q->run.graph.name, sizeof(q->run.graph.name), "%s", slash ? slash + 1 : q->run.path);
	q->run.end = q->graph->n;
	if (q->graph->flags & GTU_GRAPH_PART)
		rc = gtu_ranks_range(q->run.dev, q->graph, &q->run.first, &q->run.end, err);
	if (!rc && q->run.kind->takes & RUN_TAKES_WEIGHTS)
		rc = select_weights(q, err);
	q->run.open_seconds = gtu_now_s() - start;
	/* the search for a source is collective */
	rc = run_ranks_agree(&q->run, rc, err);
	return rc ? rc : select_terminals(q, err);
}
