/* SPDX-License-Identifier: MIT */
/*
 * The options that choose where a GPU finds its edges, and the output of the resulting placement.
 */
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
	GPU_OPTION_UNPACKED_WEIGHTS,
	GPU_OPTION_BOARD,
	GPU_OPTION_TRANSPOSE,
	GPU_OPTION_EXCHANGE,
};

/* For a verb's table of long options. */
#define GPU_OPTIONS                                                                                \
	{ "edges", required_argument, NULL, GPU_OPTION_EDGES },                                    \
	{ "edge-bytes", required_argument, NULL, GPU_OPTION_EDGE_BYTES },                          \
	{ "kernel", required_argument, NULL, GPU_OPTION_KERNEL },                                  \
	{ "gpu-memory", required_argument, NULL, GPU_OPTION_MEMORY },                              \
	{ "unpacked-weights", no_argument, NULL, GPU_OPTION_UNPACKED_WEIGHTS },                    \
	{ "board", required_argument, NULL, GPU_OPTION_BOARD },                                    \
	{ "transpose", no_argument, NULL, GPU_OPTION_TRANSPOSE },                                  \
	{ "exchange", required_argument, NULL, GPU_OPTION_EXCHANGE }

#define GPU_OPTIONS_HELP                                                                           \
	"On a GPU (cuda:0):\n"                                                                     \
	"  --edges E      auto (on the card if they fit, else where a probe reads faster), managed,\n" \
	"                 pinned, registered (in place), device (on the card), uvm, aperture (in a\n" \
	"                 board's memory, which the GPU reads over the bus)\n"                       \
	"  --board D      with --edges aperture: the board [/dev/gtu0]; model:aperture_bytes=N is host\n" \
	"                 memory in its place\n"                                                     \
	"  --edge-bytes N  4, 8, compressed (the kernels decode), or auto: 4, or compressed if\n"    \
	"                 the graph's container is compressed\n"                                     \
	"  --kernel K     auto, or one of the paper's: naive, merged, aligned\n"                     \
	"  --gpu-memory B  limit of the card's memory for edges (64M, 2G; 0: none); default: all of it\n" \
	"                 with --edges auto and device, else none\n"                                 \
	"  --unpacked-weights  keep weights beside the edge list, as in the paper\n"                 \
	"  --transpose    also place a directed graph's transposed lists, if there is memory for them,\n" \
	"                 so that bfs and pr can pull\n"                                             \
	"  --exchange WAY  over several cards: auto (NCCL, else copies, else host memory), nccl,\n" \
	"                 copies (between the cards of one process), loads (kernels read other cards'\n" \
	"                 memory), host (through host memory)\n"

/* The ways of --exchange: the names of enum gtu_ranks_exchange. */
extern const char *const gpu_exchange_ways[];

struct gpu_request {
	struct gtu_placement_options placement;
	uint32_t kernel;
	const char *board;		/* of --edges aperture, or NULL */
	int exchange;			/* enum gtu_ranks_exchange */
	const char *given;		/* the first of these options that was given, without "--" */
};

/*
 * Process what getopt_long() returned. Returns 1 if it is one of these options, 0 if it is not, and
 * -1 after a message if its value is wrong.
 */
int gpu_option(int returned, const char *value, struct gpu_request *request);

/* Whether @device names a GPU. */
bool gpu_is_device(const char *device);

/*
 * Describe the GPU, and the placement of a graph on it: as text, and as members of the open object.
 */
void gpu_print_info(const struct gtu_gpu_info *info, FILE *to);
void gpu_json_info(struct json *j, const struct gtu_gpu_info *info);
void gpu_print_placement(const struct gtu_placement *p, FILE *to);
/* The memory that a placement needs, by part, and the free memory; for gtu_placement_options.planned. @to: a FILE. */
void gpu_print_plan(void *to, const struct gtu_placement *p);
void gpu_json_placement(struct json *j, const struct gtu_placement *p);

#endif
