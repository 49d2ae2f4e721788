// SPDX-License-Identifier: GPL-2.0-only
/* Table of register names for sysfs, debugfs and state dumps. */
#include "gtu_surface.h"

#define P_FIELD(UNIT, unit, NAME, name, ...)                                                       \
	{ #name, GTU_PAGE_##UNIT + GTU_UREG_PARAM(GTU_##UNIT##_P_##NAME), 4 },
#define F_FIELD(UNIT, NAME, name, ...) P_FIELD(UNIT, _, NAME, name)
#define S_FIELD(UNIT, unit, NAME, name, ...)                                                       \
	{ #name, GTU_PAGE_##UNIT + GTU_UREG_SET(GTU_##UNIT##_S_##NAME), 4 },
#define X_FIELD(UNIT, NAME, name, ...) S_FIELD(UNIT, _, NAME, name)
#define C_FIELD(UNIT, NAME, name, ...)                                                             \
	{ #name, GTU_PAGE_##UNIT + GTU_UREG_COUNTER(GTU_##UNIT##_C_##NAME), 8 },
#define A_FIELD(UNIT, NAME, name, attribute, ...) C_FIELD(UNIT, NAME, attribute)
#define UNIT_FIELDS(UNIT, ...)                                                                     \
	GTU_##UNIT##_PARAMETER_ROWS(P_FIELD, F_FIELD, GTU_NO_ROW)                                  \
	GTU_##UNIT##_SETTING_ROWS(S_FIELD, X_FIELD)                                                \
	GTU_##UNIT##_COUNTER_ROWS(C_FIELD, A_FIELD)
#define UNIT_NAME(UNIT, unit, ...) #unit,

/* Sorted by unit; parameters, then settings, then counters. */
const struct gtu_field gtu_fields[] = { GTU_UNIT_ROWS(UNIT_FIELDS) };
static_assert(ARRAY_SIZE(gtu_fields) == GTU_FIELDS);

const char *const gtu_unit_names[GTU_UNIT_PAGES] = { GTU_UNIT_ROWS(UNIT_NAME) };

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
#define OPCODE_NAME(UNIT, NAME, name, ...) [GTU_OP_##NAME] = name,
#define OPCODE_NAMES(UNIT, ...) GTU_##UNIT##_OPERATION_ROWS(OPCODE_NAME)
	static const char *const names[] = { OPCODE_NAMES(BASIC) GTU_UNIT_ROWS(OPCODE_NAMES) };

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
