// SPDX-License-Identifier: MIT
/* bringup: functions that all kinds of access share. */
#include <errno.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "libruntime/device/backend.h"
#include "bringup_access.h"
#include "uapi/gtu/hw.h"

#define CAPABILITIES_MAX	48	/* a longer list has a loop */

/* Bus addresses of blocks: below 4 GiB, outside the interrupt range, and 4 GiB above. */
#define LOW_BUS			0x40000000ull
#define HIGH_BUS		(LOW_BUS + (1ull << 32))

#define TIMEOUT_NS		4000000000ull
#define TIMEOUTS_MAX		10	/* 4 ms */
#define TIMEOUT_POLLS		50000u	/* of a function in this process, which runs in each */

bool access_wait(struct access *a, struct access_timer *t)
{
	const bool in_process = strcmp(a->ops->kind, "model") == 0;

	if (!t->end)
		t->end = gtu_now_ns() + (TIMEOUT_NS * a->time_scale >> a->timeouts);
	if (in_process ? t->polls >= TIMEOUT_POLLS * a->time_scale >> a->timeouts : gtu_now_ns() > t->end) {
		if (!t->over && a->timeouts < TIMEOUTS_MAX)
			a->timeouts++;
		t->over = true;
		return false;
	}
	a->ops->work(a);
	t->polls++;
	return true;
}

struct access *access_new(const struct access_ops *ops, size_t own, struct gtu_error *err)
{
	struct access *a = calloc(1, sizeof(*a));
	unsigned i;

	if (a)
		a->own = calloc(1, own);
	if (!a || !a->own) {
		free(a);
		gtu_fail(err, GTU_ERR_NOMEM, "no memory for a device");
		return NULL;
	}
	a->ops = ops;
	a->time_scale = 1;
	for (i = 0; i < ACCESS_VECTORS; i++)
		a->vector[i] = -1;
	return a;
}

void access_free(struct access *a)
{
	unsigned i;

	for (i = 0; i < a->blocks; i++)
		munmap(a->host[i].at, a->host[i].bytes);
	for (i = 0; i < ACCESS_VECTORS; i++)
		if (a->vector[i] >= 0)
			close(a->vector[i]);
	free(a->own);
	free(a);
}

uint8_t *access_block(struct access *a, uint64_t bytes, bool high, uint64_t *bus, int *fd, struct gtu_error *err)
{
	const unsigned n = high ? a->high_blocks : a->blocks - a->high_blocks;
	uint8_t *at = MAP_FAILED;

	if (bytes > ACCESS_BLOCK_MAX || a->blocks == ACCESS_BLOCKS) {
		gtu_fail(err, GTU_ERR_NOMEM, "%llu bytes are too many: the limit is %u blocks of %u bytes", (unsigned long long)bytes,
			 ACCESS_BLOCKS, ACCESS_BLOCK_MAX);
		return NULL;
	}
	*fd = memfd_create("bringup", MFD_CLOEXEC);
	if (*fd >= 0 && !ftruncate(*fd, (off_t)bytes))
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (at == MAP_FAILED) {
		gtu_fail(err, GTU_ERR_NOMEM, "no memory: %s", strerror(errno));
		if (*fd >= 0)
			close(*fd);
		return NULL;
	}
	*bus = (high ? HIGH_BUS : LOW_BUS) + (uint64_t)n * ACCESS_BLOCK_MAX;
	a->high_blocks += high;
	a->host[a->blocks].at = at;
	a->host[a->blocks++].bytes = bytes;
	return at;
}

int access_eventfds(struct access *a, unsigned count, struct gtu_error *err)
{
	unsigned v;

	if (count > ACCESS_VECTORS)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%u vectors are too many: the limit is %u", count, ACCESS_VECTORS);
	for (v = 0; v < count; v++) {
		if (a->vector[v] < 0)
			a->vector[v] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (a->vector[v] < 0)
			return gtu_fail(err, GTU_ERR_FAIL, "cannot create an eventfd: %s", strerror(errno));
	}
	return 0;
}

bool access_event_came(struct access *a, unsigned vector)
{
	uint64_t n;

	return vector < ACCESS_VECTORS && a->vector[vector] >= 0 && read(a->vector[vector], &n, sizeof(n)) == sizeof(n);
}

void access_sleep(struct access *a)
{
	const struct timespec nap = { 0, 20000 };

	(void)a;
	nanosleep(&nap, NULL);
}

uint32_t access_command(struct access *a, uint32_t command, const uint64_t *arg)
{
	struct access_timer timer = { 0 };
	uint32_t status;
	unsigned i;

	for (i = 0; i < GTU_MBOX_ARGS; i++)
		access_set64(a, GTU_REG_MBOX_ARG(i), arg[i]);
	access_set(a, GTU_REG_MBOX_CMD, command);
	do {
		status = access_reg(a, GTU_REG_MBOX_STATUS);
	} while (status & GTU_MBOX_BUSY && status != ~0u && access_wait(a, &timer));
	return status;
}

unsigned access_capability(struct access *a, unsigned id)
{
	unsigned at, i;

	if (!(a->ops->config_read(a, PCI_STATUS, 2) & PCI_STATUS_CAP_LIST))
		return 0;
	at = a->ops->config_read(a, PCI_CAPABILITY_LIST, 1) & ~3u;
	for (i = 0; at >= 0x40 && i < CAPABILITIES_MAX; i++) {
		if (a->ops->config_read(a, at, 1) == id)
			return at;
		at = a->ops->config_read(a, at + 1, 1) & ~3u;
	}
	return 0;
}

bool access_pci_address(char *address, size_t size, const char *word)
{
	unsigned domain, bus, device, function;
	int end = 0;

	if (sscanf(word, "%4x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &end) != 4 || word[end]) {
		domain = 0;
		end = 0;
		if (sscanf(word, "%2x:%2x.%1x%n", &bus, &device, &function, &end) != 3 || word[end])
			return false;
	}
	/* sscanf() also accepts signs and blanks */
	if (word[strspn(word, "0123456789abcdefABCDEF:.")] || device > 31 || function > 7)
		return false;
	snprintf(address, size, "%04x:%02x:%02x.%x", domain, bus, device, function);
	return true;
}

int access_kind(struct access *a, const char *address, uint32_t id, struct gtu_error *err)
{
	const uint32_t is = a->ops->config_read(a, PCI_VENDOR_ID, 4), class = a->ops->config_read(a, PCI_CLASS_REVISION, 4) >> 8;

	/* all ones: no function answers, which the first step reports */
	if (is == id || class == GTU_PCI_CLASS || is == ~0u)
		return 0;
	return gtu_fail(err, GTU_ERR_FAIL, "%s is %04x:%04x, class %06x: neither %04x:%04x nor a processing accelerator (%06x). Nothing was "
			"written to it; --force accepts it as a GTU", address, is & 0xffff, is >> 16, class, id & 0xffff,
			id >> 16, GTU_PCI_CLASS);
}

uint64_t access_probe_bar(struct access *a, unsigned bar)
{
	const unsigned at = PCI_BASE_ADDRESS_0 + 4 * bar;
	const uint32_t before = a->ops->config_read(a, at, 4);
	const bool wide = before & PCI_BASE_ADDRESS_MEM_TYPE_64;
	uint32_t high = 0;
	uint64_t mask;

	/* the upper half of a 64-bit BAR is not a BAR of its own */
	if (bar && bar % 2 && a->ops->config_read(a, at - 4, 4) & PCI_BASE_ADDRESS_MEM_TYPE_64)
		return 0;
	a->ops->config_write(a, at, 4, ~0u);
	mask = a->ops->config_read(a, at, 4) & ~0xfull;
	a->ops->config_write(a, at, 4, before);
	if (wide) {
		high = a->ops->config_read(a, at + 4, 4);
		a->ops->config_write(a, at + 4, 4, ~0u);
		mask |= (uint64_t)a->ops->config_read(a, at + 4, 4) << 32;
		a->ops->config_write(a, at + 4, 4, high);
	} else if (mask) {
		mask |= ~0ull << 32;
	}
	return mask ? ~mask + 1 : 0;
}

int access_flr(struct access *a, struct gtu_error *err)
{
	const unsigned at = access_capability(a, PCI_CAP_ID_EXP);
	uint32_t saved[16];
	unsigned i;

	if (!at || !(a->ops->config_read(a, at + PCI_EXP_DEVCAP, 4) & PCI_EXP_DEVCAP_FLR))
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "the function does not support function-level reset");
	for (i = 0; i < 16; i++)
		saved[i] = a->ops->config_read(a, 4 * i, 4);
	a->ops->config_write(a, at + PCI_EXP_DEVCTL, 2, a->ops->config_read(a, at + PCI_EXP_DEVCTL, 2) | PCI_EXP_DEVCTL_BCR_FLR);
	for (i = 0; i < 16; i++)
		a->ops->config_write(a, 4 * i, 4, saved[i]);
	return 0;
}

/* Exactly one access of the given width: the width on the bus matters. */
uint64_t access_load(const volatile void *at, unsigned bytes)
{
	switch (bytes) {
	case 1: return *(const volatile uint8_t *)at;
	case 2: return *(const volatile uint16_t *)at;
	case 4: return *(const volatile uint32_t *)at;
	default: return *(const volatile uint64_t *)at;
	}
}

void access_store(volatile void *at, unsigned bytes, uint64_t value)
{
	switch (bytes) {
	case 1: *(volatile uint8_t *)at = (uint8_t)value; break;
	case 2: *(volatile uint16_t *)at = (uint16_t)value; break;
	case 4: *(volatile uint32_t *)at = (uint32_t)value; break;
	default: *(volatile uint64_t *)at = value;
	}
}
