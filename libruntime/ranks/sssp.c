// SPDX-License-Identifier: MIT
/*
 * Shortest paths over ranks by near-far worklists. A rank relaxes the edges of near vertices into the
 * lowest distance that it has sent of each target, and sends the targets whose distance fell to their
 * owners. An owner keeps vertices beyond the threshold in its far list; when no rank has near vertices,
 * the ranks agree on the next threshold.
 */
#include <math.h>
#include <stdlib.h>

#include "libruntime/support/distance.h"
#include "libruntime/support/graph_access.h"
#include "run.h"

/*
 * The default increment of the threshold is DELTA_FACTOR times the mean weight by the mean degree: more
 * than on one device, because every threshold costs an agreement of all ranks.
 */
#define DELTA_FACTOR 32

struct paths {
	struct gtu_ranked *k;
	enum distance_type type;
	uint64_t infinity, threshold;
	double delta;
	uint64_t *distance;		/* of this rank's vertices */
	uint64_t *base;			/* of its rows; the same array if it has all edges of its vertices */
	uint64_t *sent;			/* of all vertices: the complement of the lowest distance sent; 0: none */
	uint64_t *changed_bits;		/* of all vertices: in `changed` */
	uint64_t *near_bits, *far_bits;	/* of this rank's vertices: in `near`, in `far` */
	struct gtu_list changed, near, far;
};

static int relax(void *context, const struct gtu_alg_batch *batch)
{
	struct paths *s = context;
	uint64_t cost, target;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc; i++) {
		target = batch->target[i];
		cost = distance_add(s->type, s->base[batch->source[i]], batch->weight, i);
		if (cost >= s->infinity || ~cost <= s->sent[target])
			continue;
		s->sent[target] = ~cost;
		if (gtu_bit(s->changed_bits, target))
			continue;
		gtu_set_bit(s->changed_bits, target);
		rc = gtu_list_push(&s->changed, target, s->k->x);
	}
	return rc;
}

static void clear_bit(uint64_t *bits, uint64_t i)
{
	bits[i >> 6] &= ~(1ull << (i & 63));
}

static int enter(struct paths *s, struct gtu_list *l, uint64_t *bits, uint64_t v)
{
	if (gtu_bit(bits, v - s->k->part.first))
		return 0;
	gtu_set_bit(bits, v - s->k->part.first);
	return gtu_list_push(l, v, s->k->x);
}

/* An owner takes the distance that another rank found. */
static int take_distance(void *context, uint64_t v, uint64_t cost)
{
	struct paths *s = context;

	if (cost >= s->distance[v - s->k->part.first])
		return 0;
	s->distance[v - s->k->part.first] = cost;
	return cost < s->threshold ? enter(s, &s->near, s->near_bits, v) : enter(s, &s->far, s->far_bits, v);
}

static int take_base(void *context, uint64_t v, uint64_t cost)
{
	struct paths *s = context;
	const uint64_t row = v - s->k->part.row_first;

	if (!gtu_part_has_row(&s->k->part, v))
		return gtu_part_bad_message(&s->k->part, gtu_part_owner(&s->k->part, v));
	s->base[row] = cost;
	gtu_alg_push(&s->k->a, &s->k->rows, row);
	return 0;
}

/* The rows of the near vertices of this rank's row, and their distances. */
static int expand(struct paths *s)
{
	struct gtu_ranked *k = s->k;
	struct gtu_part *p = &k->part;
	uint64_t i, v;
	uint32_t to;
	int rc = 0;

	k->rows.count = 0;
	k->rows.all = false;
	for (i = 0; i < s->near.count && !rc; i++) {
		v = s->near.at[i];
		clear_bit(s->near_bits, v - p->first);
		if (p->cols == 1)
			gtu_alg_push(&k->a, &k->rows, v - p->row_first);
		for (to = 0; p->cols > 1 && to < p->cols && !rc; to++)
			rc = gtu_part_send_pair(p, &k->box, gtu_part_in_row(p, to), k->x->ranks.rank, v,
						s->distance[v - p->first]);
	}
	s->near.count = 0;
	if (p->cols == 1)
		return rc;
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
	return rc ? rc : gtu_part_receive_pairs(p, &k->box, GTU_SENDERS, take_base, s);
}

static int round_of(struct paths *s)
{
	struct gtu_ranked *k = s->k;
	uint64_t i, v;
	uint32_t owner;
	int rc;

	gtu_phase(&k->a.phases, "exchange");
	rc = expand(s);
	gtu_phase(&k->a.phases, "traverse");
	s->changed.count = 0;
	if (!rc)
		rc = gtu_ranked_traverse(k, &k->edges, relax, s);
	gtu_phase(&k->a.phases, "exchange");
	for (i = 0; i < s->changed.count && !rc; i++) {
		v = s->changed.at[i];
		clear_bit(s->changed_bits, v);
		owner = gtu_part_owner(&k->part, v);
		rc = gtu_part_send_pair(&k->part, &k->box, owner, owner, v, ~s->sent[v]);
	}
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
	return rc ? rc : gtu_part_receive_pairs(&k->part, &k->box, GTU_RECEIVERS, take_distance, s);
}

/* Raise the threshold above the nearest far vertex of all ranks; *more: whether there is one. */
static int next_threshold(struct paths *s, bool *more)
{
	struct gtu_ranked *k = s->k;
	uint64_t i, v, cost, count = 0, min = s->infinity;
	int rc;

	/* a vertex below the threshold has been near since it entered the list */
	for (i = 0; i < s->far.count; i++) {
		v = s->far.at[i];
		cost = s->distance[v - k->part.first];
		if (cost < s->threshold) {
			clear_bit(s->far_bits, v - k->part.first);
			continue;
		}
		s->far.at[count++] = v;
		min = cost < min ? cost : min;
	}
	s->far.count = count;
	rc = gtu_reduce(k->x, GTU_MIN_U64, &min);
	*more = min < s->infinity;
	if (rc || !*more)
		return rc;
	s->threshold = distance_above(s->type, min, s->delta);
	for (i = count = 0; i < s->far.count && !rc; i++) {
		v = s->far.at[i];
		if (s->distance[v - k->part.first] < s->threshold) {
			clear_bit(s->far_bits, v - k->part.first);
			rc = enter(s, &s->near, s->near_bits, v);
		} else {
			s->far.at[count++] = v;
		}
	}
	s->far.count = count;
	return rc;
}

static int search(struct paths *s)
{
	struct gtu_ranked *k = s->k;
	const uint64_t source = k->a.opt->source;
	uint64_t i, near;
	bool more = true;
	int rc = 0;

	for (i = 0; i < gtu_ranked_own(k); i++)
		s->distance[i] = s->infinity;
	s->threshold = distance_above(s->type, 0, s->delta);
	if (source >= k->part.first && source < k->part.end)
		rc = take_distance(s, source, 0);
	while (more) {
		near = s->near.count;
		rc = gtu_agree(k->x, rc, &near, 1);
		if (rc)
			return rc;
		if (near) {
			rc = round_of(s);
			gtu_phases_iteration(&k->a.phases, k->a.opt, near);
		} else {
			rc = next_threshold(s, &more);
		}
	}
	return rc;
}

/* Check the weights of this rank's edges; *sum: theirs. */
static int scan_weights(struct paths *s, double *sum)
{
	const struct gtu_graph *g = &s->k->local.graph;
	uint64_t e, v = 0;
	double w;

	*sum = 0;
	/* the edge before an odd one is another rank's */
	for (e = g->row[0]; g->weight && e < g->m; e++) {
		w = gtu_graph_weight(g, e);
		if (!(w >= 0)) {
			while (g->row[v + 1] <= e)
				v++;
			return gtu_fail(s->k->a.err, GTU_ERR_INPUT,
					"%s: the edge from vertex %llu to vertex %llu has weight %g; shortest paths need "
					"weights of 0 or more", g->name,
					(unsigned long long)gtu_graph_id(&s->k->head, s->k->part.row_first + v),
					(unsigned long long)gtu_graph_id(&s->k->head, gtu_graph_target(g, e)), w);
		}
		*sum += isfinite(w) ? w : 0;
	}
	return 0;
}

/* The type of distances and the threshold's increment, the same on all ranks. */
static int choose_type(struct paths *s)
{
	const struct gtu_graph *g = &s->k->head;
	uint64_t none = 0;
	double sum;
	int rc;

	rc = gtu_alg_check_vertex(&s->k->a, "source", s->k->a.opt->source);
	if (!rc && (g->weight_type > GTU_WEIGHT_F64 || (g->weight_type && !g->weight && g->m)))
		rc = gtu_fail(s->k->a.err, GTU_ERR_USAGE, "%s: weights of type %u are missing", g->name, g->weight_type);
	s->delta = s->k->a.opt->delta;
	if (!rc && (isnan(s->delta) || s->delta < 0))
		rc = gtu_fail(s->k->a.err, GTU_ERR_USAGE, "a near-far step of %g is invalid: it must be a positive number",
			      s->delta);
	if (!rc)
		rc = scan_weights(s, &sum);
	rc = gtu_agree(s->k->x, rc, &none, 1);
	if (!rc)
		rc = gtu_reduce(s->k->x, GTU_SUM_F64, &sum);
	if (rc)
		return rc;
	s->type = g->weight_type == GTU_WEIGHT_F32 ? DISTANCE_F32 :
		  g->weight_type == GTU_WEIGHT_F64 ? DISTANCE_F64 : DISTANCE_U64;
	s->infinity = distance_infinity(s->type);
	if (s->delta == 0 && g->m)
		s->delta = DELTA_FACTOR * (g->weight ? sum / (double)g->m : 1) * (double)g->n / (double)g->m;
	if (s->delta == 0 || (s->type == DISTANCE_U64 && s->delta < 1))
		s->delta = 1;
	return 0;
}

int gtu_ranked_sssp(struct gtu_ranked *k)
{
	const uint64_t own = gtu_ranked_own(k);
	struct paths s = { .k = k };
	double *result = k->result;
	uint64_t i, none = 0;
	int rc;

	rc = choose_type(&s);
	if (rc)
		return rc;
	rc = gtu_ranked_alloc(k, &s.distance, own, 8);
	s.base = s.distance;
	if (!rc && k->part.cols > 1)
		rc = gtu_ranked_alloc(k, &s.base, gtu_ranked_rows(k), 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.sent, k->part.n, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.changed_bits, k->part.n / 64 + 1, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.near_bits, own / 64 + 1, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.far_bits, own / 64 + 1, 8);
	rc = gtu_agree(k->x, rc, &none, 1);
	if (!rc)
		rc = search(&s);
	for (i = 0; !rc && i < own; i++) {
		result[i] = distance_number(s.type, s.distance[i]);
		k->a.stats->vertices += s.distance[i] != s.infinity;
	}
	if (s.base != s.distance)
		free(s.base);
	free(s.distance);
	free(s.sent);
	free(s.changed_bits);
	free(s.near_bits);
	free(s.far_bits);
	free(s.changed.at);
	free(s.near.at);
	free(s.far.at);
	return rc;
}
