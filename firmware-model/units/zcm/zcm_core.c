// SPDX-License-Identifier: MIT
/* ZCM's counters: bus requests by size and direction, and requests in flight (see zcm_core.h). */
#include "zcm_core.h"

static struct zcm_flight *at(struct zcm *z, uint32_t i)
{
	return &z->flight[(z->head + i) % z->capacity];
}

uint64_t zcm_in_flight(struct zcm *z, uint64_t cycle)
{
	uint32_t begun = 0, i, kept = 0;

	while (begun < z->flights && at(z, begun)->first_done <= cycle)
		begun++;
	/* merge the rest of the flights whose answers have begun in front of the others */
	for (i = begun; i--;) {
		struct zcm_flight f = *at(z, i);
		uint64_t done = cycle - f.first_done + 1;

		done = done < f.n ? done : f.n;
		z->in_flight -= done;
		if (done < f.n)
			*at(z, begun - ++kept) = (struct zcm_flight){ cycle + 1, f.n - done };
	}
	z->head = (z->head + begun - kept) % z->capacity;
	z->flights -= begun - kept;
	return z->in_flight;
}

void zcm_reset(struct zcm *z)
{
	z->head = z->flights = 0;
	z->in_flight = 0;
}

static void count_requests(struct zcm *z, uint64_t n, uint64_t cycle, uint64_t latency)
{
	uint64_t *c = z->count, peak;
	unsigned bucket = latency < 2 ? 0 : 63 - __builtin_clzll(latency);
	uint32_t i;

	if (!n)
		return;
	/*
	 * one request per cycle is sent, and answered `latency` cycles later: this access has at
	 * most these in flight
	 */
	peak = zcm_in_flight(z, cycle) + (n < latency ? n : latency);
	if (peak > c[GTU_ZCM_C_FLIGHT_MAX])
		c[GTU_ZCM_C_FLIGHT_MAX] = peak;
	if (z->flights < z->capacity) {
		for (i = z->flights++; i && at(z, i - 1)->first_done > cycle + latency; i--)
			*at(z, i) = *at(z, i - 1);
		*at(z, i) = (struct zcm_flight){ cycle + latency, n };
	} else {
		at(z, z->capacity - 1)->n += n;
	}
	z->in_flight += n;
	c[GTU_ZCM_C_FLIGHT_SUM] += n * latency;
	if (bucket >= GTU_ZCM_TRIP_BUCKETS)
		bucket = GTU_ZCM_TRIP_BUCKETS - 1;
	c[GTU_ZCM_C_TRIP(bucket)] += n;
}

void zcm_stream(struct zcm *z, unsigned direction, uint64_t addr, uint64_t bytes, uint64_t cycle, uint64_t latency)
{
	uint64_t first = addr / GTU_SECTOR_BYTES, last = (addr + bytes - 1) / GTU_SECTOR_BYTES, *c = z->count, n = 1;

	c[GTU_ZCM_C_BYTES(direction)] += (last - first + 1) * GTU_SECTOR_BYTES;
	if (first / ZCM_SECTORS == last / ZCM_SECTORS) {
		c[GTU_ZCM_C_REQUESTS(direction, last - first + 1)]++;
	} else {
		uint64_t lines = last / ZCM_SECTORS - first / ZCM_SECTORS - 1;

		c[GTU_ZCM_C_REQUESTS(direction, ZCM_SECTORS - first % ZCM_SECTORS)]++;
		c[GTU_ZCM_C_REQUESTS(direction, ZCM_SECTORS)] += lines;
		c[GTU_ZCM_C_REQUESTS(direction, last % ZCM_SECTORS + 1)]++;
		n = lines + 2;
	}
	count_requests(z, n, cycle, latency);
}

void zcm_gather(struct zcm *z, unsigned direction, const uint64_t *addr, unsigned n, unsigned width, uint64_t cycle,
		uint64_t latency)
{
	uint64_t *c = z->count, line[2 * GTU_WARP], requests = 0;
	uint8_t sectors[2 * GTU_WARP];
	unsigned lines = 0, i, j, s;

	for (i = 0; i < n; i++) {
		uint64_t a = addr[i] / GTU_SECTOR_BYTES, b = (addr[i] + width - 1) / GTU_SECTOR_BYTES;

		for (; a <= b; a++) {
			for (j = 0; j < lines && line[j] != a / ZCM_SECTORS; j++)
				;
			if (j == lines) {
				line[lines] = a / ZCM_SECTORS;
				sectors[lines++] = 0;
			}
			sectors[j] |= 1u << (a % ZCM_SECTORS);
		}
	}
	for (j = 0; j < lines; j++) {
		for (s = 0; s < ZCM_SECTORS; s++) {
			unsigned run = 0;

			while (s < ZCM_SECTORS && sectors[j] >> s & 1)
				s++, run++;
			if (run) {
				c[GTU_ZCM_C_REQUESTS(direction, run)]++;
				c[GTU_ZCM_C_BYTES(direction)] += run * GTU_SECTOR_BYTES;
				requests++;
			}
		}
	}
	count_requests(z, requests, cycle, latency);
}
