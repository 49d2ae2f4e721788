// SPDX-License-Identifier: MIT
/* Containers that change after they were opened, by other users and by programs of the same user. */
#include <stddef.h>
#include <sys/stat.h>

#include "libruntime/graph/graph_container.h"
#include "libruntime/graph/graph_internal.h"
#include "libruntime/support/memory.h"
#include "container_bed.h"

#define LARGE 6000000ull		/* edges: more than 64 MiB with their weights */

/* A container that is too large to be copied because of its size, writable for others if @shared. */
static struct gtu_graph *open_large(const char *path, bool shared)
{
	const uint64_t n = 1000;
	uint64_t *row = malloc((n + 1) * 8), i;
	uint32_t *col = calloc(LARGE, 4);
	double *weight = calloc(LARGE, 8);
	struct gtu_graph arrays = { .n = n, .m = LARGE, .edge_bytes = 4, .weight_type = GTU_WEIGHT_F64, .row = row,
				    .col = col, .weight = weight, .flags = GTU_GRAPH_DIRECTED }, *g;

	for (i = 0; i <= n; i++)
		row[i] = i * (LARGE / n);
	for (i = 0; i < LARGE; i++)
		col[i] = (uint32_t)(i % n);
	OK(gtu_graph_wrap(&arrays, &g, &err));
	OK(gtu_graph_save(g, path, NULL, &err));
	gtu_graph_close(g);
	free(row);
	free(col);
	free(weight);
	CHECK(!chmod(path, shared ? 0666 : 0644));
	OK(gtu_graph_open(path, NULL, NULL, &g, &err));
	return g;
}

static bool is_copied(const struct gtu_graph *g, const char *path)
{
	const volatile uint32_t *target = (const uint32_t *)g->col + 77;
	const uint64_t offset = (uint64_t)((const char *)target - (const char *)g->backing->map);
	const uint32_t before = *target;
	bool same;

	damage(path, offset, before ^ 1, 4);
	same = *target == before;
	damage(path, offset, before, 4);
	return same;
}

/*
 * Other users change a container after it was checked, while algorithms write to arrays by its
 * targets. The graph does not see the change.
 */
TEST(changes_by_other_users_do_not_reach_a_graph)
{
	const char *path = in_tmp("shared.gtu");
	struct gtu_graph *g = open_large(path, true), *out;

	OK(gtu_graph_check(g, NULL, &err));
	CHECK(is_copied(g, path));
	damage(path, (uint64_t)((const char *)g->col - (const char *)g->backing->map) + 77 * 4, 0x3fffff00, 4);
	OK(gtu_graph_transpose(g, NULL, &out, &err));
	gtu_graph_close(out);
	gtu_graph_close(g);
	/* a copy that is too large is refused */
	gtu_set_memory_limit(66u << 20);
	CHECK(gtu_graph_open(path, NULL, NULL, &g, &err) == GTU_ERR_NOMEM);
	CHECKF(strstr(err.text, "other users can change the file") && strstr(err.text, "--memory"), "%s", err.text);
	gtu_set_memory_limit(0);
	/* a file that only this user can change is mapped, whatever its size */
	CHECK(!chmod(path, 0644));
	gtu_set_memory_limit(66u << 20);
	OK(gtu_graph_open(path, NULL, NULL, &g, &err));
	gtu_set_memory_limit(0);
	CHECK(!is_copied(g, path));
	gtu_graph_close(g);
	unlink(path);
}

/* A program of the same user changes a mapped container after its check: no write is out of bounds. */
TEST(changes_of_a_mapped_container_are_reported)
{
	const char *path = in_tmp("mapped.gtu");
	struct gtu_graph *g = open_large(path, false), *out;

	OK(gtu_graph_check(g, NULL, &err));
	damage(path, (uint64_t)((const char *)g->col - (const char *)g->backing->map) + 77 * 4, 0x3fffff00, 4);
	CHECK(gtu_graph_transpose(g, NULL, &out, &err) == GTU_ERR_INPUT && !out);
	CHECKF(strstr(err.text, "has changed since it was checked"), "%s", err.text);
	CHECK(gtu_graph_symmetrize(g, NULL, &out, &err) == GTU_ERR_INPUT && !out);
	gtu_graph_close(g);
	unlink(path);
}

TEST(a_header_is_not_read_again_after_its_check)
{
	const char *path = in_tmp("header.gtu");
	struct gtu_graph *g = open_large(path, false);

	damage(path, offsetof(struct gtu_container_header, section), 1ull << 40, 8);
	OK(gtu_graph_check(g, NULL, &err));
	gtu_graph_close(g);
	unlink(path);
}

/* A small container is read: truncating it does not end the process by SIGBUS. */
TEST(a_truncated_small_container_keeps_its_open_graph)
{
	const char *path = in_tmp("small.gtu");
	struct gtu_graph *a = make(GTU_WEIGHT_U32, 4, 5), *g;

	OK(gtu_graph_save(a, path, NULL, &err));
	OK(gtu_graph_open(path, NULL, NULL, &g, &err));
	CHECK(!truncate(path, 0));
	OK(gtu_graph_check(g, NULL, &err));
	check_equal(a, g);
	gtu_graph_close(g);
}

TEST_MAIN
