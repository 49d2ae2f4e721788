/* SPDX-License-Identifier: MIT */
/* The bits that hardware of the units' parameters holds, without logic: what the papers give as storage. */
#ifndef GTU_UNIT_STORAGE_H
#define GTU_UNIT_STORAGE_H

#include <stdint.h>

#include "gtu/gtu.h"

struct unit_storage {
	const char *unit, *part;	/* the unit's name, and what of it */
	const char *per;		/* "partition", "engine" or "unit" */
	uint32_t copies;		/* partitions or engines */
	uint64_t entries, bits;		/* of each copy; bits per entry */
	const char *published;		/* what the paper states for a copy of its build; "": nothing */
	uint64_t published_bits;	/* the same of an entry, where the paper's differ; 0: equal or unknown */
};

/* The @n-th part of the present units of a device. False after the last. */
bool unit_storage_row(const struct gtu_info *info, unsigned n, struct unit_storage *row);

#endif
