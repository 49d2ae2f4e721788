// SPDX-License-Identifier: MIT
/*
 * Tests what a context is accounted for: fdinfo's keys follow its jobs and memory and nothing else,
 * and a context that floods the device, or hangs, costs 63 others at most 20% of their throughput.
 *
 * GTU_SECONDS: how long these 64 share the device at most, if they have run enough jobs by then [10].
 */
#include <sys/stat.h>

#include "gtu_stream.h"

#define BYTES		(1u << 20)
#define CONTEXTS	64u
#define LOG2		8u
#define USER		4321

DEVICE_FIXTURE(usage);

static struct gtu_hw_desc fill(uint32_t key, uint32_t bytes)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_FILL, .param = 3, .imm = 7 };

	d.operand[1] = (struct gtu_hw_operand){ key, bytes / 8, 0 };
	return d;
}

TEST_F(usage, fdinfo_counts_jobs_and_cycles_of_a_context)
{
	const struct gtu_hw_desc wrong = { .opcode = 0xff };
	int other = open(device_path(), O_RDWR | O_CLOEXEC);
	uint64_t cycles = 0, hz, ns;
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	struct queue q;
	uint32_t key, i;

	NEEDS(GTU_CAP_CTX_COUNTERS);
	ASSERT_LE(0, other);
	EXPECT_EQ(0u, fdinfo(self->fd, "gtu-jobs"));
	EXPECT_EQ(0u, fdinfo(self->fd, "drm-cycles-gtu"));
	EXPECT_NE(fdinfo(other, "drm-client-id"), fdinfo(self->fd, "drm-client-id"));
	ASSERT_EQ(0, region_add(self->fd, pages(BYTES), BYTES, RW, &key));
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &q));
	EXPECT_EQ(1u, fdinfo(self->fd, "gtu-queues"));
	d = fill(key, BYTES);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(GTU_CPL_OK, run(&q, &d, &c));
		cycles += c.cycles;
	}
	ASSERT_EQ(GTU_CPL_OPCODE, run(&q, &wrong, &c));
	cycles += c.cycles;
	usleep(50000);		/* the values are up to 20 ms old */
	EXPECT_EQ(21u, fdinfo(self->fd, "gtu-jobs"));
	EXPECT_EQ(1u, fdinfo(self->fd, "gtu-jobs-failed"));
	EXPECT_EQ(cycles, fdinfo(self->fd, "drm-cycles-gtu"));
	hz = fdinfo(self->fd, "drm-maxfreq-gtu");
	ns = fdinfo(self->fd, "drm-engine-gtu");
	ASSERT_LT(0u, hz);
	EXPECT_EQ(cycles * SECOND / hz, ns);
	/* not another context's, and not lost with the queue */
	EXPECT_EQ(0u, fdinfo(other, "gtu-jobs"));
	ASSERT_EQ(0, queue_call(&q, GTU_IOCTL_QUEUE_DESTROY));
	usleep(50000);
	EXPECT_EQ(cycles, fdinfo(self->fd, "drm-cycles-gtu"));
	EXPECT_EQ(0u, fdinfo(self->fd, "gtu-queues"));
}

TEST_F(usage, fdinfo_names_the_device_and_its_bus_function)
{
	char path[128], text[2048], function[64], what[128];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", self->fd);
	ASSERT_LT(0, read_from(path, text, sizeof(text)));
	snprintf(what, sizeof(what), "drm-driver:\tgtu\n");
	EXPECT_NE(NULL, strstr(text, what));
	snprintf(what, sizeof(what), "gtu-device:\t%s\n", device_name());
	EXPECT_NE(NULL, strstr(text, what));
	EXPECT_NE(NULL, strstr(text, "gtu-context:\t"));
	ASSERT_EQ(0, bus_function(device_path(), function));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", function);
	snprintf(what, sizeof(what), "drm-pdev:\t%s\n", function);
	EXPECT_EQ(!access(path, F_OK), !!strstr(text, what));
}

TEST_F(usage, fdinfo_counts_memory_and_aperture)
{
	uint32_t pinned, buffer, aperture;
	uint64_t offset;

	EXPECT_EQ(0u, fdinfo(self->fd, "drm-total-memory"));
	ASSERT_EQ(0, region_add(self->fd, pages(BYTES), BYTES, RW, &pinned));
	ASSERT_EQ(0, buffer_alloc(self->fd, 3 * PAGE, &buffer, &offset));
	EXPECT_EQ(1024u + 12u, fdinfo(self->fd, "drm-total-memory"));
	EXPECT_EQ(1024u + 12u, fdinfo(self->fd, "drm-resident-memory"));
	ASSERT_EQ(0, region_remove(self->fd, pinned));
	EXPECT_EQ(12u, fdinfo(self->fd, "drm-total-memory"));
	ASSERT_EQ(0, region_remove(self->fd, buffer));
	EXPECT_EQ(0u, fdinfo(self->fd, "drm-total-memory"));
	if (alloc_in(self->fd, GTU_BUFFER_APERTURE, 2 * PAGE, RW, &aperture, &offset))
		SKIP(return, "no aperture");
	EXPECT_EQ(8u, fdinfo(self->fd, "drm-total-aperture"));
	EXPECT_EQ(8u, fdinfo(self->fd, "drm-resident-aperture"));
	EXPECT_EQ(0u, fdinfo(self->fd, "drm-total-memory"));
	ASSERT_EQ(0, region_remove(self->fd, aperture));
	EXPECT_EQ(0u, fdinfo(self->fd, "drm-total-aperture"));
}

TEST_F(usage, a_dead_context_keeps_its_last_values)
{
	struct gtu_hw_desc nop = { .opcode = GTU_OP_NOP };
	struct gtu_hw_cpl c;
	struct queue q;
	char path[128];

	NEEDS_ROOT;
	NEEDS(GTU_CAP_CTX_COUNTERS);
	NEEDS_RESET(path);
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &q));
	ASSERT_EQ(GTU_CPL_OK, run(&q, &nop, &c));
	usleep(50000);
	EXPECT_EQ(1u, fdinfo(self->fd, "gtu-jobs"));
	ASSERT_EQ(0, write_to(path, "1"));
	EXPECT_EQ(1u, fdinfo(self->fd, "gtu-jobs"));
	EXPECT_EQ(ENODEV, region_remove(self->fd, 0));
}

struct worker {
	int fd;
	struct queue q[32];
	uint32_t key, queues;
	uint64_t cycles, all;		/* of the context and of the device, between two looks */
};

/* A stream of 16384 indices into a ring at offset 0 of @memory, in which all its records fit. */
static struct gtu_hw_desc stream(uint8_t *memory, uint32_t key)
{
	struct gtu_hw_desc d = stream_job(memory, key);
	struct gtu_hw_operand *indices = &d.operand[GTU_IRU_INDICES];
	uint32_t i;

	indices->count = 16384;
	indices->offset = BYTES / 2;
	for (i = 0; i < indices->count; i++)
		((uint32_t *)(memory + indices->offset))[i] = i * 7 % indices->count;
	d.operand[GTU_IRU_RING].count = 2048;
	return d;
}

/* Jobs of 64 contexts, of which one has 32 queues. */
enum load {
	FLOOD,		/* FILL */
	HANG,		/* FILL; of the one, streams that wait for a consumer */
	HANG_UNIT,	/* streams that need no consumer; of the one, streams that wait for one */
};

static int worker_start(struct worker *w, uint32_t queues, bool streams)
{
	uint8_t *memory = pages(BYTES);
	struct gtu_hw_desc d;
	uint32_t i;
	int ret;

	w->fd = open(device_path(), O_RDWR | O_CLOEXEC);
	w->queues = queues;
	ret = w->fd < 0 ? errno : region_add(w->fd, memory, BYTES, RW, &w->key);
	for (i = 0; i < queues && !ret; i++) {
		ret = queue_create(w->fd, LOG2, LOG2, &w->q[i]);
		d = streams ? stream(memory, w->key) : fill(w->key, BYTES);
		while (!ret && w->q[i].submitted < 1u << LOG2)
			put(&w->q[i], &d);
	}
	return ret;
}

/* Replace the jobs of queue @i of @w by streams without a consumer. */
static int hang_queue(struct worker *w, uint32_t i)
{
	uint8_t *memory = pages(BYTES);
	struct gtu_hw_desc d;
	uint32_t key, n;
	int ret = region_add(w->fd, memory, BYTES, RW, &key);

	d = stream_job(memory, key);
	for (n = 0; n < 1u << LOG2 && !ret; n++)
		w->q[i].sq[n] = d;
	return ret;
}

/*
 * Wait until the first queue of one of the others has fetched @most jobs, or @least if that takes more
 * than GTU_SECONDS: behind an emulated IOMMU, a job takes much longer. Return false after 60 s.
 */
static bool one_reaches(const struct worker *w, uint32_t least, uint32_t most)
{
	const uint64_t start = now_ns(), enough = setting("GTU_SECONDS", 10) * SECOND;
	uint32_t n;

	while (now_ns() - start < 60 * SECOND) {
		for (n = 1; n < CONTEXTS; n++)
			if (__atomic_load_n(&w[n].q[0].status->sq_head, __ATOMIC_RELAXED) >= most)
				return true;
		if (now_ns() - start > enough)
			most = least;
		usleep(5000);
	}
	return false;
}

/* Look at the cycles of each context, and at those of the device at that moment. */
static void look(struct worker *w)
{
	uint32_t n;

	for (n = 0; n < CONTEXTS; n++) {
		w[n].all = reg_read(w[n].fd, GTU_REG_CYCLES) - w[n].all;
		w[n].cycles = fdinfo(w[n].fd, "drm-cycles-gtu") - w[n].cycles;
	}
}

/* Percent of a fair share. */
static uint32_t part(const struct worker *w)
{
	return (uint32_t)(100 * w->cycles * CONTEXTS / w->all);
}

/* All contexts always have work. One has 32 full queues, the others one each. */
static void load_by_64(struct __test_metadata *_metadata, enum load load)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	struct worker *w = calloc(CONTEXTS, sizeof(*w));
	uint32_t n, i, epoch = 0, stalled = 0, least = UINT32_MAX;

	for (n = 0; n < CONTEXTS; n++) {
		ASSERT_EQ(0, worker_start(&w[n], n ? 1 : 32, load == HANG_UNIT));
		ASSERT_EQ(0, call(w[n].fd, GTU_IOCTL_INFO, &info));
		ASSERT_TRUE(!n || epoch == info.epoch);
		epoch = info.epoch;
	}
	for (i = 0; load != FLOOD && i < w[0].queues; i++)
		ASSERT_EQ(0, hang_queue(&w[0], i));
	for (n = 0; n < CONTEXTS; n++)
		for (i = 0; i < w[n].queues; i++)
			doorbell(&w[n].q[i], w[n].q[i].submitted, 0);
	ASSERT_TRUE(one_reaches(w, 1u << (LOG2 - 4), 1u << (LOG2 - 4)));
	look(w);
	ASSERT_TRUE(one_reaches(w, 1u << (LOG2 - 3), 3u << (LOG2 - 2)));
	look(w);
	for (n = 0; n < CONTEXTS; n++) {
		ASSERT_GT(w[n].q[0].submitted, w[n].q[0].status->sq_head) {
			TH_LOG("context %u has no work left", n);
		}
		/* no context was reset */
		ASSERT_EQ(0, call(w[n].fd, GTU_IOCTL_INFO, &info));
		ASSERT_EQ(epoch, info.epoch);
		if (n && part(&w[n]) < least)
			least = part(&w[n]);
	}
	TH_LOG("of 64 contexts, one that %s has %u%% of a fair share of the cycles, and each other at least %u%%",
	       load == FLOOD ? "floods the device" : load == HANG ? "hangs" : "hangs in the unit that all use",
	       part(&w[0]), least);
	EXPECT_LE(80u, least);
	/* the first stalled stream keeps the unit for more cycles than all jobs of another context take */
	for (i = 0; i < w[0].queues; i++)
		stalled += w[0].q[i].status->cq_tail;
	if (load == HANG_UNIT)
		EXPECT_GE(1u, stalled);
	for (n = 0; n < CONTEXTS; n++)
		close(w[n].fd);
	free(w);
}

TEST_F_TIMEOUT(usage, a_flood_costs_others_little, 120)
{
	NEEDS_ROOT;
	NEEDS(GTU_CAP_CTX_COUNTERS);
	load_by_64(_metadata, FLOOD);
}

static void hang_by_64(struct __test_metadata *_metadata, FIXTURE_DATA(usage) *self, enum load load)
{
	NEEDS_ROOT;
	NEEDS(GTU_CAP_CTX_COUNTERS);
	NEEDS_UNIT(IRU);
	load_by_64(_metadata, load);
}

TEST_F_TIMEOUT(usage, a_hang_costs_others_little, 120)
{
	hang_by_64(_metadata, self, HANG);
}

TEST_F_TIMEOUT(usage, a_hang_costs_other_users_of_the_unit_little, 120)
{
	hang_by_64(_metadata, self, HANG_UNIT);
}

/* Open the device as user @uid; root may open it as another user. */
static int open_as(uid_t uid)
{
	struct stat st;
	int fd;

	if (uid == geteuid())
		return open(device_path(), O_RDWR | O_CLOEXEC);
	if (stat(device_path(), &st) || chmod(device_path(), 0666) || seteuid(uid))
		return -1;
	fd = open(device_path(), O_RDWR | O_CLOEXEC);
	if (seteuid(0) || chmod(device_path(), st.st_mode & 07777))
		return -1;
	return fd;
}

/*
 * Open a context of user @uid with @streams that need a consumer, in one queue. Return the ring of
 * all.
 */
static const volatile struct gtu_hw_ring *hang_open(struct worker *w, uid_t uid, uint32_t streams)
{
	uint8_t *memory = pages(BYTES);
	struct gtu_hw_desc d;

	w->fd = open_as(uid);
	if (w->fd < 0 || region_add(w->fd, memory, BYTES, RW, &w->key) ||
	    queue_create(w->fd, LOG2, LOG2, &w->q[0]))
		return NULL;
	d = stream_job(memory, w->key);
	while (w->q[0].submitted < streams)
		put(&w->q[0], &d);
	return (void *)memory;
}

/* Submit them. Return false if the first one does not wait for its consumer within 60 s. */
static bool hang(struct worker *w, const volatile struct gtu_hw_ring *ring)
{
	const uint64_t start = now_ns();

	doorbell(&w->q[0], w->q[0].submitted, 0);
	while (!ring->waiting && now_ns() - start < 60 * SECOND)
		usleep(1000);
	return ring->waiting;
}

static uint64_t started(const struct worker *w)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < w->queues; i++)
		n += __atomic_load_n(&w->q[i].status->sq_head, __ATOMIC_RELAXED);
	return n;
}

/*
 * Between two streams, this user does not wait for the unit. It is kept free for him for 2^24 cycles:
 * he may be interrupted for longer.
 */
TEST_F_TIMEOUT(usage, a_hang_costs_a_user_of_one_stream_at_a_time_little, 120)
{
	const volatile struct gtu_hw_ring *ring;
	struct worker hog = { 0 };
	uint8_t *memory = pages(BYTES);
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	struct queue q;
	uint64_t ended = 0;
	uint32_t key, late = 0;
	int i;

	NEEDS_UNIT(IRU);
	ASSERT_EQ(0, region_add(self->fd, memory, BYTES, RW, &key));
	ASSERT_EQ(0, queue_create(self->fd, 1, 1, &q));
	d = stream(memory, key);
	ring = hang_open(&hog, geteuid(), 1u << LOG2);
	ASSERT_NE(NULL, ring);
	ASSERT_TRUE(hang(&hog, ring));
	for (i = 0; i < 24; i++) {
		submit(&q, &d);
		late += i && now_ns() - ended > SECOND / 200;
		ASSERT_EQ(0, take(&q, &c));
		ASSERT_EQ(GTU_CPL_OK, c.status);
		ended = now_ns();
	}
	TH_LOG("beside a context that hangs, 24 streams, one at a time, had to wait for %u of its streams",
	       hog.q[0].status->cq_tail);
	EXPECT_GE(6u + late, hog.q[0].status->cq_tail);
	close(hog.fd);
}

/* Whoever kept the unit from another pays for it after the end of the context, too. */
TEST_F_TIMEOUT(usage, a_new_context_does_not_escape_what_its_user_owes, 120)
{
	struct worker *w = calloc(1, sizeof(*w)), hog = { 0 };
	const volatile struct gtu_hw_ring *ring;
	uint64_t before;
	uint32_t i, n;
	int other;

	NEEDS_ROOT;
	NEEDS(GTU_CAP_CTX_GROUPS);
	NEEDS_UNIT(IRU);
	ASSERT_EQ(0, worker_start(w, 32, true));
	other = open_as(USER + 1);	/* has a group that is free later */
	ASSERT_LE(0, other);
	for (n = 0; n < 2; n++) {
		ring = hang_open(&hog, USER, 1);
		ASSERT_NE(NULL, ring);
		before = started(w);
		ASSERT_TRUE(hang(&hog, ring));
		/*
		 * The other waited for 5 ms, in which it can run thousands of its 8192 streams. The device
		 * can run a hundred until it notices the doorbell.
		 */
		if (n && started(w) < w->queues << LOG2)
			EXPECT_LE(500u, started(w) - before);
		for (i = 0; !n && i < w->queues; i++)
			doorbell(&w->q[i], w->q[i].submitted, 0);
		usleep(5000);
		if (!n)
			close(other);
		queue_unmap(&hog.q[0]);	/* mappings hold the file, too */
		close(hog.fd);
	}
	close(w->fd);
	free(w);
}

TEST_F(usage, fdinfo_shows_any_counters_of_a_faulty_device)
{
	uint64_t ns;

	NEEDS_FAULT("false-counters", "6.12");
	EXPECT_EQ(UINT64_MAX, fdinfo(self->fd, "drm-cycles-gtu"));
	ns = fdinfo(self->fd, "drm-engine-gtu");
	EXPECT_LT(0u, ns);
}

TEST_HARNESS_MAIN
