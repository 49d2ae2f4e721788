// SPDX-License-Identifier: MIT
/* Reads the processor's name, instruction sets and caches. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host.h"

static void add_set(char *sets, size_t size, const char *name)
{
	size_t used = strlen(sets);

	snprintf(sets + used, size - used, "%s%s", used ? " " : "", name);
}

static void find_sets(char *sets, size_t size)
{
#if defined(__x86_64__)
#define TRY(name) do { if (__builtin_cpu_supports(name)) add_set(sets, size, name); } while (0)
	__builtin_cpu_init();
	add_set(sets, size, "x86-64");
	TRY("sse4.2");
	TRY("avx");
	TRY("avx2");
	TRY("bmi2");
	TRY("avx512f");
	TRY("avx512bw");
	TRY("avx512vbmi2");
#undef TRY
#elif defined(__aarch64__)
	add_set(sets, size, "armv8-a neon");
#elif defined(__riscv)
	add_set(sets, size, "riscv64");
#else
	add_set(sets, size, "unknown");
#endif
}

/* The value of the first "model name" line of /proc/cpuinfo. */
static void find_cpu(char *cpu, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256], *value;

	snprintf(cpu, size, "unknown processor");
	while (f && fgets(line, sizeof(line), f)) {
		value = strchr(line, ':');
		if (!value || strncmp(line, "model name", 10))
			continue;
		value += strspn(value, ": \t");
		value[strcspn(value, "\n")] = 0;
		snprintf(cpu, size, "%s", value);
		break;
	}
	if (f)
		fclose(f);
}

/* Size in KiB of the data or unified cache of @level of CPU 0; @level 0: the last level. */
static unsigned cache_kib(unsigned level)
{
	unsigned index, best = 0, size, found, highest = 0;
	char path[96], type[32];
	FILE *f;

	for (index = 0; index < 8; index++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/type", index);
		f = fopen(path, "r");
		if (!f)
			break;
		if (fscanf(f, "%31s", type) != 1)
			*type = 0;
		fclose(f);
		if (!strcmp(type, "Instruction"))
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/level", index);
		f = fopen(path, "r");
		found = 0;
		if (f && fscanf(f, "%u", &found) != 1)
			found = 0;
		if (f)
			fclose(f);
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/size", index);
		f = fopen(path, "r");
		size = 0;
		if (f && fscanf(f, "%uK", &size) != 1)
			size = 0;
		if (f)
			fclose(f);
		if (level ? found == level : found > highest) {
			highest = found;
			best = size;
		}
	}
	return best;
}

const struct host *host_describe(void)
{
	static struct host host;
	struct utsname u;
	cpu_set_t set;

	if (host.cpus)
		return &host;
	find_cpu(host.cpu, sizeof(host.cpu));
	find_sets(host.sets, sizeof(host.sets));
	if (!uname(&u))
		snprintf(host.system, sizeof(host.system), "%.40s %.60s %.40s", u.sysname, u.release,
			 u.machine);
	host.cpus = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
	host.l1_kib = cache_kib(1);
	host.l2_kib = cache_kib(2);
	host.llc_kib = cache_kib(0);
	return &host;
}

void host_json(struct json *j, const char *key)
{
	const struct host *h = host_describe();

	json_begin_object(j, key);
	json_string(j, "cpu", h->cpu);
	json_string(j, "system", h->system);
	json_string(j, "instruction_sets", h->sets);
	json_u64(j, "cpus", h->cpus);
	json_u64(j, "l1_kib", h->l1_kib);
	json_u64(j, "l2_kib", h->l2_kib);
	json_u64(j, "last_level_kib", h->llc_kib);
	json_end_object(j);
}
