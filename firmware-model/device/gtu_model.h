/* SPDX-License-Identifier: MIT */
/*
 * Public interface of the device model: register accesses, a step function and two host callbacks.
 * The in-process, vfio-user and QEMU transports use the same object; a transport contains no device
 * logic.
 *
 * Calls on one device must be serialized, and callbacks must not call back into it. The model makes
 * no system calls of its own and allocates memory only at creation.
 */
#ifndef GTU_MODEL_H
#define GTU_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gtu_dev;

struct gtu_host_ops {
	/*
	 * Pointer to the memory at bus address @addr. *len holds the bytes requested and returns
	 * how many of them are contiguous there (at least 1). NULL if no memory is mapped there or
	 * @write is not permitted. The device uses the pointer until gtu_dev_step() or
	 * gtu_dev_write() returns; unmap memory only between calls.
	 */
	void *(*dma)(void *host, uint64_t addr, uint64_t *len, bool write);
	/* Raise MSI-X vector @vector (edge-triggered). NULL if the host polls. */
	void (*irq)(void *host, unsigned vector);
};

/* Build-time parameters of the device. A field that is 0 takes the default in brackets. */
struct gtu_dev_config {
	uint32_t contexts;		/* [256] */
	uint32_t queues;		/* [256] */
	uint32_t regions_log2;		/* [12] maximum size of a region table */
	uint32_t ring_log2;		/* [12] maximum size of a ring */
	uint32_t event_rings;		/* [33] */
	uint32_t vectors;		/* [33] */
	uint32_t doorbell_stride_log2;	/* [16] */
	uint64_t clock_hz;		/* [1270000000] */
	uint64_t aperture_bytes;	/* [16 MiB]; a power of two */
	void *aperture;			/* memory for the aperture, owned by the caller; NULL: allocate */
	uint32_t absent_units;		/* [0] GTU_UNIT_* that this build lacks */
	uint64_t caps_off;		/* [0] GTU_CAP_* that CAPS does not report */

	uint32_t scu_width;		/* [4] elements a cycle */
	uint32_t scu_latency;		/* [200] cycles */
	uint32_t scu_merge;		/* [4] */

	uint32_t iru_sets;		/* [1024] total, a power of two */
	uint32_t iru_partitions;	/* [4] a power of two */
	uint32_t iru_banks;		/* [2] per partition, a power of two; at most 64 in total */
	uint32_t iru_interleave;	/* [256] bytes, a power of two >= 128 */
	uint32_t iru_prefetch;		/* [8] */
	uint32_t iru_latency;		/* [200] cycles */
	uint32_t iru_index_bits;	/* [32] */
	uint32_t iru_position_bits;	/* [32] */
	uint32_t iru_ring_depth;	/* [64] */
	uint32_t iru_queue_depth;	/* [64] elements, at least 32 */
	uint32_t iru_timeout;		/* [1024] cycles, the value after reset */

	uint32_t peg_engines;		/* [16] at most 32 */
	uint32_t peg_entries;		/* [24] per engine's working table, at most 4096 */
	uint32_t peg_edge_bytes;	/* [2048] on-chip, per engine's gathered edges; a multiple of 32 >= 1024 */
	uint32_t peg_list_bytes;	/* [47104] on-chip, per engine's vertex lists; a multiple of 16 */
	uint32_t peg_latency;		/* [200] cycles of a fetch */
	uint32_t peg_message;		/* [16] cycles from an engine to the control processor or back */
	uint32_t peg_interval;		/* [512] cycles; this and the next two are the values after reset */
	uint32_t peg_shift;		/* [4] */
	uint32_t peg_floor;		/* [32] */

	uint32_t wvr_entries;		/* [512] of the sparse work table, at most 65536 */
	uint32_t wvr_warps;		/* [32] of the dense id table, at most 1024 */
	uint32_t wvr_table_latency;	/* [10] cycles of a table read */
	uint32_t wvr_latency;		/* [200] cycles of a fetch */
};

/* NULL if a field is invalid or memory is exhausted; *why (may be NULL) returns the reason. */
struct gtu_dev *gtu_dev_create(const struct gtu_dev_config *config, const struct gtu_host_ops *ops,
			       void *host, const char **why);
void gtu_dev_destroy(struct gtu_dev *dev);

/* The configuration with all defaults filled in. */
const struct gtu_dev_config *gtu_dev_config(const struct gtu_dev *dev);

/* Size of a BAR (0, 1, 2, 4) in bytes, 0 for any other. The transport implements BAR 1 (MSI-X). */
uint64_t gtu_dev_bar_size(const struct gtu_dev *dev, unsigned bar);

/*
 * Access 1, 2, 4 or 8 bytes. Registers accept aligned accesses of 4 and 8 bytes. Any other access,
 * or an offset without a register, reads as zero, ignores writes and sets GTU_ERROR_REGISTER.
 */
uint64_t gtu_dev_read(struct gtu_dev *dev, unsigned bar, uint64_t offset, unsigned size);
void gtu_dev_write(struct gtu_dev *dev, unsigned bar, uint64_t offset, unsigned size, uint64_t value);

/*
 * Run for about @budget logical cycles. Returns true while some queue is runnable; false if all
 * queues are empty or wait for their users.
 */
bool gtu_dev_step(struct gtu_dev *dev, uint64_t budget);

/* True if a call of gtu_dev_step() would make progress. */
bool gtu_dev_pending(const struct gtu_dev *dev);
/*
 * STATUS.BUSY: some queue has work, even if all of it waits. Not a register access, so it keeps the
 * latch.
 */
bool gtu_dev_busy(const struct gtu_dev *dev);

/*
 * Report @cycles of wall time in which no queue was runnable. Only a stalled stream whose unit
 * another job waits for is affected: beyond GTU_STALL_LIMIT cycles it completes with
 * GTU_CPL_STALLED.
 */
void gtu_dev_idle(struct gtu_dev *dev, uint64_t cycles);

/* A gateware bug to inject; gtu_bug_name() and gtu_bug_text() describe it. */
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
/* The name ("dma-page") and a one-sentence description; NULL if @bug is GTU_BUGS or more. */
const char *gtu_bug_name(enum gtu_bug bug);
const char *gtu_bug_text(enum gtu_bug bug);

/*
 * Faults to inject. Each number is the first occurrence that fails, counted from the call of
 * gtu_dev_set_faults() (1: the first; 0: never). The same @seed injects the same faults.
 */
struct gtu_dev_faults {
	/*
	 * completions with wrong phases, indices, cookies, statuses and counts; also events and
	 * status blocks
	 */
	uint64_t corrupt_completions;
	uint64_t forge_records;		/* stream records with wrong active lanes, indices, positions, edges */
	uint64_t no_invalidate;		/* INVALIDATE never completes: the mailbox stays busy */
	uint64_t stuck_reset;		/* a reset never completes: the device is never ready again */
	uint64_t power_loss;		/* a function-level reset acts as power-on: random data in the aperture */
	uint64_t seed;
	enum gtu_bug bug;		/* active at once, if the device and not its transport implements it */
};
void gtu_dev_set_faults(struct gtu_dev *dev, const struct gtu_dev_faults *faults);

/*
 * Function-level reset: disable all contexts and queues, reset the registers, increment the epoch.
 */
void gtu_dev_reset(struct gtu_dev *dev);

/*
 * Observe the device's memory accesses without changing any result (ZCM, laboratory). Addresses are
 * region-relative bytes; `cycle` is on the device clock. Both callbacks can be called very often.
 */
enum gtu_watch_kind { GTU_WATCH_HOST, GTU_WATCH_APERTURE };
struct gtu_access {
	uint32_t key;			/* region */
	uint8_t unit;			/* opcode of the job >> 4 */
	uint8_t place;			/* operand slot */
	uint8_t kind;			/* enum gtu_watch_kind */
	bool write;
	uint64_t cycle;			/* of the request */
	uint64_t latency;		/* cycles until the data arrives */
};
struct gtu_watch {
	/* @bytes consecutive bytes from @addr, in order */
	void (*stream)(struct gtu_watch *w, const struct gtu_access *a, uint64_t addr, uint64_t bytes);
	/* @n elements of @width bytes requested together (a merge window, a warp); n <= 32 */
	void (*gather)(struct gtu_watch *w, const struct gtu_access *a, const uint64_t *addr,
		       unsigned n, unsigned width);
};
/* Attach an observer, or detach it with NULL; the ZCM keeps running beside it. */
void gtu_dev_watch(struct gtu_dev *dev, struct gtu_watch *watch);

#endif
