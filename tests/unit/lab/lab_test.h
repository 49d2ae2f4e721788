/* SPDX-License-Identifier: MIT */
/* Helpers of the laboratory's tests. */
#ifndef LAB_TEST_H
#define LAB_TEST_H

#include <math.h>

#include "firmware-model/lab/engine/warp.h"
#include "tests/unit/test.h"
#include "tools/experiments/lab_expect.h"

static struct gtu_error err;

/* A kernel with one memory statement. */
static const char *const one_statement[] = { "access" };
#define ONE_KERNEL(id)                                                                             \
	static const struct lab_kernel id##_kernel = { .name = #id, .warp = id, .statement = one_statement, .statements = 1 }

/*
 * A setting for tests that create a laboratory for each of a hundred runs: under the sanitizers,
 * mapping the stacks of all SMs takes longer than the runs. Without them, the machine is whole.
 */
#ifdef __SANITIZE_ADDRESS__
#define FEWER_SMS "sm.count=8"
#else
#define FEWER_SMS NULL
#endif

/* @set is one of the machine's keys, or NULL. */
static inline struct lab_machine machine_of(const char *name, const char *set)
{
	struct lab_machine m;

	CHECKF(!lab_machine_open(name, &m, &err) && (!set || !lab_machine_set(&m, set, &err)), "%s", err.text);
	return m;
}

static inline struct lab *lab_of(const char *machine, const char *set)
{
	struct lab_machine m = machine_of(machine, set);
	struct lab *lab;

	CHECKF(!lab_create(&m, &lab, &err), "%s", err.text);
	return lab;
}

static inline struct lab_array array_of(struct lab *lab, const char *name, uint64_t words)
{
	struct lab_array a;

	CHECKF(!lab_alloc(lab, name, 4 * words, LAB_DEVICE, &a, &err), "%s", err.text);
	return a;
}

static inline int launch(struct lab *lab, const struct lab_kernel *k, const void *args, uint64_t grid, uint32_t block)
{
	struct lab_launch l = { .kernel = k, .args = args, .grid = grid, .block = block };

	return lab_run(lab, &l, NULL, &err);
}

static inline struct gtu_graph *generated(struct gtu_generate_options o)
{
	struct gtu_graph *g;

	CHECKF(!gtu_graph_generate(&o, NULL, &g, &err), "%s", err.text);
	return g;
}

/* Whether @got is the reference's result; floats within 1e-5. */
static inline bool same(const struct gtu_graph *g, enum lab_expect_what what, uint64_t source, uint64_t iterations,
			const uint32_t *got)
{
	uint64_t *expected = lab_expect(g, what, source, iterations, &err), v;
	bool equal = true;
	double real;
	float ours;

	CHECKF(expected, "%s", err.text);
	for (v = 0; v < g->n; v++) {
		memcpy(&real, &expected[v], 8);
		memcpy(&ours, &got[v], 4);
		equal &= what == LAB_RANKS || what == LAB_SHARES ? fabs((double)ours - real) <= 1e-5 * real + 1e-9 :
			 got[v] == (uint32_t)expected[v];
	}
	free(expected);
	return equal;
}

#endif
