// SPDX-License-Identifier: MIT
/*
 * GraphPEG's intrinsics over the rings of a stream (GraphPEG, table 1). Each engine serves one
 * warp; a lane keeps its edge until a field is popped a second time.
 */
#include <stdlib.h>
#include <string.h>

#include "libruntime/support/array.h"
#include "stream.h"

#define FIELDS 4u	/* source, destination, weight, index */
#define LANES GTU_PEG_LANES
#define NONE UINT64_MAX	/* instead of a cycle */

/* The lanes of a consumer warp. */
struct latch {
	uint64_t field[FIELDS][LANES];
	uint32_t has;			/* lanes that hold an edge */
	uint32_t consumed[FIELDS];	/* lanes whose field has been popped */
	const struct gtu_hw_warp *record; /* current record; its edges from lane `next` on are left */
	uint32_t next;
};

struct engine {
	struct gtu_hw_ring *ring;
	uint32_t taken;			/* consumer index, modulo 2^32 */
	uint32_t known;			/* producer index when the ring was last polled */
	uint32_t held;			/* records not yet released to the device: 0 or 1 */
	uint64_t next;			/* cycle of the oldest known record, or NONE */
};

struct gtu_peg {
	struct gtu_stream s;
	struct gtu_region spill;
	struct gtu_region block;	/* parameter block */
	uint32_t engines, push_size, last;
	uint64_t stride;		/* bytes from ring to ring */
	uint32_t at[FIELDS];		/* byte offset of a field in a record; 0: absent */
	bool wide[FIELDS];
	bool demand, list, over;
	/*
	 * GTU_PEG_ANY: so many records are known that no later poll can find an older one, and only
	 * engine `last` has a record to be released. 0 after any other call.
	 */
	uint32_t sure;
	struct engine engine[GTU_PEG_ENGINES_MAX];
	struct latch latch[GTU_PEG_ENGINES_MAX + 1]; /* the last one: GTU_PEG_ANY */
};

/* ---- Configuration -------------------------------------------------------------------------------- */

static int check_array(const struct gtu_array *a, const char *what, bool rest, struct gtu_error *err)
{
	if (a->key && a->width != 4 && a->width != 8)
		return gtu_fail(err, GTU_ERR_USAGE, "%s of %u bytes are not supported: use 4 or 8", what, a->width);
	if (a->count >= GTU_COUNT_TO_END && !(rest && a->count == UINT64_MAX))
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%llu %s are too many: a stream takes "
				"less than 2^32 - 1%s",
				(unsigned long long)a->count, what, rest ? ", or all to the region's end" : "");
	return 0;
}

static int check(const struct gtu_queue *q, const struct gtu_peg_config *c, struct gtu_error *err)
{
	const uint32_t flags = GTU_PEG_VERTEX_LIST | GTU_PEG_PULL | GTU_PEG_WITH_SRC | GTU_PEG_WITH_DST |
			       GTU_PEG_WITH_WEIGHT | GTU_PEG_WITH_INDEX | GTU_PEG_DEMAND |
			       GTU_PEG_BALANCE_EDGES | GTU_PEG_BALANCE_LISTS | GTU_PEG_STAND_BY;
	const uint32_t max = q->dev->info.peg[GTU_PEG_P_ENGINES];
	int rc;

	if (!(q->dev->info.units & GTU_UNIT_PEG))
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s has no PEG", q->dev->info.path);
	if (c->flags & ~flags)
		return gtu_fail(err, GTU_ERR_USAGE, "flags 0x%x of a PEG stream are unknown", c->flags & ~flags);
	if (c->engines > max)
		return gtu_fail(err, GTU_ERR_USAGE, "%u engines are too many: %s has %u", c->engines, q->dev->info.path, max);
	if (c->ring_log2 > 16)
		return gtu_fail(err, GTU_ERR_USAGE, "a ring of 2^%u records is too large: the "
				"maximum is 2^16", c->ring_log2);
	if (c->push_log2 && (c->push_log2 < 5 || c->push_log2 > 20))
		return gtu_fail(err, GTU_ERR_USAGE, "a push ring of 2^%u vertices is out of range: "
				"use 2^5 to 2^20", c->push_log2);
	rc = check_array(&c->row, "offsets", false, err);
	if (!rc)
		rc = check_array(&c->col, "edges", true, err);
	if (!rc)
		rc = check_array(&c->weight, "weights", true, err);
	if (!rc)
		rc = check_array(&c->in, "vertices of the input list", false, err);
	if (!rc)
		rc = check_array(&c->out, "vertices of the output list", false, err);
	if (rc)
		return rc;
	if ((c->in.key && c->col.key && c->in.width != c->col.width) ||
	    (c->out.key && c->out.width != (c->col.key ? c->col.width : c->in.width)))
		return gtu_fail(err, GTU_ERR_USAGE, "vertices of %u and %u bytes in the lists do "
				"not match ids of %u bytes: use one width",
				c->in.width, c->out.width, c->col.key ? c->col.width : c->in.width);
	return 0;
}

/* Compute the record layout of this stream. */
static void set_layout(struct gtu_peg *peg, const struct gtu_peg_config *c)
{
	const bool ids = (c->col.key ? c->col.width : c->in.width) == 8;
	const bool wide[FIELDS] = { ids, ids, c->weight.width == 8, c->row.width == 8 };
	uint32_t at = sizeof(struct gtu_hw_warp);

	peg->list = c->flags & GTU_PEG_VERTEX_LIST;
	for (unsigned f = 0; f < FIELDS; f++) {
		const bool there = peg->list ? !f : c->flags & GTU_PEG_WITH_SRC << f;

		peg->wide[f] = wide[f];
		peg->at[f] = there ? at : 0;
		at += there ? (wide[f] ? 256 : 128) : 0;
	}
	peg->s.record_bytes = at;
	peg->engines = c->engines ? c->engines : 1;
	peg->s.records = 1u << (c->ring_log2 ? c->ring_log2 : 8);
	peg->push_size = c->out.key ? 1u << (c->push_log2 ? c->push_log2 : 10) : 0;
	peg->stride = GTU_PEG_STRIDE(peg->s.records, at, (uint64_t)peg->push_size << (ids ? 3 : 2));
	peg->demand = c->flags & GTU_PEG_DEMAND;
}

static int start(struct gtu_peg *peg, const struct gtu_peg_config *c, struct gtu_error *err)
{
	const uint32_t id_bytes = peg->wide[0] ? 8 : 4;
	/*
	 * each engine may have a partial last line; a list that fits the output must fit here, too
	 */
	const uint64_t lines = c->out.key ? c->out.count / GTU_PEG_SPILL_IDS(id_bytes) + 1 + peg->engines : 0;
	struct gtu_hw_operand *op;
	int rc = gtu_stream_reserve(&peg->s, &peg->s.rings, peg->engines * peg->stride, err);

	if (!rc && lines)
		rc = gtu_stream_reserve(&peg->s, &peg->spill, lines * GTU_LINE_BYTES, err);
	if (!rc)
		rc = gtu_stream_reserve(&peg->s, &peg->block, GTU_PEG_OPERANDS * sizeof(*op), err);
	if (rc)
		return rc;
	peg->s.ring = peg->s.rings.addr;
	peg->sure = 0;
	memset(peg->engine, 0, sizeof(peg->engine));
	memset(peg->latch, 0, sizeof(peg->latch));
	for (unsigned e = 0; e < peg->engines; e++) {
		peg->engine[e].ring = (void *)((char *)peg->s.rings.addr + e * peg->stride);
		peg->engine[e].next = NONE;
		memset(peg->engine[e].ring, 0, sizeof(struct gtu_hw_ring));
	}
	op = peg->block.addr;
	memset(op, 0, GTU_PEG_OPERANDS * sizeof(*op));
	op[GTU_PEG_VERTICES] = gtu_stream_operand(&c->row);
	op[GTU_PEG_EDGES] = gtu_stream_operand(&c->col);
	op[GTU_PEG_WEIGHTS] = gtu_stream_operand(&c->weight);
	op[GTU_PEG_INPUT] = gtu_stream_operand(&c->in);
	op[GTU_PEG_RINGS] = (struct gtu_hw_operand){ .key = peg->s.rings.key, .count = peg->s.records };
	op[GTU_PEG_OUTPUT] = gtu_stream_operand(&c->out);
	if (lines)
		op[GTU_PEG_SPILL] = (struct gtu_hw_operand){ .key = peg->spill.key, .count = (uint32_t)lines };
	peg->s.desc = (struct gtu_hw_desc){
		.opcode = GTU_OP_PEG_STREAM,
		.flags = GTU_DESC_BLOCK,
		.param = c->flags | peg->engines << GTU_PEG_ENGINES_SHIFT | (peg->wide[0] ? GTU_PEG_IDS_8 : 0) |
			 (peg->list ? 0 : (peg->wide[3] ? GTU_PEG_OFFSETS_8 : 0) |
					  (peg->wide[2] ? GTU_PEG_WEIGHTS_8 : 0)),
		.param2 = peg->push_size ? (uint32_t)__builtin_ctz(peg->push_size) : 0,
		.imm = c->list_bytes | (uint64_t)c->edge_bytes << 32,
		.operand = { { .key = peg->block.key, .count = GTU_PEG_OPERANDS } },
	};
	return gtu_stream_start(&peg->s, "PEG stream: pop all edges and call gtu_peg_finish(), or call gtu_peg_close()",
				err);
}

int gtu_peg_configure(struct gtu_queue *q, const struct gtu_peg_config *config, struct gtu_peg **out,
		  struct gtu_error *err)
{
	struct gtu_peg *peg = *out;
	int rc = check(q, config, err);

	if (!rc)
		rc = gtu_stream_check(peg ? &peg->s : NULL, q,
				      "the stream is still running: call gtu_peg_finish() or gtu_peg_close()", err);
	if (rc)
		return rc;
	if (q->submitted != q->consumed)
		return gtu_fail(err, GTU_ERR_USAGE, "the queue still has jobs outstanding");
	if (!peg) {
		peg = calloc(1, sizeof(*peg));
		if (!peg)
			return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a stream");
		peg->s.q = q;
	}
	set_layout(peg, config);
	rc = start(peg, config, err);
	if (rc) {
		if (!*out)
			gtu_peg_close(peg);
		return rc;
	}
	peg->over = false;
	peg->last = 0;
	*out = peg;
	return 0;
}

/* ---- Records ---------------------------------------------------------------------------------------- */

/* Sleep until the rings' `changes` counter differs from @changes. */
static int wait_for_change(struct gtu_peg *peg, uint32_t changes, uint64_t *deadline, struct gtu_error *err)
{
	const struct gtu_record_wait wait = { &peg->s.ring->changes, changes };
	int rc = gtu_stream_wait(&peg->s, &wait, deadline, err);

	if (rc != GTU_ERR_TIMEOUT)
		return rc;
	return gtu_fail(err, rc,
			"a PEG stream of %s made no progress within %g s; check that all edges of its %u engines are popped",
			peg->s.q->dev->info.path, gtu_stream_timeout_s(&peg->s), peg->engines);
}

/* Return the records before the current one to engine @e. */
static void release(struct engine *e)
{
	if (e->held)
		gtu_store_release(&e->ring->consumer, e->taken);
	e->held = 0;
}

/* Set e->next, of known records. */
static void find_next(const struct gtu_peg *peg, struct engine *e)
{
	uint64_t cycle;

	e->next = NONE;
	if (e->taken == e->known)
		return;
	cycle = gtu_stream_record(&peg->s, e->ring, e->taken)->cycle;
	e->next = cycle < NONE ? cycle : NONE - 1;
}

/*
 * Poll the rings of engines [first, first + n). *ended: the number of engines that will write no
 * more records. *records: the number of records in the rings.
 */
static int poll_rings(struct gtu_peg *peg, uint32_t first, uint32_t n, bool completed, uint32_t *ended,
		      uint32_t *records, struct gtu_error *err)
{
	*ended = *records = 0;
	for (uint32_t at = first; at < first + n; at++) {
		struct engine *e = &peg->engine[at];
		const uint32_t over = gtu_load_acquire(&e->ring->ended);
		uint32_t there;
		int rc = gtu_stream_count(&peg->s, e->ring, e->taken, &there, err);

		if (rc)
			return rc;
		if (!there) {
			*ended += over || completed;
			if (peg->demand && !over)
				gtu_store_release(&e->ring->requested, e->taken + 1);
		}
		*records += there;
		e->known = e->taken + there;
		find_next(peg, e);
	}
	return 0;
}

/* The engine of [first, first + n) with the oldest known record; on a tie, the lowest. */
static uint32_t oldest_of(const struct gtu_peg *peg, uint32_t first, uint32_t n)
{
	uint64_t oldest = peg->engine[first].next;
	uint32_t best = first;

	for (uint32_t at = first + 1; at < first + n; at++) {
		const uint64_t next = peg->engine[at].next;

		best = next < oldest ? at : best;
		oldest = next < oldest ? next : oldest;
	}
	return best;
}

/*
 * Take the next record of engines [first, first + n). 1: taken; 0: all have ended; negative: an
 * error.
 */
static int next_record(struct gtu_peg *peg, uint32_t first, uint32_t n, const struct gtu_hw_warp **record,
		       uint32_t *engine, struct gtu_error *err)
{
	uint64_t deadline = 0;
	uint32_t best;
	struct engine *e;

	if (!peg->s.running)
		return 0;
	if (n > 1 && peg->sure)
		release(&peg->engine[peg->last]);
	else
		for (uint32_t i = 0; i < n; i++)
			release(&peg->engine[first + i]);
	/* threads may each have an own engine: they only read `sure`, which is 0 then */
	if (n == 1 && peg->sure)
		peg->sure = 0;
	while (n > 1 ? !peg->sure : peg->engine[first].next == NONE) {
		const uint32_t changes = gtu_load_acquire(&peg->s.ring->changes);
		const bool completed = gtu_stream_completed(&peg->s);
		uint32_t ended, there, more;
		int rc = poll_rings(peg, first, n, completed, &ended, &there, err);

		/*
		 * records have one order over all rings: if one is visible, so are all older ones,
		 * but perhaps only to a second poll. So as many as the first poll found are sure,
		 * oldest first. With DEMAND, each call requests records of all empty rings.
		 */
		if (!rc && there && n > 1) {
			rc = poll_rings(peg, first, n, completed, &ended, &more, err);
			there = there < more ? there : more;
			peg->sure = peg->demand && there ? 1 : there;
		}
		if (rc)
			return rc;
		if (there)
			break;
		/* a job that completes before its list was closed has failed */
		if (completed && peg->push_size)
			return gtu_stream_end(&peg->s, err);
		if (ended == n) {
			peg->over = true;
			return 0;
		}
		rc = wait_for_change(peg, changes, &deadline, err);
		if (rc)
			return rc;
	}
	best = oldest_of(peg, first, n);
	e = &peg->engine[best];
	*record = gtu_stream_record(&peg->s, e->ring, e->taken);
	*engine = peg->last = best;
	e->taken++;
	e->held = 1;
	find_next(peg, e);
	if (n > 1)
		peg->sure--;
	return 1;
}

static int engines_of(const struct gtu_peg *peg, uint32_t engine, uint32_t *first, uint32_t *n,
		      struct gtu_error *err)
{
	if (engine != GTU_PEG_ANY && engine >= peg->engines)
		return gtu_fail(err, GTU_ERR_USAGE, "engine %u does not exist: the stream has %u", engine, peg->engines);
	*first = engine == GTU_PEG_ANY ? 0 : engine;
	*n = engine == GTU_PEG_ANY ? peg->engines : 1;
	return 0;
}

int gtu_peg_next(struct gtu_peg *peg, uint32_t engine, struct gtu_peg_edges *edges, struct gtu_error *err)
{
	const struct gtu_hw_warp *w;
	const char *r;
	uint32_t first = 0, n = 0;
	int rc = engines_of(peg, engine, &first, &n, err);

	if (!rc)
		rc = next_record(peg, first, n, &w, &edges->engine, err);
	if (rc <= 0)
		return rc;
	r = (const char *)w;
	edges->active = w->active;
	edges->cycle = w->cycle;
	edges->src = peg->at[0] ? r + peg->at[0] : NULL;
	edges->dst = peg->at[1] ? r + peg->at[1] : NULL;
	edges->weight = peg->at[2] ? r + peg->at[2] : NULL;
	edges->index = peg->at[3] ? r + peg->at[3] : NULL;
	return 1;
}

/* ---- The intrinsics ------------------------------------------------------------------------------------ */

/* Fetch the next edge into lane @lane. 1: fetched; 0: no edge is left; negative: an error. */
static int fetch(struct gtu_peg *peg, struct latch *l, uint32_t first, uint32_t n, unsigned lane,
		 struct gtu_error *err)
{
	const uint32_t bit = 1u << lane;
	uint32_t engine;
	int rc;

	l->has &= ~bit;
	while (!l->record || l->next == LANES || !(l->record->active >> l->next & 1)) {
		if (l->record && l->next < LANES) {
			l->next++;
			continue;
		}
		l->record = NULL;
		rc = next_record(peg, first, n, &l->record, &engine, err);
		if (rc <= 0)
			return rc;
		l->next = 0;
	}
	for (unsigned f = 0; f < FIELDS; f++) {
		if (peg->at[f])
			l->field[f][lane] = gtu_get((const char *)l->record + peg->at[f], peg->wide[f] ? 8 : 4, l->next);
		l->consumed[f] &= ~bit;
	}
	l->has |= bit;
	l->next++;
	return 1;
}

static int pop(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, unsigned f, bool list,
	       uint64_t value[LANES], uint32_t *valid, struct gtu_error *err)
{
	static const char *const name[FIELDS] = { "sources", "destinations", "weights", "edge indices" };
	uint32_t first = 0, n = 0, got = 0;
	struct latch *l;
	int rc = engines_of(peg, engine, &first, &n, err);

	if (rc)
		return rc;
	if (list != peg->list)
		return gtu_fail(err, GTU_ERR_USAGE, list ? "gtu_peg_pop_vert() is for streams with GTU_PEG_VERTEX_LIST" :
							   "a stream of vertices has no edges: use "
							   "gtu_peg_pop_vert()");
	if (!peg->at[f])
		return gtu_fail(err, GTU_ERR_USAGE, "this stream was not configured to gather %s", name[f]);
	l = &peg->latch[engine == GTU_PEG_ANY ? GTU_PEG_ENGINES_MAX : engine];
	for (unsigned lane = 0; lane < LANES; lane++) {
		const uint32_t bit = 1u << lane;

		value[lane] = UINT64_MAX;
		if (!(lanes & bit))
			continue;
		if (!(l->has & bit) || l->consumed[f] & bit) {
			rc = fetch(peg, l, first, n, lane, err);
			if (rc < 0)
				return rc;
			if (!rc)
				continue;
		}
		value[lane] = l->field[f][lane];
		l->consumed[f] |= bit;
		got |= bit;
	}
	if (valid)
		*valid = got;
	return got != 0;
}

#define POP(name, field, list)                                                                     \
	int name(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, uint64_t value[LANES],      \
		 uint32_t *valid, struct gtu_error *err)                                           \
	{                                                                                          \
		return pop(peg, engine, lanes, field, list, value, valid, err);                    \
	}

POP(gtu_peg_pop_edge_src, 0, false)
POP(gtu_peg_pop_edge_dst, 1, false)
POP(gtu_peg_pop_edge_wt, 2, false)
POP(gtu_peg_pop_edge_idx, 3, false)
POP(gtu_peg_pop_vert, 0, true)

int gtu_peg_push_vert(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, const uint64_t vertex[LANES],
	      struct gtu_error *err)
{
	struct gtu_hw_ring *ring;
	uint64_t deadline = 0;
	uint32_t first = 0, n = 0;
	void *back;
	int rc = engines_of(peg, engine, &first, &n, err);

	if (rc)
		return rc;
	if (!peg->s.running || !peg->push_size)
		return gtu_fail(err, GTU_ERR_USAGE, peg->s.running ? "this stream has no output "
				"list: configure one to push" :
								   "the stream has ended: nothing "
								   "can be pushed");
	ring = peg->engine[engine == GTU_PEG_ANY ? peg->last : engine].ring;
	back = gtu_stream_returns(&peg->s, ring);
	for (unsigned lane = 0; lane < LANES; lane++) {
		const uint32_t sent = ring->returned, slot = sent & (peg->push_size - 1);

		if (!(lanes >> lane & 1))
			continue;
		for (;;) {
			const uint32_t changes = gtu_load_acquire(&peg->s.ring->changes);

			if (sent - gtu_load_acquire(&ring->received) < peg->push_size)
				break;
			if (gtu_stream_completed(&peg->s))
				return gtu_stream_end(&peg->s, err);
			rc = wait_for_change(peg, changes, &deadline, err);
			if (rc)
				return rc;
		}
		gtu_put(back, peg->wide[0] ? 8 : 4, slot, vertex[lane]);
		gtu_store_release(&ring->returned, sent + 1);
	}
	return 0;
}

int gtu_peg_finish(struct gtu_peg *peg, uint64_t *listed, struct gtu_error *err)
{
	uint64_t deadline = 0;
	int rc = 0;

	if (listed)
		*listed = 0;
	if (!peg->s.running)
		return gtu_fail(err, GTU_ERR_USAGE, "the stream has ended");
	for (unsigned e = 0; e < peg->engines; e++)
		if (!gtu_load_acquire(&peg->engine[e].ring->ended) ||
		    gtu_load_acquire(&peg->engine[e].ring->producer) != peg->engine[e].taken)
			return gtu_fail(err, GTU_ERR_USAGE, "engine %u still has edges: pop them, "
					"or call gtu_peg_close()", e);
	for (unsigned e = 0; e < peg->engines; e++)
		gtu_store_release(&peg->engine[e].ring->closed, 1);
	while (!rc && !gtu_stream_completed(&peg->s))
		rc = wait_for_change(peg, gtu_load_acquire(&peg->s.ring->changes), &deadline, err);
	if (rc)
		return rc;
	rc = gtu_stream_end(&peg->s, err);
	if (listed && peg->push_size)
		*listed = peg->s.result.needed;
	return rc;
}

const struct gtu_completion *gtu_peg_result(const struct gtu_peg *peg)
{
	return &peg->s.result;
}

void gtu_peg_close(struct gtu_peg *peg)
{
	struct gtu_device *dev;

	if (!peg)
		return;
	gtu_stream_close(&peg->s);
	dev = peg->s.q->dev;
	gtu_region_remove(dev, &peg->spill, NULL);
	gtu_region_remove(dev, &peg->block, NULL);
	free(peg);
}

GTU_PAPER_NAME(configure_peg, gtu_peg_configure);
GTU_PAPER_NAME(pop_edge_src, gtu_peg_pop_edge_src);
GTU_PAPER_NAME(pop_edge_dst, gtu_peg_pop_edge_dst);
GTU_PAPER_NAME(pop_edge_idx, gtu_peg_pop_edge_idx);
GTU_PAPER_NAME(pop_edge_wt, gtu_peg_pop_edge_wt);
GTU_PAPER_NAME(pop_vert, gtu_peg_pop_vert);
GTU_PAPER_NAME(push_vert, gtu_peg_push_vert);
