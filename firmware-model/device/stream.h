/* SPDX-License-Identifier: MIT */
/*
 * Access to the header of a stream's ring (struct gtu_hw_ring) for units. @ring is the operand that
 * holds the header, @at the header's byte offset in it, a multiple of 64. The consumer may write
 * any value at any time; every value is loaded once and checked. All functions return false with
 * the job's error set.
 */
#ifndef GTU_STREAM_H
#define GTU_STREAM_H

#include "device.h"

#define STREAM_HEADER ((uint64_t)sizeof(struct gtu_hw_ring))
#define STREAM_STORE(ring, at, field, value)                                                       \
	stream_store_release(ring, (at) + offsetof(struct gtu_hw_ring, field), value)

/* Write a word that the device owns (release), or read a word that the consumer owns (acquire). */
bool stream_store_release(struct gtu_mem *ring, uint64_t byte, uint32_t value);
bool stream_load_acquire(struct gtu_mem *ring, uint64_t byte, uint32_t *value);

/*
 * Store a warp's record (header first, at most STREAM_RECORD_MAX @bytes) in the ring at byte @at,
 * and report it to the observers.
 */
#define STREAM_RECORD_MAX GTU_WARP_BYTES(4u, 4u)
bool stream_put(struct gtu_mem *ring, uint64_t at, const void *record, uint64_t bytes);

/*
 * Increment *changes, the change counter of all rings, store it in @ring at byte 0 and wake the
 * consumer.
 */
bool stream_notify(struct gtu_mem *ring, uint32_t *changes);

/* Initialise the device's words of a ring's header. */
bool stream_begin(struct gtu_mem *ring, uint64_t at);

/*
 * Free records in a ring of @count, with @written produced so far. A consumer index ahead of the
 * producer, or more than @count behind it, is an error.
 */
bool stream_space(struct gtu_mem *ring, uint64_t at, uint32_t count, uint64_t written, uint32_t *records);
/* Total records requested, given @had before; a value below @had requests nothing. */
bool stream_requested(struct gtu_mem *ring, uint64_t at, uint64_t had, uint64_t *requested);
/*
 * Entries in a return ring of @size that the device has not received yet. More than @size is an
 * error.
 */
bool stream_sent(struct gtu_mem *ring, uint64_t at, uint32_t size, uint32_t received, uint32_t *n);

/* Bytes of a ring of @count records (a power of two) and the return ring of @bytes after it. */
static inline uint64_t stream_bytes(uint64_t count, uint64_t record_bytes, uint64_t bytes)
{
	return GTU_PEG_STRIDE(count, record_bytes, bytes);
}

#endif
