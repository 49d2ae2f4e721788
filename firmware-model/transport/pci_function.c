// SPDX-License-Identifier: MIT
/* Implements the PCI function of the device model: configuration space, MSI-X, accesses, faults. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/pci_regs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uapi/gtu/hw.h"
#include "pci_function.h"

/* Offsets of the capabilities in configuration space. */
#define CAP_EXP		0x40
#define CAP_MSIX	0x80

#define VECTORS_MAX	((GTU_MSIX_PBA) / PCI_MSIX_ENTRY_SIZE)

struct pci_function {
	struct gtu_dev *dev;
	struct dma_table memory;
	int aperture_fd;
	void *aperture;
	uint64_t aperture_bytes;
	unsigned vectors;
	int irq_fd[VECTORS_MAX];
	unsigned irq_fds;			/* number of valid irq_fd[] */
	uint8_t config[PCI_CONFIG_BYTES], writable[PCI_CONFIG_BYTES];	/* writable: mask */
	uint8_t msix[GTU_BAR_MSIX_SIZE];	/* table, then pending bits */
	uint64_t fault[PCI_FAULTS], accesses, interrupts;
	uint64_t master_clears;		/* times that bus mastering was cleared */
	bool stalled, removed, died, blocked;
	enum gtu_bug bug;
};

/* ---- Configuration space --------------------------------------------------------------------- */

static void put(uint8_t *at, unsigned bytes, uint64_t value)
{
	for (; bytes--; value >>= 8)
		*at++ = (uint8_t)value;
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

static void set(struct pci_function *f, unsigned at, unsigned bytes, uint64_t value, uint64_t writable)
{
	put(&f->config[at], bytes, value);
	put(&f->writable[at], bytes, writable);
}

static void set_bar(struct pci_function *f, unsigned bar, uint32_t flags)
{
	unsigned bytes = flags & PCI_BASE_ADDRESS_MEM_TYPE_64 ? 8 : 4;
	/* after writing ones, sizing reads back the bits that are multiples of the size */
	uint64_t mask = ~(pci_function_size(f, bar) - 1);

	if (!pci_function_size(f, bar))
		return;
	set(f, PCI_BASE_ADDRESS_0 + 4 * bar, bytes, flags, mask & ~0xfull);
}

/* Set configuration space and MSI-X to their state after power-on and reset. */
static void reset_config(struct pci_function *f)
{
	unsigned i;

	memset(f->config, 0, sizeof(f->config));
	memset(f->writable, 0, sizeof(f->writable));
	set(f, PCI_VENDOR_ID, 2, GTU_PCI_VENDOR, 0);
	set(f, PCI_DEVICE_ID, 2, GTU_PCI_DEVICE, 0);
	set(f, PCI_COMMAND, 2, 0, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY |
	    PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE);
	set(f, PCI_STATUS, 2, PCI_STATUS_CAP_LIST, 0);
	set(f, PCI_REVISION_ID, 1, GTU_HW_VERSION >> 16, 0);
	set(f, PCI_CLASS_PROG, 3, GTU_PCI_CLASS, 0);
	set(f, PCI_CACHE_LINE_SIZE, 1, 0, 0xff);
	set(f, PCI_SUBSYSTEM_VENDOR_ID, 2, GTU_PCI_VENDOR, 0);
	set(f, PCI_SUBSYSTEM_ID, 2, GTU_PCI_DEVICE, 0);
	set(f, PCI_CAPABILITY_LIST, 1, CAP_EXP, 0);
	set(f, PCI_INTERRUPT_LINE, 1, 0, 0xff);

	set_bar(f, GTU_BAR_REGS, 0);
	set_bar(f, GTU_BAR_MSIX, 0);
	set_bar(f, GTU_BAR_DOORBELL, PCI_BASE_ADDRESS_MEM_TYPE_64);
	set_bar(f, GTU_BAR_APERTURE, PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH);

	set(f, CAP_EXP, 2, PCI_CAP_ID_EXP | CAP_MSIX << 8, 0);
	set(f, CAP_EXP + PCI_EXP_FLAGS, 2, 2 | PCI_EXP_TYPE_ENDPOINT << 4, 0);
	set(f, CAP_EXP + PCI_EXP_DEVCAP, 4,
	    PCI_EXP_DEVCAP_FLR | PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_EXT_TAG | 1 /* 256 bytes */, 0);
	/* config_write() acts on the reset bit, which reads as zero */
	set(f, CAP_EXP + PCI_EXP_DEVCTL, 2, PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_NOSNOOP_EN |
	    PCI_EXP_DEVCTL_READRQ_512B, 0xffff & ~PCI_EXP_DEVCTL_AUX_PME);
	/* the link of EMOGI's measurements: third generation, 16 lanes */
	set(f, CAP_EXP + PCI_EXP_LNKCAP, 4, PCI_EXP_LNKCAP_SLS_8_0GB | 16 << 4, 0);
	set(f, CAP_EXP + PCI_EXP_LNKCTL, 2, 0, PCI_EXP_LNKCTL_ASPMC | PCI_EXP_LNKCTL_CCC);
	set(f, CAP_EXP + PCI_EXP_LNKSTA, 2, PCI_EXP_LNKSTA_CLS_8_0GB | 16 << PCI_EXP_LNKSTA_NLW_SHIFT, 0);
	set(f, CAP_EXP + PCI_EXP_DEVCAP2, 4, PCI_EXP_DEVCAP2_COMP_TMOUT_DIS, 0);
	set(f, CAP_EXP + PCI_EXP_DEVCTL2, 2, 0, PCI_EXP_DEVCTL2_COMP_TMOUT_DIS);
	set(f, CAP_EXP + PCI_EXP_LNKCAP2, 4, PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB |
	    PCI_EXP_LNKCAP2_SLS_8_0GB, 0);
	set(f, CAP_EXP + PCI_EXP_LNKCTL2, 2, PCI_EXP_LNKCTL2_TLS_8_0GT, 0xf);

	set(f, CAP_MSIX, 2, PCI_CAP_ID_MSIX, 0);
	set(f, CAP_MSIX + PCI_MSIX_FLAGS, 2, f->vectors - 1, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	set(f, CAP_MSIX + PCI_MSIX_TABLE, 4, GTU_BAR_MSIX, 0);
	set(f, CAP_MSIX + PCI_MSIX_PBA, 4, GTU_MSIX_PBA | GTU_BAR_MSIX, 0);
	memset(f->msix, 0, sizeof(f->msix));
	for (i = 0; i < f->vectors; i++)
		put(&f->msix[i * PCI_MSIX_ENTRY_SIZE + PCI_MSIX_ENTRY_VECTOR_CTRL], 4,
		    PCI_MSIX_ENTRY_CTRL_MASKBIT);
}

static bool may_master(const struct pci_function *f)
{
	return get(&f->config[PCI_COMMAND], 2) & PCI_COMMAND_MASTER;
}

/* ---- Interrupts ------------------------------------------------------------------------------ */

static uint8_t *pending_byte(struct pci_function *f, unsigned vector)
{
	return &f->msix[GTU_MSIX_PBA + vector / 8];
}

/*
 * The peer keeps the MSI-X table of its guest and decides which vectors are masked. A vector
 * without eventfd is masked and becomes pending. While no vector has an eventfd, MSI-X is off and
 * nothing becomes pending.
 */
static void deliver(struct pci_function *f, unsigned vector)
{
	const uint64_t one = 1;
	struct pollfd p = { .fd = f->irq_fd[vector], .events = POLLOUT };

	if (p.fd < 0 || !may_master(f) || f->blocked) {
		*pending_byte(f, vector) |= 1u << vector % 8;
		return;
	}
	/* a full eventfd signals an interrupt already; writing would block the device */
	if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT) || write(p.fd, &one, sizeof(one)) > 0)
		return;
	f->blocked = errno == EINTR;
	*pending_byte(f, vector) |= 1u << vector % 8;
}

bool pci_function_blocked(const struct pci_function *f)
{
	return f->blocked;
}

void pci_function_raise(struct pci_function *f, unsigned vector)
{
	const uint64_t every = f->fault[PCI_FAULT_LOSE_IRQ];

	if (vector >= f->vectors || !f->irq_fds || f->removed)
		return;
	if (every && !(++f->interrupts % every))
		return;
	deliver(f, vector);
}

static void send_pending(struct pci_function *f)
{
	unsigned i;

	for (i = 0; may_master(f) && i < f->vectors; i++) {
		if (f->irq_fd[i] < 0 || !(*pending_byte(f, i) & 1u << i % 8))
			continue;
		*pending_byte(f, i) &= ~(1u << i % 8);
		deliver(f, i);
	}
}

void pci_function_set_irq(struct pci_function *f, unsigned vector, int fd)
{
	if (fd < 0 && f->bug == GTU_BUG_MSIX_MASK)
		return;
	if (f->irq_fd[vector] >= 0) {
		close(f->irq_fd[vector]);
		f->irq_fds--;
	}
	f->irq_fd[vector] = fd;
	if (fd >= 0) {
		f->irq_fds++;
		send_pending(f);
	} else if (!f->irq_fds) {
		memset(&f->msix[GTU_MSIX_PBA], 0, sizeof(f->msix) - GTU_MSIX_PBA);
	}
}

/* ---- The device's side ------------------------------------------------------------------------ */

static void *host_dma(void *host, uint64_t addr, uint64_t *len, bool write)
{
	struct pci_function *f = host;

	return may_master(f) ? dma_table_find(&f->memory, addr, len, write) : NULL;
}

static void host_irq(void *host, unsigned vector)
{
	pci_function_raise(host, vector);
}

static const struct gtu_host_ops host_ops = { .dma = host_dma, .irq = host_irq };

/* Count an access and trigger the faults that depend on the count. */
static void count_access(struct pci_function *f)
{
	const uint64_t *at = f->fault, n = ++f->accesses;

	f->stalled |= at[PCI_FAULT_STALL] && n >= at[PCI_FAULT_STALL];
	f->removed |= at[PCI_FAULT_ALL_ONES] && n >= at[PCI_FAULT_ALL_ONES];
	if (at[PCI_FAULT_DIE_AT] && n >= at[PCI_FAULT_DIE_AT]) {
		fprintf(stderr, "gtu serve: killed at access %" PRIu64 " by --fault die-at\n", n);
		f->died = true;
	}
}

bool pci_function_died(const struct pci_function *f)
{
	return f->died;
}

void pci_function_step(struct pci_function *f, uint64_t budget)
{
	if (pci_function_pending(f))
		gtu_dev_step(f->dev, budget);
}

bool pci_function_pending(const struct pci_function *f)
{
	return !f->stalled && !f->removed && gtu_dev_pending(f->dev);
}

bool pci_function_waiting(struct pci_function *f)
{
	return !f->stalled && !f->removed && !gtu_dev_pending(f->dev) && gtu_dev_busy(f->dev);
}

void pci_function_idle(struct pci_function *f, uint64_t ns)
{
	if (!f->stalled && !f->removed)
		gtu_dev_idle(f->dev, (uint64_t)((double)ns * 1e-9 * (double)gtu_dev_config(f->dev)->clock_hz));
}

void pci_function_reset(struct pci_function *f)
{
	/* a reset does not bring back a removed function */
	if (f->removed)
		return;
	if (f->bug != GTU_BUG_FLR_STATE)
		gtu_dev_reset(f->dev);
	reset_config(f);
}

/* ---- Accesses --------------------------------------------------------------------------------- */

static void config_write(struct pci_function *f, unsigned at, const uint8_t *data, unsigned count)
{
	const unsigned devctl = CAP_EXP + PCI_EXP_DEVCTL;
	const uint64_t keep = f->fault[PCI_FAULT_KEEP_MASTER];
	const bool master = may_master(f);
	unsigned i;

	for (i = 0; i < count; i++) {
		uint8_t *byte = &f->config[at + i], mask = f->writable[at + i];

		*byte = (*byte & ~mask) | (data[i] & mask);
	}
	if (master && !may_master(f) && keep && ++f->master_clears >= keep)
		f->config[PCI_COMMAND] |= PCI_COMMAND_MASTER;
	if (get(&f->config[devctl], 2) & PCI_EXP_DEVCTL_BCR_FLR)
		pci_function_reset(f);
	send_pending(f);
}

static void msix_write(struct pci_function *f, unsigned at, const uint8_t *data, unsigned count)
{
	unsigned i, table = f->vectors * PCI_MSIX_ENTRY_SIZE;

	for (i = 0; i < count && at + i < table; i++)
		f->msix[at + i] = data[i];
}

/* Split into accesses of at most 8 aligned bytes, so that the device sees and counts each. */
static void aperture_access(struct pci_function *f, uint64_t offset, uint8_t *data, uint32_t count, bool write)
{
	while (count) {
		unsigned n = 8;

		while (n > count || offset % n)
			n /= 2;
		if (write)
			gtu_dev_write(f->dev, GTU_BAR_APERTURE, offset, n, get(data, n));
		else
			put(data, n, gtu_dev_read(f->dev, GTU_BAR_APERTURE, offset, n));
		offset += n;
		data += n;
		count -= n;
	}
}

int pci_function_access(struct pci_function *f, unsigned region, uint64_t offset, void *data,
			uint32_t count, bool write, struct gtu_error *err)
{
	uint64_t size = pci_function_size(f, region);

	if (!size || offset > size || count > size - offset) {
		gtu_fail(err, GTU_ERR_USAGE, "%u bytes at offset 0x%" PRIx64 " of region %u exceed its size, 0x%" PRIx64,
			 count, offset, region, size);
		return -EINVAL;
	}
	if (region == GTU_BAR_REGS || region == GTU_BAR_DOORBELL) {
		if (count != 1 && count != 2 && count != 4 && count != 8) {
			gtu_fail(err, GTU_ERR_USAGE, "an access of %u bytes to region %u is invalid: the sizes are 1, 2, 4 and 8",
				 count, region);
			return -EINVAL;
		}
		count_access(f);
	} else if (region == GTU_BAR_APERTURE) {
		count_access(f);
	}
	if (f->removed) {
		if (!write)
			memset(data, 0xff, count);
		return 0;
	}
	switch (region) {
	case PCI_REGION_CONFIG:
		if (write)
			config_write(f, offset, data, count);
		else
			memcpy(data, &f->config[offset], count);
		break;
	case GTU_BAR_MSIX:
		if (write)
			msix_write(f, offset, data, count);
		else
			memcpy(data, &f->msix[offset], count);
		break;
	case GTU_BAR_APERTURE:
		aperture_access(f, offset, data, count, write);
		break;
	default:
		if (write)
			gtu_dev_write(f->dev, region, offset, count, get(data, count));
		else
			put(data, count, gtu_dev_read(f->dev, region, offset, count));
	}
	return 0;
}

/* ---- Creation ------------------------------------------------------------------------------------- */

uint64_t pci_function_size(const struct pci_function *f, unsigned region)
{
	if (region == PCI_REGION_CONFIG)
		return PCI_CONFIG_BYTES;
	if (region == GTU_BAR_MSIX)
		return GTU_BAR_MSIX_SIZE;
	if (region == GTU_BAR_DOORBELL && f->bug == GTU_BUG_BAR_SIZE)
		return gtu_dev_bar_size(f->dev, region) / 2;
	return region < PCI_BARS ? gtu_dev_bar_size(f->dev, region) : 0;
}

int pci_function_aperture_fd(const struct pci_function *f)
{
	return f->aperture_fd;
}

unsigned pci_function_vectors(const struct pci_function *f)
{
	return f->vectors;
}

struct dma_table *pci_function_memory(struct pci_function *f)
{
	return &f->memory;
}

/* Allocate the aperture in a file, so that another process can map it. */
static bool make_aperture(struct pci_function *f, uint64_t bytes, struct gtu_error *err)
{
	f->aperture_fd = memfd_create("gtu-aperture", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	f->aperture_bytes = bytes;
	/* sealed, so that no peer can truncate it below the device */
	if (f->aperture_fd >= 0 && !ftruncate(f->aperture_fd, (off_t)bytes) &&
	    !fcntl(f->aperture_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		f->aperture = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->aperture_fd, 0);
	if (f->aperture && f->aperture != MAP_FAILED) {
		madvise(f->aperture, bytes, MADV_DONTDUMP);
		return true;
	}
	f->aperture = NULL;
	gtu_fail(err, GTU_ERR_NOMEM, "no memory for an aperture of %" PRIu64 " bytes: %s", bytes, strerror(errno));
	return false;
}

struct pci_function *pci_function_create(const struct pci_setup *setup, struct gtu_error *err)
{
	struct pci_function *f = calloc(1, sizeof(*f));
	struct gtu_dev_config config = setup->device;
	struct gtu_dev_faults faults = {
		.corrupt_completions = setup->fault[PCI_FAULT_CORRUPT],
		.forge_records = setup->fault[PCI_FAULT_FORGE],
		.stuck_reset = setup->fault[PCI_FAULT_STUCK_RESET],
		.power_loss = setup->fault[PCI_FAULT_POWER_LOSS],
		.late_status = setup->fault[PCI_FAULT_LATE_STATUS],
		.seed = setup->seed,
		.bug = setup->bug,
	};
	const char *why = "no memory";
	unsigned i;

	if (!f) {
		gtu_fail(err, GTU_ERR_NOMEM, "no memory for the device");
		return NULL;
	}
	f->aperture_fd = -1;
	for (i = 0; i < VECTORS_MAX; i++)
		f->irq_fd[i] = -1;
	memcpy(f->fault, setup->fault, sizeof(f->fault));
	memcpy(faults.mbox, setup->fault + PCI_FAULT_MBOX, sizeof(faults.mbox));
	if (!config.no_aperture && !make_aperture(f, config.aperture_bytes, err))
		goto fail;
	f->bug = setup->bug;
	config.aperture = f->aperture;
	f->dev = gtu_dev_create(&config, &host_ops, f, &why);
	if (!f->dev) {
		gtu_fail(err, GTU_ERR_USAGE, "cannot create the device: %s", why);
		goto fail;
	}
	gtu_dev_set_faults(f->dev, &faults);
	f->vectors = gtu_dev_config(f->dev)->vectors;
	if (f->vectors > VECTORS_MAX) {
		gtu_fail(err, GTU_ERR_USAGE, "%u interrupt vectors exceed the limit of %u of BAR %u", f->vectors,
			 (unsigned)VECTORS_MAX, GTU_BAR_MSIX);
		goto fail;
	}
	reset_config(f);
	return f;
fail:
	pci_function_destroy(f);
	return NULL;
}

void pci_function_destroy(struct pci_function *f)
{
	unsigned i;

	if (!f)
		return;
	if (f->dev)
		gtu_dev_destroy(f->dev);
	dma_table_clear(&f->memory);
	for (i = 0; i < f->vectors; i++)
		if (f->irq_fd[i] >= 0)
			close(f->irq_fd[i]);
	if (f->aperture)
		munmap(f->aperture, f->aperture_bytes);
	if (f->aperture_fd >= 0)
		close(f->aperture_fd);
	free(f);
}
