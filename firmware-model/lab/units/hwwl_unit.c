// SPDX-License-Identifier: MIT
/* Hardware worklists: banks of vertices in the SMs, with spilling to memory. */
#include "hwwl_unit.h"
#include "spill.h"

#define AHEAD	8u			/* lines in flight per bank */

struct bank {				/* a ring */
	uint32_t *at, head, count;
};

struct sm {
	struct bank in, out;
	uint32_t waiting[LAB_WARPS_MAX], waits; /* warps that wait for lines in flight, oldest first */
	/* lines in flight with their values, oldest first */
	uint32_t value[AHEAD][LINE_WORDS], words[AHEAD], head, lines;
};

struct lab_hwwl {
	struct lab *lab;
	int unit;
	unsigned sms;
	uint32_t capacity;			/* vertices per bank */
	struct sm *sm;
	/* spilled vertices of all SMs: read from @next on; written, @sent of them in memory */
	struct spill_list from, to;
	uint64_t next, from_addr;
	struct lab_array region[2];
	unsigned which;
	bool no_memory;
	uint64_t requests;
};

static void enqueue(struct lab_hwwl *u, struct bank *b, uint32_t v)
{
	b->at[(b->head + b->count++) % u->capacity] = v;
}

static uint32_t dequeue(struct lab_hwwl *u, struct bank *b)
{
	uint32_t v = b->at[b->head];

	b->head = (b->head + 1) % u->capacity;
	b->count--;
	return v;
}

static void ask_memory(struct lab_hwwl *u, unsigned sm, enum lab_kind kind, uint64_t addr, uint64_t words, uint64_t tag)
{
	u->requests++;
	lab_unit_words(u->lab, u->unit, sm, kind, addr, words, tag);
}

/* Take half of the fullest bank, from its tail. */
static void balance(struct lab_hwwl *u, unsigned sm)
{
	struct bank *fullest = &u->sm[0].in, *b = &u->sm[sm].in;
	unsigned i;
	uint32_t n;

	for (i = 1; i < u->sms; i++)
		fullest = u->sm[i].in.count > fullest->count ? &u->sm[i].in : fullest;
	n = (fullest->count + 1) / 2;
	for (i = 0; i < n; i++)
		enqueue(u, b, fullest->at[(fullest->head + fullest->count - n + i) % u->capacity]);
	fullest->count -= n;
}

/* Fetch lines of spilled vertices for SM @sm, as far as its bank has space. */
static void refill(struct lab_hwwl *u, unsigned sm)
{
	struct sm *s = &u->sm[sm];
	uint64_t addr, words;
	uint32_t at;

	while (u->next < u->from.count && s->lines < AHEAD && s->in.count + (s->lines + 1) * LINE_WORDS <= u->capacity) {
		addr = u->from_addr + 4 * u->next;
		words = (LAB_LINE - addr % LAB_LINE) / 4;
		words = words < u->from.count - u->next ? words : u->from.count - u->next;
		at = (s->head + s->lines++) % AHEAD;
		memcpy(s->value[at], u->from.at + u->next, 4 * words);
		s->words[at] = (uint32_t)words;
		u->next += words;
		ask_memory(u, sm, LAB_LOAD, addr, words, sm);
	}
}

static void answer(struct lab_hwwl *u, unsigned sm, uint32_t warp)
{
	struct bank *b = &u->sm[sm].in;
	struct lab_fields a = { 0 };
	unsigned i, n;

	n = b->count < LAB_LANES ? b->count : LAB_LANES;
	a.mask = n == LAB_LANES ? ~0u : (1u << n) - 1;
	for (i = 0; i < n; i++)
		a.field[0][i] = dequeue(u, b);
	lab_unit_reply(u->lab, u->unit, warp, &a, LAB_FIELDS_BYTES(1), lab_now(u->lab));
}

/* Reply to the warps waiting at @sm, unless its bank is empty with lines in flight. */
static void reply_to_waiting(struct lab_hwwl *u, unsigned sm)
{
	struct sm *s = &u->sm[sm];
	uint32_t served = 0;

	for (; served < s->waits; served++) {
		if (!s->in.count)
			balance(u, sm);
		refill(u, sm);
		if (!s->in.count && s->lines)
			break;
		answer(u, sm, s->waiting[served]);
	}
	s->waits -= served;
	memmove(s->waiting, s->waiting + served, s->waits * sizeof(*s->waiting));
}

static void on_ask(void *ctx, uint32_t warp, unsigned sm, uint64_t value, uint64_t cycle)
{
	struct lab_hwwl *u = ctx;

	(void)value, (void)cycle;
	u->sm[sm].waiting[u->sm[sm].waits++] = warp;
	reply_to_waiting(u, sm);
}

static void on_reply(void *ctx, uint64_t tag, uint64_t cycle)
{
	struct lab_hwwl *u = ctx;
	struct sm *s;
	uint32_t i;

	(void)cycle;
	if (tag == NO_WAITER)
		return;
	s = &u->sm[tag];
	for (i = 0; i < s->words[s->head]; i++)
		enqueue(u, &s->in, s->value[s->head][i]);
	s->head = (s->head + 1) % AHEAD;
	s->lines--;
	reply_to_waiting(u, (unsigned)tag);
}

/* ---- Host interface -------------------------------------------------------------------------- */

int lab_hwwl_attach(struct lab *lab, uint32_t bytes, struct lab_hwwl **out, struct gtu_error *err)
{
	const struct lab_machine *m = lab_machine_of(lab);
	static const struct lab_unit unit = { "hwwl", LAB_IN_SM, on_ask, on_reply, NULL, false };
	struct lab_hwwl *u;
	unsigned i;
	int rc = 0;
	bool ok;

	*out = NULL;
	if (bytes / 8 < LAB_LANES || bytes > m->shared)
		return gtu_fail(err, GTU_ERR_USAGE, "hardware worklists of %u bytes: the size must be 256 (two warps' vertices) to %u, the shared memory of an SM of %s",
				bytes, m->shared, m->name);
	u = calloc(1, sizeof(*u));
	if (!u)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for hardware worklists");
	u->lab = lab;
	u->sms = m->sms;
	u->capacity = bytes / 8;
	u->sm = calloc(u->sms, sizeof(*u->sm));
	ok = u->sm != NULL;
	for (i = 0; i < u->sms && ok; i++) {
		u->sm[i].in.at = calloc(u->capacity, 4);
		u->sm[i].out.at = calloc(u->capacity, 4);
		ok = u->sm[i].in.at && u->sm[i].out.at;
	}
	if (!ok)
		rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory for hardware worklists");
	for (i = 0; i < 2 && !rc; i++)
		rc = lab_alloc(lab, "spilled", 4 << 20, LAB_DEVICE, &u->region[i], err);
	rc = rc ? rc : lab_attach(lab, &unit, u, &u->unit, err);
	if (rc)
		lab_hwwl_free(u);
	else
		*out = u;
	return rc;
}

void lab_hwwl_free(struct lab_hwwl *u)
{
	unsigned i;

	if (!u)
		return;
	for (i = 0; i < u->sms && u->sm; i++) {
		free(u->sm[i].in.at);
		free(u->sm[i].out.at);
	}
	free(u->sm);
	free(u->from.at);
	free(u->to.at);
	free(u);
}

uint64_t lab_hwwl_requests(const struct lab_hwwl *u)
{
	return u->requests;
}

/* Write full lines to memory, a ring, over @sm's port; with @all, also the rest. */
static void send_lines(struct lab_hwwl *u, unsigned sm, bool all)
{
	const struct lab_array *r = &u->region[u->which];
	uint64_t words;

	while ((words = spill_next(&u->to, all))) {
		ask_memory(u, sm, LAB_STORE, r->addr + 4 * u->to.sent % r->bytes, words, NO_WAITER);
		u->to.sent += words;
	}
}

void lab_hwwl_clear(struct lab_hwwl *u)
{
	unsigned i;

	for (i = 0; i < u->sms; i++)
		u->sm[i].out.head = u->sm[i].out.count = 0;
	u->to.count = u->to.sent = 0;
}

void lab_hwwl_begin(struct lab_hwwl *u, const struct lab_array *list, uint64_t first, uint64_t count)
{
	struct spill_list values = u->from;
	struct bank bank;
	unsigned i;

	if (!list) {
		send_lines(u, 0, true);
		u->from_addr = u->region[u->which].addr;
	}
	for (i = 0; i < u->sms; i++) {
		bank = u->sm[i].in;
		u->sm[i].in = u->sm[i].out;
		u->sm[i].out = bank;
	}
	u->from = u->to;
	u->to = values;
	u->next = 0;
	u->which ^= 1;
	lab_hwwl_clear(u);
	if (!list)
		return;
	for (i = 0; i < u->sms; i++)
		u->sm[i].in.head = u->sm[i].in.count = 0;
	u->from.count = 0;
	if (spill_reserve(&u->from, count)) {
		memcpy(u->from.at, (const uint32_t *)list->data + first, 4 * count);
		u->from.count = count;
	} else {
		u->no_memory = true;
	}
	u->from_addr = list->addr + 4 * first;
}

int lab_hwwl_end(struct lab_hwwl *u, struct gtu_error *err)
{
	uint64_t left = u->from.count - u->next;
	unsigned i;

	if (u->no_memory)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a list of hardware worklists");
	for (i = 0; i < u->sms; i++)
		left += u->sm[i].in.count + u->sm[i].waits + u->sm[i].lines;
	return left ? gtu_fail(err, GTU_ERR_VERIFY, "hardware worklists: %llu vertices or warps are left",
			       (unsigned long long)left) : 0;
}

uint64_t lab_hwwl_pushed(const struct lab_hwwl *u)
{
	uint64_t n = u->to.count;
	unsigned i;

	for (i = 0; i < u->sms; i++)
		n += u->sm[i].out.count;
	return n;
}

/* ---- Warp interface -------------------------------------------------------------------------- */

lab_mask lab_hwwl_pop(struct lab_warp *w, struct lab_hwwl *u, lab_u32 *vertex)
{
	struct lab_fields a = { 0 };

	lab_unit_request(w, u->unit, w->sm, 0, &a, sizeof(a));
	memcpy(vertex, a.field[0], sizeof(*vertex));
	shared_access(w, u->lab->m.shared_latency);
	return a.mask;
}

static bool push(struct lab_hwwl *u, unsigned sm, uint32_t v)
{
	struct bank *b = &u->sm[sm].out;
	unsigned i;

	for (i = 0; i < u->sms && b->count == u->capacity; i++)
		b = u->sm[i].out.count < b->count ? &u->sm[i].out : b;
	if (b->count < u->capacity) {
		enqueue(u, b, v);
		return true;
	}
	if (!spill_reserve(&u->to, 1))
		return false;
	u->to.at[u->to.count++] = v;
	send_lines(u, sm, false);
	return true;
}

void lab_hwwl_push(struct lab_warp *w, struct lab_hwwl *u, lab_mask m, const lab_u32 *vertex)
{
	lab_mask was = w->mask;

	w->mask &= m;
	if (w->mask) {
		lab_alu(w, 1);
		shared_access(w, 1);
	}
	for (m = w->mask; m; m &= m - 1)
		if (!push(u, w->sm, (*vertex)[__builtin_ctz(m)]))
			lab_fault(w, "out of memory for a list of hardware worklists");
	w->mask = was;
}
