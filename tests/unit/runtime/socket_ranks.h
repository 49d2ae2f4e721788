/* SPDX-License-Identifier: MIT */
/*
 * Ranks for tests: processes that exchange data over socket pairs. A call can be made to fail, to end
 * its process or to hang.
 */
#ifndef GTU_SOCKET_RANKS_H
#define GTU_SOCKET_RANKS_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtu/ranks.h"
#include "tests/unit/test.h"

#define SOCKET_RANKS_MAX 8

enum socket_fault { FAULT_NONE, FAULT_FAILS, FAULT_DIES, FAULT_HANGS, FAULT_VERSION };

struct socket_ranks {
	uint32_t rank, size;
	int to[SOCKET_RANKS_MAX];	/* socket to each rank */
	unsigned calls, fault_at;	/* the fault is in call number fault_at */
	enum socket_fault fault;
	int timeout_ms;
	unsigned polls, polled;		/* calls that poll an exchange, and exchanges that they completed */
	/* the exchange under way */
	const void *const *out;
	void *const *in;
	const uint64_t *send_bytes, *receive_bytes;
	uint64_t sent[SOCKET_RANKS_MAX], received[SOCKET_RANKS_MAX];
};

static inline int socket_fault(struct socket_ranks *s, struct gtu_error *e)
{
	if (s->fault == FAULT_NONE || s->fault == FAULT_VERSION || s->calls++ != s->fault_at)
		return 0;
	if (s->fault == FAULT_DIES)
		_exit(0);
	while (s->fault == FAULT_HANGS)
		pause();
	return gtu_fail(e, GTU_ERR_FAIL, "rank %u: a fault of the test", s->rank);
}

static inline void socket_start(struct socket_ranks *s, const void *const *out, const uint64_t *send_bytes,
				void *const *in, const uint64_t *receive_bytes)
{
	CHECK(!s->out);
	s->out = out;
	s->in = in;
	s->send_bytes = send_bytes;
	s->receive_bytes = receive_bytes;
	memset(s->sent, 0, sizeof(s->sent));
	memset(s->received, 0, sizeof(s->received));
}

/* 1: all is sent and received; 0: not yet, without @wait. */
static inline int socket_finish(struct socket_ranks *s, bool wait_for_all, struct gtu_error *e)
{
	struct pollfd wait[SOCKET_RANKS_MAX];

	for (;;) {
		uint32_t missing = s->size;
		int ready;

		for (uint32_t i = 0; i < s->size; i++) {
			const bool reads = i != s->rank && s->received[i] < s->receive_bytes[i];
			const bool writes = i != s->rank && s->sent[i] < s->send_bytes[i];

			wait[i] = (struct pollfd){ .fd = reads || writes ? s->to[i] : -1,
						   .events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)) };
			missing = reads || writes ? i : missing;
		}
		if (missing == s->size) {
			s->out = NULL;
			return 1;
		}
		ready = poll(wait, s->size, wait_for_all ? s->timeout_ms : 0);
		if (!ready)
			return wait_for_all ? gtu_fail(e, GTU_ERR_TIMEOUT, "rank %u does not answer", missing) : 0;
		for (uint32_t i = 0; i < s->size; i++) {
			ssize_t n = 1;

			if (wait[i].revents & (POLLIN | POLLHUP | POLLERR) && s->received[i] < s->receive_bytes[i]) {
				n = recv(s->to[i], (char *)s->in[i] + s->received[i], s->receive_bytes[i] - s->received[i],
					 MSG_DONTWAIT);
				s->received[i] += n > 0 ? (uint64_t)n : 0;
			} else if (wait[i].revents) {
				n = send(s->to[i], (const char *)s->out[i] + s->sent[i], s->send_bytes[i] - s->sent[i],
					 MSG_DONTWAIT | MSG_NOSIGNAL);
				s->sent[i] += n > 0 ? (uint64_t)n : 0;
			}
			if (!n || (n < 0 && errno != EAGAIN))
				return gtu_fail(e, GTU_ERR_FAIL, "rank %u has ended", i);
		}
	}
}

static inline int socket_exchange(struct socket_ranks *s, const void *const *out, const uint64_t *send_bytes,
				  void *const *in, const uint64_t *receive_bytes, struct gtu_error *e)
{
	int rc;

	socket_start(s, out, send_bytes, in, receive_bytes);
	rc = socket_finish(s, true, e);
	return rc < 0 ? rc : 0;
}

static inline int socket_all_to_all_v(void *context, const void *const *send, const uint64_t *send_bytes,
				      void *const *receive, const uint64_t *receive_bytes, struct gtu_error *e)
{
	int rc = socket_fault(context, e);

	return rc ? rc : socket_exchange(context, send, send_bytes, receive, receive_bytes, e);
}

static inline int socket_start_all_to_all_v(void *context, const void *const *send, const uint64_t *send_bytes,
					    void *const *receive, const uint64_t *receive_bytes, struct gtu_error *e)
{
	int rc = socket_fault(context, e);

	if (!rc)
		socket_start(context, send, send_bytes, receive, receive_bytes);
	return rc;
}

static inline int socket_finish_all_to_all_v(void *context, int wait, struct gtu_error *e)
{
	struct socket_ranks *s = context;
	int rc;

	if (!s->out)
		return 1;
	rc = socket_finish(s, wait, e);
	s->polls += !wait;
	s->polled += !wait && rc > 0;
	return rc;
}

static inline int socket_gather(struct socket_ranks *s, const void *mine, uint64_t bytes, void *all,
				struct gtu_error *e)
{
	const void *send[SOCKET_RANKS_MAX];
	void *receive[SOCKET_RANKS_MAX];
	uint64_t length[SOCKET_RANKS_MAX];

	for (uint32_t i = 0; i < s->size; i++) {
		send[i] = mine;
		receive[i] = (char *)all + i * bytes;
		length[i] = i == s->rank ? 0 : bytes;
	}
	memcpy(receive[s->rank], mine, bytes);
	return socket_exchange(s, send, length, receive, length, e);
}

static inline int socket_all_gather(void *context, const void *mine, uint64_t bytes, void *all, struct gtu_error *e)
{
	struct socket_ranks *s = context;
	char changed[512];
	int rc = socket_fault(s, e);

	if (rc)
		return rc;
	/* what ranks compare starts with the library's version */
	if (s->fault == FAULT_VERSION) {
		memcpy(changed, mine, bytes);
		changed[0] = '9';
		mine = changed;
	}
	return socket_gather(s, mine, bytes, all, e);
}

static inline int socket_broadcast(void *context, uint32_t root, void *data, uint64_t bytes, struct gtu_error *e)
{
	struct socket_ranks *s = context;
	char *all = malloc(s->size * bytes);
	int rc = socket_fault(s, e);

	if (!rc)
		rc = socket_gather(s, data, bytes, all, e);
	if (!rc)
		memcpy(data, all + root * bytes, bytes);
	free(all);
	return rc;
}

static inline int socket_all_reduce(void *context, enum gtu_reduction how, void *values, uint64_t count,
				    struct gtu_error *e)
{
	struct socket_ranks *s = context;
	uint64_t *all = malloc(s->size * count * 8), *to = values;
	double *real = values;
	int rc = socket_fault(s, e);

	if (!rc)
		rc = socket_gather(s, values, count * 8, all, e);
	for (uint64_t i = 0; !rc && i < s->size * count; i++) {
		const uint64_t at = i % count, x = all[i];
		double d;

		memcpy(&d, &x, 8);
		if (i < count)
			to[at] = x;
		else if (how == GTU_SUM_U64)
			to[at] += x;
		else if (how == GTU_MIN_U64)
			to[at] = x < to[at] ? x : to[at];
		else if (how == GTU_MAX_U64)
			to[at] = x > to[at] ? x : to[at];
		else if (how == GTU_SUM_F64)
			real[at] += d;
		else
			real[at] = d > real[at] ? d : real[at];
	}
	free(all);
	return rc;
}

static inline int socket_barrier(void *context, struct gtu_error *e)
{
	char mine = 0, all[SOCKET_RANKS_MAX];
	int rc = socket_fault(context, e);

	return rc ? rc : socket_gather(context, &mine, 1, all, e);
}

/* ---- Processes ------------------------------------------------------------------------------------- */

/* A rank's report to the test, in shared memory. */
struct rank_report {
	int rc;
	struct gtu_error err;
	struct gtu_ranks_traffic traffic;
	uint64_t first, end, bytes;	/* bytes: growth of the process */
	unsigned polls, polled;		/* of struct socket_ranks */
	bool done;
};

typedef void rank_fn(const struct gtu_ranks *ranks, struct rank_report *report, void *context);

static struct rank_report *rank_reports;

/* Memory that processes share. */
static inline void *shared_memory(uint64_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

/*
 * Run @fn in @size processes; the fault is in rank @faulty. Every rank must report and exit with status 0, except
 * the faulty one where the fault ends or hangs its process.
 */
static inline void run_ranks(uint32_t size, rank_fn *fn, void *context, uint32_t faulty, enum socket_fault fault,
			     unsigned fault_at)
{
	static int pair[SOCKET_RANKS_MAX][SOCKET_RANKS_MAX];
	pid_t child[SOCKET_RANKS_MAX];
	int status[SOCKET_RANKS_MAX];

	if (!rank_reports)
		rank_reports = shared_memory(SOCKET_RANKS_MAX * sizeof(*rank_reports));
	memset(rank_reports, 0, SOCKET_RANKS_MAX * sizeof(*rank_reports));
	for (uint32_t a = 0; a < size; a++)
		for (uint32_t b = a + 1; b < size; b++) {
			int fd[2];

			CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
			pair[a][b] = fd[0];
			pair[b][a] = fd[1];
		}
	fflush(stdout);
	for (uint32_t r = 0; r < size; r++) {
		child[r] = fork();
		CHECK(child[r] >= 0);
		if (child[r])
			continue;
		struct socket_ranks s = { .rank = r, .size = size, .timeout_ms = fault == FAULT_HANGS && r != faulty ? 500 : 60000,
					  .fault = r == faulty ? fault : FAULT_NONE, .fault_at = fault_at };
		struct gtu_ranks ranks = { .bytes = sizeof(ranks), .rank = r, .size = size, .context = &s,
					   .broadcast = socket_broadcast, .all_gather = socket_all_gather,
					   .all_to_all_v = socket_all_to_all_v, .all_reduce = socket_all_reduce,
					   .barrier = socket_barrier,
					   .start_all_to_all_v = socket_start_all_to_all_v,
					   .finish_all_to_all_v = socket_finish_all_to_all_v };

		/* the ends of the others must close when their processes end */
		for (uint32_t a = 0; a < size; a++)
			for (uint32_t b = 0; b < size; b++)
				if (a == r)
					s.to[b] = pair[a][b];
				else if (a != b)
					close(pair[a][b]);
		fn(&ranks, &rank_reports[r], context);
		rank_reports[r].polls = s.polls;
		rank_reports[r].polled = s.polled;
		rank_reports[r].done = true;
		_exit(0);
	}
	for (uint32_t a = 0; a < size; a++)
		for (uint32_t b = 0; b < size; b++)
			if (a != b)
				close(pair[a][b]);
	for (uint32_t r = 0; r < size; r++)
		if (fault != FAULT_HANGS || r != faulty)
			CHECK(waitpid(child[r], &status[r], 0) == child[r]);
	if (fault == FAULT_HANGS) {
		kill(child[faulty], SIGKILL);
		waitpid(child[faulty], &status[faulty], 0);
	}
	for (uint32_t r = 0; r < size; r++) {
		const bool hangs = r == faulty && fault == FAULT_HANGS, dies = r == faulty && fault == FAULT_DIES;

		/* on a slow host, others may give up before it hangs */
		CHECKF((hangs && status[r] == SIGKILL) || (!status[r] && (rank_reports[r].done || dies)),
		       "rank %u of %u ended with wait status 0x%x%s", r, size, (unsigned)status[r],
		       rank_reports[r].done ? "" : " before it reported");
	}
}

#endif
