/* SPDX-License-Identifier: MIT */
/*
 * The SCU's two tables (scu.txt, sections 4.2 and 4.3) in the caller's memory. Layout: uapi/gtu/hw.h.
 * What stands in them may be anything at any time; nothing of it is used unbounded.
 */
#ifndef GTU_SCU_TABLE_H
#define GTU_SCU_TABLE_H

#include "scu_core.h"

struct scu_filter {
	struct scu_mem *mem;
	uint8_t id_log2;		/* 2 or 3 */
	uint8_t cost_log2;		/* 2 or 3, 0: no costs */
	uint8_t type;
	uint8_t sets_log2;
	uint32_t merge;			/* probes told to observers together */
	uint64_t evictions;		/* counted here */
};

/*
 * Offer @n ids (of 1 << id_log2 bytes) and costs in order. Bit i of @keep: id i is new, or cheaper than
 * what was known. False: memory did not answer.
 */
bool scu_filter_offer(struct scu_filter *f, const struct scu_kernels *k, const void *ids,
		      const void *costs, size_t n, uint64_t *keep);
/* Empty sets [from, to). */
bool scu_filter_clear(struct scu_filter *f, uint64_t from, uint64_t to);

struct scu_group {
	struct scu_mem *mem, *reorder;
	uint64_t target;		/* address of the target's element 0 */
	uint8_t target_log2;		/* of the bytes of its elements */
	uint8_t id_log2;		/* 0..3 */
	uint8_t sets_log2;
	uint32_t merge;
	/* kept from call to call */
	uint64_t rank;			/* elements emitted so far: the next one's place */
	uint64_t groups;
	/* set when GROUP_ORDINAL is returned */
	size_t bad;			/* element of the call */
	uint64_t bad_ordinal;
};

enum scu_grouped {
	GROUP_OK,
	GROUP_MEMORY,			/* memory did not answer; the port has said so */
	GROUP_ORDINAL,			/* the table holds an ordinal that was never put in */
};

/*
 * Group @n ids whose ordinals are @first, @first + 1, ... (all below the reorder vector's count). Those
 * without their bit in @keep are marked dropped.
 */
enum scu_grouped scu_group_offer(struct scu_group *g, const struct scu_kernels *k, const void *ids,
				 const uint64_t *keep, size_t n, uint64_t first);
/* Emit what set @set still holds, oldest first; ordinals are below @ordinals. */
enum scu_grouped scu_group_drain(struct scu_group *g, uint64_t set, uint64_t ordinals);
bool scu_group_clear(struct scu_group *g, uint64_t from, uint64_t to);

#endif
