/* SPDX-License-Identifier: MIT */
/*
 * Functions on the PCI bus, found, identified and mapped by libpciaccess. A build without its header
 * has no bus: pci_bus_open() names the package.
 */
#ifndef GTU_PCI_BUS_H
#define GTU_PCI_BUS_H

#include <stddef.h>
#include <stdint.h>

#include "gtu/error.h"

#define PCI_BUS_BARS	6

struct pci_device;

struct pci_board {
	struct pci_device *device;
	char address[16];		/* "0000:01:00.0" */
	uint32_t id;			/* vendor | device << 16 */
	uint64_t bar[PCI_BUS_BARS];	/* address; 0: absent, or without an address */
	uint64_t bytes[PCI_BUS_BARS];
};

/* Read the list of functions. GTU_ERR_UNSUPPORTED: this build lacks libpciaccess. */
int pci_bus_open(struct gtu_error *err);
/* Forget the list; its boards are invalid then. */
void pci_bus_close(void);
/* Find the function at "0000:01:00.0". Returns GTU_ERR_USAGE if there is none. */
int pci_bus_find(const char *address, struct pci_board *board, struct gtu_error *err);
/* Find the functions with an id, in the order of the bus; returns their number, also beyond @capacity. */
unsigned pci_bus_match(uint32_t id, struct pci_board *board, unsigned capacity);

/* Configuration space. Returns 0 or an errno. */
int pci_board_read(const struct pci_board *board, unsigned at, void *data, unsigned bytes);
int pci_board_write(const struct pci_board *board, unsigned at, const void *data, unsigned bytes);
/* Map a BAR that has an address, uncached. Returns 0 or an errno. */
int pci_board_map(const struct pci_board *board, unsigned bar, void **at);
void pci_board_unmap(const struct pci_board *board, unsigned bar, void *at);

#endif
