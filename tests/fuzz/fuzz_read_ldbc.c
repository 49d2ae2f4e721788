// SPDX-License-Identifier: MIT
#include "fuzz_read.h"

FUZZ_READER(ldbc, "x.e", ".properties", ".v")
