// SPDX-License-Identifier: MIT
/* The SCU as a unit of the device: checks a descriptor's parameters and operands, and runs the core over its regions. */
#include "firmware-model/device/core.h"
#include "scu_core.h"

/* A job's state between calls, in job->state. */
struct scu_job {
	struct scu_state s;
	uint64_t counted[GTU_SCU_COUNTERS]; /* already added to the unit's counters */
};
_Static_assert(sizeof(struct scu_job) <= GTU_JOB_STATE_BYTES, "the SCU's state fits a job");

/*
 * APPLY ignores the tables, the costs and the kind of filter, so that the producing step's descriptor can be
 * reused with the step changed. If both vectors are given, APPLY uses the reorder vector.
 */
static void forget_unused(struct gtu_job *job)
{
	static const uint8_t unused[] = {
		GTU_SCU_FILTER_TABLE, GTU_SCU_GROUP_TABLE, GTU_SCU_COST_GATHERED, GTU_SCU_COST_INPUT,
	};
	const struct gtu_hw_operand none = { 0 };
	unsigned i;

	for (i = 0; i < sizeof(unused); i++)
		job->operand[unused[i]] = none;
	if (job->operand[GTU_SCU_REORDER].key)
		job->operand[GTU_SCU_FILTER] = none;
	job->desc.imm = 0;
}

/* A field that the operation does not use must be 0, and its values must be valid for the operation. */
static bool params_valid(const struct gtu_job *job, const struct scu_params *p)
{
	const bool bitmask = p->op == GTU_OP_SCU_BITMASK, makes = p->filters || p->group;

	if (bitmask) {
		if (p->step || makes || p->keep || p->cmp > GTU_CMP_GE || p->type > GTU_TYPE_FLOAT ||
		    (p->type == GTU_TYPE_FLOAT && p->width < 2) || p->index_width || p->count_width)
			return false;
	} else if (p->cmp) {
		return false;
	}
	if (p->op == GTU_OP_SCU_ACCESS && !job->operand[GTU_SCU_DATA].key && p->width != p->index_width)
		return false;
	if ((p->indexed ? p->index_width < 2 : p->index_width) ||
	    (p->runs ? p->count_width < 2 : p->count_width))
		return false;
	if ((p->step == GTU_STEP_PRODUCE || p->step == GTU_STEP_FUSED) != makes)
		return false;
	if ((p->unique && p->best) || (p->keep && !makes))
		return false;
	if (p->best ? p->cost_width < 2 || p->type > GTU_TYPE_FLOAT : p->cost_width || (p->type && !bitmask))
		return false;
	return p->group || (!p->target && (bitmask || !job->desc.imm));
}

/* ---- Operands ---------------------------------------------------------------------------------- */

static bool table_lines_valid(const struct gtu_job *job, unsigned slot)
{
	return !job->operand[slot].key || scu_table_lines_valid(job->operand[slot].count);
}

/* Resolve all operands. The operation and the step decide which are required, and whether each is read or written. */
static bool operands(struct gtu_job *job, const struct scu_params *p)
{
	const bool apply = p->step == GTU_STEP_APPLY, fused = p->step == GTU_STEP_FUSED;
	const uint8_t costs = p->best ? GTU_REQUIRE_READ | GTU_REQUIRE_MAYBE : GTU_REQUIRE_NONE;
	uint8_t need[GTU_SCU_OPERANDS] = {
		[GTU_SCU_DATA] = GTU_REQUIRE_READ | (p->op == GTU_OP_SCU_ACCESS ? GTU_REQUIRE_MAYBE : 0),
		[GTU_SCU_INDEX] = p->indexed ? GTU_REQUIRE_READ : GTU_REQUIRE_NONE,
		[GTU_SCU_COUNT] = p->runs ? GTU_REQUIRE_READ : GTU_REQUIRE_NONE,
		[GTU_SCU_MASK] = p->op == GTU_OP_SCU_BITMASK ? GTU_REQUIRE_NONE : GTU_REQUIRE_READ | GTU_REQUIRE_MAYBE,
		[GTU_SCU_OUT] = p->step == GTU_STEP_PRODUCE ? GTU_REQUIRE_NONE : GTU_REQUIRE_WRITE,
		[GTU_SCU_FILTER_TABLE] = p->filters ? GTU_REQUIRE_BOTH : GTU_REQUIRE_NONE,
		[GTU_SCU_GROUP_TABLE] = p->group ? GTU_REQUIRE_BOTH : GTU_REQUIRE_NONE,
		[GTU_SCU_COST_GATHERED] = costs,
		[GTU_SCU_COST_INPUT] = costs,
	};
	struct gtu_requirement want[GTU_SCU_OPERANDS];
	unsigned i;

	if (apply) {
		need[job->operand[GTU_SCU_REORDER].key ? GTU_SCU_REORDER : GTU_SCU_FILTER] = GTU_REQUIRE_READ;
	} else if (p->group) {
		need[GTU_SCU_REORDER] = fused ? GTU_REQUIRE_BOTH : GTU_REQUIRE_WRITE;
		need[GTU_SCU_FILTER] = GTU_REQUIRE_MAYBE | (p->filters ? GTU_REQUIRE_WRITE : GTU_REQUIRE_READ);
	} else if (p->filters) {
		need[GTU_SCU_FILTER] = GTU_REQUIRE_WRITE | (fused ? GTU_REQUIRE_MAYBE : 0);
	}
	for (i = 0; i < GTU_SCU_OPERANDS; i++) {
		const bool rest = p->indexed && (i == GTU_SCU_DATA || i == GTU_SCU_COST_GATHERED);

		want[i] = (struct gtu_requirement){
			.slot = i, .width_log2 = p->log2[i], .need = need[i], .rest = rest,
			.bytes = rest ? 0 : scu_operand_bytes(p, i, job->operand[i].count),
		};
	}
	return gtu_job_operands(job, want, GTU_SCU_OPERANDS);
}

/* ---- The core's port --------------------------------------------------------------------------- */

static uint8_t *span(void *ctx, unsigned slot, uint64_t byte, uint64_t want, uint64_t *got)
{
	struct gtu_job *job = ctx;

	return gtu_mem_span(&job->mem[slot], byte, want, got);
}

static void fail(void *ctx, unsigned status, unsigned slot, uint64_t element, uint64_t value)
{
	struct gtu_job *job = ctx;

	if (job->status == GTU_CPL_OK)
		job->needed = value;
	gtu_job_error(job, status, slot, element);
}

static uint64_t cycles_of(const struct gtu_job *job)
{
	return ((const struct scu_job *)job->state)->s.cycles;
}

static void watch_stream(void *ctx, unsigned slot, uint64_t byte, uint64_t bytes)
{
	struct gtu_job *job = ctx;

	gtu_watch_stream(&job->mem[slot], byte, bytes, cycles_of(job));
}

/* Reads and writes of a table are reported to observers separately, each with its own access width. */
static void watch_gather(void *ctx, unsigned slot, const uint64_t *byte, unsigned n, unsigned width_log2, bool write)
{
	struct gtu_job *job = ctx;
	struct gtu_mem *m = &job->mem[slot];
	const uint8_t width = m->width_log2;
	const bool writes = m->write;

	m->width_log2 = width_log2;
	m->write = write;
	gtu_watch_gather(m, byte, n, cycles_of(job));
	m->width_log2 = width;
	m->write = writes;
}

/* Injected bugs. */
static void misbehave(const struct gtu_job *job, struct scu_run *r)
{
	struct scu_params *p = &r->p;

	if (gtu_bug(job->dev, GTU_BUG_FILTER) && p->best && p->type == GTU_TYPE_SIGNED)
		p->type = GTU_TYPE_UNSIGNED;
	if (gtu_bug(job->dev, GTU_BUG_FLOAT) && p->op == GTU_OP_SCU_BITMASK && p->type == GTU_TYPE_FLOAT)
		p->type = GTU_TYPE_SIGNED;
	if (gtu_bug(job->dev, GTU_BUG_GROUP) && p->group)
		p->target = 0;
	if (gtu_bug(job->dev, GTU_BUG_KEEP))
		p->keep = false;
	if (gtu_bug(job->dev, GTU_BUG_INDEX_8) && p->index_width == 3 && r->mem[GTU_SCU_INDEX].base)
		r->mem[GTU_SCU_INDEX].base += 8;
}

/* Prepare the core with the job's operands, which are resolved again in each call. NULL: the job has failed. */
static struct scu_run *bind(struct gtu_job *job, const struct scu_params *p)
{
	struct scu_run *r = (void *)(((uintptr_t)job->page->state + 63) & ~(uintptr_t)63);
	const uint32_t *param = job->page->param;
	unsigned i;

	if (!operands(job, p))
		return NULL;
	r->port = (struct scu_port){ .ctx = job, .span = span, .fail = fail, .stream = watch_stream,
				     .gather = watch_gather, .latency = gtu_job_latency(job, GTU_SCU_P_LATENCY) };
	r->p = *p;
	r->imm = job->desc.imm;
	r->s = (struct scu_state *)job->state;
	r->lanes = param[GTU_SCU_P_WIDTH];
	r->merge = param[GTU_SCU_P_MERGE];
	r->limit = job->limit;
	for (i = 0; i < GTU_SCU_OPERANDS; i++) {
		const struct gtu_mem *m = &job->mem[i];

		r->mem[i] = (struct scu_mem){ .base = m->base, .bytes = m->bytes, .count = m->count,
					      .given = m->key, .monitored = m->monitored };
	}
	if (job->dev->faulty)
		misbehave(job, r);
	return r;
}

/* ---- Running ----------------------------------------------------------------------------------- */

static bool start(struct gtu_job *job)
{
	const struct gtu_hw_desc *d = &job->desc;
	struct scu_params p;
	struct scu_run *r;
	uint32_t absent;

	if (d->param & ~GTU_SCU_PARAM_MASK || d->param2)
		return gtu_job_error(job, GTU_CPL_RESERVED, 0xff, 0), false;
	if (d->opcode != GTU_OP_SCU_BITMASK && (d->param >> GTU_SCU_STEP_SHIFT & 3) == GTU_STEP_APPLY)
		forget_unused(job);
	p = scu_params_of(d->opcode, d->param);
	if (!params_valid(job, &p))
		return gtu_job_error(job, GTU_CPL_PARAM, 0xff, 0), false;
	absent = gtu_dev_config(job->dev)->absent_scu;
	if ((p.filters && absent & GTU_ABSENT_SCU_FILTER) || (p.group && absent & GTU_ABSENT_SCU_GROUP))
		return gtu_job_error(job, GTU_CPL_ABSENT, 0xff, 0), false;
	if (!table_lines_valid(job, GTU_SCU_FILTER_TABLE))
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_SCU_FILTER_TABLE, 0), false;
	if (!table_lines_valid(job, GTU_SCU_GROUP_TABLE))
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_SCU_GROUP_TABLE, 0), false;
	r = bind(job, &p);
	return r && scu_core_start(r);
}

/* Update the completion and the unit's counters with the job's progress. */
static void report(const struct scu_run *r, struct gtu_job *job, bool done)
{
	uint64_t now[GTU_SCU_COUNTERS] = { [GTU_SCU_C_JOBS] = done, [GTU_SCU_C_CYCLES] = r->s->cycles };

	scu_core_counters(r, now);
	gtu_job_count(job, now, ((struct scu_job *)job->state)->counted, GTU_SCU_COUNTERS);
	job->cycles = r->s->cycles;
	job->count = scu_core_count(r);
	job->dropped = r->s->dropped;
}

static int run(struct gtu_job *job, uint64_t budget)
{
	const struct scu_params p = scu_params_of(job->desc.opcode, job->desc.param);
	struct scu_run *r = bind(job, &p);
	bool more;

	if (!r || !scu_core_begin(r))
		return GTU_RUN_DONE;
	more = scu_core_run(r, budget);
	report(r, job, !more);
	return more ? GTU_RUN_MORE : GTU_RUN_DONE;
}

/* ---- The unit ---------------------------------------------------------------------------------- */

static size_t state_bytes(const struct gtu_dev_config *config)
{
	(void)config;
	return sizeof(struct scu_run) + 63;
}

static const char *code(bool portable)
{
	if (portable)
		gtu_scu_kernels_use(gtu_scu_portable.isa);
	return gtu_scu_kernels()->isa;
}

const struct gtu_unit gtu_unit_scu = {
	.version = 1,
	.code = code,
	.state_bytes = state_bytes,
	.start = start,
	.run = run,
};
