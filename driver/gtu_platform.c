// SPDX-License-Identifier: GPL-2.0-only
/*
 * Platform device, described by a device tree node (driver/bindings/gtu.yaml).
 * Same device as on PCI, with wired interrupts; the bus cannot block its DMA.
 */
#include <linux/clk.h>
#include <linux/delay.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/pm_runtime.h>
#include <linux/property.h>
#include <linux/reset.h>

#include "gtu_drv.h"

#define GTU_PULSE_US	10	/* reset pulse width */

struct gtu_platform {
	struct device *dev;
	struct clk *clk;		/* NULL: none, the clock always runs */
	struct reset_control *reset;	/* NULL: no reset line */
	bool clocked;
	bool on;			/* clocked and out of reset: registers are accessible */
};

/*
 * Not devres-managed: devres runs after the power domain is detached, when
 * clock and reset line may be inaccessible.
 */
static int gtu_platform_on(struct gtu_platform *p)
{
	int ret = clk_prepare_enable(p->clk);

	if (ret)
		return dev_err_probe(p->dev, ret, "the driver cannot enable the clock\n");
	p->clocked = true;
	ret = reset_control_deassert(p->reset);
	if (ret) {
		p->clocked = false;
		clk_disable_unprepare(p->clk);
		return dev_err_probe(p->dev, ret, "the driver cannot deassert reset\n");
	}
	p->on = true;
	return 0;
}

/*
 * The device is quiesced already, so failing to hold the reset line is
 * harmless.
 */
static void gtu_platform_off(struct gtu_platform *p)
{
	int ret;

	if (!p->clocked)
		return;
	p->on = false;
	ret = reset_control_assert(p->reset);
	if (ret)
		dev_warn(p->dev, "the driver cannot assert reset: %d\n", ret);
	p->clocked = false;
	clk_disable_unprepare(p->clk);
}

/* Nothing to enable: a device that was reset holds no addresses. */
static void gtu_platform_enable_dma(struct gtu_device *gtu)
{
}

/*
 * Assert the reset line and deassert it again, because registers may not respond
 * in reset. Returns 0 if the device was in reset.
 */
static int gtu_platform_pulse(struct gtu_device *gtu)
{
	struct gtu_platform *p = gtu->bus_data;
	int ret = reset_control_assert(p->reset);

	if (ret) {
		ret = reset_control_reset(p->reset);
		if (ret)
			dev_err(gtu->parent, "the driver cannot pulse reset: %d\n", ret);
		return ret;
	}
	fsleep(GTU_PULSE_US);
	ret = reset_control_deassert(p->reset);
	if (ret) {
		dev_err(gtu->parent, "the driver cannot deassert reset: %d\n", ret);
		p->on = false;
		WRITE_ONCE(gtu->epoch, 0);
	}
	return 0;
}

/*
 * Quiesce the device by resetting it: afterwards it has no context, queue or
 * event ring. The reset line is reliable; the reset register counts only if the
 * device reports ready.
 */
static bool gtu_platform_quiesce(struct gtu_device *gtu)
{
	struct gtu_platform *p = gtu->bus_data;
	int ret;

	if (!p->on)
		return true;
	if (!p->reset)
		return gtu_hw_reset(gtu);
	/* An access to the device in reset can hang the CPU: no handler, no posted write. */
	gtu_irqs_disable(gtu);
	gtu_rd(gtu, GTU_REG_MAGIC);
	ret = gtu_platform_pulse(gtu);
	/* a device that stays in reset has no interrupts until it resumes */
	if (p->on)
		gtu_irqs_enable(gtu);
	return !ret || gtu_hw_reset(gtu);
}

static int gtu_platform_vectors_alloc(struct gtu_device *gtu, unsigned int want)
{
	int there = platform_irq_count(to_platform_device(gtu->parent));

	if (!there)
		there = -ENXIO;
	if (there < 0)
		return dev_err_probe(gtu->parent, there, "the driver cannot get the interrupts\n");
	return min_t(unsigned int, there, want);
}

static int gtu_platform_vector(struct gtu_device *gtu, unsigned int i)
{
	return platform_get_irq(to_platform_device(gtu->parent), i);
}

static void gtu_platform_vectors_free(struct gtu_device *gtu)
{
}

static const struct gtu_bus gtu_platform_bus = {
	.enable_dma = gtu_platform_enable_dma,
	.quiesce = gtu_platform_quiesce,
	.vectors_alloc = gtu_platform_vectors_alloc,
	.vector = gtu_platform_vector,
	.vectors_free = gtu_platform_vectors_free,
};

/* Map a mandatory register range. */
static int gtu_platform_map(struct platform_device *pdev, const char *name, void __iomem **to,
			    phys_addr_t *phys, u64 *bytes)
{
	struct resource *r = platform_get_resource_byname(pdev, IORESOURCE_MEM, name);

	*to = devm_ioremap_resource(&pdev->dev, r);
	if (IS_ERR(*to))
		return dev_err_probe(&pdev->dev, PTR_ERR(*to),
				     "the driver cannot map a range: %s\n", name);
	*phys = r->start;
	*bytes = resource_size(r);
	return 0;
}

static void gtu_platform_end(struct gtu_platform *p)
{
	gtu_platform_off(p);
	pm_runtime_disable(p->dev);
	pm_runtime_set_suspended(p->dev);
	pm_runtime_put_noidle(p->dev);
}

static int gtu_platform_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct gtu_resources res = { };
	struct gtu_platform *p;
	struct resource *r;
	phys_addr_t phys;
	int ret;

	p = devm_kzalloc(dev, sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	p->dev = dev;
	p->clk = devm_clk_get_optional(dev, NULL);
	/*
	 * devm_clk_get_optional() returns NULL for errors other than a
	 * deferral, too
	 */
	if (!p->clk && device_property_present(dev, "clocks"))
		p->clk = ERR_PTR(-ENOENT);
	if (IS_ERR(p->clk))
		return dev_err_probe(dev, PTR_ERR(p->clk), "the driver cannot get the clock\n");
	p->reset = devm_reset_control_get_optional_exclusive(dev, NULL);
	if (IS_ERR(p->reset))
		return dev_err_probe(dev, PTR_ERR(p->reset),
				     "the driver cannot get the reset line\n");
	ret = gtu_platform_map(pdev, "registers", &res.regs, &phys, &res.regs_bytes) ?:
	      gtu_platform_map(pdev, "doorbells", &res.doorbells, &res.doorbells_phys,
			       &res.doorbells_bytes);
	if (ret)
		return ret;
	/* users map whole pages */
	if (!PAGE_ALIGNED(res.doorbells_phys))
		return dev_err_probe(dev, -EINVAL,
				     "the doorbells do not begin at a page: address %pa, pages of %lu bytes\n",
				     &res.doorbells_phys, PAGE_SIZE);
	r = platform_get_resource_byname(pdev, IORESOURCE_MEM, "aperture");
	if (r && !PAGE_ALIGNED(r->start)) {
		dev_warn(dev, "the driver does not use the aperture, which does not begin at a page: address %pa, pages of %lu bytes\n",
			 &r->start, PAGE_SIZE);
	} else if (r) {
		res.aperture_phys = r->start;
		res.aperture_bytes = resource_size(r);
	}
	res.coherent = device_get_dma_attr(dev) == DEV_DMA_COHERENT;
	ret = gtu_platform_on(p);
	if (ret)
		return ret;
	/* keep the power domain on while the driver is bound */
	pm_runtime_get_noresume(dev);
	pm_runtime_set_active(dev);
	pm_runtime_enable(dev);
	ret = gtu_bind(dev, &gtu_platform_bus, p, &res);
	if (ret)
		gtu_platform_end(p);
	return ret;
}

static void gtu_platform_remove(struct platform_device *pdev)
{
	struct gtu_device *gtu = platform_get_drvdata(pdev);
	struct gtu_platform *p = gtu->bus_data;

	gtu_unbind(gtu);
	gtu_platform_end(p);
}

static void gtu_platform_shutdown(struct platform_device *pdev)
{
	gtu_shutdown(platform_get_drvdata(pdev));
}

/*
 * Interrupts are disabled: a late interrupt would access registers that do not
 * respond.
 */
static int gtu_platform_suspend(struct device *dev)
{
	struct gtu_device *gtu = dev_get_drvdata(dev);
	struct gtu_platform *p = gtu->bus_data;
	int ret = gtu_suspend(dev);

	if (ret)
		return ret;
	if (p->on)
		gtu_irqs_disable(gtu);
	gtu_platform_off(p);
	return 0;
}

/*
 * If the domain lost power, the device is in its power-on state, in reset if it
 * has a reset line.
 */
static int gtu_platform_resume(struct device *dev)
{
	struct gtu_device *gtu = dev_get_drvdata(dev);
	struct gtu_platform *p = gtu->bus_data;
	int ret;

	if (!p->on) {
		ret = gtu_platform_on(p);
		if (ret) {
			dev_err(dev, "the driver cannot resume the device\n");
			gtu_hw_stop(gtu);
			/*
			 * mapped doorbells must not reach a device that does
			 * not respond
			 */
			gtu_contexts_end(gtu);
			gtu_aperture_restore(gtu);	/* frees the copies */
			return ret;
		}
		gtu_irqs_enable(gtu);
	}
	return gtu_resume(dev);
}
static DEFINE_SIMPLE_DEV_PM_OPS(gtu_platform_pm, gtu_platform_suspend, gtu_platform_resume);

static const struct of_device_id gtu_platform_ids[] = {
	{ .compatible = "gtu,gtu-1" },
	{ }
};
MODULE_DEVICE_TABLE(of, gtu_platform_ids);

struct platform_driver gtu_platform_driver = {
	.probe = gtu_platform_probe,
	.GTU_PLATFORM_REMOVE = gtu_platform_remove,
	.shutdown = gtu_platform_shutdown,
	.driver = {
		.name = GTU_NAME,
		.of_match_table = gtu_platform_ids,
		.pm = pm_sleep_ptr(&gtu_platform_pm),
	},
};
