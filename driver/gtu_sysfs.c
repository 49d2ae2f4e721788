// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysfs attributes: identity, parameters and counters.
 * Documentation/ABI/sysfs-class-gtu defines them.
 */
#include <linux/sysfs.h>

#include "gtu_surface.h"

static struct gtu_device *gtu_of(struct device *dev)
{
	return container_of(dev, struct gtu_device, dev);
}

/*
 * ---- Identity -----------------------------------------------------------------------------------
 */

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

/*
 * ---- Units: one group of parameters and settings, one of counters -------------------------------
 */

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
		ret = gtu_reg_read(gtu_of(dev), f->offset, &value);
	return ret ?: sysfs_emit(buf, "%llu\n", value);
}

/* Set dev.groups to the groups of the units that the device has. */
void gtu_sysfs_units(struct gtu_device *gtu)
{
	unsigned int unit, kind, n = 0;

	for (unit = 0; unit < GTU_UNIT_PAGES; unit++)
		for (kind = 0; kind < 2; kind++)
			if (gtu->units & BIT(unit) && gtu_unit_group[unit][kind].attrs)
				gtu->groups[n++] = &gtu_unit_group[unit][kind];
	gtu->dev.groups = gtu->groups;
}

/* Build attributes and groups from gtu_fields[], once at module init. */
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
		 * Counters reveal the activity of other users: root only. Users
		 * of the device read them by ioctl.
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
