// SPDX-License-Identifier: MIT
#include "fuzz_read.h"

FUZZ_READER(gap_weighted, "x.wsg")
