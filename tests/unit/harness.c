// SPDX-License-Identifier: MIT
/* The unit tests' harness: runs the registered tests and reports them in TAP (see test.h). */
#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gtu/splitmix64.h"
#include "test.h"

struct test_case *test_first, **test_last = &test_first;
jmp_buf test_exit;
int test_checked;
char test_skip_reason[256];
static char tmpdir[256], graphs[512];

enum { RAN = 0, FAILED = 1, SKIPPED = 2 };

static struct kept {
	void (*release)(void *);
	void *what;
	struct kept *next;
} *kept;

void test_add(struct test_case *c)
{
	*test_last = c;
	test_last = &c->next;
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	printf("# %s:%d: ", file, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	longjmp(test_exit, FAILED);
}

void test_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(test_skip_reason, sizeof(test_skip_reason), fmt, ap);
	va_end(ap);
	longjmp(test_exit, SKIPPED);
}

const char *test_graphs(void)
{
	const char *shared = getenv("GTU_SHARED");
	struct stat st;

	snprintf(graphs, sizeof(graphs), "%s/graphs", shared ? shared : "../shared");
	if (stat(graphs, &st))
		test_skip("there are no shared graphs at %s; set GTU_SHARED to their parent folder", graphs);
	return graphs;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void remove_tmpdir(void)
{
	nftw(tmpdir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *test_tmpdir(void)
{
	const char *base = getenv("TMPDIR");

	if (!*tmpdir) {
		snprintf(tmpdir, sizeof(tmpdir), "%s/gtu-test-XXXXXX", base ? base : "/tmp");
		if (!mkdtemp(tmpdir)) {
			printf("# cannot create the folder %s: %s\n", tmpdir, strerror(errno));
			exit(1);
		}
		atexit(remove_tmpdir);
	}
	return tmpdir;
}

uint64_t test_random(uint64_t *state)
{
	return gtu_splitmix64_next(state);
}

void test_at_end(void (*release)(void *), void *what)
{
	struct kept *k = malloc(sizeof(*k));

	NEED(k, "no memory");
	*k = (struct kept){ release, what, kept };
	kept = k;
}

void *test_mark(void)
{
	return kept;
}

void test_end(void *mark)
{
	while (kept != mark) {
		struct kept *k = kept;

		kept = k->next;
		k->release(k->what);
		free(k);
	}
}

void *test_alloc(uint64_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	NEED(memory, "no memory for %" PRIu64 " elements of %zu bytes", count, size);
	test_at_end(free, memory);
	return memory;
}

void *test_aligned(size_t bytes)
{
	void *memory = aligned_alloc(64, (bytes + 63) & ~63ull);

	NEED(memory, "no memory for %zu bytes", bytes);
	test_at_end(free, memory);
	return memory;
}

void *test_grow(void *memory, size_t bytes)
{
	struct kept *k = kept;

	if (!memory)
		return test_alloc(bytes, 1);
	while (k->what != memory)
		k = k->next;
	k->what = realloc(memory, bytes);
	NEED(k->what, "no memory for %zu bytes", bytes);
	return k->what;
}

int test_main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : NULL;
	static struct test_case *c;	/* static: preserved across longjmp() */
	static int count, failed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (c = test_first; c; c = c->next)
		count += !only || strstr(c->name, only);
	printf("TAP version 13\n1..%d\n", count);
	count = 0;
	for (c = test_first; c; c = c->next) {
		if (only && !strstr(c->name, only))
			continue;
		count++;
		test_checked = 0;
		switch (setjmp(test_exit)) {
		case RAN:
			c->run();
			if (test_checked) {
				printf("ok %d %s\n", count, c->name);
			} else {
				printf("# %s reached no check\nnot ok %d %s\n", c->name, count, c->name);
				failed++;
			}
			break;
		case SKIPPED:
			printf("ok %d %s # SKIP %s\n", count, c->name, test_skip_reason);
			break;
		default:
			printf("not ok %d %s\n", count, c->name);
			failed++;
			kept = NULL;
		}
		test_end(NULL);
	}
	if (!count)
		printf("# no test is named like '%s'\n", only ? only : "");
	return failed || !count;
}
