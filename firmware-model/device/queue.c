// SPDX-License-Identifier: MIT
/*
 * Queues: doorbells, descriptor fetch, scheduling, completions and events.
 *
 * A queue runs one job at a time, in order. The device fetches a job only if the completion ring
 * has a free slot, so no completion is lost. Contexts share the device by deficit round robin in
 * logical cycles, the queues of a context by round robin. A job's results and cycles never depend
 * on other jobs.
 */
#include "gtu/splitmix64.h"
#include "core.h"

#define DELAY_MAX 255u		/* cycles by which memory is late without GTU_CAP_LOGICAL_CYCLES */

static struct gtu_context *context_of(struct gtu_dev *dev, const struct gtu_hwq *q)
{
	return &dev->context[q->context];
}

static void runnable(struct gtu_dev *dev, struct gtu_hwq *q)
{
	gtu_bit_set(dev->work, q->id);
	gtu_bit_set(context_of(dev, q)->queues, q->id);
}

/* The queue has a job to fetch and a free slot for its completion. */
static bool fetchable(const struct gtu_hwq *q)
{
	return q->sq_head != q->sq_tail && q->cq_tail - q->cq_head < 1u << q->cq_log2;
}

static void blocked(struct gtu_dev *dev, struct gtu_hwq *q)
{
	gtu_bit_clear(dev->work, q->id);
	gtu_bit_clear(context_of(dev, q)->queues, q->id);
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
 * Contexts share an exclusive unit by start-time fair queueing: a context is charged for the cycles for which it keeps
 * the unit from others, divided by its weight, also while its stream waits for the consumer and while other jobs run.
 * The unit goes to the context with the smallest charge, of those that wait and those that had it a short time ago. A
 * context that starts to wait is charged at least what the last owner was when it got the unit, so it has no credit
 * from the time before. Without waiters, that least charge grows with time up to the largest, so debts end.
 *
 * A context that submits a job when the one before has ended does not wait when the unit becomes free. Each of its jobs
 * would wait for one of another context, however long that is. So the unit is kept free for it, and it is charged for
 * that time, too.
 */
static struct gtu_unit_share *share_of(struct gtu_hwq *q)
{
	return &q->job.context->share[q->job.page - q->job.dev->page];
}

static bool less(uint64_t charge, uint64_t than)
{
	return (int64_t)(charge - than) < 0;
}

/* The charge of a context that waits, or would start to. */
static uint64_t charge_of(const struct gtu_unit_page *page, const struct gtu_unit_share *share)
{
	return less(share->charge, page->least) ? page->least : share->charge;
}

/* Let @cycles pass: charge the contexts that keep units from others, and age stalled streams. */
static void pass_time(struct gtu_dev *dev, uint64_t cycles)
{
	dev->time += cycles;
	for (unsigned i = 0; i < GTU_UNIT_COUNT; i++) {
		struct gtu_unit_page *page = &dev->page[i];
		struct gtu_context *context = page->owner ? page->owner->job.context : page->expected;
		struct gtu_unit_share *share;

		if (!page->waiters || !context || (page->owner && !page->owner->active))
			continue;
		share = &context->share[i];
		if (page->waiters > share->waiters)
			share->charge = charge_of(page, share) + cycles * GTU_CHARGE_SCALE / context->weight;
		if (less(page->most, share->charge))
			page->most = share->charge;
		if (page->owner && page->owner->stalled) {
			page->owner->stalled_for += cycles;
			page->owner->stalled_total += cycles;
		}
	}
}

/* Queue @q wants its job's unit. */
static void request(struct gtu_hwq *q)
{
	struct gtu_unit_page *page = q->job.page;
	struct gtu_unit_share *share = share_of(q);
	const uint64_t calm = q->job.dev->time - page->calm_since, debt = page->most - page->least;

	if (!page->waiters && less(page->least, page->most))
		page->least += calm < debt / GTU_CHARGE_SCALE ? calm * GTU_CHARGE_SCALE : debt;
	share->charge = charge_of(page, share);
	share->waiters += !q->waits;
	page->waiters += !q->waits;
	q->waits = true;
}

/* Stop waiting for the job's unit. */
static void stop_waiting(struct gtu_hwq *q)
{
	struct gtu_unit_page *page = q->job.page;

	if (!q->waits)
		return;
	q->waits = false;
	share_of(q)->waiters--;
	if (!--page->waiters)
		page->calm_since = q->job.dev->time;
}

static void own(struct gtu_hwq *q)
{
	struct gtu_unit_share *share = share_of(q);

	stop_waiting(q);
	q->job.page->owner = q;
	q->job.page->least = share->charge;
	share->last_queue = q->id;
}

/*
 * Give the unit of @page (may be NULL), which has no owner, to a queue of the context with the smallest charge: the
 * next after the one that had it last. If that context does not wait, the unit is kept free for it.
 */
static void grant(struct gtu_dev *dev, struct gtu_unit_page *page)
{
	struct gtu_unit_share *best = NULL;
	uint32_t i, context = 0;

	for (i = 0; page && page->waiters && i < dev->config.contexts; i++) {
		struct gtu_context *c = &dev->context[i];
		struct gtu_unit_share *share = &c->share[page - dev->page];

		if (!share->waiters && (!c->enabled || dev->time >= share->expected_until))
			continue;
		if (!best || less(charge_of(page, share), charge_of(page, best)) ||
		    (share->waiters && !best->waiters && !less(charge_of(page, best), charge_of(page, share)))) {
			best = share;
			context = i;
		}
	}
	if (best)
		page->expected = best->waiters ? NULL : &dev->context[context];
	for (i = 0; best && best->waiters && i < dev->config.queues; i++) {
		struct gtu_hwq *q = &dev->queue[(best->last_queue + (best->waiters > 1) + i) % dev->config.queues];

		if (q->waits && q->job.page == page && q->context == context) {
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
		share_of(q)->expected_until = dev->time + GTU_EXPECTED;
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

	if (page && page->waiters && q->state == GTU_QUEUE_ENABLED)
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

static bool any(const uint64_t *map)
{
	uint64_t all = 0;
	unsigned i;

	for (i = 0; i < GTU_BITMAP_WORDS; i++)
		all |= map[i];
	return all;
}

bool gtu_dev_pending(const struct gtu_dev *dev)
{
	return any(dev->work);
}

/* The next context, from current_context on, with a runnable queue and a positive deficit. */
static struct gtu_context *next_context(struct gtu_dev *dev)
{
	uint32_t i;

	for (i = 0; i < dev->config.contexts; i++) {
		struct gtu_context *c = &dev->context[dev->current_context];

		if (any(c->queues)) {
			if (c->deficit > 0)
				return c;
			c->deficit += (int64_t)GTU_QUANTUM * c->weight;
			if (c->deficit > 0)
				return c;
		} else {
			c->deficit = 0;
		}
		dev->current_context = (dev->current_context + 1) % dev->config.contexts;
	}
	return NULL;
}

/* End streams that stall for too long while others wait, and give units away that were kept free for nothing. */
static void pass_on_units(struct gtu_dev *dev)
{
	for (unsigned i = 0; i < GTU_UNIT_COUNT; i++) {
		struct gtu_hwq *q = dev->page[i].owner;

		if (!q && dev->page[i].waiters)
			grant(dev, &dev->page[i]);
		if (!q || !q->stalled || !dev->page[i].waiters ||
		    (q->stalled_for < GTU_STALL_LIMIT && q->stalled_total < GTU_STALL_TOTAL))
			continue;
		stop(&q->job, GTU_CPL_STALLED);
		context_of(dev, q)->cycles += pass_on(dev, q, complete(dev, q));
	}
}

bool gtu_dev_step(struct gtu_dev *dev, uint64_t budget)
{
	uint64_t used = 0, spent;

	while (used < budget && any(dev->work)) {
		struct gtu_context *c = next_context(dev);
		struct gtu_hwq *q;
		uint64_t slice;

		if (!c)
			continue;	/* all deficits are negative: each round adds a quantum */
		q = &dev->queue[next_queue(c->queues, c->next_queue)];
		slice = (uint64_t)c->deficit < budget - used ? (uint64_t)c->deficit : budget - used;
		spent = run_queue(dev, q, slice);
		used += spent ? spent : 1;
		c->cycles += spent;
		c->deficit -= (int64_t)(spent ? spent : 1);
		c->next_queue = (q->id + 1) % GTU_QUEUES_MAX;
		/* a context without competitors keeps its round, which saves the search */
		if (c->deficit <= 0 && memcmp(dev->work, c->queues, sizeof(dev->work)))
			dev->current_context = (uint32_t)(c - dev->context + 1) % dev->config.contexts;
	}
	pass_on_units(dev);
	return any(dev->work);
}

void gtu_dev_idle(struct gtu_dev *dev, uint64_t cycles)
{
	pass_time(dev, cycles);
	/* a queue with work may want a unit that is kept free for it */
	if (!any(dev->work))
		pass_on_units(dev);
}
