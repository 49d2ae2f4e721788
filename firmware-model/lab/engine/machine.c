// SPDX-License-Identifier: MIT
/* The parser and the consistency checks of machine descriptions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "parameters.h"

enum group { NEEDED, ALONE, LINK, UVM, GROUPS }; /* ALONE: optional without a group */
static const char *const group_names[] = { "", "", "link to host memory", "unified memory" };

struct key {
	const char *name;
	enum lab_dimension dimension;
	size_t at;
	bool real;			/* a double, else a uint32_t */
	/* ALONE: 0 or the first word if missing; a later group: only with the rest of its group */
	uint8_t group;
	double min, max;
	const char *words[4];		/* WORD: the value is the index */
};

#define KEY(group, name, dim, field, real, lo, hi, ...)                                            \
	{ name, LAB_##dim, offsetof(struct lab_machine, field), real, group, lo, hi, { __VA_ARGS__ } }
#define K(name, dim, field, lo, hi) KEY(NEEDED, name, dim, field, false, lo, hi, 0)
#define R(name, dim, field, lo, hi) KEY(NEEDED, name, dim, field, true, lo, hi, 0)
#define OK(name, dim, field, lo, hi) KEY(ALONE, name, dim, field, false, lo, hi, 0)
#define LK(name, dim, field, lo, hi) KEY(LINK, name, dim, field, false, lo, hi, 0)
#define LR(name, dim, field, lo, hi) KEY(LINK, name, dim, field, true, lo, hi, 0)
#define UK(name, dim, field, lo, hi) KEY(UVM, name, dim, field, false, lo, hi, 0)
#define UR(name, dim, field, lo, hi) KEY(UVM, name, dim, field, true, lo, hi, 0)
#define W(group, name, field, ...) KEY(group, name, WORD, field, false, 0, 0, __VA_ARGS__)
#define T(name, field, size) KEY(NEEDED, name, TEXT, field, false, 0, size, 0)

static const struct key keys[] = {
	T("machine", name, 64),
	T("oracle", oracle, 64),
	T("note", note, 256),
	R("core.clock", MHZ, core_mhz, 1, 1e5),
	K("sm.count", NUMBER, sms, 1, LAB_SMS_MAX),
	K("sm.warps", NUMBER, warps, 1, LAB_WARPS_MAX),
	K("sm.blocks", NUMBER, blocks, 1, LAB_WARPS_MAX),
	K("sm.schedulers", NUMBER, schedulers, 1, 8),
	W(NEEDED, "sm.policy", policy, "gto", "rr", "barrel"),
	W(NEEDED, "sm.atomics", atomics, "free", "block", "store", "load"),
	OK("sm.loads", NUMBER, loads, 0, LAB_LOADS_MAX),
	OK("sm.lines", NUMBER, lines, 0, 4096),
	OK("sm.socket", NUMBER, socket, 0, LAB_SMS_MAX),
	W(ALONE, "sm.first", first_next, "zero", "next"),
	K("sm.alu_latency", CYCLES, alu_latency, 1, 1000),
	K("sm.shared", BYTES, shared, 0, 1 << 20),
	K("sm.shared_latency", CYCLES, shared_latency, 1, 1000),
	K("launch.latency", CYCLES, launch_latency, 0, 1 << 24),
	K("coalesce.load", BYTES, load_unit, 32, 128),
	K("coalesce.store", BYTES, store_unit, 32, 128),
	K("coalesce.atomic", BYTES, atomic_unit, 32, 128),
	K("l1.size", BYTES, l1_size, 0, 1 << 20),
	K("l1.ways", NUMBER, l1_ways, 1, 256),
	W(NEEDED, "l1.index", l1_index, "linear", "fermi", "folded"),
	W(NEEDED, "l1.sectored", l1_sectored, "no", "yes"),
	K("l1.latency", CYCLES, l1_latency, 1, 10000),
	K("l1.mshrs", NUMBER, l1_mshrs, 1, 4096),
	K("l1.merges", NUMBER, l1_merges, 1, 64),
	K("l1.miss_queue", NUMBER, l1_miss_queue, 1, 4096),
	W(ALONE, "l1.victim", l1_victim_filled, "oldest", "filled"),
	K("noc.flit", BYTES, noc_flit, 8, 256),
	K("noc.header", BYTES, noc_header, 1, 64),
	K("noc.latency", CYCLES, noc_latency, 0, 10000),
	K("noc.outstanding", NUMBER, noc_outstanding, 32, 65536),
	W(ALONE, "noc.replies", noc_whole_replies, "sectors", "whole"),
	K("l2.slices", NUMBER, l2_slices, 1, LAB_SLICES_MAX),
	K("l2.size", BYTES, l2_size, LAB_LINE, 1 << 28),
	K("l2.ways", NUMBER, l2_ways, 1, 32),
	W(NEEDED, "l2.index", l2_index, "linear", "fermi", "folded"),
	K("l2.latency", CYCLES, l2_latency, 1, 10000),
	OK("l2.mshrs", NUMBER, l2_mshrs, 0, LAB_L2_MSHRS_MAX),
	W(ALONE, "l2.sectored", l2_whole_lines, "yes", "no"),
	W(ALONE, "l2.writes", l2_writes, "back", "through"),
	W(ALONE, "energy", gpuwattch, "measured", "gpuwattch"),
	K("dram.channels", NUMBER, dram_channels, 1, LAB_SLICES_MAX),
	K("dram.latency", CYCLES, dram_latency, 0, 10000),
	R("dram.bandwidth", GBS, dram_gbs, 0.1, 1e5),
	K("dram.banks", NUMBER, dram_banks, 1, 256),
	K("dram.row", BYTES, dram_row, LAB_LINE, 1 << 20),
	R("dram.hit", NS, dram_hit_ns, 0, 1e5),
	R("dram.miss", NS, dram_miss_ns, 0, 1e5),
	LR("link.bandwidth", GBS, link_gbs, 0.01, 1e5),
	LK("link.header", BYTES, link_header, 0, 128),
	LK("link.requests", NUMBER, link_requests, 1, 65536),
	LR("link.round_trip", NS, link_round_trip_ns, 1, 1e6),
	KEY(ALONE, "link.request", NS, link_request_ns, true, 0, 1e6, 0),
	LK("link.host_atom", BYTES, link_host_atom, 32, 4096),
	W(LINK, "link.cache", link_cached, "none", "l1"),
	UK("uvm.page", BYTES, uvm_page, 4096, 1 << 21),
	UK("uvm.block", BYTES, uvm_block, 4096, 1 << 24),
	UR("uvm.memory", BYTES, uvm_memory, 4096, 1e15),
	UK("uvm.batch", NUMBER, uvm_batch, 1, 65536),
	UK("uvm.prefetch", NUMBER, uvm_prefetch, 0, 100),
	UR("uvm.fault", NS, uvm_fault_ns, 0, 1e9),
	UR("uvm.bandwidth", GBS, uvm_gbs, 0.01, 1e5),
	W(UVM, "uvm.advice", uvm_read_mostly, "none", "read_mostly"),
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

static const struct key *find_key(const char *name)
{
	unsigned i;

	for (i = 0; i < KEYS; i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

/* Parse "12 KiB" for @k into *m. On failure, @why has the reason without file and line. */
static bool set_value(struct lab_machine *m, const struct key *k, const char *text, char *why, size_t size)
{
	char *field = (char *)m + k->at;
	unsigned i;
	double v;

	if (k->dimension == LAB_TEXT) {
		if (!*text || strlen(text) >= (size_t)k->max)
			return lab_text_bad(why, size, "'%s' needs a text of 1 to %d characters", k->name, (int)k->max - 1);
		strcpy(field, text);
		return true;
	}
	if (k->dimension == LAB_WORD) {
		for (i = 0; i < 4 && k->words[i]; i++)
			if (!strcmp(k->words[i], text)) {
				*(uint32_t *)field = i;
				return true;
			}
		return lab_text_bad(why, size, "'%s' is %s or %s%s%s, not '%.40s'", k->name, k->words[0], k->words[1],
			   k->words[2] ? " or " : "", k->words[2] ? k->words[2] : "", text);
	}
	if (!lab_value_parse(k->name, k->dimension, false, k->min, k->max, !k->real, text, &v, why, size))
		return false;
	if (k->real)
		*(double *)field = v;
	else
		*(uint32_t *)field = (uint32_t)v;
	return true;
}

static bool power_of_two(uint32_t v)
{
	return v && !(v & (v - 1));
}

static bool coalescing_unit(uint32_t bytes)
{
	return bytes == 32 || bytes == 64 || bytes == 128;
}

/* Check parameters that depend on each other. */
static bool consistent(const struct lab_machine *m, char *why, size_t size)
{
	if (!coalescing_unit(m->load_unit) || !coalescing_unit(m->store_unit))
		return lab_text_bad(why, size, "coalesce.load %u and coalesce.store %u: each is 32, 64 or 128 B", m->load_unit,
			 m->store_unit);
	if (!coalescing_unit(m->atomic_unit) || (m->atomic_unit == 64 && m->atomics < LAB_ATOMICS_STORE))
		return lab_text_bad(why, size, "coalesce.atomic %u is 32 or 128 B, or 64 B with sm.atomics = store or load", m->atomic_unit);
	if (m->l1_size && (m->l1_size % (m->l1_ways * LAB_LINE) ||
				!power_of_two(m->l1_size / (m->l1_ways * LAB_LINE))))
		return lab_text_bad(why, size, "l1.size %u B is not a power of two of sets of %u lines of %u B", m->l1_size,
			 m->l1_ways, LAB_LINE);
	if (m->l1_size && m->l1_index == LAB_INDEX_FERMI && m->l1_size / (m->l1_ways * LAB_LINE) != 64)
		return lab_text_bad(why, size, "l1.index fermi is for 64 sets, l1.size %u B and l1.ways %u make %u",
			 m->l1_size, m->l1_ways, m->l1_size / (m->l1_ways * LAB_LINE));
	if (m->l1_size && m->load_unit != 128 && !m->l1_sectored)
		return lab_text_bad(why, size, "coalesce.load of less than a line needs l1.sectored = yes, or l1.size = 0 B");
	if (m->l2_size % (m->l2_ways * LAB_LINE) || !power_of_two(m->l2_size / (m->l2_ways * LAB_LINE)))
		return lab_text_bad(why, size, "l2.size %u B is not a power of two of sets of %u lines of %u B", m->l2_size,
			 m->l2_ways, LAB_LINE);
	if (m->l2_size / (m->l2_ways * LAB_LINE) > 65536)
		return lab_text_bad(why, size, "l2.size %u B makes %u sets, of at most 65536", m->l2_size,
			 m->l2_size / (m->l2_ways * LAB_LINE));
	if (m->l2_index == LAB_INDEX_FERMI)
		return lab_text_bad(why, size, "l2.index is linear or folded");
	if (m->l2_slices % m->dram_channels)
		return lab_text_bad(why, size, "l2.slices %u is not a multiple of dram.channels %u", m->l2_slices,
			 m->dram_channels);
	if (m->warps % m->schedulers)
		return lab_text_bad(why, size, "sm.warps %u is not a multiple of sm.schedulers %u", m->warps, m->schedulers);
	if (m->policy == LAB_BARREL && m->schedulers != 1)
		return lab_text_bad(why, size, "sm.policy = barrel needs sm.schedulers = 1, not %u", m->schedulers);
	if (m->dram_row % LAB_LINE)
		return lab_text_bad(why, size, "dram.row %u B is not a multiple of a line of %u B", m->dram_row, LAB_LINE);
	if (m->link && m->link_cached && (!m->l1_size || !m->l1_sectored))
		return lab_text_bad(why, size, "link.cache = l1 needs an L1 (l1.size %u B) and l1.sectored = yes", m->l1_size);
	if (m->uvm && (!power_of_two(m->uvm_page) || !power_of_two(m->uvm_block) || m->uvm_block < m->uvm_page ||
			    m->uvm_block / m->uvm_page > 64))
		return lab_text_bad(why, size, "uvm.page %u B and uvm.block %u B: powers of two, a block of 1 to 64 pages", m->uvm_page,
			 m->uvm_block);
	if (m->uvm && (m->uvm_memory < m->uvm_block || m->uvm_memory / m->uvm_block >= 4294967295.0))
		return lab_text_bad(why, size, "uvm.memory %.15g B is less than a block of %u B, or more than 2^32 of them", m->uvm_memory,
			 m->uvm_block);
	if (m->dram_miss_ns < m->dram_hit_ns)
		return lab_text_bad(why, size, "dram.miss %g ns is less than dram.hit %g ns", m->dram_miss_ns, m->dram_hit_ns);
	return true;
}

struct taking {
	struct lab_machine *m;
	uint32_t given[KEYS];		/* line numbers */
};

static bool take_value(void *ctx, unsigned number, char *name, char *value, char *source, char *why, size_t size)
{
	struct taking *t = ctx;
	const struct key *k = find_key(name);

	if (!k)
		return lab_text_bad(why, size, "unknown key '%.60s'", name);
	if (k->dimension != LAB_TEXT && !lab_source_text(source))
		return lab_text_bad(why, size, "'%s' has no '# source: ...' behind its value", k->name);
	if (!set_value(t->m, k, value, why, size))
		return false;
	if (t->given[k - keys])
		return lab_text_bad(why, size, "'%s' was given in line %u already", k->name, t->given[k - keys]);
	t->given[k - keys] = number;
	return true;
}

static int finish(struct lab_machine *m, const uint32_t *given, const char *file, struct gtu_error *err)
{
	const struct key *first[GROUPS] = { 0 }, *missing[GROUPS] = { 0 };
	char why[200];
	unsigned i;

	for (i = 0; i < KEYS; i++) {
		if (given[i])
			first[keys[i].group] = &keys[i];
		else if (keys[i].group >= LINK)
			missing[keys[i].group] = &keys[i];
		else if (keys[i].group == NEEDED && (keys[i].dimension != LAB_TEXT || !i))
			return gtu_fail(err, GTU_ERR_INPUT, "%s: the key '%s' is missing", file, keys[i].name);
	}
	for (i = LINK; i < GROUPS; i++)
		if (first[i] && missing[i])
			return gtu_fail(err, GTU_ERR_INPUT, "%s: '%s' is given, but '%s' is missing", file, first[i]->name,
					missing[i]->name);
	m->link = first[LINK] != NULL;
	m->uvm = first[UVM] != NULL;
	if (!consistent(m, why, sizeof(why)))
		return gtu_fail(err, GTU_ERR_INPUT, "%s: %s", file, why);
	return 0;
}

int lab_machine_parse(const char *text, size_t bytes, const char *file, struct lab_machine *m,
		      struct gtu_error *err)
{
	struct taking t = { .m = m };
	int rc;

	memset(m, 0, sizeof(*m));
	rc = lab_lines_parse(text, bytes, file, take_value, &t, err);
	return rc ? rc : finish(m, t.given, file, err);
}

int lab_machine_read(const char *path, struct lab_machine *m, struct gtu_error *err)
{
	static const size_t limit = 1 << 18;
	FILE *f = fopen(path, "rb");
	size_t n;
	char *text;
	int rc;

	if (!f)
		return gtu_fail(err, GTU_ERR_FAIL, "%s: cannot be opened: %s", path, strerror(errno));
	text = malloc(limit + 1);
	if (!text) {
		fclose(f);
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory to read %s", path);
	}
	n = fread(text, 1, limit + 1, f);
	if (ferror(f))
		rc = gtu_fail(err, GTU_ERR_FAIL, "%s: cannot be read: %s", path, strerror(errno));
	else if (n > limit)
		rc = gtu_fail(err, GTU_ERR_INPUT, "%s: a machine description has at most %zu bytes", path, limit);
	else
		rc = lab_machine_parse(text, n, path, m, err);
	free(text);
	fclose(f);
	return rc;
}

static bool has_group(const struct lab_machine *m, unsigned group)
{
	return group == LINK ? m->link : group == UVM ? m->uvm : true;
}

int lab_machine_set(struct lab_machine *m, const char *assignment, struct gtu_error *err)
{
	struct lab_machine changed = *m;
	char copy[512], why[200], *equals;
	const struct key *k;

	snprintf(copy, sizeof(copy), "%s", assignment);
	equals = strchr(copy, '=');
	if (!equals)
		return gtu_fail(err, GTU_ERR_USAGE, "'%.100s' is not key=value", assignment);
	*equals = 0;
	k = find_key(lab_text_trim(copy));
	if (!k)
		return gtu_fail(err, GTU_ERR_USAGE, "unknown machine key '%.60s'", lab_text_trim(copy));
	if (!has_group(m, k->group))
		return gtu_fail(err, GTU_ERR_USAGE, "machine %s has no %s, so %s cannot be set", m->name, group_names[k->group],
				k->name);
	if (!set_value(&changed, k, lab_text_trim(equals + 1), why, sizeof(why)) || !consistent(&changed, why, sizeof(why)))
		return gtu_fail(err, GTU_ERR_USAGE, "%s", why);
	*m = changed;
	return 0;
}

void lab_machine_print(const struct lab_machine *m, FILE *to)
{
	unsigned i;

	for (i = 0; i < KEYS; i++) {
		const char *field = (const char *)m + keys[i].at;

		if (!has_group(m, keys[i].group) || (keys[i].dimension == LAB_TEXT && !*field) ||
		    (keys[i].group == ALONE && !*(const uint32_t *)field))
			continue;
		fprintf(to, "%s = ", keys[i].name);
		if (keys[i].dimension == LAB_TEXT)
			fputs(field, to);
		else if (keys[i].dimension == LAB_WORD)
			fputs(keys[i].words[*(const uint32_t *)field], to);
		else if (keys[i].real)
			fprintf(to, "%.15g", *(const double *)field);
		else
			fprintf(to, "%u", *(const uint32_t *)field);
		fprintf(to, "%s%s\n", *lab_unit(keys[i].dimension) ? " " : "", lab_unit(keys[i].dimension));
	}
}
