/* SPDX-License-Identifier: MIT */
/*
 * Functions of gtu/gtu.h and gtu/streams.h under the names that the papers give. gtu/gtu.h
 * includes this file unless GTU_NO_PAPER_NAMES is defined: then every name that it declares starts
 * with gtu_ or GTU_.
 */
#ifndef GTU_PAPER_NAMES_H
#define GTU_PAPER_NAMES_H

#include "gtu/streams.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * SCU, algorithms 1 to 5: gtu_scu_expand(), gtu_scu_replicate(), gtu_scu_data(). The other two
 * operations of section 3.1 have no name in the paper.
 */
int accessExpansionCompactionSCU(struct gtu_queue *q, const struct gtu_array *data,
				 const struct gtu_array *index, const struct gtu_array *count,
				 const struct gtu_array *mask, const struct gtu_scu_filter *f,
				 const struct gtu_array *to, struct gtu_completion *out,
				 struct gtu_error *err);
int replicationCompactionSCU(struct gtu_queue *q, const struct gtu_array *in,
			     const struct gtu_array *count, const struct gtu_array *mask,
			     const struct gtu_scu_filter *f, const struct gtu_array *to,
			     struct gtu_completion *out, struct gtu_error *err);
int dataCompactionSCU(struct gtu_queue *q, const struct gtu_array *in, const struct gtu_array *mask,
		      const struct gtu_scu_filter *f, const struct gtu_array *to,
		      struct gtu_completion *out, struct gtu_error *err);

/* The IRU (IRU, figure 8): gtu_iru_configure() and gtu_iru_load(). */
int configure_iru(struct gtu_queue *q, const struct gtu_iru_config *config, struct gtu_iru **out,
		  struct gtu_error *err);
int load_iru(struct gtu_iru *iru, struct gtu_warp *warp, struct gtu_error *err);

/* GraphPEG, table 1: the gtu_peg_ functions of the same name. */
int configure_peg(struct gtu_queue *q, const struct gtu_peg_config *config, struct gtu_peg **out,
		  struct gtu_error *err);
int pop_edge_src(struct gtu_peg *peg, uint32_t engine, uint32_t lanes,
		 uint64_t value[GTU_PEG_LANES], uint32_t *valid, struct gtu_error *err);
int pop_edge_dst(struct gtu_peg *peg, uint32_t engine, uint32_t lanes,
		 uint64_t value[GTU_PEG_LANES], uint32_t *valid, struct gtu_error *err);
int pop_edge_wt(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, uint64_t value[GTU_PEG_LANES],
		uint32_t *valid, struct gtu_error *err);
int pop_edge_idx(struct gtu_peg *peg, uint32_t engine, uint32_t lanes,
		 uint64_t value[GTU_PEG_LANES], uint32_t *valid, struct gtu_error *err);
int pop_vert(struct gtu_peg *peg, uint32_t engine, uint32_t lanes, uint64_t value[GTU_PEG_LANES],
	     uint32_t *valid, struct gtu_error *err);
int push_vert(struct gtu_peg *peg, uint32_t engine, uint32_t lanes,
	      const uint64_t vertex[GTU_PEG_LANES], struct gtu_error *err);

/*
 * SparseWeaver, table II: the gtu_weaver_ functions of the same name. weaver_sync() is the barrier
 * after registration.
 */
int configure_weaver(struct gtu_queue *q, const struct gtu_weaver_config *config,
		     struct gtu_weaver **out, struct gtu_error *err);
int weaver_reg(struct gtu_weaver *w, uint32_t warp, uint32_t lanes, const uint64_t vid[32],
	       const uint64_t start[32], const uint64_t degree[32], struct gtu_error *err);
int weaver_sync(struct gtu_weaver *w, struct gtu_error *err);
int weaver_dec_id(struct gtu_weaver *w, uint32_t warp, uint64_t vid[32], uint32_t *active,
		  struct gtu_error *err);
int weaver_dec_loc(struct gtu_weaver *w, uint32_t warp, uint64_t eid[32], struct gtu_error *err);
int weaver_skip(struct gtu_weaver *w, uint64_t vid, struct gtu_error *err);

#ifdef __cplusplus
}
#endif

#endif
