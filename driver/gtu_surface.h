/* SPDX-License-Identifier: GPL-2.0-only */
/* What sysfs, debugfs and state dumps have in common. */
#ifndef GTU_SURFACE_H
#define GTU_SURFACE_H

#include <linux/seq_file.h>

#include "gtu_drv.h"

/* A register with a name. */
struct gtu_field {
	const char *name;
	u16 offset;
	u8 bytes;
};

/* gtu_names.c */
#define GTU_FIELDS		131
#define GTU_COUNTERS		96	/* of them */
#define GTU_GLOBALS		33
extern const struct gtu_field gtu_fields[], gtu_globals[]; /* of those lengths */
extern const char *const gtu_unit_names[GTU_UNIT_PAGES];
const char *gtu_opcode_name(unsigned int opcode);
const char *gtu_cpl_name(unsigned int status);
const char *gtu_queue_state_name(unsigned int state);

/* Unit, from 0, of a field; whether it is one of its counters. */
static inline unsigned int gtu_field_unit(const struct gtu_field *f)
{
	return f->offset / GTU_PAGE - 1;
}

static inline bool gtu_field_is_counter(const struct gtu_field *f)
{
	return f->offset % GTU_PAGE >= GTU_UREG_COUNTER(0);
}

/* Where text goes: a file, or memory, of which only the length is counted while there is none. */
struct gtu_text {
	struct seq_file *file;
	char *buf;
	size_t bytes, used;
};

/*
 * gtu_state.c. @held: a context whose lock the caller has; then others are left out where they are
 * locked, else all are waited for.
 */
typedef void gtu_state_fn(struct gtu_text *t, struct gtu_device *gtu, struct gtu_ctx *held);
gtu_state_fn gtu_state_registers, gtu_state_contexts, gtu_state_queues, gtu_state_regions,
	gtu_state_events, gtu_state_all;

#endif
