/* SPDX-License-Identifier: MIT */
/*
 * Markers for count-instructions. A region lies between COUNT(n) and the next marker, or the kernel's end, in the order
 * of the machine code; n is from 0 to 15 and the kernel's own. The comment behind COUNT(n) is "name: what one execution
 * of the region handles". A loop that starts with a marker must not be unrolled, a loop inside of a region must be, so
 * that a static count is a dynamic one; the region of a loop's body has the loop's own instructions too.
 */
#ifndef COUNT_CUH
#define COUNT_CUH

#define COUNT(n)	asm volatile("pmevent " #n ";" ::: "memory")

#endif
