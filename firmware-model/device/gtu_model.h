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

/* Options of the SCU's operations that a build may leave out; their jobs end with GTU_CPL_ABSENT. */
#define GTU_ABSENT_SCU_FILTER		(1u << 0)	/* UNIQUE, BEST */
#define GTU_ABSENT_SCU_GROUP		(1u << 1)

/* How the device is built. Zero fields take the default of their row, here or in uapi/gtu/units.h. */
struct gtu_dev_config {
#define GTU_DEVICE_FIELD(type, field, ...) type field;
	GTU_DEVICE_ROWS(GTU_DEVICE_FIELD)
	void *aperture;			/* memory for it, the caller's; NULL: allocated */
	bool no_aperture;		/* [false] no BAR 4, whatever aperture_bytes is */
	bool unknown_unit;		/* [false] a unit that software does not know, after the known ones */
	uint32_t absent_units;		/* [0] GTU_UNIT_* that this build leaves out */
	uint32_t absent_operations;	/* [0] bit n: gtu_unit_operation(n) ends with GTU_CPL_ABSENT */
	uint32_t absent_scu;		/* [0] GTU_ABSENT_SCU_* that this build's SCU leaves out */
	uint64_t caps_off;		/* [0] GTU_CAP_* that the device does not have or say it has; without
					 * LOGICAL_CYCLES each job's fetches take some cycles longer */
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
 * Report @cycles of wall time in which no queue was runnable. Contexts are charged for the units that
 * they keep from others, and debts end; a stalled stream that keeps a unit from others completes with
 * GTU_CPL_STALLED beyond GTU_STALL_LIMIT cycles; a unit that was kept free is given to a waiting job.
 * A device with several contexts needs these reports.
 */
void gtu_dev_idle(struct gtu_dev *dev, uint64_t cycles);

/* Gateware bugs to inject: B(NAME, name, text) */
#define GTU_BUG_ROWS(B) \
	B(NONE, "none", "nothing is wrong") \
	B(BAR_SIZE, "bar-size", "BAR 2 decodes half of the doorbell pages") \
	B(FDT_CRC, "fdt-crc", "FDT_CRC is not that of the blob") \
	B(FDT_VALUE, "fdt-value", "MAX_CONTEXTS is one less than the device tree says") \
	B(STUCK_BIT, "stuck-bit", "bit 17 of SCRATCH is stuck at 0") \
	B(RESET_VALUE, "reset-value", "CYCLE_LIMIT is 2^39 after a reset, not 2^40") \
	B(W1C, "w1c", "a one written to ERROR does not clear its bit") \
	B(RO_WRITABLE, "ro-writable", "MAX_QUEUES can be written") \
	B(BLOCK_INDEX, "block-index", "control registers of a unit's block n are at the place of block n + 1") \
	B(HIGH_HALF, "high-half", "an 8-byte write of a register loses its high half") \
	B(LATCH, "latch", "reading a low half does not latch the high one") \
	B(ACCESS_SIZE, "access-size", "writes of 1 and 2 bytes change SCRATCH") \
	B(EPOCH, "epoch", "a reset does not increment EPOCH") \
	B(MAILBOX_CHECK, "mailbox-check", "QUEUE_ENABLE accepts misaligned rings") \
	B(APERTURE_ALIAS, "aperture-alias", "address line 13 of the aperture is not connected") \
	B(BYTE_ENABLE, "byte-enable", "writes of 1 and 2 bytes to the aperture write all 4") \
	B(DWORD_SWAP, "dword-swap", "an 8-byte read of the aperture has its halves exchanged") \
	B(DOORBELL_INDEX, "doorbell-index", "the doorbell page of queue n rings queue n + 1") \
	B(FLR_STATE, "flr-state", "a function-level reset keeps registers and queues") \
	B(DMA_32, "dma-32", "bus addresses lose the bits above 32") \
	B(DMA_PAGE, "dma-page", "an operand that crosses a page continues at the start of its first page") \
	B(LENGTH_4K, "length-4k", "COPY and FILL of a multiple of 4 KiB stop a byte early") \
	B(BYTE_ORDER, "byte-order", "FILL writes its element with the bytes reversed") \
	B(COMPLETION_COUNT, "completion-count", "completions count one element too many") \
	B(PHASE, "phase", "the phase of completions does not change with the ring's passes") \
	B(TAIL_LOST, "tail-lost", "a tail written to the doorbell while the queue's job runs is lost") \
	B(BOUNDS, "bounds", "an operand may extend one element past its region") \
	B(RIGHTS, "rights", "regions without WRITE are written") \
	B(GENERATION, "generation", "the generation of a key is not compared") \
	B(IRQ_VECTOR, "irq-vector", "events raise the next higher vector") \
	B(MSIX_MASK, "msix-mask", "a masked vector is sent anyway") \
	B(LANES, "lanes", "neighbouring lanes of a stream's records are exchanged") \
	B(COUNTER_CLEAR, "counter-clear", "CLEAR does not clear the counters") \
	B(DATA, "data", "a COPY of 2-byte elements from byte 6 of a line loses a bit 64 bytes on") \
	B(CYCLES, "cycles", "a COPY of more than 1 KiB reports one cycle too few") \
	B(COUNTER, "counter", "the SCU's counter of output elements is one too high") \
	B(FILTER, "filter", "BEST compares signed costs as unsigned ones") \
	B(GROUP, "group", "grouping takes every target for one of 1-byte elements") \
	B(KEEP, "keep", "KEEP clears the tables") \
	B(BLOCK, "block", "a parameter block is read from a multiple of 64 bytes on") \
	B(FLOAT, "float", "BITMASK compares floats as signed integers") \
	B(INDEX_8, "index-8", "8-byte indices are read one element too late") \
	B(LIMIT, "limit", "the limit of a descriptor counts 1000 cycles, not 1024") \
	B(DEMAND, "demand", "the IRU ignores DEMAND") \
	B(RETURN_RING, "return-ring", "the last entry of a return ring is taken but ignored") \
	B(CANCEL, "cancel", "cancelled jobs report a count of 0") \
	B(INVALIDATE, "invalidate", "a running job keeps its regions after INVALIDATE") \
	B(RESET_JOB, "reset-job", "a reset during a stream leaves its unit held") \
	B(CUT, "cut", "a COPY that is interrupted reports one cycle too many")
enum gtu_bug {
#define GTU_BUG_NUMBER(NAME, ...) GTU_BUG_##NAME,
	GTU_BUG_ROWS(GTU_BUG_NUMBER)
	GTU_BUGS
};
/* The name ("dma-page") and a one-sentence description; NULL if @bug is GTU_BUGS or more. */
const char *gtu_bug_name(enum gtu_bug bug);
const char *gtu_bug_text(enum gtu_bug bug);

/* Faults of mailbox commands. A refused command does nothing: E_INDEX. */
enum gtu_mbox_fault {
	GTU_FAULT_NO_INVALIDATE,	/* INVALIDATE never completes: the mailbox stays busy */
	GTU_FAULT_NO_QUEUE_STATE,	/* QUEUE_STATE never completes, likewise */
	GTU_FAULT_NO_QUEUE_ENABLE,	/* QUEUE_ENABLE never completes, likewise */
	GTU_FAULT_REFUSE_DISABLE,	/* QUEUE_DISABLE and CTX_DISABLE are refused */
	GTU_FAULT_REFUSE_QUEUE_STATE,	/* QUEUE_STATE is refused */
	GTU_FAULT_REFUSE_ENABLE,	/* every n-th QUEUE_ENABLE or CTX_ENABLE is refused, the others work */
	GTU_FAULT_FALSE_COUNTERS,	/* the results of CTX_COUNTERS are all ones */
	GTU_MBOX_FAULTS
};

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
	uint64_t mbox[GTU_MBOX_FAULTS];
	uint64_t stuck_reset;		/* a reset never completes: the device is never ready again */
	uint64_t late_status;		/* every n-th completion is visible some ms before the status counts it */
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
