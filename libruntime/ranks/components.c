// SPDX-License-Identifier: MIT
/*
 * Weakly connected components over ranks, always 1-D: disjoint sets whose links stay with the owners of
 * their vertices (Manne and Patwary, "A scalable parallel union-find algorithm for distributed memory
 * computers", PPAM 2009; links as in Rem's algorithm).
 *
 * A link leads to a lower vertex. The vertices of a rank that it knows to be connected are one tree, whose
 * root may link to a vertex of a lower rank. For an edge to a vertex of another rank, the pair of both
 * trees goes to the owner of the higher vertex. If that tree links to a lower rank already, its owner
 * keeps the lower link and passes the pair of both links on: to a lower rank, so a pair takes at most as
 * many steps as there are ranks. At the end, owners ask for the links of their links until these are
 * roots: the number of questions is logarithmic in the number of ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define WINDOW_EDGES (1u << 20)		/* that all ranks together traverse between two exchanges */
#define RECENT (1u << 12)		/* a power of two */

struct components {
	struct gtu_ranked *k;
	uint64_t *link;			/* of this rank's vertices; a root without a link: itself */
	/*
	 * Most edges to other ranks lead from one tree, that of `anchor`, and many to the same vertices.
	 * Bits of all vertices: connected with the anchor by an edge, so no other pair is needed.
	 */
	uint64_t anchor, *tied;
	uint64_t next;			/* the first row not traversed */
	uint64_t pairs;			/* to be sent */
	struct pair {
		uint64_t low, high;
	} *recent;			/* pairs sent, by a hash: not sent again */
	struct gtu_list open;		/* roots whose link may have a link */
};

static bool is_own(const struct components *s, uint64_t v)
{
	return v >= s->k->part.first && v < s->k->part.end;
}

static uint64_t *link_of(struct components *s, uint64_t v)
{
	return &s->link[v - s->k->part.first];
}

/* The root of this rank's vertex @v on this rank. */
static uint64_t root_of(struct components *s, uint64_t v)
{
	uint64_t up, above;

	while ((up = *link_of(s, v)) != v && is_own(s, up)) {
		above = *link_of(s, up);
		/* halve the path; only roots link to other ranks */
		if (is_own(s, above))
			*link_of(s, v) = above;
		v = up;
	}
	return v;
}

static int send_pair(struct components *s, uint64_t low, uint64_t high)
{
	const uint32_t width = s->k->head.edge_bytes;
	struct pair *recent = &s->recent[(low * 31 + high) & (RECENT - 1)];
	char *at;

	if (recent->low == low && recent->high == high)
		return 0;
	*recent = (struct pair){ low, high };
	at = gtu_outbox_add(&s->k->box, gtu_part_owner(&s->k->part, high), 2ull * width);
	if (!at)
		return gtu_outbox_full(s->k->x);
	gtu_store_id(at, width, low);
	gtu_store_id(at + width, width, high);
	s->pairs++;
	return 0;
}

/* Join this rank's root @root with @low of a lower rank. */
static int join_lower(struct components *s, uint64_t root, uint64_t low)
{
	uint64_t *link = link_of(s, root), high = *link;

	if (high == low)
		return 0;
	if (high == root) {
		*link = low;
		return 0;
	}
	if (low < high) {
		*link = low;
		return send_pair(s, low, high);
	}
	return send_pair(s, high, low);
}

/* Join two vertices of this rank. */
static int join_own(struct components *s, uint64_t u, uint64_t v)
{
	uint64_t link;

	u = root_of(s, u);
	v = root_of(s, v);
	if (u == v)
		return 0;
	if (u < v) {
		const uint64_t higher = v;

		v = u;
		u = higher;
	}
	link = *link_of(s, u);
	*link_of(s, u) = v;
	return link == u ? 0 : join_lower(s, v, link);
}

/*
 * Whether this rank joins the ends of an edge to @target of another rank: the owner of either end has the
 * edge if it is undirected, and each of two ranks joins for about half of the others.
 */
static bool is_joined_here(const struct components *s, uint64_t target)
{
	const struct gtu_part *p = &s->k->part;
	const uint32_t rank = s->k->x->ranks.rank, owner = gtu_part_owner(p, target);
	const uint32_t distance = owner > rank ? owner - rank : owner + p->ranks - rank;

	if (s->k->head.flags & GTU_GRAPH_DIRECTED)
		return true;
	return distance * 2ull < p->ranks || (distance * 2ull == p->ranks && rank < owner);
}

static int join_edge(struct components *s, uint64_t v, uint64_t target)
{
	uint64_t root;

	if (is_own(s, target))
		return join_own(s, v, target);
	if (gtu_bit(s->tied, target))
		return join_own(s, v, s->anchor);
	root = root_of(s, v);
	if (root == root_of(s, s->anchor))
		gtu_set_bit(s->tied, target);
	if (!is_joined_here(s, target))
		return 0;
	return target < v ? join_lower(s, root, target) : send_pair(s, *link_of(s, root), target);
}

static int join_ends(void *context, const struct gtu_alg_batch *batch)
{
	struct components *s = context;
	unsigned i;
	int rc = 0;

	for (i = 0; i < batch->n && !rc; i++)
		rc = join_edge(s, s->k->part.first + batch->source[i], batch->target[i]);
	return rc;
}

/* The vertex with the most edges. */
static void choose_anchor(struct components *s)
{
	struct gtu_ranked *k = s->k;
	uint64_t v, most = 0;

	s->anchor = k->part.first;
	for (v = 0; v < gtu_ranked_own(k); v++) {
		*link_of(s, k->part.first + v) = k->part.first + v;
		if (gtu_ranked_degree(k, v) > most) {
			most = gtu_ranked_degree(k, v);
			s->anchor = k->part.first + v;
		}
	}
}

/* Traverse the edges of the next rows, those of the anchor first. */
static int traverse_window(struct components *s)
{
	struct gtu_ranked *k = s->k;
	const uint64_t most = WINDOW_EDGES / k->part.ranks + 1, anchor = s->anchor - k->part.first;
	uint64_t edges = 0;

	k->rows.all = false;
	k->rows.count = 0;
	if (!s->next && gtu_ranked_own(k))
		gtu_alg_push(&k->a, &k->rows, anchor);
	for (; s->next < gtu_ranked_own(k) && edges < most; s->next++) {
		if (s->next == anchor)
			continue;
		gtu_alg_push(&k->a, &k->rows, s->next);
		edges += gtu_ranked_degree(k, s->next);
	}
	return k->rows.count ? gtu_ranked_traverse(k, &k->edges, join_ends, s) : 0;
}

static int receive_pairs(struct components *s, uint32_t from)
{
	const struct gtu_message *m = &s->k->box.from[from];
	const uint32_t width = s->k->head.edge_bytes;
	uint64_t at, low, high;
	int rc = m->bytes % (2 * width) ? gtu_part_bad_message(&s->k->part, from) : 0;

	for (at = 0; at < m->bytes && !rc; at += 2 * width) {
		gtu_beat_at(s->k->x, at / (2 * width));
		low = gtu_load_id(m->data + at, width);
		high = gtu_load_id(m->data + at + width, width);
		if (low >= high || !is_own(s, high))
			rc = gtu_part_bad_message(&s->k->part, from);
		else
			rc = is_own(s, low) ? join_own(s, low, high) : join_lower(s, root_of(s, high), low);
	}
	return rc;
}

/* Join the ends of all edges: pairs of one window are under way while the next one is traversed. */
static int join_all(struct components *s, int rc)
{
	struct gtu_ranked *k = s->k;
	uint64_t left;
	uint32_t i;

	for (;;) {
		gtu_phase(&k->a.phases, "traverse");
		/* pairs to pass on are no more than a window has */
		if (!rc && s->pairs <= WINDOW_EDGES / k->part.ranks)
			rc = traverse_window(s);
		gtu_phase(&k->a.phases, "exchange");
		rc = gtu_outbox_finish(k->x, &k->box, rc);
		for (i = 0; i < k->part.ranks && !rc; i++)
			rc = receive_pairs(s, i);
		left = gtu_ranked_own(k) - s->next + s->pairs;
		rc = gtu_agree(k->x, rc, &left, 1);
		if (rc || !left)
			return rc;
		rc = gtu_outbox_start(k->x, &k->box, GTU_CARGO_VALUES, rc);
		s->pairs = 0;
		gtu_phases_iteration(&k->a.phases, k->a.opt, k->part.n);
	}
}

/* ---- Labels ---------------------------------------------------------------------------------------- */

/* Ask the owner of each open root's link for the link's link. */
static int ask(struct components *s, int rc)
{
	struct gtu_ranked *k = s->k;
	const uint32_t width = k->head.edge_bytes;
	uint64_t i, link;
	void *at;

	for (i = 0; i < s->open.count && !rc; i++) {
		link = *link_of(s, s->open.at[i]);
		at = gtu_outbox_add(&k->box, gtu_part_owner(&k->part, link), width);
		if (at)
			gtu_store_id(at, width, link);
		else
			rc = gtu_outbox_full(k->x);
	}
	return gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
}

static int answer(struct components *s, int rc)
{
	struct gtu_ranked *k = s->k;
	const uint32_t width = k->head.edge_bytes;
	uint64_t at, v;
	uint32_t from;
	void *to;

	for (from = 0; from < k->part.ranks; from++)
		for (at = 0; at < k->box.from[from].bytes && !rc; at += width) {
			v = k->box.from[from].bytes % width ? GTU_NO_VERTEX : gtu_load_id(k->box.from[from].data + at, width);
			if (!is_own(s, v)) {
				rc = gtu_part_bad_message(&k->part, from);
				break;
			}
			v = *link_of(s, root_of(s, v));
			to = gtu_outbox_add(&k->box, from, width);
			if (to)
				gtu_store_id(to, width, v);
			else
				rc = gtu_outbox_full(k->x);
		}
	return gtu_outbox_exchange(k->x, &k->box, GTU_CARGO_VALUES, rc);
}

/* Take the answers, in the order of the questions; roots whose link is a root are no longer open. */
static int take_answers(struct components *s, uint64_t *read, int rc)
{
	struct gtu_ranked *k = s->k;
	const uint32_t width = k->head.edge_bytes;
	uint64_t i, count = 0, link, *own;
	uint32_t from;

	memset(read, 0, k->part.ranks * sizeof(*read));
	for (i = 0; i < s->open.count && !rc; i++) {
		own = link_of(s, s->open.at[i]);
		from = gtu_part_owner(&k->part, *own);
		link = UINT64_MAX;
		if (read[from] + width <= k->box.from[from].bytes)
			link = gtu_load_id(k->box.from[from].data + read[from], width);
		read[from] += width;
		if (link > *own)
			return gtu_part_bad_message(&k->part, from);
		if (link < *own)
			s->open.at[count++] = s->open.at[i];
		*own = link;
	}
	s->open.count = count;
	return rc;
}

/* Replace links by the lowest vertices of the components. */
static int find_labels(struct components *s)
{
	struct gtu_ranked *k = s->k;
	uint64_t *read = calloc(k->part.ranks, sizeof(*read)), v, left;
	int rc = read ? 0 : gtu_outbox_full(k->x);

	for (v = k->part.first; v < k->part.end && !rc; v++)
		if (!is_own(s, *link_of(s, v)))
			rc = gtu_list_push(&s->open, v, k->x);
	for (;;) {
		left = s->open.count;
		rc = gtu_agree(k->x, rc, &left, 1);
		if (rc || !left)
			break;
		rc = ask(s, rc);
		rc = answer(s, rc);
		if (!rc)
			rc = take_answers(s, read, rc);
		gtu_phases_iteration(&k->a.phases, k->a.opt, left);
	}
	free(read);
	/* a link leads to a lower vertex, which has its label already */
	for (v = k->part.first; v < k->part.end && !rc; v++)
		if (is_own(s, *link_of(s, v)))
			*link_of(s, v) = *link_of(s, *link_of(s, v));
	return rc;
}

int gtu_ranked_components(struct gtu_ranked *k)
{
	struct components s = { .k = k, .link = k->result };
	int rc;

	rc = gtu_ranked_alloc(k, &s.tied, k->part.n / 64 + 1, 8);
	if (!rc)
		rc = gtu_ranked_alloc(k, &s.recent, RECENT, sizeof(*s.recent));
	if (!rc)
		choose_anchor(&s);
	rc = join_all(&s, rc);
	if (!rc)
		rc = find_labels(&s);
	k->a.stats->vertices = gtu_ranked_own(k);
	free(s.tied);
	free(s.recent);
	free(s.open.at);
	return rc;
}
