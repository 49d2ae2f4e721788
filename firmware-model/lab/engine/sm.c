// SPDX-License-Identifier: MIT
/* The SM: warp schedulers, the load/store unit, thread blocks, and the warps' coroutines. */
#include <stdarg.h>

#include "internal.h"

#ifdef LAB_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

/* ---- Programs ---------------------------------------------------------------------------------- */

static void *stack_of(const struct lab *lab, const struct lab_warp *w)
{
	return (char *)lab->stacks + lab->stack_each * (w->id - 1) + (lab->stack_each - LAB_STACK);
}

static void switch_to_program(struct lab *lab, struct lab_warp *w)
{
	lab->part = LAB_PART_PROGRAM;
#ifdef LAB_ASAN
	__sanitizer_start_switch_fiber(&lab->asan_stack, stack_of(lab, w), LAB_STACK);
#endif
	lab_context_switch(&lab->main_sp, w->sp);
#ifdef LAB_ASAN
	__sanitizer_finish_switch_fiber(lab->asan_stack, NULL, NULL);
#endif
	lab->part = LAB_PART_SM;
}

/* Switch from a program to the simulator; @last: the program is not resumed. */
static void switch_to_simulator(struct lab_warp *w, bool last)
{
#ifdef LAB_ASAN
	__sanitizer_start_switch_fiber(last ? NULL : &w->asan_stack, w->lab->main_bottom, w->lab->main_size);
#else
	(void)last;
#endif
	lab_context_switch(&w->sp, w->lab->main_sp);
#ifdef LAB_ASAN
	__sanitizer_finish_switch_fiber(w->asan_stack, &w->lab->main_bottom, &w->lab->main_size);
#endif
}

static void program(void *arg)
{
	struct lab_warp *w = arg;

#ifdef LAB_ASAN
	__sanitizer_finish_switch_fiber(NULL, &w->lab->main_bottom, &w->lab->main_size);
#endif
	w->lab->launch->kernel->warp(w, w->lab->launch->args);
	w->state = WARP_ENDS;
	w->waiting = (1u << LAB_BOARDS) - 1;
	switch_to_simulator(w, true);
}

void lab_wait_for(struct lab_warp *w, unsigned boards)
{
	unsigned b;

	if (!w->ops) {
		for (b = 0; b < LAB_BOARDS; b++)
			if (boards >> b & 1 && (w->pending[b] || w->done[b] > w->lab->calendar.now))
				break;
		if (b == LAB_BOARDS)
			return;
	}
	w->waiting = (uint8_t)boards;
	switch_to_simulator(w, false);
}

void lab_barrier(struct lab_warp *w)
{
	if (w->mask != lab_on(w, ~0u) && w->mask)
		lab_fault(w, "%s: barrier reached by only some lanes of the warp (mask %08x)",
			  w->lab->launch->kernel->name, w->mask);
	lab_alu(w, 1);
	w->lab->stats.barriers++;
	w->state = WARP_AT_BARRIER;
	w->waiting = 0;
	switch_to_simulator(w, false);
}

void lab_stop(struct lab_warp *w)
{
	w->lab->stopped = true;
}

void lab_fault(struct lab_warp *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!w->lab->fault)
		gtu_vfail(&w->lab->error, GTU_ERR_FAIL, fmt, ap);
	va_end(ap);
	w->lab->fault = true;
	switch_to_simulator(w, true);
	__builtin_unreachable();
}

/* ---- Waking warps ---------------------------------------------------------------------------- */

void lab_warp_try_wake(struct lab *lab, struct lab_warp *w)
{
	uint64_t when = lab_max(lab->calendar.now, w->not_before);
	unsigned b;

	if (!w->asleep || w->queued || w->state == WARP_AT_BARRIER)
		return;
	for (b = 0; b < LAB_BOARDS; b++) {
		if (!(w->waiting >> b & 1))
			continue;
		if (w->pending[b])
			return;
		when = lab_max(when, w->done[b]);
	}
	w->asleep = false;
	lab_schedule(&lab->calendar, when, w->id, EV_WAKE);
}

static void release_barrier(struct lab *lab, struct lab_block *b, unsigned sm)
{
	uint64_t slots;

	if (b->arrived < b->alive)
		return;
	b->arrived = 0;
	for (slots = b->slots; slots; slots &= slots - 1) {
		struct lab_warp *w = &lab->warp[sm * lab->m.warps + (unsigned)__builtin_ctzll(slots) + 1];

		if (w->state != WARP_AT_BARRIER)
			continue;
		w->state = WARP_LIVES;
		lab_warp_try_wake(lab, w);
	}
}

static void start_warp(struct lab *lab, unsigned sm, unsigned slot, unsigned block_slot, uint32_t in_block)
{
	struct lab_sm *s = &lab->sm[sm];
	struct lab_warp *w = &lab->warp[sm * lab->m.warps + slot + 1];
	uint32_t id = w->id;

	memset(w, 0, offsetof(struct lab_warp, op));
	w->id = id;
	w->mask = ~0u;
	w->in_block = in_block;
	w->block_warps = lab->block_warps;
	w->sm = sm;
	w->block = s->block[block_slot].number;
	w->grid = lab->launch->grid;
	w->shared = s->shared + block_slot * (size_t)lab->launch->kernel->shared;
	w->shared_bytes = lab->launch->kernel->shared;
	w->lab = lab;
	w->value = lab->value;
	w->state = WARP_LIVES;
	w->slot = (uint8_t)slot;
	w->scheduler = (uint8_t)(slot % lab->m.schedulers);
	w->block_slot = (uint16_t)block_slot;
	w->age = lab->age++;
	w->asleep = true;
	w->sp = lab_context_make((char *)stack_of(lab, w) + LAB_STACK, program, w);
	lab_warp_try_wake(lab, w);
}

static bool block_fits(const struct lab *lab, unsigned sm)
{
	const struct lab_sm *s = &lab->sm[sm];

	return s->blocks < lab->m.blocks && s->shared_free >= lab->launch->kernel->shared &&
	       lab->m.warps - (uint32_t)__builtin_popcountll(s->slots_used) >= lab->block_warps;
}

void lab_block_start(struct lab *lab, unsigned sm)
{
	struct lab_sm *s = &lab->sm[sm];
	struct lab_block *b;
	unsigned at = 0, i, slot;

	while (s->block[at].used)
		at++;
	b = &s->block[at];
	*b = (struct lab_block){ .number = lab->next_block++, .alive = lab->block_warps, .used = true };
	s->blocks++;
	s->shared_free -= lab->launch->kernel->shared;
	if (lab->launch->kernel->shared)
		memset(s->shared + at * (size_t)lab->launch->kernel->shared, 0, lab->launch->kernel->shared);
	lab->stats.blocks++;
	lab->next_sm = (sm + 1) % lab->m.sms;
	for (i = 0; i < lab->block_warps; i++) {
		slot = (unsigned)__builtin_ctzll(~s->slots_used);
		s->slots_used |= 1ull << slot;
		b->slots |= 1ull << slot;
		start_warp(lab, sm, slot, at, i);
	}
}

/* Start as many of the remaining blocks as fit. */
void lab_block_refill(struct lab *lab, unsigned sm)
{
	while (lab->next_block < lab->launch->grid && block_fits(lab, sm)) {
		lab->live_blocks++;
		lab_block_start(lab, sm);
	}
}

static void end_warp(struct lab *lab, struct lab_warp *w)
{
	struct lab_sm *s = &lab->sm[w->sm];
	struct lab_block *b = &s->block[w->block_slot];

	w->state = WARP_FREE;
	s->slots_used &= ~(1ull << w->slot);
	b->slots &= ~(1ull << w->slot);
	if (--b->alive) {
		if (b->arrived)
			release_barrier(lab, b, w->sm);
		return;
	}
	b->used = false;
	s->blocks--;
	s->shared_free += lab->launch->kernel->shared;
	lab->live_blocks--;
	if (!lab->first_blocks)
		lab_block_refill(lab, w->sm);
}

/* ---- Issue ------------------------------------------------------------------------------------- */

static void lsu_put(struct lab *lab, struct lab_warp *w)
{
	struct lab_sm *s = &lab->sm[w->sm];

	s->fifo[(s->fifo_head + s->fifo_count++) % LAB_WARPS_MAX] = w->slot;
	if (!s->lsu_event && !s->lsu_stalled)
		lab_lsu_run(lab, w->sm);
}

static void stack_overflow(struct lab *lab, const struct lab_warp *w)
{
	if (!lab->fault)
		gtu_fail(&lab->error, GTU_ERR_FAIL, "%s: warp %u of block %llu has %td bytes of its stack's %u left, and must leave %u",
			 lab->launch->kernel->name, w->in_block, (unsigned long long)w->block,
			 (char *)w->sp - (char *)stack_of(lab, w), LAB_STACK, LAB_STACK_LEAST);
	lab->fault = true;
}

/*
 * sm.policy = barrel: in each cycle, the SM looks at one of its warps only, whatever the others wait for.
 * @w issues @n instructions, each in a turn of its own; they are fetched first. The latencies of arithmetic
 * and shared memory are shorter than the time between two turns. Returns the cycle of the turn after them.
 */
static uint64_t take_turns(struct lab *lab, struct lab_warp *w, uint64_t n)
{
	uint64_t now = lab->calendar.now, *fetch = &lab_socket(lab, w->sm)->fetch_free, each = lab->m.warps;

	if (lab->m.socket) {
		*fetch = lab_max(*fetch, now) + n;
		each = lab_max(each, (*fetch - now + n - 1) / (n ? n : 1));
	}
	w->spacing = (uint32_t)each;
	w->op_due = now + w->alu_first * each;
	return now + n * each;
}

/* The next turn of @w. */
static uint64_t next_turn(const struct lab *lab, const struct lab_warp *w)
{
	uint64_t past = (lab->calendar.now + lab->m.warps - w->slot) % lab->m.warps;

	return lab->calendar.now + (past ? lab->m.warps - past : 0);
}

/* @w is scheduled in this cycle: run its program until it stalls. */
static void issue(struct lab *lab, struct lab_warp *w, struct lab_scheduler *k)
{
	uint64_t now = lab->calendar.now, first, n;

	w->ops = w->alu_first = w->alu = w->extra = 0;
	w->threads = 0;
	switch_to_program(lab, w);
	if (__builtin_expect((char *)w->sp - (char *)stack_of(lab, w) < (ptrdiff_t)LAB_STACK_LEAST, 0))
		stack_overflow(lab, w);
	if (lab->fault)
		return;
	lab->calendar.node[w->id].value = (uintptr_t)w->sp;
	n = w->alu_first + w->ops + w->alu;
	first = (uint64_t)w->alu_first * lab->m.alu_latency;
	lab->stats.warp_instructions += n;
	lab->stats.thread_instructions += w->threads;
	lab->stats.issue_busy += n;
	if (lab->m.policy == LAB_BARREL) {
		w->not_before = take_turns(lab, w, n);
		first = w->op_due - now;
	} else {
		k->free = now + (n ? n : 1);
		w->not_before = now + first + w->ops + (uint64_t)w->alu * lab->m.alu_latency + w->extra;
	}
	w->asleep = true;
	w->queued = w->ops;
	w->op_next = 0;
	if (w->state == WARP_AT_BARRIER) {
		struct lab_block *b = &lab->sm[w->sm].block[w->block_slot];

		b->arrived++;
		release_barrier(lab, b, w->sm);
	}
	if (!w->ops)
		lab_warp_try_wake(lab, w);
	else if (first)
		lab_schedule(&lab->calendar, now + first, w->id, EV_ISSUE);
	else
		lsu_put(lab, w);
}

static unsigned choose(const struct lab *lab, unsigned sm, const struct lab_scheduler *k)
{
	const struct lab_warp *w = &lab->warp[sm * lab->m.warps + 1];
	uint64_t ready, above;
	unsigned best;

	if (lab->m.policy == LAB_ROUND_ROBIN) {
		above = k->last < 63 ? k->ready & (~0ull << (k->last + 1)) : 0;
		return (unsigned)__builtin_ctzll(above ? above : k->ready);
	}
	if (k->ready >> k->last & 1)
		return k->last;
	best = (unsigned)__builtin_ctzll(k->ready);
	for (ready = k->ready & (k->ready - 1); ready; ready &= ready - 1)
		if (w[__builtin_ctzll(ready)].age < w[best].age)
			best = (unsigned)__builtin_ctzll(ready);
	return best;
}

static void schedule(struct lab *lab, unsigned sm, unsigned which)
{
	struct lab_scheduler *k = &lab->sm[sm].scheduler[which];
	unsigned slot = choose(lab, sm, k);

	k->ready &= ~(1ull << slot);
	k->last = (uint8_t)slot;
	issue(lab, &lab->warp[sm * lab->m.warps + slot + 1], k);
	if (k->ready && !k->event) {
		k->event = true;
		lab_schedule(&lab->calendar, k->free, lab->node_scheduler + sm * lab->m.schedulers + which, EV_SCHEDULER);
	}
}

void lab_wake_event(struct lab *lab, uint32_t node)
{
	struct lab_warp *w = &lab->warp[node];
	struct lab_scheduler *k = &lab->sm[w->sm].scheduler[w->scheduler];

	if (w->state == WARP_ENDS) {
		end_warp(lab, w);
		return;
	}
	if (lab->m.policy == LAB_BARREL) {
		uint64_t turn = next_turn(lab, w);

		if (turn > lab->calendar.now)
			lab_schedule(&lab->calendar, turn, w->id, EV_WAKE);
		else
			issue(lab, w, k);
		return;
	}
	k->ready |= 1ull << w->slot;
	if (k->event)
		return;
	if (k->free <= lab->calendar.now) {
		schedule(lab, w->sm, w->scheduler);
		return;
	}
	k->event = true;
	lab_schedule(&lab->calendar, k->free, lab->node_scheduler + w->sm * lab->m.schedulers + w->scheduler,
	       EV_SCHEDULER);
}

/* ---- The load/store unit ----------------------------------------------------------------------- */

static void begin_op(struct lab *lab, struct lab_sm *s, struct lab_warp *w, const struct lab_op *op)
{
	uint32_t lanes = lab_popcount(op->mask), unit, width_log2 = op->width_log2;
	const lab_u32 *index = &w->index[w->op_next];
	struct lab_coalesced *c = &s->now;
	lab_u32 apart;

	if (width_log2 == LAB_APART_LOG2) {
		width_log2 = 5;		/* the first sector of each line */
		apart = *index * (LAB_LINE / LAB_SECTOR);
		index = &apart;
	}
	unit = op->space == LAB_HOST ? LAB_LINE : op->kind == LAB_LOAD ? lab->m.load_unit :
	       op->kind == LAB_STORE ? lab->m.store_unit : lab->m.atomic_unit;
	lab->part = LAB_PART_COALESCER;
	lab_coalesce((const uint32_t *)index, op->mask, width_log2, op->base, unit,
		     op->kind == LAB_ATOMIC && lab->m.atomics == LAB_ATOMICS_STORE ? LAB_LOAD : op->kind, c);
	lab->part = LAB_PART_SM;
	s->next_transaction = 0;
	s->lsu_active = true;
	lab->stats.accesses[op->kind]++;
	lab->stats.lanes[op->kind] += lanes;
	lab->stats.transactions[op->kind] += c->n;
	lab->stats.sectors[op->kind] += c->sectors;
	lab->count[op->statement].lanes += lanes;
	lab->count[op->statement].warps++;
	lab->count[op->statement].transactions += c->n;
}

static uint32_t request(struct lab *lab, unsigned sm, struct lab_warp *w, const struct lab_op *op, uint64_t unit,
			unsigned sectors)
{
	bool waits = op->board != LAB_BOARDS;
	uint32_t line = op->space == LAB_HOST ? LAB_HOST_LINE : (uint32_t)(unit / LAB_LINE);
	uint32_t node = lab_request(lab, op->kind, sm, line, sectors, waits ? LAB_REPLY_TO_WARP : LAB_REPLY_TO_NONE, w->id);

	lab->calendar.node[node].board = op->board;
	if (waits)
		w->pending[op->board]++;
	return node;
}

/* Each run of contiguous sectors is one link request. */
static void to_host(struct lab *lab, unsigned sm, struct lab_warp *w, const struct lab_op *op, uint64_t line,
		    unsigned bits, uint64_t cycle)
{
	unsigned from, run;
	uint32_t node;

	for (from = 0; (run = lab_run_of(bits, &from)); from += run) {
		node = request(lab, sm, w, op, line, ((1u << run) - 1) << from);
		lab_link_send(lab, node, line + from * LAB_SECTOR, run, cycle);
	}
}

static bool by_l1(const struct lab *lab, const struct lab_op *op)
{
	if (op->space == LAB_HOST)
		return op->kind == LAB_LOAD && lab->m.link_cached;
	return op->kind != LAB_ATOMIC && lab->m.l1_size;
}

/* Send one transaction past the L1 in @cycle. False: no free request; a reply resumes the LSU. */
static bool transact(struct lab *lab, unsigned sm, struct lab_warp *w, const struct lab_op *op, unsigned i,
		     uint64_t cycle)
{
	struct lab_coalesced *c = &lab->sm[sm].now;
	uint32_t node;

	if (lab->port[sm].outstanding >= lab->m.noc_outstanding)
		return false;
	if (op->space == LAB_HOST) {
		to_host(lab, sm, w, op, c->unit[i] & ~(uint64_t)(LAB_LINE - 1), c->bits[i], cycle);
		return true;
	}
	node = request(lab, sm, w, op, c->unit[i], c->bits[i]);
	if (op->kind == LAB_STORE)
		lab->calendar.node[node].partial = c->partial[i];
	lab_send(lab, node, cycle);
	return true;
}

static void schedule_lsu(struct lab *lab, unsigned sm, uint64_t when)
{
	struct lab_sm *s = &lab->sm[sm];

	s->lsu_event = true;
	lab_schedule(&lab->calendar, when, lab->node_lsu + sm, EV_LSU);
}

/* Send the remaining transactions. False: the LSU stalls; an event or a reply resumes it. */
static bool lsu_operation(struct lab *lab, unsigned sm, struct lab_warp *w, const struct lab_op *op)
{
	struct lab_sm *s = &lab->sm[sm];
	uint64_t t = lab->calendar.now, queue = lab->m.l1_miss_queue;
	unsigned entered;

	if (by_l1(lab, op)) {
		entered = lab_l1_enter(lab, sm, w, op, &s->now, s->next_transaction, t);
		s->next_transaction += entered;
		lab->stats.lsu_busy += entered;
		s->lsu_free = t + entered;
		s->lsu_active = s->lsu_stalled = s->next_transaction < s->now.n;
		s->stalled_since = s->lsu_free;
		return !s->lsu_active;
	}
	for (; s->next_transaction < s->now.n; s->next_transaction++, t++) {
		if (lab->port[sm].out.free > t + queue) {
			s->lsu_free = lab->port[sm].out.free - queue;
			lab->stats.lsu_stalled += s->lsu_free - t;
			schedule_lsu(lab, sm, s->lsu_free);
			return false;
		}
		if (!transact(lab, sm, w, op, s->next_transaction, t)) {
			s->lsu_stalled = true;
			s->lsu_free = t;
			s->stalled_since = t;
			return false;
		}
		lab->stats.lsu_busy++;
	}
	s->lsu_free = t;
	s->lsu_active = false;
	return true;
}

/* sm.loads: a load occupies a slot until all of its warp's loads are complete. False: none is free. */
static bool take_load_slot(struct lab *lab, unsigned sm, struct lab_warp *w)
{
	struct lab_sm *s = &lab->sm[sm];
	uint64_t now = lab->calendar.now;
	unsigned i, first = 0;

	for (i = 1; i < lab->m.loads; i++)
		if (s->load_until[i] < s->load_until[first])
			first = i;
	if (s->load_until[first] == UINT64_MAX) {
		s->lsu_stalled = true;
		s->stalled_since = now;
		return false;
	}
	if (s->load_until[first] > now) {
		lab->stats.lsu_stalled += s->load_until[first] - now;
		schedule_lsu(lab, sm, s->load_until[first]);
		return false;
	}
	s->load_until[first] = UINT64_MAX;
	w->loads |= 1ull << first;
	w->pending[LAB_LOADS]++;	/* until the LSU has sent all transactions */
	return true;
}

void lab_lsu_run(struct lab *lab, unsigned sm)
{
	struct lab_sm *s = &lab->sm[sm];
	uint64_t now = lab->calendar.now;
	struct lab_warp *w;
	const struct lab_op *op;
	bool slots;

	if (s->lsu_event)
		return;
	if (s->lsu_stalled && now > s->stalled_since)
		lab->stats.lsu_stalled += now - s->stalled_since;
	s->lsu_stalled = false;
	while (s->fifo_count) {
		if (s->lsu_free > now) {
			schedule_lsu(lab, sm, s->lsu_free);
			return;
		}
		w = &lab->warp[sm * lab->m.warps + s->fifo[s->fifo_head] + 1];
		op = &w->op[w->op_next];
		slots = lab->m.loads && op->kind == LAB_LOAD;
		if (!s->lsu_active) {
			if (slots && !take_load_slot(lab, sm, w))
				return;
			begin_op(lab, s, w, op);
		}
		if (!lsu_operation(lab, sm, w, op))
			return;
		if (slots)
			lab_warp_done(lab, w, LAB_LOADS, now);
		w->op_next++;
		w->queued--;
		if (w->queued && !w->spacing)
			continue;
		s->fifo_head = (uint8_t)((s->fifo_head + 1) % LAB_WARPS_MAX);
		s->fifo_count--;
		if (!w->queued) {
			lab_warp_try_wake(lab, w);
			continue;
		}
		w->op_due += w->spacing;
		lab_schedule(&lab->calendar, lab_max(w->op_due, now), w->id, EV_ISSUE);
	}
}

void lab_issue_event(struct lab *lab, uint32_t node)
{
	lsu_put(lab, &lab->warp[node]);
}

void lab_scheduler_event(struct lab *lab, uint32_t node)
{
	unsigned sm = lab->calendar.node[node].port, which = lab->calendar.node[node].slice;

	lab->sm[sm].scheduler[which].event = false;
	if (lab->sm[sm].scheduler[which].ready)
		schedule(lab, sm, which);
}

void lab_lsu_event(struct lab *lab, uint32_t node)
{
	unsigned sm = node - lab->node_lsu;

	lab->sm[sm].lsu_event = false;
	lab_lsu_run(lab, sm);
}

void lab_l1_event(struct lab *lab, uint32_t node)
{
	unsigned sm = node - lab->node_l1;

	lab->sm[sm].pipe.event = false;
	lab_l1_run(lab, sm);
}
