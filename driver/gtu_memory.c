// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is behind a region: pinned pages of user space, or pages of the driver's; mapped for the
 * device.
 */
#include <linux/dma-map-ops.h>
#include <linux/hugetlb_inline.h>
#include <linux/iommu.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "gtu_drv.h"

/* The pages of a chunk of pinning: one page of pointers. */
#define GTU_PIN_BATCH		(PAGE_SIZE / sizeof(struct page *))
#define GTU_SEGMENT_BYTES	SZ_1G
#define GTU_BUFFER_ORDER	9	/* ask for pieces of so many pages first */

static unsigned int buffer_mib;
module_param(buffer_mib, uint, 0644);
MODULE_PARM_DESC(buffer_mib, "Most MiB of driver buffers of a device; 0: a quarter of the memory");

/*
 * ---- Mapping for the device -------------------------------------------------------------------
 */

/*
 * Whether an IOMMU stands between the device and memory. It gets whole pages, which are never
 * copied.
 */
static bool gtu_is_translated(struct device *dev)
{
#ifdef CONFIG_IOMMU_API
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	return domain && domain->type & __IOMMU_DOMAIN_PAGING;
#else
	return false;
#endif
}

/*
 * Whether the platform copies what is mapped at @addr (swiotlb), or needs to be told of every use.
 * A region lives long and is used without the driver: neither can work.
 */
static bool gtu_is_copied(struct device *dev, dma_addr_t addr)
{
	return gtu_is_translated(dev) ? !dev_is_dma_coherent(dev) : dma_need_sync(dev, addr);
}

/* Nothing is ever synchronised (see above), so the mapping itself needs not either. */
#define GTU_MAP_ATTRS DMA_ATTR_SKIP_CPU_SYNC

static int gtu_region_map(struct gtu_ctx *ctx, struct gtu_region *r)
{
	struct device *dev = ctx->gtu->parent;
	struct sg_table *sgt = &r->sg.sgt;
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	r->dir = r->rights == GTU_RIGHT_READ ? DMA_TO_DEVICE :
		 r->rights == GTU_RIGHT_WRITE ? DMA_FROM_DEVICE : DMA_BIDIRECTIONAL;
	ret = dma_map_sgtable(dev, sgt, r->dir, GTU_MAP_ATTRS);
	/* Without an IOMMU only what has to be copied can fail: it is too large for that. */
	if (ret)
		return gtu_is_translated(dev) ? ret : -EOPNOTSUPP;
	r->mapped = true;
	for_each_sgtable_dma_sg(sgt, sg, i)
		if (gtu_is_copied(dev, sg_dma_address(sg)))
			return -EOPNOTSUPP;
	return 0;
}

/*
 * ---- Memory of user space ----------------------------------------------------------------------
 */

/*
 * How to pin at @addr, and up to where. What the device only reads must still be the very page that
 * the owner goes on writing to, and pinning to read finds the zero page, or a page that is copied
 * at the next write: so private anonymous memory is pinned as if to write. A private mapping of a
 * file would be copied by that: refused, rather than read from a copy that nobody asked for.
 */
static int gtu_pin_flags(u64 addr, u32 rights, u64 *end)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	int flags = FOLL_LONGTERM;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	vma = find_vma(mm, addr);
	if (!vma || vma->vm_start > addr)
		flags = -EFAULT;
	else if (rights & GTU_RIGHT_WRITE)
		flags |= FOLL_WRITE;
	else if (vma->vm_flags & VM_MAYSHARE)
		flags |= 0;	/* not VM_SHARED: that is not set where a file was opened to read */
	else if (vma->vm_file && !is_vm_hugetlb_page(vma))
		flags = -EOPNOTSUPP;
	else if (vma->vm_flags & VM_WRITE)
		flags |= FOLL_WRITE;
	else if (!is_vm_hugetlb_page(vma))
		flags |= FOLL_WRITE | FOLL_FORCE;
	*end = vma ? vma->vm_end : addr;
	mmap_read_unlock(mm);
	return flags;
}

static int gtu_charge(struct gtu_region *r)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	struct mm_struct *mm = current->mm;

	if (atomic64_add_return(r->pages, &mm->pinned_vm) > limit && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(r->pages, &mm->pinned_vm);
		return -EDQUOT;
	}
	mmgrab(mm);
	r->mm = mm;
	return 0;
}

static void gtu_unpin(struct gtu_region *r)
{
	struct sg_table *sgt = &r->sg.sgt;
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(sgt, sg, i)
		unpin_user_page_range_dirty_lock(sg_page(sg), DIV_ROUND_UP(sg->length, PAGE_SIZE),
						 r->rights & GTU_RIGHT_WRITE);
	atomic64_sub(r->pages, &r->mm->pinned_vm);
	mmdrop(r->mm);
}

static int gtu_pin_pages(struct gtu_region *r, u64 addr, struct page **batch)
{
	unsigned long left = r->pages;
	u64 end = addr;
	int n, ret, flags = 0;

	while (left) {
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
		if (addr >= end) {
			flags = gtu_pin_flags(addr, r->rights, &end);
			if (flags < 0)
				return flags;
		}
		n = min_t(u64, min_t(u64, left, GTU_PIN_BATCH), (end - addr) >> PAGE_SHIFT);
		n = pin_user_pages_fast(addr, n, flags, batch);
		if (n <= 0)
			return n ?: -EFAULT;
		left -= n;
		addr += (u64)n << PAGE_SHIFT;
		ret = sg_alloc_append_table_from_pages(&r->sg, batch, n, 0,
						       (unsigned long)n << PAGE_SHIFT,
						       GTU_SEGMENT_BYTES, left, GFP_KERNEL_ACCOUNT);
		if (ret) {
			unpin_user_pages(batch, n);
			return ret;
		}
	}
	return 0;
}

/*
 * Pin @length bytes at @addr where they are, charge them to the caller and map them for the device.
 */
struct gtu_region *gtu_region_pin(struct gtu_ctx *ctx, u64 addr, u64 length, u32 rights)
{
	struct page **batch;
	struct gtu_region *r;
	int ret = -ENOMEM;

	r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	batch = (struct page **)__get_free_page(GFP_KERNEL);
	if (!r || !batch)
		goto err;
	r->rights = rights;
	r->length = length;
	r->in_page = offset_in_page(addr);
	r->pages = (r->in_page + length + PAGE_SIZE - 1) >> PAGE_SHIFT;
	ret = gtu_charge(r);
	if (ret)
		goto err;
	ret = gtu_pin_pages(r, addr & PAGE_MASK, batch);
	if (!ret)
		ret = gtu_region_map(ctx, r);
	if (ret)
		goto err;
	free_page((unsigned long)batch);
	return r;
err:
	free_page((unsigned long)batch);
	if (r)
		gtu_region_free(ctx, r, true);
	return ERR_PTR(ret == -ERESTARTSYS ? -EINTR : ret);
}

/*
 * ---- Memory of the driver's --------------------------------------------------------------------
 */

static void gtu_buffer_release(struct kref *ref)
{
	struct gtu_buffer *b = container_of(ref, struct gtu_buffer, ref);
	unsigned long i;

	for (i = 0; b->page && i < b->pages && b->page[i]; i++)
		__free_page(b->page[i]);
	atomic_long_sub(b->pages, &b->gtu->buffer_pages);
	kvfree(b->page);
	kfree(b);
}

void gtu_buffer_put(struct gtu_buffer *b)
{
	kref_put(&b->ref, gtu_buffer_release);
}

static unsigned long gtu_buffer_cap(void)
{
	unsigned long mib = READ_ONCE(buffer_mib);

	return mib ? mib << (20 - PAGE_SHIFT) : totalram_pages() / 4;
}

/* Pages in pieces as large as can be had without pressing for them. */
static int gtu_buffer_fill(struct gtu_buffer *b)
{
	unsigned int order = GTU_BUFFER_ORDER, i;
	unsigned long n = 0;
	struct page *page;
	gfp_t gfp;

	while (n < b->pages) {
		if (fatal_signal_pending(current))
			return -EINTR;
		order = min_t(unsigned int, order, ilog2(b->pages - n));
		gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | (order ? __GFP_NORETRY | __GFP_NOWARN : 0);
		page = alloc_pages(gfp, order);
		if (!page) {
			if (!order)
				return -ENOMEM;
			order--;
			continue;
		}
		split_page(page, order);
		for (i = 0; i < 1u << order; i++)
			b->page[n++] = page + i;
	}
	return 0;
}

static struct gtu_buffer *gtu_buffer_alloc(struct gtu_device *gtu, unsigned long pages)
{
	struct gtu_buffer *b;
	int ret = -ENOMEM;

	if (pages > gtu_buffer_cap())
		return ERR_PTR(-ENOSPC);
	b = kzalloc(sizeof(*b), GFP_KERNEL_ACCOUNT);
	if (!b)
		return ERR_PTR(-ENOMEM);
	kref_init(&b->ref);
	b->gtu = gtu;
	b->pages = pages;
	if (atomic_long_add_return(pages, &gtu->buffer_pages) > gtu_buffer_cap()) {
		atomic_long_sub(pages, &gtu->buffer_pages);
		kfree(b);
		return ERR_PTR(-ENOSPC);
	}
	b->page = kvcalloc(pages, sizeof(*b->page), GFP_KERNEL_ACCOUNT);
	if (b->page)
		ret = gtu_buffer_fill(b);
	if (ret) {
		gtu_buffer_put(b);
		return ERR_PTR(ret);
	}
	return b;
}

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
	b = gtu_buffer_alloc(ctx->gtu, pages);
	if (IS_ERR(b)) {
		ret = PTR_ERR(b);
		goto err;
	}
	r->buffer = b;
	ret = sg_alloc_append_table_from_pages(&r->sg, b->page, pages, 0, pages << PAGE_SHIFT,
					       GTU_SEGMENT_BYTES, 0, GFP_KERNEL_ACCOUNT);
	if (!ret)
		ret = gtu_region_map(ctx, r);
	if (ret)
		goto err;
	return r;
err:
	gtu_region_free(ctx, r, true);
	return ERR_PTR(ret);
}

/* @quiet: the device does not use it any more. Otherwise it stays as it is, for ever. */
void gtu_region_free(struct gtu_ctx *ctx, struct gtu_region *r, bool quiet)
{
	if (!quiet) {
		dev_err(ctx->gtu->parent, "%lu pages stay pinned: the device may still use them\n",
			r->pages);
		return;
	}
	if (r->mapped)
		dma_unmap_sgtable(ctx->gtu->parent, &r->sg.sgt, r->dir, GTU_MAP_ATTRS);
	if (r->mm)
		gtu_unpin(r);
	sg_free_append_table(&r->sg);
	if (r->buffer)
		gtu_buffer_put(r->buffer);
	kfree(r);
}
