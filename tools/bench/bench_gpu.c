// SPDX-License-Identifier: MIT
/*
 * gtu bench gpu: measures the link, then every algorithm for every placement of the edges. One file, because --only
 * selects links, algorithms, kernels and placements together; checks, graphs and output have files of their own.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_gpu.h"
#include "bench_gpu_check.h"
#include "bench_gpu_ranks.h"
#include "gtu/ranks.h"
#include "tools/support/cli.h"
#include "tools/support/gpu_options.h"
#include "tools/support/graph_options.h"
#include "tools/support/host.h"
#include "tools/report/report.h"
#include "tools/support/atomic_file.h"
#include "libruntime/support/clock.h"

static const char help[] =
	"usage: gtu bench gpu [--graph G]... [--device D] [--weak G]... [--exchange WAY,...]\n"
	"                     [--only NAME,...] [--sources N]\n"
	"                     [--sssp-sources N] [--iterations N] [--link BYTES] [--gpu-memory B,...]\n"
	"                     [--weights MIN:MAX] [--edges KIND] [--transpose] [--ranks NAME=FILE]... [--seconds S]\n"
	"                     [--verify] [--validate] [--json FILE|-] [--plot FILE.svg|-]\n\n"
	"Measures how fast a GPU reads host memory for several access patterns, and how fast it traverses\n"
	"graphs whose edges are in host memory: the paper's kernels and this library's in one run, and for\n"
	"comparison with the edges on the card.\n\n"
	"  --graph G        a file, kronecker:SCALE or uniform:SCALE (degree 16, both ways; default\n"
	"                   kronecker:22); may be given several times. rule:SCALE[:DEGREE] is an undirected\n"
	"                   graph by rule, made as fast as it is written (degree 48), whose list is registered\n"
	"                   where it lies, so that it may be larger than the card's memory\n"
	"  --device D       cuda:0, the default, or another; cuda:0,1 or cuda:all runs bfs, sssp, cc and pr\n"
	"                   (bc and kc by --only) over one card, two, four, ... and all, with the lists where auto\n"
	"                   or --edges and the first --gpu-memory place them. A row has the time of the\n"
	"                   traversal, its exchange out of kernels, and the whole run; the rate by that of the\n"
	"                   fewest cards, the share of it that a card has, and the bytes that the cards send in a\n"
	"                   step beside the most that Documentation/scale.md permits (0: none known). Numbers of\n"
	"                   cards without the memory are left out; then results are validated as by --validate\n"
	"  --weak G         over several cards: the graph G over one, one of twice the vertices over two, and so on\n"
	"  --exchange WAY,...  over several cards: a row for each of nccl, copies, loads, host, auto (auto)\n"
	"  --only NAMES     of: link, bfs, sssp, cc, pr, naive, merged, aligned, auto, device, uvm, and of\n"
	"                   those that are measured only where they are named: bc, lcc, kc, cdlp, gc, stcon,\n"
	"                   gcn (4 features), host (no compressed lists)\n"
	"  --sources N      number of sources of BFS, drawn among vertices with edges (8)\n"
	"  --sssp-sources N  number of sources of SSSP, bc and stcon, likewise (4)\n"
	"  --iterations N   iterations of PageRank and cdlp (10)\n"
	"  --weights MIN:MAX  weights for SSSP where the graph has none (8:72)\n"
	"  --edges KIND     host memory of the edges: managed or pinned (the faster by a probe); device: only\n"
	"                   with the edges on the card\n"
	"  --transpose      place the transposed lists of directed graphs, too\n"
	"  --link BYTES     memory for the link's measurement (1G)\n"
	"  --gpu-memory B,...  limits of the card's memory for edges, a row each; default: none, and one\n"
	"                   eighth of the 4-byte edge list\n"
	"  --ranks NAME=FILE  ranks of one graph by another program, a 4-byte real per vertex: prints their\n"
	"                   distance from converged ranks, and the time of the fewest iterations of ours that\n"
	"                   come as close, for each placement with some of the card's memory\n"
	"  --seconds S      stop after about S seconds, at the end of a row\n"
	"  --verify         compare with the reference code, too (slow for large graphs)\n"
	"  --validate       check the first result of bfs, sssp, cc and pr of each graph by all edges of its\n"
	"                   vertices, or of those that 40 s permit: Graph500's rules for levels, triangle\n"
	"                   inequality, labels, one iteration by plain code\n"
	"  --json FILE      all results as JSON; - is standard output, and then no table is printed\n"
	"  --plot FILE.svg  a bar chart of edges per second (of the link with --only link); - likewise\n\n"
	"mean ms   warm: of the traversal alone, mean over the sources; results are not copied back in it.\n"
	"cold ms   one run from an opened graph to results on the host, with all preparation: placing the\n"
	"          lists (place), caching edges or packing (cache), arrays of the run (setup), the\n"
	"          traversal, and copying results (result); without the probe, which runs once per device\n"
	"M edges/s stored entries per second; M TEPS: Graph500's count for bfs and sssp, which takes an\n"
	"          undirected edge once\n"
	"edges     their placement, bytes per edge (z: compressed), and the limit of the card's memory\n"
	"GB/s      32-byte sectors of the edge list requested per time; share: of the link's sequential\n"
	"          rate, measured before. Sectors of the card's own copy are not counted.\n"
	"All variants must give the same results: ranks are compared vertex by vertex, the others by a hash.\n";

#define CONFIGS_MAX	16

struct config {
	const char *name;
	struct gtu_placement_options placement;
	uint32_t kernels;		/* bit: enum gtu_kernel */
};

static bool wanted(const struct gpu_bench *b, const char *name, const char *const *group)
{
	size_t length = strlen(name);
	const char *p;
	bool any = false, in;
	unsigned i;

	/* if --only names no member of a group, the whole group is selected */
	for (p = b->only; p && *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
		in = strcspn(p, ",") == length && !strncmp(p, name, length);
		if (in)
			return true;
		for (i = 0; group[i]; i++)
			any = any || (strcspn(p, ",") == strlen(group[i]) && !strncmp(p, group[i], strlen(group[i])));
	}
	return !any;
}

static const char *const subjects[] = { "link", "bfs", "sssp", "cc", "pr", "bc", "lcc", "kc", "cdlp", "gc", "stcon",
					"gcn", NULL };
static const char *const kernels[] = { "naive", "merged", "aligned", "auto", NULL };
static const char *const placements[] = { "device", "uvm", "host", NULL };

/* Whether --only has @name. */
static bool named(const struct gpu_bench *b, const char *name)
{
	const char *p = b->only;
	size_t length = strlen(name);

	for (; p && *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ','))
		if (strcspn(p, ",") == length && !strncmp(p, name, length))
			return true;
	return false;
}

bool bench_gpu_wants(const struct gpu_bench *b, unsigned algorithm)
{
	const char *name = bench_algorithm[algorithm].name;

	return algorithm < BENCH_STANDARD ? wanted(b, name, subjects) : named(b, name);
}

bool bench_gpu_time_left(const struct gpu_bench *b)
{
	return gtu_now_s() - b->start < b->limit && !cli_interrupted();
}

/* ---- The link --------------------------------------------------------------------------------------- */

static int measure_link(struct gpu_bench *b, struct gtu_error *err)
{
	const struct gtu_gpu_info *info = gtu_get_gpu_info(b->dev);
	static const uint32_t kind[] = { GTU_EDGES_MANAGED, GTU_EDGES_PINNED, GTU_EDGES_REGISTERED, GTU_EDGES_DEVICE };
	unsigned i, a;
	int rc;

	if (b->table) {
		printf("link, %s bytes, GB/s\n%-12s", grouped(b->link_bytes), "");
		for (a = 0; a < GTU_LINK_ACCESSES; a++)
			printf(" %11s", gtu_link_access_name(a));
		putchar('\n');
	}
	for (i = 0; i < 4; i++) {
		if ((kind[i] == GTU_EDGES_MANAGED && !info->managed) ||
		    (kind[i] == GTU_EDGES_REGISTERED && !info->registered))
			continue;
		rc = gtu_link_measure(b->dev, kind[i], b->link_bytes, 3, b->link[kind[i]], err);
		if (rc)
			return rc;
		if (b->table) {
			printf("%-12s", gtu_edges_name(kind[i]));
			for (a = 0; a < GTU_LINK_ACCESSES; a++)
				printf(" %11.1f", b->link[kind[i]][a]);
			putchar('\n');
			fflush(stdout);
		}
		if (kind[i] != GTU_EDGES_DEVICE)
			b->ceiling = fmax(b->ceiling, b->link[kind[i]][GTU_LINK_SEQUENTIAL]);
	}
	return 0;
}

/* ---- Runs ---------------------------------------------------------------------------------------------- */

double bench_phase_seconds(const struct gtu_algorithm_stats *s, const char *name)
{
	unsigned i;

	for (i = 0; i < s->phases; i++)
		if (!strcmp(s->phase[i].name, name))
			return s->phase[i].seconds;
	return 0;
}

/* The first run of a row has just ended. */
static void note_cold(struct gpu_row *r, const struct gtu_algorithm_stats *s)
{
	r->cold_seconds = gtu_now_s() - r->cold_start;
	r->cache_seconds = bench_phase_seconds(s, "cache");
	r->setup_seconds = bench_phase_seconds(s, "setup");
	r->result_seconds = bench_phase_seconds(s, "result");
}

static int run_once(struct gpu_bench *b, unsigned algorithm, unsigned i, uint32_t kernel, struct gpu_row *r,
		    struct gtu_error *err)
{
	const struct bench_algorithm *a = &bench_algorithm[algorithm];
	struct gtu_algorithm_stats s;
	int rc = bench_algorithm_run(b->dev, &b->g, algorithm, GTU_WITH_GPU, kernel, b->source[i], b->iterations, b->result,
				     &s, err);

	if (rc)
		return rc;
	if (!r->runs)
		note_cold(r, &s);
	if (b->verify && !b->hash[algorithm][a->by_source ? i : 0] && !b->first[algorithm]) {
		rc = bench_check_reference(b, algorithm, b->source[i], err);
		if (rc)
			return rc;
	}
	if (!bench_same_result(b, algorithm, a->by_source ? i : 0))
		return gtu_fail(err, GTU_ERR_VERIFY, "%s on %s: the result of kernel %s differs from the earlier ones", a->name,
				b->name, gtu_kernel_name(kernel));
	r->min = r->runs ? fmin(r->min, s.gpu_seconds) : s.gpu_seconds;
	r->max = fmax(r->max, s.gpu_seconds);
	r->seconds += s.gpu_seconds;
	r->edges += (double)s.edges;
	r->iterations += (double)s.iterations;
	r->list_bytes += (double)s.list_bytes;
	r->cached_bytes += (double)s.cached_bytes;
	r->phase_seconds += s.seconds;
	r->runs++;
	return 0;
}

static int run_row(struct gpu_bench *b, unsigned algorithm, const struct config *c, uint32_t kernel, struct gtu_error *err)
{
	unsigned i, runs = algorithm == BENCH_BFS ? b->sources : bench_algorithm[algorithm].by_source ? b->sssp_sources : 2;
	struct gpu_row *r = &b->row[b->rows];
	int rc = 0;

	if (b->rows == GPU_ROWS_MAX)
		return gtu_fail(err, GTU_ERR_FAIL, "more than %d rows", GPU_ROWS_MAX);
	/* one run is enough for configurations that are known to be slow */
	if (kernel == GTU_KERNEL_NAIVE || c->placement.edges == GTU_EDGES_UVM || (algorithm == BENCH_PR && kernel))
		runs = 1;
	memset(r, 0, sizeof(*r));
	r->graph = b->name;
	r->algorithm = bench_algorithm[algorithm].name;
	r->kernel = kernel;
	r->directed = b->g.flags & GTU_GRAPH_DIRECTED;
	r->cold_start = gtu_now_s();
	if (b->by_rule) {
		/* registering so much memory takes longer than a run: once for all rows */
		r->place_seconds = gtu_get_placement(b->dev)->seconds;
		r->cold_start -= r->place_seconds;
	} else {
		gtu_placement_destroy(b->dev);
		r->cold_start = gtu_now_s();
		rc = gtu_placement_create(b->dev, &b->g, &c->placement, err);
		r->place_seconds = gtu_now_s() - r->cold_start;
	}
	if (rc)
		return rc;
	r->placement = *gtu_get_placement(b->dev);
	r->gpu_memory = c->placement.gpu_memory;
	snprintf(r->config, sizeof(r->config), "%s %s%s", gtu_edges_name(r->placement.edges),
		 r->placement.edge_bytes == 8 ? "8" : r->placement.edge_bytes ? "4" : "z", c->name);
	for (i = 0; i < runs && !rc && (!i || bench_gpu_time_left(b)); i++)
		rc = run_once(b, algorithm, i, kernel, r, err);
	if (rc)
		return rc;
	if (b->table)
		gpu_bench_print_row(b, r);
	b->rows++;
	if (!b->validate || algorithm >= BENCH_STANDARD || b->validated[algorithm] > 0)
		return 0;
	return bench_check_valid(b, algorithm, kernel, b->source[i - 1], err);
}

/* Memory that is refused to a row, or a graph that its algorithm cannot take, leaves the results of the others. */
static bool leaves_others(int rc)
{
	return rc == GTU_ERR_NOMEM || rc == GTU_ERR_UNSUPPORTED || rc == GTU_ERR_INPUT;
}

static int leave_out(struct gpu_bench *b, const char *what, const struct config *c, const char *kernel,
		     const struct gtu_error *err)
{
	cli_clear_bar();
	fprintf(stderr, "gtu bench gpu: %s on %s, edges %s%s%s%s left out: %s\n", what, b->name,
		gtu_edges_name(c->placement.edges), c->name, *kernel ? ", kernel " : "", kernel, err->text);
	b->left_out++;
	return 0;
}

#define BIT(kernel) (1u << GTU_KERNEL_##kernel)

static int run_config(struct gpu_bench *b, const struct config *c, struct gtu_error *err)
{
	unsigned algorithm;
	uint32_t kernel, any = 0;
	int rc;

	for (kernel = 0; kernel < GTU_KERNELS; kernel++)
		any |= c->kernels >> kernel & 1 && wanted(b, gtu_kernel_name(kernel), kernels);
	if (!any)
		return 0;
	/* this one probes, which is not in the rows' cold times */
	rc = gtu_placement_create(b->dev, &b->g, &c->placement, err);
	if (leaves_others(rc))
		return leave_out(b, "all algorithms", c, "", err);
	if (!rc && b->table)
		gpu_print_placement(gtu_get_placement(b->dev), stdout);
	for (algorithm = 0; algorithm < BENCH_ALGORITHMS && !rc; algorithm++)
		for (kernel = GTU_KERNELS; kernel-- > 0 && !rc;)
			if (c->kernels >> kernel & 1 && bench_gpu_wants(b, algorithm) &&
			    (algorithm < BENCH_STANDARD || kernel == GTU_KERNEL_AUTO) &&
			    wanted(b, gtu_kernel_name(kernel), kernels) && bench_gpu_time_left(b)) {
				rc = run_row(b, algorithm, c, kernel, err);
				if (leaves_others(rc))
					rc = leave_out(b, bench_algorithm[algorithm].name, c, gtu_kernel_name(kernel), err);
			}
	if (!rc && b->ranked && gtu_get_placement(b->dev) && c->kernels == BIT(AUTO) &&
	    c->placement.gpu_memory > GTU_GPU_MEMORY_NONE && !c->placement.compressed && wanted(b, "pr", subjects))
		rc = bench_ranks_run(b->dev, &b->g, b->ranks, b->ranked, err);
	else
		return rc;
	if (!rc && b->table)
		bench_ranks_print(b->ranks, b->ranked);
	return rc;
}

static unsigned configs_of(const struct gpu_bench *b, struct config *c)
{
	static const char *const memory_name[] = { " +m1", " +m2", " +m3", " +m4", " +m5", " +m6", " +m7", " +m8" };
	unsigned n = 0, i, kept;

	if (b->by_rule) {
		const uint64_t eighth[] = { GTU_GPU_MEMORY_NONE, b->g.m / 2 };

		for (i = 0; i < (b->memories ? b->memories : 2); i++)
			c[n++] = (struct config){ i ? memory_name[i - 1] : "",
						  { .edges = GTU_EDGES_REGISTERED,
						    .gpu_memory = b->memories ? b->memory[i] : eighth[i] }, BIT(AUTO) };
		return n;
	}
	/*
	 * a limit of one byte caches nothing, but lets the probe choose between managed and pinned
	 */
	c[n++] = (struct config){ "", { .edges = GTU_EDGES_AUTO, .gpu_memory = GTU_GPU_MEMORY_NONE, .edge_bytes = 8, .separate_weights = 1 },
				  BIT(NAIVE) | BIT(MERGED) | BIT(ALIGNED) };
	c[n++] = (struct config){ "", { .edges = GTU_EDGES_AUTO, .gpu_memory = GTU_GPU_MEMORY_NONE, .edge_bytes = 4, .separate_weights = 1 },
				  BIT(ALIGNED) };
	c[n++] = (struct config){ "", { .edges = GTU_EDGES_AUTO, .gpu_memory = GTU_GPU_MEMORY_NONE }, BIT(AUTO) };
	if (!named(b, "host"))
		c[n++] = (struct config){ "", { .edges = GTU_EDGES_AUTO, .gpu_memory = GTU_GPU_MEMORY_NONE, .compressed = 1 }, BIT(AUTO) };
	if (!b->memories && !named(b, "host"))
		c[n++] = (struct config){ " +1/8", { .edges = GTU_EDGES_AUTO, .gpu_memory = b->g.m / 2,
						     .compressed = 1 }, BIT(AUTO) };
	if (!b->memories)
		c[n++] = (struct config){ " +1/8", { .edges = GTU_EDGES_AUTO, .gpu_memory = b->g.m / 2 },
					  BIT(AUTO) };
	for (i = 0; i < b->memories; i++)
		c[n++] = (struct config){ memory_name[i], { .edges = GTU_EDGES_AUTO, .gpu_memory = b->memory[i] }, BIT(AUTO) };
	if (b->edges == GTU_EDGES_DEVICE || wanted(b, "device", (const char *const[]){ "device", "uvm", NULL }))
		c[n++] = (struct config){ "", { .edges = GTU_EDGES_DEVICE, .edge_bytes = 4 }, BIT(ALIGNED) | BIT(AUTO) };
	if (named(b, "uvm"))
		c[n++] = (struct config){ "", { .edges = GTU_EDGES_UVM, .edge_bytes = 8, .separate_weights = 1 },
					  BIT(ALIGNED) };
	for (i = 0, kept = 0; i < n; i++) {
		if (b->edges == GTU_EDGES_DEVICE && c[i].placement.edges != GTU_EDGES_DEVICE)
			continue;
		c[i].placement.transpose = b->transpose;
		if (b->edges && c[i].placement.edges == GTU_EDGES_AUTO)
			c[i].placement.edges = b->edges;
		c[kept++] = c[i];
	}
	return kept;
}

int bench_gpu_run_graph(struct gpu_bench *b, const char *name, uint32_t cards, struct gtu_error *err)
{
	struct config config[CONFIGS_MAX];
	unsigned n, i;
	uint32_t words = 1;
	int rc;

	for (i = 0; i < BENCH_ALGORITHMS; i++)
		words = bench_gpu_wants(b, i) && bench_algorithm[i].words > words ? bench_algorithm[i].words : words;
	rc = bench_gpu_graph_open(b, name, wanted(b, "sssp", subjects), words, err);
	if (b->several) {
		rc = rc ? rc : bench_cards_run(b, cards, err);
		bench_gpu_graph_close(b);
		return rc;
	}
	if (!rc && b->table)
		printf("%-4s %-18s %-8s %10s %9s %9s %6s %7s %9s %10s %10s %9s %10s %9s %9s %9s %9s\n", "", "edges", "kernel",
		       "mean ms", "min", "max", "steps", "share", "M edges/s", "GB link", "GB card", "M TEPS", "cold ms",
		       "place", "cache", "setup", "result");
	n = rc ? 0 : configs_of(b, config);
	for (i = 0; i < n && !rc && bench_gpu_time_left(b); i++)
		rc = run_config(b, &config[i], err);
	bench_gpu_graph_close(b);
	return rc;
}

/* ---- Command line ----------------------------------------------------------------------------------------- */

static bool parse_memories(struct gpu_bench *b, const char *text)
{
	char word[32];
	size_t length;

	for (; *text; text += length + (text[length] == ',')) {
		length = strcspn(text, ",");
		if (b->memories == 8 || length >= sizeof(word)) {
			cli_usage("--gpu-memory takes at most 8 sizes, such as 64M,1G");
			return false;
		}
		memcpy(word, text, length);
		word[length] = 0;
		if (!cli_u64("--gpu-memory", word, 0, UINT64_MAX - 1, &b->memory[b->memories]))
			return false;
		if (!b->memory[b->memories])
			b->memory[b->memories] = GTU_GPU_MEMORY_NONE;
		b->memories++;
	}
	return true;
}

static bool parse_edges(struct gpu_bench *b, const char *text)
{
	static const char *const kinds[] = { "managed", "pinned", "device", NULL };
	static const uint32_t edges[] = { GTU_EDGES_MANAGED, GTU_EDGES_PINNED, GTU_EDGES_DEVICE };
	int kind = cli_choice("--edges", text, kinds);

	b->edges = kind < 0 ? 0 : edges[kind];
	return kind >= 0;
}

static bool parse_weights(struct gpu_bench *b, const char *text)
{
	char low[24];
	const char *colon = strchr(text, ':');
	uint64_t min = 0, max = 0;

	if (!colon || colon - text >= (ptrdiff_t)sizeof(low)) {
		cli_usage("--weights takes MIN:MAX, such as 8:72, not '%s'", text);
		return false;
	}
	snprintf(low, sizeof(low), "%.*s", (int)(colon - text), text);
	if (!cli_u64("the minimum of --weights", low, 0, UINT32_MAX, &min) ||
	    !cli_u64("the maximum of --weights", colon + 1, min, UINT32_MAX, &max))
		return false;
	b->weight_min = (uint32_t)min;
	b->weight_max = (uint32_t)max;
	return true;
}

static bool only_is_known(const char *only)
{
	const char *const *const group[] = { subjects, kernels, placements };
	const char *names[32];
	unsigned n = 0, i, k;
	char word[32];
	size_t length;

	for (k = 0; k < 3; k++)
		for (i = 0; group[k][i]; i++)
			names[n++] = group[k][i];
	names[n] = NULL;
	for (; *only; only += length + (only[length] == ',')) {
		length = strcspn(only, ",");
		snprintf(word, sizeof(word), "%.*s", (int)(length < 31 ? length : 31), only);
		if (cli_choice("--only", word, names) < 0)
			return false;
	}
	return true;
}

static bool count_option(const char *what, const char *value, unsigned max, unsigned *out)
{
	uint64_t n = 0;

	if (!cli_u64(what, value, 1, max, &n))
		return false;
	*out = (unsigned)n;
	return true;
}

static int parse(int argc, char **argv, struct gpu_bench *b)
{
	static const struct option options[] = {
		{ "graph", required_argument, NULL, 'g' },
		{ "weak", required_argument, NULL, 'W' },
		{ "device", required_argument, NULL, 'd' },
		{ "exchange", required_argument, NULL, 'x' },
		{ "only", required_argument, NULL, 'o' },
		{ "sources", required_argument, NULL, 's' },
		{ "sssp-sources", required_argument, NULL, 'S' },
		{ "iterations", required_argument, NULL, 'i' },
		{ "link", required_argument, NULL, 'l' },
		{ "gpu-memory", required_argument, NULL, 'm' },
		{ "ranks", required_argument, NULL, 'r' },
		{ "seconds", required_argument, NULL, 't' },
		{ "verify", no_argument, NULL, 'v' },
		{ "validate", no_argument, NULL, 'V' },
		{ "weights", required_argument, NULL, 'w' },
		{ "edges", required_argument, NULL, 'e' },
		{ "transpose", no_argument, NULL, 'T' },
		{ "json", required_argument, NULL, 'j' },
		{ "plot", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	bool good = true;
	int opt;

	optind = 0;
	while (good && (opt = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (opt) {
		case 'g':
		case 'W':
			if (b->graphs + b->weaks == BENCH_GRAPHS)
				return cli_usage("--graph and --weak can be given at most %d times", BENCH_GRAPHS);
			*(opt == 'g' ? &b->graph[b->graphs++] : &b->weak[b->weaks++]) = optarg;
			break;
		case 'x': good = bench_cards_take_ways(&b->cards, optarg); break;
		case 'd': b->device = optarg; break;
		case 'o': b->only = optarg; good = only_is_known(optarg); break;
		case 's': good = count_option("--sources", optarg, 64, &b->sources); break;
		case 'S': good = count_option("--sssp-sources", optarg, 64, &b->sssp_sources); break;
		case 'i': good = count_option("--iterations", optarg, 1000, &b->iterations); break;
		case 'l': good = cli_u64("--link", optarg, 1 << 20, UINT64_MAX, &b->link_bytes); break;
		case 'm': good = parse_memories(b, optarg); break;
		case 'r':
			if (b->ranked == BENCH_RANKS_MAX)
				return cli_usage("--ranks can be given at most %d times", BENCH_RANKS_MAX);
			good = bench_ranks_take(optarg, &b->ranks[b->ranked++]);
			break;
		case 't': good = cli_double("--seconds", optarg, 0, 1e9, &b->limit); break;
		case 'v': b->verify = true; break;
		case 'V': b->validate = true; break;
		case 'w': good = parse_weights(b, optarg); break;
		case 'e': good = parse_edges(b, optarg); break;
		case 'T': b->transpose = 1; break;
		case 'j': b->json = optarg; break;
		case 'p': b->plot = optarg; break;
		case 'h': fputs(help, stdout); return -1;
		default: return cli_option(argc, argv, opt, options);
		}
	}
	if (!good)
		return CLI_USAGE;
	if (optind < argc)
		return cli_usage("unexpected argument '%s'", argv[optind]);
	if (!bench_targets(b->json, b->plot))
		return CLI_USAGE;
	if (b->ranked && b->graphs != 1)
		return cli_usage("--ranks needs exactly one --graph, but %u are given", b->graphs);
	if (!b->graphs && !b->weaks)
		b->graph[b->graphs++] = "kronecker:22";
	return CLI_DONE;
}

int bench_gpu(int argc, char **argv)
{
	static struct gpu_bench b = { .device = "cuda:0", .sources = 8, .sssp_sources = 4, .iterations = 10,
				  .weight_min = 8, .weight_max = 72, .link_bytes = 1ull << 30, .limit = 1e9 };
	struct gtu_error err = { 0 };
	uint32_t rank, cards = 0;
	bool traversals = false;
	unsigned i;
	int rc = parse(argc, argv, &b);

	if (rc)
		return rc < 0 ? CLI_DONE : rc;
	b.start = gtu_now_s();
	b.table = bench_has_table(b.json, b.plot);
	rc = b.json ? atomic_file_try(b.json, &err) : 0;
	if (!rc && b.plot)
		rc = atomic_file_try(b.plot, &err);
	if (!rc)
		rc = gtu_open(b.device, &b.dev, &err);
	if (!rc && !gtu_get_gpu_info(b.dev))
		rc = gtu_fail(&err, GTU_ERR_USAGE, "%s is not a GPU", b.device);
	if (!rc)
		gtu_ranks_of(b.dev, &rank, &cards);
	b.several = cards > 1;
	if (!rc && !b.several && (b.weaks || b.cards.ways))
		rc = gtu_fail(&err, GTU_ERR_USAGE, "--weak and --exchange are for several cards, not for %s", b.device);
	if (!rc && b.several && b.plot)
		rc = gtu_fail(&err, GTU_ERR_USAGE, "--plot is for one card, not for %s", b.device);
	if (!rc && b.table)
		gpu_print_info(gtu_get_gpu_info(b.dev), stdout);
	if (!rc && !b.several && wanted(&b, "link", subjects))
		rc = measure_link(&b, &err);
	for (i = 0; i < BENCH_ALGORITHMS; i++)
		traversals = traversals || bench_gpu_wants(&b, i);
	for (i = 0; i < b.graphs && !rc && traversals && bench_gpu_time_left(&b); i++)
		rc = bench_gpu_run_graph(&b, b.graph[i], 0, &err);
	for (i = 0; i < b.weaks && !rc && traversals && bench_gpu_time_left(&b); i++)
		rc = bench_cards_weak(&b, b.weak[i], &err);
	cli_clear_bar();
	if (!rc && traversals && !b.rows && !b.cards.rows && b.left_out)
		rc = gtu_fail(&err, GTU_ERR_FAIL, "all %u rows were left out", b.left_out);
	else if (!rc && traversals && !b.rows && !b.cards.rows && !bench_gpu_time_left(&b) && !cli_interrupted())
		rc = gtu_fail(&err, GTU_ERR_FAIL, "the %g seconds were over before the first row; choose more by --seconds",
			      b.limit);
	if (!rc)
		rc = bench_write(b.json, b.plot, gpu_bench_json, &b, report_chart_gpu, &err);
	gtu_close(b.dev);
	return cli_exit(&err, rc);
}
