// SPDX-License-Identifier: MIT
/* Tests of the sandbox: what a confined process can and cannot do, each in a process of its own. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tools/support/sandbox.h"

static char inside[300], outside[300];

static bool refused(long result)
{
	return result < 0 && (errno == EPERM || errno == EACCES);
}

/* Skip the test where the kernel itself says that it lacks Landlock or seccomp. */
static void needs_kernel(void)
{
#if defined(__SANITIZE_ADDRESS__)
	SKIP("a build with sanitizers is not confined");
#elif !defined(__x86_64__) && !defined(__aarch64__) && !defined(__riscv)
	SKIP("the sandbox has no seccomp filter for this processor");
#endif
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1u) < 1)	/* its version */
		SKIP("this kernel lacks Landlock");
	/* a kernel with filters reads the program */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != -1 || errno != EFAULT)
		SKIP("this kernel lacks seccomp filters");
}

static bool enter(int folder)
{
	const char *lacks = sandbox_enter(folder);

	if (lacks)
		printf("# %s\n", lacks);
	return !lacks;
}

/* The number of the first statement that does not hold; 0: all hold. */
static int confined(int folder)
{
	void *page;

	if (!enter(folder))
		return 99;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return 1;
	if (!refused(mprotect(page, 4096, PROT_READ | PROT_EXEC)))
		return 2;
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		return 3;
	if (!refused(open("/etc/passwd", O_RDONLY)) || !refused(open("/dev/null", O_WRONLY)))
		return 4;
	if (!refused(socket(AF_INET, SOCK_STREAM, 0)))
		return 5;
	if (!refused(fork()) || !refused(execl("/bin/true", "true", NULL)))
		return 6;
	if (!refused(kill(getppid(), 0)) || kill(getpid(), 0))
		return 7;
	if (!refused(unlink(outside)))
		return 8;
	if (unlink(inside))
		return 9;
	free(malloc(64 << 20));
	return 0;
}

static void make_file(char *path, const char *folder)
{
	int fd;

	snprintf(path, sizeof(inside), "%.200s/%s", test_tmpdir(), folder);
	mkdir(path, 0700);
	strcat(path, "/file");
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK(fd >= 0);
	close(fd);
}

static int status_of(int (*run)(int), int folder)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child)
		_exit(run(folder));
	CHECK(waitpid(child, &status, 0) == child);
	return status;
}

TEST(a_confined_process_reaches_nothing_but_its_folder)
{
	char folder[300];
	int fd, status;

	needs_kernel();
	make_file(inside, "inside");
	make_file(outside, "outside");
	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(inside, '/') - inside), inside);
	fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	status = status_of(confined, fd);
	close(fd);
	CHECKF(WIFEXITED(status) && !WEXITSTATUS(status), "statement %d, wait status 0x%x", WEXITSTATUS(status), status);
}

#ifdef __x86_64__
static int foreign_call(int folder)
{
	long n = 20;	/* getpid() of 32-bit programs; writev() of this architecture */

	if (!enter(folder))
		return 99;
	__asm__ volatile("int $0x80" : "+a"(n) : : "memory", "r8", "r9", "r10", "r11");
	return 1;
}

TEST(a_call_of_another_architecture_ends_the_process)
{
	int status;

	needs_kernel();
	status = status_of(foreign_call, -1);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)
		SKIP("this kernel does not run 32-bit programs");
	CHECKF(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "wait status 0x%x", status);
}
#endif

TEST_MAIN
