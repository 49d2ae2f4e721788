/* SPDX-License-Identifier: MIT */
/* gtu bench gpu --device cuda:0,1: the same runs over one card, two, and so on, with ratios and bytes. */
#ifndef GTU_BENCH_CARDS_H
#define GTU_BENCH_CARDS_H

#include "gtu/gtu.h"
#include "gtu/ranks.h"
#include "tools/support/json.h"

#define BENCH_CARDS_ROWS 512

struct bench_cards_row {
	const char *graph, *algorithm;
	bool weak;			/* the graph grows with the number of cards */
	unsigned series;		/* rows of one graph, or of one that grows */
	uint32_t cards, base;		/* base: the fewest cards of the series that had the memory */
	unsigned runs;
	double seconds;			/* mean of whole runs over a placed graph, results included */
	double traversal, exchange;	/* the part without setup and results; the exchange in it, of rank 0 */
	double steps, edges;		/* means: levels, rounds or iterations; edges traversed */
	double ratio;			/* edges a second of the traversal by those of the base */
	bool undirected;
	double bytes, formula;		/* sent by all cards in a run, and what scale.md permits; formula 0: depends on the graph */
	char link[200];
};

struct bench_cards {
	struct bench_cards_row row[BENCH_CARDS_ROWS];
	unsigned rows, series;
	uint32_t way[GTU_EXCHANGE_HOST + 1];	/* enum gtu_ranks_exchange */
	unsigned ways;			/* 0: the default one */
};

struct gpu_bench;

/* Take the list of --exchange; false after a message. */
bool bench_cards_take_ways(struct bench_cards *cards, const char *list);
/*
 * Run over each number of cards, or for a @weak series over @cards. A number that is refused the memory is left out. GTU_ERR_VERIFY
 * if a result differs from that of fewer cards or is not valid, or if the cards send more than the formula.
 */
int bench_cards_run(struct gpu_bench *b, uint32_t weak, struct gtu_error *err);
/* Over one card the graph @name, over two one of twice the vertices, and so on. */
int bench_cards_weak(struct gpu_bench *b, const char *name, struct gtu_error *err);
/* Write the array "cards". */
void bench_cards_json(struct json *j, const struct bench_cards *cards);

#endif
