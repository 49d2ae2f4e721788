/* SPDX-License-Identifier: MIT */
/* Stacks of their own for the programs of warps, and the switch between them. */
#ifndef GTU_LAB_CONTEXT_H
#define GTU_LAB_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bytes of a warp's stack. A program that stops with less than LAB_STACK_LEAST of them left has gone too deep: what
 * the warp language itself calls needs less. With AddressSanitizer and ucontext there is a guard page below as well.
 */
#ifdef __SANITIZE_ADDRESS__
#define LAB_STACK (92u << 10)		/* red zones, and a place of its own for every vector */
#else
#define LAB_STACK (28u << 10)
#endif
#define LAB_STACK_LEAST (8u << 10)

/*
 * @count stacks in one mapping, or NULL; *each is the distance from one to the next, LAB_STACK bytes of which, the
 * upper ones, are the stack.
 */
void *lab_stacks_map(unsigned count, size_t *each);
void lab_stacks_unmap(void *stacks, unsigned count, size_t each);

/*
 * Prepare a stack whose highest byte is before @top: the first switch to what is returned calls
 * entry(arg), which never returns.
 */
void *lab_context_make(void *top, void (*entry)(void *arg), void *arg);
/* Go on with the stack @to; the running one is kept in *from. */
void lab_context_switch(void **from, void *to);

#endif
