// SPDX-License-Identifier: MIT
/* Devices of several ranks: lists of devices in this process, and one rank of several processes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libruntime/device/backend.h"
#include "libruntime/graph/graph_part.h"
#include "libruntime/support/ranked.h"
#include "run.h"

#define NO_DEVICE "none"		/* in a list: the plain CPU */

struct ranks_device {
	bool process;			/* of gtu_open_ranks(): one member, other processes have the others */
	struct gtu_ranks ranks;		/* its functions */
	struct gtu_ranks_traffic traffic;
};

static struct ranks_device *ranks_of(const struct gtu_device *dev)
{
	return dev->backend;
}

bool gtu_has_ranks(const struct gtu_device *dev)
{
	return dev && dev->ops == &gtu_backend_ranks;
}

/* ---- Names --------------------------------------------------------------------------------------- */

/* Whether a device's name starts at @name: then the comma before it is not part of a parameter list. */
static bool starts_device(const char *name)
{
	static const char *const kind[] = { "model", "cuda", NO_DEVICE };
	unsigned i;

	for (i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		const size_t length = strlen(kind[i]);

		if (!strncmp(name, kind[i], length) && strchr(":,", name[length]))
			return true;
	}
	return *name == '/';
}

/* The length of the first device's name in the list. */
static size_t first_name(const char *list)
{
	const char *at = list;

	while ((at = strchr(at, ',')) && !starts_device(at + 1))
		at++;
	return at ? (size_t)(at - list) : strlen(list);
}

bool gtu_is_device_list(const char *name)
{
	return name[first_name(name)] == ',';
}

/* ---- The backend --------------------------------------------------------------------------------- */

static void close_members(struct gtu_device *dev)
{
	unsigned i;

	for (i = 0; i < dev->members; i++)
		gtu_close(dev->member[i]);
	free(dev->member);
	free(dev->backend);
	dev->member = NULL;
	dev->members = 0;
}

static int open_member(struct gtu_device *dev, const char *name, size_t length, struct gtu_error *err)
{
	char own[sizeof(dev->info.path)];
	struct gtu_device *member = NULL;
	int rc;

	if (length >= sizeof(own))
		return gtu_fail(err, GTU_ERR_USAGE, "the device name \"%.40s...\" has %zu bytes: the maximum is %zu", name,
				length, sizeof(own) - 1);
	snprintf(own, sizeof(own), "%.*s", (int)length, name);
	if (!strncmp(own, "cuda", 4))
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s cannot be one of several ranks: a GPU runs alone; use \"model\", "
				"a device file or \"none\"", own);
	if (strcmp(own, NO_DEVICE)) {
		rc = gtu_open(own, &member, err);
		if (rc)
			return rc;
	}
	/* the list has the units that all its devices have, and the parameters of the first one */
	if (!dev->members && member) {
		char path[sizeof(dev->info.path)];

		memcpy(path, dev->info.path, sizeof(path));
		dev->info = *gtu_get_info(member);
		memcpy(dev->info.path, path, sizeof(path));
		snprintf(dev->info.backend, sizeof(dev->info.backend), "%s", dev->ops->name);
	}
	dev->info.units &= member ? gtu_get_info(member)->units : 0;
	dev->member[dev->members++] = member;
	return 0;
}

static int open_list(struct gtu_device *dev, const char *name, struct gtu_error *err)
{
	const char *at;
	size_t names = 1, length;
	int rc = 0;

	for (at = name; *at; at++)
		names += *at == ',';
	dev->backend = calloc(1, sizeof(struct ranks_device));
	dev->member = calloc(names, sizeof(*dev->member));
	if (!dev->backend || !dev->member)
		rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %zu devices", names);
	for (at = name; !rc; at += length + 1) {
		length = first_name(at);
		rc = open_member(dev, at, length, err);
		if (!at[length])
			break;
	}
	if (rc)
		close_members(dev);
	return rc;
}

/* Counters are sums over the members; everything else is that of the first one. */
static int read_register(struct gtu_device *dev, uint32_t offset, uint64_t *value, struct gtu_error *err)
{
	const uint32_t at = offset % GTU_PAGE;
	const bool counter = at >= GTU_UREG_COUNTER(0) && at < GTU_UREG_COUNTER(GTU_UREG_COUNTERS);
	uint64_t one;
	unsigned i;
	int rc = 0;

	*value = 0;
	for (i = 0; i < (counter ? dev->members : 1) && !rc; i++) {
		rc = dev->member[i]->ops->read(dev->member[i], offset, &one, err);
		*value += rc ? 0 : one;
	}
	return rc;
}

static int write_register(struct gtu_device *dev, uint32_t offset, uint32_t value, struct gtu_error *err)
{
	unsigned i;
	int rc = 0;

	for (i = 0; i < dev->members && !rc; i++)
		rc = dev->member[i]->ops->write(dev->member[i], offset, value, err);
	return rc;
}

/* Registers are only accessed for units that all members have, so that none of them is NULL. */
const struct gtu_backend_ops gtu_backend_ranks = {
	.name = "ranks", .open = open_list, .close = close_members, .read = read_register, .write = write_register,
};

/* ---- One rank of several processes ----------------------------------------------------------------- */

static int check_ranks(const struct gtu_ranks *r, struct gtu_error *err)
{
	unsigned i;

	if (r->bytes != sizeof(*r))
		return gtu_fail(err, GTU_ERR_USAGE, "struct gtu_ranks has %u bytes, not %zu: it is of another version", r->bytes,
				sizeof(*r));
	if (!r->size || r->size > GTU_RANKS_MAX || r->rank >= r->size)
		return gtu_fail(err, GTU_ERR_USAGE, "rank %u of %u is out of range: there can be 1 to %u ranks", r->rank, r->size,
				GTU_RANKS_MAX);
	if (!r->broadcast || !r->all_gather || !r->all_to_all_v || !r->all_reduce || !r->barrier)
		return gtu_fail(err, GTU_ERR_USAGE, "struct gtu_ranks lacks a function: only abort may be NULL");
	for (i = 0; i < sizeof(r->more) / sizeof(r->more[0]); i++)
		if (r->reserved || r->device_exchange || r->more[i])
			return gtu_fail(err, GTU_ERR_USAGE, "a reserved member of struct gtu_ranks is not zero");
	return 0;
}

int gtu_open_ranks(const char *spec, const struct gtu_ranks *ranks, struct gtu_device **out, struct gtu_error *err)
{
	struct gtu_error own = { 0 };
	struct gtu_exchange x = { .ranks = *ranks, .err = &own };
	struct gtu_device *dev = NULL;
	uint64_t none = 0;
	int rc;

	*out = NULL;
	rc = check_ranks(ranks, err);
	if (rc)
		return rc;
	if (!spec || !*spec)
		spec = "model";
	rc = gtu_is_device_list(spec) ?
		     gtu_fail(&own, GTU_ERR_USAGE, "%s is a list: each of several ranks opens one device", spec) :
		     gtu_open_by(&gtu_backend_ranks, spec, &dev, &own);
	rc = gtu_agree(&x, rc, &none, 1);
	if (rc) {
		gtu_close(dev);
		if (err)
			*err = own;
		return rc;
	}
	ranks_of(dev)->process = true;
	ranks_of(dev)->ranks = *ranks;
	*out = dev;
	return 0;
}

void gtu_ranks_of(const struct gtu_device *dev, uint32_t *rank, uint32_t *size)
{
	const bool process = gtu_has_ranks(dev) && ranks_of(dev)->process;

	*rank = process ? ranks_of(dev)->ranks.rank : 0;
	*size = process ? ranks_of(dev)->ranks.size : gtu_has_ranks(dev) ? dev->members : 1;
}

void gtu_ranks_get_traffic(const struct gtu_device *dev, struct gtu_ranks_traffic *traffic)
{
	*traffic = gtu_has_ranks(dev) ? ranks_of(dev)->traffic : (struct gtu_ranks_traffic){ 0 };
}

int gtu_ranks_range(struct gtu_device *dev, const struct gtu_graph *g, uint64_t *first, uint64_t *end,
		    struct gtu_error *err)
{
	const bool process = gtu_has_ranks(dev) && ranks_of(dev)->process;
	uint64_t *cut;
	int rc;

	*first = 0;
	*end = g->n;
	if (!process)
		return 0;
	cut = calloc(ranks_of(dev)->ranks.size + 1ull, sizeof(*cut));
	if (!cut)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the ranges of %u ranks", ranks_of(dev)->ranks.size);
	rc = gtu_graph_cut(g, ranks_of(dev)->ranks.size, cut, err);
	*first = cut[ranks_of(dev)->ranks.rank];
	*end = cut[ranks_of(dev)->ranks.rank + 1];
	free(cut);
	return rc;
}

int gtu_graph_open_part(struct gtu_device *dev, const char *path, const struct gtu_progress *progress,
			struct gtu_graph **out, struct gtu_error *err)
{
	uint32_t rank, size;

	*out = NULL;
	gtu_ranks_of(dev, &rank, &size);
	if (!gtu_has_ranks(dev) || !ranks_of(dev)->process)
		return gtu_fail(err, GTU_ERR_USAGE, "%s has all ranks in this process: open %s whole",
				dev ? dev->info.path : "no device", path);
	return gtu_graph_map_part(path, rank, size, progress, out, err);
}

static int gather(struct gtu_exchange *x, const struct gtu_graph *g, const void *mine, uint32_t width, void *all)
{
	const bool root = !x->ranks.rank;
	struct gtu_outbox box;
	struct gtu_part part = { 0 };
	uint64_t own, none = 0;
	uint32_t i;
	char *to;
	int rc = gtu_outbox_begin(&box, x);

	if (!rc)
		rc = gtu_part_begin(&part, x, g);
	rc = gtu_agree(x, rc, &none, 1);
	if (rc)
		goto out;
	own = gtu_part_range(&part, x->ranks.rank) * width;
	if (root && own)
		memcpy((char *)all + part.cut[0] * width, mine, own);
	to = root || !own ? NULL : gtu_outbox_add(&box, 0, own);
	if (to)
		memcpy(to, mine, own);
	else if (!root && own)
		rc = gtu_outbox_full(x);
	rc = gtu_outbox_exchange(x, &box, GTU_CARGO_VALUES, rc);
	for (i = 1; i < part.ranks && root && !rc; i++) {
		if (box.from[i].bytes != gtu_part_range(&part, i) * width)
			rc = gtu_fail(x->err, GTU_ERR_FAIL, "rank %u sent %llu bytes of results instead of %llu", i,
				      (unsigned long long)box.from[i].bytes,
				      (unsigned long long)(gtu_part_range(&part, i) * width));
		else if (box.from[i].bytes)
			memcpy((char *)all + part.cut[i] * width, box.from[i].data, box.from[i].bytes);
	}
	rc = gtu_agree(x, rc, &none, 1);
out:
	gtu_outbox_end(&box);
	gtu_part_end(&part);
	return rc;
}

int gtu_ranks_gather(struct gtu_device *dev, const struct gtu_graph *g, const void *part, uint32_t width, void *all,
		     struct gtu_error *err)
{
	struct gtu_error own = { 0 };
	struct gtu_exchange x = { .err = &own };
	int rc;

	if (!gtu_has_ranks(dev) || !ranks_of(dev)->process) {
		memcpy(all, part, g->n * width);
		return 0;
	}
	x.ranks = ranks_of(dev)->ranks;
	rc = gather(&x, g, part, width, all);
	if (rc && err)
		*err = own;
	return rc;
}

/* ---- Runs ---------------------------------------------------------------------------------------- */

static void add_traffic(struct gtu_ranks_traffic *sum, const struct gtu_ranks_traffic *t)
{
	sum->exchanges += t->exchanges;
	sum->bytes += t->bytes;
	sum->vertex_bytes += t->vertex_bytes;
	sum->value_bytes += t->value_bytes;
	sum->edge_bytes += t->edge_bytes;
}

/* A rank of a list. */
struct member_run {
	struct gtu_exchange x;
	struct gtu_error err;
	struct gtu_device *dev;
	const struct gtu_graph *g;
	enum gtu_ranked_algorithm what;
	struct gtu_algorithm_options opt;
	void *result;
	struct gtu_algorithm_stats *stats;	/* of rank 0, else NULL */
	pthread_t thread;
	bool started;
	int rc;
};

static void *run_member(void *context)
{
	struct member_run *r = context;

	r->x.err = &r->err;
	r->rc = gtu_run_rank(&r->x, r->dev, r->g, r->what, &r->opt, r->result, r->stats);
	return NULL;
}

static int run_list(struct gtu_device *dev, const struct gtu_graph *g, enum gtu_ranked_algorithm what,
		    const struct gtu_algorithm_options *opt, void *result, struct gtu_algorithm_stats *stats,
		    struct gtu_error *err)
{
	const unsigned size = dev->members;
	struct gtu_thread_ranks *group = gtu_thread_ranks_create(size, err);
	struct member_run *run = calloc(size, sizeof(*run));
	uint64_t *cut = calloc(size + 1ull, sizeof(*cut));
	unsigned i;
	int rc = 0;

	if (!group || !run || !cut)
		rc = gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %u ranks", size);
	if (!rc)
		rc = gtu_graph_cut(g, size, cut, err);
	for (i = 0; i < size && !rc; i++) {
		run[i] = (struct member_run){ .dev = dev->member[i], .g = g, .what = what, .opt = *opt,
					      .result = (char *)result + cut[i] * 8, .stats = i ? NULL : stats };
		/* the caller's functions are called by the caller's thread alone */
		if (i) {
			run[i].opt.progress = NULL;
			run[i].opt.iteration = NULL;
		}
		gtu_thread_ranks_of(group, i, &run[i].x.ranks);
	}
	for (i = 1; i < size && !rc; i++) {
		run[i].started = !pthread_create(&run[i].thread, NULL, run_member, &run[i]);
		if (!run[i].started) {
			run[i].rc = gtu_fail(&run[i].err, GTU_ERR_NOMEM, "cannot start a thread");
			run[i].x.ranks.abort(run[i].x.ranks.context, run[i].err.text);
			break;
		}
	}
	if (!rc) {
		run_member(&run[0]);
		for (i = 1; i < size; i++)
			if (run[i].started)
				pthread_join(run[i].thread, NULL);
		rc = run[0].rc;
		/* rank 0 has returned if another one failed after its last exchange */
		for (i = 1; i < size && !rc; i++) {
			rc = run[i].rc;
			run[0].err = run[i].err;
		}
		if (rc && err)
			*err = run[0].err;
		for (i = 0; i < size; i++)
			add_traffic(&ranks_of(dev)->traffic, &run[i].x.traffic);
	}
	gtu_thread_ranks_destroy(group);
	free(run);
	free(cut);
	return rc;
}

int gtu_run_ranked(struct gtu_device *dev, const struct gtu_graph *g, enum gtu_ranked_algorithm what,
		   const struct gtu_algorithm_options *opt, void *result, struct gtu_algorithm_stats *stats,
		   struct gtu_error *err)
{
	struct gtu_error own = { 0 };
	struct gtu_exchange x = { .err = &own };
	int rc;

	if (!ranks_of(dev)->process)
		return run_list(dev, g, what, opt, result, stats, err);
	x.ranks = ranks_of(dev)->ranks;
	rc = gtu_run_rank(&x, dev->member[0], g, what, opt, result, stats);
	add_traffic(&ranks_of(dev)->traffic, &x.traffic);
	if (rc && err)
		*err = own;
	return rc;
}
