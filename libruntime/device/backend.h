/* SPDX-License-Identifier: MIT */
/*
 * What a backend gives the runtime: one context on one device. The runtime fills rings and reads
 * completions itself (queue.c), the same way behind every door; a backend only sets up memory and
 * rings, passes doorbells and waits.
 */
#ifndef GTU_BACKEND_H
#define GTU_BACKEND_H

#include "gtu/gtu.h"
#include "uapi/gtu/hw.h"

struct gtu_device;
struct gtu_place_options;

/*
 * What a backend gives that runs whole algorithms over a graph it has placed (gtu/gpu.h), instead of
 * descriptors. The algorithms are called with a graph in bounds of its own type and options that are checked.
 */
struct gtu_traversal_ops {
	int (*place)(struct gtu_device *dev, const struct gtu_graph *g,
		     const struct gtu_place_options *opt, struct gtu_error *err);
	void (*unplace)(struct gtu_device *dev);
	int (*bfs)(struct gtu_device *dev, const struct gtu_algorithm_options *opt, uint64_t *level,
		   struct gtu_algorithm_stats *stats, struct gtu_error *err);
	int (*sssp)(struct gtu_device *dev, const struct gtu_algorithm_options *opt, double *distance,
		    struct gtu_algorithm_stats *stats, struct gtu_error *err);
	int (*pagerank)(struct gtu_device *dev, const struct gtu_algorithm_options *opt, double *rank,
			struct gtu_algorithm_stats *stats, struct gtu_error *err);
	int (*components)(struct gtu_device *dev, const struct gtu_algorithm_options *opt,
			  uint64_t *component, struct gtu_algorithm_stats *stats,
			  struct gtu_error *err);
};

/* A queue's rings as mapped into this process. */
struct gtu_rings {
	uint32_t id;			/* the backend's name for the queue */
	uint32_t sq_log2, cq_log2;
	struct gtu_hw_desc *sq;
	struct gtu_hw_cpl *cq;
	const struct gtu_hw_queue_status *status;
	/* The queue's doorbell page, where a plain store reaches the device; NULL: use ops->doorbell. */
	volatile void *doorbell;
	void *cookie;			/* the backend's own */
};

/* A record of a running stream that is waited for. */
struct gtu_record_wait {
	const gtu_le32 *producer;	/* of the stream's ring */
	uint32_t record;		/* number of the record; it is there when *producer is beyond it */
};

struct gtu_backend_ops {
	const char *name;		/* "model", "chardev", "cuda" */
	const struct gtu_traversal_ops *traversal; /* NULL: descriptors */
	/* @name is what gtu_open() was given. Sets dev->backend and dev->info, dev->fdt. */
	int (*open)(struct gtu_device *dev, const char *name, struct gtu_error *err);
	void (*close)(struct gtu_device *dev);
	/* Make @length bytes at @addr (8-byte aligned) reachable. rights: GTU_READ | GTU_WRITE. */
	int (*region_add)(struct gtu_device *dev, void *addr, uint64_t length, uint32_t rights,
			  uint32_t *key, struct gtu_error *err);
	int (*region_remove)(struct gtu_device *dev, uint32_t key, struct gtu_error *err);
	/* Memory the backend allocates (zeroed, page-aligned) and makes reachable, and its release. */
	int (*region_alloc)(struct gtu_device *dev, uint64_t length, uint32_t rights, void **addr,
			    uint32_t *key, struct gtu_error *err);
	int (*region_free)(struct gtu_device *dev, void *addr, uint64_t length, uint32_t key,
			   struct gtu_error *err);
	/* @rings holds the log2 sizes wanted; the rest is filled in. */
	int (*queue_create)(struct gtu_device *dev, struct gtu_rings *rings, struct gtu_error *err);
	void (*queue_destroy)(struct gtu_device *dev, struct gtu_rings *rings);
	int (*queue_reset)(struct gtu_device *dev, struct gtu_rings *rings, struct gtu_error *err);
	/* Write @value to the doorbell register @reg (GTU_DB_*). Only where rings->doorbell is NULL. */
	void (*doorbell)(struct gtu_device *dev, struct gtu_rings *rings, uint32_t reg, uint64_t value);
	/* All jobs before submission index @until end with GTU_CPL_CANCELED. */
	int (*cancel)(struct gtu_device *dev, struct gtu_rings *rings, uint32_t until, struct gtu_error *err);
	/*
	 * Let the device go on until completion index @cq_index (running freely) is there, the record of
	 * @stream (NULL: none) may be, the queue is in error, or @deadline_ns (CLOCK_MONOTONIC;
	 * UINT64_MAX: none) has passed. 0: look again; GTU_ERR_TIMEOUT, GTU_ERR_GONE, GTU_ERR_INTERRUPTED.
	 */
	int (*wait)(struct gtu_device *dev, struct gtu_rings *rings, uint32_t cq_index,
		    const struct gtu_record_wait *stream, uint64_t deadline_ns, struct gtu_error *err);
	/* Read a register of BAR0 (unit parameters, settings, counters after a snapshot). */
	int (*read)(struct gtu_device *dev, uint32_t offset, uint64_t *value, struct gtu_error *err);
	/* Write a unit's setting or control register; others are refused. */
	int (*write)(struct gtu_device *dev, uint32_t offset, uint32_t value, struct gtu_error *err);
};

extern const struct gtu_backend_ops gtu_backend_model;	/* backend_model.c */
extern const struct gtu_backend_ops gtu_backend_chardev; /* backend_chardev.c */
extern const struct gtu_backend_ops gtu_backend_cuda;	/* backend/cuda/backend.c */

struct gtu_device {
	const struct gtu_backend_ops *ops;
	void *backend;			/* the backend's own */
	struct gtu_info info;
	uint64_t patience_ns;		/* of waits without a deadline of their own; GTU_FOREVER */
	const struct gtu_graph *placed;	/* by gtu_place(); NULL: nothing */
	void *fdt;			/* malloc'ed copy, checked; NULL for a GPU */
	size_t fdt_bytes;
	const volatile unsigned char *ours; /* reads 0 in a child of fork(), which has no rings; NULL: it may go on */
};

/* This process is a child of the one that opened the device: queues and regions are the parent's. */
static inline bool gtu_is_parents(const struct gtu_device *dev)
{
	return dev->ours && !*dev->ours;
}

static inline int gtu_fail_parents(const struct gtu_device *dev, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_USAGE, "%s was opened by this process's parent: after fork() a child opens it itself",
			dev->info.path);
}

/* Copy the blob out, check magic, length, CRC and libfdt's own rules; fill dev->fdt. (device.c) */
int gtu_device_take_fdt(struct gtu_device *dev, const void *blob, size_t bytes, uint32_t crc,
			struct gtu_error *err);
/* Fill dev->info from registers, through ops->read. (device.c) */
int gtu_device_take_info(struct gtu_device *dev, struct gtu_error *err);

uint64_t gtu_now_ns(void);		/* CLOCK_MONOTONIC */

/*
 * Memory that a device reads and writes too. C's fences order what processors see of each other; a device can lie outside of
 * the domain that arm64's are for, so there they are those that the kernel takes for DMA.
 */
static inline void gtu_device_fence(void)
{
#ifdef __aarch64__
	__asm__ volatile("dmb osh" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Behind a read with __ATOMIC_ACQUIRE of what the device has written: all that it wrote before is seen from here on. */
static inline void gtu_device_read_fence(void)
{
#ifdef __aarch64__
	__asm__ volatile("dmb oshld" ::: "memory");
#endif
}

/* A word that the device writes; what it wrote before is seen by what follows. */
static inline uint32_t gtu_hear(const uint32_t *word)
{
	const uint32_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE);

	gtu_device_read_fence();
	return value;
}

/* A word that the device reads; it sees what was done before when it sees this. */
static inline void gtu_tell(uint32_t *word, uint32_t value)
{
#ifdef __aarch64__
	gtu_device_fence();
#endif
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Completion @index (running freely) is in the ring. */
static inline bool gtu_completed(const struct gtu_rings *r, uint32_t index)
{
	const uint32_t size = 1u << r->cq_log2;
	const bool there = __atomic_load_n(&r->cq[index & (size - 1)].phase, __ATOMIC_ACQUIRE) == (index & size ? 0 : 1);

	gtu_device_read_fence();
	return there;
}
/* A record that is waited for is in its ring. */
static inline bool gtu_recorded(const struct gtu_record_wait *w)
{
	return (int32_t)(gtu_hear(w->producer) - w->record) > 0;
}

#endif
