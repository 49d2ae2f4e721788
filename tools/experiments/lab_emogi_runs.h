/* SPDX-License-Identifier: MIT */
/* EMOGI's simulations: planned first, run in parallel, then turned into figures. */
#ifndef GTU_LAB_EMOGI_RUNS_H
#define GTU_LAB_EMOGI_RUNS_H

#include "firmware-model/lab/kernels/emogi.h"
#include "firmware-model/lab/kernels/subway.h"
#include "lab_run.h"

#define EMOGI_SOURCES_MAX 64u		/* as in the paper */
#define EMOGI_ITERATIONS 3u		/* of PageRank: every iteration reads the same */

/* Edges are read over the link by one of three kernels, or by "merged" from unified memory. */
enum emogi_access { ACCESS_NAIVE, ACCESS_MERGED, ACCESS_ALIGNED, ACCESS_UVM, ACCESSES };
enum emogi_width { WIDTH_4, WIDTH_8, WIDTHS };
/* The machine: as given, with PCIe 4.0, and with 20 or 50 us per batch of page faults. */
enum emogi_setup { SETUP_PCIE3, SETUP_PCIE4, SETUP_FAULT20, SETUP_FAULT50, SETUPS };

#define EMOGI_SUBWAYS	3u		/* Subway has BFS, SSSP and components */
#define EMOGI_WARPS	5u		/* strided copies with this many warps an SM: */
extern const uint32_t emogi_warps[EMOGI_WARPS];

/* A graph in both edge widths, with weights, sources, and reference results. */
struct emogi_subject {
	struct gtu_graph wide[WIDTHS];
	uint32_t *weight, *narrow_col;	/* its own arrays; NULL: the graph's */
	uint64_t *wide_col;
	uint32_t source[EMOGI_SOURCES_MAX];
	/* device memory in bytes: for unified memory, of the V100 and of table 3's Titan Xp; for Subway's small CSR */
	uint64_t memory, halo_memory, subway_memory;
	uint64_t *whole[LAB_EMOGI_ALGORITHMS][EMOGI_SOURCES_MAX]; /* reference results */
	uint64_t traversed[EMOGI_SOURCES_MAX]; /* edges of the vertices that BFS reaches */
	bool wanted[LAB_EMOGI_ALGORITHMS][ACCESSES][WIDTHS][SETUPS];
	struct lab_emogi_counts counts[LAB_EMOGI_ALGORITHMS][ACCESSES][WIDTHS][SETUPS][EMOGI_SOURCES_MAX];
	struct lab_emogi_counts halo[EMOGI_SOURCES_MAX]; /* BFS, unified memory, reordered graph */
	struct lab_subway_counts subway[EMOGI_SUBWAYS][EMOGI_SOURCES_MAX]; /* by algorithm */
};

struct emogi {
	struct lab_run *r;
	struct lab_machine m[SETUPS];
	struct emogi_subject s[LAB_RUN_GRAPHS];
	uint32_t sources, cpu_gbs;	/* sources a graph; GB/s at which a CPU makes Subway's CSR */
	uint32_t apart;			/* of stand-ins: see struct lab_emogi */
	struct lab_emogi_counts array[ACCESSES], strided[EMOGI_WARPS];
	bool array_wanted, strided_wanted, halo_wanted, subway_wanted;
	struct emogi_job *job;
};

/*
 * Prepare a graph: weights as in section 5.2, both widths, sources. The device memory is
 * scaled with the edge list.
 */
int emogi_subject_of(struct emogi *e, unsigned graph, struct gtu_error *err);
/* Run everything that is wanted, and compare with the reference. */
int emogi_run_all(struct emogi *e, struct gtu_error *err);
void emogi_free(struct emogi *e);
/* Counts of a run, summed over its sources; for the most requests in flight, the maximum. */
struct lab_emogi_counts emogi_counts(const struct emogi *e, unsigned graph, unsigned algorithm, unsigned access, unsigned width,
				     unsigned setup);
/* The paper's value for graph @symbol in a list like "GK=1.86 GU=1.25", or NAN. */
double emogi_paper_value(const char *symbol, const char *of);
/* The rows of tables 3 and 4. */
void emogi_other_works(struct emogi *e);
/*
 * HALO's order as EMOGI describes it, a reordering for locality of a traversal: new ids of the
 * vertices, by falling harmonic centrality. NULL: out of memory.
 */
uint32_t *emogi_halo_order(const struct gtu_graph *g);
/* BFS over @s's reordered graph in unified memory, with results in the old ids. */
int emogi_halo_run(const struct lab_machine *m, const struct emogi_subject *s, uint32_t source, bool apart,
		   const struct gtu_progress *progress, uint32_t *result, struct lab_emogi_counts *counts, struct gtu_error *err);
/* Components, and Subway's, need edges in both directions; PageRank leaves out the multigraph. */
bool emogi_excluded(const struct lab_run *r, unsigned g, unsigned algorithm);
/* Host reads counted by the monitor, and the share that has @sectors sectors. */
static inline uint64_t emogi_requests(const uint64_t *seen)
{
	return seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 1)] + seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 2)] +
	       seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 3)] + seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, 4)];
}
static inline double emogi_share(const uint64_t *seen, unsigned sectors)
{
	return (double)seen[GTU_ZCM_C_REQUESTS(GTU_ZCM_HOST_READ, sectors)] / (double)emogi_requests(seen);
}
/* Only BFS and SSSP have a source. */
static inline unsigned emogi_sources(const struct emogi *e, unsigned algorithm)
{
	return algorithm == LAB_EMOGI_BFS || algorithm == LAB_EMOGI_SSSP ? e->sources : 1;
}

#endif
