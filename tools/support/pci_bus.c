// SPDX-License-Identifier: MIT
/* Functions on the PCI bus, found, identified and mapped by libpciaccess. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pci_bus.h"

#ifdef GTU_PCIACCESS
#include <pciaccess.h>

static void describe(struct pci_device *device, struct pci_board *board)
{
	unsigned i;

	*board = (struct pci_board){ .device = device, .id = device->vendor_id | (uint32_t)device->device_id << 16 };
	snprintf(board->address, sizeof(board->address), "%04x:%02x:%02x.%x", device->domain, device->bus,
		 device->dev, device->func);
	/* an unreadable function has no BARs, which its user reports */
	if (pci_device_probe(device))
		return;
	for (i = 0; i < PCI_BUS_BARS; i++) {
		board->bar[i] = device->regions[i].base_addr;
		board->bytes[i] = device->regions[i].size;
	}
}

int pci_bus_open(struct gtu_error *err)
{
	const int why = pci_system_init();

	if (!why)
		return 0;
	return gtu_fail(err, GTU_ERR_FAIL, "libpciaccess finds no PCI bus: %s; sysfs is not mounted on /sys, or the kernel has no "
			"PCI bus (for a device in a device tree use --device /dev/gtu0)", strerror(why));
}

void pci_bus_close(void)
{
	pci_system_cleanup();
}

int pci_bus_find(const char *address, struct pci_board *board, struct gtu_error *err)
{
	struct pci_device *device = NULL;
	unsigned domain, bus, slot, function;

	if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4)
		device = pci_device_find_by_slot(domain, bus, slot, function);
	if (!device)
		return gtu_fail(err, GTU_ERR_USAGE, "there is no PCI function %s", address);
	describe(device, board);
	return 0;
}

unsigned pci_bus_match(uint32_t id, struct pci_board *board, unsigned capacity)
{
	const struct pci_id_match match = {
		.vendor_id = id & 0xffff, .device_id = id >> 16,
		.subvendor_id = PCI_MATCH_ANY, .subdevice_id = PCI_MATCH_ANY,
	};
	struct pci_device_iterator *all = pci_id_match_iterator_create(&match);
	struct pci_device *device;
	unsigned n = 0;

	while (all && (device = pci_device_next(all)))
		if (n++ < capacity)
			describe(device, &board[n - 1]);
	pci_iterator_destroy(all);
	return n;
}

int pci_board_read(const struct pci_board *board, unsigned at, void *data, unsigned bytes)
{
	pciaddr_t done = 0;
	const int why = pci_device_cfg_read(board->device, data, at, bytes, &done);

	return why ? why : done == bytes ? 0 : EIO;
}

int pci_board_write(const struct pci_board *board, unsigned at, const void *data, unsigned bytes)
{
	pciaddr_t done = 0;
	const int why = pci_device_cfg_write(board->device, data, at, bytes, &done);

	return why ? why : done == bytes ? 0 : EIO;
}

int pci_board_map(const struct pci_board *board, unsigned bar, void **at)
{
	return pci_device_map_range(board->device, board->bar[bar], board->bytes[bar], PCI_DEV_MAP_FLAG_WRITABLE, at);
}

void pci_board_unmap(const struct pci_board *board, unsigned bar, void *at)
{
	pci_device_unmap_range(board->device, at, board->bytes[bar]);
}

#else

int pci_bus_open(struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_UNSUPPORTED, "this build of gtu lacks libpciaccess, which finds and maps functions on the PCI bus: "
			"install its header (Debian package libpciaccess-dev) and build again");
}

void pci_bus_close(void)
{
}

int pci_bus_find(const char *address, struct pci_board *board, struct gtu_error *err)
{
	(void)address, (void)board;
	return pci_bus_open(err);
}

unsigned pci_bus_match(uint32_t id, struct pci_board *board, unsigned capacity)
{
	(void)id, (void)board, (void)capacity;
	return 0;
}

int pci_board_read(const struct pci_board *board, unsigned at, void *data, unsigned bytes)
{
	(void)board, (void)at, (void)data, (void)bytes;
	return ENOSYS;
}

int pci_board_write(const struct pci_board *board, unsigned at, const void *data, unsigned bytes)
{
	(void)board, (void)at, (void)data, (void)bytes;
	return ENOSYS;
}

int pci_board_map(const struct pci_board *board, unsigned bar, void **at)
{
	(void)board, (void)bar, (void)at;
	return ENOSYS;
}

void pci_board_unmap(const struct pci_board *board, unsigned bar, void *at)
{
	(void)board, (void)bar, (void)at;
}
#endif
