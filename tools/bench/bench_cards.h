/* SPDX-License-Identifier: MIT */
/* gtu bench gpu --device cuda:0,1: the same runs over one card, two, and so on, with ratios and bytes. */
#ifndef GTU_BENCH_CARDS_H
#define GTU_BENCH_CARDS_H

#include "gtu/gtu.h"
#include "tools/support/json.h"

#define BENCH_CARDS_ROWS 256

struct bench_cards_row {
	const char *graph, *algorithm;
	uint32_t cards;
	unsigned runs;
	double seconds;			/* mean of whole runs over a placed graph, results included */
	double ratio;			/* time of one card by that of these */
	double bytes, formula;		/* sent by all cards in a run, and what scale.md permits; formula 0: depends on the graph */
	char link[200];
};

struct bench_cards {
	struct bench_cards_row row[BENCH_CARDS_ROWS];
	unsigned rows;
};

/* The runs over each number of cards; @check: the result of a run is right. */
struct bench_cards_run {
	const char *device, *graph;
	const struct gtu_graph *g;
	const uint64_t *source;
	unsigned sources, sssp_sources;
	uint32_t iterations;
	bool table;
	void *result;
	bool (*wanted)(void *user, const char *algorithm);
	bool (*check)(void *user, unsigned algorithm, unsigned source);
	void *user;
};

/* GTU_ERR_VERIFY if a result differs from that of one card, or a card sends more than the formula. */
int bench_cards_run(const struct bench_cards_run *run, struct bench_cards *cards, struct gtu_error *err);
/* Write the array "cards". */
void bench_cards_json(struct json *j, const struct bench_cards *cards);

#endif
