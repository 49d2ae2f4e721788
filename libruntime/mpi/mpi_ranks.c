// SPDX-License-Identifier: MIT
/*
 * Ranks over MPI. Calls are non-blocking and polled, because a blocking call of many MPI libraries keeps
 * a processor busy while it waits.
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gtu/mpi.h"

#define PIECE		(1u << 30)	/* bytes of one message: MPI counts in int */
#define TAG		0x675
/* polls before other threads may have the processor, and before the first pause */
#define SPINS		100
#define YIELDS		1000
#define PAUSE_NS	50000
#define BEAT_NS		500000000ll
#define BEAT_LIMIT_NS	6000000000ll	/* without a sign of life, or without progress */

struct place {
	char host[64];
	int64_t process;
};

struct mpi_ranks {
	MPI_Comm comm, beats;		/* beats: signs of life; MPI_COMM_NULL: none are sent */
	int rank, size;
	bool initialized;		/* by this library */
	bool failed;
	struct place *place;		/* by rank */
	pthread_t watcher;
	bool watching;
	atomic_bool ending;
	atomic_bool working;		/* not waiting for other processes, nor outside runs */
	atomic_llong beat_ns;		/* of the last sign of work */
	MPI_Request *request;		/* of the messages under way */
	int requests;
};

static int fail(struct gtu_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static int fail(struct gtu_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return code;
}

/* The result of an MPI call; after an error this process is in another step than the others. */
static int result(struct mpi_ranks *m, int rc, const char *what, struct gtu_error *err)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int length;

	if (rc == MPI_SUCCESS)
		return 0;
	m->failed = true;
	MPI_Error_string(rc, text, &length);
	return fail(err, GTU_ERR_FAIL, "rank %d: MPI cannot %s: %.300s", m->rank, what, text);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void pause_ns(long ns)
{
	nanosleep(&(struct timespec){ 0, ns }, NULL);
}

static void beat(void *context, int working)
{
	struct mpi_ranks *m = context;

	atomic_store(&m->beat_ns, now_ns());
	atomic_store(&m->working, working);
}

/* Wait for @count requests. */
static int finish(struct mpi_ranks *m, MPI_Request *request, int count, int rc, const char *what, struct gtu_error *err)
{
	const bool working = atomic_exchange(&m->working, false);
	unsigned polls = 0;
	int done = 0;

	while (rc == MPI_SUCCESS && !done) {
		rc = MPI_Testall(count, request, &done, MPI_STATUSES_IGNORE);
		if (done || ++polls < SPINS)
			continue;
		if (polls < YIELDS)
			sched_yield();
		else
			pause_ns(PAUSE_NS);
	}
	beat(m, working);
	return result(m, rc, what, err);
}

/* A failed call is the last one: the others may be in another step. */
static int check(struct mpi_ranks *m, struct gtu_error *err)
{
	return m->failed ? fail(err, GTU_ERR_FAIL, "rank %d: MPI has failed before", m->rank) : 0;
}

/* ---- The functions of struct gtu_ranks --------------------------------------------------------------- */

static int broadcast(void *context, uint32_t root, void *data, uint64_t bytes, struct gtu_error *err)
{
	struct mpi_ranks *m = context;
	char *at = data;
	int rc = check(m, err);

	for (uint64_t piece; bytes && !rc; at += piece, bytes -= piece) {
		MPI_Request request;

		piece = bytes < PIECE ? bytes : PIECE;
		rc = MPI_Ibcast(at, (int)piece, MPI_BYTE, (int)root, m->comm, &request);
		rc = finish(m, &request, 1, rc, "broadcast", err);
	}
	return rc;
}

static int start_all_to_all_v(void *context, const void *const *send, const uint64_t *send_bytes, void *const *receive,
			      const uint64_t *receive_bytes, struct gtu_error *err)
{
	struct mpi_ranks *m = context;
	uint64_t pieces = 0, at;
	int i, to, from, rc = check(m, err);

	if (rc)
		return rc;
	rc = MPI_SUCCESS;
	for (i = 0; i < m->size; i++)
		pieces += send_bytes[i] / PIECE + receive_bytes[i] / PIECE + 2;
	m->requests = 0;
	m->request = malloc(pieces * sizeof(*m->request));
	if (!m->request) {
		m->failed = true;
		return fail(err, GTU_ERR_NOMEM, "rank %d: out of memory for %llu messages", m->rank, (unsigned long long)pieces);
	}
	for (i = 1; i < m->size && rc == MPI_SUCCESS; i++) {
		from = (m->rank + m->size - i) % m->size;
		for (at = 0; at < receive_bytes[from] && rc == MPI_SUCCESS; at += PIECE) {
			const uint64_t left = receive_bytes[from] - at;

			rc = MPI_Irecv((char *)receive[from] + at, (int)(left < PIECE ? left : PIECE), MPI_BYTE, from, TAG,
				       m->comm, &m->request[m->requests++]);
		}
	}
	for (i = 1; i < m->size && rc == MPI_SUCCESS; i++) {
		to = (m->rank + i) % m->size;
		for (at = 0; at < send_bytes[to] && rc == MPI_SUCCESS; at += PIECE) {
			const uint64_t left = send_bytes[to] - at;

			rc = MPI_Isend((const char *)send[to] + at, (int)(left < PIECE ? left : PIECE), MPI_BYTE, to, TAG,
				       m->comm, &m->request[m->requests++]);
		}
	}
	return result(m, rc, "exchange messages", err);
}

static int finish_all_to_all_v(void *context, int wait, struct gtu_error *err)
{
	struct mpi_ranks *m = context;
	int done = 1, rc = check(m, err);

	if (rc)
		return rc;
	if (wait)
		rc = finish(m, m->request, m->requests, MPI_SUCCESS, "exchange messages", err);
	else
		rc = result(m, MPI_Testall(m->requests, m->request, &done, MPI_STATUSES_IGNORE), "exchange messages", err);
	if (done || rc) {
		free(m->request);
		m->request = NULL;
	}
	return rc ? rc : done;
}

static int all_to_all_v(void *context, const void *const *send, const uint64_t *send_bytes, void *const *receive,
			const uint64_t *receive_bytes, struct gtu_error *err)
{
	int rc = start_all_to_all_v(context, send, send_bytes, receive, receive_bytes, err);

	rc = rc ? rc : finish_all_to_all_v(context, 1, err);
	return rc < 0 ? rc : 0;
}

static int all_gather(void *context, const void *mine, uint64_t bytes, void *all, struct gtu_error *err)
{
	struct mpi_ranks *m = context;
	MPI_Request request;
	int rc = check(m, err);

	if (rc)
		return rc;
	if (bytes > PIECE) {
		m->failed = true;
		return fail(err, GTU_ERR_UNSUPPORTED, "rank %d: %llu bytes to gather are too many: the maximum is %u", m->rank,
			    (unsigned long long)bytes, PIECE);
	}
	rc = MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, m->comm, &request);
	return finish(m, &request, 1, rc, "gather", err);
}

static int all_reduce(void *context, enum gtu_reduction how, void *values, uint64_t count, struct gtu_error *err)
{
	const bool real = how == GTU_SUM_F64 || how == GTU_MAX_F64;
	const MPI_Op op = how == GTU_MIN_U64 ? MPI_MIN : how == GTU_MAX_U64 || how == GTU_MAX_F64 ? MPI_MAX : MPI_SUM;
	struct mpi_ranks *m = context;
	MPI_Request request;
	int rc = check(m, err);

	if (rc)
		return rc;
	rc = MPI_Iallreduce(MPI_IN_PLACE, values, (int)count, real ? MPI_DOUBLE : MPI_UINT64_T, op, m->comm, &request);
	return finish(m, &request, 1, rc, "reduce", err);
}

static int barrier(void *context, struct gtu_error *err)
{
	struct mpi_ranks *m = context;
	MPI_Request request;
	int rc = check(m, err);

	if (rc)
		return rc;
	rc = MPI_Ibarrier(m->comm, &request);
	return finish(m, &request, 1, rc, "pass a barrier", err);
}

static void end_all(struct mpi_ranks *m, int code)
{
	fflush(NULL);
	MPI_Abort(m->comm, code);
}

static void abort_ranks(void *context, const char *why)
{
	struct mpi_ranks *m = context;

	fprintf(stderr, "gtu: rank %d on %s ends all %d ranks: %s\n", m->rank, m->place[m->rank].host, m->size, why);
	end_all(m, 1);
}

/* ---- Signs of life ------------------------------------------------------------------------------------ */

static int64_t beat_limit(void)
{
	const char *scale = secure_getenv("GTU_TIME_SCALE");
	const long factor = scale ? strtol(scale, NULL, 10) : 1;

	return BEAT_LIMIT_NS * (factor >= 1 && factor <= 1000000 ? factor : 1);
}

static void end_silent(struct mpi_ranks *m, int rank, const char *does, const char *because, int64_t limit)
{
	fprintf(stderr, "gtu: rank %d (process %lld on %s) has not %s for %lld s: it is %s; all %d ranks are ended\n", rank,
		(long long)m->place[rank].process, m->place[rank].host, does, (long long)(limit / 1000000000), because,
		m->size);
	end_all(m, 1);
}

/*
 * Send a sign of life to the next rank twice a second, and expect those of the previous one, in a ring. The
 * last one, when the run ends, is 0. An endless loop of this process does not stop this thread, which
 * therefore also expects that the run makes progress.
 */
static void *watch(void *context)
{
	struct mpi_ranks *m = context;
	const int next = (m->rank + 1) % m->size, previous = (m->rank + m->size - 1) % m->size;
	const int64_t limit = beat_limit();
	int64_t heard = now_ns(), sent = 0;
	MPI_Request in, out = MPI_REQUEST_NULL;
	char received, to = 1;
	bool alive = true;		/* the previous rank has not sent its last sign */
	int done;

	MPI_Irecv(&received, 1, MPI_BYTE, previous, TAG, m->beats, &in);
	while (alive || to || out != MPI_REQUEST_NULL) {
		done = 0;
		if (alive)
			MPI_Test(&in, &done, MPI_STATUS_IGNORE);
		if (done) {
			heard = now_ns();
			alive = received;
			if (alive)
				MPI_Irecv(&received, 1, MPI_BYTE, previous, TAG, m->beats, &in);
			continue;
		}
		if (alive && now_ns() - heard > limit)
			end_silent(m, previous, "answered", "stopped, or its host is down", limit);
		if (atomic_load(&m->working) && now_ns() - atomic_load(&m->beat_ns) > limit)
			end_silent(m, m->rank, "made progress", "in an endless loop, or waits for something", limit);
		done = 1;
		if (out != MPI_REQUEST_NULL)
			MPI_Test(&out, &done, MPI_STATUS_IGNORE);
		if (done && to && (atomic_load(&m->ending) || now_ns() - sent > BEAT_NS)) {
			to = !atomic_load(&m->ending);
			MPI_Isend(&to, 1, MPI_BYTE, next, TAG, m->beats, &out);
			sent = now_ns();
		}
		pause_ns(20000000);
	}
	return NULL;
}

/* ---- Start and end ------------------------------------------------------------------------------------- */

static void set_functions(struct mpi_ranks *m, struct gtu_ranks *ranks)
{
	*ranks = (struct gtu_ranks){
		.bytes = sizeof(*ranks), .rank = (uint32_t)m->rank, .size = (uint32_t)m->size, .context = m,
		.broadcast = broadcast, .all_gather = all_gather, .all_to_all_v = all_to_all_v, .all_reduce = all_reduce,
		.barrier = barrier, .abort = abort_ranks, .beat = beat, .start_all_to_all_v = start_all_to_all_v,
		.finish_all_to_all_v = finish_all_to_all_v,
	};
}

int gtu_mpi_open(struct gtu_ranks *ranks, struct gtu_error *err)
{
	struct mpi_ranks *m = calloc(1, sizeof(*m));
	struct place own = { .process = getpid() };
	int ready = 0, level = MPI_THREAD_SINGLE, rc;

	if (!m)
		return fail(err, GTU_ERR_NOMEM, "out of memory for MPI");
	m->beats = MPI_COMM_NULL;
	MPI_Initialized(&ready);
	if (ready)
		rc = MPI_Query_thread(&level);
	else
		rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
	if (rc != MPI_SUCCESS) {
		free(m);
		return fail(err, GTU_ERR_FAIL, "MPI cannot be initialized");
	}
	m->initialized = !ready;
	MPI_Comm_dup(MPI_COMM_WORLD, &m->comm);
	MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
	MPI_Comm_rank(m->comm, &m->rank);
	MPI_Comm_size(m->comm, &m->size);
	gethostname(own.host, sizeof(own.host) - 1);
	m->place = calloc((size_t)m->size, sizeof(*m->place));
	set_functions(m, ranks);
	rc = m->place ? all_gather(m, &own, sizeof(own), m->place, err) : fail(err, GTU_ERR_NOMEM, "out of memory for MPI");
	if (rc) {
		m->failed = true;
		return rc;
	}
	if (level == MPI_THREAD_MULTIPLE && m->size > 1) {
		MPI_Comm_dup(MPI_COMM_WORLD, &m->beats);
		m->watching = !pthread_create(&m->watcher, NULL, watch, m);
	}
	return 0;
}

void gtu_mpi_close(struct gtu_ranks *ranks, int code)
{
	struct mpi_ranks *m = ranks->context;

	if (m->failed || barrier(m, NULL)) {
		end_all(m, code ? code : 1);
		return;
	}
	if (m->watching) {
		atomic_store(&m->ending, true);
		pthread_join(m->watcher, NULL);
	}
	if (m->beats != MPI_COMM_NULL)
		MPI_Comm_free(&m->beats);
	MPI_Comm_free(&m->comm);
	if (m->initialized)
		MPI_Finalize();
	free(m->place);
	free(m);
	memset(ranks, 0, sizeof(*ranks));
}
