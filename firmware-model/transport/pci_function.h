/* SPDX-License-Identifier: MIT */
/*
 * The device model as a PCI function: configuration space, MSI-X, BARs, resets, and injected faults
 * for driver tests. Independent of sockets and virtual machines.
 */
#ifndef GTU_PCI_FUNCTION_H
#define GTU_PCI_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "dma_table.h"
#include "gtu/error.h"
#include "firmware-model/device/gtu_model.h"

struct pci_function;

#define PCI_BARS		6
#define PCI_CONFIG_BYTES	4096u
/* Region index of configuration space; 0..5 are BARs. */
#define PCI_REGION_CONFIG	7

/*
 * Injected faults. The value of a fault counts accesses to BARs 0, 2 and 4 from 1 unless noted
 * otherwise; 0: off.
 */
enum pci_fault {
	PCI_FAULT_LOSE_IRQ,	/* every n-th interrupt is not sent */
	PCI_FAULT_STALL,	/* from the n-th access on no work is done; registers still answer */
	PCI_FAULT_ALL_ONES,	/* from the n-th access on the function is removed: reads give all ones */
	PCI_FAULT_DIE_AT,	/* the process is killed at the n-th access, before the answer */
	PCI_FAULT_CORRUPT,	/* from the n-th completion on, completions, events and status are wrong */
	PCI_FAULT_FORGE,	/* from the n-th record on, records of streams are wrong */
	PCI_FAULT_STUCK_RESET,	/* from the n-th on, resets do not end */
	PCI_FAULT_KEEP_MASTER,	/* from the n-th time on, clearing bus mastering has no effect */
	PCI_FAULT_POWER_LOSS,	/* from the n-th on, function-level resets also lose power */
	PCI_FAULT_LATE_STATUS,	/* every n-th completion is visible some ms before the status counts it */
	PCI_FAULT_MBOX,		/* the faults of enum gtu_mbox_fault, by the n-th command */
	PCI_FAULTS = PCI_FAULT_MBOX + GTU_MBOX_FAULTS
};

struct pci_setup {
	struct gtu_dev_config device;	/* aperture_bytes is given; .aperture is allocated here */
	uint64_t fault[PCI_FAULTS];
	enum gtu_bug bug;			/* an injected gateware bug, or none */
	uint64_t seed;				/* of the wrong values of PCI_FAULT_CORRUPT and _FORGE */
};

/* Create a function in its state after power-on. NULL with a message in @err. */
struct pci_function *pci_function_create(const struct pci_setup *setup, struct gtu_error *err);
void pci_function_destroy(struct pci_function *f);

/* Size of a region (a BAR or PCI_REGION_CONFIG) in bytes; 0 if absent. */
uint64_t pci_function_size(const struct pci_function *f, unsigned region);
/* The file of the aperture's memory, for a peer that maps it; owned by the function. */
int pci_function_aperture_fd(const struct pci_function *f);
unsigned pci_function_vectors(const struct pci_function *f);
/* The memory that the function can access; the caller changes it between calls. */
struct dma_table *pci_function_memory(struct pci_function *f);

/*
 * Read or write @count bytes. Returns 0, or -EINVAL with a message if the region does not exist,
 * the access exceeds it, or registers do not support the width.
 */
int pci_function_access(struct pci_function *f, unsigned region, uint64_t offset, void *data,
			uint32_t count, bool write, struct gtu_error *err);

/* True once PCI_FAULT_DIE_AT applies: the caller ends the process without an answer. */
bool pci_function_died(const struct pci_function *f);

/*
 * Set the eventfd for @vector (below pci_function_vectors()), or -1 for none. Takes ownership of
 * @fd.
 */
void pci_function_set_irq(struct pci_function *f, unsigned vector, int fd);
/* Raise @vector as the device does. */
void pci_function_raise(struct pci_function *f, unsigned vector);
/*
 * Whether a signal interrupted a write to an eventfd. The function polls an eventfd before it writes,
 * so only a peer that fills the eventfd after the poll can block the write. Later interrupts stay
 * pending.
 */
bool pci_function_blocked(const struct pci_function *f);

/* A function-level reset. Memory and eventfds stay: they belong to the peer. */
void pci_function_reset(struct pci_function *f);

/* Run for about @budget logical cycles; pending: whether there is work. */
void pci_function_step(struct pci_function *f, uint64_t budget);
bool pci_function_pending(const struct pci_function *f);
/*
 * Whether all work waits for the queues' users; then report idle time in nanoseconds to the device.
 */
bool pci_function_waiting(struct pci_function *f);
void pci_function_idle(struct pci_function *f, uint64_t ns);

#endif
