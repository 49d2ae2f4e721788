/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's own objects and how they live. Documentation/driver.md has the argument; the locks,
 * each taken before those that follow: mm->mmap_lock, ctx->lock, gtu->mbox_lock, queue->map_lock,
 * ctx->aperture_lock; gtu->aperture_lock and buffer->lock, with nothing of the above inside; then
 * the spinlocks gtu->queue_lock, queue->wait_lock, ctx->event_lock, and gtu->ctx_lock alone.
 * Nothing touches user memory under ctx->lock.
 */
#ifndef GTU_DRV_H
#define GTU_DRV_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/ratelimit_types.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <uapi/gtu/hw.h>
#include <uapi/gtu/gtu.h>

#include "gtu_compat.h"

#define GTU_NAME		"gtu"
#define GTU_MINORS		64
#define GTU_VECTORS		33	/* 32 for events, one for errors */
#define GTU_EVENTS_LOG2		8	/* entries of an event ring; more stay with the device */
#define GTU_EVENTS		BIT(GTU_EVENTS_LOG2)
#define GTU_REGIONS_LOG2	10	/* region slots of a context */
#define GTU_CTX_QUEUES		32	/* queues of a context */
#define GTU_CTX_CHUNKS		65536	/* chunks of page lists of a context: 256 MiB */
#define GTU_UNIT_PAGES		5
#define GTU_EPOCH_NEVER		(~0u)	/* of a context that is dead, whatever the device counts */

enum gtu_state {
	GTU_STATE_UP,
	GTU_STATE_DEAD,			/* removed, silent or shut down: never comes back */
};

struct gtu_ctx;
struct gtu_device;
struct gtu_queue;

/* An interrupt vector and the event ring behind it. */
struct gtu_vector {
	struct gtu_device *gtu;
	int irq;
	bool errors;			/* the device's errors come here */
	bool has_ring;
	u32 ring;			/* number of the event ring */
	spinlock_t lock;		/* protects head */
	u32 head;			/* free-running */
	__le32 *event;
	dma_addr_t event_dma;
};

/* What only the bus knows how to do. The driver's other files do not know which one it is. */
struct gtu_bus {
	void (*enable_dma)(struct gtu_device *gtu); /* the device may reach memory from here on */
	/*
	 * Keep it from memory; true when it is certain that nothing of it reaches memory any more.
	 */
	bool (*quiesce)(struct gtu_device *gtu);
	/* At most @want interrupts, those of vectors 0 and up; how many, or an error. */
	int (*vectors_alloc)(struct gtu_device *gtu, unsigned int want);
	int (*vector)(struct gtu_device *gtu, unsigned int i);	/* number of an interrupt */
	void (*vectors_free)(struct gtu_device *gtu);	/* also when there are none */
};

/* Where a device is. */
struct gtu_resources {
	void __iomem *regs, *doorbells;
	u64 regs_bytes, doorbells_bytes;
	phys_addr_t doorbells_phys, aperture_phys;
	u64 aperture_bytes;		/* 0: it has none */
};

struct gtu_device {
	struct device dev;		/* the character device; its release frees all of this */
	struct cdev cdev;
	struct device *parent;		/* the function on the bus: DMA, messages */
	int number;			/* N of gtuN; -1: not yet */
	const struct gtu_bus *bus;
	void *bus_data;
	void __iomem *regs;
	void __iomem *doorbells;
	phys_addr_t doorbells_phys;

	/* Every entry from user space runs under srcu and looks at state first. */
	struct srcu_struct srcu;
	enum gtu_state state;
	u32 epoch;			/* the device's; contexts of another one are dead; 0: away */

	/* What the registers say, read once. */
	u32 version, units, max_contexts, max_queues, max_ring, vectors_hw, rings_hw, stride;
	u32 regions_log2;
	u64 caps, clock_hz, aperture;
	void *fdt;
	u32 fdt_bytes, fdt_crc;

	struct mutex mbox_lock;		/* the mailbox, resets, epoch (writers) */
	bool quiesce_called, quiesced;	/* under mbox_lock: silence() was called; its answer */
	u32 setting[GTU_UNIT_PAGES][GTU_UREG_SETS]; /* under mbox_lock: reloaded after a reset */
	u8 setting_valid[GTU_UNIT_PAGES];
	ktime_t snapshot[GTU_UNIT_PAGES]; /* under mbox_lock: when counters were last taken */

	unsigned int vectors;
	struct gtu_vector vector[GTU_VECTORS];
	u32 event_rings;

	spinlock_t ctx_lock;		/* protects contexts; taken in interrupts */
	struct list_head contexts;
	struct ida ctx_ids, queue_ids;

	spinlock_t queue_lock;		/* protects queue[] */
	struct gtu_queue **queue;	/* by id; an interrupt finds its queue here */

	atomic_long_t buffer_pages;

	phys_addr_t aperture_phys;
	unsigned long aperture_pages;	/* 0: the device has none that can be given out */
	struct mutex aperture_lock;	/* protects aperture_used */
	unsigned long *aperture_used;	/* a bit a page */
	unsigned long *aperture_saved;	/* those whose content is in aperture_copy, during a sleep */
	void *aperture_copy;

	struct delayed_work watchdog;	/* looks after who waits, while anybody does */
	struct ratelimit_state dump_limit;
	struct dentry *debugfs;
	const struct attribute_group *groups[2 * GTU_UNIT_PAGES + 1];
};

/* One open file. */
struct gtu_ctx {
	struct kref ref;		/* the file; remove() while it looks at it */
	struct gtu_device *gtu;		/* holds a reference */
	struct address_space *mapping;	/* of the file; valid until the file's release */
	struct list_head link;		/* under gtu->ctx_lock, with rests */
	bool suspended;			/* to be set up again after a sleep */
	u32 id;
	u32 epoch;
	pid_t pid;			/* who opened the file */
	char comm[TASK_COMM_LEN];

	wait_queue_head_t event_wait;	/* poll() and read() */
	spinlock_t event_lock;		/* protects ready */
	struct list_head ready;		/* queues that had an event since it was read */

	struct mutex lock;		/* protects all below */
	bool torn_down;			/* nothing of it is on the device any more */
	unsigned int queues;
	struct xarray queue;		/* struct gtu_queue by id */
	struct gtu_hw_region *table;
	dma_addr_t table_dma;
	u32 slots, next_slot;
	unsigned long *used;		/* slots taken or retired */
	u16 *generation;		/* of each slot, last given out */
	struct gtu_region **region;	/* by slot */
	unsigned long chunks;		/* of page lists */

	atomic_long_t aperture_pages;	/* of the aperture that it has */
	atomic_t aperture_maps;
	struct mutex aperture_lock;	/* protects blank, and aperture_revoked against faults */
	bool aperture_revoked;
	struct page *blank;		/* behind mappings of an aperture that has gone */
};

/* Page lists for the device: chunks of 512 addresses in blocks of a page. */
struct gtu_list {
	unsigned int chunks, blocks;
	__le64 **block;
	dma_addr_t *block_dma;
};

/* Pages of the driver's; mappings of user space and dma-bufs hold it too. */
struct gtu_buffer {
	struct kref ref;
	struct gtu_device *gtu;		/* holds a reference: a dma-buf outlives files */
	unsigned long pages;
	struct page **page;

	struct mutex lock;		/* protects all below */
	struct list_head attachments;	/* of all of its dma-bufs */
};

/* A run of the aperture's pages; mappings of user space hold it too. */
struct gtu_extent {
	struct kref ref;
	struct gtu_ctx *ctx;		/* outlives regions and mappings */
	unsigned long first, pages;
	unsigned long pgoff;		/* of the first page in the file, once it can be mapped */
};

struct gtu_region {
	u32 key, rights;
	u64 length;
	unsigned int in_page;		/* byte 0's offset in the first page */
	unsigned long pages;
	struct sg_table *sgt;		/* once it is mapped for the device: own, or an importer's */
	struct sg_table own;
	enum dma_data_direction dir;
	struct mm_struct *mm;		/* user memory: who is charged */
	struct gtu_buffer *buffer;	/* or the driver's own */
	struct gtu_extent *extent;	/* or the device's */
	struct dma_buf_attachment *attach; /* or somebody else's */
	bool internal;			/* the driver's own: its key is nobody's */
	bool removing;			/* under ctx->lock: no new job may name it */
	struct gtu_list list;
};

/* A descriptor that is being checked; see gtu_check_desc(). */
struct gtu_check {
	struct gtu_ctx *ctx;
	u8 opcode;
	u32 param;
	u64 imm;
	unsigned int block;
	struct gtu_hw_operand given[GTU_BLOCK_OPERANDS], operand[GTU_BLOCK_OPERANDS];
	u64 count[GTU_BLOCK_OPERANDS];
	struct gtu_region *region[GTU_BLOCK_OPERANDS];
};

/* A ring, and its pages for user space. */
struct gtu_ring {
	void *cpu;
	dma_addr_t dma;
	size_t bytes;			/* whole pages */
	unsigned long *pfn;
};

struct gtu_queue {
	struct kref ref;		/* the context, mappings, waiters */
	struct gtu_ctx *ctx;		/* outlives every holder of a reference */
	u32 id;				/* unique on the device until dead */
	u32 sq_log2, cq_log2;
	u32 event_ring;
	struct gtu_ring sq, cq;
	struct gtu_hw_queue_status *status; /* in cq */

	struct mutex map_lock;		/* protects blank, and dead against faults */
	struct page *blank;		/* behind mappings of a dead queue */

	bool submit;			/* jobs by ioctl alone; under ctx->lock, with all below */
	u32 sq_tail, cq_head;		/* as the doorbell was told */
	u64 submitted;			/* descriptors since the last reset */
	u64 *last_use;			/* by slot: taken, after the last job that names it */
	struct gtu_region *blocks;	/* parameter blocks, GTU_BLOCK_OPERANDS a slot of the ring */
	u32 blocks_key;

	wait_queue_head_t wait;
	spinlock_t wait_lock;		/* protects all below, and rings while not dead */
	bool dead;
	bool armed;
	u32 arm_index;
	u32 resets;
	u32 events;
	struct eventfd_ctx *eventfd;
	u32 notified_tail, notified_state; /* at the last event */
	struct {			/* gtu_watch.c: as it was when last looked at */
		u32 sq_head, cq_tail, events;
		unsigned long since;	/* jiffies */
		bool hang_reported;	/* that it hangs */
		bool unnotified;	/* it had moved since the last event */
	} seen;

	struct {			/* under ctx->lock; where it stood when the system went to sleep */
		bool valid;
		u32 index, tail, head;
	} saved;

	struct list_head ready;		/* in ctx->ready, under ctx->event_lock */
	atomic_t waiters;		/* in ioctl(WAIT) */
};

/* gtu_bind.c */
int gtu_bind(struct device *parent, const struct gtu_bus *bus, void *bus_data,
	     const struct gtu_resources *res);
void gtu_unbind(struct gtu_device *gtu);
void gtu_shutdown(struct gtu_device *gtu);

/* gtu_pci.c, gtu_platform.c: as far as the kernel has the bus */
#ifdef CONFIG_PCI
int gtu_pci_register(void);
void gtu_pci_unregister(void);
#else
static inline int gtu_pci_register(void) { return 0; }
static inline void gtu_pci_unregister(void) { }
#endif
#ifdef CONFIG_OF
int gtu_platform_register(void);
void gtu_platform_unregister(void);
#else
static inline int gtu_platform_register(void) { return 0; }
static inline void gtu_platform_unregister(void) { }
#endif

/* gtu_hw.c */
#define GTU_MBOX(gtu, epoch, cmd, ...)                                                             \
	gtu_mbox(gtu, epoch, cmd, (const u64 [GTU_MBOX_ARGS]) { __VA_ARGS__ })
int gtu_hw_identify(struct gtu_device *gtu, u64 regs_bytes, u64 doorbells_bytes);
int gtu_hw_start(struct gtu_device *gtu);
bool gtu_hw_reset(struct gtu_device *gtu);
u32 gtu_epoch_now(struct gtu_device *gtu);
int gtu_mbox(struct gtu_device *gtu, u32 epoch, u32 cmd, const u64 *arg);
int gtu_mbox_query(struct gtu_device *gtu, u32 epoch, u32 cmd, const u64 *arg, u32 *status,
		   u64 *result);
void gtu_set_dead(struct gtu_device *gtu);
int gtu_alive(struct gtu_device *gtu);
bool gtu_force_quiesce(struct gtu_ctx *ctx, const char *why);
void gtu_reset_begin(struct gtu_device *gtu);
void gtu_reset_end(struct gtu_device *gtu);
void gtu_hw_stop(struct gtu_device *gtu);
int gtu_hw_restart(struct gtu_device *gtu);
int gtu_reg_read(struct gtu_device *gtu, u32 offset, u64 *value);
int gtu_reg_write(struct gtu_device *gtu, u32 offset, u64 value);
int gtu_counter_read(struct gtu_device *gtu, u32 offset, u64 *value);

/* gtu_event.c */
int gtu_events_alloc(struct gtu_device *gtu);
void gtu_events_free(struct gtu_device *gtu);
int gtu_events_enable(struct gtu_device *gtu, int (*mbox)(struct gtu_device *, u32, const u64 *));
irqreturn_t gtu_interrupt(int irq, void *arg);
u32 gtu_event_ring_here(struct gtu_device *gtu);

/* gtu_dev.c */
extern struct class gtu_class;
struct gtu_device *gtu_device_alloc(struct device *parent);
int gtu_device_add(struct gtu_device *gtu);
void gtu_device_remove(struct gtu_device *gtu);
void gtu_contexts_end(struct gtu_device *gtu);
int gtu_enter(struct gtu_ctx *ctx);
void gtu_leave(struct gtu_ctx *ctx, int inside);
int gtu_chrdev_init(void);
void gtu_chrdev_exit(void);

/* N of gtuN. */
static inline int gtu_number(struct gtu_device *gtu)
{
	return gtu->number;
}

static inline const char *gtu_state_name(struct gtu_device *gtu)
{
	if (READ_ONCE(gtu->state) != GTU_STATE_UP)
		return "gone";
	return READ_ONCE(gtu->epoch) ? "up" : "resetting";
}

static inline bool gtu_ctx_dead(struct gtu_ctx *ctx)
{
	return READ_ONCE(ctx->gtu->state) != GTU_STATE_UP ||
	       READ_ONCE(ctx->gtu->epoch) != ctx->epoch;
}

/* gtu_pm.c */
int gtu_suspend(struct device *dev);
int gtu_resume(struct device *dev);
void gtu_error_begin(struct gtu_device *gtu);
int gtu_error_end(struct gtu_device *gtu);

/* gtu_ctx.c */
int gtu_ctx_enable(struct gtu_ctx *ctx);
struct gtu_ctx *gtu_ctx_create(struct gtu_device *gtu, struct address_space *mapping);
void gtu_ctx_teardown(struct gtu_ctx *ctx);
void gtu_ctx_close(struct gtu_ctx *ctx);
void gtu_ctx_put(struct gtu_ctx *ctx);

/* A register of the queue's doorbell page. */
static inline void __iomem *gtu_doorbell(struct gtu_queue *q, u32 reg)
{
	return q->ctx->gtu->doorbells + ((size_t)q->id << q->ctx->gtu->stride) + reg;
}

/* gtu_ioctl.c */
long gtu_ioctl(struct gtu_ctx *ctx, unsigned int cmd, void __user *arg);

/* gtu_region.c: the table of a context */
int gtu_region_publish(struct gtu_ctx *ctx, struct gtu_region *r, u32 *key);
int gtu_region_remove(struct gtu_ctx *ctx, u32 key);
void gtu_region_remove_internal(struct gtu_ctx *ctx, u32 key);
void gtu_region_drop_all(struct gtu_ctx *ctx, bool quiesced);
struct gtu_region *gtu_region_at(struct gtu_ctx *ctx, u32 slot);
struct gtu_region *gtu_region_find(struct gtu_ctx *ctx, u32 key);

/* gtu_memory.c: what is behind a region */
enum dma_data_direction gtu_direction(u32 rights);
int gtu_region_map(struct gtu_ctx *ctx, struct gtu_region *r);
int gtu_mapped_check(struct device *dev, struct sg_table *sgt, u64 length);
struct gtu_region *gtu_region_pin(struct gtu_ctx *ctx, u64 addr, u64 length, u32 rights);
void gtu_region_free(struct gtu_ctx *ctx, struct gtu_region *r, bool quiesced);

/* gtu_buffer.c */
struct gtu_region *gtu_region_alloc(struct gtu_ctx *ctx, u64 length, u32 rights);
void gtu_buffer_put(struct gtu_buffer *b);

/* gtu_aperture.c */
int gtu_aperture_init(struct gtu_device *gtu, phys_addr_t phys, u64 bytes);
struct gtu_region *gtu_region_aperture(struct gtu_ctx *ctx, u64 length, u32 rights);
void gtu_extent_put(struct gtu_extent *p);
int gtu_extent_mmap(struct gtu_extent *p, struct vm_area_struct *vma);
void gtu_aperture_unmap(struct gtu_ctx *ctx);
int gtu_aperture_save(struct gtu_device *gtu);
void gtu_aperture_restore(struct gtu_device *gtu);
void gtu_aperture_drop_copy(struct gtu_device *gtu);

/* gtu_dmabuf.c */
#ifdef CONFIG_DMA_SHARED_BUFFER
struct dma_buf *gtu_buffer_export(struct gtu_ctx *ctx, u32 key, u32 rights);
struct gtu_region *gtu_region_import(struct gtu_ctx *ctx, int fd, u32 rights);
void gtu_import_free(struct gtu_region *r);
#else
static inline struct dma_buf *gtu_buffer_export(struct gtu_ctx *ctx, u32 key, u32 rights)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct gtu_region *gtu_region_import(struct gtu_ctx *ctx, int fd, u32 rights)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void gtu_import_free(struct gtu_region *r) { }
#endif

/* gtu_list.c */
int gtu_list_build(struct gtu_ctx *ctx, struct gtu_region *r, struct gtu_hw_region *entry);
void gtu_list_free(struct gtu_ctx *ctx, struct gtu_list *l);

/* gtu_queue.c */
struct gtu_queue *gtu_queue_create(struct gtu_ctx *ctx, u32 sq_log2, u32 cq_log2, bool submit);
struct gtu_queue *gtu_queue_get(struct gtu_ctx *ctx, u32 id);
void gtu_queue_put(struct gtu_queue *q);
int gtu_queue_destroy(struct gtu_ctx *ctx, u32 id);
int gtu_queue_reset(struct gtu_ctx *ctx, u32 id);
void gtu_queue_kill(struct gtu_queue *q, bool quiesced);
void gtu_queues_stop(struct gtu_ctx *ctx);
int gtu_queue_resume(struct gtu_queue *q);
int gtu_queue_cancel(struct gtu_ctx *ctx, u32 id, bool all, u32 until);

/* gtu_wait.c */
int gtu_queue_wait(struct gtu_queue *q, u32 index, const u32 *record, u64 deadline_ns, u32 *tail,
		   u32 *state);
void gtu_queue_notify(struct gtu_queue *q);
void gtu_queue_dropped(struct gtu_queue *q);
void gtu_queue_dead(struct gtu_queue *q);
void gtu_queue_event(struct gtu_device *gtu, u32 word);
void gtu_queues_wake(struct gtu_device *gtu);

/* gtu_poll.c */
void gtu_queue_notify_files(struct gtu_queue *q);
void gtu_queue_cancel_notify(struct gtu_queue *q);
void gtu_readers_wake(struct gtu_device *gtu);
int gtu_queue_eventfd(struct gtu_queue *q, int fd);
__poll_t gtu_ctx_poll(struct gtu_ctx *ctx, struct file *file, poll_table *wait);
ssize_t gtu_ctx_read(struct gtu_ctx *ctx, char __user *to, size_t bytes, bool block);

/* gtu_sysfs.c */
extern const struct attribute_group *gtu_groups[];
void gtu_sysfs_init(void);
void gtu_sysfs_units(struct gtu_device *gtu);

/* gtu_debugfs.c */
void gtu_debugfs_init(void);
void gtu_debugfs_exit(void);
void gtu_debugfs_add(struct gtu_device *gtu);
void gtu_debugfs_remove(struct gtu_device *gtu);

/* gtu_dump.c */
__printf(3, 4) void gtu_dump(struct gtu_device *gtu, struct gtu_ctx *held, const char *format, ...);

/* gtu_watch.c */
void gtu_watchdog_init(struct gtu_device *gtu);
void gtu_watchdog_start(struct gtu_device *gtu);
void gtu_watchdog_stop(struct gtu_device *gtu);

/* gtu_check.c */
int gtu_check_desc(struct gtu_check *c, struct gtu_ctx *ctx, const struct gtu_hw_desc *d);

/* gtu_submit.c: queues of GTU_QUEUE_SUBMIT */
int gtu_submit_init(struct gtu_queue *q);
void gtu_submit_reset(struct gtu_queue *q);
void gtu_submit_end(struct gtu_queue *q);
int gtu_submit(struct gtu_queue *q, struct gtu_ioctl_submit *a, int *inside);
void gtu_submit_kick(struct gtu_queue *q);
int gtu_submit_settle(struct gtu_ctx *ctx, struct gtu_region *r);
int gtu_region_read(struct gtu_region *r, u64 offset, void *to, size_t bytes);

/* gtu_mmap.c */
#define GTU_MAP_SQ		0u
#define GTU_MAP_CQ		1u
#define GTU_MAP_DOORBELL	2u
#define GTU_MAP_BUFFER		3u
#define GTU_MAP_APERTURE	4u
#define GTU_MAP_KIND_SHIFT	41	/* 32-bit page numbers of 4 KiB reach eight kinds */
#define GTU_MAP_ID_SHIFT	24	/* the greatest ring is 8 MiB */
u64 gtu_map_offset(u32 kind, u32 id);
int gtu_ctx_mmap(struct gtu_ctx *ctx, struct vm_area_struct *vma);
vm_fault_t gtu_insert_blank(struct vm_fault *vmf, struct page **blank);
void gtu_queue_unmap(struct gtu_queue *q);

#endif
