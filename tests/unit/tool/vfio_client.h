/* SPDX-License-Identifier: MIT */
/*
 * A vfio-user client for tests of `gtu serve`: starts the tool ($GTU_TOOL, or the one built beside
 * the test), and ends it after the test whatever its result. One server at a time.
 */
#ifndef GTU_TEST_VFIO_CLIENT_H
#define GTU_TEST_VFIO_CLIENT_H

#include <fcntl.h>
#include <linux/pci_regs.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "firmware-model/transport/vfio-user/vfio_user_client.h"
#include "uapi/gtu/hw.h"
#include "tests/unit/test.h"

#define CONFIG		7u
#define WAIT_S		20	/* timeout of waits for the server */

static pid_t server_pid;
static char server_path[100];	/* limit of a socket's address */

static inline void end_server(void)
{
	if (server_pid > 0) {
		kill(server_pid, SIGKILL);
		waitpid(server_pid, NULL, 0);
	}
	server_pid = 0;
}

static inline const char *tool_path(void)
{
	static char path[512];
	const char *given = getenv("GTU_TOOL");
	char *slash;
	ssize_t n;

	if (given)
		return given;
	n = readlink("/proc/self/exe", path, sizeof(path) - 16);
	CHECK(n > 0);
	path[n] = 0;
	slash = strrchr(path, '/');
	strcpy(slash, "/../gtu");
	return path;
}

/*
 * Start gtu serve with at most five more arguments (NULL-terminated) without waiting. @path NULL:
 * the default.
 */
static inline void spawn_server(const char *path, const char *const *more)
{
	const char *argv[12] = { "gtu", "--quiet", "serve", "--socket", path };
	static bool registered;
	unsigned i, first = path ? 5 : 3;

	argv[first] = NULL;

	end_server();
	if (!registered)
		atexit(end_server);
	registered = true;
	for (i = 0; more && more[i]; i++)
		argv[first + i] = more[i];
	server_pid = fork();
	CHECK(server_pid >= 0);
	if (server_pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* hide expected refusals, which look like failures */
	if (!getenv("GTU_TEST_VERBOSE")) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 2);
		close(null);
	}
	execv(tool_path(), (char *const *)argv);
	_exit(99);
}

static inline int server_status(void)
{
	int status = 0, i;
	pid_t got = 0;

	for (i = 0; i < WAIT_S * 100 && !got; i++) {
		got = waitpid(server_pid, &status, WNOHANG);
		if (!got)
			usleep(10000);
	}
	CHECKF(got == server_pid, "the server did not end");
	server_pid = 0;
	return status;
}

static inline void close_socket(void *fd)
{
	close((int)(intptr_t)fd);
}

/* A connection to the server, closed at the latest when the test ends. */
static inline int connect_server(void)
{
	int i, fd = -1;

	for (i = 0; i < WAIT_S * 100 && fd < 0; i++) {
		fd = vfio_user_connect(server_path, WAIT_S);
		if (fd >= 0)
			break;
		if (waitpid(server_pid, NULL, WNOHANG) == server_pid) {
			server_pid = 0;
			test_fail(__FILE__, __LINE__, "%s serve ended at once", tool_path());
		}
		usleep(10000);
	}
	CHECKF(fd >= 0, "no server at %s", server_path);
	test_at_end(close_socket, (void *)(intptr_t)fd);
	return fd;
}

struct reply {
	struct header head;
	int fd;				/* received descriptor, or -1 */
	_Alignas(8) uint8_t data[70000];
};

/* Receive one reply; false at the end of the connection. */
static inline bool receive_reply(int sock, struct reply *r)
{
	r->fd = -1;
	if (!vfio_user_receive(sock, &r->head, sizeof(r->head), &r->fd)) {
		CHECKF(!errno || errno == ECONNRESET, "no answer: %s", strerror(errno));
		return false;
	}
	CHECKF(r->head.size >= sizeof(r->head) && r->head.size <= sizeof(r->head) + sizeof(r->data),
	       "a reply of %u bytes", r->head.size);
	CHECK_EQ(r->head.flags & FLAG_TYPE, FLAG_REPLY);
	return vfio_user_receive(sock, r->data, r->head.size - sizeof(r->head), NULL);
}

/*
 * Send a request and receive its reply. Returns the reply's errno (0: none), or -1 if the server
 * closes the connection.
 */
static inline int ask_fds(int sock, unsigned command, const void *payload, uint32_t bytes, const int *fd,
			  unsigned fds, struct reply *r)
{
	static uint8_t out[70000];
	static uint16_t id;
	struct header head = { ++id, command, sizeof(head) + bytes, 0, 0 };

	memcpy(out, &head, sizeof(head));
	if (bytes)
		memcpy(out + sizeof(head), payload, bytes);
	if (!vfio_user_send(sock, out, head.size, fd, fds) || !receive_reply(sock, r))
		return -1;
	CHECK_EQ(r->head.id, id);
	CHECK_EQ(r->head.command, command);
	if (r->head.flags & FLAG_ERROR) {
		CHECK_EQ(r->head.size, sizeof(head));
		CHECK(r->head.error);
	}
	return r->head.flags & FLAG_ERROR ? (int)r->head.error : 0;
}

static inline int ask(int sock, unsigned command, const void *payload, uint32_t bytes, struct reply *r)
{
	return ask_fds(sock, command, payload, bytes, NULL, 0, r);
}

static inline int say_version(int sock, struct reply *r)
{
	static const char hello[] = "\0\0\0\0{\"capabilities\":{\"max_msg_fds\":8}}";

	return ask(sock, CMD_VERSION, hello, sizeof(hello), r);
}

/* Set server_path to a name in the test's folder. */
static inline void name_socket(void)
{
	size_t n = strlen(test_tmpdir());

	CHECKF(n + 3 < sizeof(server_path), "TMPDIR is too long a name for sockets");
	memcpy(server_path, test_tmpdir(), n);
	memcpy(server_path + n, "/s", 3);
}

/* Start a server with @more arguments, and connect and negotiate the version. */
static inline int start_server(const char *const *more)
{
	static struct reply r;
	int sock;

	name_socket();
	spawn_server(server_path, more);
	sock = connect_server();
	CHECK_EQ(say_version(sock, &r), 0);
	return sock;
}

struct access {
	struct region_access at;
	uint8_t data[64];
};

/* Read up to 8 bytes into *value. Returns the reply's errno. */
static inline int read_region(int sock, unsigned region, uint64_t offset, uint32_t count, uint64_t *value)
{
	static struct reply r;
	struct access a = { { offset, region, count }, { 0 } };
	int code = ask(sock, CMD_REGION_READ, &a, 16, &r);

	*value = 0;
	if (!code) {
		CHECK_EQ(r.head.size, 32 + count);
		memcpy(value, r.data + 16, count);
	}
	return code;
}

static inline uint64_t get_region(int sock, unsigned region, uint64_t offset, uint32_t count)
{
	uint64_t value;

	CHECK_EQ(read_region(sock, region, offset, count, &value), 0);
	return value;
}

static inline int write_region(int sock, unsigned region, uint64_t offset, uint32_t count, uint64_t value)
{
	static struct reply r;
	struct access a = { { offset, region, count }, { 0 } };

	memcpy(a.data, &value, sizeof(value));
	return ask(sock, CMD_REGION_WRITE, &a, 16 + count, &r);
}

static inline void put_region(int sock, unsigned region, uint64_t offset, uint32_t count, uint64_t value)
{
	CHECK_EQ(write_region(sock, region, offset, count, value), 0);
}

/* Map memory; @fd < 0: without descriptor. Returns the reply's errno. */
static inline int map_memory(int sock, uint64_t address, uint64_t size, int fd, uint64_t offset)
{
	static struct reply r;
	struct dma_map m = { sizeof(m), 3, offset, address, size };

	return ask_fds(sock, CMD_DMA_MAP, &m, sizeof(m), &fd, fd >= 0, &r);
}

static inline int unmap_memory(int sock, uint64_t address, uint64_t size)
{
	static struct reply r;
	struct dma_unmap m = { sizeof(m), 0, address, size };

	return ask(sock, CMD_DMA_UNMAP, &m, sizeof(m), &r);
}

/* SET_IRQS for MSI-X. Returns the reply's errno. */
static inline int set_irqs(int sock, uint32_t flags, uint32_t start, uint32_t count, const int *fd, unsigned fds)
{
	static struct reply r;
	struct irq_set s = { sizeof(s), flags, VFIO_PCI_MSIX_IRQ_INDEX, start, count };

	return ask_fds(sock, CMD_SET_IRQS, &s, sizeof(s), fd, fds, &r);
}
#define BY_EVENTFD	(VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER)
#define BY_NOTHING	(VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER)

/* Read an eventfd within @ms; 0 if it is empty. */
static inline uint64_t take_event(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t n = 0;

	if (poll(&p, 1, ms) == 1 && read(fd, &n, sizeof(n)) != sizeof(n))
		n = 0;
	return n;
}

static inline void enable_bus_master(int sock)
{
	put_region(sock, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

#endif
