// SPDX-License-Identifier: MIT
/*
 * Tests that work through the mapped rings needs no system call.
 *
 * A process that only may call write() and exit_group() submits jobs, rings the doorbell and finds
 * the completions.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "gtu_trust.h"

#define JOBS	20000u
#define LOG2	6
#define RING	(1u << LOG2)

FIXTURE(syscalls)
{
	int fd, report[2];
	uint8_t *memory;
	uint32_t key;
};

FIXTURE_SETUP(syscalls)
{
	OPEN_OR_SKIP(self->fd);
	ASSERT_EQ(0, pipe(self->report));
}

NO_TEARDOWN(syscalls);

/* Kill this process on any system call except write() and exit_group(). */
static int forbid_system_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? errno : 0;
}

/*
 * Submit and complete JOBS jobs without a clock or a sleep. Return the number of correct
 * completions.
 */
static uint32_t work(struct queue *q, const struct gtu_hw_desc *d)
{
	uint32_t good = 0, spins = 0;

	while (q->consumed < JOBS && spins < 2000000000u) {
		const uint32_t before = q->submitted;

		while (q->submitted < JOBS && q->submitted - q->consumed < RING)
			put(q, &d[q->submitted % 2]);
		if (q->submitted != before)
			doorbell(q, q->submitted, q->consumed);
		for (spins = 0; spins < 2000000000u && !completed(q, q->consumed); spins++)
			;
		while (q->consumed != q->submitted && completed(q, q->consumed)) {
			const struct gtu_hw_cpl *c = &q->cq[q->consumed % RING];

			good += c->status == GTU_CPL_OK && c->sq_index == q->consumed &&
				c->cookie == 0x1000 + q->consumed;
			q->consumed++;
		}
	}
	return good;
}

/* Run in a child and report the result. @slip: make a forbidden system call. */
static void child(int report, bool slip)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct gtu_hw_desc d[2] = { NO_JOB };
	uint8_t *memory = pages(2 * PAGE);
	uint32_t good, key;
	struct queue q;
	int fd = open(device_path(), O_RDWR | O_CLOEXEC);

	if (fd < 0 || region_add(fd, memory, 2 * PAGE, RW, &key) ||
	    queue_create(fd, LOG2, LOG2, &q))
		_exit(3);
	fill_pattern(memory, PAGE, 5);
	d[1] = copy_job(key, 0, key, PAGE, PAGE / 4, 2);
	if (forbid_system_calls())
		_exit(4);
	good = work(&q, d);
	if (slip)
		call(fd, GTU_IOCTL_INFO, &info);
	if (!is_pattern(memory + PAGE, PAGE, 5))
		good = 0;
	_exit(write(report, &good, sizeof(good)) == sizeof(good) ? 0 : 5);
}

static int end_of_child(int report, bool slip)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		child(report, slip);
	return child_end(pid);
}

TEST_F_TIMEOUT(syscalls, work_through_rings_needs_no_system_call, 60)
{
	const int end = end_of_child(self->report[1], false);
	uint32_t good = 0;

	if (end == 4)
		SKIP(return, "needs a kernel with seccomp filters");
	ASSERT_EQ(0, end);
	ASSERT_EQ((int)sizeof(good), read(self->report[0], &good, sizeof(good)));
	EXPECT_EQ(JOBS, good);
	TH_LOG("%u jobs, no system call", good);
}

TEST_F_TIMEOUT(syscalls, the_filter_detects_a_system_call, 60)
{
	const int end = end_of_child(self->report[1], true);

	if (end == 4)
		SKIP(return, "needs a kernel with seccomp filters");
	EXPECT_EQ(256 + SIGSYS, end);
}

TEST_HARNESS_MAIN
