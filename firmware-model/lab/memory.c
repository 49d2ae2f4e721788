// SPDX-License-Identifier: MIT
/* Crossbar, L2 slices and DRAM: what happens to a request that left an SM. */
#include <stdlib.h>

#include "lab/internal.h"

/* ---- Nodes ------------------------------------------------------------------------------------- */

uint32_t lab_node_take(struct lab *lab)
{
	uint32_t n = lab->node_free;

	lab->in_flight++;
	if (n) {
		lab->node_free = lab->calendar.node[n].next;
		return n;
	}
	if (lab->node_end == LAB_NODES_MAX) {
		lab->calendar.no_memory = true; /* the run fails; the last node serves until then */
		return LAB_NODES_MAX - 1;
	}
	return lab->node_end++;
}

void lab_node_give(struct lab *lab, uint32_t node)
{
	lab->in_flight--;
	lab->calendar.node[node].next = lab->node_free;
	lab->node_free = node;
}

/* ---- Tags -------------------------------------------------------------------------------------- */

bool lab_tags_init(struct lab_tags *t, uint32_t size, uint32_t ways, bool l2)
{
	size_t lines = size / LAB_LINE;

	memset(t, 0, sizeof(*t));
	t->ways = ways;
	t->sets = (uint32_t)lines / ways;
	t->line = calloc(lines, sizeof(*t->line));
	t->used = calloc(lines, sizeof(*t->used));
	t->valid = calloc(lines, 4);
	if (l2)
		t->ready = calloc(lines, sizeof(*t->ready));
	else
		t->mshr = calloc(lines, sizeof(*t->mshr));
	if (!t->line || !t->used || !t->valid || !(l2 ? (void *)t->ready : (void *)t->mshr))
		return false;
	t->pending = t->valid + lines;
	t->dirty = t->pending + lines;
	t->partial = t->dirty + lines;
	return true;
}

void lab_tags_free(struct lab_tags *t)
{
	free(t->line);
	free(t->used);
	free(t->ready);
	free(t->mshr);
	free(t->valid);
}

/*
 * Lines go over the slices in groups of one each, turned by a hash of the group, so that no stride
 * meets one slice only and every aligned stretch is spread evenly.
 */
void lab_locate(const struct lab *lab, uint32_t line, uint32_t *slice, uint32_t *set, uint32_t *group)
{
	uint32_t n = lab->m.l2_slices, g, r, turn;

	line -= (uint32_t)(LAB_BASE / LAB_LINE);
	g = line / n;
	r = line - g * n;
	turn = (g * 0x9E3779B1u) >> 16;
	turn = (uint32_t)(((uint64_t)turn * n) >> 16);
	r += turn;
	*slice = r >= n ? r - n : r;
	*group = g;
	*set = lab_set_of(lab->m.l2_index, g, lab->slice[0].tags.sets);
}

/* ---- Ports ------------------------------------------------------------------------------------- */

uint64_t lab_port_out(struct lab *lab, unsigned port, uint64_t cycle, unsigned flits)
{
	struct lab_port *p = &lab->port[port];
	uint64_t t = lab_max(cycle, p->out_free);

	p->out_free = t + flits;
	return t + flits + lab->m.noc_latency;
}

uint64_t lab_port_in(struct lab *lab, unsigned port, uint64_t cycle, unsigned flits)
{
	struct lab_port *p = &lab->port[port];

	p->in_free = lab_max(cycle + lab->m.noc_latency, p->in_free) + flits;
	return p->in_free;
}

/* Sectors of a store's packet: 1, an aligned 2, or all 4. */
static unsigned packet_sectors(unsigned bits)
{
	if (!(bits & (bits - 1)))
		return bits;
	return !(bits & 0xc) ? 0x3 : !(bits & 0x3) ? 0xc : 0xf;
}

void lab_send(struct lab *lab, uint32_t node, uint64_t cycle)
{
	struct lab_node *n = &lab->calendar.node[node];
	struct lab_stats *s = &lab->stats;
	uint32_t set, group, slice, bytes = lab->m.noc_header, carried = 0;

	if (n->op == LAB_STORE) {
		unsigned whole = packet_sectors(n->sectors);

		n->partial |= (uint8_t)(whole & ~n->sectors);
		n->sectors = (uint8_t)whole;
		carried = (uint32_t)__builtin_popcount(whole);
	} else if (n->op == LAB_ATOMIC) {
		carried = 1;
	}
	bytes += carried * LAB_SECTOR;
	n->flits = (uint8_t)((bytes + lab->m.noc_flit - 1) / lab->m.noc_flit);
	lab_locate(lab, n->line, &slice, &set, &group);
	n->slice = (uint16_t)slice;
	n->bytes = (uint8_t)bytes;
	lab->port[n->port].outstanding++;
	if (n->flags == LAB_OF_UNIT) {
		s->unit_sectors += (uint32_t)__builtin_popcount(n->sectors);
		if (lab->unit[n->owner].place == LAB_IN_PARTITION) {
			lab_at(&lab->calendar, cycle + 1, node, EV_ARRIVE);
			return;
		}
	}
	s->request[n->op][carried]++;
	s->request_bytes[n->op] += bytes;
	s->request_flits += n->flits;
	lab_at(&lab->calendar, lab_port_out(lab, n->port, cycle, n->flits), node, EV_ARRIVE);
}

static bool by_crossbar(const struct lab *lab, const struct lab_node *n)
{
	return n->flags != LAB_OF_UNIT || lab->unit[n->owner].place != LAB_IN_PARTITION;
}

/* ---- DRAM -------------------------------------------------------------------------------------- */

/* One sector's command; the cycle (in fractions) in which its data is over the bus. */
static uint64_t dram(struct lab *lab, struct lab_slice *s, uint32_t group, uint64_t t)
{
	struct lab_channel *c = &lab->channel[s->channel];
	uint32_t row = (group * lab->slices_channel + s->number) / lab->lines_row, banks = lab->m.dram_banks;
	struct lab_bank *b = &c->bank[(row ^ row / banks) % banks];
	uint64_t start = lab_max(t, b->free), data;

	if (b->row == row + 1) {
		lab->stats.dram_row_hits++;
		data = start + lab->dram_hit;
		b->free = start;
	} else {
		lab->stats.dram_row_misses++;
		data = start + lab->dram_miss;
		b->free = start + lab->dram_miss - lab->dram_hit;
		b->row = row + 1;
	}
	c->bus_free = lab_max(data, c->bus_free) + lab->dram_atom;
	return c->bus_free;
}

/* ---- L2 ---------------------------------------------------------------------------------------- */

static uint32_t victim(struct lab_tags *t, uint32_t first, uint64_t cycle)
{
	uint32_t i, best = first, fallback = first;
	uint64_t least = UINT64_MAX, least_any = UINT64_MAX;

	for (i = first; i < first + t->ways; i++) {
		if (!t->line[i])
			return i;
		if (t->used[i] < least_any) {
			least_any = t->used[i];
			fallback = i;
		}
		if (t->used[i] < least && (!t->pending[i] || t->ready[i] <= cycle)) {
			least = t->used[i];
			best = i;
		}
	}
	return least == UINT64_MAX ? fallback : best;
}

/*
 * Look up @need sectors of a line; @t is the cycle in which the slice has it in hand. Returns when the
 * data is there (a write: when it is accepted).
 */
static uint64_t l2_access(struct lab *lab, struct lab_slice *s, const struct lab_node *n, uint64_t t)
{
	struct lab_tags *g = &s->tags;
	uint32_t slice, set, group, w, miss, hit, wait, first;
	uint64_t ready = t + lab->m.l2_latency, data;
	bool there, write = n->op == LAB_STORE;
	uint64_t *count = write ? lab->stats.l2_write : lab->stats.l2_read;
	int way;

	lab_locate(lab, n->line, &slice, &set, &group);
	first = set * g->ways;
	way = lab_find(g, set, n->line);
	there = way >= 0;
	w = there ? first + (uint32_t)way : victim(g, first, t);
	if (!there) {
		for (miss = g->line[w] ? g->dirty[w] : 0; miss; miss &= miss - 1) {
			uint32_t old_slice, old_set, old_group;

			lab_locate(lab, g->line[w], &old_slice, &old_set, &old_group);
			dram(lab, s, old_group, ready << LAB_FRACTION);
			lab->stats.dram_writes++;
			lab->stats.l2_evicted_sectors++;
		}
		g->line[w] = n->line;
		g->valid[w] = g->pending[w] = g->dirty[w] = g->partial[w] = 0;
	}
	g->used[w] = ++g->clock;
	if (g->pending[w] && g->ready[w] <= t)
		g->pending[w] = 0;
	wait = n->sectors & g->pending[w];
	hit = n->sectors & g->valid[w] & ~g->pending[w];
	if (!write)
		hit &= ~g->partial[w];	/* written in part: the rest has still to be fetched */
	miss = n->sectors & ~hit & ~wait;
	count[LAB_HIT] += (uint32_t)__builtin_popcount(hit);
	count[LAB_PENDING] += (uint32_t)__builtin_popcount(wait);
	count[LAB_SECTOR_MISS] += (uint32_t)__builtin_popcount(miss) - (!there && miss);
	count[LAB_MISS] += !there && miss;
	if (write) {
		g->partial[w] |= (uint8_t)(n->partial & miss);
		g->valid[w] |= n->sectors;
		g->dirty[w] |= n->sectors;
		return ready;
	}
	if (wait)
		ready = lab_max(ready, g->ready[w]);
	if (n->op == LAB_ATOMIC)
		g->dirty[w] |= n->sectors;
	if (!miss)
		return ready;
	g->valid[w] |= (uint8_t)miss;
	g->partial[w] &= (uint8_t)~miss;
	if (!g->pending[w])
		g->ready[w] = 0;
	g->pending[w] |= (uint8_t)miss;
	for (; miss; miss &= miss - 1) {
		data = dram(lab, s, group, (t + lab->m.l2_latency + lab->m.dram_latency) << LAB_FRACTION);
		g->ready[w] = lab_max(g->ready[w], (data >> LAB_FRACTION) + 1);
		lab->stats.dram_reads++;
		lab->stats.l2_filled_sectors++;
	}
	return lab_max(ready, g->ready[w]);
}

void lab_memory_arrive(struct lab *lab, uint32_t node)
{
	struct lab_node *n = &lab->calendar.node[node];
	struct lab_slice *s = &lab->slice[n->slice];
	uint32_t sectors = (uint32_t)__builtin_popcount(n->sectors);
	uint64_t t = lab_max(lab->calendar.now, s->free);

	s->free = t + (n->flits > sectors ? n->flits : sectors);
	if (by_crossbar(lab, n)) {
		lab->stats.arrived[n->op]++;
		lab->stats.arrived_bytes[n->op] += n->bytes;
	}
	lab_at(&lab->calendar, l2_access(lab, s, n, t), node, EV_REPLY);
}

void lab_memory_reply(struct lab *lab, uint32_t node)
{
	struct lab_node *n = &lab->calendar.node[node];
	struct lab_slice *s = &lab->slice[n->slice];
	uint32_t sectors = (uint32_t)__builtin_popcount(n->sectors), flits, bytes;
	uint64_t t = lab->calendar.now;
	unsigned port = n->port;

	lab->port[port].outstanding--;
	if (by_crossbar(lab, n)) {
		bytes = sectors * (lab->m.noc_header + (n->op == LAB_STORE ? 0 : LAB_SECTOR));
		flits = n->op == LAB_STORE ? sectors : sectors * lab->reply_flits;
		lab->stats.reply[n->op] += sectors;
		lab->stats.reply_bytes[n->op] += bytes;
		lab->stats.reply_flits += flits;
		t = lab_max(t, s->out_free);
		s->out_free = t + flits;
		t = lab_port_in(lab, port, t, flits);
		lab->stats.answered[n->op] += sectors;
		lab->stats.answered_bytes[n->op] += bytes;
	}
	switch (n->flags) {
	case LAB_OF_MSHR:
		lab_at(&lab->calendar, t, node, EV_FILL);
		break;
	case LAB_OF_UNIT:
		lab_at(&lab->calendar, t, node, EV_UNIT_REPLY);
		break;
	case LAB_OF_WARP:
		lab_warp_done(lab, &lab->warp[n->owner], n->board, t);
		/* fall through */
	default:
		lab_node_give(lab, node);
	}
	if (port < lab->m.sms && lab->sm[port].lsu_stalled)
		lab_lsu_run(lab, port);
}
