// SPDX-License-Identifier: MIT
/* Traversal over the link: results against the reference, requests against a hand calculation. */
#include "firmware-model/lab/kernels/emogi.h"
#include "firmware-model/lab/kernels/subway.h"
#include "lab_test.h"

static uint32_t result[4096];

static struct gtu_graph *small_graph(uint32_t kind, uint32_t edge_bytes)
{
	return generated((struct gtu_generate_options){ .kind = kind, .scale = 9, .n = 700, .degree = kind == GTU_GEN_ROAD ? 0 : 6,
							.seed = 3, .edge_bytes = edge_bytes, .random_weights = 60 });
}

TEST(every_variant_matches_the_reference)
{
	static const uint32_t kinds[] = { GTU_GEN_KRONECKER, GTU_GEN_UNIFORM, GTU_GEN_ROAD };
	static const enum lab_expect_what what[] = { LAB_LEVELS, LAB_DISTANCES, LAB_COMPONENTS, LAB_RANKS };
	struct lab_machine v100 = machine_of("v100", FEWER_SMS);
	struct lab_emogi_counts s;
	unsigned k, a, x, bytes;

	/* 4-byte edges are in unified memory, larger than the device memory for it */
	CHECK(!lab_machine_set(&v100, "uvm.block=64 KiB", &err) && !lab_machine_set(&v100, "uvm.page=4 KiB", &err) &&
	      !lab_machine_set(&v100, "uvm.block=8 KiB", &err) && !lab_machine_set(&v100, "uvm.memory=16 KiB", &err));
	for (k = 0; k < 3; k++)
		for (bytes = 4; bytes <= 8; bytes += 4) {
			struct gtu_graph *g = small_graph(kinds[k], bytes);

			for (a = 0; a < LAB_EMOGI_ALGORITHMS; a++)
				for (x = 0; x < LAB_VARIANTS; x++) {
					struct lab_emogi config = { x, a, g, 5, 4, bytes == 4, bytes == 8 };

					memset(result, 0xab, sizeof(result));
					CHECKF(!lab_emogi_run(&v100, &config, NULL, result, &s, &err), "%s", err.text);
					CHECK(s.lab.uvm_evictions > 0 || bytes == 8 || g->m * 4 <= 16384);
					CHECKF(same(g, what[a], 5, 4, result), "%s %s of %u bytes on %s differs", lab_emogi_variant_name[x],
					       lab_emogi_algorithm_name[a], bytes, g->name);
				}
			gtu_graph_close(g);
		}
}

/* Subway, in one part and, with little memory, in many: equal results, every active edge moved once. */
TEST(subway_matches_the_reference)
{
	static const enum lab_expect_what what[] = { LAB_LEVELS, LAB_DISTANCES, LAB_COMPONENTS };
	struct lab_machine v100 = machine_of("v100", FEWER_SMS);
	struct gtu_graph *g = small_graph(GTU_GEN_KRONECKER, 4);
	struct lab_subway_counts whole, parts;
	unsigned a;

	for (a = 0; a < 3; a++) {
		struct lab_subway config = { a, g, 5, 1 << 20, 94, false };

		memset(result, 0xab, sizeof(result));
		CHECKF(!lab_subway_run(&v100, &config, NULL, result, &whole, &err), "%s", err.text);
		CHECKF(same(g, what[a], 5, 0, result), "%s differs", lab_emogi_algorithm_name[a]);
		CHECK_EQ(whole.parts, whole.iterations);
		CHECK(whole.rounds > whole.parts);	/* the last round of a part changes nothing */
		CHECK(a != LAB_EMOGI_CC || whole.iterations == 1);	/* the part is the graph */
		CHECK(whole.edges >= (a == LAB_EMOGI_CC ? g->m : 1) && whole.cpu_cycles && whole.copy_cycles);
		config.memory = 2048;
		config.apart = true;
		memset(result, 0xab, sizeof(result));
		CHECKF(!lab_subway_run(&v100, &config, NULL, result, &parts, &err), "%s", err.text);
		CHECKF(same(g, what[a], 5, 0, result), "%s in parts differs", lab_emogi_algorithm_name[a]);
		CHECK(parts.parts > 2 * parts.iterations);
		CHECK(a != LAB_EMOGI_BFS || parts.edges == whole.edges);
	}
	gtu_graph_close(g);
	g = small_graph(GTU_GEN_KRONECKER, 8);
	struct lab_subway wide = { LAB_EMOGI_BFS, g, 5, 1 << 20, 94, false };
	CHECK_EQ(lab_subway_run(&v100, &wide, NULL, result, &whole, &err), GTU_ERR_USAGE);
	gtu_graph_close(g);
}

/* Vertex 0 has 9 edges and is unreached; vertex 1 has 64 edges: bytes 72 to 583 of the list. */
TEST(request_sizes_match_the_paper)
{
	static const uint64_t want[LAB_VARIANTS][5] = {
		{ 0, 17, 0, 0, 0 },	/* sectors 2 to 18 */
		{ 0, 1, 1, 2, 2 }, /* 72-327: 64 128 96; 328-583, first sector present: 32 128 96 */
		{ 0, 0, 1, 1, 3 },	/* 72-255: 64 128; 128 128; 96 */
	};
	uint64_t src[73], dst[73];
	struct gtu_read_options o = { .direction = GTU_DIRECTED, .edge_bytes = 8 };
	struct gtu_graph *g;
	struct lab_machine v100 = machine_of("v100", NULL);
	struct lab_emogi_counts s;
	unsigned i, x;

	for (i = 0; i < 73; i++) {
		src[i] = i >= 9;
		dst[i] = i + 1;
	}
	CHECKF(!gtu_graph_from_edges(74, 73, src, dst, GTU_WEIGHT_NONE, NULL, &o, &g, &err), "%s", err.text);
	for (x = 0; x < LAB_VARIANTS; x++) {
		struct lab_emogi config = { x, LAB_EMOGI_BFS, g, 1, 0, false, x == LAB_NAIVE };

		memset(result, 0xab, sizeof(result));
		CHECKF(!lab_emogi_run(&v100, &config, NULL, result, &s, &err), "%s", err.text);
		for (i = 0; i < LAB_SIZES; i++)
			CHECKF(s.lab.link_request[i] == want[x][i], "%s: %llu requests of %u bytes", lab_emogi_variant_name[x],
			       (unsigned long long)s.lab.link_request[i], 32 * i);
		for (i = 1; i < LAB_SIZES; i++)
			CHECK_EQ(s.monitor[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, i)], want[x][i]);
		CHECK_EQ(result[73], 1);
		CHECK_EQ(result[0], LAB_NEVER);
	}
	gtu_graph_close(g);
}

/* A graph whose vertex 0 has the edges to 1 to 64. */
static struct gtu_graph *star(uint32_t edge_bytes)
{
	const struct gtu_read_options o = { .direction = GTU_DIRECTED, .edge_bytes = edge_bytes };
	uint64_t src[64] = { 0 }, dst[64];
	struct gtu_graph *g;
	unsigned i;

	for (i = 0; i < 64; i++)
		dst[i] = i + 1;
	CHECKF(!gtu_graph_from_edges(65, 64, src, dst, GTU_WEIGHT_NONE, NULL, &o, &g, &err), "%s", err.text);
	return g;
}

/*
 * First part: 4 lines of edges, 1 of degrees and of offsets, 8 bytes for the vertex, 256 bytes written
 * and read before. Second: vertices 1 to 64 without edges, 5 lines of degrees and of offsets;
 * the order of their warps may make the CPU read a line again.
 */
TEST(subways_cpu_moves_whole_lines)
{
	struct lab_machine v100 = machine_of("v100", NULL);
	struct gtu_graph *g = star(4);
	struct lab_subway config = { LAB_EMOGI_BFS, g, 0, 1 << 20, 1.53, false };	/* a byte a cycle */
	struct lab_subway_counts s;
	uint64_t least;

	CHECKF(!lab_subway_run(&v100, &config, NULL, result, &s, &err), "%s", err.text);
	CHECK_EQ(s.parts, 2);
	CHECK_EQ(s.edges, 64);
	least = 6 * 64 + 8 + 2 * 256 + 10 * 64 + 64 * 8;
	CHECKF(s.cpu_cycles >= least && s.cpu_cycles <= least + 4 * 64 + 2, "%llu cycles", (unsigned long long)s.cpu_cycles);
	gtu_graph_close(g);
}

/* Of 4-byte values of the star's vertices, two warp loads and stores of 5 sectors each. */
TEST(values_apart_have_a_line_each)
{
	struct lab_machine v100 = machine_of("v100", NULL);
	struct lab_emogi_counts near, apart;
	struct gtu_graph *g = star(8);
	struct lab_emogi config = { LAB_MERGED, LAB_EMOGI_BFS, g, 0, 0, false, false };

	CHECKF(!lab_emogi_run(&v100, &config, NULL, result, &near, &err), "%s", err.text);
	config.apart = true;
	CHECKF(!lab_emogi_run(&v100, &config, NULL, result, &apart, &err), "%s", err.text);
	CHECK_EQ(apart.lab.sectors[LAB_LOAD], near.lab.sectors[LAB_LOAD] + 64 - 10);
	CHECK_EQ(apart.lab.sectors[LAB_STORE], near.lab.sectors[LAB_STORE] + 64 - 10);
	CHECK_EQ(near.lab.transactions[LAB_LOAD] + 2 * 32 - 4, apart.lab.transactions[LAB_LOAD]);
	CHECK_EQ(apart.lab.link_bytes, near.lab.link_bytes);
	gtu_graph_close(g);
}

/* sm.atomics = load: equal results, every atomic counted as a load, through the L1. */
TEST(atomics_can_be_timed_as_loads)
{
	struct lab_machine block = machine_of("v100", FEWER_SMS), load = block;
	struct gtu_graph *g = small_graph(GTU_GEN_UNIFORM, 8);
	struct lab_emogi config = { LAB_ALIGNED, LAB_EMOGI_PR, g, 0, 2, false, false };
	struct lab_emogi_counts a, l;

	CHECKF(!lab_machine_set(&load, "sm.atomics=load", &err), "%s", err.text);
	CHECKF(!lab_emogi_run(&block, &config, NULL, result, &a, &err), "%s", err.text);
	memset(result, 0xab, sizeof(result));
	CHECKF(!lab_emogi_run(&load, &config, NULL, result, &l, &err), "%s", err.text);
	CHECKF(same(g, LAB_RANKS, 0, 2, result), "ranks differ");
	CHECK(a.lab.accesses[LAB_ATOMIC] > 0);
	CHECK_EQ(l.lab.accesses[LAB_ATOMIC], 0);
	CHECK_EQ(l.lab.accesses[LAB_LOAD], a.lab.accesses[LAB_LOAD] + a.lab.accesses[LAB_ATOMIC]);
	CHECK_EQ(l.lab.accesses[LAB_STORE], a.lab.accesses[LAB_STORE]);
	CHECK(!lab_machine_set(&load, "coalesce.atomic=64 B", &err));
	gtu_graph_close(g);
}

TEST(array_copy_request_sizes_match_the_paper)
{
	struct lab_machine v100 = machine_of("v100", NULL);
	struct lab_emogi_counts s;

	CHECKF(!lab_emogi_array(&v100, LAB_ALIGNED, false, 65536, NULL, &s, &err), "%s", err.text);
	CHECK_EQ(s.lab.link_request[4], 2048);
	CHECKF(!lab_emogi_array(&v100, LAB_MERGED, false, 65536, NULL, &s, &err), "%s", err.text);
	CHECK_EQ(s.lab.link_request[1], 2048);
	CHECK_EQ(s.lab.link_request[3], 2048);
	CHECKF(!lab_emogi_array(&v100, LAB_NAIVE, false, 65536, NULL, &s, &err), "%s", err.text);
	CHECK_EQ(s.lab.link_request[1], 8192);
	CHECK_EQ(s.lab.link_host_bytes, 2 * s.lab.link_bytes);
	/* the bytes over time, rounded for each part */
	CHECKF(lab_sum(s.part, LAB_MONITOR_PARTS) + 8 >= s.lab.link_bytes && lab_sum(s.part, LAB_MONITOR_PARTS) <= s.lab.link_bytes + 8,
	       "%llu bytes over time", (unsigned long long)lab_sum(s.part, LAB_MONITOR_PARTS));
	/* the launch at the beginning, then as many bytes in each part */
	CHECK(s.part[0] < s.part[3] && s.part[3] * 20 > s.part[4] * 19 && s.part[3] * 19 < s.part[4] * 20);
}

/* The device's monitor, request by request: in flight, completion times, reordering. */
TEST(monitor_tracks_requests_in_flight)
{
	uint64_t count[GTU_ZCM_COUNTERS] = { 0 };
	struct zcm_flight room[3];
	struct zcm z = { .count = count, .flight = room, .capacity = 3 };

	/* two lines: completed in 110 and 111 */
	zcm_stream(&z, GTU_ZCM_HOST_READ, 96, 64, 10, 100);
	zcm_stream(&z, GTU_ZCM_HOST_READ, 256, 128, 12, 8);	/* overtakes: completed in 20 */
	CHECK_EQ(zcm_in_flight(&z, 19), 3);
	CHECK_EQ(zcm_in_flight(&z, 20), 2);
	CHECK_EQ(zcm_in_flight(&z, 110), 1);
	CHECK_EQ(zcm_in_flight(&z, 111), 0);
	CHECK_EQ(count[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 1)], 2);
	CHECK_EQ(count[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 4)], 1);
	CHECK_EQ(count[GTU_ZCM_C_BYTES(GTU_ZCM_HOST_READ)], 192);
	CHECK_EQ(count[GTU_ZCM_C_FLIGHT_SUM], 208);
	CHECK_EQ(count[GTU_ZCM_C_FLIGHT_MAX], 3);
	CHECK_EQ(count[GTU_ZCM_C_TRIP(6)], 2);
	CHECK_EQ(count[GTU_ZCM_C_TRIP(3)], 1);
	/* a fourth access exceeds the capacity and completes with the last one; none is lost */
	for (unsigned i = 0; i < 4; i++)
		zcm_stream(&z, GTU_ZCM_HOST_WRITE, 128 * i, 128, 200 + i, 50);
	CHECK_EQ(zcm_in_flight(&z, 203), 4);
	CHECK_EQ(zcm_in_flight(&z, 252), 1);
	CHECK_EQ(zcm_in_flight(&z, 253), 0);
	CHECK_EQ(count[GTU_ZCM_C_FLIGHT_MAX], 4);
}

/* A request that the monitor counts but the link never carried. */
TEST(monitor_mismatch_is_reported)
{
	struct lab_monitor m;
	struct lab *lab = lab_of("v100", NULL);

	CHECKF(!lab_monitor_attach(lab, &m, &err), "%s", err.text);
	CHECKF(!lab_monitor_check(lab, &m, &err), "%s", err.text);
	zcm_stream(&m.zcm, GTU_ZCM_HOST_READ, 0, 32, 0, 1);
	CHECK_EQ(lab_monitor_check(lab, &m, &err), GTU_ERR_VERIFY);
	CHECKF(strstr(err.text, "1 requests of 32 bytes, the link 0"), "%s", err.text);
	lab_monitor_free(&m);
	lab_destroy(lab);
	lab = lab_of("gtx980", NULL);
	CHECK_EQ(lab_monitor_attach(lab, &m, &err), GTU_ERR_USAGE);
	lab_destroy(lab);
}

TEST(invalid_runs_are_rejected)
{
	struct gtu_graph *g = small_graph(GTU_GEN_UNIFORM, 4);
	struct lab_emogi config = { LAB_NAIVE, LAB_EMOGI_SSSP, g, 5, 0, false, false };
	struct lab_machine gtx = machine_of("gtx980", NULL), v100 = machine_of("v100", NULL);
	struct lab_emogi_counts s;

	CHECK_EQ(lab_emogi_run(&gtx, &config, NULL, result, &s, &err), GTU_ERR_USAGE);
	CHECK(strstr(err.text, "has no link"));
	config.source = (uint32_t)g->n;
	CHECK_EQ(lab_emogi_run(&v100, &config, NULL, result, &s, &err), GTU_ERR_USAGE);
	config.source = 0;
	g->weight_type = GTU_WEIGHT_NONE;
	CHECK_EQ(lab_emogi_run(&v100, &config, NULL, result, &s, &err), GTU_ERR_USAGE);
	CHECK(strstr(err.text, "weights"));
	gtu_graph_close(g);
}

TEST_MAIN
