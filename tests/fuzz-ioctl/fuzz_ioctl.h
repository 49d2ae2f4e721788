/* SPDX-License-Identifier: MIT */
/*
 * A fuzzer of the driver's system calls. A program is a list of calls; its numbers are values, or
 * refer to results of earlier calls. fuzz_call.c and fuzz_struct.c execute a program, fuzz_lane.c
 * provides its process, fuzz_program.c holds initial programs and mutates them, fuzz_text.c writes
 * and reads them, fuzz_cover.c collects coverage, and fuzz_ioctl.c is the main program.
 */
#ifndef FUZZ_IOCTL_H
#define FUZZ_IOCTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../kselftest/gtu/gtu_ioctls.h"

#define FUZZ_CALLS	24u		/* of a program */
#define FUZZ_VALUES	8u		/* of a call */

/* Names in text: fuzz_text.c, in this order. */
enum fuzz_op {
#define FUZZ_OP(NAME, name, type) FUZZ_##NAME,
	GTU_IOCTL_TABLE(FUZZ_OP)
	FUZZ_IOCTLS,
	FUZZ_OPEN = FUZZ_IOCTLS, FUZZ_CLOSE, FUZZ_DUP, FUZZ_FORK, FUZZ_MMAP, FUZZ_MUNMAP, FUZZ_TOUCH, FUZZ_DOORBELL, FUZZ_JOB,
	FUZZ_READ, FUZZ_POLL, FUZZ_EVENTFD, FUZZ_RAW,
	FUZZ_OPERAND, FUZZ_THREAD, FUZZ_MREMAP, FUZZ_MEMORY, FUZZ_FOREIGN, FUZZ_LOOK, FUZZ_RESET, FUZZ_NOBODY,
	FUZZ_OPS
};

/*
 * A value: kind << 56 | number. If the kind is not FUZZ_PLAIN, the value refers to the number-th
 * newest result of that kind of an earlier call, or is 0 if there is none.
 */
enum fuzz_kind { FUZZ_PLAIN, FUZZ_KEY, FUZZ_QUEUE, FUZZ_OFFSET, FUZZ_FD, FUZZ_ADDRESS, FUZZ_BYTES, FUZZ_KINDS };
#define FUZZ_REF(kind, n) ((uint64_t)(kind) << 56 | (n))

struct fuzz_call {
	uint8_t op;			/* enum fuzz_op */
	uint8_t wrong;			/* ioctls: 0: a valid struct, else how its size, flags or tail are invalid */
	uint64_t value[FUZZ_VALUES];
};

struct fuzz_program {
	unsigned calls;
	struct fuzz_call call[FUZZ_CALLS];
};

/* splitmix64: reproducible programs for the same seed */
uint64_t fuzz_random(uint64_t *seed);

/* fuzz_program.c */
extern const struct fuzz_program fuzz_seeds[];
extern const unsigned fuzz_seed_count;
/* Mutate @p; some of its calls are sometimes replaced by calls of @other. */
void fuzz_mutate(struct fuzz_program *p, const struct fuzz_program *other, uint64_t *seed);

/* fuzz_text.c: one call per line, an empty line after each program. */
#define FUZZ_TEXT	(FUZZ_CALLS * 180u)	/* maximum bytes of a program */
void fuzz_write(const struct fuzz_program *p, FILE *to);
/* Check a program that was read from shared memory or a file. */
bool fuzz_valid(const struct fuzz_program *p);
/*
 * Read the next program of a file: 1; 0 at its end; -1, with a message on stderr, if it is invalid.
 */
int fuzz_read(struct fuzz_program *p, FILE *from);

/*
 * fuzz_call.c. Call fuzz_prepare() once in a process that runs programs; fuzz_execute() runs one
 * program. It returns false if the process must end now because its state has changed. A program
 * can also end the process.
 */
void fuzz_prepare(const char *const device[2]);
bool fuzz_execute(const struct fuzz_program *p, bool may_reset);
/* Record a result of a call; resolve a value. */
void fuzz_give(enum fuzz_kind kind, uint64_t value);
uint64_t fuzz_resolve(uint64_t value);

/*
 * fuzz_struct.c: execute an ioctl of the driver. SUBMIT uses the newest descriptors @desc if it
 * names no memory.
 */
struct gtu_hw_desc;
void fuzz_ioctl(const struct fuzz_call *c, struct gtu_hw_desc *desc);

/*
 * fuzz_lane.c: run programs in a child, which is replaced after some programs or when one ends it.
 * Call fuzz_lane_open() once in each process that runs programs. fuzz_run() and fuzz_lane_end(),
 * which ends the current child, return false if the child does not end, even by SIGKILL (or cannot
 * be forked). fuzz_lane_killed() is the number of programs so far that only SIGKILL ended, after
 * 20 s.
 */
bool fuzz_lane_open(const char *const device[2]);
bool fuzz_run(const struct fuzz_program *p, bool may_reset);
bool fuzz_lane_end(void);
unsigned fuzz_lane_killed(void);

/*
 * fuzz_cover.c. Call fuzz_cover_share() once, before any fork: all processes share the coverage.
 * Call fuzz_cover_open() in each worker (false without KCOV), fuzz_cover_on() in a child that runs
 * programs, and fuzz_cover_begin() in the worker before each program; fuzz_cover_new() then returns
 * the number of new pairs.
 */
bool fuzz_cover_share(void);
bool fuzz_cover_open(void);
void fuzz_cover_begin(void);
void fuzz_cover_on(void);
unsigned fuzz_cover_new(void);
/* Totals so far: pairs of consecutive addresses, and addresses. */
unsigned fuzz_cover_pairs(void);
unsigned fuzz_cover_places(void);
/* Write each address as its offset in the text of module @name, in hexadecimal, one a line. */
bool fuzz_cover_write(const char *file, const char *name);

#endif
