// SPDX-License-Identifier: GPL-2.0-only
/* Memory of regions: pins user pages and maps memory for DMA. */
#include <linux/hugetlb_inline.h>
#include <linux/kmemleak.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "gtu_drv.h"
#include "gtu_trace.h"

/* pages pinned per call: one page of pointers */
#define GTU_PIN_BATCH		(PAGE_SIZE / sizeof(struct page *))
#define GTU_SEGMENT_PAGES	((unsigned long)(SZ_1G >> PAGE_SHIFT))
#define GTU_RUNS_FIRST		64UL

/*
 * Whether an IOMMU translates the device's accesses: only then can segments of
 * a mapping be merged. IOMMU mappings are made of whole pages and never bounced.
 */
static bool gtu_is_translated(struct device *dev)
{
	return dma_get_merge_boundary(dev);
}

/*
 * Whether memory mapped at @addr is bounced (swiotlb). That cannot work: regions
 * are long-lived and used without the driver. Before Linux 6.10, dma_need_sync()
 * is true for every translated mapping.
 */
static bool gtu_is_bounced(struct device *dev, dma_addr_t addr)
{
	return !gtu_is_translated(dev) && dma_need_sync(dev, addr);
}

/*
 * Mappings that need syncs are refused (see above), so skip the implied one,
 * too.
 */
#define GTU_MAP_ATTRS DMA_ATTR_SKIP_CPU_SYNC

/**
 * gtu_direction() - DMA direction of access rights
 * @rights: GTU_RIGHT_*
 *
 * Return: the direction
 */
enum dma_data_direction gtu_direction(u32 rights)
{
	return rights == GTU_RIGHT_READ ? DMA_TO_DEVICE :
	       rights == GTU_RIGHT_WRITE ? DMA_FROM_DEVICE : DMA_BIDIRECTIONAL;
}

/**
 * gtu_mapped_check() - check that the device can use memory mapped by another driver
 * @dev: the bus device of the GTU
 * @sgt: the mapped pages
 * @length: size in bytes
 *
 * Return: 0, or -EOPNOTSUPP if the memory is bounced or cannot be described by
 * a page list. Exporters refuse to map memory of a device for an importer
 * without peer-to-peer
 */
int gtu_mapped_check(struct device *dev, struct sg_table *sgt, u64 length)
{
	struct scatterlist *sg;
	u64 total = 0;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		dma_addr_t addr = sg_dma_address(sg);

		if (!sg_dma_len(sg) || addr % 8 || gtu_is_bounced(dev, addr))
			return -EOPNOTSUPP;
		total += sg_dma_len(sg);
	}
	return total < length ? -EOPNOTSUPP : 0;
}

/**
 * gtu_region_map() - map the region's own table for DMA
 * @ctx: the context
 * @r: the region
 *
 * Return: 0 or a negative errno
 */
int gtu_region_map(struct gtu_ctx *ctx, struct gtu_region *r)
{
	struct device *dev = ctx->gtu->parent;
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	r->dir = gtu_direction(r->rights);
	ret = dma_map_sgtable(dev, &r->own, r->dir, GTU_MAP_ATTRS);
	/* without an IOMMU only memory too large to bounce can fail */
	if (ret)
		return gtu_is_translated(dev) ? ret : -EOPNOTSUPP;
	r->sgt = &r->own;
	for_each_sgtable_dma_sg(r->sgt, sg, i)
		if (gtu_is_bounced(dev, sg_dma_address(sg)))
			return -EOPNOTSUPP;
	return 0;
}

/*
 * Returns the flags for pinning at @addr, and the end of their validity in
 * *@end.
 *
 * Memory that the device only reads must stay the page that its owner writes
 * to. Before Linux 6.2, pinning for reading can find the zero page or a page
 * shared for copy-on-write: pin private anonymous memory for writing. Private
 * file mappings would be copied: refuse them instead of reading from a stale
 * copy.
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
		flags |= 0;	/* VM_SHARED is not set for files opened read-only */
	else if (!(vma->vm_flags & VM_READ))
		flags = -EFAULT; /* GTU_PIN_PRIVATE may bypass this */
	else if (vma->vm_file && !is_vm_hugetlb_page(vma))
		flags = -EOPNOTSUPP;
	else if (vma->vm_flags & VM_WRITE)
		flags |= FOLL_WRITE;
	else if (!is_vm_hugetlb_page(vma))
		flags |= GTU_PIN_PRIVATE;
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

static void gtu_uncharge(struct gtu_region *r)
{
	atomic64_sub(r->pages, &r->mm->pinned_vm);
	mmdrop(r->mm);
}

/* A run of pinned, physically contiguous pages. */
struct gtu_run {
	struct page *page;
	unsigned long pages;
};

struct gtu_runs {
	struct gtu_run *run;
	unsigned long n, capacity;
};

static void gtu_unpin_run(struct gtu_region *r, struct page *page, unsigned long pages)
{
	/* unpins by folio instead of by page */
	unpin_user_page_range_dirty_lock(page, pages, r->rights & GTU_RIGHT_WRITE);
}

static void gtu_unpin(struct gtu_region *r)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(&r->own, sg, i) {
		gtu_unpin_run(r, sg_page(sg), sg->length >> PAGE_SHIFT);
		cond_resched();
	}
}

static int gtu_runs_grow(struct gtu_runs *runs)
{
	unsigned long capacity = max(runs->capacity * 2, GTU_RUNS_FIRST);
	/* the size can exceed what kvmalloc() allows: do not warn */
	struct gtu_run *run = kvmalloc_array(capacity, sizeof(*run),
					     GFP_KERNEL_ACCOUNT | __GFP_NOWARN);

	if (!run)
		return -ENOMEM;
	if (runs->n)
		memcpy(run, runs->run, runs->n * sizeof(*run));
	kvfree(runs->run);
	runs->run = run;
	runs->capacity = capacity;
	return 0;
}

/*
 * Append @n pinned pages, merged into contiguous runs. Huge pages cost one
 * comparison per page here and one entry later. On an error none is added.
 */
static int gtu_runs_add(struct gtu_runs *runs, struct page **page, unsigned long n)
{
	unsigned long before = runs->n, longer = 0, i = 0, end;

	while (i < n) {
		unsigned long pfn = page_to_pfn(page[i]);
		struct gtu_run *last = runs->n ? &runs->run[runs->n - 1] : NULL;

		for (end = i + 1; end < n && page_to_pfn(page[end]) == pfn + end - i; end++)
			;
		/*
		 * extend the last run of an earlier batch, up to the maximum
		 * segment
		 */
		if (!i && last && page_to_pfn(last->page) + last->pages == pfn &&
		    last->pages + end - i <= GTU_SEGMENT_PAGES) {
			longer = end - i;
			last->pages += longer;
			i = end;
			continue;
		}
		if (runs->n == runs->capacity && gtu_runs_grow(runs)) {
			if (longer)
				runs->run[before - 1].pages -= longer;
			runs->n = before;
			return -ENOMEM;
		}
		runs->run[runs->n++] = (struct gtu_run){ page[i], end - i };
		i = end;
	}
	return 0;
}

static int gtu_pin_pages(struct gtu_region *r, u64 addr, struct page **batch, struct gtu_runs *runs)
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
		ret = gtu_runs_add(runs, batch, n);
		if (ret) {
			unpin_user_pages(batch, n);
			return ret;
		}
		left -= n;
		addr += (u64)n << PAGE_SHIFT;
	}
	return 0;
}

/*
 * Build the region's own table from the runs. Unpins all pages on an error,
 * also on the caller's @ret.
 */
static int gtu_runs_table(struct gtu_region *r, struct gtu_runs *runs, int ret)
{
	struct scatterlist *sg;
	unsigned long i;

	if (!ret && runs->n > UINT_MAX)
		ret = -ENOSPC;
	if (!ret)
		ret = sg_alloc_table(&r->own, runs->n, GFP_KERNEL_ACCOUNT);
	if (ret) {
		/* a partial table keeps its length but not its entries */
		memset(&r->own, 0, sizeof(r->own));
		for (i = 0; i < runs->n; i++) {
			gtu_unpin_run(r, runs->run[i].page, runs->run[i].pages);
			cond_resched();
		}
	} else {
		for_each_sgtable_sg(&r->own, sg, i)
			sg_set_page(sg, runs->run[i].page, runs->run[i].pages << PAGE_SHIFT, 0);
	}
	kvfree(runs->run);
	return ret;
}

/**
 * gtu_region_pin() - pin user memory and charge it to the caller
 * @ctx: the context
 * @addr: address of byte 0
 * @length: size in bytes
 * @rights: GTU_RIGHT_*
 *
 * Does not access the device; the caller maps the region for DMA.
 *
 * Return: the region, or an ERR_PTR()
 */
struct gtu_region *gtu_region_pin(struct gtu_ctx *ctx, u64 addr, u64 length, u32 rights)
{
	struct gtu_runs runs = {};
	struct page **batch;
	struct gtu_region *r;
	int ret = -ENOMEM;

	addr = untagged_addr((unsigned long)addr);
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
	ret = gtu_pin_pages(r, addr & PAGE_MASK, batch, &runs);
	ret = gtu_runs_table(r, &runs, ret);
	if (ret)
		goto err;
	trace_gtu_pin(ctx->gtu, r->pages, rights);
	free_page((unsigned long)batch);
	return r;
err:
	free_page((unsigned long)batch);
	if (r)
		gtu_region_free(ctx, r, true);
	return ERR_PTR(ret == -ERESTARTSYS ? -EINTR : ret);
}

/**
 * gtu_region_free() - release the memory of a region
 * @ctx: the context
 * @r: the region
 * @quiesced: the device certainly does not use it any more
 *
 * Memory that the device may still use is leaked.
 */
void gtu_region_free(struct gtu_ctx *ctx, struct gtu_region *r, bool quiesced)
{
	if (!quiesced) {
		dev_err(ctx->gtu->parent, "the driver leaks a region that the device may still use: %lu pages\n",
			r->pages);
		/* the exporter of a leaked dma-buf goes on calling the driver with the context */
		if (r->moving) {
			__module_get(THIS_MODULE);
			kref_get(&ctx->ref);
		}
		if (r->extent)
			gtu_extent_leak(r->extent);
		kmemleak_not_leak(r);
		return;
	}
	if (r->attach)
		gtu_import_free(r);
	else if (r->sgt)
		dma_unmap_sgtable(ctx->gtu->parent, r->sgt, r->dir, GTU_MAP_ATTRS);
	gtu_list_free(ctx, &r->list);
	if (r->mm) {
		if (r->sgt)
			trace_gtu_unpin(ctx->gtu, r->pages, r->rights);
		gtu_unpin(r);
		gtu_uncharge(r);
	}
	sg_free_table(&r->own);
	if (r->buffer)
		gtu_buffer_put(r->buffer);
	if (r->extent)
		gtu_extent_put(r->extent);
	kfree(r);
}
