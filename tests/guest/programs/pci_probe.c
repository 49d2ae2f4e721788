// SPDX-License-Identifier: MIT
/*
 * Checks the device in a guest without a driver: sysfs, configuration space and BAR 0. Prints TAP; exit status 4 if
 * there is no such function.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "uapi/gtu/hw.h"

static unsigned count, failed;

static void report(bool ok, const char *what)
{
	printf("%s %u - %s\n", ok ? "ok" : "not ok", ++count, what);
	failed += !ok;
}

/* Find the function's folder in sysfs, without a trailing slash. False: there is none. */
static bool find(char *folder, size_t room)
{
	unsigned vendor, device;
	bool found = false;
	glob_t g;
	size_t i;

	if (glob("/sys/bus/pci/devices/*", 0, NULL, &g))
		return false;
	for (i = 0; i < g.gl_pathc && !found; i++) {
		char path[256];
		FILE *f;

		snprintf(path, sizeof(path), "%s/config", g.gl_pathv[i]);
		f = fopen(path, "rb");
		if (!f)
			continue;
		vendor = fgetc(f) | fgetc(f) << 8;
		device = fgetc(f) | fgetc(f) << 8;
		fclose(f);
		found = vendor == GTU_PCI_VENDOR && device == GTU_PCI_DEVICE;
		if (found)
			snprintf(folder, room, "%s", g.gl_pathv[i]);
	}
	globfree(&g);
	return found;
}

static int open_in(const char *folder, const char *name, int flags)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return open(path, flags);
}

static bool say_one(const char *folder, const char *name)
{
	int fd = open_in(folder, name, O_WRONLY);
	bool ok = fd >= 0 && write(fd, "1", 1) == 1;

	if (fd >= 0)
		close(fd);
	return ok;
}

static uint32_t crc32(const uint8_t *data, size_t bytes)
{
	uint32_t crc = ~0u;
	unsigned bit;

	while (bytes--) {
		crc ^= *data++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Copy the blob once, word by word, then parse the copy. */
static bool blob_is_whole(volatile const uint32_t *reg)
{
	uint32_t offset = reg[GTU_REG_FDT_OFFSET / 4], length = reg[GTU_REG_FDT_LENGTH / 4], i;
	uint32_t *copy;
	bool ok;

	if (offset % 4 || offset < GTU_FDT_WINDOW || length < 40 || length > GTU_BAR_REGS_SIZE - offset)
		return false;
	copy = calloc(length / 4 + 1, 4);
	for (i = 0; copy && i < (length + 3) / 4; i++)
		copy[i] = reg[offset / 4 + i];
	ok = copy && crc32((const uint8_t *)copy, length) == reg[GTU_REG_FDT_CRC / 4] &&
	     copy[0] == 0xedfe0dd0u;
	free(copy);
	return ok;
}

static void measure(volatile uint32_t *reg)
{
	enum { TIMES = 500 };
	double start = seconds(), reads, writes;
	unsigned i;

	for (i = 0; i < TIMES; i++)
		(void)reg[GTU_REG_MAGIC / 4];
	reads = seconds() - start;
	start = seconds();
	for (i = 0; i < TIMES; i++)
		reg[GTU_REG_SCRATCH / 4] = i;
	(void)reg[GTU_REG_MAGIC / 4];
	writes = seconds() - start;
	printf("# register read %.1f us, write %.1f us\n", reads / TIMES * 1e6, writes / TIMES * 1e6);
}

int main(void)
{
	char folder[256];
	volatile uint32_t *reg;
	uint32_t epoch;
	int fd;

	if (!find(folder, sizeof(folder))) {
		printf("not ok 1 - there is a function %04x:%04x\n1..1\n", GTU_PCI_VENDOR, GTU_PCI_DEVICE);
		return 1;
	}
	report(say_one(folder, "enable"), "the function can be enabled");
	fd = open_in(folder, "resource0", O_RDWR | O_SYNC);
	reg = fd < 0 ? MAP_FAILED :
		       mmap(NULL, GTU_BAR_REGS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (reg == MAP_FAILED) {
		printf("# %s/resource0: %s\n", folder, strerror(errno));
		report(false, "BAR 0 can be mapped");
		goto out;
	}
	report(reg[GTU_REG_MAGIC / 4] == GTU_MAGIC, "magic");
	report(reg[GTU_REG_VERSION / 4] >> 16 == GTU_HW_VERSION >> 16, "version");
	report(reg[GTU_REG_STATUS / 4] & GTU_STATUS_READY, "out of reset");
	report(blob_is_whole(reg), "device tree blob has the checksum that the registers give");
	reg[GTU_REG_SCRATCH / 4] = 0x12345678;
	report(reg[GTU_REG_SCRATCH / 4] == 0x12345678, "scratch keeps what was written");
	epoch = reg[GTU_REG_EPOCH / 4];
	report(say_one(folder, "reset"), "function-level reset");
	report(reg[GTU_REG_EPOCH / 4] == epoch + 1 && !reg[GTU_REG_SCRATCH / 4],
	       "a reset changes the epoch by one and clears scratch");
	measure(reg);
out:
	printf("1..%u\n", count);
	return failed != 0;
}
