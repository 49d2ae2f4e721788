// SPDX-License-Identifier: GPL-2.0-only
/*
 * Builds the page lists of scattered regions. Uses the largest page size that
 * the DMA-mapped segments allow: an IOMMU or huge pages can make it large. A
 * contiguous region needs no list.
 */
#include <linux/slab.h>

#include "gtu_drv.h"

#define GTU_SHIFT_MIN		12
#define GTU_SHIFT_MAX		40
/* first attempt: an allocation of 64 chunks, without reclaim effort */
#define GTU_LIST_ORDER		(18 - PAGE_SHIFT)

static __le64 *gtu_chunk(struct gtu_list *l, unsigned int n)
{
	return l->chunk[n].cpu;
}

/**
 * gtu_list_free() - free a page list
 * @ctx: the context
 * @l: the list
 */
void gtu_list_free(struct gtu_ctx *ctx, struct gtu_list *l)
{
	unsigned int i;

	for (i = 0; l->chunk && i < l->chunks; i++)
		if (l->chunk[i].bytes)
			dma_free_coherent(ctx->gtu->parent, l->chunk[i].bytes, l->chunk[i].cpu,
					  l->chunk[i].dma);
	atomic_long_sub(l->chunks, &ctx->chunks);
	kvfree(l->chunk);
	memset(l, 0, sizeof(*l));
}

static int gtu_list_alloc(struct gtu_ctx *ctx, struct gtu_list *l, unsigned int chunks)
{
	unsigned int order = GTU_LIST_ORDER, n = 0, i;

	l->chunks = chunks;
	if (atomic_long_add_return(chunks, &ctx->chunks) > GTU_CTX_CHUNKS) {
		gtu_list_free(ctx, l);
		return -ENOSPC;
	}
	l->chunk = kvcalloc(chunks, sizeof(*l->chunk), GFP_KERNEL_ACCOUNT);
	while (l->chunk && n < chunks) {
		struct gtu_chunk *c = &l->chunk[n];
		size_t bytes;

		while (order && PAGE_SIZE << (order - 1) >= (chunks - n) * GTU_CHUNK_BYTES)
			order--;
		bytes = PAGE_SIZE << order;
		c->cpu = dma_alloc_coherent(ctx->gtu->parent, bytes, &c->dma, GFP_KERNEL_ACCOUNT |
					    (order ? __GFP_NORETRY | __GFP_NOWARN : 0));
		if (!c->cpu && !order)
			break;
		if (!c->cpu) {
			order--;
			continue;
		}
		c->bytes = bytes;
		for (i = 1; i < bytes / GTU_CHUNK_BYTES && n + i < chunks; i++) {
			c[i].cpu = c->cpu + i * GTU_CHUNK_ENTRIES;
			c[i].dma = c->dma + i * GTU_CHUNK_BYTES;
		}
		n += i;
		cond_resched();
	}
	if (n == chunks)
		return 0;
	gtu_list_free(ctx, l);
	return -ENOMEM;
}

/*
 * Returns log2 of the page size: the largest for which every break between two
 * segments is page-aligned on both sides. The first segment may start and the
 * last one end anywhere. 0: no breaks.
 */
static unsigned int gtu_list_shift(struct sg_table *sgt)
{
	struct scatterlist *sg;
	dma_addr_t end = 0;
	u64 breaks = 0;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (i && sg_dma_address(sg) != end)
			breaks |= sg_dma_address(sg) | end;
		end = sg_dma_address(sg) + sg_dma_len(sg);
	}
	/* an odd address is a break within a page, too */
	return breaks ? clamp_t(unsigned int, __ffs64(breaks), 1, GTU_SHIFT_MAX) : 0;
}

/*
 * Fill level 1: one address per page. Segments that share a page yield the same
 * address.
 */
static void gtu_list_fill(struct gtu_list *l, struct sg_table *sgt, unsigned int shift, u64 pages)
{
	u64 mask = (1ull << shift) - 1, at = sg_dma_address(sgt->sgl) & mask;
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		u64 bus = sg_dma_address(sg) & ~mask, end = sg_dma_address(sg) + sg_dma_len(sg);
		u64 page = at >> shift;

		for (; bus < end && page < pages; bus += mask + 1, page++)
			gtu_chunk(l, page / GTU_CHUNK_ENTRIES)[page % GTU_CHUNK_ENTRIES] =
				cpu_to_le64(bus);
		at += sg_dma_len(sg);
		cond_resched();
	}
}

/**
 * gtu_list_build() - describe the pages of a region for the device
 * @ctx: the context
 * @r: the region
 * @entry: entry of the region table to fill in
 *
 * Builds r->list and sets base, offset and layout flags of @entry. Not under
 * ctx->lock, because a list can have millions of entries.
 *
 * Return: 0 or a negative errno
 */
int gtu_list_build(struct gtu_ctx *ctx, struct gtu_region *r, struct gtu_hw_region *entry)
{
	struct sg_table *sgt = r->sgt;
	unsigned int shift, levels, chunks, below, above, i;
	dma_addr_t first;
	u64 pages, offset, n;
	int ret;

	if (r->extent) {
		entry->base = cpu_to_le64((u64)r->extent->first << PAGE_SHIFT);
		entry->flags = cpu_to_le32(GTU_REGION_APERTURE |
					   GTU_SHIFT_MIN << GTU_REGION_PAGE_SHIFT);
		return 0;
	}
	first = sg_dma_address(sgt->sgl);
	shift = gtu_list_shift(sgt);
	/*
	 * Only imported memory can have breaks within pages, or start where the
	 * device accepts no region.
	 */
	if ((shift && shift < GTU_SHIFT_MIN) || first % 8)
		return -EOPNOTSUPP;
	if (!shift && ctx->gtu->caps & GTU_CAP_LINEAR) {
		entry->base = cpu_to_le64(first);
		entry->offset = cpu_to_le64(r->in_page);
		entry->flags = cpu_to_le32(GTU_SHIFT_MIN << GTU_REGION_PAGE_SHIFT);
		return 0;
	}
	shift = shift ?: GTU_SHIFT_MAX;
	offset = (first & ((1ull << shift) - 1)) + r->in_page;
	pages = (offset + r->length + (1ull << shift) - 1) >> shift;

	chunks = 0;
	levels = 0;
	for (n = pages; !levels || n > 1; levels++) {
		n = DIV_ROUND_UP_ULL(n, GTU_CHUNK_ENTRIES);
		if (n > GTU_CTX_CHUNKS)
			return -ENOSPC;
		chunks += n;
	}
	if (levels > 3)
		return -ENOSPC;
	ret = gtu_list_alloc(ctx, &r->list, chunks);
	if (ret)
		return ret;
	gtu_list_fill(&r->list, sgt, shift, pages);

	/*
	 * Each level lists the chunks of the level below, which are
	 * consecutive.
	 */
	below = 0;
	for (n = DIV_ROUND_UP_ULL(pages, GTU_CHUNK_ENTRIES); n > 1; n = above) {
		above = DIV_ROUND_UP(n, GTU_CHUNK_ENTRIES);
		for (i = 0; i < n; i++) {
			__le64 *to = gtu_chunk(&r->list, below + n + i / GTU_CHUNK_ENTRIES);

			to[i % GTU_CHUNK_ENTRIES] = cpu_to_le64(r->list.chunk[below + i].dma);
		}
		below += n;
	}
	entry->base = cpu_to_le64(r->list.chunk[below].dma);
	entry->offset = cpu_to_le64(offset);
	entry->flags = cpu_to_le32(levels << GTU_REGION_LEVELS_SHIFT |
				   shift << GTU_REGION_PAGE_SHIFT);
	return 0;
}
