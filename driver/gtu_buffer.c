// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host memory allocated by the driver, shared by regions, mappings and
 * dma-bufs.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "gtu_drv.h"

#define GTU_BUFFER_ORDER	9	/* order of the first allocation attempt */
/* blocks of this order stay whole: the kernel maps them by huge entries */
#define GTU_HUGE_ORDER		(PMD_SHIFT - PAGE_SHIFT)

static unsigned int buffer_mib;
module_param(buffer_mib, uint, 0644);
MODULE_PARM_DESC(buffer_mib, "Maximum MiB of driver buffers per device; 0: a quarter of the memory");

static unsigned int user_buffer_mib;
module_param(user_buffer_mib, uint, 0644);
MODULE_PARM_DESC(user_buffer_mib, "Maximum MiB of driver buffers per user and device; 0: half of buffer_mib; not for CAP_SYS_RESOURCE");

static void gtu_buffer_release(struct kref *ref)
{
	struct gtu_buffer *b = container_of(ref, struct gtu_buffer, ref);
	unsigned long i, n;

	for (i = 0; b->page && i < b->pages && b->page[i]; i += n) {
		n = compound_nr(b->page[i]);
		put_page(b->page[i]);
		cond_resched();
	}
	atomic_long_sub(b->pages, &b->gtu->buffer_pages);
	gtu_user_uncharge(b->gtu, b->uid, GTU_USER_BUFFERS, b->pages);
	put_device(&b->gtu->dev);
	kvfree(b->page);
	kfree(b);
}

/**
 * gtu_buffer_put() - drop a reference to a driver buffer
 * @b: the buffer
 */
void gtu_buffer_put(struct gtu_buffer *b)
{
	kref_put(&b->ref, gtu_buffer_release);
}

static unsigned long gtu_buffer_cap(void)
{
	unsigned long mib = READ_ONCE(buffer_mib);

	return mib ? mib << (20 - PAGE_SHIFT) : totalram_pages() / 4;
}

/* Allocate the largest blocks that are available without reclaim effort. */
static int gtu_buffer_fill(struct gtu_buffer *b)
{
	unsigned int order = GTU_BUFFER_ORDER, i;
	unsigned long n = 0;
	struct page *page;
	bool huge;
	gfp_t gfp;

	while (n < b->pages) {
		if (fatal_signal_pending(current))
			return -EINTR;
		order = min_t(unsigned int, order, ilog2(b->pages - n));
		huge = GTU_HUGE_BUFFERS && order == GTU_HUGE_ORDER;
		gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | (order ? __GFP_NORETRY | __GFP_NOWARN : 0) |
		      (huge ? __GFP_COMP : 0);
		page = alloc_pages(gfp, order);
		if (!page) {
			if (!order)
				return -ENOMEM;
			order--;
			continue;
		}
		if (huge)
			b->huge += 1u << order;
		else
			split_page(page, order);
		for (i = 0; i < 1u << order; i++)
			b->page[n++] = page + i;
		/* this may clear a quarter of all memory */
		cond_resched();
	}
	return 0;
}

static unsigned long gtu_buffer_user_cap(void)
{
	unsigned long mib = READ_ONCE(user_buffer_mib);

	return mib ? mib << (20 - PAGE_SHIFT) : gtu_buffer_cap() / 2;
}

static struct gtu_buffer *gtu_buffer_alloc(struct gtu_ctx *ctx, unsigned long pages)
{
	struct gtu_device *gtu = ctx->gtu;
	struct gtu_buffer *b;
	int ret;

	if (pages > gtu_buffer_cap())
		return ERR_PTR(-ENOSPC);
	b = kzalloc(sizeof(*b), GFP_KERNEL_ACCOUNT);
	if (!b)
		return ERR_PTR(-ENOMEM);
	kref_init(&b->ref);
	b->gtu = gtu;
	b->pages = pages;
	mutex_init(&b->lock);
	INIT_LIST_HEAD(&b->attachments);
	ret = gtu_user_charge(gtu, ctx->uid, GTU_USER_BUFFERS, pages, gtu_buffer_user_cap());
	if (ret) {
		kfree(b);
		return ERR_PTR(ret);
	}
	b->uid = ctx->uid;
	if (atomic_long_add_return(pages, &gtu->buffer_pages) > gtu_buffer_cap()) {
		atomic_long_sub(pages, &gtu->buffer_pages);
		gtu_user_uncharge(gtu, b->uid, GTU_USER_BUFFERS, pages);
		kfree(b);
		return ERR_PTR(-ENOSPC);
	}
	get_device(&gtu->dev);
	ret = -ENOMEM;
	b->page = kvcalloc(pages, sizeof(*b->page), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (b->page)
		ret = gtu_buffer_fill(b);
	if (ret) {
		gtu_buffer_put(b);
		return ERR_PTR(ret);
	}
	return b;
}

/**
 * gtu_region_alloc() - allocate a driver buffer as a region
 * @ctx: the context
 * @length: size in bytes
 * @rights: GTU_RIGHT_*
 *
 * Return: the region, or an ERR_PTR()
 */
struct gtu_region *gtu_region_alloc(struct gtu_ctx *ctx, u64 length, u32 rights)
{
	unsigned long pages = (length + PAGE_SIZE - 1) >> PAGE_SHIFT;
	struct gtu_region *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	struct gtu_buffer *b;
	int ret;

	if (!r)
		return ERR_PTR(-ENOMEM);
	r->rights = rights;
	r->length = length;
	r->pages = pages;
	b = gtu_buffer_alloc(ctx, pages);
	if (IS_ERR(b)) {
		ret = PTR_ERR(b);
		goto err;
	}
	r->buffer = b;
	ret = sg_alloc_table_from_pages_segment(&r->own, b->page, pages, 0, pages << PAGE_SHIFT,
						SZ_1G, GFP_KERNEL_ACCOUNT);
	if (!ret)
		ret = gtu_region_map(ctx, r);
	if (ret)
		goto err;
	return r;
err:
	gtu_region_free(ctx, r, true);
	return ERR_PTR(ret);
}
