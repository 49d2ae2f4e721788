// SPDX-License-Identifier: MIT
/*
 * Parallel CSR construction for large edge lists of 4-byte vertices without weights. Threads claim
 * edge indices in any order; each list is sorted afterwards, so the graph does not depend on the
 * schedule.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph_internal.h"
#include "graph_build_parallel.h"
#include "libruntime/support/parallel.h"

#define SHORT_LIST 48u

struct build {
	const uint32_t *src, *dst;
	uint64_t base, n;
	bool both;
	uint64_t *row;			/* n + 1: counts, then cursors */
	uint64_t *sum;			/* sum of each share of rows */
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

/* row[v] is the end of list v at this point. */
static int sort_lists(void *arg, uint64_t first, uint64_t end)
{
	struct build *b = arg;
	uint64_t v, from, n, had = 0;
	uint32_t *buffer = NULL;

	for (v = first; v < end; v++) {
		from = v ? b->row[v - 1] : 0;
		n = b->row[v] - from;
		if (n <= SHORT_LIST) {
			sort_short(b->col + from, n);
			continue;
		}
		if (n > had) {
			free(buffer);
			had = n + n / 2;
			buffer = malloc(had * sizeof(*buffer));
			if (!buffer)
				return GTU_ERR_NOMEM;
		}
		sort_long(b->col + from, buffer, n);
	}
	free(buffer);
	return 0;
}

static int step(struct build *b, int (*fn)(void *, uint64_t, uint64_t), uint64_t count, const char *what)
{
	if (gtu_tick(b->progress, what, 0, 0))
		return GTU_ERR_INTERRUPTED;
	return gtu_parallel(fn, b, count);
}

/* The parallel builder does about twice the work of the serial one. */
bool gtu_build_is_parallel(uint64_t m)
{
	return m >= 1ull << 22 && sysconf(_SC_NPROCESSORS_ONLN) >= 4;
}

int gtu_build_parallel(const uint32_t *src, const uint32_t *dst, uint64_t pairs, uint64_t n, uint64_t base,
		       bool both, const struct gtu_progress *progress, uint64_t **row, uint32_t **col, uint64_t *m)
{
	struct build b = { .src = src, .dst = dst, .base = base, .n = n, .both = both, .progress = progress };
	uint64_t shares = (n >> GTU_SHARE_LOG2) + 1, sum = 0;
	int rc = GTU_ERR_NOMEM;

	b.row = calloc(n + 1, sizeof(*b.row));
	b.sum = calloc(shares, sizeof(*b.sum));
	if (b.row && b.sum)
		rc = step(&b, count_pairs, pairs, "counting edges");
	if (!rc)
		rc = step(&b, sum_rows, n, "counting edges");
	if (!rc)
		sum = gtu_prefix_sum(b.sum, shares);
	if (!rc)
		rc = step(&b, begin_rows, n, "counting edges");
	b.col = rc ? NULL : gtu_array_alloc(sum * sizeof(*b.col));
	if (!rc && !b.col)
		rc = GTU_ERR_NOMEM;
	if (!rc)
		rc = step(&b, place_pairs, pairs, "placing edges");
	if (!rc)
		rc = step(&b, sort_lists, n, "ordering edges");
	free(b.sum);
	if (rc) {
		free(b.row);
		free(b.col);
		return rc;
	}
	/* each row was a cursor and now is the start of the next list */
	memmove(b.row + 1, b.row, n * sizeof(*b.row));
	b.row[0] = 0;
	*row = b.row;
	*col = b.col;
	*m = sum;
	return 0;
}
