// SPDX-License-Identifier: MIT
/*
 * The control processor's part of GraphPEG (GraphPEG, section 3.3.2, figure 6). Every `interval`
 * cycles it reads the engines' R_EFS and makes the engine with most edges donate a range to the
 * engine with fewest. Only an entry of the working table moves: its range is split. Vertex-list
 * balancing (section 4.3) does the same with the lengths of the output lists.
 *
 * Documentation/units-peg.md specifies the steps; each message takes `message` cycles.
 */
#include <string.h>

#include "peg_core.h"

enum step { SELECTED, PROPOSED, DONATED };

void peg_wake(struct peg_core *c, unsigned n, uint64_t cycle)
{
	struct peg_engine *e = &c->engine[n];
	const uint64_t interval = c->stream.interval;

	cycle = cycle > e->clock ? cycle : e->clock;
	if (!e->ended && !e->failed && cycle < e->next)
		e->next = cycle;
	/* the control processor stops polling when nothing can change */
	if (c->control == PEG_NEVER && c->balanced && c->live)
		c->control = (c->cycle / interval + 1) * interval;
}

/* Engine @e has nothing left to fetch or to donate. */
static bool nothing_left(const struct peg_engine *e)
{
	return !e->used && !e->left && !e->coming && !e->in.count;
}

static uint64_t amount(const struct peg_core *c, const struct peg_exchange *x, unsigned n)
{
	return x->lists ? peg_core_pushed(c, n) : c->engine[n].efs;
}

/* Select donor and receiver; true if an exchange begins. */
static bool select_engines(struct peg_core *c, struct peg_exchange *x, uint64_t t)
{
	uint64_t most = 0, fewest = 0, threshold;
	int donor = -1, receiver = -1;

	for (unsigned n = 0; n < c->stream.engines; n++) {
		const struct peg_engine *e = &c->engine[n];
		const uint64_t has = amount(c, x, n);

		if (!x->lists && (e->ended || e->failed))
			continue;
		if (donor < 0 || has > most) {
			donor = (int)n;
			most = has;
		}
		if (receiver < 0 || has < fewest) {
			receiver = (int)n;
			fewest = has;
		}
	}
	threshold = most >> c->stream.shift;
	threshold = threshold > c->stream.floor ? threshold : c->stream.floor;
	if (donor < 0 || donor == receiver || most - fewest < threshold)
		return false;
	x->donor = (uint16_t)donor;
	x->receiver = (uint16_t)receiver;
	x->size = (most - fewest) / 2;
	x->step = SELECTED;
	x->at = t + c->stream.message;
	return true;
}

/*
 * T1: notify both engines. The receiver reserves an entry; if it has none, it refuses the exchange.
 */
static bool propose(struct peg_core *c, struct peg_exchange *x)
{
	struct peg_engine *d = &c->engine[x->donor], *r = &c->engine[x->receiver];

	r->reserved = r->ended || r->failed ? -1 : peg_entry_take(c, r);
	d->bc = GTU_PEG_BC_ED;
	d->bs = GTU_PEG_BS_READY;
	r->bc = GTU_PEG_BC_ERS;
	r->bs = r->reserved < 0 ? GTU_PEG_BS_REFUSED : GTU_PEG_BS_READY;
	if (r->reserved < 0)
		return false;
	r->entry[r->reserved].state = PEG_RESERVED;
	return true;
}

/* The entry with most edges left (ties: the lowest); NULL: there is none. */
static struct peg_entry *largest(const struct peg_core *c, const struct peg_engine *d, uint64_t *most)
{
	struct peg_entry *best = NULL;
	uint32_t used = 0, n = 1;

	*most = 0;
	if (d->failed)
		return NULL;
	if (d->most) {
		*most = d->most[1];
		while (n <= c->entry_mask)
			n = 2 * n + (d->most[2 * n] != *most);
		return *most ? &d->entry[n - c->entry_mask - 1] : NULL;
	}
	for (unsigned i = 0; i < c->shape.entries && used < d->used; i++) {
		struct peg_entry *e = &d->entry[i];

		used += e->state != PEG_IVD;

		if ((e->state == PEG_RD || e->state == PEG_FE) && e->end - e->start > *most) {
			*most = e->end - e->start;
			best = e;
		}
	}
	return best;
}

/* T2: put the front of the donor's largest unfetched range in R_BW0 to R_BW2. */
static void donate(struct peg_core *c, struct peg_exchange *x, uint64_t t)
{
	struct peg_engine *d = &c->engine[x->donor];
	uint64_t most;
	struct peg_entry *best = largest(c, d, &most);

	x->size = x->size < most ? x->size : most;
	d->bs = x->size ? GTU_PEG_BS_DONE : GTU_PEG_BS_REFUSED;
	if (!x->size)
		return;
	d->bw[0] = best->start;
	d->bw[1] = best->start += x->size;
	d->bw[2] = best->vertex;
	d->efs -= x->size;
	if (best->start == best->end) {
		const unsigned i = (unsigned)(best - d->entry);

		if (best->state == PEG_FE) {
			d->fe = -1;
		} else {
			uint32_t to = d->rd_head;

			for (uint32_t at = d->rd_head; at != d->rd_tail; at++)
				if (d->rd[at & c->entry_mask] != i)
					d->rd[to++ & c->entry_mask] = d->rd[at & c->entry_mask];
			d->rd_tail = to;
		}
		peg_entry_free(c, d, i);
	} else {
		peg_entry_has(c, d, (uint32_t)(best - d->entry), best->end - best->start);
	}
	peg_wake(c, x->donor, t);
}

/* T3: copy the registers to the receiver and enter the range in its table. */
static void receive(struct peg_core *c, struct peg_exchange *x, uint64_t t)
{
	const struct peg_engine *d = &c->engine[x->donor];
	struct peg_engine *r = &c->engine[x->receiver];
	struct peg_entry *e = &r->entry[r->reserved];
	const unsigned i = (unsigned)r->reserved;

	r->reserved = -1;
	r->bc = GTU_PEG_BC_ER;
	peg_wake(c, x->receiver, t);
	if (!x->size) {
		peg_entry_free(c, r, i);
		r->bs = GTU_PEG_BS_REFUSED;
		c->count.refused++;
		return;
	}
	memcpy(r->bw, d->bw, sizeof(r->bw));
	e->start = r->bw[0];
	e->end = r->bw[1];
	e->vertex = r->bw[2];
	e->state = PEG_RD;
	r->rd[r->rd_tail++ & c->entry_mask] = i;
	peg_entry_has(c, r, i, x->size);
	r->efs += x->size;
	r->bs = GTU_PEG_BS_DONE;
	c->count.moves++;
	c->count.moved += x->size;
}

/* Move vertices from the tail of one list to the tail of the other, spilled vertices first. */
static bool move_lists(struct peg_core *c, struct peg_exchange *x)
{
	struct peg_engine *d = &c->engine[x->donor];
	uint64_t left = x->size < PEG_LIST_MOVE ? x->size : PEG_LIST_MOVE;
	uint64_t vertex[PEG_LANES];

	c->count.list_moves++;
	c->count.list_moved += left;
	while (left) {
		unsigned k = left < PEG_LANES ? (unsigned)left : PEG_LANES;

		if (d->spilled) {
			k = k < d->spilled ? k : (unsigned)d->spilled;
			if (!c->port.unspill(c->port.ctx, x->donor, vertex, k))
				return false;
			d->spilled -= k;
		} else {
			for (unsigned i = 0; i < k; i++)
				vertex[i] = peg_list_get(c, &d->out, d->out.count - k + i);
			d->out.count -= k;
		}
		if (!peg_out_append(c, x->receiver, vertex, k))
			return false;
		left -= k;
	}
	return true;
}

static bool step_exchange(struct peg_core *c, struct peg_exchange *x, uint64_t t)
{
	const uint64_t next = t + c->stream.message;

	x->at = PEG_NEVER;
	switch ((enum step)x->step) {
	case SELECTED:
		if (x->lists || propose(c, x)) {
			x->step = PROPOSED;
			x->at = next;
		} else {
			c->count.refused++;
		}
		return true;
	case PROPOSED:
		if (x->lists)
			return move_lists(c, x);
		donate(c, x, t);
		x->step = DONATED;
		x->at = next;
		return true;
	case DONATED:
		receive(c, x, t);
		return true;
	}
	return true;
}

/* No engine has work left. */
static bool none_left(const struct peg_core *c)
{
	for (unsigned n = 0; n < c->stream.engines; n++)
		if (!c->engine[n].failed && !nothing_left(&c->engine[n]))
			return false;
	return true;
}

/* Let engines that stand by terminate. */
static void allow_termination(struct peg_core *c, uint64_t t)
{
	c->may_terminate = true;
	for (unsigned n = 0; n < c->stream.engines; n++)
		peg_wake(c, n, t);
}

void peg_report_end(struct peg_core *c, uint64_t now)
{
	if (!c->balanced || c->may_terminate || c->ending != PEG_NEVER || !none_left(c))
		return;
	c->ending = now + 2ull * c->stream.message;
	c->control = peg_min(c->control, c->ending);
}

bool peg_control(struct peg_core *c)
{
	const uint64_t t = c->control, interval = c->stream.interval;
	struct peg_exchange *const x = c->exchange;
	bool changed = false;

	for (unsigned i = 0; i < 2; i++) {
		if (x[i].at != t)
			continue;
		if (!step_exchange(c, &x[i], t))
			return false;
		changed = true;
	}
	if (!(t % interval)) {
		c->count.polls++;
		if (c->stream.balance_edges && x[0].at == PEG_NEVER) {
			for (unsigned n = 0; n < c->stream.engines; n++)
				c->engine[n].bc = c->engine[n].bs = 0;
			changed |= select_engines(c, &x[0], t);
		}
		if (c->stream.balance_lists && x[1].at == PEG_NEVER)
			changed |= select_engines(c, &x[1], t);
		/* without a latency of messages, an exchange ends in the cycle of the poll */
		for (unsigned i = 0; i < 2; i++)
			while (x[i].at == t && !c->stream.message)
				if (!step_exchange(c, &x[i], t))
					return false;
		if (c->stream.stand_by && !c->stream.end_reported && !c->may_terminate && none_left(c)) {
			allow_termination(c, t);
			changed = true;
		}
	}
	if (c->ending == t) {
		allow_termination(c, t);
		c->ending = PEG_NEVER;
		changed = true;
	}
	c->control = peg_min(peg_min((t / interval + 1) * interval, c->ending), peg_min(x[0].at, x[1].at));
	if (changed || c->ending != PEG_NEVER || x[0].at != PEG_NEVER || x[1].at != PEG_NEVER)
		return true;
	for (unsigned n = 0; n < c->stream.engines; n++)
		if (c->engine[n].next != PEG_NEVER)
			return true;
	c->control = PEG_NEVER;
	return true;
}
