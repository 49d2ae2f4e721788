// SPDX-License-Identifier: MIT
/*
 * The device where nothing enumerates it: -device gtu-platform on a machine whose device tree says where it is.
 *
 *   -machine virt -dtb board.dtb -device gtu-platform,registers-at=0x10000000,doorbells-at=0x11000000,
 *                                aperture-at=0x12000000,irq=48
 *
 * It is no sysbus device, since a machine takes only those that it knows: it sits on no bus, maps itself into the
 * machine's memory where it is told, above what is there, and pulses inputs of the interrupt controller from `irq` on,
 * one a vector. The device tree is the user's (gtu fdt overlay writes its node); the machine knows nothing of it.
 */
#include "gtu_qemu.h"

#include "hw/irq.h"
#include "hw/qdev-core.h"
#if GTU_QEMU_VERSION >= 1000
#include "system/reset.h"
#else
#include "sysemu/reset.h"
#endif
#if GTU_QEMU_VERSION >= 1001
#include "system/address-spaces.h"
#else
#include "exec/address-spaces.h"
#endif

#define TYPE_GTU_PLATFORM	"gtu-platform"
OBJECT_DECLARE_SIMPLE_TYPE(GtuPlatform, GTU_PLATFORM)

struct GtuPlatform {
	DeviceState parent_obj;

	struct gtu_qemu core;
	qemu_irq irq[GTU_QEMU_VECTORS_MAX];
	Error *blocker;

	/* properties */
	struct gtu_dev_config device;
	bool map_aperture;
	uint64_t at[3];			/* registers, doorbells, aperture */
	uint32_t first_irq;
	char *controller;
};

static const unsigned bars[] = { GTU_BAR_REGS, GTU_BAR_DOORBELL, GTU_BAR_APERTURE };

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

/* Inputs of a controller that have no name. */
static unsigned inputs(DeviceState *controller)
{
	NamedGPIOList *list;

	QLIST_FOREACH(list, &controller->gpios, node) {
		if (!list->name)
			return list->num_in;
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
	unsigned i;

	if (!controller)
		return false;
	if (s->first_irq >= inputs(controller) || vectors > inputs(controller) - s->first_irq) {
		error_setg(errp, "interrupts %u to %" PRIu64 " are asked for, the controller has %u inputs", s->first_irq,
			   (uint64_t)s->first_irq + vectors - 1, inputs(controller));
		return false;
	}
	for (i = 0; i < vectors; i++)
		s->irq[i] = qdev_get_gpio_in(controller, s->first_irq + i);
	return true;
}

static bool place(GtuPlatform *s, Error **errp)
{
	uint64_t bytes;
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(bars); i++) {
		bytes = memory_region_size(gtu_qemu_region(&s->core, bars[i]));
		if (s->at[i] % 4096 || s->at[i] > UINT64_MAX - bytes) {
			error_setg(errp, "0x%" PRIx64 " is no place for 0x%" PRIx64 " bytes: a multiple of 4096 is, below the end "
				   "of addresses", s->at[i], bytes);
			return false;
		}
	}
	for (i = 0; i < ARRAY_SIZE(bars); i++)
		memory_region_add_subregion_overlap(get_system_memory(), s->at[i], gtu_qemu_region(&s->core, bars[i]), 1);
	return true;
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
	/* what is on no bus is not reset with one */
	qemu_register_reset(on_reset, s);
}

static void gtu_platform_finalize(Object *obj)
{
	gtu_qemu_finalize(&GTU_PLATFORM(obj)->core);
}

GTU_PROPERTIES gtu_platform_properties[] = {
	DEFINE_PROP_UINT64("registers-at", GtuPlatform, at[0], 0x10000000),
	DEFINE_PROP_UINT64("doorbells-at", GtuPlatform, at[1], 0x11000000),
	DEFINE_PROP_UINT64("aperture-at", GtuPlatform, at[2], 0x12000000),
	DEFINE_PROP_UINT32("irq", GtuPlatform, first_irq, 48),
	DEFINE_PROP_STRING("interrupt-controller", GtuPlatform, controller),
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
