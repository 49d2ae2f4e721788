// SPDX-License-Identifier: GPL-2.0-only
/* The PCI function: resources, interrupts, coming and going. */
#include <linux/dma-map-ops.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pm.h>
#include <linux/slab.h>

#include "gtu_drv.h"

static unsigned int vectors;
module_param(vectors, uint, 0444);
MODULE_PARM_DESC(vectors, "Most interrupt vectors of a device; 0: one a CPU and one for errors");

/* Nothing that the function does reaches memory after this returned true. */
static bool gtu_pci_silence(struct gtu_device *gtu)
{
	struct pci_dev *pdev = to_pci_dev(gtu->parent);
	u16 command;

	pci_clear_master(pdev);
	pci_read_config_word(pdev, PCI_COMMAND, &command);
	if (PCI_POSSIBLE_ERROR(command))
		return true;	/* there is no function any more */
	return !(command & PCI_COMMAND_MASTER) && pci_wait_for_pending_transaction(pdev);
}

static void gtu_irqs_free(struct gtu_device *gtu, struct pci_dev *pdev)
{
	unsigned int i;

	for (i = 0; i < gtu->vectors; i++)
		if (gtu->vector[i].irq)
			free_irq(gtu->vector[i].irq, &gtu->vector[i]);
	pci_free_irq_vectors(pdev);
}

/* A vector a CPU and one for errors; what cannot be had is done without, down to one for all. */
static int gtu_irqs_request(struct gtu_device *gtu, struct pci_dev *pdev)
{
	unsigned int want = min3(num_possible_cpus(), 32u, gtu->rings_hw) + 1, i;
	int ret;

	want = min3(want, gtu->vectors_hw, (unsigned int)GTU_VECTORS);
	want = vectors ? min(want, vectors) : want;
	/* MSI too would make the error that of MSI, which a GTU has not */
	ret = pci_alloc_irq_vectors(pdev, 1, want, PCI_IRQ_MSIX);
	if (ret < 0)
		return dev_err_probe(&pdev->dev, ret, "no MSI-X vectors\n");
	gtu->vectors = ret;
	ret = gtu_events_alloc(gtu);
	if (ret)
		return ret;
	for (i = 0; i < gtu->vectors; i++) {
		int irq = pci_irq_vector(pdev, i);

		ret = request_irq(irq, gtu_interrupt, 0, GTU_NAME, &gtu->vector[i]);
		if (ret)
			return ret;
		gtu->vector[i].irq = irq;
	}
	return 0;
}

/* The device is quiet, or what it had has been leaked. */
static void gtu_pci_free(struct gtu_device *gtu, struct pci_dev *pdev)
{
	gtu_irqs_free(gtu, pdev);
	mutex_lock(&gtu->mbox_lock);
	if (gtu_pci_silence(gtu))
		gtu_events_free(gtu);
	mutex_unlock(&gtu->mbox_lock);
	put_device(&gtu->dev);
}

/*
 * BAR4, for users to map: nobody else's, and write-combining wherever it is mapped. A device without
 * one, or with one that cannot be had, works all the same.
 */
static int gtu_pci_aperture(struct gtu_device *gtu, struct pci_dev *pdev)
{
	u64 bytes = min_t(u64, pci_resource_len(pdev, GTU_BAR_APERTURE), gtu->aperture);
	phys_addr_t phys = pci_resource_start(pdev, GTU_BAR_APERTURE);

	if (!(pci_resource_flags(pdev, GTU_BAR_APERTURE) & IORESOURCE_MEM) || !phys)
		bytes = 0;
	if (bytes < PAGE_SIZE)
		return 0;
	if (!devm_request_mem_region(&pdev->dev, phys, bytes, GTU_NAME) ||
	    devm_arch_io_reserve_memtype_wc(&pdev->dev, phys, bytes)) {
		dev_warn(&pdev->dev, "%llu bytes of the aperture cannot be used\n", bytes);
		return 0;
	}
	return gtu_aperture_init(gtu, phys, bytes);
}

static int gtu_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct gtu_device *gtu;
	int ret;

	ret = pcim_enable_device(pdev);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "cannot be enabled\n");
	/* somebody had it enabled by sysfs: then the core leaves the state unknown, without MSI-X */
	ret = pci_set_power_state(pdev, PCI_D0);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "has no power\n");
	ret = pcim_iomap_regions(pdev, BIT(GTU_BAR_REGS) | BIT(GTU_BAR_DOORBELL), GTU_NAME);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "its registers cannot be reached\n");
	if (!dev_is_dma_coherent(&pdev->dev))
		return dev_err_probe(&pdev->dev, -EOPNOTSUPP,
				     "not coherent with the CPU's caches\n");
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "no 64-bit addresses\n");
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	dma_set_seg_boundary(&pdev->dev, ULONG_MAX);

	gtu = gtu_device_alloc(&pdev->dev);
	if (IS_ERR(gtu))
		return PTR_ERR(gtu);
	gtu->silence = gtu_pci_silence;
	gtu->regs = pcim_iomap_table(pdev)[GTU_BAR_REGS];
	gtu->bells = pcim_iomap_table(pdev)[GTU_BAR_DOORBELL];
	gtu->bells_phys = pci_resource_start(pdev, GTU_BAR_DOORBELL);
	pci_set_drvdata(pdev, gtu);

	ret = gtu_hw_identify(gtu, pci_resource_len(pdev, GTU_BAR_REGS),
			      pci_resource_len(pdev, GTU_BAR_DOORBELL));
	if (ret)
		goto err;
	ret = gtu_pci_aperture(gtu, pdev);
	if (ret)
		goto err;
	gtu->queue = kvcalloc(gtu->max_queues, sizeof(*gtu->queue), GFP_KERNEL);
	ret = -ENOMEM;
	if (!gtu->queue)
		goto err;
	ret = gtu_irqs_request(gtu, pdev);
	if (ret)
		goto err;
	pci_set_master(pdev);
	ret = gtu_hw_start(gtu);
	if (ret)
		goto err;
	ret = gtu_device_add(gtu);
	if (ret)
		goto err;
	dev_info(&pdev->dev, "%s: units %#x, %u contexts, %u queues, %u vectors\n",
		 dev_name(&gtu->dev), gtu->units, gtu->max_contexts, gtu->max_queues, gtu->vectors);
	return 0;
err:
	gtu_pci_free(gtu, pdev);
	return ret;
}

static void gtu_pci_remove(struct pci_dev *pdev)
{
	struct gtu_device *gtu = pci_get_drvdata(pdev);

	gtu_device_remove(gtu);
	gtu_pci_free(gtu, pdev);
}

/* Another kernel may follow: nothing of this one's memory may be written any more. */
static void gtu_pci_shutdown(struct pci_dev *pdev)
{
	struct gtu_device *gtu = pci_get_drvdata(pdev);

	gtu_gone(gtu);
	gtu_pci_silence(gtu);
}

static void gtu_pci_reset_prepare(struct pci_dev *pdev)
{
	gtu_reset_begin(pci_get_drvdata(pdev));
}

static void gtu_pci_reset_done(struct pci_dev *pdev)
{
	gtu_reset_end(pci_get_drvdata(pdev));
}

static const struct pci_error_handlers gtu_pci_errors = {
	.reset_prepare = gtu_pci_reset_prepare,
	.reset_done = gtu_pci_reset_done,
};

static const struct pci_device_id gtu_pci_ids[] = {
	{ PCI_DEVICE(GTU_PCI_VENDOR, GTU_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, gtu_pci_ids);

/* Nothing saves what contexts have on the device: sleep is refused rather than losing it unsaid. */
static int gtu_pci_suspend(struct device *dev)
{
	dev_warn(dev, "cannot sleep: unload the driver first\n");
	return -EBUSY;
}
static DEFINE_SIMPLE_DEV_PM_OPS(gtu_pci_pm, gtu_pci_suspend, NULL);

static struct pci_driver gtu_pci_driver = {
	.name = GTU_NAME,
	.id_table = gtu_pci_ids,
	.probe = gtu_pci_probe,
	.remove = gtu_pci_remove,
	.shutdown = gtu_pci_shutdown,
	.err_handler = &gtu_pci_errors,
	.driver.pm = pm_sleep_ptr(&gtu_pci_pm),
};

static int __init gtu_init(void)
{
	int ret = gtu_chrdev_init();

	if (ret)
		return ret;
	ret = pci_register_driver(&gtu_pci_driver);
	if (ret)
		gtu_chrdev_exit();
	return ret;
}

static void __exit gtu_exit(void)
{
	pci_unregister_driver(&gtu_pci_driver);
	gtu_chrdev_exit();
}

module_init(gtu_init);
module_exit(gtu_exit);
MODULE_DESCRIPTION("GTU, the graph traversal unit");
MODULE_LICENSE("GPL");
