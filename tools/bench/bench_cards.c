// SPDX-License-Identifier: MIT
/* gtu bench gpu over several cards: times, ratios, and bytes compared with the formulas of Documentation/scale.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_cards.h"
#include "bench_gpu.h"
#include "bench_gpu_check.h"
#include "gtu/gpu.h"
#include "libruntime/support/clock.h"
#include "tools/support/gpu_options.h"

static const unsigned algorithms[] = { BENCH_BFS, BENCH_SSSP, BENCH_CC, BENCH_PR, BENCH_BC, BENCH_KC };

bool bench_cards_take_ways(struct bench_cards *cards, const char *list)
{
	char word[16];
	size_t length;
	int way;

	for (; *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		snprintf(word, sizeof(word), "%.*s", (int)(length < 15 ? length : 15), list);
		way = cli_choice("--exchange", word, gpu_exchange_ways);
		if (way < 0)
			return false;
		if (cards->ways == sizeof(cards->way) / sizeof(cards->way[0])) {
			cli_usage("--exchange takes each way once");
			return false;
		}
		cards->way[cards->ways++] = (uint32_t)way;
	}
	return true;
}

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

/*
 * The most bytes that @cards cards send in a run of @steps steps: a bitmap with its padding in each level; the contributions
 * or sums in each iteration; all labels in each step of cc; an element forth and back for each vertex of bc. 0 if it
 * depends on the order of the paths (sssp) or of the removals (kc).
 */
static double formula(const struct gpu_bench *b, unsigned algorithm, uint32_t cards, double steps)
{
	const double n = (double)b->g.n, others = cards - 1.0;

	if (cards == 1)
		return 0;
	switch (algorithm) {
	case BENCH_BFS: return steps * others * (2 * n / 8 + 64.0 * cards);
	case BENCH_CC: return steps * cards * 4 * n;
	case BENCH_PR: return steps * others * 8 * n;
	case BENCH_BC: return others * 24 * n;
	default: return 0;
	}
}

/*
 * Compare with the first result of this source. Check that one as the options say, and also by all edges if it is not of
 * one card.
 */
static int check(struct gpu_bench *b, struct gtu_device *dev, unsigned algorithm, unsigned run, bool without_one,
		 struct gtu_error *err)
{
	const unsigned i = bench_algorithm[algorithm].by_source ? run : 0;
	const bool undirected = !(b->g.flags & GTU_GRAPH_DIRECTED);
	struct gtu_device *all = b->dev;
	int rc;

	if (b->verify && !b->hash[algorithm][i] && !b->first[algorithm]) {
		rc = bench_check_reference(b, algorithm, b->source[run], err);
		if (rc)
			return rc;
	}
	if (!bench_same_result(b, algorithm, i))
		return gtu_fail(err, GTU_ERR_VERIFY, "%s on %s: the result differs from the earlier ones", bench_algorithm[algorithm].name,
				b->name);
	if (algorithm >= BENCH_STANDARD || b->validated[algorithm] > 0 || !(b->validate || (without_one && undirected)))
		return 0;
	b->dev = dev;
	rc = bench_check_valid(b, algorithm, GTU_KERNEL_AUTO, b->source[run], err);
	b->dev = all;
	return rc;
}

static int measure(struct gpu_bench *b, struct gtu_device *dev, unsigned algorithm, struct bench_cards_row *r,
		   struct gtu_error *err)
{
	const unsigned runs = algorithm == BENCH_BFS ? b->sources : bench_algorithm[algorithm].by_source ? b->sssp_sources : 2;
	struct gtu_ranks_traffic before, after;
	struct gtu_algorithm_stats s;
	double start, most = 0, bytes = 0;
	unsigned i;
	int rc;

	/* the first run, of preparation, is not measured */
	rc = bench_algorithm_run(dev, &b->g, algorithm, GTU_WITH_GPU, 0, b->source[0], b->iterations, b->result, &s, err);
	for (i = 0; i < runs && !rc; i++) {
		gtu_ranks_get_traffic(dev, &before);
		start = gtu_now_s();
		rc = bench_algorithm_run(dev, &b->g, algorithm, GTU_WITH_GPU, 0, b->source[i], b->iterations, b->result, &s, err);
		r->seconds += gtu_now_s() - start;
		r->traversal += s.gpu_seconds;
		r->exchange += bench_phase_seconds(&s, "exchange");
		gtu_ranks_get_traffic(dev, &after);
		bytes += (double)(after.bytes - before.bytes);
		most += formula(b, algorithm, r->cards, (double)s.iterations);
		r->steps += (double)s.iterations;
		r->edges += (double)s.edges;
		if (!rc)
			rc = check(b, dev, algorithm, i, r->base > 1 || (r->weak && r->cards > 1), err);
	}
	r->runs = runs;
	r->seconds /= runs;
	r->traversal /= runs;
	r->exchange /= runs;
	r->steps /= runs;
	r->edges /= runs;
	r->bytes = bytes / runs;
	r->formula = most / runs;
	if (gtu_ranks_link(dev))
		snprintf(r->link, sizeof(r->link), "%.199s", gtu_ranks_link(dev));
	if (!rc && r->formula && (algorithm == BENCH_PR ? r->bytes != r->formula && 2 * r->bytes != r->formula : r->bytes > r->formula))
		rc = gtu_fail(err, GTU_ERR_VERIFY, "%s over %u cards sent %.0f bytes in a run, but the formula has %.0f", r->algorithm,
			      r->cards, r->bytes, r->formula);
	return rc;
}

/* The row of the fewest cards of the series, which is @r itself if there is none before. */
static const struct bench_cards_row *base_of(const struct bench_cards *cards, const struct bench_cards_row *r)
{
	unsigned i;

	for (i = 0; i < cards->rows; i++)
		if (cards->row[i].series == r->series && cards->row[i].algorithm == r->algorithm)
			return &cards->row[i];
	return r;
}

static double rate(const struct bench_cards_row *r)
{
	return r->edges / r->traversal;
}

/* The share of the base's rate that each card has. */
static double efficiency(const struct bench_cards_row *r)
{
	return r->ratio * r->base / r->cards;
}

/* Graph500's count takes an undirected edge once. */
static double teps(const struct bench_cards_row *r)
{
	return rate(r) / (r->undirected ? 2 : 1);
}

static void print_row(const struct bench_cards_row *r)
{
	const double steps = r->steps > 0 ? r->steps : 1;

	printf("%-4s %5u %10.3f %10.3f %10.3f %7.2f %9.1f%% %9.3f %9.3f %8.1f %14.0f %14.0f  %s\n", r->algorithm, r->cards,
	       1e3 * r->traversal, 1e3 * r->exchange, 1e3 * r->seconds, r->ratio, 100 * efficiency(r), 1e-9 * rate(r), 1e-9 * teps(r), r->steps, r->bytes / steps, r->formula / steps, r->link);
	fflush(stdout);
}

static int run_algorithm(struct gpu_bench *b, struct gtu_device *dev, unsigned algorithm, uint32_t number, bool weak,
			 struct gtu_error *err)
{
	struct bench_cards *cards = &b->cards;
	struct bench_cards_row *r = &cards->row[cards->rows];
	const struct bench_cards_row *base;
	int rc;

	if (cards->rows == BENCH_CARDS_ROWS)
		return gtu_fail(err, GTU_ERR_FAIL, "more than %d rows", BENCH_CARDS_ROWS);
	*r = (struct bench_cards_row){ .graph = b->name, .algorithm = bench_algorithm[algorithm].name, .cards = number, .weak = weak,
				       .series = cards->series, .undirected = !(b->g.flags & GTU_GRAPH_DIRECTED) };
	base = base_of(cards, r);
	r->base = base->cards;
	rc = measure(b, dev, algorithm, r, err);
	if (rc)
		return rc;
	r->ratio = rate(r) / rate(base);
	cards->rows++;
	if (b->table)
		print_row(r);
	return 0;
}

static int run_cards(struct gpu_bench *b, uint32_t number, uint32_t way, bool weak, struct gtu_error *err)
{
	const struct gtu_placement_options place = { .edges = b->edges, .gpu_memory = b->memories ? b->memory[0] : 0 };
	char *name = first_cards(b->device, number);
	struct gtu_device *dev = NULL;
	unsigned a;
	int rc = name ? gtu_open(name, &dev, err) : gtu_fail(err, GTU_ERR_NOMEM, "no memory for the names of %u cards", number);

	if (!rc && number > 1)
		rc = gtu_ranks_set_exchange(dev, way, err);
	if (!rc)
		rc = gtu_placement_create(dev, &b->g, &place, err);
	for (a = 0; a < sizeof(algorithms) / sizeof(algorithms[0]) && !rc; a++)
		if (bench_gpu_wants(b, algorithms[a]) && bench_gpu_time_left(b))
			rc = run_algorithm(b, dev, algorithms[a], number, weak, err);
	gtu_close(dev);
	free(name);
	if (rc != GTU_ERR_NOMEM)
		return rc;
	cli_clear_bar();
	fprintf(stderr, "gtu bench gpu: %s over %u card%s left out: %s\n", b->name, number, number > 1 ? "s" : "", err->text);
	b->left_out++;
	return 0;
}

static uint32_t cards_of(const struct gpu_bench *b)
{
	uint32_t rank, size;

	gtu_ranks_of(b->dev, &rank, &size);
	return size;
}

static void print_head(const struct gpu_bench *b)
{
	if (b->table)
		printf("%-4s %5s %10s %10s %10s %7s %10s %9s %9s %8s %14s %14s  %s\n", "", "cards", "mean ms", "exchange", "whole ms", "ratio", "efficiency", "G edges/s",
		       "GTEPS", "steps", "bytes a step", "formula", "exchange by");
}

int bench_cards_run(struct gpu_bench *b, uint32_t weak, struct gtu_error *err)
{
	const uint32_t size = cards_of(b);
	uint32_t number;
	unsigned w;
	int rc = 0;

	print_head(b);
	if (!weak)
		b->cards.series++;
	/* one, two, four ..., and all */
	for (number = weak ? weak : 1; !rc && number <= size; number = number < size && 2 * number > size ? size : 2 * number) {
		for (w = 0; !rc && w < (number > 1 && b->cards.ways ? b->cards.ways : 1); w++)
			rc = run_cards(b, number, b->cards.ways ? b->cards.way[w] : GTU_EXCHANGE_AUTO, weak, err);
		if (weak)
			break;
	}
	return rc;
}

int bench_cards_weak(struct gpu_bench *b, const char *name, struct gtu_error *err)
{
	const uint32_t size = cards_of(b);
	const char *colon = strchr(name, ':');
	char grown[64], *rest;
	unsigned long scale;
	uint32_t number;
	int rc = 0;

	if (!colon)
		return gtu_fail(err, GTU_ERR_USAGE, "--weak %s is a file, which cannot grow: take kronecker:SCALE or another rule", name);
	scale = strtoul(colon + 1, &rest, 10);
	b->cards.series++;
	for (number = 1; !rc && number <= size && bench_gpu_time_left(b); number *= 2, scale++) {
		snprintf(grown, sizeof(grown), "%.*s:%lu%s", (int)(colon - name), name, scale, rest);
		rc = bench_gpu_run_graph(b, grown, number, err);
	}
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
		json_string(j, "scaling", r->weak ? "weak" : "strong");
		json_string(j, "algorithm", r->algorithm);
		json_u64(j, "cards", r->cards);
		json_u64(j, "base_cards", r->base);
		json_u64(j, "runs", r->runs);
		json_double(j, "seconds", r->traversal);
		json_double(j, "exchange_seconds", r->exchange);
		json_double(j, "whole_seconds", r->seconds);
		json_double(j, "ratio", r->ratio);
		json_double(j, "efficiency", efficiency(r));
		json_double(j, "edges_per_second", rate(r));
		json_double(j, "teps", teps(r));
		json_double(j, "steps", r->steps);
		json_u64(j, "bytes", (uint64_t)r->bytes);
		json_u64(j, "formula_bytes", (uint64_t)r->formula);
		if (*r->link)
			json_string(j, "link", r->link);
		json_end_object(j);
	}
	json_end_array(j);
}
