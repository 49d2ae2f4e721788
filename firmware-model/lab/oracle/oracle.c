// SPDX-License-Identifier: MIT
/* Compares the counters of an oracle folder with the laboratory's. */
#include <stdlib.h>
#include <string.h>

#include "libruntime/support/clock.h"
#include "oracle_parts.h"

/* ---- Counters ---------------------------------------------------------------------------------- */

static bool by_status(const uint64_t *v, const char *status, uint64_t *out)
{
	static const char *const names[] = { "HIT]", "HIT_RESERVED]", "MISS]", "SECTOR_MISS]", "MSHR_HIT]", "TOTAL_ACCESS]" };
	unsigned i;

	for (i = 0; i < 6; i++)
		if (!strcmp(names[i], status)) {
			*out = i < 4 ? v[i] : i == 4 ? v[LAB_PENDING] : lab_sum(v, LAB_STATUSES);
			return true;
		}
	return false;
}

/* "l2[GLOBAL_ACC_R][MISS]" */
static bool cache_counter(const struct lab_stats *s, const char *name, uint64_t *out)
{
	bool l2 = name[1] == '2', write;
	const char *p = strchr(name, '[') + 1;

	if (strncmp(p, "GLOBAL_ACC_R][", 14) && strncmp(p, "GLOBAL_ACC_W][", 14))
		return false;
	write = p[11] == 'W';
	return by_status(l2 ? (write ? s->l2_write : s->l2_read) : (write ? s->l1_store : s->l1_load), p + 14, out);
}

/* "coretomem[GLOBAL_ATOMIC].packets_of_40_bytes" */
static bool packet_counter(const struct lab_stats *s, const struct lab_machine *m, const char *name, uint64_t *out)
{
	static const char *const classes[] = { "GLOBAL_ACC_R].", "GLOBAL_ACC_W].", "GLOBAL_ATOMIC]." };
	bool request = *name == 'c';
	const char *p = name + 10, *end;
	unsigned k, bytes;

	for (k = 0; k < LAB_KINDS && strncmp(p, classes[k], strlen(classes[k])); k++)
		;
	if (k == LAB_KINDS)
		return false;
	p += strlen(classes[k]);
	if (!strcmp(p, "bytes")) {
		*out = request ? s->request_bytes[k] : s->reply_bytes[k];
		return true;
	}
	if (strncmp(p, "packets_of_", 11))
		return false;
	bytes = (unsigned)strtoul(p + 11, (char **)&end, 10);
	if (strcmp(end, "_bytes") || bytes < m->noc_header || (bytes - m->noc_header) % LAB_SECTOR ||
	    (bytes - m->noc_header) / LAB_SECTOR >= LAB_SIZES)
		return false;
	bytes = (bytes - m->noc_header) / LAB_SECTOR;
	if (request)
		*out = s->request[k][bytes];
	else
		*out = bytes == (k != LAB_STORE) ? s->reply[k] : 0;
	return true;
}

static bool statement_counter(const struct oracle_run *r, const char *name, uint64_t *out)
{
	const char *colon = strrchr(name, ':');
	unsigned i;

	for (i = 0; i < r->kernel->statements; i++) {
		if (strlen(r->kernel->statement[i]) != (size_t)(colon - name) ||
		    strncmp(r->kernel->statement[i], name, (size_t)(colon - name)))
			continue;
		if (!strcmp(colon, ":lanes"))
			*out = r->count[i].lanes;
		else if (!strcmp(colon, ":warps"))
			*out = r->count[i].warps;
		else if (!strcmp(colon, ":transactions"))
			*out = r->count[i].transactions;
		else
			return false;
		return true;
	}
	return false;
}

static bool array_counter(const struct oracle_run *r, const char *name, bool bytes, uint64_t *out)
{
	unsigned i;

	for (i = 0; i < r->arrays; i++)
		if (!strcmp(r->array[i].name, name)) {
			*out = bytes ? r->array[i].bytes : r->array[i].addr;
			return true;
		}
	return false;
}

static bool counter(const struct oracle_run *r, const char *name, uint64_t *out)
{
	const struct lab_stats *s = lab_stats(r->lab);
	uint64_t l1_hits = s->l1_load[LAB_HIT] + s->l1_load[LAB_PENDING];
	const struct { const char *name; uint64_t value; } plain[] = {
		{ "launches", r->launches },
		{ "cycles", s->cycles },
		{ "warp_instructions", s->warp_instructions },
		{ "thread_instructions", s->thread_instructions },
		{ "l1d_accesses", lab_sum(s->l1_load, LAB_STATUSES) + lab_sum(s->l1_store, LAB_STATUSES) },
		{ "l1d_misses", s->l1_load[LAB_MISS] + s->l1_load[LAB_SECTOR_MISS] + s->l1_store[LAB_MISS] },
		{ "l1d_pending_hits", s->l1_load[LAB_PENDING] },
		{ "l2_accesses", lab_sum(s->l2_read, LAB_STATUSES) + lab_sum(s->l2_write, LAB_STATUSES) },
		{ "l2_misses", s->l2_read[LAB_MISS] + s->l2_read[LAB_SECTOR_MISS] + s->l2_write[LAB_MISS] +
			       s->l2_write[LAB_SECTOR_MISS] },
		{ "l2_pending_hits", s->l2_read[LAB_PENDING] + s->l2_write[LAB_PENDING] },
		{ "packets_core_to_mem", lab_sum(&s->request[0][0], LAB_KINDS * LAB_SIZES) },
		{ "packets_mem_to_core", lab_sum(s->reply, LAB_KINDS) },
		{ "bytes_core_to_mem", lab_sum(s->request_bytes, LAB_KINDS) },
		{ "bytes_mem_to_core", lab_sum(s->reply_bytes, LAB_KINDS) },
		{ "flits_core_to_mem", s->request_flits },
		{ "flits_mem_to_core", s->reply_flits },
		{ "dram_reads", s->dram_reads },
		{ "dram_writes", s->dram_writes },
		{ "derived:l1d_read_hits_plus_pending", l1_hits },
		{ "derived:l2_hits_plus_pending", s->l2_read[LAB_HIT] + s->l2_read[LAB_PENDING] + s->l2_write[LAB_HIT] +
						  s->l2_write[LAB_PENDING] },
	};
	unsigned i;

	for (i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (!strcmp(plain[i].name, name)) {
			*out = plain[i].value;
			return true;
		}
	if (!strncmp(name, "stmt:", 5))
		return statement_counter(r, name + 5, out);
	if (!strncmp(name, "base_address:", 13))
		return array_counter(r, name + 13, false, out);
	if (!strncmp(name, "array_bytes:", 12))
		return array_counter(r, name + 12, true, out);
	if (!strncmp(name, "l1d[", 4) || !strncmp(name, "l2[", 3))
		return cache_counter(s, name, out);
	if (!strncmp(name, "coretomem[", 10) || !strncmp(name, "memtocore[", 10))
		return packet_counter(s, lab_machine_of(r->lab), name, out);
	return false;
}

static enum lab_verdict judge(const struct oracle_run *r, const struct oracle_line *l, double value, uint64_t *ours)
{
	static const char *const compared[] = { "exact", "tolerance", "isa", "input", "bound", NULL };
	const char *name = l->field[3], *kind = l->field[5];
	char bare[128];
	size_t n;
	unsigned i;

	if (!strcmp(kind, "info") || !strcmp(kind, "derived"))
		return LAB_NO_COUNT;
	for (i = 0; compared[i] && strcmp(compared[i], kind); i++)
		;
	if (!compared[i])
		return LAB_UNKNOWN_CLASS;
	if (strcmp(kind, "bound"))
		return !counter(r, name, ours) ? LAB_NOT_MODELLED : (double)*ours == value ? LAB_EQUAL : LAB_DIFFERS;
	n = strlen(name);
	if (strncmp(name, "bound:", 6) || n < 10 || n >= sizeof(bare))
		return LAB_NOT_MODELLED;
	snprintf(bare, sizeof(bare), "%.*s", (int)(n - 10), name + 6);
	if (!counter(r, bare, ours))
		return LAB_NOT_MODELLED;
	if (!strcmp(name + n - 4, "_min"))
		return (double)*ours >= value ? LAB_WITHIN : LAB_OUTSIDE;
	return strcmp(name + n - 4, "_max") ? LAB_NOT_MODELLED : (double)*ours <= value ? LAB_WITHIN : LAB_OUTSIDE;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

struct check {
	const char *dir;
	struct oracle_graph g;
	char graph[64];			/* the loaded graph; "": none */
	void (*each)(void *user, const struct lab_oracle_row *row);
	void *user;
};

static void free_graph(struct check *c)
{
	oracle_graph_free(&c->g);
	*c->graph = 0;
}

static int load_graph(struct check *c, const char *name, struct gtu_error *err)
{
	int rc;

	if (!strcmp(c->graph, name))
		return 0;
	free_graph(c);
	if (strlen(name) >= sizeof(c->graph))
		return gtu_fail(err, GTU_ERR_INPUT, "%s/counts.csv: '%.80s' is not a valid graph name", c->dir, name);
	rc = oracle_graph_read(c->dir, name, &c->g, err);
	if (!rc)
		strcpy(c->graph, name);
	return rc;
}

static bool same_run(const struct oracle_line *a, const struct oracle_line *b)
{
	return !strcmp(a->field[0], b->field[0]) && !strcmp(a->field[1], b->field[1]) &&
	       !strcmp(a->field[2], b->field[2]);
}

static bool find_machine(const char *config, struct lab_machine *m)
{
	unsigned i;

	for (i = 0; lab_machine_builtin(i); i++)
		if (!lab_machine_open(lab_machine_builtin(i), m, NULL) && !strcmp(m->oracle, config))
			return true;
	return false;
}

/* Check the lines [l, l + n) of one run. */
static int check_run(struct check *c, const struct oracle_line *l, size_t n, struct gtu_error *err)
{
	oracle_kernel *kernel = oracle_kernel_of(l->field[1]);
	enum lab_verdict all = LAB_EQUAL;
	struct lab_machine machine;
	struct oracle_run r = { 0 };
	struct gtu_error why = { 0 };
	double start;
	size_t i;
	int rc = 0;

	if (!kernel)
		all = LAB_UNKNOWN_KERNEL;
	else if (!find_machine(l->field[2], &machine))
		all = LAB_UNKNOWN_MACHINE;
	if (all == LAB_EQUAL) {
		rc = load_graph(c, l->field[0], err);
		if (rc)
			return rc;
		r.g = &c->g;
		start = gtu_now_s();
		rc = lab_create(&machine, &r.lab, err);
		if (!rc && (rc = kernel(&r, l->field[1], &why)))
			gtu_fail(err, rc, "%s, %s on %s: %s", l->field[0], l->field[1], l->field[2], why.text);
		r.seconds = gtu_now_s() - start;
	}
	for (i = 0; i < n && !rc; i++) {
		struct lab_oracle_row row = {
			.graph = l[i].field[0], .kernel = l[i].field[1], .config = l[i].field[2],
			.counter = l[i].field[3], .class_name = l[i].field[5],
			.value = strtod(l[i].field[4], NULL), .verdict = all, .seconds = i ? 0 : r.seconds,
		};

		if (all == LAB_EQUAL)
			row.verdict = judge(&r, &l[i], row.value, &row.ours);
		c->each(c->user, &row);
	}
	lab_destroy(r.lab);
	return rc;
}

int lab_oracle_check(const char *dir, const char *only, void (*row)(void *user, const struct lab_oracle_row *row),
		     void *user, const struct gtu_progress *progress, struct gtu_error *err)
{
	struct check c = { .dir = dir, .each = row, .user = user };
	struct oracle_folder f;
	size_t i, n;
	int rc = oracle_folder_read(dir, &f, err);

	for (i = 0; i < f.lines && !rc; i += n) {
		char name[256];

		for (n = 1; i + n < f.lines && same_run(&f.line[i], &f.line[i + n]); n++)
			;
		snprintf(name, sizeof(name), "%s,%s,%s", f.line[i].field[0], f.line[i].field[1], f.line[i].field[2]);
		if (only && !strstr(name, only))
			continue;
		if (gtu_tick(progress, "oracle counts", i, f.lines))
			rc = gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted");
		else
			rc = check_run(&c, &f.line[i], n, err);
	}
	free_graph(&c);
	oracle_folder_free(&f);
	return rc;
}
