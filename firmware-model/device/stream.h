/* SPDX-License-Identifier: MIT */
/*
 * The header of a stream's ring (struct gtu_hw_ring) as units use it: @ring is the operand it lies in, @at
 * its first byte there, a multiple of 64. A consumer may write anything into it at any time; every value is
 * loaded once and checked. All return false with the job's error set.
 */
#ifndef GTU_STREAM_H
#define GTU_STREAM_H

#include "device.h"

#define STREAM_HEADER ((uint64_t)sizeof(struct gtu_hw_ring))
#define STREAM_TELL(ring, at, field, value)                                                        \
	stream_tell(ring, (at) + offsetof(struct gtu_hw_ring, field), value)

/* Write a word of the device's half (release), or read one of the consumer's (acquire). */
bool stream_tell(struct gtu_mem *ring, uint64_t byte, uint32_t value);
bool stream_hear(struct gtu_mem *ring, uint64_t byte, uint32_t *value);

/*
 * Put a warp's record (its header first, at most STREAM_RECORD_MOST @bytes) into the ring at byte @at, and tell
 * observers.
 */
#define STREAM_RECORD_MOST GTU_WARP_BYTES(4u, 4u)
bool stream_put(struct gtu_mem *ring, uint64_t at, const void *record, uint64_t bytes);

/* Something in the rings has moved, the *moved-th time: in @ring at 0, and to who sleeps for it. */
bool stream_moved(struct gtu_mem *ring, uint32_t *moved);

/* What a stream says when it begins. */
bool stream_begin(struct gtu_mem *ring, uint64_t at);

/*
 * Records that the consumer leaves room for in a ring of @count, @written so far. An index ahead of the
 * producer, or further behind than the ring is long, is an error: nothing sensible can be read out of it.
 */
bool stream_room(struct gtu_mem *ring, uint64_t at, uint32_t count, uint64_t written, uint32_t *records);
/* Records asked for in all, @had before; a value behind what there is asks for nothing. */
bool stream_asked(struct gtu_mem *ring, uint64_t at, uint64_t had, uint64_t *asked);
/* Entries in a return ring of @size that were not yet received. More than @size is an error. */
bool stream_sent(struct gtu_mem *ring, uint64_t at, uint32_t size, uint32_t received, uint32_t *n);

/* Bytes of a ring of @count records (a power of two) and a return ring of @bytes behind them. */
static inline uint64_t stream_bytes(uint64_t count, uint64_t record_bytes, uint64_t bytes)
{
	return GTU_PEG_STRIDE(count, record_bytes, bytes);
}

#endif
