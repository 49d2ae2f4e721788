// SPDX-License-Identifier: MIT
#include "fuzz_read.h"

FUZZ_READER(coordinates, "x.txt")
