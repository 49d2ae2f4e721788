// SPDX-License-Identifier: MIT
/*
 * Reader of GraphML (graphml.graphdrawing.org), using expat: one flat graph, directed or
 * undirected. If all names are a common prefix and a number ("n17"), the numbers are the ids;
 * otherwise vertices are numbered in file order. Weights are the edge attribute "weight", else
 * "value", else the only numeric one.
 */
#include <expat.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "reader.h"

#define MAX_KEYS 64

struct key {
	char id[40];
	bool named_weight, named_value;
	bool has_default;
	double value;			/* the default */
};

/* Vertex names in one block, with a hash table of vertex + 1. */
struct names {
	char *text;
	size_t used, room;
	uint64_t *start;		/* offset of each vertex' name */
	uint8_t *declared;		/* declared by a <node>, not only named by an edge */
	uint64_t count, count_capacity;
	uint64_t *slot, mask;
};

struct graphml {
	struct gtu_input *in;
	XML_Parser parser;
	const struct gtu_read_options *opt;
	struct gtu_raw_graph raw;
	struct names names;
	struct key key[MAX_KEYS];	/* numeric edge attributes */
	int keys, weight_key;		/* -1: no weights */
	int default_of;			/* the key that a <default> belongs to, or -1 */
	bool in_graph, in_edge, collecting, edge_has_weight;
	char text[64];
	size_t text_length;
	int rc;
	struct gtu_error *err;
};

/* Current line. Expat 2.9 deprecates the old function, whose type has 32 bits on some systems. */
static uint64_t line_of(const struct graphml *g)
{
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
	return XML_GetCurrentLineNumber64(g->parser);
#else
	return XML_GetCurrentLineNumber(g->parser);
#endif
}

static void fail(struct graphml *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void fail(struct graphml *g, const char *fmt, ...)
{
	char sentence[200];
	va_list ap;

	if (g->rc)
		return;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	g->rc = gtu_fail(g->err, GTU_ERR_INPUT, "%s:%" PRIu64 ": %s", g->in->path, line_of(g), sentence);
	XML_StopParser(g->parser, XML_FALSE);
}

static void fail_memory(struct graphml *g)
{
	if (g->rc)
		return;
	g->rc = gtu_fail(g->err, GTU_ERR_NOMEM, "%s: out of memory for %llu vertices", g->in->path,
			 (unsigned long long)g->names.count);
	XML_StopParser(g->parser, XML_FALSE);
}

static uint64_t hash_name(const char *name)
{
	uint64_t h = 0xCBF29CE484222325ull;

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 0x100000001B3ull;
	return h ^ h >> 32;
}

static uint64_t find_slot(const struct names *s, const char *name)
{
	uint64_t at = hash_name(name) & s->mask;

	while (s->slot[at] && strcmp(s->text + s->start[s->slot[at] - 1], name))
		at = (at + 1) & s->mask;
	return at;
}

static int grow_names(struct names *s, size_t length)
{
	uint64_t slots, *slot, *old = s->slot, v;
	void *bigger;

	if (s->room - s->used < length) {
		s->room = s->room * 2 + length + 4096;
		bigger = realloc(s->text, s->room);
		if (!bigger)
			return -1;
		s->text = bigger;
	}
	if (s->count == s->count_capacity) {
		s->count_capacity = s->count_capacity ? s->count_capacity * 2 : 256;
		bigger = realloc(s->start, s->count_capacity * sizeof(*s->start));
		if (!bigger)
			return -1;
		s->start = bigger;
		bigger = realloc(s->declared, s->count_capacity);
		if (!bigger)
			return -1;
		s->declared = bigger;
	}
	if (s->slot && s->count < s->mask / 2)
		return 0;
	slots = s->slot ? (s->mask + 1) * 2 : 1024;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -1;
	s->slot = slot;
	s->mask = slots - 1;
	for (v = 0; v < s->count; v++)
		slot[find_slot(s, s->text + s->start[v])] = v + 1;
	free(old);
	return 0;
}

/* Find the vertex by name, or create it; GTU_NO_VERTEX if out of memory. */
static uint64_t vertex_of(struct names *s, const char *name)
{
	size_t length = strlen(name) + 1;
	uint64_t at;

	if (grow_names(s, length))
		return GTU_NO_VERTEX;
	at = find_slot(s, name);
	if (!s->slot[at]) {
		memcpy(s->text + s->used, name, length);
		s->start[s->count] = s->used;
		s->declared[s->count] = 0;
		s->used += length;
		s->slot[at] = ++s->count;
	}
	return s->slot[at] - 1;
}

static const char *attribute(const XML_Char **attributes, const char *name)
{
	for (; attributes[0]; attributes += 2)
		if (!strcmp(attributes[0], name))
			return attributes[1];
	return NULL;
}

static void start_key(struct graphml *g, const XML_Char **a)
{
	static const char *const numeric[] = { "int", "long", "float", "double", "short" };
	const char *of = attribute(a, "for"), *type = attribute(a, "attr.type"), *id = attribute(a, "id");
	const char *name = attribute(a, "attr.name");
	struct key *k = &g->key[g->keys];
	size_t i;

	if (g->in_graph) {
		fail(g, "a <key> follows the start of <graph>");
		return;
	}
	g->default_of = -1;
	if (!id || !type || (of && strcmp(of, "edge") && strcmp(of, "all")) || strlen(id) >= sizeof(k->id))
		return;
	for (i = 0; i < 5 && strcmp(type, numeric[i]); i++)
		;
	if (i == 5)
		return;
	if (g->keys == MAX_KEYS) {
		fail(g, "there are more than %d numeric edge attributes", MAX_KEYS);
		return;
	}
	snprintf(k->id, sizeof(k->id), "%s", id);
	k->named_weight = name && !strcmp(name, "weight");
	k->named_value = name && !strcmp(name, "value");
	g->default_of = g->keys++;
}

static void choose_weights(struct graphml *g)
{
	int i, value = -1;

	g->weight_key = -1;
	if (g->opt->weight_column > 0) {
		if (g->opt->weight_column > g->keys)
			fail(g, "there are %d numeric edge attributes, but number %d was requested "
			     "as weights", g->keys,
			     g->opt->weight_column);
		else
			g->weight_key = g->opt->weight_column - 1;
	} else if (!g->opt->weight_column) {
		for (i = g->keys - 1; i >= 0; i--) {
			if (g->key[i].named_weight)
				g->weight_key = i;
			if (g->key[i].named_value)
				value = i;
		}
		if (g->weight_key < 0)
			g->weight_key = value >= 0 ? value : g->keys == 1 ? 0 : -1;
	}
	gtu_edges_init(&g->raw.edges, g->weight_key >= 0);
}

static void start_graph(struct graphml *g, const XML_Char **a)
{
	const char *direction = attribute(a, "edgedefault");

	if (g->in_graph) {
		fail(g, "there is a second or nested <graph>: only one flat graph is supported");
		return;
	}
	g->in_graph = true;
	g->default_of = -1;		/* a <graph> inside a <key> ends it */
	g->raw.undirected = direction && !strcmp(direction, "undirected");
	choose_weights(g);
}

static void start_edge(struct graphml *g, const XML_Char **a)
{
	const char *from = attribute(a, "source"), *to = attribute(a, "target");
	const char *directed = attribute(a, "directed");
	uint64_t u, v;

	if (!from || !to) {
		fail(g, "an <edge> has no source or target");
		return;
	}
	if (directed && !strcmp(directed, g->raw.undirected ? "true" : "false")) {
		fail(g, "the graph has both directed and undirected edges");
		return;
	}
	u = vertex_of(&g->names, from);
	v = vertex_of(&g->names, to);
	if (u == GTU_NO_VERTEX || v == GTU_NO_VERTEX) {
		fail_memory(g);
		return;
	}
	if (gtu_edges_push(&g->raw.edges, u, v, NULL))
		fail_memory(g);
	g->in_edge = true;
	g->edge_has_weight = false;
}

static void start_element(void *user, const XML_Char *name, const XML_Char **a)
{
	struct graphml *g = user;
	const char *id;
	uint64_t v;

	if (g->rc)
		return;
	g->collecting = false;
	if (!strcmp(name, "node") && g->in_graph) {
		id = attribute(a, "id");
		v = id ? vertex_of(&g->names, id) : 0;
		if (!id)
			fail(g, "a <node> has no id");
		else if (v == GTU_NO_VERTEX)
			fail_memory(g);
		else if (g->names.declared[v])
			fail(g, "node '%.40s' occurs a second time", id);
		else
			g->names.declared[v] = 1;
	} else if (!strcmp(name, "edge") && g->in_graph) {
		start_edge(g, a);
	} else if (!strcmp(name, "key")) {
		start_key(g, a);
	} else if (!strcmp(name, "graph")) {
		start_graph(g, a);
	} else if (!strcmp(name, "hyperedge")) {
		fail(g, "hyperedges are not supported");
	} else if (!strcmp(name, "data") && g->in_edge && g->weight_key >= 0) {
		id = attribute(a, "key");
		g->collecting = id && !strcmp(id, g->key[g->weight_key].id);
		g->text_length = 0;
	} else if (!strcmp(name, "default") && g->default_of >= 0) {
		g->collecting = true;
		g->text_length = 0;
	}
}

static void characters(void *user, const XML_Char *text, int length)
{
	struct graphml *g = user;

	if (!g->collecting || g->rc)
		return;
	if ((size_t)length > sizeof(g->text) - g->text_length) {
		fail(g, "a number has more than %zu characters", sizeof(g->text));
		return;
	}
	memcpy(g->text + g->text_length, text, (size_t)length);
	g->text_length += (size_t)length;
}

/* Parse the collected number; *whole is its value if it is a whole number, else UINT64_MAX. */
static bool number(struct graphml *g, double *value, uint64_t *whole)
{
	const uint8_t *p = (const uint8_t *)g->text, *end = p + g->text_length;

	while (p < end && (gtu_is_blank(*p) || *p == '\n'))
		p++;
	while (end > p && (gtu_is_blank(end[-1]) || end[-1] == '\n'))
		end--;
	*whole = UINT64_MAX;
	if (gtu_scan_u64(&p, end, whole)) {
		*value = (double)*whole;
		return p == end;
	}
	return gtu_scan_real(&p, end, value) && p == end;
}

static void set_weight(struct graphml *g, double value, uint64_t whole)
{
	struct gtu_edge_list *l = &g->raw.edges;

	if (whole != UINT64_MAX ? gtu_edges_weight_u64(l, whole, NULL) : gtu_edges_weight_f64(l, value, NULL))
		fail_memory(g);
	g->edge_has_weight = true;
}

static void end_element(void *user, const XML_Char *name)
{
	struct graphml *g = user;
	uint64_t whole;
	double value;

	if (g->rc)
		return;
	if (g->collecting && (!strcmp(name, "data") || !strcmp(name, "default"))) {
		g->collecting = false;
		if (!number(g, &value, &whole)) {
			fail(g, "expected a number, found '%.*s'", (int)g->text_length, g->text);
		} else if (g->in_edge) {
			set_weight(g, value, whole);
		} else {
			g->key[g->default_of].has_default = true;
			g->key[g->default_of].value = value;
		}
	} else if (!strcmp(name, "edge") && g->in_edge) {
		g->in_edge = false;
		if (g->weight_key >= 0 && !g->edge_has_weight) {
			if (!g->key[g->weight_key].has_default)
				fail(g, "an edge has no weight '%s'", g->key[g->weight_key].id);
			else
				set_weight(g, g->key[g->weight_key].value, UINT64_MAX);
		}
	} else if (!strcmp(name, "key")) {
		g->default_of = -1;
	}
}

/* Reject entities: graphs do not need them, and they can expand without bound. */
static void entity(void *user, const XML_Char *name, int is_parameter, const XML_Char *value, int length,
		   const XML_Char *base, const XML_Char *system, const XML_Char *public,
		   const XML_Char *notation)
{
	(void)is_parameter, (void)value, (void)length, (void)base, (void)system, (void)public, (void)notation;
	fail(user, "the file declares the entity '%.40s': entities are not allowed", name);
}

static int parse(struct graphml *g, struct gtu_error *err)
{
	struct gtu_input *in = g->in;
	int rc, length;
	bool final;

	do {
		if (in->cur == in->end) {
			rc = gtu_input_fill(in, err);
			if (rc < 0)
				return rc;
		}
		final = in->ended;
		length = in->end - in->cur > 1 << 20 ? 1 << 20 : (int)(in->end - in->cur);
		if (final && length < in->end - in->cur)
			final = false;
		if (XML_Parse(g->parser, (const char *)in->cur, length, final) == XML_STATUS_ERROR) {
			if (g->rc)
				return g->rc;
			return gtu_fail(err, GTU_ERR_INPUT, "%s:%" PRIu64 ": %s", in->path, line_of(g),
					XML_ErrorString(XML_GetErrorCode(g->parser)));
		}
		in->cur += length;
	} while (!final);
	return g->rc;
}

/* Split "n17" into prefix length and number; false if the name has another form. */
static bool split_name(const char *name, size_t *prefix, uint64_t *value)
{
	size_t n = strlen(name), at = n;
	const uint8_t *p;

	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	*prefix = at;
	p = (const uint8_t *)name + at;
	return at < n && (name[at] != '0' || at + 1 == n) && gtu_scan_u64(&p, (const uint8_t *)name + n, value);
}

/* Number vertices by the numbers in their names, ascending, if all have one. */
static int number_vertices(struct graphml *g, struct gtu_error *err)
{
	struct names *s = &g->names;
	struct gtu_edge_list *l = &g->raw.edges;
	uint64_t *id = malloc(s->count * sizeof(*id) + 1), v, e;
	const void *array = id;
	struct gtu_id_map map;
	size_t prefix = 0, p;
	int rc;

	g->raw.n = s->count;
	if (!id)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %llu vertices",
				(unsigned long long)s->count);
	for (v = 0; v < s->count; v++) {
		const char *name = s->text + s->start[v];

		if (!split_name(name, &p, &id[v]) || (v && (p != prefix || memcmp(name, s->text, prefix))))
			break;
		prefix = p;
	}
	if (v < s->count) {
		free(id);
		return 0;
	}
	rc = gtu_id_map_build(&map, &array, 1, s->count, 8, err);
	if (!rc) {
		for (v = 0; v < s->count; v++)
			if (map.ids) /* without gaps keep the ids: gtu_raw_finish() subtracts the lowest */
				id[v] = gtu_id_map_find(&map, id[v]);
		if (!map.ids)
			g->raw.id_base = map.base;
		if (!map.ids && (map.base + s->count) >> 32 && l->id_bytes == 4)
			rc = gtu_edges_widen_ids(l, err);
		for (e = 0; e < l->m && !rc; e++) {
			gtu_put(l->src, l->id_bytes, e, id[gtu_get(l->src, l->id_bytes, e)]);
			gtu_put(l->dst, l->id_bytes, e, id[gtu_get(l->dst, l->id_bytes, e)]);
		}
		g->raw.ids = map.ids;
		map.ids = NULL;
		gtu_id_map_free(&map);
	}
	free(id);
	return rc;
}

static int check_nodes(struct graphml *g, struct gtu_error *err)
{
	uint64_t v;

	if (!g->in_graph)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: the file has no <graph>", g->in->path);
	for (v = 0; v < g->names.count; v++)
		if (!g->names.declared[v])
			return gtu_fail(err, GTU_ERR_INPUT, "%s: edges name '%.60s', which is not "
					"a node", g->in->path,
					g->names.text + g->names.start[v]);
	return 0;
}

static bool detect(const struct gtu_input *in)
{
	size_t bytes = (size_t)(in->end - in->cur);

	return gtu_path_ends(in->path, ".graphml") ||
	       (bytes > 5 && memmem(in->cur, bytes < 4096 ? bytes : 4096, "<graphml", 8));
}

static int read_graphml(struct gtu_input *in, const struct gtu_read_options *opt, struct gtu_graph **out,
			struct gtu_error *err)
{
	struct graphml g = { .in = in, .opt = opt, .raw = { .declared = true }, .weight_key = -1,
			     .default_of = -1, .err = err };
	int rc;

	*out = NULL;
	g.parser = XML_ParserCreate(NULL);
	if (!g.parser)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory reading %s", in->path);
	XML_SetUserData(g.parser, &g);
	XML_SetElementHandler(g.parser, start_element, end_element);
	XML_SetCharacterDataHandler(g.parser, characters);
	XML_SetEntityDeclHandler(g.parser, entity);
	gtu_edges_init(&g.raw.edges, false);
	rc = parse(&g, err);
	XML_ParserFree(g.parser);
	if (!rc)
		rc = check_nodes(&g, err);
	if (!rc)
		rc = number_vertices(&g, err);
	free(g.names.text);
	free(g.names.start);
	free(g.names.declared);
	free(g.names.slot);
	if (rc) {
		gtu_edges_free(&g.raw.edges);
		free(g.raw.ids);
		return rc;
	}
	return gtu_raw_finish(&g.raw, opt, in->progress, out, err);
}

const struct gtu_reader gtu_reader_graphml = { "GraphML", detect, read_graphml, false };
