// SPDX-License-Identifier: MIT
/* Steps of the IRU: reorders the edge frontier, and checks what the unit returns. */
#include "common.h"

int gtu_alg_reorder(struct gtu_alg *a, const struct gtu_alg_work *w, uint64_t indices, uint32_t operation,
		    const struct gtu_alg_buffer *secondary, bool positions, uint32_t target_width)
{
	struct gtu_iru_config config = {
		.target_width = target_width,
		.operation = operation,
		.indices = gtu_alg_array(&w->edge, w->edges, 4),
		.positions = positions,
	};

	if (secondary)
		config.secondary = gtu_alg_array(secondary, w->edges, 4);
	a->iru_lanes = w->edges;
	a->iru_indices = indices;
	a->iru_edges = w->edges;
	a->iru_positions = positions;
	return gtu_iru_configure(a->q, &config, &a->iru, a->err);
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
	unsigned lane;

	if (!more)
		gtu_alg_job_done(a, gtu_iru_result(a->iru));
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
			return forged_lane(a, warp, lane);
	}
	return more;
}
