// SPDX-License-Identifier: MIT
/* gtu fdt: shows, checks and compares device trees, and writes an overlay for a system's tree. */
#include <inttypes.h>
#include <libfdt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "firmware-model/device/gtu_units.h"
#include "tools/support/cli.h"
#include "tools/support/fdt_blob.h"
#include "uapi/gtu/hw.h"

static const char help[] =
	"usage: gtu fdt show [WHERE]             print every node and property\n"
	"       gtu fdt check [WHERE]            check against the binding, driver/bindings/gtu.yaml\n"
	"       gtu fdt diff A B                 print the differences between two trees\n"
	"       gtu fdt overlay [WHERE] [--registers ADDR] [--doorbells ADDR] [--aperture ADDR] [--irq N]\n"
	"                                        print the source of an overlay for a system with a device tree\n\n"
	"A GTU describes itself by a device tree in its registers; on a system without PCI the system's tree\n"
	"describes where it is. WHERE is one of\n"
	"  model, model:scu_width=8,... /dev/gtu0   the tree in a device's registers [model]\n"
	"  board.dtb                                a blob's file (gtu info --fdt writes one; /sys/firmware/fdt)\n"
	"  system                                   the running system's tree, /proc/device-tree\n"
	"  a folder                                 a tree unpacked in the form of /proc/device-tree\n\n"
	"check examines every node that is compatible with \"gtu,gtu-1\": a root without reg is a device's own\n"
	"description, any other node is a device of a system. It reports each mistake with its node.\n"
	"overlay takes the sizes of BARs from WHERE; the addresses are yours. dtc -@ -I dts -O dtb compiles it.\n\n"
	"  --registers ADDR  address of the registers [0x40000000]\n"
	"  --doorbells ADDR  address of the doorbells [0x42000000]\n"
	"  --aperture ADDR   address of the device's memory [0x44000000]\n"
	"  --irq N           first shared interrupt [64]\n\n"
	"Exit codes: 0 valid or equal, 2 usage, 3 the tree is wrong or cannot be read, 4 the trees differ.\n";

/* ---- The binding ---------------------------------------------------------------------------------------- */

static const struct rule {
	const char *name;
	unsigned bytes;
	uint64_t min, max;
} rules[] = {
	{ "gtu,version", 4, 0x10000, 0x1ffff },		{ "gtu,contexts", 4, 1, 65535 },
	{ "gtu,queues", 4, 1, 65535 },			{ "gtu,regions-log2", 4, 0, 16 },
	{ "gtu,ring-log2", 4, 1, 16 },			{ "gtu,vectors", 4, 1, 2048 },
	{ "gtu,event-rings", 4, 1, GTU_EVENT_RINGS_MAX }, { "gtu,doorbell-stride-log2", 4, 12, 20 },
	{ "clock-frequency", 8, 1, UINT64_MAX },	{ "gtu,aperture-bytes", 8, 0, UINT64_MAX },
};
#define RULES (sizeof(rules) / sizeof(rules[0]))

struct check {
	const void *fdt;
	unsigned wrong, devices;
};

static void wrong(struct check *c, int node, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void wrong(struct check *c, int node, const char *fmt, ...)
{
	char path[256], text[512];
	va_list ap;

	if (fdt_get_path(c->fdt, node, path, sizeof(path)))
		strcpy(path, "?");
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fdt_blob_text(stdout, path);
	fputs(": ", stdout);
	fdt_blob_text(stdout, text);
	putchar('\n');
	c->wrong++;
}

static uint64_t cells(const fdt32_t *p, unsigned n)
{
	uint64_t value = 0;

	while (n--)
		value = value << 32 | fdt32_ld(p++);
	return value;
}

static bool compatible(const void *fdt, int node, const char *with)
{
	return fdt_node_check_compatible(fdt, node, with) == 0;
}

static void check_values(struct check *c, int node, bool required)
{
	unsigned i;

	for (i = 0; i < RULES; i++) {
		const struct rule *r = &rules[i];
		int bytes;
		const fdt32_t *p = fdt_getprop(c->fdt, node, r->name, &bytes);
		uint64_t value;

		if (!p && required)
			wrong(c, node, "%s is missing", r->name);
		if (!p)
			continue;
		if (bytes != (int)r->bytes) {
			wrong(c, node, "%s has %d bytes, it must have %u", r->name, bytes, r->bytes);
			continue;
		}
		value = cells(p, r->bytes / 4);
		if (value < r->min || value > r->max)
			wrong(c, node, "%s is %" PRIu64 ", outside %" PRIu64 " to %" PRIu64, r->name, value, r->min, r->max);
	}
}

/* Check that a unit's node has the name, page and compatible of the same unit. */
static void check_unit(struct check *c, int node)
{
	const char *name = fdt_get_name(c->fdt, node, NULL);
	char want[32];
	const fdt32_t *reg;
	int bytes;
	unsigned u;

	for (u = 0; u < GTU_UNIT_COUNT; u++) {
		snprintf(want, sizeof(want), "gtu,%s-1", gtu_unit_table[u].name);
		if (compatible(c->fdt, node, want))
			break;
	}
	if (u == GTU_UNIT_COUNT) {
		wrong(c, node, "not compatible with a unit (gtu,scu-1 and so on)");
		return;
	}
	snprintf(want, sizeof(want), "%s@%x", gtu_unit_table[u].name, gtu_unit_table[u].page);
	if (!name || strcmp(name, want))
		wrong(c, node, "the node's name is '%s', it must be '%s'", name ? name : "", want);
	reg = fdt_getprop(c->fdt, node, "reg", &bytes);
	if (!reg || bytes != 4 || fdt32_ld(reg) != gtu_unit_table[u].page)
		wrong(c, node, "reg is not <0x%x>, the unit's page", gtu_unit_table[u].page);
	reg = fdt_getprop(c->fdt, node, "gtu,version", &bytes);
	if (!reg || bytes != 4 || !fdt32_ld(reg))
		wrong(c, node, "gtu,version is missing, or 0");
}

/* The standard properties that a node may have beside the rules. */
static bool in_binding(const char *name)
{
	static const char *const has[] = {
		"compatible", "reg", "reg-names", "interrupts", "interrupts-extended", "interrupt-parent", "dma-coherent",
		"iommus", "clocks", "resets", "power-domains", "status", "phandle", "linux,phandle", "name", "label",
		"assigned-clocks", "assigned-clock-parents", "assigned-clock-rates",
	};
	unsigned i;

	for (i = 0; i < sizeof(has) / sizeof(has[0]); i++)
		if (!strcmp(name, has[i]))
			return true;
	return false;
}

static void check_names(struct check *c, int node)
{
	const char *name;
	int prop;

	fdt_for_each_property_offset(prop, c->fdt, node)
		if (fdt_getprop_by_offset(c->fdt, prop, &name, NULL) && !in_binding(name))
			wrong(c, node, "%s is no property of the binding", name);
}

/* Check that the ranges are whole pages and do not overlap. */
static void check_ranges(struct check *c, int node, const fdt32_t *reg, unsigned a, unsigned s, unsigned entries)
{
	static const char *const what[] = { "registers", "doorbells", "aperture" };
	uint64_t at[3], bytes[3];
	unsigned i, j;

	for (i = 0; i < entries; i++, reg += a + s) {
		at[i] = cells(reg, a);
		bytes[i] = cells(reg + a, s);
		if (!i && bytes[i] < GTU_BAR_REGS_SIZE)
			wrong(c, node, "the registers have 0x%" PRIx64 " bytes, the minimum is 0x%x", bytes[i], GTU_BAR_REGS_SIZE);
		if (at[i] % 4096 || !bytes[i] || bytes[i] % 4096 || at[i] + bytes[i] - 1 < at[i])
			wrong(c, node, "the %s %s not whole pages: 0x%" PRIx64 " bytes at 0x%" PRIx64, what[i], i == 2 ? "is" : "are",
			      bytes[i], at[i]);
		for (j = 0; j < i; j++)
			if (at[i] < at[j] + bytes[j] && at[j] < at[i] + bytes[i])
				wrong(c, node, "%s and %s overlap", what[j], what[i]);
	}
}

/* Check what a system's tree declares about a device: reg, reg-names, interrupts, coherence. */
static void check_system(struct check *c, int node)
{
	static const char names[] = "registers\0doorbells\0aperture";
	const int parent = fdt_parent_offset(c->fdt, node);
	const unsigned a = (unsigned)fdt_address_cells(c->fdt, parent), s = (unsigned)fdt_size_cells(c->fdt, parent);
	int bytes, length;
	const fdt32_t *reg = fdt_getprop(c->fdt, node, "reg", &bytes);
	const char *name;
	unsigned entries;

	if (!a || !s || a > 2 || s > 2 || !reg || bytes % (int)(4 * (a + s)) || bytes / (int)(4 * (a + s)) < 2 ||
	    bytes / (int)(4 * (a + s)) > 3) {
		wrong(c, node, "reg is not two or three ranges (registers, doorbells, aperture) of %u + %u cells", a, s);
		return;
	}
	entries = (unsigned)bytes / (4 * (a + s));
	check_ranges(c, node, reg, a, s, entries);
	name = fdt_getprop(c->fdt, node, "reg-names", &length);
	if (!name || (length != (int)(entries == 3 ? sizeof(names) : sizeof("registers\0doorbells")) || memcmp(name, names, (size_t)length)))
		wrong(c, node, "reg-names are not \"registers\", \"doorbells\"%s", entries == 3 ? ", \"aperture\"" : "");
	if (!fdt_getprop(c->fdt, node, "interrupts", &length) && !fdt_getprop(c->fdt, node, "interrupts-extended", &length))
		wrong(c, node, "interrupts is missing: the device needs at least one, for errors and events");
	if (!fdt_getprop(c->fdt, node, "dma-coherent", &length))
		wrong(c, node, "dma-coherent is missing: the driver requires it");
}

static void check_device(struct check *c, int node)
{
	const bool own = !node && !fdt_getprop(c->fdt, node, "reg", NULL);
	int child;

	c->devices++;
	check_values(c, node, own);
	if (!own) {
		check_system(c, node);
		check_names(c, node);
	}
	fdt_for_each_subnode(child, c->fdt, node)
		check_unit(c, child);
}

static int check(const void *fdt, const char *where)
{
	struct check c = { .fdt = fdt };
	int node, depth = 0;

	for (node = 0; node >= 0 && depth >= 0; node = fdt_next_node(fdt, node, &depth))
		if (compatible(fdt, node, "gtu,gtu-1"))
			check_device(&c, node);
	if (!c.devices) {
		printf("%s has no node that is compatible with \"gtu,gtu-1\"\n", where);
		return CLI_INPUT;
	}
	printf("%s: %u device%s, %u mistake%s\n", where, c.devices, c.devices > 1 ? "s" : "", c.wrong, c.wrong == 1 ? "" : "s");
	return c.wrong ? CLI_INPUT : CLI_DONE;
}

/* ---- Comparing ------------------------------------------------------------------------------------------------ */

static void show_property(const char *sign, const char *path, const char *name, const void *value, int bytes)
{
	const uint8_t *v = value;
	int i;

	printf("%s ", sign);
	fdt_blob_text(stdout, path);
	fputs(strcmp(path, "/") ? "/" : "", stdout);
	fdt_blob_text(stdout, name);
	fputs(" =", stdout);
	for (i = 0; i < bytes && i < 32; i++)
		printf("%s%02x", i % 4 ? "" : " ", v[i]);
	printf("%s\n", i < bytes ? " ..." : "");
}

/*
 * Print what @a has and @b has not, and, unless @back, what differs. Returns the number of
 * differences.
 */
static unsigned print_differences(const void *a, const void *b, const char *sign, bool back)
{
	int node, other, depth = 0, prop, bytes, there;
	const char *name, *value, *is;
	unsigned differ = 0;
	char path[512];

	for (node = 0; node >= 0 && depth >= 0; node = fdt_next_node(a, node, &depth)) {
		if (fdt_get_path(a, node, path, sizeof(path))) {
			printf("%s a node whose path has more than %zu characters: not compared\n", sign, sizeof(path) - 1);
			differ++;
			continue;
		}
		other = fdt_path_offset(b, path);
		if (other < 0) {
			printf("%s ", sign);
			fdt_blob_text(stdout, path);
			putchar('\n');
			differ++;
			continue;
		}
		fdt_for_each_property_offset(prop, a, node) {
			value = fdt_getprop_by_offset(a, prop, &name, &bytes);
			is = value ? fdt_getprop(b, other, name, &there) : NULL;
			if (!value || (is && (back || (bytes == there && !memcmp(value, is, (size_t)bytes)))))
				continue;
			differ++;
			show_property(sign, path, name, value, bytes);
			if (is)
				show_property("+", path, name, is, there);
		}
	}
	return differ;
}

static int diff(const void *a, const void *b)
{
	unsigned differ = print_differences(a, b, "-", false);

	differ += print_differences(b, a, "+", true);
	return differ ? CLI_VERIFY : CLI_DONE;
}

/* ---- An overlay --------------------------------------------------------------------------------------------------- */

struct addresses {
	uint64_t registers, doorbells, aperture, irq;
};

static uint64_t value_of(const void *fdt, const char *name)
{
	int bytes;
	const fdt32_t *p = fdt_getprop(fdt, 0, name, &bytes);

	return p && (bytes == 4 || bytes == 8) ? cells(p, (unsigned)bytes / 4) : 0;
}

static void range(uint64_t at, uint64_t bytes, const char *end)
{
	printf("<0x%x 0x%08x 0x%x 0x%x>%s", (unsigned)(at >> 32), (unsigned)at, (unsigned)(bytes >> 32), (unsigned)bytes, end);
}

static int overlay(const void *fdt, const struct addresses *p)
{
	const uint64_t doorbell_bytes = value_of(fdt, "gtu,queues") << (value_of(fdt, "gtu,doorbell-stride-log2") & 63);
	const uint64_t aperture = value_of(fdt, "gtu,aperture-bytes");
	uint64_t vectors = value_of(fdt, "gtu,vectors"), i;

	if (!doorbell_bytes || !vectors || !compatible(fdt, 0, "gtu,gtu-1")) {
		printf("the tree is not a device's own description\n");
		return CLI_INPUT;
	}
	vectors = vectors < 33 ? vectors : 33;
	printf("// SPDX-License-Identifier: GPL-2.0-only OR MIT\n/dts-v1/;\n/plugin/;\n\n&{/} {\n"
	       "\t#address-cells = <2>;\n\t#size-cells = <2>;\n\n\tgtu@%" PRIx64 " {\n\t\tcompatible = \"gtu,gtu-1\";\n\t\treg = ", p->registers);
	range(p->registers, GTU_BAR_REGS_SIZE, ",\n\t\t      ");
	range(p->doorbells, doorbell_bytes, aperture ? ",\n\t\t      " : ";\n");
	if (aperture)
		range(p->aperture, aperture, ";\n");
	printf("\t\treg-names = \"registers\", \"doorbells\"%s;\n", aperture ? ", \"aperture\"" : "");
	printf("\t\t/* shared peripheral interrupts, rising edge: errors first, then a ring of events each */\n\t\tinterrupts =");
	for (i = 0; i < vectors; i++)
		printf("%s<0 %" PRIu64 " 1>%s", i % 4 ? " " : "\n\t\t\t", p->irq + i, i + 1 < vectors ? "," : ";\n");
	printf("\t\tdma-coherent;\n\t};\n};\n");
	return CLI_DONE;
}

/* ---- The verb --------------------------------------------------------------------------------------------------------- */

static int run(int what, char **where, int n, const struct addresses *p)
{
	struct gtu_error err = { .text = "" };
	const char *first = n ? where[0] : "model";
	void *a = fdt_blob_load(first, &err), *b = NULL;
	int code;

	if (!a)
		return cli_exit(&err, err.code);
	switch (what) {
	case 0:
		fdt_blob_print(stdout, a);
		code = CLI_DONE;
		break;
	case 1:
		code = check(a, first);
		break;
	case 2:
		b = fdt_blob_load(where[1], &err);
		code = b ? diff(a, b) : cli_exit(&err, err.code);
		break;
	default:
		code = overlay(a, p);
	}
	free(a);
	free(b);
	return code;
}

int cmd_fdt(int argc, char **argv)
{
	enum { REGISTERS = 1, DOORBELLS, APERTURE, IRQ, HELP = 'h' };
	static const struct option options[] = {
		{ "registers", required_argument, NULL, REGISTERS }, { "doorbells", required_argument, NULL, DOORBELLS },
		{ "aperture", required_argument, NULL, APERTURE },   { "irq", required_argument, NULL, IRQ },
		{ "help", no_argument, NULL, HELP },		     { NULL, 0, NULL, 0 },
	};
	static const char *const verbs[] = { "show", "check", "diff", "overlay", NULL };
	struct addresses p = { 0x40000000, 0x42000000, 0x44000000, 64 };
	int option, what, words;
	bool placed = false;

	while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		placed = true;
		switch (option) {
		case REGISTERS:
			if (!cli_u64("--registers", optarg, 0, UINT64_MAX, &p.registers))
				return CLI_USAGE;
			break;
		case DOORBELLS:
			if (!cli_u64("--doorbells", optarg, 0, UINT64_MAX, &p.doorbells))
				return CLI_USAGE;
			break;
		case APERTURE:
			if (!cli_u64("--aperture", optarg, 0, UINT64_MAX, &p.aperture))
				return CLI_USAGE;
			break;
		case IRQ:
			if (!cli_u64("--irq", optarg, 0, 987, &p.irq))
				return CLI_USAGE;
			break;
		case HELP:
			fputs(help, stdout);
			return CLI_DONE;
		default:
			return cli_option(argc, argv, option, options);
		}
	}
	if (optind == argc)
		return cli_usage("needs one of show, check, diff, overlay");
	what = cli_choice("what", argv[optind], verbs);
	if (what < 0)
		return CLI_USAGE;
	words = argc - optind - 1;
	if (what == 2 ? words != 2 : words > 1)
		return cli_usage("%s takes %s, but %d words are given", verbs[what], what == 2 ? "two trees" : "one tree at most", words);
	if (placed && what != 3)
		return cli_usage("addresses and interrupts are for overlay");
	return run(what, argv + optind + 1, words, &p);
}
