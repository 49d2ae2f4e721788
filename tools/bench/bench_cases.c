// SPDX-License-Identifier: MIT
/*
 * The cases of gtu bench units: every operation, with varied mask density, run length, index
 * locality and working set, from the size of an L2 cache to far beyond the last-level cache.
 */
#include <stdio.h>

#include "bench.h"

#define KIB	1024ull
#define MIB	(1024 * KIB)

#define L2	(512 * KIB)
#define LLC	(8 * MIB)
#define MAIN	(64 * MIB)
#define FAR	(256 * MIB)

#define SCU(kind_, op, set_, width_, ...)                                                          \
	{ .kind = kind_, .unit = "scu", .operation = op, .set = set_, .width = width_, __VA_ARGS__ }
#define IRU(op, set_, locality_, ...)                                                              \
	{ .kind = BENCH_IRU, .unit = "iru", .operation = op, .set = set_, .width = 4,              \
	  .locality = locality_, __VA_ARGS__ }

#define PEG(set_, run_, engines_, locality_, ...)                                                 \
	{ .kind = BENCH_PEG, .unit = "peg", .operation = "gather", .set = set_, .width = 4, .run = run_,    \
	  .vary = true, .engines = engines_, .locality = locality_, __VA_ARGS__ }
#define WVR(set_, run_, ...)                                                                       \
	{ .kind = BENCH_WVR, .unit = "wvr", .operation = "weave", .set = set_, .width = 4, .run = run_,     \
	  .vary = true, __VA_ARGS__ }

const struct bench_case bench_cases[] = {
	SCU(BENCH_BITMASK, "bitmask", L2, 4),
	SCU(BENCH_BITMASK, "bitmask", LLC, 4),
	SCU(BENCH_BITMASK, "bitmask", MAIN, 4, .target = { .share = .80 }),
	SCU(BENCH_BITMASK, "bitmask", FAR, 4),
	SCU(BENCH_BITMASK, "bitmask", MAIN, 1),
	SCU(BENCH_BITMASK, "bitmask", MAIN, 8),
	SCU(BENCH_DATA, "data", L2, 4, .ones = 32),
	SCU(BENCH_DATA, "data", LLC, 4, .ones = 32),
	SCU(BENCH_DATA, "data", MAIN, 4, .ones = 32, .target = { .share = .50 }),
	SCU(BENCH_DATA, "data", FAR, 4, .ones = 32),
	SCU(BENCH_DATA, "data", MAIN, 4, .ones = 1),
	SCU(BENCH_DATA, "data", MAIN, 4, .ones = 8),
	SCU(BENCH_DATA, "data", MAIN, 4, .ones = 56),
	SCU(BENCH_DATA, "data", MAIN, 4, .ones = 64),
	SCU(BENCH_DATA, "data", MAIN, 1, .ones = 32),
	SCU(BENCH_DATA, "data", MAIN, 8, .ones = 32),
	SCU(BENCH_ACCESS, "access", L2, 4, .ones = 32, .locality = BENCH_RANDOM),
	SCU(BENCH_ACCESS, "access", LLC, 4, .ones = 32, .locality = BENCH_RANDOM),
	SCU(BENCH_ACCESS, "access", MAIN, 4, .ones = 32, .locality = BENCH_IN_ORDER),
	SCU(BENCH_ACCESS, "access", MAIN, 4, .ones = 32, .locality = BENCH_WINDOW),
	SCU(BENCH_ACCESS, "access", MAIN, 4, .ones = 32, .locality = BENCH_RANDOM),
	SCU(BENCH_ACCESS, "access", MAIN, 4, .ones = 32, .locality = BENCH_SKEWED),
	SCU(BENCH_ACCESS, "access", MAIN, 4, .locality = BENCH_RANDOM),
	SCU(BENCH_ACCESS, "access", FAR, 4, .ones = 32, .locality = BENCH_RANDOM),
	SCU(BENCH_REPLICATE, "replicate", L2, 4, .run = 16),
	SCU(BENCH_REPLICATE, "replicate", MAIN, 4, .run = 1),
	SCU(BENCH_REPLICATE, "replicate", MAIN, 4, .run = 4),
	SCU(BENCH_REPLICATE, "replicate", MAIN, 4, .run = 16),
	SCU(BENCH_REPLICATE, "replicate", MAIN, 4, .run = 16, .vary = true),
	SCU(BENCH_REPLICATE, "replicate", MAIN, 4, .run = 256),
	SCU(BENCH_EXPAND, "expand", L2, 4, .run = 16, .locality = BENCH_RANDOM),
	SCU(BENCH_EXPAND, "expand", LLC, 4, .run = 16, .locality = BENCH_RANDOM),
	SCU(BENCH_EXPAND, "expand", MAIN, 4, .run = 16, .locality = BENCH_IN_ORDER,
	    .target = { .share = .35 }),
	SCU(BENCH_EXPAND, "expand", MAIN, 4, .run = 16, .locality = BENCH_RANDOM,
	    .target = { .share = .35 }),
	SCU(BENCH_EXPAND, "expand", MAIN, 4, .run = 16, .vary = true, .locality = BENCH_RANDOM),
	SCU(BENCH_EXPAND, "expand", MAIN, 4, .run = 1, .locality = BENCH_RANDOM),
	SCU(BENCH_EXPAND, "expand", MAIN, 4, .run = 4, .locality = BENCH_RANDOM),
	SCU(BENCH_EXPAND, "expand", MAIN, 4, .run = 256, .locality = BENCH_RANDOM),
	SCU(BENCH_EXPAND, "expand", FAR, 4, .run = 16, .locality = BENCH_RANDOM),
	SCU(BENCH_UNIQUE, "unique", MAIN / 4, 4, .step = GTU_STEP_PRODUCE, .locality = BENCH_RANDOM),
	SCU(BENCH_UNIQUE, "unique", MAIN / 4, 4, .step = GTU_STEP_APPLY, .locality = BENCH_RANDOM),
	SCU(BENCH_UNIQUE, "unique", MAIN / 4, 4, .step = GTU_STEP_FUSED, .locality = BENCH_RANDOM),
	SCU(BENCH_UNIQUE, "unique", MAIN / 4, 4, .step = GTU_STEP_FUSED, .locality = BENCH_SKEWED),
	SCU(BENCH_BEST, "best", MAIN / 4, 4, .step = GTU_STEP_FUSED, .locality = BENCH_RANDOM),
	SCU(BENCH_BEST, "best", MAIN / 4, 4, .step = GTU_STEP_FUSED, .locality = BENCH_SKEWED),
	SCU(BENCH_GROUP, "group", MAIN / 4, 4, .step = GTU_STEP_PRODUCE, .locality = BENCH_RANDOM),
	SCU(BENCH_GROUP, "group", MAIN / 4, 4, .step = GTU_STEP_APPLY, .locality = BENCH_RANDOM),
	SCU(BENCH_GROUP, "group", MAIN / 4, 4, .step = GTU_STEP_FUSED, .locality = BENCH_RANDOM),
	SCU(BENCH_GROUP, "group", MAIN / 4, 4, .step = GTU_STEP_FUSED, .locality = BENCH_SKEWED),
	IRU("reorder", L2, BENCH_RANDOM),
	IRU("reorder", LLC, BENCH_RANDOM),
	IRU("reorder", MAIN, BENCH_RANDOM, .target = { .rate = 40 }),
	IRU("reorder", MAIN, BENCH_SKEWED, .target = { .rate = 40 }),
	IRU("reorder", MAIN, BENCH_WINDOW),
	IRU("reorder", MAIN, BENCH_IN_ORDER),
	IRU("reorder", MAIN, BENCH_RANDOM, .position = true, .target = { .rate = 40 }),
	IRU("reorder", MAIN, BENCH_SKEWED, .position = true, .target = { .rate = 40 }),
	IRU("reorder", MAIN / 4, BENCH_RANDOM, .carry = true),
	IRU("filter", MAIN / 4, BENCH_RANDOM, .iru_op = GTU_IRU_OP_FILTER),
	IRU("filter", MAIN / 4, BENCH_SKEWED, .iru_op = GTU_IRU_OP_FILTER),
	IRU("minimum", MAIN / 4, BENCH_SKEWED, .iru_op = GTU_IRU_OP_MIN_U32, .carry = true),
	IRU("add", MAIN / 4, BENCH_SKEWED, .iru_op = GTU_IRU_OP_ADD_F32, .carry = true),
	PEG(L2, 16, 1, BENCH_IN_ORDER),
	PEG(MAIN, 2, 1, BENCH_IN_ORDER),
	PEG(MAIN, 16, 1, BENCH_IN_ORDER, .target = { .rate = 100 }),
	PEG(MAIN, 16, 1, BENCH_RANDOM, .target = { .rate = 100 }),
	PEG(MAIN, 16, 16, BENCH_RANDOM, .target = { .rate = 100 }),
	PEG(MAIN, 256, 1, BENCH_RANDOM),
	PEG(MAIN, 256, 16, BENCH_RANDOM),
	WVR(L2, 16),
	WVR(MAIN, 2),
	WVR(MAIN, 16, .target = { .rate = 200 }),
	WVR(MAIN, 256, .target = { .rate = 200 }),
	{ .unit = NULL },
};

void bench_variant(const struct bench_case *c, char *text, size_t size)
{
	static const char *const locality[] = { "in order", "window", "random", "skewed" };
	static const char *const step[] = { "", "produce", "apply", "fused" };

	switch (c->kind) {
	case BENCH_BITMASK:
		snprintf(text, size, "%u-byte", c->width);
		break;
	case BENCH_DATA:
		snprintf(text, size, "%u-byte, %u/64 ones", c->width, c->ones);
		break;
	case BENCH_ACCESS:
		snprintf(text, size, "%s, %u/64 ones", locality[c->locality], c->ones ? c->ones : 64);
		break;
	case BENCH_REPLICATE:
		snprintf(text, size, "runs of %s%u", c->vary ? "about " : "", c->run);
		break;
	case BENCH_EXPAND:
		snprintf(text, size, "runs of %s%u, %s", c->vary ? "about " : "", c->run,
			 locality[c->locality]);
		break;
	case BENCH_PEG:
		snprintf(text, size, "about %u edges, %s, %u engine%s", c->run,
			 locality[c->locality], c->engines, c->engines > 1 ? "s" : "");
		break;
	case BENCH_WVR:
		snprintf(text, size, "about %u edges per vertex", c->run);
		break;
	case BENCH_IRU:
		snprintf(text, size, "%s%s", locality[c->locality],
			 c->carry ? ", secondary, position" : c->position ? ", position" : "");
		break;
	default:
		snprintf(text, size, "%s, %s", step[c->step], locality[c->locality]);
	}
}
