// SPDX-License-Identifier: MIT
/*
 * Reads, validates and writes native containers (graph_container.h). One file, because reading and
 * writing share the rules of the layout.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph_compressed.h"
#include "libruntime/support/advice.h"
#include "libruntime/support/memory.h"
#include "graph_container.h"
#include "graph_internal.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "containers are mapped in place and little-endian"
#endif

#define CHUNK (8u << 20)		/* bytes between two progress calls; a multiple of 32 */
#define COPIED_ALWAYS (64u << 20)	/* files up to this size are read, not mapped */

static const char *const section_name[GTU_SECTIONS] = { "row", "edge", "weight", "id", "name" };

/* Checksum: four independent multiply-and-rotate lanes over 8-byte words, as fast as memory. */
struct sum {
	uint64_t lane[4], bytes;
};

static void sum_words(struct sum *s, const uint64_t w[4])
{
	int i;

	for (i = 0; i < 4; i++) {
		uint64_t x = s->lane[i] ^ (w[i] * 0x9E3779B97F4A7C15ull);

		s->lane[i] = (x << 27 | x >> 37) * 0xBF58476D1CE4E5B9ull + 1;
	}
}

/* Only the last call may pass a length that is not a multiple of 32. */
static void sum_add(struct sum *s, const void *data, uint64_t bytes)
{
	const char *p = data;
	uint64_t w[4];

	s->bytes += bytes;
	for (; bytes >= sizeof(w); bytes -= sizeof(w), p += sizeof(w)) {
		memcpy(w, p, sizeof(w));
		sum_words(s, w);
	}
	if (bytes) {
		memset(w, 0, sizeof(w));
		memcpy(w, p, bytes);
		sum_words(s, w);
	}
}

static uint64_t sum_value(const struct sum *s)
{
	uint64_t h = s->bytes;
	int i;

	for (i = 0; i < 4; i++) {
		h = (h ^ s->lane[i]) * 0x94D049BB133111EBull;
		h ^= h >> 31;
	}
	return h;
}

uint64_t gtu_container_sum(const void *data, uint64_t bytes)
{
	struct sum s = { 0 };

	sum_add(&s, data, bytes);
	return sum_value(&s);
}

uint64_t gtu_container_header_sum(const struct gtu_container_header *h)
{
	return gtu_container_sum(h, offsetof(struct gtu_container_header, sum));
}

static uint64_t round_up(uint64_t x)
{
	return (x + GTU_CONTAINER_ALIGN - 1) & ~(GTU_CONTAINER_ALIGN - 1);
}

/* Offset of the stream in the edge section of a compressed container. */
static uint64_t coded_at(const struct gtu_container_header *h)
{
	return (h->coded_pieces + 7) & ~7ull;
}

static const struct gtu_container_part *part(const struct gtu_container_header *h, int i)
{
	return i == GTU_SECTION_NAMES ? &h->names : &h->section[i];
}

static struct gtu_container_part *part_to_write(struct gtu_container_header *h, int i)
{
	return i == GTU_SECTION_NAMES ? &h->names : &h->section[i];
}

/* Compute the required size of each section; false if the sizes overflow. */
static bool section_bytes(const struct gtu_container_header *h, bool ids, uint64_t bytes[GTU_SECTIONS])
{
	if (h->n >= 1ull << 59 || h->m >= 1ull << 59)
		return false;
	if (h->coded_pieces > h->m || h->coded_bits >= 1ull << 62)
		return false;
	bytes[GTU_SECTION_ROW] = (h->n + 1) * 8;
	bytes[GTU_SECTION_COL] = h->version == GTU_CONTAINER_COMPRESSED ?
				 coded_at(h) + gtu_compressed_bytes(h->coded_bits) : h->m * h->edge_bytes;
	bytes[GTU_SECTION_WEIGHT] = h->weighted ? 0 : h->m * gtu_weight_bytes(h->weight_type);
	bytes[GTU_SECTION_IDS] = ids ? h->n * 8 : 0;
	/* the offsets, and any amount of text */
	bytes[GTU_SECTION_NAMES] = !h->names.bytes || h->names.bytes > (h->n + 1) * 8 ? h->names.bytes : (h->n + 1) * 8;
	return true;
}

/* Check the header members of version 2. */
static int check_coding(const struct gtu_container_header *h, const char *name, struct gtu_error *err)
{
	bool coded = h->version == GTU_CONTAINER_COMPRESSED;

	if (!coded && (h->coded_pieces || h->coded_bits || h->entry_bits || h->weight_bits || h->weight_min ||
		       h->weighted))
		return gtu_fail(err, GTU_ERR_INPUT, "%s: version %u must have zeros in the members "
				"for compressed edges",
				name, h->version);
	if (!coded)
		return 0;
	/* each piece allocates memory for 256 entries before any is read */
	if (h->coded_pieces < h->m / GTU_COMPRESSED_PIECE + !!(h->m % GTU_COMPRESSED_PIECE))
		return gtu_fail(err, GTU_ERR_INPUT, "%s: %llu compressed edges do not fit into "
				"%llu pieces of at most %u", name,
				(unsigned long long)h->m, (unsigned long long)h->coded_pieces, GTU_COMPRESSED_PIECE);
	if (!h->entry_bits || h->entry_bits > GTU_COMPRESSED_BITS_MAX ||
	    h->weight_bits > GTU_COMPRESSED_BITS_MAX - h->entry_bits)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: compressed entries of %u bits and weights "
				"of %u bits are out of range: the sum must be 1 to %u",
				name, h->entry_bits, h->weight_bits, GTU_COMPRESSED_BITS_MAX);
	if (h->weighted > 1 || (h->weighted && h->weight_type != GTU_WEIGHT_U32) ||
	    (!h->weighted && (h->weight_bits || h->weight_min)))
		return gtu_fail(err, GTU_ERR_INPUT,
				"%s: the compressed weights (%u, %u bits, minimum %u) do not match "
				"weight type %u",
				name, h->weighted, h->weight_bits, h->weight_min, h->weight_type);
	return 0;
}

static int check_header(const struct gtu_container_header *h, uint64_t file_bytes, const char *name,
			struct gtu_error *err)
{
	uint64_t bytes[GTU_SECTIONS], next = GTU_CONTAINER_ALIGN;
	int i;

	if (h->version != GTU_CONTAINER_VERSION && h->version != GTU_CONTAINER_COMPRESSED)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: container version %u is unknown: this "
				"build reads versions %u and %u",
				name, h->version, GTU_CONTAINER_VERSION, GTU_CONTAINER_COMPRESSED);
	if (h->sum != gtu_container_header_sum(h))
		return gtu_fail(err, GTU_ERR_INPUT,
				"%s: the header is damaged: its checksum is %016llx, but its content gives %016llx; "
				"write or copy the file again", name,
				(unsigned long long)h->sum, (unsigned long long)gtu_container_header_sum(h));
	if (h->flags & ~(GTU_GRAPH_DIRECTED | GTU_GRAPH_SORTED))
		return gtu_fail(err, GTU_ERR_INPUT, "%s: header flags 0x%x are unknown to this build", name,
				h->flags);
	for (i = 0; i < (int)(sizeof(h->reserved) / sizeof(h->reserved[0])); i++)
		if (h->reserved[i])
			return gtu_fail(err, GTU_ERR_INPUT, "%s: reserved header word %d is not zero", name, i);
	if ((h->edge_bytes != 4 && h->edge_bytes != 8) || h->weight_type > GTU_WEIGHT_F64)
		return gtu_fail(err, GTU_ERR_INPUT,
				"%s: edge entries of %u bytes with weight type %u are invalid: use "
				"4 or 8 bytes and types 0 to 3",
				name, h->edge_bytes, h->weight_type);
	if (check_coding(h, name, err))
		return GTU_ERR_INPUT;
	if (h->edge_bytes == 4 && h->n > 1ull << 32)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: %llu vertices do not fit 4-byte edge entries", name,
				(unsigned long long)h->n);
	if (h->n > GTU_ID_LIMIT || h->id_base > GTU_ID_LIMIT - h->n)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: ids from %llu on for %llu vertices exceed "
				"2^63", name,
				(unsigned long long)h->id_base, (unsigned long long)h->n);
	if (h->m && !h->n)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: %llu edges without a vertex", name,
				(unsigned long long)h->m);
	/* the name will be printed: reject control characters, which a terminal would interpret */
	for (i = 0; i < (int)sizeof(h->name) && h->name[i] && (h->name[i] & 0x80 || h->name[i] >= ' ') &&
		    h->name[i] != 0x7f; i++)
		;
	if (i == (int)sizeof(h->name) || h->name[i])
		return gtu_fail(err, GTU_ERR_INPUT, "%s: the graph's name in the header is not "
				"text", name);
	if (h->file_bytes != file_bytes)
		return gtu_fail(err, GTU_ERR_INPUT, "%s: %s: the header has %llu bytes, but the "
				"file has %llu; write or copy it again",
				name, file_bytes < h->file_bytes ? "cut short" : "too long",
				(unsigned long long)h->file_bytes, (unsigned long long)file_bytes);
	if (!section_bytes(h, h->section[GTU_SECTION_IDS].bytes != 0, bytes))
		return gtu_fail(err, GTU_ERR_INPUT, "%s: %llu vertices and %llu edges are too many "
				"for any file", name,
				(unsigned long long)h->n, (unsigned long long)h->m);
	for (i = 0; i < GTU_SECTIONS; i++) {
		if (part(h, i)->bytes != bytes[i])
			return gtu_fail(err, GTU_ERR_INPUT, "%s: the %s section has %llu bytes, not %llu", name,
					section_name[i], (unsigned long long)part(h, i)->bytes,
					(unsigned long long)bytes[i]);
		if (!bytes[i])
			continue;
		if (part(h, i)->offset < next || part(h, i)->offset % GTU_CONTAINER_ALIGN ||
		    part(h, i)->offset > file_bytes || bytes[i] > file_bytes - part(h, i)->offset)
			return gtu_fail(err, GTU_ERR_INPUT,
					"%s: the %s section at byte %llu must be at a multiple of "
					"4096 from byte %llu to the end at %llu",
					name, section_name[i], (unsigned long long)part(h, i)->offset,
					(unsigned long long)next, (unsigned long long)file_bytes);
		next = round_up(part(h, i)->offset + bytes[i]);
	}
	return 0;
}

static const void *section(const struct gtu_graph *g, const struct gtu_container_header *h, int i)
{
	return part(h, i)->bytes ? (char *)g->backing->map + part(h, i)->offset : NULL;
}

static int check_sum(const struct gtu_graph *g, const struct gtu_container_header *h, int i,
		     const struct gtu_progress *progress, struct gtu_error *err)
{
	const char *data = section(g, h, i);
	uint64_t at, bytes = part(h, i)->bytes, piece;
	struct sum s = { 0 };

	for (at = 0; at < bytes; at += piece) {
		piece = bytes - at > CHUNK ? CHUNK : bytes - at;
		sum_add(&s, data + at, piece);
		if (gtu_tick(progress, "verifying checksums", at + piece, bytes))
			return gtu_fail(err, GTU_ERR_INTERRUPTED, "checking %s was stopped",
					gtu_graph_label(g));
	}
	if (sum_value(&s) != part(h, i)->sum)
		return gtu_fail(err, GTU_ERR_INPUT,
				"%s: the %s section is damaged: its checksum is %016llx, "
				"but its content gives %016llx; write or copy the file again",
				gtu_graph_label(g), section_name[i], (unsigned long long)part(h, i)->sum,
				(unsigned long long)sum_value(&s));
	return 0;
}

/* Decode edges and included weights into memory owned by the graph. */
static int decode(struct gtu_graph *g, const struct gtu_container_header *h, const char *name,
		  const struct gtu_progress *progress, struct gtu_error *err)
{
	struct gtu_compressed c = { .entry_bits = h->entry_bits, .weight_bits = h->weight_bits,
			       .weight_min = h->weight_min, .weighted = h->weighted, .pieces = h->coded_pieces,
			       .bits = h->coded_bits, .width = (uint8_t *)section(g, h, GTU_SECTION_COL) };
	struct gtu_graph_backing *b = g->backing;
	int rc = gtu_check_memory(h->m * (h->edge_bytes + (h->weighted ? 4u : 0u)), name, "decoding its edges", err);

	/* a file of a few bytes can decode to thousands of times its size: first check that it is intact */
	if (!rc)
		rc = check_sum(g, h, GTU_SECTION_COL, progress, err);
	if (rc)
		return rc;
	b->col = gtu_array_alloc(h->m * h->edge_bytes);
	b->weight = h->weighted ? gtu_array_alloc(h->m * 4) : NULL;
	if (!b->col || (h->weighted && !b->weight))
		return gtu_fail(err, GTU_ERR_NOMEM, "%s: out of memory decoding %llu edges", name,
				(unsigned long long)h->m);
	g->col = b->col;
	if (b->weight)
		g->weight = b->weight;
	g->flags |= GTU_GRAPH_COMPRESSED;
	return gtu_compressed_read(g, &c, (const uint32_t *)(c.width + coded_at(h)), b->col, b->weight, name, progress, err);
}

/*
 * Whether a user other than this one and root can change the file, and with it the arrays of a graph
 * that maps it after they were checked.
 */
static bool others_can_write(const struct stat *st)
{
	return st->st_mode & 022 || (st->st_uid && st->st_uid != geteuid());
}

bool gtu_container_copied(const struct stat *st)
{
	return (uint64_t)st->st_size <= COPIED_ALWAYS || others_can_write(st);
}

int gtu_container_read(int fd, char *to, uint64_t first, uint64_t bytes, const char *name,
		       const struct gtu_progress *progress, struct gtu_error *err)
{
	uint64_t at = 0;
	ssize_t got;

	while (at < bytes) {
		got = pread(fd, to + at, bytes - at > CHUNK ? CHUNK : bytes - at, (off_t)(first + at));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return gtu_fail(err, GTU_ERR_FAIL, "%s: %s", name, strerror(errno));
		if (!got)
			return gtu_fail(err, GTU_ERR_INPUT, "%s: cut short at byte %llu while it was read", name,
					(unsigned long long)(first + at));
		at += (uint64_t)got;
		if (gtu_tick(progress, "reading", at, bytes))
			return gtu_fail(err, GTU_ERR_INTERRUPTED, "reading %s was stopped", name);
	}
	return 0;
}

/*
 * Map the file, or read it into memory: if it is small, so that truncating it does not end the process
 * by SIGBUS, and if others can change it.
 */
static int take_content(struct gtu_graph_backing *b, int fd, const struct stat *st, uint64_t bytes, const char *name,
			const struct gtu_progress *progress, struct gtu_error *err)
{
	const bool copied = gtu_container_copied(st);

	if (copied && gtu_check_memory(bytes, name, bytes <= COPIED_ALWAYS ? "reading it" :
				       "a copy, needed because other users can change the file (chmod go-w, or a file "
				       "of your own avoids it),", err))
		return GTU_ERR_NOMEM;
	/* MAP_SHARED: pinning a private file mapping for a device would copy its pages */
	b->map = copied ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) :
			  mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (b->map == MAP_FAILED) {
		b->map = NULL;
		return gtu_fail(err, GTU_ERR_FAIL, "%s: cannot map %llu bytes: %s", name, (unsigned long long)bytes,
				strerror(errno));
	}
	b->map_bytes = bytes;
	return copied ? gtu_container_read(fd, b->map, 0, bytes, name, progress, err) : 0;
}

int gtu_container_header(int fd, const char *name, struct stat *st, struct gtu_container_header *h,
			 struct gtu_error *err)
{
	ssize_t got;
	int rc;

	if (fstat(fd, st))
		return gtu_fail(err, GTU_ERR_FAIL, "%s: %s", name, strerror(errno));
	if (!S_ISREG(st->st_mode))
		return 0;
	got = pread(fd, h, sizeof(*h), 0);
	if (got < 0)
		return gtu_fail(err, GTU_ERR_FAIL, "%s: %s", name, strerror(errno));
	if (got < GTU_CONTAINER_MAGIC_BYTES || memcmp(h->magic, GTU_CONTAINER_MAGIC, sizeof(h->magic)))
		return 0;
	if (got < (ssize_t)sizeof(*h))
		return gtu_fail(err, GTU_ERR_INPUT, "%s: cut short: a header has %zu bytes, but "
				"the file has %lld",
				name, sizeof(*h), (long long)st->st_size);
	rc = check_header(h, (uint64_t)st->st_size, name, err);
	return rc ? rc : 1;
}

int gtu_container_describe(struct gtu_graph *g, const struct gtu_container_header *h, const char *name,
			   struct gtu_error *err)
{
	/* the header in the file may change after the check */
	g->backing->header = malloc(sizeof(*h));
	g->backing->path = strdup(name);
	if (!g->backing->path || !g->backing->header)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a file name");
	*g->backing->header = *h;
	/*
	 * Page faults read ahead, megabytes on many systems. This speeds up scans of files that fit
	 * in memory tenfold. For larger files it would evict pages in use, so disable it.
	 */
	if (h->file_bytes / 2 > (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4)
		madvise(g->backing->map, h->file_bytes, MADV_RANDOM);
	g->n = h->n;
	g->m = h->m;
	g->stored = h->stored;
	g->flags = h->flags;
	g->edge_bytes = h->edge_bytes;
	g->weight_type = h->weight_type;
	g->id_base = h->section[GTU_SECTION_IDS].bytes ? 0 : h->id_base;
	g->row = section(g, h, GTU_SECTION_ROW);
	g->col = section(g, h, GTU_SECTION_COL);
	g->weight = section(g, h, GTU_SECTION_WEIGHT);
	g->ids = section(g, h, GTU_SECTION_IDS);
	g->backing->names = section(g, h, GTU_SECTION_NAMES);
	g->backing->names_bytes = h->names.bytes;
	gtu_graph_set_name(g, *h->name ? h->name : name);
	return 0;
}

int gtu_container_open(int fd, const char *name, const struct gtu_progress *progress, struct gtu_graph **out,
		       struct gtu_error *err)
{
	struct gtu_container_header h;
	struct gtu_graph *g;
	struct stat st;
	int rc;

	*out = NULL;
	rc = gtu_container_header(fd, name, &st, &h, err);
	if (rc <= 0)
		return rc;
	g = gtu_graph_new();
	if (!g)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a graph");
	rc = take_content(g->backing, fd, &st, h.file_bytes, name, progress, err);
	if (!rc)
		rc = gtu_container_describe(g, &h, name, err);
	if (!rc && h.version == GTU_CONTAINER_COMPRESSED && h.m)
		rc = decode(g, &h, name, progress, err);
	if (rc) {
		gtu_graph_close(g);
		return rc;
	}
	*out = g;
	return 1;
}

int gtu_container_check_sums(const struct gtu_graph *g, const struct gtu_progress *progress,
			     struct gtu_error *err)
{
	int i, rc = 0;

	for (i = 0; i < GTU_SECTIONS && !rc; i++)
		rc = check_sum(g, g->backing->header, i, progress, err);
	return rc;
}

static int write_all(int fd, const void *data, uint64_t bytes, uint64_t offset)
{
	const char *p = data;
	ssize_t done;

	while (bytes) {
		done = pwrite(fd, p, bytes > CHUNK ? CHUNK : bytes, (off_t)offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			errno = done ? errno : ENOSPC;
			return -1;
		}
		p += done;
		offset += (uint64_t)done;
		bytes -= (uint64_t)done;
	}
	return 0;
}

struct writer {
	int fd;
	const char *path;
	const struct gtu_progress *progress;
};

static int write_section(const struct writer *w, struct gtu_container_header *h, int i,
			 const char *data, struct gtu_error *err)
{
	uint64_t at, piece, bytes = part(h, i)->bytes;
	struct sum s = { 0 };

	for (at = 0; at < bytes; at += piece) {
		piece = bytes - at > CHUNK ? CHUNK : bytes - at;
		if (write_all(w->fd, data + at, piece, part(h, i)->offset + at))
			return gtu_fail(err, GTU_ERR_FAIL, "cannot write %s: %s", w->path, strerror(errno));
		sum_add(&s, data + at, piece);
		if (gtu_tick(w->progress, "writing", part(h, i)->offset + at + piece, h->file_bytes))
			return gtu_fail(err, GTU_ERR_INTERRUPTED, "writing %s was stopped", w->path);
	}
	part_to_write(h, i)->sum = sum_value(&s);
	return 0;
}

/* Encode the edge section of a compressed container (from malloc()) and set its header members. */
static void *encode(const struct gtu_graph *g, struct gtu_container_header *h, struct gtu_error *err)
{
	struct gtu_compressed c;
	char *data = NULL;

	if (!gtu_compressed_measure(g, 1, &c, err)) {
		h->version = GTU_CONTAINER_COMPRESSED;
		h->coded_pieces = c.pieces;
		h->coded_bits = c.bits;
		h->entry_bits = c.entry_bits;
		h->weight_bits = c.weight_bits;
		h->weight_min = c.weight_min;
		h->weighted = c.weighted;
		data = calloc(1, coded_at(h) + gtu_compressed_bytes(c.bits) + 1);
		if (data) {
			memcpy(data, c.width, c.pieces);
			gtu_compressed_write(g, &c, (uint32_t *)(data + coded_at(h)));
		} else {
			gtu_fail(err, GTU_ERR_NOMEM, "out of memory encoding %llu edges",
				 (unsigned long long)g->m);
		}
	}
	gtu_compressed_free(&c);
	return data;
}

static int write_graph(const struct writer *w, const struct gtu_graph *g, struct gtu_container_header *start,
		       const void *col, struct gtu_error *err)
{
	const void *data[GTU_SECTIONS] = { g->row, col, start->weighted ? NULL : g->weight, g->ids,
					   g->backing ? g->backing->names : NULL };
	struct gtu_container_header h = *start;
	uint64_t bytes[GTU_SECTIONS];
	int i, rc;

	memcpy(h.magic, GTU_CONTAINER_MAGIC, sizeof(h.magic));
	h.flags = g->flags & (GTU_GRAPH_DIRECTED | GTU_GRAPH_SORTED);
	h.edge_bytes = g->edge_bytes;
	h.weight_type = g->weight_type;
	h.n = g->n;
	h.m = g->m;
	h.stored = g->stored;
	h.id_base = g->ids ? 0 : g->id_base;
	h.names.bytes = data[GTU_SECTION_NAMES] ? g->backing->names_bytes : 0;
	for (i = 0; i < (int)sizeof(h.name) - 1 && g->name[i]; i++)
		h.name[i] = !(g->name[i] & 0x80) && (g->name[i] < ' ' || g->name[i] == 0x7f) ? '?' : g->name[i];
	if (!section_bytes(&h, g->ids != NULL, bytes))
		return gtu_fail(err, GTU_ERR_USAGE, "%llu vertices and %llu edges are too many for "
				"any file",
				(unsigned long long)g->n, (unsigned long long)g->m);
	h.file_bytes = GTU_CONTAINER_ALIGN;
	for (i = 0; i < GTU_SECTIONS; i++) {
		part_to_write(&h, i)->offset = bytes[i] ? h.file_bytes : 0;
		part_to_write(&h, i)->bytes = bytes[i];
		h.file_bytes = round_up(h.file_bytes + bytes[i]);
	}
	/* report a full disk at the start; the gaps become zero */
	if (ftruncate(w->fd, (off_t)h.file_bytes) ||
	    ((errno = posix_fallocate(w->fd, 0, (off_t)h.file_bytes)) && errno != EOPNOTSUPP &&
	     errno != EINVAL))
		return gtu_fail(err, GTU_ERR_FAIL, "cannot allocate %llu bytes for %s: %s",
				(unsigned long long)h.file_bytes, w->path, strerror(errno));
	for (i = 0; i < GTU_SECTIONS; i++) {
		rc = write_section(w, &h, i, data[i], err);
		if (rc)
			return rc;
	}
	h.sum = gtu_container_header_sum(&h);
	if (write_all(w->fd, &h, sizeof(h), 0) || fsync(w->fd))
		return gtu_fail(err, GTU_ERR_FAIL, "cannot write %s: %s", w->path, strerror(errno));
	return 0;
}

mode_t gtu_output_mode(const char *path)
{
	mode_t mask = umask(0);
	struct stat st;

	umask(mask);
	return !lstat(path, &st) && S_ISREG(st.st_mode) ? st.st_mode & 0777 : 0666 & ~mask;
}

static int save(const struct gtu_graph *g, const char *path, bool compress, const struct gtu_progress *progress,
		struct gtu_error *err)
{
	struct writer w = { .path = path, .progress = progress };
	struct gtu_container_header h = { .version = GTU_CONTAINER_VERSION };
	void *coded = NULL;
	struct gtu_graph view = *g;
	struct gtu_error own = { 0 };
	struct stat st;
	char *temporary;
	int rc;

	/* never write a graph that could not be read back */
	rc = gtu_graph_check(&view, progress, err);
	if (rc)
		return rc;
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return gtu_fail(err, GTU_ERR_USAGE, "%s is not a regular file: use another name "
				"for the container", path);
	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a file name");
	w.fd = mkostemp(temporary, O_CLOEXEC);
	if (w.fd < 0) {
		rc = gtu_advise_write(path, errno, err);
		free(temporary);
		return rc;
	}
	if (compress) {
		coded = encode(&view, &h, &own);
		rc = coded ? 0 : own.code;
	}
	if (!rc)
		rc = write_graph(&w, g, &h, compress ? coded : g->col, err);
	else if (err)
		*err = own;
	free(coded);
	if (!rc && fchmod(w.fd, gtu_output_mode(path)))
		rc = gtu_fail(err, GTU_ERR_FAIL, "cannot set the mode of %s: %s", temporary, strerror(errno));
	if (close(w.fd) && !rc)
		rc = gtu_fail(err, GTU_ERR_FAIL, "cannot write %s: %s", path, strerror(errno));
	if (!rc && rename(temporary, path))
		rc = gtu_fail(err, GTU_ERR_FAIL, "cannot rename %s to %s: %s", temporary, path,
			      strerror(errno));
	if (rc)
		unlink(temporary);
	free(temporary);
	return rc;
}

int gtu_graph_save(const struct gtu_graph *g, const char *path, const struct gtu_progress *progress,
		   struct gtu_error *err)
{
	return save(g, path, false, progress, err);
}

int gtu_graph_save_compressed(const struct gtu_graph *g, const char *path, const struct gtu_progress *progress,
			      struct gtu_error *err)
{
	return save(g, path, true, progress, err);
}
