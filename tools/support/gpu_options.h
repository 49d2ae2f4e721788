/* SPDX-License-Identifier: MIT */
/* The options that say where a GPU finds its edges, the same for every verb that runs on one, and what came of it. */
#ifndef GTU_TOOLS_GPU_OPTIONS_H
#define GTU_TOOLS_GPU_OPTIONS_H

#include "cli.h"
#include "gtu/gpu.h"
#include "json.h"

enum {
	GPU_OPTION_EDGES = 0x2000,
	GPU_OPTION_EDGE_BYTES,
	GPU_OPTION_KERNEL,
	GPU_OPTION_MEMORY,
	GPU_OPTION_PLAIN_WEIGHTS,
};

/* For a verb's table of long options. */
#define GPU_OPTIONS                                                                                \
	{ "edges", required_argument, NULL, GPU_OPTION_EDGES },                                    \
	{ "edge-bytes", required_argument, NULL, GPU_OPTION_EDGE_BYTES },                          \
	{ "kernel", required_argument, NULL, GPU_OPTION_KERNEL },                                  \
	{ "gpu-memory", required_argument, NULL, GPU_OPTION_MEMORY },                              \
	{ "plain-weights", no_argument, NULL, GPU_OPTION_PLAIN_WEIGHTS }

#define GPU_OPTIONS_HELP                                                                           \
	"On a GPU (cuda:0):\n"                                                                     \
	"  --edges E      auto (on the card if they fit, else where a probe reads faster), managed,\n" \
	"                 pinned, registered (where they are), device (on the card), uvm\n"          \
	"  --edge-bytes N  4, 8, compressed (decoded by the kernels), or auto: 4, and compressed\n"  \
	"                 where the graph's container is\n"                                         \
	"  --kernel K     auto, or the paper's: naive, merged, aligned\n"                           \
	"  --gpu-memory B  of the card's memory for edges (64M, 2G); without it all with auto and\n" \
	"                 device, else none\n"                                                       \
	"  --plain-weights  weights stay beside the edge list, as in the paper\n"

struct gpu_request {
	struct gtu_place_options place;
	uint32_t kernel;
	const char *given;		/* the first of these options that was, without "--"; NULL: none */
};

/*
 * Take what getopt_long() returned if it is one of these. 1: taken; 0: it is none of them; -1: it is, and its value
 * is wrong, of which a complaint was made.
 */
int gpu_option(int returned, const char *value, struct gpu_request *request);

/* Whether this is the name of a GPU. */
bool gpu_is_device(const char *device);

/* What the GPU is, and what was placed on it: for a person, and as members of the open object. */
void gpu_print_info(const struct gtu_gpu_info *info, FILE *to);
void gpu_json_info(struct json *j, const struct gtu_gpu_info *info);
void gpu_print_placement(const struct gtu_placement *p, FILE *to);
void gpu_json_placement(struct json *j, const struct gtu_placement *p);

#endif
