// SPDX-License-Identifier: MIT
#include <stddef.h>
#include "bringup_access.h"
struct access *access_vfio(const char *address, struct gtu_error *err)
{
	gtu_fail(err, GTU_ERR_UNSUPPORTED, "vfio:%s: not yet", address);
	return NULL;
}
