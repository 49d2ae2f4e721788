/* SPDX-License-Identifier: MIT */
/*
 * The SCU's inner loops over contiguous memory, one implementation per instruction set. The best one that the
 * processor supports is selected at run time. All produce the same bytes.
 *
 * The host may write to the sources concurrently, so each element is loaded once.
 */
#ifndef GTU_SCU_KERNELS_H
#define GTU_SCU_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* User memory may be unaligned. */
typedef uint16_t __attribute__((aligned(1), may_alias)) scu_u16;
typedef uint32_t __attribute__((aligned(1), may_alias)) scu_u32;
typedef uint64_t __attribute__((aligned(1), may_alias)) scu_u64;
typedef float __attribute__((aligned(1), may_alias)) scu_f32;
typedef double __attribute__((aligned(1), may_alias)) scu_f64;

#define SCU_PAD 64u		/* bytes after its result in `to` that a kernel may overwrite */
#define SCU_WAYS 16u
#define SCU_FETCH_AHEAD 24u	/* runs: about as many as a core can have in flight */

/* A contiguous filter table. Layout: uapi/gtu/hw.h, GTU_TABLE_WAYS. */
struct scu_sets {
	uint8_t *set;
	uint8_t *state;			/* one byte per set */
	uint32_t set_bytes;
	uint8_t log2;			/* of the number of sets */
	uint8_t cost_log2;		/* of the bytes of a cost; 0: no costs */
	uint8_t type;			/* GTU_TYPE_* of the cost */
	uint64_t evictions;		/* incremented */
};

/* A run of consecutive output elements of one input element. */
struct scu_segment {
	uint64_t from;			/* first element of the data */
	uint64_t element;		/* input element */
	uint32_t first;			/* its first element in the block */
	uint32_t length;
	uint32_t slots;			/* slots of the block used before it */
};

/* State of EXPAND when runs are laid out and copied in one loop. */
struct scu_expand {
	const uint64_t *index, *count, *mask;	/* of the elements [0, end) */
	uint64_t limit;			/* elements of the data */
	const uint8_t *base;		/* the data */
	uint8_t *to;
	unsigned log2;			/* of an element's bytes */
	uint64_t at, end;		/* next input element */
	uint64_t m, space;		/* elements in `to`, and its capacity */
	uint64_t used, max;		/* slots used, and their limit */
};

struct scu_kernels {
	const char *isa;
	/*
	 * Copy from[i] for each set bit i of @bits to @to, in order, and return their number. Indexed by log2 of the
	 * width. Bits from @n to the end of their word must be 0.
	 */
	size_t (*compact[4])(void *to, const void *from, const uint64_t *bits, size_t n);
	/* Widen elements of 4 bytes to 8. Up to SCU_PAD bytes after the result may be overwritten. */
	void (*widen)(uint64_t *to, const uint32_t *from, size_t n);
	/* Count the set bits. */
	size_t (*count)(const uint64_t *bits, size_t words);
	/* Bit i = in[i] cmp ref (GTU_CMP_*, GTU_TYPE_*); bits up to the end of the last word are 0. */
	void (*compare[4])(uint64_t *bits, const void *in, size_t n, unsigned cmp, unsigned type,
			   uint64_t ref);
	/*
	 * Copy each segment's elements of 1 << @log2 bytes from @base, where @bytes are readable, to the segment's
	 * position in @to.
	 */
	void (*copy_runs)(void *to, const void *base, uint64_t bytes, unsigned log2,
			  const struct scu_segment *g, size_t n);
	/* Copy runs until one exceeds the capacity, the slots or the data. */
	void (*expand)(struct scu_expand *x);
	/* Fill each segment with its input element; from[0] is element @first. Indexed by log2 of the width. */
	void (*fill_runs[4])(void *to, const void *from, uint64_t first, const struct scu_segment *g,
			     size_t n);
	/* First i with index[i] >= limit, or @n. [0]: indices of 4 bytes, [1]: of 8 bytes. */
	size_t (*first_beyond[2])(const void *index, size_t n, uint64_t limit);
	/* Copy with non-temporal stores. @to and @bytes are multiples of 64. fence() orders the stores with later ones. */
	void (*stream)(void *to, const void *from, size_t bytes);
	void (*fence)(void);
	/*
	 * Probe the filter table with ids (and costs, if the table has them) in order, and insert them. Bit i of @keep
	 * is set if id i is kept. [0]: ids of 4 bytes, [1]: of 8.
	 */
	void (*filter[2])(struct scu_sets *t, const void *ids, const void *costs, size_t n,
			  uint64_t *keep);
	/* Bit mask of the ways whose tag is @tag, among 16 tags of 8 bytes. */
	unsigned (*match_tags)(const void *tags, uint64_t tag);
};

const struct scu_kernels *gtu_scu_kernels(void);
/* For tests: select an implementation ("portable", "avx2", "avx512"; NULL: the best). False: not supported here. */
bool gtu_scu_kernels_use(const char *isa);

extern const struct scu_kernels gtu_scu_portable;
#ifdef __x86_64__
extern const struct scu_kernels gtu_scu_avx2, gtu_scu_avx512;
#endif

/* Set of an id: the top bits of its 32-bit product with GTU_HASH. @log2: of the number of sets, 0 to 20. */
static inline uint32_t scu_hash(uint64_t id, unsigned log2)
{
	uint32_t folded = (uint32_t)id ^ (uint32_t)(id >> 32);

	return (uint32_t)((uint64_t)(folded * 0x9E3779B1u) >> (32 - log2));
}

/*
 * The run of input element @i; *length is 0 if the mask does not select it. False: the run exceeds the capacity, the
 * slots or the data.
 */
static inline bool scu_whole_run(const struct scu_expand *x, uint64_t i, uint64_t *from, uint64_t *length)
{
	const uint64_t c = x->count[i] & -(x->mask[i / 64] >> (i % 64) & 1);

	*from = x->index[i];
	*length = c;
	return !c || (c <= x->space - x->m && c <= x->max - x->used && *from < x->limit &&
		      c <= x->limit - *from);
}

#endif
