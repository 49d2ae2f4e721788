// SPDX-License-Identifier: MIT
/* Ranks in processes: bytes exchanged, memory, and parts of generated graphs. */
#include <malloc.h>

#include "libruntime/support/coloring.h"
#include "ranks_bed.h"

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
TEST(a_search_sends_every_target_once)
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
TEST(pagerank_sends_8_bytes_per_vertex_in_its_grid)
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
TEST(components_of_a_path_send_a_pair_and_links)
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
TEST(components_send_about_half_of_their_remote_targets)
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
TEST(label_propagation_sends_all_or_changed_labels)
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

/* Coloring: the key of each vertex to each other rank, 8 bytes; its color to each with a later neighbour, 12 bytes. */
TEST(coloring_sends_each_rank_keys_and_due_colors)
{
	struct gtu_graph *g = kronecker(9, false);
	uint64_t *key = test_alloc(g->n, 8), sum = 0;

	for (uint64_t v = 0; v < g->n; v++)
		key[v] = gtu_color_key(g->row[v + 1] - g->row[v], v);
	for (unsigned i = 0; i < LENGTH(sizes); i++) {
		struct job job = job_of(g, 7);

		same_results(&job, sizes[i]);
		for (uint32_t r = 0; r < sizes[i]; r++) {
			const uint64_t own = rank_reports[r].end - rank_reports[r].first;
			uint64_t want = 8 * own * (sizes[i] - 1), first, end;

			for (uint64_t v = rank_reports[r].first; v < rank_reports[r].end; v++) {
				bool due[SOCKET_RANKS_MAX] = { false };

				for (gtu_graph_edges(g, v, &first, &end); first < end; first++) {
					const uint64_t u = gtu_graph_target(g, first);

					for (uint32_t to = 0; to < sizes[i]; to++)
						due[to] |= to != r && u != v && gtu_color_before(key, v, u) &&
							   u >= rank_reports[to].first && u < rank_reports[to].end;
				}
				for (uint32_t to = 0; to < sizes[i]; to++)
					want += 12 * due[to];
			}
			CHECK_EQ(rank_reports[r].traffic.value_bytes, want);
			CHECK_EQ(rank_reports[r].traffic.bytes, want);
			sum += want;
		}
	}
	CHECK(sum > 0);
}

/* ST-connectivity along a path: a rank sends the first vertex of the next one, a set of 8 + 4 bytes, and no other one. */
TEST(stcon_sends_only_the_vertices_at_boundaries)
{
	struct edges e = edges(300, 299);
	struct job job;

	for (uint64_t v = 0; v + 1 < e.n; v++)
		add_edge(&e, v, v + 1);
	job = job_of(from_edges(e.n, e.m, e.src, e.dst, GTU_DIRECTED, 4), 9);
	job.opt.source = 0;
	job.opt.target = e.n - 1;
	same_results(&job, 3);
	for (uint32_t r = 0; r < 3; r++) {
		CHECK_EQ(rank_reports[r].traffic.vertex_bytes, r < 2 ? 12 : 0);
		CHECK_EQ(rank_reports[r].traffic.bytes, rank_reports[r].traffic.vertex_bytes);
	}
}

/* A convolution of F features: 8 (F + 1) bytes of each vertex to each other rank. */
TEST(a_convolution_sends_its_features_to_each_rank)
{
	struct gtu_graph *g = kronecker(8, true);

	for (unsigned i = 0; i < LENGTH(sizes); i++) {
		struct job job = job_of(g, 8);

		same_results(&job, sizes[i]);
		for (uint32_t r = 0; r < sizes[i]; r++) {
			CHECK_EQ(rank_reports[r].traffic.value_bytes,
				 8 * 2 * (rank_reports[r].end - rank_reports[r].first) * (sizes[i] - 1));
			CHECK_EQ(rank_reports[r].traffic.bytes, rank_reports[r].traffic.value_bytes);
		}
	}
}

TEST(parts_have_similar_sums_of_vertices_and_edges)
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
TEST(a_rank_holds_no_more_memory_than_documented)
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
		for (uint32_t r = 0; r < 2; r++)
			CHECKF(rank_reports[r].polls > 4, "%s: rank %u polled only %u times", algorithms[what[i]].name, r,
			       rank_reports[r].polls);
		CHECKF(rank_reports[0].polled + rank_reports[1].polled, "%s: no exchange ended before a rank waited for it",
		       algorithms[what[i]].name);
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
	const uint64_t before = memory_before();
	struct gtu_device *d = NULL;
	struct gtu_graph *part = NULL;
	uint64_t first, bytes;

	r->rc = gtu_open_ranks("none", ranks, &d, &r->err);
	if (!r->rc)
		r->rc = gtu_graph_generate_part(d, &making->opt, NULL, &part, &r->err);
	r->bytes = memory_most() - before;
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

/* Byte for byte, and cut where a container is cut. */
TEST(generated_parts_are_those_of_the_whole_graph)
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

TEST(parts_that_cannot_be_generated_are_refused)
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
TEST(a_generating_rank_holds_only_its_share)
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
