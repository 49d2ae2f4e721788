// SPDX-License-Identifier: MIT
/* Graph placement, and dispatch of whole algorithms to devices that run them. */
#include <stdlib.h>

#include "backend.h"
#include "gtu/gpu.h"

static int can_place(const struct gtu_device *dev, struct gtu_error *err)
{
	if (!dev)
		return gtu_fail(err, GTU_ERR_USAGE, "a graph needs a device to be placed on, and "
				"none was passed");
	if (gtu_has_ranks(dev))
		return gtu_refuse_over_ranks(dev, "this algorithm", err);
	if (!dev->ops->traversal)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s has no GPU: it runs unit operations, "
				"not whole algorithms",
				dev->info.path);
	return 0;
}

static void unplace(struct gtu_device *dev)
{
	if (!dev->placed)
		return;
	dev->ops->traversal->placement_destroy(dev);
	dev->placed = NULL;
}

static int place(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_placement_options *opt,
		 struct gtu_error *err)
{
	static const struct gtu_placement_options usual;
	int rc;

	unplace(dev);
	rc = dev->ops->traversal->placement_create(dev, g, opt ? opt : &usual, err);
	if (!rc)
		dev->placed = g;
	return rc;
}

int gtu_placement_create(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_placement_options *opt,
	      struct gtu_error *err)
{
	int rc;

	if (gtu_has_ranks(dev))
		return gtu_ranks_place(dev, g, opt, err);
	rc = can_place(dev, err);
	if (rc)
		return rc;
	pthread_mutex_lock(&dev->placing);
	rc = place(dev, g, opt, err);
	pthread_mutex_unlock(&dev->placing);
	return rc;
}

void gtu_placement_destroy(struct gtu_device *dev)
{
	if (gtu_has_ranks(dev))
		gtu_ranks_unplace(dev);
	if (!dev || !dev->ops->traversal)
		return;
	pthread_mutex_lock(&dev->placing);
	unplace(dev);
	pthread_mutex_unlock(&dev->placing);
}

static int check(const struct gtu_graph *g, enum gtu_traversal what, const struct gtu_algorithm_options *opt,
		 struct gtu_error *err)
{
	bool from_source = what == GTU_TRAVERSE_BFS || what == GTU_TRAVERSE_SSSP;

	if (opt->kernel >= GTU_KERNELS)
		return gtu_fail(err, GTU_ERR_USAGE, "kernel %u does not exist: use 0 to %u", opt->kernel, GTU_KERNELS - 1);
	if (from_source && opt->source >= g->n)
		return gtu_fail(err, GTU_ERR_USAGE, "source vertex %llu is out of range: the graph "
				"has %llu vertices",
				(unsigned long long)opt->source, (unsigned long long)g->n);
	if (opt->first_vertex > opt->end_vertex || opt->end_vertex > g->n)
		return gtu_fail(err, GTU_ERR_USAGE, "vertices %llu up to %llu are not a range of "
				"the graph's %llu vertices",
				(unsigned long long)opt->first_vertex, (unsigned long long)opt->end_vertex,
				(unsigned long long)g->n);
	return 0;
}

int gtu_traverse(struct gtu_device *dev, const struct gtu_graph *g, enum gtu_traversal what,
		 const struct gtu_algorithm_options *opt, void *result, struct gtu_algorithm_stats *stats,
		 struct gtu_error *err)
{
	bool temporary;
	int rc = can_place(dev, err);

	if (!rc)
		rc = check(g, what, opt, err);
	if (rc)
		return rc;
	pthread_mutex_lock(&dev->placing);
	temporary = dev->placed != g;
	if (temporary)
		rc = place(dev, g, NULL, err);
	if (!rc)
		rc = dev->ops->traversal->run[what](dev, opt, result, stats, err);
	if (temporary)
		unplace(dev);
	pthread_mutex_unlock(&dev->placing);
	return rc;
}

/* Place a graph derived from @g beside it. */
static int place_derived(struct gtu_device *dev, const struct gtu_graph *derived, bool like_g, struct gtu_error *err)
{
	static const struct gtu_placement_options usual;
	const struct gtu_traversal_ops *ops = dev->ops->traversal;
	int rc = ops->placement_create(dev, derived, like_g ? NULL : &usual, err);

	return rc == GTU_ERR_NOMEM && like_g ? ops->placement_create(dev, derived, &usual, err) : rc;
}

int gtu_traverse_derived(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_graph *derived,
			 enum gtu_traversal what, const struct gtu_algorithm_options *opt, void *result,
			 struct gtu_algorithm_stats *stats, struct gtu_error *err)
{
	const struct gtu_traversal_ops *ops;
	int rc = can_place(dev, err);

	if (!rc)
		rc = check(derived, what, opt, err);
	if (rc)
		return rc;
	ops = dev->ops->traversal;
	pthread_mutex_lock(&dev->placing);
	ops->placement_swap(dev);
	rc = place_derived(dev, derived, dev->placed == g, err);
	if (!rc) {
		rc = ops->run[what](dev, opt, result, stats, err);
		ops->placement_destroy(dev);
	}
	ops->placement_swap(dev);
	pthread_mutex_unlock(&dev->placing);
	return rc;
}

int gtu_traverse_both_ways(struct gtu_device *dev, const struct gtu_graph *g, enum gtu_traversal what,
			   const struct gtu_algorithm_options *opt, void *result, struct gtu_algorithm_stats *stats,
			   struct gtu_error *err)
{
	struct gtu_graph *both;
	int rc = can_place(dev, err);

	if (!rc && !(g->flags & GTU_GRAPH_DIRECTED))
		return gtu_traverse(dev, g, what, opt, result, stats, err);
	if (!rc)
		rc = gtu_graph_symmetrize(g, opt->progress, &both, err);
	if (rc)
		return rc;
	rc = gtu_traverse_derived(dev, g, both, what, opt, result, stats, err);
	gtu_graph_close(both);
	return rc;
}
