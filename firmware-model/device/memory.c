// SPDX-License-Identifier: MIT
/*
 * Regions: translate a key and an offset to host memory, with every access bounds-checked. Nothing
 * resolved here outlives a step, so the device never uses a table entry that the driver has
 * revoked.
 */
#include "core.h"

static void *host_memory(struct gtu_dev *dev, uint64_t addr, uint64_t *len, bool write)
{
	return dev->ops.dma(dev->host, gtu_bug(dev, GTU_BUG_DMA_32) ? (uint32_t)addr : addr, len, write);
}

void *gtu_dma(struct gtu_dev *dev, uint64_t addr, uint64_t bytes, bool write)
{
	uint64_t got = bytes;
	void *at;

	if (addr + bytes < addr)
		return NULL;
	at = host_memory(dev, addr, &got, write);
	return at && got >= bytes ? at : NULL;
}

bool gtu_dma_read(struct gtu_dev *dev, uint64_t addr, void *to, uint64_t bytes)
{
	uint8_t *buffer = to;

	while (bytes) {
		uint64_t got = bytes;
		void *at = addr + bytes < addr ? NULL : host_memory(dev, addr, &got, false);

		if (!at || !got)
			return false;
		if (got > bytes)
			got = bytes;
		memcpy(buffer, at, got);
		buffer += got, addr += got, bytes -= got;
	}
	return true;
}

/* ---- Resolving operands ---------------------------------------------------------------------- */

static unsigned region_levels(const struct gtu_hw_region *r)
{
	return r->flags >> GTU_REGION_LEVELS_SHIFT & GTU_REGION_LEVELS_MASK;
}

static unsigned region_shift(const struct gtu_hw_region *r)
{
	return r->flags >> GTU_REGION_PAGE_SHIFT & GTU_REGION_PAGE_MASK;
}

/* Copy the table entry of a key once and check it. Returns a GTU_CPL_* code. */
static unsigned region_fetch(struct gtu_dev *dev, const struct gtu_context *c, uint32_t key,
			     struct gtu_hw_region *r)
{
	uint32_t slot = GTU_KEY_SLOT(key);
	unsigned shift;

	if (!GTU_KEY_GENERATION(key) || slot >> c->table_log2)
		return GTU_CPL_KEY;
	if (!gtu_dma_read(dev, c->table + slot * sizeof(*r), r, sizeof(*r)))
		return GTU_CPL_DMA;
	if ((r->key != key && !(gtu_bug(dev, GTU_BUG_GENERATION) && GTU_KEY_SLOT(r->key) == slot)) ||
	    !(r->flags & GTU_REGION_VALID))
		return GTU_CPL_KEY;
	shift = region_shift(r);
	if (shift < 12 || shift > 40 || r->offset % 8 || r->base % (region_levels(r) ? GTU_CHUNK_BYTES : 8))
		return GTU_CPL_KEY;
	if (r->flags & GTU_REGION_APERTURE) {
		if (region_levels(r) || r->base > dev->config.aperture_bytes ||
		    r->offset > dev->config.aperture_bytes - r->base ||
		    r->length > dev->config.aperture_bytes - r->base - r->offset)
			return GTU_CPL_KEY;
	} else if (r->length > 1ull << 62 || r->offset > 1ull << 62) {
		return GTU_CPL_KEY;
	}
	return GTU_CPL_OK;
}

/* Resolve one operand. Returns a GTU_CPL_* code. */
static unsigned resolve(struct gtu_job *job, const struct gtu_requirement *want)
{
	struct gtu_dev *dev = job->dev;
	const unsigned slot = want->slot;
	struct gtu_mem *m = &job->mem[slot];
	const bool again = gtu_bug(dev, GTU_BUG_INVALIDATE) && job->cycles;
	static const struct gtu_hw_operand none;
	const struct gtu_hw_operand *op = slot < job->operands ? &job->operand[slot] : &none;
	uint64_t bytes, space;
	unsigned status;

	m->base = NULL;
	m->bytes = m->count = m->addr = 0;
	m->key = op->key;
	m->slot = slot;
	m->width_log2 = want->width_log2;
	m->write = want->need & GTU_REQUIRE_WRITE;
	m->job = job;
	if (!op->key) {
		if (op->count || op->offset || !(want->need == GTU_REQUIRE_NONE || want->need & GTU_REQUIRE_MAYBE))
			return GTU_CPL_OPERAND;
		return GTU_CPL_OK;
	}
	if (want->need == GTU_REQUIRE_NONE || op->offset & ((1ull << want->width_log2) - 1) ||
	    (op->count == GTU_COUNT_TO_END && !want->rest))
		return GTU_CPL_OPERAND;
	status = again && m->region.key == op->key ? GTU_CPL_OK : region_fetch(dev, job->context, op->key, &m->region);
	if (status)
		return status;
	if ((want->need & GTU_REQUIRE_READ && !(m->region.flags & GTU_REGION_READ)) ||
	    (want->need & GTU_REQUIRE_WRITE && !(m->region.flags & GTU_REGION_WRITE) && !gtu_bug(dev, GTU_BUG_RIGHTS)))
		return GTU_CPL_RIGHTS;
	if (op->offset > m->region.length)
		return GTU_CPL_BOUNDS;
	space = m->region.length - op->offset;
	m->count = op->count;
	if (op->count == GTU_COUNT_TO_END)
		m->count = space >> want->width_log2;
	bytes = want->need & GTU_REQUIRE_REST ? space :
		want->bytes ? want->bytes : m->count << want->width_log2;
	if (bytes > space + ((uint64_t)gtu_bug(dev, GTU_BUG_BOUNDS) << want->width_log2))
		return GTU_CPL_BOUNDS;
	m->bytes = bytes;
	m->addr = op->offset;
	m->aperture = m->region.flags & GTU_REGION_APERTURE;
	m->monitored = dev->monitor || dev->watch;

	if (m->aperture) {
		m->base = dev->aperture + m->region.base + m->region.offset + op->offset;
		return GTU_CPL_OK;
	}
	if (!region_levels(&m->region) && bytes && !gtu_bug(dev, GTU_BUG_DMA_PAGE))
		m->base = gtu_dma(dev, m->region.base + m->region.offset + op->offset, bytes, m->write);
	if (!m->base)
		memset(m->tlb, 0, sizeof(m->tlb));
	return GTU_CPL_OK;
}

bool gtu_job_operands(struct gtu_job *job, const struct gtu_requirement *want, unsigned n)
{
	unsigned i, status;
	uint32_t named = 0;

	for (i = 0; i < n; i++) {
		named |= 1u << want[i].slot;
		status = resolve(job, &want[i]);
		if (status)
			return gtu_job_error(job, status, want[i].slot, 0), false;
	}
	for (i = 0; i < job->operands; i++) {
		const struct gtu_hw_operand *op = &job->operand[i];

		if (!(named >> i & 1) && (op->key || op->count || op->offset))
			return gtu_job_error(job, GTU_CPL_OPERAND, i, 0), false;
	}
	return true;
}

/* ---- Scattered regions ----------------------------------------------------------------------- */

/* Find the bus address of page @page of a region. Returns a GTU_CPL_* code. */
static unsigned page_address(struct gtu_dev *dev, const struct gtu_hw_region *r, uint64_t page,
			     uint64_t *addr)
{
	unsigned level = region_levels(r);
	uint64_t at = r->base;

	if (!level) {
		*addr = at + (page << region_shift(r));
		return GTU_CPL_OK;
	}
	if (page >> (9 * level))
		return GTU_CPL_DMA;
	for (; level; level--) {
		uint64_t index = page >> (9 * (level - 1)) & (GTU_CHUNK_ENTRIES - 1);

		if (!gtu_dma_read(dev, at + 8 * index, &at, 8))
			return GTU_CPL_DMA;
		if (at & ((level > 1 ? GTU_CHUNK_BYTES : 1ull << region_shift(r)) - 1))
			return GTU_CPL_KEY;
	}
	*addr = at;
	return GTU_CPL_OK;
}

uint8_t *gtu_mem_span_slow(struct gtu_mem *m, uint64_t byte, uint64_t want, uint64_t *got)
{
	struct gtu_dev *dev = m->job->dev;
	const unsigned shift = region_shift(&m->region);
	const uint64_t page_bytes = 1ull << shift;
	uint64_t at, page, in_page, space, addr;
	unsigned slot, status = GTU_CPL_DMA;

	if (!m->key || byte > m->bytes || want > m->bytes - byte || !want) {
		gtu_job_error(m->job, GTU_CPL_BOUNDS, m->slot, byte >> m->width_log2);
		return NULL;
	}
	if (m->base) {
		*got = want;
		return m->base + byte;
	}
	at = m->region.offset + m->addr + byte;
	page = at >> shift;
	if (gtu_bug(dev, GTU_BUG_DMA_PAGE))
		page = (m->region.offset + m->addr) >> shift;
	in_page = at & (page_bytes - 1);
	space = page_bytes - in_page;
	slot = page % GTU_TLB_ENTRIES;
	if (m->tlb[slot].page != page + 1) {
		uint64_t bytes = page_bytes;
		uint8_t *p;

		status = page_address(dev, &m->region, page, &addr);
		if (status)
			goto fault;
		status = GTU_CPL_DMA;
		if (addr + page_bytes < addr)
			goto fault;
		p = host_memory(dev, addr, &bytes, m->write);
		if (!p) {
			bytes = 0;	/* the requested part alone may be mapped: tried below */
		}
		m->tlb[slot].page = page + 1;
		m->tlb[slot].at = p;
		m->tlb[slot].bytes = bytes < page_bytes ? bytes : page_bytes;
	}
	if (in_page < m->tlb[slot].bytes) {
		space = m->tlb[slot].bytes - in_page;
		*got = want < space ? want : space;
		return m->tlb[slot].at + in_page;
	}
	/* The page is larger than the host's contiguous memory. */
	if (!page_address(dev, &m->region, page, &addr)) {
		uint64_t bytes = want < space ? want : space;
		uint8_t *p = host_memory(dev, addr + in_page, &bytes, m->write);

		if (p && bytes) {
			space = bytes < space ? bytes : space;
			*got = want < space ? want : space;
			return p;
		}
	}
fault:
	gtu_job_error(m->job, status, m->slot, byte >> m->width_log2);
	return NULL;
}

/* Copy from an operand to @buffer, or from @buffer if @store. */
static bool mem_copy(struct gtu_mem *m, uint64_t byte, uint8_t *buffer, uint64_t bytes, bool store)
{
	uint64_t got;
	uint8_t *p;

	for (; bytes; bytes -= got, byte += got, buffer += got) {
		p = gtu_mem_span(m, byte, bytes, &got);
		if (!p)
			return false;
		memcpy(store ? p : buffer, store ? buffer : p, got);
	}
	return true;
}

bool gtu_mem_load(struct gtu_mem *m, uint64_t byte, void *to, uint64_t bytes)
{
	return mem_copy(m, byte, to, bytes, false);
}

bool gtu_mem_store(struct gtu_mem *m, uint64_t byte, const void *from, uint64_t bytes)
{
	return mem_copy(m, byte, (uint8_t *)from, bytes, true);
}

/* ---- Observers ------------------------------------------------------------------------------- */

static struct gtu_access access_of(const struct gtu_mem *m, uint64_t cycle)
{
	struct gtu_dev *dev = m->job->dev;
	const size_t latency = m->job->unit->latency ? m->job->unit->latency :
						       offsetof(struct gtu_dev_config, scu_latency);
	struct gtu_access a = {
		.key = m->key,
		.unit = m->job->desc.opcode >> 4,
		.slot = m->slot,
		.kind = m->aperture ? GTU_WATCH_APERTURE : GTU_WATCH_HOST,
		.write = m->write,
		.cycle = dev->run_cycles + cycle,
		.latency = *(const uint32_t *)((const char *)&dev->config + latency),
	};

	return a;
}

void gtu_watch_stream(struct gtu_mem *m, uint64_t byte, uint64_t bytes, uint64_t cycle)
{
	struct gtu_dev *dev = m->job->dev;
	struct gtu_access a = access_of(m, cycle);

	if (!bytes)
		return;
	if (dev->monitor && !m->aperture)
		gtu_zcm_stream(dev, m->write ? GTU_ZCM_HOST_WRITE : GTU_ZCM_HOST_READ, m->addr + byte,
			       bytes, a.cycle, a.latency);
	if (dev->watch)
		dev->watch->stream(dev->watch, &a, m->addr + byte, bytes);
}

void gtu_watch_gather(struct gtu_mem *m, const uint64_t *bytes, unsigned n, uint64_t cycle)
{
	struct gtu_dev *dev = m->job->dev;
	struct gtu_access a = access_of(m, cycle);
	uint64_t addr[GTU_WARP];
	unsigned i;

	if (!n || n > GTU_WARP)
		return;
	for (i = 0; i < n; i++)
		addr[i] = m->addr + bytes[i];
	if (dev->monitor && !m->aperture)
		gtu_zcm_gather(dev, m->write ? GTU_ZCM_HOST_WRITE : GTU_ZCM_HOST_READ, addr, n,
			       1u << m->width_log2, a.cycle, a.latency);
	if (dev->watch)
		dev->watch->gather(dev->watch, &a, addr, n, 1u << m->width_log2);
}
