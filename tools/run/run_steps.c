// SPDX-License-Identifier: MIT
/*
 * Records the iterations of a run for --json. Merges neighbours when there are many: a road network
 * has tens of thousands of levels.
 */
#include <stdlib.h>

#include "tools/support/json.h"
#include "run.h"

static void merge(struct run_step *to, const struct run_step *from)
{
	to->sum.frontier += from->sum.frontier;
	to->sum.edges += from->sum.edges;
	to->sum.jobs += from->sum.jobs;
	to->sum.job_cycles += from->sum.job_cycles;
	to->sum.list_bytes += from->sum.list_bytes;
	to->sum.cached_bytes += from->sum.cached_bytes;
	to->sum.seconds += from->sum.seconds;
	to->iterations += from->iterations;
	to->bytes[0] += from->bytes[0];
	to->bytes[1] += from->bytes[1];
}

/* Count the bytes that units have moved since the last iteration. */
static void count_bytes(struct run *r, struct run_step *s)
{
	uint64_t value[GTU_UREG_COUNTERS];
	unsigned dir;

	/* ignore errors here: the same call at the end of the run reports them */
	if (gtu_counters(r->dev, GTU_UNIT_ZCM, false, value, NULL))
		return;
	for (dir = GTU_ZCM_HOST_READ; dir <= GTU_ZCM_HOST_WRITE; dir++) {
		s->bytes[dir] = value[GTU_ZCM_C_BYTES(dir)] - r->seen_bytes[dir];
		r->seen_bytes[dir] = value[GTU_ZCM_C_BYTES(dir)];
	}
}

static void add_iteration(void *user, const struct gtu_iteration *it)
{
	struct run *r = user;
	struct run_step s = { .sum = *it, .iterations = 1 };
	unsigned i;

	if (r->monitor && r->dev)
		count_bytes(r, &s);
	if (r->steps && r->step[r->steps - 1].iterations < r->per_step) {
		merge(&r->step[r->steps - 1], &s);
		return;
	}
	if (r->steps == RUN_STEPS) {
		for (i = 0; i < RUN_STEPS / 2; i++) {
			r->step[i] = r->step[2 * i];
			merge(&r->step[i], &r->step[2 * i + 1]);
		}
		r->steps /= 2;
		r->per_step *= 2;
	}
	r->step[r->steps++] = s;
}

int run_steps_begin(struct run *r, struct gtu_error *err)
{
	r->step = calloc(RUN_STEPS, sizeof(*r->step));
	if (!r->step)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory to record %u iterations", RUN_STEPS);
	r->per_step = 1;
	r->opt.iteration = add_iteration;
	r->opt.iteration_user = r;
	return 0;
}

void run_steps_json(const struct run *r, struct json *j)
{
	bool gpu = r->dev && gtu_get_placement(r->dev);
	unsigned i;

	json_begin_array(j, "steps");
	for (i = 0; i < r->steps; i++) {
		const struct run_step *s = &r->step[i];

		json_begin_object(j, NULL);
		json_u64(j, "first", s->sum.number);
		json_u64(j, "iterations", s->iterations);
		if (s->sum.frontier)
			json_u64(j, "frontier", s->sum.frontier);
		else
			json_null(j, "frontier");
		json_u64(j, "edges", s->sum.edges);
		json_double(j, "seconds", s->sum.seconds);
		if (gpu) {
			json_u64(j, "list_bytes_read", s->sum.list_bytes);
			json_u64(j, "cached_bytes_read", s->sum.cached_bytes);
		} else {
			json_u64(j, "jobs", s->sum.jobs);
			json_u64(j, "job_cycles", s->sum.job_cycles);
		}
		if (r->monitor && r->dev) {
			json_u64(j, "bytes_read", s->bytes[GTU_ZCM_HOST_READ]);
			json_u64(j, "bytes_written", s->bytes[GTU_ZCM_HOST_WRITE]);
		}
		json_end_object(j);
	}
	json_end_array(j);
}
