/* SPDX-License-Identifier: MIT */
/*
 * One run over several devices or processes ("ranks"), each of which holds a part of the graph.
 *
 * In one process, gtu_open("model,model") or gtu_open("/dev/gtu0,/dev/gtu1") makes one device object
 * of several: the algorithms take the whole graph and return full results, as on one device. "none"
 * in such a list is the plain CPU, for GTU_WITH_NONE. "cuda:0,1", or "cuda:all" for all of this
 * computer, divides the graph among GPUs, for GTU_WITH_GPU; one GPU may be named several times, for tests.
 *
 * Over several processes, every process calls gtu_open_ranks() with functions that exchange data
 * between them, and then the same algorithms in the same order with the same options. libgtu links
 * no message-passing library: libgtu-mpi.so (gtu/mpi.h) has these functions over MPI.
 *
 * gtu_bfs(), gtu_sssp(), gtu_pagerank(), gtu_components(), gtu_betweenness(), gtu_cores(), gtu_label_propagation(),
 * gtu_coloring(), gtu_stcon() and gtu_gcn() run over ranks, with GPUs or without; the other algorithms return
 * GTU_ERR_UNSUPPORTED. All ranks get the distance of gtu_stcon(). Results are those of one device: equal where they are
 * integers or distances, within 1e-9 where sums of reals depend on their order.
 */
#ifndef GTU_RANKS_H
#define GTU_RANKS_H

#include "gtu/gtu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How all_reduce() combines the ranks' values: 8-byte unsigned integers or doubles. */
enum gtu_reduction { GTU_SUM_U64, GTU_MIN_U64, GTU_MAX_U64, GTU_SUM_F64, GTU_MAX_F64 };

#define GTU_RANKS_MAX 65536u

/*
 * The exchange between ranks. Every function is collective: all ranks call the same functions in the
 * same order. They return 0 or a negative gtu_status with a sentence that names the rank at fault;
 * after an error no function is called again except abort(). A call is made by one thread at a time.
 */
struct gtu_ranks {
	uint32_t bytes;			/* sizeof(struct gtu_ranks) */
	uint32_t rank, size;		/* this rank, below size; the number of ranks */
	uint32_t reserved;		/* zero */
	void *context;			/* passed to every function */
	/* Copy @bytes bytes at @data from rank @root to all. */
	int (*broadcast)(void *context, uint32_t root, void *data, uint64_t bytes, struct gtu_error *err);
	/* all[r] = @mine of rank r: size pieces of @bytes bytes. */
	int (*all_gather)(void *context, const void *mine, uint64_t bytes, void *all, struct gtu_error *err);
	/*
	 * Send send_bytes[r] bytes at send[r] to rank r, and receive receive_bytes[r] bytes from it at
	 * receive[r]. The lengths of sender and receiver agree. Both are 0 for this rank itself.
	 */
	int (*all_to_all_v)(void *context, const void *const *send, const uint64_t *send_bytes, void *const *receive,
			    const uint64_t *receive_bytes, struct gtu_error *err);
	/* Combine @count values of 8 bytes by @how; all ranks get the same result. */
	int (*all_reduce)(void *context, enum gtu_reduction how, void *values, uint64_t count, struct gtu_error *err);
	/* Return when all ranks have called it. */
	int (*barrier)(void *context, struct gtu_error *err);
	/*
	 * This rank cannot go on, because of @why: make the calls of the other ranks fail. May be NULL,
	 * if they fail when this process ends.
	 */
	void (*abort)(void *context, const char *why);
	const void *device_exchange;	/* NULL; for exchange between the memories of devices */
	/*
	 * During a run libgtu calls this with @working 1 at least every few milliseconds between two of
	 * the calls above; with 0 before something that may last and has a limit of its own (a device's
	 * job), and when the run ends. The caller's functions of gtu_algorithm_options run between these calls.
	 * The exchange can end ranks that stay silent. May be NULL. Called by the thread of the run.
	 */
	void (*beat)(void *context, int working);
	/*
	 * Both or neither: all_to_all_v() in two steps, between which this rank computes; only beat() and
	 * abort() are called meanwhile. start() takes the same arguments, which stay valid until the
	 * exchange is complete. finish() returns 1 if it is, 0 if it is not and @wait is 0, or a negative
	 * gtu_status; it is also where an exchange without a thread of its own makes progress.
	 */
	int (*start_all_to_all_v)(void *context, const void *const *send, const uint64_t *send_bytes, void *const *receive,
				  const uint64_t *receive_bytes, struct gtu_error *err);
	int (*finish_all_to_all_v)(void *context, int wait, struct gtu_error *err);
	uint64_t more[3];		/* zero */
};

/*
 * Open @spec, one device as for gtu_open() or "none", as this process's rank. "cuda:local" is the GPU of
 * the rank's place among the ranks of its host. Either all ranks have GPUs or none has. @ranks is
 * copied; what its context points to must stay valid until gtu_close(). Collective. GTU_ERR_USAGE:
 * invalid @ranks.
 *
 * An algorithm over this device takes the whole graph or the rank's part (gtu_graph_open_part()) and
 * writes the values of the rank's own vertices, first vertex first: gtu_ranks_range() says which.
 * Statistics are sums over the ranks; opt->iteration is called with the rank's own counts. If a rank
 * fails or its opt->progress cancels the run, all ranks return an error whose sentence names it.
 */
int gtu_open_ranks(const char *spec, const struct gtu_ranks *ranks, struct gtu_device **out, struct gtu_error *err);

/* This process's rank and the number of ranks: 0 and 1 for one device, 0 and its devices for a list. */
void gtu_ranks_of(const struct gtu_device *dev, uint32_t *rank, uint32_t *size);

/*
 * *first, *end: the vertices whose results this rank has. All of the graph's without gtu_open_ranks().
 */
int gtu_ranks_range(struct gtu_device *dev, const struct gtu_graph *g, uint64_t *first, uint64_t *end,
		    struct gtu_error *err);

/*
 * Collect @part, the results of this rank's vertices with @width bytes each, in @all of rank 0: n
 * values. @all is not used by other ranks. Collective.
 */
int gtu_ranks_gather(struct gtu_device *dev, const struct gtu_graph *g, const void *part, uint32_t width, void *all,
		     struct gtu_error *err);

/*
 * Open the part of this rank of the container at @path: n, m and the ids are the whole graph's; only
 * the edges of vertices in the rank's range are mapped, so row and col may be read for them alone.
 * Algorithms over @dev take it; other functions return GTU_ERR_UNSUPPORTED or GTU_ERR_USAGE.
 * GTU_ERR_UNSUPPORTED: not a container, or a compressed one: open it with gtu_graph_open().
 */
int gtu_graph_open_part(struct gtu_device *dev, const char *path, const struct gtu_progress *progress,
			struct gtu_graph **out, struct gtu_error *err);

/*
 * Make the part of this rank of a generated graph: no rank holds the whole. The part is that of
 * gtu_graph_generate()'s graph, byte for byte, and taken as that of gtu_graph_open_part(). Ranks draw a
 * share of the edges each, twice, and send them to the owners. Collective. GTU_ERR_UNSUPPORTED: only
 * KRONECKER, UNIFORM and POWERLAW draw edges that do not depend on each other, and not with `simplify`.
 */
int gtu_graph_generate_part(struct gtu_device *dev, const struct gtu_generate_options *opt,
			    const struct gtu_progress *progress, struct gtu_graph **out, struct gtu_error *err);

/*
 * How GPUs as ranks exchange data, a sentence: "loads from the other cards", "NCCL 2.28.9", or what is used instead and why. NULL: not a device of GPUs as
 * ranks, or one that has not run yet. Valid until the next run.
 */
const char *gtu_ranks_link(const struct gtu_device *dev);

/* How GPUs as ranks exchange data. */
enum gtu_ranks_exchange {
	GTU_EXCHANGE_AUTO,		/* loads, else NCCL, else copies, else host memory */
	GTU_EXCHANGE_NCCL,		/* if the program set $NCCL_NVLS_ENABLE, before it started threads: 0 is safe */
	GTU_EXCHANGE_COPIES,		/* between the cards of one process */
	GTU_EXCHANGE_LOADS,		/* kernels read the memory of other cards of the process */
	GTU_EXCHANGE_HOST		/* through host memory and the functions of struct gtu_ranks */
};
/*
 * Choose for the next runs, alike on all ranks; not during a run. A run returns GTU_ERR_UNSUPPORTED where the cards cannot
 * exchange data this way. GTU_ERR_UNSUPPORTED: @dev is not a device of GPUs as ranks. GTU_ERR_USAGE: there is no such way.
 */
int gtu_ranks_set_exchange(struct gtu_device *dev, enum gtu_ranks_exchange way, struct gtu_error *err);

/* Exchanged by this rank in runs since the device was opened; for a list of devices, by all devices together. */
struct gtu_ranks_traffic {
	uint64_t exchanges;		/* calls of all_to_all_v() with data */
	uint64_t bytes;			/* data sent to other ranks, without lengths and reductions */
	uint64_t vertex_bytes;		/* of these: vertices that a level reached */
	uint64_t value_bytes;		/* of these: values of vertices */
	uint64_t edge_bytes;		/* of these: edges that the partition moved */
	/*
	 * From the start of each of these exchanges to its end, and the part of it in which this rank did
	 * not compute. An end is noticed every few milliseconds. Not of GPUs.
	 */
	uint64_t exchange_ns, waited_ns;
};
void gtu_ranks_get_traffic(const struct gtu_device *dev, struct gtu_ranks_traffic *traffic);

#ifdef __cplusplus
}
#endif
#endif
