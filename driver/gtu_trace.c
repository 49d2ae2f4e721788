// SPDX-License-Identifier: GPL-2.0-only
/* Instantiates the tracepoints. */
#define CREATE_TRACE_POINTS
#include "gtu_trace.h"
