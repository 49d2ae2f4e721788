/* SPDX-License-Identifier: MIT */
/*
 * Inside the device: what its parts share. A unit sees jobs and operands, never bus addresses, queues
 * or registers; it is described by one struct gtu_unit and reached through the table in device.c.
 */
#ifndef GTU_DEVICE_H
#define GTU_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "uapi/gtu/hw.h"
#include "gtu_model.h"

struct gtu_job;

/* ---- Memory as units see it (memory.c) ------------------------------------------------------- */

#define GTU_TLB_ENTRIES 64u

/*
 * An operand, resolved and checked for the current step only: byte b of it (0 <= b < bytes) may be
 * reached. `base` is set where all of it is contiguous in the host, which is the fast case.
 */
struct gtu_mem {
	uint8_t *base;
	uint64_t bytes;			/* that may be reached from the operand's start */
	uint64_t count;			/* elements: the operand's, or what REST came to */
	uint64_t addr;			/* region-relative address of byte 0 */
	uint32_t key;			/* 0: not given */
	uint8_t place;			/* operand number */
	uint8_t width_log2;
	bool write;
	bool aperture;
	bool watched;			/* someone wants to know of accesses: call gtu_watch_*() */
	struct gtu_job *job;
	/* the region, for scattered ones */
	struct gtu_hw_region region;
	struct {
		uint64_t page;		/* number + 1; 0: empty */
		uint8_t *at;
		uint64_t bytes;		/* contiguous from there */
	} tlb[GTU_TLB_ENTRIES];
};

/*
 * Pointer to byte @byte of the operand, and in *got how many of the @want bytes are contiguous
 * there (at least 1). NULL when host memory does not answer (the job's status is then set). The
 * caller has checked byte + want <= bytes; it is checked again here.
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

/* Copy out of or into an operand, over page borders. False when host memory does not answer. */
bool gtu_mem_load(struct gtu_mem *m, uint64_t byte, void *to, uint64_t bytes);
bool gtu_mem_store(struct gtu_mem *m, uint64_t byte, const void *from, uint64_t bytes);

/* Pointer to one element (aligned to its width, so never across pages), or NULL as above. */
static inline uint8_t *gtu_mem_element(struct gtu_mem *m, uint64_t i)
{
	uint64_t got;

	return gtu_mem_span(m, i << m->width_log2, 1ull << m->width_log2, &got);
}

/* Tell observers. Only call when m->watched; @cycle is the job's own clock. */
void gtu_watch_stream(struct gtu_mem *m, uint64_t byte, uint64_t bytes, uint64_t cycle);
void gtu_watch_gather(struct gtu_mem *m, const uint64_t *bytes, unsigned n, uint64_t cycle);

/*
 * A user may rewrite his memory at any time. What decides an address is loaded once, through these,
 * so that the value that was checked is the value that is used.
 */
static inline uint32_t gtu_once32(const void *p)
{
	return *(const volatile uint32_t *)p;
}
static inline uint64_t gtu_once64(const void *p)
{
	return *(const volatile uint64_t *)p;
}

/* ---- Jobs (queue.c) -------------------------------------------------------------------------- */

#define GTU_JOB_STATE_BYTES 2048u

struct gtu_job {
	struct gtu_dev *dev;
	struct gtu_context *context;
	const struct gtu_unit *unit;
	struct gtu_hw_desc desc;	/* fetched once */
	struct gtu_hw_operand operand[GTU_BLOCK_OPERANDS];
	unsigned operands;		/* given places: 6, or the block's count */
	struct gtu_mem *mem;		/* [GTU_BLOCK_OPERANDS], by place; resolved anew each step */
	uint64_t limit;			/* cycles */
	bool started;
	bool record_armed;		/* an event once record `record_wanted` is written */
	uint32_t record_wanted, produced;	/* of the stream's ring, running freely */
	/* what the completion will say; a unit keeps these current */
	uint64_t count, needed, cycles, dropped, element;
	uint8_t status, place;
	/* the unit's own, zeroed before start(); 64-byte aligned */
	uint8_t state[GTU_JOB_STATE_BYTES] __attribute__((aligned(64)));
};

/* Set the job's error (the first one stays) and return GTU_RUN_DONE. */
int gtu_job_error(struct gtu_job *job, unsigned status, unsigned place, uint64_t element);

/*
 * A unit that writes a stream's ring says here how many records are in it in all (modulo 2^32), each
 * time that it has told its consumer (`producer`): who asked for an event by ARM_STREAM gets it.
 */
void gtu_job_record_event(struct gtu_job *job);
static inline void gtu_job_produced(struct gtu_job *job, uint32_t producer)
{
	job->produced = producer;
	if (__builtin_expect(job->record_armed, 0) && (int32_t)(producer - job->record_wanted) > 0)
		gtu_job_record_event(job);
}

/*
 * What a unit expects of an operand. Resolve with gtu_job_operands() in start() and at the top of
 * every run(): pointers live for one step only, and a region may have been revoked in between.
 */
struct gtu_want {
	uint8_t place;
	uint8_t width_log2;		/* elements; see bits */
	uint8_t need;			/* GTU_WANT_* */
	uint8_t rest;			/* GTU_COUNT_REST is allowed */
	uint8_t bits;			/* elements are single bits; width_log2 is the alignment of the offset */
	uint64_t bytes;			/* not 0: bytes reached, instead of count << width_log2 */
};
#define GTU_WANT_NONE	0		/* must not be given */
#define GTU_WANT_READ	1
#define GTU_WANT_WRITE	2
#define GTU_WANT_BOTH	3
#define GTU_WANT_MAYBE	4		/* or-ed: may be missing (mem[].key is 0 then) */

/*
 * Check and resolve the places of @want[0..n). Places below @places that no entry names must not be
 * given. True, or false with the job's error set.
 */
bool gtu_job_operands(struct gtu_job *job, const struct gtu_want *want, unsigned n, unsigned places);

/* ---- Units ----------------------------------------------------------------------------------- */

enum gtu_run {
	GTU_RUN_MORE,			/* call run() again */
	GTU_RUN_DONE,			/* complete, or in error (job->status) */
	GTU_RUN_STALLED,		/* waits for its consumer: call again after a kick */
};

/*
 * A unit is one of these and one file. Its schedule decides order, results and job->cycles, and
 * none of these may depend on how the work is cut into calls of run().
 */
struct gtu_unit {
	const char *name;		/* "scu": node of the FDT */
	uint8_t opcode_first, opcode_last;
	uint32_t bit;			/* GTU_UNIT_*; 0: built into the device, no page */
	uint32_t page;			/* of its registers */
	uint32_t id, version;
	bool exclusive;			/* state on chip that cannot be saved: one job at a time */
	unsigned params, counters;
	/* FDT property names of params[]; NULL entries are not published */
	const char *const *param_name;
	/* Fill param[params] from the configuration; at creation. */
	void (*parameters)(const struct gtu_dev_config *config, uint32_t *param);
	/* Values of the settings after reset, and whether @value may be written to setting @n. */
	uint32_t (*setting_reset)(const struct gtu_dev_config *config, unsigned n);
	bool (*setting_valid)(unsigned n, uint32_t value);
	/* Bytes of unit state on chip, allocated at creation, passed as gtu_unit_state(). */
	size_t (*state_bytes)(const struct gtu_dev_config *config);
	/* Check descriptor and operands. False: job->status is set. */
	bool (*start)(struct gtu_job *job);
	/* Go on for about @budget cycles. */
	int (*run)(struct gtu_job *job, uint64_t budget);
	/* Cycles of a fetch from memory, for observers. */
	uint32_t (*latency)(const struct gtu_dev_config *config);
	/*
	 * May be NULL. Registers of the unit's own, from GTU_UREG_OWN on in its page, read-only: the value at
	 * @reg and whether it is 64 bits wide. False: there is none. @held: a job has the unit.
	 */
	bool (*own_register)(const struct gtu_dev_config *config, const void *state, bool held,
			     uint32_t reg, uint64_t *value, bool *wide);
	/* May be NULL. The job is ended from outside (LIMIT, STALLED, CANCELED): tell its consumer. */
	void (*stop)(struct gtu_job *job);
};

extern const struct gtu_unit gtu_unit_basic;	/* basic.c: NOP, COPY, FILL, FENCE */
extern const struct gtu_unit gtu_unit_scu;	/* scu.c */
extern const struct gtu_unit gtu_unit_iru;	/* iru.c */
extern const struct gtu_unit gtu_unit_peg;	/* peg.c */
extern const struct gtu_unit gtu_unit_wvr;	/* wvr.c */
extern const struct gtu_unit gtu_unit_zcm;	/* zcm.c: no operations, it watches */

/* On-chip state of the job's unit; parameters, settings, counters of the unit. */
void *gtu_job_unit_state(const struct gtu_job *job);
const uint32_t *gtu_job_params(const struct gtu_job *job);
const uint32_t *gtu_job_settings(const struct gtu_job *job);
uint64_t *gtu_job_counters(const struct gtu_job *job);	/* live; add to them at the end of run() */

#endif
