// SPDX-License-Identifier: MIT
/* The IRU's prefetcher and classifier (IRU, section 3.2.1). */
#include <string.h>

#include "iru_steps.h"

uint64_t iru_own_line(const struct iru_core *c, unsigned p, uint64_t line)
{
	const unsigned log2 = c->shape.interleave_log2 - 7;
	const uint64_t part = line >> log2;
	const uint64_t ahead = (p - part) & (c->partitions - 1);

	if (c->port.owner) {
		while (line < c->line_end && c->port.owner(c->port.ctx, line) != p)
			line++;
		return line;
	}
	return ahead ? (part + ahead) << log2 : line;
}

void iru_fifo_move(struct iru_core *c, unsigned q)
{
	const size_t at = (size_t)q * c->slots, from = at + c->fifo_head[q];
	const uint32_t n = c->fifo_tail[q] - c->fifo_head[q];

	memmove(&c->fifo_pair[at], &c->fifo_pair[from], n * sizeof(c->fifo_pair[0]));
	memmove(&c->fifo_set[at], &c->fifo_set[from], n * sizeof(c->fifo_set[0]));
	if (c->carry)
		memmove(&c->fifo_secondary[at], &c->fifo_secondary[from],
			n * sizeof(c->fifo_secondary[0]));
	c->fifo_head[q] = 0;
	c->fifo_tail[q] = n;
}

static void issue(struct iru_core *c, unsigned p, uint64_t cycle)
{
	struct iru_partition *part = &c->partition[p];
	const unsigned slot = part->tail++ & c->line_mask;
	struct iru_line *l = &part->line[slot];
	const uint64_t from = part->next_line * GTU_LINE_BYTES;
	const uint64_t first = from > c->stream.addr ? (from - c->stream.addr) / 4 : 0;
	uint64_t end = (from + GTU_LINE_BYTES - c->stream.addr) / 4;

	if (end > c->stream.n)
		end = c->stream.n;
	l->first = first;
	l->count = (uint32_t)(end - first);
	part->next_line = iru_own_line(c, p, part->next_line + 1);
	l->ready = c->port.fetch(c->port.ctx, p, slot, first, l->count, cycle);
}

/*
 * Queues are filled a line at a time, once every queue has space for its share. Because a queue
 * hands out one element per cycle, this equals a classifier that passes one element per cycle and
 * queue.
 */
static uint32_t missing_space(const struct iru_core *c, unsigned p, const struct iru_split *s)
{
	const uint32_t depth = c->shape.queue_depth;
	int32_t missing = 0;

	for (unsigned k = 0; k < c->banks + 2; k++) {
		const unsigned q = iru_split_queue(c, p, k);
		const int32_t over =
			(int32_t)(c->fifo_tail[q] - c->fifo_head[q] + s->share[k] - depth);

		missing = s->share[k] && over > missing ? over : missing;
	}
	return (uint32_t)missing;
}

static void hand_out(struct iru_core *c, unsigned p, const struct iru_split *s)
{
	for (unsigned k = 0; k < c->banks + 2; k++)
		iru_fifo_reserve(c, iru_split_queue(c, p, k), s->share[k]);
	c->kernel->give(c, p, s);
	for (unsigned b = 0; b < c->banks; b++)
		c->local_some |= (uint64_t)(s->share[b] != 0) << (p * c->banks + b);
	c->out_some |= (uint32_t)(s->share[c->banks] != 0) << p;
	c->out_some |= (uint32_t)(s->share[c->banks + 1] != 0) << (c->partitions + p);
}

/* Map a line's elements, which the kernel has split by the one hash, to sets of partition @p alone. */
static void keep_private(const struct iru_core *c, unsigned p, struct iru_split *s)
{
	unsigned i, bank;

	memset(s->lanes, 0, sizeof(s->lanes));
	memset(s->share, 0, sizeof(s->share));
	for (i = 0; i < s->count; i++) {
		s->set[i] = (uint16_t)(p * c->sets_partition + (s->set[i] & (c->sets_partition - 1)));
		bank = s->set[i] & (c->banks - 1);
		s->lanes[bank] |= 1u << i;
		s->share[bank]++;
	}
}

int iru_serve(struct iru_core *c, const struct iru_kernel *k, unsigned p, uint64_t cycle, bool ahead,
	      enum iru_status *why)
{
	struct iru_partition *part = &c->partition[p];
	struct iru_line *l = &part->line[part->head & c->line_mask];
	uint64_t again = IRU_NEVER;
	int did = 0;

	if (p >= IRU_PARTITIONS_MAX)	/* iru_shape_check() excludes it */
		__builtin_unreachable();
	if (part->head != part->tail && l->ready <= cycle) {
		struct iru_split *s = &part->split;
		uint32_t missing;

		if (!s->loaded) {
			const uint32_t *index, *secondary = NULL;
			uint32_t copy[2][IRU_LANES];
			unsigned bad;

			if (!c->port.load(c->port.ctx, l->first, l->count, &index, &secondary, copy)) {
				c->bad = l->first;
				*why = IRU_UNREAD;
				return IRU_SERVE_FAILED;
			}
			bad = k->split(c, p, index, secondary, l->count, l->first, s);
			if (bad < IRU_LANES) {
				c->bad = l->first + bad;
				c->bad_index = (uint32_t)s->pair[bad];
				*why = IRU_WIDE;
				return IRU_SERVE_FAILED;
			}
			if (c->shape.private_hash)
				keep_private(c, p, s);
			s->loaded = true;
		}
		missing = missing_space(c, p, s);
		if (missing && ahead) {
			return IRU_SERVE_UNSURE;
		} else if (missing) {
			/*
			 * a queue hands out at most one element per cycle: check again no earlier
			 */
			again = cycle + missing;
		} else {
			hand_out(c, p, s);
			s->loaded = false;
			part->head++;
			l = &part->line[part->head & c->line_mask];
			did = 1;
		}
	}
	if (part->next_line < c->line_end && part->tail - part->head < c->shape.prefetch) {
		issue(c, p, cycle);
		did = 1;
	}
	if (again == IRU_NEVER && part->head != part->tail)
		again = l->ready > cycle ? l->ready : cycle + 1;
	if (part->next_line < c->line_end && part->tail - part->head < c->shape.prefetch)
		again = cycle + 1;
	part->service = again;
	return did;
}

void iru_fetch_next(struct iru_core *c)
{
	uint64_t next = IRU_NEVER;

	for (unsigned p = 0; p < c->partitions; p++)
		next = c->partition[p].service < next ? c->partition[p].service : next;
	c->fetch_next = next;
}

void iru_check_again(struct iru_core *c, uint64_t cycle)
{
	for (unsigned p = 0; p < c->partitions; p++) {
		struct iru_partition *part = &c->partition[p];

		if (part->head != part->tail && part->line[part->head & c->line_mask].ready <= cycle)
			part->service = c->fetch_next = cycle;
	}
}

uint64_t iru_next_event(const struct iru_core *c, uint64_t cycle)
{
	uint64_t next = c->deadline > cycle ? c->deadline : IRU_NEVER;

	for (unsigned p = 0; p < c->partitions; p++) {
		const struct iru_partition *part = &c->partition[p];
		const struct iru_line *l = &part->line[part->head & c->line_mask];

		if (part->head != part->tail && l->ready > cycle && l->ready < next)
			next = l->ready;
	}
	return next;
}
