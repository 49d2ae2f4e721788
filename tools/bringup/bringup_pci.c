// SPDX-License-Identifier: MIT
/*
 * bringup: access to a function on the bus without a driver, by libpciaccess; through sysfs only
 * what the library lacks: driver, reset, removal, rescan, IOMMU group. Memory is a huge page at its
 * physical address from the kernel, so no IOMMU may translate. MSI-X messages are directed to a word
 * of that page instead of an interrupt controller.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bringup_access.h"
#include "tools/support/pci_bus.h"
#include "uapi/gtu/hw.h"

#define DEVICES		"/sys/bus/pci/devices"
#define BLOCK		(2u << 20)
#define BLOCKS		2
#define VECTORS_MAX	64
#define MESSAGE		0x47545500u	/* of vector v: MESSAGE + v, never 0 */

struct pci {
	struct pci_board board;
	char driver[64];		/* gets the function back at the end, or "" */
	bool listed;			/* the bus is open */
	bool enabled;			/* the command register is changed */
	uint16_t command;		/* its original value */
	void *bar[ACCESS_BARS];
	bool hugepage;
	uint8_t *block[BLOCKS];
	uint64_t bus[BLOCKS];
	unsigned blocks;
	volatile uint32_t *message;	/* a word per vector, in the first block's last page */
	unsigned vectors;
};

static struct pci *pci(struct access *a)
{
	return a->own;
}

/* ---- sysfs ------------------------------------------------------------------------------------- */

static const char *file_of(const char *address, const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), DEVICES "/%s/%s", address, name);
	return path;
}

static int write_file(const char *path, const char *word, struct gtu_error *err)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	const bool ok = fd >= 0 && write(fd, word, strlen(word)) == (ssize_t)strlen(word);
	const int why = errno;

	if (fd >= 0)
		close(fd);
	return ok ? 0 : gtu_fail(err, GTU_ERR_FAIL, "cannot write '%s' to %s: %s%s", word, path, strerror(why),
				 why == EACCES || why == EPERM ? " (this needs root)" : "");
}

/* Find the only function with an id. */
static int find(struct pci_board *board, uint32_t id, struct gtu_error *err)
{
	struct pci_board gtu[16];
	char list[256] = "";
	size_t used = 0;
	unsigned i, found = pci_bus_match(id, gtu, 16);

	for (i = 0; i < found && i < 16; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, " %s", gtu[i].address);
	if (found > 1)
		return gtu_fail(err, GTU_ERR_USAGE, "there are %u GTUs (%s): name one with --device", found, list + 1);
	if (!found)
		return gtu_fail(err, GTU_ERR_FAIL, "there is no function %04x:%04x on the PCI bus. Check that the board is seated, its link is up, and its "
				"gateware was loaded before the bus was scanned (--rescan scans it again). A board with other ids is "
				"selected by them (--id VENDOR:DEVICE) or by its address (--device 0000:01:00.0)", id & 0xffff, id >> 16);
	*board = gtu[0];
	return 0;
}

static void driver_of(const char *address, char *name, size_t size)
{
	char target[PATH_MAX];
	const ssize_t n = readlink(file_of(address, "driver"), target, sizeof(target) - 1);

	*name = 0;
	if (n <= 0)
		return;
	target[n] = 0;
	snprintf(name, size, "%.60s", strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
}

static int owned(const char *address, const char *driver, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_FAIL, "the driver '%s' owns %s: taking it away would destroy queues in use. --unbind takes "
			"it away and gives it back at the end; --device /dev/gtuN uses the driver", driver, address);
}

static int take_from_driver(struct pci *p, const struct access_permission *may, struct gtu_error *err)
{
	char path[PATH_MAX];
	int rc;

	driver_of(p->board.address, p->driver, sizeof(p->driver));
	if (!*p->driver)
		return 0;
	if (!may->unbind) {
		rc = owned(p->board.address, p->driver, err);
		*p->driver = 0;
		return rc;
	}
	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/%s/unbind", p->driver);
	rc = write_file(path, p->board.address, err);
	if (rc)
		*p->driver = 0;
	return rc;
}

/* ---- Accesses ------------------------------------------------------------------------------------ */

static uint32_t config_read(struct access *a, unsigned at, unsigned bytes)
{
	uint8_t data[4] = { 0xff, 0xff, 0xff, 0xff };
	uint32_t value = 0;

	if (pci_board_read(&pci(a)->board, at, data, bytes))
		memset(data, 0xff, sizeof(data));
	while (bytes--)
		value = value << 8 | data[bytes];
	return value;
}

static void config_write(struct access *a, unsigned at, unsigned bytes, uint32_t value)
{
	uint8_t data[4];
	unsigned i;

	for (i = 0; i < 4; i++)
		data[i] = (uint8_t)(value >> 8 * i);
	/* errors show when the value is read back */
	(void)pci_board_write(&pci(a)->board, at, data, bytes);
}

static uint64_t bar_size(struct access *a, unsigned bar)
{
	return bar < ACCESS_BARS && pci(a)->bar[bar] ? pci(a)->board.bytes[bar] : 0;
}

static uint64_t read_bar(struct access *a, unsigned bar, uint64_t offset, unsigned bytes)
{
	struct pci *p = pci(a);

	if (!p->bar[bar] || offset + bytes > p->board.bytes[bar])
		return ~0ull;
	return access_load((uint8_t *)p->bar[bar] + offset, bytes);
}

static void write_bar(struct access *a, unsigned bar, uint64_t offset, unsigned bytes, uint64_t value)
{
	struct pci *p = pci(a);

	if (p->bar[bar] && offset + bytes <= p->board.bytes[bar])
		access_store((uint8_t *)p->bar[bar] + offset, bytes, value);
}

static int flr(struct access *a, struct gtu_error *err)
{
	return write_file(file_of(pci(a)->board.address, "reset"), "1", err);
}

static int map_bars(struct pci *p, struct gtu_error *err)
{
	unsigned bar;
	int why;

	for (bar = 0; bar < ACCESS_BARS; bar++) {
		if (!p->board.bar[bar])
			continue;
		why = pci_board_map(&p->board, bar, &p->bar[bar]);
		if (!why)
			continue;
		p->bar[bar] = NULL;
		return gtu_fail(err, GTU_ERR_FAIL, "cannot map BAR %u of %s: %s%s", bar, p->board.address, strerror(why),
				why == EACCES ? " (this needs root)" : why == EPERM || why == EINVAL ?
				" (the kernel may be locked down)" : "");
	}
	return 0;
}

/* ---- Memory -------------------------------------------------------------------------------------- */

/* Check that bus addresses are physical addresses. */
static int check_iommu(const struct pci *p, struct gtu_error *err)
{
	char type[32] = "";
	FILE *f = fopen(file_of(p->board.address, "iommu_group/type"), "re");

	if (!f)
		return 0;
	if (!fgets(type, sizeof(type), f))
		*type = 0;
	fclose(f);
	type[strcspn(type, "\n")] = 0;
	if (!strcmp(type, "identity"))
		return 0;
	return gtu_fail(err, GTU_ERR_UNSUPPORTED, "an IOMMU (type '%s') translates the addresses of %s: physical addresses cannot be used; "
			"use --device vfio:%s, or boot with iommu=pt", type, p->board.address, p->board.address);
}

static int physical(const void *at, uint64_t *bus, struct gtu_error *err)
{
	const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0;
	const bool got = fd >= 0 && pread(fd, &entry, 8, (off_t)((uintptr_t)at / 4096 * 8)) == 8;

	if (fd >= 0)
		close(fd);
	*bus = (entry & ((1ull << 55) - 1)) * 4096;
	if (got && entry >> 63 && *bus)
		return 0;
	return gtu_fail(err, GTU_ERR_FAIL, "the kernel hides physical addresses (/proc/self/pagemap): this needs root");
}

static uint8_t *memory(struct access *a, uint64_t bytes, bool high, uint64_t *bus, struct gtu_error *err)
{
	struct pci *p = pci(a);
	uint8_t *at;

	if (!p->hugepage) {
		gtu_fail(err, GTU_ERR_UNSUPPORTED, "the function gets physical memory only with --hugepage");
		return NULL;
	}
	if (check_iommu(p, err))
		return NULL;
	if (high || bytes > BLOCK || p->blocks == BLOCKS) {
		gtu_fail(err, GTU_ERR_UNSUPPORTED, "the address of a huge page cannot be chosen");
		return NULL;
	}
	at = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE, -1, 0);
	if (at == MAP_FAILED) {
		gtu_fail(err, GTU_ERR_NOMEM, "no huge page of 2 MiB is free: %s; reserve some as root: 'echo %u >/proc/sys/vm/nr_hugepages'",
			 strerror(errno), BLOCKS);
		return NULL;
	}
	memset(at, 0, BLOCK);
	if (mlock(at, BLOCK) || physical(at, bus, err)) {
		munmap(at, BLOCK);
		return NULL;
	}
	p->block[p->blocks] = at;
	p->bus[p->blocks++] = *bus;
	return at;
}

/* ---- Interrupts ----------------------------------------------------------------------------------- */

static void vector_write(struct access *a, unsigned vector, unsigned at, uint32_t value)
{
	write_bar(a, GTU_BAR_MSIX, vector * PCI_MSIX_ENTRY_SIZE + at, 4, value);
}

static int irq_on(struct access *a, unsigned count, struct gtu_error *err)
{
	const unsigned cap = access_capability(a, PCI_CAP_ID_MSIX), offset = BLOCK - 4096;
	struct pci *p = pci(a);
	unsigned v;

	if (!p->blocks)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "without memory there is no target for messages");
	if (!cap || count > VECTORS_MAX)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%u vectors with an MSI-X capability at 0x%x are unsupported", count, cap);
	p->message = (volatile uint32_t *)(void *)(p->block[0] + offset);
	p->vectors = count;
	for (v = 0; v < count; v++) {
		const uint64_t at = p->bus[0] + offset + 4 * v;

		p->message[v] = 0;
		vector_write(a, v, PCI_MSIX_ENTRY_LOWER_ADDR, (uint32_t)at);
		vector_write(a, v, PCI_MSIX_ENTRY_UPPER_ADDR, (uint32_t)(at >> 32));
		vector_write(a, v, PCI_MSIX_ENTRY_DATA, MESSAGE + v);
		vector_write(a, v, PCI_MSIX_ENTRY_VECTOR_CTRL, 0);
	}
	config_write(a, cap + PCI_MSIX_FLAGS, 2, (config_read(a, cap + PCI_MSIX_FLAGS, 2) & ~PCI_MSIX_FLAGS_MASKALL) |
		     PCI_MSIX_FLAGS_ENABLE);
	return 0;
}

static void irq_off(struct access *a)
{
	const unsigned cap = access_capability(a, PCI_CAP_ID_MSIX);

	if (cap)
		config_write(a, cap + PCI_MSIX_FLAGS, 2, config_read(a, cap + PCI_MSIX_FLAGS, 2) & ~PCI_MSIX_FLAGS_ENABLE);
}

static void irq_mask(struct access *a, unsigned vector, bool masked)
{
	vector_write(a, vector, PCI_MSIX_ENTRY_VECTOR_CTRL, masked);
}

/* A message with another vector's data at this vector's address counts for neither. */
static bool irq_came(struct access *a, unsigned vector)
{
	struct pci *p = pci(a);
	bool came;

	if (vector >= p->vectors)
		return false;
	came = p->message[vector] == MESSAGE + vector;
	p->message[vector] = 0;
	return came;
}

/* ---- Opening and closing ------------------------------------------------------------------------------------------- */

static void close_pci(struct access *a)
{
	struct pci *p = pci(a);
	struct gtu_error ignored;
	unsigned i;

	if (p->enabled) {
		/* before unmapping: end DMA */
		config_write(a, PCI_COMMAND, 2, p->command & ~PCI_COMMAND_MASTER);
		(void)config_read(a, PCI_COMMAND, 2);
	}
	for (i = 0; i < ACCESS_BARS; i++)
		if (p->bar[i])
			pci_board_unmap(&p->board, i, p->bar[i]);
	for (i = 0; i < p->blocks; i++)
		munmap(p->block[i], BLOCK);
	if (*p->driver) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "/sys/bus/pci/drivers/%s/bind", p->driver);
		if (write_file(path, p->board.address, &ignored))
			fprintf(stderr, "gtu bringup: cannot give %s back to its driver: %s\n", p->board.address, ignored.text);
	}
	if (p->listed)
		pci_bus_close();
	access_free(a);
}

static const struct access_ops ops = {
	.kind = "pci", .config_read = config_read, .config_write = config_write, .bar_size = bar_size,
	.read = read_bar, .write = write_bar, .flr = flr, .memory = memory, .irq_on = irq_on, .irq_off = irq_off,
	.irq_mask = irq_mask, .irq_came = irq_came, .work = access_sleep, .close = close_pci,
};

/* Read the kernel's description of the link, if it has one. */
static void read_link(struct access *a)
{
	static const char *const files[] = { "current_link_speed", "current_link_width" };
	char text[2][48] = { "", "" };
	unsigned i;

	for (i = 0; i < 2; i++) {
		FILE *f = fopen(file_of(pci(a)->board.address, files[i]), "re");

		if (f && fgets(text[i], sizeof(text[i]), f))
			text[i][strcspn(text[i], "\n")] = 0;
		if (f)
			fclose(f);
	}
	if (*text[0] && *text[1])
		snprintf(a->link, sizeof(a->link), "%.40s x%.40s", text[0], text[1]);
}

static int open_bus(struct pci *p, struct gtu_error *err)
{
	const int rc = pci_bus_open(err);

	p->listed = !rc;
	return rc;
}

/* Remove the function at @address, if it exists, scan the bus again, and list it again. */
static int rescan(struct access *a, const char *address, const struct access_permission *may, struct gtu_error *err)
{
	struct pci *p = pci(a);
	char driver[sizeof(p->driver)];
	struct gtu_error ignored;
	int rc = 0;

	if (address && !pci_bus_find(address, &p->board, &ignored)) {
		if (!may->force)
			rc = access_kind(a, address, may->id, err);
		driver_of(address, driver, sizeof(driver));
		if (!rc && *driver && !may->unbind)
			rc = owned(address, driver, err);
		if (rc)
			return rc;
		write_file(file_of(address, "remove"), "1", &ignored);
	}
	rc = write_file("/sys/bus/pci/rescan", "1", err);
	if (rc)
		return rc;
	p->listed = false;
	pci_bus_close();
	return open_bus(p, err);
}

/* Check the function by reads only, then take it, enable its memory and map it. */
static int open_function(struct access *a, const struct access_permission *may, struct gtu_error *err)
{
	struct pci *p = pci(a);
	uint16_t command;
	int rc, why;

	rc = may->force ? 0 : access_kind(a, p->board.address, may->id, err);
	if (!rc)
		rc = take_from_driver(p, may, err);
	if (rc)
		return rc;
	p->command = (uint16_t)config_read(a, PCI_COMMAND, 2);
	command = (p->command | PCI_COMMAND_MEMORY | PCI_COMMAND_INTX_DISABLE) & ~PCI_COMMAND_MASTER;
	why = pci_board_write(&p->board, PCI_COMMAND, &command, 2);
	if (why)
		return gtu_fail(err, GTU_ERR_FAIL, "cannot write the configuration space of %s: %s%s", p->board.address, strerror(why),
				why == EACCES || why == EPERM ? " (this needs root)" : "");
	p->enabled = true;
	return map_bars(p, err);
}

struct access *access_pci(const char *address, const struct access_permission *may, struct gtu_error *err)
{
	struct access *a = access_new(&ops, sizeof(struct pci), err);
	struct pci *p;
	int rc;

	if (!a)
		return NULL;
	p = pci(a);
	p->hugepage = may->hugepage;
	rc = open_bus(p, err);
	if (!rc && may->rescan)
		rc = rescan(a, address, may, err);
	if (!rc)
		rc = address ? pci_bus_find(address, &p->board, err) : find(&p->board, may->id, err);
	if (!rc)
		rc = open_function(a, may, err);
	if (rc) {
		close_pci(a);
		return NULL;
	}
	snprintf(a->name, sizeof(a->name), "%s", p->board.address);
	a->has_memory = a->has_irqs = may->hugepage;
	read_link(a);
	return a;
}
