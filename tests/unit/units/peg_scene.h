/* SPDX-License-Identifier: MIT */
/* Random builds, graphs and streams for GraphPEG's core and its reference model, and the core's memory port. */
#ifndef PEG_SCENE_H
#define PEG_SCENE_H

#include "firmware-model/units/peg/peg_core.h"
#include "peg_naive.h"

#define VERTICES_MAX 1200u

struct scene {
	uint64_t seed;
	struct peg_shape shape;
	struct peg_stream stream;
	struct nv_config cfg;
	uint64_t row[VERTICES_MAX + 1], left[NV_ENGINES];
	struct nv_ask ask[80];
	bool cut, random_latency;
	uint64_t random;
	struct { uint64_t at[4096]; unsigned n; } off_chip[NV_ENGINES];
	struct {
		enum peg_kind kind;
		unsigned engine, slot;
		uint64_t cycle;
		bool open;
	} reply[8192];
	unsigned replies;
};

static unsigned pick(uint64_t *r, unsigned low, unsigned high)
{
	return low + (unsigned)(test_random(r) % (high - low + 1));
}

/* ---- Fetch port ------------------------------------------------------------------------------ */

static uint64_t when(struct scene *s, enum peg_kind kind, unsigned e, unsigned slot, uint64_t cycle)
{
	if (!s->random_latency)
		return cycle + s->cfg.latency;
	if (pick(&s->random, 0, 2))
		return cycle + pick(&s->random, 1, 300);
	CHECK(s->replies < 8192);
	s->reply[s->replies].kind = kind;
	s->reply[s->replies].engine = e;
	s->reply[s->replies].slot = slot;
	s->reply[s->replies].cycle = cycle + pick(&s->random, 1, 600);
	s->reply[s->replies++].open = true;
	return PEG_NEVER;
}

static uint64_t ask_refill(void *ctx, unsigned e, unsigned slot, uint64_t first, unsigned count, uint64_t cycle)
{
	struct scene *s = ctx;

	CHECK(count && count <= PEG_CHUNK && first + count <= s->cfg.inputs[e]);
	CHECK(first / PEG_CHUNK == (first + count - 1) / PEG_CHUNK);
	return when(s, PEG_REFILL, e, slot, cycle);
}

static uint64_t ask_index(void *ctx, unsigned e, unsigned slot, uint64_t vertex, uint64_t cycle)
{
	CHECK(vertex < ((struct scene *)ctx)->cfg.vertices);
	return when(ctx, PEG_INDEX, e, slot, cycle);
}

static uint64_t ask_edges(void *ctx, unsigned e, unsigned slot, uint64_t first, unsigned count, uint64_t cycle)
{
	const struct scene *s = ctx;
	const uint64_t a = s->cfg.addr + first * s->cfg.id_bytes;

	CHECK(count && a / 128 == (a + (uint64_t)count * s->cfg.id_bytes - 1) / 128);
	return when(ctx, PEG_EDGES, e, slot, cycle);
}

static void put(void *to, unsigned i, unsigned log2, uint64_t value)
{
	if (log2 == 3)
		((uint64_t *)to)[i] = value;
	else
		((uint32_t *)to)[i] = (uint32_t)value;
}

static uint64_t get(const void *from, unsigned i, unsigned log2)
{
	return log2 == 3 ? ((const uint64_t *)from)[i] : ((const uint32_t *)from)[i];
}

static bool load_vertices(void *ctx, unsigned e, uint64_t first, unsigned count, void *to)
{
	const struct scene *s = ctx;

	for (unsigned i = 0; i < count; i++)
		put(to, i, s->stream.id_log2, s->cfg.input[e][first + i]);
	return true;
}

static bool load_index(void *ctx, unsigned e, uint64_t v, uint64_t *start, uint64_t *end)
{
	(void)e;
	*start = ((struct scene *)ctx)->row[v];
	*end = ((struct scene *)ctx)->row[v + 1];
	return true;
}

/* Edge i has target 7 i + 3 and weight 5 i. */
static bool load_edges(void *ctx, unsigned e, uint64_t first, unsigned count, void *ids, void *weights)
{
	const struct scene *s = ctx;

	(void)e;
	for (unsigned i = 0; i < count; i++) {
		if (ids)
			put(ids, i, s->stream.id_log2, 7 * (first + i) + 3);
		if (weights)
			put(weights, i, s->stream.weight_log2, 5 * (first + i));
	}
	return true;
}

static bool spill(void *ctx, unsigned e, const uint64_t *vertex, unsigned count)
{
	struct scene *s = ctx;

	for (unsigned i = 0; i < count; i++) {
		CHECK(s->off_chip[e].n < 4096);
		s->off_chip[e].at[s->off_chip[e].n++] = vertex[i];
	}
	return true;
}

static bool unspill(void *ctx, unsigned e, uint64_t *vertex, unsigned count)
{
	struct scene *s = ctx;

	CHECK(count <= s->off_chip[e].n);
	s->off_chip[e].n -= count;
	memcpy(vertex, s->off_chip[e].at + s->off_chip[e].n, count * sizeof(*vertex));
	return true;
}

/* ---- Random streams -------------------------------------------------------------------------- */

static void make(struct scene *s, uint64_t seed)
{
	uint64_t r = seed * 31 + 7, edges = 0;
	const bool published = !pick(&r, 0, 3);
	struct peg_stream *t = &s->stream;
	struct nv_config *c = &s->cfg;
	unsigned kind = pick(&r, 0, 4), inputs, edge = 0;

	memset(s, 0, offsetof(struct scene, off_chip));
	for (unsigned n = 0; n < NV_ENGINES; n++)
		s->off_chip[n].n = 0;
	s->seed = s->random = seed;
	s->replies = 0;
	c->engines = published ? pick(&r, 1, 16) : pick(&r, 1, 6);
	s->shape = (struct peg_shape){
		.engines = (uint16_t)(c->engines + pick(&r, 0, 2)),
		.entries = published ? 24 : (uint16_t)pick(&r, 1, 40),
		.edge_bytes = published ? 2048 : 1024 + 32 * pick(&r, 0, 60),
		.list_bytes = published ? 46 * 1024 : 16 * pick(&r, 1, pick(&r, 0, 1) ? 10 : 60),
	};
	c->entries = s->shape.entries;
	c->latency = published ? 200 : pick(&r, 1, 250);
	c->vertices = pick(&r, 1, pick(&r, 0, 3) ? 300 : VERTICES_MAX);
	for (unsigned i = 0; i < c->vertices; i++) {
		s->row[i] = edges;
		edges += kind == 0 ? pick(&r, 0, 4) : kind == 1 ? pick(&r, 0, 80) : kind == 2 ? 1 :
			 !pick(&r, 0, 60) ? pick(&r, 500, 3000) : pick(&r, 0, 6);
	}
	s->row[c->vertices] = edges;
	*t = (struct peg_stream){
		.engines = (uint16_t)c->engines,
		.vertex_list = !pick(&r, 0, 7),
		.pull = pick(&r, 0, 1),
		.id_log2 = 2 + (uint8_t)pick(&r, 0, 1),
		.offset_log2 = 2 + (uint8_t)pick(&r, 0, 1),
		.weight_log2 = 2 + (uint8_t)pick(&r, 0, 1),
		.vertices = c->vertices,
		.edges = edges,
		.interval = pick(&r, 0, 2) ? 512 : pick(&r, 1, 700),
		.floor = pick(&r, 0, 1) ? 32 : pick(&r, 2, 600),
		.shift = (uint8_t)pick(&r, 0, 8),
		.message = (uint16_t)pick(&r, 1, 60),
		.balance_edges = pick(&r, 0, 3),
	};
	t->stand_by = t->balance_edges && pick(&r, 0, 1);
	t->edges_addr = (uint64_t)pick(&r, 0, 99) << t->id_log2;
	if (t->vertex_list) {
		t->balance_edges = t->stand_by = t->pull = false;
		t->field[0] = true;
	} else {
		for (unsigned f = 0; f < 4; f++)
			t->field[f] = pick(&r, 0, 1);
		t->field[3] |= !t->field[0] && !t->field[1] && !t->field[2];
	}
	for (unsigned f = 0; f < 4; f++)
		edge += t->field[f] ? 1u << (f < 2 ? t->id_log2 : f == 2 ? t->weight_log2 : t->offset_log2) : 0;
	c->edge_cap = s->shape.edge_bytes / edge;
	c->list_cap = s->shape.list_bytes / 2 >> t->id_log2;
	c->interval = t->interval;
	c->floor = t->floor;
	c->shift = t->shift;
	c->message = t->message;
	c->vertex_list = t->vertex_list;
	c->balance = t->balance_edges;
	c->stand_by = t->stand_by;
	c->addr = t->edges_addr;
	c->id_bytes = 1u << t->id_log2;
	c->row = s->row;
	inputs = pick(&r, 0, 5) ? pick(&r, 0, (unsigned)c->vertices) : pick(&r, 0, 3);
	for (unsigned n = 0; n < c->engines; n++)
		c->input[n] = test_alloc(inputs + 1, sizeof(uint64_t));
	for (unsigned i = 0; i < inputs; i++) {
		const unsigned n = kind == 4 ? 0 : i / 32 % c->engines;	/* 4: all vertices go to one engine */

		c->input[n][c->inputs[n]++] = pick(&r, 0, (unsigned)c->vertices - 1);
	}
	for (unsigned n = 0; n < c->engines; n++)
		s->left[n] = c->inputs[n];
	t->left = s->left;
	if (!pick(&r, 0, 3)) {
		uint64_t cycle = 0, requested[NV_ENGINES] = { 0 };

		t->demand = true;
		c->ask = s->ask;
		c->asks = pick(&r, 0, 60 - c->engines);
		for (unsigned i = 0; i < c->asks; i++) {
			const unsigned e = pick(&r, 0, c->engines - 1);

			cycle += pick(&r, 0, 1) ? pick(&r, 0, 20) : pick(&r, 0, 1500);
			s->ask[i] = (struct nv_ask){ cycle, requested[e] += pick(&r, 0, 20), e };
		}
		for (unsigned e = 0; e < c->engines; e++)	/* at the end, request all records */
			s->ask[c->asks++] = (struct nv_ask){ cycle + 3000 + pick(&r, 0, 1) * e, 1 << 30, e };
		for (unsigned i = 1; i < c->asks; i++)
			CHECK(s->ask[i].cycle >= s->ask[i - 1].cycle || i >= c->asks - c->engines);
		for (unsigned i = c->asks - c->engines; i < c->asks; i++)
			s->ask[i].cycle = cycle + 3000 + i;
	}
	s->cut = pick(&r, 0, 1);
}

static struct peg_port port_of(struct scene *s)
{
	return (struct peg_port){
		.ctx = s, .refill = ask_refill, .index = ask_index, .edges = ask_edges,
		.load_vertices = load_vertices, .load_index = load_index, .load_edges = load_edges,
		.spill = spill, .unspill = unspill, .latency = s->random_latency ? 0 : (uint32_t)s->cfg.latency,
	};
}

#endif
