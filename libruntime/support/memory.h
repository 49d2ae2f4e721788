/* SPDX-License-Identifier: MIT */
/*
 * The memory ceiling: the greatest size of one array that a file's content may cause. Readers check
 * it before they allocate.
 */
#ifndef GTU_MEMORY_H
#define GTU_MEMORY_H

#include <stdint.h>

#include "gtu/error.h"

/*
 * The ceiling in bytes: as set, else $GTU_MEMORY (a number of bytes, or one with K, M or G), else
 * three quarters of the machine's memory.
 */
uint64_t gtu_memory_limit(void);
/* Set the ceiling; 0: back to the default. */
void gtu_set_memory_limit(uint64_t bytes);

/*
 * Returns 0 if @bytes are below the ceiling, else GTU_ERR_NOMEM with a message: "@name: @what would
 * take N bytes ...". A NULL @name is left out.
 */
int gtu_check_memory(uint64_t bytes, const char *name, const char *what, struct gtu_error *err);

#endif
