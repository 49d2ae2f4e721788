// SPDX-License-Identifier: MIT
/*
 * Fuzz target: any blob as a device tree is accepted, or rejected with a message; it causes no
 * invalid access.
 */
#include <libfdt.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "libruntime/device/backend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gtu_device dev = { 0 };
	struct gtu_error err = { 0 };
	uint8_t *exact = malloc(size ? size : 1);
	int rc;

	memcpy(exact, data, size);
	rc = gtu_device_take_fdt(&dev, exact, size, (uint32_t)crc32(0, data, (uInt)size), &err);
	if (rc && !err.text[0])
		abort();
	if (!rc) {
		/* an accepted tree can be walked */
		int node = -1, depth = 0;

		while ((node = fdt_next_node(dev.fdt, node, &depth)) >= 0)
			for (int p = fdt_first_property_offset(dev.fdt, node); p >= 0;
			     p = fdt_next_property_offset(dev.fdt, p))
				fdt_get_property_by_offset(dev.fdt, p, NULL);
	}
	free(dev.fdt);
	free(exact);
	return 0;
}
