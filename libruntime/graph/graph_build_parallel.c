// SPDX-License-Identifier: MIT
/*
 * Parallel CSR construction for large edge lists of 4-byte vertices without weights, and the transpose of
 * such a graph. Threads claim edge indices in any order; each list is sorted afterwards, so the graph
 * does not depend on the schedule.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph_internal.h"
#include "graph_build_parallel.h"
#include "libruntime/support/parallel.h"

#define SHORT_LIST 48u
#define FEW_VERTICES 4096u		/* vertices of a share, whose lists may be long */

struct build {
	const uint32_t *src, *dst;
	const uint64_t *lists;		/* a graph's row offsets instead of src */
	uint64_t base, n, m;		/* m: entries of dst */
	bool both;
	uint64_t *row;			/* n + 1: counts, then cursors */
	uint64_t *sum;			/* sum of each share of rows */
	uint64_t entries;		/* of col */
	uint32_t *col;
	const struct gtu_progress *progress;
};

static inline uint64_t next_of(uint64_t *row, uint64_t v)
{
	return __atomic_fetch_add(&row[v], 1, __ATOMIC_RELAXED);
}

static int count_pairs(void *arg, uint64_t first, uint64_t end)
{
	struct build *b = arg;
	uint64_t e, u, v;

	for (e = first; e < end; e++) {
		u = b->src[e] - b->base;
		v = b->dst[e] - b->base;
		next_of(b->row, u);
		if (b->both && u != v)
			next_of(b->row, v);
	}
	return 0;
}

static int place_pairs(void *arg, uint64_t first, uint64_t end)
{
	struct build *b = arg;
	uint64_t e, u, v;

	for (e = first; e < end; e++) {
		u = b->src[e] - b->base;
		v = b->dst[e] - b->base;
		b->col[next_of(b->row, u)] = (uint32_t)v;
		if (b->both && u != v)
			b->col[next_of(b->row, v)] = (uint32_t)u;
	}
	return 0;
}

/*
 * The same for a graph. It was checked before, but another program may change a mapped file: edges
 * outside of the graph are GTU_ERR_INPUT.
 */
static int count_entries(void *arg, uint64_t first, uint64_t end)
{
	struct build *b = arg;
	uint64_t e, v;

	for (e = first; e < end; e++) {
		v = b->dst[e];
		if (gtu_unlikely(v >= b->n))
			return GTU_ERR_INPUT;
		next_of(b->row, v);
	}
	return 0;
}

static int place_entries(void *arg, uint64_t first, uint64_t end)
{
	struct build *b = arg;
	uint64_t e, u, v, list_end, at;

	for (u = first; u < end; u++) {
		list_end = b->lists[u + 1];
		if (gtu_unlikely(list_end > b->m))
			return GTU_ERR_INPUT;
		for (e = b->lists[u]; e < list_end; e++) {
			v = b->dst[e];
			at = gtu_unlikely(v >= b->n) ? b->m : next_of(b->row, v);
			if (gtu_unlikely(at >= b->m))
				return GTU_ERR_INPUT;
			b->col[at] = (uint32_t)u;
		}
	}
	return 0;
}

static int sum_rows(void *arg, uint64_t first, uint64_t end)
{
	struct build *b = arg;
	uint64_t v, sum = 0;

	for (v = first; v < end; v++)
		sum += b->row[v];
	b->sum[first >> GTU_SHARE_LOG2] = sum;
	return 0;
}

static int begin_rows(void *arg, uint64_t first, uint64_t end)
{
	struct build *b = arg;
	uint64_t v, c, at = b->sum[first >> GTU_SHARE_LOG2];

	for (v = first; v < end; v++) {
		c = b->row[v];
		b->row[v] = at;
		at += c;
	}
	return 0;
}

static void sort_short(uint32_t *x, uint64_t n)
{
	uint64_t i, k;
	uint32_t y;

	for (i = 1; i < n; i++) {
		y = x[i];
		for (k = i; k && x[k - 1] > y; k--)
			x[k] = x[k - 1];
		x[k] = y;
	}
}

/* LSD radix sort with 8-bit digits; @buffer holds @n elements. */
static void sort_long(uint32_t *x, uint32_t *buffer, uint64_t n)
{
	uint64_t at[256], i;
	uint32_t *swap;
	unsigned shift;

	for (shift = 0; shift < 32; shift += 8) {
		memset(at, 0, sizeof(at));
		for (i = 0; i < n; i++)
			at[x[i] >> shift & 255]++;
		gtu_prefix_sum(at, 256);
		for (i = 0; i < n; i++)
			buffer[at[x[i] >> shift & 255]++] = x[i];
		swap = x;
		x = buffer;
		buffer = swap;
	}
}

/* row[v] is the end of list v at this point, unless the graph changed after its entries were counted. */
static int check_rows(void *arg, uint64_t first, uint64_t end)
{
	const struct build *b = arg;
	uint64_t v;

	for (v = first; v < end; v++)
		if (b->row[v] < (v ? b->row[v - 1] : 0) || b->row[v] > b->entries)
			return GTU_ERR_INPUT;
	return 0;
}

/* Then entries may be missing, too. */
static int sort_lists(void *arg, uint64_t first, uint64_t end)
{
	struct build *b = arg;
	uint64_t v, from, n, had = 0;
	uint32_t *buffer = NULL;
	int rc = 0;

	for (v = first; v < end; v++) {
		from = v ? b->row[v - 1] : 0;
		n = b->row[v] - from;
		if (n > SHORT_LIST && n > had) {
			free(buffer);
			had = n + n / 2;
			buffer = malloc(had * sizeof(*buffer));
			if (!buffer)
				return GTU_ERR_NOMEM;
		}
		if (n <= SHORT_LIST)
			sort_short(b->col + from, n);
		else
			sort_long(b->col + from, buffer, n);
		if (gtu_unlikely(n && b->col[from + n - 1] >= b->n)) {
			rc = GTU_ERR_INPUT;
			break;
		}
	}
	free(buffer);
	return rc;
}

static int step(struct build *b, uint64_t share, int (*fn)(void *, uint64_t, uint64_t), uint64_t count, const char *what)
{
	if (gtu_tick(b->progress, what, 0, 0))
		return GTU_ERR_INTERRUPTED;
	return gtu_parallel_by(share, fn, b, count);
}

/* The parallel builder does about twice the work of the serial one. */
bool gtu_build_is_parallel(uint64_t m)
{
	return m >= 1ull << 22 && sysconf(_SC_NPROCESSORS_ONLN) >= 4;
}

static int build(struct build *b, uint64_t **row, uint32_t **col)
{
	const uint64_t shares = (b->n >> GTU_SHARE_LOG2) + 1, share = 1ull << GTU_SHARE_LOG2;
	int rc = GTU_ERR_NOMEM;

	b->row = calloc(b->n + 1, sizeof(*b->row));
	b->sum = calloc(shares, sizeof(*b->sum));
	if (b->row && b->sum)
		rc = step(b, share, b->lists ? count_entries : count_pairs, b->m, "counting edges");
	if (!rc)
		rc = step(b, share, sum_rows, b->n, "counting edges");
	if (!rc)
		b->entries = gtu_prefix_sum(b->sum, shares);
	if (!rc)
		rc = step(b, share, begin_rows, b->n, "counting edges");
	b->col = rc ? NULL : gtu_array_alloc(b->entries * sizeof(*b->col));
	if (!rc && !b->col)
		rc = GTU_ERR_NOMEM;
	if (!rc)
		rc = b->lists ? step(b, FEW_VERTICES, place_entries, b->n, "placing edges") :
				step(b, share, place_pairs, b->m, "placing edges");
	if (!rc && b->lists)
		rc = step(b, share, check_rows, b->n, "ordering edges");
	if (!rc)
		rc = step(b, FEW_VERTICES, sort_lists, b->n, "ordering edges");
	free(b->sum);
	if (rc) {
		free(b->row);
		free(b->col);
		return rc;
	}
	/* each row was a cursor and now is the start of the next list */
	memmove(b->row + 1, b->row, b->n * sizeof(*b->row));
	b->row[0] = 0;
	*row = b->row;
	*col = b->col;
	return 0;
}

int gtu_build_parallel(const uint32_t *src, const uint32_t *dst, uint64_t pairs, uint64_t n, uint64_t base,
		       bool both, const struct gtu_progress *progress, uint64_t **row, uint32_t **col, uint64_t *m)
{
	struct build b = { .src = src, .dst = dst, .base = base, .n = n, .m = pairs, .both = both, .progress = progress };
	int rc = build(&b, row, col);

	*m = b.entries;
	return rc;
}

int gtu_transpose_parallel(const uint64_t *lists, const uint32_t *to, uint64_t m, uint64_t n,
			   const struct gtu_progress *progress, uint64_t **row, uint32_t **col)
{
	struct build b = { .lists = lists, .dst = to, .n = n, .m = m, .progress = progress };

	return build(&b, row, col);
}
