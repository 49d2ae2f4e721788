// SPDX-License-Identifier: MIT
/* Defaults of AddressSanitizer for the tool and the unit tests, if they are built with SAN=1. */
#include <sanitizer/asan_interface.h>

__attribute__((visibility("default"))) const char *__asan_default_options(void);

/*
 * - Undefined behavior traps (see the Makefile), by SIGILL, on arm64 by SIGTRAP: report its place.
 * - Newer compilers, to find uses of a frame after its return, give each coroutine of the laboratory
 *   megabytes of other frames: to map them takes many times as long as the laboratory's programs.
 */
const char *__asan_default_options(void)
{
	return "handle_sigill=1:handle_sigtrap=1:detect_stack_use_after_return=0";
}
