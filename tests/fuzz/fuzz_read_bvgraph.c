// SPDX-License-Identifier: MIT
#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gtu_companion properties = { .suffix = ".properties" };

	fuzz_split(&data, &size, &properties);
	return fuzz_read(&gtu_reader_bvgraph, "x.graph", data, size, &properties);
}
