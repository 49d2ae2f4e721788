// SPDX-License-Identifier: MIT
/* `gtu run` as one of several processes: loads libgtu-mpi.so, and collects or writes the results. */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gtu/mpi.h"
#include "tools/support/atomic_file.h"
#include "tools/support/cli.h"
#include "tools/support/graph_options.h"
#include "run_ranks.h"

#define LIBRARY "libgtu-mpi.so.1"

static struct {
	void *handle;
	__typeof__(&gtu_mpi_open) open;
	__typeof__(&gtu_mpi_close) close;
	struct gtu_ranks ranks;
} mpi;

bool run_has_launcher(uint64_t *rank)
{
	/* Open MPI, MPICH and Intel MPI, Slurm with PMIx */
	static const char *const names[][2] = { { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
						{ "PMI_RANK", "PMI_SIZE" }, { "PMIX_RANK", "SLURM_NTASKS" } };
	const char *number, *size;
	unsigned i;

	*rank = 0;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		number = getenv(names[i][0]);
		size = getenv(names[i][1]);
		/* a single process is an ordinary run */
		if (number && size && strtoull(size, NULL, 10) > 1) {
			*rank = strtoull(number, NULL, 10);
			return true;
		}
	}
	return false;
}

static int load(struct gtu_error *err)
{
	/* beside the program in a build folder */
	mpi.handle = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
	if (!mpi.handle)
		mpi.handle = dlopen("$ORIGIN/" LIBRARY, RTLD_NOW | RTLD_GLOBAL);
	if (!mpi.handle)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "mpirun started this program, but %s cannot be loaded (%s): install the "
				"package libgtu-mpi1", LIBRARY, dlerror());
	mpi.open = (__typeof__(mpi.open))dlsym(mpi.handle, "gtu_mpi_open");
	mpi.close = (__typeof__(mpi.close))dlsym(mpi.handle, "gtu_mpi_close");
	if (!mpi.open || !mpi.close)
		return gtu_fail(err, GTU_ERR_UNSUPPORTED, "%s is of another version: it lacks gtu_mpi_open() or gtu_mpi_close()",
				LIBRARY);
	return 0;
}

int run_ranks_begin(struct run *r, int rc, struct gtu_error *err)
{
	struct gtu_error own = { 0 };
	int failed = load(&own);

	if (!failed)
		failed = mpi.open(&mpi.ranks, &own);
	if (failed) {
		if (!rc)
			*err = own;
		return rc ? rc : failed;
	}
	r->ranks = &mpi.ranks;
	rc = run_ranks_agree(r, rc, err);
	return rc ? rc : gtu_open_ranks(r->opt.unit == GTU_WITH_NONE ? "none" : r->device, r->ranks, &r->dev, err);
}

void run_ranks_end(struct run *r, int code)
{
	if (r->ranks)
		mpi.close(&mpi.ranks, code);
	r->ranks = NULL;
}

int run_ranks_agree(struct run *r, int rc, struct gtu_error *err)
{
	const struct gtu_ranks *k = r->ranks;
	struct gtu_error told = { 0 };
	uint64_t lowest;
	int failed;

	if (!k)
		return rc;
	lowest = rc ? k->rank : k->size;
	failed = k->all_reduce(k->context, GTU_MIN_U64, &lowest, 1, rc ? NULL : err);
	if (failed || lowest >= k->size)
		return rc ? rc : failed;
	if (k->rank == lowest)
		told = *err;
	failed = k->broadcast(k->context, (uint32_t)lowest, &told, sizeof(told), rc ? NULL : err);
	if (rc || failed)
		return rc ? rc : failed;
	told.text[sizeof(told.text) - 1] = 0;
	/* a sentence that the library shared names the rank already */
	return gtu_fail(err, told.code < 0 ? told.code : GTU_ERR_FAIL, "rank %" PRIu64 " of %u: %.400s", lowest, k->size,
			told.text);
}

int run_ranks_choose(struct run *r, uint64_t degree, uint64_t *v, struct gtu_error *err)
{
	const struct gtu_ranks *k = r->ranks;
	uint64_t most = degree;
	int rc;

	if (!k)
		return 0;
	rc = k->all_reduce(k->context, GTU_MAX_U64, &most, 1, err);
	if (most != degree)
		*v = UINT64_MAX;
	return rc ? rc : k->all_reduce(k->context, GTU_MIN_U64, v, 1, err);
}

int run_ranks_gather(struct run *r, struct gtu_error *err)
{
	const uint32_t bytes = (uint32_t)run_width(r) * r->kind->value_bytes;
	void *all = NULL;
	int rc = 0;

	if (!r->ranks || r->parts || r->kind->one)
		return 0;
	if (run_is_first(r)) {
		all = malloc((r->graph.n + 1) * bytes);
		if (!all)
			rc = gtu_fail(err, GTU_ERR_NOMEM, "no memory for the values of %" PRIu64 " vertices", r->graph.n);
	}
	rc = run_ranks_agree(r, rc, err);
	if (!rc)
		rc = gtu_ranks_gather(r->dev, &r->graph, r->result, bytes, all, err);
	if (rc || !all) {
		free(all);
		return rc;
	}
	free(r->result);
	r->result = all;
	r->first = 0;
	r->end = r->graph.n;
	return 0;
}

int run_ranks_write(struct run *r, struct gtu_error *err)
{
	struct atomic_file t = { 0 };
	char *path = NULL;
	uint64_t v;
	int rc = 0;

	if (mkdir(r->parts, 0777) && errno != EEXIST)
		rc = gtu_fail(err, GTU_ERR_FAIL, "cannot make the folder %s: %s", r->parts, strerror(errno));
	if (!rc && asprintf(&path, "%s/part-%05u", r->parts, r->ranks->rank) < 0)
		rc = gtu_fail(err, GTU_ERR_NOMEM, "no memory for a file name");
	if (!rc)
		rc = atomic_file_open(&t, path, err);
	for (v = r->first; v < r->end && !rc && !ferror(t.file); v++) {
		fprintf(t.file, "%s ", vertex_label(&r->graph, v));
		r->kind->write(r, r->result, v - r->first, t.file);
		if (v % 65536 == 0 && gtu_tick(r->opt.progress, "writing", v, r->end))
			rc = gtu_fail(err, GTU_ERR_INTERRUPTED, "interrupted; %s was not written", path);
	}
	if (t.file && !rc && (ferror(t.file) || fflush(t.file)))
		rc = atomic_file_failed(&t, err);
	/* the files appear when all ranks have written theirs */
	rc = run_ranks_agree(r, rc, err);
	if (t.file)
		rc = atomic_file_close(&t, rc, err);
	free(path);
	return run_ranks_agree(r, rc, err);
}
