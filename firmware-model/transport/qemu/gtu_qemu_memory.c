// SPDX-License-Identifier: MIT
/* The guest's memory as the device sees it: memory lent by QEMU, and translations of an IOMMU. */
#include "gtu_qemu_core.h"

/* Most translations that are cached; when exceeded, all are dropped. */
#define TRANSLATIONS_MAX	16384u

void gtu_qemu_flush_written(struct gtu_qemu *g)
{
	unsigned i;

	for (i = 0; i < g->written->len; i++) {
		const struct iovec *w = &g_array_index(g->written, struct iovec, i);
		uint8_t *at = w->iov_base;
		size_t left = w->iov_len, bytes;

		/* split at region boundaries: regions may be adjacent in this process only */
		while (left) {
			ram_addr_t offset;
			MemoryRegion *mr = memory_region_from_host(at, &offset);

			if (!mr || offset >= memory_region_size(mr))
				break;
			bytes = MIN(left, memory_region_size(mr) - offset);
			/* address_space_unmap() drops a reference */
			memory_region_ref(mr);
			address_space_unmap(g->setup.as, at, bytes, true, bytes);
			at += bytes;
			left -= bytes;
		}
	}
	g_array_set_size(g->written, 0);
}

/* ---- Translation ------------------------------------------------------------------------------ */

static bool is_plain(const MemoryRegionSection *s)
{
	return memory_region_is_ram(s->mr) && !memory_region_is_ram_device(s->mr);
}

static void forget_translations(struct gtu_qemu *g)
{
	struct gtu_qemu_iommu *i;

	QLIST_FOREACH(i, &g->iommus, next)
		dma_table_unmap(&g->memory, i->start, i->last - i->start + 1 ? i->last - i->start + 1 : UINT64_MAX);
}

/* Find the RAM at the translated address; a page of an IOMMU may span holes. */
static MemoryRegionSection find_behind(const IOMMUTLBEntry *e, hwaddr addr)
{
	const hwaddr from = e->translated_addr & ~e->addr_mask, wanted = from + (addr & e->addr_mask);
	MemoryRegionSection s = memory_region_find(e->target_as->root, from, e->addr_mask + 1 ? e->addr_mask + 1 : UINT64_MAX);

	if (s.mr && wanted - s.offset_within_address_space < int128_get64(s.size))
		return s;
	if (s.mr)
		memory_region_unref(s.mr);
	/* retry from the 4 KiB page that is needed */
	s = memory_region_find(e->target_as->root, wanted & ~0xfffull, e->addr_mask - (wanted & ~0xfffull & e->addr_mask) + 1);
	if (s.mr && wanted - s.offset_within_address_space < int128_get64(s.size))
		return s;
	if (s.mr)
		memory_region_unref(s.mr);
	s.mr = NULL;
	return s;
}

/*
 * Call the IOMMU. Requires the big lock and no other; the thread is blocked if the request is its
 * own.
 */
static void translate(struct gtu_qemu *g, hwaddr addr, bool write)
{
	MemoryRegionSection s;
	IOMMUTLBEntry e;
	hwaddr page;
	uint64_t one = 1;
	/* QEMU translates for the requested direction only but reports both as permitted */
	const bool had_other = dma_table_find(&g->memory, addr, &one, !write);

	/*
	 * An IOMMU reports faults by writes to configured addresses, which may be this device's
	 * registers or control its memory and removal. Such changes are put into `deferred`;
	 * gtu_qemu_unrealize() sets `cut`.
	 */
	g->serving = true;
	WITH_RCU_READ_LOCK_GUARD() {
		e = address_space_get_iotlb_entry(g->setup.as, addr, write, MEMTXATTRS_UNSPECIFIED);
	}
	g->serving = false;
	/* discard the answer if something has changed since */
	if (g->cut || g->deferred->len || e.perm == IOMMU_NONE || !e.target_as)
		return;
	s = find_behind(&e, addr);
	if (!s.mr)
		return;
	if (is_plain(&s)) {
		page = s.offset_within_address_space - (e.translated_addr & ~e.addr_mask);
		/* pointers of this step stay valid: the regions are held and still mapped */
		if (g->memory.count >= TRANSLATIONS_MAX)
			forget_translations(g);
		if (!g_hash_table_contains(g->held, s.mr)) {
			memory_region_ref(s.mr);
			g_hash_table_add(g->held, s.mr);
		}
		dma_table_map_host(&g->memory, (addr & ~e.addr_mask) + page, int128_get64(s.size),
			       (uint8_t *)memory_region_get_ram_ptr(s.mr) + s.offset_within_region,
			       !write || had_other, (write || had_other) && !s.readonly);
	}
	memory_region_unref(s.mr);
}

void gtu_qemu_serve(struct gtu_qemu *g)
{
	const hwaddr addr = g->request.addr;
	const bool write = g->request.write;

	qemu_mutex_unlock(&g->lock);
	translate(g, addr, write);
	qemu_mutex_lock(&g->lock);
	g->request.pending = false;
	qemu_cond_signal(&g->answer);
}

static void on_serve_bh(void *opaque)
{
	struct gtu_qemu *g = opaque;

	qemu_mutex_lock(&g->lock);
	if (g->request.pending)
		gtu_qemu_serve(g);
	qemu_mutex_unlock(&g->lock);
	gtu_qemu_apply_deferred(g);
}

/* Translate for the caller of the model; the thread waits for a thread with the big lock. */
static void ask_iommu(struct gtu_qemu *g, hwaddr addr, bool write)
{
	if (!g->stepping) {
		/* keep exclusive access for this caller */
		g->waiting++;
		qemu_mutex_unlock(&g->lock);
		translate(g, addr, write);
		qemu_mutex_lock(&g->lock);
		g->waiting--;
		return;
	}
	qemu_mutex_lock(&g->lock);
	if (!g->cut) {
		g->request.addr = addr;
		g->request.write = write;
		g->request.pending = true;
		qemu_bh_schedule(g->serve_bh);
		qemu_cond_broadcast(&g->stepped);
	}
	while (g->request.pending)
		qemu_cond_wait(&g->answer, &g->lock);
	qemu_mutex_unlock(&g->lock);
}

static bool behind_iommu(const struct gtu_qemu *g, hwaddr addr)
{
	const struct gtu_qemu_iommu *i;

	QLIST_FOREACH(i, &g->iommus, next) {
		if (addr >= i->start && addr <= i->last)
			return true;
	}
	return false;
}

static void note_written(struct gtu_qemu *g, void *at, size_t bytes)
{
	struct iovec w = { at, bytes }, *last;

	if (g->written->len) {
		last = &g_array_index(g->written, struct iovec, g->written->len - 1);
		if (at >= last->iov_base && (char *)at + bytes <= (char *)last->iov_base + last->iov_len)
			return;
		if (at == (char *)last->iov_base + last->iov_len) {
			last->iov_len += bytes;
			return;
		}
	}
	g_array_append_val(g->written, w);
}

void *gtu_qemu_dma(void *host, uint64_t addr, uint64_t *len, bool write)
{
	struct gtu_qemu *g = host;
	void *at = dma_table_find(&g->memory, addr, len, write);

	if (!at && behind_iommu(g, addr)) {
		ask_iommu(g, addr, write);
		at = dma_table_find(&g->memory, addr, len, write);
	}
	if (at && write)
		note_written(g, at, *len);
	return at;
}

/* ---- Changes of memory ----------------------------------------------------------------------------- */

/* An IOMMU mapping was added or removed: drop cached translations. */
static void on_iommu_change(IOMMUNotifier *n, IOMMUTLBEntry *e)
{
	struct gtu_qemu_iommu *i = container_of(n, struct gtu_qemu_iommu, notifier);

	gtu_qemu_change(i->core, &(struct gtu_qemu_change) {
		.what = GTU_QEMU_UNMAP, .start = (e->iova & ~e->addr_mask) + i->shift, .last = (e->iova | e->addr_mask) + i->shift,
	});
}

/*
 * Before QEMU 8.1, VT-d does not report invalidations of a domain or of everything to notifiers for
 * unmapping only, but only to those that follow all mappings, which requires caching-mode=on.
 */
static IOMMUNotifierFlag wanted_events(MemoryRegion *mr)
{
	if (GTU_QEMU_VERSION < 801 && object_dynamic_cast(OBJECT(mr), "intel-iommu-iommu-memory-region"))
		return IOMMU_NOTIFIER_IOTLB_EVENTS;
	return IOMMU_NOTIFIER_UNMAP;
}

static void add_iommu(struct gtu_qemu *g, const struct gtu_qemu_change *c)
{
	struct gtu_qemu_iommu *i = g_new0(struct gtu_qemu_iommu, 1);
	Error *err = NULL;

	i->core = g;
	i->region = IOMMU_MEMORY_REGION(c->mr);
	i->start = c->start;
	i->last = c->last;
	i->shift = c->start - c->offset;
	iommu_notifier_init(&i->notifier, on_iommu_change, wanted_events(c->mr), i->start - i->shift, i->last - i->shift,
			    memory_region_iommu_attrs_to_index(i->region, MEMTXATTRS_UNSPECIFIED));
	/* memory is inaccessible without notifications of unmapping */
	if (memory_region_register_iommu_notifier(c->mr, &i->notifier, &err)) {
		error_prepend(&err, "gtu: the IOMMU does not report unmapping, so the device cannot access memory: ");
		if (g->warned)
			error_free(err);
		else
			warn_report_err(err);
		g->warned = true;
		g_free(i);
		return;
	}
	memory_region_ref(c->mr);
	QLIST_INSERT_HEAD(&g->iommus, i, next);
}

static void add_memory(struct gtu_qemu *g, const struct gtu_qemu_change *c)
{
	void *host;

	memory_region_ref(c->mr);
	host = (uint8_t *)memory_region_get_ram_ptr(c->mr) + c->offset;
	if (dma_table_map_host(&g->memory, c->start, c->last - c->start + 1, host, true, !c->readonly))
		warn_report_once("gtu: no space in the DMA table for memory at bus address 0x%" HWADDR_PRIx, c->start);
}

static void drop(struct gtu_qemu *g, const struct gtu_qemu_change *c)
{
	struct gtu_qemu_removed removed = { .mr = c->mr };
	struct gtu_qemu_iommu *i;

	dma_table_unmap(&g->memory, c->start, c->last - c->start + 1);
	QLIST_FOREACH(i, &g->iommus, next) {
		if (MEMORY_REGION(i->region) == c->mr && i->start == c->start)
			removed.iommu = i;
	}
	if (removed.iommu)
		QLIST_REMOVE(removed.iommu, next);
	/* without translations the regions need not be held */
	if (removed.iommu && QLIST_EMPTY(&g->iommus))
		g_hash_table_remove_all(g->held);
	if (!memory_region_is_iommu(c->mr) || removed.iommu)
		g_array_append_val(g->removed, removed);
}

void gtu_qemu_change_memory(struct gtu_qemu *g, const struct gtu_qemu_change *c)
{
	switch (c->what) {
	case GTU_QEMU_ADD:
		if (memory_region_is_iommu(c->mr))
			add_iommu(g, c);
		else
			add_memory(g, c);
		break;
	case GTU_QEMU_DROP:
		drop(g, c);
		break;
	case GTU_QEMU_UNMAP:
		dma_table_unmap(&g->memory, c->start, c->last - c->start + 1 ? c->last - c->start + 1 : UINT64_MAX);
		break;
	case GTU_QEMU_RESET:
		g_assert_not_reached();
	}
}

void gtu_qemu_release(GArray *removed)
{
	unsigned i;

	for (i = 0; i < removed->len; i++) {
		const struct gtu_qemu_removed *w = &g_array_index(removed, struct gtu_qemu_removed, i);

		if (w->iommu)
			memory_region_unregister_iommu_notifier(w->mr, &w->iommu->notifier);
		g_free(w->iommu);
		memory_region_unref(w->mr);
	}
	g_array_free(removed, TRUE);
}

static void on_region(MemoryListener *l, const MemoryRegionSection *s, enum gtu_qemu_what what)
{
	struct gtu_qemu_change c = {
		.what = what, .mr = s->mr, .start = s->offset_within_address_space, .offset = s->offset_within_region,
		.last = s->offset_within_address_space + int128_get64(int128_sub(s->size, int128_one())), .readonly = s->readonly,
	};

	if (memory_region_is_iommu(s->mr) || is_plain(s))
		gtu_qemu_change(container_of(l, struct gtu_qemu, listener), &c);
}

static void on_region_add(MemoryListener *l, MemoryRegionSection *s)
{
	on_region(l, s, GTU_QEMU_ADD);
}

static void on_region_del(MemoryListener *l, MemoryRegionSection *s)
{
	on_region(l, s, GTU_QEMU_DROP);
}

static void drop_region(gpointer region)
{
	memory_region_unref(region);
}

/* ---- Creation and removal --------------------------------------------------------------------------------------- */

void gtu_qemu_memory_start(struct gtu_qemu *g)
{
	g->held = g_hash_table_new_full(NULL, NULL, drop_region, NULL);
	g->written = g_array_new(FALSE, FALSE, sizeof(struct iovec));
	g->deferred = g_array_new(FALSE, FALSE, sizeof(struct gtu_qemu_change));
	g->removed = g_array_new(FALSE, FALSE, sizeof(struct gtu_qemu_removed));
	g->serve_bh = qemu_bh_new(on_serve_bh, g);
	g->cut = false;
}

void gtu_qemu_memory_listen(struct gtu_qemu *g)
{
	g->listener = (MemoryListener) {
		.name = "gtu", .region_add = on_region_add, .region_del = on_region_del,
	};
	memory_listener_register(&g->listener, g->setup.as);
}

void gtu_qemu_memory_stop(struct gtu_qemu *g)
{
	qemu_bh_delete(g->serve_bh);
	dma_table_clear(&g->memory);
	g_hash_table_remove_all(g->held);
}

void gtu_qemu_memory_finalize(struct gtu_qemu *g)
{
	g_hash_table_destroy(g->held);
	g_array_free(g->written, TRUE);
	g_array_free(g->deferred, TRUE);
	g_array_free(g->removed, TRUE);
}
