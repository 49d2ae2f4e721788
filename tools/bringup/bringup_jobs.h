/* SPDX-License-Identifier: MIT */
/*
 * Random jobs for lock step and vectors: the memory that they use, and descriptors whose results the
 * specification defines to the last byte.
 */
#ifndef GTU_BRINGUP_JOBS_H
#define GTU_BRINGUP_JOBS_H

#include "bringup_rig.h"

/* Regions by their names in descriptors: index + 1. */
enum {
	JOBS_SRC = 1, JOBS_IDX, JOBS_CNT, JOBS_REG, JOBS_CSR, JOBS_OUT, JOBS_VEC, JOBS_COST, JOBS_WIDE, JOBS_RING, JOBS_LIST,
	/* not compared: undefined ways of tables, output of jobs in error, blocks with keys */
	JOBS_TABLE, JOBS_ERR, JOBS_BLOCK, JOBS_REGIONS = JOBS_BLOCK
};
extern const struct side_region jobs_region[JOBS_REGIONS];
extern const char *const jobs_region_name[JOBS_REGIONS + 1];
#define JOBS_COMPARED	0x2f000u		/* bytes of the arena */
#define JOBS_BYTES	0x60000u
#define JOBS_RING_COUNT	32u			/* records in JOBS_RING, unless a job says otherwise */

/* The part of the specification, beyond plain operations, that a job covers; the name of the bug that such jobs find. */
#define JOBS_COVER_ROWS(C) \
	C(NONE, NULL) C(FILTER, "filter") C(GROUP, "group") C(KEEP, "keep") C(BLOCK, "block") C(FLOAT, "float") \
	C(WIDE, "index-8") C(LIMIT, "limit") C(DEMAND, "demand") C(RETURN, "return-ring")
enum jobs_cover {
#define JOBS_COVER_NUMBER(NAME, name) JOBS_COVER_##NAME,
	JOBS_COVER_ROWS(JOBS_COVER_NUMBER)
	JOBS_COVERS
};
extern const char *const jobs_cover_name[JOBS_COVERS];

struct job {
	struct gtu_hw_desc desc;	/* keys are names of regions */
	struct gtu_hw_operand block[GTU_BLOCK_OPERANDS];	/* if it has GTU_DESC_BLOCK: likewise */
	enum jobs_cover cover;
};

struct jobs {
	uint64_t seed;
	uint32_t units, absent_scu;	/* GTU_UNIT_*, GTU_ABSENT_SCU_* */
	bool real_clocks;		/* the device has no logical cycles */
};

static inline void *jobs_at(uint8_t *arena, unsigned region)
{
	return arena + jobs_region[region - 1].offset;
}

uint64_t jobs_draw(struct jobs *j);
uint32_t jobs_below(struct jobs *j, uint32_t n);
/* Fill the arena with the jobs' inputs. */
void jobs_fill(struct jobs *j, uint8_t *arena);
/* The job with number @number; its ring never fills. */
void jobs_describe(struct jobs *j, struct job *job, uint64_t number);
/* A stream of unit GTU_UNIT_* that uses the ring without options. */
void jobs_stream(struct jobs *j, struct gtu_hw_desc *d, uint32_t unit);
/* Write the job's block with the keys of @s. */
void jobs_put_block(struct side *s, const struct job *job);
/* The job as text, so that it can be repeated by hand; valid until the next call. */
const char *jobs_text(const struct job *job);
/* The region of a byte of the arena, and the byte's offset in it. */
const char *jobs_region_at(uint32_t offset, uint32_t *inside);

#endif
