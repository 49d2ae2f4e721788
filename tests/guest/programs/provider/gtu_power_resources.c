// SPDX-License-Identifier: GPL-2.0-only
/*
 * A clock, a reset line and a power domain for the device of a guest's device tree. Their calls are logged and can be
 * made to fail. The device is a PCI function that the kernel does not see: while one of the resources is off, the
 * function decodes no address, reads as all ones and ignores writes; a reset clears its state.
 *
 * Files in debugfs, gtu-power-resources/: `log` has each call, in order, with its error (a write clears it), and
 * "live interrupts" if the driver has some enabled when it asserts the reset line. `state`
 * shows which resources are on. A write of "CALL ERRNO" to `fail`, such as "reset deassert 5", makes the call fail until
 * "CALL 0"; a negative number, once. If `dead` is set, the device does not respond after it was off.
 */
#include <linux/clk-provider.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/irq.h>
#include <linux/module.h>
#include <linux/of_address.h>
#include <linux/of_irq.h>
#include <linux/pci_regs.h>
#include <linux/platform_device.h>
#include <linux/pm_domain.h>
#include <linux/reset-controller.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/version.h>

#include <uapi/gtu/hw.h>

#define LOG_LINES	256
#define SLOT_BYTES	0x8000		/* of configuration space: 8 functions */
#define BUS_BYTES	(32 * SLOT_BYTES)
#define RESET_US	200000
#define NOISE_BYTES	0x8000		/* at the start of the aperture */

enum call {
	CLOCK_GET, CLOCK_PREPARE, CLOCK_ENABLE, CLOCK_DISABLE, CLOCK_UNPREPARE,
	RESET_GET, RESET_ASSERT, RESET_DEASSERT, POWER_ON, POWER_OFF, LIVE_INTERRUPTS, CALLS
};

static const char *const names[CALLS] = {
	"clock get", "clock prepare", "clock enable", "clock disable", "clock unprepare",
	"reset get", "reset assert", "reset deassert", "power on", "power off", "live interrupts"
};

struct resources {
	struct clk_hw clock;
	struct reset_controller_dev reset;
	struct generic_pm_domain power;
	void __iomem *config, *regs, *aperture;
	struct dentry *folder;
	spinlock_t lock;		/* protects the following fields */
	int fail[CALLS];
	bool clocked, prepared, held, powered, answers;
	u32 dead;
	unsigned int lines;
	struct {
		enum call call;
		int error;
	} log[LOG_LINES];
};

/* Reset and hide the device, or show it, according to its resources. Called with the lock held. */
static void resources_apply(struct resources *s)
{
	bool answers = s->powered && s->clocked && !s->held && (s->answers || !s->dead);
	u32 before, n;

	if (answers == s->answers)
		return;
	s->answers = answers;
	if (!answers) {
		before = readl(s->regs + GTU_REG_EPOCH);
		writel(GTU_RESET_KEY, s->regs + GTU_REG_RESET);
		for (n = 0; n < RESET_US && readl(s->regs + GTU_REG_EPOCH) == before; n += 10)
			udelay(10);
	}
	writew(answers ? PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER : 0, s->config + PCI_COMMAND);
	/* flush the posted write */
	readw(s->config + PCI_COMMAND);
}

/* Log @call and, unless it is to fail, set *@what to @to. Returns the injected error. */
static int resources_call(struct resources *s, enum call call, bool *what, bool to)
{
	unsigned long flags;
	int error;

	spin_lock_irqsave(&s->lock, flags);
	error = s->fail[call];
	if (error > 0) {
		error = -error;
		s->fail[call] = 0;
	}
	if (s->lines < LOG_LINES) {
		s->log[s->lines].call = call;
		s->log[s->lines++].error = error;
	}
	if (!error && what) {
		*what = to;
		resources_apply(s);
	}
	spin_unlock_irqrestore(&s->lock, flags);
	return error;
}

/* A callback of @member of the resources, which logs @call and sets @field. */
#define RESOURCES_CALL(type, name, arguments, from, member, call, field, to)			\
static type name arguments									\
{												\
	struct resources *s = container_of(from, struct resources, member);			\
												\
	return (type)resources_call(s, call, &s->field, to);					\
}

RESOURCES_CALL(int, resources_prepare, (struct clk_hw *hw), hw, clock, CLOCK_PREPARE, prepared, true)
RESOURCES_CALL(void, resources_unprepare, (struct clk_hw *hw), hw, clock, CLOCK_UNPREPARE, prepared,
	       false)
RESOURCES_CALL(int, resources_enable, (struct clk_hw *hw), hw, clock, CLOCK_ENABLE, clocked, true)
RESOURCES_CALL(void, resources_disable, (struct clk_hw *hw), hw, clock, CLOCK_DISABLE, clocked,
	       false)
RESOURCES_CALL(int, resources_deassert, (struct reset_controller_dev *rcdev, unsigned long id),
	       rcdev, reset, RESET_DEASSERT, held, false)
RESOURCES_CALL(int, resources_power_on, (struct generic_pm_domain *domain), domain, power, POWER_ON,
	       powered, true)

static const struct clk_ops resources_clock_ops = {
	.prepare = resources_prepare,
	.unprepare = resources_unprepare,
	.enable = resources_enable,
	.disable = resources_disable,
};

static struct clk_hw *resources_clock_get(struct of_phandle_args *args, void *data)
{
	struct resources *s = data;
	int error = resources_call(s, CLOCK_GET, NULL, false);

	return error ? ERR_PTR(error) : &s->clock;
}

/* Log it if an interrupt of the device has a handler and is enabled. */
static void resources_check_interrupts(struct resources *s)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, "gtu,gtu-1");
	int i, irq;

	for (i = 0; (irq = of_irq_get(node, i)) > 0; i++)
		if (irq_has_action(irq) && !irqd_irq_disabled(irq_get_irq_data(irq)))
			resources_call(s, LIVE_INTERRUPTS, NULL, false);
	of_node_put(node);
}

static int resources_assert(struct reset_controller_dev *rcdev, unsigned long id)
{
	struct resources *s = container_of(rcdev, struct resources, reset);

	resources_check_interrupts(s);
	return resources_call(s, RESET_ASSERT, &s->held, true);
}

static const struct reset_control_ops resources_reset_ops = {
	.assert = resources_assert,
	.deassert = resources_deassert,
};

static int resources_reset_get(struct reset_controller_dev *rcdev,
			      const struct of_phandle_args *args)
{
	struct resources *s = container_of(rcdev, struct resources, reset);

	return resources_call(s, RESET_GET, NULL, false);
}

static int resources_power_off(struct generic_pm_domain *domain)
{
	struct resources *s = container_of(domain, struct resources, power);

	/* the aperture's contents are lost too */
	if (s->aperture && !s->answers) {
		writew(PCI_COMMAND_MEMORY, s->config + PCI_COMMAND);
		memset_io(s->aperture, 0x5a, NOISE_BYTES);
		writew(0, s->config + PCI_COMMAND);
	}
	return resources_call(s, POWER_OFF, &s->powered, false);
}

/* File operations that read by name_show() and write by name_write(). */
#define RESOURCES_FILE(name)									\
static int name##_open(struct inode *inode, struct file *file)					\
{												\
	return single_open(file, name##_show, inode->i_private);				\
}												\
static const struct file_operations name##_file = {						\
	.owner = THIS_MODULE,									\
	.open = name##_open,									\
	.read = seq_read,									\
	.write = name##_write,									\
	.llseek = seq_lseek,									\
	.release = single_release,								\
}

static int resources_log_show(struct seq_file *m, void *unused)
{
	struct resources *s = m->private;
	unsigned int i;

	for (i = 0; i < READ_ONCE(s->lines); i++)
		if (s->log[i].error)
			seq_printf(m, "%s = %d\n", names[s->log[i].call], s->log[i].error);
		else
			seq_printf(m, "%s\n", names[s->log[i].call]);
	return 0;
}

static ssize_t resources_log_write(struct file *file, const char __user *from, size_t bytes,
				   loff_t *at)
{
	struct resources *s = ((struct seq_file *)file->private_data)->private;

	spin_lock_irq(&s->lock);
	s->lines = 0;
	spin_unlock_irq(&s->lock);
	return bytes;
}
RESOURCES_FILE(resources_log);

static int resources_state_show(struct seq_file *m, void *unused)
{
	struct resources *s = m->private;

	seq_printf(m, "power %d clock %d%d held %d\n", s->powered, s->prepared, s->clocked, s->held);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(resources_state);

static int resources_fail_show(struct seq_file *m, void *unused)
{
	struct resources *s = m->private;
	unsigned int i;

	for (i = 0; i < CALLS; i++)
		if (s->fail[i])
			seq_printf(m, "%s %d\n", names[i], -s->fail[i]);
	return 0;
}

static ssize_t resources_fail_write(struct file *file, const char __user *from, size_t bytes,
				   loff_t *at)
{
	struct resources *s = ((struct seq_file *)file->private_data)->private;
	char text[64] = "", *number;
	int i, error;

	if (bytes >= sizeof(text) || copy_from_user(text, from, bytes))
		return -EINVAL;
	number = strrchr(strim(text), ' ');
	if (!number || kstrtoint(number + 1, 10, &error) || abs(error) > MAX_ERRNO)
		return -EINVAL;
	*number = 0;
	i = match_string(names, CALLS, text);
	if (i < 0)
		return -EINVAL;
	WRITE_ONCE(s->fail[i], -error);
	return bytes;
}
RESOURCES_FILE(resources_fail);

/* Find the function that wire.c mapped to the addresses of the device's node. */
static int resources_find(struct device *dev, struct resources *s)
{
	struct device_node *host = of_find_compatible_node(NULL, NULL, "pci-host-ecam-generic");
	struct device_node *node = of_find_compatible_node(NULL, NULL, "gtu,gtu-1");
	struct resource ecam, regs, aperture;
	void __iomem *bus = NULL;
	unsigned int at;

	if (!of_address_to_resource(host, 0, &ecam) && !of_address_to_resource(node, 0, &regs)) {
		bus = devm_ioremap(dev, ecam.start, BUS_BYTES);
		s->regs = devm_ioremap(dev, regs.start, resource_size(&regs));
		if (!of_address_to_resource(node, 2, &aperture))
			s->aperture = devm_ioremap(dev, aperture.start, NOISE_BYTES);
	}
	for (at = 0; bus && s->regs && at < BUS_BYTES && !s->config; at += SLOT_BYTES)
		if (readl(bus + at) == (GTU_PCI_VENDOR | GTU_PCI_DEVICE << 16))
			s->config = bus + at;
	of_node_put(host);
	of_node_put(node);
	return s->config ? 0 : -ENODEV;
}

/* devres frees the device; kernel 6.1 warns if there is no release function. */
static void resources_power_release(struct device *dev)
{
}

static int resources_probe(struct platform_device *pdev)
{
	const struct clk_init_data clock = { .name = "gtu-power-resources", .ops = &resources_clock_ops };
	struct device *dev = &pdev->dev;
	struct resources *s;
	int ret;

	s = devm_kzalloc(dev, sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	spin_lock_init(&s->lock);
	ret = resources_find(dev, s);
	if (ret)
		return dev_err_probe(dev, ret, "no function to supply\n");
	s->held = true;
	s->answers = true;
	resources_apply(s);
	platform_set_drvdata(pdev, s);

	s->clock.init = &clock;
	ret = devm_clk_hw_register(dev, &s->clock);
	if (ret)
		return ret;
	s->reset.ops = &resources_reset_ops;
	s->reset.owner = THIS_MODULE;
	s->reset.of_node = dev->of_node;
	s->reset.of_xlate = resources_reset_get;
	s->reset.nr_resets = 1;
	ret = devm_reset_controller_register(dev, &s->reset);
	if (ret)
		return ret;
	s->power.name = "gtu-power-resources";
	s->power.power_on = resources_power_on;
	s->power.power_off = resources_power_off;
	s->power.dev.release = resources_power_release;
	ret = pm_genpd_init(&s->power, NULL, true);
	if (ret)
		return ret;
	ret = of_genpd_add_provider_simple(dev->of_node, &s->power);
	if (ret)
		goto err_domain;
	ret = devm_of_clk_add_hw_provider(dev, resources_clock_get, s);
	if (ret)
		goto err_provider;
	s->folder = debugfs_create_dir("gtu-power-resources", NULL);
	debugfs_create_file("log", 0600, s->folder, s, &resources_log_file);
	debugfs_create_file("state", 0400, s->folder, s, &resources_state_fops);
	debugfs_create_file("fail", 0600, s->folder, s, &resources_fail_file);
	debugfs_create_u32("dead", 0600, s->folder, &s->dead);
	return 0;
err_provider:
	of_genpd_del_provider(dev->of_node);
err_domain:
	pm_genpd_remove(&s->power);
	return ret;
}

/* Before 6.11 the callback returns an int. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define REMOVED	0
static int resources_remove(struct platform_device *pdev)
#else
#define REMOVED
static void resources_remove(struct platform_device *pdev)
#endif
{
	struct resources *s = platform_get_drvdata(pdev);

	debugfs_remove_recursive(s->folder);
	of_genpd_del_provider(pdev->dev.of_node);
	if (pm_genpd_remove(&s->power))
		dev_err(&pdev->dev, "its power domain is still in use\n");
	return REMOVED;
}

static const struct of_device_id resources_ids[] = {
	{ .compatible = "gtu,test-power-resources" },
	{ }
};
MODULE_DEVICE_TABLE(of, resources_ids);

static struct platform_driver resources_driver = {
	.probe = resources_probe,
	.remove = resources_remove,
	.driver = {
		.name = "gtu-power-resources",
		.of_match_table = resources_ids,
	},
};
module_platform_driver(resources_driver);
MODULE_DESCRIPTION("A clock, a reset line and a power domain for tests of a GTU's driver");
MODULE_LICENSE("GPL");
