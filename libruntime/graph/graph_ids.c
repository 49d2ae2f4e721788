// SPDX-License-Identifier: MIT
/* Maps input ids to vertices 0..n-1 in linear time. */
#include <stdlib.h>
#include <string.h>

#include "graph_internal.h"

#define RANK_BITS 512			/* one rank per cache line of the bitmap */
#define BITMAP_FREE (1u << 23)		/* bitmaps up to this size (1 MiB) are always used */

void gtu_id_map_free(struct gtu_id_map *map)
{
	free(map->ids);
	free(map->bits);
	free(map->rank);
	free(map->key);
	free(map->value);
	memset(map, 0, sizeof(*map));
}

static uint64_t hash_id(uint64_t id)
{
	id = (id ^ (id >> 32)) * 0x9E3779B97F4A7C15ull;
	return id ^ (id >> 29);
}

/* The slot of @id, or the empty slot where it would be inserted. */
static uint64_t find_slot(const struct gtu_id_map *map, uint64_t id)
{
	uint64_t slot = hash_id(id) & map->mask;

	while (map->key[slot] && map->key[slot] != id + 1)
		slot = (slot + 1) & map->mask;
	return slot;
}

uint64_t gtu_id_map_find(const struct gtu_id_map *map, uint64_t id)
{
	uint64_t at, word, v, slot;

	if (id < map->base || id - map->base >= map->range)
		return GTU_NO_VERTEX;
	at = id - map->base;
	if (map->bits) {
		word = at / 64;
		if (!(map->bits[word] >> (at % 64) & 1))
			return GTU_NO_VERTEX;
		v = map->rank[at / RANK_BITS];
		for (slot = at / RANK_BITS * (RANK_BITS / 64); slot < word; slot++)
			v += (uint64_t)__builtin_popcountll(map->bits[slot]);
		return v + (uint64_t)__builtin_popcountll(map->bits[word] & ((1ull << (at % 64)) - 1));
	}
	if (map->key) {
		slot = find_slot(map, id);
		return map->key[slot] ? map->value[slot] : GTU_NO_VERTEX;
	}
	return at;
}

static int build_bitmap(struct gtu_id_map *map, const void *const *array, int count, uint64_t length,
			uint32_t bytes)
{
	uint64_t blocks = map->range / RANK_BITS + 1, words = blocks * (RANK_BITS / 64);
	uint64_t i, w, n = 0, at;
	int a;

	map->bits = calloc(words, sizeof(*map->bits));
	map->rank = calloc(blocks, sizeof(*map->rank));
	if (!map->bits || !map->rank)
		return -1;
	for (a = 0; a < count; a++)
		for (i = 0; i < length; i++) {
			at = gtu_get(array[a], bytes, i) - map->base;
			map->bits[at / 64] |= 1ull << (at % 64);
		}
	for (w = 0; w < words; w++) {
		if (w % (RANK_BITS / 64) == 0)
			map->rank[w / (RANK_BITS / 64)] = n;
		n += (uint64_t)__builtin_popcountll(map->bits[w]);
	}
	map->n = n;
	if (n == map->range) {
		free(map->bits);
		free(map->rank);
		map->bits = map->rank = NULL;
		return 0;
	}
	map->ids = gtu_array_alloc(n * sizeof(*map->ids));
	if (!map->ids)
		return -1;
	for (w = 0, n = 0; w < words; w++) {
		uint64_t bits = map->bits[w];

		for (; bits; bits &= bits - 1)
			map->ids[n++] = map->base + w * 64 + (uint64_t)__builtin_ctzll(bits);
	}
	return 0;
}

static int rehash(struct gtu_id_map *map, uint64_t slots)
{
	uint64_t *old = map->key, count = old ? map->mask + 1 : 0, i;

	map->key = calloc(slots, sizeof(*map->key));
	if (!map->key) {
		map->key = old;
		return -1;
	}
	map->mask = slots - 1;
	for (i = 0; i < count; i++)
		if (old[i])
			map->key[find_slot(map, old[i] - 1)] = old[i];
	free(old);
	return 0;
}

/* LSD radix sort; skips bytes that are equal in all ids. */
static int radix_sort(uint64_t **ids, uint64_t n)
{
	uint64_t *from = *ids, *to, *swap, start[256], i;
	unsigned int shift;

	to = gtu_array_alloc(n * sizeof(*to));
	if (!to)
		return -1;
	for (shift = 0; shift < 64; shift += 8) {
		memset(start, 0, sizeof(start));
		for (i = 0; i < n; i++)
			start[from[i] >> shift & 255]++;
		if (n && start[from[0] >> shift & 255] == n)
			continue;
		gtu_prefix_sum(start, 256);
		for (i = 0; i < n; i++)
			to[start[from[i] >> shift & 255]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	free(to);
	*ids = from;
	return 0;
}

static int build_hash(struct gtu_id_map *map, const void *const *array, int count, uint64_t length,
		      uint32_t bytes)
{
	uint64_t i, id, slot, n = 0;
	int a;

	if (rehash(map, 1024))
		return -1;
	for (a = 0; a < count; a++)
		for (i = 0; i < length; i++) {
			id = gtu_get(array[a], bytes, i);
			slot = find_slot(map, id);
			if (map->key[slot])
				continue;
			map->key[slot] = id + 1;
			if (++n > map->mask / 2 && rehash(map, (map->mask + 1) * 2))
				return -1;
		}
	map->n = n;
	map->ids = gtu_array_alloc(n * sizeof(*map->ids));
	map->value = malloc((map->mask + 1) * sizeof(*map->value));
	if (!map->ids || !map->value)
		return -1;
	for (slot = 0, n = 0; slot <= map->mask; slot++)
		if (map->key[slot])
			map->ids[n++] = map->key[slot] - 1;
	if (radix_sort(&map->ids, n))
		return -1;
	for (i = 0; i < n; i++)
		map->value[find_slot(map, map->ids[i])] = i;
	return 0;
}

int gtu_id_map_build(struct gtu_id_map *map, const void *const *array, int count, uint64_t length,
		     uint32_t bytes, struct gtu_error *err)
{
	uint64_t low = UINT64_MAX, high = 0, i, id;
	int a, rc;

	memset(map, 0, sizeof(*map));
	for (a = 0; a < count; a++)
		for (i = 0; i < length; i++) {
			id = gtu_get(array[a], bytes, i);
			low = id < low ? id : low;
			high = id > high ? id : high;
		}
	if (low > high)
		return 0;
	map->base = low;
	map->range = high - low + 1;
	/* the bitmap may use as much memory as the ids themselves; otherwise they are too sparse */
	if (map->range <= BITMAP_FREE || map->range / 8 / bytes <= length * (unsigned int)count)
		rc = build_bitmap(map, array, count, length, bytes);
	else
		rc = build_hash(map, array, count, length, bytes);
	if (rc) {
		gtu_id_map_free(map);
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory numbering the vertices of %llu "
				"edges",
				(unsigned long long)length);
	}
	return 0;
}
