// SPDX-License-Identifier: MIT
/*
 * Sets up the device as a platform device in a guest whose kernel does not scan PCI, as firmware does on a board with a
 * private bridge. Each device tree node that is compatible with "gtu,gtu-1" gets the next function on bus 0. The program
 * sets its BARs to the node's reg, enables memory and bus mastering, and maps every MSI-X vector to a message to the
 * interrupt controller's frame, which raises the shared peripheral interrupt in the node's interrupts. On failure it
 * prints a message and exits with status 1.
 */
#include <endian.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/pci_regs.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uapi/gtu/hw.h"

#define TREE		"/proc/device-tree"
#define FUNCTION_BYTES	0x1000		/* of configuration space, 8 functions a device */
#define SLOTS		32
#define SETSPI		0x40		/* register of a GICv2m frame: a write of N raises interrupt N */
#define SPI_BASE	32		/* interrupt number of the first shared peripheral one */
#define EDGE		1

struct range {
	uint64_t at, bytes;
};

static int memory = -1;

static void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("wire: ", stdout);
	vprintf(fmt, ap);
	putchar('\n');
	exit(1);
}

/* Read a property of @node, at most @room cells. Returns their number. */
static unsigned cells(const char *node, const char *name, uint32_t *cell, unsigned room)
{
	char path[512];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", node, name);
	f = fopen(path, "rb");
	if (!f)
		die("%s is not there", path);
	n = fread(cell, 4, room, f);
	if (fgetc(f) != EOF)
		die("%s has more than %u cells", path, room);
	fclose(f);
	for (unsigned i = 0; i < n; i++)
		cell[i] = be32toh(cell[i]);
	return (unsigned)n;
}

/* Read the reg ranges of @node, with two cells per address and size, at most @room. Returns their number. */
static unsigned ranges(const char *node, struct range *r, unsigned room)
{
	uint32_t cell[16];
	unsigned n = cells(node, "reg", cell, room * 4);

	if (!n || n % 4)
		die("%s: reg has %u cells, a multiple of 4 is right", node, n);
	for (unsigned i = 0; i < n / 4; i++)
		r[i] = (struct range){ (uint64_t)cell[4 * i] << 32 | cell[4 * i + 1],
				       (uint64_t)cell[4 * i + 2] << 32 | cell[4 * i + 3] };
	return n / 4;
}

/* The first range of the first node that matches @pattern. */
static struct range only(const char *pattern)
{
	struct range r[4];
	glob_t g;

	if (glob(pattern, 0, NULL, &g) || !ranges(g.gl_pathv[0], r, 4))
		die("no %s", pattern);
	globfree(&g);
	return r[0];
}

static volatile void *map(uint64_t at, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, (off_t)at);

	if (p == MAP_FAILED)
		die("0x%llx cannot be mapped: %m", (unsigned long long)at);
	return p;
}

static uint32_t get32(volatile uint8_t *config, unsigned at)
{
	return *(volatile uint32_t *)(config + at);
}

static void put32(volatile uint8_t *config, unsigned at, uint32_t value)
{
	*(volatile uint32_t *)(config + at) = value;
}

static void put16(volatile uint8_t *config, unsigned at, uint16_t value)
{
	*(volatile uint16_t *)(config + at) = value;
}

/* Set a BAR. The function's memory decoding must be off. */
static void place(volatile uint8_t *config, unsigned bar, uint64_t at, uint64_t bytes)
{
	const unsigned low = PCI_BASE_ADDRESS_0 + 4 * bar;
	uint64_t mask;
	bool wide;

	put32(config, low, ~0u);
	mask = get32(config, low);
	wide = mask & PCI_BASE_ADDRESS_MEM_TYPE_64;
	mask &= PCI_BASE_ADDRESS_MEM_MASK;
	if (wide) {
		put32(config, low + 4, ~0u);
		mask |= (uint64_t)get32(config, low + 4) << 32;
	} else {
		mask |= 0xffffffff00000000;
	}
	if (bytes > ~mask + 1 || at & ~mask)
		die("BAR %u has 0x%llx bytes: 0x%llx bytes at 0x%llx do not fit", bar, (unsigned long long)(~mask + 1),
		    (unsigned long long)bytes, (unsigned long long)at);
	put32(config, low, (uint32_t)at);
	if (wide)
		put32(config, low + 4, (uint32_t)(at >> 32));
}

static unsigned capability(volatile uint8_t *config, unsigned id)
{
	unsigned at = get32(config, PCI_CAPABILITY_LIST) & 0xfc, i;

	for (i = 0; at && i < 48; i++, at = get32(config, at) >> 8 & 0xfc)
		if ((get32(config, at) & 0xff) == id)
			return at;
	die("the function has no capability 0x%x", id);
}

/* Map vector i to the node's i-th interrupt. */
static unsigned wire(volatile uint8_t *config, const char *node, uint64_t table, uint64_t frame)
{
	unsigned cap = capability(config, PCI_CAP_ID_MSIX), flags = get32(config, cap) >> 16, n, i;
	uint32_t cell[3 * 64];
	volatile uint8_t *entry;

	n = cells(node, "interrupts", cell, 3 * 64) / 3;
	if (n > (flags & PCI_MSIX_FLAGS_QSIZE) + 1)
		die("%s has %u interrupts, the function %u vectors", node, n, (flags & PCI_MSIX_FLAGS_QSIZE) + 1);
	if (get32(config, cap + PCI_MSIX_TABLE) != GTU_BAR_MSIX)
		die("the table of vectors is not at the start of BAR %d", GTU_BAR_MSIX);
	put16(config, cap + PCI_MSIX_FLAGS, (uint16_t)(flags | PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL));
	entry = map(table, GTU_BAR_MSIX_SIZE);
	for (i = 0; i < n; i++, entry += PCI_MSIX_ENTRY_SIZE) {
		if (cell[3 * i] || cell[3 * i + 2] != EDGE)
			die("%s: interrupt %u is not a shared one with a rising edge", node, i);
		put32(entry, PCI_MSIX_ENTRY_LOWER_ADDR, (uint32_t)(frame + SETSPI));
		put32(entry, PCI_MSIX_ENTRY_UPPER_ADDR, (uint32_t)((frame + SETSPI) >> 32));
		put32(entry, PCI_MSIX_ENTRY_DATA, SPI_BASE + cell[3 * i + 1]);
		put32(entry, PCI_MSIX_ENTRY_VECTOR_CTRL, 0);
	}
	put16(config, cap + PCI_MSIX_FLAGS, (uint16_t)((flags | PCI_MSIX_FLAGS_ENABLE) & ~PCI_MSIX_FLAGS_MASKALL));
	return n;
}

int main(void)
{
	struct range space = only(TREE "/pcie@*"), frame = only(TREE "/*/v2m@*"), r[3] = { { 0, 0 } };
	volatile uint8_t *bus, *config;
	unsigned slot = 0, n, i;
	uint64_t table;
	glob_t g;

	memory = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	if (memory < 0)
		die("/dev/mem: %m");
	bus = map(space.at, SLOTS * 8 * FUNCTION_BYTES);
	if (glob(TREE "/gtu@*", 0, NULL, &g))
		die("the device tree has no GTU");
	for (i = 0; i < g.gl_pathc; i++) {
		for (;; slot++) {
			if (slot == SLOTS)
				die("bus 0 has no function for %s", g.gl_pathv[i]);
			config = bus + (uint64_t)slot * 8 * FUNCTION_BYTES;
			if (get32(config, PCI_VENDOR_ID) == (GTU_PCI_VENDOR | GTU_PCI_DEVICE << 16))
				break;
		}
		n = ranges(g.gl_pathv[i], r, 3);
		table = r[0].at + r[0].bytes;
		if (n < 2 || (r[1].at > r[0].at && table + GTU_BAR_MSIX_SIZE > r[1].at))
			die("%s: no room for the table of vectors behind the registers", g.gl_pathv[i]);
		put16(config, PCI_COMMAND, 0);
		place(config, GTU_BAR_REGS, r[0].at, r[0].bytes);
		place(config, GTU_BAR_MSIX, table, GTU_BAR_MSIX_SIZE);
		place(config, GTU_BAR_DOORBELL, r[1].at, r[1].bytes);
		if (n == 3)
			place(config, GTU_BAR_APERTURE, r[2].at, r[2].bytes);
		put16(config, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
		n = wire(config, g.gl_pathv[i], table, frame.at);
		printf("wire: slot %u is %s, %u interrupts\n", slot++, g.gl_pathv[i] + sizeof(TREE), n);
	}
	return 0;
}
