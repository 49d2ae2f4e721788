// SPDX-License-Identifier: MIT
/* The library's kernels as CPU code (cuda_cpu.h), looked up by name; KERNELS_LIST has one KERNEL(name) per kernel. */
#include <cstdio>
#include <cstdlib>

#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "cuda_cpu.h"

#include "libruntime/backend/cuda/kernels/kernels.cu"
#include "tests/cuda/listings.cu"
#include "tests/cuda/records.cu"
#include "tests/cuda/weave.cu"

#define THREADS_MOST	1024
#define STACK		(64 << 10)
#define HUGE_PAGE	(2u << 20)
#define STACK_STEP	192u		/* bytes by which each of 64 stacks begins lower than the one before */
#define SWITCH		64u		/* one atomic operation of this many lets other threads run first */
#define PASSES		4u		/* most times that a block's warps run before another block's */

cpu_index threadIdx, blockIdx, gridDim, blockDim;
/* most times that the lanes of one of these warps run, while their stacks are in the nearest cache */
extern "C" { unsigned cpu_warp_passes = 16; }

namespace {

/* A barrier: number of arrived threads, and completed rounds. */
struct meeting {
	unsigned came, round;
};
struct fiber {
	const meeting *waits;		/* waits until its round differs */
	unsigned round;			/* from this one */
	bool begun, done;
};
/* A meeting of the lanes of a mask. A lane takes part in one at a time, so a warp has at most 32. */
struct gathering {
	meeting of;
	unsigned mask, unread;		/* unread: lanes that have arrived and have not read the values yet */
	uint64_t value[2][32];
};
struct warp {
	gathering group[32];
};
/*
 * Where a fiber goes on. The compiler's jumps, because AddressSanitizer intercepts longjmp() and clears the whole stack
 * in it, which takes longer than the kernels.
 */
typedef void *place[5];
/* A place for a block on the simulated GPU. */
struct resident {
	fiber fibers[THREADS_MOST];	/* short, because each pass looks at all of them */
	place at[THREADS_MOST];		/* of the fibers */
	warp warps[THREADS_MOST / 32];
	meeting everybody;
	unsigned index, left;		/* of the block; threads that have not ended */
	char *stacks, *shared;		/* its shared memory, while another block runs */
};

resident places[CPU_RESIDENT];
resident *here;
unsigned threads, now;
uint64_t state;			/* of the random numbers that interleave the blocks; FAKE_CUDA_SEED chooses them */
cpu_kernel kernel;
void **params;
place scheduler;

unsigned random_below(unsigned limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 32) % limit;
}

/* ---- Shared memory: thread-local variables of this library, of which there is one copy per block ---------------------- */

thread_local char own_tls;
char *shared_memory;
size_t shared_bytes;

int find_shared(struct dl_phdr_info *info, size_t, void *)
{
	char *at = (char *)info->dlpi_tls_data;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const auto *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_TLS || !at || &own_tls < at || &own_tls >= at + p->p_memsz)
			continue;
		shared_memory = at;
		shared_bytes = p->p_memsz;
		return 1;
	}
	return 0;
}

void switch_to(resident *r)
{
	if (here == r)
		return;
	if (here)
		memcpy(here->shared, shared_memory, shared_bytes);
	memcpy(shared_memory, r->shared, shared_bytes);
	here = r;
}

/* ---- Threads ---------------------------------------------------------------------------------------------------------- */

/* Never in the function that sets a place: the compiler would merge the two. */
[[noreturn]] __attribute__((noipa)) void go_to(void **to)
{
	__builtin_longjmp(to, 1);
}

/* The first thread of the warp of thread @i, from @i on, that does not wait and has not ended; behind the warp if none. */
unsigned runnable(const resident *r, unsigned i)
{
	const unsigned end = (i | 31) + 1;

	for (; i < end; i++) {
		const fiber *f = &r->fibers[i];

		if (!f->done && !(f->waits && f->waits->round == f->round))
			break;
	}
	return i;
}

void set_thread(unsigned i)
{
	here->fibers[i].waits = nullptr;
	threadIdx.x = now = i;
}

/* Run the next lane of the warp, directly if it has begun. */
[[noreturn]] __attribute__((noipa)) void go_on(void)
{
	const unsigned next = (now & 31) == 31 ? now + 1 : runnable(here, now + 1);

	if (!(next & 31) || !here->fibers[next].begun)
		go_to(scheduler);
	set_thread(next);
	go_to(here->at[next]);
}

/* Let the other threads run. A macro: after a switch, the processor mispredicts each return. */
#define LEAVE()						\
	do {						\
		if (!__builtin_setjmp(here->at[now]))	\
			go_on();			\
	} while (0)

/* A fiber's main function: runs one thread of each block. */
void live(void)
{
	for (;;) {
		kernel(params);
		here->fibers[now].done = true;
		here->left--;
		LEAVE();
	}
}

/* Run thread @i and the lanes behind it that have begun, until the last one waits. */
__attribute__((noipa)) void enter(unsigned i)
{
	fiber *f = &here->fibers[i];
	static ucontext_t first;

	set_thread(i);
	if (__builtin_setjmp(scheduler))
		return;
	if (f->begun)
		go_to(here->at[i]);
	f->begun = true;
	getcontext(&first);
	first.uc_stack.ss_sp = here->stacks + (size_t)i * STACK;
	/* stacks in use fall on different sets of the caches */
	first.uc_stack.ss_size = STACK - STACK_STEP * (i % 64);
	makecontext(&first, live, 0);
	setcontext(&first);
}

/* Whether the calling thread is the last of @all; if not, it waits for them from its next LEAVE() on. */
inline bool last_of(meeting *m, unsigned all)
{
	if (++m->came == all) {
		m->came = 0;
		m->round++;
		return true;
	}
	here->fibers[now].waits = m;
	here->fibers[now].round = m->round;
	return false;
}

void begin_block(resident *r, unsigned index)
{
	r->index = index;
	r->left = threads;
	for (unsigned i = 0; i < threads; i++)
		r->fibers[i].done = false;
}

/* Run each lane of the warp from thread @first on until it waits; false if all of them wait already. */
bool run_lanes(resident *r, unsigned first)
{
	bool moved = false;

	for (unsigned i = first; i < first + 32 && (i = runnable(r, i)) < first + 32; i = now + 1) {
		moved = true;
		enter(i);
	}
	return moved;
}

/* The same for the threads of the block, a number of times that differs by warp. */
bool run_threads(resident *r)
{
	bool moved = false;

	switch_to(r);
	blockIdx.x = r->index;
	for (unsigned i = 0; i < threads; i += 32)
		for (unsigned passes = 1 + random_below(cpu_warp_passes); passes && run_lanes(r, i); passes--)
			moved = true;
	return moved;
}

void run_blocks(unsigned blocks)
{
	unsigned slots = blocks < CPU_RESIDENT ? blocks : CPU_RESIDENT, next, first, i, running = slots;
	bool moved;

	for (next = 0; next < slots; next++)
		begin_block(&places[next], next);
	while (running) {
		moved = false;
		first = random_below(slots);
		for (i = 0; i < slots; i++) {
			resident *r = &places[(first + i) % slots];
			unsigned passes = 1 + random_below(PASSES);

			if (!r->left)
				continue;
			while (r->left && passes-- && run_threads(r))
				moved = true;
			if (!r->left && next < blocks)
				begin_block(r, next++);
			else if (!r->left)
				running--;
		}
		if (!moved) {
			fprintf(stderr, "a kernel's threads wait for others that have ended\n");
			abort();
		}
	}
}

const struct {
	const char *name;
	cpu_kernel run;
} known[] = {
#define KERNEL(name) { #name, cpu_thunk<&name>::run },
#include KERNELS_LIST
#undef KERNEL
};

}

void cpu_yield(void)
{
	static unsigned often;

	/* the fibers probably wait for another thread */
	if (!(++often % 256))
		usleep(50);
	LEAVE();
}

void cpu_preempt(void)
{
	if (!random_below(SWITCH))
		LEAVE();
}

void cpu_meet(void)
{
	if (!last_of(&here->everybody, threads))
		LEAVE();
}

const uint64_t *cpu_exchange(unsigned mask, uint64_t mine)
{
	warp *w = &here->warps[now / 32];
	gathering *g = nullptr;
	uint64_t *value;

	if (!(mask >> (now & 31) & 1)) {
		fprintf(stderr, "a lane takes part in a warp operation without being in its mask\n");
		abort();
	}
	for (auto &have : w->group) {
		if (have.mask == mask) {
			g = &have;
			break;
		}
		if (!g && !have.of.came && !have.unread)
			g = &have;
	}
	g->mask = mask;
	g->unread++;
	value = g->value[g->of.round & 1];
	value[now & 31] = mine;
	if (!last_of(&g->of, mask == ~0u ? 32 : (unsigned)__builtin_popcount(mask)))
		LEAVE();
	g->unread--;
	return value;
}

/* The variable of a module with this name; NULL if there is none. */
extern "C" void *cpu_variable_find(const char *name, size_t *bytes)
{
	static const struct { const char *name; void *at; size_t bytes; } variables[] = {
		{ "gtu_vertex_lists", gtu_vertex_lists, sizeof(gtu_vertex_lists) },
		{ "gtu_iru_stream", &gtu_iru_stream, sizeof(gtu_iru_stream) },
		{ "gtu_weaver", &gtu_weaver, sizeof(gtu_weaver) },
	};

	for (auto &v : variables)
		if (!strcmp(v.name, name)) {
			*bytes = v.bytes;
			return v.at;
		}
	return nullptr;
}

cpu_kernel cpu_kernel_find(const char *name)
{
	for (auto &k : known)
		if (!strcmp(k.name, name))
			return k.run;
	return nullptr;
}

void cpu_kernel_run(cpu_kernel f, unsigned blocks, unsigned count, void **arguments)
{
	const char *seed = getenv("FAKE_CUDA_SEED");

	/* the calling thread's variables, which exist from the first access on */
	own_tls = 0;
	here = nullptr;
	if (!dl_iterate_phdr(find_shared, nullptr))
		abort();
	if (!state)
		state = 1 + (seed ? strtoull(seed, nullptr, 10) : 0);
	for (auto &r : places) {
		if (r.stacks)
			continue;
		r.stacks = (char *)aligned_alloc(HUGE_PAGE, (size_t)THREADS_MOST * STACK);
		r.shared = (char *)calloc(1, shared_bytes);
		if (!r.stacks || !r.shared)
			abort();
		/* each switch is to another stack: with small pages most would miss the TLB */
		madvise(r.stacks, (size_t)THREADS_MOST * STACK, MADV_HUGEPAGE);
	}
	if (count > THREADS_MOST || count % 32)
		abort();
	kernel = f;
	params = arguments;
	threads = blockDim.x = count;
	gridDim.x = blocks;
	run_blocks(blocks);
}

/* The host's functions of iru.cuh, peg.cuh and weaver.cuh, for tests in C. @bytes: of the test's struct for *s. */
extern "C" {
bool cpu_configure_iru(const gtu_elements_memory *m, uint32_t param, gtu_elements_stream *s, size_t bytes)
{
	return bytes == sizeof(*s) && configure_iru(*m, param, *s);
}
bool cpu_configure_peg(const gtu_elements_memory *m, uint32_t param, uint32_t back_log2, gtu_elements_stream *s, size_t bytes)
{
	return bytes == sizeof(*s) && configure_peg(*m, param, back_log2, *s);
}
bool cpu_configure_weaver(const gtu_elements_memory *m, uint32_t param, uint32_t back_log2, gtu_elements_stream *s, size_t bytes)
{
	return bytes == sizeof(*s) && configure_weaver(*m, param, back_log2, *s);
}
}
