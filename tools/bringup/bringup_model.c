// SPDX-License-Identifier: MIT
/* bringup: a function in this process; also implements bus and interrupt controller of its host. */
#include <errno.h>
#include <linux/pci_regs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bringup_access.h"
#include "uapi/gtu/hw.h"
#include "firmware-model/transport/pci_function.h"

/* Bus addresses of the blocks, and the step budget. */
#define LOW_BUS		0x40000000ull
#define HIGH_BUS	(LOW_BUS + (1ull << 32))
#define BLOCK_MAX	(2u << 20)
#define BUDGET		(1u << 20)
#define BLOCKS		4
#define VECTORS_MAX	64

struct model {
	struct pci_function *function;
	struct {
		uint8_t *at;
		uint64_t bytes;
	} block[BLOCKS];
	unsigned blocks, low, high;
	int vector[VECTORS_MAX];	/* an eventfd each, owned here; or -1 */
	bool open[VECTORS_MAX];		/* the function has the eventfd */
	unsigned msix;			/* offset of the capability */
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

	for (v = 0; v < pci_function_vectors(m->function) && v < VECTORS_MAX; v++) {
		const bool masked = region(a, GTU_BAR_MSIX, v * PCI_MSIX_ENTRY_SIZE + PCI_MSIX_ENTRY_VECTOR_CTRL, 4,
					   false, 0) & PCI_MSIX_ENTRY_CTRL_MASKBIT;
		const bool open = m->vector[v] >= 0 && flags & PCI_MSIX_FLAGS_ENABLE &&
				  !(flags & PCI_MSIX_FLAGS_MASKALL) && !masked;

		if (open == m->open[v])
			continue;
		m->open[v] = open;
		pci_function_set_irq(m->function, v, open ? dup(m->vector[v]) : -1);
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
	struct model *m = model(a);
	unsigned *n = high ? &m->high : &m->low;
	uint8_t *at;
	int fd;

	if (bytes > BLOCK_MAX || m->blocks == BLOCKS) {
		gtu_fail(err, GTU_ERR_NOMEM, "%llu bytes are too many: the limit is %u blocks of %u bytes", (unsigned long long)bytes, BLOCKS,
			 BLOCK_MAX);
		return NULL;
	}
	fd = memfd_create("bringup", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, (off_t)bytes) ||
	    (at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED) {
		gtu_fail(err, GTU_ERR_NOMEM, "no memory: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	*bus = (high ? HIGH_BUS : LOW_BUS) + (uint64_t)*n * BLOCK_MAX;
	if (dma_table_map(pci_function_memory(m->function), *bus, bytes, fd, 0, true, true, err)) {
		munmap(at, bytes);
		at = NULL;
	} else {
		m->block[m->blocks].at = at;
		m->block[m->blocks++].bytes = bytes;
		++*n;
	}
	close(fd);
	return at;
}

static int irq_on(struct access *a, unsigned count, struct gtu_error *err)
{
	struct model *m = model(a);
	unsigned v;

	if (count > VECTORS_MAX)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%u vectors are too many: the limit is %u", count, VECTORS_MAX);
	for (v = 0; v < count; v++) {
		if (m->vector[v] < 0)
			m->vector[v] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (m->vector[v] < 0)
			return gtu_fail(err, GTU_ERR_FAIL, "cannot create an eventfd: %s", strerror(errno));
		write_bar(a, GTU_BAR_MSIX, v * PCI_MSIX_ENTRY_SIZE + PCI_MSIX_ENTRY_VECTOR_CTRL, 4, 0);
	}
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

static bool irq_came(struct access *a, unsigned vector)
{
	uint64_t n;

	return vector < VECTORS_MAX && model(a)->vector[vector] >= 0 &&
	       read(model(a)->vector[vector], &n, sizeof(n)) == sizeof(n);
}

static void work(struct access *a)
{
	pci_function_step(model(a)->function, BUDGET);
}

static void close_model(struct access *a)
{
	struct model *m = model(a);
	unsigned i;

	pci_function_destroy(m->function);
	for (i = 0; i < m->blocks; i++)
		munmap(m->block[i].at, m->block[i].bytes);
	for (i = 0; i < VECTORS_MAX; i++)
		if (m->vector[i] >= 0)
			close(m->vector[i]);
	free(m);
	free(a);
}

static const struct access_ops ops = {
	.kind = "model", .config_read = config_read, .config_write = config_write, .bar_size = access_probe_bar,
	.read = read_bar, .write = write_bar, .flr = access_flr, .memory = memory, .irq_on = irq_on, .irq_off = irq_off,
	.irq_mask = irq_mask, .irq_came = irq_came, .work = work, .close = close_model,
};

struct access *access_model(const struct gtu_dev_config *config, enum gtu_bug bug, struct gtu_error *err)
{
	struct pci_setup setup = { .device = config ? *config : (struct gtu_dev_config){ 0 }, .bug = bug, .seed = 1 };
	struct access *a = calloc(1, sizeof(*a));
	struct model *m = calloc(1, sizeof(*m));
	unsigned i;

	if (!setup.device.aperture_bytes)
		setup.device.aperture_bytes = 16u << 20;
	if (a && m)
		m->function = pci_function_create(&setup, err);
	else
		gtu_fail(err, GTU_ERR_NOMEM, "no memory for a device");
	if (!m || !m->function) {
		free(a);
		free(m);
		return NULL;
	}
	for (i = 0; i < VECTORS_MAX; i++)
		m->vector[i] = -1;
	a->own = m;
	a->ops = &ops;
	a->has_memory = a->has_irqs = true;
	strcpy(a->name, "the model in this process");
	m->msix = access_capability(a, PCI_CAP_ID_MSIX);
	config_write(a, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	return a;
}
