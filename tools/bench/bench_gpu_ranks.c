// SPDX-License-Identifier: MIT
/* Finds the epsilon with the fewest iterations of our PageRank that are as accurate as another program's ranks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_gpu_ranks.h"
#include "tools/support/cli.h"
#include "libruntime/support/parallel.h"

#define CONVERGED	200		/* power iterations; 0.85^200 is 1e-14 */
#define EPSILON_STEP	16.0		/* between attempts, until one is as accurate */
#define EPSILON_LEAST	1e-15		/* in units of 1 / n: no run comes closer */
#define ATTEMPTS	12		/* between an epsilon that is too large and one that is not */

bool bench_ranks_take(char *text, struct bench_ranks *to)
{
	char *equals = strchr(text, '=');

	if (!equals || equals == text || !equals[1]) {
		cli_usage("--ranks takes NAME=FILE, not '%s'", text);
		return false;
	}
	*equals = 0;
	to->name = text;
	to->path = equals + 1;
	return true;
}

struct difference {
	const double *converged, *real;
	const float *other;		/* or NULL: real */
	double scale, *part;		/* part: a sum per share of gtu_parallel() */
};

static int differ(void *arg, uint64_t first, uint64_t end)
{
	struct difference *d = arg;
	double sum = 0;
	uint64_t v;

	for (v = first; v < end; v++)
		sum += fabs((d->other ? (double)d->other[v] * d->scale : d->real[v]) - d->converged[v]);
	d->part[first >> GTU_SHARE_LOG2] = sum;
	return 0;
}

static int add_up(void *arg, uint64_t first, uint64_t end)
{
	struct difference *d = arg;
	double sum = 0;
	uint64_t v;

	for (v = first; v < end; v++)
		sum += (double)d->other[v];
	d->part[first >> GTU_SHARE_LOG2] = sum;
	return 0;
}

static double total(struct difference *d, int (*of)(void *, uint64_t, uint64_t), uint64_t n)
{
	double sum = 0;
	uint64_t i;

	gtu_parallel(of, d, n);
	for (i = 0; i <= (n - 1) >> GTU_SHARE_LOG2; i++)
		sum += d->part[i];
	return sum;
}

static int read_ranks(const struct bench_ranks *r, float *to, uint64_t n, struct gtu_error *err)
{
	FILE *f = fopen(r->path, "rb");
	size_t got;

	if (!f)
		return gtu_fail(err, GTU_ERR_INPUT, "cannot open %s: %m", r->path);
	got = fread(to, sizeof(*to), n, f);
	if (got != n || fgetc(f) != EOF) {
		fclose(f);
		return gtu_fail(err, GTU_ERR_INPUT, "%s does not have the ranks of %llu vertices, 4 bytes each: it is %s", r->path,
				(unsigned long long)n, got == n ? "too long" : "too short");
	}
	fclose(f);
	return 0;
}

/* A run that stops by @epsilon, or by power iterations after CONVERGED ones. */
struct attempt {
	double epsilon, error, seconds;
	uint64_t iterations;
};

static int run(struct gtu_device *dev, const struct gtu_graph *g, uint32_t iterations, struct attempt *a, double *rank,
	       struct gtu_error *err)
{
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .iterations = iterations, .epsilon = a->epsilon,
					     .progress = cli_progress() };
	struct gtu_algorithm_stats stats;
	int rc = gtu_pagerank(dev, g, &opt, rank, &stats, err);

	a->seconds = stats.gpu_seconds;
	a->iterations = stats.iterations;
	return rc;
}

/* @d compares @rank with the converged ranks. */
static int try(struct gtu_device *dev, const struct gtu_graph *g, double epsilon, struct difference *d, double *rank,
	       struct attempt *a, struct gtu_error *err)
{
	int rc;

	*a = (struct attempt){ .epsilon = epsilon };
	rc = run(dev, g, 0, a, rank, err);
	a->error = rc ? 0 : total(d, differ, g->n);
	return rc;
}

/* Find the fewest iterations that are as accurate as @r, or leave r->iterations 0. */
static int approach(struct gtu_device *dev, const struct gtu_graph *g, struct bench_ranks *r, struct difference *d, double *rank,
		    struct gtu_error *err)
{
	struct attempt far = { .epsilon = EPSILON_STEP }, near, middle;
	unsigned i;
	int rc = try(dev, g, 1, d, rank, &near, err);

	while (!rc && near.error > r->error) {
		far = near;
		if (far.epsilon * (double)g->n < EPSILON_LEAST)
			return 0;
		rc = try(dev, g, far.epsilon / EPSILON_STEP, d, rank, &near, err);
	}
	for (i = 0; i < ATTEMPTS && !rc && near.iterations > far.iterations + 1; i++) {
		rc = try(dev, g, sqrt(far.epsilon * near.epsilon), d, rank, &middle, err);
		if (middle.error > r->error)
			far = middle;
		else
			near = middle;
	}
	/* repeat the run and average: the card may have been in a sleep state during the first */
	middle = near;
	if (!rc)
		rc = run(dev, g, 0, &middle, rank, err);
	r->iterations = (uint32_t)near.iterations;
	r->own_error = near.error;
	r->seconds = (near.seconds + middle.seconds) / 2;
	return rc;
}

static int measure(struct gtu_device *dev, const struct gtu_graph *g, struct bench_ranks *ranks, unsigned count,
		   double *converged, double *rank, float *other, double *part, struct gtu_error *err)
{
	struct difference d = { .converged = converged, .part = part };
	struct attempt converge = { .epsilon = 1e-13 / (double)g->n };
	unsigned i;
	int rc = run(dev, g, CONVERGED, &converge, converged, err);

	for (i = 0; i < count && !rc; i++) {
		rc = read_ranks(&ranks[i], other, g->n, err);
		if (rc)
			return rc;
		d.other = other;
		d.scale = 1 / total(&d, add_up, g->n);
		ranks[i].error = total(&d, differ, g->n);
		if (!isfinite(ranks[i].error))
			return gtu_fail(err, GTU_ERR_INPUT, "%s has ranks that are not numbers, or whose sum is 0",
					ranks[i].path);
		ranks[i].iterations = 0;
		d.other = NULL;
		d.real = rank;
		rc = approach(dev, g, &ranks[i], &d, rank, err);
	}
	return rc;
}

int bench_ranks_run(struct gtu_device *dev, const struct gtu_graph *g, struct bench_ranks *ranks, unsigned count,
		    struct gtu_error *err)
{
	double *converged, *rank, *part;
	float *other;
	int rc;

	if (!count)
		return 0;
	converged = malloc(8 * g->n);
	rank = malloc(8 * g->n);
	other = malloc(4 * g->n);
	part = malloc(8 * ((g->n >> GTU_SHARE_LOG2) + 1));
	if (!converged || !rank || !other || !part)
		rc = gtu_fail(err, GTU_ERR_NOMEM, "no memory to compare the ranks of %llu vertices", (unsigned long long)g->n);
	else
		rc = measure(dev, g, ranks, count, converged, rank, other, part, err);
	free(converged);
	free(rank);
	free(other);
	free(part);
	return rc;
}

void bench_ranks_print(const struct bench_ranks *ranks, unsigned count)
{
	for (; count; count--, ranks++) {
		if (ranks->iterations)
			printf("pr   as close as %s (total distance %.2g from converged ranks): %u iterations, %.2f ms (%.2g)\n",
			       ranks->name, ranks->error, ranks->iterations, 1e3 * ranks->seconds, ranks->own_error);
		else
			printf("pr   as close as %s (total distance %.2g from converged ranks): with no epsilon\n", ranks->name,
			       ranks->error);
	}
}

void bench_ranks_json(struct json *j, const struct bench_ranks *ranks, unsigned count)
{
	json_begin_array(j, "ranks");
	for (; count; count--, ranks++) {
		json_begin_object(j, NULL);
		json_string(j, "name", ranks->name);
		json_double(j, "error", ranks->error);
		json_u64(j, "iterations", ranks->iterations);
		json_double(j, "own_error", ranks->own_error);
		json_double(j, "seconds", ranks->seconds);
		json_end_object(j);
	}
	json_end_array(j);
}
