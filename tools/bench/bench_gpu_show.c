// SPDX-License-Identifier: MIT
/* gtu bench gpu: prints the rows of the table, and the results as JSON. */
#include <string.h>

#include "bench_gpu.h"
#include "tools/support/gpu_options.h"
#include "tools/support/host.h"
#include "tools/support/json.h"

/*
 * Graph500's traversed edges per second: the edges of the component, an undirected one once. 0: the
 * benchmark does not define it for this algorithm.
 */
static double teps(const struct gpu_row *r)
{
	if (strcmp(r->algorithm, "bfs") && strcmp(r->algorithm, "sssp"))
		return 0;
	return r->edges / r->seconds / (r->directed ? 1 : 2);
}

void gpu_bench_print_row(const struct gpu_bench *b, const struct gpu_row *r)
{
	double n = r->runs;

	printf("%-4s %-18s %-8s %10.2f %9.2f %9.2f %6.1f %6.1f%% %9.1f %10.2f %10.2f", r->algorithm, r->config,
	       gtu_kernel_name(r->kernel), 1e3 * r->seconds / n, 1e3 * r->min, 1e3 * r->max, r->iterations / n,
	       b->ceiling > 0 ? 100e-9 * r->list_bytes / r->seconds / b->ceiling : 0, 1e-6 * r->edges / r->seconds,
	       1e-9 * r->list_bytes / n, 1e-9 * r->cached_bytes / n);
	if (teps(r) > 0)
		printf(" %9.1f", 1e-6 * teps(r));
	else
		printf(" %9s", "-");
	printf(" %10.2f %9.2f %9.2f %9.2f %9.2f\n", 1e3 * r->cold_seconds, 1e3 * r->place_seconds, 1e3 * r->cache_seconds,
	       1e3 * r->setup_seconds, 1e3 * r->result_seconds);
	fflush(stdout);
}

static void json_row(struct json *j, const struct gpu_bench *b, const struct gpu_row *r)
{
	double n = r->runs;

	json_begin_object(j, NULL);
	json_string(j, "graph", r->graph);
	json_string(j, "algorithm", r->algorithm);
	json_string(j, "kernel", gtu_kernel_name(r->kernel));
	gpu_json_placement(j, &r->placement);
	json_u64(j, "gpu_memory", r->gpu_memory);
	json_u64(j, "runs", r->runs);
	json_double(j, "seconds", r->seconds / n);
	json_double(j, "seconds_min", r->min);
	json_double(j, "seconds_max", r->max);
	json_double(j, "seconds_whole_run", r->phase_seconds / n);
	json_double(j, "seconds_cold", r->cold_seconds);
	json_begin_object(j, "preparation");
	json_double(j, "place", r->place_seconds);
	json_double(j, "cache", r->cache_seconds);
	json_double(j, "setup", r->setup_seconds);
	json_double(j, "result", r->result_seconds);
	json_end_object(j);
	if (teps(r) > 0)
		json_double(j, "teps", teps(r));
	json_double(j, "iterations", r->iterations / n);
	json_double(j, "edges", r->edges / n);
	json_double(j, "list_bytes_read", r->list_bytes / n);
	json_double(j, "cached_bytes_read", r->cached_bytes / n);
	json_double(j, "read_amplification", r->list_bytes / n / ((double)r->placement.list_bytes + 1));
	json_double(j, "link_gbps", 1e-9 * r->list_bytes / r->seconds);
	json_double(j, "share_of_link", b->ceiling > 0 ? 1e-9 * r->list_bytes / r->seconds / b->ceiling : 0);
	json_end_object(j);
}

void gpu_bench_json(const void *subject, FILE *to)
{
	const struct gpu_bench *b = subject;
	struct json j;
	unsigned i, a;

	json_start(&j, to);
	json_begin_object(&j, NULL);
	json_string(&j, "device", b->device);
	gpu_json_info(&j, gtu_get_gpu_info(b->dev));
	host_json(&j, "host");
	json_u64(&j, "link_bytes", b->link_bytes);
	json_begin_object(&j, "link_gbps");
	for (i = 1; i < GTU_EDGES_UVM; i++) {
		json_begin_object(&j, gtu_edges_name(i));
		for (a = 0; a < GTU_LINK_ACCESSES; a++)
			json_double(&j, gtu_link_access_name(a), b->link[i][a]);
		json_end_object(&j);
	}
	json_end_object(&j);
	json_begin_array(&j, "graphs");
	for (i = 0; i < b->graphs_opened; i++) {
		json_begin_object(&j, NULL);
		json_string(&j, "graph", b->opened_graph[i].name);
		json_u64(&j, "vertices", b->opened_graph[i].n);
		json_u64(&j, "edges", b->opened_graph[i].m);
		json_begin_array(&j, "sources");
		for (a = 0; a < 64; a++)
			json_u64(&j, NULL, b->opened_graph[i].source[a]);
		json_end_array(&j);
		json_end_object(&j);
	}
	json_end_array(&j);
	bench_ranks_json(&j, b->ranks, b->ranked);
	if (b->cards.rows)
		bench_cards_json(&j, &b->cards);
	json_begin_array(&j, "results");
	for (i = 0; i < b->rows; i++)
		json_row(&j, b, &b->row[i]);
	json_end_array(&j);
	json_end_object(&j);
	json_finish(&j);
}
