// SPDX-License-Identifier: MIT
/* bringup: checks configuration space, link, BARs and the identity of the device. */
#include <inttypes.h>
#include <libfdt.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bringup.h"
#include "libruntime/support/fdt.h"
#include "tools/support/fdt_blob.h"

static uint32_t config(struct bringup *b, unsigned at, unsigned bytes)
{
	return b->a->ops->config_read(b->a, at, bytes);
}

/* ---- Configuration space ---------------------------------------------------------------------------- */

static void check_link(struct bringup *b, unsigned cap)
{
	static const char *const speed[] = { "?", "2.5", "5", "8", "16", "32", "64" };
	const uint32_t able = config(b, cap + PCI_EXP_LNKCAP, 4), now = config(b, cap + PCI_EXP_LNKSTA, 2);
	const unsigned able_speed = able & PCI_EXP_LNKCAP_SLS, speed_now = now & PCI_EXP_LNKSTA_CLS;
	const unsigned able_width = (able & PCI_EXP_LNKCAP_MLW) >> 4, width = (now & PCI_EXP_LNKSTA_NLW) >> PCI_EXP_LNKSTA_NLW_SHIFT;

	snprintf(b->link, sizeof(b->link), "%s GT/s x%u of %s GT/s x%u", speed[speed_now < 7 ? speed_now : 0], width,
		 speed[able_speed < 7 ? able_speed : 0], able_width);
	if (speed_now < able_speed || width < able_width)
		bringup_say(b, BRINGUP_WARN, NULL, "the link runs at %s: check the slot, the root port and link training", b->link);
	else
		bringup_say(b, BRINGUP_OK, NULL, "link %s", b->link);
}

static void check_express(struct bringup *b)
{
	const unsigned cap = access_capability(b->a, PCI_CAP_ID_EXP);
	unsigned type;

	if (!cap) {
		bringup_say(b, BRINGUP_FAIL, NULL, "the PCI Express capability is missing");
		return;
	}
	type = config(b, cap + PCI_EXP_FLAGS, 2) >> 4 & 0xf;
	if (type != PCI_EXP_TYPE_ENDPOINT && type != PCI_EXP_TYPE_RC_END)
		bringup_say(b, BRINGUP_FAIL, NULL, "PCI Express type %u, not an endpoint (0)", type);
	if (!(config(b, cap + PCI_EXP_DEVCAP, 4) & PCI_EXP_DEVCAP_FLR))
		bringup_say(b, BRINGUP_FAIL, NULL, "the device capabilities lack function-level reset");
	/* a root complex integrated endpoint has no link of its own */
	if (type == PCI_EXP_TYPE_RC_END)
		bringup_say(b, BRINGUP_OK, NULL, "a root complex integrated endpoint: it has no link");
	else
		check_link(b, cap);
}

static void check_msix(struct bringup *b)
{
	const unsigned cap = access_capability(b->a, PCI_CAP_ID_MSIX);
	uint32_t table, pba;
	unsigned vectors;

	if (!cap) {
		bringup_say(b, BRINGUP_FAIL, NULL, "the MSI-X capability is missing");
		return;
	}
	vectors = (config(b, cap + PCI_MSIX_FLAGS, 2) & PCI_MSIX_FLAGS_QSIZE) + 1;
	table = config(b, cap + PCI_MSIX_TABLE, 4);
	pba = config(b, cap + PCI_MSIX_PBA, 4);
	if (table != GTU_BAR_MSIX || pba != (GTU_MSIX_PBA | GTU_BAR_MSIX))
		bringup_say(b, BRINGUP_FAIL, NULL, "the MSI-X table is at 0x%x of BAR %u, the pending bits at 0x%x of BAR %u; they must be at 0 and 0x%x of "
			    "BAR %u", table & ~7u, table & 7, pba & ~7u, pba & 7, GTU_MSIX_PBA, GTU_BAR_MSIX);
	else
		bringup_say(b, BRINGUP_OK, NULL, "PCI Express endpoint with function-level reset; MSI-X, %u vectors", vectors);
	b->vectors = vectors;		/* bringup_identity() compares it with the register */
}

static void check_bar(struct bringup *b, unsigned bar, uint64_t bytes, bool exact, bool wide, bool prefetch)
{
	const uint32_t flags = config(b, PCI_BASE_ADDRESS_0 + 4 * bar, 4);

	b->bar[bar] = b->a->ops->bar_size(b->a, bar);
	b->bar_flags[bar] = flags & 0xf;
	b->bar_address[bar] = flags & ~0xfu;
	if (flags & PCI_BASE_ADDRESS_MEM_TYPE_64)
		b->bar_address[bar] |= (uint64_t)config(b, PCI_BASE_ADDRESS_0 + 4 * bar + 4, 4) << 32;
	if (flags & PCI_BASE_ADDRESS_SPACE_IO)
		bringup_say(b, BRINGUP_FAIL, NULL, "BAR %u is I/O space", bar);
	else if (b->bar[bar] < bytes || (exact && b->bar[bar] != bytes))
		bringup_say(b, BRINGUP_FAIL, NULL, "BAR %u has 0x%" PRIx64 " bytes, %s 0x%" PRIx64 " are right", bar, b->bar[bar],
			    exact ? "exactly" : "at least", bytes);
	if (b->bar[bar] && (wide != !!(flags & PCI_BASE_ADDRESS_MEM_TYPE_64) || prefetch != !!(flags & PCI_BASE_ADDRESS_MEM_PREFETCH)))
		bringup_say(b, BRINGUP_WARN, NULL, "BAR %u is %u-bit and %sprefetchable; hardware.md has %u-bit, %sprefetchable", bar,
			    flags & PCI_BASE_ADDRESS_MEM_TYPE_64 ? 64 : 32, flags & PCI_BASE_ADDRESS_MEM_PREFETCH ? "" : "not ",
			    wide ? 64 : 32, prefetch ? "" : "not ");
}

void bringup_config(struct bringup *b)
{
	const uint32_t id = config(b, 0, 4), class = config(b, PCI_CLASS_REVISION, 4) >> 8;

	if (id == ~0u || !id) {
		bringup_say(b, BRINGUP_FAIL, NULL, "configuration space reads as 0x%08x: no function answers", id);
		return;
	}
	if (id == b->id)
		bringup_say(b, BRINGUP_OK, NULL, "%s: vendor %04x, device %04x, class %06x", b->a->name, id & 0xffff, id >> 16, class);
	else
		bringup_say(b, BRINGUP_WARN, NULL, "%s: vendor %04x, device %04x, not %04x:%04x (a board may have its own: --id), class %06x",
			    b->a->name, id & 0xffff, id >> 16, b->id & 0xffff, b->id >> 16, class);
	if (class != GTU_PCI_CLASS)
		bringup_say(b, BRINGUP_FAIL, NULL, "class %06x, not %06x (processing accelerator)", class, GTU_PCI_CLASS);
	if (config(b, PCI_HEADER_TYPE, 1) & 0x7f)
		bringup_say(b, BRINGUP_FAIL, NULL, "header type 0x%x, not 0", config(b, PCI_HEADER_TYPE, 1));
	check_bar(b, GTU_BAR_REGS, GTU_BAR_REGS_SIZE, true, false, false);
	check_bar(b, GTU_BAR_MSIX, GTU_BAR_MSIX_SIZE, true, false, false);
	check_bar(b, GTU_BAR_DOORBELL, 4096, false, true, false);
	check_bar(b, GTU_BAR_APERTURE, 0, false, true, true);	/* check_limits() compares it with APERTURE_SIZE */
	check_express(b);
	check_msix(b);
	if (*b->a->link && access_capability(b->a, PCI_CAP_ID_EXP) && *b->link)
		bringup_say(b, BRINGUP_OK, NULL, "the kernel reports the link as %s", b->a->link);
}

/* ---- Identity ----------------------------------------------------------------------------------------- */

static void read_units(struct bringup *b)
{
	unsigned u, n;

	for (u = 0; u < GTU_UNIT_COUNT; u++) {
		const uint32_t page = gtu_unit_table[u].page, id = access_reg(b->a, page + GTU_UREG_ID);
		const bool present = b->units >> u & 1;

		if (id != (present ? gtu_unit_table[u].id : 0))
			bringup_say(b, BRINGUP_FAIL, NULL, "UNITS says that %s is %s, the ID of its page (0x%x) is 0x%08x, not 0x%08x",
				    gtu_unit_table[u].name, present ? "there" : "not there", page, id, present ? gtu_unit_table[u].id : 0);
		for (n = 0; present && n < GTU_UREG_PARAMS; n++)
			b->param[u][n] = access_reg(b->a, page + GTU_UREG_PARAM(n));
		for (n = 0; present && gtu_parameter_exists(&gtu_unit_table[u].settings[n]); n++)
			b->setting[u][n] = access_reg(b->a, page + GTU_UREG_SET(n));
	}
}

static void check_limits(struct bringup *b)
{
	struct access *a = b->a;
	const unsigned from_config = b->vectors;

	b->caps = access_reg64(a, GTU_REG_CAPS);
	b->units = access_reg(a, GTU_REG_UNITS);
	b->contexts = access_reg(a, GTU_REG_MAX_CONTEXTS);
	b->queues = access_reg(a, GTU_REG_MAX_QUEUES);
	b->regions_log2 = access_reg(a, GTU_REG_MAX_REGIONS);
	b->ring_log2 = access_reg(a, GTU_REG_MAX_RING);
	b->vectors = access_reg(a, GTU_REG_VECTORS);
	b->event_rings = access_reg(a, GTU_REG_EVENT_RINGS);
	b->stride = access_reg(a, GTU_REG_DOORBELL_STRIDE);
	b->clock_hz = access_reg64(a, GTU_REG_CLOCK_HZ);
	b->aperture = access_reg64(a, GTU_REG_APERTURE_SIZE);
	if (!b->contexts || !b->queues || b->queues > 65535 || b->regions_log2 > 16 || b->ring_log2 < 1 || b->ring_log2 > 16 ||
	    !b->vectors || !b->event_rings || b->event_rings > GTU_EVENT_RINGS_MAX || b->stride < 12 || b->stride > 20) {
		bringup_say(b, BRINGUP_FAIL, NULL, "impossible limits: contexts %u, queues %u, log2 regions %u, log2 ring %u, vectors %u, "
			    "event rings %u, log2 stride %u", b->contexts, b->queues, b->regions_log2, b->ring_log2, b->vectors,
			    b->event_rings, b->stride);
		b->identified = false;
		return;
	}
	if (b->vectors != from_config)
		bringup_say(b, BRINGUP_FAIL, NULL, "the register VECTORS is %u, the MSI-X capability has %u vectors", b->vectors, from_config);
	if (b->bar[GTU_BAR_DOORBELL] < (uint64_t)b->queues << b->stride)
		bringup_say(b, BRINGUP_FAIL, "bar-size", "%u queues, 2^%u bytes apart, need 0x%" PRIx64 " bytes of doorbells; BAR %u has 0x%" PRIx64,
			    b->queues, b->stride, (uint64_t)b->queues << b->stride, GTU_BAR_DOORBELL, b->bar[GTU_BAR_DOORBELL]);
	if (b->bar[GTU_BAR_APERTURE] < b->aperture)
		bringup_say(b, BRINGUP_FAIL, NULL, "an aperture of 0x%" PRIx64 " bytes behind a BAR of 0x%" PRIx64, b->aperture,
			    b->bar[GTU_BAR_APERTURE]);
	bringup_say(b, BRINGUP_OK, NULL, "programming model %u.%u, units 0x%x, %u contexts, %u queues, rings of up to 2^%u, %u vectors, "
		    "%" PRIu64 " MiB of aperture", b->version >> 16, b->version & 0xffff, b->units, b->contexts, b->queues, b->ring_log2,
		    b->vectors, b->aperture >> 20);
}

/* Read the blob from its window, check it, and compare the values that registers repeat. */
static void check_fdt(struct bringup *b)
{
	const uint32_t at = access_reg(b->a, GTU_REG_FDT_OFFSET), bytes = access_reg(b->a, GTU_REG_FDT_LENGTH);
	const uint32_t crc = access_reg(b->a, GTU_REG_FDT_CRC);
	struct fdt_values known = { 0 };
	struct gtu_error err;
	uint32_t i, *blob, is;
	unsigned wrong;

	if (at < GTU_FDT_WINDOW || at % 4 || bytes < 40 || bytes > GTU_BAR_REGS_SIZE - (at < GTU_BAR_REGS_SIZE ? at : GTU_BAR_REGS_SIZE)) {
		bringup_say(b, BRINGUP_FAIL, NULL, "device tree of %u bytes at 0x%x: not inside the window 0x%x..0xffff", bytes, at, GTU_FDT_WINDOW);
		return;
	}
	blob = calloc((bytes + 3) / 4, 4);
	if (!blob) {
		bringup_say(b, BRINGUP_FAIL, NULL, "no memory for the device tree");
		return;
	}
	for (i = 0; i < bytes; i += 4)
		blob[i / 4] = access_reg(b->a, at + i);
	is = fdt_blob_crc(blob, bytes);
	if (gtu_fdt_check(blob, bytes, &err)) {
		bringup_say(b, BRINGUP_FAIL, NULL, "device tree: %s", err.text);
	} else if (is != crc) {
		bringup_say(b, BRINGUP_FAIL, "fdt-crc", "the blob is well-formed, its CRC-32 is 0x%08x, FDT_CRC says 0x%08x: a CRC of other bytes, "
			    "or another polynomial, start value or bit order", is, crc);
	} else {
		known.version = b->version, known.contexts = b->contexts, known.queues = b->queues;
		known.regions_log2 = b->regions_log2, known.ring_log2 = b->ring_log2, known.vectors = b->vectors;
		known.event_rings = b->event_rings, known.stride = b->stride, known.units = b->units;
		known.clock_hz = b->clock_hz, known.aperture = b->aperture;
		wrong = fdt_blob_compare(blob, &known, &err);
		if (wrong)
			bringup_say(b, BRINGUP_FAIL, "fdt-value", "%u value%s of the device tree differ%s from the registers: %s", wrong,
				    wrong > 1 ? "s" : "", wrong > 1 ? "" : "s", err.text);
		else
			bringup_say(b, BRINGUP_OK, NULL, "device tree of %u bytes, its CRC and every value right", bytes);
	}
	free(blob);
}

void bringup_identity(struct bringup *b)
{
	const uint32_t magic = access_reg(b->a, GTU_REG_MAGIC);

	b->version = access_reg(b->a, GTU_REG_VERSION);
	if (magic != GTU_MAGIC) {
		bringup_say(b, BRINGUP_FAIL, NULL, "MAGIC reads 0x%08x, not 0x%08x%s", magic, GTU_MAGIC, magic == ~0u ?
			    ": no device answers (memory decode off, link down, or removed)" : magic == __builtin_bswap32(GTU_MAGIC) ?
			    ": the bytes are reversed" : "");
		return;
	}
	if (b->version >> 16 != GTU_HW_VERSION >> 16) {
		bringup_say(b, BRINGUP_FAIL, NULL, "VERSION is %u.%u: this tool supports major version %u", b->version >> 16, b->version & 0xffff,
			    GTU_HW_VERSION >> 16);
		return;
	}
	b->identified = true;
	check_limits(b);
	if (!b->identified)
		return;
	read_units(b);
	check_fdt(b);
}
