/* SPDX-License-Identifier: MIT */
/*
 * gtu bench ioctl: measures the cost of the path to the device. bench_ioctl.c has the measurements,
 * bench_raw.c drives queues without the library, bench_ioctl_show.c prints tables and JSON.
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
void raw_arm(struct raw_queue *q);

/* ---- Results ------------------------------------------------------------------------------- */

#define IOCTL_SAMPLES	20000u
#define IOCTL_BUCKETS	64u		/* bucket i: 2^i to 2^(i + 1) - 1 ns */

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
	double cpu_ns, calls;		/* per job */
};

struct rate {
	unsigned batch, depth;
	double jobs, cpu_ns;		/* jobs per second; CPU time of the thread per job */
};

struct pin_cost {
	const char *pages;
	char unsupported[GTU_ERROR_TEXT];
	double pin, unpin, copy;	/* seconds per GiB */
};

#define IOCTL_SERIES	16
#define IOCTL_COSTS	8
#define IOCTL_RATES	32
#define IOCTL_PINS	3

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
	unsigned n_series, n_costs, n_rates, n_pins;
	double took;
};

int ioctl_bench_run(struct ioctl_bench *b, struct gtu_error *err);
void ioctl_bench_free(struct ioctl_bench *b);
void ioctl_bench_print(const struct ioctl_bench *b);
/* For bench_write(): @subject is a struct ioctl_bench. */
void ioctl_bench_json(const void *subject, FILE *to);
/* CPU time of doorbells in batches of 32 as a share of one ioctl per job; 0: not measured. */
double ioctl_bench_doorbell_share(const struct ioctl_bench *b);

#endif
