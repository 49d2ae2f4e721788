// SPDX-License-Identifier: MIT
/*
 * Tests the encoding of the UAPI for every ioctl, also for 32-bit callers: sizes, padding, flags,
 * pointers.
 */
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "gtu_ioctls.h"
#include "gtu_util.h"

/* The layout has no implicit padding and is the same for 32-bit and 64-bit programs. */
#define LAYOUT(type, bytes, last)                                                                  \
	_Static_assert(sizeof(struct type) == (bytes), #type);                                     \
	_Static_assert(offsetof(struct type, last) + sizeof(((struct type *)0)->last) == (bytes),  \
		       #type)
LAYOUT(gtu_ioctl_info, 88, reserved);
LAYOUT(gtu_ioctl_region_add, 32, key);
LAYOUT(gtu_ioctl_buffer_alloc, 32, mmap_offset);
LAYOUT(gtu_ioctl_region_remove, 16, reserved);
LAYOUT(gtu_ioctl_queue_create, 72, db_bytes);
LAYOUT(gtu_ioctl_queue, 16, reserved);
LAYOUT(gtu_ioctl_wait, 40, reserved);
LAYOUT(gtu_ioctl_reg, 24, value);
LAYOUT(gtu_ioctl_buffer_export, 24, reserved);
LAYOUT(gtu_ioctl_region_import, 32, length);
LAYOUT(gtu_ioctl_submit, 40, status);
LAYOUT(gtu_ioctl_queue_cancel, 16, until);
LAYOUT(gtu_ioctl_queue_eventfd, 16, fd);
LAYOUT(gtu_event, 16, reserved);
#define AT(type, member, offset) _Static_assert(offsetof(struct type, member) == (offset), #member)
AT(gtu_ioctl_info, caps, 16);
AT(gtu_ioctl_info, clock_hz, 56);
AT(gtu_ioctl_region_add, addr, 8);
AT(gtu_ioctl_region_add, rights, 24);
AT(gtu_ioctl_buffer_alloc, key, 20);
AT(gtu_ioctl_queue_create, sq_offset, 24);
AT(gtu_ioctl_wait, deadline_ns, 16);
AT(gtu_ioctl_reg, value, 16);
AT(gtu_ioctl_region_import, length, 24);
AT(gtu_ioctl_submit, descs, 16);

FIXTURE(uapi)
{
	int fd;
	void *memory;			/* two pages, then an inaccessible one */
	uint32_t key, queue, submit, buffer;
	int dmabuf;
};

/*
 * An ioctl with valid arguments, of which @bytes at @at are a resource of the fixture; the size of
 * its struct's first version, the offset of its reserved field (0: none), its known flags, whether
 * it has a result, and what it returns.
 */
FIXTURE_VARIANT(uapi)
{
	unsigned long cmd;
	uint32_t size, first, reserved_at, flags;
	size_t at, from, bytes;
	union ioctl_struct valid;
	bool result;
	int error;
};

#define VARIANT(name, NAME, type, ...)                                                             \
	FIXTURE_VARIANT_ADD(uapi, name)                                                            \
	{                                                                                          \
		.cmd = GTU_IOCTL_##NAME, .size = sizeof(struct type),                              \
		.valid.name.size = sizeof(struct type), __VA_ARGS__                                \
	}
#define NAMES(type, member, resource)                                                              \
	.at = offsetof(struct type, member), .from = offsetof(FIXTURE_DATA(uapi), resource),       \
	.bytes = sizeof(((FIXTURE_DATA(uapi) *)0)->resource)
#define RESERVED(type) .reserved_at = offsetof(struct type, reserved)
/* a struct that has not grown has only one size */
#define FIRST (variant->first ? variant->first : variant->size)
VARIANT(info, INFO, gtu_ioctl_info, RESERVED(gtu_ioctl_info), .result = true);
VARIANT(region_add, REGION_ADD, gtu_ioctl_region_add, NAMES(gtu_ioctl_region_add, addr, memory),
	.valid.region_add.length = 64, .valid.region_add.rights = GTU_RIGHT_READ, .result = true);
VARIANT(buffer_alloc, BUFFER_ALLOC, gtu_ioctl_buffer_alloc, .flags = GTU_BUFFER_APERTURE,
	.valid.buffer_alloc.length = 64, .valid.buffer_alloc.rights = GTU_RIGHT_WRITE,
	.result = true);
VARIANT(region_remove, REGION_REMOVE, gtu_ioctl_region_remove, RESERVED(gtu_ioctl_region_remove),
	NAMES(gtu_ioctl_region_remove, key, key));
VARIANT(queue_create, QUEUE_CREATE, gtu_ioctl_queue_create, RESERVED(gtu_ioctl_queue_create),
	.flags = GTU_QUEUE_SUBMIT, .valid.queue_create.sq_log2 = 1,
	.valid.queue_create.cq_log2 = 1, .result = true);
VARIANT(queue_destroy, QUEUE_DESTROY, gtu_ioctl_queue, RESERVED(gtu_ioctl_queue),
	NAMES(gtu_ioctl_queue, id, queue));
VARIANT(queue_reset, QUEUE_RESET, gtu_ioctl_queue, RESERVED(gtu_ioctl_queue),
	NAMES(gtu_ioctl_queue, id, queue));
VARIANT(wait, WAIT, gtu_ioctl_wait, RESERVED(gtu_ioctl_wait), NAMES(gtu_ioctl_wait, id, queue),
	.first = offsetof(struct gtu_ioctl_wait, record), .flags = GTU_WAIT_STREAM,
	.error = ETIMEDOUT);
VARIANT(queue_cancel, QUEUE_CANCEL, gtu_ioctl_queue_cancel, .flags = GTU_CANCEL_ALL,
	NAMES(gtu_ioctl_queue_cancel, id, queue));
VARIANT(queue_eventfd, QUEUE_EVENTFD, gtu_ioctl_queue_eventfd, .valid.queue_eventfd.fd = -1,
	NAMES(gtu_ioctl_queue_eventfd, id, queue));
VARIANT(buffer_export, BUFFER_EXPORT, gtu_ioctl_buffer_export, RESERVED(gtu_ioctl_buffer_export),
	NAMES(gtu_ioctl_buffer_export, key, buffer), .flags = O_CLOEXEC,
	.valid.buffer_export.rights = GTU_RIGHT_READ, .result = true);
VARIANT(region_import, REGION_IMPORT, gtu_ioctl_region_import, RESERVED(gtu_ioctl_region_import),
	NAMES(gtu_ioctl_region_import, fd, dmabuf), .valid.region_import.rights = GTU_RIGHT_READ,
	.result = true);
/* without descriptors, because the ring must not fill up */
VARIANT(submit, SUBMIT, gtu_ioctl_submit, NAMES(gtu_ioctl_submit, id, submit), .flags = GTU_SUBMIT_ARM,
	.result = true);
VARIANT(queue_arm, QUEUE_ARM, gtu_ioctl_queue_arm, NAMES(gtu_ioctl_queue_arm, id, submit),
	.flags = GTU_ARM_STREAM);
VARIANT(wait_any, WAIT_ANY, gtu_ioctl_wait_any, NAMES(gtu_ioctl_wait_any, entries, memory),
	.valid.wait_any.count = 1, .error = ETIMEDOUT);
VARIANT(reg_read, REG_READ, gtu_ioctl_reg, RESERVED(gtu_ioctl_reg),
	.valid.reg_read.offset = GTU_REG_MAGIC, .result = true);
VARIANT(reg_write, REG_WRITE, gtu_ioctl_reg, RESERVED(gtu_ioctl_reg),
	.valid.reg_write.offset = GTU_PAGE_ZCM + GTU_UREG_CTRL,
	.valid.reg_write.value = GTU_CTRL_SNAPSHOT);

FIXTURE_SETUP(uapi)
{
	struct gtu_ioctl_queue_create q = { .size = sizeof(q), .sq_log2 = 2, .cq_log2 = 2 };
	struct gtu_ioctl_buffer_export e = { .size = sizeof(e), .rights = GTU_RIGHT_READ };
	uint64_t offset;

	OPEN_OR_SKIP(self->fd);
	self->memory = pages(3 * 4096);
	ASSERT_NE(MAP_FAILED, self->memory);
	ASSERT_EQ(0, mprotect((char *)self->memory + 2 * 4096, 4096, PROT_NONE));
	ASSERT_EQ(0, region_add(self->fd, self->memory, 4096, GTU_RIGHT_READ, &self->key));
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_QUEUE_CREATE, &q));
	self->queue = q.id;
	*(struct gtu_wait_entry *)self->memory = (struct gtu_wait_entry){ self->queue };
	q.flags = GTU_QUEUE_SUBMIT;
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_QUEUE_CREATE, &q));
	self->submit = q.id;
	ASSERT_EQ(0, buffer_alloc(self->fd, 4096, &self->buffer, &offset));
	e.key = self->buffer;
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_BUFFER_EXPORT, &e));
	self->dmabuf = e.fd;
}

NO_TEARDOWN(uapi);

union arg {
	union ioctl_struct as;
	uint32_t word[1024];
	uint8_t byte[4096];
};

/* Fill in valid arguments and leave what follows the struct. */
static void fill(union arg *arg, const FIXTURE_VARIANT(uapi) *variant, const void *self)
{
	memcpy(arg, &variant->valid, variant->size);
	memcpy(arg->byte + variant->at, (const char *)self + variant->from, variant->bytes);
}

#define FILL(arg) fill(arg, variant, self)
#define GOOD (variant->error)

TEST_F(uapi, valid_arguments_are_accepted)
{
	union arg arg;

	FILL(&arg);
	EXPECT_EQ(GOOD, call(self->fd, variant->cmd, &arg));
}

TEST_F(uapi, a_struct_that_is_too_short_is_refused)
{
	uint32_t size;
	union arg arg;

	for (size = 0; size < FIRST; size++) {
		FILL(&arg);
		arg.as.head.size = size;
		EXPECT_EQ(EINVAL, call(self->fd, variant->cmd, &arg)) {
			TH_LOG("size %u", size);
		}
	}
}

/* A program built with a shorter struct: later fields are neither read nor written. */
TEST_F(uapi, a_shorter_struct_of_an_older_caller_is_accepted)
{
	char *end = (char *)self->memory + 2 * 4096;
	uint32_t size;
	union arg arg;

	if (!variant->first)
		SKIP(return, "the struct has not grown");
	for (size = FIRST; size < variant->size; size++) {
		FILL(&arg);
		arg.as.head.size = size;
		memcpy(end - size, &arg, size);
		EXPECT_EQ(GOOD, call(self->fd, variant->cmd, end - size)) {
			TH_LOG("size %u", size);
		}
	}
}

TEST_F(uapi, nonzero_bytes_behind_the_struct_are_refused)
{
	union arg arg;
	uint32_t more;

	for (more = 1; more <= 64; more++) {
		memset(&arg, 0, sizeof(arg));
		FILL(&arg);
		arg.as.head.size = variant->size + more;
		arg.byte[variant->size + more - 1] = 1;
		EXPECT_EQ(E2BIG, call(self->fd, variant->cmd, &arg)) {
			TH_LOG("%u bytes more", more);
		}
	}
}

/* The size is limited to a page, because checking a longer tail could take forever. */
TEST_F(uapi, a_size_above_a_page_is_refused)
{
	const size_t bytes = 64u << 20;
	union arg *arg = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ASSERT_NE(MAP_FAILED, (void *)arg);
	FILL(arg);
	arg->as.head.size = bytes;
	EXPECT_EQ(E2BIG, call(self->fd, variant->cmd, arg));
	arg->as.head.size = 4096 + 8;
	EXPECT_EQ(E2BIG, call(self->fd, variant->cmd, arg));
	munmap(arg, bytes);
}

TEST_F(uapi, zero_bytes_behind_the_struct_are_accepted)
{
	union arg arg = { .word = { 0 } };

	FILL(&arg);
	arg.as.head.size = 4096;
	EXPECT_EQ(GOOD, call(self->fd, variant->cmd, &arg));
	/* the caller learns which fields the driver knows */
	if (variant->result) {
		EXPECT_EQ(variant->size, arg.as.head.size);
	}
}

TEST_F(uapi, the_largest_size_is_refused)
{
	char *end = (char *)self->memory + 2 * 4096;
	union arg arg;

	FILL(&arg);
	arg.as.head.size = 0xffffffffu;
	memcpy(end - variant->size, &arg, variant->size);
	EXPECT_EQ(E2BIG, call(self->fd, variant->cmd, end - variant->size));
}

TEST_F(uapi, unknown_flags_are_refused)
{
	union arg arg;
	unsigned int bit;

	for (bit = 0; bit < 32; bit++) {
		if (variant->flags >> bit & 1)
			continue;
		FILL(&arg);
		arg.as.head.flags = 1u << bit;
		EXPECT_EQ(EOPNOTSUPP, call(self->fd, variant->cmd, &arg)) {
			TH_LOG("bit %u", bit);
		}
	}
}

TEST_F(uapi, nonzero_reserved_fields_are_refused)
{
	union arg arg;
	unsigned int bit;

	if (!variant->reserved_at)
		SKIP(return, "the struct has no reserved field");
	for (bit = 0; bit < 32; bit++) {
		FILL(&arg);
		arg.word[variant->reserved_at / 4] = 1u << bit;
		EXPECT_EQ(EOPNOTSUPP, call(self->fd, variant->cmd, &arg)) {
			TH_LOG("bit %u", bit);
		}
	}
}

/* At the end of a mapping: nothing beyond the struct is read or written. */
TEST_F(uapi, nothing_beyond_the_struct_is_accessed)
{
	char *end = (char *)self->memory + 2 * 4096;
	union arg arg;

	FILL(&arg);
	memcpy(end - variant->size, &arg, variant->size);
	EXPECT_EQ(GOOD, call(self->fd, variant->cmd, end - variant->size));
}

TEST_F(uapi, inaccessible_arguments_fail_with_efault)
{
	char *end = (char *)self->memory + 2 * 4096;
	union arg arg;
	uint32_t cut;

	EXPECT_EQ(EFAULT, call(self->fd, variant->cmd, NULL));
	EXPECT_EQ(EFAULT, call(self->fd, variant->cmd, end));
	for (cut = 4; cut < variant->size; cut += 4) {
		FILL(&arg);
		memcpy(end - cut, &arg, cut);
		EXPECT_EQ(EFAULT, call(self->fd, variant->cmd, end - cut));
	}
}

/* If the result cannot be copied to the caller, the call is undone: no id or slot is lost. */
TEST_F(uapi, a_call_whose_result_cannot_be_copied_is_undone)
{
	char *page = (char *)self->memory + 4096;
	unsigned int i;

	if (!variant->result)
		SKIP(return, "the ioctl returns no result");
	FILL((union arg *)page);
	ASSERT_EQ(0, mprotect(page, 4096, PROT_READ));
	for (i = 0; i < 40; i++)
		ASSERT_EQ(EFAULT, call(self->fd, variant->cmd, page));
	ASSERT_EQ(0, mprotect(page, 4096, PROT_READ | PROT_WRITE));
	EXPECT_EQ(0, call(self->fd, variant->cmd, page));
	EXPECT_EQ(4, status_kib("VmPin") - (variant->cmd == GTU_IOCTL_REGION_ADD ? 4 : 0));
}

DEVICE_FIXTURE(device_file);

TEST_F(device_file, unknown_ioctls_are_refused)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	unsigned int nr;

	for (nr = 17; nr < 256; nr++)
		EXPECT_EQ(ENOTTY, call(self->fd, _IO(GTU_IOCTL_MAGIC, nr), &info));
	EXPECT_EQ(ENOTTY, call(self->fd, _IO(GTU_IOCTL_MAGIC + 1, 0), &info));
	EXPECT_EQ(ENOTTY, call(self->fd, _IOR(GTU_IOCTL_MAGIC, 0, info), &info));
}

TEST_F(device_file, info_matches_the_registers)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct gtu_ioctl_reg reg = { .size = sizeof(reg) };
	static const struct {
		uint32_t offset, at;
		bool wide;
	} same[] = {
		{ GTU_REG_VERSION, offsetof(struct gtu_ioctl_info, hw_version), false },
		{ GTU_REG_CAPS, offsetof(struct gtu_ioctl_info, caps), true },
		{ GTU_REG_UNITS, offsetof(struct gtu_ioctl_info, units), false },
		{ GTU_REG_EPOCH, offsetof(struct gtu_ioctl_info, epoch), false },
		{ GTU_REG_MAX_QUEUES, offsetof(struct gtu_ioctl_info, max_queues), false },
		{ GTU_REG_MAX_RING, offsetof(struct gtu_ioctl_info, max_ring_log2), false },
		{ GTU_REG_CLOCK_HZ, offsetof(struct gtu_ioctl_info, clock_hz), true },
		{ GTU_REG_APERTURE_SIZE, offsetof(struct gtu_ioctl_info, aperture_bytes), true },
		{ GTU_REG_FDT_LENGTH, offsetof(struct gtu_ioctl_info, fdt_bytes), false },
		{ GTU_REG_FDT_CRC, offsetof(struct gtu_ioctl_info, fdt_crc), false },
	};
	unsigned int i;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	EXPECT_EQ(GTU_UAPI_VERSION, info.uapi_version);
	EXPECT_LT(0, info.vectors);
	for (i = 0; i < sizeof(same) / sizeof(*same); i++) {
		const void *p = (char *)&info + same[i].at;

		reg.offset = same[i].offset;
		ASSERT_EQ(0, call(self->fd, GTU_IOCTL_REG_READ, &reg));
		EXPECT_EQ(reg.value, same[i].wide ? *(uint64_t *)p : *(uint32_t *)p) {
			TH_LOG("register 0x%x", reg.offset);
		}
	}
}

/* Whether the PEG's page has a control register of an engine at @in_page. */
static bool engine_register(uint32_t in_page, uint64_t engines)
{
	const uint32_t at = (in_page - GTU_PEG_REG(0)) % (GTU_PEG_REG(1) - GTU_PEG_REG(0));

	return in_page >= GTU_PEG_REG(0) && in_page < GTU_PEG_REG(engines) &&
	       (at == GTU_PEG_R_EFS || at == GTU_PEG_R_BC || at == GTU_PEG_R_BS || at == GTU_PEG_R_BW0 ||
		at == GTU_PEG_R_BW1 || at == GTU_PEG_R_BW2);
}

/*
 * Try all offsets in BAR0: only the registers that the header lists are readable, and only unit
 * controls and settings are writable.
 */
TEST_F(device_file, only_listed_registers_are_accessible)
{
	struct gtu_ioctl_reg reg = { .size = sizeof(reg) };
	uint32_t offset, readable = 0;
	uint64_t engines;
	bool writable;
	int ret;

	reg.offset = GTU_PAGE_PEG + GTU_UREG_PARAM(GTU_PEG_P_ENGINES);
	engines = call(self->fd, GTU_IOCTL_REG_READ, &reg) ? 0 : reg.value;
	for (offset = 0; offset < GTU_BAR_REGS_SIZE + 64; offset += offset < 0x6000 ? 1 : 61) {
		const uint32_t in_page = offset % GTU_PAGE, page = offset / GTU_PAGE;

		reg.offset = offset;
		ret = call(self->fd, GTU_IOCTL_REG_READ, &reg);
		ASSERT_TRUE(ret == 0 || ret == EINVAL) {
			TH_LOG("read 0x%x: %d", offset, ret);
		}
		readable += !ret;
		if (in_page >= GTU_UREG_OWN && page <= 5) {
			EXPECT_EQ(page == 3 && engine_register(in_page, engines) ? 0 : EINVAL, ret) {
				TH_LOG("read 0x%x", offset);
			}
		}
		if (offset % 4 || page > 5 || (page == 0 && offset >= GTU_REG_MBOX_ARG(0)) ||
		    offset == GTU_REG_SCRATCH || offset == GTU_REG_ERROR ||
		    offset == GTU_REG_RESET) {
			EXPECT_EQ(EINVAL, ret) {
				TH_LOG("read 0x%x", offset);
			}
		}
		writable = in_page == GTU_UREG_CTRL ||
			   (in_page >= GTU_UREG_SET(0) && in_page < GTU_UREG_SET(GTU_UREG_SETS) &&
			    !(in_page % 4));
		if (page && page <= 5 && writable)
			continue;
		reg.value = 0;
		EXPECT_EQ(EINVAL, call(self->fd, GTU_IOCTL_REG_WRITE, &reg)) {
			TH_LOG("write 0x%x", offset);
		}
	}
	EXPECT_LT(64, readable);
	reg.offset = 0xfffffffcu;
	EXPECT_EQ(EINVAL, call(self->fd, GTU_IOCTL_REG_READ, &reg));
	EXPECT_EQ(EINVAL, call(self->fd, GTU_IOCTL_REG_WRITE, &reg));
}

TEST_F(device_file, settings_can_be_written_and_read_back)
{
	struct gtu_ioctl_reg reg = {.size = sizeof(reg), .offset = GTU_PAGE_ZCM + GTU_UREG_SET(0)};

	reg.value = 1;
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_REG_WRITE, &reg));
	reg.value = 77;
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_REG_READ, &reg));
	EXPECT_EQ(1, reg.value);
	reg.value = UINT32_MAX;
	EXPECT_EQ(0, call(self->fd, GTU_IOCTL_REG_WRITE, &reg));
	reg.value = 0;
	EXPECT_EQ(0, call(self->fd, GTU_IOCTL_REG_WRITE, &reg));
	reg.value = 1ull << 32;
	EXPECT_EQ(EINVAL, call(self->fd, GTU_IOCTL_REG_WRITE, &reg));
	reg.offset = GTU_PAGE_ZCM + GTU_UREG_CTRL;
	reg.value = 4;
	EXPECT_EQ(EINVAL, call(self->fd, GTU_IOCTL_REG_WRITE, &reg));
}

/*
 * Open as many contexts as the device has, then get ENOSPC; after close() all can be opened again.
 */
TEST_F(device_file, every_context_can_be_opened_again_after_close)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	unsigned int i, n, round;
	int *fd;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	fd = calloc(info.max_contexts, sizeof(*fd));
	for (round = 0; round < 2; round++) {
		for (n = 0; n < info.max_contexts; n++) {
			fd[n] = open(device_path(), O_RDWR);
			if (fd[n] < 0)
				break;
		}
		EXPECT_EQ(ENOSPC, errno);
		/* other processes may use some contexts */
		EXPECT_LE(n, info.max_contexts - 1);
		EXPECT_GE(n, info.max_contexts / 2);
		for (i = 0; i < n; i++)
			close(fd[i]);
	}
	free(fd);
}

/* A file keeps its inode no longer than it is open: the file system of the node can be unmounted. */
TEST_F(device_file, a_closed_file_releases_the_inode_of_its_node)
{
	int log = kernel_log(), fd;
	char folder[] = "/tmp/gtu-XXXXXX", node[64];
	struct stat st;
	uint32_t key;

	NEEDS_ROOT;
	if (log < 0)
		SKIP(return, "needs to read the kernel's log");
	ASSERT_EQ(0, fstat(self->fd, &st));
	ASSERT_NE(NULL, mkdtemp(folder));
	ASSERT_EQ(0, mount("none", folder, "tmpfs", 0, ""));
	snprintf(node, sizeof(node), "%s/node", folder);
	ASSERT_EQ(0, mknod(node, S_IFCHR | 0600, st.st_rdev));
	fd = open(node, O_RDWR);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, region_add(fd, pages(4096), 4096, RW, &key));
	EXPECT_EQ(-1, umount(folder));
	EXPECT_EQ(EBUSY, errno);
	close(fd);
	EXPECT_EQ(0, umount(folder));
	EXPECT_EQ(0u, logged(log, "Busy inodes after unmount"));
	rmdir(folder);
	close(log);
}

TEST_HARNESS_MAIN
