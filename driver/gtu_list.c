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
#define GTU_PER_BLOCK		((unsigned int)(PAGE_SIZE / GTU_CHUNK_BYTES))

static __le64 *gtu_chunk(struct gtu_list *l, unsigned int n, dma_addr_t *dma)
{
	size_t at = n % GTU_PER_BLOCK * GTU_CHUNK_BYTES;

	if (dma)
		*dma = l->block_dma[n / GTU_PER_BLOCK] + at;
	return (void *)l->block[n / GTU_PER_BLOCK] + at;
}

void gtu_list_free(struct gtu_ctx *ctx, struct gtu_list *l)
{
	unsigned int i;

	for (i = 0; i < l->blocks; i++)
		dma_free_coherent(ctx->gtu->parent, PAGE_SIZE, l->block[i], l->block_dma[i]);
	ctx->chunks -= l->chunks;
	kvfree(l->block);
	kvfree(l->block_dma);
	memset(l, 0, sizeof(*l));
}

static int gtu_list_alloc(struct gtu_ctx *ctx, struct gtu_list *l, unsigned int chunks)
{
	unsigned int blocks = DIV_ROUND_UP(chunks, GTU_PER_BLOCK);

	if (chunks > GTU_CTX_CHUNKS - ctx->chunks)
		return -ENOSPC;
	l->block = kvcalloc(blocks, sizeof(*l->block), GFP_KERNEL_ACCOUNT);
	l->block_dma = kvcalloc(blocks, sizeof(*l->block_dma), GFP_KERNEL_ACCOUNT);
	l->chunks = chunks;
	ctx->chunks += chunks;
	if (!l->block || !l->block_dma)
		goto err;
	for (; l->blocks < blocks; l->blocks++) {
		l->block[l->blocks] = dma_alloc_coherent(ctx->gtu->parent, PAGE_SIZE,
							 &l->block_dma[l->blocks],
							 GFP_KERNEL_ACCOUNT);
		if (!l->block[l->blocks])
			goto err;
	}
	return 0;
err:
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
			gtu_chunk(l, page / GTU_CHUNK_ENTRIES, NULL)[page % GTU_CHUNK_ENTRIES] =
				cpu_to_le64(bus);
		at += sg_dma_len(sg);
	}
}

/*
 * Build r->list and set base, offset and layout flags of @entry. Called under
 * ctx->lock.
 */
int gtu_list_build(struct gtu_ctx *ctx, struct gtu_region *r, struct gtu_hw_region *entry)
{
	struct sg_table *sgt = r->sgt;
	unsigned int shift, levels, chunks, below, above, i;
	dma_addr_t first, dma;
	u64 pages, offset, n;
	int ret;

	lockdep_assert_held(&ctx->lock);
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
			__le64 *to = gtu_chunk(&r->list, below + n + i / GTU_CHUNK_ENTRIES, NULL);

			gtu_chunk(&r->list, below + i, &dma);
			to[i % GTU_CHUNK_ENTRIES] = cpu_to_le64(dma);
		}
		below += n;
	}
	gtu_chunk(&r->list, below, &dma);
	entry->base = cpu_to_le64(dma);
	entry->offset = cpu_to_le64(offset);
	entry->flags = cpu_to_le32(levels << GTU_REGION_LEVELS_SHIFT |
				   shift << GTU_REGION_PAGE_SHIFT);
	return 0;
}
