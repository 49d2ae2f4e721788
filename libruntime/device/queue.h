/* SPDX-License-Identifier: MIT */
/* A queue inside the library. */
#ifndef GTU_QUEUE_H
#define GTU_QUEUE_H

#include "backend.h"

struct gtu_queue {
	struct gtu_device *dev;
	struct gtu_rings rings;
	uint64_t submitted, consumed;	/* jobs, in all */
	uint64_t told;			/* consumer index that the device was last told */
	struct gtu_region block;	/* parameter block of gtu_do_operands(), made when first needed */
	const char *stream;		/* of one that has the queue for itself: what it is and how it ends; or NULL */
};

/* Write a doorbell register of the queue. */
void gtu_queue_ring(struct gtu_queue *q, uint32_t reg, uint64_t value);
/* When a wait of at most @timeout_ns ends (CLOCK_MONOTONIC ns; GTU_FOREVER: the device's patience). */
uint64_t gtu_deadline(const struct gtu_device *dev, uint64_t timeout_ns);
/* The ring of a stream, for tests. */
struct gtu_hw_ring *gtu_iru_ring(const struct gtu_iru *iru);
/* GTU_ERR_* with a sentence when the queue is in error or its device is gone, else 0. */
int gtu_queue_check(struct gtu_queue *q, struct gtu_error *err);

#endif
