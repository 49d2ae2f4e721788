// SPDX-License-Identifier: MIT
/* Moves GraphPEG's records from the engines to the consumers' rings, and requests back. */
#include "peg.h"

/* Move engine @n's oldest record to its ring, which has space. */
static bool put_record(struct peg_unit *u, struct gtu_stream *s, unsigned n)
{
	struct peg_core *c = u->core;

	if (!stream_put(s, n, c->engine[n].delivered, peg_core_out(c, n)))
		return false;
	peg_core_taken(c, n);
	s->written++;
	return true;
}

/* With DEMAND: move engine @n's records while its ring has space. */
static bool deliver_requested(struct peg_unit *u, struct gtu_stream *s, unsigned n)
{
	const uint64_t waiting = peg_core_waiting(u->core, n);
	const struct peg_engine *e = &u->core->engine[n];
	uint32_t space, i;

	if (!waiting)
		return true;
	if (!stream_space(s, n, e->delivered, &space))
		return false;
	for (i = 0; i < space && i < waiting; i++)
		if (!put_record(u, s, n))
			return false;
	u->blocked |= i < waiting;
	return !i || stream_publish(s, n, e->delivered);
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
static bool deliver_in_order(struct peg_unit *u, struct gtu_stream *s)
{
	const struct peg_engine *e = u->core->engine;
	const unsigned engines = s->rings;
	uint64_t head[GTU_PEG_ENGINES_MAX], next, until = UINT64_MAX;
	uint32_t space[GTU_PEG_ENGINES_MAX];
	unsigned n, best, second;

	for (n = 0; n < engines; n++) {
		head[n] = head_of(u, n);
		if (head[n] == UINT64_MAX)
			until = peg_min(until, earliest_next(u, n));
		else if (!stream_space(s, n, e[n].delivered, &space[n]))
			return false;
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
			return true;
		next = second == engines ? UINT64_MAX : head[second] - (head[second] != UINT64_MAX && second < best);
		for (n = 0; space[best] && head[best] <= next && head[best] < until; n++, space[best]--) {
			if (!put_record(u, s, best))
				return false;
			head[best] = head_of(u, best);
			if (head[best] == UINT64_MAX)
				until = peg_min(until, earliest_next(u, best));
		}
		if (n && !stream_publish(s, best, e[best].delivered))
			return false;
		if (!space[best] && head[best] <= next && head[best] < until) {
			u->blocked = true;
			return true;
		}
	}
}

/* Set `ended` in the ring of an engine that has output its last record. */
static bool end_engine(struct peg_unit *u, struct gtu_stream *s, unsigned n)
{
	if (!u->core->engine[n].ended || peg_core_waiting(u->core, n) || u->ended >> n & 1)
		return true;
	u->ended |= 1u << n;
	return stream_end(s, n);
}

/*
 * With DEMAND: pass on the consumer's request, but no more than its ring has space for, so that an
 * engine with a full ring does not stall the others.
 */
static bool poll_requests(struct peg_unit *u, struct gtu_stream *s, unsigned n)
{
	struct peg_engine *e = &u->core->engine[n];
	const uint64_t before = e->requested;
	uint64_t requested;
	uint32_t free;

	if (!u->core->stream.demand || e->ended)
		return true;
	if (!stream_requested(s, n, e->records, &requested) || !stream_space(s, n, e->delivered, &free))
		return false;
	requested = requested < e->delivered + free ? requested : e->delivered + free;
	peg_core_request(u->core, n, requested);
	s->moved |= e->requested != before;
	return true;
}

bool peg_pump(struct gtu_job *job, struct gtu_stream *s)
{
	struct peg_unit *u = job->page->state;
	const bool demand = u->core->stream.demand;
	unsigned n;

	u->blocked = false;
	if (!peg_take_pushes(job, u, s) || (!demand && !deliver_in_order(u, s)))
		return false;
	for (n = 0; n < s->rings; n++)
		if ((demand && !deliver_requested(u, s, n)) || !end_engine(u, s, n))
			return false;
	job->count = s->written;
	if (s->moved && !stream_notify(s))
		return false;
	for (n = 0; n < s->rings; n++)
		if (!poll_requests(u, s, n))
			return false;
	return true;
}
