// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues: allocation of rings, creation, destruction, reset, cancellation and
 * resume.
 */
#include <linux/kmemleak.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "gtu_drv.h"

static unsigned int user_queues;
module_param(user_queues, uint, 0644);
MODULE_PARM_DESC(user_queues, "Maximum number of queues per user; 0: a quarter of the device's; not for CAP_SYS_RESOURCE");

static void gtu_ring_free(struct gtu_device *gtu, struct gtu_ring *ring)
{
	if (ring->cpu)
		dma_vunmap_noncontiguous(gtu->parent, ring->cpu);
	if (ring->sgt)
		dma_free_noncontiguous(gtu->parent, ring->bytes, ring->sgt, ring->dir);
	memset(ring, 0, sizeof(*ring));
}

/* The memory needs no syncs, because the device's accesses are coherent. */
static int gtu_ring_alloc(struct gtu_device *gtu, struct gtu_ring *ring, size_t bytes,
			  enum dma_data_direction dir)
{
	ring->bytes = PAGE_ALIGN(bytes);
	ring->dir = dir;
	/* users choose the size: report the failure to them, not in the log */
	ring->sgt = dma_alloc_noncontiguous(gtu->parent, ring->bytes, dir,
					    GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN, 0);
	if (ring->sgt)
		ring->cpu = dma_vmap_noncontiguous(gtu->parent, ring->bytes, ring->sgt);
	if (!ring->cpu) {
		gtu_ring_free(gtu, ring);
		return -ENOMEM;
	}
	ring->dma = sg_dma_address(ring->sgt->sgl);
	return 0;
}

static void gtu_queue_release(struct kref *ref)
{
	struct gtu_queue *q = container_of(ref, struct gtu_queue, ref);
	unsigned int i;

	WARN_ON(!q->dead);
	for (i = 0; i < ARRAY_SIZE(q->blank); i++)
		if (q->blank[i])
			__free_page(q->blank[i]);
	kvfree(q->last_use);
	kfree_rcu(q, rcu);
}

/**
 * gtu_queue_put() - drop a reference to a queue
 * @q: the queue
 */
void gtu_queue_put(struct gtu_queue *q)
{
	kref_put(&q->ref, gtu_queue_release);
}

/**
 * gtu_queue_get() - look up a queue of a context
 * @ctx: the context
 * @id: id of the queue
 *
 * Does not take ctx->lock: waits and mmap() must not queue behind another
 * thread's call that waits for the device.
 *
 * Return: the queue with a reference, or an ERR_PTR()
 */
struct gtu_queue *gtu_queue_get(struct gtu_ctx *ctx, u32 id)
{
	struct gtu_queue *q;

	rcu_read_lock();
	q = xa_load(&ctx->queue, id);
	if (q && !kref_get_unless_zero(&q->ref))
		q = NULL;
	rcu_read_unlock();
	return q ?: ERR_PTR(-ENOENT);
}

/**
 * gtu_queue_lock() - look up a queue and lock its context
 * @gtu: the device
 * @id: id of the queue
 *
 * Return: the queue with a reference, or NULL if there is no live queue
 */
struct gtu_queue *gtu_queue_lock(struct gtu_device *gtu, u32 id)
{
	struct gtu_ctx *ctx = NULL;
	struct gtu_queue *q;

	rcu_read_lock();
	q = rcu_dereference(gtu->queue[id]);
	if (q && !gtu_ctx_dead(q->ctx) && kref_get_unless_zero(&q->ctx->ref))
		ctx = q->ctx;
	rcu_read_unlock();
	if (!ctx)
		return NULL;
	mutex_lock(&ctx->lock);
	q = ctx->torn_down ? NULL : xa_load(&ctx->queue, id);
	if (!q) {
		mutex_unlock(&ctx->lock);
		gtu_ctx_put(ctx);
	}
	return q;
}

/**
 * gtu_queue_unlock() - undo gtu_queue_lock()
 * @q: the queue
 */
void gtu_queue_unlock(struct gtu_queue *q)
{
	struct gtu_ctx *ctx = q->ctx;

	mutex_unlock(&ctx->lock);
	gtu_ctx_put(ctx);
}

static int gtu_queue_enable(struct gtu_queue *q)
{
	struct gtu_ctx *ctx = q->ctx;

	return GTU_MBOX(ctx, GTU_MBOX_QUEUE_ENABLE, q->id, ctx->id, q->sq.dma,
			q->cq.dma, q->sq_log2 | q->cq_log2 << 8, q->event_ring);
}

static int gtu_queue_disable(struct gtu_queue *q)
{
	return GTU_MBOX(q->ctx, GTU_MBOX_QUEUE_DISABLE, q->id);
}

/*
 * Disable the queue. If the device refuses or does not respond, reset or quiesce
 * it. Returns true if the device certainly does not access the rings any more.
 * @error: of the last command
 */
static bool gtu_queue_quiesce(struct gtu_queue *q, int error, const char *why)
{
	int ret = error == -ETIMEDOUT ? error : gtu_queue_disable(q);

	return !ret || ret == -EALREADY || gtu_force_quiesce(q->ctx, why);
}

/* Allocate a queue and its entry in ctx->queue, which is empty until the queue is stored. */
static struct gtu_queue *gtu_queue_new(struct gtu_ctx *ctx, u32 sq_log2, u32 cq_log2, bool submit)
{
	struct gtu_device *gtu = ctx->gtu;
	struct gtu_queue *q;
	int ret;

	ret = gtu_user_charge(gtu, ctx->uid, GTU_USER_QUEUES, 1,
			      READ_ONCE(user_queues) ?: max(gtu->max_queues / 4, 1u));
	if (ret)
		return ERR_PTR(ret);
	q = kzalloc(sizeof(*q), GFP_KERNEL_ACCOUNT);
	if (!q) {
		ret = -ENOMEM;
		goto err_charge;
	}
	kref_init(&q->ref);
	q->ctx = ctx;
	q->sq_log2 = sq_log2;
	q->cq_log2 = cq_log2;
	q->event_ring = gtu_event_ring_here(gtu);
	init_waitqueue_head(&q->wait);
	spin_lock_init(&q->wait_lock);
	INIT_LIST_HEAD(&q->ready);
	q->notified_state = GTU_QUEUE_ENABLED;
	q->seen.since = jiffies;
	ret = gtu_ring_alloc(gtu, &q->sq, sizeof(struct gtu_hw_desc) << sq_log2, DMA_TO_DEVICE);
	if (!ret)
		ret = gtu_ring_alloc(gtu, &q->cq, (sizeof(struct gtu_hw_cpl) << cq_log2) +
					sizeof(struct gtu_hw_queue_status), DMA_BIDIRECTIONAL);
	if (!ret && submit)
		ret = gtu_submit_init(q);
	if (!ret)
		ret = ida_alloc_max(&gtu->queue_ids, gtu->max_queues - 1, GFP_KERNEL);
	if (ret < 0)
		goto err;
	q->id = ret;
	ret = xa_reserve(&ctx->queue, q->id, GFP_KERNEL);
	if (ret) {
		ida_free(&gtu->queue_ids, q->id);
		goto err;
	}
	q->status = q->cq.cpu + (sizeof(struct gtu_hw_cpl) << cq_log2);
	return q;
err:
	gtu_ring_free(gtu, &q->sq);
	gtu_ring_free(gtu, &q->cq);
	kvfree(q->last_use);
	kfree(q);
err_charge:
	gtu_user_uncharge(gtu, ctx->uid, GTU_USER_QUEUES, 1);
	return ERR_PTR(ret);
}

/* Count a queue before it is allocated. Returns 0 or a negative errno. */
static int gtu_queue_count(struct gtu_ctx *ctx)
{
	int ret = 0;

	if (mutex_lock_killable(&ctx->lock))
		return -EINTR;
	if (ctx->torn_down)
		ret = -ENODEV;
	else if (ctx->queues >= GTU_CTX_QUEUES)
		ret = -ENOSPC;
	else
		ctx->queues++;
	mutex_unlock(&ctx->lock);
	return ret;
}

/**
 * gtu_queue_create() - create a queue
 * @ctx: the context
 * @sq_log2: log2 of the entries of the submission ring
 * @cq_log2: log2 of the entries of the completion ring
 * @submit: GTU_QUEUE_SUBMIT
 *
 * Return: the queue with a reference for the caller, besides that of the
 * context, or an ERR_PTR()
 */
struct gtu_queue *gtu_queue_create(struct gtu_ctx *ctx, u32 sq_log2, u32 cq_log2, bool submit)
{
	int ret = gtu_queue_count(ctx);
	bool quiesced = true;
	struct gtu_queue *q;

	if (ret)
		return ERR_PTR(ret);
	q = gtu_queue_new(ctx, sq_log2, cq_log2, submit);
	mutex_lock(&ctx->lock);
	ret = PTR_ERR_OR_ZERO(q);
	if (ret)
		goto err;
	if (ctx->torn_down) {
		ret = -ENODEV;
		goto err_kill;
	}
	rcu_assign_pointer(ctx->gtu->queue[q->id], q);
	xa_store(&ctx->queue, q->id, q, 0);	/* cannot fail: the entry is allocated */
	ret = gtu_queue_enable(q);
	if (ret) {
		quiesced = gtu_queue_quiesce(q, ret, "queue setup failed");
		ret = gtu_ctx_dead(ctx) ? -ENODEV : -EIO;
		goto err_kill;
	}
	kref_get(&q->ref);
	mutex_unlock(&ctx->lock);
	return q;
err_kill:
	xa_erase(&ctx->queue, q->id);
	gtu_queue_kill(q, quiesced);
	gtu_queue_put(q);
err:
	ctx->queues--;
	mutex_unlock(&ctx->lock);
	return ERR_PTR(ret);
}

/**
 * gtu_queue_kill() - end a queue that is not in its context any more
 * @q: the queue
 * @quiesced: the device has dropped the queue; otherwise it may still use it
 *
 * Wakes waiters, replaces mappings by blank pages, frees the rings and the id.
 * If the device may still use them, rings and id are leaked. Other references
 * remain valid.
 */
void gtu_queue_kill(struct gtu_queue *q, bool quiesced)
{
	struct gtu_device *gtu = q->ctx->gtu;

	lockdep_assert_held(&q->ctx->lock);
	rcu_assign_pointer(gtu->queue[q->id], NULL);
	down_write(&gtu->map_lock);
	gtu_queue_dead(q);
	up_write(&gtu->map_lock);
	gtu_queue_unmap(q);
	gtu_user_uncharge(gtu, q->ctx->uid, GTU_USER_QUEUES, 1);
	if (!quiesced) {
		kmemleak_not_leak(q->sq.sgt);
		kmemleak_not_leak(q->cq.sgt);
		return;
	}
	gtu_ring_free(gtu, &q->sq);
	gtu_ring_free(gtu, &q->cq);
	ida_free(&gtu->queue_ids, q->id);
}

/**
 * gtu_queue_destroy() - destroy a queue
 * @ctx: the context
 * @id: id of the queue
 *
 * Return: 0 or a negative errno, as ioctl(QUEUE_DESTROY)
 */
int gtu_queue_destroy(struct gtu_ctx *ctx, u32 id)
{
	struct gtu_queue *q;
	int ret;

	mutex_lock(&ctx->lock);
	q = xa_load(&ctx->queue, id);
	if (!q) {
		mutex_unlock(&ctx->lock);
		return -ENOENT;
	}
	xa_erase(&ctx->queue, id);	/* no entry that gtu_queue_new() has reserved */
	ctx->queues--;
	gtu_queue_kill(q, gtu_queue_quiesce(q, 0, "queue teardown failed"));
	ret = gtu_ctx_dead(ctx) ? -ENODEV : 0;
	mutex_unlock(&ctx->lock);
	gtu_submit_end(q);
	gtu_queue_put(q);
	return ret;
}

/**
 * gtu_queue_reset() - reset a queue
 * @ctx: the context
 * @id: id of the queue
 *
 * Disables and enables the queue instead of using GTU_MBOX_QUEUE_RESET: old
 * completions would look new in a restarted ring, so clear it while the device
 * does not use it.
 *
 * Return: 0 or a negative errno, as ioctl(QUEUE_RESET)
 */
int gtu_queue_reset(struct gtu_ctx *ctx, u32 id)
{
	struct gtu_queue *q;
	int ret = -ENOENT;

	mutex_lock(&ctx->lock);
	q = xa_load(&ctx->queue, id);
	if (!q)
		goto out;
	/* On an error the context is dead, or the pages leak at its end. */
	if (gtu_queue_quiesce(q, 0, "queue reset failed") && !gtu_ctx_dead(ctx)) {
		gtu_queue_dropped(q);
		gtu_submit_reset(q);
		memset(q->cq.cpu, 0, q->cq.bytes);
		ret = gtu_queue_enable(q);
		if (ret)
			gtu_queue_quiesce(q, ret, "queue restart failed");
		/* Readers of this event must see the new state. */
		gtu_queue_notify(q);
	}
	ret = gtu_ctx_dead(ctx) ? -ENODEV : ret ? -EIO : 0;
out:
	mutex_unlock(&ctx->lock);
	return ret;
}

/**
 * gtu_queue_submit() - write the doorbell of a queue for user space
 * @q: the queue
 * @tail: submission tail
 * @head: completion head
 *
 * A dead device is not accessed.
 */
void gtu_queue_submit(struct gtu_queue *q, u32 tail, u32 head)
{
	rcu_read_lock();	/* no reset begins before the unlock */
	if (!gtu_ctx_dead(q->ctx))
		writeq(tail | (u64)head << 32, gtu_doorbell(q, GTU_DB_SUBMIT));
	rcu_read_unlock();
}

/**
 * gtu_queue_resume() - restore a queue after a system suspend
 * @q: the queue
 *
 * It continues at its saved position, with its rings unchanged.
 *
 * Return: 0, or -EOPNOTSUPP if the position is not 0 and the device lacks
 * GTU_CAP_SEEK, or another negative errno
 */
int gtu_queue_resume(struct gtu_queue *q)
{
	struct gtu_ctx *ctx = q->ctx;
	u32 index = q->saved.index, head = q->saved.head;
	int ret;

	lockdep_assert_held(&ctx->lock);
	if ((index || head) && !(ctx->gtu->caps & GTU_CAP_SEEK))
		return -EOPNOTSUPP;
	ret = gtu_queue_enable(q);
	if (!ret && (index || head))
		ret = GTU_MBOX(ctx, GTU_MBOX_QUEUE_SEEK, q->id, index, head);
	if (ret)
		return ret;
	if (q->saved.tail != index)
		gtu_queue_submit(q, q->saved.tail, head);
	spin_lock_irq(&q->wait_lock);
	q->seen.hang_reported = false;
	q->seen.since = jiffies;
	spin_unlock_irq(&q->wait_lock);
	return 0;
}

/**
 * gtu_queue_drop() - record that the device has dropped the queue's jobs
 * @q: the queue
 *
 * The queue reads GTU_QUEUE_DISABLED until its reset.
 */
void gtu_queue_drop(struct gtu_queue *q)
{
	WRITE_ONCE(q->status->state, cpu_to_le32(GTU_QUEUE_DISABLED));
	gtu_queue_dropped(q);
	gtu_submit_reset(q);
}

/**
 * gtu_queues_stop() - stop all jobs of the context
 * @ctx: the context
 *
 * Return: 0, or an error if a queue may still be running
 */
int gtu_queues_stop(struct gtu_ctx *ctx)
{
	struct gtu_queue *q;
	unsigned long id;
	int ret, first = 0;

	lockdep_assert_held(&ctx->lock);
	xa_for_each(&ctx->queue, id, q) {
		ret = gtu_queue_disable(q);
		if (!ret)
			gtu_queue_drop(q);
		else if (ret != -EALREADY)
			first = first ?: ret;
	}
	return first;
}

/**
 * gtu_queue_cancel() - cancel jobs of a queue
 * @ctx: the context
 * @id: id of the queue
 * @all: all that were submitted
 * @until: otherwise those before this index
 *
 * They complete with GTU_CPL_CANCELED, possibly after the return.
 *
 * Return: 0 or a negative errno, as ioctl(QUEUE_CANCEL)
 */
int gtu_queue_cancel(struct gtu_ctx *ctx, u32 id, bool all, u32 until)
{
	struct gtu_device *gtu = ctx->gtu;
	u64 result[GTU_MBOX_RESULTS];
	int ret = -ENOENT;

	if (!(gtu->caps & GTU_CAP_CANCEL))
		return -EOPNOTSUPP;
	if (mutex_lock_killable(&ctx->lock))
		return -EINTR;
	if (!xa_load(&ctx->queue, id))
		goto out;
	ret = 0;
	if (all) {
		ret = GTU_MBOX_QUERY(ctx, GTU_MBOX_QUEUE_STATE, result, id);
		until = result[0] >> 32;
	}
	if (!ret)
		ret = GTU_MBOX(ctx, GTU_MBOX_QUEUE_CANCEL, id, until);
	if (ret == -ETIMEDOUT)
		gtu_force_quiesce(ctx, "job cancellation timed out");
	if (ret)
		ret = gtu_ctx_dead(ctx) ? -ENODEV : ret == -EINVAL ? ret : -EIO;
out:
	mutex_unlock(&ctx->lock);
	return ret;
}
