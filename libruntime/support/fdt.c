// SPDX-License-Identifier: MIT
/* Checks flattened device trees (fdt.h). */
#include <libfdt.h>

#include "fdt.h"

int gtu_fdt_check(const void *blob, size_t bytes, struct gtu_error *err)
{
	int bad;

	if (bytes < sizeof(struct fdt_header))
		return gtu_fail(err, GTU_ERR_INPUT, "the blob has %zu bytes, a device tree has at least %zu",
				bytes, sizeof(struct fdt_header));
	if (fdt_magic(blob) != FDT_MAGIC)
		return gtu_fail(err, GTU_ERR_INPUT, "the blob begins with 0x%08x, a device tree with 0x%08x",
				fdt_magic(blob), FDT_MAGIC);
	/* before version 16, the root has a name of another form, of which fdt_check_full() reads address 0 */
	if (fdt_version(blob) < 16)
		return gtu_fail(err, GTU_ERR_INPUT, "it has version %u, at least 16 is needed", fdt_version(blob));
	if (fdt_totalsize(blob) > bytes)
		return gtu_fail(err, GTU_ERR_INPUT, "it says that it has %u bytes, %zu are there",
				fdt_totalsize(blob), bytes);
	bad = fdt_check_full(blob, bytes);
	if (bad)
		return gtu_fail(err, GTU_ERR_INPUT, "the blob is damaged: %s", fdt_strerror(bad));
	return 0;
}
