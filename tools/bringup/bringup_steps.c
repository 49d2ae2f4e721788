// SPDX-License-Identifier: MIT
/* bringup: the order of the steps, their conditions, and the recording of findings. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bringup.h"
#include "libruntime/support/clock.h"
#include "tools/support/cli.h"
#include "tools/support/host.h"

/* ---- Findings ---------------------------------------------------------------------------------------- */

const char *const bringup_state_name[] = { "ok", "warn", "FAIL", "skip" };

static bool diagnosed(const struct bringup *b, const char *bug)
{
	unsigned i;

	for (i = 0; i < b->findings; i++)
		if (!strcmp(b->finding[i].bug, bug))
			return true;
	return false;
}

/*
 * Check that the function is still present. A dead function fails in every check: report it once,
 * without diagnosis.
 */
static bool is_lost(struct bringup *b)
{
	uint32_t magic;

	if (b->lost)
		return true;
	if (!b->a || !b->identified)
		return false;
	magic = access_reg(b->a, GTU_REG_MAGIC);
	if (magic == GTU_MAGIC)
		return false;
	bringup_lose(b, "the function is lost", "MAGIC reads 0x%08x, no longer 0x%08x: the function was lost in this step (link or power loss, a "
		     "surprise reset, memory decode off)", magic, GTU_MAGIC);
	return true;
}

void bringup_lose(struct bringup *b, const char *lost, const char *fmt, ...)
{
	char text[GTU_ERROR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	b->identified = false;
	bringup_say(b, BRINGUP_FAIL, NULL, "%s", text);
	b->lost = lost;
}

void bringup_say(struct bringup *b, enum bringup_state state, const char *bug, const char *fmt, ...)
{
	static struct bringup_finding spare;
	struct bringup_finding *f;
	va_list ap;

	if (state == BRINGUP_FAIL && is_lost(b))
		return;
	b->tested |= state != BRINGUP_SKIP;
	/* limit the findings per step, except first findings of each diagnosis */
	if (state != BRINGUP_OK && b->shown++ >= BRINGUP_STEP_SHOWN && (!bug || diagnosed(b, bug))) {
		b->hidden++;
		b->fails += state == BRINGUP_FAIL;
		return;
	}
	f = b->findings < BRINGUP_FINDINGS ? &b->finding[b->findings++] : &spare;
	f->state = state;
	f->step = b->step;
	snprintf(f->bug, sizeof(f->bug), "%s", bug ? bug : "");
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	b->fails += state == BRINGUP_FAIL;
	if (!b->show)
		return;
	cli_clear_bar();
	printf("%-4s  %-9s  %s%s%s%s\n", bringup_state_name[state], b->step, *f->bug ? "[" : "", f->bug, *f->bug ? "] " : "", f->text);
	fflush(stdout);
}

unsigned bringup_diagnoses(const struct bringup *b, const char **name, unsigned capacity)
{
	unsigned i, n = 0, k;

	for (i = 0; i < b->findings; i++) {
		const struct bringup_finding *f = &b->finding[i];

		if (f->state != BRINGUP_FAIL || !*f->bug)
			continue;
		for (k = 0; k < n && strcmp(name[k], f->bug); k++)
			;
		if (k == n && n < capacity)
			name[n++] = f->bug;
	}
	return n;
}

/* ---- Steps ------------------------------------------------------------------------------------------------ */

enum needs { NOTHING, IDENTIFIED, MEMORY };

static const struct step {
	const char *name;
	void (*run)(struct bringup *b);
	enum needs needs;
	bool driver;			/* also runs through a driver */
} steps[] = {
	{ "config", bringup_config, NOTHING, false },
	{ "identity", bringup_identity, NOTHING, false },
	{ "registers", bringup_registers, IDENTIFIED, false },
	{ "mailbox", bringup_mailbox, IDENTIFIED, false },
	{ "aperture", bringup_aperture, IDENTIFIED, false },
	{ "doorbells", bringup_doorbells, IDENTIFIED, false },
	{ "flr", bringup_flr, IDENTIFIED, false },
	{ "dma", bringup_dma, MEMORY, false },
	{ "irqs", bringup_irqs, MEMORY, false },
	{ "units", bringup_units, MEMORY, true },
	{ "lockstep", bringup_lockstep, MEMORY, true },
};
_Static_assert(sizeof(steps) / sizeof(steps[0]) == BRINGUP_STEPS, "BRINGUP_STEPS");

const char *bringup_step_name(unsigned i)
{
	return i < BRINGUP_STEPS ? steps[i].name : NULL;
}

/* Whether the step may run; otherwise report the reason. */
static bool may_run(struct bringup *b, const struct step *s)
{
	if (!b->a)
		return s->driver;
	if (s->needs != NOTHING && !b->identified) {
		bringup_say(b, BRINGUP_SKIP, NULL, "%s", b->lost ? b->lost : "the device is not identified");
		return false;
	}
	if (s->needs == MEMORY && b->fails && !b->force) {
		bringup_say(b, BRINGUP_SKIP, NULL, "something before has failed: the function gets no memory (--force overrides this)");
		return false;
	}
	return true;
}

void bringup_run(struct bringup *b, uint32_t chosen)
{
	unsigned i;

	/* the first two steps always run, except through a driver: the others need their results */
	b->chosen = (chosen | (b->a ? 3 : 0)) & ((1u << BRINGUP_STEPS) - 1);
	for (i = 0; i < BRINGUP_STEPS && !cli_interrupted(); i++) {
		const double start = gtu_now_s();

		if (!(b->chosen >> i & 1))
			continue;
		b->step = steps[i].name;
		b->shown = b->hidden = 0;
		b->tested = false;
		if (!may_run(b, &steps[i]))
			continue;
		steps[i].run(b);
		b->checked |= (uint32_t)b->tested << i;
		if (b->hidden) {
			b->shown = 0;
			bringup_say(b, BRINGUP_WARN, NULL, "%u more findings of this step, of the same kinds", b->hidden);
		}
		b->time[b->times].name = steps[i].name;
		b->time[b->times++].seconds = gtu_now_s() - start;
	}
	b->step = "end";
}
