// SPDX-License-Identifier: GPL-2.0-only
/*
 * System suspend and resume, and recovery from bus errors.
 *
 * Suspend waits until the queues are idle, saves their positions and quiesces
 * the device. Resume restores contexts and queues; rings, tables and regions
 * stay in memory. User processes are frozen throughout, so no doorbell is
 * written. Files may still be closed.
 */
#include <linux/delay.h>
#include <linux/module.h>

#include "gtu_drv.h"

static unsigned int suspend_timeout_ms = 5000;
module_param(suspend_timeout_ms, uint, 0644);
MODULE_PARM_DESC(suspend_timeout_ms, "Milliseconds to wait for running jobs before a system suspend is refused");

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
	u32 status, cq_tail;
	int ret;

	lockdep_assert_held(&ctx->lock);
	q->saved.valid = false;
	ret = gtu_mbox_query(ctx->gtu, ctx->epoch, GTU_MBOX_QUEUE_STATE,
			     (const u64 [GTU_MBOX_ARGS]) { q->id }, &status, result);
	if (ret)
		return ret == -ESTALE ? 0 : ret;
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
 * Wait until all queues are idle and save their positions. Logs the queue that
 * prevents it.
 */
static int gtu_queues_suspend(struct gtu_device *gtu)
{
	unsigned int ms = READ_ONCE(suspend_timeout_ms);
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	struct gtu_queue *q;
	int ret;
	u32 id;

	for (id = 0; id < gtu->max_queues;) {
		bool late = time_after(jiffies, end);

		q = gtu_queue_lock(gtu, id);
		if (!q) {
			id++;
			continue;
		}
		ret = gtu_queue_suspend(q);
		if (ret == -EAGAIN && late)
			dev_warn(gtu->parent,
				 "cannot suspend: jobs still running after %u ms: queue %u of %s[%d]\n",
				 ms, id, q->ctx->comm, q->ctx->pid);
		else if (ret && ret != -EAGAIN)
			dev_warn(gtu->parent, "cannot suspend: cannot read queue %u: %d\n", id,
				 ret);
		gtu_queue_unlock(q);
		if (ret && (ret != -EAGAIN || late))
			return READ_ONCE(gtu->state) == GTU_STATE_UP ? -EBUSY : 0;
		if (ret)
			usleep_range(1000, 2000);
		else
			id++;
	}
	return 0;
}

/* Contexts that are dead must stay dead, whatever epochs follow. */
static void gtu_contexts_suspend(struct gtu_device *gtu)
{
	struct gtu_ctx *ctx;

	spin_lock_irq(&gtu->ctx_lock);
	list_for_each_entry(ctx, &gtu->contexts, link) {
		ctx->suspended = !gtu_ctx_dead(ctx);
		if (!ctx->suspended)
			WRITE_ONCE(ctx->epoch, GTU_EPOCH_NEVER);
	}
	spin_unlock_irq(&gtu->ctx_lock);
}

/*
 * Suspend callback of the bus drivers. On success the device is idle and does
 * not access memory; gtu_resume() follows. On failure the reason is logged and
 * nothing has changed.
 */
int gtu_suspend(struct device *dev)
{
	struct gtu_device *gtu = dev_get_drvdata(dev);
	int ret;

	if (READ_ONCE(gtu->state) != GTU_STATE_UP)
		return 0;
	ret = gtu_queues_suspend(gtu);
	if (!ret)
		ret = gtu_aperture_save(gtu);
	if (ret)
		return ret;
	gtu_watchdog_stop(gtu);
	gtu_contexts_suspend(gtu);
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
	WRITE_ONCE(ctx->epoch, READ_ONCE(gtu->epoch));
	ret = gtu_ctx_enable(ctx);
	/*
	 * -EIO: the device refused and does not know the context. After a
	 * timeout it may know it.
	 */
	if (ret != -EIO) {
		ret = ret ?: gtu_ctx_resume_queues(ctx);
		if (ret && GTU_MBOX(gtu, ctx->epoch, GTU_MBOX_CTX_DISABLE, ctx->id))
			gtu_force_quiesce(ctx, "context restore failed");
	}
	if (ret) {
		dev_warn(gtu->parent, "cannot restore context %u of %s[%d]: %d\n", ctx->id,
			 ctx->comm, ctx->pid, ret);
		WRITE_ONCE(ctx->epoch, GTU_EPOCH_NEVER);
	}
out:
	mutex_unlock(&ctx->lock);
}

/*
 * Resume callback of the bus drivers. Contexts that cannot be restored are
 * dead, as after a reset. Returns -ENODEV if the device does not come back; all
 * contexts are dead then.
 */
int gtu_resume(struct device *dev)
{
	struct gtu_device *gtu = dev_get_drvdata(dev);
	struct gtu_ctx *ctx;
	int ret;

	if (READ_ONCE(gtu->state) != GTU_STATE_UP)
		return 0;
	ret = gtu_hw_restart(gtu);
	if (!ret)
		gtu_aperture_restore(gtu);
	else
		gtu_aperture_drop_copy(gtu);
	while ((ctx = gtu_ctx_take_suspended(gtu))) {
		if (ret)
			WRITE_ONCE(ctx->epoch, GTU_EPOCH_NEVER);
		else
			gtu_ctx_resume(ctx);
		gtu_ctx_put(ctx);
	}
	gtu_queues_wake(gtu);
	if (!ret)
		gtu_watchdog_start(gtu);
	return ret;
}

/*
 * A bus error occurred that only a reset clears: kill all contexts and leave
 * the registers alone.
 */
void gtu_error_begin(struct gtu_device *gtu)
{
	gtu_hw_stop(gtu);
	gtu_queues_wake(gtu);
}

/* The registers are accessible again. */
int gtu_error_end(struct gtu_device *gtu)
{
	int ret = gtu_hw_restart(gtu);

	gtu_queues_wake(gtu);
	return ret;
}
