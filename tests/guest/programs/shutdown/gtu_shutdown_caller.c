// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shuts a device down for tests, as the kernel does before a reboot or kexec: write the name of a PCI function or
 * platform device to /sys/module/gtu_shutdown_caller/parameters/device.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/string.h>

static int shut_down(const char *text, const struct kernel_param *param)
{
	struct device *dev;
	char name[64];

	if (strscpy(name, text, sizeof(name)) < 0)
		return -EINVAL;
	dev = bus_find_device_by_name(&pci_bus_type, NULL, strim(name));
	if (!dev)
		dev = bus_find_device_by_name(&platform_bus_type, NULL, strim(name));
	if (!dev)
		return -ENODEV;
	device_lock(dev);
	if (dev->driver)
		dev->bus->shutdown(dev);
	device_unlock(dev);
	put_device(dev);
	return 0;
}

static const struct kernel_param_ops ops = { .set = shut_down };
module_param_cb(device, &ops, NULL, 0200);
MODULE_DESCRIPTION("Shuts devices down for tests");
MODULE_LICENSE("GPL");
