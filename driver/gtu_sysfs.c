// SPDX-License-Identifier: GPL-2.0-only
/*
 * Register names, and sysfs attributes: identity, parameters and counters.
 * Documentation/ABI/sysfs-class-gtu defines them.
 */
#include <linux/sysfs.h>

#include "gtu_drv.h"

#define P_FIELD(UNIT, unit, NAME, name, ...)                                                       \
	{ #name, GTU_PAGE_##UNIT + GTU_UREG_PARAM(GTU_##UNIT##_P_##NAME), 4 },
#define F_FIELD(UNIT, NAME, name, ...) P_FIELD(UNIT, _, NAME, name)
#define S_FIELD(UNIT, unit, NAME, name, ...)                                                       \
	{ #name, GTU_PAGE_##UNIT + GTU_UREG_SET(GTU_##UNIT##_S_##NAME), 4 },
#define X_FIELD(UNIT, NAME, name, ...) S_FIELD(UNIT, _, NAME, name)
#define C_FIELD(UNIT, NAME, name, ...)                                                             \
	{ #name, GTU_PAGE_##UNIT + GTU_UREG_COUNTER(GTU_##UNIT##_C_##NAME), 8 },
#define A_FIELD(UNIT, NAME, name, attribute, ...) C_FIELD(UNIT, NAME, attribute)
#define UNIT_FIELDS(UNIT, ...)                                                                     \
	GTU_##UNIT##_PARAMETER_ROWS(P_FIELD, F_FIELD, GTU_NO_ROW)                                  \
	GTU_##UNIT##_SETTING_ROWS(S_FIELD, X_FIELD)                                                \
	GTU_##UNIT##_COUNTER_ROWS(C_FIELD, A_FIELD)
#define UNIT_NAME(UNIT, unit, ...) #unit,
#define R_FIELD(UNIT, NAME, name, width, ...)                                                      \
	{ #name, GTU_PAGE_##UNIT + GTU_UREG_OWN + GTU_##UNIT##_##NAME, width },
#define OWN_FIELDS(UNIT, ...) GTU_##UNIT##_REGISTER_ROWS(R_FIELD, GTU_NO_ROW)
#define B_BLOCKS(UNIT, NAME, name, bytes) bytes, GTU_UREG_PARAM(GTU_##UNIT##_P_##NAME)
#define UNIT_BLOCKS(UNIT, ...) { GTU_##UNIT##_BLOCK_ROWS(B_BLOCKS) },

/* Sorted by unit; parameters, then settings, then counters. */
const struct gtu_field gtu_fields[] = { GTU_UNIT_ROWS(UNIT_FIELDS) };
static_assert(ARRAY_SIZE(gtu_fields) == GTU_FIELDS);

const struct gtu_field gtu_own_fields[] = { GTU_UNIT_ROWS(OWN_FIELDS) };
static_assert(ARRAY_SIZE(gtu_own_fields) == GTU_OWN_FIELDS);

const struct gtu_blocks gtu_blocks[GTU_UNIT_PAGES] = { GTU_UNIT_ROWS(UNIT_BLOCKS) };

const char *const gtu_unit_names[GTU_UNIT_PAGES] = { GTU_UNIT_ROWS(UNIT_NAME) };
#define UNIT_COUNTERS(UNIT, ...) GTU_##UNIT##_COUNTERS,
const u8 gtu_unit_counters[GTU_UNIT_PAGES] = { GTU_UNIT_ROWS(UNIT_COUNTERS) };

/* Registers of the global page that can be read without side effects. */
const struct gtu_field gtu_globals[] = {
	{ "magic", GTU_REG_MAGIC, 4, true },
	{ "version", GTU_REG_VERSION, 4, true },
	{ "caps", GTU_REG_CAPS, 8, true },
	{ "units", GTU_REG_UNITS, 4, true },
	{ "epoch", GTU_REG_EPOCH, 4, true },
	{ "status", GTU_REG_STATUS, 4 },
	{ "scratch", GTU_REG_SCRATCH, 8 },
	{ "error", GTU_REG_ERROR, 4 },
	{ "error_info", GTU_REG_ERROR_INFO, 8 },
	{ "max_contexts", GTU_REG_MAX_CONTEXTS, 4, true },
	{ "max_queues", GTU_REG_MAX_QUEUES, 4, true },
	{ "max_regions", GTU_REG_MAX_REGIONS, 4, true },
	{ "max_ring", GTU_REG_MAX_RING, 4, true },
	{ "vectors", GTU_REG_VECTORS, 4, true },
	{ "event_rings", GTU_REG_EVENT_RINGS, 4, true },
	{ "doorbell_stride", GTU_REG_DOORBELL_STRIDE, 4, true },
	{ "clock_hz", GTU_REG_CLOCK_HZ, 8, true },
	{ "cycles", GTU_REG_CYCLES, 8, true },
	{ "aperture_size", GTU_REG_APERTURE_SIZE, 8, true },
	{ "fdt_offset", GTU_REG_FDT_OFFSET, 4 },
	{ "fdt_length", GTU_REG_FDT_LENGTH, 4, true },
	{ "fdt_crc", GTU_REG_FDT_CRC, 4, true },
	{ "cycle_limit", GTU_REG_CYCLE_LIMIT, 8, true },
	{ "mbox_arg0", GTU_REG_MBOX_ARG(0), 8 },
	{ "mbox_arg1", GTU_REG_MBOX_ARG(1), 8 },
	{ "mbox_arg2", GTU_REG_MBOX_ARG(2), 8 },
	{ "mbox_arg3", GTU_REG_MBOX_ARG(3), 8 },
	{ "mbox_arg4", GTU_REG_MBOX_ARG(4), 8 },
	{ "mbox_arg5", GTU_REG_MBOX_ARG(5), 8 },
	{ "mbox_status", GTU_REG_MBOX_STATUS, 4 },
	{ "mbox_result0", GTU_REG_MBOX_RESULT(0), 8 },
	{ "mbox_result1", GTU_REG_MBOX_RESULT(1), 8 },
	{ "mbox_result2", GTU_REG_MBOX_RESULT(2), 8 },
};
static_assert(ARRAY_SIZE(gtu_globals) == GTU_GLOBALS);

static const char *gtu_name_of(const char *const *names, unsigned int n, unsigned int i)
{
	return i < n && names[i] ? names[i] : "?";
}
#define NAME_OF(names, i) gtu_name_of(names, ARRAY_SIZE(names), i)

/**
 * gtu_opcode_name() - name of an opcode
 * @opcode: GTU_OP_*
 *
 * Return: the name, or "?"
 */
const char *gtu_opcode_name(unsigned int opcode)
{
#define OPCODE_NAME(UNIT, NAME, name, ...) [GTU_OP_##NAME] = name,
#define OPCODE_NAMES(UNIT, ...) GTU_##UNIT##_OPERATION_ROWS(OPCODE_NAME)
	static const char *const names[] = { OPCODE_NAMES(BASIC) GTU_UNIT_ROWS(OPCODE_NAMES) };

	return NAME_OF(names, opcode);
}

/**
 * gtu_cpl_name() - name of a completion status
 * @status: GTU_CPL_*
 *
 * Return: the name, or "?"
 */
const char *gtu_cpl_name(unsigned int status)
{
	static const char *const names[] = {
		[GTU_CPL_OK] = "ok", [GTU_CPL_OPCODE] = "opcode", [GTU_CPL_RESERVED] = "reserved",
		[GTU_CPL_PARAM] = "param", [GTU_CPL_OPERAND] = "operand", [GTU_CPL_KEY] = "key",
		[GTU_CPL_RIGHTS] = "rights", [GTU_CPL_BOUNDS] = "bounds", [GTU_CPL_INDEX] = "index",
		[GTU_CPL_OVERFLOW] = "overflow", [GTU_CPL_DMA] = "dma", [GTU_CPL_ABSENT] = "absent",
		[GTU_CPL_LIMIT] = "limit", [GTU_CPL_WIDTH] = "width",
		[GTU_CPL_STALLED] = "stalled", [GTU_CPL_CANCELED] = "canceled",
	};

	static_assert(ARRAY_SIZE(names) == GTU_CPL_COUNT);
	return NAME_OF(names, status);
}

/**
 * gtu_queue_state_name() - name of a queue state
 * @state: GTU_QUEUE_*
 *
 * Return: the name, or "?"
 */
const char *gtu_queue_state_name(unsigned int state)
{
	static const char *const names[] = {
		[GTU_QUEUE_DISABLED] = "disabled", [GTU_QUEUE_ENABLED] = "enabled",
		[GTU_QUEUE_E_TAIL] = "error: tail", [GTU_QUEUE_E_HEAD] = "error: head",
		[GTU_QUEUE_E_DMA] = "error: dma",
	};

	return NAME_OF(names, state);
}

static struct gtu_device *gtu_of(struct device *dev)
{
	return container_of(dev, struct gtu_device, dev);
}

#define GTU_ATTR(name, format, ...)                                                                \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf)   \
	{                                                                                          \
		struct gtu_device *gtu = gtu_of(dev);                                              \
												   \
		return sysfs_emit(buf, format "\n", __VA_ARGS__);                                  \
	}                                                                                          \
	static DEVICE_ATTR_RO(name)

/* Names as in struct gtu_ioctl_info. */
GTU_ATTR(uapi_version, "%u", ((void)gtu, GTU_UAPI_VERSION));
GTU_ATTR(hw_version, "%u.%u", gtu->version >> 16, gtu->version & 0xffff);
GTU_ATTR(caps, "%#llx", gtu->caps);
GTU_ATTR(units, "%#x", gtu->units);
GTU_ATTR(epoch, "%u", READ_ONCE(gtu->epoch));
GTU_ATTR(max_contexts, "%u", gtu->max_contexts);
GTU_ATTR(max_queues, "%u", gtu->max_queues);
GTU_ATTR(max_regions_log2, "%u", gtu->regions_log2);
GTU_ATTR(max_ring_log2, "%u", gtu->max_ring);
GTU_ATTR(vectors, "%u", gtu->vectors);
GTU_ATTR(doorbell_stride_log2, "%u", gtu->stride);
GTU_ATTR(clock_hz, "%llu", gtu->clock_hz);
GTU_ATTR(aperture_bytes, "%llu", gtu->aperture);
GTU_ATTR(ctx_queues, "%u", ((void)gtu, GTU_CTX_QUEUES));
GTU_ATTR(state, "%s", gtu_state_name(gtu));

static struct attribute *gtu_attrs[] = {
	&dev_attr_uapi_version.attr,
	&dev_attr_hw_version.attr,
	&dev_attr_caps.attr,
	&dev_attr_units.attr,
	&dev_attr_epoch.attr,
	&dev_attr_max_contexts.attr,
	&dev_attr_max_queues.attr,
	&dev_attr_max_regions_log2.attr,
	&dev_attr_max_ring_log2.attr,
	&dev_attr_vectors.attr,
	&dev_attr_doorbell_stride_log2.attr,
	&dev_attr_clock_hz.attr,
	&dev_attr_aperture_bytes.attr,
	&dev_attr_ctx_queues.attr,
	&dev_attr_state.attr,
	NULL
};

static ssize_t fdt_read(struct file *file, struct kobject *kobj,
			GTU_BIN_CONST struct bin_attribute *attr, char *buf, loff_t at,
			size_t bytes)
{
	struct gtu_device *gtu = gtu_of(kobj_to_dev(kobj));

	return memory_read_from_buffer(buf, bytes, &at, gtu->fdt, gtu->fdt_bytes);
}
static BIN_ATTR_RO(fdt, 0);

static GTU_BIN_CONST struct bin_attribute *GTU_BIN_CONST gtu_bin_attrs[] = { &bin_attr_fdt, NULL };

static umode_t gtu_bin_visible(struct kobject *kobj, GTU_BIN_CONST struct bin_attribute *attr,
			       int n)
{
	return gtu_of(kobj_to_dev(kobj))->fdt ? attr->attr.mode : 0;
}

static const struct attribute_group gtu_group = {
	.attrs = gtu_attrs,
	.bin_attrs = gtu_bin_attrs,
	.is_bin_visible = gtu_bin_visible,
};
const struct attribute_group *gtu_groups[] = { &gtu_group, NULL };

#define GTU_GROUPS		(2 * GTU_UNIT_PAGES)

static struct device_attribute gtu_field_attr[GTU_FIELDS];
static struct attribute *gtu_field_list[GTU_FIELDS + GTU_GROUPS];
static struct attribute_group gtu_unit_group[GTU_UNIT_PAGES][2];
static char gtu_counters_name[GTU_UNIT_PAGES][16];

static ssize_t gtu_field_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct gtu_field *f = &gtu_fields[attr - gtu_field_attr];
	u64 value;
	int ret;

	if (gtu_field_is_counter(f))
		ret = gtu_counter_read(gtu_of(dev), f->offset, &value);
	else
		ret = gtu_reg_read(gtu_of(dev), NULL, f->offset, &value);
	return ret ?: sysfs_emit(buf, "%llu\n", value);
}

/**
 * gtu_sysfs_units() - set dev.groups to the groups of the units that the device has
 * @gtu: the device
 */
void gtu_sysfs_units(struct gtu_device *gtu)
{
	unsigned int unit, kind, n = 0;

	for (unit = 0; unit < GTU_UNIT_PAGES; unit++)
		for (kind = 0; kind < 2; kind++)
			if (gtu->units & BIT(unit) && gtu_unit_group[unit][kind].attrs)
				gtu->groups[n++] = &gtu_unit_group[unit][kind];
	gtu->dev.groups = gtu->groups;
}

/**
 * gtu_sysfs_init() - build attributes and groups from gtu_fields[], once at module init
 */
void gtu_sysfs_init(void)
{
	struct attribute **list = gtu_field_list;
	unsigned int i;

	for (i = 0; i < GTU_FIELDS; i++) {
		const struct gtu_field *f = &gtu_fields[i];
		bool counter = gtu_field_is_counter(f);
		unsigned int unit = gtu_field_unit(f);
		struct attribute_group *group = &gtu_unit_group[unit][counter];
		struct device_attribute *attr = &gtu_field_attr[i];

		sysfs_attr_init(&attr->attr);
		attr->attr.name = f->name;
		/*
		 * Counters reveal the activity of other users: root only.
		 */
		attr->attr.mode = counter ? 0400 : 0444;
		attr->show = gtu_field_show;
		if (!group->attrs) {
			list += i ? 1 : 0;	/* NULL terminator of the last group */
			scnprintf(gtu_counters_name[unit], sizeof(gtu_counters_name[unit]),
				  "%s_counters", gtu_unit_names[unit]);
			group->name = counter ? gtu_counters_name[unit] : gtu_unit_names[unit];
			group->attrs = list;
		}
		*list++ = &attr->attr;
	}
}
