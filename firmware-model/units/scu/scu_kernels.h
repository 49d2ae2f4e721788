/* SPDX-License-Identifier: MIT */
/*
 * The SCU's inner loops over plain memory, once per instruction set; the best the processor has is
 * picked at run time. All give the same bytes.
 *
 * Sources may be rewritten by someone else while they are read: each element is loaded once.
 */
#ifndef GTU_SCU_KERNELS_H
#define GTU_SCU_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory of users has no alignment that the compiler may rely on. */
typedef uint16_t __attribute__((aligned(1), may_alias)) scu_u16;
typedef uint32_t __attribute__((aligned(1), may_alias)) scu_u32;
typedef uint64_t __attribute__((aligned(1), may_alias)) scu_u64;

#define SCU_PAD 64u		/* bytes behind its result that a kernel may overwrite in `to` */
#define SCU_WAYS 16u
#define SCU_FETCH_AHEAD 24u	/* runs: about what a core can have in flight */

/* The filter table as a kernel sees it: all of it in one piece. Layout: uapi/gtu/hw.h, GTU_TABLE_WAYS. */
struct scu_sets {
	uint8_t *set;
	uint8_t *state;			/* a byte a set */
	uint32_t set_bytes;
	uint8_t log2;			/* of the sets */
	uint8_t cost_log2;		/* of the bytes of a cost; 0: no costs */
	uint8_t type;			/* GTU_TYPE_* of the cost */
	uint64_t evictions;		/* added to */
};

/* A run of consecutive output elements of one input element. */
struct scu_segment {
	uint64_t from;			/* element of the data where it starts */
	uint64_t element;		/* input element */
	uint32_t first;			/* its first element in the block */
	uint32_t length;
	uint32_t slots;			/* used in the block before it */
};

/* EXPAND in one go: input elements whose runs are laid out and copied at once. */
struct scu_expand {
	const uint64_t *index, *count, *mask;	/* of the elements [0, end) */
	uint64_t limit;			/* elements of the data, */
	const uint8_t *base;		/* which are here */
	uint8_t *to;
	unsigned log2;			/* of an element's bytes */
	uint64_t at, end;		/* next input element */
	uint64_t m, room;		/* elements in `to`, and how many may be there */
	uint64_t used, most;		/* slots */
};

struct scu_kernels {
	const char *isa;
	/*
	 * Move from[i] where bit i of @bits is set to @to, in order; returns how many. By log2 of the
	 * width. Bits from @n to the end of their word are 0.
	 */
	size_t (*compact[4])(void *to, const void *from, const uint64_t *bits, size_t n);
	/* 4 to 8 bytes; up to SCU_PAD behind @to may be overwritten. */
	void (*widen)(uint64_t *to, const uint32_t *from, size_t n);
	/* How many bits are set. */
	size_t (*count)(const uint64_t *bits, size_t words);
	/* Bit i = in[i] cmp ref (GTU_CMP_*, GTU_TYPE_*); bits up to the end of the last word are 0. */
	void (*compare[4])(uint64_t *bits, const void *in, size_t n, unsigned cmp, unsigned type,
			   uint64_t ref);
	/*
	 * Copy each segment's elements of 1 << @log2 bytes from @base, of which @bytes may be read, to where
	 * it says in @to.
	 */
	void (*copy_runs)(void *to, const void *base, uint64_t bytes, unsigned log2,
			  const struct scu_segment *g, size_t n);
	/* Go on until an element's run has no room, no slots or is not inside the data. */
	void (*expand)(struct scu_expand *x);
	/* Fill each segment with its input element; from[0] is element @first. By log2 of the width. */
	void (*fill_runs[4])(void *to, const void *from, uint64_t first, const struct scu_segment *g,
			     size_t n);
	/* First i with index[i] >= limit, or @n; [0]: 4 bytes, [1]: 8 bytes. */
	size_t (*first_beyond[2])(const void *index, size_t n, uint64_t limit);
	/* Copy past the caches; @to at a multiple of 64, as are @bytes. fence() orders it with what follows. */
	void (*stream)(void *to, const void *from, size_t bytes);
	void (*fence)(void);
	/*
	 * Offer ids (and costs, as the table has them) to the filter table in order; bit i of @keep says
	 * that id i is to be kept. [0]: ids of 4 bytes, [1]: of 8.
	 */
	void (*filter[2])(struct scu_sets *t, const void *ids, const void *costs, size_t n,
			  uint64_t *keep);
	/* Ways whose tag is @tag, of 16 of 8 bytes. */
	unsigned (*match_tags)(const void *tags, uint64_t tag);
};

const struct scu_kernels *gtu_scu_kernels(void);
/* For tests: use these ("portable", "avx2", "avx512"; NULL: the best). False: not on this processor. */
bool gtu_scu_kernels_use(const char *isa);

extern const struct scu_kernels gtu_scu_portable;
#ifdef __x86_64__
extern const struct scu_kernels gtu_scu_avx2, gtu_scu_avx512;
#endif

/* Set of an id: the top bits of its 32-bit product with GTU_HASH. @log2 of the sets, 0..20. */
static inline uint32_t scu_hash(uint64_t id, unsigned log2)
{
	uint32_t folded = (uint32_t)id ^ (uint32_t)(id >> 32);

	return (uint32_t)((uint64_t)(folded * 0x9E3779B1u) >> (32 - log2));
}

/* The run of element @i of @x, if it is whole and inside; its length, or 0 where nothing is selected. */
static inline bool scu_whole_run(const struct scu_expand *x, uint64_t i, uint64_t *from, uint64_t *length)
{
	const uint64_t c = x->count[i] & -(x->mask[i / 64] >> (i % 64) & 1);

	*from = x->index[i];
	*length = c;
	return !c || (c <= x->room - x->m && c <= x->most - x->used && *from < x->limit &&
		      c <= x->limit - *from);
}

#endif
