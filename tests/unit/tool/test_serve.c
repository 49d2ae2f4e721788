// SPDX-License-Identifier: MIT
/*
 * Tests of gtu serve as a process: jobs over mapped memory, faults, attaching and detaching, its
 * socket.
 */
#include <stdatomic.h>

#include "vfio_client.h"

static struct reply r;

/* ---- A machine with one context, one queue and 1 MiB of memory at bus address BASE ------------- */

#define BASE		0x40000000ull
#define BYTES		0x100000u
#define REGIONS		0x0000u		/* table of 4 */
#define SQ		0x1000u		/* rings of 16 */
#define CQ		0x2000u
#define EVENTS		0x3000u
#define SOURCE		0x10000u	/* region 1: 256 KiB, read */
#define TARGET		0x80000u	/* region 2: 256 KiB, write */
#define DATA		0x40000u

struct machine {
	int sock, file, event;
	uint8_t *memory;
	uint32_t tail;			/* of the submission ring */
};

static uint32_t mailbox(int sock, uint32_t command, const uint64_t *arg, unsigned args)
{
	uint32_t status;

	for (unsigned i = 0; i < args; i++)
		put_region(sock, 0, GTU_REG_MBOX_ARG(i), 8, arg[i]);
	put_region(sock, 0, GTU_REG_MBOX_CMD, 4, command);
	do
		status = get_region(sock, 0, GTU_REG_MBOX_STATUS, 4);
	while (status & GTU_MBOX_BUSY && status != 0xffffffff);
	return status;
}

static void set_region(struct machine *m, unsigned slot, uint32_t rights, uint64_t base, uint64_t bytes)
{
	struct gtu_hw_region e = { .key = GTU_KEY(1, slot), .length = bytes, .base = base };

	e.flags = GTU_REGION_VALID | rights | 12 << GTU_REGION_PAGE_SHIFT;
	memcpy(m->memory + REGIONS + slot * sizeof(e), &e, sizeof(e));
}

/* Set up memory, bus mastering, interrupt vector 1, a context and a queue on a connection. */
static void set_up(struct machine *m)
{
	int vector[2];

	m->file = memfd_create("guest", MFD_CLOEXEC);
	CHECK(!ftruncate(m->file, BYTES));
	m->memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, m->file, 0);
	CHECK(m->memory != MAP_FAILED);
	m->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	m->tail = 0;
	CHECK_EQ(map_memory(m->sock, BASE, BYTES, m->file, 0), 0);
	enable_bus_master(m->sock);
	vector[0] = vector[1] = m->event;
	CHECK_EQ(set_irqs(m->sock, BY_EVENTFD, 0, 2, vector, 2), 0);
	for (uint32_t i = 0; i < DATA; i++)
		m->memory[SOURCE + i] = (uint8_t)(i * 7 + (i >> 8));
	set_region(m, 1, GTU_REGION_READ, BASE + SOURCE, DATA);
	set_region(m, 2, GTU_REGION_WRITE, BASE + TARGET, DATA);
	CHECK_EQ(mailbox(m->sock, GTU_MBOX_CTX_ENABLE, (uint64_t[]){ 0, BASE + REGIONS, 2, 0 }, 4), 0);
	CHECK_EQ(mailbox(m->sock, GTU_MBOX_EVENT_ENABLE, (uint64_t[]){ 0, BASE + EVENTS, 4, 1 }, 4), 0);
	CHECK_EQ(mailbox(m->sock, GTU_MBOX_QUEUE_ENABLE,
			 (uint64_t[]){ 0, 0, BASE + SQ, BASE + CQ, 4 | 4 << 8, 0 }, 6), 0);
}

static void tear_down(struct machine *m)
{
	munmap(m->memory, BYTES);
	close(m->file);
	close(m->event);
	close(m->sock);
}

static void start_machine(struct machine *m, const char *const *more)
{
	m->sock = start_server(more);
	set_up(m);
}

/* Put one COPY of @count 4-byte elements into the ring and write the doorbell. */
static void submit_copy(struct machine *m, uint32_t count)
{
	struct gtu_hw_desc d = { .opcode = GTU_OP_COPY, .param = 2, .cookie = 100 + m->tail };

	d.operand[0] = (struct gtu_hw_operand){ GTU_KEY(1, 1), count, 0 };
	d.operand[1] = (struct gtu_hw_operand){ GTU_KEY(1, 2), count, 0 };
	memcpy(m->memory + SQ + m->tail % 16 * sizeof(d), &d, sizeof(d));
	put_region(m->sock, GTU_BAR_DOORBELL, GTU_DB_ARM, 4, m->tail);
	m->tail++;
	put_region(m->sock, GTU_BAR_DOORBELL, GTU_DB_SUBMIT, 8, m->tail | (uint64_t)(m->tail - 1) << 32);
}

/* The completion of the last job; NULL if it does not arrive within @ms. */
static const struct gtu_hw_cpl *completion(struct machine *m, int ms)
{
	uint32_t index = m->tail - 1;
	struct gtu_hw_cpl *c = (struct gtu_hw_cpl *)(m->memory + CQ) + index % 16;
	uint16_t phase = !(index & 16);

	for (; ms >= 0; ms--) {
		if (__atomic_load_n(&c->phase, __ATOMIC_ACQUIRE) == phase)
			return c;
		usleep(1000);
	}
	return NULL;
}

static void check_copied(struct machine *m, uint32_t count)
{
	const struct gtu_hw_cpl *c = completion(m, 10000);

	CHECKF(c, "no completion");
	CHECK_EQ(c->status, GTU_CPL_OK);
	CHECK_EQ(c->count, count);
	CHECK_EQ(c->cookie, 100 + m->tail - 1);
	CHECK(!memcmp(m->memory + SOURCE, m->memory + TARGET, count * 4ull));
}

TEST(copies_over_the_socket_complete_with_interrupts)
{
	struct machine m;

	start_machine(&m, NULL);
	for (unsigned i = 0; i < 40; i++) {	/* more than two passes through the rings */
		uint32_t count = 1 + (i * 1699) % (DATA / 4);

		memset(m.memory + TARGET, 0xaa, DATA);
		submit_copy(&m, count);
		check_copied(&m, count);
		CHECK_EQ(m.memory[TARGET + DATA - 1], count == DATA / 4 ? m.memory[SOURCE + DATA - 1] : 0xaa);
		CHECKF(take_event(m.event, 10000) == 1, "no interrupt for job %u", i);
		put_region(m.sock, 0, GTU_REG_EVENT_HEAD(0), 4, i + 1);
	}
	CHECK_EQ(get_region(m.sock, 0, GTU_REG_ERROR, 4), 0);
	tear_down(&m);
}

static uint64_t private_kib(pid_t pid)
{
	unsigned long kib = 0;
	char path[40], line[200];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	CHECK(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %lu", &kib) == 1)
			break;
	fclose(f);
	CHECK(kib);
	return kib;
}

/*
 * IRU and Weaver read an edge list of the machine's memory in place: the server's own memory does
 * not grow, and a record has the list's elements.
 */
TEST(edge_lists_are_not_copied)
{
	const uint64_t list = 0x50000000, bytes = 64 << 20;
	int file = memfd_create("list", MFD_CLOEXEC);
	uint64_t before;
	uint32_t *col;
	struct machine m;

	start_machine(&m, NULL);
	CHECK(!ftruncate(file, (off_t)bytes));
	col = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(col != MAP_FAILED);
	for (uint64_t i = 0; i < bytes / 4; i++)
		col[i] = (uint32_t)(i * 7 % 100003);
	CHECK_EQ(map_memory(m.sock, list, bytes, file, 0), 0);
	set_region(&m, 1, GTU_REGION_READ, list, bytes);
	set_region(&m, 2, GTU_REGION_READ | GTU_REGION_WRITE, BASE + TARGET, DATA);
	set_region(&m, 3, GTU_REGION_READ, BASE + SOURCE, DATA);
	for (unsigned weaver = 0; weaver < 2; weaver++) {
		const struct gtu_hw_ring *ring = (const void *)(m.memory + TARGET);
		struct gtu_hw_registration *reg = (void *)(m.memory + SOURCE);
		struct gtu_hw_desc d = { .opcode = GTU_OP_IRU_STREAM,
					 .param = GTU_IRU_RANGES | GTU_IRU_WITH_POSITION };
		uint32_t *first = (void *)reg, *count = first + 64;
		const struct gtu_hw_cpl *c;

		/* 64 ranges of 100 edges over the whole list */
		for (uint32_t i = 0; i < 64 && !weaver; i++) {
			first[i] = (uint32_t)(bytes / 4 / 64 * i);
			count[i] = 100;
		}
		for (uint32_t i = 0; i < 64 && weaver; i++)
			reg[i] = (struct gtu_hw_registration){ .entry = i, .vid = i, .degree = 100,
							       .start = bytes / 4 / 64 * i };
		d.operand[GTU_IRU_INDICES] = (struct gtu_hw_operand){ GTU_KEY(1, 1), 6400, 0 };
		d.operand[GTU_IRU_RING] = (struct gtu_hw_operand){ GTU_KEY(1, 2), 512, 0 };
		d.operand[GTU_IRU_FIRST] = (struct gtu_hw_operand){ GTU_KEY(1, 3), 64, 0 };
		d.operand[GTU_IRU_COUNT] = (struct gtu_hw_operand){ GTU_KEY(1, 3), 64, 256 };
		if (weaver)
			d = (struct gtu_hw_desc){
				.opcode = GTU_OP_WVR_STREAM, .param = GTU_WVR_WITH_TARGET,
				.operand = {
					[GTU_WVR_TABLE] = { GTU_KEY(1, 3), 64, 0 },
					[GTU_WVR_RING] = { GTU_KEY(1, 2), 512, 0 },
					[GTU_WVR_EDGES] = { GTU_KEY(1, 1), GTU_COUNT_TO_END, 0 },
				},
			};
		memset(m.memory + TARGET, 0, sizeof(*ring));
		before = private_kib(server_pid);
		memcpy(m.memory + SQ + m.tail % 16 * sizeof(d), &d, sizeof(d));
		m.tail++;
		put_region(m.sock, GTU_BAR_DOORBELL, GTU_DB_SUBMIT, 8, m.tail | (uint64_t)(m.tail - 1) << 32);
		c = completion(&m, 10000);
		CHECKF(c, "no completion");
		CHECK_EQ(c->status, GTU_CPL_OK);
		CHECK(c->count >= 200);
		/* the sanitizers' own memory may grow by some MiB */
		CHECKF(private_kib(server_pid) < before + (bytes >> 10) / 8, "the server has %llu KiB, %llu before",
		       (unsigned long long)private_kib(server_pid), (unsigned long long)before);
		for (uint64_t i = 0; i < c->count; i++) {
			const struct gtu_hw_warp *w = (const void *)((const char *)(ring + 1) +
								     i * GTU_WARP_BYTES(weaver ? 3u : 2u, 0));
			const uint32_t *lane = (const uint32_t *)(w + 1);

			for (unsigned l = 0; l < 32; l++) {
				const uint64_t at = lane[32 + l];
				const uint64_t e = weaver ? at : bytes / 4 / 64 * (at / 100) + at % 100;

				if (w->active >> l & 1)
					CHECK_EQ(lane[weaver ? 64 + l : l], col[e]);
			}
		}
	}
	munmap(col, bytes);
	close(file);
	tear_down(&m);
}

/*
 * The device does not access memory that is unmapped, inaccessible or not permitted, and reports
 * that.
 */
TEST(unmapped_memory_is_not_accessed)
{
	struct machine m;
	const struct gtu_hw_cpl *c;

	start_machine(&m, NULL);
	memset(m.memory + TARGET, 0x55, DATA);
	CHECK_EQ(unmap_memory(m.sock, BASE + TARGET, 0x1000), 0);
	submit_copy(&m, 64);
	c = completion(&m, 10000);
	CHECK(c && c->status == GTU_CPL_DMA);
	for (unsigned i = 0; i < DATA; i++)
		CHECK_EQ(m.memory[TARGET + i], 0x55);
	/* known, but without a file: still inaccessible */
	CHECK_EQ(map_memory(m.sock, BASE + TARGET, 0x1000, -1, 0), 0);
	submit_copy(&m, 64);
	c = completion(&m, 10000);
	CHECK(c && c->status == GTU_CPL_DMA);
	CHECK_EQ(unmap_memory(m.sock, BASE + TARGET, 0x1000), 0);
	CHECK_EQ(map_memory(m.sock, BASE + TARGET, 0x1000, m.file, TARGET), 0);
	submit_copy(&m, DATA / 4);		/* across two adjacent maps */
	check_copied(&m, DATA / 4);

	put_region(m.sock, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	memset(m.memory + TARGET, 0x55, DATA);
	submit_copy(&m, 64);
	CHECK(!completion(&m, 100));
	CHECK_EQ(m.memory[TARGET], 0x55);
	CHECK(get_region(m.sock, 0, GTU_REG_ERROR, 4) & GTU_ERROR_DMA);
	tear_down(&m);
}

TEST(read_only_memory_is_not_written)
{
	struct dma_map ro = { sizeof(ro), VFIO_DMA_MAP_FLAG_READ, TARGET, BASE + TARGET, DATA };
	const struct gtu_hw_cpl *c;
	struct machine m;

	start_machine(&m, NULL);
	memset(m.memory + TARGET, 0x55, DATA);
	CHECK_EQ(unmap_memory(m.sock, BASE + TARGET, DATA), 0);
	CHECK_EQ(ask_fds(m.sock, CMD_DMA_MAP, &ro, sizeof(ro), &m.file, 1, &r), 0);
	submit_copy(&m, 64);
	c = completion(&m, 10000);
	CHECK(c && c->status == GTU_CPL_DMA);
	CHECK_EQ(m.memory[TARGET], 0x55);
	tear_down(&m);
}

/* If a peer truncates a mapped file, the server drops that connection and accepts new ones. */
TEST(a_truncated_memory_file_drops_its_connection)
{
	struct machine m;

	start_machine(&m, NULL);
	munmap(m.memory, BYTES);
	CHECK(!ftruncate(m.file, 0x10000));
	m.memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, m.file, 0);
	submit_copy(&m, 64);			/* its source is after the end of the file */
	CHECK(!receive_reply(m.sock, &r));
	tear_down(&m);
	m.sock = connect_server();
	CHECK_EQ(say_version(m.sock, &r), 0);
	set_up(&m);
	submit_copy(&m, 64);
	check_copied(&m, 64);
	tear_down(&m);
}

/*
 * Every machine finds the device in its state after power-on, even if the last one left with jobs
 * in flight.
 */
TEST(reattach_resets_device)
{
	struct machine m;
	uint64_t epoch = 0;

	m.sock = start_server(NULL);
	for (unsigned i = 0; i < 20; i++) {
		if (!i)
			epoch = get_region(m.sock, 0, GTU_REG_EPOCH, 4);
		CHECK_EQ(get_region(m.sock, 0, GTU_REG_EPOCH, 4), epoch);
		CHECK_EQ(get_region(m.sock, 0, GTU_REG_SCRATCH, 8), 0);
		CHECK_EQ(get_region(m.sock, 4, 0, 8), 0);
		CHECK_EQ(get_region(m.sock, CONFIG, PCI_COMMAND, 2), 0);
		put_region(m.sock, 0, GTU_REG_SCRATCH, 8, 77);
		put_region(m.sock, 4, 0, 8, 77);
		set_up(&m);
		submit_copy(&m, DATA / 4);
		if (i % 2)
			check_copied(&m, DATA / 4);
		tear_down(&m);
		m.sock = connect_server();
		CHECK_EQ(say_version(m.sock, &r), 0);
	}
	close(m.sock);
}

TEST(second_connection_is_refused)
{
	int first = start_server(NULL), second = connect_server();

	CHECK_EQ(say_version(second, &r), -1);
	close(second);
	CHECK_EQ(get_region(first, 0, GTU_REG_MAGIC, 4), GTU_MAGIC);
}

/* A stranger beside an attached machine, which counts its connections: @kind 0 connects, 1 sends garbage, 2 is silent. */
static void __attribute__((noreturn)) stranger(unsigned kind, atomic_uint *count)
{
	struct header bad = { 1, CMD_VERSION, 0xffffffff, 0, 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int fd = vfio_user_connect(server_path, WAIT_S);

		if (fd < 0)
			continue;
		/* the server closes a silent one */
		if (kind == 0 || (kind == 1 && vfio_user_send(fd, &bad, sizeof(bad), NULL, 0)) ||
		    (kind == 2 && recv(fd, &bad, sizeof(bad), 0) == 0))
			atomic_fetch_add(count, 1);
		close(fd);
	}
}

TEST(strangers_do_not_disturb_the_machine)
{
	atomic_uint *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child[3];
	struct machine m;
	unsigned i;

	CHECK(count != MAP_FAILED);
	start_machine(&m, NULL);
	for (i = 0; i < 3; i++) {
		child[i] = fork();
		CHECK(child[i] >= 0);
		if (!child[i])
			stranger(i, &count[i]);
	}
	for (i = 0; i < 50 || (i < 20000 && (count[0] < 10 || count[1] < 10 || count[2] < 10)); i++) {
		memset(m.memory + TARGET, 0xaa, DATA);
		submit_copy(&m, 1 + i % 50 * 997);
		check_copied(&m, 1 + i % 50 * 997);
		put_region(m.sock, 0, GTU_REG_EVENT_HEAD(0), 4, i + 1);
	}
	for (i = 0; i < 3; i++) {
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
	for (i = 0; i < 3; i++)
		CHECKF(count[i] >= 10, "a stranger of kind %u has connected %u times", i, count[i]);
	tear_down(&m);
	munmap(count, 4096);
}

/* ---- Faults ------------------------------------------------------------------------------------- */

TEST(lose_irq_drops_every_third_interrupt)
{
	static const char *const third[] = { "--fault", "lose-irq=3", NULL };
	struct machine m;

	start_machine(&m, third);
	for (unsigned i = 1; i <= 9; i++) {
		submit_copy(&m, 64);
		check_copied(&m, 64);
		CHECK_EQ(take_event(m.event, i % 3 ? 10000 : 50), i % 3 != 0);
		put_region(m.sock, 0, GTU_REG_EVENT_HEAD(0), 4, i);
	}
	tear_down(&m);
}

TEST(a_stall_completes_no_job_but_answers_reads)
{
	static const char *const late[] = { "--fault", "stall=100", NULL };
	struct machine m;

	start_machine(&m, late);
	submit_copy(&m, 64);
	check_copied(&m, 64);
	while (get_region(m.sock, 0, GTU_REG_MAGIC, 4) == GTU_MAGIC && m.tail++ < 100)
		;
	m.tail = 1;
	submit_copy(&m, 64);
	CHECK(!completion(&m, 200));
	CHECK_EQ(get_region(m.sock, 0, GTU_REG_MAGIC, 4), GTU_MAGIC);
	tear_down(&m);
}

TEST(registers_read_all_ones_from_the_given_access)
{
	static const char *const fifth[] = { "--fault", "all-ones=5", NULL };
	int sock = start_server(fifth), i;

	for (i = 1; i < 5; i++)
		CHECK_EQ(get_region(sock, 0, GTU_REG_MAGIC, 4), GTU_MAGIC);
	CHECK_EQ(get_region(sock, 0, GTU_REG_MAGIC, 4), 0xffffffff);
	CHECK_EQ(get_region(sock, 4, 0, 8), ~0ull);
	CHECK_EQ(get_region(sock, CONFIG, 0, 2), 0xffff);
	put_region(sock, 0, GTU_REG_SCRATCH, 8, 1);
	CHECK_EQ(ask(sock, CMD_RESET, NULL, 0, &r), 0);
	CHECK_EQ(get_region(sock, 0, GTU_REG_MAGIC, 4), 0xffffffff);
}

TEST(die_at_kills_the_server_at_the_given_access)
{
	static const char *const third[] = { "--fault", "die-at=3", NULL };
	int sock = start_server(third), status;
	uint64_t value;

	CHECK_EQ(get_region(sock, 0, GTU_REG_MAGIC, 4), GTU_MAGIC);
	CHECK_EQ(get_region(sock, 0, GTU_REG_MAGIC, 4), GTU_MAGIC);
	CHECK_EQ(read_region(sock, 0, GTU_REG_MAGIC, 4, &value), -1);
	status = server_status();
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	close(sock);
	/* the next server replaces the socket file that was left behind */
	CHECK(!access(server_path, F_OK));
	sock = start_server(NULL);
	CHECK_EQ(get_region(sock, 0, GTU_REG_MAGIC, 4), GTU_MAGIC);
}

/* Messages that it leaves unread must not reset the connection: QEMU 11.1 aborts over that. */
TEST(fault_die_at_ends_the_stream)
{
	static const char *const first[] = { "--fault", "die-at=1", NULL };
	struct {
		struct header head;
		uint64_t offset;
		uint32_t region, count;
	} ask[64];
	int sock = start_server(first), status;
	char byte;

	for (unsigned i = 0; i < 64; i++) {
		memset(&ask[i], 0, sizeof(ask[i]));
		ask[i].head = (struct header){ .id = (uint16_t)i, .command = CMD_REGION_READ, .size = sizeof(ask[i]) };
		ask[i].offset = GTU_REG_MAGIC;
		ask[i].count = 4;
	}
	CHECK(vfio_user_send(sock, ask, sizeof(ask), NULL, 0));
	CHECK_EQ(recv(sock, &byte, 1, 0), 0);
	status = server_status();
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	/* also when the process has ended */
	CHECK_EQ(recv(sock, &byte, 1, 0), 0);
}

/* ---- The process --------------------------------------------------------------------------------- */

static int run_tool(const char *path, const char *const *more)
{
	pid_t kept = server_pid;
	int status;

	server_pid = 0;
	spawn_server(path, more);
	status = server_status();
	server_pid = kept;
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(signals_end_server)
{
	static const int sig[] = { SIGTERM, SIGINT };
	struct machine m;
	int status;

	for (unsigned i = 0; i < 2; i++) {
		start_machine(&m, NULL);
		submit_copy(&m, DATA / 4);
		kill(server_pid, sig[i]);
		status = server_status();
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
		CHECK(access(server_path, F_OK));
		tear_down(&m);
	}
}

TEST(once_ends_the_server_after_one_machine)
{
	static const char *const more[] = { "--once", NULL };
	int sock, probe, status;

	name_socket();
	spawn_server(server_path, more);
	probe = connect_server();	/* a connection without CMD_VERSION is not a machine */
	close(probe);
	sock = connect_server();
	CHECK_EQ(say_version(sock, &r), 0);
	close(sock);
	status = server_status();
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	CHECK(access(server_path, F_OK));
}

TEST(unusable_socket_paths_are_refused)
{
	char plain[128], longer[200];
	int sock = start_server(NULL);
	FILE *f;

	CHECK_EQ(run_tool(server_path, NULL), 1);	/* another server listens there */
	CHECK_EQ(get_region(sock, 0, GTU_REG_MAGIC, 4), GTU_MAGIC);
	snprintf(plain, sizeof(plain), "%s/plain", test_tmpdir());
	f = fopen(plain, "w");
	fputs("kept", f);
	fclose(f);
	CHECK_EQ(run_tool(plain, NULL), 1);		/* a regular file is not removed */
	CHECK(!access(plain, F_OK));
	CHECK_EQ(run_tool("/nonexistent/folder/socket", NULL), 1);
	memset(longer, 'x', sizeof(longer));
	longer[150] = 0;
	CHECK_EQ(run_tool(longer, NULL), 2);
}

TEST(usage_errors_end_with_status_2)
{
	static const char *const wrong[][3] = {
		{ "--fault", "nothing" }, { "--fault", "stall=0" }, { "--fault", "stall=x" },
		{ "--aperture", "3M" }, { "--aperture", "0" }, { "--fault" }, { "--what" }, { "more" },
	};

	name_socket();
	for (unsigned i = 0; i < LENGTH(wrong); i++)
		CHECK_EQ(run_tool(server_path, wrong[i]), 2);
	CHECK_EQ(run_tool("", NULL), 2);
}

TEST_MAIN
