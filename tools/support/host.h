/* SPDX-License-Identifier: MIT */
/* Describes the computer as far as measurements depend on it. */
#ifndef GTU_HOST_H
#define GTU_HOST_H

#include "json.h"

struct host {
	char cpu[96];			/* the processor's name */
	char system[160];		/* kernel, release, machine */
	char sets[160];			/* instruction sets that the code may use */
	unsigned cpus;			/* that this process may run on */
	unsigned l1_kib, l2_kib, llc_kib; /* data caches of one core; 0: unknown */
};

const struct host *host_describe(void);
void host_json(struct json *j, const char *key);

#endif
