/* SPDX-License-Identifier: MIT */
/* A run of each algorithm over ranks in processes, and its results. */
#ifndef GTU_RANKS_BED_H
#define GTU_RANKS_BED_H

#include "socket_ranks.h"
#include "subjects.h"

static const unsigned sizes[] = { 1, 2, 3, 5, 8 };

struct job {
	const struct gtu_graph *g;	/* whole; or path */
	const char *path;
	const char *spec;
	unsigned what;			/* index of algorithms[] */
	struct gtu_algorithm_options opt;
	void *result;			/* shared memory: rank 0's, gathered */
	uint32_t odd;			/* the rank that differs, and how */
	enum { ODD_NONE, ODD_GRAPH, ODD_SIZE, ODD_OPTION, ODD_ALGORITHM, ODD_SPEC, ODD_MEMBER } how;
	const struct gtu_graph *other;
};

typedef int algorithm_fn(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
			 void *values, struct gtu_algorithm_stats *stats, struct gtu_error *err);

/* The bed's values have 8 bytes each. */
static inline int coloring(struct gtu_device *d, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
			   void *values, struct gtu_algorithm_stats *stats, struct gtu_error *e)
{
	uint64_t first, end;
	uint32_t *color;
	int rc = gtu_ranks_range(d, g, &first, &end, e);

	if (rc)
		return rc;
	color = malloc((end - first) * 4 + 1);
	rc = gtu_coloring(d, g, opt, color, stats, e);
	for (uint64_t v = 0; v < end - first && !rc; v++)
		((uint64_t *)values)[v] = color[v];
	free(color);
	return rc;
}

static inline int stcon(struct gtu_device *d, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
			void *values, struct gtu_algorithm_stats *stats, struct gtu_error *e)
{
	uint64_t first, end, distance;
	int rc = gtu_ranks_range(d, g, &first, &end, e);

	if (!rc)
		rc = gtu_stcon(d, g, opt, &distance, stats, e);
	for (uint64_t v = 0; !rc && v < end - first; v++)
		((uint64_t *)values)[v] = distance;
	return rc;
}

#define ALGORITHMS 10
static const struct {
	const char *name;
	algorithm_fn *run;
	bool real;
} algorithms[ALGORITHMS] = {
	{ "bfs", (algorithm_fn *)(void *)gtu_bfs, false }, { "sssp", (algorithm_fn *)(void *)gtu_sssp, true },
	{ "pagerank", (algorithm_fn *)(void *)gtu_pagerank, true },
	{ "components", (algorithm_fn *)(void *)gtu_components, false },
	{ "betweenness", (algorithm_fn *)(void *)gtu_betweenness, true },
	{ "cores", (algorithm_fn *)(void *)gtu_cores, false },
	{ "labels", (algorithm_fn *)(void *)gtu_label_propagation, false },
	{ "coloring", coloring, false }, { "gcn", (algorithm_fn *)(void *)gtu_gcn, true },
	{ "stcon", stcon, false },
};

static inline uint64_t proc_bytes(const char *file, const char *key)
{
	FILE *f = fopen(file, "r");
	unsigned long long kib = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			sscanf(line + strlen(key), ": %llu", &kib);
	if (f)
		fclose(f);
	return kib << 10;
}

/* The resident memory of a process that has read each page of its program, so that none counts as growth. */
__attribute__((no_sanitize("address"))) static inline uint64_t memory_before(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], rights[8];
	unsigned long at, end;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s", &at, &end, rights) == 3 && rights[0] == 'r' && strchr(line, '/'))
			for (; at < end; at += 4096)
				(void)*(const volatile char *)at;
	if (f)
		fclose(f);
	/* exact: VmRSS lacks up to 32 pages of each processor */
	return proc_bytes("/proc/self/smaps_rollup", "Rss");
}

static inline uint64_t memory_most(void)
{
	return proc_bytes("/proc/self/status", "VmHWM");
}

static inline void work(const struct gtu_ranks *ranks, struct rank_report *r, void *context)
{
	struct job job = *(struct job *)context;
	struct gtu_algorithm_stats stats;
	struct gtu_device *d = NULL;
	struct gtu_graph *part = NULL;
	struct gtu_ranks own = *ranks;
	const uint64_t before = memory_before();
	void *values = NULL;

	if (job.odd == ranks->rank) {
		if (job.how == ODD_GRAPH || job.how == ODD_SIZE)
			job.g = job.other;
		job.opt.source += job.how == ODD_OPTION && job.what < 8;
		job.opt.target += job.how == ODD_OPTION && job.what == 9;
		job.opt.seed += job.how == ODD_OPTION && job.what == 8;
		job.what += job.how == ODD_ALGORITHM;
		if (job.how == ODD_SPEC)
			job.spec = "/dev/no-such-device";
		own.bytes -= job.how == ODD_MEMBER;
	}
	r->rc = gtu_open_ranks(job.spec, &own, &d, &r->err);
	if (!r->rc && job.path)
		r->rc = gtu_graph_open_part(d, job.path, NULL, &part, &r->err);
	if (!r->rc)
		r->rc = gtu_ranks_range(d, part ? part : job.g, &r->first, &r->end, &r->err);
	/* exactly the rank's values, so that a sanitizer sees a write beyond them */
	values = malloc((r->end - r->first) * 8 + 1);
	if (!r->rc)
		r->rc = algorithms[job.what].run(d, part ? part : job.g, &job.opt, values, &stats, &r->err);
	r->bytes = memory_most() - before;
	if (d)
		gtu_ranks_get_traffic(d, &r->traffic);
	if (!r->rc && job.result)
		r->rc = gtu_ranks_gather(d, part ? part : job.g, values, 8, job.result, &r->err);
	free(values);
	gtu_graph_close(part);
	gtu_close(d);
}

static inline void expect(const struct job *job, void *values)
{
	const struct gtu_graph *g = job->g;
	double change;
	uint32_t *color = test_alloc(g->n, 4);

	switch (job->what) {
	case 0: CHECK(!reference_bfs(g, job->opt.source, values)); break;
	case 1: CHECK(!reference_sssp(g, job->opt.source, values)); break;
	case 2: CHECK(!reference_pagerank(g, 0.85, job->opt.iterations, values, &change)); break;
	case 3: CHECK(!reference_components(g, values)); break;
	case 4: CHECK(!reference_betweenness(g, job->opt.sources, job->opt.source_count, values)); break;
	case 5: CHECK(!reference_cores(g, values)); break;
	case 6: CHECK(!reference_labels(g, job->opt.iterations, values)); break;
	case 7:
		CHECK(!gtu_coloring(NULL, g, &job->opt, color, NULL, &err));
		for (uint64_t v = 0; v < g->n; v++)
			((uint64_t *)values)[v] = color[v];
		break;
	case 9:
		CHECK(!reference_bfs(g, job->opt.source, values));
		for (uint64_t v = 0, distance = ((uint64_t *)values)[job->opt.target]; v < g->n; v++)
			((uint64_t *)values)[v] = distance;
		break;
	case 8: CHECK(!gtu_gcn(NULL, g, &job->opt, values, NULL, &err)); break;
	}
}

static inline void all_fine(uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		CHECKF(!rank_reports[i].rc, "rank %u of %u: %s", i, size, rank_reports[i].err.text);
}

static inline struct gtu_graph *kronecker(uint32_t scale, bool directed)
{
	return generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = scale, .degree = 8, .seed = 1,
						       .directed = directed, .random_weights = 50 });
}

static const uint64_t sources[] = { 1, 2 };

static inline struct job job_of(const struct gtu_graph *g, unsigned what)
{
	return (struct job){ .g = g, .spec = "none", .what = what, .result = shared_memory((g->n + 1) * 8),
			     .opt = { .unit = GTU_WITH_NONE, .source = 1, .iterations = 4, .direction = GTU_PUSH_OR_PULL,
				      .sources = sources, .source_count = 2, .features = 1, .target = 2 } };
}

static inline void same_results(struct job *job, uint32_t size)
{
	void *want = test_alloc(job->g->n, 8);
	char name[64];

	expect(job, want);
	memset(job->result, 0x55, job->g->n * 8);
	run_ranks(size, work, job, 0, FAULT_NONE, 0);
	all_fine(size);
	snprintf(name, sizeof(name), "%s over %u processes%s", algorithms[job->what].name, size, job->path ? ", parts" : "");
	if (algorithms[job->what].real)
		same_reals(job->result, want, job->g->n, job->what == 1 || job->what == 8 ? 0 : 1e-9, name);
	else
		same_integers(job->result, want, job->g->n, name);
}

/* Every rank that lives has returned an error, with a sentence that names a rank. */
static inline void all_failed(uint32_t size, uint32_t faulty, const char *what, unsigned at)
{
	for (uint32_t i = 0; i < size; i++) {
		if (i == faulty && !rank_reports[i].done)
			continue;
		CHECKF(rank_reports[i].rc < 0 && strstr(rank_reports[i].err.text, "rank "), "%s, fault %u in rank %u: rank %u gives "
		       "%d \"%s\"", what, at, faulty, i, rank_reports[i].rc, rank_reports[i].err.text);
	}
}

#endif
