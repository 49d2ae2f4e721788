// SPDX-License-Identifier: MIT
/*
 * The operators of a graph convolution (SparseWeaver, section V-I): y = A x and z[v] = sum of y[u]
 * / sqrt(d(v) d(u)), with 16 features per vertex. Edge mappings: a lane adds all features of its
 * edge by atomics and computes the coefficient once. Feature mappings: a lane has one vertex and one
 * feature, sums without atomics, and computes the coefficient itself. Also the hash lookup of
 * algorithm 1.
 */
#include <math.h>

#include "wvr_graph_run.h"

#define F LAB_WVR_FEATURES

/* 1 / sqrt(d(v) d(u)); a degree of 0 counts as 1 */
LAB_INLINE lab_f32 coefficient(lab_u32 d, lab_u32 o)
{
	lab_f32 c;
	unsigned i;

	for (i = 0; i < LAB_LANES; i++)
		c[i] = 1 / sqrtf((float)(d[i] ? d[i] : 1) * (float)(o[i] ? o[i] : 1));
	return c;
}

LAB_INLINE lab_u32 degree_of(struct lab_warp *w, const struct gather_args *a, lab_u32 v)
{
	lab_u32 begin = load(w, DEGREE, &a->row, v), end = lab_load32(w, DEGREE1, &a->row, v + 1);

	lab_alu(w, 1);
	return end - begin;
}

LAB_INLINE void add_features(struct lab_warp *w, const struct gather_args *a, const struct edge *e, lab_f32 factor)
{
	lab_u32 from = e->other * F, to = e->base * F;
	lab_f32 x;
	uint32_t f;

	lab_alu(w, 4);
	for (f = 0; f < F; f++) {
		x = lab_load_f32(w, OTHER, &a->value, from + f);
		lab_wait(w);
		lab_alu(w, 4);		/* a product; loop overhead */
		add_f32(w, a, &a->out, to + f, x * factor);
	}
}

LAB_INLINE lab_mask spmm_edge(struct lab_warp *w, const struct gather_args *a, const struct edge *e)
{
	add_features(w, a, e, lab_to_f32(e->weight));
	return 0;
}

LAB_INLINE lab_mask graphsum_edge(struct lab_warp *w, const struct gather_args *a, const struct edge *e)
{
	lab_u32 own = degree_of(w, a, e->base), other = degree_of(w, a, e->other);

	lab_wait(w);
	lab_alu(w, a->coefficient);
	add_features(w, a, e, coefficient(own, other));
	return 0;
}

/*
 * S_vm by features: "first parallelize the weight dimension and the vertex dimension". Either features
 * are the outer dimension, and lanes have one feature of 32 vertices (@inner false), or the inner one:
 * 16 lanes per vertex.
 */
LAB_INLINE void by_feature(struct lab_warp *w, const struct gather_args *a, bool inner, bool sum)
{
	lab_u32 i = lab_thread(w), v, f, e, end, other, own = lab_all(1), d, m = lab_all(1);
	lab_f32 all, x;

	lab_alu(w, 6);
	for (; i[0] < a->n * F; i += threads_of(w)) {
		lab_alu(w, 5);
		v = inner ? i / F : i % a->n;
		f = inner ? i % F : i / a->n;
		all = lab_all_f32(0);
		LAB_IF(w, pred(w, lab_lt(i, lab_all(a->n * F)))) {
			csr_neighbor(w, a, &v, &e, &end);
			own = end - e;
			LAB_WHILE(w, pred(w, lab_lt(e, end))) {
				other = load(w, COL, &a->col, e);
				if (!sum)
					m = load(w, WEIGHT, &a->weight, e);
				lab_wait(w);
				d = sum ? degree_of(w, a, other) : m;
				lab_alu(w, 2);
				x = (lab_f32)load(w, OTHER, &a->value, other * F + f);
				lab_wait(w);
				lab_alu(w, 2 + (sum ? a->coefficient : 1) + 3);
				x = x * (sum ? coefficient(own, d) : lab_to_f32(m));
				all = lab_select_f32(w->mask, all + x, all);
				e += 1;
			}
			lab_alu(w, 2);
			lab_store_f32(w, OUT, &a->out, v * F + f, all);
		}
	}
}
#define FEATURE_PROGRAM(id, inner, sum)                                                             \
	LAB_PROGRAM static void id(struct lab_warp *w, const void *p)                              \
	{                                                                                          \
		by_feature(w, p, inner, sum);                                                      \
	}
FEATURE_PROGRAM(spmm_feature, false, false)
FEATURE_PROGRAM(graphsum_feature, false, true)
FEATURE_PROGRAM(spmm_vertex_feature, true, false)
FEATURE_PROGRAM(graphsum_vertex_feature, true, true)
const struct lab_kernel lab_wvr_feature[2][2] = {
	{ LAB_KERNEL(spmm_feature, lab_wvr_statements, 0), LAB_KERNEL(graphsum_feature, lab_wvr_statements, 0) },
	{ LAB_KERNEL(spmm_vertex_feature, lab_wvr_statements, 0), LAB_KERNEL(graphsum_vertex_feature, lab_wvr_statements, 0) },
};

/* "Initialization" (section V-I): clear the output. */
static void initialize(struct lab_warp *w, const void *p)
{
	const struct gather_args *a = p;
	lab_u32 i = lab_thread(w);

	lab_alu(w, 6);
	for (; i[0] < a->n * LAB_WVR_FEATURES; i += threads_of(w)) {
		lab_alu(w, 3);
		LAB_IF(w, pred(w, lab_lt(i, lab_all(a->n * LAB_WVR_FEATURES))))
			lab_store_f32(w, OUT, &a->out, i, lab_all_f32(0));
	}
}

const struct lab_kernel lab_wvr_initialize = { .name = "initialize", .warp = initialize, .statement = lab_wvr_statements,
					       .statements = STATEMENTS };

/* ---- Algorithm 1: base vertices are keys to look up ------------------------------------------ */

LAB_INLINE void hash_neighbor(struct lab_warp *w, const struct gather_args *a, const lab_u32 *v, lab_u32 *begin, lab_u32 *end)
{
	lab_u32 key = load(w, KEY, &a->stamp, *v), bucket;
	unsigned i;

	lab_wait(w);
	lab_alu(w, 3);			/* two products, a shift */
	for (i = 0; i < LAB_LANES; i++)
		bucket[i] = lab_wvr_bucket(key[i], a->features);
	csr_neighbor(w, a, &bucket, begin, end);
}

LAB_INLINE lab_mask hash_edge(struct lab_warp *w, const struct gather_args *a, const struct edge *e)
{
	lab_u32 key = load(w, KEY, &a->stamp, e->base);

	lab_wait(w);
	lab_alu(w, 1);
	LAB_IF(w, split(w, lab_eq(key, e->other))) {
		lab_alu(w, 2);
		lab_store32(w, OUT, &a->out, e->base, e->id);
	}
	return 0;
}

/* ---- Kernels under every mapping ------------------------------------------------------------- */

LAB_INLINE bool udf_weight(enum lab_wvr_algorithm u)
{
	return u == LAB_WVR_SPMM;
}
LAB_INLINE lab_mask udf_filter(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u, const lab_u32 *v)
{
	(void)a, (void)u, (void)v;
	return w->mask;
}
LAB_INLINE void udf_neighbor(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u, const lab_u32 *v,
			     lab_u32 *begin, lab_u32 *end)
{
	if (u == LAB_WVR_HASH)
		hash_neighbor(w, a, v, begin, end);
	else
		csr_neighbor(w, a, v, begin, end);
}
LAB_INLINE lab_mask udf_edge(struct lab_warp *w, const struct gather_args *a, enum lab_wvr_algorithm u, const struct edge *e)
{
	if (u == LAB_WVR_HASH)
		return hash_edge(w, a, e);
	return u == LAB_WVR_SPMM ? spmm_edge(w, a, e) : graphsum_edge(w, a, e);
}
#include "wvr_graph_map.h"

MAPPED(spmm, LAB_WVR_SPMM);
MAPPED(graphsum, LAB_WVR_GRAPHSUM);
MAPPED(hash, LAB_WVR_HASH);
