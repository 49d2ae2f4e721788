// SPDX-License-Identifier: MIT
/*
 * gtu lab run emogi --device cuda:0: EMOGI, section 5, on one real GPU and its link, in the format
 * of the laboratory's runs. A GPU does not report its request sizes: those rows come from the
 * laboratory, on the same graphs, and are labelled so. Another link (figure 13) and other cards are
 * not available.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gtu/gpu.h"
#include "lab_emogi_runs.h"
#include "lab_expect.h"
#include "lab_run.h"

#define OTHER_CARD	"measured on another card and link than the paper's"
#define SOURCES		2u
#define LAB_EDGES_MOST	(1ull << 24)	/* a larger simulation takes hours */
#define LINK_BYTES	(256ull << 20)
#define ALGORITHMS	3u		/* BFS, SSSP, components; not section 5's PageRank, nor its graph ML */

static const struct lab_standin standins[] = {
	{ "GK", { .kind = GTU_GEN_KRONECKER, .degree = 16 }, 1, 0 },
	{ "GU", { .kind = GTU_GEN_UNIFORM, .degree = 16 }, 1, 0 },
	{ "FS", { .kind = GTU_GEN_POWERLAW, .degree = 55 }, 0.5, 0 },
};
static const char *const algorithm_name[ALGORITHMS] = { "BFS", "SSSP", "CC" };

/* Time and bytes of a run, summed over its sources. */
struct took {
	double seconds, list_bytes;
};

struct subject {
	struct gtu_graph g;		/* with weights */
	uint32_t *weight, *result32;
	uint64_t *result, *expected[ALGORITHMS][SOURCES];
	uint32_t source[SOURCES];
};

static int subject_of(struct subject *s, const struct gtu_graph *g, struct gtu_error *err)
{
	uint64_t e;
	unsigned i;

	if (!g->m)
		return gtu_fail(err, GTU_ERR_INPUT, "%s has no edges", g->name);
	s->g = *g;
	s->weight = malloc(4 * g->m);
	s->result = malloc(8 * g->n);
	s->result32 = malloc(4 * g->n);
	if (!s->weight || !s->result || !s->result32)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s", g->name);
	for (e = 0; e < g->m; e++)	/* the paper's weights: 8 to 72 */
		s->weight[e] = 8 + (uint32_t)(gtu_splitmix64_mix(e) % 65);
	s->g.weight = s->weight;
	s->g.weight_type = GTU_WEIGHT_U32;
	for (i = 0; i < SOURCES; i++)
		s->source[i] = lab_source(g, i);
	return 0;
}

static void subject_free(struct subject *s)
{
	unsigned a, i;

	for (a = 0; a < ALGORITHMS; a++)
		for (i = 0; i < SOURCES; i++)
			free(s->expected[a][i]);
	free(s->weight);
	free(s->result);
	free(s->result32);
}

/* Compare with the tool's reference, like the laboratory's results. */
static int compare(struct lab_run *r, struct subject *s, unsigned a, unsigned i, struct gtu_error *err)
{
	static const enum lab_expect_what what[ALGORITHMS] = { LAB_LEVELS, LAB_DISTANCES, LAB_COMPONENTS };
	const double *real = (const double *)s->result;
	uint64_t v;
	int rc;

	for (v = 0; v < s->g.n; v++)
		s->result32[v] = a == 1 ? (isinf(real[v]) ? LAB_NEVER : (uint32_t)real[v]) :
				 s->result[v] == GTU_UNREACHED ? LAB_NEVER : (uint32_t)s->result[v];
	if (!s->expected[a][i])
		s->expected[a][i] = lab_expect(&s->g, what[a], s->source[i], 0, err);
	rc = s->expected[a][i] ? lab_expect_same(&s->g, what[a], s->expected[a][i], s->result32, err) : err->code;
	r->checked += !rc;
	return rc;
}

static int take(struct lab_run *r, struct gtu_device *dev, struct subject *s, unsigned a, uint32_t kernel,
		struct took *t, struct gtu_error *err)
{
	struct gtu_algorithm_options opt = { .unit = GTU_WITH_GPU, .kernel = kernel, .progress = r->progress };
	struct gtu_algorithm_stats stats;
	unsigned i;
	int rc = 0;

	*t = (struct took){ 0 };
	for (i = 0; i < (a < 2 ? SOURCES : 1) && !rc; i++) {
		opt.source = s->source[i];
		rc = a == 0 ? gtu_bfs(dev, &s->g, &opt, s->result, &stats, err) :
		     a == 1 ? gtu_sssp(dev, &s->g, &opt, (double *)s->result, &stats, err) :
			      gtu_components(dev, &s->g, &opt, s->result, &stats, err);
		if (!rc)
			rc = compare(r, s, a, i, err);
		t->seconds += stats.gpu_seconds;
		t->list_bytes += (double)stats.list_bytes;
	}
	return rc;
}

/* Link rates by access pattern (figures 3 and 4: of the array; the paper's are of PCIe 3.0). */
static int link_rows(struct lab_run *r, struct gtu_device *dev, double *ceiling, struct gtu_error *err)
{
	static const struct {
		uint32_t access;
		const char *text;
		double paper;
	} row[] = {
		{ GTU_LINK_COPY, "copy engine", 12.3 },
		{ GTU_LINK_STRIDED, "strided", NAN },
		{ GTU_LINK_SHIFTED, "merged, 32 bytes off", NAN },
		{ GTU_LINK_SEQUENTIAL, "merged and aligned", 12.23 },
	};
	double rate[GTU_LINK_ACCESSES];
	unsigned i;
	int rc = gtu_link_measure(dev, GTU_EDGES_PINNED, LINK_BYTES, 3, rate, err);

	*ceiling = rate[GTU_LINK_SEQUENTIAL];
	for (i = 0; !rc && i < sizeof(row) / sizeof(row[0]); i++) {
		lab_run_row(r, 4, "array", LAB_OPEN_RULE, row[i].paper, rate[row[i].access],
			      "%s: GB/s over this link, pinned memory", row[i].text);
		lab_run_reason(r, OTHER_CARD);
	}
	return rc;
}

/* Request sizes and their reduction, from the laboratory, with 8-byte edges. */
static int request_rows(struct lab_run *r, const struct subject *s, unsigned g, struct gtu_error *err)
{
	static const char *const naive = "laboratory: BFS naive: share of 32-byte requests";
	struct lab_emogi_counts counts[LAB_VARIANTS];
	struct gtu_graph wide = s->g;
	uint64_t *col = malloc(8 * s->g.m), e;
	double all[LAB_VARIANTS];
	unsigned x;
	int rc = 0;

	if (!col)
		return gtu_fail(err, GTU_ERR_NOMEM, "out of memory for %s", s->g.name);
	for (e = 0; e < s->g.m; e++)
		col[e] = gtu_graph_target(&s->g, e);
	wide.col = col;
	wide.edge_bytes = 8;
	for (x = 0; x < LAB_VARIANTS && !rc; x++) {
		struct lab_emogi config = { .variant = x, .algorithm = LAB_EMOGI_BFS, .graph = &wide, .source = s->source[0] };

		rc = lab_emogi_run(&r->m, &config, r->progress, s->result32, &counts[x], err);
		r->instructions += rc ? 0 : counts[x].lab.warp_instructions;
		all[x] = rc ? 1 : (double)emogi_requests(counts[x].monitor);
	}
	free(col);
	if (rc)
		return rc;
	lab_run_row(r, 5, lab_run_label(r, g), LAB_OPEN_RULE, NAN, emogi_share(counts[0].monitor, 1), "%s",
		      naive);
	for (x = LAB_MERGED; x < LAB_VARIANTS; x++) {
		lab_run_row(r, 5, lab_run_label(r, g), LAB_OPEN_RULE, x == LAB_MERGED ? 0.40 : NAN,
			      emogi_share(counts[x].monitor, 4), "laboratory: BFS %s: share of 128-byte requests",
			      lab_emogi_variant_name[x]);
		lab_run_reason(r, "the paper's number is a mean over its graphs");
	}
	for (x = LAB_MERGED; x < LAB_VARIANTS; x++)
		lab_run_row(r, 7, lab_run_label(r, g), LAB_OPEN_RULE, NAN, 1 - all[x] / all[x - 1],
			      "laboratory: BFS: requests removed, %s",
			      x == LAB_MERGED ? "merged from naive" : "aligned from merged");
	return 0;
}

struct sums {
	double gain[2], amplified, over_uvm, narrow;
	unsigned bfs, pairs;
};

static int place_edges(struct gtu_device *dev, const struct subject *s, uint32_t edges, uint32_t width, struct gtu_error *err)
{
	const struct gtu_placement_options p = { .edges = edges, .edge_bytes = width, .separate_weights = 1,
						 .gpu_memory = GTU_GPU_MEMORY_NONE };

	return gtu_placement_create(dev, &s->g, &p, err);
}

static void bfs_rows(struct lab_run *r, unsigned g, const struct subject *s, const struct took t[GTU_KERNELS],
		     double ceiling, struct sums *sum)
{
	static const double paper[GTU_KERNELS] = { NAN, 4.7, 11, 12 };
	double amplified = t[GTU_KERNEL_ALIGNED].list_bytes / SOURCES / (8.0 * (double)s->g.m);
	const char *label = lab_run_label(r, g);
	unsigned k;

	for (k = GTU_KERNEL_NAIVE; k < GTU_KERNELS; k++) {
		lab_run_row(r, 8, label, LAB_OPEN_RULE, paper[k], 1e-9 * t[k].list_bytes / t[k].seconds,
			      "BFS %s: GB/s over this link", gtu_kernel_name(k));
		lab_run_reason(r, OTHER_CARD);
		lab_run_row(r, 8, label, LAB_OPEN_RULE, k == GTU_KERNEL_ALIGNED ? 12 / 12.23 : NAN,
			      1e-9 * t[k].list_bytes / t[k].seconds / ceiling, "BFS %s: share of the sequential rate",
			      gtu_kernel_name(k));
		lab_run_reason(r, OTHER_CARD);
	}
	for (k = GTU_KERNEL_MERGED; k < GTU_KERNELS; k++) {
		double gain = t[k - 1].seconds / t[k].seconds;

		sum->gain[k - GTU_KERNEL_MERGED] += log(gain);
		lab_run_row(r, 9, label, LAB_OPEN_RULE, NAN, gain, "BFS: speed-up, %s",
				      k == GTU_KERNEL_MERGED ? "merged over naive" : "aligned over merged");
	}
	sum->bfs++;
	sum->amplified = fmax(sum->amplified, amplified);
	lab_run_row(r, 10, label, LAB_OPEN_RULE, NAN, amplified,
			      "BFS aligned: bytes read over those of the edge list");
}

/* One graph: the paper's kernels with 8-byte edges, aligned with 4, and cold managed memory. */
static int graph_rows(struct lab_run *r, struct gtu_device *dev, struct subject *s, unsigned g, double ceiling,
		      struct sums *sum, struct gtu_error *err)
{
	struct took wide[ALGORITHMS], t[GTU_KERNELS], other;
	unsigned a, k;
	int rc = place_edges(dev, s, GTU_EDGES_AUTO, 8, err);

	for (k = GTU_KERNEL_NAIVE; k < GTU_KERNELS && !rc; k++)
		rc = take(r, dev, s, 0, k, &t[k], err);
	wide[0] = t[GTU_KERNEL_ALIGNED];
	for (a = 1; a < ALGORITHMS && !rc; a++)
		rc = take(r, dev, s, a, GTU_KERNEL_ALIGNED, &wide[a], err);
	if (rc)
		return rc;
	bfs_rows(r, g, s, t, ceiling, sum);
	for (a = 0; a < ALGORITHMS && lab_run_wants(r, 11) && gtu_get_gpu_info(dev)->managed; a++) {
		rc = place_edges(dev, s, GTU_EDGES_UVM, 8, err);
		rc = rc ? rc : take(r, dev, s, a, GTU_KERNEL_ALIGNED, &other, err);
		if (rc)
			return rc;
		lab_run_row(r, 11, lab_run_label(r, g), LAB_OPEN_RULE, NAN, other.seconds / wide[a].seconds,
			      "%s aligned: speed-up over unified memory, cold", algorithm_name[a]);
		sum->over_uvm += log(other.seconds / wide[a].seconds);
	}
	rc = place_edges(dev, s, GTU_EDGES_AUTO, 4, err);
	for (a = 0; a < ALGORITHMS && !rc; a++) {
		rc = take(r, dev, s, a, GTU_KERNEL_ALIGNED, &other, err);
		if (rc)
			return rc;
		lab_run_row(r, 12, lab_run_label(r, g), LAB_OPEN_RULE, NAN, wide[a].seconds / other.seconds,
				      "%s aligned: 4 bytes an edge over 8: speed-up", algorithm_name[a]);
		sum->narrow += log(wide[a].seconds / other.seconds);
		sum->pairs++;
	}
	if (!rc && (lab_run_wants(r, 5) || lab_run_wants(r, 7)) && s->g.m <= LAB_EDGES_MOST)
		rc = request_rows(r, s, g, err);
	return rc;
}

static void mean_rows(struct lab_run *r, const struct sums *sum, bool uvm)
{
	double n = sum->bfs;

	lab_run_row(r, 9, "mean", LAB_SPEEDUP_RULE, 3.24 / 0.73, exp(sum->gain[0] / n),
		      "BFS: speed-up, merged over naive (3.24 / 0.73)");
	lab_run_row(r, 9, "mean", LAB_SPEEDUP_RULE, 1.10, exp(sum->gain[1] / n),
		      "BFS: speed-up, aligned over merged");
	lab_run_row(r, 10, "most", LAB_COUNT_RULE, 1.31, sum->amplified,
			      "BFS aligned: bytes read over those of the edge list");
	/* unlike the paper's graphs, these fit the card */
	if (uvm) {
		lab_run_row(r, 11, "mean", LAB_OPEN_RULE, 2.60, exp(sum->over_uvm / sum->pairs),
			      "aligned: speed-up over unified memory, cold");
		lab_run_reason(r, "these graphs fit the card, unlike the paper's");
	}
	lab_run_row(r, 12, "mean", LAB_SPEEDUP_RULE, 1.57, exp(sum->narrow / sum->pairs),
			      "4 bytes an edge over 8: speed-up");
}

int lab_run_emogi_gpu(struct lab_run *r, struct gtu_error *err)
{
	struct subject s[LAB_RUN_GRAPHS] = { 0 };
	struct sums sum = { 0 };
	struct gtu_device *dev;
	double ceiling = 0;
	unsigned g;
	int rc = gtu_open(r->device, &dev, err);

	if (rc)
		return rc;
	if (!gtu_get_gpu_info(dev))
		rc = gtu_fail(err, GTU_ERR_USAGE, "%s is not a GPU: use --device cuda:0, or leave it out for the laboratory", r->device);
	rc = rc ? rc : lab_run_begin(r, "v100", NULL, standins, sizeof(standins) / sizeof(standins[0]), err);
	rc = rc ? rc : link_rows(r, dev, &ceiling, err);
	for (g = 0; g < r->graphs && !rc; g++) {
		rc = subject_of(&s[g], r->graph[g], err);
		rc = rc ? rc : graph_rows(r, dev, &s[g], g, ceiling, &sum, err);
		gtu_placement_destroy(dev);
	}
	if (!rc)
		mean_rows(r, &sum, gtu_get_gpu_info(dev)->managed);
	if (!rc)
		snprintf(r->m.name, sizeof(r->m.name), "%.40s; lab rows on v100", gtu_get_gpu_info(dev)->name);
	for (g = 0; g < r->graphs; g++)
		subject_free(&s[g]);
	gtu_close(dev);
	return rc;
}
