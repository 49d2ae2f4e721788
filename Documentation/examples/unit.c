/* SPDX-License-Identifier: MIT */
/*
 * Template of a new unit: one operation that writes the degree of each vertex, row[i + 1] - row[i].
 *
 * Copy this to firmware-model/units/degrees/degrees.c, move the part marked hw.h there, and register the
 * unit:
 *
 *	device.h	extern const struct gtu_unit gtu_unit_degrees;
 *	core.h		#define GTU_UNITS 7u
 *	device.c	&gtu_unit_degrees in the table of units; its page as the last one in register_at()
 *
 * Then: Documentation/units-degrees.md specifies the results and the timing;
 * libruntime/device/api_degrees.c adds a function; tests/unit/units/test_degrees.c compares it with
 * plain code, with jobs cut at every cycle (fixture.h); driver/gtu_check.c lists what the kernel
 * accepts by ioctl.
 */
#include "firmware-model/device/core.h"

/* hw.h */
#define GTU_OP_DEGREES		0x50	/* operand 0: n + 1 offsets of 8 bytes; 1: n degrees of 8 bytes */
#define GTU_UNIT_DEGREES	(1u << 5)
#define GTU_PAGE_DEGREES	0x6000
#define GTU_ID_DEGREES		0x20474544u	/* "DEG " */
#define GTU_DEGREES_P_LATENCY	0		/* parameter: cycles of a fetch */
#define GTU_DEGREES_C_JOBS	0
#define GTU_DEGREES_C_ROWS	1
#define GTU_DEGREES_COUNTERS	2

/* State of a job between two calls of run(); zeroed before start(). */
struct degrees_state {
	uint64_t next;
};
_Static_assert(sizeof(struct degrees_state) <= GTU_JOB_STATE_BYTES, "the state fits into a job's");

static void parameters(const struct gtu_dev_config *config, uint32_t *param)
{
	param[GTU_DEGREES_P_LATENCY] = config->scu_latency;
}

/*
 * Check keys, rights, bounds and alignment at each step: a region may have been removed since the
 * last.
 */
static bool operands(struct gtu_job *job)
{
	static const struct gtu_want want[] = {
		{ .place = 0, .width_log2 = 3, .need = GTU_WANT_READ },
		{ .place = 1, .width_log2 = 3, .need = GTU_WANT_WRITE },
	};

	return gtu_job_operands(job, want, 2, 2);
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
	job->cycles = gtu_job_params(job)[GTU_DEGREES_P_LATENCY];
	return true;
}

/* One offset per cycle. The result and the cycles must not depend on @budget. */
static int run(struct gtu_job *job, uint64_t budget)
{
	struct degrees_state *s = (struct degrees_state *)job->state;
	uint64_t pair[2], degree, *counter = gtu_job_counters(job);

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
	.name = "degrees",
	.opcode_first = GTU_OP_DEGREES,
	.opcode_last = GTU_OP_DEGREES,
	.bit = GTU_UNIT_DEGREES,
	.page = GTU_PAGE_DEGREES,
	.id = GTU_ID_DEGREES,
	.version = 1,
	.params = 1,
	.counters = GTU_DEGREES_COUNTERS,
	.param_name = (const char *const []){ "gtu,latency" },
	.parameters = parameters,
	.start = start,
	.run = run,
};
