// SPDX-License-Identifier: MIT
/*
 * bringup: tests DMA. Copies cover lengths and alignments around every boundary, with guards around
 * every target; then invalid regions, which must be refused, and completions over several passes of
 * their ring.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bringup_rig.h"

#define SOURCE		(RIG_DATA + 0x00000u)
#define TARGET		(RIG_DATA + 0x40000u)
#define SMALL		(RIG_DATA + 0x80000u)
#define SCATTERED	(RIG_DATA + 0xc0000u)
#define HIGH		(RIG_DATA + 0x100000u)
#define BYTES		0x20000u
#define GUARD		0xa5
#define RW		(GTU_REGION_READ | GTU_REGION_WRITE)

static uint8_t *at(const struct rig *r, uint32_t offset)
{
	return r->at + offset;
}

static void fill_source(struct rig *r)
{
	uint32_t i;

	for (i = 0; i < BYTES; i++)
		at(r, SOURCE)[i] = (uint8_t)(i * 167 + (i >> 8) * 13 + 1);
}

static struct gtu_hw_desc copy(uint32_t from, uint64_t from_at, uint32_t to, uint64_t to_at, uint32_t count, unsigned width_log2)
{
	return (struct gtu_hw_desc){ .opcode = GTU_OP_COPY, .param = width_log2, .cookie = 0xc0ffee0000000000u + count,
				     .operand = { { from, count, from_at }, { to, count, to_at } } };
}

/* ---- COPY over lengths and alignments ---------------------------------------------------------------------------- */

struct copied {
	uint32_t from, to, bytes;
	bool done, crosses;
	int64_t first;			/* index of the first wrong byte; -1: none */
	struct gtu_hw_cpl cpl;
};

/* Index of the first of @n bytes that differs; -1: none. */
static int64_t first_wrong(const uint8_t *is, const uint8_t *want, uint32_t n)
{
	uint32_t i = 0;

	if (!memcmp(is, want, n))
		return -1;
	while (i < n && is[i] == want[i])
		i++;
	return i;
}

static bool try_copy(struct rig *r, uint32_t source, uint32_t target, struct copied *c, struct gtu_error *err)
{
	const struct gtu_hw_desc d = copy(source, c->from, target, c->to, c->bytes, 0);
	static uint8_t want[BYTES];

	memset(want, GUARD, BYTES);
	memcpy(want + c->to, at(r, SOURCE) + c->from, c->bytes);
	memset(at(r, TARGET), GUARD, BYTES);
	c->crosses = c->from % 4096 + c->bytes > 4096 || c->to % 4096 + c->bytes > 4096;
	c->first = -1;
	c->done = rig_do(r, &d, &c->cpl, err);
	if (!c->done)
		return false;
	c->first = first_wrong(at(r, TARGET), want, BYTES);
	return true;
}

static bool completion_right(struct bringup *b, const struct copied *c, unsigned n)
{
	const struct gtu_hw_cpl *p = &c->cpl;

	if (p->status != GTU_CPL_OK) {
		bringup_say(b, BRINGUP_FAIL, NULL, "a COPY of %u bytes ended with status %u (%s), operand %u, element %" PRIu64 "%s", c->bytes, p->status, rig_status(p->status),
			    p->operand, p->element, p->status == GTU_CPL_DMA ? ": memory does not answer (an IOMMU, a wrong address?)" : "");
		return false;
	}
	if (p->count == c->bytes + 1ull) {
		bringup_say(b, BRINGUP_FAIL, "completion-count", "a COPY of %u elements completes with a count of %" PRIu64, c->bytes, p->count);
		return false;
	}
	if (p->cookie != 0xc0ffee0000000000u + c->bytes || p->sq_index != n || p->operand != 0xff || p->element || p->dropped) {
		bringup_say(b, BRINGUP_FAIL, NULL, "the completion of a COPY of %u bytes: cookie 0x%" PRIx64 ", sq_index %u (not %u), operand 0x%x (not 0xff), "
			    "element %" PRIu64 ", dropped %" PRIu64, c->bytes, p->cookie, p->sq_index, n, p->operand, p->element, p->dropped);
		return false;
	}
	return true;
}

static void explain(struct bringup *b, const struct copied *c, unsigned n)
{
	unsigned i, bad = 0, last_of_4k = 0, crossing = 0;
	const struct copied *first = NULL;

	for (i = 0; i < n; i++) {
		if (c[i].first < 0)
			continue;
		first = first ? first : &c[i];
		bad++;
		last_of_4k += c[i].bytes % 4096 == 0 && c[i].first == c[i].to + c[i].bytes - 1;
		crossing += c[i].crosses;
	}
	if (bad == last_of_4k)
		bringup_say(b, BRINGUP_FAIL, "length-4k", "copies of multiples of 4096 bytes, and only those (%u), do not write their last byte: a length of "
			    "4096 is taken as 4095", bad);
	else if (bad == crossing)
		bringup_say(b, BRINGUP_FAIL, "dma-page", "copies that cross a 4 KiB page, and only those (%u), are wrong; the first, %u bytes from 0x%x to 0x%x, "
			    "from byte %" PRId64 " of the target on: addresses do not continue in the next page", bad, first->bytes, first->from, first->to,
			    first->first - first->to);
	else
		bringup_say(b, BRINGUP_FAIL, NULL, "%u of %u copies are wrong; the first is %u bytes from 0x%x to 0x%x, wrong at byte 0x%" PRIx64 " of the target's "
			    "region%s", bad, n, first->bytes, first->from, first->to, (uint64_t)first->first,
			    first->first < first->to || first->first >= (int64_t)first->to + first->bytes ? ", OUTSIDE of the target" : "");
}

static bool copies(struct bringup *b, struct rig *r)
{
	static const struct {
		uint32_t from, to, bytes;
	} cases[] = {
		{ 0, 0, 1 }, { 0, 0, 64 }, { 3, 5, 31 }, { 1, 2, 32 }, { 0, 64, 33 }, { 0, 0, 4095 }, { 0, 0, 4096 }, { 8192, 4096, 4096 },
		{ 0, 0, 4097 }, { 0, 0, 8192 }, { 4090, 0, 12 }, { 0, 4090, 12 }, { 4095, 8191, 2 }, { 4000, 100, 5000 }, { 1, 3, 12288 },
		{ 17, 4091, 65536 }, { 0, 0, 131072 },
	};
	struct copied c[sizeof(cases) / sizeof(cases[0])];
	const unsigned n = sizeof(cases) / sizeof(cases[0]);
	const uint32_t source = rig_region(r, SOURCE, BYTES, GTU_REGION_READ), target = rig_region(r, TARGET, BYTES, GTU_REGION_WRITE);
	struct gtu_error err;
	unsigned i, bad = 0;

	for (i = 0; i < n; i++) {
		c[i] = (struct copied){ .from = cases[i].from, .to = cases[i].to, .bytes = cases[i].bytes };
		if (!try_copy(r, source, target, &c[i], &err)) {
			bringup_say(b, BRINGUP_FAIL, NULL, "a COPY of %u bytes does not complete: %s", c[i].bytes, err.text);
			return false;
		}
		bad += c[i].first >= 0;
		/* a wrong length also shows in the count; explain() reports it by the bytes */
		if (c[i].first < 0 && !completion_right(b, &c[i], i))
			return false;
	}
	if (bad) {
		explain(b, c, n);
		return false;
	}
	bringup_say(b, BRINGUP_OK, NULL, "%u copies of 1 to %u bytes, aligned or not, across page boundaries; nothing outside was written", n, BYTES);
	return true;
}

/* Why a job is wrong: it has not ended (@err), or ended with another status. */
static const char *why_not(bool ended, const struct gtu_hw_cpl *cpl, const struct gtu_error *err)
{
	static char text[48];

	snprintf(text, sizeof(text), "it ends with status %u (%s)", ended ? cpl->status : 0, rig_status(ended ? cpl->status : 0));
	return ended ? text : err->text;
}

/* ---- FILL, scattered pages ------------------------------------------------------------------------------------- */

static bool fills(struct bringup *b, struct rig *r)
{
	const uint32_t target = rig_region(r, TARGET, BYTES, GTU_REGION_WRITE);
	const uint64_t imm = 0x8877665544332211u;
	struct gtu_hw_cpl cpl;
	struct gtu_error err;
	bool ended;
	unsigned w, i;

	for (w = 0; w < 4; w++) {
		const unsigned bytes = 1u << w;
		const struct gtu_hw_desc d = { .opcode = GTU_OP_FILL, .param = w, .imm = imm, .operand = { [1] = { target, 10, 8 } } };
		const uint64_t reversed = __builtin_bswap64(imm) >> (64 - 8 * bytes);

		memset(at(r, TARGET), GUARD, 256);
		ended = rig_do(r, &d, &cpl, &err);
		if (!ended || cpl.status) {
			bringup_say(b, BRINGUP_FAIL, NULL, "a FILL of 10 elements of %u bytes: %s", bytes, why_not(ended, &cpl, &err));
			return false;
		}
		for (i = 0; i < 256; i++) {
			const bool inside = i >= 8 && i < 8 + 10 * bytes;
			const uint8_t is = at(r, TARGET)[i], want = inside ? (uint8_t)(imm >> 8 * ((i - 8) % bytes)) : GUARD;

			if (is == want)
				continue;
			bringup_say(b, BRINGUP_FAIL, inside && is == (uint8_t)(reversed >> 8 * ((i - 8) % bytes)) ? "byte-order" : NULL, "FILL with elements of %u bytes "
				    "of 0x%" PRIx64 ": byte %u is 0x%02x, not 0x%02x%s", bytes, imm, i, is, want,
				    inside && is == (uint8_t)(reversed >> 8 * ((i - 8) % bytes)) ? ": the element is written big-endian" : "");
			return false;
		}
	}
	bringup_say(b, BRINGUP_OK, NULL, "FILL at widths 1, 2, 4, 8, little-endian");
	return true;
}

static bool scattered(struct bringup *b, struct rig *r)
{
	static const uint32_t order[] = { 5, 2, 7, 0 };
	uint32_t page[4], i, key, target = rig_region(r, TARGET, BYTES, GTU_REGION_WRITE);
	struct gtu_hw_desc d;
	struct gtu_hw_cpl cpl;
	struct gtu_error err;
	bool ended;

	for (i = 0; i < 4; i++)
		page[i] = SCATTERED / 4096 + order[i];
	for (i = 0; i < 4 * 4096; i++)
		at(r, SCATTERED)[order[i / 4096] * 4096 + i % 4096] = (uint8_t)(i * 31 + (i >> 12));
	key = rig_region_scattered(r, page, 4, 24, 4 * 4096 - 24, GTU_REGION_READ);
	memset(at(r, TARGET), GUARD, BYTES);
	d = copy(key, 8, target, 0, 4 * 4096 - 32, 0);
	ended = rig_do(r, &d, &cpl, &err);
	if (!ended || cpl.status) {
		bringup_say(b, BRINGUP_FAIL, NULL, "a COPY out of a region of 4 scattered pages: %s", why_not(ended, &cpl, &err));
		return false;
	}
	for (i = 0; i < 4 * 4096 - 32; i++) {
		if (at(r, TARGET)[i] == (uint8_t)((i + 32) * 31 + ((i + 32) >> 12)))
			continue;
		bringup_say(b, BRINGUP_FAIL, NULL, "a region of scattered pages (page list of level 1, offset 24): byte %u is wrong (page %u of the region)", i,
			    (i + 32) >> 12);
		return false;
	}
	bringup_say(b, BRINGUP_OK, NULL, "a region of scattered pages through its list");
	return true;
}

/* ---- Invalid jobs ----------------------------------------------------------------------------------------- */

static void refusals(struct bringup *b, struct rig *r)
{
	const uint32_t small = rig_region(r, SMALL, 100, RW), only_read = rig_region(r, SMALL + 4096, 256, GTU_REGION_READ);
	const uint32_t only_write = rig_region(r, SMALL + 8192, 256, GTU_REGION_WRITE), target = rig_region(r, TARGET, BYTES, GTU_REGION_WRITE);
	const uint32_t odd = rig_region(r, SMALL, 256, RW);
	const struct {
		const char *what, *bug;
		struct gtu_hw_desc d;
		uint16_t want;
	} cases[] = {
		{ "an operand that ends one element after its region", "bounds", copy(small, 97, target, 0, 4, 0), GTU_CPL_BOUNDS },
		{ "an offset after its region", "bounds", copy(small, 4096, target, 0, 4, 0), GTU_CPL_BOUNDS },
		{ "a write into a region without WRITE", "rights", copy(small, 0, only_read, 0, 4, 0), GTU_CPL_RIGHTS },
		{ "a read of a region without READ", "rights", copy(only_write, 0, target, 0, 4, 0), GTU_CPL_RIGHTS },
		{ "a key of an old generation", "generation", copy(small + 0x10000, 0, target, 0, 4, 0), GTU_CPL_KEY },
		{ "a key of an empty slot", NULL, copy(GTU_KEY(1, 255), 0, target, 0, 4, 0), GTU_CPL_KEY },
		{ "a region whose base is not a multiple of 8", NULL, copy(odd, 0, target, 0, 4, 0), GTU_CPL_KEY },
		{ "a source longer than its target", NULL,
		  { .opcode = GTU_OP_COPY, .operand = { { small, 8, 0 }, { target, 4, 0 } } }, GTU_CPL_OVERFLOW },
		{ "a misaligned operand", NULL, copy(small, 1, target, 0, 4, 2), GTU_CPL_OPERAND },
		{ "a reserved byte of the descriptor", NULL, { .opcode = GTU_OP_NOP, .reserved0 = 1 }, GTU_CPL_RESERVED },
		{ "operation 0x7f", NULL, { .opcode = 0x7f }, GTU_CPL_OPCODE },
	};
	struct gtu_hw_cpl cpl;
	struct gtu_error err;
	unsigned i, bad = 0;

	((struct gtu_hw_region *)(void *)(r->at + RIG_TABLE))[GTU_KEY_SLOT(odd)].base += 4;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!rig_do(r, &cases[i].d, &cpl, &err)) {
			bringup_say(b, BRINGUP_FAIL, NULL, "%s: %s", cases[i].what, err.text);
			return;
		}
		if (cpl.status == cases[i].want)
			continue;
		bad++;
		bringup_say(b, BRINGUP_FAIL, cpl.status == GTU_CPL_OK ? cases[i].bug : NULL, "%s ends with status %u (%s), not %u (%s)%s", cases[i].what, cpl.status,
			    rig_status(cpl.status), cases[i].want, rig_status(cases[i].want), cpl.status == GTU_CPL_OK ? ": it was not refused" : "");
	}
	if (!bad)
		bringup_say(b, BRINGUP_OK, NULL, "bounds, rights, generations and descriptors are checked and have the right status");
}

/* ---- Rings --------------------------------------------------------------------------------------------------------- */

static void passes(struct bringup *b, struct rig *r)
{
	const struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	const uint32_t size = 1u << r->queue_log2;
	struct gtu_hw_cpl cpl;
	struct gtu_error err;
	uint32_t i;

	for (i = 0; i < 3 * size; i++) {
		const struct gtu_hw_cpl *slot = (struct gtu_hw_cpl *)(void *)at(r, RIG_CQ(0)) + (r->q[0].head & (size - 1));
		const uint32_t index = r->q[0].head;

		if (rig_do(r, &nop, &cpl, &err))
			continue;
		if (slot->sq_index == index)
			bringup_say(b, BRINGUP_FAIL, "phase", "completion %u, in pass %u through its ring, has phase %u, not %u", index, index / size,
				    slot->phase, !(index & size));
		else
			bringup_say(b, BRINGUP_FAIL, NULL, "pass %u through a ring of %u: %s", index / size, size, err.text);
		return;
	}
	bringup_say(b, BRINGUP_OK, NULL, "%u jobs through a ring of %u, with the right phases in each pass", 3 * size, size);
}

/* Submit while the queue's job cannot end: a stream whose ring is full. */
static void tail_while_busy(struct bringup *b, struct rig *r)
{
	struct gtu_hw_ring *ring = (void *)at(r, TARGET);
	const uint32_t indices = rig_region(r, SOURCE, 4096, GTU_REGION_READ), out = rig_region(r, TARGET, 4096, RW);
	const struct gtu_hw_desc stream = { .opcode = GTU_OP_IRU_STREAM, .param = 2 << GTU_IRU_TARGET_SHIFT, .cookie = 1,
					    .operand = { { indices, 64, 0 }, { 0 }, { out, 1, 0 } } };
	const struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP, .cookie = 2 };
	const uint64_t state[6] = { 0 };
	struct access_timer starts = { 0 }, ends = { 0 };
	struct gtu_hw_cpl cpl;
	struct gtu_error err;
	uint32_t i, tail;

	if (!(b->units & GTU_UNIT_IRU))
		return;
	for (i = 0; i < 64; i++)
		((uint32_t *)(void *)at(r, SOURCE))[i] = i;
	memset(ring, 0, 4096);
	rig_put(r, 0, &stream);
	rig_submit(r, 0);
	while (!__atomic_load_n(&ring->waiting, __ATOMIC_ACQUIRE) && access_wait(r->a, &starts))
		;
	rig_put(r, 0, &nop);
	rig_submit(r, 0);
	tail = access_command(r->a, GTU_MBOX_QUEUE_STATE, state) ? 0 : (uint32_t)(access_reg64(r->a, GTU_REG_MBOX_RESULT(0)) >> 32);
	while (!__atomic_load_n(&ring->ended, __ATOMIC_ACQUIRE)) {
		ring->consumer = ring->producer;
		rig_doorbell(r, 0, GTU_DB_KICK, 0);
		if (!access_wait(r->a, &ends))
			break;
	}
	if (!rig_take(r, 0, &cpl, &err)) {
		bringup_say(b, BRINGUP_FAIL, NULL, "a stream of two records into a ring of one: %s", err.text);
	} else if (tail != r->q[0].tail) {
		bringup_say(b, BRINGUP_FAIL, "tail-lost", "a SUBMIT while the queue's job runs is lost: the tail is %u in the mailbox, %u was written", tail,
			    r->q[0].tail);
		r->q[0].tail--;
	} else if (!rig_take(r, 0, &cpl, &err)) {
		bringup_say(b, BRINGUP_FAIL, NULL, "the job after a stream: %s", err.text);
	} else {
		bringup_say(b, BRINGUP_OK, NULL, "a SUBMIT while a job runs is not lost; a stream waits for its consumer and continues");
	}
}

/* ---- Above 4 GiB ----------------------------------------------------------------------------------------------------- */

static void high_memory(struct bringup *b, struct rig *r)
{
	struct gtu_error err;
	uint64_t bus;
	uint8_t *high = r->a->ops->memory(r->a, RIG_BYTES, true, &bus, &err);
	uint32_t source, target;
	struct gtu_hw_desc d;
	struct gtu_hw_cpl cpl;

	if (!high) {
		bringup_say(b, BRINGUP_SKIP, NULL, "no memory above 4 GiB is available: %s", err.text);
		return;
	}
	fill_source(r);
	memset(high + HIGH, GUARD, 4096);
	memset(at(r, HIGH), GUARD, 4096);
	source = rig_region(r, SOURCE, 4096, GTU_REGION_READ);
	target = rig_region_at(r, bus + HIGH, 4096, GTU_REGION_WRITE);
	d = copy(source, 0, target, 0, 4096, 0);
	if (!rig_do(r, &d, &cpl, &err)) {
		bringup_say(b, BRINGUP_FAIL, NULL, "a COPY to 0x%" PRIx64 ": %s", bus + HIGH, err.text);
	} else if (!memcmp(at(r, HIGH), at(r, SOURCE), 4096)) {
		bringup_say(b, BRINGUP_FAIL, "dma-32", "what was copied to 0x%" PRIx64 " has arrived at 0x%" PRIx64 ": addresses lose their upper half", bus + HIGH,
			    r->bus + HIGH);
	} else if (cpl.status || memcmp(high + HIGH, at(r, SOURCE), 4096)) {
		bringup_say(b, BRINGUP_FAIL, cpl.status == GTU_CPL_DMA ? "dma-32" : NULL, "a COPY to 0x%" PRIx64 " ends with status %u (%s), and the bytes are %s",
			    bus + HIGH, cpl.status, rig_status(cpl.status), memcmp(high + HIGH, at(r, SOURCE), 4096) ? "not there" : "there");
	} else {
		bringup_say(b, BRINGUP_OK, NULL, "memory above 4 GiB (0x%" PRIx64 ") is reached", bus + HIGH);
	}
}

void bringup_dma(struct bringup *b)
{
	struct gtu_error err = { .text = "" };
	struct rig r;

	if (rig_open(&r, b, b->a, 0, &err)) {
		bringup_say(b, err.code == GTU_ERR_FAIL ? BRINGUP_FAIL : BRINGUP_SKIP, NULL, "%s", err.text);
		return;
	}
	fill_source(&r);
	if (copies(b, &r) && fills(b, &r) && scattered(b, &r)) {
		refusals(b, &r);
		high_memory(b, &r);
		tail_while_busy(b, &r);
		passes(b, &r);
	}
	rig_close(&r);
}

/* ---- Interrupts ---------------------------------------------------------------------------------------------------------- */

static uint32_t came(struct bringup *b, struct access *a, uint32_t except)
{
	uint32_t v;

	for (v = 0; v < b->vectors; v++)
		if (v != except && a->ops->irq_came(a, v))
			return v;
	return ~0u;
}

/* Have a job raise an event on vector @v. False if the job does not end. */
static bool event(struct bringup *b, struct rig *r, uint32_t v)
{
	const uint64_t ring[6] = { 0, r->bus + RIG_EVENTS, r->queue_log2, v };
	const struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	struct gtu_hw_cpl cpl;
	struct gtu_error err;

	access_command(r->a, GTU_MBOX_EVENT_DISABLE, ring);
	memset(at(r, RIG_EVENTS), 0, 4u << r->queue_log2);
	if (access_command(r->a, GTU_MBOX_EVENT_ENABLE, ring)) {
		bringup_say(b, BRINGUP_FAIL, NULL, "EVENT_ENABLE with vector %u is refused", v);
		return false;
	}
	rig_doorbell(r, 0, GTU_DB_ARM, r->q[0].tail);
	if (!rig_do(r, &nop, &cpl, &err)) {
		bringup_say(b, BRINGUP_FAIL, NULL, "%s", err.text);
		return false;
	}
	return true;
}

static bool arrives(struct rig *r, uint32_t v)
{
	struct access_timer timer = { 0 };

	do {
		if (r->a->ops->irq_came(r->a, v))
			return true;
	} while (access_wait(r->a, &timer));
	return false;
}

static bool vectors(struct bringup *b, struct rig *r)
{
	struct access_timer timer;
	uint32_t v, other;

	for (v = 0; v < b->vectors; v++) {
		const uint32_t *word = (const uint32_t *)(void *)at(r, RIG_EVENTS);

		if (!event(b, r, v))
			return false;
		/* the completion is written before its event */
		for (timer = (struct access_timer){ 0 }; !__atomic_load_n(word, __ATOMIC_ACQUIRE) && access_wait(r->a, &timer);)
			;
		if (*word != GTU_EVENT_PHASE) {
			bringup_say(b, BRINGUP_FAIL, NULL, "the event's word is 0x%08x, not 0x%08x (queue 0, first pass)", *word, GTU_EVENT_PHASE);
			return false;
		}
		if (arrives(r, v))
			continue;
		other = came(b, r->a, v);
		bringup_say(b, BRINGUP_FAIL, other != ~0u ? "irq-vector" : NULL, other != ~0u ? "an event ring with vector %u raises vector %u" :
			    "an event with vector %u raises no interrupt", v, other);
		return false;
	}
	return true;
}

static void masks(struct bringup *b, struct rig *r)
{
	const uint32_t v = b->vectors > 1;
	/* without a bus a function takes MSI-X as off while none of its vectors has an eventfd */
	const bool off = !v && strcmp(r->a->ops->kind, "pci");
	uint64_t pending;
	unsigned i;

	if (!r->a->ops->irq_mask || off) {
		bringup_say(b, BRINGUP_OK, NULL, "%u vectors, each arrives and no other does", b->vectors);
		bringup_say(b, BRINGUP_SKIP, NULL, off ? "masking the only vector turns MSI-X off" : "the kernel controls the masks of vectors");
		return;
	}
	r->a->ops->irq_mask(r->a, v, true);
	if (!event(b, r, v))
		return;
	for (i = 0, pending = 0; i < 500 && !(pending >> v & 1); i++) {
		r->a->ops->work(r->a);
		pending = r->a->ops->read(r->a, GTU_BAR_MSIX, GTU_MSIX_PBA, 8);
	}
	if (r->a->ops->irq_came(r->a, v)) {
		bringup_say(b, BRINGUP_FAIL, "msix-mask", "vector %u was sent although it is masked in its table entry", v);
		return;
	}
	r->a->ops->irq_mask(r->a, v, false);
	if (!arrives(r, v))
		bringup_say(b, BRINGUP_FAIL, NULL, "vector %u was raised while masked (its pending bit: %u), but did not arrive when it was unmasked", v,
			    (unsigned)(pending >> v & 1));
	else if (!(pending >> v & 1))
		bringup_say(b, BRINGUP_WARN, NULL, "vector %u was raised while masked and arrived when it was unmasked, but its pending bit was 0: "
			    "a virtual machine may hide the bit, a board may not", v);
	else
		bringup_say(b, BRINGUP_OK, NULL, "%u vectors, each arrives and no other does; a masked one is pending, and arrives when it is unmasked",
			    b->vectors);
}

static void error_vector(struct bringup *b, struct rig *r)
{
	r->a->ops->irq_came(r->a, 0);
	access_set(r->a, GTU_REG_ERROR, access_reg(r->a, GTU_REG_ERROR));
	access_reg(r->a, 0x03c);
	if (arrives(r, 0))
		bringup_say(b, BRINGUP_OK, NULL, "an error raises vector 0");
	else
		bringup_say(b, BRINGUP_FAIL, NULL, "an error (ERROR 0x%x) raises no interrupt on vector 0", access_reg(r->a, GTU_REG_ERROR));
	access_set(r->a, GTU_REG_ERROR, access_reg(r->a, GTU_REG_ERROR));
}

void bringup_irqs(struct bringup *b)
{
	struct gtu_error err = { .text = "" };
	struct rig r;

	if (!b->a->has_irqs) {
		bringup_say(b, BRINGUP_SKIP, NULL, "interrupts have no target: use --hugepage for memory, or --device vfio:ADDRESS for eventfds");
		return;
	}
	if (rig_open(&r, b, b->a, 0, &err)) {
		bringup_say(b, err.code == GTU_ERR_FAIL ? BRINGUP_FAIL : BRINGUP_SKIP, NULL, "%s", err.text);
		return;
	}
	if (b->a->ops->irq_on(b->a, b->vectors, &err)) {
		bringup_say(b, BRINGUP_SKIP, NULL, "%s", err.text);
	} else {
		if (vectors(b, &r))
			masks(b, &r);
		error_vector(b, &r);
		b->a->ops->irq_off(b->a);
	}
	rig_close(&r);
}
