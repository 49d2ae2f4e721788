// SPDX-License-Identifier: MIT
/*
 * Headers of stream rings: synchronization between a unit and its consumer
 * (Documentation/hardware.md, section 7).
 */
#include <string.h>

#include "core.h"
#include "stream.h"

/* A word of the header: aligned, so within one page. NULL if memory cannot be accessed. */
static uint32_t *word(struct gtu_mem *ring, uint64_t byte)
{
	uint64_t got;

	return (uint32_t *)(void *)gtu_mem_span(ring, byte, 4, &got);
}

bool stream_store_release(struct gtu_mem *ring, uint64_t byte, uint32_t value)
{
	uint32_t *p = word(ring, byte);

	if (p)
		__atomic_store_n(p, value, __ATOMIC_RELEASE);
	return p;
}

bool stream_load_acquire(struct gtu_mem *ring, uint64_t byte, uint32_t *value)
{
	const uint32_t *p = word(ring, byte);

	if (p)
		*value = __atomic_load_n(p, __ATOMIC_ACQUIRE);
	return p;
}

bool stream_put(struct gtu_mem *ring, uint64_t at, const void *record, uint64_t bytes)
{
	struct {
		struct gtu_hw_warp head;
		uint32_t lane[(STREAM_RECORD_MAX - sizeof(struct gtu_hw_warp)) / 4];
	} corrupted;
	const struct gtu_hw_warp *head = record;

	if (__builtin_expect(ring->job->dev->faulty, 0) && bytes <= sizeof(corrupted)) {
		memcpy(&corrupted, record, bytes);
		gtu_fault_record(ring->job->dev, &corrupted.head, corrupted.lane, (unsigned)((bytes - sizeof(corrupted.head)) / 4));
		record = &corrupted;
	}
	if (!gtu_mem_store(ring, at, record, bytes))
		return false;
	if (ring->monitored)
		gtu_watch_stream(ring, at, bytes, head->cycle);
	return true;
}

bool stream_notify(struct gtu_mem *ring, uint32_t *changes)
{
	++*changes;
	if (!STREAM_STORE(ring, 0, changes, *changes))
		return false;
	gtu_job_produced(ring->job, *changes);
	return true;
}

bool stream_begin(struct gtu_mem *ring, uint64_t at)
{
	return STREAM_STORE(ring, at, producer, 0) && STREAM_STORE(ring, at, ended, 0) &&
	       STREAM_STORE(ring, at, waiting, 0);
}

static bool outside(struct gtu_mem *ring, uint32_t value)
{
	ring->job->needed = value;
	gtu_job_error(ring->job, GTU_CPL_INDEX, ring->slot, 0);
	return false;
}

bool stream_space(struct gtu_mem *ring, uint64_t at, uint32_t count, uint64_t written, uint32_t *records)
{
	uint32_t consumer;

	if (!stream_load_acquire(ring, at + offsetof(struct gtu_hw_ring, consumer), &consumer))
		return false;
	if ((uint32_t)written - consumer > count)
		return outside(ring, consumer);
	*records = count - ((uint32_t)written - consumer);
	return true;
}

bool stream_requested(struct gtu_mem *ring, uint64_t at, uint64_t had, uint64_t *requested)
{
	uint32_t value;

	if (!stream_load_acquire(ring, at + offsetof(struct gtu_hw_ring, requested), &value))
		return false;
	value -= (uint32_t)had;
	*requested = value < 1u << 31 ? had + value : had;
	return true;
}

bool stream_sent(struct gtu_mem *ring, uint64_t at, uint32_t size, uint32_t received, uint32_t *n)
{
	uint32_t returned;

	if (!stream_load_acquire(ring, at + offsetof(struct gtu_hw_ring, returned), &returned))
		return false;
	*n = returned - received;
	return *n <= size ? true : outside(ring, returned);
}
