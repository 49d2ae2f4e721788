// SPDX-License-Identifier: MIT
/* gtu stat: prints sizes, degrees and components of a graph. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "libruntime/support/advice.h"
#include "tools/support/graph_options.h"
#include "tools/support/graph_order.h"
#include "tools/support/json.h"
#include "tools/report/report.h"
#include "tools/support/atomic_file.h"

#define BAR 40

static const char help[] =
	"usage: gtu stat GRAPH [--json FILE|-] [--plot FILE.svg|-] [--directed|--undirected] [--simplify]\n"
	"                [--memory SIZE]\n\n"
	"Prints the number of vertices and edges of a graph, their degrees with a histogram, self loops,\n"
	"duplicates and components, and the locality of the vertices' order. GRAPH is any file that\n"
	"'gtu convert' reads.\n\n"
	"  --json FILE           the same as JSON; - is standard output, and then nothing else is printed\n"
	"  --plot FILE.svg       a chart of the degrees: vertices for each degree, both axes logarithmic; - likewise\n"
	GRAPH_OPTIONS_HELP "\n"
	"  gtu stat wiki-Vote.txt.gz\n"
	"  gtu stat wiki-Vote.txt.gz --plot degrees.svg\n"
	"  gtu stat roads.gtu --json - | jq .mean_degree\n";

static void print_histogram(const struct gtu_graph_stat *s)
{
	uint64_t max = 0, low, high;
	int i, last = 0, length;
	char range[32];

	for (i = 0; i < 65; i++) {
		max = s->histogram[i] > max ? s->histogram[i] : max;
		last = s->histogram[i] ? i : last;
	}
	printf("\nout-degree            vertices\n");
	for (i = 0; i <= last; i++) {
		low = i ? 1ull << (i - 1) : 0;
		high = i < 64 ? (1ull << i) - 1 : UINT64_MAX;
		if (low == high || !i)
			snprintf(range, sizeof(range), "%" PRIu64, low);
		else
			snprintf(range, sizeof(range), "%" PRIu64 "-%" PRIu64, low, high < s->max_degree ? high :
											      s->max_degree);
		length = (int)((double)s->histogram[i] / (double)max * BAR + 0.5);
		printf("%14s %15s %5.1f%% %.*s\n", range, grouped(s->histogram[i]),
		       100.0 * (double)s->histogram[i] / (double)s->n, length ? length : s->histogram[i] != 0,
		       "########################################");
	}
}

static void print_stat(const char *path, const struct gtu_graph *g, const struct gtu_graph_stat *s,
		       const struct graph_order *order)
{
	char kind[64];
	size_t bytes;

	printf("%s: %s\n", cli_printable(path), graph_kind(g, kind));
	if (!strstr(path, g->name))
		printf("made from   %s\n", cli_printable(g->name));
	printf("vertices    %15s", grouped(s->n));
	if (s->n)
		printf("   %s %s to %s%s", gtu_graph_vertex_name(g, 0, &bytes) ? "names" : "ids", vertex_label(g, 0), vertex_label(g, s->n - 1),
		       g->ids ? ", with gaps" : "");
	printf("\nedges       %15s   %s; the input had %s\n", grouped(s->m),
	       g->flags & GTU_GRAPH_DIRECTED ? "directed" : "each edge in both directions",
	       counted(s->stored, "entry", "entries"));
	printf("self loops  %15s\nduplicates  %15s\n", grouped(s->self_loops), grouped(s->duplicates));
	printf("isolated    %15s\n", grouped(s->isolated));
	printf("components  %15s   weakly connected; the largest has %s (%.1f%%)\n",
	       grouped(s->components), vertices(s->largest_component),
	       s->n ? 100.0 * (double)s->largest_component / (double)s->n : 0.0);
	if (!s->n)
		return;
	printf("mean degree %15.2f   from %s to %s (vertex %s)\n", s->mean_degree,
	       grouped(s->min_degree), grouped(s->max_degree), vertex_label(g, s->max_vertex));
	if (s->m)
		printf("order       %15.4f   mean distance of an edge's ends, of all vertices; 32 edges touch %.2f lines\n",
		       order->distance, order->lines);
	print_histogram(s);
}

static int write_json(const char *path, const struct gtu_graph *g, const struct gtu_graph_stat *s,
		      const struct graph_order *order, struct gtu_error *err)
{
	static const char *const weights[] = { "none", "u32", "f32", "f64" };
	struct atomic_file w;
	struct json j;
	int i, last = 0, rc = atomic_file_open(&w, path, err);

	if (rc)
		return rc;
	for (i = 0; i < 65; i++)
		last = s->histogram[i] ? i : last;
	json_start(&j, w.file);
	json_begin_object(&j, NULL);
	json_string(&j, "graph", g->name);
	json_bool(&j, "directed", g->flags & GTU_GRAPH_DIRECTED);
	json_u64(&j, "vertices", s->n);
	json_u64(&j, "edges", s->m);
	json_u64(&j, "stored", s->stored);
	json_u64(&j, "edge_bytes", g->edge_bytes);
	json_string(&j, "weights", weights[g->weight_type & 3]);
	json_u64(&j, "self_loops", s->self_loops);
	json_u64(&j, "duplicates", s->duplicates);
	json_u64(&j, "isolated", s->isolated);
	json_u64(&j, "components", s->components);
	json_u64(&j, "largest_component", s->largest_component);
	json_u64(&j, "min_degree", s->min_degree);
	json_u64(&j, "max_degree", s->max_degree);
	if (s->n) {
		json_u64(&j, "max_degree_vertex", gtu_graph_id(g, s->max_vertex));
		json_u64(&j, "min_id", gtu_graph_id(g, 0));
		json_u64(&j, "max_id", gtu_graph_id(g, s->n - 1));
	}
	json_double(&j, "mean_degree", s->mean_degree);
	json_double(&j, "order_distance", order->distance);
	json_double(&j, "order_lines", order->lines);
	/* Element 0: degree 0; element k: degrees from 2^(k-1) to 2^k - 1. */
	json_begin_array(&j, "degree_histogram");
	for (i = 0; i <= last; i++)
		json_u64(&j, NULL, s->histogram[i]);
	json_end_array(&j);
	json_end_object(&j);
	json_finish(&j);
	return atomic_file_close(&w, rc, err);
}

/* ---- The drawing ----------------------------------------------------------------------------------- */

#define EXACT 32			/* each degree up to here has a point; above, a bin of degrees */
#define BINS 400			/* enough: 32 times 1.12^368 exceeds any degree */

/* Compute the bounds of the bins: bin i is [i] to [i + 1] - 1, and the last bin contains @max. */
static unsigned bins_of(uint64_t max, double low[BINS + 1])
{
	unsigned n = 0;
	double at = 1;

	for (; n < BINS && at <= (double)max; n++) {
		low[n] = at;
		at = n < EXACT ? at + 1 : ceil(at * 1.12);
	}
	low[n] = at;
	return n;
}

static int write_plot(const char *path, const struct gtu_graph *g, const struct gtu_graph_stat *s, struct gtu_error *err)
{
	double low[BINS + 1], vertices[BINS] = { 0 };
	struct report r = { 0 };
	struct atomic_file w;
	unsigned n = bins_of(s->max_degree, low), a, b, middle;
	uint64_t v, degree;
	int rc;

	for (v = 0; v < g->n; v++) {
		degree = g->row[v + 1] - g->row[v];
		for (a = 0, b = n; degree && b - a > 1;) {
			middle = (a + b) / 2;
			if ((double)degree < low[middle])
				b = middle;
			else
				a = middle;
		}
		if (degree && n)
			vertices[a]++;
		if (!(v & 0xfffff) && gtu_tick(cli_progress(), "drawing", v, g->n))
			return gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted");
	}
	/* end the last bin at the greatest degree, so that its point is not too far right */
	if (n)
		low[n] = fmin(low[n], (double)s->max_degree + 1);
	rc = atomic_file_open(&w, path, err);
	if (rc)
		return rc;
	r.to = w.file;
	report_chart_degrees(&r, g->name, low, vertices, n);
	return report_close(&r, &w, err);
}

int cmd_stat(int argc, char **argv)
{
	static const struct option options[] = {
		GRAPH_OPTIONS,
		{ "json", required_argument, NULL, 'j' },
		{ "plot", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct gtu_read_options read = { 0 };
	struct gtu_error err = { 0 };
	struct gtu_graph_stat stat;
	struct graph_order order;
	const char *json = NULL, *plot = NULL;
	struct gtu_graph *g;
	int c, rc;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (graph_option(c, &read))
			continue;
		switch (c) {
		case 'j':
			json = optarg;
			break;
		case 'p':
			plot = optarg;
			break;
		case GRAPH_OPTION_MEMORY:
			if (!graph_memory(optarg))
				return CLI_USAGE;
			break;
		case 'h':
			fputs(help, stdout);
			return CLI_DONE;
		default:
			return cli_option(argc, argv, c, options);
		}
	}
	if (argc - optind != 1)
		return cli_usage("takes one GRAPH, but %d names are given", argc - optind);
	if (json && graph_is_part(argv[optind], json))
		return cli_usage("--json %s is the graph itself, which would be lost", json);
	if (plot && graph_is_part(argv[optind], plot))
		return cli_usage("--plot %s is the graph itself, which would be lost", plot);
	if (atomic_file_same(json, plot))
		return cli_usage("--json and --plot cannot both go to %s", atomic_file_is_stdout(json) ? "standard output" : json);
	rc = json ? atomic_file_try(json, &err) : 0;
	if (!rc && plot)
		rc = atomic_file_try(plot, &err);
	if (rc)
		return cli_exit(&err, rc);
	rc = gtu_graph_open(argv[optind], &read, cli_progress(), &g, &err);
	if (rc)
		return cli_exit(&err, rc);
	rc = gtu_graph_measure(g, cli_progress(), &stat, &err);
	rc = rc ? rc : graph_order_measure(g, cli_progress(), &order, &err);
	if (!rc && json)
		rc = write_json(json, g, &stat, &order, &err);
	if (!rc && plot)
		rc = write_plot(plot, g, &stat, &err);
	if (!rc && (!json || !atomic_file_is_stdout(json)) && (!plot || !atomic_file_is_stdout(plot))) {
		cli_clear_bar();
		print_stat(argv[optind], g, &stat, &order);
		if (fflush(stdout))
			rc = gtu_advise_write("-", errno, &err);
	}
	gtu_graph_close(g);
	return cli_exit(&err, rc);
}
