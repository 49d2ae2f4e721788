/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations shared by sysfs, debugfs and state dumps. */
#ifndef GTU_SURFACE_H
#define GTU_SURFACE_H

#include <linux/seq_file.h>

#include "gtu_drv.h"

/* A named register. */
struct gtu_field {
	const char *name;
	u16 offset;
	u8 bytes;
};

/* gtu_names.c */
#define GTU_NO_ROW(...)
#define GTU_COUNT_ROW(...)	+1
#define GTU_COUNT_ROWS(UNIT, ...)                                                                  \
	GTU_##UNIT##_PARAMETER_ROWS(GTU_COUNT_ROW, GTU_COUNT_ROW, GTU_NO_ROW)                      \
	GTU_##UNIT##_SETTING_ROWS(GTU_COUNT_ROW, GTU_COUNT_ROW)                                    \
	GTU_##UNIT##_COUNTER_ROWS(GTU_COUNT_ROW, GTU_COUNT_ROW)
#define GTU_FIELDS		(0 GTU_UNIT_ROWS(GTU_COUNT_ROWS))
#define GTU_GLOBALS		33
/* of GTU_FIELDS and GTU_GLOBALS entries */
extern const struct gtu_field gtu_fields[], gtu_globals[];
extern const char *const gtu_unit_names[GTU_UNIT_PAGES];
const char *gtu_opcode_name(unsigned int opcode);
const char *gtu_cpl_name(unsigned int status);
const char *gtu_queue_state_name(unsigned int state);

/* Unit index of a field, from 0. */
static inline unsigned int gtu_field_unit(const struct gtu_field *f)
{
	return f->offset / GTU_PAGE - 1;
}

static inline bool gtu_field_is_counter(const struct gtu_field *f)
{
	return f->offset % GTU_PAGE >= GTU_UREG_COUNTER(0);
}

/*
 * Output of state text: a seq_file or a buffer. With neither, only the length
 * is counted.
 */
struct gtu_text {
	struct seq_file *file;
	char *buf;
	size_t bytes, used;
};

/*
 * gtu_state.c. @held: context whose lock the caller holds. If it is not NULL,
 * other contexts that are locked are skipped instead of waited for.
 */
typedef void gtu_state_fn(struct gtu_text *t, struct gtu_device *gtu, struct gtu_ctx *held);
gtu_state_fn gtu_state_registers, gtu_state_contexts, gtu_state_queues, gtu_state_regions,
	gtu_state_events, gtu_state_all;

#endif
