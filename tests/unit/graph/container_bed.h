/* SPDX-License-Identifier: MIT */
/* Containers for tests: small graphs, their comparison, and damage to files. */
#ifndef GTU_TEST_CONTAINER_BED_H
#define GTU_TEST_CONTAINER_BED_H

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/library.h"

static inline char *in_tmp(const char *name)
{
	static char path[8][400];
	static unsigned int next;
	char *p = path[next++ % 8];

	snprintf(p, 400, "%s/%s", test_tmpdir(), name);
	return p;
}

static inline struct gtu_graph *make(uint32_t weight_type, uint32_t edge_bytes, uint64_t seed)
{
	static uint64_t src[3000], dst[3000];
	static double weight[3000];

	for (int i = 0; i < 3000; i++) {
		src[i] = test_random(&seed) % 500;
		dst[i] = test_random(&seed) % 500;
		if (weight_type == GTU_WEIGHT_F64)
			weight[i] = (double)test_random(&seed) / 3;
		else
			((uint32_t *)weight)[i] = (uint32_t)test_random(&seed);
	}
	return weighted_edges(500, 3000, src, dst, weight_type, weight, GTU_AS_STORED, edge_bytes);
}

static inline void check_equal(const struct gtu_graph *a, const struct gtu_graph *b)
{
	CHECK(a->n == b->n && a->m == b->m && a->stored == b->stored && a->edge_bytes == b->edge_bytes);
	CHECK(a->weight_type == b->weight_type && a->id_base == b->id_base);
	CHECK((a->flags & 3) == (b->flags & 3) && (!*a->name || !strcmp(a->name, b->name)));
	CHECK(!memcmp(a->row, b->row, (a->n + 1) * 8));
	CHECK(!a->m || !memcmp(a->col, b->col, a->m * a->edge_bytes));
	CHECK(!a->weight == !b->weight && !a->ids == !b->ids);
	CHECK(!a->weight || !memcmp(a->weight, b->weight, a->m * gtu_weight_bytes(a->weight_type)));
	CHECK(!a->ids || !memcmp(a->ids, b->ids, a->n * 8));
}

static inline void damage(const char *path, uint64_t offset, uint64_t value, size_t bytes)
{
	int fd = open(path, O_RDWR);

	CHECK(pwrite(fd, &value, bytes, (off_t)offset) == (ssize_t)bytes);
	close(fd);
}

#endif
