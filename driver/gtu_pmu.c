// SPDX-License-Identifier: GPL-2.0-only
/*
 * Performance monitoring: the counters of a device as events of perf, for
 * example "perf stat -e gtu0/iru_in/". The PMU gtuN is registered with the first
 * device of that number and stays until the module is unloaded, because open
 * events refer to it: without a device they do not count.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "gtu_drv.h"

/* config of an event: bits 0 to 7 the unit's page, 8 to 15 the counter's number */
#define GTU_EVENT_UNIT(config)		((config) & 0xff)
#define GTU_EVENT_COUNTER(config)	((config) >> 8 & 0xff)

struct gtu_pmu {
	struct pmu pmu;
	struct hlist_node node;		/* of the CPU hotplug state */
	char name[16];
	unsigned int cpu;		/* that counts for all */
	u32 units;			/* of the device that it was registered with */
	raw_spinlock_t lock;		/* protects the next two */
	struct gtu_device *gtu;		/* NULL: removed */
	u64 before[GTU_UNIT_PAGES][GTU_UREG_COUNTERS]; /* values of the devices that were removed */
};

static struct gtu_pmu *gtu_pmus[GTU_MINORS];
static enum cpuhp_state gtu_pmu_state;
static char gtu_event_names[GTU_FIELDS][40];
static struct device_attribute gtu_event_attrs[GTU_FIELDS];
static struct attribute *gtu_event_list[GTU_FIELDS + 1];

static struct gtu_pmu *gtu_pmu_of(struct pmu *pmu)
{
	return container_of(pmu, struct gtu_pmu, pmu);
}

/* Values that can fall are no events. */
static bool gtu_field_is_event(const struct gtu_field *f)
{
	return gtu_field_is_counter(f) &&
	       f->offset != GTU_PAGE_ZCM + GTU_UREG_COUNTER(GTU_ZCM_C_FLIGHT_NOW) &&
	       f->offset != GTU_PAGE_ZCM + GTU_UREG_COUNTER(GTU_ZCM_C_FLIGHT_MAX);
}

static u32 gtu_event_offset(u64 config)
{
	return GTU_EVENT_UNIT(config) * GTU_PAGE + GTU_UREG_COUNTER(GTU_EVENT_COUNTER(config));
}

static bool gtu_event_valid(u64 config)
{
	const struct gtu_field *f;

	for (f = gtu_fields; f < gtu_fields + GTU_FIELDS; f++)
		if (gtu_field_is_event(f) && f->offset == gtu_event_offset(config))
			return !(config >> 16);
	return false;
}

static ssize_t gtu_event_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	u32 offset = gtu_fields[attr - gtu_event_attrs].offset;

	return sysfs_emit(buf, "unit=%#x,counter=%#x\n", offset / GTU_PAGE,
			  (u32)(offset % GTU_PAGE - GTU_UREG_COUNTER(0)) / 8);
}

static umode_t gtu_event_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	struct pmu *pmu = dev_get_drvdata(kobj_to_dev(kobj));
	struct device_attribute *a = container_of(attr, struct device_attribute, attr);
	const struct gtu_field *f = &gtu_fields[a - gtu_event_attrs];

	return gtu_pmu_of(pmu)->units & BIT(gtu_field_unit(f)) ? attr->mode : 0;
}

static const struct attribute_group gtu_event_group = {
	.name = "events",
	.attrs = gtu_event_list,
	.is_visible = gtu_event_visible,
};

PMU_FORMAT_ATTR(unit, "config:0-7");
PMU_FORMAT_ATTR(counter, "config:8-15");

static struct attribute *gtu_format_attrs[] = {
	&format_attr_unit.attr,
	&format_attr_counter.attr,
	NULL
};

static const struct attribute_group gtu_format_group = {
	.name = "format",
	.attrs = gtu_format_attrs,
};

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct pmu *pmu = dev_get_drvdata(dev);

	return cpumap_print_to_pagebuf(true, buf, cpumask_of(gtu_pmu_of(pmu)->cpu));
}
static DEVICE_ATTR_RO(cpumask);

static struct attribute *gtu_cpumask_attrs[] = { &dev_attr_cpumask.attr, NULL };

static const struct attribute_group gtu_cpumask_group = { .attrs = gtu_cpumask_attrs };

static const struct attribute_group *gtu_pmu_groups[] = {
	&gtu_event_group,
	&gtu_format_group,
	&gtu_cpumask_group,
	NULL
};

/* The counter's value, or the last one of a device that was removed. */
static u64 gtu_event_value(struct perf_event *event)
{
	struct gtu_pmu *p = gtu_pmu_of(event->pmu);
	u64 config = event->attr.config, value;
	unsigned long flags;

	raw_spin_lock_irqsave(&p->lock, flags);
	if (p->gtu)
		value = gtu_counter_now(p->gtu, gtu_event_offset(config));
	else
		value = p->before[GTU_EVENT_UNIT(config) - 1][GTU_EVENT_COUNTER(config)];
	raw_spin_unlock_irqrestore(&p->lock, flags);
	return value;
}

static void gtu_event_read(struct perf_event *event)
{
	u64 now = gtu_event_value(event);

	local64_add(now - local64_xchg(&event->hw.prev_count, now), &event->count);
}

static void gtu_event_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
	local64_set(&event->hw.prev_count, gtu_event_value(event));
}

static void gtu_event_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	gtu_event_read(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int gtu_event_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		gtu_event_start(event, flags);
	return 0;
}

static void gtu_event_del(struct perf_event *event, int flags)
{
	gtu_event_stop(event, flags);
}

/* perf has checked the caller's privilege: an event that is not of a task counts for all. */
static int gtu_event_init(struct perf_event *event)
{
	struct gtu_pmu *p = gtu_pmu_of(event->pmu);
	u64 config = event->attr.config;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (is_sampling_event(event) || event->attach_state & PERF_ATTACH_TASK)
		return -EOPNOTSUPP;
	if (event->cpu < 0 || !gtu_event_valid(config) ||
	    event->attr.config1 || event->attr.config2)
		return -EINVAL;
	if (!READ_ONCE(p->gtu) || !(p->units & BIT(GTU_EVENT_UNIT(config) - 1)))
		return -ENODEV;
	event->cpu = p->cpu;
	return 0;
}

static int gtu_pmu_cpu_offline(unsigned int cpu, struct hlist_node *node)
{
	struct gtu_pmu *p = hlist_entry_safe(node, struct gtu_pmu, node);
	unsigned int target = cpumask_any_but(cpu_online_mask, cpu);

	if (cpu != p->cpu || target >= nr_cpu_ids)
		return 0;
	perf_pmu_migrate_context(&p->pmu, cpu, target);
	p->cpu = target;
	return 0;
}

/**
 * gtu_pmu_attach() - offer a device's counters as events of perf
 * @gtu: the device; without memory or a free PMU number it works without events
 */
void gtu_pmu_attach(struct gtu_device *gtu)
{
	struct gtu_pmu *p = gtu_pmus[gtu->number];
	unsigned long flags;

	if (!p) {
		p = kzalloc(sizeof(*p), GFP_KERNEL);
		if (!p)
			return;
		raw_spin_lock_init(&p->lock);
		snprintf(p->name, sizeof(p->name), GTU_NAME "%d", gtu->number);
		p->units = gtu->units;
		p->cpu = raw_smp_processor_id();
		p->pmu = (struct pmu){
			.module = THIS_MODULE,
			.task_ctx_nr = perf_invalid_context,
			.capabilities = PERF_PMU_CAP_NO_INTERRUPT | PERF_PMU_CAP_NO_EXCLUDE,
			.attr_groups = gtu_pmu_groups,
			.event_init = gtu_event_init,
			.add = gtu_event_add,
			.del = gtu_event_del,
			.start = gtu_event_start,
			.stop = gtu_event_stop,
			.read = gtu_event_read,
		};
		if (perf_pmu_register(&p->pmu, p->name, -1)) {
			kfree(p);
			return;
		}
		if (gtu_pmu_state > 0)
			cpuhp_state_add_instance_nocalls(gtu_pmu_state, &p->node);
		/* the CPU may be offline by now, and the callback did not know the instance */
		cpus_read_lock();
		if (!cpu_online(p->cpu))
			p->cpu = raw_smp_processor_id();
		cpus_read_unlock();
		gtu_pmus[gtu->number] = p;
	}
	raw_spin_lock_irqsave(&p->lock, flags);
	p->units = gtu->units;
	p->gtu = gtu;
	raw_spin_lock(&gtu->counter_lock);
	memcpy(gtu->cleared, p->before, sizeof(p->before));
	raw_spin_unlock(&gtu->counter_lock);
	raw_spin_unlock_irqrestore(&p->lock, flags);
}

/**
 * gtu_pmu_detach() - end the accesses of events to a device
 * @gtu: the device
 */
void gtu_pmu_detach(struct gtu_device *gtu)
{
	struct gtu_pmu *p = gtu_pmus[gtu->number];
	unsigned int page, n;
	unsigned long flags;

	if (!p)
		return;
	gtu_counters_update(gtu);
	raw_spin_lock_irqsave(&p->lock, flags);
	p->gtu = NULL;
	raw_spin_lock(&gtu->counter_lock);
	for (page = 0; page < GTU_UNIT_PAGES; page++)
		for (n = 0; n < GTU_UREG_COUNTERS; n++)
			p->before[page][n] = gtu->cleared[page][n] + gtu->last[page][n];
	raw_spin_unlock(&gtu->counter_lock);
	raw_spin_unlock_irqrestore(&p->lock, flags);
}

/**
 * gtu_pmu_init() - make the list of events
 *
 * Once at module init, after gtu_sysfs_init().
 */
void gtu_pmu_init(void)
{
	unsigned int i, n = 0;
	int state;

	for (i = 0; i < GTU_FIELDS; i++) {
		const struct gtu_field *f = &gtu_fields[i];
		struct device_attribute *a = &gtu_event_attrs[i];

		if (!gtu_field_is_event(f))
			continue;
		snprintf(gtu_event_names[i], sizeof(gtu_event_names[i]), "%s_%s",
			 gtu_unit_names[gtu_field_unit(f)], f->name);
		sysfs_attr_init(&a->attr);
		a->attr.name = gtu_event_names[i];
		a->attr.mode = 0444;
		a->show = gtu_event_show;
		gtu_event_list[n++] = &a->attr;
	}
	state = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, "perf/gtu:online", NULL,
					gtu_pmu_cpu_offline);
	gtu_pmu_state = max(state, 0);
}

/**
 * gtu_pmu_exit() - unregister all PMUs
 *
 * No event is open, because each holds the module.
 */
void gtu_pmu_exit(void)
{
	struct gtu_pmu *p;
	unsigned int i;

	for (i = 0; i < GTU_MINORS; i++) {
		p = gtu_pmus[i];
		if (!p)
			continue;
		if (gtu_pmu_state > 0)
			cpuhp_state_remove_instance_nocalls(gtu_pmu_state, &p->node);
		perf_pmu_unregister(&p->pmu);
		kfree(p);
	}
	if (gtu_pmu_state > 0)
		cpuhp_remove_multi_state(gtu_pmu_state);
}
