// SPDX-License-Identifier: MIT
/* bringup: functions that all kinds of access share. */
#include <linux/pci_regs.h>
#include <stdio.h>
#include <string.h>

#include "libruntime/device/backend.h"
#include "bringup_access.h"
#include "uapi/gtu/hw.h"

#define CAPABILITIES_MAX	48	/* a longer list has a loop */

#define TIMEOUT_NS		4000000000ull
#define TIMEOUTS_MAX		10	/* 4 ms */
#define TIMEOUT_POLLS		50000u	/* of a function in this process, which runs in each */

bool access_wait(struct access *a, struct access_timer *t)
{
	const bool here = strcmp(a->ops->kind, "model") == 0;

	if (!t->end)
		t->end = gtu_now_ns() + (TIMEOUT_NS >> a->timeouts);
	if (here ? t->polls >= TIMEOUT_POLLS >> a->timeouts : gtu_now_ns() > t->end) {
		if (!t->over && a->timeouts < TIMEOUTS_MAX)
			a->timeouts++;
		t->over = true;
		return false;
	}
	a->ops->work(a);
	t->polls++;
	return true;
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

int access_kind(struct access *a, const char *address, struct gtu_error *err)
{
	const uint32_t id = a->ops->config_read(a, PCI_VENDOR_ID, 4), class = a->ops->config_read(a, PCI_CLASS_REVISION, 4) >> 8;

	/* all ones: no function answers, which the first step reports */
	if (id == (GTU_PCI_VENDOR | GTU_PCI_DEVICE << 16) || class == GTU_PCI_CLASS || id == ~0u)
		return 0;
	return gtu_fail(err, GTU_ERR_FAIL, "%s is %04x:%04x, class %06x: neither %04x:%04x nor a processing accelerator (%06x). Nothing was "
			"written to it; --force accepts it as a GTU", address, id & 0xffff, id >> 16, class, GTU_PCI_VENDOR,
			GTU_PCI_DEVICE, GTU_PCI_CLASS);
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
	uint32_t kept[16];
	unsigned i;

	if (!at || !(a->ops->config_read(a, at + PCI_EXP_DEVCAP, 4) & PCI_EXP_DEVCAP_FLR))
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "the function does not support function-level reset");
	for (i = 0; i < 16; i++)
		kept[i] = a->ops->config_read(a, 4 * i, 4);
	a->ops->config_write(a, at + PCI_EXP_DEVCTL, 2, a->ops->config_read(a, at + PCI_EXP_DEVCTL, 2) | PCI_EXP_DEVCTL_BCR_FLR);
	for (i = 0; i < 16; i++)
		a->ops->config_write(a, 4 * i, 4, kept[i]);
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
