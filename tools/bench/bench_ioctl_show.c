// SPDX-License-Identifier: MIT
/* gtu bench ioctl: prints tables and histograms, and writes JSON. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "bench_ioctl.h"
#include "tools/support/host.h"
#include "tools/support/json.h"

#define BAR 32

static uint64_t percentile(const struct series *s, double part)
{
	return s->ns[(unsigned)(part * (s->n - 1) + .5)];
}

static double mean(const struct series *s)
{
	double sum = 0;
	unsigned i;

	for (i = 0; i < s->n; i++)
		sum += (double)s->ns[i];
	return sum / s->n;
}

/* The bucket of a time: its binary logarithm, rounded down. */
static unsigned bucket(uint64_t ns)
{
	return ns ? 63u - (unsigned)__builtin_clzll(ns) : 0;
}

static void count(const struct series *s, unsigned in[IOCTL_BUCKETS], unsigned *first, unsigned *last)
{
	unsigned i;

	memset(in, 0, IOCTL_BUCKETS * sizeof(*in));
	for (i = 0; i < s->n; i++)
		in[bucket(s->ns[i])]++;
	*first = bucket(s->ns[0]);
	*last = bucket(s->ns[s->n - 1]);
}

static void time_text(double ns, char *text, size_t size)
{
	if (ns < 9999.5)
		snprintf(text, size, "%.0f ns", ns);
	else if (ns < 9999500)
		snprintf(text, size, "%.1f us", ns * 1e-3);
	else
		snprintf(text, size, "%.1f ms", ns * 1e-6);
}

/* The median of @s over that of the operation @name; 0: not measured. */
static double ratio(const struct ioctl_bench *b, const struct series *s, const char *name)
{
	unsigned i;

	for (i = 0; i < b->n_series; i++)
		if (!strcmp(b->series[i].name, name) && b->series[i].n && percentile(&b->series[i], .5))
			return (double)percentile(s, .5) / (double)percentile(&b->series[i], .5);
	return 0;
}

static void ratio_text(double x, char *text, size_t size)
{
	if (x)
		snprintf(text, size, "%.2f", x);
	else
		snprintf(text, size, "-");
}

static void print_series(const struct ioctl_bench *b)
{
	static const double part[] = { .5, .9, .99, .999, 1 };
	char text[32];
	unsigned i, k;

	printf("%-16s %9s %9s %9s %9s %9s %6s %7s %6s\n", "", "50%", "90%", "99%", "99.9%", "max", "calls", "/ioctl", "/job");
	for (i = 0; i < b->n_series; i++) {
		const struct series *s = &b->series[i];

		printf("%-16s", s->name);
		if (!s->n) {
			printf(" unsupported: %s\n", s->unsupported);
			continue;
		}
		for (k = 0; k < 5; k++) {
			time_text((double)percentile(s, part[k]), text, sizeof(text));
			printf(" %9s", text);
		}
		printf(" %6.2f", s->calls);
		ratio_text(ratio(b, s, "null_ioctl"), text, sizeof(text));
		printf(" %7s", text);
		ratio_text(ratio(b, s, "trip_memory"), text, sizeof(text));
		printf(" %6s  %s\n", text, s->what);
	}
	printf("calls: system calls per operation, counted by this program; /ioctl, /job: medians divided by those of\n"
	       "null_ioctl and of an empty job (trip_memory) in this run\n");
}

static void print_histograms(const struct ioctl_bench *b)
{
	unsigned in[IOCTL_BUCKETS], first, last, i, k, n, max;
	char from[32];

	for (i = 0; i < b->n_series; i++) {
		const struct series *s = &b->series[i];

		if (!s->n || (strncmp(s->name, "trip_", 5) && strncmp(s->name, "submit_", 7)))
			continue;
		count(s, in, &first, &last);
		for (max = 1, k = first; k <= last; k++)
			max = in[k] > max ? in[k] : max;
		printf("\n%s, %u times\n", s->name, s->n);
		for (k = first; k <= last; k++) {
			if (!in[k] && k && !in[k - 1])
				continue;	/* print one line for a gap */
			time_text((double)(1ull << k), from, sizeof(from));
			printf("  from %9s %7u ", from, in[k]);
			for (n = 0; n < in[k] * (double)BAR / max; n++)
				putchar('#');
			putchar('\n');
		}
	}
}

static void print_costs(const struct ioctl_bench *b)
{
	double share = ioctl_bench_doorbell_share(b);
	unsigned i;

	printf("\nCPU time of submission per job; the median of rings of 256 jobs, or their mean if the kernel counts ticks\n");
	for (i = 0; i < b->n_costs; i++) {
		const struct submit_cost *c = &b->cost[i];

		printf("  %-9s batches of %3u  ", c->path, c->batch);
		if (c->unsupported[0])
			printf("unsupported: %s\n", c->unsupported);
		else
			printf("%10.0f ns  %6.3f system calls%s\n", c->cpu_ns, c->calls, c->mean ? "  (mean)" : "");
	}
	if (share)
		printf("  doorbells in batches of 32 take %.3f of the CPU time of one ioctl per job\n", share);
}

static void print_rates(const struct ioctl_bench *b)
{
	unsigned i;

	printf("\njobs per second through the library (NOPs; one queue, one thread)\n");
	printf("  %6s %6s %12s %14s\n", "batch", "depth", "jobs/s", "CPU ns/job");
	for (i = 0; i < b->n_rates; i++)
		printf("  %6u %6u %12.0f %14.0f\n", b->rate[i].batch, b->rate[i].depth, b->rate[i].jobs,
		       b->rate[i].cpu_ns);
}

static void print_pins(const struct ioctl_bench *b)
{
	unsigned i;

	printf("\npinning %llu MiB for the device to read, seconds per GiB, the best of five\n",
	       (unsigned long long)b->pin_bytes >> 20);
	printf("  %-17s %9s %9s %9s  pin / memcpy\n", "pages", "pin", "unpin", "memcpy");
	for (i = 0; i < b->n_pins; i++) {
		const struct pin_cost *p = &b->pin[i];

		if (p->unsupported[0])
			printf("  %-17s unsupported: %s\n", p->pages, p->unsupported);
		else
			printf("  %-17s %9.5f %9.5f %9.5f  1/%.1f\n", p->pages, p->pin, p->unpin, p->copy,
			       p->copy / p->pin);
	}
}

static void print_scales(const struct ioctl_bench *b)
{
	unsigned i;

	if (!b->n_scales)
		return;
	printf("\njobs per second by doorbell in batches of 32, polled in memory\n");
	printf("  %7s %8s %6s %12s %10s\n", "threads", "contexts", "queues", "jobs/s", "of 1 1 1");
	for (i = 0; i < b->n_scales; i++) {
		const struct scale *s = &b->scale[i];

		printf("  %7u %8u %6u %12.0f %10.2f\n", s->threads, s->contexts, s->queues, s->jobs, s->jobs / b->scale[0].jobs);
	}
}

static void print_wakeups(const struct ioctl_bench *b)
{
	const struct wakeups *w = &b->wakeups;

	printf("\ninterrupts and wake-ups per second\n");
	if (w->unsupported[0]) {
		printf("  unsupported: %s\n", w->unsupported);
		return;
	}
	printf("  one job after the other, by ioctl(WAIT) %12.0f jobs", w->jobs);
	if (w->interrupts < 0)
		printf("; /proc/interrupts does not list the driver\n");
	else
		printf(", %.0f interrupts (%.3f per job); %.1f interrupts while idle\n", w->interrupts,
		       w->jobs ? w->interrupts / w->jobs : 0, w->idle_interrupts);
	if (w->idle_wait >= 0)
		printf("  a thread in ioctl(WAIT) without a job  %12.1f wake-ups\n", w->idle_wait);
}

static void print_regions(const struct ioctl_bench *b)
{
	char add[32], rm[32];
	unsigned i;

	if (!b->n_regions)
		return;
	printf("\nREGION_ADD and REGION_REMOVE by size (medians; load: another queue runs jobs)\n");
	printf("  %12s %-6s %-4s %10s %10s\n", "bytes", "pages", "", "add", "remove");
	for (i = 0; i < b->n_regions; i++) {
		const struct region_cost *r = &b->region[i];

		printf("  %12llu %-6s %-4s", (unsigned long long)r->bytes, r->page_bytes > 4096 ? "2 MiB" : "4 KiB", r->load ? "load" : "idle");
		if (r->unsupported[0]) {
			printf(" unsupported: %s\n", r->unsupported);
			continue;
		}
		time_text(r->add_ns, add, sizeof(add));
		time_text(r->remove_ns, rm, sizeof(rm));
		printf(" %10s %10s\n", add, rm);
	}
}

void ioctl_bench_print(const struct ioctl_bench *b)
{
	const struct host *h = host_describe();

	printf("device %s; %s, %u CPUs, %s; IOMMU %s\n\n", b->device, h->cpu, h->cpus, h->system, b->iommu);
	print_series(b);
	print_histograms(b);
	print_costs(b);
	print_rates(b);
	print_scales(b);
	print_wakeups(b);
	print_regions(b);
	print_pins(b);
}

static void json_ratio(struct json *j, const char *name, double x)
{
	if (x)
		json_double(j, name, x);
	else
		json_null(j, name);
}

static void json_series(struct json *j, const struct ioctl_bench *b, const struct series *s)
{
	unsigned in[IOCTL_BUCKETS], first, last, k;

	json_begin_object(j, NULL);
	json_string(j, "name", s->name);
	json_string(j, "what", s->what);
	if (s->n) {
		json_u64(j, "samples", s->n);
		json_double(j, "mean_ns", mean(s));
		json_u64(j, "p50_ns", percentile(s, .5));
		json_u64(j, "p90_ns", percentile(s, .9));
		json_u64(j, "p99_ns", percentile(s, .99));
		json_u64(j, "p99_9_ns", percentile(s, .999));
		json_u64(j, "max_ns", percentile(s, 1));
		json_double(j, "system_calls", s->calls);
		json_ratio(j, "null_ioctls", ratio(b, s, "null_ioctl"));
		json_ratio(j, "null_jobs", ratio(b, s, "trip_memory"));
		count(s, in, &first, &last);
		json_begin_array(j, "histogram");
		for (k = first; k <= last; k++) {
			json_begin_object(j, NULL);
			json_u64(j, "from_ns", k ? 1ull << k : 0);
			json_u64(j, "count", in[k]);
			json_end_object(j);
		}
		json_end_array(j);
	} else {
		json_string(j, "unsupported", s->unsupported);
	}
	json_end_object(j);
}

/* A column of a table in JSON: a field of its rows. */
struct column {
	const char *key;
	enum { TEXT, UNSIGNED, U64, BOOL, DOUBLE } type;
	size_t at;
};

/* An array of struct ioctl_bench. A row that is unsupported has its reason in place of the columns @measured. */
struct table {
	const char *key;
	size_t rows, n, row_bytes, unsupported;	/* 0: all rows are measured */
	struct column named[4], measured[5];	/* the last is empty */
};

#define ROWS(key, array, count)	key, offsetof(struct ioctl_bench, array), offsetof(struct ioctl_bench, count)
#define OF(field)		offsetof(struct ROW, field)
#define REASONS			sizeof(struct ROW), OF(unsupported)
static const struct table costs = {
#define ROW submit_cost
	ROWS("submit_cpu", cost, n_costs), REASONS, { { "path", TEXT, OF(path) }, { "batch", UNSIGNED, OF(batch) } },
	{ { "cpu_ns", DOUBLE, OF(cpu_ns) }, { "mean", BOOL, OF(mean) }, { "system_calls", DOUBLE, OF(calls) } },
#undef ROW
};
static const struct table rates = {
#define ROW rate
	ROWS("rates", rate, n_rates), sizeof(struct ROW), 0, { { "batch", UNSIGNED, OF(batch) }, { "depth", UNSIGNED, OF(depth) } },
	{ { "jobs_per_second", DOUBLE, OF(jobs) }, { "cpu_ns", DOUBLE, OF(cpu_ns) } },
#undef ROW
};
static const struct table scales = {
#define ROW scale
	ROWS("threads", scale, n_scales), sizeof(struct ROW), 0,
	{ { "threads", UNSIGNED, OF(threads) }, { "contexts", UNSIGNED, OF(contexts) }, { "queues", UNSIGNED, OF(queues) } },
	{ { "jobs_per_second", DOUBLE, OF(jobs) } },
#undef ROW
};
static const struct table regions = {
#define ROW region_cost
	ROWS("regions", region, n_regions), REASONS,
	{ { "bytes", U64, OF(bytes) }, { "page_bytes", UNSIGNED, OF(page_bytes) }, { "load", BOOL, OF(load) } },
	{ { "add_ns", DOUBLE, OF(add_ns) }, { "remove_ns", DOUBLE, OF(remove_ns) } },
#undef ROW
};
static const struct table pins = {
#define ROW pin_cost
	ROWS("pins", pin, n_pins), REASONS, { { "pages", TEXT, OF(pages) } },
	{ { "pin_seconds_per_gib", DOUBLE, OF(pin) }, { "unpin_seconds_per_gib", DOUBLE, OF(unpin) },
	  { "memcpy_seconds_per_gib", DOUBLE, OF(copy) } },
#undef ROW
};

static void json_columns(struct json *j, const struct column *c, const char *row)
{
	for (; c->key; c++) {
		const void *field = row + c->at;

		switch (c->type) {
		case TEXT: json_string(j, c->key, *(const char *const *)field); break;
		case UNSIGNED: json_u64(j, c->key, *(const unsigned *)field); break;
		case U64: json_u64(j, c->key, *(const uint64_t *)field); break;
		case BOOL: json_bool(j, c->key, *(const bool *)field); break;
		case DOUBLE: json_double(j, c->key, *(const double *)field); break;
		}
	}
}

static void json_table(struct json *j, const struct ioctl_bench *b, const struct table *t)
{
	const char *row = (const char *)b + t->rows;
	unsigned i, n = *(const unsigned *)((const char *)b + t->n);

	json_begin_array(j, t->key);
	for (i = 0; i < n; i++, row += t->row_bytes) {
		json_begin_object(j, NULL);
		json_columns(j, t->named, row);
		if (t->unsupported && row[t->unsupported])
			json_string(j, "unsupported", row + t->unsupported);
		else
			json_columns(j, t->measured, row);
		json_end_object(j);
	}
	json_end_array(j);
}

static void json_wakeups(struct json *j, const struct wakeups *w)
{
	json_begin_object(j, "wakeups");
	if (w->unsupported[0]) {
		json_string(j, "unsupported", w->unsupported);
	} else {
		json_double(j, "jobs_per_second", w->jobs);
		if (w->interrupts >= 0) {
			json_double(j, "interrupts_per_second", w->interrupts);
			json_double(j, "idle_interrupts_per_second", w->idle_interrupts);
		}
		if (w->idle_wait >= 0)
			json_double(j, "idle_wait_wakeups_per_second", w->idle_wait);
	}
	json_end_object(j);
}

void ioctl_bench_json(const void *subject, FILE *to)
{
	const struct ioctl_bench *b = subject;
	struct json j;
	unsigned i;

	json_start(&j, to);
	json_begin_object(&j, NULL);
	json_string(&j, "device", b->device);
	json_string(&j, "iommu", b->iommu);
	host_json(&j, "host");
	json_double(&j, "seconds", b->took);
	json_begin_array(&j, "series");
	for (i = 0; i < b->n_series; i++)
		json_series(&j, b, &b->series[i]);
	json_end_array(&j);
	json_table(&j, b, &costs);
	json_ratio(&j, "doorbell_32_share_of_ioctl", ioctl_bench_doorbell_share(b));
	json_table(&j, b, &rates);
	json_table(&j, b, &scales);
	json_wakeups(&j, &b->wakeups);
	json_table(&j, b, &regions);
	json_u64(&j, "pin_bytes", b->pin_bytes);
	json_table(&j, b, &pins);
	json_end_object(&j);
	json_finish(&j);
}
