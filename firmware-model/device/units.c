// SPDX-License-Identifier: MIT
/* The units' descriptor tables (uapi/gtu/units.h) as arrays. */
#include "gtu_model.h"
#include "gtu_units.h"

#define D_ROW(type, member, fdt, reset, minimum, maximum, by, ...) \
	{ .key = #member, .property = fdt, .text = "", .value = reset, .min = minimum, .max = maximum, .step = by, \
	  .field = offsetof(struct gtu_dev_config, member), .bytes = sizeof(type) },
#define P_ROW(UNIT, unit, NAME, label, fdt, reset, minimum, maximum, by, words) \
	{ .name = #label, .key = #unit "_" #label, .property = "gtu," fdt, .text = words, .value = reset, \
	  .min = minimum, .max = maximum, .step = by, .field = offsetof(struct gtu_dev_config, unit##_##label), .bytes = 4 },
#define F_ROW(UNIT, NAME, label, fdt, is, words) \
	{ .name = #label, .property = "gtu," fdt, .text = words, .value = is },
#define H_ROW(UNIT, NAME, fdt, is) { .property = "gtu," fdt, .text = "", .value = is },
#define S_ROW(UNIT, unit, NAME, label, reset, minimum, maximum, words) \
	{ .name = #label, .key = #unit "_" #label, .text = words, .value = reset, .min = minimum, .max = maximum, \
	  .step = 1, .field = offsetof(struct gtu_dev_config, unit##_##label), .bytes = 4 },
#define X_ROW(UNIT, NAME, label, reset, minimum, maximum, words) \
	{ .name = #label, .text = words, .value = reset, .min = minimum, .max = maximum, .step = 1 },
#define C_ROW(UNIT, NAME, label, of, words) { #label, #label, of, words },
#define A_ROW(UNIT, NAME, label, attribute, of, words) { #label, #attribute, of, words },
#define NAME_ROW(UNIT, NAME, label, ...) #label,
#define O_ROW(UNIT, NAME, label, title, words) { label, title, words, GTU_OP_##NAME },
#define L_ROW(UNIT, NAME, label, in_or_out, bytes, words) { label, in_or_out, bytes, words },
#define R_ROW(UNIT, NAME, label, width, words) { #label, words, GTU_##UNIT##_##NAME, width },
#define D_FIELD(UNIT, NAME, label, first, count, of) { label, of, GTU_##UNIT##_##NAME, first, count },
#define B_ROW(UNIT, NAME, label, stride) \
	.block = label, .block_stride = stride, .block_parameter = GTU_##UNIT##_P_##NAME,
#define NO_ROW(...)

const struct gtu_parameter gtu_device_parameters[] = { GTU_DEVICE_ROWS(D_ROW) { 0 } };
const struct gtu_operation gtu_basic_operations[] = { GTU_BASIC_OPERATION_ROWS(O_ROW) { 0 } };
const struct gtu_register_row gtu_unit_registers[] = { GTU_UREG_REGISTER_ROWS(R_ROW, NO_ROW) { 0 } };
const struct gtu_register_field_row gtu_unit_fields[] = { GTU_UREG_REGISTER_ROWS(NO_ROW, D_FIELD) { 0 } };
static const struct gtu_slot basic_slots[] = { GTU_BASIC_SLOT_ROWS(L_ROW) { 0 } };

enum {
#define INDEX_ROW(UNIT, ...) INDEX_##UNIT,
	GTU_UNIT_ROWS(INDEX_ROW)
};

#define ARRAYS(UNIT, unit, words) \
	_Static_assert(GTU_UNIT_##UNIT == 1u << INDEX_##UNIT && GTU_PAGE_##UNIT == (INDEX_##UNIT + 1) * GTU_PAGE, \
		       "rows are in the order of bits and pages"); \
	static const struct gtu_parameter unit##_parameters[] = { \
		GTU_##UNIT##_PARAMETER_ROWS(P_ROW, F_ROW, H_ROW) { 0 } \
	}, unit##_settings[] = { GTU_##UNIT##_SETTING_ROWS(S_ROW, X_ROW) { 0 } }; \
	static const struct gtu_counter unit##_counters[] = { GTU_##UNIT##_COUNTER_ROWS(C_ROW, A_ROW) { 0 } }; \
	static const char *const unit##_counter_names[] = { GTU_##UNIT##_COUNTER_ROWS(NAME_ROW, NAME_ROW) NULL }; \
	static const struct gtu_operation unit##_operations[] = { GTU_##UNIT##_OPERATION_ROWS(O_ROW) { 0 } }; \
	static const struct gtu_slot unit##_slots[] = { GTU_##UNIT##_SLOT_ROWS(L_ROW) { 0 } }; \
	static const struct gtu_register_row unit##_registers[] = { GTU_##UNIT##_REGISTER_ROWS(R_ROW, NO_ROW) { 0 } }; \
	static const struct gtu_register_field_row unit##_fields[] = { GTU_##UNIT##_REGISTER_ROWS(NO_ROW, D_FIELD) { 0 } };
GTU_UNIT_ROWS(ARRAYS)

#define UNIT_ROW(UNIT, unit, words) \
	{ #unit, words, GTU_UNIT_##UNIT, GTU_PAGE_##UNIT, GTU_ID_##UNIT, unit##_parameters, unit##_settings, \
	  unit##_counters, unit##_counter_names, unit##_operations, unit##_slots, \
	  .registers = unit##_registers, .fields = unit##_fields, GTU_##UNIT##_BLOCK_ROWS(B_ROW) },
const struct gtu_unit_table gtu_unit_table[GTU_UNIT_COUNT] = { GTU_UNIT_ROWS(UNIT_ROW) };

/* in the order of the register's bits */
const char *const gtu_capability_names[] = { "regions", "streams", "linear", "cancel", "stream-events", "seek",
						"logical-cycles", "ctx-counters", "ctx-groups", NULL };

const struct gtu_operation *gtu_unit_operation(unsigned n)
{
	const struct gtu_operation *op;
	unsigned i;

	for (i = 0; i < GTU_UNIT_COUNT; i++)
		for (op = gtu_unit_table[i].operations; op->name; op++)
			if (!n--)
				return op;
	return NULL;
}

const struct gtu_operation *gtu_operation(unsigned opcode, const struct gtu_slot **slots)
{
	const struct gtu_operation *op;
	unsigned i;

	for (i = 0; i <= GTU_UNIT_COUNT; i++) {
		const struct gtu_unit_table *t = i < GTU_UNIT_COUNT ? &gtu_unit_table[i] : NULL;

		for (op = t ? t->operations : gtu_basic_operations; op->name; op++) {
			if (op->opcode != opcode)
				continue;
			if (slots)
				*slots = t ? t->slots : basic_slots;
			return op;
		}
	}
	return NULL;
}

const struct gtu_parameter *gtu_parameter(unsigned n)
{
	const struct gtu_parameter *p;
	unsigned list;

	for (list = 0; list < 1 + 2 * GTU_UNIT_COUNT; list++) {
		p = !list ? gtu_device_parameters : list % 2 ? gtu_unit_table[list / 2].parameters :
							       gtu_unit_table[list / 2 - 1].settings;
		for (; gtu_parameter_exists(p); p++)
			if (p->key && !n--)
				return p;
	}
	return NULL;
}
