// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watchdog: while there are waiters, periodically checks for a dead device,
 * lost interrupts and hung queues.
 */
#include <linux/module.h>

#include "gtu_drv.h"

#define GTU_HANG_CHECKS	8	/* mailbox commands per run */

static unsigned int hang_ms = 10000;
module_param(hang_ms, uint, 0644);
MODULE_PARM_DESC(hang_ms, "Milliseconds without progress until a queue with waiters counts as hung; 0: never");

static unsigned long gtu_watchdog_period(void)
{
	unsigned int ms = READ_ONCE(hang_ms);

	return msecs_to_jiffies(ms ? clamp(ms / 4, 20u, 1000u) : 1000);
}

/* Whether the completion is written for which an event was requested. */
static bool gtu_request_due(struct gtu_queue *q)
{
	return q->requested &&
	       (s32)(le32_to_cpu(READ_ONCE(q->status->cq_tail)) - q->request_index) > 0;
}

/* Whether no event has reported the queue's progress. */
static bool gtu_queue_unnotified(struct gtu_queue *q)
{
	return le32_to_cpu(READ_ONCE(q->status->cq_tail)) != q->notified_tail ||
	       le32_to_cpu(READ_ONCE(q->status->state)) != q->notified_state ||
	       gtu_request_due(q);
}

static bool gtu_queue_has_waiter(struct gtu_queue *q)
{
	lockdep_assert_held(&q->wait_lock);
	/*
	 * A thread that starts to wait after this check has scheduled the next
	 * run: gtu_watchdog_start().
	 */
	if (atomic_read(&q->waiters) || waitqueue_active(&q->ctx->event_wait))
		return true;
	if (!q->eventfd)
		return false;
	/*
	 * A queue without doorbells is idle until SUBMIT or QUEUE_ARM, which start the
	 * watchdog, but for an event whose interrupt was lost.
	 */
	return !q->submit || q->seen.unnotified || gtu_request_due(q) ||
	       (READ_ONCE(q->sq_tail) != le32_to_cpu(READ_ONCE(q->status->cq_tail)) &&
		le32_to_cpu(READ_ONCE(q->status->state)) == GTU_QUEUE_ENABLED);
}

/*
 * Check the progress of a queue with waiters. Returns true if it has made none
 * for hang_ms; the queue may still be idle. Delivers an event whose interrupt
 * was lost.
 */
static bool gtu_queue_stalled(struct gtu_queue *q)
{
	u32 head = le32_to_cpu(READ_ONCE(q->status->sq_head));
	u32 tail = le32_to_cpu(READ_ONCE(q->status->cq_tail));
	u32 state = le32_to_cpu(READ_ONCE(q->status->state));
	unsigned int ms = READ_ONCE(hang_ms);

	lockdep_assert_held(&q->wait_lock);
	/*
	 * Progress without an event for a whole period: the interrupt was lost.
	 */
	if (q->seen.unnotified && q->seen.events == q->events && gtu_queue_unnotified(q))
		gtu_queue_notify_locked(q);
	q->seen.unnotified = gtu_queue_unnotified(q);
	q->seen.events = q->events;
	if (q->seen.sq_head != head || q->seen.cq_tail != tail || state != GTU_QUEUE_ENABLED ||
	    !ms) {
		q->seen.sq_head = head;
		q->seen.cq_tail = tail;
		q->seen.since = jiffies;
		q->seen.hang_reported = false;
		return false;
	}
	return !q->seen.hang_reported &&
	       time_after(jiffies, q->seen.since + gtu_scaled_jiffies(ms));
}

/*
 * Whether a stalled queue has jobs that only the device can complete, or the
 * mailbox does not respond. Under ctx->lock.
 */
static bool gtu_queue_hung(struct gtu_ctx *ctx, struct gtu_queue *q)
{
	u64 result[GTU_MBOX_RESULTS];
	int ret;

	ret = GTU_MBOX_QUERY(ctx, GTU_MBOX_QUEUE_STATE, result, q->id);
	if (ret)
		return ret == -ETIMEDOUT;
	/*
	 * False if all jobs are done, or if the user must free completion ring
	 * entries.
	 */
	return (u32)(result[0] >> 32) != (u32)result[1] &&
	       (u32)result[1] - (u32)(result[1] >> 32) < 1u << q->cq_log2;
}

static void gtu_queue_check_hang(struct gtu_device *gtu, u32 id)
{
	struct gtu_queue *q = gtu_queue_lock(gtu, id);
	bool hung;

	if (!q)
		return;
	hung = gtu_queue_hung(q->ctx, q);
	spin_lock_irq(&q->wait_lock);
	q->seen.hang_reported = hung;
	q->seen.since = jiffies;
	spin_unlock_irq(&q->wait_lock);
	if (hung)
		gtu_dump(gtu, q->ctx, "queue %u of context %u made no progress for %u ms", id,
			 q->ctx->id, READ_ONCE(hang_ms));
	gtu_queue_unlock(q);
}

/*
 * Check all queues. Returns whether there are waiters. @stalled: out: queues
 * without progress, beginning behind the last one of the previous run: queues that
 * are only idle shall not hide others. *@n: out: their number
 */
static bool gtu_watchdog_queues(struct gtu_device *gtu, u32 *stalled, unsigned int *n)
{
	u32 i, id, first = gtu->hang_next;
	bool waiter, waiters = false;
	struct gtu_queue *q;

	*n = 0;
	rcu_read_lock();
	for (i = 0; i < gtu->max_queues; i++) {
		id = (first + i) % gtu->max_queues;
		q = rcu_dereference(gtu->queue[id]);
		if (!q || gtu_ctx_dead(q->ctx))
			continue;
		spin_lock_irq(&q->wait_lock);
		waiter = !q->dead && gtu_queue_has_waiter(q);
		waiters |= waiter;
		if (!waiter) {
			q->seen.unnotified = false;
			q->seen.since = jiffies;
		} else if (gtu_queue_stalled(q) && *n < GTU_HANG_CHECKS) {
			stalled[(*n)++] = id;
			gtu->hang_next = id + 1;
		}
		spin_unlock_irq(&q->wait_lock);
	}
	rcu_read_unlock();
	return waiters;
}

static bool gtu_watchdog_readers(struct gtu_device *gtu)
{
	struct gtu_ctx *ctx;
	bool waiters = false;

	spin_lock_irq(&gtu->ctx_lock);
	list_for_each_entry(ctx, &gtu->contexts, link)
		/* same race as in gtu_queue_has_waiter() */
		waiters |= !gtu_ctx_dead(ctx) && waitqueue_active(&ctx->event_wait);
	spin_unlock_irq(&gtu->ctx_lock);
	return waiters;
}

static void gtu_watchdog_work(struct work_struct *work)
{
	struct gtu_device *gtu = container_of(to_delayed_work(work), struct gtu_device, watchdog);
	u32 stalled[GTU_HANG_CHECKS];
	unsigned int n, i;
	bool waiters;

	if (READ_ONCE(gtu->state) != GTU_STATE_UP)
		return;
	waiters = gtu_watchdog_queues(gtu, stalled, &n);
	waiters |= gtu_watchdog_readers(gtu);
	for (i = 0; i < n; i++)
		gtu_queue_check_hang(gtu, stalled[i]);
	/* who holds the lock accesses the device, and notices itself if it does not respond */
	if (waiters && mutex_trylock(&gtu->mbox_lock)) {
		gtu_alive(gtu);
		mutex_unlock(&gtu->mbox_lock);
	}
	if (waiters)
		gtu_watchdog_start(gtu);
}

/**
 * gtu_watchdog_init() - initialize the watchdog
 * @gtu: the device
 */
void gtu_watchdog_init(struct gtu_device *gtu)
{
	INIT_DELAYED_WORK(&gtu->watchdog, gtu_watchdog_work);
}

/**
 * gtu_watchdog_start() - run the watchdog while there are waiters
 * @gtu: the device
 *
 * Called before waiting, under srcu, with a device that is up: see
 * gtu_watchdog_stop().
 */
void gtu_watchdog_start(struct gtu_device *gtu)
{
	queue_delayed_work(system_unbound_wq, &gtu->watchdog, gtu_watchdog_period());
}

/**
 * gtu_watchdog_stop() - stop the watchdog when no thread can enter any more
 * @gtu: the device
 */
void gtu_watchdog_stop(struct gtu_device *gtu)
{
	cancel_delayed_work_sync(&gtu->watchdog);
}
