/* SPDX-License-Identifier: MIT */
/*
 * The SCU's loops, a template included once per instruction set. The includer defines
 *
 *	SCU_ISA		name, of struct scu_kernels and of the table gtu_scu_SCU_ISA
 *	TARGET		the function attribute
 *	VECTOR		bytes of a vector register
 *	COPY64(to, from)	copies 64 bytes
 *	WIDEN(x, type)	converts a vector of 4-byte elements to 8-byte elements
 *	STREAM(to, from)	copies a vector with non-temporal stores; not defined: memcpy() does
 *	LANES(bytes), EQUAL4(set, id), EQUAL8(set, id)	compare so many elements with an id and give a bit mask
 *	FIRST_BEYOND	defined if the includer defines first_beyond4() and first_beyond8()
 *
 * and compact1() to compact8() and compare1() to compare8(). The host can write anything to the filter table, so a
 * way read from it is masked to 0..15 and no other value is used as an address.
 */

/* ---- Filtering --------------------------------------------------------------------------------- */

#define PROBE_AHEAD 16u		/* sets fetched ahead: they come from L2 at best */

/* Bit mask of the ways of a set that hold @id. */
#define MATCH(name, type, equal)                                                                   \
	TARGET static inline unsigned name(const uint8_t *set, type id)                            \
	{                                                                                          \
		unsigned i, hit = 0;                                                               \
												   \
		for (i = 0; i < SCU_WAYS; i += LANES(sizeof(type)))                                \
			hit |= (unsigned)equal(set + i * sizeof(type), id) << i;                   \
		return hit;                                                                        \
	}
MATCH(match4, uint32_t, EQUAL4)
MATCH(match8, uint64_t, EQUAL8)

/* Compare costs as C does. */
TARGET static inline bool probe_cheaper(const struct scu_sets *t, const uint8_t *a, const uint8_t *b)
{
#define CHEAPER(a, b, bits_, real)                                                                 \
	switch (t->type) {                                                                         \
	case GTU_TYPE_UNSIGNED:                                                                    \
		return *(const scu_u##bits_ *)a < *(const scu_u##bits_ *)b;                        \
	case GTU_TYPE_SIGNED:                                                                      \
		return (int##bits_##_t)*(const scu_u##bits_ *)a < (int##bits_##_t)*(const scu_u##bits_ *)b; \
	default:                                                                                   \
		return *(const real *)a < *(const real *)b;                                        \
	}
	if (t->cost_log2 == 2)
		CHEAPER(a, b, 32, scu_f32)
	CHEAPER(a, b, 64, scu_f64)
}

/*
 * Probe one set with an id, and insert it. State byte: bits 0..3 are the next way to fill, and bit 7 is set when
 * all 16 ways are valid. Until then the valid ways are those below the next one.
 */
TARGET static inline __attribute__((always_inline)) bool
probe(struct scu_sets *t, uint32_t index, const uint8_t *id, const uint8_t *cost, unsigned id_log2)
{
	uint8_t *set = t->set + (uint64_t)index * t->set_bytes;
	uint8_t *costs = set + (SCU_WAYS << id_log2);
	const unsigned state = *(volatile uint8_t *)&t->state[index], next = state & 15;
	const unsigned valid = state & 0x80 ? 0xffff : (1u << next) - 1;
	unsigned hit;

	hit = (id_log2 == 2 ? match4(set, *(const scu_u32 *)id)
			    : match8(set, *(const scu_u64 *)id)) & valid;
	if (hit) {
		if (!t->cost_log2)
			return false;
		costs += __builtin_ctz(hit) << t->cost_log2;
		if (!probe_cheaper(t, cost, costs))
			return false;
		memcpy(costs, cost, 1u << t->cost_log2);
		return true;
	}
	t->evictions += state >> 7;
	if (id_log2 == 2)
		((scu_u32 *)set)[next] = *(const scu_u32 *)id;
	else
		((scu_u64 *)set)[next] = *(const scu_u64 *)id;
	if (t->cost_log2)
		memcpy(costs + (next << t->cost_log2), cost, 1u << t->cost_log2);
	t->state[index] = (state & 0x80) | (next == 15 ? 0x80 : next + 1);
	return true;
}

TARGET static inline __attribute__((always_inline)) void
probe_fetch(const struct scu_sets *t, uint32_t index)
{
	const uint8_t *set = t->set + (uint64_t)index * t->set_bytes;

	__builtin_prefetch(set, 1);
	if (t->set_bytes > 64)
		__builtin_prefetch(set + t->set_bytes - 64, 1);
	__builtin_prefetch(&t->state[index], 1);
}

TARGET static inline __attribute__((always_inline)) void
probe_all(struct scu_sets *t, const uint8_t *ids, const uint8_t *costs, size_t n, uint64_t *keep,
	  unsigned id_log2)
{
	uint32_t ring[PROBE_AHEAD];
	uint64_t word = 0;
	size_t i;

#define PROBE_HASH(i) scu_hash(id_log2 == 2 ? ((const scu_u32 *)ids)[i] : ((const scu_u64 *)ids)[i], t->log2)
	for (i = 0; i < PROBE_AHEAD && i < n; i++) {
		ring[i] = PROBE_HASH(i);
		probe_fetch(t, ring[i]);
	}
	for (i = 0; i < n; i++) {
		const uint32_t index = ring[i % PROBE_AHEAD];

		if (i + PROBE_AHEAD < n) {
			ring[i % PROBE_AHEAD] = PROBE_HASH(i + PROBE_AHEAD);
			probe_fetch(t, ring[i % PROBE_AHEAD]);
		}
		word |= (uint64_t)probe(t, index, ids + (i << id_log2), costs + (i << t->cost_log2),
					id_log2) << (i % 64);
		if (i % 64 == 63) {
			keep[i / 64] = word;
			word = 0;
		}
	}
	if (n % 64)
		keep[n / 64] = word;
#undef PROBE_HASH
}

TARGET static void filter4(struct scu_sets *t, const void *ids, const void *costs, size_t n, uint64_t *keep)
{
	probe_all(t, ids, costs ? costs : ids, n, keep, 2);
}

TARGET static void filter8(struct scu_sets *t, const void *ids, const void *costs, size_t n, uint64_t *keep)
{
	probe_all(t, ids, costs ? costs : ids, n, keep, 3);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

TARGET static void copy_runs(void *to, const void *base, uint64_t bytes, unsigned log2,
			     const struct scu_segment *g, size_t n)
{
	const uint8_t *in = base;
	uint8_t *out = to;
	size_t i, b;

	for (i = 0; i < n; i++, g++) {
		const uint64_t at = g->from << log2, length = (uint64_t)g->length << log2;
		uint8_t *p = out + ((size_t)g->first << log2);

		if (i + SCU_FETCH_AHEAD < n) {
			const struct scu_segment *a = g + SCU_FETCH_AHEAD;

			__builtin_prefetch(in + (a->from << log2));
			__builtin_prefetch(in + ((a->from + a->length) << log2) - 1);
		}
		if (bytes - at < length + 64)
			memcpy(p, in + at, length);
		else
			for (b = 0; b < length; b += 64)
				COPY64(p + b, in + at + b);
	}
}

TARGET static void expand(struct scu_expand *state)
{
	struct scu_expand x = *state;
	const uint64_t bytes = x.limit << x.log2;
	uint64_t from, n, b;

	for (; x.at < x.end && x.used < x.max && scu_whole_run(&x, x.at, &from, &n); x.at++) {
		uint8_t *p = x.to + (x.m << x.log2);
		const uint8_t *in;

		if (x.at + SCU_FETCH_AHEAD < x.end && x.index[x.at + SCU_FETCH_AHEAD] < x.limit) {
			const uint8_t *a = x.base + (x.index[x.at + SCU_FETCH_AHEAD] << x.log2);

			__builtin_prefetch(a);
			__builtin_prefetch(a + 63);
		}
		x.m += n;
		x.used += n + !n;
		n <<= x.log2;
		if (!n)
			continue;	/* its index is not checked */
		in = x.base + (from << x.log2);
		if (bytes - (from << x.log2) < n + 64)
			memcpy(p, in, n);
		else
			for (b = 0; b < n; b += 64)
				COPY64(p + b, in + b);
	}
	state->at = x.at;
	state->m = x.m;
	state->used = x.used;
}

#define FILL(name, type)                                                                           \
	TARGET static void name(void *to, const void *from, uint64_t first,                        \
				const struct scu_segment *g, size_t n)                             \
	{                                                                                          \
		typedef type vector __attribute__((vector_size(VECTOR), aligned(1), may_alias));   \
		const type *in = from;                                                             \
		size_t i, j;                                                                       \
												   \
		for (i = 0; i < n; i++, g++) {                                                     \
			const vector x = (vector){ 0 } + (type)in[g->element - first];             \
			type *out = (type *)to + g->first;                                         \
												   \
			for (j = 0; j < g->length; j += VECTOR / sizeof(type))                     \
				*(vector *)(out + j) = x;                                          \
		}                                                                                  \
	}
FILL(fill1, uint8_t)
FILL(fill2, scu_u16)
FILL(fill4, scu_u32)
FILL(fill8, scu_u64)

/* ---- The rest -------------------------------------------------------------------------------- */

#ifndef FIRST_BEYOND
/* Test eight at a time without branches, then find the first one beyond the limit. */
#define BEYOND(name, type)                                                                         \
	TARGET static size_t name(const void *index, size_t n, uint64_t limit)                     \
	{                                                                                          \
		const type *x = index;                                                             \
		size_t i, j;                                                                       \
												   \
		for (i = 0; i + 8 <= n; i += 8) {                                                  \
			bool beyond = false;                                                       \
												   \
			_Pragma("GCC unroll 8")                                                    \
			for (j = i; j < i + 8; j++)                                                \
				beyond |= x[j] >= limit;                                           \
			if (beyond)                                                                \
				break;                                                             \
		}                                                                                  \
		while (i < n && x[i] < limit)                                                      \
			i++;                                                                       \
		return i;                                                                          \
	}
BEYOND(first_beyond4, scu_u32)
BEYOND(first_beyond8, scu_u64)
#endif

TARGET static void widen(uint64_t *to, const uint32_t *from, size_t n)
{
	typedef uint32_t narrow __attribute__((vector_size(VECTOR / 2), aligned(1), may_alias));
	typedef uint64_t wide __attribute__((vector_size(VECTOR), aligned(1), may_alias));
	size_t i;

	for (i = 0; i + VECTOR / 8 <= n; i += VECTOR / 8)
		*(wide *)(to + i) = WIDEN(*(const narrow *)(from + i), wide);
	for (; i < n; i++)
		to[i] = from[i];
}

TARGET static size_t count(const uint64_t *bits, size_t words)
{
	size_t i, sum = 0;

	for (i = 0; i < words; i++)
		sum += (size_t)__builtin_popcountll(bits[i]);
	return sum;
}

TARGET static void stream(void *to, const void *from, size_t bytes)
{
#ifdef STREAM
	const uint8_t *in = from;
	uint8_t *out = to;

	for (; bytes; bytes -= VECTOR, in += VECTOR, out += VECTOR)
		STREAM(out, in);
#else
	memcpy(to, from, bytes);
#endif
}

static void fence(void)
{
#ifdef STREAM
	_mm_sfence();
#endif
}

TARGET static unsigned match_tags(const void *tags, uint64_t tag)
{
	return match8(tags, tag);
}

#define NAME_(isa) gtu_scu_##isa
#define NAME(isa) NAME_(isa)
#define STRING_(isa) #isa
#define STRING(isa) STRING_(isa)
const struct scu_kernels NAME(SCU_ISA) = {
	.isa = STRING(SCU_ISA),
	.compact = { compact1, compact2, compact4, compact8 },
	.widen = widen,
	.count = count,
	.compare = { compare1, compare2, compare4, compare8 },
	.copy_runs = copy_runs,
	.expand = expand,
	.fill_runs = { fill1, fill2, fill4, fill8 },
	.first_beyond = { first_beyond4, first_beyond8 },
	.stream = stream,
	.fence = fence,
	.filter = { filter4, filter8 },
	.match_tags = match_tags,
};
