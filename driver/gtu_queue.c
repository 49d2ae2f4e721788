// SPDX-License-Identifier: GPL-2.0-only
/* Queues: rings that the device and user space work on, and waiting for them. */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "gtu_drv.h"

/* A lost interrupt, or a user who arms his queue himself, costs a waiter this long and no more. */
#define GTU_WAIT_SLICE_NS	(100 * NSEC_PER_MSEC)

static void __iomem *gtu_bell(struct gtu_queue *q, u32 reg)
{
	return q->ctx->gtu->bells + ((size_t)q->id << q->ctx->gtu->stride) + reg;
}

/*
 * ---- Rings --------------------------------------------------------------------------------------
 */

static void gtu_ring_free(struct gtu_device *gtu, struct gtu_ring *ring)
{
	if (ring->cpu)
		dma_free_coherent(gtu->parent, ring->bytes, ring->cpu, ring->dma);
	kvfree(ring->pfn);
	memset(ring, 0, sizeof(*ring));
}

static int gtu_ring_alloc(struct gtu_device *gtu, struct gtu_ring *ring, size_t bytes)
{
	struct sg_page_iter it;
	struct sg_table sgt;
	unsigned int n = 0;
	int ret;

	ring->bytes = PAGE_ALIGN(bytes);
	ring->pfn = kvcalloc(ring->bytes >> PAGE_SHIFT, sizeof(*ring->pfn), GFP_KERNEL_ACCOUNT);
	ring->cpu = dma_alloc_coherent(gtu->parent, ring->bytes, &ring->dma, GFP_KERNEL);
	ret = -ENOMEM;
	if (!ring->pfn || !ring->cpu)
		goto err;
	ret = dma_get_sgtable(gtu->parent, &sgt, ring->cpu, ring->dma, ring->bytes);
	if (ret)
		goto err;
	for_each_sg_page(sgt.sgl, &it, sgt.orig_nents, 0)
		ring->pfn[n++] = page_to_pfn(sg_page_iter_page(&it));
	sg_free_table(&sgt);
	return 0;
err:
	gtu_ring_free(gtu, ring);
	return ret;
}

/*
 * ---- Life ---------------------------------------------------------------------------------------
 */

static void gtu_queue_release(struct kref *ref)
{
	struct gtu_queue *q = container_of(ref, struct gtu_queue, ref);

	WARN_ON(!q->dead);
	if (q->blank)
		__free_page(q->blank);
	kfree(q);
}

void gtu_queue_put(struct gtu_queue *q)
{
	kref_put(&q->ref, gtu_queue_release);
}

/* Queue @id of the context, with a reference, or an ERR_PTR(). */
struct gtu_queue *gtu_queue_get(struct gtu_ctx *ctx, u32 id)
{
	struct gtu_queue *q;

	if (mutex_lock_killable(&ctx->lock))
		return ERR_PTR(-EINTR);
	q = xa_load(&ctx->queue, id);
	if (q)
		kref_get(&q->ref);
	mutex_unlock(&ctx->lock);
	return q ?: ERR_PTR(-ENOENT);
}

static int gtu_queue_enable(struct gtu_queue *q)
{
	struct gtu_ctx *ctx = q->ctx;

	return GTU_MBOX(ctx->gtu, ctx->epoch, GTU_MBOX_QUEUE_ENABLE, q->id, ctx->id, q->sq.dma,
			q->cq.dma, q->sq_log2 | q->cq_log2 << 8, q->event_ring);
}

static void gtu_queue_list(struct gtu_queue *q, bool in)
{
	struct gtu_device *gtu = q->ctx->gtu;

	spin_lock_irq(&gtu->queue_lock);
	gtu->queue[q->id] = in ? q : NULL;
	spin_unlock_irq(&gtu->queue_lock);
}

static struct gtu_queue *gtu_queue_new(struct gtu_ctx *ctx, u32 sq_log2, u32 cq_log2)
{
	struct gtu_device *gtu = ctx->gtu;
	struct gtu_queue *q;
	int ret;

	q = kzalloc(sizeof(*q), GFP_KERNEL_ACCOUNT);
	if (!q)
		return ERR_PTR(-ENOMEM);
	kref_init(&q->ref);
	q->ctx = ctx;
	q->sq_log2 = sq_log2;
	q->cq_log2 = cq_log2;
	q->event_ring = gtu_event_ring_here(gtu);
	mutex_init(&q->map_lock);
	init_waitqueue_head(&q->wait);
	spin_lock_init(&q->wait_lock);
	ret = gtu_ring_alloc(gtu, &q->sq, sizeof(struct gtu_hw_desc) << sq_log2);
	if (!ret)
		ret = gtu_ring_alloc(gtu, &q->cq, (sizeof(struct gtu_hw_cpl) << cq_log2) +
					sizeof(struct gtu_hw_queue_status));
	if (!ret)
		ret = ida_alloc_max(&gtu->queue_ids, gtu->max_queues - 1, GFP_KERNEL);
	if (ret < 0) {
		gtu_ring_free(gtu, &q->sq);
		gtu_ring_free(gtu, &q->cq);
		kfree(q);
		return ERR_PTR(ret);
	}
	q->id = ret;
	q->status = q->cq.cpu + (sizeof(struct gtu_hw_cpl) << cq_log2);
	return q;
}

/* With a reference for the caller beside the context's. */
struct gtu_queue *gtu_queue_create(struct gtu_ctx *ctx, u32 sq_log2, u32 cq_log2)
{
	struct gtu_device *gtu = ctx->gtu;
	struct gtu_queue *q;
	bool quiet = true;
	int ret;

	if (mutex_lock_killable(&ctx->lock))
		return ERR_PTR(-EINTR);
	ret = -ENODEV;
	if (ctx->torn)
		goto out;
	ret = -ENOSPC;
	if (ctx->queues >= GTU_CTX_QUEUES)
		goto out;
	q = gtu_queue_new(ctx, sq_log2, cq_log2);
	ret = PTR_ERR_OR_ZERO(q);
	if (ret)
		goto out;
	gtu_queue_list(q, true);
	ret = xa_err(xa_store(&ctx->queue, q->id, q, GFP_KERNEL));
	if (ret)
		goto err;
	ret = gtu_queue_enable(q);
	if (ret) {
		xa_erase(&ctx->queue, q->id);
		/* After a time-out it may be enabled all the same. */
		if (ret != -EIO)
			quiet = gtu_force_quiet(gtu, ctx->epoch, "a queue was not set up in time");
		ret = ret == -ESTALE ? -ENODEV : ret;
		goto err;
	}
	ctx->queues++;
	kref_get(&q->ref);
	mutex_unlock(&ctx->lock);
	return q;
err:
	gtu_queue_kill(q, quiet);
	gtu_queue_put(q);
out:
	mutex_unlock(&ctx->lock);
	return ERR_PTR(ret);
}

/*
 * The device has forgotten the queue (or is to be feared: !quiet). Waiters leave, mappings lead to
 * blank pages, the rings are freed, the id is free for others. References may be held to what is
 * left.
 */
void gtu_queue_kill(struct gtu_queue *q, bool quiet)
{
	struct gtu_device *gtu = q->ctx->gtu;

	lockdep_assert_held(&q->ctx->lock);
	gtu_queue_list(q, false);
	mutex_lock(&q->map_lock);
	spin_lock_irq(&q->wait_lock);
	q->dead = true;
	spin_unlock_irq(&q->wait_lock);
	mutex_unlock(&q->map_lock);
	wake_up_all(&q->wait);
	gtu_queue_unmap(q);
	if (!quiet)
		return;
	gtu_ring_free(gtu, &q->sq);
	gtu_ring_free(gtu, &q->cq);
	ida_free(&gtu->queue_ids, q->id);
}

static int gtu_queue_disable(struct gtu_queue *q)
{
	return GTU_MBOX(q->ctx->gtu, q->ctx->epoch, GTU_MBOX_QUEUE_DISABLE, q->id);
}

int gtu_queue_destroy(struct gtu_ctx *ctx, u32 id)
{
	struct gtu_queue *q;
	bool quiet;
	int ret;

	mutex_lock(&ctx->lock);
	q = xa_erase(&ctx->queue, id);
	if (!q) {
		mutex_unlock(&ctx->lock);
		return -ENOENT;
	}
	ctx->queues--;
	/* Refused: a stopped queue is not enabled. */
	ret = gtu_queue_disable(q);
	quiet = !ret || ret == -EIO ||
		gtu_force_quiet(ctx->gtu, ctx->epoch, "a queue did not end in time");
	gtu_queue_kill(q, quiet);
	mutex_unlock(&ctx->lock);
	gtu_queue_put(q);
	return !ret || ret == -EIO ? 0 : -ENODEV;
}

/* Jobs that a reset or a stop has dropped are not waited for any more. */
static void gtu_queue_cancel(struct gtu_queue *q)
{
	spin_lock_irq(&q->wait_lock);
	q->resets++;
	q->armed = false;
	spin_unlock_irq(&q->wait_lock);
	wake_up_all(&q->wait);
}

/*
 * Not the mailbox's own reset: old completions would look new in a ring that starts again, so they
 * have to go while the device is off it.
 */
int gtu_queue_reset(struct gtu_ctx *ctx, u32 id)
{
	struct gtu_queue *q;
	int ret = -ENOENT;

	mutex_lock(&ctx->lock);
	q = xa_load(&ctx->queue, id);
	if (!q)
		goto out;
	ret = gtu_queue_disable(q);
	if (!ret || ret == -EIO) {
		gtu_queue_cancel(q);
		memset(q->cq.cpu, 0, q->cq.bytes);
		ret = gtu_queue_enable(q);
	} else if (ret == -ETIMEDOUT) {
		gtu_force_quiet(ctx->gtu, ctx->epoch, "a queue was not reset in time");
	}
	if (ret == -ESTALE || ret == -ETIMEDOUT)
		ret = -ENODEV;
out:
	mutex_unlock(&ctx->lock);
	return ret;
}

/* Stop all jobs of the context; its queues then read GTU_QUEUE_DISABLED until they are reset. */
void gtu_queues_stop(struct gtu_ctx *ctx)
{
	struct gtu_queue *q;
	unsigned long id;

	lockdep_assert_held(&ctx->lock);
	xa_for_each(&ctx->queue, id, q) {
		if (gtu_queue_disable(q))
			continue;
		WRITE_ONCE(q->status->state, cpu_to_le32(GTU_QUEUE_DISABLED));
		gtu_queue_cancel(q);
	}
}

/*
 * ---- Waiting ------------------------------------------------------------------------------------
 */

/* An interrupt named the queue. */
void gtu_queue_event(struct gtu_device *gtu, u32 id)
{
	struct gtu_queue *q;
	unsigned long flags;

	if (id >= gtu->max_queues)
		return;
	spin_lock_irqsave(&gtu->queue_lock, flags);
	q = gtu->queue[id];
	if (q) {
		spin_lock(&q->wait_lock);
		q->armed = false;
		spin_unlock(&q->wait_lock);
		wake_up_all(&q->wait);
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

	if (!gtu->queue)
		return;
	spin_lock_irqsave(&gtu->queue_lock, flags);
	for (id = 0; id < gtu->max_queues; id++) {
		q = gtu->queue[id];
		if (!q || !gtu_ctx_dead(q->ctx))
			continue;
		WRITE_ONCE(q->status->state, cpu_to_le32(GTU_QUEUE_DISABLED));
		wake_up_all(&q->wait);
	}
	spin_unlock_irqrestore(&gtu->queue_lock, flags);
}

/* 0: the completion is there; -EAGAIN: not yet; or why it will never be. */
static int gtu_queue_look(struct gtu_queue *q, u32 index, u32 resets, u32 *tail, u32 *state)
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
		writel(index, gtu_bell(q, GTU_DB_ARM));
	}
	spin_unlock_irqrestore(&q->wait_lock, flags);
}

/* Whether a waiter has something to do: an event came, or there is a reason to leave. */
static bool gtu_queue_awake(struct gtu_queue *q, u32 index, u32 resets)
{
	u32 tail, state;

	return !READ_ONCE(q->armed) || gtu_queue_look(q, index, resets, &tail, &state) != -EAGAIN;
}

/*
 * Until completion @index is there, or @deadline_ns. Who waits for a later one is woken by each
 * event of an earlier one, and arms the queue anew.
 */
int gtu_queue_wait(struct gtu_queue *q, u32 index, u64 deadline_ns, u32 *tail, u32 *state)
{
	u32 resets = READ_ONCE(q->resets);
	bool again = false;
	int ret;

	for (;;) {
		u64 now, slice = GTU_WAIT_SLICE_NS;

		ret = gtu_queue_look(q, index, resets, tail, state);
		if (ret != -EAGAIN)
			return ret;
		now = ktime_get_ns();
		if (now >= deadline_ns)
			return -ETIMEDOUT;
		gtu_queue_arm(q, index, again);
		slice = min(slice, deadline_ns - now);
		ret = wait_event_interruptible_hrtimeout(q->wait, gtu_queue_awake(q, index, resets),
							 ns_to_ktime(slice));
		if (ret == -ERESTARTSYS)
			return -EINTR;
		/* Nothing for so long: a device that has died would not say so. */
		again = ret == -ETIME && !gtu_alive(q->ctx->gtu);
	}
}
