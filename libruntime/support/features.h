/* SPDX-License-Identifier: MIT */
/* The features of a graph convolution: their number, and the range of the results. */
#ifndef GTU_FEATURES_H
#define GTU_FEATURES_H

#include <math.h>

#include "gtu/gtu.h"

#define GTU_FEATURES_DEFAULT 16

static inline uint32_t gtu_features(const struct gtu_algorithm_options *opt)
{
	return opt->features ? opt->features : GTU_FEATURES_DEFAULT;
}

static inline int gtu_check_feature_count(const struct gtu_graph *g, uint32_t features, struct gtu_error *err)
{
	if (features > GTU_FEATURES_MAX)
		return gtu_fail(err, GTU_ERR_USAGE, "%u features per vertex are too many: the "
				"maximum is %u", features, GTU_FEATURES_MAX);
	/* the product in bytes must not overflow, including rounding up to pages */
	if (g->n > (UINT64_MAX >> 4) / features)
		return gtu_fail(err, GTU_ERR_NOMEM, "%u features for each of %llu vertices are too "
				"many for any memory", features, (unsigned long long)g->n);
	return 0;
}

/* @out: the features of @count vertices from @first on. */
static inline int gtu_check_features(const struct gtu_graph *g, const double *out, uint64_t first, uint64_t count,
				     uint32_t features, struct gtu_error *err)
{
	uint64_t i;

	for (i = 0; i < count * features; i++)
		if (!isfinite(out[i]))
			return gtu_fail(err, GTU_ERR_UNSUPPORTED,
					"the sum for feature %llu of vertex %llu exceeds the range "
					"of a double (1.8e308)", (unsigned long long)(i % features),
					(unsigned long long)gtu_graph_id(g, first + i / features));
	return 0;
}

#endif
