/* SPDX-License-Identifier: MIT */
#ifndef GTU_GRAPH_BUILD_PARALLEL_H
#define GTU_GRAPH_BUILD_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

#include "gtu/error.h"

/* Whether so many pairs are worth it on this computer. */
bool gtu_build_is_parallel(uint64_t m);
/*
 * The sorted CSR of @pairs of 4-byte ids (vertex = id - @base, below @n), each both ways with @both (self loops
 * once). Arrays are malloc'ed. GTU_ERR_NOMEM, GTU_ERR_INTERRUPTED, without a sentence.
 */
int gtu_build_parallel(const uint32_t *src, const uint32_t *dst, uint64_t pairs, uint64_t n, uint64_t base,
		       bool both, const struct gtu_progress *progress, uint64_t **row, uint32_t **col, uint64_t *m);

#endif
