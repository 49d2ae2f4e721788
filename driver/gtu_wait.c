// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for a queue: an interrupt names it, whoever sleeps looks again. What the interrupt tells
 * files and eventfds is in gtu_poll.c.
 */
#include <linux/sched/signal.h>

#include "gtu_drv.h"
#include "gtu_trace.h"

/* A lost interrupt, or a user who arms his queue himself, costs a waiter this long and no more. */
#define GTU_WAIT_SLICE_NS	(100 * NSEC_PER_MSEC)

/*
 * ---- Events -------------------------------------------------------------------------------------
 */

/* Something happened to the queue: everybody who waits for it is told. */
static void gtu_queue_notify_locked(struct gtu_queue *q)
{
	lockdep_assert_held(&q->wait_lock);
	q->events++;
	q->armed = false;
	gtu_queue_notify_files(q);
	wake_up_all(&q->wait);
}

/* The same for somebody who holds no lock; nothing is told of a queue that has ended. */
void gtu_queue_notify(struct gtu_queue *q)
{
	unsigned long flags;

	spin_lock_irqsave(&q->wait_lock, flags);
	if (!q->dead)
		gtu_queue_notify_locked(q);
	spin_unlock_irqrestore(&q->wait_lock, flags);
}

/* Jobs that a reset or a stop has dropped are not waited for any more. */
void gtu_queue_dropped(struct gtu_queue *q)
{
	spin_lock_irq(&q->wait_lock);
	q->resets++;
	q->seen.hang_reported = false;
	q->seen.since = jiffies;
	gtu_queue_notify_locked(q);
	spin_unlock_irq(&q->wait_lock);
}

/* The last event of a queue. Waiters leave; the eventfd and the file's readers forget it. */
void gtu_queue_dead(struct gtu_queue *q)
{
	spin_lock_irq(&q->wait_lock);
	q->dead = true;
	gtu_queue_notify_locked(q);
	spin_unlock_irq(&q->wait_lock);
	gtu_queue_cancel_notify(q);
}

/* An interrupt named the queue. */
void gtu_queue_event(struct gtu_device *gtu, u32 word)
{
	u32 id = word & GTU_EVENT_QUEUE_MASK;
	struct gtu_queue *q;
	unsigned long flags;

	if (id >= gtu->max_queues)
		return;
	spin_lock_irqsave(&gtu->queue_lock, flags);
	q = gtu->queue[id];
	if (q) {
		spin_lock(&q->wait_lock);
		if (!q->dead) {
			trace_gtu_event(q, !!(word & GTU_EVENT_ERROR));
			gtu_queue_notify_locked(q);
		}
		spin_unlock(&q->wait_lock);
	}
	spin_unlock_irqrestore(&gtu->queue_lock, flags);
}

/*
 * Contexts have died: those who wait look again, those who read their rings find the queue
 * disabled. The device is not on these rings any more, or is not there.
 */
void gtu_queues_wake(struct gtu_device *gtu)
{
	struct gtu_queue *q;
	unsigned long flags;
	u32 id;

	for (id = 0; gtu->queue && id < gtu->max_queues; id++) {
		if (!READ_ONCE(gtu->queue[id]))
			continue;
		spin_lock_irqsave(&gtu->queue_lock, flags);
		q = gtu->queue[id];
		if (q && gtu_ctx_dead(q->ctx)) {
			WRITE_ONCE(q->status->state, cpu_to_le32(GTU_QUEUE_DISABLED));
			gtu_queue_notify(q);
		}
		spin_unlock_irqrestore(&gtu->queue_lock, flags);
	}
	gtu_readers_wake(gtu);
}

/*
 * ---- Waiting ------------------------------------------------------------------------------------
 */

/* 0: the completion is there; -EAGAIN: not yet; or why it will never be. */
static int gtu_queue_check(struct gtu_queue *q, u32 index, u32 resets, u32 *tail, u32 *state)
{
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&q->wait_lock, flags);
	if (gtu_ctx_dead(q->ctx)) {
		ret = -ENODEV;
	} else if (q->dead || q->resets != resets) {
		ret = -ECANCELED;
	} else {
		/* State first: a completion that came before an error counts. */
		*state = le32_to_cpu(READ_ONCE(q->status->state));
		dma_rmb();
		*tail = le32_to_cpu(READ_ONCE(q->status->cq_tail));
		ret = (s32)(*tail - index) > 0 ? 0 : *state == GTU_QUEUE_ENABLED ? -EAGAIN : -EIO;
	}
	spin_unlock_irqrestore(&q->wait_lock, flags);
	return ret;
}

/*
 * Ask for an event at the lowest index that anyone waits for. @again: what was asked may be lost.
 */
static void gtu_queue_arm(struct gtu_queue *q, u32 index, bool again)
{
	unsigned long flags;

	spin_lock_irqsave(&q->wait_lock, flags);
	if (!q->dead && (again || !q->armed || (s32)(index - q->arm_index) < 0)) {
		q->armed = true;
		q->arm_index = index;
		writel(index, gtu_doorbell(q, GTU_DB_ARM));
	}
	spin_unlock_irqrestore(&q->wait_lock, flags);
}

/*
 * Ask for an event at a record of the running stream. The device looks at once, so the events are
 * counted from before. There is one such wish a queue: who is overtaken looks again after a slice.
 */
static u32 gtu_queue_arm_stream(struct gtu_queue *q, u32 record)
{
	unsigned long flags;
	u32 events;

	spin_lock_irqsave(&q->wait_lock, flags);
	events = q->events;
	if (!q->dead)
		writel(record, gtu_doorbell(q, GTU_DB_ARM_STREAM));
	spin_unlock_irqrestore(&q->wait_lock, flags);
	return events;
}

/* Whether a waiter has something to do: an event came, or there is a reason to leave. */
static bool gtu_queue_wait_done(struct gtu_queue *q, u32 index, u32 resets)
{
	u32 tail, state;

	return !READ_ONCE(q->armed) || gtu_queue_check(q, index, resets, &tail, &state) != -EAGAIN;
}

static int gtu_wait_event(struct gtu_queue *q, u32 index, u32 resets, u64 ns)
{
	return wait_event_interruptible_hrtimeout(q->wait, gtu_queue_wait_done(q, index, resets),
						  ns_to_ktime(ns));
}

static int gtu_wait_stream_event(struct gtu_queue *q, u32 events, u64 ns)
{
	return wait_event_interruptible_hrtimeout(q->wait, READ_ONCE(q->events) != events,
						  ns_to_ktime(ns));
}

/*
 * Until completion @index is there, or @deadline_ns. Who waits for a later one is woken by each
 * event of an earlier one, and arms the queue anew. @record: also until the next event after that
 * record of the running stream was asked for, or one slice; then 0 promises nothing.
 */
static int gtu_queue_wait_loop(struct gtu_queue *q, u32 index, const u32 *record, u64 deadline_ns,
			       u32 *tail, u32 *state)
{
	u32 resets = READ_ONCE(q->resets), events;
	bool again = false;
	int ret;

	for (;;) {
		u64 now, slice = GTU_WAIT_SLICE_NS;

		ret = gtu_queue_check(q, index, resets, tail, state);
		if (ret != -EAGAIN)
			return ret;
		now = ktime_get_ns();
		if (now >= deadline_ns)
			return -ETIMEDOUT;
		slice = min(slice, deadline_ns - now);
		if (record) {
			events = gtu_queue_arm_stream(q, *record);
			ret = gtu_wait_stream_event(q, events, slice);
		} else {
			gtu_queue_arm(q, index, again);
			ret = gtu_wait_event(q, index, resets, slice);
		}
		if (ret == -ERESTARTSYS)
			return -EINTR;
		/* Nothing for so long: a device that has died would not say so. */
		again = ret == -ETIME && !gtu_alive(q->ctx->gtu);
		if (record && (!ret || slice == GTU_WAIT_SLICE_NS)) {
			ret = gtu_queue_check(q, index, resets, tail, state);
			return ret == -EAGAIN ? 0 : ret;
		}
	}
}

int gtu_queue_wait(struct gtu_queue *q, u32 index, const u32 *record, u64 deadline_ns, u32 *tail,
		   u32 *state)
{
	int ret;

	trace_gtu_wait_begin(q, index);
	atomic_inc(&q->waiters);
	gtu_watchdog_start(q->ctx->gtu);
	ret = gtu_queue_wait_loop(q, index, record, deadline_ns, tail, state);
	atomic_dec(&q->waiters);
	trace_gtu_wait_end(q, index, ret);
	return ret;
}
