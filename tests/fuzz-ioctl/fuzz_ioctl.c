// SPDX-License-Identifier: MIT
/*
 * fuzz_ioctl: sequences of ioctl, mmap, close, fork and dup on /dev/gtuN, each program in a process of its own. Where
 * the kernel has KCOV and the module was built with it, programs that reach new code of the driver are kept and changed
 * further; without it they are made out of the valid ones alone.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcov.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz_ioctl.h"

#define COVER_WORDS	(64u << 10)
#define SEEN_LOG2	20u
#define CORPUS		4096u
#define PROGRAM_SECONDS	20u		/* after which a program has hung */
#define TEXT		(FUZZ_CALLS * 180u)

static struct fuzz_program corpus[CORPUS];
static unsigned kept;
static uint8_t seen[1u << SEEN_LOG2];
static unsigned long *cover;
static int kcov = -1, last = -1;
static const char *device = "/dev/gtu0", *folder;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What the kernel says of itself: it has warned (W), or worse. The module's own marks do not count. */
static unsigned long tainted(void)
{
	char text[32] = "";
	int fd = open("/proc/sys/kernel/tainted", O_RDONLY);

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return strtoul(text, NULL, 10);
}

static bool open_kcov(void)
{
	kcov = open("/sys/kernel/debug/kcov", O_RDWR);
	if (kcov < 0 || ioctl(kcov, KCOV_INIT_TRACE, COVER_WORDS))
		return false;
	cover = mmap(NULL, COVER_WORDS * sizeof(*cover), PROT_READ | PROT_WRITE, MAP_SHARED, kcov, 0);
	if (cover == MAP_FAILED)
		cover = NULL;
	return cover != NULL;
}

/* The program before it runs, where it outlives the machine. */
static void write_last(const struct fuzz_program *p)
{
	char text[TEXT];
	size_t n = fuzz_write(p, text, sizeof(text));

	if (last >= 0 && (pwrite(last, text, n, 0) < 0 || ftruncate(last, (off_t)n)))
		perror("fuzz_ioctl: the program could not be noted");
}

/* Pairs of places one behind the other that nobody has been at before. */
static unsigned new_pairs(void)
{
	unsigned long n = cover ? __atomic_load_n(&cover[0], __ATOMIC_RELAXED) : 0, i, before = 0;
	unsigned found = 0;

	for (i = 1; i <= n && i < COVER_WORDS; i++) {
		uint64_t h = (cover[i] ^ before) * 0x9e3779b97f4a7c15u >> (64 - SEEN_LOG2);

		found += !seen[h];
		seen[h] = 1;
		before = cover[i] << 1;
	}
	return found;
}

/* Run @p in a process of its own. False: it does not end, whatever is done to it. */
static bool run(const struct fuzz_program *p)
{
	double end = now() + PROGRAM_SECONDS;
	pid_t pid;

	write_last(p);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		alarm(5);
		if (cover) {
			__atomic_store_n(&cover[0], 0, __ATOMIC_RELAXED);
			ioctl(kcov, KCOV_ENABLE, KCOV_TRACE_PC);
			close(kcov);
		}
		/* descriptors are among what a program makes up */
		close(last);
		fuzz_execute(p, device);
		_exit(0);
	}
	setpgid(pid, pid);
	while (!waitpid(pid, NULL, WNOHANG)) {
		if (now() > end)
			return false;
		if (now() > end - PROGRAM_SECONDS + 6)
			kill(-pid, SIGKILL);
		usleep(500);
	}
	/* those that it has forked */
	kill(-pid, SIGKILL);
	return true;
}

static void print(const char *why, const struct fuzz_program *p)
{
	char text[TEXT];

	text[fuzz_write(p, text, sizeof(text))] = 0;
	printf("# %s; again: fuzz_ioctl --replay FILE with\n", why);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		printf("#\t%s\n", line);
	fflush(stdout);
}

static void keep(const struct fuzz_program *p, bool save)
{
	char name[512], text[TEXT];
	FILE *f;

	if (kept < CORPUS)
		corpus[kept++] = *p;
	if (!save || !folder)
		return;
	text[fuzz_write(p, text, sizeof(text))] = 0;
	snprintf(name, sizeof(name), "%s/%08x", folder, kept);
	f = fopen(name, "w");
	if (!f || fputs(text, f) < 0)
		perror(name);
	if (f)
		fclose(f);
}

static bool load(const char *name, struct fuzz_program *p)
{
	char text[TEXT + 1];
	FILE *f = fopen(name, "r");
	size_t n;

	if (!f) {
		fprintf(stderr, "fuzz_ioctl: %s: %s\n", name, strerror(errno));
		return false;
	}
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	return fuzz_read(p, text);
}

static void load_folder(void)
{
	DIR *dir = opendir(folder);
	struct fuzz_program p;
	struct dirent *e;
	char name[512];

	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", folder, e->d_name);
		if (load(name, &p))
			keep(&p, false);
	}
	if (dir)
		closedir(dir);
}

/* Nobody has a file open any more: what the module counts of itself must be gone too. */
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
	printf("# nothing is open, and the module is in use %s", text);
	return false;
}

int main(int argc, char **argv)
{
	unsigned long taint = tainted(), runs = 0, gains = 0;
	double seconds = 10, end, said;
	struct fuzz_program p;
	const char *replay = NULL;
	uint64_t seed = 1;
	unsigned i;
	int fd;

	for (i = 1; i + 1 < (unsigned)argc; i += 2) {
		if (!strcmp(argv[i], "--seconds"))
			seconds = atof(argv[i + 1]);
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--corpus"))
			folder = argv[i + 1];
		else if (!strcmp(argv[i], "--last"))
			last = open(argv[i + 1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		else if (!strcmp(argv[i], "--replay"))
			replay = argv[i + 1];
		else if (!strcmp(argv[i], "--device"))
			device = argv[i + 1];
		else
			break;
	}
	if (i < (unsigned)argc) {
		fprintf(stderr, "usage: fuzz_ioctl [--seconds S] [--seed N] [--corpus FOLDER] [--last FILE] [--replay FILE] "
				"[--device FILE]: what is '%s'?\n", argv[i]);
		return 2;
	}
	fd = open(device, O_RDWR);
	if (fd < 0) {
		fprintf(stderr, "fuzz_ioctl: %s: %s\n", device, strerror(errno));
		return 2;
	}
	close(fd);
	signal(SIGPIPE, SIG_IGN);
	if (replay) {
		if (!load(replay, &p))
			return 2;
		for (i = 0; i < 20; i++) {
			if (!run(&p) || tainted() != taint) {
				print("the kernel complains (or hangs) over this", &p);
				return 1;
			}
		}
		printf("# nothing happens, 20 times\n");
		return 0;
	}
	if (!open_kcov())
		printf("# without coverage: the kernel has no KCOV (%s)\n", strerror(errno));
	for (i = 0; i < fuzz_seed_count; i++)
		keep(&fuzz_seeds[i], false);
	if (folder)
		load_folder();
	end = now() + seconds;
	said = now();
	while (now() < end) {
		const struct fuzz_program *other = &corpus[fuzz_random(&seed) % kept];
		unsigned pairs;

		/* what is there already is run once as it is */
		p = runs < kept ? corpus[runs] : corpus[fuzz_random(&seed) % kept];
		if (runs >= kept)
			fuzz_mutate(&p, other, &seed);
		if (!run(&p)) {
			print("a program does not end, nor by SIGKILL", &p);
			return 1;
		}
		pairs = new_pairs();
		if (runs++ >= kept && pairs) {
			gains++;
			keep(&p, true);
		}
		if (tainted() != taint) {
			print("the kernel complains over this, or over what ran just before", &p);
			return 1;
		}
		if (now() > said + 30) {
			said = now();
			printf("# %lu programs, %lu with something new\n", runs, gains);
			fflush(stdout);
		}
	}
	for (i = 0, fd = 0; i < sizeof(seen); i++)
		fd += seen[i];
	printf("# %lu programs in %.0f s, %lu with something new, %d pairs of places reached\n", runs, seconds, gains, fd);
	if (cover && (!gains || fd < 100)) {
		printf("# the driver is not built with KCOV\n");
		return 1;
	}
	return nothing_left() ? 0 : 1;
}
