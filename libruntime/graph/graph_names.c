// SPDX-License-Identifier: MIT
/*
 * Names of vertices: the table that a reader fills, and access to the names of a graph. A graph's names
 * are one block, as in a container: n + 1 offsets (u64) into the text behind them, then the text.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "gtu/splitmix64.h"
#include "graph_names.h"
#include "libruntime/support/memory.h"

static uint64_t hash_of(const struct gtu_name_table *t, const uint8_t *name, size_t bytes)
{
	uint64_t h = t->seed, word;

	for (; bytes; name += word, bytes -= word) {
		uint64_t part = 0;

		word = bytes < 8 ? bytes : 8;
		memcpy(&part, name, word);
		h = gtu_splitmix64_hash(h ^ part) + word;
	}
	return h;
}

/* The slot of @name, or the empty slot where it belongs. */
static uint64_t slot_of(const struct gtu_name_table *t, const uint8_t *name, size_t bytes)
{
	uint64_t slot = hash_of(t, name, bytes) & t->mask, id;

	for (; t->slot[slot]; slot = (slot + 1) & t->mask) {
		id = t->slot[slot] - 1;
		if (t->at[id + 1] - t->at[id] == bytes && !memcmp(t->text + t->at[id], name, bytes))
			break;
	}
	return slot;
}

static int grow(struct gtu_name_table *t, struct gtu_error *err)
{
	const uint64_t capacity = t->capacity ? t->capacity * 2 : 64;
	uint64_t *at, *slot, id;

	if (capacity > UINT32_MAX)
		return gtu_fail(err, GTU_ERR_INPUT, "more than %llu vertices with names are too many",
				(unsigned long long)t->capacity);
	if (gtu_check_memory(capacity * 16, NULL, "the table of names", err))
		return GTU_ERR_NOMEM;
	at = realloc(t->at, (capacity + 1) * sizeof(*at));
	slot = calloc(capacity * 2, sizeof(*slot));
	if (at)
		t->at = at;
	if (!at || !slot) {
		free(slot);
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the names of %llu vertices",
				(unsigned long long)capacity);
	}
	/* a file must not be able to choose names that collide */
	if (!t->capacity && getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) < 0)
		t->seed = (uintptr_t)slot;
	t->at[0] = 0;
	free(t->slot);
	t->slot = slot;
	t->mask = capacity * 2 - 1;
	t->capacity = capacity;
	for (id = 0; id < t->n; id++)
		t->slot[slot_of(t, (uint8_t *)t->text + t->at[id], t->at[id + 1] - t->at[id])] = id + 1;
	return 0;
}

static int append(struct gtu_name_table *t, const uint8_t *name, size_t bytes, struct gtu_error *err)
{
	const uint64_t used = t->n ? t->at[t->n] : 0;
	char *text;

	if (used + bytes > t->room) {
		const uint64_t room = (used + bytes) * 2 + 4096;

		if (gtu_check_memory(room, NULL, "the text of the names", err))
			return GTU_ERR_NOMEM;
		text = realloc(t->text, room);
		if (!text)
			return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu bytes of names",
					(unsigned long long)room);
		t->text = text;
		t->room = room;
	}
	memcpy(t->text + used, name, bytes);
	t->at[++t->n] = used + bytes;
	return 0;
}

bool gtu_name_valid(const char *name, uint64_t bytes)
{
	uint64_t i;

	for (i = 0; i < bytes && (uint8_t)name[i] > ' ' && name[i] != 0x7f; i++)
		;
	return bytes && bytes <= GTU_NAME_MAX && i == bytes;
}

int gtu_names_id(struct gtu_name_table *t, const uint8_t *name, size_t bytes, uint64_t *id, struct gtu_error *err)
{
	uint64_t slot;
	int rc = t->n == t->capacity ? grow(t, err) : 0;

	if (rc)
		return rc;
	slot = slot_of(t, name, bytes);
	*id = t->slot[slot] ? t->slot[slot] - 1 : t->n;
	if (*id < t->n)
		return 0;
	rc = append(t, name, bytes, err);
	if (!rc)
		t->slot[slot] = t->n;
	return rc;
}

void *gtu_names_block(const struct gtu_name_table *t, uint64_t *bytes, struct gtu_error *err)
{
	const uint64_t offsets = (t->n + 1) * sizeof(uint64_t), text = t->n ? t->at[t->n] : 0;
	char *block = malloc(offsets + text);

	if (!block) {
		gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the names of %llu vertices", (unsigned long long)t->n);
		return NULL;
	}
	memcpy(block, t->at, offsets);
	memcpy(block + offsets, t->text, text);
	*bytes = offsets + text;
	return block;
}

void gtu_names_free(struct gtu_name_table *t)
{
	free(t->at);
	free(t->text);
	free(t->slot);
	memset(t, 0, sizeof(*t));
}

/* ---- Names of a graph -------------------------------------------------------------------------------- */

/* In an unchecked container the offsets may be anything: they are checked at each access. */
const char *gtu_graph_vertex_name(const struct gtu_graph *g, uint64_t v, size_t *bytes)
{
	const struct gtu_graph_backing *b = g->backing;
	uint64_t offsets = (g->n + 1) * sizeof(uint64_t), begin, end;
	const char *name;

	*bytes = 0;
	if (!b || !b->names || v >= g->n || b->names_bytes < offsets)
		return NULL;
	begin = b->names[v];
	end = b->names[v + 1];
	if (begin > end || end > b->names_bytes - offsets)
		return "?";
	name = (const char *)b->names + offsets + begin;
	if (!gtu_name_valid(name, end - begin))
		return "?";
	*bytes = end - begin;
	return name;
}

int gtu_graph_vertex_by_name(const struct gtu_graph *g, const char *name, uint64_t *v, struct gtu_error *err)
{
	const size_t wanted = strlen(name);
	const char *is;
	size_t bytes;

	for (*v = 0; (is = gtu_graph_vertex_name(g, *v, &bytes)); ++*v)
		if (bytes == wanted && !memcmp(is, name, bytes))
			return 0;
	return gtu_fail(err, GTU_ERR_USAGE, *v ? "%s has no vertex named '%s'" :
			"the vertices of %s have no names, so there is none named '%s'", g->name, name);
}

int gtu_graph_check_names(const struct gtu_graph *g, const char *label, struct gtu_error *err)
{
	size_t bytes;
	uint64_t v;

	for (v = 0; v < g->n && g->backing && g->backing->names; v++) {
		gtu_graph_vertex_name(g, v, &bytes);
		if (!bytes)
			return gtu_fail(err, GTU_ERR_INPUT, "%s: the name of vertex %llu is not 1 to %u bytes of text without "
					"blanks", label, (unsigned long long)v, GTU_NAME_MAX);
	}
	return 0;
}
