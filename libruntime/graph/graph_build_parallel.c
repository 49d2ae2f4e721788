// SPDX-License-Identifier: MIT
/*
 * Parallel CSR construction for large edge lists of 4-byte vertices without weights, and the transpose of
 * such a graph. Construction: threads claim edge indices in any order; each list is sorted afterwards, so the
 * graph does not depend on the schedule. Transpose: entries go to blocks of target vertices first, so that most
 * writes are sequential, and keep their order.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph_internal.h"
#include "graph_build_parallel.h"
#include "libruntime/support/parallel.h"

#define SHORT_LIST 48u
#define FEW_VERTICES 4096u		/* vertices of a share, whose lists may be long */
#define BLOCK_LOG2 16u			/* log2 of the vertices of a block: 16 bits number them */
#define SOURCES 16384u			/* vertices whose lists a thread divides among the blocks at a time */

struct build {
	const uint32_t *src, *dst;
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

static int sort_lists(void *arg, uint64_t first, uint64_t end)
{
	struct build *b = arg;
	uint64_t v, from, n, had = 0;
	uint32_t *buffer = NULL;

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
	}
	free(buffer);
	return 0;
}

static int step(const struct gtu_progress *progress, void *b, uint64_t share, int (*fn)(void *, uint64_t, uint64_t), uint64_t count,
		const char *what)
{
	if (gtu_tick(progress, what, 0, 0))
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
		rc = step(b->progress, b, share, count_pairs, b->m, "counting edges");
	if (!rc)
		rc = step(b->progress, b, share, sum_rows, b->n, "counting edges");
	if (!rc)
		b->entries = gtu_prefix_sum(b->sum, shares);
	if (!rc)
		rc = step(b->progress, b, share, begin_rows, b->n, "counting edges");
	b->col = rc ? NULL : gtu_array_alloc(b->entries * sizeof(*b->col));
	if (!rc && !b->col)
		rc = GTU_ERR_NOMEM;
	if (!rc)
		rc = step(b->progress, b, share, place_pairs, b->m, "placing edges");
	if (!rc)
		rc = step(b->progress, b, FEW_VERTICES, sort_lists, b->n, "ordering edges");
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

/* ---- Transpose --------------------------------------------------------------------------------------- */

struct transpose {
	const uint64_t *lists;		/* row offsets */
	const uint32_t *to;
	uint64_t n, m, shares;		/* shares: of SOURCES vertices */
	uint64_t *first;		/* of the entries that lead from a share to a block, by block, then by share */
	uint16_t *low;			/* an entry's target in its block; its source is in col */
	uint64_t *row;
	uint32_t *col;
};

static uint64_t blocks_of(const struct transpose *t)
{
	return (t->n + (1u << BLOCK_LOG2) - 1) >> BLOCK_LOG2;
}

/*
 * The graph was checked before, but another program may change a mapped file: edges outside of the graph, or a number of
 * edges that differs from that counted, are GTU_ERR_INPUT.
 */
static int count_entries(void *arg, uint64_t first, uint64_t end)
{
	struct transpose *t = arg;
	const uint64_t blocks = blocks_of(t), last = t->lists[end];
	uint64_t *count = calloc(blocks, sizeof(*count)), e, k;
	int rc = !count ? GTU_ERR_NOMEM : last > t->m ? GTU_ERR_INPUT : 0;

	for (e = t->lists[first]; !rc && e < last; e++) {
		if (gtu_likely(t->to[e] < t->n))
			count[t->to[e] >> BLOCK_LOG2]++;
		else
			rc = GTU_ERR_INPUT;
	}
	for (k = 0; !rc && k < blocks; k++)
		t->first[k * t->shares + first / SOURCES] = count[k];
	free(count);
	return rc;
}

static int divide_entries(void *arg, uint64_t first, uint64_t end)
{
	struct transpose *t = arg;
	const uint64_t blocks = blocks_of(t), *from = t->first + first / SOURCES;
	uint64_t *at = malloc(blocks * sizeof(*at)), u, e, k, list_end;
	int rc = at ? 0 : GTU_ERR_NOMEM;

	for (k = 0; !rc && k < blocks; k++)
		at[k] = from[k * t->shares];
	for (u = first; !rc && u < end; u++) {
		list_end = t->lists[u + 1];
		if (gtu_unlikely(list_end > t->m))
			rc = GTU_ERR_INPUT;
		for (e = t->lists[u]; !rc && e < list_end; e++) {
			const uint32_t v = t->to[e];

			k = v >> BLOCK_LOG2;
			if (gtu_unlikely(v >= t->n || at[k] >= from[k * t->shares + 1])) {
				rc = GTU_ERR_INPUT;
				break;
			}
			t->low[at[k]] = (uint16_t)v;
			t->col[at[k]++] = (uint32_t)u;
		}
	}
	for (k = 0; !rc && k < blocks; k++)
		if (at[k] != from[k * t->shares + 1])
			rc = GTU_ERR_INPUT;
	free(at);
	return rc;
}

/* The entries of a block are its lists' already: put them in the order of their targets. */
static int order_block(void *arg, uint64_t first, uint64_t end)
{
	struct transpose *t = arg;
	const uint64_t s = t->first[first * t->shares], e = t->first[end * t->shares], base = first << BLOCK_LOG2,
		       most = end << BLOCK_LOG2 < t->n ? end << BLOCK_LOG2 : t->n;
	uint32_t *from = malloc((e - s) * sizeof(*from) + 1);
	uint64_t *row = t->row + base, v, i, at = s, count;

	if (!from)
		return GTU_ERR_NOMEM;
	memcpy(from, t->col + s, (e - s) * sizeof(*from));
	for (i = s; i < e; i++)
		row[t->low[i]]++;
	for (v = 0; v < most - base; v++) {
		count = row[v];
		row[v] = at;
		at += count;
	}
	for (i = s; i < e; i++)
		t->col[row[t->low[i]]++] = from[i - s];
	free(from);
	/* each was a cursor and now is the start of the next list */
	memmove(row + 1, row, (most - base - 1) * sizeof(*row));
	row[0] = s;
	return 0;
}

int gtu_transpose_parallel(const uint64_t *lists, const uint32_t *to, uint64_t m, uint64_t n,
			   const struct gtu_progress *progress, uint64_t **row, uint32_t **col)
{
	struct transpose t = { .lists = lists, .to = to, .n = n, .m = m, .shares = (n + SOURCES - 1) / SOURCES };
	const uint64_t cells = blocks_of(&t) * t.shares;
	int rc = GTU_ERR_NOMEM;

	t.first = calloc(cells + 1, sizeof(*t.first));
	t.row = calloc(n + 1, sizeof(*t.row));
	t.low = gtu_array_alloc(m * sizeof(*t.low));
	t.col = gtu_array_alloc(m * sizeof(*t.col));
	if (t.first && t.row && t.low && t.col)
		rc = step(progress, &t, SOURCES, count_entries, n, "counting edges");
	if (!rc)
		t.first[cells] = gtu_prefix_sum(t.first, cells);
	if (!rc && t.first[cells] != m)
		rc = GTU_ERR_INPUT;
	if (!rc)
		rc = step(progress, &t, SOURCES, divide_entries, n, "placing edges");
	if (!rc)
		rc = step(progress, &t, 1, order_block, blocks_of(&t), "ordering edges");
	free(t.first);
	free(t.low);
	if (rc) {
		free(t.row);
		free(t.col);
		return rc;
	}
	t.row[n] = m;
	*row = t.row;
	*col = t.col;
	return 0;
}
