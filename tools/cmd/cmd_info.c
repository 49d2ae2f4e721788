// SPDX-License-Identifier: MIT
/* gtu info: prints a device's properties and the backends that are available on this computer. */
#include <glob.h>
#include <inttypes.h>
#include <libfdt.h>
#include <string.h>

#include "firmware-model/device/gtu_units.h"
#include "libruntime/device/backend.h"
#include "tools/support/cli.h"
#include "tools/support/fdt_blob.h"
#include "tools/support/gpu_options.h"
#include "gtu/ranks.h"
#include "tools/support/host.h"
#include "tools/support/json.h"
#include "tools/support/unit_storage.h"
#include "tools/support/unit_tables.h"
#include "tools/support/atomic_file.h"

static const char help[] =
	"usage: gtu info [--device D] [--registers | --storage] [--json FILE|-] [--fdt FILE|-]\n"
	"       gtu info --tables UNIT\n\n"
	"Prints the properties of a device: its version, the units that are present and absent, every\n"
	"parameter, its device tree; and the computer and the backends available on it.\n\n"
	"  --device D     model (the default: the device in this process), model:KEY=VALUE,... e.g.\n"
	"                 model:scu_width=8,iru_timeout=256, a device file such as /dev/gtu0, or a GPU\n"
	"                 such as cuda:0; cuda:0,1 or cuda:all prints several\n"
	"  --registers    read every register of the units instead: state, parameters, settings, counters,\n"
	"                 and the control registers of their own, such as the PEG's for balancing; with\n"
	"                 --json in addition. Behind the driver, counters and control registers need root\n"
	"  --storage      print the bits of the units' tables and buffers instead, computed from the device's\n"
	"                 parameters, beside those that the papers publish; with --json in addition\n"
	"  --json FILE    the same as JSON; - is standard output, and then nothing else is printed\n"
	"  --fdt FILE     write the device tree blob (dtc -I dtb reads it); - likewise\n"
	"  --tables UNIT  parameters with their limits, settings, counters, operations and operand slots\n"
	"                 of scu, iru, peg, wvr, zcm or of the device as such; needs no device\n";

/* ---- Backends --------------------------------------------------------------------------------- */

#define BACKENDS_MAX 10

struct backend {
	char name[64];
	bool usable;
	char message[GTU_ERROR_TEXT];
};

static void try_device_file(struct backend *b, const char *path)
{
	struct gtu_error err = { 0 };
	struct gtu_device *dev;

	snprintf(b->name, sizeof(b->name), "%s", path);
	if (gtu_open(path, &dev, &err)) {
		snprintf(b->message, sizeof(b->message), "%s", err.text);
		return;
	}
	gtu_close(dev);
	b->usable = true;
	snprintf(b->message, sizeof(b->message), "a device behind the kernel's driver");
}

static void try_gpus(struct backend *b)
{
	struct gtu_error err = { 0 };
	int count = gtu_gpu_count(&err);

	strcpy(b->name, "cuda");
	b->usable = count > 0;
	if (count > 0)
		snprintf(b->message, sizeof(b->message), "%d GPU%s: cuda:0%s", count, count > 1 ? "s" : "",
			 count > 1 ? " and so on; cuda:all together" : "");
	else
		snprintf(b->message, sizeof(b->message), "%s", err.text);
}

static unsigned find_backends(struct backend *b)
{
	glob_t files = { 0 };
	unsigned n = 0, i;

	memset(b, 0, BACKENDS_MAX * sizeof(*b));
	strcpy(b[n].name, "model");
	b[n].usable = true;
	strcpy(b[n++].message, "the device in this process; needs no driver and no privileges");
	glob("/dev/gtu[0-9]*", 0, NULL, &files);
	for (i = 0; i < files.gl_pathc && n < BACKENDS_MAX - 1; i++)
		try_device_file(&b[n++], files.gl_pathv[i]);
	globfree(&files);
	if (!i) {
		strcpy(b[n].name, "/dev/gtu0");
		strcpy(b[n++].message, "no such device file: no device, or the driver is not loaded");
	}
	try_gpus(&b[n++]);
	return n;
}

/* ---- The device tree --------------------------------------------------------------------------- */

static int count_nodes(const void *fdt)
{
	int node, depth = 0, count = 0;

	for (node = fdt_next_node(fdt, -1, &depth); node >= 0 && depth >= 0;
	     node = fdt_next_node(fdt, node, &depth))
		count++;
	return count;
}

static int write_fdt(const char *path, const void *fdt, size_t bytes, struct gtu_error *err)
{
	struct atomic_file w;
	int rc = atomic_file_open(&w, path, err);

	if (rc)
		return rc;
	fwrite(fdt, 1, bytes, w.file);
	return atomic_file_close(&w, 0, err);
}

/* ---- Text and JSON ----------------------------------------------------------------------------- */

static void print_host(void)
{
	const struct host *host = host_describe();
	struct backend backend[BACKENDS_MAX];
	unsigned i, n;

	printf("\nhost          %s, %u CPUs, %s\n", host->cpu, host->cpus, host->system);
	printf("              instruction sets: %s\n", host->sets);
	printf("              caches: L1 %u KiB, L2 %u KiB, last level %u KiB\n", host->l1_kib,
	       host->l2_kib, host->llc_kib);
	printf("\nbackends\n");
	n = find_backends(backend);
	for (i = 0; i < n; i++)
		printf("  %-10s  %-9s %s\n", backend[i].name, backend[i].usable ? "usable:" : "missing:",
		       backend[i].message);
}

static void print_info(const struct gtu_info *info, const void *fdt, size_t bytes)
{
	unsigned i;

	printf("device        %s (backend %s), programming model %u.%u, epoch %u\n", info->path,
	       info->backend, info->version >> 16, info->version & 0xffff, info->epoch);
	printf("clock         %.0f MHz (nominal frequency of the logical cycles)\n", info->clock_hz / 1e6);
	printf("aperture      %" PRIu64 " bytes of device memory\n", info->aperture_bytes);
	printf("limits        %u contexts, %u queues, %u regions per context, %u descriptors per ring\n",
	       info->max_contexts, info->max_queues, 1u << info->max_regions_log2,
	       1u << info->max_ring_log2);
	printf("interrupts    %u vectors; doorbells %u bytes apart\n", info->vectors,
	       1u << info->doorbell_stride_log2);
	printf("capabilities  ");
	for (i = 0; gtu_capability_names[i]; i++)
		if (info->caps >> i & 1)
			printf("%s ", gtu_capability_names[i]);
	printf("(0x%" PRIx64 ")\n", info->caps);
	printf("\nunits\n");
	for (i = 0; i < GTU_UNIT_COUNT; i++) {
		const struct gtu_unit_table *t = &gtu_unit_table[i];
		const struct gtu_parameter *p;
		bool present = info->units & t->bit;

		printf("  %s  %-8s %s\n", t->name, present ? "present" : "absent", t->text);
		for (p = t->parameters; present && gtu_parameter_exists(p); p++)
			if (p->name)
				printf("       %8u %s (%s)\n", info->param[i][p - t->parameters], p->text, p->name);
		for (p = t->settings; present && gtu_parameter_exists(p); p++)
			if (p->key)
				printf("       %8u %s (setting %s)\n", info->setting[i][p - t->settings], p->text, p->key);
	}
	for (; i < GTU_UNIT_PAGES_MAX; i++)
		if (info->units >> i & 1)
			printf("  ?    present  bit %u of UNITS, unknown to this program\n", i);
	printf("\ndevice tree   %zu bytes, version %" PRIu32 "\n", bytes, fdt_version(fdt));
	fdt_blob_print(stdout, fdt);
	print_host();
}

/* ---- Registers ---------------------------------------------------------------------------------- */

/*
 * Call @show for every register of the units, with counters of the same moment. @refused: why it
 * must not be read, or NULL.
 */
static int for_each_register(struct gtu_device *dev,
			     void (*show)(void *to, const struct gtu_register *reg, uint64_t value, const char *refused),
			     void *to, struct gtu_error *err)
{
	uint64_t counter[GTU_UREG_COUNTERS], value;
	struct gtu_register reg;
	uint32_t unit = 0;
	unsigned n;
	int rc;

	for (n = 0; gtu_register_describe(dev, n, &reg); n++) {
		/* the registers of a refused snapshot are refused themselves */
		rc = reg.unit == unit ? 0 : gtu_counters(dev, reg.unit, false, counter, err);
		unit = reg.unit;
		if (!rc || rc == GTU_ERR_PERMISSION)
			rc = gtu_register_read(dev, &reg, &value, err);
		if (rc && rc != GTU_ERR_PERMISSION)
			return rc;
		show(to, &reg, rc ? 0 : value, rc ? err->text : NULL);
	}
	return 0;
}

/* The name of value @i of a field; false if it has none. */
static bool field_value(const char *values, uint64_t i, char *name, size_t size)
{
	for (; i && *values; i--) {
		values += strcspn(values, ",");
		values += *values ? 2 : 0;
	}
	snprintf(name, size, "%.*s", (int)strcspn(values, ","), values);
	return *name;
}

static uint64_t field_bits(const struct gtu_register *reg, unsigned i, uint64_t value)
{
	return value >> reg->field[i].shift & ((1ull << reg->field[i].bits) - 1);
}

static void print_register(void *refusals, const struct gtu_register *reg, uint64_t value, const char *refused)
{
	char number[24] = "not permitted", name[64];
	unsigned i;

	if (!refused)
		snprintf(number, sizeof(number), "0x%" PRIx64, value);
	else
		snprintf(refusals, GTU_ERROR_TEXT, "%s", refused);
	printf("0x%04x  %-28s %-18s  %s", reg->offset, reg->name, number, reg->text);
	for (i = 0; !refused && i < reg->fields; i++) {
		const uint64_t bits = field_bits(reg, i, value);

		if (!field_value(reg->field[i].values, bits, name, sizeof(name)))
			snprintf(name, sizeof(name), "%" PRIu64, bits);
		printf("%s %s %s", i ? "," : ":", reg->field[i].name, name);
	}
	putchar('\n');
}

static int print_registers(struct gtu_device *dev, struct gtu_error *err)
{
	char refusal[GTU_ERROR_TEXT] = "";
	int rc;

	printf("offset  %-28s %-18s  meaning\n", "register", "value");
	rc = for_each_register(dev, print_register, refusal, err);
	if (*refusal)
		printf("not permitted: %s\n", refusal);
	return rc;
}

static void json_register(void *to, const struct gtu_register *reg, uint64_t value, const char *refused)
{
	struct json *j = to;
	char name[64];
	unsigned i;

	json_begin_object(j, NULL);
	json_string(j, "name", reg->name);
	json_string(j, "text", reg->text);
	json_u64(j, "offset", reg->offset);
	json_u64(j, "bytes", reg->bytes);
	if (refused)
		json_null(j, "value");
	else
		json_u64(j, "value", value);
	if (reg->fields && !refused) {
		json_begin_object(j, "fields");
		for (i = 0; i < reg->fields; i++) {
			const uint64_t bits = field_bits(reg, i, value);

			if (field_value(reg->field[i].values, bits, name, sizeof(name)))
				json_string(j, reg->field[i].name, name);
			else
				json_u64(j, reg->field[i].name, bits);
		}
		json_end_object(j);
	}
	json_end_object(j);
}

/* ---- Storage ------------------------------------------------------------------------------------- */

static void print_storage(const struct gtu_info *info)
{
	struct unit_storage s;
	uint64_t all = 0;
	unsigned n;

	printf("%-4s  %-20s  %15s  %-12s  %12s  %s\n", "unit", "part", "entries x bits", "of each", "bytes", "published");
	for (n = 0; unit_storage_row(info, n, &s); n++) {
		char size[32], each[32];

		snprintf(size, sizeof(size), "%" PRIu64 " x %" PRIu64, s.entries, s.bits);
		snprintf(each, sizeof(each), s.copies > 1 ? "%s, %u" : "%s", s.per, s.copies);
		printf("%-4s  %-20s  %15s  %-12s  %12.0f%s%s", s.unit, s.part, size, each, (double)(s.entries * s.bits) / 8, *s.published ? "  " : "", s.published);
		if (s.published_bits && s.published_bits != s.bits)
			printf(" with %" PRIu64 " bits: %.0f here", s.published_bits, (double)(s.entries * s.published_bits) / 8);
		putchar('\n');
		all += s.copies * s.entries * s.bits;
	}
	printf("%.0f bytes in all copies. Area needs a memory compiler or CACTI, and is not computed.\n", (double)all / 8);
}

static void json_storage(struct json *j, const struct gtu_info *info)
{
	struct unit_storage s;
	unsigned n;

	json_begin_array(j, "storage");
	for (n = 0; unit_storage_row(info, n, &s); n++) {
		json_begin_object(j, NULL);
		json_string(j, "unit", s.unit);
		json_string(j, "part", s.part);
		json_string(j, "per", s.per);
		json_u64(j, "copies", s.copies);
		json_u64(j, "entries", s.entries);
		json_u64(j, "bits", s.bits);
		json_string(j, "published", s.published);
		json_end_object(j);
	}
	json_end_array(j);
}

/* ---- The command ----------------------------------------------------------------------------- */

static void print_card(const struct gtu_device *dev)
{
	printf("device        %s (backend cuda): whole algorithms over graphs in place\n", gtu_get_info(dev)->path);
	gpu_print_info(gtu_get_gpu_info(dev), stdout);
}

/* All cards of a list. */
static void print_cards(const struct gtu_device *dev)
{
	unsigned i;

	for (i = 0; i < dev->members; i++)
		print_card(dev->member[i]);
	print_host();
}

static void print_device(const struct gtu_device *dev, const void *fdt, size_t bytes)
{
	if (!gtu_get_gpu_info(dev)) {
		print_info(gtu_get_info(dev), fdt, bytes);
		return;
	}
	print_card(dev);
	print_host();
}

static void json_units(struct json *j, const struct gtu_info *info)
{
	unsigned i;

	json_begin_object(j, "units");
	for (i = 0; i < GTU_UNIT_COUNT; i++) {
		const struct gtu_unit_table *t = &gtu_unit_table[i];
		const struct gtu_parameter *p;
		bool present = info->units & t->bit;

		json_begin_object(j, t->name);
		json_bool(j, "present", present);
		for (p = t->parameters; present && gtu_parameter_exists(p); p++)
			if (p->name)
				json_u64(j, p->name, info->param[i][p - t->parameters]);
		for (p = t->settings; present && gtu_parameter_exists(p); p++)
			if (p->key)
				json_u64(j, p->name, info->setting[i][p - t->settings]);
		json_end_object(j);
	}
	json_end_object(j);
}

static void json_unit_device(struct json *j, const struct gtu_info *info, const void *fdt, size_t bytes)
{
	json_u64(j, "version_major", info->version >> 16);
	json_u64(j, "version_minor", info->version & 0xffff);
	json_u64(j, "epoch", info->epoch);
	json_u64(j, "clock_hz", info->clock_hz);
	json_u64(j, "aperture_bytes", info->aperture_bytes);
	json_u64(j, "capabilities", info->caps);
	json_u64(j, "max_contexts", info->max_contexts);
	json_u64(j, "max_queues", info->max_queues);
	json_u64(j, "max_regions", 1ull << info->max_regions_log2);
	json_u64(j, "max_ring", 1ull << info->max_ring_log2);
	json_u64(j, "vectors", info->vectors);
	json_u64(j, "doorbell_stride", 1ull << info->doorbell_stride_log2);
	json_units(j, info);
	json_begin_object(j, "fdt");
	json_u64(j, "bytes", bytes);
	json_u64(j, "version", fdt_version(fdt));
	json_u64(j, "nodes", count_nodes(fdt));
	json_end_object(j);
}

static int json_info(const struct atomic_file *w, struct gtu_device *dev, bool registers, bool storage, const void *fdt, size_t bytes,
		     struct gtu_error *err)
{
	const struct gtu_info *info = gtu_get_info(dev);
	struct backend backend[BACKENDS_MAX];
	unsigned i, n = find_backends(backend);
	struct json j;
	int rc = 0;

	json_start(&j, w->file);
	json_begin_object(&j, NULL);
	json_string(&j, "device", info->path);
	json_string(&j, "backend", info->backend);
	if (gtu_get_gpu_info(dev))
		gpu_json_info(&j, gtu_get_gpu_info(dev));
	else
		json_unit_device(&j, info, fdt, bytes);
	if (registers) {
		json_begin_array(&j, "registers");
		rc = for_each_register(dev, json_register, &j, err);
		json_end_array(&j);
	}
	if (storage)
		json_storage(&j, info);
	host_json(&j, "host");
	json_begin_array(&j, "backends");
	for (i = 0; i < n; i++) {
		json_begin_object(&j, NULL);
		json_string(&j, "name", backend[i].name);
		json_bool(&j, "usable", backend[i].usable);
		json_string(&j, "message", backend[i].message);
		json_end_object(&j);
	}
	json_end_array(&j);
	json_end_object(&j);
	json_finish(&j);
	return rc;
}

static int write_json(const char *path, struct gtu_device *dev, bool registers, bool storage, const void *fdt, size_t bytes,
		      struct gtu_error *err)
{
	struct atomic_file w;
	int rc = atomic_file_open(&w, path, err);

	if (rc)
		return rc;
	rc = json_info(&w, dev, registers, storage, fdt, bytes, err);
	return atomic_file_close(&w, rc, err);
}

int cmd_info(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "json", required_argument, NULL, 'j' },
		{ "registers", no_argument, NULL, 'r' },
		{ "storage", no_argument, NULL, 's' },
		{ "fdt", required_argument, NULL, 'f' },
		{ "tables", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	const char *device = NULL, *json = NULL, *blob = NULL;
	struct gtu_error err = { 0 };
	struct gtu_device *dev;
	bool registers = false, storage = false;
	uint32_t rank, ranks;
	const void *fdt;
	size_t bytes;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (opt) {
		case 'd': device = optarg; break;
		case 'j': json = optarg; break;
		case 'f': blob = optarg; break;
		case 'r': registers = true; break;
		case 's': storage = true; break;
		case 't': return unit_print_tables(optarg);
		case 'h': fputs(help, stdout); return CLI_DONE;
		default: return cli_option(argc, argv, opt, options);
		}
	}
	if (optind < argc)
		return cli_usage("unexpected argument '%s'", argv[optind]);
	if (registers && storage)
		return cli_usage("--registers and --storage exclude each other: each replaces what is printed");
	if (atomic_file_same(blob, json))
		return cli_usage("--fdt and --json cannot both go to %s",
				 atomic_file_is_stdout(json) ? "standard output" : json);
	ret = gtu_open(device, &dev, &err);
	if (ret)
		return cli_exit(&err, ret);
	fdt = gtu_get_fdt(dev, &bytes);
	gtu_ranks_of(dev, &rank, &ranks);
	if (ranks > 1) {
		if (gtu_get_gpu_info(dev) && !json && !blob && !registers)
			print_cards(dev);
		else
			ret = gtu_fail(&err, GTU_ERR_USAGE, "%s is a list: name one of its devices", device);
		gtu_close(dev);
		return cli_exit(&err, ret);
	}
	if (registers && !fdt)
		ret = gtu_fail(&err, GTU_ERR_USAGE, "%s is a GPU and has no registers to read", device);
	else if (storage && !fdt)
		ret = gtu_fail(&err, GTU_ERR_USAGE, "%s is a GPU and has no units", device);
	else if (blob && !fdt)
		ret = gtu_fail(&err, GTU_ERR_USAGE, "%s is a GPU and has no device tree to write", device);
	else if (blob)
		ret = write_fdt(blob, fdt, bytes, &err);
	if (!ret && json)
		ret = write_json(json, dev, registers, storage, fdt, bytes, &err);
	if (!ret && !(json && atomic_file_is_stdout(json)) && !(blob && atomic_file_is_stdout(blob))) {
		if (registers)
			ret = print_registers(dev, &err);
		else if (storage)
			print_storage(gtu_get_info(dev));
		else
			print_device(dev, fdt, bytes);
	}
	gtu_close(dev);
	return cli_exit(&err, ret);
}
