// SPDX-License-Identifier: MIT
/* bringup: lock step of streams with a consumer, and of jobs that end from outside. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bringup_consumer.h"
#include "gtu/splitmix64.h"

#define WVR_RETURN	5u		/* log2 of the entries of a return ring */
#define PEG_RETURN	6u
#define LIST		1024u		/* vertices of the output list */
#define REQUESTED_MAX	4u		/* records at a time */
#define TURNS_MAX	4096u		/* more than any stream here needs */

enum end { COMPLETES, CANCELED, REVOKED, RESET, ENDS };

/* A stream, and how it goes. */
struct scene {
	const char *what, *bug;
	struct gtu_hw_desc desc;
	enum end end;
	uint32_t count, record_bytes;	/* of its ring */
	uint32_t entry_bytes;		/* of its return ring; 0: none */
	uint32_t requested;		/* with DEMAND: at first; 0: without */
	uint64_t seed;			/* of what the consumer does */
};

/* The events of one side, which must be the same on both. */
struct trace {
	struct gtu_hw_cpl cpl;
	uint64_t hash;			/* of all records in order */
	uint32_t consumed, turns, returned, requested, closed;
	uint64_t value[3];		/* after an end from outside */
};

/* ---- Elements of records ---------------------------------------------------------------------------------- */

static unsigned fields_of(const struct gtu_hw_desc *d)
{
	if (d->opcode == GTU_OP_IRU_STREAM)
		return 1 + !!(d->param & GTU_IRU_WITH_SECONDARY) + !!(d->param & GTU_IRU_WITH_POSITION);
	return 2;
}

#define ELEMENT_WORDS	4u		/* round of Weaver, or 0, then the fields */

static int by_words(const void *a, const void *b)
{
	return memcmp(a, b, ELEMENT_WORDS * sizeof(uint32_t));
}

/*
 * The sorted elements of the records in a ring that never was full. Where the IRU merges, how much depends on time:
 * only which indices there are is certain.
 */
static uint32_t *elements(const uint8_t *arena, const struct gtu_hw_desc *d, size_t *n)
{
	const unsigned fields = fields_of(d);
	const uint8_t *base = arena + jobs_region[JOBS_RING - 1].offset;
	const bool merges = d->opcode == GTU_OP_IRU_STREAM && d->param >> GTU_IRU_OP_SHIFT & 7;
	const uint32_t producer = ((const struct gtu_hw_ring *)(const void *)base)->producer;
	uint32_t *e = calloc((size_t)2 * JOBS_RING_COUNT * GTU_WARP * ELEMENT_WORDS, sizeof(*e)), i, lane, f;
	size_t k;

	*n = 0;
	for (i = 0; e && i < producer && i < 2 * JOBS_RING_COUNT; i++) {
		const struct gtu_hw_warp *head = (const void *)(base + sizeof(struct gtu_hw_ring) + (size_t)i * GTU_WARP_BYTES(fields, 0));
		const uint32_t *value = (const uint32_t *)(const void *)(head + 1);

		for (lane = 0; lane < GTU_WARP; lane++) {
			if (!(head->active >> lane & 1))
				continue;
			e[*n * ELEMENT_WORDS] = d->opcode == GTU_OP_WVR_STREAM ? head->lines : 0;
			for (f = 0; f < (merges ? 1 : fields); f++)
				e[*n * ELEMENT_WORDS + 1 + f] = value[f * GTU_WARP + lane];
			++*n;
		}
	}
	if (!e)
		return NULL;
	qsort(e, *n, ELEMENT_WORDS * sizeof(*e), by_words);
	for (k = i = 0; merges && i < *n; i++)
		if (!i || by_words(e + i * ELEMENT_WORDS, e + (i - 1) * ELEMENT_WORDS))
			memmove(e + k++ * ELEMENT_WORDS, e + i * ELEMENT_WORDS, ELEMENT_WORDS * sizeof(*e));
	*n = merges ? k : *n;
	return e;
}

void consumer_match(uint8_t *device, const uint8_t *model, const struct gtu_hw_desc *d)
{
	size_t a, b;
	uint32_t *x = elements(device, d, &a), *y = elements(model, d, &b);

	if (x && y && a == b && !memcmp(x, y, a * ELEMENT_WORDS * sizeof(*x)))
		memcpy(jobs_at(device, JOBS_RING), model + jobs_region[JOBS_RING - 1].offset, jobs_region[JOBS_RING - 1].bytes);
	free(x);
	free(y);
}

/* ---- The consumer ----------------------------------------------------------------------------------------- */

static uint32_t load_acquire(const gtu_le32 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void consume(struct side *s, const struct scene *c, struct trace *t)
{
	const uint8_t *base = jobs_at(s->arena, JOBS_RING);
	const uint32_t producer = load_acquire(&((const struct gtu_hw_ring *)(const void *)base)->producer);
	uint64_t word;
	uint32_t i;

	for (; t->consumed != producer && producer - t->consumed <= c->count; t->consumed++) {
		const uint8_t *record = base + sizeof(struct gtu_hw_ring) + (size_t)(t->consumed & (c->count - 1)) * c->record_bytes;

		for (i = 0; i < c->record_bytes; i += 8) {
			memcpy(&word, record + i, 8);
			t->hash = gtu_splitmix64_hash(t->hash ^ word);
		}
	}
}

/* Return some vertices: Weaver skips them, PEG puts them into its output list. */
static void give_back(struct side *s, const struct scene *c, struct trace *t, uint64_t *seed)
{
	struct gtu_hw_ring *ring = jobs_at(s->arena, JOBS_RING);
	const struct gtu_hw_registration *reg = jobs_at(s->arena, JOBS_REG);
	uint8_t *entries = (uint8_t *)(ring + 1) + (size_t)c->count * c->record_bytes;
	const uint32_t size = 1u << c->desc.param2;
	uint32_t n = (uint32_t)(gtu_splitmix64_next(seed) % 3);

	for (; n--; t->returned++) {
		const uint64_t pick = gtu_splitmix64_next(seed) % 64, vertex = c->entry_bytes == 8 ? reg[pick].vid : pick;

		memcpy(entries + (size_t)(t->returned & (size - 1)) * c->entry_bytes, &vertex, c->entry_bytes);
	}
	__atomic_store_n(&ring->returned, t->returned, __ATOMIC_RELEASE);
}

/* Whether the stream can do nothing before its consumer acts. */
static bool stands(const struct side *s, const struct scene *c, const struct trace *t)
{
	const struct gtu_hw_ring *ring = jobs_at(s->arena, JOBS_RING);
	const uint32_t producer = load_acquire(&ring->producer);

	if (!load_acquire(&ring->waiting) || (c->entry_bytes && load_acquire(&ring->received) != t->returned))
		return false;
	if (c->entry_bytes == 4 && load_acquire(&ring->ended) && !t->closed)
		return true;
	return c->requested ? producer == t->requested : producer - t->consumed == c->count;
}

/* The words that let the stream's clock run again are written last. */
static void act(struct side *s, const struct scene *c, struct trace *t, uint64_t *seed)
{
	struct gtu_hw_ring *ring = jobs_at(s->arena, JOBS_RING);

	t->turns++;
	consume(s, c, t);
	if (c->entry_bytes)
		give_back(s, c, t, seed);
	__atomic_store_n(&ring->consumer, t->consumed, __ATOMIC_RELEASE);
	if (c->requested) {
		t->requested += 1 + (uint32_t)(gtu_splitmix64_next(seed) % REQUESTED_MAX);
		__atomic_store_n(&ring->requested, t->requested, __ATOMIC_RELEASE);
	}
	if (c->entry_bytes == 4 && load_acquire(&ring->ended)) {
		t->closed = 1;
		__atomic_store_n(&ring->closed, 1, __ATOMIC_RELEASE);
	}
	rig_doorbell(s->rig, 0, GTU_DB_KICK, 0);
}

/* Set or clear VALID of the ring's region, and invalidate it. */
static void revoke(struct side *s, bool valid, struct trace *t)
{
	const uint32_t slot = GTU_KEY_SLOT(s->key[JOBS_RING - 1]);
	struct gtu_hw_region *e = (struct gtu_hw_region *)(void *)(s->rig->at + RIG_TABLE) + slot;

	e->flags = valid ? e->flags | GTU_REGION_VALID : e->flags & ~GTU_REGION_VALID;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	t->value[valid] = access_command(s->rig->a, GTU_MBOX_INVALIDATE, (const uint64_t[GTU_MBOX_ARGS]){ 0, slot });
}

/* The device is reset while the stream waits; its unit must be free, its queue disabled, its memory left alone. */
static int reset(struct side *s, struct trace *t, struct gtu_error *err)
{
	const struct gtu_hw_ring *ring = jobs_at(s->arena, JOBS_RING);
	const uint32_t epoch = access_reg(s->rig->a, GTU_REG_EPOCH);
	struct access_timer timer = { 0 };

	access_set(s->rig->a, GTU_REG_RESET, GTU_RESET_KEY);
	while (!(access_reg(s->rig->a, GTU_REG_STATUS) & GTU_STATUS_READY) && access_wait(s->rig->a, &timer))
		;
	t->value[0] = access_reg(s->rig->a, GTU_REG_EPOCH) - epoch;
	t->value[1] = access_reg(s->rig->a, GTU_PAGE_IRU + GTU_UREG_STATUS);
	t->value[2] = load_acquire(&ring->ended);
	return s->restart(s, err);
}

/* Run the stream on one side. */
static int play(struct side *s, const struct scene *c, struct trace *t, struct gtu_error *err)
{
	struct gtu_hw_ring *ring = jobs_at(s->arena, JOBS_RING);
	struct access_timer timer = { 0 };
	uint64_t seed = c->seed;
	bool ended = false;
	struct gtu_hw_desc d;

	memset(t, 0, sizeof(*t));
	memset(ring, 0, jobs_region[JOBS_RING - 1].bytes);
	ring->requested = t->requested = c->requested;
	side_put_keys(s, &d, &c->desc);
	rig_put(s->rig, 0, &d);
	rig_submit(s->rig, 0);
	while (!rig_completed(s->rig, 0)) {
		if (ended || !stands(s, c, t)) {
			if (access_wait(s->rig->a, &timer) || rig_completed(s->rig, 0))
				continue;
			return gtu_fail(err, GTU_ERR_TIMEOUT, "after %u records the stream neither ends nor waits for its consumer: producer %u, "
					"waiting %u, ended %u", t->consumed, ring->producer, ring->waiting, ring->ended);
		}
		timer = (struct access_timer){ 0 };
		if (t->turns == TURNS_MAX)
			return gtu_fail(err, GTU_ERR_FAIL, "the stream waited for its consumer %u times", t->turns);
		if (c->end != COMPLETES && t->turns) {
			ended = true;
			if (c->end == RESET)
				return reset(s, t, err);
			if (c->end == CANCELED) {
				t->value[0] = access_command(s->rig->a, GTU_MBOX_QUEUE_CANCEL,
							     (const uint64_t[GTU_MBOX_ARGS]){ 0, s->rig->q[0].tail });
				continue;
			}
			revoke(s, false, t);
		}
		act(s, c, t, &seed);
	}
	if (!rig_take(s->rig, 0, &t->cpl, err))
		return err->code;
	if (c->end == REVOKED)
		revoke(s, true, t);
	consume(s, c, t);
	return 0;
}

/* ---- Scenes ------------------------------------------------------------------------------------------------ */

/* An IRU stream of many records. */
static void long_stream(struct jobs *j, struct scene *c, uint32_t count)
{
	jobs_stream(j, &c->desc, GTU_UNIT_IRU);
	c->desc.param &= ~(7u << GTU_IRU_OP_SHIFT);
	c->desc.operand[0] = (struct gtu_hw_operand){ JOBS_IDX, 300 + jobs_below(j, 700), 0 };
	c->desc.operand[1] = (struct gtu_hw_operand){ JOBS_CNT, c->desc.operand[0].count, 0 };
	c->desc.operand[2].count = c->count = count;
}

/* Choose a scene that the device supports. */
static bool choose(const struct bringup *b, struct jobs *j, struct scene *c, bool logical, bool may_reset)
{
	static const char *const end_what[ENDS] = { "", "a stream that is cancelled", "a stream whose ring is revoked", "a reset during a stream" };
	static const char *const end_bug[ENDS] = { NULL, "cancel", "invalidate", "reset-job" };
	unsigned kind = jobs_below(j, 8);

	*c = (struct scene){ .count = JOBS_RING_COUNT, .seed = jobs_draw(j) };
	switch (kind) {
	case 0:
		c->what = "a stream with a full ring", c->bug = NULL;
		long_stream(j, c, 2u << jobs_below(j, 2));
		break;
	case 1:
	case 2:
		c->what = "a stream with DEMAND", c->bug = jobs_cover_name[JOBS_COVER_DEMAND];
		c->requested = 1 + jobs_below(j, REQUESTED_MAX);
		if (kind == 1) {
			long_stream(j, c, JOBS_RING_COUNT);
			c->desc.param |= GTU_IRU_DEMAND;
		} else {
			jobs_stream(j, &c->desc, GTU_UNIT_WVR);
			c->desc.param |= GTU_WVR_DEMAND;
		}
		break;
	case 3:
		c->what = "vertices skipped by Weaver", c->bug = jobs_cover_name[JOBS_COVER_RETURN];
		jobs_stream(j, &c->desc, GTU_UNIT_WVR);
		c->desc.operand[0].count = 64;
		c->desc.param |= GTU_WVR_DEMAND;
		c->desc.param2 = WVR_RETURN;
		c->requested = 1;
		c->entry_bytes = 8;
		break;
	case 4:
		c->what = "an output list of PEG", c->bug = jobs_cover_name[JOBS_COVER_RETURN];
		jobs_stream(j, &c->desc, GTU_UNIT_PEG);
		c->desc.operand[GTU_PEG_RINGS].count = c->count = 2;
		c->desc.operand[GTU_PEG_OUTPUT] = (struct gtu_hw_operand){ JOBS_LIST, LIST, 0 };
		c->desc.param2 = PEG_RETURN;
		c->entry_bytes = 4;
		break;
	default:
		c->end = (enum end)(kind - 4);
		c->what = end_what[c->end], c->bug = end_bug[c->end];
		long_stream(j, c, 2);
	}
	c->record_bytes = GTU_WARP_BYTES(fields_of(&c->desc), 0);
	if ((c->end == CANCELED && !(b->caps & GTU_CAP_CANCEL)) || (c->end == RESET && !may_reset) || (c->end == COMPLETES && !logical))
		return false;
	return b->units >> (c->desc.opcode / 16 - GTU_OP_SCU_BITMASK / 16) & 1;
}

static bool same(const struct trace *x, const struct trace *y, const struct scene *c, const char **what, uint64_t *a, uint64_t *b)
{
#define SAME(name, field) do { if (x->field != y->field) return *what = name, *a = x->field, *b = y->field, false; } while (0)
	SAME("the completion's status", cpl.status);
	SAME("the completion's operand", cpl.operand);
	SAME("the completion's sq_index", cpl.sq_index);
	SAME("the first result of the command", value[0]);
	SAME("the second result of the command", value[1]);
	SAME("`ended` after the command", value[2]);
	SAME("the number of records", consumed);
	if (c->end == REVOKED)
		return true;
	SAME("the completion's count", cpl.count);
	if (c->end != COMPLETES)
		return true;
	SAME("the completion's needed", cpl.needed);
	SAME("the completion's dropped", cpl.dropped);
	SAME("the completion's cycles", cpl.cycles);
	SAME("the number of times that the stream waited", turns);
	SAME("a hash of the records", hash);
#undef SAME
	return true;
}

bool consumer_agrees(struct bringup *b, struct side *device, struct side *model, struct jobs *j, bool logical, bool may_reset,
		     bool (*counters)(void *user, bool after), void *user)
{
	struct gtu_hw_ring *is = jobs_at(device->arena, JOBS_RING), *want = jobs_at(model->arena, JOBS_RING);
	struct trace x, y;
	uint64_t a = 0, m = 0;
	struct gtu_error err;
	const char *what;
	struct scene c;

	if (!choose(b, j, &c, logical, may_reset) || !device->rig)
		return true;
	if (c.end != COMPLETES && !counters(user, false))
		return false;
	if (play(model, &c, &y, &err) || play(device, &c, &x, &err)) {
		bringup_say(b, BRINGUP_FAIL, c.bug, "%s, seed %" PRIu64 ": %s", c.what, b->seed, err.text);
		return false;
	}
	if (!same(&x, &y, &c, &what, &a, &m)) {
		bringup_say(b, BRINGUP_FAIL, c.bug, "%s, seed %" PRIu64 ": %s is %" PRIu64 ", the model's %" PRIu64, c.what, b->seed, what, a, m);
		return false;
	}
	/* how many records follow the last turn, and the number of notifications, depend on the device's steps */
	if (c.end != COMPLETES)
		memcpy(is, want, jobs_region[JOBS_RING - 1].bytes);
	is->changes = want->changes;
	if (!memcmp(device->arena, model->arena, JOBS_COMPARED)) {
		/* the next streams have no consumer */
		memset(is, 0, jobs_region[JOBS_RING - 1].bytes);
		memset(want, 0, jobs_region[JOBS_RING - 1].bytes);
		return c.end == COMPLETES || counters(user, true);
	}
	bringup_say(b, BRINGUP_FAIL, c.bug, "%s, seed %" PRIu64 ": the records agree, other memory differs", c.what, b->seed);
	return false;
}
