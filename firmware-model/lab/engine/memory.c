// SPDX-License-Identifier: MIT
/* The crossbar, the L2 slices and DRAM: the path of a request that has left an SM. */
#include <stdlib.h>

#include "internal.h"

/* ---- Nodes ------------------------------------------------------------------------------------- */

uint32_t lab_node_alloc(struct lab *lab)
{
	uint32_t n = lab->node_free;

	lab->in_flight++;
	if (n) {
		lab->node_free = lab->calendar.node[n].next;
		return n;
	}
	if (lab->node_end == LAB_NODES_MAX) {
		/* the run fails; the last node is reused until then */
		lab->calendar.no_memory = true;
		return LAB_NODES_MAX - 1;
	}
	return lab->node_end++;
}

void lab_node_free(struct lab *lab, uint32_t node)
{
	lab->in_flight--;
	lab->calendar.node[node].next = lab->node_free;
	lab->node_free = node;
}

/* ---- Tags -------------------------------------------------------------------------------------- */

bool lab_tags_init(struct lab_tags *t, uint32_t size, uint32_t ways)
{
	size_t lines = size / LAB_LINE;

	memset(t, 0, sizeof(*t));
	t->ways = ways;
	t->sets = (uint32_t)lines / ways;
	t->line = aligned_alloc(64, (lines * sizeof(*t->line) + 63) & ~(size_t)63);
	t->way = aligned_alloc(64, (lines * sizeof(*t->way) + 63) & ~(size_t)63);
	t->used = calloc(lines, sizeof(*t->used));
	if (!t->line || !t->way || !t->used)
		return false;
	memset(t->line, 0, lines * sizeof(*t->line));
	memset(t->way, 0, lines * sizeof(*t->way));
	return true;
}

void lab_tags_free(struct lab_tags *t)
{
	free(t->line);
	free(t->way);
	free(t->used);
}

/* Once in 2^32 accesses: renumber each set's LRU clocks and keep their order. */
void lab_tags_renew(struct lab_tags *t)
{
	uint32_t set, i, k, rank[256];

	for (set = 0; set < t->sets; set++) {
		uint32_t *used = t->used + (size_t)set * t->ways;

		for (i = 0; i < t->ways; i++)
			for (rank[i] = k = 0; k < t->ways; k++)
				rank[i] += used[k] < used[i];
		for (i = 0; i < t->ways; i++)
			used[i] = rank[i];
	}
	t->clock = t->ways;
}

/*
 * The slice of a line, its set there, and its index among the slice's lines. Lines are interleaved
 * over the slices in groups of one line per slice. A hash of the group rotates the group, so that
 * no stride hits one slice only and aligned ranges are spread evenly.
 */
static void locate(const struct lab *lab, uint32_t line, uint32_t *slice, uint32_t *set, uint32_t *group)
{
	uint32_t n = lab->m.l2_slices, g, r, rotation;

	line -= (uint32_t)(LAB_BASE / LAB_LINE);
	g = lab->slices_log2 < 32 ? line >> lab->slices_log2 : line / n;
	r = line - g * n;
	rotation = (g * 0x9E3779B1u) >> 16;
	rotation = (uint32_t)(((uint64_t)rotation * n) >> 16);
	r += rotation;
	*slice = r >= n ? r - n : r;
	*group = g;
	*set = lab_set_of(lab->m.l2_index, g, lab->slice[0].tags.sets);
}

unsigned lab_slice_of(const struct lab *lab, uint64_t addr)
{
	uint32_t slice, set, group;

	locate(lab, (uint32_t)(addr / 128), &slice, &set, &group);
	return slice;
}

/* ---- Ports ------------------------------------------------------------------------------------- */

/* Take the first @n free cycles from @t on and return the last of these. */
static uint64_t take_slots(struct lab_slots *s, uint64_t now, uint64_t t, unsigned n)
{
	uint64_t begin = t, w = t / 64, left, last = t;
	unsigned i = w % (LAB_SLOTS / 64);

	if (n == 1 && s->from[i] == w && !(s->word[i] >> t % 64 & 1)) { /* the common case */
		s->word[i] |= 1ull << t % 64;
		return t;
	}
	if (t >= s->run && t < s->run_end) {
		begin = s->run;
		t = s->run_end;
	}
	/* beyond the recorded range: after all recorded slots */
	if (t + n + 64 >= (now & ~63ull) + LAB_SLOTS) {
		s->run = now;
		s->run_end = lab_max(s->run_end, t) + n;
		return s->run_end - 1;
	}
	for (w = t / 64; n; t = ++w * 64) {
		i = w % (LAB_SLOTS / 64);
		if (s->from[i] != w) {
			s->from[i] = w;
			s->word[i] = 0;
		}
		for (left = ~s->word[i] & ~0ull << t % 64; left && n; left &= left - 1, n--) {
			last = w * 64 + (unsigned)__builtin_ctzll(left);
			s->word[i] |= left & -left;
		}
	}
	s->run = begin;
	s->run_end = last + 1;
	return last;
}

uint64_t lab_cross(struct lab *lab, struct lab_input *from, struct lab_slots *to, uint64_t cycle, unsigned flits)
{
	/* outputs arbitrate in order: an input served by one may send to a later one at once */
	uint64_t first = lab_max(cycle, from->free - (from->free && to > from->to));
	uint64_t last = take_slots(to, lab->calendar.now, first, flits);

	from->free = last + 1;
	from->to = to;
	return last + 1 + lab->m.noc_latency;
}

uint64_t lab_port_out(struct lab *lab, unsigned port, uint64_t cycle, unsigned flits)
{
	struct lab_port *p = &lab->port[port];

	p->out.free = lab_max(cycle, p->out.free) + flits;
	p->out.to = NULL;
	return p->out.free + lab->m.noc_latency;
}

uint64_t lab_port_in(struct lab *lab, unsigned port, uint64_t cycle, unsigned flits)
{
	return take_slots(&lab->port[port].in, lab->calendar.now, cycle, flits) + 1 + lab->m.noc_latency;
}

/* Sectors carried by a store or atomic packet: 1, an aligned pair, or all 4. */
static unsigned packet_sectors(unsigned bits)
{
	if (!(bits & (bits - 1)))
		return bits;
	return !(bits & 0xc) ? 0x3 : !(bits & 0x3) ? 0xc : 0xf;
}

static bool by_crossbar(const struct lab *lab, const struct lab_node *n)
{
	return n->reply_to != LAB_REPLY_TO_UNIT || lab->unit[n->owner].attach_point != LAB_IN_PARTITION;
}

static bool has_packet_port(const struct lab *lab, const struct lab_node *n)
{
	return n->reply_to == LAB_REPLY_TO_UNIT && lab->unit_path[n->owner].is.packets;
}

/* Does a slice serve the request in a cycle, whatever its sectors? */
static bool takes_blocks(const struct lab *lab, const struct lab_node *n)
{
	return n->reply_to == LAB_REPLY_TO_UNIT && lab->unit_path[n->owner].is.l2_blocks;
}

/* The L2's pipeline before its look-up (GPGPU-Sim's ROP delay), which requests of the partition skip. */
static uint64_t l2_pipeline(const struct lab *lab, const struct lab_node *n)
{
	if (!by_crossbar(lab, n))
		return 1;
	return n->reply_to == LAB_REPLY_TO_UNIT && lab->unit_path[n->owner].is.l2_latency ?
	       lab->unit_path[n->owner].is.l2_latency : lab->m.l2_latency;
}

/* The fixed delay before DRAM. */
static uint64_t dram_delay(const struct lab *lab, const struct lab_node *n)
{
	return n->reply_to == LAB_REPLY_TO_UNIT && lab->unit_path[n->owner].is.skips_dram_latency ? 0 : lab->m.dram_latency;
}

void lab_send(struct lab *lab, uint32_t node, uint64_t cycle)
{
	struct lab_node *n = &lab->calendar.node[node];
	struct lab_stats *s = &lab->stats;
	uint32_t set, group, slice, bytes = lab->m.noc_header, carried = 0, flits;

	if (n->line >= LAB_MANAGED_LINE && lab_uvm_holds(lab, node, cycle))
		return;
	if (n->op != LAB_LOAD) {
		unsigned whole = packet_sectors(n->sectors);

		if (n->op == LAB_STORE)
			n->partial |= (uint8_t)(whole & ~n->sectors);
		n->sectors = (uint8_t)whole;
		carried = lab_sectors(whole);
	}
	bytes += carried * LAB_SECTOR;
	flits = has_packet_port(lab, n) ? 1 : lab->request_flits[carried];
	locate(lab, n->line, &slice, &set, &group);
	n->slice = (uint8_t)slice;
	n->set = (uint16_t)set;
	n->bytes = (uint8_t)bytes;
	lab->port[n->port].outstanding++;
	if (n->reply_to == LAB_REPLY_TO_UNIT) {
		s->unit_sectors += lab_sectors(n->sectors);
		if (lab->unit[n->owner].attach_point == LAB_IN_PARTITION) {
			lab_schedule(&lab->calendar, cycle + 1, node, EV_ARRIVE);
			return;
		}
	}
	s->request[n->op][carried]++;
	s->request_bytes[n->op] += bytes;
	s->request_flits += flits;
	lab_schedule(&lab->calendar,
	       lab_cross(lab, &lab->port[n->port].out, &lab->slice[slice].in, cycle, flits), node, EV_ARRIVE);
}


/* ---- DRAM -------------------------------------------------------------------------------------- */

/* Issue the command for one sector. Returns the time of its data's transfer, in fractions. */
static uint64_t dram(struct lab *lab, struct lab_slice *s, uint32_t group, uint64_t t)
{
	struct lab_channel *c = &lab->channel[s->channel];
	uint32_t row = group * lab->slices_channel + s->number, banks = lab->m.dram_banks;
	struct lab_bank *b;
	uint64_t start, data;

	row = lab->row_log2 < 32 ? row >> lab->row_log2 : row / lab->lines_row;
	b = lab->banks_log2 < 32 ? &c->bank[(row ^ row >> lab->banks_log2) & (banks - 1)] : &c->bank[(row ^ row / banks) % banks];
	start = lab_max(t, b->free);
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

static uint32_t victim(const struct lab_tags *t, uint32_t first, uint64_t cycle)
{
	uint32_t i, best = UINT32_MAX, oldest = first;
	const struct lab_way *w = t->way;

	for (i = first; i < first + t->ways; i++) {
		if (!t->line[i])
			return i;
		if (t->used[i] < t->used[oldest])
			oldest = i;
		if ((!w[i].pending || w[i].ready <= cycle) && (best == UINT32_MAX || t->used[i] < t->used[best]))
			best = i;
	}
	return best == UINT32_MAX ? oldest : best;
}

static void evict(struct lab *lab, struct lab_slice *s, uint32_t at, uint64_t cycle)
{
	uint32_t slice, set, group, dirty = s->tags.line[at] ? s->tags.way[at].dirty : 0;

	s->tags.way[at] = (struct lab_way){ 0 };
	if (!dirty)
		return;
	locate(lab, s->tags.line[at], &slice, &set, &group);
	for (; dirty; dirty &= dirty - 1) {
		dram(lab, s, group, cycle << LAB_FRACTION);
		lab->stats.dram_writes++;
		lab->stats.l2_evicted_sectors++;
	}
}

/* Fetch the @miss sectors of the line at @w. Returns the cycle in which all have arrived. */
static uint64_t fetch(struct lab *lab, struct lab_slice *s, struct lab_way *w, uint32_t line, uint32_t miss,
		      uint64_t cycle)
{
	uint64_t data = 0;
	uint32_t slice, set, group;

	locate(lab, line, &slice, &set, &group);
	if (!w->pending)
		w->ready = 0;
	w->valid |= (uint8_t)miss;
	w->partial &= (uint8_t)~miss;
	w->pending |= (uint8_t)miss;
	for (; miss; miss &= miss - 1) {
		data = dram(lab, s, group, cycle << LAB_FRACTION);
		w->ready = lab_max(w->ready, (data >> LAB_FRACTION) + 1);
		lab->stats.dram_reads++;
		lab->stats.l2_filled_sectors++;
	}
	return w->ready;
}

/* Load a line that the L2 does not hold, without allocating it. Counted as a miss, and as DRAM reads. */
static uint64_t bypass(struct lab *lab, struct lab_slice *s, const struct lab_node *n, uint64_t t)
{
	struct lab_way none = { 0 };

	lab->stats.l2_read[LAB_MISS]++;
	lab->stats.l2_read[LAB_SECTOR_MISS] += lab_sectors(n->sectors) - 1;
	return fetch(lab, s, &none, n->line, n->sectors, t + 1 + dram_delay(lab, n));
}

/* l2.writes = through: write the sectors to DRAM; a line that the L2 holds is kept up to date. */
static uint64_t write_through(struct lab *lab, struct lab_slice *s, const struct lab_node *n, int way, uint64_t ready)
{
	uint32_t slice, set, group, i, sectors = lab_sectors(n->sectors);

	locate(lab, n->line, &slice, &set, &group);
	for (i = 0; i < sectors; i++)
		dram(lab, s, group, (ready + lab->m.dram_latency) << LAB_FRACTION);
	lab->stats.l2_write[way < 0 ? LAB_MISS : LAB_HIT] += sectors;
	lab->stats.l2_written_through += sectors;
	lab->stats.dram_writes += sectors;
	if (way >= 0)
		lab_touch(&s->tags, n->set * s->tags.ways + (uint32_t)way);
	return ready;
}

/* l2.mshrs: the MSHR that is free first. Until then, the slice is blocked and *@t postponed. */
static uint64_t *take_mshr(struct lab *lab, struct lab_slice *s, uint64_t *t)
{
	uint64_t *first = s->mshr_until;
	uint32_t i;

	if (!lab->m.l2_mshrs)
		return NULL;
	for (i = 1; i < lab->m.l2_mshrs; i++)
		if (s->mshr_until[i] < *first)
			first = &s->mshr_until[i];
	*t = lab_max(*t, *first);
	s->free = lab_max(s->free, *t + 1);
	return first;
}

/*
 * Look up the sectors of a request; the slice starts it in cycle @t. Returns the cycle in which the
 * data is available (a write: is accepted).
 */
static uint64_t l2_access(struct lab *lab, struct lab_slice *s, const struct lab_node *n, uint64_t t)
{
	struct lab_tags *g = &s->tags;
	uint32_t at, miss, hit, wait;
	uint64_t pipe = l2_pipeline(lab, n), ready = t + pipe;
	bool write = n->op == LAB_STORE;
	uint64_t *count = write ? lab->stats.l2_write : lab->stats.l2_read;
	int way = lab_find(g, n->set, n->line);
	uint64_t *mshr = NULL;
	struct lab_way *w;

	if (lab->m.l2_writes && n->op != LAB_LOAD)
		return write_through(lab, s, n, way, ready);
	if (way < 0 && n->op == LAB_LOAD && n->reply_to == LAB_REPLY_TO_UNIT && lab->unit[n->owner].bypasses_l2)
		return bypass(lab, s, n, t);
	at = n->set * g->ways + (uint32_t)way;
	if (way < 0) {
		at = victim(g, n->set * g->ways, t);
		evict(lab, s, at, ready);
		g->line[at] = n->line;
	}
	w = &g->way[at];
	lab_touch(g, at);
	if (w->pending && w->ready <= t)
		w->pending = 0;
	wait = n->sectors & w->pending;
	hit = n->sectors & w->valid & ~w->pending;
	if (!write)
		hit &= ~(uint32_t)w->partial; /* partly written sectors must still be fetched */
	miss = n->sectors & ~hit & ~wait;
	count[LAB_HIT] += lab_sectors(hit);
	count[LAB_PENDING] += lab_sectors(wait);
	count[LAB_SECTOR_MISS] += lab_sectors(miss) - (way < 0 && miss);
	count[LAB_MISS] += way < 0 && miss;
	if (write) {
		w->partial |= (uint8_t)(n->partial & miss);
		w->valid |= n->sectors;
		w->dirty |= n->sectors;
		return ready;
	}
	if (n->op == LAB_ATOMIC)
		w->dirty |= n->sectors;
	if (wait | miss) {
		mshr = take_mshr(lab, s, &t);
		ready = lab_max(ready, t + pipe);
	}
	if (wait)
		ready = lab_max(ready, w->ready);
	/* sectors that were written need no fetch before they are read */
	if (miss && lab->m.l2_whole_lines) {
		uint32_t extra = 0xfu & ~(miss | w->valid | w->pending);

		lab->stats.l2_extra_sectors += lab_sectors(extra);
		miss |= extra;
	}
	if (miss)
		ready = lab_max(ready, fetch(lab, s, w, n->line, miss, t + pipe + dram_delay(lab, n)));
	if (mshr)
		*mshr = ready;
	return ready;
}

void lab_memory_arrive(struct lab *lab, uint32_t node)
{
	struct lab_node *n = &lab->calendar.node[node];
	struct lab_slice *s = &lab->slice[n->slice];
	uint32_t sectors = lab_sectors(n->sectors), flits;
	uint64_t t = lab_max(lab->calendar.now, s->free);

	flits = has_packet_port(lab, n) ? 1 : lab->request_flits[n->op == LAB_LOAD ? 0 : sectors];
	s->free = t + (takes_blocks(lab, n) ? 1 : flits > sectors ? flits : sectors);
	if (by_crossbar(lab, n)) {
		lab->stats.arrived[n->op]++;
		lab->stats.arrived_bytes[n->op] += n->bytes;
	}
	lab_schedule(&lab->calendar, l2_access(lab, s, n, t), node, EV_REPLY);
}

/* Send the reply's packets over the crossbar in cycle @t: one for each sector, or one. Returns its arrival. */
static uint64_t send_reply(struct lab *lab, const struct lab_node *n, uint64_t t)
{
	uint32_t sectors = lab_sectors(n->sectors), carried = n->op == LAB_STORE ? 0 : sectors, packets, flits;

	packets = lab->m.noc_whole_replies ? 1 : sectors;
	flits = has_packet_port(lab, n) ? 1 : packets == 1 ? lab->request_flits[carried] : carried ? sectors * lab->reply_flits : sectors;
	lab->stats.reply[n->op] += sectors;
	lab->stats.reply_bytes[n->op] += packets * lab->m.noc_header + carried * LAB_SECTOR;
	lab->stats.reply_flits += flits;
	lab->stats.answered[n->op] += sectors;
	lab->stats.answered_bytes[n->op] += packets * lab->m.noc_header + carried * LAB_SECTOR;
	return lab_cross(lab, &lab->slice[n->slice].out, &lab->port[n->port].in, t, flits);
}

void lab_memory_reply(struct lab *lab, uint32_t node)
{
	struct lab_node *n = &lab->calendar.node[node];
	uint64_t t = lab->calendar.now;
	unsigned port = n->port;

	lab->port[port].outstanding--;
	if (by_crossbar(lab, n))
		t = send_reply(lab, n, t);
	switch (n->reply_to) {
	case LAB_REPLY_TO_MSHR:
		lab_schedule(&lab->calendar, t, node, EV_FILL);
		break;
	case LAB_REPLY_TO_UNIT:
		lab_schedule(&lab->calendar, t, node, EV_UNIT_REPLY);
		break;
	case LAB_REPLY_TO_WARP:
		lab_warp_done(lab, &lab->warp[n->owner], n->board, t);
		/* fall through */
	default:
		lab_node_free(lab, node);
	}
	if (port < lab->m.sms)
		lab_sm_resume(lab, port);
}
