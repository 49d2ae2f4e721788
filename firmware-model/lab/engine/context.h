/* SPDX-License-Identifier: MIT */
/* Coroutine stacks for the warps' programs, and the context switch. */
#ifndef GTU_LAB_CONTEXT_H
#define GTU_LAB_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#define LAB_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LAB_ASAN 1
#endif
#endif

/*
 * Bytes per warp stack. A program that stalls with less than LAB_STACK_LEAST bytes left is stopped
 * with an error: the warp language's own calls need less than that. With AddressSanitizer or
 * ucontext there is a guard page below as well.
 */
#ifdef __SANITIZE_ADDRESS__
#define LAB_STACK (92u << 10)		/* red zones, and a separate stack slot for every vector */
#else
#define LAB_STACK (28u << 10)
#endif
#define LAB_STACK_LEAST (8u << 10)

/*
 * Map @count stacks, or return NULL. *@each is the distance between stacks; the upper LAB_STACK
 * bytes of each slot are the stack.
 */
void *lab_stacks_map(unsigned count, size_t *each);
void lab_stacks_unmap(void *stacks, unsigned count, size_t each);

/* Prepare a stack below @top. The first switch to it calls entry(arg), which must not return. */
void *lab_context_make(void *top, void (*entry)(void *arg), void *arg);
/* Switch to the context @to; the current one is saved in *@from. */
void lab_context_switch(void **from, void *to);

#endif
