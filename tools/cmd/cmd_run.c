// SPDX-License-Identifier: MIT
/*
 * gtu run: runs an algorithm on a graph by a unit, and checks, prints and writes the results. One file, because each
 * option has its help, its value and the checks against other options here; what a run does is in tools/run/.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "firmware-model/device/gtu_units.h"
#include "libruntime/device/backend.h"
#include "libruntime/support/clock.h"
#include "tools/support/cli.h"
#include "tools/support/graph_options.h"
#include "tools/run/run_ranks.h"
#include "tools/run/run_request.h"
#include "tools/support/atomic_file.h"

static const char help[] =
	"usage: gtu run ALGORITHM GRAPH [options]\n\n"
	"Runs an algorithm on a graph by a unit of the device and shows the result. GRAPH is a\n"
	"file, or kronecker:SCALE, uniform:SCALE or powerlaw:SCALE: 2^SCALE vertices, degree 16, seed 1.\n\n";

static const char options_help[] =
	"\n"
	"  --unit U       scu (the default), scu-basic (without filtering and grouping), iru, peg,\n"
	"                 weaver, none (plain code on the CPU), gpu (the default with --device cuda:N)\n"
	"  --device D     model (the default: the device in this process), model:KEY=VALUE,...,\n"
	"                 a device file such as /dev/gtu0, or a GPU such as cuda:0; a list such as\n"
	"                 model,model or none,none divides the graph among its devices (bfs, sssp,\n"
	"                 pr, cc, bc, kc, cdlp, gc, gcn, stcon); cuda:0,1 or cuda:all divides it among GPUs (bfs to\n"
	"                 kc); cuda:local under mpirun is the GPU of the rank's place on its host\n"
	"  --direction D  bfs, pr with peg, weaver or none: push along edges that leave a vertex,\n"
	"                 pull along edges that lead to it, or auto: bfs pulls while the frontier is large\n"
	"                 and has many of the remaining edges, pr if edges are stored both ways. Default:\n"
	"                 push; with none auto\n"
	"  --source ID    bfs, sssp, stcon: source vertex, an id of the input file (default: the vertex\n"
	"                 with most edges). bc: ID,ID,...\n"
	"  --sources N    bc: number of sources drawn at random, N:SEED or all (16)\n"
	"  --target ID    stcon: target vertex\n"
	"  --directed, --undirected   read the file's edges one way or both ways\n"
	"  --names        the ids of an edge list are words, such as 'alice bob': --source and results\n"
	"                 have them\n"
	"  --weights W    sssp, gcn: a column of a text file (1: the first after the ids), unit (every\n"
	"                 edge 1) or random[:SEED] (1 to 255, the same both ways); default: the file's\n"
	"                 weights, otherwise unit\n"
	"  --delta D      sssp: step of the near-far threshold, with none the width of a bucket; default:\n"
	"                 chosen from the weights\n"
	"  --damping D    pr: damping factor (0.85)\n"
	"  --iterations N  pr: iterations (20; at most 1000 with --epsilon); cdlp: at most (10)\n"
	"  --epsilon E    pr: stop when an iteration changes no rank by more than E; without --iterations a\n"
	"                 GPU may take fewer iterations of another kind, and --verify allows what E permits\n"
	"  --float-sums   pr with iru: the unit adds ranks for a vertex as 32-bit floats; --verify then\n"
	"                 allows 1e-3 of a rank instead of 1e-6\n"
	"  --features F   gcn: number of features per vertex (16)\n"
	"  --queries N    hash: number of lookups, every other one of an existing edge (1000000)\n"
	"  --seed S       gcn: seed of the initial features; hash: of the queries (1)\n"
	"  --output FILE  one line \"id value\" per vertex, ids ascending; - is standard output\n"
	"  --output-parts DIR  under mpirun: each rank writes the vertices that it has to DIR/part-NNNNN,\n"
	"                 with as many digits, instead of sending them to rank 0\n"
	"  --json FILE    the run as JSON: sizes, seconds by phase, every unit counter, each iteration; - likewise\n"
	"  --memory SIZE  most bytes of one array that the graph file's content may cause\n"
	"                 [$GTU_MEMORY, or 3/4 of the machine's memory]\n"
	"  --timeout S    give up if the device does not complete a job, or the next record of a stream,\n"
	"                 within S seconds (60); 0: no timeout\n"
	"  --monitor      count the device's memory requests by size (the zero-copy monitor); the model takes\n"
	"                 longer, with --unit scu several times as long\n"
	"  --verify       compare with plain reference code; exit code 4 if they differ\n"
	"  --runs N       with --unit none: repeat the run, whose seconds are \"runs\" in the JSON (1)\n\n"
	GPU_OPTIONS_HELP "\n"
	"Under mpirun, every process opens --device and its part of the graph, and rank 0 prints; this\n"
	"needs libgtu-mpi.so (package libgtu-mpi1). A container is opened in parts, other files whole.\n"
	"  mpirun -n 4 gtu run bfs G.gtu --device model     with fewer cores: mpirun --oversubscribe ...\n\n"
	"Values: bfs hops, 9223372036854775807 if there is no path; sssp distances, infinity if there is\n"
	"none; pr and bc reals with 17 digits; cc the smallest id of the component; stcon one line, the\n"
	"target and its hops; gc colours from 0; kc core numbers; cdlp the community's label, an id; lcc\n"
	"reals with 17 digits; gcn F reals; hash one line per query: its number, the two ids of the edge,\n"
	"its slot in the table or none.\n";

#define QUERIES 1000000			/* default of --queries */
#define RUNS_MAX 1000000		/* of --runs */
#define FEATURES 16			/* default of --features */

/* ---- Command line -------------------------------------------------------------------------------- */

static bool parse_unit(struct request *q, const char *word)
{
	static const char *const names[] = { "none", "scu", "scu-basic", "iru", "peg", "weaver",
					      "gpu", NULL };
	static const uint32_t unit[] = { GTU_WITH_NONE, GTU_WITH_SCU, GTU_WITH_SCU_BASIC,
					 GTU_WITH_IRU, GTU_WITH_PEG, GTU_WITH_WEAVER,
					 GTU_WITH_GPU };
	int i = cli_choice("unit", word, names);

	if (i < 0)
		return false;
	q->run.unit = names[i];
	q->run.opt.unit = unit[i];
	return true;
}

static bool parse_weights(struct request *q, const char *word)
{
	if (!strcmp(word, "unit")) {
		q->weights = W_UNIT;
		return true;
	}
	if (!strncmp(word, "random", 6) && (!word[6] || word[6] == ':')) {
		q->weights = W_RANDOM;
		q->seed = 1;
		return !word[6] || cli_u64("the seed of --weights", word + 7, 0, UINT64_MAX, &q->seed);
	}
	q->weights = W_COLUMN;
	if (*word < '0' || *word > '9') {
		cli_usage("--weights '%s' is none of: a column, unit, random, random:SEED", word);
		return false;
	}
	return cli_u64("the column of --weights", word, 1, INT32_MAX, &q->weight_column);
}

/* ID,ID,...: without a graph it is not known whether they are ids or names */
static bool parse_source(struct request *q, const char *word)
{
	if (!*word)
		return cli_usage("--source '' names no vertex"), false;
	q->source = word;
	for (q->source_count = 1; *word; word++)
		q->source_count += *word == ',';
	return true;
}

static bool parse_sources(struct request *q, const char *word)
{
	char number[32];
	size_t length = strcspn(word, ":");

	q->sources_given = true;
	q->sources = 0;
	q->sources_seed = 1;
	if (!strcmp(word, "all"))
		return true;
	snprintf(number, sizeof(number), "%.*s", (int)(length < 31 ? length : 31), word);
	return cli_u64("--sources", number, 1, UINT64_MAX, &q->sources) &&
	       (!word[length] ||
		cli_u64("the seed of --sources", word + length + 1, 0, UINT64_MAX, &q->sources_seed));
}

static bool parse_direction(struct request *q, const char *word)
{
	static const char *const names[] = { "push", "pull", "auto", NULL };
	int i = cli_choice("direction", word, names);

	q->run.opt.direction = i < 0 ? GTU_PUSH : (uint32_t)i;
	q->run.direction = i < 0 ? NULL : names[i];
	return i >= 0;
}

/* Reject an unusable --direction: unlike ignored options, it decides what is measured. */
static bool check_direction(const struct run *r)
{
	if (!r->direction)
		return true;
	if (!(r->kind->takes & RUN_TAKES_DIRECTION))
		cli_usage("--direction %s is for bfs and pr; %s knows one direction only", r->direction, r->kind->name);
	else if (r->opt.direction != GTU_PUSH && r->opt.unit != GTU_WITH_PEG && r->opt.unit != GTU_WITH_WEAVER &&
		 r->opt.unit != GTU_WITH_NONE)
		cli_usage("--direction %s is for --unit peg, weaver and none; with %s %s pushes", r->direction, r->unit,
			  r->kind->name);
	else
		return true;
	return false;
}

static bool check_sums(const struct run *r)
{
	if (r->opt.float_sums && r->opt.unit != GTU_WITH_IRU)
		cli_usage("--float-sums is for --unit iru; with %s no unit adds ranks", r->unit);
	return !r->opt.float_sums || r->opt.unit == GTU_WITH_IRU;
}

static bool parse_special(struct request *q, int option, const char *value)
{
	struct gtu_algorithm_options *o = &q->run.opt;
	uint64_t n = 0;
	bool good = true;

	switch (option) {
	case 's':
		return parse_source(q, value);
	case 'S':
		return parse_sources(q, value);
	case 'T':
		q->target = value;
		return true;
	case 'w':
		return parse_weights(q, value);
	case 'f':
		good = cli_u64("--features", value, 1, GTU_FEATURES_MAX, &n);
		o->features = (uint32_t)n;
		return good;
	case 'q':
		return cli_u64("--queries", value, 1, UINT64_MAX >> 4, &q->run.queries);
	case 'x':
		return cli_u64("--seed", value, 0, UINT64_MAX, &o->seed);
	case 'D':
		return cli_double("--delta", value, 1e-300, 1e300, &o->delta);
	case 'p':
		return cli_double("--damping", value, 1e-9, 1 - 1e-9, &o->damping);
	case 'i':
		good = cli_u64("--iterations", value, 1, UINT32_MAX, &n);
		o->iterations = (uint32_t)n;
		return good;
	case 'e':
		return cli_double("--epsilon", value, 0, 1, &o->epsilon);
	case 'F':
		o->float_sums = true;
		return true;
	}
	return false;
}

static bool is_for(const struct run_kind *kind, int option)
{
	switch (option) {
	case 's': return kind->takes & RUN_TAKES_SOURCE;
	case 'S': return kind->takes & RUN_TAKES_SOURCES;
	case 'T': return kind->takes & RUN_TAKES_TARGET;
	case 'w': return kind->takes & RUN_TAKES_WEIGHTS;
	case 'D': return kind->takes & RUN_TAKES_DELTA;
	case 'f': return kind->takes & RUN_TAKES_FEATURES;
	case 'q': return kind->takes & RUN_TAKES_QUERIES;
	case 'x': return kind->takes & RUN_TAKES_SEED;
	case 'i': return kind->takes & RUN_TAKES_ITERATIONS;
	}
	return kind->takes & RUN_TAKES_RANKS;
}

static const struct option options[] = {
	{ "unit", required_argument, NULL, 'u' },
	{ "device", required_argument, NULL, 'd' },
	{ "direction", required_argument, NULL, 'r' },
	{ "source", required_argument, NULL, 's' },
	{ "sources", required_argument, NULL, 'S' },
	{ "target", required_argument, NULL, 'T' },
	{ "directed", no_argument, NULL, '1' },
	{ "undirected", no_argument, NULL, '2' },
	{ "names", no_argument, NULL, GRAPH_OPTION_NAMES },
	{ "weights", required_argument, NULL, 'w' },
	{ "delta", required_argument, NULL, 'D' },
	{ "damping", required_argument, NULL, 'p' },
	{ "iterations", required_argument, NULL, 'i' },
	{ "epsilon", required_argument, NULL, 'e' },
	{ "float-sums", no_argument, NULL, 'F' },
	{ "features", required_argument, NULL, 'f' },
	{ "queries", required_argument, NULL, 'q' },
	{ "seed", required_argument, NULL, 'x' },
	{ "output", required_argument, NULL, 'o' },
	{ "output-parts", required_argument, NULL, 'O' },
	{ "json", required_argument, NULL, 'j' },
	{ "monitor", no_argument, NULL, 'm' },
	{ "timeout", required_argument, NULL, 't' },
	{ "memory", required_argument, NULL, GRAPH_OPTION_MEMORY },
	{ "verify", no_argument, NULL, 'v' },
	{ "runs", required_argument, NULL, 'n' },
	GPU_OPTIONS,
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

/* Check that an output file overwrites neither the graph nor another output. */
static int check_targets(const struct run *r)
{
	const char *const target[] = { r->output, r->json };
	static const char *const name[] = { "--output", "--json" };
	unsigned i;

	if (atomic_file_same(r->output, r->json))
		return cli_usage("--output and --json cannot both go to %s",
				 atomic_file_is_stdout(r->json) ? "standard output" : r->json);
	for (i = 0; i < 2; i++)
		if (target[i] && graph_is_part(r->path, target[i]))
			return cli_usage("%s %s is the graph itself or one of its files, which would be lost", name[i],
					 target[i]);
	return CLI_DONE;
}

/* Derive a missing unit from the device and a missing device from the unit. */
static bool derive_unit(struct run *r)
{
	if (!r->device)
		r->device = r->unit && r->opt.unit == GTU_WITH_GPU ? "cuda:0" : "model";
	r->unit_chosen = !r->unit;
	if (r->unit_chosen) {
		r->unit = gpu_is_device(r->device) ? "gpu" : "scu";
		r->opt.unit = gpu_is_device(r->device) ? GTU_WITH_GPU : GTU_WITH_SCU;
	}
	r->opt.kernel = r->gpu.kernel;
	if (!r->direction && r->opt.unit == GTU_WITH_NONE && r->kind->takes & RUN_TAKES_DIRECTION)
		r->opt.direction = GTU_PUSH_OR_PULL;
	if (r->gpu.given && r->opt.unit != GTU_WITH_GPU)
		cli_usage("--%s is for --device cuda:N, not for unit %s on %s", r->gpu.given, r->unit, r->device);
	else if (r->gpu.board && r->gpu.placement.edges != GTU_EDGES_APERTURE)
		return cli_usage("--board is for --edges aperture"), false;
	return !r->gpu.given || r->opt.unit == GTU_WITH_GPU;
}

/* CLI_DONE to go on; -1 if --help was given. */
static int parse(int argc, char **argv, struct request *q)
{
	char names[256];
	const char *special[128] = { NULL };	/* by option: its name if it was given */
	uint32_t direction;
	int opt, taken, index = -1;

	q->timeout = CLI_TIMEOUT;
	q->run.opt.features = FEATURES;
	q->run.runs = 1;
	q->run.queries = QUERIES;
	q->run.opt.seed = 1;
	while ((opt = getopt_long(argc, argv, ":h", options, &index)) != -1) {
		switch (opt) {
		case 'h':
			fputs(help, stdout);
			run_print_kinds(stdout);
			fputs(options_help, stdout);
			return -1;
		case 'u':
			if (!parse_unit(q, optarg))
				return CLI_USAGE;
			break;
		case 'd': q->run.device = optarg; break;
		case 'r':
			if (!parse_direction(q, optarg))
				return CLI_USAGE;
			break;
		case 'o': q->run.output = optarg; break;
		case 'O': q->run.parts = optarg; break;
		case 'j': q->run.json = optarg; break;
		case 'm': q->run.monitor = true; break;
		case 'v': q->verify = true; break;
		case GRAPH_OPTION_NAMES: q->names = true; break;
		case 'n':
			if (!cli_u64("--runs", optarg, 1, RUNS_MAX, &q->run.runs))
				return CLI_USAGE;
			break;
		case GRAPH_OPTION_MEMORY:
			if (!graph_memory(optarg))
				return CLI_USAGE;
			break;
		case 't':
			if (!cli_double("--timeout", optarg, 0, 1e9, &q->timeout))
				return CLI_USAGE;
			break;
		case '1':
		case '2':
			direction = opt == '1' ? GTU_DIRECTED : GTU_UNDIRECTED;
			if (q->direction && q->direction != direction)
				return cli_usage("--directed and --undirected exclude each other");
			q->direction = direction;
			break;
		case '?':
		case ':':
			return cli_option(argc, argv, opt, options);
		default:
			taken = gpu_option(opt, optarg, &q->run.gpu);
			if (taken < 0)
				return CLI_USAGE;
			if (taken)
				break;
			if (!parse_special(q, opt, optarg))
				return CLI_USAGE;
			special[opt] = options[index].name;
		}
	}
	if (argc - optind < 2) {
		run_kind_names(names, sizeof(names));
		return argc == optind ? cli_usage("expects ALGORITHM (%s) and GRAPH", names) :
					cli_usage("expects ALGORITHM and GRAPH");
	}
	if (argc - optind > 2)
		return cli_usage("unexpected argument '%s'", argv[optind + 2]);
	if (!run_has_kind(argv[optind]) && run_has_kind(argv[optind + 1]))
		return cli_usage("expects ALGORITHM and GRAPH in this order: did you mean 'run %s %s'?", argv[optind + 1], argv[optind]);
	q->run.kind = run_kind(argv[optind]);
	if (!q->run.kind)
		return CLI_USAGE;
	q->run.path = argv[optind + 1];
	for (opt = 0; opt < 128; opt++)
		if (special[opt] && !is_for(q->run.kind, opt))
			/* only warn: a script may pass the same options to every algorithm */
			fprintf(stderr, "gtu run: --%s does not apply to %s and is ignored\n",
				special[opt], q->run.kind->name);
	if (q->run.kind->takes & RUN_TAKES_TARGET && !q->target)
		return cli_usage("%s needs --target ID, the end of the path", q->run.kind->name);
	if (q->source_count > 1 && q->run.kind->takes & RUN_TAKES_SOURCE &&
	    !(q->run.kind->takes & RUN_TAKES_SOURCES))
		return cli_usage("%s starts at one source, and --source names %llu", q->run.kind->name,
				 (unsigned long long)q->source_count);
	if (q->run.kind->takes & RUN_TAKES_SOURCES && q->source && q->sources_given)
		return cli_usage("--source and --sources exclude each other");
	if (q->run.runs > 1 && q->run.opt.unit != GTU_WITH_NONE)
		return cli_usage("--runs is for --unit none: a unit's counters are those of one run");
	return derive_unit(&q->run) && check_direction(&q->run) && check_sums(&q->run) ? check_targets(&q->run) : CLI_USAGE;
}

/* ---- The run ----------------------------------------------------------------------------------------- */

static int read_counters(struct run *r, bool clear, struct gtu_error *err)
{
	unsigned i;
	int rc;

	r->units = 0;
	for (i = 0; i < GTU_UNIT_COUNT; i++) {
		if (!(gtu_get_info(r->dev)->units & gtu_unit_table[i].bit))
			continue;
		r->counters[r->units].unit = gtu_unit_table[i].bit;
		r->counters[r->units].name = gtu_unit_table[i].name;
		rc = gtu_counters(r->dev, gtu_unit_table[i].bit, clear, r->counters[r->units].value, err);
		/* counters of a device that users share need a privilege: leave them out */
		if (rc && rc != GTU_ERR_PERMISSION)
			return rc;
		r->units += !rc;
	}
	return 0;
}

/* Run r->runs times; iterations are recorded in the last run. */
static int compute_repeatedly(struct run *r, struct gtu_error *err)
{
	void (*const iteration)(void *user, const struct gtu_iteration *it) = r->opt.iteration;
	uint64_t i;
	int rc = 0;

	r->run_seconds = calloc(r->runs, sizeof(*r->run_seconds));
	if (!r->run_seconds)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for the times of %llu runs", (unsigned long long)r->runs);
	for (i = 0; i < r->runs && !rc; i++) {
		r->opt.iteration = i + 1 < r->runs ? NULL : iteration;
		rc = run_compute(r, err);
		r->run_seconds[i] = r->stats.seconds;
	}
	return rc;
}

static bool stdout_taken(const struct run *r)
{
	return cli_quiet() || (r->output && atomic_file_is_stdout(r->output)) ||
	       (r->json && atomic_file_is_stdout(r->json));
}

static int compute(struct request *q, struct gtu_error *err)
{
	struct run *r = &q->run;
	const uint64_t values = run_values(r);
	int rc = 0;

	if (values < (UINT64_MAX >> 4) / run_width(r))
		r->result = malloc((values + 1) * run_width(r) * 8);
	if (!r->result)
		return gtu_fail(err, GTU_ERR_NOMEM, "no memory for the values of %llu %s",
				(unsigned long long)values,
				r->kind->takes & RUN_TAKES_QUERIES ? "queries" : "vertices");
	if (r->json)
		rc = run_steps_begin(r, err);
	if (rc)
		return rc;
	if (r->opt.unit == GTU_WITH_NONE && (r->ranks || gtu_is_device_list(r->device))) {
		if (!r->ranks)
			rc = gtu_open(r->device, &r->dev, err);
		return rc ? rc : compute_repeatedly(r, err);
	}
	if (r->opt.unit == GTU_WITH_NONE) {
		r->device = "none";
		return compute_repeatedly(r, err);
	}
	if (!r->ranks)
		rc = gtu_open(r->device, &r->dev, err);
	if (!rc)
		gtu_set_timeout(r->dev, cli_timeout_ns(q->timeout));
	if (!rc && r->gpu.exchange)
		rc = gtu_ranks_set_exchange(r->dev, (enum gtu_ranks_exchange)r->gpu.exchange, err);
	if (!rc && r->monitor)
		rc = gtu_setting(r->dev, GTU_UNIT_ZCM, GTU_ZCM_S_ENABLE, 1, err);
	if (!rc)
		rc = read_counters(r, true, err);
	/* the paper's kernels read plain lists only: expand those of a compressed container */
	if (r->opt.kernel && !r->gpu.placement.compressed && !r->gpu.placement.edge_bytes &&
	    r->gpu.placement.edges != GTU_EDGES_REGISTERED)
		r->gpu.placement.edge_bytes = 4;
	if (!rc && r->gpu.placement.edges == GTU_EDGES_APERTURE)
		rc = gtu_open(r->gpu.board ? r->gpu.board : "/dev/gtu0", &r->gpu.placement.board, err);
	if (!stdout_taken(r)) {
		r->gpu.placement.planned = gpu_print_plan;
		r->gpu.placement.planned_user = stdout;
	}
	if (!rc && r->opt.unit == GTU_WITH_GPU)
		rc = gtu_placement_create(r->dev, &r->graph, &r->gpu.placement, err);
	if (!rc)
		rc = run_compute(r, err);
	if (!rc)
		rc = read_counters(r, false, err);
	/*
	 * the setting belongs to the device, which others may share: switch the monitor off again
	 */
	if (r->dev && r->monitor)
		gtu_setting(r->dev, GTU_UNIT_ZCM, GTU_ZCM_S_ENABLE, 0, NULL);
	return rc;
}

/* ---- Verification --------------------------------------------------------------------------------------- */

static int verify(struct request *q, struct gtu_error *err)
{
	double start = gtu_now_s();
	int rc = gtu_graph_check(q->graph, q->run.opt.progress, err);

	if (!rc)
		rc = run_verify(&q->run, err);
	q->run.verify_seconds = gtu_now_s() - start;
	return rc;
}

/* ---- Output and main function -------------------------------------------------------------------------- */

/* Write results even if they are wrong: they help to find the error. */
static int report(struct request *q, struct gtu_error *err)
{
	struct run *r = &q->run;
	int rc = 0;

	cli_clear_bar();
	if (r->parts)
		rc = run_ranks_write(r, err);
	if (rc || !run_is_first(r))
		return rc;
	if (!stdout_taken(r))
		run_print(r, stdout);
	if (r->output)
		rc = run_write_output(r, err);
	if (!rc && r->json)
		rc = run_write_json(r, err);
	return rc;
}

/*
 * Parse the command line; of several processes only the first one reports mistakes, which all have. Results
 * as of parse().
 */
static int parse_once(int argc, char **argv, struct request *q, bool *launched)
{
	uint64_t rank;
	int kept = -1, rc;

	*launched = run_has_launcher(&rank);
	if (*launched && rank) {
		fflush(stdout);
		if (!freopen("/dev/null", "w", stdout))
			return CLI_FAILED;
		kept = dup(STDERR_FILENO);
		if (kept < 0 || !freopen("/dev/null", "w", stderr))
			return CLI_FAILED;
	}
	rc = parse(argc, argv, q);
	if (!rc && q->run.parts && !*launched)
		rc = cli_usage("--output-parts is for several processes: start them by mpirun -n 4 gtu run ...");
	else if (!rc && q->run.parts && (q->run.output || q->verify))
		rc = cli_usage("--output-parts leaves the values in parts: %s needs all of them",
			       q->run.output ? "--output" : "--verify");
	else if (!rc && q->run.parts && q->run.kind->one)
		rc = cli_usage("--output-parts is for values of vertices: %s has one value", q->run.kind->name);
	if (kept >= 0) {
		fflush(stderr);
		dup2(kept, STDERR_FILENO);
		close(kept);
	}
	return rc;
}

/* Errors are shared by run_ranks_agree(), and rank 0 prints them. */
static int exit_code(const struct gtu_error *err, int rc, bool first)
{
	int code;

	if (first)
		return cli_exit(err, rc);
	fflush(stderr);
	if (!freopen("/dev/null", "w", stderr))
		return CLI_FAILED;
	code = cli_exit(err, rc);
	return code;
}

int cmd_run(int argc, char **argv)
{
	struct gtu_error err = { 0 }, verdict = { 0 };
	struct request q = { 0 };
	int rc, mistake, verify_rc = 0;
	bool launched, first = true;

	rc = parse_once(argc, argv, &q, &launched);
	if (rc < 0)
		return CLI_DONE;
	mistake = rc;
	if (mistake && !launched)
		return mistake;
	q.run.opt.progress = cli_progress();
	/* mpirun ends the others when one fails: none fails before all have started and rank 0 has said why */
	if (mistake)
		rc = gtu_fail(&err, GTU_ERR_USAGE, "its command line has a mistake");
	rc = launched ? run_ranks_begin(&q.run, rc, &err) : 0;
	first = run_is_first(&q.run);
	/* report an unwritable name before the work */
	if (!rc && first && q.run.output)
		rc = atomic_file_try(q.run.output, &err);
	if (!rc && first && q.run.json)
		rc = atomic_file_try(q.run.json, &err);
	rc = run_ranks_agree(&q.run, rc, &err);
	if (!rc)
		rc = run_open_graph(&q, &err);
	rc = run_ranks_agree(&q.run, rc, &err);
	if (!rc)
		rc = compute(&q, &err);
	rc = run_ranks_agree(&q.run, rc, &err);
	if (!rc)
		rc = run_ranks_gather(&q.run, &err);
	if (!rc && q.verify && first)
		verify_rc = verify(&q, &verdict);
	/* a result is not lost because memory is short for its verification */
	if (!rc && (!verify_rc || verify_rc == GTU_ERR_VERIFY || verify_rc == GTU_ERR_NOMEM))
		rc = report(&q, &err);
	if (!rc && verify_rc) {
		rc = verify_rc;
		err = verdict;
	}
	if (q.run.dev)
		gtu_close(q.run.dev);
	gtu_close(q.run.gpu.placement.board);
	gtu_graph_close(q.graph);
	free(q.run.result);
	free(q.run.step);
	free(q.run.run_seconds);
	free(q.run.query);
	gtu_hash_free(&q.run.table);
	free(q.random_weights);
	free(q.source_list);
	rc = mistake ? mistake : exit_code(&err, rc, first);
	run_ranks_end(&q.run, rc);
	return rc;
}
