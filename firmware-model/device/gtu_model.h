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

#include "uapi/gtu/units.h"

struct gtu_dev;

struct gtu_host_ops {
	/*
	 * Pointer to the memory at bus address @addr. *len holds the bytes requested and returns the
	 * number of contiguous bytes there (at least 1). NULL if no memory is mapped there or
	 * @write is not permitted. The device uses the pointer until gtu_dev_step() or
	 * gtu_dev_write() returns; unmap memory only between calls.
	 */
	void *(*dma)(void *host, uint64_t addr, uint64_t *len, bool write);
	/* Raise MSI-X vector @vector (edge-triggered). NULL if the host polls. */
	void (*irq)(void *host, unsigned vector);
};

/* D(type, field, device tree property, default, min, max, step); step 0: a power of two */
#define GTU_DEVICE_ROWS(D) \
	D(uint32_t, contexts, "gtu,contexts", 256, 1, 4096, 1) \
	D(uint32_t, queues, "gtu,queues", 256, 1, 256, 1) \
	D(uint32_t, regions_log2, "gtu,regions-log2", 12, 1, 16, 1)	/* greatest region table */ \
	D(uint32_t, ring_log2, "gtu,ring-log2", 12, GTU_RING_LOG2_MIN, 16, 1) \
	D(uint32_t, vectors, "gtu,vectors", 33, 1, 64, 1) \
	D(uint32_t, event_rings, "gtu,event-rings", 33, 1, GTU_EVENT_RINGS_MAX, 1) \
	D(uint32_t, doorbell_stride_log2, "gtu,doorbell-stride-log2", 16, 12, 16, 1) \
	D(uint64_t, clock_hz, "clock-frequency", 1270000000, 1, UINT64_MAX, 1) \
	D(uint64_t, aperture_bytes, "gtu,aperture-bytes", 16 << 20, 4096, 1ull << 40, 0)

/* How the device is built. Zero fields take the default of their row, here or in uapi/gtu/units.h. */
struct gtu_dev_config {
#define GTU_DEVICE_FIELD(type, field, ...) type field;
	GTU_DEVICE_ROWS(GTU_DEVICE_FIELD)
	void *aperture;			/* memory for it, the caller's; NULL: allocated */
	uint32_t absent_units;		/* [0] GTU_UNIT_* that this build leaves out */
	uint64_t caps_off;		/* [0] GTU_CAP_* that the device does not say it has */
#define GTU_UNIT_FIELD(UNIT, unit, NAME, name, ...) uint32_t unit##_##name;
#define GTU_NO_FIELD(...)
#define GTU_UNIT_FIELDS(UNIT, ...) \
	GTU_##UNIT##_PARAMETER_ROWS(GTU_UNIT_FIELD, GTU_NO_FIELD, GTU_NO_FIELD) \
	GTU_##UNIT##_SETTING_ROWS(GTU_UNIT_FIELD, GTU_NO_FIELD)
	GTU_UNIT_ROWS(GTU_UNIT_FIELDS)
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
	uint8_t slot;			/* of the operand */
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
