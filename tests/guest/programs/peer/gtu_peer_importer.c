// SPDX-License-Identifier: GPL-2.0-only
/*
 * An importer of dma-bufs for tests: /dev/gtu_peer attaches a dma-buf for any PCI function, maps it, and
 * reports the address that the function would use. It gives the mapping up when the exporter moves the
 * memory. One dma-buf an open file.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#ifdef GTU_HAS_INVALIDATE_MAPPINGS
#define MOVE_NOTIFY	invalidate_mappings
#else
#define MOVE_NOTIFY	move_notify
#endif

/* not 1 and 2 alone: the kernel answers these for every file (FIBMAP, FIGETBSZ) */
#define PEER_ATTACH	_IO(0xE8, 17)	/* argument: struct peer_ioctl; attaches and maps */
#define PEER_STATE	_IO(0xE8, 18)	/* argument: struct peer_ioctl, of which only the outputs are used */

#define PEER_WORD	_IO(0xE8, 19)	/* argument: struct peer_word; accesses a dma-buf through a mapping of the kernel */

#define PEER_ALLOW	1	/* the importer allows peer-to-peer */
#define PEER_STATIC	2	/* the importer does not follow moves */
#define PEER_READ	4	/* map for reading only */

struct peer_ioctl {
	__s32 fd;
	__u32 flags;
	char function[32];
	__u64 address, bytes;	/* out: of the first segment; of all */
	__u32 segments, notified, mapped, reserved;	/* out */
};

struct peer_word {
	__s32 fd;
	__u32 write;
	__u64 offset, value;
};

struct peer {
	struct mutex lock;
	struct device *dev;
	struct dma_buf_attachment *attach;
	enum dma_data_direction dir;
	struct sg_table *sgt;		/* under the dma_resv, with notified */
	unsigned int notified;
};

static void peer_unmap(struct peer *p)
{
	if (p->sgt)
		dma_buf_unmap_attachment(p->attach, p->sgt, p->dir);
	p->sgt = NULL;
}

static void peer_moved(struct dma_buf_attachment *attach)
{
	struct peer *p = attach->importer_priv;

	p->notified++;
	peer_unmap(p);
}

static const struct dma_buf_attach_ops peer_allows = {
	.allow_peer2peer = true,
	.MOVE_NOTIFY = peer_moved,
};

static const struct dma_buf_attach_ops peer_follows = {
	.MOVE_NOTIFY = peer_moved,
};

static void peer_detach(struct peer *p)
{
	struct dma_buf *dmabuf;

	if (p->attach) {
		dmabuf = p->attach->dmabuf;
		dma_resv_lock(dmabuf->resv, NULL);
		peer_unmap(p);
		dma_resv_unlock(dmabuf->resv);
		dma_buf_detach(dmabuf, p->attach);
		dma_buf_put(dmabuf);
	}
	p->attach = NULL;
	put_device(p->dev);
	p->dev = NULL;
}

static int peer_attach(struct peer *p, struct peer_ioctl *a)
{
	struct dma_buf_attachment *attach;
	struct dma_buf *dmabuf;
	struct sg_table *sgt;
	int ret = 0;

	if (p->attach)
		return -EBUSY;
	a->function[sizeof(a->function) - 1] = 0;
	p->dev = bus_find_device_by_name(&pci_bus_type, NULL, a->function);
	if (!p->dev)
		return -ENODEV;
	p->notified = 0;
	p->dir = a->flags & PEER_READ ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
	dmabuf = dma_buf_get(a->fd);
	attach = IS_ERR(dmabuf) ? ERR_CAST(dmabuf) :
		 a->flags & PEER_STATIC ? dma_buf_attach(dmabuf, p->dev) :
		 dma_buf_dynamic_attach(dmabuf, p->dev, a->flags & PEER_ALLOW ? &peer_allows : &peer_follows,
					p);
	if (IS_ERR(attach)) {
		if (!IS_ERR(dmabuf))
			dma_buf_put(dmabuf);
		put_device(p->dev);
		p->dev = NULL;
		return PTR_ERR(attach);
	}
	p->attach = attach;
	dma_resv_lock(dmabuf->resv, NULL);
	sgt = dma_buf_map_attachment(attach, p->dir);
	if (IS_ERR(sgt))
		ret = PTR_ERR(sgt);
	else
		p->sgt = sgt;
	dma_resv_unlock(dmabuf->resv);
	if (ret)
		peer_detach(p);
	return ret;
}

static void peer_state(struct peer *p, struct peer_ioctl *a)
{
	struct scatterlist *sg;
	unsigned int i;

	dma_resv_lock(p->attach->dmabuf->resv, NULL);
	a->address = p->sgt ? sg_dma_address(p->sgt->sgl) : 0;
	a->bytes = 0;
	a->segments = p->sgt ? p->sgt->nents : 0;
	a->mapped = !!p->sgt;
	a->notified = p->notified;
	if (p->sgt)
		for_each_sgtable_dma_sg(p->sgt, sg, i)
			a->bytes += sg_dma_len(sg);
	dma_resv_unlock(p->attach->dmabuf->resv);
}

static int peer_word(struct peer_word *w)
{
	struct dma_buf *dmabuf = dma_buf_get(w->fd);
	struct iosys_map map;
	int ret;

	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	if (w->offset % 8 || w->offset + 8 > dmabuf->size) {
		dma_buf_put(dmabuf);
		return -EINVAL;
	}
	dma_resv_lock(dmabuf->resv, NULL);
	ret = dma_buf_vmap(dmabuf, &map);
	if (!ret) {
		if (w->write)
			iosys_map_wr(&map, w->offset, u64, w->value);
		else
			w->value = iosys_map_rd(&map, w->offset, u64);
		dma_buf_vunmap(dmabuf, &map);
	}
	dma_resv_unlock(dmabuf->resv);
	dma_buf_put(dmabuf);
	return ret;
}

static long peer_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct peer *p = file->private_data;
	struct peer_ioctl a;
	struct peer_word w;
	int ret;

	if (cmd == PEER_WORD) {
		if (copy_from_user(&w, (void __user *)arg, sizeof(w)))
			return -EFAULT;
		ret = peer_word(&w);
		return ret ?: copy_to_user((void __user *)arg, &w, sizeof(w)) ? -EFAULT : 0;
	}
	if (copy_from_user(&a, (void __user *)arg, sizeof(a)))
		return -EFAULT;
	mutex_lock(&p->lock);
	ret = cmd == PEER_ATTACH ? peer_attach(p, &a) : cmd != PEER_STATE ? -ENOTTY : p->attach ? 0 : -ENOENT;
	if (!ret)
		peer_state(p, &a);
	mutex_unlock(&p->lock);
	if (!ret && copy_to_user((void __user *)arg, &a, sizeof(a)))
		ret = -EFAULT;
	return ret;
}

static int peer_open(struct inode *inode, struct file *file)
{
	struct peer *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	mutex_init(&p->lock);
	file->private_data = p;
	return 0;
}

static int peer_release(struct inode *inode, struct file *file)
{
	struct peer *p = file->private_data;

	peer_detach(p);
	kfree(p);
	return 0;
}

/* Maps the dma-buf whose descriptor is the page offset: the mapping's file is that of /dev/gtu_peer. */
static int peer_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct dma_buf *dmabuf = dma_buf_get(vma->vm_pgoff);
	int ret;

	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	ret = dma_buf_mmap(dmabuf, vma, 0);
	dma_buf_put(dmabuf);
	return ret;
}

static const struct file_operations peer_fops = {
	.owner = THIS_MODULE,
	.open = peer_open,
	.release = peer_release,
	.mmap = peer_mmap,
	.unlocked_ioctl = peer_ioctl,
	.compat_ioctl = peer_ioctl,
};

static struct miscdevice peer_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "gtu_peer",
	.fops = &peer_fops,
};
module_misc_device(peer_device);

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
MODULE_IMPORT_NS(DMA_BUF);
#else
MODULE_IMPORT_NS("DMA_BUF");
#endif
MODULE_DESCRIPTION("an importer of dma-bufs, for tests of GTU");
MODULE_LICENSE("GPL");
