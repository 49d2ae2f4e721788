// SPDX-License-Identifier: MIT
/* Runs without a unit: threads, arrays and errors. */
#include <string.h>

#include "plain.h"

#define SHARES_PER_THREAD 16		/* that loops aim at: enough to balance skewed degrees */
#define SHARE_MOST	  16384u

void gtu_plain_begin(struct gtu_plain *p, struct gtu_alg *a)
{
	memset(p, 0, sizeof(*p));
	p->a = a;
	atomic_init(&p->bad_row, GTU_NO_VERTEX);
	atomic_init(&p->bad_edge, GTU_NO_VERTEX);
	gtu_alg_shares_begin(&p->shares, a);
	gtu_team_begin(&p->team, gtu_cpus());
}

int gtu_plain_end(struct gtu_plain *p, int rc)
{
	unsigned i;

	gtu_team_end(&p->team);
	for (i = 0; i < p->arrays; i++)
		free(p->array[i]);
	return gtu_alg_shares_end(&p->shares, rc);
}

int gtu_plain_alloc(struct gtu_plain *p, uint64_t count, uint64_t width, void *array)
{
	void *memory = count < UINT64_MAX / width ? gtu_array_alloc(count * width) : NULL;

	if (!memory)
		return gtu_fail(p->a->err, GTU_ERR_NOMEM, "%s: out of memory for %llu elements of %llu bytes",
				p->a->name, (unsigned long long)count, (unsigned long long)width);
	p->array[p->arrays++] = memory;
	memcpy(array, &memory, sizeof(memory));
	return 0;
}

int gtu_plain_bad(atomic_uint_fast64_t *lowest, uint64_t i)
{
	uint_fast64_t was = atomic_load(lowest);

	while (i < was && !atomic_compare_exchange_weak(lowest, &was, i))
		;
	return GTU_ERR_INPUT;
}

int gtu_plain_loop(struct gtu_plain *p, const struct gtu_graph *g, uint64_t least, gtu_team_fn *fn, void *arg,
		   uint64_t count)
{
	uint64_t share = count / (p->team.threads * SHARES_PER_THREAD), bad;
	int rc;

	share = (share < SHARE_MOST ? share : SHARE_MOST) / least * least;
	rc = gtu_team_loop(&p->team, share ? share : least, fn, arg, count);
	if (rc != GTU_ERR_INPUT)
		return rc;
	bad = atomic_load(&p->bad_row);
	if (bad != GTU_NO_VERTEX)
		return gtu_alg_bad_row(p->a, g, bad);
	bad = atomic_load(&p->bad_edge);
	return bad == GTU_NO_VERTEX ? rc : gtu_alg_bad_edge(p->a, g, bad);
}

struct fill {
	void *array;
	uint64_t value;
	uint32_t width;
};

static int fill_share(void *arg, unsigned thread, uint64_t first, uint64_t end)
{
	const struct fill *f = arg;
	uint64_t i;

	(void)thread;
	if (f->width == 8)
		for (i = first; i < end; i++)
			((uint64_t *)f->array)[i] = f->value;
	else
		for (i = first; i < end; i++)
			((uint32_t *)f->array)[i] = (uint32_t)f->value;
	return 0;
}

int gtu_plain_fill(struct gtu_plain *p, void *array, uint32_t width, uint64_t count, uint64_t value)
{
	struct fill f = { array, value, width };

	return gtu_plain_loop(p, p->a->g, 4096, fill_share, &f, count);
}
