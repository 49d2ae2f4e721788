// SPDX-License-Identifier: MIT
/* The SCU's pipeline and coalescing units (SCU, figures 7 and 8) over a memory that is accessed by requests. */
#include "scu_pipe.h"

#include <stdlib.h>
#include <string.h>

#define BEATS		(1u << 14)	/* in the pipeline at once; a power of two */
#define ACCESSES	(1u << 17)	/* of all beats in the pipeline; a power of two */
#define ACCESSES_MAX		2048u		/* accesses of a beat, per stage */
#define TICKETS		(1u << 17)	/* outstanding requests: range of the tags */
#define MERGE_MAX	64u
#define SLOTS		16u
#define BUCKETS		1024u		/* of the outstanding requests, by line */
#define NO_TICKET	UINT32_MAX

struct access {
	uint64_t line;
	uint32_t ticket;
	uint8_t sectors, slot;
};

struct beat {
	uint32_t end[SCU_STAGES];	/* end of each stage's accesses; a stage's begin is the previous stage's end */
	uint32_t begin, cycles, vector_bytes;
};

struct recent {
	uint64_t line;
	uint32_t ticket;
	uint8_t sectors;
};

struct coalescer {
	struct recent recent[MERGE_MAX]; /* ring of the last accesses */
	uint32_t at, in_flight;
	bool full;			/* since the last scu_pipe_run() */
	uint32_t bucket[BUCKETS];	/* outstanding requests of a line, newest first: their tags + 1 */
};

struct scu_pipe {
	struct scu_pipe_shape shape;
	struct scu_pipe_port port;
	struct scu_pipe_counts counts;
	uint32_t space[SCU_STAGES];	/* capacity in beats between a stage and the next */

	uint64_t begun, now, wanted;
	bool running, last;		/* last: the operation has no more beats */
	uint32_t made;			/* beats created; below: beats that have passed each stage */
	uint32_t passed[SCU_STAGES];
	uint64_t ready[SCU_STAGES];	/* earliest cycle of each stage's next beat */
	uint32_t requested[SCU_STAGES], there[SCU_STAGES]; /* next access to request; next reply to check at the following stage */
	uint32_t vector_bytes;		/* in the vector buffer */
	uint32_t accesses;		/* created */

	struct coalescer unit[2];
	struct recent vector[SLOTS];	/* current line of each vector */
	struct { uint64_t line; uint8_t sectors; } open[MERGE_MAX]; /* writes not yet sent, oldest first */
	uint32_t opened, writing;
	uint32_t ticket;

	/* the beat that is being created */
	struct access stage[SCU_STAGES][ACCESSES_MAX];
	uint32_t staged[SCU_STAGES], staged_bytes;

	struct beat beat[BEATS];
	struct access access[ACCESSES];
	uint8_t answered[TICKETS], unit_of[TICKETS]; /* coalescing unit of the request; 2: a write */
	struct request { uint64_t line; uint32_t next; uint32_t merged; uint8_t sectors; } request[TICKETS];
};

const char *scu_pipe_check(const struct scu_pipe_shape *s)
{
	if (!s->width || s->width > 32)
		return "the SCU's width is 1 to 32 elements a cycle";
	if (!s->merge || s->merge > MERGE_MAX)
		return "the SCU's merge window is 1 to 64 elements";
	if (s->in_flight_merge > 4096)
		return "the SCU's requests in flight answer at most 4096 accesses";
	if (!s->in_flight || s->in_flight > 4096)
		return "the SCU's coalescing units hold 1 to 4096 requests";
	if (!s->entry_bytes || s->fifo_bytes / s->entry_bytes < s->width || s->hash_bytes / s->entry_bytes < s->width)
		return "the SCU's buffers hold a cycle's elements at least";
	if (s->fifo_bytes / s->entry_bytes / s->width > BEATS / 4 || s->hash_bytes / s->entry_bytes / s->width > BEATS / 8)
		return "the SCU's FIFO holds at most 4096 cycles' elements, its hash buffer at most 2048";
	return s->vector_bytes >= 128 ? NULL : "the SCU's vector buffer has 128 bytes or more";
}

struct scu_pipe *scu_pipe_create(const struct scu_pipe_shape *s, const struct scu_pipe_port *port)
{
	struct scu_pipe *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->shape = *s;
	p->port = *port;
	p->space[SCU_VECTOR] = p->space[SCU_DATA] = s->fifo_bytes / s->entry_bytes / s->width;
	p->space[SCU_FILTER] = p->space[SCU_GROUP] = s->hash_bytes / s->entry_bytes / s->width;
	return p;
}

void scu_pipe_free(struct scu_pipe *p)
{
	free(p);
}

const struct scu_pipe_counts *scu_pipe_counts(const struct scu_pipe *p)
{
	return &p->counts;
}

void scu_pipe_start(struct scu_pipe *p, uint64_t cycle)
{
	unsigned s;

	p->begun = p->now = cycle;
	p->running = true;
	p->last = false;
	for (s = 0; s < SCU_STAGES; s++)
		p->ready[s] = cycle;
	/* the windows hold lines of the previous operation, which may have been written since */
	memset(p->vector, 0, sizeof(p->vector));
	memset(p->unit[0].recent, 0, sizeof(p->unit[0].recent));
	memset(p->unit[1].recent, 0, sizeof(p->unit[1].recent));
}

bool scu_pipe_ended(const struct scu_pipe *p)
{
	return !p->running;
}

/* ---- Requests ---------------------------------------------------------------------------------- */

static uint32_t *bucket_of(struct scu_pipe *p, unsigned unit, uint64_t line)
{
	return &p->unit[unit].bucket[(line ^ line >> 10) % BUCKETS];
}

/* Let the access wait for the newest outstanding request of its sectors that can answer one more. */
static bool merge_in_flight(struct scu_pipe *p, unsigned unit, struct access *a)
{
	struct request *r;
	uint32_t i;

	for (i = p->shape.in_flight_merge ? *bucket_of(p, unit, a->line) : 0; i; i = r->next) {
		r = &p->request[i - 1];
		if (r->line != a->line || a->sectors & ~r->sectors || r->merged == p->shape.in_flight_merge)
			continue;
		r->merged++;
		a->ticket = i - 1;
		return true;
	}
	return false;
}

static void note_sent(struct scu_pipe *p, unsigned unit, uint32_t tag, uint64_t line, unsigned sectors)
{
	uint32_t *bucket = bucket_of(p, unit, line);

	p->request[tag] = (struct request){ line, *bucket, 1, (uint8_t)sectors };
	*bucket = tag + 1;
}

static void note_answered(struct scu_pipe *p, uint32_t tag)
{
	uint32_t *i = bucket_of(p, p->unit_of[tag], p->request[tag].line);

	while (*i != tag + 1)
		i = &p->request[*i - 1].next;
	*i = p->request[tag].next;
}

static uint32_t send(struct scu_pipe *p, unsigned unit, uint64_t line, unsigned sectors)
{
	uint32_t ticket = p->ticket++ % TICKETS;

	p->answered[ticket] = 0;
	p->unit_of[ticket] = (uint8_t)unit;
	if (unit == 2) {
		p->writing++;
		p->counts.writes++;
	} else {
		p->unit[unit].in_flight++;
		p->counts.reads++;
		note_sent(p, unit, ticket, line, sectors);
	}
	p->port.send(p->port.ctx, ticket, line * GTU_LINE_BYTES, sectors, unit == 2);
	return ticket;
}

void scu_pipe_reply(struct scu_pipe *p, uint32_t tag)
{
	p->answered[tag] = 1;
	if (p->unit_of[tag] == 2) {
		p->writing--;
	} else {
		p->unit[p->unit_of[tag]].in_flight--;
		note_answered(p, tag);
	}
}

static bool has_space(struct scu_pipe *p, unsigned unit)
{
	if (p->unit[unit].in_flight < p->shape.in_flight)
		return true;
	p->unit[unit].full = true;
	return false;
}

/* Request each line of a vector once, whole. False: the coalescing unit has no space. */
static bool request_vector(struct scu_pipe *p, struct access *a)
{
	struct recent *v = &p->vector[a->slot];

	if (v->line != a->line || !v->sectors) {
		if (!has_space(p, 0))
			return false;
		*v = (struct recent){ a->line, 0, a->sectors };
		v->ticket = send(p, 0, a->line, a->sectors);
		p->counts.read_accesses++;
	}
	a->ticket = v->ticket;
	return true;
}

/*
 * Merge the access with recent accesses to the same line, and request only the sectors that they did not.
 * The earlier requests belong to beats that are ahead in the same stage, so only the latest one is waited for.
 */
static bool request_coalesced(struct scu_pipe *p, unsigned unit, struct access *a)
{
	struct coalescer *c = &p->unit[unit];
	unsigned i, sectors = a->sectors;

	a->ticket = NO_TICKET;
	for (i = 0; i < p->shape.merge; i++) {
		const struct recent *r = &c->recent[i];

		if (r->line == a->line && r->sectors & sectors) {
			sectors &= ~(unsigned)r->sectors;
			a->ticket = r->ticket;
		}
	}
	if (sectors && !merge_in_flight(p, unit, a)) {
		if (!has_space(p, unit))
			return false;
		a->ticket = send(p, unit, a->line, sectors);
	}
	p->counts.read_accesses++;
	c->recent[c->at] = (struct recent){ a->line, a->ticket, a->sectors };
	c->at = (c->at + 1) % p->shape.merge;
	return true;
}

static void close_write(struct scu_pipe *p)
{
	send(p, 2, p->open[0].line, p->open[0].sectors);
	memmove(p->open, p->open + 1, --p->opened * sizeof(p->open[0]));
}

static void put(struct scu_pipe *p, const struct access *a)
{
	unsigned i;

	for (i = 0; i < p->opened; i++) {
		if (p->open[i].line == a->line) {
			p->open[i].sectors |= a->sectors;
			return;
		}
	}
	if (p->opened == p->shape.merge)
		close_write(p);
	p->open[p->opened].line = a->line;
	p->open[p->opened++].sectors = a->sectors;
}

/* ---- Beats ------------------------------------------------------------------------------------- */

void scu_pipe_access(struct scu_pipe *p, enum scu_stage stage, unsigned slot, uint64_t addr, uint64_t bytes, uint64_t limit)
{
	uint64_t line = addr / GTU_LINE_BYTES, last = (addr + bytes - 1) / GTU_LINE_BYTES;

	/* sequential data and costs are bounded by the FIFO, not by the vector buffer */
	if (stage == SCU_VECTOR && slot != GTU_SCU_DATA && slot != GTU_SCU_COST_GATHERED)
		p->staged_bytes += (uint32_t)bytes;
	for (; line <= last && p->staged[stage] < ACCESSES_MAX; line++) {
		uint64_t from = line * GTU_LINE_BYTES, to = from + GTU_LINE_BYTES;
		unsigned low, high;

		if (stage > SCU_DATA) {
			from = addr > from ? addr : from;
			to = addr + bytes < to ? addr + bytes : to;
		} else {
			to = limit < to ? limit : to;
		}
		low = from % GTU_LINE_BYTES / GTU_SECTOR_BYTES;
		high = (to - 1) % GTU_LINE_BYTES / GTU_SECTOR_BYTES;
		p->stage[stage][p->staged[stage]++] = (struct access){
			.line = line, .sectors = (uint8_t)((2u << high) - (1u << low)), .slot = (uint8_t)slot,
		};
	}
}

/* Create the operation's next beat and append it. */
static void make(struct scu_pipe *p)
{
	struct beat *b = &p->beat[p->made % BEATS];
	unsigned s, i;

	memset(p->staged, 0, sizeof(p->staged));
	p->staged_bytes = 0;
	b->begin = p->accesses;
	p->last = !p->port.beat(p->port.ctx, p, &b->cycles);
	if (p->last)
		return;
	for (s = 0; s < SCU_STAGES; s++) {
		for (i = 0; i < p->staged[s]; i++)
			p->access[p->accesses++ % ACCESSES] = p->stage[s][i];
		b->end[s] = p->accesses;
	}
	b->vector_bytes = p->staged_bytes;
	p->made++;
	p->counts.beats++;
}

static bool space_for_another(const struct scu_pipe *p)
{
	const uint32_t oldest = p->passed[SCU_WRITE];

	return p->made - oldest < BEATS &&
	       p->accesses - (p->made == oldest ? p->accesses : p->beat[oldest % BEATS].begin) < ACCESSES - SCU_STAGES * ACCESSES_MAX;
}

static void want(struct scu_pipe *p, uint64_t cycle)
{
	p->wanted = cycle < p->wanted ? cycle : p->wanted;
}

static uint32_t stage_begin(const struct beat *b, unsigned s)
{
	return s ? b->end[s - 1] : b->begin;
}

/* Have all replies to the previous stage's requests arrived? */
static bool arrived(struct scu_pipe *p, unsigned s, const struct beat *b)
{
	const uint32_t begin = stage_begin(b, s - 1);

	if ((int32_t)(p->there[s] - begin) < 0)
		p->there[s] = begin;
	for (; p->there[s] != b->end[s - 1]; p->there[s]++)
		if (!p->answered[p->access[p->there[s] % ACCESSES].ticket])
			return false;
	return true;
}

/* Send the stage's requests for the beat. False: a coalescing unit has no space. */
static bool request_all(struct scu_pipe *p, unsigned s, const struct beat *b)
{
	const uint32_t begin = stage_begin(b, s);

	if ((int32_t)(p->requested[s] - begin) < 0)
		p->requested[s] = begin;
	for (; p->requested[s] != b->end[s]; p->requested[s]++) {
		struct access *a = &p->access[p->requested[s] % ACCESSES];

		if (s == SCU_WRITE)
			put(p, a);
		else if (s == SCU_VECTOR ? !request_vector(p, a) : !request_coalesced(p, s > SCU_DATA, a))
			return false;
	}
	return true;
}

/* Advance a stage by one beat. False: it has none, or waits. */
static bool step(struct scu_pipe *p, unsigned s)
{
	const uint32_t n = p->passed[s];
	struct beat *b = &p->beat[n % BEATS];

	if (n == (s ? p->passed[s - 1] : p->made))
		return false;
	if (p->now < p->ready[s]) {
		want(p, p->ready[s]);
		return false;
	}
	if (s && !arrived(p, s, b))
		return false;
	if (s < SCU_WRITE && n - p->passed[s + 1] >= p->space[s])
		return false;
	if (s == SCU_VECTOR && p->vector_bytes && p->vector_bytes + b->vector_bytes > p->shape.vector_bytes)
		return false;
	if (!request_all(p, s, b))
		return false;
	if (s == SCU_VECTOR)
		p->vector_bytes += b->vector_bytes;
	if (s == SCU_DATA)
		p->vector_bytes -= b->vector_bytes;
	p->passed[s]++;
	p->ready[s] = p->now + b->cycles;
	return true;
}

uint64_t scu_pipe_run(struct scu_pipe *p, uint64_t cycle)
{
	bool moved;
	unsigned s;

	if (!p->running)
		return UINT64_MAX;
	for (s = 0; s < 2; s++) {
		p->counts.full[s] += p->unit[s].full ? cycle - p->now : 0;
		p->unit[s].full = false;
	}
	p->now = cycle;
	p->wanted = UINT64_MAX;
	do {				/* a stage that frees space lets the previous one proceed in the same cycle */
		moved = false;
		if (!p->last && p->made == p->passed[SCU_VECTOR] && space_for_another(p))
			make(p);
		for (s = 0; s < SCU_STAGES; s++)
			moved |= step(p, s);
	} while (moved);
	if (p->last && p->passed[SCU_WRITE] == p->made) {
		while (p->opened)
			close_write(p);
		if (cycle < p->ready[SCU_WRITE]) {
			want(p, p->ready[SCU_WRITE]);
		} else if (!p->writing) {
			p->running = false;
			p->counts.cycles += cycle - p->begun;
		}
	}
	return p->wanted;
}
