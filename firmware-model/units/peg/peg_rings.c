// SPDX-License-Identifier: MIT
/* Moves GraphPEG's records from the engines to the consumers' rings, and requests back. */
#include "peg.h"

/* Move engine @n's oldest record to its ring, which has space. */
static bool put_record(struct gtu_job *job, struct peg_unit *u, unsigned n)
{
	struct peg_core *c = u->core;

	if (!stream_put(gtu_stream_of(job), n, c->engine[n].delivered, peg_core_out(c, n)))
		return false;
	peg_core_taken(c, n);
	u->deliver++;
	return true;
}

/*
 * With DEMAND: move engine @n's records while its ring has space. 1: some moved; 0: none; -1:
 * error.
 */
static int deliver_requested(struct gtu_job *job, struct peg_unit *u, unsigned n)
{
	const uint64_t waiting = peg_core_waiting(u->core, n);
	const struct peg_engine *e = &u->core->engine[n];
	struct gtu_stream *s = gtu_stream_of(job);
	uint32_t space, i;

	if (!waiting)
		return 0;
	if (!stream_space(s, n, e->delivered, &space))
		return -1;
	for (i = 0; i < space && i < waiting; i++)
		if (!put_record(job, u, n))
			return -1;
	u->blocked |= i < waiting;
	return i ? stream_publish(s, n, e->delivered) ? 1 : -1 : 0;
}

/* Cycle of engine @n's oldest pending record. */
static uint64_t head_of(const struct peg_unit *u, unsigned n)
{
	return peg_core_waiting(u->core, n) ?
		       ((const struct gtu_hw_warp *)(const void *)peg_core_out(u->core, n))->cycle : UINT64_MAX;
}

/* For an engine without pending records: the earliest possible cycle of its next one. */
static uint64_t earliest_next(const struct peg_unit *u, unsigned n)
{
	const struct peg_engine *e = &u->core->engine[n];

	return e->ended ? UINT64_MAX : e->ran;
}

/*
 * Without DEMAND: deliver by cycle and, within a cycle, by engine, so that the rings always hold
 * the beginning of one fixed order. A full ring stalls all engines and the clock. An engine without
 * pending records stalls later records as long as it may still output an earlier one.
 */
static int deliver_in_order(struct gtu_job *job, struct peg_unit *u)
{
	const struct peg_engine *e = u->core->engine;
	struct gtu_stream *s = gtu_stream_of(job);
	const unsigned engines = s->rings;
	uint64_t head[GTU_PEG_ENGINES_MAX], next, until = UINT64_MAX;
	uint32_t space[GTU_PEG_ENGINES_MAX];
	unsigned n, best, second;
	int some = 0;

	for (n = 0; n < engines; n++) {
		head[n] = head_of(u, n);
		if (head[n] == UINT64_MAX)
			until = peg_min(until, earliest_next(u, n));
		else if (!stream_space(s, n, e[n].delivered, &space[n]))
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
		for (n = 0; space[best] && head[best] <= next && head[best] < until; n++, space[best]--) {
			if (!put_record(job, u, best))
				return -1;
			head[best] = head_of(u, best);
			if (head[best] == UINT64_MAX)
				until = peg_min(until, earliest_next(u, best));
		}
		if (n && !stream_publish(s, best, e[best].delivered))
			return -1;
		some |= n != 0;
		if (!space[best] && head[best] <= next && head[best] < until) {
			u->blocked = true;
			return some;
		}
	}
}

/*
 * Set `ended` in the ring of an engine that has output its last record: 1; 0: not yet; -1 on an
 * error.
 */
static int end_engine(struct gtu_job *job, struct peg_unit *u, unsigned n)
{
	if (!u->core->engine[n].ended || peg_core_waiting(u->core, n) || u->ended >> n & 1)
		return 0;
	u->ended |= 1u << n;
	return stream_end(gtu_stream_of(job), n) ? 1 : -1;
}

/*
 * With DEMAND: pass on the consumer's request, but no more than its ring has space for, so that an
 * engine with a full ring does not stall the others.
 */
static int poll_requests(struct gtu_job *job, struct peg_unit *u, unsigned n)
{
	struct peg_engine *e = &u->core->engine[n];
	struct gtu_stream *s = gtu_stream_of(job);
	const uint64_t before = e->requested;
	uint64_t requested;
	uint32_t free;

	if (!u->core->stream.demand || e->ended)
		return 0;
	if (!stream_requested(s, n, e->records, &requested) || !stream_space(s, n, e->delivered, &free))
		return -1;
	requested = requested < e->delivered + free ? requested : e->delivered + free;
	peg_core_request(u->core, n, requested);
	return e->requested != before;
}

int peg_pump(struct gtu_job *job)
{
	struct peg_unit *u = job->page->state;
	const bool demand = u->core->stream.demand;
	int seen = peg_take_pushes(job, u), some = 0, rc = 0;

	u->blocked = false;
	if (seen >= 0 && !demand)
		rc = deliver_in_order(job, u);
	if (seen < 0 || rc < 0)
		return -1;
	seen |= rc;
	for (unsigned n = 0; n < u->core->stream.engines; n++) {
		rc = demand ? deliver_requested(job, u, n) : 0;
		if (rc < 0)
			return -1;
		seen |= rc;
		rc = end_engine(job, u, n);
		if (rc < 0)
			return -1;
		seen |= rc;
		rc = poll_requests(job, u, n);
		if (rc < 0)
			return -1;
		some |= rc;
	}
	job->count = u->deliver;
	if (seen && !stream_notify(gtu_stream_of(job)))
		return -1;
	return seen | some;
}
