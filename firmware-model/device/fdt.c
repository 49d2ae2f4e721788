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

static int unit_node(void *fdt, const struct gtu_unit_page *p)
{
	const struct gtu_unit *u = p->unit;
	char name[32], compatible[32];
	int bad = 0;
	unsigned i;

	snprintf(name, sizeof(name), "%s@%x", u->name, u->page);
	snprintf(compatible, sizeof(compatible), "gtu,%s-1", u->name);
	bad |= fdt_begin_node(fdt, name);
	bad |= fdt_property_string(fdt, "compatible", compatible);
	bad |= fdt_property_u32(fdt, "reg", u->page);
	bad |= fdt_property_u32(fdt, "gtu,version", u->version);
	for (i = 0; i < u->params; i++)
		if (u->param_name && u->param_name[i])
			bad |= fdt_property_u32(fdt, u->param_name[i], p->param[i]);
	bad |= fdt_end_node(fdt);
	return bad;
}

bool gtu_fdt_build(struct gtu_dev *dev, const char **why)
{
	const struct gtu_dev_config *c = &dev->config;
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
	bad |= fdt_property_u32(fdt, "gtu,contexts", c->contexts);
	bad |= fdt_property_u32(fdt, "gtu,queues", c->queues);
	bad |= fdt_property_u32(fdt, "gtu,regions-log2", c->regions_log2);
	bad |= fdt_property_u32(fdt, "gtu,ring-log2", c->ring_log2);
	bad |= fdt_property_u32(fdt, "gtu,vectors", c->vectors);
	bad |= fdt_property_u32(fdt, "gtu,event-rings", c->event_rings);
	bad |= fdt_property_u32(fdt, "gtu,doorbell-stride-log2", c->doorbell_stride_log2);
	bad |= fdt_property_u64(fdt, "clock-frequency", c->clock_hz);
	bad |= fdt_property_u64(fdt, "gtu,aperture-bytes", c->aperture_bytes);
	for (i = 0; i < GTU_UNITS; i++)
		if (dev->page[i].unit && dev->page[i].unit->page)
			bad |= unit_node(fdt, &dev->page[i]);
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
