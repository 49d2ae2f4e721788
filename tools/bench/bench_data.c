// SPDX-License-Identifier: MIT
/* gtu bench units: makes the data of a case: numbers, indices by locality, masks, runs, graphs. */
#include <string.h>
#include <sys/mman.h>

#include "bench_work.h"
#include "gtu/splitmix64.h"

static uint64_t draw(struct bench_work *w)
{
	return gtu_splitmix64_next(&w->seed);
}

int bench_allocate(struct bench_work *w, enum bench_slot s, uint64_t bytes, struct gtu_error *err)
{
	void *p;

	bytes = (bytes + 4095) / 4096 * 4096;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (p == MAP_FAILED)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for %llu bytes of a benchmark",
				(unsigned long long)bytes);
	w->slot[s].p = p;
	w->slot[s].bytes = bytes;
	if (s >= DEVICE_SLOTS)
		return 0;
	return gtu_region_add(gtu_queue_device(w->q), p, bytes, GTU_READ | GTU_WRITE,
			      &w->slot[s].region, err);
}

/* The value of the i-th of w->n indices, below @range. */
static uint32_t draw_index(struct bench_work *w, uint64_t i, uint64_t range)
{
	uint64_t at = i * range / w->n, r = draw(w);
	double u;

	switch (w->c->locality) {
	case BENCH_IN_ORDER:
		return at;
	case BENCH_WINDOW:
		return (at + r % 1024) % range;
	case BENCH_SKEWED:
		/*
		 * density ~ 1 / x over [1, range]; a multiplicative hash separates frequent values
		 */
		u = (r >> 11) * 0x1p-53;
		at = __builtin_exp(u * __builtin_log((double)range));
		return at * 0x9E3779B1u % range;
	}
	return r % range;
}

static void fill_mask(struct bench_work *w)
{
	uint64_t i, j, word, *mask = w->slot[MASK].p;

	for (i = 0; i < (w->n + 63) / 64; i++) {
		for (j = 0, word = 0; j < 64; j++)
			word |= (uint64_t)(draw(w) % 64 < w->c->ones) << j;
		mask[i] = word;
	}
	if (w->n & 63)
		mask[w->n / 64] &= (1ull << (w->n & 63)) - 1;
}

static void fill_random(struct bench_work *w, enum bench_slot s)
{
	uint64_t i, *p = w->slot[s].p;

	for (i = 0; i < w->slot[s].bytes / 8; i++)
		p[i] = draw(w);
}

/* Set the run lengths; returns their sum. */
static uint64_t fill_counts(struct bench_work *w)
{
	uint32_t *count = w->slot[COUNT].p;
	uint64_t i, sum = 0;

	for (i = 0; i < w->n; i++) {
		count[i] = w->c->vary ? 1 + draw(w) % (2 * w->c->run - 1) : w->c->run;
		sum += count[i];
	}
	return sum;
}

/* Set the starts of runs: consecutive in the data, shuffled unless the locality is in order. */
static void fill_starts(struct bench_work *w)
{
	uint32_t *index = w->slot[INDEX].p, *count = w->slot[COUNT].p, t;
	uint64_t i, j, at = 0;

	for (i = 0; i < w->n; i++) {
		index[i] = at;
		at += count[i];
	}
	if (w->c->locality == BENCH_IN_ORDER)
		return;
	for (i = w->n - 1; i > 0; i--) {
		j = draw(w) % (i + 1);
		t = index[i], index[i] = index[j], index[j] = t;
		t = count[i], count[i] = count[j], count[j] = t;
	}
}

/*
 * Set offsets from the counts, and the list of vertices, shuffled unless the locality is in order.
 */
static void fill_graph(struct bench_work *w)
{
	uint32_t *row = w->slot[INDEX].p, *count = w->slot[COUNT].p, *list = w->slot[COST].p, t;
	uint64_t i, j;

	for (i = 0, row[0] = 0; i < w->n; i++)
		row[i + 1] = row[i] + count[i];
	for (i = 0; list && i < w->n; i++)
		list[i] = i;
	for (i = w->n - 1; list && i > 0; i--) {
		j = draw(w) % (i + 1);
		t = list[i], list[i] = list[j], list[j] = t;
	}
}

static void fill_registrations(struct bench_work *w)
{
	struct gtu_hw_registration *r = w->slot[IN].p;
	uint32_t *count = w->slot[COUNT].p;
	uint64_t i, at = 0;

	for (i = 0; i < w->n; at += count[i], i++)
		r[i] = (struct gtu_hw_registration){ .vid = i, .start = at, .degree = count[i] };
}

int bench_make_data(struct bench_work *w, struct gtu_error *err)
{
	const struct bench_case *c = w->c;
	uint64_t bytes[SLOTS] = { 0 }, out = 0, i;
	double per = 0;
	uint32_t *p;
	int s, ret;

	switch (c->kind) {		/* bytes read plus written per input element */
	case BENCH_BITMASK: per = c->width + 1 / 8.; break;
	case BENCH_DATA: per = c->width + 1 / 8. + c->width * c->ones / 64.; break;
	case BENCH_ACCESS: per = 4 + 1 / 8. + 8 * (c->ones ? c->ones / 64. : 1); break;
	case BENCH_REPLICATE: per = 8 + 4. * c->run; break;
	case BENCH_EXPAND: per = 8 + 8. * c->run; break;
	case BENCH_UNIQUE: per = 4 + 1 / 8. + 2; break;
	case BENCH_BEST: per = 8 + 1 / 8. + 2; break;
	case BENCH_GROUP: per = c->step == GTU_STEP_PRODUCE ? 8 : 12; break;
	case BENCH_IRU: per = 4; break;	/* records stay in the ring */
	case BENCH_PEG: per = 8 + 12. * c->run; break;
	case BENCH_WVR: per = 32 + 8. * c->run; break;
	}
	w->n = (uint64_t)(c->set / per) & ~63ull;
	w->data_n = w->n;
	bytes[IN] = w->n * c->width;
	bytes[OUT] = bytes[IN];
	switch (c->kind) {
	case BENCH_BITMASK:
		bytes[OUT] = (w->n + 63) / 64 * 8;
		break;
	case BENCH_DATA:
	case BENCH_ACCESS:
		bytes[MASK] = c->ones ? (w->n + 63) / 64 * 8 : 0;
		bytes[INDEX] = c->kind == BENCH_ACCESS ? w->n * 4 : 0;
		break;
	case BENCH_REPLICATE:
	case BENCH_EXPAND:
		bytes[COUNT] = w->n * 4;
		bytes[INDEX] = c->kind == BENCH_EXPAND ? w->n * 4 : 0;
		break;
	case BENCH_UNIQUE:
	case BENCH_BEST:
		w->data_n = w->n / 2 + 64;	/* each id occurs about twice */
		bytes[FILTER] = (w->n + 63) / 64 * 8;
		bytes[COST] = c->kind == BENCH_BEST ? w->n * 4 : 0;
		bytes[FILTER_TABLE] = gtu_scu_filter_table_bytes(FILTER_LINES, 4, bytes[COST] ? 4 : 0);
		bytes[PLAIN_WORK] = w->data_n * 4 + 8;
		break;
	case BENCH_GROUP:
		bytes[REORDER] = w->n * 4;
		bytes[GROUP_TABLE] = gtu_scu_group_table_bytes(GROUP_LINES);
		bytes[PLAIN_WORK] = bytes[PLAIN_WORK2] = w->n * 4;
		break;
	case BENCH_IRU:
		bytes[OUT] = 0;
		bytes[COST] = c->carry ? w->n * 4 : 0;	/* the secondary */
		bytes[PLAIN_WORK] = bytes[PLAIN_WORK2] = w->n * 12;
		break;
	case BENCH_PEG:
		bytes[INDEX] = w->n * 4 + 4;
		bytes[COST] = c->locality == BENCH_IN_ORDER ? 0 : w->n * 4;	/* the list of vertices */
		bytes[COUNT] = w->n * 4;
		break;
	case BENCH_WVR:
		bytes[COUNT] = w->n * 4;
		break;
	}
	if (bytes[COUNT]) {
		ret = bench_allocate(w, COUNT, bytes[COUNT], err);
		if (ret)
			return ret;
		out = fill_counts(w);
		bytes[COUNT] = 0;
		bytes[OUT] = out * 4;
		bytes[IN] = c->kind == BENCH_EXPAND || c->kind == BENCH_PEG ? out * 4 : bytes[IN];
	}
	bytes[PLAIN_OUT] = bytes[OUT];
	if (c->kind == BENCH_PEG || c->kind == BENCH_WVR) {
		bytes[PLAIN_OUT] = out * 8;
		bytes[OUT] = 0;
		bytes[IN] = c->kind == BENCH_WVR ? w->n * sizeof(struct gtu_hw_registration) : bytes[IN];
	}
	for (s = 0; s < SLOTS; s++) {
		ret = bytes[s] ? bench_allocate(w, s, bytes[s], err) : 0;
		if (ret)
			return ret;
	}
	fill_random(w, IN);
	if (w->slot[MASK].p)
		fill_mask(w);
	if (c->kind == BENCH_PEG)
		return fill_graph(w), 0;
	if (c->kind == BENCH_WVR)
		return fill_registrations(w), 0;
	if (w->slot[COST].p)
		for (i = 0, p = w->slot[COST].p; i < w->n; i++)
			p[i] = c->iru_op == GTU_IRU_OP_ADD_F32 ? 0x3f800000 : draw(w) % 1000;
	if (c->kind == BENCH_EXPAND)
		fill_starts(w);
	else if (w->slot[INDEX].p)
		for (i = 0, p = w->slot[INDEX].p; i < w->n; i++)
			p[i] = draw_index(w, i, w->data_n);
	else if (c->kind >= BENCH_UNIQUE)
		for (i = 0, p = w->slot[IN].p; i < w->n; i++)
			p[i] = draw_index(w, i, w->data_n);
	return 0;
}
