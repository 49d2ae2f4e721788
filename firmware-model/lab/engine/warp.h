/* SPDX-License-Identifier: MIT */
/*
 * The warp language: a kernel is a C function over vectors of 32 lanes.
 *
 *	static void pull(struct lab_warp *w, const void *p)
 *	{
 *		const struct pull_args *a = p;
 *		lab_u32 v = lab_thread(w), k, end, c;
 *
 *		LAB_IF(w, lab_lt(v, lab_all(a->n))) {
 *			k = lab_load32(w, ROW_V, &a->row, v);
 *			end = lab_load32(w, ROW_V1, &a->row, v + 1);
 *			lab_wait(w);
 *			LAB_WHILE(w, lab_lt(k, end)) {
 *				c = lab_load32(w, COL, &a->col, k);
 *				lab_wait(w);
 *				...
 *				k += 1;
 *			}
 *		}
 *	}
 *
 * Arithmetic uses the compiler's vector types and applies to all lanes. Operations with side
 * effects (memory, LAB_IF, LAB_WHILE) apply to the active lanes, w->mask. Lanes reconverge at the
 * end of the statement: in a loop, lanes that have left wait for the others.
 *
 * A load returns its value at once and is then in flight in the timing model. lab_wait() marks the
 * first use: it stalls the warp until the load has completed. Loads before one lab_wait() overlap,
 * as with a scoreboard. Results therefore depend on the order in which warps run, never on latency.
 *
 * A memory operation counts as one instruction; lab_alu(w, n) adds n for the active lanes.
 */
#ifndef GTU_LAB_WARP_H
#define GTU_LAB_WARP_H

#include <string.h>

#include "lab.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef uint32_t lab_u32 __attribute__((vector_size(128)));
typedef int32_t lab_i32 __attribute__((vector_size(128)));
typedef float lab_f32 __attribute__((vector_size(128)));
typedef uint64_t lab_u64 __attribute__((vector_size(256)));
typedef uint32_t lab_mask;		/* one bit per lane */

/* Functions that pass such vectors are inlined: the ABI does not matter (-Wno-psabi). */
#define LAB_INLINE static inline __attribute__((always_inline))
#define LAB_OPS 4 /* memory operations in flight between two waits; one more stalls the warp */

/* Scoreboard entries: what a warp can wait for. */
enum lab_board { LAB_LOADS, LAB_ATOMICS, LAB_ANSWERS, LAB_BOARDS };

struct lab_op {
	uint64_t base;			/* address of element 0 */
	lab_mask mask;
	uint16_t statement;
	uint8_t kind, width_log2, space;
	uint8_t board;			/* enum lab_board; LAB_BOARDS: the warp does not wait */
};

struct lab_warp {
	/* read by programs */
	lab_mask mask;			/* active lanes; LAB_IF and LAB_WHILE narrow it */
	uint32_t id;			/* handle, constant while the warp is resident */
	uint32_t in_block, block_warps;	/* warp index in its block; warps per block */
	uint32_t sm;
	uint64_t block, grid;
	uint8_t *shared;		/* of the thread block */
	uint32_t shared_bytes;

	/* language state */
	/* buffer for passing vectors; shared by all warps, so that it stays in the host's L1 */
	lab_u64 *value;
	/* inactive lanes: returned, broke out of this loop, or continued */
	lab_mask exited, broke, skipped;
	uint32_t ops;
	uint32_t alu_first, alu; /* instructions before the first memory operation, and after it */
	uint32_t extra;			/* cycles of shared memory accesses */
	uint64_t threads;		/* thread instructions since the last resume */

	/* scheduler state */
	struct lab *lab;
	void *sp;			/* saved stack pointer */
	uint8_t state, waiting;		/* waiting: bits of enum lab_board */
	bool asleep;			/* stalled, with no wake-up event scheduled */
	/* operations that the LSU has not taken yet, and the next of these */
	uint8_t queued, op_next;
	uint8_t slot, scheduler;	/* in its SM */
	uint16_t block_slot;
	uint32_t age;
	uint32_t pending[LAB_BOARDS];
	uint64_t done[LAB_BOARDS];	/* latest known completion cycle */
	uint64_t loads;			/* the SM's slots that its loads occupy, if these are limited */
	uint64_t not_before;
	uint64_t op_due;		/* sm.policy = barrel: cycle of its next memory operation */
	uint32_t spacing;		/* and cycles from an instruction to the next one; 0: the LSU takes all at once */
	void *answer;
	uint32_t answer_bytes;
	void *asan_stack;

	/* operations in flight, and their lanes' indices */
	struct lab_op op[LAB_OPS];
	lab_u32 index[LAB_OPS];
};

LAB_INLINE unsigned lab_popcount(uint32_t x)
{
#ifdef __POPCNT__
	return (unsigned)__builtin_popcount(x);
#else /* without that instruction, the compiler's builtin is a library call */
	x -= x >> 1 & 0x55555555u;
	x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
	return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
#endif
}

/*
 * Compile a kernel's program for several instruction sets. Additions are never contracted, so that
 * all versions compute the same results.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define LAB_PROGRAM __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define LAB_PROGRAM
#endif

/* The initializer of a kernel; @names: of its statements. */
#define LAB_KERNEL(program, names, bytes)                                                          \
	{ .name = #program, .warp = program, .statement = names, .statements = sizeof(names) / sizeof(*(names)), .shared = bytes }

/* ---- Lanes ------------------------------------------------------------------------------------- */

/*
 * Compilers split arithmetic on vectors wider than the processor's, but scalarize comparisons,
 * conversions and shifts. These are written here in pieces of four lanes.
 */
typedef uint32_t lab_q4 __attribute__((vector_size(16)));
typedef int32_t lab_i4 __attribute__((vector_size(16)));
typedef float lab_f4 __attribute__((vector_size(16)));
#define LAB_PIECES 8
#define LAB_EACH_PIECE(i) _Pragma("GCC unroll 8") for (unsigned i = 0; i < LAB_PIECES; i++)

LAB_INLINE lab_u32 lab_all(uint32_t x)
{
	lab_q4 q[LAB_PIECES];
	lab_u32 v;

	LAB_EACH_PIECE(i)
		q[i] = (lab_q4){ x, x, x, x };
	memcpy(&v, q, sizeof(v));
	return v;
}
LAB_INLINE lab_f32 lab_all_f32(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, 4);
	return (lab_f32)lab_all(bits);
}
LAB_INLINE lab_u32 lab_lane(void)
{
	return (lab_u32){ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
			  22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };
}
/* blockIdx.x * blockDim.x + threadIdx.x */
LAB_INLINE lab_u32 lab_thread(const struct lab_warp *w)
{
	return lab_lane() + (uint32_t)((w->block * w->block_warps + w->in_block) * LAB_LANES);
}

/* A comparison's result (all ones or zero per lane) as a lane mask. */
LAB_INLINE lab_mask lab_bits(const lab_i4 *v)
{
#ifdef __SSE2__
	const __m128i *q = (const __m128i *)v;
	__m128i lo = _mm_packs_epi16(_mm_packs_epi32(q[0], q[1]), _mm_packs_epi32(q[2], q[3]));
	__m128i hi = _mm_packs_epi16(_mm_packs_epi32(q[4], q[5]), _mm_packs_epi32(q[6], q[7]));

	return (uint32_t)_mm_movemask_epi8(lo) | (uint32_t)_mm_movemask_epi8(hi) << 16;
#else
	lab_mask m = 0;
	unsigned i;

	for (i = 0; i < LAB_LANES; i++)
		m |= (lab_mask)(v[i / 4][i % 4] & 1) << i;
	return m;
#endif
}
#define LAB_COMPARISON(name, type, piece, operator)                                                \
	LAB_INLINE lab_mask name(type a, type b)                                                   \
	{                                                                                          \
		piece x[LAB_PIECES], y[LAB_PIECES];                                                \
		lab_i4 r[LAB_PIECES];                                                              \
                                                                                                   \
		memcpy(x, &a, sizeof(x));                                                          \
		memcpy(y, &b, sizeof(y));                                                          \
		LAB_EACH_PIECE(i)                                                                  \
			r[i] = x[i] operator y[i];                                                 \
		return lab_bits(r);                                                                \
	}
LAB_COMPARISON(lab_eq, lab_u32, lab_q4, ==)
LAB_COMPARISON(lab_ne, lab_u32, lab_q4, !=)
LAB_COMPARISON(lab_ge, lab_u32, lab_q4, >=)
LAB_COMPARISON(lab_lt, lab_u32, lab_q4, <)
LAB_COMPARISON(lab_lt_f32, lab_f32, lab_f4, <)
/* All ones in the lanes of @m, zero elsewhere. */
LAB_INLINE lab_u32 lab_lanes_of(lab_mask m)
{
	lab_q4 q[LAB_PIECES];
	lab_u32 v;

	LAB_EACH_PIECE(i) {
		const lab_q4 bit = { 1u << (4 * i), 2u << (4 * i), 4u << (4 * i), 8u << (4 * i) };

		q[i] = (lab_q4)(((lab_q4){ m, m, m, m } & bit) == bit);
	}
	memcpy(&v, q, sizeof(v));
	return v;
}
/* @a in the lanes of @m, @b elsewhere. */
LAB_INLINE lab_u32 lab_select(lab_mask m, lab_u32 a, lab_u32 b)
{
	lab_u32 k = lab_lanes_of(m);

	return (a & k) | (b & ~k);
}
LAB_INLINE lab_f32 lab_select_f32(lab_mask m, lab_f32 a, lab_f32 b)
{
	return (lab_f32)lab_select(m, (lab_u32)a, (lab_u32)b);
}
/* Values must be below 2^31. */
LAB_INLINE lab_f32 lab_to_f32(lab_u32 a)
{
	lab_i4 q[LAB_PIECES];
	lab_f4 f[LAB_PIECES];
	lab_f32 v;

	memcpy(q, &a, sizeof(q));
	LAB_EACH_PIECE(i)
		f[i] = __builtin_convertvector(q[i], lab_f4);
	memcpy(&v, f, sizeof(v));
	return v;
}
/* The low halves of 64-bit values. */
LAB_INLINE lab_u32 lab_low(lab_u64 a)
{
	lab_u32 r;
	unsigned i;

	for (i = 0; i < LAB_LANES; i++)
		r[i] = (uint32_t)a[i];
	return r;
}
/* Number of active lanes below each lane: the warp's exclusive prefix sum of ones. */
LAB_INLINE lab_u32 lab_rank(lab_mask m)
{
	lab_u32 r;
	unsigned i;

	for (i = 0; i < LAB_LANES; i++)
		r[i] = lab_popcount(m & ((1u << i) - 1));
	return r;
}

/* ---- Control flow ---------------------------------------------------------------------------- */

LAB_INLINE lab_mask lab_on(const struct lab_warp *w, lab_mask m)
{
	return m & ~(w->exited | w->broke | w->skipped);
}

/* Count @n non-memory instructions of the active lanes. */
LAB_INLINE void lab_alu(struct lab_warp *w, uint32_t n)
{
	if (!w->mask)
		return;
	if (w->ops)
		w->alu += n;
	else
		w->alu_first += n;
	w->threads += (uint64_t)n * (uint32_t)lab_popcount(w->mask);
}

/*
 * Run the next statement for the lanes of @cond, if any. For an else branch, with c known before:
 * LAB_IF(w, c) {...} LAB_IF(w, ~c) {...}
 */
#define LAB_IF(w, cond)                                                                            \
	for (lab_mask lab_was_ = (w)->mask, lab_todo_ = ((w)->mask = lab_was_ & (cond)) != 0;      \
	     lab_todo_ || ((w)->mask = lab_on((w), lab_was_), 0); lab_todo_ = 0)

/* Loop while any lane's condition holds; lanes whose condition is false wait at the end. */
#define LAB_WHILE(w, cond)                                                                         \
	for (struct lab_loop lab_loop_ = lab_loop_begin(w);                                        \
	     lab_loop_next((w), &lab_loop_) && ((w)->mask &= (cond)) != 0 ? 1 :                    \
	     (lab_loop_end((w), &lab_loop_), 0);                                                   \
	     lab_loop_.mask = (w)->mask | (w)->skipped)

struct lab_loop {
	lab_mask was, mask, broke, skipped;
};
LAB_INLINE struct lab_loop lab_loop_begin(struct lab_warp *w)
{
	struct lab_loop l = { w->mask, w->mask, w->broke, w->skipped };

	w->broke = 0;
	w->skipped = 0;
	return l;
}
LAB_INLINE bool lab_loop_next(struct lab_warp *w, const struct lab_loop *l)
{
	w->skipped = 0;
	w->mask = l->mask & ~(w->exited | w->broke);
	return w->mask != 0;
}
LAB_INLINE void lab_loop_end(struct lab_warp *w, const struct lab_loop *l)
{
	w->broke = l->broke;
	w->skipped = l->skipped;
	w->mask = lab_on(w, l->was);
}
/* The active lanes break out of the innermost loop, continue with its next iteration, or return. */
LAB_INLINE void lab_break(struct lab_warp *w)
{
	w->broke |= w->mask;
	w->mask = 0;
}
LAB_INLINE void lab_continue(struct lab_warp *w)
{
	w->skipped |= w->mask;
	w->mask = 0;
}
LAB_INLINE void lab_return(struct lab_warp *w)
{
	w->exited |= w->mask;
	w->mask = 0;
}

/* Stall until all loads (and atomics with a result) have completed. */
void lab_wait_for(struct lab_warp *w, unsigned boards);
LAB_INLINE void lab_wait(struct lab_warp *w)
{
	lab_wait_for(w, 1u << LAB_LOADS);
}
/* Stall until all warps of the block have arrived. */
void lab_barrier(struct lab_warp *w);
/* End the launch in this cycle: lab_run() returns 0 with requests in flight (lab_stopped()). */
void lab_stop(struct lab_warp *w);
/* End the launch with GTU_ERR_FAIL and this message; does not return. */
void lab_fault(struct lab_warp *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* ---- Memory: element @index of an array, for the active lanes ----------------------------------- */

/*
 * @index may be lab_index_slot(w), the operation's own buffer. A program's stack is one of a
 * thousand and seldom in the host's L1, so every vector kept off it saves time.
 */
void lab_do_load32(struct lab_warp *w, unsigned s, const struct lab_array *a, const lab_u32 *index,
		   lab_u32 *value);
void lab_do_load64(struct lab_warp *w, unsigned s, const struct lab_array *a, const lab_u32 *index,
		   lab_u64 *value);
void lab_do_store32(struct lab_warp *w, unsigned s, const struct lab_array *a, const lab_u32 *index,
		    const lab_u32 *value);
enum lab_atomic { LAB_ADD_U32, LAB_ADD_F32, LAB_MIN_U32, LAB_MAX_U32, LAB_CAS_U32 };
/* @old NULL: the result is unused; the warp waits for it only before its next such atomic. */
void lab_do_atomic(struct lab_warp *w, unsigned s, const struct lab_array *a, enum lab_atomic op,
		   const lab_u32 *index, const lab_u32 *value, const lab_u32 *compare, lab_u32 *old);

/* Index buffer of the next operation. At least one lane must be active. */
LAB_INLINE lab_u32 *lab_index_slot(struct lab_warp *w)
{
	if (w->ops == LAB_OPS)
		lab_wait_for(w, 0);
	return &w->index[w->ops];
}

/* Stall until an atomic without a result may be issued; lab_do_atomic() calls it. */
void lab_atomic_ready(struct lab_warp *w);

/* Inactive lanes return zero. */
LAB_INLINE lab_u32 lab_load32(struct lab_warp *w, unsigned statement, const struct lab_array *a,
			      lab_u32 index)
{
	lab_u32 *slot;

	if (!w->mask)
		return lab_all(0);
	slot = lab_index_slot(w);
	*slot = index;
	lab_do_load32(w, statement, a, slot, (lab_u32 *)w->value);
	return *(lab_u32 *)w->value;
}
LAB_INLINE lab_f32 lab_load_f32(struct lab_warp *w, unsigned statement, const struct lab_array *a,
				lab_u32 index)
{
	return (lab_f32)lab_load32(w, statement, a, index);
}
LAB_INLINE lab_u64 lab_load64(struct lab_warp *w, unsigned statement, const struct lab_array *a,
			      lab_u32 index)
{
	lab_u32 *slot;

	if (!w->mask)
		return (lab_u64){ 0 };
	slot = lab_index_slot(w);
	*slot = index;
	lab_do_load64(w, statement, a, slot, w->value);
	return *w->value;
}
/* If several lanes store to one word, the highest lane's value is kept. */
LAB_INLINE void lab_store32(struct lab_warp *w, unsigned statement, const struct lab_array *a,
			    lab_u32 index, lab_u32 value)
{
	lab_u32 *slot;

	if (!w->mask)
		return;
	slot = lab_index_slot(w);
	*slot = index;
	*(lab_u32 *)w->value = value;
	lab_do_store32(w, statement, a, slot, (lab_u32 *)w->value);
}
LAB_INLINE void lab_store_f32(struct lab_warp *w, unsigned statement, const struct lab_array *a,
			      lab_u32 index, lab_f32 value)
{
	lab_store32(w, statement, a, index, (lab_u32)value);
}
/* Lanes are added in ascending order. */
LAB_INLINE void lab_atomic_add_f32(struct lab_warp *w, unsigned statement, const struct lab_array *a,
				   lab_u32 index, lab_f32 value)
{
	lab_u32 *slot;

	if (!w->mask)
		return;
	lab_atomic_ready(w);
	slot = lab_index_slot(w);
	*slot = index;
	*(lab_u32 *)w->value = (lab_u32)value;
	lab_do_atomic(w, statement, a, LAB_ADD_F32, slot, (lab_u32 *)w->value, NULL, NULL);
}
/* Returns the old values; call lab_wait() before using them. */
LAB_INLINE lab_u32 lab_atomic(struct lab_warp *w, unsigned statement, const struct lab_array *a,
			      enum lab_atomic op, lab_u32 index, lab_u32 value)
{
	lab_u32 old;

	lab_do_atomic(w, statement, a, op, &index, &value, NULL, &old);
	return old;
}
LAB_INLINE lab_u32 lab_atomic_cas(struct lab_warp *w, unsigned statement, const struct lab_array *a,
				  lab_u32 index, lab_u32 compare, lab_u32 value)
{
	lab_u32 old;

	lab_do_atomic(w, statement, a, LAB_CAS_U32, &index, &value, &compare, &old);
	return old;
}

/* Word @index of the block's shared memory. Latency grows with conflicts over 32 banks. */
void *lab_shared_words(struct lab_warp *w, const lab_u32 *index);
LAB_INLINE lab_u32 lab_shared_load(struct lab_warp *w, lab_u32 index)
{
	const uint32_t *word = lab_shared_words(w, &index);
	lab_u32 value = { 0 };
	lab_mask m;

	for (m = w->mask; m; m &= m - 1)
		value[__builtin_ctz(m)] = word[index[__builtin_ctz(m)]];
	return value;
}
LAB_INLINE void lab_shared_store(struct lab_warp *w, lab_u32 index, lab_u32 value)
{
	uint32_t *word = lab_shared_words(w, &index);
	lab_mask m;

	for (m = w->mask; m; m &= m - 1)
		word[index[__builtin_ctz(m)]] = value[__builtin_ctz(m)];
}

/* A reply in its packed form: a lane mask, then 32 words per field. */
struct lab_fields {
	uint32_t mask, field[3][LAB_LANES];
};
#define LAB_FIELDS_BYTES(fields) ((uint32_t)(4 + 4 * LAB_LANES * (fields)))

/*
 * Send @value to unit @unit at @at (SM, port or partition number) and stall until it has replied.
 * The reply, at most @answer_bytes, is copied to @answer.
 */
void lab_unit_request(struct lab_warp *w, int unit, unsigned at, uint64_t value, void *answer,
		  uint32_t answer_bytes);

#endif
