// SPDX-License-Identifier: MIT
/* Programs: the valid ones to begin with, how they change, and how they are written down. */
#include <inttypes.h>
#include <string.h>

#include "fuzz_ioctl.h"
#include "gtu/hw.h"
#include "uapi/gtu.h"

#define RW	(GTU_RIGHT_READ | GTU_RIGHT_WRITE)
#define FD(n)	FUZZ_REF(FUZZ_FD, n)
#define KEY(n)	FUZZ_REF(FUZZ_KEY, n)
#define QUEUE(n) FUZZ_REF(FUZZ_QUEUE, n)
#define OFFSET(n) FUZZ_REF(FUZZ_OFFSET, n)
#define BYTES(n) FUZZ_REF(FUZZ_BYTES, n)
#define ADDRESS(n) FUZZ_REF(FUZZ_ADDRESS, n)
#define C(op, ...) { op, 0, { __VA_ARGS__ } }
#define MAPPED_QUEUE	C(FUZZ_QUEUE_CREATE, FD(0), 0, 3, 3), C(FUZZ_MMAP, FD(0), OFFSET(2), BYTES(2), 3), \
			C(FUZZ_MMAP, FD(0), OFFSET(1), BYTES(1), 1), C(FUZZ_MMAP, FD(0), OFFSET(0), BYTES(0), 2)
#define ADD		C(FUZZ_REGION_ADD, FD(0), 0, ADDRESS(0), 65536, RW)
#define COPY		C(FUZZ_JOB, 0, GTU_OP_COPY, 0, 0, KEY(0), KEY(0), 64, 0)

/* Every call in a place where it does something. */
const struct fuzz_program fuzz_seeds[] = {
	{ 6, { C(FUZZ_OPEN), C(FUZZ_INFO, FD(0)), C(FUZZ_REG_READ, FD(0), 0, GTU_REG_MAGIC),
	       C(FUZZ_REG_WRITE, FD(0), 0, GTU_PAGE_IRU + GTU_UREG_SET(0), 2048), C(FUZZ_REG_READ, FD(0), 0, GTU_PAGE_IRU + GTU_UREG_SET(0)),
	       C(FUZZ_CLOSE, FD(0)) } },
	{ 8, { C(FUZZ_OPEN), ADD, MAPPED_QUEUE, C(FUZZ_DOORBELL, 0, ADDRESS(0), GTU_DB_SUBMIT, 1),
	       C(FUZZ_WAIT, FD(0), 0, QUEUE(0), 0, 3) } },
	{ 7, { C(FUZZ_OPEN), ADD, C(FUZZ_QUEUE_CREATE, FD(0), GTU_QUEUE_SUBMIT, 3, 3), COPY,
	       C(FUZZ_SUBMIT, FD(0), 0, QUEUE(0), 1), C(FUZZ_WAIT, FD(0), 0, QUEUE(0), 0, 3), C(FUZZ_REGION_REMOVE, FD(0), 0, KEY(0)) } },
	{ 6, { C(FUZZ_OPEN), C(FUZZ_BUFFER_ALLOC, FD(0), 0, 16384, RW), C(FUZZ_MMAP, FD(0), OFFSET(0), BYTES(0), 3),
	       C(FUZZ_TOUCH, 0, ADDRESS(0), 4095), C(FUZZ_REGION_REMOVE, FD(0), 0, KEY(0)), C(FUZZ_MUNMAP, 0, ADDRESS(0), 16384) } },
	{ 5, { C(FUZZ_OPEN), C(FUZZ_BUFFER_ALLOC, FD(0), GTU_BUFFER_APERTURE, 8192, RW), C(FUZZ_MMAP, FD(0), OFFSET(0), BYTES(0), 3),
	       C(FUZZ_TOUCH, 0, ADDRESS(0), 4095), C(FUZZ_CLOSE, FD(0)) } },
	{ 6, { C(FUZZ_OPEN), C(FUZZ_BUFFER_ALLOC, FD(0), 0, 8192, RW), C(FUZZ_BUFFER_EXPORT, FD(0), 0, KEY(0), RW),
	       C(FUZZ_REGION_IMPORT, FD(1), 0, FD(0), RW), C(FUZZ_MMAP, FD(0), 0, 8192, 3), C(FUZZ_REGION_REMOVE, FD(1), 0, KEY(0)) } },
	{ 9, { C(FUZZ_OPEN), MAPPED_QUEUE, C(FUZZ_QUEUE_CANCEL, FD(0), GTU_CANCEL_ALL, QUEUE(0)), C(FUZZ_QUEUE_RESET, FD(0), 0, QUEUE(0)),
	       C(FUZZ_QUEUE_DESTROY, FD(0), 0, QUEUE(0)), C(FUZZ_DOORBELL, 0, ADDRESS(0), GTU_DB_ARM, 1) } },
	{ 9, { C(FUZZ_OPEN), C(FUZZ_QUEUE_CREATE, FD(0), GTU_QUEUE_SUBMIT, 2, 2), C(FUZZ_EVENTFD),
	       C(FUZZ_QUEUE_EVENTFD, FD(1), 0, QUEUE(0), FD(0)), C(FUZZ_JOB), C(FUZZ_SUBMIT, FD(1), 0, QUEUE(0), 2),
	       C(FUZZ_POLL, FD(1), 1, 15), C(FUZZ_READ, FD(1), 64), C(FUZZ_CLOSE, FD(0)) } },
	{ 8, { C(FUZZ_OPEN), C(FUZZ_DUP, FD(0)), C(FUZZ_FORK), ADD, C(FUZZ_CLOSE, FD(1)), MAPPED_QUEUE } },
	{ 7, { C(FUZZ_OPEN), ADD, C(FUZZ_QUEUE_CREATE, FD(0), GTU_QUEUE_SUBMIT, 4, 4), C(FUZZ_FORK), COPY,
	       C(FUZZ_SUBMIT, FD(0), 0, QUEUE(0), 4), C(FUZZ_QUEUE_DESTROY, FD(0), 0, QUEUE(0)) } },
};
const unsigned fuzz_seed_count = sizeof(fuzz_seeds) / sizeof(fuzz_seeds[0]);

uint64_t fuzz_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Numbers at which something begins or ends. */
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
		unsigned from, count;

		switch (r % 8) {
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
			/* the end of another one, in the place of this one's */
			from = other->calls ? (r >> 16) % other->calls : 0;
			count = other->calls - from;
			count = count > FUZZ_CALLS - at ? FUZZ_CALLS - at : count;
			memcpy(&p->call[at], &other->call[from], count * sizeof(*p->call));
			p->calls = at + count > p->calls ? at + count : p->calls;
			break;
		default:
			if (p->calls)
				p->call[at].value[(r >> 16) % FUZZ_VALUES] = odd_value(seed);
		}
	}
}

size_t fuzz_write(const struct fuzz_program *p, char *text, size_t room)
{
	size_t n = 0;
	unsigned i, v;

	for (i = 0; i < p->calls && n < room; i++) {
		n += (size_t)snprintf(text + n, room - n, "%u %u", p->call[i].op, p->call[i].wrong);
		for (v = 0; v < FUZZ_VALUES && n < room; v++)
			n += (size_t)snprintf(text + n, room - n, " %" PRIx64, p->call[i].value[v]);
		if (n < room)
			n += (size_t)snprintf(text + n, room - n, ";\n");
	}
	return n < room ? n : room - 1;
}

bool fuzz_read(struct fuzz_program *p, const char *text)
{
	memset(p, 0, sizeof(*p));
	for (; *text; text += strspn(text, "; \n")) {
		struct fuzz_call *c = &p->call[p->calls];
		unsigned op, wrong, v;
		int n = 0;

		if (p->calls == FUZZ_CALLS) {
			fprintf(stderr, "fuzz_ioctl: a program has more than %u calls\n", FUZZ_CALLS);
			return false;
		}
		if (sscanf(text, "%u %u%n", &op, &wrong, &n) != 2 || op >= FUZZ_OPS || wrong > 255) {
			fprintf(stderr, "fuzz_ioctl: call %u of a program: '%.20s' is no operation and fault\n", p->calls, text);
			return false;
		}
		text += n;
		c->op = (uint8_t)op;
		c->wrong = (uint8_t)wrong;
		for (v = 0; v < FUZZ_VALUES; v++, text += n) {
			if (sscanf(text, " %" SCNx64 "%n", &c->value[v], &n) != 1) {
				fprintf(stderr, "fuzz_ioctl: call %u of a program has %u values, not %u\n", p->calls, v, FUZZ_VALUES);
				return false;
			}
		}
		p->calls++;
	}
	return true;
}
