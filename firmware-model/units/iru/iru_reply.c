// SPDX-License-Identifier: MIT
/*
 * The IRU's data replier (IRU, section 3.2.2): which elements answer the oldest request, and when.
 */
#include <string.h>

#include "iru_steps.h"

void iru_number(struct iru_core *c, struct iru_record *r, uint64_t cycle, unsigned reason)
{
	r->head.sequence = (uint32_t)c->records++;
	r->head.reason = reason;
	r->head.cycle = cycle;
	memset(r->head.reserved, 0, sizeof(r->head.reserved));
	c->count.lines += r->head.lines;
	c->deadline = c->records < c->stream.requested ? cycle + c->stream.timeout : IRU_NEVER;
}

void iru_output(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle, unsigned reason,
		 const uint64_t *pair, const uint32_t *secondary, unsigned count)
{
	struct iru_record *r = &c->out[c->out_count];

	c->out_order[c->out_count] = (uint16_t)c->out_count;
	c->out_count++;
	if (count)
		k->record(c, pair, secondary, count, r);
	else
		memset(r, 0, sizeof(*r));
	iru_number(c, r, cycle, reason);
}

/* Remove the first @count elements of a set and append them to the arrays. */
static void take(const struct iru_core *c, unsigned set, unsigned count, uint64_t *pair, uint32_t *secondary)
{
	uint64_t *const pairs = &c->set_pair[(size_t)set * IRU_LANES];
	uint32_t *const secondaries = &c->set_secondary[(size_t)set * IRU_LANES];
	const unsigned left = c->set_count[set] - count;

	memcpy(pair, pairs, count * sizeof(*pair));
	memmove(pairs, pairs + count, left * sizeof(*pair));
	if (c->carry) {
		memcpy(secondary, secondaries, count * sizeof(*secondary));
		memmove(secondaries, secondaries + count, left * sizeof(*secondary));
	}
	c->set_count[set] = (uint8_t)left;
}

/* The number of distinct lines in a set. */
static unsigned lines_of(const struct iru_core *c, unsigned set)
{
	const uint64_t *pair = &c->set_pair[(size_t)set * IRU_LANES];
	uint32_t line[IRU_LANES];
	unsigned lines = 0, i, j;

	for (i = 0; i < c->set_count[set]; i++) {
		line[lines] = iru_target_line(c->stream.base, c->stream.target_log2, (uint32_t)pair[i]);
		for (j = 0; line[j] != line[lines]; j++)
			;
		lines += j == lines;
	}
	return lines;
}

/*
 * Merge the addressed partition's best coalesced sets (most elements per line; of equals the
 * fullest) into a full warp; false if it holds fewer than 32 elements.
 */
static bool reply_timeout(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle)
{
	const unsigned first = (unsigned)(c->records & (c->partitions - 1)) * c->sets_partition;
	const uint8_t *count = &c->set_count[first];
	uint8_t *lines = &c->set_lines[first];
	uint64_t pair[IRU_LANES];
	uint32_t secondary[IRU_LANES];
	unsigned held = 0, have = 0, s;

	for (s = 0; s < c->sets_partition; s++)
		held += count[s];
	if (held < IRU_LANES)
		return false;
	for (s = 0; s < c->sets_partition; s++)
		lines[s] = (uint8_t)lines_of(c, first + s);
	while (have < IRU_LANES) {
		unsigned best = 0, n;

		for (s = 1; s < c->sets_partition; s++) {
			const unsigned ours = count[s] * lines[best], its = count[best] * lines[s];

			if (count[s] && (!count[best] || ours > its || (ours == its && count[s] > count[best])))
				best = s;
		}
		n = count[best] < IRU_LANES - have ? count[best] : IRU_LANES - have;
		take(c, first + best, n, pair + have, secondary + have);
		have += n;
	}
	iru_output(c, k, cycle, GTU_WARP_TIMEOUT, pair, secondary, IRU_LANES);
	c->count.timeout++;
	return true;
}

/* Insert a set into the list of those with as many elements, ascending. */
static void end_insert(struct iru_core *c, uint32_t set)
{
	uint32_t *at = &c->end_first[c->set_count[set]];

	while (*at < set)
		at = &c->end_next[*at];
	c->end_next[set] = *at;
	*at = set;
}

static void begin_end(struct iru_core *c)
{
	unsigned set;

	c->ending = true;
	c->end_left = 0;
	for (set = 0; set < IRU_LANES; set++)
		c->end_first[set] = IRU_NO_SET;
	/* downwards, so that each goes to the front of its list */
	for (set = 1u << c->shape.sets_log2; set--;) {
		if (!c->set_count[set])
			continue;
		c->end_left += c->set_count[set];
		end_insert(c, set);
	}
}

/*
 * Merge the remaining sets up to a full warp; false if none are left. A set stays whole if it can:
 * a record takes the fullest set that fits, and only if none does the first elements of the
 * smallest.
 */
static bool reply_end(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle)
{
	uint64_t pair[IRU_LANES];
	uint32_t secondary[IRU_LANES];
	unsigned have = 0;

	if (!c->ending)
		begin_end(c);
	if (!c->end_left)
		return false;
	while (have < IRU_LANES && c->end_left) {
		const unsigned space = IRU_LANES - have;
		unsigned n = space < IRU_LANES ? space : IRU_LANES - 1, taken;
		uint32_t set;

		while (n && c->end_first[n] == IRU_NO_SET)
			n--;
		if (!n)
			for (n = space + 1; c->end_first[n] == IRU_NO_SET;)
				n++;
		set = c->end_first[n];
		c->end_first[n] = c->end_next[set];
		taken = n < space ? n : space;
		take(c, set, taken, pair + have, secondary + have);
		if (c->set_count[set])
			end_insert(c, set);
		have += taken;
		c->end_left -= taken;
	}
	iru_output(c, k, cycle, GTU_WARP_END, pair, secondary, have);
	c->count.end++;
	return true;
}

/* At the end of the input, one record per cycle. True if a record was output. */
static bool reply_rest(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle)
{
	if (reply_end(c, k, cycle))
		return true;
	if (c->records >= c->all_records)
		return false;
	iru_output(c, k, cycle, GTU_WARP_DISABLED, NULL, NULL, 0);
	c->count.disabled++;
	return true;
}

bool iru_finished(const struct iru_core *c)
{
	const unsigned sets = 1u << c->shape.sets_log2;

	if (c->left || c->full_some || c->records < c->all_records)
		return false;
	if (c->ending)
		return !c->end_left;
	for (unsigned s = 0; s < sets; s++)
		if (c->set_count[s])
			return false;
	return true;
}

bool iru_reply(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle)
{
	bool some = false;

	for (uint64_t m = c->full_some; m && c->records < c->stream.requested; m &= m - 1) {
		const unsigned b = (unsigned)__builtin_ctzll(m);
		const unsigned set =
			c->full_set[b * c->sets_bank + (c->full_head[b]++ & (c->sets_bank - 1))];

		iru_output(c, k, cycle, GTU_WARP_FULL, &c->set_pair[(size_t)set * IRU_LANES],
			&c->set_secondary[(size_t)set * IRU_LANES], IRU_LANES);
		c->count.full++;
		c->set_count[set] = 0;
		c->blocked &= ~(1ull << b);
		if (c->full_head[b] == c->full_tail[b])
			c->full_some &= ~(1ull << b);
		some = true;
	}
	if (some || c->records >= c->stream.requested)
		return some;
	if (!c->left)
		return reply_rest(c, k, cycle);
	return cycle >= c->deadline && reply_timeout(c, k, cycle);
}
