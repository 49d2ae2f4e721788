// SPDX-License-Identifier: MIT
/*
 * Runs the model in QEMU: mutual exclusion, the device's thread, memory regions, creation and
 * removal.
 */
#include "gtu_qemu_core.h"

#include "firmware-model/transport/step_budget.h"

/* ---- Mutual exclusion ------------------------------------------------------------------------- */

static void apply(struct gtu_qemu *g, const struct gtu_qemu_change *c)
{
	if (c->what != GTU_QEMU_RESET) {
		gtu_qemu_change_memory(g, c);
		return;
	}
	/* a device under removal may be in use further up on this stack */
	if (g->cut)
		return;
	gtu_dev_reset(g->dev);
	/* drop interrupts from before the reset */
	g->irqs = 0;
	g->raised = 0;
}

/*
 * Apply, in order, the changes that were deferred while an IOMMU was called. No step may be
 * running.
 */
static void apply_deferred(struct gtu_qemu *g)
{
	struct gtu_qemu_removed removed = { };
	unsigned i;

	for (i = 0; i < g->deferred->len; i++) {
		const struct gtu_qemu_change *c = &g_array_index(g->deferred, struct gtu_qemu_change, i);

		apply(g, c);
		removed.mr = c->mr;
		if (removed.mr)
			g_array_append_val(g->removed, removed);
	}
	g_array_set_size(g->deferred, 0);
}

/* Report the time since the last step or report, if the device was idle, before anything else happens to it. */
static void report_idle(struct gtu_qemu *g)
{
	const int64_t since = g->reported;

	g->reported = get_clock();
	if (g->running && !gtu_dev_pending(g->dev))
		gtu_dev_idle(g->dev, (uint64_t)((double)(g->reported - since) * 1e-9 *
						(double)gtu_qemu_config(g)->clock_hz));
}

bool gtu_qemu_enter(struct gtu_qemu *g)
{
	/* waiting would deadlock: the step or call in progress waits for the IOMMU */
	if (g->serving)
		return false;
	qemu_mutex_lock(&g->lock);
	g->waiting++;
	while (g->stepping) {
		if (g->request.pending)
			gtu_qemu_serve(g);
		else
			qemu_cond_wait(&g->stepped, &g->lock);
	}
	g->waiting--;
	report_idle(g);
	apply_deferred(g);
	return true;
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

/* Allow steps again. Returns whether interrupts must be delivered. */
static bool leave(struct gtu_qemu *g)
{
	GArray *removed = NULL;
	bool raised;

	gtu_qemu_flush_written(g);
	apply_deferred(g);
	g->raised |= g->irqs;
	g->irqs = 0;
	/* a removed device sends no interrupts */
	if (g->cut)
		g->raised = 0;
	raised = g->raised;
	if (g->removed->len) {
		removed = g->removed;
		g->removed = g_array_new(FALSE, FALSE, sizeof(struct gtu_qemu_removed));
	}
	/* most accesses start no work, and waking the thread would cost more than the access */
	if (g->stop || gtu_dev_pending(g->dev) || (g->asleep && gtu_dev_busy(g->dev)))
		qemu_cond_signal(&g->work);
	qemu_mutex_unlock(&g->lock);
	if (removed)
		gtu_qemu_release(removed);
	return raised;
}

/*
 * Deliver interrupts later: a message may write to any address, and QEMU may be changing its memory
 * map.
 */
void gtu_qemu_leave(struct gtu_qemu *g)
{
	if (leave(g))
		qemu_bh_schedule(g->irq_bh);
}

void gtu_qemu_change(struct gtu_qemu *g, const struct gtu_qemu_change *change)
{
	if (gtu_qemu_enter(g)) {
		if (!g->cut)
			apply(g, change);
		gtu_qemu_leave(g);
		return;
	}
	if (change->mr)
		memory_region_ref(change->mr);
	g_array_append_val(g->deferred, *change);
}

void gtu_qemu_apply_deferred(struct gtu_qemu *g)
{
	if (g->deferred->len && gtu_qemu_enter(g))
		gtu_qemu_leave(g);
}

static void on_irq_bh(void *opaque)
{
	deliver(opaque);
}

/* ---- The device's thread ---------------------------------------------------------------------- */

/* Run one step. `lock` is held, and released during the step. */
static void step(struct gtu_qemu *g, uint64_t *budget)
{
	const int64_t before = get_clock();

	g->stepping = true;
	qemu_mutex_unlock(&g->lock);
	gtu_dev_step(g->dev, *budget);
	gtu_qemu_flush_written(g);
	qemu_mutex_lock(&g->lock);
	g->stepping = false;
	g->reported = get_clock();
	*budget = step_budget_next(*budget, g->reported - before);
	if (g->irqs) {
		g->raised |= g->irqs;
		g->irqs = 0;
		qemu_bh_schedule(g->irq_bh);
	}
	if (g->waiting)
		qemu_cond_broadcast(&g->stepped);
}

/* Wait for work. Time passes for a device whose work waits for the queues' users. */
static void wait_for_work(struct gtu_qemu *g)
{
	if (g->running && !gtu_dev_pending(g->dev) && gtu_dev_busy(g->dev)) {
		qemu_cond_timedwait(&g->work, &g->lock, STEP_IDLE_MS);
		report_idle(g);
		return;
	}
	g->asleep = true;
	qemu_cond_wait(&g->work, &g->lock);
	g->asleep = false;
}

static void *run_device(void *opaque)
{
	struct gtu_qemu *g = opaque;
	uint64_t budget = STEP_BUDGET_FIRST;

	rcu_register_thread();
	qemu_mutex_lock(&g->lock);
	while (!g->stop) {
		if (g->running && !g->waiting && gtu_dev_pending(g->dev))
			step(g, &budget);
		else
			wait_for_work(g);
	}
	qemu_mutex_unlock(&g->lock);
	rcu_unregister_thread();
	return NULL;
}

static void on_vm_state(void *opaque, bool running, RunState state)
{
	struct gtu_qemu *g = opaque;

	if (gtu_qemu_enter(g)) {
		g->running = running;
		gtu_qemu_leave(g);
	} else {
		/* a running step is the last one, or the thread starts stepping */
		qemu_mutex_lock(&g->lock);
		g->running = running;
		qemu_cond_signal(&g->work);
		qemu_mutex_unlock(&g->lock);
	}
}

static void host_irq(void *host, unsigned vector)
{
	struct gtu_qemu *g = host;

	g->irqs |= 1ull << vector;
}

static const struct gtu_host_ops host_ops = { .dma = gtu_qemu_dma, .irq = host_irq };

/* ---- Registers, doorbells, device memory -------------------------------------------------------- */

/* QEMU is in a consistent state in a register access: deliver interrupts at once. */
static void leave_register(struct gtu_qemu *g)
{
	if (leave(g))
		deliver(g);
}

static uint64_t bar_read(void *opaque, hwaddr offset, unsigned size)
{
	struct gtu_qemu_bar *b = opaque;
	uint64_t value;

	if (!gtu_qemu_enter(b->core))
		return UINT64_MAX;
	value = gtu_dev_read(b->core->dev, b->number, offset, size);
	leave_register(b->core);
	return value;
}

static void bar_write(void *opaque, hwaddr offset, uint64_t value, unsigned size)
{
	struct gtu_qemu_bar *b = opaque;

	if (!gtu_qemu_enter(b->core))
		return;
	gtu_dev_write(b->core->dev, b->number, offset, size, value);
	leave_register(b->core);
}

/* Pass every access unchanged: the model reports invalid ones. */
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
#define APERTURE	2		/* its index in bars[] */

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

/* ---- Creation and removal --------------------------------------------------------------------------------------- */

void gtu_qemu_reset(struct gtu_qemu *g)
{
	gtu_qemu_change(g, &(struct gtu_qemu_change) { .what = GTU_QEMU_RESET });
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
		error_setg(errp, "cannot create a device with aperture=%" PRIu64 ", contexts=%u, queues=%u, vectors=%u, "
			   "x-absent-units=%u, x-iru-index-bits=%u: %s", config->aperture_bytes, config->contexts,
			   config->queues, config->vectors, config->absent_units, config->iru_index_bits, why);
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
		error_setg(errp, "vectors=%u exceeds the limit of %u", gtu_qemu_config(g)->vectors,
			   GTU_QEMU_VECTORS_MAX);
		return false;
	}
	qemu_mutex_init(&g->lock);
	qemu_cond_init(&g->work);
	qemu_cond_init(&g->stepped);
	qemu_cond_init(&g->answer);
	gtu_qemu_memory_start(g);
	g->irq_bh = qemu_bh_new(on_irq_bh, g);
	g->running = runstate_is_running();
	g->stop = false;
	qemu_thread_create(&g->thread, "gtu", run_device, g, QEMU_THREAD_JOINABLE);
	g->vm_state = qemu_add_vm_change_state_handler(on_vm_state, g);
	gtu_qemu_memory_listen(g);
	return true;
}

static void drop_owner(void *owner)
{
	object_unref(OBJECT(owner));
}

void gtu_qemu_unrealize(struct gtu_qemu *g)
{
	qemu_del_vm_change_state_handler(g->vm_state);
	memory_listener_unregister(&g->listener);
	if (gtu_qemu_enter(g)) {
		g->stop = true;
		gtu_qemu_leave(g);
		qemu_thread_join(&g->thread);
	} else {
		/*
		 * the write of an IOMMU in translation unplugs the device: callers on this stack
		 * still use it
		 */
		object_ref(OBJECT(g->setup.owner));
		aio_bh_schedule_oneshot(qemu_get_aio_context(), drop_owner, g->setup.owner);
		qemu_mutex_lock(&g->lock);
		g->stop = g->cut = true;
		g->request.pending = false;
		qemu_cond_signal(&g->answer);
		qemu_cond_signal(&g->work);
		qemu_mutex_unlock(&g->lock);
		qemu_thread_join(&g->thread);
		qemu_mutex_lock(&g->lock);
		apply_deferred(g);
		qemu_mutex_unlock(&g->lock);
		gtu_qemu_release(g->removed);
		g->removed = g_array_new(FALSE, FALSE, sizeof(struct gtu_qemu_removed));
	}
	g->cut = true;
	qemu_bh_delete(g->irq_bh);
	gtu_qemu_memory_stop(g);
}

void gtu_qemu_finalize(struct gtu_qemu *g)
{
	if (g->held) {
		gtu_qemu_memory_finalize(g);
		qemu_cond_destroy(&g->answer);
		qemu_cond_destroy(&g->stepped);
		qemu_cond_destroy(&g->work);
		qemu_mutex_destroy(&g->lock);
	}
	if (g->dev)
		gtu_dev_destroy(g->dev);
}
