/* SPDX-License-Identifier: MIT */
/*
 * Reference model of the SCU's results for tests: the rules of Documentation/units-scu.md, element
 * by element, with lists instead of tables. It shares no code with the unit.
 */
#ifndef GTU_SCU_REFERENCE_H
#define GTU_SCU_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "uapi/gtu/hw.h"

/* An array of elements (or bits) as a job's operand. */
struct ref_array {
	bool given;
	unsigned log2;			/* of the element size in bytes */
	uint64_t count;
	uint8_t *bytes;
};

struct ref_entry {
	uint64_t line;
	uint32_t ordinal[8];
	unsigned n;
};

struct ref_tables {
	/* filter: the ways of each set, in fill order */
	struct ref_way { uint64_t id, cost; } *way;
	unsigned *filled, *next;
	/* grouping: the entries of each set, oldest first */
	struct ref_entry (*entry)[16];
	unsigned *entries;
};

struct ref_job {
	unsigned op, step, type, cmp, target;
	bool unique, best, group, keep;
	uint64_t imm;
	struct ref_array a[GTU_SCU_OPERANDS];	/* copies owned by the job; outputs are written to them */
	uint64_t latency, lanes, limit;
	/* the completion */
	unsigned status, place;
	uint64_t element, needed, count, dropped, cycles, probes, evictions, groups;
};

static inline uint64_t ref_get(const struct ref_array *a, uint64_t i)
{
	uint64_t x = 0;

	memcpy(&x, a->bytes + (i << a->log2), 1u << a->log2);
	return x;
}

static inline void ref_put(struct ref_array *a, uint64_t i, uint64_t x)
{
	memcpy(a->bytes + (i << a->log2), &x, 1u << a->log2);
}

static inline bool ref_bit(const struct ref_array *a, uint64_t i)
{
	return a->bytes[i / 8] >> (i % 8) & 1;
}

/*
 * Bit outputs are written as whole bytes: the bits after bit i in its byte are 0 until they are
 * set.
 */
static inline void ref_put_bit(struct ref_array *a, uint64_t i, bool x)
{
	if (i % 8 == 0)
		a->bytes[i / 8] = 0;
	a->bytes[i / 8] |= (uint8_t)x << (i % 8);
}

static inline uint32_t ref_set(uint64_t id, uint64_t sets)
{
	uint32_t product = ((uint32_t)id ^ (uint32_t)(id >> 32)) * 0x9E3779B1u, bits = 0;

	while (sets > 1)
		sets /= 2, bits++;
	return bits ? product >> (32 - bits) : 0;
}

static inline bool ref_compare(uint64_t x, uint64_t y, unsigned log2, unsigned type, unsigned cmp)
{
	int order;			/* -1, 0, 1; 2: not comparable */

	if (type == GTU_TYPE_FLOAT) {
		float fx, fy;
		double dx, dy;

		memcpy(&fx, &x, 4), memcpy(&fy, &y, 4);
		memcpy(&dx, &x, 8), memcpy(&dy, &y, 8);
		if (log2 == 2)
			dx = fx, dy = fy;
		order = dx < dy ? -1 : dx > dy ? 1 : dx == dy ? 0 : 2;
	} else {
		unsigned shift = 64 - (8u << log2);

		x <<= shift, y <<= shift;
		if (type == GTU_TYPE_SIGNED)
			order = (int64_t)x < (int64_t)y ? -1 : x != y;
		else
			order = x < y ? -1 : x != y;
	}
	switch (cmp) {
	case GTU_CMP_EQ:
		return order == 0;
	case GTU_CMP_NE:
		return order != 0;
	case GTU_CMP_LT:
		return order == -1;
	case GTU_CMP_LE:
		return order == -1 || order == 0;
	case GTU_CMP_GT:
		return order == 1;
	default:
		return order == 1 || order == 0;
	}
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static inline void ref_tables_open(struct ref_tables *t, uint64_t filter_sets, uint64_t group_sets)
{
	t->way = test_alloc(filter_sets * 16, sizeof(*t->way));
	t->filled = test_alloc(filter_sets, sizeof(*t->filled));
	t->next = test_alloc(filter_sets, sizeof(*t->next));
	t->entry = test_alloc(group_sets, sizeof(*t->entry));
	t->entries = test_alloc(group_sets, sizeof(*t->entries));
}

static inline bool ref_filter(struct ref_job *j, struct ref_tables *t, uint64_t id, uint64_t cost)
{
	uint32_t set = ref_set(id, j->a[GTU_SCU_FILTER_TABLE].count / 16);
	struct ref_way *w = &t->way[16 * set];
	unsigned i;

	j->probes++;
	for (i = 0; i < t->filled[set]; i++) {
		if (w[i].id != id)
			continue;
		if (!j->best || !ref_compare(cost, w[i].cost, j->a[GTU_SCU_COST_GATHERED].log2, j->type,
					     GTU_CMP_LT))
			return false;
		w[i].cost = cost;
		return true;
	}
	if (t->filled[set] == 16)
		j->evictions++;
	else
		t->filled[set]++;
	w[t->next[set]] = (struct ref_way){ id, cost };
	t->next[set] = (t->next[set] + 1) % 16;
	return true;
}

struct ref_state {
	uint64_t units, ordinal, kept, out, rank;
	bool over, counting;
	unsigned over_place;
	uint64_t over_element;
};

static inline void ref_emit(struct ref_job *j, struct ref_state *s, struct ref_tables *t, uint32_t set,
			    unsigned which)
{
	struct ref_entry *e = &t->entry[set][which];
	unsigned i;

	for (i = 0; i < e->n; i++)
		ref_put(&j->a[GTU_SCU_REORDER], e->ordinal[i], s->rank++);
	j->groups++;
	t->entries[set]--;
	for (i = which; i < t->entries[set]; i++)
		t->entry[set][i] = t->entry[set][i + 1];
}

static inline void ref_group(struct ref_job *j, struct ref_state *s, struct ref_tables *t, uint64_t id)
{
	uint64_t line = (j->imm + (id << j->target)) / 128;
	uint32_t set = ref_set(line, j->a[GTU_SCU_GROUP_TABLE].count / 16);
	unsigned i;

	for (i = 0; i < t->entries[set] && t->entry[set][i].line != line; i++)
		;
	if (i == t->entries[set]) {
		if (i == 16) {
			ref_emit(j, s, t, set, 0);
			i--;
		}
		t->entry[set][i].line = line;
		t->entry[set][i].n = 0;
		t->entries[set]++;
	}
	t->entry[set][i].ordinal[t->entry[set][i].n++] = (uint32_t)s->ordinal;
	if (t->entry[set][i].n == 8)
		ref_emit(j, s, t, set, i);
}

/* ---- A job ----------------------------------------------------------------------------------- */

static inline void ref_error(struct ref_job *j, unsigned status, unsigned place, uint64_t element,
			     uint64_t value)
{
	j->status = status;
	j->place = place;
	j->element = element;
	j->needed = value;
}

static inline void ref_out(struct ref_job *j, struct ref_state *s, uint64_t i, uint64_t x)
{
	if (s->out < j->a[GTU_SCU_OUT].count) {
		ref_put(&j->a[GTU_SCU_OUT], s->out++, x);
	} else if (!s->over) {
		s->over = true;
		s->over_place = GTU_SCU_OUT;
		s->over_element = i;
	}
}

static inline uint64_t ref_cost(const struct ref_job *j, uint64_t i, uint64_t from)
{
	const struct ref_array *g = &j->a[GTU_SCU_COST_GATHERED], *in = &j->a[GTU_SCU_COST_INPUT];
	uint64_t x = g->given ? ref_get(g, from) : 0, y = in->given ? ref_get(in, i) : 0, sum = 0;

	if (!g->given || !in->given)
		return g->given ? x : y;
	if (j->type == GTU_TYPE_FLOAT && g->log2 == 2) {
		float a, b;

		memcpy(&a, &x, 4), memcpy(&b, &y, 4);
		a += b;
		memcpy(&sum, &a, 4);
	} else if (j->type == GTU_TYPE_FLOAT) {
		double a, b;

		memcpy(&a, &x, 8), memcpy(&b, &y, 8);
		a += b;
		memcpy(&sum, &a, 8);
	} else {
		sum = x + y;
		if (g->log2 == 2)
			sum = (uint32_t)sum;
	}
	return sum;
}

/* Process one element that the operation selects. False on an error. */
static inline bool ref_element(struct ref_job *j, struct ref_state *s, struct ref_tables *t, bool applying,
			       uint64_t i, uint64_t x, uint64_t from)
{
	struct ref_array *filter = &j->a[GTU_SCU_FILTER], *reorder = &j->a[GTU_SCU_REORDER];
	bool keep = true;

	if (applying && reorder->given) {
		uint64_t at = ref_get(reorder, s->ordinal);

		keep = at != 0xffffffff;
		if (keep && at >= j->a[GTU_SCU_OUT].count) {
			ref_error(j, GTU_CPL_INDEX, GTU_SCU_REORDER, i, at);
			return false;
		}
		if (keep) {
			ref_put(&j->a[GTU_SCU_OUT], at, x);
			s->out++;
		}
	} else if (applying) {
		keep = ref_bit(filter, s->ordinal);
		if (keep)
			ref_out(j, s, i, x);
	} else if (j->step == GTU_STEP_PLAIN) {
		ref_out(j, s, i, x);
	} else {
		if (j->unique || j->best) {
			keep = ref_filter(j, t, x, j->best ? ref_cost(j, i, from) : 0);
			if (filter->given)
				ref_put_bit(filter, s->ordinal, keep);
		} else if (filter->given) {
			keep = ref_bit(filter, s->ordinal);
		}
		if (j->group && keep)
			ref_group(j, s, t, x);
		else if (j->group)
			ref_put(reorder, s->ordinal, 0xffffffff);
		else if (keep && j->step == GTU_STEP_FUSED)
			ref_out(j, s, i, x);
		if (j->group && keep && j->step == GTU_STEP_FUSED && !s->over &&
		    s->kept == j->a[GTU_SCU_OUT].count) {
			s->over = true;
			s->over_place = GTU_SCU_OUT;
			s->over_element = i;
		}
	}
	s->kept += keep;
	j->dropped += !keep && !(applying && j->step == GTU_STEP_FUSED);
	s->ordinal++;
	s->units++;
	return true;
}

static inline uint64_t ref_sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* Run the operation over its whole input. False on an error. */
static inline bool ref_pass(struct ref_job *j, struct ref_state *s, struct ref_tables *t, bool applying)
{
	const struct ref_array *data = &j->a[GTU_SCU_DATA], *index = &j->a[GTU_SCU_INDEX];
	const struct ref_array *counts = &j->a[GTU_SCU_COUNT], *mask = &j->a[GTU_SCU_MASK];
	const struct ref_array *gathered = &j->a[GTU_SCU_COST_GATHERED];
	const bool writes_filter = !applying && (j->unique || j->best) && j->a[GTU_SCU_FILTER].given;
	const bool reads_filter = !writes_filter && j->a[GTU_SCU_FILTER].given &&
				  !(applying && j->a[GTU_SCU_REORDER].given);
	const bool indexed = index->given;
	uint64_t n = indexed ? index->count : data->count, i, k, cap = UINT64_MAX;
	unsigned cap_place = 0;
	bool cap_reads = false;

	if (j->step == GTU_STEP_PLAIN)
		cap = j->a[GTU_SCU_OUT].count, cap_place = GTU_SCU_OUT;
	if ((applying || j->group) && j->a[GTU_SCU_REORDER].given)
		cap = j->a[GTU_SCU_REORDER].count, cap_place = GTU_SCU_REORDER, cap_reads = applying;
	if ((reads_filter || writes_filter) && j->a[GTU_SCU_FILTER].count <= cap)
		cap = j->a[GTU_SCU_FILTER].count, cap_place = GTU_SCU_FILTER, cap_reads = reads_filter;

	for (i = 0; i < n; i++) {
		uint64_t c = counts->given ? ref_get(counts, i) : 1, from = i;

		if ((mask->given && !ref_bit(mask, i)) || !c) {
			s->units++;
			continue;
		}
		if (s->counting) {
			s->units++;
			j->needed = ref_sum(j->needed, c);
			continue;
		}
		if (indexed && s->ordinal < cap) {
			uint64_t room = data->given ? data->count : UINT64_MAX;

			from = ref_get(index, i);
			if (gathered->given && gathered->count < room)
				room = gathered->count;
			if (room != UINT64_MAX && (from >= room || c > room - from)) {
				bool bad_index = from >= room;

				ref_error(j, GTU_CPL_INDEX, bad_index ? GTU_SCU_INDEX : GTU_SCU_COUNT, i,
					  bad_index ? from : c);
				return false;
			}
		}
		for (k = 0; k < c; k++) {
			uint64_t at = counts->given && !indexed ? from : from + k;

			if (s->ordinal == cap) {
				if (cap_reads) {
					ref_error(j, GTU_CPL_INDEX, cap_place, i, s->ordinal);
					return false;
				}
				if (!s->over) {
					s->over = true;
					s->over_place = cap_place;
					s->over_element = i;
				}
				s->counting = true;
				j->needed = ref_sum(s->over_place == cap_place ? s->ordinal : s->kept, c - k);
				s->units += k == 0;
				break;
			}
			if (!ref_element(j, s, t, applying, i, data->given ? ref_get(data, at) : from, at))
				return false;
		}
	}
	return true;
}

/* Run the job on its arrays; @t holds the tables before and after it. */
static inline void ref_run(struct ref_job *j, struct ref_tables *t)
{
	const uint64_t filter_sets = j->a[GTU_SCU_FILTER_TABLE].count / 16;
	const uint64_t group_sets = j->a[GTU_SCU_GROUP_TABLE].count / 16;
	const bool filters = j->unique || j->best, apply = j->step == GTU_STEP_APPLY;
	const struct ref_array *data = &j->a[GTU_SCU_DATA];
	uint64_t fetches = j->a[GTU_SCU_INDEX].given && data->given ? 2 : 1, i;
	struct ref_state s = { 0 };
	bool ok;

	j->status = GTU_CPL_OK;
	j->place = 0xff;
	j->element = j->needed = j->count = j->dropped = j->probes = j->evictions = j->groups = 0;
	if (j->op == GTU_OP_SCU_BITMASK) {
		if (j->a[GTU_SCU_OUT].count < data->count) {
			ref_error(j, GTU_CPL_OVERFLOW, GTU_SCU_OUT, j->a[GTU_SCU_OUT].count, data->count);
			j->cycles = 1;
			return;
		}
		for (i = 0; i < data->count; i++)
			ref_put_bit(&j->a[GTU_SCU_OUT], i,
				    ref_compare(ref_get(data, i), j->imm, data->log2, j->type, j->cmp));
		j->count = data->count;
		j->cycles = j->latency + (data->count + j->lanes - 1) / j->lanes;
		return;
	}
	if (filters && !j->keep) {
		memset(t->filled, 0, filter_sets * sizeof(*t->filled));
		memset(t->next, 0, filter_sets * sizeof(*t->next));
		s.units += (filter_sets + 127) / 128 * j->lanes;
	}
	if (j->group && !j->keep) {
		memset(t->entries, 0, group_sets * sizeof(*t->entries));
		s.units += group_sets * j->lanes;
	}
	ok = ref_pass(j, &s, t, apply);
	j->count = j->step == GTU_STEP_PRODUCE ? s.kept : s.out;
	if (ok && j->group && !s.counting) {
		uint64_t emitted = s.rank;

		for (i = 0; i < group_sets; i++)
			while (t->entries[i])
				ref_emit(j, &s, t, (uint32_t)i, 0);
		s.units += group_sets * j->lanes + (s.rank - emitted);
		if (j->step == GTU_STEP_FUSED && !s.over) {
			s.ordinal = s.out = 0;
			fetches += fetches;
			ok = ref_pass(j, &s, t, true);
			j->count = s.out;
		}
	}
	if (ok && s.over) {
		j->status = GTU_CPL_OVERFLOW;
		j->place = s.over_place;
		j->element = s.over_element;
		if (!s.counting)
			j->needed = s.kept;
	}
	fetches += filters + j->group;
	j->cycles = fetches * j->latency + (s.units + j->lanes - 1) / j->lanes;
}

#endif
