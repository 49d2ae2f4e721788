// SPDX-License-Identifier: MIT
/* Names of vertices: reading them, keeping them in a graph and a container, and damaged ones. */
#include <stddef.h>

#include "libruntime/graph/graph_container.h"
#include "libruntime/graph/graph_internal.h"
#include "libruntime/graph/graph_names.h"
#include "container_bed.h"

static const struct gtu_read_options with_names = { .names = 1 };

static const char *file_of(const char *name, const char *content)
{
	const char *path = in_tmp(name);
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(content, f) >= 0 && !fclose(f));
	return path;
}

/* All names of @g, each followed by a blank. */
static const char *names_of(const struct gtu_graph *g)
{
	static char text[500];
	const char *name;
	size_t bytes;

	*text = 0;
	for (uint64_t v = 0; (name = gtu_graph_vertex_name(g, v, &bytes)); v++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s ", (int)bytes, name);
	return text;
}

TEST(named_vertices_are_numbered_by_first_occurrence)
{
	struct gtu_graph *g = open_graph(file_of("a.txt", "# friends\nbob alice 3\nalice,7\t4\n\n\303\251 bob 5\n"), &with_names);
	uint64_t v;

	CHECK(!strcmp(names_of(g), "bob alice 7 \303\251 "));
	CHECK(g->n == 4 && g->m == 3 && g->weight_type == GTU_WEIGHT_U32 && gtu_graph_target(g, 1) == 2);
	OK(gtu_graph_vertex_by_name(g, "7", &v, &err));
	CHECK_EQ(v, 2);
	FAILS(gtu_graph_vertex_by_name(g, "ali", &v, &err), GTU_ERR_USAGE, "a.txt has no vertex named 'ali'");
	FAILS(gtu_graph_vertex_by_name(g, "", &v, &err), GTU_ERR_USAGE, "no vertex named ''");
	g = open_graph(file_of("b.txt", "1 2\n"), NULL);
	CHECK(!*names_of(g));
	FAILS(gtu_graph_vertex_by_name(g, "1", &v, &err), GTU_ERR_USAGE, "have no names");
}

/* The first lines of a file with names are neither a heading nor a header "n m". */
TEST(no_line_is_a_header)
{
	CHECK(!strcmp(names_of(open_graph(file_of("a.txt", "source target\na b\n"), &with_names)), "source target a b "));
	CHECK(!strcmp(names_of(open_graph(file_of("b.txt", "2 1\n1 2\n"), &with_names)), "2 1 "));
}

TEST(each_of_20000_names_finds_its_vertex)
{
	const char *path = in_tmp("many.txt");
	FILE *f = fopen(path, "w");
	struct gtu_graph *g;
	char name[32], want[32];
	const char *found;
	size_t bytes;
	uint64_t v;

	for (unsigned i = 0; i < 20000; i++)
		fprintf(f, "vertex-%u vertex-%u\n", i, (i * 7 + 1) % 20000);
	CHECK(!fclose(f));
	g = open_graph(path, &with_names);
	CHECK_EQ(g->n, 20000);
	for (unsigned i = 0; i < 20000; i += 997) {
		snprintf(name, sizeof(name), "vertex-%u", i);
		OK(gtu_graph_vertex_by_name(g, name, &v, &err));
		found = gtu_graph_vertex_name(g, v, &bytes);
		CHECK(bytes == strlen(name) && !memcmp(found, name, bytes));
		CHECK(g->row[v + 1] - g->row[v] == 1);
		snprintf(want, sizeof(want), "vertex-%u", (i * 7 + 1) % 20000);
		found = gtu_graph_vertex_name(g, gtu_graph_target(g, g->row[v]), &bytes);
		CHECK(bytes == strlen(want) && !memcmp(found, want, bytes));
	}
}

TEST(names_survive_every_copy)
{
	struct gtu_graph *g = open_graph(file_of("a.txt", "bob alice\nalice carol\n"), &with_names), *other;
	const char *path = in_tmp("a.gtu");

	OK(gtu_graph_symmetrize(g, NULL, &other, &err));
	CHECK(!strcmp(names_of(other), "bob alice carol "));
	gtu_graph_close(other);
	OK(gtu_graph_transpose(g, NULL, &other, &err));
	CHECK(!strcmp(names_of(other), "bob alice carol "));
	gtu_graph_close(other);
	for (int compressed = 0; compressed < 2; compressed++) {
		OK(compressed ? gtu_graph_save_compressed(g, path, NULL, &err) : gtu_graph_save(g, path, NULL, &err));
		other = open_graph(path, NULL);
		CHECK(!strcmp(names_of(other), "bob alice carol "));
		OK(gtu_graph_check(other, NULL, &err));
	}
	FAILS(gtu_graph_write(g, in_tmp("b.txt"), 0, NULL, NULL, &err), GTU_ERR_UNSUPPORTED, "has no names of vertices");
}

TEST(invalid_names_report_position)
{
	static const struct {
		const char *content, *says;
	} bad[] = {
		{ "a b\nc\n", "x.txt:2: expected a name of 1 to 255 bytes in column 2" },
		{ "a b\nc d\033[2J\n", "x.txt:2: expected a name of 1 to 255 bytes in column 2" },
		{ "a b\n,c\n", "x.txt:2: expected a name of 1 to 255 bytes in column 1" },
	};
	struct gtu_graph *g;
	char line[600];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		FAILS(gtu_graph_open(file_of("x.txt", bad[i].content), &with_names, NULL, &g, &err), GTU_ERR_INPUT, bad[i].says);
	snprintf(line, sizeof(line), "%0255d b\n", 0);
	open_graph(file_of("long.txt", line), &with_names);
	snprintf(line, sizeof(line), "%0256d b\n", 0);
	FAILS(gtu_graph_open(file_of("x.txt", line), &with_names, NULL, &g, &err), GTU_ERR_INPUT, "x.txt:1: expected a name");
	FAILS(gtu_graph_open(file_of("a.graph", "2 1\n2\n1\n"), &with_names, NULL, &g, &err), GTU_ERR_USAGE,
	      "whose vertices have no names; only an edge list");
}

/* Set a word of the name section, without and with a checksum that matches. */
TEST(damaged_names_are_reported)
{
	struct gtu_graph *g = open_graph(file_of("a.txt", "bob alice\nalice carol\n"), &with_names), *bad;
	const char *path = in_tmp("a.gtu");
	struct gtu_container_header h;
	uint64_t block[8];
	FILE *f;

	for (int word = 0; word < 5; word++) {
		OK(gtu_graph_save(g, path, NULL, &err));
		f = fopen(path, "r+");
		CHECK(f && fread(&h, sizeof(h), 1, f) == 1 && h.names.bytes == 4 * 8 + 13);
		CHECK(!fseek(f, (long)h.names.offset, SEEK_SET) && fread(block, h.names.bytes, 1, f) == 1);
		/* offsets that descend or are beyond the text, and a control character in the text */
		block[word] = word == 4 ? 0x0707070707070707u : word == 3 ? 1u << 30 : ~0ull;
		h.names.sum = gtu_container_sum(block, h.names.bytes);
		h.sum = gtu_container_header_sum(&h);
		CHECK(!fseek(f, (long)h.names.offset, SEEK_SET) && fwrite(block, h.names.bytes, 1, f) == 1);
		CHECK(!fseek(f, 0, SEEK_SET) && fwrite(&h, sizeof(h), 1, f) == 1 && !fclose(f));
		bad = open_graph(path, NULL);
		CHECK(strchr(names_of(bad), ' '));
		FAILS(gtu_graph_check(bad, NULL, &err), GTU_ERR_INPUT, "the name of vertex");
	}
	/* a section that is too short for its offsets */
	h.names.bytes = 8;
	h.sum = gtu_container_header_sum(&h);
	damage(path, offsetof(struct gtu_container_header, names) + 8, 8, 8);
	damage(path, offsetof(struct gtu_container_header, sum), h.sum, 8);
	FAILS(gtu_graph_open(path, NULL, NULL, &bad, &err), GTU_ERR_INPUT, "the name section has 8 bytes, not 32");
}

TEST_MAIN
