// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include "hwwl_unit.h"
#include "firmware-model/lab/engine/internal.h"

#define LINE_WORDS (LAB_LINE / 4)
#define WRITTEN	UINT64_MAX
#define AHEAD	8u			/* lines that a bank has under way */

struct bank {				/* a ring */
	uint32_t *at, head, count;
};

struct lab_hwwl {
	struct lab *lab;
	int unit;
	unsigned sms, warps;
	uint32_t room;			/* vertices of a bank */
	struct bank *in, *out;
	uint32_t *waiting;		/* [sms][warps] that found nothing while lines are under way, oldest first */
	uint32_t *waits;		/* how many, of each SM */
	struct lines {			/* that an SM has under way: what they bring, oldest first */
		uint32_t value[AHEAD][LINE_WORDS], words[AHEAD], head, count;
	} *coming;

	/* off chip, of all SMs: what is read, from @next on, and what is written, of which @sent is in memory */
	uint32_t *from, *to;
	uint64_t next, end, count, sent, from_room, to_room;
	uint64_t from_addr;
	struct lab_array region[2];
	unsigned which;
	bool no_memory;
	struct lab_hwwl_counts counts;
};

struct answer {
	uint32_t mask, vertex[LAB_LANES];
};

static void put(struct lab_hwwl *u, struct bank *b, uint32_t v)
{
	b->at[(b->head + b->count++) % u->room] = v;
}

static uint32_t take(struct lab_hwwl *u, struct bank *b)
{
	uint32_t v = b->at[b->head];

	b->head = (b->head + 1) % u->room;
	b->count--;
	return v;
}

static void ask_memory(struct lab_hwwl *u, unsigned sm, enum lab_kind kind, uint64_t addr, uint64_t words, uint64_t tag)
{
	unsigned from = addr / LAB_SECTOR % 4, to = (unsigned)((addr + 4 * words - 1) / LAB_SECTOR % 4);

	u->counts.requests++;
	lab_unit_memory(u->lab, u->unit, sm, kind, addr & ~(uint64_t)(LAB_LINE - 1), (2u << to) - (1u << from), tag);
}

/* Half of what the fullest bank has, from its tail. */
static void balance(struct lab_hwwl *u, unsigned sm)
{
	struct bank *fullest = &u->in[0], *b = &u->in[sm];
	unsigned i;
	uint32_t n;

	for (i = 1; i < u->sms; i++)
		fullest = u->in[i].count > fullest->count ? &u->in[i] : fullest;
	n = (fullest->count + 1) / 2;
	u->counts.moved += n;
	for (i = 0; i < n; i++)
		put(u, b, fullest->at[(fullest->head + fullest->count - n + i) % u->room]);
	fullest->count -= n;
}

/* Lines of what is off chip, for SM @sm, as far as its bank will hold them. */
static void refill(struct lab_hwwl *u, unsigned sm)
{
	struct lines *c = &u->coming[sm];
	uint64_t addr, words;
	uint32_t at;

	while (u->next < u->end && c->count < AHEAD && u->in[sm].count + (c->count + 1) * LINE_WORDS <= u->room) {
		addr = u->from_addr + 4 * u->next;
		words = (LAB_LINE - addr % LAB_LINE) / 4;
		words = words < u->end - u->next ? words : u->end - u->next;
		at = (c->head + c->count++) % AHEAD;
		memcpy(c->value[at], u->from + u->next, 4 * words);
		c->words[at] = (uint32_t)words;
		u->next += words;
		u->counts.refills++;
		ask_memory(u, sm, LAB_LOAD, addr, words, sm);
	}
}

static void answer(struct lab_hwwl *u, unsigned sm, uint32_t warp)
{
	struct bank *b = &u->in[sm];
	struct answer a = { 0 };
	unsigned i, n;

	n = b->count < LAB_LANES ? b->count : LAB_LANES;
	a.mask = n == LAB_LANES ? ~0u : (1u << n) - 1;
	for (i = 0; i < n; i++)
		a.vertex[i] = take(u, b);
	u->counts.popped += n;
	lab_unit_answer(u->lab, u->unit, sm, warp, &a, sizeof(a));
}

/* Whoever waits at @sm is served as far as there is something, or nothing will come. */
static void serve(struct lab_hwwl *u, unsigned sm)
{
	uint32_t *warp = u->waiting + sm * u->warps, served = 0;

	for (; served < u->waits[sm]; served++) {
		if (!u->in[sm].count)
			balance(u, sm);
		refill(u, sm);
		if (!u->in[sm].count && u->coming[sm].count)
			break;
		answer(u, sm, warp[served]);
	}
	u->waits[sm] -= served;
	memmove(warp, warp + served, u->waits[sm] * sizeof(*warp));
}

static void on_ask(void *ctx, uint32_t warp, unsigned sm, uint64_t value, uint64_t cycle)
{
	struct lab_hwwl *u = ctx;

	(void)value, (void)cycle;
	u->waiting[sm * u->warps + u->waits[sm]++] = warp;
	serve(u, sm);
}

static void on_reply(void *ctx, uint64_t tag, uint64_t cycle)
{
	struct lab_hwwl *u = ctx;
	struct lines *c;
	uint32_t i;

	(void)cycle;
	if (tag == WRITTEN)
		return;
	c = &u->coming[tag];
	for (i = 0; i < c->words[c->head]; i++)
		put(u, &u->in[tag], c->value[c->head][i]);
	c->head = (c->head + 1) % AHEAD;
	c->count--;
	serve(u, (unsigned)tag);
}

static void on_clock(void *ctx, uint64_t cycle)
{
	(void)ctx, (void)cycle;
}

/* ---- For the host ------------------------------------------------------------------------------ */

int lab_hwwl_attach(struct lab *lab, uint32_t bytes, struct lab_hwwl **out, struct gtu_error *err)
{
	const struct lab_machine *m = lab_machine_of(lab);
	struct lab_unit unit = { .name = "hwwl", .attach_point = LAB_IN_SM, .ask = on_ask, .reply = on_reply, .clock = on_clock };
	struct lab_hwwl *u;
	unsigned i;
	int rc = 0;
	bool ok;

	*out = NULL;
	if (bytes / 8 < LAB_LANES || bytes > m->shared)
		return gtu_fail(err, GTU_ERR_USAGE, "hardware worklists of %u bytes: two warps' vertices (256) to the %u of an SM of %s",
				bytes, m->shared, m->name);
	u = calloc(1, sizeof(*u));
	if (!u)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for hardware worklists");
	u->lab = lab;
	u->sms = m->sms;
	u->warps = m->warps;
	u->room = bytes / 8;
	u->in = calloc(u->sms, sizeof(*u->in));
	u->out = calloc(u->sms, sizeof(*u->out));
	u->waiting = calloc((size_t)u->sms * u->warps, 4);
	u->waits = calloc(u->sms, 4);
	u->coming = calloc(u->sms, sizeof(*u->coming));
	ok = u->in && u->out && u->waiting && u->waits && u->coming;
	for (i = 0; i < u->sms && ok; i++) {
		u->in[i].at = calloc(u->room, 4);
		u->out[i].at = calloc(u->room, 4);
		ok = u->in[i].at && u->out[i].at;
	}
	if (!ok)
		rc = gtu_fail(err, GTU_ERR_NOMEM, "no memory for hardware worklists");
	for (i = 0; i < 2 && !rc; i++)
		rc = lab_alloc(lab, "spilled", 4 << 20, LAB_DEVICE, &u->region[i], err);
	unit.ctx = u;
	if (!rc && (u->unit = lab_attach(lab, &unit, err)) < 0)
		rc = GTU_ERR_USAGE;
	if (rc) {
		lab_hwwl_free(u);
		return rc;
	}
	*out = u;
	return 0;
}

void lab_hwwl_free(struct lab_hwwl *u)
{
	unsigned i;

	if (!u)
		return;
	for (i = 0; i < u->sms; i++) {
		if (u->in)
			free(u->in[i].at);
		if (u->out)
			free(u->out[i].at);
	}
	free(u->in);
	free(u->out);
	free(u->waiting);
	free(u->waits);
	free(u->coming);
	free(u->from);
	free(u->to);
	free(u);
}

const struct lab_hwwl_counts *lab_hwwl_counts(const struct lab_hwwl *u)
{
	return &u->counts;
}

/* Lines that are whole go to memory, by the port of @sm; at a list's end the rest. The region is gone round. */
static void send_lines(struct lab_hwwl *u, unsigned sm, bool all)
{
	const struct lab_array *r = &u->region[u->which];
	uint64_t words;

	while (u->count - u->sent >= LINE_WORDS || (all && u->count > u->sent)) {
		words = u->count - u->sent < LINE_WORDS ? u->count - u->sent : LINE_WORDS;
		ask_memory(u, sm, LAB_STORE, r->addr + 4 * u->sent % r->bytes, words, WRITTEN);
		u->sent += words;
	}
}

void lab_hwwl_clear(struct lab_hwwl *u)
{
	unsigned i;

	for (i = 0; i < u->sms; i++)
		u->out[i].head = u->out[i].count = 0;
	u->count = u->sent = 0;
}

void lab_hwwl_begin(struct lab_hwwl *u, const struct lab_array *list, uint64_t first, uint64_t count)
{
	struct bank *banks = u->in;
	uint32_t *values = u->from;
	uint64_t room = u->from_room;

	if (!list) {
		send_lines(u, 0, true);
		u->from_addr = u->region[u->which].addr;
	}
	u->in = u->out;
	u->out = banks;
	u->from = u->to;
	u->from_room = u->to_room;
	u->to = values;
	u->to_room = room;
	u->next = 0;
	u->end = u->count;
	u->which ^= 1;
	lab_hwwl_clear(u);
	if (!list)
		return;
	for (unsigned i = 0; i < u->sms; i++)
		u->in[i].head = u->in[i].count = 0;
	values = realloc(u->from, 4 * count + 4);
	u->no_memory |= !values;
	u->end = values ? count : 0;
	if (values) {
		u->from = values;
		u->from_room = count;
		memcpy(values, (const uint32_t *)list->data + first, 4 * count);
	}
	u->from_addr = list->addr + 4 * first;
}

int lab_hwwl_end(struct lab_hwwl *u, struct gtu_error *err)
{
	uint64_t left = u->end - u->next;
	unsigned i;

	if (u->no_memory)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for a list of hardware worklists");
	for (i = 0; i < u->sms; i++)
		left += u->in[i].count + u->waits[i] + u->coming[i].count;
	return left ? gtu_fail(err, GTU_ERR_VERIFY, "hardware worklists: %llu vertices or warps were left",
			       (unsigned long long)left) : 0;
}

uint64_t lab_hwwl_pushed(const struct lab_hwwl *u)
{
	uint64_t n = u->count;
	unsigned i;

	for (i = 0; i < u->sms; i++)
		n += u->out[i].count;
	return n;
}

/* ---- For warps --------------------------------------------------------------------------------- */

lab_mask lab_hwwl_pop(struct lab_warp *w, struct lab_hwwl *u, lab_u32 *vertex)
{
	struct answer a = { 0 };

	lab_unit_ask(w, u->unit, w->sm, 0, &a, sizeof(a));
	memcpy(vertex, a.vertex, sizeof(*vertex));
	w->lab->stats.shared_accesses++;
	w->extra += u->lab->m.shared_latency;
	return a.mask;
}

static bool push(struct lab_hwwl *u, unsigned sm, uint32_t v)
{
	struct bank *b = &u->out[sm];
	unsigned i;

	for (i = 0; i < u->sms && b->count == u->room; i++)
		b = u->out[i].count < b->count ? &u->out[i] : b;
	if (b->count < u->room) {
		put(u, b, v);
		return true;
	}
	if (u->count == u->to_room) {
		uint32_t *more = realloc(u->to, 4 * (2 * u->to_room + 1024));

		if (!more)
			return false;
		u->to = more;
		u->to_room = 2 * u->to_room + 1024;
	}
	u->to[u->count++] = v;
	u->counts.spilled++;
	send_lines(u, sm, false);
	return true;
}

void lab_hwwl_push(struct lab_warp *w, struct lab_hwwl *u, lab_mask m, const lab_u32 *vertex)
{
	lab_mask was = w->mask;

	w->mask &= m;
	if (w->mask) {
		lab_alu(w, 1);
		w->lab->stats.shared_accesses++;
		w->extra++;
	}
	for (m = w->mask; m; m &= m - 1, u->counts.pushed++)
		if (!push(u, w->sm, (*vertex)[__builtin_ctz(m)]))
			lab_fault(w, "no memory for a list of hardware worklists");
	w->mask = was;
}
