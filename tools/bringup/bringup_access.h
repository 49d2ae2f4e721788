/* SPDX-License-Identifier: MIT */
/*
 * Access to a function: configuration space, BARs and, if possible, memory for DMA and interrupts.
 * bringup_model.c accesses a function in this process, bringup_socket.c one of gtu serve,
 * bringup_pci.c one on the bus without a driver, bringup_vfio.c one bound to vfio-pci.
 */
#ifndef GTU_BRINGUP_ACCESS_H
#define GTU_BRINGUP_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "gtu/error.h"
#include "firmware-model/device/gtu_model.h"

#define ACCESS_BARS	6
#define ACCESS_BLOCKS	4
#define ACCESS_BLOCK_MAX (2u << 20)
#define ACCESS_VECTORS	64

struct access {
	const struct access_ops *ops;
	char name[96];			/* for messages */
	char link[96];			/* the kernel's description of the link, or "" */
	bool has_memory, has_irqs;	/* memory() and the irq_ calls may work */
	unsigned timeouts;		/* number of timeouts so far */
	uint64_t time_scale;		/* factor of their length */
	uint8_t *block;			/* memory of the last rig, for the next one */
	uint64_t block_bus;
	/* memory of access_block() and eventfds (-1: none) of access_eventfds() */
	struct {
		uint8_t *at;
		uint64_t bytes;
	} host[ACCESS_BLOCKS];
	unsigned blocks, high_blocks;
	int vector[ACCESS_VECTORS];
	void *own;
};

struct access_ops {
	const char *kind;		/* "model", "socket", "pci", "vfio" */
	uint32_t (*config_read)(struct access *a, unsigned at, unsigned bytes);
	void (*config_write)(struct access *a, unsigned at, unsigned bytes, uint32_t value);
	/* Size of a BAR in bytes; 0: absent. */
	uint64_t (*bar_size)(struct access *a, unsigned bar);
	/*
	 * One access of 1, 2, 4 or 8 bytes. Outside of the BAR reads give all ones and writes
	 * nothing.
	 */
	uint64_t (*read)(struct access *a, unsigned bar, uint64_t offset, unsigned bytes);
	void (*write)(struct access *a, unsigned bar, uint64_t offset, unsigned bytes, uint64_t value);
	/* A function-level reset that restores configuration space. */
	int (*flr)(struct access *a, struct gtu_error *err);
	/*
	 * Allocate @bytes (a power of two, at most 2 MiB) of zeroed memory at contiguous bus
	 * addresses, until close(). @bus is its bus address. @high: above 4 GiB, exactly 4 GiB
	 * above the first low block. NULL with a message.
	 */
	uint8_t *(*memory)(struct access *a, uint64_t bytes, bool high, uint64_t *bus, struct gtu_error *err);
	/* Enable MSI-X with vectors 0..@count-1 unmasked; disable it. */
	int (*irq_on)(struct access *a, unsigned count, struct gtu_error *err);
	void (*irq_off)(struct access *a);
	void (*irq_mask)(struct access *a, unsigned vector, bool masked);	/* NULL: unsupported */
	/* Whether @vector has arrived since the last call for it. */
	bool (*irq_came)(struct access *a, unsigned vector);
	/* Let a function in this process run; elsewhere sleep for a moment. */
	void (*work)(struct access *a);
	void (*close)(struct access *a);
};

/* Create a function in this process, with an injected @bug. */
struct access *access_model(const struct gtu_dev_config *config, enum gtu_bug bug, struct gtu_error *err);

/* Actions on the machine that the user permits. */
struct access_permission {
	bool unbind;			/* take it from its driver, and give it back at the end */
	bool rescan;			/* remove it and scan the bus again first */
	bool hugepage;			/* give it physical memory */
	bool force;			/* accept any vendor, device and class */
	uint32_t id;			/* the board's vendor | device << 16 */
};
/*
 * Check ids and class by reads only, so that a mistyped address does no harm to another device.
 * Returns GTU_ERR_FAIL if the function is not a GTU.
 */
int access_kind(struct access *a, const char *address, uint32_t id, struct gtu_error *err);
/* Convert "0000:00:04.0" or "00:04.0" to the kernel's form, "0000:00:04.0"; false if malformed. */
bool access_pci_address(char *address, size_t size, const char *word);
/* @address: "0000:00:04.0", or NULL for the only function with the id. */
struct access *access_pci(const char *address, const struct access_permission *may, struct gtu_error *err);
/*
 * The function of `gtu serve` at a socket; this process takes the machine's part. The timeout of an answer is
 * multiplied by @time_scale.
 */
struct access *access_socket(const char *path, uint64_t time_scale, struct gtu_error *err);
struct access *access_vfio(const char *address, const struct access_permission *may, struct gtu_error *err);

/*
 * Wait a moment for the function, or let it run. Returns false when the time is over: four seconds
 * if the function is not in this process, halved after each timeout so that a dead function does
 * not delay thousands of checks. @t starts zeroed.
 */
struct access_timer {
	uint64_t end;
	unsigned polls;
	bool over;
};
bool access_wait(struct access *a, struct access_timer *t);

/* Allocate an access with @own zeroed bytes of its kind; free it with all that it holds. */
struct access *access_new(const struct access_ops *ops, size_t own, struct gtu_error *err);
void access_free(struct access *a);
/*
 * Allocate a block as access_ops.memory() does, at a bus address of this process's choice. @fd is
 * its file, which the caller closes. access_free() frees the block.
 */
uint8_t *access_block(struct access *a, uint64_t bytes, bool high, uint64_t *bus, int *fd, struct gtu_error *err);
/* Create the eventfds of the first @count vectors; access_event_came() and access_sleep() are operations. */
int access_eventfds(struct access *a, unsigned count, struct gtu_error *err);
bool access_event_came(struct access *a, unsigned vector);
void access_sleep(struct access *a);

/* Offset of a capability (PCI_CAP_ID_*) in configuration space; 0: absent. */
unsigned access_capability(struct access *a, unsigned id);
/* Run a command of the mailbox. Returns MBOX_STATUS, with BUSY after a timeout. */
uint32_t access_command(struct access *a, uint32_t command, const uint64_t *arg);
/* For accesses without a kernel: size a BAR by writing ones, and reset by Device Control. */
uint64_t access_probe_bar(struct access *a, unsigned bar);
int access_flr(struct access *a, struct gtu_error *err);
/* Loads and stores of mapped BARs. */
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
