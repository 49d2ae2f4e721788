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

/* Append lanes [from, from + count) of a set to the arrays. */
static void take(const struct iru_core *c, unsigned set, unsigned from, unsigned count,
		 uint64_t *pair, uint32_t *secondary)
{
	memcpy(pair, &c->set_pair[(size_t)set * IRU_LANES + from], count * sizeof(*pair));
	if (c->carry)
		memcpy(secondary, &c->set_secondary[(size_t)set * IRU_LANES + from],
		       count * sizeof(*secondary));
}

/*
 * Merge the addressed partition's fullest sets into a full warp; false if it holds fewer than 32
 * elements.
 */
static bool reply_timeout(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle)
{
	const unsigned p = c->records & (c->partitions - 1);
	uint8_t *count = &c->set_count[p * c->sets_partition];
	uint64_t pair[IRU_LANES];
	uint32_t secondary[IRU_LANES];
	unsigned held = 0, have = 0;

	for (unsigned s = 0; s < c->sets_partition; s++)
		held += count[s];
	if (held < IRU_LANES)
		return false;
	while (have < IRU_LANES) {
		unsigned most = 0, best, set, n;

		for (unsigned s = 0; s < c->sets_partition; s++)
			most = count[s] > most ? count[s] : most;
		best = (unsigned)((uint8_t *)memchr(count, (int)most, c->sets_partition) - count);
		set = p * c->sets_partition + best;
		n = most < IRU_LANES - have ? most : IRU_LANES - have;
		take(c, set, 0, n, pair + have, secondary + have);
		count[best] = (uint8_t)(most - n);
		memmove(&c->set_pair[(size_t)set * IRU_LANES],
			&c->set_pair[(size_t)set * IRU_LANES + n], (most - n) * sizeof(pair[0]));
		if (c->carry)
			memmove(&c->set_secondary[(size_t)set * IRU_LANES],
				&c->set_secondary[(size_t)set * IRU_LANES + n],
				(most - n) * sizeof(secondary[0]));
		have += n;
	}
	iru_output(c, k, cycle, GTU_WARP_TIMEOUT, pair, secondary, IRU_LANES);
	c->count.timeout++;
	return true;
}

/* Merge the remaining elements, by set, up to a full warp; false if none are left. */
static bool reply_end(struct iru_core *c, const struct iru_kernel *k, uint64_t cycle)
{
	const unsigned sets = 1u << c->shape.sets_log2;
	uint64_t pair[IRU_LANES];
	uint32_t secondary[IRU_LANES];
	unsigned have = 0;

	while (have < IRU_LANES && c->end_set < sets) {
		const unsigned rest = c->set_count[c->end_set] - c->end_at;
		const unsigned n = rest < IRU_LANES - have ? rest : IRU_LANES - have;

		take(c, c->end_set, c->end_at, n, pair + have, secondary + have);
		have += n;
		if (n < rest) {
			c->end_at += n;
		} else {
			c->end_set++;
			c->end_at = 0;
		}
	}
	if (!have)
		return false;
	iru_output(c, k, cycle, GTU_WARP_END, pair, secondary, have);
	c->count.end++;
	/* skip empty sets, so that the cycle of the last record detects the end */
	while (c->end_set < sets && c->set_count[c->end_set] == c->end_at)
		c->end_set++, c->end_at = 0;
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
	/* usually ends at the first set: reply_end() skips the empty ones */
	for (unsigned s = c->end_set; s < sets; s++)
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
