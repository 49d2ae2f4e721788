// SPDX-License-Identifier: MIT
/* Validates results on undirected graphs: Graph500's rules for levels and distances, and likewise for the rest. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>

#include "bench_gpu_validate.h"
#include "gtu/gtu.h"
#include "gtu/splitmix64.h"
#include "libruntime/support/clock.h"
#include "libruntime/support/graph_access.h"
#include "libruntime/support/parallel.h"

#define ROUNDS	64u		/* vertices are checked in so many interleaved parts */
#define RUN	4096u		/* consecutive vertices of a part */
#define DAMPING	0.85

struct validation {
	const struct gtu_graph *g;
	const uint64_t *integer;	/* the result, */
	const double *real;		/* by type */
	double *given;			/* PageRank: what a vertex gives to each neighbour */
	double base;			/* PageRank: the part of each rank that comes from no neighbour */
	uint64_t source;
	uint32_t round;
	bool (*good)(struct validation *, uint64_t v);
	_Atomic uint64_t bad;		/* a vertex; n: none */
};

static bool good_level(struct validation *k, uint64_t v)
{
	const uint64_t level = k->integer[v];
	uint64_t e, end, near = GTU_UNREACHED;

	if ((v == k->source) != !level)
		return false;
	for (gtu_graph_edges(k->g, v, &e, &end); e < end; e++) {
		const uint64_t other = k->integer[gtu_graph_target(k->g, e)];

		if ((other == GTU_UNREACHED) != (level == GTU_UNREACHED) || (other != level && other > level + 1))
			return false;
		near = other < near ? other : near;
	}
	return !level || level == GTU_UNREACHED || near + 1 == level;
}

static bool good_distance(struct validation *k, uint64_t v)
{
	const double own = k->real[v];
	bool given = v == k->source || isinf(own);
	uint64_t e, end;

	if (v == k->source && own != 0)
		return false;
	for (gtu_graph_edges(k->g, v, &e, &end); e < end; e++) {
		const double other = k->real[gtu_graph_target(k->g, e)] + gtu_graph_weight(k->g, e);

		/* sums of integers are exact, others are rounded in another order */
		if (isinf(own) != isinf(other) || own > other * (1 + 1e-12))
			return false;
		given = given || other <= own * (1 + 1e-12);
	}
	return given;
}

static bool good_label(struct validation *k, uint64_t v)
{
	const uint64_t label = k->integer[v];
	uint64_t e, end;

	if (label > v || k->integer[label] != label)
		return false;
	for (gtu_graph_edges(k->g, v, &e, &end); e < end; e++)
		if (k->integer[gtu_graph_target(k->g, e)] != label)
			return false;
	return true;
}

static bool good_rank(struct validation *k, uint64_t v)
{
	double next = k->base;
	uint64_t e, end;

	for (gtu_graph_edges(k->g, v, &e, &end); e < end; e++)
		next += k->given[gtu_graph_target(k->g, e)];
	return fabs(next - k->real[v]) <= 1e-6 * next;
}

static int check(void *arg, uint64_t first, uint64_t end)
{
	struct validation *k = arg;
	uint64_t v;

	for (v = first; v < end; v++)
		if (gtu_splitmix64_hash(v / RUN) % ROUNDS != k->round) {
			v |= RUN - 1;
		} else if (!k->good(k, v)) {
			atomic_store(&k->bad, v);
			return 1;
		}
	return 0;
}

static int give(void *arg, uint64_t first, uint64_t end)
{
	struct validation *k = arg;
	uint64_t v;

	for (v = first; v < end; v++) {
		const uint64_t degree = k->g->row[v + 1] - k->g->row[v];

		k->given[v] = degree ? DAMPING * k->given[v] / (double)degree : 0;
	}
	return 0;
}

static void prepare_ranks(struct validation *k)
{
	const struct gtu_graph *g = k->g;
	double idle = 0;
	uint64_t v;

	for (v = 0; v < g->n; v++)
		idle += g->row[v + 1] == g->row[v] ? k->given[v] : 0;
	gtu_parallel(give, k, g->n);
	k->base = (1 - DAMPING + DAMPING * idle) / (double)g->n;
}

int bench_validate(enum bench_validation_rule rule, const struct gtu_graph *g, uint64_t source, const void *result,
		   double *before, double seconds, double *share, struct gtu_error *err)
{
	static bool (*const good[])(struct validation *, uint64_t) = { good_level, good_distance, good_label, good_rank };
	static const char *const names[] = { "bfs", "sssp", "cc", "pr" };
	struct validation k = { .g = g, .integer = result, .real = result, .given = before, .source = source,
				.good = good[rule] };
	const double start = gtu_now_s();

	if (g->flags & GTU_GRAPH_DIRECTED)
		return gtu_fail(err, GTU_ERR_USAGE, "--validate checks undirected graphs, but %s is directed", g->name);
	atomic_store(&k.bad, g->n);
	if (rule == BENCH_VALIDATE_PR)
		prepare_ranks(&k);
	for (; k.round < ROUNDS && (!k.round || gtu_now_s() - start < seconds); k.round++)
		if (gtu_parallel(check, &k, g->n))
			return gtu_fail(err, GTU_ERR_VERIFY, "%s on %s: the result of vertex %" PRIu64 " is not valid", names[rule],
					g->name, (uint64_t)atomic_load(&k.bad));
	*share = (double)k.round / ROUNDS;
	return 0;
}
