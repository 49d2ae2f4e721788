// SPDX-License-Identifier: MIT
/* What SAN=1 is for: each kind of error ends a process, and its report names the place. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"

static volatile int one = 1;
static char *volatile memory;

__attribute__((noinline)) static void overflows_a_buffer(void)
{
	memory = malloc(16);
	memory[15 + one] = 1;
}

__attribute__((noinline)) static void overflows_an_integer(void)
{
	volatile int greatest = INT32_MAX;

	greatest = greatest + one;
}

__attribute__((noinline)) static void leaks_memory(void)
{
	/* one address may remain in a register or on the stack */
	for (int i = 0; i < 10; i++)
		memory = malloc(16);
	memory = NULL;
}

/* The report of a process that calls @function, which must not end with 0. */
static const char *report_of(void (*function)(void))
{
	static char text[1 << 16];
	size_t have = 0;
	ssize_t got;
	int ends[2], status;
	pid_t child;

#ifndef __SANITIZE_ADDRESS__
	SKIP("the build has no AddressSanitizer");
#endif
	CHECK(!pipe(ends));
	fflush(stdout);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		function();
		exit(0);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + have, sizeof(text) - 1 - have)) > 0)
		have += got;
	text[have] = 0;
	close(ends[0]);
	CHECK(waitpid(child, &status, 0) == child);
	CHECKF(status, "the process ended with 0, and printed '%s'", text);
	return text;
}

static void reports(void (*function)(void), const char *kind, const char *name)
{
	const char *text = report_of(function);

	CHECKF(strstr(text, kind) && strstr(text, name) && strstr(text, "test_sanitizers.c:"),
	       "the report has no '%s' in '%s': %s", kind, name, text);
}

TEST(a_buffer_overflow_is_reported)
{
	reports(overflows_a_buffer, "heap-buffer-overflow", "overflows_a_buffer");
}

TEST(undefined_behavior_is_reported)
{
#ifdef __aarch64__
	reports(overflows_an_integer, "AddressSanitizer: TRAP", "overflows_an_integer");
#else
	reports(overflows_an_integer, "AddressSanitizer: ILL", "overflows_an_integer");
#endif
}

TEST(a_leak_is_reported)
{
	reports(leaks_memory, "LeakSanitizer: detected memory leaks", "leaks_memory");
}

TEST_MAIN
