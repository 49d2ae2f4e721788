// SPDX-License-Identifier: MIT
/*
 * Runs every algorithm with every unit on a device that corrupts completions, forges stream records or writes
 * wrong values to the outputs of jobs. A run must end with a result, or with an error and its message. The library
 * must not hang or index memory with forged values.
 */
#include <sys/mman.h>

#include "gtu/hash.h"
#include "gtu/weave.h"
#include "tests/unit/library.h"

/* Included to access the backend's model. */
#include "libruntime/backend/backend_model.c"

#define GUARD_BYTES	(1ull << 30)
#define LONGEST_NS	60000000000u	/* time limit of a run; a longer run counts as a hang */
#define KEYS		512u

static const uint32_t units[] = { GTU_WITH_SCU_BASIC, GTU_WITH_SCU, GTU_WITH_IRU, GTU_WITH_PEG, GTU_WITH_WEAVER };
#define UNITS (LENGTH(units))

enum algorithm {
	BFS, BFS_PULL, SSSP, COMPONENTS, STCON, COLORING, CORES, LABELS, EXACT,
	PAGERANK = EXACT, BETWEENNESS, CLUSTERING, GCN, HASH, WEAVE, ALGORITHMS
};

/* LATE_RECORDS: from a later record on, so that some runs end before */
enum lies { COMPLETIONS = 1, OUTPUTS = 2, RECORDS = 4, COUNTS = 8, MASKS = 16, LATE_RECORDS = 32 };

static struct gtu_graph *graph[2];	/* edges of 4 and of 8 bytes */
static struct gtu_hash_table table;
static uint64_t keys[KEYS];

/* ---- A device that writes wrong values to writable memory ------------------------------------------- */

static struct {
	unsigned lies;
	uint64_t seed;
	uint64_t n;
	bool outside;			/* a user function was called with an invalid vertex */
	struct gtu_hw_desc job;
	bool pending;
} liar;

static void scribble(struct model *m, const struct gtu_hw_operand *o, uint32_t width)
{
	const struct gtu_hw_region *r = &m->table[GTU_KEY_SLOT(o->key) & ((1u << TABLE_LOG2) - 1)];
	uint64_t count = o->count, value, i;
	unsigned lies;

	if (!o->key || !count || test_random(&liar.seed) % 4)
		return;
	for (lies = 1 + test_random(&liar.seed) % 4; lies; lies--) {
		i = test_random(&liar.seed) % (test_random(&liar.seed) % 2 ? count : count / 64 + 1);
		value = test_random(&liar.seed);
		value = value % 4 == 0 ? value : value % 4 == 1 ? (value >> 8) % liar.n : liar.n + (value >> 8) % 65536;
		memcpy((char *)(uintptr_t)(r->base + r->offset + o->offset) + i * width, &value, width);
	}
}

/* Answer every comparison the same way: no element is below the reference, all are at or above it. */
static void answer(struct model *m, const struct gtu_hw_operand *o)
{
	const struct gtu_hw_region *r = &m->table[GTU_KEY_SLOT(o->key)];
	uint8_t *bits = (uint8_t *)(uintptr_t)(r->base + r->offset + o->offset);
	const bool below = (liar.job.param >> GTU_SCU_CMP_SHIFT & 7) == GTU_CMP_LT;

	memset(bits, below ? 0 : 0xff, (o->count + 7) / 8);
	if (!below && o->count % 8)
		bits[o->count / 8] = (uint8_t)((1u << o->count % 8) - 1);
}

static void scribble_outputs(struct model *m)
{
	const struct gtu_hw_operand *o = liar.job.operand;
	unsigned places = GTU_DESC_OPERANDS;
	const struct gtu_hw_region *r;

	if (liar.job.opcode < GTU_OP_SCU_BITMASK || liar.job.opcode > GTU_OP_SCU_EXPAND)
		return;
	if (liar.job.flags & GTU_DESC_BLOCK) {
		r = &m->table[GTU_KEY_SLOT(o->key)];
		places = o->count;
		o = (const void *)(uintptr_t)(r->base + r->offset + o->offset);
	}
	if (liar.lies & MASKS) {
		if (liar.job.opcode == GTU_OP_SCU_BITMASK)
			answer(m, &o[GTU_SCU_OUT]);
	} else if (liar.job.opcode == GTU_OP_SCU_BITMASK) {
		struct gtu_hw_operand bytes = o[GTU_SCU_OUT];

		bytes.count = (bytes.count + 7) / 8;
		scribble(m, &bytes, 1);
	} else if (places > GTU_SCU_OUT) {
		scribble(m, &o[GTU_SCU_OUT], 1u << (liar.job.param >> GTU_SCU_WIDTH_SHIFT & 3));
	}
	if (places > GTU_SCU_REORDER && !(liar.lies & MASKS))
		scribble(m, &o[GTU_SCU_REORDER], 4);
}

static void lying_doorbell(struct gtu_device *dev, struct gtu_rings *r, uint32_t reg, uint64_t value)
{
	if (reg == GTU_DB_SUBMIT) {
		liar.job = r->sq[((uint32_t)value - 1) & ((1u << r->sq_log2) - 1)];
		liar.pending = liar.lies & (OUTPUTS | COUNTS | MASKS);
	}
	model_doorbell(dev, r, reg, value);
}

static int lying_wait(struct gtu_device *dev, struct gtu_rings *r, uint32_t cq_index,
		      const struct gtu_record_wait *stream, uint64_t deadline_ns, struct gtu_error *err)
{
	const int rc = model_wait(dev, r, cq_index, stream, deadline_ns, err);

	if (liar.pending && gtu_completed(r, cq_index)) {
		struct gtu_hw_cpl *c = &r->cq[cq_index & ((1u << r->cq_log2) - 1)];

		if (liar.lies & COUNTS && !(test_random(&liar.seed) % 4))
			c->count = test_random(&liar.seed) % (c->count + 2);
		if (liar.lies & COUNTS && !(test_random(&liar.seed) % 32))
			c->status = GTU_CPL_CANCELED;
		if (liar.lies & (OUTPUTS | MASKS))
			scribble_outputs(dev->backend);
		liar.pending = false;
	}
	return rc;
}

/* Each region is followed by inaccessible guard memory. */
static int guarded_alloc(struct gtu_device *dev, uint64_t length, uint32_t rights, bool aperture, void **addr,
			 uint32_t *key, struct gtu_error *err)
{
	CHECK(!aperture);
	*addr = mmap(NULL, length + GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(*addr != MAP_FAILED && !mprotect(*addr, (length + 4095) & ~4095ull, PROT_READ | PROT_WRITE));
	return model_region_add(dev, *addr, length, rights, key, err);
}

static int guarded_free(struct gtu_device *dev, void *addr, uint64_t length, uint32_t key, struct gtu_error *err)
{
	int rc = model_region_remove(dev, key, err);

	if (!rc)
		munmap(addr, length + GUARD_BYTES);
	return rc;
}

/* ---- The algorithms ---------------------------------------------------------------------------------- */

static int check_time(void *until, const char *what, uint64_t done, uint64_t total)
{
	(void)what, (void)done, (void)total;
	return gtu_now_ns() > *(const uint64_t *)until;
}

static void gather(const struct gtu_weave_iteration *t, uint64_t source, uint64_t target, double weight)
{
	liar.outside |= source >= liar.n || target >= liar.n;
	if (!liar.outside)
		((double *)t->context)[target] += weight + ((double *)t->context)[source] / 2;
}

static int weave(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
		 double *out, struct gtu_error *err)
{
	const struct gtu_weave_functions functions = { .gather = gather };
	struct gtu_weave_storage storage;
	int rc = gtu_weave_csr(g, 5, &storage, err);

	CHECK(!rc);
	rc = gtu_weave(dev, &storage, &functions, out, opt, NULL, err);
	gtu_weave_close(&storage);
	return rc;
}

/* @out has exactly 8 bytes per vertex. */
static int run_algorithm(enum algorithm algorithm, struct gtu_device *dev, const struct gtu_graph *g,
			 struct gtu_algorithm_options *opt, void *out, struct gtu_error *err)
{
	const uint64_t sources[] = { opt->source, g->n / 2 };

	switch (algorithm) {
	case BFS_PULL:
		opt->direction = opt->unit >= GTU_WITH_PEG ? GTU_PUSH_OR_PULL : GTU_PUSH;
		/* fall through */
	case BFS: return gtu_bfs(dev, g, opt, out, NULL, err);
	case SSSP: return gtu_sssp(dev, g, opt, out, NULL, err);
	case COMPONENTS: return gtu_components(dev, g, opt, out, NULL, err);
	case STCON: return gtu_stcon(dev, g, opt, out, NULL, err);
	case COLORING: return gtu_coloring(dev, g, opt, out, NULL, err);
	case CORES: return gtu_cores(dev, g, opt, out, NULL, err);
	case LABELS: return gtu_label_propagation(dev, g, opt, out, NULL, err);
	case PAGERANK: return gtu_pagerank(dev, g, opt, out, NULL, err);
	case BETWEENNESS:
		opt->sources = sources;
		opt->source_count = 2;
		return gtu_betweenness(dev, g, opt, out, NULL, err);
	case CLUSTERING: return gtu_clustering(dev, g, opt, out, NULL, err);
	case GCN:
		opt->features = 1;
		return gtu_gcn(dev, g, opt, out, NULL, err);
	case HASH: return gtu_hash_lookup(dev, &table, opt, keys, g->n < KEYS ? g->n : KEYS, out, NULL, err);
	case WEAVE: return weave(dev, g, opt, out, err);
	case ALGORITHMS: break;
	}
	return GTU_ERR_USAGE;
}

static void set_up(void)
{
	struct gtu_generate_options opt = { .kind = GTU_GEN_KRONECKER, .scale = 8, .degree = 8, .random_weights = 9 };

	for (unsigned i = 0; i < 2 && !graph[i]; i++) {
		opt.edge_bytes = i ? 8 : 4;
		opt.directed = i;
		CHECK(!gtu_graph_generate(&opt, NULL, &graph[i], &err));
	}
	for (unsigned i = 0; i < KEYS; i++)
		keys[i] = i * i;
	if (!table.buckets)
		CHECK(!gtu_hash_build(keys, KEYS, 61, &table, &err));
}

/* Run once. A failed run must have an error message, and must not end as interrupted before its time limit. */
static int run_one(enum algorithm algorithm, uint32_t unit, unsigned lies, uint64_t seed)
{
	static struct gtu_backend_ops ops;
	const struct gtu_graph *g = graph[seed & 1];
	uint64_t until = gtu_now_ns() + LONGEST_NS, n = g->n;
	const struct gtu_progress progress = { check_time, &until };
	struct gtu_algorithm_options opt = {
		.unit = unit, .chunk_log2 = 5 + seed % 4, .iterations = 2, .source = seed * 7 % n,
		.target = seed * 31 % n, .progress = &progress,
	};
	void *mark = test_mark(), *out = test_alloc(n, 8), *right = test_alloc(n, 8);
	struct gtu_device *dev = open_model("model");
	int rc;

	err.text[0] = 0;
	gtu_set_timeout(dev, 1000000);
	ops = gtu_backend_model;
	ops.region_alloc = guarded_alloc;
	ops.region_free = guarded_free;
	ops.doorbell = lying_doorbell;
	ops.wait = lying_wait;
	dev->ops = &ops;
	liar.lies = lies;
	liar.seed = seed;
	liar.n = n;
	liar.outside = false;
	liar.pending = false;
	gtu_dev_set_faults(((struct model *)dev->backend)->dev, &(struct gtu_dev_faults){
		.corrupt_completions = lies & COMPLETIONS ? 1 + seed % 40 : 0,
		.forge_records = lies & RECORDS ? 1 + seed % 50 : lies & LATE_RECORDS ? 1 + seed * 53 % 130 : 0, .seed = seed });
	alarm(2 * LONGEST_NS / 1000000000u);	/* ends a run that hangs without reporting progress */
	rc = run_algorithm(algorithm, dev, g, &opt, out, &err);
	alarm(0);
	CHECK(!liar.outside);
	CHECKF(!rc || strlen(err.text) > 10, "seed %" PRIu64 ", algorithm %u by unit %u: %d without an error message", seed,
	       algorithm, unit, rc);
	CHECKF(!rc || !(strstr(err.text, "the graph is damaged") || strstr(err.text, "of the storage has the vertex")),
	       "seed %" PRIu64 ", algorithm %u by unit %u: %s", seed, algorithm, unit, err.text);
	CHECKF(rc != GTU_ERR_INTERRUPTED, "seed %" PRIu64 ", algorithm %u by unit %u: %s", seed, algorithm, unit, err.text);
	/* if only completions were wrong, the result must be right or the run must fail */
	opt.unit = GTU_WITH_NONE;
	opt.direction = GTU_PUSH;
	if (!rc && !(lies & ~(COMPLETIONS | COUNTS)) && algorithm < EXACT) {
		CHECK(!run_algorithm(algorithm == BFS_PULL ? BFS : algorithm, NULL, g, &opt, right, &err));
		CHECKF(!memcmp(out, right, n * 8), "seed %" PRIu64 ", algorithm %u by unit %u: a wrong result", seed,
		       algorithm, unit);
	}
	test_end(mark);
	return rc;
}

/* Run each algorithm @runs times with each unit. */
static void run_all(unsigned lies, uint64_t runs)
{
	uint64_t seed, failed = 0;
	unsigned i, algorithm;

	set_up();
	for (seed = 1; seed <= runs; seed++)
		for (i = 0; i < UNITS; i++)
			for (algorithm = 0; algorithm < ALGORITHMS; algorithm++)
				failed += run_one(algorithm, units[i], lies, seed * 1000 + seed + i) != 0;
	/* at least the clustering runs with the IRU, which does not support it, fail */
	CHECKF(failed > runs, "%" PRIu64 " of %" PRIu64 " runs failed", failed,
	       runs * UNITS * ALGORITHMS);
}

TEST(corrupt_completions_give_no_wrong_result) { run_all(COMPLETIONS, TEST_CASES(15)); }
TEST(wrong_counts_and_cancellations_give_no_wrong_result) { run_all(COUNTS, TEST_CASES(10)); }
TEST(wrong_comparisons_cause_no_hang_or_access_outside) { run_all(MASKS, TEST_CASES(5)); }
TEST(wrong_outputs_cause_no_hang_or_access_outside) { run_all(OUTPUTS, TEST_CASES(10)); }
TEST(forged_records_cause_no_hang_or_access_outside) { run_all(RECORDS, TEST_CASES(10)); }

/* A storage has more entries than vertices, so a valid entry index may be an invalid vertex. */
TEST(forged_vertices_of_a_storage_are_reported)
{
	uint64_t seed, failed = 0;

	set_up();
	for (seed = 1; seed <= TEST_CASES(300); seed++)
		failed += run_one(WEAVE, GTU_WITH_WEAVER, LATE_RECORDS, seed) != 0;
	CHECKF(failed > 5 && failed < TEST_CASES(300) - 5, "%" PRIu64 " runs failed", failed);
}

TEST(combined_faults_cause_no_hang_or_access_outside) { run_all(COMPLETIONS | OUTPUTS | RECORDS, TEST_CASES(10)); }

TEST_MAIN
