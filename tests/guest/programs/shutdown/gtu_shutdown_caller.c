// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shuts a device down for tests, as the kernel does before a reboot or kexec: write the name of a PCI function or
 * platform device to /sys/module/gtu_shutdown_caller/parameters/device. Parameter `lost`: tells the driver of a PCI
 * function that its port has given it up after an error, which QEMU cannot inject. Parameter `bus`: resets all functions
 * on the bus of a PCI function.
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

static int lose(const char *text, const struct kernel_param *param)
{
	pci_ers_result_t result = PCI_ERS_RESULT_NONE;
	const struct pci_driver *driver;
	struct device *dev;
	char name[64];

	if (strscpy(name, text, sizeof(name)) < 0)
		return -EINVAL;
	dev = bus_find_device_by_name(&pci_bus_type, NULL, strim(name));
	if (!dev)
		return -ENODEV;
	device_lock(dev);
	driver = dev->driver ? to_pci_driver(dev->driver) : NULL;
	if (driver && driver->err_handler)
		result = driver->err_handler->error_detected(to_pci_dev(dev), pci_channel_io_perm_failure);
	device_unlock(dev);
	put_device(dev);
	return result == PCI_ERS_RESULT_DISCONNECT ? 0 : -EIO;
}

static int reset_bus(const char *text, const struct kernel_param *param)
{
	struct device *dev;
	char name[64];
	int ret;

	if (strscpy(name, text, sizeof(name)) < 0)
		return -EINVAL;
	dev = bus_find_device_by_name(&pci_bus_type, NULL, strim(name));
	if (!dev)
		return -ENODEV;
	ret = pci_reset_bus(to_pci_dev(dev));
	put_device(dev);
	return ret;
}

static const struct kernel_param_ops reset_ops = { .set = reset_bus };
module_param_cb(bus, &reset_ops, NULL, 0200);

static const struct kernel_param_ops lose_ops = { .set = lose };
module_param_cb(lost, &lose_ops, NULL, 0200);

static const struct kernel_param_ops ops = { .set = shut_down };
module_param_cb(device, &ops, NULL, 0200);
MODULE_DESCRIPTION("Shuts devices down for tests");
MODULE_LICENSE("GPL");
