// SPDX-License-Identifier: GPL-2.0-only
/* Bus-independent probe and removal of a device. */
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "gtu_drv.h"

static unsigned int vectors;
module_param(vectors, uint, 0444);
MODULE_PARM_DESC(vectors, "Maximum number of interrupt vectors per device; 0: one per CPU and one for errors");

static void gtu_irqs_free(struct gtu_device *gtu)
{
	unsigned int i;

	for (i = 0; i < gtu->vectors; i++) {
		if (!gtu->vector[i].irq)
			continue;
		irq_update_affinity_hint(gtu->vector[i].irq, NULL);
		free_cpumask_var(gtu->vector[i].cpus);
		disable_irq(gtu->vector[i].irq);
		gtu_interrupt_unpause(&gtu->vector[i]);
		free_irq(gtu->vector[i].irq, &gtu->vector[i]);
		gtu->vector[i].irq = 0;
	}
	gtu->bus->vectors_free(gtu);
}

/**
 * gtu_irqs_disable() - disable the interrupts and wait for their handlers
 * @gtu: the device, whose registers become inaccessible; it may have no interrupts
 */
void gtu_irqs_disable(struct gtu_device *gtu)
{
	unsigned int i;

	for (i = 0; i < gtu->vectors; i++) {
		if (!gtu->vector[i].irq)
			continue;
		disable_irq(gtu->vector[i].irq);
		gtu_interrupt_unpause(&gtu->vector[i]);
	}
}

/**
 * gtu_irqs_enable() - undo gtu_irqs_disable()
 * @gtu: the device
 */
void gtu_irqs_enable(struct gtu_device *gtu)
{
	unsigned int i;

	for (i = 0; i < gtu->vectors; i++)
		if (gtu->vector[i].irq)
			enable_irq(gtu->vector[i].irq);
}

/*
 * Direct a ring's interrupt to the CPUs whose queues it serves: gtu_event_ring_here().
 * Not managed (PCI_IRQ_AFFINITY): such interrupts are shut down with their CPUs, and
 * queues keep their ring.
 */
static void gtu_irq_spread(struct gtu_vector *v)
{
	unsigned int cpu;

	/* one ring for all: as the administrator says (irqaffinity=) */
	if (v->gtu->event_rings == 1)
		return;
	for_each_possible_cpu(cpu)
		if (cpu % v->gtu->event_rings == v->ring)
			cpumask_set_cpu(cpu, v->cpus);
	if (cpumask_intersects(v->cpus, cpu_online_mask))
		irq_set_affinity_and_hint(v->irq, v->cpus);
}

/*
 * Request one vector per CPU and one for errors. Works with any smaller number,
 * down to one vector for all.
 */
static int gtu_irqs_request(struct gtu_device *gtu)
{
	unsigned int want = min3(num_possible_cpus(), 32u, gtu->rings_hw) + 1, i;
	int ret;

	want = min3(want, gtu->vectors_hw, (unsigned int)GTU_VECTORS);
	want = vectors ? min(want, vectors) : want;
	ret = gtu->bus->vectors_alloc(gtu, want);
	if (ret < 0)
		return ret;
	gtu->vectors = ret;
	ret = gtu_events_alloc(gtu);
	if (ret)
		return ret;
	for (i = 0; i < gtu->vectors; i++) {
		struct gtu_vector *v = &gtu->vector[i];
		int irq = gtu->bus->vector(gtu, i);

		if (irq < 0)
			return irq;
		if (!zalloc_cpumask_var(&v->cpus, GFP_KERNEL))
			return -ENOMEM;
		ret = request_irq(irq, gtu_interrupt, 0, GTU_NAME, v);
		if (ret) {
			free_cpumask_var(v->cpus);
			return ret;
		}
		v->irq = irq;
		if (v->has_ring)
			gtu_irq_spread(v);
	}
	return 0;
}

/* If the device cannot be quiesced, leak the event rings. */
static void gtu_free(struct gtu_device *gtu)
{
	gtu_irqs_free(gtu);
	if (gtu_quiesce(gtu))
		gtu_events_free(gtu);
	put_device(&gtu->dev);
}

/*
 * Reserve the aperture for user mappings, write-combining everywhere. A device
 * without a usable aperture works without one.
 */
static int gtu_bind_aperture(struct gtu_device *gtu, const struct gtu_resources *res)
{
	u64 bytes = min_t(u64, res->aperture_bytes, gtu->aperture);

	if (bytes < PAGE_SIZE)
		return 0;
	if (!devm_request_mem_region(gtu->parent, res->aperture_phys, bytes, GTU_NAME) ||
	    devm_arch_io_reserve_memtype_wc(gtu->parent, res->aperture_phys, bytes)) {
		dev_warn(gtu->parent, "the driver cannot reserve the aperture: %llu bytes\n",
			 bytes);
		return 0;
	}
	return gtu_aperture_init(gtu, res->aperture_phys, bytes);
}

/**
 * gtu_bind() - probe a device and register it
 * @parent: the bus device
 * @bus: operations of its bus
 * @bus_data: private to @bus
 * @res: MMIO ranges of the device
 *
 * Sets the driver data of @parent to the struct gtu_device. Undo with
 * gtu_unbind().
 *
 * Return: 0 or a negative errno
 */
int gtu_bind(struct device *parent, const struct gtu_bus *bus, void *bus_data,
	     const struct gtu_resources *res)
{
	struct gtu_device *gtu;
	int ret;

	if (!res->coherent)
		return dev_err_probe(parent, -EOPNOTSUPP, "DMA is not cache-coherent\n");
	/*
	 * the device has 64-bit addresses; the bus knows the limits on the way
	 */
	ret = dma_set_mask_and_coherent(parent, DMA_BIT_MASK(64));
	if (ret)
		return dev_err_probe(parent, ret, "the platform has no 64-bit DMA\n");
	dma_set_max_seg_size(parent, UINT_MAX);
	dma_set_seg_boundary(parent, ULONG_MAX);

	gtu = gtu_device_alloc(parent);
	if (IS_ERR(gtu))
		return PTR_ERR(gtu);
	gtu->bus = bus;
	gtu->bus_data = bus_data;
	gtu->regs = res->regs;
	gtu->doorbells = res->doorbells;
	gtu->doorbells_phys = res->doorbells_phys;
	dev_set_drvdata(parent, gtu);

	ret = gtu_hw_identify(gtu, res->regs_bytes, res->doorbells_bytes);
	if (ret)
		goto err;
	ret = gtu_bind_aperture(gtu, res);
	if (ret)
		goto err;
	gtu->queue = kvcalloc(gtu->max_queues, sizeof(*gtu->queue), GFP_KERNEL);
	gtu->group = kvcalloc(gtu->max_contexts, sizeof(*gtu->group), GFP_KERNEL);
	ret = -ENOMEM;
	if (!gtu->queue || !gtu->group)
		goto err;
	ret = gtu_irqs_request(gtu);
	if (ret)
		goto err;
	ret = gtu_hw_start(gtu);
	if (ret)
		goto err;
	gtu_fdt_read(gtu);
	ret = gtu_device_add(gtu);
	if (ret)
		goto err;
	dev_info(parent, "the device is registered: %s, units %#x, %u contexts, %u queues, %u vectors\n",
		 dev_name(&gtu->dev), gtu->units, gtu->max_contexts, gtu->max_queues, gtu->vectors);
	return 0;
err:
	gtu_free(gtu);
	return ret;
}

/**
 * gtu_unbind() - unregister a device and free it once its files are closed
 * @gtu: the device
 */
void gtu_unbind(struct gtu_device *gtu)
{
	gtu_device_remove(gtu);
	gtu_free(gtu);
}

/**
 * gtu_shutdown() - stop the device before a reboot
 * @gtu: the device
 *
 * A kexec'ed kernel may follow: the device must not write to memory any more.
 */
void gtu_shutdown(struct gtu_device *gtu)
{
	gtu_set_dead(gtu);
	gtu_quiesce(gtu);
}

static int __init gtu_init(void)
{
	int ret = gtu_chrdev_init();

	if (ret)
		return ret;
	if (IS_ENABLED(CONFIG_PCI))
		ret = gtu_pci_register();
	if (ret)
		goto err_chrdev;
	if (IS_ENABLED(CONFIG_OF))
		ret = platform_driver_register(&gtu_platform_driver);
	if (ret)
		goto err_pci;
	return 0;
err_pci:
	if (IS_ENABLED(CONFIG_PCI))
		gtu_pci_unregister();
err_chrdev:
	gtu_chrdev_exit();
	return ret;
}

static void __exit gtu_exit(void)
{
	if (IS_ENABLED(CONFIG_OF))
		platform_driver_unregister(&gtu_platform_driver);
	if (IS_ENABLED(CONFIG_PCI))
		gtu_pci_unregister();
	gtu_chrdev_exit();
}

module_init(gtu_init);
module_exit(gtu_exit);
MODULE_DESCRIPTION("GTU, the graph traversal unit");
MODULE_LICENSE("GPL");
