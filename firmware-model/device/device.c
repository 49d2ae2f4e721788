// SPDX-License-Identifier: MIT
/* The device as a whole: creation and reset. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core.h"

static const struct gtu_unit *const units[GTU_PAGES] = {
#define UNIT(UNIT, unit, ...) &gtu_unit_##unit,
	GTU_UNIT_ROWS(UNIT) &gtu_unit_basic,
};

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
		if (p->field == offsetof(struct gtu_dev_config, aperture_bytes) && c->no_aperture) {
			gtu_dev_put_value(c, p, 0);
			continue;
		}
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

void gtu_dev_clear(struct gtu_dev *dev)
{
	unsigned i, n;

	for (i = 0; i < dev->config.queues; i++) {
		struct gtu_hwq *q = &dev->queue[i];

		gtu_queue_clear(q);
		q->enabled = false;
		q->state = GTU_QUEUE_DISABLED;
		q->id = i;
	}
	memset(dev->context, 0, dev->config.contexts * sizeof(*dev->context));
	memset(dev->group, 0, dev->config.contexts * sizeof(*dev->group));
	memset(dev->event, 0, sizeof(dev->event));
	memset(dev->mbox_arg, 0, sizeof(dev->mbox_arg));
	memset(dev->mbox_result, 0, sizeof(dev->mbox_result));
	dev->mbox_status = dev->error = dev->current_group = dev->runnable = dev->fences = 0;
	dev->error_info = dev->scratch = dev->cycles = dev->run_cycles = dev->time = 0;
	dev->cycle_limit = 1ull << (gtu_bug(dev, GTU_BUG_RESET_VALUE) ? 39 : 40);
	dev->latch_offset = ~0u;
	dev->monitor = false;
	for (i = 0; i < GTU_PAGES; i++) {
		struct gtu_unit_page *p = &dev->page[i];

		if (!p->unit)
			continue;
		if (!gtu_bug(dev, GTU_BUG_RESET_JOB))
			p->owner = NULL;
		p->groups = (struct gtu_contest){ 0 };
		p->expected = NULL;
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
	gtu_dev_clear(dev);
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
	free(dev->group);
	free(dev->queue);
	free(dev->fdt);
	free(dev);
}

struct gtu_dev *gtu_dev_create(const struct gtu_dev_config *config, const struct gtu_host_ops *ops,
			       void *host, const char **why)
{
	static const char memory[] = "not enough memory";
	struct gtu_dev *dev = calloc(1, sizeof(*dev));
	const struct gtu_operation *absent;
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
	dev->group = calloc(dev->config.contexts, sizeof(*dev->group));
	bytes = (dev->config.queues * sizeof(*dev->queue) + 63) & ~(size_t)63;
	dev->queue = aligned_alloc(64, bytes);
	dev->fdt = calloc(1, GTU_FDT_WINDOW_SIZE);
	dev->aperture = dev->config.aperture;
	if (!dev->aperture) {
		dev->aperture = calloc(1, dev->config.no_aperture ? 1 : dev->config.aperture_bytes);
		dev->aperture_owned = true;
	}
	if (!dev->context || !dev->group || !dev->queue || !dev->fdt || !dev->aperture)
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
	for (i = 0; (absent = gtu_unit_operation(i)); i++)
		if (dev->config.absent_operations >> i & 1)
			dev->page_of[absent->opcode] = GTU_PAGES + 1;
	if (!gtu_fdt_build(dev, &wrong))
		goto fail;
	gtu_dev_clear(dev);
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
