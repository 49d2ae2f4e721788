// SPDX-License-Identifier: GPL-2.0-only
/*
 * System suspend and resume, and recovery from bus errors.
 *
 * Suspend waits until the queues are idle, cancels the jobs that take too long,
 * saves the queues' positions and quiesces the device. Resume restores contexts
 * and queues; rings, tables and regions stay in memory. User processes are
 * frozen throughout, so no doorbell is written. Files may still be closed.
 */
#include <linux/delay.h>
#include <linux/module.h>

#include "gtu_drv.h"

#define GTU_CANCEL_MS	500	/* until canceled jobs of all queues are dropped */

static unsigned int suspend_timeout_ms = 5000;
module_param(suspend_timeout_ms, uint, 0644);
MODULE_PARM_DESC(suspend_timeout_ms, "Milliseconds to wait for running jobs before a system suspend cancels them");

/*
 * Save the position of a queue. Returns -EAGAIN if a job is running or could
 * start.
 *
 * Jobs that wait for space in the completion ring are left for later, because
 * only the frozen process can free it. A queue in error is not saved.
 */
static int gtu_queue_suspend(struct gtu_queue *q)
{
	struct gtu_ctx *ctx = q->ctx;
	u64 result[GTU_MBOX_RESULTS];
	u32 cq_tail;
	int ret;

	lockdep_assert_held(&ctx->lock);
	q->saved.valid = false;
	ret = GTU_MBOX_QUERY(ctx, GTU_MBOX_QUEUE_STATE, result, q->id);
	if (ret)
		return ret == -ESTALE || ret == -EALREADY ? 0 : ret;
	if ((u32)result[2] != GTU_QUEUE_ENABLED)
		return 0;
	q->saved.index = result[0];
	q->saved.tail = result[0] >> 32;
	cq_tail = result[1];
	q->saved.head = result[1] >> 32;
	if (cq_tail != q->saved.index)
		return -EAGAIN;
	if (q->saved.tail != q->saved.index && cq_tail - q->saved.head < BIT(q->cq_log2))
		return -EAGAIN;
	q->saved.valid = true;
	return 0;
}

/*
 * End the jobs of a queue that prevent the suspend: cancel them and, if they are
 * still there after @last, drop them. Users must not keep the system awake.
 */
static void gtu_queue_end_jobs(struct gtu_queue *q, bool last)
{
	struct gtu_ctx *ctx = q->ctx;

	if (!last && ctx->gtu->caps & GTU_CAP_CANCEL &&
	    !GTU_MBOX(ctx, GTU_MBOX_QUEUE_CANCEL, q->id, q->saved.tail))
		return;
	/* If this fails, quiescing the device ends the jobs. */
	GTU_MBOX(ctx, GTU_MBOX_QUEUE_DISABLE, q->id);
	gtu_queue_drop(q);
}

/*
 * Wait until all queues are idle and save their positions. End the jobs of
 * queues that are not idle in time, and log them.
 */
static void gtu_queues_suspend(struct gtu_device *gtu)
{
	unsigned int ms = READ_ONCE(suspend_timeout_ms);
	unsigned long end = jiffies + gtu_scaled_jiffies(ms);
	unsigned long last = end + gtu_scaled_jiffies(GTU_CANCEL_MS);
	u32 id, canceled = ~0u;
	struct gtu_queue *q;
	int ret;

	for (id = 0; id < gtu->max_queues;) {
		q = gtu_queue_lock(gtu, id);
		if (!q) {
			id++;
			continue;
		}
		ret = gtu_queue_suspend(q);
		if (ret == -EAGAIN && time_after(jiffies, end) && id != canceled) {
			dev_warn(gtu->parent,
				 "the suspend cancels jobs that did not end in time: limit %llu ms, queue %u of %s[%d]\n",
				 gtu_scaled(ms), id, q->ctx->comm, q->ctx->pid);
			canceled = id;
			gtu_queue_end_jobs(q, false);
		} else if (ret == -EAGAIN && time_after(jiffies, last)) {
			gtu_queue_end_jobs(q, true);
			ret = 0;
		} else if (ret && ret != -EAGAIN) {
			gtu_force_quiesce(q->ctx, "a queue cannot be read for a suspend");
			ret = 0;
		}
		gtu_queue_unlock(q);
		if (ret)
			usleep_range(1000, 2000);
		else
			id++;
	}
}

/*
 * Contexts that are dead must stay dead, whatever epochs follow. The device loses
 * the counters of the others.
 */
static void gtu_contexts_suspend(struct gtu_device *gtu)
{
	struct gtu_usage usage;
	struct gtu_ctx *ctx;
	u64 client = 0;

	while ((ctx = gtu_ctx_next(gtu, client))) {
		client = ctx->client;
		gtu_ctx_usage(ctx, &usage, true);
		gtu_ctx_put(ctx);
	}
	spin_lock_irq(&gtu->ctx_lock);
	list_for_each_entry(ctx, &gtu->contexts, link) {
		ctx->suspended = !gtu_ctx_dead(ctx);
		if (!ctx->suspended)
			WRITE_ONCE(ctx->epoch, GTU_EPOCH_NEVER);
	}
	spin_unlock_irq(&gtu->ctx_lock);
}

/**
 * gtu_suspend() - suspend callback of the bus drivers
 * @dev: the bus device
 *
 * The device is idle then and does not access memory; gtu_resume() follows.
 * Neither a user nor the device can refuse: what cannot be kept ends.
 *
 * Return: 0
 */
int gtu_suspend(struct device *dev)
{
	struct gtu_device *gtu = dev_get_drvdata(dev);

	gtu_peers_stop(gtu);
	if (READ_ONCE(gtu->state) == GTU_STATE_UP) {
		gtu_queues_suspend(gtu);
		gtu_aperture_save(gtu);
		gtu_watchdog_stop(gtu);
		gtu_counters_update(gtu);
		gtu_contexts_suspend(gtu);
	}
	/* The bus may switch off a dead one, too. */
	gtu_hw_stop(gtu);
	return 0;
}

/*
 * Take a suspended context, each only once. Returns it with a reference, or
 * NULL.
 */
static struct gtu_ctx *gtu_ctx_take_suspended(struct gtu_device *gtu)
{
	struct gtu_ctx *ctx, *found = NULL;

	spin_lock_irq(&gtu->ctx_lock);
	list_for_each_entry(ctx, &gtu->contexts, link) {
		if (ctx->suspended) {
			ctx->suspended = false;
			kref_get(&ctx->ref);
			found = ctx;
			break;
		}
	}
	spin_unlock_irq(&gtu->ctx_lock);
	return found;
}

static int gtu_ctx_resume_queues(struct gtu_ctx *ctx)
{
	struct gtu_queue *q;
	unsigned long id;
	int ret;

	xa_for_each(&ctx->queue, id, q) {
		if (!q->saved.valid)
			continue;
		ret = gtu_queue_resume(q);
		if (ret)
			return ret;
		/*
		 * The device has lost its ARM: let waiters check and arm again.
		 */
		gtu_queue_notify(q);
	}
	return 0;
}

static void gtu_ctx_resume(struct gtu_ctx *ctx)
{
	struct gtu_device *gtu = ctx->gtu;
	int ret;

	mutex_lock(&ctx->lock);
	if (ctx->torn_down)
		goto out;
	if (ctx->aperture_lost) {
		dev_warn(gtu->parent,
			 "the driver ends a context whose aperture pages are lost: context %u of %s[%d]\n",
			 ctx->id, ctx->comm, ctx->pid);
		WRITE_ONCE(ctx->epoch, GTU_EPOCH_NEVER);
		goto out;
	}
	ret = gtu_ctx_enable(ctx);
	ret = ret ?: gtu_ctx_resume_queues(ctx);
	if (!ret)
		gtu_import_resume(ctx);
	if (ret) {
		gtu_ctx_disable(ctx, ret, "context restore failed");
		dev_warn(gtu->parent,
			 "the driver cannot restore a context: context %u of %s[%d], error %d\n",
			 ctx->id, ctx->comm, ctx->pid, ret);
		WRITE_ONCE(ctx->epoch, GTU_EPOCH_NEVER);
	}
out:
	mutex_unlock(&ctx->lock);
}

/**
 * gtu_resume() - resume callback of the bus drivers
 * @dev: the bus device
 *
 * Contexts that cannot be restored are dead, as after a reset.
 *
 * Return: 0, or -ENODEV if the device does not come back; all contexts are
 * dead then
 */
int gtu_resume(struct device *dev)
{
	struct gtu_device *gtu = dev_get_drvdata(dev);
	struct gtu_ctx *ctx;
	int ret;

	if (READ_ONCE(gtu->state) != GTU_STATE_UP) {
		gtu_aperture_restore(gtu);
		return 0;
	}
	ret = gtu_hw_restart(gtu);
	gtu_aperture_restore(gtu);
	while ((ctx = gtu_ctx_take_suspended(gtu))) {
		if (ret)
			WRITE_ONCE(ctx->epoch, GTU_EPOCH_NEVER);
		else
			gtu_ctx_resume(ctx);
		gtu_ctx_put(ctx);
	}
	gtu_queues_wake(gtu);
	if (!ret) {
		gtu_watchdog_start(gtu);
		gtu_peers_start(gtu);
	}
	return ret;
}

/**
 * gtu_error_begin() - handle a bus error that only a reset clears
 * @gtu: the device
 *
 * Kills all contexts and leaves the registers alone.
 */
void gtu_error_begin(struct gtu_device *gtu)
{
	gtu_peers_stop(gtu);
	gtu_hw_stop(gtu);
	gtu_queues_wake(gtu);
}

/**
 * gtu_error_end() - restart the device after gtu_error_begin()
 * @gtu: the device
 *
 * The registers are accessible again.
 *
 * Return: 0 or a negative errno
 */
int gtu_error_end(struct gtu_device *gtu)
{
	int ret = gtu_hw_restart(gtu);

	gtu_queues_wake(gtu);
	if (!ret)
		gtu_peers_start(gtu);
	return ret;
}
