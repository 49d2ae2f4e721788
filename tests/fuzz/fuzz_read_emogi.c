// SPDX-License-Identifier: MIT
#include "fuzz_read.h"

FUZZ_READER(emogi, "x.bel.col", ".val", ".dst")
