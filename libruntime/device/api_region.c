// SPDX-License-Identifier: MIT
/* Regions: registration of memory for device access, and of a graph's arrays. */
#include <string.h>

#include "backend.h"

int gtu_region_add(struct gtu_device *dev, void *addr, uint64_t length, uint32_t rights,
		   struct gtu_region *out, struct gtu_error *err)
{
	uint32_t key;
	int rc;

	memset(out, 0, sizeof(*out));
	if (!addr || (uintptr_t)addr % 8)
		return gtu_fail(err, GTU_ERR_USAGE, "a region cannot start at %p: the address must "
				"be 8-byte aligned and not NULL",
				addr);
	if (!length || (uintptr_t)addr + length < length)
		return gtu_fail(err, GTU_ERR_USAGE, "a region at %p cannot have %llu bytes", addr,
				(unsigned long long)length);
	if (!rights || rights & ~(GTU_READ | GTU_WRITE))
		return gtu_fail(err, GTU_ERR_USAGE, "rights 0x%x are invalid: use GTU_READ, "
				"GTU_WRITE or both", rights);
	if (!dev->ops->queue_create)
		return gtu_fail_traversal_only(dev, "regions", err);
	rc = dev->ops->region_add(dev, addr, length, rights, &key, err);
	if (rc)
		return rc;
	*out = (struct gtu_region){ .addr = addr, .length = length, .key = key, .rights = rights };
	return 0;
}

static int alloc(struct gtu_device *dev, bool aperture, uint64_t length, struct gtu_region *out,
		 struct gtu_error *err)
{
	void *addr;
	uint32_t key;
	int rc;

	memset(out, 0, sizeof(*out));
	if (!length)
		return gtu_fail(err, GTU_ERR_USAGE, "a region of 0 bytes is too small: the minimum "
				"is 1 byte");
	if (!dev->ops->queue_create)
		return gtu_fail_traversal_only(dev, "regions", err);
	rc = dev->ops->region_alloc(dev, length, GTU_READ | GTU_WRITE, aperture, &addr, &key, err);
	if (rc)
		return rc;
	*out = (struct gtu_region){ .addr = addr, .length = length, .key = key,
				    .rights = GTU_READ | GTU_WRITE, .allocated = 1,
				    .io_memory = aperture && dev->ops->aperture_is_io };
	return 0;
}

int gtu_region_alloc(struct gtu_device *dev, uint64_t length, struct gtu_region *out,
		     struct gtu_error *err)
{
	return alloc(dev, false, length, out, err);
}

int gtu_region_alloc_aperture(struct gtu_device *dev, uint64_t length, struct gtu_region *out,
			      struct gtu_error *err)
{
	return alloc(dev, true, length, out, err);
}

int gtu_region_remove(struct gtu_device *dev, struct gtu_region *region, struct gtu_error *err)
{
	int rc;

	if (!region->key)
		return 0;
	rc = region->allocated ?
		     dev->ops->region_free(dev, region->addr, region->length, region->key, err) :
		     dev->ops->region_remove(dev, region->key, err);
	if (!rc)
		memset(region, 0, sizeof(*region));
	return rc;
}

/* ---- Graphs -------------------------------------------------------------------------------------- */

/* An empty array is not registered: *array keeps key 0 and count 0. */
static int map_array(struct gtu_device *dev, const void *at, uint64_t count, uint32_t width,
		     struct gtu_region *region, struct gtu_array *array, struct gtu_error *err)
{
	int rc;

	if (!at || !count)
		return 0;
	rc = gtu_region_add(dev, (void *)at, count * width, GTU_READ, region, err);
	if (!rc)
		*array = gtu_array(region, 0, count, width);
	return rc;
}

int gtu_graph_map(struct gtu_device *dev, const struct gtu_graph *g, struct gtu_mapped_graph *out,
		  struct gtu_error *err)
{
	int rc;

	*out = (struct gtu_mapped_graph){ .graph = g, .dev = dev };
	rc = map_array(dev, g->row, g->n + 1, 8, &out->row_region, &out->row, err);
	if (!rc)
		rc = map_array(dev, g->col, g->m, g->edge_bytes, &out->col_region, &out->col, err);
	if (!rc && g->weight)
		rc = map_array(dev, g->weight, g->m, (uint32_t)gtu_weight_bytes(g->weight_type),
			       &out->weight_region, &out->weight, err);
	if (rc)
		gtu_graph_unmap(out, NULL);
	return rc;
}

int gtu_graph_unmap(struct gtu_mapped_graph *mg, struct gtu_error *err)
{
	struct gtu_region *region[] = { &mg->row_region, &mg->col_region, &mg->weight_region };
	int rc = 0, one;
	unsigned i;

	if (!mg->dev)
		return 0;
	for (i = 0; i < 3; i++) {
		one = gtu_region_remove(mg->dev, region[i], rc ? NULL : err);
		rc = rc ? rc : one;
	}
	return rc;
}
