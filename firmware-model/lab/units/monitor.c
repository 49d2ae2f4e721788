// SPDX-License-Identifier: MIT
/* Attaches the device's link monitor to a lab and cross-checks its counters. */
#include <inttypes.h>
#include <stdlib.h>

#include "monitor.h"

static void count_arrival(struct lab_monitor *m, uint64_t cycle, uint32_t bytes)
{
	unsigned i;

	while (cycle / m->bin_cycles >= LAB_MONITOR_BINS) {
		for (i = 0; i < LAB_MONITOR_BINS; i++)
			m->bin[i] = i < LAB_MONITOR_BINS / 2 ? m->bin[2 * i] + m->bin[2 * i + 1] : 0;
		m->bin_cycles *= 2;
	}
	m->bin[cycle / m->bin_cycles] += bytes;
}

/* A bin's bytes are spread evenly over its cycles. */
void lab_monitor_parts(const struct lab_monitor *m, uint64_t cycles, uint64_t *part)
{
	unsigned i, p;

	for (p = 0; p < LAB_MONITOR_PARTS; p++) {
		double first = (double)cycles * p / LAB_MONITOR_PARTS, end = (double)cycles * (p + 1) / LAB_MONITOR_PARTS, sum = 0;

		for (i = 0; i < LAB_MONITOR_BINS; i++) {
			double from = (double)(i * m->bin_cycles), to = from + (double)m->bin_cycles;

			from = from > first ? from : first;
			to = to < end || p == LAB_MONITOR_PARTS - 1 ? to : end;
			sum += to > from ? (double)m->bin[i] * (to - from) / (double)m->bin_cycles : 0;
		}
		part[p] = (uint64_t)(sum + 0.5);
	}
}

static void on_request(void *ctx, const struct lab_link_request *r)
{
	struct lab_monitor *m = ctx;
	uint64_t trip = r->answered > r->sent ? r->answered - r->sent : 1;

	zcm_stream(&m->zcm, r->kind == LAB_STORE ? GTU_ZCM_HOST_WRITE : GTU_ZCM_HOST_READ, r->addr, r->bytes, r->sent, trip);
	count_arrival(m, r->answered, r->bytes);
}

int lab_monitor_attach(struct lab *lab, struct lab_monitor *m, struct gtu_error *err)
{
	const struct lab_machine *of = lab_machine_of(lab);

	*m = (struct lab_monitor){ 0 };
	if (!of->link)
		return gtu_fail(err, GTU_ERR_USAGE, "machine %s has no link to host memory to monitor", of->name);
	m->bin_cycles = 64;
	m->zcm.count = m->count;
	m->zcm.capacity = of->link_requests;
	m->zcm.flight = malloc(m->zcm.capacity * sizeof(*m->zcm.flight));
	if (!m->zcm.flight)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %u requests in flight", m->zcm.capacity);
	lab_observe(lab, on_request, m);
	return 0;
}

void lab_monitor_free(struct lab_monitor *m)
{
	free(m->zcm.flight);
	m->zcm.flight = NULL;
}

static int same(uint64_t seen, uint64_t expected, const char *what, struct gtu_error *err)
{
	if (seen == expected)
		return 0;
	return gtu_fail(err, GTU_ERR_VERIFY, "the monitor counted %" PRIu64 " %s, the link %" PRIu64, seen, what, expected);
}

int lab_monitor_check(const struct lab *lab, struct lab_monitor *m, struct gtu_error *err)
{
	static const char *const size[] = { "requests of 32 bytes", "requests of 64 bytes", "requests of 96 bytes",
					    "requests of 128 bytes" };
	const struct lab_stats *s = lab_stats(lab);
	const uint64_t *c = m->count;
	unsigned i;
	int rc = 0;

	for (i = 1; i <= ZCM_SECTORS && !rc; i++)
		rc = same(c[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, i)] + c[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_WRITE, i)],
			  s->link_request[i], size[i - 1], err);
	rc = rc ? rc : same(c[GTU_ZCM_C_BYTES(GTU_ZCM_HOST_READ)] + c[GTU_ZCM_C_BYTES(GTU_ZCM_HOST_WRITE)], s->link_bytes,
			    "bytes", err);
	rc = rc ? rc : same(c[GTU_ZCM_C_FLIGHT_SUM], s->link_in_flight_cycles, "cycles of requests in flight", err);
	return rc ? rc : same(zcm_in_flight(&m->zcm, lab_now(lab)), 0, "requests without a reply", err);
}
