// SPDX-License-Identifier: MIT
/* Messages about vertices: sets, pairs of a vertex and a value, and arrays. */
#include <stdlib.h>
#include <string.h>

#include "libruntime/support/array.h"
#include "partition.h"

#define BITMAP (1ull << 63)		/* in the first word of a set: a bitmap follows, not a list */

static uint64_t bitmap_bytes(const struct gtu_part *p, uint32_t owner)
{
	return (gtu_part_range(p, owner) + 63) / 64 * 8;
}

uint64_t gtu_part_set_bytes(const struct gtu_part *p, uint32_t owner, uint64_t count)
{
	const uint64_t list = count * p->id_bytes, bitmap = bitmap_bytes(p, owner);

	return count ? 8 + (list < bitmap ? list : bitmap) : 0;
}

int gtu_part_send_set(struct gtu_part *p, struct gtu_outbox *o, uint32_t to, uint32_t owner, const uint64_t *v,
		      uint64_t count)
{
	const uint64_t first = p->cut[owner], bytes = gtu_part_set_bytes(p, owner, count);
	const bool bitmap = bytes - 8 < count * p->id_bytes;
	const uint64_t head = count | (bitmap ? BITMAP : 0);
	uint64_t i;
	char *at;

	if (!count)
		return 0;
	at = gtu_outbox_add(o, to, bytes);
	if (!at)
		return gtu_outbox_full(p->x);
	memcpy(at, &head, 8);
	at += 8;
	if (bitmap)
		memset(at, 0, bytes - 8);
	for (i = 0; i < count; i++) {
		const uint64_t id = v[i] - first;

		if (bitmap)
			at[id >> 3] |= (char)(1u << (id & 7));
		else
			gtu_store_id(at + i * p->id_bytes, p->id_bytes, id);
	}
	return 0;
}

int gtu_part_send_to_owners(struct gtu_part *p, struct gtu_outbox *o, const struct gtu_list *l)
{
	uint64_t *start = calloc(p->ranks + 1ull, sizeof(*start)), *sorted = malloc((l->count + 1) * sizeof(*sorted));
	uint64_t i, first = 0;
	uint32_t rank;
	int rc = start && sorted ? 0 : gtu_outbox_full(p->x);

	for (i = 0; !rc && i < l->count; i++)
		start[gtu_part_owner(p, l->at[i])]++;
	if (!rc)
		gtu_prefix_sum(start, p->ranks);
	for (i = 0; !rc && i < l->count; i++)
		sorted[start[gtu_part_owner(p, l->at[i])]++] = l->at[i];
	for (rank = 0; !rc && rank < p->ranks; rank++) {
		rc = gtu_part_send_set(p, o, rank, rank, sorted + first, start[rank] - first);
		first = start[rank];
	}
	free(start);
	free(sorted);
	return rc;
}

int gtu_part_bad_message(struct gtu_part *p, uint32_t from)
{
	return gtu_fail(p->x->err, GTU_ERR_FAIL, "the message of rank %u has vertices out of range or a wrong length: it "
			"runs another version or another graph", from);
}

static int receive_set(struct gtu_part *p, const struct gtu_message *m, uint32_t from, uint32_t owner,
		       struct gtu_list *l)
{
	const uint64_t first = p->cut[owner], range = gtu_part_range(p, owner);
	uint64_t head, count, i, id, word;
	int rc = 0;

	if (!m->bytes)
		return 0;
	if (m->bytes < 8)
		return gtu_part_bad_message(p, from);
	memcpy(&head, m->data, 8);
	count = head & ~BITMAP;
	if (count > range || m->bytes != 8 + (head & BITMAP ? bitmap_bytes(p, owner) : count * p->id_bytes))
		return gtu_part_bad_message(p, from);
	if (!(head & BITMAP)) {
		for (i = 0; !rc && i < count; i++) {
			id = gtu_load_id(m->data + 8 + i * p->id_bytes, p->id_bytes);
			rc = id < range ? gtu_list_push(l, first + id, p->x) : gtu_part_bad_message(p, from);
		}
		return rc;
	}
	for (i = 0; !rc && i < range; i += 64) {
		memcpy(&word, m->data + 8 + i / 8, 8);
		for (; !rc && word; word &= word - 1) {
			id = i + (uint64_t)__builtin_ctzll(word);
			rc = id < range ? gtu_list_push(l, first + id, p->x) : gtu_part_bad_message(p, from);
		}
	}
	return rc;
}

int gtu_part_receive_sets(struct gtu_part *p, const struct gtu_outbox *o, enum gtu_owner owner, struct gtu_list *l)
{
	uint32_t from;
	int rc = 0;

	for (from = 0; !rc && from < p->ranks; from++)
		rc = receive_set(p, &o->from[from], from, owner == GTU_SENDERS ? from : p->x->ranks.rank, l);
	return rc;
}

int gtu_part_send_pair(struct gtu_part *p, struct gtu_outbox *o, uint32_t to, uint32_t owner, uint64_t v,
		       uint64_t value)
{
	const uint64_t id = v - p->cut[owner];
	char *at = gtu_outbox_add(o, to, p->id_bytes + 8u);

	if (!at)
		return gtu_outbox_full(p->x);
	gtu_store_id(at, p->id_bytes, id);
	memcpy(at + p->id_bytes, &value, 8);
	return 0;
}

int gtu_part_receive_pairs(struct gtu_part *p, const struct gtu_outbox *o, enum gtu_owner owner, gtu_pair_fn *fn,
			   void *context)
{
	const uint64_t bytes = p->id_bytes + 8u;
	uint64_t at, id, value;
	uint32_t from, whose;
	int rc = 0;

	for (from = 0; !rc && from < p->ranks; from++) {
		whose = owner == GTU_SENDERS ? from : p->x->ranks.rank;
		if (o->from[from].bytes % bytes || o->from[from].bytes / bytes > gtu_part_range(p, whose))
			return gtu_part_bad_message(p, from);
		for (at = 0; !rc && at < o->from[from].bytes; at += bytes) {
			id = gtu_load_id(o->from[from].data + at, p->id_bytes);
			memcpy(&value, o->from[from].data + at + p->id_bytes, 8);
			rc = id < gtu_part_range(p, whose) ? fn(context, p->cut[whose] + id, value) :
							     gtu_part_bad_message(p, from);
		}
	}
	return rc;
}

int gtu_part_send_array(struct gtu_part *p, struct gtu_outbox *o, uint32_t to, const void *values, uint64_t count)
{
	char *at = count ? gtu_outbox_add(o, to, count * 8) : NULL;

	if (!count)
		return 0;
	if (!at)
		return gtu_outbox_full(p->x);
	memcpy(at, values, count * 8);
	return 0;
}

const void *gtu_part_receive_array(struct gtu_part *p, const struct gtu_outbox *o, uint32_t from, uint64_t count)
{
	static const uint64_t empty;

	if (o->from[from].bytes == count * 8)
		return count ? o->from[from].data : (const char *)&empty;
	gtu_part_bad_message(p, from);
	return NULL;
}
