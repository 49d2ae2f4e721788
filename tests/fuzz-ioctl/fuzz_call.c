// SPDX-License-Identifier: MIT
/* Executes the calls of a program. Their errors are ignored: the kernel log reports bugs. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz_ioctl.h"
#include "uapi/gtu/hw.h"

#define ARENA		(64u * 4096u)
#define WINDOW		0x200000000000ull	/* address range of all mappings, to unmap them at once */
#define WINDOW_BYTES	(1ull << 32)
#define BLOCK		2048u		/* offset of the parameter block in the arena */
#define THINGS		16u		/* results remembered per kind */
#define TICK_US		20000u		/* period of SIGALRM, which interrupts longer sleeps */
#define TICKS		50u		/* the process ends after this many signals */
#define CHILDREN	2u		/* processes and threads that a program may add */

struct things {
	uint64_t thing[THINGS];
	unsigned n;
};

static struct things have[FUZZ_KINDS];
static uint8_t *arena;
static const char *const *path;
static unsigned children, ticks;
static uint64_t mapped_bytes;
static bool resets, spoilt, forked;

/* Threads of a program share these arrays without a lock; any value read is one of the results. */
void fuzz_give(enum fuzz_kind kind, uint64_t value)
{
	unsigned n = __atomic_fetch_add(&have[kind].n, 1, __ATOMIC_RELAXED);

	__atomic_store_n(&have[kind].thing[n % THINGS], value, __ATOMIC_RELAXED);
}

uint64_t fuzz_resolve(uint64_t value)
{
	const unsigned kind = value >> 56, back = value & 0xff;
	unsigned n;

	if (kind == FUZZ_PLAIN || kind >= FUZZ_KINDS)
		return value;
	n = __atomic_load_n(&have[kind].n, __ATOMIC_RELAXED);
	if (kind == FUZZ_ADDRESS && !n)
		return (uintptr_t)arena;
	return back < n && back < THINGS ? __atomic_load_n(&have[kind].thing[(n - 1 - back) % THINGS], __ATOMIC_RELAXED) : 0;
}

/* Build a descriptor from a call's values, mostly a valid one. OPERAND changes its operands. */
static void describe(struct gtu_hw_desc *d, const uint64_t *v)
{
	unsigned i;

	memset(d, 0, sizeof(*d));
	d->opcode = (uint8_t)v[1];
	d->param = (uint32_t)v[2];
	d->flags = (uint16_t)(v[2] >> 32);
	d->imm = v[3];
	for (i = 0; i < 2; i++) {
		d->operand[i].key = (uint32_t)fuzz_resolve(v[4 + i]);
		d->operand[i].count = d->operand[i].key ? (uint32_t)v[6] : 0;
		d->operand[i].offset = d->operand[i].key ? v[7] : 0;
	}
}

/*
 * Set operand v[1] of the newest descriptor or, beyond its own operands, of the parameter block in
 * the arena.
 */
static void give_operand(struct gtu_hw_desc *d, const uint64_t *v)
{
	struct gtu_hw_operand op = { .offset = v[4], .count = (uint32_t)v[3], .key = (uint32_t)fuzz_resolve(v[2]) };
	const unsigned at = (unsigned)v[1] % (GTU_DESC_OPERANDS + GTU_BLOCK_OPERANDS);

	if (at < GTU_DESC_OPERANDS)
		d->operand[at] = op;
	else
		memcpy(arena + BLOCK + (at - GTU_DESC_OPERANDS) * sizeof(op), &op, sizeof(op));
}

/* True if the page is mapped: an access to unmapped memory would end the process too early. */
static bool mapped(uint64_t at)
{
	unsigned char in;

	return at % 4096 == 0 && !mincore((void *)(uintptr_t)at, 4096, &in) && in <= 1;
}

/* An address for @bytes that is not adjacent to another mapping. */
static void *free_address(size_t bytes)
{
	const uint64_t step = (bytes + 0x3fffff) & ~0x1fffffull;

	return (void *)(uintptr_t)(WINDOW + __atomic_fetch_add(&mapped_bytes, step, __ATOMIC_RELAXED) % WINDOW_BYTES);
}

static __thread sigjmp_buf escape;
static __thread volatile sig_atomic_t storing;

static void fault(int signal)
{
	(void)signal;
	if (!storing)
		_exit(0);
	siglongjmp(escape, 1);
}

/*
 * Store to the first page of a mapping, which another thread may unmap meanwhile or which may be
 * read-only.
 */
static void store(uint64_t at, uint64_t offset, const uint64_t *words, size_t bytes)
{
	volatile uint64_t *to = (uint64_t *)(uintptr_t)(at + offset);
	size_t i;

	if (!mapped(at))
		return;
	if (!sigsetjmp(escape, 1)) {
		storing = 1;
		for (i = 0; i < bytes / sizeof(*words); i++)
			to[i] = words[i];
	}
	storing = 0;
}

static void call_mmap(const uint64_t *v)
{
	const size_t bytes = fuzz_resolve(v[2]) & 0xffffff;
	void *map = mmap(free_address(bytes), bytes, (int)(v[3] & 7), v[4] & 1 ? MAP_PRIVATE : MAP_SHARED, (int)fuzz_resolve(v[0]),
			 (off_t)(fuzz_resolve(v[1]) + (v[5] & 0xf000)));

	if (map == MAP_FAILED)
		return;
	fuzz_give(FUZZ_ADDRESS, (uintptr_t)map);
	/* make the first page accessible, so that touching it does not end the process */
	if (!(v[3] & PROT_READ) || !(v[3] & PROT_WRITE))
		mprotect(map, 4096, PROT_READ | PROT_WRITE);
}

/* Map memory for a region: v[0] is the kind, v[1] the length. */
static void call_memory(const uint64_t *v)
{
	const size_t length = fuzz_resolve(v[1]) & 0x3fffff;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, fd = -1, prot = PROT_READ | PROT_WRITE;
	void *map;

	switch (v[0] & 7) {
	case 1:
		prot = PROT_READ;
		break;
	case 2:
		fd = memfd_create("fuzz", 0);
		flags = MAP_SHARED;
		if (ftruncate(fd, (off_t)length))
			prot = PROT_READ;
		break;
	case 3:
		fd = open("/proc/self/exe", O_RDONLY);
		flags = MAP_PRIVATE;
		break;
	case 4:
		flags |= MAP_HUGETLB;
		break;
	case 5:
		fd = open("/proc/self/exe", O_RDONLY);
		flags = MAP_SHARED;
		prot = PROT_READ;
		break;
	}
	map = mmap(free_address(length), length, prot, flags, fd, 0);
	if (fd >= 0)
		close(fd);
	if (map != MAP_FAILED)
		fuzz_give(FUZZ_ADDRESS, (uintptr_t)map);
}

/*
 * Create a dma-buf of another driver. The first access by the CPU makes udmabuf's table of pages. No other thread has the file
 * yet: two at once make two tables, of which Linux (up to 6.12 at least) leaks one, mapped; later owners of its pages are then
 * reported for "overlapping mappings".
 */
static void call_foreign(const uint64_t *v)
{
	const uint64_t length = (v[0] & 15) * 4096;
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_RW };
	struct udmabuf_create create = { .memfd = (uint32_t)memfd_create("fuzz", MFD_ALLOW_SEALING), .size = length };
	int fd = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), made;

	if (ftruncate((int)create.memfd, (off_t)length) || fcntl((int)create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		create.size = 0;
	made = ioctl(fd, UDMABUF_CREATE, &create);
	if (made >= 0) {
		ioctl(made, DMA_BUF_IOCTL_SYNC, &sync);
		fuzz_give(FUZZ_FD, (uint64_t)made);
	}
	close(fd);
	close((int)create.memfd);
}

/* Read the device's debugfs and sysfs files while it is in use. */
static void call_look(const uint64_t *v)
{
	static const char *const what[] = { "/sys/kernel/debug/gtu/%s/registers", "/sys/kernel/debug/gtu/%s/contexts",
		"/sys/kernel/debug/gtu/%s/queues", "/sys/kernel/debug/gtu/%s/regions", "/sys/kernel/debug/gtu/%s/events",
		"/sys/kernel/debug/gtu/%s/dump", "/sys/class/gtu/%s/state", "/sys/class/gtu/%s/fdt" };
	char name[96], some[4096];
	int fd;

	snprintf(name, sizeof(name), what[v[0] & 7], path[v[1] & 1] + sizeof("/dev/") - 1);
	fd = open(name, O_RDONLY);
	while (fd >= 0 && read(fd, some, sizeof(some)) > 0)
		;
	close(fd);
}

/* Reset the function while it is open. */
static void call_reset(const uint64_t *v)
{
	char name[96];
	int fd;

	if (!resets)
		return;
	resets = false;
	snprintf(name, sizeof(name), "/sys/class/gtu/%s/device/reset", path[v[0] & 1] + sizeof("/dev/") - 1);
	fd = open(name, O_WRONLY);
	if (fd >= 0 && write(fd, "1", 1) < 0)
		resets = true;
	close(fd);
}

static void nobody(const uint64_t *v)
{
	struct rlimit limit = { .rlim_cur = v[0] & 0xfffff, .rlim_max = v[0] & 0xfffff };

	spoilt = true;
	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		return;
}

static void tick(int signal)
{
	(void)signal;
	if (++ticks >= TICKS)
		_exit(0);
}

static void begin_ticking(void)
{
	const struct itimerval each = { { 0, TICK_US }, { 0, TICK_US } };

	ticks = 0;
	setitimer(ITIMER_REAL, &each, NULL);
}

struct rest {
	const struct fuzz_program *program;
	unsigned from;
	struct gtu_hw_desc desc[4];
};

static void run(const struct fuzz_program *p, unsigned from, struct gtu_hw_desc *desc);

static void *run_thread(void *arg)
{
	struct rest *rest = arg;

	run(rest->program, rest->from, rest->desc);
	return NULL;
}

/*
 * Continue the program in a second thread of the process, v[0] calls ahead; both share all results.
 */
static void call_thread(const struct fuzz_program *p, unsigned from, const struct gtu_hw_desc *desc, pthread_t *thread)
{
	struct rest *rest = malloc(sizeof(*rest));

	if (!rest)
		return;
	rest->program = p;
	rest->from = from;
	memcpy(rest->desc, desc, sizeof(rest->desc));
	*thread = 0;
		/* `rest` is freed with the process */
	pthread_create(thread, NULL, run_thread, rest);
}

/* Execute a call that is not an ioctl of the driver. */
static void call_other(const struct fuzz_call *c, struct gtu_hw_desc *desc)
{
	const uint64_t *v = c->value, at = fuzz_resolve(v[1]);
	struct pollfd poll_fd = { .fd = (int)fuzz_resolve(v[0]), .events = (short)v[1] };
	uint64_t doorbell[1];
	uint8_t some[256];
	unsigned n;
	void *map;
	int fd;

	switch (c->op) {
	case FUZZ_OPEN:
		fd = open(path[v[0] & 1], (int)(v[1] & (O_NONBLOCK | O_CLOEXEC | O_ACCMODE)) | (v[1] & 1 ? 0 : O_RDWR));
		if (fd >= 0)
			fuzz_give(FUZZ_FD, (uint64_t)fd);
		break;
	case FUZZ_CLOSE:
		if (fuzz_resolve(v[0]) > 2)
			close((int)fuzz_resolve(v[0]));
		break;
	case FUZZ_DUP:
		fd = dup((int)fuzz_resolve(v[0]));
		if (fd >= 0)
			fuzz_give(FUZZ_FD, (uint64_t)fd);
		break;
	case FUZZ_MMAP: call_mmap(v); break;
	case FUZZ_MUNMAP:
		if (mapped(at))
			munmap((void *)(uintptr_t)at, fuzz_resolve(v[2]) & 0x3fffff);
		break;
	case FUZZ_MREMAP:
		if (!mapped(at))
			break;
		n = (unsigned)fuzz_resolve(v[3]) & 0x3fffff;
		map = v[4] & 1 ? mremap((void *)(uintptr_t)at, fuzz_resolve(v[2]) & 0x3fffff, n, MREMAP_MAYMOVE | MREMAP_FIXED, free_address(n)) :
				 mremap((void *)(uintptr_t)at, fuzz_resolve(v[2]) & 0x3fffff, n, 0);
		if (map != MAP_FAILED)
			fuzz_give(FUZZ_ADDRESS, (uintptr_t)map);
		break;
	case FUZZ_TOUCH:
		if (!mapped(at))
			break;
		/* the kernel's copy fails where a store would end the process */
		fd = open("/dev/zero", O_RDONLY);
		n = (unsigned)(read(fd, (void *)(uintptr_t)at, v[2] & 0xfff) >= 0);
		close(fd);
		madvise((void *)(uintptr_t)at, 4096 * n, (int)(v[3] & 31));
		break;
	case FUZZ_DOORBELL:
		/* 64-bit stores, as for tail and head */
		doorbell[0] = v[3];
		store(at, v[2] & 0xff8, doorbell, sizeof(doorbell));
		break;
	case FUZZ_JOB:
		for (n = 3; n; n--)
			desc[n] = desc[n - 1];
		describe(desc, v);
		store(fuzz_resolve(v[0]), 0, (const uint64_t *)desc, 4 * sizeof(*desc));
		break;
	case FUZZ_OPERAND:
		give_operand(desc, v);
		store(fuzz_resolve(v[0]), 0, (const uint64_t *)desc, sizeof(*desc));
		break;
	case FUZZ_READ:
		if (!(v[2] & 1))
			fcntl((int)fuzz_resolve(v[0]), F_SETFL, O_NONBLOCK);
		if (fuzz_resolve(v[0]) > 2)
			(void)!read((int)fuzz_resolve(v[0]), v[3] & 1 ? NULL : some, v[1] & 255);
		break;
	case FUZZ_POLL: poll(&poll_fd, 1, (int)(v[2] & 3)); break;
	case FUZZ_EVENTFD:
		fd = eventfd((unsigned int)v[0] & 3, EFD_NONBLOCK);
		if (fd >= 0)
			fuzz_give(FUZZ_FD, (uint64_t)fd);
		break;
	case FUZZ_RAW:
		if (v[2] & 1)
			store((uintptr_t)arena, 0, v + 3, (FUZZ_VALUES - 3) * sizeof(*v));
		if (fuzz_resolve(v[0]) > 2)
			ioctl((int)fuzz_resolve(v[0]), v[1], v[2] & 1 ? (void *)arena : (void *)(uintptr_t)v[3]);
		break;
	case FUZZ_MEMORY: call_memory(v); break;
	case FUZZ_FOREIGN: call_foreign(v); break;
	case FUZZ_LOOK: call_look(v); break;
	case FUZZ_RESET: call_reset(v); break;
	case FUZZ_NOBODY: nobody(v); break;
	}
}

static void run(const struct fuzz_program *p, unsigned from, struct gtu_hw_desc *desc)
{
	pthread_t thread[CHILDREN];
	unsigned i, threads = 0;

	for (i = from; i < p->calls; i++) {
		const struct fuzz_call *c = &p->call[i];

		if (c->op < FUZZ_IOCTLS) {
			fuzz_ioctl(c, desc);
		} else if (c->op == FUZZ_FORK) {
			/* both processes continue and use the shared resources concurrently */
			if (__atomic_fetch_add(&children, 1, __ATOMIC_RELAXED) < CHILDREN && !fork()) {
				forked = true;
				begin_ticking();
			}
		} else if (c->op == FUZZ_THREAD) {
			if (__atomic_fetch_add(&children, 1, __ATOMIC_RELAXED) < CHILDREN)
				call_thread(p, i + 1 + (c->value[0] & 3), desc, &thread[threads++]);
		} else {
			call_other(c, desc);
		}
	}
	while (threads--)
		if (thread[threads])
			pthread_join(thread[threads], NULL);
}

void fuzz_prepare(const char *const device[2])
{
	path = device;
	/* without SA_RESTART, so that sleeping calls are interrupted */
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = tick }, NULL);
	sigaction(SIGSEGV, &(struct sigaction){ .sa_handler = fault }, NULL);
	sigaction(SIGBUS, &(struct sigaction){ .sa_handler = fault }, NULL);
}

bool fuzz_execute(const struct fuzz_program *p, bool may_reset)
{
	struct gtu_hw_desc desc[4];

	memset(have, 0, sizeof(have));
	memset(desc, 0, sizeof(desc));
	mapped_bytes = 0;
	children = 0;
	resets = may_reset;
	begin_ticking();
	arena = mmap(free_address(ARENA), ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	run(p, 0, desc);
	/* wait for processes of FORK: there are only a few, and each ends by itself */
	while (wait(NULL) > 0)
		;
	if (forked || spoilt)
		return false;
	if (p->calls & 1) {
		close_range(3, ~0u, 0);
		munmap((void *)WINDOW, WINDOW_BYTES);
	} else {
		munmap((void *)WINDOW, WINDOW_BYTES);
		close_range(3, ~0u, 0);
	}
	return true;
}
