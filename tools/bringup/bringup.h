/* SPDX-License-Identifier: MIT */
/*
 * gtu bringup: the first day of a board. Steps in the order in which one would look, each over an `access`
 * (bringup_access.h); what they find is said by bringup_say() and shown by bringup_report.c, bringup_html.c.
 *
 * A finding that fails may carry a diagnosis, the name of a mistake that explains what was seen: those that
 * `gtu serve --bug` plants (enum gtu_bug) have the same names. It is made from observations only.
 */
#ifndef GTU_BRINGUP_H
#define GTU_BRINGUP_H

#include "bringup_access.h"
#include "uapi/gtu/hw.h"

enum bringup_state { BRINGUP_OK, BRINGUP_WARN, BRINGUP_FAIL, BRINGUP_SKIP };

#define BRINGUP_FINDINGS	160
#define BRINGUP_REGISTERS	128
#define BRINGUP_UNITS		5
#define BRINGUP_STEPS		11
#define BRINGUP_STEP_TOLD	16	/* findings of a step that are told one by one, beside what is right */

struct bringup_finding {
	enum bringup_state state;
	const char *step;
	char bug[24];			/* the diagnosis, or "" */
	char text[GTU_ERROR_TEXT];
};

/* A row of the register diff: what a register should have held after a reset, and what it did. */
struct bringup_register {
	uint32_t offset;
	char name[24];
	const char *access;		/* "RO", "RW", "W1C", "WO" */
	bool wide, wanted;		/* `want` is known */
	uint64_t want, got;
	bool bad;
};

struct bringup {
	struct access *a;		/* NULL: through a driver */
	const char *device;		/* a driver's file, or NULL */

	/* what is asked for */
	uint64_t lockstep;		/* descriptors; 0: none */
	uint64_t seed;
	uint64_t march;			/* bytes of the aperture that are marched through */
	bool reset;			/* a function-level reset may be done */
	bool force;			/* go on with memory though registers are wrong */
	bool show;			/* findings are printed as they come */

	/* what was found */
	struct bringup_finding finding[BRINGUP_FINDINGS];
	unsigned findings, fails;
	unsigned told, untold;		/* of the step that is running, beside what is right */
	const char *step;		/* that is running */
	struct { const char *name; double seconds; } time[16];
	unsigned times;

	uint64_t bar[ACCESS_BARS];
	uint32_t bar_flags[ACCESS_BARS];
	uint64_t bar_address[ACCESS_BARS];
	char link[96];
	struct bringup_register reg[BRINGUP_REGISTERS];
	unsigned regs;

	bool identified;		/* and still there */
	const char *lost;		/* why it is not, or NULL */
	uint64_t caps, clock_hz, aperture;
	uint32_t version, units, contexts, queues, regions_log2, ring_log2, vectors, event_rings, stride;
	uint32_t param[BRINGUP_UNITS][GTU_UREG_PARAMS];
	uint32_t iru_timeout, peg_setting[3];

	uint64_t requests[GTU_ZCM_DIRECTIONS][4];	/* of the lock step, by direction and sectors */
	bool watched;			/* there are such */
	uint64_t compared;		/* descriptors of the lock step that agreed */
	double rate;			/* a second, over the comparison alone */
};

extern const char *const bringup_state_name[];

void bringup_say(struct bringup *b, enum bringup_state state, const char *bug, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Nothing more can be asked of the function: a finding, and @lost, which steps that are left out give as their reason. */
void bringup_lose(struct bringup *b, const char *lost, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A planted bug by name; false after a complaint. */
bool bringup_bug(const char *name, enum gtu_bug *bug);

/* Name of step @i, in their order; NULL behind the last. And do those whose bits are set: what they find is in @b. */
const char *bringup_step_name(unsigned i);
void bringup_run(struct bringup *b, uint32_t chosen);

/* The steps that need no memory, in their order. */
void bringup_config(struct bringup *b);
void bringup_identity(struct bringup *b);
void bringup_registers(struct bringup *b);
void bringup_mailbox(struct bringup *b);
void bringup_aperture(struct bringup *b);
void bringup_doorbells(struct bringup *b);
void bringup_flr(struct bringup *b);
/* Those that give the function memory. */
void bringup_dma(struct bringup *b);
void bringup_irqs(struct bringup *b);
void bringup_units(struct bringup *b);
void bringup_lockstep(struct bringup *b);

/* A unit's page, from its place in the arrays above (scu, iru, peg, wvr, zcm), and its bit and name. */
static inline uint32_t bringup_page(unsigned unit)
{
	return GTU_PAGE_SCU + unit * GTU_PAGE;
}
extern const char *const bringup_unit_name[BRINGUP_UNITS];

/* Write the page, or the document; GTU_ERR_FAIL with a sentence. */
int bringup_html(const struct bringup *b, const char *path, struct gtu_error *err);
int bringup_json(const struct bringup *b, const char *path, struct gtu_error *err);
/* Findings whose state is fail with a diagnosis, first one first, without repetitions; how many there are. */
unsigned bringup_diagnoses(const struct bringup *b, const char **name, unsigned room);

#endif
