/* SPDX-License-Identifier: MIT */
/* gtu bench gpu: bench_gpu.c measures, bench_gpu_show.c prints rows and JSON. */
#ifndef GTU_BENCH_GPU_H
#define GTU_BENCH_GPU_H

#include <stdio.h>

#include "gtu/gtu.h"
#include "bench_cards.h"
#include "bench_gpu_algorithms.h"
#include "bench_gpu_ranks.h"

#define GPU_ROWS_MAX	512
#define BENCH_GRAPHS	16		/* of --graph, and of --weak */
#define BENCH_GRAPHS_OPENED	256

struct gpu_row {
	const char *graph, *algorithm;
	char config[32];
	uint32_t kernel;
	struct gtu_placement placement;
	uint64_t gpu_memory;		/* value for --gpu-memory; 0: no limit */
	unsigned runs;
	double seconds, min, max, edges, iterations;
	double list_bytes, cached_bytes;
	double phase_seconds;		/* of whole runs */
	/* The first run, from an opened graph to results on the host, and its preparation by part. */
	double cold_start, cold_seconds, place_seconds, cache_seconds, setup_seconds, result_seconds;
	bool directed;
};

struct gpu_bench {
	struct gtu_device *dev;
	const char *only, *json, *plot, *device;
	const char *graph[BENCH_GRAPHS], *weak[BENCH_GRAPHS];
	unsigned graphs, weaks, sources, sssp_sources;
	uint32_t iterations;
	uint64_t link_bytes, memory[8];
	unsigned memories;
	double limit, start;
	bool verify, validate, table;
	uint32_t weight_min, weight_max;	/* of graphs without weights */
	uint32_t transpose, edges;	/* edges: instead of the probe's choice; 0: that */
	double link[GTU_EDGES_KINDS][GTU_LINK_ACCESSES];
	double ceiling;			/* the link's best rate, 10^9 bytes per second */
	struct gpu_row row[GPU_ROWS_MAX];
	unsigned rows, left_out;	/* left_out: refused, with a message */
	/* of the graph under test */
	struct gtu_graph *opened, g;
	bool by_rule;			/* bench_gpu_rule.h; then nothing is opened */
	const char *name;
	uint32_t *weight;
	uint64_t *source;
	void *result;
	uint64_t hash[BENCH_ALGORITHMS][64];	/* of results, by algorithm and source; 0: none yet */
	double *first[BENCH_ALGORITHMS];	/* the first results of those whose sums differ, of the first source */
	double validated[BENCH_STANDARD];	/* share of the vertices; 0: not validated */
	struct bench_ranks ranks[BENCH_RANKS_MAX];
	unsigned ranked;
	struct {			/* the graphs that were opened */
		char name[256];
		uint64_t n, m, source[64];
	} opened_graph[BENCH_GRAPHS_OPENED];
	unsigned graphs_opened;
	bool several;			/* the device is a list of cards */
	struct bench_cards cards;
};

/* Implements gtu bench gpu, with the verb's own command line. Returns the exit code. */
int bench_gpu(int argc, char **argv);

/*
 * Opens, makes or generates the graph @name, makes weights if it has none and is to be @weighted, takes memory
 * for results of @words values a vertex, and draws 64 sources. bench_gpu_graph_close() releases all, also after an error.
 */
int bench_gpu_graph_open(struct gpu_bench *b, const char *name, bool weighted, uint32_t words, struct gtu_error *err);
void bench_gpu_graph_close(struct gpu_bench *b);
/* Measure the graph @name; @cards: of a series of --weak over so many cards, or 0. */
int bench_gpu_run_graph(struct gpu_bench *b, const char *name, uint32_t cards, struct gtu_error *err);
/* Whether --only wants an algorithm; whether --seconds and the user let the next row begin. */
bool bench_gpu_wants(const struct gpu_bench *b, unsigned algorithm);
bool bench_gpu_time_left(const struct gpu_bench *b);
/* The time of the phase @name; 0 if the run had none. */
double bench_phase_seconds(const struct gtu_algorithm_stats *s, const char *name);
void gpu_bench_print_row(const struct gpu_bench *b, const struct gpu_row *r);
void gpu_bench_json(const void *subject, FILE *to);

#endif
