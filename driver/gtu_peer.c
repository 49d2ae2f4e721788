// SPDX-License-Identifier: GPL-2.0-only
/*
 * dma-buf export of aperture memory to other devices on the PCI bus
 * (peer-to-peer). The memory has no struct page: importers get its DMA address.
 *
 * All exports of a device share one dma_resv, which protects their list, the
 * count of mappings and whether they are stopped.
 */
#include <linux/dma-resv.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "gtu_drv.h"

#define GTU_PEER_SEGMENT	SZ_1G
#define GTU_PEER_TIMEOUT	(2 * HZ)

/* An exported range of the aperture. */
struct gtu_peer_export {
	struct list_head link;		/* in gtu->peer_exports */
	struct dma_buf *dmabuf;
	struct gtu_extent *extent;	/* with a reference, also to its context */
};

static struct gtu_device *gtu_peer_device(struct dma_buf *dmabuf)
{
	struct gtu_peer_export *e = dmabuf->priv;

	return e->extent->ctx->gtu;
}

/* Why the importer cannot use the memory, or NULL. */
static const char *gtu_peer_refusal(struct gtu_device *gtu, struct dma_buf_attachment *attach)
{
	if (gtu->peers_stopped)
		return "the device is stopped";
	if (!attach->peer2peer)
		return "the importer does not allow peer-to-peer";
	if (attach->dev == gtu->parent)
		return "the importer is the device itself";
	if (!gtu->bus->reaches(gtu, attach->dev))
		return "the host has no peer-to-peer path to the importer";
	return NULL;
}

static int gtu_peer_attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	struct gtu_device *gtu = gtu_peer_device(dmabuf);
	const char *why;

	dma_resv_lock(&gtu->peer_resv, NULL);
	why = gtu_peer_refusal(gtu, attach);
	dma_resv_unlock(&gtu->peer_resv);
	if (!why)
		return 0;
	pr_notice_ratelimited("%s: the driver refuses an importer of aperture memory, %s: %s\n",
			      dev_name(&gtu->dev), why, dev_name(attach->dev));
	return -EOPNOTSUPP;
}

/*
 * Kernels that do not move imports pin what importers map. On others, importers that
 * pin memory are refused, because they would keep it when the device is removed.
 */
static int gtu_peer_pin(struct dma_buf_attachment *attach)
{
	return GTU_MOVES_IMPORTS ? -EOPNOTSUPP : 0;
}

static void gtu_peer_unpin(struct dma_buf_attachment *attach)
{
}

static void gtu_peer_free(struct device *dev, struct sg_table *sgt, unsigned int mapped,
			  enum dma_data_direction dir)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (i == mapped)
			break;
		dma_unmap_resource(dev, sg_dma_address(sg), sg_dma_len(sg), dir,
				   DMA_ATTR_SKIP_CPU_SYNC);
	}
	sg_free_table(sgt);
	kfree(sgt);
}

static struct sg_table *gtu_peer_map(struct dma_buf_attachment *attach,
				     enum dma_data_direction dir)
{
	struct gtu_peer_export *e = attach->dmabuf->priv;
	struct gtu_device *gtu = e->extent->ctx->gtu;
	size_t segment = min_t(size_t, dma_get_max_seg_size(attach->dev), GTU_PEER_SEGMENT);
	phys_addr_t at = gtu->aperture_phys + ((u64)e->extent->first << PAGE_SHIFT);
	size_t left = e->extent->pages << PAGE_SHIFT;
	struct scatterlist *sg;
	struct sg_table *sgt;
	unsigned int i;
	int ret;

	if (gtu->peers_stopped || READ_ONCE(gtu->state) != GTU_STATE_UP ||
	    e->extent->ctx->aperture_lost)
		return ERR_PTR(-ENODEV);
	/* A read-only file gives a device no write access either. */
	if (dir != DMA_TO_DEVICE && !(attach->dmabuf->file->f_mode & FMODE_WRITE))
		return ERR_PTR(-EACCES);
	segment = max_t(size_t, segment & PAGE_MASK, PAGE_SIZE);
	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL_ACCOUNT);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table(sgt, DIV_ROUND_UP(left, segment), GFP_KERNEL_ACCOUNT);
	if (ret) {
		kfree(sgt);
		return ERR_PTR(ret);
	}
	for_each_sgtable_sg(sgt, sg, i) {
		size_t bytes = min(left, segment);
		dma_addr_t dma = dma_map_resource(attach->dev, at, bytes, dir,
						  DMA_ATTR_SKIP_CPU_SYNC);

		if (dma_mapping_error(attach->dev, dma)) {
			gtu_peer_free(attach->dev, sgt, i, dir);
			return ERR_PTR(-EIO);
		}
		sg_set_page(sg, NULL, bytes, 0);
		sg_dma_address(sg) = dma;
		sg_dma_len(sg) = bytes;
		at += bytes;
		left -= bytes;
	}
	gtu->peers_mapped++;
	return sgt;
}

static void gtu_peer_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			   enum dma_data_direction dir)
{
	struct gtu_device *gtu = gtu_peer_device(attach->dmabuf);

	gtu_peer_free(attach->dev, sgt, sgt->nents, dir);
	WRITE_ONCE(gtu->peers_mapped, gtu->peers_mapped - 1);
	smp_mb(); /* pairs with prepare_to_wait_event() in gtu_peers_stop() */
	wake_up_var(&gtu->peers_mapped);
}

static void gtu_peer_put(struct gtu_extent *p)
{
	struct gtu_ctx *ctx = p->ctx;

	gtu_extent_put(p);
	gtu_ctx_put(ctx);
}

static void gtu_peer_release(struct dma_buf *dmabuf)
{
	struct gtu_device *gtu = gtu_peer_device(dmabuf);
	struct gtu_peer_export *e = dmabuf->priv;

	dma_resv_lock(&gtu->peer_resv, NULL);
	list_del(&e->link);
	dma_resv_unlock(&gtu->peer_resv);
	gtu_peer_put(e->extent);
	kfree(e);
}

static const struct dma_buf_ops gtu_peer_ops = {
	.attach = gtu_peer_attach,
	.pin = gtu_peer_pin,
	.unpin = gtu_peer_unpin,
	.map_dma_buf = gtu_peer_map,
	.unmap_dma_buf = gtu_peer_unmap,
	.release = gtu_peer_release,
};

/**
 * gtu_extent_export() - export a range of the aperture as a dma-buf
 * @p: the extent, with a reference that the dma-buf takes over, also on failure
 * @rights: GTU_RIGHT_*
 *
 * Called between gtu_enter() and gtu_leave().
 *
 * Return: the dma-buf, or an ERR_PTR()
 */
struct dma_buf *gtu_extent_export(struct gtu_extent *p, u32 rights)
{
	struct gtu_device *gtu = p->ctx->gtu;
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct gtu_peer_export *e;
	struct dma_buf *dmabuf;

	kref_get(&p->ctx->ref);
	if (!IS_ENABLED(CONFIG_PCI_P2PDMA) || !gtu->bus->reaches) {
		dev_notice_ratelimited(gtu->parent,
				       "the driver cannot export aperture memory: %s\n",
				       gtu->bus->reaches ? "the kernel has no CONFIG_PCI_P2PDMA" :
							   "the device is not on a PCI bus");
		gtu_peer_put(p);
		return ERR_PTR(-EOPNOTSUPP);
	}
	e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	if (!e) {
		gtu_peer_put(p);
		return ERR_PTR(-ENOMEM);
	}
	e->extent = p;
	info.ops = &gtu_peer_ops;
	info.size = p->pages << PAGE_SHIFT;
	info.flags = rights & GTU_RIGHT_WRITE ? O_RDWR : O_RDONLY;
	info.resv = &gtu->peer_resv;
	info.priv = e;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		gtu_peer_put(p);
		kfree(e);
		return dmabuf;
	}
	e->dmabuf = dmabuf;
	dma_resv_lock(&gtu->peer_resv, NULL);
	list_add(&e->link, &gtu->peer_exports);
	dma_resv_unlock(&gtu->peer_resv);
	return dmabuf;
}

/* Importers unmap the memory, or find that they can map it again. */
static void gtu_peers_notify(struct gtu_device *gtu, bool stopped)
{
	struct gtu_peer_export *e;

	dma_resv_lock(&gtu->peer_resv, NULL);
	gtu->peers_stopped = stopped;
	list_for_each_entry(e, &gtu->peer_exports, link)
		dma_buf_invalidate_mappings(e->dmabuf);
	if (stopped)
		dma_resv_wait_timeout(&gtu->peer_resv, DMA_RESV_USAGE_BOOKKEEP, false,
				      GTU_PEER_TIMEOUT);
	dma_resv_unlock(&gtu->peer_resv);
}

/**
 * gtu_peers_stop() - make other devices stop using the aperture
 * @gtu: the device
 *
 * Importers cannot map it any more, and are asked to unmap it. The driver cannot
 * force them, and does not wait for longer than some seconds.
 */
void gtu_peers_stop(struct gtu_device *gtu)
{
	gtu_peers_notify(gtu, true);
	if (!wait_var_event_timeout(&gtu->peers_mapped, !READ_ONCE(gtu->peers_mapped),
				    GTU_PEER_TIMEOUT))
		dev_warn(gtu->parent, "other devices still map the aperture: %u mappings\n",
			 READ_ONCE(gtu->peers_mapped));
}

/**
 * gtu_peers_start() - undo gtu_peers_stop()
 * @gtu: the device
 */
void gtu_peers_start(struct gtu_device *gtu)
{
	gtu_peers_notify(gtu, false);
}

/**
 * gtu_peers_init() - prepare exports of the aperture
 * @gtu: the device
 */
void gtu_peers_init(struct gtu_device *gtu)
{
	dma_resv_init(&gtu->peer_resv);
	INIT_LIST_HEAD(&gtu->peer_exports);
}

/**
 * gtu_peers_fini() - undo gtu_peers_init() when no export is left
 * @gtu: the device
 */
void gtu_peers_fini(struct gtu_device *gtu)
{
	dma_resv_fini(&gtu->peer_resv);
}
