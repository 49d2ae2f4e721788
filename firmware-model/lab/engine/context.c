// SPDX-License-Identifier: MIT
/* Context switching on x86-64 and aarch64, with ucontext elsewhere; the mapping of stacks. */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "context.h"

#ifdef LAB_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

#if defined(__x86_64__) && !defined(LAB_UCONTEXT)

/* Saves the callee-saved registers. MXCSR and the x87 control word never change. */
__asm__(".text\n"
	".p2align 4\n"
	".hidden lab_context_switch\n"
	".globl lab_context_switch\n"
	".type lab_context_switch, @function\n"
	"lab_context_switch:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size lab_context_switch, .-lab_context_switch\n"
	".hidden lab_context_start\n"
	".type lab_context_start, @function\n"
	"lab_context_start:\n"
	"	movq %r12, %rdi\n"
	"	callq *%r13\n"
	"	ud2\n"
	".size lab_context_start, .-lab_context_start\n");

void lab_context_start(void) __attribute__((visibility("hidden")));

void *lab_context_make(void *top, void (*entry)(void *arg), void *arg)
{
	uint64_t *sp = (uint64_t *)((uintptr_t)top & ~(uintptr_t)63);

	sp -= 2;				/* lab_context_start calls on a stack aligned to 16 bytes */
	sp[0] = sp[1] = 0;
	/* popped by ret */
	*--sp = (uint64_t)(uintptr_t)lab_context_start;
	*--sp = 0;				/* rbp */
	*--sp = 0;				/* rbx */
	*--sp = (uint64_t)(uintptr_t)arg;	/* r12 */
	*--sp = (uint64_t)(uintptr_t)entry;	/* r13 */
	*--sp = 0;				/* r14 */
	*--sp = 0;				/* r15 */
	return sp;
}

#elif defined(__aarch64__) && !defined(LAB_UCONTEXT)

__asm__(".text\n"
	".p2align 2\n"
	".hidden lab_context_switch\n"
	".globl lab_context_switch\n"
	".type lab_context_switch, %function\n"
	"lab_context_switch:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp]\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n"
	".size lab_context_switch, .-lab_context_switch\n"
	".hidden lab_context_start\n"
	".type lab_context_start, %function\n"
	"lab_context_start:\n"
	"	mov x0, x19\n"
	"	blr x20\n"
	"	brk #0\n"
	".size lab_context_start, .-lab_context_start\n");

void lab_context_start(void) __attribute__((visibility("hidden")));

void *lab_context_make(void *top, void (*entry)(void *arg), void *arg)
{
	uint64_t *sp = (uint64_t *)((uintptr_t)top & ~(uintptr_t)63) - 20;
	unsigned i;

	for (i = 0; i < 20; i++)
		sp[i] = 0;
	sp[0] = (uint64_t)(uintptr_t)arg;
	sp[1] = (uint64_t)(uintptr_t)entry;
	sp[11] = (uint64_t)(uintptr_t)lab_context_start;
	return sp;
}

#else

#include <ucontext.h>

/* A program's context is at the top of its own stack; the caller's is on the caller's stack. */
struct frame {
	ucontext_t context;
	void (*entry)(void *arg);
	void *arg;
};

static void start(unsigned high, unsigned low)
{
	struct frame *f = (struct frame *)(uintptr_t)((uint64_t)high << 32 | low);

	f->entry(f->arg);
	abort();
}

void *lab_context_make(void *top, void (*entry)(void *arg), void *arg)
{
	struct frame *f = (struct frame *)(((uintptr_t)top - sizeof(*f)) & ~(uintptr_t)63);
	char *bottom = (char *)top - LAB_STACK;

	f->entry = entry;
	f->arg = arg;
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = bottom;
	f->context.uc_stack.ss_size = (size_t)((char *)f - bottom);
	f->context.uc_link = NULL;
	makecontext(&f->context, (void (*)(void))start, 2, (unsigned)((uint64_t)(uintptr_t)f >> 32),
		    (unsigned)(uintptr_t)f);
	return &f->context;
}

void lab_context_switch(void **from, void *to)
{
	ucontext_t here;

	*from = &here;
	swapcontext(&here, to);
}

#endif

#if defined(__SANITIZE_ADDRESS__) || defined(LAB_UCONTEXT) || !(defined(__x86_64__) || defined(__aarch64__))
#define GUARDED 1
#else
#define GUARDED 0
#endif
#define HUGE_PAGE (2u << 20)

/* Stacks of machines that are no more, for the next: to map and clear them takes longer than a small run. */
#define KEPT 8
static _Atomic(size_t *) kept[KEPT];	/* the first word, below all stacks, is the size */

static size_t mapped(unsigned count, size_t each)
{
	return (each * count + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
}

/*
 * The frames of a thousand warps are the simulator's hottest memory. Without guard pages the stacks
 * use huge pages, which saves TLB misses. Their distance is not a power of two, which would map all
 * of them to the same few cache sets.
 */
void *lab_stacks_map(unsigned count, size_t *each)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes;
	char *map, *start;
	size_t *old;
	unsigned i;

	*each = GUARDED ? ((LAB_STACK + page - 1) / page) * page + page : LAB_STACK + 4096 + 1088;
	bytes = mapped(count, *each);
	for (i = 0; !GUARDED && i < KEPT; i++) {
		old = atomic_exchange(&kept[i], NULL);
		if (old && *old >= bytes)
			return old;
		if (old)
			munmap(old, *old);
	}
	map = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	start = (char *)(((uintptr_t)map + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
	if (start != map)
		munmap(map, (size_t)(start - map));
	munmap(start + bytes, HUGE_PAGE - (size_t)(start - map));
	/* a program that was stopped leaves the red zones of its frames, and an address can come again */
	ASAN_UNPOISON_MEMORY_REGION(start, bytes);
	if (!GUARDED) {
		/* without huge pages it is slower, but correct */
		madvise(start, bytes, MADV_HUGEPAGE);
		*(size_t *)start = bytes;
		return start;
	}
	for (i = 0; i < count; i++)
		if (mprotect(start + *each * i, page, PROT_NONE)) {
			munmap(start, bytes);
			return NULL;
		}
	return start;
}

void lab_stacks_unmap(void *stacks, unsigned count, size_t each)
{
	size_t *none;
	unsigned i;

	if (!stacks)
		return;
	for (i = 0; !GUARDED && i < KEPT; i++) {
		none = NULL;
		if (atomic_compare_exchange_strong(&kept[i], &none, stacks))
			return;
	}
	munmap(stacks, GUARDED ? mapped(count, each) : *(size_t *)stacks);
}
