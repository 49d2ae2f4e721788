// SPDX-License-Identifier: MIT
/*
 * Tests that one context cannot name, map or reach resources of another: keys, mmap offsets,
 * doorbell pages, and mappings in other processes.
 *
 * A passed file descriptor gives the receiver exactly what Documentation/driver.md describes.
 */
#include <sys/uio.h>

#include "gtu_trust.h"

#define SLOTS	4
#define LENGTH	(17u * PAGE + 256)

/* The regions of a context, in slot order. */
enum { READ_ONLY, BOTH, WRITE_ONLY, OTHER };
static const uint32_t rights_of[SLOTS] = { GTU_RIGHT_READ, RW, GTU_RIGHT_WRITE, RW };

struct side {
	int fd;
	struct queue q;
	struct guarded m[SLOTS];
	uint32_t key[SLOTS], tag;
};

FIXTURE(isolation)
{
	struct side a, b;
};

static void side_fill(struct side *s)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		fill_pattern(s->m[i].at, LENGTH, s->tag + i);
}

/*
 * Check the guards of all regions and the contents: all contents, or only those of read-only
 * regions.
 */
static bool side_intact(const struct side *s, bool content)
{
	bool ok = true;
	unsigned int i;

	for (i = 0; i < SLOTS; i++) {
		ok = ok && guarded_ok(&s->m[i]);
		if (content || !(rights_of[i] & GTU_RIGHT_WRITE))
			ok = ok && is_pattern(s->m[i].at, LENGTH, s->tag + i);
	}
	return ok;
}

static int side_open(struct side *s, uint32_t tag)
{
	unsigned int i;
	int ret = 0;

	s->tag = tag;
	for (i = 0; i < SLOTS && !ret; i++) {
		guarded_new(&s->m[i], LENGTH, 64 * (i + 1));
		ret = region_add(s->fd, s->m[i].at, LENGTH, rights_of[i], &s->key[i]);
	}
	side_fill(s);
	return ret ? ret : queue_create(s->fd, 8, 8, &s->q);
}

FIXTURE_SETUP(isolation)
{
	OPEN_OR_SKIP(self->a.fd);
	OPEN_OR_SKIP(self->b.fd);
	ASSERT_EQ(0, side_open(&self->a, 0x11));
	ASSERT_EQ(0, side_open(&self->b, 0x77));
}

NO_TEARDOWN(isolation);

/*
 * ---- Keys ---------------------------------------------------------------------------------------
 */

TEST_F(isolation, equal_keys_name_memory_of_their_own_context)
{
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	unsigned int i;

	for (i = 0; i < SLOTS; i++)
		ASSERT_EQ(self->a.key[i], self->b.key[i]);
	d = copy_job(self->a.key[READ_ONLY], 0, self->a.key[WRITE_ONLY], 0, LENGTH / 4, 2);
	ASSERT_EQ(GTU_CPL_OK, run(&self->a.q, &d, &c));
	EXPECT_TRUE(is_pattern(self->a.m[WRITE_ONLY].at, LENGTH, self->a.tag));
	EXPECT_TRUE(side_intact(&self->b, true));
	EXPECT_TRUE(guarded_ok(&self->a.m[WRITE_ONLY]));
	side_fill(&self->a);
	ASSERT_EQ(GTU_CPL_OK, run(&self->b.q, &d, &c));
	EXPECT_TRUE(is_pattern(self->b.m[WRITE_ONLY].at, LENGTH, self->b.tag));
	EXPECT_TRUE(side_intact(&self->a, true));
	/* a region removed from one context still exists in the other */
	ASSERT_EQ(0, region_remove(self->a.fd, self->a.key[WRITE_ONLY]));
	EXPECT_EQ(GTU_CPL_KEY, run(&self->a.q, &d, &c));
	EXPECT_EQ(GTU_CPL_OK, run(&self->b.q, &d, &c));
	/* a context cannot name another one's queue */
	self->b.q.c.id = self->a.q.c.id;
	EXPECT_EQ(ENOENT, queue_call(&self->b.q, GTU_IOCTL_QUEUE_RESET));
	EXPECT_EQ(ENOENT, queue_call(&self->b.q, GTU_IOCTL_QUEUE_DESTROY));
	EXPECT_EQ(ENOENT, queue_wait(&self->b.q, 0, 0));
}

/*
 * Probe every slot with many generations: a key of another context is rejected for every operand.
 */
TEST_F(isolation, a_context_cannot_use_keys_of_another)
{
	static const uint32_t generations[] = { 0, 1, 2, 3, 0x7fff, 0xffff };
	struct side *a = &self->a, *b = &self->b;
	struct gtu_hw_desc d[4];
	struct gtu_hw_cpl c[4];
	unsigned int slot, g, i;
	uint8_t *memory = pages(40 * PAGE);
	uint32_t key, more;

	for (i = 0; i < 40; i++) {
		ASSERT_EQ(0, region_add(b->fd, memory + i * PAGE, 64, RW, &more));
		if (i % 3 == 0)
			ASSERT_EQ(0, region_remove(b->fd, more));
	}
	for (slot = 0; slot < 2048; slot++)
		for (g = 0; g < sizeof(generations) / sizeof(*generations); g++) {
			key = GTU_KEY(generations[g], slot);
			if (slot < SLOTS && key == a->key[slot])
				continue;
			EXPECT_EQ(ENOENT, region_remove(a->fd, key));
			if (!key)
				continue;	/* key 0 means no operand */
			d[0] = copy_job(key, 0, a->key[BOTH], 0, 16, 2);
			d[1] = copy_job(a->key[READ_ONLY], 0, key, 0, 16, 2);
			d[2] = job(GTU_OP_COPY, 2);
			d[2].flags = GTU_DESC_BLOCK;
			d[2].operand[0] = place(key, 2, 0);
			d[3] = job(GTU_OP_IRU_STREAM, GTU_IRU_OP_NONE | 2 << GTU_IRU_TARGET_SHIFT);
			d[3].operand[GTU_IRU_INDICES] = place(a->key[READ_ONLY], 16, 0);
			d[3].operand[GTU_IRU_RING] = place(key, 4, 0);
			ASSERT_EQ(0, run_many(&a->q, d, 4, c));
			for (i = 0; i < 4; i++)
				ASSERT_EQ(GTU_CPL_KEY, c[i].status) {
					TH_LOG("slot %u generation %u, job %u", slot,
					       generations[g], i);
				}
		}
	EXPECT_TRUE(side_intact(a, true));
	EXPECT_TRUE(side_intact(b, true));
}

/*
 * With all slots in use, a freed slot is the next to be reused. The old key and keys of other
 * generations never reach the new region, and neither do jobs written while the old key was valid.
 */
TEST_F_TIMEOUT(isolation, old_keys_never_reach_a_reused_slot, 60)
{
	enum { ROUNDS = 40, MOST = 4096 };
	static uint32_t old[ROUNDS], filler[MOST];
	struct side *a = &self->a;
	struct gtu_hw_desc d[4 + ROUNDS];
	struct gtu_hw_cpl c[4 + ROUNDS];
	uint8_t *memory = pages(MOST * PAGE), *next = pages(PAGE);
	unsigned int n, round, i;
	uint32_t key;

	for (n = 0; n < MOST; n++)
		if (region_add(a->fd, memory + n * PAGE, 64, RW, &filler[n]))
			break;
	ASSERT_LT(100u, n);
	ASSERT_GT(MOST, n);
	key = filler[n / 2];
	for (round = 0; round < ROUNDS; round++) {
		old[round] = key;
		memset(next, 0x33, PAGE);
		d[0] = copy_job(a->key[READ_ONLY], 0, key, 0, 8, 3);
		put(&a->q, &d[0]);	/* not submitted yet */
		ASSERT_EQ(0, region_remove(a->fd, key));
		ASSERT_EQ(0, region_add(a->fd, next, PAGE, RW, &key));
		ASSERT_EQ(GTU_KEY_SLOT(old[round]), GTU_KEY_SLOT(key));
		ASSERT_NE(old[round], key);
		d[0] = copy_job(a->key[READ_ONLY], 0, key + (1u << 16), 0, 8, 3);
		d[1] = copy_job(a->key[READ_ONLY], 0, key + (0x8000u << 16), 0, 8, 3);
		d[2] = copy_job(a->key[READ_ONLY], 0, GTU_KEY(0, GTU_KEY_SLOT(key)), 0, 8, 3);
		for (i = 0; i <= round; i++)
			d[3 + i] = copy_job(a->key[READ_ONLY], 0, old[i], 0, 8, 3);
		/* together with the descriptor written above */
		ASSERT_EQ(0, run_many(&a->q, d, 3 + round + 1, c));
		ASSERT_EQ(0, take(&a->q, &c[4 + round]));
		for (i = 0; i < 5 + round; i++)
			ASSERT_EQ(GTU_CPL_KEY, c[i].status) {
				TH_LOG("round %u, job %u", round, i);
			}
		ASSERT_TRUE(all_bytes(next, PAGE, 0x33));
		d[0] = copy_job(a->key[READ_ONLY], 0, key, 0, 8, 3);
		ASSERT_EQ(GTU_CPL_OK, run(&a->q, &d[0], c));
		ASSERT_FALSE(all_bytes(next, 64, 0x33));
		ASSERT_TRUE(all_bytes(next + 64, PAGE - 64, 0x33));
	}
}

/*
 * ---- Mappings -----------------------------------------------------------------------------------
 */

TEST_F_TIMEOUT(isolation, guessed_offsets_map_nothing_of_another_context, 60)
{
	struct side *a = &self->a, *b = &self->b;
	const struct gtu_ioctl_queue_create *c = &a->q.c;
	uint64_t mine, theirs, offset, own[4], kind_step, id_step;
	size_t sizes[] = { PAGE, c->sq_bytes, c->cq_bytes, 3 * PAGE };
	unsigned int kind, id, i, s, hits = 0;
	struct queue other;
	uint32_t key;
	char *p;

	ASSERT_EQ(0, buffer_alloc(a->fd, 3 * PAGE, &key, &mine));
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, buffer_alloc(b->fd, 3 * PAGE, &key, &theirs));
		p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, (off_t)theirs);
		ASSERT_NE(MAP_FAILED, p);
		memset(p, 0xbb, 3 * PAGE);
		ASSERT_EQ(0, queue_create(b->fd, c->sq_log2, c->cq_log2, &other));
	}
	own[0] = c->sq_offset;
	own[1] = c->cq_offset;
	own[2] = c->db_offset;
	own[3] = mine;
	/* derive how the driver encodes offsets, because random guesses would hardly hit one */
	kind_step = own[1] - own[0];
	id_step = (other.c.sq_offset - own[0]) / (other.c.id - c->id);
	ASSERT_EQ(c->id * id_step + 2 * kind_step, own[2]);
	for (kind = 0; kind < 16; kind++)
		for (id = 0; id < 128; id++)
			for (s = 0; s < 4; s++) {
				offset = kind * kind_step + id * id_step;
				p = mmap(NULL, sizes[s], PROT_READ, MAP_SHARED, a->fd,
					 (off_t)offset);
				if (p == MAP_FAILED)
					continue;
				for (i = 0; i < 4 && own[i] != offset; i++)
					;
				EXPECT_GT(4u, i) {
					TH_LOG("kind %u, number %u", kind, id);
				}
				if (i == 3)
					EXPECT_TRUE(all_bytes((uint8_t *)p, sizes[s], 0));
				hits++;
				munmap(p, sizes[s]);
			}
	/* only both rings, the doorbell and the buffer can be mapped, each with its own size */
	EXPECT_EQ(4u, hits);
}

/* The page next to a doorbell belongs to another queue: mremap() and the like cannot reach it. */
TEST_F(isolation, a_queue_cannot_reach_the_neighbouring_doorbell)
{
	struct side *a = &self->a, *b = &self->b;
	char *db = (char *)a->q.db, *spare;
	const int move = MREMAP_MAYMOVE;
	struct gtu_hw_cpl c;
	unsigned int at;

	ASSERT_EQ(a->q.c.id + 1, b->q.c.id);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * PAGE, PROT_WRITE, MAP_SHARED, a->fd,
				   (off_t)a->q.c.db_offset));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, a->fd,
				   (off_t)(a->q.c.db_offset + PAGE)));
	EXPECT_EQ(MAP_FAILED, mremap(db, PAGE, 2 * PAGE, 0));
	EXPECT_EQ(MAP_FAILED, mremap(db, PAGE, 2 * PAGE, move));
	EXPECT_EQ(MAP_FAILED, mremap(db, 0, 2 * PAGE, move));
	EXPECT_EQ(MAP_FAILED, mremap(db, 0, PAGE, move));
	EXPECT_EQ(-1, mprotect(db, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC));
	EXPECT_EQ(-1, mprotect((char *)a->q.cq, a->q.c.cq_bytes, PROT_WRITE));
	spare = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, a->fd, (off_t)a->q.c.db_offset);
	ASSERT_NE(MAP_FAILED, spare);
	/* replace the mapping by the file's page at another offset */
	EXPECT_EQ(-1, remap_file_pages(spare, PAGE, 0, (b->q.c.db_offset) / PAGE, 0));
	spare = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, a->fd, (off_t)a->q.c.db_offset);
	ASSERT_NE(MAP_FAILED, spare);
	EXPECT_EQ(-1, remap_file_pages(spare, PAGE, 0, a->q.c.db_offset / PAGE + 1, 0));
	/* a moved mapping still rings its own queue */
	db = mremap(db, PAGE, PAGE, move | MREMAP_FIXED, pages(PAGE));
	ASSERT_NE(MAP_FAILED, db);
	a->q.db = (uint8_t *)db;
	EXPECT_EQ(GTU_CPL_OK, run(&a->q, &NO_JOB, &c));
	/* writes to any offset of the page do not affect another queue */
	for (at = 0; at < PAGE; at += 4)
		*(volatile uint32_t *)(db + at) = 0x80000000u + at;
	/* the write is posted, so wait until the device has processed it */
	for (at = 0; at < 10000 && queue_state(&a->q) == GTU_QUEUE_ENABLED; at++)
		usleep(1000);
	EXPECT_NE(GTU_QUEUE_ENABLED, queue_state(&a->q));
	EXPECT_EQ(GTU_QUEUE_ENABLED, queue_state(&b->q));
	EXPECT_EQ(0u, b->q.status->sq_head);
	EXPECT_EQ(GTU_CPL_OK, run(&b->q, &NO_JOB, &c));
	ASSERT_EQ(0, queue_call(&a->q, GTU_IOCTL_QUEUE_RESET));
	EXPECT_EQ(GTU_CPL_OK, run(&a->q, &NO_JOB, &c));
}

/* Rings and doorbells cannot be read by another process or pinned. */
TEST_F(isolation, another_process_cannot_read_rings_or_doorbells)
{
	struct side *a = &self->a;
	char *at[3] = { (char *)a->q.sq, (char *)a->q.cq, (char *)a->q.db };
	int mem = open("/proc/self/mem", O_RDWR), pipes[2], reached, i;
	char word[8] = "";
	pid_t child;

	ASSERT_LE(0, mem);
	ASSERT_EQ(0, pipe(pipes));
	/* fault the pages in */
	(void)*(volatile char *)at[0];
	(void)*(volatile char *)at[1];
	doorbell(&a->q, 0, 0);
	for (i = 0; i < 3; i++) {
		struct iovec piece = { at[i], 8 };

		EXPECT_EQ(-1, pread(mem, word, 8, (off_t)(uintptr_t)at[i]));
		EXPECT_EQ(-1, pwrite(mem, word, 8, (off_t)(uintptr_t)at[i]));
		EXPECT_EQ(-1, vmsplice(pipes[1], &piece, 1, 0));
	}
	fflush(stdout);
	child = fork();
	if (!child) {
		struct iovec local = { word, 8 }, remote;

		/* ordinary memory */
		remote = (struct iovec){ word, 8 };
		if (process_vm_readv(getppid(), &local, 1, &remote, 1, 0) != 8)
			_exit(77);
		reached = 0;
		for (i = 0; i < 3; i++) {
			remote = (struct iovec){ at[i], 8 };
			reached += process_vm_readv(getppid(), &local, 1, &remote, 1, 0) >= 0;
			reached += process_vm_writev(getppid(), &local, 1, &remote, 1, 0) >= 0;
		}
		_exit(reached);
	}
	reached = child_end(child);
	EXPECT_EQ(0u, a->q.status->sq_head);
	if (reached == 77)
		SKIP(return, "a process cannot read its parent's memory here");
	EXPECT_EQ(0, reached);
}

/*
 * ---- Other processes ----------------------------------------------------------------------------
 */

/* Use the context in a process that has the descriptor, but not the memory of the file's owner. */
static int use_as_another(int fd, uint32_t giver_key, uint8_t *memory, uint32_t *mine)
{
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	struct queue q;

	/* the owner's memory is neither mapped nor charged here */
	if (status_kib("VmPin"))
		return 1;
	fill_pattern(memory, PAGE, 0x99);
	if (region_add(fd, memory, PAGE, RW, mine))
		return 2;
	if (status_kib("VmPin") != PAGE / 1024)
		return 3;
	if (queue_create(fd, 2, 2, &q))
		return 4;
	/* the descriptor gives access to the whole context, including the owner's regions */
	d = copy_job(*mine, 0, giver_key, 0, PAGE / 4, 2);
	if (run(&q, &d, &c))
		return 5;
	if (queue_call(&q, GTU_IOCTL_QUEUE_DESTROY))
		return 6;
	return 0;
}

static bool is_mapped(const char *what)
{
	char line[512];
	bool found = false;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f))
		found = found || strstr(line, what);
	if (f)
		fclose(f);
	return found || !f;
}

/* The program that exec_self() runs. A constructor, so that it runs before the harness. */
static void __attribute__((constructor)) behind_exec(void)
{
	const char *text = getenv("GTU_BEHIND_EXEC");
	unsigned int key;
	uint32_t mine;
	int fd, ret;

	if (!text || sscanf(text, "%d %u", &fd, &key) != 2)
		return;
	if (fd < 0)
		_exit(is_mapped("/dev/gtu") ? 10 : 0);
	ret = is_mapped("/dev/gtu") ? 11 : use_as_another(fd, key, pages(PAGE), &mine);
	_exit(ret ? ret : region_remove(fd, mine) ? 12 : 0);
}

static int exec_self(int fd, uint32_t key)
{
	char text[64];
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child)
		return child_end(child);
	snprintf(text, sizeof(text), "%d %u", fd, key);
	setenv("GTU_BEHIND_EXEC", text, 1);
	execl("/proc/self/exe", "isolation_test", (char *)NULL);
	_exit(127);
}

/* No mapping survives exec(); the descriptor survives only without FD_CLOEXEC. */
TEST_F(isolation, no_mapping_survives_exec)
{
	struct side *a = &self->a;
	const long pinned = status_kib("VmPin");
	struct gtu_hw_cpl c;
	int open_fd;

	ASSERT_TRUE(is_mapped("/dev/gtu"));
	EXPECT_EQ(0, exec_self(-1, 0));
	open_fd = dup(a->fd);			/* without FD_CLOEXEC */
	EXPECT_EQ(0, exec_self(open_fd, a->key[WRITE_ONLY]));
	EXPECT_TRUE(is_pattern(a->m[WRITE_ONLY].at, PAGE, 0x99));
	EXPECT_EQ(pinned, status_kib("VmPin"));
	EXPECT_TRUE(side_intact(&self->b, true));
	EXPECT_EQ(GTU_CPL_OK, run(&a->q, &NO_JOB, &c));
	close(open_fd);
}

/*
 * A receiver of the descriptor can use the context. A region that it adds is charged to the
 * receiver and stays with the context after the receiver exits; the sender can remove it.
 */
TEST_F(isolation, a_passed_descriptor_gives_the_whole_context)
{
	struct side *a = &self->a;
	const long pinned = status_kib("VmPin");
	struct gtu_hw_desc d;
	struct gtu_hw_cpl c;
	uint32_t key = 0;
	int ends[2], fd;
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	fflush(stdout);
	child = fork();
	if (!child) {
		int ret;

		close(self->a.fd);
		close(self->b.fd);
		fd = receive_fd(ends[1]);
		ret = fd < 0 ? 20 : use_as_another(fd, a->key[WRITE_ONLY], pages(PAGE), &key);
		if (write(ends[1], &key, 4) != 4)
			ret = 21;
		_exit(ret);
	}
	ASSERT_EQ(0, send_fd(ends[0], a->fd));
	ASSERT_EQ(4, read(ends[0], &key, 4));
	ASSERT_EQ(0, child_end(child));
	EXPECT_TRUE(is_pattern(a->m[WRITE_ONLY].at, PAGE, 0x99));
	EXPECT_TRUE(guarded_ok(&a->m[WRITE_ONLY]));
	EXPECT_TRUE(side_intact(&self->b, true));
	EXPECT_EQ(pinned, status_kib("VmPin"));
	/* the receiver has exited, but its region still exists */
	memset(a->m[BOTH].at, 0, PAGE);
	d = copy_job(key, 0, a->key[BOTH], 0, PAGE / 4, 2);
	ASSERT_EQ(GTU_CPL_OK, run(&a->q, &d, &c));
	EXPECT_TRUE(is_pattern(a->m[BOTH].at, PAGE, 0x99));
	ASSERT_EQ(0, region_remove(a->fd, key));
	EXPECT_EQ(GTU_CPL_KEY, run(&a->q, &d, &c));
	EXPECT_EQ(pinned, status_kib("VmPin"));
}

TEST_HARNESS_MAIN
