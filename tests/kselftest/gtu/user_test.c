// SPDX-License-Identifier: MIT
/*
 * Tests what users without privileges may do to each other: registers that all share, and each user's
 * part of contexts, queues, aperture, driver buffers and calls. Needs root, to become such a user.
 */
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "gtu_util.h"

#define RW		(GTU_RIGHT_READ | GTU_RIGHT_WRITE)
#define PARAMETER(name)	"/sys/module/gtu/parameters/" name
#define USER		4321

FIXTURE(user)
{
	mode_t mode;
};

FIXTURE_SETUP(user)
{
	struct stat st;

	if (geteuid())
		SKIP(return, "needs root");
	if (stat(device_path(), &st))
		SKIP(return, "no %s: modprobe gtu, or set GTU_DEVICE", device_path());
	self->mode = st.st_mode;
	ASSERT_EQ(0, chmod(device_path(), 0666));
}

FIXTURE_TEARDOWN(user)
{
	if (self->mode)
		chmod(device_path(), self->mode & 07777);
}

/* Start @fn in a child with the rights of user @uid. */
static pid_t start_as_user(uid_t uid, int (*fn)(int argument), int argument)
{
	pid_t pid = fork();

	if (!pid) {
		if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
			_exit(255);
		_exit(fn(argument));
	}
	return pid;
}

/* Run @fn in a child with the rights of user @uid. Return its result, 0 to 255. */
static int as_user(uid_t uid, int (*fn)(int argument), int argument)
{
	int status;
	pid_t pid = start_as_user(uid, fn, argument);

	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 255;
	return WEXITSTATUS(status);
}

/*
 * ---- Registers ----------------------------------------------------------------------------------
 */

static int reg(int fd, unsigned long cmd, uint32_t offset, uint64_t value)
{
	struct gtu_ioctl_reg r = { .size = sizeof(r), .offset = offset, .value = value };

	return call(fd, cmd, &r);
}

/* Return a bit for each access that is permitted. */
static int permitted_accesses(int unused)
{
	const struct {
		unsigned long cmd;
		uint32_t offset, value;
	} access[] = {
		{ GTU_IOCTL_REG_READ, GTU_REG_CAPS },
		{ GTU_IOCTL_REG_READ, GTU_PAGE_ZCM + GTU_UREG_SET(0) },
		{ GTU_IOCTL_REG_READ, GTU_PAGE_ZCM + GTU_UREG_COUNTER(0) },
		{ GTU_IOCTL_REG_WRITE, GTU_PAGE_ZCM + GTU_UREG_CTRL, GTU_CTRL_SNAPSHOT },
		{ GTU_IOCTL_REG_WRITE, GTU_PAGE_ZCM + GTU_UREG_CTRL, GTU_CTRL_CLEAR },
		{ GTU_IOCTL_REG_WRITE, GTU_PAGE_ZCM + GTU_UREG_SET(0), 1 },
		{ GTU_IOCTL_REG_READ, GTU_PAGE_PEG + GTU_PEG_REG(0) + GTU_PEG_R_EFS },
		{ GTU_IOCTL_REG_READ, GTU_REG_CYCLES },
	};
	int fd = open(device_path(), O_RDWR), bits = 0, ret;
	unsigned int i;

	(void)unused;
	for (i = 0; i < sizeof(access) / sizeof(access[0]); i++) {
		ret = reg(fd, access[i].cmd, access[i].offset, access[i].value);
		if (ret && ret != EPERM)
			return 254;
		bits |= !ret << i;
	}
	/* an invalid offset is reported before the missing privilege */
	if (reg(fd, GTU_IOCTL_REG_WRITE, GTU_REG_CAPS, 1) != EINVAL)
		return 253;
	return bits;
}

/* Return 1 if reading a unit's status, which shows whether it is busy, is permitted. */
static int permitted_status(int unused)
{
	int fd = open(device_path(), O_RDWR), ret = reg(fd, GTU_IOCTL_REG_READ, GTU_PAGE_PEG + GTU_UREG_STATUS, 0);

	(void)unused;
	return ret && ret != EPERM ? 254 : !ret;
}

TEST_F(user, users_can_read_only_identity_and_settings)
{
	int fd = open(device_path(), O_RDWR);

	if (reg(fd, GTU_IOCTL_REG_READ, GTU_PAGE_ZCM + GTU_UREG_ID, 0) ||
	    reg(fd, GTU_IOCTL_REG_READ, GTU_PAGE_PEG + GTU_UREG_ID, 0))
		SKIP(return, "the device lacks ZCM or PEG");
	/* without privileges: identity and settings, to read */
	EXPECT_EQ(0x03, as_user(USER, permitted_accesses, 0));
	EXPECT_EQ(0, as_user(USER, permitted_status, 0));
	ASSERT_EQ(0, write_to(PARAMETER("user_registers"), "1"));
	EXPECT_EQ(0xff, as_user(USER, permitted_accesses, 0));
	EXPECT_EQ(1, as_user(USER, permitted_status, 0));
	ASSERT_EQ(0, write_to(PARAMETER("user_registers"), "0"));
	EXPECT_EQ(0xff, permitted_accesses(0));
	EXPECT_EQ(0, reg(fd, GTU_IOCTL_REG_WRITE, GTU_PAGE_ZCM + GTU_UREG_SET(0), 0));
	close(fd);
}

static void *shared_page(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

/*
 * ---- Resources ----------------------------------------------------------------------------------
 */

/* Open the device until that fails. Return the number of files, or 255 for another error. */
static int open_all(int max)
{
	int n;

	for (n = 0; n < max; n++)
		if (open(device_path(), O_RDWR) < 0)
			return errno == EDQUOT ? n : 255;
	return n;
}

static uint64_t *group;		/* shared with child processes */

static int read_group(int n)
{
	group[n] = fdinfo(open(device_path(), O_RDWR), "gtu-group");
	/* all files of a user are of one group; the first two users have a single one */
	return n > 1 && fdinfo(open(device_path(), O_RDWR), "gtu-group") != group[n];
}

/* The device's charge for a unit stays with the group. */
TEST_F(user, a_user_gets_the_group_that_he_had)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	int fd = open(device_path(), O_RDWR), n;

	ASSERT_EQ(0, call(fd, GTU_IOCTL_INFO, &info));
	if (info.max_contexts < 8)
		SKIP(return, "the device has %u contexts", info.max_contexts);
	group = shared_page();
	for (n = 0; n < 4; n++)
		ASSERT_EQ(0, as_user(USER + n % 2, read_group, n));
	EXPECT_NE(group[0], group[1]);
	EXPECT_EQ(group[0], group[2]);
	EXPECT_EQ(group[1], group[3]);
	EXPECT_NE(group[0], fdinfo(fd, "gtu-group"));
	EXPECT_NE(group[1], fdinfo(fd, "gtu-group"));
	close(fd);
}

TEST_F(user, each_user_has_a_limit_of_contexts)
{
	ASSERT_EQ(0, write_to(PARAMETER("user_contexts"), "5"));
	EXPECT_EQ(5, as_user(USER, open_all, 20));
	/* another user has a part of his own, and files that were closed do not count */
	EXPECT_EQ(5, as_user(USER + 1, open_all, 20));
	EXPECT_EQ(5, as_user(USER, open_all, 20));
	/* CAP_SYS_RESOURCE */
	EXPECT_EQ(20, as_user(0, open_all, 20));
	ASSERT_EQ(0, write_to(PARAMETER("user_contexts"), "0"));
	EXPECT_EQ(20, as_user(USER, open_all, 20));
}

TEST_F(user, the_default_limit_leaves_contexts_to_others)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	int fd = open(device_path(), O_RDWR);

	ASSERT_EQ(0, call(fd, GTU_IOCTL_INFO, &info));
	EXPECT_EQ(info.max_contexts / 4, as_user(USER, open_all, (int)info.max_contexts));
	close(fd);
}

/* Create queues in contexts of their own until that fails. Return their number, or 255 for another error. */
static int create_queues(int max)
{
	struct gtu_ioctl_queue_create q;
	int fd = -1, n, ret;

	for (n = 0; n < max; n++) {
		if (n % 16 == 0)
			fd = open(device_path(), O_RDWR);
		q = (struct gtu_ioctl_queue_create){ .size = sizeof(q), .sq_log2 = 1, .cq_log2 = 1 };
		ret = call(fd, GTU_IOCTL_QUEUE_CREATE, &q);
		if (ret)
			return ret == EDQUOT ? n : 255;
		if (n == 0) {
			/* a queue that was destroyed does not count */
			struct gtu_ioctl_queue d = { .size = sizeof(d), .id = q.id };

			if (call(fd, GTU_IOCTL_QUEUE_DESTROY, &d) || call(fd, GTU_IOCTL_QUEUE_CREATE, &q))
				return 255;
		}
	}
	return n;
}

TEST_F(user, each_user_has_a_limit_of_queues)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	int fd = open(device_path(), O_RDWR);

	ASSERT_EQ(0, call(fd, GTU_IOCTL_INFO, &info));
	close(fd);
	if (info.max_queues < 40)
		SKIP(return, "the device has fewer than 40 queues");
	ASSERT_EQ(0, write_to(PARAMETER("user_queues"), "20"));
	EXPECT_EQ(20, as_user(USER, create_queues, 40));
	/* another user has a part of his own, and queues of files that were closed do not count */
	EXPECT_EQ(20, as_user(USER + 1, create_queues, 40));
	EXPECT_EQ(20, as_user(USER, create_queues, 40));
	/* CAP_SYS_RESOURCE */
	EXPECT_EQ(40, as_user(0, create_queues, 40));
	ASSERT_EQ(0, write_to(PARAMETER("user_queues"), "0"));
	/* the default leaves queues to others; as_user() returns 8 bits */
	if (info.max_queues / 4 < 250)
		EXPECT_EQ(info.max_queues / 4, as_user(USER, create_queues, (int)info.max_queues));
}

/* Allocate pieces of @kib KiB from two contexts. Return how many there were until EDQUOT. */
static int allocate(int kib, uint32_t flags)
{
	int fd[2] = { open(device_path(), O_RDWR), open(device_path(), O_RDWR) }, n, ret;

	for (n = 0; n < 200; n++) {
		struct gtu_ioctl_buffer_alloc a = { .size = sizeof(a), .rights = RW, .flags = flags,
						    .length = (uint64_t)kib << 10 };

		ret = call(fd[n & 1], GTU_IOCTL_BUFFER_ALLOC, &a);
		if (ret)
			return ret == EDQUOT ? n : 255;
	}
	return n;
}

static int allocate_buffers(int kib)
{
	return allocate(kib, 0);
}

static int allocate_aperture(int kib)
{
	return allocate(kib, GTU_BUFFER_APERTURE);
}

TEST_F(user, each_user_has_a_limit_of_buffer_memory)
{
	ASSERT_EQ(0, write_to(PARAMETER("user_buffer_mib"), "10"));
	EXPECT_EQ(5, as_user(USER, allocate_buffers, 2048));
	EXPECT_EQ(10, as_user(USER + 1, allocate_buffers, 1024));
	EXPECT_EQ(5, as_user(USER, allocate_buffers, 2048));
	ASSERT_EQ(0, write_to(PARAMETER("user_buffer_mib"), "0"));
}

TEST_F(user, each_user_has_a_limit_of_aperture)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	int fd = open(device_path(), O_RDWR);
	uint64_t part;
	char text[16];

	ASSERT_EQ(0, call(fd, GTU_IOCTL_INFO, &info));
	if (info.aperture_bytes < 8 << 20)
		SKIP(return, "the aperture is smaller than 8 MiB");
	/* a small part, because the processor clears it over an emulated bus */
	part = info.aperture_bytes * 5 / 100 / 65536;
	ASSERT_LT(0, read_from(PARAMETER("user_aperture"), text, sizeof(text)));
	EXPECT_EQ(0, strcmp(text, "50\n"));
	ASSERT_EQ(0, write_to(PARAMETER("user_aperture"), "5"));
	EXPECT_EQ(part, as_user(USER, allocate_aperture, 64));
	EXPECT_EQ(part, as_user(USER + 1, allocate_aperture, 64));
	ASSERT_EQ(0, write_to(PARAMETER("user_aperture"), text));
	close(fd);
}

/*
 * ---- Time of the device -------------------------------------------------------------------------
 */

#define MANY		16
#define JOB_BYTES	(256u << 10)

/* How many jobs of the user with many contexts have completed; shared with child processes. */
static uint64_t *jobs;

/* A context that always has jobs. */
static int busy_open(struct queue *q, uint32_t *key)
{
	int fd = open(device_path(), O_RDWR);

	return region_add(fd, pages(JOB_BYTES), JOB_BYTES, RW, key) ?: queue_create(fd, 8, 8, q);
}

/* Count the completions, and submit as many jobs. */
static void busy_refill(struct queue *q, uint32_t key, uint64_t *done)
{
	for (; q->consumed != q->submitted && completed(q, q->consumed); q->consumed++) {
		if (q->cq[q->consumed % 256].status != GTU_CPL_OK)
			abort();
		__atomic_fetch_add(done, 1, __ATOMIC_RELAXED);
	}
	submit_long(q, key, JOB_BYTES / 2);
}

static int work_in_many(int n)
{
	struct queue q[MANY];
	uint32_t key[MANY];
	int i;

	for (i = 0; i < n; i++)
		if (busy_open(&q[i], &key[i]))
			return 1;
	for (;; usleep(1000))
		for (i = 0; i < n; i++)
			busy_refill(&q[i], key[i], jobs);
}

TEST_F_TIMEOUT(user, jobs_of_many_contexts_leave_another_user_his_part, 120)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	uint64_t mine = 0, theirs, end;
	struct queue q;
	uint32_t key;
	pid_t pid;

	ASSERT_EQ(0, busy_open(&q, &key));
	ASSERT_EQ(0, call(q.fd, GTU_IOCTL_INFO, &info));
	if (info.max_contexts < 4 * MANY)
		SKIP(return, "the device has %u contexts", info.max_contexts);
	if (!(info.caps & GTU_CAP_CTX_GROUPS))
		SKIP(return, "the device has no GTU_CAP_CTX_GROUPS");
	jobs = shared_page();
	pid = start_as_user(USER, work_in_many, MANY);
	ASSERT_LT(0, pid);
	while (__atomic_load_n(jobs, __ATOMIC_RELAXED) < 2 * MANY)
		usleep(1000);
	busy_refill(&q, key, &mine);
	mine = 0;
	theirs = __atomic_load_n(jobs, __ATOMIC_RELAXED);
	for (end = now_ns() + 3 * SECOND; now_ns() < end; usleep(500))
		busy_refill(&q, key, &mine);
	theirs = __atomic_load_n(jobs, __ATOMIC_RELAXED) - theirs;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	TH_LOG("beside a user who works in %d contexts, another has %.0f%% of the jobs", MANY,
	       100.0 * mine / (mine + theirs));
	/* a half; if contexts shared the device instead of users, 1 of 17 */
	EXPECT_LE(theirs, 2 * mine);
	close(q.fd);
}

/*
 * ---- Calls --------------------------------------------------------------------------------------
 */

#define CALLERS	16

/* How many calls each context of a user has made; shared with child processes. */
static uint64_t *calls;

static int call_device(struct queue *q, uint64_t *count)
{
	int ret = queue_call(q, GTU_IOCTL_QUEUE_RESET);

	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	return ret;
}

static void *caller(void *count)
{
	struct queue q;

	if (queue_create(open(device_path(), O_RDWR), 1, 1, &q))
		abort();
	while (!call_device(&q, count))
		;
	abort();
}

static int call_from_many(int n)
{
	pthread_t thread;

	while (n--)
		if (pthread_create(&thread, NULL, caller, &calls[n]))
			return 1;
	pause();
	return 0;
}

static uint64_t calls_of_all(void)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < CALLERS; i++)
		sum += __atomic_load_n(&calls[i], __ATOMIC_RELAXED);
	return sum;
}

TEST_F_TIMEOUT(user, calls_of_many_contexts_leave_another_user_his_part, 60)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	int fd = open(device_path(), O_RDWR), n;
	uint64_t mine = 0, theirs, end;
	struct queue q;
	pid_t pid;

	ASSERT_EQ(0, call(fd, GTU_IOCTL_INFO, &info));
	if (info.max_contexts < 4 * CALLERS)
		SKIP(return, "the device has %u contexts", info.max_contexts);
	ASSERT_EQ(0, queue_create(fd, 1, 1, &q));
	calls = shared_page();
	pid = start_as_user(USER, call_from_many, CALLERS);
	ASSERT_LT(0, pid);
	for (n = 0; n < CALLERS; n++)
		while (!__atomic_load_n(&calls[n], __ATOMIC_RELAXED))
			usleep(1000);
	theirs = calls_of_all();
	end = now_ns() + 2 * SECOND;
	while (now_ns() < end)
		ASSERT_EQ(0, call_device(&q, &mine));
	theirs = calls_of_all() - theirs;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	TH_LOG("beside a user who calls from %d contexts, another made %.0f%% of the calls", CALLERS,
	       100.0 * mine / (mine + theirs));
	/*
	 * A half, less the time that processors with other work take to wake this caller: 24% on a debug
	 * kernel beside a load of 7. If contexts took turns instead of users, 1 of 17.
	 */
	EXPECT_LE(theirs, 5 * mine);
	close(fd);
}

TEST_HARNESS_MAIN
