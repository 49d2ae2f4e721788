// SPDX-License-Identifier: MIT
/* The device's access monitor (zcm_core.h): its registers, and the accesses that it receives. */
#include "firmware-model/device/core.h"
#include "zcm_core.h"

#define FLIGHTS 64u			/* concurrent accesses that are tracked separately */

struct monitor {
	struct zcm zcm;
	struct zcm_flight flight[FLIGHTS];
};

static struct zcm *monitor_of(struct gtu_dev *dev)
{
	struct gtu_unit_page *page = &dev->page[__builtin_ctz(GTU_UNIT_ZCM)];
	struct monitor *m = page->state;

	m->zcm.count = page->live;
	m->zcm.flight = m->flight;
	m->zcm.capacity = FLIGHTS;
	return &m->zcm;
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
		c[GTU_ZCM_C_MONITORED] += dev->cycles - dev->monitor_since;
		dev->monitor_since = dev->cycles;
	}
}

void gtu_zcm_clear(struct gtu_dev *dev)
{
	zcm_reset(monitor_of(dev));
	dev->monitor_since = dev->cycles;
}

static size_t state_bytes(const struct gtu_dev_config *config)
{
	(void)config;
	return sizeof(struct monitor);
}

const struct gtu_unit gtu_unit_zcm = {
	.version = 1,
	.state_bytes = state_bytes,
};
