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

/*
 * The fields of an ioctl's struct and the values that they get: as they are, or resolved. value[0]
 * is the file, value[1] the flags.
 */
static const struct {
	uint8_t op, value;
	bool resolved;
	uint8_t bytes;
	size_t at;
} fields[] = {
#define FIELD(NAME, member, value, resolved) { FUZZ_##NAME, value, resolved, sizeof(((union ioctl_struct *)0)->member), \
					       offsetof(union ioctl_struct, member) }
	FIELD(REGION_ADD, region_add.length, 3, false), FIELD(REGION_ADD, region_add.rights, 4, false),
	FIELD(BUFFER_ALLOC, buffer_alloc.length, 2, false), FIELD(BUFFER_ALLOC, buffer_alloc.rights, 3, false),
	FIELD(REGION_REMOVE, region_remove.key, 2, true),
	FIELD(QUEUE_CREATE, queue_create.sq_log2, 2, false), FIELD(QUEUE_CREATE, queue_create.cq_log2, 3, false),
	FIELD(QUEUE_DESTROY, queue_destroy.id, 2, true), FIELD(QUEUE_RESET, queue_reset.id, 2, true),
	FIELD(WAIT, wait.id, 2, true), FIELD(WAIT, wait.index, 3, false), FIELD(WAIT, wait.record, 5, false),
	FIELD(REG_READ, reg_read.offset, 2, false), FIELD(REG_READ, reg_read.value, 3, false),
	FIELD(REG_WRITE, reg_write.offset, 2, false), FIELD(REG_WRITE, reg_write.value, 3, false),
	FIELD(BUFFER_EXPORT, buffer_export.key, 2, true), FIELD(BUFFER_EXPORT, buffer_export.rights, 3, false),
	FIELD(REGION_IMPORT, region_import.fd, 2, true), FIELD(REGION_IMPORT, region_import.rights, 3, false),
	FIELD(SUBMIT, submit.id, 2, true), FIELD(SUBMIT, submit.count, 3, false), FIELD(SUBMIT, submit.cq_head, 5, false),
	FIELD(QUEUE_CANCEL, queue_cancel.id, 2, true), FIELD(QUEUE_CANCEL, queue_cancel.until, 3, false),
	FIELD(QUEUE_EVENTFD, queue_eventfd.id, 2, true), FIELD(QUEUE_EVENTFD, queue_eventfd.fd, 3, true),
	FIELD(QUEUE_ARM, queue_arm.id, 2, true), FIELD(QUEUE_ARM, queue_arm.index, 3, false),
};

static void fill(union arguments *all, const struct fuzz_call *c, struct gtu_hw_desc *desc)
{
	union ioctl_struct *a = &all->as;
	struct gtu_wait_entry *entry = (void *)(all->bytes + sizeof(all->bytes) / 2);
	const uint64_t *v = c->value;
	uint64_t value;
	unsigned i;

	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		value = fields[i].resolved ? fuzz_resolve(v[fields[i].value]) : v[fields[i].value];
		if (fields[i].op == c->op)
			memcpy((char *)a + fields[i].at, &value, fields[i].bytes);
	}
	if (c->op == FUZZ_REGION_ADD)
		a->region_add.addr = fuzz_resolve(v[2]) + (v[5] & 0xffff8);
	if (c->op == FUZZ_WAIT)
		a->wait.deadline_ns = deadline(v[4]);
	/* the descriptors of the preceding JOB calls */
	if (c->op == FUZZ_SUBMIT)
		a->submit.descs = v[4] ? fuzz_resolve(v[4]) : (uintptr_t)desc;
	/* two entries behind the struct, or an address of the program */
	if (c->op == FUZZ_WAIT_ANY) {
		for (i = 0; i < 2; i++)
			entry[i] = (struct gtu_wait_entry){ .id = (uint32_t)fuzz_resolve(v[2 + i]), .index = (uint32_t)v[4] };
		a->wait_any.entries = v[5] ? fuzz_resolve(v[5]) : (uintptr_t)entry;
		a->wait_any.count = v[6] ? (uint32_t)v[6] : 2;
		a->wait_any.deadline_ns = deadline(v[7]);
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
	fill(&a, c, desc);
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
