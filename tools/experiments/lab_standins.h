/* SPDX-License-Identifier: MIT */
/* Stand-in graphs whose structure or vertex order was measured on real graphs of their family. */
#ifndef GTU_LAB_STANDINS_H
#define GTU_LAB_STANDINS_H

#include "gtu/graph.h"

/*
 * Kinds beside enum gtu_generator. DELAUNAY: GTU_GEN_DELAUNAY, numbered as DIMACS10's delaunay_n10 to
 * _n16 are. COAUTHORS and MODULES: overlapping groups, whose members are all connected with each
 * other; they have a mean degree. FRIENDS: the same with the effective diameter of com-Friendster.
 * PAGES: the same with the cliques of web-uk-2005. GRAPH500: GTU_GEN_KRONECKER, simplified, without isolated vertices, as data sets are published that
 * are lists of edges. ATTACHED: NetworkX's powerlaw_cluster_graph() without triangles: each vertex is
 * attached to o->degree / 2 earlier ones, chosen in proportion to their degree; numbered by age.
 * EGOS: ego networks, one after the other, which are not connected with each other; each edge twice.
 */
enum {
	LAB_STANDIN_DELAUNAY = GTU_GENERATORS, LAB_STANDIN_COAUTHORS, LAB_STANDIN_MODULES, LAB_STANDIN_FRIENDS,
	LAB_STANDIN_COPAPERS, LAB_STANDIN_PAGES, LAB_STANDIN_GRAPH500, LAB_STANDIN_ATTACHED,
	LAB_STANDIN_EGOS
};

/* gtu_graph_generate() for all kinds. */
int lab_standin_generate(const struct gtu_generate_options *o, const struct gtu_progress *progress,
			 struct gtu_graph **out, struct gtu_error *err);

#endif
