// SPDX-License-Identifier: MIT
/*
 * The device without enumeration: -device gtu-platform on a machine with a device tree.
 *
 *   -machine virt -device gtu-platform[,registers-at=0x0cff0000,doorbells-at=0x0b000000,aperture-at=0x0d000000,irq=176]
 *
 * It is not a sysbus device because machines accept only sysbus devices that they know. It maps
 * itself into the machine's memory at the given addresses, and raises inputs of the interrupt
 * controller from `irq` on, one per vector. Its node (driver/bindings/gtu.yaml) is added to the
 * tree that the machine generates, which the guest gets after all -device options are processed. A
 * tree given by -dtb is not changed.
 */
#include "gtu_qemu.h"

#include "hw/irq.h"
#include "hw/qdev-core.h"
#include "hw/boards.h"
#if GTU_QEMU_VERSION >= 1000
#include "system/device_tree.h"
#include "system/reset.h"
#else
#include "sysemu/device_tree.h"
#include "sysemu/reset.h"
#endif
#if GTU_QEMU_VERSION >= 1001
#include "system/address-spaces.h"
#include "system/ioport.h"
#else
#include "exec/address-spaces.h"
#include "exec/ioport.h"
#endif

#define TYPE_GTU_PLATFORM	"gtu-platform"
OBJECT_DECLARE_SIMPLE_TYPE(GtuPlatform, GTU_PLATFORM)

#define GIC_OWN		32u		/* inputs of an ARM controller that are private to a processor */
#define SPI_CELL	0		/* binding of ARM's controllers: a shared peripheral interrupt, */
#define EDGE_CELL	1		/* rising edge */

struct GtuPlatform {
	DeviceState parent_obj;

	struct gtu_qemu core;
	qemu_irq irq[GTU_QEMU_VECTORS_MAX];
	Error *blocker;

	/* properties */
	struct gtu_dev_config device;
	bool map_aperture, node;
	uint64_t at[3];			/* registers, doorbells, aperture */
	uint32_t first_irq;
	char *controller;
};

/* In the order of the binding's reg-names. */
static const struct {
	unsigned bar;
	const char *name, *property;
} ranges[] = {
	{ GTU_BAR_REGS, "registers", "registers-at" },
	{ GTU_BAR_DOORBELL, "doorbells", "doorbells-at" },
	{ GTU_BAR_APERTURE, "aperture", "aperture-at" },
};

static MemoryRegion *region(GtuPlatform *s, unsigned i)
{
	return gtu_qemu_region(&s->core, ranges[i].bar);
}

/* Interrupts are edges (driver/bindings/gtu.yaml). */
static void on_irq(void *front, unsigned vector)
{
	GtuPlatform *s = front;

	qemu_irq_pulse(s->irq[vector]);
}

static void on_reset(void *opaque)
{
	GtuPlatform *s = opaque;

	gtu_qemu_reset(&s->core);
}

/*
 * The number of shared peripheral interrupts of a controller: its unnamed inputs without the
 * private ones, which come last.
 */
static uint64_t shared_inputs(DeviceState *controller)
{
	uint64_t all = object_property_get_uint(OBJECT(controller), "num-irq", NULL);
	NamedGPIOList *list;

	QLIST_FOREACH(list, &controller->gpios, node) {
		if (!list->name)
			return all > GIC_OWN ? MIN((uint64_t)list->num_in, all - GIC_OWN) : list->num_in;
	}
	return 0;
}

/*
 * The controller given by the property, or the only one of a kind whose shared interrupts start at
 * input 0.
 */
static DeviceState *find_controller(GtuPlatform *s, Error **errp)
{
	static const char *const kinds[] = { "arm_gic_common", "arm-gicv3-common" };
	Object *found = NULL;
	bool ambiguous = false;
	unsigned i;

	if (s->controller)
		found = object_resolve_path(s->controller, &ambiguous);
	for (i = 0; !s->controller && !found && !ambiguous && i < ARRAY_SIZE(kinds); i++)
		found = object_resolve_path_type("", kinds[i], &ambiguous);
	if (found && !ambiguous && object_dynamic_cast(found, TYPE_DEVICE))
		return DEVICE(found);
	if (s->controller)
		error_setg(errp, "interrupt-controller '%s' is not a device, or is ambiguous", s->controller);
	else
		error_setg(errp, "the machine does not have exactly one ARM interrupt controller: select one by "
			   "interrupt-controller=PATH");
	return NULL;
}

static bool wire(GtuPlatform *s, Error **errp)
{
	const unsigned vectors = gtu_qemu_config(&s->core)->vectors;
	DeviceState *controller = find_controller(s, errp);
	uint64_t inputs;
	unsigned i;

	if (!controller)
		return false;
	inputs = shared_inputs(controller);
	if (s->first_irq >= inputs || vectors > inputs - s->first_irq) {
		error_setg(errp, "irq=%u: interrupts %u to %" PRIu64 " are needed, one per vector, but the controller has 0 to "
			   "%" PRIu64, s->first_irq, s->first_irq, (uint64_t)s->first_irq + vectors - 1, inputs - 1);
		return false;
	}
	for (i = 0; i < vectors; i++)
		s->irq[i] = qdev_get_gpio_in(controller, s->first_irq + i);
	return true;
}

/* Whether another region of the machine responds in the range; unused windows (of PCI) are free. */
static bool is_taken(uint64_t at, uint64_t bytes, Error **errp, const char *property)
{
	const uint64_t end = at + bytes;
	uint64_t next = at;

	while (next < end) {
		MemoryRegionSection found = memory_region_find(get_system_memory(), next, end - next);
		const bool nothing = !found.mr || found.mr->ops == &unassigned_io_ops;

		if (!nothing)
			error_setg(errp, "%s=0x%" PRIx64 ": at 0x%" PRIx64 " of these 0x%" PRIx64 " bytes is the machine's '%s'",
				   property, at, found.offset_within_address_space, bytes, memory_region_name(found.mr));
		next = found.mr ? found.offset_within_address_space + int128_get64(found.size) : end;
		if (found.mr)
			memory_region_unref(found.mr);
		if (!nothing)
			return true;
	}
	return false;
}

static void unmap_ranges(GtuPlatform *s, unsigned n)
{
	while (n--)
		memory_region_del_subregion(get_system_memory(), region(s, n));
}

static bool map_ranges(GtuPlatform *s, Error **errp)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		const uint64_t bytes = memory_region_size(region(s, i));
		bool fits = !(s->at[i] % 4096) && s->at[i] <= UINT64_MAX - bytes;

		if (!fits)
			error_setg(errp, "%s=0x%" PRIx64 " cannot hold 0x%" PRIx64 " bytes: it must be a multiple of 4096, at most "
				   "0x%" PRIx64, ranges[i].property, s->at[i], bytes, (UINT64_MAX - bytes) & ~(uint64_t)4095);
		if (!fits || is_taken(s->at[i], bytes, errp, ranges[i].property)) {
			unmap_ranges(s, i);
			return false;
		}
		memory_region_add_subregion_overlap(get_system_memory(), s->at[i], region(s, i), 1);
	}
	return true;
}

/* Add the device tree node by which Linux finds the device. */
static void add_node(GtuPlatform *s, void *fdt)
{
	const unsigned vectors = gtu_qemu_config(&s->core)->vectors;
	const unsigned address_cells = qemu_fdt_getprop_cell(fdt, "/", "#address-cells", NULL, &error_fatal);
	const unsigned size_cells = qemu_fdt_getprop_cell(fdt, "/", "#size-cells", NULL, &error_fatal);
	g_autofree char *node = g_strdup_printf("/gtu@%" PRIx64, s->at[0]);
	g_autofree uint32_t *interrupts = g_new(uint32_t, 3 * vectors);
	uint32_t reg[4 * ARRAY_SIZE(ranges)];
	GString *names = g_string_new(NULL);
	unsigned i, n = 0;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		const uint64_t bytes = memory_region_size(region(s, i));

		if (address_cells > 1)
			reg[n++] = cpu_to_be32(s->at[i] >> 32);
		reg[n++] = cpu_to_be32(s->at[i]);
		if (size_cells > 1)
			reg[n++] = cpu_to_be32(bytes >> 32);
		reg[n++] = cpu_to_be32(bytes);
		g_string_append_len(names, ranges[i].name, strlen(ranges[i].name) + 1);
	}
	for (i = 0; i < vectors; i++) {
		interrupts[3 * i] = cpu_to_be32(SPI_CELL);
		interrupts[3 * i + 1] = cpu_to_be32(s->first_irq + i);
		interrupts[3 * i + 2] = cpu_to_be32(EDGE_CELL);
	}
	qemu_fdt_add_subnode(fdt, node);
	qemu_fdt_setprop_string(fdt, node, "compatible", "gtu,gtu-1");
	qemu_fdt_setprop(fdt, node, "reg", reg, n * sizeof(*reg));
	qemu_fdt_setprop(fdt, node, "reg-names", names->str, names->len);
	qemu_fdt_setprop(fdt, node, "interrupts", interrupts, 3 * vectors * sizeof(*interrupts));
	qemu_fdt_setprop(fdt, node, "dma-coherent", NULL, 0);
	g_string_free(names, true);
}

static void gtu_platform_realize(DeviceState *dev, Error **errp)
{
	GtuPlatform *s = GTU_PLATFORM(dev);
	const struct gtu_qemu_setup setup = {
		.owner = dev, .as = &address_space_memory, .device = &s->device,
		.map_aperture = s->map_aperture, .irq = on_irq, .front = s,
	};

	error_setg(&s->blocker, "the graph traversal unit at 0x%" PRIx64 " cannot be migrated: its queues, jobs and memory "
		   "exist only here", s->at[0]);
	if (!gtu_block_migration(&s->blocker, errp))
		return;
	if (!gtu_qemu_realize(&s->core, &setup, errp)) {
		gtu_unblock_migration(&s->blocker);
		return;
	}
	if (!wire(s, errp) || !map_ranges(s, errp)) {
		gtu_qemu_unrealize(&s->core);
		gtu_unblock_migration(&s->blocker);
		return;
	}
	if (s->node && MACHINE(qdev_get_machine())->fdt)
		add_node(s, MACHINE(qdev_get_machine())->fdt);
	/* the device is on no bus whose reset would reach it */
	qemu_register_reset(on_reset, s);
}

static void gtu_platform_finalize(Object *obj)
{
	gtu_qemu_finalize(&GTU_PLATFORM(obj)->core);
}

/*
 * The default addresses are free on `virt`: below and in the window of its platform bus, which has
 * no devices.
 */
GTU_PROPERTIES gtu_platform_properties[] = {
	DEFINE_PROP_UINT64("registers-at", GtuPlatform, at[0], 0x0cff0000),
	DEFINE_PROP_UINT64("doorbells-at", GtuPlatform, at[1], 0x0b000000),
	DEFINE_PROP_UINT64("aperture-at", GtuPlatform, at[2], 0x0d000000),
	DEFINE_PROP_UINT32("irq", GtuPlatform, first_irq, 176),
	DEFINE_PROP_STRING("interrupt-controller", GtuPlatform, controller),
	DEFINE_PROP_BOOL("node", GtuPlatform, node, true),
	DEFINE_PROP_SIZE("aperture", GtuPlatform, device.aperture_bytes, 16 * MiB),
	DEFINE_PROP_BOOL("map-aperture", GtuPlatform, map_aperture, false),
	DEFINE_PROP_UINT32("contexts", GtuPlatform, device.contexts, 256),
	DEFINE_PROP_UINT32("queues", GtuPlatform, device.queues, 256),
	DEFINE_PROP_UINT32("vectors", GtuPlatform, device.vectors, 33),
	GTU_PROPERTIES_END
};

static void gtu_platform_class_init(ObjectClass *klass, GTU_CLASS_DATA data)
{
	DeviceClass *dc = DEVICE_CLASS(klass);

	dc->realize = gtu_platform_realize;
	dc->desc = "graph traversal unit without PCI";
	dc->hotpluggable = false;
	dc->user_creatable = true;
	set_bit(DEVICE_CATEGORY_MISC, dc->categories);
	device_class_set_props(dc, gtu_platform_properties);
}

static const TypeInfo gtu_platform_info = {
	.name = TYPE_GTU_PLATFORM,
	.parent = TYPE_DEVICE,
	.instance_size = sizeof(GtuPlatform),
	.instance_finalize = gtu_platform_finalize,
	.class_init = gtu_platform_class_init,
};

static void gtu_platform_register(void)
{
	type_register_static(&gtu_platform_info);
}
type_init(gtu_platform_register)
