// SPDX-License-Identifier: MIT
/* gtu top: prints the activity of devices as text and JSON. */
#include "top.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/support/chart.h"
#include "tools/support/json.h"

#define BAR 20u

/* A device at two samples. */
struct change {
	const struct top_device *now, *before; /* before: NULL if there is none to compare with */
	double seconds;
	bool reset;			/* the device was reset between the samples */
};

static const char *const direction[4] = { "host reads", "host writes", "own reads", "own writes" };
static const char *const direction_key[4] = { "host_read", "host_write", "aperture_read", "aperture_write" };

static struct change change_of(const struct top_sample *before, const struct top_sample *now, unsigned i)
{
	struct change c = { .now = &now->device[i] };
	unsigned k;

	if (!before || now->ns <= before->ns)
		return c;
	for (k = 0; k < before->devices; k++)
		if (!strcmp(before->device[k].name, c.now->name))
			c.before = &before->device[k];
	c.seconds = 1e-9 * (double)(now->ns - before->ns);
	c.reset = c.before && c.before->epoch != c.now->epoch;
	return c;
}

/*
 * The increase of a counter. A counter that is smaller than before was cleared and has counted from
 * 0.
 */
static double grown(const struct change *c, unsigned unit, unsigned counter)
{
	uint64_t now = c->now->unit[unit].value[counter], before;

	if (!c->before)
		return 0;
	before = c->before->unit[unit].present && !c->reset ? c->before->unit[unit].value[counter] : 0;
	return (double)(now >= before ? now - before : now);
}

static double rate(const struct change *c, unsigned unit, unsigned counter)
{
	return c->seconds > 0 ? grown(c, unit, counter) / c->seconds : 0;
}

/*
 * The share of clock cycles in which a job of the unit ran. The model's logical cycles may exceed
 * its clock.
 */
static double busy(const struct change *c, unsigned unit)
{
	return c->now->clock_hz ? rate(c, unit, 1) / (double)c->now->clock_hz : 0;
}

/* The counters of a unit's input and output. */
static const struct flow {
	unsigned in, out;
	const char *in_name, *out_name;
} flows[TOP_ZCM] = {
	{ GTU_SCU_C_IN, GTU_SCU_C_OUT, "elements", "elements" },
	{ GTU_IRU_C_IN, GTU_IRU_C_RECORDS, "indices", "records" },
	{ GTU_PEG_C_VERTICES, GTU_PEG_C_EDGES, "vertices", "edges" },
	{ GTU_WVR_C_REGISTERED, GTU_WVR_C_WORK, "registered", "work ids" },
};

static void put_bar(double part, FILE *to)
{
	unsigned i, filled = part >= 1 ? BAR : (unsigned)(part * BAR + 0.5);

	fputc('[', to);
	for (i = 0; i < BAR; i++)
		fputc(i < filled ? '#' : '.', to);
	fputc(']', to);
}

static void show_units(const struct change *c, FILE *to)
{
	unsigned u;

	fprintf(to, "  %-4s %6s  %-22s %9s %9s   %s\n", "unit", "busy", "", "jobs/s", "jobs", "per second in, out");
	for (u = 0; u < TOP_ZCM; u++) {
		const struct flow *f = &flows[u];

		if (!c->now->unit[u].present)
			continue;
		fprintf(to, "  %-4s %5.1f%%  ", top_unit_name[u], 100 * busy(c, u));
		put_bar(busy(c, u), to);
		fprintf(to, " %9s", chart_number(rate(c, u, 0)).text);
		fprintf(to, " %9s", chart_number((double)c->now->unit[u].value[0]).text);
		fprintf(to, "   %s %s,", chart_number(rate(c, u, f->in)).text, f->in_name);
		fprintf(to, " %s %s\n", chart_number(rate(c, u, f->out)).text, f->out_name);
	}
}

static void show_requests(const struct change *c, FILE *to)
{
	const struct top_unit *z = &c->now->unit[TOP_ZCM];
	double requests, n[4], bytes, trips;
	unsigned d, s;

	if (!z->present)
		return;
	if (!c->now->monitor_enabled) {
		fprintf(to, "  requests  the monitor is off: 'gtu run --monitor' enables it while it runs\n");
		return;
	}
	fprintf(to, "  %-11s %9s %9s  %7s %7s %7s %7s\n", "requests", "per sec", "bytes/s", "32 B", "64 B", "96 B", "128 B");
	for (d = 0; d < 4; d++) {
		for (requests = 0, s = 0; s < 4; s++) {
			n[s] = rate(c, TOP_ZCM, GTU_ZCM_C_REQUESTS(d, s + 1));
			requests += n[s];
		}
		bytes = rate(c, TOP_ZCM, GTU_ZCM_C_BYTES(d));
		/* show the device's own memory only if it is used */
		if (d > 1 && !(requests > 0))
			continue;
		fprintf(to, "  %-11s %9s", direction[d], chart_number(requests).text);
		fprintf(to, " %9s ", chart_number(bytes).text);
		for (s = 0; s < 4; s++)
			fprintf(to, " %6.1f%%", requests > 0 ? 100 * n[s] / requests : 0);
		fputc('\n', to);
	}
	trips = grown(c, TOP_ZCM, GTU_ZCM_C_MONITORED);
	fprintf(to, "  in flight   %" PRIu64 " now, %" PRIu64 " at most", z->value[GTU_ZCM_C_FLIGHT_NOW], z->value[GTU_ZCM_C_FLIGHT_MAX]);
	if (trips > 0)
		fprintf(to, ", %.1f on average", grown(c, TOP_ZCM, GTU_ZCM_C_FLIGHT_SUM) / trips);
	fputc('\n', to);
}

static void show_users(const struct top_device *d, FILE *to)
{
	unsigned i;

	if (!d->users_known) {
		fprintf(to, "  queues    at most %" PRIu64 ", of %" PRIu64 " contexts; the users are in debugfs, which cannot be read\n",
			d->max_queues, d->max_contexts);
		return;
	}
	fprintf(to, "  queues    %u of %" PRIu64 ", of %u contexts (%" PRIu64 " at most)", d->queues, d->max_queues, d->contexts, d->max_contexts);
	for (i = 0; i < d->users; i++)
		fprintf(to, "%s %s: %u", i ? "," : ":", d->user[i].process, d->user[i].queues);
	if (d->contexts > d->users && d->users)
		fprintf(to, ", and %u more", d->contexts - d->users);
	fputc('\n', to);
}

/* Use of the device by a client since the sample before, per second. */
struct use {
	const struct top_client *client;
	double busy, jobs;		/* busy: share of the device's clock */
};

static struct use use_of(const struct change *c, const struct top_client *client)
{
	struct use u = { .client = client };
	unsigned i;

	for (i = 0; c->before && c->seconds > 0 && i < c->before->clients; i++) {
		const struct top_client *was = &c->before->client[i];

		if (was->id != client->id || was->cycles > client->cycles || !c->now->clock_hz)
			continue;
		u.busy = (double)(client->cycles - was->cycles) / c->seconds / (double)c->now->clock_hz;
		u.jobs = (double)(client->jobs - was->jobs) / c->seconds;
	}
	return u;
}

static int by_use(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return x->busy < y->busy ? 1 : x->busy > y->busy ? -1 : x->client->id > y->client->id ? 1 : -1;
}

static void show_clients(const struct change *c, FILE *to)
{
	struct use use[TOP_CLIENTS];
	unsigned i, n = c->now->clients;

	if (!n)
		return;
	for (i = 0; i < n; i++)
		use[i] = use_of(c, &c->now->client[i]);
	qsort(use, n, sizeof(use[0]), by_use);
	fprintf(to, "  %-8s %-15s %6s %9s %9s %10s %10s\n", "pid", "process", "busy", "jobs/s", "jobs", "memory", "aperture");
	for (i = 0; i < n && i < TOP_USERS; i++) {
		const struct top_client *k = use[i].client;

		fprintf(to, "  %-8u %-15.15s", k->pid, k->process);
		if (k->counted) {
			fprintf(to, " %5.1f%% %9s", 100 * use[i].busy, chart_number(use[i].jobs).text);
			fprintf(to, " %9s", chart_number((double)k->jobs).text);
		} else {
			fprintf(to, " %6s %9s %9s", "-", "-", "-");
		}
		fprintf(to, " %6" PRIu64 " KiB %6" PRIu64 " KiB\n", k->memory_kib, k->aperture_kib);
	}
	if (n > TOP_USERS)
		fprintf(to, "  and %u more\n", n - TOP_USERS);
}

void top_show(const struct top_sample *before, const struct top_sample *now, FILE *to)
{
	unsigned i;

	if (!now->devices)
		fprintf(to, "no device\n");
	for (i = 0; i < now->devices; i++) {
		struct change c = change_of(before, now, i);

		fprintf(to, "%s\1%s  %s, epoch %" PRIu64, i ? "\n" : "", c.now->name, c.now->state, c.now->epoch);
		if (c.reset)
			fprintf(to, " (reset)");
		if (*c.now->version)
			fprintf(to, ", model %s", c.now->version);
		if (c.now->clock_hz)
			fprintf(to, ", %.0f MHz", 1e-6 * (double)c.now->clock_hz);
		fputc('\n', to);
		show_users(c.now, to);
		show_units(&c, to);
		show_requests(&c, to);
		show_clients(&c, to);
	}
}

static void json_requests(struct json *j, const struct change *c)
{
	static const char *const size[] = { "32", "64", "96", "128" };
	char key[40];
	unsigned d, s;

	json_begin_object(j, "requests_per_second");
	for (d = 0; d < 4; d++) {
		json_begin_object(j, direction_key[d]);
		for (s = 0; s < 4; s++)
			json_double(j, size[s], rate(c, TOP_ZCM, GTU_ZCM_C_REQUESTS(d, s + 1)));
		json_end_object(j);
	}
	json_end_object(j);
	for (d = 0; d < 4; d++) {
		snprintf(key, sizeof(key), "%s_bytes_per_second", direction_key[d]);
		json_double(j, key, rate(c, TOP_ZCM, GTU_ZCM_C_BYTES(d)));
	}
}

static void json_unit(struct json *j, const struct change *c, unsigned u)
{
	const char *const *name = gtu_counter_names(1u << u);
	unsigned k;

	json_begin_object(j, top_unit_name[u]);
	if (u < TOP_ZCM) {
		json_double(j, "busy", busy(c, u));
		json_double(j, "jobs_per_second", rate(c, u, 0));
		json_double(j, "in_per_second", rate(c, u, flows[u].in));
		json_double(j, "out_per_second", rate(c, u, flows[u].out));
	} else {
		json_bool(j, "monitor_enabled", c->now->monitor_enabled);
		json_requests(j, c);
	}
	json_begin_object(j, "counters");
	for (k = 0; name[k]; k++)
		if (c->now->unit[u].has[k])
			json_u64(j, name[k], c->now->unit[u].value[k]);
	json_end_object(j);
	json_end_object(j);
}

static void json_clients(struct json *j, const struct change *c)
{
	unsigned i;

	json_begin_array(j, "clients");
	for (i = 0; i < c->now->clients; i++) {
		const struct use u = use_of(c, &c->now->client[i]);

		json_begin_object(j, NULL);
		json_u64(j, "pid", u.client->pid);
		json_string(j, "process", u.client->process);
		json_u64(j, "client_id", u.client->id);
		if (u.client->counted) {
			json_double(j, "busy", u.busy);
			json_double(j, "jobs_per_second", u.jobs);
			json_u64(j, "jobs", u.client->jobs);
			json_u64(j, "cycles", u.client->cycles);
		}
		json_u64(j, "memory_kib", u.client->memory_kib);
		json_u64(j, "aperture_kib", u.client->aperture_kib);
		json_end_object(j);
	}
	json_end_array(j);
}

void top_json(const struct top_sample *before, const struct top_sample *now, FILE *to)
{
	struct json j;
	unsigned i, u;

	json_start(&j, to);
	json_begin_object(&j, NULL);
	json_double(&j, "seconds", before ? 1e-9 * (double)(now->ns - before->ns) : 0);
	json_begin_array(&j, "devices");
	for (i = 0; i < now->devices; i++) {
		struct change c = change_of(before, now, i);

		json_begin_object(&j, NULL);
		json_string(&j, "name", c.now->name);
		json_string(&j, "state", c.now->state);
		json_u64(&j, "epoch", c.now->epoch);
		json_bool(&j, "reset", c.reset);
		json_u64(&j, "clock_hz", c.now->clock_hz);
		json_u64(&j, "max_queues", c.now->max_queues);
		json_u64(&j, "max_contexts", c.now->max_contexts);
		if (c.now->users_known) {
			json_u64(&j, "queues", c.now->queues);
			json_u64(&j, "contexts", c.now->contexts);
		}
		json_begin_object(&j, "units");
		for (u = 0; u < TOP_UNITS; u++)
			if (c.now->unit[u].present)
				json_unit(&j, &c, u);
		json_end_object(&j);
		json_clients(&j, &c);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	json_finish(&j);
}
