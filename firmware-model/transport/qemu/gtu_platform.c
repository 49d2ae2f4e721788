// SPDX-License-Identifier: MIT
/*
 * The device where nothing enumerates it: -device gtu-platform on a machine whose device tree says where it is.
 *
 *   -machine virt -device gtu-platform[,registers-at=0x0cff0000,doorbells-at=0x0b000000,aperture-at=0x0d000000,irq=176]
 *
 * It is no sysbus device, since a machine takes only those that it knows: it sits on no bus, maps itself into the
 * machine's memory where it is told, and raises inputs of the interrupt controller from `irq` on, one a vector. Its node
 * (driver/bindings/gtu.yaml) is added to the tree that the machine makes of itself, which goes to the guest after every
 * -device is there; a tree of the user's own, -dtb, stays as it is.
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

#define GIC_OWN		32u		/* interrupts of an ARM controller that are each processor's own */
#define SPI_CELL	0		/* the binding of ARM's controllers: a shared peripheral interrupt, */
#define EDGE_CELL	1		/* by its rising edge */

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
} places[] = {
	{ GTU_BAR_REGS, "registers", "registers-at" },
	{ GTU_BAR_DOORBELL, "doorbells", "doorbells-at" },
	{ GTU_BAR_APERTURE, "aperture", "aperture-at" },
};

static MemoryRegion *region(GtuPlatform *s, unsigned i)
{
	return gtu_qemu_region(&s->core, places[i].bar);
}

/* Edges, as driver/bindings/gtu.yaml has them. */
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

/* Shared peripheral interrupts of a controller: its unnamed inputs, less those that are a processor's own, behind them. */
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

/* The one of the property, or the only one of a kind that is known to number shared interrupts from input 0 on. */
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
		error_setg(errp, "interrupt-controller '%s' is no device, or more than one", s->controller);
	else
		error_setg(errp, "the machine has no ARM interrupt controller, or more than one: say which by "
			   "interrupt-controller=PATH");
	return NULL;
}

static bool wire(GtuPlatform *s, Error **errp)
{
	const unsigned vectors = gtu_qemu_config(&s->core)->vectors;
	DeviceState *controller = find_controller(s, errp);
	uint64_t there;
	unsigned i;

	if (!controller)
		return false;
	there = shared_inputs(controller);
	if (s->first_irq >= there || vectors > there - s->first_irq) {
		error_setg(errp, "irq=%u: interrupts %u to %" PRIu64 " are asked for, one a vector, and the controller has 0 to "
			   "%" PRIu64, s->first_irq, s->first_irq, (uint64_t)s->first_irq + vectors - 1, there - 1);
		return false;
	}
	for (i = 0; i < vectors; i++)
		s->irq[i] = qdev_get_gpio_in(controller, s->first_irq + i);
	return true;
}

/* Whether something of the machine answers there; windows in which nothing is (PCI's) are free. */
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

static void unplace(GtuPlatform *s, unsigned n)
{
	while (n--)
		memory_region_del_subregion(get_system_memory(), region(s, n));
}

static bool place(GtuPlatform *s, Error **errp)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		const uint64_t bytes = memory_region_size(region(s, i));
		bool fits = !(s->at[i] % 4096) && s->at[i] <= UINT64_MAX - bytes;

		if (!fits)
			error_setg(errp, "%s=0x%" PRIx64 " is no place for 0x%" PRIx64 " bytes: a multiple of 4096 is, at most "
				   "0x%" PRIx64, places[i].property, s->at[i], bytes, (UINT64_MAX - bytes) & ~(uint64_t)4095);
		if (!fits || is_taken(s->at[i], bytes, errp, places[i].property)) {
			unplace(s, i);
			return false;
		}
		memory_region_add_subregion_overlap(get_system_memory(), s->at[i], region(s, i), 1);
	}
	return true;
}

/* What Linux finds the device by. */
static void add_node(GtuPlatform *s, void *fdt)
{
	const unsigned vectors = gtu_qemu_config(&s->core)->vectors;
	const unsigned address_cells = qemu_fdt_getprop_cell(fdt, "/", "#address-cells", NULL, &error_fatal);
	const unsigned size_cells = qemu_fdt_getprop_cell(fdt, "/", "#size-cells", NULL, &error_fatal);
	g_autofree char *node = g_strdup_printf("/gtu@%" PRIx64, s->at[0]);
	g_autofree uint32_t *interrupts = g_new(uint32_t, 3 * vectors);
	uint32_t reg[4 * ARRAY_SIZE(places)];
	GString *names = g_string_new(NULL);
	unsigned i, n = 0;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		const uint64_t bytes = memory_region_size(region(s, i));

		if (address_cells > 1)
			reg[n++] = cpu_to_be32(s->at[i] >> 32);
		reg[n++] = cpu_to_be32(s->at[i]);
		if (size_cells > 1)
			reg[n++] = cpu_to_be32(bytes >> 32);
		reg[n++] = cpu_to_be32(bytes);
		g_string_append_len(names, places[i].name, strlen(places[i].name) + 1);
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
	if (!wire(s, errp) || !place(s, errp)) {
		gtu_qemu_unrealize(&s->core);
		gtu_unblock_migration(&s->blocker);
		return;
	}
	if (s->node && MACHINE(qdev_get_machine())->fdt)
		add_node(s, MACHINE(qdev_get_machine())->fdt);
	/* what is on no bus is not reset with one */
	qemu_register_reset(on_reset, s);
}

static void gtu_platform_finalize(Object *obj)
{
	gtu_qemu_finalize(&GTU_PLATFORM(obj)->core);
}

/* The places are free on `virt`: below and in the window of its bus for devices that it knows, of which there is none. */
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
