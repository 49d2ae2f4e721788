// SPDX-License-Identifier: MIT
#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_read(&gtu_reader_metis, "x.graph", data, size, NULL);
}
