// SPDX-License-Identifier: MIT
/* The elements of an IRU stream as ranges of an array (GTU_IRU_RANGES). */
#include "iru_ranges.h"

#define LINE 32u	/* ranges whose read is reported at once */

void iru_ranges_start(struct iru_ranges *r)
{
	memset(r, 0, sizeof(*r));
}

static bool fail(struct iru_cursor *c, unsigned status, unsigned slot, uint64_t needed)
{
	c->status = (uint8_t)status;
	c->slot = (uint8_t)slot;
	c->needed = needed;
	return false;
}

/* Move to the next range. False: it is invalid, or memory failed. */
static bool advance(struct iru_cursor *c, struct gtu_job *job)
{
	struct gtu_mem *m = job->mem;
	const uint64_t space = m[GTU_IRU_INDICES].bytes >> m[GTU_IRU_INDICES].width_log2;
	const unsigned width_log2 = m[GTU_IRU_FIRST].width_log2;
	uint64_t first = 0;
	uint32_t count;

	c->start += c->count;
	c->count = 0;
	if (c->next >= m[GTU_IRU_COUNT].count)
		return fail(c, GTU_CPL_OPERAND, GTU_IRU_COUNT, c->start);
	if (!gtu_mem_load(&m[GTU_IRU_COUNT], c->next * 4, &count, 4) ||
	    !gtu_mem_load(&m[GTU_IRU_FIRST], c->next << width_log2, &first, 1u << width_log2))
		return false;
	if (!count)
		return fail(c, GTU_CPL_INDEX, GTU_IRU_COUNT, 0);
	if (first > space || count > space - first)
		return fail(c, GTU_CPL_INDEX, GTU_IRU_FIRST, first);
	c->first = first;
	c->count = count;
	c->next++;
	return true;
}

/*
 * Elements from @k of the stream on that are adjacent in the array, at most @most, and *@at, the
 * first one's number there; 0: an error.
 */
static unsigned adjacent(struct iru_cursor *c, struct gtu_job *job, uint64_t k, unsigned most, uint64_t *at)
{
	uint64_t left;

	while (k - c->start >= c->count)
		if (c->status || !advance(c, job))
			return 0;
	*at = c->first + (k - c->start);
	left = c->count - (k - c->start);
	return left < most ? (unsigned)left : most;
}

/* Report the read of the ranges up to the cursor's, a line at a time, once for all partitions. */
static void report(struct iru_ranges *r, const struct iru_cursor *c, struct gtu_job *job, uint64_t cycle)
{
	const uint64_t ranges = job->mem[GTU_IRU_COUNT].count;

	for (; r->reported < c->next; r->reported += LINE) {
		const uint64_t n = ranges - r->reported < LINE ? ranges - r->reported : LINE;

		gtu_mem_request(&job->mem[GTU_IRU_FIRST], r->reported, n, cycle);
		gtu_mem_request(&job->mem[GTU_IRU_COUNT], r->reported, n, cycle);
	}
}

void iru_ranges_request(struct iru_ranges *r, struct gtu_job *job, unsigned p, uint64_t first,
			unsigned count, uint64_t cycle)
{
	struct iru_cursor *c = &r->fetch[p];
	uint64_t at;
	unsigned n;

	if (!job->mem[GTU_IRU_INDICES].monitored)
		return;
	for (; count; count -= n, first += n) {
		n = adjacent(c, job, first, count, &at);
		if (!n)
			return;
		report(r, c, job, cycle);
		gtu_mem_request(&job->mem[GTU_IRU_INDICES], at, n, cycle);
	}
}

static bool load(struct iru_cursor *c, struct gtu_job *job, uint64_t first, unsigned count, uint32_t to[IRU_LANES])
{
	struct gtu_mem *m = &job->mem[GTU_IRU_INDICES];
	uint64_t at, wide[IRU_LANES];
	unsigned n, i, done;

	for (done = 0; done < count; done += n) {
		n = adjacent(c, job, first + done, count - done, &at);
		if (!n && c->status) {
			job->needed = c->needed;
			return gtu_job_error(job, c->status, c->slot, c->next), false;
		}
		if (!n || !gtu_mem_load(m, at << m->width_log2, m->width_log2 == 2 ? (void *)&to[done] : wide,
					(uint64_t)n << m->width_log2))
			return false;
		for (i = 0; m->width_log2 == 3 && i < n; i++) {
			if (wide[i] > UINT32_MAX) {
				job->needed = wide[i];
				return gtu_job_error(job, GTU_CPL_WIDTH, GTU_IRU_INDICES, first + done + i), false;
			}
			to[done + i] = (uint32_t)wide[i];
		}
	}
	return true;
}

const uint32_t *iru_ranges_load(struct iru_ranges *r, struct gtu_job *job, unsigned p, uint64_t first,
				unsigned count, uint32_t to[IRU_LANES])
{
	const struct iru_cursor before = r->load[p];

	if (load(&r->load[p], job, first, count, to))
		return to;
	r->load[p] = before;	/* the core may load a line again that has failed */
	return NULL;
}
