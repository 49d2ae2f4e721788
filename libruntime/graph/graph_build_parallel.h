/* SPDX-License-Identifier: MIT */
/* Parallel CSR construction from edge lists, and transposition. */
#ifndef GTU_GRAPH_BUILD_PARALLEL_H
#define GTU_GRAPH_BUILD_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

#include "gtu/error.h"

/* Whether the parallel builder is faster for @m edges on this computer. */
bool gtu_build_is_parallel(uint64_t m);
/*
 * Build the sorted CSR of @pairs edges with 4-byte ids (vertex = id - @base, below @n). @both
 * enters each edge in both directions (self-loops once). The arrays come from malloc().
 * GTU_ERR_NOMEM, GTU_ERR_INTERRUPTED, without an error text.
 */
int gtu_build_parallel(const uint32_t *src, const uint32_t *dst, uint64_t pairs, uint64_t n, uint64_t base,
		       bool both, const struct gtu_progress *progress, uint64_t **row, uint32_t **col, uint64_t *m);
/*
 * Build the transpose of a graph of @m entries of 4 bytes without weights; lists ascend, as in the
 * result of the serial code. GTU_ERR_INPUT: the graph has changed since it was checked.
 */
int gtu_transpose_parallel(const uint64_t *lists, const uint32_t *to, uint64_t m, uint64_t n,
			   const struct gtu_progress *progress, uint64_t **row, uint32_t **col);

#endif
