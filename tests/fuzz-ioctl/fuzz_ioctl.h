/* SPDX-License-Identifier: MIT */
/*
 * A fuzzer of the driver's calls. A program is a list of calls; numbers in it are values, or name what earlier
 * calls gave. fuzz_call.c (and fuzz_struct.c) carries one out, fuzz_lane.c in a process for it, fuzz_program.c makes and
 * changes them, fuzz_text.c writes and reads them, fuzz_cover.c asks the kernel where it has been, fuzz_ioctl.c has the rest.
 */
#ifndef FUZZ_IOCTL_H
#define FUZZ_IOCTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FUZZ_CALLS	24u		/* of a program */
#define FUZZ_VALUES	8u		/* of a call */

/* Names in text: fuzz_text.c, in this order. */
enum fuzz_op {
	FUZZ_INFO, FUZZ_REGION_ADD, FUZZ_BUFFER_ALLOC, FUZZ_REGION_REMOVE, FUZZ_QUEUE_CREATE, FUZZ_QUEUE_DESTROY,
	FUZZ_QUEUE_RESET, FUZZ_WAIT, FUZZ_REG_READ, FUZZ_REG_WRITE, FUZZ_BUFFER_EXPORT, FUZZ_REGION_IMPORT, FUZZ_SUBMIT,
	FUZZ_QUEUE_CANCEL, FUZZ_QUEUE_EVENTFD,
	FUZZ_IOCTLS,
	FUZZ_OPEN = FUZZ_IOCTLS, FUZZ_CLOSE, FUZZ_DUP, FUZZ_FORK, FUZZ_MMAP, FUZZ_MUNMAP, FUZZ_TOUCH, FUZZ_DOORBELL, FUZZ_JOB,
	FUZZ_READ, FUZZ_POLL, FUZZ_EVENTFD, FUZZ_RAW,
	FUZZ_OPERAND, FUZZ_THREAD, FUZZ_MREMAP, FUZZ_MEMORY, FUZZ_FOREIGN, FUZZ_LOOK, FUZZ_RESET, FUZZ_NOBODY,
	FUZZ_OPS
};

/*
 * A value: kind << 56 | number. Of a kind other than FUZZ_PLAIN the number-th newest thing of that kind that an earlier
 * call gave stands in its place, or 0 where there is none.
 */
enum fuzz_kind { FUZZ_PLAIN, FUZZ_KEY, FUZZ_QUEUE, FUZZ_OFFSET, FUZZ_FD, FUZZ_ADDRESS, FUZZ_BYTES, FUZZ_KINDS };
#define FUZZ_REF(kind, n) ((uint64_t)(kind) << 56 | (n))

struct fuzz_call {
	uint8_t op;			/* enum fuzz_op */
	uint8_t wrong;			/* of a struct: 0 right, else what of it is not (its size, flags, tail) */
	uint64_t value[FUZZ_VALUES];
};

struct fuzz_program {
	unsigned calls;
	struct fuzz_call call[FUZZ_CALLS];
};

/* splitmix64: the same programs for the same seed. */
uint64_t fuzz_random(uint64_t *seed);

/* fuzz_program.c */
extern const struct fuzz_program fuzz_seeds[];
extern const unsigned fuzz_seed_count;
/* Change @p somewhere; @other, a program too, gives some of its calls now and then. */
void fuzz_mutate(struct fuzz_program *p, const struct fuzz_program *other, uint64_t *seed);

/* fuzz_text.c: one line a call, an empty line behind a program. */
#define FUZZ_TEXT	(FUZZ_CALLS * 180u)	/* bytes that a program takes at most */
void fuzz_write(const struct fuzz_program *p, FILE *to);
/* Of a program that came from elsewhere: whether it is one. */
bool fuzz_valid(const struct fuzz_program *p);
/* The next program of a file: 1; 0 at its end; -1 with a sentence on stderr for what is none. */
int fuzz_read(struct fuzz_program *p, FILE *from);

/*
 * fuzz_call.c. fuzz_prepare() once in a process that runs programs; fuzz_execute() all of one. False: the process has to end
 * now, as it is not what it was. A program can end the process, too.
 */
void fuzz_prepare(const char *const device[2]);
bool fuzz_execute(const struct fuzz_program *p, bool may_reset);
/* A thing that a call gave; what a value stands for. */
void fuzz_give(enum fuzz_kind kind, uint64_t value);
uint64_t fuzz_resolve(uint64_t value);

/* fuzz_struct.c: an ioctl of the driver; @desc, the newest descriptors, are what SUBMIT takes where it names no memory. */
struct gtu_hw_desc;
void fuzz_ioctl(const struct fuzz_call *c, struct gtu_hw_desc *desc);

/*
 * fuzz_lane.c: programs in a child, which runs some and is replaced then, or when one of them takes it along. fuzz_lane_open()
 * once in each process that runs programs. fuzz_run(): false: it does not end, whatever is done to it (or cannot be forked);
 * so fuzz_lane_end(), which ends the child there is.
 */
bool fuzz_lane_open(const char *const device[2]);
bool fuzz_run(const struct fuzz_program *p, bool may_reset);
bool fuzz_lane_end(void);

/*
 * fuzz_cover.c. fuzz_cover_share() once, before others are forked: what has been reached is one for all of them.
 * fuzz_cover_open() in each worker: false without KCOV. fuzz_cover_on() in a child that runs programs, in the worker
 * fuzz_cover_begin() before each; then how much of what it reached nobody had reached before.
 */
bool fuzz_cover_share(void);
bool fuzz_cover_open(void);
void fuzz_cover_begin(void);
void fuzz_cover_on(void);
unsigned fuzz_cover_new(void);
/* Of all so far: pairs of places one behind the other, and places. fuzz_cover_forget() begins anew. */
unsigned fuzz_cover_pairs(void);
unsigned fuzz_cover_places(void);
void fuzz_cover_forget(void);
/* Each place as its distance from where the module @name begins in memory, in hexadecimal, a line each. */
bool fuzz_cover_write(const char *file, const char *name);

#endif
