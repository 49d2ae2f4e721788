/* SPDX-License-Identifier: MIT */
/* Stacks of their own for the programs of warps, and the switch between them. */
#ifndef GTU_LAB_CONTEXT_H
#define GTU_LAB_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a warp's stack, but for 4 KiB its program's; a guard page is below. */
#ifdef __SANITIZE_ADDRESS__
#define LAB_STACK (92u << 10)		/* red zones, and a place of its own for every vector */
#else
#define LAB_STACK (28u << 10)
#endif

/* @count stacks in one mapping, or NULL; *each is the distance from one to the next. */
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
