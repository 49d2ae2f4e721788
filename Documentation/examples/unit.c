/* SPDX-License-Identifier: MIT */
/*
 * Template of a new unit: one operation that writes the degree of each vertex, row[i + 1] - row[i].
 *
 *	1. Copy this file to firmware-model/units/degrees/degrees.c.
 *	2. Move what is between BEGIN hw.h and END into include/uapi/gtu/hw.h, before `#include "units.h"`.
 *	3. Move what is between BEGIN units.h and END into include/uapi/gtu/units.h, before its last #endif, and
 *	   add U(DEGREES, degrees, "degrees of vertices") as the last row of GTU_UNIT_ROWS.
 *
 * `gtu info`, `gtu fdt`, `gtu bringup`, the counters of `gtu run`, sysfs and --device model:degrees_latency=... know it
 * then. Documentation/units-degrees.md says what it computes and when; libruntime/device/api_degrees.c gives it a
 * function; tests/unit/units/test_degrees.c compares it with plain code, with jobs cut at every cycle (fixture.h);
 * driver/gtu_check.c says which of its jobs the kernel submits for users.
 */
#include "firmware-model/device/core.h"

/* BEGIN hw.h */
#define GTU_OP_DEGREES		0x50
#define GTU_UNIT_DEGREES	(1u << 5)
#define GTU_PAGE_DEGREES	0x6000
#define GTU_ID_DEGREES		0x20474544u	/* "DEG " */
/* END */

/* BEGIN units.h */
#define GTU_DEGREES_PARAMETER_ROWS(P, F, H) \
	P(DEGREES, degrees, LATENCY, latency, "latency", 200, 1, 1 << 20, 1, "cycles of a fetch")
#define GTU_DEGREES_SETTING_ROWS(S, X)
#define GTU_DEGREES_COUNTER_ROWS(C, A) \
	C(DEGREES, JOBS, jobs, "jobs", "completed") \
	C(DEGREES, ROWS, rows, "rows", "put out")
#define GTU_DEGREES_BLOCK_ROWS(B)
#define GTU_DEGREES_REGISTER_ROWS(R, D)
#define GTU_DEGREES_OPERATION_ROWS(O) O(DEGREES, DEGREES, "degrees", "degrees", "row[i + 1] - row[i]")
#define GTU_DEGREES_SLOT_ROWS(L) \
	L(DEGREES, IN, "offsets", "in", "8", "n + 1 of them") \
	L(DEGREES, OUT, "degrees", "out", "8", "n of them")
/* END */

/* State of a job between two calls of run(); zeroed before start(). */
struct degrees_state {
	uint64_t next;
};
_Static_assert(sizeof(struct degrees_state) <= GTU_JOB_STATE_BYTES, "the state fits into a job's");

/*
 * Check keys, rights, bounds and alignment at each step: a region may have been removed since the
 * last.
 */
static bool operands(struct gtu_job *job)
{
	static const struct gtu_requirement want[] = {
		{ .slot = GTU_DEGREES_IN, .width_log2 = 3, .need = GTU_REQUIRE_READ },
		{ .slot = GTU_DEGREES_OUT, .width_log2 = 3, .need = GTU_REQUIRE_WRITE },
	};

	return gtu_job_operands(job, want, GTU_DEGREES_OPERANDS);
}

static bool start(struct gtu_job *job)
{
	const struct gtu_hw_desc *d = &job->desc;

		/* reserved fields must be zero, so that later versions can use them */
	if (d->param || d->param2 || d->imm)
		return gtu_job_error(job, GTU_CPL_RESERVED, 0xff, 0), false;
	if (!operands(job))
		return false;
	job->needed = job->mem[0].count ? job->mem[0].count - 1 : 0;
	if (job->needed > job->mem[1].count)
		return gtu_job_error(job, GTU_CPL_OVERFLOW, 1, job->mem[1].count), false;
	job->cycles = job->page->param[GTU_DEGREES_P_LATENCY];
	return true;
}

/* One offset per cycle. The result and the cycles must not depend on @budget. */
static int run(struct gtu_job *job, uint64_t budget)
{
	struct degrees_state *s = (struct degrees_state *)job->state;
	uint64_t pair[2], degree, *counter = job->page->live;

	if (!operands(job))
		return GTU_RUN_DONE;
	for (; s->next < job->needed && budget; s->next++, budget--) {
		/* load once: the owner may modify the memory between two loads */
		if (!gtu_mem_load(&job->mem[0], s->next * 8, pair, sizeof(pair)))
			return GTU_RUN_DONE;
		degree = pair[1] - pair[0];
		if (!gtu_mem_store(&job->mem[1], s->next * 8, &degree, sizeof(degree)))
			return GTU_RUN_DONE;
		job->count++;
		job->cycles++;
		counter[GTU_DEGREES_C_ROWS]++;
	}
	if (s->next < job->needed)
		return GTU_RUN_MORE;
	counter[GTU_DEGREES_C_JOBS]++;
	return GTU_RUN_DONE;
}

const struct gtu_unit gtu_unit_degrees = {
	.version = 1,
	.start = start,
	.run = run,
};
