// SPDX-License-Identifier: MIT
/* gtu bench gpu over several cards: times, ratios, and bytes compared with the formulas of Documentation/scale.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_cards.h"
#include "gtu/gpu.h"
#include "gtu/ranks.h"
#include "libruntime/support/clock.h"
#include "tools/support/cli.h"

static const char *const algorithms[] = { "bfs", "sssp", "cc", "pr" };

/* The first @cards devices of the list; "cuda:all" counts from 0. The caller frees it. */
static char *first_cards(const char *device, uint32_t cards)
{
	char *name = malloc(strlen(device) + cards * 12ull + 16), *at;
	uint32_t i;

	if (!name)
		return NULL;
	if (!strcmp(device, "cuda:all")) {
		at = name + sprintf(name, "cuda:0");
		for (i = 1; i < cards; i++)
			at += sprintf(at, ",%u", i);
		return name;
	}
	strcpy(name, device);
	for (at = name; cards--;)
		at += strcspn(at, ",") + (cards && strchr(at, ','));
	*at = 0;
	return name;
}

static int run_algorithm(const struct bench_cards_run *b, struct gtu_device *dev, unsigned algorithm, unsigned source,
			 struct gtu_algorithm_stats *s, struct gtu_error *err)
{
	const struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .source = b->source[source],
						   .iterations = algorithm == 3 ? b->iterations : 0, .progress = cli_progress() };

	return algorithm == 0 ? gtu_bfs(dev, b->g, &opt, b->result, s, err) :
	       algorithm == 1 ? gtu_sssp(dev, b->g, &opt, b->result, s, err) :
	       algorithm == 2 ? gtu_components(dev, b->g, &opt, b->result, s, err) :
				gtu_pagerank(dev, b->g, &opt, b->result, s, err);
}

/*
 * The most bytes that @cards cards send in a run of @steps steps: a bitmap with its padding in each level; the contributions
 * or sums in each iteration; all labels in each step of cc. Of sssp 0: it depends on the order of the paths.
 */
static double formula(const struct bench_cards_run *b, unsigned algorithm, uint32_t cards, double steps)
{
	const double n = (double)b->g->n, others = cards - 1.0;

	if (cards == 1)
		return 0;
	return algorithm == 0 ? steps * others * (2 * n / 8 + 64.0 * cards) : algorithm == 2 ? steps * cards * 4 * n :
	       algorithm == 3 ? steps * others * 8 * n : 0;
}

static int measure(const struct bench_cards_run *b, struct gtu_device *dev, unsigned algorithm, struct bench_cards_row *r,
		   struct gtu_error *err)
{
	const unsigned runs = algorithm == 0 ? b->sources : algorithm == 1 ? b->sssp_sources : 2;
	struct gtu_ranks_traffic before, after;
	struct gtu_algorithm_stats s;
	double start, most = 0;
	unsigned i;
	int rc;

	/* the first run, of preparation, is not measured */
	rc = run_algorithm(b, dev, algorithm, 0, &s, err);
	gtu_ranks_get_traffic(dev, &before);
	for (i = 0; i < runs && !rc; i++) {
		start = gtu_now_s();
		rc = run_algorithm(b, dev, algorithm, i, &s, err);
		r->seconds += gtu_now_s() - start;
		most += formula(b, algorithm, r->cards, (double)s.iterations);
		if (!rc && !b->check(b->user, algorithm, i))
			rc = gtu_fail(err, GTU_ERR_VERIFY, "%s on %s: the result of %u cards differs from the earlier ones",
				      r->algorithm, b->graph, r->cards);
	}
	gtu_ranks_get_traffic(dev, &after);
	r->runs = runs;
	r->seconds /= runs;
	r->bytes = (double)(after.bytes - before.bytes) / runs;
	r->formula = most / runs;
	if (gtu_ranks_link(dev))
		snprintf(r->link, sizeof(r->link), "%.199s", gtu_ranks_link(dev));
	if (!rc && r->formula && (algorithm == 3 ? r->bytes != r->formula : r->bytes > r->formula))
		rc = gtu_fail(err, GTU_ERR_VERIFY, "%s over %u cards sent %.0f bytes in a run, but the formula has %.0f", r->algorithm,
			      r->cards, r->bytes, r->formula);
	return rc;
}

static double seconds_of_one(const struct bench_cards *cards, const struct bench_cards_row *r)
{
	unsigned i;

	for (i = 0; i < cards->rows; i++)
		if (cards->row[i].cards == 1 && cards->row[i].graph == r->graph && cards->row[i].algorithm == r->algorithm)
			return cards->row[i].seconds;
	return r->seconds;
}

static int run_cards(const struct bench_cards_run *b, struct bench_cards *cards, uint32_t number, struct gtu_error *err)
{
	char *name = first_cards(b->device, number);
	struct gtu_device *dev = NULL;
	struct bench_cards_row *r;
	unsigned a;
	int rc = name ? gtu_open(name, &dev, err) : gtu_fail(err, GTU_ERR_NOMEM, "no memory for the names of %u cards", number);

	if (!rc)
		rc = gtu_placement_create(dev, b->g, NULL, err);
	for (a = 0; a < 4 && !rc; a++) {
		if (!b->wanted(b->user, algorithms[a]))
			continue;
		if (cards->rows == BENCH_CARDS_ROWS) {
			rc = gtu_fail(err, GTU_ERR_FAIL, "more than %d rows", BENCH_CARDS_ROWS);
			break;
		}
		r = &cards->row[cards->rows];
		*r = (struct bench_cards_row){ .graph = b->graph, .algorithm = algorithms[a], .cards = number };
		rc = measure(b, dev, a, r, err);
		if (rc)
			break;
		r->ratio = seconds_of_one(cards, r) / r->seconds;
		cards->rows++;
		if (b->table)
			printf("%-4s %5u %10.3f %7.2f %15.0f %15.0f  %s\n", r->algorithm, number, 1e3 * r->seconds, r->ratio, r->bytes,
			       r->formula, r->link);
	}
	fflush(stdout);
	gtu_close(dev);
	free(name);
	return rc;
}

int bench_cards_run(const struct bench_cards_run *b, struct bench_cards *cards, struct gtu_error *err)
{
	struct gtu_device *all;
	uint32_t rank, size, number;
	int rc = gtu_open(b->device, &all, err);

	if (rc)
		return rc;
	gtu_ranks_of(all, &rank, &size);
	gtu_close(all);
	if (b->table)
		printf("%-4s %5s %10s %7s %15s %15s  %s\n", "", "cards", "mean ms", "ratio", "bytes a run", "formula", "exchange by");
	/* one, two, four ..., and all */
	for (number = 1; !rc && number <= size; number = number < size && 2 * number > size ? size : 2 * number)
		rc = run_cards(b, cards, number, err);
	return rc;
}

void bench_cards_json(struct json *j, const struct bench_cards *cards)
{
	unsigned i;

	json_begin_array(j, "cards");
	for (i = 0; i < cards->rows; i++) {
		const struct bench_cards_row *r = &cards->row[i];

		json_begin_object(j, NULL);
		json_string(j, "graph", r->graph);
		json_string(j, "algorithm", r->algorithm);
		json_u64(j, "cards", r->cards);
		json_u64(j, "runs", r->runs);
		json_double(j, "seconds", r->seconds);
		json_double(j, "ratio", r->ratio);
		json_u64(j, "bytes", (uint64_t)r->bytes);
		json_u64(j, "formula_bytes", (uint64_t)r->formula);
		if (*r->link)
			json_string(j, "link", r->link);
		json_end_object(j);
	}
	json_end_array(j);
}
