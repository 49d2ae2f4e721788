// SPDX-License-Identifier: MIT
/*
 * bringup: the register walk. Checks reset values, that read-only registers cannot be written, that
 * writable registers keep every bit, and the rules of accesses: halves, widths, unused offsets.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bringup.h"

enum kind { RO, RW, WO, W1C };

/*
 * Page 0 (Documentation/hardware.md, section 3). `want`: the value after a reset, if all builds
 * have the same.
 */
static const struct row {
	uint32_t offset;
	const char *name;
	uint8_t kind;
	bool wide, known;
	uint64_t want;
} rows[] = {
	{ GTU_REG_MAGIC, "MAGIC", RO, false, true, GTU_MAGIC },
	{ GTU_REG_VERSION, "VERSION", RO, false, false, 0 },
	{ GTU_REG_CAPS, "CAPS", RO, true, false, 0 },
	{ GTU_REG_UNITS, "UNITS", RO, false, false, 0 },
	{ GTU_REG_EPOCH, "EPOCH", RO, false, false, 0 },
	{ GTU_REG_STATUS, "STATUS", RO, false, true, GTU_STATUS_READY },
	{ GTU_REG_RESET, "RESET", WO, false, true, 0 },
	{ GTU_REG_SCRATCH, "SCRATCH", RW, true, true, 0 },
	{ GTU_REG_ERROR, "ERROR", W1C, false, true, 0 },
	{ GTU_REG_ERROR_INFO, "ERROR_INFO", RO, true, true, 0 },
	{ GTU_REG_MAX_CONTEXTS, "MAX_CONTEXTS", RO, false, false, 0 },
	{ GTU_REG_MAX_QUEUES, "MAX_QUEUES", RO, false, false, 0 },
	{ GTU_REG_MAX_REGIONS, "MAX_REGIONS", RO, false, false, 0 },
	{ GTU_REG_MAX_RING, "MAX_RING", RO, false, false, 0 },
	{ GTU_REG_VECTORS, "VECTORS", RO, false, false, 0 },
	{ GTU_REG_EVENT_RINGS, "EVENT_RINGS", RO, false, false, 0 },
	{ GTU_REG_DOORBELL_STRIDE, "DOORBELL_STRIDE", RO, false, false, 0 },
	{ GTU_REG_CLOCK_HZ, "CLOCK_HZ", RO, true, false, 0 },
	{ GTU_REG_CYCLES, "CYCLES", RO, true, true, 0 },
	{ GTU_REG_APERTURE_SIZE, "APERTURE_SIZE", RO, true, false, 0 },
	{ GTU_REG_FDT_OFFSET, "FDT_OFFSET", RO, false, false, 0 },
	{ GTU_REG_FDT_LENGTH, "FDT_LENGTH", RO, false, false, 0 },
	{ GTU_REG_FDT_CRC, "FDT_CRC", RO, false, false, 0 },
	{ GTU_REG_CYCLE_LIMIT, "CYCLE_LIMIT", RW, true, true, 1ull << 40 },
	{ GTU_REG_MBOX_ARG(0), "MBOX_ARG(0)", RW, true, true, 0 },
	{ GTU_REG_MBOX_ARG(1), "MBOX_ARG(1)", RW, true, true, 0 },
	{ GTU_REG_MBOX_ARG(2), "MBOX_ARG(2)", RW, true, true, 0 },
	{ GTU_REG_MBOX_ARG(3), "MBOX_ARG(3)", RW, true, true, 0 },
	{ GTU_REG_MBOX_ARG(4), "MBOX_ARG(4)", RW, true, true, 0 },
	{ GTU_REG_MBOX_ARG(5), "MBOX_ARG(5)", RW, true, true, 0 },
	{ GTU_REG_MBOX_CMD, "MBOX_CMD", WO, false, true, 0 },
	{ GTU_REG_MBOX_STATUS, "MBOX_STATUS", RO, false, true, 0 },
	{ GTU_REG_MBOX_RESULT(0), "MBOX_RESULT(0)", RO, true, true, 0 },
	{ GTU_REG_MBOX_RESULT(1), "MBOX_RESULT(1)", RO, true, true, 0 },
	{ GTU_REG_MBOX_RESULT(2), "MBOX_RESULT(2)", RO, true, true, 0 },
	{ GTU_REG_EVENT_HEAD(0), "EVENT_HEAD(0)", WO, false, true, 0 },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static uint64_t get(struct bringup *b, const struct row *r)
{
	return b->a->ops->read(b->a, GTU_BAR_REGS, r->offset, r->wide ? 8 : 4);
}

static struct bringup_register *note(struct bringup *b, uint32_t offset, const char *name, const char *access, bool wide,
				     bool wanted, uint64_t want, uint64_t got)
{
	static struct bringup_register none;
	struct bringup_register *r = b->regs < BRINGUP_REGISTERS ? &b->reg[b->regs++] : &none;

	*r = (struct bringup_register){ .offset = offset, .access = access, .wide = wide, .wanted = wanted, .want = want, .got = got,
					.bad = wanted && want != got };
	snprintf(r->name, sizeof(r->name), "%s", name);
	return r;
}

/* ---- Reset --------------------------------------------------------------------------------------------- */

static void reset_and_read(struct bringup *b)
{
	static const char *const access[] = { "RO", "RW", "WO", "W1C" };
	const uint32_t before = access_reg(b->a, GTU_REG_EPOCH);
	struct access_timer timer = { 0 };
	uint32_t after, wrong_key;
	unsigned i, u, n, bad = 0;

	access_set64(b->a, GTU_REG_SCRATCH, 0x1122334455667788u);
	access_set(b->a, GTU_REG_RESET, ~GTU_RESET_KEY);
	wrong_key = access_reg(b->a, GTU_REG_EPOCH);
	if (wrong_key != before)
		bringup_say(b, BRINGUP_FAIL, NULL, "a write of 0x%08x to RESET has reset the device; only 0x%08x may", ~GTU_RESET_KEY, GTU_RESET_KEY);
	access_set(b->a, GTU_REG_RESET, GTU_RESET_KEY);
	while (!(access_reg(b->a, GTU_REG_STATUS) & GTU_STATUS_READY) && access_wait(b->a, &timer))
		;
	after = access_reg(b->a, GTU_REG_EPOCH);
	if (!(access_reg(b->a, GTU_REG_STATUS) & GTU_STATUS_READY)) {
		bringup_lose(b, "the device does not become ready after a reset", "STATUS (0x018) is 0x%08x after a write to RESET: READY does not become 1",
			     access_reg(b->a, GTU_REG_STATUS));
		return;
	}
	if (after == before)
		bringup_say(b, BRINGUP_FAIL, "epoch", "EPOCH is %u before and after a reset: drivers cannot detect that their contexts are lost", before);
	else if (after != before + 1 && !(before == ~0u && after == 1))
		bringup_say(b, BRINGUP_WARN, NULL, "EPOCH changes from %u to %u in one reset", before, after);
	for (i = 0; i < ROWS; i++) {
		const struct row *r = &rows[i];
		const struct bringup_register *is = note(b, r->offset, r->name, access[r->kind], r->wide, r->known, r->want, get(b, r));

		if (!is->bad)
			continue;
		bad++;
		bringup_say(b, BRINGUP_FAIL, "reset-value", "%s (0x%03x) is 0x%" PRIx64 " after a reset, not 0x%" PRIx64 ": bits 0x%" PRIx64 " differ",
			    r->name, r->offset, is->got, r->want, is->got ^ r->want);
	}
	for (u = 0; u < GTU_UNIT_COUNT; u++)
		for (n = 0; n < GTU_UREG_COUNTERS && b->units >> u & 1; n++) {
			const uint32_t at = gtu_unit_table[u].page + GTU_UREG_COUNTER(n);
			const uint64_t is = access_reg64(b->a, at);

			if (!is)
				continue;
			note(b, at, "COUNTER", "RO", true, true, 0, is);
			bad++;
			bringup_say(b, BRINGUP_FAIL, "reset-value", "counter %u of %s is %" PRIu64 " after a reset", n, gtu_unit_table[u].name, is);
		}
	if (!bad)
		bringup_say(b, BRINGUP_OK, NULL, "%zu registers and the counters of the units have the right values after a reset", ROWS);
}

/* ---- Read-only and writable registers -------------------------------------------------------------------- */

static void read_only(struct bringup *b)
{
	unsigned i, bad = 0;

	for (i = 0; i < ROWS; i++) {
		const struct row *r = &rows[i];
		uint64_t before, after;

		if (r->kind != RO)
			continue;
		before = get(b, r);
		b->a->ops->write(b->a, GTU_BAR_REGS, r->offset, r->wide ? 8 : 4, ~before);
		after = get(b, r);
		if (before == after)
			continue;
		bad++;
		note(b, r->offset, r->name, "RO", r->wide, true, before, after);
		bringup_say(b, BRINGUP_FAIL, "ro-writable", "%s (0x%03x) is read-only; after a write of 0x%" PRIx64 " it is 0x%" PRIx64 ", before 0x%" PRIx64,
			    r->name, r->offset, ~before, after, before);
		b->a->ops->write(b->a, GTU_BAR_REGS, r->offset, r->wide ? 8 : 4, before);
	}
	for (i = 0; i < GTU_UNIT_COUNT; i++) {
		const uint32_t at = gtu_unit_table[i].page + GTU_UREG_PARAM(0), before = access_reg(b->a, at);

		if (!(b->units >> i & 1))
			continue;
		access_set(b->a, at, ~before);
		if (access_reg(b->a, at) == before)
			continue;
		bad++;
		bringup_say(b, BRINGUP_FAIL, "ro-writable", "parameter 0 of %s takes what is written to it", gtu_unit_table[i].name);
	}
	if (!bad)
		bringup_say(b, BRINGUP_OK, NULL, "read-only registers keep their values");
}

/*
 * Write each bit alone, all bits, and patterns, to find bits that are stuck or tied to a neighbour.
 */
static void patterns(struct bringup *b, const struct row *r)
{
	uint64_t zero = 0, one = 0, pattern, is;
	unsigned i;

	for (i = 0; i < 64 + 4; i++) {
		pattern = i < 64 ? 1ull << i : i == 64 ? ~0ull : i == 65 ? 0 : i == 66 ? 0x5555555555555555u : 0xaaaaaaaaaaaaaaaau;
		access_set64(b->a, r->offset, pattern);
		is = access_reg64(b->a, r->offset);
		zero |= pattern & ~is;
		one |= is & ~pattern;
	}
	access_set64(b->a, r->offset, r->want);
	if (!zero && !one)
		return;
	note(b, r->offset, r->name, "RW", true, true, ~0ull, ~zero & ~one);
	if (zero >> 32 == 0xffffffffu && !(uint32_t)zero)
		bringup_say(b, BRINGUP_FAIL, "high-half", "%s keeps the low half of an 8-byte write, the high half is 0", r->name);
	else
		bringup_say(b, BRINGUP_FAIL, "stuck-bit", "%s (0x%03x): bits 0x%" PRIx64 " stay 0, bits 0x%" PRIx64 " stay or become 1", r->name, r->offset,
			    zero, one);
}

static void halves(struct bringup *b)
{
	struct access *a = b->a;
	const uint64_t x = 0x0123456789abcdefu, y = 0xfedcba9876543210u;
	uint32_t low, high;

	access_set(a, GTU_REG_SCRATCH, (uint32_t)x);
	access_set(a, GTU_REG_SCRATCH + 4, x >> 32);
	if (access_reg64(a, GTU_REG_SCRATCH) != x)
		bringup_say(b, BRINGUP_FAIL, NULL, "SCRATCH written by halves as 0x%" PRIx64 " reads as 0x%" PRIx64, x, access_reg64(a, GTU_REG_SCRATCH));
	low = access_reg(a, GTU_REG_SCRATCH);
	access_set64(a, GTU_REG_SCRATCH, y);
	high = access_reg(a, GTU_REG_SCRATCH + 4);
	if (low != (uint32_t)x || (high != x >> 32 && high != y >> 32))
		bringup_say(b, BRINGUP_FAIL, NULL, "the halves of SCRATCH read as 0x%08x and 0x%08x", low, high);
	else if (high != x >> 32)
		bringup_say(b, BRINGUP_FAIL, "latch", "SCRATCH changed between the reads of its halves, and they belong to different values "
			    "(0x%08x, 0x%08x): the low half does not latch the high half, so CYCLES and counters can be torn", low, high);
	else if (access_reg(a, GTU_REG_SCRATCH + 4) != y >> 32)
		bringup_say(b, BRINGUP_FAIL, NULL, "the high half of SCRATCH alone is not its present value");
	else
		bringup_say(b, BRINGUP_OK, NULL, "64-bit registers by halves, latched correctly");
	access_set64(a, GTU_REG_SCRATCH, 0);
}

/* ---- Errors -------------------------------------------------------------------------------------------- */

static void clear_error(struct bringup *b)
{
	access_set(b->a, GTU_REG_ERROR, access_reg(b->a, GTU_REG_ERROR));
}

/* Whether an invalid read returns 0 and is recorded in ERROR and ERROR_INFO. */
static bool is_refused(struct bringup *b, uint32_t at, unsigned bytes, uint64_t *value, uint32_t *error)
{
	uint64_t info;

	clear_error(b);
	*value = b->a->ops->read(b->a, GTU_BAR_REGS, at, bytes);
	*error = access_reg(b->a, GTU_REG_ERROR);
	info = access_reg64(b->a, GTU_REG_ERROR_INFO);
	return !*value && *error == GTU_ERROR_REGISTER && info == at;
}

/* False: ERROR cannot be cleared, so it cannot show later errors. */
static bool write_one_to_clear(struct bringup *b)
{
	uint32_t error;
	uint64_t value;

	is_refused(b, 0x03c, 4, &value, &error);
	if (!(error & GTU_ERROR_REGISTER)) {
		bringup_say(b, BRINGUP_FAIL, NULL, "a read of an unused offset (0x03c) leaves ERROR at 0x%x, not 0x%x", error,
			    GTU_ERROR_REGISTER);
		return false;
	}
	access_set(b->a, GTU_REG_ERROR, 0);
	if (!(access_reg(b->a, GTU_REG_ERROR) & GTU_ERROR_REGISTER))
		bringup_say(b, BRINGUP_FAIL, NULL, "a zero written to ERROR cleared its bit: it is plain read-write, not write-one-to-clear");
	if (!(access_reg(b->a, GTU_REG_STATUS) & GTU_STATUS_ERROR))
		bringup_say(b, BRINGUP_FAIL, NULL, "ERROR is 0x%x, but STATUS does not show it", access_reg(b->a, GTU_REG_ERROR));
	access_set(b->a, GTU_REG_ERROR, GTU_ERROR_REGISTER);
	if (access_reg(b->a, GTU_REG_ERROR) & GTU_ERROR_REGISTER) {
		bringup_say(b, BRINGUP_FAIL, "w1c", "a one written to bit 2 of ERROR does not clear it");
		return false;
	}
	if (access_reg64(b->a, GTU_REG_ERROR_INFO))
		bringup_say(b, BRINGUP_FAIL, NULL, "ERROR is 0, but ERROR_INFO is 0x%" PRIx64, access_reg64(b->a, GTU_REG_ERROR_INFO));
	else
		bringup_say(b, BRINGUP_OK, NULL, "ERROR is cleared by ones only");
	return true;
}

/*
 * Reads of 1 and 2 bytes may be refused with or without ERROR, or return bytes of the register, because some buses do
 * not show their width to the device. Writes must be refused.
 */
static bool narrow_is_refused(struct bringup *b, unsigned bytes)
{
	const uint64_t whole = GTU_MAGIC & ((1u << 8 * bytes) - 1);
	uint32_t error, stored;
	uint64_t value;
	bool ok;

	ok = is_refused(b, GTU_REG_MAGIC, bytes, &value, &error) || ((!value || value == whole) && !(error & ~GTU_ERROR_REGISTER));
	if (!ok)
		bringup_say(b, BRINGUP_FAIL, NULL, "a read of %u byte%s of MAGIC gives 0x%" PRIx64 " with ERROR 0x%x; 0 or 0x%" PRIx64 " is expected", bytes,
			    bytes > 1 ? "s" : "", value, error, whole);
	clear_error(b);
	access_set(b->a, GTU_REG_SCRATCH, 0);
	b->a->ops->write(b->a, GTU_BAR_REGS, GTU_REG_SCRATCH, bytes, 0xa5a5);
	stored = access_reg(b->a, GTU_REG_SCRATCH);
	error = access_reg(b->a, GTU_REG_ERROR);
	if (!stored && error == GTU_ERROR_REGISTER)
		return ok;
	bringup_say(b, BRINGUP_FAIL, stored ? "access-size" : NULL, "a write of %u byte%s to SCRATCH leaves it at 0x%x with ERROR 0x%x; 0 and 0x%x are "
		    "expected", bytes, bytes > 1 ? "s" : "", stored, error, GTU_ERROR_REGISTER);
	return false;
}

static void widths(struct bringup *b)
{
	/* the first page after the known units, and after those that only the device knows */
	const uint32_t free_page = (GTU_UNIT_COUNT + 1u + (unsigned)__builtin_ctz(~(b->units >> GTU_UNIT_COUNT))) * GTU_PAGE;
	const struct {
		uint32_t at;
		uint8_t bytes;
		const char *what;
	} cases[] = {
		{ GTU_REG_MAGIC, 8, "8 bytes of MAGIC, which has 4" }, { 0x03c, 4, "an unused offset" },
		{ free_page, 4, "a page without a unit" },
	};
	const unsigned count = sizeof(cases) / sizeof(cases[0]) - (free_page >= GTU_FDT_WINDOW);
	uint32_t error;
	uint64_t value;
	unsigned i, bad = !narrow_is_refused(b, 1);

	bad += !narrow_is_refused(b, 2);
	for (i = 0; i < count; i++) {
		if (is_refused(b, cases[i].at, cases[i].bytes, &value, &error))
			continue;
		bad++;
		bringup_say(b, BRINGUP_FAIL, NULL, "a read of %s gives 0x%" PRIx64 " with ERROR 0x%x; 0 and 0x%x are expected", cases[i].what, value,
			    error, GTU_ERROR_REGISTER);
	}
	clear_error(b);
	if (!bad)
		bringup_say(b, BRINGUP_OK, NULL, "accesses of wrong width or offset read as zero and are recorded in ERROR");
}

static void settings(struct bringup *b)
{
	const uint32_t at = GTU_PAGE_ZCM + GTU_UREG_SET(GTU_ZCM_S_ENABLE);
	uint32_t is;

	if (!(b->units & GTU_UNIT_ZCM))
		return;
	access_set(b->a, at, 1);
	is = access_reg(b->a, at);
	access_set(b->a, at, 2);
	if (is != 1 || access_reg(b->a, at) != 1 || !(access_reg(b->a, GTU_REG_ERROR) & GTU_ERROR_REGISTER))
		bringup_say(b, BRINGUP_FAIL, NULL, "setting 0 of zcm: 1 reads back as %u, and the invalid value 2 leaves %u with ERROR 0x%x", is,
			    access_reg(b->a, at), access_reg(b->a, GTU_REG_ERROR));
	access_set(b->a, at, 0);
	clear_error(b);
}

void bringup_registers(struct bringup *b)
{
	unsigned i, fails;
	bool clears;

	reset_and_read(b);
	if (!b->identified)
		return;
	clears = write_one_to_clear(b);
	read_only(b);
	if (clears)
		bringup_blocks(b);
	fails = b->fails;
	for (i = 0; i < ROWS; i++)
		if (rows[i].kind == RW)
			patterns(b, &rows[i]);
	if (b->fails == fails)
		bringup_say(b, BRINGUP_OK, NULL, "every bit of the writable registers keeps the value written");
	halves(b);
	if (clears) {
		widths(b);
		settings(b);
	}
}

/* ---- The mailbox, without memory ------------------------------------------------------ */

void bringup_mailbox(struct bringup *b)
{
	static const char *const name[] = { "OK", "COMMAND", "INDEX", "STATE", "ARG", "IN_USE" };
	const struct {
		const char *what, *bug;
		uint32_t cmd;
		uint64_t arg[6];
		uint32_t want;
	} cases[] = {
		{ "NOP", NULL, GTU_MBOX_NOP, { 0 }, GTU_MBOX_E_OK },
		{ "command 200", NULL, 200, { 0 }, GTU_MBOX_E_COMMAND },
		{ "CTX_ENABLE of a context after the last", NULL, GTU_MBOX_CTX_ENABLE, { b->contexts, 0, 0, 0 }, GTU_MBOX_E_INDEX },
		{ "CTX_ENABLE with a misaligned table", "mailbox-check", GTU_MBOX_CTX_ENABLE, { 0, 32, 0, 0 }, GTU_MBOX_E_ARG },
		{ "CTX_ENABLE with a group after the last", NULL, GTU_MBOX_CTX_ENABLE,
		  { 0, 4096, 0, 1 | GTU_MBOX_CTX_GROUP(b->contexts + 1ull) }, GTU_MBOX_E_ARG },
		{ "CTX_ENABLE", NULL, GTU_MBOX_CTX_ENABLE, { 0, 4096, 0, 1 }, GTU_MBOX_E_OK },
		{ "CTX_ENABLE of the same again", NULL, GTU_MBOX_CTX_ENABLE, { 0, 4096, 0, 1 }, GTU_MBOX_E_STATE },
		{ "QUEUE_ENABLE of a queue after the last", NULL, GTU_MBOX_QUEUE_ENABLE,
		  { b->queues, 0, 4096, 8192, 1 | 1 << 8, GTU_RING_NONE }, GTU_MBOX_E_INDEX },
		{ "QUEUE_ENABLE with a misaligned submission ring", "mailbox-check", GTU_MBOX_QUEUE_ENABLE,
		  { 0, 0, 4096 + 64, 8192, 1 | 1 << 8, GTU_RING_NONE }, GTU_MBOX_E_ARG },
		{ "QUEUE_ENABLE with rings of 2^0", "mailbox-check", GTU_MBOX_QUEUE_ENABLE, { 0, 0, 4096, 8192, 0, GTU_RING_NONE },
		  GTU_MBOX_E_ARG },
		{ "QUEUE_DISABLE of a queue that is not enabled", NULL, GTU_MBOX_QUEUE_DISABLE, { 0 }, GTU_MBOX_E_STATE },
		{ "EVENT_ENABLE with a vector after the last", NULL, GTU_MBOX_EVENT_ENABLE, { 0, 4096, 4, b->vectors }, GTU_MBOX_E_INDEX },
		{ "CTX_DISABLE", NULL, GTU_MBOX_CTX_DISABLE, { 0 }, GTU_MBOX_E_OK },
	};
	unsigned i, bad = 0;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint32_t is = access_command(b->a, cases[i].cmd, cases[i].arg);

		if (is == cases[i].want)
			continue;
		bad++;
		bringup_say(b, BRINGUP_FAIL, cases[i].bug, "%s: MBOX_STATUS is 0x%x%s%s, not %s", cases[i].what, is, is < 6 ? " " : "",
			    is < 6 ? name[is] : is & GTU_MBOX_BUSY ? " (busy)" : "", name[cases[i].want]);
	}
	access_set(b->a, GTU_REG_RESET, GTU_RESET_KEY);
	if (!bad)
		bringup_say(b, BRINGUP_OK, NULL, "the mailbox answers, and refuses invalid commands with the right status");
}

/* ---- Doorbells ---------------------------------------------------------------------------------------------------- */

static bool queues_enable(struct bringup *b, uint32_t queues)
{
	const uint64_t ctx[6] = { 0, 4096, 0, 1 };
	uint32_t q;

	if (access_command(b->a, GTU_MBOX_CTX_ENABLE, ctx))
		return false;
	for (q = 0; q < queues; q++) {
		const uint64_t arg[6] = { q, 0, 0x10000 + 0x1000ull * q, 0x10000 + 0x1000ull * q + 0x800, 1 | 1 << 8, GTU_RING_NONE };

		if (access_command(b->a, GTU_MBOX_QUEUE_ENABLE, arg))
			return false;
	}
	return true;
}

/*
 * Bus mastering is off, so nothing is fetched. A tail that is too far ahead sets the queue that it
 * reaches to an error state, which QUEUE_STATE and ERROR_INFO show.
 */
void bringup_doorbells(struct bringup *b)
{
	uint32_t q, wrong = 0, first = 0, reached = ~0u, shift = 0, status;
	uint64_t info;
	bool cleared;

	access_set(b->a, GTU_REG_RESET, GTU_RESET_KEY);
	if (!queues_enable(b, b->queues)) {
		bringup_say(b, BRINGUP_FAIL, NULL, "the queues cannot be enabled (MBOX_STATUS 0x%x)", access_reg(b->a, GTU_REG_MBOX_STATUS));
		return;
	}
	for (q = 0; q < b->queues; q++) {
		const uint64_t at = (uint64_t)q << b->stride, arg[6] = { q };

		clear_error(b);
		/*
		 * if ERROR cannot be cleared, ERROR_INFO keeps the first error: use the queue's
		 * state
		 */
		cleared = !access_reg(b->a, GTU_REG_ERROR);
		b->a->ops->write(b->a, GTU_BAR_DOORBELL, at + GTU_DB_SUBMIT, 8, 0x40000000u);
		info = access_reg64(b->a, GTU_REG_ERROR_INFO);
		status = access_command(b->a, GTU_MBOX_QUEUE_STATE, arg);
		if (status & GTU_MBOX_BUSY) {
			bringup_say(b, BRINGUP_FAIL, NULL, "the mailbox stays busy at QUEUE_STATE of queue %u (MBOX_STATUS 0x%x)", q, status);
			return;
		}
		if (!status && access_reg64(b->a, GTU_REG_MBOX_RESULT(2)) == GTU_QUEUE_E_TAIL && (!cleared || (uint32_t)info == q))
			continue;
		if (!wrong++) {
			first = q;
			reached = info >> 32 == GTU_QUEUE_E_TAIL ? (uint32_t)info : ~0u;
		}
		shift += info >> 32 == GTU_QUEUE_E_TAIL && (uint32_t)info == q + 1;
	}
	access_set(b->a, GTU_REG_RESET, GTU_RESET_KEY);
	if (!wrong)
		bringup_say(b, BRINGUP_OK, NULL, "%u doorbells reach their own queues", b->queues);
	else if (reached == ~0u && shift < wrong / 2)
		bringup_say(b, BRINGUP_FAIL, NULL, "the doorbell of queue %u (0x%" PRIx64 " of BAR %u) reaches no queue; %u of %u do not reach theirs",
			    first, (uint64_t)first << b->stride, GTU_BAR_DOORBELL, wrong, b->queues);
	else
		bringup_say(b, BRINGUP_FAIL, shift ? "doorbell-index" : NULL, "the doorbell of queue %u reaches queue %u%s; %u of %u do not reach their own",
			    first, reached, shift >= wrong - 1 ? ": each page belongs to the next queue" : "", wrong, b->queues);
}

/* ---- Function-level reset --------------------------------------------------------------------------------------------- */

void bringup_flr(struct bringup *b)
{
	const uint32_t before = access_reg(b->a, GTU_REG_EPOCH);
	const uint64_t mark = 0x55aa1234abcd5678u;
	const uint64_t was = b->bar[GTU_BAR_APERTURE] ? b->a->ops->read(b->a, GTU_BAR_APERTURE, 64, 8) : 0;
	const uint64_t queue[6] = { 0 };
	struct gtu_error err;
	struct access_timer timer = { 0 };
	uint32_t epoch, state;
	uint64_t scratch;

	if (!b->reset) {
		bringup_say(b, BRINGUP_SKIP, NULL, "function-level resets are disabled (--no-reset)");
		return;
	}
	access_set64(b->a, GTU_REG_SCRATCH, mark);
	if (b->bar[GTU_BAR_APERTURE])
		b->a->ops->write(b->a, GTU_BAR_APERTURE, 64, 8, mark);
	queues_enable(b, 1);
	if (b->a->ops->flr(b->a, &err)) {
		bringup_say(b, BRINGUP_SKIP, NULL, "%s", err.text);
		return;
	}
	while (!(access_reg(b->a, GTU_REG_STATUS) & GTU_STATUS_READY) && access_wait(b->a, &timer))
		;
	if (!(access_reg(b->a, GTU_REG_STATUS) & GTU_STATUS_READY)) {
		bringup_lose(b, "the device does not become ready after a reset", "STATUS (0x018) is 0x%08x after a function-level reset: READY does not become 1",
			     access_reg(b->a, GTU_REG_STATUS));
		return;
	}
	epoch = access_reg(b->a, GTU_REG_EPOCH);
	scratch = access_reg64(b->a, GTU_REG_SCRATCH);
	state = access_command(b->a, GTU_MBOX_QUEUE_STATE, queue) ? ~0u : (uint32_t)access_reg64(b->a, GTU_REG_MBOX_RESULT(2));
	if (scratch == mark || state != GTU_QUEUE_DISABLED)
		bringup_say(b, BRINGUP_FAIL, "flr-state", "a function-level reset leaves SCRATCH at 0x%" PRIx64 ", queue 0 %s, EPOCH %u (before: %u)", scratch,
			    state == GTU_QUEUE_DISABLED ? "disabled" : "enabled", epoch, before);
	else if (epoch == before)
		bringup_say(b, BRINGUP_FAIL, "epoch", "a function-level reset does not increment EPOCH (%u)", before);
	else if (b->bar[GTU_BAR_APERTURE] && b->a->ops->read(b->a, GTU_BAR_APERTURE, 64, 8) != mark)
		bringup_say(b, BRINGUP_FAIL, NULL, "a function-level reset changes the aperture's content, which it must keep");
	else
		bringup_say(b, BRINGUP_OK, NULL, "a function-level reset has the effects of RESET%s",
			    b->bar[GTU_BAR_APERTURE] ? ", and the aperture keeps its content" : "");
	if (b->bar[GTU_BAR_APERTURE])
		b->a->ops->write(b->a, GTU_BAR_APERTURE, 64, 8, was);
}
