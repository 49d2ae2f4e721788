// SPDX-License-Identifier: MIT
/*
 * Measures BFS and PageRank over a Kronecker graph in the laboratory: simulated warp instructions
 * and sector requests per second of one core, and the share of time in each part, by sampling.
 */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "bench_lab.h"
#include "tools/support/cli.h"
#include "gtu/graph.h"
#include "tools/support/json.h"
#include "firmware-model/lab/kernels/kernels.h"
#include "tools/support/atomic_file.h"

#define CASES 4

struct result {
	const char *name;
	struct lab_stats stats;
	double seconds;			/* CPU time */
	uint64_t samples[LAB_PARTS];
};

struct bench {
	const struct gtu_graph *g;
	struct lab *lab;
	struct lab_csr_args a;
	struct result result[CASES];
	unsigned results;
	uint64_t graph_bytes, lab_bytes;
	uint32_t root;
};

static const volatile uint8_t *sampled;
static volatile uint64_t samples[LAB_PARTS];

static void take_sample(int signal)
{
	(void)signal;
	samples[*sampled]++;
}

static void sampling(const struct lab *lab)
{
	struct itimerval every = { { 0, lab ? 1000 : 0 }, { 0, lab ? 1000 : 0 } };
	struct sigaction act = { .sa_handler = take_sample, .sa_flags = SA_RESTART };
	unsigned i;

	if (lab) {
		for (i = 0; i < LAB_PARTS; i++)
			samples[i] = 0;
		sampled = lab_part(lab);
		sigaction(SIGPROF, &act, NULL);
	}
	setitimer(ITIMER_PROF, &every, NULL);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int arrays(struct bench *b, struct gtu_error *err)
{
	const struct gtu_graph *g = b->g;
	struct lab_csr_args *a = &b->a;
	uint64_t n = g->n, v;
	uint32_t *row;
	int rc;

	a->n = (uint32_t)n;
	a->m = (uint32_t)g->m;
	rc = lab_alloc(b->lab, "row", 4 * (n + 1), LAB_DEVICE, &a->row, err);
	rc = rc ? rc : lab_map(b->lab, "col", g->col, 4 * g->m, LAB_DEVICE, &a->col, err);
	rc = rc ? rc : lab_alloc(b->lab, "rank", 4 * n, LAB_DEVICE, &a->rank, err);
	rc = rc ? rc : lab_alloc(b->lab, "next", 4 * n, LAB_DEVICE, &a->next, err);
	rc = rc ? rc : lab_alloc(b->lab, "level", 4 * n, LAB_DEVICE, &a->level, err);
	if (rc)
		return rc;
	row = a->row.data;
	for (v = 0; v <= n; v++)
		row[v] = (uint32_t)g->row[v];
	for (v = 0; v < n; v++)
		if (row[v + 1] - row[v] > row[b->root + 1] - row[b->root])
			b->root = (uint32_t)v;
	return 0;
}

static int bfs(struct bench *b, const struct gtu_progress *progress, struct gtu_error *err)
{
	struct lab_launch l = { &lab_bfs_level, &b->a, (b->a.n + 255ull) / 256, 256, progress };
	uint32_t *level = b->a.level.data, v;
	bool more = true;
	int rc = 0;

	for (v = 0; v < b->a.n; v++)
		level[v] = v == b->root ? 0 : LAB_BFS_INF;
	for (b->a.current = 0; more && !rc; b->a.current++) {
		rc = lab_run(b->lab, &l, NULL, err);
		more = false;
		for (v = 0; v < b->a.n && !more; v++)
			more = level[v] == b->a.current + 1;
	}
	return rc;
}

static int pagerank(struct bench *b, const struct lab_kernel *k, unsigned per_block,
		    const struct gtu_progress *progress, struct gtu_error *err)
{
	struct lab_launch l = { k, &b->a, (b->a.n + per_block - 1ull) / per_block, 256, progress };
	float *rank = b->a.rank.data;
	uint32_t v;

	for (v = 0; v < b->a.n; v++)
		rank[v] = 1.0f / (float)b->a.n;
	memset(b->a.next.data, 0, 4ull * b->a.n);
	return lab_run(b->lab, &l, NULL, err);
}

static int measure(struct bench *b, const char *name, unsigned which, const struct gtu_progress *progress,
		   struct gtu_error *err)
{
	struct result *r = &b->result[b->results++];
	struct lab_stats before = *lab_stats(b->lab);
	double start = cpu_seconds();
	unsigned i;
	int rc;

	r->name = name;
	sampling(b->lab);
	rc = !which ? bfs(b, progress, err) :
	     which == 1 ? pagerank(b, &lab_pr_push_wm, 8, progress, err) :
	     pagerank(b, &lab_pr_push_vm, 256, progress, err);
	sampling(NULL);
	r->seconds = cpu_seconds() - start;
	lab_stats_add(&r->stats, &before, lab_stats(b->lab));
	for (i = 0; i < LAB_PARTS; i++)
		r->samples[i] = samples[i];
	return rc;
}

static uint64_t sectors_of(const struct lab_stats *s)
{
	return s->sectors[LAB_LOAD] + s->sectors[LAB_STORE] + s->sectors[LAB_ATOMIC];
}

static uint64_t l2_of(const struct lab_stats *s)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < LAB_STATUSES; i++)
		n += s->l2_read[i] + s->l2_write[i];
	return n;
}

static double share(const struct result *r, unsigned part)
{
	uint64_t all = 0;
	unsigned i;

	for (i = 0; i < LAB_PARTS; i++)
		all += r->samples[i];
	return all ? (double)r->samples[part] / (double)all : 0;
}

static void print_results(const struct bench *b)
{
	unsigned i, p;

	printf("%s: %s, %" PRIu64 " vertices, %" PRIu64 " edges\n\n", lab_machine_of(b->lab)->name, b->g->name, b->g->n,
	       b->g->m);
	printf("%-24s %9s %10s %9s %9s %9s   %s\n", "kernel", "seconds", "M cycles", "M warp", "M sector", "M sector",
	       "share of time");
	printf("%-24s %9s %10s %9s %9s %9s  ", "", "(CPU)", "simulated", "instr/s", "requests/s", "at L2/s");
	for (p = 1; p < LAB_PARTS; p++)
		printf(" %s%s", lab_part_name[p], p + 1 < LAB_PARTS ? "," : "\n");
	for (i = 0; i < b->results; i++) {
		const struct result *r = &b->result[i];

		printf("%-24s %9.2f %10.2f %9.2f %9.1f %9.1f  ", r->name, r->seconds, (double)r->stats.cycles / 1e6,
		       (double)r->stats.warp_instructions / r->seconds / 1e6,
		       (double)sectors_of(&r->stats) / r->seconds / 1e6, (double)l2_of(&r->stats) / r->seconds / 1e6);
		for (p = 1; p < LAB_PARTS; p++)
			printf(" %3.0f%%", 100 * share(r, p));
		putchar('\n');
	}
	printf("\ntarget: 1 M warp instructions and 15 M sector requests per second. Sector requests: 32-byte sectors that\n"
	       "warps access, after the coalescer; at L2: those that reach it, whole lines if an L1 fetches them.\n");
	printf("memory: graph %.1f MB, laboratory %.1f MB: %.2f times the graph in total\n",
	       (double)b->graph_bytes / 1e6, (double)b->lab_bytes / 1e6,
	       (double)(b->graph_bytes + b->lab_bytes) / (double)b->graph_bytes);
}

static int write_results(const struct bench *b, const char *path, struct gtu_error *err)
{
	struct atomic_file w;
	struct json j;
	unsigned i, p;
	int rc = atomic_file_open(&w, path, err);

	if (rc)
		return rc;
	json_start(&j, w.file);
	json_begin_object(&j, NULL);
	json_string(&j, "machine", lab_machine_of(b->lab)->name);
	json_string(&j, "graph", b->g->name);
	json_u64(&j, "graph_bytes", b->graph_bytes);
	json_u64(&j, "lab_bytes", b->lab_bytes);
	json_begin_array(&j, "cases");
	for (i = 0; i < b->results; i++) {
		const struct result *r = &b->result[i];

		json_begin_object(&j, NULL);
		json_string(&j, "kernel", r->name);
		json_double(&j, "cpu_seconds", r->seconds);
		json_u64(&j, "cycles", r->stats.cycles);
		json_u64(&j, "warp_instructions", r->stats.warp_instructions);
		json_u64(&j, "sector_requests", sectors_of(&r->stats));
		json_u64(&j, "l2_sectors", l2_of(&r->stats));
		json_begin_object(&j, "share");
		for (p = 0; p < LAB_PARTS; p++)
			json_double(&j, lab_part_name[p], share(r, p));
		json_end_object(&j);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	json_finish(&j);
	return atomic_file_close(&w, rc, err);
}

int bench_lab(const struct bench_lab *how, const struct gtu_progress *progress, struct gtu_error *err)
{
	struct gtu_generate_options kronecker = {
		.kind = GTU_GEN_KRONECKER, .scale = (uint32_t)how->scale, .degree = 16, .seed = 1, .edge_bytes = 4,
	};
	static const char *const names[] = { "BFS, all levels", "PageRank, warp per vertex", "PageRank, thread per vertex" };
	struct gtu_graph *g = NULL;
	struct lab_machine m;
	struct bench b = { 0 };
	unsigned i;
	int rc = lab_machine_open(how->machine, &m, err);

	rc = rc ? rc : gtu_graph_generate(&kronecker, progress, &g, err);
	rc = rc ? rc : lab_create(&m, &b.lab, err);
	b.g = g;
	rc = rc ? rc : arrays(&b, err);
	for (i = 0; i < 3 && !rc; i++)
		rc = measure(&b, names[i], i, progress, err);
	if (!rc) {
		b.graph_bytes = 8 * (g->n + 1) + 4 * g->m;
		b.lab_bytes = lab_bytes(b.lab);
	}
	cli_clear_bar();
	if (!rc && (!how->json || !atomic_file_is_stdout(how->json)))
		print_results(&b);
	if (!rc && how->json)
		rc = write_results(&b, how->json, err);
	lab_destroy(b.lab);
	gtu_graph_close(g);
	return rc;
}
