/* SPDX-License-Identifier: MIT */
/*
 * The device model as a PCI function: configuration space, MSI-X, BARs, resets, and the faults a driver's
 * tests ask for. Knows nothing of sockets or virtual machines.
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
/* Number that pci_function_access() takes for the configuration space; 0..5 are BARs. */
#define PCI_REGION_CONFIG	7

/*
 * What goes wrong on purpose. A number counts accesses to BARs 0, 2 and 4 from 1 on, or where it is said
 * what else; 0: this does not happen.
 */
enum pci_fault {
	PCI_FAULT_LOSE_IRQ,	/* every n-th interrupt is not sent */
	PCI_FAULT_STALL,	/* from the n-th access on no work is done; registers answer */
	PCI_FAULT_ALL_ONES,	/* from the n-th access on the function is gone: reads give all ones */
	PCI_FAULT_DIE_AT,	/* the process is killed at the n-th access, before the answer */
	PCI_FAULT_CORRUPT,	/* the n-th completion and those after it are wrong, with their events and status */
	PCI_FAULT_FORGE,	/* the n-th record of a stream and those after it are wrong */
	PCI_FAULT_NO_INVALIDATE, /* the n-th INVALIDATE is never done */
	PCI_FAULT_STUCK_RESET,	/* the n-th reset does not end */
	PCI_FAULT_KEEP_MASTER,	/* the n-th time that bus mastering is taken away, and later, it stays */
	PCI_FAULT_POWER_LOSS,	/* the n-th function-level reset, and later ones, lose what only power keeps */
	PCI_FAULTS
};

struct pci_setup {
	struct gtu_dev_config device;	/* aperture_bytes is given, .aperture is made here */
	uint64_t fault[PCI_FAULTS];
	enum gtu_bug bug;			/* a mistake in the gateware, or none */
	uint64_t seed;				/* of the lies of PCI_FAULT_CORRUPT and PCI_FAULT_FORGE */
};

/* A function as after power-on. NULL with a sentence in @err. */
struct pci_function *pci_function_create(const struct pci_setup *setup, struct gtu_error *err);
void pci_function_destroy(struct pci_function *f);

/* Bytes of a region (a BAR or PCI_REGION_CONFIG), 0 where there is none. */
uint64_t pci_function_size(const struct pci_function *f, unsigned region);
/* The file behind the aperture, for a peer that maps it; stays the function's. */
int pci_function_aperture_fd(const struct pci_function *f);
unsigned pci_function_vectors(const struct pci_function *f);
/* Memory that the function reaches; the caller fills it, between calls. */
struct dma_table *pci_function_memory(struct pci_function *f);

/*
 * Read or write @count bytes. Returns 0 or -EINVAL with a sentence: no such region, behind its end, or a
 * width that registers do not have.
 */
int pci_function_access(struct pci_function *f, unsigned region, uint64_t offset, void *data,
			uint32_t count, bool write, struct gtu_error *err);

/* PCI_FAULT_DIE_AT has come: the caller ends the process without an answer. */
bool pci_function_died(const struct pci_function *f);

/* The eventfd that vector @vector (below pci_function_vectors()) is sent to from now on, or -1; takes it. */
void pci_function_set_irq(struct pci_function *f, unsigned vector, int fd);
/* Send @vector, as the device would. */
void pci_function_raise(struct pci_function *f, unsigned vector);

/* A function-level reset. Memory and eventfds stay: they belong to the other side. */
void pci_function_reset(struct pci_function *f);

/* Work for about @budget logical cycles; pending: whether there is any. */
void pci_function_step(struct pci_function *f, uint64_t budget);
bool pci_function_pending(const struct pci_function *f);
/* Queues have work that waits for its users: tell the device how many nanoseconds nothing went on. */
bool pci_function_waiting(struct pci_function *f);
void pci_function_idle(struct pci_function *f, uint64_t ns);

#endif
