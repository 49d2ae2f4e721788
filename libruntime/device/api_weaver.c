// SPDX-License-Identifier: MIT
/*
 * The four Weaver instructions over a stream of warp records (SparseWeaver, table II).
 * Registrations are collected in rounds; the first request for work submits them to the device.
 */
#include <stdlib.h>
#include <string.h>

#include "stream.h"

#define LANES 32u

enum field { VID, EID, TARGET, WEIGHT, FIELDS };

struct gtu_weaver {
	struct gtu_stream s;
	struct gtu_region table_region;
	struct gtu_hw_registration *table;
	uint32_t skip_size, entries, warps;
	uint32_t taken;			/* consumer index, modulo 2^32 */
	uint32_t round, rounds;		/* current round; rounds of the running job */
	uint32_t n, first;		/* registrations collected; first one of the open round */
	bool has[FIELDS], wide[FIELDS];	/* fields of the records; lanes of 8 bytes */
	bool demand;
	struct gtu_hw_operand col, weight;
	uint64_t *used;			/* one bit per entry: registered in the open round */
	uint64_t (*dense)[FIELDS][LANES]; /* each warp's last work */
};

static int check_array(const struct gtu_array *a, const char *what, struct gtu_error *err)
{
	if (!a->key || ((a->width == 4 || a->width == 8) && (a->count < GTU_COUNT_TO_END || a->count == UINT64_MAX)))
		return 0;
	return gtu_fail(err, GTU_ERR_USAGE, "%llu %s of %u bytes are not supported: use 4 or 8 bytes, and less than "
			"2^32 - 1 or all to the region's end", (unsigned long long)a->count, what, a->width);
}

int gtu_weaver_configure(struct gtu_queue *q, const struct gtu_weaver_config *c, struct gtu_weaver **out,
		     struct gtu_error *err)
{
	struct gtu_device *dev = gtu_queue_device(q);
	struct gtu_weaver *w = *out;
	int rc;

	if (!(dev->info.units & GTU_UNIT_WVR))
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s has no Weaver", dev->info.path);
	if (c->ring_log2 > 16 || c->skip_log2 > 16 || (c->skip_log2 && c->skip_log2 < 3))
		return gtu_fail(err, GTU_ERR_USAGE, "rings of 2^%u records and 2^%u vertices are "
				"out of range: use up to 2^16, and 2^3 to 2^16",
				c->ring_log2, c->skip_log2);
	rc = check_array(&c->col, "edges", err);
	if (!rc)
		rc = check_array(&c->weight, "weights", err);
	if (rc)
		return rc;
	rc = gtu_stream_check(w ? &w->s : NULL, q,
			      "work is left: call gtu_weaver_dec_id() until it ends, or gtu_weaver_close()", err);
	if (rc)
		return rc;
	if (!w) {
		w = calloc(1, sizeof(*w));
		if (!w)
			return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for a Weaver stream");
		w->s.q = q;
		w->entries = dev->info.weaver[GTU_WVR_P_ENTRIES];
		w->warps = dev->info.weaver[GTU_WVR_P_WARPS];
		w->used = calloc((w->entries + 63) / 64, sizeof(*w->used));
		w->dense = calloc(w->warps, sizeof(*w->dense));
		if (!w->used || !w->dense) {
			gtu_weaver_close(w);
			return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the tables of a "
					"Weaver stream");
		}
	}
	w->has[VID] = w->has[EID] = true;
	w->has[TARGET] = c->col.key;
	w->has[WEIGHT] = c->weight.key;
	w->wide[VID] = c->wide_vids;
	w->wide[EID] = c->wide_eids;
	w->wide[TARGET] = c->col.key && c->col.width == 8;
	w->wide[WEIGHT] = c->weight.key && c->weight.width == 8;
	w->col = gtu_stream_operand(&c->col);
	w->weight = gtu_stream_operand(&c->weight);
	w->demand = c->demand;
	w->s.records = 1u << (c->ring_log2 ? c->ring_log2 : 8);
	w->skip_size = 1u << (c->skip_log2 ? c->skip_log2 : 8);
	w->s.record_bytes = sizeof(struct gtu_hw_warp);
	for (unsigned f = 0; f < FIELDS; f++)
		w->s.record_bytes += w->has[f] ? LANES * (w->wide[f] ? 8 : 4) : 0;
	rc = gtu_stream_reserve(&w->s, &w->s.rings,
				GTU_PEG_STRIDE(w->s.records, w->s.record_bytes, 8ull * w->skip_size), err);
	if (rc) {
		if (!*out)
			gtu_weaver_close(w);
		return rc;
	}
	w->s.ring = w->s.rings.addr;
	w->n = w->first = w->rounds = w->round = 0;
	memset(w->used, 0, (w->entries + 63) / 64 * sizeof(*w->used));
	memset(w->dense, 0xff, w->warps * sizeof(*w->dense));
	*out = w;
	return 0;
}

/* ---- Registration -------------------------------------------------------------------------------------- */

/* Grow the table for @more registrations, keeping its content. */
static int grow_table(struct gtu_weaver *w, uint32_t more, struct gtu_error *err)
{
	struct gtu_device *dev = gtu_queue_device(w->s.q);
	uint64_t bytes = sizeof(*w->table) * 2 * ((uint64_t)w->n + more);
	struct gtu_region r;
	int rc;

	if (w->table_region.length / sizeof(*w->table) >= (uint64_t)w->n + more)
		return 0;
	if ((uint64_t)w->n + more >= GTU_COUNT_TO_END)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%u registrations before the first "
				"request are too many: a job takes less than 2^32 - 1",
				w->n);
	rc = gtu_region_alloc(dev, bytes < 65536 ? 65536 : bytes, &r, err);
	if (rc)
		return rc;
	if (w->n)
		memcpy(r.addr, w->table, w->n * sizeof(*w->table));
	rc = gtu_region_remove(dev, &w->table_region, err);
	if (rc) {
		gtu_region_remove(dev, &r, NULL);
		return rc;
	}
	w->table_region = r;
	w->table = r.addr;
	return 0;
}

int gtu_weaver_reg(struct gtu_weaver *w, uint32_t warp, uint32_t lanes, const uint64_t vid[LANES],
	       const uint64_t start[LANES], const uint64_t degree[LANES], struct gtu_error *err)
{
	int rc;

	if (w->s.running)
		return gtu_fail(err, GTU_ERR_USAGE, "work of the last round is left: call "
				"gtu_weaver_dec_id() until it ends");
	rc = grow_table(w, LANES, err);
	if (rc)
		return rc;
	/* check first: register all lanes or none */
	for (unsigned l = 0; l < LANES; l++) {
		const uint64_t e = (uint64_t)warp * LANES + l;

		if (!(lanes >> l & 1))
			continue;
		if (e >= w->entries)
			return gtu_fail(err, GTU_ERR_USAGE, "entry %llu (lane %u of warp %u) does "
					"not exist: the table has %u",
					(unsigned long long)e, l, warp, w->entries);
		if (w->used[e / 64] >> (e % 64) & 1)
			return gtu_fail(err, GTU_ERR_USAGE, "lane %u of warp %u is already "
					"registered in this round", l, warp);
	}
	for (unsigned l = 0; l < LANES; l++) {
		const uint32_t e = warp * LANES + l;

		if (!(lanes >> l & 1))
			continue;
		w->used[e / 64] |= 1ull << (e % 64);
		w->table[w->n++] = (struct gtu_hw_registration){
			.entry = e, .vid = vid[l], .start = start[l], .degree = degree[l],
		};
	}
	return 0;
}

int gtu_weaver_sync(struct gtu_weaver *w, struct gtu_error *err)
{
	if (w->s.running)
		return gtu_fail(err, GTU_ERR_USAGE, "work is being distributed: there is no "
				"registration to end");
	if (w->n == w->first)
		return 0;
	w->table[w->n - 1].flags = GTU_WVR_LAST;
	w->first = w->n;
	w->rounds++;
	memset(w->used, 0, (w->entries + 63) / 64 * sizeof(*w->used));
	return 0;
}

/* ---- Distribution --------------------------------------------------------------------------------------- */

static int submit(struct gtu_weaver *w, struct gtu_error *err)
{
	int rc = gtu_weaver_sync(w, err);

	if (rc)
		return rc;
	memset(w->s.ring, 0, sizeof(*w->s.ring));
	w->s.desc = (struct gtu_hw_desc){
		.opcode = GTU_OP_WVR_STREAM,
		.param = (w->wide[VID] ? GTU_WVR_VIDS_8 : 0) | (w->wide[EID] ? GTU_WVR_EIDS_8 : 0) |
			 (w->has[TARGET] ? GTU_WVR_WITH_TARGET : 0) | (w->has[WEIGHT] ? GTU_WVR_WITH_WEIGHT : 0) |
			 (w->wide[TARGET] ? GTU_WVR_TARGETS_8 : 0) | (w->wide[WEIGHT] ? GTU_WVR_WEIGHTS_8 : 0) |
			 (w->demand ? GTU_WVR_DEMAND : 0),
		.param2 = (uint32_t)__builtin_ctz(w->skip_size),
		.operand = {
			[GTU_WVR_TABLE] = { .key = w->table_region.key, .count = w->n },
			[GTU_WVR_RING] = { .key = w->s.rings.key, .count = w->s.records },
			[GTU_WVR_EDGES] = w->col,
			[GTU_WVR_WEIGHTS] = w->weight,
		},
	};
	rc = gtu_stream_start(&w->s, "Weaver stream: call gtu_weaver_dec_id() until it ends, or gtu_weaver_close()", err);
	if (rc)
		return rc;
	w->taken = w->round = 0;
	w->n = w->first = 0;
	return 0;
}

/* Sleep until the ring's `changes` counter differs from @changes. */
static int wait_for_change(struct gtu_weaver *w, uint32_t changes, uint64_t *deadline, struct gtu_error *err)
{
	const struct gtu_record_wait wait = { &w->s.ring->changes, changes };
	int rc = gtu_stream_wait(&w->s, &wait, deadline, err);

	if (rc != GTU_ERR_TIMEOUT)
		return rc;
	return gtu_fail(err, rc, "a Weaver stream of %s made no progress within %g s",
			w->s.q->dev->info.path, gtu_stream_timeout_s(&w->s));
}

/* Wait for the next record. 1: available; 0: the stream has ended; negative: an error. */
static int record(struct gtu_weaver *w, const struct gtu_hw_warp **record, struct gtu_error *err)
{
	uint64_t deadline = 0;
	int rc;

	for (;;) {
		const uint32_t changes = gtu_load_acquire(&w->s.ring->changes);
		const bool over = gtu_load_acquire(&w->s.ring->ended) ||
				  gtu_stream_completed(&w->s);
		uint32_t there;

		rc = gtu_stream_count(&w->s, w->s.ring, w->taken, &there, err);
		if (rc)
			return rc;
		if (there)
			break;
		if (over)
			return 0;
		if (w->demand)
			gtu_store_release(&w->s.ring->requested, w->taken + 1);
		rc = wait_for_change(w, changes, &deadline, err);
		if (rc)
			return rc;
	}
	*record = gtu_stream_record(&w->s, w->s.ring, w->taken);
	return 1;
}

static void copy_lanes(uint64_t *to, const void *from, bool wide)
{
	if (wide)
		memcpy(to, from, LANES * sizeof(*to));
	else
		for (unsigned l = 0; l < LANES; l++)
			to[l] = ((const uint32_t *)from)[l];
}

int gtu_weaver_dec_id(struct gtu_weaver *w, uint32_t warp, uint64_t vid[LANES], uint32_t *active,
		  struct gtu_error *err)
{
	const struct gtu_hw_warp *r = NULL;
	const char *field;
	uint32_t mask;
	int rc;

	if (warp >= w->warps)
		return gtu_fail(err, GTU_ERR_USAGE, "warp %u does not exist: the device has %u", warp, w->warps);
	rc = w->s.running || !w->n ? 0 : submit(w, err);
	if (!rc && w->s.running)
		rc = record(w, &r, err);
	if (rc > 0 && r->lines != w->round) {	/* a record of the next round ends this one */
		w->round++;
		rc = 0;
	} else if (!rc && w->s.running) {
		w->rounds = 0;		/* the remaining rounds have no work */
		rc = gtu_stream_end(&w->s, err);
	}
	mask = rc > 0 ? r->active : 0;
	field = mask ? (const char *)(r + 1) : NULL;
	for (unsigned f = 0; f < FIELDS; f++) {
		uint64_t *value = w->dense[warp][f];

		if (mask && w->has[f]) {
			copy_lanes(value, field, w->wide[f]);
			field += LANES * (w->wide[f] ? 8 : 4);
		}
		for (unsigned l = 0; ~mask && l < LANES; l++)
			if (!(mask >> l & 1))
				value[l] = UINT64_MAX;
	}
	memcpy(vid, w->dense[warp][VID], LANES * sizeof(*vid));
	if (rc <= 0) {
		if (active)
			*active = 0;
		return rc;
	}
	if (active)
		*active = mask;
	w->taken++;
	gtu_store_release(&w->s.ring->consumer, w->taken);
	return 1;
}

static int last_work(const struct gtu_weaver *w, uint32_t warp, enum field field, uint64_t value[LANES],
		     struct gtu_error *err)
{
	if (warp >= w->warps)
		return gtu_fail(err, GTU_ERR_USAGE, "warp %u does not exist: the device has %u", warp, w->warps);
	memcpy(value, w->dense[warp][field], LANES * sizeof(*value));
	return 0;
}

int gtu_weaver_dec_loc(struct gtu_weaver *w, uint32_t warp, uint64_t eid[LANES], struct gtu_error *err)
{
	return last_work(w, warp, EID, eid, err);
}

int gtu_weaver_dec_target(struct gtu_weaver *w, uint32_t warp, uint64_t target[LANES], struct gtu_error *err)
{
	return last_work(w, warp, TARGET, target, err);
}

int gtu_weaver_dec_weight(struct gtu_weaver *w, uint32_t warp, uint64_t weight[LANES], struct gtu_error *err)
{
	return last_work(w, warp, WEIGHT, weight, err);
}

int gtu_weaver_skip(struct gtu_weaver *w, uint64_t vid, struct gtu_error *err)
{
	uint64_t *back = gtu_stream_returns(&w->s, w->s.ring);
	uint64_t deadline = 0;
	uint32_t sent;

	if (!w->s.running)
		return 0;	/* no work is left to skip */
	sent = w->s.ring->returned;
	for (;;) {
		const uint32_t changes = gtu_load_acquire(&w->s.ring->changes);
		int rc;

		if (sent - gtu_load_acquire(&w->s.ring->received) < w->skip_size)
			break;
		if (gtu_load_acquire(&w->s.ring->ended) || gtu_stream_completed(&w->s))
			return 0;
		rc = wait_for_change(w, changes, &deadline, err);
		if (rc)
			return rc;
	}
	back[sent & (w->skip_size - 1)] = vid;
	gtu_store_release(&w->s.ring->returned, sent + 1);
	return 0;
}

const struct gtu_completion *gtu_weaver_result(const struct gtu_weaver *w)
{
	return &w->s.result;
}

void gtu_weaver_close(struct gtu_weaver *w)
{
	if (!w)
		return;
	gtu_stream_close(&w->s);
	gtu_region_remove(w->s.q->dev, &w->table_region, NULL);
	free(w->used);
	free(w->dense);
	free(w);
}

GTU_PAPER_NAME(configure_weaver, gtu_weaver_configure);
GTU_PAPER_NAME(weaver_dec_id, gtu_weaver_dec_id);
GTU_PAPER_NAME(weaver_dec_loc, gtu_weaver_dec_loc);
GTU_PAPER_NAME(weaver_reg, gtu_weaver_reg);
GTU_PAPER_NAME(weaver_skip, gtu_weaver_skip);
GTU_PAPER_NAME(weaver_sync, gtu_weaver_sync);
