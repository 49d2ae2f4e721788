/* SPDX-License-Identifier: MIT */
/*
 * Helpers for the driver tests: a context, queues and jobs directly on the UAPI, without the
 * library.
 */
#ifndef GTU_UTIL_H
#define GTU_UTIL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "uapi/gtu/hw.h"
#include "uapi/gtu/gtu.h"

#include "kselftest_harness.h"

#define SECOND		1000000000ull
#define NO_JOB		((struct gtu_hw_desc){ 0 })
#define RW		(GTU_RIGHT_READ | GTU_RIGHT_WRITE)
#define PAGE		4096u

static inline const char *device_path(void)
{
	return getenv("GTU_DEVICE") ?: "/dev/gtu0";
}

/* Return the name in the device path, for example gtu0. */
static inline const char *device_name(void)
{
	return strrchr(device_path(), '/') + 1;
}

/* For fixtures: open the device. A missing device skips the test, unless GTU_DEVICE is set. */
#define OPEN_OR_SKIP(fd)                                                                           \
	do {                                                                                       \
		(fd) = open(device_path(), O_RDWR | O_CLOEXEC);                                    \
		if ((fd) < 0 && errno == ENOENT && !getenv("GTU_DEVICE"))                          \
			SKIP(return, "no %s: modprobe gtu, or set GTU_DEVICE", device_path());     \
		ASSERT_GE(fd, 0) {                                                                 \
			TH_LOG("%s: %s", device_path(), strerror(errno));                          \
		}                                                                                  \
	} while (0)

/* Skip the test unless GTU_FAULT names the fault that the device injects; @plan of tests/guest. */
#define NEEDS_FAULT(kind, plan)                                                                    \
	do {                                                                                       \
		if (!getenv("GTU_FAULT") || strcmp(getenv("GTU_FAULT"), kind))                     \
			SKIP(return, "needs a device with this injected fault and GTU_FAULT=%s, "  \
				     "as in the guest plan %s", kind, plan);                       \
	} while (0)

#define NEEDS_ROOT                                                                                 \
	do {                                                                                       \
		if (geteuid())                                                                     \
			SKIP(return, "needs root");                                                \
	} while (0)

/* Skip the test unless the device of self->fd has these capabilities. */
#define NEEDS(cap)                                                                                 \
	do {                                                                                       \
		struct gtu_ioctl_info info_ = { .size = sizeof(info_) };                           \
                                                                                                   \
		ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info_));                              \
		if ((info_.caps & (cap)) != (cap))                                                 \
			SKIP(return, "the device has no " #cap);                                   \
	} while (0)

/* Skip the test unless the device of self->fd has this unit. */
#define NEEDS_UNIT(unit)                                                                           \
	do {                                                                                       \
		struct gtu_ioctl_info info_ = { .size = sizeof(info_) };                           \
                                                                                                   \
		ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info_));                              \
		if (!(info_.units & GTU_UNIT_##unit))                                              \
			SKIP(return, "the device has no " #unit);                                  \
	} while (0)

/* Store the path of the file that resets the device's function, or skip the test. */
#define NEEDS_RESET(path)                                                                          \
	do {                                                                                       \
		char function_[64];                                                                \
                                                                                                   \
		ASSERT_EQ(0, bus_function(device_path(), function_));                              \
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", function_);          \
		if (access(path, W_OK))                                                            \
			SKIP(return, "needs a function reset: %s is not writable", path);          \
	} while (0)

/* For fixtures: the end of the test's process closes its files and unmaps its memory. */
#define NO_TEARDOWN(fixture)                                                                       \
	FIXTURE_TEARDOWN(fixture)                                                                  \
	{                                                                                          \
	}                                                                                          \
	_Static_assert(1, "")

/* A fixture that is only the open device, @fd. */
#define DEVICE_FIXTURE(name)                                                                       \
	FIXTURE(name)                                                                              \
	{                                                                                          \
		int fd;                                                                            \
	};                                                                                         \
	FIXTURE_SETUP(name)                                                                        \
	{                                                                                          \
		OPEN_OR_SKIP(self->fd);                                                            \
	}                                                                                          \
	NO_TEARDOWN(name)

static inline uint64_t now_ns(void)
{
	struct timespec t;

	/* a clock that only the kernel can read fails once under fault injection */
	while (clock_gettime(CLOCK_MONOTONIC, &t))
		;
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Return the number in environment variable @name, or @otherwise if it is unset. */
static inline unsigned long setting(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

/* A signal handler: the signal interrupts a sleep. */
static inline void nothing(int sig)
{
	(void)sig;
}

/*
 * Send SIGALRM every @us microseconds, with @flags of sigaction(); 0: no more. Repeatedly, because a
 * signal before a sleep does not interrupt it.
 */
static inline void signal_every(long us, int flags)
{
	const struct sigaction act = { .sa_handler = nothing, .sa_flags = flags };
	const struct itimerval t = { .it_interval.tv_usec = us, .it_value.tv_usec = us };

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

/* Call an ioctl. Return 0 or the errno. */
static inline int call(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static inline int region_add(int fd, void *addr, uint64_t length, uint32_t rights, uint32_t *key)
{
	struct gtu_ioctl_region_add a = {
		.size = sizeof(a), .addr = (uintptr_t)addr, .length = length, .rights = rights};
	int ret = call(fd, GTU_IOCTL_REGION_ADD, &a);

	*key = a.key;
	return ret;
}

static inline int region_remove(int fd, uint32_t key)
{
	struct gtu_ioctl_region_remove a = { .size = sizeof(a), .key = key };

	return call(fd, GTU_IOCTL_REGION_REMOVE, &a);
}

/* @flags: 0 or GTU_BUFFER_APERTURE. */
static inline int alloc_in(int fd, uint32_t flags, uint64_t length, uint32_t rights, uint32_t *key,
			   uint64_t *offset)
{
	struct gtu_ioctl_buffer_alloc a = { .size = sizeof(a), .flags = flags, .length = length,
					    .rights = rights };
	int ret = call(fd, GTU_IOCTL_BUFFER_ALLOC, &a);

	*key = a.key;
	*offset = a.mmap_offset;
	return ret;
}

static inline int buffer_alloc(int fd, uint64_t length, uint32_t *key, uint64_t *offset)
{
	return alloc_in(fd, 0, length, RW, key, offset);
}

static inline int import(int fd, int dmabuf, uint32_t rights, uint32_t *key, uint64_t *length)
{
	struct gtu_ioctl_region_import a = { .size = sizeof(a), .fd = dmabuf, .rights = rights };
	int ret = call(fd, GTU_IOCTL_REGION_IMPORT, &a);

	*key = a.key;
	*length = a.length;
	return ret;
}

static inline void *map_shared(int fd, uint64_t offset, size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
}

/* Map @bytes of private memory, or end the test. */
static inline void *pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("pages");
		abort();
	}
	return p;
}

/*
 * Return the KiB of a line of /proc/self/status, for example VmPin, or -1. The file stays open so
 * that a process can call this after it drops privileges.
 */
static inline long status_kib(const char *name)
{
	static int fd = -1;
	static pid_t whose;
	char text[4096], *line;
	ssize_t n;

	if (whose != getpid()) {
		fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
		whose = getpid();
	}
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n < 0 ? 0 : n] = 0;
	line = strstr(text, name);
	return line ? atol(line + strlen(name) + 1) : -1;
}

static inline int write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ret;

	if (fd < 0)
		return errno;
	ret = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return ret;
}

/* Read a file into @text, terminated by 0 and truncated to @bytes. Return its length or -errno. */
static inline ssize_t read_from(const char *path, char *text, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = 1;

	text[0] = 0;
	if (fd < 0)
		return -errno;
	while (n < bytes - 1 && (got = read(fd, text + n, bytes - 1 - n)) > 0)
		n += (size_t)got;
	if (got < 0)
		got = -errno;
	close(fd);
	text[n] = 0;
	return got < 0 ? got : (ssize_t)n;
}

/*
 * Return once thread or child @task waits in a system call, or has ended. Unlike a pause, this is certain on a slow machine,
 * too. Where /proc does not say it, return after 100 ms.
 */
static inline void until_in_call(pid_t task)
{
	char path[64], text[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)task);
	/* otherwise "running", or -1 in a page fault */
	while ((n = read_from(path, text, sizeof(text))) > 0 && (text[0] < '0' || text[0] > '9')) {
		if (!strncmp(text, "-1 0x0 0x0", 10))
			return;		/* a child that has ended */
		usleep(500);
	}
	if (n == -EACCES || n == -EPERM || (n == -ENOENT && access("/proc/self/syscall", F_OK)))
		usleep(100000);
}

struct thread_start {
	void *(*run)(void *);
	void *arg;
	pid_t id;
};

static inline void *thread_runs(void *arg)
{
	struct thread_start *s = arg, copy = *s;

	__atomic_store_n(&s->id, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	return copy.run(copy.arg);
}

/* Start a thread, and return once it waits in its first system call. */
static inline void start_call(pthread_t *thread, void *(*run)(void *), void *arg)
{
	struct thread_start s = { .run = run, .arg = arg };
	pid_t id;

	if (pthread_create(thread, NULL, thread_runs, &s)) {
		perror("start_call");
		abort();
	}
	while (!(id = __atomic_load_n(&s.id, __ATOMIC_ACQUIRE)))
		usleep(100);
	until_in_call(id);
}

/* Return the driver's interrupt count, summed over all CPUs. */
static inline long interrupts(void)
{
	char line[1024], *at, *end;
	long sum = 0, n;
	FILE *f = fopen("/proc/interrupts", "r");

	while (f && fgets(line, sizeof(line), f)) {
		at = strchr(line, ':');
		if (!at || !strstr(line, " gtu\n"))
			continue;
		for (at++; n = strtol(at, &end, 10), end != at; at = end)
			sum += n;
	}
	if (f)
		fclose(f);
	return sum;
}

/* Store the bus name of the device at @path in @name (64 bytes). Return 0 or an errno. */
static inline int bus_function(const char *path, char *name)
{
	char at[128], link[512], *last;
	ssize_t n;

	snprintf(at, sizeof(at), "/sys/class/gtu/%.60s/device", strrchr(path, '/') + 1);
	n = readlink(at, link, sizeof(link) - 1);
	if (n < 0)
		return errno;
	link[n] = 0;
	last = strrchr(link, '/');
	snprintf(name, 64, "%.60s", last ? last + 1 : link);
	return 0;
}

/* Whether an IOMMU translates a function's addresses. */
static inline bool is_translated(const char *function)
{
	char path[128], type[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/iommu_group/type", function);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(type, sizeof(type), f))
		type[0] = 0;
	fclose(f);
	return !strncmp(type, "DMA", 3);
}

/*
 * Store the path of driver file @what in @path (128 bytes). The bus is PCI or platform, depending
 * on @function.
 */
static inline void driver_path(const char *function, const char *what, char *path)
{
	char pci[128];

	snprintf(pci, sizeof(pci), "/sys/bus/pci/devices/%.60s", function);
	snprintf(path, 128, "/sys/bus/%s/drivers/gtu/%.20s", access(pci, F_OK) ? "platform" : "pci",
		 what);
}

/* Write @function to the driver file @what: "bind" or "unbind". */
static inline int driver_file(const char *function, const char *what)
{
	char path[128];

	driver_path(function, what, path);
	return write_to(path, function);
}

/*
 * The command register of a PCI function, of which @clear is cleared first. Return 0 for a device
 * of another bus.
 */
#define PCI_MEMORY	2u
#define PCI_MASTER	4u
static inline uint16_t pci_command(const char *function, uint16_t clear)
{
	uint16_t command = 0, cleared;
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.60s/config", function);
	fd = open(path, clear ? O_RDWR : O_RDONLY);
	if (fd < 0)
		return 0;
	if (pread(fd, &command, 2, 4) != 2)
		command = 0;
	cleared = command & (uint16_t)~clear;
	if (clear && pwrite(fd, &cleared, 2, 4) == 2)
		command = cleared;
	close(fd);
	return command;
}

/* Open the device within 2 s after it was bound or reset. Return the file or -1. */
static inline int reopen(void)
{
	int fd = -1, i;

	for (i = 0; i < 100 && fd < 0; i++) {
		fd = open(device_path(), O_RDWR | O_CLOEXEC);
		if (fd < 0)
			usleep(20000);
	}
	return fd;
}

/* Return the value of a device register. ~0: it cannot be read. */
static inline uint64_t reg_read(int fd, uint32_t offset)
{
	struct gtu_ioctl_reg r = { .size = sizeof(r), .offset = offset };

	return call(fd, GTU_IOCTL_REG_READ, &r) ? ~0ull : r.value;
}

/* Return the value of a key in fdinfo of @fd. ~0: it has no such key. */
static inline uint64_t fdinfo(int fd, const char *key)
{
	char path[64], text[2048], *line;
	unsigned long long value;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (read_from(path, text, sizeof(text)) < 0)
		return ~0ull;
	line = strstr(text, key);
	if (!line || sscanf(line + strlen(key), ":\t%llu", &value) != 1)
		return ~0ull;
	return value;
}

/* Return the path of an existing state dump of any device, or NULL. */
static inline const char *dump_file(void)
{
	static char path[400];
	DIR *dir = opendir("/sys/class/devcoredump");
	struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir))) {
		found = !strncmp(e->d_name, "devcd", 5);
		snprintf(path, sizeof(path), "/sys/class/devcoredump/%s/data", e->d_name);
	}
	if (dir)
		closedir(dir);
	return found ? path : NULL;
}

/* Open the kernel's log at its end. Return -1 without the right to read it. */
static inline int kernel_log(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (log >= 0)
		lseek(log, 0, SEEK_END);
	return log;
}

/* Count the new lines of the kernel's log that contain @text. */
static inline unsigned int logged(int log, const char *text)
{
	char line[1024];
	unsigned int n = 0;
	ssize_t got;

	while ((got = read(log, line, sizeof(line) - 1)) > 0 || (got < 0 && errno == EPIPE)) {
		line[got > 0 ? got : 0] = 0;
		n += !!strstr(line, text);
	}
	return n;
}

/*
 * ---- Queues -------------------------------------------------------------------------------------
 */

struct queue {
	int fd;
	struct gtu_ioctl_queue_create c;
	struct gtu_hw_desc *sq;
	const struct gtu_hw_cpl *cq;
	const struct gtu_hw_queue_status *status;
	volatile uint8_t *db;
	uint32_t submitted, consumed;
};

/* @flags: 0 or GTU_QUEUE_SUBMIT, whose completions alone are mapped. */
static inline int queue_create_as(int fd, uint32_t flags, uint32_t sq_log2, uint32_t cq_log2,
				  struct queue *q)
{
	int ret;

	memset(q, 0, sizeof(*q));
	q->fd = fd;
	q->c.size = sizeof(q->c);
	q->c.flags = flags;
	q->c.sq_log2 = sq_log2;
	q->c.cq_log2 = cq_log2;
	ret = call(fd, GTU_IOCTL_QUEUE_CREATE, &q->c);
	if (ret)
		return ret;
	q->cq = mmap(NULL, q->c.cq_bytes, PROT_READ, MAP_SHARED, fd, (off_t)q->c.cq_offset);
	if (q->cq == MAP_FAILED)
		return errno;
	q->status = (const void *)(q->cq + (1ul << cq_log2));
	if (flags & GTU_QUEUE_SUBMIT)
		return 0;
	q->sq = map_shared(fd, q->c.sq_offset, q->c.sq_bytes);
	q->db = mmap(NULL, q->c.db_bytes, PROT_WRITE, MAP_SHARED, fd, (off_t)q->c.db_offset);
	return q->sq == MAP_FAILED || q->db == MAP_FAILED ? errno : 0;
}

static inline int queue_create(int fd, uint32_t sq_log2, uint32_t cq_log2, struct queue *q)
{
	return queue_create_as(fd, 0, sq_log2, cq_log2, q);
}

static inline void queue_unmap(struct queue *q)
{
	munmap(q->sq, q->c.sq_bytes);
	munmap((void *)q->cq, q->c.cq_bytes);
	munmap((void *)q->db, q->c.db_bytes);
}

static inline int queue_call(struct queue *q, unsigned long cmd)
{
	struct gtu_ioctl_queue a = { .size = sizeof(a), .id = q->c.id };
	int ret = call(q->fd, cmd, &a);

	if (!ret)
		q->submitted = q->consumed = 0;
	return ret;
}

static inline uint32_t queue_state(const struct queue *q)
{
	return __atomic_load_n(&q->status->state, __ATOMIC_ACQUIRE);
}

static inline void doorbell(struct queue *q, uint32_t tail, uint32_t head)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#if __SIZEOF_POINTER__ == 8
	*(volatile uint64_t *)(q->db + GTU_DB_SUBMIT) = tail | (uint64_t)head << 32;
#else
	*(volatile uint32_t *)(q->db + GTU_DB_SUBMIT) = tail;
	*(volatile uint32_t *)(q->db + GTU_DB_SUBMIT + 4) = head;
#endif
}

/* Write a descriptor to the ring without ringing the doorbell. Return the job's index. */
static inline uint32_t put(struct queue *q, const struct gtu_hw_desc *d)
{
	struct gtu_hw_desc *slot = &q->sq[q->submitted & ((1u << q->c.sq_log2) - 1)];

	*slot = *d;
	slot->cookie = 0x1000 + q->submitted;
	return q->submitted++;
}

static inline uint32_t submit(struct queue *q, const struct gtu_hw_desc *d)
{
	uint32_t index = put(q, d);

	doorbell(q, q->submitted, q->consumed);
	return index;
}

static inline bool completed(const struct queue *q, uint32_t index)
{
	const uint32_t size = 1u << q->c.cq_log2;

	return __atomic_load_n(&q->cq[index & (size - 1)].phase, __ATOMIC_ACQUIRE) ==
	       (index & size ? 0 : 1);
}

static inline int queue_wait(struct queue *q, uint32_t index, uint64_t deadline_ns)
{
	struct gtu_ioctl_wait w = { .size = sizeof(w), .id = q->c.id, .index = index,
				    .deadline_ns = deadline_ns };

	return call(q->fd, GTU_IOCTL_WAIT, &w);
}

/*
 * Poll the phase bit of the next completion. Return 0, ENODEV if the queue's mappings were replaced
 * by blank pages, even after a wait for this completion, or ETIMEDOUT after 10 s.
 */
static inline int take(struct queue *q, struct gtu_hw_cpl *out)
{
	const uint64_t end = now_ns() + 10 * SECOND;

	memset(out, 0, sizeof(*out));
	while (!completed(q, q->consumed)) {
		if (queue_state(q) == GTU_QUEUE_DISABLED && !completed(q, q->consumed))
			return ENODEV;
		if (now_ns() > end)
			return ETIMEDOUT;
	}
	*out = q->cq[q->consumed & ((1u << q->c.cq_log2) - 1)];
	q->consumed++;
	return 0;
}

/* Submit one job and wait for it. Return its completion status or -errno. */
static inline int run(struct queue *q, const struct gtu_hw_desc *d, struct gtu_hw_cpl *out)
{
	uint32_t index = submit(q, d);
	int ret = queue_wait(q, index, now_ns() + 10 * SECOND);

	if (!ret)
		ret = take(q, out);
	return ret ? -ret : out->status;
}

/* A thread that waits for a job. */
struct waiter {
	struct queue *q;
	uint32_t index;
	uint64_t deadline_ns, returned_ns;
	int ret;
	pthread_t thread;
};

static inline void *waiter_thread(void *arg)
{
	struct waiter *w = arg;

	w->ret = queue_wait(w->q, w->index, w->deadline_ns);
	w->returned_ns = now_ns();
	return NULL;
}

/* Wait in a thread. It waits already when this returns. */
static inline void start_waiter(struct waiter *w, struct queue *q, uint32_t index,
				uint64_t deadline_ns)
{
	*w = (struct waiter){ .q = q, .index = index, .deadline_ns = deadline_ns };
	start_call(&w->thread, waiter_thread, w);
}

/* Return what the wait returned. */
static inline int join_waiter(struct waiter *w)
{
	pthread_join(w->thread, NULL);
	return w->ret;
}

/* A REGION_REMOVE in a thread. */
struct removal {
	int fd, ret;
	uint32_t key;
};

static inline void *remove_region(void *arg)
{
	struct removal *r = arg;

	r->ret = region_remove(r->fd, r->key);
	return NULL;
}

/* SUBMIT to a queue with GTU_QUEUE_SUBMIT. Return 0 or the errno. */
static inline int submit_raw(struct queue *q, const void *descs, uint32_t n,
			     struct gtu_ioctl_submit *a)
{
	*a = (struct gtu_ioctl_submit){ .size = sizeof(*a), .id = q->c.id, .count = n,
					.descs = (uintptr_t)descs, .cq_head = q->consumed };
	return call(q->fd, GTU_IOCTL_SUBMIT, a);
}

/* SUBMIT one job that does nothing, with GTU_SUBMIT_* @flags. Return 0 or the errno. */
static inline int submit_one(struct queue *q, uint32_t flags, uint32_t *index)
{
	struct gtu_hw_desc d = NO_JOB;
	struct gtu_ioctl_submit a = { .size = sizeof(a), .flags = flags, .id = q->c.id, .count = 1,
				      .descs = (uintptr_t)&d, .cq_head = q->consumed };
	int ret = call(q->fd, GTU_IOCTL_SUBMIT, &a);

	*index = a.sq_index;
	return ret;
}

/* QUEUE_ARM for completion @index. Return 0 or the errno. */
static inline int queue_arm(struct queue *q, uint32_t index)
{
	struct gtu_ioctl_queue_arm a = { .size = sizeof(a), .id = q->c.id, .index = index };

	return call(q->fd, GTU_IOCTL_QUEUE_ARM, &a);
}

/* Build a COPY of @n elements of 2^@log2 bytes. */
static inline struct gtu_hw_desc copy_job(uint32_t from, uint64_t from_offset, uint32_t to,
					  uint64_t to_offset, uint32_t n, uint32_t log2)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_COPY, .param = log2 };

	d.operand[0] = (struct gtu_hw_operand){ from, n, from_offset };
	d.operand[1] = (struct gtu_hw_operand){ to, n, to_offset };
	return d;
}

/* Run that job. Return its completion status or -errno. */
static inline int run_copy(struct queue *q, uint32_t from, uint64_t from_offset, uint32_t to,
			   uint64_t to_offset, uint32_t n, uint32_t log2)
{
	struct gtu_hw_desc d = copy_job(from, from_offset, to, to_offset, n, log2);
	struct gtu_hw_cpl c;

	return run(q, &d, &c);
}

/* Fill the ring with copies of @bytes of a region to behind them: the device is busy for a while. */
static inline void submit_long(struct queue *q, uint32_t key, uint32_t bytes)
{
	struct gtu_hw_desc d = copy_job(key, 0, key, bytes, bytes, 0);

	while (q->submitted - q->consumed < 1u << q->c.sq_log2)
		put(q, &d);
	doorbell(q, q->submitted, q->consumed);
}

#endif
