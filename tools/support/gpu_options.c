// SPDX-License-Identifier: MIT
/* Parses the placement options of a GPU and prints the placement. */
#include <inttypes.h>
#include <string.h>

#include "gpu_options.h"
#include "graph_options.h"

const char *const gpu_exchange_ways[] = { "auto", "nccl", "copies", "loads", "host", NULL };

static bool choice(const char *what, const char *value, const char *(*name)(uint32_t), uint32_t *out)
{
	const char *names[16];
	uint32_t n;
	int i;

	for (n = 0; n < 15 && name(n); n++)
		names[n] = name(n);
	names[n] = NULL;
	i = cli_choice(what, value, names);
	if (i >= 0)
		*out = (uint32_t)i;
	return i >= 0;
}

static bool edge_bytes(const char *value, struct gtu_placement_options *out)
{
	static const char *const names[] = { "auto", "4", "8", "compressed", NULL };
	int i = cli_choice("--edge-bytes", value, names);

	out->edge_bytes = i == 1 || i == 2 ? (uint32_t)(4 * i) : 0;
	out->compressed = i == 3;
	return i >= 0;
}

int gpu_option(int returned, const char *value, struct gpu_request *rq)
{
	const char *name;
	bool good = true;

	switch (returned) {
	case GPU_OPTION_EDGES:
		name = "edges";
		good = choice("--edges", value, gtu_edges_name, &rq->placement.edges);
		break;
	case GPU_OPTION_EDGE_BYTES:
		name = "edge-bytes";
		good = edge_bytes(value, &rq->placement);
		break;
	case GPU_OPTION_KERNEL:
		name = "kernel";
		good = choice("--kernel", value, gtu_kernel_name, &rq->kernel);
		break;
	case GPU_OPTION_MEMORY:
		name = "gpu-memory";
		good = cli_u64("--gpu-memory", value, 0, UINT64_MAX - 1, &rq->placement.gpu_memory);
		if (good && !rq->placement.gpu_memory)
			rq->placement.gpu_memory = GTU_GPU_MEMORY_NONE;
		break;
	case GPU_OPTION_UNPACKED_WEIGHTS:
		name = "unpacked-weights";
		rq->placement.separate_weights = 1;
		break;
	case GPU_OPTION_BOARD:
		name = "board";
		rq->board = value;
		break;
	case GPU_OPTION_TRANSPOSE:
		name = "transpose";
		rq->placement.transpose = 1;
		break;
	case GPU_OPTION_EXCHANGE:
		name = "exchange";
		rq->exchange = cli_choice("--exchange", value, gpu_exchange_ways);
		good = rq->exchange >= 0;
		break;
	default:
		return 0;
	}
	if (!rq->given)
		rq->given = name;
	return good ? 1 : -1;
}

bool gpu_is_device(const char *device)
{
	return device && !strncmp(device, "cuda", 4);
}

void gpu_print_info(const struct gtu_gpu_info *i, FILE *to)
{
	fprintf(to, "gpu           %s, compute capability %u.%u, %u multiprocessors\n", i->name, i->compute_major,
		i->compute_minor, i->multiprocessors);
	fprintf(to, "memory        %s bytes, %s of them free; L2 %s bytes\n", grouped(i->memory_bytes),
		grouped(i->free_bytes), grouped(i->l2_bytes));
	fprintf(to, "driver        CUDA %u.%u; kernels built with CUDA %u\n", i->driver_major, i->driver_minor,
		i->kernels_major);
	fprintf(to, "edges         can be on the card, pinned%s%s%s\n", i->managed ? ", managed, uvm" : "",
		i->registered ? ", registered" : "",
		i->registered && !i->registered_readonly ? " (not read-only memory)" : "");
}

void gpu_json_info(struct json *j, const struct gtu_gpu_info *i)
{
	json_begin_object(j, "gpu");
	json_string(j, "name", i->name);
	json_u64(j, "compute_major", i->compute_major);
	json_u64(j, "compute_minor", i->compute_minor);
	json_u64(j, "multiprocessors", i->multiprocessors);
	json_u64(j, "driver_major", i->driver_major);
	json_u64(j, "driver_minor", i->driver_minor);
	json_u64(j, "kernels_major", i->kernels_major);
	json_u64(j, "memory_bytes", i->memory_bytes);
	json_u64(j, "free_bytes", i->free_bytes);
	json_u64(j, "l2_bytes", i->l2_bytes);
	json_bool(j, "managed", i->managed);
	json_bool(j, "registered", i->registered);
	json_bool(j, "registered_readonly", i->registered_readonly);
	json_end_object(j);
}

void gpu_print_placement(const struct gtu_placement *p, FILE *to)
{
	char width[32];

	snprintf(width, sizeof(width), p->edge_bytes ? "%u bytes each" : "compressed", p->edge_bytes);
	fprintf(to, "edges     %s, %s%s: %s; %s bytes of edges and weights, up to %s bytes of edges cached on the card; placed in %.3f s\n",
		gtu_edges_name(p->edges), width, p->packed ? " with the weight" : "", p->why,
		grouped(p->list_bytes), grouped(p->cache_bytes), p->seconds);
	if (p->transposed_bytes)
		fprintf(to, "          transposed lists: %s, %s bytes\n", gtu_edges_name(p->transposed_edges),
			grouped(p->transposed_bytes));
	if (*p->given_up)
		fprintf(to, "          given up for lack of memory: %s\n", p->given_up);
}

void gpu_print_plan(void *to, const struct gtu_placement *p)
{
	const uint64_t list = p->edges == GTU_EDGES_DEVICE ? p->list_bytes : 0;

	fprintf(to, "memory    %s of %s free bytes of the card: rows %s, edges %s, cached edges up to %s, a run up to %s, reserved %s",
		grouped(p->vertex_bytes + list + p->cache_bytes + p->run_bytes + p->reserved_bytes), grouped(p->free_bytes),
		grouped(p->vertex_bytes), grouped(list), grouped(p->cache_bytes), grouped(p->run_bytes),
		grouped(p->reserved_bytes));
	fprintf(to, "; %s bytes of edges in host memory\n", grouped(p->list_bytes - list));
	fflush(to);
}

void gpu_json_placement(struct json *j, const struct gtu_placement *p)
{
	json_begin_object(j, "placement");
	json_string(j, "edges", gtu_edges_name(p->edges));
	json_string(j, "why", p->why);
	json_u64(j, "edge_bytes", p->edge_bytes);
	json_bool(j, "compressed", !p->edge_bytes);
	json_u64(j, "weight_bytes", p->weight_bytes);
	json_bool(j, "packed", p->packed);
	json_u64(j, "list_bytes", p->list_bytes);
	json_u64(j, "cache_bytes", p->cache_bytes);
	json_u64(j, "vertex_bytes", p->vertex_bytes);
	json_u64(j, "run_bytes", p->run_bytes);
	json_u64(j, "reserved_bytes", p->reserved_bytes);
	json_u64(j, "free_bytes", p->free_bytes);
	json_u64(j, "transposed_bytes", p->transposed_bytes);
	if (p->transposed_bytes)
		json_string(j, "transposed_edges", gtu_edges_name(p->transposed_edges));
	json_string(j, "given_up", p->given_up);
	json_double(j, "managed_gbps", p->managed_gbps);
	json_double(j, "pinned_gbps", p->pinned_gbps);
	json_double(j, "seconds", p->seconds);
	json_end_object(j);
}
