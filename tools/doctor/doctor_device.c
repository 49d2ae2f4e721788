// SPDX-License-Identifier: MIT
/* gtu doctor: does the device answer, work, and interrupt? Runs in a process of its own, which may be left waiting. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libruntime/device/backend.h"
#include "doctor.h"
#include "libruntime/device/queue.h"

#define COPY_BYTES	65536u
#define PATIENCE_NS	5000000000ull
#define INTERRUPT_NS	1000000000ull

/* Interrupts that the driver has taken, from /proc/interrupts. */
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

/* An event for a completion that is there already has to come at once, and with it an interrupt. */
static void check_interrupt(struct doctor *d, struct gtu_queue *q)
{
	const struct timespec nap = { 0, 1000000 };
	const uint64_t before = interrupts(), start = gtu_now_ns();
	uint64_t now = start;

	if (!d->behind_kernel) {
		doctor_say(d, FOUND_SKIP, "interrupt", "%s raises none: it works in the thread that waits", d->device);
		return;
	}
	gtu_queue_ring(q, GTU_DB_ARM, 0);
	while (interrupts() == before && now - start < INTERRUPT_NS) {
		nanosleep(&nap, NULL);
		now = gtu_now_ns();
	}
	if (interrupts() != before)
		doctor_say(d, FOUND_OK, "interrupt", "an event arrives");
	else
		doctor_say(d, FOUND_FAIL, "interrupt", "an event was asked for, and no interrupt came within %g s: waits work, "
			   "but take 100 ms each; are MSI-X vectors given (grep gtu /proc/interrupts), and is the kernel "
			   "option pci=nomsi absent?", INTERRUPT_NS * 1e-9);
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
		doctor_say(d, FOUND_FAIL, "job", "a copy of %u bytes was reported done, and the bytes are not there: the "
			   "device does not reach this memory (an IOMMU without the driver's knowledge?)", COPY_BYTES);
	else
		doctor_say(d, FOUND_OK, "job", "a copy of %u bytes, %" PRIu64 " cycles, came back right in %.0f us",
			   COPY_BYTES, c.cycles, (double)(gtu_now_ns() - start) * 1e-3);
	if (!rc)
		check_interrupt(d, q);
	gtu_region_remove(dev, &from, NULL);
	gtu_region_remove(dev, &to, NULL);
}

/* The epoch in which this file was opened, against the device's own. */
static void check_epoch(struct doctor *d, struct gtu_device *dev)
{
	struct gtu_error err = { 0 };
	uint64_t now;

	if (dev->ops->read(dev, GTU_REG_EPOCH, &now, &err))
		doctor_say(d, FOUND_FAIL, "epoch", "%s", err.text);
	else if ((uint32_t)now != dev->info.epoch)
		doctor_say(d, FOUND_FAIL, "epoch", "the device is in epoch %" PRIu64 ", this file of epoch %u: it was reset "
			   "meanwhile; open it again", now, dev->info.epoch);
	else
		doctor_say(d, FOUND_OK, "epoch", "%u, and still is: what is open now has seen no reset", dev->info.epoch);
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
	gtu_set_timeout(dev, PATIENCE_NS);
	gtu_get_fdt(dev, &bytes);
	doctor_say(d, FOUND_OK, "device", "answers: programming model %u.%u, units 0x%x, a tree of %zu bytes whose CRC is "
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
