// SPDX-License-Identifier: MIT
/*
 * gtu doctor: tests whether the device answers, works and interrupts. Runs in a child process,
 * which may hang.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libruntime/device/backend.h"
#include "doctor.h"
#include "libruntime/device/queue.h"

#define COPY_BYTES	65536u
#define TIMEOUT_NS	5000000000ull
#define INTERRUPT_NS	1000000000ull

/* The number of the driver's interrupts in /proc/interrupts. */
static uint64_t interrupts(void)
{
	char line[4096], *p;
	uint64_t sum = 0;
	FILE *f = fopen("/proc/interrupts", "re");

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "gtu") || !(p = strchr(line, ':')))
			continue;
		for (p++;;) {
			char *end;
			const uint64_t n = strtoull(p, &end, 10);

			if (end == p || (*end != ' ' && *end != '\n'))
				break;
			sum += n;
			p = end;
		}
	}
	if (f)
		fclose(f);
	return sum;
}

/* Request an event for a completion that exists already: it must raise an interrupt at once. */
static void check_interrupt(struct doctor *d, struct gtu_queue *q)
{
	const struct timespec nap = { 0, 1000000 };
	const uint64_t before = interrupts(), start = gtu_now_ns();
	uint64_t now = start;

	if (!d->behind_kernel) {
		doctor_say(d, FOUND_SKIP, "interrupt", "%s has none: it runs in the thread that waits", d->device);
		return;
	}
	gtu_ring_doorbell(q, GTU_DB_ARM, 0);
	while (interrupts() == before && now - start < INTERRUPT_NS) {
		nanosleep(&nap, NULL);
		now = gtu_now_ns();
	}
	if (interrupts() != before)
		doctor_say(d, FOUND_OK, "interrupt", "an event arrives");
	else
		doctor_say(d, FOUND_FAIL, "interrupt", "an event was requested, but no interrupt arrived within %g s: waits work, "
			   "but take 100 ms each. Check that MSI-X vectors are assigned (grep gtu /proc/interrupts), and that the kernel "
			   "option pci=nomsi is absent", INTERRUPT_NS * 1e-9);
}

static void check_copy(struct doctor *d, struct gtu_device *dev, struct gtu_queue *q)
{
	struct gtu_region from = { 0 }, to = { 0 };
	struct gtu_completion c = { 0 };
	struct gtu_array a, b;
	struct gtu_error err = { 0 };
	uint64_t start, i;
	int rc;

	rc = gtu_region_alloc(dev, COPY_BYTES, &from, &err);
	if (!rc)
		rc = gtu_region_alloc(dev, COPY_BYTES, &to, &err);
	if (rc) {
		doctor_say(d, FOUND_FAIL, "job", "%s", err.text);
		return;
	}
	for (i = 0; i < COPY_BYTES / 8; i++)
		((uint64_t *)from.addr)[i] = i * 0x9e3779b97f4a7c15u;
	a = gtu_array(&from, 0, COPY_BYTES / 8, 8);
	b = gtu_array(&to, 0, COPY_BYTES / 8, 8);
	start = gtu_now_ns();
	rc = gtu_copy(q, &a, &b, &c, &err);
	if (rc)
		doctor_say(d, FOUND_FAIL, "job", "a copy of %u bytes failed: %s", COPY_BYTES, err.text);
	else if (memcmp(from.addr, to.addr, COPY_BYTES))
		doctor_say(d, FOUND_FAIL, "job", "a copy of %u bytes was reported done, but the bytes did not arrive: the "
			   "device cannot access this memory (is there an IOMMU that the driver does not know?)", COPY_BYTES);
	else
		doctor_say(d, FOUND_OK, "job", "a copy of %u bytes, %" PRIu64 " cycles, gave the right result in %.0f us",
			   COPY_BYTES, c.cycles, (double)(gtu_now_ns() - start) * 1e-3);
	if (!rc)
		check_interrupt(d, q);
	gtu_region_remove(dev, &from, NULL);
	gtu_region_remove(dev, &to, NULL);
}

/* Compare the epoch in which the device file was opened with the device's current one. */
static void check_epoch(struct doctor *d, struct gtu_device *dev)
{
	struct gtu_error err = { 0 };
	uint64_t now;

	if (dev->ops->read(dev, GTU_REG_EPOCH, &now, &err))
		doctor_say(d, FOUND_FAIL, "epoch", "%s", err.text);
	else if ((uint32_t)now != dev->info.epoch)
		doctor_say(d, FOUND_FAIL, "epoch", "the device is in epoch %" PRIu64 ", this file was opened in epoch %u: the device was reset "
			   "meanwhile; open the file again", now, dev->info.epoch);
	else
		doctor_say(d, FOUND_OK, "epoch", "%u, unchanged since the file was opened", dev->info.epoch);
}

void doctor_device(struct doctor *d)
{
	struct gtu_error err = { 0 };
	struct gtu_queue *q = NULL;
	struct gtu_device *dev;
	size_t bytes;
	int rc;

	rc = gtu_open(d->behind_kernel ? doctor_path(d, d->device) : d->device, &dev, &err);
	if (rc) {
		doctor_say(d, FOUND_FAIL, "device", "%s", err.text);
		return;
	}
	gtu_set_timeout(dev, TIMEOUT_NS);
	gtu_get_fdt(dev, &bytes);
	doctor_say(d, FOUND_OK, "device", "answers: programming model %u.%u, units 0x%x, a device tree of %zu bytes whose CRC is "
		   "right", dev->info.version >> 16, dev->info.version & 0xffff, dev->info.units, bytes);
	rc = gtu_queue_create(dev, NULL, &q, &err);
	if (rc)
		doctor_say(d, FOUND_FAIL, "queue", "%s", err.text);
	else
		check_copy(d, dev, q);
	check_epoch(d, dev);
	gtu_queue_destroy(q);
	gtu_close(dev);
}
