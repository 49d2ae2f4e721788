// SPDX-License-Identifier: MIT
/*
 * Fuzz target: a container that another user changes while it is used. The input is a list of changes,
 * made one at each progress call of checks, builders and writers. Results must not change.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz_read.h"

#define VERTICES 64u

struct change {
	const uint8_t *data;
	size_t left;
	int fd;
};

static int make_change(void *user, const char *what, uint64_t done, uint64_t total)
{
	struct change *c = user;
	uint32_t at;

	(void)what;
	(void)done;
	(void)total;
	if (c->left < 6)
		return 0;
	at = c->data[0] | c->data[1] << 8;
	/* a header has 512 bytes, which matter most */
	FUZZ_REQUIRE(pwrite(c->fd, c->data + 2, 4, c->data[1] & 0x80 ? at & 511 : at & 0x7fff) == 4);
	if (c->data[0] == 0xff && c->data[1] == 0xff)
		FUZZ_REQUIRE(!ftruncate(c->fd, c->data[2] * 256));
	c->data += 6;
	c->left -= 6;
	return 0;
}

static struct gtu_graph *make_graph(unsigned seed)
{
	struct gtu_read_options o = { .direction = seed & 1 ? GTU_DIRECTED : GTU_UNDIRECTED };
	struct gtu_error err;
	struct gtu_graph *g;
	static uint64_t a[1024], b[1024];
	unsigned i;

	for (i = 0; i < 1024; i++) {
		a[i] = (i * 7 + seed) % VERTICES;
		b[i] = (i * i + seed) % VERTICES;
	}
	FUZZ_REQUIRE(!gtu_graph_from_edges(VERTICES, 1024, a, b, GTU_WEIGHT_NONE, NULL, &o, &g, &err));
	return g;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[64], saved[64];
	struct gtu_graph *g, *want, *other, *sum;
	struct gtu_progress progress;
	struct gtu_error err;
	struct change c;
	char chosen[GTU_ERROR_TEXT];
	unsigned kind = size ? data[0] : 0;

	if (!*path) {
		snprintf(path, sizeof(path), "/dev/shm/fuzz-container-%d.gtu", getpid());
		snprintf(saved, sizeof(saved), "/dev/shm/fuzz-container-%d.gr", getpid());
	}
	want = make_graph(kind & 3);
	FUZZ_REQUIRE(!(kind & 4 ? gtu_graph_save_compressed : gtu_graph_save)(want, path, NULL, &err));
	c = (struct change){ size ? data + 1 : data, size ? size - 1 : 0, open(path, O_RDWR) };
	FUZZ_REQUIRE(c.fd >= 0 && !fchmod(c.fd, 0666));
	progress = (struct gtu_progress){ make_change, &c };
	if (!gtu_graph_open(path, NULL, kind & 8 ? &progress : NULL, &g, &err)) {
		int rc = gtu_graph_check(g, &progress, &err);

		/* changes during the copy are found by the checksums, later ones are not seen */
		FUZZ_REQUIRE(kind & 8 || !rc);
		if (!rc) {
			FUZZ_REQUIRE(!memcmp(g->row, want->row, (g->n + 1) * 8));
			FUZZ_REQUIRE(!gtu_graph_transpose(g, &progress, &other, &err));
			gtu_graph_close(other);
			FUZZ_REQUIRE(!gtu_graph_symmetrize(g, &progress, &sum, &err));
			gtu_graph_close(sum);
			gtu_graph_write(g, saved, GTU_WRITE_ADAPT, chosen, &progress, &err);
			FUZZ_REQUIRE(!memcmp(g->col, want->col, g->m * g->edge_bytes));
		}
		gtu_graph_close(g);
	}
	gtu_graph_close(want);
	close(c.fd);
	unlink(path);
	unlink(saved);
	return 0;
}
