// SPDX-License-Identifier: MIT
/*
 * gtu bench units: measures units, memcpy and plain software in alternating rounds; prints medians
 * or JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "firmware-model/device/gtu_units.h"
#include "tools/report/report.h"
#include "tools/support/cli.h"
#include "tools/support/host.h"
#include "tools/support/json.h"
#include "libruntime/support/clock.h"

#define ROUNDS_MIN	3
#define ROUNDS_MAX	200
#define SLICE		0.002		/* shortest measurement, seconds */

enum { COPY, UNIT, PLAIN, SUBJECTS };

struct result {
	const struct bench_case *c;
	unsigned rounds;
	uint64_t bytes, elements, cycles;
	double seconds[SUBJECTS];	/* per run, medians */
	double share, share_low, share_high; /* median and quartiles of unit / memcpy */
	double speedup;			/* median of unit / plain */
};

static int run_subject(struct bench_work *w, int subject, unsigned times, double *seconds,
		       struct gtu_error *err)
{
	double start = gtu_now_s();
	unsigned i;
	int ret = 0;

	for (i = 0; i < times && !ret; i++) {
		if (subject == COPY)
			bench_run_memcpy(w);
		else if (subject == PLAIN)
			bench_run_plain(w);
		else
			ret = bench_run_unit(w, err);
	}
	*seconds = (gtu_now_s() - start) / times;
	return ret;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The @part quantile, 0 to 1, of @n sorted numbers. */
static double quantile(const double *v, unsigned n, double part)
{
	return v[(unsigned)(part * (n - 1) + .5)];
}

static int measure(struct gtu_queue *q, const struct bench_case *c, double budget,
		   const struct gtu_progress *progress, struct result *r, struct gtu_error *err)
{
	static double t[SUBJECTS][ROUNDS_MAX], share[ROUNDS_MAX], speedup[ROUNDS_MAX];
	unsigned times[SUBJECTS], n;
	struct bench_work *w;
	double start, once;
	int s, ret;

	ret = bench_prepare(q, c, &w, err);
	if (ret)
		return ret;
	for (s = 0; s < SUBJECTS && !ret; s++) {
		ret = run_subject(w, s, 1, &once, err);
		times[s] = once > SLICE ? 1 : once > SLICE / 1e6 ? SLICE / once + 1 : 1000000;
	}
	start = gtu_now_s();
	for (n = 0; !ret && n < ROUNDS_MAX && (n < ROUNDS_MIN || gtu_now_s() - start < budget); n++) {
		for (s = 0; s < SUBJECTS && !ret; s++)
			ret = run_subject(w, s, times[s], &t[s][n], err);
		share[n] = t[COPY][n] / t[UNIT][n];
		speedup[n] = t[PLAIN][n] / t[UNIT][n];
		if (!ret && gtu_tick(progress, "measuring", 0, 0))
			ret = gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted");
	}
	if (!ret) {
		r->c = c;
		r->rounds = n;
		r->bytes = bench_bytes(w);
		r->elements = bench_elements(w);
		r->cycles = bench_cycles(w);
		for (s = 0; s < SUBJECTS; s++) {
			qsort(t[s], n, sizeof(double), ascending);
			r->seconds[s] = quantile(t[s], n, .5);
		}
		qsort(share, n, sizeof(double), ascending);
		qsort(speedup, n, sizeof(double), ascending);
		r->share = quantile(share, n, .5);
		r->share_low = quantile(share, n, .25);
		r->share_high = quantile(share, n, .75);
		r->speedup = quantile(speedup, n, .5);
	}
	bench_release(w);
	return ret;
}

static double gbps(const struct result *r, int subject)
{
	return r->bytes / r->seconds[subject] * 1e-9;
}

static double rate(const struct result *r, int subject)
{
	return r->elements / r->seconds[subject] * 1e-6;
}

static bool has_target(const struct bench_case *c)
{
	return c->target.share || c->target.rate;
}

static bool target_met(const struct result *r)
{
	const struct bench_target *t = &r->c->target;

	return t->share ? r->share >= t->share : rate(r, UNIT) >= t->rate;
}

static double per_cycle(const struct bench_work *w)
{
	return (double)bench_elements(w) / (double)bench_cycles(w);
}

static void size_text(uint64_t bytes, char *text, size_t size)
{
	if (bytes >= 1 << 20)
		snprintf(text, size, "%.0f MiB", bytes / 1048576.);
	else
		snprintf(text, size, "%.0f KiB", bytes / 1024.);
}

static double read_rate(const uint64_t *p, uint64_t words)
{
	double start = gtu_now_s(), seconds;
	uint64_t sum = 0, i;

	for (i = 0; i < words; i++)
		sum += p[i];
	__asm__ volatile("" : : "r"(sum));
	seconds = gtu_now_s() - start;
	return (double)words * 8 / seconds * 1e-9;
}

/* Read bandwidth of a loop that sums 64 MiB, in 10^9 bytes per second, median of nine: the limit of read-only work. */
static double read_loop(void)
{
	const uint64_t words = 8 << 20;
	uint64_t *p = malloc(words * 8);
	double rate[9];
	unsigned i;

	if (!p)
		return 0;
	memset(p, 1, words * 8);
	for (i = 0; i < 9; i++)
		rate[i] = read_rate(p, words);
	free(p);
	qsort(rate, 9, sizeof(*rate), ascending);
	return rate[4];
}

static void print_head(const struct gtu_info *info, double reads)
{
	const struct host *h = host_describe();

	printf("device %s; %s, one core; instruction sets: %s\n", info->path, h->cpu, h->sets);
	if (!strcmp(info->backend, "model"))
		printf("the model runs its SCU with %s code and its IRU with %s code\n",
		       gtu_unit_code(GTU_UNIT_SCU, false), gtu_unit_code(GTU_UNIT_IRU, false));
	printf("caches: L1 %u KiB, L2 %u KiB, last level %u KiB\n", h->l1_kib, h->l2_kib, h->llc_kib);
	printf("read bandwidth of a loop that sums 64 MiB: %.1f GB/s\n\n", reads);
	printf("%-14s %-36s %8s %7s %7s %6s %8s %8s %7s\n", "operation", "", "set", "unit",
	       "memcpy", "share", "unit", "plain", "unit/");
	printf("%-14s %-36s %8s %7s %7s %6s %8s %8s %7s\n", "", "", "", "GB/s", "GB/s", "", "M/s",
	       "M/s", "plain");
}

static void print_result(const struct result *r)
{
	const struct bench_target *t = &r->c->target;
	char variant[64], set[24], name[32];

	bench_variant(r->c, variant, sizeof(variant));
	size_text(r->c->set, set, sizeof(set));
	snprintf(name, sizeof(name), "%s %s", r->c->unit, r->c->operation);
	printf("%-14s %-36s %8s %7.2f %7.2f %5.0f%% %8.1f %8.1f %7.2f", name, variant, set,
	       gbps(r, UNIT), gbps(r, COPY), r->share * 100, rate(r, UNIT), rate(r, PLAIN),
	       r->speedup);
	if (t->share)
		printf("  %s %.0f%%", target_met(r) ? "reaches" : "BELOW", t->share * 100);
	else if (t->rate)
		printf("  %s %.0f M/s", target_met(r) ? "reaches" : "BELOW", t->rate);
	putchar('\n');
	fflush(stdout);
}

/* For each case with a target: the target, the measured value and the upper limit. */
static void print_targets(const struct result *r, unsigned n)
{
	char variant[64];
	unsigned i;

	for (i = 0; i < n && !has_target(r[i].c); i++)
		;
	if (i == n)
		return;
	printf("\ntargets (limit of a share: memcpy, which moves each byte once and decides nothing; limit of a\n"
	       "stream: the time that memcpy needs for the input and the records)\n");
	for (i = 0; i < n; i++) {
		const struct bench_target *t = &r[i].c->target;

		if (!has_target(r[i].c))
			continue;
		bench_variant(r[i].c, variant, sizeof(variant));
		if (t->share)
			printf("  %s %s, %s: %.0f%% of memcpy (half of the rounds %.0f to %.0f%%), target %.0f%%: %s\n",
			       r[i].c->unit, r[i].c->operation, variant, r[i].share * 100,
			       r[i].share_low * 100, r[i].share_high * 100, t->share * 100,
			       target_met(&r[i]) ? "met" : "not met");
		else
			printf("  %s %s, %s: %.1f M/s, target %.0f: %s; limit %.0f; %.2f times %s\n",
			       r[i].c->unit, r[i].c->operation, variant, rate(&r[i], UNIT), t->rate,
			       target_met(&r[i]) ? "met" : "not met", rate(&r[i], COPY), r[i].speedup,
			       r[i].c->kind == BENCH_IRU ? "the radix sort" : "plain software");
	}
}

static void json_result(struct json *j, const struct result *r)
{
	char variant[64];

	bench_variant(r->c, variant, sizeof(variant));
	json_begin_object(j, NULL);
	json_string(j, "unit", r->c->unit);
	json_string(j, "operation", r->c->operation);
	json_string(j, "variant", variant);
	json_u64(j, "working_set", r->c->set);
	json_u64(j, "bytes", r->bytes);
	json_u64(j, "elements", r->elements);
	json_u64(j, "cycles", r->cycles);
	json_u64(j, "rounds", r->rounds);
	json_double(j, "unit_seconds", r->seconds[UNIT]);
	json_double(j, "memcpy_seconds", r->seconds[COPY]);
	json_double(j, "plain_seconds", r->seconds[PLAIN]);
	json_double(j, "unit_gbps", gbps(r, UNIT));
	json_double(j, "memcpy_gbps", gbps(r, COPY));
	json_double(j, "unit_melements", rate(r, UNIT));
	json_double(j, "plain_melements", rate(r, PLAIN));
	json_double(j, "share_of_memcpy", r->share);
	json_double(j, "share_quartile_low", r->share_low);
	json_double(j, "share_quartile_high", r->share_high);
	json_double(j, "speedup_over_plain", r->speedup);
	if (has_target(r->c)) {
		json_begin_object(j, "target");
		if (r->c->target.share)
			json_double(j, "share_of_memcpy", r->c->target.share);
		else
			json_double(j, "unit_melements", r->c->target.rate);
		json_bool(j, "met", target_met(r));
		json_end_object(j);
	}
	json_end_object(j);
}

struct results {
	const struct gtu_info *info;
	double seconds, reads;
	const struct result *r;
	unsigned n;
};

static void put_json(const void *subject, FILE *to)
{
	const struct results *all = subject;
	const struct gtu_info *info = all->info;
	struct json j;
	unsigned i;

	json_start(&j, to);
	json_begin_object(&j, NULL);
	json_string(&j, "device", info->path);
	host_json(&j, "host");
	if (!strcmp(info->backend, "model")) {
		json_string(&j, "scu_code", gtu_unit_code(GTU_UNIT_SCU, false));
		json_string(&j, "iru_code", gtu_unit_code(GTU_UNIT_IRU, false));
	}
	json_double(&j, "seconds", all->seconds);
	json_double(&j, "read_loop_gbps", all->reads);
	json_begin_array(&j, "results");
	for (i = 0; i < all->n; i++)
		json_result(&j, &all->r[i]);
	json_end_array(&j);
	json_end_object(&j);
	json_finish(&j);
}

/* Whether @name is one of the comma-separated @list. */
static bool listed(const char *list, const char *name)
{
	size_t length = strlen(name);
	const char *p;

	for (p = list; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (!strncmp(p, name, length) && (!p[length] || p[length] == ','))
			return true;
	return false;
}

static bool selected(const struct bench_request *rq, const struct bench_case *c)
{
	return c->set <= rq->largest &&
	       (!rq->only || listed(rq->only, c->unit) || listed(rq->only, c->operation));
}

/* Run one job per case and print the values that do not depend on the computer. */
static int show_cycles(const struct bench_request *rq, struct gtu_queue *q, struct gtu_error *err)
{
	char variant[64], set[24], name[32];
	const struct bench_case *c;
	struct bench_work *w;
	int ret = 0;

	printf("%-14s %-36s %8s %10s %11s %10s %10s\n", "operation", "", "set", "elements", "bytes", "cycles", "a cycle");
	for (c = bench_cases; c->unit && !ret; c++) {
		if (!selected(rq, c))
			continue;
		ret = bench_prepare(q, c, &w, err);
		if (ret)
			break;
		bench_variant(c, variant, sizeof(variant));
		size_text(c->set, set, sizeof(set));
		snprintf(name, sizeof(name), "%s %s", c->unit, c->operation);
		printf("%-14s %-36s %8s %10llu %11llu %10llu %10.3f\n", name, variant, set,
		       (unsigned long long)bench_elements(w), (unsigned long long)bench_bytes(w),
		       (unsigned long long)bench_cycles(w), per_cycle(w));
		fflush(stdout);
		bench_release(w);
		if (gtu_tick(cli_progress(), "counting", 0, 0))
			ret = gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted");
	}
	cli_clear_bar();
	return ret;
}

static int run_units(const struct bench_request *rq, struct gtu_queue *q, struct gtu_error *err)
{
	const struct gtu_info *info = gtu_get_info(gtu_queue_device(q));
	bool table = bench_has_table(rq->json, rq->plot);
	unsigned cases = 0, n = 0, i;
	struct result *results;
	double start = gtu_now_s(), reads;
	int ret = 0;

	for (i = 0; bench_cases[i].unit; i++)
		cases += selected(rq, &bench_cases[i]);
	if (!cases)
		return gtu_fail(err, GTU_ERR_USAGE, "no case matches --only and --max-set: use other names or a larger limit");
	if (rq->cycles)
		return show_cycles(rq, q, err);
	results = calloc(cases, sizeof(*results));
	if (!results)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for the results");
	reads = read_loop();
	if (table)
		print_head(info, reads);
	for (i = 0; bench_cases[i].unit && !ret; i++) {
		if (!selected(rq, &bench_cases[i]))
			continue;
		ret = measure(q, &bench_cases[i], rq->seconds / cases, cli_progress(), &results[n], err);
		cli_clear_bar();
		if (!ret && table)
			print_result(&results[n]);
		n += !ret;
	}
	if (!ret && table)
		print_targets(results, n);
	if (!ret) {
		struct results all = { info, gtu_now_s() - start, reads, results, n };

		ret = bench_write(rq->json, rq->plot, put_json, &all, report_chart_units, err);
	}
	free(results);
	return ret;
}

int bench_units(const struct bench_request *rq, struct gtu_error *err)
{
	struct gtu_queue *q = NULL;
	struct gtu_device *dev;
	int ret;

	if (rq->portable) {
		gtu_unit_code(GTU_UNIT_SCU, true);
		gtu_unit_code(GTU_UNIT_IRU, true);
	}
	ret = gtu_open(rq->device, &dev, err);
	if (ret)
		return ret;
	gtu_set_timeout(dev, cli_timeout_ns(CLI_TIMEOUT));
	ret = gtu_queue_create(dev, NULL, &q, err);
	if (!ret)
		ret = run_units(rq, q, err);
	gtu_queue_destroy(q);
	gtu_close(dev);
	return ret;
}
