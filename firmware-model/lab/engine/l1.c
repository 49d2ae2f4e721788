// SPDX-License-Identifier: MIT
/* The L1: loads allocate on a miss; stores write through and invalidate the line on a hit. */
#include "internal.h"

#define NONE 0xffffu			/* the line has no MSHR to merge with */

static uint32_t l1_set(const struct lab *lab, const struct lab_tags *t, uint32_t line)
{
	return lab_set_of(lab->m.l1_index, line, t->sets);
}

/* The index of the least of @n words, the first of equal ones. A V100's L1 has sets of 256. */
static uint32_t least(const uint32_t *word, uint32_t n)
{
	typedef uint32_t words __attribute__((vector_size(16)));
	words some, less, best = { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX };
	uint32_t i, min = UINT32_MAX;

	for (i = 0; i + 4 <= n; i += 4) {
		memcpy(&some, word + i, sizeof(some));
		less = (words)(some < best);
		best = (some & less) | (best & ~less);
	}
	for (; i < n; i++)
		min = word[i] < min ? word[i] : min;
	for (i = 0; i < 4; i++)
		min = best[i] < min ? best[i] : min;
	return (uint32_t)lab_find_word(word, n, min);
}

/* The least recently used way of a set without a fill in flight, or UINT32_MAX. */
static uint32_t oldest_filled(const struct lab_tags *t, uint32_t first)
{
	uint32_t best = UINT32_MAX, i;

	for (i = first; i < first + t->ways; i++)
		if (!t->way[i].pending && (best == UINT32_MAX || t->used[i] < t->used[best]))
			best = i;
	return best;
}

/*
 * The LRU line. While its fill is in flight: UINT32_MAX, or with l1.victim = filled the oldest other
 * line, which makes the replacement depend on the order of fills; the oracles use plain LRU.
 */
static uint32_t victim(const struct lab *lab, const struct lab_tags *t, uint32_t first)
{
	int none = lab_find_word(t->line + first, t->ways, 0);
	uint32_t best = first + (none < 0 ? least(t->used + first, t->ways) : (uint32_t)none);

	if (none >= 0 || !t->way[best].pending)
		return best;
	return lab->m.l1_victim_filled ? oldest_filled(t, first) : UINT32_MAX;
}

static struct lab_waiter *waiters(const struct lab *lab, const struct lab_sm *s, const struct lab_mshr *h)
{
	return s->waiter + (size_t)(h - s->mshr) * lab->m.l1_merges;
}

static void join(struct lab *lab, const struct lab_sm *s, struct lab_mshr *h, struct lab_warp *w, unsigned board)
{
	waiters(lab, s, h)[h->merges++] = (struct lab_waiter){ w->id, (uint8_t)board };
	w->pending[board]++;
	lab->sm[w->sm].lines++;
}

/* Look up a load of @sectors of a line in @cycle. False: nothing changed; retry after a fill. */
static bool look_up(struct lab *lab, unsigned sm, struct lab_warp *w, unsigned board, uint32_t line,
		    unsigned sectors, uint64_t cycle)
{
	struct lab_sm *s = lab_socket(lab, sm);
	struct lab_tags *t = &s->l1;
	uint32_t set = l1_set(lab, t, line), at, missing, node;
	int way = lab_find(t, set, line);
	bool host = line >= LAB_HOST_LINE;
	uint64_t *count = host ? lab->stats.l1_host : lab->stats.l1_load;
	unsigned from, run;
	struct lab_mshr *h;

	if (!lab->m.l1_sectored)
		sectors = 0xf;
	at = way < 0 ? UINT32_MAX : set * t->ways + (uint32_t)way;
	if (way >= 0 && !(sectors & ~t->way[at].valid)) {
		count[LAB_HIT]++;
		lab_touch(t, at);
		w->done[board] = lab_max(w->done[board], cycle);
		return true;
	}
	if (lab->m.lines && lab->sm[sm].lines == lab->m.lines)
		return false;
	if (way >= 0 && t->way[at].pending && t->way[at].ready != NONE) {
		h = &s->mshr[t->way[at].ready];
		if (!(sectors & ~(t->way[at].valid | h->sectors))) {
			if (h->merges == lab->m.l1_merges)
				return false;
			count[LAB_PENDING]++;
			lab_touch(t, at);
			join(lab, s, h, w, board);
			return true;
		}
	}
	missing = way < 0 ? sectors : sectors & ~(t->way[at].valid | t->way[at].pending);
	if (!missing || s->mshr_free == 0xffff)
		return false;
	if (way < 0) {
		at = victim(lab, t, set * t->ways);
		if (at == UINT32_MAX)
			return false;
		t->line[at] = line;
		t->way[at].valid = t->way[at].pending = 0;
	}
	count[way < 0 ? LAB_MISS : LAB_SECTOR_MISS]++;
	lab_touch(t, at);
	t->way[at].ready = s->mshr_free;
	t->way[at].pending |= (uint8_t)missing;
	h = &s->mshr[s->mshr_free];
	s->mshr_free = h->next_free;
	s->mshr_used++;
	h->way = at;
	h->sectors = (uint8_t)missing;
	h->merges = 0;
	join(lab, s, h, w, board);
	h->parts = 0;
	for (from = 0; (run = host ? lab_run_of(missing, &from) : !from); from += run) {
		node = lab_request(lab, LAB_LOAD, sm, line, host ? ((1u << run) - 1) << from : missing, LAB_REPLY_TO_MSHR,
				   (uint32_t)t->way[at].ready);
		h->parts++;
		if (host)
			lab_link_send(lab, node, LAB_HOST_BASE + (uint64_t)(line - LAB_HOST_LINE) * LAB_LINE + from * LAB_SECTOR,
				      run, cycle);
		else
			lab_send(lab, node, cycle);
	}
	return true;
}

/* A store to part of a line; it is always forwarded to the L2. */
static void store(struct lab *lab, unsigned sm, uint32_t line, unsigned sectors, unsigned partial, uint64_t cycle)
{
	struct lab_tags *t = &lab_socket(lab, sm)->l1;
	uint32_t set = l1_set(lab, t, line), at;
	int way = lab_find(t, set, line);
	uint32_t node = lab_request(lab, LAB_STORE, sm, line, sectors, LAB_REPLY_TO_NONE, 0);

	lab->stats.l1_store[way < 0 ? LAB_MISS : LAB_HIT]++;
	if (way >= 0) {
		at = set * t->ways + (uint32_t)way;
		t->way[at].valid = 0; /* a fill in flight still serves the loads that wait for it */
		if (!t->way[at].pending)
			t->line[at] = 0;
	}
	lab->calendar.node[node].partial = (uint8_t)partial;
	lab_send(lab, node, cycle);
}

/* ---- The pipeline ---------------------------------------------------------------------------- */

unsigned lab_l1_enter(struct lab *lab, unsigned sm, struct lab_warp *w, const struct lab_op *op,
		      const struct lab_coalesced *c, unsigned from, uint64_t cycle)
{
	struct lab_l1_pipe *p = &lab->sm[sm].pipe;
	unsigned space = lab->m.l1_latency < LAB_PIPE ? lab->m.l1_latency : LAB_PIPE, n = c->n - from, i, at;

	space = p->count < space ? space - p->count : 0;
	n = n < space ? n : space;
	if (!n)
		return 0;
	p->part[(p->part_head + p->parts++) % LAB_PIPE] = (struct lab_l1_part){
		.cycle = cycle, .warp = w->id, .n = (uint16_t)n, .kind = op->kind, .board = op->board };
	for (i = from; i < from + n; i++) {
		at = (p->head + p->count++) % LAB_PIPE;
		p->line[at] = op->space == LAB_HOST ? LAB_HOST_LINE | (uint32_t)((c->unit[i] - LAB_HOST_BASE) / LAB_LINE) :
			      (uint32_t)(c->unit[i] / LAB_LINE);
		p->sectors[at] = c->bits[i];
		p->partial[at] = c->partial[i];
	}
	if (op->kind == LAB_LOAD)
		w->pending[op->board]++; /* until all are looked up */
	if (!p->event && !p->stalled)
		lab_l1_run(lab, sm);
	return n;
}

/* Look up the transactions of the first part. False: blocked, to be resumed. */
static bool look_up_part(struct lab *lab, unsigned sm, struct lab_l1_pipe *p)
{
	const struct lab_l1_part *a = &p->part[p->part_head];
	struct lab_warp *w = &lab->warp[a->warp];
	uint64_t now = lab->calendar.now, t = now, queue = lab->m.l1_miss_queue;

	for (; p->done < a->n; p->done++, p->count--, p->head = (p->head + 1) % LAB_PIPE) {
		t = lab_max(a->cycle + p->done + lab->m.l1_latency, p->free);
		if (lab->port[sm].out.free > t + queue) {
			p->free = lab->port[sm].out.free - queue;
			lab->stats.lsu_stalled += p->free - t;
			p->event = true;
			lab_schedule(&lab->calendar, p->free, lab->node_l1 + sm, EV_L1);
			return false;
		}
		if (lab->port[sm].outstanding >= lab->m.noc_outstanding ||
		    (a->kind == LAB_LOAD &&
		     !look_up(lab, sm, w, a->board, p->line[p->head], p->sectors[p->head], t))) {
			p->stalled = true;
			p->stalled_since = p->free = t;
			return false;
		}
		if (a->kind == LAB_STORE)
			store(lab, sm, p->line[p->head], p->sectors[p->head], p->partial[p->head], t);
		p->free = t + 1;
	}
	if (a->kind == LAB_LOAD)
		lab_warp_done(lab, w, a->board, t);
	return true;
}

void lab_l1_run(struct lab *lab, unsigned sm)
{
	struct lab_l1_pipe *p = &lab->sm[sm].pipe;
	uint64_t now = lab->calendar.now, due;

	if (p->event)
		return;
	if (p->stalled && now > p->stalled_since) {
		lab->stats.lsu_stalled += now - p->stalled_since;
		p->free = lab_max(p->free, now);
	}
	p->stalled = false;
	while (p->parts) {
		due = lab_max(p->part[p->part_head].cycle + p->done + lab->m.l1_latency, p->free);
		if (due > now) {
			p->event = true;
			lab_schedule(&lab->calendar, due, lab->node_l1 + sm, EV_L1);
			break;
		}
		if (!look_up_part(lab, sm, p))
			break;
		p->parts--;
		p->part_head = (p->part_head + 1) % LAB_PIPE;
		p->done = 0;
	}
	if (lab->sm[sm].lsu_stalled)
		lab_lsu_run(lab, sm);
}

void lab_l1_fill(struct lab *lab, uint32_t node)
{
	struct lab_node *n = &lab->calendar.node[node];
	unsigned sm = n->port, i, last;
	struct lab_sm *s = lab_socket(lab, sm);
	struct lab_mshr *h = &s->mshr[n->owner];
	struct lab_tags *t = &s->l1;
	const struct lab_waiter *to;

	if (--h->parts) {
		lab_node_free(lab, node);
		return;
	}
	t->way[h->way].pending &= (uint8_t)~h->sectors;
	t->way[h->way].valid |= h->sectors;
	if (t->way[h->way].ready == n->owner)
		/* an older MSHR of the line may still be in flight: loads must not merge with it */
		t->way[h->way].ready = NONE;
	for (i = 0, to = waiters(lab, s, h); i < h->merges; i++, to++) {
		lab->sm[lab->warp[to->warp].sm].lines--;
		lab_warp_done(lab, &lab->warp[to->warp], to->board, lab->calendar.now);
	}
	h->next_free = s->mshr_free;
	s->mshr_free = (uint16_t)n->owner;
	s->mshr_used--;
	lab_node_free(lab, node);
	if (!lab->m.socket) {
		lab_sm_resume(lab, sm);
		return;
	}
	i = (unsigned)(s - lab->sm);
	last = i + lab->m.socket < lab->m.sms ? i + lab->m.socket : lab->m.sms;
	for (; i < last; i++)
		lab_sm_resume(lab, i);
}

/* Invalidate all L1s. Called between kernels, when nothing is in flight. */
void lab_l1_empty(struct lab *lab)
{
	uint32_t i;

	for (i = 0; i < lab->m.sms && lab->m.l1_size; i++) { /* this resets the LRU order as well */
		struct lab_tags *t = &lab->sm[i].l1;

		memset(t->line, 0, (size_t)t->sets * t->ways * sizeof(*t->line));
		memset(t->way, 0, (size_t)t->sets * t->ways * sizeof(*t->way));
		memset(t->used, 0, (size_t)t->sets * t->ways * sizeof(*t->used));
	}
}
