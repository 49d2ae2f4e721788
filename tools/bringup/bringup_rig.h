/* SPDX-License-Identifier: MIT */
/*
 * A rig: a context, queues and memory on a function, for the steps of gtu bringup that run jobs; a
 * minimal driver. A `side` runs descriptors on a rig or on a device behind its driver.
 */
#ifndef GTU_BRINGUP_RIG_H
#define GTU_BRINGUP_RIG_H

#include "bringup.h"

/* Layout of the first block of memory. */
#define RIG_BYTES	(2u << 20)
#define RIG_TABLE	0x0000u
#define RIG_TABLE_LOG2_MIN 4u			/* a step adds at most 16 regions */
#define RIG_LOG2_MAX	8u			/* of rings and of the table */
#define RIG_QUEUES	2u			/* or one, if the device has no more */
#define RIG_SQ(q)	(0x4000u + (q) * 0x20000u)
#define RIG_CQ(q)	(0x14000u + (q) * 0x20000u)
#define RIG_EVENTS	0x48000u
#define RIG_LISTS	0x49000u		/* page lists of scattered regions: 3 chunks */
#define RIG_DATA	0x50000u
#define RIG_DATA_BYTES	(RIG_BYTES - RIG_DATA - 0x1000u)	/* the last page is for interrupt messages */

struct rig {
	struct access *a;
	uint8_t *at;
	uint64_t bus;
	uint32_t stride, queues, queue_log2, table_log2, slots;	/* queue_log2: also of the event ring */
	struct {
		uint32_t tail, head;
	} q[RIG_QUEUES];
	uint32_t events;		/* number taken */
	bool on;
};

/* The name of a status in hardware.md: "BOUNDS" for GTU_CPL_BOUNDS. */
const char *rig_status(unsigned status);

/* @vector: of the queues' events. The access keeps the memory; a rig may be opened on it again. */
int rig_open(struct rig *r, struct bringup *b, struct access *a, uint32_t vector, struct gtu_error *err);
void rig_close(struct rig *r);
/*
 * Add a region of @bytes at @offset of the block (or at bus address @bus) with @rights,
 * GTU_REGION_READ and _WRITE. Returns its key.
 */
uint32_t rig_region(struct rig *r, uint64_t offset, uint64_t bytes, uint32_t rights);
uint32_t rig_region_at(struct rig *r, uint64_t bus, uint64_t bytes, uint32_t rights);
/*
 * The same through a page list, with pages in the order of @page (indices of 4 KiB pages of the
 * block).
 */
uint32_t rig_region_scattered(struct rig *r, const uint32_t *page, unsigned pages, uint64_t offset, uint64_t bytes, uint32_t rights);
void rig_put(struct rig *r, unsigned q, const struct gtu_hw_desc *d);
void rig_doorbell(struct rig *r, unsigned q, uint32_t reg, uint64_t value);
void rig_submit(struct rig *r, unsigned q);
/* Whether the next completion of queue @q is there. */
bool rig_completed(const struct rig *r, unsigned q);
/* Take the next completion of queue @q. Returns false after a timeout; @err describes the queue. */
bool rig_take(struct rig *r, unsigned q, struct gtu_hw_cpl *cpl, struct gtu_error *err);
/* Run one descriptor from doorbell to completion. */
bool rig_do(struct rig *r, const struct gtu_hw_desc *d, struct gtu_hw_cpl *cpl, struct gtu_error *err);

/* ---- Sides ---------------------------------------------------------------------------------------------- */

#define SIDE_REGIONS	14
#define SIDE_BATCH	256u		/* most descriptors at a time */
#define SIDE_COUNTERS	24		/* counters of a unit that are compared, from the first */

struct side_region {
	uint32_t offset, bytes;		/* within the arena; offset a multiple of 8 */
	uint32_t rights;		/* GTU_REGION_* */
};

struct side {
	const char *name;
	uint8_t *arena;			/* RIG_DATA_BYTES, zeroed */
	uint32_t key[SIDE_REGIONS];
	unsigned batch;			/* most descriptors at a time */
	struct rig *rig;		/* NULL: behind a driver */
	/*
	 * Keys of @d are indices of regions + 1 and are replaced. Returns 0, or a code with a
	 * message. start() does not wait for the completions, finish() does.
	 */
	int (*run)(struct side *s, const struct gtu_hw_desc *d, unsigned n, struct gtu_hw_cpl *cpl, struct gtu_error *err);
	int (*start)(struct side *s, const struct gtu_hw_desc *d, unsigned n, struct gtu_error *err);
	int (*finish)(struct side *s, unsigned n, struct gtu_hw_cpl *cpl, struct gtu_error *err);
	void (*kick)(struct side *s);	/* a ring of a started stream has changed */
	int (*read)(struct side *s, uint32_t reg, uint64_t *value, struct gtu_error *err);
	int (*write)(struct side *s, uint32_t reg, uint32_t value, struct gtu_error *err);
	/* Set up the rig again, with the same keys, after a reset of the device; NULL behind a driver. */
	int (*restart)(struct side *s, struct gtu_error *err);
	void (*close)(struct side *s);
	void *own;
};
/* @to: @from with the keys of @s. */
void side_put_keys(const struct side *s, struct gtu_hw_desc *to, const struct gtu_hw_desc *from);

/*
 * Run @d, a PEG stream of one engine on demand with @edges edges, and check the engine's registers
 * before and after its consumer requests records. @ring: its ring. False after a finding.
 */
bool bringup_engine_registers(struct bringup *b, struct side *s, const struct gtu_hw_desc *d, struct gtu_hw_ring *ring, uint64_t edges);

/* The function under test, through its access or its driver: either b->a or b->device is set. */
int side_of_device(struct side *s, struct bringup *b, const struct side_region *region, unsigned n, struct gtu_error *err);
/* Submit each operation of @units with an empty descriptor. Returns those that are absent, as b->absent_operations. */
uint32_t side_find_absent(struct side *s, uint32_t units);
/* Whether the build lacks the operations @first to @last. */
bool side_lacks(const struct bringup *b, unsigned first, unsigned last);
/* The model of the same build, in this process and with an access of its own. */
int side_of_model(struct side *s, struct bringup *b, const struct side_region *region, unsigned n, struct gtu_error *err);

#endif
