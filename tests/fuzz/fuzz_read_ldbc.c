// SPDX-License-Identifier: MIT
#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gtu_companion properties = { .suffix = ".properties" };
	struct gtu_companion vertices = { .suffix = ".v", .next = &properties };

	fuzz_split(&data, &size, &properties);
	fuzz_split(&data, &size, &vertices);
	return fuzz_read(&gtu_reader_ldbc, "x.e", data, size, &vertices);
}
