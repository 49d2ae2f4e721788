// SPDX-License-Identifier: GPL-2.0-only
/* Table of register names for sysfs, debugfs and state dumps. */
#include "gtu_surface.h"

#define PARAM(unit, n, what)	{ what, GTU_PAGE_##unit + GTU_UREG_PARAM(GTU_##unit##_P_##n), 4 }
#define SETTING(unit, n, what)	{ what, GTU_PAGE_##unit + GTU_UREG_SET(GTU_##unit##_S_##n), 4 }
#define COUNTER(unit, n, what)	{ what, GTU_PAGE_##unit + GTU_UREG_COUNTER(n), 8 }
#define REQUESTS(dir, what)                                                                        \
	COUNTER(ZCM, GTU_ZCM_C_REQUESTS(dir, 1), what "_32"),                                      \
	COUNTER(ZCM, GTU_ZCM_C_REQUESTS(dir, 2), what "_64"),                                      \
	COUNTER(ZCM, GTU_ZCM_C_REQUESTS(dir, 3), what "_96"),                                      \
	COUNTER(ZCM, GTU_ZCM_C_REQUESTS(dir, 4), what "_128")
#define STATE(s)		COUNTER(WVR, GTU_WVR_C_STATE(s), "state_" #s)
#define TRIP(bucket, what)	COUNTER(ZCM, GTU_ZCM_C_TRIP(bucket), what)

/* Sorted by unit; parameters, then settings, then counters. */
const struct gtu_field gtu_fields[] = {
	PARAM(SCU, WIDTH, "width"),
	PARAM(SCU, LATENCY, "latency"),
	PARAM(SCU, MERGE, "merge"),
	PARAM(SCU, WAYS, "ways"),
	PARAM(SCU, GROUP, "group"),
	PARAM(SCU, LINES_LOG2, "lines_log2"),
	COUNTER(SCU, GTU_SCU_C_JOBS, "jobs"),
	COUNTER(SCU, GTU_SCU_C_CYCLES, "cycles"),
	COUNTER(SCU, GTU_SCU_C_IN, "in"),
	COUNTER(SCU, GTU_SCU_C_OUT, "out"),
	COUNTER(SCU, GTU_SCU_C_DROPPED, "dropped"),
	COUNTER(SCU, GTU_SCU_C_PROBES, "probes"),
	COUNTER(SCU, GTU_SCU_C_EVICTIONS, "evictions"),
	COUNTER(SCU, GTU_SCU_C_GROUPS, "groups"),
	COUNTER(SCU, GTU_SCU_C_GROUPED, "grouped"),

	PARAM(IRU, SETS, "sets"),
	PARAM(IRU, PARTITIONS, "partitions"),
	PARAM(IRU, BANKS, "banks"),
	PARAM(IRU, LANES, "lanes"),
	PARAM(IRU, INTERLEAVE, "interleave"),
	PARAM(IRU, PREFETCH, "prefetch"),
	PARAM(IRU, LATENCY, "latency"),
	PARAM(IRU, INDEX_BITS, "index_bits"),
	PARAM(IRU, POSITION_BITS, "position_bits"),
	PARAM(IRU, RING_DEPTH, "ring_depth"),
	PARAM(IRU, QUEUE_DEPTH, "queue_depth"),
	SETTING(IRU, TIMEOUT, "timeout"),
	COUNTER(IRU, GTU_IRU_C_JOBS, "jobs"),
	COUNTER(IRU, GTU_IRU_C_CYCLES, "cycles"),
	COUNTER(IRU, GTU_IRU_C_IN, "in"),
	COUNTER(IRU, GTU_IRU_C_MERGED, "merged"),
	COUNTER(IRU, GTU_IRU_C_RECORDS, "records"),
	COUNTER(IRU, GTU_IRU_C_FULL, "full"),
	COUNTER(IRU, GTU_IRU_C_TIMEOUT, "timeout"),
	COUNTER(IRU, GTU_IRU_C_END, "end"),
	COUNTER(IRU, GTU_IRU_C_DISABLED, "disabled"),
	COUNTER(IRU, GTU_IRU_C_LINES, "lines"),
	COUNTER(IRU, GTU_IRU_C_HOPS, "hops"),
	COUNTER(IRU, GTU_IRU_C_BLOCKED, "blocked"),

	PARAM(PEG, ENGINES, "engines"),
	PARAM(PEG, ENTRIES, "entries"),
	PARAM(PEG, LANES, "lanes"),
	PARAM(PEG, EDGE_BYTES, "edge_bytes"),
	PARAM(PEG, LIST_BYTES, "list_bytes"),
	PARAM(PEG, LATENCY, "latency"),
	PARAM(PEG, MESSAGE, "message"),
	PARAM(PEG, CHUNK, "chunk"),
	SETTING(PEG, INTERVAL, "interval"),
	SETTING(PEG, SHIFT, "shift"),
	SETTING(PEG, FLOOR, "floor"),
	COUNTER(PEG, GTU_PEG_C_JOBS, "jobs"),
	COUNTER(PEG, GTU_PEG_C_CYCLES, "cycles"),
	COUNTER(PEG, GTU_PEG_C_VERTICES, "vertices"),
	COUNTER(PEG, GTU_PEG_C_EDGES, "edges"),
	COUNTER(PEG, GTU_PEG_C_RECORDS, "records"),
	COUNTER(PEG, GTU_PEG_C_PARTIAL, "partial"),
	COUNTER(PEG, GTU_PEG_C_INDEX_FETCHES, "index_fetches"),
	COUNTER(PEG, GTU_PEG_C_EDGE_FETCHES, "edge_fetches"),
	COUNTER(PEG, GTU_PEG_C_REFILLS, "refills"),
	COUNTER(PEG, GTU_PEG_C_PUSHED, "pushed"),
	COUNTER(PEG, GTU_PEG_C_SPILLED, "spilled"),
	COUNTER(PEG, GTU_PEG_C_LOOKS, "looks"),
	COUNTER(PEG, GTU_PEG_C_MOVES, "moves"),
	COUNTER(PEG, GTU_PEG_C_MOVED, "moved"),
	COUNTER(PEG, GTU_PEG_C_REFUSED, "refused"),
	COUNTER(PEG, GTU_PEG_C_LIST_MOVES, "list_moves"),
	COUNTER(PEG, GTU_PEG_C_LIST_MOVED, "list_moved"),

	PARAM(WVR, ENTRIES, "entries"),
	PARAM(WVR, WARPS, "warps"),
	PARAM(WVR, LANES, "lanes"),
	PARAM(WVR, TABLE_LATENCY, "table_latency"),
	PARAM(WVR, LATENCY, "latency"),
	COUNTER(WVR, GTU_WVR_C_JOBS, "jobs"),
	COUNTER(WVR, GTU_WVR_C_CYCLES, "cycles"),
	COUNTER(WVR, GTU_WVR_C_ROUNDS, "rounds"),
	COUNTER(WVR, GTU_WVR_C_REGISTERED, "registered"),
	COUNTER(WVR, GTU_WVR_C_WORK, "work"),
	COUNTER(WVR, GTU_WVR_C_RECORDS, "records"),
	COUNTER(WVR, GTU_WVR_C_PARTIAL, "partial"),
	COUNTER(WVR, GTU_WVR_C_SKIPS, "skips"),
	COUNTER(WVR, GTU_WVR_C_SKIPPED, "skipped"),
	STATE(0), STATE(1), STATE(2), STATE(3), STATE(4), STATE(5), STATE(6), STATE(7), STATE(8),

	SETTING(ZCM, ENABLE, "enable"),
	REQUESTS(GTU_ZCM_HOST_READ, "host_read"),
	REQUESTS(GTU_ZCM_HOST_WRITE, "host_write"),
	REQUESTS(GTU_ZCM_APERTURE_READ, "aperture_read"),
	REQUESTS(GTU_ZCM_APERTURE_WRITE, "aperture_write"),
	COUNTER(ZCM, GTU_ZCM_C_BYTES(GTU_ZCM_HOST_READ), "host_read_bytes"),
	COUNTER(ZCM, GTU_ZCM_C_BYTES(GTU_ZCM_HOST_WRITE), "host_write_bytes"),
	COUNTER(ZCM, GTU_ZCM_C_BYTES(GTU_ZCM_APERTURE_READ), "aperture_read_bytes"),
	COUNTER(ZCM, GTU_ZCM_C_BYTES(GTU_ZCM_APERTURE_WRITE), "aperture_write_bytes"),
	COUNTER(ZCM, GTU_ZCM_C_FLIGHT_NOW, "in_flight"),
	COUNTER(ZCM, GTU_ZCM_C_FLIGHT_MAX, "in_flight_max"),
	COUNTER(ZCM, GTU_ZCM_C_FLIGHT_SUM, "in_flight_sum"),
	COUNTER(ZCM, GTU_ZCM_C_WATCHED, "watched_cycles"),
	TRIP(0, "trip_1"), TRIP(1, "trip_2"), TRIP(2, "trip_4"), TRIP(3, "trip_8"),
	TRIP(4, "trip_16"), TRIP(5, "trip_32"), TRIP(6, "trip_64"), TRIP(7, "trip_128"),
	TRIP(8, "trip_256"), TRIP(9, "trip_512"), TRIP(10, "trip_1024"), TRIP(11, "trip_2048"),
	TRIP(12, "trip_4096"), TRIP(13, "trip_8192"), TRIP(14, "trip_16384"),
	TRIP(15, "trip_32768"),
};
static_assert(ARRAY_SIZE(gtu_fields) == GTU_FIELDS);
/* A counter added to hw.h needs a name above. */
static_assert(GTU_SCU_COUNTERS + GTU_IRU_COUNTERS + GTU_PEG_COUNTERS + GTU_WVR_COUNTERS +
	      GTU_ZCM_COUNTERS == GTU_COUNTERS);

const char *const gtu_unit_names[GTU_UNIT_PAGES] = { "scu", "iru", "peg", "wvr", "zcm" };

/* Registers of the global page that can be read without side effects. */
const struct gtu_field gtu_globals[] = {
	{ "magic", GTU_REG_MAGIC, 4 },
	{ "version", GTU_REG_VERSION, 4 },
	{ "caps", GTU_REG_CAPS, 8 },
	{ "units", GTU_REG_UNITS, 4 },
	{ "epoch", GTU_REG_EPOCH, 4 },
	{ "status", GTU_REG_STATUS, 4 },
	{ "scratch", GTU_REG_SCRATCH, 8 },
	{ "error", GTU_REG_ERROR, 4 },
	{ "error_info", GTU_REG_ERROR_INFO, 8 },
	{ "max_contexts", GTU_REG_MAX_CONTEXTS, 4 },
	{ "max_queues", GTU_REG_MAX_QUEUES, 4 },
	{ "max_regions", GTU_REG_MAX_REGIONS, 4 },
	{ "max_ring", GTU_REG_MAX_RING, 4 },
	{ "vectors", GTU_REG_VECTORS, 4 },
	{ "event_rings", GTU_REG_EVENT_RINGS, 4 },
	{ "doorbell_stride", GTU_REG_DOORBELL_STRIDE, 4 },
	{ "clock_hz", GTU_REG_CLOCK_HZ, 8 },
	{ "cycles", GTU_REG_CYCLES, 8 },
	{ "aperture_size", GTU_REG_APERTURE_SIZE, 8 },
	{ "fdt_offset", GTU_REG_FDT_OFFSET, 4 },
	{ "fdt_length", GTU_REG_FDT_LENGTH, 4 },
	{ "fdt_crc", GTU_REG_FDT_CRC, 4 },
	{ "cycle_limit", GTU_REG_CYCLE_LIMIT, 8 },
	{ "mbox_arg0", GTU_REG_MBOX_ARG(0), 8 },
	{ "mbox_arg1", GTU_REG_MBOX_ARG(1), 8 },
	{ "mbox_arg2", GTU_REG_MBOX_ARG(2), 8 },
	{ "mbox_arg3", GTU_REG_MBOX_ARG(3), 8 },
	{ "mbox_arg4", GTU_REG_MBOX_ARG(4), 8 },
	{ "mbox_arg5", GTU_REG_MBOX_ARG(5), 8 },
	{ "mbox_status", GTU_REG_MBOX_STATUS, 4 },
	{ "mbox_result0", GTU_REG_MBOX_RESULT(0), 8 },
	{ "mbox_result1", GTU_REG_MBOX_RESULT(1), 8 },
	{ "mbox_result2", GTU_REG_MBOX_RESULT(2), 8 },
};
static_assert(ARRAY_SIZE(gtu_globals) == GTU_GLOBALS);

static const char *gtu_name_of(const char *const *names, unsigned int n, unsigned int i)
{
	return i < n && names[i] ? names[i] : "?";
}
#define NAME_OF(names, i) gtu_name_of(names, ARRAY_SIZE(names), i)

const char *gtu_opcode_name(unsigned int opcode)
{
	static const char *const names[] = {
		[GTU_OP_NOP] = "nop", [GTU_OP_COPY] = "copy", [GTU_OP_FILL] = "fill",
		[GTU_OP_FENCE] = "fence", [GTU_OP_SCU_BITMASK] = "scu-bitmask",
		[GTU_OP_SCU_DATA] = "scu-data", [GTU_OP_SCU_ACCESS] = "scu-access",
		[GTU_OP_SCU_REPLICATE] = "scu-replicate", [GTU_OP_SCU_EXPAND] = "scu-expand",
		[GTU_OP_IRU_STREAM] = "iru-stream",
		[GTU_OP_PEG_STREAM] = "peg-stream", [GTU_OP_WVR_STREAM] = "wvr-stream",
	};

	return NAME_OF(names, opcode);
}

const char *gtu_cpl_name(unsigned int status)
{
	static const char *const names[] = {
		[GTU_CPL_OK] = "ok", [GTU_CPL_OPCODE] = "opcode", [GTU_CPL_RESERVED] = "reserved",
		[GTU_CPL_PARAM] = "param", [GTU_CPL_OPERAND] = "operand", [GTU_CPL_KEY] = "key",
		[GTU_CPL_RIGHTS] = "rights", [GTU_CPL_BOUNDS] = "bounds", [GTU_CPL_INDEX] = "index",
		[GTU_CPL_OVERFLOW] = "overflow", [GTU_CPL_DMA] = "dma", [GTU_CPL_ABSENT] = "absent",
		[GTU_CPL_LIMIT] = "limit", [GTU_CPL_WIDTH] = "width",
		[GTU_CPL_STALLED] = "stalled", [GTU_CPL_CANCELED] = "canceled",
	};

	static_assert(ARRAY_SIZE(names) == GTU_CPL_COUNT);
	return NAME_OF(names, status);
}

const char *gtu_queue_state_name(unsigned int state)
{
	static const char *const names[] = {
		[GTU_QUEUE_DISABLED] = "disabled", [GTU_QUEUE_ENABLED] = "enabled",
		[GTU_QUEUE_E_TAIL] = "error: tail", [GTU_QUEUE_E_HEAD] = "error: head",
		[GTU_QUEUE_E_DMA] = "error: dma",
	};

	return NAME_OF(names, state);
}
