// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shuts a device down for tests, as the kernel does before a reboot or kexec: write the name of a PCI function or
 * platform device to /sys/module/gtu_shutdown_caller/parameters/device. Parameter `lost`: tells the driver of a PCI
 * function that its port has given it up after an error, which QEMU cannot inject. Parameter `bus`: resets all functions
 * on the bus of a PCI function. Parameter `unreset`: calls the functions of a PCI driver for a function reset, without one
 * between them.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/string.h>

/* The PCI function of this name, or the platform device, for put_device(); or NULL. */
static struct device *find(const char *text, bool pci)
{
	char name[64];

	if (strscpy(name, text, sizeof(name)) < 0)
		return NULL;
	return bus_find_device_by_name(pci ? &pci_bus_type : &platform_bus_type, NULL, strim(name));
}

static int shut_down(const char *text, const struct kernel_param *param)
{
	struct device *dev = find(text, true) ?: find(text, false);

	if (!dev)
		return -ENODEV;
	device_lock(dev);
	if (dev->driver)
		dev->bus->shutdown(dev);
	device_unlock(dev);
	put_device(dev);
	return 0;
}

/* Call @what for a PCI function that has a driver with handlers of errors. */
static int call_handlers(const char *text, int (*what)(struct pci_dev *pdev, const struct pci_error_handlers *of))
{
	struct device *dev = find(text, true);
	const struct pci_driver *driver;
	int ret = -ENODEV;

	if (!dev)
		return ret;
	device_lock(dev);
	driver = dev->driver ? to_pci_driver(dev->driver) : NULL;
	if (driver && driver->err_handler)
		ret = what(to_pci_dev(dev), driver->err_handler);
	device_unlock(dev);
	put_device(dev);
	return ret;
}

static int permanent_failure(struct pci_dev *pdev, const struct pci_error_handlers *of)
{
	return of->error_detected(pdev, pci_channel_io_perm_failure) == PCI_ERS_RESULT_DISCONNECT ? 0 : -EIO;
}

static int lose(const char *text, const struct kernel_param *param)
{
	return call_handlers(text, permanent_failure);
}

static int prepare_and_done(struct pci_dev *pdev, const struct pci_error_handlers *of)
{
	of->reset_prepare(pdev);
	of->reset_done(pdev);
	return 0;
}

static int reset_nothing(const char *text, const struct kernel_param *param)
{
	return call_handlers(text, prepare_and_done);
}

static int reset_bus(const char *text, const struct kernel_param *param)
{
	struct device *dev = find(text, true);
	int ret;

	if (!dev)
		return -ENODEV;
	ret = pci_reset_bus(to_pci_dev(dev));
	put_device(dev);
	return ret;
}

static const struct kernel_param_ops unreset_ops = { .set = reset_nothing };
module_param_cb(unreset, &unreset_ops, NULL, 0200);

static const struct kernel_param_ops reset_ops = { .set = reset_bus };
module_param_cb(bus, &reset_ops, NULL, 0200);

static const struct kernel_param_ops lose_ops = { .set = lose };
module_param_cb(lost, &lose_ops, NULL, 0200);

static const struct kernel_param_ops ops = { .set = shut_down };
module_param_cb(device, &ops, NULL, 0200);
MODULE_DESCRIPTION("Shuts devices down for tests");
MODULE_LICENSE("GPL");
