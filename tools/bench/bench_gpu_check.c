// SPDX-License-Identifier: MIT
/* gtu bench gpu: compares results with earlier ones, with the reference code and with rules. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_gpu_check.h"
#include "bench_gpu_validate.h"
#include "libruntime/support/clock.h"
#include "libruntime/support/parallel.h"
#include "tools/reference/reference.h"

#define VALIDATE_SECONDS 40.0

struct hashing {
	const uint64_t *result;
	uint64_t sum;
};

static int hash_part(void *arg, uint64_t first, uint64_t end)
{
	struct hashing *h = arg;
	uint64_t v, sum = 0;

	for (v = first; v < end; v++)
		sum += gtu_splitmix64_hash(h->result[v] ^ v << 1);
	__atomic_fetch_add(&h->sum, sum, __ATOMIC_RELAXED);
	return 0;
}

static uint64_t hash_result(const struct gpu_bench *b)
{
	struct hashing h = { .result = b->result };

	gtu_parallel(hash_part, &h, b->g.n);
	return h.sum ? h.sum : 1;
}

/* Sums of reals have another order in each run, so they are compared value by value and not by a hash. */
static bool same_real(const struct bench_algorithm *a, double x, double y)
{
	return fabs(x - y) <= a->tolerance * fmax(fabs(y), a->least);
}

struct comparing {
	const struct bench_algorithm *a;
	const double *x, *y;
};

static int differing_reals(void *arg, uint64_t first, uint64_t end)
{
	const struct comparing *c = arg;
	uint64_t v;

	for (v = first; v < end; v++)
		if (!same_real(c->a, c->x[v], c->y[v]))
			return 1;
	return 0;
}

bool bench_same_result(struct gpu_bench *b, unsigned algorithm, unsigned i)
{
	const struct bench_algorithm *a = &bench_algorithm[algorithm];
	uint64_t *known = &b->hash[algorithm][i];
	const uint64_t values = a->words * b->g.n;
	double **first = &b->first[algorithm];
	uint64_t hash;

	if (a->tolerance == 0) {
		hash = hash_result(b);
		*known = *known ? *known : hash;
		return hash == *known;
	}
	/* only the first source's result is kept */
	if (i)
		return true;
	if (*first)
		return !gtu_parallel(differing_reals, &(struct comparing){ a, b->result, *first }, values);
	*first = malloc(8 * values);
	if (*first)
		memcpy(*first, b->result, 8 * values);
	return *first;
}

int bench_check_reference(struct gpu_bench *b, unsigned algorithm, uint64_t source, struct gtu_error *err)
{
	const struct bench_algorithm *a = &bench_algorithm[algorithm];
	const uint64_t *got = b->result;
	const double *real = b->result;
	double *want = malloc(8ull * a->words * b->g.n), change;
	uint64_t v;
	int rc;

	if (!want)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for verification");
	rc = algorithm == BENCH_BFS ? reference_bfs(&b->g, source, (uint64_t *)want) :
	     algorithm == BENCH_SSSP ? reference_sssp(&b->g, source, want) :
	     algorithm == BENCH_CC ? reference_components(&b->g, (uint64_t *)want) :
	     algorithm == BENCH_PR ? reference_pagerank(&b->g, 0.85, b->iterations, want, &change) :
	     bench_algorithm_run(NULL, &b->g, algorithm, GTU_WITH_NONE, 0, source, b->iterations, want, NULL, err);
	for (v = 0; v < a->words * b->g.n && !rc; v++)
		if (a->tolerance > 0 ? !same_real(a, real[v], want[v]) : got[v] != ((uint64_t *)want)[v])
			rc = gtu_fail(err, GTU_ERR_VERIFY, "%s on %s: value %" PRIu64 " differs from the reference", a->name,
				      b->name, v);
	free(want);
	return rc == -1 ? gtu_fail(err, GTU_ERR_NOMEM, "no memory for verification") : rc;
}

/* The ranks before the last iteration, in b->result. */
static int ranks_before(struct gpu_bench *b, uint32_t kernel, struct gtu_error *err)
{
	double *rank = b->result;
	uint64_t v;

	if (b->iterations > 1)
		return bench_algorithm_run(b->dev, &b->g, BENCH_PR, GTU_WITH_GPU, kernel, 0, b->iterations - 1, rank, NULL, err);
	for (v = 0; v < b->g.n; v++)
		rank[v] = 1 / (double)b->g.n;
	return 0;
}

int bench_check_valid(struct gpu_bench *b, unsigned algorithm, uint32_t kernel, uint64_t source, struct gtu_error *err)
{
	static const enum bench_validation_rule rule[] = {
		[BENCH_BFS] = BENCH_VALIDATE_BFS, [BENCH_SSSP] = BENCH_VALIDATE_SSSP,
		[BENCH_CC] = BENCH_VALIDATE_CC, [BENCH_PR] = BENCH_VALIDATE_PR,
	};
	const bool ranks = algorithm == BENCH_PR;
	const double start = gtu_now_s();
	int rc = ranks ? ranks_before(b, kernel, err) : 0;

	if (!rc)
		rc = bench_validate(rule[algorithm], &b->g, source, ranks ? b->first[BENCH_PR] : b->result, b->result,
				    VALIDATE_SECONDS, &b->validated[algorithm], err);
	if (!rc && b->table)
		printf("%-4s valid: %.1f%% of the vertices with all their edges, in %.1f s\n", bench_algorithm[algorithm].name,
		       100 * b->validated[algorithm], gtu_now_s() - start);
	return rc;
}
