/* SPDX-License-Identifier: MIT */
/*
 * The backend interface: one context on one device. The runtime fills rings and reads completions
 * itself, independently of the transport. A backend only sets up memory and rings, forwards
 * doorbells and waits.
 */
#ifndef GTU_BACKEND_H
#define GTU_BACKEND_H

#include <pthread.h>

#include "gtu/gtu.h"
#include "libruntime/support/clock.h"
#include "libruntime/support/ranked.h"
#include "libruntime/support/traverse.h"
#include "uapi/gtu/hw.h"

struct gtu_device;
struct gtu_placement_options;

/*
 * Operations of a backend that runs whole algorithms over a placed graph (gtu/gpu.h) instead of
 * descriptors. The caller has checked the options; the graph's types are in range.
 */
struct gtu_traversal_ops {
	int (*placement_create)(struct gtu_device *dev, const struct gtu_graph *g,
				const struct gtu_placement_options *opt, struct gtu_error *err);
	void (*placement_destroy)(struct gtu_device *dev);
	/*
	 * Exchange the placement with the one put aside, at first none, which keeps its memory.
	 * placement_create() with @opt NULL then takes the options of the one put aside.
	 */
	void (*placement_swap)(struct gtu_device *dev);
	gtu_traversal_fn *run[GTU_TRAVERSALS];
	/* Run as one rank, over the placed graph: that of gtu_rank_graph() (libruntime/ranks/traversal.c). */
	int (*ranked)(struct gtu_device *dev, const struct gtu_rank_run *run);
	/* How devices exchange data as ranks, a sentence; NULL: not known before the first run. */
	const char *(*rank_link)(const struct gtu_device *dev);
};

/* A queue's rings as mapped into this process. */
struct gtu_rings {
	uint32_t id;			/* the backend's number of the queue */
	uint32_t sq_log2, cq_log2;
	struct gtu_hw_desc *sq;
	struct gtu_hw_cpl *cq;
	const struct gtu_hw_queue_status *status;
	/*
	 * Doorbell page of the queue, if a plain store reaches the device; NULL: use ops->doorbell.
	 */
	volatile void *doorbell;
	void *cookie;			/* private to the backend */
};

/* A record of a running stream to wait for. */
struct gtu_record_wait {
	const gtu_le32 *producer;	/* producer index of the stream's ring */
	uint32_t record;		/* record index; available once *producer is beyond it */
};

struct gtu_backend_ops {
	const char *name;		/* "model", "chardev", "cuda" */
	const struct gtu_traversal_ops *traversal; /* NULL: descriptors; else only open and close exist */
	/* @name is the name passed to gtu_open(). Sets dev->backend, dev->info and dev->fdt. */
	int (*open)(struct gtu_device *dev, const char *name, struct gtu_error *err);
	void (*close)(struct gtu_device *dev);
	/* Register @length bytes at @addr (8-byte aligned). rights: GTU_READ | GTU_WRITE. */
	int (*region_add)(struct gtu_device *dev, void *addr, uint64_t length, uint32_t rights,
			  uint32_t *key, struct gtu_error *err);
	int (*region_remove)(struct gtu_device *dev, uint32_t key, struct gtu_error *err);
	/* Allocate and register zeroed, page-aligned memory, of the host or in the aperture; unregister and free it. */
	int (*region_alloc)(struct gtu_device *dev, uint64_t length, uint32_t rights, bool aperture,
			    void **addr, uint32_t *key, struct gtu_error *err);
	bool aperture_is_io;		/* the aperture is mapped from the bus, not host memory */
	int (*region_free)(struct gtu_device *dev, void *addr, uint64_t length, uint32_t key,
			   struct gtu_error *err);
	/* @rings holds the requested log2 sizes; the backend sets the other members. */
	int (*queue_create)(struct gtu_device *dev, struct gtu_rings *rings, struct gtu_error *err);
	void (*queue_destroy)(struct gtu_device *dev, struct gtu_rings *rings);
	int (*queue_reset)(struct gtu_device *dev, struct gtu_rings *rings, struct gtu_error *err);
	/*
	 * Write @value to the doorbell register @reg (GTU_DB_*). Called only if rings->doorbell is
	 * NULL.
	 */
	void (*doorbell)(struct gtu_device *dev, struct gtu_rings *rings, uint32_t reg, uint64_t value);
	/* End all jobs before submission index @until with GTU_CPL_CANCELED. */
	int (*cancel)(struct gtu_device *dev, struct gtu_rings *rings, uint32_t until, struct gtu_error *err);
	/*
	 * Wait until completion index @cq_index (modulo 2^32) is available, the record of @stream
	 * (may be NULL) may be available, the queue is in error, or @deadline_ns (CLOCK_MONOTONIC;
	 * UINT64_MAX: none) has passed. 0: check again; may be spurious. GTU_ERR_TIMEOUT,
	 * GTU_ERR_DEVICE_LOST, GTU_ERR_INTERRUPTED.
	 */
	int (*wait)(struct gtu_device *dev, struct gtu_rings *rings, uint32_t cq_index,
		    const struct gtu_record_wait *stream, uint64_t deadline_ns, struct gtu_error *err);
	/* Read a register of BAR0 (unit parameters, settings, counters after a snapshot). */
	int (*read)(struct gtu_device *dev, uint32_t offset, uint64_t *value, struct gtu_error *err);
	/* Write a unit's setting or control register; other registers are refused. */
	int (*write)(struct gtu_device *dev, uint32_t offset, uint32_t value, struct gtu_error *err);
};

extern const struct gtu_backend_ops gtu_backend_model;	/* backend_model.c */
extern const struct gtu_backend_ops gtu_backend_chardev; /* backend_chardev.c */
extern const struct gtu_backend_ops gtu_backend_cuda;	/* backend/cuda/backend.c */
extern const struct gtu_backend_ops gtu_backend_ranks;	/* ranks/device.c */

/* Whether the name is a list of devices, as in "model,model". */
bool gtu_is_device_list(const char *name);
/* gtu_open() by a backend; @name is not checked. */
int gtu_open_by(const struct gtu_backend_ops *ops, const char *name, struct gtu_device **out, struct gtu_error *err);

struct gtu_device {
	const struct gtu_backend_ops *ops;
	void *backend;			/* private to the backend */
	struct gtu_info info;
	uint64_t timeout_ns;		/* timeout of waits without a deadline, scaled, or GTU_FOREVER */
	uint64_t time_scale;		/* factor of timeouts */
	pthread_mutex_t placing;	/* held while a graph is placed and while a whole algorithm runs */
	const struct gtu_graph *placed;	/* by gtu_placement_create(), or NULL */
	void *fdt;			/* validated copy from malloc(); NULL for a GPU */
	size_t fdt_bytes;
	struct gtu_device **member;	/* of a list: the devices, NULL for the plain CPU */
	unsigned members;
	const volatile unsigned char *ours; /* reads 0 in a child of fork(), which has no rings; NULL: the child may use the device */
};

/* @time_ns, a timeout or GTU_FOREVER, multiplied by the device's time scale. */
static inline uint64_t gtu_scaled(const struct gtu_device *dev, uint64_t time_ns)
{
	return __builtin_mul_overflow(time_ns, dev->time_scale, &time_ns) ? GTU_FOREVER : time_ns;
}

/* Whether a parent process opened the device: its queues and regions belong to the parent. */
static inline bool gtu_opened_by_parent(const struct gtu_device *dev)
{
	return dev->ours && !*dev->ours;
}

static inline int gtu_fail_opened_by_parent(const struct gtu_device *dev, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_USAGE, "%s was opened by the parent process: a child must "
			"open it again after fork()",
			dev->info.path);
}

/* Refuse @what on a device that only runs whole algorithms. */
static inline int gtu_fail_traversal_only(const struct gtu_device *dev, const char *what, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s has no %s: it runs whole algorithms over %s", dev->info.path, what,
			dev->ops->traversal ? "placed graphs (unit gpu)" : "several ranks");
}

/* Copy the blob, check it and its CRC, and set dev->fdt. */
int gtu_device_take_fdt(struct gtu_device *dev, const void *blob, size_t bytes, uint32_t crc,
			struct gtu_error *err);
/* Fill dev->info from registers, through ops->read. */
int gtu_device_take_info(struct gtu_device *dev, struct gtu_error *err);

/*
 * Full fence for memory shared with a device. C11 fences only order accesses between CPUs. On arm64
 * a device may be outside the inner shareable domain, so use the outer shareable barriers that the
 * kernel uses for DMA.
 */
static inline void gtu_device_fence(void)
{
#ifdef __aarch64__
	__asm__ volatile("dmb osh" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/*
 * Follows an acquire load of a word that the device wrote: later reads see all of its earlier
 * writes.
 */
static inline void gtu_device_read_fence(void)
{
#ifdef __aarch64__
	__asm__ volatile("dmb oshld" ::: "memory");
#endif
}

/* Load-acquire of a word that the device writes. */
static inline uint32_t gtu_load_acquire(const uint32_t *word)
{
	const uint32_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE);

	gtu_device_read_fence();
	return value;
}

/* Store-release of a word that the device reads. */
static inline void gtu_store_release(uint32_t *word, uint32_t value)
{
#ifdef __aarch64__
	gtu_device_fence();
#endif
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Whether completion @index (modulo 2^32) is in the ring. */
static inline bool gtu_completed(const struct gtu_rings *r, uint32_t index)
{
	const uint32_t size = 1u << r->cq_log2;
	const bool there = __atomic_load_n(&r->cq[index & (size - 1)].phase, __ATOMIC_ACQUIRE) == (index & size ? 0 : 1);

	gtu_device_read_fence();
	return there;
}
/* Whether the record has been written to its ring. */
static inline bool gtu_recorded(const struct gtu_record_wait *w)
{
	return (int32_t)(gtu_load_acquire(w->producer) - w->record) > 0;
}

struct gtu_dev_config;
/*
 * Set the fields of @config that the list "KEY=VALUE,..." gives; gtu_model_config(): that a device's name
 * gives, as in "model:queues=1,absent_units=iru+peg".
 */
int gtu_model_parameters(const char *list, struct gtu_dev_config *config, struct gtu_error *err);
int gtu_model_config(const char *name, struct gtu_dev_config *config, struct gtu_error *err);

#endif
