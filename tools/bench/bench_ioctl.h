/* SPDX-License-Identifier: MIT */
/*
 * gtu bench ioctl: measures the cost of the path to the device. bench_ioctl.c has the measurements,
 * bench_ioctl_calls.c one operation per ioctl, bench_ioctl_load.c threads, regions by size and
 * wake-ups. bench_raw.c drives queues without the library, bench_ioctl_show.c prints tables and JSON.
 */
#ifndef GTU_BENCH_IOCTL_H
#define GTU_BENCH_IOCTL_H

#include <stdio.h>
#include <stdbool.h>
#include <stdint.h>

#include "gtu/gtu.h"

/* ---- Queues of the driver, used without the library (bench_raw.c) -------------------------------- */

/* An open device file, and the number of system calls made for it. */
struct raw_device {
	const char *path;
	int fd;
	uint64_t calls;
};

struct raw_queue {
	struct raw_device *device;
	uint32_t id, sq_log2, cq_log2, tail, head;
	bool checked;			/* GTU_QUEUE_SUBMIT: jobs go in by ioctl */
	struct gtu_hw_desc *sq;
	struct gtu_hw_cpl *cq;
	volatile uint32_t *doorbell;
	uint64_t sq_bytes, cq_bytes, db_bytes;
};

int raw_open(struct raw_device *d, const char *path, struct gtu_error *err);
void raw_close(struct raw_device *d);
/* These functions count their system calls; errors are GTU_ERR_* with a message. */
int raw_ioctl(struct raw_device *d, unsigned long request, void *arg, const char *what, struct gtu_error *err);
int raw_queue_create(struct raw_device *d, bool checked, struct raw_queue *q, struct gtu_error *err);
void raw_queue_destroy(struct raw_queue *q);
/* Submit @n NOPs by doorbell, or by ioctl(SUBMIT) for a checked queue. */
int raw_submit(struct raw_queue *q, unsigned n, struct gtu_error *err);
/* Poll memory for the next completion; GTU_ERR_TIMEOUT after 10 s. */
int raw_spin(struct raw_queue *q, struct gtu_error *err);
bool raw_ready(const struct raw_queue *q);
/* SUBMIT of one NOP with @flags to a checked queue. */
int raw_submit_flags(struct raw_queue *q, uint32_t flags, struct gtu_error *err);
void raw_arm(struct raw_queue *q);

/* ---- Results ------------------------------------------------------------------------------- */

#define IOCTL_SAMPLES	20000u
#define IOCTL_BUCKETS	64u		/* bucket i: 2^i to 2^(i + 1) - 1 ns */

struct ioctl_bench;

/* State of one operation; prepare() sets it up. */
struct work {
	struct ioctl_bench *b;
	struct raw_queue q, other;
	int eventfd, dmabuf;
	uint64_t buffer;		/* offset for mmap */
	uint32_t key;
	void *page;
};

struct operation {
	const char *name, *what;
	bool kernel;			/* needs a driver */
	int (*prepare)(struct work *w, struct gtu_error *err);	/* may be NULL */
	int (*once)(struct work *w, struct gtu_error *err);
	int (*after)(struct work *w, struct gtu_error *err);	/* untimed clean-up; may be NULL */
	int (*before)(struct work *w, struct gtu_error *err);	/* untimed; may be NULL */
};

/* The ioctls that no other operation measures (bench_ioctl_calls.c). */
extern const struct operation ioctl_calls[];
extern const unsigned ioctl_calls_count;

int work_plain_queue(struct work *w, struct gtu_error *err);
int work_checked_queue(struct work *w, struct gtu_error *err);
int work_buffer(struct work *w, struct gtu_error *err);
/* Remove the region w->key, if any. */
int work_remove(struct work *w, struct gtu_error *err);
int work_spin(struct work *w, struct gtu_error *err);

/* The durations of one repeated operation. */
struct series {
	const char *name, *what;
	char unsupported[GTU_ERROR_TEXT];	/* why the case is unsupported; "" if it ran */
	unsigned n;
	uint64_t *ns;			/* [IOCTL_SAMPLES], sorted at the end */
	double calls;			/* system calls per operation */
};

/* CPU time of submission. */
struct submit_cost {
	const char *path;		/* "doorbell", "ioctl" */
	unsigned batch;
	char unsupported[GTU_ERROR_TEXT];
	bool mean;			/* of all rings, because the kernel counts ticks; else their median */
	double cpu_ns, calls;		/* per job */
};

struct rate {
	unsigned batch, depth;
	double jobs, cpu_ns;		/* jobs per second; CPU time of the thread per job */
};

/* Jobs per second of several threads, contexts and queues. */
struct scale {
	unsigned threads, contexts, queues;	/* in all */
	double jobs;			/* per second */
};

/* REGION_ADD and REGION_REMOVE of one size. */
struct region_cost {
	uint64_t bytes;
	unsigned page_bytes;		/* 4 KiB or 2 MiB */
	bool load;			/* while another queue runs jobs */
	char unsupported[GTU_ERROR_TEXT];
	double add_ns, remove_ns;	/* medians */
};

/* Interrupts and wake-ups, per second; negative: unknown. */
struct wakeups {
	char unsupported[GTU_ERROR_TEXT];
	double jobs, interrupts;	/* one job after the other, each waited for by ioctl(WAIT) */
	double idle_interrupts;		/* while nothing runs */
	double idle_wait;		/* wake-ups of a thread that has been in ioctl(WAIT) without a job for 2 s */
};

struct pin_cost {
	const char *pages;
	char unsupported[GTU_ERROR_TEXT];
	double pin, unpin, copy;	/* seconds per GiB */
};

#define IOCTL_SERIES	48
#define IOCTL_COSTS	8
#define IOCTL_RATES	32
#define IOCTL_PINS	3
#define IOCTL_SCALES	16
#define IOCTL_REGIONS	32

struct ioctl_bench {
	const char *device;
	bool kernel;			/* the device has a driver */
	double seconds;			/* total time, approximately */
	uint64_t pin_bytes;
	struct raw_device raw;
	struct gtu_device *dev;
	struct gtu_queue *q;
	struct series series[IOCTL_SERIES];
	struct submit_cost cost[IOCTL_COSTS];
	struct rate rate[IOCTL_RATES];
	struct pin_cost pin[IOCTL_PINS];
	struct scale scale[IOCTL_SCALES];
	struct region_cost region[IOCTL_REGIONS];
	struct wakeups wakeups;
	unsigned n_series, n_costs, n_rates, n_pins, n_scales, n_regions;
	const char *iommu;		/* "off", "strict", "lazy", "passthrough", or "unknown" */
	double took;
};

/* Report progress; GTU_ERR_INTERRUPTED if the user has interrupted. */
int bench_tick(const char *what, unsigned done, unsigned total, struct gtu_error *err);
/* Record an unsupported case in @text and return 0; any other error ends the benchmark. */
int bench_unsupported(int rc, char *text, const struct gtu_error *err);
/*
 * Allocate and touch @bytes of memory of one kind of page: 0: 4 KiB, 1: transparent huge, 2: hugetlb.
 * NULL with a message in @why; release by munmap().
 */
void *bench_pages(uint64_t bytes, unsigned kind, char *why);

/* bench_ioctl_load.c */
int bench_scales(struct ioctl_bench *b, double seconds, struct gtu_error *err);
int bench_regions(struct ioctl_bench *b, double seconds, struct gtu_error *err);
int bench_wakeups(struct ioctl_bench *b, double seconds, struct gtu_error *err);
/* How the machine's IOMMU invalidates for the device; see struct ioctl_bench. */
const char *bench_iommu(const char *device);

int ioctl_bench_run(struct ioctl_bench *b, struct gtu_error *err);
void ioctl_bench_free(struct ioctl_bench *b);
void ioctl_bench_print(const struct ioctl_bench *b);
/* For bench_write(): @subject is a struct ioctl_bench. */
void ioctl_bench_json(const void *subject, FILE *to);
/* CPU time of doorbells in batches of 32 as a share of one ioctl per job; 0: not measured. */
double ioctl_bench_doorbell_share(const struct ioctl_bench *b);

#endif
