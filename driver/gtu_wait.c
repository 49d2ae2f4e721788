// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for completions, and wakeups from interrupts. Delivery of events to
 * files and eventfds is in gtu_poll.c.
 */
#include <linux/sched/signal.h>

#include "gtu_drv.h"
#include "gtu_trace.h"

/*
 * Longest sleep between checks: bounds the delay by a lost interrupt, or by a
 * user who writes to ARM directly.
 */
#define GTU_WAIT_SLICE_NS	(100 * NSEC_PER_MSEC)

/*
 * ---- Events -------------------------------------------------------------------------------------
 */

/* Wake everyone who waits for the queue. */
static void gtu_queue_notify_locked(struct gtu_queue *q)
{
	lockdep_assert_held(&q->wait_lock);
	q->events++;
	q->armed = false;
	gtu_queue_notify_files(q);
	wake_up_all(&q->wait);
}

/* The same without wait_lock held. Does nothing for a dead queue. */
void gtu_queue_notify(struct gtu_queue *q)
{
	unsigned long flags;

	spin_lock_irqsave(&q->wait_lock, flags);
	if (!q->dead)
		gtu_queue_notify_locked(q);
	spin_unlock_irqrestore(&q->wait_lock, flags);
}

/* A reset or stop dropped the queue's jobs: end waits for them. */
void gtu_queue_dropped(struct gtu_queue *q)
{
	spin_lock_irq(&q->wait_lock);
	q->resets++;
	q->seen.hang_reported = false;
	q->seen.since = jiffies;
	gtu_queue_notify_locked(q);
	spin_unlock_irq(&q->wait_lock);
}

/*
 * Mark the queue dead and send its last event. Waiters leave; eventfd and
 * unread events are dropped.
 */
void gtu_queue_dead(struct gtu_queue *q)
{
	spin_lock_irq(&q->wait_lock);
	q->dead = true;
	gtu_queue_notify_locked(q);
	spin_unlock_irq(&q->wait_lock);
	gtu_queue_cancel_notify(q);
}

/* Handle event @word of an event ring. */
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
 * Wake the waiters of dead contexts and mark their queues as disabled in the
 * rings. The device no longer writes to these rings.
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

/*
 * Returns 0 if the completion is written, -EAGAIN if not yet, or the reason why
 * it never will be.
 */
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
		/* State first: a completion written before an error counts. */
		*state = le32_to_cpu(READ_ONCE(q->status->state));
		dma_rmb();
		*tail = le32_to_cpu(READ_ONCE(q->status->cq_tail));
		ret = (s32)(*tail - index) > 0 ? 0 : *state == GTU_QUEUE_ENABLED ? -EAGAIN : -EIO;
	}
	spin_unlock_irqrestore(&q->wait_lock, flags);
	return ret;
}

/*
 * Arm an event at the lowest index that anyone waits for. @again: the last
 * request may be lost.
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
 * Arm an event at a record of the running stream. Returns the event count from
 * before, because the event can be raised at once. A queue has one such
 * request: a waiter whose request was replaced checks again after a slice.
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

/* Wait condition: an event arrived, or the wait is over. */
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
 * Wait until completion @index is written, or until @deadline_ns. An event for
 * an earlier index wakes later waiters too, which arm the queue again.
 *
 * @record: return 0 also after the next event once that record of the running
 * stream was requested, or after one slice. The caller must check then.
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
		/* Timed out: check that the device still responds. */
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
