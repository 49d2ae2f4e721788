/* SPDX-License-Identifier: MIT */
/*
 * Inner loops of the IRU over one line and over one warp, in portable C and in AVX-512 with
 * identical results. The choice is made once, when a stream starts.
 */
#ifndef GTU_IRU_KERNEL_H
#define GTU_IRU_KERNEL_H

#include "iru_core.h"

struct iru_kernel {
	const char *name;
	/*
	 * Determine set and queue of a line's elements for partition @p. Returns IRU_LANES, or the
	 * number of the first element whose index exceeds the build's index bits (all else is then
	 * invalid).
	 */
	unsigned (*split)(const struct iru_core *c, unsigned p, const uint32_t *index,
			  const uint32_t *secondary, unsigned count, uint64_t first,
			  struct iru_split *to);
	/* Append a line's elements to their queues; the caller has reserved the space. */
	void (*give)(struct iru_core *c, unsigned p, const struct iru_split *s);
	/* Lane of the pair with this index among the first @count, or -1. */
	int (*find)(const uint64_t *pair, unsigned count, uint32_t index);
	/*
	 * Build a record from lanes [0, count): fields, active mask and number of distinct lines.
	 */
	void (*record)(const struct iru_core *c, const uint64_t *pair, const uint32_t *secondary,
		       unsigned count, struct iru_record *to);
};

extern const struct iru_kernel iru_kernel_portable;
/* The fastest kernel of this processor, or the portable one after iru_kernel_use_portable(). */
const struct iru_kernel *iru_kernel_best(void);
void iru_kernel_use_portable(void);

/* Global number of a partition's queue @k, numbered as in struct iru_split. */
static inline unsigned iru_split_queue(const struct iru_core *c, unsigned p, unsigned k)
{
	return k < c->banks ? p * c->banks + k :
			      2 * c->all_banks + (k - c->banks) * c->partitions + p;
}

/* Target line of an index, modulo 2^32: enough for the hash and to distinguish lines. */
static inline uint32_t iru_target_line(uint64_t base, unsigned target_log2, uint32_t index)
{
	return (uint32_t)((base + ((uint64_t)index << target_log2)) / GTU_LINE_BYTES);
}

static inline uint32_t iru_target_set(uint32_t line, unsigned sets_log2)
{
	return (uint32_t)((uint64_t)(line * GTU_HASH) >> (32 - sets_log2));
}

#endif
