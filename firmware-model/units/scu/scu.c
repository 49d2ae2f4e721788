// SPDX-License-Identifier: MIT
/*
 * SCU, the stream compaction unit (scu.txt, sections 3 and 4): descriptors, operands, the schedule.
 *
 * A job's work is counted in units, of which `width` make a cycle, so that neither results nor cycles
 * depend on how a job is cut into calls. Documentation/units-scu.md has the formulas.
 */
#include "scu.h"

#define CLEAR_SETS_A_CYCLE GTU_LINE_BYTES	/* state bytes of the filter table; a group set is a cycle */

static struct scu_params params_of(const struct gtu_job *job)
{
	const uint32_t p = job->desc.param;

	return (struct scu_params){
		.op = job->desc.opcode,
		.width = p >> GTU_SCU_WIDTH_SHIFT & 3,
		.index_width = p >> GTU_SCU_INDEX_SHIFT & 3,
		.count_width = p >> GTU_SCU_COUNT_SHIFT & 3,
		.type = p >> GTU_SCU_TYPE_SHIFT & 3,
		.cmp = p >> GTU_SCU_CMP_SHIFT & 7,
		.step = p >> GTU_SCU_STEP_SHIFT & 3,
		.unique = p & GTU_SCU_UNIQUE,
		.best = p & GTU_SCU_BEST,
		.group = p & GTU_SCU_GROUP,
		.keep = p & GTU_SCU_KEEP,
		.cost_width = p >> GTU_SCU_COST_SHIFT & 3,
		.target = p >> GTU_SCU_TARGET_SHIFT & 7,
		.filters = p & (GTU_SCU_UNIQUE | GTU_SCU_BEST),
		.runs = job->desc.opcode == GTU_OP_SCU_REPLICATE || job->desc.opcode == GTU_OP_SCU_EXPAND,
		.indexed = job->desc.opcode == GTU_OP_SCU_ACCESS || job->desc.opcode == GTU_OP_SCU_EXPAND,
	};
}

/*
 * What APPLY does not look at (the tables, the costs, how it was filtered) is ignored, so that the
 * descriptor of the producing step serves with the step changed. Of both vectors the reorder vector counts.
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
	job->desc.param &= ~(GTU_SCU_UNIQUE | GTU_SCU_BEST | GTU_SCU_GROUP | GTU_SCU_KEEP |
			     3u << GTU_SCU_TYPE_SHIFT | 3u << GTU_SCU_COST_SHIFT |
			     7u << GTU_SCU_TARGET_SHIFT);
	job->desc.imm = 0;
}

/* A field that the operation does not use must be 0; so must what it cannot mean. */
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

static bool table_lines_valid(const struct gtu_job *job, unsigned place)
{
	const struct gtu_hw_operand *op = &job->operand[place];

	return !op->key || (op->count >= GTU_TABLE_WAYS && op->count <= GTU_TABLE_LINES_MAX &&
			    !(op->count & (op->count - 1)));
}

/* Resolve all operands by what the operation and the step make of them. */
static bool operands(struct gtu_job *job, const struct scu_params *p)
{
	const bool bitmask = p->op == GTU_OP_SCU_BITMASK, apply = p->step == GTU_STEP_APPLY;
	const uint32_t filter_lines = job->operand[GTU_SCU_FILTER_TABLE].count;
	const uint32_t group_lines = job->operand[GTU_SCU_GROUP_TABLE].count;
	const bool by_reorder = apply && job->operand[GTU_SCU_REORDER].key;
	struct gtu_want want[GTU_SCU_OPERANDS];
	unsigned i;

	for (i = 0; i < GTU_SCU_OPERANDS; i++)
		want[i] = (struct gtu_want){ .place = i, .need = GTU_WANT_NONE };

	want[GTU_SCU_DATA].width_log2 = p->width;
	want[GTU_SCU_DATA].need = GTU_WANT_READ | (p->op == GTU_OP_SCU_ACCESS ? GTU_WANT_MAYBE : 0);
	want[GTU_SCU_DATA].rest = p->indexed;
	if (p->indexed) {
		want[GTU_SCU_INDEX].width_log2 = p->index_width;
		want[GTU_SCU_INDEX].need = GTU_WANT_READ;
	}
	if (p->runs) {
		want[GTU_SCU_COUNT].width_log2 = p->count_width;
		want[GTU_SCU_COUNT].need = GTU_WANT_READ;
	}
	want[GTU_SCU_MASK].bits = want[GTU_SCU_FILTER].bits = 1;
	if (!bitmask)
		want[GTU_SCU_MASK].need = GTU_WANT_READ | GTU_WANT_MAYBE;
	if (bitmask)
		want[GTU_SCU_OUT].bits = 1;
	else
		want[GTU_SCU_OUT].width_log2 = p->width;
	if (p->step != GTU_STEP_PRODUCE)
		want[GTU_SCU_OUT].need = GTU_WANT_WRITE;

	want[GTU_SCU_REORDER].width_log2 = 2;
	if (apply) {
		want[GTU_SCU_REORDER].need = by_reorder ? GTU_WANT_READ : GTU_WANT_NONE;
		want[GTU_SCU_FILTER].need = by_reorder ? GTU_WANT_NONE : GTU_WANT_READ;
	} else if (p->group) {
		want[GTU_SCU_REORDER].need = p->step == GTU_STEP_FUSED ? GTU_WANT_BOTH : GTU_WANT_WRITE;
		want[GTU_SCU_FILTER].need = GTU_WANT_MAYBE | (p->filters ? GTU_WANT_WRITE : GTU_WANT_READ);
	} else if (p->filters) {
		want[GTU_SCU_FILTER].need = GTU_WANT_WRITE |
					    (p->step == GTU_STEP_FUSED ? GTU_WANT_MAYBE : 0);
	}
	want[GTU_SCU_FILTER_TABLE].width_log2 = want[GTU_SCU_GROUP_TABLE].width_log2 = 6;
	if (p->filters && !apply) {
		want[GTU_SCU_FILTER_TABLE].need = GTU_WANT_BOTH;
		want[GTU_SCU_FILTER_TABLE].bytes =
			GTU_FILTER_TABLE_BYTES(filter_lines, p->width < 2 ? 4u : 1u << p->width,
					       p->best ? 1u << p->cost_width : 0u);
	}
	if (p->group && !apply) {
		want[GTU_SCU_GROUP_TABLE].need = GTU_WANT_BOTH;
		want[GTU_SCU_GROUP_TABLE].bytes = GTU_GROUP_TABLE_BYTES(group_lines);
	}
	want[GTU_SCU_COST_GATHERED].width_log2 = want[GTU_SCU_COST_INPUT].width_log2 = p->cost_width;
	want[GTU_SCU_COST_GATHERED].rest = p->indexed;
	if (p->best) {
		want[GTU_SCU_COST_GATHERED].need = GTU_WANT_READ | GTU_WANT_MAYBE;
		want[GTU_SCU_COST_INPUT].need = GTU_WANT_READ | GTU_WANT_MAYBE;
	}
	return gtu_job_operands(job, want, GTU_SCU_OPERANDS, GTU_SCU_OPERANDS);
}

static uint64_t inputs_of(const struct gtu_job *job, const struct scu_params *p)
{
	return job->mem[p->indexed ? GTU_SCU_INDEX : GTU_SCU_DATA].count;
}

/* Operands that go along with the input have at least as many elements. */
static bool counts_valid(struct gtu_job *job, const struct scu_params *p)
{
	static const uint8_t along[] = {
		GTU_SCU_COUNT, GTU_SCU_MASK, GTU_SCU_COST_INPUT, GTU_SCU_COST_GATHERED,
	};
	const uint64_t n = inputs_of(job, p);
	unsigned i;

	for (i = 0; i < sizeof(along); i++) {
		const struct gtu_mem *m = &job->mem[along[i]];

		if (!m->key || (along[i] == GTU_SCU_COST_GATHERED && p->indexed))
			continue;
		if (m->count < n) {
			job->needed = n;
			return gtu_job_error(job, GTU_CPL_OPERAND, along[i], m->count), false;
		}
	}
	if (p->best && !job->mem[GTU_SCU_COST_GATHERED].key && !job->mem[GTU_SCU_COST_INPUT].key)
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_SCU_COST_GATHERED, 0), false;
	return true;
}

static bool start(struct gtu_job *job)
{
	const struct gtu_hw_desc *d = &job->desc;
	struct scu_state *s = (struct scu_state *)job->state;
	struct scu_params p;

	if (d->opcode > GTU_OP_SCU_EXPAND)
		return gtu_job_error(job, GTU_CPL_OPCODE, 0xff, 0), false;
	if (d->param & ~GTU_SCU_PARAM_MASK || d->param2)
		return gtu_job_error(job, GTU_CPL_RESERVED, 0xff, 0), false;
	if (d->opcode != GTU_OP_SCU_BITMASK && (d->param >> GTU_SCU_STEP_SHIFT & 3) == GTU_STEP_APPLY)
		forget_unused(job);
	p = params_of(job);
	if (!params_valid(job, &p))
		return gtu_job_error(job, GTU_CPL_PARAM, 0xff, 0), false;
	if (!table_lines_valid(job, GTU_SCU_FILTER_TABLE))
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_SCU_FILTER_TABLE, 0), false;
	if (!table_lines_valid(job, GTU_SCU_GROUP_TABLE))
		return gtu_job_error(job, GTU_CPL_OPERAND, GTU_SCU_GROUP_TABLE, 0), false;
	if (!operands(job, &p) || !counts_valid(job, &p))
		return false;
	if (p.op == GTU_OP_SCU_BITMASK && job->mem[GTU_SCU_DATA].count > job->mem[GTU_SCU_OUT].count) {
		job->needed = job->mem[GTU_SCU_DATA].count;
		return gtu_job_error(job, GTU_CPL_OVERFLOW, GTU_SCU_OUT, job->mem[GTU_SCU_OUT].count), false;
	}
	s->phase = p.filters && !p.keep ? SCU_CLEAR_FILTER :
		   p.group && !p.keep ? SCU_CLEAR_GROUP : SCU_MAIN;
	return true;
}

/* ---- Schedule ---------------------------------------------------------------------------------- */

/* Fetches that follow from each other: input, what an index selects, each table. */
static uint64_t fetches(const struct scu_run *r)
{
	const uint64_t in = r->p.indexed && r->mem[GTU_SCU_DATA].key ? 2 : 1;

	return in + r->p.filters + r->p.group + (r->s->pass ? in : 0);
}

static uint64_t cycles_of(const struct scu_run *r, uint64_t units)
{
	return fetches(r) * r->latency + units / r->lanes + (units % r->lanes != 0);
}

static void set_sink(struct scu_run *r)
{
	const struct scu_params *p = &r->p;
	struct gtu_mem *filter = &r->mem[GTU_SCU_FILTER], *reorder = &r->mem[GTU_SCU_REORDER];

	if (r->s->pass || (p->step == GTU_STEP_APPLY && reorder->key))
		r->sink = SINK_APPLY_REORDER;
	else if (p->step == GTU_STEP_APPLY)
		r->sink = SINK_APPLY_FILTER;
	else if (p->group)
		r->sink = SINK_GROUP;
	else
		r->sink = p->filters ? SINK_FILTER : SINK_PLAIN;
	r->to_stage = r->sink == SINK_PLAIN;

	r->cap = UINT64_MAX;
	switch (r->sink) {
	case SINK_PLAIN:
		r->cap = r->mem[GTU_SCU_OUT].count;
		r->cap_place = GTU_SCU_OUT;
		r->cap_status = GTU_CPL_OVERFLOW;
		break;
	case SINK_GROUP:
	case SINK_APPLY_REORDER:
		r->cap = reorder->count;
		r->cap_place = GTU_SCU_REORDER;
		r->cap_status = r->sink == SINK_GROUP ? GTU_CPL_OVERFLOW : GTU_CPL_INDEX;
		if (r->sink == SINK_APPLY_REORDER)
			break;
		/* fall through */
	case SINK_FILTER:
	case SINK_APPLY_FILTER:
		if (filter->key && filter->count <= r->cap) {
			r->cap = filter->count;
			r->cap_place = GTU_SCU_FILTER;
			r->cap_status = r->p.filters ? GTU_CPL_OVERFLOW : GTU_CPL_INDEX;
		}
	}
}

/* Units the job may use in all; the fetches come first. */
static uint64_t units_allowed(const struct scu_run *r)
{
	const uint64_t fixed = fetches(r) * r->latency, limit = r->job->limit;

	if (fixed >= limit)
		return 0;
	return limit - fixed > UINT64_MAX / r->lanes ? UINT64_MAX : (limit - fixed) * r->lanes;
}

static bool input_left(const struct scu_run *r)
{
	return r->s->in < r->n || r->s->left;
}

/* The bits of a vector that the job has written end here. */
static bool finish_bits(struct scu_run *r)
{
	if (r->p.op == GTU_OP_SCU_BITMASK)
		return scu_finish_bits(r, &r->mem[GTU_SCU_OUT], r->s->in);
	if (r->p.filters && r->mem[GTU_SCU_FILTER].key && !r->s->pass)
		return scu_finish_bits(r, &r->mem[GTU_SCU_FILTER], r->s->ordinal);
	return true;
}

/* An operand that takes an element an ordinal has come to its end before the elements have. */
static bool beyond_cap(struct scu_run *r)
{
	struct scu_state *s = r->s;

	if (r->cap_status == GTU_CPL_INDEX)
		return scu_fail(r, GTU_CPL_INDEX, r->cap_place, s->in, s->ordinal);
	if (!s->over) {
		s->over = true;
		s->over_place = r->cap_place;
		s->over_element = s->in;
	}
	s->needed = s->over_place == r->cap_place ? s->ordinal : s->kept;
	s->counting = true;
	s->phase = SCU_COUNT;
	return finish_bits(r);
}

/* One block of the operation, at most @slots. */
static bool main_block(struct scu_run *r, uint64_t slots)
{
	struct scu_state *s = r->s;
	bool ok;

	if (r->p.op == GTU_OP_SCU_BITMASK) {
		ok = scu_compare(r, slots);
		s->units += r->slots;
		return ok;
	}
	if (!scu_generate(r, slots))
		return false;
	ok = !r->m || scu_sink(r);
	s->units += r->slots;
	if (!ok)
		return false;
	s->ordinal += r->m;
	if (r->error) {
		finish_bits(r);
		return scu_fail(r, r->error, r->error_place, s->in, r->error_value);
	}
	return !r->full || beyond_cap(r);
}

/* The operation has seen all its input: drain the group table, or end. */
static bool main_done(struct scu_run *r)
{
	r->s->table_at = 0;
	r->s->phase = r->sink == SINK_GROUP ? SCU_DRAIN : SCU_END;
	return finish_bits(r);
}

static void drain_done(struct scu_run *r)
{
	struct scu_state *s = r->s;

	s->phase = SCU_END;
	if (r->p.step != GTU_STEP_FUSED || s->over)
		return;
	s->pass = 1;
	s->in = s->left = s->ordinal = 0;
	s->phase = SCU_MAIN;
	set_sink(r);
}

/* Do some of the phase's work, at most about @units of it. False: the job has ended in error. */
static bool work(struct scu_run *r, uint64_t units)
{
	struct scu_state *s = r->s;
	const uint64_t cycles = units > r->lanes ? units / r->lanes : 1;
	uint64_t sets, n;

	switch (s->phase) {
	case SCU_CLEAR_FILTER: {
		struct scu_filter f = scu_filter_of(r);

		sets = r->mem[GTU_SCU_FILTER_TABLE].count / GTU_TABLE_WAYS - s->table_at;
		n = sets / CLEAR_SETS_A_CYCLE < cycles ? sets : cycles * CLEAR_SETS_A_CYCLE;
		if (!scu_filter_clear(&f, s->table_at, s->table_at + n))
			return false;
		s->units += (n + CLEAR_SETS_A_CYCLE - 1) / CLEAR_SETS_A_CYCLE * r->lanes;
		s->table_at += n;
		return true;
	}
	case SCU_CLEAR_GROUP: {
		struct scu_group g = scu_group_of(r);

		sets = r->mem[GTU_SCU_GROUP_TABLE].count / GTU_TABLE_WAYS - s->table_at;
		n = sets < cycles ? sets : cycles;
		if (!scu_group_clear(&g, s->table_at, s->table_at + n))
			return false;
		s->units += n * r->lanes;
		s->table_at += n;
		return true;
	}
	case SCU_MAIN:
		return main_block(r, units);
	case SCU_COUNT:
		if (!scu_count(r, units))
			return false;
		s->units += r->slots;
		return true;
	default:
		s->units += r->lanes;
		return scu_drain_set(r, s->table_at++);
	}
}

/* True while the phase has work; else *ok says whether the next one could be begun. */
static bool phase_goes_on(struct scu_run *r, bool *ok)
{
	struct scu_state *s = r->s;

	*ok = true;
	switch (s->phase) {
	case SCU_CLEAR_FILTER:
		if (s->table_at < r->mem[GTU_SCU_FILTER_TABLE].count / GTU_TABLE_WAYS)
			return true;
		s->table_at = 0;
		s->phase = r->p.group ? SCU_CLEAR_GROUP : SCU_MAIN;
		return false;
	case SCU_CLEAR_GROUP:
		if (s->table_at < r->mem[GTU_SCU_GROUP_TABLE].count / GTU_TABLE_WAYS)
			return true;
		s->phase = SCU_MAIN;
		return false;
	case SCU_MAIN:
		if (input_left(r))
			return true;
		*ok = main_done(r);
		return false;
	case SCU_COUNT:
		if (input_left(r))
			return true;
		s->phase = SCU_END;
		return false;
	default:
		if (s->table_at < r->mem[GTU_SCU_GROUP_TABLE].count / GTU_TABLE_WAYS)
			return true;
		drain_done(r);
		return false;
	}
}

static struct scu_run *run_begin(struct gtu_job *job)
{
	struct scu_run *r = (void *)(((uintptr_t)gtu_job_unit_state(job) + 63) & ~(uintptr_t)63);
	const uint32_t *param = gtu_job_params(job);
	struct gtu_mem *data = &job->mem[GTU_SCU_DATA], *cost = &job->mem[GTU_SCU_COST_GATHERED];
	unsigned i;

	r->job = job;
	r->s = (struct scu_state *)job->state;
	r->k = gtu_scu_kernels();
	r->p = params_of(job);
	r->mem = job->mem;
	r->lanes = param[GTU_SCU_P_WIDTH];
	r->latency = param[GTU_SCU_P_LATENCY];
	r->merge = param[GTU_SCU_P_MERGE];
	r->window = r->window_end = 0;
	r->streamed = r->watched = false;
	if (!operands(job, &r->p))
		return NULL;
	for (i = 0; i < GTU_SCU_OPERANDS; i++)
		r->watched |= r->mem[i].key && r->mem[i].watched;
	r->n = inputs_of(job, &r->p);
	r->data_limit = data->key ? data->count : UINT64_MAX;
	if (cost->key && cost->count < r->data_limit)
		r->data_limit = cost->count;
	r->out_at = r->s->out << r->p.width;
	r->fill = 0;
	set_sink(r);
	/* the data may be shorter than when the run at hand was begun: its region has been replaced */
	if (r->p.indexed && r->s->left &&
	    (r->s->from > r->data_limit || r->s->left > r->data_limit - r->s->from)) {
		scu_fail(r, GTU_CPL_INDEX, GTU_SCU_COUNT, r->s->in, r->s->left);
		return NULL;
	}
	return r;
}

/* What the completion and the unit's counters say of the job so far. */
static void report(struct scu_run *r, bool done)
{
	struct gtu_job *job = r->job;
	struct scu_state *s = r->s;
	const bool bitmask = r->p.op == GTU_OP_SCU_BITMASK, apply = r->p.step == GTU_STEP_APPLY;
	const uint64_t now[GTU_SCU_COUNTERS] = {
		[GTU_SCU_C_JOBS] = done,
		[GTU_SCU_C_CYCLES] = job->cycles,
		[GTU_SCU_C_IN] = s->in + (s->pass ? r->n : 0),
		[GTU_SCU_C_OUT] = bitmask ? s->in : s->out,
		[GTU_SCU_C_DROPPED] = apply ? 0 : s->dropped,
		[GTU_SCU_C_PROBES] = s->probes,
		[GTU_SCU_C_EVICTIONS] = s->evictions,
		[GTU_SCU_C_GROUPS] = s->groups,
		[GTU_SCU_C_GROUPED] = s->rank,
	};
	uint64_t *counter = gtu_job_counters(job);
	unsigned i;

	for (i = 0; i < GTU_SCU_COUNTERS; i++) {
		counter[i] += now[i] - s->counted[i];
		s->counted[i] = now[i];
	}
	job->count = bitmask ? s->in : r->p.step == GTU_STEP_PRODUCE ? s->kept : s->out;
	job->dropped = s->dropped;
}

static int run(struct gtu_job *job, uint64_t budget)
{
	struct scu_run *r = run_begin(job);
	struct scu_state *s;
	uint64_t target, most;
	bool ok = true;

	if (!r)
		return GTU_RUN_DONE;
	s = r->s;
	target = budget > (UINT64_MAX - s->units) / r->lanes ? UINT64_MAX : s->units + budget * r->lanes;
	target = target > s->units ? target : s->units + 1;
	while (ok && s->phase != SCU_END) {
		if (!phase_goes_on(r, &ok))
			continue;
		most = units_allowed(r);
		if (s->units >= most) {
			ok = scu_fail(r, GTU_CPL_LIMIT, 0xff, s->in, 0);
		} else if (s->units >= target) {
			break;
		} else {
			ok = work(r, (target < most ? target : most) - s->units);
			job->cycles = cycles_of(r, s->units);
		}
	}
	if (!scu_flush(r))
		ok = false;
	if (r->streamed)
		r->k->fence();
	job->cycles = cycles_of(r, s->units);
	if (job->cycles > job->limit) {
		if (ok && s->phase == SCU_END)
			ok = scu_fail(r, GTU_CPL_LIMIT, 0xff, s->in, 0);
		job->cycles = job->limit;
	}
	if (ok && s->phase == SCU_END && s->over)
		ok = scu_fail(r, GTU_CPL_OVERFLOW, s->over_place, s->over_element,
			      s->counting ? s->needed : s->kept);
	report(r, !ok || s->phase == SCU_END);
	return ok && s->phase != SCU_END ? GTU_RUN_MORE : GTU_RUN_DONE;
}

/* ---- The unit ---------------------------------------------------------------------------------- */

static size_t state_bytes(const struct gtu_dev_config *config)
{
	(void)config;
	return sizeof(struct scu_run) + 63;
}

const struct gtu_unit gtu_unit_scu = {
	.version = 1,
	.state_bytes = state_bytes,
	.start = start,
	.run = run,
};
