// SPDX-License-Identifier: MIT
/* Runs an algorithm on one rank, after the ranks have agreed that they run the same one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libruntime/support/features.h"
#include "run.h"

static const struct {
	const char *name;
	int (*run)(struct gtu_ranked *k);
	bool weights;
	bool both;			/* needs directed edges in both directions */
	bool flat;			/* 1-D with any number of ranks */
} algorithms[GTU_RANKED_ALGORITHMS] = {
	[GTU_RANKED_BFS] = { "bfs", gtu_ranked_bfs, false, false },
	[GTU_RANKED_SSSP] = { "sssp", gtu_ranked_sssp, true, false },
	[GTU_RANKED_PAGERANK] = { "pagerank", gtu_ranked_pagerank, false, false },
	[GTU_RANKED_COMPONENTS] = { "components", gtu_ranked_components, .flat = true },
	[GTU_RANKED_BETWEENNESS] = { "betweenness", gtu_ranked_betweenness, false, false },
	[GTU_RANKED_CORES] = { "cores", gtu_ranked_cores, false, true },
	[GTU_RANKED_LABELS] = { "label propagation", gtu_ranked_labels, .flat = true },
	[GTU_RANKED_COLORING] = { "coloring", gtu_ranked_coloring, .both = true, .flat = true },
	[GTU_RANKED_STCON] = { "stcon", gtu_ranked_stcon, .flat = true },
	[GTU_RANKED_GCN] = { "gcn", gtu_ranked_convolution, .weights = true, .flat = true },
};

/* ---- Agreement ----------------------------------------------------------------------------------- */

/* Facts that all ranks must have in common; compared member by member in the order of the sentences below. */
struct facts {
	char version[32];
	uint64_t algorithm;
	uint64_t gpu;			/* the rank's device runs whole algorithms */
	uint64_t n, m, flags, types, cut;	/* the graph; cut: a hash of the partition */
	uint64_t options;		/* a hash */
};

static uint64_t hash(uint64_t h, const void *data, uint64_t bytes)
{
	const unsigned char *p = data;

	for (; bytes; bytes--)
		h = (h ^ *p++) * 0x100000001b3ull;
	return h;
}

static uint64_t hash_options(const struct gtu_algorithm_options *o)
{
	uint64_t h = 0xcbf29ce484222325ull;

	h = hash(h, &o->source, sizeof(o->source));
	h = hash(h, &o->target, sizeof(o->target));
	h = hash(h, &o->damping, sizeof(o->damping));
	h = hash(h, &o->epsilon, sizeof(o->epsilon));
	h = hash(h, &o->iterations, sizeof(o->iterations));
	h = hash(h, &o->delta, sizeof(o->delta));
	h = hash(h, &o->direction, sizeof(o->direction));
	h = hash(h, &o->features, sizeof(o->features));
	h = hash(h, &o->seed, sizeof(o->seed));
	h = hash(h, &o->source_count, sizeof(o->source_count));
	return o->sources ? hash(h, o->sources, o->source_count * sizeof(*o->sources)) : h;
}

static int compare(struct gtu_exchange *x, const struct facts *f)
{
	const struct facts *first = f;
	uint32_t i;

	for (i = 1; i < x->ranks.size; i++) {
		const struct facts *other = &f[i];

		if (memcmp(other->version, first->version, sizeof(other->version)))
			return gtu_fail(x->err, GTU_ERR_USAGE, "rank %u runs libgtu %.31s, but rank 0 runs %.31s: install "
					"the same version on all hosts", i, other->version, first->version);
		if (other->algorithm != first->algorithm)
			return gtu_fail(x->err, GTU_ERR_USAGE, "rank %u runs %s, but rank 0 runs %s", i,
					algorithms[other->algorithm % GTU_RANKED_ALGORITHMS].name,
					algorithms[first->algorithm % GTU_RANKED_ALGORITHMS].name);
		if (other->gpu != first->gpu)
			return gtu_fail(x->err, GTU_ERR_USAGE, "rank %u runs on %s, but rank 0 does not: give all ranks GPUs, or "
					"none", i, other->gpu ? "a GPU" : "a device without a GPU");
		if (other->n != first->n || other->m != first->m)
			return gtu_fail(x->err, GTU_ERR_USAGE, "rank %u has a graph of %llu vertices and %llu edges, but "
					"rank 0 one of %llu and %llu: pass the same file to all ranks", i,
					(unsigned long long)other->n, (unsigned long long)other->m,
					(unsigned long long)first->n, (unsigned long long)first->m);
		if (other->flags != first->flags || other->types != first->types || other->cut != first->cut)
			return gtu_fail(x->err, GTU_ERR_USAGE, "rank %u has another graph than rank 0, of the same size: "
					"pass the same file to all ranks", i);
		if (other->options != first->options)
			return gtu_fail(x->err, GTU_ERR_USAGE, "rank %u has other options than rank 0: pass the same "
					"source, direction and parameters to all ranks", i);
	}
	return 0;
}

static int agree(struct gtu_ranked *k, enum gtu_ranked_algorithm what, int rc)
{
	const struct gtu_graph *g = k->whole;
	struct gtu_exchange *x = k->x;
	struct facts own = { .algorithm = what, .gpu = gtu_rank_traverses(k->a.dev), .n = g->n, .m = g->m, .flags = g->flags & GTU_GRAPH_DIRECTED,
			     .types = g->edge_bytes | g->weight_type << 8 }, *all;
	uint64_t none = 0;

	snprintf(own.version, sizeof(own.version), "%s", GTU_VERSION);
	own.options = hash_options(k->a.opt);
	if (!rc)
		own.cut = hash(0, k->part.cut, (k->part.ranks + 1ull) * sizeof(*k->part.cut));
	all = calloc(x->ranks.size, sizeof(*all));
	if (!all && !rc)
		rc = gtu_fail(x->err, GTU_ERR_NOMEM, "out of memory for %u ranks", x->ranks.size);
	rc = gtu_agree(x, rc, &none, 1);
	if (!rc) {
		rc = x->ranks.all_gather(x->ranks.context, &own, sizeof(own), all, x->err);
		rc = rc ? gtu_give_up(x, rc) : compare(x, all);
	}
	free(all);
	return gtu_agree(x, rc, &none, 1);
}

uint64_t gtu_ranked_bytes(enum gtu_ranked_algorithm what, const struct gtu_algorithm_options *opt)
{
	return what == GTU_RANKED_STCON ? 0 : what == GTU_RANKED_COLORING ? 4 :
	       what == GTU_RANKED_GCN ? 8ull * gtu_features(opt) : 8;
}

/* ---- Steps that algorithms share ----------------------------------------------------------------- */

int gtu_ranked_alloc(struct gtu_ranked *k, void *array, uint64_t count, uint32_t width)
{
	void *memory = calloc(count + 1, width);

	if (!memory)
		return gtu_fail(k->a.err, GTU_ERR_NOMEM, "%s: out of memory for %llu elements of %u bytes", k->a.name,
				(unsigned long long)count, width);
	memcpy(array, &memory, sizeof(memory));
	return 0;
}

static void be_silent(struct gtu_ranked *k, bool silent)
{
	k->silent = silent;
	gtu_beat(k->x, !silent);
}

int gtu_ranked_edges_begin(struct gtu_ranked *k, struct gtu_alg_for_each_edge *edges, const struct gtu_graph *g,
			   uint32_t target_width)
{
	int rc;

	/* a device maps the edges, whatever their number */
	be_silent(k, true);
	rc = gtu_alg_edges_begin(&k->a, edges, g, target_width);
	be_silent(k, false);
	return rc;
}

int gtu_ranked_traverse(struct gtu_ranked *k, struct gtu_alg_for_each_edge *edges, gtu_alg_edge_fn *visitor,
			void *context)
{
	int rc;

	/* a device's job has a time limit of its own */
	be_silent(k, k->a.q);
	rc = gtu_alg_for_each_edge(&k->a, edges, &k->rows, visitor, context);
	be_silent(k, false);
	return rc;
}

int gtu_ranked_expand(struct gtu_ranked *k, const struct gtu_list *own, struct gtu_list *all, int rc)
{
	struct gtu_part *p = &k->part;
	uint64_t v;
	uint32_t i;

	all->count = 0;
	/* a row of one rank: nothing to exchange */
	if (p->cols == 1) {
		while (!rc && all->count < own->count)
			rc = gtu_list_push(all, own->at[all->count], k->x);
		return rc;
	}
	for (i = 0; !rc && i < p->cols; i++)
		rc = gtu_part_send_set(p, &k->box, gtu_part_in_row(p, i), k->x->ranks.rank, own->at, own->count);
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VERTICES, rc);
	if (!rc)
		rc = gtu_part_receive_sets(p, &k->box, GTU_SENDERS, all);
	for (v = 0; v < all->count && !rc; v++)
		if (!gtu_part_has_row(p, all->at[v]))
			rc = gtu_part_bad_message(p, gtu_part_owner(p, all->at[v]));
	return rc;
}

/* ---- The run ------------------------------------------------------------------------------------- */

static int tick(void *user, const char *what, uint64_t done, uint64_t total)
{
	struct gtu_ranked *k = user;

	if (!k->silent)
		gtu_beat(k->x, true);
	gtu_exchange_poll(k->x);
	return gtu_tick(k->callers, what, done, total);
}

static bool needs_both(const struct gtu_ranked *k, enum gtu_ranked_algorithm what)
{
	return algorithms[what].both && k->head.flags & GTU_GRAPH_DIRECTED;
}

/* Over which edges a GPU runs. */
static enum gtu_part_direction direction_on_gpu(const struct gtu_ranked *k, enum gtu_ranked_algorithm what)
{
	if (what == GTU_RANKED_LABELS && k->head.flags & GTU_GRAPH_DIRECTED)
		return GTU_PART_ENDS;
	return needs_both(k, what) ? GTU_PART_BOTH : GTU_PART_STORED;
}

static int set_up(struct gtu_ranked *k, enum gtu_ranked_algorithm what)
{
	int rc;

	rc = gtu_part_edges_begin(&k->part, &k->local, k->whole, needs_both(k, what) ? GTU_PART_BOTH : GTU_PART_STORED,
				  algorithms[what].weights);
	if (!rc)
		rc = gtu_outbox_begin(&k->box, k->x);
	k->edges.weights = algorithms[what].weights && k->local.graph.weight;
	/* the SCU and the IRU look weights up by the edge's index */
	k->edges.edge_indices = k->edges.weights && k->a.q && !gtu_alg_streams_edges(&k->a);
	if (!rc)
		rc = gtu_ranked_edges_begin(k, &k->edges, &k->local.graph, 8);
	return rc ? rc : gtu_alg_reserve(&k->a, &k->rows.ids, (gtu_ranked_rows(k) + 1) * k->a.id_width, false);
}

static int finish(struct gtu_ranked *k, int rc)
{
	struct gtu_algorithm_stats *s = k->a.stats;
	uint64_t sum[6] = { s->edges, s->jobs, s->job_cycles, s->vertices, s->list_bytes, s->cached_bytes };

	rc = gtu_agree(k->x, rc, sum, 6);
	if (rc)
		return rc;
	s->edges = sum[0];
	s->jobs = sum[1];
	s->job_cycles = sum[2];
	s->vertices = sum[3];
	s->list_bytes = sum[4];
	s->cached_bytes = sum[5];
	return 0;
}

static int begin(struct gtu_ranked *k, enum gtu_ranked_algorithm what, struct gtu_device *dev,
		 const struct gtu_algorithm_options *opt, struct gtu_algorithm_stats *stats)
{
	int rc = 0;

	if (gtu_rank_traverses(dev)) {
		k->a = (struct gtu_alg){ .name = algorithms[what].name, .dev = dev, .g = &k->head, .opt = opt, .err = k->x->err };
		/* the GPU has a clock of its own, for @stats */
		gtu_phases_begin(&k->a.phases, NULL);
		k->a.stats = k->a.phases.stats;
		if (opt->unit != GTU_WITH_GPU)
			rc = gtu_fail(k->x->err, GTU_ERR_UNSUPPORTED, "%s runs on GPUs only over %s: choose the unit gpu", k->a.name,
				      gtu_get_info(dev)->path);
		if (!rc && (what == GTU_RANKED_BFS || what == GTU_RANKED_SSSP || what == GTU_RANKED_STCON))
			rc = gtu_alg_check_vertex(&k->a, "source", opt->source);
		if (!rc && what == GTU_RANKED_STCON)
			rc = gtu_alg_check_vertex(&k->a, "target", opt->target);
	} else {
		rc = gtu_alg_begin(&k->a, algorithms[what].name, dev, &k->head, opt, stats, k->x->err);
	}
	if (!rc && (opt->first_vertex || opt->end_vertex))
		rc = gtu_fail(k->x->err, GTU_ERR_UNSUPPORTED, "%s over several ranks does not take a vertex range: every rank "
			      "has its own", k->a.name);
	return rc;
}

int gtu_run_rank(struct gtu_exchange *x, struct gtu_device *dev, struct gtu_rank_graph *part, const struct gtu_graph *g,
		 enum gtu_ranked_algorithm what, const struct gtu_algorithm_options *opt, void *result,
		 struct gtu_algorithm_stats *stats)
{
	struct gtu_ranked *k = calloc(1, sizeof(*k));
	uint64_t none = 0;
	int rc, end_rc;

	x->ended = false;
	if (!k)
		return gtu_give_up(x, gtu_fail(x->err, GTU_ERR_NOMEM, "out of memory for a run"));
	k->x = x;
	k->whole = g;
	k->result = result;
	k->head = *g;
	k->head.flags &= ~(uint32_t)GTU_GRAPH_PART;
	k->callers = opt->progress;
	k->progress = (struct gtu_progress){ tick, k };
	k->opt = *opt;
	k->opt.progress = &k->progress;
	rc = begin(k, what, dev, &k->opt, stats);
	if (!rc)
		rc = gtu_part_begin(&k->part, x, g);
	rc = agree(k, what, rc);
	if (!rc && (algorithms[what].flat || gtu_rank_traverses(dev)))
		gtu_part_flatten(&k->part);
	if (!rc && g->n && gtu_rank_traverses(dev)) {
		/* a GPU's steps say nothing of their progress */
		be_silent(k, true);
		rc = gtu_run_rank_traversal(k, dev, part, what, direction_on_gpu(k, what), stats);
	} else if (!rc && g->n) {
		rc = gtu_agree(x, set_up(k, what), &none, 1);
		if (!rc)
			rc = algorithms[what].run(k);
	}
	rc = finish(k, rc);
	gtu_beat(x, false);
	end_rc = gtu_alg_edges_end(&k->a, &k->edges, rc);
	rc = rc ? rc : end_rc;
	gtu_outbox_end(&k->box);
	gtu_part_edges_end(&k->local);
	gtu_part_end(&k->part);
	rc = gtu_alg_end(&k->a, rc);
	free(k);
	return rc;
}
