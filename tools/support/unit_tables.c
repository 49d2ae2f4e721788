// SPDX-License-Identifier: MIT
/* Prints the tables of the units: parameters, settings, counters, registers, operations (gtu info --tables). */
#include <inttypes.h>
#include <stdio.h>

#include "firmware-model/device/gtu_units.h"
#include "cli.h"
#include "unit_tables.h"

static void table_parameters(const char *title, const struct gtu_parameter *p)
{
	if (gtu_parameter_exists(p))
		printf("\n%-20s  %10s  %7s  %13s\n", title, "default", "minimum", "maximum");
	for (; gtu_parameter_exists(p); p++) {
		printf("%-20s  %10" PRIu64 "  ", p->key ? p->key : p->name ? p->name : p->property, p->value);
		if (!p->max)
			printf("%22s", "");
		else if (p->max == UINT64_MAX)
			printf("%7" PRIu64 "  %13s", p->min, "2^64 - 1");
		else
			printf("%7" PRIu64 "  %13" PRIu64, p->min, p->max);
		printf("  %s%s", p->text, *p->text && p->max && p->step != 1 ? "; " : "");
		if (p->step > 1)
			printf("a multiple of %" PRIu64, p->step);
		else if (p->max && !p->step)
			printf("a power of two");
		putchar('\n');
	}
}

static void table_registers(const struct gtu_unit_table *t)
{
	const struct gtu_register_field_row *f;
	const struct gtu_register_row *r;

	if (t->block)
		printf("\nregister per %-7s  offset  bytes\n", t->block);
	for (r = t->registers; r->name; r++) {
		printf("%-20s   0x%03x  %5u  %s", r->name, GTU_UREG_OWN + r->offset, r->bytes, r->text);
		for (f = t->fields; f->name; f++)
			if (f->offset == r->offset)
				printf("; %s: %s", f->name, f->values);
		putchar('\n');
	}
	if (t->block)
		printf("0x%x bytes from one %s to the next\n", t->block_stride, t->block);
}

static void table_operations(const struct gtu_operation *op, const struct gtu_slot *slots)
{
	unsigned i;

	if (op->name)
		printf("\nopcode  operation\n");
	for (; op->name; op++)
		printf("0x%02x    %-14s  %s\n", op->opcode, op->name, op->text);
	if (slots->name)
		printf("\nslot                     bytes\n");
	for (i = 0; slots[i].name; i++)
		printf("%4u  %-14s  %-4s %-7s  %s\n", i, slots[i].name, slots[i].direction, slots[i].width, slots[i].text);
}

int unit_print_tables(const char *name)
{
	const char *names[GTU_UNIT_COUNT + 2] = { NULL };
	const struct gtu_unit_table *t = gtu_unit_table;
	const struct gtu_slot *slots;
	unsigned n;
	int at;

	for (n = 0; n < GTU_UNIT_COUNT; n++)
		names[n] = t[n].name;
	names[n] = "device";
	at = cli_choice("table", name, names);
	if (at < 0)
		return CLI_USAGE;
	if (at == GTU_UNIT_COUNT) {
		printf("device\n");
		table_parameters("parameter", gtu_device_parameters);
		gtu_operation(gtu_basic_operations->opcode, &slots);
		table_operations(gtu_basic_operations, slots);
		return CLI_DONE;
	}
	t += at;
	printf("%s: %s, page 0x%x\n", t->name, t->text, t->page);
	table_parameters("parameter", t->parameters);
	table_parameters("setting", t->settings);
	printf("\ncounter                 counts\n");
	for (n = 0; t->counters[n].name; n++)
		printf("%7u  %-20s  %-13s  %s\n", n, t->counters[n].name, t->counters[n].measure, t->counters[n].text);
	table_registers(t);
	table_operations(t->operations, t->slots);
	return CLI_DONE;
}
