// SPDX-License-Identifier: MIT
/* The native container: round trips, mapping without a copy, damaged and hostile files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libruntime/graph/graph_compressed.h"
#include "libruntime/graph/graph_container.h"
#include "libruntime/graph/graph_internal.h"
#include "libruntime/support/memory.h"
#include "libruntime/support/clock.h"
#include "container_bed.h"

TEST(a_saved_container_opens_to_the_same_graph)
{
	static const uint32_t weights[] = { GTU_WEIGHT_NONE, GTU_WEIGHT_U32, GTU_WEIGHT_F32, GTU_WEIGHT_F64 };
	const char *path = in_tmp("kinds.gtu");
	struct gtu_graph *a, *b;

	for (int i = 0; i < 8; i++) {
		a = make(weights[i / 2], i % 2 ? 8 : 4, (uint64_t)i);
		OK(gtu_graph_save(a, path, NULL, &err));
		b = open_graph(path, NULL);
		check_equal(a, b);
		CHECK(b->backing->map && !(b->flags & GTU_GRAPH_CHECKED));
		OK(gtu_graph_check(b, NULL, &err));
		CHECK(b->flags & GTU_GRAPH_CHECKED);
	}
}

/* Save compressed, reopen and compare; *bytes is the length of the file. */
static void through_compressed(const struct gtu_graph *a, uint64_t *bytes)
{
	const char *path = in_tmp("compressed.gtu"), *plain = in_tmp("decompressed.gtu");
	struct gtu_graph *b;
	struct stat st;

	OK(gtu_graph_save_compressed(a, path, NULL, &err));
	CHECK(!stat(path, &st));
	*bytes = (uint64_t)st.st_size;
	b = open_graph(path, NULL);
	check_equal(a, b);
	CHECK(!(b->flags & GTU_GRAPH_CHECKED) && !(b->flags & GTU_GRAPH_COMPRESSED) == !a->m);
	OK(gtu_graph_check(b, NULL, &err));
	OK(gtu_graph_save(b, plain, NULL, &err));
	b = open_graph(plain, NULL);
	check_equal(a, b);
	CHECK(!(b->flags & GTU_GRAPH_COMPRESSED));
}

TEST(a_compressed_container_opens_to_the_same_graph)
{
	static const uint32_t weights[] = { GTU_WEIGHT_NONE, GTU_WEIGHT_U32, GTU_WEIGHT_F32, GTU_WEIGHT_F64 };
	struct gtu_graph *a;
	uint64_t bytes;

	for (int i = 0; i < 8; i++) {
		a = make(weights[i / 2], i % 2 ? 8 : 4, (uint64_t)i);
		through_compressed(a, &bytes);
	}
}

/* A graph with the given rows and entries. */
static struct gtu_graph given(uint64_t n, const uint64_t *row, const uint32_t *col, const uint32_t *weight)
{
	struct gtu_graph g = { .n = n, .m = row[n], .stored = row[n], .edge_bytes = 4, .row = row, .col = col,
			       .weight = weight, .flags = GTU_GRAPH_DIRECTED | GTU_GRAPH_CHECKED,
			       .weight_type = weight ? GTU_WEIGHT_U32 : GTU_WEIGHT_NONE };

	return g;
}

TEST(compression_keeps_lists_of_any_length_and_order)
{
	/* around the 256 entries of a piece, and around powers of two of the vertices */
	static const uint64_t degrees[] = { 0, 1, 2, 31, 33, 255, 256, 257, 511, 512, 513, 5000 };
	static uint64_t row[14];
	static uint32_t col[20000], weight[20000];
	uint64_t state = 9, v, e, bytes, n = 13;
	uint32_t how;
	struct gtu_graph g;

	for (how = 0; how < 6; how++) {
		for (v = 0, e = 0; v < n; v++) {
			row[v] = e;
			for (; v < 12 && e < row[v] + degrees[v]; e++) {
				/* any order; constant; ascending; greatest first */
				col[e] = (uint32_t)(how < 2 ? test_random(&state) % n : how == 2 ? n - 1 :
						    how == 3 ? (e - row[v]) * n / degrees[v] : (e - row[v]) % 2 ? 0 : n - 1);
				weight[e] = how == 5 ? 7 : (uint32_t)(test_random(&state) % (how ? 1000 : UINT32_MAX));
			}
		}
		row[n] = e;
		g = given(n, row, col, how == 4 ? NULL : weight);
		through_compressed(&g, &bytes);
		/* steps of 0 bits: only rows, a width byte per piece, and first targets */
		if (how == 2)
			CHECKF(bytes < 8192 + e * 10 / 8 + 2 * 4096, "%llu bytes", (unsigned long long)bytes);
	}
	n = 1;
	row[0] = 0, row[1] = 3;
	col[0] = col[1] = col[2] = 0;
	g = given(n, row, col, NULL);
	through_compressed(&g, &bytes);
	row[1] = 0;
	g = given(n, row, col, NULL);
	through_compressed(&g, &bytes);
	g = given(0, row, col, NULL);
	through_compressed(&g, &bytes);
}

TEST(compression_encodes_the_greatest_32_bit_vertices)
{
	const uint64_t n = 1ull << 32, row_bytes = (n + 1) * 8;
	uint64_t *row = mmap(NULL, row_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	const uint32_t col[4] = { 0, UINT32_MAX, 5, UINT32_MAX - 1 };
	struct gtu_compressed c;
	uint32_t stream[8];
	struct gtu_graph g;

	if (!getenv("GTU_TEST_LARGE"))
		SKIP("needs 32 GB of memory: set GTU_TEST_LARGE=1 to run it");
	CHECK(row != MAP_FAILED);
	for (uint64_t v = 1; v <= n; v++)
		row[v] = 4;
	g = given(n, row, col, NULL);
	CHECK(!gtu_compressed_measure(&g, 0, &c, &err));
	CHECK(c.entry_bits == 32 && c.bits == 4 * 32 && c.pieces == 1);
	gtu_compressed_write(&g, &c, stream);
	CHECK(!memcmp(stream, (uint32_t[]){ 0, UINT32_MAX, 6, UINT32_MAX - 6 }, 16));
	gtu_compressed_free(&c);
	g.n++;
	FAILS(gtu_compressed_measure(&g, 0, &c, &err), GTU_ERR_UNSUPPORTED, "4294967297");
	munmap(row, row_bytes);
}

TEST(a_container_keeps_the_ids_of_vertices)
{
	const char *text = in_tmp("ids.txt"), *path = in_tmp("ids.gtu");
	struct gtu_graph *a, *b;
	FILE *f = fopen(text, "w");
	uint64_t v;

	fputs("70 9000000000\n9000000000 12\n12 70\n", f);
	fclose(f);
	a = open_graph(text, NULL);
	CHECK(a->n == 3 && gtu_graph_id(a, 0) == 12 && gtu_graph_id(a, 1) == 70 && gtu_graph_id(a, 2) == 9000000000);
	OK(gtu_graph_save(a, path, NULL, &err));
	b = open_graph(path, NULL);
	check_equal(a, b);
	CHECK(!gtu_graph_vertex(b, 70, &v, &err) && v == 1);
	FAILS(gtu_graph_vertex(b, 71, &v, &err), GTU_ERR_USAGE, "12 to 9000000000");
}

TEST(read_options_copy_the_graph)
{
	const char *path = in_tmp("options.gtu");
	struct gtu_read_options o = { .edge_bytes = 8, .weight_column = -1, .simplify = 1,
				      .direction = GTU_UNDIRECTED };
	struct gtu_graph *a = make(GTU_WEIGHT_U32, 4, 77), *b;
	struct gtu_graph_stat stat;

	OK(gtu_graph_save(a, path, NULL, &err));
	b = open_graph(path, &o);
	CHECK(b->edge_bytes == 8 && !b->weight && !b->backing->map && !(b->flags & GTU_GRAPH_DIRECTED));
	CHECK(!gtu_graph_measure(b, NULL, &stat, &err) && !stat.self_loops && !stat.duplicates);
}

static uint64_t resident(void)
{
	unsigned long long size, pages;
	FILE *f = fopen("/proc/self/statm", "r");

	CHECK(f && fscanf(f, "%llu %llu", &size, &pages) == 2);
	fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Resident kilobytes of the mapping that starts at @address, from smaps. */
static uint64_t resident_of(const void *address)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long long from, to, kb = 0;
	bool inside = false;
	char line[512];

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
			inside = (uintptr_t)address >= from && (uintptr_t)address < to;
		else if (inside && sscanf(line, "Rss: %llu kB", &kb) == 1)
			break;
	}
	fclose(f);
	return kb * 1024;
}

static void write_header(int fd, struct gtu_container_header *h)
{
	h->sum = gtu_container_header_sum(h);
	CHECK(pwrite(fd, h, sizeof(*h), 0) == sizeof(*h));
}

static struct gtu_container_header blank_header(uint64_t n, uint64_t m, uint32_t edge_bytes)
{
	struct gtu_container_header h = { .version = 1, .edge_bytes = edge_bytes, .n = n, .m = m, .stored = m };

	memcpy(h.magic, GTU_CONTAINER_MAGIC, sizeof(h.magic));
	h.flags = GTU_GRAPH_DIRECTED;
	h.section[0].offset = 4096;
	h.section[0].bytes = (n + 1) * 8;
	h.section[1].offset = (4096 + (n + 1) * 8 + 4095) / 4096 * 4096;
	h.section[1].bytes = m * edge_bytes;
	h.file_bytes = (h.section[1].offset + m * edge_bytes + 4095) / 4096 * 4096;
	return h;
}

/* A sparse file: a billion edges of 8 bytes, or more than 2^32 edges of 4 bytes. */
static void open_huge(uint64_t n, uint64_t m, uint32_t edge_bytes)
{
	const char *path = in_tmp("huge.gtu");
	struct gtu_container_header h = blank_header(n, m, edge_bytes);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	uint64_t before, target = 5, e = m - 3, sum = 0, i, touched;
	const uint64_t end[2] = { 0, m };
	struct gtu_graph *g;

	CHECK(fd >= 0);
	if (ftruncate(fd, (off_t)h.file_bytes)) {
		close(fd);
		SKIP("cannot create a sparse file of %" PRIu64 " bytes here", h.file_bytes);
	}
	write_header(fd, &h);
	CHECK(pwrite(fd, &end[1], 8, (off_t)(4096 + n * 8)) == 8);
	CHECK(pwrite(fd, &target, edge_bytes, (off_t)(h.section[1].offset + e * edge_bytes)) == (ssize_t)edge_bytes);
	close(fd);
	open_graph(path, NULL); /* exclude one-time costs of the first opening */
	before = resident();
	g = open_graph(path, NULL);
	CHECKF(resident() - before < 1 << 20, "opening added %" PRIu64 " bytes", resident() - before);
	CHECK(g->m == m && g->edge_bytes == edge_bytes);
	/* the edge list is at its offset in the mapping, and not resident yet */
	CHECK((char *)g->col == (char *)g->backing->map + h.section[1].offset);
	CHECKF(resident_of(g->col) <= 1 << 20, "%" PRIu64 " bytes resident", resident_of(g->col));
	CHECK_EQ(gtu_graph_target(g, e), 5);
	for (i = 0; i < 50; i++)
		sum += gtu_graph_target(g, m / 50 * i);
	CHECK_EQ(sum, 0);
	/*
	 * fifty pages were touched; a fault may map neighbouring pages that are in the page cache
	 */
	touched = resident_of(g->col);
	CHECKF(touched >= 50 * 4096 && touched < 52ull << 21, "%" PRIu64 " bytes resident after 50 touches",
	       touched);
	/* writes to the file are visible in the graph: the pages are shared */
	fd = open(path, O_RDWR);
	target = 6;
	CHECK(pwrite(fd, &target, edge_bytes, (off_t)(h.section[1].offset + e * edge_bytes)) == (ssize_t)edge_bytes);
	close(fd);
	CHECK_EQ(gtu_graph_target(g, e), 6);
	unlink(path);
}

TEST(a_billion_edges_open_without_a_copy) { open_huge(30000000, 1000000000, 8); }
TEST(a_graph_of_more_than_2_32_edges_opens) { open_huge(1000, (1ull << 32) + 1000, 4); }

/* Write a modified header, then open or check the file. */
static int try_header(const char *path, const struct gtu_container_header *h)
{
	struct gtu_graph *g;
	int fd = open(path, O_RDWR), rc;
	uint64_t v, e, first, end, sum = 0;

	CHECK(pwrite(fd, h, sizeof(*h), 0) == sizeof(*h));
	close(fd);
	err.text[0] = 0;
	rc = gtu_graph_open(path, NULL, NULL, &g, &err);
	if (rc) {
		CHECKF(!g && *err.text, "no sentence");
		return rc;
	}
	for (v = 0; v < g->n; v++) {
		gtu_graph_edges(g, v, &first, &end);
		for (e = first; e < end; e++)
			sum += gtu_graph_target(g, e) + (g->weight_type ? ((const uint8_t *)g->weight)[e] : 0);
		sum += gtu_graph_id(g, v);
	}
	rc = gtu_graph_check(g, NULL, &err);
	gtu_graph_close(g);
	return rc ? rc : (int)(sum == 0);
}

static void check_headers(int compressed)
{
	const char *path = in_tmp("hostile.gtu");
	struct gtu_container_header good, bad;
	struct gtu_graph *g = make(GTU_WEIGHT_F32, 4, 5);
	uint64_t state = 1;
	size_t word;
	int fd, i;

	CHECK(!(compressed ? gtu_graph_save_compressed : gtu_graph_save)(g, path, NULL, &err));
	fd = open(path, O_RDONLY);
	CHECK(pread(fd, &good, sizeof(good), 0) == sizeof(good));
	close(fd);
	CHECK(try_header(path, &good) >= 0);
	/* one flipped bit with the old checksum: always rejected */
	for (i = 0; i < (int)sizeof(good) * 8; i++) {
		bad = good;
		((uint8_t *)&bad)[i / 8] ^= (uint8_t)(1 << i % 8);
		CHECKF(try_header(path, &bad) < 0, "bit %d", i);
	}
	/*
	 * a random word with a correct checksum: rejected, or every access stays in bounds (checked
	 * by sanitizers)
	 */
	for (i = 0; i < 20000; i++) {
		static const uint64_t extremes[] = { 0, 1, 4, 7, 8, 4095, 4096, 8192, 1ull << 32, 1ull << 59,
						     1ull << 63, UINT64_MAX, UINT64_MAX - 4095, 500, 501, 3000 };
		uint64_t value = extremes[test_random(&state) % 16];

		bad = good;
		word = 1 + test_random(&state) % (offsetof(struct gtu_container_header, sum) / 8 - 1);
		if (i % 3 == 0)
			value = ((uint64_t *)&bad)[word] + test_random(&state) % 64 * 8 - 256;
		((uint64_t *)&bad)[word] = value;
		bad.sum = gtu_container_header_sum(&bad);
		try_header(path, &bad);
	}
}

TEST(corrupt_headers_are_refused) { check_headers(0); }
TEST(corrupt_headers_of_compressed_graphs_are_refused) { check_headers(1); }

TEST(corrupt_sections_are_reported)
{
	const char *path = in_tmp("damage.gtu");
	struct gtu_graph *a = make(GTU_WEIGHT_U32, 4, 5), *g, *out;
	struct { uint64_t offset, value; size_t bytes; const char *says; } cases[] = {
		{ 4096 + 8 * 100, UINT64_MAX, 8, "row offset 100" },
		{ 4096 + 8 * 100, 0, 8, "row offset 100" },
		{ 4096, 1, 8, "row offset 0" },
		{ 8192 + 4 * 77, 500, 4, "the target of edge 77 is vertex 500" },
		{ 8192 + 4 * 77, 3, 4, "the edge section is damaged" },
		{ 8192 + 12288 + 4 * 9, 123456, 4, "the weight section is damaged" },
	};
	struct gtu_graph_stat stat;

	for (size_t i = 0; i < LENGTH(cases); i++) {
		OK(gtu_graph_save(a, path, NULL, &err));
		damage(path, cases[i].offset, cases[i].value, cases[i].bytes);
		g = open_graph(path, NULL);
		CHECK(gtu_graph_transpose(g, NULL, &out, &err) == GTU_ERR_INPUT && !out);
		CHECK(gtu_graph_symmetrize(g, NULL, &out, &err) == GTU_ERR_INPUT && !out);
		FAILS(gtu_graph_measure(g, NULL, &stat, &err), GTU_ERR_INPUT, "");
		FAILS(gtu_graph_save(g, in_tmp("copy.gtu"), NULL, &err), GTU_ERR_INPUT, "");
		CHECK(gtu_graph_check(g, NULL, &err) == GTU_ERR_INPUT && !(g->flags & GTU_GRAPH_CHECKED));
		CHECKF(strstr(err.text, cases[i].says), "case %zu says: %s", i, err.text);
	}
}

/* Give the edge section of the container at @path the checksum of its content. */
static void forge_sum(const char *path, struct gtu_container_header *h)
{
	typeof(h->section[0]) *s = &h->section[GTU_SECTION_COL];
	char *data = malloc(s->bytes);
	int fd = open(path, O_RDWR);

	CHECK(pread(fd, data, s->bytes, (off_t)s->offset) == (ssize_t)s->bytes);
	h->section[GTU_SECTION_COL].sum = gtu_container_sum(data, s->bytes);
	h->sum = gtu_container_header_sum(h);
	CHECK(pwrite(fd, h, sizeof(*h), 0) == sizeof(*h));
	free(data);
	close(fd);
}

TEST(corrupt_compressed_edges_give_no_target_out_of_range)
{
	const char *path = in_tmp("damage.gtu");
	struct gtu_graph *a = make(GTU_WEIGHT_U32, 4, 5), *g;
	struct gtu_container_header h;
	uint64_t state = 4, at, value;
	uint32_t *small;
	int fd, i, rc, refused = 0;

	/* weights included in the stream */
	small = malloc(4 * a->m);
	for (at = 0; at < a->m; at++)
		small[at] = (uint32_t)at % 100;
	free(a->backing->weight);
	a->weight = a->backing->weight = small;
	for (i = 0; i < 400; i++) {
		OK(gtu_graph_save_compressed(a, path, NULL, &err));
		fd = open(path, O_RDONLY);
		CHECK(pread(fd, &h, sizeof(h), 0) == sizeof(h));
		close(fd);
		CHECK(h.weighted && !h.section[GTU_SECTION_WEIGHT].bytes);
		/* a width; a word of the stream; a row */
		at = i % 3 == 2 ? h.section[GTU_SECTION_ROW].offset + test_random(&state) % 501 * 8 :
		     i % 3 ? h.section[GTU_SECTION_COL].offset + (h.coded_pieces + 7) / 8 * 8 +
			     test_random(&state) % (h.coded_bits / 8) :
			     h.section[GTU_SECTION_COL].offset + test_random(&state) % h.coded_pieces;
		value = i % 2 ? test_random(&state) : test_random(&state) % 64;
		damage(path, at, value, i % 3 == 2 ? 8 : 1);
		forge_sum(path, &h);
		rc = gtu_graph_open(path, NULL, NULL, &g, &err);
		CHECKF(!rc || (rc == GTU_ERR_INPUT && strstr(err.text, path)), "%d %s", rc, err.text);
		refused += rc != 0;
		if (rc)
			continue;
		/* every target is a vertex, and every change of another section is detected */
		rc = gtu_graph_check(g, NULL, &err);
		if (rc)
			CHECKF(strstr(err.text, "damaged"), "%s", err.text);
		gtu_graph_close(g);
	}
	/* with the right checksum, some changes give another graph */
	CHECKF(refused > 50 && refused < 350, "%d", refused);
}

static int stop_decoding(void *user, const char *what, uint64_t done, uint64_t total)
{
	(void)user, (void)done, (void)total;
	return !strcmp(what, "decoding");
}

TEST(opening_a_compressed_container_can_be_canceled)
{
	const struct gtu_progress stop = { stop_decoding, NULL };
	const char *path = in_tmp("stop.gtu");
	struct gtu_graph *a = make(GTU_WEIGHT_NONE, 4, 5), *g;

	OK(gtu_graph_save_compressed(a, path, NULL, &err));
	CHECK(gtu_graph_open(path, NULL, &stop, &g, &err) == GTU_ERR_INTERRUPTED && !g);
	CHECK(strstr(err.text, "opening"));
}

TEST(a_wrong_checksum_is_refused_before_decoding)
{
	const char *path = in_tmp("damage.gtu");
	struct gtu_graph *a = make(GTU_WEIGHT_NONE, 4, 5), *g;
	struct gtu_container_header h;
	struct gtu_error err;
	int fd;

	CHECK(!gtu_graph_save_compressed(a, path, NULL, &err));
	fd = open(path, O_RDONLY);
	CHECK(pread(fd, &h, sizeof(h), 0) == sizeof(h));
	close(fd);
	damage(path, h.section[GTU_SECTION_COL].offset, 33, 1);
	CHECK(gtu_graph_open(path, NULL, NULL, &g, &err) == GTU_ERR_INPUT);
	CHECKF(strstr(err.text, "the edge section is damaged"), "%s", err.text);
}

TEST(the_memory_ceiling_applies_before_edges_are_decoded)
{
	const char *path = in_tmp("ceiling.gtu");
	struct gtu_graph *a = make(GTU_WEIGHT_NONE, 4, 5), *g;
	struct gtu_error err;

	CHECK(!gtu_graph_save_compressed(a, path, NULL, &err));
	gtu_set_memory_limit(a->m * 4 - 1);
	CHECK(gtu_graph_open(path, NULL, NULL, &g, &err) == GTU_ERR_NOMEM && !g);
	CHECKF(strstr(err.text, "--memory"), "%s", err.text);
	gtu_set_memory_limit(0);
	OK(gtu_graph_open(path, NULL, NULL, &g, &err));
	gtu_graph_close(g);
}

TEST(truncated_containers_are_refused)
{
	const char *path = in_tmp("short.gtu");
	struct gtu_graph *a = make(GTU_WEIGHT_NONE, 4, 5), *g;
	struct stat st;

	CHECK(!gtu_graph_save(a, path, NULL, &err) && !stat(path, &st));
	CHECK(!truncate(path, st.st_size - 1));
	FAILS(gtu_graph_open(path, NULL, NULL, &g, &err), GTU_ERR_INPUT, "cut short");
	CHECK(!truncate(path, 100));
	FAILS(gtu_graph_open(path, NULL, NULL, &g, &err), GTU_ERR_INPUT, "cut short");
}

static int stop_now(void *user, const char *what, uint64_t done, uint64_t total)
{
	(void)user, (void)done, (void)total;
	return !strcmp(what, "writing");
}

static int count_files(const char *folder)
{
	DIR *d = opendir(folder);
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

TEST(canceled_save_keeps_old_file)
{
	const struct gtu_progress stop = { stop_now, NULL };
	struct gtu_graph *a = make(GTU_WEIGHT_NONE, 4, 5), *b = make(GTU_WEIGHT_NONE, 4, 6), *g;
	const char *folder = in_tmp("stopped");
	char path[500];

	CHECK(!mkdir(folder, 0700));
	snprintf(path, sizeof(path), "%s/g.gtu", folder);
	FAILS(gtu_graph_save(a, path, &stop, &err), GTU_ERR_INTERRUPTED, "");
	CHECK_EQ(count_files(folder), 0);
	OK(gtu_graph_save(a, path, NULL, &err));
	FAILS(gtu_graph_save(b, path, &stop, &err), GTU_ERR_INTERRUPTED, "");
	CHECK_EQ(count_files(folder), 1);
	g = open_graph(path, NULL);
	check_equal(a, g);
	/* saving over a mapped graph keeps the mapping intact and replaces the name */
	OK(gtu_graph_save(b, path, NULL, &err));
	check_equal(a, g);
	g = open_graph(path, NULL);
	check_equal(b, g);
}

TEST(a_full_disk_leaves_the_old_file)
{
	struct gtu_graph *a = make(GTU_WEIGHT_NONE, 4, 5), *b = make(GTU_WEIGHT_NONE, 4, 6);
	const char *folder = in_tmp("full");
	char path[500];
	int rc;

	CHECK(!mkdir(folder, 0700));
	snprintf(path, sizeof(path), "%s/g.gtu", folder);
	OK(gtu_graph_save(a, path, NULL, &err));
	for (int compressed = 0; compressed < 2; compressed++) {
		err.text[0] = 0;
		limit_files(4096);
		rc = compressed ? gtu_graph_save_compressed(b, path, NULL, &err) : gtu_graph_save(b, path, NULL, &err);
		limit_files(RLIM_INFINITY);
		CHECKF(rc == GTU_ERR_FAIL && strstr(err.text, path) && strstr(err.text, strerror(EFBIG)), "%d: %s", rc, err.text);
		CHECK_EQ(count_files(folder), 1);
		check_equal(a, open_graph(path, NULL));
	}
}

/* From now on writes at offset 0 (@header: the last one of a container) or at any other fail in this thread. */
static int fail_writes(bool header)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_pwrite64, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, header ? 0 : 1, header ? 1 : 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { sizeof(program) / sizeof(program[0]), program };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

struct failing_save {
	const struct gtu_graph *g;
	const char *path;
	bool header, unsupported;
	int rc;
};

static void *save_with_failures(void *arg)
{
	struct failing_save *s = arg;

	s->unsupported = fail_writes(s->header);
	if (!s->unsupported)
		s->rc = gtu_graph_save(s->g, s->path, NULL, &err);
	return NULL;
}

/* The writes fail after the space was allocated. */
TEST(a_disk_error_leaves_the_old_file)
{
	struct gtu_graph *a = make(GTU_WEIGHT_NONE, 4, 5), *b = make(GTU_WEIGHT_NONE, 4, 6);
	const char *folder = in_tmp("error");
	pthread_t thread;
	char path[500];

	CHECK(!mkdir(folder, 0700));
	snprintf(path, sizeof(path), "%s/g.gtu", folder);
	OK(gtu_graph_save(a, path, NULL, &err));
	for (int header = 0; header < 2; header++) {
		struct failing_save s = { .g = b, .path = path, .header = header };

		err.text[0] = 0;
		CHECK(!pthread_create(&thread, NULL, save_with_failures, &s));
		CHECK(!pthread_join(thread, NULL));
		if (s.unsupported)
			SKIP("this kernel lacks seccomp filters");
		CHECKF(s.rc == GTU_ERR_FAIL && strstr(err.text, "cannot write") && strstr(err.text, path) &&
		       strstr(err.text, strerror(EIO)), "header %d: %d: %s", header, s.rc, err.text);
		CHECK_EQ(count_files(folder), 1);
		check_equal(a, open_graph(path, NULL));
	}
}

TEST(unsuitable_names_of_files_are_refused)
{
	struct gtu_graph *a = make(GTU_WEIGHT_NONE, 4, 5);

	FAILS(gtu_graph_save(a, "/dev/full", NULL, &err), GTU_ERR_USAGE, "/dev/full is not a regular file");
	FAILS(gtu_graph_save(a, in_tmp("no/such/folder.gtu"), NULL, &err), GTU_ERR_FAIL, "No such file");
}

TEST_MAIN
