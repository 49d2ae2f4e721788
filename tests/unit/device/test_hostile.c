// SPDX-License-Identifier: MIT
/*
 * Hostile contexts: random and plausible descriptors for every unit, in several queues of two
 * contexts. Meanwhile another thread rewrites descriptors, parameter blocks, graphs, indices,
 * masks, tables and ring headers; regions are mapped and unmapped (their memory is freed once
 * INVALIDATE is done); queues, contexts and the device are reset in the middle of jobs. The test
 * checks that:
 *
 *   the device accesses no address that it was not given, and no byte outside regions (canaries fill the rest of
 *   their pages and of the aperture; inaccessible pages surround them);
 *   read-only regions do not change, and the jobs of a third, well-behaved context give the right results;
 *   every job completes, in order, at the latest when it is canceled; memory use does not grow.
 *
 * GTU_HOSTILE_JOBS sets the number of descriptors and shows progress (`make fuzz-descriptors
 * COUNT=`); GTU_SEED sets the seed. A seed does not reproduce the timing of the other thread.
 */
#include <regex.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile_world.h"
#include "libruntime/support/clock.h"

#define VALID_BYTES	8192u
#define ROUND		1024u		/* batches between two checks of all memory */
#define TIMEOUT	300u		/* timeout: batches until a pending job is canceled */
#define STEPS_MAX	1000000u	/* in which the device must complete everything */
#define GROWTH_MAX	(4ull << 20)

static volatile sig_atomic_t show_progress;	/* show progress */
static struct world *the_world;

static uint64_t resident(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	CHECKF(f && fscanf(f, "%*u %lu", &pages) == 1, "/proc/self/statm cannot be read");
	fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

#ifndef __SANITIZE_ADDRESS__
/* SIGSEGV handler: report the access to an inaccessible page, then die. The sanitizer has its own. */
static void outside(int number, siginfo_t *info, void *context)
{
	char text[160];
	int n = snprintf(text, sizeof(text), "# after %llu descriptors: access outside all regions at %p\n",
			 the_world ? (unsigned long long)the_world->jobs : 0ull, info->si_addr);

	(void)context;
	if (write(STDOUT_FILENO, text, (size_t)n) < 0)
		_exit(1);
	signal(number, SIG_DFL);
	raise(number);
}
#endif

/* ---- The well-behaved context ---------------------------------------------------------------- */

static void valid_submit(struct world *w)
{
	const uint32_t count = 1 + (uint32_t)pick(w, 256);

	w->asked = (struct gtu_hw_desc){
		.opcode = GTU_OP_COPY, .param = 2, .cookie = w->jobs,
		.operand = { { GTU_KEY(1, 0), count, 4 * pick(w, 1024) }, { GTU_KEY(1, 1), count, 4 * pick(w, 1024) } },
	};
	memset(w->valid->at + VALID_BYTES, 0, VALID_BYTES);
	fx_submit_to(w->f, VALID, &w->asked);
	w->waiting = true;
}

static void valid_check(struct world *w, const struct gtu_hw_cpl *c)
{
	const uint8_t *from = w->valid->at + w->asked.operand[0].offset, *to = w->valid->at + VALID_BYTES;
	const uint64_t at = w->asked.operand[1].offset, bytes = 4ull * w->asked.operand[0].count;

	if (c->status || c->count != w->asked.operand[0].count || c->cookie != w->asked.cookie || memcmp(to + at, from, bytes))
		fail(w, "a job of the well-behaved context ended with status %u, %" PRIu64 " elements", c->status, (uint64_t)c->count);
	for (uint64_t i = 0; i < VALID_BYTES; i++)
		if ((i < at || i >= at + bytes) && to[i])
			fail(w, "byte %" PRIu64 " of the well-behaved context's memory was overwritten", i);
	w->waiting = false;
	w->valid_jobs++;
}

/* ---- The jobs -------------------------------------------------------------------------------- */

static void submit(struct world *w)
{
	const unsigned n = pick(w, QUEUES);
	struct fx_queue *q = &w->f->queue[n];
	const unsigned space = RING - (q->tail - q->head), most = 1 + (unsigned)pick(w, 6);

	if (w->queue[n].odd)
		return;
	for (unsigned i = 0; i < space && i < most && w->jobs < w->total; i++, w->jobs++) {
		const struct gtu_hw_desc d = descriptor(&w->hostile[w->queue[n].context]);

		w->queue[n].opcode[q->tail % RING] = d.opcode;
		q->sq[q->tail++ % RING] = d;
	}
	fx_doorbell(w->f, n, GTU_DB_SUBMIT, q->tail | (uint64_t)q->head << 32);
}

static void collect(struct world *w)
{
	struct gtu_hw_cpl c;

	for (unsigned n = 0; n <= QUEUES; n++) {
		struct fx_queue *q = &w->f->queue[n];

		if (w->queue[n].odd) {
			if (pick(w, 8) == 0)
				queue_reset(w, n);
			continue;
		}
		w->queue[n].age += q->tail != q->head;
		while (fx_poll(w->f, n, &c)) {
			const uint8_t opcode = w->queue[n].opcode[(q->head - 1) % RING];

			if (c.status >= GTU_CPL_COUNT || c.sq_index != q->head - 1 || (int32_t)(q->tail - q->head) < 0)
				fail(w, "queue %u, job %u of %u: a completion of job %u with status %u", n, q->head - 1, q->tail, c.sq_index, c.status);
			w->queue[n].age = 0;
			if (n == VALID) {
				valid_check(w, &c);
				continue;
			}
			w->status[c.status]++;
			w->done[opcode < OPCODES ? opcode : 0] += c.status == GTU_CPL_OK;
		}
	}
}

/*
 * A stream may wait for a consumer that never comes and block others: kick, cancel or reset its
 * queue.
 */
static void unblock(struct world *w)
{
	for (unsigned n = 0; n < QUEUES; n++) {
		struct queue *q = &w->queue[n];
		const uint64_t arg[2] = { n, w->f->queue[n].tail };

		if (q->odd || w->f->queue[n].tail == w->f->queue[n].head || (q->age < TIMEOUT && gtu_dev_pending(w->f->dev)))
			continue;
		if (q->age > 100 * TIMEOUT)
			fail(w, "queue %u was canceled, but %u jobs have no completion", n, (unsigned)(arg[1] - w->f->queue[n].head));
		switch (pick(w, 4)) {
		case 0:
			queue_reset(w, n);
			break;
		case 1:
			fx_doorbell(w->f, n, GTU_DB_KICK, 0);
			break;
		default:
			command(w, GTU_MBOX_QUEUE_CANCEL, 2, arg);
		}
	}
}

/* ---- Checks of all memory -------------------------------------------------------------------- */

static void check_region(struct world *w, unsigned c, unsigned i)
{
	const struct region *p = &w->hostile[c].region[i];

	if (!p->mapped || i == APERTURE)
		return;
	for (uint64_t n = 0; n < p->b->bytes; n++)
		if ((n < p->first || n >= p->first + p->length) && p->b->at[n] != CANARY)
			fail(w, "byte %" PRIu64 " of a buffer changed outside region %u of context %u, which has %" PRIu64 " bytes from %" PRIu64, n, i, c, p->length, p->first);
	if (i == READ_ONLY && checksum(p) != p->sum)
		fail(w, "read-only region %u of context %u changed", i, c);
}

static void check_all(struct world *w)
{
	const struct region *a = &w->hostile[0].region[APERTURE], *b = &w->hostile[1].region[APERTURE];
	unsigned steps, c, i;

	for (steps = 0; gtu_dev_pending(w->f->dev); steps++) {
		gtu_dev_step(w->f->dev, 10000);
		if (steps == STEPS_MAX)
			fail(w, "a job did not end within %u steps, despite its limit", STEPS_MAX);
	}
	collect(w);
	hold(w, true);
	for (c = 0; c < HOSTILE; c++)
		for (i = 0; i < REGIONS; i++)
			check_region(w, c, i);
	for (uint64_t n = 0; n < APERTURE_BYTES; n++)
		if ((n < a->first || n >= a->first + a->length) && (n < b->first || n >= b->first + b->length) && w->aperture->at[n] != CANARY)
			fail(w, "byte %" PRIu64 " of the aperture changed outside all regions", n);
	for (i = 4u << EVENTS_LOG2; i < w->events->bytes && w->events->at[i] == CANARY; i++)
		;
	if (i < w->events->bytes)
		fail(w, "byte %u after the event ring changed", i);
	/* restore graphs and tables for the next round */
	for (c = 0; c < HOSTILE; c++)
		for (i = BLOCKS; i < OUT; i++)
			if (w->hostile[c].region[i].mapped)
				region_fill(&w->hostile[c], i);
	hold(w, false);
	if (w->f->missed)
		fail(w, "the device accessed unmapped memory %" PRIu64 " times, last at 0x%" PRIx64, w->f->missed, w->f->missed_at);
	w->checked++;
	w->rss = resident();
	if (!w->rss_first && w->jobs > w->total / 10)
		w->rss_first = w->rss;
#ifndef __SANITIZE_ADDRESS__
	if (w->rss_first && w->rss > w->rss_first + GROWTH_MAX)
		fail(w, "memory use grew from %" PRIu64 " KiB to %" PRIu64 " KiB", w->rss_first >> 10, w->rss >> 10);
#endif
}

static void progress(struct world *w)
{
	const uint64_t now = gtu_now_ns(), step = isatty(STDERR_FILENO) ? 1000000000u : 30000000000u;
	const double rate = (double)w->jobs * 1e9 / (double)(now - w->started + 1), left = (double)(w->total - w->jobs) / (rate + 1);

	if (!show_progress || now - w->reported_at < step)
		return;
	w->reported_at = now;
	fprintf(stderr, "%s%" PRIu64 " of %" PRIu64 " descriptors (%.1f%%), %.0f/s, %.0f min %02.0f s left, %.1f MiB%s",
		isatty(STDERR_FILENO) ? "\r\033[K" : "", w->jobs, w->total, 100.0 * (double)w->jobs / (double)w->total, rate,
		(double)((uint64_t)left / 60), (double)((uint64_t)left % 60), (double)w->rss / 1048576, isatty(STDERR_FILENO) ? "" : "\n");
}

/* ---- Setup and main loop --------------------------------------------------------------------- */

static void open_world(struct world *w, struct fx_buffer *aperture)
{
	const struct gtu_dev_config small = {
		.contexts = 4, .queues = 4, .event_rings = 2, .vectors = 2, .aperture_bytes = APERTURE_BYTES, .aperture = aperture->at,
		.iru_sets = 32, .iru_latency = 20, .scu_latency = 20, .peg_engines = 3, .peg_entries = 4, .peg_list_bytes = 256,
		.peg_edge_bytes = 1024, .peg_latency = 10, .peg_message = 4, .peg_interval = 64, .wvr_entries = 128, .wvr_latency = 10,
	};
	static const uint32_t of_queue[QUEUES + 1] = { 0, 0, 1, HOSTILE };
	struct gtu_hw_region *e;
	unsigned c, i;

	w->f = fx_open(&small, w->seed);
	w->aperture = aperture;
	memset(aperture->at, CANARY, APERTURE_BYTES);
	gtu_dev_reset(w->f->dev);		/* this test sets up contexts and queues itself */
	for (c = 0; c <= QUEUES; c++) {
		w->queue[c].context = of_queue[c];
		w->queue[c].sq = fx_buffer(w->f, GTU_SQ_BYTES(FX_RING_LOG2));
		w->queue[c].cq = fx_buffer(w->f, GTU_CQ_BYTES(FX_RING_LOG2));
		w->queue[c].sq->writable = false;
		w->f->queue[c] = (struct fx_queue){ .sq = (void *)w->queue[c].sq->at, .cq = (void *)w->queue[c].cq->at };
	}
	w->events = fx_buffer(w->f, 4u << EVENTS_LOG2);
	memset(w->events->at, CANARY, w->events->bytes);
	for (c = 0; c < HOSTILE; c++) {
		w->hostile[c] = (struct hostile){ .f = w->f, .context = c, .seed = &w->seed, .table = fx_buffer(w->f, 16 * sizeof(*e)) };
		w->hostile[c].table->writable = false;
		for (i = 0; i < REGIONS; i++)
			region_map(&w->hostile[c], i);
	}
	w->valid = fx_buffer(w->f, 2 * VALID_BYTES);
	for (i = 0; i < VALID_BYTES; i++)
		w->valid->at[i] = (uint8_t)(i * 7 + (i >> 8) + 1);
	w->valid_table = fx_buffer(w->f, 16 * sizeof(*e));
	e = (void *)w->valid_table->at;
	for (i = 0; i < 2; i++)
		e[i] = (struct gtu_hw_region){ .key = GTU_KEY(1, i), .length = VALID_BYTES, .base = w->valid->bus + i * VALID_BYTES,
			.flags = GTU_REGION_VALID | 12u << GTU_REGION_PAGE_SHIFT | (i ? GTU_REGION_WRITE : GTU_REGION_READ) };
	events_enable(w);
	for (c = 0; c <= HOSTILE; c++)
		context_enable(w, c);
	gtu_dev_write(w->f->dev, GTU_BAR_REGS, GTU_REG_CYCLE_LIMIT, 8, 100000);
	w->f->missed = 0;
}

static void report(const struct world *w)
{
	static const struct { uint8_t opcode; const char *name; } kind[] = {
		{ GTU_OP_COPY, "COPY" }, { GTU_OP_FILL, "FILL" }, { GTU_OP_FENCE, "FENCE" }, { GTU_OP_SCU_BITMASK, "SCU BITMASK" },
		{ GTU_OP_SCU_DATA, "SCU DATA" }, { GTU_OP_SCU_ACCESS, "SCU ACCESS" }, { GTU_OP_SCU_REPLICATE, "SCU REPLICATE" },
		{ GTU_OP_SCU_EXPAND, "SCU EXPAND" }, { GTU_OP_IRU_STREAM, "IRU" }, { GTU_OP_PEG_STREAM, "PEG" }, { GTU_OP_WVR_STREAM, "WVR" },
	};
	static const uint8_t met[] = { GTU_CPL_INDEX, GTU_CPL_BOUNDS, GTU_CPL_CANCELED, GTU_CPL_KEY, GTU_CPL_OVERFLOW };

	printf("# %" PRIu64 " descriptors, %.0f per second; %" PRIu64 " jobs discarded by %" PRIu64 " resets; %" PRIu64 " regions moved, %" PRIu64
	       " words rewritten, memory checked %" PRIu64 " times; %.1f MiB, %.1f at first\n", w->jobs,
	       (double)w->jobs * 1e9 / (double)(gtu_now_ns() - w->started + 1), w->swept, w->resets, w->moves, w->rewritten, w->checked,
	       (double)w->rss / 1048576, (double)w->rss_first / 1048576);
	printf("# completed:");
	for (unsigned i = 0; i < LENGTH(kind); i++)
		printf(" %s %" PRIu64, kind[i].name, w->done[kind[i].opcode]);
	printf("\n# ended with status");
	for (unsigned i = 0; i < GTU_CPL_COUNT; i++)
		printf(" %u: %" PRIu64, i, w->status[i]);
	printf("\n");
	for (unsigned i = 0; i < LENGTH(kind); i++)
		CHECKF(w->done[kind[i].opcode] > w->total / 10000, "too few valid descriptors: %s completed only %" PRIu64 " times",
		       kind[i].name, w->done[kind[i].opcode]);
	/* the events that the checks of check_all() and valid_check() depend on have occurred */
	CHECKF(w->valid_jobs > w->total / 1000, "only %" PRIu64 " jobs of the well-behaved context were checked", w->valid_jobs);
	CHECKF(w->checked >= w->total / 10000, "memory was checked only %" PRIu64 " times", w->checked);
	CHECKF(w->moves > w->total / 1000, "only %" PRIu64 " regions moved", w->moves);
	CHECKF(w->resets > w->total / 1000, "only %" PRIu64 " resets", w->resets);
	CHECKF(w->rewritten > w->total / 1000, "only %" PRIu64 " words were rewritten", w->rewritten);
	for (unsigned i = 0; i < sizeof(met); i++)
		CHECKF(w->status[met[i]] > w->total / 10000, "only %" PRIu64 " jobs ended with status %u", w->status[met[i]], met[i]);
}

static void attack(struct world *w, enum gtu_bug bug)
{
	const struct gtu_dev_faults faults = { .bug = bug };
	static struct fx_buffer aperture;
	uint64_t batch;

	memset(&aperture, 0, sizeof(aperture));
	aperture.map_bytes = APERTURE_BYTES + 2 * FX_PAGE;
	aperture.map = mmap(NULL, aperture.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(aperture.map != MAP_FAILED);
	aperture.at = aperture.map + FX_PAGE;
	CHECK(!mprotect(aperture.at, APERTURE_BYTES, PROT_READ | PROT_WRITE));
	open_world(w, &aperture);
	gtu_dev_set_faults(w->f->dev, &faults);
	CHECK(!pthread_mutex_init(&w->lock, NULL) && !pthread_create(&w->thread, NULL, rewrite, w));
	w->started = w->reported_at = gtu_now_ns();
	for (batch = 1; w->jobs < w->total; batch++) {
		submit(w);
		if (!w->waiting && pick(w, 8) == 0)
			valid_submit(w);
		for (uint64_t steps = 1 + pick(w, 3); steps; steps--) {
			gtu_dev_step(w->f->dev, 1 + pick(w, 3000));
			random_event(w);
		}
		collect(w);
		unblock(w);
		if (batch % ROUND == 0) {
			check_all(w);
			progress(w);
		}
	}
	check_all(w);
	atomic_store(&w->stop, true);
	pthread_join(w->thread, NULL);
	CHECKF(w->f->irqs[1] > w->total / 10000, "only %u interrupts were raised", w->f->irqs[1]);
	test_end(NULL);
	fx_buffer_free(&aperture);
	report(w);
}

TEST(random_descriptors_cause_no_access_outside_regions)
{
	static struct world w;
	const char *jobs = getenv("GTU_HOSTILE_JOBS"), *seed = getenv("GTU_SEED");

	show_progress = jobs != NULL;
	w.total = jobs ? (uint64_t)strtod(jobs, NULL) : TEST_CASES(500000);
	w.seed = seed ? strtoull(seed, NULL, 0) : 77;
	CHECKF(w.total >= 50000, "GTU_HOSTILE_JOBS=%s is too small: the minimum is 50000", jobs);
	the_world = &w;
#ifndef __SANITIZE_ADDRESS__
	{
		const struct sigaction last = { .sa_sigaction = outside, .sa_flags = SA_SIGINFO };

		sigaction(SIGSEGV, &last, NULL);
	}
#endif
	attack(&w, GTU_BUG_NONE);
}

/*
 * Each injected bug must be found by its own report. A crash, or a failure of another check, is not
 * that report: it would be a bug of the model or of this test.
 */
static const struct {
	enum gtu_bug bug;
	const char *report;
} injected[] = {
	{ GTU_BUG_BOUNDS, "byte [0-9]+ of (the aperture|a buffer) changed" },
	{ GTU_BUG_RIGHTS, "the device accessed unmapped memory [0-9]+ times" },
	{ GTU_BUG_DMA_PAGE, "a job of the well-behaved context ended with status" },
	/* the device read the rings at wrong addresses: the queue is not enabled (E_STATE) */
	{ GTU_BUG_DMA_32, "mailbox command 10 .*: status 0x3" },
	/* the device lost a tail: jobs beyond its own tail cannot be canceled (E_ARG) */
	{ GTU_BUG_TAIL_LOST, "mailbox command 10 .*: status 0x4" },
};

enum { FOUND_NOTHING = 0, REPORTED = 3 };

/* Run the attack in a child process, with its report in @path; returns the wait status. */
static int attack_in_child(enum gtu_bug bug, const char *path)
{
	static struct world w;
	const pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		if (!freopen(path, "w", stdout))
			_exit(1);
		if (setjmp(test_exit)) {
			fflush(stdout);
			_exit(REPORTED);
		}
		w = (struct world){ .total = 100000, .seed = 5 };
		attack(&w, bug);
		_exit(FOUND_NOTHING);
	}
	CHECK(waitpid(child, &status, 0) == child);
	return status;
}

TEST(every_injected_bug_is_reported)
{
	char path[300], text[1000];
	regex_t want;
	FILE *f;
	int status;

	if (getenv("GTU_HOSTILE_JOBS"))
		SKIP("GTU_HOSTILE_JOBS is set: run descriptors only");
	snprintf(path, sizeof(path), "%s/report", test_tmpdir());
	for (unsigned i = 0; i < LENGTH(injected); i++) {
		const char *name = gtu_bug_name(injected[i].bug);

		status = attack_in_child(injected[i].bug, path);
		CHECKF(!WIFSIGNALED(status), "bug '%s': the model crashed with signal %d instead of a report", name, WTERMSIG(status));
		CHECKF(WEXITSTATUS(status) != FOUND_NOTHING, "bug '%s' was not found", name);
		CHECKF(WEXITSTATUS(status) == REPORTED, "bug '%s': exit status %d instead of a report", name, WEXITSTATUS(status));
		f = fopen(path, "r");
		CHECK(f);
		text[fread(text, 1, sizeof(text) - 1, f)] = 0;
		fclose(f);
		CHECK(!regcomp(&want, injected[i].report, REG_EXTENDED | REG_NOSUB));
		status = regexec(&want, text, 0, NULL, 0);
		regfree(&want);
		CHECKF(!status, "bug '%s' must be reported as '%s', but the report is: %s", name, injected[i].report, text);
	}
}

TEST_MAIN
