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
	[GTU_BUG_NONE] = { "none", "nothing is wrong" },
	[GTU_BUG_BAR_SIZE] = { "bar-size", "BAR 2 decodes half of the doorbell pages" },
	[GTU_BUG_FDT_CRC] = { "fdt-crc", "FDT_CRC is not that of the blob" },
	[GTU_BUG_FDT_VALUE] = { "fdt-value", "MAX_CONTEXTS is one less than the device tree says" },
	[GTU_BUG_STUCK_BIT] = { "stuck-bit", "bit 17 of SCRATCH is stuck at 0" },
	[GTU_BUG_RESET_VALUE] = { "reset-value", "CYCLE_LIMIT is 2^39 after a reset, not 2^40" },
	[GTU_BUG_W1C] = { "w1c", "a one written to ERROR does not clear its bit" },
	[GTU_BUG_RO_WRITABLE] = { "ro-writable", "MAX_QUEUES can be written" },
	[GTU_BUG_HIGH_HALF] = { "high-half", "an 8-byte write of a register loses its high half" },
	[GTU_BUG_LATCH] = { "latch", "reading a low half does not latch the high one" },
	[GTU_BUG_ACCESS_SIZE] = { "access-size", "registers answer reads of 1 and 2 bytes" },
	[GTU_BUG_EPOCH] = { "epoch", "a reset does not increment EPOCH" },
	[GTU_BUG_MAILBOX_CHECK] = { "mailbox-check", "QUEUE_ENABLE accepts misaligned rings" },
	[GTU_BUG_APERTURE_ALIAS] = { "aperture-alias", "address line 13 of the aperture is not connected" },
	[GTU_BUG_BYTE_ENABLE] = { "byte-enable", "writes of 1 and 2 bytes to the aperture write all 4" },
	[GTU_BUG_DWORD_SWAP] = { "dword-swap", "an 8-byte read of the aperture has its halves exchanged" },
	[GTU_BUG_DOORBELL_INDEX] = { "doorbell-index", "the doorbell page of queue n rings queue n + 1" },
	[GTU_BUG_FLR_STATE] = { "flr-state", "a function-level reset keeps registers and queues" },
	[GTU_BUG_DMA_32] = { "dma-32", "bus addresses lose the bits above 32" },
	[GTU_BUG_DMA_PAGE] = { "dma-page", "an operand that crosses a page continues at the start of its first page" },
	[GTU_BUG_LENGTH_4K] = { "length-4k", "COPY and FILL of a multiple of 4 KiB stop a byte early" },
	[GTU_BUG_BYTE_ORDER] = { "byte-order", "FILL writes its element with the bytes reversed" },
	[GTU_BUG_COMPLETION_COUNT] = { "completion-count", "completions count one element too many" },
	[GTU_BUG_PHASE] = { "phase", "the phase of completions does not change with the ring's passes" },
	[GTU_BUG_TAIL_LOST] = { "tail-lost", "a tail written to the doorbell while the queue's job runs is lost" },
	[GTU_BUG_BOUNDS] = { "bounds", "an operand may extend one element past its region" },
	[GTU_BUG_RIGHTS] = { "rights", "regions without WRITE are written" },
	[GTU_BUG_GENERATION] = { "generation", "the generation of a key is not compared" },
	[GTU_BUG_IRQ_VECTOR] = { "irq-vector", "events raise the next higher vector" },
	[GTU_BUG_MSIX_MASK] = { "msix-mask", "a masked vector is sent anyway" },
	[GTU_BUG_LANES] = { "lanes", "neighbouring lanes of a stream's records are exchanged" },
	[GTU_BUG_COUNTER_CLEAR] = { "counter-clear", "CLEAR does not clear the counters" },
	[GTU_BUG_DATA] = { "data", "a COPY of 2-byte elements from byte 6 of a line loses a bit 64 bytes on" },
	[GTU_BUG_CYCLES] = { "cycles", "a COPY of more than 1 KiB reports one cycle too few" },
	[GTU_BUG_COUNTER] = { "counter", "the SCU's counter of output elements is one too high" },
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

uint64_t gtu_bug_aperture(const struct gtu_dev *dev, uint64_t offset)
{
	return gtu_bug(dev, GTU_BUG_APERTURE_ALIAS) ? offset & ~(1ull << 13) : offset;
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
