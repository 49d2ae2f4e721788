/* SPDX-License-Identifier: MIT */
/*
 * The environment of test_hostile.c: a device, hostile contexts and a well-behaved one, a thread
 * that rewrites the memory of the hostile contexts, and a driver that resets and unmaps in the
 * middle of jobs.
 */
#ifndef GTU_HOSTILE_WORLD_H
#define GTU_HOSTILE_WORLD_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <time.h>

#include "hostile.h"

#define HOSTILE		2u
#define QUEUES		3u		/* of the hostile contexts: 0 and 1 of the first, 2 of the second */
#define VALID		3u		/* queue of the well-behaved context, whose number is HOSTILE */
#define RING		(1u << FX_RING_LOG2)
#define OPCODES		0x41u
#define BURST		256u		/* words rewritten at a time */
#define APERTURE_BYTES	65536u
#define EVENTS_LOG2	4u

struct queue {
	struct fx_buffer *sq, *cq;
	uint32_t context, age;
	uint8_t opcode[RING];
	bool odd;			/* its doorbell got invalid indices: ignore its rings until a reset */
};

struct world {
	struct fx *f;
	struct hostile hostile[HOSTILE];
	struct queue queue[QUEUES + 1];
	struct fx_buffer *valid, *valid_table, *aperture, *events;
	uint32_t event_head;
	struct gtu_hw_desc asked;	/* the well-behaved context's job, while `waiting` */
	bool waiting;
	uint64_t seed, jobs, total, started, reported_at, rss_first, rss;
	uint64_t status[GTU_CPL_COUNT], done[OPCODES], swept, resets, moves, checked, valid_jobs;
	/* the rewriting thread */
	pthread_t thread;
	pthread_mutex_t lock;		/* while held, memory does not change and may be unmapped */
	bool held;			/* by the main thread */
	atomic_bool stop;
	uint64_t rewritten;
};

static inline uint64_t pick(struct world *w, uint64_t n)
{
	return test_random(&w->seed) % n;
}

/* ---- The rewriting thread -------------------------------------------------------------------- */

static inline void rewrite_one(struct world *w, uint64_t *seed)
{
	const uint64_t r = test_random(seed);
	struct hostile *l = &w->hostile[r % HOSTILE];
	const unsigned i = 1 + (r >> 8) % REGIONS;		/* not READ_ONLY; REGIONS: a submission ring */
	uint64_t value, at;

	if (i == REGIONS) {
		at = (r >> 16) % (GTU_SQ_BYTES(FX_RING_LOG2) / 8);
		if (at % 16 != 3)				/* keep the limit: jobs must end */
			((volatile uint64_t *)w->queue[(r >> 32) % QUEUES].sq->at)[at] = hostile_value(seed, 4096);
		return;
	}
	/* degrade graphs and tables only slowly */
	if (!l->region[i].mapped || ((i == GRAPH || i == TABLE) && r >> 40 & 31))
		return;
	at = (r >> 16) % ((i == BLOCKS ? 1024 : l->region[i].length) / 8) * 8;
	value = hostile_value(seed, l->region[i].length);
	if (r >> 52 & 1)		/* operands of the block: plausible keys */
		value = l->region[value % REGIONS].key | (hostile_value(seed, 64) & 0xff) << 32;
	*(volatile uint64_t *)(l->region[i].at + at) = value;
	w->rewritten++;
}

static inline void *rewrite(void *arg)
{
	static const struct timespec moment = { 0, 20000 };
	struct world *w = arg;
	uint64_t seed = w->seed ^ 0x5555;
	unsigned n;

	while (!atomic_load(&w->stop)) {
		pthread_mutex_lock(&w->lock);
		for (n = 0; n < BURST; n++)
			rewrite_one(w, &seed);
		pthread_mutex_unlock(&w->lock);
		nanosleep(&moment, NULL);
	}
	return NULL;
}

static inline void hold(struct world *w, bool held)
{
	if (held)
		pthread_mutex_lock(&w->lock);
	else
		pthread_mutex_unlock(&w->lock);
	w->held = held;
}

/* Report a failure. Stop the rewriting thread first, because it writes to this thread's stack. */
static inline void __attribute__((format(printf, 2, 3), noreturn)) fail(struct world *w, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (w->held)
		hold(w, false);
	atomic_store(&w->stop, true);
	pthread_join(w->thread, NULL);
	test_fail(__FILE__, __LINE__, "after %" PRIu64 " descriptors: %s", w->jobs, text);
}

/* ---- Driver operations ----------------------------------------------------------------------- */

static inline void command(struct world *w, uint32_t code, unsigned n, const uint64_t *arg)
{
	fx_mailbox(w->f, code, n, arg);
	if (fx_mailbox_status(w->f))
		fail(w, "mailbox command %u (%" PRIu64 ", %" PRIu64 "): status 0x%x", code, arg[0], n > 1 ? arg[1] : 0, fx_mailbox_status(w->f));
}

/* Account for a queue's restart: its pending jobs are discarded. */
static inline void queue_fresh(struct world *w, unsigned n)
{
	w->swept += w->f->queue[n].tail - w->f->queue[n].head;
	w->f->queue[n].tail = w->f->queue[n].head = 0;
	w->queue[n].age = 0;
	w->queue[n].odd = false;
	memset(w->queue[n].cq->at, 0, GTU_CQ_BYTES(FX_RING_LOG2));
	w->waiting = w->waiting && n != VALID;
}

static inline void queue_enable(struct world *w, unsigned n)
{
	const uint64_t arg[6] = { n, w->queue[n].context, w->queue[n].sq->bus, w->queue[n].cq->bus, FX_RING_LOG2 | FX_RING_LOG2 << 8,
				  n ? 0 : GTU_RING_NONE };

	queue_fresh(w, n);
	command(w, GTU_MBOX_QUEUE_ENABLE, 6, arg);
}

static inline void events_enable(struct world *w)
{
	const uint64_t arg[4] = { 0, w->events->bus, EVENTS_LOG2, 1 };

	memset(w->events->at, 0, 4u << EVENTS_LOG2);
	command(w, GTU_MBOX_EVENT_ENABLE, 4, arg);
}

static inline void context_enable(struct world *w, uint32_t context)
{
	struct fx_buffer *table = context == HOSTILE ? w->valid_table : w->hostile[context].table;
	const uint64_t arg[4] = { context, table->bus, 4, 1 + pick(w, 16) };
	unsigned n;

	command(w, GTU_MBOX_CTX_ENABLE, 4, arg);
	for (n = 0; n <= QUEUES; n++)
		if (w->queue[n].context == context)
			queue_enable(w, n);
}

static inline void queue_reset(struct world *w, unsigned n)
{
	const uint64_t arg[2] = { n };

	queue_fresh(w, n);
	command(w, GTU_MBOX_QUEUE_RESET, 1, arg);
	w->resets++;
}

static inline void device_reset(struct world *w)
{
	uint32_t c;

	if (pick(w, 2))
		gtu_dev_reset(w->f->dev);
	else
		gtu_dev_write(w->f->dev, GTU_BAR_REGS, GTU_REG_RESET, 4, GTU_RESET_KEY);
	w->resets++;
	/* no INVALIDATE is needed: the reset device has forgotten its tables */
	if (pick(w, 2)) {
		const unsigned c = pick(w, HOSTILE), i = pick(w, REGIONS);

		hold(w, true);
		region_unmap(&w->hostile[c], i, true);
		region_map(&w->hostile[c], i);
		hold(w, false);
		w->moves++;
	}
	events_enable(w);
	for (c = 0; c <= HOSTILE; c++)
		context_enable(w, c);
	gtu_dev_write(w->f->dev, GTU_BAR_REGS, GTU_PAGE_ZCM + GTU_UREG_SET(GTU_ZCM_S_ENABLE), 4, pick(w, 2));
}

/* Unmap a region and map it again, at once or later. */
static inline void region_moves(struct world *w)
{
	struct hostile *l = &w->hostile[pick(w, HOSTILE)];
	const unsigned i = pick(w, REGIONS);

	hold(w, true);
	if (l->region[i].mapped)
		region_unmap(l, i, false);
	if (pick(w, 16))
		region_map(l, i);
	hold(w, false);
	w->moves++;
}

/*
 * Rarely, between two steps of the device: a driver operation or a random doorbell or register
 * write.
 */
static inline void random_event(struct world *w)
{
	static const uint32_t unit[] = { GTU_PAGE_SCU, GTU_PAGE_IRU, GTU_PAGE_PEG, GTU_PAGE_WVR, GTU_PAGE_ZCM };
	const uint64_t r = test_random(&w->seed);
	const unsigned n = (r >> 16) % QUEUES;
	struct fx_queue *q = &w->f->queue[n];
	uint64_t arg[2] = { n, q->tail };

	switch (r % 1024) {
	case 0:
		device_reset(w);
		break;
	case 1:
		arg[0] = w->queue[n].context;
		command(w, GTU_MBOX_CTX_DISABLE, 1, arg);
		context_enable(w, (uint32_t)arg[0]);
		w->resets++;
		break;
	case 2:
		command(w, GTU_MBOX_QUEUE_DISABLE, 1, arg);
		queue_enable(w, n);
		w->resets++;
		break;
	case 3 ... 5:
		queue_reset(w, n);
		break;
	case 6 ... 9:
		region_moves(w);
		break;
	case 10 ... 13:
		w->queue[n].odd = true;
		fx_doorbell(w->f, n, GTU_DB_SUBMIT, r >> 40 & 1 ? test_random(&w->seed) :
			    ((uint64_t)(q->head + (r >> 50) % 20) << 32 | (uint32_t)(q->tail + (r >> 41) % 40)));
		break;
	case 14 ... 29:
		if (!w->queue[n].odd)
			command(w, GTU_MBOX_QUEUE_CANCEL, 2, arg);
		break;
	case 30 ... 49:
		fx_doorbell(w->f, n, GTU_DB_ARM_STREAM, (uint32_t)hostile_value(&w->seed, 64));
		break;
	case 50 ... 69:
		fx_doorbell(w->f, n, r >> 32 & 1 ? GTU_DB_ARM : GTU_DB_KICK, (uint32_t)hostile_value(&w->seed, 64));
		break;
	case 70 ... 73:
		gtu_dev_write(w->f->dev, GTU_BAR_REGS, unit[(r >> 32) % 5] + GTU_UREG_CTRL, 4, 1 + (r >> 40) % 3);
		break;
	case 74:
		gtu_dev_write(w->f->dev, GTU_BAR_REGS, GTU_PAGE_ZCM + GTU_UREG_SET(GTU_ZCM_S_ENABLE), 4, r >> 32 & 1);
		break;
	case 75 ... 84:
		gtu_dev_write(w->f->dev, GTU_BAR_REGS, GTU_REG_EVENT_HEAD(0), 4, r >> 32 & 7 ? w->event_head += 4 : (uint32_t)(r >> 35));
		break;
	case 85:
		gtu_dev_idle(w->f->dev, r >> 34);
		break;
	}
}

#endif
