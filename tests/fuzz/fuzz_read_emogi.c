// SPDX-License-Identifier: MIT
#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gtu_companion weights = { .suffix = ".val" };
	struct gtu_companion edges = { .suffix = ".dst", .next = &weights };

	fuzz_split(&data, &size, &weights);
	fuzz_split(&data, &size, &edges);
	return fuzz_read(&gtu_reader_emogi, "x.bel.col", data, size, &edges);
}
