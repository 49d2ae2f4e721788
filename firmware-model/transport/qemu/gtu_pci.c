// SPDX-License-Identifier: MIT
/* The device as a PCI Express function of QEMU: -device gtu-pci. */
#include "gtu_qemu.h"

#include "hw/pci/msix.h"
#include "hw/pci/pci.h"
#include "hw/pci/pci_bus.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_aer.h"
#if GTU_QEMU_VERSION >= 800
#include "hw/pci/pci_device.h"
#endif

#define TYPE_GTU_PCI	"gtu-pci"
OBJECT_DECLARE_SIMPLE_TYPE(GtuPci, GTU_PCI)

/*
 * Offsets of the capabilities: as in pci_function.c, and error reporting as the first extended one.
 */
#define CAP_EXP		0x40
#define CAP_MSIX	0x80
#define CAP_AER		0x100

struct GtuPci {
	PCIDevice parent_obj;

	struct gtu_qemu core;
	MemoryRegion msix;
	Error *blocker;
	uint64_t unsent;		/* vectors that wait for bus mastering */

	/* properties */
	struct gtu_dev_config device;
	bool map_aperture;
};

static bool may_master(PCIDevice *pci)
{
	return pci_get_word(pci->config + PCI_COMMAND) & PCI_COMMAND_MASTER;
}

/* Raise a vector; QEMU keeps masked vectors pending. */
static void on_irq(void *front, unsigned vector)
{
	GtuPci *s = front;
	PCIDevice *pci = PCI_DEVICE(s);

	if (!msix_enabled(pci))
		return;
	if (may_master(pci)) {
		msix_notify(pci, vector);
	} else {
		msix_set_pending(pci, vector);
		s->unsent |= 1ull << vector;
	}
}

static void send_unsent(GtuPci *s)
{
	PCIDevice *pci = PCI_DEVICE(s);
	uint64_t unsent = s->unsent;

	s->unsent = 0;
	for (; unsent; unsent &= unsent - 1) {
		msix_clr_pending(pci, ctz64(unsent));
		on_irq(s, ctz64(unsent));
	}
}

static void gtu_pci_reset(DeviceState *dev)
{
	GtuPci *s = GTU_PCI(dev);

	s->unsent = 0;
	gtu_qemu_reset(&s->core);
}

static void gtu_pci_config_write(PCIDevice *pci, uint32_t at, uint32_t value, int bytes)
{
	GtuPci *s = GTU_PCI(pci);

	pci_default_write_config(pci, at, value, bytes);
	pcie_aer_write_config(pci, at, value, bytes);
	/* this may reset the function and call gtu_pci_reset() */
	pcie_cap_flr_write_config(pci, at, value, bytes);
	if (!msix_enabled(pci))
		s->unsent = 0;
	if (s->unsent && may_master(pci))
		send_unsent(s);
}

/* The link of EMOGI's measurements: third generation, 16 lanes. */
static void set_link(PCIDevice *pci)
{
	uint8_t *exp = pci->config + CAP_EXP;

	pci_set_long(exp + PCI_EXP_LNKCAP, PCI_EXP_LNKCAP_SLS_8_0GB | 16 << 4);
	pci_set_word(exp + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_CLS_8_0GB | 16 << PCI_EXP_LNKSTA_NLW_SHIFT);
	pci_set_long(exp + PCI_EXP_LNKCAP2, PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB |
		     PCI_EXP_LNKCAP2_SLS_8_0GB);
}

static bool add_capabilities(GtuPci *s, Error **errp)
{
	PCIDevice *pci = PCI_DEVICE(s);
	unsigned i, vectors = gtu_qemu_config(&s->core)->vectors;

	/* QEMU inserts capabilities at the head of the list: add the first one last */
	memory_region_init(&s->msix, OBJECT(s), "gtu-msix", GTU_BAR_MSIX_SIZE);
	if (msix_init(pci, vectors, &s->msix, GTU_BAR_MSIX, 0, &s->msix, GTU_BAR_MSIX, GTU_MSIX_PBA, CAP_MSIX, errp))
		return false;
	for (i = 0; i < vectors; i++)
		msix_vector_use(pci, i);
	if (pcie_endpoint_cap_init(pci, CAP_EXP) < 0) {
		error_setg(errp, "cannot add the function's PCI Express capability");
		return false;
	}
	pcie_cap_flr_init(pci);
	set_link(pci);
	return pcie_aer_init(pci, PCI_ERR_VER, CAP_AER, PCI_ERR_SIZEOF, errp) >= 0;
}

static void drop_capabilities(GtuPci *s)
{
	PCIDevice *pci = PCI_DEVICE(s);

	if (pci->exp.aer_cap)
		pcie_aer_exit(pci);
	if (msix_present(pci))
		msix_uninit(pci, &s->msix, &s->msix);
	if (pci->exp.exp_cap)
		pcie_cap_exit(pci);
}

static void gtu_pci_realize(PCIDevice *pci, Error **errp)
{
	GtuPci *s = GTU_PCI(pci);
	const struct gtu_qemu_setup setup = {
		.owner = DEVICE(pci), .as = pci_get_address_space(pci), .device = &s->device,
		.map_aperture = s->map_aperture, .irq = on_irq, .front = s,
	};

	if (!pci_bus_is_express(pci_get_bus(pci))) {
		error_setg(errp, "the device is a PCI Express function, but bus '%s' is not PCI Express (use a machine such as q35 or virt)",
			   BUS(pci_get_bus(pci))->name);
		return;
	}
	error_setg(&s->blocker, "the graph traversal unit at %s cannot be migrated: its queues, jobs and memory exist only "
		   "here; unplug it first", DEVICE(pci)->id ? DEVICE(pci)->id : pci->name);
	if (!gtu_block_migration(&s->blocker, errp))
		return;
	if (!gtu_qemu_realize(&s->core, &setup, errp)) {
		gtu_unblock_migration(&s->blocker);
		return;
	}
	pci_register_bar(pci, GTU_BAR_REGS, 0, gtu_qemu_region(&s->core, GTU_BAR_REGS));
	pci_register_bar(pci, GTU_BAR_DOORBELL, PCI_BASE_ADDRESS_MEM_TYPE_64, gtu_qemu_region(&s->core, GTU_BAR_DOORBELL));
	pci_register_bar(pci, GTU_BAR_APERTURE, PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH,
			 gtu_qemu_region(&s->core, GTU_BAR_APERTURE));
	if (add_capabilities(s, errp)) {
		pci_register_bar(pci, GTU_BAR_MSIX, 0, &s->msix);
		return;
	}
	drop_capabilities(s);
	gtu_qemu_unrealize(&s->core);
	gtu_unblock_migration(&s->blocker);
}

static void gtu_pci_exit(PCIDevice *pci)
{
	GtuPci *s = GTU_PCI(pci);

	gtu_qemu_unrealize(&s->core);
	drop_capabilities(s);
	gtu_unblock_migration(&s->blocker);
}

static void gtu_pci_finalize(Object *obj)
{
	gtu_qemu_finalize(&GTU_PCI(obj)->core);
}

GTU_PROPERTIES gtu_pci_properties[] = {
	DEFINE_PROP_SIZE("aperture", GtuPci, device.aperture_bytes, 16 * MiB),
	DEFINE_PROP_BOOL("map-aperture", GtuPci, map_aperture, false),
	DEFINE_PROP_UINT32("contexts", GtuPci, device.contexts, 256),
	DEFINE_PROP_UINT32("queues", GtuPci, device.queues, 256),
	DEFINE_PROP_UINT32("vectors", GtuPci, device.vectors, 33),
	/* for tests: units to leave out (GTU_UNIT_*), and the width of the IRU's indices */
	DEFINE_PROP_UINT32("x-absent-units", GtuPci, device.absent_units, 0),
	DEFINE_PROP_UINT32("x-iru-index-bits", GtuPci, device.iru_index_bits, 32),
	GTU_PROPERTIES_END
};

static void gtu_pci_class_init(ObjectClass *klass, GTU_CLASS_DATA data)
{
	DeviceClass *dc = DEVICE_CLASS(klass);
	PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

	pc->realize = gtu_pci_realize;
	pc->exit = gtu_pci_exit;
	pc->config_write = gtu_pci_config_write;
	pc->vendor_id = GTU_PCI_VENDOR;
	pc->device_id = GTU_PCI_DEVICE;
	pc->subsystem_vendor_id = GTU_PCI_VENDOR;
	pc->subsystem_id = GTU_PCI_DEVICE;
	pc->revision = GTU_HW_VERSION >> 16;
	pc->class_id = GTU_PCI_CLASS >> 8;
	dc->desc = "graph traversal unit";
	set_bit(DEVICE_CATEGORY_MISC, dc->categories);
	gtu_class_set_reset(dc, gtu_pci_reset);
	device_class_set_props(dc, gtu_pci_properties);
}

GTU_INTERFACES gtu_pci_interfaces[] = { { INTERFACE_PCIE_DEVICE }, { } };

static const TypeInfo gtu_pci_info = {
	.name = TYPE_GTU_PCI,
	.parent = TYPE_PCI_DEVICE,
	.instance_size = sizeof(GtuPci),
	.instance_finalize = gtu_pci_finalize,
	.class_init = gtu_pci_class_init,
	.interfaces = gtu_pci_interfaces,
};

static void gtu_pci_register(void)
{
	type_register_static(&gtu_pci_info);
}
type_init(gtu_pci_register)
