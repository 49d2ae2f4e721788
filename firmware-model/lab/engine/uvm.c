// SPDX-License-Identifier: MIT
/* Unified memory: page faults, batches, prefetch, eviction and replay. */
#include <inttypes.h>
#include <stdlib.h>

#include "internal.h"

enum { FETCHES, REPLAYS }; /* the driver's next step, stored in the event's board field */

/* ---- Memory ------------------------------------------------------------------------------------ */

int lab_uvm_grow(struct lab *lab, uint64_t end, struct gtu_error *err)
{
	struct lab_uvm *u = &lab->uvm;
	const struct lab_machine *m = &lab->m;
	struct lab_uvm_block *block;
	struct lab_uvm_page *pages;
	uint32_t *batch, blocks;

	if (!m->uvm)
		return gtu_fail(err, GTU_ERR_USAGE, "machine %s has no unified memory (keys uvm.*)", m->name);
	u->page = m->uvm_page;
	u->block_pages = m->uvm_block / m->uvm_page;
	u->memory = (uint32_t)(m->uvm_memory / m->uvm_block);
	blocks = (uint32_t)((end - LAB_MANAGED_BASE + m->uvm_block - 1) / m->uvm_block);
	if (blocks <= u->blocks)
		return 0;
	block = realloc(u->block, blocks * sizeof(*block));
	if (block)
		u->block = block;
	pages = realloc(u->pages, (size_t)blocks * u->block_pages * sizeof(*pages));
	if (pages)
		u->pages = pages;
	batch = realloc(u->batch, blocks * sizeof(*batch));
	if (batch)
		u->batch = batch;
	if (!block || !pages || !batch)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the page tables of %u blocks of unified memory", blocks);
	memset(block + u->blocks, 0, (blocks - u->blocks) * sizeof(*block));
	memset(pages + (size_t)u->blocks * u->block_pages, 0,
	       (size_t)(blocks - u->blocks) * u->block_pages * sizeof(*pages));
	u->blocks = blocks;
	return 0;
}

void lab_uvm_free(struct lab *lab)
{
	free(lab->uvm.block);
	free(lab->uvm.pages);
	free(lab->uvm.batch);
}

uint64_t lab_uvm_pages(const struct lab *lab)
{
	uint64_t pages = 0;
	uint32_t b;

	for (b = 0; b < lab->uvm.blocks; b++)
		pages += (uint64_t)__builtin_popcountll(lab->uvm.block[b].resident);
	return pages;
}

static void unlink_block(struct lab_uvm *u, uint32_t b)
{
	struct lab_uvm_block *k = &u->block[b];

	*(k->older ? &u->block[k->older - 1].newer : &u->oldest) = k->newer;
	*(k->newer ? &u->block[k->newer - 1].older : &u->newest) = k->older;
	k->older = k->newer = 0;
}

static void make_newest(struct lab_uvm *u, uint32_t b)
{
	u->block[b].older = u->newest;
	u->block[b].newer = 0;
	*(u->newest ? &u->block[u->newest - 1].newer : &u->oldest) = b + 1;
	u->newest = b + 1;
}

/* Invalidate clean lines of an evicted frame. Dirty L2 lines stay and are written back later. */
static void drop_lines(struct lab_tags *t, uint32_t first, uint32_t lines)
{
	uint32_t i;

	for (i = 0; i < t->sets * t->ways; i++) {
		if (t->line[i] - first >= lines || t->way[i].dirty)
			continue;
		t->way[i].valid = 0;
		if (!t->way[i].pending)
			t->line[i] = 0;
	}
}

/* Evict the block whose last new page is oldest. Returns the bytes copied to the host. */
static uint64_t evict(struct lab *lab)
{
	struct lab_uvm *u = &lab->uvm;
	uint32_t b = u->oldest - 1, i, lines = u->block_pages * u->page / LAB_LINE;
	struct lab_uvm_block *k = &u->block[b];
	uint64_t copied = lab->m.uvm_read_mostly ? k->dirty : k->resident, bytes;

	bytes = (uint64_t)__builtin_popcountll(copied) * u->page;
	lab->stats.uvm_evictions++;
	lab->stats.uvm_dropped_pages += (uint64_t)__builtin_popcountll(k->resident);
	lab->stats.uvm_bytes_out += bytes;
	for (i = 0; i < lab->m.sms && lab->m.l1_size; i++)
		drop_lines(&lab->sm[i].l1, LAB_MANAGED_LINE + b * lines, lines);
	for (i = 0; i < lab->m.l2_slices; i++)
		drop_lines(&lab->slice[i].tags, LAB_MANAGED_LINE + b * lines, lines);
	unlink_block(u, b);
	k->resident = k->dirty = 0;
	k->has_memory = false;
	u->used--;
	return bytes;
}

/* ---- The driver -------------------------------------------------------------------------------- */

/* The faulting pages of a block and those that the prefetcher adds. */
static uint64_t with_prefetch(const struct lab *lab, const struct lab_uvm_block *k)
{
	uint64_t have = k->resident | k->faulted, fetch = k->faulted, left, region, best;
	uint32_t n, page;

	for (left = k->faulted; left; left &= left - 1) {
		page = (uint32_t)__builtin_ctzll(left);
		best = 0;
		for (n = 2; n <= lab->uvm.block_pages; n *= 2) {
			region = (n == 64 ? ~0ull : (1ull << n) - 1) << (page & ~(n - 1));
			if ((uint32_t)__builtin_popcountll(have & region) * 100 > n * lab->m.uvm_prefetch)
				best = region;
		}
		fetch |= best;
	}
	return fetch & ~k->resident;
}

static uint64_t cycles_of(const struct lab *lab, double ns)
{
	return (uint64_t)(ns * lab->m.core_mhz / 1000);
}

static void schedule_driver(struct lab *lab, uint64_t when, uint8_t step)
{
	uint32_t node = lab_node_alloc(lab);

	lab->calendar.node[node].board = step;
	lab_schedule(&lab->calendar, when, node, EV_UVM);
}

/* Service one block of a batch, with eviction if needed. Returns the bytes moved. */
static uint64_t service_block(struct lab *lab, uint32_t b)
{
	struct lab_uvm *u = &lab->uvm;
	struct lab_uvm_block *k = &u->block[b];
	uint64_t bytes = 0, in;

	if (!k->has_memory && u->used == u->memory)
		bytes += evict(lab);
	u->used += !k->has_memory;
	if (k->has_memory)
		unlink_block(u, b);
	k->has_memory = true;
	make_newest(u, b);
	k->migrating = with_prefetch(lab, k);
	k->faulted = 0;
	in = (uint64_t)__builtin_popcountll(k->migrating) * u->page;
	lab->stats.uvm_pages += (uint64_t)__builtin_popcountll(k->migrating);
	lab->stats.uvm_bytes_in += in;
	return bytes + in;
}

/* Take a batch of faults, at most as many blocks as fit the device, and start moving the pages. */
static void fetch(struct lab *lab)
{
	struct lab_uvm *u = &lab->uvm;
	uint64_t bytes = 0;
	uint32_t page, b, taken;

	u->in_batch = 0;
	for (taken = 0; u->queue && taken < lab->m.uvm_batch; taken++) {
		page = u->queue - 1;
		b = page / u->block_pages;
		if (!u->block[b].faulted) {
			if (u->in_batch == u->memory)
				break;
			u->batch[u->in_batch++] = b;
			/* so that this batch does not evict it for another block */
			if (u->block[b].has_memory) {
				unlink_block(u, b);
				make_newest(u, b);
			}
		}
		u->block[b].faulted |= 1ull << page % u->block_pages;
		u->queue = u->pages[page].next;
		if (!u->queue)
			u->queue_end = 0;
		u->pages[page].next = 0;
		lab->stats.uvm_faults++;
	}
	lab->stats.uvm_batches++;
	for (b = 0; b < u->in_batch; b++)
		bytes += service_block(lab, u->batch[b]);
	schedule_driver(lab, lab->calendar.now + cycles_of(lab, (double)bytes / lab->m.uvm_gbs), REPLAYS);
}

static void begin_batch(struct lab *lab, uint64_t cycle)
{
	lab->uvm.busy = true;
	lab->uvm.since = cycle;
	schedule_driver(lab, cycle + cycles_of(lab, lab->m.uvm_fault_ns), FETCHES);
}

/* Drop queued faults on pages that were prefetched, like the driver's flush before a replay. */
static void flush(struct lab_uvm *u)
{
	uint32_t *at = &u->queue, page;

	u->queue_end = 0;
	while (*at) {
		page = *at - 1;
		if (u->block[page / u->block_pages].resident >> page % u->block_pages & 1) {
			*at = u->pages[page].next;
			u->pages[page].next = 0;
			continue;
		}
		u->queue_end = *at;
		at = &u->pages[page].next;
	}
}

/* Make the batch's pages resident and replay the requests that waited for them. */
static void replay(struct lab *lab)
{
	struct lab_uvm *u = &lab->uvm;
	struct lab_uvm_page *p;
	struct lab_uvm_block *k;
	uint64_t pages, now = lab->calendar.now;
	uint32_t i, node, next;

	lab->stats.uvm_busy_cycles += now - u->since;
	u->busy = false;
	for (i = 0; i < u->in_batch; i++) {
		k = &u->block[u->batch[i]];
		pages = k->migrating;
		k->resident |= k->migrating;
		k->migrating = 0;
		for (; pages; pages &= pages - 1) {
			p = &u->pages[u->batch[i] * u->block_pages + (uint32_t)__builtin_ctzll(pages)];
			node = p->first;
			p->first = p->last = 0;
			for (; node; node = next) {
				next = lab->calendar.node[node].next;
				lab->stats.uvm_replayed++;
				lab_send(lab, node, now);
			}
		}
	}
	flush(u);
	if (u->queue)
		begin_batch(lab, now);
}

void lab_uvm_event(struct lab *lab, uint32_t node)
{
	uint8_t step = lab->calendar.node[node].board;

	lab_node_free(lab, node);
	if (step == FETCHES)
		fetch(lab);
	else
		replay(lab);
}

/* ---- Faults ------------------------------------------------------------------------------------ */

bool lab_uvm_holds(struct lab *lab, uint32_t node, uint64_t cycle)
{
	struct lab_uvm *u = &lab->uvm;
	struct lab_node *n = &lab->calendar.node[node];
	uint32_t page = (uint32_t)((uint64_t)(n->line - LAB_MANAGED_LINE) * LAB_LINE / u->page);
	struct lab_uvm_block *k = &u->block[page / u->block_pages];
	uint64_t bit = 1ull << page % u->block_pages;
	struct lab_uvm_page *p = &u->pages[page];

	if (k->resident & bit) {
		if (n->op != LAB_LOAD)
			k->dirty |= bit;
		return false;
	}
	lab->stats.uvm_held++;
	n->next = 0;
	if (p->first) {
		lab->calendar.node[p->last].next = node;
		p->last = node;
		return true;
	}
	p->first = p->last = node;
	if (k->migrating & bit)		/* a prefetch of this page is in flight */
		return true;
	*(u->queue_end ? &u->pages[u->queue_end - 1].next : &u->queue) = page + 1;
	u->queue_end = page + 1;
	if (!u->busy)
		begin_batch(lab, cycle);
	return true;
}
