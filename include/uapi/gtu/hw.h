/* SPDX-License-Identifier: MIT */
/*
 * GTU hardware programming model: registers and memory layouts shared by driver, model and boards.
 * Documentation/hardware.md is the specification. Where it differs from this header, the header is
 * right. It is one file, so that a board's firmware can copy it unchanged.
 *
 * Everything is little-endian. A register is 32 bits wide unless noted. A 64-bit register may be
 * accessed as two 32-bit halves, low half first: reading the low half latches the high half for the
 * next read. The halves of a RW register are written independently. A doorbell acts when its
 * high half is written. Reserved bits read as zero and must be written as zero.
 */
#ifndef GTU_HW_H
#define GTU_HW_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/build_bug.h>
typedef __u8 gtu_u8;
typedef __le16 gtu_le16;
typedef __le32 gtu_le32;
typedef __le64 gtu_le64;
#define GTU_HW_ASSERT(cond, name) static_assert(cond, name)
#else
#include <stddef.h>
#include <stdint.h>
typedef uint8_t gtu_u8;
typedef uint16_t gtu_le16;
typedef uint32_t gtu_le32;
typedef uint64_t gtu_le64;
#ifdef __cplusplus
#define GTU_HW_ASSERT(cond, name) static_assert(cond, name)
#else
#define GTU_HW_ASSERT(cond, name) _Static_assert(cond, name)
#endif
#endif

#include "units.h"

/* ---- PCI function ------------------------------------------------------------------------- */

#define GTU_PCI_VENDOR		0x1234
#define GTU_PCI_DEVICE		0x4754
#define GTU_PCI_CLASS		0x120000	/* processing accelerator */

#define GTU_BAR_REGS		0		/* 64 KiB, 32-bit, not prefetchable */
#define GTU_BAR_DOORBELL	2		/* queues x stride, 64-bit */
#define GTU_BAR_APERTURE	4		/* device memory, 64-bit, prefetchable */
#define GTU_BAR_MSIX		1		/* MSI-X table at 0, PBA at 0x800; 4 KiB, 32-bit */

#define GTU_BAR_REGS_SIZE	0x10000
#define GTU_BAR_MSIX_SIZE	0x1000
#define GTU_MSIX_PBA		0x800

/* ---- BAR0: pages of 4 KiB ------------------------------------------------------------------ */

#define GTU_PAGE		0x1000
#define GTU_PAGE_GLOBAL		0x0000
#define GTU_UNIT_PAGES_MAX	7		/* between the global page and the FDT window */
#define GTU_PAGE_SCU		0x1000
#define GTU_PAGE_IRU		0x2000
#define GTU_PAGE_PEG		0x3000
#define GTU_PAGE_WVR		0x4000
#define GTU_PAGE_ZCM		0x5000
#define GTU_FDT_WINDOW		0x8000		/* read-only, 32 KiB */
#define GTU_FDT_WINDOW_SIZE	0x8000

/* Global page. RO unless noted. */
#define GTU_REG_MAGIC		0x000		/* "GTU1" */
#define GTU_REG_VERSION		0x004		/* major << 16 | minor of this specification */
#define GTU_REG_CAPS		0x008		/* 64: GTU_CAP_* */
#define GTU_REG_UNITS		0x010		/* one bit per unit that is present: GTU_UNIT_* */
#define GTU_REG_EPOCH		0x014		/* incremented by every whole-device reset; never
						 * 0 */
#define GTU_REG_STATUS		0x018		/* GTU_STATUS_* */
#define GTU_REG_RESET		0x01c		/* WO: GTU_RESET_KEY resets the device; other
						 * values are ignored */
#define GTU_REG_SCRATCH		0x020		/* RW, 64, any value, 0 after reset */
#define GTU_REG_ERROR		0x028		/* W1C: GTU_ERROR_* */
#define GTU_REG_ERROR_INFO	0x030		/* 64: info of the first error since ERROR was 0 */
#define GTU_REG_MAX_CONTEXTS	0x040
#define GTU_REG_MAX_QUEUES	0x044
#define GTU_REG_MAX_REGIONS	0x048		/* log2 of the entries of the largest region
						 * table */
#define GTU_REG_MAX_RING	0x04c		/* log2 of the entries of the largest ring */
#define GTU_REG_VECTORS		0x050		/* MSI-X vectors, including the error vector */
#define GTU_REG_EVENT_RINGS	0x054
#define GTU_REG_DOORBELL_STRIDE	0x058		/* log2 of the bytes between two doorbell pages */
#define GTU_REG_CLOCK_HZ	0x060		/* 64: nominal frequency of the logical cycles */
#define GTU_REG_CYCLES		0x068		/* 64: sum of the cycles of all jobs since reset; without
						 * CAP_LOGICAL_CYCLES: clocks since reset */
#define GTU_REG_APERTURE_SIZE	0x070		/* 64: bytes; 0: no aperture */
#define GTU_REG_FDT_OFFSET	0x080		/* offset of the blob in BAR0 */
#define GTU_REG_FDT_LENGTH	0x084		/* bytes */
#define GTU_REG_FDT_CRC		0x088		/* CRC-32 (IEEE 802.3, reflected) of the blob */
#define GTU_REG_CYCLE_LIMIT	0x090		/* RW, 64: cycle limit of a job that sets none */

#define GTU_REG_MBOX_ARG(n)	(0x100 + 8 * (n)) /* RW, 64, n = 0..5 */
#define GTU_MBOX_ARGS		6
#define GTU_REG_MBOX_CMD	0x140		/* WO: GTU_MBOX_*; ignored while busy */
#define GTU_REG_MBOX_STATUS	0x144		/* GTU_MBOX_BUSY | GTU_MBOX_E_* */
#define GTU_REG_MBOX_RESULT(n)	(0x148 + 8 * (n)) /* RO, 64, n = 0..2 */
#define GTU_MBOX_RESULTS	3

#define GTU_REG_EVENT_HEAD(n)	(0x200 + 4 * (n)) /* WO: consumer index of event ring n */
#define GTU_EVENT_RINGS_MAX	64

#define GTU_MAGIC		0x31555447u	/* 'G' 'T' 'U' '1' */
#define GTU_HW_VERSION		0x00010001u
#define GTU_RESET_KEY		0x52455345u	/* "ESER" */

#define GTU_CAP_REGIONS		(1ull << 0)	/* every access is checked against region tables */
#define GTU_CAP_STREAMS		(1ull << 1)	/* jobs whose output is a ring of warp records */
#define GTU_CAP_LINEAR		(1ull << 2)	/* contiguous regions (levels = 0) */
#define GTU_CAP_CANCEL		(1ull << 3)	/* 1.1: GTU_MBOX_QUEUE_CANCEL */
#define GTU_CAP_STREAM_EVENTS	(1ull << 4)	/* 1.1: GTU_DB_ARM_STREAM */
#define GTU_CAP_SEEK		(1ull << 5)	/* 1.1: GTU_MBOX_QUEUE_SEEK */
#define GTU_CAP_LOGICAL_CYCLES	(1ull << 6)	/* 1.1: all cycles are those of the specification's
						 * formulas; else the device's real clocks, and records
						 * of a stream may be in another order */
#define GTU_CAP_CTX_COUNTERS	(1ull << 7)	/* 1.1: GTU_MBOX_CTX_COUNTERS */
#define GTU_CAP_CTX_GROUPS	(1ull << 8)	/* 1.1: a group in GTU_MBOX_CTX_ENABLE */

#define GTU_UNIT_SCU		(1u << 0)
#define GTU_UNIT_IRU		(1u << 1)
#define GTU_UNIT_PEG		(1u << 2)
#define GTU_UNIT_WVR		(1u << 3)
#define GTU_UNIT_ZCM		(1u << 4)

#define GTU_STATUS_READY	(1u << 0)	/* out of reset, mailbox usable */
#define GTU_STATUS_BUSY		(1u << 1)	/* a queue has work */
#define GTU_STATUS_ERROR	(1u << 2)	/* GTU_REG_ERROR is not 0 */

#define GTU_ERROR_DMA		(1u << 0)	/* a ring, table or page list is inaccessible;
						 * info: address */
#define GTU_ERROR_QUEUE		(1u << 1)	/* a queue went into error; info: queue | code <<
						 * 32 */
#define GTU_ERROR_REGISTER	(1u << 2)	/* an access of invalid size or offset; info:
						 * offset */

/* ---- Mailbox: how the driver sets up contexts, queues and events ---------------------------- */

#define GTU_MBOX_NOP		0
#define GTU_MBOX_CTX_ENABLE	1	/* context, region table address, log2 entries, weight
					 * (1..16; 0: 1) | group << 16. CAP_CTX_GROUPS: the
					 * contexts of a group share the device as one. Groups
					 * are 1 to the number of contexts; 0: context + 1 */
#define GTU_MBOX_CTX_GROUP(group) ((group) << 16)
#define GTU_MBOX_CTX_DISABLE	2	/* context; its queues are disabled first */
#define GTU_MBOX_INVALIDATE	3	/* context, slot; completes when no access through the
					 * old entry is in flight and no translation of it is
					 * cached. It does not wait for the end of a job: the job
					 * continues with the new entry, or ends with GTU_CPL_KEY */
#define GTU_MBOX_QUEUE_ENABLE	4	/* queue, context, SQ address, CQ address, log2 SQ | log2
					 * CQ << 8, event ring */
#define GTU_MBOX_QUEUE_DISABLE	5	/* queue; a running job is dropped without a completion */
#define GTU_MBOX_QUEUE_RESET	6	/* queue; like disable, then enable with the same rings
					 * and indices 0. The ring is not cleared: only for a
					 * queue without completions in it */
#define GTU_MBOX_QUEUE_STATE	7	/* queue; results: sq head | sq tail << 32, cq tail | cq
					 * head << 32, state */
#define GTU_MBOX_EVENT_ENABLE	8	/* event ring, address, log2 entries, vector */
#define GTU_MBOX_EVENT_DISABLE	9	/* event ring */
#define GTU_MBOX_QUEUE_CANCEL	10	/* queue, until: the unfinished jobs with a submission
					 * index before `until` end with GTU_CPL_CANCELED, in
					 * order, each with a completion. Done when that is
					 * certain, not when the completions are written. E_ARG:
					 * until is beyond the tail. CAP_CANCEL */
#define GTU_MBOX_QUEUE_SEEK	11	/* queue, index, CQ head: a queue that got no jobs since
					 * it was enabled continues at `index` in both rings.
					 * E_ARG: head and index differ by more than the
					 * completion ring. CAP_SEEK */
#define GTU_MBOX_CTX_COUNTERS	12	/* context; results since it was enabled: completions
					 * written, those with a status other than OK, logical
					 * cycles of its jobs. CAP_CTX_COUNTERS */

#define GTU_MBOX_BUSY		(1u << 31)
#define GTU_MBOX_E_OK		0
#define GTU_MBOX_E_COMMAND	1	/* unknown command */
#define GTU_MBOX_E_INDEX	2	/* no such context, queue, ring or vector */
#define GTU_MBOX_E_STATE	3	/* already enabled, not enabled, context of a queue not
					 * enabled */
#define GTU_MBOX_E_ARG		4	/* misaligned address, size out of range, reserved bits */
#define GTU_MBOX_E_IN_USE	5	/* INVALIDATE: still in use after 100 ms; retry, or stop
					 * the queues */

#define GTU_RING_NONE		0xffffffffu	/* QUEUE_ENABLE: this queue raises no events */

/* ---- Regions -------------------------------------------------------------------------------- */

/*
 * A context's region table is an array of these, written only by the driver. A key is
 * generation << 16 | slot. Generation 0 is never valid, so key 0 means "no region".
 *
 * Alignment, or GTU_CPL_KEY: `offset` and, at level 0, `base` to 8 bytes; addresses of chunks to
 * 4096 bytes; addresses of pages to the page. length and offset are at most 2^62, or within the
 * aperture. Addresses are computed modulo 2^64.
 *
 * levels = 0: the region is contiguous on the bus; byte b is at base + offset + b.
 * levels = 1..3: base is the address of a 4 KiB chunk of 512 little-endian addresses: of pages at
 * level 1, of chunks of the next lower level above. Page p of the region (byte b is in page
 * (offset + b) >> page_shift) is entry p & 511 of its level-1 chunk, (p >> 9) & 511 above, ...
 * APERTURE: base is a byte offset into the aperture, levels = 0.
 */
struct gtu_hw_region {
	gtu_le32 key;
	gtu_le32 flags;			/* GTU_REGION_* */
	gtu_le64 length;		/* bytes */
	gtu_le64 base;
	gtu_le64 offset;		/* offset of byte 0 in the first page; a multiple of 8 */
	gtu_le64 reserved[4];		/* zero */
};
GTU_HW_ASSERT(sizeof(struct gtu_hw_region) == 64, "region entry is 64 bytes");

#define GTU_REGION_VALID	(1u << 0)
#define GTU_REGION_READ		(1u << 1)
#define GTU_REGION_WRITE	(1u << 2)
#define GTU_REGION_APERTURE	(1u << 3)
#define GTU_REGION_LEVELS_SHIFT	8		/* 2 bits */
#define GTU_REGION_LEVELS_MASK	0x3u
#define GTU_REGION_PAGE_SHIFT	16		/* 6 bits: log2 of the page, 12..40 */
#define GTU_REGION_PAGE_MASK	0x3fu

#define GTU_CHUNK_BYTES		4096u
#define GTU_CHUNK_ENTRIES	512u

#define GTU_KEY_SLOT(key)	((key) & 0xffffu)
#define GTU_KEY_GENERATION(key)	((key) >> 16)
#define GTU_KEY(generation, slot) ((0u + (generation)) << 16 | (slot))

/* ---- Descriptors ---------------------------------------------------------------------------- */

/* A memory operand: `count` elements at byte `offset` of a region. The opcode sets their width. */
struct gtu_hw_operand {
	gtu_le32 key;			/* 0: absent; count and offset must be 0 then */
	gtu_le32 count;			/* GTU_COUNT_TO_END, where allowed: up to the end of the
					 * region */
	gtu_le64 offset;		/* bytes; a multiple of the element width */
};
GTU_HW_ASSERT(sizeof(struct gtu_hw_operand) == 16, "operand is 16 bytes");

#define GTU_COUNT_TO_END		0xffffffffu

#define GTU_DESC_OPERANDS	6
#define GTU_BLOCK_OPERANDS	16

struct gtu_hw_desc {
	gtu_u8 opcode;			/* GTU_OP_* */
	gtu_u8 reserved0;
	gtu_le16 flags;			/* GTU_DESC_* */
	gtu_le32 param;			/* depends on the opcode */
	gtu_le64 cookie;		/* returned in the completion */
	gtu_le64 imm;			/* depends on the opcode */
	gtu_le32 param2;		/* depends on the opcode */
	gtu_le32 limit;			/* cycle limit of this job / 1024; 0: the device's limit */
	struct gtu_hw_operand operand[GTU_DESC_OPERANDS];
};
GTU_HW_ASSERT(sizeof(struct gtu_hw_desc) == 128, "descriptor is 128 bytes");

/*
 * GTU_DESC_BLOCK: operand[0] names a parameter block of `count` operands (1..16), 16 bytes each, at
 * a 16-byte aligned offset. It is fetched once. operand[1..5] must be zero.
 */
#define GTU_DESC_BLOCK		(1u << 0)
#define GTU_DESC_FLAGS		GTU_DESC_BLOCK

#define GTU_OP_NOP		0x00
#define GTU_OP_COPY		0x01	/* operand 0: source, 1: destination */
#define GTU_OP_FILL		0x02	/* operand 1: destination; imm: the element */
#define GTU_OP_FENCE		0x03	/* waits for earlier jobs of the context's other queues */
#define GTU_OP_SCU_BITMASK	0x10
#define GTU_OP_SCU_DATA		0x11
#define GTU_OP_SCU_ACCESS	0x12
#define GTU_OP_SCU_REPLICATE	0x13
#define GTU_OP_SCU_EXPAND	0x14
#define GTU_OP_IRU_STREAM	0x20
#define GTU_OP_PEG_STREAM	0x30
#define GTU_OP_WVR_STREAM	0x40

/* COPY and FILL: param = log2 of the element width (0..3), other bits zero. */

/* Operand slots, in the descriptor or the parameter block: GTU_SCU_DATA, ..., GTU_SCU_OPERANDS */
#define GTU_SLOT_NUMBER(UNIT, NAME, ...) GTU_##UNIT##_##NAME,
#define GTU_SLOT_NUMBERS(UNIT, ...)                                                                \
	enum { GTU_##UNIT##_SLOT_ROWS(GTU_SLOT_NUMBER) GTU_##UNIT##_OPERANDS };
GTU_UNIT_ROWS(GTU_SLOT_NUMBERS)

/* param of SCU descriptors */
#define GTU_SCU_WIDTH_SHIFT	0	/* 2 bits: log2 of the data element, 0..3 */
#define GTU_SCU_INDEX_SHIFT	2	/* 2 bits: log2 of an index, 2 or 3 */
#define GTU_SCU_COUNT_SHIFT	4	/* 2 bits: log2 of a count, 2 or 3 */
#define GTU_SCU_TYPE_SHIFT	6	/* 2 bits: GTU_TYPE_*, of the comparison or of the cost */
#define GTU_SCU_CMP_SHIFT	8	/* 3 bits: GTU_CMP_* (BITMASK) */
#define GTU_SCU_STEP_SHIFT	11	/* 2 bits: GTU_STEP_* */
#define GTU_SCU_UNIQUE		(1u << 13)	/* filter by id */
#define GTU_SCU_BEST		(1u << 14)	/* filter by id and cost (not with UNIQUE) */
#define GTU_SCU_GROUP		(1u << 15)	/* group by target line */
#define GTU_SCU_KEEP		(1u << 16)	/* keep the table contents of earlier jobs */
#define GTU_SCU_COST_SHIFT	17	/* 2 bits: log2 of a cost, 2 or 3 */
#define GTU_SCU_TARGET_SHIFT	19	/* 3 bits: log2 of the target's element width, 0..7 */
#define GTU_SCU_PARAM_MASK	0x003fffffu

/*
 * imm: BITMASK: the reference value, in the low bits, of the data's width. Others: base of the
 * grouping target, a region-relative byte address: id i is in line (imm + (i << target)) / 128.
 */

#define GTU_TYPE_UNSIGNED	0
#define GTU_TYPE_SIGNED		1
#define GTU_TYPE_FLOAT		2	/* widths 4 and 8 */

#define GTU_CMP_EQ		0
#define GTU_CMP_NE		1
#define GTU_CMP_LT		2
#define GTU_CMP_LE		3
#define GTU_CMP_GT		4
#define GTU_CMP_GE		5

#define GTU_STEP_PLAIN		0	/* only the operation */
#define GTU_STEP_PRODUCE	1	/* write the filter mask and/or the reorder vector, no
					 * data */
#define GTU_STEP_APPLY		2	/* write data, by the filter mask or the reorder vector */
#define GTU_STEP_FUSED		3	/* both */

#define GTU_REORDER_DROPPED	0xffffffffu

/*
 * SCU tables in a region, 64-byte aligned. A table of L lines has L / 16 sets of the size below. A
 * filter table has one state byte per set behind them.
 * Filter set: 16 ids of max(4, data width) bytes, then, for BEST, 16 costs of the cost width. State
 * byte: bits 0..3 the next way to fill, bit 7 set when all 16 are valid.
 * Group set (1024 bytes): 16 line numbers of 8 bytes; 16 x 8 ordinals of 4 bytes; 16 counts of 1
 * byte; 8 bytes: way numbers, 4 bits each, oldest in the lowest bits; 8 bytes: entries in use,
 * 0..16.
 */
#define GTU_TABLE_WAYS		16u
#define GTU_GROUP_MAX		8u
#define GTU_GROUP_SET_BYTES	1024u
#define GTU_FILTER_SET_BYTES(id_bytes, cost_bytes) (16u * ((id_bytes) + (cost_bytes)))
#define GTU_FILTER_TABLE_BYTES(lines, id_bytes, cost_bytes)                                        \
	((lines) / 16ull * (GTU_FILTER_SET_BYTES(id_bytes, cost_bytes) + 1u))
#define GTU_GROUP_TABLE_BYTES(lines) ((lines) / 16ull * GTU_GROUP_SET_BYTES)
#define GTU_TABLE_LINES_LOG2	24
#define GTU_TABLE_LINES_MAX	(1u << GTU_TABLE_LINES_LOG2)

/*
 * Floating point, here and in the IRU: IEEE 754, to nearest even, subnormals kept. A sum that is NaN
 * has the bits below.
 */
#define GTU_NAN_F32		0x7fc00000u
#define GTU_NAN_F64		0x7ff8000000000000ull

#define GTU_HASH		0x9E3779B1u
#define GTU_LINE_BYTES		128u
#define GTU_SECTOR_BYTES	32u
#define GTU_WARP		32u

/*
 * param of IRU_STREAM; imm: region-relative base of the target; param2: timeout in cycles, 0: the
 * unit's
 */
#define GTU_IRU_OP_SHIFT	0	/* 3 bits: GTU_IRU_OP_* */
#define GTU_IRU_TARGET_SHIFT	3	/* 3 bits: log2 of the target's element width, 0..7 */
#define GTU_IRU_ALL		(1u << 6)	/* mode ALL: ceil(n / 32) records; else END */
#define GTU_IRU_DEMAND		(1u << 7)	/* produce records only on request; else a
						 * request is always pending */
#define GTU_IRU_WITH_SECONDARY	(1u << 8)	/* records carry the secondary */
#define GTU_IRU_WITH_POSITION	(1u << 9)	/* records carry the position */
#define GTU_IRU_RANGES		(1u << 10)	/* the elements are ranges of INDICES, by FIRST and
						 * COUNT */
#define GTU_IRU_INDEX_8		(1u << 11)	/* RANGES: INDICES of 8 bytes, else 4 */
#define GTU_IRU_FIRST_8		(1u << 12)	/* RANGES: FIRST of 8 bytes, else 4 */
#define GTU_IRU_PARAM_MASK	0x1fffu

#define GTU_IRU_OP_NONE		0
#define GTU_IRU_OP_FILTER	1
#define GTU_IRU_OP_MIN_U32	2
#define GTU_IRU_OP_MIN_S32	3
#define GTU_IRU_OP_ADD_F32	4

/*
 * PEG has one ring per engine: the header of engine e is at byte e * GTU_PEG_STRIDE() of RINGS,
 * followed by `count` records (a power of two) and, if there is an output list, by the return ring
 * of 2^param2 vertices pushed by the consumer.
 *
 * param of PEG_STREAM. param2: log2 of the return ring's vertices, 5..20; 0 without an output list.
 * imm: on-chip bytes that this job uses for vertex lists (low half) and gathered edges (high half);
 * 0: all of the build's.
 */
#define GTU_PEG_VERTEX_LIST	(1u << 0)	/* emit the vertices of the input list, not their
						 * edges */
#define GTU_PEG_PULL		(1u << 1)	/* CSC: the listed vertices are destinations */
#define GTU_PEG_OFFSETS_8	(1u << 2)	/* offsets of 8 bytes, else 4 */
#define GTU_PEG_IDS_8		(1u << 3)	/* vertex ids of 8 bytes, else 4 */
#define GTU_PEG_WEIGHTS_8	(1u << 4)	/* weights of 8 bytes, else 4 */
#define GTU_PEG_WITH_SRC	(1u << 5)	/* record fields, in this order; lane width: as
						 * ids */
#define GTU_PEG_WITH_DST	(1u << 6)	/* lane width: as ids */
#define GTU_PEG_WITH_WEIGHT	(1u << 7)	/* lane width: as weights */
#define GTU_PEG_WITH_INDEX	(1u << 8)	/* lane width: as offsets */
#define GTU_PEG_DEMAND		(1u << 9)	/* produce records only on request; else a
						 * request is always pending */
#define GTU_PEG_BALANCE_EDGES	(1u << 10)	/* edge-frontier balancing between the engines */
#define GTU_PEG_BALANCE_LISTS	(1u << 11)	/* vertex-list balancing between the engines */
#define GTU_PEG_STAND_BY	(1u << 12)	/* an engine ends only when no engine can give it
						 * edges */
#define GTU_PEG_ENGINES_SHIFT	16		/* 6 bits: engines used; 0: all */
#define GTU_PEG_PARAM_MASK	0x003f1fffu
#define GTU_PEG_ENGINES_MAX	32u
#define GTU_PEG_CHUNK		32u	/* vertices of the input list dealt to an engine at a time */

#define GTU_PEG_STRIDE(records, record_bytes, return_bytes)                                        \
	(((64ull + (uint64_t)(records) * (record_bytes) + (return_bytes)) + 63) & ~63ull)

/*
 * A line of SPILL: link to the previous line of its engine's list (line number + 1; 0: none), then
 * vertices up to the end of the line.
 */
#define GTU_PEG_SPILL_LINK	8u
#define GTU_PEG_SPILL_IDS(id_bytes) ((GTU_LINE_BYTES - GTU_PEG_SPILL_LINK) / (id_bytes))

/*
 * param of WVR_STREAM. param2: log2 of the entries of the return ring, vertices of 8 bytes to skip,
 * 3..16; 0: none
 */
#define GTU_WVR_VIDS_8		(1u << 0)	/* VID lanes of 8 bytes, else 4 */
#define GTU_WVR_EIDS_8		(1u << 1)	/* EID lanes of 8 bytes, else 4 */
#define GTU_WVR_DEMAND		(1u << 2)	/* produce records only on request; else a
						 * request is always pending */
#define GTU_WVR_WITH_TARGET	(1u << 3)	/* records carry EDGES[EID] */
#define GTU_WVR_WITH_WEIGHT	(1u << 4)	/* records carry WEIGHTS[EID] */
#define GTU_WVR_TARGETS_8	(1u << 5)	/* EDGES and TARGET lanes of 8 bytes, else 4 */
#define GTU_WVR_WEIGHTS_8	(1u << 6)	/* WEIGHTS and WEIGHT lanes of 8 bytes, else 4 */
#define GTU_WVR_PARAM_MASK	0x7fu

/* A registration: WEAVER_REG of one thread. */
struct gtu_hw_registration {
	gtu_le32 entry;			/* warp * threads per warp + thread */
	gtu_le32 flags;			/* GTU_WVR_LAST */
	gtu_le64 vid;
	gtu_le64 start;			/* id of its first edge */
	gtu_le64 degree;
};
GTU_HW_ASSERT(sizeof(struct gtu_hw_registration) == 32, "registration is 32 bytes");
#define GTU_WVR_LAST		(1u << 0)	/* last of its round; implied for the last of the
						 * table */

/*
 * Header of a stream's ring in the consumer's memory, 64-byte aligned, followed by the records.
 * Indices are free-running modulo 2^32. The device writes record (producer & (count - 1)), then
 * producer; it stops while producer - consumer = count. The consumer writes consumer (and, with
 * DEMAND, requested: the total number of records requested), then the queue's KICK doorbell if
 * `waiting` is set.
 *
 * The return ring of PEG and Weaver has the opposite direction: the consumer writes entry
 * (returned & (size - 1)), then returned, and stops while returned - received is its size. Once
 * `closed` is set, `returned` must not change.
 */
struct gtu_hw_ring {
	gtu_le32 producer;		/* device: records written so far */
	gtu_le32 ended;			/* device: 1 after the last record */
	gtu_le32 waiting;		/* device: 1 while it waits for the consumer */
	gtu_le32 received;		/* device: entries of the return ring taken so far */
	gtu_le32 changes;		/* device: in the first ring of a PEG or Weaver stream,
					 * number of changes in the device's half of any of its
					 * ring headers; the index for ARM_STREAM */
	gtu_le32 reserved0[3];
	gtu_le32 consumer;		/* consumer: records consumed so far */
	gtu_le32 requested;		/* consumer, DEMAND only */
	gtu_le32 returned;		/* consumer: entries put into the return ring so far */
	gtu_le32 closed;		/* consumer: 1: nothing more will be returned (PEG with an
					 * output list waits for it) */
	gtu_le32 reserved1[4];
};
GTU_HW_ASSERT(sizeof(struct gtu_hw_ring) == 64, "ring header is 64 bytes");

/*
 * A warp record: this header, then the fields, each 32 lanes of 4 bytes, or 8 where noted. IRU:
 * index, then secondary and position if requested. PEG: see its param. Weaver: vid, eid, then
 * target and weight if requested.
 * Lanes without an element are 0 (IRU) or all ones (PEG, Weaver).
 */
struct gtu_hw_warp {
	gtu_le32 active;		/* bit l: lane l holds an element */
	gtu_le32 sequence;		/* number of the record in its stream, from 0 */
	gtu_le32 reason;		/* GTU_WARP_* */
	gtu_le32 lines;			/* IRU: distinct target lines of the active lanes;
					 * Weaver: round, from 0 */
	gtu_le64 cycle;			/* logical cycle of the stream when the record was
					 * produced */
	gtu_le32 reserved[10];
};
GTU_HW_ASSERT(sizeof(struct gtu_hw_warp) == 64, "warp header is 64 bytes");
#define GTU_WARP_BYTES(fields4, fields8) (64u + 128u * (fields4) + 256u * (fields8))

#define GTU_WARP_FULL		0	/* a set was full; PEG, Weaver: a full warp was available */
#define GTU_WARP_TIMEOUT	1
#define GTU_WARP_END		2	/* the remaining elements at the end of the stream */
#define GTU_WARP_DISABLED	3	/* mode ALL: no lane active */

/* ---- Completions ---------------------------------------------------------------------------- */

/*
 * Written as one aligned 64-byte write, or with `phase` last. Before it is visible, all data of its
 * job is, and the device accepts a consumer index that counts it. Then follow the queue's status
 * block and the event, in this order.
 */
struct gtu_hw_cpl {
	gtu_le64 cookie;
	gtu_le64 count;			/* elements produced (bits for BITMASK, records for
					 * streams) */
	gtu_le64 needed;		/* OVERFLOW: sufficient capacity. INDEX, WIDTH: the
					 * offending value. PEG: length of the output list */
	gtu_le64 cycles;		/* of this job alone; see GTU_CAP_LOGICAL_CYCLES */
	gtu_le64 dropped;		/* elements filtered out or merged */
	gtu_le64 element;		/* on an error: index of the input element */
	gtu_le32 sq_index;		/* index of the descriptor in the submission ring,
					 * free-running */
	gtu_le16 reserved;
	gtu_u8 operand;			/* on an error: operand slot, else 0xff */
	gtu_u8 reserved1;
	gtu_le32 reserved2;
	gtu_le16 status;		/* GTU_CPL_* */
	gtu_le16 phase;			/* written last: 1 on the ring's first pass, 0 on the
					 * second, ... */
};
GTU_HW_ASSERT(sizeof(struct gtu_hw_cpl) == 64, "completion is 64 bytes");

#define GTU_CPL_OK		0
#define GTU_CPL_OPCODE		1	/* unknown opcode */
#define GTU_CPL_RESERVED	2	/* a reserved bit or field is not zero */
#define GTU_CPL_PARAM		3	/* invalid parameter */
#define GTU_CPL_OPERAND		4	/* an operand is absent, unexpected or misaligned, or has
					 * a wrong count */
#define GTU_CPL_KEY		5	/* no such region, or a key of an earlier generation */
#define GTU_CPL_RIGHTS		6	/* the region has no read or write permission */
#define GTU_CPL_BOUNDS		7	/* the operand exceeds its region */
#define GTU_CPL_INDEX		8	/* an index, count or ordinal in memory points outside
					 * its operand */
#define GTU_CPL_OVERFLOW	9	/* the output does not fit; nothing is written past its
					 * end */
#define GTU_CPL_DMA		10	/* host memory did not respond */
#define GTU_CPL_ABSENT		11	/* the unit, operation or option is absent in this build */
#define GTU_CPL_LIMIT		12	/* cycle limit exceeded */
#define GTU_CPL_WIDTH		13	/* an element is wider than this build supports */
#define GTU_CPL_STALLED		14	/* the consumer of a stream blocked an exclusive unit for
					 * too long */
#define GTU_CPL_CANCELED	15	/* by QUEUE_CANCEL: the job ran in part or not at all */
#define GTU_CPL_COUNT		16	/* number of codes */

/*
 * State of a queue, located behind the last completion of the ring. The device writes it after each
 * completion and at each error. Error codes persist until the queue is reset.
 */
struct gtu_hw_queue_status {
	gtu_le32 state;			/* GTU_QUEUE_* */
	gtu_le32 epoch;
	gtu_le32 sq_head;		/* descriptors fetched so far */
	gtu_le32 cq_tail;		/* completions written so far */
	gtu_le32 reserved[12];
};
GTU_HW_ASSERT(sizeof(struct gtu_hw_queue_status) == 64, "queue status is 64 bytes");

#define GTU_QUEUE_DISABLED	0
#define GTU_QUEUE_ENABLED	1
#define GTU_QUEUE_E_TAIL	2	/* the doorbell's tail exceeds the ring */
#define GTU_QUEUE_E_HEAD	3	/* the doorbell's consumer index exceeds the completions
					 * written */
#define GTU_QUEUE_E_DMA		4	/* a ring is inaccessible */

#define GTU_SQ_BYTES(log2)	(128ull << (log2))
#define GTU_CQ_BYTES(log2)	((64ull << (log2)) + 64)
#define GTU_RING_LOG2_MIN	1

/* ---- Doorbells: one page per queue, `stride` bytes apart in BAR2 ---------------------------- */

#define GTU_DB_SUBMIT		0x00	/* WO, 64: SQ tail | CQ consumer index << 32, both
					 * free-running */
#define GTU_DB_ARM		0x08	/* WO: raise an event when a completion at or behind this
					 * index is written */
#define GTU_DB_KICK		0x10	/* WO, any value: check the streams' rings again */
#define GTU_DB_ARM_STREAM	0x18	/* WO: raise an event when the running stream has written
					 * the record of this index (producer is beyond it), at
					 * the next completion, or immediately if the queue has
					 * nothing to run. CAP_STREAM_EVENTS */

/* ---- Events --------------------------------------------------------------------------------- */

/*
 * An event ring is an array of these words. Bit 31 is 1 on the first pass, 0 on the second, and so
 * on.
 */
#define GTU_EVENT_QUEUE_MASK	0x0000ffffu
#define GTU_EVENT_ERROR		(1u << 30)	/* the queue went into error */
#define GTU_EVENT_PHASE		(1u << 31)

/* ---- Unit pages: common part ---------------------------------------------------------------- */

#define GTU_UREG_ID		0x000	/* "SCU ", "IRU ", ...; 0 if the unit is absent */
#define GTU_UREG_VERSION	0x004
#define GTU_UREG_STATUS		0x008	/* bit 0: present, bit 1: busy */
#define GTU_UREG_CTRL		0x00c	/* WO, GTU_CTRL_* */
#define GTU_UREG_PARAM(n)	(0x010 + 4 * (n))	/* RO: parameters of this build; by unit */
#define GTU_UREG_PARAMS		24
#define GTU_UREG_SET(n)		(0x080 + 4 * (n))	/* RW: settings; by unit */
#define GTU_UREG_SETS		8
#define GTU_UREG_COUNTER(n)	(0x100 + 8 * (n))	/* RO, 64: as of the last SNAPSHOT */
#define GTU_UREG_COUNTERS	64
#define GTU_UREG_OWN		0x400	/* from here on: specific to the unit */

#define GTU_CTRL_SNAPSHOT	(1u << 0)	/* copy all counters, in one cycle, to the
						 * readable registers */
#define GTU_CTRL_CLEAR		(1u << 1)	/* then set all counters to 0, in the same cycle */

#define GTU_ID_SCU		0x20554353u
#define GTU_ID_IRU		0x20555249u
#define GTU_ID_PEG		0x20474550u
#define GTU_ID_WVR		0x20525657u
#define GTU_ID_ZCM		0x204d435au

/*
 * Numbers of parameters, settings and counters: GTU_SCU_P_WIDTH, ..., GTU_IRU_S_TIMEOUT, ...,
 * GTU_SCU_C_JOBS, ..., GTU_SCU_COUNTERS. units.h says what each means.
 */
#define GTU_P_NUMBER(UNIT, unit, NAME, ...) GTU_##UNIT##_P_##NAME,
#define GTU_F_NUMBER(UNIT, NAME, ...) GTU_##UNIT##_P_##NAME,
#define GTU_S_NUMBER(UNIT, unit, NAME, ...) GTU_##UNIT##_S_##NAME,
#define GTU_X_NUMBER(UNIT, NAME, ...) GTU_##UNIT##_S_##NAME,
#define GTU_C_NUMBER(UNIT, NAME, ...) GTU_##UNIT##_C_##NAME,
#define GTU_REGISTER_NUMBERS(UNIT, ...)                                                            \
	enum {                                                                                     \
		GTU_##UNIT##_PARAMETER_ROWS(GTU_P_NUMBER, GTU_F_NUMBER, GTU_F_NUMBER)              \
		GTU_##UNIT##_PARAMETERS                                                            \
	};                                                                                         \
	enum { GTU_##UNIT##_SETTING_ROWS(GTU_S_NUMBER, GTU_X_NUMBER) GTU_##UNIT##_SETTINGS };      \
	enum { GTU_##UNIT##_COUNTER_ROWS(GTU_C_NUMBER, GTU_C_NUMBER) GTU_##UNIT##_COUNTERS };      \
	GTU_HW_ASSERT(GTU_##UNIT##_PARAMETERS <= GTU_UREG_PARAMS, "a unit has 24 parameters");     \
	GTU_HW_ASSERT(GTU_##UNIT##_SETTINGS <= GTU_UREG_SETS, "a unit has 8 settings");            \
	GTU_HW_ASSERT(GTU_##UNIT##_COUNTERS <= GTU_UREG_COUNTERS, "a unit has 64 counters");
GTU_UNIT_ROWS(GTU_REGISTER_NUMBERS)

/*
 * Control registers of an engine (GraphPEG, section 3.3.2), in the PEG page, RO; 0 while it is idle
 */
#define GTU_PEG_REG(engine)	(0x400 + 0x40 * (engine))
#define GTU_PEG_R_EFS		0x00	/* 64: edges gathered or being fetched, and in RD and FE
					 * entries */
#define GTU_PEG_R_BC		0x08	/* GTU_PEG_BC_* */
#define GTU_PEG_R_BS		0x0c	/* GTU_PEG_BS_* */
#define GTU_PEG_R_BW0		0x10	/* 64: start of the range that is moved */
#define GTU_PEG_R_BW1		0x18	/* 64: its end */
#define GTU_PEG_R_BW2		0x20	/* 64: its base vertex */

#define GTU_PEG_BC_NONE		0
#define GTU_PEG_BC_ED		1	/* edge donating */
#define GTU_PEG_BC_ERS		2	/* edge receiving standby */
#define GTU_PEG_BC_ER		3	/* edge receiving */
#define GTU_PEG_BS_NONE		0
#define GTU_PEG_BS_READY	1	/* receiver: an entry is reserved; donor: requested */
#define GTU_PEG_BS_REFUSED	2	/* no free entry, at an end, or nothing left to give */
#define GTU_PEG_BS_DONE		3	/* donor: R_BW0..2 hold the range given; receiver: it is
					 * in the table */

/* Weaver: cycles in S0..S8 */
#define GTU_WVR_C_STATE(s)	(GTU_WVR_C_S0 + (s))
#define GTU_WVR_STATES		9

/* ZCM. Directions: accesses of the device to host memory, and accesses to the aperture. */
#define GTU_ZCM_HOST_READ	0
#define GTU_ZCM_HOST_WRITE	1
#define GTU_ZCM_APERTURE_READ	2
#define GTU_ZCM_APERTURE_WRITE	3
#define GTU_ZCM_DIRECTIONS	4
#define GTU_ZCM_C_REQUESTS(dir, sectors) (GTU_ZCM_C_HOST_READ_32 + (dir) * 4 + (sectors) - 1)
#define GTU_ZCM_C_BYTES(dir)	(GTU_ZCM_C_HOST_READ_BYTES + (dir))
#define GTU_ZCM_C_TRIP(bucket)	(GTU_ZCM_C_TRIP_1 + (bucket))	/* round trips of 2^bucket ..
								 * 2^(bucket+1)-1 cycles */
#define GTU_ZCM_TRIP_BUCKETS	16

#endif
