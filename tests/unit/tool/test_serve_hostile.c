// SPDX-License-Identifier: MIT
/*
 * Tests of gtu serve against hostile peers: none ends the process, holds it beyond his connection,
 * keeps SIGTERM from ending it within seconds, or uses more memory than the stated limits.
 */
#include <netinet/in.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "libruntime/support/clock.h"
#include "vfio_client.h"

#define RANGES_MAX	32768u		/* stated in Documentation/security.md */
#define TMPFS		0x01021994

static struct reply r;

/* The server still accepts a new machine. */
static void check_alive(void)
{
	int sock = connect_server();

	CHECK_EQ(say_version(sock, &r), 0);
	CHECK_EQ(get_region(sock, 0, GTU_REG_MAGIC, 4), GTU_MAGIC);
	close(sock);
}

/* SIGTERM ends the server, which takes half a second unless the host is busy, without the peer's help. */
static void check_ends(void)
{
	double start = gtu_now_s();
	int status;

	kill(server_pid, SIGTERM);
	status = server_status();
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	CHECKF(gtu_now_s() - start < 10, "SIGTERM took %.1f s", gtu_now_s() - start);
	CHECK(access(server_path, F_OK));
}

/* Enable context 0, whose region table is at bus address @table: the device reads it for a queue. */
static void touch_memory(int sock, uint64_t table)
{
	const uint64_t context[] = { 0, table, 4, 1 }, queue[] = { 0, 0, table, table, 4 | 4 << 8, 0 };
	unsigned i, round;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < (round ? 6 : 4); i++)
			if (write_region(sock, 0, GTU_REG_MBOX_ARG(i), 8, round ? queue[i] : context[i]) < 0)
				return;
		if (write_region(sock, 0, GTU_REG_MBOX_CMD, 4, round ? GTU_MBOX_QUEUE_ENABLE : GTU_MBOX_CTX_ENABLE) < 0)
			return;
	}
}

/* Wait until the server has closed the connection. */
static bool is_dropped(int sock)
{
	char buffer[4096];
	ssize_t n;

	do
		n = recv(sock, buffer, sizeof(buffer), 0);
	while (n > 0);
	return !n || errno == ECONNRESET || errno == EPIPE;
}

/* The number of mappings of the server whose lines contain @what. */
static unsigned mappings_of(const char *what)
{
	char line[600];
	unsigned lines = 0;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%d/maps", server_pid);
	f = fopen(line, "r");
	CHECK(f);
	while (fgets(line, sizeof(line), f))
		lines += strstr(line, what) != NULL;
	fclose(f);
	return lines;
}

static unsigned mappings(void)
{
	return mappings_of("\n");
}

/* Send @count requests of @bytes without waiting for replies, which are not asked for. */
struct request {
	struct header head;
	uint32_t argsz, flags;
	uint64_t word[3];
};

static void flood(int sock, struct request q, uint32_t bytes, unsigned count, uint64_t step, const int *fd)
{
	unsigned i, at = bytes == 32 ? 1 : 0;

	q.head.size = sizeof(q.head) + bytes;
	q.head.flags = FLAG_NO_REPLY;
	q.argsz = bytes;
	for (i = 0; i < count; i++) {
		CHECK(vfio_user_send(sock, &q, q.head.size, fd, fd ? 1 : 0));
		q.word[at] += step;
	}
}

/* ---- Memory ------------------------------------------------------------------------------------ */

TEST(truncated_files_are_replaced_at_the_limit_of_mappings)
{
	struct request map = { .head.command = CMD_DMA_MAP, .flags = 3, .word = { 0, 0x100000, 0x1000 } };
	int fd = memfd_create("guest", MFD_CLOEXEC), sock = start_server(NULL);

	CHECK(!ftruncate(fd, 0x1000));
	flood(sock, map, 32, 66000, 0x1000, &fd);
	enable_bus_master(sock);
	CHECK(mappings() < RANGES_MAX + 2000);
	CHECK_EQ(map_memory(sock, 1ull << 40, 0x1000, fd, 0), ENOSPC);
	CHECK(!ftruncate(fd, 0));
	touch_memory(sock, 0x100000);
	CHECK(is_dropped(sock));
	close(sock);
	close(fd);
	check_alive();
}

static int huge_file(void)
{
	int fd = memfd_create("guest", MFD_CLOEXEC | MFD_HUGETLB);

	if (fd < 0 || ftruncate(fd, 2 << 20))
		SKIP("this kernel has no huge pages of 2 MiB: %s", strerror(errno));
	return fd;
}

/* A part of a huge page can be neither replaced nor unmapped alone. */
TEST(a_truncated_huge_page_drops_the_connection)
{
	int fd = huge_file(), sock = start_server(NULL);

	CHECK_EQ(map_memory(sock, 0x100000, 0x1000, fd, 0), 0);
	CHECK(!ftruncate(fd, 0));
	enable_bus_master(sock);
	touch_memory(sock, 0x100000);
	CHECK(is_dropped(sock));
	close(sock);
	close(fd);
	check_alive();
}

TEST(part_of_huge_page_is_unmapped)
{
	int fd = huge_file(), sock = start_server(NULL), i;
	unsigned before = mappings();

	for (i = 0; i < 300; i++) {
		CHECK_EQ(map_memory(sock, 0x100000, 0x3000, fd, 0x1000), 0);
		/* the middle, which takes the whole range with it */
		CHECK_EQ(unmap_memory(sock, i % 2 ? 0x101000 : 0x100000, i % 2 ? 0x1000 : 0x3000), 0);
	}
	CHECKF(mappings() < before + 20, "%u mappings after 300 unmappings, %u before", mappings(), before);
	CHECK_EQ(map_memory(sock, 0x100000, 0x3000, fd, 0x1000), 0);
	close(sock);
	close(fd);
}

/* Splitting a range counts as a range; when the table is full, the whole range goes. */
TEST(split_ranges_have_a_limit)
{
	struct request unmap = { .head.command = CMD_DMA_UNMAP, .word = { 1, 1 } };
	int sock = start_server(NULL);

	CHECK_EQ(map_memory(sock, 0, 1ull << 62, -1, 0), 0);
	flood(sock, unmap, 24, RANGES_MAX + 10, 2, NULL);
	CHECK_EQ(map_memory(sock, 1ull << 61, 1, -1, 0), 0);
	CHECK_EQ(get_region(sock, 0, GTU_REG_MAGIC, 4), GTU_MAGIC);
	close(sock);
}

/* Whoever serves a file of another file system could make the server wait. */
TEST(files_of_other_file_systems_are_not_mapped)
{
	struct dma_map m = { sizeof(m), VFIO_DMA_MAP_FLAG_READ, 0, 0x100000, 0x1000 };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), sock = start_server(NULL);
	struct statfs fs;

	CHECK(!fstatfs(fd, &fs));
	if (fs.f_type == TMPFS)
		SKIP("the test program is in a tmpfs");
	/* known, inaccessible */
	CHECK_EQ(ask_fds(sock, CMD_DMA_MAP, &m, sizeof(m), &fd, 1, &r), 0);
	CHECK_EQ(mappings_of("/test_serve_hostile"), 0);
	close(fd);
	close(sock);
}

TEST(mapped_bytes_have_a_limit)
{
	int fd = memfd_create("guest", MFD_CLOEXEC), sock = start_server(NULL), i, code = 0;

	CHECK(!ftruncate(fd, 1ll << 43));
	for (i = 0; i < 8 && !code; i++)
		code = map_memory(sock, (uint64_t)i << 43, 1ull << 43, fd, 0);
	CHECK_EQ(code, ENOSPC);
	CHECK_EQ(i, 3);
	CHECK_EQ(unmap_memory(sock, 0, 1ull << 43), 0);
	CHECK_EQ(map_memory(sock, 0, 1ull << 43, fd, 0), 0);
	close(fd);
	close(sock);
}

/* A core dump must not contain the guest's memory: the mappings have the flag "dd". */
TEST(core_dumps_have_no_guest_memory)
{
	char path[64], line[512];
	unsigned long start, end;
	bool inside = false, found = false;
	int fd = memfd_create("guest-memory", MFD_CLOEXEC), sock = start_server(NULL);
	FILE *f;

	CHECK(!ftruncate(fd, 0x1000));
	CHECK_EQ(map_memory(sock, 0x100000, 0x1000, fd, 0), 0);
	snprintf(path, sizeof(path), "/proc/%d/smaps", server_pid);
	f = fopen(path, "r");
	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = strstr(line, "guest-memory");
		if (inside && !strncmp(line, "VmFlags:", 8)) {
			found = true;
			CHECKF(strstr(line, " dd"), "%s", line);
		}
	}
	fclose(f);
	CHECK(found);
	close(fd);
	close(sock);
}

/* ---- Time -------------------------------------------------------------------------------------- */

#ifdef PTRACE_GET_SYSCALL_INFO
/*
 * Make the device write to eventfd @fd, and fill @fd after the server has polled it and before it
 * writes.
 */
static void fill_before_write(int sock, int fd)
{
	struct { struct header head; struct irq_set s; } q = {
		{ 0, CMD_SET_IRQS, sizeof(q), 0, 0 }, { sizeof(q.s), BY_NOTHING, VFIO_PCI_MSIX_IRQ_INDEX, 0, 1 } };
	const uint64_t most = ~0ull - 1;
	struct __ptrace_syscall_info info;
	int status, i;

	if (ptrace(PTRACE_SEIZE, server_pid, 0, PTRACE_O_TRACESYSGOOD))
		SKIP("this process may not trace its child: %s", strerror(errno));
	CHECK(!ptrace(PTRACE_INTERRUPT, server_pid, 0, 0));
	CHECK(vfio_user_send(sock, &q, sizeof(q), NULL, 0));
	for (i = 0; i < 10000; i++) {
		CHECK(waitpid(server_pid, &status, 0) == server_pid && WIFSTOPPED(status));
		if (WSTOPSIG(status) == (SIGTRAP | 0x80) &&
		    ptrace(PTRACE_GET_SYSCALL_INFO, server_pid, sizeof(info), &info) > 0 &&
		    info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_write && info.entry.args[2] == 8)
			break;
		ptrace(PTRACE_SYSCALL, server_pid, 0, 0);
	}
	CHECK(i < 10000);
	CHECK(write(fd, &most, sizeof(most)) == sizeof(most));
	ptrace(PTRACE_DETACH, server_pid, 0, 0);
}

TEST(eventfds_filled_after_poll_do_not_block_the_server)
{
	int fd = eventfd(0, EFD_CLOEXEC), sock = start_server(NULL);

	enable_bus_master(sock);
	CHECK_EQ(set_irqs(sock, BY_EVENTFD, 0, 1, &fd, 1), 0);
	fill_before_write(sock, fd);
	CHECK(is_dropped(sock));
	close(sock);
	check_alive();
	close(fd);
	check_ends();
}
#endif

#define LINGERING	160u

/*
 * Closing a TCP socket with SO_LINGER waits: LINGERING of them must not delay SIGTERM by as many of the server's timeouts of
 * a tenth of a second.
 */
TEST(descriptors_whose_close_waits_do_not_delay_the_end)
{
	struct linger linger = { 1, 60 };
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct header info = { 0, CMD_GET_INFO, sizeof(info), 0, 0 };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), sock, other[LINGERING], fd[LINGERING], little = 4096;
	static char filler[65536];
	socklen_t size = sizeof(addr);
	unsigned i;

	setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
	if (bind(listener, (struct sockaddr *)&addr, size) || listen(listener, 40) ||
	    getsockname(listener, (struct sockaddr *)&addr, &size))
		SKIP("there is no TCP on the loopback interface: %s", strerror(errno));
	sock = start_server(NULL);
	for (i = 0; i < LINGERING; i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		setsockopt(fd[i], SOL_SOCKET, SO_SNDBUF, &little, sizeof(little));
		CHECK(!connect(fd[i], (struct sockaddr *)&addr, size));
		other[i] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		setsockopt(fd[i], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
		while (send(fd[i], filler, sizeof(filler), MSG_DONTWAIT) > 0)
			;
	}
	/* the last reference must be the server's, which takes all messages before it polls for signals */
	kill(server_pid, SIGSTOP);
	CHECK(vfio_user_send(sock, &info, sizeof(info), NULL, 0));
	info.flags = FLAG_NO_REPLY;
	for (i = 0; i < LINGERING; i += 8)
		CHECK(vfio_user_send(sock, &info, sizeof(info), &fd[i], 8));
	for (i = 0; i < LINGERING; i++)
		close(fd[i]);
	kill(server_pid, SIGCONT);
	CHECK(receive_reply(sock, &r));
	check_ends();
	for (i = 0; i < LINGERING; i++)
		close(other[i]);
	close(listener);
	close(sock);
}

TEST(silent_connection_is_dropped)
{
	int sock;

	name_socket();
	spawn_server(server_path, NULL);
	sock = connect_server();
	CHECK(is_dropped(sock));	/* within WAIT_S */
	close(sock);
	/* part of a version is none */
	sock = connect_server();
	CHECK(vfio_user_send(sock, &(struct header){ 1, CMD_VERSION, 30, 0, 0 }, 16, NULL, 0));
	CHECK(is_dropped(sock));
	close(sock);
	check_alive();
	check_ends();
}

TEST(a_start_does_not_wait_for_a_full_backlog)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd[4], i, status;

	name_socket();
	end_server();
	unlink(server_path);
	strcpy(addr.sun_path, server_path);
	CHECK(!bind(listener, (struct sockaddr *)&addr, sizeof(addr)) && !listen(listener, 0));
	for (i = 0; i < 4; i++) {
		fd[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (connect(fd[i], (struct sockaddr *)&addr, sizeof(addr)))
			CHECK_EQ(errno, EAGAIN);
	}
	spawn_server(server_path, NULL);
	status = server_status();	/* within WAIT_S */
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	for (i = 0; i < 4; i++)
		close(fd[i]);
	close(listener);
	unlink(server_path);
}

/* ---- The socket and the process ---------------------------------------------------------------- */

TEST(socket_is_private)
{
	mode_t mask = umask(0);
	struct stat st;
	int sock = start_server(NULL);

	umask(mask);
	CHECK(!stat(server_path, &st));
	CHECK_EQ(st.st_mode & 0777, 0600);
	close(sock);
}

TEST(default_path_is_private)
{
	mode_t mask = umask(0);
	char folder[200];
	struct stat st;
	int sock, status;

	umask(mask);
	end_server();
	setenv("XDG_RUNTIME_DIR", test_tmpdir(), 1);
	snprintf(server_path, sizeof(server_path), "%.80s/gtu/serve.sock", test_tmpdir());
	snprintf(folder, sizeof(folder), "%.80s/gtu", test_tmpdir());
	spawn_server(NULL, NULL);
	sock = connect_server();
	CHECK_EQ(say_version(sock, &r), 0);
	CHECK(!stat(folder, &st));
	CHECK_EQ(st.st_mode & 0777, 0700);
	close(sock);
	check_ends();
	/* a folder that others can enter is refused */
	CHECK(!chmod(folder, 0755));
	spawn_server(NULL, NULL);
	status = server_status();
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	unsetenv("XDG_RUNTIME_DIR");
	spawn_server(NULL, NULL);
	status = server_status();
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 2);
}

/* The server asks the kernel who connects: permissions of the path may be wrong. */
TEST(other_users_are_refused)
{
	int sock, status;
	pid_t child;

	if (geteuid())
		SKIP("only root can become another user");
	sock = start_server(NULL);
	close(sock);
	CHECK(!chmod(test_tmpdir(), 0711) && !chmod(server_path, 0666));
	child = fork();
	if (!child) {
		char byte;
		int fd;

		if (setgid(65534) || setuid(65534))
			_exit(2);
		fd = vfio_user_connect(server_path, WAIT_S);
		if (fd < 0)
			_exit(3);
		_exit(recv(fd, &byte, 1, 0) == 0 ? 0 : 1);
	}
	CHECK(waitpid(child, &status, 0) == child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 3)
		SKIP("another user cannot reach %s", server_path);
	/* closed at once, not after the limit for the version */
	CHECK_EQ(status, 0);
	check_alive();
}

TEST(process_is_confined)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("sanitizers need more system calls");
#else
	char path[64], line[256];
	bool calls = false, privileges = false;
	int sock = start_server(NULL);
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", server_pid);
	f = fopen(path, "r");
	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		calls |= !strcmp(line, "Seccomp:\t2\n");
		privileges |= !strcmp(line, "NoNewPrivs:\t1\n");
	}
	fclose(f);
	CHECK(privileges && calls);
	close(sock);
#endif
}

TEST_MAIN
