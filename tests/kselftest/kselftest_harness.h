/* SPDX-License-Identifier: MIT */
/*
 * The part of the kernel's kselftest_harness.h that the tests here use, under the same names and
 * with the same output (KTAP), for machines without kernel sources. In a kernel tree the test's
 * #include "kselftest_harness.h" finds the real one.
 *
 * Each test runs in a process of its own with a time limit, which KSELFTEST_SLOW=N makes N times as long.
 * EXPECT_* notes a failure and goes on,
 * ASSERT_* ends the test; a statement or block behind either runs on failure.
 * A test that neither reaches an EXPECT_* or ASSERT_* of its own nor skips fails. A program whose tests all skip ends
 * with KSFT_SKIP.
 */
#ifndef KSELFTEST_HARNESS_H
#define KSELFTEST_HARNESS_H

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST_TIMEOUT_DEFAULT 30

#ifndef KSFT_SKIP
#define KSFT_PASS 0
#define KSFT_FAIL 1
#define KSFT_SKIP 4
#endif

struct __test_metadata;
struct __fixture_metadata;

struct __fixture_variant_metadata {
	const char *name;
	const void *data;
	struct __fixture_variant_metadata *next;
};

struct __fixture_metadata {
	const char *name;
	struct __fixture_variant_metadata *variant, **last;
};

/* Shared by a test's process and its parent. */
struct __test_results {
	bool skip;
	unsigned int checks;		/* EXPECT_* and ASSERT_* behind the setup */
	char reason[512];
};

struct __test_metadata {
	const char *name;
	struct __fixture_metadata *fixture;
	void (*fn)(struct __test_metadata *, const void *variant);
	int timeout;
	struct __test_metadata *next;
	bool failed, trigger, fatal;
	struct __test_results *results;
	jmp_buf env;
};

static struct __test_metadata *__test_first, **__test_last = &__test_first;

static inline void __register_test(struct __test_metadata *t)
{
	*__test_last = t;
	__test_last = &t->next;
}

static inline void __register_variant(struct __fixture_metadata *f,
				      struct __fixture_variant_metadata *v)
{
	if (!f->last)
		f->last = &f->variant;
	*f->last = v;
	f->last = &v->next;
}

#define TH_LOG(fmt, ...)                                                                           \
	fprintf(stdout, "# %s:%d:%s:" fmt "\n", __FILE__, __LINE__, _metadata->name, ##__VA_ARGS__)

#define SKIP(statement, fmt, ...)                                                                  \
	do {                                                                                       \
		snprintf(_metadata->results->reason, sizeof(_metadata->results->reason), fmt,      \
			 ##__VA_ARGS__);                                                            \
		_metadata->results->skip = true;                                                   \
		statement;                                                                         \
	} while (0)

#define FIXTURE_DATA(fixture_name) struct _test_data_##fixture_name
#define FIXTURE(fixture_name)                                                                      \
	FIXTURE_VARIANT(fixture_name);                                                             \
	static struct __fixture_metadata __attribute__((unused))                                   \
		_##fixture_name##_fixture_object = { .name = #fixture_name };                      \
	FIXTURE_DATA(fixture_name)

#define FIXTURE_SETUP(fixture_name)                                                                \
	static inline void fixture_name##_setup(                                                   \
		struct __test_metadata __attribute__((unused)) *_metadata,                         \
		FIXTURE_DATA(fixture_name) __attribute__((unused)) *self,                          \
		const FIXTURE_VARIANT(fixture_name) __attribute__((unused)) *variant)

#define FIXTURE_TEARDOWN(fixture_name)                                                             \
	static inline void fixture_name##_teardown(                                                \
		struct __test_metadata __attribute__((unused)) *_metadata,                         \
		FIXTURE_DATA(fixture_name) __attribute__((unused)) *self,                          \
		const FIXTURE_VARIANT(fixture_name) __attribute__((unused)) *variant)

#define FIXTURE_VARIANT(fixture_name) struct _fixture_variant_##fixture_name

#define FIXTURE_VARIANT_ADD(fixture_name, variant_name)                                            \
	static const FIXTURE_VARIANT(fixture_name) _##fixture_name##_##variant_name##_variant;     \
	static struct __fixture_variant_metadata _##fixture_name##_##variant_name##_object = {     \
		.name = #variant_name, .data = &_##fixture_name##_##variant_name##_variant,        \
	};                                                                                         \
	static void __attribute__((constructor)) _register_##fixture_name##_##variant_name(void)   \
	{                                                                                          \
		__register_variant(&_##fixture_name##_fixture_object,                              \
				   &_##fixture_name##_##variant_name##_object);                    \
	}                                                                                          \
	static const FIXTURE_VARIANT(fixture_name) _##fixture_name##_##variant_name##_variant =

#define TEST_F(fixture_name, test_name)                                                            \
	TEST_F_TIMEOUT(fixture_name, test_name, TEST_TIMEOUT_DEFAULT)

#define TEST_F_TIMEOUT(fixture_name, test_name, limit)                                             \
	static void fixture_name##_##test_name(struct __test_metadata *_metadata,                  \
					       FIXTURE_DATA(fixture_name) *self,                   \
					       const FIXTURE_VARIANT(fixture_name) *variant);      \
	static void wrapper_##fixture_name##_##test_name(struct __test_metadata *_metadata,        \
							 const void *variant)                      \
	{                                                                                          \
		static FIXTURE_DATA(fixture_name) self;                                            \
                                                                                                   \
		if (!setjmp(_metadata->env)) {                                                     \
			fixture_name##_setup(_metadata, &self, variant);                           \
			_metadata->results->checks = 0;                                            \
			if (!_metadata->failed && !_metadata->results->skip)                       \
				fixture_name##_##test_name(_metadata, &self, variant);             \
		}                                                                                  \
		_metadata->failed |= __no_check(_metadata);                                        \
		if (!setjmp(_metadata->env))                                                       \
			fixture_name##_teardown(_metadata, &self, variant);                        \
	}                                                                                          \
	static struct __test_metadata _##fixture_name##_##test_name##_object = {                   \
		.name = #test_name, .fixture = &_##fixture_name##_fixture_object,                  \
		.fn = wrapper_##fixture_name##_##test_name, .timeout = limit,                      \
	};                                                                                         \
	static void __attribute__((constructor)) _register_##fixture_name##_##test_name(void)      \
	{                                                                                          \
		__register_test(&_##fixture_name##_##test_name##_object);                          \
	}                                                                                          \
	static void fixture_name##_##test_name(                                                    \
		struct __test_metadata __attribute__((unused)) *_metadata,                         \
		FIXTURE_DATA(fixture_name) __attribute__((unused)) *self,                          \
		const FIXTURE_VARIANT(fixture_name) __attribute__((unused)) *variant)

/* A test without a fixture has an empty one. */
FIXTURE(global) { };
FIXTURE_SETUP(global) { }
FIXTURE_TEARDOWN(global) { }
#define TEST(test_name) TEST_F(global, test_name)

/* A test that checked nothing cannot fail: it does. */
static inline bool __no_check(const struct __test_metadata *t)
{
	if (t->failed || t->results->skip || t->results->checks)
		return false;
	printf("# %s: no check was reached\n", t->name);
	return true;
}

/*
 * Behind a check: an optional statement that runs when it failed, then the end of a test that
 * asserts.
 */
static inline bool __bail(struct __test_metadata *t)
{
	if (t->fatal)
		longjmp(t->env, 1);
	return false;
}
#define OPTIONAL_HANDLER(assert_)                                                                  \
	for (_metadata->fatal = (assert_); _metadata->trigger;                                     \
	     _metadata->trigger = __bail(_metadata))

#define __FAIL(fmt, ...)                                                                           \
	do {                                                                                       \
		_metadata->failed = _metadata->trigger = true;                                     \
		TH_LOG(fmt, ##__VA_ARGS__);                                                        \
	} while (0)

#define __EXPECT(expected, expected_str, seen, seen_str, op, assert_)                              \
	do {                                                                                       \
		__typeof__(expected) __exp = (expected);                                           \
		__typeof__(seen) __seen = (seen);                                                  \
		_metadata->results->checks++;                                                      \
		if (!(__exp op __seen))                                                            \
			__FAIL("Expected %s (%lld) " #op " %s (%lld)", expected_str,               \
			       (long long)(intptr_t)__exp, seen_str, (long long)(intptr_t)__seen); \
	} while (0);                                                                               \
	OPTIONAL_HANDLER(assert_)

#define ASSERT_EQ(expected, seen) __EXPECT(expected, #expected, seen, #seen, ==, 1)
#define ASSERT_NE(expected, seen) __EXPECT(expected, #expected, seen, #seen, !=, 1)
#define ASSERT_LT(expected, seen) __EXPECT(expected, #expected, seen, #seen, <, 1)
#define ASSERT_LE(expected, seen) __EXPECT(expected, #expected, seen, #seen, <=, 1)
#define ASSERT_GT(expected, seen) __EXPECT(expected, #expected, seen, #seen, >, 1)
#define ASSERT_GE(expected, seen) __EXPECT(expected, #expected, seen, #seen, >=, 1)
#define ASSERT_TRUE(seen) __EXPECT(0, "0", !!(seen), #seen, !=, 1)
#define ASSERT_FALSE(seen) __EXPECT(0, "0", !!(seen), #seen, ==, 1)
#define EXPECT_EQ(expected, seen) __EXPECT(expected, #expected, seen, #seen, ==, 0)
#define EXPECT_NE(expected, seen) __EXPECT(expected, #expected, seen, #seen, !=, 0)
#define EXPECT_LT(expected, seen) __EXPECT(expected, #expected, seen, #seen, <, 0)
#define EXPECT_LE(expected, seen) __EXPECT(expected, #expected, seen, #seen, <=, 0)
#define EXPECT_GT(expected, seen) __EXPECT(expected, #expected, seen, #seen, >, 0)
#define EXPECT_GE(expected, seen) __EXPECT(expected, #expected, seen, #seen, >=, 0)
#define EXPECT_TRUE(seen) __EXPECT(0, "0", !!(seen), #seen, !=, 0)
#define EXPECT_FALSE(seen) __EXPECT(0, "0", !!(seen), #seen, ==, 0)

static volatile pid_t __test_child;
static void __test_timed_out(int sig)
{
	(void)sig;
	kill(__test_child, SIGKILL);
}

static inline int __run_test(struct __test_metadata *t, struct __fixture_variant_metadata *v,
			     unsigned int number)
{
	const char *sep = v ? "." : "", *vname = v ? v->name : "";
	struct sigaction act = { .sa_handler = __test_timed_out };
	bool passed;
	const char *slow = getenv("KSELFTEST_SLOW");
	int status;

	memset(t->results, 0, sizeof(*t->results));
	printf("#  RUN           %s%s%s.%s ...\n", t->fixture->name, sep, vname, t->name);
	fflush(stdout);
	__test_child = fork();
	if (!__test_child) {
		t->fn(t, v ? v->data : NULL);
		fflush(stdout);
		_exit(t->failed);
	}
	sigaction(SIGALRM, &act, NULL);
	alarm((unsigned int)t->timeout * (slow && atoi(slow) > 0 ? (unsigned int)atoi(slow) : 1));
	while (waitpid(__test_child, &status, 0) < 0)
		;
	alarm(0);
	if (WIFSIGNALED(status))
		printf("# %s: ended by signal %d%s\n", t->name, WTERMSIG(status),
		       WTERMSIG(status) == SIGKILL ? " (time limit?)" : "");
	passed = WIFEXITED(status) && !WEXITSTATUS(status);
	printf("#            %s  %s%s%s.%s\n", passed ? "OK" : "FAIL", t->fixture->name, sep, vname,
	       t->name);
	printf("%sok %u %s%s%s.%s%s%s\n", passed ? "" : "not ", number, t->fixture->name, sep,
	       vname, t->name, passed && t->results->skip ? " # SKIP " : "",
	       passed && t->results->skip ? t->results->reason : "");
	fflush(stdout);
	return !passed ? KSFT_FAIL : t->results->skip ? KSFT_SKIP : KSFT_PASS;
}

/* With arguments: only the tests of these names. */
static inline bool __test_wanted(const struct __test_metadata *t, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], t->name))
			return true;
	return argc < 2;
}

/* Whether each argument names a test. */
static inline bool __names_exist(int argc, char **argv)
{
	struct __test_metadata *t;
	int i;

	for (i = 1; i < argc; i++) {
		for (t = __test_first; t && strcmp(argv[i], t->name); t = t->next)
			;
		if (!t) {
			printf("# there is no test '%s'\n", argv[i]);
			return false;
		}
	}
	return true;
}

static inline int test_harness_run(int argc, char **argv)
{
	struct __fixture_variant_metadata *v;
	struct __test_metadata *t;
	unsigned int count[KSFT_SKIP + 1] = { 0 }, tests = 0;
	struct __test_results *results = mmap(NULL, sizeof(*results), PROT_READ | PROT_WRITE,
					      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (results == MAP_FAILED || !__test_first || !__names_exist(argc, argv))
		return KSFT_FAIL;
	printf("TAP version 13\n");
	for (t = __test_first; t; t = t->next) {
		if (!__test_wanted(t, argc, argv))
			continue;
		t->results = results;
		v = t->fixture->variant;
		do {
			count[__run_test(t, v, ++tests)]++;
			v = v ? v->next : NULL;
		} while (v);
	}
	printf("# Totals: pass:%u fail:%u skip:%u\n", count[KSFT_PASS], count[KSFT_FAIL],
	       count[KSFT_SKIP]);
	/* behind the results, since only they tell whether all of it was skipped */
	printf("1..%u%s\n", tests, count[KSFT_SKIP] == tests ? " # SKIP every test was skipped" : "");
	return count[KSFT_FAIL] ? KSFT_FAIL : count[KSFT_SKIP] == tests ? KSFT_SKIP : KSFT_PASS;
}

#define TEST_HARNESS_MAIN                                                                          \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		return test_harness_run(argc, argv);                                               \
	}

#endif
