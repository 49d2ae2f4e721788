// SPDX-License-Identifier: MIT
/* bringup: a function in this process; also implements bus and interrupt controller of its host. */
#include <linux/pci_regs.h>
#include <string.h>
#include <unistd.h>

#include "bringup_access.h"
#include "gtu/splitmix64.h"
#include "uapi/gtu/hw.h"
#include "firmware-model/transport/pci_function.h"

#define BUDGET_LOG2	21u		/* of the longest step, exclusive */

struct model {
	struct pci_function *function;
	bool open[ACCESS_VECTORS];		/* the function has the eventfd */
	unsigned msix;			/* offset of the capability */
	uint64_t seed;			/* of the steps' lengths */
};

static struct model *model(struct access *a)
{
	return a->own;
}

static uint64_t region(struct access *a, unsigned where, uint64_t at, unsigned bytes, bool write, uint64_t value)
{
	uint8_t data[8];
	unsigned i;

	for (i = 0; i < 8; i++)
		data[i] = (uint8_t)(value >> 8 * i);
	if (pci_function_access(model(a)->function, where, at, data, bytes, write, NULL))
		return ~0ull;
	for (value = 0, i = bytes; i-- > 0;)
		value = value << 8 | data[i];
	return value;
}

static uint32_t config_read(struct access *a, unsigned at, unsigned bytes)
{
	return (uint32_t)region(a, PCI_REGION_CONFIG, at, bytes, false, 0);
}

/*
 * Give the function an eventfd for each unmasked vector, as a virtual machine does after MSI-X
 * changes.
 */
static void update_vectors(struct access *a)
{
	struct model *m = model(a);
	const uint32_t flags = config_read(a, m->msix + PCI_MSIX_FLAGS, 2);
	unsigned v;

	for (v = 0; v < pci_function_vectors(m->function) && v < ACCESS_VECTORS; v++) {
		const bool masked = region(a, GTU_BAR_MSIX, v * PCI_MSIX_ENTRY_SIZE + PCI_MSIX_ENTRY_VECTOR_CTRL, 4,
					   false, 0) & PCI_MSIX_ENTRY_CTRL_MASKBIT;
		const bool open = a->vector[v] >= 0 && flags & PCI_MSIX_FLAGS_ENABLE &&
				  !(flags & PCI_MSIX_FLAGS_MASKALL) && !masked;

		if (open == m->open[v])
			continue;
		m->open[v] = open;
		pci_function_set_irq(m->function, v, open ? dup(a->vector[v]) : -1);
	}
}

static void config_write(struct access *a, unsigned at, unsigned bytes, uint32_t value)
{
	region(a, PCI_REGION_CONFIG, at, bytes, true, value);
	update_vectors(a);
}

static uint64_t read_bar(struct access *a, unsigned bar, uint64_t offset, unsigned bytes)
{
	return region(a, bar, offset, bytes, false, 0);
}

static void write_bar(struct access *a, unsigned bar, uint64_t offset, unsigned bytes, uint64_t value)
{
	region(a, bar, offset, bytes, true, value);
	if (bar == GTU_BAR_MSIX)
		update_vectors(a);
}

static uint8_t *memory(struct access *a, uint64_t bytes, bool high, uint64_t *bus, struct gtu_error *err)
{
	int fd, rc;
	uint8_t *at = access_block(a, bytes, high, bus, &fd, err);

	if (!at)
		return NULL;
	rc = dma_table_map(pci_function_memory(model(a)->function), *bus, bytes, fd, 0, true, true, err);
	close(fd);
	return rc ? NULL : at;
}

static int irq_on(struct access *a, unsigned count, struct gtu_error *err)
{
	struct model *m = model(a);
	unsigned v;

	if (access_eventfds(a, count, err))
		return err->code;
	for (v = 0; v < count; v++)
		write_bar(a, GTU_BAR_MSIX, v * PCI_MSIX_ENTRY_SIZE + PCI_MSIX_ENTRY_VECTOR_CTRL, 4, 0);
	config_write(a, m->msix + PCI_MSIX_FLAGS, 2, config_read(a, m->msix + PCI_MSIX_FLAGS, 2) | PCI_MSIX_FLAGS_ENABLE);
	return 0;
}

static void irq_off(struct access *a)
{
	struct model *m = model(a);

	config_write(a, m->msix + PCI_MSIX_FLAGS, 2, config_read(a, m->msix + PCI_MSIX_FLAGS, 2) & ~PCI_MSIX_FLAGS_ENABLE);
}

static void irq_mask(struct access *a, unsigned vector, bool masked)
{
	write_bar(a, GTU_BAR_MSIX, vector * PCI_MSIX_ENTRY_SIZE + PCI_MSIX_ENTRY_VECTOR_CTRL, 4, masked);
}

/* Steps of random length, as if memory were late: results must not depend on it. */
static void work(struct access *a)
{
	const unsigned log2 = (unsigned)(gtu_splitmix64_next(&model(a)->seed) >> 32) % BUDGET_LOG2;

	pci_function_step(model(a)->function, 1ull << log2);
}

static void close_model(struct access *a)
{
	pci_function_destroy(model(a)->function);
	access_free(a);
}

static const struct access_ops ops = {
	.kind = "model", .config_read = config_read, .config_write = config_write, .bar_size = access_probe_bar,
	.read = read_bar, .write = write_bar, .flr = access_flr, .memory = memory, .irq_on = irq_on, .irq_off = irq_off,
	.irq_mask = irq_mask, .irq_came = access_event_came, .work = work, .close = close_model,
};

struct access *access_model(const struct gtu_dev_config *config, enum gtu_bug bug, struct gtu_error *err)
{
	struct pci_setup setup = { .device = config ? *config : (struct gtu_dev_config){ 0 }, .bug = bug, .seed = 1 };
	struct access *a = access_new(&ops, sizeof(struct model), err);
	struct model *m;

	if (!a)
		return NULL;
	m = model(a);
	if (!setup.device.aperture_bytes && !setup.device.no_aperture)
		setup.device.aperture_bytes = 16u << 20;
	m->function = pci_function_create(&setup, err);
	if (!m->function) {
		access_free(a);
		return NULL;
	}
	a->has_memory = a->has_irqs = true;
	strcpy(a->name, "the model in this process");
	m->msix = access_capability(a, PCI_CAP_ID_MSIX);
	config_write(a, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	return a;
}
