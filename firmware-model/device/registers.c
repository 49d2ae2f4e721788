// SPDX-License-Identifier: MIT
/* The device's registers, and accesses to its BARs over the bus. */
#include "core.h"

#define UNKNOWN_ID	0x20202078u	/* "x": of gtu_dev_config.unknown_unit */

/* Waiting can be for a consumer, for ring space or for a unit. */
bool gtu_dev_busy(const struct gtu_dev *dev)
{
	uint32_t i;

	for (i = 0; i < dev->config.queues; i++) {
		const struct gtu_hwq *q = &dev->queue[i];

		if (q->state == GTU_QUEUE_ENABLED && (q->active || q->sq_head != q->sq_tail))
			return true;
	}
	return false;
}

static uint32_t status(const struct gtu_dev *dev)
{
	return (dev->stuck ? 0 : GTU_STATUS_READY) | (gtu_dev_busy(dev) ? GTU_STATUS_BUSY : 0) |
	       (dev->error ? GTU_STATUS_ERROR : 0);
}

static uint32_t units_present(const struct gtu_dev *dev)
{
	uint32_t bits = dev->config.unknown_unit ? 1u << GTU_UNIT_COUNT : 0;
	unsigned i;

	for (i = 0; i < GTU_UNIT_COUNT; i++)
		bits |= dev->page[i].unit ? gtu_unit_table[i].bit : 0;
	return bits;
}

/* Is @reg one of @n registers of @bytes from @first on? *i is set to its index. */
static bool in_array(uint32_t reg, uint32_t first, unsigned bytes, unsigned n, unsigned *i)
{
	*i = (reg - first) / bytes;
	return *i < n && !(reg % bytes);
}

/* Value of the register at @offset and whether it is 64 bits wide. False if there is none. */
static bool global_register(struct gtu_dev *dev, uint32_t offset, uint64_t *value, bool *wide)
{
	unsigned i;

	*wide = false;
	switch (offset) {
#define R32(reg, expr) case reg: *value = (uint32_t)(expr); return true
#define R64(reg, expr) case reg: *value = (expr); *wide = true; return true
	R32(GTU_REG_MAGIC, GTU_MAGIC);
	R32(GTU_REG_VERSION, GTU_HW_VERSION);
	R64(GTU_REG_CAPS, (GTU_CAP_REGIONS | GTU_CAP_STREAMS | GTU_CAP_LINEAR |
				    GTU_CAP_CANCEL | GTU_CAP_STREAM_EVENTS | GTU_CAP_SEEK |
				    GTU_CAP_LOGICAL_CYCLES | GTU_CAP_CTX_COUNTERS | GTU_CAP_CTX_GROUPS) & ~dev->config.caps_off);
	R32(GTU_REG_UNITS, units_present(dev));
	R32(GTU_REG_EPOCH, dev->epoch);
	R32(GTU_REG_STATUS, status(dev));
	R32(GTU_REG_RESET, 0);
	R64(GTU_REG_SCRATCH, dev->scratch);
	R32(GTU_REG_ERROR, dev->error);
	R64(GTU_REG_ERROR_INFO, dev->error_info);
	R32(GTU_REG_MAX_CONTEXTS, dev->config.contexts);
	R32(GTU_REG_MAX_QUEUES, dev->config.queues);
	R32(GTU_REG_MAX_REGIONS, dev->config.regions_log2);
	R32(GTU_REG_MAX_RING, dev->config.ring_log2);
	R32(GTU_REG_VECTORS, dev->config.vectors);
	R32(GTU_REG_EVENT_RINGS, dev->config.event_rings);
	R32(GTU_REG_DOORBELL_STRIDE, dev->config.doorbell_stride_log2);
	R64(GTU_REG_CLOCK_HZ, dev->config.clock_hz);
	R64(GTU_REG_CYCLES, dev->cycles);
	R64(GTU_REG_APERTURE_SIZE, dev->config.aperture_bytes);
	R32(GTU_REG_FDT_OFFSET, GTU_FDT_WINDOW);
	R32(GTU_REG_FDT_LENGTH, dev->fdt_bytes);
	R32(GTU_REG_FDT_CRC, dev->fdt_crc);
	R64(GTU_REG_CYCLE_LIMIT, dev->cycle_limit);
	R32(GTU_REG_MBOX_CMD, 0);
	R32(GTU_REG_MBOX_STATUS, dev->mbox_status);
#undef R32
#undef R64
	}
	if (in_array(offset, GTU_REG_MBOX_ARG(0), 8, GTU_MBOX_ARGS, &i))
		return *wide = true, *value = dev->mbox_arg[i], true;
	if (in_array(offset, GTU_REG_MBOX_RESULT(0), 8, GTU_MBOX_RESULTS, &i))
		return *wide = true, *value = dev->mbox_result[i], true;
	*value = 0;
	return in_array(offset, GTU_REG_EVENT_HEAD(0), 4, dev->config.event_rings, &i);
}

/* Index of the unit whose page @offset is in; other pages: not less than GTU_UNIT_COUNT. */
static unsigned unit_at(uint32_t offset)
{
	return offset / GTU_PAGE - 1;
}

static struct gtu_unit_page *page_at(struct gtu_dev *dev, uint32_t offset)
{
	const unsigned n = unit_at(offset);

	return n < GTU_UNIT_COUNT && dev->page[n].unit ? &dev->page[n] : NULL;
}

/* The unit of @p runs a job. A job that owns the unit and has not started shows nothing of the one before. */
static bool runs(const struct gtu_unit_page *p)
{
	return p->owner && p->owner->job.started;
}

static bool unit_register(struct gtu_dev *dev, uint32_t offset, uint64_t *value, bool *wide)
{
	const struct gtu_unit_page *p = page_at(dev, offset);
	const uint32_t reg = offset & (GTU_PAGE - 1);
	uint32_t own;
	unsigned i;

	*value = 0;
	*wide = false;
	if (reg == GTU_UREG_ID || reg == GTU_UREG_VERSION || reg == GTU_UREG_STATUS ||
	    reg == GTU_UREG_CTRL) {
		/* every unit's page has these, even an absent unit's: they read as 0 */
		if (p && reg == GTU_UREG_ID)
			*value = gtu_unit_table[unit_at(offset)].id;
		if (p && reg == GTU_UREG_VERSION)
			*value = p->unit->version;
		if (p && reg == GTU_UREG_STATUS)
			*value = 1 | (runs(p) ? 2 : 0);
		if (unit_at(offset) == GTU_UNIT_COUNT)
			*value = reg == GTU_UREG_ID ? UNKNOWN_ID : reg != GTU_UREG_CTRL;
		return true;
	}
	if (!p)
		return false;
	if (in_array(reg, GTU_UREG_PARAM(0), 4, GTU_UREG_PARAMS, &i))
		return *value = p->param[i], true;
	if (in_array(reg, GTU_UREG_SET(0), 4, GTU_UREG_SETS, &i))
		return *value = p->setting[i], true;
	if (in_array(reg, GTU_UREG_COUNTER(0), 8, GTU_UREG_COUNTERS, &i))
		return *wide = true, *value = p->shown[i], true;
	own = gtu_bug(dev, GTU_BUG_BLOCK_INDEX) ? GTU_UREG_OWN + gtu_unit_table[unit_at(offset)].block_stride : GTU_UREG_OWN;
	if (reg >= own && p->unit->own_register)
		return p->unit->own_register(&dev->config, p->state, runs(p), reg - own + GTU_UREG_OWN, value, wide);
	return false;
}

static bool register_at(struct gtu_dev *dev, uint32_t offset, uint64_t *value, bool *wide)
{
	if (offset < GTU_PAGE)
		return global_register(dev, offset, value, wide);
	if (unit_at(offset) < GTU_UNIT_COUNT || (unit_at(offset) == GTU_UNIT_COUNT && dev->config.unknown_unit))
		return unit_register(dev, offset, value, wide);
	return false;
}

static uint64_t register_read(struct gtu_dev *dev, uint32_t offset, unsigned size)
{
	const uint32_t latched = dev->latch_offset;
	uint64_t value;
	bool wide;

	dev->latch_offset = ~0u;	/* a latch serves only the next read */
	if (offset >= GTU_FDT_WINDOW) {
		value = 0;
		if (offset + size <= GTU_BAR_REGS_SIZE)
			memcpy(&value, dev->fdt + (offset - GTU_FDT_WINDOW), size);
		return value;
	}
	if ((size != 4 && size != 8) || offset % size)
		goto nothing;
	if (size == 4 && offset % 8 == 4 && latched == offset - 4)
		return dev->latch_high;
	if (register_at(dev, offset, &value, &wide)) {
		if (dev->faulty)
			value = gtu_bug_read(dev, offset, value);
		if (size == 4 && wide) {
			dev->latch_offset = gtu_bug(dev, GTU_BUG_LATCH) ? ~0u : offset;
			dev->latch_high = value >> 32;
			return (uint32_t)value;
		}
		if (size == 8 && !wide)
			goto nothing;
		return value;
	}
	if (size == 4 && offset % 8 == 4 && register_at(dev, offset - 4, &value, &wide) && wide)
		return value >> 32;	/* the high half alone */
nothing:
	gtu_dev_error(dev, GTU_ERROR_REGISTER, offset);
	return 0;
}

static void control(struct gtu_dev *dev, struct gtu_unit_page *p, uint32_t bits)
{
	const bool zcm = p->unit == &gtu_unit_zcm;

	if (zcm)
		gtu_zcm_snapshot(dev);
	if (bits & GTU_CTRL_SNAPSHOT)
		memcpy(p->shown, p->live, sizeof(p->shown));
	if (gtu_bug(dev, GTU_BUG_COUNTER) && p->unit == &gtu_unit_scu)
		p->shown[GTU_SCU_C_OUT] += p->live[GTU_SCU_C_OUT] != 0;
	if (bits & GTU_CTRL_CLEAR && !gtu_bug(dev, GTU_BUG_COUNTER_CLEAR)) {
		memset(p->live, 0, sizeof(p->live));
		if (zcm)
			gtu_zcm_clear(dev);
	}
}

static void set(struct gtu_dev *dev, struct gtu_unit_page *p, unsigned n, uint32_t value)
{
	const unsigned unit = (unsigned)(p - dev->page);
	const struct gtu_parameter *settings = gtu_unit_table[unit].settings;
	unsigned i;

	for (i = 0; i < n && gtu_parameter_exists(&settings[i]); i++)
		;
	if (!gtu_parameter_exists(&settings[i]) || !gtu_parameter_takes(&settings[i], value)) {
		gtu_dev_error(dev, GTU_ERROR_REGISTER, gtu_unit_table[unit].page + GTU_UREG_SET(n));
		return;
	}
	if (p->unit == &gtu_unit_zcm) {
		gtu_zcm_snapshot(dev);
		dev->monitor = value;
		dev->monitor_since = dev->cycles;
	}
	p->setting[n] = value;
}

static void event_head(struct gtu_dev *dev, unsigned n, uint32_t value)
{
	struct gtu_event_ring *e = &dev->event[n];

	if (!e->enabled || value - e->head > e->tail - e->head) {
		gtu_dev_error(dev, GTU_ERROR_REGISTER, GTU_REG_EVENT_HEAD(n));
		return;
	}
	e->head = value;
	gtu_events_retry(dev, n);
}

static void put_half(uint64_t *reg, bool high, unsigned size, uint64_t value)
{
	if (size == 8)
		*reg = value;
	else if (high)
		*reg = (*reg & 0xffffffffull) | value << 32;
	else
		*reg = (*reg & ~0xffffffffull) | (uint32_t)value;
}

static void register_write(struct gtu_dev *dev, uint32_t offset, unsigned size, uint64_t value)
{
	const uint32_t wide = offset & ~7u, reg = offset & (GTU_PAGE - 1);
	uint64_t *writable = NULL, before;
	struct gtu_unit_page *p;
	bool is_wide;
	unsigned i;

	if (gtu_bug(dev, GTU_BUG_ACCESS_SIZE) && size < 4 && wide == GTU_REG_SCRATCH) {
		memcpy((uint8_t *)&dev->scratch + offset % 8, &value, size);
		return;
	}
	if ((size != 4 && size != 8) || offset % size)
		goto nothing;
	if (dev->faulty && gtu_bug_write(dev, offset, size, &value))
		return;
	if (in_array(wide, GTU_REG_MBOX_ARG(0), 8, GTU_MBOX_ARGS, &i)) {
		if (dev->mbox_status & GTU_MBOX_BUSY)
			return;
		writable = &dev->mbox_arg[i];
	} else if (wide == GTU_REG_SCRATCH) {
		writable = &dev->scratch;
	} else if (wide == GTU_REG_CYCLE_LIMIT) {
		writable = &dev->cycle_limit;
	}
	if (writable) {
		put_half(writable, offset & 4, size, value);
		return;
	}
	if (register_at(dev, wide, &before, &is_wide) && is_wide)
		return;			/* the others of 64 bits are read-only: ignored */
	if (size != 4)
		goto nothing;
	p = page_at(dev, offset);
	if (offset == GTU_REG_RESET) {
		if (value == GTU_RESET_KEY)
			gtu_dev_clear(dev);
	} else if (offset == GTU_REG_ERROR) {
		dev->error &= ~(uint32_t)value;
		if (!dev->error)
			dev->error_info = 0;
	} else if (offset == GTU_REG_MBOX_CMD) {
		gtu_mailbox(dev, (uint32_t)value);
	} else if (in_array(offset, GTU_REG_EVENT_HEAD(0), 4, dev->config.event_rings, &i)) {
		event_head(dev, i, (uint32_t)value);
	} else if (p && reg == GTU_UREG_CTRL) {
		control(dev, p, (uint32_t)value);
	} else if (p && in_array(reg, GTU_UREG_SET(0), 4, GTU_UREG_SETS, &i)) {
		set(dev, p, i, (uint32_t)value);
	} else if (!register_at(dev, offset, &before, &is_wide)) {
		goto nothing;		/* others are read-only: the write is ignored */
	}
	return;
nothing:
	gtu_dev_error(dev, GTU_ERROR_REGISTER, offset);
}

/* ---- Accesses over the bus --------------------------------------------------------------------- */

/* Report an access to the monitor; returns the offset that the access reaches. */
static uint64_t aperture_access(struct gtu_dev *dev, uint64_t offset, unsigned size, bool write)
{
	if (dev->monitor)
		gtu_zcm_stream(dev, write ? GTU_ZCM_APERTURE_WRITE : GTU_ZCM_APERTURE_READ, offset, size,
			       dev->cycles, 1);
	return gtu_bug(dev, GTU_BUG_APERTURE_ALIAS) ? offset & ~(1ull << 13) : offset;
}

static bool access_fits(const struct gtu_dev *dev, unsigned bar, uint64_t offset, unsigned size)
{
	const uint64_t bytes = gtu_dev_bar_size(dev, bar);

	return size && size <= 8 && !(size & (size - 1)) && offset < bytes && size <= bytes - offset;
}

uint64_t gtu_dev_read(struct gtu_dev *dev, unsigned bar, uint64_t offset, unsigned size)
{
	uint64_t value = 0;

	if (!access_fits(dev, bar, offset, size)) {
		gtu_dev_error(dev, GTU_ERROR_REGISTER, offset);
		return 0;
	}
	if (bar == GTU_BAR_REGS)
		return register_read(dev, (uint32_t)offset, size);
	if (bar == GTU_BAR_APERTURE) {
		offset = aperture_access(dev, offset, size, false);
		memcpy(&value, dev->aperture + offset, size);
		if (gtu_bug(dev, GTU_BUG_DWORD_SWAP) && size == 8)
			value = value << 32 | value >> 32;
	}
	return value;			/* doorbells read as zero */
}

void gtu_dev_write(struct gtu_dev *dev, unsigned bar, uint64_t offset, unsigned size, uint64_t value)
{
	if (!access_fits(dev, bar, offset, size)) {
		gtu_dev_error(dev, GTU_ERROR_REGISTER, offset);
	} else if (bar == GTU_BAR_REGS) {
		register_write(dev, (uint32_t)offset, size, value);
	} else if (bar == GTU_BAR_DOORBELL) {
		const unsigned shift = dev->config.doorbell_stride_log2;

		if (size < 4 || offset % size)
			gtu_dev_error(dev, GTU_ERROR_REGISTER, offset);
		else
			gtu_queue_doorbell(dev, (uint32_t)(offset >> shift) + gtu_bug(dev, GTU_BUG_DOORBELL_INDEX),
					   (uint32_t)(offset & ((1u << shift) - 1)), size, value);
	} else if (bar == GTU_BAR_APERTURE) {
		offset = aperture_access(dev, offset, size, true);
		if (gtu_bug(dev, GTU_BUG_BYTE_ENABLE) && size < 4) {
			value = (value & ((1u << 8 * size) - 1)) << 8 * (offset & 3);
			offset &= ~3ull;
			size = 4;
		}
		memcpy(dev->aperture + offset, &value, size);
	}
}
