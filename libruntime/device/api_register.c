// SPDX-License-Identifier: MIT
/* Registers of the units by name, from the units' tables. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend.h"
#include "firmware-model/device/gtu_units.h"
#include "gtu/gtu.h"

/* Counts down to the register that is looked for. */
struct search {
	unsigned left;
	const struct gtu_unit_table *unit;
	struct gtu_register *reg;
};

/* True for the register that is looked for, which is described then. */
__attribute__((format(printf, 5, 6)))
static bool take(struct search *s, uint32_t offset, unsigned bytes, const char *text, const char *name, ...)
{
	va_list ap;

	if (s->left--)
		return false;
	*s->reg = (struct gtu_register){
		.text = text, .unit = s->unit->bit, .offset = s->unit->page + offset, .bytes = bytes,
	};
	va_start(ap, name);
	vsnprintf(s->reg->name, sizeof(s->reg->name), name, ap);
	va_end(ap);
	return true;
}

static void take_fields(struct gtu_register *reg, const struct gtu_register_field_row *f, uint32_t offset)
{
	for (; f->name && reg->fields < sizeof(reg->field) / sizeof(reg->field[0]); f++) {
		if (f->offset != offset)
			continue;
		reg->field[reg->fields].name = f->name;
		reg->field[reg->fields].values = f->values;
		reg->field[reg->fields].shift = f->shift;
		reg->field[reg->fields++].bits = f->bits;
	}
}

static bool in_page(struct search *s)
{
	const struct gtu_unit_table *t = s->unit;
	const struct gtu_register_row *r;
	const struct gtu_parameter *p;
	const struct gtu_counter *c;

	for (r = gtu_unit_registers; r->name; r++) {
		if (!take(s, r->offset, r->bytes, r->text, "%s/%s", t->name, r->name))
			continue;
		take_fields(s->reg, gtu_unit_fields, r->offset);
		return true;
	}
	for (p = t->parameters; gtu_parameter_exists(p); p++)
		if (p->name && take(s, GTU_UREG_PARAM((uint32_t)(p - t->parameters)), 4, p->text, "%s/%s", t->name, p->name))
			return true;
	for (p = t->settings; gtu_parameter_exists(p); p++)
		if (take(s, GTU_UREG_SET((uint32_t)(p - t->settings)), 4, p->text, "%s/%s", t->name, p->name))
			return true;
	for (c = t->counters; c->name; c++)
		if (take(s, GTU_UREG_COUNTER((uint32_t)(c - t->counters)), 8, c->text, "%s_counters/%s", t->name, c->name))
			return true;
	return false;
}

static bool in_blocks(struct search *s, unsigned blocks)
{
	const struct gtu_unit_table *t = s->unit;
	const struct gtu_register_row *r;
	unsigned i;

	for (i = 0; i < blocks; i++)
		for (r = t->registers; r->name; r++) {
			if (!take(s, GTU_UREG_OWN + i * t->block_stride + r->offset, r->bytes, r->text, "%s/%s[%u]", t->name,
				  r->name, i))
				continue;
			take_fields(s->reg, t->fields, r->offset);
			return true;
		}
	return false;
}

bool gtu_register_describe(const struct gtu_device *dev, unsigned n, struct gtu_register *reg)
{
	struct search s = { .left = n, .reg = reg };
	unsigned u;

	for (u = 0; u < GTU_UNIT_COUNT; u++) {
		s.unit = &gtu_unit_table[u];
		if (dev->info.units & s.unit->bit &&
		    (in_page(&s) || (s.unit->block && in_blocks(&s, dev->info.param[u][s.unit->block_parameter]))))
			return true;
	}
	return false;
}

int gtu_register_find(const struct gtu_device *dev, const char *name, struct gtu_register *reg,
		      struct gtu_error *err)
{
	unsigned n;

	for (n = 0; gtu_register_describe(dev, n, reg); n++)
		if (!strcmp(reg->name, name))
			return 0;
	return gtu_fail(err, GTU_ERR_USAGE, "%s has no register '%s'; gtu info --registers lists them",
			dev->info.path, name);
}

int gtu_register_read(struct gtu_device *dev, const struct gtu_register *reg, uint64_t *value,
		      struct gtu_error *err)
{
	if (dev->ops->read)
		return dev->ops->read(dev, reg->offset, value, err);
	return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s is a GPU and has no registers", dev->info.path);
}
