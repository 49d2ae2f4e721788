// SPDX-License-Identifier: MIT
/*
 * ZCM, the zero-copy monitor (emogi.txt, section 3): what requests a link would carry. Every access
 * becomes, per line, one request per run of contiguous sectors: 32, 64, 96 or 128 bytes.
 *
 * Requests of one access are asked for one a cycle, and each is answered `latency` cycles later.
 */
#include "core.h"

#define SECTORS (GTU_LINE_BYTES / GTU_SECTOR_BYTES)

static uint64_t *live(struct gtu_dev *dev)
{
	return gtu_dev_page(dev, &gtu_unit_zcm)->live;
}

/* Requests still under way at @cycle; those that are done are forgotten. */
static uint64_t in_flight(struct gtu_dev *dev, uint64_t cycle)
{
	uint64_t sum = 0;
	unsigned i, kept = 0;

	for (i = 0; i < dev->flights; i++) {
		struct gtu_flight f = dev->flight[i];
		uint64_t done = cycle > f.first_done ? cycle - f.first_done : 0;

		if (done >= f.n)
			continue;
		f.first_done += done;
		f.n -= done;
		sum += f.n;
		dev->flight[kept++] = f;
	}
	dev->flights = kept;
	return sum;
}

static void asked(struct gtu_dev *dev, uint64_t n, uint64_t cycle, uint64_t latency)
{
	uint64_t *c = live(dev), now, peak;
	unsigned bucket = latency < 2 ? 0 : 63 - __builtin_clzll(latency);

	if (!n)
		return;
	now = in_flight(dev, cycle);
	/* one a cycle in, one a cycle out after `latency`: this access never has more than that */
	peak = now + (n < latency ? n : latency);
	if (peak > c[GTU_ZCM_C_FLIGHT_MAX])
		c[GTU_ZCM_C_FLIGHT_MAX] = peak;
	if (dev->flights < GTU_FLIGHTS) {
		dev->flight[dev->flights++] = (struct gtu_flight){ cycle + latency, n };
	} else {
		dev->flight[GTU_FLIGHTS - 1].n += n;	/* as one longer access: the sum stays right */
	}
	c[GTU_ZCM_C_FLIGHT_SUM] += n * latency;
	if (bucket >= GTU_ZCM_TRIP_BUCKETS)
		bucket = GTU_ZCM_TRIP_BUCKETS - 1;
	c[GTU_ZCM_C_TRIP(bucket)] += n;
}

void gtu_zcm_stream(struct gtu_dev *dev, unsigned direction, uint64_t addr, uint64_t bytes,
		    uint64_t cycle, uint64_t latency)
{
	uint64_t *c = live(dev);
	uint64_t first = addr / GTU_SECTOR_BYTES, last = (addr + bytes - 1) / GTU_SECTOR_BYTES, n = 0;

	c[GTU_ZCM_C_BYTES(direction)] += (last - first + 1) * GTU_SECTOR_BYTES;
	if (first / SECTORS == last / SECTORS) {
		c[GTU_ZCM_C_REQUESTS(direction, last - first + 1)]++;
		n = 1;
	} else {
		uint64_t lines = last / SECTORS - first / SECTORS - 1;

		c[GTU_ZCM_C_REQUESTS(direction, SECTORS - first % SECTORS)]++;
		c[GTU_ZCM_C_REQUESTS(direction, SECTORS)] += lines;
		c[GTU_ZCM_C_REQUESTS(direction, last % SECTORS + 1)]++;
		n = lines + 2;
	}
	asked(dev, n, cycle, latency);
}

void gtu_zcm_gather(struct gtu_dev *dev, unsigned direction, const uint64_t *addr, unsigned n,
		    unsigned width, uint64_t cycle, uint64_t latency)
{
	uint64_t *c = live(dev), line[2 * GTU_WARP], requests = 0;
	uint8_t sectors[2 * GTU_WARP];
	unsigned lines = 0, i, j, s;

	for (i = 0; i < n; i++) {
		uint64_t a = addr[i] / GTU_SECTOR_BYTES, b = (addr[i] + width - 1) / GTU_SECTOR_BYTES;

		for (; a <= b; a++) {
			for (j = 0; j < lines && line[j] != a / SECTORS; j++)
				;
			if (j == lines) {
				line[lines] = a / SECTORS;
				sectors[lines++] = 0;
			}
			sectors[j] |= 1u << (a % SECTORS);
		}
	}
	for (j = 0; j < lines; j++) {
		for (s = 0; s < SECTORS; s++) {
			unsigned run = 0;

			while (s < SECTORS && sectors[j] >> s & 1)
				s++, run++;
			if (run) {
				c[GTU_ZCM_C_REQUESTS(direction, run)]++;
				c[GTU_ZCM_C_BYTES(direction)] += run * GTU_SECTOR_BYTES;
				requests++;
			}
		}
	}
	asked(dev, requests, cycle, latency);
}

void gtu_zcm_snapshot(struct gtu_dev *dev)
{
	uint64_t *c = live(dev);

	c[GTU_ZCM_C_FLIGHT_NOW] = in_flight(dev, dev->cycles);
	if (dev->monitor) {
		c[GTU_ZCM_C_WATCHED] += dev->cycles - dev->monitor_since;
		dev->monitor_since = dev->cycles;
	}
}

void gtu_zcm_clear(struct gtu_dev *dev)
{
	dev->flights = 0;
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
