/* SPDX-License-Identifier: MIT */
/*
 * Helpers for event tests: an eventfd, ARM, and a stream that stalls until its records are
 * consumed.
 */
#ifndef GTU_STREAM_H
#define GTU_STREAM_H

#include "gtu_util.h"

static inline int set_eventfd(struct queue *q, int efd)
{
	struct gtu_ioctl_queue_eventfd a = { .size = sizeof(a), .id = q->c.id, .fd = efd };

	return call(q->fd, GTU_IOCTL_QUEUE_EVENTFD, &a);
}

static inline void arm(struct queue *q, uint32_t index)
{
	*(volatile uint32_t *)(q->db + GTU_DB_ARM) = index;
}

#define RECORDS		4u
#define INDICES		(40u * GTU_WARP)
#define INDICES_AT	65536u

/* Build a stream of INDICES indices into a ring of RECORDS records at offset 0 of @memory. */
static inline struct gtu_hw_desc stream_job(uint8_t *memory, uint32_t key)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_IRU_STREAM,
				 .param = GTU_IRU_OP_NONE | 2 << GTU_IRU_TARGET_SHIFT };
	uint32_t i, *index = (uint32_t *)(memory + INDICES_AT);

	memset(memory, 0, INDICES_AT);
	for (i = 0; i < INDICES; i++)
		index[i] = i * 7 % INDICES;
	d.operand[GTU_IRU_INDICES] = (struct gtu_hw_operand){ key, INDICES, INDICES_AT };
	d.operand[GTU_IRU_RING] = (struct gtu_hw_operand){ key, RECORDS, 0 };
	return d;
}

#endif
