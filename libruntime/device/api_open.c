// SPDX-License-Identifier: MIT
/*
 * Opens devices: finds the backend by name, reads the identity registers and validates the device
 * tree.
 */
#include <errno.h>
#include <libfdt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "libruntime/support/advice.h"
#include "libruntime/support/fdt.h"
#include "backend.h"
#include "firmware-model/device/gtu_units.h"
#include "gtu/gpu.h"

#define TIME_SCALE_MAX 1000000u

/* The factor of timeouts that the environment sets; 0 with a message. */
static uint64_t time_scale(struct gtu_error *err)
{
	const char *given = secure_getenv("GTU_TIME_SCALE");
	char *end;
	unsigned long long scale;

	if (!given)
		return 1;
	scale = strtoull(given, &end, 10);
	if (*given >= '0' && *given <= '9' && !*end && scale >= 1 && scale <= TIME_SCALE_MAX)
		return scale;
	gtu_fail(err, GTU_ERR_USAGE, "GTU_TIME_SCALE=%s is not a number from 1 to %u", given, TIME_SCALE_MAX);
	return 0;
}

static void destroy(struct gtu_device *dev)
{
	pthread_mutex_destroy(&dev->placing);
	free(dev->fdt);
	free(dev);
}

int gtu_open(const char *name, struct gtu_device **out, struct gtu_error *err)
{
	const struct gtu_backend_ops *ops;

	*out = NULL;
	if (!name || !*name)
		name = "model";
	/* one GPU alone runs all algorithms */
	if (!strcmp(name, "cuda:all") && gtu_gpu_count(NULL) == 1)
		name = "cuda:0";
	if (gtu_is_device_list(name))
		ops = &gtu_backend_ranks;
	else if (!strcmp(name, "model") || !strncmp(name, "model:", 6))
		ops = &gtu_backend_model;
	else if (*name == '/')
		ops = &gtu_backend_chardev;
	else if (!strncmp(name, "cuda", 4) && (!name[4] || name[4] == ':'))
		ops = &gtu_backend_cuda;
	else
		return gtu_fail(err, GTU_ERR_USAGE,
				"there is no device \"%s\": use \"model\" (in this process; "
				"\"model:scu_width=1\" sets a parameter), \"/dev/gtu0\", "
				"\"cuda:0\", or a list such as \"model,model\"", name);
	return gtu_open_by(ops, name, out, err);
}

int gtu_open_by(const struct gtu_backend_ops *ops, const char *name, struct gtu_device **out, struct gtu_error *err)
{
	struct gtu_device *dev;
	uint64_t scale = time_scale(err);
	int rc;

	*out = NULL;
	if (!scale)
		return GTU_ERR_USAGE;
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a device");
	dev->ops = ops;
	dev->time_scale = scale;
	dev->timeout_ns = GTU_FOREVER;
	pthread_mutex_init(&dev->placing, NULL);
	snprintf(dev->info.backend, sizeof(dev->info.backend), "%s", ops->name);
	snprintf(dev->info.path, sizeof(dev->info.path), "%s", name);
	rc = ops->open(dev, name, err);
	if (rc) {
		destroy(dev);
		return rc;
	}
	*out = dev;
	return 0;
}

void gtu_close(struct gtu_device *dev)
{
	if (!dev)
		return;
	gtu_placement_destroy(dev);
	dev->ops->close(dev);
	destroy(dev);
}

void gtu_set_timeout(struct gtu_device *dev, uint64_t timeout_ns)
{
	unsigned i;

	dev->timeout_ns = gtu_scaled(dev, timeout_ns);
	for (i = 0; i < dev->members; i++)
		if (dev->member[i])
			gtu_set_timeout(dev->member[i], timeout_ns);
}

const struct gtu_info *gtu_get_info(const struct gtu_device *dev)
{
	return &dev->info;
}

const void *gtu_get_fdt(const struct gtu_device *dev, size_t *bytes)
{
	if (bytes)
		*bytes = dev->fdt_bytes;
	return dev->fdt;
}

int gtu_device_take_fdt(struct gtu_device *dev, const void *blob, size_t bytes, uint32_t crc,
			struct gtu_error *err)
{
	struct gtu_error why;
	void *copy;
	int bad;

	if (bytes > GTU_FDT_WINDOW_SIZE)
		return gtu_fail(err, GTU_ERR_FAIL, "the device tree has %zu bytes: it may have at most %u",
				bytes, GTU_FDT_WINDOW_SIZE);
	copy = malloc(bytes ? bytes : 1);
	if (!copy)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a device tree of %zu bytes", bytes);
	memcpy(copy, blob, bytes);
	if (crc32(0, copy, (uInt)bytes) != crc) {
		bad = gtu_fail(err, GTU_ERR_FAIL, "the device tree has CRC %08lx, but its register "
			       "has %08x",
			       crc32(0, copy, (uInt)bytes), crc);
		goto fail;
	}
	if (gtu_fdt_check(copy, bytes, &why)) {
		bad = gtu_fail(err, GTU_ERR_FAIL, "the device tree: %s", why.text);
		goto fail;
	}
	if (fdt_node_check_compatible(copy, 0, "gtu,gtu-1")) {
		bad = gtu_fail(err, GTU_ERR_FAIL, "the device tree is not compatible with "
			       "\"gtu,gtu-1\"");
		goto fail;
	}
	free(dev->fdt);
	dev->fdt = copy;
	dev->fdt_bytes = bytes;
	return 0;
fail:
	free(copy);
	return bad;
}

/* Every parameter and setting of a unit, as its registers have them. */
static int take_unit(struct gtu_device *dev, unsigned unit, struct gtu_error *err)
{
	const struct gtu_unit_table *t = &gtu_unit_table[unit];
	uint64_t value;
	unsigned n;
	int rc = 0;

	for (n = 0; !rc && gtu_parameter_exists(&t->parameters[n]); n++) {
		rc = dev->ops->read(dev, t->page + GTU_UREG_PARAM(n), &value, err);
		dev->info.param[unit][n] = rc ? 0 : (uint32_t)value;
	}
	for (n = 0; !rc && gtu_parameter_exists(&t->settings[n]); n++) {
		rc = dev->ops->read(dev, t->page + GTU_UREG_SET(n), &value, err);
		dev->info.setting[unit][n] = rc ? 0 : (uint32_t)value;
	}
	return rc;
}

struct field {
	uint32_t offset;
	void *to;
	bool wide;
};

int gtu_device_take_info(struct gtu_device *dev, struct gtu_error *err)
{
	struct gtu_info *i = &dev->info;
	const struct field field[] = {
		{ GTU_REG_VERSION, &i->version, false },
		{ GTU_REG_UNITS, &i->units, false },
		{ GTU_REG_EPOCH, &i->epoch, false },
		{ GTU_REG_MAX_CONTEXTS, &i->max_contexts, false },
		{ GTU_REG_MAX_QUEUES, &i->max_queues, false },
		{ GTU_REG_MAX_REGIONS, &i->max_regions_log2, false },
		{ GTU_REG_MAX_RING, &i->max_ring_log2, false },
		{ GTU_REG_VECTORS, &i->vectors, false },
		{ GTU_REG_DOORBELL_STRIDE, &i->doorbell_stride_log2, false },
		{ GTU_REG_CLOCK_HZ, &i->clock_hz, true },
		{ GTU_REG_APERTURE_SIZE, &i->aperture_bytes, true },
		{ GTU_REG_CAPS, &i->caps, true },
	};
	uint64_t value;
	unsigned n;
	int rc;

	rc = dev->ops->read(dev, GTU_REG_MAGIC, &value, err);
	if (rc)
		return rc;
	if ((uint32_t)value == 0xffffffffu)
		return gtu_advise_all_ones(i->path, err);
	if ((uint32_t)value != GTU_MAGIC)
		return gtu_fail(err, GTU_ERR_FAIL, "%s is not a GTU: its magic is %08x, not %08x", i->path,
				(uint32_t)value, GTU_MAGIC);
	for (n = 0; n < sizeof(field) / sizeof(*field); n++) {
		rc = dev->ops->read(dev, field[n].offset, &value, err);
		if (rc)
			return rc;
		if (field[n].wide)
			*(uint64_t *)field[n].to = value;
		else
			*(uint32_t *)field[n].to = (uint32_t)value;
	}
	if (i->version >> 16 != GTU_HW_VERSION >> 16)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED,
				"%s has version %u.%u of the programming model: this library "
				"supports %u.%u",
				i->path, i->version >> 16, i->version & 0xffff, GTU_HW_VERSION >> 16,
				GTU_HW_VERSION & 0xffff);
	for (n = 0; n < GTU_UNIT_COUNT; n++) {
		rc = i->units & gtu_unit_table[n].bit ? take_unit(dev, n, err) : 0;
		if (rc)
			return rc;
	}
	memcpy(i->scu, i->param[0], sizeof(i->scu));
	memcpy(i->iru, i->param[1], sizeof(i->iru));
	memcpy(i->peg, i->param[2], sizeof(i->peg));
	memcpy(i->weaver, i->param[3], sizeof(i->weaver));
	i->iru_timeout = i->setting[1][GTU_IRU_S_TIMEOUT];
	memcpy(i->peg_setting, i->setting[2], sizeof(i->peg_setting));
	return 0;
}

/* ---- Counters and settings -------------------------------------------------------------------- */

static const struct gtu_unit_table *table_of(uint32_t unit)
{
	unsigned n;

	for (n = 0; n < GTU_UNIT_COUNT; n++)
		if (gtu_unit_table[n].bit == unit)
			return &gtu_unit_table[n];
	return NULL;
}

const char *const *gtu_counter_names(uint32_t unit)
{
	static const char *const none[] = { NULL };
	const struct gtu_unit_table *t = table_of(unit);

	return t ? t->counter_names : none;
}

static int unit_page(struct gtu_device *dev, uint32_t unit, uint32_t *page, struct gtu_error *err)
{
	const struct gtu_unit_table *t = table_of(unit);

	if (!t)
		return gtu_fail(err, GTU_ERR_USAGE, "no unit has bit 0x%x", unit);
	*page = t->page;
	if (!(dev->info.units & unit))
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s has no unit with bit 0x%x (it has 0x%x)",
				dev->info.path, unit, dev->info.units);
	return 0;
}

int gtu_counters(struct gtu_device *dev, uint32_t unit, bool clear,
		 uint64_t counter[GTU_UREG_COUNTERS], struct gtu_error *err)
{
	const char *const *name = gtu_counter_names(unit);
	uint32_t page;
	unsigned n;
	int rc = unit_page(dev, unit, &page, err);

	if (rc)
		return rc;
	memset(counter, 0, GTU_UREG_COUNTERS * sizeof(*counter));
	rc = dev->ops->write(dev, page + GTU_UREG_CTRL,
			     GTU_CTRL_SNAPSHOT | (clear ? GTU_CTRL_CLEAR : 0), err);
	for (n = 0; !rc && name[n]; n++)
		rc = dev->ops->read(dev, page + GTU_UREG_COUNTER(n), &counter[n], err);
	return rc;
}

int gtu_setting(struct gtu_device *dev, uint32_t unit, uint32_t setting, uint32_t value,
		struct gtu_error *err)
{
	uint32_t page;
	uint64_t now;
	int rc = unit_page(dev, unit, &page, err);

	if (rc)
		return rc;
	if (setting >= GTU_UREG_SETS)
		return gtu_fail(err, GTU_ERR_USAGE, "setting %u does not exist: a unit has %u "
				"settings", setting, GTU_UREG_SETS);
	rc = dev->ops->write(dev, page + GTU_UREG_SET(setting), value, err);
	if (!rc)
		rc = dev->ops->read(dev, page + GTU_UREG_SET(setting), &now, err);
	if (rc)
		return rc;
	if (now != value)
		return gtu_fail(err, GTU_ERR_USAGE, "setting %u of unit 0x%x does not accept the "
				"value %u",
				setting, unit, value);
	dev->info.setting[page / GTU_PAGE - 1][setting] = value;
	if (unit == GTU_UNIT_IRU && setting == GTU_IRU_S_TIMEOUT)
		dev->info.iru_timeout = value;
	if (unit == GTU_UNIT_PEG)
		dev->info.peg_setting[setting] = value;
	return 0;
}
