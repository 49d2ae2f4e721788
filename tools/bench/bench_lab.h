/* SPDX-License-Identifier: MIT */
/* gtu bench lab: measures how fast the laboratory simulates. */
#ifndef GTU_BENCH_LAB_H
#define GTU_BENCH_LAB_H

#include <stdint.h>

#include "gtu/error.h"

struct bench_lab {
	uint64_t scale;			/* 2^scale vertices of a Kronecker graph, edge factor 16 */
	const char *machine;
	const char *json;		/* a file, "-", or NULL */
};

int bench_lab(const struct bench_lab *how, const struct gtu_progress *progress, struct gtu_error *err);

#endif
