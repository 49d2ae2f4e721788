// SPDX-License-Identifier: MIT
/* The memory ceiling of readers (memory.h). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

static uint64_t limit;

/* A positive number with an optional K, M or G; 0 if @text is something else. */
static uint64_t parse(const char *text)
{
	static const char units[] = "KMG";
	char *end;
	uint64_t value = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

	if (*text < '0' || *text > '9' || (*end && (!unit || end[1])) || value > UINT64_MAX >> shift)
		return 0;
	return value << shift;
}

uint64_t gtu_memory_limit(void)
{
	const char *given = secure_getenv("GTU_MEMORY");
	uint64_t value = __atomic_load_n(&limit, __ATOMIC_RELAXED);

	if (!value && given)
		value = parse(given);
	if (!value)
		value = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4 * 3;
	return value;
}

void gtu_set_memory_limit(uint64_t bytes)
{
	__atomic_store_n(&limit, bytes, __ATOMIC_RELAXED);
}

int gtu_check_memory(uint64_t bytes, const char *name, const char *what, struct gtu_error *err)
{
	uint64_t most = gtu_memory_limit();

	if (bytes <= most)
		return 0;
	return gtu_fail(err, GTU_ERR_NOMEM, "%s%s%s would take %llu bytes, the memory ceiling is %llu; raise it by "
			"--memory SIZE or GTU_MEMORY=SIZE", name ? name : "", name ? ": " : "", what,
			(unsigned long long)bytes, (unsigned long long)most);
}
