// SPDX-License-Identifier: MIT
/*
 * Documentation/gtu.rdl describes the registers of hw.h: names, offsets, widths, fields, accesses and
 * reset values, and every register of the model. The parser takes the part of SystemRDL that the file
 * uses: nested addrmap, regfile, reg and field, properties, arrays.
 */
#include <ctype.h>
#include <stdio.h>

#include "firmware-model/device/gtu_units.h"
#include "tests/unit/fixture.h"

#define NAMES	"include/uapi/gtu/hw.h"

struct field {
	char name[40], sw[4];
	bool w1c, has_reset;
	unsigned msb, lsb;
	uint64_t reset;
};
struct reg {
	char map[40], path[80], name[40];	/* path: "SCU." of the regfiles around it */
	uint32_t at, stride, count;
	unsigned width, fields;
	struct field field[16];
};
static struct reg regs[400];
static unsigned count;

/* ---- Parser -------------------------------------------------------------------------------------- */

static const char *source, *where;
static char token[256];

static char *load(const char *name)
{
	FILE *f = fopen(name, "r");
	char *text;
	size_t n;

	if (!f)
		return NULL;
	text = test_alloc(1, 1 << 18);
	n = fread(text, 1, (1 << 18) - 1, f);
	CHECK(n && !fclose(f));
	return text;
}

static void rdl_error(const char *what)
{
	unsigned line = 1;

	for (const char *p = source; p < where; p++)
		line += *p == '\n';
	CHECKF(false, "gtu.rdl:%u: %s at \"%s\"", line, what, token);
}

/* Read the next token into token[]; "" at the end. */
static const char *next(void)
{
	size_t n = 0;

	for (;;) {
		while (isspace((unsigned char)*where))
			where++;
		if (!strncmp(where, "//", 2))
			where += strcspn(where, "\n");
		else if (!strncmp(where, "/*", 2) && strstr(where, "*/"))
			where = strstr(where, "*/") + 2;
		else
			break;
	}
	if (*where == '"') {
		for (where++; *where && *where != '"' && n < sizeof(token) - 1; where++)
			token[n++] = *where;
		where += *where == '"';
	} else if (isalnum((unsigned char)*where) || *where == '_') {
		while ((isalnum((unsigned char)*where) || *where == '_') && n < sizeof(token) - 1)
			token[n++] = *where++;
	} else if (!strncmp(where, "+=", 2)) {
		token[n++] = *where++;
		token[n++] = *where++;
	} else if (*where) {
		token[n++] = *where++;
	}
	token[n] = 0;
	return token;
}

static bool is(const char *what)
{
	return !strcmp(token, what);
}

static void expect(const char *what)
{
	if (!is(what))
		rdl_error(what);
	next();
}

static uint64_t number(void)
{
	char *end;
	const uint64_t value = strtoull(token, &end, 0);

	if (*end || end == token)
		rdl_error("a number");
	next();
	return value;
}

static void copy(char *to, size_t size, const char *from)
{
	CHECKF(strlen(from) < size, "the name %s is too long", from);
	strcpy(to, from);
}

/* Parse "[default] name [= value];" whose name is the current token; @f and @r take what they know. */
static void property(struct field *f, struct reg *r)
{
	char name[40];

	if (is("default"))
		next();
	copy(name, sizeof(name), token);
	next();
	if (is(";")) {
		next();
		return;
	}
	if (!is("="))
		rdl_error("= or ;");
	next();
	if (f && !strcmp(name, "sw"))
		copy(f->sw, sizeof(f->sw), token);
	if (f && !strcmp(name, "onwrite"))
		f->w1c = is("woclr");
	if (r && !strcmp(name, "regwidth"))
		r->width = (unsigned)strtoul(token, NULL, 0);
	next();
	expect(";");
}

/* "{ properties } NAME[msb:lsb] = reset;" after "field" */
static void parse_field(struct reg *r)
{
	struct field *f = &r->field[r->fields++];

	CHECK(r->fields <= LENGTH(r->field));
	memset(f, 0, sizeof(*f));
	expect("{");
	while (!is("}"))
		property(f, NULL);
	next();
	copy(f->name, sizeof(f->name), token);
	next();
	expect("[");
	f->msb = (unsigned)number();
	expect(":");
	f->lsb = (unsigned)number();
	expect("]");
	if (is("=")) {
		next();
		f->has_reset = true;
		f->reset = number();
	}
	expect(";");
}

/* "NAME[n] @ address += stride;" */
static void instance(char *name, size_t size, uint32_t *at, uint32_t *n, uint32_t *stride)
{
	copy(name, size, token);
	next();
	*n = 1;
	*stride = 0;
	if (is("[")) {
		next();
		*n = (uint32_t)number();
		expect("]");
	}
	expect("@");
	*at = (uint32_t)number();
	if (is("+=")) {
		next();
		*stride = (uint32_t)number();
	}
	expect(";");
}

/* The content of an addrmap or regfile, and its closing brace. */
static void parse_block(const char *map)
{
	while (!is("}")) {
		const unsigned first = count;
		char name[40], path[160];
		uint32_t at, n, stride;

		if (is("regfile")) {
			next();
			expect("{");
			parse_block(map);
			instance(name, sizeof(name), &at, &n, &stride);
			for (unsigned i = first; i < count; i++) {
				regs[i].at += at;
				snprintf(path, sizeof(path), "%s.%s", name, regs[i].path);
				copy(regs[i].path, sizeof(regs[i].path), path);
				/* an array of regfiles: only PEG's engines, whose registers are no arrays */
				if (n > 1) {
					regs[i].count = n;
					regs[i].stride = stride;
				}
			}
		} else if (is("reg")) {
			struct reg *r = &regs[count++];

			CHECK(count <= LENGTH(regs));
			*r = (struct reg){ .width = 32 };
			copy(r->map, sizeof(r->map), map);
			next();
			expect("{");
			while (!is("}")) {
				if (is("field")) {
					next();
					parse_field(r);
				} else {
					property(NULL, r);
				}
			}
			next();
			instance(r->name, sizeof(r->name), &r->at, &r->count, &r->stride);
		} else {
			property(NULL, NULL);
		}
	}
	next();
}

static void parse(void)
{
	char map[40];

	if (count)
		return;
	source = where = load("Documentation/gtu.rdl");
	if (!source)
		SKIP("Documentation/gtu.rdl is not here: run the test in the top folder");
	for (next(); *token;) {
		expect("addrmap");
		copy(map, sizeof(map), token);
		next();
		expect("{");
		parse_block(map);
		expect(";");
	}
	CHECK(count > 100);
}

static const struct reg *find(const char *map, const char *path, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(regs[i].map, map) && !strcmp(regs[i].path, path) && !strcmp(regs[i].name, name))
			return &regs[i];
	return NULL;
}

static const struct field *field_of(const struct reg *r, const char *name)
{
	for (unsigned i = 0; r && i < r->fields; i++)
		if (!strcmp(r->field[i].name, name))
			return &r->field[i];
	return NULL;
}

/* ---- Comparison with hw.h ------------------------------------------------------------------------ */

/* Call @visit with the name and the text of the value of each "#define PREFIXname value". */
static void each_define(const char *prefix, void (*visit)(const char *name, const char *value))
{
	const char *line = load(NAMES);
	char name[64], value[64];
	unsigned n = 0;

	CHECK(line);
	for (; line; line = strchr(line, '\n'), line += line != NULL) {
		char format[40];

		snprintf(format, sizeof(format), "#define %s%%63[A-Z0-9_]%%63[^\n]", prefix);
		if (sscanf(line, format, name, value) != 2)
			continue;
		visit(name, value);
		n++;
	}
	CHECKF(n, "hw.h has no %s*", prefix);
}

static void same_register(const char *name, const char *value)
{
	const struct reg *r = find("gtu_registers", "", name);
	unsigned first, step;

	CHECKF(r, "gtu.rdl has no register %s", name);
	if (sscanf(value, "(n) (%x + %u * (n))", &first, &step) == 2)
		CHECKF(r->at == first && r->stride == step, "%s is at 0x%x + %u n in gtu.rdl, 0x%x + %u n in hw.h", name, r->at, r->stride, first, step);
	else
		CHECKF(r->at == strtoul(value, NULL, 0), "%s is at 0x%x in gtu.rdl, %s in hw.h", name, r->at, value);
	/* comments of hw.h begin with the width of wide registers */
	if (strstr(value, "64"))
		CHECKF(r->width == 64, "%s has %u bits in gtu.rdl", name, r->width);
}

static void same_doorbell(const char *name, const char *value)
{
	const struct reg *r = find("gtu_doorbells", "", name);

	CHECKF(r && r->at == strtoul(value, NULL, 0), "the doorbell %s is not at %s in gtu.rdl", name, value);
}

static void same_bit(const char *reg, const char *name, const char *value)
{
	const struct field *f = field_of(find("gtu_registers", "", reg), name);
	unsigned bit;

	CHECKF(sscanf(value, " (1%*[ul] << %u)", &bit) == 1, "%s of hw.h is not a bit: %s", name, value);
	CHECKF(f && f->msb == bit && f->lsb == bit, "bit %u of %s is not %s in gtu.rdl", bit, reg, name);
}

#define SAME_BITS(REG) static void same_##REG(const char *name, const char *value) { same_bit(#REG, name, value); }
SAME_BITS(CAPS)
SAME_BITS(STATUS)
SAME_BITS(ERROR)

TEST(registers_and_fields_are_those_of_the_header)
{
	parse();
	each_define("GTU_REG_", same_register);
	each_define("GTU_DB_", same_doorbell);
	each_define("GTU_CAP_", same_CAPS);
	each_define("GTU_STATUS_", same_STATUS);
	each_define("GTU_ERROR_", same_ERROR);
	for (unsigned u = 0; u < GTU_UNIT_COUNT; u++) {
		char name[8];

		for (unsigned i = 0; i <= strlen(gtu_unit_table[u].name); i++)
			name[i] = (char)toupper((unsigned char)gtu_unit_table[u].name[i]);
		CHECKF(field_of(find("gtu_registers", "", "UNITS"), name), "UNITS has no field %s", name);
		CHECK_EQ(1u << field_of(find("gtu_registers", "", "UNITS"), name)->lsb, gtu_unit_table[u].bit);
	}
}

static unsigned named(const char *path, const char *prefix, const char *name, uint32_t at, unsigned width)
{
	char whole[80];
	size_t n = (size_t)snprintf(whole, sizeof(whole), "%s%s", prefix, name);

	for (size_t i = 0; i < n; i++)
		whole[i] = whole[i] == '-' ? '_' : (char)toupper((unsigned char)whole[i]);
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(regs[i].path, path) && regs[i].at == at) {
			CHECKF(!strcmp(regs[i].name, whole), "register 0x%x is %s in gtu.rdl, %s in units.h", at, regs[i].name, whole);
			CHECK_EQ(regs[i].width, width);
			return 1;
		}
	CHECKF(false, "gtu.rdl has no register at 0x%x: %s", at, whole);
	return 0;
}

TEST(registers_of_units_are_those_of_their_tables)
{
	parse();
	for (unsigned u = 0; u < GTU_UNIT_COUNT; u++) {
		const struct gtu_unit_table *t = &gtu_unit_table[u];
		unsigned n, found = 0, have = 0;
		char path[16];

		snprintf(path, sizeof(path), "%s.", t->name);
		for (n = 0; path[n]; n++)
			path[n] = (char)toupper((unsigned char)path[n]);
		for (n = 0; gtu_parameter_exists(&t->parameters[n]); n++)
			found += named(path, "P_", t->parameters[n].name ? t->parameters[n].name :
				       strchr(t->parameters[n].property, ',') + 1, t->page + GTU_UREG_PARAM(n), 32);
		for (n = 0; gtu_parameter_exists(&t->settings[n]); n++)
			found += named(path, "S_", t->settings[n].name, t->page + GTU_UREG_SET(n), 32);
		for (n = 0; t->counters[n].name; n++)
			found += named(path, "C_", t->counters[n].name, t->page + GTU_UREG_COUNTER(n), 64);
		for (n = 0; n < count; n++)
			have += !strcmp(regs[n].path, path) && regs[n].name[1] == '_' && strchr("PSC", regs[n].name[0]);
		CHECKF(have == found, "gtu.rdl has %u named registers of %s, units.h %u", have, t->name, found);
	}
}

/* ---- Comparison with the model ------------------------------------------------------------------- */

static bool covered(uint32_t at)
{
	for (unsigned i = 0; i < count; i++) {
		const struct reg *r = &regs[i];

		if (strcmp(r->map, "gtu_registers"))
			continue;
		for (uint32_t n = 0; n < r->count; n++)
			if (at - (r->at + n * r->stride) < r->width / 8)
				return true;
	}
	return false;
}

TEST(every_register_of_the_model_is_described)
{
	struct fx *f;

	parse();
	f = fx_open(&(struct gtu_dev_config){ .event_rings = GTU_EVENT_RINGS_MAX, .peg_engines = GTU_PEG_ENGINES_MAX }, 1);
	for (uint32_t at = 0; at < (GTU_UNIT_COUNT + 1) * GTU_PAGE; at += 4) {
		const uint32_t reg = at % GTU_PAGE;
		/* parameters, settings and counters without names read as zero */
		const bool unnamed = at >= GTU_PAGE && reg >= GTU_UREG_PARAM(0) && reg < GTU_UREG_COUNTER(GTU_UREG_COUNTERS);
		bool exists;

		fx_put(f, GTU_REG_ERROR, 4, ~0u);
		fx_reg(f, at, 4);
		exists = !fx_reg(f, GTU_REG_ERROR, 4);
		if (covered(at) || !unnamed)
			CHECKF(covered(at) == exists, "0x%x is %sa register of the model, and %sin gtu.rdl", at, exists ? "" : "not ",
			       covered(at) ? "" : "not ");
	}
}

TEST(accesses_widths_and_reset_values_are_those_of_the_model)
{
	struct fx *f;

	parse();
	f = fx_open(&(struct gtu_dev_config){ .peg_engines = GTU_PEG_ENGINES_MAX }, 1);
	fx_put(f, GTU_REG_RESET, 4, GTU_RESET_KEY);
	for (unsigned i = 0; i < count; i++) {
		const struct reg *r = &regs[i];
		const bool writable = r->fields && strchr(r->field[0].sw, 'w') && strchr(r->field[0].sw, 'r') && !r->field[0].w1c;
		const unsigned bytes = r->width / 8;
		uint64_t bits = 0, is;

		if (strcmp(r->map, "gtu_registers") || !strcmp(r->name, "EVENT_HEAD"))
			continue;
		is = fx_reg(f, r->at, bytes);
		CHECKF(!fx_reg(f, GTU_REG_ERROR, 4), "%s%s does not have %u bits", r->path, r->name, r->width);
		for (unsigned k = 0; k < r->fields; k++) {
			const struct field *d = &r->field[k];
			const uint64_t mask = (d->msb == 63 && !d->lsb ? ~0ull : (1ull << (d->msb - d->lsb + 1)) - 1);

			CHECKF(d->msb < r->width && d->lsb <= d->msb && !(bits & mask << d->lsb), "field %s of %s is outside or overlaps", d->name, r->name);
			bits |= mask << d->lsb;
			CHECKF(!d->has_reset || (is >> d->lsb & mask) == d->reset, "field %s of %s%s is 0x%llx after a reset, not 0x%llx", d->name, r->path,
			       r->name, (unsigned long long)(is >> d->lsb & mask), (unsigned long long)d->reset);
		}
		CHECKF(!(is & ~bits), "%s%s has bits that gtu.rdl does not know: 0x%llx", r->path, r->name, (unsigned long long)is);
		/* a write of another value to a read-only register changes nothing; to a writable one it does */
		if (strchr(r->field[0].sw, 'r') && !r->field[0].w1c) {
			fx_put(f, r->at, bytes, is ^ 1);
			CHECKF((fx_reg(f, r->at, bytes) != is) == writable, "%s%s is %swritable", r->path, r->name, writable ? "not " : "");
			fx_put(f, r->at, bytes, is);
			fx_put(f, GTU_REG_ERROR, 4, ~0u);
		}
	}
}

TEST_MAIN
