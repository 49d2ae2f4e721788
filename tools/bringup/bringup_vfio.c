// SPDX-License-Identifier: MIT
/*
 * bringup: access to a function bound to vfio-pci: memory at chosen bus addresses behind the IOMMU,
 * interrupts as eventfds.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bringup_access.h"
#include "uapi/gtu/hw.h"

struct vfio {
	int container, group, device;
	uint64_t config;		/* offset of configuration space in the device file */
	uint64_t offset[ACCESS_BARS], bytes[ACCESS_BARS];
	void *bar[ACCESS_BARS];		/* NULL: use pread() and pwrite() */
};

static struct vfio *vfio(struct access *a)
{
	return a->own;
}

static uint64_t transfer(struct vfio *v, uint64_t at, unsigned bytes, bool write, uint64_t value)
{
	uint8_t data[8];
	unsigned i;

	for (i = 0; i < 8; i++)
		data[i] = (uint8_t)(value >> 8 * i);
	if ((write ? pwrite(v->device, data, bytes, (off_t)at) : pread(v->device, data, bytes, (off_t)at)) != (ssize_t)bytes)
		return ~0ull;
	for (value = 0, i = bytes; i-- > 0;)
		value = value << 8 | data[i];
	return value;
}

static uint32_t config_read(struct access *a, unsigned at, unsigned bytes)
{
	return (uint32_t)transfer(vfio(a), vfio(a)->config + at, bytes, false, 0);
}

static void config_write(struct access *a, unsigned at, unsigned bytes, uint32_t value)
{
	transfer(vfio(a), vfio(a)->config + at, bytes, true, value);
}

static uint64_t bar_size(struct access *a, unsigned bar)
{
	return bar < ACCESS_BARS ? vfio(a)->bytes[bar] : 0;
}

static uint64_t read_bar(struct access *a, unsigned bar, uint64_t offset, unsigned bytes)
{
	struct vfio *v = vfio(a);

	if (offset + bytes > v->bytes[bar])
		return ~0ull;
	return v->bar[bar] ? access_load((uint8_t *)v->bar[bar] + offset, bytes) : transfer(v, v->offset[bar] + offset, bytes, false, 0);
}

static void write_bar(struct access *a, unsigned bar, uint64_t offset, unsigned bytes, uint64_t value)
{
	struct vfio *v = vfio(a);

	if (offset + bytes > v->bytes[bar])
		return;
	if (v->bar[bar])
		access_store((uint8_t *)v->bar[bar] + offset, bytes, value);
	else
		transfer(v, v->offset[bar] + offset, bytes, true, value);
}

static int flr(struct access *a, struct gtu_error *err)
{
	if (ioctl(vfio(a)->device, VFIO_DEVICE_RESET))
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "the kernel cannot reset %s: %s", a->name, strerror(errno));
	return 0;
}

static uint8_t *memory(struct access *a, uint64_t bytes, bool high, uint64_t *bus, struct gtu_error *err)
{
	struct vfio_iommu_type1_dma_map map = { .argsz = sizeof(map), .flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE };
	int fd;
	uint8_t *at = access_block(a, bytes, high, bus, &fd, err);

	if (!at)
		return NULL;
	close(fd);
	map.vaddr = (uintptr_t)at;
	map.iova = *bus;
	map.size = bytes;
	if (!ioctl(vfio(a)->container, VFIO_IOMMU_MAP_DMA, &map))
		return at;
	gtu_fail(err, GTU_ERR_FAIL, "cannot map %llu bytes at 0x%llx for the function: %s%s", (unsigned long long)bytes,
		 (unsigned long long)*bus, strerror(errno), errno == ENOMEM ? " (ulimit -l?)" : "");
	return NULL;
}

/* ---- Interrupts -------------------------------------------------------------------------------------------- */

static int set_vectors(struct vfio *v, unsigned first, unsigned count, const int *fd)
{
	struct {
		struct vfio_irq_set set;
		int32_t fd[ACCESS_VECTORS];
	} s = { .set = { .argsz = sizeof(s.set) + 4 * count, .index = VFIO_PCI_MSIX_IRQ_INDEX, .start = first, .count = count } };

	s.set.flags = VFIO_IRQ_SET_ACTION_TRIGGER | (count ? VFIO_IRQ_SET_DATA_EVENTFD : VFIO_IRQ_SET_DATA_NONE);
	if (count)
		memcpy(s.fd, fd, 4 * count);
	return ioctl(v->device, VFIO_DEVICE_SET_IRQS, &s);
}

static int irq_on(struct access *a, unsigned count, struct gtu_error *err)
{
	if (access_eventfds(a, count, err))
		return err->code;
	if (set_vectors(vfio(a), 0, count, a->vector))
		return gtu_fail(err, GTU_ERR_FAIL, "cannot enable %u interrupt vectors: %s", count, strerror(errno));
	return 0;
}

static void irq_off(struct access *a)
{
	set_vectors(vfio(a), 0, 0, NULL);
}

static void close_vfio(struct access *a)
{
	struct vfio *v = vfio(a);
	unsigned i;

	for (i = 0; i < ACCESS_BARS; i++)
		if (v->bar[i])
			munmap(v->bar[i], v->bytes[i]);
	/* the device first: closing it ends bus mastering */
	if (v->device >= 0)
		close(v->device);
	if (v->group >= 0)
		close(v->group);
	if (v->container >= 0)
		close(v->container);
	access_free(a);
}

static const struct access_ops ops = {
	.kind = "vfio", .config_read = config_read, .config_write = config_write, .bar_size = bar_size,
	.read = read_bar, .write = write_bar, .flr = flr, .memory = memory, .irq_on = irq_on, .irq_off = irq_off,
	.irq_came = access_event_came, .work = access_sleep, .close = close_vfio,
};

/* ---- Opening -------------------------------------------------------------------------------------------------- */

static int open_group(struct vfio *v, const char *address, struct gtu_error *err)
{
	char path[PATH_MAX], target[PATH_MAX];
	struct vfio_group_status status = { .argsz = sizeof(status) };
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/iommu_group", address);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return gtu_fail(err, GTU_ERR_FAIL, "%s is in no IOMMU group: the function does not exist, or no IOMMU is enabled (intel_iommu=on)", address);
	target[n] = 0;
	snprintf(path, sizeof(path), "/dev/vfio/%.32s", strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
	v->group = open(path, O_RDWR | O_CLOEXEC);
	if (v->group < 0)
		return gtu_fail(err, GTU_ERR_FAIL, "cannot open %s: %s; bind the function to vfio-pci: echo vfio-pci "
				">/sys/bus/pci/devices/%s/driver_override, then bind it", path, strerror(errno), address);
	if (ioctl(v->group, VFIO_GROUP_GET_STATUS, &status) || !(status.flags & VFIO_GROUP_FLAGS_VIABLE))
		return gtu_fail(err, GTU_ERR_FAIL, "the group %s is not viable: another function in it has a kernel driver", path);
	v->container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	if (v->container < 0 || ioctl(v->group, VFIO_GROUP_SET_CONTAINER, &v->container) ||
	    ioctl(v->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU))
		return gtu_fail(err, GTU_ERR_FAIL, "cannot set up an IOMMU container: %s", strerror(errno));
	v->device = ioctl(v->group, VFIO_GROUP_GET_DEVICE_FD, address);
	if (v->device < 0)
		return gtu_fail(err, GTU_ERR_FAIL, "cannot get %s from its group: %s", address, strerror(errno));
	return 0;
}

static int map_regions(struct vfio *v, struct gtu_error *err)
{
	struct vfio_region_info info;
	unsigned bar;

	for (bar = 0; bar < ACCESS_BARS; bar++) {
		info = (struct vfio_region_info){ .argsz = sizeof(info), .index = bar };
		if (ioctl(v->device, VFIO_DEVICE_GET_REGION_INFO, &info))
			return gtu_fail(err, GTU_ERR_FAIL, "BAR %u: %s", bar, strerror(errno));
		v->bytes[bar] = info.size;
		v->offset[bar] = info.offset;
		if (!info.size || !(info.flags & VFIO_REGION_INFO_FLAG_MMAP) || info.flags & VFIO_REGION_INFO_FLAG_CAPS)
			continue;
		v->bar[bar] = mmap(NULL, info.size, PROT_READ | PROT_WRITE, MAP_SHARED, v->device, (off_t)info.offset);
		if (v->bar[bar] == MAP_FAILED)
			v->bar[bar] = NULL;
	}
	info = (struct vfio_region_info){ .argsz = sizeof(info), .index = VFIO_PCI_CONFIG_REGION_INDEX };
	if (ioctl(v->device, VFIO_DEVICE_GET_REGION_INFO, &info))
		return gtu_fail(err, GTU_ERR_FAIL, "configuration space: %s", strerror(errno));
	v->config = info.offset;
	return 0;
}

struct access *access_vfio(const char *address, const struct access_permission *may, struct gtu_error *err)
{
	struct access *a = access_new(&ops, sizeof(struct vfio), err);
	struct vfio *v;
	int rc;

	if (!a)
		return NULL;
	v = vfio(a);
	v->container = v->group = v->device = -1;
	rc = open_group(v, address, err);
	if (!rc)
		rc = map_regions(v, err);
	if (!rc && !may->force)
		rc = access_kind(a, address, may->id, err);
	if (rc) {
		close_vfio(a);
		return NULL;
	}
	snprintf(a->name, sizeof(a->name), "vfio:%.80s", address);
	a->has_memory = a->has_irqs = true;
	config_write(a, PCI_COMMAND, 2, config_read(a, PCI_COMMAND, 2) | PCI_COMMAND_MEMORY);
	return a;
}
