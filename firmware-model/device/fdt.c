// SPDX-License-Identifier: MIT
/*
 * The device's flattened device tree, in a BAR0 window. It is built with libfdt from the parameters
 * that the registers show.
 */
#include <libfdt.h>
#include <stdio.h>

#include "core.h"

static uint32_t crc32_of(const uint8_t *p, size_t n)
{
	uint32_t crc = ~0u;
	unsigned bit;

	while (n--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
	}
	return ~crc;
}

static int property(void *fdt, const struct gtu_parameter *p, uint64_t value)
{
	return p->bytes == 8 ? fdt_property_u64(fdt, p->property, value) : fdt_property_u32(fdt, p->property, (uint32_t)value);
}

static int unit_node(void *fdt, const struct gtu_unit_table *t, const struct gtu_unit_page *page)
{
	char name[32], compatible[32];
	int bad = 0;
	unsigned i;

	snprintf(name, sizeof(name), "%s@%x", t->name, t->page);
	snprintf(compatible, sizeof(compatible), "gtu,%s-1", t->name);
	bad |= fdt_begin_node(fdt, name);
	bad |= fdt_property_string(fdt, "compatible", compatible);
	bad |= fdt_property_u32(fdt, "reg", t->page);
	bad |= fdt_property_u32(fdt, "gtu,version", page->unit->version);
	for (i = 0; gtu_parameter_exists(&t->parameters[i]); i++)
		bad |= property(fdt, &t->parameters[i], page->param[i]);
	bad |= fdt_end_node(fdt);
	return bad;
}

bool gtu_fdt_build(struct gtu_dev *dev, const char **why)
{
	const struct gtu_parameter *p;
	void *fdt = dev->fdt;
	unsigned i;
	int bad = 0;

	bad |= fdt_create(fdt, GTU_FDT_WINDOW_SIZE);
	bad |= fdt_finish_reservemap(fdt);
	bad |= fdt_begin_node(fdt, "");
	bad |= fdt_property_string(fdt, "compatible", "gtu,gtu-1");
	bad |= fdt_property_string(fdt, "model", "GTU device model");
	bad |= fdt_property_u32(fdt, "#address-cells", 1);
	bad |= fdt_property_u32(fdt, "#size-cells", 0);
	bad |= fdt_property_u32(fdt, "gtu,version", GTU_HW_VERSION);
	for (p = gtu_device_parameters; gtu_parameter_exists(p); p++)
		bad |= property(fdt, p, gtu_dev_value(&dev->config, p));
	for (i = 0; i < GTU_UNIT_COUNT; i++)
		if (dev->page[i].unit)
			bad |= unit_node(fdt, &gtu_unit_table[i], &dev->page[i]);
	if (dev->config.unknown_unit) {
		bad |= fdt_begin_node(fdt, "unknown");
		bad |= fdt_property_u32(fdt, "reg", (GTU_UNIT_COUNT + 1) * GTU_PAGE);
		bad |= fdt_end_node(fdt);
	}
	bad |= fdt_end_node(fdt);
	bad |= fdt_finish(fdt);
	if (bad) {
		*why = "the device tree does not fit in its window";
		return false;
	}
	dev->fdt_bytes = fdt_totalsize(fdt);
	dev->fdt_crc = crc32_of(dev->fdt, dev->fdt_bytes);
	return true;
}
