// SPDX-License-Identifier: MIT
/* bringup: sets up contexts, regions and queues of a function, and runs descriptors. */
#include <inttypes.h>
#include <linux/pci_regs.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bringup_rig.h"

const char *rig_status(unsigned status)
{
	static const char *const name[GTU_CPL_COUNT] = {
		"OK", "OPCODE", "RESERVED", "PARAM", "OPERAND", "KEY", "RIGHTS", "BOUNDS", "INDEX", "OVERFLOW", "DMA", "ABSENT", "LIMIT",
		"WIDTH", "STALLED", "CANCELED",
	};

	return status < GTU_CPL_COUNT ? name[status] : "undefined";
}

static void bus_master(struct access *a, bool on)
{
	const uint32_t command = a->ops->config_read(a, PCI_COMMAND, 2);

	a->ops->config_write(a, PCI_COMMAND, 2, on ? command | PCI_COMMAND_MASTER : command & ~PCI_COMMAND_MASTER);
}

static int enable(struct rig *r, uint32_t vector, struct gtu_error *err)
{
	const uint64_t ctx[6] = { 0, r->bus + RIG_TABLE, r->table_log2, 1 };
	const uint64_t event[6] = { 0, r->bus + RIG_EVENTS, r->queue_log2, vector };
	uint32_t status = access_command(r->a, GTU_MBOX_CTX_ENABLE, ctx);
	unsigned q;

	if (!status)
		status = access_command(r->a, GTU_MBOX_EVENT_ENABLE, event);
	for (q = 0; !status && q < r->queues; q++) {
		const uint64_t arg[6] = { q, 0, r->bus + RIG_SQ(q), r->bus + RIG_CQ(q), r->queue_log2 | r->queue_log2 << 8, 0 };

		status = access_command(r->a, GTU_MBOX_QUEUE_ENABLE, arg);
	}
	if (status)
		return gtu_fail(err, GTU_ERR_FAIL, "the mailbox refuses to set up a context with a queue: MBOX_STATUS 0x%x", status);
	return 0;
}

int rig_open(struct rig *r, struct bringup *b, struct access *a, uint32_t vector, struct gtu_error *err)
{
	struct access_timer timer = { 0 };

	*r = (struct rig){ .a = a, .stride = b->stride };
	r->queues = b->queues < RIG_QUEUES ? b->queues : RIG_QUEUES;
	r->queue_log2 = b->ring_log2 < RIG_LOG2_MAX ? b->ring_log2 : RIG_LOG2_MAX;
	r->table_log2 = b->regions_log2 < RIG_LOG2_MAX ? b->regions_log2 : RIG_LOG2_MAX;
	if (!a->block)
		a->block = a->ops->memory(a, RIG_BYTES, false, &a->block_bus, err);
	if (!a->block)
		return err->code;
	r->at = a->block;
	r->bus = a->block_bus;
	memset(r->at, 0, RIG_DATA);
	access_set(a, GTU_REG_RESET, GTU_RESET_KEY);
	while (!(access_reg(a, GTU_REG_STATUS) & GTU_STATUS_READY) && access_wait(a, &timer))
		;
	if (r->table_log2 < RIG_TABLE_LOG2_MIN)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "tables of 2^%u regions are too small: this tool needs 2^%u", r->table_log2,
				RIG_TABLE_LOG2_MIN);
	bus_master(a, true);
	r->on = true;
	if (enable(r, vector, err)) {
		rig_close(r);
		return err->code;
	}
	return 0;
}

void rig_close(struct rig *r)
{
	const uint64_t arg[6] = { 0 };

	if (!r->on)
		return;
	access_command(r->a, GTU_MBOX_CTX_DISABLE, arg);
	bus_master(r->a, false);
	access_set(r->a, GTU_REG_RESET, GTU_RESET_KEY);
	r->on = false;
}

/* ---- Regions ---------------------------------------------------------------------------------------------- */

static struct gtu_hw_region *entry(struct rig *r, uint32_t rights, uint64_t bytes)
{
	const uint32_t slot = r->slots++ & ((1u << r->table_log2) - 1);
	struct gtu_hw_region *e = (struct gtu_hw_region *)(void *)(r->at + RIG_TABLE) + slot;

	*e = (struct gtu_hw_region){
		.key = GTU_KEY(GTU_KEY_GENERATION(e->key) + 1, slot), .length = bytes,
		.flags = GTU_REGION_VALID | rights | 12u << GTU_REGION_PAGE_SHIFT,
	};
	return e;
}

uint32_t rig_region_at(struct rig *r, uint64_t bus, uint64_t bytes, uint32_t rights)
{
	struct gtu_hw_region *e = entry(r, rights, bytes);

	e->base = bus & ~7ull;
	return e->key;
}

uint32_t rig_region(struct rig *r, uint64_t offset, uint64_t bytes, uint32_t rights)
{
	return rig_region_at(r, r->bus + offset, bytes, rights);
}

uint32_t rig_region_scattered(struct rig *r, const uint32_t *page, unsigned pages, uint64_t offset, uint64_t bytes, uint32_t rights)
{
	struct gtu_hw_region *e = entry(r, rights | 1u << GTU_REGION_LEVELS_SHIFT, bytes);
	gtu_le64 *list = (gtu_le64 *)(void *)(r->at + RIG_LISTS);
	unsigned i;

	for (i = 0; i < pages; i++)
		list[i] = r->bus + 4096ull * page[i];
	e->base = r->bus + RIG_LISTS;
	e->offset = offset;
	return e->key;
}

/* ---- Queues ------------------------------------------------------------------------------------------------- */

void rig_put(struct rig *r, unsigned q, const struct gtu_hw_desc *d)
{
	struct gtu_hw_desc *sq = (struct gtu_hw_desc *)(void *)(r->at + RIG_SQ(q));

	sq[r->q[q].tail++ & ((1u << r->queue_log2) - 1)] = *d;
}

void rig_doorbell(struct rig *r, unsigned q, uint32_t reg, uint64_t value)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	r->a->ops->write(r->a, GTU_BAR_DOORBELL, ((uint64_t)q << r->stride) + reg, reg == GTU_DB_SUBMIT ? 8 : 4, value);
}

void rig_submit(struct rig *r, unsigned q)
{
	rig_doorbell(r, q, GTU_DB_SUBMIT, r->q[q].tail | (uint64_t)r->q[q].head << 32);
}

static const struct gtu_hw_cpl *next_completion(const struct rig *r, unsigned q)
{
	return (struct gtu_hw_cpl *)(void *)(r->at + RIG_CQ(q)) + (r->q[q].head & ((1u << r->queue_log2) - 1));
}

bool rig_completed(const struct rig *r, unsigned q)
{
	return __atomic_load_n(&next_completion(r, q)->phase, __ATOMIC_ACQUIRE) == (r->q[q].head >> r->queue_log2 & 1 ? 0 : 1);
}

bool rig_take(struct rig *r, unsigned q, struct gtu_hw_cpl *cpl, struct gtu_error *err)
{
	const uint32_t size = 1u << r->queue_log2;
	const struct gtu_hw_queue_status *s = (void *)((struct gtu_hw_cpl *)(void *)(r->at + RIG_CQ(q)) + size);
	struct access_timer timer = { 0 };

	while (!rig_completed(r, q)) {
		if (access_wait(r->a, &timer) || rig_completed(r, q))
			continue;
		gtu_fail(err, GTU_ERR_TIMEOUT, "completion %u of queue %u did not arrive in time: the status block has state %u, "
			 "%u fetched, %u completed; STATUS 0x%x, ERROR 0x%x (0x%" PRIx64 ")", r->q[q].head, q, s->state, s->sq_head, s->cq_tail,
			 access_reg(r->a, GTU_REG_STATUS), access_reg(r->a, GTU_REG_ERROR), access_reg64(r->a, GTU_REG_ERROR_INFO));
		return false;
	}
	*cpl = *next_completion(r, q);
	r->q[q].head++;
	return true;
}

bool rig_do(struct rig *r, const struct gtu_hw_desc *d, struct gtu_hw_cpl *cpl, struct gtu_error *err)
{
	rig_put(r, 0, d);
	rig_submit(r, 0);
	return rig_take(r, 0, cpl, err);
}
