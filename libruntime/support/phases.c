// SPDX-License-Identifier: MIT
/* The clock of an algorithm's run. */
#include <string.h>

#include "clock.h"
#include "phases.h"

void gtu_phases_begin(struct gtu_phases *p, struct gtu_algorithm_stats *stats)
{
	memset(p, 0, sizeof(*p));
	p->stats = stats ? stats : &p->unused;
	memset(p->stats, 0, sizeof(*p->stats));
	p->started_ns = gtu_now_ns();
	gtu_phase(p, "setup");
}

void gtu_phase(struct gtu_phases *p, const char *name)
{
	struct gtu_algorithm_stats *s = p->stats;
	uint64_t now = gtu_now_ns();
	unsigned i;

	if (s->phases)
		s->phase[p->phase].seconds += 1e-9 * (double)(now - p->phase_ns);
	p->phase_ns = now;
	for (i = 0; i < s->phases; i++)
		if (!strcmp(s->phase[i].name, name))
			break;
	if (i == s->phases && i < GTU_PHASES) {
		s->phase[i].name = name;
		s->phase[i].seconds = 0;
		s->phases++;
	}
	p->phase = i < GTU_PHASES ? i : GTU_PHASES - 1;
}

void gtu_phases_iteration(struct gtu_phases *p, const struct gtu_algorithm_options *opt, uint64_t frontier)
{
	const struct gtu_algorithm_stats *s = p->stats;
	struct gtu_iteration sum, it;
	unsigned i;

	p->stats->iterations++;
	if (!opt->iteration)
		return;
	/* add the time of the current phase to this iteration */
	gtu_phase(p, s->phase[p->phase].name);
	sum = (struct gtu_iteration){ .edges = s->edges, .jobs = s->jobs, .job_cycles = s->job_cycles,
				      .list_bytes = s->list_bytes, .cached_bytes = s->cached_bytes };
	for (i = 0; i < s->phases; i++)
		if (strcmp(s->phase[i].name, "setup") && strcmp(s->phase[i].name, "cache"))
			sum.seconds += s->phase[i].seconds;
	it = (struct gtu_iteration){
		.number = s->iterations - 1, .frontier = frontier,
		.edges = sum.edges - p->before.edges, .jobs = sum.jobs - p->before.jobs,
		.job_cycles = sum.job_cycles - p->before.job_cycles,
		.list_bytes = sum.list_bytes - p->before.list_bytes,
		.cached_bytes = sum.cached_bytes - p->before.cached_bytes,
		.seconds = sum.seconds - p->before.seconds,
	};
	p->before = sum;
	opt->iteration(opt->iteration_user, &it);
}

void gtu_phases_end(struct gtu_phases *p)
{
	gtu_phase(p, "setup");
	p->stats->seconds = 1e-9 * (double)(p->phase_ns - p->started_ns);
}
