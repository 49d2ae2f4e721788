/* SPDX-License-Identifier: MIT */
/* Internal state of a queue. */
#ifndef GTU_QUEUE_H
#define GTU_QUEUE_H

#include "backend.h"

struct gtu_queue {
	struct gtu_device *dev;
	struct gtu_rings rings;
	uint64_t submitted, consumed;	/* total number of jobs */
	uint64_t published;			/* last consumer index written to the device */
	struct gtu_region block;	/* parameter block of gtu_do_operands(), allocated on first use */
	uint64_t canceled;		/* jobs before this one may be, in all; atomic */
	const char *stream;		/* stream that owns the queue: its kind and how to end it, for messages; or NULL */
};

/* Write a doorbell register of the queue. */
void gtu_ring_doorbell(struct gtu_queue *q, uint32_t reg, uint64_t value);
/*
 * Deadline of a wait of at most @timeout_ns (CLOCK_MONOTONIC ns). GTU_FOREVER: the device's
 * timeout.
 */
uint64_t gtu_deadline(const struct gtu_device *dev, uint64_t timeout_ns);
/* The ring of a stream, for tests. */
struct gtu_hw_ring *gtu_iru_ring(const struct gtu_iru *iru);
/* 0, or GTU_ERR_* with a sentence if the queue is in error or its device was removed or reset. */
int gtu_queue_check(struct gtu_queue *q, struct gtu_error *err);

/* Export @function, defined in this file, under the name that a paper gives (gtu/paper_names.h). */
#define GTU_PAPER_NAME(paper, function) extern __typeof__(function) paper __attribute__((alias(#function)))

#endif
