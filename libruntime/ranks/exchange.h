/* SPDX-License-Identifier: MIT */
/*
 * Messages between ranks on top of struct gtu_ranks. An exchange also carries failures: a rank that
 * failed sends this fact instead of data, and then all ranks return its sentence. Between two
 * exchanges a rank therefore keeps its return code and passes it to the next one.
 */
#ifndef GTU_RANKS_EXCHANGE_H
#define GTU_RANKS_EXCHANGE_H

#include <stdbool.h>
#include <string.h>

#include "gtu/ranks.h"

struct gtu_exchange {
	struct gtu_ranks ranks;
	struct gtu_ranks_traffic traffic;
	struct gtu_error *err;
	enum gtu_ranks_exchange way;	/* of GPUs */
	bool ended;			/* all ranks have returned from an error, or the transport has failed */
	/* between gtu_outbox_start() and gtu_outbox_finish(): */
	bool under_way, complete;
	uint64_t started_ns;
	int rc;				/* of the exchange under way */
};

/*
 * A vertex id of @bytes, 4 or 8, in a message, which aligns neither. memcpy() of a variable size would be a
 * call for each id, and a load of 8 bytes after it would wait for a store of 4.
 */
static inline uint64_t gtu_load_id(const void *at, uint32_t bytes)
{
	uint32_t half;
	uint64_t id;

	if (bytes == 8) {
		memcpy(&id, at, 8);
		return id;
	}
	memcpy(&half, at, 4);
	return half;
}

static inline void gtu_store_id(void *at, uint32_t bytes, uint64_t id)
{
	const uint32_t half = (uint32_t)id;

	if (bytes == 8)
		memcpy(at, &id, 8);
	else
		memcpy(at, &half, 4);
}

/* The content of a message, for the traffic's counters. */
enum gtu_cargo { GTU_CARGO_VERTICES, GTU_CARGO_VALUES, GTU_CARGO_EDGES };

/*
 * End a step: @rc is this rank's code, and *x->err has its sentence. 0 if no rank failed; else @rc, or
 * the code of a rank that failed, with its sentence. The @n members of sum[], at most GTU_AGREED, are
 * added up over the ranks.
 */
#define GTU_AGREED 8
int gtu_agree(struct gtu_exchange *x, int rc, uint64_t *sum, unsigned n);
/* all_reduce() of @value after gtu_agree(). */
int gtu_reduce(struct gtu_exchange *x, enum gtu_reduction how, void *value);
/*
 * After a failure that the other ranks do not know of: end the exchange for them. gtu_agree() and
 * gtu_outbox_exchange() do so if the transport fails.
 */
int gtu_give_up(struct gtu_exchange *x, int rc);

/*
 * incoming[r] = outgoing[] for this rank on rank r; of this rank itself 0. UINT64_MAX is not a word. @rc as for
 * gtu_agree().
 */
int gtu_exchange_words(struct gtu_exchange *x, const uint64_t *outgoing, uint64_t *incoming, int rc);
/* Add @bytes that this rank sent to the traffic. */
void gtu_exchange_count(struct gtu_exchange *x, enum gtu_cargo cargo, uint64_t bytes);

/* Say that this rank works, or that it is about to wait for something else than another rank. */
static inline void gtu_beat(struct gtu_exchange *x, bool working)
{
	if (x->ranks.beat)
		x->ranks.beat(x->ranks.context, working);
}

/* In a loop over many: say so at some of the @i. */
static inline void gtu_beat_at(struct gtu_exchange *x, uint64_t i)
{
	if (!(i & 0xffff))
		gtu_beat(x, true);
}

/* A growing message to each rank, and the messages received. */
struct gtu_message {
	char *data;
	uint64_t bytes, capacity;
};

struct gtu_outbox {
	uint32_t size;
	struct gtu_message *to;		/* by rank */
	struct gtu_message *sent;	/* by rank; those of the exchange under way */
	struct gtu_message *from;	/* by rank; of this rank itself: its message to itself */
	uint64_t *send_bytes, *receive_bytes;
	const void **send;
	void **receive;
	char *received;			/* memory of from[] */
	uint64_t capacity;
};

int gtu_outbox_begin(struct gtu_outbox *o, struct gtu_exchange *x);
void gtu_outbox_end(struct gtu_outbox *o);
/* Space for @bytes more to rank @to; NULL: out of memory. */
void *gtu_outbox_add(struct gtu_outbox *o, uint32_t to, uint64_t bytes);
/* Report that gtu_outbox_add() had no memory. */
int gtu_outbox_full(struct gtu_exchange *x);
/*
 * Send all messages and receive o->from[]; then to[] is empty. If a rank failed, nothing is sent and the
 * result is that of gtu_agree().
 */
int gtu_outbox_exchange(struct gtu_exchange *x, struct gtu_outbox *o, enum gtu_cargo cargo, int rc);
/*
 * The same in two steps. After the first one to[] is empty and may be filled, while the messages are under
 * way; before the second one no other function of @x is called. The second one without the first: nothing
 * was received. It returns @rc, unless the exchange fails.
 */
int gtu_outbox_start(struct gtu_exchange *x, struct gtu_outbox *o, enum gtu_cargo cargo, int rc);
int gtu_outbox_finish(struct gtu_exchange *x, struct gtu_outbox *o, int rc);
/* Let an exchange under way make progress. */
void gtu_exchange_poll(struct gtu_exchange *x);

/* A list of vertices that grows. */
struct gtu_list {
	uint64_t *at, count, capacity;
};
int gtu_list_grow(struct gtu_list *l, struct gtu_exchange *x);
static inline int gtu_list_push(struct gtu_list *l, uint64_t v, struct gtu_exchange *x)
{
	int rc = l->count == l->capacity ? gtu_list_grow(l, x) : 0;

	if (!rc)
		l->at[l->count++] = v;
	return rc;
}

/* Threads of one process as ranks. (threads.c) */
struct gtu_thread_ranks;
struct gtu_thread_ranks *gtu_thread_ranks_create(uint32_t size, struct gtu_error *err);
void gtu_thread_ranks_destroy(struct gtu_thread_ranks *t);
/* The functions of rank @rank. */
void gtu_thread_ranks_of(struct gtu_thread_ranks *t, uint32_t rank, struct gtu_ranks *ranks);

#endif
