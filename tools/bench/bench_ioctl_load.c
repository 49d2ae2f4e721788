// SPDX-License-Identifier: MIT
/*
 * gtu bench ioctl: jobs per second of several threads, contexts and queues; regions by size, idle and
 * under load; interrupts and wake-ups per second.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libruntime/device/backend.h"
#include "bench_ioctl.h"
#include "uapi/gtu/gtu.h"

#define IDLE_SETTLE_MS	2000
#define IDLE_MS		4000

#define BATCH		32u
#define THREADS_MAX	4u
#define QUEUES_MAX	4u		/* per thread */
#define SAMPLES_MAX	200u

/* ---- Threads ---------------------------------------------------------------------------------------- */

struct worker {
	struct raw_device device;	/* of its own, or a copy of a shared one: its counter is not shared */
	struct raw_queue q[QUEUES_MAX];
	unsigned queues;
	uint64_t jobs, took_ns;
	const bool *stop;
	pthread_t thread;
	struct gtu_error err;
	int rc;
};

/* Keep every queue busy with batches of NOPs until the end. */
static void *work_on(void *arg)
{
	struct worker *w = arg;
	uint64_t start;
	unsigned i, k;

	for (i = 0; i < w->queues && !w->rc; i++)
		w->rc = raw_queue_create(&w->device, false, &w->q[i], &w->err);
	start = gtu_now_ns();
	while (!w->rc && !__atomic_load_n(w->stop, __ATOMIC_RELAXED)) {
		for (i = 0; i < w->queues && !w->rc; i++)
			w->rc = raw_submit(&w->q[i], BATCH, &w->err);
		for (i = 0; i < w->queues; i++)
			for (k = 0; k < BATCH && !w->rc; k++, w->jobs++)
				w->rc = raw_spin(&w->q[i], &w->err);
	}
	w->took_ns = gtu_now_ns() - start;
	for (i = 0; i < w->queues; i++)
		raw_queue_destroy(&w->q[i]);
	return NULL;
}

/* @shared: all threads use the benchmark's context, else each one has its own. */
static int scale_of(struct ioctl_bench *b, unsigned threads, bool shared, unsigned queues, double seconds,
		    struct gtu_error *err)
{
	struct scale *s = &b->scale[b->n_scales++];
	struct worker *w = calloc(threads, sizeof(*w));
	bool stop = false;
	unsigned i, started = 0;
	int rc = w ? 0 : gtu_fail(err, GTU_ERR_NOMEM, "no memory for %u threads", threads);

	s->threads = threads;
	s->contexts = shared ? 1 : threads;
	s->queues = threads * queues;
	if (rc)
		return rc;
	for (i = 0; i < threads; i++) {
		w[i].device = b->raw;
		w[i].queues = queues;
		w[i].stop = &stop;
		if (!shared && !w[i].rc)
			w[i].rc = raw_open(&w[i].device, b->device, &w[i].err);
	}
	for (; started < threads; started++)
		if (pthread_create(&w[started].thread, NULL, work_on, &w[started]))
			break;
	if (started == threads)
		usleep((useconds_t)(seconds * 1e6));
	else
		rc = gtu_fail(err, GTU_ERR_NOMEM, "cannot create a thread");
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < started; i++) {
		pthread_join(w[i].thread, NULL);
		if (w[i].rc && !rc) {
			rc = w[i].rc;
			*err = w[i].err;
		}
		if (w[i].took_ns)
			s->jobs += (double)w[i].jobs / ((double)w[i].took_ns * 1e-9);
	}
	for (i = 0; i < threads && !shared; i++)
		raw_close(&w[i].device);
	free(w);
	return rc ? rc : bench_tick("threads", b->n_scales, 9, err);
}

int bench_scales(struct ioctl_bench *b, double seconds, struct gtu_error *err)
{
	static const struct { unsigned threads, queues; bool shared; } kind[] = {
		{ 1, 1, true }, { 1, 4, true }, { 2, 1, true }, { 2, 1, false }, { 2, 4, true }, { 2, 4, false },
		{ 4, 1, true }, { 4, 1, false }, { 4, 4, false },
	};
	const unsigned n = sizeof(kind) / sizeof(kind[0]);
	unsigned i;
	int rc = 0;

	for (i = 0; b->kernel && i < n && !rc; i++)
		rc = scale_of(b, kind[i].threads, kind[i].shared, kind[i].queues, seconds / n, err);
	/* a device without access checks has no queues with a doorbell */
	if (rc == GTU_ERR_UNSUPPORTED)
		rc = b->n_scales = 0;
	return rc;
}

/* ---- Regions by size ---------------------------------------------------------------------------------- */

void *bench_pages(uint64_t size, unsigned kind, char *why)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (kind == 2 ? MAP_HUGETLB : 0);
	const size_t huge = 2u << 20, bytes = size + (kind == 1 ? huge : 0);
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0), *first;

	if (at == MAP_FAILED) {
		snprintf(why, GTU_ERROR_TEXT, "cannot allocate %llu bytes: %s%s", (unsigned long long)size,
			 strerror(errno), kind == 2 ? " (as root: echo N > /proc/sys/vm/nr_hugepages)" : "");
		return NULL;
	}
	/* align the memory, so that all of it can be transparent huge pages */
	first = at;
	if (kind == 1) {
		first = (char *)(((uintptr_t)at + huge - 1) & ~(uintptr_t)(huge - 1));
		if (first > at)
			munmap(at, (size_t)(first - at));
		if (first < at + huge)
			munmap(first + size, (size_t)(at + huge - first));
	}
	if (kind < 2 && madvise(first, size, kind ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) && kind)
		snprintf(why, GTU_ERROR_TEXT, "this kernel does not support them: %s", strerror(errno));
	memset(first, 1, size);
	return first;
}

static int ascending(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int region_times(struct ioctl_bench *b, void *at, struct region_cost *r, uint64_t end, struct gtu_error *err)
{
	static uint64_t add_ns[SAMPLES_MAX], remove_ns[SAMPLES_MAX];
	struct gtu_ioctl_region_add add = {
		.size = sizeof(add), .addr = (uintptr_t)at, .length = r->bytes, .rights = GTU_RIGHT_READ,
	};
	struct gtu_ioctl_region_remove rm = { .size = sizeof(rm) };
	uint64_t t0, t1;
	unsigned n = 0;
	int rc = 0;

	while (!rc && n < SAMPLES_MAX && (n < 3 || gtu_now_ns() < end)) {
		t0 = gtu_now_ns();
		rc = raw_ioctl(&b->raw, GTU_IOCTL_REGION_ADD, &add, "REGION_ADD", err);
		t1 = gtu_now_ns();
		rm.key = add.key;
		if (!rc)
			rc = raw_ioctl(&b->raw, GTU_IOCTL_REGION_REMOVE, &rm, "REGION_REMOVE", err);
		add_ns[n] = t1 - t0;
		remove_ns[n++] = gtu_now_ns() - t1;
	}
	qsort(add_ns, n, sizeof(add_ns[0]), ascending);
	qsort(remove_ns, n, sizeof(remove_ns[0]), ascending);
	r->add_ns = (double)add_ns[n / 2];
	r->remove_ns = (double)remove_ns[n / 2];
	return rc;
}

static int region_of(struct ioctl_bench *b, uint64_t bytes, bool huge, bool load, double seconds, struct gtu_error *err)
{
	struct region_cost *r = &b->region[b->n_regions++];
	struct worker w = { .device = b->raw, .queues = 1 };
	bool stop = false;
	void *at;
	int rc = 0;

	*r = (struct region_cost){ .bytes = bytes, .page_bytes = huge ? 2u << 20 : 4096, .load = load };
	w.stop = &stop;
	at = bench_pages(bytes, huge, r->unsupported);
	if (at && !r->unsupported[0] && load && pthread_create(&w.thread, NULL, work_on, &w)) {
		munmap(at, bytes);
		return gtu_fail(err, GTU_ERR_NOMEM, "cannot create a thread");
	}
	if (at && !r->unsupported[0]) {
		rc = region_times(b, at, r, gtu_now_ns() + (uint64_t)(seconds * 1e9), err);
		__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
		if (load)
			pthread_join(w.thread, NULL);
		if (!rc && w.rc) {
			rc = w.rc;
			*err = w.err;
		}
	}
	if (at)
		munmap(at, bytes);
	rc = bench_unsupported(rc, r->unsupported, err);
	return rc ? rc : bench_tick("regions", b->n_regions, IOCTL_REGIONS, err);
}

int bench_regions(struct ioctl_bench *b, double seconds, struct gtu_error *err)
{
	static const uint64_t size[] = { 4096, 65536, 2u << 20, 64u << 20, 1u << 30 };
	unsigned i, huge, load;
	int rc = 0;

	for (i = 0; b->kernel && i < sizeof(size) / sizeof(size[0]) && size[i] <= b->pin_bytes; i++)
		for (huge = 0; huge < (size[i] < 2u << 20 ? 1 : 2); huge++)
			for (load = 0; load < 2 && !rc; load++)
				rc = region_of(b, size[i], huge, load, seconds / 16, err);
	return rc;
}

/* ---- Interrupts and wake-ups ---------------------------------------------------------------------------- */

/* Interrupts of the driver so far, of all CPUs; negative if the kernel does not say. */
static double interrupts(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	char *line = NULL, *at, *end;
	double sum = -1;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		if (!strstr(line, " gtu"))
			continue;
		at = strchr(line, ':');
		sum = sum < 0 ? 0 : sum;
		while (at && *++at) {
			sum += (double)strtoull(at, &end, 10);
			if (end == at)
				break;
			at = end - 1;
			if (at[1] != ' ')
				break;
		}
	}
	free(line);
	if (f)
		fclose(f);
	return sum;
}

/* Wait for completion @index; 0 also if it did not come within @ms. */
static int wait_for(struct raw_queue *q, uint32_t index, unsigned ms, struct gtu_error *err)
{
	struct gtu_ioctl_wait wait = {
		.size = sizeof(wait), .id = q->id, .index = index, .deadline_ns = gtu_now_ns() + ms * 1000000ull,
	};

	q->device->calls++;
	if (!ioctl(q->device->fd, GTU_IOCTL_WAIT, &wait) || errno == ETIMEDOUT)
		return 0;
	return gtu_fail(err, GTU_ERR_FAIL, "%s: WAIT: %s", q->device->path, strerror(errno));
}

/* One job after the other, each waited for by ioctl(WAIT). */
static int busy(struct wakeups *w, struct raw_queue *q, double seconds, struct gtu_error *err)
{
	const double before = interrupts();
	const uint64_t start = gtu_now_ns(), end = start + (uint64_t)(seconds * 1e9);
	uint64_t jobs = 0;
	double took;
	int rc = 0;

	while (!rc && gtu_now_ns() < end) {
		rc = raw_submit(q, 1, err);
		if (!rc)
			rc = wait_for(q, q->head, 10000, err);
		if (!rc)
			rc = raw_spin(q, err);
		jobs++;
	}
	took = (double)(gtu_now_ns() - start) * 1e-9;
	w->jobs = (double)jobs / took;
	w->interrupts = before < 0 ? -1 : (interrupts() - before) / took;
	return rc;
}

struct idle_waiter {
	struct raw_queue *q;
	pthread_t thread;
	pid_t tid;			/* written when it starts */
	int rc;
	struct gtu_error err;
};

static void *wait_idle(void *arg)
{
	struct idle_waiter *w = arg;

	__atomic_store_n(&w->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	w->rc = wait_for(w->q, w->q->head, IDLE_SETTLE_MS + IDLE_MS + 1000, &w->err);
	return NULL;
}

/* How often a thread of this process has slept, or negative if the kernel does not say. */
static double sleeps(pid_t tid)
{
	char path[64], line[128];
	double count = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f) && count < 0)
		sscanf(line, "voluntary_ctxt_switches: %lf", &count);
	if (f)
		fclose(f);
	return count;
}

/* A wait sleeps for longer and longer, up to a second: count what it does then. */
static int idle_wakeups(struct wakeups *result, struct raw_queue *q, struct gtu_error *err)
{
	struct idle_waiter w = { .q = q };
	double before, after;

	if (pthread_create(&w.thread, NULL, wait_idle, &w))
		return gtu_fail(err, GTU_ERR_NOMEM, "cannot create a thread");
	usleep(IDLE_SETTLE_MS * 1000);
	before = sleeps(__atomic_load_n(&w.tid, __ATOMIC_ACQUIRE));
	usleep(IDLE_MS * 1000);
	after = sleeps(w.tid);
	pthread_join(w.thread, NULL);
	*err = w.err;
	result->idle_wait = before < 0 || after < 0 ? -1 : (after - before) * 1e3 / IDLE_MS;
	return w.rc;
}

int bench_wakeups(struct ioctl_bench *b, double seconds, struct gtu_error *err)
{
	const unsigned ms = seconds < 1 ? 250 : (unsigned)(seconds * 250);
	struct wakeups *w = &b->wakeups;
	struct raw_queue q = { 0 };
	double count;
	int rc;

	if (!b->kernel) {
		snprintf(w->unsupported, sizeof(w->unsupported), "%s has no driver", b->device);
		return 0;
	}
	rc = raw_queue_create(&b->raw, false, &q, err);
	if (!rc)
		rc = busy(w, &q, seconds / 2, err);
	if (!rc) {
		count = interrupts();
		usleep(ms * 1000);
		w->idle_interrupts = count < 0 ? -1 : (interrupts() - count) * 1e3 / ms;
		rc = idle_wakeups(w, &q, err);
	}
	raw_queue_destroy(&q);
	rc = bench_unsupported(rc, w->unsupported, err);
	return rc ? rc : bench_tick("wake-ups", 1, 1, err);
}

/* ---- The IOMMU ------------------------------------------------------------------------------------------- */

const char *bench_iommu(const char *device)
{
	static const struct { const char *type, *name; } known[] = {
		{ "DMA", "strict" }, { "DMA-FQ", "lazy" }, { "identity", "passthrough" },
	};
	const char *base = strrchr(device, '/');
	char path[256], type[32] = "";
	unsigned i;
	FILE *f;

	if (!base)
		return "off";
	snprintf(path, sizeof(path), "/sys/class/gtu%.64s/device/iommu_group/type", base);
	f = fopen(path, "r");
	if (!f)
		return errno == ENOENT ? "off" : "unknown";
	if (fscanf(f, "%31s", type) != 1)
		type[0] = 0;
	fclose(f);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(type, known[i].type))
			return known[i].name;
	return "unknown";
}
