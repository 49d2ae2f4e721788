// SPDX-License-Identifier: MIT
/*
 * Round trips through other programs' formats: read(write(g)) is g for every format that can
 * represent the graph; otherwise an error, with no file left on disk.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/library.h"

static const char *const suffix[] = { ".mtx", ".txt", ".gr", ".graph", ".e", ".bel", ".sg", ".wsg" };
enum { MTX, TXT, GR, METIS, LDBC, BEL, SG, WSG, FORMATS };

static char changed[GTU_ERROR_TEXT];

static unsigned files_in(const char *output_dir)
{
	struct dirent *d;
	unsigned count = 0;
	DIR *dir = opendir(output_dir);

	CHECK(dir != NULL);
	while ((d = readdir(dir)))
		count += d->d_name[0] != '.';
	closedir(dir);
	return count;
}

static void empty_folder(const char *output_dir)
{
	char path[8192];
	struct dirent *d;
	DIR *dir = opendir(output_dir);

	CHECK(dir != NULL);
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", output_dir, d->d_name);
			unlink(path);
		}
	closedir(dir);
}

static char place[4096];

/* An output directory, emptied by each call. */
static const char *output_dir(void)
{
	if (!*place) {
		snprintf(place, sizeof(place), "%s/written", test_tmpdir());
		CHECK(!mkdir(place, 0777));
	}
	empty_folder(place);
	return place;
}

static double weight_at(const struct gtu_graph *g, uint64_t e)
{
	switch (g->weight_type) {
	case GTU_WEIGHT_U32: return ((const uint32_t *)g->weight)[e];
	case GTU_WEIGHT_F32: return ((const float *)g->weight)[e];
	case GTU_WEIGHT_F64: return ((const double *)g->weight)[e];
	}
	return 1;
}

/*
 * Compare vertices, ids, edges, directions and numeric weights. Without entries a graph has no
 * weights.
 */
static void check_same(const char *what, const struct gtu_graph *a, const struct gtu_graph *b)
{
	uint64_t v, e;

	CHECKF(a->n == b->n && a->m == b->m, "%s: %llu vertices and %llu edges, not %llu and %llu", what,
	       (unsigned long long)b->n, (unsigned long long)b->m, (unsigned long long)a->n, (unsigned long long)a->m);
	CHECKF(!((a->flags ^ b->flags) & GTU_GRAPH_DIRECTED), "%s: directed or not", what);
	CHECKF(!a->m || !a->weight_type == !b->weight_type, "%s: weights or not", what);
	CHECKF(a->weight_type != GTU_WEIGHT_U32 || !a->m || b->weight_type == GTU_WEIGHT_U32, "%s: whole weights", what);
	for (v = 0; v < a->n; v++) {
		CHECKF(a->row[v] == b->row[v], "%s: row %llu", what, (unsigned long long)v);
		CHECKF(gtu_graph_id(a, v) == gtu_graph_id(b, v), "%s: id %llu is %llu, not %llu", what, (unsigned long long)v,
		       (unsigned long long)gtu_graph_id(b, v), (unsigned long long)gtu_graph_id(a, v));
	}
	for (e = 0; e < a->m; e++) {
		CHECKF(gtu_graph_target(a, e) == gtu_graph_target(b, e), "%s: entry %llu", what, (unsigned long long)e);
		CHECKF(weight_at(a, e) == weight_at(b, e), "%s: weight %llu is %.17g, not %.17g", what,
		       (unsigned long long)e, weight_at(b, e), weight_at(a, e));
	}
}

/* Whether the format can represent the graph, derived independently. */
static bool holds(unsigned f, const struct gtu_graph *g)
{
	const bool directed = g->flags & GTU_GRAPH_DIRECTED, from_one = !g->n || (!g->ids && g->id_base == 1);
	const bool from_zero = !g->n || (!g->ids && !g->id_base), weighted = g->weight_type;
	bool whole = true, positive = true, fits32 = true, fits31 = true, loop = false, twice = false;
	uint8_t *met = test_alloc(g->n, 1);
	uint64_t v, e, isolated = 0;

	for (v = 0; v < g->n; v++)
		for (e = g->row[v]; e < g->row[v + 1]; e++) {
			const double x = weight_at(g, e);

			met[v] = met[gtu_graph_target(g, e)] = 1;
			loop |= gtu_graph_target(g, e) == v;
			twice |= e > g->row[v] && gtu_graph_target(g, e) == gtu_graph_target(g, e - 1);
			whole &= x == floor(x);
			positive &= x >= 1;
			fits32 &= x >= 0 && x < 4294967296.;
			fits31 &= x >= -2147483648. && x < 2147483648.;
		}
	for (v = 0; v < g->n; v++)
		isolated += !met[v];
	switch (f) {
	case MTX: return from_one;
	case TXT: return g->m && !isolated;
	case GR: return from_one && directed && weighted && whole;
	case METIS: return from_one && !directed && (!weighted || (whole && positive)) && !loop && !twice;
	case LDBC: return true;
	case BEL: return from_zero && directed && (!weighted || (whole && fits32));
	case SG: return from_zero && !weighted;
	default: return from_zero && weighted && whole && fits31;
	}
}

static unsigned held[FORMATS], refused[FORMATS];

static void round_trip(const char *what, const struct gtu_graph *g)
{
	char path[4200], name[300];
	struct gtu_graph *back;
	int rc;

	for (unsigned f = 0; f < FORMATS; f++) {
		const bool can = holds(f, g);

		snprintf(path, sizeof(path), "%s/g%s", output_dir(), suffix[f]);
		snprintf(name, sizeof(name), "%s as %s", what, suffix[f]);
		err.text[0] = 0;
		rc = gtu_graph_write(g, path, 0, changed, NULL, &err);
		CHECKF(!rc == can, "%s: rc %d (%s), but %s", name, rc, err.text, can ? "it can be held" : "it cannot be held");
		(can ? held : refused)[f]++;
		if (rc) {
			CHECKF(rc == GTU_ERR_UNSUPPORTED && strstr(err.text, path), "%s: %d, %s", name, rc, err.text);
			CHECKF(!files_in(place), "%s: leaves files", name);
			continue;
		}
		CHECKF(!*changed, "%s: %s", name, changed);
		rc = gtu_graph_open(path, NULL, NULL, &back, &err);
		CHECKF(!rc, "%s: is not read: %s", name, err.text);
		check_same(name, g, back);
		gtu_graph_close(back);
	}
}

/* ---- Graphs --------------------------------------------------------------------------------------------- */

/* All weight types, directed and undirected, ids from 0, from 1, and with gaps. */
static void check_edges(const char *what, uint64_t n, uint64_t m, const uint64_t *src, const uint64_t *dst)
{
	uint32_t *u32 = test_alloc(m, 4);
	float *f32 = test_alloc(m, 4);
	double *f64 = test_alloc(m, 8), *whole = test_alloc(m, 8);
	const void *const weight[] = { NULL, u32, f32, f64, whole };
	const uint32_t type[] = { GTU_WEIGHT_NONE, GTU_WEIGHT_U32, GTU_WEIGHT_F32, GTU_WEIGHT_F64, GTU_WEIGHT_F64 };
	uint64_t *ids = test_alloc(n, 8), v, e;
	char name[200];
	unsigned way, w, id;

	for (e = 0; e < m; e++) {
		/* key from the unordered pair of ends: duplicates get equal weights */
		const uint64_t key = src[e] < dst[e] ? src[e] * 1000 + dst[e] : dst[e] * 1000 + src[e];
		uint64_t seed = key;

		u32[e] = (uint32_t)(test_random(&seed) % 100 ? 1 + test_random(&seed) % 1000 : UINT32_MAX);
		f32[e] = (float)(0.1 + (double)(test_random(&seed) % 1000) / 7);
		f64[e] = (double)(int64_t)test_random(&seed) / 3e12;
		whole[e] = (double)(test_random(&seed) % 2000) - 1000;
	}
	for (v = 0; v < n; v++)
		ids[v] = 3 + v * v * 5;
	for (way = GTU_DIRECTED; way <= GTU_UNDIRECTED; way++)
		for (w = 0; w < 5; w++)
			for (id = 0; id < 3; id++) {
				struct gtu_graph *g = weighted_edges(n, m, src, dst, type[w], weight[w], way, id == 1 ? 8 : 4);

				g->id_base = id == 1;
				g->ids = id == 2 && n ? ids : NULL;
				snprintf(name, sizeof(name), "%s, %s, weights %u, ids %u", what,
					 way == GTU_DIRECTED ? "directed" : "undirected", w, id);
				round_trip(name, g);
			}
}

TEST(small_graphs_are_read_back_equal)
{
	const uint64_t a[] = { 0, 1, 2, 0 }, b[] = { 1, 2, 0, 2 }, loop[] = { 0, 0, 0 };

	check_edges("no vertices", 0, 0, NULL, NULL);
	check_edges("one vertex", 1, 0, NULL, NULL);
	check_edges("a loop", 1, 1, loop, loop);
	check_edges("loops", 1, 3, loop, loop);
	check_edges("no edges", 5, 0, NULL, NULL);
	check_edges("an edge", 2, 1, a, b);
	check_edges("a triangle", 3, 3, a, b);
	check_edges("isolated at the end", 9, 4, a, b);
}

/* First lines that look like headers: "n m" with m lines following and a matching n. */
TEST(first_edges_like_headers_are_not_misread)
{
	const uint64_t src[] = { 3, 0, 1, 2, 3 }, dst[] = { 4, 1, 2, 3, 0 };
	const uint64_t to[] = { 1, 1 }, from[] = { 2, 0 };
	const uint64_t all[] = { 2, 2, 2 }, some[] = { 3, 1, 4 };
	struct gtu_graph *g;
	char path[4200];

	check_edges("a first edge like a header", 5, 5, src, dst);
	check_edges("another", 3, 2, from, to);
	/* no edge can come first: reported as an error, not misread */
	g = from_edges(5, 3, some, all, GTU_DIRECTED, 4);
	snprintf(path, sizeof(path), "%s/g.txt", output_dir());
	FAILS(gtu_graph_write(g, path, GTU_WRITE_ADAPT, NULL, NULL, &err), GTU_ERR_UNSUPPORTED, "would be read as a header");
	CHECK(!files_in(place));
}

TEST(random_graphs_are_read_back_equal)
{
	uint64_t seed = 11, src[400], dst[400];

	for (unsigned round = 0; round < (unsigned)TEST_CASES(15); round++) {
		const uint64_t n = 1 + test_random(&seed) % 60, m = test_random(&seed) % (round % 3 ? 400 : 40);
		char name[40];

		for (uint64_t e = 0; e < m; e++) {
			src[e] = test_random(&seed) % n;
			dst[e] = test_random(&seed) % n;
		}
		snprintf(name, sizeof(name), "random graph %u", round);
		check_edges(name, n, m, src, dst);
	}
	for (unsigned f = 0; f < FORMATS; f++)
		CHECKF(held[f] > 10 && (refused[f] > 10 || f == LDBC), "%s: %u held, %u refused", suffix[f], held[f], refused[f]);
}

/* Generated graphs larger than the output buffer. */
TEST(generated_graphs_are_read_back_equal)
{
	for (uint32_t kind = 0; kind < GTU_GENERATORS; kind++)
		for (uint32_t directed = 0; directed < 2; directed++) {
			struct gtu_generate_options how = { .kind = kind, .scale = 12, .n = 4096, .seed = 5, .directed = directed,
							    .random_weights = kind % 2 ? 100 : 0, .simplify = kind > 3 };
			struct gtu_graph *g;
			char name[80];

			if (directed && kind > GTU_GEN_POWERLAW) {
				FAILS(gtu_graph_generate(&how, NULL, &g, &err), GTU_ERR_USAGE, "cannot be directed");
				continue;
			}
			g = generate(how);
			snprintf(name, sizeof(name), "%s %u", gtu_generator_name(kind), directed);
			round_trip(name, g);
			g->id_base = 1;
			round_trip(name, g);
		}
}

/* ---- Graphs that do not fit the format --------------------------------------------------------------------- */

/*
 * Without GTU_WRITE_ADAPT an error states the reason; with it the graph is adapted and the change
 * reported.
 */
static void adapted(const struct gtu_graph *g, unsigned f, const char *why, uint64_t n, uint64_t m, bool weighted)
{
	char path[4200];
	struct gtu_graph *back;
	int rc;

	snprintf(path, sizeof(path), "%s/g%s", output_dir(), suffix[f]);
	CHECK_EQ(gtu_graph_write(g, path, 0, NULL, NULL, &err), GTU_ERR_UNSUPPORTED);
	CHECKF(strstr(err.text, why) && strstr(err.text, "--adapt"), "%s", err.text);
	CHECK(!files_in(place));
	rc = gtu_graph_write(g, path, GTU_WRITE_ADAPT, changed, NULL, &err);
	CHECKF(!rc && strstr(changed, why), "%d: %s (%s)", rc, changed, err.text);
	back = open_graph(path, NULL);
	CHECK_EQ(back->n, n);
	CHECK_EQ(back->m, m);
	CHECK_EQ(!!back->weight_type, weighted);
}

TEST(adapt_changes_what_the_format_cannot_hold)
{
	const uint64_t src[] = { 0, 1, 2 }, dst[] = { 1, 2, 0 };
	const uint32_t weight[] = { 5, 6, 7 };
	struct gtu_graph *g = from_edges(5, 3, src, dst, GTU_UNDIRECTED, 4);

	adapted(g, MTX, "numbers vertices from 1 on, without gaps, but the graph's ids are 0 to 4", 5, 6, false);
	adapted(g, TXT, "2 of the graph's 5 have none, the first is 3", 3, 6, false);
	g->id_base = 1;
	adapted(g, GR, "directed edges only", 5, 6, true);
	g->id_base = 0;
	adapted(g, BEL, "directed edges only", 5, 6, false);
	adapted(g, WSG, "a weight for each edge, but the graph has none", 5, 6, true);
	g = weighted_edges(5, 3, src, dst, GTU_WEIGHT_U32, weight, GTU_DIRECTED, 4);
	adapted(g, SG, "has no weights, but the graph has", 5, 3, false);
	g = from_edges(5, 3, src, dst, GTU_DIRECTED, 4);
	g->id_base = 1;
	adapted(g, GR, "a weight for each edge, but the graph has none", 5, 3, true);
}

static void not_written(const struct gtu_graph *g, unsigned f, int code, const char *why)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/g%s", output_dir(), suffix[f]);
	CHECK_EQ(gtu_graph_write(g, path, GTU_WRITE_ADAPT, changed, NULL, &err), code);
	CHECKF(strstr(err.text, why), "%s", err.text);
	CHECK(!files_in(place));
}

TEST(unsuitable_graphs_are_refused_even_with_adapt)
{
	const uint64_t src[] = { 0, 1 }, dst[] = { 1, 1 };
	double weight[] = { 0.5, NAN };
	uint64_t row[] = { 0, 1, 2 };
	uint32_t col[] = { 1, 0 };
	struct gtu_graph *g = weighted_edges(2, 2, src, dst, GTU_WEIGHT_F64, weight, GTU_DIRECTED, 4);
	struct gtu_graph lopsided = { .n = 2, .m = 2, .edge_bytes = 4, .row = row, .col = col, .name = "l", .id_base = 1 };

	not_written(g, METIS, GTU_ERR_UNSUPPORTED, "read it with --undirected");
	for (unsigned f = 0; f < FORMATS; f++)
		if (f != SG && f != METIS)
			not_written(g, f, GTU_ERR_UNSUPPORTED, "--weights none leaves weights out");
	lopsided.weight = weight;
	lopsided.weight_type = GTU_WEIGHT_F64;
	weight[1] = 2;
	not_written(&lopsided, MTX, GTU_ERR_UNSUPPORTED, "has weight 0.5 in one direction and 2 in the other");
	lopsided.weight_type = GTU_WEIGHT_NONE;
	lopsided.weight = NULL;
	col[1] = 1;
	not_written(&lopsided, MTX, GTU_ERR_UNSUPPORTED, "has an edge to 2, which has none back");
	not_written(&lopsided, METIS, GTU_ERR_UNSUPPORTED, "has an edge to 2, which has none back");
	col[1] = 7;
	not_written(&lopsided, SG, GTU_ERR_INPUT, "7");
}

/* The format writes an undirected edge once. */
TEST(unsorted_lists_come_back_sorted)
{
	uint64_t row[] = { 0, 2, 4, 6 };
	uint32_t col[] = { 2, 1, 0, 2, 1, 0 }, sorted[] = { 1, 2, 0, 2, 0, 1 };
	struct gtu_graph g = { .n = 3, .m = 6, .edge_bytes = 4, .row = row, .col = col, .name = "t", .id_base = 1 };
	char path[4200];

	snprintf(path, sizeof(path), "%s/g.mtx", output_dir());
	OK(gtu_graph_write(&g, path, 0, NULL, NULL, &err));
	g.col = sorted;
	check_same("sorted", &g, open_graph(path, NULL));
}

static int stop(void *user, const char *what, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	*(unsigned *)user += !strcmp(what, "writing");
	return !strcmp(what, "writing");
}

/* Invalid names, a full disk, a cancellation. */
TEST(a_failed_write_leaves_no_file)
{
	struct gtu_graph *g = generate((struct gtu_generate_options){
		.kind = GTU_GEN_UNIFORM, .n = 100000, .seed = 1, .directed = 1, .random_weights = 9 });
	unsigned asked = 0;
	const struct gtu_progress progress = { stop, &asked };
	char path[4200];

	FAILS(gtu_graph_write(g, "g.xyz", 0, NULL, NULL, &err), GTU_ERR_USAGE, ".mtx");
	FAILS(gtu_graph_write(g, "/nowhere/g.e", 0, NULL, NULL, &err), GTU_ERR_FAIL, "/nowhere/g.e");
	snprintf(path, sizeof(path), "%s/g.sg", output_dir());
	CHECK(!mkdir(path, 0777));
	CHECK_EQ(gtu_graph_write(g, path, GTU_WRITE_ADAPT, NULL, NULL, &err), GTU_ERR_USAGE);
	CHECK(!rmdir(path));
	for (unsigned f = 0; f < FORMATS; f++) {
		int rc;

		snprintf(path, sizeof(path), "%s/g%s", output_dir(), suffix[f]);
		if (f == METIS)
			continue;
		err.text[0] = 0;
		limit_files(1 << 16);
		rc = gtu_graph_write(g, path, GTU_WRITE_ADAPT, NULL, NULL, &err);
		limit_files(RLIM_INFINITY);
		CHECKF(rc == GTU_ERR_FAIL && strstr(err.text, path) && strstr(err.text, strerror(EFBIG)), "%d: %s", rc, err.text);
		CHECKF(!files_in(place), "%s leaves files", suffix[f]);
		asked = 0;
		CHECK_EQ(gtu_graph_write(g, path, GTU_WRITE_ADAPT, NULL, &progress, &err), GTU_ERR_INTERRUPTED);
		CHECK_EQ(asked, 1);
		CHECKF(!files_in(place), "%s leaves files", suffix[f]);
	}
}

/* A .val file of an earlier graph is not read as this one's weights. */
TEST(an_emogi_write_is_refused_beside_stale_weights)
{
	const uint64_t src[] = { 0 }, dst[] = { 1 };
	struct gtu_graph *g = from_edges(2, 1, src, dst, GTU_DIRECTED, 4);
	char path[4200], other[4300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/g.bel", output_dir());
	snprintf(other, sizeof(other), "%s.val", path);
	f = fopen(other, "w");
	CHECK(f && !fclose(f));
	FAILS(gtu_graph_write(g, path, 0, NULL, NULL, &err), GTU_ERR_USAGE, "g.bel.val exists");
	unlink(other);
	CHECK_EQ(gtu_graph_write(g, path, 0, NULL, NULL, &err), 0);
}

TEST_MAIN
