// SPDX-License-Identifier: MIT
/* Steps of the IRU: reorders the edge frontier, which the unit reads in place, and checks what the unit returns. */
#include "common.h"

static int configure(struct gtu_alg *a, const struct gtu_iru_config *config, const struct gtu_alg_work *work,
		     uint64_t indices)
{
	a->iru_work = work;
	a->iru_lanes = a->iru_edges = config->indices.count;
	a->iru_indices = indices;
	a->iru_positions = config->positions;
	return gtu_iru_configure(a->q, config, &a->iru, a->err);
}

int gtu_alg_reorder(struct gtu_alg *a, const struct gtu_alg_work *w, uint32_t operation,
		    const struct gtu_alg_buffer *secondary, bool positions, uint32_t target_width)
{
	struct gtu_iru_config config = {
		.target_width = target_width,
		.operation = operation,
		.indices = w->map.col,
		.first = gtu_alg_array(&w->index, w->n, w->index_width),
		.count = gtu_alg_array(&w->count, w->n, 4),
		.positions = positions,
	};

	config.indices.count = w->edges;
	if (secondary)
		config.secondary = gtu_alg_array(secondary, w->edges, 4);
	return configure(a, &config, w, w->targets);
}

int gtu_alg_reorder_list(struct gtu_alg *a, const struct gtu_alg_work *w, const struct gtu_alg_buffer *list,
			 uint64_t indices, uint32_t target_width)
{
	const struct gtu_iru_config config = {
		.target_width = target_width,
		.indices = gtu_alg_array(list, w->edges, 4),
		.positions = true,
	};

	return configure(a, &config, NULL, indices);
}

static int forged_lane(struct gtu_alg *a, const struct gtu_warp *warp, unsigned lane)
{
	return gtu_fail(a->err, GTU_ERR_FAIL,
			"the IRU returned index %u at position %u, but indices are below %llu and "
			"positions below %llu: it cannot be trusted",
			warp->index[lane], a->iru_positions ? warp->position[lane] : 0,
			(unsigned long long)a->iru_indices, (unsigned long long)a->iru_edges);
}

int gtu_alg_load(struct gtu_alg *a, struct gtu_warp *warp)
{
	int more = gtu_iru_load(a->iru, warp, a->err);
	uint32_t lanes, sent;
	uint64_t edge;
	unsigned lane;

	if (!more)
		gtu_alg_job_done(a, gtu_iru_result(a->iru));
	/* an edge of more than 32 bits ends the stream */
	if (more < 0 && a->iru_work && gtu_alg_find_bad(a->iru_work, &edge))
		return gtu_alg_bad_edge(a, a->iru_work->g, edge);
	if (more <= 0)
		return more;
	sent = (uint32_t)__builtin_popcount(warp->active);
	if (gtu_unlikely(sent > a->iru_lanes))
		return gtu_fail(a->err, GTU_ERR_FAIL,
				"the IRU returned more than the %llu elements submitted: it cannot "
				"be trusted",
				(unsigned long long)a->iru_edges);
	a->iru_lanes -= sent;
	for (lanes = warp->active; lanes; lanes &= lanes - 1) {
		lane = (unsigned)__builtin_ctz(lanes);
		if (gtu_unlikely(warp->index[lane] >= a->iru_indices ||
				 (a->iru_positions && warp->position[lane] >= a->iru_edges)))
			return a->iru_work && gtu_alg_find_bad(a->iru_work, &edge) ?
				       gtu_alg_bad_edge(a, a->iru_work->g, edge) : forged_lane(a, warp, lane);
	}
	return more;
}
