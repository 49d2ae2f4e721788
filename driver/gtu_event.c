// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts, event rings, and delivery of events: to waits by ioctl, to
 * eventfds, and to poll() and read() of the context's file. One file, because
 * all of it is the state under a queue's wait_lock.
 */
#include <linux/eventfd.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

#include "gtu_drv.h"
#include "gtu_trace.h"

#define GTU_EVENTS_BYTES	(GTU_EVENTS * sizeof(__le32))

/*
 * First and longest sleep between checks, for an interrupt that is lost and a
 * user who writes to ARM directly: the delay is at most the time waited so far.
 */
#define GTU_WAIT_SLICE_NS	(100 * NSEC_PER_MSEC)
#define GTU_WAIT_SLICE_MAX_NS	NSEC_PER_SEC

static unsigned int interrupt_rate = 200000;
module_param(interrupt_rate, uint, 0644);
MODULE_PARM_DESC(interrupt_rate, "Maximum number of interrupts and their events per second and vector; 0: no limit");

/**
 * gtu_queue_doorbell() - write a register of the queue's doorbell page
 * @q: the queue
 * @reg: offset of the register
 * @value: the value
 *
 * Called under wait_lock. A dead or suspended device is not accessed.
 */
void gtu_queue_doorbell(struct gtu_queue *q, u32 reg, u32 value)
{
	lockdep_assert_held(&q->wait_lock);
	if (!q->dead && !gtu_ctx_dead(q->ctx))
		writel(value, gtu_doorbell(q, reg));
}

/* Signal an event of the queue, or its end, to the eventfd and the readers of the file. */
static void gtu_queue_notify_files(struct gtu_queue *q)
{
	struct gtu_ctx *ctx = q->ctx;

	lockdep_assert_held(&q->wait_lock);
	if (!q->dead) {
		q->notified_tail = le32_to_cpu(READ_ONCE(q->status->cq_tail));
		q->notified_state = le32_to_cpu(READ_ONCE(q->status->state));
		spin_lock(&ctx->event_lock);
		if (list_empty(&q->ready))
			list_add_tail(&q->ready, &ctx->ready);
		spin_unlock(&ctx->event_lock);
	}
	/* a program that the eventfd wakes finds the event in the file */
	if (q->eventfd)
		gtu_eventfd_signal(q->eventfd);
	if (q->dead)
		wake_up_all(&ctx->event_wait);	/* gtu_queue_wait_any() */
	else
		wake_up_poll(&ctx->event_wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * gtu_queue_notify_locked() - signal an event of the queue, or its end
 * @q: the queue
 *
 * Wakes everyone who waits for the queue. The device has one ARM for each queue:
 * if it served a waiter, arm the queue again for the user's request. Called under
 * wait_lock, also in interrupt context.
 */
void gtu_queue_notify_locked(struct gtu_queue *q)
{
	lockdep_assert_held(&q->wait_lock);
	q->events++;
	q->armed = false;
	if (q->requested && !q->dead) {
		q->requested = (s32)(le32_to_cpu(READ_ONCE(q->status->cq_tail)) -
				     q->request_index) <= 0 &&
			       le32_to_cpu(READ_ONCE(q->status->state)) == GTU_QUEUE_ENABLED;
		/* Waiters see that events differs, and arm for themselves. */
		if (q->requested)
			gtu_queue_doorbell(q, GTU_DB_ARM, q->request_index);
	}
	gtu_queue_notify_files(q);
	wake_up_all(&q->wait);
}

/**
 * gtu_queue_notify() - signal an event of the queue without wait_lock held
 * @q: the queue
 *
 * Does nothing for a dead queue.
 */
void gtu_queue_notify(struct gtu_queue *q)
{
	unsigned long flags;

	spin_lock_irqsave(&q->wait_lock, flags);
	if (!q->dead)
		gtu_queue_notify_locked(q);
	spin_unlock_irqrestore(&q->wait_lock, flags);
}

/**
 * gtu_queue_dropped() - end the waits for jobs that a reset or stop has dropped
 * @q: the queue
 */
void gtu_queue_dropped(struct gtu_queue *q)
{
	spin_lock_irq(&q->wait_lock);
	q->resets++;
	q->requested = false;
	q->seen.hang_reported = false;
	q->seen.since = jiffies;
	gtu_queue_notify_locked(q);
	spin_unlock_irq(&q->wait_lock);
}

/**
 * gtu_queue_dead() - mark the queue dead and send its last event
 * @q: the queue
 *
 * Only the eventfd and waiters receive it. Eventfd and unread events are
 * dropped, because the id of the queue can be reused.
 */
void gtu_queue_dead(struct gtu_queue *q)
{
	struct eventfd_ctx *eventfd;

	spin_lock_irq(&q->wait_lock);
	q->dead = true;
	gtu_queue_notify_locked(q);
	eventfd = q->eventfd;
	q->eventfd = NULL;
	spin_unlock_irq(&q->wait_lock);
	if (eventfd)
		eventfd_ctx_put(eventfd);
	spin_lock_irq(&q->ctx->event_lock);
	list_del_init(&q->ready);
	spin_unlock_irq(&q->ctx->event_lock);
}

/* Handle event @word of an event ring. */
static void gtu_queue_event(struct gtu_device *gtu, u32 word)
{
	u32 id = word & GTU_EVENT_QUEUE_MASK;
	struct gtu_queue *q;
	unsigned long flags;

	if (id >= gtu->max_queues)
		return;
	rcu_read_lock();
	q = rcu_dereference(gtu->queue[id]);
	if (q) {
		spin_lock_irqsave(&q->wait_lock, flags);
		if (!q->dead) {
			trace_gtu_event(q, !!(word & GTU_EVENT_ERROR));
			gtu_queue_notify_locked(q);
		}
		spin_unlock_irqrestore(&q->wait_lock, flags);
	}
	rcu_read_unlock();
}

/**
 * gtu_queues_wake() - wake the waiters and readers of dead contexts
 * @gtu: the device
 *
 * Marks their queues as disabled in the rings, to which the device no longer
 * writes. Contexts that a resume will restore only look dead.
 */
void gtu_queues_wake(struct gtu_device *gtu)
{
	struct gtu_queue *q;
	struct gtu_ctx *ctx;
	unsigned long flags;
	u32 id;

	rcu_read_lock();
	for (id = 0; gtu->queue && id < gtu->max_queues; id++) {
		q = rcu_dereference(gtu->queue[id]);
		if (!q || !gtu_ctx_dead(q->ctx) ||
		    (READ_ONCE(q->ctx->suspended) && READ_ONCE(gtu->state) == GTU_STATE_UP))
			continue;
		spin_lock_irqsave(&q->wait_lock, flags);
		if (!q->dead) {
			WRITE_ONCE(q->status->state, cpu_to_le32(GTU_QUEUE_DISABLED));
			gtu_queue_notify_locked(q);
		}
		spin_unlock_irqrestore(&q->wait_lock, flags);
	}
	rcu_read_unlock();
	spin_lock_irqsave(&gtu->ctx_lock, flags);
	list_for_each_entry(ctx, &gtu->contexts, link)
		if (gtu_ctx_dead(ctx))
			wake_up_poll(&ctx->event_wait, EPOLLERR | EPOLLHUP);
	spin_unlock_irqrestore(&gtu->ctx_lock, flags);
}

static void gtu_errors(struct gtu_device *gtu)
{
	u32 error = gtu_rd(gtu, GTU_REG_ERROR);
	u64 info;

	if (error == GTU_ALL_ONES)
		gtu_alive(gtu);
	if (error == GTU_ALL_ONES || !error)
		return;
	info = gtu_rd64(gtu, GTU_REG_ERROR_INFO);
	gtu_wr(gtu, GTU_REG_ERROR, error);
	/* Users can provoke all errors but GTU_ERROR_DMA at any rate. */
	if (error & GTU_ERROR_DMA)
		dev_err_ratelimited(gtu->parent,
				    "the device reports a DMA error: first address %#llx\n", info);
	else
		dev_dbg(gtu->parent, "the device reports errors: %#x, first info %#llx\n", error,
			info);
}

static unsigned int gtu_events(struct gtu_vector *v)
{
	struct gtu_device *gtu = v->gtu;
	unsigned long flags;
	unsigned int n;
	u32 word;

	/*
	 * Handle at most one ring of events: a faulty device must not hog the
	 * CPU.
	 */
	spin_lock_irqsave(&v->lock, flags);
	for (n = 0; n < GTU_EVENTS; n++) {
		word = le32_to_cpu(READ_ONCE(v->event[v->head & (GTU_EVENTS - 1)]));
		if (!(word & GTU_EVENT_PHASE) == !(v->head & GTU_EVENTS))
			break;
		/* The device writes the completion before its event. */
		dma_rmb();
		gtu_queue_event(gtu, word);
		v->head++;
	}
	if (n)
		gtu_wr(gtu, GTU_REG_EVENT_HEAD(v->ring), v->head);
	spin_unlock_irqrestore(&v->lock, flags);
	return n;
}

/* Handle what a vector reports. Returns the number of events. */
static unsigned int gtu_vector_handle(struct gtu_vector *v)
{
	/* also if there are events: with one vector, the edges of both can be one */
	if (v->errors)
		gtu_errors(v->gtu);
	return v->has_ring ? gtu_events(v) : 0;
}

static void gtu_interrupt_resume(struct work_struct *work)
{
	struct gtu_vector *v = container_of(to_delayed_work(work), struct gtu_vector, resume);
	int irq;

	spin_lock_irq(&v->lock);
	irq = v->paused;
	v->paused = 0;
	spin_unlock_irq(&v->lock);
	enable_irq(irq);
	/* an emulated interrupt can get lost while it is masked */
	rcu_read_lock();	/* no reset begins before the unlock */
	if (READ_ONCE(v->gtu->state) == GTU_STATE_UP && READ_ONCE(v->gtu->epoch))
		gtu_vector_handle(v);
	rcu_read_unlock();
}

/*
 * Users cause interrupts and events by writing to doorbells, at any rate and on the
 * CPU of somebody else. Disable the vector for a jiffy if they are too many. Its
 * events are delayed, not lost.
 */
static void gtu_interrupt_limit(struct gtu_vector *v, int irq, unsigned int events)
{
	unsigned int rate = READ_ONCE(interrupt_rate);

	spin_lock(&v->lock);
	if (time_after(jiffies, v->window)) {
		v->window = jiffies;
		v->count = 0;
	}
	v->count += 1 + events;
	if (rate && v->count > DIV_ROUND_UP(rate, HZ) && !v->paused) {
		v->paused = irq;
		disable_irq_nosync(irq);
		queue_delayed_work(system_highpri_wq, &v->resume, 1);
	}
	spin_unlock(&v->lock);
}

/**
 * gtu_interrupt_unpause() - end the pause of a vector with too many interrupts
 * @v: the vector, whose interrupt is also disabled by the caller
 */
void gtu_interrupt_unpause(struct gtu_vector *v)
{
	if (cancel_delayed_work_sync(&v->resume)) {
		enable_irq(v->paused);
		v->paused = 0;
	}
}

/**
 * gtu_interrupt() - handle the interrupt of a vector
 * @irq: Linux irq
 * @arg: struct gtu_vector
 *
 * Return: IRQ_HANDLED or IRQ_NONE
 */
irqreturn_t gtu_interrupt(int irq, void *arg)
{
	struct gtu_vector *v = arg;
	unsigned int n = gtu_vector_handle(v);

	trace_gtu_interrupt(v, n);
	gtu_interrupt_limit(v, irq, n);
	/*
	 * The interrupt is not shared, and an earlier run may have handled this
	 * edge's events.
	 */
	return IRQ_HANDLED;
}

/**
 * gtu_events_alloc() - allocate interrupts and event rings
 * @gtu: the device
 *
 * Vector 0 receives the errors. The other vectors have an event ring each; a
 * single vector has both.
 *
 * Return: 0 or a negative errno
 */
int gtu_events_alloc(struct gtu_device *gtu)
{
	unsigned int i;

	for (i = 0; i < gtu->vectors; i++) {
		struct gtu_vector *v = &gtu->vector[i];

		v->gtu = gtu;
		v->errors = !i;
		v->window = jiffies;
		spin_lock_init(&v->lock);
		INIT_DELAYED_WORK(&v->resume, gtu_interrupt_resume);
		if (i || gtu->vectors == 1) {
			v->event = dma_alloc_coherent(gtu->parent, GTU_EVENTS_BYTES, &v->event_dma,
						      GFP_KERNEL);
			if (!v->event)
				return -ENOMEM;
			v->ring = gtu->event_rings++;
			v->has_ring = true;
		}
	}
	return 0;
}

/**
 * gtu_events_free() - free interrupts and event rings
 * @gtu: the device
 *
 * The device must not write to the event rings any more.
 */
void gtu_events_free(struct gtu_device *gtu)
{
	unsigned int i;

	for (i = 0; i < gtu->vectors; i++) {
		struct gtu_vector *v = &gtu->vector[i];

		if (v->event)
			dma_free_coherent(gtu->parent, GTU_EVENTS_BYTES, v->event, v->event_dma);
		v->event = NULL;
		v->has_ring = false;
	}
}

/**
 * gtu_events_enable() - enable all event rings after a reset
 * @gtu: the device
 *
 * The rings are empty and in their first pass.
 *
 * Return: 0 or a negative errno
 */
int gtu_events_enable(struct gtu_device *gtu)
{
	unsigned int i;
	int ret;

	for (i = 0; i < gtu->vectors; i++) {
		struct gtu_vector *v = &gtu->vector[i];
		u64 arg[GTU_MBOX_ARGS] = { v->ring, v->event_dma, GTU_EVENTS_LOG2, i };

		if (!v->has_ring)
			continue;
		spin_lock_irq(&v->lock);
		memset(v->event, 0, GTU_EVENTS_BYTES);
		v->head = 0;
		spin_unlock_irq(&v->lock);
		ret = gtu_mbox_locked(gtu, GTU_MBOX_EVENT_ENABLE, arg);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * gtu_event_ring_here() - event ring whose interrupt is most likely routed to this CPU
 * @gtu: the device
 *
 * Return: the number of the ring
 */
u32 gtu_event_ring_here(struct gtu_device *gtu)
{
	return raw_smp_processor_id() % gtu->event_rings;
}

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
 * request may be lost. Returns the event count from before, because the event can
 * be raised at once.
 *
 * Every event wakes all waiters, which arm again in any order. The index of one
 * who does not wait any more costs an event.
 */
static u32 gtu_queue_arm(struct gtu_queue *q, u32 index, bool again)
{
	unsigned long flags;
	u32 events;

	spin_lock_irqsave(&q->wait_lock, flags);
	events = q->events;
	/* its event is on the way, or lost */
	if (!q->dead && q->armed &&
	    (s32)(le32_to_cpu(READ_ONCE(q->status->cq_tail)) - q->arm_index) > 0)
		q->armed = false;
	if (again || !q->armed || (s32)(index - q->arm_index) < 0) {
		if (q->armed && (s32)(q->arm_index - index) < 0)
			index = q->arm_index;
		if (q->requested && (s32)(q->request_index - index) < 0)
			index = q->request_index;
		q->armed = true;
		q->arm_index = index;
		gtu_queue_doorbell(q, GTU_DB_ARM, index);
	}
	spin_unlock_irqrestore(&q->wait_lock, flags);
	return events;
}

/*
 * Arm an event at a record of the running stream. Returns the event count as
 * gtu_queue_arm(). A queue has one such request: a waiter whose request was
 * replaced checks again after a slice.
 */
static u32 gtu_queue_arm_stream(struct gtu_queue *q, u32 record)
{
	unsigned long flags;
	u32 events;

	spin_lock_irqsave(&q->wait_lock, flags);
	events = q->events;
	gtu_queue_doorbell(q, GTU_DB_ARM_STREAM, record);
	spin_unlock_irqrestore(&q->wait_lock, flags);
	return events;
}

/**
 * gtu_queue_request() - request an event of the queue
 * @q: the queue
 * @index: completion or, if @stream, record of the running stream
 * @stream: @index is a record
 *
 * Waits for the queue do not replace a request for a completion.
 */
void gtu_queue_request(struct gtu_queue *q, u32 index, bool stream)
{
	unsigned long flags;

	if (stream) {
		gtu_queue_arm_stream(q, index);
		return;
	}
	spin_lock_irqsave(&q->wait_lock, flags);
	q->requested = true;
	q->request_index = index;
	spin_unlock_irqrestore(&q->wait_lock, flags);
	gtu_queue_arm(q, index, false);
}

/* Wait condition: an event arrived after gtu_queue_arm(), or the wait is over. */
static bool gtu_queue_wait_done(struct gtu_queue *q, u32 index, u32 resets, u32 events)
{
	u32 tail, state;

	return READ_ONCE(q->events) != events ||
	       gtu_queue_check(q, index, resets, &tail, &state) != -EAGAIN;
}

static int gtu_wait_event(struct gtu_queue *q, u32 index, u32 resets, u32 events, u64 ns)
{
	return wait_event_interruptible_hrtimeout(q->wait,
						  gtu_queue_wait_done(q, index, resets, events),
						  ns_to_ktime(ns));
}

static int gtu_wait_stream_event(struct gtu_queue *q, u32 events, u64 ns)
{
	return wait_event_interruptible_hrtimeout(q->wait, READ_ONCE(q->events) != events,
						  ns_to_ktime(ns));
}

/*
 * Wait until completion @index is written, or until @deadline_ns.
 *
 * @record: return 0 also after the next event once that record of the running
 * stream was requested, or after one slice. The caller must check then.
 */
static int gtu_queue_wait_loop(struct gtu_queue *q, u32 index, const u32 *record, u64 deadline_ns,
			       u32 *tail, u32 *state)
{
	u64 now, slice, longest = GTU_WAIT_SLICE_NS;
	u32 resets = READ_ONCE(q->resets), events;
	bool again = false;
	int ret;

	for (;;) {
		ret = gtu_queue_check(q, index, resets, tail, state);
		if (ret != -EAGAIN)
			return ret;
		now = ktime_get_ns();
		if (now >= deadline_ns)
			return -ETIMEDOUT;
		slice = min(longest, deadline_ns - now);
		if (record) {
			events = gtu_queue_arm_stream(q, *record);
			ret = gtu_wait_stream_event(q, events, slice);
		} else {
			events = gtu_queue_arm(q, index, again);
			ret = gtu_wait_event(q, index, resets, events, slice);
		}
		if (ret == -ERESTARTSYS)
			return -EINTR;
		/* Timed out: check that the device still responds. */
		again = ret == -ETIME && !gtu_alive(q->ctx->gtu);
		longest = again ? min_t(u64, 2 * longest, GTU_WAIT_SLICE_MAX_NS) :
				  GTU_WAIT_SLICE_NS;
		if (record && (!ret || slice == GTU_WAIT_SLICE_NS)) {
			ret = gtu_queue_check(q, index, resets, tail, state);
			return ret == -EAGAIN ? 0 : ret;
		}
	}
}

/**
 * gtu_queue_wait() - wait for a completion
 * @q: the queue
 * @index: index of the completion, modulo 2^32
 * @record: or until this record of the stream may be written; NULL: none
 * @deadline_ns: CLOCK_MONOTONIC, or GTU_WAIT_FOREVER
 * @tail: out: completions written so far
 * @state: out: GTU_QUEUE_*
 *
 * Return: 0 or a negative errno, as ioctl(WAIT)
 */
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

/*
 * Returns the position of an entry whose completion is written or never will be,
 * and in *@ret 0 or the reason; or -EAGAIN. Updates all entries.
 */
static int gtu_queues_check(struct gtu_queue **q, struct gtu_wait_entry *entry, unsigned int n,
			    const u32 *resets, int *ret)
{
	int first = -EAGAIN, one;
	unsigned int i;

	for (i = 0; i < n; i++) {
		one = gtu_queue_check(q[i], entry[i].index, resets[i], &entry[i].cq_tail,
				      &entry[i].state);
		if (one == -EAGAIN || first >= 0)
			continue;
		first = i;
		*ret = one;
	}
	return first;
}

/* Wait condition of gtu_queue_wait_any(): an event of any of the queues, or the end. */
static bool gtu_queues_wait_done(struct gtu_queue **q, const struct gtu_wait_entry *entry,
				 unsigned int n, const u32 *resets, const u32 *events)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (gtu_queue_wait_done(q[i], entry[i].index, resets[i], events[i]))
			return true;
	return false;
}

/**
 * gtu_queue_wait_any() - wait for one of several completions
 * @ctx: the context
 * @q: the queues
 * @entry: the completion of each queue
 * @n: number of queues
 * @deadline_ns: CLOCK_MONOTONIC, or GTU_WAIT_FOREVER
 * @first: out: position of the entry that ended the wait
 *
 * Every event of the context wakes it.
 *
 * Return: 0 or a negative errno, as ioctl(WAIT_ANY)
 */
int gtu_queue_wait_any(struct gtu_ctx *ctx, struct gtu_queue **q, struct gtu_wait_entry *entry,
		       unsigned int n, u64 deadline_ns, u32 *first)
{
	u32 resets[GTU_WAIT_MAX], events[GTU_WAIT_MAX];
	bool again = false;
	int ret = 0, at;
	unsigned int i;
	u64 now, longest = GTU_WAIT_SLICE_NS;

	for (i = 0; i < n; i++) {
		resets[i] = READ_ONCE(q[i]->resets);
		atomic_inc(&q[i]->waiters);
	}
	gtu_watchdog_start(ctx->gtu);
	for (;;) {
		at = gtu_queues_check(q, entry, n, resets, &ret);
		if (at >= 0) {
			*first = at;
			break;
		}
		now = ktime_get_ns();
		ret = -ETIMEDOUT;
		if (now >= deadline_ns)
			break;
		for (i = 0; i < n; i++)
			events[i] = gtu_queue_arm(q[i], entry[i].index, again);
		ret = wait_event_interruptible_hrtimeout(ctx->event_wait,
				gtu_queues_wait_done(q, entry, n, resets, events),
				ns_to_ktime(min(longest, deadline_ns - now)));
		if (ret == -ERESTARTSYS) {
			ret = -EINTR;
			break;
		}
		/* Timed out: check that the device still responds. */
		again = ret == -ETIME && !gtu_alive(ctx->gtu);
		longest = again ? min_t(u64, 2 * longest, GTU_WAIT_SLICE_MAX_NS) :
				  GTU_WAIT_SLICE_NS;
	}
	for (i = 0; i < n; i++)
		atomic_dec(&q[i]->waiters);
	return ret;
}

/**
 * gtu_queue_eventfd() - signal an eventfd at every event from now on
 * @q: the queue
 * @fd: the eventfd; -1: none
 *
 * Return: 0 or a negative errno
 */
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

/**
 * gtu_poll() - poll() of a file: EPOLLIN if a queue of the context has an event
 * @file: the open file
 * @wait: the poll table
 *
 * Return: EPOLL*
 */
__poll_t gtu_poll(struct file *file, poll_table *wait)
{
	struct gtu_ctx *ctx = file->private_data;
	int inside;

	poll_wait(file, &ctx->event_wait, wait);
	inside = gtu_enter(ctx);
	if (inside < 0)
		return EPOLLERR | EPOLLHUP;
	gtu_watchdog_start(ctx->gtu);
	gtu_leave(ctx, inside);
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

	while (n--) {
		q = gtu_queue_get(ctx, event[n].queue);
		if (IS_ERR(q))
			continue;
		spin_lock_irq(&q->wait_lock);
		spin_lock(&ctx->event_lock);
		if (!q->dead && list_empty(&q->ready))
			list_add(&q->ready, &ctx->ready);
		spin_unlock(&ctx->event_lock);
		spin_unlock_irq(&q->wait_lock);
		gtu_queue_put(q);
	}
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

/**
 * gtu_read() - read() of a file: the events of its queues
 * @file: the open file
 * @to: user buffer for struct gtu_event
 * @bytes: size of the buffer
 * @at: ignored
 *
 * Return: bytes read, or a negative errno
 */
ssize_t gtu_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	struct gtu_ctx *ctx = file->private_data;
	struct gtu_event event[GTU_CTX_QUEUES];
	unsigned int max = min_t(size_t, bytes / sizeof(*event), GTU_CTX_QUEUES);
	int inside, n;

	if (!max)
		return -EINVAL;
	inside = gtu_enter(ctx);
	if (inside < 0)
		return inside;
	n = gtu_events_wait(ctx, event, max, !(file->f_flags & O_NONBLOCK));
	gtu_leave(ctx, inside);
	if (n < 0)
		return n;
	if (copy_to_user(to, event, n * sizeof(*event))) {
		gtu_events_requeue(ctx, event, n);
		return -EFAULT;
	}
	return n * sizeof(*event);
}
