// SPDX-License-Identifier: MIT
/* Edge lists, and the detection of the format among all readers. */
#include "fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "x.txt", "x.el", "x.mtx", "x" };

	if (!size)
		return 0;
	fuzz_read(&gtu_reader_edge_list, names[data[0] % 4], data, size, NULL);
	return fuzz_read(NULL, "x", data, size, NULL);
}
