// SPDX-License-Identifier: MIT
/* GraphPEG's records on their way from the engines to the consumers' rings. */
#include "peg.h"

/* Engine @n's oldest record, into its ring, which has room. */
static bool put_record(struct gtu_job *job, struct peg_unit *u, unsigned n)
{
	const uint32_t count = job->operand[GTU_PEG_RINGS].count;
	struct gtu_mem *ring = &job->mem[GTU_PEG_RINGS];
	struct peg_core *c = u->core;
	const uint8_t *r = peg_core_out(c, n);
	const uint64_t to = n * u->stride + STREAM_HEADER +
			    (c->engine[n].gone & (count - 1)) * c->record_bytes;

	if (!stream_put(ring, to, r, c->record_bytes))
		return false;
	peg_core_taken(c, n);
	u->deliver++;
	return true;
}

static bool tell_producer(struct gtu_job *job, struct peg_unit *u, unsigned n)
{
	return STREAM_STORE(&job->mem[GTU_PEG_RINGS], n * u->stride, producer,
			   (uint32_t)u->core->engine[n].gone);
}

static bool room_of(struct gtu_job *job, struct peg_unit *u, unsigned n, uint32_t *room)
{
	return stream_space(&job->mem[GTU_PEG_RINGS], n * u->stride, job->operand[GTU_PEG_RINGS].count,
			   u->core->engine[n].gone, room);
}

/* With DEMAND: what engine @n holds, as far as its ring has room. 1: some; 0; -1: an error. */
static int deliver_asked(struct gtu_job *job, struct peg_unit *u, unsigned n)
{
	uint64_t waiting = peg_core_waiting(u->core, n);
	uint32_t room, i;

	if (!waiting)
		return 0;
	if (!room_of(job, u, n, &room))
		return -1;
	for (i = 0; i < room && i < waiting; i++)
		if (!put_record(job, u, n))
			return -1;
	u->blocked |= i < waiting;
	return i ? tell_producer(job, u, n) ? 1 : -1 : 0;
}

/* Cycle of the oldest record that engine @n holds. */
static uint64_t head_of(const struct peg_unit *u, unsigned n)
{
	return peg_core_waiting(u->core, n) ?
		       ((const struct gtu_hw_warp *)(const void *)peg_core_out(u->core, n))->cycle : UINT64_MAX;
}

/* Of an engine that holds no record: the cycle that its next one cannot be older than. */
static uint64_t no_older_than(const struct peg_unit *u, unsigned n)
{
	const struct peg_engine *e = &u->core->engine[n];

	return e->ended ? UINT64_MAX : e->ran;
}

/*
 * Without: by cycle, and in a cycle by engine, over all engines, so that what is in the rings is always
 * the beginning of one and the same order. A full ring holds up the others, as it does the clock; so does an
 * engine that holds none, as far as older ones may still come of it.
 */
static int deliver_in_order(struct gtu_job *job, struct peg_unit *u)
{
	const unsigned engines = u->core->stream.engines;
	uint64_t head[GTU_PEG_ENGINES_MAX], next, until = UINT64_MAX;
	uint32_t room[GTU_PEG_ENGINES_MAX];
	unsigned n, best, second;
	int some = 0;

	for (n = 0; n < engines; n++) {
		head[n] = head_of(u, n);
		if (head[n] == UINT64_MAX)
			until = peg_least(until, no_older_than(u, n));
		else if (!room_of(job, u, n, &room[n]))
			return -1;
	}
	for (;;) {
		for (n = 1, best = 0, second = engines; n < engines; n++) {
			if (head[n] < head[best]) {
				second = best;
				best = n;
			} else if (second == engines || head[n] < head[second]) {
				second = n;
			}
		}
		if (head[best] >= until)
			return some;
		next = second == engines ? UINT64_MAX : head[second] - (head[second] != UINT64_MAX && second < best);
		for (n = 0; room[best] && head[best] <= next && head[best] < until; n++, room[best]--) {
			if (!put_record(job, u, best))
				return -1;
			head[best] = head_of(u, best);
			if (head[best] == UINT64_MAX)
				until = peg_least(until, no_older_than(u, best));
		}
		if (n && !tell_producer(job, u, best))
			return -1;
		some |= n != 0;
		if (!room[best] && head[best] <= next && head[best] < until) {
			u->blocked = true;
			return some;
		}
	}
}

/* An engine that has put out its last record says so: 1; -1 on an error. */
static int end_engine(struct gtu_job *job, struct peg_unit *u, unsigned n)
{
	if (!u->core->engine[n].ended || peg_core_waiting(u->core, n) || u->ended >> n & 1)
		return 0;
	u->ended |= 1u << n;
	return STREAM_STORE(&job->mem[GTU_PEG_RINGS], n * u->stride, ended, 1) ? 1 : -1;
}

/*
 * With DEMAND: what was asked for, but no more than the ring has room for, so that an engine whose ring
 * is full holds up no other.
 */
static int listen(struct gtu_job *job, struct peg_unit *u, unsigned n)
{
	struct peg_engine *e = &u->core->engine[n];
	struct gtu_mem *ring = &job->mem[GTU_PEG_RINGS];
	const uint64_t at = n * u->stride, before = e->asked;
	uint64_t asked;
	uint32_t free;

	if (!u->core->stream.demand || e->ended)
		return 0;
	if (!stream_requested(ring, at, e->records, &asked) ||
	    !stream_space(ring, at, job->operand[GTU_PEG_RINGS].count, e->gone, &free))
		return -1;
	asked = asked < e->gone + free ? asked : e->gone + free;
	peg_core_ask(u->core, n, asked);
	return e->asked != before;
}

int peg_pump(struct gtu_job *job, struct peg_unit *u)
{
	const bool demand = u->core->stream.demand;
	int seen = peg_take_pushes(job, u), some = 0, rc = 0;

	u->blocked = false;
	if (seen >= 0 && !demand)
		rc = deliver_in_order(job, u);
	if (seen < 0 || rc < 0)
		return -1;
	seen |= rc;
	for (unsigned n = 0; n < u->core->stream.engines; n++) {
		rc = demand ? deliver_asked(job, u, n) : 0;
		if (rc < 0)
			return -1;
		seen |= rc;
		rc = end_engine(job, u, n);
		if (rc < 0)
			return -1;
		seen |= rc;
		rc = listen(job, u, n);
		if (rc < 0)
			return -1;
		some |= rc;
	}
	job->count = u->deliver;
	if (seen && !stream_notify(&job->mem[GTU_PEG_RINGS], &u->moved))
		return -1;
	return seen | some;
}

bool peg_tell_all(struct gtu_job *job, struct peg_unit *u, bool waiting)
{
	for (unsigned n = 0; n < u->core->stream.engines; n++)
		if (!STREAM_STORE(&job->mem[GTU_PEG_RINGS], n * u->stride, waiting, waiting))
			return false;
	u->waits = waiting;
	return true;
}
