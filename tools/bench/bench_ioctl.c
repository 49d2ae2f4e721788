// SPDX-License-Identifier: MIT
/* gtu bench ioctl: the measurements. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libruntime/support/advice.h"
#include "libruntime/device/backend.h"
#include "bench_ioctl.h"
#include "tools/support/cli.h"
#include "uapi/gtu/gtu.h"

#define DEPTH		256u
#define WAIT_MS		10000
#define MAP_BYTES	(2u << 20)
#define GIB		1073741824.0
#define ROUNDS_MIN	9
#define ROUNDS_MAX	2000
#define TICKS_MIN	20

static const struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- Timed operations ------------------------------------------------------------- */

static int call_getppid(struct work *w, struct gtu_error *err)
{
	(void)err;
	syscall(SYS_getppid);
	w->b->raw.calls++;
	return 0;
}

static int call_info(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };

	return raw_ioctl(&w->b->raw, GTU_IOCTL_INFO, &info, "INFO", err);
}

int work_plain_queue(struct work *w, struct gtu_error *err)
{
	return raw_queue_create(&w->b->raw, false, &w->q, err);
}

int work_checked_queue(struct work *w, struct gtu_error *err)
{
	return raw_queue_create(&w->b->raw, true, &w->q, err);
}

static int submit_one(struct work *w, struct gtu_error *err)
{
	return raw_submit(&w->q, 1, err);
}

int work_spin(struct work *w, struct gtu_error *err)
{
	return raw_spin(&w->q, err);
}

static int submit_and_spin(struct work *w, struct gtu_error *err)
{
	int rc = raw_submit(&w->q, 1, err);

	return rc ? rc : raw_spin(&w->q, err);
}

static int submit_and_wait(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_wait wait = {
		.size = sizeof(wait), .id = w->q.id, .index = w->q.head,
		.deadline_ns = gtu_now_ns() + WAIT_MS * 1000000ull,
	};
	int rc = raw_submit(&w->q, 1, err);

	if (!rc)
		rc = raw_ioctl(&w->b->raw, GTU_IOCTL_WAIT, &wait, "WAIT", err);
	return rc ? rc : raw_spin(&w->q, err);
}

static int with_eventfd(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_queue_eventfd e = { .size = sizeof(e) };
	int rc = work_plain_queue(w, err);

	if (rc)
		return rc;
	w->eventfd = eventfd(0, EFD_CLOEXEC);
	if (w->eventfd < 0)
		return gtu_fail(err, GTU_ERR_FAIL, "cannot create an eventfd: %s", strerror(errno));
	e.id = w->q.id;
	e.fd = w->eventfd;
	return raw_ioctl(&w->b->raw, GTU_IOCTL_QUEUE_EVENTFD, &e, "eventfd of a queue (QUEUE_EVENTFD)", err);
}

/* Sleep until @fd is readable, and read it; with @poll_first by poll(). */
static int sleep_on(struct work *w, int fd, void *to, size_t bytes, bool poll_first, struct gtu_error *err)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll_first) {
		w->b->raw.calls++;
		if (poll(&p, 1, WAIT_MS) <= 0)
			return gtu_advise_timeout(w->b->device, WAIT_MS / 1e3, err);
		if (p.revents & POLLNVAL || !(p.revents & POLLIN))
			return gtu_fail(err, GTU_ERR_UNSUPPORTED, "poll() on %s returns 0x%x: the driver has no events", w->b->device,
					(unsigned)p.revents);
	}
	w->b->raw.calls++;
	if (read(fd, to, bytes) > 0)
		return 0;
	if (errno == EINVAL || errno == EOPNOTSUPP)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "the driver of %s has no events to read", w->b->device);
	return gtu_fail(err, GTU_ERR_FAIL, "%s: cannot read an event: %s", w->b->device, strerror(errno));
}

static int submit_and_eventfd(struct work *w, struct gtu_error *err)
{
	uint64_t count;
	int rc = raw_submit(&w->q, 1, err);

	if (rc)
		return rc;
	raw_arm(&w->q);
	rc = sleep_on(w, w->eventfd, &count, sizeof(count), false, err);
	return rc ? rc : raw_spin(&w->q, err);
}

static int submit_and_poll(struct work *w, struct gtu_error *err)
{
	struct gtu_event event[4];
	int rc = raw_submit(&w->q, 1, err);

	if (rc)
		return rc;
	raw_arm(&w->q);
	rc = sleep_on(w, w->b->raw.fd, event, sizeof(event), true, err);
	return rc ? rc : raw_spin(&w->q, err);
}

static int library_submit(struct work *w, struct gtu_error *err)
{
	return gtu_submit(w->b->q, &nop, NULL, err);
}

static int library_next(struct work *w, struct gtu_error *err)
{
	struct gtu_completion c;

	return gtu_next(w->b->q, GTU_FOREVER, &c, err);
}

static int library_do(struct work *w, struct gtu_error *err)
{
	return gtu_do(w->b->q, &nop, GTU_FOREVER, NULL, err);
}

static int open_and_close(struct work *w, struct gtu_error *err)
{
	struct gtu_device *dev;
	struct raw_device d;
	int rc;

	if (!w->b->kernel) {
		rc = gtu_open(w->b->device, &dev, err);
		if (!rc)
			gtu_close(dev);
		return rc;
	}
	d.calls = 0;
	rc = raw_open(&d, w->b->device, err);
	if (!rc)
		raw_close(&d);
	w->b->raw.calls += d.calls;
	return rc;
}

static int queue_and_end(struct work *w, struct gtu_error *err)
{
	struct gtu_queue *q;
	int rc = gtu_queue_create(w->b->dev, NULL, &q, err);

	if (!rc)
		gtu_queue_destroy(q);
	return rc;
}

int work_buffer(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_buffer_alloc a = { .size = sizeof(a), .length = MAP_BYTES, .rights = GTU_RIGHT_READ };
	int rc = raw_ioctl(&w->b->raw, GTU_IOCTL_BUFFER_ALLOC, &a, "driver buffer", err);

	w->buffer = a.mmap_offset;
	w->key = a.key;
	return rc;
}

static int map_and_unmap(struct work *w, struct gtu_error *err)
{
	void *at = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, w->b->raw.fd, (off_t)w->buffer);

	w->b->raw.calls += 2;
	if (at == MAP_FAILED)
		return gtu_fail(err, GTU_ERR_FAIL, "cannot map a driver buffer: %s", strerror(errno));
	munmap(at, MAP_BYTES);
	return 0;
}

static const struct operation operations[] = {
	{ "syscall", "a system call that does nothing (getppid)", false, NULL, call_getppid, NULL, NULL },
	{ "null_ioctl", "ioctl(INFO)", true, NULL, call_info, NULL, NULL },
	{ "submit_doorbell", "one job into the ring, doorbell", true, work_plain_queue, submit_one, work_spin, NULL },
	{ "submit_ioctl", "one job by ioctl(SUBMIT)", true, work_checked_queue, submit_one, work_spin, NULL },
	{ "submit_library", "gtu_submit() of one job", false, NULL, library_submit, library_next, NULL },
	{ "trip_memory", "doorbell, then polling memory for the completion", true, work_plain_queue, submit_and_spin, NULL,
	  NULL },
	{ "trip_wait", "doorbell, then ioctl(WAIT)", true, work_plain_queue, submit_and_wait, NULL, NULL },
	{ "trip_eventfd", "doorbell, ARM, then read() of an eventfd", true, with_eventfd, submit_and_eventfd, NULL, NULL },
	{ "trip_poll", "doorbell, ARM, then poll() and read() of the device", true, work_plain_queue, submit_and_poll, NULL,
	  NULL },
	{ "trip_library", "gtu_do(): polls briefly, then sleeps", false, NULL, library_do, NULL, NULL },
	{ "mmap", "mmap() and munmap() of 2 MiB of a driver buffer", true, work_buffer, map_and_unmap, NULL, NULL },
	{ "queue", "creating and destroying a queue by the library", false, NULL, queue_and_end, NULL, NULL },
	{ "context", "open() and close() of the device", false, NULL, open_and_close, NULL, NULL },
};
#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

int work_remove(struct work *w, struct gtu_error *err)
{
	struct gtu_ioctl_region_remove rm = { .size = sizeof(rm), .key = w->key };

	w->key = 0;
	return rm.key ? raw_ioctl(&w->b->raw, GTU_IOCTL_REGION_REMOVE, &rm, "REGION_REMOVE", err) : 0;
}

static void finish(struct work *w)
{
	raw_queue_destroy(&w->q);
	raw_queue_destroy(&w->other);
	if (w->eventfd >= 0)
		close(w->eventfd);
	if (w->dmabuf >= 0)
		close(w->dmabuf);
	work_remove(w, NULL);
	free(w->page);
}

static int ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int bench_tick(const char *what, unsigned done, unsigned total, struct gtu_error *err)
{
	return gtu_tick(cli_progress(), what, done, total) ? gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted") : 0;
}

int bench_unsupported(int rc, char *text, const struct gtu_error *err)
{
	if (rc != GTU_ERR_UNSUPPORTED)
		return rc;
	snprintf(text, GTU_ERROR_TEXT, "%s", err->text);
	return 0;
}

static int measure(struct ioctl_bench *b, const struct operation *t, double seconds, struct gtu_error *err)
{
	struct series *s = &b->series[b->n_series++];
	struct work w = { .b = b, .eventfd = -1, .dmabuf = -1 };
	const uint64_t end = gtu_now_ns() + (uint64_t)(seconds * 1e9);
	uint64_t calls = 0;
	int rc = 0;

	s->name = t->name;
	s->what = t->what;
	if (t->kernel && !b->kernel) {
		snprintf(s->unsupported, sizeof(s->unsupported), "%s has no driver", b->device);
		return 0;
	}
	s->ns = malloc(IOCTL_SAMPLES * sizeof(*s->ns));
	if (!s->ns)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for %u samples", IOCTL_SAMPLES);
	if (t->prepare)
		rc = t->prepare(&w, err);
	while (!rc && s->n < IOCTL_SAMPLES && (s->n < 20 || gtu_now_ns() < end)) {
		uint64_t before, start;

		if (t->before)
			rc = t->before(&w, err);
		if (rc)
			break;
		before = b->raw.calls;
		start = gtu_now_ns();
		rc = t->once(&w, err);
		s->ns[s->n] = gtu_now_ns() - start;
		calls += b->raw.calls - before;
		s->n += !rc;
		if (!rc && t->after)
			rc = t->after(&w, err);
		if (!rc && !(s->n & 255))
			rc = bench_tick(t->name, b->n_series, OPERATIONS + ioctl_calls_count, err);
	}
	finish(&w);
	rc = bench_unsupported(rc, s->unsupported, err);
	if (s->unsupported[0])
		s->n = 0;
	s->calls = s->n ? (double)calls / s->n : 0;
	qsort(s->ns, s->n, sizeof(*s->ns), ascending);
	return rc;
}

/* ---- CPU time of submission --------------------------------------------------------------------------- */

/*
 * Reading the thread's clock is expensive, so a whole ring of jobs is submitted between two
 * readings. Waiting is not timed. The result is the median over rings, because in a guest CPU time
 * includes time stolen by the host. If the kernel counts ticks, most rings take 0: then the result is
 * the mean, of as many rings as it takes to see TICKS_MIN ticks, within four times the time.
 */
static int cost_of(struct ioctl_bench *b, bool checked, unsigned batch, double seconds, struct gtu_error *err)
{
	struct submit_cost *c = &b->cost[b->n_costs++];
	const uint64_t begin = gtu_now_ns(), end = begin + (uint64_t)(seconds * 1e9);
	static uint64_t cpu[ROUNDS_MAX];
	struct raw_queue q = { 0 };
	uint64_t calls = 0, start, took, sum = 0, rounds = 0, seen = 0, i;
	unsigned n = 0;
	int rc;

	c->path = checked ? "ioctl" : "doorbell";
	c->batch = batch;
	if (!b->kernel) {
		snprintf(c->unsupported, sizeof(c->unsupported), "%s has no driver", b->device);
		return 0;
	}
	rc = raw_queue_create(&b->raw, checked, &q, err);
	while (!rc && (rounds < ROUNDS_MIN || gtu_now_ns() < end ||
		       (2 * seen < rounds && seen < TICKS_MIN && gtu_now_ns() < end + 3 * (end - begin)))) {
		calls -= b->raw.calls;
		start = cpu_ns();
		for (i = 0; i < DEPTH && !rc; i += batch)
			rc = raw_submit(&q, batch, err);
		took = cpu_ns() - start;
		sum += took;
		seen += took > 0;
		rounds++;
		if (n < ROUNDS_MAX)
			cpu[n++] = took;
		calls += b->raw.calls;
		for (i = 0; i < DEPTH && !rc; i++)
			rc = raw_spin(&q, err);
		if (!rc)
			rc = bench_tick("CPU time", b->n_costs, IOCTL_COSTS, err);
	}
	raw_queue_destroy(&q);
	rc = bench_unsupported(rc, c->unsupported, err);
	qsort(cpu, n, sizeof(cpu[0]), ascending);
	c->mean = 2 * seen < rounds;
	if (!rc && !sum && !c->unsupported[0])
		snprintf(c->unsupported, sizeof(c->unsupported), "not measured: the CPU clock did not advance in %llu rings of %u jobs",
			 (unsigned long long)rounds, DEPTH);
	c->cpu_ns = !rounds ? 0 : (c->mean ? (double)sum / (double)rounds : (double)cpu[n / 2]) / DEPTH;
	c->calls = rounds ? (double)calls / (double)rounds / DEPTH : 0;
	return rc;
}

static int costs(struct ioctl_bench *b, double seconds, struct gtu_error *err)
{
	static const unsigned batch[] = { 1, 8, 32, 256 };
	unsigned i;
	int rc = 0;

	for (i = 0; i < IOCTL_COSTS && !rc; i++)
		rc = cost_of(b, i >= 4, batch[i % 4], seconds / IOCTL_COSTS, err);
	return rc;
}

/* ---- Jobs per second --------------------------------------------------------------------------------------- */

static int rate_of(struct ioctl_bench *b, unsigned batch, unsigned depth, double seconds, struct gtu_error *err)
{
	struct rate *r = &b->rate[b->n_rates++];
	const uint64_t start = gtu_now_ns(), end = start + (uint64_t)(seconds * 1e9), cpu = cpu_ns();
	static const struct gtu_hw_desc nops[DEPTH];
	struct gtu_completion c;
	uint64_t sent = 0, got = 0;
	double took;
	int rc = 0;

	while (!rc && (!sent || gtu_now_ns() < end)) {
		rc = gtu_submit_batch(b->q, nops, batch, NULL, err);
		sent += batch;
		while (!rc && sent - got > depth - batch) {
			rc = gtu_next(b->q, GTU_FOREVER, &c, err);
			got++;
		}
	}
	while (!rc && got < sent) {
		rc = gtu_next(b->q, GTU_FOREVER, &c, err);
		got++;
	}
	took = (double)(gtu_now_ns() - start) * 1e-9;
	r->batch = batch;
	r->depth = depth;
	r->jobs = (double)got / took;
	r->cpu_ns = (double)(cpu_ns() - cpu) / (double)(got ? got : 1);
	return rc ? rc : bench_tick("jobs per second", b->n_rates, 18, err);
}

static int rates(struct ioctl_bench *b, double seconds, struct gtu_error *err)
{
	unsigned n;
	int rc = 0;

	for (n = 1; n <= DEPTH && !rc; n *= 2)
		rc = rate_of(b, n, DEPTH, seconds / 18, err);
	for (n = 1; n <= DEPTH && !rc; n *= 2)
		rc = rate_of(b, 1, n, seconds / 18, err);
	return rc;
}

/* ---- Pinning ------------------------------------------------------------------------------------------------ */

static void unmap(const struct ioctl_bench *b, void *at)
{
	if (at)
		munmap(at, b->pin_bytes);
}

static int pin_once(struct ioctl_bench *b, void *at, struct pin_cost *p, struct gtu_error *err)
{
	struct gtu_ioctl_region_add add = {
		.size = sizeof(add), .addr = (uintptr_t)at, .length = b->pin_bytes, .rights = GTU_RIGHT_READ,
	};
	struct gtu_ioctl_region_remove rm = { .size = sizeof(rm) };
	uint64_t t0 = gtu_now_ns(), t1, t2;
	struct gtu_region region;
	int rc;

	/* on failure let the library make the same call: it has a message for each error */
	rc = raw_ioctl(&b->raw, GTU_IOCTL_REGION_ADD, &add, "region of user memory", err);
	if (rc)
		return gtu_region_add(b->dev, at, b->pin_bytes, GTU_READ, &region, err) ?: rc;
	t1 = gtu_now_ns();
	rm.key = add.key;
	rc = raw_ioctl(&b->raw, GTU_IOCTL_REGION_REMOVE, &rm, "REGION_REMOVE", err);
	t2 = gtu_now_ns();
	if (!p->pin || (double)(t1 - t0) < p->pin)
		p->pin = (double)(t1 - t0);
	if (!p->unpin || (double)(t2 - t1) < p->unpin)
		p->unpin = (double)(t2 - t1);
	return rc;
}

/* Pin and copy the same pages five times; keep the shortest times. */
static int pin_kind(struct ioctl_bench *b, unsigned kind, struct gtu_error *err)
{
	static const char *const name[IOCTL_PINS] = { "4 KiB", "transparent huge", "hugetlb" };
	const double scale = GIB / (double)b->pin_bytes * 1e-9;
	struct pin_cost *p = &b->pin[b->n_pins++];
	void *from, *to = NULL;
	uint64_t start;
	unsigned i;
	int rc = 0;

	p->pages = name[kind];
	if (!b->kernel) {
		snprintf(p->unsupported, sizeof(p->unsupported), "%s reaches all memory of this process: nothing is pinned",
			 b->device);
		return 0;
	}
	from = bench_pages(b->pin_bytes, kind, p->unsupported);
	if (from && !p->unsupported[0])
		to = bench_pages(b->pin_bytes, kind, p->unsupported);
	for (i = 0; i < 5 && !rc && to; i++) {
		rc = pin_once(b, from, p, err);
		start = gtu_now_ns();
		memcpy(to, from, b->pin_bytes);
		if (!p->copy || (double)(gtu_now_ns() - start) < p->copy)
			p->copy = (double)(gtu_now_ns() - start);
		if (!rc)
			rc = bench_tick("pinning", kind * 5 + i, IOCTL_PINS * 5, err);
	}
	p->pin *= scale;
	p->unpin *= scale;
	p->copy *= scale;
	unmap(b, from);
	unmap(b, to);
	return bench_unsupported(rc, p->unsupported, err);
}

/* ---- The benchmark ------------------------------------------------------------------------------------------------- */

int ioctl_bench_run(struct ioctl_bench *b, struct gtu_error *err)
{
	const struct gtu_queue_options opt = { .sq_log2 = 8, .cq_log2 = 9 };
	const uint64_t start = gtu_now_ns();
	unsigned i;
	int rc;

	b->raw.fd = -1;
	b->kernel = b->device[0] == '/';
	rc = gtu_open(b->device, &b->dev, err);
	if (!rc)
		gtu_set_timeout(b->dev, WAIT_MS * 1000000ull);
	if (!rc)
		rc = gtu_queue_create(b->dev, &opt, &b->q, err);
	if (!rc && b->kernel)
		rc = raw_open(&b->raw, b->device, err);
	b->iommu = bench_iommu(b->device);
	for (i = 0; i < OPERATIONS + ioctl_calls_count && !rc; i++)
		rc = measure(b, i < OPERATIONS ? &operations[i] : &ioctl_calls[i - OPERATIONS],
			     b->seconds * .4 / (OPERATIONS + ioctl_calls_count), err);
	if (!rc)
		rc = costs(b, b->seconds * .15, err);
	if (!rc)
		rc = rates(b, b->seconds * .15, err);
	if (!rc)
		rc = bench_scales(b, b->seconds * .1, err);
	if (!rc)
		rc = bench_wakeups(b, b->seconds * .1, err);
	if (!rc)
		rc = bench_regions(b, b->seconds * .1, err);
	for (i = 0; i < IOCTL_PINS && !rc; i++)
		rc = pin_kind(b, i, err);
	b->took = (double)(gtu_now_ns() - start) * 1e-9;
	return rc;
}

void ioctl_bench_free(struct ioctl_bench *b)
{
	unsigned i;

	for (i = 0; i < b->n_series; i++)
		free(b->series[i].ns);
	if (b->raw.fd >= 0)
		raw_close(&b->raw);
	gtu_queue_destroy(b->q);
	gtu_close(b->dev);
}

double ioctl_bench_doorbell_share(const struct ioctl_bench *b)
{
	double doorbell = 0, ioctl = 0;
	unsigned i;

	for (i = 0; i < b->n_costs; i++) {
		const struct submit_cost *c = &b->cost[i];

		if (c->unsupported[0])
			continue;
		if (!strcmp(c->path, "doorbell") && c->batch == 32)
			doorbell = c->cpu_ns;
		if (!strcmp(c->path, "ioctl") && c->batch == 1)
			ioctl = c->cpu_ns;
	}
	return doorbell && ioctl ? doorbell / ioctl : 0;
}
