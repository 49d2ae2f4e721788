// SPDX-License-Identifier: MIT
/* The device as a whole: creation, registers, reset. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core.h"

static const struct gtu_unit *const units[GTU_PAGES] = {
#define UNIT(UNIT, unit, ...) &gtu_unit_##unit,
	GTU_UNIT_ROWS(UNIT) &gtu_unit_basic,
};

const struct gtu_unit *gtu_dev_unit(const struct gtu_dev *dev, unsigned opcode, bool *absent)
{
	const unsigned page = dev->page_of[opcode];

	*absent = page;
	return page ? dev->page[page - 1].unit : NULL;
}

struct gtu_unit_page *gtu_dev_page(struct gtu_dev *dev, const struct gtu_unit *unit)
{
	unsigned i;

	for (i = 0; dev->page[i].unit != unit; i++)
		;
	return &dev->page[i];
}

void *gtu_job_unit_state(const struct gtu_job *job)
{
	return gtu_dev_page(job->dev, job->unit)->state;
}
const uint32_t *gtu_job_params(const struct gtu_job *job)
{
	return gtu_dev_page(job->dev, job->unit)->param;
}
const uint32_t *gtu_job_settings(const struct gtu_job *job)
{
	return gtu_dev_page(job->dev, job->unit)->setting;
}
uint64_t *gtu_job_counters(const struct gtu_job *job)
{
	return gtu_dev_page(job->dev, job->unit)->live;
}

void gtu_job_count(const struct gtu_job *job, const uint64_t *now, uint64_t *counted, unsigned n)
{
	uint64_t *live = gtu_job_counters(job);
	unsigned i;

	for (i = 0; i < n; i++) {
		live[i] += now[i] - counted[i];
		counted[i] = now[i];
	}
}

void gtu_dev_error(struct gtu_dev *dev, uint32_t bit, uint64_t info)
{
	if (!dev->error)
		dev->error_info = info;
	if (dev->error & bit)
		return;
	dev->error |= bit;
	if (dev->ops.irq)
		dev->ops.irq(dev->host, 0);
}

void gtu_dev_watch(struct gtu_dev *dev, struct gtu_watch *watch)
{
	dev->watch = watch;
}

const char *gtu_unit_code(uint32_t unit, bool portable)
{
	return units[__builtin_ctz(unit)]->code(portable);
}

/* ---- Build ----------------------------------------------------------------------------------- */

static bool power_of_two(uint64_t v)
{
	return v && !(v & (v - 1));
}

uint64_t gtu_dev_value(const struct gtu_dev_config *c, const struct gtu_parameter *p)
{
	const char *field = (const char *)c + p->field;

	return !p->key ? p->value : p->bytes == 8 ? *(const uint64_t *)field : *(const uint32_t *)field;
}

void gtu_dev_put_value(struct gtu_dev_config *c, const struct gtu_parameter *p, uint64_t value)
{
	char *field = (char *)c + p->field;

	if (p->bytes == 8)
		*(uint64_t *)field = value;
	else
		*(uint32_t *)field = (uint32_t)value;
}

/* Defaults for zero fields; NULL, or what is wrong. */
static const char *configure(struct gtu_dev_config *c)
{
	static _Thread_local char why[160];
	const struct gtu_parameter *p;
	const char *wrong = NULL;
	char step[48] = "";
	unsigned n;

	for (n = 0; (p = gtu_parameter(n)); n++) {
		if (!gtu_dev_value(c, p))
			gtu_dev_put_value(c, p, p->value);
		if (gtu_parameter_takes(p, gtu_dev_value(c, p)))
			continue;
		if (p->step > 1)
			snprintf(step, sizeof(step), "a multiple of %" PRIu64 ", ", p->step);
		snprintf(why, sizeof(why), "%s is %" PRIu64 ": it must be %sat least %" PRIu64 " and at most %" PRIu64,
			 p->key, gtu_dev_value(c, p), p->step ? step : "a power of two, ", p->min, p->max);
		return why;
	}
	for (n = 0; n < GTU_UNIT_COUNT && !wrong; n++)
		wrong = units[n]->check ? units[n]->check(c) : NULL;
	return wrong;
}

static void reset(struct gtu_dev *dev)
{
	unsigned i, n;

	for (i = 0; i < dev->config.queues; i++) {
		struct gtu_hwq *q = &dev->queue[i];

		q->enabled = q->active = q->armed = q->event_due = q->error_due = false;
		q->stalled = q->canceling = q->job.record_armed = false;
		q->state = GTU_QUEUE_DISABLED;
		q->id = i;
		q->event_ring = GTU_RING_NONE;
		q->sq_head = q->sq_tail = q->cq_head = q->cq_tail = 0;
	}
	memset(dev->context, 0, dev->config.contexts * sizeof(*dev->context));
	memset(dev->event, 0, sizeof(dev->event));
	memset(dev->work, 0, sizeof(dev->work));
	memset(dev->mbox_arg, 0, sizeof(dev->mbox_arg));
	memset(dev->mbox_result, 0, sizeof(dev->mbox_result));
	dev->mbox_status = dev->error = dev->current_context = dev->fences = 0;
	dev->error_info = dev->scratch = dev->cycles = dev->run_cycles = 0;
	dev->cycle_limit = 1ull << (gtu_bug(dev, GTU_BUG_RESET_VALUE) ? 39 : 40);
	dev->latch_offset = ~0u;
	dev->monitor = false;
	for (i = 0; i < GTU_PAGES; i++) {
		struct gtu_unit_page *p = &dev->page[i];

		if (!p->unit)
			continue;
		p->owner = NULL;
		p->next_owner = NULL;
		memset(p->live, 0, sizeof(p->live));
		memset(p->shown, 0, sizeof(p->shown));
		for (n = 0; i < GTU_UNIT_COUNT && gtu_parameter_exists(&gtu_unit_table[i].settings[n]); n++)
			p->setting[n] = (uint32_t)gtu_dev_value(&dev->config, &gtu_unit_table[i].settings[n]);
		if (p->unit == &gtu_unit_zcm)
			gtu_zcm_clear(dev);
	}
	dev->stuck = dev->faulty && gtu_fault_reset(dev);
	if (dev->stuck)
		dev->mbox_status = GTU_MBOX_BUSY;
	dev->epoch += !gtu_bug(dev, GTU_BUG_EPOCH);
	if (!dev->epoch)
		dev->epoch = 1;
}

void gtu_dev_reset(struct gtu_dev *dev)
{
	reset(dev);
	if (dev->faulty)
		gtu_fault_power(dev);
}

void gtu_dev_destroy(struct gtu_dev *dev)
{
	unsigned i;

	if (!dev)
		return;
	for (i = 0; i < GTU_PAGES; i++)
		free(dev->page[i].state);
	if (dev->aperture_owned)
		free(dev->aperture);
	free(dev->context);
	free(dev->queue);
	free(dev->fdt);
	free(dev);
}

struct gtu_dev *gtu_dev_create(const struct gtu_dev_config *config, const struct gtu_host_ops *ops,
			       void *host, const char **why)
{
	static const char memory[] = "not enough memory";
	struct gtu_dev *dev = calloc(1, sizeof(*dev));
	const char *wrong = memory;
	size_t bytes;
	unsigned i, n;

	if (!dev)
		goto fail;
	if (config)
		dev->config = *config;
	wrong = configure(&dev->config);
	if (wrong)
		goto fail;
	wrong = memory;
	dev->ops = *ops;
	dev->host = host;
	dev->context = calloc(dev->config.contexts, sizeof(*dev->context));
	bytes = (dev->config.queues * sizeof(*dev->queue) + 63) & ~(size_t)63;
	dev->queue = aligned_alloc(64, bytes);
	dev->fdt = calloc(1, GTU_FDT_WINDOW_SIZE);
	dev->aperture = dev->config.aperture;
	if (!dev->aperture) {
		dev->aperture = calloc(1, dev->config.aperture_bytes);
		dev->aperture_owned = true;
	}
	if (!dev->context || !dev->queue || !dev->fdt || !dev->aperture)
		goto fail;
	memset(dev->queue, 0, bytes);
	for (i = 0; i < GTU_PAGES; i++) {
		const struct gtu_unit_table *t = i < GTU_UNIT_COUNT ? &gtu_unit_table[i] : NULL;
		const struct gtu_operation *op = t ? t->operations : gtu_basic_operations;
		struct gtu_unit_page *p = &dev->page[i];

		for (; op->name; op++)
			dev->page_of[op->opcode] = (uint8_t)(i + 1);
		if (t && t->bit & dev->config.absent_units)
			continue;
		p->unit = units[i];
		for (n = 0; t && gtu_parameter_exists(&t->parameters[n]); n++)
			p->param[n] = (uint32_t)gtu_dev_value(&dev->config, &t->parameters[n]);
		if (p->unit->state_bytes) {
			bytes = (p->unit->state_bytes(&dev->config) + 63) & ~(size_t)63;
			p->state = aligned_alloc(64, bytes);
			if (!p->state)
				goto fail;
			memset(p->state, 0, bytes);
		}
	}
	if (!gtu_fdt_build(dev, &wrong))
		goto fail;
	reset(dev);
	return dev;
fail:
	if (why)
		*why = wrong;
	gtu_dev_destroy(dev);
	return NULL;
}

const struct gtu_dev_config *gtu_dev_config(const struct gtu_dev *dev)
{
	return &dev->config;
}

uint64_t gtu_dev_bar_size(const struct gtu_dev *dev, unsigned bar)
{
	uint64_t doorbells = 4096;

	switch (bar) {
	case GTU_BAR_REGS:
		return GTU_BAR_REGS_SIZE;
	case GTU_BAR_MSIX:
		return GTU_BAR_MSIX_SIZE;
	case GTU_BAR_DOORBELL:
		while (doorbells < (uint64_t)dev->config.queues << dev->config.doorbell_stride_log2)
			doorbells *= 2;
		return doorbells;
	case GTU_BAR_APERTURE:
		return dev->config.aperture_bytes;
	}
	return 0;
}

/* ---- Registers ------------------------------------------------------------------------------- */

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
	uint32_t bits = 0;
	unsigned i;

	for (i = 0; i < GTU_UNIT_COUNT; i++)
		bits |= dev->page[i].unit ? gtu_unit_table[i].bit : 0;
	return bits;
}

/* Value of the register at @offset and whether it is 64 bits wide. False if there is none. */
static bool global_register(struct gtu_dev *dev, uint32_t offset, uint64_t *value, bool *wide)
{
	*wide = false;
	switch (offset) {
#define R32(reg, expr) case reg: *value = (uint32_t)(expr); return true
#define R64(reg, expr) case reg: *value = (expr); *wide = true; return true
	R32(GTU_REG_MAGIC, GTU_MAGIC);
	R32(GTU_REG_VERSION, GTU_HW_VERSION);
	R64(GTU_REG_CAPS, (GTU_CAP_REGIONS | GTU_CAP_STREAMS | GTU_CAP_LINEAR |
				    GTU_CAP_CANCEL | GTU_CAP_STREAM_EVENTS | GTU_CAP_SEEK) & ~dev->config.caps_off);
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
	*wide = true;
	if (offset >= GTU_REG_MBOX_ARG(0) && offset < GTU_REG_MBOX_ARG(GTU_MBOX_ARGS) && !(offset % 8))
		return *value = dev->mbox_arg[(offset - GTU_REG_MBOX_ARG(0)) / 8], true;
	if (offset >= GTU_REG_MBOX_RESULT(0) && offset < GTU_REG_MBOX_RESULT(GTU_MBOX_RESULTS) &&
	    !(offset % 8))
		return *value = dev->mbox_result[(offset - GTU_REG_MBOX_RESULT(0)) / 8], true;
	*wide = false;
	if (offset >= GTU_REG_EVENT_HEAD(0) && offset < GTU_REG_EVENT_HEAD(dev->config.event_rings))
		return *value = 0, true;
	return false;
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

static bool unit_register(struct gtu_dev *dev, uint32_t offset, uint64_t *value, bool *wide)
{
	const struct gtu_unit_page *p = page_at(dev, offset);
	const uint32_t reg = offset & (GTU_PAGE - 1);

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
			*value = 1 | (p->owner ? 2 : 0);
		return true;
	}
	if (!p)
		return false;
	if (reg >= GTU_UREG_PARAM(0) && reg < GTU_UREG_PARAM(GTU_UREG_PARAMS) && !(reg % 4))
		return *value = p->param[(reg - GTU_UREG_PARAM(0)) / 4], true;
	if (reg >= GTU_UREG_SET(0) && reg < GTU_UREG_SET(GTU_UREG_SETS) && !(reg % 4))
		return *value = p->setting[(reg - GTU_UREG_SET(0)) / 4], true;
	if (reg >= GTU_UREG_COUNTER(0) && reg < GTU_UREG_COUNTER(GTU_UREG_COUNTERS) && !(reg % 8)) {
		*wide = true;
		return *value = p->shown[(reg - GTU_UREG_COUNTER(0)) / 8], true;
	}
	if (reg >= GTU_UREG_OWN && p->unit->own_register)
		return p->unit->own_register(&dev->config, p->state, p->owner, reg, value, wide);
	return false;
}

static bool register_at(struct gtu_dev *dev, uint32_t offset, uint64_t *value, bool *wide)
{
	if (offset < GTU_PAGE)
		return global_register(dev, offset, value, wide);
	if (unit_at(offset) < GTU_UNIT_COUNT)
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
	if (gtu_bug(dev, GTU_BUG_ACCESS_SIZE) && size < 4 && register_at(dev, offset & ~3u, &value, &wide))
		return value >> 8 * (offset & 3) & ((1ull << 8 * size) - 1);
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
	const uint32_t wide = offset & ~7u;
	const bool high = offset & 4;
	struct gtu_unit_page *p;
	uint64_t before;
	bool is_wide;

	if ((size != 4 && size != 8) || offset % size)
		goto nothing;
	if (dev->faulty && gtu_bug_write(dev, offset, size, &value))
		return;
	if (wide == GTU_REG_SCRATCH) {
		put_half(&dev->scratch, high, size, value);
		return;
	}
	if (wide == GTU_REG_CYCLE_LIMIT) {
		before = dev->cycle_limit;
		put_half(&before, high, size, value);
		dev->cycle_limit = before;
		return;
	}
	if (wide >= GTU_REG_MBOX_ARG(0) && wide < GTU_REG_MBOX_ARG(GTU_MBOX_ARGS)) {
		if (!(dev->mbox_status & GTU_MBOX_BUSY))
			put_half(&dev->mbox_arg[(wide - GTU_REG_MBOX_ARG(0)) / 8], high, size, value);
		return;
	}
	if (register_at(dev, wide, &before, &is_wide) && is_wide)
		return;			/* the others of 64 bits are read-only: ignored */
	if (size != 4)
		goto nothing;
	if (offset == GTU_REG_RESET) {
		if (value == GTU_RESET_KEY)
			reset(dev);
		return;
	}
	if (offset == GTU_REG_ERROR) {
		dev->error &= ~(uint32_t)value;
		if (!dev->error)
			dev->error_info = 0;
		return;
	}
	if (offset == GTU_REG_MBOX_CMD) {
		gtu_mailbox(dev, (uint32_t)value);
		return;
	}
	if (offset >= GTU_REG_EVENT_HEAD(0) && offset < GTU_REG_EVENT_HEAD(dev->config.event_rings)) {
		event_head(dev, (offset - GTU_REG_EVENT_HEAD(0)) / 4, (uint32_t)value);
		return;
	}
	p = page_at(dev, offset);
	if (p && (offset & (GTU_PAGE - 1)) == GTU_UREG_CTRL) {
		control(dev, p, (uint32_t)value);
		return;
	}
	if (p && (offset & (GTU_PAGE - 1)) >= GTU_UREG_SET(0) &&
	    (offset & (GTU_PAGE - 1)) < GTU_UREG_SET(GTU_UREG_SETS)) {
		set(dev, p, ((offset & (GTU_PAGE - 1)) - GTU_UREG_SET(0)) / 4, (uint32_t)value);
		return;
	}
	if (register_at(dev, offset, &before, &is_wide))
		return;			/* read-only: the write is ignored */
nothing:
	gtu_dev_error(dev, GTU_ERROR_REGISTER, offset);
}

/*
 * ---- Accesses to the aperture over the bus ----------------------------------------------------
 */

static void aperture_access(struct gtu_dev *dev, uint64_t offset, unsigned size, bool write)
{
	if (dev->monitor)
		gtu_zcm_stream(dev, write ? GTU_ZCM_APERTURE_WRITE : GTU_ZCM_APERTURE_READ, offset, size,
			       dev->cycles, 1);
}

static bool access_fits(const struct gtu_dev *dev, unsigned bar, uint64_t offset, unsigned size)
{
	const uint64_t bytes = gtu_dev_bar_size(dev, bar);

	return size && size <= 8 && power_of_two(size) && offset < bytes && size <= bytes - offset;
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
		aperture_access(dev, offset, size, false);
		if (dev->faulty)
			offset = gtu_bug_aperture(dev, offset);
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
		aperture_access(dev, offset, size, true);
		if (dev->faulty)
			offset = gtu_bug_aperture(dev, offset);
		if (gtu_bug(dev, GTU_BUG_BYTE_ENABLE) && size < 4) {
			value = (value & ((1u << 8 * size) - 1)) << 8 * (offset & 3);
			offset &= ~3ull;
			size = 4;
		}
		memcpy(dev->aperture + offset, &value, size);
	}
}
