// SPDX-License-Identifier: MIT
/*
 * Tests jobs submitted by ioctl.
 *
 * On a device with GTU_CAP_REGIONS the kernel's check of a descriptor must match the device's.
 * Without it (gtu serve --without regions) the kernel must refuse every descriptor that is not
 * provably safe.
 */
#include <sys/wait.h>

#include "gtu_stream.h"

#define BYTES	(1u << 16)
#define WORDS	(BYTES / 4)
#define STREAM	(1u << 17)	/* bytes of a stream's ring and indices */

FIXTURE(submit)
{
	int fd;
	struct queue q;
	bool checks;			/* the device has GTU_CAP_REGIONS */
	uint32_t *in, *out;
	uint32_t in_key, out_key;
};

/* Submit @n descriptors. Return the number accepted; *why is the errno. */
static uint32_t submit_n(struct queue *q, const struct gtu_hw_desc *d, uint32_t n, int *why)
{
	struct gtu_ioctl_submit a;

	*why = submit_raw(q, d, n, &a);
	q->submitted += a.done;
	return a.done;
}

/*
 * Submit one job and wait for it. Return its status, the status that SUBMIT reports if it refuses
 * the job, or -errno.
 */
static int submit_run(struct queue *q, const struct gtu_hw_desc *d, struct gtu_hw_cpl *c)
{
	struct gtu_ioctl_submit a;
	int ret = submit_raw(q, d, 1, &a);

	if (ret)
		return ret == EINVAL && a.status ? (int)a.status : -ret;
	q->submitted++;
	ret = queue_wait(q, a.sq_index, now_ns() + 10 * SECOND);
	if (!ret)
		ret = take(q, c);
	return ret ? -ret : c->status;
}

FIXTURE_SETUP(submit)
{
	struct gtu_ioctl_info info = { .size = sizeof(info) };
	uint32_t i;

	OPEN_OR_SKIP(self->fd);
	ASSERT_EQ(0, call(self->fd, GTU_IOCTL_INFO, &info));
	self->checks = info.caps & GTU_CAP_REGIONS;
	self->in = pages(BYTES);
	self->out = pages(BYTES);
	for (i = 0; i < WORDS; i++)
		self->in[i] = i * 2654435761u;
	ASSERT_EQ(0, region_add(self->fd, self->in, BYTES, GTU_RIGHT_READ, &self->in_key));
	ASSERT_EQ(0, region_add(self->fd, self->out, BYTES, RW, &self->out_key));
	ASSERT_EQ(0, queue_create_as(self->fd, GTU_QUEUE_SUBMIT, 5, 5, &self->q));
}

NO_TEARDOWN(submit);

TEST_F(submit, submitted_jobs_produce_their_results)
{
	struct gtu_hw_desc d = copy_job(self->in_key, 0, self->out_key, 0, WORDS, 2);
	struct gtu_hw_cpl c;

	d.cookie = 0x1122334455667788ull;
	ASSERT_EQ(0, submit_run(&self->q, &d, &c));
	EXPECT_EQ(0x1122334455667788ull, c.cookie);
	EXPECT_EQ(0, c.sq_index);
	EXPECT_EQ(0, memcmp(self->in, self->out, BYTES));
	d = (struct gtu_hw_desc){ .opcode = GTU_OP_FILL, .param = 2, .imm = 0x5a5a1234 };
	d.operand[1] = (struct gtu_hw_operand){ self->out_key, 16, 64 };
	ASSERT_EQ(0, submit_run(&self->q, &d, &c));
	EXPECT_EQ(1, c.sq_index);
	EXPECT_EQ(self->in[15], self->out[15]);
	EXPECT_EQ(0x5a5a1234u, self->out[16]);
	EXPECT_EQ(0x5a5a1234u, self->out[31]);
	EXPECT_EQ(self->in[32], self->out[32]);
	/* a bitmask of the elements greater than 2^31 */
	d = (struct gtu_hw_desc){ .opcode = GTU_OP_SCU_BITMASK, .imm = 0x80000000u,
				  .param = 2 << GTU_SCU_WIDTH_SHIFT |
					   GTU_CMP_GT << GTU_SCU_CMP_SHIFT };
	d.operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ self->in_key, 1000, 0 };
	d.operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ self->out_key, 1000, 0 };
	ASSERT_EQ(0, submit_run(&self->q, &d, &c));
	EXPECT_EQ(self->in[5] > 0x80000000u, ((uint8_t *)self->out)[0] >> 5 & 1);
	EXPECT_EQ(self->in[999] > 0x80000000u, ((uint8_t *)self->out)[124] >> 7 & 1);
}

TEST_F(submit, only_completions_are_mapped)
{
	struct gtu_ioctl_queue_create mapped = { .size = sizeof(mapped), .sq_log2 = 2,
						 .cq_log2 = 2 };

	EXPECT_EQ(0, self->q.c.sq_bytes);
	EXPECT_EQ(0, self->q.c.db_bytes);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd,
				   (off_t)self->q.c.sq_offset));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->fd,
				   (off_t)self->q.c.sq_offset));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, self->fd,
				   (off_t)self->q.c.db_offset));
	EXPECT_EQ(self->checks ? 0 : EOPNOTSUPP, call(self->fd, GTU_IOCTL_QUEUE_CREATE, &mapped));
}

TEST_F(submit, invalid_submissions_are_refused)
{
	struct gtu_hw_desc d[2] = { copy_job(self->in_key, 0, self->out_key, 0, 1, 2) };
	struct gtu_ioctl_submit a;
	struct queue mapped, other = self->q;
	char *end = pages(8192);

	d[1] = d[0];
	munmap(end + 4096, 4096);
	end += 4096;
	EXPECT_EQ(EINVAL, submit_raw(&self->q, d, GTU_SUBMIT_MAX + 1, &a));
	EXPECT_EQ(EINVAL, submit_raw(&self->q, (char *)d + 4, 1, &a));
	EXPECT_EQ(EFAULT, submit_raw(&self->q, NULL, 1, &a));
	EXPECT_NE(0, submit_raw(&self->q, (void *)-8ul, 1, &a));
	memcpy(end - sizeof(d[0]), &d[0], sizeof(d[0]));
	EXPECT_EQ(EFAULT, submit_raw(&self->q, end - sizeof(d[0]), 2, &a));
	EXPECT_EQ(0, a.done);
	/* out fields do not keep what the caller had in them */
	a = (struct gtu_ioctl_submit){ .size = sizeof(a), .id = self->q.c.id, .count = 1, .descs = 8,
				       .done = 7, .sq_index = 7, .status = 7 };
	EXPECT_EQ(EFAULT, call(self->fd, GTU_IOCTL_SUBMIT, &a));
	EXPECT_EQ(0, a.done);
	EXPECT_EQ(0, a.sq_index);
	EXPECT_EQ(0, a.status);
	other.c.id = 0xffffff;
	EXPECT_EQ(ENOENT, submit_raw(&other, d, 1, &a));
	if (self->checks) {
		ASSERT_EQ(0, queue_create(self->fd, 4, 4, &mapped));
		EXPECT_EQ(EINVAL, submit_raw(&mapped, d, 1, &a));
	}
	/* more completions consumed than produced */
	self->q.consumed = 1;
	EXPECT_EQ(EINVAL, submit_raw(&self->q, d, 1, &a));
	EXPECT_EQ(0, a.status);
	self->q.consumed = ~0u;
	EXPECT_EQ(EINVAL, submit_raw(&self->q, d, 1, &a));
	self->q.consumed = 0;
	EXPECT_EQ(0, submit_raw(&self->q, NULL, 0, &a));
	EXPECT_EQ(0, a.done);
	ASSERT_EQ(0, submit_raw(&self->q, d, 2, &a));
	EXPECT_EQ(2, a.done);
	EXPECT_EQ(0, a.sq_index);
	EXPECT_EQ(0, queue_wait(&self->q, 1, now_ns() + 10 * SECOND));
	EXPECT_EQ(GTU_QUEUE_ENABLED, queue_state(&self->q));
	EXPECT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_DESTROY));
	EXPECT_EQ(ENOENT, submit_raw(&self->q, d, 1, &a));
}

/* SUBMIT accepts the descriptors before an invalid one and none behind it. */
TEST_F(submit, submit_stops_at_an_invalid_descriptor)
{
	struct gtu_hw_desc d[6];
	struct gtu_ioctl_submit a;
	uint32_t i;

	for (i = 0; i < 6; i++)
		d[i] = copy_job(self->in_key, 0, self->out_key, i * 4, 1, 2);
	d[3].operand[0].key = self->in_key + 0x10000;
	EXPECT_EQ(0, submit_raw(&self->q, d, 6, &a));
	EXPECT_EQ(3, a.done);
	EXPECT_EQ(0, a.status);
	EXPECT_EQ(EINVAL, submit_raw(&self->q, d + 3, 3, &a));
	EXPECT_EQ(0, a.done);
	EXPECT_EQ(GTU_CPL_KEY, a.status);
	EXPECT_EQ(0, submit_raw(&self->q, d + 4, 2, &a));
	EXPECT_EQ(2, a.done);
	EXPECT_EQ(3, a.sq_index);
	EXPECT_EQ(0, queue_wait(&self->q, 4, now_ns() + 10 * SECOND));
	EXPECT_EQ(self->in[0], self->out[2]);
	EXPECT_EQ(0, self->out[3]);
	EXPECT_EQ(self->in[0], self->out[5]);
}

TEST_F(submit, batches_complete_in_order_through_small_rings)
{
	struct gtu_hw_desc d[40];
	struct queue q;
	struct gtu_hw_cpl c;
	uint32_t i, n, full = 0, want = 0;
	int why;

	ASSERT_EQ(0, queue_create_as(self->fd, GTU_QUEUE_SUBMIT, 3, 2, &q));
	for (i = 0; i < 40; i++)
		d[i] = copy_job(self->in_key, 0, self->out_key, 0, 4, 2);
	while (q.submitted < 3000) {
		for (i = 0; i < 40; i++)
			d[i].cookie = q.submitted + i;
		n = submit_n(&q, d, 1 + q.submitted * 7 % 40, &why);
		ASSERT_TRUE(n ? !why : why == EAGAIN) {
			TH_LOG("%u taken: %d", n, why);
		}
		full += !n;
		/* the device stalls at four unconsumed completions */
		while (q.consumed < q.submitted &&
		       !queue_wait(&q, q.consumed, now_ns() + (n ? 0 : SECOND))) {
			ASSERT_EQ(0, take(&q, &c));
			ASSERT_EQ(want, c.cookie);
			ASSERT_EQ(want++, c.sq_index);
			ASSERT_EQ(0, c.status);
			if (q.consumed % 4 == 0)
				break;
		}
	}
	EXPECT_LT(0, full);
	/* SUBMIT without descriptors reports consumed completions */
	while (q.consumed < q.submitted) {
		submit_n(&q, NULL, 0, &why);
		ASSERT_EQ(0, why);
		ASSERT_EQ(0, queue_wait(&q, q.consumed, now_ns() + 10 * SECOND));
		ASSERT_EQ(0, take(&q, &c));
		ASSERT_EQ(want++, c.cookie);
	}
}

TEST_F(submit, a_reset_restarts_the_indices_at_0)
{
	struct gtu_hw_desc d = copy_job(self->in_key, 0, self->out_key, 0, 4, 2);
	struct gtu_hw_cpl c;
	uint32_t round, i;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 5; i++) {
			ASSERT_EQ(0, submit_run(&self->q, &d, &c));
			ASSERT_EQ(i, c.sq_index);
		}
		ASSERT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	}
}

static uint32_t rnd(uint32_t *seed, uint32_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed % below;
}

/* Return a boundary value or a random one. */
static uint32_t odd(uint32_t *seed)
{
	static const uint32_t v[] = { 0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 63, 64, 0x80000000u,
				      0xffffffffu, 1u << 13, 1u << 14, 1u << 15, WORDS, BYTES };

	return rnd(seed, 4) ? v[rnd(seed, sizeof(v) / sizeof(*v))] : rnd(seed, ~0u);
}

/*
 * Submit the same descriptor through a mapped ring and by ioctl: the kernel's check must return the
 * status that a checking device returns.
 */
TEST_F(submit, submit_checks_jobs_as_the_device_does)
{
	static const uint8_t ops[] = {
		GTU_OP_NOP, GTU_OP_COPY, GTU_OP_FILL, GTU_OP_FENCE, GTU_OP_SCU_BITMASK,
		GTU_OP_SCU_DATA, GTU_OP_SCU_ACCESS, GTU_OP_SCU_REPLICATE, GTU_OP_SCU_EXPAND, 0x15,
		0x04, 0xff,
	};
	uint32_t seed = 4711u, round, seen[GTU_CPL_COUNT] = { 0 }, kinds = 0, i, write_only, arena_key;
	char *arena = pages(8192);
	struct gtu_hw_cpl c;
	struct queue device;

	NEEDS(GTU_CAP_REGIONS);
	ASSERT_EQ(0, queue_create(self->fd, 4, 4, &device));
	ASSERT_EQ(0, region_add(self->fd, pages(4096), 4096, GTU_RIGHT_WRITE, &write_only));
	ASSERT_EQ(0, region_add(self->fd, arena, 8192, RW, &arena_key));
	for (round = 0; round < 6000; round++) {
		struct gtu_hw_desc d = { .opcode = ops[rnd(&seed, sizeof(ops))], .limit = 64 };
		int kernel, hardware;

		/* mostly valid for the operation, with a few errors */
		d.param = d.opcode < 4 ? rnd(&seed, 4) : d.opcode < 0x15 ? 2 : 0;
		if (d.opcode == GTU_OP_SCU_ACCESS || d.opcode == GTU_OP_SCU_EXPAND)
			d.param |= 2 << GTU_SCU_INDEX_SHIFT;
		if (d.opcode == GTU_OP_SCU_REPLICATE || d.opcode == GTU_OP_SCU_EXPAND)
			d.param |= 2 << GTU_SCU_COUNT_SHIFT;
		if (!rnd(&seed, 6))
			d.param ^= 1u << rnd(&seed, 23);
		if (!rnd(&seed, 16))
			d.param2 = odd(&seed);
		if (d.opcode == GTU_OP_FILL || !rnd(&seed, 16))
			d.imm = odd(&seed);
		if (!rnd(&seed, 64))
			d.reserved0 = 1;
		if (!rnd(&seed, 64))
			d.flags = (uint16_t)(2u << rnd(&seed, 15));
		for (i = 0; i < GTU_DESC_OPERANDS; i++) {
			const uint32_t keys[] = { arena_key, arena_key, arena_key,
						  arena_key, self->in_key,
						  self->in_key + 0x10000, write_only };
			static const uint8_t wanted[][GTU_DESC_OPERANDS] = {
				[GTU_OP_COPY] = { 1, 1 },
				[GTU_OP_FILL] = { 0, 1 },
				[GTU_OP_SCU_BITMASK] = { 1, 0, 0, 0, 1 },
				[GTU_OP_SCU_DATA] = { 1, 0, 0, 1, 1 },
				[GTU_OP_SCU_ACCESS] = { 1, 1, 0, 1, 1 },
				[GTU_OP_SCU_REPLICATE] = { 1, 0, 1, 1, 1 },
				[GTU_OP_SCU_EXPAND] = { 1, 1, 1, 1, 1 },
			};
			bool want = d.opcode < 0x15 && wanted[d.opcode][i];

			if (want == !rnd(&seed, 12))
				continue;
			d.operand[i].key = keys[rnd(&seed, rnd(&seed, 4) ? 5 : 7)];
			d.operand[i].count = rnd(&seed, 8) ? 32 + rnd(&seed, 2) * 64 : odd(&seed);
			d.operand[i].offset = rnd(&seed, 8) ? rnd(&seed, 64) * 64 : odd(&seed);
			if (!rnd(&seed, 32))
				d.operand[i].key = 0;
		}
		/* a job may overwrite its input, so both runs need the same memory */
		memset(arena, 1, 8192);
		hardware = run(&device, &d, &c);
		memset(arena, 1, 8192);
		kernel = submit_run(&self->q, &d, &c);
		/* the statuses match for jobs that run, too */
		ASSERT_EQ(hardware, kernel) {
			TH_LOG("round %u: opcode 0x%x, param 0x%x", round, d.opcode, d.param);
		}
		ASSERT_LE(0, kernel);
		kinds += !seen[kernel]++;
	}
	for (i = 0; i < GTU_CPL_COUNT; i++)
		TH_LOG("status %2u: %u", i, seen[i]);
	EXPECT_LE(8u, kinds);
}

/* A gather with its operands in a parameter block. */
static struct gtu_hw_desc block_job(uint32_t block_key, uint64_t offset)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_SCU_ACCESS, .flags = GTU_DESC_BLOCK,
				 .param = 2 << GTU_SCU_WIDTH_SHIFT | 2 << GTU_SCU_INDEX_SHIFT };

	d.operand[0] = (struct gtu_hw_operand){ block_key, 5, offset };
	return d;
}

static void block_fill(struct gtu_hw_operand *b, uint32_t data, uint32_t index, uint32_t out)
{
	memset(b, 0, 5 * sizeof(*b));
	b[GTU_SCU_DATA] = (struct gtu_hw_operand){ data, 64, 0 };
	b[GTU_SCU_INDEX] = (struct gtu_hw_operand){ index, 16, 0 };
	b[GTU_SCU_OUT] = (struct gtu_hw_operand){ out, 16, 0 };
}

TEST_F(submit, submit_checks_operands_in_a_parameter_block)
{
	struct gtu_ioctl_buffer_alloc ap = { .size = sizeof(ap), .flags = GTU_BUFFER_APERTURE,
					     .length = 4096, .rights = GTU_RIGHT_READ };
	char *memory = pages(8192), *buffer;
	uint32_t *index = pages(4096), index_key, key, buffer_key, i;
	struct gtu_hw_operand *b;
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	uint64_t offset;

	NEEDS(GTU_CAP_REGIONS);
	for (i = 0; i < 16; i++)
		index[i] = 63 - 3 * i;
	ASSERT_EQ(0, region_add(self->fd, index, 4096, GTU_RIGHT_READ, &index_key));
	/* across a page boundary, in a region that does not start at one */
	ASSERT_EQ(0, region_add(self->fd, memory + 16, 8192 - 16, GTU_RIGHT_READ, &key));
	b = (void *)(memory + 4096 - 32);
	block_fill(b, self->in_key, index_key, self->out_key);
	d = block_job(key, 4096 - 48);
	ASSERT_EQ(0, submit_run(&self->q, &d, &c));
	for (i = 0; i < 16; i++)
		ASSERT_EQ(self->in[63 - 3 * i], self->out[i]);
	/* in a driver buffer */
	ASSERT_EQ(0, buffer_alloc(self->fd, 3 * 4096, &buffer_key, &offset));
	buffer = map_shared(self->fd, offset, 3 * 4096);
	ASSERT_NE(MAP_FAILED, (void *)buffer);
	block_fill((void *)(buffer + 8192 - 32), self->in_key, index_key, self->out_key);
	memset(self->out, 0, BYTES);
	d = block_job(buffer_key, 8192 - 32);
	ASSERT_EQ(0, submit_run(&self->q, &d, &c));
	EXPECT_EQ(self->in[63], self->out[0]);
	/* operands in a block are checked like operands in the descriptor */
	((struct gtu_hw_operand *)(buffer + 8192 - 32))[GTU_SCU_OUT].count = WORDS + 1;
	EXPECT_EQ(GTU_CPL_BOUNDS, submit_run(&self->q, &d, &c));
	block_fill((void *)(buffer + 8192 - 32), self->in_key, index_key + 0x10000, self->out_key);
	EXPECT_EQ(GTU_CPL_KEY, submit_run(&self->q, &d, &c));
	d.operand[0].count = 0;
	EXPECT_EQ(GTU_CPL_OPERAND, submit_run(&self->q, &d, &c));
	d.operand[0].count = 17;
	EXPECT_EQ(GTU_CPL_OPERAND, submit_run(&self->q, &d, &c));
	d.operand[0].count = 5;
	d.operand[0].offset = 3 * 4096 - 64;
	EXPECT_EQ(GTU_CPL_BOUNDS, submit_run(&self->q, &d, &c));
	d.operand[0].offset = 8;
	EXPECT_EQ(GTU_CPL_OPERAND, submit_run(&self->q, &d, &c));
	d = block_job(buffer_key, 0);
	d.operand[1].key = self->in_key;
	EXPECT_EQ(GTU_CPL_OPERAND, submit_run(&self->q, &d, &c));
	if (!call(self->fd, GTU_IOCTL_BUFFER_ALLOC, &ap)) {
		d = block_job(ap.key, 0);
		EXPECT_EQ(-EOPNOTSUPP, submit_run(&self->q, &d, &c));
	}
	/*
	 * the driver's own region for blocks has a key too, but users must not be able to remove it
	 */
	{
		const uint32_t own[] = { self->in_key, self->out_key, index_key, key, buffer_key, ap.key };
		const uint32_t owned = ap.key ? 6 : 5;
		uint32_t generation, n, removed = 0;

		for (i = 0; i < 64; i++) {
			for (generation = 1; generation < 16; generation++) {
				if (region_remove(self->fd, GTU_KEY(generation, i)))
					continue;
				removed++;
				for (n = 0; n < owned && own[n] != GTU_KEY(generation, i); n++)
					;
				EXPECT_GT(owned, n) {
					TH_LOG("the driver's region was removed: slot %u, generation %u", i, generation);
				}
			}
		}
		EXPECT_EQ(owned, removed);
	}
	d = copy_job(self->in_key, 0, self->out_key, 0, 1, 2);
	EXPECT_EQ(GTU_CPL_KEY, submit_run(&self->q, &d, &c));
	EXPECT_EQ(GTU_QUEUE_ENABLED, queue_state(&self->q));
}

struct flipper {
	pthread_t thread;
	volatile uint32_t *word;
	uint32_t good, bad;
	volatile bool stop;
	uint64_t flips;
};

static void *flip(void *arg)
{
	struct flipper *f = arg;

	while (!f->stop) {
		*f->word = f->bad;
		*f->word = f->good;
		f->flips++;
	}
	return NULL;
}

/*
 * A thread flips a word between a valid and an invalid value. The kernel must execute the copy that
 * it checked, so all accepted jobs succeed.
 */
TEST_F(submit, submit_runs_the_descriptor_that_it_checked)
{
	uint32_t i, key, index_key, *index = pages(4096), refused, kind;
	struct gtu_hw_operand *b = pages(4096);
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	struct flipper f;
	int ret;

	ASSERT_EQ(0, region_add(self->fd, index, 4096, GTU_RIGHT_READ, &index_key));
	ASSERT_EQ(0, region_add(self->fd, b, 4096, GTU_RIGHT_READ, &key));
	for (kind = 0; kind < 2; kind++) {
		if (kind && !self->checks)
			break;
		d = kind ? block_job(key, 0) :
			   copy_job(self->in_key, 0, self->out_key, 0, 1000, 2);
		block_fill(b, self->in_key, index_key, self->out_key);
		f = (struct flipper){ .word = kind ? &b[GTU_SCU_OUT].count : &d.operand[1].count,
				      .good = kind ? 16 : 1000, .bad = WORDS + 1 };
		refused = 0;
		ASSERT_EQ(0, pthread_create(&f.thread, NULL, flip, &f));
		for (i = 0; i < 3000; i++) {
			struct gtu_ioctl_submit a;

			ret = submit_raw(&self->q, &d, 1, &a);
			if (ret) {
				ASSERT_EQ(EINVAL, ret);
				ASSERT_EQ(GTU_CPL_BOUNDS, a.status);
				refused++;
				continue;
			}
			ASSERT_EQ(0, queue_wait(&self->q, a.sq_index, now_ns() + 10 * SECOND));
			ASSERT_EQ(0, take(&self->q, &c));
			ASSERT_EQ(0, c.status) {
				TH_LOG("job %u ended with %u", i, c.status);
			}
		}
		f.stop = true;
		pthread_join(f.thread, NULL);
		TH_LOG("%s: %u of 3000 jobs refused", kind ? "block" : "descriptor", refused);
		/* both values were observed */
		EXPECT_LT(0u, refused);
		EXPECT_GT(3000u, refused);
		EXPECT_LT(0, f.flips);
	}
}

/* A region is removed while jobs that name it are in the ring. */
TEST_F(submit, jobs_write_nothing_after_their_region_is_removed)
{
	struct gtu_hw_desc d[16];
	struct gtu_hw_cpl c;
	uint32_t key, round, i, ended;
	int why;

	for (round = 0; round < 40; round++) {
		ASSERT_EQ(0, region_add(self->fd, self->out, BYTES, RW, &key));
		for (i = 0; i < 16; i++)
			d[i] = copy_job(self->in_key, 0, key, 0, WORDS, 2);
		ASSERT_EQ(16, submit_n(&self->q, d, 16, &why));
		ASSERT_EQ(0, region_remove(self->fd, key));
		/* none of the jobs writes after REGION_REMOVE returned */
		memset(self->out, 0x77, BYTES);
		ended = 0;
		for (i = 0; i < 16; i++) {
			ASSERT_EQ(0, queue_wait(&self->q, self->q.submitted - 16 + i,
						now_ns() + 10 * SECOND));
			ASSERT_EQ(0, take(&self->q, &c));
			ASSERT_TRUE(c.status == GTU_CPL_OK || (self->checks &&
							       c.status == GTU_CPL_KEY));
			ended += c.status == GTU_CPL_OK;
		}
		if (!self->checks) {
			ASSERT_EQ(16, ended);
		}
		for (i = 0; i < WORDS; i++)
			ASSERT_EQ(0x77777777u, self->out[i]);
		EXPECT_EQ(GTU_CPL_KEY, submit_run(&self->q, &d[0], &c));
	}
}

/* A completion that is visible can be consumed, also before the status counts it. */
TEST_F(submit, a_visible_completion_can_be_consumed)
{
	uint32_t i, index;

	NEEDS_FAULT("late-status", "6.12");
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, submit_one(&self->q, 0, &index));
		while (!completed(&self->q, index))
			;
		self->q.consumed++;
	}
	/* one that is not */
	self->q.consumed++;
	EXPECT_EQ(EINVAL, submit_one(&self->q, 0, &index));
}

/*
 * REGION_REMOVE waits for the last job of each queue that names the region. A queue that another thread resets meanwhile
 * has no such job any more; jobs of other queues go on.
 */
TEST_F_TIMEOUT(submit, region_remove_does_not_wait_for_a_reset_queue, 60)
{
	static const char scale[] = "/sys/module/gtu/parameters/time_scale";
	struct removal r = { .fd = self->fd, .ret = -1 };
	uint8_t *memory = pages(2 * STREAM);
	volatile struct gtu_hw_ring *ring = (void *)(memory + STREAM);
	struct gtu_ioctl_submit a;
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	struct queue other;
	pthread_t thread;
	uint64_t end;
	int ret;

	NEEDS_ROOT;
	if (self->checks)
		SKIP(return, "needs a device without regions");
	ASSERT_EQ(0, region_add(self->fd, memory, 2 * STREAM, RW, &r.key));
	ASSERT_EQ(0, queue_create_as(self->fd, GTU_QUEUE_SUBMIT, 2, 2, &other));
	/* the second stream waits for the unit, which waits for the first one's consumer */
	d = stream_job(memory, r.key);
	ASSERT_EQ(0, submit_raw(&self->q, &d, 1, &a));
	d = stream_job(memory + STREAM, r.key);
	d.operand[GTU_IRU_INDICES].offset += STREAM;
	d.operand[GTU_IRU_RING].offset += STREAM;
	ASSERT_EQ(0, submit_raw(&other, &d, 1, &a));
	ASSERT_EQ(0, write_to(scale, "10"));
	start_call(&thread, remove_region, &r);
	EXPECT_EQ(-1, *(volatile int *)&r.ret);
	EXPECT_EQ(0, queue_call(&self->q, GTU_IOCTL_QUEUE_RESET));
	end = now_ns() + 20 * SECOND;
	do {
		__atomic_store_n(&ring->consumer, ring->producer, __ATOMIC_SEQ_CST);
		ret = queue_wait(&other, a.sq_index, now_ns() + SECOND / 50);
	} while (ret == ETIMEDOUT && now_ns() < end);
	EXPECT_EQ(0, ret);
	pthread_join(thread, NULL);
	ASSERT_EQ(0, write_to(scale, "1"));
	EXPECT_EQ(0, r.ret);
	EXPECT_EQ(GTU_QUEUE_ENABLED, queue_state(&other));
	ASSERT_EQ(0, take(&other, &c));
	EXPECT_EQ(GTU_CPL_OK, c.status);
}

/* Without GTU_CAP_REGIONS, the kernel refuses jobs whose accesses depend on data. */
TEST_F(submit, accesses_follow_from_the_descriptor)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_SCU_DATA, .param = 2 };
	const int refused = self->checks ? GTU_CPL_OK : -EOPNOTSUPP;
	struct gtu_hw_cpl c;

	memset(self->in, 0, BYTES);
	d.operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ self->in_key, 100, 0 };
	d.operand[GTU_SCU_MASK] = (struct gtu_hw_operand){ self->in_key, 128, 8192 };
	d.operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ self->out_key, 100, 0 };
	EXPECT_EQ(0, submit_run(&self->q, &d, &c));
	/* the output size depends on the mask's contents, so a short output is refused */
	d.operand[GTU_SCU_OUT].count = 99;
	EXPECT_EQ(refused, submit_run(&self->q, &d, &c));
	d = (struct gtu_hw_desc){ .opcode = GTU_OP_SCU_ACCESS,
				  .param = 2 | 2 << GTU_SCU_INDEX_SHIFT };
	d.operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ self->in_key, 64, 0 };
	d.operand[GTU_SCU_INDEX] = (struct gtu_hw_operand){ self->in_key, 64, 1024 };
	d.operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ self->out_key, 64, 0 };
	EXPECT_EQ(refused, submit_run(&self->q, &d, &c));
	d = (struct gtu_hw_desc){ .opcode = GTU_OP_SCU_REPLICATE,
				  .param = 2 | 2 << GTU_SCU_COUNT_SHIFT };
	d.operand[GTU_SCU_DATA] = (struct gtu_hw_operand){ self->in_key, 64, 0 };
	d.operand[GTU_SCU_COUNT] = (struct gtu_hw_operand){ self->in_key, 64, 1024 };
	d.operand[GTU_SCU_OUT] = (struct gtu_hw_operand){ self->out_key, 64, 0 };
	EXPECT_EQ(refused, submit_run(&self->q, &d, &c));
	/* invalid operands are reported before data-dependent accesses */
	d.operand[GTU_SCU_OUT].key = self->in_key;
	EXPECT_EQ(GTU_CPL_RIGHTS, submit_run(&self->q, &d, &c));
	d = copy_job(self->in_key, 0, self->out_key, 4, WORDS, 2);
	EXPECT_EQ(GTU_CPL_BOUNDS, submit_run(&self->q, &d, &c));
	d = copy_job(self->out_key, 0, self->in_key, 0, 1, 2);
	EXPECT_EQ(GTU_CPL_RIGHTS, submit_run(&self->q, &d, &c));
	EXPECT_EQ(GTU_QUEUE_ENABLED, queue_state(&self->q));
}

TEST_HARNESS_MAIN
