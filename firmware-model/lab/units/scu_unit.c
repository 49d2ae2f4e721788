// SPDX-License-Identifier: MIT
/* The SCU on the crossbar of a laboratory's machine: the port, clock and host interface of the SCU's core. */
#include "scu_unit.h"

#include <stdlib.h>
#include <string.h>

/* The device's parameters have the published values. */
#define DEFAULT(UNIT, unit, NAME, name, property, value, ...) PUBLISHED_##NAME = value,
#define FIXED(UNIT, NAME, name, property, value, ...) PUBLISHED_##NAME = value,
enum { GTU_SCU_PARAMETER_ROWS(DEFAULT, FIXED, FIXED) };

const struct scu_pipe_shape lab_scu_published = {
	.width = PUBLISHED_WIDTH, .merge = PUBLISHED_MERGE, .in_flight = PUBLISHED_IN_FLIGHT,
	.vector_bytes = PUBLISHED_VECTOR_BYTES, .fifo_bytes = PUBLISHED_FIFO_BYTES, .hash_bytes = PUBLISHED_HASH_BYTES,
	.entry_bytes = 16,
};

struct lab_scu {
	struct lab *lab;
	int unit;
	struct scu_pipe *pipe;
	struct scu_run run;
	struct scu_state state;
	struct error { unsigned status, slot; uint64_t element, needed; } error;
	struct lab_scu_counts counts;
};

/* ---- The core's port ---------------------------------------------------------------------------- */

static void fail(void *ctx, unsigned status, unsigned slot, uint64_t element, uint64_t value)
{
	struct lab_scu *u = ctx;

	if (u->error.status == GTU_CPL_OK)
		u->error = (struct error){ status, slot, element, value };
}

/* An array is in one piece: what the core finds outside is behind its end. */
static uint8_t *span(void *ctx, unsigned slot, uint64_t byte, uint64_t want, uint64_t *got)
{
	(void)want, (void)got;
	fail(ctx, GTU_CPL_BOUNDS, slot, byte, 0);
	return NULL;
}

static bool beat(void *ctx, struct scu_pipe *p, uint32_t *cycles)
{
	struct lab_scu *u = ctx;

	(void)p;
	return scu_core_beat(&u->run, cycles);
}

static void request(void *ctx, uint32_t tag, uint64_t addr, unsigned sectors, bool write)
{
	struct lab_scu *u = ctx;

	lab_unit_memory(u->lab, u->unit, 0, write ? LAB_STORE : LAB_LOAD, addr, sectors, tag);
}

static void on_clock(void *ctx, uint64_t cycle)
{
	struct lab_scu *u = ctx;
	const uint64_t next = scu_pipe_run(u->pipe, cycle);

	if (next != UINT64_MAX)
		lab_unit_wake(u->lab, u->unit, next > cycle ? next : cycle + 1);
}

static void on_reply(void *ctx, uint64_t tag, uint64_t cycle)
{
	struct lab_scu *u = ctx;

	scu_pipe_reply(u->pipe, (uint32_t)tag);
	lab_unit_wake(u->lab, u->unit, cycle); /* after all replies of this cycle */
}

/* ---- For the host ------------------------------------------------------------------------------- */

int lab_scu_attach(struct lab *lab, const struct scu_pipe_shape *shape, const struct lab_unit_path *path, struct lab_scu **out,
		   struct gtu_error *err)
{
	static const struct lab_unit unit = { "scu", LAB_ON_CROSSBAR, NULL, on_reply, on_clock, false };
	const char *why = scu_pipe_check(shape);
	struct lab_scu *u;
	int rc;

	*out = NULL;
	if (why)
		return gtu_fail(err, GTU_ERR_USAGE, "%s", why);
	u = aligned_alloc(64, (sizeof(*u) + 63) & ~(size_t)63);
	if (!u)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for an SCU");
	memset(u, 0, sizeof(*u));
	u->lab = lab;
	u->pipe = scu_pipe_create(shape, &(struct scu_pipe_port){ .ctx = u, .beat = beat, .send = request });
	rc = u->pipe ? lab_attach(lab, &unit, u, &u->unit, err) : gtu_fail(err, GTU_ERR_NOMEM, "out of memory for an SCU");
	if (rc) {
		lab_scu_free(u);
		return rc;
	}
	lab_unit_path(lab, u->unit, path);
	u->run.port = (struct scu_port){ .ctx = u, .span = span, .fail = fail, .pipe = u->pipe };
	u->run.s = &u->state;
	u->run.lanes = shape->width;
	u->run.merge = shape->merge < GTU_WARP ? shape->merge : GTU_WARP;
	u->run.limit = UINT64_MAX;
	*out = u;
	return 0;
}

void lab_scu_free(struct lab_scu *u)
{
	if (!u)
		return;
	scu_pipe_free(u->pipe);
	free(u);
}

const struct lab_scu_counts *lab_scu_counts(struct lab_scu *u)
{
	u->counts.pipe = *scu_pipe_counts(u->pipe);
	u->counts.cycles = u->counts.pipe.cycles;
	return &u->counts;
}

static bool writes(const struct scu_params *p, unsigned slot)
{
	return slot == GTU_SCU_OUT ? p->step != GTU_STEP_PRODUCE :
	       slot == GTU_SCU_FILTER || slot == GTU_SCU_FILTER_TABLE ? p->filters :
	       (slot == GTU_SCU_REORDER || slot == GTU_SCU_GROUP_TABLE) && p->group;
}

/* False: an operand does not fit its array, or the operation its operands. */
static bool prepare(struct lab_scu *u, const struct lab_scu_op *op)
{
	struct scu_run *r = &u->run;
	unsigned i;

	memset(&u->state, 0, sizeof(u->state));
	memset(&u->error, 0, sizeof(u->error));
	r->p = scu_params_of(op->opcode, op->param);
	r->p.any_lines = true;
	r->p.state_in_set = op->state_in_set;
	r->p.skips_excluded = op->skips_excluded;
	if (op->group_max)
		r->p.group_max = op->group_max;
	r->imm = op->imm;
	for (i = 0; i < GTU_SCU_OPERANDS; i++) {
		const struct lab_array *a = op->operand[i].array;

		r->mem[i] = (struct scu_mem){ 0 };
		if (!a)
			continue;
		r->mem[i] = (struct scu_mem){
			.base = a->data, .addr = a->addr, .count = op->operand[i].count, .given = true, .monitored = true,
			.bytes = scu_operand_bytes(&r->p, i, op->operand[i].count),
		};
		if (r->mem[i].bytes > a->bytes || (a->read_only && writes(&r->p, i)))
			fail(u, r->mem[i].bytes > a->bytes ? GTU_CPL_BOUNDS : GTU_CPL_RIGHTS, i, 0, 0);
	}
	return u->error.status == GTU_CPL_OK && scu_core_start(r);
}

static void count(struct lab_scu *u)
{
	uint64_t c[GTU_SCU_COUNTERS];

	scu_core_counters(&u->run, c);
	u->counts.operations++;
	u->counts.slots += scu_core_beats(&u->run);
	lab_add_words(u->counts.count, c, sizeof(c));
}

int lab_scu_run(struct lab_scu *u, const struct lab_scu_op *op, uint64_t *out, struct gtu_error *err)
{
	int rc = 0;

	if (op->param & GTU_SCU_GROUP && (op->param >> GTU_SCU_STEP_SHIFT & 3) == GTU_STEP_FUSED)
		return gtu_fail(err, GTU_ERR_USAGE, "the laboratory's SCU groups in two steps, PRODUCE and APPLY, not fused");
	if (prepare(u, op)) {
		scu_pipe_start(u->pipe, lab_now(u->lab));
		lab_unit_wake(u->lab, u->unit, lab_now(u->lab));
		rc = lab_run_units(u->lab, err);
		if (!rc && !scu_pipe_ended(u->pipe))
			rc = gtu_fail(err, GTU_ERR_VERIFY, "the SCU stopped in the middle of an operation");
	}
	if (!rc && u->error.status != GTU_CPL_OK)
		rc = gtu_fail(err, GTU_ERR_FAIL, "the SCU's operation 0x%02x ended with status %u at operand %u, element %llu (needed %llu)",
			      op->opcode, u->error.status, u->error.slot, (unsigned long long)u->error.element,
			      (unsigned long long)u->error.needed);
	if (rc)
		return rc;
	count(u);
	*out = scu_core_count(&u->run);
	return 0;
}
