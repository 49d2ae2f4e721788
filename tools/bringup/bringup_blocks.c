// SPDX-License-Identifier: MIT
/*
 * bringup: the control registers that a unit has of its own, such as the registers that balance the
 * PEG's engines (GraphPEG, section 3.3.2).
 */
#include <inttypes.h>
#include <unistd.h>

#include "bringup_rig.h"

#define POLLS		1000u		/* through a driver: a second */
#define POLL_US		1000u

/* Whether the device refuses a read; otherwise *value is what it gives. */
static bool refused(struct bringup *b, uint32_t at, unsigned bytes, uint64_t *value)
{
	access_set(b->a, GTU_REG_ERROR, ~0u);
	*value = b->a->ops->read(b->a, GTU_BAR_REGS, at, bytes);
	return access_reg(b->a, GTU_REG_ERROR) & GTU_ERROR_REGISTER;
}

static unsigned blocks_of(const struct bringup *b, unsigned unit)
{
	const struct gtu_unit_table *t = &gtu_unit_table[unit];
	const uint32_t blocks = t->block ? b->param[unit][t->block_parameter] : 0;
	const uint32_t most = t->block ? (GTU_PAGE - GTU_UREG_OWN) / t->block_stride : 0;

	return b->units >> unit & 1 ? blocks < most ? blocks : most : 0;
}

/* A register of an idle unit: it exists, is 0, and ignores writes. */
static bool is_sound(struct bringup *b, const struct gtu_unit_table *t, unsigned block, const struct gtu_register_row *r)
{
	const uint32_t at = t->page + GTU_UREG_OWN + block * t->block_stride + r->offset;
	uint64_t value, after;

	if (refused(b, at, r->bytes, &value)) {
		bringup_say(b, BRINGUP_FAIL, NULL, "register %s of %s %u of %s (0x%04x) does not exist: a read of %u bytes raises ERROR", r->name, t->block,
			    block, t->name, at, r->bytes);
		return false;
	}
	if (value) {
		bringup_say(b, BRINGUP_FAIL, NULL, "register %s of %s %u of %s (0x%04x) is 0x%" PRIx64 " after a reset, not 0", r->name, t->block, block,
			    t->name, at, value);
		return false;
	}
	b->a->ops->write(b->a, GTU_BAR_REGS, at, r->bytes, ~0ull);
	after = b->a->ops->read(b->a, GTU_BAR_REGS, at, r->bytes);
	if (!after)
		return true;
	bringup_say(b, BRINGUP_FAIL, "ro-writable", "register %s of %s %u of %s (0x%04x) is read-only; after a write of ones it is 0x%" PRIx64, r->name,
		    t->block, block, t->name, at, after);
	return false;
}

void bringup_blocks(struct bringup *b)
{
	unsigned unit, block, checked = 0, wrong = 0;

	for (unit = 0; unit < GTU_UNIT_COUNT; unit++) {
		const struct gtu_unit_table *t = &gtu_unit_table[unit];
		const unsigned blocks = blocks_of(b, unit);
		const uint32_t own = t->page + GTU_UREG_OWN, behind = own + blocks * t->block_stride;
		const struct gtu_register_row *r = t->registers;
		bool first_missing, next_missing;
		uint64_t value;

		if (!blocks)
			continue;
		first_missing = refused(b, own + r->offset, r->bytes, &value);
		next_missing = behind >= t->page + GTU_PAGE || refused(b, behind + r->offset, r->bytes, &value);
		if (first_missing && !next_missing) {
			bringup_say(b, BRINGUP_FAIL, "block-index", "the control registers of %s %u of %s (0x%04x) do not exist, but those of %s %u do "
				    "(0x%04x): each block answers at the next one's place", t->block, 0u, t->name, own, t->block, blocks, behind);
			wrong++;
			continue;
		}
		if (!next_missing) {
			bringup_say(b, BRINGUP_FAIL, NULL, "%s has %u of %s, but a read of registers of a further one (0x%04x) raises no ERROR", t->name,
				    blocks, t->block, behind);
			wrong++;
		}
		for (block = 0; block < blocks; block++)
			for (r = t->registers; r->name; r++, checked++)
				wrong += !is_sound(b, t, block, r);
	}
	access_set(b->a, GTU_REG_ERROR, ~0u);
	if (checked && !wrong)
		bringup_say(b, BRINGUP_OK, NULL, "%u control registers of the units: present, 0 while idle, read-only", checked);
}

/* Read a register of the PEG's engine 0 until it has a value; false after a message. */
static bool settles(struct bringup *b, struct side *s, uint32_t reg, uint64_t want, const char *what)
{
	struct access_timer timer = { 0 };
	struct gtu_error err;
	uint64_t value = ~0ull;
	unsigned polls = 0;

	for (;;) {
		if (s->read(s, GTU_PAGE_PEG + GTU_PEG_REG(0) + reg, &value, &err)) {
			bringup_say(b, BRINGUP_SKIP, NULL, "PEG's control registers cannot be read: %s", err.text);
			return false;
		}
		if (value == want)
			return true;
		if (b->a ? !access_wait(b->a, &timer) : polls++ == POLLS)
			break;
		if (!b->a)
			usleep(POLL_US);
	}
	bringup_say(b, BRINGUP_FAIL, NULL, "R_EFS of PEG's engine 0 is %" PRIu64 " %s, not %" PRIu64, value, what, want);
	return false;
}

bool bringup_engine_registers(struct bringup *b, struct side *s, const struct gtu_hw_desc *d, struct gtu_hw_ring *ring, uint64_t edges)
{
	struct gtu_hw_cpl cpl;
	struct gtu_error err = { .text = "" };
	bool sound;

	if (s->start(s, d, 1, &err)) {
		bringup_say(b, BRINGUP_FAIL, NULL, "PEG stream on demand: %s", err.text);
		return false;
	}
	sound = settles(b, s, GTU_PEG_R_EFS, edges, "while the consumer requests nothing");
	__atomic_store_n(&ring->requested, ~0u >> 1, __ATOMIC_RELEASE);
	s->kick(s);
	if (s->finish(s, 1, &cpl, &err) || cpl.status) {
		bringup_say(b, BRINGUP_FAIL, NULL, "PEG stream on demand: %s", *err.text ? err.text : rig_status(cpl.status));
		return false;
	}
	return sound && settles(b, s, GTU_PEG_R_EFS, 0, "after the stream");
}
