// SPDX-License-Identifier: MIT
/* The driver's ioctls: builds their structs from a call's values and records their results. */
#include <string.h>
#include <sys/ioctl.h>

#include "fuzz_ioctl.h"
#include "libruntime/support/clock.h"
#include "uapi/gtu/hw.h"

#define WAIT_NS		3000000ull	/* maximum timeout of a WAIT with a deadline */

/* Deadline of a WAIT: soon, or never (then another process or a signal ends it). */
static uint64_t deadline(uint64_t value)
{
	if ((value & 7) == 7)
		return GTU_WAIT_FOREVER;
	return value & 1 ? gtu_now_ns() + WAIT_NS * (value >> 1 & 1) : 0;
}

/* two pages, so that a struct can end at a page boundary */
union arguments {
	union ioctl_struct as;
	uint8_t bytes[8192];
};

static const struct {
	unsigned long cmd;
	uint32_t size;
} calls[FUZZ_IOCTLS] = {
#define ROW(NAME, name, type) [FUZZ_##NAME] = { GTU_IOCTL_##NAME, sizeof(struct type) },
	GTU_IOCTL_TABLE(ROW)
};

/* value[0] is the file, value[1] the flags; the others are in the order of the struct. */
static void fill(union ioctl_struct *a, const struct fuzz_call *c, struct gtu_hw_desc *desc)
{
	const uint64_t *v = c->value;

	switch (c->op) {
	case FUZZ_REGION_ADD:
		a->region_add.addr = fuzz_resolve(v[2]) + (v[5] & 0xffff8);
		a->region_add.length = v[3];
		a->region_add.rights = (uint32_t)v[4];
		break;
	case FUZZ_BUFFER_ALLOC:
		a->buffer_alloc.length = v[2];
		a->buffer_alloc.rights = (uint32_t)v[3];
		break;
	case FUZZ_REGION_REMOVE:
		a->region_remove.key = (uint32_t)fuzz_resolve(v[2]);
		break;
	case FUZZ_QUEUE_CREATE:
		a->queue_create.sq_log2 = (uint32_t)v[2];
		a->queue_create.cq_log2 = (uint32_t)v[3];
		break;
	case FUZZ_QUEUE_DESTROY:
	case FUZZ_QUEUE_RESET:
		a->queue_reset.id = (uint32_t)fuzz_resolve(v[2]);
		break;
	case FUZZ_WAIT:
		a->wait.id = (uint32_t)fuzz_resolve(v[2]);
		a->wait.index = (uint32_t)v[3];
		a->wait.deadline_ns = deadline(v[4]);
		a->wait.record = (uint32_t)v[5];
		break;
	case FUZZ_REG_READ:
	case FUZZ_REG_WRITE:
		a->reg_write.offset = (uint32_t)v[2];
		a->reg_write.value = v[3];
		break;
	case FUZZ_BUFFER_EXPORT:
		a->buffer_export.key = (uint32_t)fuzz_resolve(v[2]);
		a->buffer_export.rights = (uint32_t)v[3];
		break;
	case FUZZ_REGION_IMPORT:
		a->region_import.fd = (int32_t)fuzz_resolve(v[2]);
		a->region_import.rights = (uint32_t)v[3];
		break;
	case FUZZ_SUBMIT:
		/* the descriptors of the preceding JOB calls */
		a->submit.id = (uint32_t)fuzz_resolve(v[2]);
		a->submit.count = (uint32_t)v[3];
		a->submit.descs = v[4] ? fuzz_resolve(v[4]) : (uintptr_t)desc;
		a->submit.cq_head = (uint32_t)v[5];
		break;
	case FUZZ_QUEUE_CANCEL:
		a->queue_cancel.id = (uint32_t)fuzz_resolve(v[2]);
		a->queue_cancel.until = (uint32_t)v[3];
		break;
	case FUZZ_QUEUE_EVENTFD:
		a->queue_eventfd.id = (uint32_t)fuzz_resolve(v[2]);
		a->queue_eventfd.fd = (int32_t)fuzz_resolve(v[3]);
		break;
	}
}

void fuzz_ioctl(const struct fuzz_call *c, struct gtu_hw_desc *desc)
{
	union arguments a;
	const uint32_t size = calls[c->op].size;
	unsigned long cmd = calls[c->op].cmd;
	void *at = &a;

	memset(&a, 0, sizeof(a));
	a.as.head.size = size;
	a.as.head.flags = (uint32_t)c->value[1];
	fill(&a.as, c, desc);
	switch (c->wrong & 7) {
	case 1: a.as.head.size = (uint32_t)(c->wrong >> 3) * 4; break;
	case 2: a.as.head.size = size + 1 + (c->wrong >> 3) * 64u; a.bytes[size + (c->wrong >> 3)] = c->wrong & 8; break;
	case 3: a.bytes[8 + (c->wrong >> 3) % (size - 8)] ^= 0x80; break;
	case 4: a.as.head.flags ^= 1u << (c->wrong >> 3); break;
	case 5: at = c->wrong & 8 ? (uint8_t *)&a + 4096 - size / 2 : (void *)(uintptr_t)(c->wrong >> 4); break;
	case 6: cmd ^= 1ul << (c->wrong >> 3); break;
	}
	if (ioctl((int)fuzz_resolve(c->value[0]), cmd, at))
		return;
	switch (c->op) {
	case FUZZ_REGION_ADD: fuzz_give(FUZZ_KEY, a.as.region_add.key); break;
	case FUZZ_BUFFER_ALLOC:
		fuzz_give(FUZZ_KEY, a.as.buffer_alloc.key);
		fuzz_give(FUZZ_OFFSET, a.as.buffer_alloc.mmap_offset);
		fuzz_give(FUZZ_BYTES, (a.as.buffer_alloc.length + 4095) & ~4095ull);
		break;
	case FUZZ_QUEUE_CREATE:
		fuzz_give(FUZZ_QUEUE, a.as.queue_create.id);
		fuzz_give(FUZZ_OFFSET, a.as.queue_create.sq_offset);
		fuzz_give(FUZZ_BYTES, a.as.queue_create.sq_bytes);
		fuzz_give(FUZZ_OFFSET, a.as.queue_create.cq_offset);
		fuzz_give(FUZZ_BYTES, a.as.queue_create.cq_bytes);
		fuzz_give(FUZZ_OFFSET, a.as.queue_create.db_offset);
		fuzz_give(FUZZ_BYTES, a.as.queue_create.db_bytes);
		break;
	case FUZZ_BUFFER_EXPORT: fuzz_give(FUZZ_FD, (uint64_t)a.as.buffer_export.fd); break;
	case FUZZ_REGION_IMPORT: fuzz_give(FUZZ_KEY, a.as.region_import.key); break;
	}
}
