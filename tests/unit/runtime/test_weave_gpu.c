// SPDX-License-Identifier: MIT
/*
 * The programs of tests/cuda/weave_programs.h on a GPU (gtu/weave.cuh), compared with gtu_weave() in
 * process, from the same source. On a GPU with GTU_TEST_GPU=1, otherwise with the kernels as CPU code.
 */
#include "tests/unit/weave_inputs.h"
#include "tests/unit/runtime/streams_bed.h"

/* as in gtu/weave.cuh, which is CUDA C++ */
struct weave_gpu {
	struct gtu_weave_iteration t;
	uint64_t vertices, entries, pull;
	CUdeviceptr first, base, other, weight, again;
};

static const struct {
	const char *name;
	struct gtu_weave_functions f;
	uint32_t iterations;
} programs[] = {
	{ "bfs", { .init = bfs_init, .filter_source = bfs_old, .filter_target = bfs_reached, .gather = bfs_gather,
		   .apply = bfs_apply }, 0 },
	{ "sssp", { .init = sssp_init, .filter_source = sssp_sleeps, .gather = sssp_gather, .apply = sssp_apply }, 0 },
	{ "sum", { .init = sum_init, .gather = sum_gather, .apply = sum_apply }, 3 },
};

static void release(void *at)
{
	b.api.cuMemFree_v2((CUdeviceptr)(uintptr_t)at);
}

/* Memory of the GPU with a copy of @from (NULL: zeros), until the test ends. */
static CUdeviceptr gpu_copy(const void *from, size_t bytes)
{
	CUdeviceptr at;

	CU(b.api.cuMemAlloc_v2(&at, bytes));
	test_at_end(release, (void *)(uintptr_t)at);
	if (from)
		CU(b.api.cuMemcpyHtoD_v2(at, from, bytes));
	else
		CU(b.api.cuMemsetD8Async(at, 0, bytes, NULL));
	return at;
}

static void *pointer(CUdeviceptr at)
{
	return (void *)(uintptr_t)at;
}

static void launch_one(const char *program, const char *kernel, struct weave_gpu *a)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_run_%s", program, kernel);
	launch(name, (void *[]){ a }, (struct serving){ 0 });
}

/* The storage's entries and edges in memory of the GPU, by its functions. */
static void upload(const struct gtu_weave_storage *s, struct weave_gpu *a)
{
	uint64_t *first = test_alloc(s->entries + 1, 8), *base = test_alloc(s->entries, 8), degree, next = 0, other;
	uint32_t *end = test_alloc(s->edges, 4);
	double *weight = test_alloc(s->edges, 8);

	for (uint64_t i = 0; i < s->entries; i++) {
		OK(s->get_neighbor(s, i, &base[i], &first[i], &degree, &err));
		CHECK_EQ(first[i], next);
		next += degree;
	}
	first[s->entries] = next;
	for (uint64_t e = 0; e < s->edges; e++) {
		OK(s->get_edge(s, e, &other, &weight[e], &err));
		end[e] = (uint32_t)other;
	}
	*a = (struct weave_gpu){
		.vertices = s->vertices, .entries = s->entries, .pull = s->pull,
		.first = gpu_copy(first, 8 * (s->entries + 1)), .base = gpu_copy(base, 8 * s->entries),
		.other = gpu_copy(end, 4 * s->edges), .weight = gpu_copy(weight, 8 * s->edges), .again = gpu_copy(NULL, 4),
	};
}

static void one_storage(const struct gtu_weave_storage *s, const struct weave_data *d)
{
	const uint64_t n = s->vertices;
	uint32_t *level = test_alloc(n, 4), again;
	double *rank = test_alloc(n, 8);
	uint64_t *seen = test_alloc(s->edges, 8);
	struct weave_data there = *d;
	struct weave_gpu a;

	upload(s, &a);
	there.level = pointer(gpu_copy(NULL, 4 * n));
	there.active = pointer(gpu_copy(NULL, 4 * n));
	there.next = pointer(gpu_copy(NULL, 4 * n));
	there.rank = pointer(gpu_copy(NULL, 8 * n));
	there.sum = pointer(gpu_copy(NULL, 8 * n));
	there.seen = pointer(gpu_copy(NULL, 8 * s->edges));
	a.t.context = pointer(gpu_copy(&there, sizeof(there)));
	for (unsigned i = 0; i < LENGTH(programs); i++) {
		const struct gtu_algorithm_options opt = { .iterations = programs[i].iterations };

		OK(gtu_weave(NULL, s, &programs[i].f, (void *)(uintptr_t)d, &opt, NULL, &err));
		launch_one(programs[i].name, "init", &a);
		for (a.t.iteration = 0, again = 1;
		     again && (!opt.iterations || a.t.iteration < opt.iterations); a.t.iteration++) {
			CU(b.api.cuMemsetD8Async(a.again, 0, 4, NULL));
			launch_one(programs[i].name, "gather", &a);
			launch_one(programs[i].name, "apply", &a);
			CU(b.api.cuMemcpyDtoH_v2(&again, a.again, 4));
		}
		CU(b.api.cuMemcpyDtoH_v2(level, (CUdeviceptr)(uintptr_t)there.level, 4 * n));
		CU(b.api.cuMemcpyDtoH_v2(rank, (CUdeviceptr)(uintptr_t)there.rank, 8 * n));
		CHECKF(i == 2 ? !memcmp(rank, d->rank, 8 * n) : !memcmp(level, d->level, 4 * n),
		       "%s%s: another result", programs[i].name, s->pull ? ", pull" : "");
	}
	CU(b.api.cuMemcpyDtoH_v2(seen, (CUdeviceptr)(uintptr_t)there.seen, 8 * s->edges));
	for (uint64_t e = 0; e < s->edges; e++)
		CHECK_EQ(seen[e], 3);
}

TEST(one_source_has_the_same_results_on_a_gpu)
{
	struct gtu_graph weighted;
	struct gtu_weave_storage s;
	struct weave_data d;
	struct gtu_graph *g;

	open_both("weave");
	g = generate((struct gtu_generate_options){ .kind = GTU_GEN_KRONECKER, .scale = 9, .degree = 6 });
	d = weave_inputs(g, g->m, &weighted);
	OK(gtu_weave_csr(&weighted, 0, &s, &err));
	one_storage(&s, &d);
	gtu_weave_close(&s);
	OK(gtu_weave_csr(&weighted, 5, &s, &err));
	one_storage(&s, &d);
	gtu_weave_close(&s);
	OK(gtu_weave_csc(&weighted, 0, &s, &err));
	one_storage(&s, &d);
	gtu_weave_close(&s);
}

TEST_MAIN
