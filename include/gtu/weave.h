/* SPDX-License-Identifier: MIT */
/*
 * Graph algorithms as user functions over a graph storage, independent of the unit that streams the
 * edges (SparseWeaver, section IV). init, gather, apply and filters are the algorithm; getNeighbor
 * and getEdge are the storage; the kernel of figure 9 connects them. The interface was designed for
 * Weaver; every other unit supports it, too.
 */
#ifndef GTU_WEAVE_H
#define GTU_WEAVE_H

/* NVRTC compiles functions of the GPU alone: see gtu_weave_compile() */
#ifndef __CUDACC_RTC__
#include "gtu/gtu.h"
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Storage ------------------------------------------------------------------------------------- */

/*
 * Access to the edges. An entry is the unit of registration: a vertex, or a part of one, with a
 * range of edge indices. Its base vertex is the vertex that owns those edges: the source if the
 * storage pushes, else the target. gtu_weave_csr() and gtu_weave_csc() make a storage from a graph.
 *
 * A custom storage (zeroed, then filled in; `parts` NULL) supplies both functions itself, in any
 * format. GTU_WITH_NONE and GTU_WITH_WEAVER call them for each edge; for the other units, which read
 * rows in memory, gtu_weave() first copies the storage: 16 bytes for an entry and 24 for an edge. The
 * functions return 0, or a negative enum gtu_status with a sentence, which ends the run.
 */
struct gtu_weave_storage {
	uint64_t vertices, edges, entries; /* upper bounds of the respective indices */
	bool pull;
	/* getNeighbor: the base vertex of @entry, its first edge, and its number of edges */
	int (*get_neighbor)(const struct gtu_weave_storage *s, uint64_t entry, uint64_t *base,
			    uint64_t *first, uint64_t *degree, struct gtu_error *err);
	/* getEdge: the vertex at the other end of @edge, and its weight (1 without weights) */
	int (*get_edge)(const struct gtu_weave_storage *s, uint64_t edge, uint64_t *other,
			double *weight, struct gtu_error *err);
	void *context;			/* for the caller */
	struct gtu_weave_parts *parts;	/* private to the library */
};

#ifndef __CUDACC_RTC__
/*
 * The edges that leave a vertex (CSR: push) or enter it (CSC: pull). Vertices of more than @part
 * edges are split into entries of at most @part edges; 0: no vertex is split. @g must not change
 * until gtu_weave_close(). A CSC is a second edge list in memory, unless edges are stored in both
 * directions and have no weights. GTU_ERR_INPUT: damaged rows.
 */
int gtu_weave_csr(const struct gtu_graph *g, uint64_t part, struct gtu_weave_storage *out,
		  struct gtu_error *err);
int gtu_weave_csc(const struct gtu_graph *g, uint64_t part, struct gtu_weave_storage *out,
		  struct gtu_error *err);
void gtu_weave_close(struct gtu_weave_storage *s);
#endif

/* ---- User functions -------------------------------------------------------------------------------- */

enum gtu_weave_kind { GTU_WEAVE_READ, GTU_WEAVE_WRITE, GTU_WEAVE_ATOMIC };

/* Arguments common to all functions: the caller's data, and the iteration, from 0. */
struct gtu_weave_iteration {
	void *context;
	uint64_t iteration;
	uint64_t edge;			/* in gather: the edge's index in the storage (loc in figure 9) */
	/* NULL, or called before each access of gtu_weave_access(): the laboratory's */
	void (*access)(void *observer, const void *at, uint32_t bytes, enum gtu_weave_kind kind);
	void *observer;
};

/*
 * Functions that are also to run in the laboratory or on a GPU (gtu/weave.cuh) are declared by
 * GTU_WEAVE_FUNCTION, and access the program's arrays by the macros below: then the access is
 * simulated, or atomic among threads. In process they only access memory. They must be C and C++.
 */
#ifndef GTU_WEAVE_FUNCTION
#define GTU_WEAVE_FUNCTION static

static inline void gtu_weave_access(const struct gtu_weave_iteration *t, const void *at, uint32_t bytes,
				    enum gtu_weave_kind kind)
{
	if (t->access)
		t->access(t->observer, at, bytes, kind);
}
#define GTU_WEAVE_AT(t, pointer, kind) \
	(*(gtu_weave_access(t, pointer, (uint32_t)sizeof(*(pointer)), kind), (pointer)))
#define GTU_WEAVE_LOAD(t, pointer) GTU_WEAVE_AT(t, pointer, GTU_WEAVE_READ)
#define GTU_WEAVE_STORE(t, pointer, value) ((void)(GTU_WEAVE_AT(t, pointer, GTU_WEAVE_WRITE) = (value)))
/* *pointer += x */
#define GTU_WEAVE_ADD(t, pointer, x) ((void)(GTU_WEAVE_AT(t, pointer, GTU_WEAVE_ATOMIC) += (x)))
/* *pointer = x if that is less; true if it was. @x is evaluated twice. */
#define GTU_WEAVE_LOWER(t, pointer, x) \
	((x) < GTU_WEAVE_AT(t, pointer, GTU_WEAVE_ATOMIC) ? (*(pointer) = (x), true) : false)
#endif

/*
 * All run sequentially on the caller's thread: a gather that adds needs no atomics. Any except
 * gather may be NULL.
 */
struct gtu_weave_functions {
	/* every vertex, before the first iteration */
	void (*init)(const struct gtu_weave_iteration *t, uint64_t v);
	/*
	 * True excludes v's edges, as a source or as a target. The filter of the base vertex runs
	 * at registration; the other one runs for each edge. When pulling, filter_target also runs
	 * for each edge and skips the rest of the vertex: it may become true during the iteration
	 * (section IV-B). When pushing, filter_source must not depend on what gather writes.
	 */
	bool (*filter_source)(const struct gtu_weave_iteration *t, uint64_t v);
	bool (*filter_target)(const struct gtu_weave_iteration *t, uint64_t v);
	/* every edge that passes the filters, in unspecified order */
	void (*gather)(const struct gtu_weave_iteration *t, uint64_t source, uint64_t target, double weight);
	/*
	 * every vertex, ascending, after the iteration's edges; true requests another iteration.
	 * NULL: never
	 */
	bool (*apply)(const struct gtu_weave_iteration *t, uint64_t v);
	/*
	 * The entries to register in this iteration (getFrontier in figure 9): their number, at most
	 * the storage's entries, and the i-th entry. Both or neither; NULL: all entries, in order.
	 */
	uint64_t (*frontier)(const struct gtu_weave_iteration *t);
	uint64_t (*get_frontier)(const struct gtu_weave_iteration *t, uint64_t i);
};

#ifndef __CUDACC_RTC__
/*
 * Run until apply returns true for no vertex, or for opt->iterations iterations (0: no limit). The
 * options `unit`, `chunk_log2`, `iterations` and `progress` apply. stats->vertices: entries
 * registered in all iterations; stats->edges: edges streamed by the unit; stats->pull_end: the
 * number of iterations if the storage pulls. Errors are those of the algorithms in gtu.h, and
 * GTU_ERR_INPUT if a storage returns values out of its bounds.
 */
int gtu_weave(struct gtu_device *dev, const struct gtu_weave_storage *s,
	      const struct gtu_weave_functions *functions, void *context,
	      const struct gtu_algorithm_options *opt, struct gtu_algorithm_stats *stats,
	      struct gtu_error *err);

/* ---- Compilation for a GPU at run time ----------------------------------------------------------- */

/* A program whose text is compiled at run time, as gtu/weave.cuh has it. */
struct gtu_weave_program {
	const char *name;		/* of the program: its kernels are NAME_run_init, _gather, _apply */
	/* C++ text of the functions; gtu/weave.cuh precedes it. It may include gtu/weave.h, stdint.h, stdbool.h, stddef.h */
	const char *source;
	const char *init, *filter_source, *filter_target, *gather, *apply; /* names of functions; NULL: no filter */
	const char *const *options;	/* of NVRTC, NULL at the end, for example "--include-path=DIR"; or NULL */
};

/*
 * Compile a program by NVRTC for GPUs of a compute capability: 90 for 9.0. *image receives *bytes bytes for
 * cuModuleLoadData(); the caller frees it by free(). GTU_ERR_UNSUPPORTED: NVRTC is not on this
 * computer (GTU_NVRTC_LIBRARY names another file than libnvrtc.so). GTU_ERR_INPUT: the text does not
 * compile; the sentence has the first error.
 */
int gtu_weave_compile(const struct gtu_weave_program *p, unsigned capability, void **image, size_t *bytes,
		      struct gtu_error *err);
#endif

#ifdef __cplusplus
}
#endif
#endif
