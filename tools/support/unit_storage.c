// SPDX-License-Identifier: MIT
/* Bits of the units' tables and buffers, computed from a device's parameters. */
#include "unit_storage.h"

#include "firmware-model/device/gtu_units.h"

enum {
	SCU = __builtin_ctz(GTU_UNIT_SCU), IRU = __builtin_ctz(GTU_UNIT_IRU), PEG = __builtin_ctz(GTU_UNIT_PEG),
	WVR = __builtin_ctz(GTU_UNIT_WVR), ZCM = __builtin_ctz(GTU_UNIT_ZCM),
};

/* Elements of the IRU: an index, a secondary value of 4 bytes, a position. The paper's have 24, 32 and 24 bits. */
#define IRU_PAPER_BITS	80
/* Entry of PEG's working table with ids of 4 bytes: GraphPEG, section 4.6 */
#define PEG_ENTRY_BITS	98

bool unit_storage_row(const struct gtu_info *info, unsigned n, struct unit_storage *row)
{
	const uint32_t *scu = info->param[SCU], *iru = info->param[IRU], *peg = info->param[PEG], *wvr = info->param[WVR];
	const uint32_t partitions = iru[GTU_IRU_P_PARTITIONS] ? iru[GTU_IRU_P_PARTITIONS] : 1, engines = peg[GTU_PEG_P_ENGINES];
	const uint64_t position = iru[GTU_IRU_P_POSITION_BITS], fetched = iru[GTU_IRU_P_INDEX_BITS] + 32;
	const uint64_t element = fetched + position;
	const struct { unsigned unit; struct unit_storage row; } all[] = {
		{ SCU, { .part = "vector buffer", .entries = scu[GTU_SCU_P_VECTOR_BYTES], .bits = 8, .published = "5 KB" } },
		{ SCU, { .part = "FIFO of requests", .entries = scu[GTU_SCU_P_FIFO_BYTES], .bits = 8, .published = "38 KB" } },
		{ SCU, { .part = "hash requests", .entries = scu[GTU_SCU_P_HASH_BYTES], .bits = 8, .published = "18 KB" } },
		{ IRU, { .part = "reordering hash", .entries = (uint64_t)iru[GTU_IRU_P_SETS] / partitions * iru[GTU_IRU_P_LANES],
			 .bits = element, .published = "80 KB", .published_bits = IRU_PAPER_BITS } },
		{ IRU, { .part = "prefetching buffer", .entries = (uint64_t)iru[GTU_IRU_P_PREFETCH] * iru[GTU_IRU_P_LANES],
			 .bits = fetched, .published = "1.7 KB", .published_bits = 56 } },
		{ IRU, { .part = "classifier's queues", .entries = (uint64_t)iru[GTU_IRU_P_QUEUE_DEPTH] * (iru[GTU_IRU_P_BANKS] + 2),
			 .bits = element, .published = "1.2 KB", .published_bits = IRU_PAPER_BITS } },
		{ IRU, { .part = "ring's buffers", .entries = iru[GTU_IRU_P_RING_DEPTH], .bits = element, .published = "2.8 KB",
			 .published_bits = IRU_PAPER_BITS } },
		{ PEG, { .part = "working table", .entries = peg[GTU_PEG_P_ENTRIES], .bits = PEG_ENTRY_BITS, .published = "294 bytes" } },
		{ PEG, { .part = "balancing registers", .entries = 1, .bits = 3 * 64 + 64 + 2 + 2, .published = "" } },
		{ PEG, { .part = "gathered edges", .entries = peg[GTU_PEG_P_EDGE_BYTES], .bits = 8, .published = "in shared memory" } },
		{ PEG, { .part = "vertex lists", .entries = peg[GTU_PEG_P_LIST_BYTES], .bits = 8, .published = "in shared memory" } },
		{ WVR, { .part = "sparse work table", .entries = wvr[GTU_WVR_P_ENTRIES], .bits = 3 * 32,
			 .published = "32 KB of the L1 for both tables" } },
		{ WVR, { .part = "dense id table", .entries = (uint64_t)wvr[GTU_WVR_P_WARPS] * wvr[GTU_WVR_P_LANES], .bits = 32,
			 .published = "" } },
		{ WVR, { .part = "current entry", .entries = 1, .bits = 3 * 32, .published = "" } },
		{ WVR, { .part = "output data", .entries = wvr[GTU_WVR_P_LANES], .bits = 2 * 32, .published = "" } },
		{ ZCM, { .part = "counters", .entries = GTU_ZCM_COUNTERS, .bits = 64, .published = "" } },
	};
	unsigned i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!(info->units & gtu_unit_table[all[i].unit].bit) || n--)
			continue;
		*row = all[i].row;
		row->unit = gtu_unit_table[all[i].unit].name;
		row->copies = all[i].unit == IRU ? partitions : all[i].unit == PEG ? engines : 1;
		row->per = all[i].unit == IRU ? "partition" : all[i].unit == PEG ? "engine" : "unit";
		return true;
	}
	return false;
}
