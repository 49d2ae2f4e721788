// SPDX-License-Identifier: MIT
/*
 * gtu doctor: checks the computer for a device behind the kernel's driver. All files are read below
 * doctor.root, so that tests can simulate computers; libpciaccess reads the PCI bus in /sys.
 */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <libgen.h>
#include <linux/pci_regs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "libruntime/support/advice.h"
#include "doctor.h"
#include "gtu/graph.h"
#include "tools/support/pci_bus.h"
#include "uapi/gtu/hw.h"

#define MEMLOCK_MODEST	(1ull << 30)	/* without --graph, warn below this limit */

/* ---- The module ---------------------------------------------------------------------------------- */

/*
 * The path of the gtu module for the running kernel according to modules.dep; false if there is
 * none.
 */
static bool find_module(const struct doctor *d, const char *release, char *file, size_t size)
{
	char path[300], line[4096];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	f = fopen(doctor_path(d, path), "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		char *end = strchr(line, ':'), *name;

		if (!end)
			continue;
		*end = 0;
		name = strrchr(line, '/') ? strrchr(line, '/') + 1 : line;
		found = !strncmp(name, "gtu.ko", 6);
	}
	if (f)
		fclose(f);
	if (found)
		snprintf(file, size, "/lib/modules/%s/%.200s", release, line);
	return found;
}

/* The kernel that an uncompressed module was built for; false if unknown. */
static bool built_for(const struct doctor *d, const char *file, char *release, size_t size)
{
	static const char tag[] = "vermagic=";
	FILE *f = fopen(doctor_path(d, file), "re");
	size_t at = 0, n = 0;
	int c;

	if (!f)
		return false;
	while (at < sizeof(tag) - 1 && (c = getc(f)) != EOF)
		at = c == tag[at] ? at + 1 : c == tag[0];
	if (at == sizeof(tag) - 1)
		while (n < size - 1 && (c = getc(f)) > ' ')
			release[n++] = (char)c;
	release[n] = 0;
	fclose(f);
	return n;
}

static void check_module(struct doctor *d)
{
	char release[128] = "unknown", file[400], magic[128], text[256];
	struct gtu_error err;

	doctor_read(d, "/proc/sys/kernel/osrelease", release, sizeof(release));
	if (doctor_exists(d, "/sys/module/gtu")) {
		if (!doctor_read(d, "/sys/module/gtu/parameters/buffer_mib", text, sizeof(text)))
			strcpy(text, "0");
		doctor_say(d, FOUND_OK, "module", "gtu is loaded into kernel %s; driver buffers (buffer_mib): at most %s%s",
			   release, strcmp(text, "0") ? text : "a quarter of the memory", strcmp(text, "0") ? " MiB" : "");
		return;
	}
	d->blocked = true;
	gtu_advise_no_module(d->device, &err);
	if (find_module(d, release, file, sizeof(file))) {
		if (built_for(d, file, magic, sizeof(magic)) && strcmp(magic, release))
			doctor_say(d, FOUND_FAIL, "module",
				   "%s is built for kernel %s, but kernel %s is running: rebuild it (make -C /lib/modules/%s/build "
				   "M=$PWD modules modules_install; depmod)", file, magic, release, release);
		else
			doctor_say(d, FOUND_FAIL, "module", "%s (it is there for this kernel: %s)", err.text, file);
	} else {
		snprintf(file, sizeof(file), "/lib/modules/%s/build", release);
		doctor_say(d, FOUND_FAIL, "module",
			   "%s; but there is no module for kernel %s: %smake -C %s M=$PWD modules modules_install && depmod",
			   err.text, release, doctor_exists(d, file) ? "" : "install that kernel's headers, then ", file);
	}
	if (doctor_read(d, "/sys/kernel/security/lockdown", text, sizeof(text)) && !strstr(text, "[none]"))
		doctor_say(d, FOUND_FAIL, "lockdown",
			   "the kernel is locked down (%s), as with Secure Boot: it loads signed modules only; sign gtu.ko "
			   "(scripts/sign-file) with a key enrolled by mokutil --import, or disable Secure Boot", text);
}

static void check_dmesg(struct doctor *d)
{
	char text[16];

	if (geteuid() && doctor_read(d, "/proc/sys/kernel/dmesg_restrict", text, sizeof(text)) && text[0] == '1')
		doctor_say(d, FOUND_WARN, "dmesg", "only root may read the kernel's messages: sudo dmesg | grep gtu");
	else
		doctor_say(d, FOUND_OK, "dmesg", "the kernel's messages can be read: dmesg | grep gtu");
}

/* ---- The function on the bus ----------------------------------------------------------------------- */

void doctor_link(const struct doctor *d, const char *path, char *name, size_t size)
{
	char target[256];
	ssize_t n = readlink(doctor_path(d, path), target, sizeof(target) - 1);

	target[n > 0 ? n : 0] = 0;
	snprintf(name, size, "%s", n > 0 ? basename(target) : "");
}

/*
 * Find the function of the device file, whose driver accepts it whatever its ids, or else the first
 * GTU that is not bound to the driver.
 */
static bool find_function(struct doctor *d, struct pci_board *board)
{
	char path[300], driver[64];
	struct pci_board gtu[16];
	struct gtu_error ignored;
	unsigned i, n;

	snprintf(path, sizeof(path), "/sys/class/gtu/%s/device", d->node);
	doctor_link(d, path, d->function, sizeof(d->function));
	if (d->function[0] && !pci_bus_find(d->function, board, &ignored))
		return true;
	n = pci_bus_match(GTU_PCI_VENDOR | GTU_PCI_DEVICE << 16, gtu, 16);
	n = n < 16 ? n : 16;
	d->function[0] = 0;
	if (!n)
		return false;
	*board = gtu[0];
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", gtu[i].address);
		doctor_link(d, path, driver, sizeof(driver));
		if (!strcmp(driver, "gtu"))
			continue;
		*board = gtu[i];
		break;
	}
	snprintf(d->function, sizeof(d->function), "%.15s", board->address);
	return true;
}

static bool in_qemu(const struct doctor *d)
{
	char text[64];

	return doctor_read(d, "/sys/class/dmi/id/sys_vendor", text, sizeof(text)) && strstr(text, "QEMU");
}

/* A mask of the BARs that the device needs and that have no address. */
static unsigned missing_bars(const struct pci_board *board)
{
	static const unsigned needed[] = { GTU_BAR_REGS, GTU_BAR_MSIX, GTU_BAR_DOORBELL, GTU_BAR_APERTURE };
	unsigned missing = 0, i;

	for (i = 0; i < 4; i++)
		if (!board->bar[needed[i]])
			missing |= 1u << needed[i];
	return missing;
}

static void check_config(struct doctor *d, const struct pci_board *board)
{
	const unsigned missing = missing_bars(board);
	struct gtu_error err;
	uint32_t id;

	if (pci_board_read(board, PCI_VENDOR_ID, &id, sizeof(id))) {
		doctor_say(d, FOUND_WARN, "bus", "the configuration space of %s cannot be read", d->function);
		return;
	}
	if (id == ~0u) {
		d->blocked = true;
		gtu_advise_all_ones(d->function, &err);
		doctor_say(d, FOUND_FAIL, "bus", "%s; as root: echo 1 > /sys/bus/pci/devices/%s/remove, and "
			   "echo 1 > /sys/bus/pci/rescan when it is back", err.text, d->function);
		return;
	}
	if (missing) {
		d->blocked = true;
		doctor_say(d, FOUND_FAIL, "bars", "BARs of %s have no address (bits 0x%x): the bridge's windows are too "
			   "small; enable the firmware's \"above 4G decoding\", or use the kernel option pci=realloc", d->function,
			   missing);
		return;
	}
	doctor_say(d, FOUND_OK, "bars", "all BARs have addresses");
}

static void check_driver(struct doctor *d, const struct pci_board *board)
{
	char path[160], driver[64];
	uint16_t command;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", d->function);
	doctor_link(d, path, driver, sizeof(driver));
	if (!strcmp(driver, "gtu")) {
		if (!pci_board_read(board, PCI_COMMAND, &command, 2) && !(command & PCI_COMMAND_MASTER)) {
			d->blocked = true;
			doctor_say(d, FOUND_FAIL, "driver", "the driver gtu has %s, but bus mastering is off: the driver cleared it "
				   "because the device could not be quiesced (dmesg | grep gtu); unbind and bind the device", d->function);
		} else {
			doctor_say(d, FOUND_OK, "driver", "the driver gtu has %s, and bus mastering is on", d->function);
		}
		return;
	}
	d->blocked = true;
	if (!driver[0])
		doctor_say(d, FOUND_FAIL, "driver", "no driver has %s: as root: echo %s > /sys/bus/pci/drivers/gtu/bind, and "
			   "see dmesg | grep gtu for earlier errors", d->function, d->function);
	else
		doctor_say(d, FOUND_FAIL, "driver", "the driver %s has %s%s: as root: echo %s > "
			   "/sys/bus/pci/drivers/%s/unbind, then into /sys/bus/pci/drivers/gtu/bind", driver, d->function,
			   strncmp(driver, "vfio", 4) ? "" : " (it is given to a virtual machine)", d->function, driver);
}

static void check_link(struct doctor *d)
{
	static const char *const name[] = { "current_link_width", "max_link_width", "current_link_speed",
					    "max_link_speed" };
	char path[160], text[4][32];
	unsigned i;

	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", d->function, name[i]);
		/* a function inside the root complex has no link */
		if (!doctor_read(d, path, text[i], sizeof(text[i])) || !(strtod(text[i], NULL) > 0))
			return;
	}
	if (strtod(text[0], NULL) < strtod(text[1], NULL) || strtod(text[2], NULL) < strtod(text[3], NULL))
		doctor_say(d, FOUND_WARN, "link", "%s lanes at %s, of %s at %s: use another slot or reseat the card to make it "
			   "faster", text[0], text[2], text[1], text[3]);
	else
		doctor_say(d, FOUND_OK, "link", "%s lanes at %s", text[0], text[2]);
}

static void check_iommu(struct doctor *d, const char *bus)
{
	char path[160], group[32], type[32] = "";

	snprintf(path, sizeof(path), "/sys/bus/%s/devices/%s/iommu_group", bus, d->function);
	doctor_link(d, path, group, sizeof(group));
	if (group[0]) {
		snprintf(path, sizeof(path), "/sys/kernel/iommu_groups/%s/type", group);
		doctor_read(d, path, type, sizeof(type));
	}
	if (!group[0] && !strcmp(bus, "platform"))
		doctor_say(d, FOUND_WARN, "iommu", "off: the device can access all memory; to restrict it "
			   "to its regions its node needs iommus, if the system has one");
	else if (!group[0] || !strcmp(type, "identity"))
		doctor_say(d, FOUND_WARN, "iommu", "%s: the device can access all memory; to "
			   "restrict it to its regions: intel_iommu=on or amd_iommu=on%s", group[0] ? "passed through" : "off",
			   group[0] ? ", without iommu=pt" : ", and IOMMU in the firmware (QEMU: -device intel-iommu)");
	else
		doctor_say(d, FOUND_OK, "iommu", "on (group %s, %s): the device can access only memory that the driver has mapped",
			   group, type[0] ? type : "translated");
}

/* No request of a device names its context: hw.h has no PASID. */
static void check_contexts(struct doctor *d)
{
	char path[96], text[32];
	uint64_t caps;

	snprintf(path, sizeof(path), "/sys/class/gtu/%s/caps", d->node);
	if (!doctor_read(d, path, text, sizeof(text)))
		return;
	caps = strtoull(text, NULL, 16);
	doctor_say(d, FOUND_OK, "contexts", "share one IOMMU domain, because a GTU has no PASID; %s protects them "
		   "from each other; %s share the device's time",
		   caps & GTU_CAP_REGIONS ?
		   "the device's check of every access against the regions of its context" :
		   "the driver's check of every descriptor (the device has no GTU_CAP_REGIONS)",
		   caps & GTU_CAP_CTX_GROUPS ? "users" : "contexts (the device has no GTU_CAP_CTX_GROUPS)");
}

static void check_bus(struct doctor *d)
{
	struct pci_board board;
	struct gtu_error err;
	const bool listed = !pci_bus_open(&err);

	if (listed && find_function(d, &board)) {
		doctor_say(d, FOUND_OK, "bus", "%s is a %04x:%04x%s", d->function, board.id & 0xffff, board.id >> 16,
			   in_qemu(d) ? " of QEMU; its process is on the host" : "");
		check_config(d, &board);
		if (!d->blocked || doctor_exists(d, "/sys/module/gtu"))
			check_driver(d, &board);
		check_link(d);
		check_iommu(d, "pci");
		check_contexts(d);
	} else if (doctor_tree(d)) {
		check_iommu(d, "platform");
		check_contexts(d);
	} else if (!listed && err.code == GTU_ERR_UNSUPPORTED) {
		doctor_say(d, FOUND_SKIP, "bus", "%s", err.text);
	} else {
		d->blocked = true;
		doctor_say(d, FOUND_FAIL, "bus", "there is no function %04x:%04x on the bus: %s", GTU_PCI_VENDOR, GTU_PCI_DEVICE,
			   in_qemu(d) ? "run `gtu serve --socket PATH` and give QEMU the device vfio-user-pci with that "
					"socket (gtu serve --help has the line)" :
					"check that the card is in its slot and powered. As root: echo 1 > /sys/bus/pci/rescan; "
					"a card with ids of its own needs modprobe gtu ids=VENDOR:DEVICE; without a card, `make guest` starts a virtual machine with a device");
	}
	if (listed)
		pci_bus_close();
}

/* ---- The device's file ------------------------------------------------------------------------------ */

static bool find_rule(const struct doctor *d, char *rule, size_t size)
{
	static const char *const folder[] = { "/etc", "/run", "/usr/lib", "/lib", "/usr/local/lib" };
	char path[64], line[512];
	bool found = false;
	glob_t all = { 0 };
	size_t f, i;

	for (f = 0; f < sizeof(folder) / sizeof(folder[0]); f++) {
		snprintf(path, sizeof(path), "%s/udev/rules.d/*.rules", folder[f]);
		glob(doctor_path(d, path), f ? GLOB_APPEND : 0, NULL, &all);
	}
	for (i = 0; i < all.gl_pathc && !found; i++) {
		FILE *file = fopen(all.gl_pathv[i], "re");

		while (file && !found && fgets(line, sizeof(line), file))
			found = line[0] != '#' && strstr(line, "SUBSYSTEM==\"gtu\"");
		if (file)
			fclose(file);
		if (found)
			snprintf(rule, size, "%s", all.gl_pathv[i] + strlen(d->root));
	}
	globfree(&all);
	return found;
}

static void check_node(struct doctor *d)
{
	char path[160], rule[256], number[32];
	struct gtu_error err;
	struct stat st;

	if (stat(doctor_path(d, d->device), &st)) {
		if (!d->blocked) {
			gtu_advise_no_node(d->device, &err);
			doctor_say(d, FOUND_FAIL, "node", "%s", err.text);
		} else {
			doctor_say(d, FOUND_SKIP, "node", "there is no %s because of the failures above", d->device);
		}
		d->blocked = true;
		return;
	}
	if (gtu_access_allowed(&st)) {
		doctor_say(d, FOUND_OK, "permission", "%s may be used (mode %04o)", d->device, (unsigned)st.st_mode & 07777);
	} else {
		d->blocked = true;
		gtu_advise_permission(d->device, &st, &err);
		doctor_say(d, FOUND_FAIL, "permission", "%s", err.text);
	}
	snprintf(path, sizeof(path), "/sys/class/gtu/%s/dev", d->node);
	if (!S_ISCHR(st.st_mode)) {
		d->blocked = true;
		doctor_say(d, FOUND_FAIL, "node", "%s is no device's file: remove it, and as root: udevadm trigger", d->device);
	} else if (doctor_read(d, path, number, sizeof(number)) &&
		   (strtoul(number, NULL, 10) != major(st.st_rdev) ||
		    (strchr(number, ':') && strtoul(strchr(number, ':') + 1, NULL, 10) != minor(st.st_rdev)))) {
		d->blocked = true;
		doctor_say(d, FOUND_FAIL, "node", "%s has number %u:%u, the device %s: it was left behind by another one; "
			   "remove it, and as root: udevadm trigger", d->device, major(st.st_rdev), minor(st.st_rdev), number);
	} else {
		doctor_say(d, FOUND_OK, "node", "%s is there", d->device);
	}
	if (find_rule(d, rule, sizeof(rule)))
		doctor_say(d, FOUND_OK, "udev", "%s sets its owner", rule);
	else
		doctor_say(d, FOUND_WARN, "udev", "no udev rule sets its owner, so only root may use it after each boot: install "
			   "packaging/60-gtu.rules in /etc/udev/rules.d");
}

static void check_state(struct doctor *d)
{
	char path[160], text[32];
	struct gtu_error err;

	snprintf(path, sizeof(path), "/sys/class/gtu/%s/state", d->node);
	if (!doctor_read(d, path, text, sizeof(text)) || !strcmp(text, "up"))
		return;
	d->blocked = true;
	if (!strcmp(text, "resetting"))
		gtu_advise_in_reset(d->device, &err);
	else
		gtu_advise_dead(d->device, &err);
	doctor_say(d, FOUND_FAIL, "state", "%s", err.text);
}

/* ---- Memory ------------------------------------------------------------------------------------------ */

/* The soft limit in /proc/self/limits, UINT64_MAX for unlimited; false if it cannot be read. */
static bool memlock_limit(const struct doctor *d, uint64_t *limit)
{
	FILE *f = fopen(doctor_path(d, "/proc/self/limits"), "re");
	char line[160], value[32] = "";

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Max locked memory %31s", value) == 1)
			break;
	if (f)
		fclose(f);
	*limit = strcmp(value, "unlimited") ? strtoull(value, NULL, 10) : UINT64_MAX;
	return value[0];
}

/* The bytes of a graph that must be pinned; false after a finding. */
static bool graph_bytes(struct doctor *d, uint64_t *bytes)
{
	struct gtu_error err = { 0 };
	struct gtu_graph *g;

	if (gtu_graph_open(d->graph, NULL, NULL, &g, &err)) {
		doctor_say(d, FOUND_FAIL, "memlock", "%s", err.text);
		return false;
	}
	*bytes = (g->n + 1) * 8 + g->m * g->edge_bytes + (g->weight ? g->m * gtu_weight_bytes(g->weight_type) : 0);
	gtu_graph_close(g);
	return true;
}

static void check_memlock(struct doctor *d)
{
	const uint64_t used = gtu_pinned_bytes(doctor_path(d, "/proc/self/status"));
	struct gtu_error err;
	uint64_t limit, bytes;

	if (!memlock_limit(d, &limit)) {
		doctor_say(d, FOUND_WARN, "memlock", "the limit on locked memory cannot be read (/proc/self/limits)");
		return;
	}
	if (d->graph) {
		if (!graph_bytes(d, &bytes))
			return;
		if (limit != UINT64_MAX && (limit < used || limit - used < bytes) && geteuid()) {
			gtu_advise_memlock(bytes, limit, used, &err);
			doctor_say(d, FOUND_FAIL, "memlock", "%s", err.text);
			return;
		}
		doctor_say(d, FOUND_OK, "memlock", "%s needs %" PRIu64 " bytes pinned, and may", d->graph, bytes);
	} else if (limit == UINT64_MAX || !geteuid()) {
		doctor_say(d, FOUND_OK, "memlock", "all memory may be pinned");
	} else if (limit < MEMLOCK_MODEST) {
		doctor_say(d, FOUND_WARN, "memlock", "%" PRIu64 " KiB may be pinned: a larger graph cannot be used by the "
			   "device (--graph FILE compares them); raise the limit by `ulimit -l KIB`, \"@GROUP - memlock KIB\" in "
			   "/etc/security/limits.conf, LimitMEMLOCK= for a service of systemd", limit >> 10);
	} else {
		doctor_say(d, FOUND_OK, "memlock", "%" PRIu64 " KiB may be pinned", limit >> 10);
	}
}

static void check_pages(struct doctor *d)
{
	char text[64] = "", line[128];
	unsigned long long total = 0;
	FILE *f = fopen(doctor_path(d, "/proc/meminfo"), "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "HugePages_Total: %llu", &total) == 1)
			break;
	if (f)
		fclose(f);
	if (!doctor_read(d, "/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof(text)))
		strcpy(text, "[never]");
	if (strstr(text, "[never]") && !total)
		doctor_say(d, FOUND_WARN, "pages", "no huge pages: pinning a GiB handles 262144 pages instead of 512; as root: "
			   "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
	else
		doctor_say(d, FOUND_OK, "pages", "transparent huge pages %s, %llu reserved", text, total);
}

void doctor_system(struct doctor *d)
{
	if (!d->behind_kernel) {
		doctor_say(d, FOUND_SKIP, "system", "%s needs no driver, no privileges and no pinned memory", d->device);
		return;
	}
	check_module(d);
	check_dmesg(d);
	check_bus(d);
	check_node(d);
	check_state(d);
	check_memlock(d);
	check_pages(d);
}
