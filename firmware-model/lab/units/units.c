// SPDX-License-Identifier: MIT
/* Attached units: requests from warps, memory accesses, wake-ups and replies. */
#include "firmware-model/lab/engine/internal.h"

int lab_attach(struct lab *lab, const struct lab_unit *unit, void *ctx, int *number, struct gtu_error *err)
{
	if (lab->units == LAB_UNITS)
		return gtu_fail(err, GTU_ERR_USAGE, "a laboratory has at most %d units: cannot attach '%s'", LAB_UNITS,
				unit->name);
	lab->unit[lab->units] = *unit;
	lab->unit_ctx[lab->units] = ctx;
	lab->unit_wake[lab->units] = UINT64_MAX;
	*number = lab->units++;
	return 0;
}

void lab_unit_path(struct lab *lab, int unit, const struct lab_unit_path *path)
{
	lab->unit_path[unit].is = *path;
	lab->unit_path[unit].is.packets = path->packets < LAB_UNITS ? path->packets : LAB_UNITS;
}

static unsigned port_of(const struct lab *lab, int unit, unsigned at)
{
	return lab->unit[unit].attach_point == LAB_IN_SM ? at : lab->m.sms + (unsigned)unit;
}

void lab_unit_memory(struct lab *lab, int unit, unsigned at, enum lab_kind kind, uint64_t addr, unsigned sectors,
		     uint64_t tag)
{
	/* a port of several packets a cycle is as many ports, which take turns */
	uint32_t packets = lab->unit_path[unit].is.packets, lane = packets > 1 ? lab->unit_path[unit].next++ % packets : 0;
	uint32_t node = lab_request(lab, kind, port_of(lab, unit, at) + lane, (uint32_t)(addr / LAB_LINE), sectors,
				    LAB_REPLY_TO_UNIT, (uint32_t)unit);

	lab->calendar.node[node].value = tag;
	lab_send(lab, node, lab->calendar.now);
}

void lab_unit_words(struct lab *lab, int unit, unsigned at, enum lab_kind kind, uint64_t addr, uint64_t words,
		    uint64_t tag)
{
	unsigned from = addr / LAB_SECTOR % 4, to = (unsigned)((addr + 4 * words - 1) / LAB_SECTOR % 4);

	lab_unit_memory(lab, unit, at, kind, addr & ~(uint64_t)(LAB_LINE - 1), (2u << to) - (1u << from), tag);
}

void lab_unit_wake(struct lab *lab, int unit, uint64_t cycle)
{
	uint32_t node;

	if (lab->unit_wake[unit] <= cycle)
		return;
	lab->unit_wake[unit] = cycle;
	node = lab_node_alloc(lab);	/* a superseded later wake-up finds nothing to do */
	lab->calendar.node[node].owner = (uint32_t)unit;
	lab->calendar.node[node].value = cycle;
	lab_schedule(&lab->calendar, lab_max(cycle, lab->calendar.now), node, EV_UNIT_CLOCK);
}

void lab_unit_request(struct lab_warp *w, int unit, unsigned at, uint64_t value, void *answer, uint32_t answer_bytes)
{
	struct lab *lab = w->lab;
	uint32_t node;
	struct lab_node *n;
	uint64_t arrives;
	unsigned flits;

	if (!w->mask)
		return;
	if (unit < 0 || unit >= lab->units)
		lab_fault(w, "%s: unit %d does not exist; %d are attached", lab->launch->kernel->name, unit, lab->units);
	if (w->ops)			/* earlier memory operations are issued first */
		lab_wait_for(w, 0);
	node = lab_node_alloc(lab);
	n = &lab->calendar.node[node];
	lab_alu(w, 1);
	w->answer = answer;
	w->answer_bytes = answer_bytes;
	w->pending[LAB_ANSWERS]++;
	lab->stats.unit_requests++;
	n->owner = (uint32_t)unit;
	n->line = w->id;
	n->port = (uint16_t)at;
	n->value = value;
	if (lab->unit[unit].attach_point == LAB_IN_SM) {
		arrives = lab->calendar.now + 1;
		if (lab->m.policy == LAB_BARREL)	/* after the instructions before it, each in a turn */
			arrives += (w->alu_first - 1ull) * lab->m.warps;
	} else {
		flits = (lab->m.noc_header + 8 + lab->m.noc_flit - 1) / lab->m.noc_flit;
		lab->stats.request_flits += flits;
		arrives = lab_port_out(lab, w->sm, lab->calendar.now, flits);
	}
	lab_schedule(&lab->calendar, arrives, node, EV_UNIT_ASK);
	lab_wait_for(w, 1u << LAB_ANSWERS);
}

void lab_unit_reply(struct lab *lab, int unit, uint32_t warp, const void *data, uint32_t bytes, uint64_t cycle)
{
	lab_unit_reply_packed(lab, unit, warp, data, bytes, bytes, cycle);
}

void lab_unit_reply_packed(struct lab *lab, int unit, uint32_t warp, const void *data, uint32_t bytes, uint32_t sent,
			   uint64_t cycle)
{
	struct lab_warp *w = &lab->warp[warp];
	uint64_t t = cycle + 1;
	uint32_t node, flits;

	memcpy(w->answer, data, bytes < w->answer_bytes ? bytes : w->answer_bytes);
	lab->stats.unit_replies++;
	if (lab->unit[unit].attach_point != LAB_IN_SM) {
		flits = (lab->m.noc_header + sent + lab->m.noc_flit - 1) / lab->m.noc_flit;
		lab->stats.reply_flits += flits;
		t = lab_port_in(lab, w->sm, cycle, flits);
	}
	node = lab_node_alloc(lab);
	lab->calendar.node[node].owner = warp;
	lab_schedule(&lab->calendar, t, node, EV_UNIT_ANSWER);
}

void lab_unit_event(struct lab *lab, uint32_t node)
{
	struct lab_node n = lab->calendar.node[node];
	const struct lab_unit *u;
	void *ctx;

	lab_node_free(lab, node);
	if (n.kind == EV_UNIT_ANSWER) {
		lab_warp_done(lab, &lab->warp[n.owner], LAB_ANSWERS, lab->calendar.now);
		return;
	}
	u = &lab->unit[n.owner];
	ctx = lab->unit_ctx[n.owner];
	switch (n.kind) {
	case EV_UNIT_ASK:
		lab->stats.unit_arrived++;
		u->ask(ctx, n.line, n.port, n.value, lab->calendar.now);
		break;
	case EV_UNIT_REPLY:
		u->reply(ctx, n.value, lab->calendar.now);
		break;
	case EV_UNIT_CLOCK:
		if (lab->unit_wake[n.owner] != n.value)
			break;
		lab->unit_wake[n.owner] = UINT64_MAX;
		u->clock(ctx, lab->calendar.now);
		break;
	}
}
