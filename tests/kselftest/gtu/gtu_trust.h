/* SPDX-License-Identifier: MIT */
/*
 * Helpers for the isolation tests: random numbers, guarded memory, batches of jobs, child
 * processes.
 */
#ifndef GTU_TRUST_H
#define GTU_TRUST_H

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "gtu_util.h"

#define GUARD_BYTES	(2u * PAGE)
#define GUARD		0x5a

static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Return GTU_SEED, or a new random seed if it is unset. The caller prints it. Never 0. */
static inline uint64_t random_seed(void)
{
	const char *text = getenv("GTU_SEED");
	uint64_t seed = 0;

	if (text)
		seed = strtoull(text, NULL, 0);
	else if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = now_ns();
	return seed ? seed : 1;
}

/*
 * Open fail-nth of this thread, so that all kinds of allocation fail, without kernel messages.
 * GTU_FAIL_NTH names another such file. Return -1 if the kernel has no fault injection or the
 * caller is not root.
 */
static inline int fail_nth_open(void)
{
	static const char *const kinds[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
	char path[128];
	unsigned int i;

	if (getenv("GTU_FAIL_NTH"))
		return open(getenv("GTU_FAIL_NTH"), O_RDWR);
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/verbose", kinds[i]);
		if (write_to(path, "0") && i < 2)
			return -1;
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/ignore-gfp-wait", kinds[i]);
		write_to(path, "N");
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/min-order", kinds[i]);
		write_to(path, "0");
	}
	return open("/proc/thread-self/fail-nth", O_RDWR);
}

/*
 * ---- Memory with guards -------------------------------------------------------------------------
 */

/* @length bytes at @at may become a region. All other bytes of the mapping hold GUARD. */
struct guarded {
	uint8_t *whole, *at;
	size_t bytes, length;
};

/* @skip: offset of the first byte in its page. */
static inline void guarded_new(struct guarded *g, size_t length, size_t skip)
{
	g->bytes = 2 * GUARD_BYTES + (skip + length + PAGE - 1) / PAGE * PAGE;
	g->length = length;
	g->whole = pages(g->bytes);
	memset(g->whole, GUARD, g->bytes);
	g->at = g->whole + GUARD_BYTES + skip;
}

static inline bool all_bytes(const uint8_t *p, size_t n, uint8_t value)
{
	return !n || (*p == value && !memcmp(p, p + 1, n - 1));
}

static inline bool guarded_ok(const struct guarded *g)
{
	const uint8_t *end = g->at + g->length;

	return all_bytes(g->whole, (size_t)(g->at - g->whole), GUARD) &&
	       all_bytes(end, (size_t)(g->whole + g->bytes - end), GUARD);
}

/* Fill @at with words that depend on their index and on @tag. */
static inline void fill_pattern(void *at, size_t bytes, uint32_t tag)
{
	uint32_t *word = at;
	size_t i;

	for (i = 0; i < bytes / 4; i++)
		word[i] = (uint32_t)i * 2654435761u ^ tag * 0x01010101u;
}

static inline bool is_pattern(const void *at, size_t bytes, uint32_t tag)
{
	const uint32_t *word = at;
	size_t i;

	for (i = 0; i < bytes / 4; i++)
		if (word[i] != ((uint32_t)i * 2654435761u ^ tag * 0x01010101u))
			return false;
	return true;
}

/*
 * ---- Jobs ---------------------------------------------------------------------------------------
 */

/* Run @n jobs with one doorbell; @n must fit both rings. Return 0 or an errno. */
static inline int run_many(struct queue *q, const struct gtu_hw_desc *d, unsigned int n,
			   struct gtu_hw_cpl *out)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < n; i++)
		put(q, &d[i]);
	doorbell(q, q->submitted, q->consumed);
	for (i = 0; i < n && !ret; i++)
		ret = take(q, &out[i]);
	return ret;
}

/* Return a descriptor without operands. */
static inline struct gtu_hw_desc job(uint8_t opcode, uint32_t param)
{
	return (struct gtu_hw_desc){ .opcode = opcode, .param = param };
}

static inline struct gtu_hw_operand place(uint32_t key, uint32_t count, uint64_t offset)
{
	return (struct gtu_hw_operand){ .key = key, .count = count, .offset = offset };
}

/* SCU: elements, indices and counts of 4 bytes. */
#define SCU_WORDS	(2u << GTU_SCU_WIDTH_SHIFT)
#define SCU_INDEX_WORDS	(2u << GTU_SCU_INDEX_SHIFT)
#define SCU_COUNT_WORDS	(2u << GTU_SCU_COUNT_SHIFT)

/* Wait for a child. Return its exit status, 256 + the signal that killed it, or -errno. */
static inline int child_end(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/* Pass an open file to the process at the other end of a socket. Return 0 or an errno. */
static inline int send_fd(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = "", byte = 0;
	struct iovec data = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(socket, &msg, 0) == 1 ? 0 : errno;
}

static inline int receive_fd(int socket)
{
	char control[CMSG_SPACE(sizeof(int))] = "", byte;
	struct iovec data = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(socket, &msg, 0) == 1 && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return fd;
}

#endif
