// SPDX-License-Identifier: MIT
/*
 * Stand-in graphs whose structure or vertex order was measured on real graphs of their family, with
 * `gtu stat` and by the positions of the edges in the adjacency matrix.
 */
#include "lab_standins.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "gtu/splitmix64.h"

/* Uniform in 0..n-1 (n > 0), with a bias below n / 2^64. */
static uint64_t below(uint64_t *state, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)gtu_splitmix64_next(state) * n) >> 64);
}

static double unit(uint64_t *state)
{
	return (double)(gtu_splitmix64_next(state) >> 11) * 0x1p-53;
}

struct list {
	uint64_t *at, n, capacity;
};

static bool append(struct list *l, uint64_t value)
{
	uint64_t capacity = l->capacity ? 2 * l->capacity : 1024, *more;

	if (l->n == l->capacity) {
		more = realloc(l->at, 8 * capacity);
		if (!more)
			return false;
		l->at = more;
		l->capacity = capacity;
	}
	l->at[l->n++] = value;
	return true;
}

/* ---- Overlapping groups ------------------------------------------------------------------------- */

/*
 * Groups (papers, gene modules, an author's papers) are formed one after the other; the size of a group is geometric. A
 * member is new with probability @fresh and gets the next number. Otherwise it is an existing vertex:
 * any of them with probability @uniform, else one for each of its groups.
 *
 * The first two rows reproduce the measured properties of cond-mat-2005 (mean degree 8.7) and of bio-CE-CX
 * (32.3), real and stand-in: order_lines 18.6, 18.4 and 17.7, 19.4; degree seen by an edge 27, 27 and
 * 96, 100; neighbours that are in the 32,768 entries before, again, 0.59, 0.57 and 0.78, 0.73.
 *
 * The fourth row reproduces web-uk-2005 of the Network Repository (129,632 pages, mean degree 181), which is
 * hardly more than separate cliques, of up to 500 pages: all but 1.4% of the pages are in its least vertex
 * cover, which lacks one page of each clique.
 *
 * With a window, existing vertices are among the last ones formed, so many of all, and the vertices are
 * numbered at random. A search then takes about one hop for each window, at any size: the third row's
 * effective diameter (90% of the pairs) is 5.8, com-Friendster's in the Stanford collection.
 *
 * The last row is coPapersCiteseer: mean degree 74, maximum 1188 (GraphPEG, table 3), largest clique 845.
 * GraphPEG calls its degrees highly skewed and its neighbours "usually sequentially numbered". At its
 * 434,000 vertices the stand-in has a maximum of about 1,200 and a median of 0.55 of the mean
 * (coPapersDBLP: 0.60); two thirds of a list's neighbours follow their predecessor.
 */
static const struct groups {
	const char *name;
	double fresh, uniform, window;
	double spread;			/* of the sizes' logarithms; 0: sizes are geometric */
	uint32_t most;			/* members of a group */
} groups[] = {
	{ "coauthors", 0.45, 0.4, 1, 0, 0 },
	{ "modules", 0.3, 0.45, 1, 0, 0 },
	{ "friends", 0.45, 0.4, 0.068, 0, 0 },
	{ "copapers", 0.7, 1, 1, 1.1, 845 },
	{ "pages", 0.95, 0, 1, 0, 0 },
};

/*
 * Sizes whose logarithms, as a member sees them, are normal. @upto: cumulative shares of the groups of
 * 2, 3, ... members. Returns the mean number of others that a member sees.
 */
static double log_normal(const struct groups *kind, double median, double *upto)
{
	double sum = 0, seats = 0, others = 0, s, w;
	uint32_t i;

	for (i = 2; i <= kind->most; i++) {
		s = i;
		w = exp(-pow(log(s / median) / kind->spread, 2) / 2) / (s * s);
		upto[i - 2] = sum += w;
		seats += w * s;
		others += w * s * (s - 1);
	}
	for (i = 0; i < kind->most - 1; i++)
		upto[i] /= sum;
	return others / seats;
}

/* The same with the median that gives a mean degree. */
static void log_normal_of(const struct groups *kind, double degree, double *upto)
{
	double low = 1, high = kind->most, median;
	unsigned i;

	for (i = 0; i < 60; i++) {
		median = sqrt(low * high);
		*(log_normal(kind, median, upto) < degree * kind->fresh ? &low : &high) = median;
	}
}

static uint32_t size_of(const struct groups *kind, const double *upto, uint64_t *state)
{
	const double u = unit(state);
	uint32_t low = 0, high = kind->most - 2, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (upto[mid] > u)
			high = mid;
		else
			low = mid + 1;
	}
	return low + 2;
}

/* Connect the members from @first on with each other. */
static bool connect(const struct list *members, uint64_t first, struct list *from, struct list *to)
{
	uint64_t i, k;
	bool ok = true;

	for (i = first; i < members->n; i++)
		for (k = i + 1; k < members->n && ok; k++)
			if (members->at[i] != members->at[k])
				ok = append(from, members->at[i]) && append(to, members->at[k]);
	return ok;
}

/* Number the vertices of the edges at random. False: out of memory. */
static bool shuffle(uint64_t n, uint64_t *state, const struct list *from, const struct list *to)
{
	uint64_t *id = malloc(8 * n), v, other, was;

	for (v = 0; v < n && id; v++) {
		other = below(state, v + 1);
		was = other == v ? v : id[other];
		id[other] = v;
		id[v] = was;
	}
	for (v = 0; v < from->n && id; v++) {
		from->at[v] = id[from->at[v]];
		to->at[v] = id[to->at[v]];
	}
	free(id);
	return id != NULL;
}

/*
 * A vertex is in 1 / fresh groups, and a member sees twice (size - 1) others on average, which gives
 * the mean size for a degree. Groups that overlap in two members make the degree slightly smaller.
 */
static int overlapping(const struct gtu_generate_options *o, const struct groups *kind, const struct gtu_progress *progress,
		       struct gtu_graph **out, struct gtu_error *err)
{
	const double end = 1 / (1 + o->degree * kind->fresh / 2);
	const struct gtu_read_options build = { .direction = GTU_UNDIRECTED, .simplify = 1 };
	struct list members = { 0 }, from = { 0 }, to = { 0 };
	double *upto = kind->most ? malloc(kind->most * sizeof(*upto)) : NULL;
	uint32_t left = 0;
	const uint64_t window = (uint64_t)ceil(kind->window * (double)o->n), seats = (uint64_t)((double)window / kind->fresh);
	uint64_t state = gtu_splitmix64_hash(o->seed), vertices = 0, first, v, m;
	bool ok = upto || !kind->most, stopped = false;
	int rc;

	if (upto)
		log_normal_of(kind, o->degree, upto);
	while (vertices < o->n && ok && !stopped) {
		first = members.n;
		left = upto ? size_of(kind, upto, &state) : 0;
		do {
			v = vertices > window ? vertices - window : 0;
			m = kind->window < 1 && members.n > seats ? members.n - seats : 0;
			if (!members.n || (vertices < o->n && unit(&state) < kind->fresh))
				ok = append(&members, vertices++);
			else
				ok = append(&members, unit(&state) < kind->uniform ? v + below(&state, vertices - v) :
					    members.at[m + below(&state, members.n - m)]);
		} while (ok && (upto ? --left : unit(&state) >= end));
		ok = ok && connect(&members, first, &from, &to);
		stopped = gtu_tick(progress, "forming groups", vertices, o->n);
	}
	if (ok && !stopped && kind->window < 1)
		ok = shuffle(o->n, &state, &from, &to);
	rc = stopped ? gtu_fail(err, GTU_ERR_INTERRUPTED, "generating was stopped") : ok ? 0 :
	     gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the groups of %llu vertices", (unsigned long long)o->n);
	rc = rc ? rc : gtu_graph_from_edges(o->n, from.n, from.at, to.at, GTU_WEIGHT_NONE, NULL, &build, out, err);
	free(upto);
	free(members.at);
	free(from.at);
	free(to.at);
	if (!rc)
		snprintf((*out)->name, sizeof((*out)->name), "%s n=%llu degree=%g seed=%llu", kind->name,
			 (unsigned long long)o->n, o->degree, (unsigned long long)o->seed);
	return rc;
}

/* ---- Delaunay's order --------------------------------------------------------------------------- */

/*
 * The points of DIMACS10's delaunay graphs were inserted in rounds of fourfold size, and are numbered
 * by round: three quarters of the vertices are in the last one, 3/16 in the one before it, and so on.
 * A round is ordered along a space-filling curve, as all points of gtu_graph_generate() are. The
 * edges between the sixteenths of delaunay_n16's vertices show it; the mean distance is 0.192 in the
 * real file and here, the lines of 32 edges 5.9 and 5.8.
 */
static int in_rounds(const struct gtu_generate_options *o, const struct gtu_progress *progress, struct gtu_graph **out,
		     struct gtu_error *err)
{
	struct gtu_generate_options plain = *o;
	const struct gtu_read_options build = { .direction = GTU_UNDIRECTED };
	struct gtu_graph *g;
	struct list from = { 0 }, to = { 0 };
	uint64_t start[33] = { 0 }, state = gtu_splitmix64_hash(~o->seed), v, edge, *id;
	uint8_t *round;
	bool ok;
	int rc;

	plain.kind = GTU_GEN_DELAUNAY;
	rc = gtu_graph_generate(&plain, progress, &g, err);
	if (rc)
		return rc;
	id = malloc(8 * g->n);
	round = malloc(g->n);
	ok = id && round;
	/* round 31 is the last; each bit pair that is 0 moves a vertex one round down */
	for (v = 0; v < g->n && ok; v++) {
		uint64_t bits = gtu_splitmix64_next(&state);

		for (round[v] = 31; round[v] && !(bits & 3); round[v]--)
			bits >>= 2;
		start[round[v] + 1]++;
	}
	for (v = 0; v < 32; v++)
		start[v + 1] += start[v];
	for (v = 0; v < g->n && ok; v++)
		id[v] = start[round[v]]++;
	for (v = 0; v < g->n && ok; v++)
		for (edge = g->row[v]; edge < g->row[v + 1] && ok; edge++)
			if (v < gtu_graph_target(g, edge))
				ok = append(&from, id[v]) && append(&to, id[gtu_graph_target(g, edge)]);
	rc = ok ? gtu_graph_from_edges(g->n, from.n, from.at, to.at, GTU_WEIGHT_NONE, NULL, &build, out, err) :
	     gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the order of %s", g->name);
	if (!rc)
		snprintf((*out)->name, sizeof((*out)->name), "%.100s in rounds", g->name);
	free(id);
	free(round);
	free(from.at);
	free(to.at);
	gtu_graph_close(g);
	return rc;
}

/* ---- Graph500 without isolated vertices ----------------------------------------------------------- */

static int connected(const struct gtu_generate_options *o, const struct gtu_progress *progress, struct gtu_graph **out,
		     struct gtu_error *err)
{
	const struct gtu_read_options build = { .direction = GTU_UNDIRECTED };
	struct gtu_generate_options plain = *o;
	struct list from = { 0 }, to = { 0 };
	struct gtu_graph *g;
	uint64_t v, edge, n = 0, *id;
	bool ok;
	int rc;

	plain.kind = GTU_GEN_KRONECKER;
	plain.simplify = 1;
	rc = gtu_graph_generate(&plain, progress, &g, err);
	if (rc)
		return rc;
	id = malloc(8 * g->n);
	ok = id;
	for (v = 0; v < g->n && ok; v++) {
		id[v] = n;
		n += g->row[v + 1] > g->row[v];
	}
	for (v = 0; v < g->n && ok; v++)
		for (edge = g->row[v]; edge < g->row[v + 1] && ok; edge++)
			if (v < gtu_graph_target(g, edge))
				ok = append(&from, id[v]) && append(&to, id[gtu_graph_target(g, edge)]);
	rc = ok ? gtu_graph_from_edges(n, from.n, from.at, to.at, GTU_WEIGHT_NONE, NULL, &build, out, err) :
	     gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the edges of %s", g->name);
	if (!rc)
		snprintf((*out)->name, sizeof((*out)->name), "%.100s without isolated vertices", g->name);
	free(id);
	free(from.at);
	free(to.at);
	gtu_graph_close(g);
	return rc;
}

/* ---- Preferential attachment ------------------------------------------------------------------- */

/* The first vertices have no edges among themselves. Rounds the number of edges of a vertex. */
static int attached(const struct gtu_generate_options *o, const struct gtu_progress *progress, struct gtu_graph **out,
		    struct gtu_error *err)
{
	const struct gtu_read_options build = { .direction = GTU_UNDIRECTED };
	const uint64_t each = (uint64_t)lround(o->degree / 2) ? (uint64_t)lround(o->degree / 2) : 1;
	struct list from = { 0 }, to = { 0 }, ends = { 0 };
	uint64_t state = gtu_splitmix64_hash(o->seed), *chosen_by = calloc(o->n, 8), v, i, u;
	bool ok = chosen_by, stopped = false;
	int rc;

	for (v = 0; v < each && ok; v++)
		ok = append(&ends, v);
	for (v = each; v < o->n && ok && !stopped; v++) {
		for (i = 0; i < each && ok;) {
			u = ends.at[below(&state, ends.n)];
			if (chosen_by[u] == v)
				continue;
			chosen_by[u] = v;
			ok = append(&from, v) && append(&to, u);
			i++;
		}
		for (i = from.n - each; i < from.n && ok; i++)
			ok = append(&ends, to.at[i]) && append(&ends, v);
		stopped = gtu_tick(progress, "attaching vertices", v, o->n);
	}
	rc = stopped ? gtu_fail(err, GTU_ERR_INTERRUPTED, "generating was stopped") : ok ? 0 :
	     gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the edges of %llu vertices", (unsigned long long)o->n);
	rc = rc ? rc : gtu_graph_from_edges(o->n, from.n, from.at, to.at, GTU_WEIGHT_NONE, NULL, &build, out, err);
	if (!rc)
		snprintf((*out)->name, sizeof((*out)->name), "attached n=%llu degree=%g seed=%llu", (unsigned long long)o->n,
			 o->degree, (unsigned long long)o->seed);
	free(chosen_by);
	free(from.at);
	free(to.at);
	free(ends.at);
	return rc;
}

/* ---- Separate ego networks ----------------------------------------------------------------------- */

/*
 * COLLAB (Yanardag and Vishwanathan, KDD 2015) is 5000 ego networks of researchers, of 32 to 492 vertices,
 * on average 74.5, and with 2457.8 edges. Its lists have twice as many entries in SparseWeaver's table III:
 * 49.1 M. A network has an ego, whom all others know, and papers, whose authors know each other; an
 * author of a paper is new as in coauthors. The size of a paper is chosen for the number of edges.
 */
#define EGO_LEAST	32u
#define EGO_MEAN	74.5
#define EGO_PAPER	0.02		/* probability that an author is a paper's last one */

/* Edges of a network of the vertices from @first on; returns their number in *@size. False: out of memory. */
static bool ego_network(uint64_t first, uint64_t *size, uint64_t *state, struct list *members, struct list *from, struct list *to)
{
	uint64_t n = EGO_LEAST, known = 1, paper, v;
	bool ok = true;

	while (unit(state) >= 1 / (1 + EGO_MEAN - EGO_LEAST))
		n++;
	members->n = 0;
	for (v = 1; v < n && ok; v++)
		ok = append(from, first) && append(to, first + v);
	while (known < n && ok) {
		paper = members->n;
		do {
			if (known < n && (!members->n || unit(state) < groups[0].fresh))
				ok = append(members, first + known++);
			else
				ok = append(members, unit(state) < groups[0].uniform ? first + 1 + below(state, known - 1) :
					    members->at[below(state, members->n)]);
		} while (ok && unit(state) >= EGO_PAPER);
		ok = ok && connect(members, paper, from, to);
	}
	*size = n;
	return ok;
}

static int egos(const struct gtu_generate_options *o, const struct gtu_progress *progress, struct gtu_graph **out,
		struct gtu_error *err)
{
	const struct gtu_read_options once = { .direction = GTU_UNDIRECTED, .simplify = 1 }, twice = { .direction = GTU_UNDIRECTED };
	struct list members = { 0 }, from = { 0 }, to = { 0 };
	uint64_t state = gtu_splitmix64_hash(o->seed), v = 0, size, e, t;
	struct gtu_graph *g = NULL;
	bool ok = true, stopped = false;
	int rc;

	for (; v < o->n && ok && !stopped; v += size) {
		ok = ego_network(v, &size, &state, &members, &from, &to);
		stopped = gtu_tick(progress, "forming networks", v, o->n);
	}
	rc = stopped ? gtu_fail(err, GTU_ERR_INTERRUPTED, "generating was stopped") : ok ? 0 :
	     gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the networks of %llu vertices", (unsigned long long)o->n);
	rc = rc ? rc : gtu_graph_from_edges(v, from.n, from.at, to.at, GTU_WEIGHT_NONE, NULL, &once, &g, err);
	from.n = to.n = 0;
	for (v = 0; !rc && v < g->n; v++)
		for (e = g->row[v]; e < g->row[v + 1] && ok; e++) {
			t = gtu_graph_target(g, e);
			if (v < t)
				ok = append(&from, v) && append(&to, t) && append(&from, v) && append(&to, t);
		}
	rc = rc || ok ? rc : gtu_fail(err, GTU_ERR_NOMEM, "out of memory for the edges of %llu vertices", (unsigned long long)o->n);
	rc = rc ? rc : gtu_graph_from_edges(g->n, from.n, from.at, to.at, GTU_WEIGHT_NONE, NULL, &twice, out, err);
	if (!rc)
		snprintf((*out)->name, sizeof((*out)->name), "egos n=%llu seed=%llu", (unsigned long long)o->n, (unsigned long long)o->seed);
	gtu_graph_close(g);
	free(members.at);
	free(from.at);
	free(to.at);
	return rc;
}

int lab_standin_generate(const struct gtu_generate_options *o, const struct gtu_progress *progress,
			 struct gtu_graph **out, struct gtu_error *err)
{
	switch (o->kind) {
	case LAB_STANDIN_DELAUNAY:
		return in_rounds(o, progress, out, err);
	case LAB_STANDIN_COAUTHORS:
	case LAB_STANDIN_MODULES:
	case LAB_STANDIN_FRIENDS:
	case LAB_STANDIN_COPAPERS:
	case LAB_STANDIN_PAGES:
		return overlapping(o, &groups[o->kind - LAB_STANDIN_COAUTHORS], progress, out, err);
	case LAB_STANDIN_GRAPH500:
		return connected(o, progress, out, err);
	case LAB_STANDIN_EGOS:
		return egos(o, progress, out, err);
	case LAB_STANDIN_ATTACHED:
		return attached(o, progress, out, err);
	default:
		return gtu_graph_generate(o, progress, out, err);
	}
}
