/* SPDX-License-Identifier: MIT */
/*
 * The SCU's filter and group tables (SCU, sections 4.2 and 4.3) in host memory. Layout: uapi/gtu/hw.h.
 * The host can write any value to them at any time, so every value read from them is bounded before use.
 */
#ifndef GTU_SCU_TABLE_H
#define GTU_SCU_TABLE_H

#include "scu_core.h"

struct scu_filter {
	struct scu_mem *mem;
	uint8_t id_log2;		/* 2 or 3 */
	uint8_t cost_log2;		/* 2 or 3; 0: no costs */
	uint8_t type;
	bool state_in_set;		/* probes of the state bytes are not reported */
	uint32_t sets;
	uint32_t merge;			/* probes that are reported to observers together */
	uint64_t evictions;		/* incremented */
};

/*
 * Probe the table with @n ids (of 1 << id_log2 bytes) and costs, in order. Bit i of @keep is set if id i is new or
 * its cost is lower than the known one. False: the memory is not accessible.
 */
bool scu_filter_offer(struct scu_filter *f, const struct scu_kernels *k, const void *ids,
		      const void *costs, size_t n, uint64_t *keep);
/* Clear sets [from, to). */
bool scu_filter_clear(struct scu_filter *f, uint64_t from, uint64_t to);

struct scu_group {
	struct scu_mem *mem, *reorder;
	uint64_t target;		/* address of the target's element 0 */
	uint8_t target_log2;		/* of the bytes of its elements */
	uint8_t id_log2;		/* 0..3 */
	uint8_t max;			/* elements per group */
	/*
	 * Report the accesses of a set whose 16 tags and counts are 64 bytes: 27 bits for the line of a 4-byte id, the
	 * rest for the count.
	 */
	bool state_in_set;
	uint32_t sets;
	uint32_t merge;
	/* persistent between calls */
	uint64_t rank;			/* number of elements emitted, and the next one's rank */
	uint64_t groups;
	/* set when GROUP_ORDINAL is returned */
	size_t bad;			/* element of the call */
	uint64_t bad_ordinal;
};

enum scu_grouped {
	GROUP_OK,
	GROUP_MEMORY,			/* the memory is not accessible; the port has recorded the error */
	GROUP_ORDINAL,			/* the table holds an ordinal that was never inserted */
};

/*
 * Group @n ids with ordinals @first, @first + 1, ..., all below the reorder vector's count. Ids whose bit in @keep
 * is clear are marked as dropped.
 */
enum scu_grouped scu_group_offer(struct scu_group *g, const struct scu_kernels *k, const void *ids,
				 const uint64_t *keep, size_t n, uint64_t first);
/* Emit the groups left in set @set, oldest first. Their ordinals must be below @ordinals. */
enum scu_grouped scu_group_drain(struct scu_group *g, uint64_t set, uint64_t ordinals);
bool scu_group_clear(struct scu_group *g, uint64_t from, uint64_t to);

#endif
