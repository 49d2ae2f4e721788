// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event delivery by eventfd, poll() and read(). Each context has a list of
 * queues with unread events. Waits by ioctl are in gtu_wait.c.
 */
#include <linux/eventfd.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "gtu_drv.h"

/*
 * Signal an event of the queue, or its end, to the eventfd and readers of the
 * file. May be called in interrupt context.
 */
void gtu_queue_notify_files(struct gtu_queue *q)
{
	struct gtu_ctx *ctx = q->ctx;

	lockdep_assert_held(&q->wait_lock);
	if (q->eventfd)
		gtu_eventfd_signal(q->eventfd);
	if (q->dead)
		return;
	q->notified_tail = le32_to_cpu(READ_ONCE(q->status->cq_tail));
	q->notified_state = le32_to_cpu(READ_ONCE(q->status->state));
	spin_lock(&ctx->event_lock);
	if (list_empty(&q->ready))
		list_add_tail(&q->ready, &ctx->ready);
	spin_unlock(&ctx->event_lock);
	wake_up_poll(&ctx->event_wait, EPOLLIN | EPOLLRDNORM);
}

/*
 * The queue is dead: drop its eventfd and its unread events, because its id can
 * be reused. Only the eventfd is signalled for the end of a queue.
 */
void gtu_queue_cancel_notify(struct gtu_queue *q)
{
	struct eventfd_ctx *eventfd;

	spin_lock_irq(&q->wait_lock);
	eventfd = q->eventfd;
	q->eventfd = NULL;
	spin_unlock_irq(&q->wait_lock);
	if (eventfd)
		eventfd_ctx_put(eventfd);
	spin_lock_irq(&q->ctx->event_lock);
	list_del_init(&q->ready);
	spin_unlock_irq(&q->ctx->event_lock);
}

/* Wake readers of dead contexts. */
void gtu_readers_wake(struct gtu_device *gtu)
{
	struct gtu_ctx *ctx;
	unsigned long flags;

	spin_lock_irqsave(&gtu->ctx_lock, flags);
	list_for_each_entry(ctx, &gtu->contexts, link)
		if (gtu_ctx_dead(ctx))
			wake_up_poll(&ctx->event_wait, EPOLLERR | EPOLLHUP);
	spin_unlock_irqrestore(&gtu->ctx_lock, flags);
}

/* Signal eventfd @fd at every event from now on. -1: none. */
int gtu_queue_eventfd(struct gtu_queue *q, int fd)
{
	struct eventfd_ctx *eventfd = NULL;
	int ret = 0;

	if (fd != -1) {
		eventfd = eventfd_ctx_fdget(fd);
		if (IS_ERR(eventfd))
			return PTR_ERR(eventfd) == -EINVAL ? -EBADF : PTR_ERR(eventfd);
	}
	spin_lock_irq(&q->wait_lock);
	if (q->dead)
		ret = -ENOENT;
	else
		swap(q->eventfd, eventfd);
	spin_unlock_irq(&q->wait_lock);
	if (eventfd)
		eventfd_ctx_put(eventfd);
	gtu_watchdog_start(q->ctx->gtu);
	return ret;
}

__poll_t gtu_ctx_poll(struct gtu_ctx *ctx, struct file *file, poll_table *wait)
{
	poll_wait(file, &ctx->event_wait, wait);
	if (gtu_ctx_dead(ctx))
		return EPOLLERR | EPOLLHUP;
	gtu_watchdog_start(ctx->gtu);
	return list_empty_careful(&ctx->ready) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static unsigned int gtu_events_take(struct gtu_ctx *ctx, struct gtu_event *event, unsigned int max)
{
	struct gtu_queue *q;
	unsigned int n = 0;

	spin_lock_irq(&ctx->event_lock);
	while (n < max) {
		q = list_first_entry_or_null(&ctx->ready, struct gtu_queue, ready);
		if (!q)
			break;
		/*
		 * Safe: a queue is taken off the list before its rings are
		 * freed.
		 */
		list_del_init(&q->ready);
		event[n++] = (struct gtu_event){
			.queue = q->id,
			.state = le32_to_cpu(READ_ONCE(q->status->state)),
			.cq_tail = le32_to_cpu(READ_ONCE(q->status->cq_tail)),
		};
	}
	spin_unlock_irq(&ctx->event_lock);
	return n;
}

/* Put back events that could not be copied to user space. */
static void gtu_events_requeue(struct gtu_ctx *ctx, const struct gtu_event *event, unsigned int n)
{
	struct gtu_queue *q;

	mutex_lock(&ctx->lock);
	while (n--) {
		q = xa_load(&ctx->queue, event[n].queue);
		if (!q)
			continue;
		spin_lock_irq(&ctx->event_lock);
		if (list_empty(&q->ready))
			list_add(&q->ready, &ctx->ready);
		spin_unlock_irq(&ctx->event_lock);
	}
	mutex_unlock(&ctx->lock);
	wake_up_poll(&ctx->event_wait, EPOLLIN | EPOLLRDNORM);
}

/*
 * Wait condition of read(). It starts the watchdog again once the reader is on
 * the wait queue: a watchdog run just before saw no waiter and did not
 * reschedule itself.
 */
static bool gtu_reader_ready(struct gtu_ctx *ctx)
{
	gtu_watchdog_start(ctx->gtu);
	return gtu_ctx_dead(ctx) || !list_empty_careful(&ctx->ready);
}

static int gtu_events_wait(struct gtu_ctx *ctx, struct gtu_event *event, unsigned int max,
			   bool block)
{
	int n;

	for (;;) {
		if (gtu_ctx_dead(ctx))
			return -ENODEV;
		n = gtu_events_take(ctx, event, max);
		if (n)
			return n;
		if (!block)
			return -EAGAIN;
		/*
		 * Returns EINTR if a signal handler runs; restarts after a stop
		 * or freeze.
		 */
		if (wait_event_interruptible(ctx->event_wait, gtu_reader_ready(ctx)))
			return -ERESTARTNOHAND;
	}
}

ssize_t gtu_ctx_read(struct gtu_ctx *ctx, char __user *to, size_t bytes, bool block)
{
	struct gtu_event event[GTU_CTX_QUEUES];
	unsigned int max = min_t(size_t, bytes / sizeof(*event), GTU_CTX_QUEUES);
	int inside, n;

	if (!max)
		return -EINVAL;
	inside = gtu_enter(ctx);
	if (inside < 0)
		return inside;
	n = gtu_events_wait(ctx, event, max, block);
	gtu_leave(ctx, inside);
	if (n < 0)
		return n;
	if (copy_to_user(to, event, n * sizeof(*event))) {
		gtu_events_requeue(ctx, event, n);
		return -EFAULT;
	}
	return n * sizeof(*event);
}
