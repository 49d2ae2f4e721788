// SPDX-License-Identifier: MIT
/*
 * Tests that failing jobs write nothing outside their operands: around the regions, in read-only
 * regions, in another context, or in another process.
 */
#include "gtu_trust.h"

#define WORDS	(16u * 1024)
#define LENGTH	(WORDS * 4)

enum { SOURCE, SINK, INDEX, HIDDEN, REGIONS };
static const uint32_t rights_of[REGIONS] = { GTU_RIGHT_READ, RW, RW, GTU_RIGHT_WRITE };

struct side {
	int fd;
	struct queue q;
	struct guarded m[REGIONS];
	uint32_t key[REGIONS];
};

FIXTURE(outside)
{
	struct side a, b;
	pid_t canary;
	int ask, answer;		/* pipes to and from the canary */
};

static int side_open(struct side *s, uint32_t tag)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < REGIONS && !ret; i++) {
		/* at the end of the last page, so that the guard page follows directly */
		guarded_new(&s->m[i], LENGTH, 64 * i % 128);
		fill_pattern(s->m[i].at, LENGTH, tag + i);
		ret = region_add(s->fd, s->m[i].at, LENGTH, rights_of[i], &s->key[i]);
	}
	return ret ? ret : queue_create(s->fd, 4, 4, &s->q);
}

static bool untouched(const struct side *s, uint32_t tag)
{
	bool ok = true;
	unsigned int i;

	for (i = 0; i < REGIONS; i++)
		ok = ok && guarded_ok(&s->m[i]) && is_pattern(s->m[i].at, LENGTH, tag + i);
	return ok;
}

/*
 * A process with its own context, regions at the same slots, and memory that is in no region. For
 * each byte that it receives, it reports whether all of this memory is unchanged.
 */
static void canary(int ask, int answer)
{
	const size_t bytes = 2u << 20;
	uint8_t *memory = pages(bytes), byte;
	struct side s = { .fd = open(device_path(), O_RDWR) };

	fill_pattern(memory, bytes, 0x42);
	byte = s.fd >= 0 && !side_open(&s, 0x60);
	while (write(answer, &byte, 1) == 1 && read(ask, &byte, 1) == 1)
		byte = untouched(&s, 0x60) && is_pattern(memory, bytes, 0x42);
	_exit(0);
}

static bool canary_lives(int ask, int answer)
{
	uint8_t byte = 0;

	return write(ask, &byte, 1) == 1 && read(answer, &byte, 1) == 1 && byte;
}

FIXTURE_SETUP(outside)
{
	int there[2], back[2];
	uint8_t byte = 0;

	ASSERT_EQ(0, pipe(there));
	ASSERT_EQ(0, pipe(back));
	OPEN_OR_SKIP(self->a.fd);
	fflush(stdout);
	self->canary = fork();
	if (!self->canary) {
		close(self->a.fd);
		close(there[1]);
		close(back[0]);
		canary(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	self->ask = there[1];
	self->answer = back[0];
	ASSERT_EQ(1, read(self->answer, &byte, 1));
	ASSERT_EQ(1, byte);
	self->b.fd = open(device_path(), O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->b.fd);
	ASSERT_EQ(0, side_open(&self->a, 0x20));
	ASSERT_EQ(0, side_open(&self->b, 0x40));
}

FIXTURE_TEARDOWN(outside)
{
	if (self->canary) {
		close(self->ask);
		child_end(self->canary);
	}
}

/* Check that nothing changed except the contents of regions SINK and INDEX. */
#define NOTHING_ELSE(what)                                                                         \
	do {                                                                                       \
		unsigned int region_;                                                              \
                                                                                                   \
		for (region_ = 0; region_ < REGIONS; region_++)                                    \
			EXPECT_TRUE(guarded_ok(&self->a.m[region_])) {                             \
				TH_LOG("%s: wrote outside region %u", what, region_);              \
			}                                                                          \
		EXPECT_TRUE(is_pattern(self->a.m[SOURCE].at, LENGTH, 0x20 + SOURCE)) {             \
			TH_LOG("%s: wrote to a read-only region", what);                           \
		}                                                                                  \
		EXPECT_TRUE(untouched(&self->b, 0x40)) {                                           \
			TH_LOG("%s: wrote to another context", what);                              \
		}                                                                                  \
		EXPECT_TRUE(canary_lives(self->ask, self->answer)) {                               \
			TH_LOG("%s: wrote to another process", what);                              \
		}                                                                                  \
	} while (0)

/* Select SOURCE by INDEX into SINK; the indices and the output end at the end of their regions. */
static struct gtu_hw_desc access_job(const struct side *s, uint32_t indices, uint32_t room)
{
	struct gtu_hw_desc d = job(GTU_OP_SCU_ACCESS, SCU_WORDS | SCU_INDEX_WORDS);

	d.operand[GTU_SCU_DATA] = place(s->key[SOURCE], WORDS, 0);
	d.operand[GTU_SCU_INDEX] = place(s->key[INDEX], indices, LENGTH - 4ull * indices);
	d.operand[GTU_SCU_OUT] = place(s->key[SINK], room, LENGTH - 4ull * room);
	return d;
}

static struct gtu_hw_desc replicate_job(const struct side *s, uint32_t n, uint32_t room)
{
	struct gtu_hw_desc d = job(GTU_OP_SCU_REPLICATE, SCU_WORDS | SCU_COUNT_WORDS);

	d.operand[GTU_SCU_DATA] = place(s->key[SOURCE], n, LENGTH - 4ull * n);
	d.operand[GTU_SCU_COUNT] = place(s->key[INDEX], n, LENGTH - 4ull * n);
	d.operand[GTU_SCU_OUT] = place(s->key[SINK], room, LENGTH - 4ull * room);
	return d;
}

static struct gtu_hw_desc stream_job(const struct side *s, uint32_t n, uint32_t records)
{
	struct gtu_hw_desc d =
		job(GTU_OP_IRU_STREAM, GTU_IRU_OP_NONE | 2u << GTU_IRU_TARGET_SHIFT);

	d.operand[GTU_IRU_INDICES] = place(s->key[SOURCE], n, LENGTH - 4ull * n);
	d.operand[GTU_IRU_RING] =
		place(s->key[SINK], records, LENGTH - 64 - GTU_WARP_BYTES(1, 0) * records);
	d.operand[GTU_IRU_RING].offset &= ~63ull;
	return d;
}

/* Return the stream's ring in SINK, initialized as before a submission. */
static struct gtu_hw_ring *ring_of(struct side *s, const struct gtu_hw_desc *d)
{
	struct gtu_hw_ring *ring =
		(void *)(s->m[SINK].at + d->operand[GTU_IRU_RING].offset);

	memset(ring, 0, sizeof(*ring));
	return ring;
}

/*
 * Build failing job @n; INDEX holds its words. @absent: opcode of a missing unit, or 0. Return the
 * expected status, or GTU_CPL_OK after the last case.
 */
static uint32_t prepare(struct side *s, unsigned int n, uint8_t absent, struct gtu_hw_desc *d)
{
	uint32_t *word = (void *)s->m[INDEX].at, *last = word + WORDS - 8, i;
	const struct gtu_hw_desc copy =
		copy_job(s->key[SOURCE], LENGTH - 64, s->key[SINK], LENGTH - 64, 16, 2);

	for (i = 0; i < WORDS; i++)
		word[i] = i % 7;
	*d = copy;
	switch (n) {
	case 0:
		d->opcode = 0xff;
		return GTU_CPL_OPCODE;
	case 1:	/* a unit that the device lacks, if any */
		d->opcode = absent ? absent : 0xfe;
		return absent ? GTU_CPL_ABSENT : GTU_CPL_OPCODE;
	case 2:
		d->flags = 0x4000;
		return GTU_CPL_RESERVED;
	case 3:
		d->reserved0 = 1;
		return GTU_CPL_RESERVED;
	case 4:
		d->opcode = GTU_OP_SCU_DATA;
		d->param = GTU_SCU_UNIQUE | GTU_SCU_BEST;
		return GTU_CPL_PARAM;
	case 5:
		d->operand[1].offset = LENGTH - 63;
		return GTU_CPL_OPERAND;
	case 6:
		d->operand[2] = copy.operand[1];
		return GTU_CPL_OPERAND;
	case 7:
		d->operand[1].key += 1u << 16;
		return GTU_CPL_KEY;
	case 8:
		d->operand[1].key = s->key[SOURCE];
		return GTU_CPL_RIGHTS;
	case 9:
		d->operand[0].key = s->key[HIDDEN];
		return GTU_CPL_RIGHTS;
	case 10:
		d->operand[1].offset += 4;
		return GTU_CPL_BOUNDS;
	case 11:
		d->operand[1].offset = ~0ull << 2;
		return GTU_CPL_BOUNDS;
	case 12:
		d->operand[0].count = d->operand[1].count = 0xfffffffe;
		return GTU_CPL_BOUNDS;
	case 13:	/* wraps at 2^64 */
		d->operand[1].offset = 0ull - 64;
		return GTU_CPL_BOUNDS;
	case 14:
		d->operand[1].count = 15;
		return GTU_CPL_OVERFLOW;
	case 15:
		*d = access_job(s, 8, 8);
		last[5] = WORDS;
		return GTU_CPL_INDEX;
	case 16:
		*d = access_job(s, 8, 8);
		last[0] = 0xfffffffc;
		return GTU_CPL_INDEX;
	case 17:	/* the output is one element short */
		*d = access_job(s, 8, 7);
		return GTU_CPL_OVERFLOW;
	case 18:
		*d = replicate_job(s, 8, 16);
		last[7] = 0xffffffff;
		return GTU_CPL_OVERFLOW;
	case 19:	/* a run past the end of the data */
		*d = access_job(s, 8, 8);
		d->opcode = GTU_OP_SCU_EXPAND;
		d->param |= SCU_COUNT_WORDS;
		d->operand[GTU_SCU_COUNT] = place(s->key[INDEX], 8, 0);
		last[0] = WORDS - 2;
		word[0] = 3;
		return GTU_CPL_INDEX;
	case 20:	/* a reorder vector with an entry beyond the output, in a parameter block */
		*d = job(GTU_OP_SCU_DATA, SCU_WORDS | GTU_STEP_APPLY << GTU_SCU_STEP_SHIFT);
		d->flags = GTU_DESC_BLOCK;
		d->operand[0] = place(s->key[INDEX], GTU_SCU_REORDER + 1, 0);
		memset(word, 0, 16 * 16);
		((struct gtu_hw_operand *)word)[GTU_SCU_DATA] = place(s->key[SOURCE], 8, 0);
		((struct gtu_hw_operand *)word)[GTU_SCU_OUT] =
			place(s->key[SINK], 8, LENGTH - 32);
		((struct gtu_hw_operand *)word)[GTU_SCU_REORDER] =
			place(s->key[INDEX], 8, LENGTH - 32);
		for (i = 0; i < 8; i++)
			last[i] = i;
		last[3] = 8;
		return GTU_CPL_INDEX;
	case 21:
		*d = copy_job(s->key[SOURCE], 0, s->key[SINK], 0, LENGTH, 0);
		d->limit = 1;
		return GTU_CPL_LIMIT;
	case 22:
		*d = replicate_job(s, WORDS / 2, WORDS);
		d->limit = 1;
		return GTU_CPL_LIMIT;
	case 23:	/* a consumer index ahead of the producer */
		*d = stream_job(s, 4096, 4);
		ring_of(s, d)->consumer = 5;
		return GTU_CPL_INDEX;
	case 24:	/* a ring whose records end past the region */
		*d = stream_job(s, 4096, 4);
		d->operand[GTU_IRU_RING].offset += 64;
		return GTU_CPL_BOUNDS;
	case 25:
		*d = stream_job(s, 4096, 3);
		return GTU_CPL_OPERAND;
	}
	return GTU_CPL_OK;
}

TEST_F_TIMEOUT(outside, jobs_with_errors_write_only_to_their_operands, 60)
{
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	uint32_t status, seen = 0;
	uint8_t absent = 0;
	unsigned int n;
	char name[32];
	int ret;

	ASSERT_EQ(0, call(self->a.fd, GTU_IOCTL_INFO, &info));
	if (!(info.units & GTU_UNIT_WVR))
		absent = GTU_OP_WVR_STREAM;
	else if (!(info.units & GTU_UNIT_PEG))
		absent = GTU_OP_PEG_STREAM;
	for (n = 0; ; n++) {
		status = prepare(&self->a, n, absent, &d);
		ret = run(&self->a.q, &d, &c);
		EXPECT_EQ((int)status, ret) {
			TH_LOG("case %u", n);
		}
		snprintf(name, sizeof(name), "case %u, status %u", n, status);
		NOTHING_ELSE(name);
		if (status == GTU_CPL_OK)
			break;
		seen |= 1u << status;
	}
	TH_LOG("%u cases, statuses 0x%x; not covered: DMA, WIDTH, CANCELED", n, seen);
	EXPECT_EQ(GTU_QUEUE_ENABLED, queue_state(&self->a.q));
}

/* Queue errors, a reset and a removed region while a job writes: no stray or late writes. */
TEST_F_TIMEOUT(outside, queue_errors_cause_no_stray_writes, 60)
{
	struct side *a = &self->a;
	struct gtu_hw_desc d;
	unsigned int round, i;

	for (round = 0; round < 12; round++) {
		d = copy_job(a->key[SOURCE], 0, a->key[SINK], 0, LENGTH / 8, 3);
		for (i = 0; i < 16; i++)
			put(&a->q, &d);
		doorbell(&a->q, a->q.submitted, a->q.consumed);
		switch (round % 4) {
		case 0:
			doorbell(&a->q, a->q.submitted + 40, 0);
			break;
		case 1:
			doorbell(&a->q, a->q.submitted, 0x12345678);
			break;
		case 2:
			ASSERT_EQ(0, region_remove(a->fd, a->key[SINK]));
			fill_pattern(a->m[SINK].at, LENGTH, 0x7e);
			break;
		}
		ASSERT_EQ(0, queue_call(&a->q, GTU_IOCTL_QUEUE_RESET));
		if (round % 4 == 2) {
			EXPECT_TRUE(is_pattern(a->m[SINK].at, LENGTH, 0x7e));
			ASSERT_EQ(0, region_add(a->fd, a->m[SINK].at, LENGTH, RW, &a->key[SINK]));
		}
		NOTHING_ELSE("queue error");
		ASSERT_EQ(GTU_CPL_OK, run_copy(&a->q, a->key[SOURCE], 0, a->key[SINK], 0,
			      LENGTH / 8, 3));
		ASSERT_TRUE(is_pattern(a->m[SINK].at, LENGTH, 0x20 + SOURCE));
		ASSERT_EQ(0, queue_call(&a->q, GTU_IOCTL_QUEUE_RESET));
	}
}

/* A stream without a consumer must release the unit when another context needs it. */
TEST_F_TIMEOUT(outside, a_stream_without_consumer_releases_the_unit, 60)
{
	struct gtu_hw_desc d = stream_job(&self->a, 4096, 4), other = stream_job(&self->b, 32, 4);
	struct gtu_hw_ring *ring = ring_of(&self->a, &d);
	const uint64_t start = now_ns();
	struct gtu_hw_cpl c;
	uint32_t index;

	submit(&self->a.q, &d);
	while (!__atomic_load_n(&ring->waiting, __ATOMIC_ACQUIRE))
		ASSERT_GT(10 * SECOND, now_ns() - start);
	ring_of(&self->b, &other);
	index = submit(&self->b.q, &other);
	ASSERT_EQ(0, queue_wait(&self->b.q, index, now_ns() + 30 * SECOND));
	ASSERT_EQ(0, take(&self->b.q, &c));
	EXPECT_EQ(GTU_CPL_OK, c.status);
	ASSERT_EQ(0, take(&self->a.q, &c));
	EXPECT_EQ(GTU_CPL_STALLED, c.status);
	EXPECT_EQ(4u, c.count);
	TH_LOG("after %llu ms", (unsigned long long)(now_ns() - start) / 1000000);
	fill_pattern(self->b.m[SINK].at, LENGTH, 0x40 + SINK);
	NOTHING_ELSE("stalled");
}

TEST_HARNESS_MAIN
