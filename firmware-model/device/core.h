/* SPDX-License-Identifier: MIT */
/* The device's internal state, shared only by the files of firmware-model/device. */
#ifndef GTU_CORE_H
#define GTU_CORE_H

#include "device.h"
#include "gtu_units.h"

#define GTU_QUEUES_MAX		256u
#define GTU_QUANTUM		4096u	/* cycles a context of weight 1 gets per scheduling round */
#define GTU_STALL_LIMIT		(1ull << 30)	/* cycles a stalled stream may hold a unit another job needs */
#define GTU_STALL_TOTAL		(1ull << 36)	/* ... and in all, if its consumer responds now and then */
#define GTU_EXPECTED		(1ull << 24)	/* cycles for which a free unit is kept for the context that had it */
#define GTU_CHARGE_SCALE	256u	/* the charge for a cycle, with weight 1 */
#define GTU_PAGES		(GTU_UNIT_COUNT + 1u)	/* units with a page, then the basic operations */

#define GTU_BITMAP_WORDS	(GTU_QUEUES_MAX / 64)

/* A context's or group's use of an exclusive unit. */
struct gtu_unit_share {
	uint64_t charge;		/* cycles * GTU_CHARGE_SCALE / weight */
	uint32_t waiters;		/* its queues that wait for the unit */
};

/* Contexts that share the device as one: those of a user. */
struct gtu_group {
	uint8_t weight;			/* of the context that joined last */
	uint32_t runnable;		/* its runnable queues */
	int64_t deficit;		/* of the deficit round robin, in cycles */
	uint32_t current_context;	/* of the round robin over its contexts */
	struct gtu_unit_share share[GTU_PAGES];
	struct gtu_contest contexts[GTU_PAGES];	/* which want a unit */
};

struct gtu_context {
	bool enabled;
	uint8_t table_log2, weight;
	struct gtu_group *group;
	uint64_t table;			/* bus address of the region table */
	int64_t deficit;		/* of the deficit round robin in its group */
	uint64_t jobs, failed, cycles;	/* completions, those with an error, and the jobs' cycles */
	uint32_t next_queue;		/* where the round robin over the context's queues continues */
	uint32_t runnable;		/* its runnable queues, */
	uint64_t queues[GTU_BITMAP_WORDS];	/* which these are */
	struct gtu_unit_share share[GTU_PAGES];
	uint64_t expected_until[GTU_PAGES];	/* by gtu_dev.time: it may want the unit again */
	uint32_t last_queue[GTU_PAGES];	/* of its queues, the one that had the unit last */
};

struct gtu_hwq {
	bool enabled;
	uint8_t sq_log2, cq_log2;
	bool armed, event_due, error_due;
	bool active;			/* `job` holds a fetched descriptor */
	bool waits;			/* the job waits for its unit */
	bool stalled;			/* the job waits for its consumer */
	bool canceling;			/* jobs before cancel_until complete with CANCELED */
	uint32_t id, context, event_ring, arm_index;
	uint16_t generation;			/* number of times the queue was enabled or reset */
	uint64_t sq, cq;		/* bus addresses */
	uint32_t sq_head, sq_tail, cq_head, cq_tail;
	uint32_t state;			/* GTU_QUEUE_* */
	uint32_t cancel_until;
	uint32_t submit_low;		/* low half of a doorbell written as two 4-byte halves */
	uint64_t stalled_for;		/* cycles since the consumer responded, while others waited */
	uint64_t stalled_total;	/* the same of the whole job */
	struct gtu_job job;
};

struct gtu_event_ring {
	bool enabled;
	uint8_t log2;
	uint32_t vector, head, tail;
	uint64_t addr;
};

struct gtu_dev {
	struct gtu_dev_config config;
	struct gtu_host_ops ops;
	void *host;
	uint8_t *aperture;
	bool aperture_owned;

	uint32_t epoch, error;
	uint64_t error_info, scratch, cycle_limit, cycles;
	uint64_t time;			/* cycles, with those in which no queue was runnable */
	uint32_t latch_offset, latch_high;
	uint64_t mbox_arg[GTU_MBOX_ARGS], mbox_result[GTU_MBOX_RESULTS];
	uint32_t mbox_status;

	struct gtu_context *context;	/* [config.contexts] */
	struct gtu_group *group;	/* [config.contexts] */
	struct gtu_hwq *queue;		/* [config.queues] */
	struct gtu_event_ring event[GTU_EVENT_RINGS_MAX];
	uint32_t current_group;		/* of the round robin */
	uint32_t runnable;		/* queues */
	uint32_t fences;		/* FENCE jobs in progress */
	struct gtu_unit_page page[GTU_PAGES + 1];	/* the last has no unit: that of absent operations */
	uint8_t page_of[256];		/* by opcode, + 1 */

	bool faulty;			/* any fault is injected */
	bool stuck;			/* in a reset that never completes */
	struct gtu_dev_faults faults;
	uint64_t completions, records, resets, power_losses, mbox_commands[GTU_MBOX_FAULTS];	/* counts, for fault injection */
	uint32_t bug_word;		/* state of an injected bug */

	uint8_t *fdt;			/* GTU_FDT_WINDOW_SIZE */
	uint32_t fdt_bytes, fdt_crc;

	struct gtu_mem mem[GTU_BLOCK_OPERANDS];
	struct gtu_watch *watch;
	bool monitor;			/* the ZCM is enabled */
	uint64_t jobs;			/* fetched, without GTU_CAP_LOGICAL_CYCLES */
	uint64_t run_cycles;		/* device clock at cycle 0 of the running job */
	uint64_t monitor_since;
};

/* device.c */
void gtu_dev_clear(struct gtu_dev *dev);	/* to the state after a reset by register */
void gtu_dev_error(struct gtu_dev *dev, uint32_t bit, uint64_t info);

/* fault.c: call only if dev->faulty */
void gtu_fault_completion(struct gtu_dev *dev, struct gtu_hw_cpl *cpl, uint16_t *phase);
void gtu_fault_status(struct gtu_dev *dev, struct gtu_hw_queue_status *s, uint32_t *state);
void gtu_fault_late_status(struct gtu_dev *dev);	/* waits between a completion and its status */
uint32_t gtu_fault_event(struct gtu_dev *dev, uint32_t word);
/* Corrupt a stream record before it is written: its header and its @words lane words. */
void gtu_fault_record(struct gtu_dev *dev, struct gtu_hw_warp *head, uint32_t *lane, unsigned words);
uint32_t gtu_fault_command(struct gtu_dev *dev, uint32_t command);	/* status of a command that fails, or E_OK */
void gtu_fault_result(struct gtu_dev *dev, uint32_t command);		/* replaces the results of one that works */
bool gtu_fault_reset(struct gtu_dev *dev);	/* true: the reset never completes */
void gtu_fault_power(struct gtu_dev *dev);	/* call after a function-level reset */

/* bug.c: call only if dev->faulty */
uint64_t gtu_bug_read(const struct gtu_dev *dev, uint32_t offset, uint64_t value);
bool gtu_bug_write(struct gtu_dev *dev, uint32_t offset, unsigned size, uint64_t *value);	/* true: drop the write */
void gtu_bug_record(uint32_t *lane, unsigned words);
void gtu_bug_completion(const struct gtu_dev *dev, const struct gtu_job *job, struct gtu_hw_cpl *cpl, uint16_t *phase);

/* fdt.c: fill dev->fdt; false, with the reason in *why, if the tree does not fit. */
bool gtu_fdt_build(struct gtu_dev *dev, const char **why);

/* mailbox.c */
void gtu_mailbox(struct gtu_dev *dev, uint32_t command);

/* memory.c */
void *gtu_dma(struct gtu_dev *dev, uint64_t addr, uint64_t bytes, bool write);
bool gtu_dma_read(struct gtu_dev *dev, uint64_t addr, void *to, uint64_t bytes);

/* queue.c */
void gtu_queue_doorbell(struct gtu_dev *dev, uint32_t queue, uint32_t reg, unsigned size,
			uint64_t value);
void gtu_queue_drop(struct gtu_dev *dev, struct gtu_hwq *q);	/* drop the job, release its unit */
void gtu_queue_clear(struct gtu_hwq *q);	/* no job, no event, indices 0 */
void gtu_queue_start(struct gtu_dev *dev, struct gtu_hwq *q);	/* indices 0, enabled */
/*
 * Set the indices of both rings to @index; @head is the completion head. The queue has run no job
 * since it started.
 */
void gtu_queue_seek(struct gtu_dev *dev, struct gtu_hwq *q, uint32_t index, uint32_t head);
bool gtu_queue_cancel(struct gtu_dev *dev, struct gtu_hwq *q, uint32_t until); /* false: beyond the tail */
void gtu_queue_wake_all(struct gtu_dev *dev);
void gtu_job_record_event(struct gtu_job *job);	/* raise the event that ARM_STREAM requested */
void gtu_events_retry(struct gtu_dev *dev, uint32_t ring);

/* zcm.c */
void gtu_zcm_stream(struct gtu_dev *dev, unsigned direction, uint64_t addr, uint64_t bytes,
		    uint64_t cycle, uint64_t latency);
void gtu_zcm_gather(struct gtu_dev *dev, unsigned direction, const uint64_t *addr, unsigned n,
		    unsigned width, uint64_t cycle, uint64_t latency);
void gtu_zcm_snapshot(struct gtu_dev *dev);
void gtu_zcm_clear(struct gtu_dev *dev);

/* True if bug @bug is injected. */
static inline bool gtu_bug(const struct gtu_dev *dev, enum gtu_bug bug)
{
	return __builtin_expect(dev->faulty, 0) && dev->faults.bug == bug;
}

#endif
