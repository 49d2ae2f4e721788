/* SPDX-License-Identifier: MIT */
/*
 * A context, a queue or two and memory on a function, for the steps of gtu bringup that give it work: the driver's
 * part, as small as it can be. And `side`: who computes the same descriptors, a rig or a device behind its driver.
 */
#ifndef GTU_BRINGUP_RIG_H
#define GTU_BRINGUP_RIG_H

#include "bringup.h"

/* Places in the first block of memory. */
#define RIG_BYTES	(2u << 20)
#define RIG_TABLE	0x0000u			/* 256 regions */
#define RIG_TABLE_LOG2	8u
#define RIG_QUEUES	2u
#define RIG_SQ(q)	(0x4000u + (q) * 0x20000u)
#define RIG_CQ(q)	(0x14000u + (q) * 0x20000u)
#define RIG_EVENTS	0x48000u
#define RIG_EVENTS_LOG2	8u
#define RIG_LISTS	0x49000u		/* page lists of scattered regions: 3 chunks */
#define RIG_DATA	0x50000u
#define RIG_DATA_BYTES	(RIG_BYTES - RIG_DATA - 0x1000u)	/* the last page is for interrupt messages */

struct rig {
	struct access *a;
	uint8_t *at;
	uint64_t bus;
	uint32_t stride, queue_log2, context, slots;
	struct {
		uint32_t tail, head;
	} q[RIG_QUEUES];
	uint32_t events;		/* taken so far */
	bool on;
};

/* "BOUNDS" of GTU_CPL_BOUNDS, as hardware.md calls it. */
const char *rig_status(unsigned status);

/* @vector: of the queues' events. Memory is kept by the access; a rig may be opened on it again. */
int rig_open(struct rig *r, struct bringup *b, struct access *a, uint32_t vector, struct gtu_error *err);
void rig_close(struct rig *r);
uint32_t rig_command(struct rig *r, uint32_t command, const uint64_t *arg);
/* A region of @bytes at @offset of the block (or at bus address @bus); rights GTU_REGION_READ, _WRITE. Its key. */
uint32_t rig_region(struct rig *r, uint64_t offset, uint64_t bytes, uint32_t rights);
uint32_t rig_region_at(struct rig *r, uint64_t bus, uint64_t bytes, uint32_t rights);
/* The same, its pages in the order of @page (numbers of 4 KiB pages of the block), through a page list. */
uint32_t rig_region_scattered(struct rig *r, const uint32_t *page, unsigned pages, uint64_t offset, uint64_t bytes, uint32_t rights);
void rig_put(struct rig *r, unsigned q, const struct gtu_hw_desc *d);
void rig_bell(struct rig *r, unsigned q, uint32_t reg, uint64_t value);
void rig_submit(struct rig *r, unsigned q);
/* The next completion of queue @q within about a second; false: none, and @err says what the queue is. */
bool rig_take(struct rig *r, unsigned q, struct gtu_hw_cpl *cpl, struct gtu_error *err);
/* One descriptor, from doorbell to completion. */
bool rig_do(struct rig *r, const struct gtu_hw_desc *d, struct gtu_hw_cpl *cpl, struct gtu_error *err);

/* ---- Sides ---------------------------------------------------------------------------------------------- */

#define SIDE_REGIONS	12
#define SIDE_BATCH	256u		/* descriptors at a time, at most */
#define SIDE_COUNTERS	24		/* of a unit that are compared: the first ones */

struct side_region {
	uint32_t offset, bytes;		/* of the arena; offset a multiple of 8 */
	uint32_t rights;		/* GTU_REGION_* */
};

struct side {
	const char *name;
	uint8_t *arena;			/* RIG_DATA_BYTES, zeroed */
	uint32_t key[SIDE_REGIONS];
	unsigned batch;			/* descriptors it takes at a time */
	/* Keys of @d are numbers of regions + 1, which are replaced. 0, or a code with a sentence. */
	int (*run)(struct side *s, const struct gtu_hw_desc *d, unsigned n, struct gtu_hw_cpl *cpl, struct gtu_error *err);
	int (*read)(struct side *s, uint32_t reg, uint64_t *value, struct gtu_error *err);
	int (*write)(struct side *s, uint32_t reg, uint32_t value, struct gtu_error *err);
	void (*close)(struct side *s);
	void *own;
};

/* The function under test: through its access, or its driver. Not for b->a NULL and b->device NULL. */
int side_of_device(struct side *s, struct bringup *b, const struct side_region *region, unsigned n, struct gtu_error *err);
/* The in-process model of the same build, on an access of its own. */
int side_of_model(struct side *s, struct bringup *b, const struct side_region *region, unsigned n, struct gtu_error *err);

#endif
