// SPDX-License-Identifier: MIT
/*
 * fuzz_ioctl: a coverage-guided fuzzer of /dev/gtuN. Programs are sequences of ioctl, mmap, close,
 * fork and similar calls; several run at a time, each in a process. If the kernel has KCOV and the
 * module is built with it, programs that reach new code of the driver are kept and mutated further.
 * Otherwise only the initial programs are mutated.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz_ioctl.h"
#include "libruntime/support/clock.h"

#define CORPUS		8192u
#define END_SECONDS	45u		/* time for the workers to end after the kernel reported a bug */
#define WORKERS		8u
#define NOTES		64u		/* programs that a worker remembers */
#define RESET_EACH	32u		/* one program in RESET_EACH may reset the device */
#define PATTERNS		64u

/*
 * A program that a worker ran recently. The notes survive the guest if their memory does (--notes).
 */
struct note {
		uint64_t number;		/* of the program, from 1, over all workers; 0: none */
	struct fuzz_program program;
};

static struct shared {
	unsigned kept, gains, runs, killed, next, stop, begin;
	struct fuzz_program corpus[CORPUS];
} *shared;

static struct options {
	double seconds;
	uint64_t seed;
	const char *keep, *notes, *replay, *places, *distil;
	const char *device[2];
	unsigned workers, times;
} opt = { .seconds = 10, .seed = 1, .device = { "/dev/gtu0", "/dev/gtu0" }, .workers = 1, .times = 20 };

static struct note *notes;
static bool covered;

/*
 * ---- Kernel log and taint
 * ------------------------------------------------------------------------
 */

static regex_t pattern[PATTERNS];
static unsigned patterns;
static unsigned long taint;
static int log_fd = -1;

/* The kernel's taint flags: it has warned (W), or worse. */
static unsigned long tainted(void)
{
	static int fd = -1;
	char text[32] = "";

	if (fd < 0)
		fd = open("/proc/sys/kernel/tainted", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && pread(fd, text, sizeof(text) - 1, 0) < 0)
		text[0] = 0;
	return strtoul(text, NULL, 10);
}

/*
 * Read the kernel log from now on; @file has the regular expressions of its error messages, one a
 * line.
 */
static void open_kernel_log(const char *file)
{
	char line[256];
	FILE *f = fopen(file, "r");

	taint = tainted();
	log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (log_fd >= 0)
		lseek(log_fd, 0, SEEK_END);
	if (!f || log_fd < 0) {
		printf("# the kernel log is not checked (%s: %s): only the taint is\n", file, strerror(errno));
		if (f)
			fclose(f);
		return;
	}
	while (patterns < PATTERNS && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		patterns += line[0] && line[0] != '#' && !regcomp(&pattern[patterns], line, REG_EXTENDED | REG_NOSUB);
	}
	fclose(f);
}

/* True if the kernel has reported an error since the last call; waits up to @ms for a message. */
static bool kernel_error(int ms)
{
	struct pollfd p = { .fd = log_fd, .events = POLLIN };
	char line[8192];
	bool found = false;
	ssize_t n;
	unsigned i;

	poll(&p, 1, ms);
	while (log_fd >= 0 && ((n = read(log_fd, line, sizeof(line) - 1)) > 0 || (n < 0 && errno == EPIPE))) {
		line[n > 0 ? n : 0] = 0;
		for (i = 0; i < patterns && !found; i++)
			found = !regexec(&pattern[i], line, 0, NULL, 0);
	}
	return found || tainted() != taint;
}

/*
 * ---- Recent programs
 * ------------------------------------------------------------------------------
 */

/* Print the @last most recent programs, the newest at the end. */
static void print_notes(struct note *all, unsigned count, unsigned last)
{
	uint64_t newest = 0;
	unsigned i;

	for (i = 0; i < count; i++)
		newest = all[i].number > newest ? all[i].number : newest;
	for (; last; last--) {
		for (i = 0; i < count && (!all[i].number || all[i].number + last != newest + 1); i++)
			;
		if (i == count || !fuzz_valid(&all[i].program))
			continue;
		printf("# program %llu\n", (unsigned long long)all[i].number);
		fuzz_write(&all[i].program, stdout);
	}
	fflush(stdout);
}

static bool map_notes(void)
{
	const size_t bytes = sizeof(*notes) * NOTES * WORKERS;
	int fd = opt.notes ? open(opt.notes, O_RDWR | O_CLOEXEC) : -1;
	struct stat st;

	if (opt.notes && (fd < 0 || fstat(fd, &st))) {
		fprintf(stderr, "fuzz_ioctl: %s: %s\n", opt.notes, strerror(errno));
		return false;
	}
	if (opt.notes && (size_t)st.st_size < bytes) {
		fprintf(stderr, "fuzz_ioctl: %s has %lld bytes: the notes need %zu\n", opt.notes, (long long)st.st_size, bytes);
		return false;
	}
	notes = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	close(fd);
	if (notes == MAP_FAILED) {
		fprintf(stderr, "fuzz_ioctl: cannot map %zu bytes of %s: %s\n", bytes, opt.notes, strerror(errno));
		return false;
	}
	return true;
}

/*
 * ---- The corpus ---------------------------------------------------------------------------------
 */

static void keep(const struct fuzz_program *p, bool save)
{
	unsigned at = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED);
	char text[FUZZ_TEXT];
	FILE *f;
	int fd;

	if (at < CORPUS) {
		shared->corpus[at] = *p;
		/*
		 * another worker's earlier entry may not be filled yet: an empty program is
		 * harmless
		 */
		__atomic_store_n(&shared->kept, at + 1, __ATOMIC_RELEASE);
	}
	if (!save || !opt.keep)
		return;
	f = fmemopen(text, sizeof(text), "w");
	fuzz_write(p, f);
	fclose(f);
	/* in one write, so that two workers' programs do not mix */
	fd = open(opt.keep, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		perror(opt.keep);
	close(fd);
}

/* Load all programs of a file; @must: it is an error if the file does not exist. */
static bool load(const char *name, bool must)
{
	FILE *f = fopen(name, "r");
	struct fuzz_program p;
	int got;

	if (!f) {
		if (must)
			fprintf(stderr, "fuzz_ioctl: %s: %s\n", name, strerror(errno));
		return !must;
	}
	while ((got = fuzz_read(&p, f)) > 0)
		keep(&p, false);
	fclose(f);
	return got == 0;
}

/*
 * ---- Workers ------------------------------------------------------------------------------------
 */

enum { WORKER_DONE, WORKER_HANGS = 3 };

static void work(unsigned who)
{
	uint64_t seed = opt.seed * WORKERS + who;
	const double end = gtu_now_s() + opt.seconds;
	struct fuzz_program p;

	fuzz_cover_open();
	if (!fuzz_lane_open(opt.device))
		_exit(WORKER_HANGS);
	while (gtu_now_s() < end && !__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		const unsigned number = __atomic_fetch_add(&shared->runs, 1, __ATOMIC_RELAXED);
		const unsigned kept = __atomic_load_n(&shared->kept, __ATOMIC_ACQUIRE);
		struct note *note = &notes[who * NOTES + number % NOTES];

		/* run each initial program once unchanged */
		p = shared->corpus[number < shared->begin ? number : fuzz_random(&seed) % kept];
		if (number >= shared->begin)
			fuzz_mutate(&p, &shared->corpus[fuzz_random(&seed) % kept], &seed);
		note->program = p;
		__atomic_store_n(&note->number, number + 1, __ATOMIC_RELEASE);
		if (!fuzz_run(&p, number % RESET_EACH == 0))
			_exit(WORKER_HANGS);
		if (fuzz_cover_new() && number >= shared->begin) {
			__atomic_fetch_add(&shared->gains, 1, __ATOMIC_RELAXED);
			keep(&p, true);
		}
	}
	fuzz_lane_end();
	__atomic_fetch_add(&shared->killed, fuzz_lane_killed(), __ATOMIC_RELAXED);
	_exit(WORKER_DONE);
}

static void say(double since)
{
	printf("# %u programs (%.1f a second)", shared->runs, shared->runs / (gtu_now_s() - since));
	if (covered)
		printf(", %u with new coverage, %u address pairs, %u addresses", shared->gains, fuzz_cover_pairs(), fuzz_cover_places());
	putchar('\n');
	fflush(stdout);
}

/* Run all workers until the time is over or the kernel reports an error. */
static bool fuzz(void)
{
	double start = gtu_now_s(), said = start, began = 0;
	unsigned left = 0, i;
	bool bad = false;
	int status;

	shared->begin = shared->kept;
	for (i = 0; i < opt.workers; i++, left++)
		if (!fork())
			work(i);
	while (left) {
		if (!bad && kernel_error(250)) {
			printf("# the kernel reported an error; the most recent programs, the newest at the end (fuzz_ioctl --replay FILE):\n");
			print_notes(notes, NOTES * opt.workers, 2 * opt.workers + 2);
			bad = true;
			began = gtu_now_s();
			__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
		}
		while (waitpid(-1, &status, WNOHANG) > 0) {
			left--;
			if (!status)
				continue;
			printf("# a worker ended with status %#x: its program did not end, not even by SIGKILL\n", (unsigned)status);
			print_notes(notes, NOTES * opt.workers, 2 * opt.workers + 2);
			bad = true;
			began = gtu_now_s();
			__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
		}
		if (bad && gtu_now_s() > began + END_SECONDS)
			return false;
		if (bad)
			usleep(100000);
		if (gtu_now_s() > said + 60) {
			said = gtu_now_s();
			say(start);
		}
	}
	say(start);
	return !bad;
}

/* With all files closed, the module's reference count must return to 0. */
static bool nothing_left(void)
{
	char text[32] = "";
	int i, fd;

	for (i = 0; i < 100; i++) {
		fd = open("/sys/module/gtu/refcnt", O_RDONLY);
		if (fd < 0)
			return true;
		if (read(fd, text, sizeof(text) - 1) < 0)
			text[0] = 0;
		close(fd);
		if (!atoi(text))
			return true;
		usleep(50000);
	}
	printf("# all files are closed, but the module's reference count is %s", text);
	return false;
}

/* Print the TAP result. */
static bool print_result(bool sound)
{
	struct utsname where;

	uname(&where);
	if (sound && covered && fuzz_cover_pairs() < 100) {
		printf("# the driver is not built with KCOV\n");
		sound = false;
	}
	if (sound && covered && opt.places)
		sound = fuzz_cover_write(opt.places, "gtu");
	if (!shared->runs) {
		printf("# no program was run\n");
		sound = false;
	}
	sound = sound && nothing_left();
	printf("# %u programs were still running after 20 s and were ended by SIGKILL\n", shared->killed);
	printf("1..1\n%s 1 - %u programs in %.0f s on Linux %s, %s coverage\n", sound ? "ok" : "not ok", shared->runs, opt.seconds, where.release,
	       covered ? "with" : "without");
	return sound;
}

/*
 * Run the programs of a file in order, @times times; every second time in one process where
 * possible.
 */
static int replay(void)
{
	const double start = gtu_now_s();
	unsigned i, n;

	if (!load(opt.replay, true) || !fuzz_lane_open(opt.device))
		return 2;
	for (n = 0; n < opt.times; n++) {
		for (i = 0; i < shared->kept; i++) {
			/* ending a process is part of a program's effect */
			if (fuzz_run(&shared->corpus[i], n == 0) && (n % 2 || fuzz_lane_end()) && !kernel_error(0))
				continue;
			printf("# the kernel reported an error (or the program did not end) in program %u of %s, repetition %u\n", i + 1, opt.replay,
			       n + 1);
			return 1;
		}
	}
	fuzz_lane_end();
	/* wait for deferred frees */
	if (kernel_error(500)) {
		printf("# the kernel reported an error after the last program of %s\n", opt.replay);
		return 1;
	}
	printf("# no error in %u programs, %u times, in %.1f s\n", shared->kept, opt.times, gtu_now_s() - start);
	return 0;
}

static int by_calls(const void *a, const void *b)
{
	const struct fuzz_program *x = a, *y = b;

	return (int)x->calls - (int)y->calls;
}

/*
 * Write the programs of the corpus that reach code beyond the built-in and smaller ones to a file,
 * from which later runs start.
 */
static int distil(void)
{
	unsigned i, n = 0;
	FILE *f = fopen(opt.distil, "w");

	if (!f || !fuzz_cover_open() || !fuzz_lane_open(opt.device)) {
		fprintf(stderr, "fuzz_ioctl: cannot write %s, or the kernel has no KCOV: %s\n", opt.distil, strerror(errno));
		return 2;
	}
	for (i = 0; i < fuzz_seed_count; i++) {
		fuzz_run(&fuzz_seeds[i], true);
		fuzz_cover_new();
	}
	qsort(shared->corpus, shared->kept, sizeof(*shared->corpus), by_calls);
	fprintf(f, "# SPDX-License-Identifier: MIT\n# Programs that long runs have found (fuzz_ioctl --distil): each reaches something that no smaller one before it does.\n");
	for (i = 0; i < shared->kept; i++) {
		if (!fuzz_run(&shared->corpus[i], true))
			return 1;
		if (!fuzz_cover_new())
			continue;
		fuzz_write(&shared->corpus[i], f);
		n++;
	}
	fuzz_lane_end();
	fclose(f);
	printf("# %u of %u programs are kept: %u address pairs, %u addresses\n", n, shared->kept, fuzz_cover_pairs(), fuzz_cover_places());
	return 0;
}

static int dump_notes(const char *name)
{
	opt.notes = name;
	if (!map_notes())
		return 2;
	print_notes(notes, NOTES * WORKERS, NOTES);
	return 0;
}

static int usage(const char *what)
{
	fprintf(stderr, "usage: fuzz_ioctl [--seconds S] [--seed N] [--workers N] [--corpus FILE]... [--keep FILE] [--notes MEMORY]\n"
			"                  [--places FILE] [--dmesg-check FILE] [--device FILE] [--other FILE]\n"
			"       fuzz_ioctl --replay FILE [--times N]\n"
			"       fuzz_ioctl --distil FILE [--corpus FILE]...\n"
			"       fuzz_ioctl --read-notes MEMORY\n"
			"fuzz_ioctl: unknown option '%s', or its value is missing\n", what);
	return 2;
}

int main(int argc, char **argv)
{
	const char *pattern_file = "/dmesg-check";
	const struct text_option {
		const char *word, **value;
	} texts[] = {
		{ "--keep", &opt.keep }, { "--notes", &opt.notes }, { "--places", &opt.places },
		{ "--dmesg-check", &pattern_file }, { "--distil", &opt.distil }, { "--replay", &opt.replay },
		{ "--other", &opt.device[1] }, { NULL, NULL },
	};
	unsigned i;
	int fd;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || !fuzz_cover_share()) {
		perror("fuzz_ioctl");
		return 2;
	}
	for (i = 1; i + 1 < (unsigned)argc; i += 2) {
		const char *word = argv[i], *value = argv[i + 1];

		const struct text_option *t;

		for (t = texts; t->word && strcmp(t->word, word); t++)
			;
		if (t->word)
			*t->value = value;
		else if (!strcmp(word, "--seconds"))
			opt.seconds = atof(value);
		else if (!strcmp(word, "--seed"))
			opt.seed = strtoull(value, NULL, 0);
		else if (!strcmp(word, "--workers"))
			opt.workers = (unsigned)atoi(value);
		else if (!strcmp(word, "--times"))
			opt.times = (unsigned)atoi(value);
		else if (!strcmp(word, "--read-notes"))
			return dump_notes(value);
		else if (!strcmp(word, "--device"))
			opt.device[0] = opt.device[1] = value;
		else if (strcmp(word, "--corpus"))
			return usage(word);
		else if (!load(value, true))
			return 2;
	}
	if (i < (unsigned)argc)
		return usage(argv[i]);
	if (!opt.workers || opt.workers > WORKERS) {
		fprintf(stderr, "fuzz_ioctl: --workers %u is out of range: 1 to %u\n", opt.workers, WORKERS);
		return 2;
	}
	for (i = 0; i < 2; i++) {
		fd = strncmp(opt.device[i], "/dev/", 5) ? (errno = ENODEV, -1) : open(opt.device[i], O_RDWR);
		if (fd < 0) {
			fprintf(stderr, "fuzz_ioctl: %s: %s\n", opt.device[i], strerror(errno));
			return 2;
		}
		close(fd);
	}
	signal(SIGPIPE, SIG_IGN);
	open_kernel_log(pattern_file);
	if (opt.replay)
		return replay();
	if (opt.distil)
		return distil();
	if (!map_notes() || (opt.keep && !load(opt.keep, false)))
		return 2;
	for (i = 0; i < fuzz_seed_count; i++)
		keep(&fuzz_seeds[i], false);
	if (access("/sys/kernel/debug/kcov", F_OK))
		printf("# without coverage: the kernel has no KCOV\n");
	else
		covered = true;
	printf("# starting with %u programs, %u at a time\n", shared->kept, opt.workers);
	fflush(stdout);
	return print_result(fuzz()) ? 0 : 1;
}
