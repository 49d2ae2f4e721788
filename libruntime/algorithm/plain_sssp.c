// SPDX-License-Identifier: MIT
/*
 * Single-source shortest paths on all CPUs by delta-stepping (Meyer, Sanders: Delta-stepping: a
 * parallelizable shortest path algorithm, J. Algorithms 2003). Every thread has its own buckets. A
 * round relaxes the edges of the lowest bucket of all threads; a thread then goes on with what it put
 * into that bucket as long as that is little, which saves rounds on graphs with long paths (bucket
 * fusion: Zhang et al., Optimizing ordered graph algorithms with GraphIt, CGO 2020).
 *
 * A thread has BUCKETS of them from a base on; what lies beyond goes to the far bucket, which is
 * distributed when the others are empty. So any delta works.
 */
#include <string.h>

#include "plain.h"

#define LEAST	64u			/* entries per share */
#define BUCKETS	512u
#define FUSED	1024u			/* entries up to which a thread goes on alone */
#define FAR_AHEAD  8u			/* entries */
#define NEAR_AHEAD 4u
#define SPARE	8u			/* arrays that a thread keeps for its next buckets */

#define PER_TYPE static inline __attribute__((always_inline))

/*
 * Vertices with the distances at which they entered. An entry is stale if the distance has been
 * lowered since: then a later entry has it.
 */
struct bucket {
	uint64_t n, capacity;
	void *entry;			/* {distance << 32 | vertex} if both have 4 bytes, else struct wide */
};

struct wide {
	uint64_t v, distance;
};

struct worker {
	struct bucket bucket[BUCKETS], far;
	struct bucket now;		/* its part of the current round; all threads read it */
	struct bucket fused;		/* what it goes on with */
	struct bucket spare[SPARE];	/* empty arrays of past buckets: in the CPU's caches, and without page faults */
	unsigned spares;
};

struct paths {
	struct gtu_plain *p;
	const struct gtu_plain_paths *s;
	double scale;			/* buckets per distance */
	void *distance;
	double *result;
	uint64_t base, bucket;		/* the first one of the arrays; the current one */
	uint64_t entries;		/* of this round */
	struct worker *worker;		/* one per thread */
	atomic_bool too_narrow, no_memory;
	atomic_uint_fast64_t reached;
};

PER_TYPE uint64_t load(const struct paths *s, uint64_t v, enum distance_type type)
{
	return distance_width(type) == 8 ? __atomic_load_n((uint64_t *)s->distance + v, __ATOMIC_RELAXED) :
					   __atomic_load_n((uint32_t *)s->distance + v, __ATOMIC_RELAXED);
}

/* Lower the distance of @v to @to; false if it is not greater. */
PER_TYPE bool lower(struct paths *s, uint64_t v, uint64_t to, enum distance_type type, bool alone)
{
	uint64_t was = load(s, v, type);
	uint32_t narrow = (uint32_t)was;

	if (gtu_likely(to >= was))
		return false;
	if (alone) {
		gtu_put(s->distance, distance_width(type), v, to);
		return true;
	}
	if (distance_width(type) == 8) {
		while (to < was)
			if (__atomic_compare_exchange_n((uint64_t *)s->distance + v, &was, to, true, __ATOMIC_RELAXED,
							__ATOMIC_RELAXED))
				return true;
		return false;
	}
	while (to < narrow)
		if (__atomic_compare_exchange_n((uint32_t *)s->distance + v, &narrow, (uint32_t)to, true,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	return false;
}

/* Bucket of a distance: monotone, including rounding. */
PER_TYPE uint64_t bucket_of(const struct paths *s, uint64_t bits, enum distance_type type)
{
	double at = (type == DISTANCE_F32 ? (double)bits_f32(bits) : type == DISTANCE_F64 ? bits_f64(bits) :
		     (double)bits) * s->scale;

	return at < 0x1p62 ? (uint64_t)at : 1ull << 62;
}

PER_TYPE bool packs(enum distance_type type, uint32_t width)
{
	return width == 4 && distance_width(type) == 4;
}

static int grow(struct paths *s, struct worker *w, struct bucket *b, uint64_t bytes)
{
	const uint64_t capacity = b->capacity ? 2 * b->capacity : 256;
	void *entry;

	if (!b->capacity && w->spares) {
		*b = w->spare[--w->spares];
		return 0;
	}
	entry = realloc(b->entry, capacity * bytes);
	if (!entry) {
		atomic_store(&s->no_memory, true);
		return GTU_ERR_NOMEM;
	}
	b->entry = entry;
	b->capacity = capacity;
	return 0;
}

PER_TYPE int put(struct paths *s, struct worker *w, struct bucket *b, uint64_t v, uint64_t bits,
		 enum distance_type type, uint32_t width)
{
	if (gtu_unlikely(b->n == b->capacity) && grow(s, w, b, packs(type, width) ? 8 : sizeof(struct wide)))
		return GTU_ERR_NOMEM;
	if (packs(type, width))
		((uint64_t *)b->entry)[b->n++] = bits << 32 | v;
	else
		((struct wide *)b->entry)[b->n++] = (struct wide){ v, bits };
	return 0;
}

PER_TYPE struct wide entry_of(const struct bucket *b, uint64_t i, enum distance_type type, uint32_t width)
{
	const uint64_t *packed = b->entry;

	if (packs(type, width))
		return (struct wide){ (uint32_t)packed[i], packed[i] >> 32 };
	return ((const struct wide *)b->entry)[i];
}

/* Put @v, at distance @bits, into its bucket. */
PER_TYPE int put_by(struct paths *s, struct worker *w, uint64_t v, uint64_t bits, enum distance_type type,
		    uint32_t width)
{
	const uint64_t k = bucket_of(s, bits, type);

	return put(s, w, k - s->base < BUCKETS ? &w->bucket[k - s->base] : &w->far, v, bits, type, width);
}

PER_TYPE int relax(struct paths *s, struct worker *w, struct wide entry, uint64_t *traversed, enum distance_type type,
		   uint32_t width)
{
	struct gtu_plain *p = s->p;
	const struct gtu_graph *g = p->a->g;
	const bool alone = gtu_plain_alone(p);
	const uint64_t v = entry.v, from = entry.distance;
	uint64_t e, end, target, to;
	int rc;

	if (load(s, v, type) != from || gtu_unlikely(v < p->a->first || v >= p->a->end))
		return 0;
	if (type == DISTANCE_U32 && gtu_unlikely(from > s->s->expand_limit)) {
		atomic_store(&s->too_narrow, true);
		return 0;
	}
	rc = gtu_plain_edges(p, g, v, &e, &end);
	if (rc)
		return rc;
	*traversed += end - e;
	for (; e < end; e++) {
		target = gtu_get(g->col, width, e);
		if (gtu_unlikely(target >= g->n))
			return gtu_plain_bad(&p->bad_edge, e);
		to = distance_add(type, from, g->weight, e);
		if (!lower(s, target, to, type, alone))
			continue;
		rc = put_by(s, w, target, to, type, width);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Start to load what relax() needs of the entries behind entry @i of @b: distances and rows, then edges.
 * On road networks, nearly all time would be waiting for them.
 */
PER_TYPE void look_ahead(const struct paths *s, const struct bucket *b, uint64_t i, enum distance_type type,
			 uint32_t width)
{
	const struct gtu_graph *g = s->p->a->g;
	uint64_t v, e;

	if (i + FAR_AHEAD < b->n) {
		v = entry_of(b, i + FAR_AHEAD, type, width).v;
		__builtin_prefetch((const char *)s->distance + v * distance_width(type));
		__builtin_prefetch(&g->row[v]);
	}
	if (i + NEAR_AHEAD < b->n) {
		e = g->row[entry_of(b, i + NEAR_AHEAD, type, width).v];
		__builtin_prefetch((const char *)g->col + e * width);
		__builtin_prefetch((const char *)g->weight + e * (type == DISTANCE_F64 ? 8 : 4));
	}
}

/* Relax the round's entries [@first, @end); if no share is left, go on with the thread's own bucket. */
PER_TYPE int round_of(struct paths *s, unsigned thread, uint64_t first, uint64_t end, enum distance_type type,
		      uint32_t width)
{
	struct worker *w = &s->worker[thread];
	struct bucket *own = &w->bucket[s->bucket - s->base], swap;
	uint64_t i, at = 0, traversed = 0;
	unsigned t = 0;
	int rc = 0;

	for (i = first; i < end && !rc; i++) {
		for (; i - at >= s->worker[t].now.n; t++)
			at += s->worker[t].now.n;
		look_ahead(s, &s->worker[t].now, i - at, type, width);
		rc = relax(s, w, entry_of(&s->worker[t].now, i - at, type, width), &traversed, type, width);
	}
	if (end == s->entries || gtu_team_is_out_of_work(&s->p->team))
		while (!rc && own->n && own->n < FUSED) {
			swap = *own;
			*own = w->fused;
			w->fused = swap;
			own->n = 0;
			for (i = 0; i < swap.n && !rc; i++) {
				look_ahead(s, &swap, i, type, width);
				rc = relax(s, w, entry_of(&swap, i, type, width), &traversed, type, width);
			}
			if (!rc)
				rc = gtu_alg_shares_progress(&s->p->shares, traversed);
			traversed = 0;
		}
	return rc ? rc : gtu_alg_shares_progress(&s->p->shares, traversed);
}

/* Call @f with the distances' type and the entries' width as constants. */
#define BY_TYPE(s, f, ...)                                                                             \
	((s)->p->a->id_width == 8 ?                                                                    \
		 (s)->s->type == DISTANCE_U32 ? f(__VA_ARGS__, DISTANCE_U32, 8) :                      \
		 (s)->s->type == DISTANCE_U64 ? f(__VA_ARGS__, DISTANCE_U64, 8) :                      \
		 (s)->s->type == DISTANCE_F32 ? f(__VA_ARGS__, DISTANCE_F32, 8) :                      \
						f(__VA_ARGS__, DISTANCE_F64, 8) :                      \
	 (s)->s->type == DISTANCE_U32 ? f(__VA_ARGS__, DISTANCE_U32, 4) :                              \
	 (s)->s->type == DISTANCE_U64 ? f(__VA_ARGS__, DISTANCE_U64, 4) :                              \
	 (s)->s->type == DISTANCE_F32 ? f(__VA_ARGS__, DISTANCE_F32, 4) :                              \
					f(__VA_ARGS__, DISTANCE_F64, 4))

static int round_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	struct paths *s = arg;

	return BY_TYPE(s, round_of, s, thread, first, end);
}

/* Distribute the far buckets, from the lowest of their distances on. *more: there was one. */
PER_TYPE int distribute(struct paths *s, bool *more, enum distance_type type, uint32_t width)
{
	uint64_t i, k, next = UINT64_MAX;
	struct wide entry;
	struct bucket far;
	unsigned t;
	int rc = 0;

	for (t = 0; t < s->p->team.threads; t++)
		for (i = 0; i < s->worker[t].far.n; i++) {
			entry = entry_of(&s->worker[t].far, i, type, width);
			k = bucket_of(s, entry.distance, type);
			if (k < next && load(s, entry.v, type) == entry.distance)
				next = k;
		}
	*more = next != UINT64_MAX;
	if (!*more)
		return 0;
	s->base = s->bucket = next;
	for (t = 0; t < s->p->team.threads; t++) {
		far = s->worker[t].far;
		s->worker[t].far = (struct bucket){ 0 };
		for (i = 0; i < far.n && !rc; i++) {
			entry = entry_of(&far, i, type, width);
			if (load(s, entry.v, type) == entry.distance)
				rc = put_by(s, &s->worker[t], entry.v, entry.distance, type, width);
		}
		free(far.entry);
	}
	return rc;
}

static int distribute_far(struct paths *s, bool *more)
{
	return BY_TYPE(s, distribute, s, more);
}

/* Start at the source. */
PER_TYPE int start(struct paths *s, uint64_t source, enum distance_type type, uint32_t width)
{
	gtu_put(s->distance, distance_width(type), source, 0);
	return put(s, s->worker, &s->worker[0].bucket[0], source, 0, type, width);
}

/* Take the lowest bucket of all threads as the round; *more: there was one. */
static int next_round(struct paths *s, bool *more)
{
	const unsigned threads = s->p->team.threads;
	struct bucket past, *b;
	struct worker *w;
	unsigned t;
	int rc;

	for (;;) {
		for (s->entries = 0; s->bucket < s->base + BUCKETS; s->bucket++) {
			for (t = 0; t < threads; t++)
				s->entries += s->worker[t].bucket[s->bucket - s->base].n;
			if (s->entries)
				break;
		}
		*more = s->entries;
		if (s->entries)
			break;
		rc = distribute_far(s, more);
		if (rc || !*more)
			return rc;
	}
	for (t = 0; t < threads; t++) {
		w = &s->worker[t];
		b = &w->bucket[s->bucket - s->base];
		past = w->now;
		w->now = *b;
		*b = (struct bucket){ 0 };
		past.n = 0;
		if (past.capacity && w->spares < SPARE)
			w->spare[w->spares++] = past;
		else
			*b = past;
	}
	return 0;
}

static int write_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	struct paths *s = arg;
	const enum distance_type type = s->s->type;
	const uint64_t infinity = distance_infinity(type);
	uint64_t v, bits, reached = 0;

	(void)thread;
	for (v = first; v < end; v++) {
		bits = load(s, v, type);
		s->result[v] = distance_number(type, bits);
		reached += bits != infinity;
	}
	atomic_fetch_add_explicit(&s->reached, reached, memory_order_relaxed);
	return 0;
}

static int search(struct paths *s)
{
	struct gtu_alg *a = s->p->a;
	bool more;
	int rc;

	rc = BY_TYPE(s, start, s, a->opt->source);
	gtu_phase(&a->phases, "traverse");
	while (!rc) {
		rc = next_round(s, &more);
		if (rc || !more)
			break;
		rc = gtu_plain_loop(s->p, a->g, LEAST, round_share, s, s->entries);
		if (rc || atomic_load(&s->too_narrow))
			break;
		a->stats->edges += atomic_exchange(&s->p->shares.edges, 0);
		gtu_phases_iteration(&a->phases, a->opt, s->entries);
	}
	return rc;
}

int gtu_plain_sssp(struct gtu_alg *a, const struct gtu_plain_paths *options, double *distance, bool *too_narrow)
{
	const uint32_t width = distance_width(options->type);
	struct paths s = { .s = options, .result = distance, .scale = 1 / options->delta };
	struct gtu_plain p;
	unsigned i, k;
	int rc;

	gtu_plain_begin(&p, a);
	s.p = &p;
	rc = gtu_plain_alloc(&p, a->g->n, width, &s.distance);
	if (!rc)
		rc = gtu_plain_alloc(&p, p.team.threads, sizeof(*s.worker), &s.worker);
	if (!rc) {
		memset(s.worker, 0, p.team.threads * sizeof(*s.worker));
		rc = gtu_plain_fill(&p, s.distance, width, a->g->n, distance_infinity(options->type));
	}
	if (!rc)
		rc = search(&s);
	*too_narrow = atomic_load(&s.too_narrow);
	if (!rc && !*too_narrow) {
		gtu_phase(&a->phases, "setup");
		rc = gtu_plain_loop(&p, a->g, 4096, write_share, &s, a->g->n);
		a->stats->vertices = atomic_load(&s.reached);
	}
	for (i = 0; s.worker && i < p.team.threads; i++) {
		for (k = 0; k < BUCKETS; k++)
			free(s.worker[i].bucket[k].entry);
		for (k = 0; k < s.worker[i].spares; k++)
			free(s.worker[i].spare[k].entry);
		free(s.worker[i].far.entry);
		free(s.worker[i].now.entry);
		free(s.worker[i].fused.entry);
	}
	rc = gtu_plain_end(&p, rc);
	return atomic_load(&s.no_memory) ? gtu_fail(a->err, GTU_ERR_NOMEM, "%s: out of memory for the vertices of a "
						    "bucket", a->name) : rc;
}
