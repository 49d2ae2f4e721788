// SPDX-License-Identifier: MIT
#include "fuzz_read.h"

FUZZ_READER(matrix_market, "x.mtx")
