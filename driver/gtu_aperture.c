// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device memory (the aperture), allocated in pages. A region of the aperture
 * has no page list, so an extent is contiguous. Regions and mappings hold
 * references to it.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "gtu_drv.h"

#define GTU_SUSPEND_RESERVE	(SZ_32M >> PAGE_SHIFT)

static unsigned int aperture_share = 100;
module_param(aperture_share, uint, 0644);
MODULE_PARM_DESC(aperture_share, "Maximum share of the aperture per context, in percent");

static unsigned int user_aperture = 50;
module_param(user_aperture, uint, 0644);
MODULE_PARM_DESC(user_aperture, "Maximum share of the aperture per user, in percent; not for CAP_SYS_RESOURCE");

/**
 * gtu_aperture_init() - manage the aperture
 * @gtu: the device
 * @phys: physical address, which the caller has reserved
 * @bytes: size of the aperture
 *
 * Return: 0 or a negative errno
 */
int gtu_aperture_init(struct gtu_device *gtu, phys_addr_t phys, u64 bytes)
{
	unsigned long pages = min_t(u64, bytes >> PAGE_SHIFT, INT_MAX);

	gtu->aperture_used = kvcalloc(BITS_TO_LONGS(pages), sizeof(long), GFP_KERNEL);
	if (!gtu->aperture_used)
		return -ENOMEM;
	gtu->aperture_phys = phys;
	gtu->aperture_pages = pages;
	return 0;
}

static void gtu_extent_release(struct kref *ref)
{
	struct gtu_extent *p = container_of(ref, struct gtu_extent, ref);
	struct gtu_device *gtu = p->ctx->gtu;

	mutex_lock(&gtu->aperture_lock);
	bitmap_clear(gtu->aperture_used, p->first, p->pages);
	list_del(&p->link);
	mutex_unlock(&gtu->aperture_lock);
	atomic_long_sub(p->pages, &p->ctx->aperture_pages);
	gtu_user_uncharge(gtu, p->ctx->uid, GTU_USER_APERTURE, p->pages);
	if (p->blank)
		__free_page(p->blank);
	vfree(p->copy);
	kfree(p);
}

/**
 * gtu_extent_put() - drop a reference to a range of the aperture
 * @p: the extent
 */
void gtu_extent_put(struct gtu_extent *p)
{
	kref_put(&p->ref, gtu_extent_release);
}

/**
 * gtu_extent_leak() - forget a range that the device may still use
 * @p: the extent, whose last reference is never dropped; its context ends
 */
void gtu_extent_leak(struct gtu_extent *p)
{
	mutex_lock(&p->ctx->gtu->aperture_lock);
	list_del_init(&p->link);
	mutex_unlock(&p->ctx->gtu->aperture_lock);
}

static unsigned long gtu_percent(unsigned long pages, unsigned int percent)
{
	return mult_frac(pages, min(percent, 100u), 100u);
}

/* First fit, aligned for huge entries if there is such a range. */
static unsigned long gtu_extent_find(struct gtu_device *gtu, unsigned long pages)
{
	const unsigned long huge = PMD_SIZE >> PAGE_SHIFT;
	unsigned long first = gtu->aperture_pages;

	if (pages >= huge)
		first = bitmap_find_next_zero_area(gtu->aperture_used, gtu->aperture_pages, 0,
						   pages, huge - 1);
	if (first >= gtu->aperture_pages)
		first = bitmap_find_next_zero_area(gtu->aperture_used, gtu->aperture_pages, 0,
						   pages, 0);
	return first;
}

static struct gtu_extent *gtu_extent_alloc(struct gtu_ctx *ctx, unsigned long pages)
{
	struct gtu_device *gtu = ctx->gtu;
	unsigned long cap = gtu_percent(gtu->aperture_pages, READ_ONCE(aperture_share));
	struct gtu_extent *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!p)
		return ERR_PTR(-ENOMEM);
	ret = gtu_user_charge(gtu, ctx->uid, GTU_USER_APERTURE, pages,
			      gtu_percent(gtu->aperture_pages, READ_ONCE(user_aperture)));
	if (ret) {
		kfree(p);
		return ERR_PTR(ret);
	}
	kref_init(&p->ref);
	p->ctx = ctx;
	p->pages = pages;
	if (atomic_long_add_return(pages, &ctx->aperture_pages) > cap) {
		dev_dbg(gtu->parent, "the context has reached its aperture limit: %lu pages\n",
			cap);
		goto err;
	}
	mutex_lock(&gtu->aperture_lock);
	p->first = gtu_extent_find(gtu, pages);
	if (p->first >= gtu->aperture_pages) {
		mutex_unlock(&gtu->aperture_lock);
		goto err;
	}
	bitmap_set(gtu->aperture_used, p->first, pages);
	list_add_tail(&p->link, &gtu->extents);
	mutex_unlock(&gtu->aperture_lock);
	return p;
err:
	atomic_long_sub(pages, &ctx->aperture_pages);
	gtu_user_uncharge(gtu, ctx->uid, GTU_USER_APERTURE, pages);
	kfree(p);
	return ERR_PTR(-ENOSPC);
}

/* The CPU clears the pages: a context without a queue cannot use the device. */
static int gtu_extent_zero(struct gtu_device *gtu, struct gtu_extent *p)
{
	unsigned long n, i;

	for (n = 0; n < p->pages; n++) {
		void __iomem *to;

		if (fatal_signal_pending(current))
			return -EINTR;
		/* removal waits for threads inside: leave early */
		if (gtu_ctx_dead(p->ctx))
			return -ENODEV;
		cond_resched();
		to = ioremap_wc(gtu->aperture_phys + ((u64)(p->first + n) << PAGE_SHIFT),
				PAGE_SIZE);
		if (!to)
			return -ENOMEM;
		rcu_read_lock();	/* no reset begins before the unlock */
		for (i = 0; i < PAGE_SIZE && !gtu_ctx_dead(p->ctx); i += sizeof(u64))
			writeq(0, to + i);
		rcu_read_unlock();
		iounmap(to);
	}
	/* order the writes before the register read, which flushes them */
	wmb();
	return gtu_alive(gtu);
}

/**
 * gtu_region_aperture() - allocate a range of the aperture as a region
 * @ctx: the context
 * @length: size in bytes
 * @rights: GTU_RIGHT_*
 *
 * Return: the region, or an ERR_PTR()
 */
struct gtu_region *gtu_region_aperture(struct gtu_ctx *ctx, u64 length, u32 rights)
{
	unsigned long pages = (length + PAGE_SIZE - 1) >> PAGE_SHIFT;
	struct gtu_device *gtu = ctx->gtu;
	struct gtu_region *r;
	struct gtu_extent *p;
	int ret;

	if (!gtu->aperture_pages)
		return ERR_PTR(-EOPNOTSUPP);
	if (pages > gtu->aperture_pages)
		return ERR_PTR(-ENOSPC);
	r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	if (!r)
		return ERR_PTR(-ENOMEM);
	r->rights = rights;
	r->length = length;
	r->pages = pages;
	p = gtu_extent_alloc(ctx, pages);
	ret = PTR_ERR_OR_ZERO(p);
	if (!ret) {
		r->extent = p;
		ret = gtu_extent_zero(gtu, p);
	}
	if (ret) {
		gtu_region_free(ctx, r, true);
		return ERR_PTR(ret);
	}
	return r;
}

static void gtu_extent_drop_copy(struct gtu_extent *p)
{
	vfree(p->copy);
	p->copy = NULL;
}

/* Copy an extent to (@out) or from its copy. That of a dead device does not matter. */
static int gtu_extent_copy(struct gtu_device *gtu, struct gtu_extent *p, bool out)
{
	void *copy = p->copy;
	unsigned long n;

	for (n = 0; n < p->pages; n++, copy += PAGE_SIZE) {
		void __iomem *page = ioremap_wc(gtu->aperture_phys +
						((u64)(p->first + n) << PAGE_SHIFT), PAGE_SIZE);

		if (!page)
			return -ENOMEM;
		rcu_read_lock();	/* no reset begins before the unlock */
		if (READ_ONCE(gtu->state) != GTU_STATE_UP || !READ_ONCE(gtu->epoch))
			memset(copy, 0, PAGE_SIZE);
		else if (out)
			memcpy_fromio(copy, page, PAGE_SIZE);
		else
			memcpy_toio(page, copy, PAGE_SIZE);
		rcu_read_unlock();
		iounmap(page);
		cond_resched();
	}
	return 0;
}

/* The rest of a suspend needs memory, too. */
static bool gtu_extent_save(struct gtu_device *gtu, struct gtu_extent *p)
{
	if (si_mem_available() < (long)(p->pages + GTU_SUSPEND_RESERVE))
		return false;
	p->copy = __vmalloc(p->pages << PAGE_SHIFT, GFP_KERNEL | __GFP_NOWARN);
	return p->copy && !gtu_extent_copy(gtu, p, true);
}

/**
 * gtu_aperture_save() - save the pages in use before power is lost
 * @gtu: the device
 *
 * Contexts whose pages do not fit into memory end at the resume: users must not
 * keep the system awake. User processes are frozen, so no page is allocated
 * meanwhile.
 */
void gtu_aperture_save(struct gtu_device *gtu)
{
	struct gtu_extent *p, *other;

	mutex_lock(&gtu->aperture_lock);
	list_for_each_entry(p, &gtu->extents, link) {
		struct gtu_ctx *ctx = p->ctx;

		if (READ_ONCE(gtu->state) != GTU_STATE_UP)
			break;
		if (ctx->aperture_lost || gtu_extent_save(gtu, p))
			continue;
		dev_warn(gtu->parent,
			 "there is no memory to save aperture pages for a suspend: %lu pages, context %u of %s[%d]\n",
			 p->pages, ctx->id, ctx->comm, ctx->pid);
		ctx->aperture_lost = true;
		list_for_each_entry(other, &gtu->extents, link)
			if (other->ctx == ctx)
				gtu_extent_drop_copy(other);
	}
	mutex_unlock(&gtu->aperture_lock);
}

/**
 * gtu_aperture_restore() - restore the saved pages that are still in use
 * @gtu: the device; if it is dead, the copies are freed
 */
void gtu_aperture_restore(struct gtu_device *gtu)
{
	struct gtu_extent *p;

	mutex_lock(&gtu->aperture_lock);
	list_for_each_entry(p, &gtu->extents, link) {
		if (READ_ONCE(gtu->state) == GTU_STATE_UP && p->copy &&
		    gtu_extent_copy(gtu, p, false))
			p->ctx->aperture_lost = true;
		gtu_extent_drop_copy(p);
	}
	mutex_unlock(&gtu->aperture_lock);
}

/* Called under map_lock. */
static bool gtu_aperture_live(struct gtu_ctx *ctx)
{
	return !ctx->aperture_revoked && !gtu_ctx_dead(ctx);
}

static vm_fault_t gtu_aperture_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct gtu_extent *p = vma->vm_private_data;
	struct gtu_ctx *ctx = p->ctx;
	unsigned long page = vmf->pgoff - p->pgoff, at = vmf->address, end;
	vm_fault_t ret = VM_FAULT_NOPAGE;
	bool live;
	int error;
	u64 pfn;

	if (page >= p->pages)
		return VM_FAULT_SIGBUS;
	/* another fault may have inserted a huge entry; the next table's range may be one */
	if (pmd_leaf(READ_ONCE(*vmf->pmd)))
		return ret;
	end = min(vma->vm_end, ALIGN_DOWN(at, PMD_SIZE) + PMD_SIZE);
	error = gtu_tables_alloc(vma, at, end);
	if (error)
		return error == -ENOMEM ? VM_FAULT_OOM : ret;
	down_read(&ctx->gtu->map_lock);
	live = gtu_aperture_live(ctx);
	pfn = PHYS_PFN(ctx->gtu->aperture_phys) + p->first + page;
	for (; live && at < end && ret == VM_FAULT_NOPAGE; at += PAGE_SIZE)
		ret = vmf_insert_pfn(vma, at, pfn++);
	up_read(&ctx->gtu->map_lock);
	return live ? ret : gtu_insert_blank(vmf, &p->blank);
}

#ifdef CONFIG_ARCH_SUPPORTS_PMD_PFNMAP
static vm_fault_t gtu_aperture_huge_fault(struct vm_fault *vmf, unsigned int order)
{
	unsigned long at = vmf->address & PMD_MASK;
	struct vm_area_struct *vma = vmf->vma;
	struct gtu_extent *p = vma->vm_private_data;
	struct gtu_ctx *ctx = p->ctx;
	vm_fault_t ret = VM_FAULT_FALLBACK;
	unsigned long page, pfn;
	bool live;

	if (order != PMD_ORDER || at < vma->vm_start || at + PMD_SIZE > vma->vm_end)
		return ret;
	page = vmf->pgoff - ((vmf->address - at) >> PAGE_SHIFT) - p->pgoff;
	pfn = PHYS_PFN(ctx->gtu->aperture_phys) + p->first + page;
	if (page + (PMD_SIZE >> PAGE_SHIFT) > p->pages || pfn % (PMD_SIZE >> PAGE_SHIFT))
		return ret;
	down_read(&ctx->gtu->map_lock);
	live = gtu_aperture_live(ctx);
	if (live)
		ret = gtu_insert_huge(vmf, pfn);
	up_read(&ctx->gtu->map_lock);
	if (!live) {
		/* wait for faults that saw a live context, and insert huge entries */
		down_write(&ctx->gtu->map_lock);
		up_write(&ctx->gtu->map_lock);
	}
	return ret;
}
#endif

static void gtu_aperture_vma_open(struct vm_area_struct *vma)
{
	struct gtu_extent *p = vma->vm_private_data;

	kref_get(&p->ref);
	atomic_inc(&p->ctx->aperture_maps);
}

static void gtu_aperture_vma_close(struct vm_area_struct *vma)
{
	struct gtu_extent *p = vma->vm_private_data;

	atomic_dec(&p->ctx->aperture_maps);
	gtu_extent_put(p);
}

static const struct vm_operations_struct gtu_aperture_vm_ops = {
	.open = gtu_aperture_vma_open,
	.close = gtu_aperture_vma_close,
	.fault = gtu_aperture_fault,
#ifdef CONFIG_ARCH_SUPPORTS_PMD_PFNMAP
	.huge_fault = gtu_aperture_huge_fault,
#endif
};

/**
 * gtu_extent_mmap() - map a range of the aperture
 * @p: the extent
 * @vma: the mapping
 *
 * The mapping takes over the caller's reference. Pages are inserted by faults.
 */
void gtu_extent_mmap(struct gtu_extent *p, struct vm_area_struct *vma)
{
	vm_flags_mod(vma, VM_PFNMAP | VM_IO, 0);
	vma->vm_page_prot = pgprot_decrypted(pgprot_writecombine(vma->vm_page_prot));
	p->pgoff = vma->vm_pgoff;
	vma->vm_private_data = p;
	vma->vm_ops = &gtu_aperture_vm_ops;
	atomic_inc(&p->ctx->aperture_maps);
}

/**
 * gtu_aperture_unmap() - replace the aperture mappings of a dead context by zero pages
 * @ctx: the context
 */
void gtu_aperture_unmap(struct gtu_ctx *ctx)
{
	down_write(&ctx->gtu->map_lock);
	ctx->aperture_revoked = true;
	up_write(&ctx->gtu->map_lock);
	/*
	 * A mapping keeps its file open, so there are none at release. The
	 * range includes mappings of other contexts, which fault in again.
	 */
	if (atomic_read(&ctx->aperture_maps))
		unmap_mapping_range(ctx->mapping, gtu_map_offset(GTU_MAP_APERTURE, 0),
				    1ull << GTU_MAP_KIND_SHIFT, 1);
}
