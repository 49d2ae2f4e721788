/* SPDX-License-Identifier: MIT */
/* The units' descriptor tables (uapi/gtu/units.h) as arrays. */
#ifndef GTU_UNITS_TABLE_H
#define GTU_UNITS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/gtu/hw.h"

/* A parameter or setting of a unit: its configurable values and its register's default. */
struct gtu_parameter {
	const char *name;		/* "width"; NULL: in the device tree only */
	const char *key;		/* "scu_width", its key in a configuration; NULL: the same in every build */
	const char *property;		/* "gtu,pipeline-width"; NULL: not in the device tree */
	const char *text;		/* "elements per cycle" */
	size_t field;			/* offset in struct gtu_dev_config, if it has a key */
	uint64_t value;			/* default */
	uint64_t min, max, step;	/* a multiple of step; step 0: a power of two */
	unsigned bytes;			/* of the field */
};

struct gtu_dev_config;

struct gtu_counter {
	const char *name, *attribute;	/* names in libgtu and in sysfs */
	const char *measure, *text;
};

/* A control register of a unit, in each of its blocks. */
struct gtu_register_row {
	const char *name, *text;
	uint32_t offset;		/* in the block, or in the page for gtu_unit_registers */
	uint8_t bytes;
};

struct gtu_register_field_row {
	const char *name, *values;	/* "role", "none, donating, ...": names from 0 on; "": a number */
	uint32_t offset;		/* of its register */
	uint8_t shift, bits;
};

struct gtu_operation {
	const char *name, *title, *text; /* "scu-data", "data compaction" */
	uint8_t opcode;
};

struct gtu_slot {
	const char *name, *direction, *width, *text;	/* "filter mask", "both", "1 bit" */
};

/* A unit with a register page. Its bit is 1 << its index. Arrays end with an entry of zeros. */
struct gtu_unit_table {
	const char *name, *text;	/* "scu", "stream compaction" */
	uint32_t bit, page, id;
	const struct gtu_parameter *parameters, *settings;
	const struct gtu_counter *counters;
	const char *const *counter_names;
	const struct gtu_operation *operations;
	const struct gtu_slot *slots;
	/* Blocks of control registers from GTU_UREG_OWN on, one for each of what a parameter counts. */
	const char *block;		/* "engine"; NULL: none */
	uint32_t block_stride;
	unsigned block_parameter;	/* GTU_x_P_* */
	const struct gtu_register_row *registers;
	const struct gtu_register_field_row *fields;
};

#define GTU_COUNT_ROW(...) + 1
enum { GTU_UNIT_COUNT = 0 GTU_UNIT_ROWS(GTU_COUNT_ROW) };
extern const struct gtu_unit_table gtu_unit_table[GTU_UNIT_COUNT];
extern const struct gtu_operation gtu_basic_operations[];
/* The registers of every unit's page that are neither parameters nor settings nor counters. */
extern const struct gtu_register_row gtu_unit_registers[];
extern const struct gtu_register_field_row gtu_unit_fields[];
/* Operation @n of the units, in the order of their tables; NULL after the last. At most 32. */
const struct gtu_operation *gtu_unit_operation(unsigned n);
/* The names of GTU_CAP_*, by bit; ends with NULL. */
extern const char *const gtu_capability_names[];
/* Returns NULL if no unit has the operation. *slots is set to its unit's slots; @slots may be NULL. */
const struct gtu_operation *gtu_operation(unsigned opcode, const struct gtu_slot **slots);
/* Parameters of the device rather than a unit: contexts, queues, rings. */
extern const struct gtu_parameter gtu_device_parameters[];

/* Configurable parameter @n: the device's first, then each unit's parameters and settings. NULL after the last. */
const struct gtu_parameter *gtu_parameter(unsigned n);

/* Get a parameter's value from a configuration, or its fixed value; set it in a configuration. */
uint64_t gtu_dev_value(const struct gtu_dev_config *config, const struct gtu_parameter *p);
void gtu_dev_put_value(struct gtu_dev_config *config, const struct gtu_parameter *p, uint64_t value);

/* Is this a valid value of a parameter or setting? */
static inline bool gtu_parameter_takes(const struct gtu_parameter *p, uint64_t value)
{
	return value >= p->min && value <= p->max && (p->step ? value % p->step == 0 : value && !(value & (value - 1)));
}

static inline bool gtu_parameter_exists(const struct gtu_parameter *p)
{
	return p->text;
}

/*
 * The instruction set that the model of @unit (GTU_UNIT_SCU, GTU_UNIT_IRU) uses: "portable", "avx2" or "avx512".
 * @portable: first switch all devices of the process to portable C.
 */
const char *gtu_unit_code(uint32_t unit, bool portable);

#endif
