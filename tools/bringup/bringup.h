/* SPDX-License-Identifier: MIT */
/*
 * gtu bringup: tests a new board step by step, over an `access` (bringup_access.h). bringup_say()
 * records the findings; bringup_report.c and bringup_html.c write them out.
 *
 * A finding that fails may have a diagnosis: the name of a bug that explains the observations. Bugs
 * that `gtu serve --bug` injects (enum gtu_bug) have the same names. Diagnoses use observations
 * only.
 */
#ifndef GTU_BRINGUP_H
#define GTU_BRINGUP_H

#include "bringup_access.h"
#include "firmware-model/device/gtu_units.h"
#include "uapi/gtu/hw.h"

enum bringup_state { BRINGUP_OK, BRINGUP_WARN, BRINGUP_FAIL, BRINGUP_SKIP };

#define BRINGUP_FINDINGS	160
#define BRINGUP_REGISTERS	128
#define BRINGUP_STEPS		11
#define BRINGUP_STEP_SHOWN	16	/* findings of a step that are reported one by one, without "ok" */

struct bringup_finding {
	enum bringup_state state;
	const char *step;
	char bug[24];			/* the diagnosis, or "" */
	char text[GTU_ERROR_TEXT];
};

/*
 * A row of the register table: the expected value of a register after a reset, and the value read.
 */
struct bringup_register {
	uint32_t offset;
	char name[24];
	const char *access;		/* "RO", "RW", "W1C", "WO" */
	bool wide, wanted;		/* wanted: `want` is valid */
	uint64_t want, got;
	bool bad;
};

struct bringup {
	struct access *a;		/* NULL: through a driver */
	const char *device;		/* a driver's file, or NULL */

	/* options */
	uint64_t lockstep;		/* descriptors; 0: none */
	uint64_t seed;
	uint64_t time_scale;		/* factor of time limits */
	uint64_t march;			/* bytes of the aperture to march through */
	uint32_t id;			/* vendor | device << 16 that the function should have */
	bool reset;			/* function-level resets are allowed */
	bool force;			/* give the function memory although registers are wrong */
	bool show;			/* print findings as they occur */

	/* findings */
	struct bringup_finding finding[BRINGUP_FINDINGS];
	unsigned findings, fails;
	unsigned shown, hidden;		/* findings of the current step, without "ok" */
	const char *step;		/* the current step */
	uint32_t chosen, checked;	/* bit: a step; checked: not everything of it was skipped */
	bool tested;			/* the current step has a finding other than "skip" */
	struct { const char *name; double seconds; } time[16];
	unsigned times;

	uint64_t bar[ACCESS_BARS];
	uint32_t bar_flags[ACCESS_BARS];
	uint64_t bar_address[ACCESS_BARS];
	char link[96];
	struct bringup_register reg[BRINGUP_REGISTERS];
	unsigned regs;

	bool identified;		/* and still present */
	const char *lost;		/* why the function is no longer usable, or NULL */
	uint64_t caps, clock_hz, aperture;
	uint32_t version, units, contexts, queues, regions_log2, ring_log2, vectors, event_rings, stride;
	uint32_t absent_scu;		/* options: GTU_ABSENT_SCU_*, found by the lock step */
	uint32_t absent_operations;	/* bit n: gtu_unit_operation(n) is ABSENT although its unit is there */
	uint32_t param[GTU_UNIT_COUNT][GTU_UREG_PARAMS], setting[GTU_UNIT_COUNT][GTU_UREG_SETS];

	uint64_t requests[GTU_ZCM_DIRECTIONS][4];	/* in the lock step, by direction and sectors */
	bool watched;			/* requests[] is valid */
	uint64_t compared;		/* descriptors of the lock step that agreed */
	double rate;			/* descriptors per second of the comparison alone */
};

extern const char *const bringup_state_name[];

void bringup_say(struct bringup *b, enum bringup_state state, const char *bug, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Report that the function is unusable; steps that are skipped give @lost as their reason. */
void bringup_lose(struct bringup *b, const char *lost, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Find an injectable bug by name; false after a message. */
bool bringup_bug(const char *name, enum gtu_bug *bug);

/*
 * Name of step @i in their order; NULL after the last. bringup_run() runs the steps in the mask
 * @chosen and leaves their findings in @b.
 */
const char *bringup_step_name(unsigned i);
void bringup_run(struct bringup *b, uint32_t chosen);

/* The steps that need no memory, in order. */
void bringup_config(struct bringup *b);
void bringup_identity(struct bringup *b);
void bringup_registers(struct bringup *b);
void bringup_blocks(struct bringup *b);		/* a part of registers */
void bringup_mailbox(struct bringup *b);
void bringup_aperture(struct bringup *b);
void bringup_doorbells(struct bringup *b);
void bringup_flr(struct bringup *b);
/* The steps that give the function memory. */
void bringup_dma(struct bringup *b);
void bringup_irqs(struct bringup *b);
void bringup_units(struct bringup *b);
void bringup_lockstep(struct bringup *b);

/*
 * Write golden vectors for the device's build to files in @folder, @count jobs in each; and run such files on the
 * function. Both need what bringup_config() and bringup_identity() find. (bringup_vectors.c)
 */
int bringup_vectors_export(struct bringup *b, const char *folder, uint64_t count, struct gtu_error *err);
void bringup_vectors_check(struct bringup *b, const char *folder);

/* Write the page, or the document; GTU_ERR_FAIL with a message. */
int bringup_html(const struct bringup *b, const char *path, struct gtu_error *err);
int bringup_json(const struct bringup *b, const char *path, struct gtu_error *err);
/* Collect the distinct diagnoses of failed findings in order. Returns their number. */
unsigned bringup_diagnoses(const struct bringup *b, const char **name, unsigned capacity);

#endif
