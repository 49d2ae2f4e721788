// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device failure, quiesce and reset: which contexts survive, and when memory
 * that the device could access may be freed.
 */
#include <linux/iopoll.h>
#include <linux/sched/mm.h>

#include "gtu_drv.h"
#include "gtu_trace.h"

#define GTU_RESET_TIMEOUT_US	(2 * USEC_PER_SEC)

/**
 * gtu_set_dead() - mark the device dead for good
 * @gtu: the device
 *
 * Waiters return -ENODEV; programs that poll the rings read
 * GTU_QUEUE_DISABLED. May be called in interrupt context.
 */
void gtu_set_dead(struct gtu_device *gtu)
{
	if (READ_ONCE(gtu->state) == GTU_STATE_DEAD)
		return;
	WRITE_ONCE(gtu->state, GTU_STATE_DEAD);
	gtu_queues_wake(gtu);
}

/**
 * gtu_alive() - check that the device responds
 * @gtu: the device
 *
 * GTU_REG_MAGIC is read because any other register may legitimately read as
 * all ones.
 *
 * A device that fails to respond during a function reset by the PCI core is
 * not marked dead here: gtu_reset_end() decides. Such a reset sets the epoch
 * to 0, and a new epoch follows it.
 *
 * Return: 0 or -ENODEV
 */
int gtu_alive(struct gtu_device *gtu)
{
	u32 epoch, magic = 0;

	/* on some buses reading the registers during a reset would hang the CPU */
	rcu_read_lock();
	epoch = READ_ONCE(gtu->epoch);
	if (epoch && READ_ONCE(gtu->state) == GTU_STATE_UP)
		magic = gtu_rd(gtu, GTU_REG_MAGIC);
	rcu_read_unlock();
	if (magic == GTU_MAGIC)
		return 0;
	if (epoch && READ_ONCE(gtu->epoch) == epoch)
		gtu_set_dead(gtu);
	return -ENODEV;
}

/**
 * gtu_mbox_lock_always() - take mbox_lock, also while the PCI core resets the function
 * @gtu: the device
 * @user: the user for whom the caller acts, or NULL
 *
 * The calls of a user wait for each other first, so that another user's call
 * waits for one of them and not for all. Users are served in their order, by a
 * semaphore: who releases a mutex often gets it again before a waiter runs.
 */
void gtu_mbox_lock_always(struct gtu_device *gtu, struct gtu_user *user)
{
	if (user) {
		mutex_lock(&user->turn);
		down(&gtu->users_turn);
	}
	mutex_lock(&gtu->mbox_lock);
}

/**
 * gtu_mbox_lock() - take mbox_lock when no function reset by the PCI core is in progress
 * @gtu: the device
 * @user: as for gtu_mbox_lock_always()
 */
void gtu_mbox_lock(struct gtu_device *gtu, struct gtu_user *user)
{
	gtu_mbox_lock_always(gtu, user);
	while (gtu->core_reset) {
		/* the reset ends contexts of this user, too: it needs the turn */
		gtu_mbox_unlock(gtu, user);
		wait_event(gtu->core_reset_wait, !READ_ONCE(gtu->core_reset));
		gtu_mbox_lock_always(gtu, user);
	}
}

/**
 * gtu_mbox_unlock() - release mbox_lock and the turn
 * @gtu: the device
 * @user: as for gtu_mbox_lock_always()
 */
void gtu_mbox_unlock(struct gtu_device *gtu, struct gtu_user *user)
{
	mutex_unlock(&gtu->mbox_lock);
	if (user) {
		up(&gtu->users_turn);
		mutex_unlock(&user->turn);
	}
}

/*
 * Stop the device's memory accesses for good, or until gtu_hw_restart(). Its
 * contexts are dead or suspended. Returns true if none is in flight any more:
 * only then memory that the device knows may be freed.
 */
static bool gtu_quiesce_once(struct gtu_device *gtu)
{
	unsigned int flags;

	lockdep_assert_held(&gtu->mbox_lock);
	if (!gtu->quiesce_called) {
		gtu->quiesce_called = true;
		/* a reset follows, or the bus asserts a reset line: end all accesses */
		gtu_counters_stop(gtu);
		gtu_device_unmap(gtu);
		synchronize_rcu();
		/*
		 * A reset controller may allocate: see gtu_import_lockdep(). One whose
		 * lock others hold while they allocate can still wait for them.
		 */
		flags = memalloc_noreclaim_save();
		gtu->quiesced = gtu->bus->quiesce(gtu);
		memalloc_noreclaim_restore(flags);
		if (!gtu->quiesced)
			dev_err(gtu->parent,
				"the driver cannot stop DMA and leaks the memory that the device can access\n");
	}
	return gtu->quiesced;
}

/**
 * gtu_quiesce() - stop the device's memory accesses
 * @gtu: the device
 *
 * Return: true if it is certain that none is in flight any more
 */
bool gtu_quiesce(struct gtu_device *gtu)
{
	bool quiesced;

	gtu_mbox_lock(gtu, NULL);
	quiesced = gtu_quiesce_once(gtu);
	/* wake again: the device wrote queue states until now */
	gtu_queues_wake(gtu);
	gtu_mbox_unlock(gtu, NULL);
	return quiesced;
}

/*
 * Restore the state that all contexts share and a reset clears: settings and
 * event rings.
 */
static int gtu_reload(struct gtu_device *gtu)
{
	unsigned int page, n;

	for (page = 0; page < GTU_UNIT_PAGES; page++)
		for (n = 0; n < GTU_UREG_SETS; n++)
			if (gtu->setting_valid[page] & BIT(n))
				gtu_wr(gtu, (page + 1) * GTU_PAGE + GTU_UREG_SET(n),
				       gtu->setting[page][n]);
	return gtu_events_enable(gtu);
}

/*
 * Set the device epoch after a reset. Epochs restart when the reset removed
 * power, so kill contexts of an earlier epoch of the same number.
 */
static void gtu_epoch_begin(struct gtu_device *gtu, u32 epoch)
{
	struct gtu_ctx *ctx;

	lockdep_assert_held(&gtu->mbox_lock);
	spin_lock_irq(&gtu->ctx_lock);
	list_for_each_entry(ctx, &gtu->contexts, link)
		if (ctx->epoch == epoch)
			WRITE_ONCE(ctx->epoch, GTU_EPOCH_NEVER);
	spin_unlock_irq(&gtu->ctx_lock);
	WRITE_ONCE(gtu->epoch, epoch);
	raw_spin_lock_irq(&gtu->counter_lock);
	gtu->counters_on = true;
	raw_spin_unlock_irq(&gtu->counter_lock);
}

/* Wait for the end of a reset that began in epoch @before. @epoch: out: the new one */
static int gtu_reset_wait(struct gtu_device *gtu, u32 before, u32 *epoch)
{
	u32 status;
	int ret;

	ret = read_poll_timeout(gtu_rd, *epoch, *epoch != before, 100,
				gtu_scaled(GTU_RESET_TIMEOUT_US), false, gtu, GTU_REG_EPOCH);
	if (!ret && *epoch != GTU_ALL_ONES && *epoch)
		ret = read_poll_timeout(gtu_rd, status, status & GTU_STATUS_READY, 100,
					gtu_scaled(GTU_RESET_TIMEOUT_US), false, gtu,
					GTU_REG_STATUS);
	else
		ret = ret ?: -ENODEV;
	if (!ret && status == GTU_ALL_ONES)
		ret = -ENODEV;
	return ret;
}

static int gtu_reset_registers(struct gtu_device *gtu, u32 before, u32 *epoch)
{
	lockdep_assert_held(&gtu->mbox_lock);
	if (before == GTU_ALL_ONES)
		return -ENODEV;
	gtu_wr(gtu, GTU_REG_RESET, GTU_RESET_KEY);
	return gtu_reset_wait(gtu, before, epoch);
}

/**
 * gtu_hw_reset() - reset the device, for a bus that cannot block its memory accesses
 * @gtu: the device
 *
 * Begins no epoch: the registers may not be accessible afterwards.
 *
 * Return: true if the device has dropped all addresses
 */
bool gtu_hw_reset(struct gtu_device *gtu)
{
	u32 epoch;

	return !gtu_reset_registers(gtu, gtu_rd(gtu, GTU_REG_EPOCH), &epoch);
}

/*
 * Reset the device and restore its settings, without waking the waiters of dead
 * contexts.
 *
 * @dma_off: DMA is disabled. Enable it only after the reset: until then the
 * device holds addresses of memory that may belong to others now.
 */
static int gtu_reset_and_reload(struct gtu_device *gtu, bool dma_off)
{
	u32 before = gtu_rd(gtu, GTU_REG_EPOCH), epoch;
	int ret;

	gtu_counters_update(gtu);
	gtu_counters_stop(gtu);
	ret = gtu_reset_registers(gtu, before, &epoch);
	if (!ret)
		gtu_epoch_begin(gtu, epoch);
	if (!ret && dma_off)
		gtu->bus->enable_dma(gtu);
	if (!ret)
		ret = gtu_reload(gtu);
	trace_gtu_reset(gtu, before, ret);
	if (ret) {
		dev_err(gtu->parent, "the device reset failed: %d\n", ret);
		gtu_set_dead(gtu);
	}
	return ret;
}

static int gtu_reset_locked(struct gtu_device *gtu)
{
	int ret = gtu_reset_and_reload(gtu, false);

	gtu_queues_wake(gtu);
	return ret;
}

/**
 * gtu_force_quiesce() - reset the device or, failing that, quiesce it
 * @ctx: the context
 * @why: reason, for the log
 *
 * Called under ctx->lock for a published context when the device did not
 * release its resources. Does not wait for a reset by the PCI core, which has
 * quiesced the device: the reset of another function on the bus can wait for an
 * importer of its aperture, and that for this.
 *
 * Return: true if the device certainly does not access the resources of the
 * context any more
 */
bool gtu_force_quiesce(struct gtu_ctx *ctx, const char *why)
{
	struct gtu_device *gtu = ctx->gtu;
	u32 epoch = ctx->epoch;
	bool quiesced;

	if (READ_ONCE(gtu->epoch) == epoch && READ_ONCE(gtu->state) == GTU_STATE_UP)
		gtu_dump(gtu, ctx, "%s (context %u)", why, ctx->id);
	mutex_lock(&gtu->mbox_lock);
	if (gtu->epoch == epoch && READ_ONCE(gtu->state) == GTU_STATE_UP) {
		dev_err(gtu->parent, "the driver resets the device: %s\n", why);
		gtu_reset_locked(gtu);
	}
	/* A device that is up in a later epoch has dropped the context. */
	quiesced = gtu->epoch && gtu->epoch != epoch && READ_ONCE(gtu->state) == GTU_STATE_UP;
	if (!quiesced) {
		quiesced = gtu_quiesce_once(gtu);
		gtu_queues_wake(gtu);
	}
	mutex_unlock(&gtu->mbox_lock);
	return quiesced;
}

/**
 * gtu_reset_begin() - prepare for a function reset by the PCI core, for example through sysfs
 * @gtu: the device
 *
 * Kills all contexts, quiesces the device, and keeps the mailbox from others until
 * gtu_reset_end(). No lock is held meanwhile: the core takes locks of its own.
 */
void gtu_reset_begin(struct gtu_device *gtu)
{
	gtu_peers_stop(gtu);
	gtu_mbox_lock(gtu, NULL);
	WRITE_ONCE(gtu->core_reset, true);
	gtu_counters_update(gtu);
	WRITE_ONCE(gtu->epoch, 0);
	gtu_quiesce_once(gtu);
	gtu_queues_wake(gtu);
	gtu_mbox_unlock(gtu, NULL);
}

/**
 * gtu_reset_end() - restart the device after a function reset by the PCI core
 * @gtu: the device
 */
void gtu_reset_end(struct gtu_device *gtu)
{
	int ret = -ENODEV;
	u32 epoch;

	mutex_lock(&gtu->mbox_lock);
	if (READ_ONCE(gtu->state) == GTU_STATE_UP) {
		ret = gtu_reset_wait(gtu, 0, &epoch);
		if (ret) {
			trace_gtu_reset(gtu, 0, ret);
			dev_err(gtu->parent, "the function reset failed: %d\n", ret);
		}
		/* quiesce again if DMA is enabled now, or if that was not certain */
		if (!ret || !gtu->quiesced)
			gtu->quiesce_called = false;
		/* The core may have reset nothing: the device would still hold addresses. */
		if (!ret)
			ret = gtu_reset_and_reload(gtu, true);
	}
	if (ret)
		gtu_set_dead(gtu);
	/* Wake again: the device wrote queue states until it was reset. */
	gtu_queues_wake(gtu);
	WRITE_ONCE(gtu->core_reset, false);
	mutex_unlock(&gtu->mbox_lock);
	wake_up_all(&gtu->core_reset_wait);
	if (!ret)
		gtu_peers_start(gtu);
}

/**
 * gtu_hw_stop() - quiesce the device and stop accessing its registers
 * @gtu: the device
 *
 * For a system suspend or a bus error. Contexts read as dead meanwhile; the
 * caller decides which of them are.
 */
void gtu_hw_stop(struct gtu_device *gtu)
{
	gtu_mbox_lock(gtu, NULL);
	WRITE_ONCE(gtu->epoch, 0);
	gtu_quiesce_once(gtu);
	gtu_mbox_unlock(gtu, NULL);
}

/**
 * gtu_hw_restart() - restart the device after gtu_hw_stop(), as after a reset
 * @gtu: the device
 *
 * Does not wake waiters of dead contexts.
 *
 * Return: 0 or a negative errno
 */
int gtu_hw_restart(struct gtu_device *gtu)
{
	int ret = -ENODEV;

	gtu_mbox_lock(gtu, NULL);
	if (READ_ONCE(gtu->state) == GTU_STATE_UP) {
		gtu->quiesce_called = false;
		ret = gtu_reset_and_reload(gtu, true);
	}
	gtu_mbox_unlock(gtu, NULL);
	return ret;
}

/**
 * gtu_hw_start() - start the device from any state
 * @gtu: the device
 *
 * Event rings and interrupts must be set up.
 *
 * Return: 0 or a negative errno
 */
int gtu_hw_start(struct gtu_device *gtu)
{
	int ret;

	gtu_mbox_lock(gtu, NULL);
	ret = gtu_reset_and_reload(gtu, true);
	gtu_mbox_unlock(gtu, NULL);
	return ret;
}
