// SPDX-License-Identifier: MIT
/*
 * gtu convert: converts graph files to the native container, which is mapped in place, and to other
 * formats.
 */
#include <string.h>
#include <sys/stat.h>

#include "libruntime/graph/graph_container.h"
#include "libruntime/support/clock.h"
#include "tools/support/graph_options.h"
#include "tools/support/atomic_file.h"
#include "tools/support/host.h"

static const char help[] =
	"usage: gtu convert IN OUT [options]\n\n"
	"Reads a graph file and writes it in the format that OUT's name ends in: as a container .gtu, which\n"
	"every verb opens at once whatever its size (its edge list is mapped, not read), or for other\n"
	"programs. The ids of IN are kept.\n\n"
	"IN, recognized by content and name, plain or .gz, .xz, .zst:\n"
	"  edge lists (SNAP, .el, .wel, .csv, ...), Matrix Market .mtx, DIMACS .gr, METIS .graph,\n"
	"  LDBC .e (its .v and .properties beside it), EMOGI .bel, GAP .sg and .wsg, BVGraph .graph\n"
	"  with .properties, GraphML, graph-tool .gt, .cedge, 'V E' with coordinates, and .gtu itself\n\n"
	"OUT: .gtu; Matrix Market .mtx, SNAP edge list .txt, DIMACS .gr, METIS .graph, LDBC .e (with .v and\n"
	"  .properties), EMOGI .bel (.bel.col, .bel.dst, .bel.val), GAP .sg and .wsg\n\n"
	GRAPH_OPTIONS_HELP
	"  --adapt               write what OUT's format cannot hold in the way that the refusal names:\n"
	"                        renumber vertices, leave out weights or vertices without edges,\n"
	"                        give weights of 1, write an edge as two\n"
	"  --edge-bytes 4|8      bytes per edge in OUT (default: 4 up to 2^32 vertices)\n"
	"  --compress            compress edge lists by coding differences: a smaller file, decoded whenever it\n"
	"                        is opened; the kernels of a GPU read it without decoding it first\n"
	"  --weights COLUMN|none  which column after the two ids is the weight, from 1; none drops\n"
	"                        them (default: as the format declares; in edge lists the third column\n"
	"                        if it is a number)\n\n"
	"A file that cannot be read is refused with its name, the line or byte, and the reason\n"
	"(exit code 3); so is a graph that OUT's format cannot hold (exit code 1). OUT appears only when\n"
	"it is complete; Ctrl-C leaves no file.\n\n"
	"  gtu convert soc-LiveJournal1.txt.gz lj.gtu\n"
	"  gtu convert roads.gr.xz roads.gtu --undirected --simplify\n"
	"  gtu convert trips.csv trips.gtu --weights 3\n"
	"  gtu convert graphs/datagen.e datagen.gtu\n"
	"  gtu convert datagen.gtu datagen.mtx --adapt\n";

static bool weights_option(const char *text, int32_t *column)
{
	uint64_t n;

	if (!strcmp(text, "none")) {
		*column = -1;
		return true;
	}
	if (!cli_u64("weight column", text, 1, 1000, &n))
		return false;
	*column = (int32_t)n;
	return true;
}

static bool ends_in(const char *path, const char *end)
{
	size_t n = strlen(path), k = strlen(end);

	return n > k && !strcmp(path + n - k, end);
}

/* Report an output that cannot be written before reading the graph. */
static int try_output(const char *out, struct gtu_error *err)
{
	char first[4096];
	struct stat st;

	snprintf(first, sizeof(first), "%s%s", out, ends_in(out, ".bel") ? ".col" : "");
	if (!stat(first, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return gtu_fail(err, GTU_ERR_USAGE, "%s is not a regular file, which a graph needs; name another file", first);
	return atomic_file_try(first, err);
}

/* Bits per edge in the edge section of the container @path with @m edges; 0 if its header cannot be read. */
static double bits_per_edge(const char *path, uint64_t m)
{
	struct gtu_container_header h = { .version = 0 };
	FILE *f = fopen(path, "rb");

	if (!f)
		return 0;
	if (fread(&h, sizeof(h), 1, f) != 1)
		h.section[GTU_SECTION_COL].bytes = 0;
	fclose(f);
	return 8.0 * (double)h.section[GTU_SECTION_COL].bytes / (double)m;
}

static void print_summary(const struct gtu_graph *g, const char *out, bool compress, double seconds)
{
	struct stat st;
	char kind[64];
	double plain = 8.0 * (double)(g->n + 1) + (g->ids ? 8.0 * (double)g->n : 0) +
		       (double)g->m * (g->edge_bytes + (double)gtu_weight_bytes(g->weight_type));

	if (cli_quiet())
		return;
	printf("%s: %s, %s from %s (%s)\n", out, vertices(g->n), edges(g->m),
	       counted(g->stored, "entry", "entries"), graph_kind(g, kind));
	if (ends_in(out, ".bel"))
		printf("%s.col, %s.dst%s in %.1f s; 'gtu stat %s' describes the graph\n", out, out,
		       g->weight_type ? " and .val" : "", seconds, out);
	else if (!stat(out, &st))
		printf("%s bytes in %.1f s; 'gtu stat %s' describes the graph\n", grouped((uint64_t)st.st_size),
		       seconds, out);
	if (compress && g->m)
		printf("compressed to %.3f of the plain size; %.1f bits an edge\n", (double)st.st_size / plain,
		       bits_per_edge(out, g->m));
}

int cmd_convert(int argc, char **argv)
{
	static const struct option options[] = {
		GRAPH_OPTIONS,
		{ "edge-bytes", required_argument, NULL, 'e' },
		{ "weights", required_argument, NULL, 'w' },
		{ "compress", no_argument, NULL, 'c' },
		{ "adapt", no_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct gtu_read_options read = { 0 };
	struct gtu_error err = { 0 };
	struct gtu_graph *g;
	const char *in, *out;
	double start = gtu_now_s();
	char changed[GTU_ERROR_TEXT] = "";
	bool compress = false;
	uint32_t flags = 0;
	uint64_t bytes;
	int c, rc;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (graph_option(c, &read))
			continue;
		switch (c) {
		case 'e':
			if (!cli_u64("edge bytes", optarg, 4, 8, &bytes))
				return CLI_USAGE;
			if (bytes != 4 && bytes != 8)
				return cli_usage("an edge takes 4 or 8 bytes, not %s", optarg);
			read.edge_bytes = (uint32_t)bytes;
			break;
		case 'w':
			if (!weights_option(optarg, &read.weight_column))
				return CLI_USAGE;
			break;
		case 'c':
			compress = true;
			break;
		case 'a':
			flags |= GTU_WRITE_ADAPT;
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
	if (argc - optind != 2)
		return cli_usage("takes IN and OUT, but %s given", counted((uint64_t)(argc - optind), "name", "names"));
	in = argv[optind];
	out = argv[optind + 1];
	if (!gtu_graph_can_write(out))
		return cli_usage("'%s' does not end in a format that can be written: .gtu, .mtx, .txt, .gr, .graph, .e, .bel, .sg, .wsg", out);
	if (compress && !ends_in(out, ".gtu"))
		return cli_usage("--compress is for a container, OUT.gtu, not for %s", out);
	rc = try_output(out, &err);
	if (!rc)
		rc = graph_check_column(in, read.weight_column, &err);
	if (!rc)
		rc = gtu_graph_open(in, &read, cli_progress(), &g, &err);
	if (rc)
		return cli_exit(&err, rc);
	rc = compress ? gtu_graph_save_compressed(g, out, cli_progress(), &err) :
			gtu_graph_write(g, out, flags, changed, cli_progress(), &err);
	if (!rc && *changed)	/* report changes even with --quiet */
		fprintf(stderr, "gtu convert: adapted: %s\n", changed);
	if (!rc)
		print_summary(g, out, compress, gtu_now_s() - start);
	gtu_graph_close(g);
	return cli_exit(&err, rc);
}
