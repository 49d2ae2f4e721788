// SPDX-License-Identifier: MIT
/* Memory operations of the warp language: functional effect, and the entry queued for the LSU. */
#include "internal.h"

/* Lanes of @mask whose index is @count or more. */
static lab_mask outside(const uint32_t *index, lab_mask mask, uint32_t count)
{
	lab_mask bad = 0, bit;
	unsigned i;

	if (mask != ~0u) {
		for (; mask; mask &= mask - 1) {
			bit = mask & -mask;
			bad |= index[__builtin_ctz(mask)] < count ? 0 : bit;
		}
		return bad;
	}
	for (i = 0; i < LAB_LANES; i++)
		bad |= (lab_mask)(index[i] >= count) << i;
	return bad;
}

static struct lab_op *begin(struct lab_warp *w, unsigned s, const struct lab_array *a, unsigned width_log2,
			    enum lab_kind kind, const lab_u32 *index)
{
	const struct lab_kernel *k = w->lab->launch->kernel;
	uint64_t count = a->bytes >> width_log2;
	struct lab_op *op;
	lab_mask bad;
	lab_u32 *slot;

	if (s >= k->statements)
		lab_fault(w, "%s: statement %u of %u", k->name, s, k->statements);
	bad = count > UINT32_MAX ? 0 : outside((const uint32_t *)index, w->mask, (uint32_t)count);
	if (bad)
		lab_fault(w, "%s: %s in lane %d of warp %u, block %llu is element %u of array %s, which has %llu",
			  k->name, k->statement[s], __builtin_ctz(bad), w->in_block, (unsigned long long)w->block,
			  (*index)[__builtin_ctz(bad)], a->name, (unsigned long long)count);
	if (kind != LAB_LOAD && a->read_only)
		lab_fault(w, "%s: %s writes to array %s, which is read-only", k->name, k->statement[s], a->name);
	if (kind == LAB_ATOMIC && a->space == LAB_HOST)
		lab_fault(w, "%s: %s is an atomic on array %s in host memory, which the link does not support", k->name,
			  k->statement[s], a->name);
	if (w->ops == LAB_OPS)
		lab_wait_for(w, 0);
	slot = &w->index[w->ops];
	if (index != slot)
		*slot = *index;
	op = &w->op[w->ops++];
	op->base = a->addr;
	op->mask = w->mask;
	op->statement = (uint16_t)s;
	op->kind = (uint8_t)kind;
	op->width_log2 = (uint8_t)(a->apart ? LAB_APART_LOG2 : width_log2);
	op->space = (uint8_t)a->space;
	op->board = kind == LAB_STORE ? LAB_BOARDS : LAB_LOADS;
	w->threads += lab_popcount(w->mask);
	return op;
}

void lab_do_load32(struct lab_warp *w, unsigned s, const struct lab_array *a, const lab_u32 *index, lab_u32 *value)
{
	const uint32_t *data = a->data, *at = (const uint32_t *)index;
	uint32_t *to = (uint32_t *)value;
	lab_mask m = w->mask;
	unsigned i;

	if (!m) {
		*value = (lab_u32){ 0 };
		return;
	}
	begin(w, s, a, 2, LAB_LOAD, index);
	if (m == ~0u) {
		for (i = 0; i < LAB_LANES; i++)
			to[i] = data[at[i]];
		return;
	}
	*value = (lab_u32){ 0 };
	for (; m; m &= m - 1)
		to[__builtin_ctz(m)] = data[at[__builtin_ctz(m)]];
}

void lab_do_load64(struct lab_warp *w, unsigned s, const struct lab_array *a, const lab_u32 *index, lab_u64 *value)
{
	const uint64_t *data = a->data;
	const uint32_t *at = (const uint32_t *)index;
	uint64_t *to = (uint64_t *)value;
	lab_mask m = w->mask;

	*value = (lab_u64){ 0 };
	if (!m)
		return;
	begin(w, s, a, 3, LAB_LOAD, index);
	for (; m; m &= m - 1)
		to[__builtin_ctz(m)] = data[at[__builtin_ctz(m)]];
}

void lab_do_store32(struct lab_warp *w, unsigned s, const struct lab_array *a, const lab_u32 *index,
		    const lab_u32 *value)
{
	const uint32_t *at = (const uint32_t *)index, *from = (const uint32_t *)value;
	uint32_t *data = a->data;
	lab_mask m = w->mask;

	if (!m)
		return;
	begin(w, s, a, 2, LAB_STORE, index);
	for (; m; m &= m - 1)
		data[at[__builtin_ctz(m)]] = from[__builtin_ctz(m)];
}

static uint32_t apply(enum lab_atomic op, uint32_t old, uint32_t value, uint32_t compare)
{
	float x, y;

	switch (op) {
	case LAB_ADD_U32:
		return old + value;
	case LAB_ADD_F32:
		memcpy(&x, &old, 4);
		memcpy(&y, &value, 4);
		x += y;
		memcpy(&old, &x, 4);
		return old;
	case LAB_MIN_U32:
		return value < old ? value : old;
	case LAB_MAX_U32:
		return value > old ? value : old;
	case LAB_CAS_U32:
		return old == compare ? value : old;
	}
	return old;
}

void lab_atomic_ready(struct lab_warp *w)
{
	if (w->lab->m.atomics < LAB_ATOMICS_STORE)
		/* it would write the same destination register as the previous one */
		lab_wait_for(w, 1u << LAB_ATOMICS);
}

void lab_do_atomic(struct lab_warp *w, unsigned s, const struct lab_array *a, enum lab_atomic op,
		   const lab_u32 *index, const lab_u32 *value, const lab_u32 *compare, lab_u32 *old)
{
	const uint32_t *at = (const uint32_t *)index, *from = (const uint32_t *)value;
	uint32_t *data = a->data, was;
	struct lab_op *o;
	lab_mask m;
	unsigned l;

	if (old)
		*old = (lab_u32){ 0 };
	if (!w->mask)
		return;
	if (!old)
		lab_atomic_ready(w);
	o = begin(w, s, a, 2, LAB_ATOMIC, index);
	if (w->lab->m.atomics == LAB_ATOMICS_LOAD)
		o->kind = LAB_LOAD;
	else if (!old)
		o->board = w->lab->m.atomics == LAB_ATOMICS_STORE ? LAB_BOARDS : LAB_ATOMICS;
	for (m = w->mask; m; m &= m - 1) {
		l = (unsigned)__builtin_ctz(m);
		was = data[at[l]];
		data[at[l]] = apply(op, was, from[l], compare ? (*compare)[l] : 0);
		if (old)
			(*old)[l] = was;
	}
	if (!old && w->lab->m.atomics == LAB_ATOMICS_BLOCK)
		lab_wait_for(w, 1u << LAB_ATOMICS);
}

void *lab_shared_words(struct lab_warp *w, const lab_u32 *index)
{
	uint32_t words = w->shared_bytes / 4, seen[LAB_LANES][LAB_LANES], in_bank[LAB_LANES] = { 0 }, degree = 1, i;
	const uint32_t *at = (const uint32_t *)index;
	lab_mask m, bad = lab_ge(*index, lab_all(words)) & w->mask;

	if (bad)
		lab_fault(w, "%s: lane %d of warp %u, block %llu is at word %u of its shared memory, which has %u",
			  w->lab->launch->kernel->name, __builtin_ctz(bad), w->in_block, (unsigned long long)w->block,
			  (*index)[__builtin_ctz(bad)], words);
	/* a bank serves one word per cycle, to all lanes that access it */
	for (m = w->mask; m; m &= m - 1) {
		uint32_t word = at[__builtin_ctz(m)], bank = word % LAB_LANES;

		for (i = 0; i < in_bank[bank] && seen[bank][i] != word; i++)
			;
		if (i == in_bank[bank])
			seen[bank][in_bank[bank]++] = word;
		degree = in_bank[bank] > degree ? in_bank[bank] : degree;
	}
	if (w->mask) {
		lab_alu(w, 1);
		w->lab->stats.shared_accesses++;
		w->lab->stats.shared_conflicts += degree - 1;
		w->extra += w->lab->m.shared_latency + degree - 1;
	}
	return w->shared;
}
