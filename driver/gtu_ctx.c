// SPDX-License-Identifier: GPL-2.0-only
/* Contexts: creation, teardown and release of the resources of an open file. */
#include <linux/slab.h>

#include "gtu_drv.h"

static size_t gtu_table_bytes(struct gtu_ctx *ctx)
{
	return (size_t)ctx->slots * sizeof(struct gtu_hw_region);
}

static void gtu_ctx_release(struct kref *ref)
{
	struct gtu_ctx *ctx = container_of(ref, struct gtu_ctx, ref);

	xa_destroy(&ctx->queue);
	if (ctx->blank)
		__free_page(ctx->blank);
	kvfree(ctx->region);
	kvfree(ctx->generation);
	bitmap_free(ctx->used);
	put_device(&ctx->gtu->dev);
	kfree(ctx);
}

void gtu_ctx_put(struct gtu_ctx *ctx)
{
	kref_put(&ctx->ref, gtu_ctx_release);
}

/*
 * Register the context with the device. Under ctx->lock once the context is
 * published.
 */
int gtu_ctx_enable(struct gtu_ctx *ctx)
{
	return GTU_MBOX(ctx->gtu, ctx->epoch, GTU_MBOX_CTX_ENABLE, ctx->id, ctx->table_dma,
			ctx->gtu->regions_log2, 1);
}

struct gtu_ctx *gtu_ctx_create(struct gtu_device *gtu, struct address_space *mapping)
{
	struct gtu_ctx *ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM, id;

	if (!ctx)
		return ERR_PTR(-ENOMEM);
	kref_init(&ctx->ref);
	get_device(&gtu->dev);
	ctx->gtu = gtu;
	ctx->mapping = mapping;
	ctx->pid = task_tgid_nr(current);
	get_task_comm(ctx->comm, current);
	ctx->slots = 1u << gtu->regions_log2;
	mutex_init(&ctx->lock);
	mutex_init(&ctx->aperture_lock);
	INIT_LIST_HEAD(&ctx->link);
	init_waitqueue_head(&ctx->event_wait);
	spin_lock_init(&ctx->event_lock);
	INIT_LIST_HEAD(&ctx->ready);
	xa_init(&ctx->queue);
	ctx->used = bitmap_zalloc(ctx->slots, GFP_KERNEL_ACCOUNT);
	ctx->generation = kvcalloc(ctx->slots, sizeof(*ctx->generation), GFP_KERNEL_ACCOUNT);
	ctx->region = kvcalloc(ctx->slots, sizeof(*ctx->region), GFP_KERNEL_ACCOUNT);
	if (!ctx->used || !ctx->generation || !ctx->region)
		goto err_free;
	ctx->table = dma_alloc_coherent(gtu->parent, gtu_table_bytes(ctx), &ctx->table_dma,
					GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!ctx->table)
		goto err_free;
	id = ida_alloc_max(&gtu->ctx_ids, gtu->max_contexts - 1, GFP_KERNEL);
	if (id < 0) {
		ret = id;
		goto err_table;
	}
	ctx->id = id;
	/* A concurrent reset makes the epoch stale: retry with the new one. */
	do {
		ctx->epoch = gtu_epoch_now(gtu);
		if (!ctx->epoch) {
			/* The device does not know the context yet. */
			ret = -ENODEV;
			ida_free(&gtu->ctx_ids, id);
			goto err_table;
		}
		ret = gtu_ctx_enable(ctx);
	} while (ret == -ESTALE && READ_ONCE(gtu->state) == GTU_STATE_UP);
	if (ret)
		goto err_enable;
	spin_lock_irq(&gtu->ctx_lock);
	list_add_tail(&ctx->link, &gtu->contexts);
	spin_unlock_irq(&gtu->ctx_lock);
	return ctx;

err_enable:
	ret = ret == -ESTALE ? -ENODEV : ret;
	/* After a timeout the device may still execute the command. */
	if (ret == -EIO || gtu_force_quiesce(ctx, "context setup timed out"))
		ida_free(&gtu->ctx_ids, id);
	else
		goto err_leak;
err_table:
	dma_free_coherent(gtu->parent, gtu_table_bytes(ctx), ctx->table, ctx->table_dma);
err_leak:
err_free:
	gtu_ctx_put(ctx);
	return ERR_PTR(ret);
}

/*
 * Remove the context from the device and free its resources, once. Called by
 * the file's release and by device removal, in any order; both wait for
 * completion.
 */
void gtu_ctx_teardown(struct gtu_ctx *ctx)
{
	struct gtu_device *gtu = ctx->gtu;
	struct gtu_queue *q;
	unsigned long id;
	bool quiesced;

	mutex_lock(&ctx->lock);
	if (ctx->torn_down)
		goto out;
	ctx->torn_down = true;
	/* Also disables the queues and drops running jobs. */
	quiesced = !GTU_MBOX(gtu, ctx->epoch, GTU_MBOX_CTX_DISABLE, ctx->id) ||
		   gtu_force_quiesce(ctx, "context teardown timed out");
	xa_for_each(&ctx->queue, id, q) {
		xa_erase(&ctx->queue, id);
		gtu_queue_kill(q, quiesced);
		gtu_queue_put(q);
	}
	gtu_aperture_unmap(ctx);
	gtu_region_drop_all(ctx, quiesced);
	if (quiesced) {
		dma_free_coherent(gtu->parent, gtu_table_bytes(ctx), ctx->table, ctx->table_dma);
		ida_free(&gtu->ctx_ids, ctx->id);
	}
out:
	mutex_unlock(&ctx->lock);
}

/* The file is released; its jobs may still be running. */
void gtu_ctx_close(struct gtu_ctx *ctx)
{
	struct gtu_device *gtu = ctx->gtu;

	gtu_ctx_teardown(ctx);
	/*
	 * Unlink after the teardown: remove() finds contexts in teardown here
	 * and waits for them.
	 */
	spin_lock_irq(&gtu->ctx_lock);
	list_del_init(&ctx->link);
	spin_unlock_irq(&gtu->ctx_lock);
	gtu_ctx_put(ctx);
}
