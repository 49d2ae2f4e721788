// SPDX-License-Identifier: MIT
/* Runs programs in a child process: transfers them, and ends a child that hangs. */
#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz_ioctl.h"

#define PROGRAM_SECONDS	20u		/* timeout of a program */
#define STACKS		3u		/* programs whose threads' stacks are printed, a worker */
#define STACK_DEPTH	6u
#define PROGRAMS	64u		/* maximum programs per process */

/*
 * Memory shared by a worker and the child that runs its programs. They write to no other common
 * page: the first touch of a page costs more than most calls. @go and @done count programs.
 */
static struct lane {
	uint32_t go, done, may_reset;
	struct fuzz_program program;
} *lane;
static volatile sig_atomic_t died;
static pid_t child;
static unsigned ran, killed;
static const char *const *devices;

static long futex(uint32_t *word, int op, uint32_t value, const struct timespec *limit)
{
	return syscall(SYS_futex, word, op, value, limit, NULL, 0);
}

/* SIGCHLD: mark the program as done, so that the worker stops waiting for the child. */
static void child_ended(int signal)
{
	(void)signal;
	died = 1;
	__atomic_store_n(&lane->done, lane->go, __ATOMIC_RELEASE);
}

/* The child's main loop. Its own process group allows killing it with all its descendants. */
static void run_programs(void)
{
	uint32_t at = __atomic_load_n(&lane->done, __ATOMIC_ACQUIRE);
	struct fuzz_program p;

	setpgid(0, 0);
	signal(SIGCHLD, SIG_DFL);
	fuzz_cover_on();
	fuzz_prepare(devices);
	for (;;) {
		while (__atomic_load_n(&lane->go, __ATOMIC_ACQUIRE) == at)
			futex(&lane->go, FUTEX_WAIT, at, NULL);
		at = lane->go;
		p = lane->program;
		if (!fuzz_execute(&p, lane->may_reset))
			_exit(0);
		__atomic_store_n(&lane->done, at, __ATOMIC_RELEASE);
		futex(&lane->done, FUTEX_WAKE, 1, NULL);
	}
}

/* Print where the kernel has the threads of the child, of the first programs that do not end. */
static void print_stacks(void)
{
	char name[64], line[128];
	struct dirent *entry;
	unsigned depth;
	DIR *tasks;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/task", child);
	tasks = killed < STACKS ? opendir(name) : NULL;
	while (tasks && (entry = readdir(tasks))) {
		snprintf(name, sizeof(name), "/proc/%d/task/%.20s/stack", child, entry->d_name);
		f = fopen(name, "r");
		for (depth = 0; f && depth < STACK_DEPTH && fgets(line, sizeof(line), f); depth++)
			dprintf(STDOUT_FILENO, "# a program does not end, thread %s: %s", entry->d_name, line);
		if (f)
			fclose(f);
	}
	if (tasks)
		closedir(tasks);
}

/* End the child, if any, and its descendants. False: it does not end. */
bool fuzz_lane_end(void)
{
	unsigned ms;
	const pid_t pid = child;

	child = 0;
	if (!pid)
		return true;
	kill(-pid, SIGKILL);
	for (ms = 0; waitpid(pid, NULL, WNOHANG) != pid; ms++) {
		if (ms > 1000 * PROGRAM_SECONDS)
			return false;
		usleep(1000);
	}
	kill(-pid, SIGKILL);
	return true;
}

/* Run @p in a process that has run few others. False: it does not end, even by SIGKILL. */
bool fuzz_run(const struct fuzz_program *p, bool may_reset)
{
	const struct timespec limit = { PROGRAM_SECONDS, 0 };
	uint32_t done;

	if (ran++ % PROGRAMS == 0 && !fuzz_lane_end())
		return false;
	if (!child) {
		died = 0;
		child = fork();
		if (!child)
			run_programs();
		if (child < 0) {
			perror("fuzz_ioctl: fork");
			return false;
		}
		setpgid(child, child);
	}
	lane->program = *p;
	lane->may_reset = may_reset;
	fuzz_cover_begin();
	__atomic_store_n(&lane->go, lane->go + 1, __ATOMIC_RELEASE);
	futex(&lane->go, FUTEX_WAKE, 1, NULL);
	/* if the child has died, set `done` again: `go` has changed since */
	if (died)
		child_ended(0);
	while ((done = __atomic_load_n(&lane->done, __ATOMIC_ACQUIRE)) != lane->go) {
		if (!futex(&lane->done, FUTEX_WAIT, done, &limit) || errno != ETIMEDOUT)
			continue;
		print_stacks();
		killed++;
		if (!fuzz_lane_end())
			return false;
	}
	return !died || fuzz_lane_end();
}

unsigned fuzz_lane_killed(void)
{
	return killed;
}

bool fuzz_lane_open(const char *const device[2])
{
	devices = device;
	lane = mmap(NULL, sizeof(*lane), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = child_ended }, NULL);
	return lane != MAP_FAILED;
}
