// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device registers: identity, mailbox, reset, and register access for user
 * space.
 */
#include <linux/crc32.h>
#include <linux/iopoll.h>
#include <linux/slab.h>

#include "gtu_drv.h"
#include "gtu_trace.h"

#define GTU_MBOX_TIMEOUT_US	(2 * USEC_PER_SEC)
#define GTU_RESET_TIMEOUT_US	(2 * USEC_PER_SEC)
#define GTU_SNAPSHOT_US		(20 * USEC_PER_MSEC)
#define GTU_ALL_ONES		(~0u)	/* value read from a device that does not respond */
#define GTU_FDT_MAGIC_BE	0xd00dfeed

static u32 gtu_rd(struct gtu_device *gtu, u32 reg)
{
	return readl(gtu->regs + reg);
}

static u64 gtu_rd64(struct gtu_device *gtu, u32 reg)
{
	return readq(gtu->regs + reg);
}

static void gtu_wr(struct gtu_device *gtu, u32 reg, u32 value)
{
	writel(value, gtu->regs + reg);
}

/*
 * ---- Device failure -----------------------------------------------------------------------------
 */

/*
 * Mark the device dead for good. Waiters return -ENODEV; programs that poll the
 * rings read GTU_QUEUE_DISABLED. May be called in interrupt context.
 */
void gtu_set_dead(struct gtu_device *gtu)
{
	if (READ_ONCE(gtu->state) == GTU_STATE_DEAD)
		return;
	WRITE_ONCE(gtu->state, GTU_STATE_DEAD);
	gtu_queues_wake(gtu);
}

/*
 * Check that the device responds. GTU_REG_MAGIC is read because any other
 * register may legitimately read as all ones. Returns 0 or -ENODEV.
 *
 * A device that fails to respond during a function reset by the PCI core is not
 * marked dead here: gtu_reset_end() decides. Such a reset sets the epoch to 0,
 * and a new epoch follows it.
 */
int gtu_alive(struct gtu_device *gtu)
{
	u32 epoch = READ_ONCE(gtu->epoch);

	/*
	 * Not accessible: on some buses reading the registers would hang the
	 * CPU.
	 */
	if (!epoch)
		return -ENODEV;
	if (gtu_rd(gtu, GTU_REG_MAGIC) == GTU_MAGIC)
		return 0;
	if (READ_ONCE(gtu->epoch) == epoch)
		gtu_set_dead(gtu);
	return -ENODEV;
}

static bool gtu_quiesce(struct gtu_device *gtu)
{
	lockdep_assert_held(&gtu->mbox_lock);
	if (!gtu->quiesce_called) {
		gtu->quiesce_called = true;
		gtu->quiesced = gtu->bus->quiesce(gtu);
		if (!gtu->quiesced)
			dev_err(gtu->parent,
				"cannot stop DMA: leaking the memory that the device can access\n");
	}
	return gtu->quiesced;
}

/*
 * ---- Mailbox -----------------------------------------------------------------------------------
 */

static int gtu_mbox_poll(struct gtu_device *gtu, u32 *status)
{
	int ret;

	ret = read_poll_timeout(gtu_rd, *status,
				*status == GTU_ALL_ONES || !(*status & GTU_MBOX_BUSY), 20,
				GTU_MBOX_TIMEOUT_US, false, gtu, GTU_REG_MBOX_STATUS);
	if (*status == GTU_ALL_ONES) {
		dev_err(gtu->parent, "device does not respond\n");
		gtu_set_dead(gtu);
		return -ENODEV;
	}
	return ret;
}

static int gtu_mbox_status(struct gtu_device *gtu, u32 cmd, const u64 *arg, u32 *status)
{
	int i, ret;

	lockdep_assert_held(&gtu->mbox_lock);
	if (READ_ONCE(gtu->state) == GTU_STATE_DEAD && gtu->quiesce_called)
		return -ENODEV;
	ret = gtu_mbox_poll(gtu, status);
	if (ret)
		return ret;
	for (i = 0; i < GTU_MBOX_ARGS; i++)
		writeq(arg[i], gtu->regs + GTU_REG_MBOX_ARG(i));
	gtu_wr(gtu, GTU_REG_MBOX_CMD, cmd);
	ret = gtu_mbox_poll(gtu, status);
	if (ret) {
		dev_err(gtu->parent, "mailbox timeout: command %u\n", cmd);
		return ret;
	}
	if (*status) {
		dev_dbg(gtu->parent, "mailbox error: command %u, arguments %#llx, %#llx, status %u\n", cmd,
			arg[0], arg[1], *status);
		return -EIO;
	}
	return 0;
}

static int gtu_mbox_locked(struct gtu_device *gtu, u32 cmd, const u64 *arg)
{
	u32 status;

	return gtu_mbox_status(gtu, cmd, arg, &status);
}

/*
 * Current device epoch, after a reset in progress has finished. 0: the device
 * is not accessible.
 */
u32 gtu_epoch_now(struct gtu_device *gtu)
{
	u32 epoch = READ_ONCE(gtu->epoch);

	if (!epoch) {
		mutex_lock(&gtu->mbox_lock);
		epoch = gtu->epoch;
		mutex_unlock(&gtu->mbox_lock);
	}
	return epoch;
}

/*
 * Execute a mailbox command. Returns 0, -ESTALE if the device was reset after
 * @epoch and so does not know the caller's contexts and queues, -ENODEV if the
 * device is dead, -ETIMEDOUT, or -EIO if the device refused the command.
 */
int gtu_mbox(struct gtu_device *gtu, u32 epoch, u32 cmd, const u64 *arg)
{
	int ret = -ESTALE;

	mutex_lock(&gtu->mbox_lock);
	if (gtu->epoch == epoch)
		ret = gtu_mbox_locked(gtu, cmd, arg);
	mutex_unlock(&gtu->mbox_lock);
	return ret;
}

/*
 * Like gtu_mbox(), and return the device's reply: @status (GTU_MBOX_E_*) on 0
 * and -EIO, @result on 0.
 */
int gtu_mbox_query(struct gtu_device *gtu, u32 epoch, u32 cmd, const u64 *arg, u32 *status,
		   u64 *result)
{
	int ret = -ESTALE, i;

	mutex_lock(&gtu->mbox_lock);
	if (gtu->epoch == epoch)
		ret = gtu_mbox_status(gtu, cmd, arg, status);
	for (i = 0; !ret && i < GTU_MBOX_RESULTS; i++)
		result[i] = gtu_rd64(gtu, GTU_REG_MBOX_RESULT(i));
	mutex_unlock(&gtu->mbox_lock);
	return ret;
}

/*
 * ---- Reset --------------------------------------------------------------------------------------
 */

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
	return gtu_events_enable(gtu, gtu_mbox_locked);
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
}

/* Wait for the end of a reset that began in epoch @before. */
static int gtu_reset_wait(struct gtu_device *gtu, u32 before)
{
	u32 epoch, status;
	int ret;

	ret = read_poll_timeout(gtu_rd, epoch, epoch != before, 100, GTU_RESET_TIMEOUT_US, false,
				gtu, GTU_REG_EPOCH);
	if (!ret && epoch != GTU_ALL_ONES && epoch)
		ret = read_poll_timeout(gtu_rd, status, status & GTU_STATUS_READY, 100,
					GTU_RESET_TIMEOUT_US, false, gtu, GTU_REG_STATUS);
	else
		ret = ret ?: -ENODEV;
	if (!ret && status == GTU_ALL_ONES)
		ret = -ENODEV;
	if (!ret)
		gtu_epoch_begin(gtu, epoch);
	return ret;
}

static int gtu_reset_registers(struct gtu_device *gtu, u32 before)
{
	lockdep_assert_held(&gtu->mbox_lock);
	if (before == GTU_ALL_ONES)
		return -ENODEV;
	gtu_wr(gtu, GTU_REG_RESET, GTU_RESET_KEY);
	return gtu_reset_wait(gtu, before);
}

/*
 * Reset the device, for a bus that cannot block its memory accesses. Returns
 * true if the device has dropped all addresses.
 */
bool gtu_hw_reset(struct gtu_device *gtu)
{
	return !gtu_reset_registers(gtu, gtu_rd(gtu, GTU_REG_EPOCH));
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
	u32 before = gtu_rd(gtu, GTU_REG_EPOCH);
	int ret = gtu_reset_registers(gtu, before);

	if (!ret && dma_off)
		gtu->bus->enable_dma(gtu);
	if (!ret)
		ret = gtu_reload(gtu);
	trace_gtu_reset(gtu, before, ret);
	if (ret) {
		dev_err(gtu->parent, "reset failed: %d\n", ret);
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

/*
 * Called under ctx->lock for a published context when the device did not
 * release its resources: reset the device or, failing that, quiesce it. Returns
 * true if the device certainly does not access them any more.
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
		dev_err(gtu->parent, "resetting the device: %s\n", why);
		gtu_reset_locked(gtu);
	}
	/* A device that is up in a later epoch has dropped the context. */
	quiesced = (gtu->epoch && gtu->epoch != epoch && READ_ONCE(gtu->state) == GTU_STATE_UP) ||
		   gtu_quiesce(gtu);
	mutex_unlock(&gtu->mbox_lock);
	return quiesced;
}

/*
 * The PCI core is about to reset the function, for example through sysfs. Kill
 * all contexts and hold the mailbox until gtu_reset_end().
 */
void gtu_reset_begin(struct gtu_device *gtu)
{
	mutex_lock(&gtu->mbox_lock);
	WRITE_ONCE(gtu->epoch, 0);
	gtu_queues_wake(gtu);
}

void gtu_reset_end(struct gtu_device *gtu)
{
	int ret = gtu_reset_wait(gtu, 0);

	/*
	 * The core restored bus mastering with the config space, and used up
	 * the saved state: save it again.
	 */
	if (!ret && !gtu->quiesce_called)
		gtu->bus->enable_dma(gtu);
	if (!ret)
		ret = gtu_reload(gtu);
	trace_gtu_reset(gtu, 0, ret);
	if (ret) {
		dev_err(gtu->parent, "function reset failed: %d\n", ret);
		gtu_set_dead(gtu);
	}
	/* Wake again: the device wrote queue states until it was reset. */
	gtu_queues_wake(gtu);
	mutex_unlock(&gtu->mbox_lock);
}

/*
 * Quiesce the device and stop accessing its registers, for a system suspend or
 * a bus error. Contexts read as dead meanwhile; the caller decides which of
 * them are.
 */
void gtu_hw_stop(struct gtu_device *gtu)
{
	mutex_lock(&gtu->mbox_lock);
	gtu_quiesce(gtu);
	WRITE_ONCE(gtu->epoch, 0);
	mutex_unlock(&gtu->mbox_lock);
}

/*
 * Restart the device after gtu_hw_stop(), as after a reset. Does not wake
 * waiters of dead contexts.
 */
int gtu_hw_restart(struct gtu_device *gtu)
{
	int ret = -ENODEV;

	mutex_lock(&gtu->mbox_lock);
	if (READ_ONCE(gtu->state) == GTU_STATE_UP) {
		gtu->quiesce_called = false;
		ret = gtu_reset_and_reload(gtu, true);
	}
	mutex_unlock(&gtu->mbox_lock);
	return ret;
}

/*
 * ---- Identity -----------------------------------------------------------------------------------
 */

/*
 * Copy the device tree blob of the device, once. The driver works without a
 * valid one.
 */
static void gtu_fdt_read(struct gtu_device *gtu)
{
	u32 offset = gtu_rd(gtu, GTU_REG_FDT_OFFSET), bytes = gtu_rd(gtu, GTU_REG_FDT_LENGTH), i;
	u32 crc = gtu_rd(gtu, GTU_REG_FDT_CRC);
	__le32 *blob;

	if (offset < GTU_FDT_WINDOW || offset % 4 || bytes < 40 ||
	    bytes > GTU_BAR_REGS_SIZE - min_t(u32, offset, GTU_BAR_REGS_SIZE)) {
		dev_warn(gtu->parent, "device tree blob is outside its window: offset %#x, %u bytes\n", offset,
			 bytes);
		return;
	}
	blob = kvzalloc(round_up(bytes, 4), GFP_KERNEL);
	if (!blob)
		return;
	for (i = 0; i < bytes; i += 4)
		blob[i / 4] = cpu_to_le32(gtu_rd(gtu, offset + i));
	if (be32_to_cpup((__be32 *)blob) != GTU_FDT_MAGIC_BE ||
	    be32_to_cpup((__be32 *)blob + 1) > bytes ||
	    (crc32_le(~0, (u8 *)blob, bytes) ^ ~0) != crc) {
		dev_warn(gtu->parent, "device tree blob is corrupt\n");
		kvfree(blob);
		return;
	}
	gtu->fdt = blob;
	gtu->fdt_bytes = bytes;
	gtu->fdt_crc = crc;
}

/*
 * Read the identity registers and check them against the limits of the driver.
 */
int gtu_hw_identify(struct gtu_device *gtu, u64 regs_bytes, u64 doorbells_bytes)
{
	struct device *dev = gtu->parent;
	u32 magic, max_regions;

	if (regs_bytes < GTU_BAR_REGS_SIZE) {
		dev_err(dev, "register range is too small: %llu bytes, need %u\n", regs_bytes, GTU_BAR_REGS_SIZE);
		return -ENODEV;
	}
	magic = gtu_rd(gtu, GTU_REG_MAGIC);
	gtu->version = gtu_rd(gtu, GTU_REG_VERSION);
	if (magic != GTU_MAGIC || gtu->version >> 16 != GTU_HW_VERSION >> 16) {
		dev_err(dev, "%s: magic %#x, version %#x, need major version %u\n",
			magic == GTU_ALL_ONES ? "device does not respond" : "unsupported device",
			magic, gtu->version, GTU_HW_VERSION >> 16);
		return -ENODEV;
	}
	gtu->caps = gtu_rd64(gtu, GTU_REG_CAPS);
	gtu->units = gtu_rd(gtu, GTU_REG_UNITS);
	gtu->max_contexts = gtu_rd(gtu, GTU_REG_MAX_CONTEXTS);
	gtu->max_queues = gtu_rd(gtu, GTU_REG_MAX_QUEUES);
	max_regions = gtu_rd(gtu, GTU_REG_MAX_REGIONS);
	gtu->max_ring = gtu_rd(gtu, GTU_REG_MAX_RING);
	gtu->vectors_hw = gtu_rd(gtu, GTU_REG_VECTORS);
	gtu->rings_hw = gtu_rd(gtu, GTU_REG_EVENT_RINGS);
	gtu->stride = gtu_rd(gtu, GTU_REG_DOORBELL_STRIDE);
	gtu->clock_hz = gtu_rd64(gtu, GTU_REG_CLOCK_HZ);
	gtu->aperture = gtu_rd64(gtu, GTU_REG_APERTURE_SIZE);
	if (!gtu->max_contexts || !gtu->max_queues || max_regions > 16 ||
	    gtu->max_ring < GTU_EVENTS_LOG2 || gtu->max_ring > 16 || !gtu->vectors_hw ||
	    !gtu->rings_hw) {
		dev_err(dev, "invalid identity registers: contexts %u, queues %u, log2 regions %u, log2 ring %u, vectors %u, event rings %u\n",
			gtu->max_contexts, gtu->max_queues, max_regions, gtu->max_ring,
			gtu->vectors_hw, gtu->rings_hw);
		return -ENODEV;
	}
	/* An event has 16 bits for the queue id. */
	gtu->max_queues = min(gtu->max_queues, GTU_EVENT_QUEUE_MASK + 1);
	gtu->max_contexts = min(gtu->max_contexts, 4096u);
	gtu->regions_log2 = min_t(u32, max_regions, GTU_REGIONS_LOG2);
	if (!(gtu->caps & GTU_CAP_REGIONS))
		dev_info(dev, "no access checks in the device: jobs by ioctl only\n");
	if (gtu->stride < PAGE_SHIFT || gtu->stride > 20) {
		dev_err(dev, "unsupported doorbell stride: 2^%u bytes, pages of 2^%u bytes\n",
			gtu->stride, PAGE_SHIFT);
		return -EOPNOTSUPP;
	}
	if (doorbells_bytes >> gtu->stride < gtu->max_queues) {
		dev_err(dev, "doorbell range is too small: %llu bytes for %u queues\n",
			doorbells_bytes, gtu->max_queues);
		return -ENODEV;
	}
	return 0;
}

/*
 * Start the device from any state. Event rings and interrupts must be set up.
 */
int gtu_hw_start(struct gtu_device *gtu)
{
	int ret;

	mutex_lock(&gtu->mbox_lock);
	ret = gtu_reset_and_reload(gtu, true);
	if (!ret)
		gtu_fdt_read(gtu);
	mutex_unlock(&gtu->mbox_lock);
	return ret;
}

/*
 * ---- Register access for user space -------------------------------------------------------------
 */

/*
 * Index of the unit page that contains @offset, or -1 if that unit is absent.
 */
static int gtu_unit_page(struct gtu_device *gtu, u32 offset)
{
	u32 page = offset / GTU_PAGE;

	return page >= 1 && page <= GTU_UNIT_PAGES && gtu->units & BIT(page - 1) ? page - 1 : -1;
}

/*
 * Size in bytes of the register at @offset if users may read it: no side
 * effects, no information about other users. Else 0.
 */
static unsigned int gtu_reg_readable(struct gtu_device *gtu, u32 offset)
{
	u32 reg = offset % GTU_PAGE;

	switch (offset) {
	case GTU_REG_MAGIC:
	case GTU_REG_VERSION:
	case GTU_REG_UNITS:
	case GTU_REG_EPOCH:
	case GTU_REG_MAX_CONTEXTS:
	case GTU_REG_MAX_QUEUES:
	case GTU_REG_MAX_REGIONS:
	case GTU_REG_MAX_RING:
	case GTU_REG_VECTORS:
	case GTU_REG_EVENT_RINGS:
	case GTU_REG_DOORBELL_STRIDE:
	case GTU_REG_FDT_LENGTH:
	case GTU_REG_FDT_CRC:
		return 4;
	case GTU_REG_CAPS:
	case GTU_REG_CLOCK_HZ:
	case GTU_REG_CYCLES:
	case GTU_REG_APERTURE_SIZE:
	case GTU_REG_CYCLE_LIMIT:
		return 8;
	}
	if (gtu_unit_page(gtu, offset) < 0)
		return 0;
	if (reg == GTU_UREG_ID || reg == GTU_UREG_VERSION || reg == GTU_UREG_STATUS)
		return 4;
	if (reg >= GTU_UREG_PARAM(0) && reg < GTU_UREG_PARAM(GTU_UREG_PARAMS) && !(reg % 4))
		return 4;
	if (reg >= GTU_UREG_SET(0) && reg < GTU_UREG_SET(GTU_UREG_SETS) && !(reg % 4))
		return 4;
	if (reg >= GTU_UREG_COUNTER(0) && reg < GTU_UREG_COUNTER(GTU_UREG_COUNTERS) && !(reg % 8))
		return 8;
	return 0;
}

int gtu_reg_read(struct gtu_device *gtu, u32 offset, u64 *value)
{
	unsigned int bytes = gtu_reg_readable(gtu, offset);
	int ret = 0;

	if (!bytes)
		return -EINVAL;
	mutex_lock(&gtu->mbox_lock);
	if (!gtu->epoch) {
		ret = -ENODEV;
	} else {
		*value = bytes == 8 ? gtu_rd64(gtu, offset) : gtu_rd(gtu, offset);
		if ((u32)*value == GTU_ALL_ONES)
			ret = gtu_alive(gtu);
	}
	mutex_unlock(&gtu->mbox_lock);
	return ret;
}

int gtu_reg_write(struct gtu_device *gtu, u32 offset, u64 value)
{
	int page = gtu_unit_page(gtu, offset), ret;
	u32 reg = offset % GTU_PAGE, n = (reg - GTU_UREG_SET(0)) / 4;
	bool set = reg >= GTU_UREG_SET(0) && reg < GTU_UREG_SET(GTU_UREG_SETS) && !(reg % 4);

	if (page < 0 || value > U32_MAX)
		return -EINVAL;
	if (!set && (reg != GTU_UREG_CTRL || value & ~(u64)(GTU_CTRL_SNAPSHOT | GTU_CTRL_CLEAR)))
		return -EINVAL;
	mutex_lock(&gtu->mbox_lock);
	ret = -ENODEV;
	if (!gtu->epoch)
		goto out;
	gtu_wr(gtu, offset, value);
	if (!set)
		gtu->snapshot[page] = ktime_get();
	ret = gtu_alive(gtu);
	if (!ret && set) {
		/* read back: the device may have clamped the value */
		gtu->setting[page][n] = gtu_rd(gtu, offset);
		gtu->setting_valid[page] |= BIT(n);
	}
out:
	mutex_unlock(&gtu->mbox_lock);
	return ret;
}

/*
 * Read a counter from a snapshot that is at most GTU_SNAPSHOT_US old, so that
 * successive reads are consistent. Never clears counters.
 */
int gtu_counter_read(struct gtu_device *gtu, u32 offset, u64 *value)
{
	u32 page = offset / GTU_PAGE - 1;
	int ret = -ENODEV;

	mutex_lock(&gtu->mbox_lock);
	/* the registers are not accessible after a bus error */
	if (!gtu->epoch)
		goto out;
	if (ktime_us_delta(ktime_get(), gtu->snapshot[page]) > GTU_SNAPSHOT_US) {
		gtu_wr(gtu, (page + 1) * GTU_PAGE + GTU_UREG_CTRL, GTU_CTRL_SNAPSHOT);
		gtu->snapshot[page] = ktime_get();
	}
	*value = gtu_rd64(gtu, offset);
	ret = gtu_alive(gtu);
out:
	mutex_unlock(&gtu->mbox_lock);
	return ret;
}
