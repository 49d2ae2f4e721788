// SPDX-License-Identifier: MIT
/*
 * Every unit reads the edge list in place. The backend gives the device a second mapping of the list
 * and the test takes the access rights of the first one away: an algorithm whose code on the CPU
 * touches an edge crashes. The test counts the bytes that the algorithms allocate for the device:
 * none for an edge, except for the output of the SCU's operations (the edge frontier) and for values
 * that an algorithm computes (costs, shares, labels).
 */
#include <sys/mman.h>
#include <unistd.h>

#include "libruntime/device/backend.h"
#include "subjects.h"

#define VERTICES	4096u
#define EDGES		262144u

static struct {
	void *col, *shadow;		/* first and second mapping of the edge list */
	uint64_t added;			/* regions over the list */
	uint64_t now, most;		/* bytes allocated for the device */
} seen;

static int add(struct gtu_device *d, void *addr, uint64_t length, uint32_t rights, uint32_t *key,
	       struct gtu_error *e)
{
	if (addr == seen.col) {
		CHECK_EQ(rights, GTU_READ);
		seen.added++;
		addr = seen.shadow;
	}
	return gtu_backend_model.region_add(d, addr, length, rights, key, e);
}

static int alloc(struct gtu_device *d, uint64_t length, uint32_t rights, bool aperture, void **addr, uint32_t *key,
		 struct gtu_error *e)
{
	seen.now += length;
	seen.most = seen.now > seen.most ? seen.now : seen.most;
	return gtu_backend_model.region_alloc(d, length, rights, aperture, addr, key, e);
}

static int release(struct gtu_device *d, void *addr, uint64_t length, uint32_t key, struct gtu_error *e)
{
	seen.now -= length;
	return gtu_backend_model.region_free(d, addr, length, key, e);
}

static void *twice(size_t bytes, void **second)
{
	int fd = memfd_create("edges", 0);
	void *first;

	CHECK(fd >= 0 && !ftruncate(fd, (off_t)bytes));
	first = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	*second = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	CHECK(first != MAP_FAILED && *second != MAP_FAILED);
	return first;
}

static const char *const names[] = { "bfs", "sssp", "pagerank", "components" };

static void run(unsigned which, const struct gtu_graph *g, const struct gtu_algorithm_options *opt, void *out)
{
	if (which == 0)
		RUNS("bfs", opt, gtu_bfs(dev, g, opt, out, NULL, &err));
	else if (which == 1)
		RUNS("sssp", opt, gtu_sssp(dev, g, opt, out, NULL, &err));
	else if (which == 2)
		RUNS("pagerank", opt, gtu_pagerank(dev, g, opt, out, NULL, &err));
	else
		RUNS("components", opt, gtu_components(dev, g, opt, out, NULL, &err));
}

/* The most bytes that algorithm @which has allocated for @unit, with the edge list of @whole out of its reach. */
static uint64_t allocated(unsigned which, uint32_t unit, const struct gtu_graph *whole, uint64_t *want)
{
	static struct gtu_backend_ops ops;
	const size_t bytes = (whole->m * whole->edge_bytes + 4095) & ~4095ul;
	const struct gtu_algorithm_options opt = { .source = busiest(whole), .unit = unit };
	const struct gtu_backend_ops *before = dev->ops;
	uint64_t *got = test_alloc(VERTICES, 8);
	struct gtu_graph g = *whole;

	ops = gtu_backend_model;
	ops.region_add = add;
	ops.region_alloc = alloc;
	ops.region_free = release;
	g.col = seen.col = twice(bytes, &seen.shadow);
	memcpy(seen.col, whole->col, whole->m * whole->edge_bytes);
	seen.added = seen.now = seen.most = 0;
	CHECK(!mprotect(seen.col, bytes, PROT_NONE));
	dev->ops = &ops;
	run(which, &g, &opt, got);
	dev->ops = before;
	CHECK(seen.added);
	munmap(seen.col, bytes);
	munmap(seen.shadow, bytes);
	if (which == 2)
		same_reals((double *)got, (double *)want, VERTICES, 1e-9, run_name(names[which], &opt));
	else
		same_integers(got, want, VERTICES, run_name(names[which], &opt));
	CHECK_EQ(seen.now, 0);
	return seen.most;
}

/*
 * Bytes that an algorithm may allocate for a further edge of a list with 4-byte ids. SCU: the edge
 * frontier, its masks and reorder vectors, and what is replicated. IRU: what the algorithm computes
 * for each edge.
 */
static const double most[LENGTH(names)][UNITS] = {
	/*              none scu-basic scu  iru  peg  weaver */
	/* bfs        */ { 0, 4.3,     4.6, 0.1, 0.1, 0.1 },
	/* sssp       */ { 0, 8.3,    10.3, 8.4, 0.1, 0.1 },
	/* pagerank   */ { 0, 12.1,   12.1, 8.1, 0.1, 0.1 },
	/* components */ { 0, 8.3,    12.3, 4.1, 0.1, 0.1 },
};

TEST(no_algorithm_copies_the_edges_that_a_unit_reads)
{
	open_device();
	for (unsigned wide = 0; wide < 2; wide++) {
		const struct gtu_graph *g[2];

		for (unsigned i = 0; i < 2; i++) {
			uint64_t seed = 5;
			struct edges e = skewed(VERTICES, EDGES << i, &seed);

			g[i] = from_edges(e.n, e.m, e.src, e.dst, GTU_UNDIRECTED, wide ? 8 : 4);
		}
		for (unsigned which = 0; which < LENGTH(names); which++) {
			uint64_t *want[2];

			for (unsigned i = 0; i < 2; i++) {
				const struct gtu_algorithm_options plain = { .source = busiest(g[i]) };

				want[i] = test_alloc(VERTICES, 8);
				run(which, g[i], &plain, want[i]);
			}
			for (uint32_t unit = GTU_WITH_SCU_BASIC; unit < UNITS; unit++) {
				const uint64_t few = allocated(which, unit, g[0], want[0]);
				const uint64_t many = allocated(which, unit, g[1], want[1]);
				const double an_edge = ((double)many - (double)few) / (double)(g[1]->m - g[0]->m);
				/* the SCU's edge frontier and its labels have the list's width */
				const double limit = most[which][unit] + (unit <= GTU_WITH_SCU ? 8 * wide : 0);

				printf("# %s by %s, ids of %u bytes: %.2f bytes for a further edge\n", names[which],
				       unit_name[unit], wide ? 8 : 4, an_edge);
				CHECKF(an_edge <= limit, "%s by %s, ids of %u bytes: %.2f bytes for a further edge, "
				       "at most %g", names[which], unit_name[unit], wide ? 8 : 4, an_edge, limit);
			}
		}
		test_end(NULL);
	}
}

TEST_MAIN
