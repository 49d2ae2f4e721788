// SPDX-License-Identifier: MIT
/*
 * Graphs by rule. A permutation of the numbers below 2^bits adds a key, then alternates x ^= x >> bits / 2
 * (rounded up) with products of odd constants. Each of these steps has an inverse of the same cost, so both
 * directions of an edge are computed from either end.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench_gpu_rule.h"
#include "gtu/splitmix64.h"
#include "libruntime/support/array.h"
#include "libruntime/support/parallel.h"
#include "tools/support/cli.h"

#define FACTOR_A 0x9e3779b1u
#define FACTOR_B 0x85ebca6bu
#define KEYS_MAX 64u

struct permutation {
	uint32_t mask, shift, inverse_a, inverse_b;
};

struct rule {
	uint64_t half;
	uint32_t keys, key[2 * KEYS_MAX];	/* of all vertices, then of the first half */
	struct permutation all, first;
	uint64_t *row;
	uint32_t *col;
};

/* The inverse of an odd number modulo 2^32, by Newton's method. */
static uint32_t inverse(uint32_t x)
{
	uint32_t y = x, i;

	for (i = 0; i < 5; i++)
		y *= 2 - x * y;
	return y;
}

static struct permutation permutation(uint32_t bits)
{
	return (struct permutation){ .mask = (uint32_t)((1ull << bits) - 1), .shift = (bits + 1) / 2,
				     .inverse_a = inverse(FACTOR_A), .inverse_b = inverse(FACTOR_B) };
}

static uint32_t forward(const struct permutation *p, uint32_t x, uint32_t key)
{
	x = (x + key) & p->mask;
	x = (x ^ x >> p->shift) * FACTOR_A & p->mask;
	x = (x ^ x >> p->shift) * FACTOR_B & p->mask;
	return x ^ x >> p->shift;
}

static uint32_t backward(const struct permutation *p, uint32_t x, uint32_t key)
{
	x = (x ^ x >> p->shift) * p->inverse_b & p->mask;
	x = (x ^ x >> p->shift) * p->inverse_a & p->mask;
	x ^= x >> p->shift;
	return (x - key) & p->mask;
}

static uint64_t row_of(const struct rule *r, uint64_t v)
{
	return v <= r->half ? v * 4 * r->keys : r->half * 4 * r->keys + (v - r->half) * 2 * r->keys;
}

static int fill(void *arg, uint64_t first, uint64_t end)
{
	const struct rule *r = arg;
	uint32_t *to = r->col + row_of(r, first), i;
	uint64_t v;

	for (v = first; v < end; v++) {
		r->row[v] = row_of(r, v);
		for (i = 0; i < r->keys; i++) {
			*to++ = forward(&r->all, (uint32_t)v, r->key[i]);
			*to++ = backward(&r->all, (uint32_t)v, r->key[i]);
		}
		for (; v < r->half && i < 2 * r->keys; i++) {
			*to++ = forward(&r->first, (uint32_t)v, r->key[i]);
			*to++ = backward(&r->first, (uint32_t)v, r->key[i]);
		}
	}
	return 0;
}

bool bench_rule_is(const char *name)
{
	return !strncmp(name, "rule:", 5);
}

int bench_rule_make(const char *name, struct gtu_graph *g, struct gtu_error *err)
{
	char text[64], *colon;
	uint64_t scale = 0, degree = 48, i;
	struct rule r;

	snprintf(text, sizeof(text), "%s", name + 5);
	colon = strchr(text, ':');
	if (colon)
		*colon = 0;
	if (!cli_u64("the scale of --graph", text, 2, 31, &scale) ||
	    (colon && !cli_u64("the degree of --graph", colon + 1, 3, 3 * KEYS_MAX, &degree)))
		return gtu_fail(err, GTU_ERR_USAGE, "--graph %s is not a valid graph", name);
	if (degree % 3)
		return gtu_fail(err, GTU_ERR_USAGE, "--graph %s has degree %" PRIu64 ", which must be a multiple of 3", name,
				degree);
	r = (struct rule){ .half = 1ull << (scale - 1), .keys = (uint32_t)degree / 3,
			   .all = permutation((uint32_t)scale), .first = permutation((uint32_t)scale - 1) };
	for (i = 0; i < 2 * r.keys; i++)
		r.key[i] = (uint32_t)gtu_splitmix64_hash(i + 1);
	memset(g, 0, sizeof(*g));
	g->n = 1ull << scale;
	g->m = g->n * degree;
	g->stored = g->m / 2;
	g->flags = GTU_GRAPH_CHECKED;
	g->edge_bytes = 4;
	g->row = r.row = gtu_array_alloc(8 * (g->n + 1));
	g->col = r.col = gtu_array_alloc(4 * g->m);
	snprintf(g->name, sizeof(g->name), "%s", name);
	if (!r.row || !r.col) {
		bench_rule_free(g);
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for %s: %" PRIu64 " bytes", name, 8 * g->n + 4 * g->m);
	}
	gtu_parallel_by(1 << 16, fill, &r, g->n);
	r.row[g->n] = g->m;
	return 0;
}

void bench_rule_free(struct gtu_graph *g)
{
	free((void *)(uintptr_t)g->row);
	free((void *)(uintptr_t)g->col);
	g->row = NULL;
	g->col = NULL;
}
