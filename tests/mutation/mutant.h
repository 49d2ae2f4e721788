/* SPDX-License-Identifier: MIT */
/* Included before each mutated source: gtu_mutant is the mutant that runs, 0 for none. */
#ifndef GTU_MUTANT_H
#define GTU_MUTANT_H

extern int gtu_mutant;
#define GTU_MUTANT(n) __builtin_expect(gtu_mutant == (n), 0)

#endif
