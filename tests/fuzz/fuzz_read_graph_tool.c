// SPDX-License-Identifier: MIT
#include "fuzz_read.h"

FUZZ_READER(graph_tool, "x.gt")
