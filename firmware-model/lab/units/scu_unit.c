// SPDX-License-Identifier: MIT
#include "scu_unit.h"

#include <stdlib.h>

#include "firmware-model/device/core.h"
#include "firmware-model/units/scu/scu.h"

#define TABLE_BUS	0x1000ull	/* bus address of the region table, below all arrays */

const struct scu_pipe_shape lab_scu_published = {
	.width = 4, .merge = 4, .in_flight = 32, .vector_bytes = 5 << 10, .fifo_bytes = 38 << 10,
	.hash_bytes = 18 << 10, .entry_bytes = 16,
};

struct lab_scu {
	struct lab *lab;
	int unit;
	struct scu_pipe *pipe;

	/* the device: one job at a time, of one context whose regions are the operands' arrays */
	struct gtu_dev *dev;
	struct gtu_watch watch;
	struct gtu_context context;
	struct gtu_job job;
	struct gtu_hw_region region[16];
	struct gtu_mem mem[GTU_BLOCK_OPERANDS];
	const struct lab_array *array[GTU_SCU_OPERANDS];
	bool done, indexed;
	uint64_t slots;			/* cycles of the job's beats */

	struct lab_scu_counts counts;
};

/* ---- The device's memory, and who watches it ---------------------------------------------------- */

static void *dma(void *host, uint64_t addr, uint64_t *len, bool write)
{
	struct lab_scu *u = host;
	uint8_t *data = (uint8_t *)u->region;
	uint64_t base = TABLE_BUS, bytes = sizeof(u->region);
	unsigned i;

	for (i = 0; i <= GTU_SCU_OPERANDS; i++) {
		if (addr >= base && addr - base < bytes) {
			*len = *len < bytes - (addr - base) ? *len : bytes - (addr - base);
			return data + (addr - base);
		}
		if (i == GTU_SCU_OPERANDS || !u->array[i])
			bytes = 0;
		else if (!write || !u->array[i]->read_only)
			base = u->array[i]->addr, bytes = u->array[i]->bytes, data = u->array[i]->data;
	}
	return NULL;
}

static enum scu_stage stage_of(const struct lab_scu *u, const struct gtu_access *a)
{
	if (a->write)
		return SCU_WRITE;
	switch (a->place) {
	case GTU_SCU_DATA: case GTU_SCU_COST_GATHERED:
		return u->indexed ? SCU_DATA : SCU_VECTOR;
	case GTU_SCU_FILTER_TABLE:
		return SCU_FILTER;
	case GTU_SCU_GROUP_TABLE:
		return SCU_GROUP;
	}
	return SCU_VECTOR;
}

static struct lab_scu *of_watch(struct gtu_watch *w)
{
	return (struct lab_scu *)(void *)((char *)w - offsetof(struct lab_scu, watch));
}

static void on_stream(struct gtu_watch *w, const struct gtu_access *a, uint64_t addr, uint64_t bytes)
{
	struct lab_scu *u = of_watch(w);
	const struct lab_array *of = u->array[a->place];

	scu_pipe_access(u->pipe, stage_of(u, a), a->place, of->addr + addr, bytes,
			of->addr + u->mem[a->place].addr + u->mem[a->place].bytes);
}

static void on_gather(struct gtu_watch *w, const struct gtu_access *a, const uint64_t *addr, unsigned n, unsigned width)
{
	unsigned i;

	for (i = 0; i < n; i++)
		on_stream(w, a, addr[i], width);
}

/* ---- The pipeline's port ------------------------------------------------------------------------ */

static bool beat(void *ctx, struct scu_pipe *p, uint32_t *cycles)
{
	struct lab_scu *u = ctx;
	const struct scu_state *s = (const struct scu_state *)u->job.state;
	uint64_t before = u->slots;

	(void)p;
	if (u->done)
		return false;
	u->done = gtu_unit_scu.run(&u->job, 1) != GTU_RUN_MORE;
	/* the fetches that the device charges first take here as long as they do */
	u->slots = (s->units + u->dev->config.scu_width - 1) / u->dev->config.scu_width;
	*cycles = (uint32_t)(u->slots - before);
	return true;
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

int lab_scu_attach(struct lab *lab, const struct scu_pipe_shape *shape, struct lab_scu **out, struct gtu_error *err)
{
	static const struct gtu_host_ops ops = { .dma = dma };
	struct gtu_dev_config config = {
		.contexts = 1, .queues = 1, .aperture_bytes = 4096, .event_rings = 1, .vectors = 1,
		.absent_units = ~(uint32_t)GTU_UNIT_SCU, .scu_width = shape->width,
		.scu_merge = shape->merge < GTU_WARP ? shape->merge : GTU_WARP,
	};
	struct lab_unit unit = { .name = "scu", .attach_point = LAB_ON_CROSSBAR, .reply = on_reply, .clock = on_clock };
	const char *why = scu_pipe_check(shape);
	struct lab_scu *u;

	*out = NULL;
	if (why)
		return gtu_fail(err, GTU_ERR_USAGE, "%s", why);
	u = aligned_alloc(64, (sizeof(*u) + 63) & ~(size_t)63);
	if (!u)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for an SCU");
	memset(u, 0, sizeof(*u));
	u->lab = lab;
	u->pipe = scu_pipe_create(shape, &(struct scu_pipe_port){ .ctx = u, .beat = beat, .send = request });
	u->dev = gtu_dev_create(&config, &ops, u, &why);
	unit.ctx = u;
	u->unit = u->pipe && u->dev ? lab_attach(lab, &unit, err) : -1;
	if (u->unit < 0) {
		if (!u->pipe || !u->dev)
			gtu_fail(err, GTU_ERR_NOMEM, "no SCU: %s", u->dev || !why ? "no memory" : why);
		lab_scu_free(u);
		return err->code;
	}
	u->watch = (struct gtu_watch){ .stream = on_stream, .gather = on_gather };
	gtu_dev_watch(u->dev, &u->watch);
	u->context = (struct gtu_context){ .enabled = true, .table_log2 = 4, .table = TABLE_BUS };
	*out = u;
	return 0;
}

void lab_scu_free(struct lab_scu *u)
{
	if (!u)
		return;
	scu_pipe_free(u->pipe);
	gtu_dev_destroy(u->dev);
	free(u);
}

const struct lab_scu_counts *lab_scu_counts(struct lab_scu *u)
{
	u->counts.pipe = *scu_pipe_counts(u->pipe);
	u->counts.cycles = u->counts.pipe.cycles;
	return &u->counts;
}

/* A job as a queue would have fetched it. */
static void prepare(struct lab_scu *u, const struct lab_scu_op *op)
{
	struct gtu_job *job = &u->job;
	unsigned i;

	memset(job, 0, sizeof(*job));
	job->dev = u->dev;
	job->context = &u->context;
	job->unit = &gtu_unit_scu;
	job->operands = GTU_SCU_OPERANDS;
	job->mem = u->mem;
	job->limit = UINT64_MAX;
	job->desc = (struct gtu_hw_desc){ .opcode = op->opcode, .param = op->param, .imm = op->imm };
	for (i = 0; i < GTU_SCU_OPERANDS; i++) {
		const struct lab_array *a = op->operand[i].array;

		u->array[i] = a;
		if (!a)
			continue;
		u->region[i] = (struct gtu_hw_region){
			.key = GTU_KEY(1, i), .length = a->bytes, .base = a->addr,
			.flags = GTU_REGION_VALID | GTU_REGION_READ | (a->read_only ? 0 : GTU_REGION_WRITE) |
				 12u << GTU_REGION_PAGE_SHIFT,
		};
		job->operand[i] = (struct gtu_hw_operand){ .key = GTU_KEY(1, i), .count = (uint32_t)op->operand[i].count };
	}
	u->indexed = op->opcode == GTU_OP_SCU_ACCESS || op->opcode == GTU_OP_SCU_EXPAND;
	u->slots = 0;
	u->done = false;
}

static void count(struct lab_scu *u)
{
	const uint64_t *c = gtu_job_counters(&u->job);

	u->counts.operations++;
	u->counts.slots += u->slots;
	u->counts.in = c[GTU_SCU_C_IN];
	u->counts.out = c[GTU_SCU_C_OUT];
	u->counts.dropped = c[GTU_SCU_C_DROPPED];
	u->counts.probes = c[GTU_SCU_C_PROBES];
	u->counts.evictions = c[GTU_SCU_C_EVICTIONS];
	u->counts.groups = c[GTU_SCU_C_GROUPS];
	u->counts.grouped = c[GTU_SCU_C_GROUPED];
}

int lab_scu_run(struct lab_scu *u, const struct lab_scu_op *op, uint64_t *out, struct gtu_error *err)
{
	int rc = 0;

	if (op->param & GTU_SCU_GROUP && (op->param >> GTU_SCU_STEP_SHIFT & 3) == GTU_STEP_FUSED)
		return gtu_fail(err, GTU_ERR_USAGE, "the laboratory's SCU groups in two steps, PRODUCE and APPLY, not fused");
	prepare(u, op);
	if (gtu_unit_scu.start(&u->job)) {
		scu_pipe_start(u->pipe, lab_now(u->lab));
		lab_unit_wake(u->lab, u->unit, lab_now(u->lab));
		rc = lab_run_units(u->lab, err);
		if (!rc && !scu_pipe_ended(u->pipe))
			rc = gtu_fail(err, GTU_ERR_VERIFY, "the SCU stopped in the middle of an operation");
	}
	if (!rc && u->job.status != GTU_CPL_OK)
		rc = gtu_fail(err, GTU_ERR_FAIL, "the SCU's operation 0x%02x ended with status %u at operand %u, element %llu (needed %llu)",
			      op->opcode, u->job.status, u->job.place, (unsigned long long)u->job.element,
			      (unsigned long long)u->job.needed);
	if (rc)
		return rc;
	count(u);
	*out = u->job.count;
	return 0;
}
