/* SPDX-License-Identifier: MIT */
/*
 * Interface between the device core and its units. A unit sees jobs and operands, never bus
 * addresses, queues or registers. One struct gtu_unit describes a unit; the table in device.c lists
 * them.
 */
#ifndef GTU_DEVICE_H
#define GTU_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "uapi/gtu/hw.h"
#include "gtu_model.h"

struct gtu_job;
struct gtu_hwq;

/* ---- Memory as units see it (memory.c) ------------------------------------------------------- */

#define GTU_TLB_ENTRIES 64u

/*
 * An operand, resolved and checked for the current step only: bytes 0 to bytes - 1 may be accessed.
 * `base` is set if the whole operand is contiguous in host memory (the fast path).
 */
struct gtu_mem {
	uint8_t *base;
	uint64_t bytes;			/* accessible from the operand's start */
	uint64_t count;			/* elements: the operand's count, or the resolved GTU_COUNT_TO_END */
	uint64_t addr;			/* region-relative address of byte 0 */
	uint32_t key;			/* 0: not given */
	uint8_t slot;			/* of the descriptor */
	uint8_t width_log2;
	bool write;
	bool aperture;
	bool monitored;			/* report accesses with gtu_watch_*() */
	struct gtu_job *job;
	/* for regions that are not contiguous in host memory */
	struct gtu_hw_region region;
	struct {
		uint64_t page;		/* number + 1; 0: empty */
		uint8_t *at;
		uint64_t bytes;		/* contiguous from `at` */
	} tlb[GTU_TLB_ENTRIES];
};

/*
 * Pointer to byte @byte of the operand. *got returns how many of the @want bytes are contiguous
 * there (at least 1). NULL if host memory cannot be accessed; the job's status is then set. The
 * caller has checked byte + want <= bytes; this function checks it again.
 */
uint8_t *gtu_mem_span_slow(struct gtu_mem *m, uint64_t byte, uint64_t want, uint64_t *got);
static inline uint8_t *gtu_mem_span(struct gtu_mem *m, uint64_t byte, uint64_t want, uint64_t *got)
{
	if (m->base && byte <= m->bytes && want <= m->bytes - byte) {
		*got = want;
		return m->base + byte;
	}
	return gtu_mem_span_slow(m, byte, want, got);
}

/* Copy from or to an operand, across page boundaries. False if host memory cannot be accessed. */
bool gtu_mem_load(struct gtu_mem *m, uint64_t byte, void *to, uint64_t bytes);
bool gtu_mem_store(struct gtu_mem *m, uint64_t byte, const void *from, uint64_t bytes);

/* Report accesses to the observers. Only call if m->monitored; @cycle is on the job's own clock. */
void gtu_watch_stream(struct gtu_mem *m, uint64_t byte, uint64_t bytes, uint64_t cycle);
void gtu_watch_gather(struct gtu_mem *m, const uint64_t *bytes, unsigned n, uint64_t cycle);

/* Request elements that are loaded later: report the access, and prefetch them into the host's cache. */
static inline void gtu_mem_request(struct gtu_mem *m, uint64_t first, uint64_t count, uint64_t cycle)
{
	const uint64_t byte = first << m->width_log2, bytes = count << m->width_log2;

	if (m->monitored)
		gtu_watch_stream(m, byte, bytes, cycle);
	if (m->base) {
		__builtin_prefetch(m->base + byte);
		if (bytes > 64 - ((uintptr_t)(m->base + byte) & 63))
			__builtin_prefetch(m->base + byte + bytes - 1);
	}
}

/* ---- Jobs (queue.c) -------------------------------------------------------------------------- */

#define GTU_JOB_STATE_BYTES 2048u

/* Those that share an exclusive unit: groups, or the contexts of one. */
struct gtu_contest {
	uint32_t waiters;		/* their queues that wait for the unit */
	uint64_t least;			/* charge of one that starts to wait: of the last owner when it got the unit, or more */
	uint64_t most;			/* the largest charge of one */
	uint64_t calm_since;		/* without waiters: since when, by gtu_dev.time */
};

/* A unit in a device: its registers and its state on chip. */
struct gtu_unit_page {
	const struct gtu_unit *unit;	/* NULL: absent */
	uint32_t param[GTU_UREG_PARAMS];
	uint32_t setting[GTU_UREG_SETS];
	uint64_t live[GTU_UREG_COUNTERS];	/* counters; units update them at the end of run() */
	uint64_t shown[GTU_UREG_COUNTERS];	/* counters at the last snapshot */
	void *state;			/* state_bytes() */
	struct gtu_hwq *owner;		/* exclusive units: the queue that holds the unit */
	struct gtu_context *expected;	/* without an owner, the unit is kept free for it; or NULL */
	struct gtu_contest groups;	/* which want it */
};

struct gtu_job {
	struct gtu_dev *dev;
	struct gtu_context *context;
	const struct gtu_unit *unit;
	struct gtu_unit_page *page;	/* of `unit` */
	struct gtu_hw_desc desc;	/* fetched once */
	struct gtu_hw_operand operand[GTU_BLOCK_OPERANDS];
	unsigned operands;		/* given slots: 6, or the block's count */
	struct gtu_mem *mem;		/* [GTU_BLOCK_OPERANDS], by slot; resolved again in each step */
	uint64_t limit;			/* cycles */
	uint32_t delay;			/* without GTU_CAP_LOGICAL_CYCLES: cycles by which each fetch is late */
	bool started;
	bool record_armed;		/* raise an event once record `record_wanted` is written */
	uint32_t record_wanted, produced;	/* indices in the stream's ring, free-running */
	/* contents of the completion; a unit keeps these current */
	uint64_t count, needed, cycles, dropped, element;
	uint8_t status, slot;
	/* the unit's private state, zeroed before start(); 64-byte aligned */
	uint8_t state[GTU_JOB_STATE_BYTES] __attribute__((aligned(64)));
};

/* Add to the first @n live counters what the job's, @now, have grown by since the last call, which @counted holds. */
void gtu_job_count(const struct gtu_job *job, const uint64_t *now, uint64_t *counted, unsigned n);
/* Cycles of a fetch; @param: the unit's parameter. */
static inline uint32_t gtu_job_latency(const struct gtu_job *job, unsigned param)
{
	return job->page->param[param] + job->delay;
}
/* Set the job's error (the first one stays) and return GTU_RUN_DONE. */
int gtu_job_error(struct gtu_job *job, unsigned status, unsigned slot, uint64_t element);

/*
 * A unit's requirement on an operand. Resolve operands with gtu_job_operands() in start() and at
 * the top of every run(): pointers are valid for one step only, and the driver may revoke a region
 * between steps.
 */
struct gtu_requirement {
	uint8_t slot;
	uint8_t width_log2;		/* of the elements, and alignment of the offset */
	uint8_t need;			/* GTU_REQUIRE_* */
	uint8_t rest;			/* GTU_COUNT_TO_END is allowed */
	uint64_t bytes;			/* if not 0: accessed bytes, instead of count << width_log2 */
};
#define GTU_REQUIRE_NONE	0		/* must not be given */
#define GTU_REQUIRE_READ	1
#define GTU_REQUIRE_WRITE	2
#define GTU_REQUIRE_BOTH	3
#define GTU_REQUIRE_MAYBE	4		/* or-ed: optional (mem[].key is 0 if missing) */
#define GTU_REQUIRE_REST	8		/* or-ed: all up to the region's end may be accessed, whatever the count */

/*
 * Check and resolve the operands that @want[0..n) names. Every other slot must be empty. Returns
 * true, or false with the job's error set.
 */
bool gtu_job_operands(struct gtu_job *job, const struct gtu_requirement *want, unsigned n);

/* ---- Units ----------------------------------------------------------------------------------- */

enum gtu_run {
	GTU_RUN_MORE,			/* call run() again */
	GTU_RUN_DONE,			/* complete, or in error (job->status) */
	GTU_RUN_STALLED,		/* waiting for the consumer: call again after a kick */
};

/*
 * A unit is one of these, its rows in uapi/gtu/units.h, and one file. Its schedule decides order, results and job->cycles, and
 * none of these may depend on how the work is cut into calls of run().
 */
struct gtu_unit {
	uint32_t version;
	bool exclusive;			/* state on chip that cannot be saved: one job at a time */
	/* May be NULL. Check a configuration whose values are within their limits. Returns an error message, or NULL. */
	const char *(*check)(const struct gtu_dev_config *config);
	/* May be NULL. Bytes of unit state on chip, allocated at creation. */
	size_t (*state_bytes)(const struct gtu_dev_config *config);
	/* Check descriptor and operands. False: job->status is set. */
	bool (*start)(struct gtu_job *job);
	/* Run for about @budget cycles; returns enum gtu_run. */
	int (*run)(struct gtu_job *job, uint64_t budget);
	/* Offset in struct gtu_dev_config of a memory access's latency, for observers; 0: that of the SCU's. */
	size_t latency;
	/*
	 * May be NULL. Read the unit's own read-only registers, from GTU_UREG_OWN on in its page:
	 * the value at @reg and whether it is 64 bits wide. False if no such register exists.
	 * @held: a job holds the unit.
	 */
	bool (*own_register)(const struct gtu_dev_config *config, const void *state, bool held,
			     uint32_t reg, uint64_t *value, bool *wide);
	/* May be NULL. The core ends the job (LIMIT, STALLED, CANCELED): notify its consumer. */
	void (*stop)(struct gtu_job *job);
	/* Units with vector code; see gtu_unit_code(). NULL for others. */
	const char *(*code)(bool portable);
	/* Units whose jobs are streams (stream.h); NULL for others. */
	const struct gtu_stream_ops *stream;
};

extern const struct gtu_unit gtu_unit_basic;	/* NOP, COPY, FILL, FENCE */
#define GTU_UNIT_DECLARATION(UNIT, unit, ...) extern const struct gtu_unit gtu_unit_##unit;
GTU_UNIT_ROWS(GTU_UNIT_DECLARATION)

#endif
