/* SPDX-License-Identifier: MIT */
/*
 * Internal interfaces of the simulator: sm.c (warps, schedulers, LSU), l1.c, memory.c (crossbar,
 * L2, DRAM), link.c, units.c. A request is a node. Each stage reserves the next port or array from
 * the first cycle in which that is free, so that queueing needs no events.
 */
#ifndef GTU_LAB_INTERNAL_H
#define GTU_LAB_INTERNAL_H

#include "coalesce.h"
#include "context.h"
#include "events.h"
#include "uvm.h"
#include "warp.h"

#define LAB_NODES_MAX	(1u << 26)	/* reserved address space, not memory */
#define LAB_STATEMENTS	64u		/* most statements of a kernel run without a @count array */
#define LAB_APART_LOG2	7		/* width of an operation on an array of lab_set_apart(): LAB_LINE */
#define LAB_FRACTION	8		/* fractional bits of a cycle in bus times */

enum lab_warp_state { WARP_FREE, WARP_LIVES, WARP_AT_BARRIER, WARP_ENDS };

/* State of a cache line; masks of sectors. */
struct lab_way {
	uint8_t valid, pending, dirty, partial;
	uint64_t ready; /* L2: cycle in which pending sectors arrive; L1: latest MSHR of the line */
};
struct lab_tags {
	uint32_t sets, ways;
	uint32_t *line;			/* [set][way]; 0: none */
	uint32_t *used;			/* LRU clock, renumbered before it wraps */
	struct lab_way *way;
	uint32_t clock;
};

/* Line numbers of host memory; device lines (address / 128) are below. */
#define LAB_HOST_LINE	0x80000000u

struct lab_mshr {
	uint32_t way;			/* [set * ways + way] */
	uint8_t sectors, merges;
	uint8_t parts; /* requests in flight; over the link, one per run of sectors */
	uint16_t next_free;
};
/* Loads that wait for an MSHR, which has room for l1.merges loads. */
struct lab_waiter {
	uint32_t warp;
	uint8_t board;
};

struct lab_scheduler {
	uint64_t free;			/* next cycle in which it may issue */
	uint64_t ready;			/* slots of ready warps */
	uint8_t last;			/* slot */
	bool event;			/* an event is scheduled */
};

struct lab_block {
	uint64_t number;
	uint32_t alive, arrived;
	uint64_t slots;
	bool used;
};

/*
 * The L1 pipeline: load and store transactions, looked up in order after l1.latency cycles. A
 * blocked lookup stalls those behind it. The LSU continues until the pipeline is full. Atomics
 * bypass the L1 and its pipeline.
 */
#define LAB_PIPE 256u
struct lab_l1_part { /* transactions of one operation that entered in consecutive cycles */
	uint64_t cycle;			/* in which the first entered */
	uint32_t warp;
	uint16_t n;
	uint8_t kind, board;
};
struct lab_l1_pipe {
	uint64_t free;			/* next cycle for a lookup */
	uint32_t parts, part_head, head, count, done; /* done: transactions of the first part */
	bool event, stalled;
	uint64_t stalled_since;
	struct lab_l1_part part[LAB_PIPE];
	uint32_t line[LAB_PIPE];
	uint8_t sectors[LAB_PIPE], partial[LAB_PIPE];
};

struct lab_sm {
	uint64_t lsu_free;
	bool lsu_event, lsu_stalled, lsu_active;
	uint8_t fifo_head, fifo_count, fifo[LAB_WARPS_MAX]; /* slots with operations for the LSU */
	uint32_t next_transaction;
	struct lab_coalesced now;	/* the operation in the LSU */
	uint64_t load_until[LAB_LOADS_MAX]; /* sm.loads: a slot is free from this cycle on */
	struct lab_scheduler scheduler[8];
	uint64_t slots_used;
	uint32_t blocks, shared_free;
	struct lab_block block[LAB_WARPS_MAX];
	uint8_t *shared;		/* of all its blocks */
	uint64_t stalled_since;
	struct lab_tags l1;
	struct lab_mshr *mshr;
	struct lab_waiter *waiter;
	uint16_t mshr_free;		/* 0xffff: none */
	uint32_t mshr_used;
	uint32_t lines;			/* lines that the SM's own loads wait for */
	uint64_t fetch_free;		/* cycle in which the socket may fetch the next instruction */
	struct lab_l1_pipe pipe;
};

/*
 * Reserved cycles of a crossbar output, within the next LAB_SLOTS. Packets reserve slots in
 * simulation order, not in the order of time: a later reservation may take an earlier cycle.
 */
#define LAB_SLOTS 65536u
struct lab_slots {
	uint64_t word[LAB_SLOTS / 64];
	uint64_t from[LAB_SLOTS / 64];	/* word's first cycle / 64 */
	uint64_t run, run_end;		/* cycles from run up to run_end are known to be taken */
};

/* An input queue of the crossbar. */
struct lab_input {
	uint64_t free; /* the cycle after the last packet's, and that packet's output */
	const struct lab_slots *to;
};

/* A crossbar port of an SM or unit. */
struct lab_port {
	struct lab_input out;
	uint32_t outstanding;
	struct lab_slots in;
};

struct lab_bank {
	uint64_t free;			/* in fractions of a cycle, as all DRAM times */
	uint32_t row;			/* open row + 1; 0: none */
};
struct lab_channel {
	uint64_t bus_free;
	struct lab_bank *bank;
};
struct lab_slice {
	uint64_t free;
	struct lab_input out;
	struct lab_slots in;
	struct lab_tags tags;
	uint32_t channel, number;	/* number: among the slices of its channel */
	uint64_t mshr_until[LAB_L2_MSHRS_MAX]; /* l2.mshrs: an MSHR is free from this cycle on */
};

struct lab_link {
	uint64_t down_free, up_free;	/* fractions of a cycle */
	uint64_t served;		/* when the far side has served the last request, plus the round trip */
	uint64_t byte_time;		/* fractions of a cycle per byte, times 256 */
	uint32_t in_flight;
	uint32_t wait_head, wait_tail;	/* queue of nodes that wait for a tag */
	uint64_t since;
};

struct lab {
	struct lab_machine m;
	struct lab_calendar calendar;
	struct lab_stats stats;
	volatile uint8_t part;
	struct lab_warp *warp;		/* [sms * warps] */
	lab_u64 *value;			/* buffer shared by all warps */
	struct lab_sm *sm;
	struct lab_port *port;		/* [sms + 2 * LAB_UNITS] */
	struct lab_slice *slice;
	struct lab_channel *channel;
	struct lab_link link;
	struct lab_uvm uvm;
	uint32_t node_scheduler, node_lsu, node_l1, node_block, node_end, node_free;
	uint32_t in_flight;		/* requests in flight */
	size_t node_map_bytes;

	/* derived from the machine */
	uint64_t dram_atom, dram_hit, dram_miss; /* fractions */
	uint32_t slices_channel, lines_row;
	uint32_t row_log2, banks_log2;	/* of lines_row and dram.banks; 32: not a power of two */
	uint32_t slices_log2;		/* 32: not a power of two */
	uint32_t reply_flits;		/* per sector */
	uint8_t request_flits[LAB_SIZES]; /* by sectors carried */

	/* the launch */
	const struct lab_launch *launch;
	struct lab_count *count, uncounted[LAB_STATEMENTS];
	/* first_blocks: initial blocks still to start */
	uint64_t next_block, live_blocks, first_blocks;
	unsigned next_sm;		/* after the SM that got the last block */
	uint32_t age, block_warps;
	bool fault, broken, stopped;
	struct gtu_error error;
	void *main_sp;
	void *stacks;
	size_t stack_each;
	void *asan_stack;
	const void *main_bottom;
	size_t main_size;

	/* memory */
	void **owned;			/* arrays */
	uint32_t owned_count;
	uint64_t next_addr[3], owned_bytes;

	struct lab_unit unit[LAB_UNITS];
	void *unit_ctx[LAB_UNITS];
	uint64_t unit_wake[LAB_UNITS];
	struct { struct lab_unit_path is; uint32_t next; } unit_path[LAB_UNITS];	/* next: port of a unit with several */
	int units;
	void (*observe_link)(void *ctx, const struct lab_link_request *r);
	void *observer;
};

/* The first SM of @sm's socket, which has its L1, MSHRs and fetch unit. */
static inline struct lab_sm *lab_socket(struct lab *lab, unsigned sm)
{
	return &lab->sm[lab->m.socket ? sm - sm % lab->m.socket : sm];
}

/* sm.c */
void lab_warp_try_wake(struct lab *lab, struct lab_warp *w);
void lab_lsu_run(struct lab *lab, unsigned sm);
void lab_wake_event(struct lab *lab, uint32_t node);
void lab_issue_event(struct lab *lab, uint32_t node);
void lab_scheduler_event(struct lab *lab, uint32_t node);
void lab_lsu_event(struct lab *lab, uint32_t node);
void lab_l1_event(struct lab *lab, uint32_t node);
void lab_block_refill(struct lab *lab, unsigned sm);
void lab_block_start(struct lab *lab, unsigned sm);
/* A request of @w on @board completes in cycle @when. */
static inline void lab_warp_done(struct lab *lab, struct lab_warp *w, unsigned board, uint64_t when)
{
	w->done[board] = when > w->done[board] ? when : w->done[board];
	if (--w->pending[board])
		return;
	for (; board == LAB_LOADS && w->loads; w->loads &= w->loads - 1)
		lab->sm[w->sm].load_until[__builtin_ctzll(w->loads)] = w->done[board];
	lab_warp_try_wake(lab, w);
}

/* Resume the L1 pipeline and the LSU after a reply, a fill or freed space. */
static inline void lab_sm_resume(struct lab *lab, unsigned sm);

/* l1.c */
/* Enter transactions @from on of @c into the pipeline, from @cycle on. Returns their number. */
unsigned lab_l1_enter(struct lab *lab, unsigned sm, struct lab_warp *w, const struct lab_op *op,
		      const struct lab_coalesced *c, unsigned from, uint64_t cycle);
void lab_l1_run(struct lab *lab, unsigned sm);
void lab_l1_fill(struct lab *lab, uint32_t node);
void lab_l1_empty(struct lab *lab);

static inline void lab_sm_resume(struct lab *lab, unsigned sm)
{
	if (lab->sm[sm].pipe.stalled)
		lab_l1_run(lab, sm);
	if (lab->sm[sm].lsu_stalled)
		lab_lsu_run(lab, sm);
}

/* memory.c */
bool lab_tags_init(struct lab_tags *t, uint32_t size, uint32_t ways);
void lab_tags_renew(struct lab_tags *t);
void lab_tags_free(struct lab_tags *t);
uint32_t lab_node_alloc(struct lab *lab);
/* A node for a request of @sectors from @port; @reply_to: LAB_REPLY_TO_*. */
static inline uint32_t lab_request(struct lab *lab, enum lab_kind op, unsigned port, uint32_t line, unsigned sectors,
				   unsigned reply_to, uint32_t owner)
{
	uint32_t node = lab_node_alloc(lab);
	struct lab_node *n = &lab->calendar.node[node];

	n->op = (uint8_t)op;
	n->sectors = (uint8_t)sectors;
	n->partial = 0;
	n->line = line;
	n->port = (uint16_t)port;
	n->reply_to = (uint8_t)reply_to;
	n->owner = owner;
	return node;
}
void lab_node_free(struct lab *lab, uint32_t node);
/* Send @node (op, sectors, line, owner and port are set) over the crossbar from @cycle on. */
void lab_send(struct lab *lab, uint32_t node, uint64_t cycle);
/*
 * Each crossbar input has a queue; its first packet leaves when its output takes it and blocks
 * those behind it. @from's packet of @flits is ready at @cycle. Returns the cycle in which the
 * whole packet has passed @to.
 */
uint64_t lab_cross(struct lab *lab, struct lab_input *from, struct lab_slots *to, uint64_t cycle, unsigned flits);
/* One end on the crossbar: from @port to a sink that takes a packet a cycle; to @port. */
uint64_t lab_port_out(struct lab *lab, unsigned port, uint64_t cycle, unsigned flits);
uint64_t lab_port_in(struct lab *lab, unsigned port, uint64_t cycle, unsigned flits);
void lab_memory_arrive(struct lab *lab, uint32_t node);
void lab_memory_reply(struct lab *lab, uint32_t node);

/* link.c */
/* Length of the next run of set bits from bit *@from on, which is moved to its first; 0: none. */
static inline unsigned lab_run_of(unsigned bits, unsigned *from)
{
	unsigned run = 0;

	while (*from < 4 && !(bits >> *from & 1))
		++*from;
	while (*from + run < 4 && bits >> (*from + run) & 1)
		run++;
	return run;
}
/* Send the request @node of @sectors at the host address @addr. */
void lab_link_send(struct lab *lab, uint32_t node, uint64_t addr, unsigned sectors, uint64_t cycle);
void lab_link_event(struct lab *lab, uint32_t node);

/* units.c */
void lab_unit_event(struct lab *lab, uint32_t node);

/* Mark a way as most recently used. */
static inline void lab_touch(struct lab_tags *t, uint32_t at)
{
	if (__builtin_expect(t->clock == UINT32_MAX, 0))
		lab_tags_renew(t);
	t->used[at] = ++t->clock;
}

/* The first of @n words that is @want, or -1. */
static inline int lab_find_word(const uint32_t *word, uint32_t n, uint32_t want)
{
	uint32_t i;

#ifdef __SSE2__
	if (!(n & 3)) {
		__m128i all = _mm_set1_epi32((int)want);

		for (i = 0; i < n; i += 4) {
			int m = _mm_movemask_epi8(_mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(word + i)), all));

			if (m)
				return (int)i + __builtin_ctz((unsigned)m) / 4;
		}
		return -1;
	}
#endif
	for (i = 0; i < n; i++)
		if (word[i] == want)
			return (int)i;
	return -1;
}

static inline int lab_find(const struct lab_tags *t, uint32_t set, uint32_t line)
{
	return lab_find_word(t->line + (size_t)set * t->ways, t->ways, line);
}

static inline uint32_t lab_set_of(uint32_t index, uint32_t line, uint32_t sets)
{
	uint32_t low, up;

	switch (index) {
	case LAB_INDEX_FERMI:		/* bits of the address, which is 128 * line */
		low = line & 31;
		up = (line >> 6 & 7) | (line >> 10 & 1) << 3 | (line >> 12 & 1) << 4;
		return (low ^ up) + 32 * (line >> 5 & 1);
	case LAB_INDEX_FOLDED:
		line ^= line >> 16;
		line ^= line >> 8;
		return line & (sets - 1);
	}
	return line & (sets - 1);
}

static inline uint64_t lab_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
