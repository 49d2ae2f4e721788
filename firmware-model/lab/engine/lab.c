// SPDX-License-Identifier: MIT
/* The lab object: creation, memory, the event loop, launches, and conservation checks. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "internal.h"

/* ---- Creation -------------------------------------------------------------------------------- */

static void derive(struct lab *lab)
{
	const struct lab_machine *m = &lab->m;
	double cycle_ns = 1000 / m->core_mhz, one = 1 << LAB_FRACTION;
	unsigned i;

	lab->dram_hit = (uint64_t)(m->dram_hit_ns / cycle_ns * one);
	lab->dram_miss = (uint64_t)(m->dram_miss_ns / cycle_ns * one);
	lab->dram_atom = (uint64_t)(LAB_SECTOR * m->dram_channels / m->dram_gbs / cycle_ns * one + 0.5);
	lab->slices_channel = m->l2_slices / m->dram_channels;
	lab->lines_row = m->dram_row / LAB_LINE;
	lab->row_log2 = lab->lines_row & (lab->lines_row - 1) ? 32 : (uint32_t)__builtin_ctz(lab->lines_row);
	lab->banks_log2 = m->dram_banks & (m->dram_banks - 1) ? 32 : (uint32_t)__builtin_ctz(m->dram_banks);
	lab->slices_log2 = m->l2_slices & (m->l2_slices - 1) ? 32 : (uint32_t)__builtin_ctz(m->l2_slices);
	lab->reply_flits = (m->noc_header + LAB_SECTOR + m->noc_flit - 1) / m->noc_flit;
	for (i = 0; i < LAB_SIZES; i++)
		lab->request_flits[i] = (uint8_t)((m->noc_header + i * LAB_SECTOR + m->noc_flit - 1) / m->noc_flit);
	if (m->link)
		lab->link.byte_time = (uint64_t)(256 * one / m->link_gbs / cycle_ns + 0.5);
}

static bool allocate_sm(struct lab *lab, struct lab_sm *s)
{
	uint32_t i;

	s->shared_free = lab->m.shared;
	s->shared = calloc(1, lab->m.shared ? lab->m.shared : 1);
	if (!s->shared)
		return false;
	if (!lab->m.l1_size)
		return true;
	s->mshr = calloc(lab->m.l1_mshrs, sizeof(*s->mshr));
	s->waiter = calloc((size_t)lab->m.l1_mshrs * lab->m.l1_merges, sizeof(*s->waiter));
	if (!s->mshr || !s->waiter || !lab_tags_init(&s->l1, lab->m.l1_size, lab->m.l1_ways))
		return false;
	for (i = 0; i < lab->m.l1_mshrs; i++)
		s->mshr[i].next_free = (uint16_t)(i + 1 < lab->m.l1_mshrs ? i + 1 : 0xffff);
	return true;
}

static bool allocate(struct lab *lab)
{
	const struct lab_machine *m = &lab->m;
	uint32_t warps = m->sms * m->warps, i;

	lab->warp = aligned_alloc(128, (warps + 1) * sizeof(*lab->warp));
	lab->value = aligned_alloc(256, sizeof(*lab->value));
	lab->sm = calloc(m->sms, sizeof(*lab->sm));
	lab->port = calloc(m->sms + 2 * LAB_UNITS, sizeof(*lab->port));
	lab->slice = calloc(m->l2_slices, sizeof(*lab->slice));
	lab->channel = calloc(m->dram_channels, sizeof(*lab->channel));
	lab->node_map_bytes = (size_t)LAB_NODES_MAX * sizeof(struct lab_node);
	lab->calendar.node = mmap(NULL, lab->node_map_bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	lab->stacks = lab_stacks_map(warps, &lab->stack_each);
	if (lab->calendar.node == MAP_FAILED)
		lab->calendar.node = NULL;
	if (!lab_calendar_init(&lab->calendar) || !lab->warp || !lab->value || !lab->sm || !lab->port || !lab->slice || !lab->channel || !lab->calendar.node ||
	    !lab->stacks)
		return false;
	memset(lab->warp, 0, (warps + 1) * sizeof(*lab->warp));
	for (i = 0; i <= warps; i++)
		lab->warp[i].id = i;
	for (i = 0; i < m->sms; i++)
		if (!allocate_sm(lab, &lab->sm[i]))
			return false;
	for (i = 0; i < m->l2_slices; i++) {
		lab->slice[i].channel = i / lab->slices_channel;
		lab->slice[i].number = i % lab->slices_channel;
		if (!lab_tags_init(&lab->slice[i].tags, m->l2_size, m->l2_ways))
			return false;
	}
	for (i = 0; i < m->dram_channels; i++) {
		lab->channel[i].bank = calloc(m->dram_banks, sizeof(struct lab_bank));
		if (!lab->channel[i].bank)
			return false;
	}
	lab->node_scheduler = warps + 1;
	lab->node_lsu = lab->node_scheduler + m->sms * m->schedulers;
	lab->node_l1 = lab->node_lsu + m->sms;
	lab->node_block = lab->node_l1 + m->sms;
	for (i = 0; i < m->sms * m->schedulers; i++) {
		lab->calendar.node[lab->node_scheduler + i].port = (uint16_t)(i / m->schedulers);
		lab->calendar.node[lab->node_scheduler + i].slice = (uint8_t)(i % m->schedulers);
	}
	lab->node_end = lab->node_block + 1;
	return true;
}

int lab_create(const struct lab_machine *m, struct lab **out, struct gtu_error *err)
{
	struct lab *lab = calloc(1, sizeof(*lab));

	*out = NULL;
	if (!lab)
		return gtu_fail(err, GTU_ERR_NOMEM, "cannot allocate the laboratory");
	lab->m = *m;
	derive(lab);
	lab->next_addr[LAB_DEVICE] = LAB_BASE;
	lab->next_addr[LAB_HOST] = LAB_HOST_BASE;
	lab->next_addr[LAB_MANAGED] = LAB_MANAGED_BASE;
	if (!allocate(lab)) {
		lab_destroy(lab);
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for machine %s (%u SMs of %u warps, %u slices of L2)",
				m->name, m->sms, m->warps, m->l2_slices);
	}
	*out = lab;
	return 0;
}

void lab_destroy(struct lab *lab)
{
	uint32_t i;

	if (!lab)
		return;
	while (lab->owned_count)
		free(lab->owned[--lab->owned_count]);
	free(lab->owned);
	lab_uvm_free(lab);
	for (i = 0; i < lab->m.sms && lab->sm; i++) {
		free(lab->sm[i].shared);
		free(lab->sm[i].mshr);
		free(lab->sm[i].waiter);
		lab_tags_free(&lab->sm[i].l1);
	}
	for (i = 0; i < lab->m.l2_slices && lab->slice; i++)
		lab_tags_free(&lab->slice[i].tags);
	for (i = 0; i < lab->m.dram_channels && lab->channel; i++)
		free(lab->channel[i].bank);
	lab_stacks_unmap(lab->stacks, lab->m.sms * lab->m.warps, lab->stack_each);
	if (lab->calendar.node)
		munmap(lab->calendar.node, lab->node_map_bytes);
	lab_calendar_free(&lab->calendar);
	free(lab->channel);
	free(lab->slice);
	free(lab->port);
	free(lab->sm);
	free(lab->warp);
	free(lab->value);
	free(lab);
}

const struct lab_machine *lab_machine_of(const struct lab *lab)
{
	return &lab->m;
}

const struct lab_stats *lab_stats(const struct lab *lab)
{
	return &lab->stats;
}

void lab_stats_add(struct lab_stats *sum, const struct lab_stats *before, const struct lab_stats *after)
{
	lab_add_words(sum, after, sizeof(*sum));
	for (size_t i = 0; i < sizeof(*sum) / 8; i++)
		((uint64_t *)sum)[i] -= ((const uint64_t *)before)[i];
}

uint64_t lab_now(const struct lab *lab)
{
	return lab->calendar.now;
}

void lab_observe(struct lab *lab, void (*link)(void *ctx, const struct lab_link_request *r), void *ctx)
{
	lab->observe_link = link;
	lab->observer = ctx;
}

const volatile uint8_t *lab_part(const struct lab *lab)
{
	return &lab->part;
}

const char *const lab_part_name[LAB_PARTS] = { "other", "programs", "coalescer", "SM and L1", "crossbar, L2, DRAM" };

uint64_t lab_bytes(const struct lab *lab)
{
	const struct lab_machine *m = &lab->m;
	uint64_t warps = (uint64_t)m->sms * m->warps, lines = (uint64_t)m->l2_slices * (m->l2_size / LAB_LINE);

	return sizeof(*lab) + warps * (sizeof(*lab->warp) + lab->stack_each) + lines * 20 + lab->owned_bytes +
	       m->sms * (sizeof(struct lab_sm) + m->shared + m->l1_size / LAB_LINE * 20ull) +
	       (uint64_t)lab->node_end * sizeof(struct lab_node) +
	       (uint64_t)lab->calendar.chunk_end * sizeof(struct lab_chunk);
}

/* ---- Memory ------------------------------------------------------------------------------------ */

static int reserve_range(struct lab *lab, const char *name, uint64_t bytes, enum lab_space space, struct lab_array *out,
		 struct gtu_error *err)
{
	static const uint64_t limits[] = { LAB_MANAGED_BASE, LAB_HOST_BASE + (1ull << 38), 1ull << 38 };
	uint64_t at = lab->next_addr[space], limit = limits[space];
	int rc;

	memset(out, 0, sizeof(*out));
	if (space == LAB_HOST && !lab->m.link)
		return gtu_fail(err, GTU_ERR_USAGE, "array %s cannot be in host memory: machine %s has no link (keys link.*)", name,
				lab->m.name);
	if (bytes > limit - at)
		return gtu_fail(err, GTU_ERR_NOMEM, "array %s of %" PRIu64 " bytes exceeds the free address space of %" PRIu64,
				name, bytes, limit - at);
	if (space == LAB_MANAGED) {	/* each array has blocks of its own */
		rc = lab_uvm_grow(lab, at + bytes, err);
		if (rc)
			return rc;
	}
	out->addr = at;
	out->bytes = bytes;
	out->space = space;
	out->name = name;
	at += bytes ? bytes : 1;
	lab->next_addr[space] = space == LAB_MANAGED ? (at + lab->m.uvm_block - 1) / lab->m.uvm_block * lab->m.uvm_block :
				(at + 255) & ~255ull;
	return 0;
}

int lab_alloc(struct lab *lab, const char *name, uint64_t bytes, enum lab_space space, struct lab_array *out,
	      struct gtu_error *err)
{
	void **more;
	int rc = reserve_range(lab, name, bytes, space, out, err);

	if (rc)
		return rc;
	more = realloc(lab->owned, (lab->owned_count + 1) * sizeof(*more));
	if (more)
		lab->owned = more;
	out->data = more ? calloc(1, bytes ? bytes : 1) : NULL;
	if (!out->data)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for array %s of %" PRIu64 " bytes", name, bytes);
	lab->owned[lab->owned_count++] = out->data;
	lab->owned_bytes += bytes;
	return 0;
}

int lab_map(struct lab *lab, const char *name, const void *data, uint64_t bytes, enum lab_space space,
	    struct lab_array *out, struct gtu_error *err)
{
	int rc = reserve_range(lab, name, bytes, space, out, err);

	out->data = (void *)(uintptr_t)data;
	out->read_only = true;
	return rc;
}

int lab_set_apart(struct lab *lab, const struct lab_array *of, bool apart, struct lab_array *out, struct gtu_error *err)
{
	int rc = apart ? reserve_range(lab, of->name, of->bytes / 4 * LAB_LINE, of->space, out, err) : 0;
	uint64_t addr = out->addr;

	*out = *of;
	if (apart) {
		out->addr = addr;
		out->apart = true;
	}
	return rc;
}

/* ---- Running ----------------------------------------------------------------------------------- */

/* Place one block per cycle and SM. */
static void place_blocks(struct lab *lab, uint32_t node)
{
	uint32_t first = lab->m.first_next ? lab->next_sm : 0, sm;

	for (sm = 0; sm < lab->m.sms && lab->first_blocks; sm++, lab->first_blocks--)
		lab_block_start(lab, (first + sm) % lab->m.sms);
	if (lab->first_blocks)
		lab_schedule(&lab->calendar, lab->calendar.now + 1, node, EV_BLOCK);
	else
		for (sm = 0; sm < lab->m.sms; sm++) /* some may have ended already */
			lab_block_refill(lab, sm);
}

static const struct {
	void (*serve)(struct lab *lab, uint32_t node);
	enum lab_part part;
} serving[] = {
	[EV_WAKE] = { lab_wake_event, LAB_PART_SM },
	[EV_ISSUE] = { lab_issue_event, LAB_PART_SM },
	[EV_SCHEDULER] = { lab_scheduler_event, LAB_PART_SM },
	[EV_LSU] = { lab_lsu_event, LAB_PART_SM },
	[EV_L1] = { lab_l1_event, LAB_PART_SM },
	[EV_BLOCK] = { place_blocks, LAB_PART_SM },
	[EV_ARRIVE] = { lab_memory_arrive, LAB_PART_MEMORY },
	[EV_REPLY] = { lab_memory_reply, LAB_PART_MEMORY },
	[EV_FILL] = { lab_l1_fill, LAB_PART_SM },
	[EV_LINK] = { lab_link_event, LAB_PART_MEMORY },
	[EV_LINK_DONE] = { lab_link_event, LAB_PART_MEMORY },
	[EV_UVM] = { lab_uvm_event, LAB_PART_MEMORY },
	[EV_UNIT_ASK] = { lab_unit_event, LAB_PART_OTHER },
	[EV_UNIT_ANSWER] = { lab_unit_event, LAB_PART_OTHER },
	[EV_UNIT_REPLY] = { lab_unit_event, LAB_PART_OTHER },
	[EV_UNIT_CLOCK] = { lab_unit_event, LAB_PART_OTHER },
};

/* Prefetch what an event will touch besides its node. */
static inline void prefetch_for(const struct lab *lab, uint32_t node)
{
	const struct lab_node *n = &lab->calendar.node[node];
	const struct lab_tags *t;
	const char *at;

	switch (n->kind) {
	case EV_WAKE:
		at = (const char *)(uintptr_t)n->value;
		__builtin_prefetch(at);
		__builtin_prefetch(at + 64);
		__builtin_prefetch(at + 128);
		__builtin_prefetch(at + 192);
		at = (const char *)&lab->warp[node];
		__builtin_prefetch(at);
		__builtin_prefetch(at + 64);
		__builtin_prefetch(at + 128);
		break;
	case EV_ARRIVE:
		t = &lab->slice[n->slice].tags;
		at = (const char *)&t->way[n->set * t->ways];
		__builtin_prefetch(&t->line[n->set * t->ways]);
		__builtin_prefetch(&t->used[n->set * t->ways]);
		__builtin_prefetch(at);
		__builtin_prefetch(at + 64);
		__builtin_prefetch(at + 128);
		__builtin_prefetch(at + 192);
		break;
	case EV_REPLY:
		if (n->reply_to == LAB_REPLY_TO_WARP)
			__builtin_prefetch((const char *)&lab->warp[n->owner] + 64);
		break;
	}
}

/*
 * With a thousand warps, the data that an event touches is seldom in the host's L1. When a chunk of
 * events begins, prefetch the data of its events (their nodes were prefetched one chunk earlier),
 * the nodes of the next chunk, and the chunk after that.
 */
static void look_ahead(const struct lab *lab, uint32_t first)
{
	const struct lab_calendar *c = &lab->calendar;
	uint32_t b = (uint32_t)c->now & (LAB_RING - 1), k, i;

	if (!(c->bits[b / 64] >> (b % 64) & 1)) { /* it was the only event of this cycle */
		prefetch_for(lab, first);
		return;
	}
	k = c->head[b];
	for (i = c->at; i < c->chunk[k].n; i++)
		prefetch_for(lab, c->chunk[k].node[i]);
	k = lab_calendar_after(c, k, &b);
	for (i = 0; k && i < c->chunk[k].n; i++)
		__builtin_prefetch(&c->node[c->chunk[k].node[i]]);
	if (k)
		__builtin_prefetch(&c->chunk[lab_calendar_after(c, k, &b)]);
}

/* Run all events. */
static int run_events(struct lab *lab, const struct gtu_progress *progress, struct gtu_error *err)
{
	uint64_t events = 0;
	uint32_t node;

	while ((node = lab_calendar_pop(&lab->calendar))) {
		if (lab->calendar.opened)
			look_ahead(lab, node);
		lab->part = (uint8_t)serving[lab->calendar.node[node].kind].part;
		serving[lab->calendar.node[node].kind].serve(lab, node);
		if (lab->fault || lab->stopped || lab->calendar.no_memory)
			break;
		if (!(++events & 0xfffff) && lab->launch &&
		    gtu_tick(progress, lab->launch->kernel->name, lab->next_block - lab->live_blocks, lab->launch->grid)) {
			lab->broken = true;
			return gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted");
		}
	}
	lab->part = LAB_PART_OTHER;
	if (lab->fault) {
		lab->broken = true;
		return gtu_fail(err, lab->error.code, "%s", lab->error.text);
	}
	if (lab->calendar.no_memory) {
		lab->broken = true;
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the requests in flight");
	}
	return 0;
}

static int check_launch(struct lab *lab, const struct lab_launch *l, struct gtu_error *err)
{
	const struct lab_kernel *k = l->kernel;

	if (lab->broken)
		return gtu_fail(err, GTU_ERR_USAGE, "this laboratory stopped inside a kernel and cannot run another; create a new one");
	if (!l->block || l->block % LAB_LANES || l->block / LAB_LANES > lab->m.warps)
		return gtu_fail(err, GTU_ERR_USAGE, "%s: a block of %u threads is not a multiple of %u up to the %u of an SM of %s",
				k->name, l->block, LAB_LANES, lab->m.warps * LAB_LANES, lab->m.name);
	if (k->shared > lab->m.shared)
		return gtu_fail(err, GTU_ERR_USAGE, "%s: a block has %u bytes of shared memory, an SM of %s has %u", k->name,
				k->shared, lab->m.name, lab->m.shared);
	if (l->grid > UINT32_MAX / (l->block / LAB_LANES))
		return gtu_fail(err, GTU_ERR_USAGE, "%s: %" PRIu64 " blocks are too many for 32-bit warp numbers", k->name, l->grid);
	return 0;
}

uint64_t lab_blocks_at_once(const struct lab_machine *m, const struct lab_kernel *k, uint32_t threads)
{
	uint64_t each = m->warps / (threads / LAB_LANES);

	each = each < m->blocks ? each : m->blocks;
	if (k->shared && m->shared / k->shared < each)
		each = m->shared / k->shared;
	return each * m->sms;
}

/* Fill the SMs with blocks in round-robin order; each block that ends makes space for another. */
static void first_blocks(struct lab *lab, uint64_t cycle)
{
	const uint64_t at_once = lab_blocks_at_once(&lab->m, lab->launch->kernel, lab->launch->block);

	lab->live_blocks = lab->launch->grid < at_once ? lab->launch->grid : at_once;
	lab->first_blocks = lab->live_blocks;
	if (lab->live_blocks)
		lab_schedule(&lab->calendar, cycle, lab->node_block, EV_BLOCK);
}

int lab_run(struct lab *lab, const struct lab_launch *l, struct lab_count *count, struct gtu_error *err)
{
	uint64_t begin = lab->calendar.now;
	int rc = check_launch(lab, l, err);

	if (rc)
		return rc;
	if (!count && l->kernel->statements > LAB_STATEMENTS)
		return gtu_fail(err, GTU_ERR_USAGE, "%s has %u statements: pass an array for their counts", l->kernel->name,
				l->kernel->statements);
	lab->launch = l;
	lab->count = count ? count : lab->uncounted;
	lab->next_block = lab->live_blocks = 0;
	lab->age = 0;
	lab->block_warps = l->block / LAB_LANES;
	lab_l1_empty(lab);
	first_blocks(lab, begin + lab->m.launch_latency);
	rc = run_events(lab, l->progress, err);
	if (!rc && !lab->stopped && (lab->live_blocks || lab->next_block < l->grid)) {
		lab->broken = true;
		rc = gtu_fail(err, GTU_ERR_FAIL, "%s: %" PRIu64 " blocks are deadlocked at a barrier or waiting for a unit",
			      l->kernel->name, lab->live_blocks);
	}
	lab->launch = NULL;
	lab->stats.launches++;
	lab->stats.cycles += lab->calendar.now - begin;
	lab->broken |= lab->stopped;
	return rc || lab->stopped ? rc : lab_check(lab, err);
}

bool lab_stopped(const struct lab *lab)
{
	return lab->stopped;
}

int lab_run_units(struct lab *lab, struct gtu_error *err)
{
	uint64_t begin = lab->calendar.now;
	int rc = run_events(lab, NULL, err);

	lab->stats.cycles += lab->calendar.now - begin;
	return rc ? rc : lab_check(lab, err);
}

/* ---- Conservation checks --------------------------------------------------------------------- */

struct conservation {
	const char *what;
	uint64_t a, b;
};

static int all_equal(const struct conservation *c, size_t n, struct gtu_error *err)
{
	for (; n--; c++)
		if (c->a != c->b)
			return gtu_fail(err, GTU_ERR_VERIFY, "conservation check failed: %s: %" PRIu64 " versus %" PRIu64,
					c->what, c->a, c->b);
	return 0;
}

/* Traffic of one kind between the SMs and memory. */
static int check_traffic(const struct lab *lab, enum lab_kind k, struct gtu_error *err)
{
	const struct lab_stats *s = &lab->stats;
	uint64_t bytes = 0, sectors = 0;
	unsigned i;

	for (i = 0; i < LAB_SIZES; i++) {
		bytes += s->request[k][i] * (lab->m.noc_header + i * LAB_SECTOR);
		sectors += s->request[k][i] * i;
	}
	const struct conservation c[] = {
		{ "requests sent and arrived", lab_sum(s->request[k], LAB_SIZES), s->arrived[k] },
		{ "bytes of requests sent and arrived", s->request_bytes[k], s->arrived_bytes[k] },
		{ "bytes of requests and their packets' sizes", s->request_bytes[k], bytes },
		{ "replies sent and received", s->reply[k], s->answered[k] },
		{ "bytes of replies sent and received", s->reply_bytes[k], s->answered_bytes[k] },
		{ k == LAB_STORE ? "sectors stored and acknowledged" : "sectors of atomics sent and answered", sectors,
		  k == LAB_LOAD ? sectors : s->reply[k] },
	};

	return all_equal(c, sizeof(c) / sizeof(c[0]), err);
}

int lab_check(const struct lab *lab, struct gtu_error *err)
{
	const struct lab_stats *s = &lab->stats;
	const uint64_t atomics = s->reply[LAB_ATOMIC]; /* looked up as writes if these are written through */
	const uint64_t written = s->reply[LAB_STORE] + (lab->m.l2_writes ? atomics : 0);
	const uint64_t read = s->reply[LAB_LOAD] + (lab->m.l2_writes ? 0 : atomics);
	const uint64_t missed = s->l1_load[LAB_MISS] + s->l1_load[LAB_SECTOR_MISS];
	const bool units = lab->units; /* their accesses look up the L2, and bypass the L1 */
	const struct conservation flying = { "requests still in flight", lab->in_flight, 0 }, c[] = {
		{ "sectors written and looked up in L2", written, units ? written : lab_sum(s->l2_write, LAB_STATUSES) },
		{ "sectors read and looked up in L2", read, units ? read : lab_sum(s->l2_read, LAB_STATUSES) },
		{ "sectors missed in L2 and read from DRAM", s->l2_read[LAB_MISS] + s->l2_read[LAB_SECTOR_MISS] + s->l2_extra_sectors,
		  s->dram_reads },
		{ "sectors read from DRAM and filled", s->dram_reads, s->l2_filled_sectors },
		{ "dirty sectors evicted or written through, and written to DRAM", s->l2_evicted_sectors + s->l2_written_through,
		  s->dram_writes },
		{ "DRAM commands by row state and in total", s->dram_row_hits + s->dram_row_misses, s->dram_reads + s->dram_writes },
		{ "link requests sent and completed", lab_sum(s->link_request, LAB_SIZES), s->link_arrived },
		{ "requests held by page faults and replayed", s->uvm_held, s->uvm_replayed },
		{ "bytes and number of pages migrated in", s->uvm_bytes_in, s->uvm_pages * lab->m.uvm_page },
		{ "pages migrated in, and pages evicted or resident", s->uvm_pages, s->uvm_dropped_pages + lab_uvm_pages(lab) },
		{ "requests to units and their replies", s->unit_requests, s->unit_replies },
		/* a missing load is one request, a hit or merge none; link requests bypass the L1 */
		{ "L1 load misses and requests sent", missed,
		  units || !lab->m.l1_size ? missed : lab_sum(s->request[LAB_LOAD], LAB_SIZES) },
	};
	int rc = all_equal(&flying, 1, err);
	unsigned k;

	for (k = 0; k < LAB_KINDS && !rc; k++)
		rc = check_traffic(lab, k, err);
	return rc ? rc : all_equal(c, sizeof(c) / sizeof(c[0]), err);
}
