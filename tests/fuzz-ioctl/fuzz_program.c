// SPDX-License-Identifier: MIT
/* The initial, valid programs, and the mutation of programs. */
#include <linux/dma-buf.h>
#include <string.h>

#include "fuzz_ioctl.h"
#include "gtu/splitmix64.h"
#include "uapi/gtu/hw.h"
#include "uapi/gtu/gtu.h"

#define RW	(GTU_RIGHT_READ | GTU_RIGHT_WRITE)
#define FD(n)	FUZZ_REF(FUZZ_FD, n)
#define KEY(n)	FUZZ_REF(FUZZ_KEY, n)
#define QUEUE(n) FUZZ_REF(FUZZ_QUEUE, n)
#define OFFSET(n) FUZZ_REF(FUZZ_OFFSET, n)
#define BYTES(n) FUZZ_REF(FUZZ_BYTES, n)
#define ADDRESS(n) FUZZ_REF(FUZZ_ADDRESS, n)
#define C(op, ...) { op, 0, { __VA_ARGS__ } }
/* The rings and the doorbell page: ADDRESS(2), ADDRESS(1) and ADDRESS(0) */
#define MAPPED_QUEUE	C(FUZZ_QUEUE_CREATE, FD(0), 0, 3, 3), C(FUZZ_MMAP, FD(0), OFFSET(2), BYTES(2), 3), \
			C(FUZZ_MMAP, FD(0), OFFSET(1), BYTES(1), 1), C(FUZZ_MMAP, FD(0), OFFSET(0), BYTES(0), 2)
#define SUBMIT_QUEUE	C(FUZZ_QUEUE_CREATE, FD(0), GTU_QUEUE_SUBMIT, 3, 3)
#define ADD		C(FUZZ_REGION_ADD, FD(0), 0, ADDRESS(0), 65536, RW)
#define COPY		C(FUZZ_JOB, 0, GTU_OP_COPY, 0, 0, KEY(0), KEY(0), 64, 0)
#define SUBMIT(n)	C(FUZZ_SUBMIT, FD(0), 0, QUEUE(0), n)
#define WAIT(flags)	C(FUZZ_WAIT, FD(0), flags, QUEUE(0), 0, 3)
#define RING(n)		C(FUZZ_DOORBELL, 0, ADDRESS(0), GTU_DB_SUBMIT, n)
#define SCU(op, step)	C(FUZZ_JOB, 0, op, 2 | 2 << GTU_SCU_INDEX_SHIFT | (step) << GTU_SCU_STEP_SHIFT | \
			  (uint64_t)GTU_DESC_BLOCK << 32, 0, KEY(0), 0, GTU_SCU_OPERANDS, 2048)
/* operands of the parameter block, numbered after the descriptor's own */
#define BLOCK(at, count) C(FUZZ_OPERAND, 0, GTU_DESC_OPERANDS + (at), KEY(0), count, 4096)

/* Every call in a position in which it has an effect. */
const struct fuzz_program fuzz_seeds[] = {
	{ 6, { C(FUZZ_OPEN), C(FUZZ_INFO, FD(0)), C(FUZZ_REG_READ, FD(0), 0, GTU_REG_MAGIC),
	       C(FUZZ_REG_WRITE, FD(0), 0, GTU_PAGE_IRU + GTU_UREG_SET(0), 2048), C(FUZZ_REG_READ, FD(0), 0, GTU_PAGE_IRU + GTU_UREG_SET(0)),
	       C(FUZZ_CLOSE, FD(0)) } },
	{ 9, { C(FUZZ_OPEN), ADD, MAPPED_QUEUE, C(FUZZ_JOB, ADDRESS(2), GTU_OP_COPY, 0, 0, KEY(0), KEY(0), 64), RING(1), WAIT(0) } },
	{ 9, { C(FUZZ_OPEN), MAPPED_QUEUE, C(FUZZ_DOORBELL, 0, ADDRESS(0), GTU_DB_ARM, 1), RING(3), C(FUZZ_POLL, FD(0), 1, 3),
	       C(FUZZ_READ, FD(0), 64) } },
	{ 7, { C(FUZZ_OPEN), ADD, SUBMIT_QUEUE, COPY, SUBMIT(1), WAIT(0), C(FUZZ_REGION_REMOVE, FD(0), 0, KEY(0)) } },
	{ 6, { C(FUZZ_OPEN), C(FUZZ_BUFFER_ALLOC, FD(0), 0, 16384, RW), C(FUZZ_MMAP, FD(0), OFFSET(0), BYTES(0), 3),
	       C(FUZZ_TOUCH, 0, ADDRESS(0), 4095), C(FUZZ_REGION_REMOVE, FD(0), 0, KEY(0)), C(FUZZ_MUNMAP, 0, ADDRESS(0), 16384) } },
	{ 6, { C(FUZZ_OPEN), C(FUZZ_BUFFER_ALLOC, FD(0), GTU_BUFFER_APERTURE, 8192, RW), C(FUZZ_MMAP, FD(0), OFFSET(0), BYTES(0), 3),
	       C(FUZZ_TOUCH, 0, ADDRESS(0), 4095), C(FUZZ_MREMAP, 0, ADDRESS(0), BYTES(0), BYTES(0), 1), C(FUZZ_CLOSE, FD(0)) } },
	{ 7, { C(FUZZ_OPEN), C(FUZZ_BUFFER_ALLOC, FD(0), 0, 8192, RW), C(FUZZ_BUFFER_EXPORT, FD(0), 0, KEY(0), RW),
	       C(FUZZ_REGION_IMPORT, FD(1), 0, FD(0), RW), C(FUZZ_MMAP, FD(0), 0, 8192, 3),
	       C(FUZZ_RAW, FD(0), DMA_BUF_IOCTL_SYNC, 1, DMA_BUF_SYNC_RW), C(FUZZ_REGION_REMOVE, FD(1), 0, KEY(0)) } },
	{ 6, { C(FUZZ_OPEN), C(FUZZ_BUFFER_ALLOC, FD(0), 0, 8192, RW), C(FUZZ_BUFFER_EXPORT, FD(0), 0, KEY(0), GTU_RIGHT_READ),
	       C(FUZZ_RAW, FD(0), DMA_BUF_IOCTL_SYNC, 1, DMA_BUF_SYNC_READ | DMA_BUF_SYNC_END), C(FUZZ_MMAP, FD(0), 0, 8192, 1),
	       C(FUZZ_TOUCH, 0, ADDRESS(0), 1) } },
	/* mappings that move or are unmapped in parts */
	{ 6, { C(FUZZ_OPEN), C(FUZZ_QUEUE_CREATE, FD(0), 0, 7, 3), C(FUZZ_MMAP, FD(0), OFFSET(2), BYTES(2), 3), C(FUZZ_TOUCH, 0, ADDRESS(0), 1),
	       C(FUZZ_MUNMAP, 0, ADDRESS(0), 4096), C(FUZZ_QUEUE_DESTROY, FD(0), 0, QUEUE(0)) } },
	{ 8, { C(FUZZ_OPEN), MAPPED_QUEUE, C(FUZZ_MREMAP, 0, ADDRESS(0), 4096, 4096, 1), RING(1), C(FUZZ_MUNMAP, 0, ADDRESS(1), 4096) } },
	{ 7, { C(FUZZ_OPEN), C(FUZZ_BUFFER_ALLOC, FD(0), 0, 16384, RW), C(FUZZ_MMAP, FD(0), OFFSET(0), BYTES(0), 3),
	       C(FUZZ_MREMAP, 0, ADDRESS(0), BYTES(0), BYTES(0), 1), C(FUZZ_TOUCH, 0, ADDRESS(0), 4095), C(FUZZ_LOOK, 5),
	       C(FUZZ_MUNMAP, 0, ADDRESS(0), BYTES(0)) } },
	{ 6, { C(FUZZ_OPEN), C(FUZZ_FOREIGN, 4), C(FUZZ_REGION_IMPORT, FD(1), 0, FD(0), RW), C(FUZZ_CLOSE, FD(0)),
	       C(FUZZ_LOOK, 3), C(FUZZ_REGION_REMOVE, FD(0), 0, KEY(0)) } },
	{ 6, { C(FUZZ_OPEN), C(FUZZ_REG_READ, FD(0), 0, GTU_PAGE_SCU + GTU_UREG_COUNTER(0)), C(FUZZ_REG_WRITE, FD(0), 0, GTU_PAGE_SCU + GTU_UREG_CTRL, 1),
	       C(FUZZ_REG_READ, FD(0), 0, GTU_PAGE_IRU + GTU_UREG_PARAM(0)), C(FUZZ_REG_READ, FD(0), 0, GTU_PAGE_WVR + GTU_UREG_ID),
	       C(FUZZ_REG_READ, FD(0), 0, GTU_PAGE_PEG + GTU_UREG_COUNTER(1)) } },
	{ 6, { C(FUZZ_LOOK), C(FUZZ_LOOK, 4), C(FUZZ_LOOK, 6), C(FUZZ_LOOK, 7), C(FUZZ_OPEN), C(FUZZ_LOOK, 5) } },
	{ 8, { C(FUZZ_OPEN), MAPPED_QUEUE, C(FUZZ_QUEUE_CANCEL, FD(0), GTU_CANCEL_ALL, QUEUE(0)), C(FUZZ_QUEUE_RESET, FD(0), 0, QUEUE(0)),
	       C(FUZZ_QUEUE_DESTROY, FD(0), 0, QUEUE(0)) } },
	{ 9, { C(FUZZ_OPEN), SUBMIT_QUEUE, C(FUZZ_EVENTFD), C(FUZZ_QUEUE_EVENTFD, FD(1), 0, QUEUE(0), FD(0)), C(FUZZ_JOB),
	       C(FUZZ_SUBMIT, FD(1), 0, QUEUE(0), 2), C(FUZZ_POLL, FD(1), 1, 3), C(FUZZ_READ, FD(1), 64, 1), C(FUZZ_CLOSE, FD(0)) } },
	{ 8, { C(FUZZ_OPEN), SUBMIT_QUEUE, SUBMIT_QUEUE, C(FUZZ_QUEUE_ARM, FD(0), 0, QUEUE(0), 0), C(FUZZ_JOB),
	       C(FUZZ_SUBMIT, FD(0), GTU_SUBMIT_ARM, QUEUE(0), 1), C(FUZZ_POLL, FD(0), 1, 3),
	       C(FUZZ_WAIT_ANY, FD(0), 0, QUEUE(0), QUEUE(1), 0, 0, 0, 3) } },
	{ 6, { C(FUZZ_OPEN), SUBMIT_QUEUE, SUBMIT_QUEUE, C(FUZZ_THREAD, 1), C(FUZZ_WAIT_ANY, FD(0), 0, QUEUE(0), QUEUE(1), 0, 0, 0, 7),
	       C(FUZZ_QUEUE_DESTROY, FD(0), 0, QUEUE(0)) } },
	{ 8, { C(FUZZ_OPEN), C(FUZZ_DUP, FD(0)), C(FUZZ_FORK), ADD, C(FUZZ_CLOSE, FD(1)), MAPPED_QUEUE } },
	{ 7, { C(FUZZ_OPEN), ADD, SUBMIT_QUEUE, C(FUZZ_FORK), COPY, SUBMIT(4), C(FUZZ_QUEUE_DESTROY, FD(0), 0, QUEUE(0)) } },
	/* concurrent calls in one process: an object is removed while a thread sleeps on it */
	{ 5, { C(FUZZ_OPEN), SUBMIT_QUEUE, C(FUZZ_THREAD, 1), C(FUZZ_WAIT, FD(0), 0, QUEUE(0), 0, 7), C(FUZZ_QUEUE_DESTROY, FD(0), 0, QUEUE(0)) } },
	{ 6, { C(FUZZ_OPEN), SUBMIT_QUEUE, C(FUZZ_THREAD, 2), C(FUZZ_READ, FD(0), 64, 1), C(FUZZ_WAIT, FD(0), 0, QUEUE(0), 0, 7),
	       C(FUZZ_QUEUE_RESET, FD(0), 0, QUEUE(0)) } },
	{ 8, { C(FUZZ_OPEN), ADD, SUBMIT_QUEUE, COPY, C(FUZZ_THREAD, 1), C(FUZZ_QUEUE_DESTROY, FD(0), 0, QUEUE(0)), SUBMIT(2),
	       WAIT(0) } },
	{ 8, { C(FUZZ_OPEN), C(FUZZ_BUFFER_ALLOC, FD(0), 0, 8192, RW), C(FUZZ_THREAD), C(FUZZ_MMAP, FD(0), OFFSET(0), BYTES(0), 3),
	       C(FUZZ_REGION_REMOVE, FD(0), 0, KEY(0)), C(FUZZ_LOOK, 1), C(FUZZ_LOOK, 2), C(FUZZ_CLOSE, FD(0)) } },
	{ 8, { C(FUZZ_OPEN), MAPPED_QUEUE, C(FUZZ_THREAD, 1), C(FUZZ_QUEUE_RESET, FD(0), 0, QUEUE(0)), RING(2) } },
	/* other kinds of memory, and a user with a small memlock limit */
	{ 9, { C(FUZZ_OPEN), C(FUZZ_MEMORY, 0, 1 << 20), C(FUZZ_REGION_ADD, FD(0), 0, ADDRESS(0), 1 << 20, RW), C(FUZZ_MEMORY, 1, 8192),
	       C(FUZZ_REGION_ADD, FD(0), 0, ADDRESS(0), 4096, GTU_RIGHT_READ), C(FUZZ_MEMORY, 2, 8192),
	       C(FUZZ_REGION_ADD, FD(0), 0, ADDRESS(0), 8192, RW), C(FUZZ_MEMORY, 3, 8192),
	       C(FUZZ_REGION_ADD, FD(0), 0, ADDRESS(0), 4096, GTU_RIGHT_READ) } },
	{ 5, { C(FUZZ_OPEN), C(FUZZ_NOBODY, 8192), ADD, C(FUZZ_REGION_ADD, FD(0), 0, ADDRESS(0), 4096, RW),
	       C(FUZZ_REGION_REMOVE, FD(0), 0, KEY(0)) } },
	/* jobs with many operands */
	{ 10, { C(FUZZ_OPEN), ADD, SUBMIT_QUEUE, SCU(GTU_OP_SCU_DATA, GTU_STEP_PLAIN), BLOCK(GTU_SCU_DATA, 64), BLOCK(GTU_SCU_OUT, 64),
		BLOCK(GTU_SCU_MASK, 64), SUBMIT(1), WAIT(0), C(FUZZ_QUEUE_RESET, FD(0), 0, QUEUE(0)) } },
	{ 10, { C(FUZZ_OPEN), ADD, SUBMIT_QUEUE, SCU(GTU_OP_SCU_ACCESS, GTU_STEP_PLAIN), BLOCK(GTU_SCU_DATA, 64), BLOCK(GTU_SCU_INDEX, 64),
		BLOCK(GTU_SCU_OUT, 64), SUBMIT(1), WAIT(0), C(FUZZ_QUEUE_DESTROY, FD(0), 0, QUEUE(0)) } },
	{ 8, { C(FUZZ_OPEN), ADD, SUBMIT_QUEUE, C(FUZZ_JOB, 0, GTU_OP_IRU_STREAM, 0, 0, KEY(0), 0, 64, 0),
	       C(FUZZ_OPERAND, 0, GTU_IRU_RING, KEY(0), 16, 8192), SUBMIT(1), WAIT(GTU_WAIT_STREAM),
	       C(FUZZ_QUEUE_CANCEL, FD(0), 0, QUEUE(0), 1) } },
	{ 7, { C(FUZZ_OPEN), ADD, SUBMIT_QUEUE, C(FUZZ_JOB, 0, GTU_OP_WVR_STREAM, 0, 0, KEY(0), KEY(0), 16, 0), SUBMIT(1),
	       C(FUZZ_JOB, 0, GTU_OP_PEG_STREAM, 0, 0, KEY(0), 0, 16, 0), SUBMIT(1) } },
	/* a device that does not check (the second one) */
	{ 9, { C(FUZZ_OPEN, 1), ADD, SUBMIT_QUEUE, COPY, SUBMIT(1), C(FUZZ_JOB, 0, GTU_OP_FILL, 0, 1, 0, KEY(0), 64), SUBMIT(1),
	       C(FUZZ_REGION_REMOVE, FD(0), 0, KEY(0)), WAIT(0) } },
	{ 9, { C(FUZZ_OPEN, 1), ADD, SUBMIT_QUEUE, SCU(GTU_OP_SCU_DATA, GTU_STEP_PLAIN), BLOCK(GTU_SCU_DATA, 64), BLOCK(GTU_SCU_OUT, 64),
	       SUBMIT(1), C(FUZZ_REGION_REMOVE, FD(0), 0, KEY(0)), WAIT(0) } },
	{ 6, { C(FUZZ_OPEN), SUBMIT_QUEUE, C(FUZZ_RESET), C(FUZZ_POLL, FD(0), 1), C(FUZZ_READ, FD(0), 64), WAIT(0) } },
};
const unsigned fuzz_seed_count = sizeof(fuzz_seeds) / sizeof(fuzz_seeds[0]);

uint64_t fuzz_random(uint64_t *seed)
{
	return gtu_splitmix64_next(seed);
}

/* A boundary value, a reference or a random number. */
static uint64_t odd_value(uint64_t *seed)
{
	static const uint64_t at[] = { 0, 1, 2, 3, 7, 8, 16, 31, 32, 63, 64, 255, 256, 1023, 1024, 4095, 4096, 4097, 8192, 65535,
		65536, 1 << 20, 1 << 24, 0x10000, 0x10001, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 1ull << 41,
		2ull << 41, 3ull << 41, 4ull << 41, 5ull << 41, 0x7fffffffffffffff, ~0ull };
	const uint64_t r = fuzz_random(seed);

	switch (r % 4) {
	case 0: return at[(r >> 8) % (sizeof(at) / sizeof(*at))];
	case 1: return FUZZ_REF(1 + (r >> 8) % (FUZZ_KINDS - 1), (r >> 16) % 4);
	case 2: return (r >> 8) & ((1ull << (r >> 2) % 24) - 1);
	}
	return at[(r >> 8) % (sizeof(at) / sizeof(*at))] + (r >> 16) % 9 - 4;
}

/* Replace a value by another or a nearby one; a reference mostly by one of the same kind. */
static void change_value(uint64_t *v, uint64_t *seed)
{
	const uint64_t r = fuzz_random(seed);
	const bool given = *v >> 56 && *v >> 56 < FUZZ_KINDS;

	switch (r % 4) {
	case 0:
	case 1:
		*v = odd_value(seed);
		break;
	case 2:
		*v = given ? (*v & ~0xffull) | (r >> 8) % 4 : *v ^ 1ull << (r >> 8) % 24;
		break;
	default:
		*v = given ? 4096 * (1 + (r >> 8) % 4) : *v + (r >> 8) % 9 - 4;
	}
}

static void random_call(struct fuzz_call *c, uint64_t *seed)
{
	const struct fuzz_program *p = &fuzz_seeds[fuzz_random(seed) % fuzz_seed_count];

	*c = p->call[fuzz_random(seed) % p->calls];
	if (fuzz_random(seed) % 8 == 0)
		c->op = (uint8_t)(fuzz_random(seed) % FUZZ_OPS);
}

void fuzz_mutate(struct fuzz_program *p, const struct fuzz_program *other, uint64_t *seed)
{
	unsigned n = 1 + fuzz_random(seed) % 4;

	while (n--) {
		const uint64_t r = fuzz_random(seed);
		const unsigned at = p->calls ? (r >> 8) % p->calls : 0;
		struct fuzz_call again;
		unsigned from, count;

		switch (r % 10) {
		case 0:
		case 1:
			if (p->calls == FUZZ_CALLS)
				break;
			memmove(&p->call[at + 1], &p->call[at], (p->calls - at) * sizeof(*p->call));
			random_call(&p->call[at], seed);
			p->calls++;
			break;
		case 2:
			if (p->calls < 2)
				break;
			p->calls--;
			memmove(&p->call[at], &p->call[at + 1], (p->calls - at) * sizeof(*p->call));
			break;
		case 3:
			p->call[at].wrong = (uint8_t)(r >> 16) ? (uint8_t)(r >> 24) : 0;
			break;
		case 4:
			/* replace the end by the end of another program */
			from = other->calls ? (r >> 16) % other->calls : 0;
			count = other->calls - from;
			count = count > FUZZ_CALLS - at ? FUZZ_CALLS - at : count;
			memcpy(&p->call[at], &other->call[from], count * sizeof(*p->call));
			p->calls = at + count > p->calls ? at + count : p->calls;
			break;
		case 5:
			/* repeat one of the calls elsewhere */
			if (p->calls < 2 || p->calls == FUZZ_CALLS)
				break;
			from = (unsigned)(r >> 16) % p->calls;
			again = p->call[from];
			memmove(&p->call[at + 1], &p->call[at], (p->calls - at) * sizeof(*p->call));
			p->call[at] = again;
			p->calls++;
			break;
		default:
			if (p->calls)
				change_value(&p->call[at].value[(r >> 16) % FUZZ_VALUES], seed);
		}
	}
}
