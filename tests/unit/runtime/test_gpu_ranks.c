// SPDX-License-Identifier: MIT
/*
 * GPUs as ranks, "cuda:0,1": the kernels as CPU code on several fake devices, which exchange data by a fake NCCL,
 * by copies between devices, or through host memory. Results are those of one device.
 */
#include <unistd.h>

#include "cards_bed.h"
#include "socket_ranks.h"

static bool far;			/* run_components() places lists in host memory */

TEST(results_on_tiny_graphs_over_nccl_match_the_reference)
{
	open_fakes();
	every = true;
	/* fewer vertices than ranks, and ranks without vertices */
	for (unsigned i = 0; i < LENGTH(lists); i++) {
		open_list(lists[i]);
		tiny_graphs(run_all);
		close_list("NCCL 2.28.9");
	}
	CHECK(nccl->sends);
}

TEST(results_on_shapes_over_nccl_match_the_reference)
{
	open_fakes();
	every = false;
	for (unsigned i = 0; i < LENGTH(lists); i += NEXT_LIST) {
		open_list(lists[i]);
		each_graph(path(11), run_all);
		each_graph(clique(12), run_all);
		each_graph(one_shape(300, 2500), run_all);
		close_list("NCCL 2.28.9");
	}
	CHECK(nccl->sends && nccl->gathers);
}

/* Enough iterations to divide the lists into blocks, where contributions have 32 bits, also with a rank without edges. */
TEST(pagerank_by_blocks_matches_the_reference)
{
	struct edges e = one_shape(300, 2500), p = path(3);
	struct gtu_graph *g[] = { from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4), from_edges(p.n, p.m, p.src, p.dst, GTU_UNDIRECTED, 4) };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .iterations = 12 };
	double real[300], wanted[300], change;

	open_fakes();
	for (by = GTU_EXCHANGE_NCCL; by <= GTU_EXCHANGE_HOST; by++) {
		open_list(lists[2]);
		for (unsigned i = 0; i < LENGTH(g); i++) {
			CHECK(!reference_pagerank(g[i], 0.85, 12, wanted, &change));
			OK(gtu_pagerank(over, g[i], &opt, real, NULL, &err));
			same_reals(real, wanted, g[i]->n, 1e-8, over_name);
		}
		gtu_close(over);
	}
}

/* Bitmaps of a frontier, numbers of another, and a hub at the boundary of two ranges. */
static struct edges hub(uint64_t n)
{
	struct edges e = edges(n, 3 * n);

	for (uint64_t v = 0; v < n; v++) {
		add_edge(&e, n / 2, v);
		add_edge(&e, v, (v * 7 + 3) % n);
	}
	return e;
}

TEST(results_with_a_boundary_hub_match_the_reference)
{
	open_fakes();
	every = true;
	for (unsigned i = 0; i < 2; i += NEXT_LIST) {
		open_list(lists[i]);
		each_graph(hub(600), run_all);
		close_list("NCCL");
	}
}

/* More colors than a window of 64, of vertices with one work item and with several. */
TEST(coloring_with_many_colors_matches_the_cpu)
{
	struct edges e = clique(150);

	open_fakes();
	open_list(lists[1]);
	run_coloring(from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 4));
	run_coloring(from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, 8));
	close_list("NCCL");
}

/* An undirected graph with edges in one direction only: a vertex waits for a neighbour that does not know it. */
TEST(coloring_refuses_edges_in_one_direction)
{
	uint64_t row[] = { 0, 1, 3, 5 };
	uint32_t col[] = { 1, 2, 2, 1, 1 }, color[3];
	struct gtu_graph g = { .n = 3, .m = 5, .row = row, .col = col, .edge_bytes = 4, .name = "odd" };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };

	open_fakes();
	for (unsigned i = 0; i < LENGTH(lists); i++) {
		open_list(lists[i]);
		FAILS(gtu_coloring(over, &g, &opt, color, NULL, &err), GTU_ERR_INPUT, "stored in one direction only");
		gtu_close(over);
	}
}

TEST(results_with_random_weights_match_the_reference)
{
	open_fakes();
	for (unsigned type = GTU_WEIGHT_U32; type <= GTU_WEIGHT_F64; type++) {
		open_list("cuda:0,1,2");
		run_all(weighted(300, 2500, type, GTU_UNDIRECTED, 0));
		/* distances of 8 bytes */
		run_all(weighted(300, 2500, type, GTU_DIRECTED, 1u << 30));
		close_list("NCCL");
	}
}

TEST(results_with_each_placement_match_the_reference)
{
	static const struct gtu_placement_options place[] = {
		{ .edges = GTU_EDGES_PINNED, .gpu_memory = 4000 }, { .edges = GTU_EDGES_DEVICE, .edge_bytes = 8 },
		{ .edges = GTU_EDGES_MANAGED, .separate_weights = 1 }, { .edges = GTU_EDGES_PINNED, .compressed = 1 },
	};
	struct gtu_graph *g;

	open_fakes();
	for (unsigned i = 0; i < LENGTH(place) * 2; i++) {
		g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 8, .seed = 3,
							    .random_weights = 50, .directed = i % 2 });
		open_list("cuda:0,1,2");
		OK(gtu_placement_create(over, g, &place[i / 2], &err));
		CHECK_EQ(gtu_get_placement(over)->edges, place[i / 2].edges);
		run_all(g);
		close_list("NCCL");
	}
}

/*
 * Buckets that are expanded once, of lists on the cards. Integer distances are numbers of one or two bytes, which owners take
 * from all cards.
 */
TEST(distances_by_loads_match_the_reference)
{
	static const struct {
		uint32_t type, least, direction;
		uint64_t n, m;
	} of[] = { { GTU_WEIGHT_U32, 8, GTU_UNDIRECTED, 3001, 60000 }, { GTU_WEIGHT_U32, 8, GTU_DIRECTED, 300, 2500 },
		   { GTU_WEIGHT_U32, 300, GTU_UNDIRECTED, 1000, 9000 }, { GTU_WEIGHT_U32, 8, GTU_UNDIRECTED, 3, 4 },
		   { GTU_WEIGHT_F32, 8, GTU_UNDIRECTED, 3001, 60000 },
		   /* the longest path, but no shortest one, would need more than 32 bits */
		   { GTU_WEIGHT_U32, 60000, GTU_UNDIRECTED, 72000, 90000 } };
	struct gtu_placement_options place = { .edges = GTU_EDGES_DEVICE };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };
	struct gtu_ranks_traffic traffic;

	open_fakes();
	by = GTU_EXCHANGE_LOADS;
	for (unsigned i = 0; i < LENGTH(of); i++) {
		void *mark = test_mark();
		const struct gtu_graph *g = weighted(of[i].n, of[i].m, of[i].type, of[i].direction, of[i].least);
		double *real = test_alloc(g->n, 8), *wanted = test_alloc(g->n, 8);

		opt.source = busiest(g);
		opt.delta = of[i].type == GTU_WEIGHT_U32 ? fmin(of[i].least, 5000) : (float)of[i].least / 7;
		CHECK(!reference_sssp(g, opt.source, wanted));
		for (unsigned k = 0; k < LENGTH(lists); k += of[i].n > 10000 ? LENGTH(lists) : 1) {
			open_list(lists[k]);
			place.edge_bytes = k % 2 ? 8 : 4;
			OK(gtu_placement_create(over, g, &place, &err));
			cuda->watch = "ranks_bucket";
			cuda->watched = 0;
			CHECKF(!gtu_sssp(over, g, &opt, real, NULL, &err), "%s: %s", over_name, err.text);
			cuda->watch = NULL;
			same_reals(real, wanted, g->n, 0, over_name);
			CHECKF(!cuda->watched == (of[i].type != GTU_WEIGHT_U32), "%s: %ld buckets of numbers", over_name, cuda->watched);
			/* in each bucket, of which there are two, an owner reads its numbers on each other card */
			gtu_ranks_get_traffic(over, &traffic);
			CHECKF(of[i].type != GTU_WEIGHT_U32 || traffic.value_bytes >= 2 * g->n, "%s: %llu bytes", over_name,
			       (unsigned long long)traffic.value_bytes);
			close_list("loads");
		}
		test_end(mark);
	}
}

/*
 * Steps of few vertices, which one card runs over the memories of all, if it can change them: a hub on a path ends such loops
 * for a step.
 */
TEST(one_card_runs_short_steps_over_all_cards)
{
	const uint64_t path = 40, leaves = 5000, n = 2 * path + 1 + leaves;
	struct gtu_placement_options place = { .edges = GTU_EDGES_DEVICE };
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };
	uint64_t *integer = test_alloc(n, 8), *want = test_alloc(n, 8);
	double *real = test_alloc(n, 8), *wanted = test_alloc(n, 8);
	struct edges e = edges(n, n);
	void *weight = test_alloc(n, 8);

	open_fakes();
	by = GTU_EXCHANGE_LOADS;
	/* neighbours on the path have different owners */
	for (uint64_t v = 0; v + 1 < n; v++)
		add_edge(&e, (v < 2 * path ? v : path) * 2221 % n, (v + 1) * 2221 % n);
	for (unsigned kind = 0; kind < 5; kind++) {
		static const uint32_t types[] = { GTU_WEIGHT_U32, GTU_WEIGHT_U32, GTU_WEIGHT_F32, GTU_WEIGHT_NONE, GTU_WEIGHT_F64 };
		const uint32_t type = types[kind];
		void *mark = test_mark();
		struct gtu_graph *g;

		for (uint64_t i = 0; i < e.m; i++) {
			const uint32_t w = (uint32_t)(1 + i * 7 % 50);

			if (type == GTU_WEIGHT_F64)
				((double *)weight)[i] = w / 7.0;
			else if (type == GTU_WEIGHT_F32)
				((float *)weight)[i] = (float)w / 7;
			else
				((uint32_t *)weight)[i] = w;
		}
		g = weighted_edges(n, e.m, e.src, e.dst, type, type ? weight : NULL, kind == 1 ? GTU_DIRECTED : GTU_UNDIRECTED, 4);
		CHECK(!reference_bfs(g, 0, want) && !reference_sssp(g, 0, wanted));
		place.separate_weights = kind == 1;
		for (unsigned k = 0; k < LENGTH(lists); k += NEXT_LIST) {
			struct gtu_algorithm_stats s;

			for (cuda->no_peer_atomics = 0; cuda->no_peer_atomics < 2; cuda->no_peer_atomics++) {
				open_list(lists[k]);
				place.edge_bytes = k % 4 ? 8 : 4;
				OK(gtu_placement_create(over, g, &place, &err));
				cuda->watch = "_levels_cards";
				cuda->watched = 0;
				OK(gtu_bfs(over, g, &opt, integer, &s, &err));
				same_integers(integer, want, n, over_name);
				CHECKF((cuda->watched == 0) == cuda->no_peer_atomics, "%s: %ld loops", over_name, cuda->watched);
				CHECK_EQ(s.iterations, 2 * path + 1);
				cuda->watch = "_steps_cards";
				cuda->watched = 0;
				OK(gtu_sssp(over, g, &opt, real, NULL, &err));
				same_reals(real, wanted, n, 0, over_name);
				CHECKF((cuda->watched == 0) == cuda->no_peer_atomics, "%s: %ld loops", over_name, cuda->watched);
				cuda->watch = NULL;
				close_list("loads");
			}
			cuda->no_peer_atomics = 0;
		}
		test_end(mark);
	}
}

/* A search that meets a path of more than 32 bits starts again, on all ranks. */
TEST(distances_of_long_paths_match_the_reference)
{
	struct edges e = path(139);
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };
	double real[139], wanted[139];
	uint32_t weight[139];
	struct gtu_graph *g;

	for (uint64_t i = 0; i < e.m; i++)
		weight[i] = 33000000;
	g = weighted_edges(e.n, e.m, e.src, e.dst, GTU_WEIGHT_U32, weight, GTU_UNDIRECTED, 4);
	CHECK(!reference_sssp(g, 0, wanted));
	open_fakes();
	for (by = GTU_EXCHANGE_NCCL; by <= GTU_EXCHANGE_LOADS; by += GTU_EXCHANGE_LOADS - GTU_EXCHANGE_NCCL) {
		open_list(lists[0]);
		for (unsigned k = 0; k < 3; k++) {
			opt.delta = k ? 0 : 33000000;
			OK(gtu_sssp(over, g, &opt, real, NULL, &err));
			same_reals(real, wanted, e.n, 0, over_name);
		}
		gtu_close(over);
	}
}

/* Edges between the vertices of two ranks only. */
static struct gtu_graph *two_sides(uint64_t n, uint64_t m)
{
	struct edges e = edges(n, m);
	uint32_t *weight = test_alloc(m, 4);
	uint64_t seed = 7;

	while (e.m < m) {
		weight[e.m] = 1 + (uint32_t)(test_random(&seed) % 64);
		add_edge(&e, test_random(&seed) % (n / 2), n / 2 + test_random(&seed) % (n / 2));
	}
	return weighted_edges(e.n, e.m, e.src, e.dst, GTU_WEIGHT_U32, weight, GTU_UNDIRECTED, 4);
}

/*
 * Buckets are wider where few vertices are due. After a small bucket of a large frontier they are not: else most vertices
 * are expanded before their distance is final.
 */
TEST(few_lists_are_read_twice)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_UNIFORM, .n = 1 << 16, .seed = 5,
								      .random_weights = 64 });
	struct gtu_graph *across = two_sides(1 << 16, 1 << 20);
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .source = busiest(g) };
	uint64_t *component = test_alloc(g->n, 8), bytes;
	double *real = test_alloc(g->n, 8);
	struct gtu_algorithm_stats s;

	open_fakes();
	open_list("cuda:0,1");
	OK(gtu_placement_create(over, g, &(struct gtu_placement_options){ .edges = GTU_EDGES_PINNED }, &err));
	OK(gtu_sssp(over, g, &opt, real, &s, &err));
	bytes = s.list_bytes;
	/* a slice finds the giant component; a search reads most lists */
	OK(gtu_components(over, g, &opt, component, &s, &err));
	CHECKF(s.list_bytes > 0 && s.list_bytes < g->m, "%llu bytes of a list of %llu were read for components",
	       (unsigned long long)s.list_bytes, 4ull * g->m);
	CHECKF(bytes > 4 * g->m && bytes < 8 * g->m, "%llu bytes of a list of %llu were read for distances",
	       (unsigned long long)bytes, 4ull * g->m);
	gtu_placement_destroy(over);
	OK(gtu_placement_create(over, across, &(struct gtu_placement_options){ .edges = GTU_EDGES_PINNED }, &err));
	opt.source = busiest(across);
	OK(gtu_sssp(over, across, &opt, real, &s, &err));
	gtu_close(over);
	CHECKF(s.list_bytes < 8 * across->m, "%llu bytes of a list of %llu were read, over edges between ranks",
	       (unsigned long long)s.list_bytes, 4ull * across->m);
}

/* ---- Components ------------------------------------------------------------------------------------- */

/* The components of @e over the list; returns the bytes of labels that its cards sent. *launches: the kernels that they ran. */
static uint64_t run_components(struct edges e, unsigned edge_bytes, long *launches)
{
	const struct gtu_graph *g = from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, edge_bytes);
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU };
	uint64_t *got = test_alloc(g->n, 8), *want = test_alloc(g->n, 8);
	struct gtu_ranks_traffic before, after;
	const long launched = cuda->launches;

	CHECK(!reference_components(g, want));
	memset(got, 0x55, g->n * 8);
	if (far)
		OK(gtu_placement_create(over, g, &(struct gtu_placement_options){ .edges = GTU_EDGES_PINNED }, &err));
	gtu_ranks_get_traffic(over, &before);
	CHECKF(!gtu_components(over, g, &opt, got, NULL, &err), "%s: %s", over_name, err.text);
	gtu_ranks_get_traffic(over, &after);
	if (far)
		gtu_placement_destroy(over);
	same_integers(got, want, g->n, over_name);
	if (launches)
		*launches = cuda->launches - launched;
	return after.value_bytes - before.value_bytes;
}

/* A search reaches the dense part, or more; the list has @size cards. */
static void components_of_islands(uint32_t size)
{
	const uint64_t n = 1100;
	uint64_t bytes;

	/* nothing outside: no labels are sent */
	CHECK_EQ(run_components(islands(n, 301, 0, 0), 4, NULL), 0);
	/* the higher end of each pair is no root any more, for its ranks at most */
	bytes = run_components(islands(n, 301, 1, 3), 8, NULL);
	CHECKF(bytes && bytes <= 2 * 3 * 8 * (size - 1ull), "%llu bytes", (unsigned long long)bytes);
	/* the lowest vertex is outside */
	CHECK(run_components(islands(n, 301, 1, 1), 4, NULL));
	CHECK(run_components(islands(n, 301, 2, 1), 4, NULL));
	CHECK(run_components(islands(n, n / 2, 12, 0), 8, NULL));
	CHECK(run_components(islands(n, 31, 15, 1), 4, NULL));
	/* so many are no roots that all labels are sent */
	CHECK(run_components(islands(n, 64, 0, 200), 4, NULL) >= 4 * n);
	/* fewer vertices than cards, and a hub at a boundary */
	run_components(islands(4, 1, 1, 0), 4, NULL);
	run_components(hub(600), 4, NULL);
}

TEST(components_outside_of_a_search_match_the_reference)
{
	static const char *const list[] = { "cuda:0,1", "cuda:0,1,2,3,4", "cuda:2,cuda:0,1", "cuda:all" };
	uint32_t rank, size;

	open_fakes();
	for (by = GTU_EXCHANGE_NCCL; by <= GTU_EXCHANGE_HOST; by++)
		for (unsigned i = 0; i < LENGTH(list); i++) {
			void *mark = test_mark();

			open_list(list[i]);
			gtu_ranks_of(over, &rank, &size);
			components_of_islands(size);
			gtu_close(over);
			test_end(mark);
		}
}

/*
 * Two cards each run eight kernels at most if a search of one level reaches all vertices with edges: one of the placement, five of
 * the search, and two to label own vertices.
 */
TEST(components_of_one_search_take_at_most_8_kernels)
{
	long reached, outside;

	open_fakes();
	by = GTU_EXCHANGE_LOADS;
	open_list("cuda:0,1");
	run_components(islands(1100, 301, 0, 0), 4, &reached);
	run_components(islands(1100, 301, 0, 1), 4, &outside);
	CHECKF(reached <= 2 * 8 && outside > reached, "%ld kernels, %ld", reached, outside);
	close_list("loads");
}

/* A slice of the lists, and then those outside the giant component, which may be one of many or cross no card. */
TEST(components_by_slices_match_the_reference)
{
	open_fakes();
	far = true;
	for (by = GTU_EXCHANGE_NCCL; by <= GTU_EXCHANGE_LOADS; by++) {
		open_list("cuda:0,1,2");
		run_components(islands(1100, 301, 0, 0), 4, NULL);
		run_components(islands(1100, 301, 2, 3), 8, NULL);
		run_components(islands(1100, 64, 0, 200), 4, NULL);
		run_components(islands(1100, 550, 12, 270), 4, NULL);
		run_components(clique(12), 4, NULL);
		run_components(path(300), 4, NULL);
		run_components(islands(4, 1, 1, 0), 4, NULL);
		gtu_close(over);
	}
	far = false;
}

/* ---- Processes ----------------------------------------------------------------------------------------- */

TEST(results_over_local_cards_match_the_reference)
{
	struct socket_ranks alone = { .size = 1 };
	struct gtu_ranks one = { .bytes = sizeof(one), .size = 1, .context = &alone, .broadcast = socket_broadcast,
				 .all_gather = socket_all_gather, .all_to_all_v = socket_all_to_all_v,
				 .all_reduce = socket_all_reduce, .barrier = socket_barrier };

	open_fakes();
	over_name = "cuda:local";
	OK(gtu_open_ranks("cuda:local", &one, &over, &err));
	OK(gtu_ranks_set_exchange(over, GTU_EXCHANGE_NCCL, &err));
	tiny_graphs(run_all);
	each_graph(one_shape(200, 1500), run_all);
	run_components(islands(1100, 301, 12, 3), 4, NULL);
	close_list("NCCL");
}

TEST_MAIN
