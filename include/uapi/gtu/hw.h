/* SPDX-License-Identifier: MIT */
/*
 * GTU hardware programming model: what a driver, a model and a board agree on. Nothing else is shared
 * between them. Documentation/hardware.md is the specification; this header is its machine form, and
 * where the two differ the document is wrong and to be mended.
 *
 * Everything is little-endian. A register is 32 bits wide unless it is said to be 64; a 64-bit register
 * may be accessed as two 32-bit halves, low half first: reading the low half latches the high one for
 * the next read; the halves of a RW register are written one by one; a doorbell acts when its high half
 * is written. Reserved bits read as zero and must be written as zero.
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

/* ---- PCI function ------------------------------------------------------------------------- */

#define GTU_PCI_VENDOR		0x1234
#define GTU_PCI_DEVICE		0x4754
#define GTU_PCI_CLASS		0x120000	/* processing accelerator */

#define GTU_BAR_REGS		0		/* 64 KiB, 32-bit, not prefetchable */
#define GTU_BAR_DOORBELL	2		/* queues x stride, 64-bit */
#define GTU_BAR_APERTURE	4		/* device memory, 64-bit, prefetchable; MSI-X is elsewhere */
#define GTU_BAR_MSIX		1		/* MSI-X table at 0, PBA at 0x800; 4 KiB, 32-bit */

#define GTU_BAR_REGS_SIZE	0x10000
#define GTU_BAR_MSIX_SIZE	0x1000
#define GTU_MSIX_PBA		0x800

/* ---- BAR0: pages of 4 KiB ------------------------------------------------------------------ */

#define GTU_PAGE		0x1000
#define GTU_PAGE_GLOBAL		0x0000
#define GTU_PAGE_SCU		0x1000
#define GTU_PAGE_IRU		0x2000
#define GTU_PAGE_PEG		0x3000
#define GTU_PAGE_WVR		0x4000
#define GTU_PAGE_ZCM		0x5000
#define GTU_FDT_WINDOW		0x8000		/* read-only, 32 KiB */
#define GTU_FDT_WINDOW_SIZE	0x8000

/* Global page. RO unless said. */
#define GTU_REG_MAGIC		0x000		/* "GTU1" */
#define GTU_REG_VERSION		0x004		/* major << 16 | minor of this specification */
#define GTU_REG_CAPS		0x008		/* 64: GTU_CAP_* */
#define GTU_REG_UNITS		0x010		/* bit per unit present: GTU_UNIT_* */
#define GTU_REG_EPOCH		0x014		/* increments at every whole-device reset; never 0 */
#define GTU_REG_STATUS		0x018		/* GTU_STATUS_* */
#define GTU_REG_RESET		0x01c		/* WO: GTU_RESET_KEY resets the device; others are ignored */
#define GTU_REG_SCRATCH		0x020		/* RW, 64, any value, 0 after reset */
#define GTU_REG_ERROR		0x028		/* W1C: GTU_ERROR_* */
#define GTU_REG_ERROR_INFO	0x030		/* 64: of the first error since ERROR was 0 */
#define GTU_REG_MAX_CONTEXTS	0x040
#define GTU_REG_MAX_QUEUES	0x044
#define GTU_REG_MAX_REGIONS	0x048		/* log2 of the greatest region table */
#define GTU_REG_MAX_RING	0x04c		/* log2 of the greatest ring, entries */
#define GTU_REG_VECTORS		0x050		/* MSI-X vectors, error vector included */
#define GTU_REG_EVENT_RINGS	0x054
#define GTU_REG_DOORBELL_STRIDE	0x058		/* log2, bytes between two queues' doorbell pages */
#define GTU_REG_CLOCK_HZ	0x060		/* 64: nominal clock of the logical cycles */
#define GTU_REG_CYCLES		0x068		/* 64: logical cycles since reset */
#define GTU_REG_APERTURE_SIZE	0x070		/* 64: bytes */
#define GTU_REG_FDT_OFFSET	0x080		/* of the blob in BAR0 */
#define GTU_REG_FDT_LENGTH	0x084		/* bytes */
#define GTU_REG_FDT_CRC		0x088		/* CRC-32 (IEEE 802.3, reflected) of the blob */
#define GTU_REG_CYCLE_LIMIT	0x090		/* RW, 64: cycles a job may take when it names no limit */

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
#define GTU_CAP_LINEAR		(1ull << 2)	/* regions of one contiguous run (levels = 0) */
#define GTU_CAP_CANCEL		(1ull << 3)	/* 1.1: GTU_MBOX_QUEUE_CANCEL */
#define GTU_CAP_STREAM_EVENTS	(1ull << 4)	/* 1.1: GTU_DB_ARM_STREAM */
#define GTU_CAP_SEEK		(1ull << 5)	/* 1.1: GTU_MBOX_QUEUE_SEEK */

#define GTU_UNIT_SCU		(1u << 0)
#define GTU_UNIT_IRU		(1u << 1)
#define GTU_UNIT_PEG		(1u << 2)
#define GTU_UNIT_WVR		(1u << 3)
#define GTU_UNIT_ZCM		(1u << 4)

#define GTU_STATUS_READY	(1u << 0)	/* out of reset, mailbox usable */
#define GTU_STATUS_BUSY		(1u << 1)	/* some queue has work */
#define GTU_STATUS_ERROR	(1u << 2)	/* GTU_REG_ERROR is not 0 */

#define GTU_ERROR_DMA		(1u << 0)	/* a ring, table or page list could not be reached; info: address */
#define GTU_ERROR_QUEUE		(1u << 1)	/* a queue went into error; info: queue | code << 32 */
#define GTU_ERROR_REGISTER	(1u << 2)	/* an access of a wrong size or place; info: offset */

/* ---- Mailbox: how the driver sets up contexts, queues and events ---------------------------- */

#define GTU_MBOX_NOP		0
#define GTU_MBOX_CTX_ENABLE	1	/* context, region table address, log2 entries, weight (1..16; 0: 1) */
#define GTU_MBOX_CTX_DISABLE	2	/* context; its queues are disabled first */
#define GTU_MBOX_INVALIDATE	3	/* context, slot; done when nothing in flight uses the old entry */
#define GTU_MBOX_QUEUE_ENABLE	4	/* queue, context, SQ address, CQ address, log2 SQ | log2 CQ << 8, event ring */
#define GTU_MBOX_QUEUE_DISABLE	5	/* queue; a running job is dropped without a completion */
#define GTU_MBOX_QUEUE_RESET	6	/* queue; as disable, then enable with the same rings, indices 0; the ring
					 * is not cleared: for a queue without completions in it */
#define GTU_MBOX_QUEUE_STATE	7	/* queue; results: sq head | sq tail << 32, cq tail | cq head << 32, state */
#define GTU_MBOX_EVENT_ENABLE	8	/* event ring, address, log2 entries, vector */
#define GTU_MBOX_EVENT_DISABLE	9	/* event ring */
#define GTU_MBOX_QUEUE_CANCEL	10	/* queue, until: its jobs with a submission index before `until` that have
					 * not ended do so with GTU_CPL_CANCELED, in order, each with its completion;
					 * done when that is certain, not when they are written. E_ARG: until is
					 * beyond the tail. CAP_CANCEL */
#define GTU_MBOX_QUEUE_SEEK	11	/* queue, index, CQ head: a queue that was given nothing since it was
					 * enabled goes on at `index` in both rings. E_ARG: more than the completion
					 * ring between head and index. CAP_SEEK */

#define GTU_MBOX_BUSY		(1u << 31)
#define GTU_MBOX_E_OK		0
#define GTU_MBOX_E_COMMAND	1	/* unknown command */
#define GTU_MBOX_E_INDEX	2	/* context, queue, ring or vector beyond what the device has */
#define GTU_MBOX_E_STATE	3	/* already enabled, not enabled, context of a queue not enabled */
#define GTU_MBOX_E_ARG		4	/* misaligned address, size out of range, reserved bits */
#define GTU_MBOX_E_IN_USE	5	/* INVALIDATE: still used after 100 ms; try again, or stop the queues */

#define GTU_RING_NONE		0xffffffffu	/* QUEUE_ENABLE: this queue raises no events */

/* ---- Regions -------------------------------------------------------------------------------- */

/*
 * A context's region table is an array of these, written only by the driver. A key is
 * generation << 16 | slot; generation 0 is never valid, so key 0 means "no region".
 *
 * levels = 0: the region is contiguous on the bus: byte b is at base + offset + b.
 * levels = 1..3: base is the address of a 4 KiB chunk of 512 little-endian addresses: of pages at
 * level 1, of chunks of the next lower level above. Page p of the region (byte b is in page
 * (offset + b) >> page_shift) is entry p & 511 of its level-1 chunk, (p >> 9) & 511 above, and so on.
 * APERTURE: base is a byte offset into the aperture, levels = 0.
 */
struct gtu_hw_region {
	gtu_le32 key;
	gtu_le32 flags;			/* GTU_REGION_* */
	gtu_le64 length;		/* bytes */
	gtu_le64 base;
	gtu_le64 offset;		/* of byte 0 in the first page; a multiple of 8 */
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

/* A named place: `count` elements (their width is in the descriptor) at byte `offset` of a region. */
struct gtu_hw_operand {
	gtu_le32 key;			/* 0: not given; count and offset must be 0 then */
	gtu_le32 count;			/* GTU_COUNT_REST, where allowed: to the region's end */
	gtu_le64 offset;		/* bytes; a multiple of the element width */
};
GTU_HW_ASSERT(sizeof(struct gtu_hw_operand) == 16, "operand is 16 bytes");

#define GTU_COUNT_REST		0xffffffffu

#define GTU_DESC_OPERANDS	6
#define GTU_BLOCK_OPERANDS	16

struct gtu_hw_desc {
	gtu_u8 opcode;			/* GTU_OP_* */
	gtu_u8 reserved0;
	gtu_le16 flags;			/* GTU_DESC_* */
	gtu_le32 param;			/* by opcode */
	gtu_le64 cookie;		/* returned in the completion */
	gtu_le64 imm;			/* by opcode */
	gtu_le32 param2;		/* by opcode */
	gtu_le32 limit;			/* cycles / 1024 this job may take; 0: the device's limit */
	struct gtu_hw_operand operand[GTU_DESC_OPERANDS];
};
GTU_HW_ASSERT(sizeof(struct gtu_hw_desc) == 128, "descriptor is 128 bytes");

/*
 * GTU_DESC_BLOCK: operand[0] names a parameter block, `count` operands (1..16) of 16 bytes at an
 * 16-byte aligned offset, fetched once; operand[1..5] must be zero.
 */
#define GTU_DESC_BLOCK		(1u << 0)
#define GTU_DESC_FLAGS		GTU_DESC_BLOCK

#define GTU_OP_NOP		0x00
#define GTU_OP_COPY		0x01	/* operand 0: source, 1: destination */
#define GTU_OP_FILL		0x02	/* operand 1: destination; imm: the element */
#define GTU_OP_FENCE		0x03	/* waits for what other queues of the context had before it */
#define GTU_OP_SCU_BITMASK	0x10
#define GTU_OP_SCU_DATA		0x11
#define GTU_OP_SCU_ACCESS	0x12
#define GTU_OP_SCU_REPLICATE	0x13
#define GTU_OP_SCU_EXPAND	0x14
#define GTU_OP_IRU_STREAM	0x20
#define GTU_OP_PEG_STREAM	0x30
#define GTU_OP_WVR_STREAM	0x40

/* COPY and FILL: param = log2 of the element width (0..3), other bits zero. */

/* Operands of the SCU, by place in the descriptor or the parameter block. */
#define GTU_SCU_DATA		0	/* in; may be GTU_COUNT_REST where index selects from it */
#define GTU_SCU_INDEX		1	/* in: ACCESS, EXPAND */
#define GTU_SCU_COUNT		2	/* in: REPLICATE, EXPAND */
#define GTU_SCU_MASK		3	/* in: a bit an input element; not given: all ones */
#define GTU_SCU_OUT		4	/* out: elements of the data's width; BITMASK: bits */
#define GTU_SCU_FILTER		5	/* a bit an output element: out of PRODUCE and FUSED, into APPLY and grouping */
#define GTU_SCU_REORDER		6	/* u32 an output element: likewise */
#define GTU_SCU_FILTER_TABLE	7	/* count: lines, a power of two >= 16 */
#define GTU_SCU_GROUP_TABLE	8	/* count: lines, a power of two >= 16 */
#define GTU_SCU_COST_GATHERED	9	/* in: cost, selected like the data */
#define GTU_SCU_COST_INPUT	10	/* in: cost, one an input element, replicated like the data */
#define GTU_SCU_OPERANDS	11

/* param of the SCU's descriptors */
#define GTU_SCU_WIDTH_SHIFT	0	/* 2 bits: log2 of the data element, 0..3 */
#define GTU_SCU_INDEX_SHIFT	2	/* 2 bits: log2 of an index, 2 or 3 */
#define GTU_SCU_COUNT_SHIFT	4	/* 2 bits: log2 of a count, 2 or 3 */
#define GTU_SCU_TYPE_SHIFT	6	/* 2 bits: GTU_TYPE_*, of the comparison or of the cost */
#define GTU_SCU_CMP_SHIFT	8	/* 3 bits: GTU_CMP_* (BITMASK) */
#define GTU_SCU_STEP_SHIFT	11	/* 2 bits: GTU_STEP_* */
#define GTU_SCU_UNIQUE		(1u << 13)	/* filter by id */
#define GTU_SCU_BEST		(1u << 14)	/* filter by id and cost (not with UNIQUE) */
#define GTU_SCU_GROUP		(1u << 15)	/* group by target line */
#define GTU_SCU_KEEP		(1u << 16)	/* tables keep what earlier jobs put there */
#define GTU_SCU_COST_SHIFT	17	/* 2 bits: log2 of a cost, 2 or 3 */
#define GTU_SCU_TARGET_SHIFT	19	/* 3 bits: log2 of the target's element width, 0..7 */
#define GTU_SCU_PARAM_MASK	0x003fffffu

/* imm: BITMASK: the reference, in the low bits, of the data's width. Others: base of the grouping's
 * target, a region-relative byte address: id i lies in line (imm + (i << target)) / 128. */

#define GTU_TYPE_UNSIGNED	0
#define GTU_TYPE_SIGNED		1
#define GTU_TYPE_FLOAT		2	/* widths 4 and 8 */

#define GTU_CMP_EQ		0
#define GTU_CMP_NE		1
#define GTU_CMP_LT		2
#define GTU_CMP_LE		3
#define GTU_CMP_GT		4
#define GTU_CMP_GE		5

#define GTU_STEP_PLAIN		0	/* the operation alone */
#define GTU_STEP_PRODUCE	1	/* write the filter mask and/or the reorder vector, no data */
#define GTU_STEP_APPLY		2	/* write data, by the filter mask or the reorder vector */
#define GTU_STEP_FUSED		3	/* both */

#define GTU_REORDER_DROPPED	0xffffffffu

/*
 * Tables of the SCU in a region, 64-byte aligned. A table of L lines has L / 16 sets; first the sets,
 * each of the size below, then for the filter a state byte a set.
 * Filter set: 16 ids of max(4, data width) bytes, then, for BEST, 16 costs of the cost's width. State
 * byte: bits 0..3 the way that is filled next, bit 7 set when all 16 are valid.
 * Group set (1024 bytes): 16 line numbers of 8 bytes; 16 x 8 ordinals of 4 bytes; 16 counts of 1 byte;
 * 8 bytes: way numbers, 4 bits each, oldest first from the lowest; 8 bytes: entries in use, 0..16.
 */
#define GTU_TABLE_WAYS		16u
#define GTU_GROUP_MAX		8u
#define GTU_GROUP_SET_BYTES	1024u
#define GTU_FILTER_SET_BYTES(id_bytes, cost_bytes) (16u * ((id_bytes) + (cost_bytes)))
#define GTU_FILTER_TABLE_BYTES(lines, id_bytes, cost_bytes)                                        \
	((lines) / 16ull * (GTU_FILTER_SET_BYTES(id_bytes, cost_bytes) + 1u))
#define GTU_GROUP_TABLE_BYTES(lines) ((lines) / 16ull * GTU_GROUP_SET_BYTES)
#define GTU_TABLE_LINES_MAX	(1u << 24)

#define GTU_HASH		0x9E3779B1u
#define GTU_LINE_BYTES		128u
#define GTU_SECTOR_BYTES	32u
#define GTU_WARP		32u

/* IRU: operands, by place */
#define GTU_IRU_INDICES		0	/* in: n indices of 4 bytes */
#define GTU_IRU_SECONDARY	1	/* in: n values of 4 bytes; may be missing where no operation needs it */
#define GTU_IRU_RING		2	/* out: header and `count` records (a power of two), see below */
#define GTU_IRU_OPERANDS	3

/* param of IRU_STREAM; imm: region-relative base of the target; param2: time-out in cycles, 0: the unit's */
#define GTU_IRU_OP_SHIFT	0	/* 3 bits: GTU_IRU_OP_* */
#define GTU_IRU_TARGET_SHIFT	3	/* 3 bits: log2 of the target's element width, 0..7 */
#define GTU_IRU_ALL		(1u << 6)	/* mode ALL: ceil(n / 32) records; else END */
#define GTU_IRU_DEMAND		(1u << 7)	/* serve only what was asked; else a request is always pending */
#define GTU_IRU_WITH_SECONDARY	(1u << 8)	/* records carry the secondary */
#define GTU_IRU_WITH_POSITION	(1u << 9)	/* records carry the position */
#define GTU_IRU_PARAM_MASK	0x3ffu

#define GTU_IRU_OP_NONE		0
#define GTU_IRU_OP_FILTER	1
#define GTU_IRU_OP_MIN_U32	2
#define GTU_IRU_OP_MIN_S32	3
#define GTU_IRU_OP_ADD_F32	4

/*
 * PEG: operands, by place. Widths are those of param. A ring an engine: engine e's header is at byte
 * e * GTU_PEG_STRIDE() of RINGS, then `count` records (a power of two), then, where an output list is
 * given, the return ring of 2^param2 vertices that the consumer pushes.
 */
#define GTU_PEG_VERTICES	0	/* in: offsets into the edge array, one more than there are vertices */
#define GTU_PEG_EDGES		1	/* in: vertex ids; may be GTU_COUNT_REST */
#define GTU_PEG_WEIGHTS		2	/* in: of 4 or 8 bytes; may be GTU_COUNT_REST */
#define GTU_PEG_INPUT		3	/* in: input list, vertex ids; not given: all vertices in order */
#define GTU_PEG_RINGS		4	/* both: see above */
#define GTU_PEG_OUTPUT		5	/* out: output list, vertex ids; not given: nothing can be pushed */
#define GTU_PEG_SPILL		6	/* both: `count` lines of GTU_LINE_BYTES for vertices off chip; may be missing */
#define GTU_PEG_OPERANDS	7

/*
 * param of PEG_STREAM. param2: log2 of the return ring's vertices, 5..20; 0 without an output list. imm: bytes on
 * chip that this job uses for its vertex lists (low half) and for gathered edges (high half); 0: the build's.
 */
#define GTU_PEG_VERTEX_LIST	(1u << 0)	/* hand out the input list's vertices, not their edges */
#define GTU_PEG_PULL		(1u << 1)	/* CSC: the listed vertices are destinations */
#define GTU_PEG_OFFSETS_8	(1u << 2)	/* offsets of 8 bytes, else 4 */
#define GTU_PEG_IDS_8		(1u << 3)	/* vertex ids of 8 bytes, else 4 */
#define GTU_PEG_WEIGHTS_8	(1u << 4)	/* weights of 8 bytes, else 4 */
#define GTU_PEG_WITH_SRC	(1u << 5)	/* fields of the records, in this order: lanes as wide as ids, */
#define GTU_PEG_WITH_DST	(1u << 6)	/* ids, */
#define GTU_PEG_WITH_WEIGHT	(1u << 7)	/* weights, */
#define GTU_PEG_WITH_INDEX	(1u << 8)	/* and offsets are */
#define GTU_PEG_DEMAND		(1u << 9)	/* serve only what was asked; else a request is always pending */
#define GTU_PEG_BALANCE_EDGES	(1u << 10)	/* edge-frontier balancing between the engines */
#define GTU_PEG_BALANCE_LISTS	(1u << 11)	/* vertex-list balancing between them */
#define GTU_PEG_STAND_BY	(1u << 12)	/* an engine ends only when no engine can give it edges */
#define GTU_PEG_ENGINES_SHIFT	16		/* 6 bits: engines used; 0: all of the build */
#define GTU_PEG_PARAM_MASK	0x003f1fffu
#define GTU_PEG_ENGINES_MAX	32u

#define GTU_PEG_STRIDE(records, record_bytes, return_bytes)                                        \
	(((64ull + (uint64_t)(records) * (record_bytes) + (return_bytes)) + 63) & ~63ull)

/*
 * A line of SPILL: link to the line before it in its engine's list (its number + 1; 0: none), then
 * vertices, up to the line's end.
 */
#define GTU_PEG_SPILL_LINK	8u
#define GTU_PEG_SPILL_IDS(id_bytes) ((GTU_LINE_BYTES - GTU_PEG_SPILL_LINK) / (id_bytes))

/* WVR: operands, by place */
#define GTU_WVR_TABLE		0	/* in: registrations, in any order within a round */
#define GTU_WVR_RING		1	/* both: header, `count` records (a power of two), return ring */
#define GTU_WVR_OPERANDS	2

/* param of WVR_STREAM. param2: log2 of the return ring's vertices (8 bytes each) to skip, 3..16; 0: none */
#define GTU_WVR_VIDS_8		(1u << 0)	/* VID lanes of 8 bytes, else 4 */
#define GTU_WVR_EIDS_8		(1u << 1)	/* EID lanes of 8 bytes, else 4 */
#define GTU_WVR_DEMAND		(1u << 2)	/* serve only what was asked; else a request is always pending */
#define GTU_WVR_PARAM_MASK	0x7u

/* A registration: WEAVER_REG of one thread. */
struct gtu_hw_registration {
	gtu_le32 entry;			/* warp * threads of a warp + thread */
	gtu_le32 flags;			/* GTU_WVR_LAST */
	gtu_le64 vid;
	gtu_le64 start;			/* id of its first edge */
	gtu_le64 degree;
};
GTU_HW_ASSERT(sizeof(struct gtu_hw_registration) == 32, "registration is 32 bytes");
#define GTU_WVR_LAST		(1u << 0)	/* the last of its round; the table's last always is */

/*
 * A stream's ring in the consumer's memory, 64-byte aligned: this header, then records. Indices run
 * freely modulo 2^32. The device writes record (producer & (count - 1)), then producer; it stops while
 * producer - consumer = count. The consumer writes consumer (and, with DEMAND, asked: the records it
 * has asked for in all), then the queue's KICK doorbell if `waiting` is set.
 *
 * The return ring of PEG and WVR goes the other way: the consumer writes entry (sent & (size - 1)), then
 * sent, and stops while sent - received is its size. Once `closed` is set, `sent` must not move.
 */
struct gtu_hw_ring {
	gtu_le32 producer;		/* device: records written so far */
	gtu_le32 ended;			/* device: 1 after the last record */
	gtu_le32 waiting;		/* device: 1 while it waits for the consumer */
	gtu_le32 received;		/* device: entries of the return ring taken so far */
	gtu_le32 moved;			/* device: in a PEG or WVR stream's first ring, times that anything in this
					 * half of any of its rings has moved: what ARM_STREAM counts there */
	gtu_le32 reserved0[3];
	gtu_le32 consumer;		/* consumer: records done with so far */
	gtu_le32 asked;			/* consumer, DEMAND only */
	gtu_le32 sent;			/* consumer: entries put into the return ring so far */
	gtu_le32 closed;		/* consumer: 1: no more will be sent (PEG with an output list waits for it) */
	gtu_le32 reserved1[4];
};
GTU_HW_ASSERT(sizeof(struct gtu_hw_ring) == 64, "ring header is 64 bytes");

/*
 * A warp record: this header, then one field after the other, each 32 lanes of 4 (or, where the
 * stream says so, 8) bytes. IRU: index, then secondary, then position, those asked for. PEG: see its
 * param. WVR: vid, then eid. Lanes that hold no element are 0 (IRU), all ones (PEG, WVR).
 */
struct gtu_hw_warp {
	gtu_le32 active;		/* bit l: lane l holds an element */
	gtu_le32 sequence;		/* number of the record in its stream, from 0 */
	gtu_le32 reason;		/* GTU_WARP_* */
	gtu_le32 lines;			/* IRU: distinct target lines among the active lanes; WVR: round, from 0 */
	gtu_le64 cycle;			/* the stream's logical cycle at which it was put out */
	gtu_le32 reserved[10];
};
GTU_HW_ASSERT(sizeof(struct gtu_hw_warp) == 64, "warp header is 64 bytes");
#define GTU_WARP_BYTES(fields4, fields8) (64u + 128u * (fields4) + 256u * (fields8))

#define GTU_WARP_FULL		0	/* a set was full; PEG, WVR: a warp's worth was there */
#define GTU_WARP_TIMEOUT	1
#define GTU_WARP_END		2	/* what was left */
#define GTU_WARP_DISABLED	3	/* mode ALL: no lane active */

/* ---- Completions ---------------------------------------------------------------------------- */

struct gtu_hw_cpl {
	gtu_le64 cookie;
	gtu_le64 count;			/* elements put out (bits for BITMASK, records for streams) */
	gtu_le64 needed;		/* OVERFLOW: capacity that would do. INDEX, WIDTH: the value met. PEG: length of
				 * the output list */
	gtu_le64 cycles;		/* logical cycles of this job alone */
	gtu_le64 dropped;		/* elements filtered out or merged */
	gtu_le64 element;		/* on an error: number of the input element where it was met */
	gtu_le32 sq_index;		/* which descriptor: index of the submission ring, running freely */
	gtu_le16 reserved;
	gtu_u8 operand;			/* on an error: place of the operand, else 0xff */
	gtu_u8 reserved1;
	gtu_le32 reserved2;
	gtu_le16 status;		/* GTU_CPL_* */
	gtu_le16 phase;			/* written last: 1 on the ring's first pass, 0 on the second, ... */
};
GTU_HW_ASSERT(sizeof(struct gtu_hw_cpl) == 64, "completion is 64 bytes");

#define GTU_CPL_OK		0
#define GTU_CPL_OPCODE		1	/* no such operation */
#define GTU_CPL_RESERVED	2	/* a reserved bit or field is not zero */
#define GTU_CPL_PARAM		3	/* a parameter has no meaning here */
#define GTU_CPL_OPERAND		4	/* an operand is missing, not wanted, misaligned or of a wrong count */
#define GTU_CPL_KEY		5	/* no such region, or its generation has passed */
#define GTU_CPL_RIGHTS		6	/* the region may not be read or written */
#define GTU_CPL_BOUNDS		7	/* the operand ends behind its region */
#define GTU_CPL_INDEX		8	/* an index, count or ordinal in memory points outside its operand */
#define GTU_CPL_OVERFLOW	9	/* the output does not fit; nothing is written past its end */
#define GTU_CPL_DMA		10	/* host memory did not answer */
#define GTU_CPL_ABSENT		11	/* this build has no such unit */
#define GTU_CPL_LIMIT		12	/* more cycles than the limit */
#define GTU_CPL_WIDTH		13	/* an element is wider than this build holds */
#define GTU_CPL_STALLED		14	/* a stream's consumer held an exclusive unit too long */
#define GTU_CPL_CANCELED	15	/* by QUEUE_CANCEL: it may have run in part, or not at all */
#define GTU_CPL_COUNT		16	/* number of codes */

/*
 * Behind the last completion of a ring: what the queue is doing, for the user to read. Written by
 * the device after each completion and at each error. The queue's codes are sticky until it is reset.
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
#define GTU_QUEUE_E_TAIL	2	/* the doorbell's tail is further than the ring is long */
#define GTU_QUEUE_E_HEAD	3	/* the doorbell's consumer index is beyond what was completed */
#define GTU_QUEUE_E_DMA		4	/* a ring could not be reached */

#define GTU_SQ_BYTES(log2)	(128ull << (log2))
#define GTU_CQ_BYTES(log2)	((64ull << (log2)) + 64)
#define GTU_RING_LOG2_MIN	1

/* ---- Doorbells: one page a queue, `stride` apart in BAR2 -------------------------------------- */

#define GTU_DB_SUBMIT		0x00	/* WO, 64: SQ tail | CQ consumer index << 32, both running freely */
#define GTU_DB_ARM		0x08	/* WO: raise an event once a completion at or behind this index is there */
#define GTU_DB_KICK		0x10	/* WO: any value: look at the streams' rings again */
#define GTU_DB_ARM_STREAM	0x18	/* WO: raise an event once the running stream has written the record of
					 * this index (its producer is beyond it), at the next completion, or at once
					 * where the queue has nothing to run. CAP_STREAM_EVENTS */

/* ---- Events --------------------------------------------------------------------------------- */

/* An event ring is an array of these words; the device sets bit 31 on even passes (phase as in CQs). */
#define GTU_EVENT_QUEUE_MASK	0x0000ffffu
#define GTU_EVENT_ERROR		(1u << 30)	/* the queue went into error */
#define GTU_EVENT_PHASE		(1u << 31)

/* ---- Unit pages: common part ---------------------------------------------------------------- */

#define GTU_UREG_ID		0x000	/* "SCU ", "IRU ", ...; 0 where the unit is not present */
#define GTU_UREG_VERSION	0x004
#define GTU_UREG_STATUS		0x008	/* bit 0: present, bit 1: busy */
#define GTU_UREG_CTRL		0x00c	/* WO, GTU_CTRL_* */
#define GTU_UREG_PARAM(n)	(0x010 + 4 * (n))	/* RO: what this build is; by unit */
#define GTU_UREG_PARAMS		24
#define GTU_UREG_SET(n)		(0x080 + 4 * (n))	/* RW: settings; by unit */
#define GTU_UREG_SETS		8
#define GTU_UREG_COUNTER(n)	(0x100 + 8 * (n))	/* RO, 64: as of the last SNAPSHOT */
#define GTU_UREG_COUNTERS	64
#define GTU_UREG_OWN		0x400	/* from here on: by unit */

#define GTU_CTRL_SNAPSHOT	(1u << 0)	/* copy all counters, at one cycle, to where they are read */
#define GTU_CTRL_CLEAR		(1u << 1)	/* after that: all counters to 0, at the same cycle */

#define GTU_ID_SCU		0x20554353u
#define GTU_ID_IRU		0x20555249u
#define GTU_ID_PEG		0x20474550u
#define GTU_ID_WVR		0x20525657u
#define GTU_ID_ZCM		0x204d435au

/* SCU */
#define GTU_SCU_P_WIDTH		0	/* elements a cycle */
#define GTU_SCU_P_LATENCY	1	/* cycles of a fetch */
#define GTU_SCU_P_MERGE		2	/* merge window of the coalescing unit, elements */
#define GTU_SCU_P_WAYS		3
#define GTU_SCU_P_GROUP		4	/* elements a group */
#define GTU_SCU_P_LINES_LOG2	5	/* log2 of the greatest table */

#define GTU_SCU_C_JOBS		0
#define GTU_SCU_C_CYCLES	1
#define GTU_SCU_C_IN		2	/* input elements read */
#define GTU_SCU_C_OUT		3	/* elements put out */
#define GTU_SCU_C_DROPPED	4
#define GTU_SCU_C_PROBES	5	/* of the filter table */
#define GTU_SCU_C_EVICTIONS	6	/* of the filter table */
#define GTU_SCU_C_GROUPS	7	/* groups emitted */
#define GTU_SCU_C_GROUPED	8	/* elements in them */
#define GTU_SCU_COUNTERS	9

/* IRU */
#define GTU_IRU_P_SETS		0
#define GTU_IRU_P_PARTITIONS	1
#define GTU_IRU_P_BANKS		2	/* a partition */
#define GTU_IRU_P_LANES		3	/* elements a set and a record */
#define GTU_IRU_P_INTERLEAVE	4	/* bytes of the indices a partition fetches in turn */
#define GTU_IRU_P_PREFETCH	5	/* fetches in flight a partition */
#define GTU_IRU_P_LATENCY	6	/* cycles of a fetch */
#define GTU_IRU_P_INDEX_BITS	7
#define GTU_IRU_P_POSITION_BITS	8
#define GTU_IRU_P_RING_DEPTH	9	/* elements a partition's ring input holds */
#define GTU_IRU_P_QUEUE_DEPTH	10	/* elements a classifier queue holds */
#define GTU_IRU_S_TIMEOUT	0	/* setting: cycles */

#define GTU_IRU_C_JOBS		0
#define GTU_IRU_C_CYCLES	1
#define GTU_IRU_C_IN		2
#define GTU_IRU_C_MERGED	3	/* by the operation */
#define GTU_IRU_C_RECORDS	4
#define GTU_IRU_C_FULL		5	/* records of each reason */
#define GTU_IRU_C_TIMEOUT	6
#define GTU_IRU_C_END		7
#define GTU_IRU_C_DISABLED	8
#define GTU_IRU_C_LINES		9	/* sum of the records' distinct lines */
#define GTU_IRU_C_HOPS		10	/* of elements on the ring */
#define GTU_IRU_C_BLOCKED	11	/* insertions that waited for a full set */
#define GTU_IRU_COUNTERS	12

/* PEG */
#define GTU_PEG_P_ENGINES	0
#define GTU_PEG_P_ENTRIES	1	/* of an engine's adjacency list working table */
#define GTU_PEG_P_LANES		2	/* edges a record */
#define GTU_PEG_P_EDGE_BYTES	3	/* on chip, for gathered edges */
#define GTU_PEG_P_LIST_BYTES	4	/* on chip, for vertex lists, half of it each */
#define GTU_PEG_P_LATENCY	5	/* cycles of a fetch */
#define GTU_PEG_P_MESSAGE	6	/* cycles of a message between an engine and the control processor */
#define GTU_PEG_P_CHUNK		7	/* vertices of the input list dealt to an engine at a time */

#define GTU_PEG_S_INTERVAL	0	/* setting: cycles between two looks of the control processor */
#define GTU_PEG_S_SHIFT		1	/* setting: N of the threshold max(Rmax >> N, floor), 0..63 */
#define GTU_PEG_S_FLOOR		2	/* setting: its floor, edges or vertices, at least 2 */

#define GTU_PEG_C_JOBS		0
#define GTU_PEG_C_CYCLES	1
#define GTU_PEG_C_VERTICES	2	/* taken from input lists into tables, or handed out */
#define GTU_PEG_C_EDGES		3	/* handed out */
#define GTU_PEG_C_RECORDS	4
#define GTU_PEG_C_PARTIAL	5	/* records with fewer than a warp's lanes */
#define GTU_PEG_C_INDEX_FETCHES	6	/* FI */
#define GTU_PEG_C_EDGE_FETCHES	7	/* FE: lines */
#define GTU_PEG_C_REFILLS	8	/* of input lists */
#define GTU_PEG_C_PUSHED	9
#define GTU_PEG_C_SPILLED	10	/* of those, off chip */
#define GTU_PEG_C_LOOKS		11	/* of the control processor */
#define GTU_PEG_C_MOVES		12	/* of ranges of edges between engines */
#define GTU_PEG_C_MOVED		13	/* edges in them */
#define GTU_PEG_C_REFUSED	14	/* no free entry at the receiver, or nothing left to give */
#define GTU_PEG_C_LIST_MOVES	15
#define GTU_PEG_C_LIST_MOVED	16	/* vertices in them */
#define GTU_PEG_COUNTERS	17

/* Control registers of an engine (graphpeg.txt, section 3.3.2), in PEG's page, RO; 0 while it is idle. */
#define GTU_PEG_REG(engine)	(0x400 + 0x40 * (engine))
#define GTU_PEG_R_EFS		0x00	/* 64: edges gathered or being fetched, and in RD and FE entries */
#define GTU_PEG_R_BC		0x08	/* GTU_PEG_BC_* */
#define GTU_PEG_R_BS		0x0c	/* GTU_PEG_BS_* */
#define GTU_PEG_R_BW0		0x10	/* 64: start of the range that moves */
#define GTU_PEG_R_BW1		0x18	/* 64: its end */
#define GTU_PEG_R_BW2		0x20	/* 64: its base vertex */

#define GTU_PEG_BC_NONE		0
#define GTU_PEG_BC_ED		1	/* edge donating */
#define GTU_PEG_BC_ERS		2	/* edge receiving standby */
#define GTU_PEG_BC_ER		3	/* edge receiving */
#define GTU_PEG_BS_NONE		0
#define GTU_PEG_BS_READY	1	/* receiver: an entry is reserved; donor: asked */
#define GTU_PEG_BS_REFUSED	2	/* no free entry, at an end, or nothing left to give */
#define GTU_PEG_BS_DONE		3	/* donor: R_BW0..2 hold what was given; receiver: it is in the table */

/* WVR */
#define GTU_WVR_P_ENTRIES	0	/* of the sparse work table */
#define GTU_WVR_P_WARPS		1	/* of the dense id table */
#define GTU_WVR_P_LANES		2	/* threads of a warp */
#define GTU_WVR_P_TABLE_LATENCY	3	/* cycles of a read of the tables */
#define GTU_WVR_P_LATENCY	4	/* cycles of a fetch from memory */

#define GTU_WVR_C_JOBS		0
#define GTU_WVR_C_CYCLES	1
#define GTU_WVR_C_ROUNDS	2
#define GTU_WVR_C_REGISTERED	3
#define GTU_WVR_C_WORK		4	/* work ids given out */
#define GTU_WVR_C_RECORDS	5
#define GTU_WVR_C_PARTIAL	6	/* records with fewer than a warp's lanes */
#define GTU_WVR_C_SKIPS		7
#define GTU_WVR_C_SKIPPED	8	/* work ids that skips removed */
#define GTU_WVR_C_STATE(s)	(9 + (s))	/* cycles in S0..S8 */
#define GTU_WVR_STATES		9
#define GTU_WVR_COUNTERS	18

/* ZCM. Directions: what the device asks of host memory, and what arrives at the aperture. */
#define GTU_ZCM_HOST_READ	0
#define GTU_ZCM_HOST_WRITE	1
#define GTU_ZCM_APERTURE_READ	2
#define GTU_ZCM_APERTURE_WRITE	3
#define GTU_ZCM_DIRECTIONS	4
#define GTU_ZCM_S_ENABLE	0	/* setting: 1: watch; 0 after reset */
#define GTU_ZCM_C_REQUESTS(dir, sectors) ((dir) * 4 + (sectors) - 1)	/* 0..15: by size 32, 64, 96, 128 */
#define GTU_ZCM_C_BYTES(dir)	(16 + (dir))
#define GTU_ZCM_C_FLIGHT_NOW	20
#define GTU_ZCM_C_FLIGHT_MAX	21
#define GTU_ZCM_C_FLIGHT_SUM	22	/* of round trips, in cycles: / WATCHED = mean in flight */
#define GTU_ZCM_C_WATCHED	23	/* cycles watched */
#define GTU_ZCM_C_TRIP(bucket)	(24 + (bucket))	/* round trips of 2^bucket .. 2^(bucket+1)-1 cycles */
#define GTU_ZCM_TRIP_BUCKETS	16
#define GTU_ZCM_COUNTERS	40

#endif
