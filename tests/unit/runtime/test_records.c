// SPDX-License-Identifier: MIT
/*
 * Warp records in a kernel (gtu/warp_records.cuh): the model's IRU, PEG and Weaver write to a ring
 * in pinned memory, and a kernel consumes it. On a GPU with GTU_TEST_GPU=1, otherwise with the
 * kernel as CPU code.
 */
#include "tests/unit/runtime/streams_bed.h"

struct taken {
	uint32_t elements, records, error, disorder, warps;
};

/* A stream and its record layout: two fields with their offsets and widths. */
struct stream {
	const struct gtu_hw_desc *desc;	/* NULL: no producer */
	uint32_t count, stride, a, a_wide, f, f_wide, back, demand, give_up;
};

static uint64_t (*got)[2], (*want)[2];

/*
 * Run the stream, whose ring is at the start of the region, against the kernel; got[] receives
 * pairs of fields.
 */
static struct taken run(struct stream x)
{
	struct records s = { .ring = b.device, .count = x.count, .stride = x.stride, .ticket = b.words,
			     .stop = b.device + FLAGS_AT, .demand = x.demand, .back = x.back, .back_bytes = 4 };
	CUdeviceptr claim = x.back ? b.words + 256 : 0, result = b.words + 128;
	uint32_t room = ROOM;
	void *args[] = { &s, &x.a, &x.a_wide, &x.f, &x.f_wide, &b.out, &room, &claim, &result };
	struct taken t;

	*(uint32_t *)(b.host + FLAGS_AT) = x.give_up;
	CU(b.api.cuMemsetD8Async(b.words, 0, 4 * (ROOM + 64), NULL));
	launch("take_records", args, (struct serving){ .desc = x.desc, .rings = 1 });
	CU(b.api.cuMemcpyDtoH_v2(&t, result, sizeof(t)));
	CHECK(t.elements <= ROOM);
	CU(b.api.cuMemcpyDtoH_v2(got, b.out, 16ull * t.elements));
	return t;
}

static int ascending(const void *p, const void *q)
{
	const uint64_t *x = p, *y = q;

	return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

static void same(uint64_t n, struct taken t)
{
	CHECK_EQ(cpl.status, GTU_CPL_OK);
	CHECKF(!t.error && !t.disorder, "error %u, %u records out of their order", t.error, t.disorder);
	CHECK_EQ(t.records, cpl.count);
	CHECK_EQ(t.elements, n);
	qsort(got, n, 16, ascending);
	qsort(want, n, 16, ascending);
	for (uint64_t i = 0; i < n; i++)
		CHECKF(!memcmp(got[i], want[i], 16), "element %llu is %llu, %llu, not %llu, %llu", (unsigned long long)i,
		       (unsigned long long)got[i][0], (unsigned long long)got[i][1], (unsigned long long)want[i][0],
		       (unsigned long long)want[i][1]);
}

static void begin(void)
{
	open_both("records");
	if (!got) {
		got = calloc(ROOM, 16);
		want = calloc(ROOM, 16);
	}
}

/* Every index is received once, with its position. */
static void check_iru(uint32_t count, bool demand)
{
	const uint32_t n = 20000;
	uint32_t *index = (uint32_t *)(b.host + RING_BYTES), i;
	struct gtu_hw_desc desc = {
		.opcode = GTU_OP_IRU_STREAM,
		.param = 2 << GTU_IRU_TARGET_SHIFT | GTU_IRU_WITH_POSITION | (demand ? GTU_IRU_DEMAND : 0),
		.operand = {
			[GTU_IRU_INDICES] = { .key = b.region.key, .count = n, .offset = RING_BYTES },
			[GTU_IRU_RING] = { .key = b.region.key, .count = count },
		},
	};
	uint64_t state = count;

	for (i = 0; i < n; i++) {
		index[i] = (uint32_t)test_random(&state) % 50000;
		want[i][0] = index[i];
		want[i][1] = i;
	}
	same(n, run((struct stream){ .desc = &desc, .count = count, .stride = GTU_WARP_BYTES(2, 0), .a = 64,
				     .f = 64 + 128, .demand = demand }));
}

/* With a large ring, and with one that is full most of the time. */
TEST(every_index_of_the_iru_is_received_once)
{
	begin();
	check_iru(256, false);
	check_iru(2, false);
}

TEST(every_index_on_demand_is_received_once)
{
	begin();
	check_iru(8, true);
}

/*
 * Edges of a graph with their sources; each new vertex is pushed, and the output list has each
 * once.
 */
TEST(every_edge_of_the_peg_is_received_once)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 9, .degree = 8, .seed = 3 });
	const uint32_t count = 16, back = 64;
	struct gtu_hw_desc desc;
	uint64_t v, e, n = 0, pushed = 0, offset[3] = { RING_BYTES };
	uint8_t seen[512] = { 0 };
	uint32_t *list;

	begin();
	CHECK(g->edge_bytes == 4);
	offset[1] = offset[0] + 8 * (g->n + 1);
	offset[2] = offset[1] + 4 * g->m;
	CHECK(offset[2] + 4 * g->n < FLAGS_AT);
	memcpy(b.host + offset[0], g->row, 8 * (g->n + 1));
	memcpy(b.host + offset[1], g->col, 4 * g->m);
	for (v = 0; v < g->n; v++)
		for (e = g->row[v]; e < g->row[v + 1]; e++, n++) {
			want[n][0] = gtu_graph_target(g, e);
			want[n][1] = v;
			pushed += !seen[want[n][0]];
			seen[want[n][0]] = 1;
		}
	desc = (struct gtu_hw_desc){
		.opcode = GTU_OP_PEG_STREAM,
		.param = GTU_PEG_OFFSETS_8 | GTU_PEG_WITH_SRC | GTU_PEG_WITH_DST | 1 << GTU_PEG_ENGINES_SHIFT,
		.param2 = 6,
		.operand = {
			[GTU_PEG_VERTICES] = { .key = b.region.key, .count = (uint32_t)g->n + 1, .offset = offset[0] },
			[GTU_PEG_EDGES] = { .key = b.region.key, .count = (uint32_t)g->m, .offset = offset[1] },
			[GTU_PEG_RINGS] = { .key = b.region.key, .count = count },
			[GTU_PEG_OUTPUT] = { .key = b.region.key, .count = (uint32_t)g->n, .offset = offset[2] },
		},
	};
	same(n, run((struct stream){ .desc = &desc, .count = count, .stride = GTU_WARP_BYTES(2, 0), .a = 64 + 128,
				     .f = 64, .back = back }));
	CHECK_EQ(cpl.needed, pushed);
	list = (uint32_t *)(b.host + offset[2]);
	for (e = 0; e < pushed; e++) {
		CHECK(list[e] < g->n && seen[list[e]] == 1);
		seen[list[e]] = 2;
	}
}

/* Work ids of registered ranges: each edge once, with its vertex; 8-byte edge ids. */
TEST(every_work_id_of_the_weaver_is_received_once)
{
	struct gtu_hw_registration *table;
	const uint32_t registered = 500, count = 8;
	struct gtu_hw_desc desc;
	uint64_t state = 8, n = 0, start = 1ull << 33, e;

	begin();
	table = (void *)(b.host + RING_BYTES);
	for (uint32_t i = 0; i < registered; i++) {
		table[i] = (struct gtu_hw_registration){ .entry = i, .vid = 7 * i, .start = start,
							 .degree = test_random(&state) % (i % 50 ? 20 : 2000) };
		for (e = 0; e < table[i].degree; e++, n++) {
			want[n][0] = 7 * i;
			want[n][1] = start + e;
		}
		start += table[i].degree;
	}
	desc = (struct gtu_hw_desc){
		.opcode = GTU_OP_WVR_STREAM,
		.param = GTU_WVR_EIDS_8,
		.operand = {
			[GTU_WVR_TABLE] = { .key = b.region.key, .count = registered, .offset = RING_BYTES },
			[GTU_WVR_RING] = { .key = b.region.key, .count = count },
		},
	};
	same(n, run((struct stream){ .desc = &desc, .count = count, .stride = GTU_WARP_BYTES(1, 1), .a = 64,
				     .f = 64 + 128, .f_wide = 1 }));
}

TEST(the_stop_flag_ends_the_wait_for_a_producer)
{
	struct taken t;

	begin();
	t = run((struct stream){ .count = 8, .stride = GTU_WARP_BYTES(1, 0), .a = 64, .give_up = 1 });
	CHECK_EQ(t.error, 2);
	CHECK_EQ(t.records, 0);
}

static bool told;		/* the kernel has ended */

/* Repeatedly, because launch() clears the ring at some time. */
static void *lie(void *arg)
{
	struct gtu_hw_ring *ring = arg;

	while (!__atomic_load_n(&told, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&ring->producer, 1000, __ATOMIC_RELEASE);
		usleep(1000);
	}
	return NULL;
}

TEST(an_impossible_producer_index_is_refused)
{
	pthread_t liar;
	struct taken t;

	begin();
	CHECK(!pthread_create(&liar, NULL, lie, b.host));
	t = run((struct stream){ .count = 8, .stride = GTU_WARP_BYTES(1, 0), .a = 64 });
	__atomic_store_n(&told, true, __ATOMIC_RELEASE);
	pthread_join(liar, NULL);
	CHECK_EQ(t.error, 1);
	CHECK_EQ(t.records, 0);
}

TEST_MAIN
