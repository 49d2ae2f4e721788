// SPDX-License-Identifier: MIT
/* Runs the kernels of the oracle counts and verifies their results. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_parts.h"

static int array(struct oracle_run *r, const char *name, uint64_t words, const void *from, struct lab_array *copy,
		 struct gtu_error *err)
{
	struct lab_array *a = &r->array[r->arrays++];
	int rc = lab_alloc(r->lab, name, words * 4, LAB_DEVICE, a, err);

	if (!rc && from)
		memcpy(a->data, from, words * 4);
	*copy = *a;
	return rc;
}

static int launch(struct oracle_run *r, const void *args, uint64_t grid, uint32_t block, struct gtu_error *err)
{
	struct lab_launch l = { .kernel = r->kernel, .args = args, .grid = grid, .block = block };

	r->launches++;
	return lab_run(r->lab, &l, r->count, err);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Windows of 1024 entries, grouped by 128-byte line in order of first appearance. */
static void bucket(const uint32_t *col, uint64_t m, uint32_t *out)
{
	uint64_t from, n, i, j;
	bool taken[1024];

	for (from = 0; from < m; from += n) {
		n = m - from < 1024 ? m - from : 1024;
		memset(taken, 0, sizeof(taken));
		for (i = 0; i < n; i++) {
			uint32_t line = col[from + i] >> 5;

			if (taken[i])
				continue;
			for (j = i; j < n; j++) {
				if (taken[j] || col[from + j] >> 5 != line)
					continue;
				taken[j] = true;
				*out++ = col[from + j];
			}
		}
	}
}

static int run_gather(struct oracle_run *r, const char *name, struct gtu_error *err)
{
	bool one = strstr(name, "1warp"), rmw = !strncmp(name, "rmw", 3);
	const char *stream = strrchr(name, '_') + 1;
	struct lab_gather_args a = { .m = r->g->m };
	uint64_t m = r->g->m, n = r->g->n, i;
	uint32_t *idx = malloc(m * 4 + 4), *data;
	int rc;

	if (!idx)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %" PRIu64 " indices", m);
	if (!strcmp(stream, "bucket"))
		bucket(r->g->col, m, idx);
	else
		memcpy(idx, r->g->col, m * 4);
	if (!strcmp(stream, "sorted"))
		qsort(idx, m, 4, by_value);
	if (one && a.m > 16384)
		a.m = 16384;
	r->kernel = rmw ? &lab_rmw_1warp : one ? &lab_gather_1warp : &lab_gather;
	rc = array(r, "idx", m, idx, &a.idx, err);
	rc = rc ? rc : array(r, "data", n, NULL, &a.data, err);
	if (!rc && !rmw)
		rc = array(r, "out", one ? 32 : m, NULL, &a.out, err);
	data = a.data.data;
	for (i = 0; i < n && !rc; i++) /* integers, or 1.0f, so that sums are exact */
		data[i] = one && !rmw ? 0x3f800000u : (uint32_t)(i * 2654435761u);
	rc = rc ? rc : one ? launch(r, &a, 1, 32, err) : launch(r, &a, (m + 255) / 256, 256, err);
	for (i = 0; i < m && !rc && !one; i++)
		if (((uint32_t *)a.out.data)[i] != data[idx[i]])
			rc = gtu_fail(err, GTU_ERR_VERIFY, "%s: out[%" PRIu64 "] is not data[idx[%" PRIu64 "]]", name, i, i);
	for (i = 0; i < 32 && !rc && one && !rmw; i++)
		if (((float *)a.out.data)[i] != (float)((a.m + 31 - i) / 32))
			rc = gtu_fail(err, GTU_ERR_VERIFY, "%s: out[%" PRIu64 "] is %g, expected %g", name, i,
				      (double)((float *)a.out.data)[i], (double)((a.m + 31 - i) / 32));
	free(idx);
	return rc;
}

/* Recompute the sums of shares in double precision and compare. */
static int check_ranks(const struct oracle_run *r, const struct lab_csr_args *a, bool pull, struct gtu_error *err)
{
	double *want = calloc(r->g->n + 1, sizeof(*want));
	const float *got = a->next.data, *rank = a->rank.data;
	uint64_t v, k;
	int rc = 0;

	if (!want)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory to check ranks");
	for (v = 0; v < r->g->n; v++)
		for (k = r->g->row[v]; k < r->g->row[v + 1]; k++) {
			uint32_t c = r->g->col[k], d;

			if (!pull) {
				want[c] += (double)rank[v] / (r->g->row[v + 1] - r->g->row[v]);
				continue;
			}
			d = r->g->row[c + 1] - r->g->row[c];
			want[v] += (double)rank[c] / (d ? d : 1);
		}
	for (v = 0; v < r->g->n && !rc; v++)
		if (fabs(got[v] - want[v]) > 1e-3 * (1e-6 + fabs(want[v])))
			rc = gtu_fail(err, GTU_ERR_VERIFY, "%s: next[%" PRIu64 "] is %g, expected %g", r->kernel->name, v,
				      (double)got[v], want[v]);
	free(want);
	return rc;
}

static int run_pagerank(struct oracle_run *r, const char *name, struct gtu_error *err)
{
	const bool pull = strstr(name, "pull"), by_warp = strstr(name, "wm");
	const uint64_t n = r->g->n, per_block = by_warp ? 8 : 256;
	struct lab_csr_args a = { .n = r->g->n, .m = r->g->m };
	uint32_t *deg = NULL;
	uint64_t i;
	int rc;

	r->kernel = pull ? &lab_pr_pull_vm : !by_warp ? &lab_pr_push_vm : strstr(name, "aligned") ? &lab_pr_push_wm_aligned :
		    &lab_pr_push_wm;
	rc = array(r, "row", n + 1, r->g->row, &a.row, err);
	rc = rc ? rc : array(r, "col", a.m, r->g->col, &a.col, err);
	rc = rc ? rc : array(r, "rank", n, NULL, &a.rank, err);
	if (!rc && pull) {
		rc = array(r, "deg", n, NULL, &a.deg, err);
		deg = a.deg.data;
	}
	rc = rc ? rc : array(r, "next", n, NULL, &a.next, err);
	for (i = 0; i < n && !rc; i++) {
		((float *)a.rank.data)[i] = 1.0f / (float)n;
		if (deg)
			deg[i] = r->g->row[i + 1] > r->g->row[i] ? r->g->row[i + 1] - r->g->row[i] : 1;
	}
	rc = rc ? rc : launch(r, &a, (n + per_block - 1) / per_block, 256, err);
	return rc ? rc : check_ranks(r, &a, pull, err);
}

/* Levels by a sequential BFS. *@last: the greatest level; the kernel needs one launch more. */
static int levels(const struct oracle_run *r, uint32_t root, uint32_t *level, uint32_t *last, struct gtu_error *err)
{
	uint64_t n = r->g->n, head = 0, tail = 0, k;
	uint32_t *queue = malloc(n * 4 + 4), v;

	if (!queue)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a search");
	for (v = 0; v < n; v++)
		level[v] = LAB_BFS_INF;
	level[root] = 0;
	queue[tail++] = root;
	while (head < tail) {
		v = queue[head++];
		*last = level[v];
		for (k = r->g->row[v]; k < r->g->row[v + 1]; k++)
			if (level[r->g->col[k]] == LAB_BFS_INF) {
				level[r->g->col[k]] = level[v] + 1;
				queue[tail++] = r->g->col[k];
			}
	}
	free(queue);
	return 0;
}

static int run_bfs(struct oracle_run *r, const char *name, struct gtu_error *err)
{
	struct lab_csr_args a = { .n = r->g->n, .m = r->g->m };
	uint32_t n = a.n, v, root = 0, last = 0, *level, *want = malloc(n * 4ull + 4), launches;
	int rc = 0;

	if (!want)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for levels");
	(void)name;
	r->kernel = &lab_bfs_level;
	rc = array(r, "row", n + 1ull, r->g->row, &a.row, err);
	rc = rc ? rc : array(r, "col", a.m, r->g->col, &a.col, err);
	rc = rc ? rc : array(r, "level", n, NULL, &a.level, err);
	level = a.level.data;
	for (v = 0; v < n; v++)
		if (r->g->row[v + 1] - r->g->row[v] > r->g->row[root + 1] - r->g->row[root])
			root = v;
	rc = rc ? rc : levels(r, root, want, &last, err);
	for (v = 0; v < n && !rc; v++)
		level[v] = v == root ? 0 : LAB_BFS_INF;
	launches = last + 1 < 16 ? last + 1 : 16;
	for (a.current = 0; a.current < launches && !rc; a.current++)
		rc = launch(r, &a, (n + 255ull) / 256, 256, err);
	for (v = 0; v < n && !rc; v++)
		if (level[v] != (want[v] > launches ? LAB_BFS_INF : want[v]))
			rc = gtu_fail(err, GTU_ERR_VERIFY, "bfs_level: level[%u] is %u, expected %u", v, level[v], want[v]);
	free(want);
	return rc;
}

oracle_kernel *oracle_kernel_of(const char *name)
{
	static const struct { const char *name; oracle_kernel *run; } known[] = {
		{ "bfs_level", run_bfs }, { "gather_1warp_bucket", run_gather }, { "gather_1warp_nbr", run_gather },
		{ "gather_bucket", run_gather }, { "gather_nbr", run_gather }, { "gather_sorted", run_gather },
		{ "pr_pull_vm", run_pagerank }, { "pr_push_vm", run_pagerank }, { "pr_push_wm", run_pagerank },
		{ "pr_push_wm_aligned", run_pagerank }, { "rmw_1warp_nbr", run_gather },
	};
	unsigned i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].name, name))
			return known[i].run;
	return NULL;
}
