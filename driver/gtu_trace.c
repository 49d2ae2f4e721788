// SPDX-License-Identifier: GPL-2.0-only
/* The tracepoints' code, once. */
#define CREATE_TRACE_POINTS
#include "gtu_trace.h"
