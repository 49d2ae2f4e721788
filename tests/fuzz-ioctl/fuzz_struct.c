// SPDX-License-Identifier: MIT
/* The driver's ioctls: builds their structs from a call's values and records their results. */
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "fuzz_ioctl.h"
#include "uapi/gtu/hw.h"
#include "uapi/gtu/gtu.h"

#define WAIT_NS		3000000ull	/* maximum timeout of a WAIT with a deadline */

/* Deadline of a WAIT: soon, or never (then another process or a signal ends it). */
static uint64_t deadline(uint64_t value)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	if ((value & 7) == 7)
		return GTU_WAIT_FOREVER;
	return value & 1 ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + WAIT_NS * (value >> 1 & 1) : 0;
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

/* value[0] is the file, value[1] the flags; the others are in the order of the struct. */
static void fill(union arguments *a, const struct fuzz_call *c, struct gtu_hw_desc *desc)
{
	const uint64_t *v = c->value;

	switch (c->op) {
	case FUZZ_REGION_ADD:
		a->add.addr = fuzz_resolve(v[2]) + (v[5] & 0xffff8);
		a->add.length = v[3];
		a->add.rights = (uint32_t)v[4];
		break;
	case FUZZ_BUFFER_ALLOC:
		a->alloc.length = v[2];
		a->alloc.rights = (uint32_t)v[3];
		break;
	case FUZZ_REGION_REMOVE:
		a->remove.key = (uint32_t)fuzz_resolve(v[2]);
		break;
	case FUZZ_QUEUE_CREATE:
		a->create.sq_log2 = (uint32_t)v[2];
		a->create.cq_log2 = (uint32_t)v[3];
		break;
	case FUZZ_QUEUE_DESTROY:
	case FUZZ_QUEUE_RESET:
		a->queue.id = (uint32_t)fuzz_resolve(v[2]);
		break;
	case FUZZ_WAIT:
		a->wait.id = (uint32_t)fuzz_resolve(v[2]);
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
		a->export.key = (uint32_t)fuzz_resolve(v[2]);
		a->export.rights = (uint32_t)v[3];
		break;
	case FUZZ_REGION_IMPORT:
		a->import.fd = (int32_t)fuzz_resolve(v[2]);
		a->import.rights = (uint32_t)v[3];
		break;
	case FUZZ_SUBMIT:
		/* the descriptors of the preceding JOB calls */
		a->submit.id = (uint32_t)fuzz_resolve(v[2]);
		a->submit.count = (uint32_t)v[3];
		a->submit.descs = v[4] ? fuzz_resolve(v[4]) : (uintptr_t)desc;
		a->submit.cq_head = (uint32_t)v[5];
		break;
	case FUZZ_QUEUE_CANCEL:
		a->cancel.id = (uint32_t)fuzz_resolve(v[2]);
		a->cancel.until = (uint32_t)v[3];
		break;
	case FUZZ_QUEUE_EVENTFD:
		a->eventfd.id = (uint32_t)fuzz_resolve(v[2]);
		a->eventfd.fd = (int32_t)fuzz_resolve(v[3]);
		break;
	}
}

void fuzz_ioctl(const struct fuzz_call *c, struct gtu_hw_desc *desc)
{
	/* two pages, so that a struct can end at a page boundary */
	union arguments a;
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
	if (ioctl((int)fuzz_resolve(c->value[0]), cmd, at))
		return;
	switch (c->op) {
	case FUZZ_REGION_ADD: fuzz_give(FUZZ_KEY, a.add.key); break;
	case FUZZ_BUFFER_ALLOC:
		fuzz_give(FUZZ_KEY, a.alloc.key);
		fuzz_give(FUZZ_OFFSET, a.alloc.mmap_offset);
		fuzz_give(FUZZ_BYTES, (a.alloc.length + 4095) & ~4095ull);
		break;
	case FUZZ_QUEUE_CREATE:
		fuzz_give(FUZZ_QUEUE, a.create.id);
		fuzz_give(FUZZ_OFFSET, a.create.sq_offset);
		fuzz_give(FUZZ_BYTES, a.create.sq_bytes);
		fuzz_give(FUZZ_OFFSET, a.create.cq_offset);
		fuzz_give(FUZZ_BYTES, a.create.cq_bytes);
		fuzz_give(FUZZ_OFFSET, a.create.db_offset);
		fuzz_give(FUZZ_BYTES, a.create.db_bytes);
		break;
	case FUZZ_BUFFER_EXPORT: fuzz_give(FUZZ_FD, (uint64_t)a.export.fd); break;
	case FUZZ_REGION_IMPORT: fuzz_give(FUZZ_KEY, a.import.key); break;
	}
}
