/* SPDX-License-Identifier: MIT */
/*
 * Test fixture: a device with one context and a few queues, driven as a driver does (mailbox,
 * region table, rings, doorbells). Guard pages surround every buffer, so that an access outside it
 * crashes. A region is contiguous on the bus or consists of scattered pages.
 */
#ifndef GTU_FIXTURE_H
#define GTU_FIXTURE_H

#include <sys/mman.h>

#include "firmware-model/device/device.h"
#include "firmware-model/device/gtu_model.h"
#include "test.h"

#define FX_PAGE		4096u
#define FX_TABLE_LOG2	8u
#define FX_RING_LOG2	4u
#define FX_QUEUES	8u
#define FX_BUFFERS	512u
#define FX_DMA_BASE	0x100000000ull
#define FX_APERTURE	65536u		/* clearing the default's 16 MiB takes longer than most tests */

struct fx_buffer {
	uint8_t *map;			/* with its guard pages */
	size_t map_bytes;
	uint8_t *at;			/* whole pages */
	size_t bytes;
	uint64_t bus;			/* if contiguous */
	uint64_t *page_bus;		/* addresses of scattered pages; NULL: contiguous */
	bool writable;
};

struct fx_queue {
	struct gtu_hw_desc *sq;
	struct gtu_hw_cpl *cq;
	struct gtu_hw_queue_status *status;
	uint32_t tail, head;
};

struct fx {
	struct gtu_dev *dev;
	struct fx_buffer buffer[FX_BUFFERS];
	unsigned buffers;
	uint64_t next_bus;
	struct gtu_hw_region *table;
	uint32_t slot;
	struct fx_queue queue[FX_QUEUES];
	uint64_t seed;
	uint64_t missed, missed_at;	/* accesses to unmapped memory: count, last address */
	unsigned irqs[64];
};

static inline void *fx_dma(void *host, uint64_t addr, uint64_t *len, bool write)
{
	struct fx *f = host;
	unsigned i;

	for (i = f->buffers; i-- > 0;) {
		struct fx_buffer *b = &f->buffer[i];
		uint64_t at = addr - b->bus, room;

		if (!b->at || addr < b->bus)
			continue;
		if (b->page_bus) {
			size_t p;

			for (p = 0; p < b->bytes / FX_PAGE; p++)
				if (addr >= b->page_bus[p] && addr - b->page_bus[p] < FX_PAGE)
					break;
			if (p == b->bytes / FX_PAGE)
				continue;
			at = p * FX_PAGE + (addr - b->page_bus[p]);
			room = FX_PAGE - (addr - b->page_bus[p]);
		} else if (at < b->bytes) {
			room = b->bytes - at;
		} else {
			continue;
		}
		if (write && !b->writable)
			break;
		if (*len > room)
			*len = room;
		return b->at + at;
	}
	f->missed++;
	f->missed_at = addr;
	return NULL;
}

static inline void fx_irq(void *host, unsigned vector)
{
	((struct fx *)host)->irqs[vector % 64]++;
}

static inline struct fx_buffer *fx_buffer(struct fx *f, size_t bytes)
{
	struct fx_buffer *b = NULL;
	unsigned i;

	for (i = 0; i < f->buffers && f->buffer[i].at; i++)
		;
	NEED(i < FX_BUFFERS, "the fixture has only %u buffers", FX_BUFFERS);
	if (i == f->buffers)
		f->buffers++;
	b = &f->buffer[i];
	b->bytes = (bytes + FX_PAGE - 1) / FX_PAGE * FX_PAGE;
	b->bytes = b->bytes ? b->bytes : FX_PAGE;
	b->map_bytes = b->bytes + 2 * FX_PAGE;
	b->map = mmap(NULL, b->map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(b->map != MAP_FAILED, "cannot map a buffer of %zu bytes", bytes);
	b->at = b->map + FX_PAGE;
	NEED(!mprotect(b->at, b->bytes, PROT_READ | PROT_WRITE), "cannot make a buffer writable");
	b->bus = f->next_bus;
	f->next_bus += b->bytes + 16 * FX_PAGE;
	b->page_bus = NULL;
	b->writable = true;
	return b;
}

static inline void fx_buffer_free(struct fx_buffer *b)
{
	if (b->at)
		munmap(b->map, b->map_bytes);
	free(b->page_bus);
	memset(b, 0, sizeof(*b));
}

static inline uint64_t fx_reg(struct fx *f, uint32_t offset, unsigned size)
{
	return gtu_dev_read(f->dev, GTU_BAR_REGS, offset, size);
}

static inline void fx_put(struct fx *f, uint32_t offset, unsigned size, uint64_t value)
{
	gtu_dev_write(f->dev, GTU_BAR_REGS, offset, size, value);
}

static inline void fx_mailbox(struct fx *f, uint32_t command, unsigned n, const uint64_t *arg)
{
	unsigned i;

	for (i = 0; i < n; i++)
		fx_put(f, GTU_REG_MBOX_ARG(i), 8, arg[i]);
	fx_put(f, GTU_REG_MBOX_CMD, 4, command);
}

static inline uint32_t fx_mailbox_status(struct fx *f)
{
	return (uint32_t)fx_reg(f, GTU_REG_MBOX_STATUS, 4);
}

/* A mailbox command that must succeed. */
static inline void fx_command(struct fx *f, uint32_t command, unsigned n, const uint64_t *arg)
{
	fx_mailbox(f, command, n, arg);
	NEED(fx_mailbox_status(f) == GTU_MBOX_E_OK, "mailbox command %u: status %u", command, fx_mailbox_status(f));
}

static inline void fx_queue_open(struct fx *f, unsigned n, unsigned context, uint32_t event_ring)
{
	struct fx_buffer *sq = fx_buffer(f, GTU_SQ_BYTES(FX_RING_LOG2));
	struct fx_buffer *cq = fx_buffer(f, GTU_CQ_BYTES(FX_RING_LOG2));
	const uint64_t arg[6] = { n, context, sq->bus, cq->bus, FX_RING_LOG2 | FX_RING_LOG2 << 8,
				  event_ring };

	f->queue[n] = (struct fx_queue){ .sq = (void *)sq->at, .cq = (void *)cq->at };
	f->queue[n].status = (void *)(f->queue[n].cq + (1u << FX_RING_LOG2));
	fx_command(f, GTU_MBOX_QUEUE_ENABLE, 6, arg);
}

static inline void fx_release(void *what)
{
	struct fx *f = what;
	unsigned i;

	gtu_dev_destroy(f->dev);
	for (i = 0; i < f->buffers; i++)
		fx_buffer_free(&f->buffer[i]);
	free(f);
}

/* A device with context 0 and queue 0, released when the test ends; @config may be NULL. */
static inline struct fx *fx_open(const struct gtu_dev_config *config, uint64_t seed)
{
	static const struct gtu_host_ops ops = { .dma = fx_dma, .irq = fx_irq };
	struct gtu_dev_config build = { 0 };
	struct fx *f = calloc(1, sizeof(*f));
	const char *why = "";
	struct fx_buffer *table;
	uint64_t arg[4];

	NEED(f, "no memory");
	f->seed = seed;
	f->next_bus = FX_DMA_BASE;
	if (config)
		build = *config;
	if (!build.aperture_bytes)
		build.aperture_bytes = FX_APERTURE;
	f->dev = gtu_dev_create(&build, &ops, f, &why);
	NEED(f->dev, "cannot create the device: %s", why);
	test_at_end(fx_release, f);
	table = fx_buffer(f, sizeof(*f->table) << FX_TABLE_LOG2);
	f->table = (void *)table->at;
	arg[0] = 0, arg[1] = table->bus, arg[2] = FX_TABLE_LOG2, arg[3] = 1;
	fx_command(f, GTU_MBOX_CTX_ENABLE, 4, arg);
	fx_queue_open(f, 0, 0, GTU_RING_NONE);
	return f;
}

/* A device with @queues queues of context 0. */
static inline struct fx *fx_open_queues(unsigned queues)
{
	struct fx *f = fx_open(NULL, 1);

	for (unsigned n = 1; n < queues; n++)
		fx_queue_open(f, n, 0, GTU_RING_NONE);
	return f;
}

/*
 * Enter a region of @length bytes from byte @offset (a multiple of 8) of a contiguous buffer;
 * returns its key.
 */
static inline uint32_t fx_region(struct fx *f, struct fx_buffer *b, uint64_t offset, uint64_t length,
				 uint32_t rights)
{
	const uint32_t slot = f->slot++ & ((1u << FX_TABLE_LOG2) - 1);
	struct gtu_hw_region *r = &f->table[slot];
	const uint32_t generation = (GTU_KEY_GENERATION(r->key) + 1) & 0xffff;

	*r = (struct gtu_hw_region){
		.key = GTU_KEY(generation ? generation : 1, slot),
		.flags = GTU_REGION_VALID | rights | 12u << GTU_REGION_PAGE_SHIFT,
		.length = length,
		.base = b->bus,
		.offset = offset,
	};
	return r->key;
}

/* The same with the buffer's pages scattered over the bus and @levels of page lists (1 to 3). */
static inline uint32_t fx_region_scattered(struct fx *f, struct fx_buffer *b, uint64_t offset,
					   uint64_t length, uint32_t rights, unsigned levels)
{
	const size_t pages = b->bytes / FX_PAGE, chunks = (pages + 511) / 512;
	struct fx_buffer *chunk = fx_buffer(f, (chunks + 2) * GTU_CHUNK_BYTES);
	uint64_t *entry = (void *)chunk->at, bus = f->next_bus;
	uint32_t key = fx_region(f, b, offset, length, rights);
	struct gtu_hw_region *r = &f->table[GTU_KEY_SLOT(key)];
	size_t i, j;

	CHECK(levels >= 1 && levels <= 3 && chunks <= 512 && (levels > 1 || chunks == 1));
	b->page_bus = calloc(pages, sizeof(*b->page_bus));
	CHECK(b->page_bus);
	for (i = 0; i < pages; i++)
		b->page_bus[i] = bus + 2 * i * FX_PAGE;	/* never contiguous */
	f->next_bus += 2 * pages * FX_PAGE;
	for (i = pages; i > 1; i--) {
		uint64_t t = b->page_bus[i - 1];

		j = test_random(&f->seed) % i;
		b->page_bus[i - 1] = b->page_bus[j];
		b->page_bus[j] = t;
	}
	b->bus = 0;
	for (i = 0; i < pages; i++)
		entry[i] = b->page_bus[i];
	for (i = 0; i < chunks; i++)		/* chunk `chunks` holds the list of level-1 lists */
		entry[chunks * 512 + i] = chunk->bus + i * GTU_CHUNK_BYTES;
	entry[(chunks + 1) * 512] = chunk->bus + chunks * GTU_CHUNK_BYTES;
	r->base = chunk->bus + (levels == 1 ? 0 : levels == 2 ? chunks : chunks + 1) * GTU_CHUNK_BYTES;
	r->flags |= levels << GTU_REGION_LEVELS_SHIFT;
	return key;
}

static inline void fx_doorbell(struct fx *f, unsigned n, uint32_t reg, uint64_t value)
{
	const uint64_t at = ((uint64_t)n << gtu_dev_config(f->dev)->doorbell_stride_log2) + reg;

	gtu_dev_write(f->dev, GTU_BAR_DOORBELL, at, reg == GTU_DB_SUBMIT ? 8 : 4, value);
}

/* Write a descriptor to queue @n and ring its doorbell. */
static inline void fx_submit_to(struct fx *f, unsigned n, const struct gtu_hw_desc *desc)
{
	struct fx_queue *q = &f->queue[n];

	q->sq[q->tail & ((1u << FX_RING_LOG2) - 1)] = *desc;
	q->tail++;
	fx_doorbell(f, n, GTU_DB_SUBMIT, q->tail | (uint64_t)q->head << 32);
}

/* True, with the next completion of queue @n in *cpl, if there is one. */
static inline bool fx_poll(struct fx *f, unsigned n, struct gtu_hw_cpl *cpl)
{
	struct fx_queue *q = &f->queue[n];
	const struct gtu_hw_cpl *c = &q->cq[q->head & ((1u << FX_RING_LOG2) - 1)];

	if (c->phase != (q->head >> FX_RING_LOG2 & 1 ? 0 : 1))
		return false;
	*cpl = *c;
	q->head++;
	return true;
}

/* Step until the device has nothing to do, at most 100000 times. */
static inline void fx_run(struct fx *f, uint64_t budget)
{
	unsigned i;

	for (i = 0; i < 100000 && gtu_dev_step(f->dev, budget); i++)
		;
}

/* Submit @count times. */
static inline void fx_submit_many(struct fx *f, unsigned n, const struct gtu_hw_desc *desc, unsigned count)
{
	while (count--)
		fx_submit_to(f, n, desc);
}

/* Submit, and run until the device has nothing to do. */
static inline void fx_submit_run(struct fx *f, unsigned n, const struct gtu_hw_desc *desc)
{
	fx_submit_to(f, n, desc);
	fx_run(f, 1 << 16);
}

/* RESET or DISABLE queue @n, and start again with its first entry. */
static inline void fx_queue_restart(struct fx *f, uint32_t command, uint64_t n)
{
	fx_command(f, command, 1, &n);
	memset(f->queue[n].cq, 0, GTU_CQ_BYTES(FX_RING_LOG2));
	f->queue[n].tail = f->queue[n].head = 0;
}

/* Context @n with context 0's regions. */
static inline void fx_context_open(struct fx *f, uint64_t n, uint64_t weight)
{
	fx_command(f, GTU_MBOX_CTX_ENABLE, 4, (uint64_t[]){ n, f->buffer[0].bus, FX_TABLE_LOG2, weight });
}

/* Event ring @n of 2^@log2 entries with an interrupt vector; returns its memory. */
static inline const uint32_t *fx_event_ring_open(struct fx *f, uint64_t n, uint64_t log2, uint64_t vector)
{
	struct fx_buffer *ring = fx_buffer(f, 4096);

	fx_command(f, GTU_MBOX_EVENT_ENABLE, 4, (uint64_t[]){ n, ring->bus, log2, vector });
	return (const uint32_t *)ring->at;
}

#define FX_RW (GTU_REGION_READ | GTU_REGION_WRITE)

/* An IRU stream of @n indices into a ring of @records; @ring may be NULL. */
static inline struct gtu_hw_desc fx_stream(struct fx *f, uint32_t n, uint32_t records, uint32_t param,
					   struct gtu_hw_ring **ring)
{
	struct fx_buffer *in = fx_buffer(f, 4 * n), *out = fx_buffer(f, 64 + records * GTU_WARP_BYTES(1, 0));
	uint32_t i;

	for (i = 0; i < n; i++)
		((uint32_t *)in->at)[i] = i * 7919;
	if (ring)
		*ring = (void *)out->at;
	return (struct gtu_hw_desc){
		.opcode = GTU_OP_IRU_STREAM,
		.param = param,
		.operand = {
			{ fx_region(f, in, 0, in->bytes, GTU_REGION_READ), n, 0 },
			{ 0 },
			{ fx_region(f, out, 0, out->bytes, FX_RW), records, 0 },
		},
	};
}

/* A job that writes @bytes. */
static inline struct gtu_hw_desc fx_fill(struct fx *f, uint32_t bytes)
{
	struct fx_buffer *b = fx_buffer(f, bytes);

	return (struct gtu_hw_desc){
		.opcode = GTU_OP_FILL,
		.operand = { { 0 }, { fx_region(f, b, 0, b->bytes, FX_RW), bytes, 0 } },
	};
}

/* A new buffer with a region of all its bytes; returns the key. */
static inline uint32_t fx_memory(struct fx *f, size_t bytes, uint32_t rights, struct fx_buffer **b)
{
	*b = fx_buffer(f, bytes);
	return fx_region(f, *b, 0, bytes, rights);
}

/* Run one descriptor on queue 0 to completion in steps of @budget cycles (0: random steps). */
static inline struct gtu_hw_cpl fx_do(struct fx *f, const struct gtu_hw_desc *desc, uint64_t budget)
{
	struct gtu_hw_cpl cpl;

	fx_submit_to(f, 0, desc);
	while (!fx_poll(f, 0, &cpl)) {
		const uint64_t part = budget ? budget : 1 + test_random(&f->seed) % 100;

		CHECKF(gtu_dev_pending(f->dev), "the device is idle but there is no completion");
		gtu_dev_step(f->dev, part);
	}
	return cpl;
}

#endif
