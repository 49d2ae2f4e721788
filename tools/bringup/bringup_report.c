// SPDX-License-Identifier: MIT
/* bringup: writes the report as JSON. */
#include <string.h>

#include "bringup.h"
#include "tools/support/json.h"
#include "tools/support/atomic_file.h"

static const char *const direction_name[GTU_ZCM_DIRECTIONS] = { "host_read", "host_write", "aperture_read", "aperture_write" };

static void findings(struct json *j, const struct bringup *b)
{
	const char *name[16];
	unsigned i, n = bringup_diagnoses(b, name, 16);

	json_u64(j, "steps", (unsigned)__builtin_popcount(b->chosen));
	json_u64(j, "checked", (unsigned)__builtin_popcount(b->checked));
	json_begin_array(j, "diagnoses");
	for (i = 0; i < n; i++)
		json_string(j, NULL, name[i]);
	json_end_array(j);
	json_begin_array(j, "findings");
	for (i = 0; i < b->findings; i++) {
		json_begin_object(j, NULL);
		json_string(j, "step", b->finding[i].step);
		json_string(j, "state", b->finding[i].state == BRINGUP_FAIL ? "fail" : bringup_state_name[b->finding[i].state]);
		if (*b->finding[i].bug)
			json_string(j, "diagnosis", b->finding[i].bug);
		json_string(j, "text", b->finding[i].text);
		json_end_object(j);
	}
	json_end_array(j);
}

static void bars(struct json *j, const struct bringup *b)
{
	unsigned i;

	json_begin_array(j, "bars");
	for (i = 0; i < ACCESS_BARS; i++) {
		if (!b->bar[i])
			continue;
		json_begin_object(j, NULL);
		json_u64(j, "bar", i);
		json_u64(j, "bytes", b->bar[i]);
		json_u64(j, "address", b->bar_address[i]);
		json_bool(j, "wide", b->bar_flags[i] & 4);
		json_bool(j, "prefetchable", b->bar_flags[i] & 8);
		json_end_object(j);
	}
	json_end_array(j);
}

static void registers(struct json *j, const struct bringup *b)
{
	unsigned i;

	json_begin_array(j, "registers");
	for (i = 0; i < b->regs; i++) {
		json_begin_object(j, NULL);
		json_u64(j, "offset", b->reg[i].offset);
		json_string(j, "name", b->reg[i].name);
		json_string(j, "access", b->reg[i].access);
		if (b->reg[i].wanted)
			json_u64(j, "expected", b->reg[i].want);
		json_u64(j, "read", b->reg[i].got);
		json_bool(j, "differs", b->reg[i].bad);
		json_end_object(j);
	}
	json_end_array(j);
}

static void requests(struct json *j, const struct bringup *b)
{
	unsigned d, s;

	json_begin_object(j, "requests");
	for (d = 0; d < GTU_ZCM_DIRECTIONS; d++) {
		json_begin_array(j, direction_name[d]);
		for (s = 0; s < 4; s++)
			json_u64(j, NULL, b->requests[d][s]);
		json_end_array(j);
	}
	json_end_object(j);
}

int bringup_json(const struct bringup *b, const char *path, struct gtu_error *err)
{
	struct atomic_file w;
	struct json j;
	unsigned i;
	int rc = atomic_file_open(&w, path, err);

	if (rc)
		return rc;
	json_start(&j, w.file);
	json_begin_object(&j, NULL);
	json_u64(&j, "failed", b->fails);
	findings(&j, b);
	json_string(&j, "link", b->link);
	bars(&j, b);
	registers(&j, b);
	if (b->watched)
		requests(&j, b);
	json_begin_object(&j, "lockstep");
	json_u64(&j, "seed", b->seed);
	json_u64(&j, "agreed", b->compared);
	json_double(&j, "per_second", b->rate);
	json_end_object(&j);
	json_begin_object(&j, "seconds");
	for (i = 0; i < b->times; i++)
		json_double(&j, b->time[i].name, b->time[i].seconds);
	json_end_object(&j);
	json_end_object(&j);
	json_finish(&j);
	return atomic_file_close(&w, rc, err);
}
