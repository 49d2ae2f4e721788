/* SPDX-License-Identifier: MIT */
/* Streams with a consumer in lock step, and jobs that end from outside: cancellation, INVALIDATE, reset. */
#ifndef GTU_BRINGUP_CONSUMER_H
#define GTU_BRINGUP_CONSUMER_H

#include "bringup_jobs.h"

/*
 * Run a random stream on both sides, one that waits for its consumer. The consumer acts only when the stream can do
 * nothing without it, so everything is determined. Returns false after a finding. Does nothing behind a driver.
 * @may_reset: the device may be reset. @counters is called before and after a stream that ends from outside: how far
 * its unit ran by then is the device's choice. It returns false after a finding.
 */
bool consumer_agrees(struct bringup *b, struct side *device, struct side *model, struct jobs *j, bool logical, bool may_reset,
		     bool (*counters)(void *user, bool after), void *user);

/*
 * For a device without logical cycles: if the records in both rings have the same elements, replace the device's by
 * the model's. @d is the stream that wrote them.
 */
void consumer_match(uint8_t *device, const uint8_t *model, const struct gtu_hw_desc *d);

#endif
