// SPDX-License-Identifier: MIT
/* The library's kernels as CPU code (cuda_cpu.h), looked up by name; KERNELS_LIST has one KERNEL(name) per kernel. */
#include <cstdio>
#include <cstdlib>

#include <csetjmp>
#include <ucontext.h>
#include <unistd.h>

#include "cuda_cpu.h"

#include "libruntime/backend/cuda/kernels.cu"
#include "tests/cuda/listings.cu"
#include "tests/cuda/records.cu"

#define THREADS_MOST	1024
#define STACK		(256 << 10)

cpu_index threadIdx, blockIdx, gridDim, blockDim;

namespace {

/* A barrier: number of arrived threads, and completed rounds. */
struct meeting {
	unsigned came, round;
};
struct fiber {
	jmp_buf at;
	ucontext_t first;
	bool begun, done;
	const meeting *waits;		/* waits until its round differs */
	unsigned round;			/* from this one */
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

fiber fibers[THREADS_MOST];
warp warps[THREADS_MOST / 32];
meeting everybody;
char *stacks;
unsigned threads, now;
cpu_kernel kernel;
void **params;
jmp_buf scheduler;

void leave(void)
{
	if (!_setjmp(fibers[now].at))
		_longjmp(scheduler, 1);
}

/* A fiber's main function: runs one thread of each block. */
void live(void)
{
	for (;;) {
		kernel(params);
		fibers[now].done = true;
		leave();
	}
}

void enter(unsigned i)
{
	fiber *f = &fibers[i];

	now = i;
	threadIdx.x = i;
	if (_setjmp(scheduler))
		return;
	if (f->begun)
		_longjmp(f->at, 1);
	f->begun = true;
	getcontext(&f->first);
	f->first.uc_stack.ss_sp = stacks + (size_t)i * STACK;
	f->first.uc_stack.ss_size = STACK;
	makecontext(&f->first, live, 0);
	setcontext(&f->first);
}

void wait_for(meeting *m, unsigned all)
{
	unsigned round = m->round;

	if (++m->came == all) {
		m->came = 0;
		m->round++;
		return;
	}
	fibers[now].waits = m;
	fibers[now].round = round;
	leave();
}

void run_block(void)
{
	unsigned left = threads, i;
	bool moved;

	for (i = 0; i < threads; i++)
		fibers[i].done = false;
	while (left) {
		moved = false;
		for (i = 0; i < threads; i++) {
			fiber *f = &fibers[i];

			if (f->done || (f->waits && f->waits->round == f->round))
				continue;
			f->waits = nullptr;
			moved = true;
			enter(i);
			left -= f->done;
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
	leave();
}

void cpu_meet(void)
{
	wait_for(&everybody, threads);
}

void cpu_exchange(unsigned mask, uint64_t mine, uint64_t *out)
{
	warp *w = &warps[now / 32];
	gathering *g = nullptr;
	uint64_t *value;

	if (!(mask >> (now & 31) & 1)) {
		fprintf(stderr, "a lane takes part in a warp operation without being in its mask\n");
		abort();
	}
	for (auto &have : w->group)
		if (have.mask == mask || (!g && !have.of.came && !have.unread))
			g = &have;
	g->mask = mask;
	g->unread++;
	value = g->value[g->of.round & 1];
	value[now & 31] = mine;
	wait_for(&g->of, (unsigned)__builtin_popcount(mask));
	memcpy(out, value, 32 * sizeof(*out));
	g->unread--;
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
	if (!stacks)
		stacks = (char *)malloc((size_t)THREADS_MOST * STACK);
	if (!stacks || count > THREADS_MOST || count % 32)
		abort();
	kernel = f;
	params = arguments;
	threads = blockDim.x = count;
	gridDim.x = blocks;
	for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
		run_block();
}
