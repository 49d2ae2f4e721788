/* SPDX-License-Identifier: MIT */
/*
 * How bringup reaches a function: configuration space, BARs and, where there is a way, memory that the function
 * reaches and its interrupts. bringup_model.c is a function in this process, bringup_socket.c one in another
 * (gtu serve), bringup_pci.c one on the bus without a driver (sysfs), bringup_vfio.c one that vfio-pci holds.
 */
#ifndef GTU_BRINGUP_ACCESS_H
#define GTU_BRINGUP_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "gtu/error.h"
#include "firmware-model/device/gtu_model.h"

#define ACCESS_BARS	6

struct access {
	const struct access_ops *ops;
	char name[96];			/* for sentences */
	char link[96];			/* what the bus says of the link, or "" */
	bool has_memory, has_irqs;	/* memory() and the irq_ calls may work */
	unsigned gave_up;		/* times that it was waited for in vain */
	uint8_t *block;			/* a rig's memory, kept for the next one */
	uint64_t block_bus;
	void *own;
};

struct access_ops {
	const char *kind;		/* "model", "socket", "sysfs", "vfio" */
	uint32_t (*config_read)(struct access *a, unsigned at, unsigned bytes);
	void (*config_write)(struct access *a, unsigned at, unsigned bytes, uint32_t value);
	/* Bytes of a BAR, 0: there is none. */
	uint64_t (*bar_size)(struct access *a, unsigned bar);
	/* One access of 1, 2, 4 or 8 bytes; outside of the BAR: all ones, and nothing is written. */
	uint64_t (*read)(struct access *a, unsigned bar, uint64_t offset, unsigned bytes);
	void (*write)(struct access *a, unsigned bar, uint64_t offset, unsigned bytes, uint64_t value);
	/* A function-level reset; configuration space is afterwards as before. */
	int (*flr)(struct access *a, struct gtu_error *err);
	/*
	 * @bytes (a power of two, at most 2 MiB) of zeroed memory, contiguous for the function, which stay until
	 * close(); @bus is where the function sees them. @high: above 4 GiB, and 4 GiB above the first block that was
	 * not. NULL with a sentence.
	 */
	uint8_t *(*memory)(struct access *a, uint64_t bytes, bool high, uint64_t *bus, struct gtu_error *err);
	/* MSI-X on, vectors 0..@count-1 unmasked; off. */
	int (*irq_on)(struct access *a, unsigned count, struct gtu_error *err);
	void (*irq_off)(struct access *a);
	void (*irq_mask)(struct access *a, unsigned vector, bool masked);	/* may be NULL: there is no way */
	/* Whether @vector has come since this was last asked of it. */
	bool (*irq_came)(struct access *a, unsigned vector);
	/* Let a function in this process work; elsewhere: a moment passes. */
	void (*work)(struct access *a);
	void (*close)(struct access *a);
};

/* A function made here. @bug: with this mistake. */
struct access *access_model(const struct gtu_dev_config *config, enum gtu_bug bug, struct gtu_error *err);

/* What may be done to a machine to reach a function. */
struct access_permission {
	bool unbind;			/* take it from its driver, and give it back at the end */
	bool rescan;			/* remove it and scan the bus again first */
	bool hugepage;			/* give it physical memory */
	bool force;			/* take it for a GTU, whatever it says it is */
};
/* A slip of the finger names a bridge or a disk: GTU_ERR_FAIL for what does not say that it is of our kind. Reads only. */
int access_kind(struct access *a, const char *address, struct gtu_error *err);
/* An address as the kernel writes it, "0000:00:04.0", from that or "00:04.0"; false: it is neither. */
bool access_pci_address(char *address, size_t room, const char *word);
/* @address: "0000:00:04.0", or NULL: the only one there is. */
struct access *access_pci(const char *address, const struct access_permission *may, struct gtu_error *err);
/* The function that a `gtu serve` shows at a socket: this process is the machine. */
struct access *access_socket(const char *path, struct gtu_error *err);
struct access *access_vfio(const char *address, const struct access_permission *may, struct gtu_error *err);

/*
 * One turn of waiting for what the function is to do: it works, or a moment passes. False: it has had time enough,
 * four seconds where it is not in this process, and half of that after each time that it was waited for in vain: who
 * never answers does not hold up a step of thousands of questions. @p begins as zeros.
 */
struct access_patience {
	uint64_t end;
	unsigned turns;
	bool over;
};
bool access_patient(struct access *a, struct access_patience *p);

/* Where a capability (PCI_CAP_ID_*) lies in the configuration space; 0: there is none. */
unsigned access_capability(struct access *a, unsigned id);
/* Where there is no kernel between: a BAR's size as firmware finds it, and a reset by Device Control. */
uint64_t access_probe_bar(struct access *a, unsigned bar);
int access_flr(struct access *a, struct gtu_error *err);
/* What the pci and vfio ways share: accesses to mapped BARs. */
uint64_t access_load(const volatile void *at, unsigned bytes);
void access_store(volatile void *at, unsigned bytes, uint64_t value);

static inline uint32_t access_reg(struct access *a, uint32_t reg)
{
	return (uint32_t)a->ops->read(a, 0, reg, 4);
}
static inline uint64_t access_reg64(struct access *a, uint32_t reg)
{
	return a->ops->read(a, 0, reg, 8);
}
static inline void access_set(struct access *a, uint32_t reg, uint32_t value)
{
	a->ops->write(a, 0, reg, 4, value);
}
static inline void access_set64(struct access *a, uint32_t reg, uint64_t value)
{
	a->ops->write(a, 0, reg, 8, value);
}

#endif
