// SPDX-License-Identifier: MIT
/*
 * The IRU's schedule (IRU, section 3; specification: Documentation/units-iru.md). A cycle runs the
 * stages from the end of the pipeline to its start (replies, insertion into the sets, ring,
 * classifier, fetch), so that a stage sees the output of the one before it in the next cycle.
 */
#include <string.h>

#include "iru_steps.h"

#define ALWAYS static inline __attribute__((always_inline))

/* ---- Shape and memory --------------------------------------------------------------------------- */

const char *iru_shape_check(const struct iru_shape *s)
{
	if (s->partitions_log2 > 4)
		return "the IRU has at most 16 partitions";
	if (s->partitions_log2 + s->banks_log2 > 6)
		return "the IRU has at most 64 banks in all";
	if (s->sets_log2 > 16 || s->sets_log2 < s->partitions_log2 + s->banks_log2)
		return "the IRU has at least a set a bank and at most 65536";
	if (s->interleave_log2 < 7 || s->interleave_log2 > 30)
		return "the IRU's interleave is at least a line of 128 bytes";
	if (s->prefetch < 1 || s->prefetch > IRU_PREFETCH_MAX)
		return "the IRU fetches 1 to 256 lines ahead";
	if (s->queue_depth < IRU_LANES || s->queue_depth > IRU_DEPTH_MAX)
		return "a queue of the IRU's classifier holds 32 (a line's elements) to 4096";
	if (s->ring_depth < 1 || s->ring_depth > IRU_DEPTH_MAX)
		return "a ring input of the IRU holds 1 to 4096 elements";
	if (s->index_bits < 1 || s->index_bits > 32 || s->position_bits < 1 || s->position_bits > 32)
		return "indices and positions of the IRU have 1 to 32 bits";
	return NULL;
}

/* Slots of a queue: enough for `depth` elements from any start in the first half. */
static uint32_t fifo_slots(const struct iru_shape *s)
{
	const unsigned depth = s->ring_depth > s->queue_depth ? s->ring_depth : s->queue_depth;

	return 2 * ((depth + 31) & ~31u) + IRU_SPARE;
}

/* Allocate memory after the core; with no core, only count the bytes. */
static void *carve(uint8_t *base, size_t *at, size_t bytes)
{
	void *p = base ? base + *at : NULL;

	*at += (bytes + 63) & ~(size_t)63;
	return p;
}

static size_t layout(struct iru_core *c, const struct iru_shape *s)
{
	const size_t sets = (size_t)1 << s->sets_log2;
	/* one more queue for elements in flight when several cycles run at once */
	const size_t queues =
		(2u << (s->partitions_log2 + s->banks_log2)) + (2u << s->partitions_log2) + 1;
	struct iru_core none;
	uint8_t *base = (uint8_t *)c;
	size_t at = 0;

	if (!c)
		c = &none;
	carve(base, &at, sizeof(*c));
	c->fifo_head = carve(base, &at, queues * sizeof(uint32_t));
	c->fifo_tail = carve(base, &at, queues * sizeof(uint32_t));
	c->fifo_pair = carve(base, &at, queues * fifo_slots(s) * sizeof(uint64_t) + 64);
	c->fifo_secondary = carve(base, &at, queues * fifo_slots(s) * sizeof(uint32_t) + 64);
	/* loaded a vector at a time; elements beyond the queue's end are ignored */
	c->fifo_set = carve(base, &at, queues * fifo_slots(s) * sizeof(uint16_t) + 64);
	c->set_count = carve(base, &at, sets);
	c->set_lines = carve(base, &at, sets);
	c->end_next = carve(base, &at, sets * sizeof(uint32_t));
	c->set_pair = carve(base, &at, sets * IRU_LANES * sizeof(uint64_t));
	c->set_secondary = carve(base, &at, sets * IRU_LANES * sizeof(uint32_t));
	c->full_set = carve(base, &at, sets * sizeof(uint16_t));
	c->line_mask = 0;
	while (c->line_mask + 1 < s->prefetch)
		c->line_mask = 2 * c->line_mask + 1;
	for (unsigned p = 0; p < 1u << s->partitions_log2; p++)
		c->partition[p].line = carve(base, &at, (c->line_mask + 1) * sizeof(struct iru_line));
	c->out = carve(base, &at, IRU_OUT_SIZE * sizeof(struct iru_record));
	return at;
}

size_t iru_core_bytes(const struct iru_shape *shape)
{
	return layout(NULL, shape);
}

struct iru_core *iru_core_init(void *memory, const struct iru_shape *shape)
{
	struct iru_core *c = memory;

	memset(c, 0, sizeof(*c));
	layout(c, shape);
	c->shape = *shape;
	c->partitions = 1u << shape->partitions_log2;
	c->banks = 1u << shape->banks_log2;
	c->all_banks = c->partitions * c->banks;
	c->sets_partition = 1u << (shape->sets_log2 - shape->partitions_log2);
	c->sets_bank = c->sets_partition >> shape->banks_log2;
	c->slots = fifo_slots(shape);
	c->published = shape->partitions_log2 == 2 && shape->banks_log2 == 1 &&
		       shape->sets_log2 == 10 && c->slots == 128 + IRU_SPARE;
	for (unsigned p = 0; p < c->partitions; p++) {
		for (unsigned q = 0; q < c->partitions; q++) {
			const unsigned up = (q - p) & (c->partitions - 1);
			const unsigned down = (p - q) & (c->partitions - 1);
			/*
			 * the shorter way; at equal lengths even and odd partitions differ, so each
			 * way carries half
			 */
			const unsigned dir = up == down ? p & 1 : up > down;

			c->route_dir[p][q] = (uint8_t)dir;
			c->route_queue[p][q] = c->banks + dir;
		}
	}
	return c;
}

void iru_core_start(struct iru_core *c, const struct iru_stream *s, const struct iru_port *port)
{
	const size_t queues = 2 * c->all_banks + 2 * c->partitions;
	const uint64_t line_first = s->addr / GTU_LINE_BYTES;

	c->stream = *s;
	c->port = *port;
	c->cycle = c->records = c->bad = 0;
	c->bad_index = c->out_count = 0;
	memset(&c->count, 0, sizeof(c->count));
	c->carry = s->secondary || s->op == GTU_IRU_OP_ADD_F32 || s->op == GTU_IRU_OP_MIN_U32 ||
		   s->op == GTU_IRU_OP_MIN_S32;
	c->merge = s->op != GTU_IRU_OP_NONE;
	c->kernel = iru_kernel_best();
	c->ahead = c->published && !c->shape.private_hash && port->latency && s->requested == IRU_NEVER && iru_can_run_ahead();
	c->line_end = s->n ? (s->addr + 4 * s->n - 1) / GTU_LINE_BYTES + 1 : line_first;
	c->all_records = s->all ? (s->n + IRU_LANES - 1) / IRU_LANES : 0;
	c->left = s->n;
	c->deadline = s->requested ? s->timeout : IRU_NEVER;
	c->fetch_next = 0;
	c->local_some = c->ring_some = c->full_some = c->blocked = 0;
	c->waiting_own = c->waiting_ring = 0;
	c->out_some = c->flying = 0;
	c->ending = false;
	memset(c->busy, 0, sizeof(c->busy));
	memset(c->landing_some, 0, sizeof(c->landing_some));
	memset(c->full_head, 0, sizeof(c->full_head));
	memset(c->full_tail, 0, sizeof(c->full_tail));
	memset(c->fifo_head, 0, queues * sizeof(c->fifo_head[0]));
	memset(c->fifo_tail, 0, queues * sizeof(c->fifo_tail[0]));
	memset(c->set_count, 0, (size_t)1 << c->shape.sets_log2);
	for (unsigned p = 0; p < c->partitions; p++) {
		struct iru_partition *part = &c->partition[p];

		part->service = 0;
		part->next_line = iru_own_line(c, p, line_first);
		part->head = part->tail = 0;
		c->credit[p] = c->shape.ring_depth;
		part->split.loaded = false;
	}
}

/* ---- Insertion ---------------------------------------------------------------------------------- */

/*
 * The hardware's sum: resident operand first, one rounding, and one canonical NaN, because
 * processors differ in which of two NaNs they return.
 */
static uint32_t add_f32(uint32_t resident, uint32_t newcomer)
{
	float a, b;
	uint32_t sum;

	memcpy(&a, &resident, 4);
	memcpy(&b, &newcomer, 4);
	a += b;
	memcpy(&sum, &a, 4);
	return a != a ? GTU_NAN_F32 : sum;
}

void iru_merge(struct iru_core *c, size_t at, uint64_t pair, uint32_t secondary)
{
	const uint32_t was = c->set_secondary[at];
	bool better = false;

	switch (c->stream.op) {
	case GTU_IRU_OP_MIN_U32:
		better = secondary < was;
		break;
	case GTU_IRU_OP_MIN_S32:
		better = (int32_t)secondary < (int32_t)was;
		break;
	case GTU_IRU_OP_ADD_F32:
		c->set_secondary[at] = add_f32(was, secondary);
		break;
	}
	if (better) {
		c->set_secondary[at] = secondary;
		c->set_pair[at] = pair;
	}
	c->count.merged++;
}

/* ---- The cycle ---------------------------------------------------------------------------------- */

/*
 * One body for all builds; the published build passes its sizes as constants. @carry: the stream
 * has secondaries;
 * @merge: the stream has an operation. Hot state is kept in locals and written back before other
 * code reads it.
 */
ALWAYS enum iru_status run(struct iru_core *const c, const struct iru_kernel *const k,
			   const uint64_t until, const unsigned partitions_log2,
			   const unsigned banks_log2, const unsigned sets_log2,
			   const unsigned slots, const bool carry, const bool merge,
			   const bool ahead)
{
	const unsigned partitions = 1u << partitions_log2, all_banks = partitions << banks_log2;
	const unsigned owner_shift = sets_log2 - partitions_log2;
	const uint32_t bank_mask = (1u << banks_log2) - 1;
	uint64_t *const fifo_pair = c->fifo_pair;
	uint32_t *const fifo_secondary = c->fifo_secondary;
	uint16_t *const fifo_set = c->fifo_set;
	uint32_t *const head = c->fifo_head, *const tail = c->fifo_tail;
	uint8_t *const set_count = c->set_count;
	uint64_t *const set_pair = c->set_pair;
	uint64_t local = c->local_some, ring = c->ring_some, blocked = c->blocked;
	uint64_t left = c->left, hops_sum = 0;
	uint32_t outs = c->out_some;
	enum iru_status why = IRU_MORE;
	uint64_t t = c->cycle;

	for (; t < until; t++) {
		const unsigned now = t % IRU_SLOTS;
		const uint64_t left_before = left, hops_before = hops_sum;
		bool moved = false;
		uint64_t ready;

		if (unlikely(c->out_count >= IRU_OUT_MARK)) {
			why = IRU_OUT;
			break;
		}
		/* 1: replies */
		if (unlikely(c->full_some || t >= c->deadline || !left)) {
			c->left = left;
			if (!left && iru_finished(c)) {
				why = IRU_DONE;
				break;
			}
			c->blocked = blocked;
			moved = iru_reply(c, k, t);
			blocked = c->blocked;
		}

		if (ahead) {
			uint64_t last;

			c->left = left;
			c->local_some = local;
			c->ring_some = ring;
			c->out_some = outs;
			last = iru_run_ahead(c, k, t, until);
			if (last != IRU_NEVER) {
				t = last;
				moved = true;
				left = c->left;
				local = c->local_some;
				ring = c->ring_some;
				outs = c->out_some;
				goto fetch;
			}
		}

		/*
		 * 2: each bank takes an element from its ring input, or else from its own
		 * queue
		 */
		for (ready = (local | ring) & ~blocked; ready; ready &= ready - 1) {
			const unsigned b = (unsigned)__builtin_ctzll(ready);
			const uint64_t bit = ready & -ready;
			const uint32_t from_ring = (ring & bit) != 0;
			const unsigned q = b + from_ring * all_banks;
			const uint32_t h = head[q];
			const size_t at = (size_t)q * slots + h;
			const unsigned set = fifo_set[at], n = set_count[set];
			const size_t row = (size_t)set * IRU_LANES;
			uint64_t *const waiting = from_ring ? &c->waiting_ring : &c->waiting_own;
			uint64_t empty;
			int same = -1;

			if (unlikely(n == IRU_LANES)) {
				blocked |= bit;
				c->count.blocked += !(*waiting & bit);
				*waiting |= bit;
				continue;
			}
			*waiting &= ~bit;
			if (merge)
				same = k->find(&set_pair[row], n, (uint32_t)fifo_pair[at]);
			if (merge && same >= 0) {
				iru_merge(c, row + (unsigned)same, fifo_pair[at], fifo_secondary[at]);
			} else {
				set_pair[row + n] = fifo_pair[at];
				if (carry)
					c->set_secondary[row + n] = fifo_secondary[at];
				set_count[set] = (uint8_t)(n + 1);
				if (unlikely(n + 1 == IRU_LANES))
					iru_set_filled(c, b, set);
			}
			head[q] = h + 1;
			empty = h + 1 == tail[q] ? bit : 0;
			ring &= ~(from_ring ? empty : 0);
			local &= ~(from_ring ? 0 : empty);
			c->credit[b >> banks_log2] += from_ring;
			left--;
		}

		/* 3: queues to the ring send what they can, then arrivals leave the ring */
		if (partitions > 1) {
			uint32_t go = outs & ~c->busy[now], landing;

			c->busy[now] = 0;
			for (; go; go &= go - 1) {
				const unsigned o = (unsigned)__builtin_ctz(go);
				const unsigned q = 2 * all_banks + o, from = o & (partitions - 1);
				const unsigned dir = o >> partitions_log2;
				const uint32_t h = head[q];
				const size_t at = (size_t)q * slots + h;
				const unsigned to = fifo_set[at] >> owner_shift;
				const unsigned hops = (dir ? from - to : to - from) & (partitions - 1);
				const unsigned then = (now + hops - 1) % IRU_SLOTS;
				const unsigned land = dir * partitions + to;
				struct iru_element *e = &c->landing[then][land];

				if (unlikely(!c->credit[to]))
					continue;
				c->credit[to]--;
				for (unsigned i = 1; i < hops; i++) {
					const unsigned by = dir ? from - i : from + i;

					c->busy[(now + i) % IRU_SLOTS] |=
						1u << (dir * partitions + (by & (partitions - 1)));
				}
				e->pair = fifo_pair[at];
				e->set = fifo_set[at];
				if (carry)
					e->secondary = fifo_secondary[at];
				c->landing_some[then] |= 1u << land;
				c->flying++;
				head[q] = h + 1;
				outs &= ~((uint32_t)(h + 1 == tail[q]) << o);
				hops_sum += hops;
			}
			landing = c->landing_some[now];
			moved |= landing != 0;
			c->landing_some[now] = 0;
			for (; landing; landing &= landing - 1) {
				const struct iru_element *e = &c->landing[now][__builtin_ctz(landing)];
				const unsigned b = ((e->set >> owner_shift) << banks_log2) |
						   (e->set & bank_mask);
				const unsigned q = all_banks + b;
				size_t at;

				iru_fifo_reserve(c, q, 1);
				at = (size_t)q * slots + tail[q]++;
				fifo_pair[at] = e->pair;
				fifo_set[at] = e->set;
				if (carry)
					fifo_secondary[at] = e->secondary;
				ring |= 1ull << b;
				blocked &= ~(1ull << b);
				c->flying--;
			}
		}

fetch:
		/* 4 and 5: classifier and fetch */
		if (t >= c->fetch_next) {
			c->local_some = local;
			c->out_some = outs;
			for (unsigned p = 0; p < partitions; p++) {
				int did;

				if (c->partition[p].service > t)
					continue;
				did = iru_serve(c, k, p, t, false, &why);
				if (unlikely(did < 0))
					goto out;
				moved |= did;
			}
			local = c->local_some;
			outs = c->out_some;
			iru_fetch_next(c);
		}

		if (unlikely(left == left_before && hops_sum == hops_before && !moved && !c->flying)) {
			const uint64_t next = iru_next_event(c, t);

			if (next == IRU_NEVER) {
				iru_check_again(c, t);
				why = IRU_IDLE;
				break;
			}
			t = (next < until ? next : until) - 1;
		}
	}
out:
	c->cycle = t;
	c->left = left;
	c->local_some = local;
	c->ring_some = ring;
	c->blocked = blocked;
	c->out_some = outs;
	c->count.hops += hops_sum;
	return why;
}

#define PUBLISHED	2, 1, 10, 128 + IRU_SPARE /* partitions, banks, sets, slots: IRU, table 1 */
#define AS_BUILT                                                                                   \
	c->shape.partitions_log2, c->shape.banks_log2, c->shape.sets_log2, c->slots

#define VARIANT(name, sizes, carry, merge)                                                         \
	static __attribute__((noinline)) enum iru_status name(struct iru_core *c,                  \
							      const struct iru_kernel *k,          \
							      uint64_t until)                      \
	{                                                                                          \
		return run(c, k, until, sizes, carry, merge, c->ahead);                                      \
	}

VARIANT(run_published, PUBLISHED, false, false)
VARIANT(run_published_carry, PUBLISHED, true, false)
VARIANT(run_published_merge, PUBLISHED, true, true)
VARIANT(run_any, AS_BUILT, c->carry, c->merge)

enum iru_status iru_core_run(struct iru_core *c, uint64_t until)
{
	if (!c->published)
		return run_any(c, c->kernel, until);
	if (c->merge)
		return run_published_merge(c, c->kernel, until);
	if (c->carry)
		return run_published_carry(c, c->kernel, until);
	return run_published(c, c->kernel, until);
}

void iru_core_advance(struct iru_core *c, uint64_t cycle)
{
	if (cycle > c->cycle)
		c->cycle = cycle;
}

void iru_core_request(struct iru_core *c, uint64_t requested)
{
	if (requested <= c->stream.requested)
		return;
	if (c->records >= c->stream.requested)
		c->deadline = c->cycle + c->stream.timeout;
	c->stream.requested = requested;
}

void iru_core_reply(struct iru_core *c, unsigned p, unsigned slot, uint64_t cycle)
{
	struct iru_partition *part = &c->partition[p];

	part->line[slot].ready = cycle;
	/* only the oldest line can be waited for */
	if (slot == (part->head & c->line_mask) && cycle < part->service) {
		part->service = cycle;
		if (cycle < c->fetch_next)
			c->fetch_next = cycle;
	}
}
