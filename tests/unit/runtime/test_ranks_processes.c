// SPDX-License-Identifier: MIT
/* Ranks in processes: results, faults, bytes exchanged and memory. */
#include <malloc.h>

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
#define ALGORITHMS 7
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
};

/* A value of /proc/self/status in bytes. */
static uint64_t memory_of(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long long kib = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			sscanf(line + strlen(key), ": %llu", &kib);
	if (f)
		fclose(f);
	return kib << 10;
}

static void work(const struct gtu_ranks *ranks, struct rank_report *r, void *context)
{
	struct job job = *(struct job *)context;
	struct gtu_algorithm_stats stats;
	struct gtu_device *d = NULL;
	struct gtu_graph *part = NULL;
	struct gtu_ranks own = *ranks;
	const uint64_t before = memory_of("VmRSS");
	void *values = NULL;

	if (job.odd == ranks->rank) {
		if (job.how == ODD_GRAPH || job.how == ODD_SIZE)
			job.g = job.other;
		job.opt.source += job.how == ODD_OPTION;
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
	r->bytes = memory_of("VmHWM") - before;
	if (d)
		gtu_ranks_get_traffic(d, &r->traffic);
	if (!r->rc && job.result)
		r->rc = gtu_ranks_gather(d, part ? part : job.g, values, 8, job.result, &r->err);
	free(values);
	gtu_graph_close(part);
	gtu_close(d);
}

static void expect(const struct job *job, void *values)
{
	const struct gtu_graph *g = job->g;
	double change;

	switch (job->what) {
	case 0: CHECK(!reference_bfs(g, job->opt.source, values)); break;
	case 1: CHECK(!reference_sssp(g, job->opt.source, values)); break;
	case 2: CHECK(!reference_pagerank(g, 0.85, job->opt.iterations, values, &change)); break;
	case 3: CHECK(!reference_components(g, values)); break;
	case 4: CHECK(!reference_betweenness(g, job->opt.sources, job->opt.source_count, values)); break;
	case 5: CHECK(!reference_cores(g, values)); break;
	case 6: CHECK(!reference_labels(g, job->opt.iterations, values)); break;
	}
}

static void all_fine(uint32_t size)
{
	for (uint32_t i = 0; i < size; i++) {
		CHECKF(rank_reports[i].done, "rank %u did not end by itself", i);
		CHECKF(!rank_reports[i].rc, "rank %u of %u: %s", i, size, rank_reports[i].err.text);
	}
}

static struct gtu_graph *kronecker(uint32_t scale, bool directed)
{
	return generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = scale, .degree = 8, .seed = 1,
						       .directed = directed, .random_weights = 50 });
}

static const uint64_t sources[] = { 1, 2 };

static struct job job_of(const struct gtu_graph *g, unsigned what)
{
	return (struct job){ .g = g, .spec = "none", .what = what, .result = shared_memory((g->n + 1) * 8),
			     .opt = { .unit = GTU_WITH_NONE, .source = 1, .iterations = 4, .direction = GTU_PUSH_OR_PULL,
				      .sources = sources, .source_count = 2 } };
}

static void same_results(struct job *job, uint32_t size)
{
	void *want = test_alloc(job->g->n, 8);
	char name[64];

	expect(job, want);
	memset(job->result, 0x55, job->g->n * 8);
	run_ranks(size, work, job, 0, FAULT_NONE, 0);
	all_fine(size);
	snprintf(name, sizeof(name), "%s over %u processes%s", algorithms[job->what].name, size, job->path ? ", parts" : "");
	if (algorithms[job->what].real)
		same_reals(job->result, want, job->g->n, job->what == 1 ? 0 : 1e-9, name);
	else
		same_integers(job->result, want, job->g->n, name);
}

/* Whole graphs, and parts of a container, directed and undirected; rank 0 has all results. */
TEST(results)
{
	char path[256];

	for (unsigned directed = 0; directed < 2; directed++) {
		struct gtu_graph *g = kronecker(8, directed);

		snprintf(path, sizeof(path), "%s/k%u.gtu", test_tmpdir(), directed);
		OK(gtu_graph_save(g, path, NULL, &err));
		for (unsigned i = 0; i < LENGTH(sizes); i++)
			for (unsigned what = 0; what < ALGORITHMS; what++) {
				struct job job = job_of(g, what);

				same_results(&job, sizes[i]);
				job.path = path;
				same_results(&job, sizes[i]);
			}
	}
}

TEST(results_of_a_unit)
{
	static const uint32_t units[] = { GTU_WITH_SCU, GTU_WITH_IRU, GTU_WITH_PEG, GTU_WITH_WEAVER };
	struct gtu_graph *g = kronecker(7, false);
	char path[256];

	snprintf(path, sizeof(path), "%s/unit.gtu", test_tmpdir());
	OK(gtu_graph_save(g, path, NULL, &err));
	for (unsigned u = 0; u < LENGTH(units); u++)
		for (unsigned what = 0; what < 3; what++) {
			struct job job = job_of(g, what);

			job.spec = "model";
			job.path = path;
			job.opt.unit = units[u];
			job.opt.direction = GTU_PUSH;
			same_results(&job, 3);
		}
}

/* Fewer vertices than ranks, no edges, no vertices: some ranges are empty. */
TEST(empty_ranges)
{
	static const uint64_t src[] = { 0, 1, 2 }, dst[] = { 1, 2, 0 };
	struct gtu_graph *g[] = { from_edges(3, 3, src, dst, GTU_DIRECTED, 4), from_edges(3, 0, src, dst, GTU_UNDIRECTED, 4),
				  from_edges(3, 1, src, dst, GTU_UNDIRECTED, 8) };
	char path[256];

	for (unsigned i = 0; i < LENGTH(g); i++)
		for (unsigned what = 0; what < ALGORITHMS; what++) {
			struct job job = job_of(g[i], what);

			snprintf(path, sizeof(path), "%s/e%u.gtu", test_tmpdir(), i);
			OK(gtu_graph_save(g[i], path, NULL, &err));
			same_results(&job, 8);
			job.path = path;
			same_results(&job, 5);
		}
}

/* One device cannot do these over a part of the vertices; ranks can, because they exchange what they find. */
TEST(parts_that_one_device_refuses)
{
	struct gtu_graph *g = kronecker(8, true);
	struct gtu_algorithm_options part = { .unit = GTU_WITH_NONE, .first_vertex = 1, .end_vertex = 100 };
	double *real = test_alloc(g->n, 8);
	struct job job = job_of(g, 2);

	open_device();
	FAILS(gtu_pagerank(dev, g, &part, real, NULL, &err), GTU_ERR_UNSUPPORTED, "which ranks exchange");
	part.direction = GTU_PULL;
	FAILS(gtu_bfs(dev, g, &part, (uint64_t *)(void *)real, NULL, &err), GTU_ERR_UNSUPPORTED, "over ranks (gtu/ranks.h) it can pull");
	for (job.what = 0; job.what <= 2; job.what += 2)
		for (job.opt.direction = GTU_PUSH; job.opt.direction <= GTU_PULL; job.opt.direction++)
			same_results(&job, 3);
}

/* ---- Faults ---------------------------------------------------------------------------------------- */

/* Every rank that lives has returned an error, with a sentence that names a rank. */
static void all_failed(uint32_t size, uint32_t faulty, const char *what, unsigned at)
{
	for (uint32_t i = 0; i < size; i++) {
		if (i == faulty && !rank_reports[i].done)
			continue;
		CHECKF(rank_reports[i].rc < 0 && strstr(rank_reports[i].err.text, "rank "), "%s, fault %u in rank %u: rank %u gives "
		       "%d \"%s\"", what, at, faulty, i, rank_reports[i].rc, rank_reports[i].err.text);
	}
}

/* Each call of each algorithm fails in turn, then ends its process. */
TEST(calls_that_fail)
{
	struct gtu_graph *g = kronecker(6, true);
	unsigned at, failed;

	for (unsigned what = 0; what < ALGORITHMS; what++)
		for (enum socket_fault fault = FAULT_FAILS; fault <= FAULT_DIES; fault++) {
			for (at = failed = 0;; at++) {
				struct job job = job_of(g, what);
				const uint32_t size = at % 2 ? 4 : 3, faulty = at % size;

				job.opt.iterations = 2;
				job.opt.source_count = 1;
				run_ranks(size, work, &job, faulty, fault, at / 2);
				munmap(job.result, (g->n + 1) * 8);
				if (rank_reports[faulty].done && !rank_reports[faulty].rc)
					break;
				all_failed(size, faulty, algorithms[what].name, at);
				failed++;
			}
			CHECKF(failed > 10, "%s: only %u calls failed", algorithms[what].name, failed);
		}
}

TEST(a_rank_that_hangs)
{
	struct gtu_graph *g = kronecker(6, false);

	for (unsigned at = 0; at < 12; at += 3) {
		struct job job = job_of(g, 0);

		run_ranks(3, work, &job, 1, FAULT_HANGS, at);
		all_failed(3, 1, "bfs", at);
	}
}

static void disagree(struct job job, const char *words)
{
	job.result = NULL;
	run_ranks(3, work, &job, 0, FAULT_NONE, 0);
	for (uint32_t i = 0; i < 3; i++)
		CHECKF(rank_reports[i].rc < 0 && strstr(rank_reports[i].err.text, words) &&
		       (i == job.odd || strstr(rank_reports[i].err.text, "rank 2")),
		       "rank %u gives %d \"%s\", not \"%s\"", i, rank_reports[i].rc, rank_reports[i].err.text, words);
}

TEST(ranks_that_disagree)
{
	struct gtu_graph *g = kronecker(6, false);
	struct job job = job_of(g, 0);
	uint64_t *row = test_alloc(g->n + 1, 8);
	struct gtu_graph moved = *g;

	job.odd = 2;
	job.how = ODD_SIZE;
	job.other = kronecker(7, false);
	disagree(job, "has a graph of 128 vertices");
	/* the same sizes, but all edges leave the last vertex */
	row[g->n] = g->m;
	moved.row = row;
	job.other = &moved;
	job.how = ODD_GRAPH;
	disagree(job, "has another graph");
	job.how = ODD_OPTION;
	disagree(job, "has other options");
	job.how = ODD_ALGORITHM;
	disagree(job, "runs sssp, but rank 0 runs bfs");
	job.how = ODD_SPEC;
	disagree(job, "/dev/no-such-device");
	job.how = ODD_NONE;
	run_ranks(3, work, &job, 2, FAULT_VERSION, 0);
	for (uint32_t i = 0; i < 3; i++)
		CHECK(rank_reports[i].rc < 0 && strstr(rank_reports[i].err.text, "rank 2 runs libgtu 9"));
}

TEST(interfaces)
{
	struct gtu_graph *g = kronecker(6, false);
	struct gtu_ranks ranks = { .bytes = sizeof(ranks), .size = 1 };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_NONE };
	uint64_t first, end, *value = test_alloc(g->n, 8);
	struct gtu_device *d;
	struct gtu_graph *part;
	char path[256];

	FAILS(gtu_open_ranks("model", &ranks, &d, &err), GTU_ERR_USAGE, "lacks a function");
	ranks.finish_all_to_all_v = socket_finish_all_to_all_v;
	ranks.broadcast = socket_broadcast;
	ranks.all_gather = socket_all_gather;
	ranks.all_to_all_v = socket_all_to_all_v;
	ranks.all_reduce = socket_all_reduce;
	ranks.barrier = socket_barrier;
	FAILS(gtu_open_ranks("model", &ranks, &d, &err), GTU_ERR_USAGE, "only one of start_all_to_all_v");
	ranks.rank = 1;
	FAILS(gtu_open_ranks("model", &ranks, &d, &err), GTU_ERR_USAGE, "rank 1 of 1");
	ranks.bytes--;
	FAILS(gtu_open_ranks("model", &ranks, &d, &err), GTU_ERR_USAGE, "another version");
	/* of which no more than its size is there */
	struct gtu_ranks *shorter = test_alloc(1, 8);

	shorter->bytes = 8;
	FAILS(gtu_open_ranks("model", shorter, &d, &err), GTU_ERR_USAGE, "another version");
	OK(gtu_open("model,model", &d, &err));
	OK(gtu_ranks_range(d, g, &first, &end, &err));
	CHECK(!first && end == g->n);
	FAILS(gtu_graph_open_part(d, "x.gtu", NULL, &part, &err), GTU_ERR_USAGE, "open x.gtu whole");
	OK(gtu_ranks_gather(d, g, g->row, 8, value, &err));
	CHECK(!memcmp(value, g->row, g->n * 8));
	gtu_close(d);
	/* the part of a graph is not the graph */
	snprintf(path, sizeof(path), "%s/part.gtu", test_tmpdir());
	OK(gtu_graph_save(g, path, NULL, &err));
	OK(gtu_open("model", &d, &err));
	struct socket_ranks alone = { .size = 1 };
	struct gtu_ranks one = { .bytes = sizeof(one), .size = 1, .context = &alone, .broadcast = socket_broadcast,
				 .all_gather = socket_all_gather, .all_to_all_v = socket_all_to_all_v,
				 .all_reduce = socket_all_reduce, .barrier = socket_barrier };
	struct gtu_device *over;

	FAILS(gtu_open_ranks("model,model", &one, &over, &err), GTU_ERR_USAGE, "is a list");
	OK(gtu_open_ranks("none", &one, &over, &err));
	OK(gtu_graph_open_part(over, path, NULL, &part, &err));
	keep_graph(part);
	FAILS(gtu_bfs(d, part, &opt, value, NULL, &err), GTU_ERR_USAGE, "only one rank's edges");
	FAILS(gtu_graph_check(part, NULL, &err), GTU_ERR_UNSUPPORTED, "needs the whole graph");
	FAILS(gtu_graph_save(part, path, NULL, &err), GTU_ERR_UNSUPPORTED, "needs the whole graph");
	OK(gtu_bfs(over, part, &opt, value, NULL, &err));
	OK(gtu_graph_save_compressed(g, path, NULL, &err));
	FAILS(gtu_graph_open_part(over, path, NULL, &part, &err), GTU_ERR_UNSUPPORTED, "a compressed container");
	FAILS(gtu_graph_open_part(over, "/dev/null", NULL, &part, &err), GTU_ERR_UNSUPPORTED, "not a container");
	gtu_close(over);
	gtu_close(d);
}

/* ---- Messages of others ----------------------------------------------------------------------------- */

/* The other ranks send messages of `bytes` bytes `fill` to rank 0, whatever it sends. */
struct strangers {
	uint64_t bytes;
	int fill;
	bool lengths;			/* the next exchange is one of lengths */
};

static int stranger_exchange(void *context, const void *const *send, const uint64_t *send_bytes, void *const *receive,
			     const uint64_t *receive_bytes, struct gtu_error *e)
{
	struct strangers *s = context;

	(void)send, (void)send_bytes, (void)e;
	s->lengths = !s->lengths;
	for (unsigned i = 1; i < 4; i++)
		if (s->lengths)
			memcpy(receive[i], &s->bytes, sizeof(s->bytes));
		else
			memset(receive[i], s->fill, receive_bytes[i]);
	return 0;
}

static int stranger_gather(void *context, const void *mine, uint64_t bytes, void *all, struct gtu_error *e)
{
	(void)context, (void)e;
	for (unsigned i = 0; i < 4; i++)
		memcpy((char *)all + i * bytes, mine, bytes);
	return 0;
}

static int stranger_broadcast(void *context, uint32_t root, void *data, uint64_t bytes, struct gtu_error *e)
{
	(void)context, (void)root, (void)data, (void)bytes, (void)e;
	return 0;
}

static int stranger_reduce(void *context, enum gtu_reduction how, void *values, uint64_t count, struct gtu_error *e)
{
	(void)context, (void)how, (void)values, (void)count, (void)e;
	return 0;
}

static int stranger_barrier(void *context, struct gtu_error *e)
{
	(void)context, (void)e;
	return 0;
}

/* No length and no vertex of a message leads out of the memory of its receiver. */
TEST(messages_of_strangers)
{
	static const uint64_t lengths[] = { 1, 5, 8, 12, 16, 24, 8 << 10, 12 << 14, 1 << 20 };
	static const int fills[] = { 0, 1, 0xff };
	struct gtu_graph *g = kronecker(7, false);
	uint64_t *values = test_alloc(g->n, 8);

	for (unsigned what = 0; what < ALGORITHMS; what++)
		for (unsigned i = 0; i < LENGTH(lengths) * LENGTH(fills); i++) {
			struct strangers s = { .bytes = lengths[i / LENGTH(fills)], .fill = fills[i % LENGTH(fills)] };
			struct gtu_ranks ranks = { .bytes = sizeof(ranks), .size = 4, .context = &s,
						   .broadcast = stranger_broadcast, .all_gather = stranger_gather,
						   .all_to_all_v = stranger_exchange, .all_reduce = stranger_reduce,
						   .barrier = stranger_barrier };
			struct job job = job_of(g, what);
			struct gtu_device *d;
			int rc;

			OK(gtu_open_ranks("none", &ranks, &d, &err));
			rc = algorithms[what].run(d, g, &job.opt, values, NULL, &err);
			CHECKF(!rc || strstr(err.text, "rank"), "%s: %s", algorithms[what].name, err.text);
			gtu_close(d);
		}
}

/* ---- Traffic and memory ---------------------------------------------------------------------------- */

static uint64_t set_bytes(uint64_t range, uint64_t count)
{
	const uint64_t list = 4 * count, bitmap = (range + 63) / 64 * 8;

	return count ? 8 + (list < bitmap ? list : bitmap) : 0;
}

/*
 * The bytes that pushing ranks send: a rank sends every target once, in the level in which it sees it
 * first, as a list or a bitmap, unless the rank knows that it is reached.
 */
TEST(bytes_of_a_search)
{
	struct gtu_graph *g = kronecker(9, false);
	uint64_t *level = test_alloc(g->n, 8), first, end, last = 0;

	for (uint32_t size = 1; size <= 3; size++) {
		struct job job = job_of(g, 0);

		job.opt.direction = GTU_PUSH;
		job.opt.source = busiest(g);
		run_ranks(size, work, &job, 0, FAULT_NONE, 0);
		all_fine(size);
		CHECK(!reference_bfs(g, job.opt.source, level));
		for (uint64_t v = 0; v < g->n; v++)
			last = level[v] != GTU_UNREACHED && level[v] > last ? level[v] : last;
		for (uint32_t r = 0; r < size; r++) {
			uint8_t *seen = test_alloc(g->n, 1);
			uint64_t want = 0;

			for (uint64_t l = 0; l <= last; l++) {
				uint64_t count[3] = { 0 };

				for (uint64_t v = rank_reports[r].first; v < rank_reports[r].end; v++)
					seen[v] |= level[v] <= l;
				for (uint64_t v = rank_reports[r].first; v < rank_reports[r].end; v++) {
					if (level[v] != l)
						continue;
					gtu_graph_edges(g, v, &first, &end);
					for (; first < end; first++) {
						const uint64_t t = gtu_graph_target(g, first);

						for (uint32_t to = 0; to < size && !seen[t]; to++)
							count[to] += t >= rank_reports[to].first && t < rank_reports[to].end;
						seen[t] = 1;
					}
				}
				for (uint32_t to = 0; to < size; to++)
					want += to == r ? 0 : set_bytes(rank_reports[to].end - rank_reports[to].first, count[to]);
			}
			CHECK_EQ(rank_reports[r].traffic.vertex_bytes, want);
			CHECK_EQ(rank_reports[r].traffic.edge_bytes, 0);
			CHECK(size == 1 || want > 0);
		}
	}
}

/*
 * PageRank that pushes: sums to the owners of a column, shares to the ranks of a row; that pulls: sums to the
 * row, shares to the column; 8 bytes a vertex each.
 */
TEST(bytes_of_pagerank)
{
	struct gtu_graph *g = kronecker(9, false);
	struct job job = job_of(g, 2);

	for (uint32_t turn = 4; turn <= 17; turn++) {
		const uint32_t size = turn / 2, cols = size == 8 || size == 4 || size == 6 ? 2 : 1;
		const bool pull = turn % 2;

		job.opt.direction = pull ? GTU_PULL : GTU_PUSH;
		run_ranks(size, work, &job, 0, FAULT_NONE, 0);
		all_fine(size);
		for (uint32_t r = 0; r < size; r++) {
			uint64_t want = 0, own = rank_reports[r].end - rank_reports[r].first;

			for (uint32_t to = 0; to < size; to++)
				if (to != r && (pull ? to / cols == r / cols : to % cols == r % cols))
					want += rank_reports[to].end - rank_reports[to].first;
			want += ((pull ? size / cols : cols) - 1) * own;
			CHECK_EQ(rank_reports[r].traffic.value_bytes, 4 * 8 * want);
			/* a grid moves edges once: 8 bytes each, of which some stay */
			CHECK((cols > 1) == (rank_reports[r].traffic.edge_bytes > 0));
			CHECK(rank_reports[r].traffic.edge_bytes <= 8 * g->m);
		}
	}
}

/*
 * Components of a path: a rank sends the next one the pair of the edge between them; then a root asks for the link
 * of its link until that is vertex 0, 4 bytes each way.
 */
TEST(bytes_of_components_of_a_path)
{
	static const uint64_t want[] = { 8 + 4 + 4, 8 + 4 + 4, 4 + 4 };
	struct edges e = edges(300, 299);
	struct job job;

	for (uint64_t v = 0; v + 1 < e.n; v++)
		add_edge(&e, v, v + 1);
	job = job_of(from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4), 3);
	same_results(&job, 3);
	for (uint32_t r = 0; r < 3; r++)
		CHECK_EQ(rank_reports[r].traffic.value_bytes, want[r]);
}

/*
 * Components of a graph with a large tree: of the vertices of other ranks that a rank's edges lead to, the rank sends
 * about half, 8 bytes each. Others are sent before their edge is known to lead from that tree, or belong to small ones.
 */
TEST(bytes_of_components)
{
	struct gtu_graph *g = kronecker(10, false);

	for (unsigned i = 1; i < LENGTH(sizes); i++) {
		struct job job = job_of(g, 3);
		uint64_t sent = 0, targets = 0, first, end;

		same_results(&job, sizes[i]);
		for (uint32_t r = 0; r < sizes[i]; r++) {
			uint8_t *seen = test_alloc(g->n, 1);

			sent += rank_reports[r].traffic.bytes;
			CHECK_EQ(rank_reports[r].traffic.bytes, rank_reports[r].traffic.value_bytes);
			for (uint64_t v = rank_reports[r].first; v < rank_reports[r].end; v++)
				for (gtu_graph_edges(g, v, &first, &end); first < end; first++) {
					const uint64_t t = gtu_graph_target(g, first);

					targets += !seen[t] && (t < rank_reports[r].first || t >= rank_reports[r].end);
					seen[t] = 1;
				}
		}
		CHECKF(sent <= targets * 4 * 5 / 4, "%u ranks sent %" PRIu64 " bytes for %" PRIu64 " targets", sizes[i], sent,
		       targets);
	}
}

/* Label propagation: 8 bytes for each vertex to each other rank in an iteration, or 12 for each label that changed. */
TEST(bytes_of_labels)
{
	struct gtu_graph *g = kronecker(9, true);
	struct job job = job_of(g, 6);
	uint64_t *label[2] = { test_alloc(g->n, 8), test_alloc(g->n, 8) };

	for (uint64_t v = 0; v < g->n; v++)
		label[0][v] = v;
	same_results(&job, 5);
	for (uint32_t r = 0; r < 5; r++) {
		uint64_t want = 0, own = rank_reports[r].end - rank_reports[r].first, left = 1;

		for (unsigned i = 1; i <= job.opt.iterations && left; i++) {
			uint64_t changed = 0;

			CHECK(!reference_labels(g, i, label[i & 1]));
			if (i == 1)
				for (uint64_t v = 0; v < g->n; v++)
					label[0][v] = v;
			for (uint64_t v = left = 0; v < g->n; v++) {
				const bool differs = label[0][v] != label[1][v];

				left += differs;
				changed += differs && v >= rank_reports[r].first && v < rank_reports[r].end;
			}
			want += 4 * (12 * changed < 8 * own ? 12 * changed : 8 * own);
		}
		CHECK_EQ(rank_reports[r].traffic.value_bytes, want);
		CHECK(want > 0);
	}
}

/* The parts have about the same number of vertices and edges. */
TEST(balance)
{
	struct gtu_graph *g = kronecker(12, false);
	struct job job = job_of(g, 3);

	run_ranks(8, work, &job, 0, FAULT_NONE, 0);
	all_fine(8);
	for (uint32_t r = 0; r < 8; r++) {
		const uint64_t first = rank_reports[r].first, end = rank_reports[r].end;
		const uint64_t share = g->row[end] - g->row[first] + end - first, mean = (g->n + g->m) / 8;

		CHECKF(share < mean + mean / 4 && share > mean - mean / 4, "rank %u has %" PRIu64 " of %" PRIu64, r, share, mean);
	}
}

/*
 * Run @what over one to three processes: none grows by more than its share of the container, @own bytes for each
 * of its vertices, @any for each vertex of the graph, and 2 MiB.
 */
static void grow_by(const struct gtu_graph *g, unsigned what, uint32_t direction, double own, double any)
{
	const uint64_t whole = g->m * 4 + g->n * 8, slack = 2 << 20;
	struct job job = job_of(g, what);
	char path[256];

	snprintf(path, sizeof(path), "%s/large.gtu", test_tmpdir());
	OK(gtu_graph_save(g, path, NULL, &err));
	job.path = path;
	job.opt.direction = direction;
	for (uint32_t size = 1; size <= 3; size++) {
		const uint64_t most = whole / size + (uint64_t)(own * (double)(g->n / size) + any * (double)g->n) + slack;

		CHECK(size == 1 || most < whole);
		same_results(&job, size);
		for (uint32_t r = 0; r < size; r++)
			CHECKF(rank_reports[r].bytes <= most, "%s: rank %u of %u grew by %" PRIu64 " bytes, more than %" PRIu64,
			       algorithms[what].name, r, size, rank_reports[r].bytes, most);
		/* so that the limit can fail */
		CHECK(size > 1 || rank_reports[0].bytes > whole);
	}
}

/* The table "Besides its edges a rank holds" in Documentation/scale.md. */
TEST(memory_of_a_rank)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer's shadow memory counts as resident");
#endif
	struct gtu_generate_options uniform = { .kind = GTU_GEN_UNIFORM, .n = 1 << 16, .degree = 64, .seed = 1 };
	struct gtu_graph *g;

	/* freed memory returns to the system, so that no process uses again what its parent left */
	mallopt(M_MMAP_THRESHOLD, 1 << 16);
	g = generate(uniform);
	grow_by(g, 2, GTU_PUSH, 32, 8);
	grow_by(g, 2, GTU_PULL, 32, 8);
	/* many vertices: less than 8 bytes for each of the graph's */
	uniform.n = 1 << 20;
	uniform.degree = 4;
	grow_by(generate(uniform), 3, GTU_PUSH, 24, 0.125);
}

/* A large frontier and the windows of components go in pieces, which are under way while ranks compute. */
TEST(exchanges_overlap_computation)
{
	static const unsigned what[] = { 0, 3 };
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_UNIFORM, .n = 1 << 16, .degree = 64,
								      .seed = 1 });

	for (unsigned i = 0; i < LENGTH(what); i++) {
		struct job job = job_of(g, what[i]);

		job.opt.direction = GTU_PUSH;
		same_results(&job, 2);
		for (uint32_t r = 0; r < 2; r++) {
			const struct gtu_ranks_traffic *t = &rank_reports[r].traffic;

			CHECKF(t->waited_ns < t->exchange_ns, "%s: rank %u waited %" PRIu64 " of %" PRIu64 " ns",
			       algorithms[what[i]].name, r, t->waited_ns, t->exchange_ns);
		}
	}
}

/* ---- Generated parts --------------------------------------------------------------------------------- */

struct making {
	struct gtu_generate_options opt;
	const struct gtu_graph *whole;	/* or NULL: not compared */
};

static void make_part(const struct gtu_ranks *ranks, struct rank_report *r, void *context)
{
	const struct making *making = context;
	const struct gtu_graph *whole = making->whole;
	const uint64_t before = memory_of("VmRSS");
	struct gtu_device *d = NULL;
	struct gtu_graph *part = NULL;
	uint64_t first, bytes;

	r->rc = gtu_open_ranks("none", ranks, &d, &r->err);
	if (!r->rc)
		r->rc = gtu_graph_generate_part(d, &making->opt, NULL, &part, &r->err);
	r->bytes = memory_of("VmHWM") - before;
	if (!r->rc)
		r->rc = gtu_ranks_range(d, part, &r->first, &r->end, &r->err);
	if (!r->rc && whole) {
		first = whole->row[r->first];
		bytes = (whole->row[r->end] - first) * 4;
		if (part->n != whole->n || part->m != whole->m || part->stored != whole->stored ||
		    (part->flags & ~(uint32_t)GTU_GRAPH_PART) != whole->flags || strcmp(part->name, whole->name) ||
		    part->edge_bytes != 4 || part->weight_type != whole->weight_type)
			r->rc = gtu_fail(&r->err, GTU_ERR_FAIL, "rank %u has another head", ranks->rank);
		else if (memcmp(part->row + r->first, whole->row + r->first, (r->end - r->first + 1) * 8) ||
			 memcmp((const uint32_t *)part->col + first, (const uint32_t *)whole->col + first, bytes) ||
			 (whole->weight && memcmp((const uint32_t *)part->weight + first, (const uint32_t *)whole->weight + first,
						  bytes)))
			r->rc = gtu_fail(&r->err, GTU_ERR_FAIL, "rank %u has other edges", ranks->rank);
	}
	gtu_graph_close(part);
	gtu_close(d);
}

/* Parts that ranks generate are those of the whole graph, byte for byte, where it is cut as in a container. */
TEST(generated_parts)
{
	static const uint32_t kinds[] = { GTU_GEN_KRONECKER, GTU_GEN_UNIFORM, GTU_GEN_POWERLAW };
	uint64_t cut[9], end;

	for (unsigned i = 0; i < LENGTH(kinds) * 4; i++) {
		struct making making = { .opt = { .kind = kinds[i / 4], .scale = 13, .n = kinds[i / 4] ? 9001 : 0, .degree = 16,
						  .seed = 7, .directed = i & 1, .random_weights = i & 2 ? 9 : 0 } };
		const uint32_t size = sizes[i % LENGTH(sizes)];

		making.whole = generate(making.opt);
		run_ranks(size, make_part, &making, 0, FAULT_NONE, 0);
		all_fine(size);
		for (uint32_t r = 0; r < size; r++) {
			cut[r] = rank_reports[r].first;
			end = rank_reports[r].end;
			CHECK(r + 1 < size ? end == rank_reports[r + 1].first : end == making.whole->n);
		}
		/* the same cut as that of a container */
		struct job job = job_of(making.whole, 0);

		run_ranks(size, work, &job, 0, FAULT_NONE, 0);
		for (uint32_t r = 0; r < size; r++)
			CHECK_EQ(rank_reports[r].first, cut[r]);
	}
}

static void not_made(struct making making, int code, const char *words)
{
	run_ranks(2, make_part, &making, 0, FAULT_NONE, 0);
	for (uint32_t r = 0; r < 2; r++)
		CHECKF(rank_reports[r].rc == code && strstr(rank_reports[r].err.text, words), "%d \"%s\"", rank_reports[r].rc,
		       rank_reports[r].err.text);
}

TEST(generated_parts_that_cannot_be)
{
	struct making making = { .opt = { .kind = GTU_GEN_ROAD, .n = 100 } };
	struct gtu_device *d;
	struct gtu_graph *part;
	unsigned at;

	not_made(making, GTU_ERR_UNSUPPORTED, "road cannot be generated in parts");
	making.opt = (struct gtu_generate_options){ .kind = GTU_GEN_UNIFORM, .n = 100, .simplify = 1 };
	not_made(making, GTU_ERR_UNSUPPORTED, "uniform, simplified, cannot be generated in parts");
	making.opt.simplify = 0;
	making.opt.degree = 1e6;
	not_made(making, GTU_ERR_USAGE, "degree");
	OK(gtu_open("model,model", &d, &err));
	FAILS(gtu_graph_generate_part(d, &making.opt, NULL, &part, &err), GTU_ERR_USAGE, "generate the whole graph");
	gtu_close(d);
	/* each call fails in turn */
	making.opt.degree = 0;
	for (at = 0;; at++) {
		run_ranks(3, make_part, &making, at % 3, FAULT_FAILS, at / 3);
		if (!rank_reports[at % 3].rc)
			break;
		all_failed(3, at % 3, "generate", at);
	}
	CHECK(at > 30);
}

/* A rank holds its share of the graph, 16 bytes for each of its vertices, and messages. */
TEST(memory_of_a_generating_rank)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("the sanitizer's shadow memory counts as resident");
#endif
	struct making making = { .opt = { .kind = GTU_GEN_UNIFORM, .n = 1 << 18, .degree = 16, .seed = 1 } };
	const uint64_t whole = making.opt.n * (16 * 2 * 4 + 8), slack = 10 << 20;

	mallopt(M_MMAP_THRESHOLD, 1 << 16);
	for (uint32_t size = 1; size <= 4; size += 3) {
		const uint64_t most = (whole + 16 * making.opt.n) / size + slack;

		run_ranks(size, make_part, &making, 0, FAULT_NONE, 0);
		all_fine(size);
		for (uint32_t r = 0; r < size; r++)
			CHECKF(rank_reports[r].bytes <= most, "rank %u of %u grew by %" PRIu64 " bytes, more than %" PRIu64, r, size,
			       rank_reports[r].bytes, most);
		CHECK(size > 1 || rank_reports[0].bytes > whole);
		CHECK(size == 1 || most < whole);
	}
}

TEST_MAIN
