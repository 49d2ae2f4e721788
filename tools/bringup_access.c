// SPDX-License-Identifier: MIT
/* bringup: what the ways to a function share. */
#include <linux/pci_regs.h>
#include <string.h>

#include "backend.h"
#include "bringup_access.h"

#define CAPABILITIES_MAX	48	/* a list that is longer goes round in circles */

#define PATIENCE_NS		4000000000ull
#define GAVE_UP_MAX		10	/* 4 ms */
#define PATIENCE_TURNS		50000u	/* of a function in this process: there is none it does not work in */

bool access_patient(struct access *a, struct access_patience *p)
{
	const bool here = strcmp(a->ops->kind, "model") == 0;

	if (!p->end)
		p->end = gtu_now_ns() + (PATIENCE_NS >> a->gave_up);
	if (here ? p->turns >= PATIENCE_TURNS >> a->gave_up : gtu_now_ns() > p->end) {
		if (!p->over && a->gave_up < GAVE_UP_MAX)
			a->gave_up++;
		p->over = true;
		return false;
	}
	a->ops->work(a);
	p->turns++;
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

/* One access each, as wide as it is said: the bus carries what is asked for. */
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
