// SPDX-License-Identifier: GPL-2.0-only
/*
 * PCI function: BARs, MSI-X, bus mastering, function reset and error recovery.
 */
#include <linux/module.h>
#include <linux/pci-p2pdma.h>
#include <linux/pci.h>
#include <linux/pm.h>
#include <linux/property.h>

#include "gtu_drv.h"

static char *ids;
module_param(ids, charp, 0444);
MODULE_PARM_DESC(ids, "Ids of boards besides 1234:4754, as VENDOR:DEVICE[,...] in hexadecimal; only functions of class 120000");

/*
 * Enable bus mastering. The config space is saved without it: recovery from a
 * bus error restores this state before the device is reset, and must not enable
 * DMA then. The PCI core uses the saved state up in its own resets and in
 * suspend.
 */
static void gtu_pci_enable_dma(struct gtu_device *gtu)
{
	struct pci_dev *pdev = to_pci_dev(gtu->parent);

	pci_clear_master(pdev);
	pci_save_state(pdev);
	pci_set_master(pdev);
}

static bool gtu_pci_quiesce(struct gtu_device *gtu)
{
	struct pci_dev *pdev = to_pci_dev(gtu->parent);
	u16 command;

	pci_clear_master(pdev);
	pci_read_config_word(pdev, PCI_COMMAND, &command);
	if (PCI_POSSIBLE_ERROR(command))
		return true;	/* the function was removed */
	return !(command & PCI_COMMAND_MASTER) && pci_wait_for_pending_transaction(pdev);
}

static int gtu_pci_vectors_alloc(struct gtu_device *gtu, unsigned int want)
{
	/*
	 * asking for MSI too would turn the error code into that of MSI, which
	 * a GTU does not have
	 */
	int ret = pci_alloc_irq_vectors(to_pci_dev(gtu->parent), 1, want, PCI_IRQ_MSIX);

	return ret < 0 ? dev_err_probe(gtu->parent, ret,
				       "the driver cannot allocate MSI-X vectors\n") : ret;
}

static int gtu_pci_vector(struct gtu_device *gtu, unsigned int i)
{
	return pci_irq_vector(to_pci_dev(gtu->parent), i);
}

static void gtu_pci_vectors_free(struct gtu_device *gtu)
{
	pci_free_irq_vectors(to_pci_dev(gtu->parent));
}

/*
 * A host bridge may translate addresses, which dma_map_resource() does not know
 * without an IOMMU.
 */
static bool gtu_pci_reaches(struct gtu_device *gtu, struct device *importer)
{
	struct pci_dev *pdev = to_pci_dev(gtu->parent);

	return pci_bus_address(pdev, GTU_BAR_APERTURE) == gtu->aperture_phys &&
	       pci_p2pdma_distance(pdev, importer, false) >= 0;
}

static const struct gtu_bus gtu_pci_bus = {
	.enable_dma = gtu_pci_enable_dma,
	.quiesce = gtu_pci_quiesce,
	.vectors_alloc = gtu_pci_vectors_alloc,
	.vector = gtu_pci_vector,
	.vectors_free = gtu_pci_vectors_free,
	.reaches = gtu_pci_reaches,
};

/*
 * ACPI describes the coherence of all functions below a host bridge at the
 * bridge, a device tree at its parent.
 */
static bool gtu_pci_coherent(struct pci_dev *pdev)
{
	struct pci_host_bridge *bridge = pci_find_host_bridge(pdev->bus);
	enum dev_dma_attr attr = device_get_dma_attr(&bridge->dev);

	/* a kernel that cannot sync caches runs on coherent machines only */
	if (!IS_ENABLED(CONFIG_ARCH_HAS_SYNC_DMA_FOR_DEVICE))
		return true;
	if (attr == DEV_DMA_NOT_SUPPORTED && bridge->dev.parent)
		attr = device_get_dma_attr(bridge->dev.parent);
	return attr == DEV_DMA_COHERENT;
}

static int gtu_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct gtu_resources res = { };
	int ret;

	ret = pcim_enable_device(pdev);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "the driver cannot enable the function\n");
	/*
	 * If sysfs enabled the function before, the PCI core leaves its power
	 * state unknown, without MSI-X.
	 */
	ret = pci_set_power_state(pdev, PCI_D0);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "the driver cannot set power state D0\n");
	/*
	 * Doorbell addresses are mapped into user space: they must not be I/O
	 * port numbers.
	 */
	if (!(pci_resource_flags(pdev, GTU_BAR_REGS) & IORESOURCE_MEM) ||
	    !(pci_resource_flags(pdev, GTU_BAR_DOORBELL) & IORESOURCE_MEM))
		return dev_err_probe(&pdev->dev, -ENODEV,
				     "the register and doorbell BARs are not memory: %u and %u\n",
				     GTU_BAR_REGS, GTU_BAR_DOORBELL);
	ret = pcim_iomap_regions(pdev, BIT(GTU_BAR_REGS) | BIT(GTU_BAR_DOORBELL), GTU_NAME);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "the driver cannot map the BARs\n");
	res.regs = pcim_iomap_table(pdev)[GTU_BAR_REGS];
	res.regs_bytes = pci_resource_len(pdev, GTU_BAR_REGS);
	res.doorbells = pcim_iomap_table(pdev)[GTU_BAR_DOORBELL];
	res.doorbells_phys = pci_resource_start(pdev, GTU_BAR_DOORBELL);
	res.doorbells_bytes = pci_resource_len(pdev, GTU_BAR_DOORBELL);
	res.aperture_phys = pci_resource_start(pdev, GTU_BAR_APERTURE);
	if (pci_resource_flags(pdev, GTU_BAR_APERTURE) & IORESOURCE_MEM && res.aperture_phys)
		res.aperture_bytes = pci_resource_len(pdev, GTU_BAR_APERTURE);
	res.coherent = gtu_pci_coherent(pdev);
	return gtu_bind(&pdev->dev, &gtu_pci_bus, NULL, &res);
}

static void gtu_pci_remove(struct pci_dev *pdev)
{
	gtu_unbind(pci_get_drvdata(pdev));
}

static void gtu_pci_shutdown(struct pci_dev *pdev)
{
	gtu_shutdown(pci_get_drvdata(pdev));
}

static void gtu_pci_reset_prepare(struct pci_dev *pdev)
{
	gtu_reset_begin(pci_get_drvdata(pdev));
}

static void gtu_pci_reset_done(struct pci_dev *pdev)
{
	gtu_reset_end(pci_get_drvdata(pdev));
}

/*
 * The port has reported an error of this function or its link. Data in flight
 * is not trusted, whatever the error: kill all contexts and reset the device.
 */
static pci_ers_result_t gtu_pci_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct gtu_device *gtu = pci_get_drvdata(pdev);

	if (state == pci_channel_io_perm_failure) {
		dev_err(&pdev->dev, "the bus has failed permanently\n");
		gtu_set_dead(gtu);
		return PCI_ERS_RESULT_DISCONNECT;
	}
	dev_err(&pdev->dev, "the bus reported an error, all contexts are dead: link %s\n",
		state == pci_channel_io_frozen ? "frozen" : "usable");
	gtu_error_begin(gtu);
	return PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t gtu_pci_slot_reset(struct pci_dev *pdev)
{
	pci_restore_state(pdev);
	return gtu_error_end(pci_get_drvdata(pdev)) ? PCI_ERS_RESULT_DISCONNECT :
						      PCI_ERS_RESULT_RECOVERED;
}

static void gtu_pci_error_resume(struct pci_dev *pdev)
{
	dev_info(&pdev->dev, "the device has recovered from a bus error\n");
}

static const struct pci_error_handlers gtu_pci_errors = {
	.error_detected = gtu_pci_error_detected,
	.slot_reset = gtu_pci_slot_reset,
	.resume = gtu_pci_error_resume,
	.reset_prepare = gtu_pci_reset_prepare,
	.reset_done = gtu_pci_reset_done,
};

static const struct pci_device_id gtu_pci_ids[] = {
	{ PCI_DEVICE(GTU_PCI_VENDOR, GTU_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, gtu_pci_ids);

static DEFINE_SIMPLE_DEV_PM_OPS(gtu_pci_pm, gtu_suspend, gtu_resume);

static struct pci_driver gtu_pci_driver = {
	.name = GTU_NAME,
	.id_table = gtu_pci_ids,
	.probe = gtu_pci_probe,
	.remove = gtu_pci_remove,
	.shutdown = gtu_pci_shutdown,
	.err_handler = &gtu_pci_errors,
	.driver.pm = pm_sleep_ptr(&gtu_pci_pm),
};

/*
 * Read an id of the module parameter and return what follows it, or an error
 * pointer.
 */
static const char *__init gtu_pci_next_id(const char *at, unsigned int *vendor,
					  unsigned int *device)
{
	int end = 0;

	if (sscanf(at, "%4x:%4x%n", vendor, device, &end) != 2 || !*vendor || *vendor == 0xffff ||
	    (at[end] && (at[end] != ',' || !at[end + 1]))) {
		pr_err(GTU_NAME ": invalid parameter ids, need VENDOR:DEVICE[,...] in hexadecimal, for example 10ee:9038: %s\n",
		       ids);
		return ERR_PTR(-EINVAL);
	}
	return at + end + (at[end] == ',');
}

/**
 * gtu_pci_register() - register the PCI driver, with the ids of parameter ids
 *
 * Return: 0 or a negative errno
 */
int __init gtu_pci_register(void)
{
	unsigned int vendor, device;
	const char *at;
	int ret;

	/* an invalid parameter has no effect */
	for (at = ids; at && *at;) {
		at = gtu_pci_next_id(at, &vendor, &device);
		if (IS_ERR(at))
			return PTR_ERR(at);
	}
	ret = pci_register_driver(&gtu_pci_driver);
	if (ret)
		return ret;
	for (at = ids; at && *at;) {
		at = gtu_pci_next_id(at, &vendor, &device);
		ret = pci_add_dynid(&gtu_pci_driver, vendor, device, PCI_ANY_ID, PCI_ANY_ID,
				    GTU_PCI_CLASS, 0xffffff, 0);
		if (ret) {
			pci_unregister_driver(&gtu_pci_driver);
			return ret;
		}
	}
	return 0;
}

/**
 * gtu_pci_unregister() - unregister the PCI driver
 */
void gtu_pci_unregister(void)
{
	pci_unregister_driver(&gtu_pci_driver);
}
