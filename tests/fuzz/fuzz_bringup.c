// SPDX-License-Identifier: MIT
/*
 * Fuzz target: gtu bringup on a faulty function. An access layer in front of the model changes what
 * is read of configuration space, BARs and their sizes, interrupts, and memory that the function
 * writes (completions, statuses, rings). The input gives the number of reads until the next fault,
 * the kind of fault, and the behaviour once the input is used up: none, all ones, noise, a new
 * value at each read. Every step must end, and every finding must have a sentence.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gtu/splitmix64.h"
#include "tools/bringup/bringup_rig.h"

struct faulty {
	struct access *model;
	const uint8_t *at;
	size_t left;
	uint64_t seed, before;
	uint32_t wait;			/* reads until the next fault of the input */
	uint8_t later, how;		/* behaviour after the end of the input; the next fault */
	bool active;
	uint8_t *block[4];
	unsigned blocks;
};

enum { SOUND, ONES, ZEROS, NOISE, SELDOM, MOVING, AGAIN, LATER };

static struct faulty *faulty(struct access *a)
{
	return a->own;
}

static uint64_t take(struct faulty *l, size_t bytes)
{
	uint64_t v = 0;

	bytes = bytes < l->left ? bytes : l->left;
	memcpy(&v, l->at, bytes);
	l->at += bytes;
	l->left -= bytes;
	return v;
}

static uint64_t noise(struct faulty *l)
{
	return gtu_splitmix64_next(&l->seed);
}

/* Read the next fault and its time from the input; after its end, @later applies. */
static void next(struct faulty *l)
{
	const uint32_t n = (uint32_t)take(l, 1);

	l->active = l->left != 0;
	l->wait = n < 128 ? n : (n - 127) * (n - 127);
	l->how = (uint8_t)take(l, 1);
}

static uint64_t corrupt(struct faulty *l, uint64_t value)
{
	const uint64_t before = l->before;

	l->before = value;
	if (!l->active) {
		switch (l->later) {
		case ONES: return ~0ull;
		case ZEROS: return 0;
		case NOISE: return noise(l);
		case SELDOM: return noise(l) % 256 ? value : noise(l);
		case MOVING: return value + ++l->seed;
		case AGAIN: return before;
		}
		return value;
	}
	if (l->wait--)
		return value;
	switch (l->how & 7) {
	case 0: value = ~0ull; break;
	case 1: value = 0; break;
	case 2: value ^= 1ull << (l->how >> 3); break;
	case 3: value = noise(l); break;
	case 4: value += (l->how >> 3) - 16u; break;
	case 5: value = before; break;
	case 6: value = take(l, 4); break;
	case 7: value = take(l, 8); break;
	}
	next(l);
	return value;
}

static uint32_t config_read(struct access *a, unsigned at, unsigned bytes)
{
	const uint32_t mask = bytes == 4 ? ~0u : (1u << 8 * bytes) - 1;

	return (uint32_t)corrupt(faulty(a), faulty(a)->model->ops->config_read(faulty(a)->model, at, bytes)) & mask;
}

static void config_write(struct access *a, unsigned at, unsigned bytes, uint32_t value)
{
	faulty(a)->model->ops->config_write(faulty(a)->model, at, bytes, value);
}

static uint64_t bar_size(struct access *a, unsigned bar)
{
	return corrupt(faulty(a), faulty(a)->model->ops->bar_size(faulty(a)->model, bar));
}

static uint64_t read_bar(struct access *a, unsigned bar, uint64_t offset, unsigned bytes)
{
	const uint64_t mask = bytes == 8 ? ~0ull : (1ull << 8 * bytes) - 1;

	return corrupt(faulty(a), faulty(a)->model->ops->read(faulty(a)->model, bar, offset, bytes)) & mask;
}

static void write_bar(struct access *a, unsigned bar, uint64_t offset, unsigned bytes, uint64_t value)
{
	faulty(a)->model->ops->write(faulty(a)->model, bar, offset, bytes, value);
}

static int flr(struct access *a, struct gtu_error *err)
{
	if (corrupt(faulty(a), 0) & 1)
		return gtu_fail(err, GTU_ERR_FAIL, "no function-level reset");
	return faulty(a)->model->ops->flr(faulty(a)->model, err);
}

static uint8_t *memory(struct access *a, uint64_t bytes, bool high, uint64_t *bus, struct gtu_error *err)
{
	struct faulty *l = faulty(a);
	uint8_t *at = l->model->ops->memory(l->model, bytes, high, bus, err);

	if (at && l->blocks < 4 && bytes == RIG_BYTES)
		l->block[l->blocks++] = at;
	return at;
}

static int irq_on(struct access *a, unsigned count, struct gtu_error *err)
{
	return faulty(a)->model->ops->irq_on(faulty(a)->model, count, err);
}

static void irq_off(struct access *a)
{
	faulty(a)->model->ops->irq_off(faulty(a)->model);
}

static void irq_mask(struct access *a, unsigned vector, bool masked)
{
	faulty(a)->model->ops->irq_mask(faulty(a)->model, vector, masked);
}

static bool irq_came(struct access *a, unsigned vector)
{
	return corrupt(faulty(a), faulty(a)->model->ops->irq_came(faulty(a)->model, vector)) & 1;
}

/* Let the model run, then overwrite memory where a device writes, or elsewhere. */
static void work(struct access *a)
{
	static const struct { uint32_t from, bytes; } area[] = {
		{ RIG_CQ(0), 0x4040 }, { RIG_CQ(1), 0x4040 }, { RIG_EVENTS, 0x400 }, { RIG_TABLE, 0x4000 }, { RIG_DATA, RIG_DATA_BYTES },
		{ RIG_CQ(0), 0x100 }, { RIG_DATA + 0x1a000, 0x100 }, { 0, RIG_BYTES },
	};
	struct faulty *l = faulty(a);
	uint64_t r;

	l->model->ops->work(l->model);
	r = corrupt(l, 0);
	if (!r || !l->blocks)
		return;
	r = noise(l) ^ r;
	memcpy(l->block[r % l->blocks] + area[r >> 8 & 7].from + (r >> 16) % (area[r >> 8 & 7].bytes / 8) * 8, &r, 8);
}

static void close_faulty(struct access *a)
{
	faulty(a)->model->ops->close(faulty(a)->model);
	free(a);
}

static const struct access_ops ops = {
	.kind = "model", .config_read = config_read, .config_write = config_write, .bar_size = bar_size, .read = read_bar,
	.write = write_bar, .flr = flr, .memory = memory, .irq_on = irq_on, .irq_off = irq_off, .irq_mask = irq_mask,
	.irq_came = irq_came, .work = work, .close = close_faulty,
};

/* Write the reports of all findings; both must succeed. */
static void write_reports(const struct bringup *b)
{
	static char path[64];
	struct gtu_error err = { .text = "" };

	if (!*path)
		snprintf(path, sizeof(path), "/dev/shm/fuzz-bringup-%ld", (long)getpid());
	if (bringup_json(b, path, &err) || bringup_html(b, path, &err))
		abort();
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct gtu_dev_config small = {
		.contexts = 4, .queues = 4, .regions_log2 = 8, .ring_log2 = 8, .event_rings = 3, .vectors = 3, .aperture_bytes = 4096,
		.iru_sets = 16, .peg_engines = 3, .peg_list_bytes = 256, .peg_edge_bytes = 1024, .wvr_entries = 64,
	};
	struct faulty l = { .at = data, .left = size };
	struct bringup *b = calloc(1, sizeof(*b));
	struct access *a = calloc(1, sizeof(*a));
	struct gtu_error err;
	uint8_t how;
	unsigned i;

	if (!a || !b)
		abort();
	how = (uint8_t)take(&l, 1);
	l.later = how % LATER;
	l.seed = take(&l, 2);
	next(&l);
	l.model = access_model(&small, GTU_BUG_NONE, &err);
	if (!l.model)
		abort();
	*a = (struct access){ .ops = &ops, .own = &l, .has_memory = true, .has_irqs = true };
	strcpy(a->name, "a faulty function");
	b->a = a;
	b->lockstep = 600;
	b->march = 64;
	b->seed = 1;
	b->reset = how < 200;
	b->force = how & 128;
	bringup_run(b, ~0u);
	for (i = 0; i < b->findings; i++)
		if (!*b->finding[i].text || !b->finding[i].step)
			abort();
	if (b->findings > BRINGUP_FINDINGS || !b->findings)
		abort();
	write_reports(b);
	a->ops->close(a);
	free(b);
	return 0;
}
