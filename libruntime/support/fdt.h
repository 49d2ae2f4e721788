/* SPDX-License-Identifier: MIT */
/* Checks flattened device trees from devices and files. */
#ifndef GTU_FDT_H
#define GTU_FDT_H

#include <stddef.h>

#include "gtu/error.h"

/*
 * Check that @blob is a complete flattened device tree of at most @bytes. Returns 0, or GTU_ERR_INPUT
 * with a message.
 */
int gtu_fdt_check(const void *blob, size_t bytes, struct gtu_error *err);

#endif
