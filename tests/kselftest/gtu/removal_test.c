// SPDX-License-Identifier: MIT
/*
 * Tests removal of the device while files are open: the driver is unbound or the function is reset,
 * repeatedly.
 *
 * Needs root. Each test leaves the device bound and working.
 */
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "gtu_util.h"

#define BYTES	(1u << 20)

FIXTURE(removal)
{
	int fd;
	struct queue q;
	uint32_t *memory, key, *buffer, buffer_key;
	char function[64];		/* bus name of the device */
};

FIXTURE_SETUP(removal)
{
	uint64_t offset;

	NEEDS_ROOT;
	OPEN_OR_SKIP(self->fd);
	ASSERT_EQ(0, bus_function(device_path(), self->function));
	self->memory = pages(BYTES);
	ASSERT_EQ(0, region_add(self->fd, self->memory, BYTES, RW, &self->key));
	ASSERT_EQ(0, buffer_alloc(self->fd, 8192, &self->buffer_key, &offset));
	self->buffer = map_shared(self->fd, offset, 8192);
	ASSERT_NE(MAP_FAILED, (void *)self->buffer);
	ASSERT_EQ(0, queue_create(self->fd, 8, 8, &self->q));
}

NO_TEARDOWN(removal);

/* Check the behaviour of a file whose device was removed. */
static void expect_dead(struct __test_metadata *_metadata, int fd, struct queue *q)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	uint32_t key;
	char page[64] __attribute__((aligned(8)));

	EXPECT_EQ(ENODEV, call(fd, GTU_IOCTL_INFO, &info));
	EXPECT_EQ(ENODEV, region_add(fd, page, 64, RW, &key));
	EXPECT_EQ(ENODEV, queue_wait(q, 0, 0));
	EXPECT_EQ(ENODEV, queue_call(q, GTU_IOCTL_QUEUE_RESET));
	EXPECT_EQ(MAP_FAILED,
		  mmap(NULL, q->c.sq_bytes, PROT_READ, MAP_SHARED, fd, (off_t)q->c.sq_offset));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(q));
	/* the mappings stay valid but reach no device: no SIGBUS */
	memset(q->sq, 0, q->c.sq_bytes);
	doorbell(q, 1, 0);
}

/* Check that a new file of the device works. */
static void expect_alive(struct __test_metadata *_metadata)
{
	uint64_t *memory = pages(8192);
	struct queue q;
	uint32_t key;
	int fd = reopen();

	ASSERT_LE(0, fd) {
		TH_LOG("%s", strerror(errno));
	}
	memory[7] = 0x1234567;
	ASSERT_EQ(0, region_add(fd, memory, 8192, RW, &key));
	ASSERT_EQ(0, queue_create(fd, 2, 2, &q));
	ASSERT_EQ(GTU_CPL_OK, run_copy(&q, key, 0, key, 4096, 512, 3));
	EXPECT_EQ(0x1234567u, memory[512 + 7]);
	queue_unmap(&q);
	close(fd);
	munmap(memory, 8192);
}

/* A thread that keeps a queue full of jobs that write into memory, until the device is removed. */
struct load {
	struct queue *q;
	uint32_t key, jobs;
	pthread_t thread;
	struct waiter w;
};

static void *keep_busy(void *arg)
{
	struct load *l = arg;
	struct gtu_hw_desc d = { .opcode = GTU_OP_FILL, .param = 3, .imm = UINT64_MAX };
	struct gtu_hw_cpl c;

	d.operand[1] = (struct gtu_hw_operand){ l->key, BYTES / 8, 0 };
	do {
		__atomic_store_n(&l->jobs, l->q->consumed, __ATOMIC_RELAXED);
		while (l->q->submitted - l->q->consumed < 1u << l->q->c.sq_log2)
			put(l->q, &d);
		doorbell(l->q, l->q->submitted, l->q->consumed);
	} while (!take(l->q, &c));
	return NULL;
}

static void start_load(struct __test_metadata *_metadata, FIXTURE_DATA(removal) *self,
		       struct load *l)
{
	*l = (struct load){ .q = &self->q, .key = self->key };
	start_waiter(&l->w, &self->q, 1u << 30, GTU_WAIT_FOREVER);
	ASSERT_EQ(0, pthread_create(&l->thread, NULL, keep_busy, l));
	while (__atomic_load_n(&l->jobs, __ATOMIC_RELAXED) < 300)
		usleep(1000);
}

/* The load ends because of the removal, and from then on the device writes nothing. */
static void end_load(struct __test_metadata *_metadata, FIXTURE_DATA(removal) *self,
		     struct load *l)
{
	EXPECT_EQ(UINT32_MAX, self->memory[BYTES / 4 - 1]);
	memset(self->memory, 0, BYTES);
	EXPECT_EQ(ENODEV, join_waiter(&l->w));
	pthread_join(l->thread, NULL);
}

static void expect_untouched(struct __test_metadata *_metadata, FIXTURE_DATA(removal) *self)
{
	uint32_t i;

	for (i = 0; i < BYTES / 4; i++)
		ASSERT_EQ(0, self->memory[i]);
}

TEST_F_TIMEOUT(removal, unbinding_stops_running_jobs_and_unpins_memory, 60)
{
	struct load l;

	self->buffer[5] = 99;
	start_load(_metadata, self, &l);
	ASSERT_EQ(0, driver_file(self->function, "unbind"));
	/* after unbind the device no longer accesses the memory, and it is unpinned */
	EXPECT_EQ(0, status_kib("VmPin"));
	end_load(_metadata, self, &l);
	expect_dead(_metadata, self->fd, &self->q);
	EXPECT_EQ(99u, self->buffer[5]);
	EXPECT_LT(open(device_path(), O_RDWR), 0);
	ASSERT_EQ(0, driver_file(self->function, "bind"));
	expect_alive(_metadata);
	/* the old file stays dead after the device is bound again */
	expect_dead(_metadata, self->fd, &self->q);
	expect_untouched(_metadata, self);
}

/* A new file of the device works in another epoch than @epoch, and the load has ended. */
static void expect_reset(struct __test_metadata *_metadata, FIXTURE_DATA(removal) *self,
			 uint32_t epoch)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	int fd;

	expect_alive(_metadata);
	fd = open(device_path(), O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, call(fd, GTU_IOCTL_INFO, &info));
	EXPECT_NE(epoch, info.epoch);
	close(fd);
	expect_untouched(_metadata, self);
}

static volatile bool stop;

/* Use the device continuously and ignore all errors. */
static void *busy_user(void *arg)
{
	uint32_t key, *memory = pages(65536);
	struct gtu_hw_cpl c;
	struct queue q;
	int fd;

	while (!stop) {
		fd = open(device_path(), O_RDWR);
		if (fd < 0) {
			usleep(1000);
			continue;
		}
		if (!region_add(fd, memory, 65536, RW, &key) && !queue_create(fd, 3, 3, &q)) {
			struct gtu_hw_desc d = copy_job(key, 0, key, 32768, 8192, 2);
			int i;

			for (i = 0; i < 10; i++)
				if (run(&q, &d, &c))
					break;
			queue_unmap(&q);
			__atomic_add_fetch((unsigned int *)arg, (unsigned int)i, __ATOMIC_RELAXED);
		}
		close(fd);
	}
	munmap(memory, 65536);
	return NULL;
}

TEST_F_TIMEOUT(removal, repeated_unbinding_leaves_nothing_pinned, 90)
{
	pthread_t user[4];
	unsigned int i, jobs = 0;

	for (i = 0; i < 4; i++)
		pthread_create(&user[i], NULL, busy_user, &jobs);
	for (i = 0; i < 20; i++) {
		usleep(50000 + i * 3000);
		ASSERT_EQ(0, driver_file(self->function, "unbind"));
		ASSERT_EQ(0, driver_file(self->function, "bind"));
	}
	usleep(200000);
	stop = true;
	for (i = 0; i < 4; i++)
		pthread_join(user[i], NULL);
	TH_LOG("%u jobs between 20 removals", jobs);
	EXPECT_LT(20u, jobs);
	EXPECT_EQ(0, status_kib("VmPin"));
	expect_alive(_metadata);
}

/*
 * Memory served by userfaultfd, one page per call. Removing the device must not wait for such a
 * page, because any user could then block the removal forever.
 */
#define LATE	5

struct late {
	int fd, which, ret;
	uint32_t queue;
	char *at;
	pthread_t thread;
};

static void *late_call(void *arg)
{
	struct late *l = arg;
	struct gtu_ioctl_submit s = { .size = sizeof(s), .id = l->queue, .count = 1,
				      .descs = (uintptr_t)l->at };
	uint32_t key;

	switch (l->which) {
	case 0:			/* the argument of a call; with write protection, its result */
	case 4:
		l->ret = call(l->fd, GTU_IOCTL_INFO, l->at);
		break;
	case 1:
		l->ret = call(l->fd, GTU_IOCTL_SUBMIT, &s);
		break;
	case 2:
		l->ret = region_add(l->fd, l->at, 4096, RW, &key);
		break;
	case 3:			/* behind the first fields of the argument */
		l->ret = call(l->fd, GTU_IOCTL_INFO, l->at - 8);
		break;
	}
	return NULL;
}

static void *unbind_call(void *arg)
{
	struct late *l = arg;

	l->ret = driver_file(l->at, "unbind");
	__atomic_store_n(&l->which, 1, __ATOMIC_RELEASE);
	return NULL;
}

/*
 * Before Linux 6.2, long-term pins of a userfaultfd page fail with EFAULT, and a debug kernel
 * warns.
 */
static bool pins_late_memory(void)
{
	struct utsname u;
	unsigned int major = 0, minor = 0;

	return !uname(&u) && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 2));
}

TEST_F_TIMEOUT(removal, unbinding_does_not_wait_for_user_memory, 60)
{
	struct gtu_ioctl_queue_create c = { .size = sizeof(c), .flags = GTU_QUEUE_SUBMIT, .sq_log2 = 2,
					    .cq_log2 = 2 };
	const struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct uffdio_api api = { .api = UFFD_API };
	struct late late[LATE], unbind = { .at = self->function };
	int uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK), i, n = LATE;
	/* every other page is present */
	char *at = pages(2 * LATE * 4096);
	struct uffd_msg m;

	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api))
		SKIP(return, "needs userfaultfd: %s", strerror(errno));
	if (!(api.features & UFFD_FEATURE_PAGEFAULT_FLAG_WP))
		n--;
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_QUEUE_CREATE, &c));
	for (i = 0; i < n; i++) {
		char *page = at + (2 * i + 1) * 4096;
		struct uffdio_register r = { .range = { (uintptr_t)page, 4096 },
					     .mode = UFFDIO_REGISTER_MODE_MISSING };
		struct uffdio_writeprotect w = { .range = r.range,
						 .mode = UFFDIO_WRITEPROTECT_MODE_WP };
		struct pollfd p = { .fd = uffd, .events = POLLIN };

		memcpy(page - 8, &info, 8);
		if (i == 4) {
			memcpy(page, &info, sizeof(info));
			r.mode = UFFDIO_REGISTER_MODE_WP;
		}
		ASSERT_EQ(0, ioctl(uffd, UFFDIO_REGISTER, &r));
		if (i == 4)
			ASSERT_EQ(0, ioctl(uffd, UFFDIO_WRITEPROTECT, &w));
		late[i] = (struct late){ .fd = self->fd, .which = i == 2 && !pins_late_memory() ? 0 : i,
					 .queue = c.id, .at = page };
		pthread_create(&late[i].thread, NULL, late_call, &late[i]);
		poll(&p, 1, 10000);
		ASSERT_EQ((ssize_t)sizeof(m), read(uffd, &m, sizeof(m))) {
			TH_LOG("call %d did not fault on its page", i);
		}
	}
	pthread_create(&unbind.thread, NULL, unbind_call, &unbind);
	for (i = 0; i < 500 && !__atomic_load_n(&unbind.which, __ATOMIC_ACQUIRE); i++)
		usleep(10000);
	EXPECT_EQ(1, unbind.which) {
		TH_LOG("unbind did not finish within 5 s: the driver waits for user memory");
	}
	for (i = 0; i < n; i++) {
		struct uffdio_zeropage z = { .range = { (uintptr_t)late[i].at, 4096 } };
		struct uffdio_writeprotect w = { .range = z.range };

		ASSERT_EQ(0, i == 4 ? ioctl(uffd, UFFDIO_WRITEPROTECT, &w) :
				      ioctl(uffd, UFFDIO_ZEROPAGE, &z));
		pthread_join(late[i].thread, NULL);
	}
	pthread_join(unbind.thread, NULL);
	EXPECT_EQ(0, unbind.ret);
	/*
	 * a zero page has size 0, hence EINVAL; INFO of a present page (4) succeeds; other calls
	 * see no device
	 */
	for (i = 0; i < n; i++)
		EXPECT_EQ(i == 4 ? 0 : late[i].which ? ENODEV : EINVAL, late[i].ret) {
			TH_LOG("call %d", i);
		}
	EXPECT_EQ(0, status_kib("VmPin"));
	munmap(at, 2 * LATE * 4096);
	close(uffd);
	ASSERT_EQ(0, driver_file(self->function, "bind"));
	expect_alive(_metadata);
}

/* After a function reset, users must reopen the device, and need nothing else. */
TEST_F_TIMEOUT(removal, reopening_suffices_after_a_function_reset, 60)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	char path[128];
	struct load l;
	int ret;

	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	NEEDS_RESET(path);
	start_load(_metadata, self, &l);
	ret = write_to(path, "1");
	ASSERT_EQ(0, ret);
	end_load(_metadata, self, &l);
	EXPECT_EQ(ENODEV, call(self->fd, GTU_IOCTL_INFO, &info));
	EXPECT_EQ(GTU_QUEUE_DISABLED, queue_state(&self->q));
	doorbell(&self->q, 1, 0);
	expect_reset(_metadata, self, info.epoch);
	/* closing the old file frees its memory */
	queue_unmap(&self->q);
	munmap(self->buffer, 8192);
	close(self->fd);
	EXPECT_EQ(0, status_kib("VmPin"));
}

/*
 * If a reset removes the device's power, epochs restart and may repeat a context's epoch. Such a
 * context is dead nevertheless (gtu serve --fault power-loss; other devices keep counting).
 */
TEST_F_TIMEOUT(removal, a_recurring_epoch_does_not_revive_a_context, 60)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct queue q;
	char path[128];
	int fd;

	NEEDS_RESET(path);
	ASSERT_EQ(0, write_to(path, "1"));
	fd = open(device_path(), O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, call(fd, GTU_IOCTL_INFO, &info));
	ASSERT_EQ(0, queue_create(fd, 2, 2, &q));
	ASSERT_EQ(0, write_to(path, "1"));
	EXPECT_EQ(ENODEV, call(fd, GTU_IOCTL_INFO, &info)) {
		TH_LOG("a context of epoch %u survived a reset", info.epoch);
	}
	expect_dead(_metadata, fd, &q);
	queue_unmap(&q);
	close(fd);
	expect_alive(_metadata);
}

/*
 * The PCI core announces a function reset and can still fail to carry it out. The driver must not
 * rely on it: the device would still hold addresses of memory that is free.
 */
TEST_F_TIMEOUT(removal, the_driver_does_not_rely_on_a_function_reset, 60)
{
	const char *unreset = "/sys/module/gtu_shutdown_caller/parameters/unreset";
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct load l;

	if (access(unreset, W_OK) || !pci_command(self->function, 0))
		SKIP(return, "needs a PCI function and tests/guest/programs/shutdown");
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	start_load(_metadata, self, &l);
	ASSERT_EQ(0, write_to(unreset, self->function));
	end_load(_metadata, self, &l);
	expect_dead(_metadata, self->fd, &self->q);
	expect_reset(_metadata, self, info.epoch);
}

/*
 * Before a reboot or kexec the device must stop accessing memory for good: the next kernel uses
 * that memory for something else.
 */
TEST_F_TIMEOUT(removal, shutdown_stops_all_access_to_memory, 60)
{
	const char *shutdown = "/sys/module/gtu_shutdown_caller/parameters/device";
	struct gtu_ioctl_buffer_alloc a = { .size = sizeof(a), .flags = GTU_BUFFER_APERTURE,
					    .length = 4096, .rights = RW };
	const uint16_t before = pci_command(self->function, 0);
	volatile uint32_t *used = NULL, *unused = NULL;
	struct load l;

	if (access(shutdown, W_OK))
		SKIP(return, "needs the module gtu_shutdown_caller (tests/guest/programs/shutdown)");
	if (!call(self->fd, GTU_IOCTL_BUFFER_ALLOC, &a)) {
		used = map_shared(self->fd, a.mmap_offset, 4096);
		unused = map_shared(self->fd, a.mmap_offset, 4096);
		ASSERT_NE(MAP_FAILED, (void *)used);
		ASSERT_NE(MAP_FAILED, (void *)unused);
		used[7] = 0x77;
	}
	start_load(_metadata, self, &l);
	ASSERT_EQ(0, write_to(shutdown, self->function));
	end_load(_metadata, self, &l);
	if (before) {
		EXPECT_NE(0, before & PCI_MASTER);
		EXPECT_EQ(0, pci_command(self->function, 0) & PCI_MASTER);
	}
	/* the aperture cannot be reached any more: memory took its place */
	if (unused) {
		EXPECT_EQ(0, unused[7]);
		EXPECT_EQ(0, used[7]);
	}
	expect_dead(_metadata, self->fd, &self->q);
	EXPECT_EQ(-1, open(device_path(), O_RDWR));
	EXPECT_EQ(ENODEV, errno);
	expect_untouched(_metadata, self);
	ASSERT_EQ(0, driver_file(self->function, "unbind"));
	ASSERT_EQ(0, driver_file(self->function, "bind"));
	expect_alive(_metadata);
}

/* The port has given the function up after an error: the device is dead for good. */
TEST_F_TIMEOUT(removal, a_device_is_dead_after_a_permanent_bus_error, 60)
{
	const char *lost = "/sys/module/gtu_shutdown_caller/parameters/lost";
	char path[128], text[32];
	struct waiter w;

	if (access(lost, W_OK) || !pci_command(self->function, 0))
		SKIP(return, "needs a PCI function and tests/guest/programs/shutdown");
	snprintf(path, sizeof(path), "/sys/class/gtu/%s/state", device_name());
	start_waiter(&w, &self->q, 0, GTU_WAIT_FOREVER);
	ASSERT_EQ(0, write_to(lost, self->function));
	EXPECT_EQ(ENODEV, join_waiter(&w));
	expect_dead(_metadata, self->fd, &self->q);
	ASSERT_LT(0, read_from(path, text, sizeof(text)));
	EXPECT_EQ(0, strcmp("dead\n", text));
	ASSERT_EQ(0, driver_file(self->function, "unbind"));
	ASSERT_EQ(0, driver_file(self->function, "bind"));
	expect_alive(_metadata);
}

TEST_HARNESS_MAIN
