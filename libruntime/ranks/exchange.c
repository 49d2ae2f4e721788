// SPDX-License-Identifier: MIT
/* Messages between ranks, and the agreement on failures. */
#include <stdlib.h>
#include <string.h>

#include "libruntime/support/clock.h"
#include "exchange.h"

#define FAILED UINT64_MAX		/* instead of a message's length */

int gtu_give_up(struct gtu_exchange *x, int rc)
{
	if (!x->ended && x->ranks.abort)
		x->ranks.abort(x->ranks.context, x->err->text);
	x->ended = true;
	return rc;
}

/* After a step in which a rank failed: all ranks get the sentence of the lowest one. */
static int share_failure(struct gtu_exchange *x, int rc)
{
	const struct gtu_ranks *r = &x->ranks;
	struct gtu_error told = { 0 }, own = *x->err;
	uint64_t lowest = rc ? r->rank : r->size;
	int failed;

	failed = r->all_reduce(r->context, GTU_MIN_U64, &lowest, 1, x->err);
	if (!failed && lowest >= r->size)
		failed = gtu_fail(x->err, GTU_ERR_FAIL, "a rank reported a failure, but none of %u has one", r->size);
	if (!failed && r->rank == lowest)
		told = own;
	if (!failed)
		failed = r->broadcast(r->context, (uint32_t)lowest, &told, sizeof(told), x->err);
	if (failed) {
		/* this rank's own sentence says more than that of the transport */
		if (rc)
			*x->err = own;
		return gtu_give_up(x, rc ? rc : failed);
	}
	x->ended = true;
	if (rc) {
		*x->err = own;
		return rc;
	}
	told.text[sizeof(told.text) - 1] = 0;
	return gtu_fail(x->err, told.code < 0 ? told.code : GTU_ERR_FAIL, "rank %llu of %u: %.400s",
			(unsigned long long)lowest, r->size, told.text);
}

int gtu_agree(struct gtu_exchange *x, int rc, uint64_t *sum, unsigned n)
{
	const struct gtu_ranks *r = &x->ranks;
	uint64_t values[1 + GTU_AGREED] = { rc != 0 };
	int failed;

	if (x->ended)
		return rc;
	memcpy(values + 1, sum, n * sizeof(*sum));
	failed = r->all_reduce(r->context, GTU_SUM_U64, values, 1 + n, rc ? NULL : x->err);
	if (failed)
		return gtu_give_up(x, rc ? rc : failed);
	if (values[0])
		return share_failure(x, rc);
	memcpy(sum, values + 1, n * sizeof(*sum));
	return 0;
}

int gtu_reduce(struct gtu_exchange *x, enum gtu_reduction how, void *value)
{
	int rc = x->ranks.all_reduce(x->ranks.context, how, value, 1, x->err);

	return rc ? gtu_give_up(x, rc) : 0;
}

/* ---- Messages ------------------------------------------------------------------------------------ */

int gtu_outbox_begin(struct gtu_outbox *o, struct gtu_exchange *x)
{
	const uint32_t size = x->ranks.size;

	*o = (struct gtu_outbox){ .size = size };
	o->to = calloc(size, sizeof(*o->to));
	o->sent = calloc(size, sizeof(*o->sent));
	o->from = calloc(size, sizeof(*o->from));
	o->send_bytes = calloc(size, sizeof(*o->send_bytes));
	o->receive_bytes = calloc(size, sizeof(*o->receive_bytes));
	o->send = calloc(size, sizeof(*o->send));
	o->receive = calloc(size, sizeof(*o->receive));
	if (o->to && o->sent && o->from && o->send_bytes && o->receive_bytes && o->send && o->receive)
		return 0;
	return gtu_fail(x->err, GTU_ERR_NOMEM, "out of memory for messages to %u ranks", size);
}

void gtu_outbox_end(struct gtu_outbox *o)
{
	uint32_t i;

	for (i = 0; o->to && i < o->size; i++)
		free(o->to[i].data);
	for (i = 0; o->sent && i < o->size; i++)
		free(o->sent[i].data);
	free(o->to);
	free(o->sent);
	free(o->from);
	free(o->send_bytes);
	free(o->receive_bytes);
	free(o->send);
	free(o->receive);
	free(o->received);
	memset(o, 0, sizeof(*o));
}

void *gtu_outbox_add(struct gtu_outbox *o, uint32_t to, uint64_t bytes)
{
	struct gtu_message *m = &o->to[to];
	char *data;

	if (m->capacity - m->bytes < bytes) {
		const uint64_t capacity = m->bytes + bytes + m->capacity / 2 + 64;

		data = realloc(m->data, capacity);
		if (!data)
			return NULL;
		m->data = data;
		m->capacity = capacity;
	}
	data = m->data + m->bytes;
	m->bytes += bytes;
	return data;
}

int gtu_outbox_full(struct gtu_exchange *x)
{
	return gtu_fail(x->err, GTU_ERR_NOMEM, "out of memory for messages to other ranks");
}

/* A rank that failed sends FAILED to all. */
int gtu_exchange_words(struct gtu_exchange *x, const uint64_t *outgoing, uint64_t *incoming, int rc)
{
	const struct gtu_ranks *r = &x->ranks;
	const uint64_t failure = FAILED;
	const void **send;
	void **receive;
	uint64_t *bytes;
	uint32_t i;
	int failed;
	bool any = rc;

	if (x->ended)
		return rc;
	send = malloc(r->size * (sizeof(*send) + sizeof(*receive) + sizeof(*bytes)));
	if (!send)
		return gtu_give_up(x, gtu_outbox_full(x));
	receive = (void **)(send + r->size);
	bytes = (uint64_t *)(receive + r->size);
	for (i = 0; i < r->size; i++) {
		bytes[i] = i == r->rank ? 0 : sizeof(*outgoing);
		send[i] = rc ? &failure : &outgoing[i];
		receive[i] = &incoming[i];
		incoming[i] = 0;
	}
	failed = r->all_to_all_v(r->context, send, bytes, receive, bytes, rc ? NULL : x->err);
	for (i = 0; i < r->size; i++)
		any |= incoming[i] == FAILED;
	free(send);
	if (failed)
		return gtu_give_up(x, rc ? rc : failed);
	return any ? share_failure(x, rc) : 0;
}

void gtu_exchange_count(struct gtu_exchange *x, enum gtu_cargo cargo, uint64_t bytes)
{
	uint64_t *counter = cargo == GTU_CARGO_VERTICES ? &x->traffic.vertex_bytes :
			    cargo == GTU_CARGO_VALUES ? &x->traffic.value_bytes : &x->traffic.edge_bytes;

	*counter += bytes;
	x->traffic.bytes += bytes;
	x->traffic.exchanges++;
}

/* The exchange has ended: no rank waits for it any more. */
static void complete(struct gtu_exchange *x, int rc)
{
	x->complete = true;
	x->rc = rc;
	x->traffic.exchange_ns += gtu_now_ns() - x->started_ns;
}

void gtu_exchange_poll(struct gtu_exchange *x)
{
	int rc;

	if (!x->under_way || x->complete)
		return;
	rc = x->ranks.finish_all_to_all_v(x->ranks.context, 0, x->err);
	if (rc)
		complete(x, rc < 0 ? rc : 0);
}

int gtu_outbox_start(struct gtu_exchange *x, struct gtu_outbox *o, enum gtu_cargo cargo, int rc)
{
	const struct gtu_ranks *r = &x->ranks;
	struct gtu_message *const sent = o->to;
	uint64_t total = 0, bytes = 0, at = 0;
	uint32_t i;

	if (x->ended)
		return rc;
	for (i = 0; i < o->size; i++)
		o->send_bytes[i] = i == r->rank ? 0 : o->to[i].bytes;
	rc = gtu_exchange_words(x, o->send_bytes, o->receive_bytes, rc);
	if (rc)
		return rc;
	for (i = 0; i < o->size; i++) {
		total += (o->receive_bytes[i] + 7) & ~7ull;
		bytes += o->send_bytes[i];
	}
	if (total > o->capacity) {
		free(o->received);
		o->received = malloc(total);
		o->capacity = o->received ? total : 0;
		/* the other ranks are about to send */
		if (!o->received)
			return gtu_give_up(x, gtu_outbox_full(x));
	}
	o->to = o->sent;
	o->sent = sent;
	for (i = 0; i < o->size; i++) {
		o->to[i].bytes = 0;
		o->send[i] = sent[i].data;
		o->receive[i] = o->from[i].data = o->received + at;
		o->from[i].bytes = o->receive_bytes[i];
		at += (o->receive_bytes[i] + 7) & ~7ull;
	}
	o->from[r->rank] = sent[r->rank];
	x->started_ns = gtu_now_ns();
	x->under_way = true;
	x->complete = false;
	if (r->start_all_to_all_v) {
		rc = r->start_all_to_all_v(r->context, o->send, o->send_bytes, o->receive, o->receive_bytes, x->err);
		if (rc)
			complete(x, rc);
	} else {
		complete(x, r->all_to_all_v(r->context, o->send, o->send_bytes, o->receive, o->receive_bytes, x->err));
	}
	x->traffic.waited_ns += gtu_now_ns() - x->started_ns;
	gtu_exchange_count(x, cargo, bytes);
	return 0;
}

int gtu_outbox_finish(struct gtu_exchange *x, struct gtu_outbox *o, int rc)
{
	const uint64_t begin = gtu_now_ns();
	int failed;

	if (!x->under_way) {
		memset(o->from, 0, o->size * sizeof(*o->from));
		return rc;
	}
	if (!x->complete) {
		failed = x->ranks.finish_all_to_all_v(x->ranks.context, 1, rc ? NULL : x->err);
		complete(x, failed < 0 ? failed : 0);
		x->traffic.waited_ns += gtu_now_ns() - begin;
	}
	x->under_way = false;
	return x->rc ? gtu_give_up(x, rc ? rc : x->rc) : rc;
}

int gtu_outbox_exchange(struct gtu_exchange *x, struct gtu_outbox *o, enum gtu_cargo cargo, int rc)
{
	rc = gtu_outbox_start(x, o, cargo, rc);
	return gtu_outbox_finish(x, o, rc);
}

int gtu_list_grow(struct gtu_list *l, struct gtu_exchange *x)
{
	const uint64_t capacity = l->capacity ? 2 * l->capacity : 1024;
	uint64_t *at = realloc(l->at, capacity * sizeof(*at));

	if (!at)
		return gtu_fail(x->err, GTU_ERR_NOMEM, "out of memory for a list of %llu vertices",
				(unsigned long long)capacity);
	l->at = at;
	l->capacity = capacity;
	return 0;
}
