// SPDX-License-Identifier: MIT
/* Keeps a sorted table of bus address ranges, and maps and unmaps their memory. */
#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "dma_table.h"

#define PAGE	4096u

/* Index of the first range that ends at or after @addr. */
static size_t lower_bound(const struct dma_table *t, uint64_t addr)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->range[mid].last < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static size_t range_bytes(const struct dma_range *r)
{
	return (size_t)(r->last - r->start + 1);
}

size_t dma_table_limit(void)
{
	static size_t limit;
	unsigned long kernel;
	FILE *f;

	if (limit)
		return limit;
	limit = DMA_TABLE_MAX;
	f = fopen("/proc/sys/vm/max_map_count", "r");
	if (f && fscanf(f, "%lu", &kernel) == 1 && kernel / 2 < limit)
		limit = kernel / 2 ? kernel / 2 : 1;
	if (f)
		fclose(f);
	return limit;
}

/* Make space for one more range; false if memory is short or the table is full. */
static bool reserve(struct dma_table *t)
{
	size_t capacity = t->capacity ? t->capacity * 2 : 64;
	struct dma_range *range;

	if (t->count >= dma_table_limit())
		return false;
	if (t->count < t->capacity)
		return true;
	range = realloc(t->range, capacity * sizeof(*range));
	if (!range)
		return false;
	t->range = range;
	t->capacity = capacity;
	return true;
}

static void insert(struct dma_table *t, size_t at, const struct dma_range *r)
{
	memmove(&t->range[at + 1], &t->range[at], (t->count - at) * sizeof(*r));
	t->range[at] = *r;
	t->count++;
}

static bool is_mapped(const struct dma_range *r)
{
	return r->host && !r->lent;
}

/* The mapping that holds a mapped range: whole pages of the file, which may be huge. */
static uint8_t *mapping_start(const struct dma_range *r)
{
	return (uint8_t *)((uintptr_t)r->host & ~((uintptr_t)r->page - 1));
}

static size_t mapping_bytes(const struct dma_range *r)
{
	uintptr_t end = (uintptr_t)r->host + range_bytes(r) + r->page - 1;

	return (end & ~((uintptr_t)r->page - 1)) - (uintptr_t)mapping_start(r);
}

static void unmap_range(struct dma_table *t, const struct dma_range *r)
{
	if (!is_mapped(r))
		return;
	if (munmap(mapping_start(r), mapping_bytes(r)))
		t->stuck = true;
	t->mapped -= mapping_bytes(r);
}

/*
 * The page size of a file of memory, 0 for other files. Only hugetlbfs maps and unmaps in units of
 * st_blksize; for tmpfs, st_blksize is a hint.
 */
static uint32_t file_page(int fd, const struct stat *st)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return 0;
	if ((uint32_t)fs.f_type == HUGETLBFS_MAGIC)
		return (uint32_t)st->st_blksize;
	return (uint32_t)fs.f_type == TMPFS_MAGIC ? PAGE : 0;
}

static int map_file(struct dma_table *t, struct dma_range *r, int fd, uint64_t offset, struct gtu_error *err)
{
	int prot = PROT_READ | (r->write ? PROT_WRITE : 0);
	uint64_t size = range_bytes(r), inside;
	struct stat st;
	uint8_t *host;

	if ((offset | size) % PAGE) {
		gtu_fail(err, GTU_ERR_USAGE,
			 "offset 0x%" PRIx64 " and size 0x%" PRIx64 " are not both multiples of %u",
			 offset, size, PAGE);
		return -EINVAL;
	}
	/* accesses to pages after the end of the file would raise SIGBUS */
	if (fstat(fd, &st) || offset > (uint64_t)INT64_MAX || size > (uint64_t)INT64_MAX - offset ||
	    (uint64_t)st.st_size < offset + size) {
		gtu_fail(err, GTU_ERR_USAGE,
			 "0x%" PRIx64 " bytes at offset 0x%" PRIx64 " are not inside the file of the descriptor",
			 size, offset);
		return -EINVAL;
	}
	r->page = file_page(fd, &st);
	if (!r->page)
		return 0;
	/* map whole pages of the file: part of a huge page can be neither unmapped nor replaced */
	inside = offset % r->page;
	size = (inside + size + r->page - 1) & ~((uint64_t)r->page - 1);
	if (size > DMA_TABLE_BYTES - t->mapped) {
		gtu_fail(err, GTU_ERR_NOMEM, "0x%" PRIx64 " bytes are mapped, the limit is 0x%llx", t->mapped, DMA_TABLE_BYTES);
		return -ENOSPC;
	}
	/* page tables have no write-only mappings; rights are checked at each use */
	host = mmap(NULL, size, prot, MAP_SHARED | MAP_NORESERVE, fd, (off_t)(offset - inside));
	if (host == MAP_FAILED) {
		int code = -errno;

		gtu_fail(err, GTU_ERR_FAIL, "cannot map 0x%" PRIx64 " bytes: %s", size, strerror(errno));
		return code;
	}
	/* a core dump of this process must not contain the peer's memory */
	madvise(host, size, MADV_DONTDUMP);
	r->host = host + inside;
	t->mapped += size;
	return 0;
}

int dma_table_map(struct dma_table *t, uint64_t start, uint64_t size, int fd, uint64_t offset,
		  bool read, bool write, struct gtu_error *err)
{
	struct dma_range r = { .start = start, .last = start + size - 1, .read = read, .write = write };
	size_t at;

	if (!size || r.last < start) {
		gtu_fail(err, GTU_ERR_USAGE, "0x%" PRIx64 " bytes at 0x%" PRIx64 " are not a valid range", size, start);
		return -EINVAL;
	}
	at = lower_bound(t, start);
	if (at < t->count && t->range[at].start <= r.last) {
		gtu_fail(err, GTU_ERR_USAGE,
			 "0x%" PRIx64 "..0x%" PRIx64 " overlaps 0x%" PRIx64 "..0x%" PRIx64 ", mapped before",
			 start, r.last, t->range[at].start, t->range[at].last);
		return -EEXIST;
	}
	if (t->count >= dma_table_limit()) {
		gtu_fail(err, GTU_ERR_NOMEM, "%zu ranges are mapped, which is the limit", t->count);
		return -ENOSPC;
	}
	if (!reserve(t)) {
		gtu_fail(err, GTU_ERR_NOMEM, "no memory for the table of ranges");
		return -ENOMEM;
	}
	if (fd >= 0 && start % PAGE) {
		gtu_fail(err, GTU_ERR_USAGE, "bus address 0x%" PRIx64 " is not a multiple of %u", start, PAGE);
		return -EINVAL;
	}
	if (fd >= 0) {
		int code = map_file(t, &r, fd, offset, err);

		if (code)
			return code;
	}
	insert(t, at, &r);
	return 0;
}

int dma_table_map_host(struct dma_table *t, uint64_t start, uint64_t size, void *host, bool read, bool write)
{
	const struct dma_range r = { .start = start, .last = start + size - 1, .host = host, .read = read,
				     .write = write, .lent = true };

	if (!size || r.last < start)
		return -EINVAL;
	dma_table_unmap(t, start, size);
	if (t->count >= dma_table_limit())
		return -ENOSPC;
	if (!reserve(t))
		return -ENOMEM;
	insert(t, lower_bound(t, start), &r);
	return 0;
}

/* Unmap start..last, part of mapped range @r, alone; false if that is impossible. */
static bool unmap_part(struct dma_table *t, const struct dma_range *r, uint64_t start, uint64_t last)
{
	uint8_t *from = r->host + (start - r->start), *to = from + (last + 1 - start);

	/* at the range's ends the mapping is wider than the range */
	if (start == r->start)
		from = mapping_start(r);
	if (last == r->last)
		to = mapping_start(r) + mapping_bytes(r);
	if (((uintptr_t)from | (uintptr_t)to) % r->page || munmap(from, (size_t)(to - from)))
		return false;
	t->mapped -= (uint64_t)(to - from);
	return true;
}

/* Remove start..last, inside range @at, from the range, which may leave two ranges or none. */
static void cut(struct dma_table *t, size_t at, uint64_t start, uint64_t last)
{
	struct dma_range *r = &t->range[at], tail = *r;
	bool whole = start == r->start && last == r->last;

	/*
	 * If the part cannot be unmapped alone (not a multiple of a page, no space for a second
	 * range), unmap the whole range: the device may lose memory but never keeps too much.
	 */
	if (start != r->start && last != r->last) {
		whole = !reserve(t);
		r = &t->range[at];
	}
	if (!whole && is_mapped(r))
		whole = !unmap_part(t, r, start, last);
	if (whole) {
		unmap_range(t, r);
		memmove(r, r + 1, (t->count - at - 1) * sizeof(*r));
		t->count--;
		return;
	}
	if (last < tail.last) {
		if (tail.host)
			tail.host += last + 1 - tail.start;
		tail.start = last + 1;
		if (start == r->start) {
			*r = tail;
			return;
		}
		insert(t, at + 1, &tail);
		r = &t->range[at];
	}
	r->last = start - 1;
}

uint64_t dma_table_unmap(struct dma_table *t, uint64_t start, uint64_t size)
{
	uint64_t last = size > UINT64_MAX - start ? UINT64_MAX : start + size - 1, known = 0;
	size_t at, n;

	if (!size)
		return 0;
	t->hit = 0;
	while ((at = lower_bound(t, start)) < t->count && t->range[at].start <= last) {
		const struct dma_range *r = &t->range[at];
		uint64_t from = r->start > start ? r->start : start;
		uint64_t to = r->last < last ? r->last : last;

		/*
		 * remove all ranges that are covered completely at once: an IOMMU may unmap
		 * thousands
		 */
		for (n = 0; at + n < t->count && r[n].start >= start && r[n].last <= last; n++) {
			known += range_bytes(&r[n]);
			unmap_range(t, &r[n]);
		}
		if (n) {
			memmove(&t->range[at], &t->range[at + n], (t->count - at - n) * sizeof(*r));
			t->count -= n;
			continue;
		}
		known += to - from + 1;
		cut(t, at, from, to);
	}
	return known;
}

void dma_table_clear(struct dma_table *t)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		unmap_range(t, &t->range[i]);
	free(t->range);
	*t = (struct dma_table){ .torn = t->torn, .stuck = t->stuck };
}

void *dma_table_find(struct dma_table *t, uint64_t addr, uint64_t *len, bool write)
{
	const struct dma_range *r;
	uint64_t rest;

	/* accesses are mostly sequential: try the range of the last call first */
	if (t->hit >= t->count || addr < t->range[t->hit].start || addr > t->range[t->hit].last)
		t->hit = lower_bound(t, addr);
	if (t->hit >= t->count)
		return NULL;
	r = &t->range[t->hit];
	if (addr < r->start || !r->host || !(write ? r->write : r->read))
		return NULL;
	rest = r->last - addr;
	if (*len - 1 > rest)
		*len = rest + 1;
	return r->host + (addr - r->start);
}

bool dma_table_mend(struct dma_table *t, const void *fault)
{
	uintptr_t p = (uintptr_t)fault;
	size_t i;

	for (i = 0; i < t->count; i++) {
		const struct dma_range *r = &t->range[i];

		if (!is_mapped(r) || p - (uintptr_t)mapping_start(r) >= mapping_bytes(r))
			continue;
		t->torn = true;
		/* replace the whole range: part of a huge page cannot be replaced */
		return mmap(mapping_start(r), mapping_bytes(r), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
	}
	return false;
}
