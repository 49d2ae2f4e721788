// SPDX-License-Identifier: MIT
/*
 * Runs the cases of gtu bench units: the unit and plain software, whose results are compared.
 *
 * A case counts the bytes of input, index, count, mask, gathered data and output, each once. It
 * does not count tables of filtering and grouping, which belong to the unit, or work arrays of
 * plain software.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench_work.h"

static struct gtu_array array(const struct bench_work *w, enum bench_slot s, uint64_t count,
			      uint32_t width)
{
	return gtu_array(&w->slot[s].region, 0, count, width);
}

/* ---- The unit ---------------------------------------------------------------------------------- */

static uint64_t bitmask_reference(const struct bench_case *c)
{
	return 1ull << (8 * c->width - 1);	/* about half of random numbers are below */
}

static int run_iru(struct bench_work *w, struct gtu_error *err)
{
	const struct bench_case *c = w->c;
	struct gtu_iru_config config = {
		.target_width = 4,
		.operation = c->iru_op,
		.indices = array(w, IN, w->n, 4),
		.positions = c->carry || c->position,
	};
	uint64_t sum = 0, xor = 0, count = 0;
	struct gtu_warp warp;
	unsigned lane;
	int ret;

	if (c->carry)
		config.secondary = array(w, COST, w->n, 4);
	ret = gtu_iru_configure(w->q, &config, &w->iru, err);
	if (ret)
		return ret;
	while ((ret = gtu_iru_load(w->iru, &warp, err)) == 1) {
		count += __builtin_popcount(warp.active);
		/* the minimum work of a reader: read every index (inactive lanes are 0) */
		for (lane = 0; lane < GTU_WARP; lane++) {
			sum += warp.index[lane];
			xor ^= warp.index[lane];
		}
	}
	if (ret)
		return ret;
	w->sum = sum;
	w->xor = xor;
	w->out_n = count;
	w->cycles = gtu_iru_result(w->iru)->cycles;
	return 0;
}

static void fold(const uint32_t *lanes, uint64_t *sum, uint64_t *xor)
{
	unsigned lane;

	for (lane = 0; lane < GTU_WARP; lane++) {
		*sum += lanes[lane];
		*xor ^= lanes[lane];
	}
}

static int run_peg(struct bench_work *w, struct gtu_error *err)
{
	const struct bench_case *c = w->c;
	struct gtu_peg_config config = {
		.flags = GTU_PEG_WITH_SRC | GTU_PEG_WITH_DST,
		.engines = c->engines,
		.row = array(w, INDEX, w->n + 1, 4),
		.col = array(w, IN, w->slot[IN].bytes / 4, 4),
		.ring_log2 = c->engines > 4 ? 6 : 8,
	};
	uint64_t sum = 0, xor = 0, count = 0;
	struct gtu_peg_edges edges;
	unsigned lane;
	int ret;

	if (w->slot[COST].p)
		config.in = array(w, COST, w->n, 4);
	ret = gtu_peg_configure(w->q, &config, &w->peg, err);
	if (ret)
		return ret;
	while ((ret = gtu_peg_next(w->peg, GTU_PEG_ANY, &edges, err)) == 1) {
		const uint32_t *src = edges.src, *dst = edges.dst;

		if (!~edges.active) {
			fold(src, &sum, &xor);
			fold(dst, &sum, &xor);
			count += GTU_WARP;
			continue;
		}
		for (lane = 0; lane < GTU_WARP && edges.active >> lane & 1; lane++, count++) {
			sum += (uint64_t)src[lane] + dst[lane];
			xor ^= src[lane] ^ dst[lane];
		}
	}
	if (!ret)
		ret = gtu_peg_finish(w->peg, NULL, err);
	if (ret)
		return ret;
	w->sum = sum;
	w->xor = xor;
	w->out_n = count;
	w->cycles = gtu_peg_result(w->peg)->cycles;
	return 0;
}

/* Fill the table in as many rounds as needed, and register all rounds before requesting work. */
static int run_wvr(struct bench_work *w, struct gtu_error *err)
{
	const uint32_t warps = gtu_get_info(gtu_queue_device(w->q))->weaver[GTU_WVR_P_ENTRIES] / GTU_WARP;
	const struct gtu_hw_registration *r = w->slot[IN].p;
	const struct gtu_weaver_config config = { .ring_log2 = 8 };
	uint64_t vid[GTU_WARP], eid[GTU_WARP], start[GTU_WARP], degree[GTU_WARP];
	uint64_t sum = 0, xor = 0, count = 0, at = 0, rounds = 0;
	uint32_t active, warp, lanes;
	unsigned lane;
	int ret = gtu_weaver_configure(w->q, &config, &w->weaver, err);

	while (!ret && at < w->n) {
		for (warp = 0; !ret && warp < warps && at < w->n; warp++) {
			for (lane = 0, lanes = 0; lane < GTU_WARP && at < w->n; lane++, at++) {
				vid[lane] = r[at].vid;
				start[lane] = r[at].start;
				degree[lane] = r[at].degree;
				lanes |= 1u << lane;
			}
			ret = gtu_weaver_reg(w->weaver, warp, lanes, vid, start, degree, err);
		}
		if (!ret)
			ret = gtu_weaver_sync(w->weaver, err);
		rounds++;
	}
	while (!ret && rounds) {
		ret = gtu_weaver_dec_id(w->weaver, 0, vid, &active, err);
		if (ret < 0)
			return ret;
		rounds -= !ret;
		ret = gtu_weaver_dec_loc(w->weaver, 0, eid, err);
		if (!~active) {
			for (lane = 0; lane < GTU_WARP; lane++) {
				sum += vid[lane] + eid[lane];
				xor ^= vid[lane] ^ eid[lane];
			}
			count += GTU_WARP;
			continue;
		}
		for (lane = 0; lane < GTU_WARP && active >> lane & 1; lane++, count++) {
			sum += vid[lane] + eid[lane];
			xor ^= vid[lane] ^ eid[lane];
		}
	}
	if (ret)
		return ret;
	w->sum = sum;
	w->xor = xor;
	w->out_n = count;
	w->cycles = gtu_weaver_result(w->weaver)->cycles;
	return 0;
}

static int run_filtered(struct bench_work *w, struct gtu_completion *done, struct gtu_error *err)
{
	const struct bench_case *c = w->c;
	struct gtu_scu_filter f = { .step = c->step, .target_log2 = 2 };
	struct gtu_array in = array(w, IN, w->n, 4), out = array(w, OUT, w->n, 4);
	bool making = c->step != GTU_STEP_APPLY;

	if (c->kind == BENCH_GROUP) {
		f.flags = GTU_SCU_GROUP;
		f.reorder = array(w, REORDER, w->n, 4);
		if (making)
			f.group_table = array(w, GROUP_TABLE, GROUP_LINES, 1);
	} else {
		f.flags = c->kind == BENCH_BEST ? GTU_SCU_BEST : GTU_SCU_UNIQUE;
		f.filter = array(w, FILTER, w->n, 0);
		if (making)
			f.filter_table = array(w, FILTER_TABLE, FILTER_LINES, 1);
		if (c->kind == BENCH_BEST) {
			f.cost_type = GTU_TYPE_UNSIGNED;
			f.cost_width = 4;
			f.cost_input = array(w, COST, w->n, 4);
		}
	}
	return gtu_scu_data(w->q, &in, NULL, &f, c->step == GTU_STEP_PRODUCE ? NULL : &out, done, err);
}

static int run_scu(struct bench_work *w, struct gtu_completion *done, struct gtu_error *err)
{
	const struct bench_case *c = w->c;
	struct gtu_array in = array(w, IN, w->slot[IN].bytes / c->width, c->width);
	struct gtu_array index = array(w, INDEX, w->n, 4), count = array(w, COUNT, w->n, 4);
	struct gtu_array mask = array(w, MASK, w->n, 0);
	struct gtu_array out = array(w, OUT, w->slot[OUT].bytes / c->width, c->width);
	const struct gtu_array *m = c->ones ? &mask : NULL;

	switch (c->kind) {
	case BENCH_BITMASK:
		in.count = w->n;
		out = array(w, OUT, w->n, 0);
		return gtu_scu_bitmask(w->q, &in, GTU_CMP_LT, GTU_TYPE_UNSIGNED,
				       bitmask_reference(c), &out, done, err);
	case BENCH_DATA:
		in.count = w->n;
		return gtu_scu_data(w->q, &in, m, NULL, &out, done, err);
	case BENCH_ACCESS:
		return gtu_scu_access(w->q, &in, &index, m, NULL, &out, done, err);
	case BENCH_REPLICATE:
		in.count = w->n;
		return gtu_scu_replicate(w->q, &in, &count, NULL, NULL, &out, done, err);
	case BENCH_EXPAND:
		return gtu_scu_expand(w->q, &in, &index, &count, NULL, NULL, &out, done, err);
	default:
		return run_filtered(w, done, err);
	}
}

int bench_run_unit(struct bench_work *w, struct gtu_error *err)
{
	struct gtu_completion done;
	int ret;

	if (w->c->kind == BENCH_IRU)
		return run_iru(w, err);
	if (w->c->kind == BENCH_PEG)
		return run_peg(w, err);
	if (w->c->kind == BENCH_WVR)
		return run_wvr(w, err);
	ret = run_scu(w, &done, err);
	if (ret)
		return ret;
	w->out_n = done.count;
	w->cycles = done.cycles;
	return 0;
}

/* ---- Plain software ---------------------------------------------------------------------------- */

static void plain_iru(struct bench_work *w)
{
	uint32_t *in = w->slot[IN].p, *a = w->slot[PLAIN_WORK].p, *b = w->slot[PLAIN_WORK2].p;
	uint32_t *second = w->slot[COST].p;
	uint64_t i;

	if (w->c->carry) {
		for (i = 0; i < w->n; i++) {
			b[3 * i] = in[i];
			b[3 * i + 1] = second[i];
			b[3 * i + 2] = i;
		}
		plain_sort_lines(b, a, b, w->n, 3);
	} else if (w->c->position) {
		for (i = 0; i < w->n; i++) {
			b[2 * i] = in[i];
			b[2 * i + 1] = i;
		}
		plain_sort_lines(b, a, b, w->n, 2);
	} else {
		plain_sort_lines(in, a, b, w->n, 1);
	}
	w->plain_n = w->n;
}

void bench_run_plain(struct bench_work *w)
{
	const struct bench_case *c = w->c;
	void *in = w->slot[IN].p, *out = w->slot[PLAIN_OUT].p, *mask = w->slot[MASK].p;
	void *index = w->slot[INDEX].p, *count = w->slot[COUNT].p, *work = w->slot[PLAIN_WORK].p;

	switch (c->kind) {
	case BENCH_BITMASK:
		w->plain_n = plain_bitmask(in, w->n, c->width, bitmask_reference(c), out);
		break;
	case BENCH_DATA:
		w->plain_n = plain_data(in, w->n, c->width, mask, out);
		break;
	case BENCH_ACCESS:
		w->plain_n = plain_access(in, index, w->n, mask, out);
		break;
	case BENCH_REPLICATE:
		w->plain_n = plain_replicate(in, count, w->n, out);
		break;
	case BENCH_EXPAND:
		w->plain_n = plain_expand(in, index, count, w->n, out);
		break;
	case BENCH_UNIQUE:
		if (c->step == GTU_STEP_PRODUCE)
			w->plain_n = plain_unique_bits(in, w->n, work, w->data_n, out);
		else if (c->step == GTU_STEP_APPLY)
			w->plain_n = plain_data(in, w->n, 4, w->slot[FILTER].p, out);
		else
			w->plain_n = plain_unique(in, w->n, work, w->data_n, out);
		break;
	case BENCH_BEST:
		w->plain_n = plain_best(in, w->slot[COST].p, w->n, work, w->data_n, out);
		break;
	case BENCH_GROUP:
		w->plain_n = w->n;
		if (c->step == GTU_STEP_APPLY)
			plain_scatter(in, w->slot[REORDER].p, w->n, out);
		else
			plain_sort_lines(in, work, w->slot[PLAIN_WORK2].p, w->n, 1);
		break;
	case BENCH_IRU:
		plain_iru(w);
		break;
	case BENCH_PEG:
		w->plain_n = plain_gather(index, in, w->slot[COST].p, w->n, out);
		break;
	case BENCH_WVR:
		w->plain_n = plain_weave(in, w->n, out);
		break;
	}
}

void bench_run_memcpy(struct bench_work *w)
{
	memcpy(w->slot[COPY_TO].p, w->slot[COPY_FROM].p, w->bytes / 2);
}

/* ---- Comparison --------------------------------------------------------------------------------- */

static int differs(const struct bench_work *w, const char *how, struct gtu_error *err)
{
	char variant[64];

	bench_variant(w->c, variant, sizeof(variant));
	return gtu_fail(err, GTU_ERR_VERIFY, "%s %s (%s): the unit's result is wrong: %s", w->c->unit,
			w->c->operation, variant, how);
}

/* Compare permutations by sum and exclusive or, which detect lost and duplicated elements. */
static void sums(const uint32_t *p, uint64_t n, uint64_t *sum, uint64_t *xor)
{
	uint64_t i;

	for (i = 0, *sum = 0, *xor = 0; i < n; i++) {
		*sum += p[i];
		*xor ^= p[i];
	}
}

/* A filter of finite size may pass duplicates but must pass every first occurrence. */
static int agree_filtered(struct bench_work *w, struct gtu_error *err)
{
	uint64_t firsts;

	if (w->out_n < w->plain_n || w->out_n > w->n)
		return differs(w, "the number of elements is impossible", err);
	if (w->c->kind == BENCH_BEST)
		return 0;
	if (w->c->step == GTU_STEP_PRODUCE) {
		uint64_t i, *unit = w->slot[FILTER].p, *plain = w->slot[PLAIN_OUT].p;

		for (i = 0; i < w->n / 64; i++)
			if (plain[i] & ~unit[i])
				return differs(w, "a first occurrence is missing", err);
		return 0;
	}
	if (w->c->step == GTU_STEP_APPLY)
		return w->out_n != w->plain_n ||
		       memcmp(w->slot[OUT].p, w->slot[PLAIN_OUT].p, w->out_n * 4)
		       ? differs(w, "it differs from plain software", err) : 0;
	/* the unit's output without duplicates must equal that of plain software */
	firsts = plain_unique(w->slot[OUT].p, w->out_n, w->slot[PLAIN_WORK].p, w->data_n,
			      w->slot[OUT].p);
	if (firsts != w->plain_n || memcmp(w->slot[OUT].p, w->slot[PLAIN_OUT].p, firsts * 4))
		return differs(w, "the first occurrences or their order differ", err);
	return 0;
}

static int agree(struct bench_work *w, struct gtu_error *err)
{
	uint64_t sum, xor, sum2, xor2, bytes;

	switch (w->c->kind) {
	case BENCH_UNIQUE:
	case BENCH_BEST:
		return agree_filtered(w, err);
	case BENCH_IRU:
	case BENCH_GROUP:
		if (w->c->kind == BENCH_GROUP && w->c->step == GTU_STEP_PRODUCE)
			return 0;
		sums(w->slot[IN].p, w->n, &sum, &xor);
		if (w->c->kind == BENCH_IRU)
			sum2 = w->sum, xor2 = w->xor;
		else
			sums(w->slot[OUT].p, w->n, &sum2, &xor2);
		if (w->c->iru_op ? w->out_n > w->n || !w->out_n
				 : w->out_n != w->n || sum != sum2 || xor != xor2)
			return differs(w, "the output is not a permutation of the input", err);
		return 0;
	case BENCH_PEG:
	case BENCH_WVR:
		sums(w->slot[PLAIN_OUT].p, 2 * w->plain_n, &sum, &xor);
		if (w->out_n != w->plain_n || sum != w->sum || xor != w->xor)
			return differs(w, "it differs from plain software", err);
		return 0;
	default:
		bytes = w->c->kind == BENCH_BITMASK ? w->n / 8 : w->plain_n * w->c->width;
		if (w->out_n != w->plain_n || memcmp(w->slot[OUT].p, w->slot[PLAIN_OUT].p, bytes))
			return differs(w, "it differs from plain software", err);
		return 0;
	}
}

/* The bytes that the operation reads and writes, given its output. */
static uint64_t count_bytes(const struct bench_work *w)
{
	const struct bench_case *c = w->c;
	uint64_t bits = (w->n + 7) / 8, in = w->n * c->width, out = w->out_n * c->width;

	switch (c->kind) {
	case BENCH_BITMASK: return in + bits;
	case BENCH_DATA: return in + bits + out;
	case BENCH_ACCESS: return w->n * 4 + (c->ones ? bits : 0) + 2 * out;
	case BENCH_REPLICATE: return in + w->n * 4 + out;
	case BENCH_EXPAND: return w->n * 8 + 2 * out;
	case BENCH_UNIQUE: return in + bits + (c->step == GTU_STEP_PRODUCE ? 0 : out);
	case BENCH_BEST: return 2 * in + bits + out;
	case BENCH_GROUP: return c->step == GTU_STEP_PRODUCE ? 2 * in : 2 * in + out;
	case BENCH_PEG: return w->n * (w->slot[COST].p ? 8 : 4) + w->out_n * 4 +
			       (w->out_n + 31) / 32 * GTU_WARP_BYTES(2, 0);
	case BENCH_WVR: return w->n * sizeof(struct gtu_hw_registration) +
			       (w->out_n + 31) / 32 * GTU_WARP_BYTES(2, 0);
	case BENCH_IRU: return (c->carry ? 2 : 1) * in +
			       (w->out_n + 31) / 32 * GTU_WARP_BYTES(c->carry ? 3 : 1 + c->position, 0);
	}
	return 0;
}

int bench_prepare(struct gtu_queue *q, const struct bench_case *c, struct bench_work **out,
		  struct gtu_error *err)
{
	struct bench_work *w = calloc(1, sizeof(*w));
	struct bench_case made;
	int ret;

	if (!w)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for a benchmark");
	w->c = c;
	w->q = q;
	w->seed = 42;
	ret = bench_make_data(w, err);
	if (!ret && c->step == GTU_STEP_APPLY) {
		/* APPLY needs the output of PRODUCE */
		made = *c;
		made.step = GTU_STEP_PRODUCE;
		w->c = &made;
		ret = bench_run_unit(w, err);
		w->c = c;
	}
	if (!ret)
		ret = bench_run_unit(w, err);
	if (!ret) {
		bench_run_plain(w);
		ret = agree(w, err);
	}
	w->bytes = count_bytes(w);
	if (!ret)
		ret = bench_allocate(w, COPY_FROM, w->bytes / 2, err);
	if (!ret)
		ret = bench_allocate(w, COPY_TO, w->bytes / 2, err);
	if (ret) {
		bench_release(w);
		return ret;
	}
	*out = w;
	return 0;
}

void bench_release(struct bench_work *w)
{
	int s;

	gtu_iru_close(w->iru);
	gtu_peg_close(w->peg);
	gtu_weaver_close(w->weaver);
	for (s = 0; s < SLOTS; s++) {
		if (w->slot[s].region.key)
			gtu_region_remove(gtu_queue_device(w->q), &w->slot[s].region, NULL);
		if (w->slot[s].p)
			munmap(w->slot[s].p, w->slot[s].bytes);
	}
	free(w);
}

uint64_t bench_bytes(const struct bench_work *w)
{
	return w->bytes;
}

uint64_t bench_elements(const struct bench_work *w)
{
	return w->n > w->out_n ? w->n : w->out_n;
}

uint64_t bench_cycles(const struct bench_work *w)
{
	return w->cycles;
}
