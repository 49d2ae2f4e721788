// SPDX-License-Identifier: GPL-2.0-only
/*
 * An exporter of dma-bufs for tests: /dev/gtu_moving moves the memory of a dma-buf on request, also
 * where the kernel pins the memory of dynamic importers (without CONFIG_DMABUF_MOVE_NOTIFY).
 */
#include <linux/delay.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/file.h>
#include <linux/kprobes.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#ifndef GTU_HAS_INVALIDATE_MAPPINGS
#define dma_buf_invalidate_mappings dma_buf_move_notify
#endif

/* not 1 and 2 alone: the kernel answers these for every file (FIBMAP, FIGETBSZ) */
#define MOVING_CREATE	_IO(0xE8, 1)	/* argument: pages, or'ed with MOVING_ODD; returns a dma-buf */
/*
 * Argument: struct moving_word. Uses fd, sets value to the number of moves. write: moves the memory at the next sleep of the
 * system, when the devices have been suspended.
 */
#define MOVING_MOVE	_IO(0xE8, 2)
#define MOVING_WORD	_IO(0xE8, 3)	/* argument: struct moving_word */
#define MOVING_MAX	4096u
#define MOVING_ODD	(1u << 31)	/* the last 64 bytes of the first page do not belong to the dma-buf */

/* Several importers map the memory at a time, which DMA debugging permits so. The caches of the tests' machines are coherent. */
#define MOVING_ATTRS	DMA_ATTR_SKIP_CPU_SYNC

struct moving_word {
	__s32 fd;
	__u32 write;
	__u64 offset, value;
};

struct moving {
	unsigned int pages, mapped;
	u64 moves;
	struct page **page;
	bool odd;
};

static void moving_free(struct page **page, unsigned int n)
{
	while (n--)
		if (page[n])
			__free_page(page[n]);
	kvfree(page);
}

static struct page **moving_alloc(unsigned int n)
{
	struct page **page = kvcalloc(n, sizeof(*page), GFP_KERNEL);
	unsigned int i;

	for (i = 0; page && i < n; i++) {
		page[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!page[i]) {
			moving_free(page, n);
			return NULL;
		}
	}
	return page;
}

static int moving_pin(struct dma_buf_attachment *attach)
{
	return 0;
}

static void moving_unpin(struct dma_buf_attachment *attach)
{
}

static atomic_t moving_failures;

static int moving_fail(const char *text, const struct kernel_param *param)
{
	int n, ret = kstrtoint(text, 0, &n);

	if (!ret)
		atomic_set(&moving_failures, n);
	return ret;
}

static const struct kernel_param_ops moving_failures_ops = { .set = moving_fail };
module_param_cb(failures, &moving_failures_ops, NULL, 0200);
MODULE_PARM_DESC(failures, "this many times, the memory cannot be mapped");

static struct sg_table *moving_map(struct dma_buf_attachment *attach, enum dma_data_direction dir)
{
	struct moving *m = attach->dmabuf->priv;
	struct sg_table *sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	if (!sgt)
		return ERR_PTR(-ENOMEM);
	if (atomic_dec_if_positive(&moving_failures) >= 0) {
		kfree(sgt);
		return ERR_PTR(-ENOMEM);
	}
	ret = m->odd ? sg_alloc_table(sgt, m->pages, GFP_KERNEL) :
		       sg_alloc_table_from_pages(sgt, m->page, m->pages, 0,
						 (size_t)m->pages << PAGE_SHIFT, GFP_KERNEL);
	if (!ret) {
		if (m->odd)
			for_each_sgtable_sg(sgt, sg, i)
				sg_set_page(sg, m->page[i], i ? PAGE_SIZE : PAGE_SIZE - 64, 0);
		ret = dma_map_sgtable(attach->dev, sgt, dir, MOVING_ATTRS);
		if (ret)
			sg_free_table(sgt);
	}
	if (ret) {
		kfree(sgt);
		return ERR_PTR(ret);
	}
	m->mapped++;
	return sgt;
}

static void moving_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			 enum dma_data_direction dir)
{
	struct moving *m = attach->dmabuf->priv;

	m->mapped--;
	dma_unmap_sgtable(attach->dev, sgt, dir, MOVING_ATTRS);
	sg_free_table(sgt);
	kfree(sgt);
}

static void moving_release(struct dma_buf *dmabuf)
{
	struct moving *m = dmabuf->priv;

	moving_free(m->page, m->pages);
	kfree(m);
}

static const struct dma_buf_ops moving_ops = {
	.pin = moving_pin,
	.unpin = moving_unpin,
	.map_dma_buf = moving_map,
	.unmap_dma_buf = moving_unmap,
	.release = moving_release,
};

static int moving_create(unsigned long pages)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	bool odd = pages & MOVING_ODD;
	struct dma_buf *dmabuf;
	struct moving *m;

	pages &= ~(unsigned long)MOVING_ODD;
	if (!pages || pages > MOVING_MAX)
		return -EINVAL;
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return -ENOMEM;
	m->odd = odd;
	m->pages = pages;
	m->page = moving_alloc(pages);
	if (!m->page) {
		kfree(m);
		return -ENOMEM;
	}
	info.ops = &moving_ops;
	info.size = (pages << PAGE_SHIFT) - (odd ? 64 : 0);
	info.flags = O_RDWR;
	info.priv = m;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		moving_free(m->page, m->pages);
		kfree(m);
		return PTR_ERR(dmabuf);
	}
	return dma_buf_fd(dmabuf, O_CLOEXEC);
}

/* Overwrites the old pages: a device that still used them would read or lose something. */
static int moving_move(struct dma_buf *dmabuf, struct moving_word *w)
{
	struct moving *m = dmabuf->priv;
	struct page **to = moving_alloc(m->pages);
	unsigned int i;
	int ret = 0;

	if (!to)
		return -ENOMEM;
	dma_resv_lock(dmabuf->resv, NULL);
	dma_buf_invalidate_mappings(dmabuf);
	if (m->mapped) {
		ret = -EBUSY;
	} else {
		for (i = 0; i < m->pages; i++) {
			memcpy(page_address(to[i]), page_address(m->page[i]), PAGE_SIZE);
			memset(page_address(m->page[i]), 0xee, PAGE_SIZE);
		}
		swap(to, m->page);
		w->value = ++m->moves;
	}
	dma_resv_unlock(dmabuf->resv);
	moving_free(to, m->pages);
	return ret;
}

static struct dma_buf *moving_at_sleep;

static void moving_move_at_sleep(struct dma_buf *dmabuf)
{
	if (dmabuf)
		get_dma_buf(dmabuf);
	dmabuf = xchg(&moving_at_sleep, dmabuf);
	if (dmabuf)
		dma_buf_put(dmabuf);
}

static int moving_suspended(struct device *dev)
{
	struct moving_word w = {};
	int ret = moving_at_sleep ? moving_move(moving_at_sleep, &w) : 0;

	moving_move_at_sleep(NULL);
	return ret;
}

/* this phase begins when all devices have been suspended */
static const struct dev_pm_ops moving_pm = {
	.suspend_noirq = moving_suspended,
};

static int moving_probe_sleeper(struct platform_device *pdev)
{
	return 0;
}

static struct platform_driver moving_driver = {
	.driver = { .name = "gtu_moving", .pm = &moving_pm },
};

static int moving_word(struct dma_buf *dmabuf, struct moving_word *w)
{
	struct moving *m = dmabuf->priv;
	u64 *at;

	if (w->offset % 8 || w->offset >= (u64)m->pages << PAGE_SHIFT)
		return -EINVAL;
	dma_resv_lock(dmabuf->resv, NULL);
	at = page_address(m->page[w->offset >> PAGE_SHIFT]) + offset_in_page(w->offset);
	if (w->write)
		WRITE_ONCE(*at, w->value);
	w->value = READ_ONCE(*at);
	dma_resv_unlock(dmabuf->resv);
	return 0;
}

static long moving_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct dma_buf *dmabuf;
	struct moving_word w;
	long ret;

	if (cmd == MOVING_CREATE)
		return moving_create(arg);
	if (copy_from_user(&w, (void __user *)arg, sizeof(w)))
		return -EFAULT;
	dmabuf = dma_buf_get(w.fd);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	ret = 0;
	if (dmabuf->ops != &moving_ops)
		ret = -EINVAL;
	else if (cmd == MOVING_MOVE && w.write)
		moving_move_at_sleep(dmabuf);
	else
		ret = cmd == MOVING_MOVE ? moving_move(dmabuf, &w) :
		      cmd == MOVING_WORD ? moving_word(dmabuf, &w) : -ENOTTY;
	dma_buf_put(dmabuf);
	if (!ret && copy_to_user((void __user *)arg, &w, sizeof(w)))
		ret = -EFAULT;
	return ret;
}

static const struct file_operations moving_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = moving_ioctl,
	.compat_ioctl = moving_ioctl,
};

static struct miscdevice moving_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "gtu_moving",
	.fops = &moving_fops,
};

/* Keeps importers for some time in a state in which the exporter knows them, but they not their attachment. */
static unsigned int attach_delay_us;
module_param(attach_delay_us, uint, 0644);
MODULE_PARM_DESC(attach_delay_us, "delay of the return of dma_buf_dynamic_attach(), at most 10000");

static int moving_delay(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	unsigned int us = min(READ_ONCE(attach_delay_us), 10000u);

	if (us)
		mdelay(us / 1000 + 1);
	return 0;
}

static struct kretprobe moving_probe = {
	.handler = moving_delay,
	.kp.symbol_name = "dma_buf_dynamic_attach",
};
/* Without kprobes: the parameter stays, and tests that need the delay see that this is false. */
static bool can_delay;
module_param(can_delay, bool, 0444);

static struct platform_device *moving_sleeper;

static int __init moving_init(void)
{
	int ret;

	moving_sleeper = platform_create_bundle(&moving_driver, moving_probe_sleeper, NULL, 0, NULL, 0);
	if (IS_ERR(moving_sleeper))
		return PTR_ERR(moving_sleeper);
	ret = misc_register(&moving_device);
	if (ret) {
		platform_device_unregister(moving_sleeper);
		platform_driver_unregister(&moving_driver);
		return ret;
	}
	can_delay = !register_kretprobe(&moving_probe);
	return 0;
}
module_init(moving_init);

static void __exit moving_exit(void)
{
	if (can_delay)
		unregister_kretprobe(&moving_probe);
	misc_deregister(&moving_device);
	platform_device_unregister(moving_sleeper);
	platform_driver_unregister(&moving_driver);
	moving_move_at_sleep(NULL);
}
module_exit(moving_exit);

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
MODULE_IMPORT_NS(DMA_BUF);
#else
MODULE_IMPORT_NS("DMA_BUF");
#endif
MODULE_DESCRIPTION("dma-bufs that move, for tests of GTU");
MODULE_LICENSE("GPL");
