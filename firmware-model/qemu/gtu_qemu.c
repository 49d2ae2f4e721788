// SPDX-License-Identifier: MIT
#include "gtu_qemu.h"

#include "pace.h"

/* Translations of an IOMMU that are kept at a time; then all are forgotten and asked for again. */
#define TRANSLATIONS_MAX	16384u

/* ---- Whose turn it is ------------------------------------------------------------------------- */

static void serve(struct gtu_qemu *g);

/* Under the big lock: from here to leave() the model is the caller's. False where it asks an IOMMU for it just now. */
static bool enter(struct gtu_qemu *g)
{
	/* an IOMMU's fault message to the device itself would wait for the step that waits for the IOMMU */
	if (g->serving)
		return false;
	qemu_mutex_lock(&g->lock);
	g->waiting++;
	while (g->stepping) {
		if (g->request.pending)
			serve(g);
		else
			qemu_cond_wait(&g->turn, &g->lock);
	}
	g->waiting--;
	return true;
}

/* The same for what no IOMMU does while it is asked: changes of the machine. */
static void enter_surely(struct gtu_qemu *g)
{
	bool entered = enter(g);

	g_assert(entered);
}

/* Writes went past QEMU: what it has translated of that memory is stale, and logs of changes want to know. */
static void tell_written(struct gtu_qemu *g)
{
	unsigned i;

	for (i = 0; i < g->written->len; i++) {
		const struct iovec *w = &g_array_index(g->written, struct iovec, i);
		ram_addr_t offset;
		MemoryRegion *mr = memory_region_from_host(w->iov_base, &offset);

		if (!mr)
			continue;
		/* the way that QEMU offers drops a reference */
		memory_region_ref(mr);
		address_space_unmap(g->setup.as, w->iov_base, w->iov_len, true, w->iov_len);
	}
	g_array_set_size(g->written, 0);
}

static void deliver(struct gtu_qemu *g)
{
	uint64_t raised;

	qemu_mutex_lock(&g->lock);
	raised = g->raised;
	g->raised = 0;
	qemu_mutex_unlock(&g->lock);
	for (; raised; raised &= raised - 1)
		g->setup.irq(g->setup.front, ctz64(raised));
}

static void leave(struct gtu_qemu *g)
{
	bool raised;

	tell_written(g);
	g->raised |= g->irqs;
	g->irqs = 0;
	raised = g->raised;
	/* most accesses give no work, and waking the thread costs more than they do */
	if (g->stop || gtu_dev_pending(g->dev) || (g->asleep && gtu_dev_busy(g->dev)))
		qemu_cond_signal(&g->work);
	qemu_mutex_unlock(&g->lock);
	if (raised)
		deliver(g);
}

static void on_irq_bh(void *opaque)
{
	deliver(opaque);
}

/* ---- The device's thread ---------------------------------------------------------------------- */

/* `lock` is held, and let go of during the step. */
static void step(struct gtu_qemu *g, uint64_t *budget)
{
	int64_t before = get_clock();

	g->stepping = true;
	qemu_mutex_unlock(&g->lock);
	gtu_dev_step(g->dev, *budget);
	tell_written(g);
	qemu_mutex_lock(&g->lock);
	g->stepping = false;
	*budget = pace_next(*budget, get_clock() - before);
	if (g->irqs) {
		g->raised |= g->irqs;
		g->irqs = 0;
		qemu_bh_schedule(g->irq_bh);
	}
	if (g->waiting)
		qemu_cond_broadcast(&g->turn);
}

/* Nothing to do, or not its turn. Where all work waits for its users the device is told how long. */
static void rest(struct gtu_qemu *g)
{
	int64_t before = get_clock();

	if (!g->running || gtu_dev_pending(g->dev) || !gtu_dev_busy(g->dev)) {
		g->asleep = true;
		qemu_cond_wait(&g->work, &g->lock);
		g->asleep = false;
		return;
	}
	if (!qemu_cond_timedwait(&g->work, &g->lock, PACE_IDLE_MS) && g->running)
		gtu_dev_idle(g->dev, (uint64_t)((double)(get_clock() - before) * 1e-9 *
						(double)gtu_qemu_config(g)->clock_hz));
}

static void *run_device(void *opaque)
{
	struct gtu_qemu *g = opaque;
	uint64_t budget = PACE_BUDGET_FIRST;

	rcu_register_thread();
	qemu_mutex_lock(&g->lock);
	while (!g->stop) {
		if (g->running && !g->waiting && gtu_dev_pending(g->dev))
			step(g, &budget);
		else
			rest(g);
	}
	qemu_mutex_unlock(&g->lock);
	rcu_unregister_thread();
	return NULL;
}

static void on_vm_state(void *opaque, bool running, RunState state)
{
	struct gtu_qemu *g = opaque;

	enter_surely(g);
	g->running = running;
	leave(g);
}

/* ---- Memory ----------------------------------------------------------------------------------- */

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

/* Ask the IOMMU. Under the big lock and nothing else; the thread, if it is its request, stands still. */
static void translate(struct gtu_qemu *g, hwaddr addr, bool write)
{
	MemoryRegionSection s;
	IOMMUTLBEntry e;
	hwaddr from, bytes;
	uint64_t one = 1;
	/* QEMU answers for the direction that it was asked for, and says "both" */
	const bool had_other = dma_table_find(&g->memory, addr, &one, !write);

	g->serving = true;
	WITH_RCU_READ_LOCK_GUARD() {
		e = address_space_get_iotlb_entry(g->setup.as, addr, write, MEMTXATTRS_UNSPECIFIED);
	}
	g->serving = false;
	if (e.perm == IOMMU_NONE || !e.target_as)
		return;
	from = e.translated_addr & ~e.addr_mask;
	bytes = e.addr_mask + 1 ? e.addr_mask + 1 : UINT64_MAX;
	s = memory_region_find(e.target_as->root, from, bytes);
	if (!s.mr)
		return;
	if (s.offset_within_address_space == from && is_plain(&s)) {
		/* pointers that this step has already stay good: the regions are held, and were not unmapped */
		if (g->memory.count >= TRANSLATIONS_MAX)
			forget_translations(g);
		if (!g_hash_table_contains(g->held, s.mr)) {
			memory_region_ref(s.mr);
			g_hash_table_add(g->held, s.mr);
		}
		dma_table_lend(&g->memory, addr & ~e.addr_mask, MIN(bytes, int128_get64(s.size)),
			       (uint8_t *)memory_region_get_ram_ptr(s.mr) + s.offset_within_region,
			       !write || had_other, (write || had_other) && !s.readonly);
	}
	memory_region_unref(s.mr);
}

/* Under the big lock and `lock`, which is let go of meanwhile. */
static void serve(struct gtu_qemu *g)
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
		serve(g);
	qemu_mutex_unlock(&g->lock);
}

/* By whom the model was called; the thread waits for somebody who has the big lock. */
static void ask_iommu(struct gtu_qemu *g, hwaddr addr, bool write)
{
	if (!g->stepping) {
		/* it stays this caller's turn */
		g->waiting++;
		qemu_mutex_unlock(&g->lock);
		translate(g, addr, write);
		qemu_mutex_lock(&g->lock);
		g->waiting--;
		return;
	}
	qemu_mutex_lock(&g->lock);
	g->request.addr = addr;
	g->request.write = write;
	g->request.pending = true;
	qemu_bh_schedule(g->serve_bh);
	qemu_cond_broadcast(&g->turn);
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

static void *host_dma(void *host, uint64_t addr, uint64_t *len, bool write)
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

static void host_irq(void *host, unsigned vector)
{
	struct gtu_qemu *g = host;

	g->irqs |= 1ull << vector;
}

static const struct gtu_host_ops host_ops = { .dma = host_dma, .irq = host_irq };

/* A mapping that is new or gone; what was translated before is forgotten. */
static void on_iommu_change(IOMMUNotifier *n, IOMMUTLBEntry *e)
{
	struct gtu_qemu_iommu *i = container_of(n, struct gtu_qemu_iommu, notifier);
	struct gtu_qemu *g = i->core;
	hwaddr start = e->iova & ~e->addr_mask;

	/* an IOMMU that is asked has nothing to invalidate */
	if (!enter(g))
		return;
	dma_table_unmap(&g->memory, start + i->shift, e->addr_mask + 1 ? e->addr_mask + 1 : UINT64_MAX);
	leave(g);
}

/* What a section is in bus addresses. */
static hwaddr section_start(const MemoryRegionSection *s)
{
	return s->offset_within_address_space;
}

static hwaddr section_last(const MemoryRegionSection *s)
{
	return s->offset_within_address_space + int128_get64(int128_sub(s->size, int128_one()));
}

/*
 * Until QEMU 8.1 VT-d tells those who only listen for unmappings nothing of an invalidation of a domain or of all: only
 * those who follow every mapping, for which it needs caching-mode=on.
 */
static IOMMUNotifierFlag wanted_events(MemoryRegion *mr)
{
	if (GTU_QEMU_VERSION < 801 && object_dynamic_cast(OBJECT(mr), "intel-iommu-iommu-memory-region"))
		return IOMMU_NOTIFIER_IOTLB_EVENTS;
	return IOMMU_NOTIFIER_UNMAP;
}

static void add_iommu(struct gtu_qemu *g, MemoryRegionSection *s)
{
	struct gtu_qemu_iommu *i = g_new0(struct gtu_qemu_iommu, 1);
	Error *err = NULL;

	i->core = g;
	i->region = IOMMU_MEMORY_REGION(s->mr);
	i->start = section_start(s);
	i->last = section_last(s);
	i->shift = s->offset_within_address_space - s->offset_within_region;
	iommu_notifier_init(&i->notifier, on_iommu_change, wanted_events(s->mr), i->start - i->shift, i->last - i->shift,
			    memory_region_iommu_attrs_to_index(i->region, MEMTXATTRS_UNSPECIFIED));
	/* without its word on what it unmaps its memory is out of reach */
	if (memory_region_register_iommu_notifier(s->mr, &i->notifier, &err)) {
		error_prepend(&err, "gtu: the IOMMU does not say what it unmaps, so the device reaches no memory: ");
		warn_report_err(err);
		g_free(i);
		return;
	}
	memory_region_ref(s->mr);
	QLIST_INSERT_HEAD(&g->iommus, i, next);
}

static void on_region_add(MemoryListener *l, MemoryRegionSection *s)
{
	struct gtu_qemu *g = container_of(l, struct gtu_qemu, listener);
	void *host;

	if (!memory_region_is_iommu(s->mr) && !is_plain(s))
		return;
	enter_surely(g);
	if (memory_region_is_iommu(s->mr)) {
		add_iommu(g, s);
	} else {
		memory_region_ref(s->mr);
		host = (uint8_t *)memory_region_get_ram_ptr(s->mr) + s->offset_within_region;
		if (dma_table_lend(&g->memory, section_start(s), int128_get64(s->size), host, true, !s->readonly))
			warn_report("gtu: no room for memory at bus address 0x%" HWADDR_PRIx, section_start(s));
	}
	leave(g);
}

static void on_region_del(MemoryListener *l, MemoryRegionSection *s)
{
	struct gtu_qemu *g = container_of(l, struct gtu_qemu, listener);
	const bool iommu = memory_region_is_iommu(s->mr);
	struct gtu_qemu_iommu *i, *found = NULL;

	if (!iommu && !is_plain(s))
		return;
	enter_surely(g);
	dma_table_unmap(&g->memory, section_start(s), section_last(s) - section_start(s) + 1);
	QLIST_FOREACH(i, &g->iommus, next) {
		if (MEMORY_REGION(i->region) == s->mr && i->start == section_start(s))
			found = i;
	}
	if (found)
		QLIST_REMOVE(found, next);
	/* translations are forgotten, so what they led to need not stay */
	if (found && QLIST_EMPTY(&g->iommus))
		g_hash_table_remove_all(g->held);
	leave(g);
	if (found) {
		memory_region_unregister_iommu_notifier(s->mr, &found->notifier);
		g_free(found);
	}
	if (!iommu || found)
		memory_region_unref(s->mr);
}

static void drop_region(gpointer region)
{
	memory_region_unref(region);
}

/* ---- Registers, doorbells, device memory -------------------------------------------------------- */

static uint64_t bar_read(void *opaque, hwaddr offset, unsigned size)
{
	struct gtu_qemu_bar *b = opaque;
	uint64_t value;

	if (!enter(b->core))
		return UINT64_MAX;
	value = gtu_dev_read(b->core->dev, b->number, offset, size);
	leave(b->core);
	return value;
}

static void bar_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
	struct gtu_qemu_bar *b = opaque;

	if (!enter(b->core))
		return;
	gtu_dev_write(b->core->dev, b->number, offset, size, value);
	leave(b->core);
}

/* Every access comes as it is: what is wrong with one is the model's to say. */
static const MemoryRegionOps bar_ops = {
	.read = bar_read,
	.write = bar_write,
	.endianness = DEVICE_LITTLE_ENDIAN,
	.valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
	.impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

static const struct {
	unsigned number;
	const char *name;
} bars[] = {
	{ GTU_BAR_REGS, "gtu-registers" }, { GTU_BAR_DOORBELL, "gtu-doorbells" }, { GTU_BAR_APERTURE, "gtu-aperture" },
};
#define APERTURE	2		/* place of it there */

MemoryRegion *gtu_qemu_region(struct gtu_qemu *g, unsigned bar)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(bars); i++) {
		if (bars[i].number == bar)
			return &g->bar[i].region;
	}
	g_assert_not_reached();
}

const struct gtu_dev_config *gtu_qemu_config(const struct gtu_qemu *g)
{
	return gtu_dev_config(g->dev);
}

/* ---- Life --------------------------------------------------------------------------------------- */

void gtu_qemu_reset(struct gtu_qemu *g)
{
	enter_surely(g);
	gtu_dev_reset(g->dev);
	/* what it sent before is of the time before */
	g->irqs = 0;
	g->raised = 0;
	leave(g);
}

static bool make_regions(struct gtu_qemu *g, struct gtu_dev_config *config, Error **errp)
{
	Object *owner = OBJECT(g->setup.owner);
	const char *why = "no memory";
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(bars); i++) {
		g->bar[i].core = g;
		g->bar[i].number = bars[i].number;
	}
	if (g->setup.map_aperture) {
		MemoryRegion *mr = &g->bar[APERTURE].region;

		if (!config->aperture_bytes)
			config->aperture_bytes = 16 * MiB;
		memory_region_init_ram(mr, owner, bars[APERTURE].name, config->aperture_bytes, errp);
		if (*errp)
			return false;
		config->aperture = memory_region_get_ram_ptr(mr);
	}
	g->dev = gtu_dev_create(config, &host_ops, g, &why);
	if (!g->dev) {
		error_setg(errp, "no such device can be made: %s", why);
		return false;
	}
	for (i = 0; i < ARRAY_SIZE(bars); i++) {
		if (i != APERTURE || !g->setup.map_aperture)
			memory_region_init_io(&g->bar[i].region, owner, &bar_ops, &g->bar[i], bars[i].name,
					      gtu_dev_bar_size(g->dev, bars[i].number));
	}
	return true;
}

bool gtu_qemu_realize(struct gtu_qemu *g, const struct gtu_qemu_setup *setup, Error **errp)
{
	struct gtu_dev_config config = *setup->device;

	ERRP_GUARD();
	g->setup = *setup;
	g->setup.device = NULL;
	if (!make_regions(g, &config, errp))
		return false;
	if (gtu_qemu_config(g)->vectors > GTU_QEMU_VECTORS_MAX) {
		error_setg(errp, "vectors is %u, at most %u are possible", gtu_qemu_config(g)->vectors,
			   GTU_QEMU_VECTORS_MAX);
		return false;
	}
	qemu_mutex_init(&g->lock);
	qemu_cond_init(&g->work);
	qemu_cond_init(&g->turn);
	qemu_cond_init(&g->answer);
	g->held = g_hash_table_new_full(NULL, NULL, drop_region, NULL);
	g->written = g_array_new(FALSE, FALSE, sizeof(struct iovec));
	g->serve_bh = qemu_bh_new(on_serve_bh, g);
	g->irq_bh = qemu_bh_new(on_irq_bh, g);
	g->running = runstate_is_running();
	g->stop = false;
	qemu_thread_create(&g->thread, "gtu", run_device, g, QEMU_THREAD_JOINABLE);
	g->vm_state = qemu_add_vm_change_state_handler(on_vm_state, g);
	g->listener = (MemoryListener) {
		.name = "gtu", .region_add = on_region_add, .region_del = on_region_del,
	};
	memory_listener_register(&g->listener, g->setup.as);
	return true;
}

void gtu_qemu_unrealize(struct gtu_qemu *g)
{
	qemu_del_vm_change_state_handler(g->vm_state);
	memory_listener_unregister(&g->listener);
	enter_surely(g);
	g->stop = true;
	leave(g);
	qemu_thread_join(&g->thread);
	qemu_bh_delete(g->serve_bh);
	qemu_bh_delete(g->irq_bh);
	dma_table_clear(&g->memory);
	g_hash_table_remove_all(g->held);
}

void gtu_qemu_finalize(struct gtu_qemu *g)
{
	if (g->held) {
		g_hash_table_destroy(g->held);
		g_array_free(g->written, TRUE);
		qemu_cond_destroy(&g->answer);
		qemu_cond_destroy(&g->turn);
		qemu_cond_destroy(&g->work);
		qemu_mutex_destroy(&g->lock);
	}
	if (g->dev)
		gtu_dev_destroy(g->dev);
}
