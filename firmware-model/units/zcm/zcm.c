// SPDX-License-Identifier: MIT
/* The device's access monitor (zcm_core.h): its registers, and the accesses that it receives. */
#include "firmware-model/device/core.h"

static struct zcm *monitor_of(struct gtu_dev *dev)
{
	dev->zcm.count = gtu_dev_page(dev, &gtu_unit_zcm)->live;
	dev->zcm.flight = dev->flight;
	dev->zcm.room = GTU_FLIGHTS;
	return &dev->zcm;
}

void gtu_zcm_stream(struct gtu_dev *dev, unsigned direction, uint64_t addr, uint64_t bytes,
		    uint64_t cycle, uint64_t latency)
{
	zcm_stream(monitor_of(dev), direction, addr, bytes, cycle, latency);
}

void gtu_zcm_gather(struct gtu_dev *dev, unsigned direction, const uint64_t *addr, unsigned n,
		    unsigned width, uint64_t cycle, uint64_t latency)
{
	zcm_gather(monitor_of(dev), direction, addr, n, width, cycle, latency);
}

void gtu_zcm_snapshot(struct gtu_dev *dev)
{
	struct zcm *z = monitor_of(dev);
	uint64_t *c = z->count;

	c[GTU_ZCM_C_FLIGHT_NOW] = zcm_in_flight(z, dev->cycles);
	if (dev->monitor) {
		c[GTU_ZCM_C_WATCHED] += dev->cycles - dev->monitor_since;
		dev->monitor_since = dev->cycles;
	}
}

void gtu_zcm_clear(struct gtu_dev *dev)
{
	zcm_forget(&dev->zcm);
	dev->monitor_since = dev->cycles;
}

static const char *const param_names[] = { "gtu,line-bytes", "gtu,sector-bytes" };

static void parameters(const struct gtu_dev_config *config, uint32_t *param)
{
	(void)config;
	param[0] = GTU_LINE_BYTES;
	param[1] = GTU_SECTOR_BYTES;
}

static uint32_t setting_reset(const struct gtu_dev_config *config, unsigned n)
{
	(void)config, (void)n;
	return 0;
}

static bool setting_valid(unsigned n, uint32_t value)
{
	return n == GTU_ZCM_S_ENABLE && value <= 1;
}

const struct gtu_unit gtu_unit_zcm = {
	.name = "zcm",
	.opcode_first = 1,		/* none: first > last */
	.opcode_last = 0,
	.bit = GTU_UNIT_ZCM,
	.page = GTU_PAGE_ZCM,
	.id = GTU_ID_ZCM,
	.version = 1,
	.params = 2,
	.counters = GTU_ZCM_COUNTERS,
	.param_name = param_names,
	.parameters = parameters,
	.setting_reset = setting_reset,
	.setting_valid = setting_valid,
};
