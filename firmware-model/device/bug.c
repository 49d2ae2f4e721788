// SPDX-License-Identifier: MIT
/*
 * Injected gateware bugs (gtu_dev_faults.bug), one at a time, to test board bring-up and the tool
 * that must find and name them. The functions here change values in transit; other code calls
 * gtu_bug() where it must misbehave.
 */
#include "core.h"

static const struct {
	const char *name, *text;
} bugs[GTU_BUGS] = {
#define BUG(NAME, name, text) [GTU_BUG_##NAME] = { name, text },
	GTU_BUG_ROWS(BUG)
};

const char *gtu_bug_name(enum gtu_bug bug)
{
	return bug < GTU_BUGS ? bugs[bug].name : NULL;
}

const char *gtu_bug_text(enum gtu_bug bug)
{
	return bug < GTU_BUGS ? bugs[bug].text : NULL;
}

uint64_t gtu_bug_read(const struct gtu_dev *dev, uint32_t offset, uint64_t value)
{
	switch (dev->faults.bug) {
	case GTU_BUG_STUCK_BIT:
		return offset == GTU_REG_SCRATCH ? value & ~(1ull << 17) : value;
	case GTU_BUG_FDT_CRC:
		return offset == GTU_REG_FDT_CRC ? value ^ 1 : value;
	case GTU_BUG_FDT_VALUE:
		return offset == GTU_REG_MAX_CONTEXTS ? value - 1 : value;
	case GTU_BUG_RO_WRITABLE:
		return offset == GTU_REG_MAX_QUEUES && dev->bug_word ? dev->bug_word : value;
	default:
		return value;
	}
}

bool gtu_bug_write(struct gtu_dev *dev, uint32_t offset, unsigned size, uint64_t *value)
{
	switch (dev->faults.bug) {
	case GTU_BUG_RO_WRITABLE:
		if (offset == GTU_REG_MAX_QUEUES && size == 4)
			dev->bug_word = (uint32_t)*value;
		return false;
	case GTU_BUG_W1C:
		return offset == GTU_REG_ERROR;
	case GTU_BUG_HIGH_HALF:
		if (size == 8)
			*value = (uint32_t)*value;
		return false;
	default:
		return false;
	}
}

void gtu_bug_record(uint32_t *lane, unsigned words)
{
	unsigned i;

	for (i = 0; i + 1 < words; i += 2) {
		const uint32_t t = lane[i];

		lane[i] = lane[i + 1];
		lane[i + 1] = t;
	}
}

void gtu_bug_completion(const struct gtu_dev *dev, const struct gtu_job *job, struct gtu_hw_cpl *cpl, uint16_t *phase)
{
	switch (dev->faults.bug) {
	case GTU_BUG_COMPLETION_COUNT:
		cpl->count += cpl->count != 0;
		break;
	case GTU_BUG_PHASE:
		*phase = 1;
		break;
	case GTU_BUG_CYCLES:
		cpl->cycles -= job->desc.opcode == GTU_OP_COPY && cpl->status == GTU_CPL_OK &&
			       cpl->count << (job->desc.param & 3) > 1024;
		break;
	default:
		break;
	}
}
