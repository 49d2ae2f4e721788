// SPDX-License-Identifier: MIT
/*
 * Readers on small inputs in memory and on files: results per format, and messages for invalid
 * input.
 */
#include <fcntl.h>
#include <lzma.h>
#include <math.h>
#include <stdbool.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "libruntime/graph/read/reader.h"
#include "libruntime/support/memory.h"
#include "tests/unit/library.h"


static struct gtu_graph *load(const char *name, const void *data, size_t size,
			      const struct gtu_read_options *opt, const struct gtu_companion *beside)
{
	struct gtu_graph *g;
	struct gtu_input in;
	int rc;

	err.text[0] = 0;
	gtu_input_memory(&in, data, size, name);
	in.beside = beside;
	rc = gtu_graph_read(&in, NULL, opt, &g, &err);
	gtu_input_close(&in);
	CHECKF((rc == 0) == (g != NULL) && (rc == 0 || *err.text), "%s: rc %d without its due", name, rc);
	return g ? keep_graph(g) : NULL;
}

static struct gtu_graph *text(const char *name, const char *content, const struct gtu_read_options *opt)
{
	return load(name, content, strlen(content), opt, NULL);
}

/* Describe a graph in a short string: "3 5 d [1: 2 3] ..." with ids, weights after a slash. */
static void describe(const struct gtu_graph *g, char *to, size_t room)
{
	size_t at = 0;
	uint64_t v, e;

	at += (size_t)snprintf(to + at, room - at, "%c", g->flags & GTU_GRAPH_DIRECTED ? 'd' : 'u');
	for (v = 0; v < g->n && at < room; v++) {
		at += (size_t)snprintf(to + at, room - at, " %" PRIu64 ":", gtu_graph_id(g, v));
		for (e = g->row[v]; e < g->row[v + 1] && at < room; e++) {
			at += (size_t)snprintf(to + at, room - at, "%s%" PRIu64, e > g->row[v] ? "," : "",
					       gtu_graph_id(g, gtu_graph_target(g, e)));
			if (g->weight_type == GTU_WEIGHT_U32)
				at += (size_t)snprintf(to + at, room - at, "/%u", ((const uint32_t *)g->weight)[e]);
			else if (g->weight_type == GTU_WEIGHT_F64)
				at += (size_t)snprintf(to + at, room - at, "/%gf", ((const double *)g->weight)[e]);
		}
	}
}

/* The graph is the one that @want describes. */
static void described(const struct gtu_graph *g, const char *want)
{
	char found[500];

	CHECKF(g, "%s", err.text);
	describe(g, found, sizeof(found));
	CHECKF(!strcmp(found, want), "%s, expected %s", found, want);
}

struct good {
	const char *name, *content, *graph;
	struct gtu_read_options opt;
};

static const struct good goods[] = {
	{ "a.txt", "1 2\n2 3\n", "d 1:2 2:3 3:", { 0 } },
	{ "a.txt", "1\t2\r\n\r\n2,3\r\n3 , 1", "d 1:2 2:3 3:1", { 0 } },
	{ "a.txt", "# c\n% c\n  7 5 {}\n5 7 {}\n", "d 5:7 7:5", { 0 } },
	{ "a.txt", "1 2 2020-01-02\n2 1 7x\n", "d 1:2 2:1", { 0 } },
	{ "a.txt", "1 2 nan\n2 1 7\n", "d 1:2 2:1", { .weight_column = -1 } },
	{ "a.txt", "1 2 inf\n2 1 7\n", "d 1:2/inff 2:1/7f", { 0 } },
	{ "a.txt", "1 2\r\r\n2 3\r", "d 1:2 2:3 3:", { 0 } },
	{ "a.txt", "\xef\xbb\xbf" "1 2\n2 1\n", "d 1:2 2:1", { 0 } },
	{ "a", "\xef\xbb\xbf%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n", "d 1:2 2:", { 0 } },
	{ "a", "\xef\xbb\xbfp sp 2 1\na 1 2 5\n", "d 1:2/5 2:", { 0 } },
	{ "a", "\xef\xbb\xbf<graphml><graph edgedefault='undirected'><node id='n7'/></graph></graphml>", "u 7:", { 0 } },
	{ "a.graph", "\xef\xbb\xbf" "2 1\n2\n1\n", "u 1:2 2:1", { 0 } },
	{ "a.txt", "source,target,weight\n1,2,5\n2,1,6\n", "d 1:2/5 2:1/6", { 0 } },
	{ "a.txt", "1 2 0.5\n2 1 3\n", "d 1:2/0.5f 2:1/3f", { 0 } },
	{ "a.txt", "1 2 5\n2 1 -3\n", "d 1:2/5f 2:1/-3f", { 0 } },
	{ "a.txt", "1 2 5\n2 1 4294967296\n", "d 1:2/5f 2:1/4.29497e+09f", { 0 } },
	{ "a.txt", "1 2 5 9\n2 1 6 8\n", "d 1:2/9 2:1/8", { .weight_column = 2 } },
	{ "a.txt", "1 2 5\n2 1 6\n", "d 1:2 2:1", { .weight_column = -1 } },
	{ "a.txt", "1 2\n2 1\n1 3\n3 3\n", "u 1:2,3 2:1 3:1,3", { .direction = GTU_UNDIRECTED } },
	{ "a.txt", "1 2\n1 2\n3 3\n2 1\n", "d 1:2 2:1 3:", { .simplify = 1 } },
	{ "a.txt", "# Undirected graph: x\n1 2\n1 2\n3 3\n", "u 1:2,2 2:1,1 3:3", { 0 } },
	{ "a.txt", "# Undirected graph: x\n1 2\n", "d 1:2 2:", { .direction = GTU_DIRECTED } },
	/* headers */
	{ "a.txt", "4 2\n0 1\n1 3\n", "d 0:1 1:3 2: 3:", { 0 } },
	{ "a.txt", "3 2\n1 2\n2 3\n", "d 1:2 2:3 3:", { 0 } },
	{ "a.txt", "3 2\n1 2 7\n2 3 8\n", "d 1:2/7 2:3/8 3:", { 0 } },
	{ "a.txt", "9 2\n1 2\n2 3\n", "d 1:2 2:3 3: 9:2", { 0 } },
	/* sparse ids, around 2^32 and up to the maximum */
	{ "a.txt", "9223372036854775807 1\n1 4294967296\n", "d 1:4294967296 4294967296: 9223372036854775807:1", { 0 } },
	{ "a.el", "0 1\n1 4\n", "d 0:1 1:4 2: 3: 4:", { 0 } },
	{ "a.el", "1 2\n2 5\n", "d 1:2 2:5 5:", { 0 } },
	{ "a.cedge", "0 5 6 1.5\n1 6 7 2\n", "u 5:6/1.5f 6:5/1.5f,7/2f 7:6/2f", { 0 } },
	{ "a.txt", "3 2\n0 0 0\n1 3 4\n2 3 0\n\n0 1\n1 2\n", "u 0:1/5f 1:0/5f,2/4f 2:1/4f", { 0 } },
	/* Matrix Market */
	{ "a", "%%MatrixMarket matrix coordinate pattern general\n% c\n\n3 3 2\n1 2\n 3 1 \n", "d 1:2 2: 3:1", { 0 } },
	{ "a", "%%matrixmarket MATRIX Coordinate REAL Symmetric\n2 2 2\n1 1 .5\n2 1 1e1\n",
	  "u 1:1/0.5f,2/10f 2:1/10f", { 0 } },
	{ "a", "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 7\n", "u 1:2/-7f 2:1/7f", { 0 } },
	{ "a", "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 7\n", "d 1: 2:1/7", { .direction = GTU_DIRECTED } },
	{ "a", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n2 1 7 8\n", "d 1: 2:1", { .weight_column = -1 } },
	{ "a.mtx", "1 1\n3 1\n3 2\n", "u 1:1,3 2:3 3:1,2", { 0 } },
	{ "a.mtx", "1 3\n3 1\n", "d 1:3 3:1", { 0 } },
	/* DIMACS */
	{ "a.gr", "c x\np sp 3 2\na 1 2 5\na 3 1 6\n", "d 1:2/5 2: 3:1/6", { 0 } },
	{ "a", "c x\np sp 2 1\na 1 2 5\n", "d 1:2/5 2:", { 0 } },
	/* METIS */
	{ "a.graph", "% c\n3 2\n2\n1 3\n% c\n2\n\n\n", "u 1:2 2:1,3 3:2", { 0 } },
	{ "a.graph", "3 1\n2\n1\n", "u 1:2 2:1 3:", { 0 } },
	{ "a.graph", "3 2 001\n2 7\n1 7 3 9\n2 9\n", "u 1:2/7 2:1/7,3/9 3:2/9", { 0 } },
	{ "a.graph", "3 2 11 2\n5 5 2 7\n5 5 1 7 3 9\n5 5 2 9\n", "u 1:2/7 2:1/7,3/9 3:2/9", { 0 } },
	{ "a.graph", "3 2 110\n8 5 2\n8 5 1 3\n8 5 2\n", "u 1:2 2:1,3 3:2", { 0 } },
	{ "a.graph", "3 2 100\n2\n\n1\n", "d 1:2 2: 3:1", { 0 } },
	/* GraphML */
	{ "a", "<graphml><graph edgedefault='undirected'><node id='n7'/><node id='n3'/>"
	       "<edge source='n7' target='n3'/></graph></graphml>", "u 3:7 7:3", { 0 } },
	{ "a", "<graphml><key id='w' for='edge' attr.name='weight' attr.type='int'><default>4</default></key>"
	       "<graph edgedefault='directed'><edge source='x' target='y'><data key='w'> 9\n</data></edge>"
	       "<edge source='y' target='x'/><node id='x'/><node id='y'/></graph></graphml>",
	  "d 0:1/9f 1:0/4f", { 0 } },
	/* a <key> outside the graph: its <default> is not an edge weight */
	{ "a", "<graphml><key id='v' for='edge' attr.type='int'/><key id='w' for='edge' attr.type='int'>"
	       "<graph edgedefault='directed'><node id='x'/><node id='y'/><edge source='x' target='y'>"
	       "<default>1</default></edge></graph></key></graphml>", "d 0:1 1:", { 0 } },
};

TEST(each_text_format_is_read_as_the_expected_graph)
{
	char found[500];

	for (size_t i = 0; i < LENGTH(goods); i++) {
		struct gtu_graph *g = text(goods[i].name, goods[i].content, &goods[i].opt);

		CHECKF(g, "case %zu: %s", i, err.text);
		describe(g, found, sizeof(found));
		CHECKF(!strcmp(found, goods[i].graph), "case %zu: %s, expected %s", i, found, goods[i].graph);
		CHECK(g->flags & GTU_GRAPH_CHECKED);
	}
}

static const struct {
	const char *name, *content, *says;
	struct gtu_read_options opt;
} bads[] = {
	{ "a.txt", "", "a.txt: the file is empty", { 0 } },
	{ "a.txt", "# only\n", "a.txt: there are no edges in 1 line; an edge is a line of two ids, such as '1 2'", { 0 } },
	{ "a.txt", "1 2\n3 4\n5 x6\n", "a.txt:3: expected a vertex id in column 2 (0 to 2^63 - 1), found 'x6'", { 0 } },
	{ "a.txt", "1 2\n-3 4\n", "a.txt:2: expected a vertex id in column 1 (0 to 2^63 - 1), found '-3'", { 0 } },
	{ "a.txt", "1 2\n3\n", "a.txt:2: expected a vertex id in column 2 (0 to 2^63 - 1), found the end of the line", { 0 } },
	{ "a.txt", "1,2\n3,,4\n", "found a separator", { 0 } },
	{ "a.txt", "1 2\n9223372036854775808 1\n", "a.txt:2: expected a vertex id in column 1 (0 to 2^63 - 1), "
						    "found '9223372036854775808', which is too large", { 0 } },
	{ "a", "%%MatrixMarket matrix coordinate pattern general\n99999999999999999999 99999999999999999999 0\n",
	  "found '99999999999999999999', which is too large: the maximum is 2^63 - 1", { 0 } },
	{ "a.gr", "p sp 2 18446744073709551617\n", "found '18446744073709551617', which is too large", { 0 } },
	{ "a.graph", "99999999999999999999 1\n", "found '99999999999999999999', which is too large", { 0 } },
	{ "a.txt", "1 2 3\n4 5 six\n", "a.txt:2: expected a weight in column 3, found 'six'", { 0 } },
	{ "a.txt", "1 2 3\n4 5\n", "a.txt:2: expected a weight in column 3, found the end of the line", { 0 } },
	{ "a.txt", "1 2 3\n4 5 1e999\n", "found '1e999'", { 0 } },
	{ "a.txt", "1 2 3\n4 5 nan\n", "found 'nan'", { 0 } },
	{ "a.wel", "1 2 nan\n2 3 1\n", "a.wel:1: expected a weight or a word in column 3, found 'nan'", { 0 } },
	{ "a.wel", "1 2 1e999\n2 3 1\n", "a.wel:1: expected a weight or a word in column 3, found '1e999'", { 0 } },
	{ "a.txt", "# c\n3 2\n1 2 -NaN\n2 3 1\n", "a.txt:3: expected a weight or a word in column 3", { 0 } },
	{ "a.txt", "1 2\r2 3\r4 5\r", "a.txt: byte 3: a carriage return without a newline", { 0 } },
	{ "a.gr", "c\rp sp 2 1\ra 1 2 5\r", "a.gr: byte 1: a carriage return without a newline", { 0 } },
	{ "a.txt", "1 2\r\n2 3\r\r4 5\n", "a.txt: byte 9: a carriage return without a newline", { 0 } },
	{ "a.txt", "\xef\xbb\xbf", "a.txt: the file is empty", { 0 } },
	{ "a.txt", "7 7\n1 2 3\n4 5 6\n", "a.txt:1: two columns where later lines have a weight", { 0 } },
	{ "a.txt", "1 2 3\n2 3 4\n", "a.txt:1: expected a weight in column 4", { .weight_column = 2 } },
	{ "a.txt", "hello world\nmore words\n", "a.txt:2: expected a vertex id", { 0 } },
	{ "a.txt", "1 \001\033[2J\n", "found '\\x01\\x1b[2J'", { 0 } },
	{ "a.cedge", "7", "a.cedge:1: expected a vertex id in column 2 (0 to 2^63 - 1), found the end of the line", { 0 } },
	{ "a.el", "0 1\n1 99999999\n", "a.el: 100000000 declared vertices are too many for 15 bytes of content: the limit is 16777216", { 0 } },
	{ "a.mtx", "0 1\n", "rows and columns of a matrix start at 1", { 0 } },
	{ "a", "%%MatrixMarket matrix array real general\n2 2\n1\n", "a:1: 'array' is a dense matrix", { 0 } },
	{ "a", "%%MatrixMarket matrix coordinate complex general\n1 1 0\n", "complex values cannot be weights", { 0 } },
	{ "a", "%%MatrixMarket matrix coordinate real strange\n1 1 0\n", "found 'strange'", { 0 } },
	{ "a", "%%MatrixMarket vector\n", "found 'vector'", { 0 } },
	{ "a", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n", "a:2: a matrix of 2 x 3 is not square", { 0 } },
	{ "a", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", "a:3: entry 1 3 is out of bounds: rows and columns are 1 to 2", { 0 } },
	{ "a", "%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n", "a:3: entry 0 1 is out of bounds: rows and columns are 1 to 2", { 0 } },
	{ "a", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\n", "a:3: expected a value", { 0 } },
	{ "a", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n", "after 1 of 2 entries", { 0 } },
	{ "a", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5\n1 2 5\n", "a:4: there are more entries than the 1", { 0 } },
	{ "a", "%%MatrixMarket matrix coordinate real general\n", "no size line", { 0 } },
	{ "a", "%%MatrixMarket matrix coordinate pattern general\n4000000000 4000000000 0\n", "4000000000 declared vertices", { 0 } },
	{ "a.gr", "a 1 2 3\n", "a.gr:1: an arc precedes the 'p' line", { 0 } },
	{ "a.gr", "p sp 2 1\na 1 3 3\n", "a.gr:2: arc 1 3 is out of bounds: vertices are 1 to 2", { 0 } },
	{ "a.gr", "p sp 2 2\na 1 2 3\n", "after 1 of 2 arcs", { 0 } },
	{ "a.gr", "p sp 2 1\nx\n", "found 'x'", { 0 } },
	{ "a.gr", "p sp 9999999999 0\n", "9999999999 declared vertices", { 0 } },
	{ "a.graph", "3 2\n2\n1 4\n2\n", "a.graph:3: vertex 2 has neighbour 4: vertices are 1 to 3", { 0 } },
	{ "a.graph", "3 2\n2\n1\n", "2 of 3 vertices and 2 entries", { 0 } },
	{ "a.graph", "3 2\n2\n3\n1 2\n", "vertex 1 lists vertex 2 as its neighbour, and not the reverse", { 0 } },
	{ "a.graph", "2 1\n2\n1\n1\n", "a.graph:4: there is a line after vertex 2", { 0 } },
	{ "a.graph", "2 1 2\n2\n1\n", "it must be 3 digits", { 0 } },
	{ "a.graph", "2 1 1\n2\n1 5\n", "a.graph:2: expected the weight of edge 1 2", { 0 } },
	{ "a.graph", "99999999999 0\n", "99999999999 declared vertices", { 0 } },
	{ "a.txt", "3 2\n0 0 0\n1 3 4\n2 3 0\n\n0 1\n1 3\n", "a.txt:7: edge 1 3 is out of bounds: vertices are 0 to 2", { 0 } },
	{ "a", "<graphml><graph><node id='a'/></graph>", "a:1: no element found", { 0 } },
	{ "a", "<graphml><graph>\n<edge source='a' target='b'/></graph></graphml>", "edges name 'a', which is not a node", { 0 } },
	{ "a", "<!DOCTYPE x [<!ENTITY l 'lol'>]><graphml/>", "entities are not allowed", { 0 } },
	{ "a", "<graphml><graph><edge source='a' target='a'><key id='w' for='edge' attr.type='int'>"
	       "<default>1</default></key></edge></graph></graphml>", "a <key> follows the start", { 0 } },
	{ "a", "<graphml><graph><hyperedge/></graph></graphml>", "hyperedges", { 0 } },
};

TEST(invalid_files_report_position)
{
	for (size_t i = 0; i < LENGTH(bads); i++) {
		CHECKF(!text(bads[i].name, bads[i].content, &bads[i].opt), "case %zu: %s", i, bads[i].content);
		CHECKF(err.code == GTU_ERR_INPUT && strstr(err.text, bads[i].says), "case %zu says: %s", i, err.text);
	}
	CHECK(!load("a.bin", "\0\1\2", 3, NULL, NULL) && strstr(err.text, "the format is unknown"));
}

TEST(errors_report_the_line_number_in_a_large_file)
{
	char *big = test_alloc(20000000, 1), says[100];
	size_t at = 0;

	for (int i = 1; i <= 1000000; i++)
		at += (size_t)sprintf(big + at, i == 765432 ? "%d 4Z2\n" : "%d 17\n", i);
	CHECK(!load("big.txt", big, at, NULL, NULL));
	snprintf(says, sizeof(says), "big.txt:765432: expected a vertex id in column 2 (0 to 2^63 - 1), found '4Z2'");
	CHECKF(!strcmp(err.text, says), "%s", err.text);
}

/* ---- Binary formats, built byte by byte ---------------------------------------------------------- */

struct bytes {
	uint8_t data[4096];
	size_t size;
};

static void put(struct bytes *b, uint64_t value, int size)
{
	memcpy(b->data + b->size, &value, (size_t)size);
	b->size += (size_t)size;
}

TEST(gap_serialized_graphs_are_read_and_checked)
{
	static const uint32_t edges[] = { 1, 2, 0, 1 };
	static const uint64_t rows[] = { 0, 2, 3, 4 };
	struct bytes sg = { .size = 0 }, wsg = { .size = 0 };

	put(&sg, 1, 1), put(&sg, 4, 8), put(&sg, 3, 8);
	put(&wsg, 0, 1), put(&wsg, 4, 8), put(&wsg, 3, 8);
	for (int i = 0; i < 4; i++)
		put(&sg, rows[i], 8), put(&wsg, rows[i], 8);
	for (int i = 0; i < 4; i++)
		put(&sg, edges[i], 4), put(&wsg, edges[i], 4), put(&wsg, 10 + i, 4);
	described(load("a.sg", sg.data, sg.size, NULL, NULL), "d 0:1,2 1:0 2:1");
	described(load("a.wsg", wsg.data, wsg.size, NULL, NULL), "u 0:1/10,2/11 1:0/12 2:1/13");
	/* every truncated file, and false counts and targets */
	for (int i = 0; i < (int)sg.size; i++)
		CHECK(!load("a.sg", sg.data, (size_t)i, NULL, NULL));
	sg.data[sg.size - 4] = 3;
	CHECK(!load("a.sg", sg.data, sg.size, NULL, NULL) && strstr(err.text, "the target of edge 3 is vertex 3"));
	memset(sg.data + 1, 0xff, 7);
	CHECK(!load("a.sg", sg.data, sg.size, NULL, NULL) && strstr(err.text, "needs"));
}

TEST(emogi_files_are_read_and_checked)
{
	static const uint64_t rows[] = { 0, 2, 3, 3 }, edges[] = { 2, 1, 0 };
	struct bytes col = { .size = 0 }, dst = { .size = 0 }, val = { .size = 0 };
	struct gtu_companion v = { ".val", val.data, 0, NULL }, d = { ".dst", dst.data, 0, &v };
	struct gtu_graph *g;

	put(&col, 4, 8), put(&col, 0, 8);
	put(&dst, 3, 8), put(&dst, 0, 8);
	put(&val, 3, 8), put(&val, 0, 8);
	for (int i = 0; i < 4; i++)
		put(&col, rows[i], 8);
	for (int i = 0; i < 3; i++)
		put(&dst, edges[i], 8), put(&val, 7 + i, 4);
	d.size = dst.size;
	v.size = val.size;
	described(load("x.bel.col", col.data, col.size, NULL, &d), "d 0:2/7,1/8 1:0/9 2:");
	g = load("x.bel.col", col.data, col.size, &(struct gtu_read_options){ .simplify = 1, .edge_bytes = 8 }, &d);
	described(g, "d 0:1/8,2/7 1:0/9 2:");
	CHECK_EQ(g->edge_bytes, 8);
	dst.data[16] = 3;
	CHECK(!load("x.bel.col", col.data, col.size, NULL, &d) && strstr(err.text, "is vertex 3"));
	d.size = 20;
	CHECK(!load("x.bel.col", col.data, col.size, NULL, &d));
	CHECK(!load("x.bel.col", col.data, col.size, NULL, &v) && strstr(err.text, "its .dst file is missing"));
}

/* The name of a graph need not be an existing file. */
TEST(an_emogi_graph_is_named_without_its_suffix)
{
	char path[500], name[500];
	struct gtu_graph *g;
	uint64_t words[2][5] = { { 3, 0, 0, 1, 1 }, { 1, 0, 1 } };
	const char *const ends[] = { "col", "dst" };
	int i, fd;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/e.bel.%s", test_tmpdir(), ends[i]);
		fd = open(path, O_WRONLY | O_CREAT, 0600);
		CHECK(write(fd, words[i], i ? 24 : 40) > 0);
		close(fd);
	}
	snprintf(name, sizeof(name), "%s/e.bel", test_tmpdir());
	g = open_graph(name, NULL);
	CHECK(g->n == 2 && g->m == 1 && gtu_graph_target(g, 0) == 1);
}

TEST(ldbc_files_are_read_with_their_companion_files)
{
	struct gtu_companion p = { ".properties", "graph.x.directed = false\n", 25, NULL };
	struct gtu_companion v = { ".v", "30\n10\n20\n40\n", 12, &p };
	const struct gtu_read_options directed = { .direction = GTU_DIRECTED };
	struct gtu_graph *g;

	described(load("x.e", "10 30 0.5\n20 10 1.5\n", 20, NULL, &v), "u 10:20/1.5f,30/0.5f 20:10/1.5f 30:10/0.5f 40:");
	/* without a declared direction the reader must not guess one */
	v.next = NULL;
	CHECK(!load("x.e", "10 30\n20 10\n", 12, NULL, &v));
	CHECKF(strstr(err.text, "read it with --directed or --undirected"), "%s", err.text);
	p.data = "graph.x.meta.edges = 2\n";
	p.size = 23;
	v.next = &p;
	CHECK(!load("x.e", "10 30\n20 10\n", 12, NULL, &v));
	v.next = NULL;
	described(load("x.e", "10 30\n20 10\n", 12, &directed, &v), "d 10:30 20:10 30: 40:");
	g = load("x.e", "", 0, &directed, &v);
	CHECK(g && g->n == 4 && !g->m);
	CHECK(!load("x.e", "10 30\n20 11\n", 12, &directed, &v));
	CHECKF(strstr(err.text, "x.e:2: vertex 11 is not among the 4 of the .v file"), "%s", err.text);
	v.data = "1\n2\n1\n";
	v.size = 6;
	CHECK(!load("x.e", "1 2\n", 4, NULL, &v) && strstr(err.text, "1 of its 3 vertices are listed twice"));
}

TEST(a_bvgraph_without_properties_is_refused)
{
	struct gtu_companion none = { ".offsets", "x", 1, NULL };

	CHECK(!load("x.graph", "2\0\1\2\377", 5, NULL, NULL));
	CHECKF(strstr(err.text, "x.graph: a binary .graph file is a BVGraph and needs its .properties file"), "%s", err.text);
	CHECK(!load("x.graph", "\357\273\277\344", 4, NULL, &none) && strstr(err.text, ".properties file"));
	/* text is METIS, even without companion files */
	CHECK(!load("x.graph", "% \303\244\nx 1\n", 9, NULL, NULL) && strstr(err.text, "x.graph:2: expected 'vertices"));
}

/* A sparse matrix may be mostly empty. */
TEST(declared_vertices_have_a_limit)
{
	struct gtu_graph *g;

	g = text("a", "%%MatrixMarket matrix coordinate pattern general\n16777216 16777216 1\n1 16777216\n", NULL);
	CHECKF(g && g->n == 16777216 && g->m == 1, "%s", err.text);
	CHECK(!text("a", "%%MatrixMarket matrix coordinate pattern general\n16777217 16777217 1\n1 16777217\n", NULL));
	CHECKF(strstr(err.text, "16777217 declared vertices"), "%s", err.text);
}

TEST(damage_is_reported_with_the_path)
{
	char path[500], said[600];
	struct gtu_graph *g = text("inner.txt", "1 2\n2 3\n", NULL);
	int fd;

	snprintf(path, sizeof(path), "%s/outer.gtu", test_tmpdir());
	OK(gtu_graph_save(g, path, NULL, &err));
	fd = open(path, O_RDWR);
	CHECK(fd >= 0 && pwrite(fd, "\2", 1, 8192) == 1);
	close(fd);
	g = open_graph(path, NULL);
	CHECK(!strcmp(g->name, "inner.txt"));
	FAILS(gtu_graph_check(g, NULL, &err), GTU_ERR_INPUT, "");
	snprintf(said, sizeof(said), "%s: the edge section is damaged", path);
	CHECKF(!strncmp(err.text, said, strlen(said)), "%s", err.text);
}

TEST(out_of_memory_reports_count)
{
	struct gtu_edge_list l;

	gtu_edges_init(&l, true);
	FAILS(gtu_edges_reserve(&l, 1ull << 61, &err), GTU_ERR_NOMEM, "");
	CHECKF(!strcmp(err.text, "out of memory for 2305843009213693952 edges (0 so far)"), "%s", err.text);
	gtu_edges_free(&l);
}

/* ---- Compression --------------------------------------------------------------------------------- */

static size_t make_text(char *to)
{
	size_t at = 0;

	for (int i = 0; i < 20000; i++)
		at += (size_t)sprintf(to + at, "%d %d\n", i, i * 7919 % 20000);
	return at;
}

static size_t compress_text(int kind, const char *from, size_t size, uint8_t *to, size_t room)
{
	lzma_stream xz = LZMA_STREAM_INIT;
	z_stream gz = { 0 };

	if (kind == 0) {
		CHECK(deflateInit2(&gz, 6, Z_DEFLATED, 15 + 16, 8, 0) == Z_OK);
		gz.next_in = (uint8_t *)from, gz.avail_in = (uInt)size, gz.next_out = to, gz.avail_out = (uInt)room;
		CHECK(deflate(&gz, Z_FINISH) == Z_STREAM_END);
		deflateEnd(&gz);
		return gz.total_out;
	}
	if (kind == 1) {
		CHECK(lzma_easy_encoder(&xz, 1, LZMA_CHECK_CRC32) == LZMA_OK);
		xz.next_in = (const uint8_t *)from, xz.avail_in = size, xz.next_out = to, xz.avail_out = room;
		CHECK(lzma_code(&xz, LZMA_FINISH) == LZMA_STREAM_END);
		lzma_end(&xz);
		return xz.total_out;
	}
	size = ZSTD_compress(to, room, from, size, 3);
	CHECK(!ZSTD_isError(size));
	return size;
}

static int open_bytes(const char *name, const void *data, size_t size, struct gtu_graph **g)
{
	char path[500];
	int fd, rc;

	snprintf(path, sizeof(path), "%s/%s", test_tmpdir(), name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
	rc = gtu_graph_open(path, NULL, NULL, g, &err);
	if (!rc)
		keep_graph(*g);
	return rc;
}

/* A few kilobytes must not expand to gigabytes, whether as one line or as many. */
TEST(expansion_of_compressed_files_is_limited)
{
	static char text[1 << 20];
	const size_t bound = ZSTD_compressBound(sizeof(text)), pieces = 160;
	uint8_t *packed = malloc(bound * pieces);
	struct gtu_graph *g;
	size_t at, i;
	int kind;

	for (kind = 0; kind < 3; kind++) {
		memset(text, '1', sizeof(text));
		for (i = 1; kind && i < sizeof(text); i += 4)
			memcpy(text + i - 1, "1 2\n", 4);
		for (i = at = 0; i < pieces; i++)
			at += ZSTD_compress(packed + at, bound, text, sizeof(text), 3);
		gtu_set_memory_limit(kind == 2 ? 100000 : 0);
		if (kind == 2) {
			/* not compressed: the list of edges exceeds the ceiling */
			CHECK(open_bytes("many.txt", text, sizeof(text), &g) == GTU_ERR_NOMEM);
			CHECKF(strstr(err.text, "--memory"), "%s", err.text);
		} else {
			CHECK(open_bytes("bomb.txt.zst", packed, at, &g) == GTU_ERR_INPUT);
			CHECKF(strstr(err.text, "expand to more than"), "%s", err.text);
		}
	}
	gtu_set_memory_limit(0);
	/* one line */
	gtu_set_memory_limit(3u << 20);
	memset(text, '1', sizeof(text));
	for (i = at = 0; i < 8; i++)
		at += ZSTD_compress(packed + at, bound, text, sizeof(text), 3);
	CHECK(open_bytes("line.txt.zst", packed, at, &g) == GTU_ERR_NOMEM);
	CHECKF(strstr(err.text, "a buffer for its content") && strstr(err.text, "--memory"), "%s", err.text);
	gtu_set_memory_limit(0);
	free(packed);
}

TEST(compressed_files_are_read_and_damage_is_reported)
{
	static char plain[400000];
	static uint8_t packed[800000];
	size_t size = make_text(plain), n, half;
	struct gtu_graph *g;
	int kind;

	for (kind = 0; kind < 3; kind++) {
		n = compress_text(kind, plain, size, packed, sizeof(packed) / 2);
		CHECKF(!open_bytes("no-suffix", packed, n, &g), "kind %d: %s", kind, err.text);
		CHECK(g->n == 20000 && g->m == 20000);
		/* concatenated members are one content */
		half = size / 2;
		while (plain[half - 1] != '\n')
			half++;
		n = compress_text(kind, plain, half, packed, sizeof(packed) / 2);
		n += compress_text(kind, plain + half, size - half, packed + n, sizeof(packed) / 2);
		CHECKF(!open_bytes("two", packed, n, &g), "kind %d: %s", kind, err.text);
		CHECK(g->m == 20000);
		n = compress_text(kind, plain, size, packed, sizeof(packed) / 2);
		CHECK(open_bytes("short", packed, n - 20, &g) == GTU_ERR_INPUT && !g);
		CHECKF(strstr(err.text, "damaged: it ends before its end mark"), "kind %d: %s", kind, err.text);
		packed[n / 2] ^= 0x55;
		packed[n / 2 + 1] ^= 0x55;
		CHECKF(open_bytes("damaged", packed, n, &g) == GTU_ERR_INPUT && !g, "kind %d", kind);
	}
}

TEST(paths_that_cannot_be_opened_are_reported)
{
	struct gtu_graph *g;

	CHECK(gtu_graph_open("/nonexistent/x.mtx", NULL, NULL, &g, &err) == GTU_ERR_INPUT && !g);
	CHECK(strstr(err.text, "No such file"));
	CHECK(gtu_graph_open("/tmp", NULL, NULL, &g, &err) == GTU_ERR_INPUT && strstr(err.text, "is a directory"));
	CHECK(gtu_graph_open("/dev/null", NULL, NULL, &g, NULL) == GTU_ERR_INPUT && !g);
}

/* Compared with strtod() over all forms of numbers. */
TEST(numbers_match_strtod)
{
	static const char *const forms[] = { "%.17g", "%.3f", "%.1e", "%a", "%.25f", "%.0f", "%+.6g" };
	uint64_t seed = 11;
	char number[400];

	for (int i = 0; i < 200000; i++) {
		double x = ldexp((double)(int64_t)test_random(&seed), (int)(test_random(&seed) % 140) - 110), found;
		const uint8_t *p = (const uint8_t *)number, *end;

		snprintf(number, sizeof(number), forms[test_random(&seed) % 7], x);
		end = p + strlen(number);
		CHECKF(gtu_scan_real(&p, end, &found) && p == end, "%s", number);
		CHECKF(found == strtod(number, NULL), "%s is %a, found %a", number, strtod(number, NULL), found);
	}
}

/* CRLF is just an end of line. */
TEST(lone_carriage_returns_are_refused_at_window_boundaries)
{
	static char big[(2 << 20) + 100];
	struct gtu_graph *g;
	size_t at, lone;

	for (at = 0; at + 5 <= sizeof(big); at += 5)
		memcpy(big + at, "1 2\r\n", 5);
	CHECKF(!open_bytes("crlf.txt", big, at, &g), "%s", err.text);
	CHECK(g->m == at / 5);
	for (lone = (1 << 20) - 12; lone < (1 << 20) + 12; lone++) {
		if (big[lone] != '\n')
			continue;
		big[lone] = ' ';
		CHECK(open_bytes("cr.txt", big, at, &g) == GTU_ERR_INPUT && !g);
		CHECKF(strstr(err.text, "a carriage return without a newline"), "byte %zu: %s", lone, err.text);
		big[lone] = '\n';
	}
}

static int stop_reading(void *user, const char *what, uint64_t done, uint64_t total)
{
	(void)user, (void)what, (void)done, (void)total;
	return 1;
}

TEST(reading_can_be_canceled)
{
	const struct gtu_progress stop = { stop_reading, NULL };
	static char plain[400000];
	struct gtu_graph *g;
	char path[500];

	CHECK(!open_bytes("stop.txt", plain, make_text(plain), &g));
	snprintf(path, sizeof(path), "%s/stop.txt", test_tmpdir());
	CHECK(gtu_graph_open(path, NULL, &stop, &g, &err) == GTU_ERR_INTERRUPTED && !g);
}

TEST_MAIN
