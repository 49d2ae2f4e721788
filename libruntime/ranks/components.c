// SPDX-License-Identifier: MIT
/*
 * Weakly connected components over ranks. Every rank joins the ends of its edges to disjoint sets. Then
 * ranks send their forests to each other along a binary tree, changed vertices only; rank 0 has the
 * components and sends every owner its labels. An edge is traversed once, and the number of exchanges
 * is logarithmic in the number of ranks whatever the graph's diameter.
 */
#include <stdlib.h>
#include <string.h>

#include "run.h"

struct forest {
	struct gtu_ranked *k;
	/*
	 * Of all vertices: how far its parent is below it; 0: a root. A forest's memory is that of its
	 * own vertices, since pages without them stay zero.
	 */
	uint64_t *below;
};

static uint64_t root_of(struct forest *f, uint64_t v)
{
	uint64_t up;

	while (f->below[v]) {
		up = v - f->below[v];
		/* halve the path */
		f->below[v] += f->below[up];
		v -= f->below[v];
	}
	return v;
}

static void join(struct forest *f, uint64_t u, uint64_t v)
{
	u = root_of(f, u);
	v = root_of(f, v);
	if (u > v)
		f->below[u] = u - v;
	else if (v > u)
		f->below[v] = v - u;
}

static int join_ends(void *context, const struct gtu_alg_batch *batch)
{
	struct forest *f = context;
	unsigned i;

	for (i = 0; i < batch->n; i++)
		join(f, f->k->part.row_first + batch->source[i], batch->target[i]);
	return 0;
}

static int send_forest(struct forest *f, uint32_t to)
{
	const uint32_t width = f->k->head.edge_bytes;
	uint64_t v, root;
	char *at;

	for (v = 0; v < f->k->part.n; v++) {
		if (!f->below[v])
			continue;
		root = root_of(f, v);
		at = gtu_outbox_add(&f->k->box, to, 2 * width);
		if (!at)
			return gtu_outbox_full(f->k->x);
		memcpy(at, &v, width);
		memcpy(at + width, &root, width);
	}
	return 0;
}

static int receive_forest(struct forest *f, uint32_t from)
{
	const struct gtu_message *m = &f->k->box.from[from];
	const uint32_t width = f->k->head.edge_bytes;
	uint64_t at, v, root;

	for (at = 0; at + 2 * width <= m->bytes; at += 2 * width) {
		v = root = 0;
		memcpy(&v, m->data + at, width);
		memcpy(&root, m->data + at + width, width);
		if (v >= f->k->part.n || root >= v)
			return gtu_fail(f->k->x->err, GTU_ERR_FAIL, "rank %u sent vertex %llu with label %llu, but the graph "
					"has %llu vertices", from, (unsigned long long)v, (unsigned long long)root,
					(unsigned long long)f->k->part.n);
		join(f, v, root);
	}
	return 0;
}

/* Collect all forests on rank 0: in each round every second rank that is left sends its own. */
static int merge(struct forest *f, int rc)
{
	struct gtu_ranked *k = f->k;
	const uint32_t rank = k->x->ranks.rank, ranks = k->part.ranks;
	uint64_t step;

	for (step = 1; step < ranks; step *= 2) {
		if (!rc && rank % (2 * step) == step)
			rc = send_forest(f, rank - (uint32_t)step);
		rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
		if (!rc && rank % (2 * step) == 0 && rank + step < ranks)
			rc = receive_forest(f, rank + (uint32_t)step);
		gtu_phases_iteration(&k->a.phases, k->a.opt, k->part.n);
	}
	return rc;
}

/* Rank 0 sends every owner the components of its vertices. */
static int spread(struct forest *f, int rc)
{
	struct gtu_ranked *k = f->k;
	struct gtu_part *p = &k->part;
	const void *labels;
	uint64_t v, *to;
	uint32_t i;

	for (i = 0; i < p->ranks && !k->x->ranks.rank && !rc; i++) {
		to = gtu_outbox_add(&k->box, i, gtu_part_range(p, i) * 8);
		if (!to && gtu_part_range(p, i))
			rc = gtu_outbox_full(k->x);
		for (v = p->cut[i]; !rc && v < p->cut[i + 1]; v++)
			*to++ = root_of(f, v);
	}
	rc = gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
	if (rc)
		return rc;
	labels = gtu_part_receive_array(p, &k->box, 0, gtu_ranked_own(k));
	if (!labels)
		return GTU_ERR_FAIL;
	memcpy(k->result, labels, gtu_ranked_own(k) * 8);
	return 0;
}

int gtu_ranked_components(struct gtu_ranked *k)
{
	struct forest f = { .k = k };
	int rc;

	rc = gtu_ranked_alloc(k, &f.below, k->part.n, 8);
	gtu_phase(&k->a.phases, "traverse");
	k->rows.all = true;
	k->rows.count = gtu_ranked_rows(k);
	if (!rc && k->rows.count)
		rc = gtu_ranked_traverse(k, &k->edges, join_ends, &f);
	gtu_phases_iteration(&k->a.phases, k->a.opt, k->part.n);
	gtu_phase(&k->a.phases, "exchange");
	rc = merge(&f, rc);
	rc = spread(&f, rc);
	k->a.stats->vertices = gtu_ranked_own(k);
	free(f.below);
	return rc;
}
