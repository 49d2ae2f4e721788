/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects of the driver, their lifetimes and locks. Documentation/driver.md
 * explains the design. More than 600 lines, because all objects and the prototypes
 * of all files are here, as one lock order spans them.
 *
 * Lock order: ctx->teardown_lock, the dma_resv of a dma-buf, ctx->lock,
 * gtu->dump_lock, user->turn, gtu->users_turn, gtu->mbox_lock, gtu->map_lock.
 * mm->mmap_lock is taken before gtu->map_lock and never with the others: mmap() and
 * page faults must not wait for the device. Take none of these while holding
 * gtu->aperture_lock or buffer->lock. Spinlocks, innermost: queue->wait_lock,
 * ctx->event_lock; and the lock of a PMU, gtu->counter_lock.
 * gtu->ctx_lock, gtu->user_lock and ctx->region_lock are taken alone;
 * ctx->usage_lock is taken before user->turn only. Queues are
 * looked up under RCU. Do not access user memory under ctx->lock.
 */
#ifndef GTU_DRV_H
#define GTU_DRV_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
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
#include <linux/rcupdate.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <uapi/gtu/hw.h>
#include <uapi/gtu/gtu.h>

#include "gtu_compat.h"

#define GTU_NAME		"gtu"
#define GTU_MINORS		64
#define GTU_VECTORS		33	/* 32 for events, one for errors */
/* entries of an event ring; the device holds back the rest */
#define GTU_EVENTS_LOG2		8
#define GTU_EVENTS		BIT(GTU_EVENTS_LOG2)
#define GTU_REGIONS_LOG2	10	/* region slots per context */
#define GTU_CTX_QUEUES		32	/* queues per context */
#define GTU_CTX_CHUNKS		65536	/* page list chunks per context: 256 MiB */
#define GTU_UNIT_PAGE(...)	+1
#define GTU_UNIT_PAGES		(0 GTU_UNIT_ROWS(GTU_UNIT_PAGE))
#define GTU_EPOCH_NEVER		(~0u)	/* epoch of a context that is dead for good */
#define GTU_ALL_ONES		(~0u)	/* value read from a device that does not respond */

enum gtu_state {
	GTU_STATE_UP,
	GTU_STATE_DEAD,			/* removed, failed or shut down: permanent */
};

struct gtu_ctx;
struct gtu_device;
struct gtu_queue;

/* An interrupt vector and its event ring. */
struct gtu_vector {
	struct gtu_device *gtu;
	int irq;
	bool errors;			/* also receives the device's errors */
	bool has_ring;
	u32 ring;			/* event ring number */
	cpumask_var_t cpus;		/* whose queues it serves */
	spinlock_t lock;		/* protects all below */
	u32 head;			/* free-running */
	unsigned long window;		/* jiffies in which count interrupts came */
	unsigned int count;
	int paused;			/* disabled until the next jiffy: Linux irq, or 0 */
	struct delayed_work resume;
	__le32 *event;
	dma_addr_t event_dma;
};

/**
 * struct gtu_bus - operations of the bus driver
 * @enable_dma: allow the device to access memory
 * @quiesce: stop the device's memory accesses; returns true if it is certain
 *	that none is in flight any more
 * @vectors_alloc: allocate at most @want interrupts, vectors 0 and up; returns
 *	their number or an error
 * @vector: Linux irq of vector @i, or an error
 * @vectors_free: free the interrupts; also called when none were allocated
 * @reaches: whether another device can access the aperture at its physical
 *	address; NULL: none can
 *
 * The rest of the driver is independent of the bus.
 */
struct gtu_bus {
	void (*enable_dma)(struct gtu_device *gtu);
	bool (*quiesce)(struct gtu_device *gtu);
	int (*vectors_alloc)(struct gtu_device *gtu, unsigned int want);
	int (*vector)(struct gtu_device *gtu, unsigned int i);
	void (*vectors_free)(struct gtu_device *gtu);
	bool (*reaches)(struct gtu_device *gtu, struct device *importer);
};

/**
 * struct gtu_resources - MMIO ranges of a device
 * @regs: the registers, mapped
 * @doorbells: the doorbells, mapped
 * @regs_bytes: size of the register range
 * @doorbells_bytes: size of the doorbell range
 * @doorbells_phys: physical address of the doorbells
 * @aperture_phys: physical address of the aperture
 * @aperture_bytes: size of the aperture; 0: none
 * @coherent: the device's accesses are cache-coherent
 */
struct gtu_resources {
	void __iomem *regs, *doorbells;
	u64 regs_bytes, doorbells_bytes;
	phys_addr_t doorbells_phys, aperture_phys;
	u64 aperture_bytes;
	bool coherent;
};

/* A group of the device, for the contexts of a user. */
struct gtu_group {
	unsigned int contexts;		/* 0: free */
	kuid_t uid;			/* who has it or had it last */
	s64 freed;			/* groups that were freed until then; 0: not used yet */
};

struct gtu_device {
	struct device dev;		/* the character device; its release frees this struct */
	struct cdev cdev;
	struct device *parent;		/* the bus device, for DMA and messages */
	int number;			/* N of gtuN; -1: none yet */
	const struct gtu_bus *bus;
	void *bus_data;
	void __iomem *regs;
	void __iomem *doorbells;
	phys_addr_t doorbells_phys;

	/* Every entry from user space holds srcu and checks state first. */
	struct srcu_struct srcu;
	enum gtu_state state;
	/*
	 * device epoch; contexts of another epoch are dead; 0: not accessible
	 */
	u32 epoch;

	/* Identity registers, read once at probe. */
	u32 version, units, max_contexts, max_queues, max_ring, vectors_hw, rings_hw, stride;
	u32 regions_log2;
	u64 caps, clock_hz, aperture;
	void *fdt;
	u32 fdt_bytes, fdt_crc;

	struct semaphore users_turn;	/* who holds it waits for mbox_lock or holds that */
	struct mutex mbox_lock;		/* serializes the mailbox, resets and writes to epoch */
	bool mbox_stuck;		/* under mbox_lock: the last command was not answered */
	bool core_reset;		/* under mbox_lock: the PCI core resets the function */
	wait_queue_head_t core_reset_wait; /* for its end, in gtu_mbox_lock() */
	/*
	 * Page faults insert device memory under it, for reading. Taken for
	 * writing between the end of an object and the zap of its mappings.
	 */
	struct rw_semaphore map_lock;
	bool quiesce_called, quiesced;	/* under mbox_lock: quiesce() was called; its result */
	u32 setting[GTU_UNIT_PAGES][GTU_UREG_SETS]; /* under mbox_lock: restored after a reset */
	u8 setting_valid[GTU_UNIT_PAGES];

	/* To snapshot, clear and read counters, also in interrupts; protects the next four. */
	raw_spinlock_t counter_lock;
	bool counters_on;		/* the registers are accessible */
	ktime_t snapshot[GTU_UNIT_PAGES]; /* time of the last snapshot */
	/* for perf: what users and resets have cleared, and what the device has counted since */
	u64 cleared[GTU_UNIT_PAGES][GTU_UREG_COUNTERS], last[GTU_UNIT_PAGES][GTU_UREG_COUNTERS];

	unsigned int vectors;
	struct gtu_vector vector[GTU_VECTORS];
	u32 event_rings;

	spinlock_t ctx_lock;		/* protects contexts; taken in interrupt context */
	struct list_head contexts;
	struct ida ctx_ids, queue_ids;
	struct gtu_queue __rcu **queue;	/* by id; written by the owner of the id */

	spinlock_t user_lock;		/* protects users, what they use, and groups */
	struct list_head users;
	struct gtu_group *group;	/* [max_contexts] */
	s64 groups_freed;

	atomic_long_t buffer_pages;

	phys_addr_t aperture_phys;
	unsigned long aperture_pages;	/* 0: no usable aperture */
	struct mutex aperture_lock;	/* protects the next two */
	unsigned long *aperture_used;	/* one bit per page */
	struct list_head extents;

	struct dma_resv peer_resv;	/* of the aperture's dma-bufs; protects the next three */
	struct list_head peer_exports;
	unsigned int peers_mapped;	/* attachments that are mapped */
	bool peers_stopped;		/* none may be mapped */

	struct delayed_work watchdog;	/* runs while there are waiters */
	u32 hang_next;			/* of the watchdog: where its next check for hangs begins */
	struct ratelimit_state dump_limit;
	struct mutex dump_lock;		/* held while a dump is written; protects the next three */
	struct list_head dump;		/* pages of text, until dump_work takes them */
	unsigned int dump_pages;
	bool dump_full;			/* the rest is left out */
	struct work_struct dump_work;
	struct dentry *debugfs;
	const struct attribute_group *groups[2 * GTU_UNIT_PAGES + 1];
};

/* Resources of a device with a limit per user. */
enum gtu_resource {
	GTU_USER_CONTEXTS,
	GTU_USER_QUEUES,
	GTU_USER_APERTURE,		/* pages */
	GTU_USER_BUFFERS,		/* pages */
	GTU_USER_RESOURCES,
};

/* A user who has something of a device. */
struct gtu_user {
	struct list_head link;
	kuid_t uid;
	unsigned long used[GTU_USER_RESOURCES];
	struct mutex turn;		/* who holds it waits for users_turn or holds that */
};

/* A context: one open file. */
struct gtu_ctx {
	struct rcu_head rcu;
	struct kref ref;		/* held by the file, and by remove() during teardown */
	struct gtu_device *gtu;		/* holds a reference */
	struct address_space *mapping;	/* of the file; holds its inode */
	kuid_t uid;			/* of the process that opened the file */
	struct gtu_user *user;		/* who is charged for it; NULL before */
	struct list_head link;		/* under gtu->ctx_lock, with suspended */
	bool suspended;			/* restore after a system suspend */
	u32 id, group;
	u32 epoch;
	pid_t pid;			/* of the process that opened the file */
	char comm[TASK_COMM_LEN];

	wait_queue_head_t event_wait;	/* for poll() and read() */
	spinlock_t event_lock;		/* protects ready */
	struct list_head ready;		/* queues with an event that was not read yet */

	struct mutex teardown_lock;	/* held until a teardown has freed everything */
	struct mutex lock;		/* protects all below */
	bool torn_down;			/* nothing of the context is left on the device */
	unsigned int queues;		/* that exist or are being created */
	struct xarray queue;		/* struct gtu_queue by id */
	struct gtu_hw_region *table;
	dma_addr_t table_dma;
	u32 slots, next_slot;
	unsigned long *used;		/* slots in use or retired */
	u16 *generation;		/* of each slot: the last one used */
	spinlock_t region_lock;		/* taken to change region[], so that mmap() can read it */
	struct gtu_region **region;	/* by slot */

	atomic_long_t chunks;		/* page list chunks in use */
	atomic_long_t memory_pages;	/* host memory of its regions */

	u64 client;			/* unique while the module is loaded; not 0 */
	/* Under gtu->mbox_lock, by unit: the counters at this file's last snapshot, or NULL. */
	u64 *counters[GTU_UNIT_PAGES];

	struct mutex usage_lock;	/* taken outside of user->turn; protects usage */
	struct gtu_usage {
		u64 jobs, failed, cycles;
	} usage, usage_before;		/* in all; before the device's counters began at 0 */
	ktime_t usage_time;		/* of the last read */
	atomic_long_t aperture_pages;	/* aperture pages in use */
	atomic_t aperture_maps;
	bool aperture_revoked;		/* under gtu->map_lock */
	bool aperture_lost;		/* a suspend could not save its pages */
};

/* Page lists for the device: chunks of 512 addresses. */
struct gtu_list {
	unsigned int chunks;
	struct gtu_chunk {
		__le64 *cpu;
		dma_addr_t dma;
		size_t bytes;		/* of the allocation that starts here; else 0 */
	} *chunk;
};

/*
 * Host memory allocated by the driver. User mappings and dma-bufs hold
 * references too.
 */
struct gtu_buffer {
	struct kref ref;
	struct gtu_device *gtu;		/* holds a reference: a dma-buf outlives files */
	kuid_t uid;			/* charged */
	unsigned long pages;
	struct page **page;
	unsigned long huge;		/* of these pages, in blocks that fit a huge entry */
	unsigned long pgoff;		/* of the first page in the file, once mapped */

	struct mutex lock;		/* protects all below */
	struct list_head attachments;	/* of all dma-bufs of this buffer */
};

/* A contiguous range of aperture pages. User mappings and dma-bufs hold references too. */
struct gtu_extent {
	struct kref ref;
	struct gtu_ctx *ctx;		/* outlives regions and mappings */
	struct list_head link;		/* in gtu->extents */
	unsigned long first, pages;
	void *copy;			/* while suspended, under gtu->aperture_lock */
	unsigned long pgoff;		/* of the first page in the file, once mapped */
	struct page *blank;		/* behind its mappings once the context is dead */
};

struct gtu_region {
	u32 key, rights;
	u64 length;
	unsigned int in_page;		/* offset of byte 0 in the first page */
	unsigned long pages;
	struct sg_table *sgt;		/* once DMA-mapped: &own, or an importer's */
	struct sg_table own;
	enum dma_data_direction dir;
	struct mm_struct *mm;		/* user memory: mm that is charged */
	struct gtu_buffer *buffer;	/* or a driver buffer */
	struct gtu_extent *extent;	/* or aperture pages */
	struct dma_buf_attachment *attach; /* or an imported dma-buf */
	struct gtu_moving *moving;	/* whose exporter may move it */
	struct list_head link;		/* of regions that a teardown frees */
	bool leaked;			/* under ctx->lock: the device may still use it */
	bool internal;			/* of the driver: users cannot name its key */
	bool removing;			/* under ctx->lock: new jobs must not name it */
	struct gtu_list list;
};

/* State of a descriptor check; see gtu_check_desc(). */
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

/*
 * A ring. Its pages are known, unlike those of dma_alloc_coherent(), because
 * faults map them: dma_mmap_coherent() in mmap() would race with the zap at the
 * queue's end.
 */
struct gtu_ring {
	void *cpu;
	dma_addr_t dma;
	size_t bytes;			/* whole pages */
	enum dma_data_direction dir;
	struct sg_table *sgt;
};

struct gtu_queue {
	struct rcu_head rcu;
	struct kref ref;		/* held by the context, mappings and waiters */
	struct gtu_ctx *ctx;		/* outlives every holder of a reference */
	u32 id;				/* unique on the device while not dead */
	u32 sq_log2, cq_log2;
	u32 event_ring;
	struct gtu_ring sq, cq;
	struct gtu_hw_queue_status *status; /* in cq */

	/*
	 * Behind the mappings of a dead queue, by GTU_MAP_*: what a program
	 * writes to rings and doorbells must not show in the status.
	 */
	struct page *blank[3];

	bool submit;			/* GTU_QUEUE_SUBMIT; under ctx->lock, with all below */
	u32 sq_tail, cq_head;		/* as last written to the doorbell */
	u64 submitted;			/* descriptors since the last reset */
	/* by slot: value of submitted after the last job that names it */
	u64 *last_use;
	struct gtu_region *blocks;	/* parameter blocks: GTU_BLOCK_OPERANDS per ring entry */
	u32 blocks_key;

	wait_queue_head_t wait;
	spinlock_t wait_lock;		/* protects all below, and the rings while not dead */
	bool dead;
	bool armed;
	u32 arm_index;
	bool requested;			/* an event at request_index, by ioctl */
	u32 request_index;
	u32 resets;
	u32 events;
	struct eventfd_ctx *eventfd;
	u32 notified_tail, notified_state; /* at the last event */
	struct {			/* state at the last watchdog run */
		u32 sq_head, cq_tail, events;
		unsigned long since;	/* jiffies */
		bool hang_reported;
		bool unnotified;	/* it changed without an event */
	} seen;

	struct {			/* under ctx->lock; position at system suspend */
		bool valid;
		u32 index, tail, head;
	} saved;

	struct list_head ready;		/* in ctx->ready, under ctx->event_lock */
	atomic_t waiters;		/* threads in ioctl(WAIT) */
};

/* gtu_bind.c */
int gtu_bind(struct device *parent, const struct gtu_bus *bus, void *bus_data,
	     const struct gtu_resources *res);
void gtu_unbind(struct gtu_device *gtu);
void gtu_irqs_disable(struct gtu_device *gtu);
void gtu_irqs_enable(struct gtu_device *gtu);
void gtu_shutdown(struct gtu_device *gtu);

/* gtu_pci.c, gtu_platform.c: if the kernel has the bus */
int gtu_pci_register(void);
void gtu_pci_unregister(void);
extern struct platform_driver gtu_platform_driver;

/* gtu_hw.c */
#define GTU_MBOX(ctx, cmd, ...) GTU_MBOX_QUERY(ctx, cmd, NULL, __VA_ARGS__)
#define GTU_MBOX_QUERY(ctx, cmd, result, ...)                                                      \
	gtu_mbox_query(ctx, cmd, (const u64 [GTU_MBOX_ARGS]) { __VA_ARGS__ }, result)
u64 gtu_scaled(u64 time);
u64 gtu_scaled_us(unsigned int ms);
unsigned long gtu_scaled_jiffies(unsigned int ms);
int gtu_hw_identify(struct gtu_device *gtu, u64 regs_bytes, u64 doorbells_bytes);
void gtu_fdt_read(struct gtu_device *gtu);
int gtu_mbox_locked(struct gtu_device *gtu, u32 cmd, const u64 *arg);
int gtu_mbox_query(struct gtu_ctx *ctx, u32 cmd, const u64 *arg, u64 *result);
unsigned int gtu_unit_blocks(struct gtu_device *gtu, unsigned int unit);
int gtu_reg_read(struct gtu_device *gtu, struct gtu_ctx *ctx, u32 offset, u64 *value);
int gtu_reg_write(struct gtu_ctx *ctx, u32 offset, u64 value);
int gtu_counter_read(struct gtu_device *gtu, u32 offset, u64 *value);
u64 gtu_counter_now(struct gtu_device *gtu, u32 offset);
void gtu_counters_update(struct gtu_device *gtu);
void gtu_counters_stop(struct gtu_device *gtu);

static inline u32 gtu_rd(struct gtu_device *gtu, u32 reg)
{
	return readl(gtu->regs + reg);
}

static inline u64 gtu_rd64(struct gtu_device *gtu, u32 reg)
{
	return readq(gtu->regs + reg);
}

static inline void gtu_wr(struct gtu_device *gtu, u32 reg, u32 value)
{
	writel(value, gtu->regs + reg);
}

/* gtu_reset.c */
void gtu_mbox_lock_always(struct gtu_device *gtu, struct gtu_user *user);
void gtu_mbox_lock(struct gtu_device *gtu, struct gtu_user *user);
void gtu_mbox_unlock(struct gtu_device *gtu, struct gtu_user *user);
void gtu_set_dead(struct gtu_device *gtu);
int gtu_alive(struct gtu_device *gtu);
bool gtu_quiesce(struct gtu_device *gtu);
bool gtu_force_quiesce(struct gtu_ctx *ctx, const char *why);
void gtu_reset_begin(struct gtu_device *gtu);
void gtu_reset_end(struct gtu_device *gtu);
bool gtu_hw_reset(struct gtu_device *gtu);
int gtu_hw_start(struct gtu_device *gtu);
void gtu_hw_stop(struct gtu_device *gtu);
int gtu_hw_restart(struct gtu_device *gtu);

/* gtu_event.c */
void gtu_queue_doorbell(struct gtu_queue *q, u32 reg, u32 value);
void gtu_queue_request(struct gtu_queue *q, u32 index, bool stream);
void gtu_queue_notify_locked(struct gtu_queue *q);
void gtu_queue_notify(struct gtu_queue *q);
void gtu_queue_dropped(struct gtu_queue *q);
void gtu_queue_dead(struct gtu_queue *q);
void gtu_queues_wake(struct gtu_device *gtu);
int gtu_events_alloc(struct gtu_device *gtu);
void gtu_events_free(struct gtu_device *gtu);
int gtu_events_enable(struct gtu_device *gtu);
irqreturn_t gtu_interrupt(int irq, void *arg);
void gtu_interrupt_unpause(struct gtu_vector *v);
u32 gtu_event_ring_here(struct gtu_device *gtu);
int gtu_queue_wait(struct gtu_queue *q, u32 index, const u32 *record, u64 deadline_ns, u32 *tail,
		   u32 *state);
int gtu_queue_wait_any(struct gtu_ctx *ctx, struct gtu_queue **q, struct gtu_wait_entry *entry,
		       unsigned int n, u64 deadline_ns, u32 *first);
int gtu_queue_eventfd(struct gtu_queue *q, int fd);
__poll_t gtu_poll(struct file *file, poll_table *wait);
ssize_t gtu_read(struct file *file, char __user *to, size_t bytes, loff_t *at);

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

static inline const char *gtu_state_name(struct gtu_device *gtu)
{
	if (READ_ONCE(gtu->state) != GTU_STATE_UP)
		return "dead";
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
bool gtu_ctx_disable(struct gtu_ctx *ctx, int error, const char *why);
struct gtu_ctx *gtu_ctx_create(struct gtu_device *gtu, struct address_space *mapping);
void gtu_ctx_teardown(struct gtu_ctx *ctx);
void gtu_ctx_unlink(struct gtu_ctx *ctx);
void gtu_ctx_close(struct gtu_ctx *ctx);
void gtu_ctx_put(struct gtu_ctx *ctx);
void gtu_ctx_usage(struct gtu_ctx *ctx, struct gtu_usage *usage, bool now);
void gtu_show_fdinfo(struct seq_file *m, struct file *file);
struct gtu_ctx *gtu_ctx_next(struct gtu_device *gtu, u64 client);
int gtu_user_charge(struct gtu_device *gtu, kuid_t uid, enum gtu_resource what, unsigned long n,
		    unsigned long limit);
void gtu_user_uncharge(struct gtu_device *gtu, kuid_t uid, enum gtu_resource what,
		       unsigned long n);

/* Address of a register in the queue's doorbell page. */
static inline void __iomem *gtu_doorbell(struct gtu_queue *q, u32 reg)
{
	return q->ctx->gtu->doorbells + ((size_t)q->id << q->ctx->gtu->stride) + reg;
}

/* gtu_ioctl.c */
long gtu_ioctl(struct file *file, unsigned int cmd, unsigned long at);

/* gtu_region.c: region table of a context */
int gtu_region_publish(struct gtu_ctx *ctx, struct gtu_region *r, u32 *key);
int gtu_region_remove(struct gtu_ctx *ctx, u32 key, bool internal);
void gtu_region_drop_all(struct gtu_ctx *ctx, bool quiesced, struct list_head *dropped);
bool gtu_region_retract(struct gtu_ctx *ctx, struct gtu_region *r);
int gtu_region_restore(struct gtu_ctx *ctx, struct gtu_region *r);
struct gtu_region *gtu_region_at(struct gtu_ctx *ctx, u32 slot);
struct gtu_region *gtu_region_find(struct gtu_ctx *ctx, u32 key);

/* gtu_memory.c: memory of regions */
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
void gtu_extent_mmap(struct gtu_extent *p, struct vm_area_struct *vma);
void gtu_aperture_unmap(struct gtu_ctx *ctx);
void gtu_extent_leak(struct gtu_extent *p);
void gtu_aperture_save(struct gtu_device *gtu);
void gtu_aperture_restore(struct gtu_device *gtu);

/* gtu_dmabuf.c */
struct dma_buf *gtu_buffer_export(struct gtu_ctx *ctx, u32 key, u32 rights);
struct gtu_region *gtu_region_import(struct gtu_ctx *ctx, int fd, u32 rights);
void gtu_import_free(struct gtu_region *r);
int gtu_import_hold(struct gtu_region *r);
void gtu_import_lockdep(struct gtu_ctx *ctx);
void gtu_import_release(struct gtu_region *r);
void gtu_import_resume(struct gtu_ctx *ctx);

/* gtu_peer.c */
struct dma_buf *gtu_extent_export(struct gtu_extent *p, u32 rights);
void gtu_peers_stop(struct gtu_device *gtu);
void gtu_peers_start(struct gtu_device *gtu);
void gtu_peers_init(struct gtu_device *gtu);
void gtu_peers_fini(struct gtu_device *gtu);

/* gtu_list.c */
int gtu_list_build(struct gtu_ctx *ctx, struct gtu_region *r, struct gtu_hw_region *entry);
void gtu_list_free(struct gtu_ctx *ctx, struct gtu_list *l);

/* gtu_queue.c */
struct gtu_queue *gtu_queue_create(struct gtu_ctx *ctx, u32 sq_log2, u32 cq_log2, bool submit);
struct gtu_queue *gtu_queue_get(struct gtu_ctx *ctx, u32 id);
void gtu_queue_put(struct gtu_queue *q);
struct gtu_queue *gtu_queue_lock(struct gtu_device *gtu, u32 id);
void gtu_queue_unlock(struct gtu_queue *q);
int gtu_queue_destroy(struct gtu_ctx *ctx, u32 id);
int gtu_queue_reset(struct gtu_ctx *ctx, u32 id);
void gtu_queue_kill(struct gtu_queue *q, bool quiesced);
int gtu_queues_stop(struct gtu_ctx *ctx);
void gtu_queue_drop(struct gtu_queue *q);
void gtu_queue_submit(struct gtu_queue *q, u32 tail, u32 head);
int gtu_queue_resume(struct gtu_queue *q);
int gtu_queue_cancel(struct gtu_ctx *ctx, u32 id, bool all, u32 until);

/* gtu_sysfs.c */
/* A named register. */
struct gtu_field {
	const char *name;
	u16 offset;
	u8 bytes;
	bool user;			/* of the global page: readable by ioctl */
};

#define GTU_NO_ROW(...)
#define GTU_COUNT_ROW(...)	+1
#define GTU_COUNT_ROWS(UNIT, ...)                                                                  \
	GTU_##UNIT##_PARAMETER_ROWS(GTU_COUNT_ROW, GTU_COUNT_ROW, GTU_NO_ROW)                      \
	GTU_##UNIT##_SETTING_ROWS(GTU_COUNT_ROW, GTU_COUNT_ROW)                                    \
	GTU_##UNIT##_COUNTER_ROWS(GTU_COUNT_ROW, GTU_COUNT_ROW)
#define GTU_REGISTER_COUNT_ROWS(UNIT, ...)                                                         \
	GTU_##UNIT##_REGISTER_ROWS(GTU_COUNT_ROW, GTU_NO_ROW)
#define GTU_OWN_FIELDS		(0 GTU_UNIT_ROWS(GTU_REGISTER_COUNT_ROWS))
#define GTU_FIELDS		(0 GTU_UNIT_ROWS(GTU_COUNT_ROWS))
#define GTU_GLOBALS		33
/* of GTU_FIELDS and GTU_GLOBALS entries */
extern const struct gtu_field gtu_fields[], gtu_globals[];
/* GTU_OWN_FIELDS control registers of a unit's first block, and its blocks */
extern const struct gtu_field gtu_own_fields[];
extern const struct gtu_blocks {
	u16 stride;			/* 0: the unit has no control registers of its own */
	u16 count;			/* offset of the parameter that counts the blocks */
} gtu_blocks[GTU_UNIT_PAGES];
extern const char *const gtu_unit_names[GTU_UNIT_PAGES];
extern const u8 gtu_unit_counters[GTU_UNIT_PAGES];	/* number of counters */
const char *gtu_opcode_name(unsigned int opcode);
const char *gtu_cpl_name(unsigned int status);
const char *gtu_queue_state_name(unsigned int state);

/* Unit index of a field, from 0. */
static inline unsigned int gtu_field_unit(const struct gtu_field *f)
{
	return f->offset / GTU_PAGE - 1;
}

static inline bool gtu_field_is_counter(const struct gtu_field *f)
{
	return f->offset % GTU_PAGE >= GTU_UREG_COUNTER(0);
}
extern const struct attribute_group *gtu_groups[];
void gtu_sysfs_init(void);
void gtu_sysfs_units(struct gtu_device *gtu);

/* gtu_pmu.c */
#ifdef CONFIG_PERF_EVENTS
void gtu_pmu_init(void);
void gtu_pmu_exit(void);
void gtu_pmu_attach(struct gtu_device *gtu);
void gtu_pmu_detach(struct gtu_device *gtu);
#else
static inline void gtu_pmu_init(void) { }
static inline void gtu_pmu_exit(void) { }
static inline void gtu_pmu_attach(struct gtu_device *gtu) { }
static inline void gtu_pmu_detach(struct gtu_device *gtu) { }
#endif

/* gtu_state.c */
void gtu_debugfs_init(void);
void gtu_debugfs_exit(void);
void gtu_debugfs_add(struct gtu_device *gtu);
void gtu_debugfs_remove(struct gtu_device *gtu);
void gtu_dump_init(struct gtu_device *gtu);
void gtu_dump_finish(struct gtu_device *gtu);
__printf(3, 4) void gtu_dump(struct gtu_device *gtu, struct gtu_ctx *held, const char *format, ...);

/* gtu_watchdog.c */
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
void gtu_submit_notify(struct gtu_queue *q);
int gtu_submit_settle(struct gtu_ctx *ctx, struct gtu_region *r);
int gtu_region_read(struct gtu_region *r, u64 offset, void *to, size_t bytes);

/* gtu_mmap.c */
#define GTU_MAP_SQ		0u
#define GTU_MAP_CQ		1u
#define GTU_MAP_DOORBELL	2u
#define GTU_MAP_BUFFER		3u
#define GTU_MAP_APERTURE	4u
#define GTU_MAP_KIND_SHIFT	41	/* 8 kinds fit into 32-bit page offsets of 4 KiB */
#define GTU_MAP_ID_SHIFT	24	/* the largest ring is 8 MiB */
u64 gtu_map_offset(u32 kind, u32 id);
int gtu_mmap(struct file *file, struct vm_area_struct *vma);
int gtu_tables_alloc(struct vm_area_struct *vma, unsigned long at, unsigned long end);
vm_fault_t gtu_insert_blank(struct vm_fault *vmf, struct page **blank);
void gtu_queue_unmap(struct gtu_queue *q);
void gtu_device_unmap(struct gtu_device *gtu);

#endif
