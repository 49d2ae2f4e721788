// SPDX-License-Identifier: GPL-2.0-only
/* Device registers: identity, mailbox, and register access for user space. */
#include <linux/crc32.h>
#include <linux/iopoll.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "gtu_drv.h"

#define GTU_SNAPSHOT_US		(20 * USEC_PER_MSEC)
#define GTU_FDT_MAGIC_BE	0xd00dfeed

static bool user_registers;
module_param(user_registers, bool, 0644);
MODULE_PARM_DESC(user_registers, "Every user of a device may read control registers, read and clear counters and change settings, which all users share");

static unsigned int mailbox_timeout_ms = 2000;
module_param(mailbox_timeout_ms, uint, 0644);
MODULE_PARM_DESC(mailbox_timeout_ms, "Milliseconds until a mailbox command that is not answered resets the device");

#define GTU_DAY_MS	86400000u

static unsigned int time_scale = 1;
module_param(time_scale, uint, 0644);
MODULE_PARM_DESC(time_scale, "Factor of all time limits, for a simulated device that is slow: 1 to 100000");

/**
 * gtu_scaled() - multiply a time limit for the device by time_scale
 * @time: the limit, in any unit
 *
 * Return: the limit to use
 */
u64 gtu_scaled(u64 time)
{
	return time * clamp(READ_ONCE(time_scale), 1u, 100000u);
}

/**
 * gtu_scaled_us() - scale a time limit
 * @ms: the limit; more than a day is a day
 *
 * Return: the limit to use, in microseconds
 */
u64 gtu_scaled_us(unsigned int ms)
{
	return gtu_scaled((u64)min(ms, GTU_DAY_MS) * USEC_PER_MSEC);
}

/**
 * gtu_scaled_jiffies() - scale a time limit
 * @ms: the limit; more than a day is a day
 *
 * Return: the limit to use
 */
unsigned long gtu_scaled_jiffies(unsigned int ms)
{
	return min_t(u64, gtu_scaled(msecs_to_jiffies(min(ms, GTU_DAY_MS))), MAX_JIFFY_OFFSET);
}

static int gtu_mbox_poll(struct gtu_device *gtu, u32 *status)
{
	int ret;

	ret = read_poll_timeout(gtu_rd, *status,
				*status == GTU_ALL_ONES || !(*status & GTU_MBOX_BUSY), 20,
				/* 0 would be no limit */
				gtu_scaled_us(max(READ_ONCE(mailbox_timeout_ms), 1u)), false, gtu,
				GTU_REG_MBOX_STATUS);
	if (*status == GTU_ALL_ONES) {
		dev_err(gtu->parent, "the device does not respond\n");
		gtu_set_dead(gtu);
		return -ENODEV;
	}
	return ret;
}

/**
 * gtu_mbox_locked() - execute a mailbox command in the current epoch
 * @gtu: the device
 * @cmd: GTU_MBOX_*
 * @arg: GTU_MBOX_ARGS arguments
 *
 * Called under mbox_lock.
 *
 * Return: 0, -ENODEV if the device is dead, -ETIMEDOUT, or how the device
 * refused: only -EALREADY (GTU_MBOX_E_STATE) shows that what the command
 * should end is not running
 */
int gtu_mbox_locked(struct gtu_device *gtu, u32 cmd, const u64 *arg)
{
	u32 status;
	int i, ret;

	lockdep_assert_held(&gtu->mbox_lock);
	if (READ_ONCE(gtu->state) == GTU_STATE_DEAD && gtu->quiesce_called)
		return -ENODEV;
	/* who resets the device shall not wait for the time limits of others' commands */
	if (gtu->mbox_stuck && gtu_rd(gtu, GTU_REG_MBOX_STATUS) & GTU_MBOX_BUSY)
		return -ETIMEDOUT;
	ret = gtu_mbox_poll(gtu, &status);
	gtu->mbox_stuck = ret == -ETIMEDOUT;
	if (ret)
		return ret;
	for (i = 0; i < GTU_MBOX_ARGS; i++)
		writeq(arg[i], gtu->regs + GTU_REG_MBOX_ARG(i));
	gtu_wr(gtu, GTU_REG_MBOX_CMD, cmd);
	ret = gtu_mbox_poll(gtu, &status);
	gtu->mbox_stuck = ret == -ETIMEDOUT;
	if (ret) {
		dev_err(gtu->parent, "the mailbox did not respond in time: command %u\n", cmd);
		return ret;
	}
	if (status)
		dev_dbg(gtu->parent, "the device refused a mailbox command: %u, arguments %#llx, %#llx, status %u\n",
			cmd, arg[0], arg[1], status);
	switch (status) {
	case GTU_MBOX_E_OK:
		return 0;
	case GTU_MBOX_E_STATE:
		return -EALREADY;
	case GTU_MBOX_E_ARG:
		return -EINVAL;
	case GTU_MBOX_E_IN_USE:
		return -EBUSY;
	default:
		return -EIO;
	}
}

/**
 * gtu_mbox_query() - execute a mailbox command for a context, in its user's turn
 * @ctx: the context
 * @cmd: GTU_MBOX_*
 * @arg: GTU_MBOX_ARGS arguments
 * @result: out: GTU_MBOX_RESULTS words, or NULL
 *
 * Return: as gtu_mbox_locked(), or -ESTALE if the device was reset after the
 * context was registered, and so does not know it and its queues
 */
int gtu_mbox_query(struct gtu_ctx *ctx, u32 cmd, const u64 *arg, u64 *result)
{
	struct gtu_device *gtu = ctx->gtu;
	int ret = -ESTALE, i;

	/* a reset by the PCI core makes every epoch stale at its beginning */
	gtu_mbox_lock_always(gtu, ctx->user);
	if (gtu->epoch == READ_ONCE(ctx->epoch))
		ret = gtu_mbox_locked(gtu, cmd, arg);
	for (i = 0; result && !ret && i < GTU_MBOX_RESULTS; i++)
		result[i] = gtu_rd64(gtu, GTU_REG_MBOX_RESULT(i));
	/* it may have been removed since it answered */
	if (!ret && result && result[GTU_MBOX_RESULTS - 1] == ~0ull)
		ret = gtu_alive(gtu);
	gtu_mbox_unlock(gtu, ctx->user);
	return ret;
}

/**
 * gtu_fdt_read() - copy the device tree blob of the device, once
 * @gtu: the device
 *
 * The driver works without a valid one.
 */
void gtu_fdt_read(struct gtu_device *gtu)
{
	u32 offset = gtu_rd(gtu, GTU_REG_FDT_OFFSET), bytes = gtu_rd(gtu, GTU_REG_FDT_LENGTH), i;
	u32 crc = gtu_rd(gtu, GTU_REG_FDT_CRC);
	__le32 *blob;

	if (offset < GTU_FDT_WINDOW || offset % 4 || bytes < 40 ||
	    bytes > GTU_BAR_REGS_SIZE - min_t(u32, offset, GTU_BAR_REGS_SIZE)) {
		dev_warn(gtu->parent,
			 "the device tree blob is outside its window: offset %#x, %u bytes\n",
			 offset, bytes);
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
		dev_warn(gtu->parent, "the device tree blob is corrupt\n");
		kvfree(blob);
		return;
	}
	gtu->fdt = blob;
	gtu->fdt_bytes = bytes;
	gtu->fdt_crc = crc;
}

/**
 * gtu_hw_identify() - read the identity registers and check them
 * @gtu: the device
 * @regs_bytes: size of the register range
 * @doorbells_bytes: size of the doorbell range
 *
 * Return: 0, or a negative errno if the driver does not support the device
 */
int gtu_hw_identify(struct gtu_device *gtu, u64 regs_bytes, u64 doorbells_bytes)
{
	struct device *dev = gtu->parent;
	u32 magic, max_regions;

	if (regs_bytes < GTU_BAR_REGS_SIZE) {
		dev_err(dev, "the register range is too small: %llu bytes, need %u\n", regs_bytes,
			GTU_BAR_REGS_SIZE);
		return -ENODEV;
	}
	magic = gtu_rd(gtu, GTU_REG_MAGIC);
	gtu->version = gtu_rd(gtu, GTU_REG_VERSION);
	if (magic != GTU_MAGIC || gtu->version >> 16 != GTU_HW_VERSION >> 16) {
		dev_err(dev, "the device is not identified: %s, magic %#x, version %#x, need major version %u\n",
			magic == GTU_ALL_ONES ? "it does not respond" : "it is unsupported",
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
		dev_err(dev, "the identity registers are invalid: contexts %u, queues %u, log2 regions %u, log2 ring %u, vectors %u, event rings %u\n",
			gtu->max_contexts, gtu->max_queues, max_regions, gtu->max_ring,
			gtu->vectors_hw, gtu->rings_hw);
		return -ENODEV;
	}
	/* An event has 16 bits for the queue id. */
	gtu->max_queues = min(gtu->max_queues, GTU_EVENT_QUEUE_MASK + 1);
	gtu->max_contexts = min(gtu->max_contexts, 4096u);
	gtu->regions_log2 = min_t(u32, max_regions, GTU_REGIONS_LOG2);
	if (!(gtu->caps & GTU_CAP_REGIONS))
		dev_info(dev, "the device does not check accesses: jobs are submitted by ioctl only\n");
	if (gtu->stride < PAGE_SHIFT || gtu->stride > 20) {
		dev_err(dev, "the doorbell stride is unsupported: 2^%u bytes, pages of 2^%u bytes\n",
			gtu->stride, PAGE_SHIFT);
		return -EOPNOTSUPP;
	}
	if (doorbells_bytes >> gtu->stride < gtu->max_queues) {
		dev_err(dev, "the doorbell range is too small: %llu bytes for %u queues\n",
			doorbells_bytes, gtu->max_queues);
		return -ENODEV;
	}
	return 0;
}

/*
 * Index of the unit page that contains @offset, or -1 if that unit is absent.
 */
static int gtu_unit_page(struct gtu_device *gtu, u32 offset)
{
	u32 page = offset / GTU_PAGE;

	return page >= 1 && page <= GTU_UNIT_PAGES && gtu->units & BIT(page - 1) ? page - 1 : -1;
}

static bool gtu_reg_among(u32 reg, u32 first, unsigned int n, u32 bytes)
{
	return reg >= first && reg < first + n * bytes && !(reg % bytes);
}

static bool gtu_reg_is_setting(u32 reg)
{
	return gtu_reg_among(reg, GTU_UREG_SET(0), GTU_UREG_SETS, 4);
}

/**
 * gtu_unit_blocks() - count the blocks of control registers of a unit
 * @gtu: the device
 * @unit: index of the unit
 *
 * Caller holds mbox_lock.
 *
 * Return: the number of blocks
 */
unsigned int gtu_unit_blocks(struct gtu_device *gtu, unsigned int unit)
{
	const struct gtu_blocks *b = &gtu_blocks[unit];

	if (!b->stride)
		return 0;
	return min_t(u32, gtu_rd(gtu, (unit + 1) * GTU_PAGE + b->count),
		     (GTU_PAGE - GTU_UREG_OWN) / b->stride);
}

/*
 * Size in bytes of the control register at @offset, a unit's own; else 0.
 */
static unsigned int gtu_own_readable(struct gtu_device *gtu, u32 offset)
{
	int page = gtu_unit_page(gtu, offset);
	u32 at = offset % GTU_PAGE - GTU_UREG_OWN, stride;
	const struct gtu_field *f;

	if (page < 0 || offset % GTU_PAGE < GTU_UREG_OWN)
		return 0;
	stride = gtu_blocks[page].stride;
	if (!stride || at / stride >= gtu_unit_blocks(gtu, page))
		return 0;
	for (f = gtu_own_fields; f < gtu_own_fields + GTU_OWN_FIELDS; f++)
		if (f->offset == offset - at / stride * stride)
			return f->bytes;
	return 0;
}

/*
 * Size in bytes of the register at @offset if users may read it: no side
 * effects. Else 0. Caller holds mbox_lock, and the device responds.
 */
static unsigned int gtu_reg_readable(struct gtu_device *gtu, u32 offset)
{
	u32 reg = offset % GTU_PAGE;
	const struct gtu_field *f;

	for (f = gtu_globals; f < gtu_globals + GTU_GLOBALS; f++)
		if (f->offset == offset && f->user)
			return f->bytes;
	if (gtu_unit_page(gtu, offset) < 0)
		return 0;
	if (reg == GTU_UREG_ID || reg == GTU_UREG_VERSION || reg == GTU_UREG_STATUS ||
	    gtu_reg_is_setting(reg) ||
	    gtu_reg_among(reg, GTU_UREG_PARAM(0), GTU_UREG_PARAMS, 4))
		return 4;
	if (gtu_reg_among(reg, GTU_UREG_COUNTER(0), GTU_UREG_COUNTERS, 8))
		return 8;
	return gtu_own_readable(gtu, offset);
}

/**
 * gtu_reg_read() - read a register for a user
 * @gtu: the device
 * @ctx: context of the file that asks, or NULL
 * @offset: offset of the register in BAR0
 * @value: out: its value
 *
 * The counters are those of the file's own last snapshot, if it has taken one,
 * whoever took another one since.
 *
 * Return: 0 or a negative errno, as ioctl(REG_READ)
 */
int gtu_reg_read(struct gtu_device *gtu, struct gtu_ctx *ctx, u32 offset, u64 *value)
{
	u32 reg = offset % GTU_PAGE;
	/* cycles of all jobs, busy units, counters and control registers tell what others do */
	bool shared = offset < GTU_PAGE ? offset == GTU_REG_CYCLES :
					  reg == GTU_UREG_STATUS || reg >= GTU_UREG_COUNTER(0);
	bool permitted = !shared || READ_ONCE(user_registers) || perfmon_capable();
	unsigned int bytes;
	struct gtu_user *user = ctx ? ctx->user : NULL;
	const u64 *own = NULL;
	int ret = -ENODEV;

	gtu_mbox_lock(gtu, user);
	if (!gtu->epoch)
		goto out;
	bytes = gtu_reg_readable(gtu, offset);
	ret = !bytes ? -EINVAL : !permitted ? -EPERM : 0;
	if (ret)
		goto out;
	if (ctx && offset >= GTU_PAGE &&
	    gtu_reg_among(reg, GTU_UREG_COUNTER(0), gtu_unit_counters[offset / GTU_PAGE - 1], 8))
		own = ctx->counters[offset / GTU_PAGE - 1];
	if (own) {
		*value = own[(reg - GTU_UREG_COUNTER(0)) / 8];
		goto out;
	}
	*value = bytes == 8 ? gtu_rd64(gtu, offset) : gtu_rd(gtu, offset);
	if ((u32)*value == GTU_ALL_ONES)
		ret = gtu_alive(gtu);
out:
	gtu_mbox_unlock(gtu, user);
	return ret;
}

/* Events of perf go on counting when the device begins at 0. */
static void gtu_counter_cleared(struct gtu_device *gtu, unsigned int page, unsigned int n)
{
	gtu->cleared[page][n] += gtu->last[page][n];
	gtu->last[page][n] = 0;
}

/* Snapshot a counter's unit before. Returns false if the registers are not accessible. */
static bool gtu_counter_update(struct gtu_device *gtu, unsigned int page, unsigned int n)
{
	u64 now = gtu_rd64(gtu, (page + 1) * GTU_PAGE + GTU_UREG_COUNTER(n));

	if (now == ~0ull)
		return false;
	gtu->last[page][n] = now;
	return true;
}

/**
 * gtu_counters_update() - read all counters, for events that go on after the device loses them
 * @gtu: the device
 *
 * A device that does not respond is read once.
 */
void gtu_counters_update(struct gtu_device *gtu)
{
	bool there = READ_ONCE(gtu->state) == GTU_STATE_UP;
	unsigned int page, n;

	for (page = 0; page < GTU_UNIT_PAGES && there; page++) {
		if (!(gtu->units & BIT(page)))
			continue;
		raw_spin_lock_irq(&gtu->counter_lock);
		there = gtu->counters_on;
		if (there)
			gtu_wr(gtu, (page + 1) * GTU_PAGE + GTU_UREG_CTRL, GTU_CTRL_SNAPSHOT);
		for (n = 0; n < gtu_unit_counters[page] && there; n++)
			there = gtu_counter_update(gtu, page, n);
		raw_spin_unlock_irq(&gtu->counter_lock);
	}
}

/**
 * gtu_counters_stop() - forbid access to counters in interrupts, before a reset
 * @gtu: the device, whose registers become inaccessible
 */
void gtu_counters_stop(struct gtu_device *gtu)
{
	unsigned int page, n;

	raw_spin_lock_irq(&gtu->counter_lock);
	gtu->counters_on = false;
	for (page = 0; page < GTU_UNIT_PAGES; page++)
		for (n = 0; n < gtu_unit_counters[page]; n++)
			gtu_counter_cleared(gtu, page, n);
	raw_spin_unlock_irq(&gtu->counter_lock);
}

/*
 * Take a snapshot of a unit's counters for a file, or clear them, or both. @space:
 * of the file's first snapshot, which takes it
 */
static void gtu_counters_control(struct gtu_ctx *ctx, unsigned int page, u32 control, u64 **space)
{
	struct gtu_device *gtu = ctx->gtu;
	u64 *own = NULL, value;
	unsigned int n;

	lockdep_assert_held(&gtu->mbox_lock);
	if (!control)
		return;
	if (control & GTU_CTRL_SNAPSHOT) {
		if (!ctx->counters[page])
			swap(ctx->counters[page], *space);
		own = ctx->counters[page];
	}
	raw_spin_lock_irq(&gtu->counter_lock);
	gtu_wr(gtu, (page + 1) * GTU_PAGE + GTU_UREG_CTRL, control | GTU_CTRL_SNAPSHOT);
	gtu->snapshot[page] = control & GTU_CTRL_CLEAR ? 0 : ktime_get();
	for (n = 0; n < gtu_unit_counters[page]; n++) {
		value = gtu_rd64(gtu, (page + 1) * GTU_PAGE + GTU_UREG_COUNTER(n));
		if (own)
			own[n] = value;
		if (value == ~0ull)
			continue;
		gtu->last[page][n] = value;
		if (control & GTU_CTRL_CLEAR)
			gtu_counter_cleared(gtu, page, n);
	}
	raw_spin_unlock_irq(&gtu->counter_lock);
}

/**
 * gtu_reg_write() - write a register for a user
 * @ctx: context of the file that asks
 * @offset: offset of the register in BAR0
 * @value: the value
 *
 * Return: 0 or a negative errno, as ioctl(REG_WRITE)
 */
int gtu_reg_write(struct gtu_ctx *ctx, u32 offset, u64 value)
{
	struct gtu_device *gtu = ctx->gtu;
	int page = gtu_unit_page(gtu, offset), ret;
	u32 reg = offset % GTU_PAGE, n = (reg - GTU_UREG_SET(0)) / 4;
	bool set = gtu_reg_is_setting(reg);
	u64 *space = NULL;

	if (page < 0 || value > U32_MAX)
		return -EINVAL;
	if (!set && (reg != GTU_UREG_CTRL || value & ~(u64)(GTU_CTRL_SNAPSHOT | GTU_CTRL_CLEAR)))
		return -EINVAL;
	/* settings change how other users' jobs run */
	if (!READ_ONCE(user_registers) && !(set ? capable(CAP_SYS_ADMIN) : perfmon_capable()))
		return -EPERM;
	if (!set && value & GTU_CTRL_SNAPSHOT && !READ_ONCE(ctx->counters[page])) {
		space = kcalloc(GTU_UREG_COUNTERS, sizeof(u64), GFP_KERNEL_ACCOUNT);
		if (!space)
			return -ENOMEM;
	}
	gtu_mbox_lock(gtu, ctx->user);
	ret = -ENODEV;
	if (!gtu->epoch)
		goto out;
	if (set)
		gtu_wr(gtu, offset, value);
	else
		gtu_counters_control(ctx, page, value, &space);
	ret = gtu_alive(gtu);
	if (!ret && set) {
		/* read back: the device may have clamped the value */
		gtu->setting[page][n] = gtu_rd(gtu, offset);
		gtu->setting_valid[page] |= BIT(n);
	}
out:
	gtu_mbox_unlock(gtu, ctx->user);
	kfree(space);
	return ret;
}

/**
 * gtu_counter_read() - read a counter
 * @gtu: the device
 * @offset: offset of the register in BAR0
 * @value: out: its value
 *
 * The value is of a snapshot that is at most GTU_SNAPSHOT_US old, so that
 * successive reads are consistent. Never clears counters.
 *
 * Return: 0 or a negative errno
 */
int gtu_counter_read(struct gtu_device *gtu, u32 offset, u64 *value)
{
	u32 page = offset / GTU_PAGE - 1;
	int ret = -ENODEV;

	gtu_mbox_lock(gtu, NULL);
	/* the registers are not accessible after a bus error */
	if (!gtu->epoch)
		goto out;
	raw_spin_lock_irq(&gtu->counter_lock);
	if (ktime_us_delta(ktime_get(), gtu->snapshot[page]) > GTU_SNAPSHOT_US) {
		gtu_wr(gtu, (page + 1) * GTU_PAGE + GTU_UREG_CTRL, GTU_CTRL_SNAPSHOT);
		gtu->snapshot[page] = ktime_get();
	}
	*value = gtu_rd64(gtu, offset);
	raw_spin_unlock_irq(&gtu->counter_lock);
	ret = gtu_alive(gtu);
out:
	gtu_mbox_unlock(gtu, NULL);
	return ret;
}

/**
 * gtu_counter_now() - read the present value of a counter
 * @gtu: the device
 * @offset: offset of the counter in BAR0
 *
 * In any context.
 *
 * Return: the value, the last one if the device is not accessible, plus all that
 * users and resets have cleared
 */
u64 gtu_counter_now(struct gtu_device *gtu, u32 offset)
{
	u32 page = offset / GTU_PAGE - 1, n = (offset % GTU_PAGE - GTU_UREG_COUNTER(0)) / 8;
	unsigned long flags;
	u64 value;

	raw_spin_lock_irqsave(&gtu->counter_lock, flags);
	if (gtu->counters_on) {
		gtu_wr(gtu, (page + 1) * GTU_PAGE + GTU_UREG_CTRL, GTU_CTRL_SNAPSHOT);
		gtu->snapshot[page] = ktime_get();
		gtu_counter_update(gtu, page, n);
	}
	value = gtu->cleared[page][n] + gtu->last[page][n];
	raw_spin_unlock_irqrestore(&gtu->counter_lock, flags);
	return value;
}
