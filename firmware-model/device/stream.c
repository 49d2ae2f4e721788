// SPDX-License-Identifier: MIT
/*
 * Jobs that stream records to a consumer: synchronization through the headers of their rings, and the steps that all
 * such jobs share (Documentation/hardware.md, section 7).
 */
#include <string.h>

#include "core.h"
#include "stream.h"

#define SLICE_MIN 1024u		/* cycles: a shorter slice is not divided by the number of rings */

/* ---- Words of a ring's header ---------------------------------------------------------------- */

#define FIELD(field) offsetof(struct gtu_hw_ring, field)

/* Word @field of ring @n: aligned, so within one page. NULL if memory cannot be accessed. */
static uint32_t *word(struct gtu_stream *s, unsigned n, size_t field)
{
	uint64_t got;

	return (uint32_t *)(void *)gtu_mem_span(s->ring, n * s->stride + field, 4, &got);
}

/* Write a word that the device owns. */
static bool store_release(struct gtu_stream *s, unsigned n, size_t field, uint32_t value)
{
	uint32_t *p = word(s, n, field);

	if (p)
		__atomic_store_n(p, value, __ATOMIC_RELEASE);
	return p;
}

/* Read a word that the consumer owns. */
static bool load_acquire(struct gtu_stream *s, unsigned n, size_t field, uint32_t *value)
{
	const uint32_t *p = word(s, n, field);

	if (p)
		*value = __atomic_load_n(p, __ATOMIC_ACQUIRE);
	return p;
}

static bool outside(struct gtu_stream *s, uint32_t value)
{
	s->ring->job->needed = value;
	gtu_job_error(s->ring->job, GTU_CPL_INDEX, s->ring->slot, 0);
	return false;
}

/* The stream's index for ARM_STREAM (modulo 2^32) has changed: raise the event that waits for it. */
static void produced(struct gtu_stream *s, uint32_t index)
{
	struct gtu_job *job = s->ring->job;

	job->produced = index;
	if (__builtin_expect(job->record_armed, 0) && (int32_t)(index - job->record_wanted) > 0)
		gtu_job_record_event(job);
}

/* ---- Records --------------------------------------------------------------------------------- */

bool stream_put(struct gtu_stream *s, unsigned n, uint64_t i, const void *record)
{
	const uint64_t at = n * s->stride + STREAM_HEADER + (i & (s->count - 1)) * s->record_bytes;
	const struct gtu_hw_warp *head = record;
	struct gtu_dev *dev = s->ring->job->dev;
	struct {
		struct gtu_hw_warp head;
		uint32_t lane[(STREAM_RECORD_MAX - sizeof(struct gtu_hw_warp)) / 4];
	} corrupted;

	if (__builtin_expect(dev->faulty, 0)) {
		memcpy(&corrupted, record, s->record_bytes);
		gtu_fault_record(dev, &corrupted.head, corrupted.lane,
				 (unsigned)((s->record_bytes - sizeof(corrupted.head)) / 4));
		record = &corrupted;
	}
	if (!gtu_mem_store(s->ring, at, record, s->record_bytes))
		return false;
	if (s->ring->monitored)
		gtu_watch_stream(s->ring, at, s->record_bytes, head->cycle);
	return true;
}

bool stream_publish(struct gtu_stream *s, unsigned n, uint64_t written)
{
	if (!store_release(s, n, FIELD(producer), (uint32_t)written))
		return false;
	if (!s->counts_changes)
		produced(s, (uint32_t)written);
	return s->moved = true;
}

bool stream_end(struct gtu_stream *s, unsigned n)
{
	return s->moved = store_release(s, n, FIELD(ended), 1);
}

bool stream_notify(struct gtu_stream *s)
{
	if (!store_release(s, 0, FIELD(changes), ++s->changes))
		return false;
	produced(s, s->changes);
	return true;
}

bool stream_space(struct gtu_stream *s, unsigned n, uint64_t written, uint32_t *records)
{
	uint32_t consumer;

	if (!load_acquire(s, n, FIELD(consumer), &consumer))
		return false;
	if ((uint32_t)written - consumer > s->count)
		return outside(s, consumer);
	*records = s->count - ((uint32_t)written - consumer);
	return true;
}

bool stream_deliver(struct gtu_stream *s, uint64_t end, const void *(*record)(const struct gtu_job *job, uint64_t i))
{
	struct gtu_job *job = s->ring->job;
	const uint64_t before = s->written;
	uint32_t space;

	if (s->written == end)
		return true;
	if (!stream_space(s, 0, s->written, &space))
		return false;
	for (; s->written < end && space; s->written++, space--)
		if (!stream_put(s, 0, s->written, record(job, s->written)))
			return false;
	job->count = s->written;
	return s->written == before || stream_publish(s, 0, s->written);
}

bool stream_requested(struct gtu_stream *s, unsigned n, uint64_t had, uint64_t *requested)
{
	uint32_t value;

	if (!load_acquire(s, n, FIELD(requested), &value))
		return false;
	value -= (uint32_t)had;
	*requested = value < 1u << 31 ? had + value : had;
	return true;
}

/* ---- Return rings ---------------------------------------------------------------------------- */

bool stream_returned(struct gtu_stream *s, unsigned n, uint32_t received, uint32_t *entries, bool *closed)
{
	uint32_t returned, value = 0;

	if ((closed && !load_acquire(s, n, FIELD(closed), &value)) ||
	    !load_acquire(s, n, FIELD(returned), &returned))
		return false;
	if (closed)
		*closed = value;
	*entries = returned - received;
	return *entries <= s->return_size ? true : outside(s, returned);
}

bool stream_receive(struct gtu_stream *s, unsigned n, uint32_t *received, uint32_t entries,
		    bool (*take)(struct gtu_job *job, unsigned n, uint64_t byte, unsigned count))
{
	if (!entries)
		return true;
	while (entries) {
		const uint32_t from = *received & (s->return_size - 1);
		uint32_t k = entries < STREAM_BATCH ? entries : STREAM_BATCH;

		k = k < s->return_size - from ? k : s->return_size - from;
		if (!take(s->ring->job, n, n * s->stride + s->return_at + (uint64_t)from * s->return_width,
			  k - (gtu_bug(s->ring->job->dev, GTU_BUG_RETURN_RING) && k == entries)))
			return false;
		*received += k;
		entries -= k;
	}
	return s->moved = store_release(s, n, FIELD(received), *received);
}

/* ---- The job --------------------------------------------------------------------------------- */

static bool begin(struct gtu_job *job, struct gtu_stream *s)
{
	if (!job->unit->stream->begin(job, s))
		return false;
	s->begun = true;
	s->return_at = STREAM_HEADER + s->count * s->record_bytes;
	s->stride = GTU_PEG_STRIDE((uint64_t)s->count, s->record_bytes, (uint64_t)s->return_size * s->return_width);
	if (s->counts_changes && !store_release(s, 0, FIELD(changes), 0))
		return false;
	for (unsigned n = 0; n < s->rings; n++)
		if (!store_release(s, n, FIELD(producer), 0) || !store_release(s, n, FIELD(ended), 0) ||
		    !store_release(s, n, FIELD(waiting), 0) ||
		    (s->counts_changes && !store_release(s, n, FIELD(received), 0)))
			return false;
	return true;
}

/* Set or clear `waiting` in all rings. */
static bool set_waiting(struct gtu_stream *s, bool waiting)
{
	for (unsigned n = 0; n < s->rings; n++)
		if (!store_release(s, n, FIELD(waiting), waiting))
			return false;
	s->waits = waiting;
	return true;
}

/* A consumer that reads only its ring learns that no records will follow. */
static void end(struct gtu_stream *s)
{
	set_waiting(s, false);
	for (unsigned n = 0; n < s->rings; n++)
		stream_end(s, n);
	if (s->counts_changes)
		stream_notify(s);
}

static int run_until(struct gtu_job *job, struct gtu_stream *s, uint64_t until)
{
	for (;;) {
		int ran;

		s->moved = false;
		if (!job->unit->stream->pump(job, s) || (s->moved && s->waits && !set_waiting(s, false)))
			return GTU_RUN_DONE;
		ran = job->unit->stream->advance(job, s, until);
		if (ran == STREAM_AGAIN)
			continue;
		if (ran != GTU_RUN_STALLED || s->waits)
			return ran;
		/*
		 * Set `waiting`, then poll once more: either this poll sees the consumer's update,
		 * or the consumer sees `waiting` and rings the doorbell.
		 */
		if (!set_waiting(s, true))
			return GTU_RUN_DONE;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	}
}

int stream_run(struct gtu_job *job, uint64_t budget)
{
	const struct gtu_stream_ops *ops = job->unit->stream;
	struct gtu_stream *s = gtu_stream_of(job);
	int ran;

	if (!ops->operands(job) || (!s->begun && !begin(job, s)))
		return GTU_RUN_DONE;
	/* rings are filled in parallel: a cycle of all of them costs as much as one cycle per ring */
	if (budget > SLICE_MIN)
		budget = budget / s->rings > SLICE_MIN ? budget / s->rings : SLICE_MIN;
	/* run one cycle past the limit, so that exceeding it does not depend on how run() calls are cut */
	if (budget > job->limit - job->cycles)
		budget = job->limit - job->cycles + 1;
	ran = run_until(job, s, job->cycles + budget);
	gtu_job_count(job, ops->account(job), s->counted, ops->counters);
	if (job->cycles > job->limit) {
		job->cycles = job->limit;
		ran = gtu_job_error(job, GTU_CPL_LIMIT, 0xff, 0);
	}
	if (ran == GTU_RUN_DONE)	/* also in error */
		end(s);
	return ran;
}

/* The job ends from outside, while it may wait for its consumer. */
void stream_stop(struct gtu_job *job)
{
	struct gtu_stream *s = gtu_stream_of(job);

	if (s->begun && job->unit->stream->operands(job))
		end(s);
}
