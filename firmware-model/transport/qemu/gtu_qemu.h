/* SPDX-License-Identifier: MIT */
/*
 * The device compiled into QEMU: the model on a thread of its own, behind whatever front shows it to a guest. The
 * fronts are gtu_pci.c (a PCI function) and those of other buses; a front gives the core its view of memory and
 * takes memory regions and interrupts from it. No device logic is here: that is the model's.
 *
 * Who may call the model is decided by `lock`, `stepping` and `waiting`: the model's thread while it steps, which
 * never holds QEMU's big lock, or one thread that does hold it, between two steps of about 50 us. Memory is
 * reached in place. What QEMU takes away (memory that goes, bus mastering, an IOMMU's unmapping) is taken from the
 * table between two steps too, so that no pointer lives longer than what it points to.
 *
 * An IOMMU is asked under the big lock, which the model's thread does not take: it leaves a request, and whoever holds
 * the big lock and waits for the device serves it, else the main loop does. While it is asked, an IOMMU may write to where
 * its user says, this device's registers and configuration space included: such accesses find nothing, and changes wait.
 */
#ifndef GTU_QEMU_H
#define GTU_QEMU_H

#include "gtu_qemu_compat.h"

#include "firmware-model/transport/dma_table.h"
#include "uapi/gtu/hw.h"
#include "firmware-model/device/gtu_model.h"

#define GTU_QEMU_VECTORS_MAX	64u

struct gtu_qemu;

/* A memory region of the device, by the number of the BAR that it is on PCI. */
struct gtu_qemu_bar {
	struct gtu_qemu *core;
	unsigned number;
	MemoryRegion region;
};

/* Something of @as that is an IOMMU's: its invalidations come to `notifier`. */
struct gtu_qemu_iommu {
	struct gtu_qemu *core;
	IOMMUMemoryRegion *region;
	IOMMUNotifier notifier;
	hwaddr start, last;		/* bus addresses, both included */
	hwaddr shift;			/* bus address of the region's byte 0 */
	QLIST_ENTRY(gtu_qemu_iommu) next;
};

/* A change that needs the model's turn. */
enum gtu_qemu_what {
	GTU_QEMU_ADD,			/* memory, or an IOMMU */
	GTU_QEMU_DROP,
	GTU_QEMU_UNMAP,			/* by an IOMMU */
	GTU_QEMU_RESET,
};

struct gtu_qemu_change {
	enum gtu_qemu_what what;
	MemoryRegion *mr;		/* of ADD and DROP */
	hwaddr start, last;		/* bus addresses, both included */
	hwaddr offset;			/* of `start` in the region */
	bool readonly;
};

/* A region that is no longer used, and what listened to it. */
struct gtu_qemu_gone {
	MemoryRegion *mr;
	struct gtu_qemu_iommu *iommu;
};

/* What a front gives; it stays the front's. */
struct gtu_qemu_setup {
	DeviceState *owner;
	AddressSpace *as;		/* the guest's memory as the device sees it */
	const struct gtu_dev_config *device;	/* zero fields take the model's defaults */
	bool map_aperture;		/* the guest's accesses to device memory are memory accesses: fast, unseen by ZCM */
	/* An interrupt of the device; under the big lock, with no other lock held. */
	void (*irq)(void *front, unsigned vector);
	void *front;
};

struct gtu_qemu {
	struct gtu_qemu_setup setup;
	struct gtu_dev *dev;
	struct gtu_qemu_bar bar[3];	/* registers, doorbells, aperture */

	/* whose turn it is */
	QemuThread thread;
	QemuMutex lock;
	QemuCond work, turn, answer;	/* for the thread; for those who wait for it; for its request */
	bool stepping;			/* the thread calls the model, without `lock` */
	bool asleep;			/* it waits for `work`, however long that takes */
	bool stop, running;		/* running: the virtual machine is not paused */
	bool warned;			/* of an IOMMU that tells nothing */
	unsigned waiting;		/* threads that want to call the model */
	bool serving;			/* the IOMMU is being asked; under the big lock */
	bool cut;			/* it is not asked any more; `lock` */
	GArray *later;			/* struct gtu_qemu_change: came while it was asked; under the big lock */
	GArray *gone;			/* struct gtu_qemu_gone; of whom may call the model */

	/* memory; of whom may call the model */
	MemoryListener listener;
	struct dma_table memory;
	QLIST_HEAD(, gtu_qemu_iommu) iommus;
	GHashTable *held;		/* memory regions behind what an IOMMU translated to */
	GArray *written;		/* struct iovec: what this step may have written to */

	struct {			/* of the thread to whoever serves it; `lock` */
		bool pending;
		hwaddr addr;
		bool write;
	} request;
	QEMUBH *serve_bh;

	uint64_t irqs;			/* raised in this step; of whom may call the model */
	uint64_t raised;		/* to be delivered; `lock` */
	QEMUBH *irq_bh;
	VMChangeStateEntry *vm_state;
};

/*
 * Make the device, its memory regions and its thread. False with a sentence in @errp. Everything is under the big
 * lock: this and what follows.
 */
bool gtu_qemu_realize(struct gtu_qemu *g, const struct gtu_qemu_setup *setup, Error **errp);
/* The thread ends and memory is let go of; the regions still answer, until gtu_qemu_finalize(). */
void gtu_qemu_unrealize(struct gtu_qemu *g);
void gtu_qemu_finalize(struct gtu_qemu *g);

/* What a function-level reset and a reset of the machine do. Memory stays the front's address space. */
void gtu_qemu_reset(struct gtu_qemu *g);

/* The region of BAR 0, 2 or 4. */
MemoryRegion *gtu_qemu_region(struct gtu_qemu *g, unsigned bar);
/* The configuration with every default filled in. */
const struct gtu_dev_config *gtu_qemu_config(const struct gtu_qemu *g);

#endif
