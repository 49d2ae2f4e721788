// SPDX-License-Identifier: MIT
/* Devices of several ranks: lists of devices in this process, and one rank of several processes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gtu/gpu.h"
#include "libruntime/device/backend.h"
#include "libruntime/graph/graph_part.h"
#include "libruntime/support/ranked.h"
#include "run.h"

#define NO_DEVICE "none"		/* in a list: the plain CPU */
#define GPU "cuda"
#define ALL_GPUS "cuda:all"
#define LOCAL_GPU "cuda:local"

struct ranks_device {
	bool process;			/* of gtu_open_ranks(): one member, other processes have the others */
	struct gtu_ranks ranks;		/* its functions */
	struct gtu_ranks_traffic traffic;
	enum gtu_ranks_exchange way;	/* of GPUs */
	struct gtu_rank_graph *part;	/* of each member that is a GPU: the graph placed on it */
};

static struct ranks_device *ranks_of(const struct gtu_device *dev)
{
	return dev->backend;
}

bool gtu_has_ranks(const struct gtu_device *dev)
{
	return dev && dev->ops == &gtu_backend_ranks;
}

int gtu_refuse_over_ranks(const struct gtu_device *dev, const char *name, struct gtu_error *err)
{
	return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s does not run over several %s: only bfs, sssp, pagerank, components, "
			"betweenness, cores, label propagation, coloring, stcon and gcn do", name,
			gtu_rank_traverses(dev->member[0]) ? "GPUs" : "devices");
}

/* ---- Names --------------------------------------------------------------------------------------- */

/* Whether a device's name starts at @name: then the comma before it is not part of a parameter list. */
static bool starts_device(const char *name)
{
	static const char *const kind[] = { "model", GPU, NO_DEVICE };
	unsigned i;

	for (i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		const size_t length = strlen(kind[i]);

		if (!strncmp(name, kind[i], length) && strchr(":,", name[length]))
			return true;
	}
	return *name == '/';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The length of the first device's name in the list. A number after that of a GPU is another one: "cuda:0,1". */
static size_t first_name(const char *list)
{
	const bool gpu = !strncmp(list, GPU ":", strlen(GPU) + 1) || is_digit(*list);
	const char *at = list;

	while ((at = strchr(at, ',')) && !starts_device(at + 1) && !(gpu && is_digit(at[1])))
		at++;
	return at ? (size_t)(at - list) : strlen(list);
}

bool gtu_is_device_list(const char *name)
{
	return name[first_name(name)] == ',' || !strcmp(name, ALL_GPUS);
}

/* ---- The backend --------------------------------------------------------------------------------- */

static void close_members(struct gtu_device *dev)
{
	unsigned i;

	gtu_ranks_unplace(dev);
	for (i = 0; i < dev->members; i++)
		gtu_close(dev->member[i]);
	free(dev->member);
	if (dev->backend)
		free(ranks_of(dev)->part);
	free(dev->backend);
	dev->member = NULL;
	dev->members = 0;
}

static int open_member(struct gtu_device *dev, const char *name, size_t length, struct gtu_error *err)
{
	char own[sizeof(dev->info.path)];
	struct gtu_device *member = NULL;
	bool gpu;
	int rc;

	if (length + strlen(GPU ":") >= sizeof(own))
		return gtu_fail(err, GTU_ERR_USAGE, "the device name \"%.40s...\" has %zu bytes: the maximum is %zu", name,
				length, sizeof(own) - 1);
	snprintf(own, sizeof(own), "%s%.*s", is_digit(*name) ? GPU ":" : "", (int)length, name);
	gpu = !strncmp(own, GPU, strlen(GPU));
	if (dev->members && gpu != gtu_rank_traverses(dev->member[0]))
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s cannot be in one list with %s: a list has GPUs alone or no GPU", own,
				gpu ? "devices of other kinds" : "GPUs");
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

static int open_list(struct gtu_device *dev, const char *name, struct gtu_error *err);

static int open_all_gpus(struct gtu_device *dev, struct gtu_error *err)
{
	const int count = gtu_gpu_count(err);
	char *name = count > 0 ? malloc((size_t)count * 12 + sizeof(GPU)) : NULL;
	size_t at = 0;
	int i, rc;

	if (count < 0)
		return count;
	if (!name)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %d devices", count);
	for (i = 0; i < count; i++)
		at += (size_t)sprintf(name + at, "%s%d", i ? "," : GPU ":", i);
	rc = open_list(dev, name, err);
	free(name);
	return rc;
}

static int open_list(struct gtu_device *dev, const char *name, struct gtu_error *err)
{
	const char *at;
	size_t names = 1, length;
	int rc = 0;

	if (!strcmp(name, ALL_GPUS))
		return open_all_gpus(dev, err);
	for (at = name; *at; at++)
		names += *at == ',';
	dev->backend = calloc(1, sizeof(struct ranks_device));
	dev->member = calloc(names, sizeof(*dev->member));
	if (dev->backend)
		ranks_of(dev)->part = calloc(names, sizeof(*ranks_of(dev)->part));
	if (!dev->backend || !dev->member || !ranks_of(dev)->part)
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
		return gtu_fail(err, GTU_ERR_USAGE, "struct gtu_ranks lacks a function that every exchange needs");
	if (!r->start_all_to_all_v != !r->finish_all_to_all_v)
		return gtu_fail(err, GTU_ERR_USAGE, "struct gtu_ranks has only one of start_all_to_all_v() and "
				"finish_all_to_all_v(): set both or neither");
	for (i = 0; i < sizeof(r->more) / sizeof(r->more[0]); i++)
		if (r->reserved || r->device_exchange || r->more[i])
			return gtu_fail(err, GTU_ERR_USAGE, "a reserved member of struct gtu_ranks is not zero");
	return 0;
}

/*
 * *spec = the GPU of this rank: its place among the ranks of its host selects one of those that the process sees, which are
 * shared if the host has more ranks. Collective.
 */
static int choose_local(struct gtu_exchange *x, char spec[static 32])
{
	const struct gtu_ranks *r = &x->ranks;
	char own[256] = "", *all;
	uint64_t none = 0;
	uint32_t i, place = 0;
	int rc, count = gtu_gpu_count(x->err);

	/* a name that is cut off still tells hosts apart */
	gethostname(own, sizeof(own) - 1);
	all = calloc(r->size, sizeof(own));
	rc = count < 0 ? count : all ? 0 : gtu_fail(x->err, GTU_ERR_NOMEM, "out of memory for %u ranks", r->size);
	rc = gtu_agree(x, rc, &none, 1);
	if (!rc) {
		rc = r->all_gather(r->context, own, sizeof(own), all, x->err);
		if (rc)
			gtu_give_up(x, rc);
	}
	for (i = 0; !rc && i < r->rank; i++)
		place += !memcmp(all + i * sizeof(own), own, sizeof(own));
	if (!rc)
		snprintf(spec, 32, GPU ":%u", place % (unsigned)count);
	free(all);
	return rc;
}

int gtu_open_ranks(const char *spec, const struct gtu_ranks *ranks, struct gtu_device **out, struct gtu_error *err)
{
	struct gtu_error own = { 0 };
	struct gtu_exchange x = { .err = &own };
	struct gtu_device *dev = NULL;
	char local[32];
	uint64_t none = 0;
	int rc;

	*out = NULL;
	rc = check_ranks(ranks, err);
	if (rc)
		return rc;
	x.ranks = *ranks;
	if (!spec || !*spec)
		spec = "model";
	if (!strcmp(spec, LOCAL_GPU)) {
		rc = choose_local(&x, local);
		spec = local;
	}
	rc = rc ? rc : gtu_is_device_list(spec) ?
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

int gtu_graph_generate_part(struct gtu_device *dev, const struct gtu_generate_options *opt,
			    const struct gtu_progress *progress, struct gtu_graph **out, struct gtu_error *err)
{
	struct gtu_error own = { 0 };
	struct gtu_exchange x = { .err = &own };
	int rc;

	*out = NULL;
	if (!gtu_has_ranks(dev) || !ranks_of(dev)->process)
		return gtu_fail(err, GTU_ERR_USAGE, "%s has all ranks in this process: generate the whole graph",
				dev ? dev->info.path : "no device");
	x.ranks = ranks_of(dev)->ranks;
	rc = gtu_generate_rank(&x, opt, progress, out);
	if (rc && err)
		*err = own;
	return rc;
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

/* ---- GPUs ---------------------------------------------------------------------------------------- */

void gtu_ranks_unplace(struct gtu_device *dev)
{
	unsigned i;

	for (i = 0; dev->backend && ranks_of(dev)->part && i < dev->members; i++) {
		gtu_placement_destroy(dev->member[i]);
		gtu_rank_graph_destroy(&ranks_of(dev)->part[i]);
	}
}

/* Place the part of rank @rank on @member. */
static int place_part(struct gtu_device *dev, unsigned member, const struct gtu_graph *g, const uint64_t cut[2],
		      const struct gtu_placement_options *opt, struct gtu_error *err)
{
	struct gtu_rank_graph *part = &ranks_of(dev)->part[member];
	struct gtu_placement_options own = opt ? *opt : (struct gtu_placement_options){ 0 };
	int rc = gtu_rank_graph_create(part, g, cut[0], cut[1], err);

	/* a rank has the edges that leave its vertices */
	own.transpose = 0;
	if (member)
		own.planned = NULL;
	return rc ? rc : gtu_placement_create(dev->member[member], &part->graph, &own, err);
}

int gtu_ranks_place(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_placement_options *opt,
		    struct gtu_error *err)
{
	uint32_t rank, size;
	uint64_t *cut;
	unsigned i;
	int rc;

	if (!gtu_rank_traverses(dev->member[0]))
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s has no GPU: it runs unit operations, not whole algorithms",
				dev->info.path);
	gtu_ranks_unplace(dev);
	gtu_ranks_of(dev, &rank, &size);
	cut = calloc(size + 1ull, sizeof(*cut));
	rc = cut ? gtu_graph_cut(g, size, cut, err) : gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the ranges of %u ranks", size);
	for (i = 0; i < dev->members && !rc; i++)
		rc = place_part(dev, i, g, cut + rank + i, opt, err);
	if (rc)
		gtu_ranks_unplace(dev);
	free(cut);
	return rc;
}

const char *gtu_ranks_link(const struct gtu_device *dev)
{
	return gtu_has_ranks(dev) && gtu_rank_traverses(dev->member[0]) ?
		       dev->member[0]->ops->traversal->rank_link(dev->member[0]) : NULL;
}

int gtu_ranks_set_exchange(struct gtu_device *dev, enum gtu_ranks_exchange way, struct gtu_error *err)
{
	if (!gtu_has_ranks(dev) || !gtu_rank_traverses(dev->member[0]))
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s is not a device of GPUs as ranks",
				dev ? dev->info.path : "no device");
	if (way > GTU_EXCHANGE_HOST)
		return gtu_fail(err, GTU_ERR_USAGE, "exchange %u does not exist: use 0 to %u", way, GTU_EXCHANGE_HOST);
	ranks_of(dev)->way = way;
	return 0;
}

/* ---- Runs ---------------------------------------------------------------------------------------- */

static void add_traffic(struct gtu_ranks_traffic *sum, const struct gtu_ranks_traffic *t)
{
	sum->exchanges += t->exchanges;
	sum->bytes += t->bytes;
	sum->vertex_bytes += t->vertex_bytes;
	sum->value_bytes += t->value_bytes;
	sum->edge_bytes += t->edge_bytes;
	sum->exchange_ns += t->exchange_ns;
	sum->waited_ns += t->waited_ns;
}

/* A rank of a list. */
struct member_run {
	struct gtu_exchange x;
	struct gtu_error err;
	struct gtu_device *dev;
	struct gtu_rank_graph *part;
	const struct gtu_graph *g;
	enum gtu_ranked_algorithm what;
	struct gtu_algorithm_options opt;
	void *result;
	uint64_t unused;			/* of a result that rank 0 alone returns */
	struct gtu_algorithm_stats *stats;	/* of rank 0, else NULL */
	pthread_t thread;
	bool started;
	int rc;
};

static void *run_member(void *context)
{
	struct member_run *r = context;

	r->x.err = &r->err;
	r->rc = gtu_run_rank(&r->x, r->dev, r->part, r->g, r->what, &r->opt, r->result, r->stats);
	return NULL;
}

static int run_list(struct gtu_device *dev, const struct gtu_graph *g, enum gtu_ranked_algorithm what,
		    const struct gtu_algorithm_options *opt, void *result, struct gtu_algorithm_stats *stats,
		    struct gtu_error *err)
{
	const unsigned size = dev->members;
	const uint64_t bytes = gtu_ranked_bytes(what, opt);
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
		run[i] = (struct member_run){ .dev = dev->member[i], .part = &ranks_of(dev)->part[i], .g = g, .what = what, .opt = *opt,
					      .result = bytes || !i ? (char *)result + cut[i] * bytes : (void *)&run[i].unused, .stats = i ? NULL : stats };
		/* the caller's functions are called by the caller's thread alone */
		if (i) {
			run[i].opt.progress = NULL;
			run[i].opt.iteration = NULL;
		}
		run[i].x.way = ranks_of(dev)->way;
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
	x.way = ranks_of(dev)->way;
	rc = gtu_run_rank(&x, dev->member[0], ranks_of(dev)->part, g, what, opt, result, stats);
	add_traffic(&ranks_of(dev)->traffic, &x.traffic);
	if (rc && err)
		*err = own;
	return rc;
}
