// SPDX-License-Identifier: MIT
/* Reference results for the laboratory's graph kernels, from the tool's reference code. */
#include "lab_expect.h"
#include "gtu/splitmix64.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/reference/reference.h"

uint32_t lab_source(const struct gtu_graph *g, unsigned i)
{
	uint64_t k, v;

	for (k = i * 1000003ull; v = gtu_splitmix64_mix(k + 1) % g->n, g->row[v] == g->row[v + 1]; k++)
		;
	return (uint32_t)v;
}

int lab_narrow(const struct gtu_graph *g, uint32_t min, uint32_t values, struct gtu_graph *to, uint32_t **weight,
	       uint32_t **col, struct gtu_error *err)
{
	bool narrow = g->edge_bytes == 4;
	uint64_t e;

	if (!g->m)
		return gtu_fail(err, GTU_ERR_INPUT, "%s has no edges", g->name);
	*to = *g;
	*weight = values ? malloc(4 * g->m) : NULL;
	*col = narrow ? NULL : malloc(4 * g->m);
	if ((values && !*weight) || (!narrow && !*col))
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s", g->name);
	for (e = 0; e < g->m && !narrow; e++)
		(*col)[e] = (uint32_t)gtu_graph_target(g, e);
	for (e = 0; e < g->m && values; e++)
		(*weight)[e] = min + (uint32_t)(gtu_splitmix64_mix(e) % values);
	to->col = narrow ? g->col : *col;
	to->edge_bytes = 4;
	to->weight = *weight;
	to->weight_type = values ? GTU_WEIGHT_U32 : GTU_WEIGHT_NONE;
	return 0;
}

uint64_t *lab_expect(const struct gtu_graph *g, enum lab_expect_what what, uint64_t source, uint64_t iterations,
		     struct gtu_error *err)
{
	uint64_t *whole = malloc(8 * g->n + 8), v;
	double *real = malloc(8 * g->n + 8), change;
	int rc = whole && real ? 0 : -1;

	if (!rc && what == LAB_LEVELS)
		rc = reference_bfs(g, source, whole);
	else if (!rc && what == LAB_COMPONENTS)
		rc = reference_components(g, whole);
	else if (!rc && what == LAB_DISTANCES)
		rc = reference_sssp(g, source, real);
	else if (!rc && what == LAB_CORES)
		rc = reference_cores(g, whole);
	else if (!rc && what == LAB_SHARES)
		rc = reference_betweenness(g, &source, 1, real);
	else if (!rc)
		rc = reference_pagerank(g, 0.85, iterations, real, &change);
	for (v = 0; v < g->n && !rc && what == LAB_DISTANCES; v++)
		whole[v] = isinf(real[v]) ? UINT64_MAX : (uint64_t)real[v];
	if (!rc && (what == LAB_RANKS || what == LAB_SHARES))
		memcpy(whole, real, 8 * g->n);
	free(real);
	if (!rc)
		return whole;
	free(whole);
	gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the reference's result of %s", g->name);
	return NULL;
}

/*
 * Number of edges to each vertex, that is, of floats summed; or NULL. Each of n additions has an
 * error of at most 2^-24 of the sum. The bound n * 2^-24 is nearly reached at a hub with many
 * small, similar terms.
 */
static uint64_t *terms(const struct gtu_graph *g)
{
	uint64_t *n = calloc(g->n + 1, sizeof(*n)), e;

	for (e = 0; n && e < g->m; e++)
		n[gtu_graph_target(g, e)]++;
	return n;
}

static int same_floats(const struct gtu_graph *g, const char *name, const uint64_t *expected, const uint32_t *result,
		       struct gtu_error *err)
{
	uint64_t *added = terms(g), v;
	double real, off;
	float rank;
	int rc = 0;

	if (!added)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory to compare the results of %s", g->name);
	for (v = 0; v < g->n && !rc; v++) {
		memcpy(&real, &expected[v], 8);
		memcpy(&rank, &result[v], 4);
		off = fmax(1e-3, ldexp((double)added[v], -24));
		if (!(fabs((double)rank - real) <= off * real))
			rc = gtu_fail(err, GTU_ERR_VERIFY, "%s: the %s of vertex %" PRIu64 " is %g, not %g", g->name, name, v, (double)rank,
				      real);
	}
	free(added);
	return rc;
}

int lab_expect_same(const struct gtu_graph *g, enum lab_expect_what what, const uint64_t *expected,
		    const uint32_t *result, struct gtu_error *err)
{
	static const char *const names[] = { "level", "distance", "component", "rank", "core", "dependency" };
	uint64_t v;

	if (what == LAB_RANKS || what == LAB_SHARES)
		return same_floats(g, names[what], expected, result, err);
	for (v = 0; v < g->n; v++)
		if (result[v] != (uint32_t)expected[v])
			return gtu_fail(err, GTU_ERR_VERIFY, "%s: the %s of vertex %" PRIu64 " is %u, not %u", g->name,
					names[what], v, result[v], (uint32_t)expected[v]);
	return 0;
}
