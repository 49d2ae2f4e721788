/* SPDX-License-Identifier: MIT */
/*
 * gtu bench ioctl: what the way to the device costs. bench_ioctl.c has the measurements, bench_door.c the
 * queues that they drive past the library, bench_ioctl_show.c the tables and JSON.
 */
#ifndef GTU_BENCH_IOCTL_H
#define GTU_BENCH_IOCTL_H

#include <stdio.h>
#include <stdbool.h>
#include <stdint.h>

#include "gtu/gtu.h"

/* ---- Queues of the driver's, driven by hand (bench_door.c) --------------------------------------- */

/* An open device file, and the system calls that were made on its behalf. */
struct door {
	const char *path;
	int fd;
	uint64_t calls;
};

struct door_queue {
	struct door *door;
	uint32_t id, sq_log2, cq_log2, tail, head;
	bool checked;			/* GTU_QUEUE_SUBMIT: jobs go in by ioctl */
	struct gtu_hw_desc *sq;
	struct gtu_hw_cpl *cq;
	volatile uint32_t *bell;
	uint64_t sq_bytes, cq_bytes, db_bytes;
};

int door_open(struct door *d, const char *path, struct gtu_error *err);
void door_close(struct door *d);
/* Each of these counts the system calls it makes; errors are GTU_ERR_* with a sentence. */
int door_ioctl(struct door *d, unsigned long request, void *arg, const char *what, struct gtu_error *err);
int door_queue_create(struct door *d, bool checked, struct door_queue *q, struct gtu_error *err);
void door_queue_destroy(struct door_queue *q);
/* @n NOPs by doorbell, or by ioctl(SUBMIT). */
int door_submit(struct door_queue *q, unsigned n, struct gtu_error *err);
/* The next completion, by looking at memory; GTU_ERR_TIMEOUT after 10 s. */
int door_spin(struct door_queue *q, struct gtu_error *err);
bool door_there(const struct door_queue *q);
void door_arm(struct door_queue *q);

/* ---- What is measured ------------------------------------------------------------------------------- */

#define IOCTL_SAMPLES	20000u
#define IOCTL_BUCKETS	64u		/* powers of two nanoseconds */

/* How long one thing takes, many times. */
struct series {
	const char *name, *what;
	char lacking[GTU_ERROR_TEXT];	/* why there is nothing */
	unsigned n;
	uint64_t *ns;			/* [IOCTL_SAMPLES], sorted in the end */
	double calls;			/* system calls each time */
};

/* CPU time of submitting. */
struct submit_cost {
	const char *path;		/* "doorbell", "ioctl" */
	unsigned batch;
	char lacking[GTU_ERROR_TEXT];
	double cpu_ns, calls;		/* a job */
};

struct rate {
	unsigned batch, depth;
	double jobs, cpu_ns;		/* a second; a job, of all the thread does */
};

struct pin_cost {
	const char *pages;
	char lacking[GTU_ERROR_TEXT];
	double pin, unpin, copy;	/* seconds a GiB */
};

#define IOCTL_SERIES	16
#define IOCTL_COSTS	8
#define IOCTL_RATES	32
#define IOCTL_PINS	3

struct ioctl_bench {
	const char *device;
	bool kernel;			/* behind a driver */
	double seconds;			/* for all of it, about */
	uint64_t pin_bytes;
	struct door door;
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
/* Submitting by doorbell in batches of 32, as a share of one job an ioctl; 0: not measured. */
double ioctl_bench_doorbell_share(const struct ioctl_bench *b);

#endif
