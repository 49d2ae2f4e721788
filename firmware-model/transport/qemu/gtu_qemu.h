/* SPDX-License-Identifier: MIT */
/*
 * The device compiled into QEMU: runs the model on a thread of its own, for several fronts. A front
 * (gtu_pci.c, gtu_platform.c) gives the core an address space and gets memory regions and
 * interrupts from it. All device logic is in the model.
 *
 * `lock`, `stepping` and `waiting` decide which thread may call the model: the model's thread
 * during a step of about 50 us, without QEMU's big lock, or one thread with the big lock between
 * two steps. Memory is accessed in place. Memory that QEMU takes away (removed memory, bus
 * mastering, IOMMU unmapping) is removed from the table between two steps, so that no pointer
 * outlives its memory.
 *
 * An IOMMU may be called only under the big lock, which the model's thread never takes. The thread
 * posts a request, which is served by a thread that holds the big lock and waits for the model, or
 * else by the main loop. During translation an IOMMU may write to any address, including this
 * device's registers and configuration space: such register accesses have no effect, and changes
 * are deferred.
 */
#ifndef GTU_QEMU_H
#define GTU_QEMU_H

#include "gtu_qemu_compat.h"

#include "firmware-model/transport/dma_table.h"
#include "uapi/gtu/hw.h"
#include "firmware-model/device/gtu_model.h"

#define GTU_QEMU_VECTORS_MAX	64u

struct gtu_qemu;

/* A memory region of the device; @number is its BAR on PCI. */
struct gtu_qemu_bar {
	struct gtu_qemu *core;
	unsigned number;
	MemoryRegion region;
};

/* A part of @as that an IOMMU translates; `notifier` receives its invalidations. */
struct gtu_qemu_iommu {
	struct gtu_qemu *core;
	IOMMUMemoryRegion *region;
	IOMMUNotifier notifier;
	hwaddr start, last;		/* bus addresses, both included */
	hwaddr shift;			/* bus address of the region's byte 0 */
	QLIST_ENTRY(gtu_qemu_iommu) next;
};

/* A change that must be made while no step runs. */
enum gtu_qemu_what {
	GTU_QEMU_ADD,			/* memory, or an IOMMU */
	GTU_QEMU_DROP,
	GTU_QEMU_UNMAP,			/* by an IOMMU */
	GTU_QEMU_RESET,
};

struct gtu_qemu_change {
	enum gtu_qemu_what what;
	MemoryRegion *mr;		/* for ADD and DROP */
	hwaddr start, last;		/* bus addresses, both included */
	hwaddr offset;			/* of `start` within the region */
	bool readonly;
};

/* A region that is no longer used, and its IOMMU notifier. */
struct gtu_qemu_removed {
	MemoryRegion *mr;
	struct gtu_qemu_iommu *iommu;
};

/* Parameters from a front, which owns them. */
struct gtu_qemu_setup {
	DeviceState *owner;
	AddressSpace *as;		/* the guest's memory as the device sees it */
	const struct gtu_dev_config *device;	/* zero fields: the model's defaults */
	bool map_aperture;		/* map device memory into the guest: fast, but invisible to ZCM */
	/* Raise an interrupt; called under the big lock without other locks. */
	void (*irq)(void *front, unsigned vector);
	void *front;
};

struct gtu_qemu {
	struct gtu_qemu_setup setup;
	struct gtu_dev *dev;
	struct gtu_qemu_bar bar[3];	/* registers, doorbells, aperture */

	/* mutual exclusion */
	QemuThread thread;
	QemuMutex lock;
	QemuCond work, stepped, answer;	/* signal the thread; waiting threads; a served request */
	bool stepping;			/* the thread calls the model, without `lock` */
	bool asleep;			/* the thread waits for `work` without timeout */
	bool stop, running;		/* running: the virtual machine is not paused */
	int64_t reported;		/* when the last step or idle time ended */
	bool warned;			/* about an IOMMU without notifications */
	unsigned waiting;		/* threads that want to call the model */
	bool serving;			/* an IOMMU is being called; under the big lock */
	bool cut;			/* the device is being removed: do not call the IOMMU; `lock` */
	GArray *deferred;		/* struct gtu_qemu_change, while serving; under the big lock */
	GArray *removed;		/* struct gtu_qemu_removed; for the thread that may call the model */

	/* memory; for the thread that may call the model */
	MemoryListener listener;
	struct dma_table memory;
	QLIST_HEAD(, gtu_qemu_iommu) iommus;
	GHashTable *held;		/* memory regions that translations refer to */
	GArray *written;		/* struct iovec: memory that this step may have written */

	struct {			/* from the thread to the thread that serves it; `lock` */
		bool pending;
		hwaddr addr;
		bool write;
	} request;
	QEMUBH *serve_bh;

	uint64_t irqs;			/* raised in this step; for the thread that may call the model */
	uint64_t raised;		/* to be delivered; `lock` */
	QEMUBH *irq_bh;
	VMChangeStateEntry *vm_state;
};

/*
 * Create the device, its memory regions and its thread. False with a message in @errp. This and all
 * following functions require the big lock.
 */
bool gtu_qemu_realize(struct gtu_qemu *g, const struct gtu_qemu_setup *setup, Error **errp);
/* End the thread and release memory; the regions still answer until gtu_qemu_finalize(). */
void gtu_qemu_unrealize(struct gtu_qemu *g);
void gtu_qemu_finalize(struct gtu_qemu *g);

/*
 * Reset the device (function-level reset, machine reset). Memory mappings stay: they follow the
 * address space.
 */
void gtu_qemu_reset(struct gtu_qemu *g);

/* The region of BAR 0, 2 or 4. */
MemoryRegion *gtu_qemu_region(struct gtu_qemu *g, unsigned bar);
/* The configuration including defaults. */
const struct gtu_dev_config *gtu_qemu_config(const struct gtu_qemu *g);

#endif
