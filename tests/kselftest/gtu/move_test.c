// SPDX-License-Identifier: MIT
/*
 * Tests regions of dma-bufs that move, of the exporter in tests/guest/programs/moving: keys stay,
 * jobs see the memory at its new place or fail with GTU_CPL_KEY, and never use the old place.
 *
 * Tests dma-bufs of aperture memory with another PCI function as importer, by the module in
 * tests/guest/programs/peer. The kernel needs CONFIG_PCI_P2PDMA, and the host bridge a peer-to-peer
 * path: on x86 an AMD processor of family 23 or later. GTU_SECOND names a second device [/dev/gtu1],
 * which is the importer.
 */
#include <inttypes.h>

#include "gtu_util.h"

#define MOVING_CREATE	_IO(0xE8, 1)
#define MOVING_MOVE	_IO(0xE8, 2)
#define MOVING_WORD	_IO(0xE8, 3)
#define PAGES		64u
#define BYTES		(PAGES * PAGE)
#define PATTERN		0x1234567800000000ull

struct moving_word {
	int32_t fd;
	uint32_t write;
	uint64_t offset, value;
};

FIXTURE(move)
{
	int fd, exporter, buffer;
	struct queue q;
	uint32_t key, out_key;
	uint64_t length, *out;
};

static int move(int exporter, int buffer)
{
	struct moving_word w = { .fd = buffer };
	int ret = call(exporter, MOVING_MOVE, &w);

	/* the exporter counts its moves */
	return ret ?: !w.value;
}

static uint64_t word(int exporter, int buffer, uint64_t offset)
{
	struct moving_word w = { .fd = buffer, .offset = offset };

	return call(exporter, MOVING_WORD, &w) ? ~0ull : w.value;
}

FIXTURE_SETUP(move)
{
	struct moving_word w = { .write = 1 };

	OPEN_OR_SKIP(self->fd);
	NEEDS(GTU_CAP_REGIONS);
	self->exporter = open("/dev/gtu_moving", O_RDWR | O_CLOEXEC);
	if (self->exporter < 0)
		SKIP(return, "no /dev/gtu_moving: needs root and tests/guest/programs/moving");
	self->buffer = ioctl(self->exporter, MOVING_CREATE, PAGES);
	ASSERT_LE(0, self->buffer);
	for (w.fd = self->buffer; w.offset < BYTES; w.offset += 8) {
		w.value = PATTERN + w.offset;
		ASSERT_EQ(0, call(self->exporter, MOVING_WORD, &w));
	}
	self->out = pages(BYTES);
	ASSERT_EQ(0, region_add(self->fd, self->out, BYTES, RW, &self->out_key));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &self->q));
	ASSERT_EQ(0, import(self->fd, self->buffer, RW, &self->key, &self->length));
	ASSERT_EQ(BYTES, self->length);
}

NO_TEARDOWN(move);

/* Copy the buffer to user memory. Return the job's status. */
static int copy_out(struct queue *q, uint32_t key, uint32_t out_key)
{
	return run_copy(q, key, 0, out_key, 0, BYTES / 8, 3);
}

/* The same, until the memory has been mapped again after a move, for 5 s at most. */
static int copy_out_later(struct queue *q, uint32_t key, uint32_t out_key)
{
	const uint64_t end = now_ns() + 5 * SECOND;
	int status;

	do {
		status = copy_out(q, key, out_key);
		if (status == GTU_CPL_KEY)
			usleep(1000);
	} while (status == GTU_CPL_KEY && now_ns() < end);
	return status;
}

static bool is_pattern(const uint64_t *p)
{
	uint64_t i;

	for (i = 0; i < BYTES / 8; i++)
		if (p[i] != PATTERN + i * 8)
			return false;
	return true;
}

TEST_F(move, a_region_follows_a_dmabuf_that_moves)
{
	int log = kernel_log();
	uint32_t i;

	ASSERT_EQ(GTU_CPL_OK, copy_out(&self->q, self->key, self->out_key));
	EXPECT_TRUE(is_pattern(self->out));
	for (i = 0; i < 5; i++) {
		memset(self->out, 0, BYTES);
		ASSERT_EQ(0, move(self->exporter, self->buffer));
		ASSERT_EQ(GTU_CPL_OK, copy_out_later(&self->q, self->key, self->out_key));
		ASSERT_TRUE(is_pattern(self->out));
	}
	/* the device writes to the new place */
	self->out[0] = 42 + i;
	ASSERT_EQ(GTU_CPL_OK, run_copy(&self->q, self->out_key, 0, self->key, 8 * PAGE, 1, 3));
	EXPECT_EQ(42u + i, word(self->exporter, self->buffer, 8 * PAGE));
	ASSERT_EQ(0, region_remove(self->fd, self->key));
	EXPECT_EQ(0, move(self->exporter, self->buffer));
	EXPECT_EQ(GTU_CPL_KEY, copy_out(&self->q, self->key, self->out_key));
	if (log >= 0) {
		EXPECT_EQ(0u, logged(log, "cannot map a dma-buf after its move"));
	}
}

/* A failure to map it, for lack of memory, is not for ever. */
TEST_F(move, a_failed_mapping_of_moved_memory_is_retried)
{
	ASSERT_EQ(0, write_to("/sys/module/gtu_moving_exporter/parameters/failures", "2"));
	ASSERT_EQ(0, move(self->exporter, self->buffer));
	EXPECT_EQ(GTU_CPL_OK, copy_out_later(&self->q, self->key, self->out_key));
	EXPECT_TRUE(is_pattern(self->out));
}

TEST_F(move, two_contexts_can_map_memory_that_moves)
{
	int other = open(device_path(), O_RDWR | O_CLOEXEC);
	uint32_t key, out_key;
	uint64_t length;
	struct queue q;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, queue_create(other, 4, 4, &q));
	ASSERT_EQ(0, region_add(other, self->out, BYTES, RW, &out_key));
	ASSERT_EQ(0, import(other, self->buffer, RW, &key, &length));
	EXPECT_EQ(GTU_CPL_OK, copy_out(&q, key, out_key));
	EXPECT_TRUE(is_pattern(self->out));
	ASSERT_EQ(0, move(self->exporter, self->buffer));
	EXPECT_EQ(GTU_CPL_OK, copy_out_later(&self->q, self->key, self->out_key));
	memset(self->out, 0, BYTES);
	EXPECT_EQ(GTU_CPL_OK, copy_out_later(&q, key, out_key));
	EXPECT_TRUE(is_pattern(self->out));
	close(other);
	EXPECT_EQ(GTU_CPL_OK, copy_out(&self->q, self->key, self->out_key));
}

/* A break within a page cannot be described to the device. */
TEST_F(move, a_break_within_a_page_cannot_be_imported)
{
	int odd = ioctl(self->exporter, MOVING_CREATE, PAGES | 1u << 31);
	uint64_t length;
	uint32_t key;

	ASSERT_LE(0, odd);
	EXPECT_EQ(EOPNOTSUPP, import(self->fd, odd, RW, &key, &length));
	close(odd);
}

struct mover {
	int exporter, buffer;
	volatile bool stop;
	unsigned int pause_us, moves, failed;
};

static void *move_repeatedly(void *arg)
{
	struct mover *m = arg;

	while (!m->stop) {
		m->failed += !!move(m->exporter, m->buffer);
		m->moves++;
		if (m->pause_us)
			usleep(m->pause_us);
	}
	return NULL;
}

TEST_F_TIMEOUT(move, jobs_beside_moves_see_the_memory_or_fail, 60)
{
	struct mover m = { .exporter = self->exporter, .buffer = self->buffer, .pause_us = 3000 };
	const uint64_t end = now_ns() + 3 * SECOND;
	unsigned int ok = 0, refused = 0;
	pthread_t thread;
	int status;

	pthread_create(&thread, NULL, move_repeatedly, &m);
	while (now_ns() < end) {
		memset(self->out, 0, BYTES);
		status = copy_out(&self->q, self->key, self->out_key);
		ASSERT_TRUE(status == GTU_CPL_OK || status == GTU_CPL_KEY);
		if (status == GTU_CPL_OK)
			ASSERT_TRUE(is_pattern(self->out));
		ok += status == GTU_CPL_OK;
		refused += status == GTU_CPL_KEY;
	}
	m.stop = true;
	pthread_join(thread, NULL);
	TH_LOG("%u moves, %u jobs, %u of them during a move", m.moves, ok + refused, refused);
	EXPECT_EQ(0u, m.failed);
	EXPECT_LT(0u, m.moves);
	EXPECT_LT(0u, ok);
	EXPECT_EQ(GTU_CPL_OK, copy_out_later(&self->q, self->key, self->out_key));
	EXPECT_TRUE(is_pattern(self->out));
}

/* Memory that moves while the device is suspended is mapped again when it resumes. A queue in error stays in error. */
TEST_F_TIMEOUT(move, memory_that_moves_during_sleep_is_mapped_again, 60)
{
	struct moving_word w = { .fd = self->buffer, .write = 1 };
	struct queue wrong;

	/* "devices" does not reach the phase in which the exporter moves it */
	if (write_to("/sys/power/pm_test", "platform"))
		SKIP(return, "the kernel has no CONFIG_PM_SLEEP_DEBUG");
	write_to("/sys/module/suspend/parameters/pm_test_delay", "0");
	ASSERT_EQ(0, queue_create(self->fd, 2, 2, &wrong));
	doorbell(&wrong, 1000, 0);
	EXPECT_EQ(EIO, queue_wait(&wrong, 0, now_ns() + 10 * SECOND));
	ASSERT_EQ(0, call(self->exporter, MOVING_MOVE, &w));
	ASSERT_EQ(0, write_to("/sys/power/state", "mem"));
	write_to("/sys/power/pm_test", "none");
	EXPECT_EQ(GTU_QUEUE_E_TAIL, queue_state(&wrong));
	EXPECT_EQ(GTU_CPL_OK, copy_out_later(&self->q, self->key, self->out_key));
	EXPECT_TRUE(is_pattern(self->out));
	w.write = 0;
	ASSERT_EQ(0, call(self->exporter, MOVING_MOVE, &w));
	EXPECT_EQ(2u, w.value);
}

/* Add and remove regions, and close contexts, for @seconds while the memory moves without a pause. */
static void import_beside_moves(struct __test_metadata *const _metadata, FIXTURE_DATA(move) *self, unsigned int seconds)
{
	struct mover m = { .exporter = self->exporter, .buffer = self->buffer };
	const uint64_t end = now_ns() + seconds * SECOND;
	unsigned int rounds = 0;
	pthread_t thread;
	uint64_t length;
	uint32_t key;
	int fd;

	pthread_create(&thread, NULL, move_repeatedly, &m);
	for (; now_ns() < end; rounds++) {
		fd = open(device_path(), O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, import(fd, self->buffer, RW, &key, &length));
		if (rounds % 2)
			ASSERT_EQ(0, region_remove(fd, key));
		close(fd);
	}
	m.stop = true;
	pthread_join(thread, NULL);
	TH_LOG("%u rounds, %u moves", rounds, m.moves);
	EXPECT_LT(0u, rounds);
	EXPECT_LT(0u, m.moves);
	EXPECT_EQ(0u, m.failed);
	EXPECT_EQ(GTU_CPL_OK, copy_out_later(&self->q, self->key, self->out_key));
}

TEST_F_TIMEOUT(move, regions_can_be_removed_while_memory_moves, 60)
{
	import_beside_moves(_metadata, self, 3);
}

/* The exporter knows the attachment, and moves, before dma_buf_dynamic_attach() has returned it to the driver. */
TEST_F_TIMEOUT(move, memory_may_move_before_attach_returns, 60)
{
	const char *const parameters = "/sys/module/gtu_moving_exporter/parameters/";
	char path[128], can = 'N';
	FILE *f;

	snprintf(path, sizeof(path), "%scan_delay", parameters);
	f = fopen(path, "r");
	ASSERT_NE(NULL, f);
	can = fgetc(f);
	fclose(f);
	if (can != 'Y')
		SKIP(return, "the kernel has no kprobes, which delay the attaching");
	snprintf(path, sizeof(path), "%sattach_delay_us", parameters);
	f = fopen(path, "w");
	ASSERT_NE(NULL, f);
	setbuf(f, NULL);
	ASSERT_LT(0, fprintf(f, "3000\n"));
	import_beside_moves(_metadata, self, 1);
	rewind(f);
	ASSERT_LT(0, fprintf(f, "0\n"));
	fclose(f);
}

#define PEER_ATTACH	_IO(0xE8, 17)
#define PEER_STATE	_IO(0xE8, 18)
#define PEER_ALLOW	1
#define PEER_STATIC	2
#define PEER_READ	4
#define PEER_BYTES		(3 * 65536u)

struct peer_ioctl {
	int32_t fd;
	uint32_t flags;
	char function[32];
	uint64_t address, bytes;
	uint32_t segments, notified, mapped, reserved;
};

FIXTURE(peer)
{
	int fd, second, importer;
	struct gtu_ioctl_buffer_export e;
	uint64_t offset;
	char function[64], other[64];
};

static const char *second_path(void)
{
	return getenv("GTU_SECOND") ?: "/dev/gtu1";
}

static int export_again(int fd, uint32_t rights, struct gtu_ioctl_buffer_export *e)
{
	e->rights = rights;
	return call(fd, GTU_IOCTL_BUFFER_EXPORT, e);
}

static int attach(int importer, int fd, const char *function, uint32_t flags, struct peer_ioctl *p)
{
	*p = (struct peer_ioctl){ .fd = fd, .flags = flags };
	snprintf(p->function, sizeof(p->function), "%.31s", function);
	return call(importer, PEER_ATTACH, p);
}

FIXTURE_SETUP(peer)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct peer_ioctl p;
	int ret, probe;

	OPEN_OR_SKIP(self->fd);
	self->e = (struct gtu_ioctl_buffer_export){ .size = sizeof(self->e), .flags = O_CLOEXEC };
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	if (info.aperture_bytes < 16 * PEER_BYTES)
		SKIP(return, "the device has no aperture of at least 3 MiB");
	self->importer = open("/dev/gtu_peer", O_RDWR | O_CLOEXEC);
	if (self->importer < 0)
		SKIP(return, "no /dev/gtu_peer: needs root and tests/guest/programs/peer");
	self->second = open(second_path(), O_RDWR | O_CLOEXEC);
	if (self->second < 0)
		SKIP(return, "needs a second device: %s", second_path());
	ASSERT_EQ(0, bus_function(device_path(), self->function));
	ASSERT_EQ(0, bus_function(second_path(), self->other));
	ASSERT_EQ(0, alloc_in(self->fd, GTU_BUFFER_APERTURE, PEER_BYTES, RW, &self->e.key, &self->offset));
	ret = export_again(self->fd, RW, &self->e);
	if (ret == EOPNOTSUPP)
		SKIP(return, "the kernel has no CONFIG_PCI_P2PDMA");
	ASSERT_EQ(0, ret);
	probe = open("/dev/gtu_peer", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, probe);
	ret = attach(probe, self->e.fd, self->other, PEER_ALLOW, &p);
	close(probe);
	if (ret == EOPNOTSUPP && is_translated(self->function))
		SKIP(return, "the ports keep devices behind an IOMMU from each other (ACS)");
	ASSERT_EQ(0, ret);
}

NO_TEARDOWN(peer);

/* Address range of a function's BAR 4, the aperture. */
static int aperture_range(const char *function, uint64_t *start, uint64_t *end)
{
	char path[128], line[128];
	unsigned int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource", function);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f) && n++ < 4)
		;
	if (f)
		fclose(f);
	return n == 5 && sscanf(line, "%" SCNx64 " %" SCNx64, start, end) == 2 ? 0 : -1;
}

TEST_F(peer, only_peer_to_peer_importers_get_the_bus_address)
{
	uint64_t start, end;
	struct peer_ioctl p;
	uint32_t *mine, i;
	char path[128];
	char *bar;
	int fd;

	EXPECT_EQ(EOPNOTSUPP, attach(self->importer, self->e.fd, self->other, PEER_STATIC, &p));
	EXPECT_EQ(EOPNOTSUPP, attach(self->importer, self->e.fd, self->other, 0, &p));
	EXPECT_EQ(EOPNOTSUPP, attach(self->importer, self->e.fd, self->function, PEER_ALLOW, &p));
	ASSERT_EQ(0, attach(self->importer, self->e.fd, self->other, PEER_ALLOW, &p));
	ASSERT_EQ(0, aperture_range(self->function, &start, &end));
	EXPECT_EQ(1u, p.mapped);
	EXPECT_EQ(1u, p.segments);
	EXPECT_EQ(PEER_BYTES, p.bytes);
	ASSERT_LE(start, p.address);
	ASSERT_GE(end + 1, p.address + PEER_BYTES);
	/* it is the memory of the region */
	mine = map_shared(self->fd, self->offset, PEER_BYTES);
	ASSERT_NE(MAP_FAILED, (void *)mine);
	for (i = 0; i < PEER_BYTES / 4; i += 1024)
		mine[i] = 0xabcd0000u + i;
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource4", self->function);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, fd);
	bar = mmap(NULL, PEER_BYTES, PROT_READ, MAP_SHARED, fd, (off_t)(p.address - start));
	if (bar == MAP_FAILED)
		SKIP(return, "the BAR cannot be mapped beside the driver (CONFIG_IO_STRICT_DEVMEM)");
	for (i = 0; i < PEER_BYTES / 4; i += 1024)
		ASSERT_EQ(0xabcd0000u + i, ((volatile uint32_t *)bar)[i]);
}

TEST_F(peer, rights_of_a_dmabuf_limit_its_importers)
{
	struct peer_ioctl p;
	void *at;

	ASSERT_EQ(0, export_again(self->fd, GTU_RIGHT_READ, &self->e));
	EXPECT_EQ(EACCES, attach(self->importer, self->e.fd, self->other, PEER_ALLOW, &p));
	EXPECT_EQ(0, attach(self->importer, self->e.fd, self->other, PEER_ALLOW | PEER_READ, &p));
	/* CPUs map the region, not the dma-buf */
	at = mmap(NULL, PEER_BYTES, PROT_READ, MAP_SHARED, self->e.fd, 0);
	EXPECT_EQ(MAP_FAILED, at);
}

/* The memory stays allocated as long as the dma-buf: after its region, and after its context. */
TEST_F(peer, a_dmabuf_keeps_memory_after_its_context_ends)
{
	struct gtu_ioctl_buffer_export e = { .size = sizeof(e), .rights = RW };
	struct peer_ioctl p, q;
	uint64_t offset;
	int other;

	ASSERT_EQ(0, attach(self->importer, self->e.fd, self->other, PEER_ALLOW, &p));
	ASSERT_EQ(0, region_remove(self->fd, self->e.key));
	close(self->fd);
	self->fd = reopen();
	ASSERT_LE(0, self->fd);
	other = open("/dev/gtu_peer", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, alloc_in(self->fd, GTU_BUFFER_APERTURE, PEER_BYTES, RW, &e.key, &offset));
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_BUFFER_EXPORT, &e));
	ASSERT_EQ(0, attach(other, e.fd, self->other, PEER_ALLOW, &q));
	EXPECT_TRUE(q.address >= p.address + PEER_BYTES || q.address + PEER_BYTES <= p.address);
	close(self->e.fd);
	ASSERT_EQ(0, call(self->importer, PEER_STATE, &p));
	EXPECT_EQ(1u, p.mapped);
}

/* Importers unmap the memory before the driver leaves the device, and cannot map it afterwards. */
TEST_F_TIMEOUT(peer, importers_unmap_memory_before_removal, 60)
{
	struct peer_ioctl p;

	ASSERT_EQ(0, attach(self->importer, self->e.fd, self->other, PEER_ALLOW, &p));
	ASSERT_EQ(0, driver_file(self->function, "unbind"));
	ASSERT_EQ(0, call(self->importer, PEER_STATE, &p));
	EXPECT_EQ(0u, p.mapped);
	EXPECT_EQ(1u, p.notified);
	close(self->importer);
	self->importer = open("/dev/gtu_peer", O_RDWR | O_CLOEXEC);
	EXPECT_EQ(EOPNOTSUPP, attach(self->importer, self->e.fd, self->other, PEER_ALLOW, &p));
	close(self->e.fd);
	close(self->fd);
	ASSERT_EQ(0, driver_file(self->function, "bind"));
	self->fd = reopen();
	ASSERT_LE(0, self->fd);
}

/*
 * An importer unmaps the memory before the device stops, whatever stops it, and maps it again
 * afterwards with its contents. It is notified twice: of the stop, and that it can map again.
 */
static void stop_and_go(struct __test_metadata *_metadata, FIXTURE_DATA(peer) *self, int stopped, bool keeps)
{
	struct peer_ioctl p;

	ASSERT_EQ(0, stopped);
	ASSERT_EQ(0, call(self->importer, PEER_STATE, &p));
	EXPECT_EQ(0u, p.mapped);
	EXPECT_EQ(2u, p.notified);
	close(self->importer);
	self->importer = open("/dev/gtu_peer", O_RDWR | O_CLOEXEC);
	EXPECT_EQ(0, attach(self->importer, self->e.fd, self->other, PEER_ALLOW, &p));
	EXPECT_EQ(1u, p.mapped);
	/* the context survives a sleep, not a reset */
	EXPECT_EQ(keeps ? 0 : ENODEV, export_again(self->fd, RW, &self->e));
}

TEST_F_TIMEOUT(peer, an_importer_maps_memory_again_after_sleep, 60)
{
	struct peer_ioctl p;

	if (write_to("/sys/power/pm_test", "devices"))
		SKIP(return, "the kernel has no CONFIG_PM_SLEEP_DEBUG");
	write_to("/sys/module/suspend/parameters/pm_test_delay", "0");
	ASSERT_EQ(0, attach(self->importer, self->e.fd, self->other, PEER_ALLOW, &p));
	stop_and_go(_metadata, self, write_to("/sys/power/state", "mem"), true);
	write_to("/sys/power/pm_test", "none");
}

TEST_F_TIMEOUT(peer, an_importer_maps_memory_again_after_a_reset, 60)
{
	struct peer_ioctl p;
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", self->function);
	if (access(path, W_OK))
		SKIP(return, "the function cannot be reset");
	ASSERT_EQ(0, attach(self->importer, self->e.fd, self->other, PEER_ALLOW, &p));
	stop_and_go(_metadata, self, write_to(path, "1"), false);
	close(self->e.fd);
	close(self->fd);
	self->fd = reopen();
	ASSERT_LE(0, self->fd);
}

/*
 * A reset of the bus prepares its functions one by one. Of two GTUs that map each other's aperture, the second
 * takes its aperture from the first, which is waiting for the reset already.
 */
TEST_F_TIMEOUT(peer, a_bus_reset_of_two_importers_does_not_deadlock, 60)
{
	const char *const reset = "/sys/module/gtu_shutdown_caller/parameters/bus";
	struct gtu_ioctl_buffer_export e = { .size = sizeof(e), .flags = O_CLOEXEC };
	uint64_t length, offset;
	unsigned int i;
	int ret = 0;
	uint32_t key;

	if (access(reset, W_OK))
		SKIP(return, "needs the module gtu_shutdown_caller (tests/guest/programs/shutdown)");
	if (strncmp(self->function, self->other, strcspn(self->function, ".") - 2))
		SKIP(return, "the devices are not on the same bus");
	ASSERT_EQ(0, alloc_in(self->second, GTU_BUFFER_APERTURE, PEER_BYTES, RW, &e.key, &offset));
	ASSERT_EQ(0, export_again(self->second, RW, &e));
	ASSERT_EQ(0, import(self->second, self->e.fd, RW, &key, &length));
	ASSERT_EQ(0, import(self->fd, e.fd, RW, &key, &length));
	if (!strncmp(self->function, "0000:00:", 8))
		SKIP(return, "both devices are on a root bus, which cannot be reset");
	/* who probes or removes a device of the bus holds its lock */
	for (i = 0; i < 100 && (ret = write_to(reset, self->function)) == EAGAIN; i++)
		usleep(50000);
	ASSERT_EQ(0, ret);
	EXPECT_EQ(ENODEV, export_again(self->fd, RW, &self->e));
	EXPECT_EQ(ENODEV, export_again(self->second, RW, &e));
	close(self->e.fd);
	close(e.fd);
	close(self->second);
	close(self->fd);
	self->fd = reopen();
	ASSERT_LE(0, self->fd);
	self->second = open(second_path(), O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->second);
	EXPECT_EQ(0, alloc_in(self->fd, GTU_BUFFER_APERTURE, PEER_BYTES, RW, &e.key, &offset));
	EXPECT_EQ(0, alloc_in(self->second, GTU_BUFFER_APERTURE, PEER_BYTES, RW, &e.key, &offset));
}

/* A second GTU is such an importer. The exporter cannot be. */
TEST_F_TIMEOUT(peer, another_gtu_can_import_the_aperture, 60)
{
	uint64_t length;
	uint32_t key;

	EXPECT_EQ(EOPNOTSUPP, import(self->fd, self->e.fd, RW, &key, &length));
	ASSERT_EQ(0, import(self->second, self->e.fd, RW, &key, &length));
	EXPECT_EQ(PEER_BYTES, length);
	EXPECT_EQ(0, region_remove(self->second, key));
	ASSERT_EQ(0, import(self->second, self->e.fd, RW, &key, &length));
	ASSERT_EQ(0, driver_file(self->function, "unbind"));
	EXPECT_EQ(0, region_remove(self->second, key));
	close(self->e.fd);
	close(self->fd);
	ASSERT_EQ(0, driver_file(self->function, "bind"));
	self->fd = reopen();
	ASSERT_LE(0, self->fd);
}

TEST_HARNESS_MAIN
