// SPDX-License-Identifier: MIT
/*
 * Queues: doorbells, descriptor fetch, scheduling, completions and events.
 *
 * A queue runs one job at a time, in order. The device fetches a job only if the completion ring
 * has a free slot, so no completion is lost. Groups of contexts share the device by deficit round
 * robin in logical cycles, so do the contexts of a group, and the queues of a context by round robin. A job's results and cycles never depend
 * on other jobs.
 */
#include "gtu/splitmix64.h"
#include "core.h"

#define DELAY_MAX 255u		/* cycles by which memory is late without GTU_CAP_LOGICAL_CYCLES */

static struct gtu_context *context_of(struct gtu_dev *dev, const struct gtu_hwq *q)
{
	return &dev->context[q->context];
}

static void set_runnable(struct gtu_dev *dev, struct gtu_hwq *q, bool is)
{
	struct gtu_context *c = context_of(dev, q);
	const uint64_t bit = 1ull << (q->id % 64);
	const uint32_t change = is ? 1 : -1u;

	if (!(c->queues[q->id / 64] & bit) != is)
		return;
	c->queues[q->id / 64] ^= bit;
	c->runnable += change;
	c->group->runnable += change;
	dev->runnable += change;
}

static void runnable(struct gtu_dev *dev, struct gtu_hwq *q)
{
	set_runnable(dev, q, true);
}

static void blocked(struct gtu_dev *dev, struct gtu_hwq *q)
{
	set_runnable(dev, q, false);
}

/* The queue has a job to fetch and a free slot for its completion. */
static bool fetchable(const struct gtu_hwq *q)
{
	return q->sq_head != q->sq_tail && q->cq_tail - q->cq_head < 1u << q->cq_log2;
}

void gtu_job_count(const struct gtu_job *job, const uint64_t *now, uint64_t *counted, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		job->page->live[i] += now[i] - counted[i];
		counted[i] = now[i];
	}
}

int gtu_job_error(struct gtu_job *job, unsigned status, unsigned slot, uint64_t element)
{
	if (job->status == GTU_CPL_OK) {
		job->status = status;
		job->slot = slot;
		job->element = element;
	}
	return GTU_RUN_DONE;
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* Write the queue's pending event to its event ring; it stays pending while the ring is full. */
static void event_raise(struct gtu_dev *dev, struct gtu_hwq *q)
{
	struct gtu_event_ring *e;
	uint32_t word, size, *at;

	if (q->event_ring == GTU_RING_NONE)
		return;
	e = &dev->event[q->event_ring];
	size = 1u << e->log2;
	if (!e->enabled || e->tail - e->head >= size)
		return;
	word = q->id | (q->error_due ? GTU_EVENT_ERROR : 0) | (e->tail & size ? 0 : GTU_EVENT_PHASE);
	if (dev->faulty)
		word = gtu_fault_event(dev, word);
	at = gtu_dma(dev, e->addr + 4 * (e->tail & (size - 1)), 4, true);
	if (!at) {
		gtu_dev_error(dev, GTU_ERROR_DMA, e->addr);
		return;
	}
	__atomic_store_n(at, word, __ATOMIC_RELEASE);
	e->tail++;
	q->event_due = q->error_due = false;
	if (dev->ops.irq)
		dev->ops.irq(dev->host, e->vector + gtu_bug(dev, GTU_BUG_IRQ_VECTOR));
}

static void event_now(struct gtu_dev *dev, struct gtu_hwq *q)
{
	q->event_due = true;
	event_raise(dev, q);
}

void gtu_job_record_event(struct gtu_job *job)
{
	job->record_armed = false;
	event_now(job->dev, (struct gtu_hwq *)((char *)job - offsetof(struct gtu_hwq, job)));
}

void gtu_events_retry(struct gtu_dev *dev, uint32_t ring)
{
	uint32_t i;

	for (i = 0; i < dev->config.queues; i++) {
		struct gtu_hwq *q = &dev->queue[i];

		if (q->event_ring == ring && (q->event_due || q->error_due))
			event_raise(dev, q);
	}
}

/* ---- Status, errors, dropping ---------------------------------------------------------------- */

static void status_write(struct gtu_dev *dev, struct gtu_hwq *q)
{
	struct gtu_hw_queue_status *s =
		gtu_dma(dev, q->cq + ((uint64_t)sizeof(struct gtu_hw_cpl) << q->cq_log2), sizeof(*s), true);
	uint32_t state = q->state;

	if (!s)
		return;
	s->epoch = dev->epoch;
	s->sq_head = q->sq_head;
	s->cq_tail = q->cq_tail;
	if (dev->faulty)
		gtu_fault_status(dev, s, &state);
	__atomic_store_n(&s->state, state, __ATOMIC_RELEASE);
}

/* ---- Exclusive units ------------------------------------------------------------------------- */

/*
 * Groups of contexts share an exclusive unit by start-time fair queueing, and so do the contexts of a group: one is
 * charged for the cycles for which it keeps the unit from others, divided by its weight, also while its stream waits for
 * the consumer and while other jobs run. The unit goes to the one with the smallest charge, of those that wait and those
 * that had it a short time ago. One that starts to wait is charged at least what the last owner was when it got the unit,
 * so it has no credit from the time before. Without waiters, that least charge grows with time up to the largest, so
 * debts end.
 *
 * A context that submits a job when the one before has ended does not wait when the unit becomes free. Each of its jobs
 * would wait for one of another context, however long that is. So the unit is kept free for it, and it is charged for
 * that time, too.
 */
#define LEVELS 2

/* A level at which a unit is shared, and the part of one that takes part there. */
struct level {
	struct gtu_contest *all;
	struct gtu_unit_share *one;
	unsigned weight;
};

/* The level of groups, and that of the contexts in @c's group, for unit page @i. */
static void levels_of(struct gtu_dev *dev, unsigned i, struct gtu_context *c, struct level level[LEVELS])
{
	level[0] = (struct level){ &dev->page[i].groups, &c->group->share[i], c->group->weight };
	level[1] = (struct level){ &c->group->contexts[i], &c->share[i], c->weight };
}

static unsigned page_of(const struct gtu_hwq *q)
{
	return (unsigned)(q->job.page - q->job.dev->page);
}

static void levels_of_queue(struct gtu_hwq *q, struct level level[LEVELS])
{
	levels_of(q->job.dev, page_of(q), q->job.context, level);
}

static bool less(uint64_t charge, uint64_t than)
{
	return (int64_t)(charge - than) < 0;
}

/* The charge of one that waits, or would start to. */
static uint64_t charge_of(const struct level *l)
{
	return less(l->one->charge, l->all->least) ? l->all->least : l->one->charge;
}

/* Let @cycles pass: charge those that keep units from others, and age stalled streams. */
static void pass_time(struct gtu_dev *dev, uint64_t cycles)
{
	dev->time += cycles;
	for (unsigned i = 0; i < GTU_UNIT_COUNT; i++) {
		struct gtu_unit_page *page = &dev->page[i];
		struct gtu_context *context = page->owner ? page->owner->job.context : page->expected;
		struct level level[LEVELS];

		if (!page->groups.waiters || !context || (page->owner && !page->owner->active))
			continue;
		levels_of(dev, i, context, level);
		for (struct level *l = level; l < level + LEVELS; l++) {
			if (l->all->waiters > l->one->waiters)
				l->one->charge = charge_of(l) + cycles * GTU_CHARGE_SCALE / l->weight;
			if (less(l->all->most, l->one->charge))
				l->all->most = l->one->charge;
		}
		if (page->owner && page->owner->stalled) {
			page->owner->stalled_for += cycles;
			page->owner->stalled_total += cycles;
		}
	}
}

/* Queue @q wants its job's unit. */
static void request(struct gtu_hwq *q)
{
	struct level level[LEVELS];

	levels_of_queue(q, level);
	for (struct level *l = level; l < level + LEVELS; l++) {
		const uint64_t calm = q->job.dev->time - l->all->calm_since, debt = l->all->most - l->all->least;

		if (!l->all->waiters && less(l->all->least, l->all->most))
			l->all->least += calm < debt / GTU_CHARGE_SCALE ? calm * GTU_CHARGE_SCALE : debt;
		l->one->charge = charge_of(l);
		l->one->waiters += !q->waits;
		l->all->waiters += !q->waits;
	}
	q->waits = true;
}

/* Stop waiting for the job's unit. */
static void stop_waiting(struct gtu_hwq *q)
{
	struct level level[LEVELS];

	if (!q->waits)
		return;
	q->waits = false;
	levels_of_queue(q, level);
	for (struct level *l = level; l < level + LEVELS; l++) {
		l->one->waiters--;
		if (!--l->all->waiters)
			l->all->calm_since = q->job.dev->time;
	}
}

static void own(struct gtu_hwq *q)
{
	struct level level[LEVELS];

	stop_waiting(q);
	q->job.page->owner = q;
	levels_of_queue(q, level);
	for (struct level *l = level; l < level + LEVELS; l++)
		l->all->least = l->one->charge;
	q->job.context->last_queue[page_of(q)] = q->id;
}

/* Whether the unit goes to the context of @a rather than to that of @b: by the smaller charge, or because it waits. */
static bool precedes(const struct level a[LEVELS], const struct level b[LEVELS])
{
	for (unsigned i = 0; i < LEVELS && a[i].all == b[i].all; i++) {
		const uint64_t charge = charge_of(&a[i]), than = charge_of(&b[i]);

		if (charge != than)
			return less(charge, than);
		if (!a[i].one->waiters != !b[i].one->waiters)
			return a[i].one->waiters;
	}
	return false;
}

/*
 * Give the unit of @page (may be NULL), which has no owner, to a queue of the context with the smallest charge in the
 * group with the smallest charge: the next after the one that had it last. If that context does not wait, the unit is kept
 * free for it.
 */
static void grant(struct gtu_dev *dev, struct gtu_unit_page *page)
{
	const unsigned n = page ? (unsigned)(page - dev->page) : 0;
	struct level level[LEVELS], lowest[LEVELS];
	struct gtu_context *best = NULL;
	uint32_t i;

	if (!page || !page->groups.waiters)
		return;
	for (i = 0; i < dev->config.contexts; i++) {
		struct gtu_context *c = &dev->context[i];

		if (!c->enabled || (!c->share[n].waiters && dev->time >= c->expected_until[n]))
			continue;
		levels_of(dev, n, c, level);
		if (!best || precedes(level, lowest)) {
			best = c;
			memcpy(lowest, level, sizeof(level));
		}
	}
	if (!best)
		return;
	page->expected = best->share[n].waiters ? NULL : best;
	for (i = 0; !page->expected && i < dev->config.queues; i++) {
		struct gtu_hwq *q = &dev->queue[(best->last_queue[n] + (best->share[n].waiters > 1) + i) % dev->config.queues];

		if (q->waits && q->job.page == page && q->job.context == best) {
			own(q);
			runnable(dev, q);
			break;
		}
	}
}

/* Acquire the job's exclusive unit, or wait for it. */
static bool acquire(struct gtu_hwq *q)
{
	struct gtu_unit_page *page = q->job.page;

	if (page->owner == q)
		return true;
	request(q);
	if (!page->owner)
		grant(q->job.dev, page);
	return page->owner == q;
}

/* The queue's job has ended, or is dropped. Returns the page of the exclusive unit that it held, for grant(), or NULL. */
static struct gtu_unit_page *retire(struct gtu_dev *dev, struct gtu_hwq *q)
{
	struct gtu_unit_page *page = q->active && q->job.unit && q->job.page->owner == q ? q->job.page : NULL;

	if (page) {
		page->owner = NULL;
		q->job.context->expected_until[page_of(q)] = dev->time + GTU_EXPECTED;
	}
	if (q->active && q->job.started && q->job.desc.opcode == GTU_OP_FENCE)
		dev->fences--;
	q->active = q->stalled = false;
	return page;
}

void gtu_queue_drop(struct gtu_dev *dev, struct gtu_hwq *q)
{
	stop_waiting(q);
	grant(dev, retire(dev, q));
	blocked(dev, q);
	gtu_queue_wake_all(dev);	/* a fence may be runnable now */
}

void gtu_queue_clear(struct gtu_hwq *q)
{
	q->sq_head = q->sq_tail = q->cq_head = q->cq_tail = q->submit_low = 0;
	q->armed = q->event_due = q->error_due = q->active = q->waits = q->stalled = false;
	q->canceling = q->job.record_armed = false;
}

void gtu_queue_start(struct gtu_dev *dev, struct gtu_hwq *q)
{
	gtu_queue_clear(q);
	q->state = GTU_QUEUE_ENABLED;
	q->enabled = true;
	q->generation++;
	status_write(dev, q);
}

void gtu_queue_seek(struct gtu_dev *dev, struct gtu_hwq *q, uint32_t index, uint32_t head)
{
	q->sq_head = q->sq_tail = q->cq_tail = index;
	q->cq_head = head;
	status_write(dev, q);
}

static void queue_error(struct gtu_dev *dev, struct gtu_hwq *q, uint32_t state)
{
	q->state = state;
	gtu_queue_drop(dev, q);
	q->error_due = true;
	status_write(dev, q);
	event_raise(dev, q);
	gtu_dev_error(dev, GTU_ERROR_QUEUE, q->id | (uint64_t)state << 32);
}

void gtu_queue_wake_all(struct gtu_dev *dev)
{
	uint32_t i;

	for (i = 0; i < dev->config.queues; i++) {
		struct gtu_hwq *q = &dev->queue[i];

		if (q->enabled && q->state == GTU_QUEUE_ENABLED && (q->active || fetchable(q)))
			runnable(dev, q);
	}
}

/* ---- Doorbells ------------------------------------------------------------------------------- */

static void submit(struct gtu_dev *dev, struct gtu_hwq *q, uint32_t tail, uint32_t head)
{
	if (tail - q->sq_head > 1u << q->sq_log2 || tail - q->sq_tail > 1u << q->sq_log2) {
		queue_error(dev, q, GTU_QUEUE_E_TAIL);
		return;
	}
	if (head - q->cq_head > q->cq_tail - q->cq_head) {
		queue_error(dev, q, GTU_QUEUE_E_HEAD);
		return;
	}
	if (!(gtu_bug(dev, GTU_BUG_TAIL_LOST) && q->active))
		q->sq_tail = tail;
	q->cq_head = head;
	if (q->active || fetchable(q))
		runnable(dev, q);
}

void gtu_queue_doorbell(struct gtu_dev *dev, uint32_t queue, uint32_t reg, unsigned size,
			uint64_t value)
{
	struct gtu_hwq *q = queue < dev->config.queues ? &dev->queue[queue] : NULL;

	if (!q || !q->enabled || q->state != GTU_QUEUE_ENABLED)
		return;			/* ignored: no queue, or one in error until its reset */
	if (reg == GTU_DB_SUBMIT && size == 8) {
		submit(dev, q, (uint32_t)value, value >> 32);
	} else if (reg == GTU_DB_SUBMIT && size == 4) {
		q->submit_low = (uint32_t)value;
	} else if (reg == GTU_DB_SUBMIT + 4 && size == 4) {
		submit(dev, q, q->submit_low, (uint32_t)value);
	} else if (reg == GTU_DB_ARM) {
		q->arm_index = (uint32_t)value;
		q->armed = (int32_t)(q->cq_tail - q->arm_index) <= 0;
		if (!q->armed)
			event_now(dev, q);
	} else if (reg == GTU_DB_ARM_STREAM) {
		/*
		 * `produced` is the running job's: 0 until it writes a record, and for a job that
		 * is no stream
		 */
		q->job.record_wanted = (uint32_t)value;
		q->job.record_armed = q->active ? (int32_t)(q->job.produced - q->job.record_wanted) <= 0 : fetchable(q);
		if (!q->job.record_armed)
			event_now(dev, q);
	} else if (reg == GTU_DB_KICK) {
		if (q->active)
			runnable(dev, q);
	} else {
		gtu_dev_error(dev, GTU_ERROR_REGISTER, reg);
	}
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/*
 * Write the job's completion as one block, `phase` last. The queue's tail includes the completion before a user can
 * see it: a consumer index that counts it is valid from then on. Returns what retire() does.
 */
static struct gtu_unit_page *complete(struct gtu_dev *dev, struct gtu_hwq *q)
{
	struct gtu_job *job = &q->job;
	const uint32_t size = 1u << q->cq_log2, slot = q->cq_tail & (size - 1);
	struct gtu_hw_cpl *to = gtu_dma(dev, q->cq + slot * sizeof(*to), sizeof(*to), true);
	bool ok = job->status == GTU_CPL_OK;
	uint16_t phase = q->cq_tail & size ? 0 : 1;
	struct gtu_unit_page *page = retire(dev, q);
	struct gtu_hw_cpl cpl;

	if (!to) {
		gtu_dev_error(dev, GTU_ERROR_DMA, q->cq);
		queue_error(dev, q, GTU_QUEUE_E_DMA);
		return page;
	}
	cpl = (struct gtu_hw_cpl){
		.cookie = job->desc.cookie,
		.count = job->count,
		.needed = job->needed,
		.cycles = job->cycles,
		.dropped = job->dropped,
		.element = ok ? 0 : job->element,
		.sq_index = q->sq_head - 1,
		.operand = ok ? 0xff : job->slot,
		.status = job->status,
	};
	if (dev->faulty) {
		gtu_fault_completion(dev, &cpl, &phase);
		gtu_bug_completion(dev, job, &cpl, &phase);
	}
	q->cq_tail++;
	context_of(dev, q)->jobs++;
	context_of(dev, q)->failed += !ok;
	memcpy(to, &cpl, offsetof(struct gtu_hw_cpl, phase));
	__atomic_store_n(&to->phase, phase, __ATOMIC_RELEASE);
	if (dev->faulty)
		gtu_fault_late_status(dev);
	status_write(dev, q);
	if (q->canceling && (int32_t)(q->cancel_until - q->cq_tail) <= 0)
		q->canceling = false;
	if (job->record_armed || (q->armed && (int32_t)(q->cq_tail - q->arm_index) > 0)) {
		if ((int32_t)(q->cq_tail - q->arm_index) > 0)
			q->armed = false;
		job->record_armed = false;
		event_now(dev, q);
	}
	if (fetchable(q))
		runnable(dev, q);
	else
		blocked(dev, q);
	if (dev->fences)
		gtu_queue_wake_all(dev);	/* a fence may wait for this completion */
	return page;
}

/* Copy the descriptor at the ring's head; false if the ring cannot be accessed. */
static bool fetch(struct gtu_dev *dev, struct gtu_hwq *q)
{
	struct gtu_job *job = &q->job;
	const uint32_t slot = q->sq_head & ((1u << q->sq_log2) - 1);
	unsigned i;

	if (!gtu_dma_read(dev, q->sq + slot * sizeof(job->desc), &job->desc, sizeof(job->desc)))
		return false;
	q->sq_head++;
	q->active = true;
	q->stalled = false;
	q->stalled_for = q->stalled_total = 0;
	job->dev = dev;
	job->context = context_of(dev, q);
	job->mem = dev->mem;
	job->unit = NULL;
	job->started = false;
	job->produced = 0;
	job->count = job->needed = job->cycles = job->dropped = job->element = 0;
	job->status = GTU_CPL_OK;
	job->slot = 0xff;
	job->operands = GTU_DESC_OPERANDS;
	job->delay = 0;
	if (dev->config.caps_off & GTU_CAP_LOGICAL_CYCLES)
		job->delay = (uint32_t)gtu_splitmix64_hash(dev->jobs++) & DELAY_MAX;
	job->limit = !job->desc.limit ? dev->cycle_limit :
		     (uint64_t)job->desc.limit * (gtu_bug(dev, GTU_BUG_LIMIT) ? 1000 : 1024);
	if (gtu_bug(dev, GTU_BUG_DEMAND) && job->desc.opcode == GTU_OP_IRU_STREAM)
		job->desc.param &= ~GTU_IRU_DEMAND;
	memcpy(job->operand, job->desc.operand, sizeof(job->desc.operand));
	for (i = GTU_DESC_OPERANDS; i < GTU_BLOCK_OPERANDS; i++)
		job->operand[i] = (struct gtu_hw_operand){ 0 };
	return true;
}

/* Replace the operands by the block that operand 0 points to. */
static bool fetch_block(struct gtu_job *job)
{
	static const struct gtu_requirement want = { .slot = 0, .width_log2 = 4, .need = GTU_REQUIRE_READ };
	const uint32_t n = job->desc.operand[0].count;

	if (gtu_bug(job->dev, GTU_BUG_BLOCK))
		job->operand[0].offset &= ~63ull;
	if (!n || n > GTU_BLOCK_OPERANDS)
		return gtu_job_error(job, GTU_CPL_OPERAND, 0, 0), false;
	if (!gtu_job_operands(job, &want, 1) ||
	    !gtu_mem_load(&job->mem[0], 0, job->operand, n * sizeof(job->operand[0])))
		return false;
	for (unsigned i = n; i < GTU_BLOCK_OPERANDS; i++)
		job->operand[i] = (struct gtu_hw_operand){ 0 };
	job->operands = n;
	return true;
}

/* Checks before a unit sees the job. False with the job's status set. */
static bool prepare(struct gtu_dev *dev, struct gtu_job *job)
{
	const struct gtu_hw_desc *d = &job->desc;
	const unsigned page = dev->page_of[d->opcode];

	if (d->reserved0 || d->flags & ~GTU_DESC_FLAGS)
		return gtu_job_error(job, GTU_CPL_RESERVED, 0xff, 0), false;
	job->page = page ? &dev->page[page - 1] : NULL;
	job->unit = page ? job->page->unit : NULL;
	if (!job->unit)
		return gtu_job_error(job, page ? GTU_CPL_ABSENT : GTU_CPL_OPCODE, 0xff, 0), false;
	return !(d->flags & GTU_DESC_BLOCK) || fetch_block(job);
}

/* End a job from outside its unit; the unit may notify its consumer. */
static int stop(struct gtu_job *job, unsigned status)
{
	if (job->unit->stop)
		job->unit->stop(job);
	return gtu_job_error(job, status, 0xff, 0);
}

/*
 * Fetch the queue's next job, or mark the queue blocked. Without a job to run, q->active is false; then returns the
 * cycles used.
 */
static uint64_t next_job(struct gtu_dev *dev, struct gtu_hwq *q)
{
	struct gtu_job *job = &q->job;

	if (!fetchable(q)) {
		blocked(dev, q);
		return 0;
	}
	if (!fetch(dev, q)) {
		queue_error(dev, q, GTU_QUEUE_E_DMA);
		return 0;
	}
	if (q->canceling) {	/* `until` is beyond every job fetched meanwhile */
		gtu_job_error(job, GTU_CPL_CANCELED, 0xff, 0);
		complete(dev, q);
		return 0;
	}
	if (prepare(dev, job))
		return 0;
	job->unit = NULL;
	job->cycles = 1;
	dev->cycles++;
	pass_time(dev, 1);
	complete(dev, q);
	return 1;
}

/*
 * Queue @q has released the exclusive unit of @page (may be NULL): fetch its next job first, so that it competes with
 * those that wait. Returns the cycles used.
 */
static uint64_t pass_on(struct gtu_dev *dev, struct gtu_hwq *q, struct gtu_unit_page *page)
{
	uint64_t spent = 0;

	if (page && page->groups.waiters && q->state == GTU_QUEUE_ENABLED)
		spent = next_job(dev, q);
	if (page && q->active && q->job.page == page)
		request(q);
	grant(dev, page);
	return spent;
}

/* Run queue @q for about @budget cycles, or mark it blocked; returns the cycles used. */
static uint64_t run_queue(struct gtu_dev *dev, struct gtu_hwq *q, uint64_t budget)
{
	struct gtu_job *job = &q->job;
	uint64_t before, spent;
	uint32_t produced;
	int ran = GTU_RUN_MORE;

	if (!q->active) {
		spent = next_job(dev, q);
		if (!q->active)
			return spent;
	}
	if (job->unit->exclusive && !acquire(q)) {
		blocked(dev, q);
		return 0;
	}
	before = job->cycles;
	produced = job->produced;
	dev->run_cycles = dev->cycles - before;
	if (!job->started) {
		job->started = true;
		if (job->desc.opcode == GTU_OP_FENCE && dev->fences++)
			gtu_queue_wake_all(dev);	/* other fences do not wait for this queue any more */
		memset(job->state, 0, sizeof(job->state));
		if (!job->unit->start(job))
			ran = GTU_RUN_DONE;
	}
	if (ran == GTU_RUN_MORE)
		ran = job->unit->run(job, budget);
	if (ran != GTU_RUN_DONE && job->cycles > job->limit)
		ran = stop(job, GTU_CPL_LIMIT);
	if (ran == GTU_RUN_DONE && job->cycles == 0)
		job->cycles = 1;
	spent = job->cycles - before;
	dev->cycles += spent;
	q->stalled = false;
	pass_time(dev, spent);
	q->stalled = ran == GTU_RUN_STALLED;
	if (spent || job->produced != produced)
		q->stalled_for = 0;
	if (ran == GTU_RUN_DONE)
		spent += pass_on(dev, q, complete(dev, q));
	else if (q->stalled) {
		blocked(dev, q);
	}
	return spent;
}

/*
 * Complete all unfinished jobs before @until with CANCELED: the running job now, the others when
 * they are fetched, because only then do their completions have slots. An earlier, larger @until
 * stays in force.
 */
bool gtu_queue_cancel(struct gtu_dev *dev, struct gtu_hwq *q, uint32_t until)
{
	if ((int32_t)(until - q->sq_tail) > 0)
		return false;
	if ((int32_t)(until - q->cq_tail) <= 0)
		return true;		/* they have ended */
	if (!q->canceling || (int32_t)(until - q->cancel_until) > 0)
		q->cancel_until = until;
	q->canceling = true;
	if (q->active) {
		stop_waiting(q);
		if (q->job.started)
			stop(&q->job, GTU_CPL_CANCELED);
		gtu_job_error(&q->job, GTU_CPL_CANCELED, 0xff, 0);
		if (gtu_bug(dev, GTU_BUG_CANCEL))
			q->job.count = 0;
		context_of(dev, q)->cycles += pass_on(dev, q, complete(dev, q));
	} else if (fetchable(q)) {
		runnable(dev, q);
	}
	return true;
}

/* The first queue from @from on, cyclically, with its bit set in @map; one is set. */
static uint32_t next_queue(const uint64_t *map, uint32_t from)
{
	uint64_t bits = map[from / 64] & ~0ull << (from % 64);
	uint32_t word = from / 64;

	while (!bits) {
		word = (word + 1) % GTU_BITMAP_WORDS;
		bits = map[word];
	}
	return 64 * word + (uint32_t)__builtin_ctzll(bits);
}

bool gtu_dev_pending(const struct gtu_dev *dev)
{
	return dev->runnable;
}

/* Whether it is the turn of one of a round robin: it has work and a positive deficit, here or with a new quantum. */
static bool has_turn(bool work, int64_t *deficit, unsigned weight)
{
	if (!work)
		*deficit = 0;
	else if (*deficit <= 0)
		*deficit += (int64_t)GTU_QUANTUM * weight;
	return *deficit > 0;
}

/* The next context of the next group, each from the current one on; NULL: all deficits are negative. */
static struct gtu_context *next_context(struct gtu_dev *dev)
{
	const uint32_t n = dev->config.contexts;
	struct gtu_group *g = &dev->group[dev->current_group];
	uint32_t i;

	for (i = 0; i < n && !has_turn(g->runnable, &g->deficit, g->weight); i++) {
		dev->current_group = (dev->current_group + 1) % n;
		g = &dev->group[dev->current_group];
	}
	if (i == n)
		return NULL;
	for (i = 0; i < n; i++) {
		struct gtu_context *c = &dev->context[g->current_context];

		if (c->group == g && has_turn(c->runnable, &c->deficit, c->weight))
			return c;
		g->current_context = (g->current_context + 1) % n;
	}
	return NULL;
}

/* End streams that stall for too long while others wait, and give units away that were kept free for nothing. */
static void pass_on_units(struct gtu_dev *dev)
{
	for (unsigned i = 0; i < GTU_UNIT_COUNT; i++) {
		struct gtu_hwq *q = dev->page[i].owner;

		if (!q && dev->page[i].groups.waiters)
			grant(dev, &dev->page[i]);
		if (!q || !q->stalled || !dev->page[i].groups.waiters ||
		    (q->stalled_for < GTU_STALL_LIMIT && q->stalled_total < GTU_STALL_TOTAL))
			continue;
		stop(&q->job, GTU_CPL_STALLED);
		context_of(dev, q)->cycles += pass_on(dev, q, complete(dev, q));
	}
}

bool gtu_dev_step(struct gtu_dev *dev, uint64_t budget)
{
	uint64_t used = 0, spent;

	while (used < budget && dev->runnable) {
		struct gtu_context *c = next_context(dev);
		uint64_t slice = budget - used;
		struct gtu_hwq *q;

		if (!c)
			continue;	/* all deficits are negative: each round adds a quantum */
		q = &dev->queue[next_queue(c->queues, c->next_queue)];
		slice = (uint64_t)c->deficit < slice ? (uint64_t)c->deficit : slice;
		slice = (uint64_t)c->group->deficit < slice ? (uint64_t)c->group->deficit : slice;
		spent = run_queue(dev, q, slice);
		used += spent ? spent : 1;
		c->cycles += spent;
		c->deficit -= (int64_t)(spent ? spent : 1);
		c->group->deficit -= (int64_t)(spent ? spent : 1);
		c->next_queue = (q->id + 1) % GTU_QUEUES_MAX;
		/* without competitors it is the next again, which saves the search */
		if (c->deficit <= 0 && c->group->runnable > c->runnable)
			c->group->current_context = (uint32_t)(c - dev->context + 1) % dev->config.contexts;
		if (c->group->deficit <= 0 && dev->runnable > c->group->runnable)
			dev->current_group = (uint32_t)(c->group - dev->group + 1) % dev->config.contexts;
	}
	pass_on_units(dev);
	return dev->runnable;
}

void gtu_dev_idle(struct gtu_dev *dev, uint64_t cycles)
{
	pass_time(dev, cycles);
	/* a queue with work may want a unit that is kept free for it */
	if (!dev->runnable)
		pass_on_units(dev);
}
