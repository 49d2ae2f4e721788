// SPDX-License-Identifier: MIT
/* gtu generate: generates random graphs of several kinds, determined by their options and seed. */
#include <stdlib.h>
#include <string.h>

#include "tools/experiments/end_weights.h"
#include "tools/support/graph_options.h"
#include "tools/support/atomic_file.h"

static const char help[] =
	"usage: gtu generate KIND --scale S | --vertices N [options] OUT.gtu\n\n"
	"Writes a random graph. The same options give the same bytes on every machine and with any number\n"
	"of threads.\n\n"
	"  kronecker   Graph500: 2^S vertices, few of which have most of the edges\n"
	"  uniform     N vertices, both ends of every edge drawn uniformly\n"
	"  powerlaw    N vertices whose degrees follow a power law\n"
	"  delaunay    the Delaunay triangulation of N random points: mean degree just below 6\n"
	"  planar      a connected planar mesh of mean degree 4.9, similar to census blocks\n"
	"  road        a connected grid of mean degree 2.6 with lengths as weights\n"
	"  fem3d       three-dimensional finite elements: 27-point neighbourhoods, 3 unknowns per node\n\n"
	"  --scale S             log2 of the number of vertices, for any kind\n"
	"  --vertices N          number of vertices (suffixes K, M, G); grids round it up\n"
	"  --degree D            kronecker, uniform: edges drawn per vertex (16); powerlaw (16), planar (2 to\n"
	"                        6), road (2 to 4), fem3d: mean degree\n"
	"  --exponent G          powerlaw: exponent of the degree distribution, above 2 (2.1)\n"
	"  --unknowns U          fem3d: vertices per node\n"
	"  --seed X              seed of the random numbers (0)\n"
	"  --weights MAX         weights 1 to MAX, drawn uniformly, the same in both directions\n"
	"  --weights LEAST:MAX   weights determined by the two ends of an edge, equal in every graph\n"
	"  --directed            kronecker, uniform, powerlaw: keep one direction of each edge\n"
	"  --simplify            drop the self loops and duplicate edges of kronecker, uniform and\n"
	"                        powerlaw\n"
	"  --edge-bytes 4|8      bytes per edge (default: 4 up to 2^32 vertices)\n"
	"  --threads T           number of threads (default: one per core)\n\n"
	"  gtu generate kronecker --scale 20 --degree 48 --simplify kron20.gtu\n"
	"  gtu generate delaunay --scale 19 delaunay19.gtu\n"
	"  gtu generate planar --vertices 710000 ca.gtu       similar to the census blocks of California\n"
	"  gtu generate fem3d --vertices 416K --degree 97 fem.gtu\n"
	"  gtu generate road --vertices 1M roads.gtu\n";

static const struct option options[] = {
	{ "scale", required_argument, NULL, 's' },
	{ "vertices", required_argument, NULL, 'n' },
	{ "degree", required_argument, NULL, 'd' },
	{ "exponent", required_argument, NULL, 'x' },
	{ "unknowns", required_argument, NULL, 'u' },
	{ "seed", required_argument, NULL, 'S' },
	{ "weights", required_argument, NULL, 'w' },
	{ "directed", no_argument, NULL, 'D' },
	{ "simplify", no_argument, NULL, 'i' },
	{ "edge-bytes", required_argument, NULL, 'e' },
	{ "threads", required_argument, NULL, 't' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static bool take_u32(const char *what, uint64_t min, uint64_t max, uint32_t *out)
{
	uint64_t value;

	if (!cli_u64(what, optarg, min, max, &value))
		return false;
	*out = (uint32_t)value;
	return true;
}

/*
 * Parse "8:72" into both bounds. A single number "72" sets the library's random weights; *most
 * stays 0.
 */
static bool take_weights(struct gtu_generate_options *o, uint32_t *min, uint32_t *max)
{
	char *colon = strchr(optarg, ':');
	uint64_t low, high;

	if (!colon)
		return take_u32("greatest weight", 1, UINT32_MAX, &o->random_weights);
	*colon = 0;
	if (!cli_u64("least weight", optarg, 0, UINT32_MAX - 1, &low) ||
	    !cli_u64("greatest weight", colon + 1, low ? low : 1, UINT32_MAX, &high))
		return false;
	*min = (uint32_t)low;
	*max = (uint32_t)high;
	return true;
}

static bool take_option(int c, struct gtu_generate_options *o, uint32_t *min, uint32_t *max)
{
	switch (c) {
	case 's': return take_u32("scale", 1, 40, &o->scale);
	case 'n': return cli_u64("number of vertices", optarg, 1, 1ull << 40, &o->n);
	case 'd': return cli_double("degree", optarg, 1e-6, 1e6, &o->degree);
	case 'x': return cli_double("exponent", optarg, 2, 10, &o->exponent);
	case 'u': return take_u32("unknowns", 1, 64, &o->unknowns);
	case 'S': return cli_u64("seed", optarg, 0, UINT64_MAX, &o->seed);
	case 'w': return take_weights(o, min, max);
	case 'e': return take_u32("edge bytes", 4, 8, &o->edge_bytes);
	case 't': return take_u32("number of threads", 1, 64, &o->threads);
	}
	return false;
}

static int find_kind(const char *word)
{
	const char *names[GTU_GENERATORS + 1] = { NULL };
	uint32_t i;

	for (i = 0; i < GTU_GENERATORS; i++)
		names[i] = gtu_generator_name(i);
	return cli_choice("kind", word, names);
}

static int write_graph(const struct gtu_generate_options *o, uint32_t min, uint32_t max, const char *out)
{
	struct gtu_error err = { 0 };
	uint32_t *weight = NULL;
	struct gtu_graph *g, it;
	char kind[64];
	int rc;

	/* report an unwritable name before the work */
	rc = atomic_file_try(out, &err);
	if (!rc)
		rc = gtu_graph_generate(o, cli_progress(), &g, &err);
	if (rc)
		return cli_exit(&err, rc);
	it = *g;
	if (max) {
		weight = end_weights(g, min, max);
		it.weight = weight;
		it.weight_type = GTU_WEIGHT_U32;
		if (!weight)
			rc = gtu_fail(&err, GTU_ERR_NOMEM, "no memory for the weights of %s", edges(g->m));
	}
	if (!rc)
		rc = gtu_graph_save(&it, out, cli_progress(), &err);
	if (!rc && !cli_quiet())
		printf("%s: %s; %s, %s (%s)\n", out, g->name, vertices(g->n), edges(g->m),
		       graph_kind(&it, kind));
	free(weight);
	gtu_graph_close(g);
	return cli_exit(&err, rc);
}

int cmd_generate(int argc, char **argv)
{
	struct gtu_generate_options o = { 0 };
	uint32_t min = 0, max = 0;
	const char *out;
	size_t length;
	int c, kind;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case 'h':
			fputs(help, stdout);
			return CLI_DONE;
		case 'D':
			o.directed = 1;
			break;
		case 'i':
			o.simplify = 1;
			break;
		case '?':
		case ':':
			return cli_option(argc, argv, c, options);
		default:
			if (!take_option(c, &o, &min, &max))
				return CLI_USAGE;
		}
	}
	if (argc - optind != 2)
		return cli_usage("takes KIND and OUT.gtu, but %d name%s given", argc - optind,
				 argc - optind == 1 ? " is" : "s are");
	kind = find_kind(argv[optind]);
	if (kind < 0)
		return CLI_USAGE;
	o.kind = (uint32_t)kind;
	out = argv[optind + 1];
	length = strlen(out);
	if (length < 5 || strcmp(out + length - 4, ".gtu"))
		return cli_usage("'%s' does not end in .gtu, the only output format", out);
	if (!o.scale == !o.n)
		return cli_usage("takes exactly one of --scale and --vertices");
	if (o.n && o.kind == GTU_GEN_KRONECKER) {
		if (o.n & (o.n - 1) || o.n < 2)
			return cli_usage("the number of vertices of kronecker must be a power of two, not %s: use --scale", grouped(o.n));
		o.scale = 63 - (uint32_t)__builtin_clzll(o.n);
	} else if (o.scale) {
		o.n = 1ull << o.scale;
	}
	return write_graph(&o, min, max, out);
}
