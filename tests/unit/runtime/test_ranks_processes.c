// SPDX-License-Identifier: MIT
/* Ranks in processes: results and faults. */
#include "libruntime/ranks/partition.h"
#include "ranks_bed.h"

/* Processes under the sanitizers start slowly: some of the numbers of ranks and of the calls that fail. */
#ifdef __SANITIZE_ADDRESS__
#define SOME	2u
#else
#define SOME	1u
#endif

/* Whole graphs, and parts of a container, directed and undirected; rank 0 has all results. */
TEST(every_number_of_ranks_matches_the_reference)
{
	char path[256];

	for (unsigned directed = 0; directed < 2; directed++) {
		struct gtu_graph *g = kronecker(8, directed);

		snprintf(path, sizeof(path), "%s/k%u.gtu", test_tmpdir(), directed);
		OK(gtu_graph_save(g, path, NULL, &err));
		for (unsigned i = 0; i < LENGTH(sizes); i += SOME)
			for (unsigned what = 0; what < ALGORITHMS; what++) {
				struct job job = job_of(g, what);

				same_results(&job, sizes[i]);
				job.path = path;
				same_results(&job, sizes[i]);
			}
	}
}

TEST(ranks_with_a_unit_match_the_reference)
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

/* Fewer vertices than ranks, and no edges: some ranges are empty. */
TEST(ranges_without_vertices_match_the_reference)
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
TEST(ranks_run_parts_that_one_device_refuses)
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

/* Each call of each algorithm fails in turn; then every third ends its process, which the others see at their next call. */
TEST(a_failed_call_ends_all_ranks)
{
	struct gtu_graph *g = kronecker(6, true);
	unsigned at, failed;

	for (unsigned what = 0; what < ALGORITHMS; what++)
		for (enum socket_fault fault = FAULT_FAILS; fault <= FAULT_DIES; fault++) {
			const unsigned step = (fault == FAULT_DIES ? 3 : 1) * SOME + SOME - 1;

			for (at = failed = 0;; at += step) {
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
			CHECKF(failed * step > 10, "%s: only %u calls failed", algorithms[what].name, failed);
		}
}

TEST(a_rank_that_hangs_ends_all_ranks)
{
	struct gtu_graph *g = kronecker(6, false);

	for (unsigned at = 0; at < 12; at += 3) {
		struct job job = job_of(g, 0);

		run_ranks(3, work, &job, 1, FAULT_HANGS, at);
		CHECKF(at || !rank_reports[1].done, "rank 1 did not hang in its first call");
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

TEST(ranks_that_disagree_are_reported)
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
	for (job.what = 8; job.what < ALGORITHMS; job.what++)
		disagree(job, "has other options");
	job.what = 0;
	job.how = ODD_ALGORITHM;
	disagree(job, "runs sssp, but rank 0 runs bfs");
	job.how = ODD_SPEC;
	disagree(job, "/dev/no-such-device");
	job.how = ODD_NONE;
	run_ranks(3, work, &job, 2, FAULT_VERSION, 0);
	for (uint32_t i = 0; i < 3; i++)
		CHECK(rank_reports[i].rc < 0 && strstr(rank_reports[i].err.text, "rank 2 runs libgtu 9"));
}

TEST(invalid_interfaces_and_parts_are_refused)
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

/*
 * The other ranks send messages of `bytes` bytes `fill` to rank 0, whatever it sends; or a `message`, after `empty`
 * exchanges without data.
 */
struct strangers {
	uint64_t bytes;
	int fill;
	const void *message;
	unsigned empty;
	bool lengths;			/* the next exchange is one of lengths */
};

static int stranger_exchange(void *context, const void *const *send, const uint64_t *send_bytes, void *const *receive,
			     const uint64_t *receive_bytes, struct gtu_error *e)
{
	struct strangers *s = context;
	const uint64_t bytes = s->empty ? 0 : s->bytes;

	(void)send, (void)send_bytes, (void)e;
	s->lengths = !s->lengths;
	for (unsigned i = 1; i < 4; i++)
		if (s->lengths)
			memcpy(receive[i], &bytes, sizeof(bytes));
		else if (s->message && receive_bytes[i])
			memcpy(receive[i], s->message, receive_bytes[i]);
		else if (receive_bytes[i])
			memset(receive[i], s->fill, receive_bytes[i]);
	s->empty -= !s->lengths && s->empty;
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

static int run_among(struct strangers *s, const struct gtu_graph *g, unsigned what)
{
	struct gtu_ranks ranks = { .bytes = sizeof(ranks), .size = 4, .context = s, .broadcast = stranger_broadcast,
				   .all_gather = stranger_gather, .all_to_all_v = stranger_exchange,
				   .all_reduce = stranger_reduce, .barrier = stranger_barrier };
	uint64_t *values = test_alloc(g->n, 8);
	struct job job = job_of(g, what);
	struct gtu_device *d;
	int rc;

	OK(gtu_open_ranks("none", &ranks, &d, &err));
	rc = algorithms[what].run(d, g, &job.opt, values, NULL, &err);
	gtu_close(d);
	return rc;
}

TEST(no_message_leads_out_of_the_receivers_memory)
{
	static const uint64_t lengths[] = { 1, 5, 8, 12, 16, 24, 8 << 10, 12 << 14, 1 << 20 };
	static const int fills[] = { 0, 1, 0xff };
	struct gtu_graph *g = kronecker(7, false);

	for (unsigned what = 0; what < ALGORITHMS; what++)
		for (unsigned i = 0; i < LENGTH(lengths) * LENGTH(fills); i++) {
			struct strangers s = { .bytes = lengths[i / LENGTH(fills)], .fill = fills[i % LENGTH(fills)] };
			const int rc = run_among(&s, g, what);

			CHECKF(!rc || strstr(err.text, "rank"), "%s: %s", algorithms[what].name, err.text);
		}
}

/* Ranks of another row of the grid send this rank a set of their vertices, of which it has no edges. */
TEST(sets_of_another_row_are_refused)
{
	static const uint32_t one_vertex[] = { 1, 0, 0 };
	struct gtu_graph *g = kronecker(7, false);

	for (unsigned what = 0; what < ALGORITHMS; what += 5) {
		/* what a search expands first; cores exchange degrees before */
		struct strangers s = { .bytes = sizeof(one_vertex), .message = one_vertex, .empty = what ? 2 : 1 };

		FAILS(run_among(&s, g, what), GTU_ERR_FAIL, "the message of rank 2 has vertices out of range");
	}
}

/* The message lies before a page that cannot be read. */
TEST(malformed_sets_are_refused)
{
	static const struct {
		uint64_t head, bytes;
		uint32_t id[5];
		int rc;
	} message[] = {
		{ 0, 0, { 0 }, 0 }, { 2, 16, { 0, 69 }, 0 }, { 1ull << 63 | 1, 24, { 0, 0, 32 }, 0 },
		/* shorter than its head, than its list and than its bitmap */
		{ 1, 5, { 0 }, GTU_ERR_FAIL }, { 1, 11, { 0 }, GTU_ERR_FAIL }, { 1ull << 63 | 1, 16, { 1 }, GTU_ERR_FAIL },
		/* more vertices than the range has: their bytes are a multiple of 2^64 */
		{ 1ull << 62, 8, { 0 }, GTU_ERR_FAIL },
		/* a vertex beyond the range, in a list and in a bitmap */
		{ 1, 12, { 70 }, GTU_ERR_FAIL }, { 1ull << 63 | 1, 24, { 0, 0, 1 << 6 }, GTU_ERR_FAIL },
	};
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char *const end = (char *)shared_memory(2 * page) + page;
	struct gtu_message from = { 0 };
	const struct gtu_outbox box = { .size = 1, .from = &from };
	struct gtu_exchange x = { .ranks.size = 1, .err = &err };
	uint64_t cut[] = { 0, 70 };
	struct gtu_part p = { .x = &x, .ranks = 1, .n = 70, .cut = cut, .end = 70, .id_bytes = 4 };

	CHECK(!mprotect(end, page, PROT_NONE));
	for (unsigned i = 0; i < LENGTH(message); i++) {
		char bytes[28];
		struct gtu_list l = { 0 };

		memcpy(bytes, &message[i].head, 8);
		memcpy(bytes + 8, message[i].id, sizeof(message[i].id));
		from = (struct gtu_message){ .data = end - message[i].bytes, .bytes = message[i].bytes };
		memcpy(from.data, bytes, from.bytes);
		CHECKF(gtu_part_receive_sets(&p, &box, GTU_RECEIVERS, &l) == message[i].rc, "message %u", i);
		CHECK(message[i].rc || l.count == (message[i].head & 0xff));
		free(l.at);
	}
}

TEST_MAIN
