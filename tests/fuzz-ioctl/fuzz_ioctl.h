/* SPDX-License-Identifier: MIT */
/*
 * A fuzzer of the driver's calls. A program is a list of calls; numbers in it are values, or name what earlier
 * calls gave. fuzz_call.c carries one out, fuzz_program.c makes, changes, writes and reads them, fuzz_ioctl.c runs
 * them under the kernel's coverage.
 */
#ifndef FUZZ_IOCTL_H
#define FUZZ_IOCTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FUZZ_CALLS	24u		/* of a program */
#define FUZZ_VALUES	8u		/* of a call */

enum fuzz_op {
	FUZZ_INFO, FUZZ_REGION_ADD, FUZZ_BUFFER_ALLOC, FUZZ_REGION_REMOVE, FUZZ_QUEUE_CREATE, FUZZ_QUEUE_DESTROY,
	FUZZ_QUEUE_RESET, FUZZ_WAIT, FUZZ_REG_READ, FUZZ_REG_WRITE, FUZZ_BUFFER_EXPORT, FUZZ_REGION_IMPORT, FUZZ_SUBMIT,
	FUZZ_QUEUE_CANCEL, FUZZ_QUEUE_EVENTFD,
	FUZZ_IOCTLS,
	FUZZ_OPEN = FUZZ_IOCTLS, FUZZ_CLOSE, FUZZ_DUP, FUZZ_FORK, FUZZ_MMAP, FUZZ_MUNMAP, FUZZ_TOUCH, FUZZ_DOORBELL, FUZZ_JOB,
	FUZZ_READ, FUZZ_POLL, FUZZ_EVENTFD, FUZZ_RAW,
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
/* One line of text a call; returns bytes. fuzz_read() takes the same: false, with a sentence on stderr, for anything else. */
size_t fuzz_write(const struct fuzz_program *p, char *text, size_t room);
bool fuzz_read(struct fuzz_program *p, const char *text);

/* fuzz_call.c: all of a program, in this process, which is given up afterwards. */
void fuzz_execute(const struct fuzz_program *p, const char *device);

#endif
