// SPDX-License-Identifier: MIT
/* What the algorithms over visit.cuh share on the host. */
#include "gpu.h"

#define ROUND_VERTICES	1024u		/* vertices of the graph for each block of a loop over rounds */
#define ROUND_BLOCKS	4u		/* most such blocks on a multiprocessor */

typedef unsigned long long ull;

int gpu_visit_begin(struct gpu_run *r, struct gtu_device *dev, const char *name, const struct gtu_algorithm_options *opt,
		    struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	int rc = gpu_run_begin(r, dev, name, opt, stats, GPU_CACHE_PREFIX, err);

	if (!rc && opt->kernel != GTU_KERNEL_AUTO)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED,
				"%s has no kernel of the paper (%s): use auto", name, gtu_kernel_name(opt->kernel));
	if (!rc && !r->whole)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED,
				"%s over a part of the vertices is not supported: it needs intermediate "
				"results of the other parts",
				name);
	return rc;
}

int gpu_visit_step(struct gpu_run *r, const char *kernel, const char *suffix, bool format, uint64_t threads, void **args)
{
	int rc = gpu_run_clear(r);

	if (!rc)
		rc = gpu_run_launch(r, kernel, suffix, format, threads, args);
	return rc ? rc : gpu_run_read(r);
}

int gpu_visit_rounds(struct gpu_run *r, const char *kernel, void **args, CUdeviceptr queue[2], uint64_t *items)
{
	const uint64_t fitting = r->graph.n / ROUND_VERTICES + GPU_LOOP_BLOCKS,
		       most = (uint64_t)r->gpu->info.multiprocessors * ROUND_BLOCKS;
	int rc = gpu_run_clear(r);

	if (!rc)
		rc = gpu_run_loop(r, kernel, NULL, (unsigned)(fitting < most ? fitting : most), args);
	if (!rc)
		rc = gpu_run_read(r);
	*items = rc ? 0 : r->counters.loop.items[r->counters.loop.steps % 3];
	if (r->counters.loop.steps % 2)
		gpu_swap(queue);
	return rc;
}

int gpu_visit_collect(struct gpu_run *r, CUdeviceptr state, uint32_t value, CUdeviceptr queue, uint64_t *items)
{
	void *args[] = { &state, &value, &queue, NULL };
	int rc = gpu_run_pass(r, &r->graph, "visit_collect", NULL, true, GPU_STRIP, args);

	*items = r->counters.items;
	return rc;
}

struct values {
	const uint32_t *from;
	uint64_t *to;
};

static int widen(void *arg, uint64_t first, uint64_t end)
{
	const struct values *x = arg;

	for (uint64_t v = first; v < end; v++)
		x->to[v] = x->from[v];
	return 0;
}

int gpu_visit_values(struct gpu_run *r, uint64_t *result, CUdeviceptr values, uint64_t n)
{
	uint32_t *narrow = (uint32_t *)result + n;
	int rc;

	gtu_phase(&r->phases, "result");
	rc = gpu_download(r->gpu, narrow, values, 4 * n, r->err);
	return rc ? rc : gpu_widen(widen, &(struct values){ narrow, result }, n);
}

int gpu_visit_result(struct gpu_run *r, uint64_t *result, CUdeviceptr values)
{
	return gpu_visit_values(r, result, values, r->graph.n);
}

int gpu_visit_check_vertex(struct gpu_run *r, const char *what, uint64_t v)
{
	if (v < r->g->n)
		return 0;
	return gtu_fail(r->err, GTU_ERR_USAGE, "%s vertex %llu is out of range: the graph has %llu vertices", what, (ull)v,
			(ull)r->g->n);
}
