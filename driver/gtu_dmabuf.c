// SPDX-License-Identifier: GPL-2.0-only
/*
 * dma-buf export of driver buffers, and import as regions. Jobs attach no
 * fences: users who share memory between devices must wait for completions.
 */
#include <linux/dma-resv.h>
#include <linux/highmem.h>
#include <linux/iosys-map.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "gtu_drv.h"

GTU_IMPORT_DMA_BUF();

/*
 * Several devices may have the buffer mapped. Explicit syncs, not map calls,
 * transfer ownership.
 */
#define GTU_REMAP_MS	100u	/* until memory is mapped again after a failure, first and last */
#define GTU_REMAP_MAX_MS	5000u
#define GTU_EXPORT_ATTRS DMA_ATTR_SKIP_CPU_SYNC

/* An attached importer, with its own table of the pages. */
struct gtu_attachment {
	struct list_head link;		/* under buffer->lock */
	struct device *dev;
	struct sg_table sgt;
	enum dma_data_direction dir;	/* DMA_NONE: not mapped */
};

static bool gtu_export_writable(struct dma_buf *dmabuf)
{
	return dmabuf->file->f_mode & FMODE_WRITE;
}

static int gtu_export_attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	struct gtu_buffer *b = dmabuf->priv;
	unsigned int segment = max_t(unsigned int, dma_get_max_seg_size(attach->dev), PAGE_SIZE);
	struct gtu_attachment *a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!a)
		return -ENOMEM;
	ret = sg_alloc_table_from_pages_segment(&a->sgt, b->page, b->pages, 0,
						b->pages << PAGE_SHIFT, segment,
						GFP_KERNEL_ACCOUNT);
	if (ret) {
		kfree(a);
		return ret;
	}
	a->dev = attach->dev;
	a->dir = DMA_NONE;
	attach->priv = a;
	mutex_lock(&b->lock);
	list_add(&a->link, &b->attachments);
	mutex_unlock(&b->lock);
	return 0;
}

static void gtu_export_detach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	struct gtu_buffer *b = dmabuf->priv;
	struct gtu_attachment *a = attach->priv;

	mutex_lock(&b->lock);
	list_del(&a->link);
	mutex_unlock(&b->lock);
	sg_free_table(&a->sgt);
	kfree(a);
}

static struct sg_table *gtu_export_map(struct dma_buf_attachment *attach,
				       enum dma_data_direction dir)
{
	struct gtu_buffer *b = attach->dmabuf->priv;
	struct gtu_attachment *a = attach->priv;
	int ret;

	/* A read-only file gives a device no write access either. */
	if (dir != DMA_TO_DEVICE && !gtu_export_writable(attach->dmabuf))
		return ERR_PTR(-EACCES);
	mutex_lock(&b->lock);
	ret = a->dir == DMA_NONE ? dma_map_sgtable(a->dev, &a->sgt, dir, GTU_EXPORT_ATTRS) :
				   -EBUSY;
	if (!ret) {
		a->dir = dir;
		dma_sync_sgtable_for_device(a->dev, &a->sgt, dir);
	}
	mutex_unlock(&b->lock);
	return ret ? ERR_PTR(ret) : &a->sgt;
}

static void gtu_export_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			     enum dma_data_direction dir)
{
	struct gtu_buffer *b = attach->dmabuf->priv;
	struct gtu_attachment *a = attach->priv;

	mutex_lock(&b->lock);
	dma_sync_sgtable_for_cpu(a->dev, sgt, dir);
	dma_unmap_sgtable(a->dev, sgt, dir, GTU_EXPORT_ATTRS);
	a->dir = DMA_NONE;
	mutex_unlock(&b->lock);
}

static int gtu_export_sync(struct dma_buf *dmabuf,
			   void (*sync)(struct device *, struct sg_table *,
					enum dma_data_direction))
{
	struct gtu_buffer *b = dmabuf->priv;
	struct gtu_attachment *a;

	mutex_lock(&b->lock);
	list_for_each_entry(a, &b->attachments, link)
		if (a->dir != DMA_NONE)
			sync(a->dev, &a->sgt, a->dir);
	mutex_unlock(&b->lock);
	return 0;
}

static int gtu_export_begin(struct dma_buf *dmabuf, enum dma_data_direction dir)
{
	return gtu_export_sync(dmabuf, dma_sync_sgtable_for_cpu);
}

static int gtu_export_end(struct dma_buf *dmabuf, enum dma_data_direction dir)
{
	return gtu_export_sync(dmabuf, dma_sync_sgtable_for_device);
}

/*
 * The VMA may belong to another driver's writable file: the mode of the dma-buf
 * counts.
 */
static int gtu_export_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct gtu_buffer *b = dmabuf->priv;
	vm_flags_t clear = VM_MAYEXEC;

	/* VM_SHARED is not set for files opened read-only */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;
	if (!gtu_export_writable(dmabuf)) {
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		clear |= VM_MAYWRITE;
	}
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, clear);
	return vm_map_pages(vma, b->page, b->pages);
}

static int gtu_export_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct gtu_buffer *b = dmabuf->priv;
	void *at = vmap(b->page, b->pages, VM_MAP,
			gtu_export_writable(dmabuf) ? PAGE_KERNEL : PAGE_KERNEL_RO);

	if (!at)
		return -ENOMEM;
	iosys_map_set_vaddr(map, at);
	return 0;
}

static void gtu_export_vunmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	vunmap(map->vaddr);
}

static void gtu_export_release(struct dma_buf *dmabuf)
{
	gtu_buffer_put(dmabuf->priv);
}

static const struct dma_buf_ops gtu_export_ops = {
	.attach = gtu_export_attach,
	.detach = gtu_export_detach,
	.map_dma_buf = gtu_export_map,
	.unmap_dma_buf = gtu_export_unmap,
	.begin_cpu_access = gtu_export_begin,
	.end_cpu_access = gtu_export_end,
	.mmap = gtu_export_mmap,
	.vmap = gtu_export_vmap,
	.vunmap = gtu_export_vunmap,
	.release = gtu_export_release,
};

/**
 * gtu_buffer_export() - export a driver buffer or aperture memory as a dma-buf
 * @ctx: the context
 * @key: key of the region
 * @rights: GTU_RIGHT_*
 *
 * Return: the dma-buf, or an ERR_PTR()
 */
struct dma_buf *gtu_buffer_export(struct gtu_ctx *ctx, u32 key, u32 rights)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct gtu_extent *p = NULL;
	struct gtu_buffer *b = NULL;
	struct dma_buf *dmabuf;
	struct gtu_region *r;

	if (mutex_lock_killable(&ctx->lock))
		return ERR_PTR(-EINTR);
	r = gtu_region_find(ctx, key);
	if (r) {
		b = r->buffer;
		p = r->extent;
	}
	if (b)
		kref_get(&b->ref);
	if (p)
		kref_get(&p->ref);
	mutex_unlock(&ctx->lock);
	if (p)
		return gtu_extent_export(p, rights);
	if (!b)
		return ERR_PTR(r ? -EINVAL : -ENOENT);
	info.ops = &gtu_export_ops;
	info.size = b->pages << PAGE_SHIFT;
	info.flags = rights & GTU_RIGHT_WRITE ? O_RDWR : O_RDONLY;
	info.priv = b;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf))
		gtu_buffer_put(b);
	return dmabuf;
}

/*
 * Exporters return any error. Map most of them to "this device cannot use the
 * memory".
 */
static int gtu_import_error(long error)
{
	switch (error) {
	case -ENOMEM:
	case -EACCES:
	case -EINTR:
	case -ERESTARTSYS:
		return error;
	default:
		return -EOPNOTSUPP;
	}
}

/* An imported dma-buf that its exporter may move. Protected by the dma-buf's dma_resv. */
struct gtu_moving {
	struct gtu_ctx *ctx;
	struct gtu_region *region;
	struct delayed_work remap;
	unsigned int delay_ms;		/* of the next try; 0: the last one did not fail */
	bool ending;
};

/* Map the attachment, under the dma_resv of a dma-buf that can move. */
static int gtu_import_map(struct gtu_ctx *ctx, struct gtu_region *r)
{
	struct sg_table *sgt;
	int ret;

	/* the memory may be on its way */
	if (dma_resv_wait_timeout(r->attach->dmabuf->resv, DMA_RESV_USAGE_KERNEL, true,
				  MAX_SCHEDULE_TIMEOUT) < 0)
		return -EINTR;
	sgt = dma_buf_map_attachment(r->attach, r->dir);
	if (IS_ERR(sgt))
		return gtu_import_error(PTR_ERR(sgt));
	ret = gtu_mapped_check(ctx->gtu->parent, sgt, r->length);
	if (ret)
		dma_buf_unmap_attachment(r->attach, sgt, r->dir);
	else
		r->sgt = sgt;
	return ret;
}

/* Unmap the attachment and free its page list: the device does not use them. */
static void gtu_import_unmap(struct gtu_ctx *ctx, struct gtu_region *r)
{
	dma_buf_unmap_attachment(r->attach, r->sgt, r->dir);
	r->sgt = NULL;
	gtu_list_free(ctx, &r->list);
}

static void gtu_import_remap(struct work_struct *work)
{
	struct gtu_moving *m = container_of(to_delayed_work(work), struct gtu_moving, remap);
	struct dma_resv *resv = m->region->attach->dmabuf->resv;
	int inside = gtu_enter(m->ctx), ret = 0;
	unsigned int again = 0;

	if (inside < 0)
		return;
	dma_resv_lock(resv, NULL);
	if (!m->ending && !m->region->sgt) {
		ret = gtu_import_map(m->ctx, m->region);
		if (!ret) {
			ret = gtu_region_restore(m->ctx, m->region);
			if (ret)
				gtu_import_unmap(m->ctx, m->region);
		}
		/* an exporter moves memory when there is little of it */
		again = m->delay_ms;
		m->delay_ms = ret == -ENOMEM ? clamp(2 * again, GTU_REMAP_MS, GTU_REMAP_MAX_MS) : 0;
		if (m->delay_ms)
			schedule_delayed_work(&m->remap, msecs_to_jiffies(m->delay_ms));
	}
	dma_resv_unlock(resv);
	gtu_leave(m->ctx, inside);
	if (ret && !again)
		dev_err_ratelimited(m->ctx->gtu->parent,
				    "cannot map a dma-buf after its move: %d\n", ret);
}

/*
 * The exporter moves the memory when this returns, and maps it again only then. It
 * may call again when memory that could not be mapped is back.
 */
static void gtu_import_moved(struct dma_buf_attachment *attach)
{
	struct gtu_moving *m = attach->importer_priv;

	if (m->ending)
		return;
	if (m->region->sgt) {
		if (!gtu_region_retract(m->ctx, m->region))
			return;
		gtu_import_unmap(m->ctx, m->region);
	}
	/*
	 * A region that is not published yet is mapped then. Its attachment may not even be
	 * stored: the exporter can move the memory before dma_buf_dynamic_attach() returns.
	 */
	if (m->region->key)
		mod_delayed_work(system_wq, &m->remap, 0);
}

/**
 * gtu_import_resume() - map dma-bufs that moved while the device was suspended
 * @ctx: the context, which is enabled again; its lock is held
 */
void gtu_import_resume(struct gtu_ctx *ctx)
{
	u32 slot;

	lockdep_assert_held(&ctx->lock);
	for_each_set_bit(slot, ctx->used, ctx->slots)
		if (ctx->region[slot] && ctx->region[slot]->moving)
			mod_delayed_work(system_wq, &ctx->region[slot]->moving->remap, 0);
}

static const struct dma_buf_attach_ops gtu_import_ops = {
	.allow_peer2peer = true,	/* the driver uses no pages of them */
	.GTU_MOVE_NOTIFY = gtu_import_moved,
};

/**
 * gtu_import_lockdep() - teach lockdep which locks gtu_import_moved() takes
 * @ctx: a new context
 *
 * An exporter also moves memory when the kernel reclaims some: no allocation may
 * wait for that under these locks.
 */
void gtu_import_lockdep(struct gtu_ctx *ctx)
{
	struct gtu_device *gtu = ctx->gtu;

	/* every dma_resv is of one class */
	dma_resv_lock(&gtu->peer_resv, NULL);
	fs_reclaim_acquire(GFP_KERNEL);
	might_lock(&ctx->lock);
	might_lock(&gtu->dump_lock);
	might_lock(&ctx->user->turn);
	might_lock(&gtu->mbox_lock);
	might_lock(&gtu->map_lock);
	fs_reclaim_release(GFP_KERNEL);
	dma_resv_unlock(&gtu->peer_resv);
}

/**
 * gtu_import_hold() - keep the memory of a moving dma-buf where it is, mapped
 * @r: the region
 *
 * Until gtu_import_release().
 *
 * Return: 0 or a negative errno
 */
int gtu_import_hold(struct gtu_region *r)
{
	struct dma_buf *dmabuf = r->attach->dmabuf;
	int ret;

	/* who removes the region must not free the lock that is being released */
	get_dma_buf(dmabuf);
	dma_resv_lock(dmabuf->resv, NULL);
	ret = r->sgt ? 0 : gtu_import_map(r->moving->ctx, r);
	if (ret) {
		dma_resv_unlock(dmabuf->resv);
		dma_buf_put(dmabuf);
	}
	return ret;
}

/**
 * gtu_import_release() - let the exporter of a held dma-buf move it again
 * @r: the region
 */
void gtu_import_release(struct gtu_region *r)
{
	struct dma_buf *dmabuf = r->attach->dmabuf;

	dma_resv_unlock(dmabuf->resv);
	dma_buf_put(dmabuf);
}

/*
 * Attach as importer that follows moves, if the exporter makes them and the
 * device checks accesses, so that it may lose a region at any time.
 */
static int gtu_import_attach_moving(struct gtu_ctx *ctx, struct gtu_region *r,
				    struct dma_buf *dmabuf)
{
	struct gtu_moving *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	struct dma_buf_attachment *attach;

	if (!m)
		return -ENOMEM;
	m->ctx = ctx;
	m->region = r;
	INIT_DELAYED_WORK(&m->remap, gtu_import_remap);
	attach = dma_buf_dynamic_attach(dmabuf, ctx->gtu->parent, &gtu_import_ops, m);
	if (IS_ERR(attach)) {
		kfree(m);
		return gtu_import_error(PTR_ERR(attach));
	}
	r->attach = attach;
	r->moving = m;
	return 0;
}

static int gtu_import_attach(struct gtu_ctx *ctx, struct gtu_region *r, struct dma_buf *dmabuf)
{
	/* such importers get no memory of another device */
	struct dma_buf_attachment *attach = dma_buf_attach(dmabuf, ctx->gtu->parent);
	struct sg_table *sgt;

	if (IS_ERR(attach))
		return gtu_import_error(PTR_ERR(attach));
	r->attach = attach;
	sgt = dma_buf_map_attachment_unlocked(attach, r->dir);
	if (IS_ERR(sgt))
		return gtu_import_error(PTR_ERR(sgt));
	r->sgt = sgt;
	return gtu_mapped_check(ctx->gtu->parent, sgt, r->length);
}

/**
 * gtu_region_import() - attach a dma-buf and map it for the device
 * @ctx: the context
 * @fd: file descriptor of the dma-buf
 * @rights: GTU_RIGHT_*
 *
 * One that may move is mapped when it is published.
 *
 * Return: the region, or an ERR_PTR()
 */
struct gtu_region *gtu_region_import(struct gtu_ctx *ctx, int fd, u32 rights)
{
	struct dma_buf *dmabuf;
	struct gtu_region *r;
	int ret;

	dmabuf = dma_buf_get(fd);
	if (IS_ERR(dmabuf))
		return ERR_PTR(-EBADF);
	ret = -EACCES;
	if (rights & GTU_RIGHT_WRITE && !(dmabuf->file->f_mode & FMODE_WRITE))
		goto err_put;
	ret = -ENOMEM;
	r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	if (!r)
		goto err_put;
	r->rights = rights;
	r->length = dmabuf->size;
	r->pages = PAGE_ALIGN(dmabuf->size) >> PAGE_SHIFT;
	r->dir = gtu_direction(rights);
	if (dma_buf_is_dynamic(dmabuf) && ctx->gtu->caps & GTU_CAP_REGIONS)
		ret = gtu_import_attach_moving(ctx, r, dmabuf);
	else
		ret = gtu_import_attach(ctx, r, dmabuf);
	if (!ret)
		return r;
	if (r->attach) {
		gtu_region_free(ctx, r, true);
		return ERR_PTR(ret);
	}
	kfree(r);
err_put:
	dma_buf_put(dmabuf);
	return ERR_PTR(ret);
}

/**
 * gtu_import_free() - unmap and release the dma-buf of a region
 * @r: the region
 *
 * The device must not use it any more.
 */
void gtu_import_free(struct gtu_region *r)
{
	struct dma_buf *dmabuf = r->attach->dmabuf;
	struct gtu_moving *m = r->moving;

	if (m) {
		dma_resv_lock(dmabuf->resv, NULL);
		m->ending = true;
		if (r->sgt)
			gtu_import_unmap(m->ctx, r);
		dma_resv_unlock(dmabuf->resv);
		cancel_delayed_work_sync(&m->remap);
	} else if (r->sgt) {
		dma_buf_unmap_attachment_unlocked(r->attach, r->sgt, r->dir);
	}
	dma_buf_detach(dmabuf, r->attach);
	dma_buf_put(dmabuf);
	kfree(m);
}
