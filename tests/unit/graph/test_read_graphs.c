// SPDX-License-Identifier: MIT
/* Every graph of the shared collection loads with the counts of its README. */
#include <stdbool.h>

#include "tests/unit/library.h"

struct expected {
	const char *file;
	uint64_t n, stored, self_loops;
	int undirected;			/* as declared by the file: entries in both directions */
	uint32_t weight_type;
};

static const struct expected graphs[] = {
	{ "cond-mat-2005.xml.gz", 40421, 175693, 0, 1, GTU_WEIGHT_F64 },
	{ "cond-mat-2005.gt.gz", 40421, 175693, 0, 1, GTU_WEIGHT_F64 },
	{ "cnr-2000.graph", 325557, 3216152, 87442, 0, GTU_WEIGHT_NONE },
	{ "soc-Slashdot0902.txt.gz", 82168, 948464, 78303, 0, GTU_WEIGHT_NONE },
	/*
	 * size lines that declare one isolated vertex more than the collection's README are
	 * accepted
	 */
	{ "web-sk-2005.mtx.xz", 121423, 334419, 0, 1, GTU_WEIGHT_NONE },
	{ "web-indochina-2004.mtx.xz", 11359, 47606, 0, 1, GTU_WEIGHT_NONE },
	{ "bio-DM-CX.mtx.xz", 4041, 76716, 0, 1, GTU_WEIGHT_NONE },
	{ "bio-WormNet-v3-benchmark.mtx.xz", 2446, 78735, 0, 1, GTU_WEIGHT_NONE },
	{ "email-Enron.txt.xz", 36692, 367662, 0, 0, GTU_WEIGHT_NONE },
	{ "p2p-Gnutella31.txt.xz", 62586, 147892, 0, 0, GTU_WEIGHT_NONE },
	{ "wiki-Vote.txt.xz", 7115, 103689, 0, 0, GTU_WEIGHT_NONE },
	{ "soc-Epinions1-undirected.txt.xz", 75877, 405739, 0, 0, GTU_WEIGHT_NONE },
	{ "ca-CondMat.txt.xz", 23133, 186936, 58, 0, GTU_WEIGHT_NONE },
	{ "ca-HepPh.txt.xz", 12008, 237010, 32, 0, GTU_WEIGHT_NONE },
	{ "nr-ca-AstroPh.txt.xz", 17903, 196972, 0, 0, GTU_WEIGHT_NONE },
	{ "MIT8.edgelist.xz", 6440, 251252, 0, 0, GTU_WEIGHT_NONE },
	{ "as20000102.txt.xz", 6474, 26467, 1323, 0, GTU_WEIGHT_NONE },
	{ "ia-wikiquote-user-edits-nodup.el.xz", 93445, 238714, 23, 0, GTU_WEIGHT_NONE },
	{ "nr-web-BerkStan.txt.xz", 12305, 19500, 0, 0, GTU_WEIGHT_NONE },
	{ "usa-roads.txt.xz", 87575, 121961, 0, 1, GTU_WEIGHT_F64 },
	{ "cal.cedge.xz", 21048, 21693, 0, 1, GTU_WEIGHT_F64 },
	{ "rome99-reduced.gr.xz", 3353, 4444, 0, 0, GTU_WEIGHT_U32 },
	{ "delaunay_n10.mtx.xz", 1024, 3056, 0, 1, GTU_WEIGHT_NONE },
	{ "delaunay_n12.mtx.xz", 4096, 12264, 0, 1, GTU_WEIGHT_NONE },
	{ "delaunay_n13.mtx.xz", 8192, 24547, 0, 1, GTU_WEIGHT_NONE },
	{ "delaunay_n16.mtx.xz", 65536, 196575, 0, 1, GTU_WEIGHT_NONE },
	{ "bio-CE-CX.edges.xz", 15229, 245952, 0, 0, GTU_WEIGHT_NONE },
	{ "bcsstk25.txt.xz", 15439, 133840, 15439, 0, GTU_WEIGHT_NONE },
	{ "wing.graph.xz", 62032, 243088, 0, 1, GTU_WEIGHT_NONE },
	{ "4elt.graph.xz", 15606, 91756, 0, 1, GTU_WEIGHT_NONE },
	{ "airfoil1.graph.xz", 4253, 24578, 0, 1, GTU_WEIGHT_NONE },
	{ "commanche_dual.mtx.xz", 7920, 19800, 7920, 1, GTU_WEIGHT_NONE },
	{ "data.mtx.xz", 2851, 15093, 0, 1, GTU_WEIGHT_NONE },
	{ "bips98_606.mtx.xz", 7135, 34738, 6900, 0, GTU_WEIGHT_F64 },
	{ "chesapeake.mtx.xz", 39, 170, 0, 1, GTU_WEIGHT_NONE },
	{ "USAir97.mtx.xz", 332, 2126, 0, 1, GTU_WEIGHT_F64 },
	{ "karate.mtx", 34, 78, 0, 1, GTU_WEIGHT_NONE },
	{ "netscience.mtx.xz", 1589, 2742, 0, 1, GTU_WEIGHT_F64 },
	{ "email-Eu-core.csv.xz", 1005, 25571, 642, 0, GTU_WEIGHT_F64 },
	{ "astro-ph.graph.xz", 16706, 242502, 0, 1, GTU_WEIGHT_NONE },
	{ "PGPgiantcompo.graph.xz", 10680, 48632, 0, 1, GTU_WEIGHT_NONE },
	{ "polblogs.graph.xz", 1490, 33430, 0, 1, GTU_WEIGHT_NONE },
	{ "ldbc-validation/example-directed.e", 10, 17, 0, 0, GTU_WEIGHT_F64 },
	{ "ldbc-validation/test-bfs-directed.e", 10, 17, 0, 0, GTU_WEIGHT_NONE },
	{ "ldbc-validation/test-cdlp-directed.e", 8, 18, 0, 0, GTU_WEIGHT_NONE },
	{ "ldbc-validation/test-cdlp-undirected.e", 8, 13, 0, 1, GTU_WEIGHT_NONE },
	{ "ldbc-validation/test-lcc-directed.e", 10, 17, 0, 0, GTU_WEIGHT_NONE },
	{ "ldbc-validation/test-lcc-undirected.e", 9, 12, 0, 1, GTU_WEIGHT_NONE },
	{ "ldbc-validation/test-pr-undirected.e", 50, 113, 0, 1, GTU_WEIGHT_NONE },
	{ "ldbc-validation/test-sssp-directed.e", 10, 13, 0, 0, GTU_WEIGHT_F64 },
	{ "ldbc-validation/test-wcc-directed.e", 8, 10, 0, 0, GTU_WEIGHT_NONE },
	{ "ldbc-validation/test-wcc-undirected.e", 8, 7, 0, 1, GTU_WEIGHT_NONE },
};

static uint64_t count_loops(const struct gtu_graph *g)
{
	uint64_t v, e, loops = 0;

	for (v = 0; v < g->n; v++)
		for (e = g->row[v]; e < g->row[v + 1]; e++)
			loops += gtu_graph_target(g, e) == v;
	return loops;
}

static void check_graph(const char *folder, const struct expected *x)
{
	struct gtu_graph *g;
	char path[700];

	snprintf(path, sizeof(path), "%s/%s", folder, x->file);
	g = open_graph(path, NULL);
	CHECKF(g->n == x->n && g->stored == x->stored, "%s: %" PRIu64 " vertices, %" PRIu64 " entries",
	       x->file, g->n, g->stored);
	CHECKF(((g->flags & GTU_GRAPH_DIRECTED) == 0) == x->undirected, "%s: flags 0x%x", x->file, g->flags);
	CHECKF(g->weight_type == x->weight_type, "%s: weight type %u", x->file, g->weight_type);
	CHECKF(count_loops(g) == x->self_loops, "%s: %" PRIu64 " self loops", x->file, count_loops(g));
	/*
	 * each entry in both directions, a self-loop once, unless the format lists both directions
	 */
	if (x->undirected && !strstr(x->file, ".graph"))
		CHECKF(g->m == 2 * x->stored - x->self_loops, "%s: %" PRIu64 " edges", x->file, g->m);
	else
		CHECKF(g->m == x->stored, "%s: %" PRIu64 " edges", x->file, g->m);
	CHECKF(g->flags & GTU_GRAPH_CHECKED && g->row[0] == 0 && g->row[g->n] == g->m, "%s: rows", x->file);
	test_end(NULL);
}

/* Compare the graphs with @least to @most entries. */
static void check_sizes(uint64_t least, uint64_t most)
{
	const char *folder = test_graphs();

	for (size_t i = 0; i < LENGTH(graphs); i++)
		if (graphs[i].stored >= least && graphs[i].stored <= most)
			check_graph(folder, &graphs[i]);
}

/* valgrind runs the small ones only */
TEST(counts_of_small_graphs_match_readme) { check_sizes(0, 60000); }
TEST(counts_of_large_graphs_match_readme) { check_sizes(60001, UINT64_MAX); }

/* Two files of one graph, in two formats. */
TEST(graphml_and_graph_tool_agree)
{
	struct gtu_graph *a, *b;
	char path[700];

	snprintf(path, sizeof(path), "%s/cond-mat-2005.xml.gz", test_graphs());
	a = open_graph(path, NULL);
	snprintf(path, sizeof(path), "%s/cond-mat-2005.gt.gz", test_graphs());
	b = open_graph(path, NULL);
	CHECK(a->n == b->n && a->m == b->m && !a->ids && !b->ids && !a->id_base && !b->id_base);
	CHECK(!memcmp(a->row, b->row, (a->n + 1) * 8) && !memcmp(a->col, b->col, a->m * 4));
}

/*
 * "Graph has 14 nodes and 53 directed edges for degree: 3", after self-loops and duplicates are
 * dropped.
 */
TEST(gap_test_graphs_have_the_counts_of_its_loader)
{
	static const char *const files[] = { "4.el", "4.wel", "4.gr", "4.graph", "4.mtx", "4w.graph", "4w.mtx" };
	const struct gtu_read_options simplify = { .simplify = 1 };
	unsigned long long n, m;
	struct gtu_graph *g;
	char path[700];
	bool weighted;
	FILE *f;

	for (size_t i = 0; i < LENGTH(files); i++) {
		snprintf(path, sizeof(path), "%s/gapbs-tests/graph-%s.out", test_graphs(), files[i]);
		f = fopen(path, "r");
		CHECKF(f, "%s", path);
		CHECK(fscanf(f, "Graph has %llu nodes and %llu directed", &n, &m) == 2);
		fclose(f);
		snprintf(path, sizeof(path), "%s/gapbs-tests/%s", test_graphs(), files[i]);
		g = open_graph(path, &simplify);
		CHECKF(g->n == n && g->m == m, "%s: %" PRIu64 " nodes, %" PRIu64 " edges", files[i], g->n, g->m);
		weighted = strchr(files[i], 'w') || !strcmp(files[i], "4.gr");
		CHECKF((g->weight_type == GTU_WEIGHT_U32) == weighted, "%s: weight type %u", files[i],
		       g->weight_type);
	}
}

TEST_MAIN
