// SPDX-License-Identifier: MIT
/* The calls themselves. Their errors are of no interest: what is wrong, the kernel says. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz_ioctl.h"
#include "gtu/hw.h"
#include "uapi/gtu.h"

#define ARENA		(64u * 4096u)
#define THINGS		16u		/* of a kind that are remembered */
#define WAIT_NS		20000000ull	/* longest that a call may sleep */
#define CHILDREN	3u

struct things {
	uint64_t thing[THINGS];
	unsigned n;
};

static struct things have[FUZZ_KINDS];
static uint8_t *arena;
static const char *path;
static unsigned children;

static void give(enum fuzz_kind kind, uint64_t value)
{
	have[kind].thing[have[kind].n++ % THINGS] = value;
}

static uint64_t resolve(uint64_t value)
{
	const unsigned kind = value >> 56, back = value & 0xff;

	if (kind == FUZZ_PLAIN || kind >= FUZZ_KINDS)
		return value;
	if (kind == FUZZ_ADDRESS && !have[kind].n)
		return (uintptr_t)arena;
	return back < have[kind].n && back < THINGS ? have[kind].thing[(have[kind].n - 1 - back) % THINGS] : 0;
}

/* What WAIT may ask for: soon, or never where somebody else ends it. */
static uint64_t deadline(uint64_t value)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return value & 1 ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + WAIT_NS * (value >> 1 & 1) : 0;
}

/* A descriptor out of a call's values: mostly one that the device takes. */
static void describe(struct gtu_hw_desc *d, const uint64_t *v)
{
	unsigned i;

	memset(d, 0, sizeof(*d));
	d->opcode = (uint8_t)v[1];
	d->param = (uint32_t)(v[2] & 0xffff);
	d->flags = (uint16_t)(v[2] >> 16 & 3);
	d->imm = v[3];
	for (i = 0; i < 2; i++) {
		d->operand[i].key = (uint32_t)resolve(v[4 + i]);
		d->operand[i].count = d->operand[i].key ? (uint32_t)v[6] : 0;
		d->operand[i].offset = d->operand[i].key ? v[7] : 0;
	}
}

union arguments {
	uint32_t size;
	struct { uint32_t size, flags; } head;
	struct gtu_ioctl_info info;
	struct gtu_ioctl_region_add add;
	struct gtu_ioctl_buffer_alloc alloc;
	struct gtu_ioctl_region_remove remove;
	struct gtu_ioctl_queue_create create;
	struct gtu_ioctl_queue queue;
	struct gtu_ioctl_wait wait;
	struct gtu_ioctl_reg reg;
	struct gtu_ioctl_buffer_export export;
	struct gtu_ioctl_region_import import;
	struct gtu_ioctl_submit submit;
	struct gtu_ioctl_queue_cancel cancel;
	struct gtu_ioctl_queue_eventfd eventfd;
	uint8_t bytes[8192];
};

static const struct {
	unsigned long cmd;
	uint32_t size;
} calls[FUZZ_IOCTLS] = {
	[FUZZ_INFO] = { GTU_IOCTL_INFO, sizeof(struct gtu_ioctl_info) },
	[FUZZ_REGION_ADD] = { GTU_IOCTL_REGION_ADD, sizeof(struct gtu_ioctl_region_add) },
	[FUZZ_BUFFER_ALLOC] = { GTU_IOCTL_BUFFER_ALLOC, sizeof(struct gtu_ioctl_buffer_alloc) },
	[FUZZ_REGION_REMOVE] = { GTU_IOCTL_REGION_REMOVE, sizeof(struct gtu_ioctl_region_remove) },
	[FUZZ_QUEUE_CREATE] = { GTU_IOCTL_QUEUE_CREATE, sizeof(struct gtu_ioctl_queue_create) },
	[FUZZ_QUEUE_DESTROY] = { GTU_IOCTL_QUEUE_DESTROY, sizeof(struct gtu_ioctl_queue) },
	[FUZZ_QUEUE_RESET] = { GTU_IOCTL_QUEUE_RESET, sizeof(struct gtu_ioctl_queue) },
	[FUZZ_WAIT] = { GTU_IOCTL_WAIT, sizeof(struct gtu_ioctl_wait) },
	[FUZZ_REG_READ] = { GTU_IOCTL_REG_READ, sizeof(struct gtu_ioctl_reg) },
	[FUZZ_REG_WRITE] = { GTU_IOCTL_REG_WRITE, sizeof(struct gtu_ioctl_reg) },
	[FUZZ_BUFFER_EXPORT] = { GTU_IOCTL_BUFFER_EXPORT, sizeof(struct gtu_ioctl_buffer_export) },
	[FUZZ_REGION_IMPORT] = { GTU_IOCTL_REGION_IMPORT, sizeof(struct gtu_ioctl_region_import) },
	[FUZZ_SUBMIT] = { GTU_IOCTL_SUBMIT, sizeof(struct gtu_ioctl_submit) },
	[FUZZ_QUEUE_CANCEL] = { GTU_IOCTL_QUEUE_CANCEL, sizeof(struct gtu_ioctl_queue_cancel) },
	[FUZZ_QUEUE_EVENTFD] = { GTU_IOCTL_QUEUE_EVENTFD, sizeof(struct gtu_ioctl_queue_eventfd) },
};

/* value[0]: the file; [1]: flags; the others by place in the struct. */
static void fill(union arguments *a, const struct fuzz_call *c, struct gtu_hw_desc *desc)
{
	const uint64_t *v = c->value;

	switch (c->op) {
	case FUZZ_REGION_ADD:
		a->add.addr = resolve(v[2]) + (v[5] & 0xffff8);
		a->add.length = v[3];
		a->add.rights = (uint32_t)v[4];
		break;
	case FUZZ_BUFFER_ALLOC:
		a->alloc.length = v[2];
		a->alloc.rights = (uint32_t)v[3];
		break;
	case FUZZ_REGION_REMOVE:
		a->remove.key = (uint32_t)resolve(v[2]);
		break;
	case FUZZ_QUEUE_CREATE:
		a->create.sq_log2 = (uint32_t)v[2];
		a->create.cq_log2 = (uint32_t)v[3];
		break;
	case FUZZ_QUEUE_DESTROY:
	case FUZZ_QUEUE_RESET:
		a->queue.id = (uint32_t)resolve(v[2]);
		break;
	case FUZZ_WAIT:
		a->wait.id = (uint32_t)resolve(v[2]);
		a->wait.index = (uint32_t)v[3];
		a->wait.deadline_ns = deadline(v[4]);
		a->wait.record = (uint32_t)v[5];
		break;
	case FUZZ_REG_READ:
	case FUZZ_REG_WRITE:
		a->reg.offset = (uint32_t)v[2];
		a->reg.value = v[3];
		break;
	case FUZZ_BUFFER_EXPORT:
		a->export.key = (uint32_t)resolve(v[2]);
		a->export.rights = (uint32_t)v[3];
		break;
	case FUZZ_REGION_IMPORT:
		a->import.fd = (int32_t)resolve(v[2]);
		a->import.rights = (uint32_t)v[3];
		break;
	case FUZZ_SUBMIT:
		/* the descriptors are those of the JOB before it */
		a->submit.id = (uint32_t)resolve(v[2]);
		a->submit.count = (uint32_t)v[3];
		a->submit.descs = v[4] ? resolve(v[4]) : (uintptr_t)desc;
		a->submit.cq_head = (uint32_t)v[5];
		break;
	case FUZZ_QUEUE_CANCEL:
		a->cancel.id = (uint32_t)resolve(v[2]);
		a->cancel.until = (uint32_t)v[3];
		break;
	case FUZZ_QUEUE_EVENTFD:
		a->eventfd.id = (uint32_t)resolve(v[2]);
		a->eventfd.fd = (int32_t)resolve(v[3]);
		break;
	}
}

static void call_ioctl(const struct fuzz_call *c, struct gtu_hw_desc *desc)
{
	static union arguments a;
	const uint32_t size = calls[c->op].size;
	unsigned long cmd = calls[c->op].cmd;
	void *at = &a;

	memset(&a, 0, sizeof(a));
	a.head.size = size;
	a.head.flags = (uint32_t)c->value[1];
	fill(&a, c, desc);
	switch (c->wrong & 7) {
	case 1: a.size = (uint32_t)(c->wrong >> 3) * 4; break;
	case 2: a.size = size + 1 + (c->wrong >> 3) * 64u; a.bytes[size + (c->wrong >> 3)] = c->wrong & 8; break;
	case 3: a.bytes[8 + (c->wrong >> 3) % (size - 8)] ^= 0x80; break;
	case 4: a.head.flags ^= 1u << (c->wrong >> 3); break;
	case 5: at = c->wrong & 8 ? (uint8_t *)&a + 4096 - size / 2 : (void *)(uintptr_t)(c->wrong >> 4); break;
	case 6: cmd ^= 1ul << (c->wrong >> 3); break;
	}
	if (ioctl((int)resolve(c->value[0]), cmd, at))
		return;
	switch (c->op) {
	case FUZZ_REGION_ADD: give(FUZZ_KEY, a.add.key); break;
	case FUZZ_BUFFER_ALLOC:
		give(FUZZ_KEY, a.alloc.key);
		give(FUZZ_OFFSET, a.alloc.mmap_offset);
		give(FUZZ_BYTES, (a.alloc.length + 4095) & ~4095ull);
		break;
	case FUZZ_QUEUE_CREATE:
		give(FUZZ_QUEUE, a.create.id);
		give(FUZZ_OFFSET, a.create.sq_offset);
		give(FUZZ_BYTES, a.create.sq_bytes);
		give(FUZZ_OFFSET, a.create.cq_offset);
		give(FUZZ_BYTES, a.create.cq_bytes);
		give(FUZZ_OFFSET, a.create.db_offset);
		give(FUZZ_BYTES, a.create.db_bytes);
		break;
	case FUZZ_BUFFER_EXPORT: give(FUZZ_FD, (uint64_t)a.export.fd); break;
	case FUZZ_REGION_IMPORT: give(FUZZ_KEY, a.import.key); break;
	}
}

/* Memory that a program has mapped may be gone, or not be allowed: a signal would end him too early. */
static bool mapped(uint64_t at)
{
	unsigned char in;

	return at % 4096 == 0 && !mincore((void *)(uintptr_t)at, 4096, &in) && in <= 1;
}

static void run(const struct fuzz_program *p, unsigned from)
{
	struct gtu_hw_desc desc[4];
	unsigned i, n;

	memset(desc, 0, sizeof(desc));
	for (i = from; i < p->calls; i++) {
		const struct fuzz_call *c = &p->call[i];
		const uint64_t *v = c->value, at = resolve(v[1]);
		struct pollfd poll_fd = { .fd = (int)resolve(v[0]), .events = (short)v[1] };
		uint8_t some[256];
		void *map;
		int fd;

		switch (c->op) {
		case FUZZ_OPEN:
			fd = open(path, (v[1] & (O_NONBLOCK | O_CLOEXEC | O_ACCMODE)) | (v[1] & 1 ? 0 : O_RDWR));
			if (fd >= 0)
				give(FUZZ_FD, (uint64_t)fd);
			break;
		case FUZZ_CLOSE:
			if (resolve(v[0]) > 2)
				close((int)resolve(v[0]));
			break;
		case FUZZ_DUP:
			fd = dup((int)resolve(v[0]));
			if (fd >= 0)
				give(FUZZ_FD, (uint64_t)fd);
			break;
		case FUZZ_FORK:
			/* both go on: what is shared is used by both at a time */
			if (children < CHILDREN) {
				children++;
				fork();
			}
			break;
		case FUZZ_MMAP:
			map = mmap(NULL, resolve(v[2]) & 0xffffff, (int)(v[3] & 7), v[4] & 1 ? MAP_PRIVATE : MAP_SHARED,
				   (int)resolve(v[0]), (off_t)(at + (v[5] & 0xf000)));
			if (map != MAP_FAILED) {
				give(FUZZ_ADDRESS, (uintptr_t)map);
				/* so that touching it does not end him */
				if (!(v[3] & PROT_READ) || !(v[3] & PROT_WRITE))
					mprotect(map, 4096, PROT_READ | PROT_WRITE);
			}
			break;
		case FUZZ_MUNMAP:
			if (mapped(at))
				munmap((void *)(uintptr_t)at, v[2] & 0xffff);
			break;
		case FUZZ_TOUCH:
			if (!mapped(at))
				break;
			/* by the kernel, whose copies fail where a store would be the end */
			fd = open("/dev/zero", O_RDONLY);
			n = (unsigned)(read(fd, (void *)(uintptr_t)at, v[2] & 0xfff) >= 0);
			close(fd);
			madvise((void *)(uintptr_t)at, 4096, (int)(v[3] & 31));
			break;
		case FUZZ_DOORBELL:
			if (mapped(at) && at != (uintptr_t)arena)
				for (n = 0; n < 8; n += 4)
					*(volatile uint32_t *)(uintptr_t)(at + (v[2] & 0x1c & ~7ull) + n) =
						(uint32_t)(v[3] >> 8 * n);
			break;
		case FUZZ_JOB:
			memmove(desc + 1, desc, sizeof(desc) - sizeof(*desc));
			describe(desc, v);
			if (mapped(at) && at != (uintptr_t)arena)
				break;
			memcpy(arena, desc, sizeof(desc));
			break;
		case FUZZ_READ:
			fcntl((int)resolve(v[0]), F_SETFL, O_NONBLOCK);
			if (resolve(v[0]) > 2)
				(void)!read((int)resolve(v[0]), some, v[1] & 255);
			break;
		case FUZZ_POLL:
			poll(&poll_fd, 1, (int)(v[2] & 15));
			break;
		case FUZZ_EVENTFD:
			fd = eventfd((unsigned int)v[0] & 3, EFD_NONBLOCK);
			if (fd >= 0)
				give(FUZZ_FD, (uint64_t)fd);
			break;
		case FUZZ_RAW:
			if (resolve(v[0]) > 2)
				ioctl((int)resolve(v[0]), v[1], v[2] & 1 ? (void *)arena : (void *)(uintptr_t)v[3]);
			break;
		default:
			call_ioctl(c, desc);
		}
	}
}

void fuzz_execute(const struct fuzz_program *p, const char *device)
{
	path = device;
	arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	run(p, 0);
	/* who came by FORK is not waited for by name: there are a few at most, and each ends by itself */
	while (wait(NULL) > 0)
		;
}
