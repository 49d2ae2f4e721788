// SPDX-License-Identifier: MIT
/*
 * gtu bringup: tests a new board step by step. bringup_*.c implement the steps; this file parses
 * and reports.
 */
#include <stdlib.h>
#include <string.h>

#include "libruntime/device/backend.h"
#include "tools/bringup/bringup.h"
#include "tools/support/cli.h"
#include "tools/support/atomic_file.h"

#define LOCKSTEP_DEFAULT	20000u
#define MARCH_DEFAULT		2048u
#define VECTORS_DEFAULT		256u

static void help(void)
{
	puts("usage: gtu bringup [--device WHERE] [options]\n\n"
	     "Tests a new board step by step, from the function's configuration space up. Reports what is wrong and,\n"
	     "if the findings match a known bug, the name of the bug. No driver is needed.\n\n"
	     "  --device WHERE    0000:01:00.0   a function on the PCI bus without a driver; needs root (default:\n"
	     "                                   the only one with the ids of --id)\n"
	     "                    vfio:0000:01:00.0   one bound to vfio-pci: memory and interrupts behind an IOMMU\n"
	     "                    /dev/gtu0      through the driver: units and lock step only\n"
	     "                    socket:PATH    one served by 'gtu serve --socket PATH', without a virtual machine\n"
	     "                    model[:KEY=VALUE,...]   a function in this process; --bug NAME injects a bug;\n"
	     "                                   model:queues=1,contexts=2,absent_units=iru is a smaller\n"
	     "                                   board; 'gtu serve --help' explains the keys\n"
	     "  --id VENDOR:DEVICE   the ids of the board, in hexadecimal [1234:4754]\n\n"
	     "Permissions (none is assumed):\n"
	     "  --unbind          take the function from its driver; it is given back at the end\n"
	     "  --rescan          first remove the function that --device names and scan the bus again (after\n"
	     "                    loading gateware)\n"
	     "  --hugepage        let the function read and write a huge page of physical memory, for DMA,\n"
	     "                    interrupts, units and lock step without a driver. Needs no IOMMU, or iommu=pt, and\n"
	     "                    a free huge page: echo 2 >/proc/sys/vm/nr_hugepages\n"
	     "  --force           give it memory although its registers are wrong (it may write anywhere), and accept\n"
	     "                    a function that has neither the ids nor the class of a GTU\n"
	     "  --no-reset        leave out the function-level reset\n\n"
	     "Steps and their parameters:\n"
	     "  --only STEP,...   these steps (and identity, which the others need):\n"
	     "                      config      identity of the function, capabilities, link, BARs\n"
	     "                      identity    MAGIC, limits, units, the device tree, its CRC and values\n"
	     "                      registers   reset values, read-only, write-one-to-clear, each bit, widths\n"
	     "                      mailbox     commands and refusals, without memory\n"
	     "                      aperture    lanes, byte enables, address lines, march tests; destroys its content\n"
	     "                      doorbells   each page reaches its queue\n"
	     "                      flr         a function-level reset\n"
	     "                      dma         lengths, page boundaries, guards, refusals, rings\n"
	     "                      irqs        MSI-X: each vector, masks, pending bits\n"
	     "                      units       each unit's golden vectors\n"
	     "                      lockstep    the same random descriptors here and in the model of the same build;\n"
	     "                                  stops at the first completion, byte or counter that differs\n"
	     "  --lockstep N      number of descriptors in the lock step [20000]\n"
	     "  --seed S          seed of their random choice [1]\n"
	     "  --march SIZE      bytes of the aperture to march through, at its start and at its end [2K]\n"
	     "  --time-scale N    multiply the time limits by N, for a simulated device that is slow [1]\n"
	     "  --bug NAME        with --device model: inject this bug\n"
	     "  --bugs            list the known bugs by name, then exit\n\n"
	     "Vectors, for simulators (Documentation/vectors.md); after config and identity, instead of the other steps:\n"
	     "  --export-vectors DIR   write memory, descriptors and expected results for this build, one file per\n"
	     "                    unit, --lockstep N jobs [256] of --seed S in each\n"
	     "  --check-vectors DIR    run the files of DIR on the function\n\n"
	     "Output:\n"
	     "  --json FILE       the findings as JSON; - is standard output, and then nothing else is printed\n"
	     "  --html FILE       one page with the BAR map, the register diff and the histogram of requests\n\n"
	     "  gtu bringup --device model --bug dma-page        shows how a bug is reported\n"
	     "  gtu bringup --unbind --hugepage --html day1.html  everything, on the board in this machine\n"
	     "  gtu bringup --device /dev/gtu0 --only lockstep --lockstep 10000000\n"
	     "  gtu bringup --device model:scu_width=1 --export-vectors vectors\n\n"
	     "Each line is ok, warn, FAIL [name of the bug] or skip, with its reason. Exit codes: 0 nothing failed,\n"
	     "1 the function, or a step that --only names, could not be tested, 2 usage, 4 something is wrong.");
}

/* ---- Words of the command line --------------------------------------------------------------------------- */

bool bringup_bug(const char *name, enum gtu_bug *bug)
{
	const char *names[GTU_BUGS + 1];
	const char *nearest;
	unsigned i;

	for (i = 0; i < GTU_BUGS; i++) {
		names[i] = gtu_bug_name(i);
		if (strcmp(names[i], name))
			continue;
		*bug = i;
		return true;
	}
	names[GTU_BUGS] = NULL;
	nearest = cli_nearest(name, names);
	cli_usage("--bug '%s' is unknown; 'gtu bringup --bugs' lists the names%s%s%s", name, nearest ? "; did you mean " : "",
		  nearest ? nearest : "", nearest ? "?" : "");
	return false;
}

static void list_bugs(void)
{
	unsigned i;

	for (i = GTU_BUG_NONE + 1; i < GTU_BUGS; i++)
		printf("%-16s  %s\n", gtu_bug_name(i), gtu_bug_text(i));
}

/* Convert "a,b" to a bit mask of steps; false after a message. */
static bool choose(char *text, uint32_t *chosen)
{
	const char *names[BRINGUP_STEPS + 1];
	char *word, *rest = NULL;
	unsigned i;
	int k;

	for (i = 0; i <= BRINGUP_STEPS; i++)
		names[i] = bringup_step_name(i);
	*chosen = 0;
	for (word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		k = cli_choice("step", word, names);
		if (k < 0)
			return false;
		*chosen |= 1u << k;
	}
	if (!*chosen) {
		cli_usage("--only names no step");
		return false;
	}
	return true;
}

/* Convert "10ee:9038"; false after a message. */
static bool read_id(const char *text, uint32_t *id)
{
	unsigned vendor, device;
	int end = 0;

	if (sscanf(text, "%4x:%4x%n", &vendor, &device, &end) != 2 || text[end] || text[strspn(text, "0123456789abcdefABCDEF:")]) {
		cli_usage("--id '%s' is not VENDOR:DEVICE in hexadecimal, such as 10ee:9038", text);
		return false;
	}
	*id = vendor | device << 16;
	return true;
}

/* ---- Access to the device --------------------------------------------------------------------------------- */

/* Read from the driver what the steps through /dev need to know about the device. */
static int identify_by_driver(struct bringup *b, struct gtu_error *err)
{
	struct gtu_device *dev;
	int rc = gtu_open(b->device, &dev, err);

	if (rc)
		return rc;
	if (dev->ops->traversal) {
		gtu_close(dev);
		return gtu_fail(err, GTU_ERR_USAGE, "%s takes no descriptors: bringup cannot test it", b->device);
	}
	b->identified = true;
	b->version = dev->info.version;
	b->caps = dev->info.caps;
	b->units = dev->info.units;
	b->clock_hz = dev->info.clock_hz;
	b->aperture = dev->info.aperture_bytes;
	b->contexts = dev->info.max_contexts;
	b->queues = dev->info.max_queues;
	b->ring_log2 = dev->info.max_ring_log2;
	memcpy(b->param, dev->info.param, sizeof(b->param));
	memcpy(b->setting, dev->info.setting, sizeof(b->setting));
	gtu_close(dev);
	return rc;
}

static bool is_model(const char *where)
{
	return where && (!strcmp(where, "model") || !strncmp(where, "model:", 6));
}

static int open_device(struct bringup *b, const char *where, enum gtu_bug bug, const struct access_permission *may, struct gtu_error *err)
{
	const bool vfio = where && !strncmp(where, "vfio:", 5);
	struct gtu_dev_config config = { 0 };
	char address[16];

	if (is_model(where)) {
		if (!gtu_model_config(where, &config, err))
			b->a = access_model(&config, bug, err);
	} else if (where && !strncmp(where, "/dev/gtu", 8)) {
		b->device = where;
		return identify_by_driver(b, err);
	} else if (where && !strncmp(where, "socket:", 7)) {
		b->a = access_socket(where + 7, b->time_scale, err);
	} else if (where && !access_pci_address(address, sizeof(address), vfio ? where + 5 : where)) {
		return gtu_fail(err, GTU_ERR_USAGE, "--device '%s' is neither model, nor /dev/gtuN, nor socket:PATH, nor a PCI "
				"address as 0000:01:00.0 or vfio:0000:01:00.0", where);
	} else if (vfio) {
		b->a = access_vfio(address, may, err);
	} else {
		b->a = access_pci(where ? address : NULL, may, err);
	}
	return b->a ? 0 : err->code;
}

static void summary(const struct bringup *b)
{
	const char *name[16];
	unsigned i, n = bringup_diagnoses(b, name, 16), skips = 0;
	double total = 0;

	if (!b->show)
		return;
	if (b->fails)
		printf("\n%u failed", b->fails);
	else
		printf("\nnothing failed");
	for (i = 0; i < n; i++)
		printf("%s%s", i ? ", " : n > 1 ? "; these bugs explain the findings: " : "; this bug explains the findings: ", name[i]);
	printf("\n%u of %u steps checked", __builtin_popcount(b->checked), __builtin_popcount(b->chosen));
	for (i = 0; i < BRINGUP_STEPS; i++)
		if (b->chosen & ~b->checked & 1u << i)
			printf("%s%s", skips++ ? ", " : "; skipped: ", bringup_step_name(i));
	printf("\n");
	for (i = 0; i < b->times; i++)
		total += b->time[i].seconds;
	printf("%.2f s", total);
	for (i = 0; i < b->times; i++)
		printf("%s%s %.2f", i ? ", " : ": ", b->time[i].name, b->time[i].seconds);
	printf("\n");
}

/* Folders of vectors; NULL: none. */
struct vectors {
	const char *to, *from;
	uint64_t count;
};

static int run_vectors(struct bringup *b, const struct vectors *v, struct gtu_error *err)
{
	int rc = 0;

	b->step = "vectors";
	b->shown = b->hidden = 0;
	if (!b->identified || b->fails)
		return 0;
	if (v->to)
		rc = bringup_vectors_export(b, v->to, v->count, err);
	if (v->from && !rc)
		bringup_vectors_check(b, v->from);
	return rc;
}

static int run(struct bringup *b, const char *where, enum gtu_bug bug, const struct access_permission *may, uint32_t chosen,
	       const struct vectors *vectors, const char *json, const char *html)
{
	struct gtu_error err = { .text = "" };
	int rc = json ? atomic_file_try(json, &err) : 0;

	if (!rc && html)
		rc = atomic_file_try(html, &err);
	if (!rc)
		rc = open_device(b, where, bug, may, &err);
	if (rc)
		return cli_exit(&err, rc);
	if (b->a)
		b->a->time_scale = b->time_scale;
	cli_progress();
	bringup_run(b, chosen);
	rc = vectors->to || vectors->from ? run_vectors(b, vectors, &err) : 0;
	if (b->a)
		b->a->ops->close(b->a);
	b->a = NULL;
	if (rc)
		return cli_exit(&err, rc);
	summary(b);
	if (json)
		rc = bringup_json(b, json, &err);
	if (!rc && html)
		rc = bringup_html(b, html, &err);
	if (rc)
		return cli_exit(&err, rc);
	if (cli_interrupted())
		return CLI_INTERRUPTED;
	return b->fails ? CLI_VERIFY : chosen != ~0u && chosen & ~b->checked ? CLI_FAILED : CLI_DONE;
}

int cmd_bringup(int argc, char **argv)
{
	enum { DEVICE = 1, BUG, BUGS, UNBIND, RESCAN, HUGEPAGE, FORCE, ID, NO_RESET, ONLY, LOCKSTEP, SEED, MARCH, TIME_SCALE,
	       EXPORT, CHECK, JSON, HTML, HELP = 'h' };
	static const struct option options[] = {
		{ "device", required_argument, NULL, DEVICE },	{ "bug", required_argument, NULL, BUG },
		{ "bugs", no_argument, NULL, BUGS },		{ "unbind", no_argument, NULL, UNBIND },
		{ "rescan", no_argument, NULL, RESCAN },	{ "hugepage", no_argument, NULL, HUGEPAGE },
		{ "id", required_argument, NULL, ID },
		{ "force", no_argument, NULL, FORCE },		{ "no-reset", no_argument, NULL, NO_RESET },
		{ "only", required_argument, NULL, ONLY },	{ "lockstep", required_argument, NULL, LOCKSTEP },
		{ "seed", required_argument, NULL, SEED },	{ "march", required_argument, NULL, MARCH },
		{ "time-scale", required_argument, NULL, TIME_SCALE },
		{ "export-vectors", required_argument, NULL, EXPORT }, { "check-vectors", required_argument, NULL, CHECK },
		{ "json", required_argument, NULL, JSON },	{ "html", required_argument, NULL, HTML },
		{ "help", no_argument, NULL, HELP },		{ NULL, 0, NULL, 0 },
	};
	struct bringup *b = calloc(1, sizeof(*b));
	struct vectors vectors = { .count = VECTORS_DEFAULT };
	struct access_permission may = { 0 };
	const char *where = NULL, *json = NULL, *html = NULL;
	enum gtu_bug bug = GTU_BUG_NONE;
	uint32_t chosen = ~0u;
	int option, code = CLI_USAGE;
	bool ok = b;

	if (!b)
		return cli_exit(NULL, GTU_ERR_NOMEM);
	b->lockstep = LOCKSTEP_DEFAULT;
	b->march = MARCH_DEFAULT;
	b->seed = 1;
	b->time_scale = 1;
	b->reset = true;
	while (ok && (option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (option) {
		case DEVICE: where = optarg; break;
		case BUG: ok = bringup_bug(optarg, &bug); break;
		case UNBIND: may.unbind = true; break;
		case RESCAN: may.rescan = true; break;
		case HUGEPAGE: may.hugepage = true; break;
		case FORCE: b->force = may.force = true; break;
		case ID: ok = read_id(optarg, &may.id); break;
		case NO_RESET: b->reset = false; break;
		case ONLY: ok = choose(optarg, &chosen); break;
		case LOCKSTEP:
			ok = cli_u64("--lockstep", optarg, 1, UINT64_MAX, &b->lockstep);
			vectors.count = b->lockstep;
			break;
		case EXPORT: vectors.to = optarg; break;
		case CHECK: vectors.from = optarg; break;
		case SEED: ok = cli_u64("--seed", optarg, 0, UINT64_MAX, &b->seed); break;
		case MARCH: ok = cli_u64("--march", optarg, 64, UINT64_MAX, &b->march); break;
		case TIME_SCALE: ok = cli_u64("--time-scale", optarg, 1, 1000000, &b->time_scale); break;
		case JSON: json = optarg; break;
		case HTML: html = optarg; break;
		case BUGS:
		case HELP:
			(option == HELP ? help : list_bugs)();
			free(b);
			return CLI_DONE;
		default:
			code = cli_option(argc, argv, option, options);
			ok = false;
		}
	}
	if (ok && optind < argc)
		code = cli_usage("unexpected argument '%s'", argv[optind]), ok = false;
	if (ok && bug && !is_model(where))
		code = cli_usage("--bug is for --device model; 'gtu serve --bug' injects one for a virtual machine"), ok = false;
	if (ok && (may.unbind || may.rescan || may.hugepage) && where && strchr("m/vs", *where))
		code = cli_usage("%s is for a function on the PCI bus, named by its address, not for %s",
				 may.unbind ? "--unbind" : may.rescan ? "--rescan" : "--hugepage", where), ok = false;
	if (ok && (vectors.to || vectors.from) && where && !strncmp(where, "/dev/gtu", 8))
		code = cli_usage("vectors need a function without its driver: --device 0000:01:00.0, vfio:..., socket:PATH or model"), ok = false;
	if (ok && (vectors.to || vectors.from) && chosen != ~0u)
		code = cli_usage("--only names steps: vectors run after config and identity instead of the others"), ok = false;
	if (ok && may.id && where && strchr("m/s", *where))
		code = cli_usage("--id is for a function on the PCI bus, not for %s", where), ok = false;
	may.id = may.id ? may.id : GTU_PCI_VENDOR | GTU_PCI_DEVICE << 16;
	b->id = may.id;
	if (ok && b->march & 7)
		code = cli_usage("--march %llu is not a multiple of 8", (unsigned long long)b->march), ok = false;
	if (ok && json && html && atomic_file_same(json, html))
		code = cli_usage("--json and --html name the same file"), ok = false;
	if (ok) {
		b->show = !(json && atomic_file_is_stdout(json)) && !(html && atomic_file_is_stdout(html));
		/* config and identity */
		code = run(b, where, bug, &may, vectors.to || vectors.from ? 3 : chosen, &vectors, json, html);
	}
	free(b);
	return code;
}
