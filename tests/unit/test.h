/* SPDX-License-Identifier: MIT */
/*
 * Unit test harness. A test program consists of TEST(name) functions and TEST_MAIN. Each test
 * reports one TAP line; a failing CHECK prints the values and ends only its test. SKIP(format, ...)
 * skips a test with a reason. Argument: a substring, to run only the tests whose names contain it.
 */
#ifndef GTU_TEST_H
#define GTU_TEST_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
	const char *name;
	void (*run)(void);
	struct test_case *next;
};

extern struct test_case *test_first, **test_last;
extern jmp_buf test_exit;
extern char test_skip_reason[256];

void test_add(struct test_case *c);
void test_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));
void test_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
int test_main(int argc, char **argv);

/*
 * Folder of the shared graphs: $GTU_SHARED/graphs, or ../shared/graphs. Skips the test if there is
 * none.
 */
const char *test_graphs(void);
/* A fresh folder under $TMPDIR, removed at exit. */
const char *test_tmpdir(void);
/* splitmix64: a deterministic generator for property tests. */
uint64_t test_random(uint64_t *state);

/*
 * Call release(@what) when the test ends, the last registration first. A failed test releases
 * nothing, because its threads may still use it.
 */
void test_at_end(void (*release)(void *), void *what);
/* @count elements of zeros, freed when the test ends. */
void *test_alloc(uint64_t count, size_t size);
/* The same without zeros, aligned to 64 bytes: memory of a unit's core. */
void *test_aligned(size_t bytes);
/* realloc() for @memory of these functions, or NULL. */
void *test_grow(void *memory, size_t bytes);
/*
 * Release what was registered after test_mark() returned @mark (NULL: everything), in a loop that
 * would hold too much until the test's end.
 */
void test_end(void *mark);
void *test_mark(void);

#define TEST(id)                                                                                   \
	static void test_##id(void);                                                               \
	static struct test_case case_##id = { #id, test_##id, NULL };                              \
	__attribute__((constructor)) static void add_##id(void) { test_add(&case_##id); }          \
	static void test_##id(void)

/* A test that reaches no check fails. Threads may check at the same time. */
extern int test_checked;
#define CHECK(cond)                                                                                \
	do {                                                                                       \
		__atomic_store_n(&test_checked, 1, __ATOMIC_RELAXED);                              \
		if (!(cond))                                                                       \
			test_fail(__FILE__, __LINE__, "%s", #cond);                                \
	} while (0)
#define CHECKF(cond, ...)                                                                          \
	do {                                                                                       \
		__atomic_store_n(&test_checked, 1, __ATOMIC_RELAXED);                              \
		if (!(cond))                                                                       \
			test_fail(__FILE__, __LINE__, __VA_ARGS__);                                \
	} while (0)
#define CHECK_EQ(a, b)                                                                             \
	do {                                                                                       \
		long long a_ = (long long)(a), b_ = (long long)(b);                                \
		__atomic_store_n(&test_checked, 1, __ATOMIC_RELAXED);                              \
		if (a_ != b_)                                                                      \
			test_fail(__FILE__, __LINE__, "%s is %lld, expected %s = %lld", #a, a_, #b, b_); \
	} while (0)
/* Preparation of a test. Not a check: a test that only prepares fails. */
#define NEED(cond, ...)                                                                            \
	do {                                                                                       \
		if (!(cond))                                                                       \
			test_fail(__FILE__, __LINE__, __VA_ARGS__);                                \
	} while (0)
#define SKIP(...) test_skip(__VA_ARGS__)
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define TEST_MAIN                                                                                  \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		return test_main(argc, argv);                                                      \
	}

/*
 * Number of random cases to run, of @n: all, or a fifth with the sanitizers, which find the same
 * errors in fewer cases.
 */
#ifdef __SANITIZE_ADDRESS__
#define TEST_CASES(n) ((n) / 5)
#else
#define TEST_CASES(n) (n)
#endif

#endif
