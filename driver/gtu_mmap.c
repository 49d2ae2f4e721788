// SPDX-License-Identifier: GPL-2.0-only
/*
 * User mappings of rings, doorbells, buffers and the aperture.
 *
 * Rings and doorbells are inserted by faults under gtu->map_lock, which the end
 * of a queue or of the device takes before it zaps them. So no page is inserted
 * after the zap: later faults insert a blank page. Buffer pages are ordinary
 * memory and stay while mapped.
 */
#include <linux/cc_platform.h>
#include <linux/slab.h>

#include "gtu_drv.h"

/**
 * gtu_map_offset() - offset for mmap() of an object
 * @kind: GTU_MAP_*
 * @id: id of the queue, or slot of the region
 *
 * Return: the offset
 */
u64 gtu_map_offset(u32 kind, u32 id)
{
	return (u64)kind << GTU_MAP_KIND_SHIFT | (u64)id << GTU_MAP_ID_SHIFT;
}

static u32 gtu_map_kind(struct vm_area_struct *vma)
{
	return (u64)vma->vm_pgoff << PAGE_SHIFT >> GTU_MAP_KIND_SHIFT;
}

static const struct gtu_ring *gtu_map_ring(struct gtu_queue *q, u32 kind)
{
	return kind == GTU_MAP_SQ ? &q->sq : &q->cq;
}

/**
 * gtu_tables_alloc() - allocate the page tables for an insertion under gtu->map_lock
 * @vma: the mapping
 * @at: first address
 * @end: end of the addresses
 *
 * Memory that is allocated under that lock could wait for itself: see
 * gtu_import_lockdep().
 *
 * Return: 0, -ENOMEM, or -EINVAL if there is a huge entry
 */
int gtu_tables_alloc(struct vm_area_struct *vma, unsigned long at, unsigned long end)
{
	return apply_to_page_range(vma->vm_mm, at, end - at, NULL, NULL);
}

/**
 * gtu_insert_blank() - insert a zero page in place of device memory
 * @vmf: the fault
 * @blank: the page, allocated if NULL
 *
 * It is mapped cached: an uncached access could see stale data behind the
 * cache. Called without gtu->map_lock.
 *
 * Return: VM_FAULT_*
 */
vm_fault_t gtu_insert_blank(struct vm_fault *vmf, struct page **blank)
{
	struct vm_area_struct *vma = vmf->vma;
	struct page *page;

	if (!READ_ONCE(*blank)) {
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			return VM_FAULT_OOM;
		/* another fault may have been faster */
		if (cmpxchg(blank, NULL, page))
			__free_page(page);
	}
	return vmf_insert_pfn_prot(vma, vmf->address, page_to_pfn(*blank),
				   vm_get_page_prot(vma->vm_flags));
}

/* Insert a whole ring. */
static vm_fault_t gtu_ring_insert(struct vm_area_struct *vma, const struct gtu_ring *ring)
{
	unsigned long at = vma->vm_start;
	vm_fault_t ret = VM_FAULT_NOPAGE;
	struct sg_page_iter it;

	for_each_sgtable_page(ring->sgt, &it, 0) {
		ret = vmf_insert_pfn(vma, at, page_to_pfn(sg_page_iter_page(&it)));
		at += PAGE_SIZE;
		if (ret != VM_FAULT_NOPAGE)
			break;
	}
	return ret;
}

static vm_fault_t gtu_queue_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct gtu_queue *q = vma->vm_private_data;
	struct gtu_device *gtu = q->ctx->gtu;
	u32 kind = gtu_map_kind(vma);
	vm_fault_t ret = 0;
	bool dead;

	if (gtu_tables_alloc(vma, vma->vm_start, vma->vm_end))
		return VM_FAULT_OOM;
	down_read(&gtu->map_lock);
	/* A ring keeps its contents, with the state "disabled", until the queue's end. */
	dead = READ_ONCE(q->dead) || (kind == GTU_MAP_DOORBELL && gtu_ctx_dead(q->ctx));
	if (!dead && kind == GTU_MAP_DOORBELL)
		ret = vmf_insert_pfn(vma, vmf->address,
				     PHYS_PFN(gtu->doorbells_phys + ((u64)q->id << gtu->stride)));
	else if (!dead)
		ret = gtu_ring_insert(vma, gtu_map_ring(q, kind));
	up_read(&gtu->map_lock);
	return dead ? gtu_insert_blank(vmf, &q->blank[kind]) : ret;
}

static void gtu_queue_vma_open(struct vm_area_struct *vma)
{
	struct gtu_queue *q = vma->vm_private_data;

	kref_get(&q->ref);
}

static void gtu_queue_vma_close(struct vm_area_struct *vma)
{
	gtu_queue_put(vma->vm_private_data);
}

/* Splitting would make a mapping that starts inside the ring: refuse it. */
static int gtu_vma_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static const struct vm_operations_struct gtu_queue_vm_ops = {
	.open = gtu_queue_vma_open,
	.close = gtu_queue_vma_close,
	.may_split = gtu_vma_split,
	.fault = gtu_queue_fault,
};

static void gtu_buffer_vma_open(struct vm_area_struct *vma)
{
	struct gtu_buffer *b = vma->vm_private_data;

	kref_get(&b->ref);
}

static void gtu_buffer_vma_close(struct vm_area_struct *vma)
{
	gtu_buffer_put(vma->vm_private_data);
}

#ifdef GTU_HAS_INSERT_FOLIO_PMD
static vm_fault_t gtu_buffer_huge_fault(struct vm_fault *vmf, unsigned int order)
{
	unsigned long at = vmf->address & PMD_MASK;
	struct vm_area_struct *vma = vmf->vma;
	struct gtu_buffer *b = vma->vm_private_data;
	unsigned long page;
	struct folio *folio;

	if (order != PMD_ORDER || at < vma->vm_start || at + PMD_SIZE > vma->vm_end)
		return VM_FAULT_FALLBACK;
	page = vmf->pgoff - ((vmf->address - at) >> PAGE_SHIFT) - b->pgoff;
	if (page + (PMD_SIZE >> PAGE_SHIFT) > b->pages)
		return VM_FAULT_FALLBACK;
	folio = page_folio(b->page[page]);
	if (folio_order(folio) != PMD_ORDER || folio_page(folio, 0) != b->page[page])
		return VM_FAULT_FALLBACK;
	return vmf_insert_folio_pmd(vmf, folio, vmf->flags & FAULT_FLAG_WRITE);
}
#endif

/* Before Linux 6.16 the kernel maps the whole block of a huge page if the addresses allow it. */
static vm_fault_t gtu_buffer_fault(struct vm_fault *vmf)
{
	struct gtu_buffer *b = vmf->vma->vm_private_data;
	unsigned long page = vmf->pgoff - b->pgoff;

	if (page >= b->pages)
		return VM_FAULT_SIGBUS;
	vmf->page = b->page[page];
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct gtu_buffer_vm_ops = {
	.open = gtu_buffer_vma_open,
	.close = gtu_buffer_vma_close,
};

static const struct vm_operations_struct gtu_buffer_fault_vm_ops = {
	.open = gtu_buffer_vma_open,
	.close = gtu_buffer_vma_close,
	.fault = gtu_buffer_fault,
#ifdef GTU_HAS_INSERT_FOLIO_PMD
	.huge_fault = gtu_buffer_huge_fault,
#endif
};

/*
 * vm_map_pages_zero() makes small entries: use faults if most pages are in huge
 * blocks. Either way the memory is ordinary memory for system calls.
 */
static int gtu_buffer_mmap(struct gtu_buffer *b, struct vm_area_struct *vma)
{
	if (vma_pages(vma) != b->pages)
		return -EINVAL;
	vma->vm_private_data = b;
	if (b->huge > b->pages / 2) {
		b->pgoff = vma->vm_pgoff;
		vma->vm_ops = &gtu_buffer_fault_vm_ops;
		return 0;
	}
	vma->vm_ops = &gtu_buffer_vm_ops;
	return vm_map_pages_zero(vma, b->page, b->pages);
}

/**
 * gtu_queue_unmap() - zap all mappings of a dead queue
 * @q: the queue
 */
void gtu_queue_unmap(struct gtu_queue *q)
{
	u32 kind;

	for (kind = GTU_MAP_SQ; kind <= GTU_MAP_DOORBELL; kind++)
		unmap_mapping_range(q->ctx->mapping, gtu_map_offset(kind, q->id),
				    1ull << GTU_MAP_ID_SHIFT, 1);
}

static void gtu_ctx_unmap(struct gtu_ctx *ctx)
{
	const u64 bytes = 1ull << GTU_MAP_KIND_SHIFT;

	unmap_mapping_range(ctx->mapping, gtu_map_offset(GTU_MAP_DOORBELL, 0), bytes, 1);
	if (atomic_read(&ctx->aperture_maps))
		unmap_mapping_range(ctx->mapping, gtu_map_offset(GTU_MAP_APERTURE, 0), bytes, 1);
}

/**
 * gtu_device_unmap() - zap the doorbells and the aperture of all contexts
 * @gtu: the device
 *
 * Called before a reset line is asserted: an access to a device in reset can
 * hang the CPU. The contexts are dead or suspended; faults of dead ones insert
 * blank pages.
 */
void gtu_device_unmap(struct gtu_device *gtu)
{
	struct gtu_ctx *ctx;
	u64 client = 0;

	down_write(&gtu->map_lock);	/* wait for faults that saw a live context */
	up_write(&gtu->map_lock);
	while ((ctx = gtu_ctx_next(gtu, client))) {
		client = ctx->client;
		gtu_ctx_unmap(ctx);
		gtu_ctx_put(ctx);
	}
}

static int gtu_mmap_queue(struct gtu_ctx *ctx, struct vm_area_struct *vma, u32 kind, u32 id)
{
	unsigned long bytes = vma->vm_end - vma->vm_start;
	struct gtu_queue *q = gtu_queue_get(ctx, id);
	int ret = -EINVAL;

	if (IS_ERR(q))
		return PTR_ERR(q);
	if (q->submit && kind != GTU_MAP_CQ)
		goto err;
	/* The rings may be freed already. */
	if (bytes != (kind == GTU_MAP_DOORBELL ? PAGE_SIZE : gtu_map_ring(q, kind)->bytes))
		goto err;
	if (kind == GTU_MAP_CQ) {
		ret = -EACCES;
		if (vma->vm_flags & VM_WRITE)
			goto err;
		vm_flags_mod(vma, 0, VM_MAYWRITE);
	}
	/* VM_IO prevents MADV_DOFORK from clearing VM_DONTCOPY */
	vm_flags_mod(vma, VM_PFNMAP | VM_IO, 0);
	if (kind == GTU_MAP_DOORBELL)
		vma->vm_page_prot = pgprot_decrypted(pgprot_noncached(vma->vm_page_prot));
	else if (cc_platform_has(CC_ATTR_GUEST_MEM_ENCRYPT))
		/* memory for devices is shared with the host */
		vma->vm_page_prot = pgprot_decrypted(vma->vm_page_prot);
	vma->vm_private_data = q;
	vma->vm_ops = &gtu_queue_vm_ops;
	return 0;
err:
	gtu_queue_put(q);
	return ret;
}

static int gtu_mmap_region(struct gtu_ctx *ctx, struct vm_area_struct *vma, u32 kind, u32 slot)
{
	struct gtu_buffer *b = NULL;
	struct gtu_extent *p = NULL;
	struct gtu_region *r;
	int ret;

	spin_lock(&ctx->region_lock);
	r = gtu_region_at(ctx, slot);
	if (r && kind == GTU_MAP_BUFFER)
		b = r->buffer;
	else if (r)
		p = r->extent;
	if (b)
		kref_get(&b->ref);
	if (p)
		kref_get(&p->ref);
	spin_unlock(&ctx->region_lock);
	if (!b && !p)
		return -ENOENT;
	if (b) {
		ret = gtu_buffer_mmap(b, vma);
		if (ret)
			gtu_buffer_put(b);
		return ret;
	}
	if (vma_pages(vma) != p->pages) {
		gtu_extent_put(p);
		return -EINVAL;
	}
	gtu_extent_mmap(p, vma);
	return 0;
}

/**
 * gtu_mmap() - mmap() of a file
 * @file: the open file
 * @vma: the mapping
 *
 * Takes no lock that a call holds while it waits for the device.
 *
 * Return: 0 or a negative errno
 */
int gtu_mmap(struct file *file, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	struct gtu_ctx *ctx = file->private_data;
	u32 kind = gtu_map_kind(vma), id;
	int inside = gtu_enter(ctx), ret;

	if (inside < 0)
		return inside;
	id = (offset & ((1ull << GTU_MAP_KIND_SHIFT) - 1)) >> GTU_MAP_ID_SHIFT;
	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	if (kind > GTU_MAP_APERTURE || offset & ((1ull << GTU_MAP_ID_SHIFT) - 1) ||
	    !(vma->vm_flags & VM_SHARED))
		ret = -EINVAL;
	else if (vma->vm_flags & VM_EXEC)
		ret = -EACCES;
	else if (kind <= GTU_MAP_DOORBELL)
		ret = gtu_mmap_queue(ctx, vma, kind, id);
	else
		ret = gtu_mmap_region(ctx, vma, kind, id);
	gtu_leave(ctx, inside);
	return ret;
}
