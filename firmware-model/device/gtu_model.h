/* SPDX-License-Identifier: MIT */
/*
 * The device model as its doors see it: registers, a step, and two callbacks. In process, behind
 * vfio-user and in QEMU it is the same object; a door holds no device logic.
 *
 * One owner at a time calls into a device; it is never re-entered (callbacks must not call back).
 * The model makes no operating-system calls; memory comes from malloc() at creation only.
 */
#ifndef GTU_MODEL_H
#define GTU_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gtu_dev;

struct gtu_host_ops {
	/*
	 * Pointer to the memory at bus address @addr. *len holds the bytes wanted and returns how many of
	 * them are contiguous there (at least 1). NULL: no memory there, or @write is not allowed. The
	 * pointer is used until gtu_dev_step() or gtu_dev_write() returns, so a host unmaps between calls.
	 */
	void *(*dma)(void *host, uint64_t addr, uint64_t *len, bool write);
	/* Raise MSI-X vector @vector (an edge). May be NULL for a host that polls. */
	void (*irq)(void *host, unsigned vector);
};

/* How the device is built. Zero fields take the default in brackets. */
struct gtu_dev_config {
	uint32_t contexts;		/* [256] */
	uint32_t queues;		/* [256] */
	uint32_t regions_log2;		/* [12] greatest region table */
	uint32_t ring_log2;		/* [12] greatest ring */
	uint32_t event_rings;		/* [33] */
	uint32_t vectors;		/* [33] */
	uint32_t doorbell_stride_log2;	/* [16] */
	uint64_t clock_hz;		/* [1270000000] */
	uint64_t aperture_bytes;	/* [16 MiB]; a power of two */
	void *aperture;			/* memory for it, the caller's; NULL: allocated */
	uint32_t absent_units;		/* [0] GTU_UNIT_* that this build leaves out */
	uint64_t caps_off;		/* [0] GTU_CAP_* that the device does not say it has */

	uint32_t scu_width;		/* [4] elements a cycle */
	uint32_t scu_latency;		/* [200] cycles */
	uint32_t scu_merge;		/* [4] */

	uint32_t iru_sets;		/* [1024] in all, a power of two */
	uint32_t iru_partitions;	/* [4] a power of two */
	uint32_t iru_banks;		/* [2] a partition, a power of two; of all at most 64 */
	uint32_t iru_interleave;	/* [256] bytes, a power of two >= 128 */
	uint32_t iru_prefetch;		/* [8] */
	uint32_t iru_latency;		/* [200] cycles */
	uint32_t iru_index_bits;	/* [32] */
	uint32_t iru_position_bits;	/* [32] */
	uint32_t iru_ring_depth;	/* [64] */
	uint32_t iru_queue_depth;	/* [64] elements, at least 32 */
	uint32_t iru_timeout;		/* [1024] cycles, the setting after reset */

	uint32_t peg_engines;		/* [16] at most 32 */
	uint32_t peg_entries;		/* [24] of an engine's working table, at most 4096 */
	uint32_t peg_edge_bytes;	/* [2048] on chip, an engine's gathered edges; a multiple of 32 >= 1024 */
	uint32_t peg_list_bytes;	/* [47104] on chip, an engine's vertex lists; a multiple of 16 */
	uint32_t peg_latency;		/* [200] cycles of a fetch */
	uint32_t peg_message;		/* [16] cycles from an engine to the control processor or back */
	uint32_t peg_interval;		/* [512] cycles; this and the next two are settings after reset */
	uint32_t peg_shift;		/* [4] */
	uint32_t peg_floor;		/* [32] */

	uint32_t wvr_entries;		/* [512] of the sparse work table, at most 65536 */
	uint32_t wvr_warps;		/* [32] of the dense id table, at most 1024 */
	uint32_t wvr_table_latency;	/* [10] cycles of a read of a table */
	uint32_t wvr_latency;		/* [200] cycles of a fetch */
};

/* NULL when a field has no meaning or memory is short; *why (may be NULL) says which. */
struct gtu_dev *gtu_dev_create(const struct gtu_dev_config *config, const struct gtu_host_ops *ops,
			       void *host, const char **why);
void gtu_dev_destroy(struct gtu_dev *dev);

/* The configuration with every default filled in. */
const struct gtu_dev_config *gtu_dev_config(const struct gtu_dev *dev);

/* Bytes of a BAR (0, 1, 2, 4), 0 for the others. BAR 1 (MSI-X) is the door's. */
uint64_t gtu_dev_bar_size(const struct gtu_dev *dev, unsigned bar);

/*
 * An access of 1, 2, 4 or 8 bytes. Registers take 4 and 8, aligned; anything else, and any place
 * without a register, reads as zero, ignores writes and sets GTU_ERROR_REGISTER.
 */
uint64_t gtu_dev_read(struct gtu_dev *dev, unsigned bar, uint64_t offset, unsigned size);
void gtu_dev_write(struct gtu_dev *dev, unsigned bar, uint64_t offset, unsigned size, uint64_t value);

/*
 * Work for about @budget logical cycles. True while there is work that can go on; false when all
 * queues are empty or wait for their users.
 */
bool gtu_dev_step(struct gtu_dev *dev, uint64_t budget);

/* True when a call of gtu_dev_step() would do something. */
bool gtu_dev_pending(const struct gtu_dev *dev);
/* STATUS's BUSY: some queue has work, even if all of it waits. No access: what a guest has latched stays latched. */
bool gtu_dev_busy(const struct gtu_dev *dev);

/*
 * Nothing could go on for this many cycles of wall time. Only a stream whose consumer does not come
 * while another job waits for its unit takes notice: beyond a limit it ends with GTU_CPL_STALLED.
 */
void gtu_dev_idle(struct gtu_dev *dev, uint64_t cycles);

/* One mistake in the gateware, planted: names and what it does are gtu_bug_name() and gtu_bug_text(). */
enum gtu_bug {
	GTU_BUG_NONE,
	GTU_BUG_BAR_SIZE, GTU_BUG_FDT_CRC, GTU_BUG_FDT_VALUE,
	GTU_BUG_STUCK_BIT, GTU_BUG_RESET_VALUE, GTU_BUG_W1C, GTU_BUG_RO_WRITABLE, GTU_BUG_HIGH_HALF, GTU_BUG_LATCH,
	GTU_BUG_ACCESS_SIZE, GTU_BUG_EPOCH, GTU_BUG_MAILBOX_CHECK,
	GTU_BUG_APERTURE_ALIAS, GTU_BUG_BYTE_ENABLE, GTU_BUG_DWORD_SWAP,
	GTU_BUG_DOORBELL_INDEX, GTU_BUG_FLR_STATE,
	GTU_BUG_DMA_32, GTU_BUG_DMA_PAGE, GTU_BUG_LENGTH_4K, GTU_BUG_BYTE_ORDER, GTU_BUG_COMPLETION_COUNT,
	GTU_BUG_PHASE, GTU_BUG_TAIL_LOST, GTU_BUG_BOUNDS, GTU_BUG_RIGHTS, GTU_BUG_GENERATION,
	GTU_BUG_IRQ_VECTOR, GTU_BUG_MSIX_MASK,
	GTU_BUG_LANES, GTU_BUG_COUNTER_CLEAR,
	GTU_BUG_DATA, GTU_BUG_CYCLES, GTU_BUG_COUNTER,
	GTU_BUGS
};
/* "dma-page", and a sentence of what is wrong; NULL from GTU_BUGS on. */
const char *gtu_bug_name(enum gtu_bug bug);
const char *gtu_bug_text(enum gtu_bug bug);

/*
 * What goes wrong on purpose. Each number says from which time on (1: the first; 0: never), counted from
 * this call. The same @seed gives the same lies.
 */
struct gtu_dev_faults {
	/* completions with wrong phases, indices, cookies, states and counts; events and status blocks too */
	uint64_t corrupt_completions;
	uint64_t forge_records;		/* records of streams: other lanes active, other indices, positions, edges */
	uint64_t no_invalidate;		/* INVALIDATE is never done: the mailbox stays busy */
	uint64_t stuck_reset;		/* a reset does not end: never ready again */
	uint64_t power_loss;		/* a function-level reset is more: as after power-on, noise in the aperture */
	uint64_t seed;
	enum gtu_bug bug;		/* from now on, as far as it is the device's and not its door's */
};
void gtu_dev_set_faults(struct gtu_dev *dev, const struct gtu_dev_faults *faults);

/* What a function-level reset does: all contexts and queues gone, registers at reset values, epoch + 1. */
void gtu_dev_reset(struct gtu_dev *dev);

/*
 * Watch the device's accesses to memory without changing any result: the monitor (ZCM), a laboratory.
 * Addresses are region-relative bytes; `cycle` is the device's clock. Both may be called very often.
 */
enum gtu_watch_kind { GTU_WATCH_HOST, GTU_WATCH_APERTURE };
struct gtu_access {
	uint32_t key;			/* region */
	uint8_t unit;			/* opcode of the job >> 4 */
	uint8_t place;			/* operand */
	uint8_t kind;			/* enum gtu_watch_kind */
	bool write;
	uint64_t cycle;			/* when it is asked for */
	uint64_t latency;		/* cycles until it is there */
};
struct gtu_watch {
	/* @bytes consecutive bytes from @addr on, in order */
	void (*stream)(struct gtu_watch *w, const struct gtu_access *a, uint64_t addr, uint64_t bytes);
	/* @n elements of @width bytes that are asked for together (a merge window, a warp); n <= 32 */
	void (*gather)(struct gtu_watch *w, const struct gtu_access *a, const uint64_t *addr,
		       unsigned n, unsigned width);
};
/* Attach (or detach with NULL) an observer of one's own; the monitor goes on beside it. */
void gtu_dev_watch(struct gtu_dev *dev, struct gtu_watch *watch);

#endif
