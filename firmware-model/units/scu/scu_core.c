// SPDX-License-Identifier: MIT
/*
 * The SCU's schedule: the phases of an operation (clear, main, count, drain) and their cycles.
 *
 * Work is counted in slots, `lanes` per cycle. Results and cycles therefore do not depend on how an operation
 * is divided into calls. Documentation/units-scu.md has the formulas.
 */
#include "scu_steps.h"

#define CLEAR_SETS_A_CYCLE GTU_LINE_BYTES	/* filter table: one state byte a set; a group set takes a cycle */

/* ---- Operations -------------------------------------------------------------------------------- */

struct scu_params scu_params_of(unsigned opcode, uint32_t param)
{
	const bool bitmask = opcode == GTU_OP_SCU_BITMASK;
	uint8_t width, index_width, count_width, cost_width;

	/* the producing step's descriptor can be reused with the step changed */
	if (!bitmask && (param >> GTU_SCU_STEP_SHIFT & 3) == GTU_STEP_APPLY)
		param &= ~(GTU_SCU_UNIQUE | GTU_SCU_BEST | GTU_SCU_GROUP | GTU_SCU_KEEP |
			   3u << GTU_SCU_TYPE_SHIFT | 3u << GTU_SCU_COST_SHIFT | 7u << GTU_SCU_TARGET_SHIFT);
	width = param >> GTU_SCU_WIDTH_SHIFT & 3;
	index_width = param >> GTU_SCU_INDEX_SHIFT & 3;
	count_width = param >> GTU_SCU_COUNT_SHIFT & 3;
	cost_width = param >> GTU_SCU_COST_SHIFT & 3;
	return (struct scu_params){
		.op = opcode,
		.width = width,
		.index_width = index_width,
		.count_width = count_width,
		.cost_width = cost_width,
		.type = param >> GTU_SCU_TYPE_SHIFT & 3,
		.cmp = param >> GTU_SCU_CMP_SHIFT & 7,
		.step = param >> GTU_SCU_STEP_SHIFT & 3,
		.unique = param & GTU_SCU_UNIQUE,
		.best = param & GTU_SCU_BEST,
		.group = param & GTU_SCU_GROUP,
		.group_max = GTU_GROUP_MAX,
		.keep = param & GTU_SCU_KEEP,
		.target = param >> GTU_SCU_TARGET_SHIFT & 7,
		.filters = param & (GTU_SCU_UNIQUE | GTU_SCU_BEST),
		.runs = opcode == GTU_OP_SCU_REPLICATE || opcode == GTU_OP_SCU_EXPAND,
		.indexed = opcode == GTU_OP_SCU_ACCESS || opcode == GTU_OP_SCU_EXPAND,
		.log2 = {
			[GTU_SCU_DATA] = width, [GTU_SCU_OUT] = bitmask ? 0 : width, [GTU_SCU_INDEX] = index_width,
			[GTU_SCU_COUNT] = count_width, [GTU_SCU_REORDER] = 2, [GTU_SCU_COST_GATHERED] = cost_width,
			[GTU_SCU_COST_INPUT] = cost_width, [GTU_SCU_FILTER_TABLE] = 6, [GTU_SCU_GROUP_TABLE] = 6,
		},
	};
}

uint64_t scu_operand_bytes(const struct scu_params *p, unsigned slot, uint64_t count)
{
	if (slot == GTU_SCU_FILTER_TABLE)
		return GTU_FILTER_TABLE_BYTES(count, p->width < 2 ? 4u : 1u << p->width, p->best ? 1u << p->cost_width : 0u);
	if (slot == GTU_SCU_GROUP_TABLE)
		return count / GTU_TABLE_WAYS * scu_group_set_bytes(p->group_max);
	if (slot == GTU_SCU_MASK || slot == GTU_SCU_FILTER || (slot == GTU_SCU_OUT && p->op == GTU_OP_SCU_BITMASK))
		return (count + 7) / 8;
	return count << p->log2[slot];
}

static uint64_t inputs_of(const struct scu_run *r)
{
	return r->mem[r->p.indexed ? GTU_SCU_INDEX : GTU_SCU_DATA].count;
}

bool scu_core_start(struct scu_run *r)
{
	/* read in step with the input: at least as many elements */
	static const uint8_t along[] = {
		GTU_SCU_COUNT, GTU_SCU_MASK, GTU_SCU_COST_INPUT, GTU_SCU_COST_GATHERED,
	};
	const uint64_t n = inputs_of(r), out = r->mem[GTU_SCU_OUT].count;
	unsigned i;

	for (i = 0; i < sizeof(along); i++) {
		const struct scu_mem *m = &r->mem[along[i]];

		if (m->given && m->count < n && !(along[i] == GTU_SCU_COST_GATHERED && r->p.indexed))
			return scu_fail(r, GTU_CPL_OPERAND, along[i], m->count, n);
	}
	for (i = GTU_SCU_FILTER_TABLE; i <= GTU_SCU_GROUP_TABLE; i++)
		if (r->mem[i].given && !(r->p.any_lines ? r->mem[i].count >= GTU_TABLE_WAYS : scu_table_lines_valid(r->mem[i].count)))
			return scu_fail(r, GTU_CPL_OPERAND, i, 0, 0);
	if (r->p.best && !r->mem[GTU_SCU_COST_GATHERED].given && !r->mem[GTU_SCU_COST_INPUT].given)
		return scu_fail(r, GTU_CPL_OPERAND, GTU_SCU_COST_GATHERED, 0, 0);
	if (r->p.op == GTU_OP_SCU_BITMASK && n > out)
		return scu_fail(r, GTU_CPL_OVERFLOW, GTU_SCU_OUT, out, n);
	return true;
}

/* ---- Memory ------------------------------------------------------------------------------------ */

bool scu_copy(struct scu_mem *m, uint64_t byte, uint8_t *buffer, uint64_t bytes, bool store)
{
	uint64_t got;
	uint8_t *p;

	for (; bytes; bytes -= got, byte += got, buffer += got) {
		p = scu_span(m, byte, bytes, &got);
		if (!p)
			return false;
		memcpy(store ? p : buffer, store ? buffer : p, got);
		__asm__ volatile("" : : "r"(buffer) : "memory");
	}
	return true;
}

uint8_t *scu_contiguous(struct scu_mem *m, uint64_t byte, uint64_t bytes, void *copy)
{
	uint64_t got;
	uint8_t *p = scu_span(m, byte, bytes, &got);

	if (!p || got == bytes)
		return p;
	return scu_load(m, byte, copy, bytes) ? copy : NULL;
}

void scu_report_stream(struct scu_mem *m, uint64_t byte, uint64_t bytes, bool write)
{
	const struct scu_port *port = m->port;

	if (!port->pipe)
		port->stream(port->ctx, m->slot, byte, bytes);
	else if (bytes)
		scu_pipe_access(port->pipe, write ? SCU_WRITE : m->stage, m->slot, m->addr + byte, bytes,
				m->addr + m->bytes);
}

void scu_report_gather(struct scu_mem *m, const uint64_t *byte, unsigned n, unsigned width_log2, bool write)
{
	const struct scu_port *port = m->port;
	unsigned i;

	if (!port->pipe)
		port->gather(port->ctx, m->slot, byte, n, width_log2, write);
	else
		for (i = 0; i < n; i++)
			scu_report_stream(m, byte[i], 1u << width_log2, write);
}

/* ---- Schedule ---------------------------------------------------------------------------------- */

/* Number of consecutive stages that fetch: the input, the indexed data, each table. */
static uint64_t fetches(const struct scu_run *r)
{
	const uint64_t in = r->p.indexed && r->mem[GTU_SCU_DATA].given ? 2 : 1;

	return in + r->p.filters + r->p.group + (r->s->pass ? in : 0);
}

uint64_t scu_core_beats(const struct scu_run *r)
{
	return r->s->units / r->lanes + (r->s->units % r->lanes != 0);
}

static uint64_t cycles_of(const struct scu_run *r)
{
	return fetches(r) * r->port.latency + scu_core_beats(r);
}

/* The operand in @slot, if given, has one element per ordinal; one more is error @status. */
static void cap_by(struct scu_run *r, unsigned slot, unsigned status)
{
	if (!r->mem[slot].given || r->mem[slot].count > r->cap)
		return;
	r->cap = r->mem[slot].count;
	r->cap_slot = slot;
	r->cap_status = status;
}

static void set_sink(struct scu_run *r)
{
	const struct scu_params *p = &r->p;

	if (r->s->pass || (p->step == GTU_STEP_APPLY && r->mem[GTU_SCU_REORDER].given))
		r->sink = SINK_APPLY_REORDER;
	else if (p->step == GTU_STEP_APPLY)
		r->sink = SINK_APPLY_FILTER;
	else if (p->group)
		r->sink = SINK_GROUP;
	else
		r->sink = p->filters ? SINK_FILTER : SINK_PLAIN;
	r->to_stage = r->sink == SINK_PLAIN;

	r->cap = UINT64_MAX;
	if (r->sink == SINK_PLAIN)
		cap_by(r, GTU_SCU_OUT, GTU_CPL_OVERFLOW);
	if (r->sink == SINK_GROUP || r->sink == SINK_APPLY_REORDER)
		cap_by(r, GTU_SCU_REORDER, r->sink == SINK_GROUP ? GTU_CPL_OVERFLOW : GTU_CPL_INDEX);
	if (r->sink == SINK_GROUP || r->sink == SINK_FILTER || r->sink == SINK_APPLY_FILTER)
		cap_by(r, GTU_SCU_FILTER, p->filters ? GTU_CPL_OVERFLOW : GTU_CPL_INDEX);
}

/* Total slots that the cycle limit allows, after the latency of the fetches. */
static uint64_t units_allowed(const struct scu_run *r)
{
	const uint64_t fixed = fetches(r) * r->port.latency, limit = r->limit;

	if (fixed >= limit)
		return 0;
	return limit - fixed > UINT64_MAX / r->lanes ? UINT64_MAX : (limit - fixed) * r->lanes;
}

static bool input_left(const struct scu_run *r)
{
	return r->s->in < r->n || r->s->left;
}

/* Write the last, partial byte of the bit vector that the operation produces. */
static bool finish_bits(struct scu_run *r)
{
	if (r->p.op == GTU_OP_SCU_BITMASK)
		return scu_finish_bits(r, &r->mem[GTU_SCU_OUT], r->s->in);
	if (r->p.filters && r->mem[GTU_SCU_FILTER].given && !r->s->pass)
		return scu_finish_bits(r, &r->mem[GTU_SCU_FILTER], r->s->ordinal);
	return true;
}

/* An operand with one element per ordinal is full, and input is left. */
static bool beyond_cap(struct scu_run *r)
{
	struct scu_state *s = r->s;

	if (r->cap_status == GTU_CPL_INDEX)
		return scu_fail(r, GTU_CPL_INDEX, r->cap_slot, s->in, s->ordinal);
	if (!s->over) {
		s->over = true;
		s->over_slot = r->cap_slot;
		s->over_element = s->in;
	}
	s->needed = s->over_slot == r->cap_slot ? s->ordinal : s->kept;
	s->counting = true;
	s->phase = SCU_COUNT;
	return finish_bits(r);
}

/* Are there elements that take no slot? */
static bool skips_excluded(const struct scu_run *r)
{
	return r->p.skips_excluded && (r->mem[GTU_SCU_MASK].given || r->sink == SINK_APPLY_REORDER ||
				       (r->mem[GTU_SCU_FILTER].given && r->sink != SINK_FILTER));
}

/* The slots of a block of 32 elements of which @kept pass. */
static uint64_t slots_of_kept(const struct scu_run *r, uint64_t kept)
{
	const uint64_t empty = r->p.runs ? r->slots - r->m : 0;
	const uint64_t slots = empty + (r->sink == SINK_PLAIN || r->sink == SINK_FILTER ? r->m : kept);

	return slots > r->lanes ? slots : r->lanes;
}

/* One block of the operation, at most @slots. */
static bool main_block(struct scu_run *r, uint64_t slots)
{
	struct scu_state *s = r->s;
	const bool skips = skips_excluded(r);
	const uint64_t kept = s->kept;
	bool ok;

	if (r->p.op == GTU_OP_SCU_BITMASK) {
		ok = scu_compare(r, slots);
		s->units += r->slots;
		return ok;
	}
	if (!scu_generate(r, skips ? GTU_WARP : slots))
		return false;
	ok = !r->m || scu_sink(r);
	s->units += skips ? slots_of_kept(r, s->kept - kept) : r->slots;
	if (!ok)
		return false;
	s->ordinal += r->m;
	if (r->error) {
		finish_bits(r);
		return scu_fail(r, r->error, r->error_slot, s->in, r->error_value);
	}
	return !r->full || beyond_cap(r);
}

/* The operation has consumed its input: drain the group table, or end. */
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

/* Number of sets of a table to clear; 0 if the job keeps its tables. */
static uint64_t sets_cleared(const struct scu_run *r, unsigned slot)
{
	return r->p.keep ? 0 : r->mem[slot].count / GTU_TABLE_WAYS;
}

/* Do about @units slots of the phase's work. False: the operation has ended in error. */
static bool work(struct scu_run *r, uint64_t units)
{
	struct scu_state *s = r->s;
	const uint64_t cycles = units > r->lanes ? units / r->lanes : 1;
	uint64_t sets, n;

	switch (s->phase) {
	case SCU_CLEAR_FILTER: {
		struct scu_filter f = scu_filter_of(r);

		sets = sets_cleared(r, GTU_SCU_FILTER_TABLE) - s->table_at;
		n = sets / CLEAR_SETS_A_CYCLE < cycles ? sets : cycles * CLEAR_SETS_A_CYCLE;
		if (!scu_filter_clear(&f, s->table_at, s->table_at + n))
			return false;
		s->units += (n + CLEAR_SETS_A_CYCLE - 1) / CLEAR_SETS_A_CYCLE * r->lanes;
		s->table_at += n;
		return true;
	}
	case SCU_CLEAR_GROUP: {
		struct scu_group g = scu_group_of(r);

		sets = sets_cleared(r, GTU_SCU_GROUP_TABLE) - s->table_at;
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

/* True while the phase has work. Otherwise start the next phase; *ok is false if that failed. */
static bool phase_goes_on(struct scu_run *r, bool *ok)
{
	struct scu_state *s = r->s;

	*ok = true;
	switch (s->phase) {
	case SCU_CLEAR_FILTER:
		if (s->table_at < sets_cleared(r, GTU_SCU_FILTER_TABLE))
			return true;
		s->table_at = 0;
		s->phase = SCU_CLEAR_GROUP;
		return false;
	case SCU_CLEAR_GROUP:
		if (s->table_at < sets_cleared(r, GTU_SCU_GROUP_TABLE))
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

bool scu_core_begin(struct scu_run *r)
{
	struct scu_mem *data = &r->mem[GTU_SCU_DATA], *cost = &r->mem[GTU_SCU_COST_GATHERED];
	const unsigned gathers = r->p.indexed ? SCU_DATA : SCU_VECTOR;
	unsigned i;

	r->k = gtu_scu_kernels();
	r->window = r->window_end = 0;
	r->streamed = r->monitored = false;
	for (i = 0; i < GTU_SCU_OPERANDS; i++) {
		struct scu_mem *m = &r->mem[i];

		m->port = &r->port;
		m->slot = i;
		m->width_log2 = r->p.log2[i];
		m->stage = i == GTU_SCU_FILTER_TABLE ? SCU_FILTER : i == GTU_SCU_GROUP_TABLE ? SCU_GROUP :
			   m == data || m == cost ? gathers : SCU_VECTOR;
		r->monitored |= m->given && m->monitored;
	}
	r->n = inputs_of(r);
	r->data_limit = data->given ? data->count : UINT64_MAX;
	if (cost->given && cost->count < r->data_limit)
		r->data_limit = cost->count;
	r->out_at = r->s->out << r->p.width;
	r->fill = 0;
	set_sink(r);
	/* the data's region may have been replaced by a shorter one since the current run began */
	if (r->p.indexed && r->s->left &&
	    (r->s->from > r->data_limit || r->s->left > r->data_limit - r->s->from))
		return scu_fail(r, GTU_CPL_INDEX, GTU_SCU_COUNT, r->s->in, r->s->left);
	return true;
}

bool scu_core_run(struct scu_run *r, uint64_t cycles)
{
	struct scu_state *s = r->s;
	uint64_t target, most;
	bool ok = true;

	target = cycles > (UINT64_MAX - s->units) / r->lanes ? UINT64_MAX : s->units + cycles * r->lanes;
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
			s->cycles = cycles_of(r);
		}
	}
	if (!scu_flush(r))
		ok = false;
	if (r->streamed)
		r->k->fence();
	s->cycles = cycles_of(r);
	if (s->cycles > r->limit) {
		if (ok && s->phase == SCU_END)
			ok = scu_fail(r, GTU_CPL_LIMIT, 0xff, s->in, 0);
		s->cycles = r->limit;
	}
	if (ok && s->phase == SCU_END && s->over)
		ok = scu_fail(r, GTU_CPL_OVERFLOW, s->over_slot, s->over_element,
			      s->counting ? s->needed : s->kept);
	return ok && s->phase != SCU_END;
}

bool scu_core_beat(struct scu_run *r, uint32_t *cycles)
{
	const uint64_t before = scu_core_beats(r);

	if (r->s->ended)
		return false;
	r->s->ended = !scu_core_begin(r) || !scu_core_run(r, 1);
	*cycles = (uint32_t)(scu_core_beats(r) - before);
	return true;
}

/* ---- Results ----------------------------------------------------------------------------------- */

uint64_t scu_core_count(const struct scu_run *r)
{
	return r->p.op == GTU_OP_SCU_BITMASK ? r->s->in : r->p.step == GTU_STEP_PRODUCE ? r->s->kept : r->s->out;
}

void scu_core_counters(const struct scu_run *r, uint64_t count[GTU_SCU_COUNTERS])
{
	const struct scu_state *s = r->s;

	count[GTU_SCU_C_IN] = s->in + (s->pass ? r->n : 0);
	count[GTU_SCU_C_OUT] = r->p.op == GTU_OP_SCU_BITMASK ? s->in : s->out;
	count[GTU_SCU_C_DROPPED] = r->p.step == GTU_STEP_APPLY ? 0 : s->dropped;
	count[GTU_SCU_C_PROBES] = s->probes;
	count[GTU_SCU_C_EVICTIONS] = s->evictions;
	count[GTU_SCU_C_GROUPS] = s->groups;
	count[GTU_SCU_C_GROUPED] = s->rank;
}
