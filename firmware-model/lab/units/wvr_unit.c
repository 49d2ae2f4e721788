// SPDX-License-Identifier: MIT
/* Weaver attached to the SMs: its four instructions and their timing. */
#include <stdlib.h>

#include "wvr_unit.h"

const struct wvr_shape lab_weaver_published = {
	.entries = 512, .warps = 32, .table_latency = 10, .lanes = WVR_LANES,
};

#define WORDS_OF_AN_ENTRY 3u		/* VID, start, degree */

enum instruction { REG, DEC_ID, DEC_LOC, SKIP };

/* Operands of an instruction, on the waiting warp's stack. */
struct operands {
	enum instruction instruction;
	uint32_t warp;			/* warp index in its block */
	lab_mask mask;
	const uint32_t *vid, *start, *degree;
	enum wvr_answer answer;
	uint32_t entry;			/* the offending entry */
};

struct sm {
	struct wvr_core *core;
	uint64_t port_free;		/* cycle in which the sparse table accepts the next write */
	uint64_t requests;
};

struct lab_weaver {
	struct lab *lab;
	int unit;
	unsigned sms;
	struct wvr_shape shape;
	struct sm sm[LAB_SMS_MAX];
};

/* ---- In the SM ------------------------------------------------------------------------------- */

/* The core's clock is at its last reply; advance it to the request's cycle. */
static void catch_up(struct wvr_core *c, uint64_t cycle)
{
	if (c->cycle < cycle)
		wvr_core_pass(c, cycle - c->cycle);
}

static uint64_t take_registrations(struct lab_weaver *u, struct sm *s, struct operands *o, uint64_t cycle)
{
	uint64_t begin = cycle > s->port_free ? cycle : s->port_free;
	lab_mask m;

	catch_up(s->core, begin);
	for (m = o->mask; m && o->answer == WVR_OK; m &= m - 1) {
		unsigned l = (unsigned)__builtin_ctz(m);

		o->entry = o->warp * LAB_LANES + l;
		o->answer = wvr_core_register(s->core, o->entry, o->vid[l], o->start[l], o->degree[l]);
	}
	s->port_free = begin + WORDS_OF_AN_ENTRY;
	catch_up(s->core, s->port_free);
	return s->port_free - 1 + u->shape.table_latency;
}

static void narrow(const uint64_t *from, uint32_t *to)
{
	unsigned i;

	for (i = 0; i < LAB_LANES; i++)
		to[i] = from[i] == WVR_NONE ? LAB_NO_WORK : (uint32_t)from[i];
}

/* Of the vertices that the active lanes skip, the one of the current entry if there is one, otherwise the lowest lane's. */
static uint32_t one_vertex(const struct wvr_core *c, const struct operands *o)
{
	lab_mask m;

	for (m = o->mask; m; m &= m - 1)
		if (o->vid[__builtin_ctz(m)] == c->now.vid)
			return o->vid[__builtin_ctz(m)];
	return o->vid[__builtin_ctz(o->mask)];
}

static void on_ask(void *ctx, uint32_t warp, unsigned at, uint64_t value, uint64_t cycle)
{
	struct operands *o = (struct operands *)(uintptr_t)value;
	struct lab_weaver *u = ctx;
	struct sm *s = &u->sm[at];
	uint32_t lanes[LAB_LANES];
	struct wvr_work work;

	switch (o->instruction) {
	case REG:
		lab_unit_reply(u->lab, u->unit, warp, o, 0, take_registrations(u, s, o, cycle));
		break;
	case DEC_ID:
		s->requests++;
		catch_up(s->core, cycle);
		wvr_core_dec_id(s->core, o->warp, &work);
		narrow(work.vid, lanes);
		lab_unit_reply(u->lab, u->unit, warp, lanes, sizeof(lanes), work.cycle);
		break;
	case DEC_LOC:
		narrow(wvr_core_dec_loc(s->core, o->warp), lanes);
		lab_unit_reply(u->lab, u->unit, warp, lanes, sizeof(lanes), cycle + u->shape.table_latency - 1);
		break;
	case SKIP:
		catch_up(s->core, cycle);
		wvr_core_skip(s->core, one_vertex(s->core, o));
		/* no warp waits for the scan */
		lab_unit_reply(u->lab, u->unit, warp, o, 0, cycle);
		break;
	}
}

/* ---- Host interface -------------------------------------------------------------------------- */

int lab_weaver_attach(struct lab *lab, const struct wvr_shape *shape, struct lab_weaver **out, struct gtu_error *err)
{
	const struct lab_machine *m = lab_machine_of(lab);
	static const struct lab_unit unit = { "weaver", LAB_IN_SM, on_ask, NULL, NULL, false };
	struct lab_weaver *u = calloc(1, sizeof(*u));
	const char *why;
	void *memory = u;
	int rc = 0;

	*out = NULL;
	if (!u)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for Weaver");
	u->lab = lab;
	u->shape = *shape;
	u->shape.warps = m->warps;
	u->shape.lanes = LAB_LANES;
	why = wvr_shape_check(&u->shape);
	if (!why && shape->entries < LAB_LANES)
		why = "Weaver needs at least 32 entries, one warp's";
	if (why) {
		free(u);
		return gtu_fail(err, GTU_ERR_USAGE, "%s", why);
	}
	for (; u->sms < m->sms && memory; u->sms++) {
		memory = aligned_alloc(64, (wvr_core_bytes(&u->shape) + 63) & ~(size_t)63);
		u->sm[u->sms].core = memory ? wvr_core_init(memory, &u->shape) : NULL;
	}
	rc = memory ? lab_attach(lab, &unit, u, &u->unit, err) : gtu_fail(err, GTU_ERR_NOMEM, "out of memory for Weaver");
	if (rc)
		lab_weaver_free(u);
	else
		*out = u;
	return rc;
}

void lab_weaver_free(struct lab_weaver *u)
{
	unsigned i;

	for (i = 0; u && i < u->sms; i++)
		free(u->sm[i].core);
	free(u);
}

void lab_weaver_counts(const struct lab_weaver *u, struct lab_weaver_counts *counts)
{
	unsigned i;

	memset(counts, 0, sizeof(*counts));
	for (i = 0; i < u->sms; i++) {
		counts->requests += u->sm[i].requests;
		lab_add_words(&counts->core, &u->sm[i].core->count, sizeof(counts->core));
	}
}

uint32_t lab_weaver_warps(const struct lab_weaver *u)
{
	uint32_t warps = u->shape.entries / LAB_LANES;

	return warps < u->shape.warps ? warps : u->shape.warps;
}

/* ---- Warp interface -------------------------------------------------------------------------- */

static void execute(struct lab_warp *w, struct lab_weaver *u, struct operands *o, void *answer, uint32_t bytes)
{
	if (w->block_warps != lab_machine_of(u->lab)->warps)
		lab_fault(w, "Weaver identifies warps by their number in the block: a block must have all %u warps of an SM, not %u",
			  lab_machine_of(u->lab)->warps, w->block_warps);
	o->warp = w->in_block;
	o->mask = w->mask;
	lab_unit_request(w, u->unit, w->sm, (uintptr_t)o, answer, bytes);
}

void lab_weaver_reg(struct lab_warp *w, struct lab_weaver *u, const lab_u32 *vid, const lab_u32 *start,
		    const lab_u32 *degree)
{
	struct operands o = { .instruction = REG, .vid = (const uint32_t *)vid, .start = (const uint32_t *)start,
			      .degree = (const uint32_t *)degree };

	execute(w, u, &o, &o, 0);
	if (o.answer != WVR_OK)
		lab_fault(w, "WEAVER_REG: entry %u of %u%s", o.entry, u->shape.entries,
			  o.answer == WVR_TWICE ? " is registered twice in a round" : " does not exist");
}

lab_mask lab_weaver_dec_id(struct lab_warp *w, struct lab_weaver *u, lab_u32 *vid)
{
	struct operands o = { .instruction = DEC_ID };

	*vid = lab_all(LAB_NO_WORK);
	execute(w, u, &o, vid, sizeof(*vid));
	return lab_ne(*vid, lab_all(LAB_NO_WORK)) & w->mask;
}

void lab_weaver_dec_loc(struct lab_warp *w, struct lab_weaver *u, lab_u32 *eid)
{
	struct operands o = { .instruction = DEC_LOC };

	*eid = lab_all(LAB_NO_WORK);
	execute(w, u, &o, eid, sizeof(*eid));
}

void lab_weaver_skip(struct lab_warp *w, struct lab_weaver *u, const lab_u32 *vid)
{
	struct operands o = { .instruction = SKIP, .vid = (const uint32_t *)vid };

	execute(w, u, &o, &o, 0);
}
