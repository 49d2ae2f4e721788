/* SPDX-License-Identifier: MIT */
/*
 * Jobs that stream records to a consumer: rings (struct gtu_hw_ring) and their synchronization, waits for the
 * consumer, and the end of the job (Documentation/hardware.md, section 7). The consumer may write any value to a header
 * at any time; every value is loaded once and checked. Functions that return false have set the job's error.
 */
#ifndef GTU_STREAM_H
#define GTU_STREAM_H

#include "device.h"

#define STREAM_HEADER ((uint64_t)sizeof(struct gtu_hw_ring))
#define STREAM_RECORD_MAX GTU_WARP_BYTES(4u, 4u)
#define STREAM_BATCH 64u
#define STREAM_AGAIN (-1)		/* returned by advance(): exchange data and call it again */

/* State of a stream, at the start of its job's state. */
struct gtu_stream {
	struct gtu_mem *ring;		/* the operand that holds the rings */
	/* set by begin(); sizes in bytes */
	unsigned rings;
	uint32_t count;			/* records in a ring, a power of two */
	uint32_t return_size, return_width; /* of a return ring: entries, a power of two or 0; bytes of one */
	uint64_t record_bytes;
	bool counts_changes;		/* the headers have `received` and `changes` */

	uint64_t stride, return_at;	/* from ring to ring; from a ring to its return ring */
	uint64_t written;		/* records, in all rings */
	uint32_t changes;		/* change counter of all rings, visible to the consumer */
	bool begun, waits;
	bool moved;			/* the last pump() has received or delivered something */
	uint64_t counted[GTU_UREG_COUNTERS]; /* already added to the unit's counters */
};

static inline struct gtu_stream *gtu_stream_of(struct gtu_job *job)
{
	return (struct gtu_stream *)job->state;
}

/* The unit's part of a stream; its run() and stop() are stream_run() and stream_stop(). */
struct gtu_stream_ops {
	bool (*operands)(struct gtu_job *job);
	/* Start the job, and set the fields of @s that the unit knows. */
	bool (*begin)(struct gtu_job *job, struct gtu_stream *s);
	/*
	 * Exchange all pending data with the consumer. The functions below set `moved`; the unit sets it for what it
	 * learns from the consumer otherwise, such as a request.
	 */
	bool (*pump)(struct gtu_job *job, struct gtu_stream *s);
	/*
	 * Run until cycle @until. Returns enum gtu_run, where GTU_RUN_STALLED means that nothing can be done before the
	 * consumer acts, or STREAM_AGAIN.
	 */
	int (*advance)(struct gtu_job *job, const struct gtu_stream *s, uint64_t until);
	/* Update the completion; returns the job's counters in the order of the unit's rows. */
	const uint64_t *(*account)(struct gtu_job *job);
	unsigned counters;
};

int stream_run(struct gtu_job *job, uint64_t budget);
void stream_stop(struct gtu_job *job);

/*
 * Store a record (struct gtu_hw_warp first, at most STREAM_RECORD_MAX bytes) as number @i of ring @n, and report it
 * to the observers. stream_publish() then makes @written records of ring @n visible to the consumer.
 */
bool stream_put(struct gtu_stream *s, unsigned n, uint64_t i, const void *record);
bool stream_publish(struct gtu_stream *s, unsigned n, uint64_t written);
/* Move the stream's records up to number @end, which @record gives, to its only ring, while that has space. */
bool stream_deliver(struct gtu_stream *s, uint64_t end, const void *(*record)(const struct gtu_job *job, uint64_t i));
/* Ring @n will get no more records. */
bool stream_end(struct gtu_stream *s, unsigned n);
/* Increment the change counter, store it and wake the consumer. */
bool stream_notify(struct gtu_stream *s);

/*
 * Free records in ring @n, with @written produced so far. A consumer index ahead of the producer, or more than the
 * ring's size behind it, is an error.
 */
bool stream_space(struct gtu_stream *s, unsigned n, uint64_t written, uint32_t *records);
/* Total records requested, given @had before; a value below @had requests nothing. */
bool stream_requested(struct gtu_stream *s, unsigned n, uint64_t had, uint64_t *requested);
/*
 * Number of entries in return ring @n that the device has not received yet. More than its size is an error. *closed
 * (may be NULL): the consumer will return no more than these.
 */
bool stream_returned(struct gtu_stream *s, unsigned n, uint32_t received, uint32_t *entries, bool *closed);
/* Pass @entries entries of return ring @n to @take, in contiguous parts of at most STREAM_BATCH. */
bool stream_receive(struct gtu_stream *s, unsigned n, uint32_t *received, uint32_t entries,
		    bool (*take)(struct gtu_job *job, unsigned n, uint64_t byte, unsigned count));

#endif
