// SPDX-License-Identifier: MIT
/*
 * GraphPEG's output lists in a device: pushes from the return rings, off-chip vertices in lines of
 * the SPILL operand, and at the end one list of all engines in OUTPUT.
 *
 * The lines of a list are linked from the last one backwards. The links are in memory that the user
 * may modify: each is checked when it is followed, and the number of links to follow is known on
 * chip.
 */
#include "peg.h"

#define BATCH STREAM_BATCH

static struct peg_unit *unit_of(const struct gtu_job *job)
{
	return job->page->state;
}

static unsigned id_bytes(const struct peg_unit *u)
{
	return 1u << u->core->stream.id_log2;
}

static struct gtu_mem *spill_of(const struct peg_unit *u)
{
	return &u->job->mem[GTU_PEG_SPILL];
}

/* ---- Ids in memory --------------------------------------------------------------------------- */

static bool load_ids(struct gtu_mem *m, uint64_t byte, unsigned width, uint64_t *id, unsigned n)
{
	uint32_t narrow[BATCH];

	if (width == 8)
		return gtu_mem_load(m, byte, id, 8 * (uint64_t)n);
	if (!gtu_mem_load(m, byte, narrow, 4 * (uint64_t)n))
		return false;
	for (unsigned i = 0; i < n; i++)
		id[i] = narrow[i];
	return true;
}

static bool store_ids(struct gtu_mem *m, uint64_t byte, unsigned width, const uint64_t *id, unsigned n)
{
	uint32_t narrow[BATCH];

	if (m->monitored)
		gtu_watch_stream(m, byte, (uint64_t)width * n, unit_of(m->job)->core->cycle);
	if (width == 8)
		return gtu_mem_store(m, byte, id, 8 * (uint64_t)n);
	for (unsigned i = 0; i < n; i++)
		narrow[i] = (uint32_t)id[i];
	return gtu_mem_store(m, byte, narrow, 4 * (uint64_t)n);
}

/* ---- Off-chip lines -------------------------------------------------------------------------- */

/* The link of @line; false if memory failed or the link is not a line. */
static bool link_of(struct peg_unit *u, uint32_t line, uint32_t *link)
{
	struct gtu_mem *m = spill_of(u);
	uint64_t value;

	if (!gtu_mem_load(m, (uint64_t)(line - 1) * GTU_LINE_BYTES, &value, sizeof(value)))
		return false;
	if (value > u->fresh) {
		u->job->needed = value;
		return gtu_job_error(u->job, GTU_CPL_INDEX, GTU_PEG_SPILL, line - 1), false;
	}
	*link = (uint32_t)value;
	return true;
}

static bool set_link(struct peg_unit *u, uint32_t line, uint32_t link)
{
	const uint64_t value = link;

	return gtu_mem_store(spill_of(u), (uint64_t)(line - 1) * GTU_LINE_BYTES, &value, sizeof(value));
}

static uint64_t ids_at(const struct peg_unit *u, uint32_t line, unsigned i)
{
	return (uint64_t)(line - 1) * GTU_LINE_BYTES + GTU_PEG_SPILL_LINK + (uint64_t)i * id_bytes(u);
}

/* Append a line to engine @n's list; *line is 0 if none is free. */
static bool new_line(struct peg_unit *u, unsigned n, uint32_t *line)
{
	const uint64_t lines = spill_of(u)->key ? spill_of(u)->count : 0;

	if (u->empty) {
		*line = u->empty;
		if (!link_of(u, *line, &u->empty))
			return false;
	} else if (u->fresh < lines) {
		*line = ++u->fresh;
	} else {
		*line = 0;
		return true;
	}
	return set_link(u, *line, u->tail[n]);
}

bool peg_spill(void *ctx, unsigned n, const uint64_t *vertex, unsigned count)
{
	struct peg_unit *u = ctx;
	const unsigned per_line = GTU_PEG_SPILL_IDS(id_bytes(u));

	while (count && !u->lost) {
		unsigned k;

		if (!u->tail[n] || u->in_tail[n] == per_line) {
			uint32_t line;

			if (!new_line(u, n, &line))
				return false;
			if (!line) {
				u->lost = true;
				break;
			}
			u->tail[n] = line;
			u->in_tail[n] = 0;
		}
		k = per_line - u->in_tail[n];
		k = k < count ? k : count;
		if (!store_ids(spill_of(u), ids_at(u, u->tail[n], u->in_tail[n]), id_bytes(u), vertex, k))
			return false;
		u->in_tail[n] += k;
		vertex += k;
		count -= k;
	}
	return true;
}

bool peg_unspill(void *ctx, unsigned n, uint64_t *vertex, unsigned count)
{
	struct peg_unit *u = ctx;

	while (count) {
		const uint32_t line = u->tail[n];
		uint32_t before;
		unsigned k;

		if (u->lost || !line) {	/* the job will fail with OVERFLOW: only the count matters */
			memset(vertex, 0, count * sizeof(*vertex));
			return true;
		}
		k = u->in_tail[n] < count ? u->in_tail[n] : count;
		if (!load_ids(spill_of(u), ids_at(u, line, u->in_tail[n] - k), id_bytes(u),
			      vertex + count - k, k))
			return false;
		u->in_tail[n] -= k;
		count -= k;
		if (u->in_tail[n])
			continue;
		if (!link_of(u, line, &before) || !set_link(u, line, u->empty))
			return false;
		u->empty = line;
		u->tail[n] = before;
		u->in_tail[n] = before ? GTU_PEG_SPILL_IDS(id_bytes(u)) : 0;
	}
	return true;
}

/* ---- Pushes ---------------------------------------------------------------------------------- */

static bool push(struct gtu_job *job, unsigned n, uint64_t byte, unsigned count)
{
	struct peg_unit *u = unit_of(job);
	struct gtu_mem *ring = &job->mem[GTU_PEG_RINGS];
	uint64_t vertex[BATCH];

	if (ring->monitored)
		gtu_watch_stream(ring, byte, (uint64_t)count * id_bytes(u), u->core->cycle);
	return load_ids(ring, byte, id_bytes(u), vertex, count) && peg_core_push(u->core, n, vertex, count);
}

static bool take(struct gtu_job *job, struct peg_unit *u, struct gtu_stream *s, unsigned n)
{
	uint32_t entries;
	bool closed;

	if (!stream_returned(s, n, u->received[n], &entries, &closed))
		return false;
	if (entries && u->closed >> n & 1) {
		job->needed = u->received[n] + entries;
		return gtu_job_error(job, GTU_CPL_INDEX, GTU_PEG_RINGS, 0), false;
	}
	if (!stream_receive(s, n, &u->received[n], entries, push))
		return false;
	s->moved |= closed && !(u->closed >> n & 1);
	u->closed |= (uint32_t)closed << n;
	return true;
}

bool peg_take_pushes(struct gtu_job *job, struct peg_unit *u, struct gtu_stream *s)
{
	for (unsigned n = 0; s->return_size && n < s->rings; n++)
		if (!take(job, u, s, n))
			return false;
	return true;
}

/* ---- The output list ------------------------------------------------------------------------- */

/* Write vertices from index @to of OUTPUT on, up to its end. */
static bool write_out(struct peg_unit *u, uint64_t to, const uint64_t *vertex, unsigned n)
{
	struct gtu_mem *m = &u->job->mem[GTU_PEG_OUTPUT];

	if (to >= m->count)
		return true;
	n = n < m->count - to ? n : (unsigned)(m->count - to);
	return store_ids(m, to * id_bytes(u), id_bytes(u), vertex, n);
}

static bool flush_chip(struct peg_unit *u, const struct peg_engine *e)
{
	const unsigned per_line = GTU_LINE_BYTES / id_bytes(u);
	uint64_t vertex[GTU_LINE_BYTES / 4];
	unsigned k = e->out.count - u->flush_at;

	k = k < per_line ? k : per_line;
	for (unsigned i = 0; i < k; i++)
		vertex[i] = peg_list_get(u->core, &e->out, u->flush_at + i);
	if (!write_out(u, u->flush_base + u->flush_at, vertex, k))
		return false;
	u->flush_at += k;
	return true;
}

/* Write the last unwritten line, in front of those already written. */
static bool flush_line(struct peg_unit *u, const struct peg_engine *e)
{
	uint64_t vertex[GTU_LINE_BYTES / 4];
	unsigned k = GTU_PEG_SPILL_IDS(id_bytes(u));

	if (u->flush_left == e->spilled)
		k = u->in_tail[u->flush_engine];
	k = k < u->flush_left ? k : (unsigned)u->flush_left;
	if (!u->flush_line || !k) {
		u->job->needed = u->flush_line;	/* the user has modified a link */
		return gtu_job_error(u->job, GTU_CPL_INDEX, GTU_PEG_SPILL, 0), false;
	}
	if (!load_ids(spill_of(u), ids_at(u, u->flush_line, 0), id_bytes(u), vertex, k))
		return false;
	u->flush_left -= k;
	if (!write_out(u, u->flush_base + e->out.count + u->flush_left, vertex, k))
		return false;
	return link_of(u, u->flush_line, &u->flush_line);
}

/* Total number of vertices, and number of SPILL lines that hold the off-chip ones. */
static uint64_t pushed(const struct peg_unit *u, uint64_t *lines)
{
	const unsigned per_line = GTU_PEG_SPILL_IDS(id_bytes(u));
	uint64_t sum = 0;

	*lines = 0;
	for (unsigned n = 0; n < u->core->stream.engines; n++) {
		sum += peg_core_pushed(u->core, n);
		*lines += (u->core->engine[n].spilled + per_line - 1) / per_line;
	}
	return sum;
}

/* Go on with engine @n, if there is one. */
static void flush_next(struct peg_unit *u, unsigned n)
{
	u->flush_engine = n;
	u->flush_at = 0;
	if (n == u->core->stream.engines)
		return;
	u->flush_left = u->core->engine[n].spilled;
	u->flush_line = u->tail[n];
}

bool peg_flush(struct gtu_job *job, struct peg_unit *u, uint64_t until)
{
	uint64_t lines, sum;

	if (!u->flushing) {
		u->flushing = true;
		sum = pushed(u, &lines);
		job->needed = sum;
		if (u->lost) {
			job->needed = lines;
			return gtu_job_error(job, GTU_CPL_OVERFLOW, GTU_PEG_SPILL, 0), true;
		}
		u->flush_cycles = lines ? gtu_job_latency(job, GTU_PEG_P_LATENCY) : 0;
		flush_next(u, 0);
	}
	while (u->flush_engine < u->core->stream.engines) {
		const struct peg_engine *e = &u->core->engine[u->flush_engine];

		if (u->flush_at == e->out.count && !u->flush_left) {
			u->flush_base += e->out.count + e->spilled;
			flush_next(u, u->flush_engine + 1);
			continue;
		}
		if (u->core->cycle + u->flush_cycles >= until)
			return false;
		if (!(u->flush_at < e->out.count ? flush_chip(u, e) : flush_line(u, e)))
			return true;
		u->flush_cycles++;
	}
	sum = pushed(u, &lines);
	if (sum > job->mem[GTU_PEG_OUTPUT].count)
		gtu_job_error(job, GTU_CPL_OVERFLOW, GTU_PEG_OUTPUT, 0);
	return true;
}
