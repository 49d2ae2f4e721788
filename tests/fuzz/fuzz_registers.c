// SPDX-License-Identifier: MIT
/*
 * Fuzz target: any sequence of register, doorbell and aperture accesses of any width and value, on
 * a host with little memory. Mailbox commands may use that memory or unmapped addresses.
 */
#include "host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct gtu_dev_config small = {
		.contexts = 4, .queues = 4, .event_rings = 3, .vectors = 3, .aperture_bytes = 4096,
		.iru_sets = 16, .doorbell_stride_log2 = 12,
	};
	struct fuzz_input in = { data, size };
	struct fuzz_host h;
	static const uint8_t bars[] = { GTU_BAR_REGS, GTU_BAR_MSIX, GTU_BAR_DOORBELL, GTU_BAR_APERTURE };
	unsigned steps;

	fuzz_open(&h, &small);
	fuzz_block(&h, 4096);
	fuzz_block(&h, 1000);
	/* part of the input also goes to host memory */
	for (steps = 0; in.left && steps < 2000; steps++) {
		const uint8_t what = (uint8_t)fuzz_number(&in, 1);
		const unsigned bytes = 1u << (what & 3);
		static const uint64_t mailbox = GTU_REG_MBOX_ARG(0);
		uint64_t offset = fuzz_number(&in, 2);

		switch (what >> 2 & 15) {
		case 0 ... 2:
			gtu_dev_read(h.dev, bars[what >> 6], offset, bytes);
			break;
		case 3 ... 4:
			gtu_dev_write(h.dev, GTU_BAR_REGS, offset, bytes, fuzz_number(&in, 8));
			break;
		case 5 ... 7:	/* a plausible mailbox argument */
			gtu_dev_write(h.dev, GTU_BAR_REGS, mailbox + 8 * (offset % 6), 8,
				      (fuzz_number(&in, 1) % 4 << 32) + fuzz_number(&in, 2) % 4200);
			break;
		case 8:
			gtu_dev_write(h.dev, GTU_BAR_REGS, GTU_REG_MBOX_CMD, 4, GTU_MBOX_QUEUE_CANCEL);
			break;
		case 9:
			gtu_dev_write(h.dev, GTU_BAR_REGS, GTU_REG_MBOX_CMD, 4, offset % 12);
			break;
		case 10 ... 11:
			gtu_dev_write(h.dev, GTU_BAR_DOORBELL, (offset & 0x3000) + 4 * (offset & 7), bytes,
				      fuzz_number(&in, 8));
			break;
		case 12:
			gtu_dev_write(h.dev, GTU_BAR_APERTURE, offset, bytes, fuzz_number(&in, 8));
			break;
		case 13:
			gtu_dev_step(h.dev, offset);
			break;
		case 14:
			fuzz_take(&in, h.block[offset & 1].at + offset % 900, 64);
			break;
		default:
			gtu_dev_idle(h.dev, offset << 16);
			break;
		}
	}
	for (steps = 0; gtu_dev_pending(h.dev) && steps < 1000; steps++)
		gtu_dev_step(h.dev, 1000);
	fuzz_close(&h);
	return 0;
}
