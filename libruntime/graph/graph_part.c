// SPDX-License-Identifier: MIT
/* Parts of graphs: where they are cut, and containers of which only one part is mapped. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph_container.h"
#include "graph_internal.h"
#include "graph_part.h"

int gtu_graph_require_whole(const struct gtu_graph *g, const char *what, struct gtu_error *err)
{
	if (!(g->flags & GTU_GRAPH_PART))
		return 0;
	return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s: %s needs the whole graph, but only one rank's edges are mapped",
			gtu_graph_label(g), what);
}

/* Read row offset @v; 0 or an error. */
typedef int row_fn(void *context, uint64_t v, uint64_t *row, struct gtu_error *err);

static int find_cut(uint64_t n, uint64_t m, uint32_t parts, row_fn *fn, void *context, uint64_t *cut,
		    struct gtu_error *err)
{
	/* a vertex without edges also takes memory and time */
	const unsigned __int128 total = (unsigned __int128)n + m;
	uint64_t low, high, mid, row;
	uint32_t p;
	int rc;

	cut[0] = 0;
	for (p = 1; p <= parts; p++) {
		low = cut[p - 1];
		high = n;
		/* the first vertex before which there are p / parts of the graph; rows may be damaged */
		while (low < high && p < parts) {
			mid = low + (high - low) / 2;
			rc = fn(context, mid, &row, err);
			if (rc)
				return rc;
			if (((unsigned __int128)row + mid) * parts < total * p)
				low = mid + 1;
			else
				high = mid;
		}
		cut[p] = p < parts ? low : n;
	}
	return 0;
}

static int row_in_memory(void *context, uint64_t v, uint64_t *row, struct gtu_error *err)
{
	const struct gtu_graph *g = context;

	(void)err;
	*row = g->row[v];
	return 0;
}

int gtu_graph_cut(const struct gtu_graph *g, uint32_t parts, uint64_t *cut, struct gtu_error *err)
{
	if (!(g->flags & GTU_GRAPH_PART))
		return find_cut(g->n, g->m, parts, row_in_memory, (void *)g, cut, err);
	if (g->backing->parts != parts)
		return gtu_fail(err, GTU_ERR_USAGE, "%s was opened for %u ranks, but there are %u", gtu_graph_label(g),
				g->backing->parts, parts);
	memcpy(cut, g->backing->cut, (parts + 1ull) * sizeof(*cut));
	return 0;
}

struct row_file {
	int fd;
	uint64_t offset;
	const char *name;
};

static int row_in_file(void *context, uint64_t v, uint64_t *row, struct gtu_error *err)
{
	const struct row_file *f = context;

	return gtu_container_read(f->fd, (char *)row, f->offset + v * 8, 8, f->name, NULL, err);
}

/* Map or read bytes [@first, @end) of the file into the reserved range. */
static int take_range(struct gtu_graph_backing *b, int fd, const struct stat *st, uint64_t first, uint64_t end,
		      const char *name, const struct gtu_progress *progress, struct gtu_error *err)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = first / page * page;
	char *at = (char *)b->map + start;
	bool copied = gtu_container_copied(st), failed;

	if (first == end)
		return 0;
	failed = copied ? mprotect(at, end - start, PROT_READ | PROT_WRITE) :
			  mmap(at, end - start, PROT_READ, MAP_SHARED | MAP_FIXED, fd, (off_t)start) == MAP_FAILED;
	if (failed)
		return gtu_fail(err, GTU_ERR_FAIL, "%s: cannot map %llu bytes: %s", name,
				(unsigned long long)(end - start), strerror(errno));
	return copied ? gtu_container_read(fd, at, start, end - start, name, progress, err) : 0;
}

/* Reserve addresses for the file, and take only the part's share of each section. */
static int map_part(struct gtu_graph *g, int fd, const struct stat *st, const struct gtu_container_header *h,
		    uint32_t part, const char *name, const struct gtu_progress *progress, struct gtu_error *err)
{
	const struct gtu_container_part *row = &h->section[GTU_SECTION_ROW], *col = &h->section[GTU_SECTION_COL],
					*weight = &h->section[GTU_SECTION_WEIGHT], *ids = &h->section[GTU_SECTION_IDS];
	const uint64_t weight_bytes = gtu_weight_bytes(h->weight_type);
	struct row_file rows = { fd, row->offset, name };
	struct gtu_graph_backing *b = g->backing;
	uint64_t first, end;
	int rc;

	rc = find_cut(h->n, h->m, b->parts, row_in_file, &rows, b->cut, err);
	if (rc)
		return rc;
	b->map = mmap(NULL, h->file_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->map == MAP_FAILED) {
		b->map = NULL;
		return gtu_fail(err, GTU_ERR_FAIL, "%s: cannot reserve %llu bytes of addresses: %s", name,
				(unsigned long long)h->file_bytes, strerror(errno));
	}
	b->map_bytes = h->file_bytes;
	rc = take_range(b, fd, st, row->offset + b->cut[part] * 8, row->offset + (b->cut[part + 1] + 1) * 8, name,
			progress, err);
	if (!rc)
		rc = row_in_file(&rows, b->cut[part], &first, err);
	if (!rc)
		rc = row_in_file(&rows, b->cut[part + 1], &end, err);
	if (rc)
		return rc;
	/* the rows are checked before every run; here no offset may lead out of the file */
	end = end < h->m ? end : h->m;
	first = first < end ? first : end;
	/* a device's region starts at a multiple of 8 bytes */
	first &= ~1ull;
	rc = take_range(b, fd, st, col->offset + first * h->edge_bytes, col->offset + end * h->edge_bytes, name, progress,
			err);
	if (!rc && weight->bytes)
		rc = take_range(b, fd, st, weight->offset + first * weight_bytes, weight->offset + end * weight_bytes, name,
				progress, err);
	if (!rc)
		rc = take_range(b, fd, st, ids->offset, ids->offset + ids->bytes, name, progress, err);
	if (!rc)
		rc = take_range(b, fd, st, h->names.offset, h->names.offset + h->names.bytes, name, progress, err);
	return rc;
}

static int open_part(int fd, const char *name, uint32_t part, uint32_t parts, const struct gtu_progress *progress,
		     struct gtu_graph **out, struct gtu_error *err)
{
	struct gtu_container_header h;
	struct gtu_graph *g;
	struct stat st;
	int rc = gtu_container_header(fd, name, &st, &h, err);

	if (rc < 0)
		return rc;
	if (!rc || h.version == GTU_CONTAINER_COMPRESSED)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s is %s, which cannot be opened in parts: open it whole, or write "
				"a plain container by gtu convert", name,
				rc ? "a compressed container" : "not a container");
	g = gtu_graph_new();
	if (g) {
		g->backing->parts = parts;
		g->backing->cut = calloc(parts + 1ull, sizeof(*g->backing->cut));
	}
	if (!g || !g->backing->cut)
		rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a graph");
	else
		rc = map_part(g, fd, &st, &h, part, name, progress, err);
	if (!rc)
		rc = gtu_container_describe(g, &h, name, err);
	if (rc) {
		gtu_graph_close(g);
		return rc;
	}
	g->flags |= GTU_GRAPH_PART;
	*out = g;
	return 0;
}

int gtu_graph_map_part(const char *path, uint32_t part, uint32_t parts, const struct gtu_progress *progress,
		       struct gtu_graph **out, struct gtu_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	*out = NULL;
	if (fd < 0)
		return gtu_fail(err, GTU_ERR_FAIL, "cannot open %s: %s", path, strerror(errno));
	rc = open_part(fd, path, part, parts, progress, out, err);
	close(fd);
	return rc;
}

int gtu_graph_make_part(const struct gtu_blocks *b, const uint64_t *cut, uint32_t parts, uint64_t m,
			struct gtu_graph **out, struct gtu_error *err)
{
	const uint64_t row_bytes = (b->n + 1) * 8, col_bytes = (m * b->edge_bytes + 7) & ~7ull;
	const uint64_t bytes = row_bytes + col_bytes + (b->opt.random_weights ? m * 4 : 0);
	struct gtu_graph *g = gtu_graph_new();
	void *map = MAP_FAILED;

	*out = NULL;
	if (g)
		g->backing->cut = malloc((parts + 1ull) * sizeof(*cut));
	if (!g || !g->backing->cut) {
		gtu_graph_close(g);
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a graph");
	}
	memcpy(g->backing->cut, cut, (parts + 1ull) * sizeof(*cut));
	g->backing->parts = parts;
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED) {
		gtu_graph_close(g);
		return gtu_fail(err, GTU_ERR_FAIL, "cannot reserve %llu bytes of addresses: %s", (unsigned long long)bytes,
				strerror(errno));
	}
	g->backing->map = map;
	g->backing->map_bytes = bytes;
	gtu_blocks_describe(b, g);
	g->m = m;
	g->row = map;
	g->col = (char *)map + row_bytes;
	if (b->opt.random_weights)
		g->weight = (char *)map + row_bytes + col_bytes;
	g->flags |= GTU_GRAPH_PART;
	*out = g;
	return 0;
}
