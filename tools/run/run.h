/* SPDX-License-Identifier: MIT */
/* One run of `gtu run`: cmd_run.c fills the structure in, run_report.c writes it out. */
#ifndef GTU_RUN_H
#define GTU_RUN_H

#include <stdio.h>

#include "tools/support/gpu_options.h"
#include "gtu/gtu.h"
#include "gtu/hash.h"
#include "gtu/ranks.h"

struct json;
struct run;

/* Options that apply to some algorithms only. */
#define RUN_TAKES_SOURCE	(1u << 0)
#define RUN_TAKES_SOURCES	(1u << 1)	/* --source with several, --sources */
#define RUN_TAKES_TARGET	(1u << 2)
#define RUN_TAKES_WEIGHTS	(1u << 3)
#define RUN_TAKES_RANKS		(1u << 4)	/* --damping, --epsilon, --float-sums */
#define RUN_TAKES_DELTA		(1u << 5)
#define RUN_TAKES_FEATURES	(1u << 6)
#define RUN_TAKES_SEED		(1u << 7)
#define RUN_TAKES_DIRECTION	(1u << 9)
#define RUN_TAKES_QUERIES	(1u << 8)	/* values are per query, not per vertex */
#define RUN_TAKES_ITERATIONS	(1u << 10)

/* An algorithm as `gtu run` sees it: a row in run_kind.c. */
struct run_kind {
	const char *name;
	const char *alias;		/* or NULL */
	const char *text;		/* for --help */
	const char *rounds;		/* what its iterations are */
	unsigned takes;			/* RUN_TAKES_* */
	uint32_t value_bytes;		/* of a value: 4 or 8 */
	bool one;			/* one value in all, not one a vertex */
	/* One of these is the library's function. */
	int (*integers)(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
			uint64_t *values, struct gtu_algorithm_stats *stats, struct gtu_error *err);
	int (*reals)(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
		     double *values, struct gtu_algorithm_stats *stats, struct gtu_error *err);
	int (*colors)(struct gtu_device *dev, const struct gtu_graph *g, const struct gtu_algorithm_options *opt,
		      uint32_t *values, struct gtu_algorithm_stats *stats, struct gtu_error *err);
	int (*compute)(struct run *r, struct gtu_error *err);
	/* Fill @expected, 8 bytes a vertex, with plain reference code; non-zero: no memory. */
	int (*reference)(struct run *r, void *expected);
	double tolerance;		/* relative, of real values; 0: all bits are the same */
	/* NULL: values are compared with the reference's. Sets r->verdict; GTU_ERR_VERIFY with the first difference. */
	int (*verify)(struct run *r, struct gtu_error *err);
	/* Write value @v of @values and a newline, without the vertex or query, for --output. */
	void (*write)(const struct run *r, const void *values, uint64_t v, FILE *f);
	/* Write the members of the JSON's "result"; a line or two for a person. Both may be NULL. */
	void (*json)(const struct run *r, struct json *j);
	void (*print)(const struct run *r, FILE *to);
};

int run_compute(struct run *r, struct gtu_error *err);
int run_verify(struct run *r, struct gtu_error *err);
/* The algorithms, a line each; their names, separated by commas. */
void run_print_kinds(FILE *to);
void run_kind_names(char *names, size_t bytes);

bool run_has_kind(const char *word);	/* a name or an alias */
/* Find an algorithm by name or alias; NULL after a message. */
const struct run_kind *run_kind(const char *word);

/* One iteration, or several consecutive ones when a run has more than RUN_STEPS. */
#define RUN_STEPS 2048u
struct run_step {
	struct gtu_iteration sum;	/* number: that of the first iteration */
	uint64_t iterations;
	uint64_t bytes[2];		/* --monitor: host memory that units read and wrote */
};

enum run_verdict { RUN_NOT_VERIFIED, RUN_EQUAL, RUN_DIFFERENT };

struct run {
	const struct run_kind *kind;
	const char *path;		/* of the graph */
	const char *unit, *device;	/* as given; device is "none" without a unit */
	const char *direction;		/* as given, or NULL */
	const char *output, *json;	/* files, "-", or NULL */
	const char *parts;		/* folder, or NULL */
	struct gtu_graph graph;		/* as opened, with the selected weights; its name is that of the file */
	const char *graph_name;		/* of a generated graph: its rule */
	struct gtu_device *dev;
	const struct gtu_ranks *ranks;	/* of several processes, or NULL */
	uint64_t first, end;		/* vertices of this process */
	struct gtu_algorithm_options opt;
	struct gtu_algorithm_stats stats;
	bool source_chosen, unit_chosen;	/* by the tool, not by --source and --unit */
	struct gpu_request gpu;
	bool monitor;			/* ZCM is enabled */
	const char *sources_text;	/* BC: how the sources were chosen, as text */
	const char *weights;		/* SSSP: the kind of weights, as text */
	double open_seconds;
	uint64_t runs;			/* --runs; all other members are of the last one */
	double *run_seconds;		/* of each run; NULL with a unit */
	union {
		uint64_t *integer;	/* BFS levels, CC and CDLP vertices, cores, stcon's distance, slots */
		double *real;		/* SSSP distances, PR ranks, BC scores, LCC, GCN features */
		uint32_t *color;	/* GC */
		void *result;
	};
	struct {
		uint32_t unit;
		const char *name;
		uint64_t value[GTU_UREG_COUNTERS];
	} counters[GTU_UNIT_PAGES_MAX];
	unsigned units;			/* number of counters[] */
	struct run_step *step;		/* with --json: up to RUN_STEPS entries */
	unsigned steps;
	uint64_t per_step;		/* iterations per step, except the last */
	uint64_t seen_bytes[2];		/* --monitor: bytes by direction up to the last iteration */
	enum run_verdict verdict;
	double verify_seconds;
	struct gtu_hash_table table;	/* hash: of the graph's edges */
	uint64_t *query, queries;	/* keys to look up in the table */
	double change;			/* PR: change in the reference's last iteration */
};

/* The number of values. */
static inline uint64_t run_values(const struct run *r)
{
	return r->kind->one ? 1 : r->kind->takes & RUN_TAKES_QUERIES ? r->queries : r->graph.n;
}

/* The number of reals per value. */
static inline uint64_t run_width(const struct run *r)
{
	return r->kind->takes & RUN_TAKES_FEATURES ? r->opt.features : 1;
}

/* Whether the algorithm has exactly one source (betweenness has a list). */
static inline bool run_has_source(const struct run *r)
{
	return (r->kind->takes & (RUN_TAKES_SOURCE | RUN_TAKES_SOURCES)) == RUN_TAKES_SOURCE;
}

/* run_values.c, for the table of run_kind.c */
void run_write_hops(const struct run *r, const void *values, uint64_t v, FILE *f);
void run_write_distance(const struct run *r, const void *values, uint64_t v, FILE *f);
void run_write_real(const struct run *r, const void *values, uint64_t v, FILE *f);
void run_write_features(const struct run *r, const void *values, uint64_t v, FILE *f);
void run_write_vertex(const struct run *r, const void *values, uint64_t v, FILE *f);
void run_write_core(const struct run *r, const void *values, uint64_t v, FILE *f);
void run_write_color(const struct run *r, const void *values, uint64_t v, FILE *f);
void run_json_bfs(const struct run *r, struct json *j);
void run_json_sssp(const struct run *r, struct json *j);
void run_json_pr(const struct run *r, struct json *j);
void run_json_cc(const struct run *r, struct json *j);
void run_json_bc(const struct run *r, struct json *j);
void run_json_stcon(const struct run *r, struct json *j);
void run_json_gc(const struct run *r, struct json *j);
void run_json_kc(const struct run *r, struct json *j);
void run_print_bfs(const struct run *r, FILE *to);
void run_print_sssp(const struct run *r, FILE *to);
void run_print_pr(const struct run *r, FILE *to);
void run_print_cc(const struct run *r, FILE *to);
void run_print_bc(const struct run *r, FILE *to);
void run_print_stcon(const struct run *r, FILE *to);
void run_print_gc(const struct run *r, FILE *to);
void run_json_cdlp(const struct run *r, struct json *j);
void run_print_cdlp(const struct run *r, FILE *to);
void run_json_lcc(const struct run *r, struct json *j);
void run_print_lcc(const struct run *r, FILE *to);
void run_json_gcn(const struct run *r, struct json *j);
void run_print_gcn(const struct run *r, FILE *to);
void run_print_kc(const struct run *r, FILE *to);

/* run_hash.c, likewise */
int run_compute_hash(struct run *r, struct gtu_error *err);
int run_verify_hash(struct run *r, struct gtu_error *err);
void run_write_slot(const struct run *r, const void *values, uint64_t q, FILE *f);
void run_json_hash(const struct run *r, struct json *j);
void run_print_hash(const struct run *r, FILE *to);

/* run_steps.c: start recording iterations (0 or GTU_ERR_NOMEM); write them as "steps". */
int run_steps_begin(struct run *r, struct gtu_error *err);
void run_steps_json(const struct run *r, struct json *j);

/* Write --output and --json; files appear only when they are complete. */
int run_write_output(const struct run *r, struct gtu_error *err);
int run_write_json(const struct run *r, struct gtu_error *err);
/* Print the result as text. */
void run_print(const struct run *r, FILE *to);

#endif
