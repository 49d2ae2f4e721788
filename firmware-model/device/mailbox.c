// SPDX-License-Identifier: MIT
/* The mailbox, through which the driver sets up contexts, queues and event rings. */
#include "core.h"

static uint32_t ctx_enable(struct gtu_dev *dev, const uint64_t *arg)
{
	const uint64_t groups = dev->config.caps_off & GTU_CAP_CTX_GROUPS ? 0 : dev->config.contexts;
	const uint64_t weight = arg[3] & 0xffff, group = arg[3] >> 16;
	struct gtu_context *c;

	if (arg[0] >= dev->config.contexts)
		return GTU_MBOX_E_INDEX;
	if (arg[1] % 64 || arg[2] > dev->config.regions_log2 || weight > 16 || group > groups)
		return GTU_MBOX_E_ARG;
	c = &dev->context[arg[0]];
	if (c->enabled)
		return GTU_MBOX_E_STATE;
	*c = (struct gtu_context){
		.enabled = true,
		.table = arg[1],
		.table_log2 = (uint8_t)arg[2],
		.weight = weight ? (uint8_t)weight : 1,
		.group = &dev->group[group ? group - 1 : arg[0]],
	};
	c->group->weight = c->weight;
	return GTU_MBOX_E_OK;
}

static uint32_t context_status(const struct gtu_dev *dev, uint64_t context)
{
	if (context >= dev->config.contexts)
		return GTU_MBOX_E_INDEX;
	return dev->context[context].enabled ? GTU_MBOX_E_OK : GTU_MBOX_E_STATE;
}

static void queue_disable(struct gtu_dev *dev, struct gtu_hwq *q)
{
	q->enabled = q->armed = q->event_due = q->error_due = false;
	q->state = GTU_QUEUE_DISABLED;
	gtu_queue_drop(dev, q);
}

static uint32_t ctx_disable(struct gtu_dev *dev, const uint64_t *arg)
{
	const uint32_t status = context_status(dev, arg[0]);
	uint32_t i;

	if (status)
		return status;
	for (i = 0; i < dev->config.queues; i++)
		if (dev->queue[i].enabled && dev->queue[i].context == arg[0])
			queue_disable(dev, &dev->queue[i]);
	dev->context[arg[0]].enabled = false;
	for (i = 0; i < GTU_UNIT_COUNT; i++)
		if (dev->page[i].expected == &dev->context[arg[0]])
			dev->page[i].expected = NULL;
	return GTU_MBOX_E_OK;
}

static uint32_t ctx_counters(struct gtu_dev *dev, const uint64_t *arg)
{
	const uint32_t status = context_status(dev, arg[0]);
	const struct gtu_context *c = &dev->context[status ? 0 : arg[0]];

	if (dev->config.caps_off & GTU_CAP_CTX_COUNTERS)
		return GTU_MBOX_E_COMMAND;
	if (status)
		return status;
	dev->mbox_result[0] = c->jobs;
	dev->mbox_result[1] = c->failed;
	dev->mbox_result[2] = c->cycles;
	return GTU_MBOX_E_OK;
}

static uint32_t invalidate(struct gtu_dev *dev, const uint64_t *arg)
{
	const uint32_t status = context_status(dev, arg[0]);

	if (status)
		return status;
	/* regions are resolved again in each step and nothing is cached between steps, so there is no wait */
	return arg[1] >> dev->context[arg[0]].table_log2 ? GTU_MBOX_E_INDEX : GTU_MBOX_E_OK;
}

static uint32_t queue_enable(struct gtu_dev *dev, const uint64_t *arg)
{
	const uint32_t sq_log2 = arg[4] & 0xff, cq_log2 = arg[4] >> 8 & 0xff;
	struct gtu_hwq *q;

	if (arg[0] >= dev->config.queues || arg[1] >= dev->config.contexts ||
	    (arg[5] != GTU_RING_NONE && arg[5] >= dev->config.event_rings))
		return GTU_MBOX_E_INDEX;
	if (((arg[2] % 128 || arg[3] % 64) && !gtu_bug(dev, GTU_BUG_MAILBOX_CHECK)) || arg[4] >> 16 || sq_log2 < GTU_RING_LOG2_MIN ||
	    sq_log2 > dev->config.ring_log2 || cq_log2 < GTU_RING_LOG2_MIN ||
	    cq_log2 > dev->config.ring_log2)
		return GTU_MBOX_E_ARG;
	q = &dev->queue[arg[0]];
	if (q->enabled || !dev->context[arg[1]].enabled)
		return GTU_MBOX_E_STATE;
	q->context = (uint32_t)arg[1];
	q->sq = arg[2];
	q->cq = arg[3];
	q->sq_log2 = (uint8_t)sq_log2;
	q->cq_log2 = (uint8_t)cq_log2;
	q->event_ring = (uint32_t)arg[5];
	gtu_queue_start(dev, q);
	return GTU_MBOX_E_OK;
}

static uint32_t queue_command(struct gtu_dev *dev, uint32_t command, const uint64_t *arg)
{
	struct gtu_hwq *q;

	if (arg[0] >= dev->config.queues)
		return GTU_MBOX_E_INDEX;
	q = &dev->queue[arg[0]];
	if (command == GTU_MBOX_QUEUE_STATE) {
		dev->mbox_result[0] = q->sq_head | (uint64_t)q->sq_tail << 32;
		dev->mbox_result[1] = q->cq_tail | (uint64_t)q->cq_head << 32;
		dev->mbox_result[2] = q->state;
		return GTU_MBOX_E_OK;
	}
	if (!q->enabled)
		return GTU_MBOX_E_STATE;
	if (command == GTU_MBOX_QUEUE_CANCEL) {
		if (q->state != GTU_QUEUE_ENABLED)
			return GTU_MBOX_E_STATE;
		if (arg[1] >> 32)
			return GTU_MBOX_E_ARG;
		return gtu_queue_cancel(dev, q, (uint32_t)arg[1]) ? GTU_MBOX_E_OK : GTU_MBOX_E_ARG;
	}
	if (command == GTU_MBOX_QUEUE_SEEK) {
		if (q->state != GTU_QUEUE_ENABLED || q->sq_tail || q->cq_tail)
			return GTU_MBOX_E_STATE;
		if (arg[1] >> 32 || arg[2] >> 32 || (uint32_t)(arg[1] - arg[2]) > 1u << q->cq_log2)
			return GTU_MBOX_E_ARG;
		gtu_queue_seek(dev, q, (uint32_t)arg[1], (uint32_t)arg[2]);
		return GTU_MBOX_E_OK;
	}
	queue_disable(dev, q);
	if (command == GTU_MBOX_QUEUE_RESET)
		gtu_queue_start(dev, q);
	return GTU_MBOX_E_OK;
}

static uint32_t event_enable(struct gtu_dev *dev, const uint64_t *arg)
{
	if (arg[0] >= dev->config.event_rings || arg[3] >= dev->config.vectors)
		return GTU_MBOX_E_INDEX;
	if (arg[1] % 4 || arg[2] < GTU_RING_LOG2_MIN || arg[2] > dev->config.ring_log2)
		return GTU_MBOX_E_ARG;
	if (dev->event[arg[0]].enabled)
		return GTU_MBOX_E_STATE;
	dev->event[arg[0]] = (struct gtu_event_ring){
		.enabled = true,
		.addr = arg[1],
		.log2 = (uint8_t)arg[2],
		.vector = (uint32_t)arg[3],
	};
	gtu_events_retry(dev, (uint32_t)arg[0]);
	return GTU_MBOX_E_OK;
}

static uint32_t event_disable(struct gtu_dev *dev, const uint64_t *arg)
{
	if (arg[0] >= dev->config.event_rings)
		return GTU_MBOX_E_INDEX;
	if (!dev->event[arg[0]].enabled)
		return GTU_MBOX_E_STATE;
	dev->event[arg[0]].enabled = false;
	return GTU_MBOX_E_OK;
}

void gtu_mailbox(struct gtu_dev *dev, uint32_t command)
{
	const uint64_t *arg = dev->mbox_arg;
	uint32_t status = GTU_MBOX_E_COMMAND;

	if (dev->mbox_status & GTU_MBOX_BUSY)
		return;
	memset(dev->mbox_result, 0, sizeof(dev->mbox_result));
	if (dev->faulty) {
		dev->mbox_status = gtu_fault_command(dev, command);
		if (dev->mbox_status != GTU_MBOX_E_OK)
			return;
	}
	switch (command) {
	case GTU_MBOX_NOP:		status = GTU_MBOX_E_OK; break;
	case GTU_MBOX_CTX_ENABLE:	status = ctx_enable(dev, arg); break;
	case GTU_MBOX_CTX_DISABLE:	status = ctx_disable(dev, arg); break;
	case GTU_MBOX_CTX_COUNTERS:	status = ctx_counters(dev, arg); break;
	case GTU_MBOX_INVALIDATE:	status = invalidate(dev, arg); break;
	case GTU_MBOX_QUEUE_ENABLE:	status = queue_enable(dev, arg); break;
	case GTU_MBOX_QUEUE_DISABLE:
	case GTU_MBOX_QUEUE_RESET:
	case GTU_MBOX_QUEUE_CANCEL:
	case GTU_MBOX_QUEUE_SEEK:
	case GTU_MBOX_QUEUE_STATE:	status = queue_command(dev, command, arg); break;
	case GTU_MBOX_EVENT_ENABLE:	status = event_enable(dev, arg); break;
	case GTU_MBOX_EVENT_DISABLE:	status = event_disable(dev, arg); break;
	}
	if (dev->faulty)
		gtu_fault_result(dev, command);
	dev->mbox_status = status;
}
