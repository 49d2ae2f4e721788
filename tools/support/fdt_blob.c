// SPDX-License-Identifier: MIT
/* Compares and prints flattened device trees. */
#include <inttypes.h>
#include <libfdt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "fdt_blob.h"
#include "firmware-model/device/gtu_units.h"

uint32_t fdt_blob_crc(const void *blob, size_t bytes)
{
	return (uint32_t)crc32(0, blob, (uInt)bytes);
}

/* The value of a property of 4 or 8 bytes; all ones if it is missing. */
static uint64_t number(const void *blob, const char *name)
{
	int bytes;
	const fdt32_t *p = fdt_getprop(blob, 0, name, &bytes);

	if (p && bytes == 4)
		return fdt32_ld(p);
	return p && bytes == 8 ? (uint64_t)fdt32_ld(p) << 32 | fdt32_ld(p + 1) : ~0ull;
}

unsigned fdt_blob_compare(const void *blob, const struct fdt_values *regs, struct gtu_error *err)
{
	const struct {
		const char *property, *reg;
		uint64_t value;
	} pair[] = {
		{ "gtu,version", "VERSION", regs->version }, { "gtu,contexts", "MAX_CONTEXTS", regs->contexts },
		{ "gtu,queues", "MAX_QUEUES", regs->queues }, { "gtu,regions-log2", "MAX_REGIONS", regs->regions_log2 },
		{ "gtu,ring-log2", "MAX_RING", regs->ring_log2 }, { "gtu,vectors", "VECTORS", regs->vectors },
		{ "gtu,event-rings", "EVENT_RINGS", regs->event_rings },
		{ "gtu,doorbell-stride-log2", "DOORBELL_STRIDE", regs->stride },
		{ "clock-frequency", "CLOCK_HZ", regs->clock_hz }, { "gtu,aperture-bytes", "APERTURE_SIZE", regs->aperture },
	};
	unsigned i, wrong = 0;

	for (i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
		const uint64_t is = number(blob, pair[i].property);

		if (is == pair[i].value)
			continue;
		if (!wrong++ && is == ~0ull)
			gtu_fail(err, GTU_ERR_INPUT, "%s is missing, %s is %" PRIu64, pair[i].property, pair[i].reg, pair[i].value);
		else if (wrong == 1)
			gtu_fail(err, GTU_ERR_INPUT, "%s is %" PRIu64 ", %s is %" PRIu64, pair[i].property, is, pair[i].reg, pair[i].value);
	}
	for (i = 0; i < GTU_UNIT_COUNT; i++) {
		char name[16];

		snprintf(name, sizeof(name), "/%s@%x", gtu_unit_table[i].name, gtu_unit_table[i].page);
		if ((fdt_path_offset(blob, name) >= 0) == (regs->units >> i & 1))
			continue;
		if (!wrong++)
			gtu_fail(err, GTU_ERR_INPUT, "the node %s is %s, UNITS is 0x%x", name, regs->units >> i & 1 ? "missing" : "there",
				 regs->units);
	}
	return wrong;
}

/* ---- As text ------------------------------------------------------------------------------------ */

void fdt_blob_text(FILE *to, const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 32 || (unsigned char)*text > 126)
			fprintf(to, "\\x%02x", (unsigned char)*text);
		else
			fputc(*text, to);
	}
}

static bool is_text(const char *value, int length)
{
	int i;

	if (length < 2 || value[length - 1] || !value[0])
		return false;
	for (i = 0; i < length - 1; i++)
		if (value[i] ? value[i] < 32 || value[i] > 126 : !value[i + 1])
			return false;
	return true;
}

static void print_property(FILE *to, const char *name, const char *value, int length)
{
	int i;

	fdt_blob_text(to, name);
	if (is_text(value, length)) {
		for (i = 0; i < length; i += strlen(value + i) + 1)
			fprintf(to, "%s\"%s\"", i ? ", " : " = ", value + i);
	} else if (length && length % 4 == 0 && length <= 64) {
		fprintf(to, " = <");
		for (i = 0; i < length; i += 4)
			fprintf(to, "%s%" PRIu32, i ? " " : "", fdt32_ld((const fdt32_t *)(value + i)));
		fprintf(to, ">");
	} else if (length) {
		fprintf(to, " (%d bytes)", length);
	}
}

void fdt_blob_print(FILE *to, const void *fdt)
{
	int node, depth = 0, prop, length;
	const char *name, *value;

	for (node = fdt_next_node(fdt, -1, &depth); node >= 0 && depth >= 0;
	     node = fdt_next_node(fdt, node, &depth)) {
		name = fdt_get_name(fdt, node, NULL);
		fprintf(to, "%*s", 2 * depth, "");
		fdt_blob_text(to, name && *name ? name : "/");
		fputc('\n', to);
		fdt_for_each_property_offset(prop, fdt, node) {
			value = fdt_getprop_by_offset(fdt, prop, &name, &length);
			if (!value)
				continue;
			fprintf(to, "%*s", 2 * depth + 2, "");
			print_property(to, name, value, length);
			fputc('\n', to);
		}
	}
}
