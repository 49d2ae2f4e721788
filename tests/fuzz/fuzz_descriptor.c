// SPDX-License-Identifier: MIT
/*
 * Fuzz target: descriptors with every field from the input, over regions filled from the input
 * (indices, counts, masks, tables, ring headers, parameter blocks). Every job must complete without
 * an access outside its regions. Keys mostly exist; one region is scattered.
 */
#include "host.h"

#define REGIONS 5u

static struct gtu_hw_operand operand(struct fuzz_input *in)
{
	const uint8_t how = (uint8_t)fuzz_number(in, 1);
	struct gtu_hw_operand op = { 0 };

	if (!(how & 7))
		return op;
	op.key = GTU_KEY(1, how % REGIONS);
	if (how & 0x80) {
		op.count = (uint32_t)fuzz_number(in, 4);
		op.offset = fuzz_number(in, 8);
	} else {
		op.count = (uint32_t)fuzz_number(in, 1);
		op.offset = (fuzz_number(in, 1) & 31) * 8;
	}
	if (how & 0x40)
		op.key ^= (uint32_t)fuzz_number(in, 4);
	return op;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct gtu_dev_config small = {
		.contexts = 1, .queues = 1, .aperture_bytes = 4096, .iru_sets = 16, .iru_latency = 3,
		.scu_latency = 3, .event_rings = 1, .vectors = 1, .peg_engines = 3, .peg_entries = 4,
		.peg_list_bytes = 64, .peg_edge_bytes = 1024, .peg_latency = 3, .peg_message = 2,
		.peg_interval = 16, .wvr_entries = 64, .wvr_latency = 3,
	};
	static const uint64_t length[REGIONS] = { 200, 4096, 9000, 70, 16384 };
	struct fuzz_input in = { data, size };
	struct gtu_hw_region *table;
	struct gtu_hw_desc *sq;
	struct fuzz_host h;
	uint64_t arg[6], bus[REGIONS];
	unsigned i, jobs, rounds;
	uint32_t tail = 0;

	fuzz_open(&h, &small);
	arg[1] = fuzz_block(&h, 16 * sizeof(*table));
	table = (void *)h.block[0].at;
	for (i = 0; i < REGIONS; i++) {
		bus[i] = fuzz_block(&h, length[i]);
		table[i] = (struct gtu_hw_region){
			.key = GTU_KEY(1, i),
			.flags = GTU_REGION_VALID | GTU_REGION_READ | (i ? GTU_REGION_WRITE : 0) |
				 12u << GTU_REGION_PAGE_SHIFT,
			.length = length[i],
			.base = bus[i],
		};
	}
	/* region 4: its four pages in another order, through one page list */
	{
		const uint64_t list = fuzz_block(&h, GTU_CHUNK_BYTES);
		uint64_t *entry = (void *)h.block[h.blocks - 1].at;

		for (i = 0; i < 4; i++)
			entry[i] = bus[4] + 4096 * ((i + 2) % 4);
		table[4].base = list;
		table[4].offset = 8 * (fuzz_number(&in, 1) & 15);
		table[4].length -= 4096;
		table[4].flags |= 1u << GTU_REGION_LEVELS_SHIFT;
	}
	arg[0] = 0, arg[2] = 4, arg[3] = 1;
	fuzz_mailbox(&h, GTU_MBOX_CTX_ENABLE, 4, arg);
	arg[1] = 0;
	arg[2] = fuzz_block(&h, GTU_SQ_BYTES(4));
	sq = (void *)h.block[h.blocks - 1].at;
	arg[3] = fuzz_block(&h, GTU_CQ_BYTES(4));
	arg[4] = 0x404, arg[5] = GTU_RING_NONE;
	fuzz_mailbox(&h, GTU_MBOX_QUEUE_ENABLE, 6, arg);
	if (gtu_dev_read(h.dev, GTU_BAR_REGS, GTU_REG_MBOX_STATUS, 4))
		abort();
	gtu_dev_write(h.dev, GTU_BAR_REGS, GTU_REG_CYCLE_LIMIT, 8, 100000);

	for (jobs = 0; in.left > 40 && jobs < 6; jobs++) {
		struct gtu_hw_desc *d = &sq[tail & 15];
		const uint8_t kind = (uint8_t)fuzz_number(&in, 1);

		memset(d, 0, sizeof(*d));
		d->opcode = kind & 0x80 ? (uint8_t)fuzz_number(&in, 1) :
			    (kind & 7) < 5 ? GTU_OP_SCU_BITMASK + (kind & 7) :
			    (kind & 0x27) == 0x26 ? GTU_OP_PEG_STREAM :
			    (kind & 0x27) == 0x27 ? GTU_OP_WVR_STREAM :
			    (kind & 7) < 7 ? GTU_OP_IRU_STREAM : GTU_OP_COPY;
		d->reserved0 = (kind & 0x78) == 0x78 ? (uint8_t)fuzz_number(&in, 1) : 0;
		d->flags = kind & 0x40 ? GTU_DESC_BLOCK : 0;
		d->param = (uint32_t)fuzz_number(&in, 4) &
			   (d->opcode == GTU_OP_IRU_STREAM ? GTU_IRU_PARAM_MASK :
			    d->opcode == GTU_OP_PEG_STREAM ? GTU_PEG_PARAM_MASK :
			    d->opcode == GTU_OP_WVR_STREAM ? GTU_WVR_PARAM_MASK : GTU_SCU_PARAM_MASK);
		d->imm = fuzz_number(&in, 2);
		d->param2 = d->opcode == GTU_OP_IRU_STREAM ? (uint32_t)fuzz_number(&in, 1) :
			    d->opcode >= GTU_OP_PEG_STREAM ? (uint32_t)fuzz_number(&in, 1) & 7 : 0;
		if (d->flags & GTU_DESC_BLOCK) {
			struct gtu_hw_operand *op = (void *)h.block[2].at;	/* region 1 */

			for (i = 0; i < GTU_BLOCK_OPERANDS; i++)
				op[i] = operand(&in);
			d->operand[0] = (struct gtu_hw_operand){ GTU_KEY(1, 1), 1 + kind % 16, 0 };
		} else {
			for (i = 0; i < GTU_DESC_OPERANDS; i++)
				d->operand[i] = operand(&in);
		}
		for (i = 0; i < REGIONS; i++) {
			uint64_t at = 512 * (i == 1);	/* after the block */

			if (at < length[i])
				fuzz_take(&in, h.block[1 + i].at + at,
					  length[i] - at < 96 ? length[i] - at : 96);
		}
		tail++;
		gtu_dev_write(h.dev, GTU_BAR_DOORBELL, GTU_DB_SUBMIT, 8, tail | (uint64_t)(tail - 1) << 32);
		if (kind & 0x20)
			gtu_dev_write(h.dev, GTU_BAR_DOORBELL, GTU_DB_ARM_STREAM, 4, kind & 3);
		/*
		 * a stream may wait for a consumer that never comes: a cancel or the next reset
		 * ends it
		 */
		for (rounds = 0; gtu_dev_pending(h.dev); rounds++) {
			gtu_dev_step(h.dev, 1 + kind);
			if (rounds > 1000000)
				abort();	/* a job did not end despite its limit */
		}
		{
			const struct gtu_hw_cpl *cpl = (void *)h.block[h.blocks - 1].at;

			if (cpl[(tail - 1) & 15].phase != 1 && kind & 0x10) {
				const uint64_t until[2] = { 0, tail };

				fuzz_mailbox(&h, GTU_MBOX_QUEUE_CANCEL, 2, until);
				if (cpl[(tail - 1) & 15].phase != 1 ||
				    cpl[(tail - 1) & 15].status != GTU_CPL_CANCELED)
					abort();
			}
			if (cpl[(tail - 1) & 15].phase != 1) {
				const uint64_t queue = 0;

				fuzz_mailbox(&h, GTU_MBOX_QUEUE_RESET, 1, &queue);
				memset(h.block[h.blocks - 1].at, 0, GTU_CQ_BYTES(4));
				tail = 0;
			}
		}
	}
	fuzz_close(&h);
	return 0;
}
