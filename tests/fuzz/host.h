/* SPDX-License-Identifier: MIT */
/*
 * Host memory for a fuzzed device: heap blocks of exact size, so that the sanitizer detects every
 * overrun.
 */
#ifndef GTU_FUZZ_HOST_H
#define GTU_FUZZ_HOST_H

#include <stdlib.h>
#include <string.h>

#include "uapi/gtu/hw.h"
#include "firmware-model/device/gtu_model.h"

#define FUZZ_BLOCKS 16u

struct fuzz_host {
	struct gtu_dev *dev;
	struct {
		uint8_t *at;
		uint64_t bus, bytes;
	} block[FUZZ_BLOCKS];
	unsigned blocks;
};

static inline void *fuzz_dma(void *host, uint64_t addr, uint64_t *len, bool write)
{
	struct fuzz_host *h = host;
	unsigned i;

	(void)write;
	for (i = 0; i < h->blocks; i++) {
		const uint64_t at = addr - h->block[i].bus;

		if (addr < h->block[i].bus || at >= h->block[i].bytes)
			continue;
		if (*len > h->block[i].bytes - at)
			*len = h->block[i].bytes - at;
		return h->block[i].at + at;
	}
	return NULL;
}

static inline void fuzz_irq(void *host, unsigned vector)
{
	(void)host, (void)vector;
}

/* Allocate a zeroed block of @bytes; returns its bus address. */
static inline uint64_t fuzz_block(struct fuzz_host *h, uint64_t bytes)
{
	const unsigned i = h->blocks++;

	h->block[i].at = aligned_alloc(64, (bytes + 63) / 64 * 64);
	memset(h->block[i].at, 0, (bytes + 63) / 64 * 64);
	h->block[i].bytes = bytes;
	h->block[i].bus = (uint64_t)(i + 1) << 32;
	return h->block[i].bus;
}

static inline void fuzz_open(struct fuzz_host *h, const struct gtu_dev_config *config)
{
	static const struct gtu_host_ops ops = { .dma = fuzz_dma, .irq = fuzz_irq };

	memset(h, 0, sizeof(*h));
	h->dev = gtu_dev_create(config, &ops, h, NULL);
	if (!h->dev)
		abort();
}

static inline void fuzz_close(struct fuzz_host *h)
{
	unsigned i;

	gtu_dev_destroy(h->dev);
	for (i = 0; i < h->blocks; i++)
		free(h->block[i].at);
}

static inline void fuzz_mailbox(struct fuzz_host *h, uint32_t command, unsigned n, const uint64_t *arg)
{
	unsigned i;

	for (i = 0; i < n; i++)
		gtu_dev_write(h->dev, GTU_BAR_REGS, GTU_REG_MBOX_ARG(i), 8, arg[i]);
	gtu_dev_write(h->dev, GTU_BAR_REGS, GTU_REG_MBOX_CMD, 4, command);
}

/* The fuzz input; reads past its end give zeros. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

static inline void fuzz_take(struct fuzz_input *in, void *to, size_t bytes)
{
	const size_t n = bytes < in->left ? bytes : in->left;

	memcpy(to, in->at, n);
	memset((uint8_t *)to + n, 0, bytes - n);
	in->at += n;
	in->left -= n;
}

static inline uint64_t fuzz_number(struct fuzz_input *in, size_t bytes)
{
	uint64_t v = 0;

	fuzz_take(in, &v, bytes);
	return v;
}

#endif
