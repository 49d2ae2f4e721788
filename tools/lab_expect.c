// SPDX-License-Identifier: MIT
#include "lab_expect.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

uint64_t lab_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint32_t lab_source(const struct gtu_graph *g, unsigned i)
{
	uint64_t k, v;

	for (k = i * 1000003ull; v = lab_mix(k + 1) % g->n, g->row[v] == g->row[v + 1]; k++)
		;
	return (uint32_t)v;
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
	gtu_fail(err, GTU_ERR_NOMEM, "no memory for the reference's result of %s", g->name);
	return NULL;
}

int lab_expect_same(const struct gtu_graph *g, enum lab_expect_what what, const uint64_t *expected,
		    const uint32_t *result, struct gtu_error *err)
{
	static const char *const names[] = { "level", "distance", "component", "rank", "core", "dependency" };
	const bool floats = what == LAB_RANKS || what == LAB_SHARES;
	double real;
	uint64_t v;
	float rank;

	for (v = 0; v < g->n; v++) {
		memcpy(&real, &expected[v], 8);
		memcpy(&rank, &result[v], 4);
		if (floats && !(fabs((double)rank - real) <= 1e-3 * real))
			return gtu_fail(err, GTU_ERR_VERIFY, "%s: the %s of vertex %" PRIu64 " is %g, not %g", g->name,
					names[what], v, (double)rank, real);
		if (!floats && result[v] != (uint32_t)expected[v])
			return gtu_fail(err, GTU_ERR_VERIFY, "%s: the %s of vertex %" PRIu64 " is %u, not %u", g->name,
					names[what], v, result[v], (uint32_t)expected[v]);
	}
	return 0;
}
